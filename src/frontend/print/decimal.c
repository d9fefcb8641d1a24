/* decimal.c: the decimal digits of a binary float, shortest or exact.
 *
 * How it works: Steele and White's generator in Burger and Dybvig's form. The float is a quotient of two natural numbers,
 * and each step multiplies the numerator by ten and divides. Beside it runs half the distance to the neighbouring floats:
 * once the remainder is nearer to a multiple of the divisor than that, the digits so far can only be read back as this
 * float. Layout (signs, points, exponents, padding) belongs to float_text.c. */
#include "frontend/print/decimal.h"
#include "frontend/print/bignum.h"

#include <limits.h>
#include <string.h>

binary_float binary_float_load(kn_dtype t, const void *element)
{
    const dtype_info *info = &dtype_table[t];
    uint64_t bits = 0;
    switch (info->size) {
    case 2: {
        uint16_t b;
        memcpy(&b, element, sizeof b);
        bits = b;
        break;
    }
    case 4: {
        uint32_t b;
        memcpy(&b, element, sizeof b);
        bits = b;
        break;
    }
    default:
        memcpy(&bits, element, sizeof bits);
    }
    int largest = (1 << info->exponent) - 1;
    int biased = (int)(bits >> info->mantissa) & largest;
    uint64_t implicit = UINT64_C(1) << info->mantissa;
    binary_float x = {.negative = bits >> (info->mantissa + info->exponent) & 1, .mantissa = bits & (implicit - 1)};
    if (biased == largest) {
        x.class = x.mantissa ? FLOAT_NAN : FLOAT_INFINITE;
        return x;
    }
    x.lower_closer = x.mantissa == 0 && biased > 1;
    if (biased != 0)
        x.mantissa |= implicit;
    x.exponent = (biased ? biased : 1) - (largest >> 1) - info->mantissa;
    return x;
}

binary_float binary_float_of(double value)
{
    return binary_float_load(KN_FLOAT64, &value);
}

/* The state between two digits: value = numerator / divisor * 10^(position + 1), below 10^(position + 1). */
typedef struct generator {
    bignum numerator, divisor;
    bignum margin;          /* half the distance to the float below, over the divisor; the one above is margin_above */
    bignum margin_above;
    bool lower_closer, even;
    int position;           /* of the next digit */
} generator;

/* floor(n * log10(2)), right for every exponent of a double. */
static int floor_log10_power_of_2(int n)
{
    return (int)(n * INT64_C(661971961083) >> 41);
}

/* Starts at the first digit that is not zero, or at `lowest` when all digits down to there are zero. */
static void generator_start(generator *g, const binary_float *x, int lowest)
{
    int up = x->exponent > 0 ? x->exponent : 0, down = x->exponent < 0 ? -x->exponent : 0;
    int extra = x->lower_closer ? 2 : 1; /* so that the margin is a natural number */
    g->lower_closer = x->lower_closer;
    g->even = x->mantissa % 2 == 0;
    bignum_set(&g->numerator, x->mantissa);
    bignum_shift_left(&g->numerator, up + extra);
    bignum_set(&g->divisor, 1);
    bignum_shift_left(&g->divisor, down + extra);
    bignum_set(&g->margin, 1);
    bignum_shift_left(&g->margin, up);

    int top_bit = 63 - __builtin_clzll(x->mantissa) + x->exponent;
    int power = floor_log10_power_of_2(top_bit) + 1; /* 10^power is above the value, or this is one too low */
    if (power <= lowest)
        power = lowest + 1;
    if (power > 0) {
        bignum_multiply_power_of_10(&g->divisor, power);
    } else if (power < 0) {
        bignum_multiply_power_of_10(&g->numerator, -power);
        bignum_multiply_power_of_10(&g->margin, -power);
    }
    while (bignum_compare(&g->numerator, &g->divisor) >= 0) {
        bignum_multiply(&g->divisor, 10);
        power++;
    }
    g->position = power - 1;

    int shift = bignum_align_divisor(&g->divisor);
    bignum_shift_left(&g->divisor, shift);
    bignum_shift_left(&g->numerator, shift);
    bignum_shift_left(&g->margin, shift);
    if (g->lower_closer) {
        memcpy(&g->margin_above, &g->margin, sizeof g->margin);
        bignum_shift_left(&g->margin_above, 1);
    }
}

static unsigned generator_digit(generator *g)
{
    bignum_multiply(&g->numerator, 10);
    bignum_multiply(&g->margin, 10);
    if (g->lower_closer)
        bignum_multiply(&g->margin_above, 10);
    g->position--;
    return bignum_divide(&g->numerator, &g->divisor);
}

/* Whether the digits so far (low), or they with the last one raised (high), read back as the float. */
static void generator_margins(const generator *g, bool *low, bool *high)
{
    int below = bignum_compare(&g->numerator, &g->margin);
    int above = bignum_compare_sum(&g->numerator, g->lower_closer ? &g->margin_above : &g->margin, &g->divisor);
    *low = below < 0 || (g->even && below == 0);
    *high = above > 0 || (g->even && above == 0);
}

/* Writes the last digit, rounded up or not, carrying into those before it. */
static void put_last_digit(decimal_digits *d, unsigned digit, bool up)
{
    if (!up) {
        d->digit[d->count++] = (char)('0' + digit);
        return;
    }
    if (digit < 9) {
        d->digit[d->count++] = (char)('1' + digit);
        return;
    }
    while (d->count > 0 && d->digit[d->count - 1] == '9')
        d->count--;
    if (d->count == 0) {
        d->digit[d->count++] = '1';
        d->exponent++;
    } else {
        d->digit[d->count - 1]++;
    }
}

void decimal_generate(const binary_float *x, digit_request request, decimal_digits *d)
{
    d->count = d->exponent = 0;
    if (x->mantissa == 0) {
        d->digit[d->count++] = '0';
        return;
    }
    int lowest = request.fractional && request.at_most >= 0 ? -request.at_most : INT_MIN / 2;
    generator g;
    generator_start(&g, x, lowest);
    d->exponent = g.position;
    if (!request.fractional && request.at_most > 0)
        lowest = g.position + 1 - request.at_most;
    int needed = INT_MAX; /* the last digit stands here or below */
    if (request.at_least >= 0)
        needed = request.fractional ? -request.at_least : g.position + 1 - request.at_least;

    for (;;) {
        bool low = false, high = false, last = g.position == lowest;
        int position = g.position;
        unsigned digit = generator_digit(&g);
        if (request.shortest) {
            generator_margins(&g, &low, &high);
            last = last || ((low || high) && position <= needed);
        }
        if (last || g.numerator.count == 0 || d->count == DIGITS_MAX - 1) {
            bool up = high;
            if (low == high) { /* both ways are open, or neither: to the nearest, halves to even */
                bignum_shift_left(&g.numerator, 1);
                int half = bignum_compare(&g.numerator, &g.divisor);
                up = half > 0 || (half == 0 && digit % 2 != 0);
            }
            put_last_digit(d, digit, up);
            return;
        }
        d->digit[d->count++] = (char)('0' + digit);
    }
}
