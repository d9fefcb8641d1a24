/* bignum.c: arithmetic on natural numbers of a few thousand bits. See bignum.h. */
#include "frontend/print/bignum.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

static const uint64_t power_of_10[20] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000), UINT64_C(10000000000000),
    UINT64_C(100000000000000), UINT64_C(1000000000000000), UINT64_C(10000000000000000),
    UINT64_C(100000000000000000), UINT64_C(1000000000000000000), UINT64_C(10000000000000000000),
};
enum { LARGEST_POWER = 19 };

static void drop_zero_limbs(bignum *a)
{
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
}

void bignum_set(bignum *a, uint64_t value)
{
    a->limb[0] = value;
    a->count = value != 0;
}

void bignum_shift_left(bignum *a, int bits)
{
    int limbs = bits / 64;
    bits %= 64;
    if (a->count == 0)
        return;
    if (bits != 0) {
        uint64_t carry = 0;
        for (int i = 0; i < a->count; i++) {
            uint64_t limb = a->limb[i];
            a->limb[i] = limb << bits | carry;
            carry = limb >> (64 - bits);
        }
        if (carry != 0)
            a->limb[a->count++] = carry;
    }
    if (limbs != 0) {
        memmove(a->limb + limbs, a->limb, (size_t)a->count * sizeof *a->limb);
        memset(a->limb, 0, (size_t)limbs * sizeof *a->limb);
        a->count += limbs;
    }
}

void bignum_multiply_add(bignum *a, uint64_t by, uint64_t plus)
{
    uint64_t carry = plus;
    for (int i = 0; i < a->count; i++) {
        wide product = (wide)a->limb[i] * by + carry;
        a->limb[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry != 0)
        a->limb[a->count++] = carry;
}

void bignum_multiply(bignum *a, uint64_t by)
{
    bignum_multiply_add(a, by, 0);
}

void bignum_multiply_power_of_10(bignum *a, int power)
{
    for (; power > LARGEST_POWER; power -= LARGEST_POWER)
        bignum_multiply(a, power_of_10[LARGEST_POWER]);
    if (power > 0)
        bignum_multiply(a, power_of_10[power]);
}

int bignum_compare(const bignum *a, const bignum *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

int bignum_compare_sum(const bignum *a, const bignum *b, const bignum *c)
{
    bignum sum;
    if (a->count < b->count) {
        const bignum *other = a;
        a = b;
        b = other;
    }
    if (a->count > c->count) /* the sum is no shorter than its longer term */
        return 1;
    uint64_t carry = 0;
    for (int i = 0; i < a->count; i++) {
        wide s = (wide)a->limb[i] + (i < b->count ? b->limb[i] : 0) + carry;
        sum.limb[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    sum.count = a->count;
    if (carry != 0)
        sum.limb[sum.count++] = carry;
    return bignum_compare(&sum, c);
}

/* With the divisor's highest limb in [2^59, 2^60), ten times the divisor has no more limbs than the divisor, and the
 * quotient of the highest limbs, the divisor's rounded up, is the quotient or one less. */
int bignum_align_divisor(const bignum *b)
{
    int top = 63 - __builtin_clzll(b->limb[b->count - 1]);
    return (59 - top + 64) % 64;
}

/* a -= b * times; the result is not negative. */
static void subtract_multiple(bignum *a, const bignum *b, uint64_t times)
{
    uint64_t carry = 0;
    unsigned borrow = 0;
    for (int i = 0; i < b->count; i++) {
        wide product = (wide)b->limb[i] * times + carry;
        carry = (uint64_t)(product >> 64);
        uint64_t low = (uint64_t)product, limb = a->limb[i], difference = limb - low;
        unsigned under = limb < low;
        under += difference < borrow;
        a->limb[i] = difference - borrow;
        borrow = under;
    }
    drop_zero_limbs(a);
}

unsigned bignum_divide(bignum *a, const bignum *b)
{
    if (a->count < b->count)
        return 0;
    unsigned quotient = (unsigned)(a->limb[b->count - 1] / (b->limb[b->count - 1] + 1));
    if (quotient != 0)
        subtract_multiple(a, b, quotient);
    if (bignum_compare(a, b) >= 0) {
        quotient++;
        subtract_multiple(a, b, 1);
    }
    return quotient;
}
