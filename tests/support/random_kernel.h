/* random_kernel.h: random kernels that every way of running them has to agree on.
 *
 * A case is a verified kernel with its memory and scalars. Whatever is random comes from the seed; what C or a device
 * leaves open is avoided: indices stay inside, divisors are no zeros, shifts and conversions stay in range, no result
 * depends on a NaN's sign or payload, and no two lanes write one element. Without `between`, a seed makes the same
 * computation in every shape, so shapes can be compared with each other. Include random_kernel.c once in a test program. */
#ifndef KILN_RANDOM_KERNEL_H
#define KILN_RANDOM_KERNEL_H
#include "codegen/codegen.h"

typedef enum random_shape { SHAPE_SCALAR, SHAPE_LANES, SHAPE_BLOCKS } random_shape;

typedef struct random_options {
    uint64_t seed;
    random_shape shape;     /* a CPU kernel without vectors, one with LANE loops, a GPU kernel */
    bool integers;          /* no floats */
    bool control;           /* branches, loops that lanes leave on their own, variables, LOCAL arrays */
    bool between;           /* LANES: sums that lanes keep, shuffles, lane numbers; BLOCKS: shared memory, barriers, shuffles, votes, atomics */
    bool calls;             /* integer functions of the library */
    bool faults;
    int size;               /* random steps; 0: 20 */
    int lanes;              /* of LANE loops; 0: 4, 8, 16 or 32 */
    int warp;               /* of BLOCKS; 0: 32 */
} random_options;

#define RANDOM_ARRAYS 12
#define RANDOM_SCALARS 8
typedef struct random_array { ktype type; int64_t count; bool written; void *data; } random_array;

/* Parameters are the arrays, then the scalars. */
typedef struct random_case {
    kernel *k;
    random_array array[RANDOM_ARRAYS]; int narrays;
    uint64_t scalar[RANDOM_SCALARS]; int nscalars;
    int64_t grid;           /* GRID iterations along x */
} random_case;

/* All of it in mem; false without memory, or (a defect of the generator) when the kernel is refused: m says why. */
bool random_kernel(const random_options *o, arena *mem, random_case *c, message *m);

/* Fresh copies of the case's arrays, in mem; and the arguments for a run on them. */
bool random_copies(const random_case *c, arena *mem, void **copies);
void random_args(const random_case *c, void *const *copies, uint64_t *args);
kn_status random_run_reference(const random_case *c, void *const *copies, uint64_t *fault, message *m);

/* Compares the written arrays of two runs; NaNs are equal. Where they differ, the sentence says so. */
bool random_equal(const random_case *c, void *const *got, void *const *want, char *sentence, size_t size);
#endif
