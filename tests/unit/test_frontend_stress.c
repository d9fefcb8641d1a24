/* The frontend when memory runs out at any allocation, and when threads share operands. */
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/disk_cache.h"
#include "runtime/runtime.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- every allocation fails once ---- */

static double map_and_reduce(void)
{
    KN_SCOPE(s);
    kn_array x = kn_arange(0, 100, 1, .dtype = KN_FLOAT64), y = kn_add(kn_mul(x, x), 1.0);
    return kn_f64(kn_sum(kn_sqrt(kn_index(y, "::2"))));
}

static double updates_and_views(void)
{
    KN_SCOPE(s);
    kn_array a = kn_zeros(KN_SHAPE(4, 5)), inner = kn_index(a, "1:-1, 1:-1");
    for (int i = 0; i < 3; i++) {
        KN_SCOPE(step);
        kn_iadd(inner, kn_add(kn_index(a, ":-2, 1:-1"), i + 1));
        kn_set(a, "0, i", 10.0, i);
    }
    return kn_f64(kn_sum(a));
}

static double masks_and_arrays(void)
{
    KN_SCOPE(s);
    kn_array a = kn_arange(0, 20, 1);
    kn_set(a, "a % 3 == 0", -1, a);
    kn_set(a, "[1, 2, 1]", kn_from(((const int64_t[]){ 5, 6, 7 }), 3));
    kn_array picked = kn_index(a, "a > 0", a);
    return kn_f64(kn_sum(picked)) + (double)kn_len(picked, 0);
}

static double handles(void)
{
    KN_SCOPE(s);
    kn_array x = kn_ones(KN_SHAPE(7)), total = kn_zeros(KN_SHAPE(7)), kept[100];
    for (int i = 0; i < 100; i++) kept[i] = kn_keep(kn(i));
    for (int i = 0; i < 100; i++) kn_iadd(total, kept[i]);
    for (int i = 0; i < 100; i++) kn_release(kept[i]);
    {
        KN_SCOPE(inner);
        kn_let(x, kn_return(inner, kn_mul(total, 2)));
    }
    return strlen(kn_show(x)) ? kn_f64(kn_index(x, "3")) : NAN;
}

static double lent_memory(void)
{
    KN_SCOPE(s);
    double mine[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    kn_array a = kn_from_memory(KN_FLOAT64, mine, KN_SHAPE(6), (const int64_t[]){ 16 }, KN_SHARE, NULL, NULL), before = kn_add(a, 0);
    kn_imul(a, 2);
    if (kn_sync(a) || mine[2] != 6) return NAN;
    return kn_f64(kn_sum(before)) + mine[10];
}

static double rows_of_a_softmax(void)
{
    KN_SCOPE(s);
    kn_array x = kn_reshape(kn_mod(kn_arange(0, 60, 1, .dtype = KN_FLOAT32), 7), KN_SHAPE(6, 10));
    kn_array e = kn_exp(kn_sub(x, kn_max(x, .axis = 1, .keepdims = true)));
    return kn_i64(kn_argmax(kn_div(e, kn_sum(e, .axis = 1, .keepdims = true)))) + 10 * kn_f64(kn_index(kn_cumsum(x), "-1"));
}

static double products(void)
{
    KN_SCOPE(s);
    kn_array a = kn_reshape(kn_arange(0, 12, 1, .dtype = KN_FLOAT64), KN_SHAPE(3, 4)), b = kn_astype(kn_transpose(a), KN_FLOAT32);
    kn_array c = kn_matmul(a, b), d = kn_tensordot(kn_index(a, "::-1"), a, .axes = 2);
    return kn_f64(kn_sum(c)) + kn_f64(d) + kn_f64(kn_sum(kn_outer(kn_index(a, "0"), kn_index(a, "1"))));
}

static double spectra(void)
{
    KN_SCOPE(s);
    kn_array x = kn_arange(0, 15, 1, .dtype = KN_FLOAT64), f = kn_rfft(x);
    double back = kn_f64(kn_round(kn_sum(kn_irfft(f, .n = 15)))), first = kn_f64(kn_round(kn_abs(kn_index(kn_fft2(kn_reshape(x, KN_SHAPE(3, 5))), "0, 0"))));
    return back + first;
}

static double orders(void)
{
    KN_SCOPE(s);
    kn_array x = kn_mod(kn_mul(kn_arange(0, 40, 1), 7), 11), order = kn_argsort(x);
    kn_unique_result u = kn_unique(x);
    kn_array where = kn_nonzero(kn_greater(x, 8));
    return kn_f64(kn_index(kn_sort(x), "-1")) + kn_f64(kn_index(order, "0")) + kn_f64(kn_sum(u.counts)) + kn_f64(kn_sum(where)) + kn_f64(kn_median(x));
}

static const char *in_scratch(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/kiln-stress-%d-%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid(), name);
    return path;
}

static double through_files(void)
{
    KN_SCOPE(s);
    static const char *const names[] = { "a.npy", "b.npz", "c.csv" };
    kn_array x = kn_reshape(kn_arange(0, 30, 1, .dtype = KN_FLOAT64), KN_SHAPE(5, 6));
    double total = 0;
    for (int i = 0; i < 3; i++) {
        bool saved = kn_save(kn_index(x, ":, ::2"), in_scratch(names[i])) == KN_OK;
        if (saved) total += kn_f64(kn_sum(kn_load(in_scratch(names[i]))));
        unlink(in_scratch(names[i]));
        if (!saved) return NAN;
    }
    return total;
}

static double texts(void)
{
    KN_SCOPE(s);
    kn_array x = kn_reshape(kn_arange(0, 6, 1, .dtype = KN_FLOAT64), KN_SHAPE(2, 3)), y = kn_mul(kn_exp(x), 2);
    return strlen(kn_source(y, KN_CUDA)) > 100 && strlen(kn_explain(y, KN_CPU)) > 20 && strlen(kn_show(x)) > 10 ? 1 : NAN;
}

static double added_at(void)
{
    KN_SCOPE(s);
    kn_array a = kn_zeros(KN_SHAPE(8)), at = kn_from(((const int64_t[]){ 1, 2, 1, 7 }), 4);
    kn_at("add", a, "at", kn_ones(KN_SHAPE(4)), at);
    kn_array out = kn_zeros(KN_SHAPE(8));
    kn_array r = kn_add(a, kn_sum(kn_take(a, at)), .out = out);
    return kn_check(r) ? NAN : kn_f64(kn_index(out, "1")) + kn_f64(kn_sum(kn_concatenate(KN_LIST(a, out))));
}

static const struct { const char *name; double (*run)(void); double want; } programs[] = {
    { "map_and_reduce", map_and_reduce, 0 }, { "updates_and_views", updates_and_views, 0 }, { "masks_and_arrays", masks_and_arrays, 0 }, { "handles", handles, 9900 },
    { "lent_memory", lent_memory, 58 }, { "rows_of_a_softmax", rows_of_a_softmax, 1746 }, { "products", products, 0 }, { "spectra", spectra, 210 },
    { "orders", orders, 0 }, { "through_files", through_files, 630 }, { "texts", texts, 1 }, { "added_at", added_at, 0 },
};
#define PROGRAMS (sizeof programs / sizeof *programs)

static double after_failing(double (*run)(void), int64_t n, bool stay)
{
    runtime_forget();
    pool_trim();
    mem_fail_after(n, stay);
    double v = run();
    mem_fail_after(-1, false);
    return v;
}

static bool of_memory(kn_status s) { return s == KN_MEMORY_ERROR || s == KN_SCOPE_ERROR; }

/* Allocation n fails for n = 1, 2, 3 ... until `enough` runs in a row have not met it. */
static void each_may_fail(size_t i, int enough, int64_t step)
{
    double want = programs[i].run();
    int64_t live = handles_live(), errors = 0, n = 1;
    cr_assert_not(isnan(want), "%s: %s", programs[i].name, kn_error());
    if (programs[i].want != 0) cr_assert_eq(want, programs[i].want, "%s gives %g", programs[i].name, want);
    for (int good = 0; good < enough && n < 40000; n += step) {
        kn_error_clear();
        double v = after_failing(programs[i].run, n, false);
        bool failed = kn_error_status() != KN_OK;
        cr_expect(v == want || (failed && of_memory(kn_error_status())), "%s, allocation %lld: %g, not %g; %s", programs[i].name, (long long)n, v, want, kn_error());
        cr_expect_eq(handles_live(), live, "%s, allocation %lld leaves handles", programs[i].name, (long long)n);
        good = failed ? 0 : good + 1;
        errors += failed;
    }
    cr_expect_gt(errors, 0, "%s: nothing failed", programs[i].name);
    double again = programs[i].run();
        cr_expect_eq(again, want, "%s works again: %g, not %g; %s", programs[i].name, again, want, kn_error());
}

Test(memory, every_allocation_may_fail)
{
    runtime_forget();
    for (size_t i = 0; i < PROGRAMS; i++) each_may_fail(i, 60, 1);
}

/* Compiling takes long: not every allocation in it, but some of every part. */
Test(memory, allocations_may_fail_while_compiling)
{
    setenv("KILN_CACHE_DIR", in_scratch("cache"), 1);
    jit_set(JIT_ALWAYS);
    for (size_t i = 0; i < PROGRAMS; i += 3) {
        setenv("KILN_CACHE", i ? "0" : "1", 1);
        disk_cache_reset();
        each_may_fail(i, 40, 13);
    }
    disk_cache_clear();
}

Test(memory, all_allocations_may_fail_from_one_on)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        double want = programs[i].run();
        for (int64_t n = 1; n < 400; n += 7) {
            double v = after_failing(programs[i].run, n, true);
            cr_expect(v == want || isnan(v) || kn_error_status() != KN_OK, "%s, from allocation %lld on: %g", programs[i].name, (long long)n, v);
        }
        double again = programs[i].run();
        cr_expect_eq(again, want, "%s works again: %g, not %g; %s", programs[i].name, again, want, kn_error());
    }
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 40
static struct { kn_array x, y, pending; double sum; int wrong[THREADS]; } shared;

static void *read_shared(void *arg)
{
    int *wrong = arg;
    for (int i = 0; i < ROUNDS; i++) {
        KN_SCOPE(s);
        kn_array z = kn_add(kn_mul(shared.x, i), kn_index(shared.y, "::-1"));
        double want = 4950.0 * i + 100;
        if (kn_f64(kn_sum(z)) != want) ++*wrong;
        if (kn_f64(kn_sum(shared.pending)) != shared.sum) ++*wrong;
        if (kn_check(kn_add(shared.x, kn_ones(KN_SHAPE(3)))) != KN_VALUE_ERROR || kn_error_status() != KN_VALUE_ERROR) ++*wrong;
    }
    return NULL;
}

Test(threads, share_operands_while_their_scope_is_open)
{
    KN_SCOPE(s);
    shared.x = kn_arange(0, 100, 1, .dtype = KN_FLOAT64);
    shared.y = kn_ones(KN_SHAPE(100));
    shared.pending = kn_sqrt(kn_mul(shared.x, shared.x));
    shared.sum = 4950;
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&t[i], NULL, read_shared, &shared.wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++) cr_expect_eq(shared.wrong[i], 0, "thread %d: %d wrong", i, shared.wrong[i]);
}

static void *make_and_keep(void *arg)
{
    kn_array *out = arg;
    const kn_scope left_open = kn_scope_open();
    *out = kn_keep(kn_add(kn_ones(KN_SHAPE(3)), 41));
    (void)left_open;                          /* the end of the thread closes it */
    return NULL;
}

Test(threads, kept_arrays_go_from_one_to_another)
{
    int64_t before = handles_live();
    kn_array a[THREADS];
    for (int round = 0; round < 10; round++) {
        pthread_t t[THREADS];
        for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&t[i], NULL, make_and_keep, &a[i]), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
        KN_SCOPE(s);
        for (int i = 0; i < THREADS; i++) cr_expect_eq(kn_f64(kn_index(a[i], "1")), 42.0);
        for (int i = 0; i < THREADS; i++) kn_release(a[i]);
    }
    cr_expect_eq(handles_live(), before);
}

static void *update_own(void *arg)
{
    double *out = arg;
    KN_SCOPE(s);
    kn_array a = kn_zeros(KN_SHAPE(50));
    for (int i = 0; i < 200; i++) {
        KN_SCOPE(step);
        kn_iadd(a, kn_mul(shared.x, 0.5));
    }
    *out = kn_f64(kn_sum(a));
    return NULL;
}

Test(threads, update_arrays_of_their_own)
{
    KN_SCOPE(s);
    shared.x = kn_ones(KN_SHAPE(50));
    double sum[THREADS] = { 0 };
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&t[i], NULL, update_own, &sum[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++) cr_expect_eq(sum[i], 5000.0, "thread %d: %g", i, sum[i]);
}
