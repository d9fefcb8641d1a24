/* atomic.c: what threads do together: shuffles, votes, atomic operations. */
#include <string.h>
#include "codegen/source/source.h"

/* ---- lanes ---- */

expr source_shuffle(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    expr e = source_exact(p, source_value(p, x->a));
    ktype have = (ktype)x->type;
    if (ktype_table[have].size < 4) {   /* bool and narrow integers travel as int */
        have = T_I32;
        e = source_cast(p, e, T_I32);
    }
    const char *width = p->b->k && x->c && x->c != p->b->k->warp ? source_text(p, ", %u", x->c) : "";
    expr r = source_filled_call(p, have, p->d->warp_shuffle[x->flags & 3], e.text, source_value(p, x->b).text, width);
    r.type = x->type;
    return r;
}

expr source_ballot(printer *p, uint32_t v) {
    expr r = source_filled_call(p, p->d->ballot_type, p->d->ballot, source_value(p, p->b->code[v].a).text, NULL, NULL);
    r.type = T_U64;
    return r;
}

expr source_lane(printer *p, uint32_t v) {
    const kernel *k = p->b->k;
    unsigned warp = k && k->warp ? k->warp : 32;
    (void)v;
    const char *thread = "threadIdx.x";
    if (k && k->block[2] > 1) thread = source_text(p, "((threadIdx.z * %u + threadIdx.y) * %u + threadIdx.x)", k->block[1], k->block[0]);
    else if (k && k->block[1] > 1) thread = source_text(p, "(threadIdx.y * %u + threadIdx.x)", k->block[0]);
    return (expr){ .text = source_text(p, "%s %% %u", thread, warp), .prec = PREC_MUL, .have = T_U32, .type = T_I32, .builtin = true };
}

/* ---- atomic operations ---- */

static const char *const atomic_name[] = { "Add", "Min", "Max", "And", "Or", "Xor", "Exch" };
static const char *const atomic_stem[] = { "add", "min", "max", "and", "or", "xor", "exchange" };

/* The type in which the device does it by itself, or T_VOID. */
static ktype native_atomic(const printer *p, int op, ktype type) {
    bool order = op == ATOMIC_MIN || op == ATOMIC_MAX;
    switch (type) {
    case T_I32: case T_U32: case T_U64: return type;
    case T_I64: return order ? (p->d->atomic_min_i64 ? T_I64 : T_VOID) : T_U64;
    case T_F32: return op == ATOMIC_ADD || op == ATOMIC_EXCHANGE ? T_F32 : T_VOID;
    case T_F64: return op == ATOMIC_ADD ? T_F64 : T_VOID;
    default: return T_VOID;
    }
}

static const char *combined(int op) {
    switch (op) {
    case ATOMIC_ADD: return "old + value";
    case ATOMIC_MIN: return "value < old || value != value ? value : old";
    case ATOMIC_MAX: return "value > old || value != value ? value : old";
    case ATOMIC_AND: return "old & value";
    case ATOMIC_OR: return "old | value";
    case ATOMIC_XOR: return "old ^ value";
    default: return "value";
    }
}

/* How the bits of a word of memory are read as the value, and written: $0 is the text. */
static void bit_forms(printer *p, ktype storage, const char **read, const char **write) {
    *read = "$0";
    *write = "$0";
    switch (storage) {
    case T_F32: *read = "__uint_as_float($0)"; *write = "__float_as_uint($0)"; break;
    case T_F64: *read = "__longlong_as_double($0)"; *write = "__double_as_longlong($0)"; break;
    case T_BF16:
        source_help(p, HELP_BF16_READ);
        source_help(p, HELP_BF16_WRITE);
        *read = "bf16_to_f32($0)";
        *write = "f32_to_bf16($0)";
        break;
    case T_F16:
        if (p->d->f16) {
            *read = "__builtin_bit_cast(_Float16, (unsigned short)($0))";
            *write = "__builtin_bit_cast(unsigned short, (_Float16)$0)";
            break;
        }
        source_help(p, HELP_F16_READ);
        source_help(p, HELP_F16_WRITE);
        *read = "f16_to_f32($0)";
        *write = "f32_to_f16($0)";
        break;
    case T_I8: *read = "(signed char)($0)"; *write = "(unsigned char)$0"; break;
    case T_I16: *read = "(short)($0)"; *write = "(unsigned short)$0"; break;
    default: break;
    }
}

/* A loop of compare and swap on the word that holds the element. Elements of less than 32 bits share a word. */
static const char *atomic_by_swapping(printer *p, int op, ktype storage) {
    const char *name = source_text(p, "atomic_%s_%s", atomic_stem[op], ktype_table[storage].name);
    if (p->atomics.at && strstr(p->atomics.at, source_text(p, " %s(", name))) return name;
    ktype type = ktype_value(storage);
    unsigned size = ktype_table[storage].size;
    bool part = size < 4;
    const char *word = size == 8 ? "unsigned long long" : "unsigned", *c = source_type[type], *read, *write;
    const char *held = source_storage(p, storage, false);
    bit_forms(p, storage, &read, &write);
    const char *const seen[4] = { part ? source_text(p, size == 1 ? "(unsigned char)(was >> shift)" : "(unsigned short)(was >> shift)") : "was", "", "", "" };
    const char *const now[4] = { "now", "", "", "" };
    text *t = &p->atomics;
    text_add(t, "static __device__ %s %s(%s *at, %s value) {\n", c, name, held, c);
    if (part) {
        text_add(t, "    unsigned *word = (unsigned *)((unsigned long long)at & ~3ull);\n    const int shift = ((unsigned long long)at & 3) * 8;\n");
        text_add(t, "    const unsigned others = ~(%su << shift);\n", size == 1 ? "0xff" : "0xffff");
    } else {
        text_add(t, "    %s *word = (%s *)at;\n", word, word);
    }
    text_add(t, "    %s seen = *word, was;\n    %s old;\n    do {\n        was = seen;\n", word, c);
    text_add(t, "        old = %s;\n        const %s now = %s;\n", source_filled(p, read, seen), c, combined(op));
    if (part) text_add(t, "        seen = atomicCAS(word, was, (was & others) | (unsigned)%s << shift);\n", source_filled(p, write, now));
    else text_add(t, "        seen = atomicCAS(word, was, (%s)%s);\n", word, source_filled(p, write, now));
    text_add(t, "    } while (seen != was);\n    return old;\n}\n");
    return name;
}

static const char *pointer_to(printer *p, const kinst *x, ktype as) {
    const char *at = source_text(p, "&%s", source_element(p, x->a, x->b));
    return as == source_storage_of(p->b, x->a) ? at : source_text(p, "(%s *)%s", source_type[as], at);
}

expr source_atomic(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    ktype storage = source_storage_of(p->b, x->a);
    expr e = source_exact(p, source_value(p, x->c)), r;
    if (x->flags == ATOMIC_EXCHANGE && storage == T_F64) {
        r = source_filled_call(p, T_U64, "atomicExch($0, __double_as_longlong($1))", pointer_to(p, x, T_U64), e.text, NULL);
        return source_filled_call(p, T_F64, "__longlong_as_double($0)", r.text, NULL, NULL);
    }
    ktype native = native_atomic(p, x->flags, storage);
    if (native == T_VOID) {
        const char *name = atomic_by_swapping(p, x->flags, storage);
        r = source_filled_call(p, (ktype)x->type, source_text(p, "%s($0, $1)", name), pointer_to(p, x, storage), e.text, NULL);
        return r;
    }
    if (native != storage) e = source_cast(p, e, native);
    r = source_filled_call(p, native, source_text(p, "atomic%s($0, $1)", atomic_name[x->flags]), pointer_to(p, x, native), e.text, NULL);
    r.type = x->type;
    return r;
}

expr source_cas(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    ktype type = source_storage_of(p->b, x->a);
    unsigned size = ktype_table[type].size;
    if (size < 4) {
        source_refuse(p, "compare and swap of less than 32 bits");
        return source_literal(p, (ktype)x->type, 0);
    }
    ktype as = size == 8 ? T_U64 : type == T_I32 ? T_I32 : T_U32;
    const char *part[2];
    for (int i = 0; i < 2; i++) {
        expr e = source_exact(p, source_value(p, p->b->extra[x->c + (uint32_t)i]));
        if (type == T_F32) part[i] = source_text(p, "__float_as_uint(%s)", e.text);
        else if (type == T_F64) part[i] = source_text(p, "__double_as_longlong(%s)", e.text);
        else part[i] = type == as ? e.text : source_cast(p, e, as).text;
    }
    expr r = source_filled_call(p, as, "atomicCAS($0, $1, $2)", pointer_to(p, x, as), part[0], part[1]);
    if (type == T_F32) return source_filled_call(p, T_F32, "__uint_as_float($0)", r.text, NULL, NULL);
    if (type == T_F64) return source_filled_call(p, T_F64, "__longlong_as_double($0)", r.text, NULL, NULL);
    r.type = x->type;
    return r;
}
