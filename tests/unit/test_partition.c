/* Partition: domains, libraries' operands, order of steps, what is overwritten, memory that is shared. */
#include <criterion/criterion.h>

#include "../support/nest_eval.c"
#include "../support/slices.c"
#include "../support/owned.h"
#include "ir/plan/internal.h"

TestSuite(partition, .fini = drop_all);

#define SHAPE(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__}

static node *f64(int ndim, const int64_t *shape) { return leaf_of(KN_FLOAT64, ndim, shape, NULL); }
static node *map2(int f, node *a, node *b) { return node_map(f, 0, 2, (node *[]){ a, b }, (kn_dtype)a->dtype, NULL); }
static node *add(node *a, node *b) { return map2(UFUNC_add, a, b); }
static node *opaque(const char *name, int which, int nin, node *const *in, int ndim, const int64_t *shape)
{
    return node_opaque(family_op_named(name), which, nin, in, KN_FLOAT64, ndim, shape, NULL, 0, NULL);
}

typedef struct built { case_slice c; plan *p; int kernels, libraries, copies; } built;

static void build_over(built *b, int nroots, node *const *roots, node *overwritable)
{
    message m = { 0 };
    slice_make(&b->c, nroots, roots);
    if (overwritable) slice_overwritable(&b->c, overwritable);
    b->p = plan_build(&b->c.s, profile_named("cpu"), NULL, &m);
    cr_assert(b->p != NULL, "%s", m.text);
    b->kernels = b->libraries = b->copies = 0;
    for (int i = 0; i < b->p->nsteps; i++) *(b->p->steps[i].kind == STEP_KERNEL ? &b->kernels : b->p->steps[i].kind == STEP_OPAQUE ? &b->libraries : &b->copies) += 1;
}
static void build(built *b, node *root) { build_over(b, 1, &root, NULL); }
static void done(built *b)
{
    plan_free(b->p);
    slice_free(&b->c);
}

static const plan_step *library_step(const built *b)
{
    for (int i = 0; i < b->p->nsteps; i++) if (b->p->steps[i].kind == STEP_OPAQUE) return &b->p->steps[i];
    return NULL;
}

Test(partition, domains_are_runs_of_axes_with_one_fate)
{
    node *x = f64(SHAPE(2, 3, 1, 4, 5)), *r = node_reduce(REDUCTION_sum, x, 1 << 1 | 1 << 2 | 1 << 4, KN_FLOAT64, false, NULL);
    domain d;
    cr_assert(domain_of(r, &d));
    cr_expect(d.nruns == 4 && d.outer == 8 && d.inner == 15, "%d runs, %lld x %lld", d.nruns, (long long)d.outer, (long long)d.inner);
    cr_expect(!d.run[0].reduced && d.run[1].reduced && d.run[1].extent == 3 && d.run[3].extent == 5);
    node *all = node_reduce(REDUCTION_sum, x, 31, KN_FLOAT64, false, NULL);
    cr_assert(domain_of(all, &d));
    cr_expect(d.nruns == 1 && d.outer == 1 && d.inner == 120);
}

Test(partition, domains_unify_by_axes_not_by_size)
{
    node *x = f64(SHAPE(6, 6));
    domain rows, columns, plain, row, d;
    cr_assert(domain_of(node_reduce(REDUCTION_sum, x, 2, KN_FLOAT64, false, NULL), &rows));
    cr_assert(domain_of(node_reduce(REDUCTION_sum, x, 1, KN_FLOAT64, false, NULL), &columns));
    cr_assert(domain_of(add(x, x), &plain));
    cr_assert(domain_of(f64(SHAPE(6)), &row));
    cr_expect(!domain_unify(&rows, &columns, &d));
    cr_expect(domain_unify(&rows, &plain, &d) && d.inner == 6);
    cr_expect(domain_unify(&row, &rows, &d) && d.inner == 6);
    cr_expect(!domain_unify(&row, &plain, &d));
}

Test(partition, libraries_take_transposes_as_strides)
{
    node *x = f64(SHAPE(7, 5)), *y = f64(SHAPE(7, 3)), *t = node_transpose(x, (int[]){ 1, 0 }, NULL);
    built b;
    build(&b, opaque("matmul", 0, 2, (node *[]){ t, y }, SHAPE(5, 3)));
    cr_expect(b.libraries == 1 && b.kernels == 0 && b.copies == 0);
    const plan_step *s = library_step(&b);
    cr_expect(s->nin == 2 && s->nout == 1);
    cr_expect(s->operands[0].strides[0] == 8 && s->operands[0].strides[1] == 40 && s->operands[0].shape[0] == 5);
    cr_expect(s->operands[1].strides[0] == 24 && s->operands[1].at.kind == PLACE_LEAF);
    done(&b);
}

Test(partition, pending_operands_of_libraries_are_stored_once)
{
    node *x = f64(SHAPE(7, 5)), *p = add(x, x), *t = node_transpose(p, (int[]){ 1, 0 }, NULL);
    built b;
    build(&b, opaque("matmul", 0, 2, (node *[]){ t, p }, SHAPE(5, 5)));
    cr_expect(b.libraries == 1 && b.kernels == 1, "%d kernels", b.kernels);
    const plan_step *s = library_step(&b);
    cr_expect(s->operands[0].at.kind == PLACE_MEMORY && s->operands[0].at.index == s->operands[1].at.index);
    done(&b);
}

Test(partition, what_follows_a_library_is_one_kernel)
{
    node *x = f64(SHAPE(4, 6)), *w = f64(SHAPE(6, 5)), *bias = node_broadcast(f64(SHAPE(5)), SHAPE(4, 5), NULL);
    node *y = add(opaque("matmul", 0, 2, (node *[]){ x, w }, SHAPE(4, 5)), bias);
    built b;
    build(&b, map2(UFUNC_multiply, y, y));
    cr_expect(b.libraries == 1 && b.kernels == 1, "%d kernels", b.kernels);
    cr_expect(b.p->steps[0].kind == STEP_OPAQUE && b.p->steps[1].kind == STEP_KERNEL);
    done(&b);
}

Test(partition, a_kernel_waits_for_the_library_between)
{
    node *x = f64(SHAPE(9)), *p = add(x, x), *s = opaque("sort", 0, 1, &p, SHAPE(9));
    built b;
    build(&b, add(p, s));
    cr_expect(b.kernels == 2 && b.libraries == 1, "%d kernels", b.kernels);
    cr_expect(b.p->steps[1].kind == STEP_OPAQUE);
    done(&b);
}

Test(partition, temporaries_whose_lives_do_not_meet_share_memory)
{
    node *x = f64(SHAPE(40)), *y = x;
    for (int i = 0; i < 6; i++) {
        node *s = opaque("sort", 0, 1, &y, SHAPE(40));
        y = add(s, x);
    }
    built b;
    build(&b, y);
    int blocks = 0, temporaries = 0;
    for (int i = 0; i < b.p->nmemory; i++) {
        temporaries += b.p->memory[i].block >= 0;
        if (b.p->memory[i].block >= blocks) blocks = b.p->memory[i].block + 1;
    }
    cr_expect(temporaries == 11 && blocks == 2, "%d temporaries in %d blocks", temporaries, blocks);
    cr_expect(b.p->peak_bytes == 3 * 320, "%lld bytes", (long long)b.p->peak_bytes);
    done(&b);
}

Test(partition, a_write_in_place_takes_the_leafs_memory)
{
    node *a = f64(SHAPE(20)), *v = node_broadcast(node_scalar(KN_FLOAT64, (scalar){ .kind = SCALAR_FLOAT, .v.f = 7 }, false, NULL), SHAPE(5), NULL);
    window w = { .offset = 3, .strides = (int64_t[]){ 2 }, .shape = (int64_t[]){ 5 }, .ndim = 1 };
    node *n = node_write(a, &w, v, NULL);
    built b;
    build_over(&b, 1, &n, a);
    cr_expect(b.kernels == 1 && b.copies == 0);
    cr_expect(b.p->results[0].at.kind == PLACE_MEMORY && b.p->memory[b.p->results[0].at.index].reuses_leaf == 0);
    done(&b);
    build_over(&b, 1, &n, NULL);
    cr_expect(b.kernels == 1 && b.copies == 1 && b.p->memory[b.p->results[0].at.index].reuses_leaf < 0);
    done(&b);
}

Test(partition, only_one_of_two_writes_takes_over_a_value)
{
    node *a = f64(SHAPE(20)), *v = f64(SHAPE(5));
    window w = { .offset = 3, .strides = (int64_t[]){ 2 }, .shape = (int64_t[]){ 5 }, .ndim = 1 };
    node *n[2] = { node_write(a, &w, v, NULL), node_write(a, &w, add(v, v), NULL) };
    built b;
    build_over(&b, 2, n, a);
    int taken = 0;
    for (int i = 0; i < b.p->nmemory; i++) taken += b.p->memory[i].reuses_leaf >= 0;
    cr_expect(taken == 1, "%d", taken);
    done(&b);
    case_slice c;
    slice_make(&c, 2, n);
    slice_overwritable(&c, a);
    const char *wrong = slice_check(&c, "cpu", false, BY_KERNELS);
    cr_expect(!wrong, "%s", wrong);
    slice_free(&c);
}

Test(partition, results_that_nobody_asked_for_have_no_dtype)
{
    int svd = -1;
    for (int i = 0; i < nfamily_ops; i++) if (family_ops[i].nout > 1) svd = i;
    if (svd < 0) return;
    node *x = f64(SHAPE(4, 4)), *s = node_opaque(svd, 0, 1, &x, KN_FLOAT64, SHAPE(4), NULL, 0, NULL);
    built b;
    build(&b, s);
    const plan_step *step = library_step(&b);
    cr_assert(step->nout == family_ops[svd].nout);
    cr_expect(step->operands[1].dtype == KN_FLOAT64 && step->operands[2].dtype == KN_DTYPE_UNSET);
    done(&b);
}

Test(partition, a_hundred_thousand_pending_nodes)
{
    node *x = f64(SHAPE(3)), *y = x;
    for (int i = 0; i < 100000; i++) y = add(y, x);
    built b;
    build(&b, y);
    cr_expect(b.kernels > 100 && b.kernels < 400, "%d kernels", b.kernels);
    done(&b);
}
