/* express.c: scalar primitives as C expressions, with C's precedences, promotions and conversions: parentheses and casts
 * only where C would mean something else without them. */
#include <string.h>
#include "codegen/source/source.h"

const char *const source_type[NKTYPES] = {
    [T_VOID] = "void", [T_BOOL] = "bool", [T_I8] = "signed char", [T_I16] = "short", [T_I32] = "int", [T_I64] = "long long",
    [T_U8] = "unsigned char", [T_U16] = "unsigned short", [T_U32] = "unsigned", [T_U64] = "unsigned long long",
    [T_F16] = "unsigned short", [T_BF16] = "unsigned short", [T_F32] = "float", [T_F64] = "double",
};

const char *const source_format[NKOPS] = {
#define KOP(name, arity, operands, result, source, ...) [KOP_##name] = source,
#include "ir/kir/kops.def"
};

/* ---- types as C sees them ---- */

ktype source_promoted(ktype t) { return t == T_BOOL || (ktype_table[t].is_int && ktype_table[t].size < 4) ? T_I32 : t; }

static int rank(ktype t) {
    switch (source_promoted(t)) {
    case T_I32: return 0;
    case T_U32: return 1;
    case T_I64: return 2;
    case T_U64: return 3;
    case T_F16: return 4;   /* HIP's _Float16 */
    case T_F32: return 5;
    default: return 6;
    }
}

/* C's usual arithmetic conversions. */
static ktype common(ktype a, ktype b) { return source_promoted(rank(a) >= rank(b) ? a : b); }

static ktype unsigned_of(ktype t) {
    switch (t) {
    case T_I8: return T_U8;
    case T_I16: return T_U16;
    case T_I32: return T_U32;
    case T_I64: return T_U64;
    default: return t;
    }
}

/* ---- pieces ---- */

expr source_primary(printer *p, ktype type, const char *name) {
    (void)p;
    return (expr){ .text = name, .prec = PREC_PRIMARY, .have = (uint8_t)type, .type = (uint8_t)type };
}

const char *source_within(printer *p, expr e, int prec) { return e.prec >= prec ? e.text : source_text(p, "(%s)", e.text); }

expr source_cast(printer *p, expr e, ktype to) {
    if (e.literal && (to == T_U32 || to == T_U64 || to == T_I64) && e.text[0] != '-') {
        e.type = (uint8_t)to;
        return source_literal_exact(p, e);
    }
    const char *name = to == T_F16 && p->d->f16 ? p->d->f16 : source_type[to];
    return (expr){ .text = source_text(p, "(%s)%s", name, source_within(p, e, PREC_UNARY)), .prec = PREC_UNARY, .have = (uint8_t)to, .type = e.type, .builtin = e.builtin };
}

expr source_exact(printer *p, expr e) {
    if (e.have == e.type) return e;
    if (e.literal) return e.text[0] == '-' && e.type == T_I64 ? source_literal_exact(p, e) : source_cast(p, e, (ktype)e.type);
    return source_cast(p, e, (ktype)e.type);
}

expr source_value(printer *p, uint32_t v) {
    expr e = p->b->exprs[v];
    if (e.text) return e;
    return source_primary(p, (ktype)p->b->code[v].type, "0");   /* only after a failed allocation */
}

/* Replaces $0 $1 $2 $3 in a format. */
const char *source_filled(printer *p, const char *format, const char *const part[4]) {
    text t = { 0 };
    for (const char *s = format; *s; s++) {
        bool mark = *s == '$' && s[1] >= '0' && s[1] <= '3';
        if (mark) s++;
        if (mark) text_add(&t, "%s", part[*s - '0']);
        else text_addn(&t, s, 1);
    }
    const char *made = t.failed ? NULL : source_text(p, "%s", t.at);
    if (!made) p->failed = true;
    text_free(&t);
    return made ? made : "";
}

expr source_filled_call(printer *p, ktype type, const char *format, const char *a, const char *b, const char *c) {
    const char *const part[4] = { a ? a : "", b ? b : "", c ? c : "", "" };
    return (expr){ .text = source_filled(p, format, part), .prec = PREC_POSTFIX, .have = (uint8_t)type, .type = (uint8_t)type };
}

/* ---- operators ---- */

typedef struct op_shape { const char *sign; int prec; } op_shape;

static op_shape shape_of(kop op) {
    switch (op) {
    case KOP_mul: case KOP_div: case KOP_rem: return (op_shape){ NULL, PREC_MUL };
    case KOP_add: case KOP_sub: return (op_shape){ NULL, PREC_ADD };
    case KOP_shl: case KOP_shr: return (op_shape){ NULL, PREC_SHIFT };
    case KOP_lt: case KOP_le: case KOP_gt: case KOP_ge: return (op_shape){ NULL, PREC_ORDER };
    case KOP_eq: case KOP_ne: return (op_shape){ NULL, PREC_EQUAL };
    case KOP_and: return (op_shape){ NULL, PREC_AND };
    case KOP_xor: return (op_shape){ NULL, PREC_XOR };
    case KOP_or: return (op_shape){ NULL, PREC_OR };
    default: return (op_shape){ NULL, 0 };
    }
}

/* "$0 + $1" -> "+" */
static const char *sign_of(printer *p, kop op) {
    const char *s = source_format[op] + 3, *end = strchr(s, ' ');
    return source_text(p, "%.*s", (int)(end ? end - s : 1), s);
}

/* Readers do not carry the precedence of shifts and bit operators in their heads: such operands get parentheses. */
static const char *side(printer *p, expr e, int prec, bool right) {
    bool associative = prec == PREC_BOTH || prec == PREC_EITHER;
    int need = right && !associative ? prec + 1 : prec;
    bool bits = prec == PREC_SHIFT || (prec >= PREC_OR && prec <= PREC_AND);
    if (bits && e.prec != prec) need = PREC_UNARY;
    if (prec == PREC_SHIFT) need = PREC_UNARY;
    if ((prec == PREC_ORDER || prec == PREC_EQUAL) && e.prec <= PREC_ORDER) need = PREC_SHIFT;
    if (prec == PREC_EITHER && e.prec == PREC_BOTH) need = PREC_OR;
    return source_within(p, e, need);
}

static expr binary(printer *p, const char *sign, int prec, expr a, expr b, ktype have, ktype type) {
    return (expr){ .text = source_text(p, "%s %s %s", side(p, a, prec, false), sign, side(p, b, prec, true)), .prec = (uint8_t)prec,
                   .have = (uint8_t)have, .type = (uint8_t)type, .builtin = a.builtin || b.builtin };
}

/* Makes C compute a op b in `as`, casting as little as possible. */
static void agree(printer *p, expr *a, expr *b, ktype as) {
    if (ktype_table[a->type].size < 4 && a->type != T_F16) *a = source_exact(p, *a);   /* bits above a narrow value must not take part */
    if (ktype_table[b->type].size < 4 && b->type != T_F16) *b = source_exact(p, *b);
    if (common((ktype)a->have, (ktype)b->have) == as) return;
    bool cast_right = a->literal && !b->literal;
    expr *first = cast_right ? b : a, *second = cast_right ? a : b;
    *first = source_cast(p, *first, as);
    if (common((ktype)a->have, (ktype)b->have) != as) *second = source_cast(p, *second, as);
}

/* a + -1 as a - 1 */
static void subtract_literal(printer *p, const char **sign, expr *b) {
    if (strcmp(*sign, "+") || !b->literal || b->text[0] != '-') return;
    *sign = "-";
    b->text = source_text(p, "%s", b->text + 1);
    b->prec = PREC_PRIMARY;
}

/* + - * << whose result is wanted modulo 2^n: unsigned, where the values are data and signed. */
static expr wrapping(printer *p, uint32_t v, expr a, expr b) {
    const kinst *x = &p->b->code[v];
    ktype type = (ktype)x->type, wide = source_promoted(type);
    int prec = shape_of((kop)x->op).prec;
    const char *sign = sign_of(p, (kop)x->op);   /* "+", "-", "*" or "<<" */
    bool narrow = ktype_table[type].size < 4, is_index = p->b->facts[v].index;
    if (ktype_table[type].is_float) {
        agree(p, &a, &b, type);
        return binary(p, sign, prec, a, b, type, type);
    }
    if ((a.builtin || b.builtin) && type == T_I32 && x->op != KOP_shl) {   /* the same bits either way */
        if (rank((ktype)a.have) > 1) a = source_exact(p, a);
        if (rank((ktype)b.have) > 1) b = source_exact(p, b);
        return binary(p, sign, prec, a, b, common((ktype)a.have, (ktype)b.have), type);
    }
    if (narrow) {   /* int holds all but products and shifts */
        a = source_exact(p, a);
        b = source_exact(p, b);
        if (type == T_U16 && x->op == KOP_mul) a = source_cast(p, a, T_U32);
        if (x->op == KOP_shl && ktype_table[type].is_signed) a = source_cast(p, a, T_U32);
        return binary(p, sign, prec, a, b, common((ktype)a.have, (ktype)b.have), type);
    }
    ktype as = is_index ? wide : unsigned_of(wide);
    if (x->op == KOP_shl) {
        if (a.have != as) a = source_cast(p, a, as);
        return binary(p, sign, prec, a, b, as, type);
    }
    subtract_literal(p, &sign, &b);
    if (!is_index && a.literal && b.have != as && a.text[0] != '-') a = source_cast(p, a, as);
    agree(p, &a, &b, as);
    if (is_index && *sign == '+' && b.prec == PREC_ADD && a.have == b.have) b.prec++;   /* indices are exact: a + (b + c) is a + b + c */
    return binary(p, sign, prec, a, b, as, type);
}

static expr negated(printer *p, uint32_t v, expr a) {
    ktype type = (ktype)p->b->code[v].type, have = source_promoted(type);
    a = source_exact(p, a);
    if (ktype_table[type].is_int && ktype_table[type].size >= 4 && !p->b->facts[v].index && a.have != unsigned_of(have)) {
        have = unsigned_of(have);
        a = source_cast(p, a, have);
    }
    const char *space = a.text[0] == '-' ? " " : "";
    return (expr){ .text = source_text(p, "-%s%s", space, source_within(p, a, PREC_UNARY)), .prec = PREC_UNARY, .have = (uint8_t)have, .type = (uint8_t)type };
}

static expr logical(printer *p, kop op, expr a, expr b) {
    if (op == KOP_xor) return binary(p, "!=", PREC_EQUAL, source_exact(p, a), source_exact(p, b), T_BOOL, T_BOOL);
    return op == KOP_and ? binary(p, "&&", PREC_BOTH, a, b, T_BOOL, T_BOOL) : binary(p, "||", PREC_EITHER, a, b, T_BOOL, T_BOOL);
}

static expr compared(printer *p, kop op, expr a, expr b) {
    ktype type = (ktype)a.type;
    agree(p, &a, &b, source_promoted(type));
    return binary(p, sign_of(p, op), shape_of(op).prec, a, b, T_BOOL, T_BOOL);
}

expr source_negation(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    static const kop inverse[] = { KOP_ne, KOP_eq, KOP_ge, KOP_gt, KOP_le, KOP_lt };   /* of eq ne lt le gt ge */
    if (p->b->facts[v].fold && x->op == KOP_not) return source_value(p, x->a);
    bool compares = x->op >= KOP_eq && x->op <= KOP_ge;
    if (p->b->facts[v].fold && compares && (x->op <= KOP_ne || !ktype_table[p->b->code[x->a].type].is_float))
        return compared(p, inverse[x->op - KOP_eq], source_value(p, x->a), source_value(p, x->b));
    return (expr){ .text = source_text(p, "!%s", source_within(p, source_value(p, v), PREC_UNARY)), .prec = PREC_UNARY, .have = T_BOOL, .type = T_BOOL };
}

expr source_choice(printer *p, ktype type, expr c, expr a, expr b) {
    if (c.text[0] == '!') {   /* !c ? a : b as c ? b : a */
        expr other = a;
        a = b;
        b = other;
        c.text++;
        c.prec = c.text[0] == '(' ? PREC_PRIMARY : PREC_POSTFIX;
    }
    if (a.have != b.have) agree(p, &a, &b, source_promoted(type));
    ktype have = a.have == b.have ? (ktype)a.have : common((ktype)a.have, (ktype)b.have);
    return (expr){ .text = source_text(p, "%s ? %s : %s", source_within(p, c, PREC_EITHER), source_within(p, a, PREC_EITHER), source_within(p, b, PREC_CHOICE)),
                   .prec = PREC_CHOICE, .have = (uint8_t)have, .type = (uint8_t)type };
}

/* ---- conversions ---- */

static expr converted(printer *p, ktype to, expr a) {
    const ktype_info *from = &ktype_table[a.type], *into = &ktype_table[to];
    if (to == T_BOOL) {
        a = source_exact(p, a);
        const char *zero = a.type == T_F32 ? "0.0f" : a.type == T_F64 ? "0.0" : "0";
        return binary(p, "!=", PREC_EQUAL, a, source_primary(p, (ktype)a.have, zero), T_BOOL, T_BOOL);
    }
    a = source_exact(p, a);
    bool loses = (from->is_float && (into->is_int || into->size < from->size));
    if (loses) {   /* an assignment would convert too, but this is worth seeing */
        a.type = (uint8_t)to;
        return source_cast(p, a, to);
    }
    a.type = (uint8_t)to;
    a.literal = false;
    return a;
}

static expr same_bits(printer *p, ktype to, expr a) {
    a = source_exact(p, a);
    ktype from = (ktype)a.type;
    expr e;
    if (from == T_F32) e = source_filled_call(p, to == T_U32 ? T_U32 : T_I32, to == T_U32 ? "__float_as_uint($0)" : "__float_as_int($0)", a.text, NULL, NULL);
    else if (from == T_F64) e = source_filled_call(p, T_I64, "__double_as_longlong($0)", a.text, NULL, NULL);
    else if (to == T_F32) e = source_filled_call(p, T_F32, from == T_U32 ? "__uint_as_float($0)" : "__int_as_float($0)", a.text, NULL, NULL);
    else if (to == T_F64) e = source_filled_call(p, T_F64, "__longlong_as_double($0)", a.text, NULL, NULL);
    else e = a;   /* between integers of one width */
    e.type = (uint8_t)to;
    e.literal = false;
    return e;
}

/* A store to an array of the rounded type rounds by itself. */
static bool is_stored_rounded(const body *b, uint32_t v, ktype storage) {
    const fact *f = &b->facts[v];
    const kinst *u = &b->code[f->user];
    return f->fold && f->uses == 1 && u->op == K_STORE && u->c == v && source_storage_of(b, u->a) == storage;
}

static expr rounded(printer *p, uint32_t v, bool brain, expr a) {
    a = source_exact(p, a);
    if (is_stored_rounded(p->b, v, brain ? T_BF16 : T_F16)) return a;
    if (!brain && p->d->f16) {
        a.type = T_F32;
        return source_cast(p, a, T_F16);
    }
    bool wide = a.type == T_F64;
    source_help(p, brain ? (wide ? HELP_ROUND_BF16_F64 : HELP_ROUND_BF16) : (wide ? HELP_ROUND_F16_F64 : HELP_ROUND_F16));
    return source_filled_call(p, T_F32, brain ? "round_bf16($0)" : "round_f16($0)", a.text, NULL, NULL);
}

/* ---- bit counts ---- */

static expr counted(printer *p, kop op, ktype type, expr a) {
    unsigned bits = 8u * ktype_table[type].size;
    a = source_exact(p, a);
    if (ktype_table[type].is_signed && bits < 32) a = source_cast(p, a, unsigned_of(type));
    const char *format = op == KOP_popcount ? (bits == 64 ? "__popcll($0)" : "__popc($0)") : (bits == 64 ? "__clzll($0)" : "__clz($0)");
    expr e = source_filled_call(p, T_I32, format, a.text, NULL, NULL);
    if (op == KOP_clz && bits < 32) {
        e.text = source_text(p, "%s - %u", e.text, 32 - bits);
        e.prec = PREC_ADD;
    }
    e.type = (uint8_t)type;
    return e;
}

static expr high_product(printer *p, ktype type, expr a, expr b) {
    const char *format = type == T_I32 ? "__mulhi($0, $1)" : type == T_U32 ? "__umulhi($0, $1)" : type == T_I64 ? "__mul64hi($0, $1)" : "__umul64hi($0, $1)";
    if (ktype_table[type].size < 4) {   /* the product fits an int, or for u16 an unsigned */
        a = source_exact(p, a);
        b = source_exact(p, b);
        if (type == T_U16) a = source_cast(p, a, T_U32);
        expr whole = binary(p, "*", PREC_MUL, a, b, source_promoted((ktype)a.have), type);
        return (expr){ .text = source_text(p, "(%s) >> %u", whole.text, 8u * ktype_table[type].size), .prec = PREC_SHIFT, .have = whole.have, .type = (uint8_t)type };
    }
    return source_filled_call(p, type, format, source_exact(p, a).text, source_exact(p, b).text, NULL);
}

/* A function of the C library: the "?" of its row becomes "f" for float. */
static expr library(printer *p, kop op, ktype type, const expr *e, int n) {
    const char *s = source_format[op], *mark = strchr(s, '?');
    const char *format = mark ? source_text(p, "%.*s%s%s", (int)(mark - s), s, type == T_F32 ? "f" : "", mark + 1) : s;
    const char *part[3] = { NULL, NULL, NULL };
    for (int i = 0; i < n; i++) part[i] = source_exact(p, e[i]).text;
    return source_filled_call(p, type, format, part[0], part[1], part[2]);
}

/* Masks are read in hexadecimal. */
static expr as_mask(printer *p, uint32_t v, expr e) {
    const kinst *x = &p->b->code[v];
    uint64_t bits = source_constant(x);
    static const char *const suffix[NKTYPES] = { [T_U32] = "u", [T_I64] = "ll", [T_U64] = "ull" };
    if (x->op != K_CONST || !ktype_table[x->type].is_int || bits < 256 || bits > INT64_MAX) return e;
    const char *end = bits > INT32_MAX && suffix[x->type] ? suffix[x->type] : "";
    e.text = source_text(p, "0x%llx%s", (unsigned long long)bits, end);
    return e;
}

expr source_operation(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    ktype type = (ktype)x->type;
    kop op = (kop)x->op;
    int n = kop_arity(op);
    expr e[3] = { { 0 } };
    for (int i = 0; i < n; i++) e[i] = source_value(p, i == 0 ? x->a : i == 1 ? x->b : x->c);
    switch (op) {
    case KOP_add: case KOP_sub: case KOP_mul: case KOP_shl: return wrapping(p, v, e[0], e[1]);
    case KOP_div: case KOP_rem: case KOP_shr:
        if (op == KOP_shr) e[0] = source_exact(p, e[0]);
        else agree(p, &e[0], &e[1], source_promoted(type));
        return binary(p, sign_of(p, op), shape_of(op).prec, e[0], e[1], type, type);   /* never leaves a narrow type's range */
    case KOP_neg: return negated(p, v, e[0]);
    case KOP_and: case KOP_or: case KOP_xor:
        if (type == T_BOOL) return logical(p, op, e[0], e[1]);
        e[0] = as_mask(p, x->a, e[0]);
        e[1] = as_mask(p, x->b, e[1]);
        if (ktype_table[type].size < 4) {   /* nor do these */
            agree(p, &e[0], &e[1], T_I32);
            return binary(p, sign_of(p, op), shape_of(op).prec, e[0], e[1], type, type);
        }
        if (common((ktype)e[0].have, (ktype)e[1].have) != unsigned_of(type)) agree(p, &e[0], &e[1], type);
        return binary(p, sign_of(p, op), shape_of(op).prec, e[0], e[1], common((ktype)e[0].have, (ktype)e[1].have), type);
    case KOP_not:
        e[0] = source_exact(p, e[0]);
        return (expr){ .text = source_text(p, "%s%s", type == T_BOOL ? "!" : "~", source_within(p, e[0], PREC_UNARY)), .prec = PREC_UNARY,
                       .have = (uint8_t)(type == T_BOOL ? T_BOOL : source_promoted(type)), .type = (uint8_t)type };
    case KOP_eq: case KOP_ne: case KOP_lt: case KOP_le: case KOP_gt: case KOP_ge: return compared(p, op, e[0], e[1]);
    case KOP_select: return source_choice(p, type, e[0], e[1], e[2]);
    case KOP_convert: return converted(p, type, e[0]);
    case KOP_bitcast: return same_bits(p, type, e[0]);
    case KOP_round_f16: case KOP_round_bf16: return rounded(p, v, op == KOP_round_bf16, e[0]);
    case KOP_popcount: case KOP_clz: return counted(p, op, type, e[0]);
    case KOP_mulhi: return high_product(p, type, e[0], e[1]);
    default: return library(p, op, type, e, n);
    }
}
