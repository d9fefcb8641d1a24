/* nests.h: five kernels written by hand in kernel IR, one of each shape that schedules make for a GPU: a map, a row kept in
 * registers, a reduction in one launch, a transposed tile, a scan in one pass. They show what the IR can reach. */
#ifndef KILN_NESTS_H
#define KILN_NESTS_H
#include "ir/kir/kir.h"

enum { STREAM_LOADS = 1, STREAM_STORES = 2, STREAM_ALL = 3 };

typedef struct nest_shape {
    int threads;        /* of a block */
    int vectors;        /* 4-element vectors a thread keeps in flight */
    int tile;           /* transpose: side of the tile; sum: vectors a thread takes one after the other */
    int stream;         /* STREAM_*: which vectors do not stay in cache */
    bool relaxed;       /* scan: wait with relaxed loads instead of acquiring ones */
    int kept;           /* scan: further vectors of a thread, kept in shared memory */
    int resident;       /* blocks of a multiprocessor, or 0 */
    bool compensate;    /* sum: carry the rounding errors */
    int warp;           /* 32 or 64 */
} nest_shape;

/* Parameters in order:
 * map        a, b, c, out: f32; n: i32.   out = sqrt(a*a + b*b)*c + exp(-a)
 * softmax    x, out: f32; rows, columns: i32.   columns a multiple of 4, at most 4*threads*vectors
 * sum        a, b: f32; partial: f32[blocks]; count: u32[1], 0 before and after; out: f32[1]; n, blocks: i32.   ((a-b)**2).sum()
 * transpose  x, y, out: f32; rows, columns: i32.   out[r][c] = x[c][r] + y[r][c]; both multiples of 4
 * scan       x, out: f32; tiles, windows, groups: u64, all 0; n: i32.   out = cumsum(x); ordered */
kernel *nest_map(arena *mem, nest_shape s);
kernel *nest_softmax(arena *mem, nest_shape s);
kernel *nest_sum(arena *mem, nest_shape s);
kernel *nest_transpose(arena *mem, nest_shape s);
kernel *nest_scan(arena *mem, nest_shape s);

/* Elements that one block takes: of map, sum and scan. */
int64_t nest_chunk(const nest_shape *s);
int64_t nest_sum_chunk(const nest_shape *s);
#define SCAN_WINDOW 32      /* tiles of a window, windows of a group */
#endif
