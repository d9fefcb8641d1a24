/* sort.c: sort and argsort along one axis, our own, for every dtype; stable, NaN last.
 *
 * How it works: real elements become unsigned keys whose order is theirs; keys are sorted by a radix sort, least significant
 * digit first, which skips digits that are equal everywhere. Complex numbers go through a merge sort with NumPy's order.
 * attr: axis, stable (0: equal elements such as -0 and 0 may change places in a sort). */
#include <string.h>
#include <pthread.h>
#include "libs/libs.h"
#include "runtime/runtime.h"

/* ---- keys ---- */

/* Order-preserving; every NaN becomes the largest key. With merge_zeros, -0 and 0 have one key. */
static uint64_t key_of(kn_dtype t, const char *p, bool merge_zeros) {
    const dtype_info *d = &dtype_table[t];
    uint64_t bits = 0;
    memcpy(&bits, p, d->size);                                        /* little endian */
    if (d->kind == KIND_BOOL) return bits != 0;
    if (d->kind == KIND_UINT) return bits;
    uint64_t sign = (uint64_t)1 << (8 * d->size - 1), all = sign | (sign - 1);
    if (d->kind == KIND_INT) return bits ^ sign;
    uint64_t infinity = (((uint64_t)1 << d->exponent) - 1) << d->mantissa, magnitude = bits & ~sign;
    if (magnitude > infinity) return all;
    if (merge_zeros && magnitude == 0) return sign;
    return bits & sign ? ~bits & all : bits | sign;
}

static void key_store(kn_dtype t, char *p, uint64_t key) {
    const dtype_info *d = &dtype_table[t];
    uint64_t sign = (uint64_t)1 << (8 * d->size - 1), all = sign | (sign - 1), bits = key;
    if (d->kind == KIND_INT) bits = key ^ sign;
    if (d->kind == KIND_FLOAT) {
        if (key == all) bits = (((uint64_t)1 << (d->exponent + 1)) - 1) << (d->mantissa - 1);   /* the quiet NaN */
        else bits = key & sign ? key ^ sign : ~key & all;
    }
    memcpy(p, &bits, d->size);
}

typedef struct item { uint64_t key; int64_t index; } item;

/* The sorted items end in a or b; the return value tells where. */
static item *radix_sort(item *a, item *b, int64_t n, int bytes) {
    for (int digit = 0; digit < bytes; digit++) {
        int64_t count[256] = { 0 };
        for (int64_t i = 0; i < n; i++) count[a[i].key >> 8 * digit & 255]++;
        if (count[a[0].key >> 8 * digit & 255] == n) continue;
        int64_t at = 0;
        for (int d = 0; d < 256; d++) { int64_t c = count[d]; count[d] = at; at += c; }
        for (int64_t i = 0; i < n; i++) b[count[a[i].key >> 8 * digit & 255]++] = a[i];
        item *t = a;
        a = b;
        b = t;
    }
    return a;
}

static item *small_sort(item *a, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        item x = a[i];
        int64_t j = i;
        for (; j > 0 && a[j - 1].key > x.key; j--) a[j] = a[j - 1];
        a[j] = x;
    }
    return a;
}

/* ---- complex numbers ---- */

typedef struct complex_item { double re, im; int64_t index; } complex_item;

/* Lexicographic; a NaN sorts after every number, in each part. */
static bool complex_before(const complex_item *a, const complex_item *b) {
    bool a_nan = a->im != a->im, b_nan = b->im != b->im;
    if (a->re < b->re) return !a_nan || b_nan;
    if (a->re > b->re) return b_nan && !a_nan;
    if (a->re == b->re || (a->re != a->re && b->re != b->re)) return a->im < b->im || (b_nan && !a_nan);
    return b->re != b->re;
}

static complex_item *merge_sort(complex_item *a, complex_item *b, int64_t n) {
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            int64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n, i = lo, j = mid;
            for (int64_t k = lo; k < hi; k++) b[k] = i < mid && (j >= hi || !complex_before(&a[j], &a[i])) ? a[i++] : a[j++];
        }
        complex_item *t = a;
        a = b;
        b = t;
    }
    return a;
}

/* ---- lines ---- */

typedef struct sort_job { const struct provider_call *c; bool indices; int axis; bool stable; message m; pthread_mutex_t mutex; } sort_job;

static void sort_real(const sort_job *j, const char *from, char *to, void *memory) {
    const struct opaque_operand *in = &j->c->operands[0], *out = &j->c->operands[1];
    int64_t n = in->shape[j->axis], step = in->strides[j->axis], to_step = out->strides[j->axis];
    item *a = memory, *b = a + n;
    bool by_index = j->indices || (j->stable && dtype_kind_of(in->dtype) == KIND_FLOAT);
    for (int64_t i = 0; i < n; i++) a[i] = (item){ key_of(in->dtype, from + i * step, by_index), i };
    item *sorted = n < 32 ? small_sort(a, n) : radix_sort(a, b, n, (int)dtype_size(in->dtype));
    for (int64_t i = 0; i < n; i++, to += to_step) {
        if (j->indices) memcpy(to, &sorted[i].index, sizeof(int64_t));
        else if (by_index) memcpy(to, from + sorted[i].index * step, dtype_size(in->dtype));
        else key_store(in->dtype, to, sorted[i].key);
    }
}

static void sort_complex(const sort_job *j, const char *from, char *to, void *memory) {
    const struct opaque_operand *in = &j->c->operands[0], *out = &j->c->operands[1];
    int64_t n = in->shape[j->axis], step = in->strides[j->axis], to_step = out->strides[j->axis];
    complex_item *a = memory;
    for (int64_t i = 0; i < n; i++) {
        scalar s = element_load(in->dtype, from + i * step);
        a[i] = (complex_item){ s.v.c.re, s.v.c.im, i };
    }
    complex_item *sorted = merge_sort(a, a + n, n);
    for (int64_t i = 0; i < n; i++, to += to_step) {
        if (j->indices) memcpy(to, &sorted[i].index, sizeof(int64_t));
        else memcpy(to, from + sorted[i].index * step, dtype_size(in->dtype));
    }
}

static void lines_part(void *arg, int64_t lo, int64_t hi) {
    sort_job *j = arg;
    const struct opaque_operand *in = &j->c->operands[0], *out = &j->c->operands[1];
    bool complex = dtype_is_complex(in->dtype);
    int64_t n = in->shape[j->axis];
    void *memory = mem_array((size_t)n, 2 * (complex ? sizeof(complex_item) : sizeof(item)));
    if (!memory) {
        pthread_mutex_lock(&j->mutex);
        fail_memory(&j->m, "sorting");
        pthread_mutex_unlock(&j->mutex);
        return;
    }
    for (int64_t at = lo; at < hi; at++) {
        const char *from = j->c->data[0];
        char *to = j->c->data[1];
        int64_t rest = at;
        for (int d = in->ndim; d-- > 0;) {
            if (d == j->axis) continue;
            int64_t index = rest % in->shape[d];
            rest /= in->shape[d];
            from += index * in->strides[d];
            to += index * out->strides[d];
        }
        (complex ? sort_complex : sort_real)(j, from, to, memory);
    }
    mem_free(memory);
}

static int applicable(const struct provider_call *c) { return c->operands[0].ndim > 0; }

static kn_status run(const struct provider_call *c, bool indices) {
    const struct opaque_operand *in = &c->operands[0];
    sort_job j = { .c = c, .indices = indices, .axis = (int)c->attr[0], .stable = c->attr[1] != 0 };
    int64_t count = 1, n = in->shape[j.axis];
    for (int d = 0; d < in->ndim; d++) if (d != j.axis) count *= in->shape[d];
    if (count == 0 || n == 0) return KN_OK;
    pthread_mutex_init(&j.mutex, NULL);
    workers_run(lines_part, &j, count, 1 + 16384 / n);
    pthread_mutex_destroy(&j.mutex);
    return j.m.status ? fail(c->m, j.m.status, "%s", j.m.text) : KN_OK;
}

static kn_status run_sort(const struct provider_call *c) { return run(c, false); }
static kn_status run_argsort(const struct provider_call *c) { return run(c, true); }

void sort_register(void) {
    static provider rows[] = { { "own", 0, TARGET_CPU, applicable, NULL, run_sort }, { "own", 0, TARGET_CPU, applicable, NULL, run_argsort } };
    rows[0].operation = family_op_named("sort");
    rows[1].operation = family_op_named("argsort");
    for (int i = 0; i < 2; i++) provider_register(&rows[i]);
}
