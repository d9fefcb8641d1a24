/* npy.c: the elements of an .npy file, to and from memory.
 *
 * How it works: reading goes straight into the caller's memory and turns bytes round in place. Writing hands contiguous
 * arrays on as they lie, transposed ones as Fortran order, and gathers all others through a small buffer. Headers belong
 * to npy_header.c. */
#include "frontend/files/internal.h"

#include <string.h>

enum { PIECE = 1 << 20, GATHER = 1 << 18 };

/* ---- reading ---- */

static void swap_bytes(unsigned char *p, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i += size)
        for (size_t k = 0; k < size / 2; k++) {
            unsigned char byte = p[i + k];
            p[i + k] = p[i + size - 1 - k];
            p[i + size - 1 - k] = byte;
        }
}

kn_status npy_data_take(byte_stream *s, const npy_header *h, void *to, message *m)
{
    unsigned char *p = to;
    size_t part = dtype_size(dtype_table[h->array.dtype].part);
    bool boolean = h->array.dtype == KN_BOOL;
    if (!h->swapped && !boolean)
        return h->array.bytes > 0 ? s->take(s, p, (size_t)h->array.bytes, m) : KN_OK;
    for (int64_t left = h->array.bytes; left > 0;) {
        size_t n = left < PIECE ? (size_t)left : PIECE;
        kn_status status = s->take(s, p, n, m);
        if (status != KN_OK)
            return status;
        if (h->swapped)
            swap_bytes(p, n, part);
        for (size_t i = 0; boolean && i < n; i++) /* a bool with another bit set is no bool for a compiler */
            p[i] = p[i] != 0;
        p += n;
        left -= (int64_t)n;
    }
    return KN_OK;
}

/* ---- writing ---- */

/* Whether the elements lie one behind the other with the last axis fastest, or with `first_fastest` the first. */
static bool contiguous(const host_array *a, bool first_fastest)
{
    int64_t step = (int64_t)dtype_size(a->dtype);
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] == 0)
            return true;
    for (int i = 0; i < a->ndim; i++) {
        int axis = first_fastest ? i : a->ndim - 1 - i;
        if (a->shape[axis] != 1 && a->strides[axis] != step)
            return false;
        step *= a->shape[axis];
    }
    return true;
}

/* A window walked in C order, the last axis in runs. */
typedef struct gatherer {
    const host_array *a;
    size_t size;
    int64_t index[NDIM_MAX];
    const char *at;            /* of the next element */
} gatherer;

static void copy_elements(char *to, const char *from, int64_t stride, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++, from += stride, to += size)
        switch (size) { /* constant sizes become single moves */
        case 1: *to = *from; break;
        case 2: memcpy(to, from, 2); break;
        case 4: memcpy(to, from, 4); break;
        case 8: memcpy(to, from, 8); break;
        default: memcpy(to, from, 16); break;
        }
}

/* Moves on by n elements within the last axis, and to the next row at its end. */
static void advance(gatherer *g, int64_t n)
{
    for (int axis = g->a->ndim - 1; axis >= 0; axis--) {
        g->at += n * g->a->strides[axis];
        g->index[axis] += n;
        if (g->index[axis] < g->a->shape[axis] || axis == 0)
            return;
        g->at -= g->index[axis] * g->a->strides[axis];
        g->index[axis] = 0;
        n = 1;
    }
}

static kn_status write_gathered(const host_array *a, piece_sink *sink, void *context, message *m)
{
    gatherer g = {.a = a, .size = dtype_size(a->dtype), .at = a->data};
    char *buffer = mem_alloc(GATHER);
    if (!buffer)
        return fail_memory(m, "writing an array");
    kn_status status = KN_OK;
    int64_t left = host_count(a), room = (int64_t)(GATHER / g.size), row = a->shape[a->ndim - 1];
    while (left > 0 && status == KN_OK) {
        int64_t n = 0;
        while (n < room && n < left) {
            int64_t run = row - g.index[a->ndim - 1];
            run = run < room - n ? run : room - n;
            copy_elements(buffer + (size_t)n * g.size, g.at, a->strides[a->ndim - 1], run, g.size);
            advance(&g, run);
            n += run;
        }
        status = sink(context, buffer, (size_t)n * g.size, m);
        left -= n;
    }
    mem_free(buffer);
    return status;
}

kn_status npy_write(const host_array *a, piece_sink *sink, void *context, message *m)
{
    char header[NPY_WRITTEN_MAX];
    bool plain = contiguous(a, false), fortran = !plain && contiguous(a, true);
    size_t n = npy_header_format(a->dtype, fortran, a->ndim, a->shape, header);
    kn_status status = sink(context, header, n, m);
    if (status != KN_OK || host_count(a) == 0)
        return status;
    if (plain || fortran)
        return sink(context, a->data, (size_t)host_count(a) * dtype_size(a->dtype), m);
    return write_gathered(a, sink, context, m);
}
