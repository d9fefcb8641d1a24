/* memory.c: loads and stores as C: 16-byte vectors, cache hints, ordered accesses, half types. */
#include <string.h>
#include "codegen/source/source.h"

/* ---- arrays ---- */

ktype source_storage_of(const body *b, uint32_t array) { return (ktype)b->code[array].type; }

static bool is_private_array(const body *b, uint32_t array) { return b->code[array].op == K_LOCAL || b->code[array].op == K_SHARED; }

const char *source_storage(printer *p, ktype storage, bool is_private) {
    if (storage == T_BOOL && !is_private) return source_type[T_U8];
    if (storage == T_F16 && p->d->f16) return p->d->f16;
    return source_type[storage];
}

/* An index needs no cast where C widens it by itself. */
static const char *index_text(printer *p, uint32_t index) {
    expr e = source_value(p, index);
    bool wraps = e.have != e.type && !e.literal && ktype_table[e.have].size == ktype_table[e.type].size;
    return wraps ? source_exact(p, e).text : e.text;
}

const char *source_element(printer *p, uint32_t array, uint32_t index) {
    return source_text(p, "%s[%s]", p->b->exprs[array].text, index_text(p, index));
}

/* &a[i], or a for a[0] */
static const char *address(printer *p, uint32_t array, uint32_t index, uint32_t more) {
    const char *name = p->b->exprs[array].text, *i = index_text(p, index);
    bool zero = !strcmp(i, "0");
    if (more) return zero ? source_text(p, "&%s[%u]", name, more) : source_text(p, "&%s[%s + %u]", name, source_within(p, source_value(p, index), PREC_ADD), more);
    return zero ? name : source_text(p, "&%s[%s]", name, i);
}

static const char *word_address(printer *p, uint32_t array, uint32_t index, bool read, ktype have) {
    ktype type = source_storage_of(p->b, array);
    const char *at = address(p, array, index, 0);
    return type == have ? at : source_text(p, "(%s%s *)%s", read ? "const " : "", source_type[have], at);
}

/* ---- one element ---- */

static expr as_value(printer *p, ktype storage, bool is_private, expr e) {
    if (storage == T_BOOL && !is_private)
        return (expr){ .text = source_text(p, "%s != 0", source_within(p, e, PREC_EQUAL)), .prec = PREC_EQUAL, .have = T_BOOL, .type = T_BOOL };
    if (storage == T_F16 && p->d->f16) {
        e.have = T_F16;
        e.type = T_F32;
        return e;
    }
    if (storage == T_F16 || storage == T_BF16) {
        source_help(p, storage == T_F16 ? HELP_F16_READ : HELP_BF16_READ);
        return source_filled_call(p, T_F32, storage == T_F16 ? "f16_to_f32($0)" : "bf16_to_f32($0)", e.text, NULL, NULL);
    }
    return e;
}

static expr ordered_load(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    ktype type = (ktype)x->type;
    bool wide = ktype_table[type].size == 8, relaxed = x->flags & LOAD_RELAXED;
    if (ktype_table[type].size < 4) {
        source_refuse(p, "an ordered load of less than 32 bits");
        return source_literal(p, type, 0);
    }
    if (relaxed) source_help(p, wide ? HELP_RELAXED_LOAD_64 : HELP_RELAXED_LOAD_32);
    else source_help(p, wide ? HELP_ACQUIRE_64 : HELP_ACQUIRE_32);
    expr e = source_filled_call(p, wide ? T_U64 : T_U32, relaxed ? "load_relaxed($0)" : "load_acquire($0)", word_address(p, x->a, x->b, true, wide ? T_U64 : T_U32), NULL, NULL);
    if (ktype_table[type].is_float) return source_filled_call(p, type, wide ? "__longlong_as_double($0)" : "__uint_as_float($0)", e.text, NULL, NULL);
    e.type = (uint8_t)type;
    return e;
}

/* Is the array's pointer declared so that the compiler itself may take the read-only path? */
static bool is_declared_readonly(const body *b, uint32_t array) {
    const kinst *x = &b->code[array];
    return x->op != K_PARAM || !b->k || (!b->k->params[x->a].written && !b->k->params[x->a].aliased);
}

expr source_load(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    ktype storage = source_storage_of(p->b, x->a);
    bool private = is_private_array(p->b, x->a);
    expr e;
    if (x->flags & (LOAD_ACQUIRE | LOAD_RELAXED)) e = ordered_load(p, v);
    else {
        if (x->flags & LOAD_STREAM && p->b->code[x->a].op == K_PARAM) e = source_filled_call(p, (ktype)x->type, p->d->load_stream, address(p, x->a, x->b, 0), NULL, NULL);
        else if (p->d->load_readonly && x->flags & LOAD_READONLY && !is_declared_readonly(p->b, x->a)) e = source_filled_call(p, (ktype)x->type, p->d->load_readonly, address(p, x->a, x->b, 0), NULL, NULL);
        else e = source_primary(p, (ktype)x->type, source_element(p, x->a, x->b));
        e = as_value(p, storage, private, e);
    }
    return x->c ? source_choice(p, (ktype)x->type, source_value(p, x->c - 1), e, source_literal(p, (ktype)x->type, 0)) : e;
}

/* The text that is assigned to an element. */
static expr as_stored(printer *p, ktype storage, expr e) {
    if ((storage == T_F16 && !p->d->f16) || storage == T_BF16) {
        bool brain = storage == T_BF16, wide = e.type == T_F64;
        source_help(p, brain ? (wide ? HELP_BF16_WRITE_F64 : HELP_BF16_WRITE) : (wide ? HELP_F16_WRITE_F64 : HELP_F16_WRITE));
        const char *format = brain ? (wide ? "f64_to_bf16($0)" : "f32_to_bf16($0)") : (wide ? "f64_to_f16($0)" : "f32_to_f16($0)");
        return source_filled_call(p, storage, format, source_exact(p, e).text, NULL, NULL);
    }
    return e;
}

static void ordered_store(printer *p, const kinst *x) {
    ktype type = source_storage_of(p->b, x->a);
    bool wide = ktype_table[type].size == 8, relaxed = x->flags & STORE_RELAXED;
    if (ktype_table[type].size < 4) {
        source_refuse(p, "an ordered store of less than 32 bits");
        return;
    }
    expr e = source_value(p, x->c);
    const char *bits = e.text;
    if (ktype_table[type].is_float) bits = source_text(p, wide ? "__double_as_longlong(%s)" : "__float_as_uint(%s)", source_exact(p, e).text);
    if (relaxed) source_help(p, wide ? HELP_RELAXED_STORE_64 : HELP_RELAXED_STORE_32);
    else source_help(p, wide ? HELP_RELEASE_64 : HELP_RELEASE_32);
    source_line(p, false, "store_%s(%s, %s);", relaxed ? "relaxed" : "release", word_address(p, x->a, x->b, false, wide ? T_U64 : T_U32), bits);
}

/* x = x + y reads better as x += y */
static bool store_compound(printer *p, const kinst *x) {
    const body *b = p->b;
    const kinst *v = &b->code[x->c], *l;
    ktype type = source_storage_of(b, x->a);
    if (!b->facts[x->c].fold || !(v->op == KOP_add || v->op == KOP_sub || v->op == KOP_mul) || (type != T_F32 && type != T_F64)) return false;
    l = &b->code[v->a];
    if (!b->facts[v->a].fold || l->op != K_LOAD || l->a != x->a || l->b != x->b || l->c || l->flags || x->flags) return false;
    source_line(p, false, "%s %s= %s;", source_element(p, x->a, x->b), v->op == KOP_add ? "+" : v->op == KOP_sub ? "-" : "*", source_value(p, v->b).text);
    return true;
}

void source_store(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    ktype storage = source_storage_of(p->b, x->a);
    if (x->flags & (STORE_RELEASE | STORE_RELAXED)) {
        ordered_store(p, x);
        return;
    }
    if (store_compound(p, x)) return;
    expr e = as_stored(p, storage, source_value(p, x->c));
    if (x->flags & STORE_STREAM && p->b->code[x->a].op == K_PARAM)
        source_line(p, false, "%s;", source_filled_call(p, T_VOID, p->d->store_stream, address(p, x->a, x->b, 0), source_exact(p, e).text, NULL).text);
    else
        source_line(p, false, "%s = %s;", source_element(p, x->a, x->b), e.text);
}

/* ---- vectors ---- */

static const char *built_in_vector(printer *p, ktype storage, uint32_t n) {
    static const char *const stem[NKTYPES] = { [T_I32] = "int", [T_U32] = "uint", [T_I64] = "longlong", [T_U64] = "ulonglong", [T_F32] = "float", [T_F64] = "double" };
    return stem[storage] && p->d->own_vectors ? source_text(p, "%s%u", stem[storage], n) : NULL;
}

static const char *vector_type(printer *p, ktype storage, uint32_t n) {
    const char *own = built_in_vector(p, storage, n);
    if (own) return own;
    const char *name = source_text(p, "%sx%u", storage == T_BOOL ? "u8" : ktype_table[storage].name, n);
    const char *bytes = source_text(p, "%u", n * ktype_table[storage].size), *count = source_text(p, "%u", n);
    const char *definition = source_filled(p, p->d->vector_type, (const char *const[4]){ source_storage(p, storage, false), name, bytes, count });
    if (!p->types.at || !strstr(p->types.at, definition)) text_add(&p->types, "%s\n", definition);
    return name;
}

/* A vector access of more than 16 bytes is several. */
void source_vector(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    bool load = x->op == K_VLOAD, stream = x->flags & LOAD_STREAM && p->b->code[x->a].op == K_PARAM;
    ktype storage = source_storage_of(p->b, x->c);
    uint32_t n = x->flags & ~(uint32_t)LOAD_STREAM, size = ktype_table[storage].size, piece = n * size <= 16 ? n : 16 / size;
    const char *type = vector_type(p, storage, piece), *local = p->b->exprs[x->c].text;
    if (!p->d->own_vectors || !built_in_vector(p, storage, piece)) stream = stream && !p->d->own_vectors;
    for (uint32_t at = 0; at < n; at += piece) {
        const char *inner = at ? source_text(p, "&%s[%u]", local, at) : local, *outer = address(p, x->a, x->b, at);
        const char *from = source_text(p, "(const %s *)%s", type, load ? outer : inner), *to = source_text(p, "(%s *)%s", type, load ? inner : outer);
        if (load && stream) source_line(p, false, "*%s = %s;", to, source_filled_call(p, T_VOID, p->d->load_stream, from, NULL, NULL).text);
        else if (stream) source_line(p, false, "%s;", source_filled_call(p, T_VOID, p->d->store_stream, to, source_text(p, "*%s", from), NULL).text);
        else source_line(p, false, "*%s = *%s;", to, from);
    }
}

/* ---- complex elements ---- */

void source_pair(printer *p, uint32_t v) {
    body *b = p->b;
    uint32_t w = b->facts[v].pair;
    const kinst *x = &b->code[v];
    ktype storage = source_storage_of(b, x->a);
    const char *type = vector_type(p, storage, 2), *at = address(p, x->a, x->b, 0);
    if (x->op == K_STORE) {
        const char *both = source_text(p, "%s{%s, %s}", type, source_exact(p, source_value(p, x->c)).text, source_exact(p, source_value(p, b->code[w].c)).text);
        if (x->flags & STORE_STREAM) source_line(p, false, "%s;", source_filled_call(p, T_VOID, p->d->store_stream, source_text(p, "(%s *)%s", type, at), both, NULL).text);
        else source_line(p, false, "*(%s *)%s = %s;", type, at, both);
        return;
    }
    const char *from = source_text(p, "(const %s *)%s", type, at);
    const char *loaded = x->flags & LOAD_STREAM ? source_filled_call(p, T_VOID, p->d->load_stream, from, NULL, NULL).text : source_text(p, "*%s", from);
    if (x->c) loaded = source_text(p, "%s ? %s : %s{}", source_within(p, source_value(p, x->c - 1), PREC_EITHER), loaded, type);
    const char *name = source_name_for(p, v);
    source_line(p, false, "const %s %s = %s;", type, name, loaded);
    b->exprs[v] = source_primary(p, (ktype)x->type, source_text(p, "%s.x", name));
    b->exprs[w] = source_primary(p, (ktype)x->type, source_text(p, "%s.y", name));
}
