/* Several arrays updated in place, in any order and read at any time, hold what plain loops give.
 *
 * All of them take values from one shared array, so that an evaluation of one takes pending updates of the others along,
 * and joins their kernels where it can. */
#include "kiln.h"
#include "runtime/runtime.h"

#include <criterion/criterion.h>
#include <string.h>

#define SIDE 24
#define SIZE (SIDE * SIDE)
#define ARRAYS 4

static uint64_t state;
static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static double shared[SIZE], model[ARRAYS][SIZE];
static kn_array from, updated[ARRAYS], inner[ARRAYS];

static void start(void)
{
    for (int i = 0; i < SIZE; i++) shared[i] = below(1000);
    from = kn_add(kn_from(shared, SIDE, SIDE), 0);
    for (int k = 0; k < ARRAYS; k++) {
        for (int i = 0; i < SIZE; i++) model[k][i] = below(100);
        updated[k] = kn_add(kn_from(model[k], SIDE, SIDE), 0);
        inner[k] = kn_index(updated[k], "1:-1, ::2");
    }
}

static void add_inner(int k)
{
    kn_iadd(inner[k], kn_index(from, "1:-1, ::2"));
    for (int r = 1; r < SIDE - 1; r++)
        for (int c = 0; c < SIDE; c += 2) model[k][r * SIDE + c] += shared[r * SIDE + c];
}

static void set_row(int k)
{
    int64_t row = below(SIDE);
    kn_set(updated[k], "row, :", kn_index(from, ":, row", row), row);
    for (int c = 0; c < SIDE; c++) model[k][row * SIDE + c] = shared[c * SIDE + row];
}

static void halve(int k)
{
    kn_imul(updated[k], 0.5);
    for (int i = 0; i < SIZE; i++) model[k][i] *= 0.5;
}

static void take_from_another(int k)
{
    int other = below(ARRAYS);
    kn_set(updated[k], "3:9, ::-1", kn_index(updated[other], "10:16"));
    double copy[6][SIDE];
    memcpy(copy, &model[other][10 * SIDE], sizeof copy);
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < SIDE; c++) model[k][(3 + r) * SIDE + SIDE - 1 - c] = copy[r][c];
}

static int differences(int k)
{
    double got[SIZE];
    int n = 0;
    cr_assert_eq(kn_read(updated[k], got, SIZE), KN_OK, "%s", kn_error());
    for (int i = 0; i < SIZE; i++) n += got[i] != model[k][i];
    return n;
}

static void updates_in_any_order(jit_mode mode, int seeds)
{
    jit_set(mode);
    for (int seed = 0; seed < seeds; seed++) {
        state = (uint64_t)seed;
        KN_SCOPE(s);
        start();
        for (int step = 0; step < 60; step++) {
            KN_SCOPE(inside);
            int k = below(ARRAYS), wrong = 0;
            switch (below(5)) {
            case 0: add_inner(k); break;
            case 1: set_row(k); break;
            case 2: halve(k); break;
            case 3: take_from_another(k); break;
            default: wrong = differences(k);
            }
            cr_assert_eq(wrong, 0, "seed %d, step %d: %d elements are wrong", seed, step, wrong);
        }
        for (int k = 0; k < ARRAYS; k++) cr_assert_eq(differences(k), 0, "seed %d, at the end", seed);
    }
}

Test(updates, in_any_order_interpreted) { updates_in_any_order(JIT_NEVER, 300); }
Test(updates, in_any_order_compiled) { updates_in_any_order(JIT_ALWAYS, 15); }

/* ---- what fails beside others fails alone ---- */

#define ELEMENTS 10
static kn_array positions(int64_t last) { return kn_from(((const int64_t[]){ 1, 2, last }), 3); }

static void spoil_and_check(bool read_first, int64_t bad_position)
{
    KN_SCOPE(s);
    kn_array b = kn_add(kn_arange(0, ELEMENTS, 1, .dtype = KN_FLOAT64), 1), plain = kn_zeros(KN_SHAPE(ELEMENTS)), taken = kn_zeros(KN_SHAPE(3)), bad = kn_zeros(KN_SHAPE(3));
    if (read_first) cr_assert_eq(kn_f64(kn_sum(kn_concatenate(KN_LIST(plain, taken, bad)))), 0.0);   /* then they lie in memory that can be overwritten */
    kn_iadd(plain, b);
    kn_iadd(taken, kn_take(b, positions(3)));
    kn_iadd(bad, kn_take(b, positions(bad_position)));
    kn_array fails = kn_take(b, positions(-99));
    cr_expect(kn_eval(fails) == KN_INDEX_ERROR, "%s", kn_error());
    cr_expect(strstr(kn_error(), "-99"), "%s", kn_error());
    cr_expect_eq(kn_f64(kn_sum(b)), 55.0, "%s", kn_error());
    cr_expect_eq(kn_f64(kn_sum(plain)), 55.0, "%s", kn_error());
    cr_expect_eq(kn_f64(kn_sum(taken)), 2.0 + 3 + 4, "%s", kn_error());
    cr_expect_eq(kn_check(plain), KN_OK);
    cr_expect_eq(kn_check(taken), KN_OK);
    cr_expect_eq(kn_eval(bad), KN_INDEX_ERROR);
    cr_expect(strstr(kn_error(), "99"), "%s", kn_error());
    cr_expect_eq(kn_eval(kn_add(bad, 1)), KN_INDEX_ERROR, "what is made from it fails too");
}

Test(faults, stay_with_what_needs_them)
{
    spoil_and_check(false, 99);
    spoil_and_check(true, 99);
    spoil_and_check(false, -99);
    spoil_and_check(true, -99);
}

Test(faults, of_pending_updates_are_not_those_of_what_is_read)
{
    KN_SCOPE(s);
    kn_array b = kn_add(kn_arange(0, ELEMENTS, 1, .dtype = KN_FLOAT64), 1), bad = kn_zeros(KN_SHAPE(3)), x = kn_zeros(KN_SHAPE(3));
    kn_iadd(bad, kn_take(b, positions(99)));
    cr_expect_eq(kn_f64(kn_sum(kn_mul(b, 2))), 110.0, "%s", kn_error());
    cr_expect_eq(kn_eval(bad), KN_INDEX_ERROR);
    kn_iadd(x, kn_mul(kn_index(b, ":3"), bad));
    cr_expect_eq(kn_f64(kn_sum(kn_mul(b, 3))), 165.0, "%s", kn_error());
    cr_expect_eq(kn_eval(x), KN_INDEX_ERROR);
}

/* The same in a loop, where more and more is stored along the way: only the round that reaches too far fails. */
Test(faults, in_loops)
{
    KN_SCOPE(s);
    kn_array b = kn_arange(0, ELEMENTS, 1, .dtype = KN_FLOAT64), x = kn_zeros(KN_SHAPE(3)), y = kn_zeros(KN_SHAPE(ELEMENTS));
    for (int i = 0; i < 9; i++) {
        KN_SCOPE(step);
        kn_let(b, kn_add(b, 1));
        kn_iadd(y, b);
        if (i < 8) kn_iadd(x, kn_take(b, positions(3)));
        double got = kn_f64(kn_sum(kn_take(b, positions(2 + i))));
        cr_expect(i < 8 ? got == 3 * (i + 1) + 1 + 2 + 2 + i : got != got, "round %d: %g; %s", i, got, kn_error());
    }
    cr_expect_eq(kn_f64(kn_sum(x)), 8 * 6 + 3 * 36.0, "%s", kn_error());
    cr_expect_eq(kn_f64(kn_sum(y)), 9 * 45 + 10 * 45.0, "%s", kn_error());
    cr_expect_eq(kn_f64(kn_sum(b)), 45 + 90.0, "%s", kn_error());
}
