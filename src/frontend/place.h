/* place.h: a place in a text, as people count: line, column, and the line itself with a caret below the place.
 *
 * place.c does it for whoever reports an error in text: the parser, the evaluator's call stack, the text of an index. */
#ifndef KILN_PLACE_H
#define KILN_PLACE_H
#include "ir/base/base.h"

typedef struct text_place {
    uint32_t line, column;           /* from 1; columns in characters */
    size_t from, to;                 /* the line in the text, in bytes, without its end */
} text_place;

text_place place_find(const char *text, size_t length, size_t at);
/* The line with the bytes [at, end) of it underlined by carets: "    x = 1 +\n           ^". At least one caret; not past the
 * line's end. Of a long line, what is around the place. Control characters show as spaces. No newline follows. */
enum { PLACE_SHOWN = 400 };          /* bytes that hold it, the NUL included */
void place_show(const char *text, size_t length, size_t at, size_t end, char shown[PLACE_SHOWN]);

/* The character at s, of at most n bytes: how many bytes it has, and its number in *code (unless NULL); 0 when it is not UTF-8. */
size_t utf8_decode(const char *s, size_t n, uint32_t *code);
#endif
