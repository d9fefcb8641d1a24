/* hash.c: a fast 64-bit hash for tables in memory, and a 128-bit digest for names of cache entries.
 *
 * How it works: hash_bytes multiplies pairs of words to 128 bits and folds the halves together; its values depend on the
 * machine's byte order and never leave the process. digest_bytes is BLAKE2b with a 16-byte result (RFC 7693): the same
 * on every machine, and nobody finds two inputs with one digest. */
#include "ir/base/base.h"

#include <string.h>

/* ---- the 64-bit hash ---- */

__extension__ typedef unsigned __int128 wide;

/* The first digits of pi. */
#define SALT0 UINT64_C(0x243f6a8885a308d3)
#define SALT1 UINT64_C(0x13198a2e03707345)
#define SALT2 UINT64_C(0xa4093822299f31d1)
#define SALT3 UINT64_C(0x082efa98ec4e6c89)

static uint64_t fold(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word64(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static uint64_t word32(const unsigned char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

uint64_t hash_bytes(const void *data, size_t n, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t a, b, h = seed ^ fold(seed ^ SALT0, SALT1);
    if (n > 16) {
        size_t left = n;
        if (left > 64) {
            uint64_t g = h;
            for (; left > 32; p += 32, left -= 32) {
                h = fold(word64(p) ^ SALT1, word64(p + 8) ^ h);
                g = fold(word64(p + 16) ^ SALT2, word64(p + 24) ^ g);
            }
            h ^= fold(g, SALT3);
        }
        for (; left > 16; p += 16, left -= 16)
            h = fold(word64(p) ^ SALT1, word64(p + 8) ^ h);
        a = word64(p + left - 16); /* the last 16 bytes, overlapping what has been read */
        b = word64(p + left - 8);
    } else if (n >= 8) {
        a = word64(p);
        b = word64(p + n - 8);
    } else if (n >= 4) {
        a = word32(p);
        b = word32(p + n - 4);
    } else {
        a = n ? (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1] : 0;
        b = 0;
    }
    return fold(SALT3 ^ n, fold(a ^ SALT1, b ^ h));
}

/* ---- the 128-bit digest ---- */

enum { BLAKE_BLOCK = 128, BLAKE_ROUNDS = 12, DIGEST_SIZE = 16 };

static const uint64_t blake_start[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
    UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f), UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* The order in which a round takes the words of a block; rounds 10 and 11 repeat the first two. */
static const unsigned char blake_order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t rotate_right(uint64_t x, int bits)
{
    return x >> bits | x << (64 - bits);
}

static uint64_t little_endian(const unsigned char *p)
{
    uint64_t w = 0;
    for (int i = 7; i >= 0; i--)
        w = w << 8 | p[i];
    return w;
}

static void blake_mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
    *a += *b + x;
    *d = rotate_right(*d ^ *a, 32);
    *c += *d;
    *b = rotate_right(*b ^ *c, 24);
    *a += *b + y;
    *d = rotate_right(*d ^ *a, 16);
    *c += *d;
    *b = rotate_right(*b ^ *c, 63);
}

/* Takes one block into h; `total` counts the bytes so far, this block's included. */
static void blake_block(uint64_t h[8], const unsigned char *block, uint64_t total, bool last)
{
    uint64_t m[16], v[16];
    for (int i = 0; i < 16; i++)
        m[i] = little_endian(block + 8 * i);
    memcpy(v, h, 8 * sizeof *v);
    memcpy(v + 8, blake_start, 8 * sizeof *v);
    v[12] ^= total;
    if (last)
        v[14] = ~v[14];
    for (int round = 0; round < BLAKE_ROUNDS; round++) {
        const unsigned char *s = blake_order[round % 10];
        for (int i = 0; i < 4; i++)
            blake_mix(&v[i], &v[4 + i], &v[8 + i], &v[12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
        for (int i = 0; i < 4; i++)
            blake_mix(&v[i], &v[4 + (i + 1) % 4], &v[8 + (i + 2) % 4], &v[12 + (i + 3) % 4], m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (int i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[8 + i];
}

digest digest_bytes(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h[8];
    memcpy(h, blake_start, sizeof h);
    h[0] ^= UINT64_C(0x01010000) ^ DIGEST_SIZE;
    size_t done = 0;
    for (; n - done > BLAKE_BLOCK; done += BLAKE_BLOCK)
        blake_block(h, p + done, done + BLAKE_BLOCK, false);
    unsigned char tail[BLAKE_BLOCK] = {0};
    if (n)
        memcpy(tail, p + done, n - done);
    blake_block(h, tail, n, true);
    return (digest){{h[0], h[1]}};
}
