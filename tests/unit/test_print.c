/* Printing: what the interface promises. What NumPy and Python print is compared in tests/oracle/test_print.py. */
#include "frontend/print/decimal.h"
#include "frontend/print/print.h"

#include <criterion/criterion.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(text *t, const char *want)
{
    cr_expect(!t->failed && strcmp(t->at, want) == 0, "printed %s, not %s", t->at, want);
    text_free(t);
}

static host_array vector(kn_dtype t, const void *data, int64_t *n, int64_t *stride)
{
    *stride = (int64_t)dtype_size(t);
    return (host_array){.dtype = t, .ndim = 1, .shape = n, .strides = stride, .data = data};
}

/* ---- arrays ---- */

Test(print, what_was_there_stays)
{
    float data[] = {1, 2.5f};
    int64_t n = 2, stride;
    host_array a = vector(KN_FLOAT32, data, &n, &stride);
    text t = {0};
    text_add(&t, "x = ");
    print_array(&a, NULL, PRINT_REPR, &t);
    expect_text(&t, "x = array([1. , 2.5], dtype=float32)");
}

Test(print, elements_need_no_alignment)
{
    char bytes[1 + 3 * 8];
    double values[] = {0.5, -1, 2};
    memcpy(bytes + 1, values, sizeof values);
    int64_t n = 3, stride;
    host_array a = vector(KN_FLOAT64, bytes + 1, &n, &stride);
    text t = {0};
    print_array(&a, NULL, PRINT_STR, &t);
    expect_text(&t, "[ 0.5 -1.   2. ]");
}

Test(print, negative_and_zero_strides)
{
    int32_t data[] = {1, 2, 3};
    int64_t shape[] = {2, 3}, strides[] = {0, -4};
    host_array a = {.dtype = KN_INT32, .ndim = 2, .shape = shape, .strides = strides, .data = data + 2};
    text t = {0};
    print_array(&a, NULL, PRINT_STR, &t);
    expect_text(&t, "[[3 2 1]\n [3 2 1]]");
}

Test(print, sixty_four_axes)
{
    int64_t shape[NDIM_MAX], strides[NDIM_MAX];
    for (int i = 0; i < NDIM_MAX; i++)
        shape[i] = strides[i] = 1;
    int8_t one = 1;
    host_array a = {.dtype = KN_INT8, .ndim = NDIM_MAX, .shape = shape, .strides = strides, .data = &one};
    text t = {0};
    print_array(&a, NULL, PRINT_STR, &t);
    cr_expect_eq(t.len, (size_t)(2 * NDIM_MAX + 1), "%zu characters", t.len);
    text_free(&t);
}

Test(print, a_huge_broadcast_array_is_looked_at_in_its_corners)
{
    double x = 0.1;
    int64_t shape[] = {INT64_C(1) << 30, INT64_C(1) << 30}, strides[] = {0, 0};
    host_array a = {.dtype = KN_FLOAT64, .ndim = 2, .shape = shape, .strides = strides, .data = &x};
    text t = {0};
    print_array(&a, NULL, PRINT_STR, &t);
    expect_text(&t, "[[0.1 0.1 0.1 ... 0.1 0.1 0.1]\n [0.1 0.1 0.1 ... 0.1 0.1 0.1]\n [0.1 0.1 0.1 ... 0.1 0.1 0.1]\n ...\n"
                    " [0.1 0.1 0.1 ... 0.1 0.1 0.1]\n [0.1 0.1 0.1 ... 0.1 0.1 0.1]\n [0.1 0.1 0.1 ... 0.1 0.1 0.1]]");
}

Test(print, meaningless_options_are_refused)
{
    const struct { print_options o; const char *names; } cases[] = {
        {{.precision = -1, .sign = '-', .nanstr = "", .infstr = ""}, "precision"},
        {{.precision = 1 << 20, .sign = '-', .nanstr = "", .infstr = ""}, "precision"},
        {{.sign = 'x', .nanstr = "", .infstr = ""}, "sign"},
        {{.sign = '-', .floatmode = (float_mode)9, .nanstr = "", .infstr = ""}, "floatmode"},
        {{.sign = '-', .edgeitems = -1, .nanstr = "", .infstr = ""}, "edgeitems"},
        {{.sign = '-'}, "nanstr"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message m = {0};
        cr_expect_eq(print_options_check(&cases[i].o, &m), KN_VALUE_ERROR);
        cr_expect(strstr(m.text, cases[i].names) != NULL, "%s", m.text);
    }
    cr_expect_eq(print_options_check(&print_defaults, NULL), KN_OK);
}

Test(print, every_failing_allocation_is_told)
{
    double data[40];
    for (int i = 0; i < 40; i++)
        data[i] = i % 7 ? i / 3.0 : NAN;
    int64_t shape[] = {5, 4}, strides[] = {64, 16};
    host_array a = {.dtype = KN_COMPLEX128, .ndim = 2, .shape = shape, .strides = strides, .data = data};
    int failures = 0;
    for (int64_t n = 1;; n++) {
        text t = {0};
        mem_fail_after(n, n % 2 == 0);
        print_array(&a, NULL, PRINT_REPR, &t);
        mem_fail_after(-1, false);
        bool failed = t.failed;
        text_free(&t);
        if (!failed)
            break;
        failures++;
    }
    cr_expect(failures >= 4, "%d allocations", failures);
}

/* ---- numbers ---- */

Test(numbers, do_not_depend_on_the_locale)
{
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas && !setlocale(LC_ALL, commas[i]); i++)
        ;
    text t = {0};
    double value = 0;
    const char *s = "1.5";
    print_float(0.25, &t);
    expect_text(&t, "0.25");
    cr_expect(decimal_read(s, s + 3, &value) == s + 3 && value == 1.5, "read %g", value);
    setlocale(LC_ALL, "C");
}

Test(numbers, reading_stops_at_the_end_it_is_given)
{
    double value = 0;
    const char *s = "12345e10";
    cr_expect(decimal_read(s, s + 2, &value) == s + 2 && value == 12, "read %g", value);
    cr_expect(decimal_read(s, s + 6, &value) == s + 5 && value == 12345, "read %g", value);
    cr_expect_null(decimal_read(s, s, &value));
}

/* A small generator, so that failures repeat. */
static uint64_t random_bits(void)
{
    static uint64_t state = 1;
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

Test(numbers, every_double_reads_back_as_itself)
{
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_bits() >> 1;
        double value, back = -1;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        text t = {0};
        print_float(value, &t);
        const char *end = decimal_read(t.at, t.at + t.len, &back);
        cr_assert(end == t.at + t.len && memcmp(&value, &back, sizeof value) == 0, "%a printed as %s, read as %a", value, t.at, back);
        text_free(&t);
    }
}

Test(numbers, long_texts_agree_with_the_c_library)
{
    for (int i = 0; i < 3000; i++) {
        char s[900];
        int n = 1 + (int)(random_bits() % 850), point = (int)(random_bits() % (uint64_t)(n + 1));
        for (int k = 0; k < n; k++)
            s[k] = k == point ? '.' : (char)('0' + random_bits() % 10);
        snprintf(s + n, sizeof s - (size_t)n, "0e%d", (int)(random_bits() % 700) - 350 - point);
        double value = -1;
        const char *end = decimal_read(s, s + strlen(s), &value);
        double want = strtod(s, NULL);
        cr_assert(end && *end == 0 && memcmp(&value, &want, sizeof value) == 0, "%s read as %a, not %a", s, value, want);
    }
}
