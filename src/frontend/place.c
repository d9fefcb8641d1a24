/* place.c: line, column and the line with carets, for errors in text.
 *
 * How it works: the text is scanned up to the place, which happens once an error. Bytes that are not UTF-8 count and show
 * as one character each, so that an error about them can be shown too. Sentences must not be put here. */
#include "frontend/place.h"

#include <string.h>

enum { SHOWN_CHARACTERS = 60, MARGIN = 4 };

size_t utf8_decode(const char *s, size_t n, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *u = (const unsigned char *)s;
    if (n == 0)
        return 0;
    size_t size = u[0] < 0x80 ? 1 : u[0] < 0xC0 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : u[0] < 0xF8 ? 4 : 0;
    if (size == 0 || size > n)
        return 0;
    uint32_t c = size == 1 ? u[0] : u[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (u[i] & 0x3F);
    }
    if (c < least[size] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return 0;
    if (code)
        *code = c;
    return size;
}

static size_t step(const char *text, size_t length, size_t at)
{
    size_t size = utf8_decode(text + at, length - at, NULL);
    return size ? size : 1;
}

text_place place_find(const char *text, size_t length, size_t at)
{
    text_place p = {.line = 1, .column = 1};
    if (at > length)
        at = length;
    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            p.line++;
            p.from = i + 1;
        }
    const char *end = memchr(text + p.from, '\n', length - p.from);
    p.to = end ? (size_t)(end - text) : length;
    for (size_t i = p.from; i < at; i += step(text, length, i))
        p.column++;
    return p;
}

void place_show(const char *text, size_t length, size_t at, size_t end, char shown[PLACE_SHOWN])
{
    text_place p = place_find(text, length, at);
    size_t characters = 0, n = 0, from = p.from, carets = 0;
    for (size_t i = p.from; i < p.to; i += step(text, p.to, i))
        characters++;
    size_t before = p.column - 1, cut = 0;
    if (characters > SHOWN_CHARACTERS && before > SHOWN_CHARACTERS / 2)
        cut = before - SHOWN_CHARACTERS / 2;
    if (cut && cut + SHOWN_CHARACTERS > characters)
        cut = characters - SHOWN_CHARACTERS;
    for (size_t i = 0; i < cut; i++)
        from += step(text, p.to, from);
    memset(shown, ' ', MARGIN);
    n = MARGIN;
    for (size_t i = 0; i < SHOWN_CHARACTERS && from < p.to; i++) {
        size_t size = utf8_decode(text + from, p.to - from, NULL);
        if (size == 0)
            shown[n++] = '?';
        else if (size == 1)
            shown[n++] = (unsigned char)text[from] < ' ' || text[from] == 0x7F ? ' ' : text[from];
        else
            for (size_t k = 0; k < size; k++)
                shown[n++] = text[from + k];
        carets += from >= at && from < end;
        from += size ? size : 1;
    }
    shown[n++] = '\n';
    memset(shown + n, ' ', MARGIN + before - cut);
    n += MARGIN + before - cut;
    carets = carets ? carets : 1;
    memset(shown + n, '^', carets);
    shown[n + carets] = '\0';
}
