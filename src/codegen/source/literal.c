/* literal.c: constants as text: the shortest decimal that reads back as the same number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/source/source.h"

/* ---- floats ---- */

static const char *special(printer *p, ktype type, uint64_t bits) {
    bool single = type == T_F32;
    uint64_t quiet = single ? 0x7fc00000u : 0x7ff8000000000000u, infinity = single ? 0x7f800000u : 0x7ff0000000000000u;
    uint64_t sign = single ? 0x80000000u : 0x8000000000000000u;
    const char *minus = bits & sign ? "-" : "";
    if ((bits & ~sign) == infinity) {
        source_help(p, single ? HELP_INF_F32 : HELP_INF_F64);
        return source_text(p, "%sINF_%s", minus, single ? "F32" : "F64");
    }
    if (bits == quiet) {
        source_help(p, single ? HELP_NAN_F32 : HELP_NAN_F64);
        return single ? "NAN_F32" : "NAN_F64";
    }
    if (single) return source_text(p, "__int_as_float(0x%08x)", (unsigned)bits);
    return source_text(p, "__longlong_as_double(0x%016llxull)", (unsigned long long)bits);
}

/* 1e+07 as 1e7; and a point, whatever the locale says. */
static void plain(char *s) {
    char *to = s;
    for (const char *c = s; *c; c++) {
        bool exponent = c > s && (c[-1] == 'e' || (c[-1] == '-' && c > s + 1 && c[-2] == 'e') || (c[-1] == '+' && c > s + 1 && c[-2] == 'e'));
        if (exponent && (*c == '+' || (*c == '0' && c[1]))) continue;
        *to++ = *c == ',' ? '.' : *c;
    }
    *to = 0;
}

const char *source_float(printer *p, ktype type, uint64_t bits) {
    char s[40];
    double v;
    if (type == T_F32) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        v = f;
        if (!isfinite(f)) return special(p, type, low);
        for (int digits = 1; digits <= 9; digits++) {
            snprintf(s, sizeof s, "%.*g", digits, v);
            if (strtof(s, NULL) == f) break;
        }
    } else {
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v)) return special(p, type, bits);
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(s, sizeof s, "%.*g", digits, v);
            if (strtod(s, NULL) == v) break;
        }
    }
    if (v == rint(v) && fabs(v) < 1e7) snprintf(s, sizeof s, "%.1f", v);
    plain(s);
    return source_text(p, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0", type == T_F32 ? "f" : "");
}

/* ---- integers ---- */

uint64_t source_constant(const kinst *x) {
    uint64_t bits = (uint64_t)x->c << 32 | x->b;
    unsigned above = 64 - 8u * ktype_table[x->type].size;
    if (!ktype_table[x->type].is_int) return bits;
    return ktype_table[x->type].is_signed ? (uint64_t)((int64_t)(bits << above) >> above) : bits << above >> above;
}

static expr integer(printer *p, ktype type, uint64_t bits) {
    expr e = { .type = (uint8_t)type, .have = (uint8_t)type, .prec = PREC_PRIMARY, .literal = true };
    int64_t v = (int64_t)bits;
    bool is_signed = ktype_table[type].is_signed;
    if (is_signed && v < 0) e.prec = PREC_UNARY;
    if (ktype_table[type].size < 4 || (is_signed ? v >= INT32_MIN + 1ll && v <= INT32_MAX : bits <= INT32_MAX)) {
        e.text = source_text(p, "%lld", (long long)v);
        if (ktype_table[type].size >= 4) e.have = T_I32;
        return e;
    }
    e.literal = false;
    if (!is_signed) e.text = source_text(p, type == T_U32 ? "0x%llxu" : "0x%llxull", (unsigned long long)bits);
    else if (type == T_I32) e.text = "(-2147483647 - 1)", e.prec = PREC_PRIMARY;
    else if (v == INT64_MIN) e.text = "(-9223372036854775807ll - 1)", e.prec = PREC_PRIMARY;
    else e.text = source_text(p, "%lldll", (long long)v);
    return e;
}

expr source_literal(printer *p, ktype type, uint64_t bits) {
    if (type == T_BOOL) return source_primary(p, T_BOOL, bits & 0xff ? "true" : "false");
    if (ktype_table[type].is_int) return integer(p, type, bits);
    expr e = source_primary(p, type, source_float(p, type, bits));
    if (e.text[0] == '-') e.prec = PREC_UNARY;
    return e;
}

expr source_literal_exact(printer *p, expr e) {
    static const char *const suffix[NKTYPES] = { [T_U32] = "u", [T_I64] = "ll", [T_U64] = "ull" };
    if (suffix[e.type]) e.text = source_text(p, "%s%s", e.text, suffix[e.type]);
    e.have = e.type;
    e.literal = false;
    return e;
}
