/* bignum.h: natural numbers wide enough for the exact decimal expansion of every double and for the comparison of a long
 * decimal text with the midpoint of two doubles. Only decimal.c and decimal_read.c may need it.
 *
 * How it works: little-endian limbs of 64 bits in a fixed array, `count` of them in use and the highest in use not zero.
 * The widest number met is a text of 770 digits times 2^1075 or 10^1095, below 2^3800; nothing here checks the width. */
#ifndef KILN_PRINT_BIGNUM_H
#define KILN_PRINT_BIGNUM_H
#include <stdint.h>

enum { BIGNUM_LIMBS = 72 };

typedef struct bignum {
    int count;
    uint64_t limb[BIGNUM_LIMBS];
} bignum;

void bignum_set(bignum *a, uint64_t value);
void bignum_shift_left(bignum *a, int bits);
void bignum_multiply(bignum *a, uint64_t by);
void bignum_multiply_add(bignum *a, uint64_t by, uint64_t plus);
void bignum_multiply_power_of_10(bignum *a, int power);
int bignum_compare(const bignum *a, const bignum *b);              /* -1, 0, 1 */
int bignum_compare_sum(const bignum *a, const bignum *b, const bignum *c); /* a + b with c */

/* Divides a by b when the quotient is below 10: returns it and leaves the remainder in a. bignum_align_divisor must have
 * told by how many bits to shift a and b (and whatever is compared with them) first. */
int bignum_align_divisor(const bignum *b);
unsigned bignum_divide(bignum *a, const bignum *b);
#endif
