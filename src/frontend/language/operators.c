/* operators.c: what operators mean for every pair of kinds.
 *
 * How it works: the pairs that loops are made of (int, float and float64 elements) are answered at once; then Python's
 * numbers by rank (int, big, float, complex), elements, arrays, and containers. Arrays of one operand decide: the other
 * becomes an array too, and the operation is recorded, not computed. Comparisons are in compare.c. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/machine.h"
#include "frontend/language/natives.h"

static const char *const symbols[BINARY_XOR + 1] = {
    [BINARY_ADD] = "+", [BINARY_SUB] = "-", [BINARY_MUL] = "*", [BINARY_DIV] = "/", [BINARY_FLOORDIV] = "//", [BINARY_MOD] = "%", [BINARY_POW] = "** or pow()",
    [BINARY_MATMUL] = "@", [BINARY_AND] = "&", [BINARY_OR] = "|", [BINARY_XOR] = "^", [BINARY_LSHIFT] = "<<", [BINARY_RSHIFT] = ">>",
};

static value unsupported(machine *m, syntax_binary op, value a, value b, bool in_place) {
    return raise_error(m, "TypeError", "unsupported operand type(s) for %s%s: '%s' and '%s'", op == BINARY_POW && in_place ? "**" : symbols[op], in_place ? "=" : "",
                 value_type_name(a), value_type_name(b));
}

static value zero_division(machine *m, const char *what) { return raise_error(m, "ZeroDivisionError", "%s", what); }

/* ---- Python's floats ---- */

static double float_mod(double a, double b) {
    double r = fmod(a, b);
    if (r == 0) return copysign(0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

static double float_floordiv(double a, double b) {
    double mod = fmod(a, b), div = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
    if (div == 0) return copysign(0, a / b);
    double whole = floor(div);
    return div - whole > 0.5 ? whole + 1 : whole;
}

static value complex_power(machine *m, double ar, double ai, double br, double bi);

static value float_power(machine *m, double a, double b) {
    if (a == 0 && b < 0) return zero_division(m, "zero to a negative power");
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b)) return complex_power(m, a, 0, b, 0);
    double r = pow(a, b);
    if (isinf(r) && isfinite(a) && isfinite(b)) return raise_error(m, "OverflowError", "(34, 'Numerical result out of range')");
    return float_value(r);
}

static value float_operate(machine *m, syntax_binary op, double a, double b) {
    switch (op) {
    case BINARY_ADD: return float_value(a + b);
    case BINARY_SUB: return float_value(a - b);
    case BINARY_MUL: return float_value(a * b);
    case BINARY_DIV: return b == 0 ? zero_division(m, "division by zero") : float_value(a / b);
    case BINARY_FLOORDIV: return b == 0 ? zero_division(m, "division by zero") : float_value(float_floordiv(a, b));
    case BINARY_MOD: return b == 0 ? zero_division(m, "division by zero") : float_value(float_mod(a, b));
    case BINARY_POW: return float_power(m, a, b);
    default: return unsupported(m, op, float_value(a), float_value(b), false);
    }
}

/* ---- Python's integers ---- */

static value big_operate(machine *m, syntax_binary op, value a, value b) {
    value quotient, remainder;
    double d;
    int64_t shift;
    switch (op) {
    case BINARY_ADD: return big_add(m, a, b);
    case BINARY_SUB: return big_sub(m, a, b);
    case BINARY_MUL: return big_mul(m, a, b);
    case BINARY_DIV: return big_ratio(m, a, b, &d) ? float_value(d) : NO_VALUE_;
    case BINARY_FLOORDIV:
        quotient = big_divmod(m, a, b, &remainder);
        if (!absent(quotient)) value_drop(m, remainder);
        return quotient;
    case BINARY_MOD:
        quotient = big_divmod(m, a, b, &remainder);
        if (absent(quotient)) return quotient;
        value_drop(m, quotient);
        return remainder;
    case BINARY_POW: {
        if (big_sign(b) >= 0) return big_power(m, a, b, NO_VALUE_);
        double x, y;
        return value_double(m, a, &x) && value_double(m, b, &y) ? float_power(m, x, y) : NO_VALUE_;
    }
    case BINARY_AND: return big_bits(m, '&', a, b);
    case BINARY_OR: return big_bits(m, '|', a, b);
    case BINARY_XOR: return big_bits(m, '^', a, b);
    case BINARY_LSHIFT: case BINARY_RSHIFT:
        if (big_sign(b) < 0) return raise_error(m, "ValueError", "negative shift count");
        if (b.kind == VALUE_BIG) shift = INT64_MAX;
        else shift = b.u.i;
        return big_shift(m, a, op == BINARY_LSHIFT ? shift : -shift);
    default: return unsupported(m, op, a, b, false);
    }
}

static value int_power(machine *m, int64_t a, int64_t b) {
    int64_t result = 1, base = a;
    if (b < 0) return float_power(m, (double)a, (double)b);
    for (int64_t n = b; n; n >>= 1) {
        if ((n & 1) && mul_overflows(result, base, &result)) return big_power(m, int_value(a), int_value(b), NO_VALUE_);
        if (n > 1 && mul_overflows(base, base, &base)) return big_power(m, int_value(a), int_value(b), NO_VALUE_);
    }
    return int_value(result);
}

static value int_operate(machine *m, syntax_binary op, int64_t a, int64_t b) {
    int64_t r;
    switch (op) {
    case BINARY_ADD: if (!__builtin_add_overflow(a, b, &r)) return int_value(r); break;
    case BINARY_SUB: if (!__builtin_sub_overflow(a, b, &r)) return int_value(r); break;
    case BINARY_MUL: if (!__builtin_mul_overflow(a, b, &r)) return int_value(r); break;
    case BINARY_DIV:
        if (!b) return zero_division(m, "division by zero");
        if (a >= -(1LL << 53) && a <= 1LL << 53 && b >= -(1LL << 53) && b <= 1LL << 53) return float_value((double)a / (double)b);
        break;
    case BINARY_FLOORDIV:
        if (!b) return zero_division(m, "integer division or modulo by zero");
        if (b == -1 && a == INT64_MIN) break;
        r = a / b;
        return int_value(r - (a % b != 0 && (a < 0) != (b < 0)));
    case BINARY_MOD:
        if (!b) return zero_division(m, "integer modulo by zero");
        if (b == -1) return int_value(0);
        r = a % b;
        return int_value(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    case BINARY_POW: return int_power(m, a, b);
    case BINARY_AND: return int_value(a & b);
    case BINARY_OR: return int_value(a | b);
    case BINARY_XOR: return int_value(a ^ b);
    case BINARY_RSHIFT: if (b >= 0) return int_value(a >> (b > 63 ? 63 : b)); break;
    case BINARY_LSHIFT: if (b >= 0 && b < 62 && a >= -(1LL << (62 - b)) && a <= 1LL << (62 - b)) return int_value((int64_t)((uint64_t)a << b)); break;
    default: break;
    }
    return big_operate(m, op, int_value(a), int_value(b));
}

/* ---- Python's complex numbers ---- */

static value complex_divide(machine *m, double ar, double ai, double br, double bi) {
    if (br == 0 && bi == 0) return zero_division(m, "division by zero");
    if (fabs(br) >= fabs(bi)) {
        double ratio = bi / br, d = br + bi * ratio;
        return complex_value(m, (ar + ai * ratio) / d, (ai - ar * ratio) / d);
    }
    if (fabs(bi) >= fabs(br)) {
        double ratio = br / bi, d = br * ratio + bi;
        return complex_value(m, (ar * ratio + ai) / d, (ai * ratio - ar) / d);
    }
    return complex_value(m, NAN, NAN);
}

/* Small whole powers by multiplication, which is exact where it can be; the others through logarithm and angle. */
static value complex_power(machine *m, double ar, double ai, double br, double bi) {
    if (br == 0 && bi == 0) return complex_value(m, 1, 0);
    if (ar == 0 && ai == 0) return bi != 0 || br < 0 ? zero_division(m, "zero to a negative or complex power") : complex_value(m, 0, 0);
    if (bi == 0 && br == floor(br) && fabs(br) <= 100) {
        double re = 1, im = 0, xr = ar, xi = ai, t;
        for (int n = (int)fabs(br); n; n >>= 1) {
            if (n & 1) t = re * xr - im * xi, im = re * xi + im * xr, re = t;
            t = xr * xr - xi * xi, xi = 2 * xr * xi, xr = t;
        }
        return br > 0 ? complex_value(m, re, im) : complex_divide(m, 1, 0, re, im);
    }
    double size = hypot(ar, ai), angle = atan2(ai, ar), length = pow(size, br), turn = angle * br;
    if (bi != 0) length *= exp(-angle * bi), turn += bi * log(size);
    return complex_value(m, length * cos(turn), length * sin(turn));
}

static bool complex_parts(machine *m, value v, double *re, double *im) {
    *im = 0;
    if (v.kind != VALUE_COMPLEX) return value_double(m, v, re);
    *re = as_complex(v)->re;
    *im = as_complex(v)->im;
    return true;
}

static value complex_operate(machine *m, syntax_binary op, value a, value b) {
    double ar, ai, br, bi;
    if (!complex_parts(m, a, &ar, &ai) || !complex_parts(m, b, &br, &bi)) return NO_VALUE_;
    switch (op) {
    case BINARY_ADD: return complex_value(m, ar + br, ai + bi);
    case BINARY_SUB: return complex_value(m, ar - br, ai - bi);
    case BINARY_MUL: return complex_value(m, ar * br - ai * bi, ar * bi + ai * br);
    case BINARY_DIV: return complex_divide(m, ar, ai, br, bi);
    case BINARY_POW: return complex_power(m, ar, ai, br, bi);
    default: return unsupported(m, op, a, b, false);
    }
}

/* ---- arrays ---- */

typedef kn_array binary_function(kn_array a, kn_array b, const kn_ufunc_opts *opts);
static binary_function *const array_functions[BINARY_XOR + 1] = {
    [BINARY_ADD] = (kn_add), [BINARY_SUB] = (kn_sub), [BINARY_MUL] = (kn_mul), [BINARY_DIV] = (kn_div), [BINARY_FLOORDIV] = (kn_floor_divide), [BINARY_MOD] = (kn_remainder),
    [BINARY_POW] = (kn_pow), [BINARY_AND] = (kn_bitwise_and), [BINARY_OR] = (kn_bitwise_or), [BINARY_XOR] = (kn_bitwise_xor), [BINARY_LSHIFT] = (kn_left_shift),
    [BINARY_RSHIFT] = (kn_right_shift),
};

/* What an operation on arrays gives: a scalar when it has no axes. */
value array_result(machine *m, kn_array a) { return array_value(m, a, !array_failed(a, NULL) && kn_ndim(a) == 0); }

static value array_operate(machine *m, syntax_binary op, value a, value b) {
    kn_array x = array_of(m, a), y = x.id ? array_of(m, b) : x;
    if (!x.id || !y.id) return NO_VALUE_;
    return array_result(m, op == BINARY_MATMUL ? (kn_matmul)(x, y, NULL) : array_functions[op](x, y, NULL));
}

/* What takes part in arithmetic with an array. */
static bool array_like(value v) {
    return v.kind == VALUE_ARRAY || v.kind == VALUE_LIST || v.kind == VALUE_TUPLE || v.kind == VALUE_RANGE || v.kind == VALUE_RECORD || value_is_number(v);
}

static bool is_numpy(value v) { return v.kind == VALUE_ARRAY || v.kind == VALUE_ELEMENT || (v.kind == VALUE_COMPLEX && v.dtype); }

/* ---- containers ---- */

static bool sequence(value v) { return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE; }

static value repeat_items(machine *m, value s, int64_t times) {
    size_t n = as_sequence(s)->n, all;
    if (times < 0) times = 0;
    if (__builtin_mul_overflow(n, (size_t)times, &all) || !length_allowed(m, (int64_t)all)) return raise_memory(m);
    value list = list_value(m, 0, NULL);
    if (absent(list) || !list_reserve(m, as_sequence(list), all)) return value_drop(m, list), NO_VALUE_;
    for (int64_t k = 0; n && k < times; k++)
        for (size_t i = 0; i < n; i++) list_append(m, list, as_sequence(s)->at[i]);
    if (s.kind == VALUE_LIST) return list;
    value tuple = tuple_value(m, all, as_sequence(list)->at);
    value_drop(m, list);
    return tuple;
}

static value bytes_from(value string) {
    if (absent(string)) return string;
    string.kind = string.u.o->kind = VALUE_BYTES;
    as_string(string)->points = as_string(string)->length;
    return string;
}

static value repeat(machine *m, value s, value times) {
    int64_t n;
    if (!value_index(m, times, &n, "can't multiply sequence")) return NO_VALUE_;
    if (sequence(s)) return repeat_items(m, s, n);
    string_object *o = as_string(s);
    int64_t all;
    if (n < 0) n = 0;
    if (mul_overflows((int64_t)o->length, n, &all) || !length_allowed(m, all)) return raise_memory(m);
    text t = { 0 };
    text_repeat(&t, o->at, o->length, n);
    value v = string_text(m, &t);
    return s.kind == VALUE_BYTES ? bytes_from(v) : v;
}

static value join(machine *m, value a, value b) {
    if (a.kind == VALUE_STRING || a.kind == VALUE_BYTES) {
        text t = { 0 };
        text_addn(&t, as_string(a)->at, as_string(a)->length);
        text_addn(&t, as_string(b)->at, as_string(b)->length);
        value v = string_text(m, &t);
        return a.kind == VALUE_BYTES ? bytes_from(v) : v;
    }
    value list = list_value(m, as_sequence(a)->n, as_sequence(a)->at);
    bool good = !absent(list);
    for (size_t i = 0; good && i < as_sequence(b)->n; i++) good = list_append(m, list, as_sequence(b)->at[i]);
    value result = !good ? NO_VALUE_ : a.kind == VALUE_LIST ? value_keep(list) : tuple_value(m, as_sequence(list)->n, as_sequence(list)->at);
    value_drop(m, list);
    return result;
}

/* Adds the members of `from` that are in `test` (wanted) or are not. */
static bool add_members(machine *m, value to, value from, value test, bool wanted) {
    const pair *p;
    for (size_t at = 0; (p = dict_next(from, &at));) {
        int in = absent(test) ? wanted : contains(m, test, p->key);
        if (in < 0 || (in == wanted && !dict_set(m, to, p->key, p->item))) return false;
    }
    return true;
}

static value set_operate(machine *m, syntax_binary op, value a, value b) {
    value r = a.kind == VALUE_SET ? set_value(m) : dict_value(m);
    bool good = !absent(r);
    if (op == BINARY_OR) good = good && add_members(m, r, a, NO_VALUE_, true) && add_members(m, r, b, NO_VALUE_, true);
    else good = good && add_members(m, r, a, b, op == BINARY_AND);
    if (op == BINARY_XOR) good = good && add_members(m, r, b, a, false);
    if (good) return r;
    value_drop(m, r);
    return NO_VALUE_;
}

static value container_operate(machine *m, syntax_binary op, value a, value b) {
    bool texts = a.kind == VALUE_STRING || a.kind == VALUE_BYTES;
    if (op == BINARY_ADD && a.kind == b.kind && (texts || sequence(a))) return join(m, a, b);
    if (op == BINARY_ADD && texts) return raise_error(m, "TypeError", "can only concatenate str (not \"%s\") to str", value_type_name(b));
    if (op == BINARY_ADD && sequence(a)) return raise_error(m, "TypeError", "can only concatenate %s (not \"%s\") to %s", value_type_name(a), value_type_name(b), value_type_name(a));
    if (op == BINARY_MUL && (texts || sequence(a)) && value_is_integer(b)) return repeat(m, a, b);
    if (op == BINARY_MUL && (b.kind == VALUE_STRING || b.kind == VALUE_BYTES || sequence(b)) && value_is_integer(a)) return repeat(m, b, a);
    if (op == BINARY_MUL && (texts || sequence(a))) return raise_error(m, "TypeError", "can't multiply sequence by non-int of type '%s'", value_type_name(b));
    if (op == BINARY_MOD && a.kind == VALUE_STRING) return format_percent(m, a, b);
    if (a.kind == b.kind && a.kind == VALUE_SET && (op == BINARY_OR || op == BINARY_AND || op == BINARY_XOR || op == BINARY_SUB)) return set_operate(m, op, a, b);
    if (a.kind == b.kind && a.kind == VALUE_DICT && op == BINARY_OR) return set_operate(m, op, a, b);
    return unsupported(m, op, a, b, false);
}

/* ---- all pairs ---- */

static bool python_integer(value v) { return v.kind == VALUE_INT || v.kind == VALUE_BOOL || v.kind == VALUE_BIG; }

static value number_operate(machine *m, syntax_binary op, value a, value b) {
    if (a.kind == VALUE_BOOL && b.kind == VALUE_BOOL && (op == BINARY_AND || op == BINARY_OR || op == BINARY_XOR)) {
        value v = int_operate(m, op, a.u.i, b.u.i);
        return bool_value(v.u.i);
    }
    if (op == BINARY_MATMUL) return unsupported(m, op, a, b, false);
    if (a.kind == VALUE_COMPLEX || b.kind == VALUE_COMPLEX) return complex_operate(m, op, a, b);
    if (a.kind == VALUE_BIG || b.kind == VALUE_BIG) {
        if (python_integer(a) && python_integer(b)) return big_operate(m, op, a, b);
    } else if (a.kind != VALUE_FLOAT && b.kind != VALUE_FLOAT) {
        return int_operate(m, op, a.u.i, b.u.i);
    }
    double x, y;
    if (op >= BINARY_LSHIFT) return unsupported(m, op, a, b, false);
    return value_double(m, a, &x) && value_double(m, b, &y) ? float_operate(m, op, x, y) : NO_VALUE_;
}

static value operate_all(machine *m, syntax_binary op, value a, value b) {
    if (absent(a) || absent(b)) return NO_VALUE_;
    bool numbers = value_is_number(a) && value_is_number(b);
    if (a.kind == VALUE_ARRAY || b.kind == VALUE_ARRAY) return array_like(a) && array_like(b) ? array_operate(m, op, a, b) : container_operate(m, op, a, b);
    if (numbers && !is_numpy(a) && !is_numpy(b)) return number_operate(m, op, a, b);
    if (numbers && op != BINARY_MATMUL) {
        bool complex = a.kind == VALUE_COMPLEX || b.kind == VALUE_COMPLEX || a.kind == VALUE_BIG || b.kind == VALUE_BIG;
        return complex ? array_operate(m, op, a, b) : element_operate(m, op, a, b);
    }
    bool repeats = op == BINARY_MUL && value_is_integer(is_numpy(a) ? a : b);      /* np.int64(2) * [1, 2] repeats, as in NumPy */
    if ((is_numpy(a) || is_numpy(b)) && array_like(a) && array_like(b) && !repeats) return array_operate(m, op, a, b);
    return container_operate(m, op, a, b);
}

/* float64 elements with each other and with Python's numbers, which take their dtype. */
static bool double_operand(value v, double *d) {
    if (v.kind == VALUE_FLOAT || (v.kind == VALUE_ELEMENT && v.dtype == KN_FLOAT64)) *d = v.u.f;
    else if (v.kind == VALUE_INT) *d = (double)v.u.i;
    else return false;
    return true;
}

value operate(machine *m, syntax_binary op, value a, value b) {
    double x, y;
    if (a.kind == VALUE_INT && b.kind == VALUE_INT) return int_operate(m, op, a.u.i, b.u.i);
    if (double_operand(a, &x) && double_operand(b, &y)) {
        if (a.kind != VALUE_ELEMENT && b.kind != VALUE_ELEMENT) return float_operate(m, op, x, y);
        switch (op) {
        case BINARY_ADD: return element_float(KN_FLOAT64, x + y);
        case BINARY_SUB: return element_float(KN_FLOAT64, x - y);
        case BINARY_MUL: return element_float(KN_FLOAT64, x * y);
        case BINARY_DIV: if (y != 0) return element_float(KN_FLOAT64, x / y); break;
        default: break;
        }
    }
    return operate_all(m, op, a, b);
}

/* ---- in place ---- */

static value extend(machine *m, value list, value more) {
    value items = sequence_of(m, more, VALUE_TUPLE);
    if (absent(items)) return items;
    bool good = true;
    for (size_t i = 0; good && i < as_sequence(items)->n; i++) good = list_append(m, list, as_sequence(items)->at[i]);
    value_drop(m, items);
    return good ? value_keep(list) : NO_VALUE_;
}

static value list_repeat_in_place(machine *m, value list, value times) {
    value all = repeat(m, list, times);
    if (absent(all)) return all;
    sequence_object *to = as_sequence(list), *from = as_sequence(all), was = *to;
    to->at = from->at, to->n = from->n, to->capacity = from->capacity;
    from->at = was.at, from->n = was.n, from->capacity = was.capacity;
    value_drop(m, all);
    return value_keep(list);
}

static value set_in_place(machine *m, syntax_binary op, value set, value b) {
    if (op == BINARY_OR) return add_members(m, set, b, NO_VALUE_, true) ? value_keep(set) : NO_VALUE_;
    value r = set_operate(m, op, set, b);
    if (absent(r)) return r;
    dict_clear(m, set);
    bool good = add_members(m, set, r, NO_VALUE_, true);
    value_drop(m, r);
    return good ? value_keep(set) : NO_VALUE_;
}

value operate_in_place(machine *m, syntax_binary op, value a, value b) {
    if (a.kind < VALUE_BIG) return operate(m, op, a, b);
    if (absent(b)) return b;
    bool sets = a.kind == VALUE_SET && b.kind == VALUE_SET && (op == BINARY_OR || op == BINARY_AND || op == BINARY_XOR || op == BINARY_SUB);
    if (a.kind == VALUE_ARRAY && !as_array(a)->scalar && array_like(b)) return array_update(m, op, a, b);
    if (a.kind == VALUE_LIST && op == BINARY_ADD && b.kind != VALUE_ARRAY) return extend(m, a, b);
    if (a.kind == VALUE_LIST && op == BINARY_MUL && value_is_integer(b)) return list_repeat_in_place(m, a, b);
    if (sets || (a.kind == VALUE_DICT && b.kind == VALUE_DICT && op == BINARY_OR)) return set_in_place(m, op, a, b);
    return operate(m, op, a, b);
}

/* ---- one operand ---- */

static value array_unary(machine *m, syntax_unary op, value v) {
    kn_array a = array_of(m, v);
    if (!a.id) return NO_VALUE_;
    return array_result(m, op == UNARY_NEG ? (kn_neg)(a, NULL) : op == UNARY_POS ? (kn_positive)(a, NULL) : (kn_invert)(a, NULL));
}

value operate_unary(machine *m, syntax_unary op, value v) {
    if (op == UNARY_NOT) {
        int truth = value_truth(m, v);
        return truth < 0 ? NO_VALUE_ : bool_value(!truth);
    }
    switch (v.kind) {
    case VALUE_ABSENT: return v;
    case VALUE_BOOL: case VALUE_INT:
        if (op == UNARY_INVERT) return int_value(~v.u.i);
        if (op == UNARY_POS) return int_value(v.u.i);
        return v.u.i == INT64_MIN ? big_sub(m, int_value(0), v) : int_value(-v.u.i);
    case VALUE_FLOAT:
        if (op == UNARY_INVERT) break;
        return float_value(op == UNARY_NEG ? -v.u.f : v.u.f);
    case VALUE_BIG:
        if (op == UNARY_INVERT) return big_sub(m, int_value(-1), v);
        return op == UNARY_NEG ? big_sub(m, int_value(0), v) : value_keep(v);
    case VALUE_COMPLEX:
        if (v.dtype) return array_unary(m, op, v);
        if (op == UNARY_INVERT) break;
        return op == UNARY_NEG ? complex_value(m, -as_complex(v)->re, -as_complex(v)->im) : value_keep(v);
    case VALUE_ELEMENT:
        if (op == UNARY_NEG && v.dtype == KN_FLOAT64) return element_float(KN_FLOAT64, -v.u.f);
        return array_unary(m, op, v);
    case VALUE_ARRAY: return array_unary(m, op, v);
    default: break;
    }
    return raise_error(m, "TypeError", "bad operand type for unary %s: '%s'", op == UNARY_NEG ? "-" : op == UNARY_POS ? "+" : "~", value_type_name(v));
}
