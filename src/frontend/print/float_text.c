/* float_text.c: digits laid out as text, in positional or scientific form, with NumPy's trimming and padding.
 *
 * How it works: both forms write the sign and the digits, then zeros up to the precision that was asked for, then take
 * zeros (and the point) off again as `trim` says. Widths of columns are decided by print.c. */
#include "frontend/print/decimal.h"

#include <string.h>

static void fill(text *out, char c, int64_t n)
{
    char run[64];
    memset(run, c, sizeof run);
    for (; n > 0; n -= (int64_t)sizeof run)
        text_addn(out, run, n < (int64_t)sizeof run ? (size_t)n : sizeof run);
}

static bool put_special(const binary_float *x, bool plus, text *out)
{
    if (x->class == FLOAT_FINITE)
        return false;
    if (x->class == FLOAT_NAN)
        text_addn(out, "nan", 3);
    else
        text_add(out, "%sinf", x->negative ? "-" : plus ? "+" : "");
    return true;
}

static int sign_width(const binary_float *x, bool plus)
{
    return x->negative || plus;
}

static void put_sign(const binary_float *x, bool plus, text *out)
{
    if (sign_width(x, plus))
        text_addn(out, x->negative ? "-" : "+", 1);
}

/* The number of characters after the point, which are `zeros` zeros and then `have` generated digits, once zeros are
 * added or taken off. */
static int fraction_length(const char *digit, int have, int zeros, int wanted, float_trim trim)
{
    if (trim != TRIM_NOTHING)
        while (have > 0 && digit[have - 1] == '0')
            have--;
    int length = have > 0 ? zeros + have : 0;
    int least = trim == TRIM_NOTHING ? wanted : trim == TRIM_TO_ONE_ZERO;
    return length < least ? least : length;
}

/* `count` characters after the point: `zeros` zeros, then generated digits, then zeros again. */
static void put_fraction(const char *digit, int have, int zeros, int count, text *out)
{
    int before = zeros < count ? zeros : count;
    fill(out, '0', before);
    int taken = have < count - before ? have : count - before;
    text_addn(out, digit, (size_t)taken);
    fill(out, '0', count - before - taken);
}

void float_positional(const binary_float *x, const float_format *f, text *out)
{
    if (put_special(x, f->plus, out))
        return;
    decimal_digits d;
    decimal_generate(x, f->digits, &d);
    int whole = d.exponent >= 0 ? d.exponent + 1 : 1; /* digits before the point */
    int used = d.exponent < 0 ? 0 : d.count < whole ? d.count : whole;
    int zeros = d.exponent < 0 ? -d.exponent - 1 : 0; /* between the point and the first digit */
    int wanted = f->digits.shortest ? f->digits.at_least : f->digits.at_most;
    if (wanted >= 0 && !f->digits.fractional)
        wanted -= whole;
    const char *rest = d.digit + used;
    int have = d.count - used;
    int fraction = fraction_length(rest, have, zeros, wanted, f->trim);
    bool point = fraction > 0 || f->trim != TRIM_POINT;

    fill(out, ' ', f->pad_left - whole - sign_width(x, f->plus));
    put_sign(x, f->plus, out);
    if (d.exponent < 0) {
        text_addn(out, "0", 1);
    } else {
        text_addn(out, d.digit, (size_t)used);
        fill(out, '0', whole - used);
    }
    if (point)
        text_addn(out, ".", 1);
    put_fraction(rest, have, zeros, fraction, out);
    if (f->pad_right >= fraction) {
        if (!point)
            text_addn(out, " ", 1);
        fill(out, ' ', f->pad_right - fraction);
    }
}

void float_scientific(const binary_float *x, const float_format *f, text *out)
{
    if (put_special(x, f->plus, out))
        return;
    digit_request request = f->digits;
    request.fractional = false;
    request.at_most += request.at_most >= 0; /* the digit before the point counts too */
    request.at_least += request.at_least >= 0;
    decimal_digits d;
    decimal_generate(x, request, &d);
    int wanted = f->digits.shortest ? f->digits.at_least : f->digits.at_most;
    int fraction = fraction_length(d.digit + 1, d.count - 1, 0, wanted, f->trim);

    fill(out, ' ', f->pad_left - 1 - sign_width(x, f->plus));
    put_sign(x, f->plus, out);
    text_addn(out, d.digit, 1);
    if (fraction > 0 || f->trim != TRIM_POINT)
        text_addn(out, ".", 1);
    put_fraction(d.digit + 1, d.count - 1, 0, fraction, out);
    int width = f->exponent_digits < 0 ? 2 : f->exponent_digits < 5 ? f->exponent_digits : 5;
    text_add(out, "e%c%0*d", d.exponent < 0 ? '-' : '+', width, d.exponent < 0 ? -d.exponent : d.exponent);
}
