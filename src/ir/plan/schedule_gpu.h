/* schedule_gpu.h: the schedules for a GPU, one file a shape. Each looks at a nest and says whether it is one of its own. */
#ifndef KILN_SCHEDULE_GPU_H
#define KILN_SCHEDULE_GPU_H
#include "ir/plan/emit.h"

/* *done: the nest is scheduled; else nothing has happened. */
kn_status schedule_gpu_reduce(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);   /* reductions in one pass */
kn_status schedule_gpu_row(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);      /* chains of them */
kn_status schedule_gpu_scan(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);
kn_status schedule_gpu_tile(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);     /* maps that turn an operand */
kn_status schedule_gpu_map(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);

/* ---- schedule_gpu_vector.c ---- */
/* Consecutive elements along the atom, both parts of complex ones, as one aligned vector of at most 16 elements and 16 bytes. */
bool is_vector(const nest *n, int operand, const form *f, uint8_t pair, int atom, int v);
bool is_plain_load(const expr *x);                     /* neither masked nor gathered */
bool is_plain_store(const nest_store *s);              /* unconditional, at a position that only atoms decide */
bool same_elements(const nest *n, const form *a, uint8_t pair_a, const form *b, uint8_t pair_b);   /* or parts of the same */
int partner(const nest *n, int i);                     /* the load of the other part of the same complex elements, or -1 */
int other_store(const nest *n, int i);                 /* the same of stores */
/* As is_vector, for elements in falling order too. */
bool vectors_fit(const nest *n, int operand, const form *f, uint8_t pair, int atom, int v);
bool vectors_fit_load(const nest *n, int i, int atom, int v);
bool vectors_fit_store(const nest *n, int i, int atom, int v);

/* The vectors of v elements along an atom that a thread loads and stores at a time. */
typedef struct gpu_vectors {
    emitter *e;
    int atom, v;
    bool *loads, *stores;                              /* per expression and store: is one of them; for the schedule to set */
    kval *loaded, *stored;                             /* LOCAL arrays */
} gpu_vectors;
bool vectors_init(gpu_vectors *w, emitter *e, int atom, int v);
void vectors_load(gpu_vectors *w, kval base);          /* from `base` on along the atom, which is not open */
kval vectors_element(gpu_vectors *w, int load, kval l);
void vectors_give(gpu_vectors *w, kval l);             /* element l of all loads as their values */
void vectors_declare(gpu_vectors *w);                  /* arrays for the stores */
void vectors_put(gpu_vectors *w, int store, kval l, kval v);
void vectors_store(gpu_vectors *w, kval base);
kval vectors_array(emitter *e, ktype t, int count, int operand, const char *suffix);   /* LOCAL, named after the operand and the suffix or count */
void vectors_alignment(emitter *e);                    /* what is known of pointers, before emitter_start */

/* ---- schedule_gpu_grid.c: what maps share: up to three axes of threads ---- */
typedef struct gpu_axis {
    int atoms[NEST_ATOMS], natoms;                     /* outermost first; several only on the last axis */
    int64_t extent;                                    /* their elements */
    int threads;                                       /* of a block along the axis */
    int64_t each;                                      /* elements that a block takes */
    const char *name, *count;                          /* of an index and of the extent, in emitted source */
    int32_t param;                                     /* the extent */
    kval block, thread;                                /* once open */
} gpu_axis;
typedef struct gpu_grid { gpu_axis axis[3]; int naxes; kval opened[6]; int nopened; } gpu_grid;

bool is_gpu_map(const nest *n);                        /* neither reductions nor an order to keep */
void grid_atoms(gpu_grid *g, const nest *n, int x, int y);   /* x and y (or -1) on the first axes, all others on the last */
bool grid_params(gpu_grid *g, emitter *e);             /* before emitter_start */
void grid_open(gpu_grid *g, emitter *e);
void grid_close(gpu_grid *g, emitter *e);
void grid_open_rest(gpu_grid *g, emitter *e, kval linear);   /* the atoms of the last axis, from their common index */
void grid_close_rest(gpu_grid *g, emitter *e);
kn_status grid_step(gpu_grid *g, emitter *e, plan_builder *b, int64_t work, message *m);

/* ---- short names ---- */
static inline kval map_op(emitter *e, kop op, kval a, kval b) { return kb_op(e->k, op, e->index, a, b, 0); }
static inline kval map_less(emitter *e, kval a, kval b) { return kb_op(e->k, KOP_lt, T_BOOL, a, b, 0); }
static inline kval map_and(emitter *e, kval a, kval b) { return a == NO_VALUE ? b : b == NO_VALUE ? a : kb_op(e->k, KOP_and, T_BOOL, a, b, 0); }
static inline kval map_if(emitter *e, kval condition) { return condition == NO_VALUE ? NO_VALUE : kb_inst(e->k, K_IF, T_VOID, 0, condition, 0, 0); }
static inline void map_end(emitter *e, kval opened) { if (opened != NO_VALUE) kb_end(e->k, opened); }
kval map_name(emitter *e, kval v, const char *name);   /* unless it is a constant, a parameter or has a name */
static inline kval map_unroll(emitter *e, int n) { return kb_for(e->k, LOOP_UNROLL, e->index, emitter_integer(e, 0), emitter_integer(e, n), emitter_integer(e, 1)); }
#endif
