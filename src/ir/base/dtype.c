/* dtype.c: the dtypes, their names, NumPy 2's promotion and casting rules.
 *
 * How it works: one row a dtype, and rules over kind and size instead of a table of pairs. bfloat16, for which NumPy has
 * no word, follows ml_dtypes: it behaves as a second 16-bit float, and the two meet in float32. A weak operand (a Python
 * number) takes part by its kind alone, as NEP 50 says. Conversion of values is in cast.c. */
#include "ir/base/base.h"

#include <string.h>

const dtype_info dtype_table[NDTYPES] = {
    [KN_DTYPE_UNSET] = {"unset", '\0', KIND_NONE, 0, 0, 0, KN_DTYPE_UNSET},
    [KN_BOOL] = {"bool", '?', KIND_BOOL, 1, 0, 0, KN_BOOL},
    [KN_INT8] = {"int8", 'b', KIND_INT, 1, 0, 0, KN_INT8},
    [KN_INT16] = {"int16", 'h', KIND_INT, 2, 0, 0, KN_INT16},
    [KN_INT32] = {"int32", 'i', KIND_INT, 4, 0, 0, KN_INT32},
    [KN_INT64] = {"int64", 'l', KIND_INT, 8, 0, 0, KN_INT64},
    [KN_UINT8] = {"uint8", 'B', KIND_UINT, 1, 0, 0, KN_UINT8},
    [KN_UINT16] = {"uint16", 'H', KIND_UINT, 2, 0, 0, KN_UINT16},
    [KN_UINT32] = {"uint32", 'I', KIND_UINT, 4, 0, 0, KN_UINT32},
    [KN_UINT64] = {"uint64", 'L', KIND_UINT, 8, 0, 0, KN_UINT64},
    [KN_FLOAT16] = {"float16", 'e', KIND_FLOAT, 2, 10, 5, KN_FLOAT16},
    [KN_BFLOAT16] = {"bfloat16", 'E', KIND_FLOAT, 2, 7, 8, KN_BFLOAT16},
    [KN_FLOAT32] = {"float32", 'f', KIND_FLOAT, 4, 23, 8, KN_FLOAT32},
    [KN_FLOAT64] = {"float64", 'd', KIND_FLOAT, 8, 52, 11, KN_FLOAT64},
    [KN_COMPLEX64] = {"complex64", 'F', KIND_COMPLEX, 8, 23, 8, KN_FLOAT32},
    [KN_COMPLEX128] = {"complex128", 'D', KIND_COMPLEX, 16, 52, 11, KN_FLOAT64},
};

static bool is_set(kn_dtype t)
{
    return t > KN_DTYPE_UNSET && t < NDTYPES;
}

static bool is_inexact(const dtype_info *t)
{
    return t->kind >= KIND_FLOAT;
}

/* The dtype of that kind and size; of the two 16-bit floats, float16. */
static kn_dtype dtype_of(dtype_kind kind, size_t size)
{
    for (kn_dtype t = KN_BOOL; t < NDTYPES; t++)
        if (dtype_table[t].kind == kind && dtype_table[t].size == size)
            return t;
    return KN_DTYPE_UNSET;
}

/* ---- promotion ---- */

static kn_dtype promote_integers(kn_dtype a, kn_dtype b)
{
    const dtype_info *x = &dtype_table[a], *y = &dtype_table[b];
    if (x->kind == y->kind)
        return x->size >= y->size ? a : b;
    const dtype_info *with_sign = x->kind == KIND_INT ? x : y, *without = x->kind == KIND_INT ? y : x;
    if (with_sign->size > without->size)
        return dtype_of(KIND_INT, with_sign->size);
    return without->size < 8 ? dtype_of(KIND_INT, 2 * (size_t)without->size) : KN_FLOAT64;
}

/* The smallest real float that NumPy lets stand for all values of a real dtype: 8-bit integers fit every float. */
static size_t float_size_for(const dtype_info *t)
{
    if (t->kind == KIND_FLOAT)
        return t->size;
    return t->size == 1 ? 2 : t->size == 2 ? 4 : 8;
}

/* At least one of the two is a float, none is complex. */
static kn_dtype promote_floats(kn_dtype a, kn_dtype b)
{
    const dtype_info *x = &dtype_table[a], *y = &dtype_table[b];
    if (x->kind == KIND_FLOAT && y->kind == KIND_FLOAT && x->size == y->size)
        return KN_FLOAT32; /* float16 with bfloat16 */
    size_t for_a = float_size_for(x), for_b = float_size_for(y);
    if (x->kind == KIND_FLOAT && for_a >= for_b)
        return a;
    if (y->kind == KIND_FLOAT && for_b >= for_a)
        return b;
    return dtype_of(KIND_FLOAT, for_a > for_b ? for_a : for_b);
}

static kn_dtype complex_with_parts(kn_dtype part)
{
    return part == KN_FLOAT64 ? KN_COMPLEX128 : KN_COMPLEX64;
}

kn_dtype dtype_promote(kn_dtype a, kn_dtype b)
{
    if (!is_set(a) || !is_set(b))
        return KN_DTYPE_UNSET;
    const dtype_info *x = &dtype_table[a], *y = &dtype_table[b];
    if (a == b || y->kind == KIND_BOOL)
        return a;
    if (x->kind == KIND_BOOL)
        return b;
    if (x->kind == KIND_COMPLEX || y->kind == KIND_COMPLEX)
        return complex_with_parts(dtype_promote(x->part, y->part));
    if (is_inexact(x) || is_inexact(y))
        return promote_floats(a, b);
    return promote_integers(a, b);
}

kn_dtype dtype_default(scalar_kind weak)
{
    switch (weak) {
    case SCALAR_BOOL: return KN_BOOL;
    case SCALAR_INT: return KN_INT64;
    case SCALAR_UINT: return KN_UINT64;
    case SCALAR_FLOAT: return KN_FLOAT64;
    case SCALAR_COMPLEX: return KN_COMPLEX128;
    }
    return KN_DTYPE_UNSET;
}

kn_dtype dtype_promote_weak(kn_dtype strong, scalar_kind weak)
{
    if (!is_set(strong))
        return KN_DTYPE_UNSET;
    const dtype_info *t = &dtype_table[strong];
    switch (weak) {
    case SCALAR_BOOL:
        return strong;
    case SCALAR_INT:
    case SCALAR_UINT:
        return t->kind == KIND_BOOL ? dtype_default(weak) : strong;
    case SCALAR_FLOAT:
        return is_inexact(t) ? strong : KN_FLOAT64;
    case SCALAR_COMPLEX:
        if (t->kind == KIND_COMPLEX)
            return strong;
        return t->kind == KIND_FLOAT ? complex_with_parts(strong) : KN_COMPLEX128;
    }
    return KN_DTYPE_UNSET;
}

/* ---- casting rules ---- */

/* bool, unsigned, signed, float, complex: a cast to an equal or later one is of "the same kind". */
static int kind_rank(dtype_kind kind)
{
    switch (kind) {
    case KIND_NONE: return -1;
    case KIND_BOOL: return 0;
    case KIND_UINT: return 1;
    case KIND_INT: return 2;
    case KIND_FLOAT: return 3;
    case KIND_COMPLEX: return 4;
    }
    return -1;
}

bool dtype_can_cast(kn_dtype from, kn_dtype to, casting rule)
{
    if (!is_set(from) || !is_set(to))
        return false;
    switch (rule) {
    case CAST_NO:
    case CAST_EQUIV:
        return from == to;
    case CAST_SAFE:
        return dtype_promote(from, to) == to;
    case CAST_SAME_KIND:
        return kind_rank(dtype_kind_of(from)) <= kind_rank(dtype_kind_of(to));
    case CAST_UNSAFE:
        return true;
    }
    return false;
}

bool scalar_fits(scalar s, kn_dtype t)
{
    if (!is_set(t))
        return false;
    const dtype_info *to = &dtype_table[t];
    if ((s.kind != SCALAR_INT && s.kind != SCALAR_UINT) || is_inexact(to))
        return true;
    bool negative = s.kind == SCALAR_INT && s.v.i < 0;
    uint64_t magnitude = s.kind == SCALAR_UINT ? s.v.u : negative ? -(uint64_t)s.v.i : (uint64_t)s.v.i;
    if (to->kind == KIND_BOOL)
        return !negative && magnitude <= 1;
    if (to->kind == KIND_UINT)
        return !negative && magnitude <= UINT64_MAX >> (64 - 8 * to->size);
    uint64_t largest = (uint64_t)INT64_MAX >> (64 - 8 * to->size);
    return magnitude <= largest + negative;
}

/* ---- names ---- */

/* Names that NumPy takes beside a dtype's own, and type codes beside the one in its row. */
static const struct alias { const char *name; kn_dtype dtype; } aliases[] = {
    {"bool_", KN_BOOL},         {"byte", KN_INT8},          {"short", KN_INT16},        {"intc", KN_INT32},
    {"int", KN_INT64},          {"int_", KN_INT64},         {"intp", KN_INT64},         {"long", KN_INT64},
    {"longlong", KN_INT64},     {"ubyte", KN_UINT8},        {"ushort", KN_UINT16},      {"uintc", KN_UINT32},
    {"uint", KN_UINT64},        {"uintp", KN_UINT64},       {"ulong", KN_UINT64},       {"ulonglong", KN_UINT64},
    {"half", KN_FLOAT16},       {"single", KN_FLOAT32},     {"double", KN_FLOAT64},     {"float", KN_FLOAT64},
    {"csingle", KN_COMPLEX64},  {"cdouble", KN_COMPLEX128}, {"complex", KN_COMPLEX128},
};
static const struct code { char code; kn_dtype dtype; } more_codes[] = {
    {'q', KN_INT64}, {'p', KN_INT64}, {'n', KN_INT64}, {'Q', KN_UINT64}, {'P', KN_UINT64}, {'N', KN_UINT64},
};

static bool same_text(const char *name, const char *s, size_t length)
{
    return strlen(name) == length && memcmp(name, s, length) == 0;
}

/* A type code such as "f", or a kind and a size in bytes such as "f4". */
static kn_dtype dtype_coded(const char *s, size_t length)
{
    if (length == 1) {
        for (kn_dtype t = KN_BOOL; t < NDTYPES; t++)
            if (dtype_table[t].code == *s)
                return t;
        for (size_t i = 0; i < sizeof more_codes / sizeof *more_codes; i++)
            if (more_codes[i].code == *s)
                return more_codes[i].dtype;
        return KN_DTYPE_UNSET;
    }
    static const char letters[] = {[KIND_BOOL] = 'b', [KIND_INT] = 'i', [KIND_UINT] = 'u', [KIND_FLOAT] = 'f', [KIND_COMPLEX] = 'c'};
    size_t size = 0;
    if (length == 0 || length > 3)
        return KN_DTYPE_UNSET;
    for (size_t i = 1; i < length; i++) {
        if (s[i] < '0' || s[i] > '9' || (i == 1 && s[i] == '0'))
            return KN_DTYPE_UNSET;
        size = 10 * size + (size_t)(s[i] - '0');
    }
    for (dtype_kind kind = KIND_BOOL; kind <= KIND_COMPLEX; kind++)
        if (letters[kind] == *s)
            return dtype_of(kind, size);
    return KN_DTYPE_UNSET;
}

kn_dtype dtype_named(const char *name, size_t length)
{
    if (length == 0)
        return KN_DTYPE_UNSET;
    for (kn_dtype t = KN_BOOL; t < NDTYPES; t++)
        if (same_text(dtype_table[t].name, name, length))
            return t;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (same_text(aliases[i].name, name, length))
            return aliases[i].dtype;
    const uint16_t probe = 1;
    bool little = *(const unsigned char *)&probe == 1;
    switch (*name) {
    case '<':
    case '>': {
        kn_dtype t = dtype_coded(name + 1, length - 1);
        bool swapped = (*name == '<') != little && dtype_size(t) > 1; /* arrays are in native order only */
        return swapped ? KN_DTYPE_UNSET : t;
    }
    case '=':
    case '|':
        return dtype_coded(name + 1, length - 1);
    default:
        return dtype_coded(name, length);
    }
}
