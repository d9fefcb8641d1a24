/* build.c: making kernels, instruction by instruction.
 *
 * How it works: instructions are appended; pure ones are first folded (integers only: float arithmetic is never changed) and
 * then looked for among the instructions that are visible here, which a walk backwards over closed regions finds without
 * any table. What a kernel means is said in kir.h; what is allowed is checked in verify.c. */
#include <string.h>
#include "ir/kir/kir.h"

#define LOOK_BACK 192          /* instructions searched for an equal one */

kernel *kernel_new(arena *mem, const char *name, const kparam *params, uint32_t nparams) {
    kernel *k = arena_zero(mem, 1, sizeof *k);
    if (!k) return NULL;
    k->mem = mem;
    size_t n = strlen(name);
    if (n >= sizeof k->name) n = sizeof k->name - 1;
    memcpy(k->name, name, n);
    k->code_cap = nparams + 128;
    k->code = arena_alloc(mem, k->code_cap * sizeof *k->code);
    k->params = arena_alloc(mem, (nparams + 1) * sizeof *k->params);
    if (!k->code || !k->params) return NULL;
    if (nparams) memcpy(k->params, params, nparams * sizeof *params);
    k->nparams = nparams;
    for (uint32_t i = 0; i < nparams; i++)
        k->code[k->ncode++] = (kinst){ .op = K_PARAM, .type = (uint8_t)(params[i].array ? params[i].type : ktype_value(params[i].type)), .a = i };
    return k;
}

bool kernel_ok(const kernel *k) { return k && k->code; }

static void spoil(kernel *k) { k->code = NULL; }

static kval append(kernel *k, kinst i) {
    if (!k->code) return 0;
    if (k->ncode == k->code_cap) {
        kinst *more = arena_alloc(k->mem, 2 * (size_t)k->code_cap * sizeof *more);
        const char **names = k->names ? arena_zero(k->mem, 2 * (size_t)k->code_cap, sizeof *names) : NULL;
        if (!more || (k->names && !names)) { spoil(k); return 0; }
        memcpy(more, k->code, k->ncode * sizeof *more);
        if (names) memcpy(names, k->names, k->ncode * sizeof *names);
        k->code = more;
        k->names = names;
        k->code_cap *= 2;
    }
    k->code[k->ncode] = i;
    return k->ncode++;
}

/* Moves *i to the instruction before it that is visible at the end of the code; closed regions are stepped over. */
static bool step_back(const kernel *k, uint32_t *i) {
    while (*i > 0) {
        const kinst *before = &k->code[--*i];
        if (before->op != K_END && before->op != K_ELSE) return true;
        *i = before->a;
    }
    return false;
}

static kval pure(kernel *k, kinst want) {
    if (!k->code) return 0;
    uint32_t i = k->ncode;
    for (int steps = 0; steps < LOOK_BACK && step_back(k, &i); steps++) {
        const kinst *have = &k->code[i];
        if (have->op == want.op && have->type == want.type && have->flags == want.flags && have->a == want.a && have->b == want.b && have->c == want.c) return i;
    }
    return append(k, want);
}

/* ---- constants ---- */

kval kb_const_bits(kernel *k, ktype type, uint64_t bits) {
    return pure(k, (kinst){ .op = K_CONST, .type = (uint8_t)type, .b = (uint32_t)bits, .c = (uint32_t)(bits >> 32) });
}

/* v as the type holds it, sign- or zero-extended to 64 bits. */
static int64_t wrapped(ktype t, int64_t v) {
    switch (t) {
    case T_BOOL: return v != 0;
    case T_I8: return (int8_t)v;
    case T_I16: return (int16_t)v;
    case T_I32: return (int32_t)v;
    case T_U8: return (uint8_t)v;
    case T_U16: return (uint16_t)v;
    case T_U32: return (int64_t)(uint32_t)v;
    default: return v;
    }
}

kval kb_const_int(kernel *k, ktype type, int64_t v) {
    if (ktype_table[type].is_float) return kb_const_float(k, type, (double)v);
    return kb_const_bits(k, type, (uint64_t)wrapped(type, v));
}

kval kb_const_float(kernel *k, ktype type, double v) {
    if (type == T_F32) {
        float f = (float)v;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        return kb_const_bits(k, type, bits);
    }
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return kb_const_bits(k, type, bits);
}

ktype kb_type(const kernel *k, kval v) { return k->code && v < k->ncode ? (ktype)k->code[v].type : T_VOID; }

bool kb_constant(const kernel *k, kval v, int64_t *value) {
    if (!k->code || v >= k->ncode || k->code[v].op != K_CONST || ktype_table[k->code[v].type].is_float) return false;
    *value = (int64_t)((uint64_t)k->code[v].c << 32 | k->code[v].b);
    return true;
}

/* ---- folding integers ---- */

static bool fold_two(kop op, ktype t, int64_t a, int64_t b, int64_t *r) {
    bool is_signed = ktype_table[t].is_signed;
    switch (op) {
    case KOP_add: *r = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case KOP_sub: *r = (int64_t)((uint64_t)a - (uint64_t)b); return true;
    case KOP_mul: *r = (int64_t)((uint64_t)a * (uint64_t)b); return true;
    case KOP_div:
        if (b == 0 || b == -1) return false;
        *r = is_signed ? a / b : (int64_t)((uint64_t)a / (uint64_t)b);
        return true;
    case KOP_and: *r = a & b; return true;
    case KOP_or: *r = a | b; return true;
    case KOP_xor: *r = a ^ b; return true;
    default: return false;
    }
}

/* x op neutral = x; returns the value that stands for the operation, or UINT32_MAX. */
static kval fold_neutral(kernel *k, kop op, ktype t, kval a, kval b, bool ca, int64_t va, bool cb, int64_t vb) {
    bool is_bool = t == T_BOOL;
    switch (op) {
    case KOP_add:
        if (cb && vb == 0) return a;
        if (ca && va == 0) return b;
        break;
    case KOP_sub:
        if (cb && vb == 0) return a;
        break;
    case KOP_mul:
        if (cb && vb == 1) return a;
        if (ca && va == 1) return b;
        if ((cb && vb == 0) || (ca && va == 0)) return kb_const_int(k, t, 0);
        break;
    case KOP_div:
        if (cb && vb == 1) return a;
        break;
    case KOP_and:
        if (is_bool && cb) return vb ? a : b;
        if (is_bool && ca) return va ? b : a;
        break;
    case KOP_or:
        if (is_bool && cb) return vb ? b : a;
        if (is_bool && ca) return va ? a : b;
        break;
    default: break;
    }
    return UINT32_MAX;
}

static const uint8_t kop_arity[NKOPS] = {
#define KOP(name, arity, ...) [KOP_##name] = arity,
#include "ir/kir/kops.def"
};

static kval fold(kernel *k, kop op, ktype type, kval a, kval b, kval c) {
    int64_t va = 0, vb = 0, r;
    bool ca = kb_constant(k, a, &va), cb = kop_arity[op] > 1 && kb_constant(k, b, &vb);
    if (op == KOP_select && ca) return va ? b : c;
    if (op == KOP_select && b == c) return b;
    if (op == KOP_convert && kb_type(k, a) == type) return a;
    if (ktype_table[kb_type(k, a)].is_float || ktype_table[type].is_float) return UINT32_MAX;
    if (op == KOP_convert && ca && type != T_BOOL) return kb_const_int(k, type, va);
    if (op == KOP_neg && ca) return kb_const_int(k, type, (int64_t)(0 - (uint64_t)va));
    if (kop_arity[op] != 2) return UINT32_MAX;
    if (ca && cb && kb_type(k, a) == type && fold_two(op, type, va, vb, &r)) return kb_const_int(k, type, r);
    return fold_neutral(k, op, type, a, b, ca, va, cb, vb);
}

kval kb_op(kernel *k, kop op, ktype type, kval a, kval b, kval c) {
    if (!k->code) return 0;
    if (kop_arity[op] < 2) b = 0;
    if (kop_arity[op] < 3) c = 0;
    kval folded = fold(k, op, type, a, b, c);
    if (folded != UINT32_MAX) return folded;
    return pure(k, (kinst){ .op = (uint16_t)op, .type = (uint8_t)type, .a = a, .b = b, .c = c });
}

/* ---- structure ---- */

kval kb_for(kernel *k, int kind, ktype index_type, kval begin, kval end, kval step) {
    return append(k, (kinst){ .op = K_FOR, .type = (uint8_t)index_type, .flags = (uint8_t)kind, .a = begin, .b = end, .c = step });
}

void kb_else(kernel *k, kval opened) { append(k, (kinst){ .op = K_ELSE, .a = opened }); }
void kb_end(kernel *k, kval opened) { append(k, (kinst){ .op = K_END, .a = opened }); }

kval kb_inst(kernel *k, kstructure op, ktype type, uint8_t flags, uint32_t a, uint32_t b, uint32_t c) {
    if (op == K_FAULT) k->faults = true;
    kinst i = { .op = (uint16_t)op, .type = (uint8_t)type, .flags = flags, .a = a, .b = b, .c = c };
    return op == K_LANE_INDEX || op == K_RESULT ? pure(k, i) : append(k, i);
}

static uint32_t extra(kernel *k, const kval *values, uint32_t n) {
    if (k->nextra + n > k->extra_cap) {
        uint32_t cap = k->extra_cap ? 2 * k->extra_cap : 64;
        while (cap < k->nextra + n) cap *= 2;
        uint32_t *more = arena_alloc(k->mem, cap * sizeof *more);
        if (!more) { spoil(k); return 0; }
        if (k->nextra) memcpy(more, k->extra, k->nextra * sizeof *more);
        k->extra = more;
        k->extra_cap = cap;
    }
    if (n) memcpy(k->extra + k->nextra, values, n * sizeof *values);
    k->nextra += n;
    return k->nextra - n;
}

/* An equal call that is visible here gives the same values: functions are pure. */
static kval same_call(const kernel *k, int function, const kval *args, uint32_t nargs) {
    uint32_t i = k->ncode;
    for (int steps = 0; steps < LOOK_BACK && step_back(k, &i); steps++) {
        const kinst *have = &k->code[i];
        if (have->op == K_CALL && have->a == (uint32_t)function && have->c == nargs && !memcmp(k->extra + have->b, args, nargs * sizeof *args)) return i;
    }
    return UINT32_MAX;
}

kval kb_call(kernel *k, int function, const kval *args, int nargs) {
    if (!k->code) return 0;
    kval same = same_call(k, function, args, (uint32_t)nargs);
    if (same != UINT32_MAX) return same;
    uint32_t at = extra(k, args, (uint32_t)nargs);
    return append(k, (kinst){ .op = K_CALL, .type = (uint8_t)device_functions[function].result_types[0], .a = (uint32_t)function, .b = at, .c = (uint32_t)nargs });
}

kval kb_result(kernel *k, kval call, int which) {
    if (!k->code) return 0;
    if (which == 0) return call;
    ktype type = device_functions[k->code[call].a].result_types[which];
    return pure(k, (kinst){ .op = K_RESULT, .type = (uint8_t)type, .a = call, .b = (uint32_t)which });
}

static const char *kept_text(kernel *k, const char *s) {
    size_t n = strlen(s) + 1;
    char *copy = arena_alloc(k->mem, n);
    if (copy) memcpy(copy, s, n);
    return copy;
}

/* Names are for readers only: without memory for them the kernel is as good. */
void kb_name(kernel *k, kval v, const char *name) {
    if (!k->code || v >= k->ncode) return;
    if (!k->names) k->names = arena_zero(k->mem, k->code_cap, sizeof *k->names);
    if (k->names) k->names[v] = kept_text(k, name);
}

void kb_comment(kernel *k, const char *s) {
    if (!k->code) return;
    const char **more = arena_alloc(k->mem, (k->ntexts + 1) * sizeof *more);
    const char *copy = kept_text(k, s);
    if (!more || !copy) return;
    if (k->ntexts) memcpy(more, k->texts, k->ntexts * sizeof *more);
    more[k->ntexts] = copy;
    k->texts = more;
    append(k, (kinst){ .op = K_COMMENT, .a = k->ntexts++ });
}
