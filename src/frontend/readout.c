/* readout.c: values, shapes and dtypes of arrays for the program that holds them.
 *
 * Reading evaluates. What an array is (shape, dtype) is known without. Errors give NaN, 0, false, an empty string, and
 * leave the sentence in kn_error. How evaluation works must not be known here. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/print/print.h"
#include "runtime/runtime.h"

#define CAST_IN_KERNEL 4096               /* elements from which on a cast is worth a kernel of its own */

/* ---- errors of read-outs ---- */

/* carried: the array was an error before it was read. */
static kn_status tell(bool carried, const message *m) {
    if (carried) error_repeat(m);
    else error_record(m);
    return m->status;
}

/* What evaluation made an error stays one; the array itself tells so from here on (its value is a fault). */
static kn_status host_of(kn_array a, const char *what, host_window *h) {
    message m = { 0 };
    bool carried = array_failed(a, NULL);
    return array_host(a, what, h, &m) ? tell(carried, &m) : KN_OK;
}

static kn_status complain(const char *what, kn_status status, const char *sentence) {
    message m = { 0 };
    fail(&m, status, "%s: %s", what, sentence);
    error_record(&m);
    return status;
}

static int64_t count_of(const host_window *h) {
    int64_t n = 1;
    for (int d = 0; d < h->ndim; d++) n *= h->shape[d];
    return n;
}

/* ---- one number ---- */

/* The only element, as it is; false when there is an error or more or less than one. */
static bool one_element(kn_array a, const char *what, scalar *out) {
    host_window h;
    slot *s = slot_of(a);
    if (s && s->kind == SLOT_NUMBER) { *out = s->u.number; return true; }
    if (host_of(a, what, &h)) return false;
    bool one = count_of(&h) == 1;
    if (one) *out = element_load(h.dtype, h.data);
    host_drop(&h);
    if (!one) complain(what, KN_TYPE_ERROR, "only arrays of one element can be read as a number; use kn_read for more");
    return one;
}

static double real_part(const scalar *s) {
    switch (s->kind) {
    case SCALAR_BOOL: return s->v.b;
    case SCALAR_INT: return (double)s->v.i;
    case SCALAR_UINT: return (double)s->v.u;
    case SCALAR_FLOAT: return s->v.f;
    default: return s->v.c.re;
    }
}

double kn_f64(kn_array a) {
    scalar s;
    return one_element(a, "kn_f64", &s) ? real_part(&s) : NAN;
}

int64_t kn_i64(kn_array a) {
    scalar s;
    if (!one_element(a, "kn_i64", &s)) return 0;
    if (s.kind == SCALAR_BOOL) return s.v.b;
    if (s.kind == SCALAR_INT) return s.v.i;
    if (s.kind == SCALAR_UINT) return s.v.u <= INT64_MAX ? (int64_t)s.v.u : (complain("kn_i64", KN_OVERFLOW_ERROR, "the value does not fit into 64 bits with a sign"), 0);
    double v = real_part(&s);
    if (isnan(v)) complain("kn_i64", KN_VALUE_ERROR, "cannot convert float NaN to integer");
    else if (!(v >= -0x1p63 && v < 0x1p63)) complain("kn_i64", KN_OVERFLOW_ERROR, isinf(v) ? "cannot convert float infinity to integer" : "the value does not fit into 64 bits");
    else return (int64_t)v;
    return 0;
}

kn_complex kn_c128(kn_array a) {
    scalar s;
    if (!one_element(a, "kn_c128", &s)) return (kn_complex){ NAN, NAN };
    return (kn_complex){ real_part(&s), s.kind == SCALAR_COMPLEX ? s.v.c.im : 0 };
}

bool kn_true(kn_array a) {
    host_window h;
    slot *s = slot_of(a);
    if (s && s->kind == SLOT_NUMBER) {
        const scalar *n = &s->u.number;
        return n->kind == SCALAR_COMPLEX ? n->v.c.re != 0 || n->v.c.im != 0 : real_part(n) != 0;
    }
    if (host_of(a, "kn_true", &h)) return false;
    int64_t n = count_of(&h);
    bool truth = false;
    if (n == 1) element_cast(KN_BOOL, &truth, h.dtype, h.data);
    host_drop(&h);
    if (n > 1) complain("kn_true", KN_VALUE_ERROR, "the truth value of an array with more than one element is ambiguous; use kn_any or kn_all");
    if (n < 1) complain("kn_true", KN_VALUE_ERROR, "the truth value of an empty array is ambiguous; use kn_size(a) > 0");
    return truth;
}

/* ---- many ---- */

/* Large casts and strided copies run as kernels: in parallel, and fused with whatever is pending. */
static kn_status read_through_kernel(kn_array a, kn_dtype t, void *to, message *m) {
    node *n = array_node(a, "kn_read", m), *cast = n ? node_cast(n, t, m) : NULL;
    host_window h;
    kn_status status = cast ? node_host(cast, &h, m) : m->status;
    if (!status) {
        host_read(&h, t, to);
        host_drop(&h);
    }
    node_drop(cast);
    node_drop(n);
    return status;
}

static kn_status read_all(kn_array a, kn_dtype t, void *to, size_t n, message *m) {
    layout l;
    if (t <= KN_DTYPE_UNSET || t > KN_COMPLEX128) return fail(m, KN_TYPE_ERROR, "kn_read: there is no dtype %d", (int)t);
    if (!array_layout(a, "kn_read", &l, m)) return m->status;
    int64_t size = 1;
    for (int d = 0; d < l.ndim; d++) size *= l.shape[d];
    if ((uint64_t)size != n) {
        char shape[SHAPE_TEXT];
        return fail(m, KN_VALUE_ERROR, "kn_read: the array has %lld elements (shape %s), but there is room for %zu", (long long)size, shape_text(shape, l.ndim, l.shape), n);
    }
    if (n && !to) return fail(m, KN_VALUE_ERROR, "kn_read: the destination is NULL");
    if (size >= CAST_IN_KERNEL && l.dtype != t) return read_through_kernel(a, t, to, m);
    host_window h;
    kn_status status = array_host(a, "kn_read", &h, m);
    if (status) return status;
    host_read(&h, t, to);
    host_drop(&h);
    return KN_OK;
}

kn_status kn_read_(kn_array a, kn_dtype t, void *to, size_t n) {
    message m = { 0 };
    bool carried = array_failed(a, NULL);
    return read_all(a, t, to, n, &m) ? tell(carried, &m) : KN_OK;
}

kn_status kn_eval(kn_array a) {
    message m = { 0 };
    bool carried = array_failed(a, NULL);
    slot *s = array_operand(a, "kn_eval", &m);
    if (s && s->kind == SLOT_ARRAY) {
        node *n = cell_node(s->c);
        if (n->kind != NODE_SCALAR) evaluate(&n, 1, &m);
        node_drop(n);
    }
    return m.status ? tell(carried, &m) : KN_OK;
}

/* ---- what an array is ---- */

static bool layout_of(kn_array a, const char *what, layout *l) {
    message m = { 0 };
    if (array_layout(a, what, l, &m)) return true;
    tell(array_failed(a, NULL), &m);
    return false;
}

int kn_ndim(kn_array a) {
    layout l;
    return layout_of(a, "kn_ndim", &l) ? l.ndim : 0;
}

int64_t kn_len(kn_array a, int axis) {
    layout l;
    if (!layout_of(a, "kn_len", &l)) return 0;
    if (axis >= -l.ndim && axis < l.ndim) return l.shape[axis < 0 ? axis + l.ndim : axis];
    message m = { 0 };
    fail(&m, KN_INDEX_ERROR, "kn_len: axis %d is out of bounds for array of dimension %d", axis, l.ndim);
    error_record(&m);
    return 0;
}

int64_t kn_size(kn_array a) {
    layout l;
    int64_t n = layout_of(a, "kn_size", &l);
    for (int d = 0; n && d < l.ndim; d++) n *= l.shape[d];
    return n;
}

kn_dtype kn_dtype_of(kn_array a) {
    layout l;
    return layout_of(a, "kn_dtype_of", &l) ? l.dtype : KN_DTYPE_UNSET;
}

/* ---- as text ---- */

/* A text that lives as long as the innermost scope; "" with an error when that cannot be. */
static const char *scoped(text *t, const char *what) {
    char *copy = !t->failed && scope_innermost() ? scope_text(t->at ? t->at : "", t->len) : NULL;
    bool scope = scope_innermost() != 0;
    text_free(t);
    if (copy) return copy;
    complain(what, scope ? KN_MEMORY_ERROR : KN_SCOPE_ERROR, scope ? "out of memory" : "no scope is open that the text could belong to: write KN_SCOPE(s);");
    return "";
}

const char *kn_show(kn_array a) {
    text t = { 0 };
    slot *s = slot_of(a);
    host_window h;
    if (s && s->kind == SLOT_NUMBER) {
        print_python(s->u.number, &t);
    } else if (host_of(a, "kn_show", &h)) {
        text_add(&t, "%s", kn_error());
    } else {
        host_array array = { .dtype = h.dtype, .ndim = h.ndim, .shape = h.shape, .strides = h.strides, .data = h.data };
        print_array(&array, NULL, PRINT_STR, &t);
        host_drop(&h);
    }
    return scoped(&t, "kn_show");
}

static const char *profile_of(kn_device d) { return d == KN_CUDA ? "sm_90" : d == KN_HIP ? "gfx90a" : "cpu"; }

typedef kn_status describe(node *const *roots, int nroots, const char *profile, text *out, message *m);

static const char *described(kn_array a, kn_device d, describe *how, const char *what) {
    message m = { 0 };
    text t = { 0 };
    bool carried = array_failed(a, NULL);
    node *n = array_node(a, what, &m);
    if (n && (n->kind == NODE_SCALAR || node_ready(n))) text_add(&t, "/* nothing to compute */\n");
    else if (n) how(&n, 1, profile_of(d), &t, &m);
    node_drop(n);
    if (!m.status) return scoped(&t, what);
    text_free(&t);
    tell(carried, &m);
    return "";
}

const char *kn_source(kn_array a, kn_device d) { return described(a, d, evaluate_source, "kn_source"); }
const char *kn_explain(kn_array a, kn_device d) { return described(a, d, evaluate_explain, "kn_explain"); }
