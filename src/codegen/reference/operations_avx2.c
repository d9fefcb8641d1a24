/* operations_avx2.c: the scalar primitives over lanes once more, for processors with AVX2 and FMA. The results are the same:
 * a fused multiply-add is used where kernel IR says fma, and nowhere else. */
#include <math.h>
#include <string.h>
#include "codegen/reference/reference.h"

#if defined __x86_64__
#if defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define VARIANT(name) name##_avx2
#include "codegen/reference/operations.h"
#if defined __clang__
#pragma clang attribute pop
#endif

const lane_tables *lane_tables_best(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &operation_tables_avx2 : &operation_tables;
}
#else
const lane_tables *lane_tables_best(void) { return &operation_tables; }
#endif
