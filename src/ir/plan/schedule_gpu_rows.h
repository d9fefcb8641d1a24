/* schedule_gpu_rows.h: what the GPU schedules of reductions, rows and scans share.
 *
 * The words: a *crew* is the threads of a block that reduce one result together. In *row* mode a result is a row (an element
 * of O) of its crew, a part of a warp, a warp or the block, and vectors run along what is reduced. In *column* mode
 * neighbouring threads take neighbouring results, vectors run along them, and a crew is the threads of a block that have
 * the same results, each taking its share of R. Positions along O and R are linear and are taken apart into atoms where
 * there are several. What lies past the end of O repeats the last results and is not stored. */
#ifndef KILN_SCHEDULE_GPU_ROWS_H
#define KILN_SCHEDULE_GPU_ROWS_H
#include "ir/plan/schedule_gpu.h"

#define ROWS_STAGES 8          /* more stages than this are left to the simple schedule */

/* The class of a kernel: everything that its text depends on, apart from the nest. */
typedef struct rows_shape {
    bool columns;
    int threads, crew;         /* of a block; of a result */
    int vector;                /* elements of a vector; 1: none */
    int steps;                 /* vectors of a thread that are loaded before the first is used */
    bool once;                 /* these are all: there is no loop over R, and values can be kept */
    bool whole;                /* R (cut: every chunk) is a multiple of what a crew takes at a time: nothing needs a bound */
    bool rest;                 /* what is left after the last full steps is taken one by one */
    bool carry;                /* sums carry their rounding errors; else so few follow each other that none need to */
    int copies;                /* states a thread has of each reduction while it goes over R */
    int shared_steps;          /* scan of tiles: vectors before these whose states wait in shared memory */
    bool full_apart;           /* scan of tiles: full ones, which are all but the last, have code without bounds */
    bool stream;               /* vectors are not to stay in caches */
    int resident;              /* blocks that a multiprocessor is to hold, or 0 */
    int64_t chunk;             /* elements of R that a block takes, and the last block combines the states of all; 0: all */
} rows_shape;

typedef struct rows {
    const nest *n;
    const device_profile *p;
    plan_builder *b;
    emitter e;
    rows_shape at;
    int outer[NEST_ATOMS], nouter, inner[NEST_ATOMS], ninner;   /* the last one is along the vectors, where there are any */
    int64_t results, size;     /* elements of O and R */
    bool scan;                 /* states are of elements: stage 0 makes them, stage 1 uses what they are after scanning */
    int32_t results_param, size_param;            /* or NO_PARAM: the extent of the only atom */
    int32_t cuts_param, count_param, *partial[5];   /* blocks of a result; how many have finished; their states */
    bool *needed, *kept, *ahead;   /* per expression: in the present stage; in an array for later stages; loaded before the rest */
    uint8_t *first;            /* per expression: stage that makes it first, counted from 1; 0: none yet */
    kval *array;               /* per expression: LOCAL array of its values, or NO_VALUE */
    kval *stored;              /* per store: LOCAL array of a vector that is stored as one, or NO_VALUE */
    int copies; bool settled;  /* at present */
    kval *state[5];            /* per component and reduction: VAR, or LOCAL array where there are several copies */
    kval *spare[5];            /* what states_table gives where memory is short */
    /* values of the open kernel */
    kval thread, worker;       /* number within the block, within the crew */
    kval lane, column;         /* within the warp (i32); columns: number of the vector of results within the block */
    kval base;                 /* of the last outer atom, columns: for the first element of the vector */
    kval first_element, end;   /* of the part of R that this block takes; NO_VALUE: 0 */
    struct look_back *published;   /* scan of tiles: where their states are published */
    kval full;                 /* bool: this tile is */
    kval waiting;              /* the SHARED array they wait in, while they are used, or NO_VALUE */
    int64_t apart;             /* elements of R from one step of a thread to the next */
    kval *prefix[5];           /* scan: per component and reduction, the state of all before this thread's; prefix[0] NULL: nothing */
    kval counter;              /* of the blocks that share the result, or NO_VALUE */
    kval inside;               /* bool: this is no repeated result; NO_VALUE: none is */
} rows;

/* ---- schedule_gpu_rows.c: the kernel around them ---- */
/* Fills atoms and sizes; the atom along the vectors comes last. */
bool rows_init(rows *s, const nest *n, const device_profile *p, plan_builder *b, int vector_atom);
kn_status rows_schedule(rows *s, message *m);          /* for the shape s->at; one step */
int rows_state_words(const nest *n);                   /* 32-bit words of all states */
int rows_kept_words(rows *s);                          /* of the values that an element keeps for later stages */

/* ---- schedule_gpu_reduce.c ---- */
bool rows_have_atoms(const nest *n);                   /* something to reduce over */
bool rows_are_simple(const nest *n);                   /* reductions, in any order, and no scans */
int rows_contiguous_atom(const nest *n);               /* along which most of the memory is contiguous */
/* Elements of vectors along it, at most so many; rest: the extent need be no multiple. */
int rows_vector(const nest *n, int atom, int most, bool rest);
/* Crews, steps and copies for a loop over R, several blocks a result where few would idle the device and `cut` allows it. */
void rows_loop_shape(rows *s, bool cut);
int64_t rows_power_up(int64_t n);                      /* the least power of two that is not less */
bool rows_are_few(const rows *s);                      /* too few results to keep a device busy while R is long */

/* ---- schedule_gpu_states.c: states of reductions in a thread, between threads, in memory ---- */
bool in_stage(const rows *s, int reduction, int stage);
void states_declare(rows *s, int stage);
void states_get(rows *s, int reduction, kval slot, kval *state);
void states_set(rows *s, int reduction, kval slot, const kval *state);
void states_step(rows *s, int reduction, kval slot, const kval *lifted);   /* one more element */
void states_settle(rows *s, int stage);                /* sums take up the errors that they have carried */
void states_combine_row(rows *s, int stage);           /* every thread of the crew gets the state of all */
void states_combine_columns(rows *s, int stage);
void states_publish(rows *s, int stage, kval slot);    /* results of this stage become values */
void states_forget(rows *s);
bool states_memory(rows *s, int64_t count);            /* parameters for so many states of each reduction */
void states_store(rows *s, kval slot, kval at);        /* to number `at` in that memory */
void states_add(rows *s, kval slot, kval at);
/* Their parts: states as values, in variables, in shared memory. */
void states_combine(rows *s, int reduction, const kval *a, const kval *b, kval *both);
void states_table(rows *s, kval **table);              /* per component and reduction; where memory is short e.failed, and memory all the same */
void states_variables(rows *s, int reduction, const kval *first, const char *stem, kval **var);   /* new ones, named after it */
void states_read(rows *s, int reduction, kval *const *var, kval *state);
void states_write(rows *s, int reduction, kval *const *var, const kval *state);
void states_identity(rows *s, int reduction, kval *state);
int states_width(const rows *s, int reduction);
kval states_shared(rows *s, int reduction, int component, int n, const char *stem);   /* a SHARED array, named after it */
void states_butterfly(rows *s, int stage, int lanes, kval *const *var);   /* neighbouring lanes get the state of all of them */

/* ---- schedule_gpu_pass.c: the elements that a thread takes ---- */
bool pass_need(rows *s, int stage);                    /* stage < 0: what comes after all loops; false: nothing is needed */
void pass_open_results(rows *s, kval position);        /* the atoms of O; columns: the position of the vector's first element */
void pass_close_results(rows *s);
void pass_run(rows *s, int stage);                     /* all elements of R that this thread takes */
void pass_results(rows *s);                            /* what is made once for each result, by one thread of the crew */
void pass_vectors(rows *s, int stage, kval first);     /* those of one step each, from element `first` on */
kval pass_waiting_at(rows *s, kval j);                 /* where in shared memory the states of vector j wait */
/* Whether all loads and stores over this atom can be vectors of v elements. */
bool pass_takes_vectors(const nest *n, int atom, int v);

/* ---- schedule_gpu_scan.c ---- */
bool scan_memory(rows *s, int64_t tiles);              /* parameters for the states of so many tiles a row */
void scan_row(rows *s, kval row, kval tile);           /* one thread's part of it */

/* ---- schedule_gpu_apart.c ---- */
bool apart_stages_apply(const nest *n);
bool apart_is_mixed(const nest *n);                    /* has scans beside reductions, and would gain by it */
kn_status apart_stages(const nest *n, const device_profile *p, plan_builder *b, message *m);            /* a nest a stage */
kn_status apart_scans(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m); /* of scans of scans, a nest a level */

/* ---- short names ---- */
static inline int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline kval index_op(rows *s, kop op, kval a, kval b) { return kb_op(s->e.k, op, s->e.index, a, b, 0); }
static inline kval index_of(rows *s, int64_t v) { return emitter_integer(&s->e, v); }
static inline kval compare(rows *s, kop op, kval a, kval b) { return kb_op(s->e.k, op, T_BOOL, a, b, 0); }
static inline kval plain(rows *s, int64_t v) { return kb_const_int(s->e.k, T_I32, v); }
static inline kval unroll(rows *s, int n) { return kb_for(s->e.k, LOOP_UNROLL, s->e.index, index_of(s, 0), index_of(s, n), index_of(s, 1)); }
static inline kval as_index(rows *s, kval v) { return kb_type(s->e.k, v) == s->e.index ? v : kb_op(s->e.k, KOP_convert, s->e.index, v, 0, 0); }
static inline kval begin_if(rows *s, kval condition) { return kb_inst(s->e.k, K_IF, T_VOID, 0, condition, 0, 0); }
static inline kval local_array(rows *s, ktype type, int n, const char *name) {
    kval v = kb_inst(s->e.k, K_LOCAL, type, 0, (uint32_t)n, 0, 0);
    kb_name(s->e.k, v, name);
    return v;
}
static inline kval named_value(rows *s, kval v, const char *name) { return map_name(&s->e, v, name); }
#endif
