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
