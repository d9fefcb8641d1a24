/* Nodes: making, dropping, sharing, what is recorded, and what happens when memory runs out. Values, dtypes and errors are
 * compared with NumPy in tests/oracle/test_graph.py. */
#define _GNU_SOURCE
#include "ir/graph/graph.h"
#include "ir/kir/kir.h"
#include "kiln.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int buffers_alive;

static void destroy(buffer *b)
{
    __atomic_fetch_sub(&buffers_alive, 1, __ATOMIC_RELAXED);
    mem_free(b->data);
    mem_free(b);
}

/* A node in memory whose contents do not matter. */
static node *array(kn_dtype t, int ndim, const int64_t *shape)
{
    int64_t size;
    shape_size(ndim, shape, &size);
    buffer *b = mem_zero(1, sizeof *b);
    b->refs = 1;
    b->data = mem_zero((size_t)size + 1, dtype_size(t));
    b->size = (size_t)size * dtype_size(t);
    b->destroy = destroy;
    __atomic_fetch_add(&buffers_alive, 1, __ATOMIC_RELAXED);
    node *n = node_buffer(t, ndim, shape, b, 0, NULL);
    buffer_drop(b);
    return n;
}

static node *vector(int64_t n) { return array(KN_FLOAT64, 1, &n); }

static node *apply(ufunc_number f, node *a, node *b)
{
    message m = {0};
    node *r = NULL;
    kn_status status = ufunc_apply(f, b ? 2 : 1, (node *[]){a, b}, KN_DTYPE_UNSET, &r, &m);
    cr_expect_eq(status, KN_OK, "%s: %s", ufuncs[f].name, m.text);
    return r;
}

/* ---- owning ---- */

Test(nodes, a_chain_of_any_length_is_dropped_without_recursion)
{
    node *x = vector(3), *one = node_scalar(KN_FLOAT64, (scalar){.kind = SCALAR_FLOAT, .v.f = 1}, true, NULL);
    for (int i = 0; i < 300000; i++) {
        node *next = apply(UFUNC_add, x, one);
        node_drop(x);
        x = next;
    }
    cr_expect_gt(x->work, 100000u);
    node_drop(x);
    node_drop(one);
    cr_expect_eq(buffers_alive, 0, "%d buffers are left", buffers_alive);
}

Test(nodes, shared_subexpressions_are_counted_once_or_nearly)
{
    node *x = vector(3), *y = node_keep(x);
    for (int i = 0; i < 200; i++) { /* without care, 3**200 */
        node *square = apply(UFUNC_multiply, y, y), *sum = apply(UFUNC_add, square, y);
        node_drop(square);
        node_drop(y);
        y = sum;
    }
    cr_expect_geq(y->work, 400u);
    cr_expect_leq(y->work, 500u, "%u nodes seem to be pending, not 400", y->work);
    node_drop(y);
    node_drop(x);
}

Test(nodes, identical_windows_give_the_node_itself)
{
    int64_t shape[3] = {2, 3, 4}, flat = 24;
    node *x = array(KN_FLOAT32, 3, shape), *a = node_reshape(x, 3, shape, NULL), *b = node_broadcast(x, 3, shape, NULL);
    cr_expect_eq(a, x);
    cr_expect_eq(b, x);
    node *f = node_reshape(x, 1, &flat, NULL), *back = node_reshape(f, 3, shape, NULL);
    cr_expect_eq(f->kind, NODE_VIEW);
    cr_expect_eq(back, x, "reshaping there and back is the array itself, not %d", back->kind);
    node *t = node_transpose(x, (int[]){2, 0, 1}, NULL), *tt = node_transpose(t, (int[]){1, 2, 0}, NULL);
    cr_expect_eq(tt, x);
    node_drop(a), node_drop(b), node_drop(f), node_drop(back), node_drop(t), node_drop(tt), node_drop(x);
}

Test(nodes, views_of_views_become_one)
{
    int64_t shape[2] = {6, 8}, cut[2] = {3, 4}, strides[2] = {16, 2}, strides2[2] = {-4, 1};
    node *x = array(KN_FLOAT32, 2, shape);
    node *v = node_view(x, KN_FLOAT32, &(window){.offset = 9, .strides = strides, .shape = cut, .ndim = 2}, NULL);
    node *w = node_view(v, KN_FLOAT32, &(window){.offset = 8, .strides = strides2, .shape = cut, .ndim = 2}, NULL);
    cr_expect_eq(w->in[0], x, "x[1::2, 1::2][::-1] is one window");
    cr_expect_eq(w->attr.view.offset, 9 + 32);
    cr_expect_eq(w->attr.view.strides[0], -16);
    cr_expect_eq(w->attr.view.strides[1], 2);
    node_drop(w), node_drop(v), node_drop(x);
}

Test(nodes, numbers_stand_for_their_broadcast)
{
    node *x = vector(5), *two = node_scalar(KN_INT64, (scalar){.kind = SCALAR_INT, .v.i = 2}, true, NULL), *y = apply(UFUNC_multiply, x, two);
    cr_expect_eq(y->in[1]->kind, NODE_SCALAR);
    cr_expect_eq(y->in[1]->dtype, KN_FLOAT64);
    cr_expect_eq(y->ndim, 1);
    cr_expect_not(y->in[1]->weak);
    node_drop(y), node_drop(two), node_drop(x);
}

Test(nodes, many_dimensions_and_operands_find_room)
{
    int64_t shape[NDIM_MAX];
    for (int d = 0; d < NDIM_MAX; d++)
        shape[d] = 1 + (d < 3);
    node *x = array(KN_INT8, NDIM_MAX, shape), *y = apply(UFUNC_add, x, x);
    cr_expect_eq(y->ndim, NDIM_MAX);
    cr_expect_eq(y->shape[2], 2);
    cr_expect_eq(y->shape[63], 1);
    int axes[NDIM_MAX];
    for (int d = 0; d < NDIM_MAX; d++)
        axes[d] = NDIM_MAX - 1 - d;
    node *t = node_transpose(y, axes, NULL);
    cr_expect_eq(t->shape[63], 2);
    cr_expect_eq(t->attr.view.strides[61], 1, "%" PRId64, t->attr.view.strides[61]);
    node_drop(t), node_drop(y), node_drop(x);
}

Test(nodes, sizes_that_overflow_are_refused)
{
    message m = {0};
    int64_t shape[3] = {INT64_C(1) << 40, INT64_C(1) << 40, 2}, zero[3] = {INT64_C(1) << 40, 0, INT64_C(1) << 40};
    cr_expect_null(node_empty(KN_FLOAT32, 3, shape, &m));
    cr_expect_eq(m.status, KN_VALUE_ERROR);
    cr_expect(strstr(m.text, "too large") != NULL, "%s", m.text);
    message m2 = {0};
    cr_expect_null(node_empty(KN_FLOAT32, 3, zero, &m2), "as in NumPy, the other extents must multiply");
}

/* ---- axis sets ---- */

Test(axes, sets_are_packed_and_unpacked)
{
    static const int sets[][9] = {{0}, {-1}, {63, -64}, {0, 1, 2, 3, 4, 5, 6, 7}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {100, 3}};
    static const int sizes[] = {1, 1, 2, 8, 9, 2};
    for (int i = 0; i < 6; i++) {
        int out[NDIM_MAX];
        kn_axis a = axis_pack(sizes[i], sets[i]);
        cr_expect_eq(axis_unpack(a, out, NDIM_MAX), sizes[i], "set %d", i);
        cr_expect_eq(memcmp(out, sets[i], (size_t)sizes[i] * sizeof *out), 0, "set %d", i);
        cr_expect_eq(axis_pack(sizes[i], sets[i]), a, "equal sets are equal numbers");
    }
    cr_expect_eq(axis_pack(0, NULL), axis_pack(0, NULL));
    cr_expect_eq(axis_unpack(axis_pack(0, NULL), NULL, 0), 0);
    cr_expect_eq(axis_unpack(KN_ALL, NULL, 0), -1);
    int two[2];
    cr_expect_eq(axis_unpack(-3, two, 2), 1);
    cr_expect_eq(two[0], -3);
    cr_expect_eq(KN_AXES2_(0, 1), axis_pack(2, (int[]){0, 1}), "the header's constants are axis_pack's");
    cr_expect_eq(KN_AXES2_(-2, -1), axis_pack(2, (int[]){-2, -1}));
}

/* ---- tables ---- */

static bool is_primitive(const char *name)
{
    static const char *const names[] = {
#define KOP(name, ...) #name,
#include "ir/kir/kops.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* float16 and bfloat16 are computed in float32. */
static kn_dtype computed(kn_dtype t) { return t == KN_FLOAT16 || t == KN_BFLOAT16 ? KN_FLOAT32 : t; }

Test(tables, every_loop_has_a_body)
{
    int missing = 0;
    for (int f = 0; f < nufuncs; f++)
        for (int i = 0; i < ufuncs[f].nloops && !(ufuncs[f].flags & UFUNC_ANY); i++) {
            const ufunc_loop *l = &ufuncs[f].loops[i];
            if (!l->body || strcmp(l->body, BODY_TRUE) == 0 || strcmp(l->body, BODY_FALSE) == 0)
                continue;
            kn_dtype in[4] = {computed(l->in[0]), computed(l->in[1]), computed(l->in[2]), computed(l->in[3])};
            bool by_parts = f == UFUNC_add || f == UFUNC_subtract || f == UFUNC_negative;
            bool found = device_function(l->body, in, ufuncs[f].nin) >= 0 || (is_primitive(l->body) && (by_parts || !dtype_is_complex(l->in[0])));
            missing += !found;
            cr_expect(found, "%s on %s: there is no device function or primitive %s", ufuncs[f].name, dtype_table[l->in[0]].name, l->body);
        }
    cr_expect_eq(missing, 0, "%d loops have no body", missing);
}

Test(tables, operations_are_found_by_all_their_names)
{
    static const char *const names[][2] = {{"sub", "numpy.subtract"}, {"subtract", "numpy.subtract"}, {"numpy.subtract", "numpy.subtract"}, {"acos", "numpy.arccos"}, {"numpy.fft.rfft", "numpy.fft.rfft"},
                                           {"rfft", "numpy.fft.rfft"}, {"fft.rfft", "numpy.fft.rfft"}, {"numpy.pow", "numpy.power"}, {"amax", "numpy.max"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int op = op_named(names[i][0]);
        cr_expect(op >= 0 && strcmp(ops[op].numpy, names[i][1]) == 0, "%s is %s", names[i][0], op < 0 ? "not found" : ops[op].numpy);
    }
    cr_expect_eq(op_named("nothing"), -1);
    cr_expect_eq(nops, NOPERATIONS);
}

Test(tables, defaults_are_those_of_the_header)
{
    op_value v[24];
    op_defaults(OPERATION_sum, v);
    cr_expect_eq(v[op_param_named(OPERATION_sum, "axis")].v.axis, KN_ALL);
    cr_expect_eq(v[op_param_named(OPERATION_sum, "dtype")].v.dtype, KN_DTYPE_UNSET);
    op_defaults(OPERATION_fft, v);
    cr_expect_eq(v[1].v.integer, KN_UNSET);
    cr_expect_eq(v[2].v.axis, -1);
    op_defaults(OPERATION_isclose, v);
    cr_expect_eq(v[2].v.number, 1e-05);
    op_defaults(OPERATION_var, v);
    cr_expect(v[8].v.number != v[8].v.number, "correction is not given");
    op_defaults(OPERATION_add, v);
    cr_expect_str_eq(v[4].v.text, "same_kind");
    op_defaults(OPERATION_fft2, v);
    cr_expect_eq(v[2].v.axis, KN_AXES2_(-2, -1));
    cr_expect_eq(v[1].v.shape.ndim, SHAPE_NONE);
    op_defaults(OPERATION_eye, v);
    cr_expect_eq(v[3].v.dtype, KN_FLOAT64);
    for (int op = 0; op < nops; op++)
        for (int i = 0; i < ops[op].nparams; i++)
            if (ops[op].params[i].kind == PARAM_TEXT && ops[op].params[i].fallback && *ops[op].params[i].fallback == '"') {
                op_defaults(op, v);
                const char *literal = ops[op].params[i].fallback;
                cr_expect(v[i].v.text && strncmp(v[i].v.text, literal + 1, strlen(literal) - 2) == 0 && strlen(v[i].v.text) == strlen(literal) - 2, "%s: %s is %s", ops[op].name, literal, v[i].v.text);
            }
}

/* ---- errors say what was wrong ---- */

Test(errors, sentences_name_the_operation_shapes_and_dtypes)
{
    message m = {0}, m2 = {0}, m3 = {0};
    int64_t wide[2] = {2, 3};
    node *a = array(KN_FLOAT32, 2, wide), *b = vector(4), *c = array(KN_COMPLEX64, 2, wide), *r = NULL, *big = node_scalar(KN_INT64, (scalar){.kind = SCALAR_INT, .v.i = 300}, true, NULL), *u = array(KN_UINT8, 2, wide);
    cr_expect_eq(ufunc_apply(UFUNC_add, 2, (node *[]){a, b}, KN_DTYPE_UNSET, &r, &m), KN_VALUE_ERROR);
    cr_expect(strstr(m.text, "add") && strstr(m.text, "(2, 3)") && strstr(m.text, "(4,)"), "%s", m.text);
    cr_expect_eq(ufunc_apply(UFUNC_floor, 1, &c, KN_DTYPE_UNSET, &r, &m2), KN_TYPE_ERROR);
    cr_expect(strstr(m2.text, "floor") && strstr(m2.text, "complex64"), "%s", m2.text);
    cr_expect_eq(ufunc_apply(UFUNC_add, 2, (node *[]){u, big}, KN_DTYPE_UNSET, &r, &m3), KN_OVERFLOW_ERROR);
    cr_expect(strstr(m3.text, "300") && strstr(m3.text, "uint8"), "%s", m3.text);
    node_drop(a), node_drop(b), node_drop(c), node_drop(big), node_drop(u);
}

/* ---- memory ---- */

/* Arguments that most operations accept: small arrays, shapes, numbers. */
static void plain_arguments(int op, op_value *v, node *x, node **list)
{
    static const int64_t shape[2] = {2, 3};
    op_defaults(op, v);
    for (int i = 0; i < ops[op].nparams; i++) {
        const op_param *p = &ops[op].params[i];
        if (p->optional && !(p->flags & PARAM_REQUIRED_IN_C))
            continue;
        switch ((param_kind)p->kind) {
        case PARAM_ARRAY: v[i].v.array = p->flags & PARAM_HOST ? list[2] : x; break;
        case PARAM_LIST: v[i].v.list.at = list; v[i].v.list.n = 2; break;
        case PARAM_SHAPE: v[i].v.shape.ndim = 2; v[i].v.shape.dim = shape; break;
        case PARAM_AXIS: v[i].v.axis = 0; break;
        case PARAM_DTYPE: v[i].v.dtype = KN_COMPLEX64; break;
        case PARAM_INT: v[i].v.integer = 3; break;
        default: break;
        }
    }
}

Test(memory, every_failing_allocation_is_an_error_and_leaks_nothing)
{
    static const kn_dtype dtypes[] = {KN_BOOL, KN_INT32, KN_FLOAT16, KN_COMPLEX64};
    int failures = 0, answers = 0;
    for (int op = 0; op < nops; op++)
        for (int d = 0; d < 4 && ops[op].kind != OP_FRONTEND; d++) {
            node *x = array(dtypes[d], 2, (const int64_t[]){2, 3}), *list[3] = {x, x, node_scalar(KN_INT64, (scalar){.kind = SCALAR_INT, .v.i = 2}, true, NULL)}, *results[8];
            op_value v[24];
            plain_arguments(op, v, x, list);
            bool again = true;
            for (int64_t n = 1; again && n < 200; n++) {
                message m = {0};
                mem_fail_after(n, false);
                kn_status status = op_nodes(op, v, results, &m);
                mem_fail_after(-1, false);
                again = status == KN_MEMORY_ERROR;
                failures += again;
                answers += status == KN_OK;
                cr_expect(status == KN_OK || m.status == status, "%s of %s: status %d without a sentence", ops[op].name, dtype_table[dtypes[d]].name, status);
                for (int i = 0; i < ops[op].nresults && !status; i++)
                    node_drop(results[i]);
            }
            cr_expect_eq(x->refs, 1u, "%s of %s keeps %u references", ops[op].name, dtype_table[dtypes[d]].name, x->refs - 1);
            node_drop(list[2]);
            node_drop(x);
        }
    cr_expect_eq(buffers_alive, 0, "%d buffers are left", buffers_alive);
    cr_expect_gt(answers, 400, "only %d calls gave a result", answers);
#ifdef __SANITIZE_ADDRESS__ /* there every node is an allocation; else they come from lists */
    cr_expect_gt(failures, 1000, "only %d allocations failed", failures);
#endif
    (void)failures;
}

static void *work_hard(void *arg)
{
    node *shared = arg;
    for (int round = 0; round < 200; round++) {
        node *chain[50];
        chain[0] = node_keep(shared);
        for (int i = 1; i < 50; i++)
            chain[i] = apply(UFUNC_add, chain[i - 1], shared);
        for (int i = 0; i < 50; i++)
            node_drop(chain[i]);
    }
    return NULL;
}

Test(memory, threads_share_nodes_and_free_lists)
{
    node *shared = vector(7);
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work_hard, shared);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    cr_expect_eq(shared->refs, 1u, "%u references are left", shared->refs);
    node_drop(shared);
}

Test(memory, recording_is_fast)
{
    node *x = vector(1000), *y = vector(1000);
    struct timespec a, b;
    enum { N = 200000 };
    double best = 1e9;
    for (int attempt = 0; attempt < 5; attempt++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < N; i++)
            node_drop(apply(UFUNC_add, x, y));
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / N;
        best = ns < best ? ns : best;
    }
    fprintf(stderr, "recording and dropping one addition: %.0f ns\n", best);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    cr_expect_lt(best, 1000, "%.0f ns", best); /* far above what it takes, so that a busy machine does not fail it */
#endif
    node_drop(x);
    node_drop(y);
}
