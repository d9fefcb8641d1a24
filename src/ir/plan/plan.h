/* plan.h: from a slice of the graph to the kernels that move the fewest bytes.
 *
 * How it works: a slice (nodes in order, numbered) is partitioned into nests; a nest says what is computed over which
 * iteration domain, with every access an affine form over atoms, and nothing about loops; a schedule turns a nest into
 * kernel IR for a device profile. Kernel IR holds classes (which strides are 1, which extents are 1, sizes as buckets),
 * never sizes, so its canonical bytes are the key under which compiled kernels are kept: 1,000 sizes give a handful.
 * Everything is concrete here (real shapes), which keeps decisions simple; what depends on sizes becomes arguments.
 * Nothing that allocates device memory, compiles or launches may be put here. */
#ifndef KILN_PLAN_H
#define KILN_PLAN_H
#include "ir/graph/graph.h"
#include "ir/kir/kir.h"

/* ---- profile.c: what a schedule needs to know of a device ---- */
typedef enum { TARGET_CPU, TARGET_CUDA, TARGET_HIP } target_kind;
typedef struct device_profile {
    const char *name;             /* "cpu", "sm_90", "gfx90a" */
    target_kind target;
    int units;                    /* multiprocessors; CPU: workers that a kernel is cut for (a constant, not the machine's) */
    int warp, max_threads, threads_per_unit;
    int shared_bytes, registers;  /* a block's shared memory; 32-bit registers of a unit */
    int vector_bytes;             /* CPU vector width; GPU: widest load of a thread (16) */
    int balance;                  /* flop per byte where recomputing and storing cost the same */
    int64_t on_chip_row;          /* longest reduced extent, in bytes, kept on chip by a row kernel */
} device_profile;
extern const device_profile profiles[]; extern const int nprofiles;
const device_profile *profile_named(const char *name);

/* ---- slice: what one evaluation looks at ---- */
typedef struct slice {
    node **nodes; int nnodes;     /* pending nodes, inputs before users; node->slot is the index here */
    node **leaves; int nleaves;   /* BUFFER nodes and READY ones; slot = -1 - index is not used: see leaf_slot */
    node **scalars; int nscalars; /* SCALAR nodes; their values are arguments */
    bool *wanted;                 /* per node: must be in memory afterwards */
    bool *overwritable;           /* per leaf: no reader outside this slice, so a WRITE may reuse its buffer in place */
    int32_t *last_use;            /* unused by builders */
} slice;
/* Slots: nodes[i]->slot == i, leaves[i]->slot == SLOT_LEAF + i, scalars[i]->slot == SLOT_SCALAR + i. */
#define SLOT_LEAF 0x20000000u
#define SLOT_SCALAR 0x40000000u

/* ---- plan: steps over numbered memory; holds no pointer to a node or buffer ---- */
typedef enum { PLACE_LEAF, PLACE_MEMORY } place_kind;
typedef struct place { uint8_t kind; int32_t index; int64_t offset; } place;          /* offset in bytes */

typedef enum { ARG_POINTER, ARG_INTEGER, ARG_SCALAR } arg_kind;
typedef struct plan_arg {
    uint8_t kind;
    place at;                     /* POINTER */
    int64_t value;                /* INTEGER (also magic numbers and other host-made constants) */
    int32_t scalar; ktype type; uint8_t part;   /* SCALAR: number in slice.scalars, as this type; part 1: imaginary */
} plan_arg;

typedef enum { STEP_KERNEL, STEP_OPAQUE, STEP_COPY } step_kind;
typedef struct plan_step {
    uint8_t kind;
    /* KERNEL */
    kernel *code;                 /* in the plan's arena */
    plan_arg *args; int nargs;
    int64_t grid[3];              /* GRID iterations; GPU: blocks */
    bool serial;                  /* CPU: one worker, in order (scatter with duplicates) */
    int64_t work;                 /* elements x expressions, roughly: chooses between interpreting and compiling */
    /* OPAQUE */
    int operation;                /* family_ops number */
    /* strides in bytes */
    struct opaque_operand { place at; kn_dtype dtype; int ndim; const int64_t *shape, *strides; bool conjugate; } *operands; int nin, nout;
    const int64_t *attr; int nattr;
    /* COPY */
    place from, to; int64_t bytes;
    int note;                     /* which node this is mainly for: slice.nodes number, for messages and explain */
} plan_step;

typedef struct plan_memory {
    int64_t bytes;
    int first_step, last_step;    /* liveness: memory whose lives do not overlap may share a block */
    int32_t reuses_leaf;          /* >= 0: this is the leaf's own buffer, overwritten in place */
    bool zeroed;                  /* must be zero before first use (tickets, counters) */
    int block;                    /* temporaries with one number share memory; -1: a buffer of its own (results) */
} plan_memory;

typedef struct plan_result { int node; place at; } plan_result;                       /* where a wanted node's value is */

typedef struct fault_note { unsigned code; const char *text; kn_status status; int ndim; const int64_t *shape; } fault_note;

typedef struct plan {
    arena mem;
    const device_profile *profile;
    plan_step *steps; int nsteps;
    plan_memory *memory; int nmemory;
    plan_result *results; int nresults;
    fault_note *faults; int nfaults;
    int64_t bytes_moved, peak_bytes;   /* for explain */
    text why;                     /* why each split, for explain; filled when asked */
} plan;

struct nest;
typedef struct plan_options {
    bool explain;
    bool no_fusion;               /* every node its own kernel: the reference for tests */
    /* For tests: sees every nest when it is finished, before its first step (a number) is made. */
    void (*each_nest)(void *arg, const struct nest *n, int step);
    void *arg;
} plan_options;

/* The pipeline: partition -> schedule -> lower -> verify. Returns NULL with a message. */
plan *plan_build(const slice *s, const device_profile *p, const plan_options *o, message *m);
void plan_free(plan *p);

/* ---- nest.h holds atoms, accesses and nests; schedules see only that ---- */

/* ---- providers: what src/libs registers for opaque operations ---- */
struct provider_call {
    int operation;
    const struct opaque_operand *operands;  /* nin inputs, then nout results */
    void *const *data;                       /* address of each operand's first element */
    int nin, nout;
    const int64_t *attr; int nattr;
    void *scratch; int64_t scratch_bytes;
    void *queue;                             /* the device's: what is asked there runs in order (a CUDA stream) */
    message *m;
};
typedef struct provider {
    const char *name;             /* "openblas", "own" */
    int operation;                /* family_ops number */
    target_kind target;
    int (*applicable)(const struct provider_call *c);   /* 0: no; larger is better; shapes, strides, dtypes are known, data may be NULL */
    int64_t (*scratch)(const struct provider_call *c);  /* bytes */
    kn_status (*run)(const struct provider_call *c);
} provider;
void provider_register(const provider *p);   /* at start, from above; the documented registry */
const provider *provider_for(const struct provider_call *c, target_kind t);
#endif
