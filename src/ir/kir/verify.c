/* verify.c: the rules of kernel IR that one instruction shows. A kernel that passes can be printed, compiled and run.
 *
 * How it works: one pass over the code with the stack of open regions; a value may be used where the region it was made in
 * is still open. Rules about where loops stand and what stands in them are verify_structure.c's. Sentences name the
 * instruction by its number, as kernel_dump shows it. */
#include <string.h>
#include "ir/kir/verify.h"

static const struct { uint8_t operands, result; } kop_rules[NKOPS] = {
#define INT 1
#define FLT 2
#define NUM 3
#define BITS 4
#define ANY 5
#define SAME 0
#define BOOL 1
#define KOP(name, arity, operands, result, ...) [KOP_##name] = { operands, result },
#include "ir/kir/kops.def"
#undef INT
#undef FLT
#undef NUM
#undef BITS
#undef ANY
#undef SAME
#undef BOOL
};

/* ---- values ---- */

static ktype type_of(const checker *c, uint32_t v) { return (ktype)c->code[v].type; }
static const char *type_name(uint8_t t) { return ktype_table[t].name; }
static bool is_storage(ktype t) { return t > T_VOID && t < NKTYPES; }
static bool is_value_type(ktype t) { return is_storage(t) && ktype_value(t) == t; }
static bool is_index(ktype t) { return t == T_I32 || t == T_I64; }

static bool is_array_param(const checker *c, const kinst *x) { return x->op == K_PARAM && c->k && c->k->params[x->a].array; }

static kn_status value(const checker *c, uint32_t at, uint32_t v, const char *what) {
    if (v >= at) REFUSE("%u: %s is %%%u, which comes later", at, what, v);
    const kinst *x = &c->code[v];
    bool names_memory = x->op == K_LOCAL || x->op == K_SHARED || x->op == K_TABLE || x->op == K_VAR || is_array_param(c, x);
    if (x->type == T_VOID || names_memory) REFUSE("%u: %s is %%%u, a %s and no value", at, what, v, names_memory && x->op == K_PARAM ? "array" : kinst_name(x->op));
    if (c->closed[v]) REFUSE("%u: %s is %%%u, whose region is closed", at, what, v);
    return KN_OK;
}

static kn_status typed(const checker *c, uint32_t at, uint32_t v, ktype wanted, const char *what) {
    if (value(c, at, v, what)) return KN_RUNTIME_ERROR;
    if (type_of(c, v) != wanted) REFUSE("%u: %s is %s, not %s", at, what, type_name(c->code[v].type), type_name((uint8_t)wanted));
    return KN_OK;
}

static bool takes(int operands, ktype t) {
    const ktype_info *i = &ktype_table[t];
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
    int arity = kop_arity((kop)x->op), first = x->op == KOP_select ? 1 : 0;
    if (x->flags) REFUSE("%u: a primitive has no flags", at);
    if (!is_value_type((ktype)x->type)) REFUSE("%u: %s is no type of a value", at, type_name(x->type));
    for (int i = 0; i < arity; i++) if (value(c, at, v[i], "an operand")) return KN_RUNTIME_ERROR;
    if (first && typed(c, at, x->a, T_BOOL, "the condition of select")) return KN_RUNTIME_ERROR;
    ktype t = type_of(c, v[first]);
    if (!takes(kop_rules[x->op].operands, t)) REFUSE("%u: %s does not take %s", at, kinst_name(x->op), type_name((uint8_t)t));
    for (int i = first + 1; i < arity; i++) if (typed(c, at, v[i], t, "an operand")) return KN_RUNTIME_ERROR;
    ktype want = kop_rules[x->op].result ? T_BOOL : t;
    switch (x->op) {
    case KOP_round_f16: case KOP_round_bf16: want = T_F32; break;
    case KOP_convert: want = (ktype)x->type; break;
    case KOP_bitcast:
        want = (ktype)x->type;
        if (ktype_table[want].size != ktype_table[t].size || want == T_BOOL) REFUSE("%u: bitcast from %s to %s", at, type_name((uint8_t)t), type_name(x->type));
        break;
    default: break;
    }
    if (x->type != want) REFUSE("%u: %s of %s gives %s, not %s", at, kinst_name(x->op), type_name((uint8_t)t), type_name((uint8_t)want), type_name(x->type));
    return KN_OK;
}

/* Constants of one value have one pattern: integers extended to 64 bits, floats in their own width. */
static kn_status check_const(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    uint64_t bits = (uint64_t)x->c << 32 | x->b;
    if (!is_value_type((ktype)x->type)) REFUSE("%u: a constant of %s", at, type_name(x->type));
    unsigned spare = 64 - 8u * ktype_table[x->type].size;
    uint64_t kept = ktype_table[x->type].is_int && ktype_table[x->type].is_signed ? (uint64_t)((int64_t)(bits << spare) >> spare) : bits << spare >> spare;
    if (kept != bits || (x->type == T_BOOL && bits > 1)) REFUSE("%u: the constant 0x%llx is no %s", at, (unsigned long long)bits, type_name(x->type));
    return KN_OK;
}

static kn_status check_param(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (at >= c->nparams || x->a != at) REFUSE("%u: parameters come first, in order", at);
    if (c->k) {
        const kparam *p = &c->k->params[at];
        if (x->type != (p->array ? p->type : ktype_value(p->type))) REFUSE("%u: the parameter is %s, not %s", at, type_name((uint8_t)p->type), type_name(x->type));
    } else if (c->param_types && x->type != c->param_types[at]) {
        REFUSE("%u: the parameter is %s, not %s", at, type_name((uint8_t)c->param_types[at]), type_name(x->type));
    }
    return KN_OK;
}

/* ---- variables ---- */

static kn_status check_variable(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (x->op == K_VAR) {
        if (!is_value_type((ktype)x->type) || x->flags & ~VAR_LANES) REFUSE("%u: a variable of %s", at, type_name(x->type));
        if (typed(c, at, x->a, (ktype)x->type, "the first value")) return KN_RUNTIME_ERROR;
        if (x->flags & VAR_LANES && (!c->lanes || inside(c, LOOP_LANE))) REFUSE("%u: a variable with a copy a lane is declared outside LANE loops", at);
        return KN_OK;
    }
    if (x->a >= at || c->code[x->a].op != K_VAR || c->closed[x->a]) REFUSE("%u: %%%u is no variable that is known there", at, x->a);
    const kinst *var = &c->code[x->a];
    bool in_lanes = inside(c, LOOP_LANE), copies = var->flags & VAR_LANES;
    if (x->op == K_SET ? x->type != T_VOID : x->type != var->type) REFUSE("%u: the variable is %s, not %s", at, type_name(var->type), type_name(x->type));
    if (x->op == K_FIRST_LANE) {
        if (!copies || in_lanes) REFUSE("%u: FIRST_LANE takes a variable with a copy a lane, outside LANE loops", at);
        return KN_OK;
    }
    if (copies && !in_lanes) REFUSE("%u: outside LANE loops a variable with a copy a lane is neither read nor set", at);
    if (x->op == K_GET) return KN_OK;
    if (typed(c, at, x->b, (ktype)var->type, "the new value")) return KN_RUNTIME_ERROR;
    if (in_lanes && !copies && x->a < c->open[lane_depth(c)]) REFUSE("%u: a variable set in a LANE loop has a copy a lane, or is declared inside", at);
    return KN_OK;
}

/* ---- memory ---- */

/* The storage type of array v, or T_VOID with a sentence. */
static ktype array_of(const checker *c, uint32_t at, uint32_t v, bool read, bool write) {
    const kinst *x = v < at ? &c->code[v] : NULL;
    const char *wrong = NULL;
    if (!x || !(is_array_param(c, x) || x->op == K_TABLE || x->op == K_LOCAL || x->op == K_SHARED)) wrong = "no array";
    else if (c->closed[v]) wrong = "an array whose region is closed";
    else if (x->op == K_TABLE && write) wrong = "a table, which nobody writes";
    else if (x->op == K_PARAM && read && !c->k->params[x->a].read) wrong = "a parameter that is not declared as read";
    else if (x->op == K_PARAM && write && !c->k->params[x->a].written) wrong = "a parameter that is not declared as written";
    if (!wrong) return x->op == K_PARAM ? c->k->params[x->a].type : (ktype)x->type;
    fail(c->m, KN_RUNTIME_ERROR, "kernel IR, instruction %u: %%%u is %s", at, v, wrong);
    return T_VOID;
}

static kn_status check_load(const checker *c, uint32_t at, ktype t) {
    const kinst *x = &c->code[at], *array = &c->code[x->a];
    if (x->c && typed(c, at, x->c - 1, T_BOOL, "the mask")) return KN_RUNTIME_ERROR;
    if (x->type != ktype_value(t)) REFUSE("%u: an array of %s gives %s, not %s", at, type_name((uint8_t)t), type_name((uint8_t)ktype_value(t)), type_name(x->type));
    int order = x->flags & (LOAD_READONLY | LOAD_ACQUIRE | LOAD_RELAXED), pair = x->flags & (LOAD_PAIR0 | LOAD_PAIR1);
    if (x->flags & ~(LOAD_STREAM | LOAD_READONLY | LOAD_ACQUIRE | LOAD_RELAXED | LOAD_PAIR0 | LOAD_PAIR1)) REFUSE("%u: unknown flags %u", at, x->flags);
    if (order & (order - 1)) REFUSE("%u: READONLY, ACQUIRE and RELAXED exclude each other", at);
    if (pair == (LOAD_PAIR0 | LOAD_PAIR1)) REFUSE("%u: an element is one part of a pair", at);
    if (order & ~LOAD_READONLY && ktype_table[t].size < 4) REFUSE("%u: ordered loads are for 4 and 8 bytes", at);
    if (order & ~LOAD_READONLY && array->op != K_PARAM) REFUSE("%u: ordered loads are for parameters", at);
    if (order == LOAD_READONLY && is_array_param(c, array) && c->k->params[array->a].written) REFUSE("%u: READONLY, but the array is written", at);
    if (order == LOAD_READONLY && (array->op == K_LOCAL || array->op == K_SHARED)) REFUSE("%u: READONLY is for parameters and tables", at);
    return KN_OK;
}

static kn_status check_store(const checker *c, uint32_t at, ktype t) {
    const kinst *x = &c->code[at];
    if (typed(c, at, x->c, ktype_value(t), "the stored value")) return KN_RUNTIME_ERROR;
    int order = x->flags & (STORE_RELEASE | STORE_RELAXED), pair = x->flags & (STORE_PAIR0 | STORE_PAIR1);
    if (x->flags & ~(STORE_STREAM | STORE_RELEASE | STORE_RELAXED | STORE_PAIR0 | STORE_PAIR1)) REFUSE("%u: unknown flags %u", at, x->flags);
    if (order & (order - 1)) REFUSE("%u: RELEASE and RELAXED exclude each other", at);
    if (pair == (STORE_PAIR0 | STORE_PAIR1)) REFUSE("%u: an element is one part of a pair", at);
    if (order && ktype_table[t].size < 4) REFUSE("%u: ordered stores are for 4 and 8 bytes", at);
    if (order && c->code[x->a].op != K_PARAM) REFUSE("%u: ordered stores are for parameters", at);
    return KN_OK;
}

static kn_status check_vector(const checker *c, uint32_t at, ktype t) {
    const kinst *x = &c->code[at];
    uint32_t n = x->flags & ~(uint32_t)LOAD_STREAM;
    if (n != 2 && n != 4 && n != 8 && n != 16) REFUSE("%u: a vector has 2, 4, 8 or 16 elements, not %u", at, n);
    if (x->c >= at || c->code[x->c].op != K_LOCAL || c->closed[x->c]) REFUSE("%u: %%%u is no LOCAL array that is known there", at, x->c);
    const kinst *local = &c->code[x->c];
    if (local->type != t) REFUSE("%u: a vector of %s and a LOCAL array of %s", at, type_name((uint8_t)t), type_name(local->type));
    if (local->a < n) REFUSE("%u: a LOCAL array of %u for a vector of %u", at, local->a, n);
    return KN_OK;
}

static kn_status check_atomic(const checker *c, uint32_t at, ktype t) {
    const kinst *x = &c->code[at];
    if (ktype_table[t].size < 4) REFUSE("%u: atomics are for 4 and 8 bytes, not %s", at, type_name((uint8_t)t));
    if (c->code[x->a].op == K_LOCAL) REFUSE("%u: an atomic on a LOCAL array", at);
    if (x->type != t) REFUSE("%u: the value is %s, not %s", at, type_name((uint8_t)t), type_name(x->type));
    if (x->op == K_ATOMIC) {
        if (x->flags > ATOMIC_EXCHANGE) REFUSE("%u: unknown atomic %u", at, x->flags);
        if (ktype_table[t].is_float && (x->flags == ATOMIC_AND || x->flags == ATOMIC_OR || x->flags == ATOMIC_XOR)) REFUSE("%u: bits of a float", at);
        return typed(c, at, x->c, t, "the operand");
    }
    if (c->nextra < 2 || x->c > c->nextra - 2) REFUSE("%u: expected and desired are missing", at);
    return typed(c, at, c->extra[x->c], t, "the expected value") ? KN_RUNTIME_ERROR : typed(c, at, c->extra[x->c + 1], t, "the desired value");
}

static kn_status check_memory(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    ktype t = array_of(c, at, x->a, x->op == K_LOAD || x->op == K_VLOAD, x->op != K_LOAD && x->op != K_VLOAD);
    if (t == T_VOID || value(c, at, x->b, "the index")) return KN_RUNTIME_ERROR;
    if (!is_index(type_of(c, x->b))) REFUSE("%u: an index is i32 or i64, not %s", at, type_name(c->code[x->b].type));
    switch (x->op) {
    case K_LOAD: return check_load(c, at, t);
    case K_STORE: return check_store(c, at, t);
    case K_VLOAD: case K_VSTORE: return check_vector(c, at, t);
    default: return check_atomic(c, at, t);
    }
}

static kn_status check_array(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (!is_storage((ktype)x->type)) REFUSE("%u: an array of %s", at, type_name(x->type));
    if (x->op == K_TABLE) {
        bool known = x->a < ndevice_tables && device_tables[x->a].type == (ktype)x->type;
        if (c->k && !known) REFUSE("%u: there is no such table", at);           /* the library's own compiler numbers its tables itself */
        return KN_OK;
    }
    if (!x->a || x->a > MOST_ELEMENTS) REFUSE("%u: an array of %u elements", at, x->a);
    return KN_OK;
}

/* ---- lanes and calls ---- */

static kn_status check_lanes(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    uint32_t most = c->block ? c->k->warp : c->lanes;
    if (!inside(c, LOOP_BLOCK) && !inside(c, LOOP_LANE)) REFUSE("%u: %s stands inside BLOCK or LANE loops", at, kinst_name(x->op));
    if (x->op == K_LANE_INDEX) {
        if (x->type != T_I32) REFUSE("%u: a lane's number is i32", at);
        return KN_OK;
    }
    if (x->op == K_BALLOT) {
        if (!c->block || x->type != T_U64) REFUSE("%u: BALLOT gives u64, on a GPU", at);
        return typed(c, at, x->a, T_BOOL, "the operand");
    }
    if (value(c, at, x->a, "the operand") || typed(c, at, x->b, T_I32, "the distance")) return KN_RUNTIME_ERROR;
    if (x->flags > SHUFFLE_INDEX) REFUSE("%u: unknown shuffle %u", at, x->flags);
    if (x->type != type_of(c, x->a)) REFUSE("%u: SHUFFLE keeps the type", at);
    if (x->c & (x->c - 1) || x->c > most) REFUSE("%u: a group's width is a power of two up to %u, not %u", at, most, x->c);
    return KN_OK;
}

static kn_status check_call(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (x->a >= ndevice_functions) REFUSE("%u: there is no device function %u", at, x->a);
    const kfunction *f = &device_functions[x->a];
    if (x->c != f->nparams || x->c > c->nextra || x->b > c->nextra - x->c) REFUSE("%u: %s takes %u arguments, not %u", at, f->symbol, f->nparams, x->c);
    for (uint32_t i = 0; i < x->c; i++) if (typed(c, at, c->extra[x->b + i], f->param_types[i], "an argument")) return KN_RUNTIME_ERROR;
    if (!f->nresults || x->type != f->result_types[0]) REFUSE("%u: %s does not give %s", at, f->symbol, type_name(x->type));
    return KN_OK;
}

static kn_status check_result(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (x->a >= at || c->code[x->a].op != K_CALL || c->closed[x->a]) REFUSE("%u: %%%u is no call that is known there", at, x->a);
    const kfunction *f = &device_functions[c->code[x->a].a];
    if (!x->b || x->b >= f->nresults) REFUSE("%u: %s has no further result %u", at, f->symbol, x->b);
    if (x->type != f->result_types[x->b]) REFUSE("%u: result %u of %s is %s, not %s", at, x->b, f->symbol, type_name((uint8_t)f->result_types[x->b]), type_name(x->type));
    return KN_OK;
}

static kn_status check_fault(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (c->k && !c->k->faults) REFUSE("%u: FAULT in a kernel that is said to have none", at);
    if (x->c > UINT16_MAX) REFUSE("%u: a fault's code has 16 bits", at);
    return typed(c, at, x->a, T_BOOL, "the condition") ? KN_RUNTIME_ERROR : typed(c, at, x->b, T_I64, "the position");
}

static kn_status check_return(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (c->k || at + 1 != c->ncode || c->depth) REFUSE("%u: RETURN ends a function, and nothing else", at);
    if (x->c > c->nextra || x->b > c->nextra - x->c) REFUSE("%u: results are missing", at);
    if (c->nresults && x->c != c->nresults) REFUSE("%u: %u results, not %u", at, x->c, c->nresults);
    for (uint32_t i = 0; i < x->c; i++) {
        uint32_t v = c->extra[x->b + i];
        if (c->result_types ? typed(c, at, v, c->result_types[i], "a result") : value(c, at, v, "a result")) return KN_RUNTIME_ERROR;
    }
    return KN_OK;
}

kn_status check_inst(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (x->op < NKOPS) return check_primitive(c, at);
    bool gives = x->op == K_STORE || x->op == K_VLOAD || x->op == K_VSTORE || x->op == K_SET || x->op == K_IF || x->op == K_LOOP || x->op == K_BREAK_UNLESS
              || x->op == K_FENCE || x->op == K_BARRIER || x->op == K_RETURN || x->op == K_FAULT || x->op == K_COMMENT;
    if (gives && x->type != T_VOID) REFUSE("%u: %s gives no value", at, kinst_name(x->op));
    switch (x->op) {
    case K_PARAM: return check_param(c, at);
    case K_CONST: return check_const(c, at);
    case K_VAR: case K_GET: case K_SET: case K_FIRST_LANE: return check_variable(c, at);
    case K_IF: case K_BREAK_UNLESS: return typed(c, at, x->a, T_BOOL, "the condition");
    case K_FOR: {
        if (!is_index((ktype)x->type)) REFUSE("%u: a loop's index is i32 or i64, not %s", at, type_name(x->type));
        const uint32_t v[3] = { x->a, x->b, x->c };
        for (int i = 0; i < 3; i++) if (typed(c, at, v[i], (ktype)x->type, "a bound or step")) return KN_RUNTIME_ERROR;
        return KN_OK;
    }
    case K_LOCAL: case K_SHARED: case K_TABLE: return check_array(c, at);
    case K_LOAD: case K_STORE: case K_VLOAD: case K_VSTORE: case K_ATOMIC: case K_CAS: return check_memory(c, at);
    case K_SHUFFLE: case K_BALLOT: case K_LANE_INDEX: return check_lanes(c, at);
    case K_CALL: return check_call(c, at);
    case K_RESULT: return check_result(c, at);
    case K_RETURN: return check_return(c, at);
    case K_FAULT: return check_fault(c, at);
    case K_COMMENT: if (c->k && x->a >= c->k->ntexts) REFUSE("%u: there is no such text", at); return KN_OK;
    default: return KN_OK;                                                  /* LOOP, FENCE, BARRIER */
    }
}
