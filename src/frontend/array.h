/* array.h: handles as users hold them: slots, cells, windows, scopes and errors.
 *
 * How it works: a kn_array names a slot and its generation; a slot holds a number, an error, or NumPy's strided window on
 * a cell. A cell is one mutable piece of memory as the program sees it; what it holds at present is an immutable node, and
 * every in-place operation puts a new node there, which all windows on the cell then see. Slots belong to scopes. */
#ifndef KILN_ARRAY_H
#define KILN_ARRAY_H
#include "ir/graph/graph.h"

/* ---- cells ---- */
typedef struct cell {
    uint32_t refs;
    uint32_t lock;               /* spins; guards `value` against concurrent readers */
    node *value;                         /* of the cell's dtype and shape, C order */
    bool readonly;                       /* borrowed memory that may not be written, or a broadcast */
    bool registered;                     /* its pending updates are known to the runtime */
    buffer *shared;                      /* KN_SHARE: the caller's memory, brought up to date by kn_sync */
} cell;

cell *cell_new(node *value, message *m);             /* takes the reference to value, also on failure */
void cell_drop(cell *c);
node *cell_node(cell *c);                            /* what it holds now; a new reference */
void cell_set(cell *c, node *value);                 /* takes the reference; of the same shape and dtype */

/* ---- slots ---- */
typedef enum { SLOT_FREE, SLOT_NUMBER, SLOT_ARRAY, SLOT_ERROR } slot_kind;
typedef struct error_note { uint32_t refs; kn_status status; char text[]; } error_note;
typedef struct slot {
    uint32_t generation;
    uint8_t kind;
    bool readonly;                       /* this window may not be written */
    uint32_t owners;                     /* its scope, and kn_keep's */
    uint64_t scope;                      /* id of the scope that owns it, 0: none */
    uint32_t next_free;
    cell *c;
    layout *window;                      /* NULL: the whole cell in C order; offset and strides in bytes */
    union { scalar number; error_note *error; } u;
} slot;

/* The slot behind a handle, or NULL for KN_NONE, stale and foreign handles. */
slot *slot_of(kn_array a);
/* New handles, owned by the thread's innermost scope. Each takes over what it is given, also on failure, and gives an
 * error array (never {0}) when something is wrong. */
kn_array array_from_node(node *n);                   /* a new cell that holds n */
kn_array array_from_window(cell *c, const layout *l, bool readonly);   /* keeps c; copies l */
kn_array array_number(scalar s);
kn_array array_error(const message *m);              /* records the error in the scope and the thread */
kn_array array_fail(kn_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
kn_array array_error_of(slot *s);                    /* a new error array with the same note; not a new error */

/* What an array means as an operand: a node (new reference), or NULL with the message of its error filled in. `what` names
 * the operation for the sentence about missing and stale handles. */
node *array_node(kn_array a, const char *what, message *m);
/* Shape, dtype and strides (bytes, over the cell's C order); false with a message for errors and numbers are 0-d. */
bool array_layout(kn_array a, const char *what, layout *out, message *m);
/* a[...] = value for the whole window: value is broadcast and cast to a's dtype. A failure makes `a` an error array. */
kn_status array_store(kn_array a, node *value, casting rule, const char *what, message *m);
void array_spoil(kn_array a, const message *m);      /* a becomes an error array */
void layout_whole(const node *n, layout *out);       /* C order */
bool layout_is_whole(const layout *l, const node *n);
/* The window in elements of the cell's node, as view and write nodes want it. */
window layout_window(const layout *l, const node *base, int64_t *strides /* NDIM_MAX */);

/* Evaluates what the handle shows and gives where it lies: READY memory, strides in bytes. The buffer is kept. */
typedef struct host_window { kn_dtype dtype; int ndim; const char *data; int64_t shape[NDIM_MAX], strides[NDIM_MAX]; buffer *held; char number[16]; } host_window;
kn_status array_host(kn_array a, const char *what, host_window *out, message *m);

/* ---- scopes ---- */
uint64_t scope_innermost(void);                      /* id, or 0 */
bool scope_adopt(uint64_t scope, kn_array a);        /* of this thread; false: out of memory or no such scope */
uint64_t scope_around(uint64_t scope);               /* id of the scope around it, 0: none */
char *scope_text(const char *s, size_t n);           /* a copy that lives as long as the innermost scope; NULL on failure */
void scope_error(kn_status status);                  /* notes the first error of every open scope of this thread */

/* ---- errors.c ---- */
void error_record(const message *m);                 /* the thread's last error, the scope's first, the callback */
#endif
