/* internal.h: what the runtime's own files share. */
#ifndef KILN_RUNTIME_INTERNAL_H
#define KILN_RUNTIME_INTERNAL_H
#include "runtime/device.h"
#include "runtime/runtime.h"

/* pool.c */
void pool_count(runtime_counts *out);
void pool_peak_reset(void);

/* kernels.c */
void kernels_count(runtime_counts *out);
void kernels_forget(void);

/* walk.c: a slice of pending nodes and the words that identify it. One walk at a time, under the graph mutex; the arrays
 * are reused by the next one. */
typedef struct walk {
    node **nodes; uint32_t *uses; uint32_t nnodes, cap_nodes;        /* uses: references to each from inside the slice */
    node **leaves; uint32_t *leaf_uses; uint32_t nleaves, cap_leaves;
    node **scalars; uint32_t nscalars, cap_scalars;
    bool *wanted, *overwritable; uint32_t cap_wanted, cap_overwritable;
    uint8_t *exposed; uint32_t cap_exposed;
    bool *marked; uint32_t cap_marked;
    uint64_t *key; uint32_t nkey, cap_key;
    struct visit { node *n; uint32_t next; } *stack; uint32_t cap_stack;
    node **frontier; uint32_t nfrontier, cap_frontier;   /* computed through before and needed again: evaluate these first */
    node *busy;                                          /* another thread is computing this one: wait, then walk again */
} walk;
/* Fills w from the pending ones of the roots; false: out of memory. With `learn`, nodes that an earlier plan computed
 * through are collected in the frontier and not entered. */
bool walk_slice(walk *w, node *const *roots, int nroots, bool learn);
bool walk_add_root(walk *w, node *root, bool learn);     /* one more root for the present walk */
bool walk_key(walk *w, node *const *roots, int nroots, kn_device on);  /* fills the key */
bool walk_wanted(walk *w, node *const *roots, int nroots, const uint8_t *exports);   /* fills wanted and overwritable */
/* Marks the nodes that need this leaf; with NO_LEAF, those that need something that may fail when it runs. */
#define NO_LEAF UINT32_MAX
bool walk_mark(walk *w, uint32_t leaf);
bool walk_holds(const node *n);                          /* whether the present walk has met it */
bool array_reserve(void **array, uint32_t *cap, uint32_t need, size_t size);

/* plans.c: the exact cache: key words -> what is known of that slice */
/* A plan for one choice of stored results and overwritten leaves. */
typedef struct plan_variant {
    uint32_t refs;
    struct plan_variant *next;
    bool *bits;                                 /* wanted per node, then overwritable per leaf */
    uint32_t nbits;
    plan *p;
    device *on;                                 /* where it runs */
    void **kernels;                             /* per step, of the device; NULL for other kinds */
    int64_t *block_bytes; int nblocks;          /* temporaries that share memory */
} plan_variant;
typedef struct plan_entry {
    struct plan_entry *next;
    uint64_t hash, last_use;
    uint64_t *key; uint32_t nkey;
    uint32_t number;                            /* kept in node->plan_note: entries come and go, numbers do not repeat */
    plan_variant *variants; int nvariants;
    uint8_t *exports; uint32_t nnodes;          /* per node: EXPORT_* */
} plan_entry;
enum { EXPORT_IDLE = 0x0f, EXPORT_ON = 0x80 };  /* IDLE: evaluations since the exported value was last read */
plan_entry *plans_find(uint64_t hash, const uint64_t *key, uint32_t nkey);
plan_entry *plans_numbered(uint32_t number);    /* NULL when it is gone */
plan_entry *plans_add(uint64_t hash, const uint64_t *key, uint32_t nkey, uint32_t nnodes);   /* NULL: out of memory */
plan_variant *plans_variant(plan_entry *e, const walk *w);        /* borrowed, or NULL */
bool plans_add_variant(plan_entry *e, const walk *w, plan_variant *v);   /* the entry takes one reference */
void variant_drop(plan_variant *v);
void plans_forget(void);

/* execute.c: one run of a plan; no lock held */
typedef struct run_frame {
    plan_variant *v;
    buffer **leaf_buffers; int64_t *leaf_offsets; uint32_t nleaves;
    char **leaf_data;                           /* where each begins on the device; filled by the run */
    scalar *scalars; kn_dtype *scalar_types; uint32_t nscalars;
    buffer **memory; char **memory_data;        /* per plan memory; filled by the run */
    uint64_t fault;
    bool started;                               /* a step has begun: memory may have changed */
} run_frame;
kn_status plan_run(run_frame *f, message *m);
void opaque_count(runtime_counts *out);
#endif
