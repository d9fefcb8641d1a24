/* parse_literal.c: what literals stand for: numbers, strings with their escapes, f-strings with the expressions in them.
 *
 * How it works: the lexer has found where a literal ends. The expression of an f-string's field is parsed in place: the
 * lexer is sent back over that stretch of the text, with the field's brace as an open bracket. */
#include "frontend/language/parser.h"
#include "frontend/place.h"
#include "frontend/print/decimal.h"

#include <string.h>

/* ---- numbers ---- */

static int digit_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

static syntax_node *integer_node(parser *p, const char *digits, uint32_t n, int base)
{
    uint64_t value = 0;
    bool fits = true;
    while (n > 1 && *digits == '0') {
        digits++;
        n--;
    }
    for (uint32_t i = 0; i < n && fits; i++)
        fits = !__builtin_mul_overflow(value, (uint64_t)base, &value) && !__builtin_add_overflow(value, (uint64_t)digit_value(digits[i]), &value);
    fits = fits && value <= INT64_MAX;
    syntax_node *node = node_new(p, fits ? SYNTAX_INTEGER : SYNTAX_BIG_INTEGER, p->lex.now.at, p->lex.now.end);
    if (!node)
        return NULL;
    if (fits)
        node->u.integer = (int64_t)value;
    else {
        node->u.big.digits = digits;
        node->u.big.length = n;
        node->u.big.base = (uint32_t)base;
    }
    return node;
}

static syntax_node *number_node(parser *p, char *digits, uint32_t n)
{
    char second = n > 1 ? (char)(digits[1] | 0x20) : 0;
    if (digits[0] == '0' && (second == 'x' || second == 'o' || second == 'b'))
        return integer_node(p, digits + 2, n - 2, second == 'x' ? 16 : second == 'o' ? 8 : 2);
    bool imaginary = (digits[n - 1] | 0x20) == 'j';
    if (!imaginary && strspn(digits, "0123456789") == n)
        return integer_node(p, digits, n, 10);
    syntax_node *node = node_new(p, imaginary ? SYNTAX_IMAGINARY : SYNTAX_FLOAT, p->lex.now.at, p->lex.now.end);
    if (node && !decimal_read(digits, digits + n - imaginary, &node->u.number))
        return syntax_error(p, node->at, node->end, "this is not a number");
    return node;
}

syntax_node *parse_number(parser *p)
{
    token t = p->lex.now;
    char *digits = arena_alloc(&p->tree->memory, t.end - t.at + 1);
    if (!digits)
        return parse_memory(p);
    uint32_t n = 0;
    for (uint32_t i = t.at; i < t.end; i++)
        if (p->text[i] != '_')
            digits[n++] = p->text[i];
    digits[n] = '\0';
    syntax_node *node = number_node(p, digits, n);
    lexer_next(p);
    return node;
}

/* ---- characters and escapes ---- */

/* Lone surrogates, which only escapes can make, are three bytes as other characters of their size. */
static void add_code_point(text *out, uint32_t c)
{
    char s[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        s[i] = (char)(0x80 | (c & 0x3F));
    s[0] = (char)(lead[n] | c);
    text_addn(out, s, n);
}

static void add_value(text *out, uint32_t c, bool bytes)
{
    char byte = (char)c;
    if (bytes)
        text_addn(out, &byte, 1);
    else
        add_code_point(out, c);
}

static bool is_hex(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

/* \xhh, \uhhhh, \Uhhhhhhhh: gives the end. */
static uint32_t add_hex(parser *p, text *out, uint32_t at, uint32_t limit, uint32_t n, bool bytes)
{
    uint32_t c = 0, i = at + 2, end = i + n;
    for (; i < end; i++) {
        if (i >= limit || !is_hex(p->text[i])) {
            syntax_error(p, at, i, "\\%c needs %u hexadecimal digits", p->text[at + 1], n);
            return limit;
        }
        c = c << 4 | (uint32_t)digit_value(p->text[i]);
    }
    if (c > 0x10FFFF)
        syntax_error(p, at, end, "there is no character of this number: the last one is \\U0010ffff");
    add_value(out, c, bytes);
    return end;
}

static uint32_t add_octal(parser *p, text *out, uint32_t at, uint32_t limit, bool bytes)
{
    uint32_t c = 0, i = at + 1;
    for (; i < at + 4 && i < limit && p->text[i] >= '0' && p->text[i] <= '7'; i++)
        c = c << 3 | (uint32_t)(p->text[i] - '0');
    add_value(out, c, bytes);
    return i;
}

/* The escape at `at`; gives its end. One that Python does not know stays as it is written. */
static uint32_t add_escape(parser *p, text *out, uint32_t at, uint32_t limit, bool bytes)
{
    static const char letters[] = "\\'\"abfnrtv", meant[] = "\\'\"\a\b\f\n\r\t\v";
    char c = at + 1 < limit ? p->text[at + 1] : 0;
    const char *known = c ? strchr(letters, c) : NULL;
    if (known) {
        text_addn(out, &meant[known - letters], 1);
        return at + 2;
    }
    if (c == '\n')
        return at + 2;
    if (c >= '0' && c <= '7')
        return add_octal(p, out, at, limit, bytes);
    if (c == 'x')
        return add_hex(p, out, at, limit, 2, bytes);
    if (!bytes && (c == 'u' || c == 'U'))
        return add_hex(p, out, at, limit, c == 'u' ? 4 : 8, false);
    if (!bytes && c == 'N') {
        not_in_language(p, at, at + 2, "characters by name (\\N) are");
        return limit;
    }
    text_addn(out, "\\", 1);
    return at + 1;
}

static void add_text(parser *p, text *out, uint32_t at, uint32_t limit, const string_head *h)
{
    while (at < limit && !p->failed) {
        if (p->text[at] == '\\' && !h->raw) {
            at = add_escape(p, out, at, limit, h->bytes);
            continue;
        }
        uint32_t from = at;
        do {
            if (h->bytes && (unsigned char)p->text[at] >= 0x80)
                syntax_error(p, at, at + 1, "bytes hold ASCII characters only; others are written \\xhh");
            at++;
        } while (at < limit && (p->text[at] != '\\' || h->raw));
        text_addn(out, p->text + from, at - from);
    }
}

/* ---- the pieces of a string ---- */

/* What has been read of a string: items on the parser's stack, and the constant text after them. */
typedef struct pieces { text run; uint32_t at; size_t from; } pieces;

static syntax_node *text_node(parser *p, int kind, const text *run, uint32_t at, uint32_t end)
{
    syntax_node *n = run->failed ? parse_memory(p) : node_new(p, kind, at, end);
    if (!n)
        return NULL;
    char *copy = arena_alloc(&p->tree->memory, run->len + 1);
    if (!copy)
        return parse_memory(p);
    if (run->len)
        memcpy(copy, run->at, run->len);
    copy[run->len] = '\0';
    n->u.string.at = copy;
    n->u.string.length = (uint32_t)run->len;
    return n;
}

static void flush(parser *p, pieces *s, uint32_t end)
{
    if (s->run.len || s->run.failed)
        list_push(p, text_node(p, SYNTAX_STRING, &s->run, s->at, end));
    text_free(&s->run);
    s->run = (text){0};
    s->at = end;
}

static syntax_node *joined(parser *p, pieces *s, uint32_t at, uint32_t end)
{
    flush(p, s, end);
    const syntax_list *items = list_take(p, s->from);
    syntax_node *n = node_new(p, SYNTAX_FORMAT_STRING, at, end);
    if (n)
        n->u.items = items;
    return node_above_list(p, n, items);
}

static uint32_t read_pieces(parser *p, pieces *s, uint32_t at, uint32_t limit, const string_head *h, bool specification);

/* The expression between [at, end): parsed as if the text ended there, in brackets. */
static syntax_node *field_value(parser *p, uint32_t at, uint32_t end)
{
    lexer saved = p->lex;
    if (saved.nbrackets == BRACKETS_MOST)
        return syntax_error(p, at - 1, at, "brackets are nested deeper than %d", BRACKETS_MOST);
    p->brackets[saved.nbrackets] = at - 1;
    p->lex = (lexer){.at = at, .end = end, .nbrackets = saved.nbrackets + 1, .base = saved.nbrackets + 1};
    lexer_next(p);
    if (is(p, TOKEN_END) && !p->failed)
        syntax_error(p, at - 1, end + 1, "this field of the f-string is empty");
    syntax_node *value = parse_expressions(p, true);
    if (!is(p, TOKEN_END))
        expected(p, "the end of the field");
    if (!p->failed)
        p->lex = saved;
    return value;
}

static uint32_t conversion(parser *p, syntax_node *field, uint32_t at)
{
    char c = p->text[at + 1], next = c ? p->text[at + 2] : 0;
    if ((c != 'r' && c != 's' && c != 'a') || (next != ':' && next != '}')) {
        syntax_error(p, at, at + 2, "after '!' of an f-string one of r, s and a was expected");
        return at;
    }
    if (field)
        field->op = (uint8_t)c;
    return at + 2;
}

/* The field whose brace is at `at`; gives the end. */
static uint32_t read_field(parser *p, pieces *s, uint32_t at, uint32_t limit, const string_head *h)
{
    uint32_t i = field_expression_end(p, at + 1, limit, h);
    syntax_node *value = i ? field_value(p, at + 1, i) : NULL;
    syntax_node *field = node_above(p, node_new(p, SYNTAX_FORMAT_FIELD, at, i), value);
    if (!field)
        return limit;
    field->u.field.value = value;
    bool shown = p->text[i] == '=';
    if (shown) {
        do i++; while (p->text[i] == ' ' || p->text[i] == '\t' || p->text[i] == '\n' || p->text[i] == '\f');
        text_addn(&s->run, p->text + at + 1, i - at - 1);
        field->op = 'r';
    }
    flush(p, s, at);
    if (p->text[i] == '!')
        i = conversion(p, field, i);
    else if (shown && p->text[i] == ':')
        field->op = 0;
    if (p->text[i] == ':' && !p->failed) {
        pieces inner = {.at = i + 1, .from = p->nstack};
        uint32_t end = parse_enter(p) ? read_pieces(p, &inner, i + 1, limit, h, true) : limit;
        parse_leave(p);
        syntax_node *format = joined(p, &inner, i + 1, end);
        field->u.field.format = format;
        node_above(p, field, format);
        i = end;
    }
    if (!p->failed && (i >= limit || p->text[i] != '}'))
        syntax_error(p, at, at + 1, "this field of the f-string does not end: '}' is missing");
    field->end = i + 1;
    list_push(p, field);
    s->at = i + 1;
    return i + 1;
}

/* Up to `limit`, or in a specification up to the brace that closes its field. */
static uint32_t read_pieces(parser *p, pieces *s, uint32_t at, uint32_t limit, const string_head *h, bool specification)
{
    while (at < limit && !p->failed) {
        char c = p->text[at];
        bool twice = !specification && at + 1 < limit && p->text[at + 1] == c;
        if (c == '}' && specification)
            break;
        if ((c == '{' || c == '}') && twice) {
            text_addn(&s->run, &c, 1);
            at += 2;
        } else if (c == '{')
            at = read_field(p, s, at, limit, h);
        else if (c == '}')
            syntax_error(p, at, at + 1, "a single '}' closes nothing in an f-string; '}}' is the character");
        else {
            uint32_t from = at;
            while (at < limit && p->text[at] != '{' && p->text[at] != '}')
                at = p->text[at] == '\\' ? string_escape_end(p, at, limit, h) : at + 1;
            at = at < limit ? at : limit;
            add_text(p, &s->run, from, at, h);
        }
    }
    return at;
}

syntax_node *parse_strings(parser *p)
{
    uint32_t at = p->lex.now.at;
    pieces s = {.at = at, .from = p->nstack};
    bool format = false, bytes = string_head_of(p, at, p->lex.end).bytes;
    for (; is(p, TOKEN_STRING); lexer_next(p)) {
        token t = p->lex.now;
        string_head h = string_head_of(p, t.at, t.end);
        uint32_t limit = t.end - h.quotes;
        if (h.bytes != bytes)
            syntax_error(p, t.at, t.end, "bytes and strings cannot be joined");
        format |= h.format;
        if (h.format)
            read_pieces(p, &s, h.body, limit, &h, false);
        else
            add_text(p, &s.run, h.body, limit, &h);
    }
    syntax_node *n = format ? joined(p, &s, at, p->lex.last_end) : text_node(p, bytes ? SYNTAX_BYTES : SYNTAX_STRING, &s.run, at, p->lex.last_end);
    text_free(&s.run);
    return n;
}
