/* What loops cost: kernels compiled, work done, memory held. */
#include <criterion/criterion.h>
#include <math.h>
#include "kiln.h"
#include "runtime/runtime.h"

static runtime_counts counts(void) {
    runtime_counts c;
    runtime_count(&c);
    return c;
}

static void compute(kn_array a) { cr_assert_eq(kn_eval(a), KN_OK, "%s", kn_message(a)); }

static kn_array ramp(int64_t n) { return kn_astype(kn_arange(0, n, 1), KN_FLOAT32); }

Test(loops, a_thousand_sizes_make_few_kernels) {
    KN_SCOPE(s);
    uint64_t before = counts().kernels_built;
    for (int64_t n = 1; n <= 1000; n++) {
        KN_SCOPE(step);
        kn_array a = kn_copy(ramp(n)), b = kn_full(KN_SHAPE(n), 2.0f, .dtype = KN_FLOAT32);
        compute(a);
        compute(b);
        double got = kn_f64(kn_index(kn_add(kn_mul(a, b), 1), "-1"));
        cr_assert_eq(got, 2.0 * (double)(n - 1) + 1, "size %lld gave %g", (long long)n, got);
    }
    uint64_t made = counts().kernels_built - before;
    cr_expect_leq(made, 4 + 4, "%llu kernels for 1,000 sizes", (unsigned long long)made);   /* four each: the ramp, the expression */
}

Test(loops, one_expression_in_a_thousand_sizes) {
    KN_SCOPE(s);
    kn_array whole = kn_copy(ramp(4000));
    compute(whole);
    uint64_t before = counts().kernels_built;
    for (int64_t n = 1; n <= 1000; n++) {
        KN_SCOPE(step);
        kn_array x = kn_index(whole, ":n", n);
        double got = kn_f64(kn_sum(kn_mul(x, x))), want = (double)(n - 1) * (double)n * (2.0 * (double)n - 1) / 6;
        cr_assert(fabs(got - want) <= 1e-6 * (want + 1), "size %lld: %.9g, not %.9g", (long long)n, got, want);
    }
    uint64_t made = counts().kernels_built - before;
    cr_expect_leq(made, 4, "%llu kernels for 1,000 sizes", (unsigned long long)made);
}

Test(loops, a_new_scalar_makes_no_kernel) {
    KN_SCOPE(s);
    kn_array a = kn_copy(ramp(100));
    compute(a);
    kn_f64(kn_sum(kn_mul(kn_add(a, 0.5), 3.25)));
    uint64_t before = counts().kernels_built;
    for (int i = 0; i < 100; i++) {
        KN_SCOPE(step);
        double k = 1.25 * i, got = kn_f64(kn_sum(kn_mul(kn_add(a, 0.75 * i), k))), want = (4950 + 75.0 * i) * k;
        cr_assert(fabs(got - want) <= 1e-5 * fabs(want) + 1e-9, "%.9g, not %.9g", got, want);
    }
    cr_expect_eq(counts().kernels_built, before);
}

/* b carries over; c is asked for every time round. */
Test(loops, a_carried_value_settles) {
    KN_SCOPE(s);
    kn_array a = kn_copy(ramp(50)), b = kn_zeros(KN_SHAPE(50), .dtype = KN_FLOAT64);
    compute(a);
    compute(b);
    uint64_t before = counts().kernels_built, launches = 0;
    for (int i = 1; i <= 1000; i++) {
        if (i == 20) launches = counts().launches;
        KN_SCOPE(step);
        kn_let(b, kn_add(b, .02));
        kn_array c = kn_add(b, a);
        double got = kn_f64(kn_index(c, "-1"));
        cr_assert(fabs(got - (49 + .02 * i)) < 1e-9, "step %d: %.12g", i, got);
    }
    uint64_t made = counts().kernels_built - before;
    cr_expect_leq(made, 3, "%llu kernels", (unsigned long long)made);
    uint64_t each = (counts().launches - launches) / 981;
    cr_expect_leq(each, 1, "%llu launches a step", (unsigned long long)each);
}

Test(loops, two_previous_values_settle) {
    KN_SCOPE(s);
    kn_array u = kn_full(KN_SHAPE(64), 1.0), v = kn_full(KN_SHAPE(64), 1.0);
    compute(u);
    compute(v);
    uint64_t settled = 0, launches = 0;
    double a = 1, b = 1;
    for (int i = 0; i < 300; i++) {
        if (i == 30) settled = counts().kernels_built, launches = counts().launches;
        KN_SCOPE(step);
        kn_array next = kn_mul(kn_add(u, v), .6);
        double c = (a + b) * .6;
        a = b, b = c;
        kn_let(u, v);
        kn_let(v, next);
        double got = kn_f64(kn_max(next));
        cr_assert(fabs(got - c) <= 1e-12 * c, "step %d: %.15g, not %.15g", i, got, c);
    }
    cr_expect_eq(counts().kernels_built, settled, "kernels were still being made after 30 steps");
    cr_expect_leq(counts().launches - launches, 270 * 3);
}

Test(loops, a_test_every_ten_steps_settles) {
    KN_SCOPE(s);
    kn_array x = kn_full(KN_SHAPE(64), 1.0);
    compute(x);
    uint64_t settled = 0;
    double want = 1;
    for (int i = 1; i <= 400; i++) {
        if (i == 60) settled = counts().kernels_built;
        KN_SCOPE(step);
        kn_let(x, kn_add(kn_mul(x, .99), .5));
        want = want * .99 + .5;
        if (i % 10 == 0) {
            double got = kn_f64(kn_sum(x)) / 64;
            cr_assert(fabs(got - want) < 1e-9, "step %d: %.12g, not %.12g", i, got, want);
        }
    }
    cr_expect_eq(counts().kernels_built, settled, "kernels were still being made after 60 steps");
}

Test(loops, a_hundred_thousand_pending_operations) {
    KN_SCOPE(s);
    kn_array x = kn_zeros(KN_SHAPE(10));
    for (int i = 0; i < 100000; i++) {
        KN_SCOPE(step);
        kn_let(x, kn_add(x, 1));
    }
    cr_assert_eq(kn_f64(kn_sum(x)), 1e6);
}

Test(loops, a_hundred_thousand_operands) {
    KN_SCOPE(s);
    kn_array sum = kn_zeros(KN_SHAPE(3));
    for (int i = 0; i < 20000; i++) sum = kn_add(sum, kn_full(KN_SHAPE(3), i % 7));      /* every handle stays alive */
    double want = 0;
    for (int i = 0; i < 20000; i++) want += i % 7;
    cr_assert_eq(kn_f64(kn_index(sum, "0")), want);
}

static uint64_t heat_peak(int steps) {
    KN_SCOPE(s);
    kn_array u = kn_zeros(KN_SHAPE(200, 200));
    kn_set(u, "0", 100);
    kn_array mid = kn_index(u, "1:-1, 1:-1"), up = kn_index(u, ":-2, 1:-1"), down = kn_index(u, "2:, 1:-1"), left = kn_index(u, "1:-1, :-2"), right = kn_index(u, "1:-1, 2:");
    uint64_t most = 0;
    for (int t = 0; t < steps; t++) {
        KN_SCOPE(step);
        kn_iadd(mid, kn_mul(.2, kn_sub(kn_add(kn_add(up, down), kn_add(left, right)), kn_mul(4, mid))));
        if (counts().bytes_live > most) most = counts().bytes_live;
    }
    cr_assert(kn_f64(kn_sum(u)) > 0);
    return most;
}

Test(loops, heat_holds_no_more_memory_for_more_steps) {
    heat_peak(200);
    uint64_t few = heat_peak(200), many = heat_peak(4000);
    cr_expect_leq(many, few + (1 << 20), "%llu bytes for 200 steps, %llu for 4,000", (unsigned long long)few, (unsigned long long)many);
}

static uint64_t conjugate_gradients_peak(int steps) {
    KN_SCOPE(s);
    const int64_t n = 300;
    kn_array diagonal = kn_add(kn_arange(0, n, 1), 1.0), x = kn_zeros(KN_SHAPE(n)), r = kn_full(KN_SHAPE(n), 1.0), p = kn_copy(r), rr = kn_sum(kn_mul(r, r));
    uint64_t most = 0;
    for (int i = 0; i < steps && kn_f64(rr) > 1e-300; i++) {
        KN_SCOPE(step);
        kn_array q = kn_mul(diagonal, p), alpha = kn_div(rr, kn_sum(kn_mul(p, q)));
        kn_iadd(x, kn_mul(alpha, p));
        kn_isub(r, kn_mul(alpha, q));
        kn_array next = kn_sum(kn_mul(r, r));
        kn_let(p, kn_add(r, kn_mul(kn_div(next, rr), p)));
        kn_let(rr, next);
        if (counts().buffers_live > most) most = counts().buffers_live;
    }
    return most;
}

Test(loops, conjugate_gradients_hold_no_more_memory_for_more_steps) {
    conjugate_gradients_peak(20);
    uint64_t few = conjugate_gradients_peak(20), many = conjugate_gradients_peak(150);
    cr_expect_leq(many, few + 8, "%llu buffers for 20 steps, %llu for 150", (unsigned long long)few, (unsigned long long)many);
}
