/* runtime.h: values on demand: evaluation of nodes, the plans and kernels kept for next time, memory and workers.
 *
 * How it works: evaluate() walks the pending nodes below its roots, writes what it sees as one word stream (the exact
 * key), and looks that up. A hit is a bound plan: memory is taken from the pool, arguments are filled in, steps run. A
 * miss goes through plan_build; kernels are found by the canonical bytes of their IR, in memory, then on disk, then
 * compiled. Nothing that knows handles, scopes or text of users may be put here. */
#ifndef KILN_RUNTIME_H
#define KILN_RUNTIME_H
#include <pthread.h>
#include "codegen/codegen.h"
#include "ir/graph/graph.h"
#include "ir/plan/plan.h"

/* ---- evaluate.c ---- */
/* Makes the roots READY: each then has memory. On a data-dependent fault (an index out of range) the nodes concerned become
 * NODE_FAULT, their message is kept and comes back from node_message. Thread-safe; waits for what other threads already
 * compute. Out of memory and the like leave the nodes pending. */
kn_status evaluate(node *const *roots, int nroots, message *m);
/* Arrays updated in place register the place of their node here while it may be pending: an evaluation takes along the
 * updates that share its operands. `slot` must stay valid, and be changed with the graph mutex held, until it is removed. */
void updates_add(node *const *slot);
void updates_remove(node *const *slot);
/* Between the two no kernel runs and none starts: buffers may be given other memory. For short moments. */
void evaluations_pause(void);
void evaluations_resume(void);
/* The kernels that evaluating these roots would run, for a device by profile name, as source. Evaluates nothing. */
kn_status evaluate_source(node *const *roots, int nroots, const char *profile, text *out, message *m);
kn_status evaluate_assembly(node *const *roots, int nroots, const char *profile, text *out, message *m);   /* of a CPU profile */
kn_status evaluate_explain(node *const *roots, int nroots, const char *profile, text *out, message *m);
/* Pending work above which recording should evaluate, in nodes. */
#define WORK_LIMIT 512
const char *node_message(const node *n, kn_status *status);   /* of a NODE_FAULT node */
extern pthread_mutex_t graph_mutex;                           /* guards node->slot, visit, plan notes and state changes */

/* ---- counters, for tests and for users who ask ---- */
typedef struct runtime_counts {
    uint64_t evaluations, plan_hits, plans_built, kernels_built, kernels_compiled, kernels_from_disk, kernels_interpreted, launches, opaque_calls;
    uint64_t bytes_live, bytes_peak, bytes_cached, buffers_live;
} runtime_counts;
void runtime_count(runtime_counts *out);
void runtime_forget(void);                                    /* empties plan and kernel caches in memory (tests) */

/* ---- kernels.c: compiled kernels by the bytes of their IR ---- */
typedef struct compiled compiled;
compiled *compiled_find(const kernel *k, message *m);         /* never fails for lack of LLVM: then it is interpreted */
void compiled_drop(compiled *c);
/* Runs GRID iterations [0, grid) spread over the workers; serial: one worker, in order. work: see plan_step. */
kn_status compiled_run(compiled *c, const uint64_t *args, int64_t grid, bool serial, int64_t work, uint64_t *fault, message *m);
typedef enum { JIT_AUTO, JIT_ALWAYS, JIT_NEVER } jit_mode;    /* KILN_JIT=auto|always|never; auto interprets tiny first runs */
void jit_set(jit_mode mode);

/* ---- pool.c: host memory for arrays ---- */
buffer *pool_buffer(int64_t bytes, message *m);               /* 64-byte aligned, not cleared */
void pool_limit(int64_t bytes);                               /* cached bytes kept at most */
void pool_trim(void);
/* Memory of the caller: not freed by us unless destroy is given. */
buffer *host_buffer(void *data, size_t size, bool readonly, void (*destroy)(buffer *), void *owner, message *m);

/* ---- workers.c: threads ---- */
int workers_count(void);                                      /* KILN_NUM_THREADS, else the machine's cores */
void workers_set(int n);
/* Calls body(arg, lo, hi) on parts of [0, n), possibly on several threads, and returns when all are done. Parts never
 * decide results. Nested calls run on the calling thread. */
void workers_run(void (*body)(void *arg, int64_t lo, int64_t hi), void *arg, int64_t n, int64_t least);
#endif
