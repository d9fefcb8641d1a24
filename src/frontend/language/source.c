/* source.c: a program's text as the lexer wants it: checked UTF-8, lines that end in \n, no prompts.
 *
 * How it works: one pass copies line by line. Where the first line with code starts with ">>> ", the text is an example
 * copied from documentation: of a line with a prompt what stands behind it is kept, of every other line only its end, so
 * that line numbers stay what they are. "... " is a prompt where a line with a prompt stands directly above, with the same
 * indentation; otherwise it is output. Tokens must not be looked at here. */
#include "frontend/language/parser.h"
#include "frontend/place.h"

#include <string.h>

enum { PROMPT = 3 };

static size_t line_length(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && s[i] != '\n' && s[i] != '\r')
        i++;
    return i;
}

static size_t blanks(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\f'))
        i++;
    return i;
}

static bool prompt_at(const char *s, size_t n, const char *prompt)
{
    return n >= PROMPT && memcmp(s, prompt, PROMPT) == 0 && (n == PROMPT || s[PROMPT] == ' ');
}

/* Whether the first line that holds more than a comment starts with a prompt. */
static bool is_example(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t length = line_length(s + i, n - i), indent = blanks(s + i, length);
        if (indent < length && s[i + indent] != '#')
            return prompt_at(s + i + indent, length - indent, ">>>");
        i += length + 1;
    }
    return false;
}

/* An error in the text as it was given. */
static void complain(parser *p, const char *text, size_t length, size_t at, const char *sentence)
{
    p->tree->text = text;
    p->tree->length = length;
    syntax_error(p, (uint32_t)at, (uint32_t)at + 1, "%s", sentence);
    p->tree->text = "";
    p->tree->length = 0;
}

static bool is_clean(parser *p, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (s[i] == '\0') {
            complain(p, s, n, i, "the text holds a NUL byte");
            return false;
        }
        size_t size = utf8_decode(s + i, n - i, NULL);
        if (size == 0) {
            complain(p, s, n, i, "the text is not UTF-8: this byte belongs to no character");
            return false;
        }
        i += size;
    }
    return true;
}

void source_prepare(parser *p, const char *text, size_t length)
{
    static const char mark[] = "\xEF\xBB\xBF";
    p->tree->text = p->text = "";
    if (length > p->limits.bytes) {
        syntax_error(p, 0, 0, "the text is longer than %zu bytes", p->limits.bytes);
        return;
    }
    if (length >= 3 && memcmp(text, mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (!is_clean(p, text, length))
        return;
    char *out = arena_alloc(&p->tree->memory, length + 2);
    if (!out) {
        parse_memory(p);
        return;
    }
    bool example = is_example(text, length), above = false;
    size_t n = 0, indented = 0;
    for (size_t i = 0; i < length;) {
        size_t all = line_length(text + i, length - i), skip = 0;
        if (example) {
            size_t indent = blanks(text + i, all);
            bool first = prompt_at(text + i + indent, all - indent, ">>>");
            above = first || (above && indent == indented && prompt_at(text + i + indent, all - indent, "..."));
            indented = indent;
            skip = above ? indent + PROMPT + (all > indent + PROMPT) : all;
        }
        memcpy(out + n, text + i + skip, all - skip);
        n += all - skip;
        out[n++] = '\n';
        i += all;
        i += i + 1 < length && text[i] == '\r' && text[i + 1] == '\n' ? 2 : 1;
    }
    out[n] = '\0';
    p->tree->text = p->text = out;
    p->tree->length = n;
}
