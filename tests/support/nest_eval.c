/* nest_eval.c: nests by brute force; see nest_eval.h. */
#include "nest_eval.h"

#include <string.h>

/* ---- scalars ---- */

static uint64_t word_at(ktype t, const void *at) {
    uint64_t word = 0;
    size_t size = ktype_table[t].size;
    memcpy(&word, at, size);
    if (t == T_BOOL) return *(const uint8_t *)at != 0;
    if (!ktype_table[t].is_int || !ktype_table[t].is_signed || size == 8) return word;
    return (uint64_t)((int64_t)(word << (64 - 8 * size)) >> (64 - 8 * size));
}

enum { MOST_FUNCTIONS = 8192 };
static arena wrapper_memory;
static const kernel *primitives[NKOPS][NKTYPES][NKTYPES], *functions[MOST_FUNCTIONS];

void eval_forget(void) {
    memset(primitives, 0, sizeof primitives);
    memset(functions, 0, sizeof functions);
    arena_free(&wrapper_memory);
}

/* Runs a kernel that computes once and stores its results. */
static void run_wrapper(const kernel *k, uint64_t *words, int nresults, const ktype *types, uint64_t *results) {
    uint64_t fault = FAULT_NONE;
    message m = { 0 };
    memset(results, 0, (size_t)nresults * sizeof *results);
    for (int i = 0; i < nresults; i++) words[(int)k->nparams - nresults + i] = (uint64_t)(uintptr_t)&results[i];
    reference_run(k, words, 0, 1, &fault, &m);
    for (int i = 0; i < nresults; i++) results[i] = word_at(types[i], &results[i]);
}

/* A kernel that applies one primitive. */
static const kernel *primitive_kernel(kop op, ktype result, ktype type) {
    int arity = kop_arity(op);
    kparam params[4];
    if (primitives[op][result][type]) return primitives[op][result][type];
    for (int i = 0; i < arity; i++) params[i] = (kparam){ .name = "x", .type = op == KOP_select && i == 0 ? T_BOOL : type };
    params[arity] = (kparam){ .name = "out", .type = result, .array = true, .written = true };
    kernel *k = kernel_new(&wrapper_memory, "primitive", params, (uint32_t)arity + 1);
    if (!k) return NULL;
    kval v = kb_op(k, op, result, 0, arity > 1 ? 1 : 0, arity > 2 ? 2 : 0);
    kb_inst(k, K_STORE, T_VOID, 0, (kval)arity, kb_const_int(k, T_I64, 0), v);
    return primitives[op][result][type] = kernel_ok(k) ? k : NULL;
}

uint64_t eval_primitive(kop op, ktype result, ktype type, uint64_t a, uint64_t b, uint64_t c) {
    const kernel *k = primitive_kernel(op, result, type);
    uint64_t words[4] = { a, b, c }, out[1] = { 0 };
    if (k) run_wrapper(k, words, 1, &result, out);
    return out[0];
}

/* A kernel that calls the function once. */
static const kernel *function_kernel(int function) {
    const kfunction *f = &device_functions[function];
    kparam params[24];
    kval args[16];
    if (function >= MOST_FUNCTIONS) return NULL;
    if (functions[function]) return functions[function];
    for (int i = 0; i < f->nparams; i++) {
        params[i] = (kparam){ .name = "x", .type = f->param_types[i] };
        args[i] = (kval)i;
    }
    for (int i = 0; i < f->nresults; i++) params[f->nparams + i] = (kparam){ .name = "out", .type = f->result_types[i], .array = true, .written = true };
    kernel *k = kernel_new(&wrapper_memory, "call", params, (uint32_t)(f->nparams + f->nresults));
    if (!k) return NULL;
    kval call = kb_call(k, function, args, f->nparams), zero = kb_const_int(k, T_I64, 0);
    for (int i = 0; i < f->nresults; i++) kb_inst(k, K_STORE, T_VOID, 0, (kval)(f->nparams + i), zero, kb_result(k, call, i));
    return functions[function] = kernel_ok(k) ? k : NULL;
}

void eval_function(int function, const uint64_t *args, uint64_t *results) {
    const kfunction *f = &device_functions[function];
    const kernel *k = function_kernel(function);
    uint64_t words[24];
    memcpy(words, args, f->nparams * sizeof *words);
    if (k) run_wrapper(k, words, f->nresults, f->result_types, results);
}

uint64_t eval_load(ktype storage, const char *array, int64_t index) {
    const char *at = array + index * (int64_t)ktype_table[storage].size;
    if (storage != T_F16 && storage != T_BF16) return word_at(storage, at);
    uint16_t h;
    uint64_t word = 0;
    memcpy(&h, at, sizeof h);
    float f = storage == T_F16 ? half_to_float(h) : bfloat_to_float(h);
    memcpy(&word, &f, sizeof f);
    return word;
}

void eval_store(ktype storage, char *array, int64_t index, uint64_t value) {
    char *at = array + index * (int64_t)ktype_table[storage].size;
    if (storage == T_F16 || storage == T_BF16) {
        float f;
        memcpy(&f, &value, sizeof f);
        uint16_t h = storage == T_F16 ? float_to_half(f) : float_to_bfloat(f);
        memcpy(at, &h, sizeof h);
        return;
    }
    memcpy(at, &value, ktype_table[storage].size);
}

/* ---- a nest ---- */

nest *nest_keep(const nest *n, arena *mem) {
    nest *k = arena_copy(mem, n, sizeof *n);
    k->exprs = arena_copy(mem, n->exprs, (size_t)n->nexprs * sizeof *n->exprs);
    for (int i = 0; i < k->nexprs; i++) k->exprs[i].args = arena_copy(mem, k->exprs[i].args, k->exprs[i].nargs * sizeof(uint32_t));
    k->reductions = arena_copy(mem, n->reductions, (size_t)n->nreductions * sizeof *n->reductions);
    k->stores = arena_copy(mem, n->stores, (size_t)n->nstores * sizeof *n->stores);
    return k;
}

typedef struct run {
    const nest *n;
    const nest_memory *m;
    int64_t at[NEST_ATOMS];
    uint64_t *value;              /* per expr */
    uint64_t *state;              /* per reduction, four components */
    bool *begun;                  /* per reduction: has met its first element */
    bool backwards;
    uint64_t *fault;
} run;

static char *address(const run *r, int32_t operand_number) {
    const place *p = &r->n->operands[operand_number].at;
    return (p->kind == PLACE_LEAF ? r->m->leaves[p->index] : r->m->memory[p->index]) + p->offset;
}

static int64_t form_value(const run *r, const form *f) {
    int64_t v = f->offset;
    for (int a = 0; a < r->n->natoms; a++) v += f->stride[a] * r->at[a];
    return v;
}

static uint64_t scalar_word(const scalar *s, ktype t, int part) {
    double f = s->kind == SCALAR_FLOAT ? s->v.f : s->kind == SCALAR_COMPLEX ? (part ? s->v.c.im : s->v.c.re) : s->kind == SCALAR_INT ? (double)s->v.i
             : s->kind == SCALAR_UINT ? (double)s->v.u : s->v.b;
    if (part && s->kind != SCALAR_COMPLEX) f = 0;
    int64_t i = s->kind == SCALAR_INT ? s->v.i : s->kind == SCALAR_UINT ? (int64_t)s->v.u : s->kind == SCALAR_BOOL ? s->v.b : (int64_t)f;
    uint64_t w = (uint64_t)i;
    float g = (float)f;
    if (t == T_F32) { w = 0; memcpy(&w, &g, sizeof g); }
    if (t == T_F64) memcpy(&w, &f, sizeof f);
    return w;
}

static void evaluate_expr(run *r, int i) {
    const expr *x = &r->n->exprs[i];
    uint64_t args[16] = { 0 }, results[16];
    for (int j = 0; j < x->nargs && j < 16; j++) args[j] = r->value[x->args[j]];
    switch (x->kind) {
    case EXPR_CONST: r->value[i] = x->bits; break;
    case EXPR_SCALAR: r->value[i] = scalar_word(&r->m->scalars[x->scalar], (ktype)x->type, x->part); break;
    case EXPR_ARG: r->value[i] = (uint64_t)x->value; break;
    case EXPR_INDEX: r->value[i] = (uint64_t)form_value(r, &x->at); break;
    case EXPR_LOAD: {
        int64_t at = form_value(r, &x->at) + (x->index >= 0 ? (int64_t)r->value[x->index] : 0);
        r->value[i] = 0;
        if (!x->nargs || args[0]) r->value[i] = eval_load(r->n->operands[x->operand].type, address(r, x->operand), at);
        break;
    }
    case EXPR_OP: {
        ktype type = (ktype)r->n->exprs[x->args[x->op == KOP_select ? 1 : 0]].type;
        r->value[i] = eval_primitive((kop)x->op, (ktype)x->type, type, args[0], args[1], args[2]);
        break;
    }
    case EXPR_CALL:
        eval_function(x->op, args, results);
        r->value[i] = results[0];
        break;
    case EXPR_RESULT: {
        const expr *call = &r->n->exprs[x->args[0]];
        for (int j = 0; j < call->nargs && j < 16; j++) args[j] = r->value[call->args[j]];
        eval_function(call->op, args, results);
        r->value[i] = results[x->part];
        break;
    }
    case EXPR_REDUCED: case EXPR_SCANNED: r->value[i] = r->state[4 * x->op + x->part]; break;
    case EXPR_FAULT:
        if (args[0]) {
            uint64_t word = fault_word(x->op, (int64_t)args[1]);
            if (word < *r->fault) *r->fault = word;
        }
        break;
    }
}

static void combine(run *r, int which) {
    const nest_reduction *q = &r->n->reductions[which];
    uint64_t args[8], *state = &r->state[4 * which];
    for (int c = 0; c < q->nstate; c++) {
        args[c] = state[c];
        args[q->nstate + c] = r->value[q->lifted[c]];
    }
    if (q->from_first && !r->begun[which]) for (int c = 0; c < q->nstate; c++) state[c] = args[q->nstate + c];
    else if (q->combine >= 0) eval_function(q->combine, args, state);
    else state[0] = eval_primitive((kop)(-1 - q->combine), q->state_types[0], q->state_types[0], args[0], args[1], 0);
    r->begun[which] = true;
}

static int stage_of(const nest *n, const nest_reduction *q) {
    int stage = 0;
    for (int c = 0; c < q->nstate; c++) if (n->exprs[q->lifted[c]].stage > stage) stage = n->exprs[q->lifted[c]].stage;
    return stage;
}

static bool inner_store(const nest *n, const nest_store *s) {
    bool inner = n->exprs[s->value].inner;
    for (int a = 0; a < n->natoms; a++) inner |= n->atoms[a].reduced && s->at.stride[a];
    return inner;
}

static void store(run *r, const nest_store *s) {
    int64_t at = form_value(r, &s->at) + (s->index >= 0 ? (int64_t)r->value[s->index] : 0);
    ktype type = r->n->operands[s->operand].type, t = ktype_value(type);
    char *array = address(r, s->operand);
    uint64_t v = r->value[s->value];
    for (int g = 0; g < s->nguards; g++) {
        int64_t k = form_value(r, &s->guards[g].at);
        if (k < s->guards[g].lo || k >= s->guards[g].hi) return;
    }
    if (s->when && !r->value[s->when - 1]) return;
    if (s->atomic) {
        static const kop of[] = { [ATOMIC_ADD] = KOP_add, [ATOMIC_AND] = KOP_and, [ATOMIC_OR] = KOP_or, [ATOMIC_XOR] = KOP_xor };
        uint64_t old = eval_load(type, array, at);
        if (s->how == ATOMIC_MIN || s->how == ATOMIC_MAX) v = eval_primitive(s->how == ATOMIC_MIN ? KOP_lt : KOP_gt, T_BOOL, t, v, old, 0) ? v : old;
        else v = eval_primitive(of[s->how], t, t, old, v, 0);
    } else if (s->combine) {
        uint64_t args[2] = { eval_load(type, array, at), v }, results[16];
        if (s->op & 0x8000) {
            eval_function(s->op & 0x7fff, args, results);
            v = results[0];
        } else {
            v = eval_primitive((kop)s->op, t, t, args[0], args[1], 0);
        }
    }
    eval_store(type, array, at, v);
}

/* The next position of the atoms with this fate; false: all done. */
static bool next(run *r, bool reduced) {
    for (int a = r->n->natoms; a-- > 0;) {
        int64_t last = r->n->atoms[a].extent - 1;
        if (r->n->atoms[a].reduced != reduced) continue;
        if (r->at[a] != (r->backwards ? 0 : last)) { r->at[a] += r->backwards ? -1 : 1; return true; }
        r->at[a] = r->backwards ? last : 0;
    }
    return false;
}

static bool start(run *r, bool reduced) {
    bool any = true;
    for (int a = 0; a < r->n->natoms; a++) {
        if (r->n->atoms[a].reduced != reduced) continue;
        any &= r->n->atoms[a].extent > 0;
        r->at[a] = r->backwards ? r->n->atoms[a].extent - 1 : 0;
    }
    return any;
}

static void run_stage(run *r, int stage) {
    const nest *n = r->n;
    for (int q = 0; q < n->nreductions; q++) {
        if (stage_of(n, &n->reductions[q]) != stage) continue;
        memcpy(&r->state[4 * q], n->reductions[q].identity, sizeof n->reductions[q].identity);
        r->begun[q] = false;
    }
    if (!start(r, true)) return;
    do {
        for (int i = 0; i < n->nexprs; i++) {
            const expr *x = &n->exprs[i];
            if (x->stage > stage || (x->kind == EXPR_FAULT && (!x->inner || x->stage != stage))) continue;
            if (x->kind == EXPR_SCANNED && x->part == 0 && stage_of(n, &n->reductions[x->op]) == stage) combine(r, x->op);
            evaluate_expr(r, i);
        }
        for (int q = 0; q < n->nreductions; q++) if (!n->reductions[q].scan && stage_of(n, &n->reductions[q]) == stage) combine(r, q);
        for (int i = 0; i < n->nstores; i++) if (inner_store(n, &n->stores[i]) && n->exprs[n->stores[i].value].stage == stage) store(r, &n->stores[i]);
    } while (next(r, true));
}

bool nest_run(const nest *n, const nest_memory *m, bool backwards, uint64_t *fault) {
    arena mem = { 0 };
    run r = { .n = n, .m = m, .backwards = backwards && !n->serial, .fault = fault };
    for (int q = 0; q < n->nreductions; q++) r.backwards &= !n->reductions[q].scan && !n->reductions[q].ordered;
    r.value = arena_zero(&mem, (size_t)n->nexprs + 1, sizeof *r.value);
    r.state = arena_zero(&mem, 4 * ((size_t)n->nreductions + 1), sizeof *r.state);
    r.begun = arena_zero(&mem, (size_t)n->nreductions + 1, sizeof *r.begun);
    if (start(&r, false)) do {
        for (int stage = 0; stage < n->nstages; stage++) run_stage(&r, stage);
        start(&r, true);
        for (int i = 0; i < n->nexprs; i++) if (!n->exprs[i].inner) evaluate_expr(&r, i);
        for (int i = 0; i < n->nstores; i++) if (!inner_store(n, &n->stores[i])) store(&r, &n->stores[i]);
    } while (next(&r, false));
    arena_free(&mem);
    return *fault == FAULT_NONE;
}
