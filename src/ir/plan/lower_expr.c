/* lower_expr.c: a group's trace as the expressions and stores of a nest.
 *
 * How it works: visits come inputs before users; each becomes one expression, or two for complex values. Equal expressions
 * are found in a table by contents, so that what two nodes both compute is computed once. float16 and bfloat16 are float32
 * here, rounded after every operation. Elementwise functions, reductions and index operations are in the files next to this one. */
#include <stdio.h>
#include <string.h>
#include "ir/plan/internal.h"

ktype element_type(kn_dtype t) { return ktype_value(ktype_of_dtype(t)); }

/* ---- expressions ---- */

static void failed(lowering *l) { if (!l->status) l->status = fail_memory(l->m, "making a plan"); }

static uint32_t hash_of(const lowering *l, const expr *x, const uint32_t *args, int nargs) {
    uint64_t h = (uint64_t)x->kind << 32 ^ (uint64_t)x->op << 16 ^ (uint64_t)x->part << 8 ^ x->type ^ x->bits ^ (uint64_t)x->value * 31 ^ (uint64_t)x->pair << 40;
    h = (h ^ (uint64_t)(uint32_t)x->operand << 20 ^ (uint32_t)x->scalar ^ (uint64_t)(uint32_t)x->index << 7) * 0x9e3779b97f4a7c15u;
    if (x->kind == EXPR_LOAD || x->kind == EXPR_INDEX) {
        h = (h ^ (uint64_t)x->at.offset) * 0x9e3779b97f4a7c15u;
        for (int a = 0; a < l->n->natoms; a++) h = (h ^ (h >> 29) ^ (uint64_t)x->at.stride[a]) * 0x9e3779b97f4a7c15u;
    }
    for (int i = 0; i < nargs; i++) h = (h ^ (h >> 29) ^ args[i]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static bool equal(const lowering *l, const expr *x, const expr *y, const uint32_t *args, int nargs) {
    if (x->kind != y->kind || x->op != y->op || x->part != y->part || x->type != y->type || x->bits != y->bits || x->value != y->value || x->pair != y->pair) return false;
    if (x->operand != y->operand || x->scalar != y->scalar || x->index != y->index || x->nargs != nargs) return false;
    for (int i = 0; i < nargs; i++) if (x->args[i] != args[i]) return false;
    if (x->kind != EXPR_LOAD && x->kind != EXPR_INDEX) return true;
    return x->at.offset == y->at.offset && !memcmp(x->at.stride, y->at.stride, (size_t)l->n->natoms * sizeof x->at.stride[0]);
}

static bool enlarge_table(lowering *l) {
    uint32_t size = l->table_size ? 2 * l->table_size : 128;
    uint32_t *table = arena_zero(l->mem, size, sizeof *table);
    if (!table) return false;
    for (int i = 0; i < l->n->nexprs; i++) {
        const expr *x = &l->n->exprs[i];
        uint32_t s = hash_of(l, x, x->args, x->nargs) & (size - 1);
        while (table[s]) s = (s + 1) & (size - 1);
        table[s] = (uint32_t)i + 1;
    }
    l->table = table;
    l->table_size = size;
    return true;
}

uint32_t lower_expr(lowering *l, const expr *x, const uint32_t *args, int nargs) {
    nest *n = l->n;
    if (l->status) return 0;
    if (2 * (uint32_t)n->nexprs >= l->table_size && !enlarge_table(l)) { failed(l); return 0; }
    uint32_t s = hash_of(l, x, args, nargs) & (l->table_size - 1);
    for (; l->table[s]; s = (s + 1) & (l->table_size - 1))
        if (equal(l, &n->exprs[l->table[s] - 1], x, args, nargs)) return l->table[s] - 1;
    uint32_t number = (uint32_t)n->nexprs;
    if (!reserve(l->mem, (void **)&n->exprs, &l->cap_exprs, number + 1, sizeof *n->exprs)) { failed(l); return 0; }
    expr *e = &n->exprs[number];
    *e = *x;
    e->nargs = (uint8_t)nargs;
    e->args = NULL;
    if (nargs && !(e->args = arena_copy(l->mem, args, (size_t)nargs * sizeof *args))) { failed(l); return 0; }
    n->nexprs++;
    l->table[s] = number + 1;
    return number;
}

uint32_t lower_bits(lowering *l, ktype t, uint64_t bits) {
    expr x = { .kind = EXPR_CONST, .type = t, .bits = bits, .index = -1 };
    return lower_expr(l, &x, NULL, 0);
}

uint32_t lower_int(lowering *l, ktype t, int64_t v) {
    int unused = 64 - 8 * ktype_table[t].size;
    if (t == T_BOOL) return lower_bits(l, t, v != 0);
    uint64_t bits = (uint64_t)v << unused;
    return lower_bits(l, t, ktype_table[t].is_signed ? (uint64_t)((int64_t)bits >> unused) : bits >> unused);
}

uint32_t lower_float(lowering *l, ktype t, double v) {
    uint64_t bits = 0;
    float f = (float)v;
    if (t == T_F32) memcpy(&bits, &f, sizeof f);
    else memcpy(&bits, &v, sizeof v);
    return lower_bits(l, t, bits);
}

uint32_t lower_op(lowering *l, kop op, ktype t, uint32_t a, uint32_t b, uint32_t c) {
    static const uint8_t arity[] = {
#define KOP(name, arity, ...) [KOP_##name] = arity,
#include "ir/kir/kops.def"
    };
    expr x = { .kind = EXPR_OP, .type = t, .op = (uint16_t)op, .index = -1 };
    return lower_expr(l, &x, (const uint32_t[]){ a, b, c }, arity[op]);
}

uint32_t lower_argument(lowering *l, int64_t v) {
    expr x = { .kind = EXPR_ARG, .type = T_I64, .value = v, .index = -1 };
    return lower_expr(l, &x, NULL, 0);
}

uint32_t lower_index(lowering *l, const form *f) {
    expr x = { .kind = EXPR_INDEX, .type = T_I64, .index = -1 };
    x.at = *f;
    return lower_expr(l, &x, NULL, 0);
}

void lower_fault(lowering *l, uint32_t condition, uint32_t position, kn_status status, const char *text) {
    unsigned code = l->status ? 0 : builder_fault(l->b, text, status);
    if (l->guard) condition = lower_op(l, KOP_and, T_BOOL, lower_guard(l, l->guard), condition, 0);
    if (!code) { failed(l); return; }
    expr x = { .kind = EXPR_FAULT, .type = T_VOID, .op = (uint16_t)code, .index = -1 };
    lower_expr(l, &x, (const uint32_t[]){ condition, position }, 2);
    l->n->faults = true;
}

/* ---- memory ---- */

/* Letters that do not look like the parameters for extents, strides and scalars. */
static void operand_name(const lowering *l, uint32_t value, bool written, char *name, size_t size) {
    static const char letters[] = "abcdefghijklmopqrtuvwxyz";
    uint32_t leaf = value - l->p->nnodes;
    if (written) snprintf(name, size, "out");
    else if (!is_leaf(l->p, value)) snprintf(name, size, "t%u", value);
    else if (leaf < sizeof letters - 1) snprintf(name, size, "%c", letters[leaf]);
    else snprintf(name, size, "x%u", leaf);
}

/* Memory of the plan's own is aligned; of leaves the plan cache's key tells. */
static bool is_aligned(const lowering *l, const place *at) {
    int32_t leaf = at->kind == PLACE_LEAF ? at->index : l->b->p->memory[at->index].reuses_leaf;
    if (leaf < 0) return true;
    const node *n = l->p->s->leaves[leaf];
    return n->value && ((uintptr_t)n->value->data + (uint64_t)n->offset) % 64 == 0;
}

int32_t lower_operand(lowering *l, uint32_t value, bool written) {
    const note *q = &l->p->notes[value];
    ktype type = ktype_of_dtype((kn_dtype)q->n->dtype);
    nest *n = l->n;
    for (int i = 0; i < n->noperands; i++) {
        nest_operand *o = &n->operands[i];
        if (o->at.kind != q->at.kind || o->at.index != q->at.index || o->at.offset != q->at.offset || o->type != type) continue;
        *(written ? &o->written : &o->read) = true;
        o->aliased |= o->read && o->written;
        return i;
    }
    if (n->noperands == NEST_OPERANDS) {
        if (!l->status) l->status = fail(l->m, KN_NOT_AVAILABLE, "an operation with more than %d arrays", NEST_OPERANDS);
        return 0;
    }
    nest_operand *o = &n->operands[n->noperands];
    *o = (nest_operand){ .at = q->at, .type = type, .read = !written, .written = written, .aligned = is_aligned(l, &q->at) };
    operand_name(l, value, written, o->name, sizeof o->name);
    return n->noperands++;
}

form form_in_parts(const lowering *l, uint16_t number, kn_dtype t, bool parts) {
    form f;
    const form *g = &l->t->at.forms[number];
    int unit = dtype_is_complex(t) && !parts ? 2 : 1;
    f.offset = g->offset * unit;
    for (int a = 0; a < NEST_ATOMS; a++) f.stride[a] = a < l->n->natoms ? g->stride[a] * unit : 0;
    return f;
}

/* Which half of a pair an access to single parts stays on, as the pair flag; 0: on none. */
static uint8_t pair_of(const lowering *l, const form *f) {
    for (int a = 0; a < l->n->natoms; a++) if (f->stride[a] & 1) return 0;
    return f->offset & 1 ? 2 : 1;
}

static uint32_t both(lowering *l, int64_t all, uint32_t test) { return all < 0 ? test : lower_op(l, KOP_and, T_BOOL, (uint32_t)all, test, 0); }

/* Whether the guard's tests hold, and those of the guards around it. */
uint32_t lower_guard(lowering *l, uint16_t guard) {
    const trace *t = l->t;
    int64_t all = -1;
    for (; guard; guard = t->guards[guard].outer)
        for (uint16_t i = 0; i < t->guards[guard].n; i++) {
            const interval *q = &t->intervals[t->guards[guard].first + i];
            form f = form_in_parts(l, q->at, KN_INT64, false);
            uint32_t at = lower_index(l, &f);
            if (q->lo > INT64_MIN) all = both(l, all, lower_op(l, KOP_ge, T_BOOL, at, lower_argument(l, q->lo), 0));
            if (q->hi < INT64_MAX) all = both(l, all, lower_op(l, KOP_lt, T_BOOL, at, lower_argument(l, q->hi), 0));
        }
    return all < 0 ? lower_int(l, T_BOOL, 1) : (uint32_t)all;
}

uint32_t lower_guarded_load(lowering *l, const expr *x, uint16_t guard) {
    uint32_t mask = guard ? lower_guard(l, guard) : 0;
    return lower_expr(l, x, &mask, guard ? 1 : 0);
}

static void lower_choice(lowering *l, visit *v, const node *n, const uint32_t (*in)[2]) {
    ktype t = element_type((kn_dtype)n->dtype);
    uint32_t inside = lower_guard(l, v->tests);
    for (int part = 0; part < 2; part++) v->expr[part] = v->nlinks < 2 ? in[0][part] : lower_op(l, KOP_select, t, inside, in[0][part], in[1][part]);
}

static void lower_load(lowering *l, visit *v, const node *n) {
    kn_dtype t = (kn_dtype)n->dtype;
    expr x = { .kind = EXPR_LOAD, .type = element_type(t), .index = -1 };
    x.operand = lower_operand(l, v->value, false);
    x.at = form_in_parts(l, v->form, t, v->parts);
    if (v->parts) x.pair = pair_of(l, &x.at);
    else if (dtype_is_complex(t)) x.pair = 1;
    v->expr[0] = v->expr[1] = lower_guarded_load(l, &x, v->guard);
    if (v->parts || !dtype_is_complex(t)) return;
    x.pair = 2;
    x.at.offset++;
    v->expr[1] = lower_guarded_load(l, &x, v->guard);
}

static void lower_scalar(lowering *l, visit *v, const node *n) {
    expr x = { .kind = EXPR_SCALAR, .type = element_type((kn_dtype)n->dtype), .scalar = (int32_t)(n->slot - SLOT_SCALAR), .index = -1 };
    v->expr[0] = v->expr[1] = lower_expr(l, &x, NULL, 0);
    if (!dtype_is_complex((kn_dtype)n->dtype)) return;
    x.part = 1;
    v->expr[1] = lower_expr(l, &x, NULL, 0);
}

/* ---- visits ---- */

static void lower_visit(lowering *l, visit *v) {
    const node *n = l->p->notes[v->value].n;
    l->guard = v->guard;
    uint32_t in[NDIM_MAX + 2][2] = { { 0 } };
    for (int i = 0; i < v->nlinks && i < NDIM_MAX + 2; i++) {
        const visit *u = &l->t->visits[l->t->links[v->link + (uint32_t)i].visit];
        in[i][0] = u->expr[0];
        in[i][1] = u->expr[1];
    }
    if (v->kind == VISIT_LOAD) { lower_load(l, v, n); return; }
    switch (n->kind) {
    case NODE_SCALAR: lower_scalar(l, v, n); break;
    case NODE_VIEW:
        v->expr[0] = in[0][v->part == 2 ? 1 : 0];
        v->expr[1] = in[0][1];
        break;
    case NODE_INDEX: v->expr[0] = v->expr[1] = lower_index(l, &l->t->at.forms[v->form]); break;
    case NODE_EMPTY: v->expr[0] = v->expr[1] = lower_bits(l, element_type((kn_dtype)n->dtype), 0); break;
    case NODE_MAP: lower_map(l, n, (const uint32_t (*)[2])in, v->expr); break;
    case NODE_REDUCE: case NODE_SCAN: lower_reduction(l, v, n, in[0]); break;
    case NODE_GATHER: lower_gather(l, v, n, (const uint32_t (*)[2])in); break;
    case NODE_WRITE:
        if (l->p->notes[v->value].anchor) lower_write(l, v, n, in[0]);
        else lower_choice(l, v, n, (const uint32_t (*)[2])in);
        break;
    case NODE_SCATTER: lower_scatter(l, v, n, (const uint32_t (*)[2])in); break;
    default: break;
    }
}

/* ---- stores ---- */

bool anchor_is_stored(const partition *p, uint32_t v) {
    const note *q = &p->notes[v];
    return q->wanted || q->readers || q->n->kind == NODE_WRITE || q->n->kind == NODE_SCATTER;
}

nest_store *lower_store(lowering *l) {
    if (!reserve(l->mem, (void **)&l->n->stores, &l->cap_stores, (uint32_t)l->n->nstores + 1, sizeof *l->n->stores)) { failed(l); return NULL; }
    nest_store *s = &l->n->stores[l->n->nstores++];
    memset(s, 0, sizeof *s);
    s->index = -1;
    return s;
}

static void store_anchor(lowering *l, const visit *v, const node *n) {
    kn_dtype t = (kn_dtype)n->dtype;
    for (int part = 0; part < parts_of(t); part++) {
        nest_store *s = lower_store(l);
        if (!s) return;
        s->operand = lower_operand(l, v->value, true);
        s->value = v->expr[part];
        s->at = form_in_parts(l, v->form, t, false);
        s->at.offset += part;
        s->pair = dtype_is_complex(t) ? (uint8_t)(part + 1) : 0;
    }
}

/* Names what the kernel does, for its symbol: "sub_exp_sum"; one word alone may be the name of a function of CUDA's or C's. */
static void name_nest(lowering *l) {
    static const char alone[] = "_kernel";
    nest *n = l->n;
    size_t len = 0;
    int words = 0;
    const node *last = NULL;
    for (uint32_t i = 0; i < l->t->norder; i++) {
        const visit *v = &l->t->visits[l->t->order[i]];
        const node *x = l->p->notes[v->value].n;
        static const char *const kinds[NNODE_KINDS] = { [NODE_GATHER] = "gather", [NODE_WRITE] = "write", [NODE_SCATTER] = "scatter" };
        const char *name = v->kind != VISIT_COMPUTE ? NULL : x->kind == NODE_MAP ? ufuncs[x->op].name : x->kind == NODE_REDUCE || x->kind == NODE_SCAN ? reductions[x->op].name
                                                                                                                : kinds[x->kind];
        if (x->kind == NODE_WRITE && !l->p->notes[v->value].anchor) name = "join";
        if (!name || (last && last->kind == x->kind && last->op == x->op)) continue;
        const char *scan = x->kind == NODE_SCAN ? "cumulative_" : "";
        if (len + strlen(scan) + strlen(name) + 2 > sizeof n->name) break;
        if (len) n->name[len++] = '_';
        memcpy(n->name + len, scan, strlen(scan));
        memcpy(n->name + len + strlen(scan), name, strlen(name) + 1);
        len += strlen(scan) + strlen(name);
        last = x;
        words += *scan ? 2 : 1;
    }
    if (words == 1 && len + sizeof alone <= sizeof n->name) memcpy(n->name + len, alone, sizeof alone);
    if (!len) memcpy(n->name, "copy", 5);
}

kn_status lower_group(const partition *p, const group *g, struct plan_builder *b, nest *n, scatter_pass pass, int winners, message *m) {
    lowering l = { .p = p, .mem = p->mem, .g = g, .t = g->t, .n = n, .b = b, .pass = pass, .winners = winners, .m = m };
    memset(n, 0, sizeof *n);
    n->natoms = g->t->at.natoms;
    memcpy(n->atoms, g->t->at.atoms, sizeof n->atoms);
    n->note = g->most < p->nnodes ? (int)g->most : -1;
    for (uint32_t i = 0; i < g->t->norder && !l.status; i++) lower_visit(&l, &g->t->visits[g->t->order[i]]);
    for (uint32_t i = 0; i < g->t->norder && !l.status; i++) {
        const visit *v = &g->t->visits[g->t->order[i]];
        const node *x = p->notes[v->value].n;
        if (v->kind != VISIT_COMPUTE || !p->notes[v->value].anchor || x->kind == NODE_WRITE || x->kind == NODE_SCATTER) continue;
        if (anchor_is_stored(p, v->value)) store_anchor(&l, v, x);
    }
    name_nest(&l);
    return l.status;
}
