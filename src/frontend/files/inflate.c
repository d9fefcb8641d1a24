/* inflate.c: the deflate format (RFC 1951), taken piece by piece.
 *
 * How it works: a decoder that can stop after any byte: what it was doing (copying a stored run, repeating a match, reading
 * symbols) is kept in its state. The last 32 KiB of output are kept in a ring for matches. Codes of up to 9 bits are found
 * by one look into a table, longer ones bit by bit in canonical order. Reading zip archives belongs to zip_read.c. */
#include "frontend/files/internal.h"

#include <string.h>

enum {
    WINDOW = 1 << 15, INPUT = 1 << 16, QUICK_BITS = 9, CODE_BITS = 15, LITERALS = 288, DISTANCES = 32, LENGTH_CODES = 19,
    END_OF_BLOCK = 256
};

/* One canonical Huffman code. quick[bits] is symbol << 4 | length, 0 where the code is longer or not in use. */
typedef struct huffman {
    uint16_t quick[1 << QUICK_BITS];
    uint16_t count[CODE_BITS + 1];  /* of codes of a length */
    uint16_t symbol[LITERALS];      /* in the order of their codes */
} huffman;

typedef enum { AT_BLOCK, IN_STORED, IN_SYMBOLS, AT_END } inflate_state;

struct inflater {
    const input *in;
    int64_t offset, length;         /* of the input not yet read */
    inflate_state state;
    bool last_block;
    size_t stored;                  /* bytes left of a stored block */
    unsigned match, distance;       /* bytes left of a match */
    uint64_t bits;
    int nbits;
    size_t at, have;                /* within input */
    size_t written;                 /* bytes put out so far, counted up to WINDOW */
    size_t window_at;
    huffman literals, distances;
    unsigned char input[INPUT];
    unsigned char window[WINDOW];
};

inflater *inflater_new(const input *in, int64_t offset, int64_t length)
{
    inflater *z = mem_zero(1, sizeof *z);
    if (z) {
        z->in = in;
        z->offset = offset;
        z->length = length;
    }
    return z;
}

void inflater_free(inflater *z)
{
    mem_free(z);
}

static kn_status broken(const inflater *z, message *m)
{
    return input_fail(z->in, KN_VALUE_ERROR, m, "its compressed data are damaged");
}

/* ---- bits ---- */

/* Fills the bit buffer to 56 bits and more, or with what there is. */
static kn_status refill(inflater *z, message *m)
{
    while (z->nbits <= 56) {
        if (z->at == z->have) {
            size_t n = z->length < INPUT ? (size_t)z->length : INPUT;
            if (n == 0)
                return KN_OK;
            kn_status status = input_read(z->in, z->offset, z->input, n, m);
            if (status != KN_OK)
                return status;
            z->offset += (int64_t)n;
            z->length -= (int64_t)n;
            z->at = 0;
            z->have = n;
        }
        z->bits |= (uint64_t)z->input[z->at++] << z->nbits;
        z->nbits += 8;
    }
    return KN_OK;
}

static unsigned peek(const inflater *z, int n)
{
    return (unsigned)(z->bits & ((UINT64_C(1) << n) - 1));
}

static void drop(inflater *z, int n)
{
    z->bits >>= n;
    z->nbits -= n;
}

/* n <= 32 bits; refills first. */
static kn_status get_bits(inflater *z, int n, unsigned *value, message *m)
{
    *value = 0;
    kn_status status = z->nbits < n ? refill(z, m) : KN_OK;
    if (status != KN_OK)
        return status;
    if (z->nbits < n)
        return broken(z, m);
    *value = peek(z, n);
    drop(z, n);
    return KN_OK;
}

/* ---- codes ---- */

static unsigned reversed(unsigned code, int length)
{
    unsigned r = 0;
    for (int i = 0; i < length; i++)
        r |= (code >> i & 1) << (length - 1 - i);
    return r;
}

/* Makes the code whose symbols have these lengths. False when the lengths claim more codes than there are, or leave some
 * unused (but for a single code of one bit, which RFC 1951 allows for distances). */
static bool make_code(huffman *h, const unsigned char *length, int n)
{
    unsigned start[CODE_BITS + 2] = {0}, code[CODE_BITS + 2] = {0};
    memset(h, 0, sizeof *h);
    for (int i = 0; i < n; i++)
        h->count[length[i]]++;
    int left = 1, used = n - h->count[0];
    h->count[0] = 0;
    for (int bits = 1; bits <= CODE_BITS; bits++) {
        left = 2 * left - h->count[bits];
        if (left < 0)
            return false;
        start[bits + 1] = start[bits] + h->count[bits];
        code[bits + 1] = (code[bits] + h->count[bits]) << 1;
    }
    if (left > 0 && used > 0 && !(used == 1 && h->count[1] == 1))
        return false;
    for (int i = 0; i < n; i++) {
        int bits = length[i];
        if (bits == 0)
            continue;
        h->symbol[start[bits]++] = (uint16_t)i;
        unsigned c = code[bits]++;
        if (bits <= QUICK_BITS)
            for (unsigned k = reversed(c, bits); k < 1u << QUICK_BITS; k += 1u << bits)
                h->quick[k] = (uint16_t)(i << 4 | bits);
    }
    return true;
}

/* The next symbol from the bit buffer, -1 when there is none. */
static int get_symbol(inflater *z, const huffman *h)
{
    unsigned quick = h->quick[peek(z, QUICK_BITS)];
    if (quick != 0) {
        int length = quick & 15;
        if (length > z->nbits)
            return -1;
        drop(z, length);
        return (int)(quick >> 4);
    }
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= CODE_BITS && length <= z->nbits; length++) {
        code |= (int)(z->bits >> (length - 1) & 1);
        int count = h->count[length];
        if (code - count < first) {
            drop(z, length);
            return h->symbol[index + (code - first)];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

/* ---- blocks ---- */

static void fixed_codes(inflater *z)
{
    unsigned char length[LITERALS];
    for (int i = 0; i < LITERALS; i++)
        length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&z->literals, length, LITERALS);
    memset(length, 5, DISTANCES);
    make_code(&z->distances, length, DISTANCES);
}

/* The code lengths of a block, themselves coded. */
static kn_status read_lengths(inflater *z, unsigned char *length, unsigned n, message *m)
{
    static const struct { unsigned char least, bits; } repeat[] = {{3, 2}, {3, 3}, {11, 7}}; /* codes 16, 17, 18 */
    for (unsigned i = 0; i < n;) {
        kn_status status = z->nbits < 32 ? refill(z, m) : KN_OK;
        if (status != KN_OK)
            return status;
        int symbol = get_symbol(z, &z->literals);
        if (symbol < 0)
            return broken(z, m);
        if (symbol < 16) {
            length[i++] = (unsigned char)symbol;
            continue;
        }
        unsigned extra;
        status = get_bits(z, repeat[symbol - 16].bits, &extra, m);
        if (status != KN_OK)
            return status;
        unsigned times = repeat[symbol - 16].least + extra;
        if (times > n - i || (symbol == 16 && i == 0))
            return broken(z, m);
        memset(length + i, symbol == 16 ? length[i - 1] : 0, times);
        i += times;
    }
    return KN_OK;
}

static kn_status dynamic_codes(inflater *z, message *m)
{
    static const unsigned char order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char length[LITERALS + DISTANCES] = {0}, code_length[LENGTH_CODES] = {0};
    unsigned sizes;
    kn_status status = get_bits(z, 14, &sizes, m);
    if (status != KN_OK)
        return status;
    unsigned literals = (sizes & 31) + 257, distances = (sizes >> 5 & 31) + 1, codes = (sizes >> 10) + 4;
    if (literals > 286 || distances > 30)
        return broken(z, m);
    for (unsigned i = 0; i < codes; i++) {
        unsigned bits;
        status = get_bits(z, 3, &bits, m);
        if (status != KN_OK)
            return status;
        code_length[order[i]] = (unsigned char)bits;
    }
    if (!make_code(&z->literals, code_length, LENGTH_CODES))
        return broken(z, m);
    status = read_lengths(z, length, literals + distances, m);
    if (status != KN_OK)
        return status;
    if (length[END_OF_BLOCK] == 0 || !make_code(&z->literals, length, (int)literals)
        || !make_code(&z->distances, length + literals, (int)distances))
        return broken(z, m);
    return KN_OK;
}

static kn_status start_block(inflater *z, message *m)
{
    unsigned header, sizes;
    if (z->last_block) {
        z->state = AT_END;
        return KN_OK;
    }
    kn_status status = get_bits(z, 3, &header, m);
    if (status != KN_OK)
        return status;
    z->last_block = header & 1;
    switch (header >> 1) {
    case 0:
        drop(z, z->nbits % 8);
        status = get_bits(z, 32, &sizes, m);
        if (status != KN_OK)
            return status;
        if ((sizes & 0xffff) != (~sizes >> 16 & 0xffff))
            return broken(z, m);
        z->stored = sizes & 0xffff;
        z->state = IN_STORED;
        return KN_OK;
    case 1:
        fixed_codes(z);
        break;
    case 2:
        status = dynamic_codes(z, m);
        break;
    default:
        return broken(z, m);
    }
    z->state = IN_SYMBOLS;
    return status;
}

/* ---- output ---- */

static void put(inflater *z, unsigned char byte, unsigned char **to)
{
    z->window[z->window_at] = byte;
    z->window_at = (z->window_at + 1) % WINDOW;
    *(*to)++ = byte;
}

/* Up to n bytes of a stored block. */
static kn_status copy_stored(inflater *z, unsigned char **to, size_t n, message *m)
{
    n = n < z->stored ? n : z->stored;
    z->stored -= n;
    if (z->stored == 0)
        z->state = AT_BLOCK;
    for (; n > 0; n--) {
        unsigned byte;
        kn_status status = get_bits(z, 8, &byte, m);
        if (status != KN_OK)
            return status;
        put(z, (unsigned char)byte, to);
    }
    return KN_OK;
}

static void copy_match(inflater *z, unsigned char **to, size_t n)
{
    for (; z->match > 0 && n > 0; z->match--, n--)
        put(z, z->window[(z->window_at + WINDOW - z->distance) % WINDOW], to);
}

/* Symbols until n bytes are out, the block ends or a match begins. */
static kn_status read_symbols(inflater *z, unsigned char **to, size_t n, const unsigned char *begin, message *m)
{
    static const uint16_t length_base[29] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
                                             131, 163, 195, 227, 258};
    static const unsigned char length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[30] = {1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
                                               2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    const unsigned char *end = *to + n;
    while (*to < end) {
        kn_status status = z->nbits < 48 ? refill(z, m) : KN_OK; /* the longest length and distance have 48 bits together */
        if (status != KN_OK)
            return status;
        int symbol = get_symbol(z, &z->literals);
        if (symbol < 0)
            return broken(z, m);
        if (symbol < END_OF_BLOCK) {
            put(z, (unsigned char)symbol, to);
            continue;
        }
        if (symbol == END_OF_BLOCK) {
            z->state = AT_BLOCK;
            return KN_OK;
        }
        symbol -= END_OF_BLOCK + 1;
        if (symbol >= 29 || length_bits[symbol] > z->nbits)
            return broken(z, m);
        z->match = length_base[symbol] + peek(z, length_bits[symbol]);
        drop(z, length_bits[symbol]);
        int d = get_symbol(z, &z->distances);
        if (d < 0 || d >= 30)
            return broken(z, m);
        int extra = d < 4 ? 0 : d / 2 - 1;
        if (extra > z->nbits)
            return broken(z, m);
        z->distance = distance_base[d] + peek(z, extra);
        drop(z, extra);
        if (z->distance > z->written + (size_t)(*to - begin))
            return broken(z, m);
        copy_match(z, to, (size_t)(end - *to));
    }
    return KN_OK;
}

kn_status inflater_take(inflater *z, void *to, size_t n, message *m)
{
    unsigned char *p = to, *const end = p + n;
    const unsigned char *begin = p;
    kn_status status = KN_OK;
    while (p < end && status == KN_OK) {
        size_t left = (size_t)(end - p);
        if (z->match > 0)
            copy_match(z, &p, left);
        else if (z->state == IN_STORED)
            status = copy_stored(z, &p, left, m);
        else if (z->state == IN_SYMBOLS)
            status = read_symbols(z, &p, left, begin, m);
        else if (z->state == AT_BLOCK)
            status = start_block(z, m);
        else
            status = input_fail(z->in, KN_VALUE_ERROR, m, "its compressed data end early");
    }
    z->written = z->written + n < WINDOW ? z->written + n : WINDOW;
    return status;
}

kn_status inflater_finish(inflater *z, message *m)
{
    while (z->match == 0 && z->state != AT_END) {
        unsigned char byte, *p = &byte;
        kn_status status = KN_OK;
        if (z->state == AT_BLOCK) {
            status = start_block(z, m);
        } else if (z->state == IN_STORED && z->stored == 0) {
            z->state = AT_BLOCK;
        } else if (z->state == IN_SYMBOLS) {
            status = read_symbols(z, &p, 1, p, m);
            if (p != &byte)
                break;
        } else {
            break;
        }
        if (status != KN_OK)
            return status;
    }
    if (z->match > 0 || z->state != AT_END)
        return input_fail(z->in, KN_VALUE_ERROR, m, "its compressed data go on after the array's end");
    if (z->length > 0 || z->at < z->have || z->nbits >= 8)
        return input_fail(z->in, KN_VALUE_ERROR, m, "bytes follow its compressed data");
    return KN_OK;
}
