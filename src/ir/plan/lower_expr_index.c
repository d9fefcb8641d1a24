/* lower_expr_index.c: gathers, scatters and writes into windows.
 *
 * How it works: an index counts from the end when negative, is a fault when out of range, and is then clamped, so that no
 * access leaves the array. Its product with the stride is added to the affine part of the address. Whether a write happens
 * in place has been decided before; here it is a store at the window's form. */
#include <string.h>
#include "ir/plan/internal.h"

/* The checked position along a dimension of this extent. */
static uint32_t checked_index(lowering *l, uint32_t index, int dimension, int64_t extent) {
    static const char text[] = "index %%lld is out of bounds for axis %d with size %lld";
    uint32_t n = lower_argument(l, extent), zero = lower_int(l, T_I64, 0);
    uint32_t negative = lower_op(l, KOP_lt, T_BOOL, index, zero, 0);
    uint32_t at = lower_op(l, KOP_select, T_I64, negative, lower_op(l, KOP_add, T_I64, index, n, 0), index);
    uint32_t bad = lower_op(l, KOP_or, T_BOOL, lower_op(l, KOP_lt, T_BOOL, at, zero, 0), lower_op(l, KOP_ge, T_BOOL, at, n, 0), 0);
    char *sentence = arena_text(l->mem, text, dimension, (long long)extent);
    if (!sentence) { if (!l->status) l->status = fail_memory(l->m, "making a plan"); return 0; }
    lower_fault(l, bad, index, KN_INDEX_ERROR, sentence);
    return lower_op(l, KOP_select, T_I64, bad, zero, at);
}

/* Sum of index * stride over the dimensions that have an index input; -1: there are none. in[first...] are the indices. */
static int32_t dynamic_part(lowering *l, const gather_attr *g, const int64_t *shape, const int64_t *strides, const uint32_t (*in)[2], int first) {
    int64_t sum = -1;
    for (int d = 0; d < g->ndim; d++) {
        if (g->from[d] >= 0) continue;
        uint32_t at = checked_index(l, in[first - 1 - g->from[d]][0], d, shape[d]);
        if (strides[d] != 1) at = lower_op(l, KOP_mul, T_I64, at, lower_argument(l, strides[d]), 0);
        sum = sum < 0 ? at : lower_op(l, KOP_add, T_I64, (uint32_t)sum, at, 0);
    }
    return (int32_t)sum;
}

static void strides_in_parts(const node *n, const window *w, int unit, int64_t *strides) {
    int64_t weight = unit;
    for (int d = n->ndim; d-- > 0;) {
        strides[d] = w ? w->strides[d] * unit : weight;
        weight *= n->shape[d];
    }
}

void lower_gather(lowering *l, visit *v, const node *n, const uint32_t (*in)[2]) {
    kn_dtype t = (kn_dtype)n->dtype;
    const node *source = n->in[0];
    const window *w;
    uint32_t value;
    int64_t strides[NDIM_MAX];
    bool known = memory_window(l->p, source, &value, &w);
    strides_in_parts(source, known ? w : NULL, dtype_is_complex(t) ? 2 : 1, strides);
    int32_t dynamic = dynamic_part(l, &n->attr.gather.at, source->shape, strides, in, 0);
    if (v->source == NO_VALUE_NUMBER) {                /* nothing to take from: every index is a fault */
        v->expr[0] = v->expr[1] = lower_bits(l, element_type(t), 0);
        return;
    }
    expr x = { .kind = EXPR_LOAD, .type = element_type(t), .index = dynamic };
    x.operand = lower_operand(l, value, false);
    x.at = form_in_parts(l, v->at, (kn_dtype)l->p->notes[value].n->dtype, v->parts);
    x.pair = dtype_is_complex(t) ? 1 : 0;
    v->expr[0] = v->expr[1] = lower_guarded_load(l, &x, v->guard);
    if (!dtype_is_complex(t)) return;
    x.pair = 2;
    x.at.offset++;
    v->expr[1] = lower_guarded_load(l, &x, v->guard);
}

void lower_write(lowering *l, visit *v, const node *n, const uint32_t *in) {
    kn_dtype t = (kn_dtype)n->dtype;
    int parts = v->parts ? 1 : parts_of(t);
    for (int part = 0; part < parts; part++) {
        nest_store *s = lower_store(l);
        if (!s) return;
        s->operand = lower_operand(l, v->value, true);
        s->value = in[part];
        s->at = form_in_parts(l, v->at, t, v->parts);
        s->at.offset += part;
        s->pair = parts == 2 ? (uint8_t)(part + 1) : 0;
    }
}

/* The value that a combining scatter stores: the function of what is there and of the new one. */
static bool combined(lowering *l, const node *n, const expr *old, const uint32_t *value, uint32_t *out) {
    kn_dtype t = (kn_dtype)n->dtype, types[2] = { t, t }, gives[4];
    const ufunc_loop *loop = ufunc_loop_for(n->op, types);
    uint32_t args[4], result[4];
    int nargs = 0, parts = parts_of(t);
    expr x = *old;
    for (int part = 0; part < parts; part++, x.at.offset++) {
        x.pair = parts == 2 ? (uint8_t)(part + 1) : 0;
        args[nargs++] = lower_expr(l, &x, NULL, 0);
    }
    for (int part = 0; part < parts; part++) args[nargs++] = value[part];
    if (!loop || !loop->body || !lower_named(l, loop->body, types, 2, args, result, gives)) {
        if (!l->status) l->status = fail(l->m, KN_NOT_AVAILABLE, "%s.at is not available for %s", ufuncs[n->op].name, dtype_table[t].name);
        return false;
    }
    for (int part = 0; part < parts; part++) out[part] = round_to(l, t, result[part]);
    return true;
}

/* A combination that is one function or primitive is left to the schedule; others read and write in order. */
static bool simple_combine(const node *n, uint16_t *op) {
    kn_dtype t = (kn_dtype)n->dtype, types[2] = { t, t };
    const ufunc_loop *loop = ufunc_loop_for(n->op, types);
    if (!loop || !loop->body || dtype_is_complex(t) || t == KN_FLOAT16 || t == KN_BFLOAT16) return false;
    int f = function_named(loop->body, types, 2), k = primitive_named(loop->body);
    if (f < 0 && k < 0) return false;
    *op = f >= 0 ? (uint16_t)(0x8000 | f) : (uint16_t)k;
    return true;
}

/* Combinations whose result does not depend on the order, and that memory can make by itself. */
static bool atomic_combine(const node *n, uint8_t *how) {
    static const struct { const char *body; uint8_t how; } rows[] = { { "add", ATOMIC_ADD }, { "minimum", ATOMIC_MIN }, { "maximum", ATOMIC_MAX },
                                                                      { "and", ATOMIC_AND }, { "or", ATOMIC_OR }, { "xor", ATOMIC_XOR } };
    kn_dtype t = (kn_dtype)n->dtype, types[2] = { t, t };
    const ufunc_loop *loop = ufunc_loop_for(n->op, types);
    if (!loop || !loop->body || !dtype_is_integer(t) || dtype_size(t) < 4) return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].body, loop->body)) { *how = rows[i].how; return true; }
    return false;
}

static void store_scattered(lowering *l, const expr *at, const uint32_t *value, kn_dtype t, nest_store like) {
    for (int part = 0; part < parts_of(t); part++) {
        nest_store *s = lower_store(l);
        if (!s) return;
        *s = like;
        s->operand = at->operand;
        s->value = value[part];
        s->at = at->at;
        s->at.offset += part;
        s->index = at->index;
        s->pair = parts_of(t) == 2 ? (uint8_t)(part + 1) : 0;
    }
}

/* The first pass of a scatter without an order: at every position, one more than the number of the last element that goes
 * there. The second pass stores those elements alone. */
static void scatter_winners(lowering *l, const visit *v, const node *n, const uint32_t (*in)[2], const expr *at) {
    int64_t strides[NDIM_MAX];
    form number = form_in_parts(l, v->form, KN_INT64, false);
    nest_operand *o = &l->n->operands[l->n->noperands];
    expr x = { .kind = EXPR_LOAD, .type = T_I32 };
    if (l->n->noperands == NEST_OPERANDS) { l->status = fail(l->m, KN_NOT_AVAILABLE, "an assignment by index with more than %d arrays", NEST_OPERANDS - 1); return; }
    *o = (nest_operand){ .at = { PLACE_MEMORY, l->winners, 0 }, .type = T_I32, .read = true, .written = l->pass == SCATTER_MARK, .aliased = l->pass == SCATTER_MARK, .name = "last" };
    x.operand = l->n->noperands++;
    x.at = form_in_parts(l, v->at, KN_INT64, false);
    strides_in_parts(n, NULL, 1, strides);
    x.index = dynamic_part(l, &n->attr.gather.at, n->shape, strides, in, 1);
    uint32_t mine = lower_op(l, KOP_convert, T_I32, lower_op(l, KOP_add, T_I64, lower_index(l, &number), lower_int(l, T_I64, 1), 0), 0, 0);
    if (l->pass == SCATTER_MARK) {
        store_scattered(l, &x, &mine, KN_INT32, (nest_store){ .combine = true, .atomic = true, .how = ATOMIC_MAX });
        return;
    }
    uint32_t wins = lower_op(l, KOP_eq, T_BOOL, lower_expr(l, &x, NULL, 0), mine, 0);
    store_scattered(l, at, in[0], (kn_dtype)n->dtype, (nest_store){ .when = wins + 1 });
}

void lower_scatter(lowering *l, visit *v, const node *n, const uint32_t (*in)[2]) {
    kn_dtype t = (kn_dtype)n->dtype;
    int64_t strides[NDIM_MAX];
    nest_store like = { 0 };
    strides_in_parts(n, NULL, parts_of(t), strides);
    bool combines = n->attr.gather.mode == SCATTER_COMBINE;
    uint32_t value[2] = { in[0][0], in[0][1] };
    expr at = { .kind = EXPR_LOAD, .type = element_type(t) };
    at.index = dynamic_part(l, &n->attr.gather.at, n->shape, strides, in, 1);
    at.at = form_in_parts(l, v->at, t, false);
    if (l->pass == SCATTER_MARK) { scatter_winners(l, v, n, in, &at); return; }
    at.operand = lower_operand(l, v->value, true);
    if (l->pass == SCATTER_LAST) { scatter_winners(l, v, n, in, &at); return; }
    if (combines) l->n->operands[at.operand].read = l->n->operands[at.operand].aliased = true;
    like.atomic = combines && l->p->p->target != TARGET_CPU && atomic_combine(n, &like.how);
    like.combine = like.atomic || (combines && simple_combine(n, &like.op));
    if (combines && !like.combine && !combined(l, n, &at, in[0], value)) return;
    l->n->serial = !like.atomic;
    store_scattered(l, &at, value, t, like);
}
