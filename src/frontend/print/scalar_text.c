/* scalar_text.c: one number as text, as NumPy's scalars and Python's numbers print.
 *
 * How it works: the shortest digits that read back as the same float, in positional form within a range that depends on
 * the dtype and in scientific form outside it. Columns of numbers belong to print.c. */
#include "frontend/print/print.h"
#include "frontend/print/decimal.h"

#include <inttypes.h>

/* From here on a number is written with an exponent: where the dtype's digits end, but 1e16 for float64 as in Python. */
static double scientific_from(kn_dtype part)
{
    return part == KN_FLOAT16 ? 1e3 : part == KN_FLOAT32 ? 1e6 : 1e16;
}
static const double scientific_below = 1e-4;

static void put_shortest(kn_dtype part, const void *element, bool plus, float_trim trim, text *out)
{
    binary_float x = binary_float_load(part, element);
    double size = element_load(part, element).v.f;
    size = size < 0 ? -size : size;
    bool scientific = size != 0 && (size >= scientific_from(part) || size < scientific_below);
    float_format f = {
        .digits = {.shortest = true, .fractional = true, .at_most = -1, .at_least = -1},
        .trim = scientific ? TRIM_POINT : trim, .plus = plus, .pad_left = -1, .pad_right = -1, .exponent_digits = -1,
    };
    if (x.class == FLOAT_NAN && plus)
        text_addn(out, "+", 1);
    (scientific ? float_scientific : float_positional)(&x, &f, out);
}

/* A purely imaginary number is written without its real part, and then without parentheses. repr(np.complex64) has none
 * of its own either way. */
static void put_complex(kn_dtype part, const void *element, bool parentheses, text *out)
{
    binary_float re = binary_float_load(part, element);
    bool both = re.class != FLOAT_FINITE || re.negative || re.mantissa != 0;
    if (both && parentheses)
        text_addn(out, "(", 1);
    if (both)
        put_shortest(part, element, false, TRIM_POINT, out);
    put_shortest(part, (const char *)element + dtype_size(part), both, TRIM_POINT, out);
    text_addn(out, "j)", both && parentheses ? 2 : 1);
}

void print_float(double value, text *out)
{
    put_shortest(KN_FLOAT64, &value, false, TRIM_TO_ONE_ZERO, out);
}

void print_python(scalar s, text *out)
{
    switch (s.kind) {
    case SCALAR_BOOL: text_add(out, "%s", s.v.b ? "True" : "False"); break;
    case SCALAR_INT: text_add(out, "%" PRId64, s.v.i); break;
    case SCALAR_UINT: text_add(out, "%" PRIu64, s.v.u); break;
    case SCALAR_FLOAT: print_float(s.v.f, out); break;
    case SCALAR_COMPLEX: {
        double parts[2] = {s.v.c.re, s.v.c.im};
        put_complex(KN_FLOAT64, parts, true, out);
        break;
    }
    }
}

void print_scalar(kn_dtype t, const void *element, print_mode mode, text *out)
{
    bool repr = mode == PRINT_REPR && t != KN_BFLOAT16; /* ml_dtypes' scalars print alike either way */
    if (repr && t == KN_BOOL)
        text_addn(out, "np.", 3);
    else if (repr)
        text_add(out, "np.%s(", dtype_table[t].name);
    switch (dtype_table[t].kind) {
    case KIND_FLOAT:
        if (t == KN_BFLOAT16)
            print_float_as(element_load(t, element).v.f, 'g', 6, false, out);
        else
            put_shortest(t, element, false, TRIM_TO_ONE_ZERO, out);
        break;
    case KIND_COMPLEX:
        put_complex(dtype_table[t].part, element, !repr, out);
        break;
    default:
        print_python(element_load(t, element), out);
    }
    if (repr)
        text_addn(out, t == KN_BOOL ? "_" : ")", 1);
}

void print_float_as(double value, char form, int precision, bool keep, text *out)
{
    size_t start = out->len;
    binary_float x = binary_float_of(value);
    char lower = form < 'a' ? (char)(form - 'A' + 'a') : form;
    precision = precision < 0 ? 6 : precision;
    float_format f = {
        .digits = {.fractional = true, .at_most = precision, .at_least = -1},
        .trim = precision > 0 || keep ? TRIM_NOTHING : TRIM_POINT, .pad_left = -1, .pad_right = -1, .exponent_digits = -1,
    };
    bool scientific = lower == 'e';
    if (lower == 'g') { /* `precision` digits in all, laid out by the exponent that they round to */
        precision = precision > 0 ? precision : 1;
        decimal_digits d = {.count = 0};
        if (x.class == FLOAT_FINITE)
            decimal_generate(&x, (digit_request){.at_most = precision, .at_least = -1}, &d);
        scientific = d.exponent < -4 || d.exponent >= precision;
        f.digits.at_most = scientific ? precision - 1 : precision - 1 - d.exponent;
        f.trim = keep ? TRIM_NOTHING : TRIM_POINT;
    }
    (scientific ? float_scientific : float_positional)(&x, &f, out);
    for (size_t i = start; form != lower && i < out->len; i++)
        if (out->at[i] >= 'a')
            out->at[i] = (char)(out->at[i] - 'a' + 'A');
}
