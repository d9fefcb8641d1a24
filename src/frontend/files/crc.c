/* crc.c: CRC-32 as zip uses it (reflected, polynomial 0xedb88320).
 *
 * How it works: eight bytes a step, through eight tables that the caller keeps: nothing here is global. */
#include "frontend/files/internal.h"

void crc_table_make(crc_table *t)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ UINT32_C(0xedb88320) : c >> 1;
        t->row[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            t->row[k][i] = t->row[k - 1][i] >> 8 ^ t->row[0][t->row[k - 1][i] & 255];
}

uint32_t crc_add(const crc_table *t, uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        crc = t->row[7][low & 255] ^ t->row[6][low >> 8 & 255] ^ t->row[5][low >> 16 & 255] ^ t->row[4][low >> 24]
            ^ t->row[3][p[4]] ^ t->row[2][p[5]] ^ t->row[1][p[6]] ^ t->row[0][p[7]];
    }
    for (; n > 0; n--, p++)
        crc = crc >> 8 ^ t->row[0][(crc ^ *p) & 255];
    return ~crc;
}
