/* Every loop of every elementwise function, and every reduction, has a body that a kernel can hold. */
#include <criterion/criterion.h>

#include "../support/nest_eval.c"
#include "../support/slices.c"
#include "../support/owned.h"

TestSuite(plan_functions, .fini = drop_all);

static const int64_t six[] = { 6 };

static node *numbers_of(kn_dtype t, int salt)
{
    double v[6];
    for (int i = 0; i < 6; i++) v[i] = dtype_kind_of(t) == KIND_INT || dtype_kind_of(t) == KIND_UINT ? (i + salt) % 5 + 1 : ((i * 3 + salt) % 7) / 8. + .125;
    return leaf_of(t, 1, six, v);
}

static const char *check_once(node *n, bool compare)
{
    static char kept[MESSAGE_MAX];
    case_slice c;
    message m = { 0 };
    slice_make(&c, 1, &n);
    const char *wrong = NULL;
    if (compare) wrong = slice_check(&c, "cpu", false, BY_KERNELS);
    else {
        plan *p = plan_build(&c.s, profile_named("sm_90"), NULL, &m);
        if (!p) wrong = m.text;
        plan_free(p);
    }
    if (wrong) snprintf(kept, sizeof kept, "%s", wrong);
    slice_free(&c);
    return wrong ? kept : NULL;
}

Test(plan_functions, every_loop_of_every_elementwise_function)
{
    for (int f = 0; f < nufuncs; f++) {
        for (int l = 0; l < ufuncs[f].nloops; l++) {
            const ufunc_loop *loop = &ufuncs[f].loops[l];
            if (ufuncs[f].flags & UFUNC_ANY || !loop->body || !strcmp(loop->body, BODY_TRUE) || !strcmp(loop->body, BODY_FALSE)) continue;
            for (int which = 0; which < ufuncs[f].nout; which++) {
                node *in[4];
                for (int i = 0; i < ufuncs[f].nin; i++) in[i] = numbers_of(loop->in[i], i);
                node *n = node_map(f, which, ufuncs[f].nin, in, loop->out[which], NULL);
                const char *wrong = check_once(n, which == 0 && f != UFUNC_power);
                cr_expect(!wrong, "%s of %s, result %d: %s", ufuncs[f].name, dtype_table[loop->in[0]].name, which, wrong);
            }
        }
    }
}

Test(plan_functions, both_results_of_one_call_are_one_kernel)
{
    node *in[2] = { numbers_of(KN_FLOAT64, 0), numbers_of(KN_FLOAT64, 3) };
    node *both[2] = { node_map(UFUNC_divmod, 0, 2, in, KN_FLOAT64, NULL), node_map(UFUNC_divmod, 1, 2, in, KN_FLOAT64, NULL) };
    case_slice c;
    slice_make(&c, 2, both);
    message m = { 0 };
    plan *p = plan_build(&c.s, profile_named("cpu"), NULL, &m);
    cr_assert(p != NULL, "%s", m.text);
    cr_expect(p->nsteps == 1);
    int calls = 0;
    for (uint32_t i = 0; i < p->steps[0].code->ncode; i++) calls += p->steps[0].code->code[i].op == K_CALL;
    cr_expect(calls == 1, "%d calls", calls);
    plan_free(p);
    slice_free(&c);
}

/* The dtypes that a reduction is made for: those of its ufunc's loops, or numbers. */
static bool reduces(int r, kn_dtype t)
{
    kn_dtype twice[2] = { t, t };
    int f = reductions[r].ufunc;
    if (f >= 0) {
        const ufunc_loop *loop = ufunc_loop_for(f, twice);
        if (!loop || !loop->body || loop->out[0] != t) return false;
        return !((t == KN_FLOAT16 || t == KN_BFLOAT16) && (r == REDUCTION_sum || r == REDUCTION_prod));
    }
    return r == REDUCTION_var ? t == KN_FLOAT32 || t == KN_FLOAT64 : true;
}

Test(plan_functions, every_reduction_of_every_dtype)
{
    for (int r = 0; r < nreductions; r++)
        for (kn_dtype t = KN_BOOL; t < NDTYPES; t++) {
            if (!reduces(r, t)) continue;
            bool position = r == REDUCTION_argmax || r == REDUCTION_argmin;
            node *x = numbers_of(t, r);
            const char *wrong = check_once(node_reduce(r, x, 1, position ? KN_INT64 : t, false, NULL), r != REDUCTION_var);
            cr_expect(!wrong, "%s of %s: %s", reductions[r].name, dtype_table[t].name, wrong);
            if (position || r == REDUCTION_var) continue;
            wrong = check_once(node_scan(r, x, 0, NULL), true);
            cr_expect(!wrong, "running %s of %s: %s", reductions[r].name, dtype_table[t].name, wrong);
        }
}

Test(plan_functions, the_variance_in_one_pass)
{
    node *x = leaf_of(KN_FLOAT64, 2, (int64_t[]){ 2, 4 }, (double[]){ 1, 2, 3, 6, 5, 5, 5, 5 });
    node *v = node_reduce(REDUCTION_var, x, 2, KN_FLOAT64, false, NULL);
    case_slice c;
    slice_make(&c, 1, &v);
    message m = { 0 };
    plan *p = plan_build(&c.s, profile_named("cpu"), NULL, &m);
    cr_assert(p != NULL, "%s", m.text);
    cr_expect(p->nsteps == 1, "%d steps", p->nsteps);
    plan_free(p);
    const char *wrong = slice_check(&c, "cpu", false, BY_NESTS);
    double first;
    memcpy(&first, c.values[v->slot], sizeof first);
    cr_expect(!wrong, "%s", wrong);
    cr_expect(first == 14, "%g", first);
    slice_free(&c);
}

Test(plan_functions, exponents_with_a_meaning_of_their_own)
{
    static const double exponents[] = { -1, 0, .5, 1, 2, 3, 2.5 };
    static const kn_dtype types[] = { KN_FLOAT32, KN_FLOAT64, KN_FLOAT16, KN_COMPLEX128, KN_INT32 };
    for (int t = 0; t < 5; t++)
        for (int e = 0; e < 7; e++) {
            if (types[t] == KN_INT32 && (exponents[e] < 0 || exponents[e] != (int)exponents[e])) continue;
            node *x = numbers_of(types[t], 1), *y = node_scalar(types[t], (scalar){ .kind = SCALAR_FLOAT, .v.f = exponents[e] }, false, NULL);
            const char *wrong = check_once(node_map(UFUNC_power, 0, 2, (node *[]){ x, y }, types[t], NULL), false);
            cr_expect(!wrong, "%s to the power %g: %s", dtype_table[types[t]].name, exponents[e], wrong);
        }
}

Test(plan_functions, a_negative_exponent_of_an_integer_is_a_fault)
{
    node *x = numbers_of(KN_INT64, 0), *y = leaf_of(KN_INT64, 1, six, (double[]){ 0, 1, 2, -1, 3, 1 });
    node *n = node_map(UFUNC_power, 0, 2, (node *[]){ x, y }, KN_INT64, NULL);
    case_slice c;
    slice_make(&c, 1, &n);
    message m = { 0 };
    plan *p = plan_build(&c.s, profile_named("cpu"), NULL, &m);
    cr_assert(p != NULL, "%s", m.text);
    cr_assert(p->nfaults == 1 && p->faults[0].status == KN_VALUE_ERROR);
    cr_expect(!strcmp(p->faults[0].text, "Integers to negative integer powers are not allowed."));
    plan_free(p);
    slice_free(&c);
}
