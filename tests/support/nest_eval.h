/* nest_eval.h: what a nest means, element by element: the yardstick for partitions and for schedules.
 *
 * A nest is run over all its atoms, one element at a time, with the primitives and device functions of the reference
 * interpreter. No loop is chosen, nothing is vectorised, nothing is kept. Include nest_eval.c once in a test program. */
#ifndef KILN_NEST_EVAL_H
#define KILN_NEST_EVAL_H
#include "codegen/codegen.h"
#include "ir/plan/nest.h"

/* Where the nest's memory is, and the values of the slice's scalars. */
typedef struct nest_memory {
    char *const *leaves, *const *memory;
    const scalar *scalars;
} nest_memory;

/* A copy that outlives the plan's scratch memory. */
nest *nest_keep(const nest *n, arena *mem);
/* backwards: elements in reverse order, which a nest without an order of its own must not notice. False: a fault, kept in
 * *fault as kernels do. */
bool nest_run(const nest *n, const nest_memory *m, bool backwards, uint64_t *fault);

/* One primitive or device function on plain values: bits as in kernel arguments, f16 and bf16 as f32. */
uint64_t eval_primitive(kop op, ktype result, ktype operand, uint64_t a, uint64_t b, uint64_t c);
void eval_function(int function, const uint64_t *args, uint64_t *results);
uint64_t eval_load(ktype storage, const char *array, int64_t index);
void eval_forget(void);                      /* frees what the functions above keep */
void eval_store(ktype storage, char *array, int64_t index, uint64_t value);
#endif
