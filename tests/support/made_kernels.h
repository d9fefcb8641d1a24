/* made_kernels.h: kernels for testing whatever runs kernels: every primitive, and programs made at random. */
#ifndef KILN_MADE_KERNELS_H
#define KILN_MADE_KERNELS_H
#include "ir/kir/kir.h"

enum { MADE_THREADS = 64, MADE_BLOCKS = 3, MADE_COUNT = MADE_THREADS * MADE_BLOCKS };

/* Options for kernels made at random. */
typedef struct made_options {
    bool halves;     /* float16 too: rounding, arrays */
    bool cpu;        /* no GRID of blocks: one GRID loop, for targets without threads */
} made_options;

/* One kernel per type: parameters a, b, c of that type and, for each type of result in ktype order that occurs, an array
 * of results, MADE_COUNT a result; then n: i32. a: anything; b: a divisor; c: small and not negative, a shift count.
 * results[t] is how many results of type t there are. */
kernel *made_primitives(arena *mem, ktype type, uint32_t results[NKTYPES]);
void made_inputs(ktype type, uint32_t seed, void *a, void *b, void *c);

/* Shuffles of every kind and a vote: to, from: MADE_COUNT of the type; votes: u64. */
kernel *made_lanes(arena *mem, ktype type, int warp);

/* A program of expressions, variables, local arrays, branches and loops. Parameters: for every type from bool to f64 (no f16,
 * bf16) an input of MADE_COUNT elements and an output of MADE_OUTPUTS * MADE_COUNT; then one i32, one i64, one f32 scalar. */
enum { MADE_OUTPUTS = 8 };
kernel *made_random(arena *mem, uint32_t seed, made_options o);
extern const ktype made_types[];    /* bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 */
enum { MADE_TYPES = 11 };
#endif
