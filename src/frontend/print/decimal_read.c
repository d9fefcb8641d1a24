/* decimal_read.c: decimal text to the nearest double.
 *
 * How it works: the first 19 digits times a power of ten, in 128 bits and rounded down, bound the value from both sides.
 * Nearly always both bounds round to one double. Otherwise two neighbours are left, and the text is compared exactly with
 * the point halfway between them. Signs, "nan" and "inf" belong to the callers. */
#include "frontend/print/decimal.h"
#include "frontend/print/bignum.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* The highest 128 bits of 10^(19 * i), rounded down, for i = -20 ... 17. */
enum { POWER_STEP = 19, POWER_FIRST = -20, POWER_LAST = 17 };
static const struct { uint64_t high, low; } power_table[POWER_LAST - POWER_FIRST + 1] = {
    {UINT64_C(0xcb47a9358c317fae), UINT64_C(0xda9018cfcc9be08a)}, {UINT64_C(0xdc65837399ea659c), UINT64_C(0xf10c086169cc2098)},
    {UINT64_C(0xeef453d6923bd65a), UINT64_C(0x113faa2906a13b3f)}, {UINT64_C(0x818995ce7aa0e1b2), UINT64_C(0x7343efebd1940993)},
    {UINT64_C(0x8c71dcd9ba0b4925), UINT64_C(0x9ff0c08b7f1d0b14)}, {UINT64_C(0x9845418c345644d6), UINT64_C(0x830a13896b78aaa9)},
    {UINT64_C(0xa5178fff668ae0b6), UINT64_C(0x626e974dbe39a872)}, {UINT64_C(0xb2fe3f0b8599ef07), UINT64_C(0x861fa7e6dcb4aa15)},
    {UINT64_C(0xc21094364dfb5636), UINT64_C(0x985915fc12f542e4)}, {UINT64_C(0xd267caa862a12d66), UINT64_C(0xd072df63c324fd7b)},
    {UINT64_C(0xe41f3d6a7377eeca), UINT64_C(0x20caba5f1d9e4a93)}, {UINT64_C(0xf7549530e188c128), UINT64_C(0xd12bee59e68ef47c)},
    {UINT64_C(0x8613fd0145877585), UINT64_C(0xbd06742ce95f5f36)}, {UINT64_C(0x915e2486ef32cd60), UINT64_C(0x0ace1474dc1d122e)},
    {UINT64_C(0x9d9ba7832936edc0), UINT64_C(0xd54b944b84aa4c0d)}, {UINT64_C(0xaae103b5fcd2a881), UINT64_C(0xd652bdc29f26a119)},
    {UINT64_C(0xb94470938fa89bce), UINT64_C(0xf808e40e8d5b3e69)}, {UINT64_C(0xc8de047564d20a8b), UINT64_C(0xf245825a5a445275)},
    {UINT64_C(0xd9c7dced53c72255), UINT64_C(0x96e7bd358c904a21)}, {UINT64_C(0xec1e4a7db69561a5), UINT64_C(0x2b31e9e3d06c32e5)},
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)}, {UINT64_C(0x8ac7230489e80000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0x96769950b50d88f4), UINT64_C(0x1314448000000000)}, {UINT64_C(0xa321f2d7226895c7), UINT64_C(0xaff72d52192b6a0d)},
    {UINT64_C(0xb0de65388cc8ada8), UINT64_C(0x3b25a55f43294bcb)}, {UINT64_C(0xbfc2ef456ae276e8), UINT64_C(0x9e3fedd8c321a67e)},
    {UINT64_C(0xcfe87f7cef46ff16), UINT64_C(0xe612641865679a63)}, {UINT64_C(0xe16a1dc9d8545e94), UINT64_C(0xf4296dd6fef3d67a)},
    {UINT64_C(0xf46518c2ef5b8cd1), UINT64_C(0x7eb258665fc25d69)}, {UINT64_C(0x847c9b5d7c2e09b7), UINT64_C(0x69956135febada11)},
    {UINT64_C(0x8fa475791a569d10), UINT64_C(0xf96e017d694487bc)}, {UINT64_C(0x9bbcc7a142b17ccb), UINT64_C(0x88a66076400bb691)},
    {UINT64_C(0xa8d9d1535ce3b396), UINT64_C(0x7f1839a741a14d0d)}, {UINT64_C(0xb7118682dbb66a77), UINT64_C(0x3fbc8c33221dc2a1)},
    {UINT64_C(0xc67bb4597ce2ce48), UINT64_C(0xb143c6053edcd0d5)}, {UINT64_C(0xd732290fbacaf133), UINT64_C(0xa97c177947ad4095)},
    {UINT64_C(0xe950df20247c83fd), UINT64_C(0x47c6b82ef32a2069)}, {UINT64_C(0xfcf62c1dee382c42), UINT64_C(0x46729e03dd9ed7b5)},
};

enum { WORD_DIGITS = 19, EXACT_DIGITS = 769, LARGEST_POWER = 309, SMALLEST_POWER = -344, EXPONENT_LIMIT = 100000000 };

/* word * 10^exponent, and a little more when digits were left over. */
typedef struct decimal_text {
    const char *begin, *end;    /* the digits, with the point */
    uint64_t word;
    int word_digits;
    bool more;                  /* digits that are not zero follow those in word */
    int64_t exponent;
} decimal_text;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The end of an exponent that starts at s, or s itself. */
static const char *read_exponent(const char *s, const char *end, int64_t *exponent)
{
    const char *p = s;
    if (p == end || (*p != 'e' && *p != 'E'))
        return s;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return s;
    int64_t e = 0;
    for (; p < end && is_digit(*p); p++)
        if (e < EXPONENT_LIMIT)
            e = e * 10 + (*p - '0');
    *exponent += negative ? -e : e;
    return p;
}

static const char *take_apart(const char *s, const char *end, decimal_text *t)
{
    bool point = false, any = false;
    const char *p = s;
    *t = (decimal_text){.begin = s};
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*p))
            break;
        any = true;
        if (t->word_digits == WORD_DIGITS) {
            t->more = t->more || *p != '0';
            t->exponent += !point;
            continue;
        }
        t->word = t->word * 10 + (uint64_t)(*p - '0');
        t->word_digits += t->word != 0;
        t->exponent -= point;
    }
    if (!any)
        return NULL;
    t->end = p;
    return read_exponent(p, end, &t->exponent);
}

/* floor(n * log2(10)), right far beyond every exponent met here. */
static int floor_log2_power_of_10(int n)
{
    return (int)(n * INT64_C(913124641741) >> 38);
}

static wide multiply_high(wide a, uint64_t b)
{
    wide low = (wide)(uint64_t)a * b;
    return (wide)(uint64_t)(a >> 64) * b + (uint64_t)(low >> 64);
}

/* 10^n = p * 2^*binary with p in [2^127, 2^128), at most 4 too low. */
static wide power_of_10(int n, int *binary)
{
    int step = (n - POWER_FIRST * POWER_STEP) / POWER_STEP, rest = (n - POWER_FIRST * POWER_STEP) % POWER_STEP;
    wide p = (wide)power_table[step].high << 64 | power_table[step].low;
    uint64_t fine = 1;
    for (int i = 0; i < rest; i++)
        fine *= 10;
    p = multiply_high(p, fine << __builtin_clzll(fine));
    if (p >> 127 == 0)
        p <<= 1;
    *binary = floor_log2_power_of_10(n) - 127;
    return p;
}

/* The pattern of the double nearest to v * 2^exponent, v not zero, halves to even. */
static uint64_t nearest_pattern(wide v, int exponent)
{
    uint64_t high = (uint64_t)(v >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)v);
    int drop = bits - 53;
    if (exponent + drop < -1074)
        drop = -1074 - exponent;
    if (drop > 128)
        return 0;
    uint64_t mantissa;
    if (drop <= 0) {
        mantissa = (uint64_t)v << -drop;
    } else {
        wide half = (wide)1 << (drop - 1), rest = drop == 128 ? v : v & ((half << 1) - 1);
        mantissa = drop == 128 ? 0 : (uint64_t)(v >> drop);
        mantissa += rest > half || (rest == half && mantissa % 2 != 0);
    }
    exponent += drop;
    if (exponent + 1074 >= 0x7ff)
        return UINT64_C(0x7ff) << 52;
    uint64_t pattern = ((uint64_t)(exponent + 1074) << 52) + mantissa; /* a mantissa of 53 bits carries into the exponent */
    return pattern < UINT64_C(0x7ff) << 52 ? pattern : UINT64_C(0x7ff) << 52;
}

/* Compares the number in the text with the midpoint of the doubles with patterns `below` and `below` + 1. */
static int compare_with_midpoint(const decimal_text *t, uint64_t below)
{
    bignum number, midpoint;
    int digits = 0;
    bool more = false; /* no midpoint has so many digits, so of the rest it only matters whether it is all zeros */
    bignum_set(&number, 0);
    for (const char *p = t->begin; p < t->end && !more; p++) {
        if (*p == '.' || (digits == 0 && *p == '0'))
            continue;
        if (digits == EXACT_DIGITS) {
            more = *p != '0';
            continue;
        }
        bignum_multiply_add(&number, 10, (uint64_t)(*p - '0'));
        digits++;
    }
    if (more) {
        bignum_multiply_add(&number, 10, 1);
        digits++;
    }
    int power = (int)(t->exponent + t->word_digits - digits);
    int biased = (int)(below >> 52);
    uint64_t mantissa = below & ((UINT64_C(1) << 52) - 1);
    int exponent = (biased ? biased : 1) - 1075 - 1;
    bignum_set(&midpoint, 2 * (mantissa | (biased ? UINT64_C(1) << 52 : 0)) + 1);
    if (power > 0)
        bignum_multiply_power_of_10(&number, power);
    else if (power < 0)
        bignum_multiply_power_of_10(&midpoint, -power);
    if (exponent < 0)
        bignum_shift_left(&number, -exponent);
    else
        bignum_shift_left(&midpoint, exponent);
    return bignum_compare(&number, &midpoint);
}

static uint64_t pattern_of(const decimal_text *t)
{
    if (t->word == 0 || t->exponent < SMALLEST_POWER)
        return 0;
    if (t->exponent > LARGEST_POWER)
        return UINT64_C(0x7ff) << 52;
    if (t->exponent == 0 && !t->more)
        return nearest_pattern(t->word, 0);
    int binary, shift = __builtin_clzll(t->word);
    wide power = power_of_10((int)t->exponent, &binary);
    wide lower = multiply_high(power, t->word << shift);
    binary += 64 - shift;
    wide error = 8 + (t->more ? (wide)1 << (64 + shift) : 0);
    wide upper = lower + error < lower ? ~(wide)0 : lower + error;
    uint64_t low = nearest_pattern(lower, binary), high = nearest_pattern(upper, binary);
    if (low == high)
        return low;
    int side = compare_with_midpoint(t, low);
    return side > 0 || (side == 0 && low % 2 != 0) ? high : low;
}

const char *decimal_read(const char *s, const char *end, double *value)
{
    decimal_text t;
    const char *after = take_apart(s, end, &t);
    if (!after)
        return NULL;
    uint64_t pattern = pattern_of(&t);
    memcpy(value, &pattern, sizeof pattern);
    return after;
}
