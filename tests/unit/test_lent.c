/* Memory that programs lend: copied, borrowed, shared; files; what the library says of itself. */
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct { int calls; void *data; } released;
static void release(void *data, void *arg)
{
    cr_expect_eq(arg, &released);
    released.calls++;
    released.data = data;
}

static double total(kn_array a) { return kn_f64(kn_sum(a)); }

Test(lent, a_copy_is_made_at_the_call)
{
    KN_SCOPE(s);
    float mine[] = { 1, 2, 3, 4, 5, 6 };
    kn_array a = kn_from(mine, 2, 3), b = kn_from_memory(KN_FLOAT32, mine, KN_SHAPE(3), (const int64_t[]){ 8 }, KN_COPY, release, &released);
    cr_expect_eq(released.calls, 1);
    memset(mine, 0, sizeof mine);
    cr_expect_eq(total(a), 21);
    cr_expect_eq(total(b), 9);
    cr_expect_eq(kn_dtype_of(a), KN_FLOAT32);
    kn_array odd = kn_from_memory(KN_INT16, (char *)mine + 1, KN_SHAPE(2), (const int64_t[]){ 3 }, KN_COPY, NULL, NULL);
    cr_expect_eq(total(odd), 0, "any address and stride can be copied");
}

Test(lent, borrowed_memory_is_read_where_it_lies)
{
    int64_t mine[] = { 1, 2, 3, 4 };
    {
        KN_SCOPE(s);
        kn_array a = kn_from_memory(KN_INT64, mine, KN_SHAPE(4), NULL, KN_BORROW, release, &released), b = kn_from_memory(KN_INT64, &mine[3], KN_SHAPE(4), (const int64_t[]){ -8 }, KN_BORROW, NULL, NULL);
        cr_expect_eq(total(kn_mul(a, b)), 20);
        mine[0] = 10;
        cr_expect_eq(total(a), 19, "nothing was copied");
        kn_iadd(a, 1);
        cr_expect_eq(total(a), 23);
        cr_expect_eq(mine[0], 10, "an array's own changes stay its own");
        cr_expect_eq(released.calls, 0);
    }
    cr_expect_eq(released.calls, 1);
    cr_expect_eq(released.data, mine);
}

Test(lent, pending_readers_of_borrowed_memory_outlive_it)
{
    KN_SCOPE(s);
    int64_t *mine = malloc(4 * sizeof *mine), sum;
    for (int i = 0; i < 4; i++) mine[i] = i + 1;
    kn_array later, reshaped, view;
    {
        KN_SCOPE(inner);
        kn_array a = kn_from_memory(KN_INT64, mine, KN_SHAPE(2, 2), NULL, KN_BORROW, release, &released);
        later = kn_return(inner, kn_add(a, 1));
        reshaped = kn_return(inner, kn_reshape(kn_transpose(a), KN_SHAPE(4)));
        view = kn_keep(kn_index(a, "1"));
    }
    cr_expect_eq(released.calls, 0, "a view still shows it");
    kn_release(view);
    cr_expect_eq(released.calls, 1);
    memset(mine, 0x55, 4 * sizeof *mine);
    free(mine);
    sum = kn_i64(kn_sum(later));
    cr_expect_eq(sum, 14, "%lld", (long long)sum);
    cr_expect_eq(kn_i64(kn_index(reshaped, "1")), 3);
}

Test(lent, shared_memory_is_up_to_date_after_sync)
{
    KN_SCOPE(s);
    double mine[] = { 1, 2, 3, 4 };
    kn_array a = kn_from_memory(KN_FLOAT64, mine, KN_SHAPE(4), NULL, KN_SHARE, NULL, NULL), before = kn_mul(a, 10);
    kn_iadd(a, 1);
    kn_set(a, "0", -1);
    cr_expect_eq(kn_sync(a), KN_OK);
    cr_expect(mine[0] == -1 && mine[3] == 5, "%g %g", mine[0], mine[3]);
    cr_expect_eq(total(before), 100, "recorded before the change");
    kn_array pending = kn_mul(a, 1);
    cr_expect_eq(kn_sync(a), KN_OK);
    mine[1] = 100;
    cr_expect_eq(total(a), 108, "the program's changes are seen");
    cr_expect_eq(total(pending), 11, "but not by what was recorded before");
    kn_imul(a, 2);
    cr_expect_eq(kn_sync(a), KN_OK);
    cr_expect_eq(mine[1], 200);
    cr_expect_eq(kn_sync(kn_ones(KN_SHAPE(3))), KN_OK);
    cr_expect_eq(kn_sync(KN_NONE), KN_VALUE_ERROR);
}

Test(lent, strides_open_windows_on_shared_memory)
{
    KN_SCOPE(s);
    int32_t mine[12] = { 0 };
    kn_array a = kn_from_memory(KN_INT32, &mine[11], KN_SHAPE(2, 3), (const int64_t[]){ -24, -8 }, KN_SHARE, NULL, NULL);
    kn_set(a, "...", kn_reshape(kn_arange(1, 7, 1), KN_SHAPE(2, 3)));
    cr_expect_eq(kn_sync(a), KN_OK);
    const int32_t want[12] = { 0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1 };
    cr_expect(!memcmp(mine, want, sizeof want));
}

Test(lent, what_cannot_be_lent_is_told)
{
    KN_SCOPE(s);
    char mine[64] = { 0 };
    const struct { kn_dtype t; void *data; kn_shape shape; const int64_t *strides; } bad[] = {
        { KN_INT32, mine, KN_SHAPE(3), (const int64_t[]){ 6 } }, { KN_INT32, mine + 1, KN_SHAPE(3), NULL }, { KN_INT32, NULL, KN_SHAPE(3), NULL },
        { KN_INT32, mine, KN_SHAPE(-1), NULL }, { (kn_dtype)99, mine, KN_SHAPE(1), NULL }, { KN_INT32, mine, KN_SHAPE(INT64_MAX / 2, 4), NULL },
        { KN_INT32, mine, (kn_shape){ 99, NULL }, NULL }, { KN_INT32, mine, KN_SHAPE(4, 4), (const int64_t[]){ INT64_MAX / 8 * 4, 4 } },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        released.calls = 0;
        kn_array a = kn_from_memory(bad[i].t, bad[i].data, bad[i].shape, bad[i].strides, KN_BORROW, release, &released);
        cr_expect_neq(kn_check(a), KN_OK, "%zu", i);
        cr_expect_eq(released.calls, 1, "%zu", i);
    }
    cr_expect_eq(kn_size(kn_from_memory(KN_INT32, NULL, KN_SHAPE(0, 3), NULL, KN_BORROW, NULL, NULL)), 0);
    cr_expect_eq(kn_f64(kn_from_memory(KN_FLOAT32, mine, KN_NO_DIMENSIONS, NULL, KN_SHARE, NULL, NULL)), 0);
}

/* ---- files ---- */

Test(files, arrays_come_back_as_they_were_saved)
{
    KN_SCOPE(s);
    char folder[] = "/tmp/kiln-test-XXXXXX", path[64];
    cr_assert(mkdtemp(folder));
    kn_array a = kn_transpose(kn_reshape(kn_arange(0, 6, 1), KN_SHAPE(2, 3)));
    snprintf(path, sizeof path, "%s/a.npy", folder);
    cr_expect_eq(kn_save(a, path), KN_OK, "%s", kn_error());
    kn_array b = kn_load(path);
    cr_expect(kn_true(kn_array_equal(a, b)), "%s", kn_error());
    kn_iadd(b, 1);
    cr_expect_eq(total(b), 21);
    unlink(path);
    snprintf(path, sizeof path, "%s/two.npz", folder);
    cr_expect_eq(kn_save_all(path, (const kn_named[]){ { "x", a }, { "y", kn(2.5) } }, 2), KN_OK, "%s", kn_error());
    cr_expect_eq(kn_f64(kn_load_named(path, "y")), 2.5);
    cr_expect_eq(kn_len(kn_load_named(path, "x"), 0), 3);
    cr_expect_eq(kn_check(kn_load(path)), KN_VALUE_ERROR, "one of two must be named");
    cr_expect_eq(kn_check(kn_load_named(path, "z")), KN_KEY_ERROR);
    cr_expect_eq(kn_save(kn_index(a, "9"), path), KN_INDEX_ERROR);
    unlink(path);
    cr_expect_eq(kn_check(kn_load(path)), KN_FILE_ERROR);
    cr_expect_eq(kn_check(kn_load(NULL)), KN_VALUE_ERROR);
    rmdir(folder);
}

/* ---- text ---- */

Test(text, shows_arrays_as_numpy_prints_them)
{
    KN_SCOPE(s);
    cr_expect_str_eq(kn_show(kn_reshape(kn_arange(0, 6, 1), KN_SHAPE(2, 3))), "[[0 1 2]\n [3 4 5]]");
    cr_expect_str_eq(kn_show(kn(0.1)), "0.1");
    cr_expect_str_eq(kn_show(kn((bool)1)), "True");
    cr_expect_str_eq(kn_show(kn_sum(kn_ones(KN_SHAPE(3)))), "3.0");
    cr_expect(strstr(kn_show(KN_NONE), "KN_NONE"));
    cr_expect(strstr(kn_show(kn_index(kn_ones(KN_SHAPE(2)), "7")), "out of bounds"));
}

Test(text, needs_a_scope)
{
    kn_scope s = kn_scope_open();
    kn_array a = kn_keep(kn_ones(KN_SHAPE(2)));
    kn_scope_close(s);
    cr_expect_str_eq(kn_show(a), "");
    cr_expect_eq(kn_error_status(), KN_SCOPE_ERROR);
    kn_release(a);
}

Test(text, source_of_a_pending_array_needs_no_gpu)
{
    KN_SCOPE(s);
    kn_array x = kn_ones(KN_SHAPE(1000)), y = kn_mul(kn_add(x, 1), 2);
    runtime_counts before, after;
    runtime_count(&before);
    const char *cuda = kn_source(y, KN_CUDA), *hip = kn_source(y, KN_HIP), *why = kn_explain(y, KN_CPU);
    runtime_count(&after);
    cr_expect(strstr(cuda, "__global__"), "%s%s", cuda, kn_error());
    cr_expect(strstr(hip, "__global__"), "%s%s", hip, kn_error());
    cr_expect(strlen(why) > 0, "%s", kn_error());
    cr_expect_eq(before.launches, after.launches);
    cr_expect_str_eq(kn_source(KN_NONE, KN_CUDA), "");
}

/* ---- facts ---- */

Test(facts, of_dtypes)
{
    KN_SCOPE(s);
    kn_float_info f = kn_finfo(KN_FLOAT32), d = kn_finfo(KN_COMPLEX128), h = kn_finfo(KN_FLOAT16), b = kn_finfo(KN_BFLOAT16), none = kn_finfo(KN_INT8);
    cr_expect(f.eps == FLT_EPSILON && f.max == FLT_MAX && f.min == -FLT_MAX && f.tiny == FLT_MIN && f.bits == 32 && f.precision == 6);
    cr_expect(d.eps == DBL_EPSILON && d.max == DBL_MAX && d.smallest_subnormal == 5e-324 && d.precision == 15 && d.nexp == 11);
    cr_expect(h.max == 65504 && h.eps == 0x1p-10 && h.precision == 3 && b.max == 0x1.fep127 && b.eps == 0x1p-7 && none.bits == 0);
    cr_expect(kn_iinfo(KN_INT8).min == -128 && kn_iinfo(KN_INT8).max == 127 && kn_iinfo(KN_UINT64).max == UINT64_MAX && kn_iinfo(KN_UINT64).min == 0 && kn_iinfo(KN_INT64).min == INT64_MIN);
    cr_expect(kn_iinfo(KN_FLOAT32).bits == 0);
    cr_expect(kn_can_cast(KN_INT32, KN_FLOAT64, KN_CAST_SAFE) && !kn_can_cast(KN_INT64, KN_INT32, KN_CAST_SAFE) && kn_can_cast(KN_INT64, KN_INT32, KN_CAST_SAME_KIND));
    cr_expect_eq(kn_promote_types(KN_INT32, KN_UINT32), KN_INT64);
    cr_expect_eq(kn_promote_types((kn_dtype)77, KN_UINT32), KN_DTYPE_UNSET);
    kn_array i = kn_zeros(KN_SHAPE(1), .dtype = KN_INT32), u = kn_zeros(KN_SHAPE(1), .dtype = KN_UINT8);
    cr_expect_eq(kn_result_type(KN_LIST(i, u, 1)), KN_INT32);
    cr_expect_eq(kn_result_type(KN_LIST(u, 2.5)), KN_FLOAT64);
    cr_expect_eq(kn_result_type(KN_LIST(1, 2.5)), KN_FLOAT64);
    cr_expect_eq(kn_result_type(KN_LIST(KN_NONE)), KN_DTYPE_UNSET);
    cr_expect_str_eq(kn_dtype_name(KN_BFLOAT16), "bfloat16");
    cr_expect_str_eq(kn_dtype_name((kn_dtype)-1), "");
    cr_expect_eq(kn_dtype_named("<f8"), KN_FLOAT64);
    cr_expect_eq(kn_dtype_named(NULL), KN_DTYPE_UNSET);
    cr_expect_eq(kn_itemsize(KN_COMPLEX64), 8u);
    cr_expect_str_eq(kn_status_name(KN_INDEX_ERROR), "IndexError");
    cr_expect_str_eq(kn_version(), "0.1.0");
}

Test(facts, of_the_library)
{
    KN_SCOPE(s);
    kn_statistics_record before = kn_statistics();
    kn_array a = kn_ones(KN_SHAPE(1000, 1000));
    cr_expect_eq(kn_eval(a), KN_OK);
    kn_statistics_record after = kn_statistics();
    cr_expect_eq(after.handles_live, before.handles_live + 1);
    cr_expect_geq(after.bytes_live, before.bytes_live + 8000000);
    cr_expect_gt(after.evaluations, before.evaluations);
    kn_set_threads(1);
    cr_expect_eq(kn_threads(), 1);
    kn_set_threads(0);
    cr_expect_geq(kn_threads(), 1);
}

/* ---- selections, methods ---- */

Test(selections, several_results_come_as_a_struct)
{
    KN_SCOPE(s);
    kn_unique_result u = kn_unique(kn_from(((const int64_t[]){ 3, 1, 3, 2, 1, 3 }), 6));
    cr_expect_str_eq(kn_show(u.values), "[1 2 3]", "%s", kn_error());
    cr_expect_str_eq(kn_show(u.index), "[1 3 0]");
    cr_expect_str_eq(kn_show(u.inverse), "[2 0 2 1 0 2]");
    cr_expect_str_eq(kn_show(u.counts), "[2 1 3]");
    kn_unique_result bad = kn_unique(KN_NONE);
    cr_expect_eq(kn_check(bad.values), KN_VALUE_ERROR);
    cr_expect_eq(kn_check(bad.counts), KN_VALUE_ERROR);
    kn_divmod_result q = kn_divmod(7, kn_from(((const int64_t[]){ 2, -2 }), 2));
    cr_expect_str_eq(kn_show(q.quotient), "[ 3 -4]");
    cr_expect_str_eq(kn_show(q.remainder), "[ 1 -1]");
    kn_array one = kn_zeros(KN_SHAPE(2)), two = kn_zeros(KN_SHAPE(2));
    q = kn_divmod(7.5, kn_full(KN_SHAPE(2), 2.0), .out1 = one, .out2 = two);
    cr_expect_eq(q.quotient.id, one.id);
    cr_expect_str_eq(kn_show(two), "[1.5 1.5]");
}

Test(selections, positions_of_what_is_true)
{
    KN_SCOPE(s);
    kn_array m = kn_reshape(kn_from(((const int64_t[]){ 0, 3, 0, 4, 0, 5 }), 6), KN_SHAPE(2, 3));
    cr_expect_str_eq(kn_show(kn_nonzero(m)), "[[0 1]\n [1 0]\n [1 2]]");
    cr_expect_str_eq(kn_show(kn_flatnonzero(m)), "[1 3 5]");
    cr_expect_str_eq(kn_show(kn_extract(kn_greater(m, 3), m)), "[4 5]");
    cr_expect_eq(kn_check(kn_nonzero(kn(3))), KN_VALUE_ERROR);
    kn_array large = kn_equal(kn_remainder(kn_arange(0, 1000000, 1), 3), 0);
    cr_expect_eq(kn_len(kn_flatnonzero(large), 0), 333334);
    cr_expect_eq(kn_i64(kn_index(kn_flatnonzero(large), "1000")), 3000);
}

Test(methods, of_elementwise_functions)
{
    KN_SCOPE(s);
    kn_array a = kn_from(((const int64_t[]){ 1, 5, 2, 4 }), 4), v = kn_zeros(KN_SHAPE(3));
    cr_expect_eq(kn_i64(kn_reduce("maximum", a, 0, false)), 5);
    cr_expect_str_eq(kn_show(kn_accumulate("maximum", a, 0)), "[1 5 5 5]");
    cr_expect_str_eq(kn_show(kn_outer_of("add", kn_index(a, ":2"), a)), "[[ 2  6  3  5]\n [ 6 10  7  9]]");
    kn_at("add", v, "[0, 0, 2]", 1);
    cr_expect_str_eq(kn_show(v), "[2. 0. 1.]");
    cr_expect_eq(kn_check(kn_reduce("nonsense", a, 0, false)), KN_NAME_ERROR);
    kn_at("add", v, "9", 1);
    cr_expect_eq(kn_check(v), KN_INDEX_ERROR);
}

Test(options, results_go_into_out)
{
    KN_SCOPE(s);
    kn_array out = kn_zeros(KN_SHAPE(3), .dtype = KN_FLOAT32), a = kn_arange(0, 3, 1), r = kn_add(a, 0.5, .out = out);
    cr_expect_eq(r.id, out.id);
    cr_expect_str_eq(kn_show(out), "[0.5 1.5 2.5]");
    r = kn_sum(a, .out = kn_index(out, "0"));
    cr_expect_eq(kn_f64(kn_index(out, "0")), 3);
    cr_expect_eq(kn_f64(r), 3);
    r = kn_sqrt(kn_full(KN_SHAPE(3), 4.0), .out = out, .where = kn_less(a, 2));
    cr_expect_str_eq(kn_show(out), "[2.  2.  2.5]");
    kn_array narrow = kn_zeros(KN_SHAPE(3), .dtype = KN_INT32);
    r = kn_add(a, 0.5, .out = narrow);
    cr_expect_eq(kn_check(narrow), KN_TYPE_ERROR);
    cr_expect_eq(r.id, narrow.id);
    kn_array small = kn_zeros(KN_SHAPE(2));
    cr_expect_eq(kn_check(kn_add(a, 1, .out = small)), KN_VALUE_ERROR);
    cr_expect_eq(kn_check(small), KN_VALUE_ERROR);
}
