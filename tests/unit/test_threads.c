/* Eight threads that evaluate shared, pending arrays get what one thread gets, bit for bit.
 *
 * A visitor is a random walk, fixed by its seed, over the shared arrays: it looks at them through views, combines them,
 * updates arrays of its own, gives up arrays while others read them, and takes arrays that other visitors made. What it
 * sees is hashed. Every walk is done once alone, on arrays of its own, and once beside seven others on the same arrays.
 * The same program runs under ThreadSanitizer.
 *
 * time-out: 600 */
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define VISITORS 8
#define SHARED 12
#define SIDE 24
#define STEPS 40
#define ROUNDS 6

/* ---- what is shared: pending arrays of shape (SIDE, SIDE), each made from the ones before it ----
 * No sums of rounded numbers: their last bit may depend on the kernel that they end up in, which depends on who comes first. */

typedef struct world { kn_array a[SHARED]; pthread_barrier_t *start; } world;

static kn_array grown(const world *w, int i)
{
    kn_array p = w->a[i - 1], q = w->a[i / 2];
    switch (i % 6) {
    case 0: return kn_add(kn_index(p, "::-1"), q);
    case 1: return kn_mod(kn_add(kn_mul(p, 3), q), 1009);
    case 2: return kn_sub(kn_transpose(p), kn_max(q, .axis = 1, .keepdims = true));
    case 3: return kn_sqrt(kn_add(kn_mul(p, p), 1));
    case 4: return kn_add(kn_cumsum(kn_mod(kn_floor(p), 7), .axis = 0), kn_index(q, "0"));
    default: return kn_where(kn_greater(p, q), p, kn_mul(q, 0.5));
    }
}

/* The arrays are owned VISITORS times: by each visitor, who lets go when it likes. */
static void world_make(world *w, int owners, int round)
{
    KN_SCOPE(s);
    w->a[0] = kn_reshape(kn_mod(kn_mul(kn_arange(0, SIDE * SIDE, 1, .dtype = KN_FLOAT64), 7 + round), 101), KN_SHAPE(SIDE, SIDE));
    for (int i = 1; i < SHARED; i++) w->a[i] = grown(w, i);
    for (int i = 0; i < SHARED; i++)
        for (int k = 0; k < owners; k++) kn_keep(w->a[i]);
}

/* ---- arrays on their way from one visitor to another ---- */

static struct { pthread_mutex_t mutex; kn_array on_offer[4]; } market = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* Puts a (owned by the market from now on) where another lay, which is returned; its owner is the caller. */
static kn_array swap_at_market(int place, kn_array a)
{
    pthread_mutex_lock(&market.mutex);
    kn_array other = market.on_offer[place];
    market.on_offer[place] = a;
    pthread_mutex_unlock(&market.mutex);
    return other;
}

/* ---- a visitor ---- */

typedef struct visitor { world *w; uint64_t seed, seen; int wrong; } visitor;

static uint64_t chosen(uint64_t *state, uint64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % n;
}

static void see(visitor *v, kn_array a)
{
    double x[SIDE * SIDE];
    size_t n = (size_t)kn_size(a);
    if (n > SIDE * SIDE || kn_read(a, x, n)) v->wrong++;
    else v->seen = hash_bytes(x, n * sizeof *x, v->seen);
}

/* Every array at the market is full of one number that its first element tells. */
static void trade(visitor *v, uint64_t *state)
{
    KN_SCOPE(s);
    double mine = (double)chosen(state, 100);
    kn_array a = kn_full(KN_SHAPE(30), kn(mine), .dtype = KN_FLOAT64);
    kn_array other = swap_at_market((int)chosen(state, 4), kn_keep(kn_add(kn_mul(a, 2), 1)));
    if (other.id) {
        if (!kn_true(kn_all(kn_equal(other, kn_index(other, "0"))))) v->wrong++;
        kn_release(other);
    }
}

static void update_own(visitor *v, kn_array a, kn_array b, uint64_t *state)
{
    kn_array own = kn_add(a, 0), part = kn_index(own, "1:-1, ::2");
    int64_t row = (int64_t)chosen(state, SIDE);
    for (int i = 0; i < 3; i++) {
        KN_SCOPE(step);
        kn_iadd(part, kn_index(b, "1:-1, ::2"));
        kn_set(own, "row, :", kn_index(b, ":, row", row), row);
        kn_imul(own, 0.5);
    }
    see(v, own);
}

static void look(visitor *v, kn_array a, kn_array b, uint64_t *state)
{
    KN_SCOPE(s);
    int64_t i = (int64_t)chosen(state, SIDE), from = (int64_t)chosen(state, SIDE / 2);
    switch (chosen(state, 9)) {
    case 0: see(v, kn_index(a, "i", i)); break;
    case 1: see(v, kn_index(a, "::-1, from:", from)); break;
    case 2: see(v, kn_add(a, kn_transpose(b))); break;
    case 3: see(v, kn_max(kn_maximum(a, b), .axis = 0)); break;
    case 4: see(v, kn_index(a, "[3, 1, i]", i)); break;
    case 5: see(v, kn_reshape(kn_index(kn_index(a, "from:", from), ":, ::3"), KN_SHAPE(-1))); break;
    case 6: update_own(v, a, b, state); break;
    case 7: see(v, kn_index(a, "b > 5", b)); break;
    default: if (kn_check(kn_add(a, kn_ones(KN_SHAPE(5)))) != KN_VALUE_ERROR) v->wrong++;
    }
}

static void *visit(void *arg)
{
    visitor *v = arg;
    uint64_t state = v->seed;
    bool owns[SHARED];
    memset(owns, true, sizeof owns);
    if (v->w->start) pthread_barrier_wait(v->w->start);
    for (int step = 0; step < STEPS; step++) {
        uint64_t i = chosen(&state, SHARED), k = chosen(&state, SHARED);
        if (!owns[i] || !owns[k]) continue;
        look(v, v->w->a[i], v->w->a[k], &state);
        if (step % 8 == 5) trade(v, &(uint64_t){ state });
        if (step % 5 == 4) {
            kn_release(v->w->a[i]);
            owns[i] = false;
        }
    }
    for (int i = 0; i < SHARED; i++)
        if (owns[i]) kn_release(v->w->a[i]);
    return NULL;
}

static void empty_the_market(void)
{
    for (int i = 0; i < 4; i++) {
        kn_array a = swap_at_market(i, KN_NONE);
        if (a.id) kn_release(a);
    }
}

static void together_as_alone(int round)
{
    visitor alone[VISITORS] = { 0 }, beside[VISITORS] = { 0 };
    for (int i = 0; i < VISITORS; i++) {
        world w = { 0 };
        world_make(&w, 1, round);
        alone[i] = (visitor){ .w = &w, .seed = (uint64_t)(round * 100 + i) };
        visit(&alone[i]);
        cr_expect_eq(alone[i].wrong, 0, "round %d, visitor %d alone: %s", round, i, kn_error());
    }
    if (round % 2) runtime_forget();               /* half of the rounds find the plans made, half make them side by side */
    pthread_barrier_t start;
    cr_assert_eq(pthread_barrier_init(&start, NULL, VISITORS), 0);
    world w = { .start = &start };
    world_make(&w, VISITORS, round);
    pthread_t t[VISITORS];
    for (int i = 0; i < VISITORS; i++) {
        beside[i] = (visitor){ .w = &w, .seed = alone[i].seed };
        cr_assert_eq(pthread_create(&t[i], NULL, visit, &beside[i]), 0);
    }
    for (int i = 0; i < VISITORS; i++) pthread_join(t[i], NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < VISITORS; i++) {
        cr_expect_eq(beside[i].wrong, 0, "round %d, visitor %d: %d wrong", round, i, beside[i].wrong);
        cr_expect_eq(beside[i].seen, alone[i].seen, "round %d, visitor %d saw something else than alone", round, i);
    }
}

Test(threads, eight_agree_with_one)
{
    int64_t before = handles_live();
    for (int round = 0; round < ROUNDS; round++) together_as_alone(round);
    empty_the_market();
    cr_expect_eq(handles_live(), before, "%lld handles are left", (long long)(handles_live() - before));
}

/* The same with more than one worker a kernel, and with every kernel compiled. */
Test(threads, eight_agree_with_one_on_several_workers)
{
    kn_set_threads(3);
    jit_set(JIT_ALWAYS);
    for (int round = 0; round < 2; round++) together_as_alone(round);
    empty_the_market();
}

/* ---- one pending node, many views of it recorded while others publish it ---- */

static struct { kn_array base; atomic_int wrong; pthread_barrier_t start; } one;

static void *view_it(void *arg)
{
    KN_SCOPE(s);
    bool reader = arg != NULL;
    pthread_barrier_wait(&one.start);
    kn_array v = one.base;
    for (int i = 0; i < 30; i++) {
        v = kn_index(one.base, "i:", i);
        if (i % 5 == 0) v = kn_transpose(kn_reshape(v, KN_SHAPE(-1, 1)));
        if (reader && kn_f64(kn_sum(v)) != (1000 - i) * 3.0) atomic_fetch_add(&one.wrong, 1);
    }
    if (kn_f64(kn_sum(v)) != (1000 - 29) * 3.0) atomic_fetch_add(&one.wrong, 1);
    return NULL;
}

Test(threads, views_are_recorded_while_their_base_is_published)
{
    cr_assert_eq(pthread_barrier_init(&one.start, NULL, VISITORS), 0);
    for (int round = 0; round < 25; round++) {
        KN_SCOPE(s);
        one.base = kn_index(kn_add(kn_ones(KN_SHAPE(2000)), 2), "::2");
        pthread_t t[VISITORS];
        for (int i = 0; i < VISITORS; i++) cr_assert_eq(pthread_create(&t[i], NULL, view_it, i % 2 ? &one : NULL), 0);
        for (int i = 0; i < VISITORS; i++) pthread_join(t[i], NULL);
    }
    cr_expect_eq(one.wrong, 0, "%d wrong", one.wrong);
}
