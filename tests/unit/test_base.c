/* The ground floor: messages, memory, text, hashing, dtypes and casts of one element. What NumPy says about dtypes and
 * casts is compared in tests/oracle/test_dtypes.py. */
#include "ir/base/base.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A small generator, so that failures repeat. */
static uint64_t random_state = 1;
static uint64_t random_bits(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random_state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double bits_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* ---- status ---- */

Test(status, the_first_failure_is_kept)
{
    message m = {0};
    cr_expect_eq(fail(&m, KN_VALUE_ERROR, "axis %d", 3), KN_VALUE_ERROR);
    cr_expect_eq(fail(&m, KN_TYPE_ERROR, "later"), KN_TYPE_ERROR);
    cr_expect_eq(m.status, KN_VALUE_ERROR);
    cr_expect_str_eq(m.text, "axis 3");
}

Test(status, a_message_may_be_absent)
{
    cr_expect_eq(fail(NULL, KN_INDEX_ERROR, "index %d", 1), KN_INDEX_ERROR);
    cr_expect_eq(fail_memory(NULL, "loading"), KN_MEMORY_ERROR);
}

Test(status, out_of_memory_names_what_was_done)
{
    message m = {0};
    fail_memory(&m, "reading x.npy");
    cr_expect_eq(m.status, KN_MEMORY_ERROR);
    cr_expect_str_eq(m.text, "out of memory while reading x.npy");
}

Test(status, long_sentences_end_in_dots)
{
    char longest[MESSAGE_MAX + 1];
    memset(longest, 'a', sizeof longest);
    longest[MESSAGE_MAX - 1] = '\0';
    message fits = {0}, cut = {0};
    fail(&fits, KN_VALUE_ERROR, "%s", longest);
    cr_expect_str_eq(fits.text, longest);
    longest[MESSAGE_MAX - 1] = 'a';
    longest[MESSAGE_MAX] = '\0';
    fail(&cut, KN_VALUE_ERROR, "%s", longest);
    cr_expect_eq(strlen(cut.text), MESSAGE_MAX - 1);
    cr_expect_str_eq(cut.text + MESSAGE_MAX - 5, "a...");
}

Test(status, a_cut_does_not_split_a_character)
{
    for (int shift = 0; shift < 4; shift++) {
        char s[2 * MESSAGE_MAX] = "";
        memset(s, 'a', (size_t)shift);
        for (int i = shift; i < MESSAGE_MAX + 8; i += 3)
            memcpy(s + i, "\u20ac", 4);
        message m = {0};
        fail(&m, KN_VALUE_ERROR, "%s", s);
        size_t length = strlen(m.text);
        cr_expect_str_eq(m.text + length - 3, "...", "shift %d: %s", shift, m.text);
        cr_expect_eq((length - 3 - (size_t)shift) % 3, 0, "shift %d: %zu bytes", shift, length);
    }
}

Test(status, every_status_has_a_name_of_its_own)
{
    for (int a = KN_OK; a <= KN_NOT_AVAILABLE; a++) {
        cr_expect_str_neq(status_name((kn_status)a), "UnknownError", "status %d", a);
        for (int b = KN_OK; b < a; b++)
            cr_expect_str_neq(status_name((kn_status)a), status_name((kn_status)b), "status %d and %d", a, b);
    }
    cr_expect_str_eq(status_name((kn_status)999), "UnknownError");
}

/* ---- memory ---- */

Test(memory, sizes_that_overflow_fail)
{
    cr_expect_null(mem_array(SIZE_MAX / 2, 3));
    cr_expect_null(mem_zero(SIZE_MAX / 2, 3));
    cr_expect_null(mem_grow(NULL, SIZE_MAX, 2));
    cr_expect_null(mem_alloc(SIZE_MAX));
    cr_expect_null(mem_array((size_t)PTRDIFF_MAX, 2));
    cr_expect_null(mem_aligned(SIZE_MAX - 3, 64));
    int64_t r;
    cr_expect(mul_overflows(INT64_MAX, 2, &r));
    cr_expect_not(mul_overflows(1 << 30, 1 << 30, &r));
    cr_expect_eq(r, INT64_C(1) << 60);
    cr_expect(add_overflows(INT64_MAX, 1, &r));
}

Test(memory, size_zero_gives_a_unique_pointer)
{
    void *a = mem_alloc(0), *b = mem_alloc(0), *c = mem_zero(0, 8);
    cr_expect(a && b && c && a != b);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(NULL);
}

Test(memory, zeroed_grown_copied_aligned)
{
    int *p = mem_zero(100, sizeof *p);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(p[i], 0);
    p[99] = 7;
    p = mem_grow(p, 1000, sizeof *p);
    cr_expect_eq(p[99], 7);
    mem_free(p);
    char *s = mem_text("kiln");
    cr_expect_str_eq(s, "kiln");
    mem_free(s);
    void *q = mem_aligned(100, 4096);
    cr_expect_eq((uintptr_t)q % 4096, 0);
    memset(q, 1, 100);
    mem_free(q);
}

static int allocations_until_failure(int tries)
{
    for (int i = 0; i < tries; i++) {
        void *p = mem_alloc(8);
        if (!p)
            return i;
        mem_free(p);
    }
    return -1;
}

Test(memory, the_chosen_allocation_fails)
{
    for (int n = 1; n < 5; n++) {
        mem_fail_after(n, false);
        cr_expect_eq(allocations_until_failure(10), n - 1, "n = %d", n);
        cr_expect_eq(allocations_until_failure(10), -1, "n = %d", n);
    }
    mem_fail_after(3, true);
    cr_expect_eq(allocations_until_failure(10), 2);
    cr_expect_eq(allocations_until_failure(10), 0);
    cr_expect_eq(allocations_until_failure(10), 0);
    mem_fail_after(-1, false);
    cr_expect_eq(allocations_until_failure(10), -1);
    mem_fail_after(0, false);
    cr_expect_eq(allocations_until_failure(10), 0);
}

Test(memory, every_kind_of_allocation_can_fail)
{
    arena a = {0};
    char *p = mem_alloc(8);
    mem_fail_after(1, true);
    cr_expect_null(mem_alloc(1));
    cr_expect_null(mem_zero(1, 1));
    cr_expect_null(mem_array(1, 1));
    cr_expect_null(mem_grow(p, 100, 1));
    cr_expect_null(mem_aligned(1, 64));
    cr_expect_null(mem_text("x"));
    cr_expect_null(arena_alloc(&a, 1));
    cr_expect_null(arena_text(&a, "%d", 1));
    mem_fail_after(-1, false);
    mem_free(p);
    arena_free(&a);
}

Test(arena, memory_is_aligned_and_apart)
{
    arena a = {0};
    unsigned char *p[300];
    size_t size[300];
    for (size_t i = 0; i < 300; i++) {
        size[i] = i % 50 == 0 ? 20000 * i / 50 : i;
        p[i] = arena_alloc(&a, size[i]);
        cr_assert_not_null(p[i]);
        cr_assert_eq((uintptr_t)p[i] % 16, 0);
        memset(p[i], (int)i, size[i]);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < size[i]; j++)
            cr_assert_eq(p[i][j], (unsigned char)i, "allocation %zu, byte %zu", i, j);
    arena_free(&a);
    cr_expect_null(a.head);
}

Test(arena, a_reset_arena_reuses_its_largest_block)
{
    arena a = {0};
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 1000);
    arena_reset(&a);
    cr_expect_geq(a.size, 32768);
    mem_fail_after(1, true);
    cr_expect_not_null(arena_alloc(&a, 32768));
    mem_fail_after(-1, false);
    arena_reset(&a);
    int *zeros = arena_zero(&a, 1000, sizeof *zeros);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(zeros[i], 0);
    arena_free(&a);
    arena_reset(&a);
    cr_expect_null(a.head);
}

Test(arena, sizes_that_overflow_fail)
{
    arena a = {0};
    cr_expect_null(arena_alloc(&a, SIZE_MAX));
    cr_expect_null(arena_alloc(&a, (size_t)PTRDIFF_MAX - 3));
    cr_expect_null(arena_zero(&a, SIZE_MAX / 2, 3));
    arena_free(&a);
}

Test(arena, copies_and_formats)
{
    arena a = {0};
    cr_expect_str_eq(arena_copy(&a, "abc", 4), "abc");
    cr_expect_str_eq(arena_text(&a, "%s-%d", "abc", 12), "abc-12");
    cr_expect_str_eq(arena_text(&a, "%s", ""), "");
    arena_free(&a);
}

Test(text, grows_over_every_size)
{
    text t = {0};
    for (int i = 0; i < 5000; i++)
        text_add(&t, "%d,", i % 10);
    cr_expect_eq(t.len, 10000);
    cr_expect_eq(strlen(t.at), 10000);
    for (int i = 0; i < 5000; i++)
        cr_assert(t.at[2 * i] == '0' + i % 10 && t.at[2 * i + 1] == ',', "at %d", i);
    text_addn(&t, "xyz", 2);
    cr_expect_str_eq(t.at + 10000, "xy");
    cr_expect_not(t.failed);
    text_free(&t);
    cr_expect_null(t.at);
}

Test(text, one_addition_may_be_larger_than_what_is_there)
{
    text t = {0};
    char s[3000];
    memset(s, 'q', sizeof s);
    text_addn(&t, s, sizeof s);
    text_add(&t, "%.*s", 2999, s);
    cr_expect_eq(t.len, 5999);
    cr_expect_eq(strlen(t.at), 5999);
    text_free(&t);
}

Test(text, adding_nothing_gives_a_valid_string)
{
    text t = {0};
    text_addn(&t, NULL, 0);
    cr_expect_str_eq(t.at, "");
    text_add(&t, "%s", "");
    cr_expect_str_eq(t.at, "");
    text_free(&t);
}

Test(text, a_failed_allocation_is_remembered)
{
    text t = {0};
    mem_fail_after(1, true);
    text_add(&t, "%d", 1);
    cr_expect(t.failed);
    cr_expect_str_eq(t.at, "");
    mem_fail_after(-1, false);
    text_add(&t, "later");
    cr_expect_str_eq(t.at, "", "nothing is added behind a gap");
    text_free(&t);

    text_add(&t, "%s", "kept");
    mem_fail_after(1, true);
    text_add(&t, "%1000d", 1);
    mem_fail_after(-1, false);
    cr_expect(t.failed);
    cr_expect_str_eq(t.at, "kept");
    text_free(&t);
}

/* ---- hashing ---- */

Test(hash, every_bit_of_the_input_and_seed_matters)
{
    unsigned char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_bits();
    for (size_t n = 0; n <= sizeof bytes; n++) {
        uint64_t h = hash_bytes(bytes, n, 5);
        cr_assert_eq(hash_bytes(bytes, n, 5), h);
        cr_assert_neq(hash_bytes(bytes, n, 6), h, "%zu bytes", n);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            uint64_t other = hash_bytes(bytes, n, 5);
            int changed = __builtin_popcountll(h ^ other);
            cr_assert(changed > 8 && changed < 56, "%zu bytes, bit %zu: %d bits changed", n, bit, changed);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
}

Test(hash, length_matters_and_alignment_does_not)
{
    unsigned char zeros[300] = {0};
    for (size_t n = 1; n < 256; n++)
        for (size_t m = 0; m < n; m++)
            cr_assert_neq(hash_bytes(zeros, n, 0), hash_bytes(zeros, m, 0), "%zu and %zu zeros", n, m);
    unsigned char moved[320];
    for (size_t i = 0; i < sizeof zeros; i++)
        zeros[i] = (unsigned char)i;
    for (size_t shift = 0; shift < 16; shift++) {
        memcpy(moved + shift, zeros, sizeof zeros);
        cr_assert_eq(hash_bytes(moved + shift, sizeof zeros, 1), hash_bytes(zeros, sizeof zeros, 1), "shift %zu", shift);
    }
}

Test(hash, small_integers_spread_over_a_table)
{
    enum { SLOTS = 4096 };
    static int used[SLOTS];
    int most = 0;
    for (uint64_t i = 0; i < 4 * SLOTS; i++) {
        int n = ++used[hash_bytes(&i, sizeof i, 0) % SLOTS];
        most = n > most ? n : most;
    }
    cr_expect_lt(most, 20, "%d of %d in one slot", most, 4 * SLOTS);
}

/* BLAKE2b-128 of n bytes 0, 1, 2, ... as other implementations give it. */
static const struct { size_t n; const char *hex; } known_digests[] = {
    {0, "cae66941d9efbd404e4d88758ea67670"}, {3, "a75c0b0d97360c1ba783496eb6a0395a"},
    {128, "a74787004ef589e31149183900d0294a"}, {129, "aaf1b0371f6d4ee49ee4fb5ddd9c49ef"},
    {256, "c2472c0ac37a8dbdb25f05ada0d82643"}, {1000, "978a3f8b45508a42fe7f0f99caf2c423"},
};

Test(hash, digests_are_blake2b)
{
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof known_digests / sizeof *known_digests; i++) {
        digest d = digest_bytes(bytes, known_digests[i].n);
        char hex[33];
        for (int j = 0; j < 16; j++)
            snprintf(hex + 2 * j, 3, "%02x", (unsigned)(d.w[j / 8] >> 8 * (j % 8) & 0xff));
        cr_expect_str_eq(hex, known_digests[i].hex, "%zu bytes: %s", known_digests[i].n, hex);
    }
}

/* ---- dtypes ---- */

Test(dtype, rows_agree_with_themselves)
{
    for (kn_dtype t = KN_BOOL; t < NDTYPES; t++) {
        const dtype_info *d = &dtype_table[t];
        cr_expect_eq(dtype_named(d->name, strlen(d->name)), t, "%s", d->name);
        cr_expect_eq(dtype_named(&d->code, 1), t, "%c", d->code);
        if (d->kind == KIND_FLOAT)
            cr_expect_eq(1 + d->exponent + d->mantissa, 8 * d->size, "%s", d->name);
        cr_expect_eq(dtype_size(d->part) * (d->kind == KIND_COMPLEX ? 2 : 1), d->size, "%s", d->name);
    }
    cr_expect_eq(dtype_table[KN_DTYPE_UNSET].size, 0);
}

Test(dtype, promotion_is_symmetric_and_safe_and_bool_is_neutral)
{
    for (kn_dtype a = KN_BOOL; a < NDTYPES; a++) {
        cr_expect_eq(dtype_promote(a, a), a);
        cr_expect_eq(dtype_promote(a, KN_BOOL), a);
        cr_expect_eq(dtype_promote(a, KN_DTYPE_UNSET), KN_DTYPE_UNSET);
        for (kn_dtype b = KN_BOOL; b < NDTYPES; b++) {
            kn_dtype r = dtype_promote(a, b);
            cr_expect_eq(r, dtype_promote(b, a), "%s, %s", dtype_table[a].name, dtype_table[b].name);
            cr_expect(dtype_can_cast(a, r, CAST_SAFE), "%s to %s", dtype_table[a].name, dtype_table[r].name);
        }
    }
}

Test(dtype, values_outside_the_enumeration_are_refused)
{
    cr_expect_eq(dtype_promote((kn_dtype)NDTYPES, KN_BOOL), KN_DTYPE_UNSET);
    cr_expect_eq(dtype_promote_weak((kn_dtype)99, SCALAR_INT), KN_DTYPE_UNSET);
    cr_expect_not(dtype_can_cast((kn_dtype)99, KN_INT8, CAST_UNSAFE));
    cr_expect_eq(dtype_named("float32x", 8), KN_DTYPE_UNSET);
    cr_expect_eq(dtype_named("float32x", 7), KN_FLOAT32, "the length counts");
    cr_expect_eq(dtype_named("", 0), KN_DTYPE_UNSET);
}

Test(dtype, a_name_is_not_read_beyond_its_length)
{
    cr_expect_eq(dtype_named("<f4", 1), KN_DTYPE_UNSET);
    cr_expect_eq(dtype_named("|f", 1), KN_DTYPE_UNSET);
    char *alone = mem_alloc(1); /* a sanitizer sees a second byte read */
    *alone = '=';
    cr_expect_eq(dtype_named(alone, 1), KN_DTYPE_UNSET);
    mem_free(alone);
}

Test(dtype, integers_fit_exactly_their_ranges)
{
    for (kn_dtype t = KN_INT8; t <= KN_UINT64; t++) {
        unsigned bits = 8 * (unsigned)dtype_size(t);
        bool sign = dtype_kind_of(t) == KIND_INT;
        uint64_t largest = UINT64_MAX >> (64 - bits) >> sign;
        cr_expect(scalar_fits((scalar){.kind = SCALAR_UINT, .v.u = largest}, t), "%s", dtype_table[t].name);
        if (largest < UINT64_MAX)
            cr_expect_not(scalar_fits((scalar){.kind = SCALAR_UINT, .v.u = largest + 1}, t), "%s", dtype_table[t].name);
        int64_t lowest = sign ? -(int64_t)largest - 1 : 0;
        cr_expect(scalar_fits((scalar){.kind = SCALAR_INT, .v.i = lowest}, t), "%s", dtype_table[t].name);
        if (lowest > INT64_MIN)
            cr_expect_not(scalar_fits((scalar){.kind = SCALAR_INT, .v.i = lowest - 1}, t), "%s", dtype_table[t].name);
    }
    cr_expect(scalar_fits((scalar){.kind = SCALAR_FLOAT, .v.f = 1e300}, KN_INT8));
    cr_expect(scalar_fits((scalar){.kind = SCALAR_INT, .v.i = INT64_MIN}, KN_FLOAT16));
    cr_expect(scalar_fits((scalar){.kind = SCALAR_INT, .v.i = 1}, KN_BOOL));
    cr_expect_not(scalar_fits((scalar){.kind = SCALAR_INT, .v.i = 2}, KN_BOOL));
    cr_expect_not(scalar_fits((scalar){.kind = SCALAR_INT, .v.i = -1}, KN_BOOL));
}

/* ---- 16-bit floats ---- */

struct small_float {
    const char *name;
    int mantissa, bias;
    float (*widen)(uint16_t);
    uint16_t (*from_float)(float);
    uint16_t (*from_double)(double);
};
static const struct small_float small_floats[2] = {
    {"float16", 10, 15, half_to_float, float_to_half, double_to_half},
    {"bfloat16", 7, 127, bfloat_to_float, float_to_bfloat, double_to_bfloat},
};

/* The value of a pattern by the definition of the format. */
static double defined_value(const struct small_float *f, uint16_t h)
{
    int exponent = (h & 0x7fff) >> f->mantissa, fraction = h & ((1 << f->mantissa) - 1), top = 2 * f->bias + 1;
    double magnitude = exponent == top ? (fraction ? NAN : INFINITY)
                     : exponent == 0   ? ldexp(fraction, 1 - f->bias - f->mantissa)
                                       : ldexp(fraction + (1 << f->mantissa), exponent - f->bias - f->mantissa);
    return h & 0x8000 ? -magnitude : magnitude;
}

/* x rounded to nearest even by the definition: scaled so that the last kept bit is 1. */
static double rounded(const struct small_float *f, double x)
{
    if (x == 0 || !isfinite(x))
        return x;
    int exponent = ilogb(x) < 1 - f->bias ? 1 - f->bias : ilogb(x);
    double r = ldexp(nearbyint(ldexp(x, f->mantissa - exponent)), exponent - f->mantissa);
    return fabs(r) >= ldexp(1, f->bias + 1) ? copysign(INFINITY, x) : r;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

Test(small_floats, all_patterns_have_their_value_and_come_back)
{
    for (int k = 0; k < 2; k++) {
        const struct small_float *f = &small_floats[k];
        for (uint32_t i = 0; i < 65536; i++) {
            uint16_t h = (uint16_t)i;
            float wide = f->widen(h);
            cr_assert(same(wide, defined_value(f, h)), "%s %04x: %a, not %a", f->name, h, wide, defined_value(f, h));
            uint16_t quiet = isnan(wide) ? (uint16_t)(h | 1 << (f->mantissa - 1)) : h;
            cr_assert_eq(f->from_float(wide), quiet, "%s %04x", f->name, h);
            cr_assert_eq(f->from_double(wide), quiet, "%s %04x", f->name, h);
        }
    }
}

static void check_rounding(const struct small_float *f, double x)
{
    double got = f->widen(f->from_double(x)), want = rounded(f, x);
    cr_assert(same(got, want), "%s of %a: %a, not %a", f->name, x, got, want);
    float narrower = (float)x;
    got = f->widen(f->from_float(narrower));
    want = rounded(f, narrower);
    cr_assert(same(got, want), "%s of %a: %a, not %a", f->name, narrower, got, want);
}

Test(small_floats, midpoints_and_their_neighbours_round_to_nearest_even)
{
    for (int k = 0; k < 2; k++) {
        const struct small_float *f = &small_floats[k];
        for (uint32_t i = 0; i < 65535; i++) {
            double a = defined_value(f, (uint16_t)i), b = defined_value(f, (uint16_t)(i + 1));
            if (!isfinite(a))
                continue;
            if (isinf(b)) /* halfway between the largest number and what would follow it */
                b = copysign(ldexp(1, f->bias + 1), b);
            double middle = (a + b) / 2;
            check_rounding(f, middle);
            check_rounding(f, nextafter(middle, INFINITY));
            check_rounding(f, nextafter(middle, -INFINITY));
            check_rounding(f, nextafterf((float)middle, INFINITY));
            check_rounding(f, nextafterf((float)middle, -INFINITY));
        }
    }
}

Test(small_floats, random_numbers_round_to_nearest_even)
{
    for (int k = 0; k < 2; k++) {
        const struct small_float *f = &small_floats[k];
        for (int i = 0; i < 300000; i++) {
            uint64_t bits = random_bits();
            check_rounding(f, bits_double(bits)); /* mostly far out of range */
            uint64_t exponent = (uint64_t)(1023 - f->bias - f->mantissa - 3) + bits % (uint64_t)(2 * f->bias + f->mantissa + 6);
            check_rounding(f, bits_double((bits & UINT64_C(0x800fffffffffffff)) | exponent << 52));
        }
    }
}

Test(small_floats, nans_stay_quiet_nans)
{
    const uint64_t patterns[] = {UINT64_C(0x7ff0000000000001), UINT64_C(0x7ff8000000000000), UINT64_C(0xfff0000000000001), UINT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        uint16_t sign = (uint16_t)(patterns[i] >> 48 & 0x8000);
        uint16_t h = double_to_half(bits_double(patterns[i])), b = double_to_bfloat(bits_double(patterns[i]));
        cr_expect_eq(h & 0xfe00, 0x7e00 | sign, "%016" PRIx64 ": %04x", patterns[i], h);
        cr_expect_eq(b & 0xffc0, 0x7fc0 | sign, "%016" PRIx64 ": %04x", patterns[i], b);
    }
}

/* ---- casts ---- */

static uint64_t cast_double(kn_dtype to, double d)
{
    unsigned char out[16] = {0};
    element_cast(to, out, KN_FLOAT64, &d);
    uint64_t bits;
    memcpy(&bits, out, sizeof bits);
    return bits;
}

Test(cast, floats_truncate_and_wrap)
{
    cr_expect_eq(cast_double(KN_INT32, -2.9), (uint32_t)-2);
    cr_expect_eq(cast_double(KN_INT8, 300.7), 300 - 256);
    cr_expect_eq(cast_double(KN_UINT8, -1.0), 255);
    cr_expect_eq(cast_double(KN_UINT32, 5e9), 705032704);
    cr_expect_eq(cast_double(KN_INT32, 5e9), 705032704);
    cr_expect_eq(cast_double(KN_UINT64, -1.0), UINT64_MAX);
    cr_expect_eq(cast_double(KN_UINT64, 0x1p63), UINT64_C(1) << 63);
    cr_expect_eq(cast_double(KN_UINT64, 0x1.fffffffffffffp63), UINT64_C(0xfffffffffffff800));
}

Test(cast, nan_and_what_is_too_large_give_the_lowest_int64)
{
    const double beyond[] = {NAN, INFINITY, -INFINITY, 0x1p63, -0x1.0000000000001p63, 1e300, -1e300};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        cr_expect_eq(cast_double(KN_INT64, beyond[i]), UINT64_C(1) << 63, "%g", beyond[i]);
        for (kn_dtype t = KN_INT8; t <= KN_UINT32; t++)
            if (t != KN_INT64)
                cr_expect_eq(cast_double(t, beyond[i]), 0, "%g to %s", beyond[i], dtype_table[t].name);
    }
    cr_expect_eq(cast_double(KN_UINT64, 0x1p64), UINT64_C(1) << 63);
    cr_expect_eq(cast_double(KN_UINT64, NAN), UINT64_C(1) << 63);
}

Test(cast, bool_is_not_zero)
{
    cr_expect_eq(cast_double(KN_BOOL, NAN), 1);
    cr_expect_eq(cast_double(KN_BOOL, -0.0), 0);
    cr_expect_eq(cast_double(KN_BOOL, 5e-324), 1);
    uint8_t two = 2, out;
    element_cast(KN_BOOL, &out, KN_BOOL, &two);
    cr_expect_eq(out, 1, "any byte but 0 reads as true");
    double imaginary[2] = {0, 1};
    element_cast(KN_BOOL, &out, KN_COMPLEX128, imaginary);
    cr_expect_eq(out, 1);
}

Test(cast, large_integers_round_once)
{
    /* Just above a midpoint of bfloat16 by a bit that a double cannot hold. */
    const int64_t above = (INT64_C(1) << 62) + (INT64_C(1) << 54) + 1;
    uint16_t h;
    element_cast(KN_BFLOAT16, &h, KN_INT64, &above);
    cr_expect_eq(bfloat_to_float(h), 0x1.02p62f);
    const int64_t below = -above;
    element_cast(KN_BFLOAT16, &h, KN_INT64, &below);
    cr_expect_eq(bfloat_to_float(h), -0x1.02p62f);
    float f;
    const int64_t odd = (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1;
    element_cast(KN_FLOAT32, &f, KN_INT64, &odd);
    cr_expect_eq(f, 0x1.000002p62f);
}

Test(cast, every_dtype_loads_what_was_stored)
{
    for (kn_dtype t = KN_BOOL; t < NDTYPES; t++) {
        _Alignas(16) unsigned char buffer[17], *unaligned = buffer + 1;
        element_store(t, unaligned, (scalar){.kind = SCALAR_INT, .v.i = 1});
        scalar s = element_load(t, unaligned);
        bool one = s.kind == SCALAR_BOOL      ? s.v.b
                 : s.kind == SCALAR_FLOAT     ? s.v.f == 1
                 : s.kind == SCALAR_COMPLEX   ? s.v.c.re == 1 && s.v.c.im == 0
                                              : s.v.u == 1;
        cr_expect(one, "%s", dtype_table[t].name);
    }
}
