/* Random programs on arrays give the same values in whatever way they are evaluated.
 *
 * The bytes are a program: every few of them are a step that makes an array, looks at one through a view, updates one in
 * place, takes elements by position, reduces, or reads. It runs three times: value by value, nothing fused, interpreted;
 * lazily and interpreted; and, for one input in four, lazily and compiled. All arrays must end with the same status, dtype,
 * shape and bits. Rounded sums may differ by their bound, and nothing is made from them.
 *
 * Built with -fsanitize=fuzzer it is a libFuzzer target. Built without, it makes programs itself, the same for a seed:
 *     fuzz_graph [SEED [SECONDS]]      1 and 10 when left out */
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_STEPS = 40, MOST_VALUES = 60, MOST_ELEMENTS = 4000 };

/* ---- the program's bytes ---- */

typedef struct bytes { const uint8_t *at; size_t n, i; } bytes;

static unsigned byte(bytes *b) { return b->i < b->n ? b->at[b->i++] : 0; }
static int below(bytes *b, int n) { return n > 0 ? (int)(byte(b) % (unsigned)n) : 0; }

/* ---- the arrays of a run ---- */

/* bound: for rounded sums, what their error is measured by; KN_NONE where values are exact. */
typedef struct value { kn_array a, bound; bool loose; } value;
typedef struct run { bytes b; value v[MOST_VALUES]; int n, leaves; bool eager, fault; } run;

/* Computes a now; notes when what was sound at the call cannot be computed. */
static void settle(run *r, kn_array a)
{
    if (kn_check(a) == KN_OK && kn_eval(a) != KN_OK)
        r->fault = true;
}

static void add(run *r, kn_array a, kn_array bound, bool loose)
{
    if (r->n == MOST_VALUES)
        return;
    if (kn_size(a) > MOST_ELEMENTS)
        return;
    r->v[r->n++] = (value){a, bound, loose};
    if (r->eager)
        settle(r, a);
}
static void add_exact(run *r, kn_array a) { add(r, a, KN_NONE, false); }

/* An exact one; the youngest are the likeliest. */
static kn_array some(run *r)
{
    for (int tries = 0; tries < 8; tries++) {
        int back = below(&r->b, 3) ? below(&r->b, 6) : below(&r->b, r->n), i = r->n - 1 - back;
        if (i >= 0 && i < r->n && !r->v[i].bound.id && !r->v[i].loose)
            return r->v[i].a;
    }
    return r->v[0].a;
}

static void make_leaves(run *r)
{
    static const int64_t extents[] = {1, 2, 3, 4, 5, 8, 17, 0};
    for (int k = 0; k < 4; k++) {
        int64_t shape[3];
        int ndim = below(&r->b, 4), step = 1 + below(&r->b, 5), first = below(&r->b, 9) - 4, size = 1;
        for (int d = 0; d < ndim; d++)
            size *= (int)(shape[d] = k == 0 ? 4 + d : extents[below(&r->b, 8)]);
        double numbers[17 * 17 * 17];
        for (int i = 0; i < size; i++)
            numbers[i] = (first + i * step) % 11 - (i % 3 == 0 ? 5 : 0) + (k == 3 ? 0.25 * (i % 4) : 0);
        kn_dtype t = (kn_dtype)(1 + below(&r->b, NDTYPES - 1));
        kn_array a = kn_astype(kn_from_(KN_FLOAT64, numbers, (kn_shape){ndim, shape}), t);
        add_exact(r, k == 2 ? kn_transpose(a) : a);
    }
    r->leaves = r->n;
}

/* ---- steps ---- */

static void elementwise(run *r)
{
    int op = (below(&r->b, 2) ? below(&r->b, NUFUNCS) : UFUNC_add + below(&r->b, 4)) % NUFUNCS;
    const ufunc_info *f = &ufuncs[op];
    node *in[4] = {NULL}, *out[4] = {NULL};
    message m = {0};
    bool fine = f->nin <= 4 && f->nout <= 4 && op != UFUNC_require;
    for (int i = 0; i < f->nin && fine; i++)
        fine = (in[i] = array_node(some(r), f->name, &m)) != NULL;
    if (fine && ufunc_apply(op, f->nin, in, KN_DTYPE_UNSET, out, &m) == KN_OK)
        for (int k = 0; k < f->nout; k++)
            add_exact(r, array_from_node(out[k]));
    for (int i = 0; i < f->nin && i < 4; i++)
        node_drop(in[i]);
}

static const char *some_index(run *r, kn_array a)
{
    static char text[200];
    static const char *const items[] = {":", "::-1", "1:", ":-1", "::2", "-1", "1:3", "::-2", "0", "None, :", "2:1"};
    size_t n = 0;
    int ndim = kn_ndim(a);
    for (int d = 0; d < ndim; d++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", d ? ", " : "", items[below(&r->b, 11)]);
    if (ndim == 0)
        snprintf(text, sizeof text, "...");
    return text;
}

static void view(run *r)
{
    kn_array a = some(r);
    switch (below(&r->b, 6)) {
    case 0: add_exact(r, kn_transpose(a)); break;
    case 1: add_exact(r, kn_reshape(a, KN_SHAPE(-1))); break;
    case 2: add_exact(r, kn_reshape(a, KN_SHAPE(2, -1))); break;
    case 3: add_exact(r, kn_expand_dims(a, 0)); break;
    default: add_exact(r, kn_index(a, some_index(r, a)));
    }
}

static bool is_rounded(kn_array a) { return dtype_is_inexact(kn_dtype_of(a)); }

static void reduce(run *r)
{
    kn_array a = some(r), result;
    kn_axis axis = below(&r->b, 3) && kn_ndim(a) ? below(&r->b, kn_ndim(a)) : KN_ALL;
    bool keep = below(&r->b, 2), is_complex = dtype_is_complex(kn_dtype_of(a));
    switch (below(&r->b, is_complex ? 4 : 9)) {
    case 0: result = kn_any(a, .axis = axis, .keepdims = keep); break;
    case 1: result = kn_count_nonzero(a, .axis = axis, .keepdims = keep); break;
    case 2: case 3:
        result = kn_sum(a, .axis = axis, .keepdims = keep);
        if (is_rounded(a)) {
            add(r, result, kn_sum(kn_astype(kn_abs(a), KN_FLOAT64), .axis = axis, .keepdims = keep), false);
            return;
        }
        break;
    case 4: result = kn_max(a, .axis = axis, .keepdims = keep); break;
    case 5: result = kn_min(a, .axis = axis, .keepdims = keep); break;
    case 6: result = kn_argmax(a, .axis = axis); break;
    case 7: result = kn_argmin(a, .axis = axis); break;
    default: result = kn_all(a, .axis = axis, .keepdims = keep);
    }
    add_exact(r, result);
}

static void scan(run *r)
{
    kn_array a = some(r);
    if (is_rounded(a))
        a = kn_astype(kn_isfinite(a), KN_INT32);
    kn_axis axis = kn_ndim(a) ? below(&r->b, kn_ndim(a)) : KN_ALL;
    add_exact(r, below(&r->b, 2) ? kn_cumsum(a, .axis = axis) : kn_cumprod(a, .axis = axis));
}

static void update(run *r)
{
    kn_array a = some(r), v = some(r);
    if (below(&r->b, 2))
        a = kn_index(a, some_index(r, a));
    switch (below(&r->b, 6)) {
    case 0: kn_iadd(a, v); break;
    case 1: kn_imul(a, v); break;
    case 2: kn_isub(a, 1); break;
    case 3: kn_assign(a, v); break;
    case 4: kn_set(a, some_index(r, a), v); break;
    default: kn_iadd(a, kn_index(a, some_index(r, a)));
    }
    add_exact(r, a);
}

/* Positions of any integer array, most of the time brought into range. */
static kn_array positions(run *r, int64_t extent)
{
    kn_array i = kn_astype(some(r), KN_INT64);
    return below(&r->b, 8) && extent > 0 ? kn_remainder(i, extent) : i;
}

static void by_position(run *r)
{
    kn_array a = some(r), i = positions(r, kn_ndim(a) ? kn_len(a, 0) : 0), v = some(r);
    switch (below(&r->b, 5)) {
    case 0: add_exact(r, kn_take(a, i)); break;
    case 1: add_exact(r, kn_index(a, "i", i)); break;
    case 2: add_exact(r, kn_take(a, i, .axis = 0, .mode = "wrap")); break;
    case 3: kn_set(a, "i", v, i); break;
    default: kn_set(a, "i > 2", 3, i);
    }
}

static void combine(run *r)
{
    kn_array a = some(r), b = some(r);
    switch (below(&r->b, 5)) {
    case 0: add_exact(r, kn_where(kn_astype(some(r), KN_BOOL), a, b)); break;
    case 1: add_exact(r, kn_concatenate(KN_LIST(kn_reshape(a, KN_SHAPE(-1)), kn_reshape(b, KN_SHAPE(-1))))); break;
    case 2: add_exact(r, kn_stack(KN_LIST(a, a))); break;
    case 3: add_exact(r, kn_astype(a, (kn_dtype)(1 + below(&r->b, NDTYPES - 1)))); break;
    default: add_exact(r, kn_flip(a));
    }
}

/* Any operation of the table on the arrays of the beginning, which hold small numbers. */
static void any_operation(run *r)
{
    static const int64_t shape[2] = {4, 5};
    int op = (byte(&r->b) | (int)byte(&r->b) << 8) % nops;
    op_value v[24];
    node *x = NULL, *list[2], *results[16] = {NULL};
    message m = {0};
    if (ops[op].nparams > 24 || (ops[op].kind != OP_REDUCE && ops[op].kind != OP_NODES) || strstr(ops[op].name, "empty"))
        return;
    if (!(x = array_node(r->v[below(&r->b, r->leaves)].a, ops[op].name, &m)))
        return;
    list[0] = list[1] = x;
    op_defaults(op, v);
    for (int i = 0; i < ops[op].nparams; i++) {
        const op_param *p = &ops[op].params[i];
        if (p->optional && !(p->flags & PARAM_REQUIRED_IN_C))
            continue;
        switch ((param_kind)p->kind) {
        case PARAM_ARRAY:
            if (p->flags & PARAM_HOST) {
                node_drop(x);
                return;
            }
            v[i].v.array = x;
            break;
        case PARAM_LIST: v[i].v.list.at = list; v[i].v.list.n = 2; break;
        case PARAM_SHAPE: v[i].v.shape.ndim = 2; v[i].v.shape.dim = shape; break;
        case PARAM_AXIS: v[i].v.axis = 0; break;
        case PARAM_DTYPE: v[i].v.dtype = KN_FLOAT32; break;
        case PARAM_INT: v[i].v.integer = 3; break;
        case PARAM_NUMBER: v[i].v.number = 2; break;
        default: break;
        }
    }
    if (ops[op].nresults <= 16 && op_nodes(op, v, results, &m) == KN_OK)
        for (int k = 0; k < ops[op].nresults; k++)
            add(r, array_from_node(results[k]), KN_NONE, true);
    node_drop(x);
}

static void step(run *r)
{
    switch (below(&r->b, 24)) {
    case 0: case 1: case 2: case 3: case 4: case 5: elementwise(r); break;
    case 6: case 7: case 8: view(r); break;
    case 9: case 10: reduce(r); break;
    case 11: scan(r); break;
    case 12: case 13: case 14: case 15: case 16: update(r); break;
    case 17: case 18: by_position(r); break;
    case 19: case 20: combine(r); break;
    case 21: any_operation(r); break;
    case 22: kn_let(some(r), some(r)); break;
    default: settle(r, some(r));
    }
    for (int i = 0; i < r->n && r->eager; i++)
        settle(r, r->v[i].a);
}

/* ---- comparing ---- */

typedef struct outcome { char text[120]; kn_status status; kn_dtype t; int ndim; int64_t size; unsigned char *bytes; double *bound; bool loose; } outcome;
typedef struct outcomes { outcome at[MOST_VALUES]; int n; } outcomes;

static void look(outcome *o, const value *v)
{
    *o = (outcome){.status = kn_eval(v->a), .loose = v->loose};
    if (o->status) {
        snprintf(o->text, sizeof o->text, "%s", kn_message(v->a));
        return;
    }
    o->t = kn_dtype_of(v->a);
    o->ndim = kn_ndim(v->a);
    o->size = kn_size(v->a);
    o->bytes = calloc((size_t)o->size + 1, 16);
    o->status = kn_read_(v->a, o->t, o->bytes, (size_t)o->size);
    if (!v->bound.id)
        return;
    o->bound = calloc((size_t)o->size + 1, sizeof(double));
    if (kn_read_(v->bound, KN_FLOAT64, o->bound, (size_t)o->size))
        o->loose = true;
}

/* Runs the first *steps steps; the eager way ends before the step whose values cannot be computed (a position out of range), since what
 * comes after would be refused at the call in one way and at the end in the other. */
static bool execute(const uint8_t *data, size_t size, bool eager, jit_mode mode, int *steps, outcomes *out)
{
    static run r;
    setenv("KILN_FUSION", eager ? "0" : "1", 1);
    jit_set(mode);
    runtime_forget();
    KN_SCOPE(s);
    r = (run){.b = {data, size, 0}, .eager = eager};
    make_leaves(&r);
    for (int i = 0; i < *steps && r.b.i < r.b.n; i++) {
        step(&r);
        if (!r.fault)
            continue;
        *steps = i;
        return false;
    }
    out->n = r.n;
    for (int i = 0; i < r.n; i++)
        look(&out->at[i], &r.v[i]);
    return true;
}

static double part(const outcome *o, int64_t i, int which)
{
    double two[2];
    element_cast(KN_COMPLEX128, two, o->t, o->bytes + (size_t)i * dtype_size(o->t));
    return two[which];
}

/* NaNs are equal whatever their bits; everything else has the same bits, unless it is a rounded sum. */
static bool same(const outcome *x, const outcome *y, int64_t i)
{
    size_t size = dtype_size(x->t);
    if (memcmp(x->bytes + (size_t)i * size, y->bytes + (size_t)i * size, size) == 0)
        return true;
    for (int which = 0; which < 2; which++) {
        double a = part(x, i, which), b = part(y, i, which), epsilon = kn_finfo(x->t).eps;
        if ((a != a && b != b) || (a == b && signbit(a) == signbit(b)))
            continue;
        if (x->loose && (a == b || fabs(a - b) <= 64 * epsilon * (1 + fabs(a)) || !isfinite(a) || !isfinite(b)))
            continue;
        if (x->bound && (a == b || !isfinite(x->bound[i]) || fabs(a - b) <= 4 * epsilon * (x->bound[i] + fabs(a)) || x->bound[i] > 1e30 || (x->t == KN_FLOAT16 && x->bound[i] > 6e4)))
            continue;
        return false;
    }
    return true;
}

static void compare(const outcomes *x, const outcomes *y, const char *how)
{
    if (x->n != y->n) {
        fprintf(stderr, "fuzz_graph: %s: %d arrays instead of %d\n", how, y->n, x->n);
        abort();
    }
    for (int k = 0; k < x->n; k++) {
        const outcome *a = &x->at[k], *b = &y->at[k];
        if (a->status != b->status || a->t != b->t || a->ndim != b->ndim || a->size != b->size) {
            fprintf(stderr, "fuzz_graph: %s: array %d is %s %s of %lld elements, not %s %s of %lld: %s / %s\n", how, k, kn_status_name(b->status), kn_dtype_name(b->t),
                    (long long)b->size, kn_status_name(a->status), kn_dtype_name(a->t), (long long)a->size, b->text, a->text);
            abort();
        }
        for (int64_t i = 0; i < a->size; i++)
            if (!same(a, b, i)) {
                fprintf(stderr, "fuzz_graph: %s: array %d (%s), element %lld of %lld is %.17g %+.17gj, not %.17g %+.17gj\n", how, k, kn_dtype_name(a->t), (long long)i,
                        (long long)a->size, part(b, i, 0), part(b, i, 1), part(a, i, 0), part(a, i, 1));
                abort();
            }
    }
}

static void forget(outcomes *o)
{
    for (int i = 0; i < o->n; i++) {
        free(o->at[i].bytes);
        free(o->at[i].bound);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static outcomes alone, fused, compiled;
    if (size < 8)
        return 0;
    int steps = MOST_STEPS;
    while (!execute(data + 1, size - 1, true, JIT_NEVER, &steps, &alone))
        ;
    execute(data + 1, size - 1, false, JIT_NEVER, &steps, &fused);
    compare(&alone, &fused, "fused");
    forget(&fused);
    if (data[0] % 4 == 0) {
        execute(data + 1, size - 1, false, JIT_ALWAYS, &steps, &compiled);
        compare(&alone, &compiled, "compiled");
        forget(&compiled);
    }
    forget(&alone);
    if (kn_statistics().handles_live) {
        fprintf(stderr, "fuzz_graph: handles are left\n");
        abort();
    }
    return 0;
}

/* ---- without libFuzzer ---- */

__attribute__((weak)) int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 10;
    time_t start = time(NULL);
    uint64_t first = seed;
    for (; difftime(time(NULL), start) < seconds; seed++) {
        uint8_t program[300];
        size_t n = 40 + hash_bytes(&seed, sizeof seed, 1) % 260;
        for (size_t i = 0; i < n; i++) {
            uint64_t place[2] = {seed, i};
            program[i] = (uint8_t)hash_bytes(place, sizeof place, 0);
        }
        if (argc > 3)
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        LLVMFuzzerTestOneInput(program, n);
    }
    printf("%llu programs from seed %llu\n", (unsigned long long)(seed - first), (unsigned long long)first);
    return 0;
}
