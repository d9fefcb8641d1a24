/* array.h: handles as users hold them: slots, cells, windows, scopes and errors; sectioned by the file that owns each part.
 *
 * How it works: a kn_array names a slot and its generation; a slot holds a number, an error, or NumPy's strided window on
 * a cell. A cell is one mutable piece of memory as the program sees it; what it holds at present is an immutable node, and
 * every in-place operation puts a new node there, which all windows on the cell then see. Slots belong to scopes.
 * Fields marked "atomic" are read and written through __atomic_* where threads may meet. */
#ifndef KILN_ARRAY_H
#define KILN_ARRAY_H
#include "ir/graph/graph.h"

/* ---- array.c: cells ---- */
/* In-place operations on an array need the program's own lock against every other use of it, so a cell has none. */

typedef struct loan loan;                /* lent.c */
typedef struct cell {
    uint32_t refs;                       /* atomic */
    node *value;                         /* of the cell's dtype and shape, C order */
    bool readonly;                       /* memory that may not be written */
    bool registered;                     /* its pending updates are known to the runtime */
    loan *lent;                          /* the memory of the caller that its value was made on, or NULL */
} cell;

cell *cell_new(node *value, message *m);             /* takes the reference to value, also on failure */
static inline cell *cell_keep(cell *c) { __atomic_fetch_add(&c->refs, 1, __ATOMIC_RELAXED); return c; }
void cell_drop(cell *c);
node *cell_node(cell *c);                            /* what it holds now; a new reference */
void cell_set(cell *c, node *value);                 /* takes the reference; of the same shape and dtype */

/* ---- array.c: slots ---- */
typedef enum { SLOT_FREE, SLOT_NUMBER, SLOT_ARRAY, SLOT_ERROR, SLOT_RANDOM } slot_kind;   /* RANDOM: a generator, which is no array */
typedef struct error_note { uint32_t refs /* atomic */; kn_status status; char text[]; } error_note;
typedef struct slot_window {
    kn_dtype dtype; int ndim;
    int64_t offset;                      /* bytes, as the strides */
    int64_t dims[];                      /* shape, then strides */
} slot_window;
typedef struct scope_place { char file[28]; int32_t line; } scope_place;   /* where a scope was opened; line 0: nowhere */
typedef struct slot {
    uint32_t generation;                 /* atomic; rises when the slot is freed */
    uint8_t kind;
    bool readonly;                       /* this window may not be written */
    uint32_t owners;                     /* atomic; its scope, and kn_keep's */
    uint32_t next_free;
    uint64_t scope;                      /* atomic; id of the scope that owns it, 0: none */
    cell *c;
    slot_window *window;                 /* NULL: the whole cell in C order */
    union { scalar number; error_note *error; random_stream stream; } u;
    scope_place gone;                    /* the scope that the slot's handle before this one went with */
} slot;

/* The slot behind a handle, or NULL for KN_NONE, stale and foreign handles. */
slot *slot_of(kn_array a);
/* New handles, owned by the thread's innermost scope. Each takes over what it is given, also on failure, and gives an
 * error array (never {0}) when something is wrong. */
kn_array array_from_node(node *n);                   /* a new cell that holds n */
kn_array array_from_cell(cell *c, bool readonly);    /* takes the reference to c: the whole of it */
kn_array array_from_window(cell *c, const layout *l, bool readonly);   /* keeps c; copies l */
kn_array array_number(scalar s);
kn_array array_error(const message *m);              /* records the error in the scope and the thread */
kn_array array_fail(kn_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
kn_array array_bad(kn_array operand, const message *m);   /* what comes of a failed operand: its own error carried on, else a new one */
void array_spoil(kn_array a, const message *m, bool is_new);   /* a becomes an error array */
/* Whether a carries an error: an error array, or a value whose computation failed. Fills m unless NULL. */
bool array_failed(kn_array a, message *m);
random_stream *random_of(kn_rng g, const char *what, message *m);   /* NULL with a sentence; lives as long as the handle */
int64_t handles_live(void);                          /* slots in use, of all threads */
void handle_let_go(kn_array a, uint64_t scope, const scope_place *at);   /* the scope closes: the handle is its own no longer */
/* Where the scope was opened that a stale handle went with; false when that is not known any more. */
bool handle_gone(kn_array a, scope_place *at);

/* ---- window.c: reading and writing through a handle ---- */

/* The slot of a usable operand, or NULL with a sentence. `what` names the operation for the sentence about missing and
 * stale handles. */
slot *array_operand(kn_array a, const char *what, message *m);
/* What an array means as an operand: a node (new reference), or NULL with the message of its error filled in. */
node *array_node(kn_array a, const char *what, message *m);
node *slot_node(slot *s, message *m);
/* Shape, dtype and strides (bytes, over the cell's C order); false with a message for errors; numbers are 0-d. */
bool array_layout(kn_array a, const char *what, layout *out, message *m);
void slot_layout(const slot *s, layout *out);
/* The cell to open a window on (a new reference): of a number, a 0-d one of its own. */
cell *slot_cell(slot *s, message *m);
/* a[...] = value for the whole window: value is broadcast and cast to a's dtype. A failure makes `a` an error array. */
kn_status array_store(kn_array a, node *value, casting rule, const char *what, message *m);
/* The same for the part `l` of a's cell, which `a` shows wholly or in part. */
kn_status array_store_window(kn_array a, const layout *l, node *value, casting rule, const char *what, message *m);
bool slot_writable(const slot *s, const char *what, message *m);
void layout_whole(const node *n, layout *out);       /* C order */
bool layout_is_whole(const layout *l, const node *n);
/* The window in elements of the cell's node, as view and write nodes want it. */
window layout_window(const layout *l, const node *base, int64_t *strides /* NDIM_MAX */);
/* value as an array of exactly this dtype and shape: cast under the rule, broadcast. Consumes value. */
node *node_fitted(node *value, const layout *to, casting rule, const char *what, message *m);

/* Evaluates what the handle shows and gives where it lies: READY memory, strides in bytes. The buffer is kept: host_drop. */
typedef struct host_window {
    kn_dtype dtype; int ndim; const char *data;
    int64_t shape[NDIM_MAX], strides[NDIM_MAX];
    buffer *held;
    _Alignas(16) char number[16];        /* where data points for numbers */
} host_window;
kn_status array_host(kn_array a, const char *what, host_window *out, message *m);
kn_status node_host(node *n, host_window *out, message *m);   /* the same for a node in C order */
static inline void host_drop(host_window *h) { buffer_drop(h->held); h->held = NULL; }
/* Copies n elements of a host window in C order, cast to t. */
void host_read(const host_window *h, kn_dtype t, void *to);

/* ---- scopes.c ---- */
uint64_t scope_innermost(void);                      /* id, or 0 */
bool scope_adopt(uint64_t scope, kn_array a);        /* of this thread; false: out of memory or no such scope */
uint64_t scope_around(uint64_t scope);               /* id of the scope around it, 0: none */
void *scope_room(size_t bytes);                      /* memory that lives as long as the innermost scope; NULL on failure */
uint32_t scope_made(void);                           /* how many handles the innermost scope lists now */
void scope_sweep(uint32_t mark);                     /* lets go of those listed since scope_made() was mark, as closing would */
char *scope_text(const char *s, size_t n);           /* a copy that lives as long as the innermost scope; NULL on failure */
void scope_error(kn_status status);                  /* notes the first error of every open scope of this thread */
void scope_touch(kn_array a);                        /* a has been given a new value that may be pending: looked at when the scope closes */
void scope_weigh(int64_t bytes);                     /* so many bytes have been taken in, which pending work may keep alive */
/* Evaluates what the current body has left pending in arrays that outlive it, when that is much. Also called by scope close. */
void scope_boundary(void);

/* ---- errors.c ---- */
void error_record(const message *m);                 /* a new error: the thread's last, the scope's first, the callback */
void error_repeat(const message *m);                 /* an error met again: the thread's last, the scope's first */
/* Between the two errors are told to nobody: the language's programs may handle them. */
bool errors_hold(message *before);
void errors_go(bool was, const message *before);     /* with what errors_hold gave */

/* ---- index_text.c: the text between the brackets of a[...] ---- */
#define INDEX_MOST 128                               /* items */
typedef struct index_list {
    index_item item[INDEX_MOST];                     /* arrays: references owned by the list; masks still as they are (bool) */
    int n;
} index_list;
kn_status index_parse(const char *text, const kn_named *names, size_t nnames, const char *what, index_list *out, message *m);
void index_list_free(index_list *l);

/* ---- masks.c: positions of what is true ---- */
/* Evaluates mask and gives one int64 node of its ndim axes each: where it is not zero, in C order. 0-d counts as 1-D. */
kn_status mask_positions(node *mask, node **positions, int *n, message *m);
/* Replaces masks by positions; the list then suits index_resolve with `in`, which gets an axis more for each 0-d mask. */
kn_status index_masks(index_list *l, layout *in, message *m);

/* ---- lent.c: memory of the caller ---- */
void loan_end(loan *l);                              /* its cell is gone; NULL is allowed */
kn_array array_copied(kn_dtype t, const void *data, kn_shape shape, const int64_t *strides /* bytes; NULL: C order */, const char *what);

/* ---- call.c ---- */
void frontend_prepare(void);                         /* once before the first call that may evaluate; cheap to repeat */

/* ---- selections.c ---- */
/* The results of an operation of kind OP_FRONTEND: one whose shape depends on values. */
kn_status op_with_values(int op, const op_value *args, node **results, message *m);

/* ---- methods.c ---- */
kn_status array_at(int ufunc, kn_array a, index_list *l, node *b /* NULL: unary */, message *m);   /* ufunc.at(a, index, b) */

/* ---- pieces.c ---- */
/* The rows of kind MANY: `first` is the handle of argument 0; the list's memory is the innermost scope's. */
kn_status op_many(int op, const op_value *args, kn_array first, kn_list *out, message *m);

/* ---- inplace.c ---- */
kn_array array_index(kn_array a, index_list *l, const char *what, message *m);         /* a[...] */
kn_status array_assign(kn_array a, index_list *l, node *value, const char *what, message *m);
#endif
