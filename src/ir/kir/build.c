/* build.c: making kernels, instruction by instruction.
 *
 * How it works: instructions are appended; pure ones are first folded (fold.c), then looked for among the equal ones that
 * are visible here. Those stand in a small hash table whose chains are stacks: closing a region takes its values off
 * again, so what is found always dominates. What a kernel means is said in kir.h; what is allowed is checked in verify.c. */
#include <string.h>
#include "ir/kir/fold.h"

#define HEADS 256
#define NOT_FOUND UINT32_MAX
#define MOST_INSTRUCTIONS (1u << 26)

bool kernel_ok(const kernel *k) { return k && k->code; }

static void spoil(kernel *k) { k->code = NULL; }

/* ---- equal values ---- */

static uint32_t head_of(const kinst *i) {
    uint64_t h = ((uint64_t)i->op << 16 | (uint64_t)i->type << 8 | i->flags) * 0x9e3779b97f4a7c15u;
    h = (h ^ i->a) * 0xff51afd7ed558ccdu;
    if (i->op != K_CALL) h = (h ^ i->b) * 0xc4ceb9fe1a85ec53u;      /* a call's b is where its arguments lie */
    h = (h ^ i->c) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 56) % HEADS;
}

static bool equal(const kinst *x, const kinst *y) {
    return x->op == y->op && x->type == y->type && x->flags == y->flags && x->a == y->a && x->b == y->b && x->c == y->c;
}

static kval find(const kernel *k, const kinst *want) {
    if (!k->heads) return NOT_FOUND;
    for (uint32_t at = k->heads[head_of(want)]; at; at = k->chain[at - 1]) if (equal(&k->code[at - 1], want)) return at - 1;
    return NOT_FOUND;
}

static void remember(kernel *k, kval v) {
    if (!k->heads) return;
    uint32_t *head = &k->heads[head_of(&k->code[v])];
    k->chain[v] = *head;
    *head = v + 1;
}

/* The values from `first` on go out of sight, the last of them first. */
static void forget(kernel *k, kval first) {
    for (kval v = k->ncode; k->heads && v-- > first;) {
        uint32_t *head = &k->heads[head_of(&k->code[v])];
        if (*head == v + 1) *head = k->chain[v];
    }
}

/* ---- appending ---- */

kernel *kernel_new(arena *mem, const char *name, const kparam *params, uint32_t nparams) {
    kernel *k = nparams < MOST_INSTRUCTIONS ? arena_zero(mem, 1, sizeof *k) : NULL;
    if (!k) return NULL;
    k->mem = mem;
    size_t n = strlen(name);
    if (n >= sizeof k->name) n = sizeof k->name - 1;
    memcpy(k->name, name, n);
    k->code_cap = nparams + 128;
    k->code = arena_alloc(mem, k->code_cap * sizeof *k->code);
    k->chain = arena_alloc(mem, k->code_cap * sizeof *k->chain);
    k->heads = arena_zero(mem, HEADS, sizeof *k->heads);
    k->params = arena_alloc(mem, (nparams + 1) * sizeof *k->params);
    if (!k->code || !k->params || !k->chain || !k->heads) return NULL;
    if (nparams) memcpy(k->params, params, nparams * sizeof *params);
    k->nparams = nparams;
    for (uint32_t i = 0; i < nparams; i++)
        k->code[k->ncode++] = (kinst){ .op = K_PARAM, .type = (uint8_t)(params[i].array ? params[i].type : ktype_value(params[i].type)), .a = i };
    return k;
}

static bool grow(kernel *k) {
    size_t cap = 2 * (size_t)k->code_cap;
    if (cap > MOST_INSTRUCTIONS) return false;
    kinst *code = arena_alloc(k->mem, cap * sizeof *code);
    uint32_t *chain = k->chain ? arena_alloc(k->mem, cap * sizeof *chain) : NULL;
    const char **names = k->names ? arena_zero(k->mem, cap, sizeof *names) : NULL;
    if (!code || (k->chain && !chain) || (k->names && !names)) return false;
    memcpy(code, k->code, k->ncode * sizeof *code);
    if (chain) memcpy(chain, k->chain, k->ncode * sizeof *chain);
    if (names) memcpy(names, k->names, k->ncode * sizeof *names);
    k->code = code;
    k->chain = chain;
    k->names = names;
    k->code_cap = (uint32_t)cap;
    return true;
}

static kval append(kernel *k, kinst i) {
    if (!k->code) return 0;
    if (k->ncode == k->code_cap && !grow(k)) { spoil(k); return 0; }
    k->code[k->ncode] = i;
    return k->ncode++;
}

static kval pure(kernel *k, kinst want) {
    if (!k->code) return 0;
    kval same = find(k, &want);
    if (same != NOT_FOUND) return same;
    kval v = append(k, want);
    if (k->code) remember(k, v);
    return v;
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

static kval const_f32(kernel *k, float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return kb_const_bits(k, T_F32, bits);
}

kval kb_const_int(kernel *k, ktype type, int64_t v) {
    if (type == T_F32) return const_f32(k, (float)v);
    if (ktype_table[type].is_float) return kb_const_float(k, type, (double)v);
    return kb_const_bits(k, type, (uint64_t)wrapped(type, v));
}

kval kb_const_float(kernel *k, ktype type, double v) {
    if (type == T_F32) return const_f32(k, (float)v);
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

/* ---- primitives ---- */

static bool commutes(kop op) {
    return op == KOP_add || op == KOP_mul || op == KOP_mulhi || op == KOP_and || op == KOP_or || op == KOP_xor || op == KOP_eq || op == KOP_ne;
}

kval kb_op(kernel *k, kop op, ktype type, kval a, kval b, kval c) {
    if (!k->code) return 0;
    if (kop_arity(op) < 2) b = 0;
    if (kop_arity(op) < 3) c = 0;
    kval folded = fold(k, op, type, a, b, c);
    if (folded != NOT_FOLDED) return folded;
    kinst want = { .op = (uint16_t)op, .type = (uint8_t)type, .a = a, .b = b, .c = c };
    if (commutes(op)) {
        kinst turned = want;
        turned.a = b;
        turned.b = a;
        kval same = find(k, &turned);
        if (same != NOT_FOUND) return same;
    }
    return pure(k, want);
}

/* ---- structure ---- */

kval kb_for(kernel *k, int kind, ktype index_type, kval begin, kval end, kval step) {
    return append(k, (kinst){ .op = K_FOR, .type = (uint8_t)index_type, .flags = (uint8_t)kind, .a = begin, .b = end, .c = step });
}

/* A region that closes takes its values out of sight. */
static void close_region(kernel *k, kstructure how, kval opened) {
    if (!k->code) return;
    forget(k, opened);
    append(k, (kinst){ .op = (uint16_t)how, .a = opened });
}

void kb_else(kernel *k, kval opened) { close_region(k, K_ELSE, opened); }
void kb_end(kernel *k, kval opened) { close_region(k, K_END, opened); }

static bool is_pure(kstructure op, uint8_t flags) {
    if (op == K_LOAD) return flags & LOAD_READONLY && !(flags & (LOAD_ACQUIRE | LOAD_RELAXED));
    return op == K_LANE_INDEX || op == K_RESULT || op == K_TABLE;
}

kval kb_inst(kernel *k, kstructure op, ktype type, uint8_t flags, uint32_t a, uint32_t b, uint32_t c) {
    if (op == K_FAULT) k->faults = true;
    if (op == K_END || op == K_ELSE) { close_region(k, op, a); return k->ncode ? k->ncode - 1 : 0; }
    kinst i = { .op = (uint16_t)op, .type = (uint8_t)type, .flags = flags, .a = a, .b = b, .c = c };
    return is_pure(op, flags) ? pure(k, i) : append(k, i);
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
static kval same_call(const kernel *k, const kinst *want, const kval *args) {
    if (!k->heads) return NOT_FOUND;
    for (uint32_t at = k->heads[head_of(want)]; at; at = k->chain[at - 1]) {
        const kinst *have = &k->code[at - 1];
        bool same = have->op == K_CALL && have->a == want->a && have->c == want->c;
        if (same && (!want->c || !memcmp(k->extra + have->b, args, want->c * sizeof *args))) return at - 1;
    }
    return NOT_FOUND;
}

kval kb_call(kernel *k, int function, const kval *args, int nargs) {
    if (!k->code) return 0;
    kinst x = { .op = K_CALL, .type = (uint8_t)device_functions[function].result_types[0], .a = (uint32_t)function, .c = (uint32_t)nargs };
    kval same = same_call(k, &x, args);
    if (same != NOT_FOUND) return same;
    x.b = extra(k, args, x.c);
    kval v = append(k, x);
    if (k->code) remember(k, v);
    return v;
}

kval kb_result(kernel *k, kval call, int which) {
    if (!k->code) return 0;
    if (which == 0) return call;
    ktype type = device_functions[k->code[call].a].result_types[which];
    return pure(k, (kinst){ .op = K_RESULT, .type = (uint8_t)type, .a = call, .b = (uint32_t)which });
}

kval kb_cas(kernel *k, kval array, kval index, kval expected, kval desired) {
    if (!k->code) return 0;
    const kval both[2] = { expected, desired };
    uint32_t at = extra(k, both, 2);
    return append(k, (kinst){ .op = K_CAS, .type = (uint8_t)kb_type(k, expected), .a = array, .b = index, .c = at });
}

void kb_return(kernel *k, const kval *values, int n) {
    if (!k->code) return;
    uint32_t at = extra(k, values, (uint32_t)n);
    append(k, (kinst){ .op = K_RETURN, .b = at, .c = (uint32_t)n });
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
