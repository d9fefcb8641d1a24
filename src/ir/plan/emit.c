/* emit.c: a nest's expressions as kernel IR. Loops are the schedules' business and must not be put here. */
#include <string.h>
#include "ir/plan/emit.h"

#define LITERAL_DELTA 8        /* offsets between accesses up to this are literals, so that neighbours can share loads */

/* ---- parameters ---- */

static int32_t add_param(emitter *e, kparam p, plan_arg arg) {
    if (e->nparams == e->cap_params) {
        uint32_t cap = e->cap_params ? 2 * e->cap_params : 64;
        kparam *params = arena_alloc(e->mem, cap * sizeof *params);
        plan_arg *args = arena_alloc(e->mem, cap * sizeof *args);
        if (!params || !args) { e->failed = true; return NO_PARAM; }
        if (e->nparams) {
            memcpy(params, e->params, e->nparams * sizeof *params);
            memcpy(args, e->args, e->nparams * sizeof *args);
        }
        e->params = params;
        e->args = args;
        e->cap_params = cap;
    }
    e->params[e->nparams] = p;
    e->args[e->nparams] = arg;
    return (int32_t)e->nparams++;
}

static const char *named(emitter *e, const char *stem, int number) {
    text t = { 0 };
    text_add(&t, "%s%d", stem, number);
    char *copy = t.failed ? NULL : arena_alloc(e->mem, t.len + 1);
    if (copy) memcpy(copy, t.at, t.len + 1);
    else e->failed = true;
    text_free(&t);
    return copy ? copy : stem;
}

int32_t emitter_param(emitter *e, const char *name, ktype type, plan_arg arg) {
    return add_param(e, (kparam){ .name = name, .type = type }, arg);
}

int32_t emitter_array(emitter *e, const char *name, ktype type, place at, bool read, bool written) {
    return add_param(e, (kparam){ .name = name, .type = type, .array = true, .read = read, .written = written },
                     (plan_arg){ .kind = ARG_POINTER, .at = at });
}

static int32_t integer_param(emitter *e, const char *stem, int64_t v) {
    return emitter_param(e, named(e, stem, (int)e->nparams), e->index, (plan_arg){ .kind = ARG_INTEGER, .value = v });
}

/* The literal that stands for a stride in the kernel's class, or 2 for "an argument". */
static int stride_class(int64_t stride, bool pair) {
    int64_t unit = pair ? 2 : 1;
    return stride == 0 ? 0 : stride == unit ? 1 : stride == -unit ? -1 : 2;
}

static bool same_strides(const form *a, const form *b, int natoms) { return !memcmp(a->stride, b->stride, (size_t)natoms * sizeof a->stride[0]); }

static access_use add_access(emitter *e, int32_t operand, const form *at, bool pair, bool dynamic, const char *stem) {
    const nest *n = e->n;
    for (int g = 0; g < e->ngroups; g++) {
        const access_group *a = &e->groups[g];
        if (a->operand != operand || a->dynamic != dynamic || !same_strides(a->at, at, n->natoms)) continue;
        int64_t delta = at->offset - a->at->offset;
        bool literal = delta >= -LITERAL_DELTA && delta <= LITERAL_DELTA;
        return (access_use){ (uint16_t)g, delta, literal ? NO_PARAM : integer_param(e, "delta", delta) };
    }
    access_group *a = &e->groups[e->ngroups];
    const nest_operand *o = &n->operands[operand];
    place where = o->at;
    where.offset += at->offset * (int64_t)ktype_table[o->type].size;
    bool first = true;
    for (int g = 0; g < e->ngroups; g++) first &= e->groups[g].operand != operand;
    *a = (access_group){ .operand = operand, .dynamic = dynamic, .at = at };
    a->pointer = add_param(e, (kparam){ .name = first && o->name[0] ? o->name : named(e, o->name[0] ? o->name : stem, e->ngroups), .type = o->type, .array = true,
                                        .read = o->read, .written = o->written, .aliased = o->aliased || !first || (o->read && o->written) },
                           (plan_arg){ .kind = ARG_POINTER, .at = where });
    for (int i = 0; i < NEST_ATOMS; i++) a->stride[i] = NO_PARAM;
    for (int i = 0; i < n->natoms; i++)
        if (stride_class(at->stride[i], pair) == 2) a->stride[i] = integer_param(e, "stride", at->stride[i]);
    return (access_use){ (uint16_t)e->ngroups++, 0, NO_PARAM };
}

/* Parameters only stand for the loads and stores that this kernel makes: a memory that is only read here is not written. */
static void fix_directions(emitter *e) {
    for (int g = 0; g < e->ngroups; g++) {
        bool read = false, written = false;
        for (int i = 0; i < e->n->nexprs; i++) read |= e->n->exprs[i].kind == EXPR_LOAD && e->load_use[i].group == g;
        for (int i = 0; i < e->n->nstores; i++) {
            written |= e->store_use[i].group == g;
            read |= e->store_use[i].group == g && e->n->stores[i].combine;
        }
        e->params[e->groups[g].pointer].read = read;
        e->params[e->groups[g].pointer].written = written;
    }
    /* two parameters on one operand name the same memory, whichever of them writes */
    for (int g = 0; g < e->ngroups; g++)
        for (int h = 0; h < e->ngroups; h++) {
            bool writes = e->params[e->groups[g].pointer].written || e->params[e->groups[h].pointer].written;
            if (g == h || e->groups[g].operand != e->groups[h].operand) continue;
            e->params[e->groups[g].pointer].aliased = e->n->operands[e->groups[g].operand].aliased || writes;
        }
}

/* Which atoms each expression varies over. A reduction's result varies over the outer atoms; which of them, nobody needs
 * to know more precisely. */
static void find_atoms(emitter *e) {
    const nest *n = e->n;
    uint32_t all = 0, outer = 0;
    for (int a = 0; a < n->natoms; a++) {
        all |= 1u << a;
        if (!n->atoms[a].reduced) outer |= 1u << a;
    }
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        uint32_t mask = x->kind == EXPR_REDUCED ? outer : x->kind == EXPR_SCANNED ? all : 0;
        if (x->kind == EXPR_LOAD || x->kind == EXPR_INDEX)
            for (int a = 0; a < n->natoms; a++) if (x->at.stride[a]) mask |= 1u << a;
        for (int j = 0; j < x->nargs; j++) mask |= e->atoms[x->args[j]];
        if (x->kind == EXPR_LOAD && x->index >= 0) mask |= e->atoms[x->index];
        e->atoms[i] = mask;
    }
}

/* Parameters of an affine form: its offset unless that is 0, then the strides that are no literals. */
static int32_t form_params(emitter *e, const form *f) {
    int32_t first = (int32_t)e->nparams;
    if (f->offset) integer_param(e, "start", f->offset);
    for (int a = 0; a < e->n->natoms; a++) if (stride_class(f->stride[a], false) == 2) integer_param(e, "step", f->stride[a]);
    return first;
}

static void scalar_params(emitter *e) {
    const nest *n = e->n;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if (x->kind == EXPR_SCALAR)
            e->scalar_param[i] = emitter_param(e, named(e, "s", (int)e->nparams), x->type, (plan_arg){ .kind = ARG_SCALAR, .scalar = x->scalar, .type = x->type, .part = x->part });
        if (x->kind == EXPR_ARG)
            e->scalar_param[i] = emitter_param(e, named(e, "c", (int)e->nparams), x->type, (plan_arg){ .kind = ARG_INTEGER, .value = x->value });
        if (x->kind == EXPR_INDEX) e->form_param[i] = form_params(e, &x->at);
    }
    for (int i = 0; i < n->nstores; i++) {
        e->guard_param[i] = (int32_t)e->nparams;
        for (int g = 0; g < n->stores[i].nguards; g++) {
            form_params(e, &n->stores[i].guards[g].at);
            integer_param(e, "from", n->stores[i].guards[g].lo);
            integer_param(e, "to", n->stores[i].guards[g].hi);
        }
    }
}

ktype emitter_index_type(const nest *n, int64_t slack) {
    const int64_t limit = INT32_MAX - slack;
    int64_t size = 1;
    for (int a = 0; a < n->natoms; a++) if (__builtin_mul_overflow(size, n->atoms[a].extent, &size) || size > limit) return T_I64;
    for (int i = 0; i < n->nexprs + n->nstores; i++) {
        const form *f = i < n->nexprs ? &n->exprs[i].at : &n->stores[i - n->nexprs].at;
        if (i < n->nexprs && n->exprs[i].kind != EXPR_LOAD && n->exprs[i].kind != EXPR_INDEX) continue;
        if (i < n->nexprs && n->exprs[i].kind == EXPR_LOAD && n->exprs[i].index >= 0) return T_I64;   /* where a gather reaches is not known */
        int64_t span = f->offset < 0 ? -f->offset : f->offset;
        for (int a = 0; a < n->natoms; a++) {
            int64_t step = f->stride[a] < 0 ? -f->stride[a] : f->stride[a], reach;
            if (__builtin_mul_overflow(step, n->atoms[a].extent, &reach) || __builtin_add_overflow(span, reach, &span) || span > limit) return T_I64;
        }
    }
    for (int i = 0; i < n->nstores; i++) if (n->stores[i].index >= 0) return T_I64;
    return T_I32;
}

bool emitter_init(emitter *e, const nest *n, ktype index, arena *mem) {
    *e = (emitter){ .n = n, .mem = mem, .index = index };
    size_t nexprs = (size_t)n->nexprs + 1, nstores = (size_t)n->nstores + 1;
    e->groups = arena_zero(mem, nexprs + nstores, sizeof *e->groups);
    e->load_use = arena_zero(mem, nexprs, sizeof *e->load_use);
    e->store_use = arena_zero(mem, nstores, sizeof *e->store_use);
    e->scalar_param = arena_zero(mem, nexprs, sizeof *e->scalar_param);
    e->form_param = arena_zero(mem, nexprs, sizeof *e->form_param);
    e->guard_param = arena_zero(mem, nstores, sizeof *e->guard_param);
    e->atoms = arena_zero(mem, nexprs, sizeof *e->atoms);
    e->value = arena_alloc(mem, nexprs * sizeof *e->value);
    e->depth_of = arena_zero(mem, nexprs, 1);
    if (!e->groups || !e->load_use || !e->store_use || !e->scalar_param || !e->form_param || !e->guard_param || !e->atoms || !e->value || !e->depth_of) return false;
    for (int i = 0; i < 4; i++) {
        e->reduced[i] = arena_alloc(mem, ((size_t)n->nreductions + 1) * sizeof(kval));
        if (!e->reduced[i]) return false;
        for (int r = 0; r < n->nreductions; r++) e->reduced[i][r] = NO_VALUE;
    }
    for (int i = 0; i < n->nexprs; i++) e->value[i] = NO_VALUE;
    for (int i = 0; i < NEST_ATOMS; i++) e->atom_value[i] = NO_VALUE;
    for (int i = 0; i < n->nexprs; i++)
        if (n->exprs[i].kind == EXPR_LOAD) e->load_use[i] = add_access(e, n->exprs[i].operand, &n->exprs[i].at, n->exprs[i].pair, n->exprs[i].index >= 0, "in");
    for (int i = 0; i < n->nstores; i++) e->store_use[i] = add_access(e, n->stores[i].operand, &n->stores[i].at, n->stores[i].pair, n->stores[i].index >= 0, "out");
    if (!e->failed) fix_directions(e);
    for (int i = 0; i < n->natoms; i++)
        e->extent[i] = emitter_param(e, named(e, "n", i), e->index, (plan_arg){ .kind = ARG_INTEGER, .value = n->atoms[i].extent });
    scalar_params(e);
    find_atoms(e);
    return !e->failed;
}

bool emitter_start(emitter *e, const char *name) {
    if (e->failed) return false;
    e->k = kernel_new(e->mem, name, e->params, e->nparams);
    if (!e->k) return false;
    e->k->comment = e->n->comment;
    e->k->faults = e->n->faults;
    return true;
}

/* ---- loops that are open ---- */

kval emitter_extent(emitter *e, int atom) { return (kval)e->extent[atom]; }
kval emitter_integer(emitter *e, int64_t v) { return kb_const_int(e->k, e->index, v); }

void emitter_push(emitter *e) { e->depth++; }

void emitter_pop(emitter *e) {
    for (int i = 0; i < e->n->nexprs; i++) if (e->value[i] != NO_VALUE && e->depth_of[i] == e->depth) e->value[i] = NO_VALUE;
    e->depth--;
}

void emitter_open(emitter *e, int atom, kval value) {
    e->depth++;
    e->atom_value[atom] = value;
    e->open |= 1u << atom;
}

void emitter_close(emitter *e, int atom) {
    emitter_pop(e);
    e->atom_value[atom] = NO_VALUE;
    e->open &= ~(1u << atom);
}

/* ---- addresses ---- */

static kval times(emitter *e, kval v, int64_t literal, int32_t param) {
    if (param != NO_PARAM) return kb_op(e->k, KOP_mul, e->index, v, (kval)param, 0);
    if (literal == 1) return v;
    if (literal == -1) return kb_op(e->k, KOP_neg, e->index, v, 0, 0);
    return kb_op(e->k, KOP_mul, e->index, v, emitter_integer(e, literal), 0);
}

static kval plus(emitter *e, kval sum, kval v) { return sum == NO_VALUE ? v : kb_op(e->k, KOP_add, e->index, sum, v, 0); }

/* The index into the group's pointer: outer atoms first, so that what is common to a loop is made outside of it. */
static kval address(emitter *e, const access_use *u, kval dynamic) {
    const access_group *g = &e->groups[u->group];
    kval sum = NO_VALUE;
    if (u->delta_param != NO_PARAM) sum = plus(e, sum, (kval)u->delta_param);
    for (int i = 0; i < e->n->natoms; i++)
        if (g->at->stride[i]) sum = plus(e, sum, times(e, e->atom_value[i], g->at->stride[i], g->stride[i]));
    if (dynamic != NO_VALUE) sum = plus(e, sum, e->index == T_I64 ? dynamic : kb_op(e->k, KOP_convert, e->index, dynamic, 0, 0));
    if (u->delta_param == NO_PARAM && u->delta) sum = plus(e, sum, emitter_integer(e, u->delta));
    return sum == NO_VALUE ? emitter_integer(e, 0) : sum;
}

kval emitter_form(emitter *e, const form *f, int32_t param) {
    kval sum = f->offset ? (kval)param++ : NO_VALUE;
    for (int i = 0; i < e->n->natoms; i++) {
        int class = stride_class(f->stride[i], false);
        if (class) sum = plus(e, sum, times(e, e->atom_value[i], class, class == 2 ? param++ : NO_PARAM));
    }
    return sum == NO_VALUE ? emitter_integer(e, 0) : sum;
}

kval emitter_load_index(emitter *e, uint32_t x) { return address(e, &e->load_use[x], NO_VALUE); }
kval emitter_store_index(emitter *e, int store) { return address(e, &e->store_use[store], NO_VALUE); }

/* ---- expressions ---- */

/* Kernel IR wants integer constants extended to 64 bits. */
static kval constant(emitter *e, ktype t, uint64_t bits) {
    return ktype_table[t].is_int ? kb_const_int(e->k, t, (int64_t)bits) : kb_const_bits(e->k, t, bits);
}

/* Positions as data are i64, whatever index arithmetic is done in. */
static kval widened(emitter *e, kval v) { return e->index == T_I64 ? v : kb_op(e->k, KOP_convert, T_I64, v, 0, 0); }

int reduction_stage(const nest *n, const nest_reduction *r) {
    int stage = 0;
    for (int i = 0; i < r->nstate; i++) if (n->exprs[r->lifted[i]].stage > stage) stage = n->exprs[r->lifted[i]].stage;
    return stage;
}

bool is_inner_store(const nest *n, int i) {
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced && n->stores[i].at.stride[a]) return true;
    return n->exprs[n->stores[i].value].inner;
}

void nest_closure(const nest *n, bool *needed, uint32_t i) {
    if (needed[i]) return;
    needed[i] = true;
    const expr *x = &n->exprs[i];
    for (int j = 0; j < x->nargs; j++) nest_closure(n, needed, x->args[j]);
    if (x->kind == EXPR_LOAD && x->index >= 0) nest_closure(n, needed, (uint32_t)x->index);
}

/* Whether x itself (its arguments aside) can be made now. */
static bool possible(const emitter *e, const expr *x) {
    if (x->kind == EXPR_LOAD || x->kind == EXPR_INDEX)
        for (int a = 0; a < e->n->natoms; a++) if (x->at.stride[a] && !(e->open >> a & 1)) return false;
    if (x->kind == EXPR_REDUCED || x->kind == EXPR_SCANNED) return e->reduced[x->part][x->op] != NO_VALUE;
    return true;
}

static kval make(emitter *e, const expr *x, uint32_t i) {
    kernel *k = e->k;
    kval arg[16];
    int nargs = x->nargs < 16 ? x->nargs : 16;
    for (int j = 0; j < nargs; j++) arg[j] = e->value[x->args[j]];
    switch (x->kind) {
    case EXPR_CONST: return constant(e, x->type, x->bits);
    case EXPR_SCALAR: case EXPR_ARG: return (kval)e->scalar_param[i];
    case EXPR_INDEX: return widened(e, emitter_form(e, &x->at, e->form_param[i]));
    case EXPR_LOAD: {
        const access_group *g = &e->groups[e->load_use[i].group];
        kval at = address(e, &e->load_use[i], x->index >= 0 ? e->value[x->index] : NO_VALUE);
        const kparam *p = &e->params[g->pointer];
        int flags = (p->written || p->aliased ? 0 : LOAD_READONLY) | (x->pair == 1 ? LOAD_PAIR0 : x->pair == 2 ? LOAD_PAIR1 : 0);
        return kb_inst(k, K_LOAD, x->type, (uint8_t)flags, (kval)g->pointer, at, x->nargs ? arg[0] + 1 : 0);
    }
    case EXPR_OP: return kb_op(k, (kop)x->op, x->type, nargs > 0 ? arg[0] : 0, nargs > 1 ? arg[1] : 0, nargs > 2 ? arg[2] : 0);
    case EXPR_CALL: return kb_call(k, x->op, arg, nargs);
    case EXPR_RESULT: return kb_result(k, arg[0], x->part);
    case EXPR_REDUCED: case EXPR_SCANNED: return e->reduced[x->part][x->op];
    default: return NO_VALUE;
    }
}

/* Makes expression i if it and everything below it can be made. Iterative over the needed ones: arguments come first. */
static bool try_make(emitter *e, uint32_t i) {
    const expr *x = &e->n->exprs[i];
    if (e->value[i] != NO_VALUE) return true;
    if (x->kind == EXPR_FAULT || !possible(e, x)) return false;
    for (int j = 0; j < x->nargs; j++) if (e->value[x->args[j]] == NO_VALUE) return false;
    if (x->kind == EXPR_LOAD && x->index >= 0 && e->value[x->index] == NO_VALUE) return false;
    e->value[i] = make(e, x, i);
    e->depth_of[i] = (uint8_t)e->depth;
    if (x->name && e->value[i] != NO_VALUE && e->value[i] >= e->nparams) kb_name(e->k, e->value[i], x->name);
    return e->value[i] != NO_VALUE;
}

void emitter_ready(emitter *e, const bool *needed) {
    for (int i = 0; i < e->n->nexprs; i++) if (needed[i]) try_make(e, (uint32_t)i);
}

void emitter_give(emitter *e, uint32_t i, kval v) {
    e->value[i] = v;
    e->depth_of[i] = (uint8_t)e->depth;
}

kval emitter_value(emitter *e, uint32_t i) {
    if (e->value[i] != NO_VALUE) return e->value[i];
    bool *needed = arena_zero(e->mem, (size_t)e->n->nexprs + 1, 1);
    if (!needed) { e->failed = true; return 0; }
    nest_closure(e->n, needed, i);
    for (uint32_t j = 0; j <= i; j++) if (needed[j]) try_make(e, j);
    if (e->value[i] == NO_VALUE) e->failed = true;
    return e->value[i] == NO_VALUE ? 0 : e->value[i];
}

void emitter_fault(emitter *e, uint32_t i) {
    const expr *x = &e->n->exprs[i];
    kval condition = emitter_value(e, x->args[0]), index = emitter_value(e, x->args[1]);
    kb_inst(e->k, K_FAULT, T_VOID, 0, condition, index, x->op);
}

/* *param moves past the guard's parameters. */
static kval guard_condition(emitter *e, const guard *g, int32_t *param) {
    kval at = emitter_form(e, &g->at, *param);
    if (g->at.offset) (*param)++;
    for (int a = 0; a < e->n->natoms; a++) if (stride_class(g->at.stride[a], false) == 2) (*param)++;
    kval low = kb_op(e->k, KOP_ge, T_BOOL, at, (kval)(*param)++, 0), high = kb_op(e->k, KOP_lt, T_BOOL, at, (kval)(*param)++, 0);
    return kb_op(e->k, KOP_and, T_BOOL, low, high, 0);
}

void emitter_store(emitter *e, int which, int flags) {
    const nest_store *s = &e->n->stores[which];
    kval v = emitter_value(e, s->value), dynamic = s->index >= 0 ? emitter_value(e, (uint32_t)s->index) : NO_VALUE, opened = NO_VALUE;
    kval c = s->when ? emitter_value(e, s->when - 1) : NO_VALUE;
    int32_t param = e->guard_param[which];
    for (int i = 0; i < s->nguards; i++) {
        kval inside = guard_condition(e, &s->guards[i], &param);
        c = c == NO_VALUE ? inside : kb_op(e->k, KOP_and, T_BOOL, c, inside, 0);
    }
    if (c != NO_VALUE) opened = kb_inst(e->k, K_IF, T_VOID, 0, c, 0, 0);
    const access_group *g = &e->groups[e->store_use[which].group];
    kval at = address(e, &e->store_use[which], dynamic);
    flags |= s->pair == 1 ? STORE_PAIR0 : s->pair == 2 ? STORE_PAIR1 : 0;
    if (s->combine && !s->atomic) {
        kval old = kb_inst(e->k, K_LOAD, ktype_value(e->n->operands[s->operand].type), 0, (kval)g->pointer, at, 0), both[2] = { old, v };
        v = s->op & 0x8000 ? kb_call(e->k, (int)(s->op & 0x7fff), both, 2) : kb_op(e->k, (kop)s->op, kb_type(e->k, v), old, v, 0);
    }
    if (s->atomic) kb_inst(e->k, K_ATOMIC, kb_type(e->k, v), s->how, (kval)g->pointer, at, v);
    else kb_inst(e->k, K_STORE, T_VOID, (uint8_t)flags, (kval)g->pointer, at, v);
    if (opened != NO_VALUE) kb_end(e->k, opened);
}

/* ---- reduction states ---- */

int reduction_width(const nest_reduction *r) { return r->nstate + (r->compensate ? 1 : 0); }
ktype reduction_type(const nest_reduction *r, int c) { return r->state_types[c < r->nstate ? c : 0]; }

kval reduction_identity(emitter *e, const nest_reduction *r, int c) {
    return constant(e, reduction_type(r, c), c < r->nstate ? r->identity[c] : 0);
}

/* For the reader of emitted source; a value that has a name keeps it. */
static void name_value(kernel *k, kval v, const char *name) {
    if (kernel_ok(k) && k->code[v].op < NKOPS && !(k->names && k->names[v])) kb_name(k, v, name);
}

/* s + x exactly as sum and error (Knuth, The Art of Computer Programming, volume 2, 4.2.2). */
static void two_sum(emitter *e, ktype t, kval s, kval x, kval *sum, kval *error) {
    kernel *k = e->k;
    *sum = kb_op(k, KOP_add, t, s, x, 0);
    kval back = kb_op(k, KOP_sub, t, *sum, s, 0), rest = kb_op(k, KOP_sub, t, *sum, back, 0);
    name_value(k, *sum, "now");
    name_value(k, back, "part");
    *error = kb_op(k, KOP_add, t, kb_op(k, KOP_sub, t, s, rest, 0), kb_op(k, KOP_sub, t, x, back, 0), 0);
}

void reduction_combine(emitter *e, const nest_reduction *r, const kval *a, const kval *b, kval *out) {
    if (r->compensate) {
        ktype t = r->state_types[0];
        kval error;
        two_sum(e, t, a[0], b[0], &out[0], &error);
        out[1] = kb_op(e->k, KOP_add, t, kb_op(e->k, KOP_add, t, a[1], b[1], 0), error, 0);
        return;
    }
    if (r->combine < 0) { out[0] = kb_op(e->k, (kop)(-1 - r->combine), r->state_types[0], a[0], b[0], 0); return; }
    kval args[8];
    for (int i = 0; i < r->nstate; i++) {
        args[i] = a[i];
        args[r->nstate + i] = b[i];
    }
    out[0] = kb_call(e->k, r->combine, args, 2 * r->nstate);
    for (int i = 1; i < r->nstate; i++) out[i] = kb_result(e->k, out[0], i);
}

/* Whether the present element is the first of R. */
static kval first_element(emitter *e) {
    kval first = kb_const_int(e->k, T_BOOL, 1);
    for (int i = 0; i < e->n->natoms; i++)
        if (e->n->atoms[i].reduced) first = kb_op(e->k, KOP_and, T_BOOL, first, kb_op(e->k, KOP_eq, T_BOOL, e->atom_value[i], emitter_integer(e, 0), 0), 0);
    return first;
}

void reduction_step(emitter *e, const nest_reduction *r, const kval *a, const kval *lifted, kval *out) {
    if (!r->compensate) {
        reduction_combine(e, r, a, lifted, out);
        for (int i = 0; i < r->nstate && r->from_first; i++) out[i] = kb_op(e->k, KOP_select, r->state_types[i], first_element(e), lifted[i], out[i]);
        return;
    }
    ktype t = r->state_types[0];
    kval error;
    two_sum(e, t, a[0], lifted[0], &out[0], &error);
    out[1] = kb_op(e->k, KOP_add, t, a[1], error, 0);
}

/* An infinite or NaN sum has no meaningful error: it is the result. */
void reduction_finish(emitter *e, const nest_reduction *r, const kval *state, kval *components) {
    for (int i = 0; i < r->nstate; i++) components[i] = state[i];
    if (!r->compensate) return;
    kernel *k = e->k;
    ktype t = r->state_types[0];
    kval finite = kb_op(k, KOP_eq, T_BOOL, kb_op(k, KOP_sub, t, state[1], state[1], 0), kb_const_float(k, t, 0), 0);
    components[0] = kb_op(k, KOP_select, t, finite, kb_op(k, KOP_add, t, state[0], state[1], 0), state[0]);
}
