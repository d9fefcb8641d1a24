/* numbers.c: making numbers from other values and from text, and the functions of one or two numbers that are no operators.
 *
 * How it works: NumPy's elements become Python's numbers first where Python's meaning is wanted, and stay what they are
 * where the result is an element again. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/natives.h"
#include "frontend/print/decimal.h"
#include "frontend/print/print.h"

/* ---- elements as Python's numbers ---- */

static value scalar_number(machine *m, scalar s) {
    switch (s.kind) {
    case SCALAR_BOOL: return bool_value(s.v.b);
    case SCALAR_INT: return int_value(s.v.i);
    case SCALAR_UINT: return int_from_u64(m, s.v.u);
    case SCALAR_FLOAT: return float_value(s.v.f);
    case SCALAR_COMPLEX: break;
    }
    return complex_value(m, s.v.c.re, s.v.c.im);
}

static value only_element(machine *m, value v) {
    message why = { 0 };
    host_window h;
    int ndim = kn_ndim(as_array(v)->array);
    if (ndim) return raise(m, "TypeError", "only arrays without dimensions can be converted to a number, not one of %d: write a.item()", ndim);
    if (array_host(as_array(v)->array, "number", &h, &why)) return raise_message(m, &why);
    value number = scalar_number(m, element_load(h.dtype, h.data));
    host_drop(&h);
    return number;
}

value plain_number(machine *m, value v) {
    switch (v.kind) {
    case VALUE_ELEMENT:
        switch (dtype_kind_of((kn_dtype)v.dtype)) {
        case KIND_BOOL: return bool_value(v.u.i != 0);
        case KIND_INT: return int_value(v.u.i);
        case KIND_UINT: return int_from_u64(m, v.u.u);
        default: return float_value(v.u.f);
        }
    case VALUE_COMPLEX: return v.dtype ? complex_value(m, as_complex(v)->re, as_complex(v)->im) : value_keep(v);
    case VALUE_ARRAY: return only_element(m, v);
    default: return value_keep(v);
    }
}

static bool is_integer(value v) { return v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_BIG; }

value as_integer(machine *m, value v) {
    value plain = v.kind == VALUE_ARRAY && kn_ndim(as_array(v)->array) ? NO_VALUE_ : plain_number(m, v);
    if (absent(plain) && !absent(m->exception)) return plain;
    if (plain.kind == VALUE_BOOL) return int_value(plain.u.i);
    if (is_integer(plain)) return plain;
    value_drop(m, plain);
    return raise(m, "TypeError", "'%s' object cannot be interpreted as an integer", value_type_name(v));
}

bool integer_argument(machine *m, value v, const char *what, int64_t *i) {
    value plain = as_integer(m, v);
    *i = plain.u.i;
    bool good = !absent(plain) && (plain.kind != VALUE_BIG || !absent(raise(m, "OverflowError", "%s is too large", what)));
    value_drop(m, plain);
    return good;
}

bool integer_clipped(machine *m, value v, int64_t *i) {
    value plain = as_integer(m, v);
    *i = plain.kind != VALUE_BIG ? plain.u.i : big_sign(plain) < 0 ? INT64_MIN : INT64_MAX;
    value_drop(m, plain);
    return !absent(plain);
}

/* As float(v) for a plain number; TypeError for what is not real. */
static bool real_double(machine *m, value v, const char *what, double *d) {
    if (v.kind == VALUE_FLOAT) {
        *d = v.u.f;
        return true;
    }
    if (!is_integer(v)) return raise(m, "TypeError", "%s must be a real number, not '%s'", what, value_type_name(v)), false;
    *d = big_double(v);
    return !isinf(*d) || !absent(raise(m, "OverflowError", "int too large to convert to float"));
}

bool real_argument(machine *m, value v, double *d) {
    if (v.kind == VALUE_FLOAT) {
        *d = v.u.f;
        return true;
    }
    value plain = plain_number(m, v);
    bool good = !absent(plain) && real_double(m, plain, "the argument", d);
    value_drop(m, plain);
    return good;
}

bool complex_argument(machine *m, value v, double *re, double *im) {
    value plain = plain_number(m, v);
    bool good = !absent(plain);
    *im = 0;
    if (good && plain.kind == VALUE_COMPLEX) *re = as_complex(plain)->re, *im = as_complex(plain)->im;
    else if (good) good = real_double(m, plain, "the argument", re);
    value_drop(m, plain);
    return good;
}

/* ---- text ---- */

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool word_at(const char *s, const char *end, const char *word) {
    for (; *word; s++, word++) if (s >= end || (*s | 32) != *word) return false;
    return true;
}

/* A float at s, with a sign; the end of it, or NULL. */
static const char *read_float(const char *s, const char *end, double *d) {
    bool negative = s < end && *s == '-';
    s += s < end && (*s == '-' || *s == '+');
    if (word_at(s, end, "infinity")) *d = INFINITY, s += 8;
    else if (word_at(s, end, "inf")) *d = INFINITY, s += 3;
    else if (word_at(s, end, "nan")) *d = NAN, s += 3;
    else s = decimal_read(s, end, d);
    if (negative) *d = -*d;
    return s;
}

/* A text without spaces around it and without underscores between digits. */
typedef struct tidy_text { char few[64], *at, *end; bool good; /* an underscore elsewhere is not */ } tidy_text;

/* false: no memory, raised. */
static bool tidy(machine *m, const string_object *s, tidy_text *t) {
    const char *from = s->at, *to = s->at + s->length;
    while (from < to && is_space(*from)) from++;
    while (from < to && is_space(to[-1])) to--;
    t->good = from < to;
    t->at = t->end = to - from < (int64_t)sizeof t->few ? t->few : mem_alloc((size_t)(to - from) + 1);
    if (!t->at) return !absent(raise_memory(m));
    for (const char *c = from; c < to; c++) {
        if (*c != '_') *t->end++ = *c;
        else t->good &= c > from && c + 1 < to && is_digit(c[-1]) && is_digit(c[1]);
    }
    *t->end = 0;
    return true;
}
static void tidy_free(tidy_text *t) { if (t->at != t->few) mem_free(t->at); }

/* ABSENT: no memory; NONE: it is no number. */
static value float_from_text(machine *m, const string_object *s) {
    tidy_text t;
    double d = 0;
    if (!tidy(m, s, &t)) return NO_VALUE_;
    bool good = t.good && read_float(t.at, t.end, &d) == t.end;
    tidy_free(&t);
    return good ? float_value(d) : none_value();
}

/* "j", "+j", "2j": an imaginary part that takes up the rest. */
static bool read_imaginary(const char *s, const char *end, double *im) {
    bool unit = end - s >= 1 && end - s <= 2 && (end[-1] | 32) == 'j' && (end - s == 1 || *s == '+' || *s == '-');
    if (unit) *im = *s == '-' ? -1 : 1;
    const char *after = unit ? end - 1 : read_float(s, end, im);
    return after && end - after == 1 && (*after | 32) == 'j';
}

static value complex_from_text(machine *m, const string_object *s) {
    tidy_text t;
    double re = 0, im = 0;
    if (!tidy(m, s, &t)) return NO_VALUE_;
    const char *at = t.at, *end = t.end;
    if (t.good && *at == '(' && end[-1] == ')') {
        at++, end--;
        while (at < end && is_space(*at)) at++;
        while (end > at && is_space(end[-1])) end--;
    }
    bool good = t.good;
    if (good && !read_imaginary(at, end, &im)) {
        const char *after = read_float(at, end, &re);
        im = 0;
        good = after && (after == end || ((*after == '+' || *after == '-') && read_imaginary(after, end, &im)));
    }
    tidy_free(&t);
    return good ? complex_value(m, re, im) : none_value();
}

/* Takes over what was read from v: NONE is a ValueError. */
static value read_or_raise(machine *m, const char *what, value v, value read) {
    if (read.kind != VALUE_NONE) return read;
    text shown = { 0 };
    if (value_repr(m, v, &shown)) raise(m, "ValueError", "%s: %.*s", what, utf8_cut(shown.at, shown.len), shown.at);
    text_free(&shown);
    return NO_VALUE_;
}

/* ---- int, float, complex ---- */

static value integer_of(machine *m, value v) {
    value plain = plain_number(m, v), r;
    if (absent(plain)) return plain;
    if (plain.kind == VALUE_FLOAT) return big_from_double(m, plain.u.f);
    if (plain.kind == VALUE_BOOL) return int_value(plain.u.i);
    if (is_integer(plain)) return plain;
    r = raise(m, "TypeError", "int() argument must be a string or a real number, not '%s'", value_type_name(v));
    value_drop(m, plain);
    return r;
}

value make_int(machine *m, const value *a, int n) {
    (void)n;
    int64_t base = 10;
    if (absent(a[1])) return absent(a[0]) ? int_value(0) : a[0].kind == VALUE_STRING ? big_from_literal(m, a[0], 10) : integer_of(m, a[0]);
    if (absent(a[0])) return raise(m, "TypeError", "int() missing string argument");
    if (!integer_argument(m, a[1], "the base", &base)) return NO_VALUE_;
    if (a[0].kind != VALUE_STRING) return raise(m, "TypeError", "int() can't convert non-string with explicit base");
    if (base && (base < 2 || base > 36)) return raise(m, "ValueError", "int() base must be >= 2 and <= 36, or 0");
    return big_from_literal(m, a[0], (int)base);
}

value make_float(machine *m, const value *a, int n) {
    (void)n;
    double d = 0;
    if (absent(a[0])) return float_value(0);
    if (a[0].kind == VALUE_STRING) return read_or_raise(m, "could not convert string to float", a[0], float_from_text(m, as_string(a[0])));
    value plain = plain_number(m, a[0]);
    bool good = !absent(plain) && real_double(m, plain, "float() argument", &d);
    value_drop(m, plain);
    return good ? float_value(d) : NO_VALUE_;
}

value make_complex(machine *m, const value *a, int n) {
    (void)n;
    double re = 0, im = 0, re2 = 0, im2 = 0;
    if (a[0].kind == VALUE_STRING) {
        if (!absent(a[1])) return raise(m, "TypeError", "complex() can't take second arg if first is a string");
        return read_or_raise(m, "complex() arg is a malformed string", a[0], complex_from_text(m, as_string(a[0])));
    }
    if (a[1].kind == VALUE_STRING) return raise(m, "TypeError", "complex() second arg can't be a string");
    if (!absent(a[0]) && !complex_argument(m, a[0], &re, &im)) return NO_VALUE_;
    if (absent(a[1])) return complex_value(m, re, im);
    if (!complex_argument(m, a[1], &re2, &im2)) return NO_VALUE_;
    return complex_value(m, re - im2, im != 0 ? im + re2 : re2);     /* real + imag * 1j, zeros with their signs */
}

/* ---- functions of numbers ---- */

/* A function of numpy's on these operands. */
static value numpy_call(machine *m, const char *name, const value *args, int n) {
    value f = module_name(m, "numpy", name);
    if (absent(f)) return f;
    value r = call_value(m, f, args, n, NULL, 0);
    value_drop(m, f);
    return r;
}

value number_abs(machine *m, const value *a, int n) {
    (void)n;
    value v = a[0];
    switch (v.kind) {
    case VALUE_BOOL: return int_value(v.u.i);
    case VALUE_INT: case VALUE_BIG: return big_sign(v) < 0 ? big_negate(m, v) : value_keep(v);
    case VALUE_FLOAT: return float_value(fabs(v.u.f));
    case VALUE_COMPLEX: {
        if (v.dtype) return numpy_call(m, "absolute", a, 1);
        double size = hypot(as_complex(v)->re, as_complex(v)->im);
        return isinf(size) && isfinite(as_complex(v)->re) && isfinite(as_complex(v)->im) ? raise(m, "OverflowError", "absolute value too large") : float_value(size);
    }
    case VALUE_ELEMENT:
        if (dtype_kind_of((kn_dtype)v.dtype) == KIND_FLOAT) return element_float((kn_dtype)v.dtype, fabs(v.u.f));
        return numpy_call(m, "absolute", a, 1);
    case VALUE_ARRAY: return numpy_call(m, "absolute", a, 1);
    default: return raise(m, "TypeError", "bad operand type for abs(): '%s'", value_type_name(v));
    }
}

/* The multiple of 10**digits nearest to v (+ a fraction, if `more`), halves to even. */
static value round_to_power(machine *m, value v, int64_t digits, bool more) {
    if (digits > big_bit_length(v) / 3 + 2) return int_value(0);
    value power = big_power(m, int_value(10), int_value(digits), NO_VALUE_), rest = NO_VALUE_, q = absent(power) ? power : big_divmod(m, v, power, &rest);
    value twice = absent(q) ? q : big_add(m, rest, rest), result = NO_VALUE_;
    if (!absent(twice)) {
        value quarter = NO_VALUE_, half = big_divmod(m, q, int_value(2), &quarter);
        int side = big_compare(twice, power);
        bool up = side > 0 || (!side && (more || big_sign(quarter)));
        value whole = up ? big_add(m, q, int_value(1)) : value_keep(q);
        if (!absent(whole)) result = big_mul(m, whole, power);
        value_drop(m, whole);
        value_drop(m, half);
        value_drop(m, quarter);
    }
    value_drop(m, power);
    value_drop(m, rest);
    value_drop(m, q);
    value_drop(m, twice);
    return result;
}

static value round_float(machine *m, double d, int64_t digits) {
    if (!isfinite(d) || digits > 323) return float_value(d);
    if (digits < -308) return float_value(copysign(0, d));
    double r = d;
    if (digits >= 0) {
        text t = { 0 };
        print_float_as(fabs(d), 'f', (int)digits, false, &t);
        bool good = !t.failed && decimal_read(t.at, t.at + t.len, &r);
        text_free(&t);
        if (!good) return raise_memory(m);
    } else {
        value whole = big_from_double(m, fabs(d)), rounded = absent(whole) ? whole : round_to_power(m, whole, -digits, fabs(d) != trunc(fabs(d)));
        value_drop(m, whole);
        if (absent(rounded)) return rounded;
        r = big_double(rounded);
        value_drop(m, rounded);
    }
    return isinf(r) ? raise(m, "OverflowError", "rounded value too large to represent") : float_value(copysign(r, d));
}

value number_round(machine *m, const value *a, int n) {
    (void)n;
    value v = a[0];
    bool whole = absent(a[1]) || a[1].kind == VALUE_NONE;
    bool strong = v.kind == VALUE_ELEMENT || (v.kind == VALUE_ARRAY && as_array(v)->scalar) || (v.kind == VALUE_COMPLEX && v.dtype);
    int64_t digits = 0;
    if (!whole && !integer_clipped(m, a[1], &digits)) return NO_VALUE_;
    if (strong && !whole) return numpy_call(m, "round", a, 2);
    if (!strong && !value_is_number(v)) return raise(m, "TypeError", "type %s doesn't define __round__ method", value_type_name(v));
    value plain = plain_number(m, v), r;
    if (absent(plain)) return plain;
    if (plain.kind == VALUE_COMPLEX) r = raise(m, "TypeError", "type complex doesn't define __round__ method");
    else if (plain.kind == VALUE_FLOAT) r = whole ? big_from_double(m, nearbyint(plain.u.f)) : round_float(m, plain.u.f, digits);
    else if (digits >= 0) return plain.kind == VALUE_BOOL ? int_value(plain.u.i) : plain;
    else r = digits < -BIG_MOST ? int_value(0) : round_to_power(m, plain, -digits, false);
    value_drop(m, plain);
    return r;
}

value number_divmod(machine *m, const value *a, int n) {
    (void)n;
    value q = operate(m, BINARY_FLOORDIV, a[0], a[1]), r = absent(q) ? q : operate(m, BINARY_MOD, a[0], a[1]);
    value t = absent(r) ? r : tuple_value(m, 2, (value[]){ q, r });
    value_drop(m, q);
    value_drop(m, r);
    return t;
}

value number_pow(machine *m, const value *a, int n) {
    (void)n;
    if (absent(a[2]) || a[2].kind == VALUE_NONE) return operate(m, BINARY_POW, a[0], a[1]);
    if (!value_is_integer(a[0]) || !value_is_integer(a[1]) || !value_is_integer(a[2]))
        return raise(m, "TypeError", "pow() 3rd argument not allowed unless all arguments are integers");
    value base = as_integer(m, a[0]), exponent = as_integer(m, a[1]), modulus = as_integer(m, a[2]);
    value r = absent(base) || absent(exponent) || absent(modulus) ? NO_VALUE_ : big_power(m, base, exponent, modulus);
    value_drop(m, base);
    value_drop(m, exponent);
    value_drop(m, modulus);
    return r;
}

bool accumulate(machine *m, syntax_binary op, value *sum, value v) {
    value next = machine_step(m) ? operate(m, op, *sum, v) : NO_VALUE_;
    value_drop(m, *sum);
    *sum = next;
    return !absent(next);
}
