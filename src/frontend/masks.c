/* masks.c: where a boolean array is true.
 *
 * How many elements a mask selects is a shape, and shapes are known when a call returns; so masks are evaluated at the
 * call. They are read in parallel blocks: one pass counts, the second writes positions where the counts say. What is then
 * done at those positions must not be put here. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

#define BLOCK 32768                       /* elements counted and written together */

typedef struct positions_job {
    const uint8_t *truth;
    int64_t size;
    int ndim;
    int64_t shape[NDIM_MAX];
    int64_t *counts;                      /* per block; later where its first position goes */
    int64_t *out[NDIM_MAX];
} positions_job;

static void count_blocks(void *arg, int64_t lo, int64_t hi) {
    positions_job *j = arg;
    for (int64_t b = lo; b < hi; b++) {
        int64_t end = (b + 1) * BLOCK < j->size ? (b + 1) * BLOCK : j->size, n = 0;
        for (int64_t i = b * BLOCK; i < end; i++) n += j->truth[i] != 0;
        j->counts[b] = n;
    }
}

static void write_position(const positions_job *j, int64_t i, int64_t to) {
    for (int d = j->ndim; d-- > 1;) {
        j->out[d][to] = i % j->shape[d];
        i /= j->shape[d];
    }
    j->out[0][to] = i;
}

static void write_blocks(void *arg, int64_t lo, int64_t hi) {
    positions_job *j = arg;
    for (int64_t b = lo; b < hi; b++) {
        int64_t end = (b + 1) * BLOCK < j->size ? (b + 1) * BLOCK : j->size, to = j->counts[b];
        for (int64_t i = b * BLOCK; i < end; i++) if (j->truth[i]) write_position(j, i, to++);
    }
}

static kn_status make_positions(positions_job *j, node **positions, message *m) {
    int64_t blocks = (j->size + BLOCK - 1) / BLOCK, total = 0;
    j->counts = mem_array((size_t)blocks + 1, sizeof *j->counts);
    if (!j->counts) return fail_memory(m, "finding where a mask is true");
    workers_run(count_blocks, j, blocks, 4);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t n = j->counts[b];
        j->counts[b] = total;
        total += n;
    }
    buffer *b[NDIM_MAX] = { NULL };
    bool good = true;
    for (int d = 0; d < j->ndim && good; d++) {
        good = (b[d] = pool_buffer(total * (int64_t)sizeof(int64_t), m)) != NULL;
        if (good) j->out[d] = b[d]->data;
    }
    if (good) workers_run(write_blocks, j, blocks, 4);
    for (int d = 0; d < j->ndim; d++) {
        positions[d] = good ? node_buffer(KN_INT64, 1, &total, b[d], 0, m) : NULL;
        good = good && positions[d];
        buffer_drop(b[d]);
    }
    mem_free(j->counts);
    if (!good) for (int d = 0; d < j->ndim; d++) node_drop(positions[d]);
    return good ? KN_OK : m->status;
}

kn_status mask_positions(node *mask, node **positions, int *n, message *m) {
    node *truth = node_cast(mask, KN_BOOL, m);
    if (!truth) return m->status;
    host_window h;
    kn_status status = node_host(truth, &h, m);
    node_drop(truth);
    if (status) return status;
    positions_job j = { .truth = (const uint8_t *)h.data, .size = 1, .ndim = h.ndim > 0 ? h.ndim : 1 };
    for (int d = 0; d < h.ndim; d++) {
        j.shape[d] = h.shape[d];
        j.size *= h.shape[d];
    }
    if (!(status = make_positions(&j, positions, m))) *n = j.ndim;
    host_drop(&h);
    return status;
}

/* ---- masks as items of an index ---- */

static bool is_mask(const index_item *i) { return i->kind == INDEX_ARRAY && i->array->dtype == KN_BOOL; }

static int axes_taken(const index_item *i) {
    return i->kind == INDEX_INT || i->kind == INDEX_SLICE ? 1 : i->kind == INDEX_ARRAY ? is_mask(i) ? i->array->ndim : 1 : 0;
}

/* The axis of `in` that item k starts at. */
static int axis_of(const index_list *l, int k, int ndim) {
    int axis = 0, rest = 0;
    bool ellipsis = false;
    for (int i = 0; i < l->n; i++) {
        if (l->item[i].kind == INDEX_ELLIPSIS && i < k) ellipsis = true;
        if (i < k) axis += axes_taken(&l->item[i]);
        rest += axes_taken(&l->item[i]);
    }
    return ellipsis ? axis + ndim - rest : axis;
}

static kn_status check_mask(const node *mask, int axis, const layout *in, message *m) {
    for (int d = 0; d < mask->ndim && axis + d < in->ndim; d++)
        if (mask->shape[d] != in->shape[axis + d])
            return fail(m, KN_INDEX_ERROR, "boolean index did not match indexed array along axis %d; size of axis is %lld but size of corresponding boolean axis is %lld",
                        axis + d, (long long)in->shape[axis + d], (long long)mask->shape[d]);
    return KN_OK;
}

/* A 0-d mask selects along an axis of its own of extent 1. */
static void insert_axis(layout *in, int axis) {
    for (int d = in->ndim; d > axis; d--) {
        in->shape[d] = in->shape[d - 1];
        in->strides[d] = in->strides[d - 1];
    }
    in->shape[axis] = 1;
    in->strides[axis] = 0;
    in->ndim++;
}

kn_status index_masks(index_list *l, layout *in, message *m) {
    for (int k = 0; k < l->n; k++) {
        if (!is_mask(&l->item[k])) continue;
        node *mask = l->item[k].array, *at[NDIM_MAX];
        int axis = axis_of(l, k, in->ndim), n;
        if (axis < 0 || axis + mask->ndim > in->ndim || in->ndim + 1 > NDIM_MAX)
            return fail(m, KN_INDEX_ERROR, "too many indices for array: array is %d-dimensional, but more were indexed", in->ndim);
        kn_status status = check_mask(mask, axis, in, m);
        if (!status) status = mask_positions(mask, at, &n, m);
        if (status) return status;
        if (mask->ndim == 0) insert_axis(in, axis);
        if (l->n + n - 1 > INDEX_MOST) {
            for (int i = 0; i < n; i++) node_drop(at[i]);
            return fail(m, KN_INDEX_ERROR, "too many indices");
        }
        memmove(&l->item[k + n], &l->item[k + 1], (size_t)(l->n - k - 1) * sizeof l->item[0]);
        for (int i = 0; i < n; i++) l->item[k + i] = (index_item){ .kind = INDEX_ARRAY, .array = at[i], .from_mask = true };
        l->n += n - 1;
        k += n - 1;
        node_drop(mask);
    }
    return KN_OK;
}
