/* verify.c: the rules of kernel IR, checked. A kernel that passes can be printed, compiled and interpreted.
 *
 * How it works: one pass over the code with the stack of open regions; a value may be used where the region it was made in
 * is still open. Sentences name the instruction by its number, as kernel_dump shows it. */
#include <string.h>
#include "ir/kir/kir.h"

#define MOST_NESTING 64

typedef struct checker {
    const kinst *code; uint32_t ncode;
    const uint32_t *extra; uint32_t nextra;
    const kparam *params; uint32_t nparams;     /* NULL in functions */
    const ktype *param_types;                   /* functions */
    uint16_t lanes, block;
    uint32_t open[MOST_NESTING]; int depth;
    uint32_t *closed;                           /* per instruction: the END of the region it was made in, once closed; 0: visible */
    uint32_t made[MOST_NESTING];                /* first instruction of each open region */
    message *m;
} checker;

static const struct { uint8_t arity, operands, result; } kop_rules[NKOPS] = {
#define INT 1
#define FLT 2
#define NUM 3
#define BITS 4
#define ANY 5
#define SAME 0
#define BOOL 1
#define KOP(name, arity, operands, result, ...) [KOP_##name] = { arity, operands, result },
#include "ir/kir/kops.def"
#undef INT
#undef FLT
#undef NUM
#undef BITS
#undef ANY
#undef SAME
#undef BOOL
};

#define REFUSE(...) return fail(c->m, KN_RUNTIME_ERROR, "kernel IR, instruction " __VA_ARGS__)

static ktype type_of(const checker *c, uint32_t v) { return (ktype)c->code[v].type; }

static bool visible(const checker *c, uint32_t v, uint32_t at) {
    if (v >= at || c->code[v].type == T_VOID) return false;
    uint16_t op = c->code[v].op;
    if (op == K_LOCAL || op == K_SHARED || op == K_TABLE || op == K_VAR) return false;
    if (op == K_PARAM && c->params && c->params[c->code[v].a].array) return false;
    return !c->closed[v];
}

static kn_status value(const checker *c, uint32_t at, uint32_t v, const char *what) {
    if (!visible(c, v, at)) REFUSE("%u: %s, %%%u, is no value that is known there", at, what, v);
    return KN_OK;
}

static bool is_index(ktype t) { return t == T_I32 || t == T_I64; }

static bool kind_allows(int operands, ktype t) {
    const ktype_info *i = &ktype_table[t];
    if (t == T_F16 || t == T_BF16 || t == T_VOID) return false;
    switch (operands) {
    case 1: return i->is_int;
    case 2: return i->is_float;
    case 3: return i->is_int || i->is_float;
    case 4: return i->is_int || t == T_BOOL;
    default: return true;
    }
}

static kn_status check_primitive(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    const uint32_t v[3] = { x->a, x->b, x->c };
    int arity = kop_rules[x->op].arity;
    for (int i = 0; i < arity; i++) if (value(c, at, v[i], "an operand")) return KN_RUNTIME_ERROR;
    ktype t = type_of(c, x->op == KOP_select ? x->b : x->a);
    if (x->op == KOP_select && (type_of(c, x->a) != T_BOOL || type_of(c, x->c) != t)) REFUSE("%u: select wants a bool and two values of one type", at);
    if (!kind_allows(kop_rules[x->op].operands, t)) REFUSE("%u: the primitive does not take %s", at, ktype_table[t].name);
    for (int i = 1; i < arity && x->op != KOP_select; i++) if (type_of(c, v[i]) != t) REFUSE("%u: operands of types %s and %s", at, ktype_table[t].name, ktype_table[type_of(c, v[i])].name);
    ktype want = kop_rules[x->op].result ? T_BOOL : t;
    if (x->op == KOP_round_f16 || x->op == KOP_round_bf16) want = T_F32;
    if (x->op == KOP_convert) want = (ktype)x->type;
    if (x->op == KOP_bitcast) {
        if (ktype_table[x->type].size != ktype_table[t].size) REFUSE("%u: bitcast between widths", at);
        want = (ktype)x->type;
    }
    if (x->type != want || x->type == T_F16 || x->type == T_BF16) REFUSE("%u: the result's type is %s, not %s", at, ktype_table[x->type].name, ktype_table[want].name);
    return KN_OK;
}

/* The storage type of an array operand, or T_VOID. */
static ktype array_type(const checker *c, uint32_t at, uint32_t v, bool write) {
    if (v >= at) return T_VOID;
    const kinst *x = &c->code[v];
    if (x->op == K_PARAM && c->params && c->params[x->a].array) return write && !c->params[x->a].written ? T_VOID : c->params[x->a].type;
    if (x->op == K_TABLE && !write) return (ktype)x->type;
    if ((x->op == K_LOCAL || x->op == K_SHARED) && !c->closed[v]) return (ktype)x->type;
    return T_VOID;
}

static kn_status check_memory(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    bool write = x->op != K_LOAD && x->op != K_VLOAD;
    ktype t = array_type(c, at, x->a, write);
    if (t == T_VOID) REFUSE("%u: %%%u is no array that may be %s there", at, x->a, write ? "written" : "read");
    if (value(c, at, x->b, "an index")) return KN_RUNTIME_ERROR;
    if (!is_index(type_of(c, x->b))) REFUSE("%u: an index is i32 or i64, not %s", at, ktype_table[type_of(c, x->b)].name);
    switch (x->op) {
    case K_LOAD:
        if (x->c && (value(c, at, x->c - 1, "a mask") || type_of(c, x->c - 1) != T_BOOL)) REFUSE("%u: a mask is a bool", at);
        if (x->type != ktype_value(t)) REFUSE("%u: loads %s from an array of %s", at, ktype_table[x->type].name, ktype_table[t].name);
        break;
    case K_STORE:
        if (value(c, at, x->c, "a stored value")) return KN_RUNTIME_ERROR;
        if (type_of(c, x->c) != ktype_value(t)) REFUSE("%u: stores %s into an array of %s", at, ktype_table[type_of(c, x->c)].name, ktype_table[t].name);
        break;
    case K_VLOAD: case K_VSTORE: {
        uint32_t n = x->flags;
        if (n != 2 && n != 4 && n != 8 && n != 16) REFUSE("%u: a vector has 2, 4, 8 or 16 elements, not %u", at, n);
        if (x->c >= at || c->code[x->c].op != K_LOCAL || c->code[x->c].type != t || c->code[x->c].a < n) REFUSE("%u: a vector goes to a LOCAL array of its type and size", at);
        break;
    }
    case K_ATOMIC:
        if (ktype_table[t].size != 4 && ktype_table[t].size != 8) REFUSE("%u: atomics are for 4 and 8 bytes", at);
        if (value(c, at, x->c, "an operand") || type_of(c, x->c) != t || x->type != t) REFUSE("%u: an atomic's operand and value have the array's type", at);
        break;
    default:
        if (x->c + 2 > c->nextra || value(c, at, c->extra[x->c], "an operand") || value(c, at, c->extra[x->c + 1], "an operand") || x->type != t) REFUSE("%u: a compare and exchange takes two values of the array's type", at);
    }
    return KN_OK;
}

static bool inside(const checker *c, int kind) {
    for (int d = 0; d < c->depth; d++) if (c->code[c->open[d]].op == K_FOR && loop_kind(&c->code[c->open[d]]) == kind) return true;
    return false;
}

static kn_status check_for(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    int64_t step = 0;
    if (!is_index((ktype)x->type)) REFUSE("%u: a loop's index is i32 or i64", at);
    const uint32_t v[3] = { x->a, x->b, x->c };
    for (int i = 0; i < 3; i++) if (value(c, at, v[i], "a bound") || type_of(c, v[i]) != x->type) REFUSE("%u: a loop's bounds have its index's type", at);
    const kinst *s = &c->code[x->c];
    if (s->op == K_CONST) step = (int64_t)((uint64_t)s->c << 32 | s->b);
    if (step <= 0) REFUSE("%u: a loop's step is a positive constant", at);
    switch (loop_kind(x)) {
    case LOOP_GRID:
        for (int d = 0; d < c->depth; d++) if (c->code[c->open[d]].op != K_FOR || loop_kind(&c->code[c->open[d]]) != LOOP_GRID) REFUSE("%u: GRID stands at the top", at);
        break;
    case LOOP_BLOCK:
        if (!c->block || !inside(c, LOOP_GRID)) REFUSE("%u: BLOCK needs a GRID around it and a kernel with a block", at);
        break;
    case LOOP_LANE:
        if (!c->lanes) REFUSE("%u: LANE in a kernel without lanes", at);
        if (inside(c, LOOP_LANE) || inside(c, LOOP_BLOCK)) REFUSE("%u: LANE inside LANE or BLOCK", at);
        break;
    case LOOP_SERIAL: break;
    case LOOP_UNROLL:
        if (c->code[x->a].op != K_CONST || c->code[x->b].op != K_CONST) REFUSE("%u: UNROLL wants constant bounds", at);
        break;
    default: REFUSE("%u: unknown kind of loop", at);
    }
    return KN_OK;
}

static kn_status check_call(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (x->a >= ndevice_functions) REFUSE("%u: no device function %u", at, x->a);
    const kfunction *f = &device_functions[x->a];
    if (x->c != f->nparams || x->b + x->c > c->nextra) REFUSE("%u: %s takes %u arguments", at, f->symbol, f->nparams);
    for (uint32_t i = 0; i < x->c; i++) {
        uint32_t v = c->extra[x->b + i];
        if (value(c, at, v, "an argument")) return KN_RUNTIME_ERROR;
        if (type_of(c, v) != f->param_types[i]) REFUSE("%u: argument %u of %s is %s, not %s", at, i, f->symbol, ktype_table[type_of(c, v)].name, ktype_table[f->param_types[i]].name);
    }
    if (x->type != f->result_types[0]) REFUSE("%u: %s gives %s", at, f->symbol, ktype_table[f->result_types[0]].name);
    return KN_OK;
}

static kn_status check_variable(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (x->op == K_VAR) {
        if (value(c, at, x->a, "a first value")) return KN_RUNTIME_ERROR;
        if (type_of(c, x->a) != x->type) REFUSE("%u: a variable's first value has its type", at);
        if (x->flags & VAR_LANES && (!c->lanes || inside(c, LOOP_LANE))) REFUSE("%u: a variable with a copy a lane is declared outside LANE loops", at);
        return KN_OK;
    }
    if (x->a >= at || c->code[x->a].op != K_VAR || c->closed[x->a]) REFUSE("%u: %%%u is no variable that is known there", at, x->a);
    ktype t = type_of(c, x->a);
    if (x->op == K_GET && x->type != t) REFUSE("%u: the variable is %s", at, ktype_table[t].name);
    if (x->op == K_FIRST_LANE && (x->type != t || !(c->code[x->a].flags & VAR_LANES) || inside(c, LOOP_LANE))) REFUSE("%u: FIRST_LANE wants a variable with lanes, outside LANE loops", at);
    if (x->op == K_SET) {
        if (value(c, at, x->b, "a value")) return KN_RUNTIME_ERROR;
        if (type_of(c, x->b) != t) REFUSE("%u: sets %s to %s", at, ktype_table[t].name, ktype_table[type_of(c, x->b)].name);
        if (inside(c, LOOP_LANE) && !(c->code[x->a].flags & VAR_LANES)) {
            bool declared_inside = false;
            for (int d = 0; d < c->depth; d++) declared_inside |= c->code[c->open[d]].op == K_FOR && loop_kind(&c->code[c->open[d]]) == LOOP_LANE && c->open[d] < x->a;
            if (!declared_inside) REFUSE("%u: a variable set in a LANE loop has a copy a lane, or is declared inside", at);
        }
    }
    return KN_OK;
}

static kn_status check_other(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    switch (x->op) {
    case K_PARAM: if (at >= c->nparams || x->a != at) REFUSE("%u: parameters come first, in order", at); return KN_OK;
    case K_CONST: case K_FENCE: case K_COMMENT: case K_LANE_INDEX: return KN_OK;
    case K_VAR: case K_GET: case K_SET: case K_FIRST_LANE: return check_variable(c, at);
    case K_FOR: return check_for(c, at);
    case K_IF: if (value(c, at, x->a, "a condition") || type_of(c, x->a) != T_BOOL) REFUSE("%u: a condition is a bool", at); return KN_OK;
    case K_BREAK_UNLESS:
        if (!c->depth || c->code[c->open[c->depth - 1]].op != K_LOOP) REFUSE("%u: BREAK_UNLESS stands directly inside LOOP", at);
        if (value(c, at, x->a, "a condition") || type_of(c, x->a) != T_BOOL) REFUSE("%u: a condition is a bool", at);
        return KN_OK;
    case K_LOOP: return KN_OK;
    case K_LOCAL: case K_TABLE: if (x->op == K_LOCAL && !x->a) REFUSE("%u: an array without elements", at); return KN_OK;
    case K_SHARED: case K_BARRIER: if (!c->block) REFUSE("%u: SHARED and BARRIER belong to kernels with blocks", at); return KN_OK;
    case K_SHUFFLE:
        if (value(c, at, x->a, "an operand") || value(c, at, x->b, "a distance")) return KN_RUNTIME_ERROR;
        if (x->type != type_of(c, x->a) || type_of(c, x->b) != T_I32) REFUSE("%u: SHUFFLE keeps the type; its distance is i32", at);
        if (x->c & (x->c - 1)) REFUSE("%u: a group's width is a power of two, not %u", at, x->c);
        return KN_OK;
    case K_BALLOT: if (!c->block || value(c, at, x->a, "an operand") || type_of(c, x->a) != T_BOOL || x->type != T_U64) REFUSE("%u: BALLOT takes a bool and gives u64", at); return KN_OK;
    case K_CALL: return check_call(c, at);
    case K_RESULT:
        if (x->a >= at || c->code[x->a].op != K_CALL || c->closed[x->a] || x->b >= device_functions[c->code[x->a].a].nresults) REFUSE("%u: RESULT of no call", at);
        if (x->type != device_functions[c->code[x->a].a].result_types[x->b]) REFUSE("%u: RESULT has another type", at);
        return KN_OK;
    case K_FAULT:
        if (value(c, at, x->a, "a condition") || type_of(c, x->a) != T_BOOL || value(c, at, x->b, "a position") || type_of(c, x->b) != T_I64) REFUSE("%u: FAULT takes a bool and an i64", at);
        return KN_OK;
    case K_RETURN:
        if (c->params || at + 1 != c->ncode || x->b + x->c > c->nextra) REFUSE("%u: RETURN ends a function", at);
        for (uint32_t i = 0; i < x->c; i++) if (value(c, at, c->extra[x->b + i], "a result")) return KN_RUNTIME_ERROR;
        return KN_OK;
    default: return check_memory(c, at);
    }
}

static void close_region(checker *c, uint32_t end) {
    for (uint32_t i = c->made[c->depth - 1]; i < end; i++) if (!c->closed[i]) c->closed[i] = end;
}

static kn_status check_all(checker *c) {
    for (uint32_t at = 0; at < c->ncode; at++) {
        const kinst *x = &c->code[at];
        if (x->op >= NKINSTS || x->type >= NKTYPES) REFUSE("%u: unknown instruction or type", at);
        if (x->op == K_ELSE || x->op == K_END) {
            if (!c->depth || c->open[c->depth - 1] != x->a) REFUSE("%u: closes %%%u, which is not the innermost open region", at, x->a);
            if (x->op == K_ELSE && c->code[x->a].op != K_IF) REFUSE("%u: ELSE without IF", at);
            close_region(c, at);
            if (x->op == K_ELSE) c->made[c->depth - 1] = at;
            else c->depth--;
            continue;
        }
        kn_status status = x->op < NKOPS ? check_primitive(c, at) : check_other(c, at);
        if (status) return status;
        if (x->op == K_FOR || x->op == K_IF || x->op == K_LOOP) {
            if (c->depth == MOST_NESTING) REFUSE("%u: regions are nested deeper than %d", at, MOST_NESTING);
            c->open[c->depth] = at;
            c->made[c->depth++] = at;
        }
    }
    if (c->depth) REFUSE("%u: the region is never closed", c->open[c->depth - 1]);
    return KN_OK;
}

static kn_status check_params(const kernel *k, message *m) {
    for (uint32_t i = 0; i < k->nparams; i++) {
        const kparam *p = &k->params[i];
        if (p->array && !p->read && !p->written) return fail(m, KN_RUNTIME_ERROR, "kernel IR, parameter %u: an array that is neither read nor written", i);
        if (!p->array && ktype_value(p->type) != p->type) return fail(m, KN_RUNTIME_ERROR, "kernel IR, parameter %u: a scalar has a value's type", i);
    }
    return KN_OK;
}

kn_status kernel_verify(const kernel *k, message *m) {
    if (!kernel_ok(k)) return fail_memory(m, "making a kernel");
    kn_status status = check_params(k, m);
    if (status) return status;
    checker c = { .code = k->code, .ncode = k->ncode, .extra = k->extra, .nextra = k->nextra, .params = k->params, .nparams = k->nparams,
                  .lanes = k->lanes, .block = k->block[0], .m = m };
    c.closed = mem_zero(k->ncode + 1, sizeof *c.closed);
    if (!c.closed) return fail_memory(m, "verifying a kernel");
    status = check_all(&c);
    mem_free(c.closed);
    return status;
}

kn_status function_verify(const kfunction *f, message *m) {
    checker c = { .code = f->code, .ncode = f->ncode, .extra = f->extra, .nextra = f->nextra, .nparams = f->nparams, .param_types = f->param_types, .lanes = 1, .m = m };
    c.closed = mem_zero(f->ncode + 1, sizeof *c.closed);
    if (!c.closed) return fail_memory(m, "verifying a function");
    kn_status status = check_all(&c);
    if (!status && (!f->ncode || f->code[f->ncode - 1].op != K_RETURN)) status = fail(m, KN_RUNTIME_ERROR, "device function %s does not end in RETURN", f->symbol);
    mem_free(c.closed);
    return status;
}
