/* ufunc.c: elementwise functions: NumPy 2's choice of loops, conversion and broadcasting of operands.
 *
 * How it works: the loops of ufuncs.def are tried in order; the first whose operands can all be cast safely is taken, as
 * NumPy does. Numbers without a dtype first take the one that the other operands give them. Bodies of loops are names
 * here; what they compute is in the device functions and primitives. */
#include "ir/graph/internal.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

#define D(t) KN_##t
#define T_T(t, body) {{D(t)}, {D(t)}, body},
#define T_B(t, body) {{D(t)}, {KN_BOOL}, body},
#define T_U8(t, body) {{D(t)}, {KN_UINT8}, body},
#define T_TT(t, body) {{D(t)}, {D(t), D(t)}, body},
#define T_TI(t, body) {{D(t)}, {D(t), KN_INT32}, body},
#define TT_T(t, body) {{D(t), D(t)}, {D(t)}, body},
#define TT_B(t, body) {{D(t), D(t)}, {KN_BOOL}, body},
#define TT_TT(t, body) {{D(t), D(t)}, {D(t), D(t)}, body},
#define BOOLS(shape, body) shape(BOOL, body)
#define TRUTHS BOOLS
#define SIGNED(shape, body) shape(INT8, body) shape(INT16, body) shape(INT32, body) shape(INT64, body)
#define UNSIGNED(shape, body) shape(UINT8, body) shape(UINT16, body) shape(UINT32, body) shape(UINT64, body)
#define INTS(shape, body) \
    shape(INT8, body) shape(UINT8, body) shape(INT16, body) shape(UINT16, body) shape(INT32, body) shape(UINT32, body) shape(INT64, body) shape(UINT64, body)
#define FLOATS(shape, body) shape(FLOAT16, body) shape(BFLOAT16, body) shape(FLOAT32, body) shape(FLOAT64, body)
#define COMPLEX(shape, body) shape(COMPLEX64, body) shape(COMPLEX128, body)
#define REALS(shape, body) INTS(shape, body) FLOATS(shape, body)
#define INEXACT(shape, body) FLOATS(shape, body) COMPLEX(shape, body)
#define NUMBERS(shape, body) REALS(shape, body) COMPLEX(shape, body)
#define same_ NULL
#define ABSOLUTE_LOOPS \
    T_T(INT8, "absolute") T_T(UINT8, same_) T_T(INT16, "absolute") T_T(UINT16, same_) T_T(INT32, "absolute") T_T(UINT32, same_) \
    T_T(INT64, "absolute") T_T(UINT64, same_) FLOATS(T_T, "fabs") \
    {{KN_COMPLEX64}, {KN_FLOAT32}, "absolute"}, {{KN_COMPLEX128}, {KN_FLOAT64}, "absolute"},
#define MIXED_LOOPS(body) {{KN_INT64, KN_UINT64}, {KN_BOOL}, body}, {{KN_UINT64, KN_INT64}, {KN_BOOL}, body},
#define LDEXP_LOOP(t) {{D(t), KN_INT32}, {D(t)}, "ldexp"}, {{D(t), KN_INT64}, {D(t)}, "ldexp"},
#define LDEXP_LOOPS LDEXP_LOOP(FLOAT16) LDEXP_LOOP(BFLOAT16) LDEXP_LOOP(FLOAT32) LDEXP_LOOP(FLOAT64)
#define RANDOM(t, body) {{KN_INT64, KN_UINT64, KN_UINT64}, {D(t)}, body},
#define RANDOM_IN_RANGE(t, body) {{KN_INT64, KN_UINT64, KN_UINT64, KN_UINT64}, {D(t)}, body},
#define NO_LOOPS {{KN_DTYPE_UNSET}, {KN_DTYPE_UNSET}, NULL},

#define UFUNC(name, nin, nout, loops, ...) static const ufunc_loop name##_loops[] = {loops};
#include "ir/graph/ufuncs.def"

#define REDUCTION_NONE (-1)
const ufunc_info ufuncs[] = {
#define UFUNC(name, nin, nout, loops, reduction, flags) {#name, nin, nout, name##_loops, sizeof name##_loops / sizeof *name##_loops, REDUCTION_##reduction, flags},
#include "ir/graph/ufuncs.def"
};
const int nufuncs = NUFUNCS;

const requirement_info requirements[] = {
#define REQUIREMENT(name, status, sentence) {KN_##status, sentence},
#include "ir/graph/requirements.def"
};

int ufunc_named(const char *name)
{
    for (int f = 0; f < NUFUNCS; f++)
        if (strcmp(ufuncs[f].name, name) == 0)
            return f;
    return -1;
}

const ufunc_loop *ufunc_loop_for(int ufunc, const kn_dtype *in)
{
    const ufunc_info *f = &ufuncs[ufunc];
    if (f->flags & UFUNC_ANY)
        return NULL;
    for (int i = 0; i < f->nloops; i++) {
        bool same = true;
        for (int k = 0; k < f->nin; k++)
            same &= f->loops[i].in[k] == in[k];
        if (same)
            return &f->loops[i];
    }
    return NULL;
}

/* ---- resolution ---- */

static bool is_integer_number(const ufunc_operand *o) { return o->weak && (o->number.kind == SCALAR_INT || o->number.kind == SCALAR_UINT); }

static void operand_text(const ufunc_operand *o, char *buf, size_t size)
{
    static const char *const kinds[] = {"a bool", "an integer", "an integer", "a float", "a complex number"};
    snprintf(buf, size, "%s", o->weak ? kinds[o->number.kind] : dtype_table[o->dtype].name);
}

static const ufunc_loop *no_loop(const ufunc_info *f, const ufunc_operand *o, kn_dtype dtype, message *m)
{
    char a[32], b[32] = "", result[48] = "";
    operand_text(&o[0], a, sizeof a);
    if (f->nin > 1)
        operand_text(&o[1], b, sizeof b);
    if (dtype)
        snprintf(result, sizeof result, " with a result of dtype %s", dtype_table[dtype].name);
    const char *hint = "";
    bool bools = true;
    for (int i = 0; i < f->nin; i++)
        bools &= o[i].dtype == KN_BOOL;
    if (bools && f == &ufuncs[UFUNC_subtract])
        hint = "; use bitwise_xor or logical_xor";
    else if (bools && f == &ufuncs[UFUNC_negative])
        hint = "; use invert or logical_not";
    fail(m, KN_TYPE_ERROR, "%s: not defined for %s%s%s%s%s", f->name, a, f->nin > 1 ? " and " : "", b, result, hint);
    return NULL;
}

static void number_text(scalar s, char *buf, size_t size)
{
    if (s.kind == SCALAR_UINT)
        snprintf(buf, size, "%llu", (unsigned long long)s.v.u);
    else
        snprintf(buf, size, "%lld", s.kind == SCALAR_BOOL ? (long long)s.v.b : (long long)s.v.i);
}

/* True and False are bools like any other. */
static bool is_weak(const ufunc_operand *o) { return o->weak && o->number.kind != SCALAR_BOOL; }

/* What each operand counts as: strong dtypes as they are, numbers as the others make them. */
static void operand_dtypes(int ufunc, const ufunc_operand *o, kn_dtype *t)
{
    const ufunc_info *f = &ufuncs[ufunc];
    kn_dtype strong = KN_DTYPE_UNSET;
    for (int i = 0; i < f->nin; i++)
        if (!is_weak(&o[i]))
            strong = strong ? dtype_promote(strong, o[i].dtype) : o[i].dtype;
    for (int i = 0; i < f->nin; i++) {
        t[i] = !is_weak(&o[i]) ? o[i].dtype : !strong ? dtype_default(o[i].number.kind) : dtype_promote_weak(strong, o[i].number.kind);
        if (ufunc == UFUNC_ldexp && strong > KN_BOOL && is_integer_number(&o[i])) /* its operands have nothing in common */
            t[i] = i == 1 ? KN_INT32 : KN_INT8;
    }
}

/* What bfloat16 takes part in is done in bfloat16 where there is such a loop: NumPy asks added dtypes first. */
static bool for_bfloat16(const ufunc_info *f, const ufunc_loop *l, const kn_dtype *t)
{
    bool met = false, has = false;
    for (int k = 0; k < f->nin; k++) {
        met |= t[k] == KN_BFLOAT16;
        has |= l->in[k] == KN_BFLOAT16;
    }
    return met && has;
}

/* A number that the other operand's dtype cannot hold is compared by value: in int64, or int64 against uint64. */
static void widen_comparison(const ufunc_operand *o, kn_dtype *t)
{
    for (int i = 0; i < 2; i++) {
        if (!is_integer_number(&o[i]) || !dtype_is_integer(t[i]) || scalar_fits(o[i].number, t[i]))
            continue;
        int other = 1 - i;
        t[i] = o[i].number.kind == SCALAR_UINT && o[i].number.v.u > INT64_MAX ? KN_UINT64 : KN_INT64;
        if (!o[other].weak && t[other] != KN_UINT64)
            t[other] = KN_INT64;
    }
}

static bool loop_takes(const ufunc_info *f, const ufunc_loop *l, const kn_dtype *t, kn_dtype dtype, casting rule)
{
    if (dtype && l->out[0] != dtype)
        return false;
    for (int k = 0; k < f->nin; k++)
        if (l->in[k] != t[k] && !dtype_can_cast(t[k], l->in[k], rule))
            return false;
    return true;
}

static bool checked_numbers(const ufunc_info *f, const ufunc_loop *l, const ufunc_operand *o, message *m)
{
    for (int k = 0; k < f->nin; k++) {
        if (!is_integer_number(&o[k]) || scalar_fits(o[k].number, l->in[k]))
            continue;
        char number[24];
        number_text(o[k].number, number, sizeof number);
        fail(m, KN_OVERFLOW_ERROR, "%s: the integer %s is out of bounds for %s", f->name, number, dtype_table[l->in[k]].name);
        return false;
    }
    if (f->flags & UFUNC_NEGATIVE_POWER && o[1].weak && o[1].number.kind == SCALAR_INT && o[1].number.v.i < 0 && dtype_is_integer(l->in[1])) {
        fail(m, KN_VALUE_ERROR, "%s: integers to negative integer powers are not allowed; make one of them a float", f->name);
        return false;
    }
    return true;
}

/* NumPy's choice: the first loop that every operand can be cast to safely. */
static const ufunc_loop *first_safe_loop(const ufunc_info *f, const kn_dtype *t, kn_dtype dtype)
{
    for (int i = 0; i < f->nloops; i++)
        if (for_bfloat16(f, &f->loops[i], t) && loop_takes(f, &f->loops[i], t, dtype, CAST_SAFE))
            return &f->loops[i];
    for (int i = 0; i < f->nloops; i++)
        if (loop_takes(f, &f->loops[i], t, dtype, CAST_SAFE))
            return &f->loops[i];
    return NULL;
}

/* The same, remembered for one and two operands: recording asks at every call. */
static const ufunc_loop *safe_loop(const ufunc_info *f, const kn_dtype *t, kn_dtype dtype)
{
    enum { UNKNOWN, NONE = 255 };
    static uint8_t known[NUFUNCS][NDTYPES][NDTYPES];      /* number of the loop + 1; every thread writes the same */
    if (dtype || f->nin > 2 || f->nloops >= NONE)
        return first_safe_loop(f, t, dtype);
    uint8_t *slot = &known[f - ufuncs][t[0]][f->nin > 1 ? t[1] : 0], k = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (k == UNKNOWN) {
        const ufunc_loop *l = first_safe_loop(f, t, dtype);
        k = (uint8_t)(l ? l - f->loops + 1 : NONE);
        __atomic_store_n(slot, k, __ATOMIC_RELAXED);
    }
    return k == NONE ? NULL : &f->loops[k - 1];
}

const ufunc_loop *ufunc_resolve(int ufunc, const ufunc_operand *o, kn_dtype dtype, casting rule, message *m)
{
    const ufunc_info *f = &ufuncs[ufunc];
    const ufunc_loop *found = NULL;
    kn_dtype t[4];
    operand_dtypes(ufunc, o, t);
    if (f->flags & UFUNC_COMPARES)
        widen_comparison(o, t);
    if (f->flags & UFUNC_FLOAT64 && !dtype) {
        bool integers = true;
        for (int k = 0; k < f->nin; k++)
            integers &= !dtype_is_inexact(t[k]);
        for (int k = 0; k < f->nin && integers; k++)
            t[k] = KN_FLOAT64;
    }
    if (f->flags & UFUNC_NO_BOOL && !dtype) {
        bool bools = true;
        for (int k = 0; k < f->nin; k++)
            bools &= t[k] == KN_BOOL;
        if (bools)
            return no_loop(f, o, dtype, m);
    }
    if (f->flags & UFUNC_TRUTH)
        return dtype && dtype != KN_BOOL ? no_loop(f, o, dtype, m) : &f->loops[0];
    found = safe_loop(f, t, dtype);
    for (int i = 0; i < f->nloops && !found && dtype; i++)
        if (loop_takes(f, &f->loops[i], t, dtype, rule))
            found = &f->loops[i];
    if (!found)
        return no_loop(f, o, dtype, m);
    for (int k = 0; k < f->nin; k++)
        if (!o[k].weak && o[k].dtype != found->in[k] && !dtype_can_cast(o[k].dtype, found->in[k], rule)) {
            fail(m, KN_TYPE_ERROR, "%s: operand %d of dtype %s cannot be cast to %s under the casting rule", f->name, k + 1, dtype_table[o[k].dtype].name, dtype_table[found->in[k]].name);
            return NULL;
        }
    return checked_numbers(f, found, o, m) ? found : NULL;
}

/* ---- application ---- */

kn_dtype nodes_dtype(int n, node *const *in)
{
    kn_dtype strong = KN_DTYPE_UNSET, t;
    for (int i = 0; i < n; i++)
        if (!in[i]->weak)
            strong = strong ? dtype_promote(strong, in[i]->dtype) : (kn_dtype)in[i]->dtype;
    t = strong;
    for (int i = 0; i < n; i++)
        if (in[i]->weak) {
            kn_dtype own = strong ? dtype_promote_weak(strong, in[i]->attr.number.kind) : (kn_dtype)in[i]->dtype;
            t = t ? dtype_promote(t, own) : own;
        }
    return t;
}

/* Nodes that are not SCALAR get the common shape; a lone SCALAR operand stands for its broadcast. */
static bool broadcast_nodes(int n, node **in, int *ndim, int64_t *shape, const char *op, message *m)
{
    int ndims[4 + 1];
    const int64_t *shapes[4 + 1];
    int first = -1;
    bool same = true;
    for (int i = 0; i < n; i++) {
        ndims[i] = in[i]->ndim;
        shapes[i] = in[i]->shape;
        if (in[i]->kind == NODE_SCALAR)
            continue;
        if (first < 0)
            first = i;
        else
            same &= ndims[i] == ndims[first] && memcmp(shapes[i], shapes[first], (size_t)ndims[i] * sizeof(int64_t)) == 0;
    }
    if (first < 0 || same) {
        *ndim = first < 0 ? 0 : ndims[first];
        if (first >= 0)
            memcpy(shape, shapes[first], (size_t)*ndim * sizeof *shape);
        return true;
    }
    if (shape_broadcast(n, ndims, shapes, ndim, shape, op, m))
        return false;
    for (int i = 0; i < n; i++) {
        if (in[i]->kind == NODE_SCALAR)
            continue;
        node *wide = node_broadcast(in[i], *ndim, shape, m);
        if (!wide)
            return false;
        node_drop(in[i]);
        in[i] = wide;
    }
    return true;
}

/* Constants of a loop that never becomes a node. */
static node *constant_result(const node *like, kn_dtype t, bool value, int ndim, const int64_t *shape, message *m)
{
    (void)like;
    return filled(node_scalar(t, (scalar){.kind = SCALAR_BOOL, .v.b = value}, false, m), ndim, shape, m);
}

static kn_status make_maps(int ufunc, const ufunc_loop *l, node **in, int ndim, const int64_t *shape, node **out, message *m)
{
    const ufunc_info *f = &ufuncs[ufunc];
    for (int k = 0; k < f->nout; k++) {
        if (!l->body)
            out[k] = node_keep(in[0]);
        else if (l->body[0] == 't' && strcmp(l->body, BODY_TRUE) == 0)
            out[k] = constant_result(in[0], l->out[k], true, ndim, shape, m);
        else if (l->body[0] == 'f' && strcmp(l->body, BODY_FALSE) == 0)
            out[k] = constant_result(in[0], l->out[k], false, ndim, shape, m);
        else
            out[k] = node_map(ufunc, k, f->nin, in, l->out[k], m);
        if (!out[k]) {
            while (k-- > 0)
                node_drop(out[k]);
            return m && m->status ? m->status : KN_MEMORY_ERROR;
        }
    }
    return KN_OK;
}

kn_status ufunc_apply_casting(int ufunc, node *const *in, kn_dtype dtype, casting rule, node **out, message *m)
{
    const ufunc_info *f = &ufuncs[ufunc];
    ufunc_operand operands[4];
    node *converted[4];
    int64_t shape[NDIM_MAX];
    int ndim, made = 0;
    kn_status status = KN_OK;
    operands[0].dtype = KN_DTYPE_UNSET;
    for (int k = 0; k < f->nin; k++) {
        operands[k].dtype = in[k]->dtype;
        operands[k].weak = in[k]->weak;
        if (in[k]->weak)
            operands[k].number = in[k]->attr.number;
    }
    const ufunc_loop *l = ufunc_resolve(ufunc, operands, dtype, rule, m);
    if (!l)
        return m && m->status ? m->status : KN_TYPE_ERROR;
    for (; made < f->nin; made++) {
        converted[made] = node_cast(in[made], l->in[made], m);
        if (!converted[made])
            break;
    }
    if (made < f->nin || !broadcast_nodes(f->nin, converted, &ndim, shape, f->name, m))
        status = m && m->status ? m->status : KN_MEMORY_ERROR;
    else
        status = make_maps(ufunc, l, converted, ndim, shape, out, m);
    while (made-- > 0)
        node_drop(converted[made]);
    return status;
}

kn_status ufunc_apply(int ufunc, int nin, node *const *in, kn_dtype dtype, node **out, message *m)
{
    if (nin != ufuncs[ufunc].nin)
        return fail(m, KN_TYPE_ERROR, "%s: takes %d operand%s, got %d", ufuncs[ufunc].name, ufuncs[ufunc].nin, ufuncs[ufunc].nin == 1 ? "" : "s", nin);
    if (ufunc == UFUNC_where)
        return give(out, do_where(node_keep(in[0]), node_keep(in[1]), node_keep(in[2]), m), m);
    if (ufunc == UFUNC_cast)
        return give(out, node_cast(in[0], dtype ? dtype : (kn_dtype)in[0]->dtype, m), m);
    return ufunc_apply_casting(ufunc, in, dtype, CAST_SAME_KIND, out, m);
}

/* ---- shorthands for compositions ---- */

node *do_unary(ufunc_number f, node *a, message *m)
{
    node *r = NULL;
    if (a)
        ufunc_apply(f, 1, &a, KN_DTYPE_UNSET, &r, m);
    node_drop(a);
    return r;
}

node *do_binary(ufunc_number f, node *a, node *b, message *m)
{
    node *r = NULL;
    if (a && b)
        ufunc_apply(f, 2, (node *[]){a, b}, KN_DTYPE_UNSET, &r, m);
    node_drop(a);
    node_drop(b);
    return r;
}

node *do_cast(node *a, kn_dtype t, message *m)
{
    node *r = a ? node_cast(a, t, m) : NULL;
    node_drop(a);
    return r;
}

node *do_where(node *condition, node *a, node *b, message *m)
{
    node *r = NULL;
    int64_t shape[NDIM_MAX];
    int ndim;
    if (condition && a && b) {
        kn_dtype t = nodes_dtype(2, (node *[]){a, b});
        char number[24];
        for (int i = 0; i < 2; i++) {
            const node *x = i ? b : a;
            if (x->weak && !scalar_fits(x->attr.number, t)) {
                number_text(x->attr.number, number, sizeof number);
                fail(m, KN_OVERFLOW_ERROR, "where: the integer %s is out of bounds for %s", number, dtype_table[t].name);
                goto done;
            }
        }
        condition = do_cast(condition, KN_BOOL, m);
        a = do_cast(a, t, m);
        b = do_cast(b, t, m);
        if (condition && a && b) {
            node *in[3] = {condition, a, b};
            if (broadcast_nodes(3, in, &ndim, shape, "where", m))
                r = node_map(UFUNC_where, 0, 3, in, t, m);
            condition = in[0];
            a = in[1];
            b = in[2];
        }
    }
done:
    node_drop(condition);
    node_drop(a);
    node_drop(b);
    return r;
}

node *do_require(node *condition, node *value, requirement_number row, message *m)
{
    node *r = NULL;
    if (value && value->weak)
        value = do_cast(value, value->dtype, m);
    condition = do_cast(condition, KN_BOOL, m);
    if (broadcast_pair(&condition, &value, "a requirement", m))
        r = node_map(UFUNC_require, row, 2, (node *[]){condition, value}, value->dtype, m);
    node_drop(condition);
    node_drop(value);
    return r;
}

node *do_flat(node *a, message *m) { return a ? do_reshape(a, 1, (const int64_t[]){a->size}, m) : NULL; }

node *do_reshape(node *a, int ndim, const int64_t *shape, message *m)
{
    node *r = a ? node_reshape(a, ndim, shape, m) : NULL;
    node_drop(a);
    return r;
}

node *do_broadcast(node *a, int ndim, const int64_t *shape, message *m)
{
    node *r = a ? node_broadcast(a, ndim, shape, m) : NULL;
    node_drop(a);
    return r;
}

node *do_transpose(node *a, const int *axes, message *m)
{
    node *r = a ? node_transpose(a, axes, m) : NULL;
    node_drop(a);
    return r;
}

node *do_view(node *a, const layout *l, message *m)
{
    node *r = a ? node_of_layout(a, l, m) : NULL;
    node_drop(a);
    return r;
}

node *do_expand(node *a, int axis, message *m)
{
    int64_t shape[NDIM_MAX + 1];
    if (!a)
        return NULL;
    for (int d = 0; d <= a->ndim; d++)
        shape[d] = d < axis ? a->shape[d] : d == axis ? 1 : a->shape[d - 1];
    return do_reshape(a, a->ndim + 1, shape, m);
}

node *weak_int(int64_t v, message *m) { return node_scalar(KN_INT64, (scalar){.kind = SCALAR_INT, .v.i = v}, true, m); }
node *weak_float(double v, message *m) { return node_scalar(KN_FLOAT64, (scalar){.kind = SCALAR_FLOAT, .v.f = v}, true, m); }
node *weak_bool(bool v, message *m) { return node_scalar(KN_BOOL, (scalar){.kind = SCALAR_BOOL, .v.b = v}, false, m); }
node *typed_int(kn_dtype t, int64_t v, message *m) { return node_scalar(t, (scalar){.kind = SCALAR_INT, .v.i = v}, false, m); }
node *typed_float(kn_dtype t, double v, message *m) { return node_scalar(t, (scalar){.kind = SCALAR_FLOAT, .v.f = v}, false, m); }

node *filled(node *number, int ndim, const int64_t *shape, message *m) { return do_broadcast(number, ndim, shape, m); }

bool broadcast_pair(node **a, node **b, const char *op, message *m)
{
    int ndim;
    int64_t shape[NDIM_MAX];
    if (*a && *b && !shape_broadcast(2, (int[]){(*a)->ndim, (*b)->ndim}, (const int64_t *const[]){(*a)->shape, (*b)->shape}, &ndim, shape, op, m)) {
        *a = do_broadcast(*a, ndim, shape, m);
        *b = do_broadcast(*b, ndim, shape, m);
        if (*a && *b)
            return true;
    }
    node_drop(*a);
    node_drop(*b);
    *a = *b = NULL;
    return false;
}
