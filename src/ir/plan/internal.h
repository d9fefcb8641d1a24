/* internal.h: what the passes from slice to nests share. Schedules see nest.h and emit.h only.
 *
 * The words: a *value* is a node, leaf or scalar of the slice, numbered densely (nodes first). An *anchor* is a value that
 * a kernel computes as such: it is stored, or it is a reduction. Everything else is *inline*: evaluated wherever a kernel
 * asks for it, at a *form*: the number of its element, in C order, as an affine function of the kernel's atoms. A *group*
 * is the anchors of one kernel; its *trace* lists what they need at which forms, inputs before users. */
#ifndef KILN_PLAN_INTERNAL_H
#define KILN_PLAN_INTERNAL_H
#include "ir/plan/nest.h"

/* ---- atoms.c: the atoms of a kernel and forms over them ---- */
#define NO_FORM UINT16_MAX

typedef struct space {
    arena *mem;
    atom atoms[NEST_ATOMS]; int natoms;
    form *forms; int nforms, cap_forms;      /* all different; splitting an atom rewrites them in place */
    bool failed;                             /* out of memory */
} space;

/* Entries of f.stride at and past natoms are neither read nor written anywhere. */
void space_init(space *s, arena *mem);
bool space_atom(space *s, int64_t extent, bool reduced);       /* appends; only while there are no forms; false: too many */
uint16_t space_form(space *s, const form *f);                  /* its number; NO_FORM: out of memory */
bool space_split(space *s, int a, int64_t inner);              /* extent -> extent/inner x inner; false: too many atoms */
bool form_constant(const space *s, uint16_t f);                /* no atom takes part */
void form_range(const space *s, const form *f, int64_t *lo, int64_t *hi);   /* least and greatest value */
/* How often f's value changes while the atoms run in order: evaluations of what is hoisted out of inner loops. */
int64_t form_evaluations(const space *s, uint16_t f);
int64_t form_footprint(const space *s, uint16_t f);            /* different values at most */

/* Coordinate d, in `shape`, of the element that a form names in C order. Splits atoms where an atom runs over several
 * dimensions. False where coordinates are no affine functions of any refinement of the atoms (or s->failed). */
typedef struct digits {
    int ndim;
    int64_t base[NDIM_MAX];                  /* coordinates where all atoms are 0 */
    int64_t stride[NDIM_MAX][NEST_ATOMS];
} digits;
bool space_digits(space *s, uint16_t f, int ndim, const int64_t *shape, digits *out);
/* offset + sum of strides[d] * coordinate d. */
uint16_t space_window(space *s, const digits *at, int64_t offset, const int64_t *strides);
bool shape_is_whole(int ndim, const int64_t *shape, int64_t offset, const int64_t *strides);   /* C order from element 0 */

/* Room for `need` entries in an array that lives in an arena; grows by doubling. */
bool reserve(arena *mem, void **array, uint32_t *cap, uint32_t need, size_t size);

/* ---- partition.c: values, and which of them are anchors ---- */
#define NO_VALUE_NUMBER UINT32_MAX

/* Why a value is stored; the words for each are in explain.c. */
typedef enum {
    WHY_INLINE, WHY_WANTED, WHY_KIND, WHY_LIBRARY, WHY_GATHERED, WHY_BASE, WHY_RECOMPUTE, WHY_LARGE, WHY_NO_CHAIN, WHY_OVERLAP, WHY_NO_FUSION
} why_stored;

typedef struct note {                        /* one a value */
    node *n;
    bool anchor, wanted;
    uint8_t why;
    int32_t group;                           /* of an anchor */
    /* the present trace */
    uint32_t stamp, visit;                   /* first visit of this value */
    uint32_t read_stamp, place_stamp;
    uint16_t place;                          /* form at which the present group computes this anchor */
    /* uses */
    bool identity;                           /* some user reads every element once */
    int32_t maps;                            /* other ways of reading it */
    int64_t map_evaluations;
    int64_t flops, ops, many;                /* per element, with all that is inline below; scalar operations; forms a node below may be needed at */
    uint32_t lowest;                         /* least value inline below */
    uint32_t readers;                        /* groups that need it in memory */
    /* where it is in memory */
    int32_t writes;                          /* WRITE: assignments of the inline chain that ends here */
    uint8_t way; uint32_t base;              /* WRITE, SCATTER: write_way, and the value whose memory is taken over or copied */
    bool taken;                              /* a WRITE in place ends this value's life */
    bool alone;                              /* no other anchor may share its kernel */
    place at; bool placed;
} note;

/* O x R: runs of dimensions with equal fate, outermost first, extents of 1 left out. Without reductions: one run. */
typedef struct domain {
    int nruns;
    bool scan;
    struct { int64_t extent; bool reduced; } run[NEST_ATOMS];
    int64_t outer, inner;
} domain;
bool domain_of(const node *n, domain *d);    /* false: too many runs */
int64_t reduced_extent(const node *n);       /* REDUCE, SCAN: elements of R of its own */
bool domain_unify(const domain *a, const domain *b, domain *d);

/* ---- access.c, partition_trace.c: what the anchors of one kernel need, at which forms ---- */
typedef enum {
    VISIT_LOAD,                              /* in memory; `form` is the address in elements, or in parts */
    VISIT_SCALAR, VISIT_COMPUTE
} visit_kind;

typedef struct visit {
    uint32_t value, next;                    /* next: another visit of this value */
    uint32_t link; uint8_t nlinks, walked;   /* walked: links followed so far */
    bool entered;
    uint8_t kind;
    bool parts;                              /* LOAD: the form counts parts of complex elements */
    uint8_t part;                            /* VIEW of one part of an inline complex value: 1 real, 2 imaginary */
    uint8_t stage;                           /* longest chain of this group's reductions below */
    uint16_t form;                           /* NO_FORM: scalars */
    uint16_t guard;                          /* 0, or the guard under which alone the form stays within the value */
    uint16_t tests;                          /* inline WRITE: the guard that its new value is asked for under */
    uint16_t at;                             /* GATHER: affine part of the source's address; WRITE, SCATTER: of the store */
    uint32_t source;                         /* GATHER: the value in memory; NO_VALUE_NUMBER: it has no elements */
    uint32_t expr[2];                        /* set by lowering: real and imaginary part */
} visit;
typedef struct need { uint32_t value, visit; uint16_t form, guard; bool parts; } need;

/* An assignment that is not stored is a choice: inside the window the new value, elsewhere the old one. What lies below
 * the new value is asked for at forms that leave it elsewhere; loads there are masked. Coordinates cannot be found from
 * such forms; they are kept with them instead. */
typedef struct interval { uint16_t at; int64_t lo, hi; } interval;         /* lo <= form < hi; INT64_MIN, INT64_MAX: no bound needed */
typedef struct guard_tests { uint16_t outer; uint16_t first, n; double share; } guard_tests;   /* outer: another guard that holds too */
typedef struct known_digits { uint16_t form, guard, ndim; const int64_t *shape; uint16_t *at; } known_digits;

typedef struct trace {
    space at;
    uint16_t full, row;                      /* forms of the number of an element of O x R, and of O */
    visit *visits; uint32_t nvisits, cap_visits;
    uint32_t *order; uint32_t norder, cap_order;   /* inputs before users */
    need *links; uint32_t nlinks, cap_links;
    guard_tests *guards; uint32_t nguards, cap_guards;     /* number 0 is "none" */
    interval *intervals; uint32_t nintervals, cap_intervals;
    known_digits *known; uint32_t nknown, cap_known;
    uint32_t *reads; int nreads; uint32_t cap_reads;  /* values in memory, each once; bases of writes are not among them */
    int ops, nstages;
    bool inner_store;                        /* an anchor varies over R and is no reduction */
    int64_t bytes;                           /* read */
} trace;

typedef enum { TRACE_OK, TRACE_ILLEGAL, TRACE_STORE /* *culprit first */, TRACE_MEMORY } trace_status;

typedef struct group {
    uint8_t kind;
    bool gone;                               /* merged into another */
    domain d;
    uint32_t *anchors, nanchors;             /* ascending */
    trace *t;                                /* KERNEL */
    uint32_t *reads, nreads, cap_reads;      /* values needed in memory before it runs, bases included */
    uint32_t least, most;                    /* anchors' bounds, of all that merged */
    int64_t bytes;                           /* moved */
    uint32_t mark;
    uint32_t *before, nbefore, cap_before;   /* groups that must run earlier because this one overwrites what they read */
} group;
enum { GROUP_KERNEL, GROUP_OPAQUE, GROUP_ALIAS /* another shape of what is in memory */, GROUP_NOTHING /* no elements, or no contents */ };

typedef struct partition {
    const slice *s;
    const device_profile *p;
    const plan_options *o;
    arena *mem;                              /* the plan's */
    message *m;
    note *notes; uint32_t nvalues, nnodes;
    group *groups; uint32_t ngroups, cap_groups;
    bool overwrites;                         /* some group has `before` */
    uint32_t stamp, mark;
    uint32_t *stack; uint32_t cap_stack;     /* of traces */
    uint32_t *run_order, nrun;               /* groups in the order in which they run */
    text *why;                               /* explain: where groups were kept apart; NULL: nobody asks */
} partition;

static inline uint32_t value_of(const partition *p, const node *n) {
    if (n->slot >= SLOT_SCALAR) return p->nnodes + (uint32_t)p->s->nleaves + (n->slot - SLOT_SCALAR);
    if (n->slot >= SLOT_LEAF) return p->nnodes + (n->slot - SLOT_LEAF);
    return n->slot;
}
static inline bool is_leaf(const partition *p, uint32_t v) { return v >= p->nnodes && v < p->nnodes + (uint32_t)p->s->nleaves; }
static inline bool in_memory(const partition *p, uint32_t v) { return p->notes[v].anchor || is_leaf(p, v); }
static inline int64_t value_bytes(const node *n) { return n->size * (int64_t)dtype_size((kn_dtype)n->dtype); }
static inline bool view_is_whole(const node *n) {
    return !n->attr.view.part && n->size == n->in[0]->size && shape_is_whole(n->ndim, n->shape, n->attr.view.offset, n->attr.view.strides);
}

kn_status partition_run(partition *p);       /* fills notes, groups, run_order */
void make_anchor(partition *p, uint32_t v, why_stored why);  /* and, for an assignment, its base */
/* Where a value that is read as memory lies: a value in memory and a window on it (false: it is all of it, in C order). */
bool memory_window(const partition *p, const node *n, uint32_t *value, const window **w);

trace_status trace_group(partition *p, const domain *d, const uint32_t *anchors, uint32_t nanchors, trace *t, uint32_t *culprit);
/* One visit's needs (access.c). The links are appended to t; false with *status. */
bool access_expand(partition *p, trace *t, uint32_t visit, trace_status *status, uint32_t *culprit);

/* ---- partition_group.c ---- */
kn_status partition_merge(partition *p);
/* For every value, the groups that read it: (*reader)[(*first)[v]] up to (*first)[v + 1]. */
bool list_readers(partition *p, uint32_t **first, uint32_t **reader);
/* By the stores of a and b when those groups are one kernel (b NULL: a alone). */
int64_t bytes_written(const partition *p, const group *a, const group *b);
/* Whether group `from` must run before group `to`; indirect: because of a third group. false with *failed: out of memory. */
bool group_reaches(partition *p, uint32_t from, uint32_t to, bool indirect, bool *failed);

/* ---- partition_write.c: which WRITEs and SCATTERs happen in place ---- */
/* COPY: the base is copied first; COMPLEMENT: only what is not overwritten; FRESH: all of it is overwritten. */
typedef enum { WRITE_IN_PLACE, WRITE_COPY, WRITE_COMPLEMENT, WRITE_FRESH } write_way;
/* Fills way and base of written notes; *again: a value was made an anchor, groups must be made anew. */
kn_status partition_writes(partition *p, bool *again);
/* The window as a box of the base: first coordinate, extent and window dimension (-1: none) of each dimension; false: it is
 * none. */
bool write_box(const node *base, const window *w, int64_t *first, int64_t *extent, int *dimension);

/* ---- lower_expr.c: the trace of a group as the expressions of a nest ---- */
/* How a scatter is lowered: in order, or in two passes that need none. */
typedef enum { SCATTER_IN_ORDER, SCATTER_MARK, SCATTER_LAST } scatter_pass;

typedef struct lowering {
    const partition *p;
    arena *mem;
    const group *g;
    trace *t;
    nest *n;
    uint32_t cap_exprs, cap_reductions, cap_stores, *table, table_size;   /* table: exprs by contents */
    struct plan_builder *b;                  /* collects fault notes */
    uint16_t guard;                          /* of the present visit */
    scatter_pass pass; int winners;          /* MARK, LAST: memory of 32-bit numbers, zero at first, one an element of the base */
    message *m;
    kn_status status;                        /* of the first failure */
} lowering;

kn_status lower_group(const partition *p, const group *g, struct plan_builder *b, nest *n, scatter_pass pass, int winners, message *m);
bool anchor_is_stored(const partition *p, uint32_t v);      /* else only its own kernel uses it */
int64_t node_flops(const node *n);                          /* of the operation alone, per element */

/* Expressions; equal ones are made once. Failures are kept in the lowering, the number is then 0. */
uint32_t lower_expr(lowering *l, const expr *x, const uint32_t *args, int nargs);
uint32_t lower_bits(lowering *l, ktype t, uint64_t bits);
uint32_t lower_int(lowering *l, ktype t, int64_t v);
uint32_t lower_float(lowering *l, ktype t, double v);
uint32_t lower_op(lowering *l, kop op, ktype t, uint32_t a, uint32_t b, uint32_t c);
uint32_t lower_argument(lowering *l, int64_t v);            /* a number that depends on sizes */
uint32_t lower_index(lowering *l, const form *f);
void lower_fault(lowering *l, uint32_t condition, uint32_t position, kn_status status, const char *text);
uint32_t lower_guard(lowering *l, uint16_t guard);          /* a bool */
uint32_t lower_guarded_load(lowering *l, const expr *x, uint16_t guard);
int32_t lower_operand(lowering *l, uint32_t value, bool written);
static inline ktype lower_type(lowering *l, uint32_t x) { return (ktype)l->n->exprs[x].type; }
ktype element_type(kn_dtype t);                             /* of a value, or of a complex value's parts, in expressions */
static inline int parts_of(kn_dtype t) { return dtype_is_complex(t) ? 2 : 1; }

/* lower_expr_map.c. in: two expressions an operand, real and imaginary part. */
void lower_map(lowering *l, const node *n, const uint32_t (*in)[2], uint32_t *out);
/* A function by name for operands of these dtypes: a device function, else a primitive. out has room for 4 values. False
 * where there is none. float16 and bfloat16 count as float32. */
bool lower_named(lowering *l, const char *name, const kn_dtype *types, int ntypes, const uint32_t *args, uint32_t *out, kn_dtype *gives);
int function_named(const char *name, const kn_dtype *types, int ntypes);   /* float16 and bfloat16 as float32; -1 */
int primitive_named(const char *name);                                     /* kop, or -1 */
uint32_t round_to(lowering *l, kn_dtype t, uint32_t x);                     /* to float16 or bfloat16 */
/* lower_expr_reduce.c */
void lower_reduction(lowering *l, visit *v, const node *n, const uint32_t *in);
/* lower_expr_index.c */
void lower_gather(lowering *l, visit *v, const node *n, const uint32_t (*in)[2]);
void lower_scatter(lowering *l, visit *v, const node *n, const uint32_t (*in)[2]);
void lower_write(lowering *l, visit *v, const node *n, const uint32_t *in);
nest_store *lower_store(lowering *l);                       /* one more store, or NULL */
form form_in_parts(const lowering *l, uint16_t f, kn_dtype t, bool parts);   /* an element's form as its address */

/* ---- builder.c, liveness.c ---- */
struct plan_builder {
    plan *p;
    uint32_t cap_steps, cap_memory, cap_faults;
    int note;
};
unsigned builder_fault(plan_builder *b, const char *text, kn_status status);   /* its code; 0: out of memory */
/* ---- plan_copy.c: copying the base of an assignment ---- */
kn_status copy_base(partition *p, plan_builder *b, uint32_t w);

/* ---- explain.c ---- */
void explain_graph(const partition *p, text *out);
void explain_plan(const partition *p, const plan *q, text *out);
void dump_plan(const plan *q, text *out);                   /* steps with memory and arguments */
const char *expression_of(const partition *p, const group *g, arena *mem);   /* "sqrt(a * a + b * b)"; NULL: out of memory */

kn_status plan_schedule(partition *p, plan_builder *b, nest *n);   /* finish, schedule for the profile, verify */
kn_status plan_liveness(plan *p, arena *scratch, message *m);   /* fills lives, shares blocks, peak_bytes */

#endif
