/* Handles as a program holds them: owners, scopes, errors, views on shared memory, updates in place. What operations
 * compute is compared with NumPy in tests/oracle. */
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool holds(const char *sentence, const char *part) { return sentence && strstr(sentence, part) != NULL; }

/* a has exactly these values. */
static void expect_values(kn_array a, size_t n, const double *want, const char *what)
{
    double have[64] = { 0 };
    kn_status status = kn_read(a, have, n);
    cr_expect_eq(status, KN_OK, "%s: %s", what, kn_error());
    for (size_t i = 0; i < n && !status; i++)
        cr_expect(have[i] == want[i] || (isnan(have[i]) && isnan(want[i])), "%s: element %zu is %g, not %g", what, i, have[i], want[i]);
}
#define EXPECT(a, ...) expect_values(a, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), (const double[]){ __VA_ARGS__ }, #a)

/* ---- owners ---- */

Test(handles, numbers_are_read_as_they_are)
{
    KN_SCOPE(s);
    cr_expect_eq(kn_f64(kn(2.5)), 2.5);
    cr_expect_eq(kn_i64(kn(-7)), -7);
    cr_expect_eq(kn_i64(kn((size_t)9)), 9);
    cr_expect_eq(kn_i64(kn(true)), 1);
    cr_expect(kn_true(kn(3)));
    cr_expect_not(kn_true(kn(0.0)));
    cr_expect_eq(kn_ndim(kn(1)), 0);
    cr_expect_eq(kn_dtype_of(kn(1)), KN_INT64);
    cr_expect_eq(kn_dtype_of(kn(1.0)), KN_FLOAT64);
    cr_expect_eq(kn_dtype_of(kn(UINT64_MAX)), KN_UINT64);
    cr_expect_eq(kn_scope_status(s), KN_OK);
}

Test(handles, a_closed_scope_takes_its_arrays_along)
{
    KN_SCOPE(s);
    kn_array a;
    int64_t before = handles_live();
    {
        KN_SCOPE(inner);
        a = kn(1.0);
        cr_expect_eq(kn_check(a), KN_OK);
        cr_expect_eq(handles_live(), before + 1);
    }
    cr_expect_eq(handles_live(), before);
    cr_expect_eq(kn_check(a), KN_SCOPE_ERROR);
    cr_expect(holds(kn_message(a), "test_frontend.c"), "%s", kn_message(a));
    cr_expect(isnan(kn_f64(a)));
    kn_array b = kn_add(a, 1);
    cr_expect_eq(kn_check(b), KN_SCOPE_ERROR);
    cr_expect(holds(kn_message(b), "gone"), "%s", kn_message(b));
}

Test(handles, a_reused_slot_does_not_bring_an_old_handle_back)
{
    KN_SCOPE(s);
    kn_array old = kn(1.0);
    kn_release(old);
    kn_array fresh = kn(2.0);
    cr_expect_eq(kn_check(old), KN_SCOPE_ERROR);
    cr_expect_eq(kn_f64(fresh), 2.0);
    kn_release(old);
    cr_expect_eq(kn_f64(fresh), 2.0);
}

Test(handles, foreign_values_are_no_handles)
{
    KN_SCOPE(s);
    const uint64_t ids[] = { 1, 0xffffffff, 0x100000000, 0xffffffffffffffff, 0x7fffffff00000001, 0x1f0000001, 0x110000001, 0x110000005 };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        kn_array a = { ids[i] };
        if (slot_of(a)) continue;             /* one of the permanent error arrays */
        cr_expect_eq(kn_check(a), KN_SCOPE_ERROR, "%zu", i);
        cr_expect(isnan(kn_f64(a)));
        kn_keep(a);
        kn_release(a);
        cr_expect_eq(kn_return(s, a).id, a.id);
    }
    cr_expect_eq(kn_check(kn_sqrt(KN_NONE)), KN_VALUE_ERROR);
    cr_expect(holds(kn_message(KN_NONE), "KN_NONE"));
}

Test(handles, without_a_scope_there_are_only_errors)
{
    int64_t before = handles_live();
    kn_array a = kn(1.0);
    cr_expect_eq(kn_check(a), KN_SCOPE_ERROR);
    cr_expect(holds(kn_message(a), "KN_SCOPE"), "%s", kn_message(a));
    cr_expect(isnan(kn_f64(a)));
    cr_expect_eq(kn_check(kn_add(a, a)), KN_SCOPE_ERROR);
    kn_release(a);
    kn_release(a);
    cr_expect_eq(kn_check(a), KN_SCOPE_ERROR, "the permanent error array stays");
    cr_expect_eq(handles_live(), before);
}

Test(handles, kept_arrays_outlive_scopes_until_released)
{
    int64_t before = handles_live();
    kn_array a;
    {
        KN_SCOPE(s);
        a = kn_keep(kn_add(kn_ones(KN_SHAPE(3)), 1));
    }
    cr_expect_eq(kn_check(a), KN_OK);
    {
        KN_SCOPE(s);
        EXPECT(a, 2, 2, 2);
    }
    kn_release(a);
    cr_expect_eq(kn_check(a), KN_SCOPE_ERROR);
    cr_expect_eq(handles_live(), before);
}

Test(handles, a_returned_array_belongs_to_the_scope_around)
{
    int64_t before = handles_live();
    {
        KN_SCOPE(s);
        kn_array a, b;
        {
            KN_SCOPE(inner);
            a = kn_return(inner, kn_ones(KN_SHAPE(2)));
            b = kn_return(s, a);              /* not of s: as it is */
            cr_expect_eq(b.id, a.id);
            kn_array thrown = kn_ones(KN_SHAPE(2));
            cr_expect_eq(kn_check(thrown), KN_OK);
        }
        EXPECT(a, 1, 1);
        cr_expect_eq(handles_live(), before + 1);
    }
    cr_expect_eq(handles_live(), before);
}

Test(handles, returning_from_the_outermost_scope_is_told)
{
    KN_SCOPE(s);
    kn_error_clear();
    kn_array a = kn_return(s, kn(1.0));
    cr_expect_eq(kn_error_status(), KN_SCOPE_ERROR);
    cr_expect(holds(kn_error(), "kn_return"));
    cr_expect_eq(kn_f64(a), 1.0);
}

Test(handles, let_gives_a_variable_a_new_value_where_it_lives)
{
    int64_t before = handles_live();
    {
        KN_SCOPE(s);
        kn_array x = kn_zeros(KN_SHAPE(2)), first = kn_add(x, 0);
        for (int i = 0; i < 50; i++) {
            KN_SCOPE(step);
            kn_array r = kn_let(x, kn_add(x, 1));
            cr_expect_eq(r.id, x.id);
        }
        EXPECT(x, 50, 50);
        EXPECT(first, 0, 0);
        kn_let(x, kn(3));
        cr_expect_eq(kn_i64(x), 3);
        kn_let(x, kn_index(first, "1:"));
        cr_expect_eq(kn_len(x, 0), 1);
        kn_let(x, x);
        cr_expect_eq(kn_len(x, 0), 1);
    }
    cr_expect_eq(handles_live(), before);
}

Test(handles, let_of_a_missing_value_makes_the_variable_an_error)
{
    KN_SCOPE(s);
    kn_array x = kn_ones(KN_SHAPE(2));
    kn_let(x, KN_NONE);
    cr_expect_eq(kn_check(x), KN_SCOPE_ERROR);
    kn_let(x, kn_ones(KN_SHAPE(1)));
    EXPECT(x, 1);
    cr_expect_eq(kn_check(kn_let(KN_NONE, x)), KN_SCOPE_ERROR);
}

Test(handles, a_scope_that_stays_open_forgets_what_was_released)
{
    KN_SCOPE(s);
    int64_t before = handles_live();
    for (int i = 0; i < 100000; i++) kn_release(kn(i));
    cr_expect_eq(handles_live(), before);
    kn_array kept[300];
    for (int i = 0; i < 300; i++) kept[i] = kn(i);
    for (int i = 0; i < 300; i++) cr_expect_eq(kn_i64(kept[i]), i);
}

Test(handles, closing_a_scope_closes_those_inside_it)
{
    int64_t before = handles_live();
    kn_scope outer = kn_scope_open(), inner = kn_scope_open();
    kn_array a = kn(1);
    cr_expect_eq(kn_i64(a), 1);
    kn_scope_close(outer);
    cr_expect_eq(kn_check(a), KN_SCOPE_ERROR);
    cr_expect_eq(kn_scope_status(inner), KN_SCOPE_ERROR);
    kn_scope_close(inner);
    kn_scope_close((kn_scope){ 0 });
    cr_expect_eq(handles_live(), before);
}

/* ---- errors ---- */

static struct { int calls; kn_status status; char text[512]; } heard;
static void hear(kn_status status, const char *sentence, void *arg)
{
    cr_expect_eq(arg, &heard);
    heard.calls++;
    heard.status = status;
    snprintf(heard.text, sizeof heard.text, "%s", sentence);
}

static void hear_and_fail(kn_status status, const char *sentence, void *arg)
{
    hear(status, sentence, arg);
    kn_array bad = kn_sqrt(KN_NONE);          /* must not call back for ever */
    cr_expect_neq(kn_check(bad), KN_OK);
}

Test(errors, the_first_sentence_is_carried_and_told_once)
{
    KN_SCOPE(s);
    kn_on_error(hear, &heard);
    kn_array a = kn_ones(KN_SHAPE(3)), b = kn_ones(KN_SHAPE(4));
    kn_array c = kn_add(a, b);
    cr_expect_eq(heard.calls, 1);
    cr_expect_eq(heard.status, KN_VALUE_ERROR);
    cr_expect_str_eq(heard.text, kn_message(c));
    cr_expect(holds(kn_message(c), "(3,)") && holds(kn_message(c), "(4,)"), "%s", kn_message(c));
    kn_array d = kn_sum(kn_mul(kn_exp(c), 2));
    cr_expect_eq(kn_check(d), KN_VALUE_ERROR);
    cr_expect_str_eq(kn_message(d), kn_message(c));
    cr_expect(isnan(kn_f64(d)));
    cr_expect_eq(kn_i64(d), 0);
    cr_expect_not(kn_true(d));
    cr_expect_eq(kn_ndim(d), 0);
    double to[3];
    cr_expect_eq(kn_read(d, to, 1), KN_VALUE_ERROR);
    cr_expect_eq(kn_eval(d), KN_VALUE_ERROR);
    cr_expect_eq(heard.calls, 1);
    cr_expect_str_eq(kn_error(), kn_message(c));
    cr_expect_eq(kn_scope_status(s), KN_VALUE_ERROR);
    kn_on_error(NULL, NULL);
}

Test(errors, a_callback_that_fails_is_not_called_again)
{
    KN_SCOPE(s);
    kn_on_error(hear_and_fail, &heard);
    kn_array bad = kn_sqrt(KN_NONE);
    cr_expect_eq(kn_check(bad), KN_VALUE_ERROR);
    cr_expect_eq(heard.calls, 1);
    kn_on_error(NULL, NULL);
}

Test(errors, a_scope_keeps_the_first_error_made_in_it)
{
    KN_SCOPE(s);
    {
        KN_SCOPE(inner);
        kn_array a = kn_add(kn_ones(KN_SHAPE(3)), kn_ones(KN_SHAPE(4)));
        kn_array b = kn_index(kn_ones(KN_SHAPE(3)), "7");
        cr_expect_neq(kn_check(a), KN_OK);
        cr_expect_eq(kn_check(b), KN_INDEX_ERROR);
        cr_expect_eq(kn_scope_status(inner), KN_VALUE_ERROR);
    }
    {
        KN_SCOPE(clean);
        cr_expect_eq(kn_scope_status(clean), KN_OK);
    }
    cr_expect_eq(kn_scope_status(s), KN_VALUE_ERROR);
}

Test(errors, a_failed_update_makes_its_target_an_error)
{
    KN_SCOPE(s);
    kn_array a = kn_ones(KN_SHAPE(3));
    kn_iadd(a, kn_ones(KN_SHAPE(4)));
    cr_expect_eq(kn_check(a), KN_VALUE_ERROR);
    a = kn_ones(KN_SHAPE(3), .dtype = KN_INT32);
    kn_iadd(a, 1.5);
    cr_expect_eq(kn_check(a), KN_TYPE_ERROR);
    cr_expect(holds(kn_message(a), "same_kind") && holds(kn_message(a), "float64") && holds(kn_message(a), "int32"), "%s", kn_message(a));
    a = kn_ones(KN_SHAPE(3));
    kn_iadd(a, kn_ones(KN_SHAPE(2, 3)));
    cr_expect_eq(kn_check(a), KN_VALUE_ERROR, "the result does not fit into the target");
    a = kn_ones(KN_SHAPE(3));
    kn_set(a, "0", kn_ones(KN_SHAPE(2)));
    cr_expect_eq(kn_check(a), KN_VALUE_ERROR);
    a = kn_ones(KN_SHAPE(3));
    kn_set(a, "5", 1);
    cr_expect_eq(kn_check(a), KN_INDEX_ERROR);
    a = kn_ones(KN_SHAPE(3), .dtype = KN_INT8);
    kn_set(a, "0", 300);
    cr_expect_eq(kn_check(a), KN_OVERFLOW_ERROR, "%s", kn_message(a));
    cr_expect_eq(kn_check(kn_iadd(kn(1), 2)), KN_TYPE_ERROR, "a number is not changed in place");
}

Test(errors, an_error_operand_of_an_update_is_carried)
{
    KN_SCOPE(s);
    kn_array bad = kn_index(kn_ones(KN_SHAPE(3)), "7"), a = kn_ones(KN_SHAPE(3)), b = kn_ones(KN_SHAPE(3));
    kn_on_error(hear, &heard);
    kn_imul(a, bad);
    kn_set(b, "0", bad);
    cr_expect_str_eq(kn_message(a), kn_message(bad));
    cr_expect_str_eq(kn_message(b), kn_message(bad));
    cr_expect_eq(heard.calls, 0);
    kn_on_error(NULL, NULL);
}

Test(errors, only_one_element_reads_as_a_number)
{
    KN_SCOPE(s);
    cr_expect(isnan(kn_f64(kn_ones(KN_SHAPE(2)))));
    cr_expect_eq(kn_error_status(), KN_TYPE_ERROR);
    cr_expect_eq(kn_f64(kn_ones(KN_SHAPE(1, 1))), 1.0);
    cr_expect_not(kn_true(kn_ones(KN_SHAPE(2))));
    cr_expect(holds(kn_error(), "ambiguous"));
    cr_expect_eq(kn_i64(kn(NAN)), 0);
    cr_expect_eq(kn_error_status(), KN_VALUE_ERROR);
    cr_expect_eq(kn_i64(kn(1e300)), 0);
    cr_expect_eq(kn_error_status(), KN_OVERFLOW_ERROR);
    float two[2];
    cr_expect_eq(kn_read(kn_ones(KN_SHAPE(3)), two, 2), KN_VALUE_ERROR);
    cr_expect(holds(kn_error(), "3 elements") && holds(kn_error(), "2"), "%s", kn_error());
}

Test(errors, an_index_out_of_range_surfaces_when_it_is_read)
{
    KN_SCOPE(s);
    const int64_t positions[] = { 0, 9 };
    kn_on_error(hear, &heard);
    kn_array a = kn_arange(0, 5, 1), i = kn_from(positions, 2), picked = kn_index(a, "i", i);
    if (kn_check(picked) == KN_OK) {          /* the position is data: known at evaluation only */
        int64_t to[2];
        cr_expect_eq(kn_read(picked, to, 2), KN_INDEX_ERROR, "%s", kn_error());
    }
    cr_expect_eq(heard.calls, 1);
    cr_expect_eq(kn_check(picked), KN_INDEX_ERROR);
    cr_expect(holds(kn_message(picked), "out of"), "%s", kn_message(picked));
    kn_array later = kn_add(picked, 1);
    cr_expect_eq(kn_check(later), KN_INDEX_ERROR);
    cr_expect_eq(heard.calls, 1);
    kn_on_error(NULL, NULL);
}

/* ---- views ---- */

Test(views, what_is_written_through_a_window_shows_in_the_base)
{
    KN_SCOPE(s);
    kn_array a = kn_zeros(KN_SHAPE(3, 4)), row = kn_index(a, "1"), column = kn_index(a, ":, 2"), corner = kn_index(a, "::-2, ::3");
    kn_set(row, "...", kn_arange(0, 4, 1));
    EXPECT(a, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0);
    EXPECT(column, 0, 2, 0);
    kn_iadd(column, 10);
    EXPECT(row, 0, 1, 12, 3);
    kn_set(corner, "...", 7);
    EXPECT(a, 7, 0, 10, 7, 0, 1, 12, 3, 7, 0, 10, 7);
    kn_imul(a, 2);
    EXPECT(corner, 14, 14, 14, 14);
}

Test(views, what_is_written_to_the_base_shows_in_windows)
{
    KN_SCOPE(s);
    kn_array a = kn_arange(0, 6, 1), tail = kn_index(a, "3:"), back = kn_index(tail, "::-1");
    kn_set(a, "4", 40);
    EXPECT(tail, 3, 40, 5);
    EXPECT(back, 5, 40, 3);
    kn_set(back, "0", 50);
    EXPECT(a, 0, 1, 2, 3, 40, 50);
}

Test(views, values_recorded_before_a_write_keep_what_they_read)
{
    KN_SCOPE(s);
    kn_array a = kn_arange(0, 4, 1), doubled = kn_mul(a, 2), part = kn_add(kn_index(a, "1:3"), 0);
    kn_set(a, "...", 9);
    EXPECT(doubled, 0, 2, 4, 6);
    EXPECT(part, 1, 2);
    EXPECT(a, 9, 9, 9, 9);
}

Test(views, updates_that_overlap_read_before_they_write)
{
    KN_SCOPE(s);
    kn_array a = kn_arange(0, 6, 1);
    kn_iadd(kn_index(a, "1:"), kn_index(a, ":-1"));
    EXPECT(a, 0, 1, 3, 5, 7, 9);
    kn_set(a, "::-1", a);
    EXPECT(a, 9, 7, 5, 3, 1, 0);
    kn_array x = kn_reshape(kn_arange(0, 9, 1), KN_SHAPE(3, 3));
    kn_iadd(x, kn_transpose(x));
    EXPECT(x, 0, 4, 8, 4, 8, 12, 8, 12, 16);
}

Test(views, a_broadcast_is_read_only)
{
    KN_SCOPE(s);
    kn_array b = kn_broadcast_to(kn_ones(KN_SHAPE(1)), KN_SHAPE(4)), part = kn_index(b, "1:");
    kn_iadd(b, 1);
    cr_expect_eq(kn_check(b), KN_VALUE_ERROR);
    cr_expect(holds(kn_message(b), "read-only"), "%s", kn_message(b));
    kn_set(part, "0", 1);
    cr_expect_eq(kn_check(part), KN_VALUE_ERROR);
}

Test(views, reshape_shares_memory_where_strides_allow)
{
    KN_SCOPE(s);
    kn_array a = kn_arange(0, 6, 1), m = kn_reshape(a, KN_SHAPE(2, 3)), t = kn_transpose(m), flat = kn_reshape(t, KN_SHAPE(6));
    kn_set(m, "1, 2", 50);
    EXPECT(a, 0, 1, 2, 3, 4, 50);
    EXPECT(flat, 0, 3, 1, 4, 2, 5);           /* a copy, made before the write */
    kn_set(t, "0", -1);
    EXPECT(a, -1, 1, 2, -1, 4, 50);
    kn_set(kn_reshape(a, KN_SHAPE(3, 2)), "...", 8);
    EXPECT(m, 8, 8, 8, 8, 8, 8);
}

Test(views, real_and_imaginary_parts_are_windows)
{
    KN_SCOPE(s);
    kn_array z = kn_zeros(KN_SHAPE(2), .dtype = KN_COMPLEX128);
    kn_set(kn_real(z), "...", 3);
    kn_set(kn_imag(z), "1", 4);
    EXPECT(kn_abs(z), 3, 5);
    cr_expect_eq(kn_dtype_of(kn_imag(z)), KN_FLOAT64);
}

Test(views, one_element_is_stored_and_read_at_once)
{
    KN_SCOPE(s);
    kn_array a = kn_zeros(KN_SHAPE(2, 3));
    cr_assert_eq(kn_eval(a), KN_OK);
    runtime_counts before, after;
    runtime_count(&before);
    for (int i = 0; i < 6; i++) kn_set(a, "i//3, i%3", i * i, i);
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += kn_f64(kn_index(a, "i//3, i%3", i));
    runtime_count(&after);
    cr_expect_eq(sum, 55.0);
    cr_expect_eq(before.launches, after.launches, "no kernel ran");
    kn_array later = kn_add(a, 1);
    kn_set(a, "0, 0", 100);
    EXPECT(later, 1, 2, 5, 10, 17, 26);       /* recorded before the write */
}

/* ---- updates ---- */

Test(updates, keep_the_target_dtype)
{
    KN_SCOPE(s);
    kn_array f = kn_ones(KN_SHAPE(2), .dtype = KN_FLOAT32), i = kn_full(KN_SHAPE(2), 7, .dtype = KN_INT8);
    kn_iadd(f, kn_ones(KN_SHAPE(2)));
    cr_expect_eq(kn_dtype_of(f), KN_FLOAT32);
    EXPECT(f, 2, 2);
    kn_ifloordiv(i, 2);
    kn_ilshift(i, 1);
    kn_ixor(i, 1);
    cr_expect_eq(kn_dtype_of(i), KN_INT8);
    EXPECT(i, 7, 7);
    kn_isub(f, 1);
    kn_idiv(f, 4);
    kn_ipow(f, 2);
    EXPECT(f, 1.0 / 16, 1.0 / 16);
    kn_assign(f, kn_arange(0, 2, 1));
    EXPECT(f, 0, 1);
    cr_expect_eq(kn_dtype_of(f), KN_FLOAT32);
    kn_array t = kn_full(KN_SHAPE(2), true);
    kn_iand(t, false);
    kn_ior(t, true);
    EXPECT(t, 1, 1);
    kn_imod(i, 4);
    kn_irshift(i, 1);
    EXPECT(i, 1, 1);
}

Test(updates, broadcast_the_value)
{
    KN_SCOPE(s);
    kn_array a = kn_zeros(KN_SHAPE(2, 3));
    kn_iadd(a, kn_arange(0, 3, 1));
    kn_set(a, "1", kn_ones(KN_SHAPE(1, 3)));  /* a leading extent of 1 is dropped */
    EXPECT(a, 0, 1, 2, 1, 1, 1);
}

Test(updates, through_masks_and_integer_arrays)
{
    KN_SCOPE(s);
    kn_array a = kn_arange(0, 5, 1), big = kn_greater(a, 2);
    kn_set(a, "big", -1, big);
    EXPECT(a, 0, 1, 2, -1, -1);
    kn_set(a, "a < 0", kn_from(((const int64_t[]){ 30, 40 }), 2), a);
    EXPECT(a, 0, 1, 2, 30, 40);
    kn_set(a, "[0, 1, 0, 1, 0, 1]", kn_arange(2, 8, 1));
    EXPECT(a, 6, 7, 2, 30, 40);               /* the last one wins */
    EXPECT(kn_index(a, "[4, -1, 0]"), 40, 40, 6);
    EXPECT(kn_index(a, "big", big), 30, 40);
    cr_expect_eq(kn_len(kn_index(a, "a > 100", a), 0), 0);
    kn_array m = kn_reshape(kn_arange(0, 6, 1), KN_SHAPE(2, 3)), odd = kn_equal(kn_remainder(m, 2), 1);
    EXPECT(kn_index(m, "odd", odd), 1, 3, 5);
    kn_set(m, "odd", 0, odd);
    EXPECT(m, 0, 0, 2, 0, 4, 0);
    kn_set(m, "[True, False], 1", 9);
    EXPECT(m, 0, 9, 2, 0, 4, 0);
}

Test(updates, long_loops_do_not_pile_up_work)
{
    KN_SCOPE(s);
    kn_array x = kn_zeros(KN_SHAPE(8)), y = kn_ones(KN_SHAPE(8));
    runtime_counts before, after;
    runtime_count(&before);
    for (int i = 0; i < 1000; i++) {
        KN_SCOPE(step);
        kn_iadd(x, kn_mul(y, 0.5));
        kn_let(y, kn_mul(y, 1.0));
    }
    runtime_count(&after);
    cr_expect_gt(after.evaluations, before.evaluations, "work was done on the way");
    cr_expect_leq(after.plans_built - before.plans_built, 6, "%d plans were made", (int)(after.plans_built - before.plans_built));
    EXPECT(kn_index(x, "0"), 500);
    kn_array chain = kn_zeros(KN_SHAPE(8));
    for (int i = 0; i < 3000; i++) chain = kn_add(chain, 1);   /* no scope inside */
    EXPECT(kn_index(chain, "0"), 3000);
}
