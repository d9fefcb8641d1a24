/* emit.h: what both schedules need to turn a nest's expressions into kernel IR: parameters for extents, strides, offsets
 * and scalars, and expressions emitted at the outermost loop where everything they depend on is known.
 *
 * A schedule opens loops and tells which atoms have a value; the emitter keeps, for every expression, the value it has in
 * the loops open at present. */
#ifndef KILN_EMIT_H
#define KILN_EMIT_H
#include "ir/plan/nest.h"

#define NO_VALUE UINT32_MAX
#define NO_PARAM (-1)

/* One way of addressing an operand: accesses of one operand with equal strides share it; they differ by offsets. */
typedef struct access_group {
    int32_t operand;
    bool dynamic;                            /* an index expression is added */
    const form *at;                          /* of the first access; its offset is in the pointer */
    int32_t pointer;                         /* parameter */
    int32_t stride[NEST_ATOMS];              /* parameter, or NO_PARAM: 0, 1, -1 (times 2 for complex parts) */
} access_group;

typedef struct access_use { uint16_t group; int64_t delta; int32_t delta_param; } access_use;   /* delta from the group's offset */

typedef struct emitter {
    const nest *n;
    kernel *k;
    arena *mem;
    ktype index;                             /* of all index arithmetic: i32 where every reachable span fits, else i64 */
    kparam *params; plan_arg *args; uint32_t nparams, cap_params;
    int32_t extent[NEST_ATOMS];              /* parameter holding each atom's extent */
    access_group *groups; int ngroups;
    access_use *load_use, *store_use;        /* per expr (LOADs), per store */
    int32_t *scalar_param;                   /* per expr: SCALAR and ARG */
    int32_t *form_param;                     /* per expr: an INDEX's parameters start here */
    int32_t *guard_param;                    /* per store: its guards' parameters start here */
    uint32_t *atoms;                         /* per expr: mask of the atoms it varies over */
    /* present state */
    kval atom_value[NEST_ATOMS];             /* of the index type, or NO_VALUE where the atom's loop is not open */
    uint32_t open;                           /* mask of atoms with a value */
    kval *value; uint8_t *depth_of;          /* per expr: its value in the open loops, and the loop depth it was made at */
    int depth;
    kval *reduced[4];                        /* per reduction: value of each component once finished, NO_VALUE before */
    bool failed;
} emitter;

/* For GPUs: i32 when no offset that a kernel can reach needs more; slack: how far past its end a loop may count. */
ktype emitter_index_type(const nest *n, int64_t slack);
/* Counts accesses and makes the parameter list; extra parameters may be added until emitter_start. */
bool emitter_init(emitter *e, const nest *n, ktype index, arena *mem);
int32_t emitter_param(emitter *e, const char *name, ktype type, plan_arg arg);           /* a scalar parameter; -1 on failure */
int32_t emitter_array(emitter *e, const char *name, ktype type, place at, bool read, bool written);
bool emitter_start(emitter *e, const char *name);    /* makes the kernel: parameters are values 0 ... nparams - 1 */

kval emitter_extent(emitter *e, int atom);
kval emitter_integer(emitter *e, int64_t v);        /* an index constant */
void emitter_open(emitter *e, int atom, kval value); /* a loop over the atom was opened; for LANE loops too */
void emitter_close(emitter *e, int atom);            /* before the loop's END: values made inside are forgotten */
void emitter_push(emitter *e);                       /* any other nesting (IF, a loop without an atom) */
void emitter_pop(emitter *e);
/* Makes every needed expression whose atoms are open and whose reductions are finished. */
void emitter_ready(emitter *e, const bool *needed);
kval emitter_value(emitter *e, uint32_t expr);       /* made now if need be */
void emitter_store(emitter *e, int store, int flags);
void emitter_fault(emitter *e, uint32_t expr);
kval emitter_form(emitter *e, const form *f, int32_t first_param);
/* The expression's value was made by the schedule: an element of a vector, or kept. It holds while the present loop is open. */
void emitter_give(emitter *e, uint32_t expr, kval value);
/* Where a LOAD or store without an index expression goes, as an index into its pointer, for the atoms that are open. */
kval emitter_load_index(emitter *e, uint32_t expr);
kval emitter_store_index(emitter *e, int store);
/* Marks what the given expressions need, through LOADs, calls and reductions' results but not into reductions. */
int reduction_stage(const nest *n, const nest_reduction *r);   /* the loops over R that its elements are computed in */
bool is_inner_store(const nest *n, int store);       /* made for each element of O x R, not once for each of O */
void nest_closure(const nest *n, bool *needed, uint32_t expr);

/* ---- combining reduction states ---- */
/* Float sums are kept within the pairwise bound by carrying the rounding error of every addition (Knuth's two-sum; Neumaier
 * 1974): such a state has one component more than the nest says. */
int reduction_width(const nest_reduction *r);        /* components, the carried error included */
ktype reduction_type(const nest_reduction *r, int component);
kval reduction_identity(emitter *e, const nest_reduction *r, int component);
void reduction_combine(emitter *e, const nest_reduction *r, const kval *a, const kval *b, kval *out);   /* states */
void reduction_step(emitter *e, const nest_reduction *r, const kval *a, const kval *lifted, kval *out); /* state and element */
void reduction_finish(emitter *e, const nest_reduction *r, const kval *state, kval *components);
#endif
