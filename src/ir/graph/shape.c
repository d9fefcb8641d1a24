/* shape.c: NumPy's shape rules: sizes, broadcasting, axes, and which reshapes are views.
 *
 * How it works: plain arithmetic on extents, overflow-checked. A kn_axis is one axis, KN_ALL, a packed set of up to eight
 * small axes, or the number of a list in a table of lists that only grows (equal lists share a number). Nothing about nodes
 * may be put here. */
#include "ir/graph/graph.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

const char *shape_text(char *buf, int ndim, const int64_t *shape)
{
    size_t at = 1;
    buf[0] = '(';
    for (int d = 0; d < ndim; d++) {
        int n = snprintf(buf + at, SHAPE_TEXT - at, d ? ", %lld" : "%lld", (long long)shape[d]);
        if (n < 0 || at + (size_t)n + 6 >= SHAPE_TEXT) {
            memcpy(buf + at, d ? ", ...)" : "...)", d ? 7 : 5);
            return buf;
        }
        at += (size_t)n;
    }
    memcpy(buf + at, ndim == 1 ? ",)" : ")", ndim == 1 ? 3 : 2);
    return buf;
}

/* A zero anywhere makes the size 0; the other extents must still multiply without overflow, as in NumPy. */
bool shape_size(int ndim, const int64_t *shape, int64_t *size)
{
    int64_t n = 1;
    bool empty = false;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0)
            empty = true;
        else if (shape[d] < 0 || mul_overflows(n, shape[d], &n))
            return false;
    }
    *size = empty ? 0 : n;
    return true;
}

static kn_status broadcast_failure(int n, const int *ndims, const int64_t *const *shapes, const char *op, message *m)
{
    char all[2 * SHAPE_TEXT], one[SHAPE_TEXT];
    size_t at = 0;
    all[0] = '\0';
    for (int i = 0; i < n && at + 8 < sizeof all; i++) {
        int w = snprintf(all + at, sizeof all - at, "%s%s", i ? i + 1 == n ? " and " : ", " : "", shape_text(one, ndims[i], shapes[i]));
        at += w > 0 ? (size_t)w : 0;
    }
    return fail(m, KN_VALUE_ERROR, "%s: shapes %s do not broadcast: an extent must be equal everywhere or 1", op, all);
}

kn_status shape_broadcast(int n, const int *ndims, const int64_t *const *shapes, int *ndim, int64_t *shape, const char *op, message *m)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        most = ndims[i] > most ? ndims[i] : most;
    for (int d = 0; d < most; d++)
        shape[d] = 1;
    for (int i = 0; i < n; i++) {
        int64_t *to = shape + (most - ndims[i]);
        for (int d = 0; d < ndims[i]; d++) {
            int64_t extent = shapes[i][d];
            if (extent == to[d] || extent == 1)
                continue;
            if (to[d] != 1)
                return broadcast_failure(n, ndims, shapes, op, m);
            to[d] = extent;
        }
    }
    int64_t size;
    if (!shape_size(most, shape, &size)) {
        char t[SHAPE_TEXT];
        return fail(m, KN_VALUE_ERROR, "%s: the broadcast shape %s has too many elements", op, shape_text(t, most, shape));
    }
    *ndim = most;
    return KN_OK;
}

/* ---- axes ---- */

/* Packed: bit 62 set, count in bits 56..59, eight fields of seven bits that hold axis + 64. A list: bits 62 and 61 set, its
 * number below. Plain axes are small numbers of either sign, so the three never meet. */
#define AXIS_ALL ((kn_axis)INT64_MIN)
#define AXIS_PACKED ((int64_t)1 << 62)
#define AXIS_LIST ((int64_t)1 << 61)
#define PACKED_MOST 8
#define NO_SUCH_LIST (AXIS_PACKED | AXIS_LIST | INT32_MAX)

typedef struct axis_list { int n; int axes[]; } axis_list;
static struct { pthread_mutex_t mutex; axis_list **at; int n, cap; } lists = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int list_number(int n, const int *axes)
{
    size_t bytes = (size_t)n * sizeof *axes;
    for (int i = 0; i < lists.n; i++)
        if (lists.at[i]->n == n && memcmp(lists.at[i]->axes, axes, bytes) == 0)
            return i;
    if (lists.n == lists.cap) {
        axis_list **more = mem_grow(lists.at, (size_t)lists.cap * 2 + 8, sizeof *more);
        if (!more)
            return -1;
        lists.at = more;
        lists.cap = lists.cap * 2 + 8;
    }
    axis_list *l = mem_alloc(sizeof *l + bytes);
    if (!l)
        return -1;
    l->n = n;
    memcpy(l->axes, axes, bytes);
    lists.at[lists.n] = l;
    return lists.n++;
}

kn_axis axis_pack(int n, const int *axes)
{
    bool small = n <= PACKED_MOST;
    for (int i = 0; i < n; i++)
        small &= axes[i] >= -64 && axes[i] <= 63;
    if (small) {
        kn_axis packed = AXIS_PACKED | (int64_t)n << 56;
        for (int i = 0; i < n; i++)
            packed |= (int64_t)(axes[i] + 64) << 7 * i;
        return packed;
    }
    pthread_mutex_lock(&lists.mutex);
    int number = list_number(n, axes);
    pthread_mutex_unlock(&lists.mutex);
    return number < 0 ? NO_SUCH_LIST : AXIS_PACKED | AXIS_LIST | number;
}

int axis_unpack(kn_axis a, int *axes, int most)
{
    if (a == AXIS_ALL)
        return -1;
    if (a < AXIS_PACKED) {
        if (most > 0)
            axes[0] = a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : (int)a;
        return 1;
    }
    if (!(a & AXIS_LIST)) {
        int n = (int)(a >> 56 & 15);
        for (int i = 0; i < n && i < most; i++)
            axes[i] = (int)(a >> 7 * i & 127) - 64;
        return n;
    }
    pthread_mutex_lock(&lists.mutex);
    int number = (int)(a & INT32_MAX), n = 0;
    if (number < lists.n) {
        n = lists.at[number]->n;
        memcpy(axes, lists.at[number]->axes, (size_t)(n < most ? n : most) * sizeof *axes);
    } else {
        n = most + 1; /* a list that could not be kept: more axes than any array has */
    }
    pthread_mutex_unlock(&lists.mutex);
    return n;
}

kn_status axes_normalise(kn_axis axis, int ndim, uint64_t *mask, int *list, int *nlist, const char *op, message *m)
{
    int axes[NDIM_MAX], n = axis_unpack(axis, axes, NDIM_MAX);
    uint64_t set = 0;
    if (n > NDIM_MAX)
        return fail(m, KN_VALUE_ERROR, "%s: more axes than an array of %d dimensions has", op, ndim);
    if (n < 0) {
        n = ndim;
        for (int i = 0; i < n; i++)
            axes[i] = i;
    }
    for (int i = 0; i < n; i++) {
        int a = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (a < 0 || a >= ndim)
            return fail(m, KN_INDEX_ERROR, "%s: axis %d is out of bounds for an array of %d dimension%s", op, axes[i], ndim, ndim == 1 ? "" : "s");
        if (set >> a & 1)
            return fail(m, KN_VALUE_ERROR, "%s: axis %d is named twice", op, a);
        set |= (uint64_t)1 << a;
        if (list)
            list[i] = a;
    }
    if (mask)
        *mask = set;
    if (nlist)
        *nlist = n;
    return KN_OK;
}

kn_status axis_one(kn_axis axis, int ndim, const char *op, int *out, message *m)
{
    int list[NDIM_MAX], n;
    kn_status status = axes_normalise(axis, ndim, NULL, list, &n, op, m);
    if (!status && n != 1)
        status = fail(m, KN_TYPE_ERROR, "%s: takes one axis", op);
    if (!status)
        *out = list[0];
    return status;
}

/* ---- reshape ---- */

/* Runs of old dimensions that lie like one are matched with runs of new dimensions of the same size, from the left. */
bool strides_reshape(int ndim, const int64_t *shape, const int64_t *strides, int new_ndim, const int64_t *new_shape, int64_t *new_strides)
{
    int64_t old_shape[NDIM_MAX], old_strides[NDIM_MAX], size;
    int n = 0;
    if (!shape_size(ndim, shape, &size))
        return false;
    for (int d = 0; d < ndim; d++)
        if (shape[d] != 1) {
            old_shape[n] = shape[d];
            old_strides[n++] = strides[d];
        }
    int64_t unit = n > 0 ? old_strides[n - 1] : ndim > 0 ? strides[ndim - 1] : 1;
    if (size == 0) { /* no element, so any strides do */
        int64_t step = unit;
        for (int d = new_ndim; d-- > 0;) {
            new_strides[d] = step;
            step *= new_shape[d] > 1 ? new_shape[d] : 1;
        }
        return true;
    }
    int old_at = 0, new_at = 0;
    while (old_at < n && new_at < new_ndim) {
        int old_end = old_at + 1, new_end = new_at + 1;
        int64_t old_run = old_shape[old_at], new_run = new_shape[new_at];
        while (old_run != new_run) {
            if (new_run < old_run)
                new_run *= new_shape[new_end++];
            else
                old_run *= old_shape[old_end++];
        }
        for (int d = old_at; d + 1 < old_end; d++)
            if (old_strides[d] != old_shape[d + 1] * old_strides[d + 1])
                return false;
        new_strides[new_end - 1] = old_strides[old_end - 1];
        for (int d = new_end - 1; d > new_at; d--)
            new_strides[d - 1] = new_strides[d] * new_shape[d];
        old_at = old_end;
        new_at = new_end;
    }
    for (int64_t last = new_at > 0 ? new_strides[new_at - 1] : unit; new_at < new_ndim; new_at++)
        new_strides[new_at] = last; /* extents of 1 at the end */
    return true;
}

kn_status shape_infer(int64_t size, int ndim, int64_t *shape, const char *op, message *m)
{
    char t[SHAPE_TEXT];
    int unknown = -1;
    int64_t known = 1;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == -1) {
            if (unknown >= 0)
                return fail(m, KN_VALUE_ERROR, "%s: only one extent of %s may be -1", op, shape_text(t, ndim, shape));
            unknown = d;
        } else if (shape[d] < 0) {
            return fail(m, KN_VALUE_ERROR, "%s: the shape %s has a negative extent", op, shape_text(t, ndim, shape));
        } else if (mul_overflows(known, shape[d], &known)) {
            return fail(m, KN_VALUE_ERROR, "%s: the shape %s has too many elements", op, shape_text(t, ndim, shape));
        }
    }
    bool possible = unknown < 0 ? known == size : known != 0 && size % known == 0;
    if (!possible)
        return fail(m, KN_VALUE_ERROR, "%s: %lld element%s cannot take the shape %s", op, (long long)size, size == 1 ? "" : "s", shape_text(t, ndim, shape));
    if (unknown >= 0)
        shape[unknown] = size / known;
    return KN_OK;
}
