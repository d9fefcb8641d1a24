/* What becomes one kernel: expressions as programs write them, at sizes of use, planned for the CPU and for a GPU; what runs
 * on the CPU allocates nothing but its result. */
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting ---- */

typedef struct steps { int kernels, libraries; char *text; } steps;

static int occurrences(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) n++;
    return n;
}

/* The steps that evaluating these arrays together would take on a device. */
static steps steps_of(int n, const kn_array *arrays, const char *profile)
{
    node *roots[8];
    message m = { 0 };
    text t = { 0 };
    steps s = { 0, 0, NULL };
    for (int i = 0; i < n; i++) {
        roots[i] = array_node(arrays[i], "test", &m);
        cr_assert(roots[i] != NULL, "%s", m.text);
    }
    cr_assert_eq(evaluate_explain(roots, n, profile, &t, &m), KN_OK, "%s", m.text);
    for (int i = 0; i < n; i++) node_drop(roots[i]);
    char *at = strstr(t.at, "\nsteps\n");
    cr_assert(at != NULL, "%s", t.at);
    s.kernels = occurrences(at, ". kernel ");
    s.libraries = occurrences(at, ". library ");
    s.text = strdup(t.at);
    text_free(&t);
    return s;
}

static const char *const targets[] = { "cpu", "sm_90", "gfx90a" };

static void expect_steps(const char *what, int n, const kn_array *arrays, int kernels, int libraries)
{
    for (int i = 0; i < 3; i++) {
        steps s = steps_of(n, arrays, targets[i]);
        cr_expect(s.kernels == kernels && s.libraries == libraries, "%s on %s: %d kernels and %d libraries, not %d and %d\n%s", what, targets[i], s.kernels, s.libraries, kernels, libraries, s.text);
        free(s.text);
    }
}
#define ONE_KERNEL(a) do { kn_array one_ = (a); expect_steps(#a, 1, &one_, 1, 0); } while (0)

/* Evaluates y on the CPU: no memory is live afterwards, and none was meanwhile, but y's own. */
static void expect_no_intermediate(const char *what, kn_array y)
{
    size_t bytes = (size_t)kn_size(y) * kn_itemsize(kn_dtype_of(y));
    kn_statistics_record before = kn_statistics();
    cr_assert_eq(kn_eval(y), KN_OK, "%s: %s", what, kn_error());
    kn_statistics_record after = kn_statistics();
    uint64_t room = bytes + bytes / 8 + 65536, peak = after.bytes_peak > before.bytes_peak ? after.bytes_peak - before.bytes_live : 0;
    cr_expect(after.bytes_live - before.bytes_live <= room, "%s: %llu bytes live for a result of %zu", what, (unsigned long long)(after.bytes_live - before.bytes_live), bytes);
    cr_expect(peak <= room, "%s: %llu bytes at the peak for a result of %zu", what, (unsigned long long)peak, bytes);
    cr_expect_eq(after.launches - before.launches, 1u, "%s: %llu launches", what, (unsigned long long)(after.launches - before.launches));
}
#define NO_INTERMEDIATE(a) expect_no_intermediate(#a, a)

/* ---- operands ---- */

static kn_array numbers(int64_t rows, int64_t columns)
{
    kn_array a = kn_reshape(kn_sin(kn_arange(rows * columns, KN_NONE, 1)), KN_SHAPE(rows, columns));
    cr_assert_eq(kn_eval(a), KN_OK, "%s", kn_error());
    return a;
}

static kn_array vector(int64_t n)
{
    kn_array a = kn_sin(kn_arange(n, KN_NONE, 1));
    cr_assert_eq(kn_eval(a), KN_OK, "%s", kn_error());
    return a;
}

/* ---- one kernel each ---- */

static kn_array softmax(kn_array x, int axis)
{
    kn_array e = kn_exp(kn_sub(x, kn_max(x, .axis = axis, .keepdims = true)));
    return kn_div(e, kn_sum(e, .axis = axis, .keepdims = true));
}

static kn_array layer_norm(kn_array x, kn_array g, kn_array b)
{
    kn_array d = kn_sub(x, kn_mean(x, .axis = -1, .keepdims = true)), v = kn_mean(kn_square(d), .axis = -1, .keepdims = true);
    return kn_add(kn_mul(kn_div(d, kn_sqrt(kn_add(v, 1e-5))), g), b);
}

Test(promises, rows_are_one_kernel)
{
    KN_SCOPE(s);
    kn_array x = numbers(512, 1000), g = vector(1000), b = vector(1000);
    ONE_KERNEL(softmax(x, -1));
    ONE_KERNEL(softmax(x, 0));
    ONE_KERNEL(layer_norm(x, g, b));
    ONE_KERNEL(kn_add(kn_log(kn_sum(kn_exp(kn_sub(x, kn_max(x, .axis = 1, .keepdims = true))), .axis = 1)), kn_max(x, .axis = 1)));
    ONE_KERNEL(kn_div(x, kn_norm(x, .axis = 1, .keepdims = true)));
    ONE_KERNEL(kn_div(kn_sub(x, kn_mean(x, .axis = 1, .keepdims = true)), kn_std(x, .axis = 1, .keepdims = true)));
}

Test(promises, reductions_with_what_leads_to_them_are_one_kernel)
{
    KN_SCOPE(s);
    kn_array a = vector(1 << 20), b = vector(1 << 20), m = numbers(700, 300);
    ONE_KERNEL(kn_sum(kn_square(kn_sub(a, b))));
    ONE_KERNEL(kn_sum(kn_power(kn_sub(a, b), 2)));
    ONE_KERNEL(kn_sqrt(kn_mean(kn_square(kn_sub(a, b)))));
    ONE_KERNEL(kn_argmax(kn_abs(a)));
    ONE_KERNEL(kn_all(kn_less(kn_abs(kn_sub(a, b)), 1e-3)));
    ONE_KERNEL(kn_count_nonzero(kn_greater(a, b)));
    ONE_KERNEL(kn_sum(kn_mul(m, 2), .axis = 0));
    ONE_KERNEL(kn_add(kn_sum(kn_mul(m, m), .axis = 1), 1));
    ONE_KERNEL(kn_vecdot(m, kn_add(m, 1)));
}

Test(promises, moments_of_one_array_share_a_pass)
{
    KN_SCOPE(s);
    kn_array x = numbers(512, 600);
    kn_array of_rows[] = { kn_mean(x, .axis = 1), kn_var(x, .axis = 1) }, of_columns[] = { kn_mean(x, .axis = 0), kn_var(x, .axis = 0) }, of_all[] = { kn_mean(x), kn_var(x) };
    kn_array extremes[] = { kn_min(x, .axis = 1), kn_max(x, .axis = 1), kn_sum(x, .axis = 1), kn_argmax(x, .axis = 1) };
    expect_steps("mean and var of rows", 2, of_rows, 1, 0);
    expect_steps("mean and var of columns", 2, of_columns, 1, 0);
    expect_steps("mean and var of all", 2, of_all, 1, 0);
    expect_steps("four reductions of rows", 4, extremes, 1, 0);
}

Test(promises, chains_and_stencils_are_one_kernel)
{
    KN_SCOPE(s);
    kn_array a = vector(300000), b = vector(300000), c = vector(300000), u = numbers(400, 500);
    ONE_KERNEL(kn_add(kn_mul(kn_sqrt(kn_add(kn_mul(a, a), kn_mul(b, b))), c), kn_exp(kn_neg(a))));
    ONE_KERNEL(kn_where(kn_logical_and(kn_greater(a, 0), kn_less(b, c)), kn_clip(a, -0.5, 0.5), kn_log1p(kn_abs(b))));
    kn_array n = kn_index(u, ":-2, 1:-1"), t = kn_index(u, "2:, 1:-1"), w = kn_index(u, "1:-1, :-2"), e = kn_index(u, "1:-1, 2:"), m = kn_index(u, "1:-1, 1:-1");
    ONE_KERNEL(kn_add(m, kn_mul(0.1, kn_sub(kn_add(kn_add(n, t), kn_add(w, e)), kn_mul(4, m)))));
    ONE_KERNEL(kn_diff(kn_mul(a, b)));
    ONE_KERNEL(kn_mul(kn_sub(kn_index(a, "1:"), kn_index(a, ":-1")), 0.5));
}

Test(promises, views_and_gathers_are_read_where_they_are_needed)
{
    KN_SCOPE(s);
    kn_array x = numbers(300, 200), y = numbers(200, 300), b = vector(1000);
    kn_array i = kn_astype(kn_remainder(kn_mul(kn_arange(1000, KN_NONE, 1), 7), 300 * 200), KN_INT64), flat = kn_ravel(x);
    cr_assert_eq(kn_eval(i), KN_OK);
    ONE_KERNEL(kn_add(kn_transpose(x), y));
    ONE_KERNEL(kn_add(kn_transpose(kn_mul(x, 2)), y));
    ONE_KERNEL(kn_add(kn_mul(kn_take(flat, i), 2), b));
    ONE_KERNEL(kn_mul(kn_flip(x), kn_add(x, 1)));
    ONE_KERNEL(kn_add(kn_concatenate(KN_LIST(x, x)), 1));
    ONE_KERNEL(kn_mul(kn_roll(x, 3, .axis = 1), 2));
    ONE_KERNEL(kn_tril(kn_add(x, 1)));
    ONE_KERNEL(kn_sum(kn_mul(kn_eye(200), kn_index(x, ":200")), .axis = 1));
}

static int divisions(const char *source)
{
    int n = 0;
    for (const char *at = strchr(source, '{'); at && *at; at++) {
        if (at[0] == '/' && (at[1] == '/' || at[1] == '*')) { at = strchr(at, '\n'); if (!at) break; }
        else n += *at == '/' || *at == '%';
    }
    return n;
}

Test(promises, heads_moved_and_merged_take_no_division)
{
    KN_SCOPE(s);
    int64_t n = 64, h = 8, d = 32;
    kn_array x = numbers(n, h * d);
    kn_array y = kn_mul(kn_reshape(kn_transpose(kn_reshape(x, KN_SHAPE(n, h, d)), .axes = KN_AXES(0, 2, 1)), KN_SHAPE(n, d * h)), 2);
    ONE_KERNEL(y);
    message m = { 0 };
    text t = { 0 };
    node *root = array_node(y, "test", &m);
    cr_assert_eq(evaluate_source(&root, 1, "cpu", &t, &m), KN_OK, "%s", m.text);
    cr_expect(occurrences(t.at, "div") + occurrences(t.at, "rem") == 0, "%s", t.at);
    text_free(&t);
    node_drop(root);
    const char *cuda = kn_source(y, KN_CUDA);
    cr_expect_eq(divisions(cuda), 0, "%d divisions:\n%s", divisions(cuda), cuda);
    double have[64 * 256];
    cr_assert_eq(kn_read(y, have, 64 * 256), KN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++)
            for (int64_t j = 0; j < h; j++) cr_assert_float_eq(have[i * d * h + k * h + j], 2 * sin((double)(i * h * d + j * d + k)), 1e-15);
}

/* ---- libraries ---- */

Test(promises, a_product_of_spectra_is_one_kernel_between_transforms)
{
    KN_SCOPE(s);
    kn_array x = vector(4096), y = vector(4096);
    kn_array z = kn_irfft(kn_mul(kn_rfft(x), kn_rfft(y)));
    expect_steps("a circular convolution", 1, &z, 1, 3);
    kn_array scaled = kn_mul(kn_irfft(kn_mul(kn_rfft(kn_mul(x, 2)), kn_rfft(y))), kn_add(x, 1));
    expect_steps("with work on both sides", 1, &scaled, 3, 3);
    double have[4], want = 0;
    for (int i = 0; i < 4096; i++) want += sin(i) * sin((4096 - i) % 4096);
    cr_assert_eq(kn_read(kn_index(z, ":4"), have, 4), KN_OK);
    cr_expect_float_eq(have[0], want, 1e-9, "%g, not %g", have[0], want);
}

Test(promises, products_take_transposes_as_flags_and_what_follows_is_one_kernel)
{
    KN_SCOPE(s);
    kn_array x = numbers(64, 48), w = numbers(48, 32), v = numbers(64, 32), bias = vector(32);
    kn_array linear = kn_matmul(x, w), relu = kn_maximum(kn_add(linear, bias), 0), transposed = kn_matmul(kn_transpose(x), v), both = kn_matmul(kn_transpose(w), kn_transpose(x));
    kn_array before = kn_matmul(kn_mul(x, 2), w), sliced = kn_matmul(kn_index(x, ":, 8:40"), kn_index(w, "8:40"));
    expect_steps("x @ w", 1, &linear, 0, 1);
    expect_steps("maximum(x @ w + b, 0)", 1, &relu, 1, 1);
    expect_steps("x.T @ v", 1, &transposed, 0, 1);
    expect_steps("w.T @ x.T", 1, &both, 0, 1);
    expect_steps("(x * 2) @ w", 1, &before, 1, 1);
    expect_steps("slices of both", 1, &sliced, 0, 1);
    expect_steps("maximum((x * 2) @ w, 0)", 1, (kn_array[]){ kn_maximum(before, 0) }, 2, 1);
    expect_steps("softmax(x @ w)", 1, (kn_array[]){ softmax(linear, -1) }, 1, 1);
    expect_steps("einsum of a transpose", 1, (kn_array[]){ kn_einsum("ji,jk->ik", KN_LIST(x, v)) }, 0, 1);
}

/* ---- memory ---- */

Test(promises, fused_chains_allocate_their_result_alone)
{
    KN_SCOPE(s);
    kn_set_threads(1);
    kn_array a = vector(1000000), b = vector(1000000), c = vector(1000000), x = numbers(1000, 1000), g = vector(1000);
    NO_INTERMEDIATE(kn_add(kn_mul(kn_sqrt(kn_add(kn_mul(a, a), kn_mul(b, b))), c), kn_exp(kn_neg(a))));
    NO_INTERMEDIATE(softmax(x, -1));
    NO_INTERMEDIATE(layer_norm(x, g, g));
    NO_INTERMEDIATE(kn_add(kn_transpose(kn_mul(x, 2)), x));
    NO_INTERMEDIATE(kn_sum(kn_mul(x, x), .axis = 1));
    NO_INTERMEDIATE(kn_mul(kn_concatenate(KN_LIST(a, b)), 2));
    NO_INTERMEDIATE(kn_add(kn_cumsum(kn_mul(a, 2)), b));
    kn_set_threads(0);
}
