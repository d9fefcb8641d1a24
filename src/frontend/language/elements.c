/* elements.c: operators between NumPy's scalars and numbers, on the host where the result is exactly what a kernel gives.
 *
 * How it works: the result's dtype follows NumPy 2 (a Python number is weak, and an integer must fit); float32, float64 and
 * integers are computed here, with C's arithmetic, which is the kernels' own. Everything else is the array operation
 * on 0-d operands, recorded and not computed. */
#include <math.h>
#include <string.h>
#include "frontend/language/numpy.h"

/* The array operation behind each operator. */
const int binary_operations[] = {
    [BINARY_ADD] = OPERATION_add, [BINARY_SUB] = OPERATION_sub, [BINARY_MUL] = OPERATION_mul, [BINARY_MATMUL] = OPERATION_matmul, [BINARY_DIV] = OPERATION_div,
    [BINARY_FLOORDIV] = OPERATION_floor_divide, [BINARY_MOD] = OPERATION_remainder, [BINARY_POW] = OPERATION_power, [BINARY_AND] = OPERATION_bitwise_and,
    [BINARY_OR] = OPERATION_bitwise_or, [BINARY_XOR] = OPERATION_bitwise_xor, [BINARY_LSHIFT] = OPERATION_left_shift, [BINARY_RSHIFT] = OPERATION_right_shift,
};

static kn_dtype together(value a, value b) {
    if (a.kind == VALUE_ELEMENT && b.kind == VALUE_ELEMENT) return a.dtype == b.dtype ? (kn_dtype)a.dtype : dtype_promote((kn_dtype)a.dtype, (kn_dtype)b.dtype);
    value strong = a.kind == VALUE_ELEMENT ? a : b, weak = a.kind == VALUE_ELEMENT ? b : a;
    static const scalar_kind kinds[] = { [VALUE_BOOL] = SCALAR_BOOL, [VALUE_INT] = SCALAR_INT, [VALUE_FLOAT] = SCALAR_FLOAT };
    if (weak.kind != VALUE_BOOL && weak.kind != VALUE_INT && weak.kind != VALUE_FLOAT) return KN_DTYPE_UNSET;
    return dtype_promote_weak((kn_dtype)strong.dtype, kinds[weak.kind]);
}

static bool is_float(value v) { return v.kind == VALUE_FLOAT || (v.kind == VALUE_ELEMENT && dtype_kind_of((kn_dtype)v.dtype) == KIND_FLOAT); }

static double as_double(value v) {
    if (is_float(v)) return v.u.f;
    return v.kind == VALUE_ELEMENT && dtype_kind_of((kn_dtype)v.dtype) == KIND_UINT ? (double)v.u.u : (double)v.u.i;
}

static value float_element(kn_dtype t, double f) { return (value){ VALUE_ELEMENT, (uint8_t)t, { .f = f } }; }

/* An integer brought into the range of t. */
static value integer_element(kn_dtype t, uint64_t bits) {
    int shift = 64 - 8 * (int)dtype_size(t);
    value v = { VALUE_ELEMENT, (uint8_t)t, { .u = bits << shift } };
    if (dtype_kind_of(t) == KIND_INT) v.u.i >>= shift;
    else v.u.u >>= shift;
    return v;
}

static value float32_result(syntax_binary op, float a, float b) {
    float r;
    switch (op) {
    case BINARY_ADD: r = a + b; break;
    case BINARY_SUB: r = a - b; break;
    case BINARY_MUL: r = a * b; break;
    case BINARY_DIV: r = a / b; break;
    default: return NO_VALUE_;
    }
    return float_element(KN_FLOAT32, (double)r);
}

static value float64_result(syntax_binary op, double a, double b) {
    switch (op) {
    case BINARY_ADD: return float_element(KN_FLOAT64, a + b);
    case BINARY_SUB: return float_element(KN_FLOAT64, a - b);
    case BINARY_MUL: return float_element(KN_FLOAT64, a * b);
    case BINARY_DIV: return float_element(KN_FLOAT64, a / b);
    default: return NO_VALUE_;
    }
}

static value signed_division(syntax_binary op, kn_dtype t, int64_t a, int64_t b) {
    if (b == 0) return integer_element(t, 0);
    if (b == -1) return integer_element(t, op == BINARY_FLOORDIV ? 0 - (uint64_t)a : 0);
    int64_t q = a / b, r = a % b;
    if (r && (r < 0) != (b < 0)) { q--; r += b; }
    return integer_element(t, (uint64_t)(op == BINARY_FLOORDIV ? q : r));
}

static value integer_result(syntax_binary op, kn_dtype t, uint64_t a, uint64_t b) {
    bool is_signed = dtype_kind_of(t) == KIND_INT;
    switch (op) {
    case BINARY_ADD: return integer_element(t, a + b);
    case BINARY_SUB: return integer_element(t, a - b);
    case BINARY_MUL: return integer_element(t, a * b);
    case BINARY_AND: return integer_element(t, a & b);
    case BINARY_OR: return integer_element(t, a | b);
    case BINARY_XOR: return integer_element(t, a ^ b);
    case BINARY_DIV: return float_element(KN_FLOAT64, is_signed ? (double)(int64_t)a / (double)(int64_t)b : (double)a / (double)b);
    case BINARY_FLOORDIV: case BINARY_MOD:
        if (is_signed) return signed_division(op, t, (int64_t)a, (int64_t)b);
        return integer_element(t, b == 0 ? 0 : op == BINARY_FLOORDIV ? a / b : a % b);
    default: return NO_VALUE_;
    }
}

/* A Python integer that meets integers has to be one of theirs. */
static bool fits(value v, kn_dtype t) { return v.kind == VALUE_ELEMENT || scalar_fits((scalar){ SCALAR_INT, { .i = v.u.i } }, t); }

value element_operate(machine *m, syntax_binary op, value a, value b) {
    kn_dtype t = together(a, b);
    value v = NO_VALUE_;
    if (t == KN_FLOAT64) {
        v = float64_result(op, as_double(a), as_double(b));
        if (op == BINARY_DIV && !is_float(a) && !is_float(b)) v = NO_VALUE_;      /* of int64 and uint64: recorded */
    } else if (t == KN_FLOAT32 && (is_float(a) || a.kind != VALUE_ELEMENT) && (is_float(b) || b.kind != VALUE_ELEMENT)) {
        v = float32_result(op, (float)as_double(a), (float)as_double(b));
    } else if (dtype_is_integer(t) && fits(a, t) && fits(b, t)) {
        v = integer_result(op, t, a.u.u, b.u.u);
    }
    if (v.kind != VALUE_ABSENT) return v;
    value both[2] = { a, b };
    return operation_call(m, binary_operations[op], both, 2, NULL, 0);
}

/* -1, 0, 1, or 2: unordered. Integers compare by value whatever their dtypes. */
static int order(value a, value b) {
    if (is_float(a) || is_float(b)) {
        double x = as_double(a), y = as_double(b);
        return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
    }
    bool big_a = a.kind == VALUE_ELEMENT && a.dtype == KN_UINT64 && a.u.u > INT64_MAX, big_b = b.kind == VALUE_ELEMENT && b.dtype == KN_UINT64 && b.u.u > INT64_MAX;
    if (big_a || big_b) return big_a && big_b ? (a.u.u > b.u.u) - (a.u.u < b.u.u) : big_a ? 1 : -1;
    return (a.u.i > b.u.i) - (a.u.i < b.u.i);
}

static bool is_plain(value v) { return v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_FLOAT || v.kind == VALUE_ELEMENT; }

/* Whether the comparison in double is the one that NumPy makes: in float32 a Python float is rounded first, and int64 against
 * floats goes through float64. */
static bool compares_here(value a, value b) {
    if (!is_plain(a) || !is_plain(b)) return false;
    kn_dtype t = together(a, b);
    return t == KN_FLOAT64 || t == KN_BOOL || dtype_is_integer(t) || !is_float(a) || !is_float(b) || (a.kind == VALUE_ELEMENT && b.kind == VALUE_ELEMENT);
}

value element_compare(machine *m, syntax_compare op, value a, value b) {
    static const int operations[] = {
        [COMPARE_LT] = OPERATION_less, [COMPARE_LE] = OPERATION_less_equal, [COMPARE_GT] = OPERATION_greater, [COMPARE_GE] = OPERATION_greater_equal,
        [COMPARE_EQ] = OPERATION_equal, [COMPARE_NE] = OPERATION_not_equal,
    };
    if (!compares_here(a, b)) {
        value both[2] = { a, b };
        return operation_call(m, operations[op], both, 2, NULL, 0);
    }
    int o = order(a, b);
    bool truth = op == COMPARE_LT ? o == -1 : op == COMPARE_LE ? o == -1 || o == 0 : op == COMPARE_GT ? o == 1 : op == COMPARE_GE ? o == 1 || o == 0 : op == COMPARE_EQ ? o == 0 : o != 0;
    return (value){ VALUE_ELEMENT, KN_BOOL, { .i = truth } };
}
