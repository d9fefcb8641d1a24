/* lexer.c: text to tokens, one at a time: names, numbers, strings, operators, and the lines' ends and indentation.
 *
 * How it works: inside brackets line ends are nothing; outside, each line's indentation is compared with the stack of those
 * around it, as Python does, so that INDENT and DEDENT are tokens. What a literal's value is belongs to parse_literal.c;
 * here it is only found out where it ends, which for an f-string means to pass over the expressions in it. */
#include "frontend/language/parser.h"
#include "frontend/place.h"

#include <string.h>

static const char *const token_texts[NTOKEN_KINDS] = {
#define X(NAME, text) [WORD_##NAME] = text,
    KEYWORDS(X)
#undef X
#define X(NAME, text) [SIGN_##NAME] = text,
    OPERATORS(X)
#undef X
};

const char *token_text(int kind) { return token_texts[kind]; }

/* ---- characters ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* What is no part of a name beyond ASCII: spaces, punctuation, symbols. Everything else passes for a letter. */
static const struct { uint32_t first, last; } no_letters[] = {
    {0x80, 0xA9}, {0xAB, 0xB4}, {0xB6, 0xB6}, {0xB8, 0xB9}, {0xBB, 0xBF}, {0xD7, 0xD7}, {0xF7, 0xF7}, {0x37E, 0x37E}, {0x1680, 0x1680},
    {0x2000, 0x203E}, {0x2041, 0x2053}, {0x2055, 0x2070}, {0x2072, 0x207E}, {0x2080, 0x208F}, {0x20A0, 0x20CF},
    {0x2190, 0x2BFF}, {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xD800, 0xF8FF}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE32},
    {0xFE35, 0xFE4C}, {0xFE50, 0xFE6F}, {0xFEFF, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3E}, {0xFF40, 0xFF40},
    {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF}, {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF},
};

/* Marks and digits that may stand in a name, but not first. */
static bool is_mark(uint32_t c)
{
    static const struct { uint32_t first, last; } marks[] = {
        {0xB7, 0xB7}, {0x300, 0x36F}, {0x660, 0x669}, {0x966, 0x96F}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFF10, 0xFF19},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (c >= marks[i].first && c <= marks[i].last)
            return true;
    return false;
}

static bool is_wide_letter(const char *s, size_t n, bool first, size_t *size)
{
    uint32_t c;
    *size = utf8_decode(s, n, &c);
    if (*size < 2 || (first && is_mark(c)))
        return false;
    for (size_t i = 0; i < sizeof no_letters / sizeof *no_letters; i++)
        if (c >= no_letters[i].first && c <= no_letters[i].last)
            return false;
    return true;
}

bool is_name_start(const char *s, size_t n, size_t *size)
{
    *size = 1;
    return n > 0 && (is_letter(*s) || ((unsigned char)*s >= 0x80 && is_wide_letter(s, n, true, size)));
}

bool is_name_part(const char *s, size_t n, size_t *size)
{
    *size = 1;
    return n > 0 && (is_letter(*s) || is_digit(*s) || ((unsigned char)*s >= 0x80 && is_wide_letter(s, n, false, size)));
}

static uint32_t name_end(const parser *p, uint32_t at, uint32_t limit)
{
    size_t size;
    while (at < limit && is_name_part(p->text + at, limit - at, &size))
        at += (uint32_t)size;
    return at;
}

/* ---- strings: where they end ---- */

string_head string_head_of(const parser *p, uint32_t at, uint32_t limit)
{
    static const char *const prefixes[] = {"", "r", "u", "b", "f", "br", "rb", "fr", "rf"};
    string_head h = {0};
    char prefix[3] = "";
    uint32_t n = 0;
    while (n < 2 && at + n < limit && is_letter(p->text[at + n])) {
        prefix[n] = (char)(p->text[at + n] | 0x20);
        n++;
    }
    if (at + n >= limit || (p->text[at + n] != '"' && p->text[at + n] != '\''))
        return h;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        h.is_string |= strcmp(prefix, prefixes[i]) == 0;
    h.raw = strchr(prefix, 'r') != NULL;
    h.format = strchr(prefix, 'f') != NULL;
    h.bytes = strchr(prefix, 'b') != NULL;
    const char *q = p->text + at + n;
    h.quotes = at + n + 2 < limit && q[1] == q[0] && q[2] == q[0] ? 3 : 1;
    h.body = at + n + h.quotes;
    return h;
}

static bool closes(const parser *p, uint32_t at, uint32_t limit, char quote, uint32_t quotes)
{
    for (uint32_t i = 0; i < quotes; i++)
        if (at + i >= limit || p->text[at + i] != quote)
            return false;
    return true;
}

static uint32_t never_ends(parser *p, uint32_t at, const string_head *h, uint32_t reached)
{
    if (h->quotes == 3 && reached >= p->tree->length)
        p->fault->unfinished = true;
    syntax_error(p, at, h->body, h->quotes == 3 ? "this string, opened by three quotes, does not end" : "this string does not end on its line");
    return 0;
}

static uint32_t field_end(parser *p, uint32_t at, uint32_t limit, const string_head *h);

uint32_t string_escape_end(const parser *p, uint32_t at, uint32_t limit, const string_head *h)
{
    char c = at + 1 < limit ? p->text[at + 1] : 0;
    if (h->format && (c == '{' || c == '}'))
        return at + 1;
    if (h->format && !h->raw && c == 'N' && at + 2 < limit && p->text[at + 2] == '{')
        return at + 3;
    return at + 2;
}

uint32_t string_end(parser *p, uint32_t at, uint32_t limit)
{
    string_head h = string_head_of(p, at, limit);
    char quote = p->text[h.body - 1];
    uint32_t i = h.body;
    while (i < limit && !closes(p, i, limit, quote, h.quotes)) {
        char c = p->text[i];
        if (c == '\n' && h.quotes == 1)
            return never_ends(p, at, &h, i);
        if (c == '\\')
            i = string_escape_end(p, i, limit, &h);
        else if (c == '{' && h.format && i + 1 < limit && p->text[i + 1] == '{')
            i += 2;
        else if (c == '{' && h.format) {
            if ((i = field_end(p, i + 1, limit, &h)) == 0)
                return 0;
        } else
            i++;
    }
    return i < limit ? i + h.quotes : never_ends(p, at, &h, i);
}

static uint32_t field_open(parser *p, uint32_t at, uint32_t limit)
{
    if (limit >= p->tree->length)
        p->fault->unfinished = true;
    syntax_error(p, at - 1, at, "this field of the f-string does not end: '}' is missing");
    return 0;
}

/* A quote of the f-string's own kind that nothing on its line closes is rather the f-string's end. */
static bool ends_format(const parser *p, uint32_t at, uint32_t limit, char quote)
{
    uint32_t i = at + 1;
    if (p->text[at] != quote)
        return false;
    while (i < limit && p->text[i] != quote && p->text[i] != '\n')
        i++;
    return i == limit || p->text[i] == '\n';
}

static uint32_t expression_end(parser *p, uint32_t at, uint32_t limit, char quote)
{
    uint32_t opened = at, depth = 0;
    size_t size;
    while (at < limit) {
        char c = p->text[at], next = at + 1 < limit ? p->text[at + 1] : 0;
        if (ends_format(p, at, limit, quote))
            return field_open(p, opened, limit);
        if (string_head_of(p, at, limit).is_string) {
            if ((at = string_end(p, at, limit)) == 0)
                return 0;
            continue;
        }
        if (is_name_start(p->text + at, limit - at, &size)) {
            at = name_end(p, at, limit);
            continue;
        }
        if (c == '#') {
            const char *line = memchr(p->text + at, '\n', limit - at);
            at = line ? (uint32_t)(line - p->text) : limit;
            continue;
        }
        if (depth == 0 && (c == '}' || c == ':'))
            return at;
        if (depth == 0 && next != '=' && (c == '!' || c == '='))
            return at;
        if (next == '=' && (c == '!' || c == '=' || c == '<' || c == '>'))
            at++;
        depth += c == '(' || c == '[' || c == '{';
        depth -= depth > 0 && (c == ')' || c == ']' || c == '}');
        at++;
    }
    return field_open(p, opened, limit);
}

uint32_t field_expression_end(parser *p, uint32_t at, uint32_t limit, const string_head *h)
{
    uint32_t end = parse_enter(p) ? expression_end(p, at, limit, p->text[h->body - 1]) : 0;
    parse_leave(p);
    return end;
}

/* Behind the closing brace of a field that starts at `at`. */
static uint32_t field_end(parser *p, uint32_t at, uint32_t limit, const string_head *h)
{
    char quote = p->text[h->body - 1];
    uint32_t i = field_expression_end(p, at, limit, h);
    if (i == 0 || !parse_enter(p)) {
        parse_leave(p);
        return 0;
    }
    while (i && i < limit && p->text[i] != '}') {
        if ((p->text[i] == '\n' && h->quotes == 1) || closes(p, i, limit, quote, h->quotes))
            i = field_open(p, at, at);
        else
            i = p->text[i] == '{' ? field_end(p, i + 1, limit, h) : i + 1;
    }
    parse_leave(p);
    return !i ? 0 : i < limit ? i + 1 : field_open(p, at, limit);
}

/* ---- numbers: where they end ---- */

static bool is_digit_of(char c, int base)
{
    return base == 16 ? is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') : c >= '0' && c < '0' + base;
}

/* Digits with single underscores between them. */
static uint32_t digits_end(const parser *p, uint32_t at, uint32_t limit, int base)
{
    while (at < limit && (is_digit_of(p->text[at], base) || (p->text[at] == '_' && at + 1 < limit && is_digit_of(p->text[at + 1], base))))
        at++;
    return at;
}

/* A number may touch a keyword, as in "1if x else 2", but no name. */
static uint32_t number_checked(parser *p, uint32_t at, uint32_t end, const char *what)
{
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
    size_t size;
    uint32_t limit = p->lex.end;
    if (end >= limit || !is_name_part(p->text + end, limit - end, &size))
        return end;
    uint32_t length = name_end(p, end, limit) - end;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length == strlen(words[i]) && memcmp(p->text + end, words[i], length) == 0)
            return end;
    syntax_error(p, at, end + (uint32_t)size, "this is not a %s number", what);
    return 0;
}

static uint32_t prefixed_end(parser *p, uint32_t at, int base, const char *what)
{
    uint32_t i = at + 2, limit = p->lex.end;
    i += i < limit && p->text[i] == '_';
    uint32_t end = digits_end(p, i, limit, base);
    if (end == i || is_digit(p->text[end])) {
        syntax_error(p, at, end + (end < limit), end == i ? "a digit of the %s number was expected" : "this is no digit of a %s number", what);
        return 0;
    }
    return number_checked(p, at, end, what);
}

static uint32_t number_end(parser *p, uint32_t at)
{
    const char *t = p->text;
    uint32_t limit = p->lex.end, i = at;
    char second = at + 1 < limit ? (char)(t[at + 1] | 0x20) : 0;
    if (t[at] == '0' && (second == 'x' || second == 'o' || second == 'b'))
        return prefixed_end(p, at, second == 'x' ? 16 : second == 'o' ? 8 : 2, second == 'x' ? "hexadecimal" : second == 'o' ? "octal" : "binary");
    bool whole = true;
    i = digits_end(p, i, limit, 10);
    uint32_t integer = i;
    if (i < limit && t[i] == '.') {
        whole = false;
        i++;
        if (i < limit && is_digit(t[i]))
            i = digits_end(p, i, limit, 10);
    }
    if (i < limit && (t[i] | 0x20) == 'e') {
        uint32_t digits = i + 1 + (i + 1 < limit && (t[i + 1] == '+' || t[i + 1] == '-'));
        if (digits < limit && is_digit(t[digits])) {
            whole = false;
            i = digits_end(p, digits, limit, 10);
        }
    }
    if (i < limit && (t[i] | 0x20) == 'j') {
        whole = false;
        i++;
    }
    for (uint32_t k = at; whole && t[at] == '0' && k < integer; k++)
        if (t[k] != '0' && t[k] != '_') {
            syntax_error(p, at, integer, "a decimal number does not start with 0; octal ones start with 0o");
            return 0;
        }
    return number_checked(p, at, i, "decimal");
}

/* ---- brackets ---- */

static char closing_of(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

static bool open_bracket(parser *p, uint32_t at)
{
    if (p->lex.nbrackets == BRACKETS_MOST)
        return syntax_error(p, at, at + 1, "brackets are nested deeper than %d", BRACKETS_MOST), false;
    p->brackets[p->lex.nbrackets++] = at;
    return true;
}

static bool close_bracket(parser *p, uint32_t at)
{
    char c = p->text[at];
    if (p->lex.nbrackets == p->lex.base)
        return syntax_error(p, at, at + 1, "'%c' closes nothing", c), false;
    uint32_t open = p->brackets[--p->lex.nbrackets];
    if (closing_of(p->text[open]) == c)
        return true;
    text_place here = place_find(p->text, p->tree->length, at), there = place_find(p->text, p->tree->length, open);
    if (here.line == there.line)
        return syntax_error(p, at, at + 1, "'%c' does not close '%c'", c, p->text[open]), false;
    return syntax_error(p, at, at + 1, "'%c' does not close '%c' of line %u", c, p->text[open], there.line), false;
}

/* ---- lines ---- */

static void token_set(parser *p, int kind, uint32_t at, uint32_t end)
{
    p->lex.now = (token){(uint8_t)kind, at, end};
    p->lex.at = end;
}

/* Measures the indentation of the next line that holds more than a comment; p->lex.at is then behind it. */
static indent measure(parser *p)
{
    const char *t = p->text;
    uint32_t i = p->lex.at, end = p->lex.end;
    indent in = {0}, first = {0};
    for (;;) {
        char c = i < end ? t[i] : 0;
        if (c == ' ') { in.column++; in.narrow++; }
        else if (c == '\t') { in.column = (in.column / 8 + 1) * 8; in.narrow++; }
        else if (c == '\f') in = (indent){0};
        else if (c == '\\' && i + 1 < end && t[i + 1] == '\n') { first = first.column ? first : in; i++; }
        else if (c == '\n') in = first = (indent){0};
        else if (c == '#') {
            while (i + 1 < end && t[i + 1] != '\n') i++;
        } else
            break;
        i++;
    }
    p->lex.at = i;
    if (i >= end)
        return (indent){0};
    return first.column ? first : in;
}

static void tab_error(parser *p)
{
    syntax_error_of(p, "TabError", p->lex.at, p->lex.at, "tabs and spaces are mixed so that the indentation depends on how wide a tab is");
}

/* Gives the INDENT or DEDENT that a line starts with; false: it has neither. */
static bool start_line(parser *p)
{
    p->lex.line_start = false;
    indent in = measure(p), top = p->indents[p->nindents];
    uint32_t at = p->lex.at;
    if (in.column == top.column) {
        if (in.narrow != top.narrow)
            tab_error(p);
        return p->failed;
    }
    if (in.column > top.column) {
        if (in.narrow <= top.narrow)
            tab_error(p);
        else if (p->nindents == INDENTS_MOST)
            syntax_error_of(p, "IndentationError", at, at, "blocks are nested deeper than %d", INDENTS_MOST);
        else {
            p->indents[++p->nindents] = in;
            token_set(p, TOKEN_INDENT, at, at);
        }
        return true;
    }
    while (p->nindents > 0 && in.column < p->indents[p->nindents].column) {
        p->nindents--;
        p->lex.pending++;
    }
    if (in.column != p->indents[p->nindents].column)
        syntax_error_of(p, "IndentationError", at, at, "this line is indented less than the block before it, but as no block around it");
    else if (in.narrow != p->indents[p->nindents].narrow)
        tab_error(p);
    else {
        p->lex.pending--;
        token_set(p, TOKEN_DEDENT, at, at);
    }
    return true;
}

/* ---- tokens ---- */

/* Moves to the next character that means something; false: an error. */
static bool skip_blanks(parser *p)
{
    const char *t = p->text;
    uint32_t end = p->lex.end, i = p->lex.at;
    for (; i < end; i++) {
        if (t[i] == ' ' || t[i] == '\t' || t[i] == '\f' || (t[i] == '\n' && p->lex.nbrackets))
            continue;
        if (t[i] == '#')
            while (i + 1 < end && t[i + 1] != '\n') i++;
        else if (t[i] == '\\') {
            if (i + 1 < end && t[i + 1] != '\n')
                return syntax_error(p, i, i + 1, "a backslash joins lines: nothing may follow it on its line"), false;
            if (i + 2 >= end) {
                p->fault->unfinished = true;
                return syntax_error(p, i, i + 1, "the text ends behind a backslash"), false;
            }
            i++;
        } else
            break;
    }
    p->lex.at = i;
    return true;
}

static void scan_end(parser *p)
{
    if (p->lex.nbrackets > p->lex.base) {
        uint32_t open = p->brackets[p->lex.nbrackets - 1];
        p->fault->unfinished = p->lex.end == p->tree->length;
        syntax_error(p, open, open + 1, "'%c' is never closed", p->text[open]);
    }
    token_set(p, TOKEN_END, p->lex.end, p->lex.end);
}

static void scan_word(parser *p, uint32_t at)
{
    uint32_t end = name_end(p, at, p->lex.end), n = end - at;
    int kind = TOKEN_NAME;
    for (int k = WORD_FALSE; k <= WORD_YIELD; k++)
        if (token_texts[k][0] == p->text[at] && strlen(token_texts[k]) == n && memcmp(token_texts[k], p->text + at, n) == 0)
            kind = k;
    token_set(p, kind, at, end);
}

static void scan_operator(parser *p, uint32_t at)
{
    uint32_t left = p->lex.end - at;
    const char *s = p->text + at;
    for (int k = SIGN_ASSIGN_POW; k < NTOKEN_KINDS; k++) {
        uint32_t n = (uint32_t)strlen(token_texts[k]);
        if (token_texts[k][0] != *s || n > left || memcmp(token_texts[k], s, n) != 0)
            continue;
        bool good = true;
        if (k == SIGN_OPEN || k == SIGN_OPEN_SQUARE || k == SIGN_OPEN_CURLY)
            good = open_bracket(p, at);
        if (k == SIGN_CLOSE || k == SIGN_CLOSE_SQUARE || k == SIGN_CLOSE_CURLY)
            good = close_bracket(p, at);
        if (good)
            token_set(p, k, at, at + n);
        return;
    }
    uint32_t code;
    size_t size = utf8_decode(s, left, &code);
    if (*s == '!')
        syntax_error(p, at, at + 1, "'!' is no operator; 'not' negates, '!=' compares");
    else if (size > 1)
        syntax_error(p, at, at + (uint32_t)size, "the character '%.*s' (U+%04X) has no meaning here", (int)size, s, code);
    else if (code < ' ' || code == 0x7F)
        syntax_error(p, at, at + 1, "the control character U+%04X has no meaning here", code);
    else
        syntax_error(p, at, at + 1, "the character '%c' has no meaning here", *s);
}

static void scan(parser *p)
{
    if (p->lex.pending > 0) {
        p->lex.pending--;
        token_set(p, TOKEN_DEDENT, p->lex.at, p->lex.at);
        return;
    }
    if ((p->lex.line_start && !p->lex.nbrackets && start_line(p)) || !skip_blanks(p))
        return;
    uint32_t at = p->lex.at, end = p->lex.end;
    const char *s = p->text + at;
    size_t size;
    if (at >= end)
        scan_end(p);
    else if (*s == '\n') {
        token_set(p, TOKEN_NEWLINE, at, at + 1);
        p->lex.line_start = true;
    } else if (string_head_of(p, at, end).is_string) {
        uint32_t to = string_end(p, at, end);
        if (to)
            token_set(p, TOKEN_STRING, at, to);
    } else if (is_name_start(s, end - at, &size))
        scan_word(p, at);
    else if (is_digit(*s) || (*s == '.' && at + 1 < end && is_digit(s[1]))) {
        uint32_t to = number_end(p, at);
        if (to)
            token_set(p, TOKEN_NUMBER, at, to);
    } else
        scan_operator(p, at);
}

void lexer_next(parser *p)
{
    p->lex.last_end = p->lex.now.end;
    if (!p->failed)
        scan(p);
    if (p->failed)
        p->lex.now.kind = TOKEN_END;
}

void lexer_start(parser *p)
{
    p->lex = (lexer){.end = (uint32_t)p->tree->length, .line_start = true};
    lexer_next(p);
}

token lexer_peek(parser *p)
{
    lexer saved = p->lex;
    lexer_next(p);
    token next = p->lex.now;
    if (!p->failed)
        p->lex = saved;
    return next;
}
