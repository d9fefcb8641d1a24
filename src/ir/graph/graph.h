/* graph.h: what array operations mean: immutable nodes with shapes and dtypes, made by functions that follow NumPy 2.
 *
 * How it works: a node is a value that is either in memory (BUFFER) or still to be computed. Functions here check shapes
 * and dtypes, convert operands by NumPy's rules and return new nodes; they never compute array elements. Handles, scopes
 * and in-place updates live above (frontend); how nodes become kernels is decided below them in the pipeline (plan).
 * Nothing about kernels, devices or handles may be put here. */
#ifndef KILN_GRAPH_H
#define KILN_GRAPH_H
#include "ir/base/base.h"

/* ---- memory that holds a value ---- */
/* Owned by whoever made it (the runtime's pool, or the host memory of a caller); counted. */
typedef struct buffer buffer;
struct buffer {
    int32_t refs;
    uint8_t device;               /* kn_device */
    bool readonly;                /* never written in place (borrowed memory, constants) */
    bool aligned;                 /* data is 64-byte aligned */
    bool shared;                  /* a program writes here between evaluations: a copy is good for one of them */
    void *data;
    size_t size;                  /* bytes usable */
    void (*destroy)(buffer *b);   /* frees data and b */
    void *owner;                  /* for destroy */
    buffer *copy;                 /* the same on another device, or NULL; guarded by the graph mutex while others may look */
};
static inline buffer *buffer_keep(buffer *b) { __atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED); return b; }
void buffer_drop(buffer *b);      /* NULL is allowed */
/* Before its only owner writes into it: the copy is no longer the same. */
static inline void buffer_changes(buffer *b) { if (b->copy) { buffer_drop(b->copy); b->copy = NULL; } }

/* ---- nodes ---- */
typedef enum {
    NODE_BUFFER,    /* in memory: C order, `offset` bytes into `value` */
    NODE_SCALAR,    /* a number known to the host, 0-d, already of the node's dtype; new values never mean new kernels */
    NODE_EMPTY,     /* memory with no defined contents */
    NODE_INDEX,     /* 1-D int64: 0, 1, ... n-1 */
    NODE_VIEW,      /* a strided window on in[0]'s elements in C order (read only) */
    NODE_MAP,       /* result `which` of function `op` of in[0..nin), elementwise; every input has the node's shape or is a SCALAR */
    NODE_REDUCE,    /* reduction `op` of in[0] over the axes in attr.reduce.axes; those axes are gone from the shape */
    NODE_SCAN,      /* running reduction `op` of in[0] along attr.scan.axis */
    NODE_WRITE,     /* in[0] with the window replaced by in[1] (which has the window's shape) */
    NODE_GATHER,    /* elements of in[0] at integer positions; see gather_attr */
    NODE_SCATTER,   /* in[0] with elements at integer positions replaced by, or combined with, in[1] */
    NODE_OPAQUE,    /* result `which` of a library family's operation on in[0..nin) */
    NNODE_KINDS
} node_kind;

typedef enum { NODE_PENDING, NODE_SCHEDULED, NODE_READY, NODE_FAULT } node_state;

/* A strided window: offset and strides count elements of the base in C order. Strides may be 0 or negative. For views
 * of the real or imaginary part the base is complex, the view's dtype its part, and they count parts (part = true). */
typedef struct window {
    int64_t offset;
    const int64_t *strides;       /* ndim of the node that carries it */
    const int64_t *shape;         /* the window's own shape; for VIEW the node's shape */
    int ndim;
    bool part;
} window;

/* Dimension d of in[0] takes its position from result dimension from[d] (when >= 0, which then has the same extent), or
 * from index input -1 - from[d] (int64 nodes of the result's shape; negative counts from the end; out of range is a fault). */
typedef struct gather_attr { const int8_t *from; int ndim; } gather_attr;   /* ndim of in[0] */
typedef enum { SCATTER_SET, SCATTER_COMBINE } scatter_mode;                /* SET: the last one in C order wins */

#define NODE_INLINE_DIMS 4
#define NODE_INLINE_INPUTS 3

typedef struct node node;
struct node {
    uint32_t refs;
    uint8_t kind, dtype, ndim, nin;
    uint16_t op;                  /* MAP, SCATTER: ufunc number; REDUCE, SCAN: reduction number; OPAQUE: family operation */
    uint8_t which;                /* which result */
    uint8_t state;
    bool weak;                    /* SCALAR made from a C or Python number: takes part in promotion by kind alone */
    uint8_t block;                /* which free list its memory belongs to */
    uint16_t maker;               /* the thread that made it, by number; see work */
    uint32_t work;                /* pending nodes below and including this one, never less than there are: bounds laziness */
    uint32_t born, oldest;        /* count of the maker's nodes at its birth, and at the birth of the oldest pending node below */
    uint8_t guard;                /* held for a few instructions while a VIEW's input is taken along or given up */
    int64_t size;                 /* elements */
    int64_t *shape;               /* ndim entries: inline_shape or in the same allocation */
    node **in;                    /* nin entries: inline_in or in the same allocation */
    buffer *value;                /* READY: its memory */
    int64_t offset;               /* bytes into value */
    union {
        scalar number;                                            /* SCALAR */
        window view;                                              /* VIEW, WRITE */
        struct { uint64_t axes; bool ordered; } reduce;           /* REDUCE; ordered: strictly left to right */
        struct { int axis; } scan;
        struct { gather_attr at; scatter_mode mode; } gather;     /* GATHER, SCATTER (index inputs follow in[0], or in[1]) */
        struct { const int64_t *attr; int nattr; } opaque;        /* family's own numbers: axis, n, norm, flags */
    } attr;
    /* run-time notes, guarded by the graph mutex */
    uint32_t slot, visit;         /* number in the current walk */
    void *plan_note; uint32_t plan_slot;   /* the plan that computed through this node, and its place there */
    int64_t inline_shape[NODE_INLINE_DIMS];
    node *inline_in[NODE_INLINE_INPUTS];
};

static inline node *node_keep(node *n) { __atomic_fetch_add(&n->refs, 1, __ATOMIC_RELAXED); return n; }
void node_drop(node *n);          /* iterative: chains of any length; NULL is allowed */
static inline void node_lock(node *n) { while (__atomic_exchange_n(&n->guard, 1, __ATOMIC_ACQUIRE)) ; }
static inline void node_unlock(node *n) { __atomic_store_n(&n->guard, 0, __ATOMIC_RELEASE); }
static inline bool node_ready(const node *n) { return __atomic_load_n(&n->state, __ATOMIC_ACQUIRE) >= NODE_READY; }

/* All functions that return a node return a new reference, or NULL with the message filled. Inputs are borrowed. */

/* ---- shape.c: NumPy's shape rules ---- */
#define SHAPE_TEXT 160
const char *shape_text(char *buf, int ndim, const int64_t *shape);        /* "(3, 4)"; buf of SHAPE_TEXT bytes */
bool shape_size(int ndim, const int64_t *shape, int64_t *size);           /* false on overflow */
kn_status shape_broadcast(int n, const int *ndims, const int64_t *const *shapes, int *ndim, int64_t *shape, const char *op, message *m);
kn_status axes_normalise(kn_axis axis, int ndim, uint64_t *mask, int *list, int *nlist, const char *op, message *m);   /* KN_ALL, one, or a KN_AXES set */
kn_status axis_one(kn_axis axis, int ndim, const char *op, int *out, message *m);   /* exactly one axis */
/* Axis sets made by KN_AXES are packed into a kn_axis by axis_pack (up to 8 axes of -64..63, order kept) or refer to a
 * list; axis_unpack undoes it. */
kn_axis axis_pack(int n, const int *axes);
int axis_unpack(kn_axis a, int *axes, int most);                          /* count; -1 for KN_ALL */
/* A strided layout of C order `shape`; returns false when the reshape needs a copy. */
bool strides_reshape(int ndim, const int64_t *shape, const int64_t *strides, int new_ndim, const int64_t *new_shape, int64_t *new_strides);
kn_status shape_infer(int64_t size, int ndim, int64_t *shape, const char *op, message *m);   /* fills in one -1 */

/* ---- node.c: making nodes ---- */
node *node_buffer(kn_dtype t, int ndim, const int64_t *shape, buffer *b, int64_t offset, message *m);   /* takes a reference of its own */
node *node_scalar(kn_dtype t, scalar value, bool weak, message *m);
node *node_empty(kn_dtype t, int ndim, const int64_t *shape, message *m);
node *node_index(int64_t n, message *m);
node *node_view(node *base, kn_dtype t, const window *w, message *m);     /* composes with a view below where that is exact; the identity gives base */
node *node_write(node *base, const window *w, node *value, message *m);   /* value has the window's shape and base's dtype */
node *node_broadcast(node *a, int ndim, const int64_t *shape, message *m);
node *node_reshape(node *a, int ndim, const int64_t *shape, message *m);  /* C order, equal size */
node *node_transpose(node *a, const int *axes, message *m);
node *node_cast(node *a, kn_dtype t, message *m);                         /* a scalar is converted at once */
node *node_map(int ufunc, int which, int nin, node *const *in, kn_dtype out, message *m);   /* inputs of one shape and the loop's dtypes */
node *node_gather(node *a, const int8_t *from, int nindex, node *const *index, int ndim, const int64_t *shape, message *m);
node *node_scatter(node *a, node *value, scatter_mode mode, int ufunc, const int8_t *from, int nindex, node *const *index, message *m);
node *node_reduce(int reduction, node *a, uint64_t axes, kn_dtype out, bool ordered, message *m);
node *node_scan(int reduction, node *a, int axis, message *m);
node *node_opaque(int operation, int which, int nin, node *const *in, kn_dtype t, int ndim, const int64_t *shape, const int64_t *attr, int nattr, message *m);

/* ---- ufunc.c, ufuncs.def: elementwise functions ---- */
/* A loop: one row of NumPy's type resolution. The body is looked up as a device function of that name for the operands'
 * dtypes, else it is the scalar primitive of that name (add, sub and neg of complex numbers: of each part). Loops on
 * float16 and bfloat16 are float32's with the result rounded. A body of NULL is the identity, BODY_TRUE and BODY_FALSE are constants: such loops never become nodes. */
#define BODY_TRUE "true"
#define BODY_FALSE "false"
typedef struct ufunc_loop { kn_dtype in[4], out[2]; const char *body; } ufunc_loop;
typedef struct ufunc_info {
    const char *name;             /* NumPy's */
    uint8_t nin, nout;
    const ufunc_loop *loops; int nloops;
    int reduction;                /* its reduction, or -1 */
    uint16_t flags;
} ufunc_info;
enum {
    UFUNC_COMMUTES = 1, UFUNC_REORDERS = 2, UFUNC_ZERO_DIVISION = 4, UFUNC_SCALAR_CLASS = 8 /* kernels are specialised by scalar operand 1, as power */,
    UFUNC_TRUTH = 16,             /* operands of any dtype are taken by their truth (logical_and) */
    UFUNC_COMPARES = 32,          /* numbers beyond the other operand's range are compared by value */
    UFUNC_FLOAT64 = 64,           /* integer operands become float64 */
    UFUNC_NEGATIVE_POWER = 128,   /* with integer operands, a negative operand 1 is a fault: "Integers to negative integer powers ..." */
    UFUNC_NO_BOOL = 256,          /* of bools alone it is a TypeError, though they could be cast */
    UFUNC_ANY = 512               /* no loops: any dtype to any (cast), or (bool, T, T) to T (where), (bool, T) to T (require) */
};
extern const ufunc_info ufuncs[]; extern const int nufuncs;
/* Their numbers: UFUNC_add, ... UFUNC_cast (in[0] converted to the node's dtype by the library's rules) and UFUNC_where
 * (in[0] bool, then two of the node's dtype). */
typedef enum ufunc_number {
#define UFUNC(name, ...) UFUNC_##name,
#include "ir/graph/ufuncs.def"
    NUFUNCS
} ufunc_number;
/* What values must fulfil that can only be known when they are read: UFUNC_require gives in[1] (of any dtype) and is a fault
 * where in[0] (bool) does not hold; `which` of its node is the row of requirements.def. */
typedef struct requirement_info { kn_status status; const char *sentence; } requirement_info;
extern const requirement_info requirements[];
typedef enum requirement_number {
#define REQUIREMENT(name, ...) REQUIREMENT_##name,
#include "ir/graph/requirements.def"
    NREQUIREMENTS
} requirement_number;
int ufunc_named(const char *name);                                        /* -1 */
/* The loop for exactly these operand dtypes; NULL for UFUNC_ANY and where there is none. */
const ufunc_loop *ufunc_loop_for(int ufunc, const kn_dtype *in);
/* NumPy 2's type resolution. weak[i]: operand i is a number of that kind, else -1. dtype as for ufunc_apply. NULL with a message. */
typedef struct ufunc_operand { kn_dtype dtype; bool weak; scalar number; /* when weak */ } ufunc_operand;
const ufunc_loop *ufunc_resolve(int ufunc, const ufunc_operand *operands, kn_dtype dtype, casting rule, message *m);
/* Broadcasts, promotes and converts operands, then makes the map. dtype: KN_DTYPE_UNSET or the loop's dtype asked for. */
kn_status ufunc_apply(int ufunc, int nin, node *const *in, kn_dtype dtype, node **out /* nout */, message *m);

/* ---- reductions.def: states that combine ---- */
/* state = lift(x, index); state = combine(state, state), associative up to rounding; value = finish(state, count).
 * Names are device functions or primitives; NULL lift or finish is the identity. The state of sum, max, ... has the
 * operand's dtype; var: (count, mean, sum of squared deviations), all of the operand's dtype, the last is the value;
 * argmin, argmax: (operand's dtype, int64), the second is the value. float16 and bfloat16 never get here in sums: they
 * are converted to float32 first. */
typedef struct reduction_info {
    const char *name;             /* "sum", "argmax", "var" */
    uint8_t nstate;
    const char *lift, *combine, *finish;
    const char *identity;         /* per state, a number, "lowest" or "highest" of its type; NULL: none (empty is an error) */
    int ufunc;                    /* the ufunc whose reduce this is, or -1 */
    bool indexed;                 /* the state carries a position */
    bool ordered;                 /* combine is not associative: left to right, starting with the first element */
} reduction_info;
extern const reduction_info reductions[]; extern const int nreductions;
typedef enum reduction_number {
#define REDUCTION(name, ...) REDUCTION_##name,
#include "ir/graph/reductions.def"
    NREDUCTIONS
} reduction_number;
int reduction_named(const char *name);

/* ---- opaque families: implemented in src/libs, known here by name, shapes and dtypes ---- */
#define FAMILY_OPS FAMILY_OP(matmul, 1) FAMILY_OP(fft, 1) FAMILY_OP(ifft, 1) FAMILY_OP(rfft, 1) FAMILY_OP(irfft, 1) FAMILY_OP(sort, 1) FAMILY_OP(argsort, 1) FAMILY_OP(svd, 3)
typedef enum family_number {
#define FAMILY_OP(name, nout) FAMILY_##name,
    FAMILY_OPS
#undef FAMILY_OP
    NFAMILY_OPS
} family_number;
typedef struct family_op { const char *name; uint8_t nout; } family_op;
extern const family_op family_ops[]; extern const int nfamily_ops;        /* "matmul", "fft", "ifft", "rfft", "irfft", "sort", "argsort", ... */
int family_op_named(const char *name);

typedef struct index_plan index_plan;

/* ---- op.c, ops.def: array operations by name ---- */
/* One row an operation: NumPy's name, parameters in NumPy's order with defaults, results, handler, documentation. Public
 * functions, the language's binder and the reference manual are printed from the rows. A handler is pure: it sees nodes
 * or layouts, never handles. `out` and, for ufuncs, `where` are the frontend's business; handlers of reductions see `where`
 * and `initial`. */
typedef enum { PARAM_ARRAY, PARAM_LIST, PARAM_SHAPE, PARAM_AXIS, PARAM_DTYPE, PARAM_BOOL, PARAM_INT, PARAM_NUMBER,
               PARAM_DEVICE, PARAM_NORM, PARAM_TEXT, PARAM_RNG } param_kind;
/* "None" of the kinds that have no value of their own for it: INT, SHAPE (ndim), NUMBER (not a number). */
#define INT_NONE INT64_MIN
#define SHAPE_NONE (-1)

/* A generator: every draw takes as many counters as it has elements. `next` is atomic, handlers move it on. */
typedef struct random_stream { uint64_t key, next; } random_stream;

typedef struct op_value {         /* one argument, in the row's order; optional ones hold their default */
    uint8_t kind;                 /* param_kind */
    bool given;                   /* false: the default (an ARRAY default is NULL) */
    union {
        node *array;              /* ARRAY */
        struct { node **at; int n; } list;
        struct { int ndim; const int64_t *dim; } shape;
        kn_axis axis; kn_dtype dtype; bool flag; int64_t integer; double number;
        kn_device device; kn_fft_norm norm; const char *text; random_stream *rng;
    } v;
} op_value;

/* A strided window as views see it: strides and offset count bytes of the memory that the array lives in. */
typedef struct layout {
    kn_dtype dtype; int ndim; int64_t offset;
    int64_t shape[NDIM_MAX], strides[NDIM_MAX];
} layout;

typedef enum {
    OP_UFUNC,      /* ufunc number in `index` */
    OP_REDUCE,     /* nodes(); axis, dtype, keepdims, initial, where as the row says */
    OP_VIEW,       /* view(): the result shares memory with argument 0 */
    OP_NODES,      /* nodes(): new values */
    OP_UPDATE,     /* nodes(): the new value of argument 0, which changes in place */
    OP_MANY,       /* as many results as the arguments say; like FRONTEND, no handler here */
    OP_FRONTEND    /* needs values, a generator's state or a library at the call: no handler here */
} op_kind;
#define VIEW_NEEDS_COPY ((kn_status)-1)   /* reshape of a window that has no strides, imag of a real array: the frontend calls op_nodes with argument 0's values */
enum {
    PARAM_POSITIONAL = 1,         /* NumPy takes it by position only */
    PARAM_KEYWORD = 2,            /* NumPy takes it by keyword only */
    PARAM_HOST = 4,               /* an ARRAY whose value is needed at the call: the handler wants SCALAR nodes */
    PARAM_REQUIRED_IN_C = 8,      /* NumPy has a default (fallback), the C function takes it as an argument */
    PARAM_VARIADIC = 16,          /* a LIST that NumPy takes as *args */
    PARAM_LATER = 32,             /* accepted and without effect (order, subok): values do not depend on it; C has no option for it */
    PARAM_RETURNS = 64            /* with PARAM_LATER: asks for more results than the row has (retstep), or for some of them (return_index) */
};
typedef struct op_param { const char *name; uint8_t kind; bool optional; uint8_t flags; const char *fallback; } op_param;
typedef kn_status view_handler(const layout *in, const op_value *args, layout *out, message *m);
typedef kn_status nodes_handler(const op_value *args, node **results, message *m);
typedef struct op_info {
    const char *name;             /* "sum"; the C function is kn_sum */
    const char *numpy;            /* "numpy.sum" */
    const char *doc;
    uint8_t kind, nparams, nresults;
    bool readonly;                /* VIEW: the result may not be written */
    const op_param *params;       /* in NumPy's order */
    const char *const *results;   /* field names, or NULL for one result */
    int index;                    /* UFUNC: ufunc number */
    view_handler *view;
    nodes_handler *nodes;         /* may be NULL: call op_nodes */
} op_info;
extern const op_info ops[]; extern const int nops;
typedef enum op_number {
#define OP(name, ...) OPERATION_##name,
#include "ir/graph/ops.def"
    NOPERATIONS
} op_number;
int op_named(const char *name);                                           /* the C name, NumPy's with or without module, or an alias; -1 */
bool casting_named(const char *name, casting *rule);                        /* "same_kind"; NULL gives it; false: no such rule */
int op_of_numpy(const char *full);                                        /* by NumPy's names alone: "numpy.fft.fft", "numpy.amax"; -1 */
int op_param_named(int op, const char *name);                             /* -1 */
void op_defaults(int op, op_value *args);                                 /* every parameter as if it had not been given */
/* New values for any kind but FRONTEND: ufuncs through ufunc_apply (dtype, casting are seen; out and where are not), views
 * through their window on argument 0's values. results has room for nresults. */
kn_status op_nodes(int op, const op_value *args, node **results, message *m);

/* ---- method.c: methods of binary ufuncs ---- */
node *ufunc_reduce(int ufunc, node *a, kn_axis axis, kn_dtype dtype, bool keepdims, node *initial, node *where, message *m);
node *ufunc_accumulate(int ufunc, node *a, int64_t axis, kn_dtype dtype, message *m);
/* Along an axis: a's elements at starts, each combined in order with those elements at rest (int64 positions) whose segment it is. */
node *ufunc_reduceat(int ufunc, node *a, node *starts, node *rest, node *segment, int axis, kn_dtype dtype, message *m);
node *ufunc_outer(int ufunc, node *a, node *b, kn_dtype dtype, message *m);
/* The value of a after ufunc.at(a, index, b); b is NULL for unary ufuncs. The index is that of index_resolve on a. */
node *ufunc_at(int ufunc, node *a, const index_plan *at, node *b, message *m);

/* ---- index.c: a[...] ---- */
typedef enum { INDEX_INT, INDEX_SLICE, INDEX_NEW_AXIS, INDEX_ELLIPSIS, INDEX_ARRAY } index_kind;   /* masks arrive as nonzero()'s arrays; `mask_ndim` > 0 on the first of them */
typedef struct index_item {
    uint8_t kind;
    bool has_start, has_stop, has_step;
    int64_t start, stop, step;    /* INT: start */
    node *array;                  /* ARRAY: integers, any shape */
    bool from_mask;               /* one of several arrays made from one mask */
} index_item;
/* Splits an index into a basic window of `in` and, when arrays take part, the gather on that window with NumPy's placement
 * of axes. Without arrays *advanced is false and `window` is the result. */
struct index_plan {
    layout window;                /* after ints, slices, None, ... */
    bool advanced;
    int8_t from[NDIM_MAX];        /* as gather_attr, for the window's dimensions */
    node *arrays[NDIM_MAX]; int narrays;   /* int64, broadcast to the result's shape; references owned by the plan */
    int ndim; int64_t shape[NDIM_MAX];     /* of the result */
};
kn_status index_resolve(const layout *in, const index_item *items, int n, index_plan *out, message *m);
void index_plan_free(index_plan *p);
#endif
