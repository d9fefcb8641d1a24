/* nest_build.h: short names for building kernels by hand; for nests.c and nest_scan.c alone. */
#ifndef KILN_NEST_BUILD_H
#define KILN_NEST_BUILD_H
#include "nests.h"

typedef struct spread { kval block, thread; } spread;   /* the open GRID and BLOCK loop */

kparam in(const char *name);
kparam out(const char *name);
kparam scalar_i32(const char *name);
kernel *new_kernel(arena *mem, const char *name, const char *comment, const kparam *params, uint32_t n, nest_shape s);
spread open_grid(kernel *k, nest_shape s, kval blocks);
void close_grid(kernel *k, spread at);

kval i32(kernel *k, int64_t v);
kval add(kernel *k, kval a, kval b);                    /* of the type of a */
kval mul(kernel *k, kval a, kval b);
kval compare(kernel *k, kop op, kval a, kval b);
kval div_up(kernel *k, kval a, int by);
kval call_exp(kernel *k, kval a);
kval named(kernel *k, kval v, const char *name);

kval unroll(kernel *k, int n);
kval begin_if(kernel *k, kval condition);
kval variable(kernel *k, ktype type, kval first, const char *name);
kval get(kernel *k, ktype type, kval var);
void set(kernel *k, kval var, kval v);
kval local(kernel *k, ktype type, int n, const char *name);
kval load(kernel *k, ktype type, kval array, kval index);
void store(kernel *k, kval array, kval index, kval v);
void vload(kernel *k, nest_shape s, kval to, kval array, kval index);   /* four elements */
void vstore(kernel *k, nest_shape s, kval array, kval index, kval from);
void barrier(kernel *k);
kval shuffle(kernel *k, int how, kval v, kval lane, int warp);

/* Every thread gets the combination of all threads' values, in a fixed order. */
typedef kval combine_fn(kernel *k, kval a, kval b);
kval warp_reduce(kernel *k, kval v, int width, int warp, combine_fn *combine, const char *name);
kval block_reduce(kernel *k, nest_shape s, kval thread, kval v, combine_fn *combine, const char *name);
#endif
