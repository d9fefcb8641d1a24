/* table_read.c: tables of numbers in text: CSV and its relatives.
 *
 * How it works: the file is read whole. A first pass settles the delimiter, the columns, their names and the dtype, and
 * finds every mistake; a second one fills the caller's memory. Both are linear and allocate nothing a row. Blank lines and
 * what follows a # are skipped, as np.loadtxt does. Columns of words are not numbers and are refused. */
#include "frontend/files/internal.h"
#include "frontend/print/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SAMPLE_LINES = 32, SHOWN = 40 };

/* ---- rows and fields ---- */

typedef struct cursor {
    const char *at, *end;
    int64_t line;           /* from 1 */
    char delimiter;
} cursor;

typedef struct field {
    const char *at, *end;   /* without spaces around it and without its quotes */
    bool quoted;            /* a doubled quote inside stands for one */
} field;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool ends_line(const cursor *c)
{
    return c->at == c->end || *c->at == '\n' || *c->at == '\r';
}

static void skip_line(cursor *c)
{
    while (!ends_line(c))
        c->at++;
    if (c->at < c->end && *c->at++ == '\r' && c->at < c->end && *c->at == '\n')
        c->at++;
    c->line++;
}

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && is_blank(*c->at) && *c->at != c->delimiter)
        c->at++;
}

/* To the start of the next row, past blank lines and comments. False at the end. */
static bool next_row(cursor *c)
{
    while (c->at < c->end) {
        const char *start = c->at;
        while (c->at < c->end && is_blank(*c->at))
            c->at++;
        if (!ends_line(c) && *c->at != '#') {
            c->at = start;
            return true;
        }
        /* tabs between missing values are a row all the same */
        if (c->delimiter == '\t' && memchr(start, '\t', (size_t)(c->at - start)) && ends_line(c)) {
            c->at = start;
            return true;
        }
        skip_line(c);
    }
    return false;
}

/* Whether the field has ended here: at a delimiter, a comment or the line's end. */
static bool ends_field(const cursor *c)
{
    return ends_line(c) || *c->at == '#' || (c->delimiter == ' ' ? is_blank(*c->at) : *c->at == c->delimiter);
}

/* Takes a field and what ends it; *more tells whether the row goes on. False: something follows a closing quote, or there
 * is none. */
static bool next_field(cursor *c, field *f, bool *more)
{
    if (c->delimiter == ' ')
        while (c->at < c->end && is_blank(*c->at))
            c->at++;
    skip_blanks(c);
    f->quoted = c->at < c->end && *c->at == '"';
    if (f->quoted) {
        f->at = ++c->at;
        for (; c->at < c->end; c->at++) {
            c->line += *c->at == '\n';
            if (*c->at == '"' && (c->at + 1 == c->end || c->at[1] != '"'))
                break;
            c->at += *c->at == '"';
        }
        if (c->at == c->end)
            return false;
        f->end = c->at++;
        skip_blanks(c);
        if (!ends_field(c))
            return false;
    } else {
        f->at = c->at;
        while (!ends_field(c))
            c->at++;
        f->end = c->at;
        while (f->end > f->at && is_blank(f->end[-1]))
            f->end--;
    }
    if (c->delimiter == ' ')
        while (c->at < c->end && is_blank(*c->at))
            c->at++;
    *more = !ends_line(c) && *c->at != '#';
    if (!*more)
        skip_line(c);
    else if (c->delimiter != ' ')
        c->at++;
    return true;
}

/* ---- values ---- */

typedef enum { VALUE_MISSING, VALUE_INT, VALUE_FLOAT, VALUE_COMPLEX, VALUE_NONE } value_kind;
typedef struct value {
    int64_t i;
    double re, im;
} value;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Takes the word when [*s, end) starts with it, in whatever case. */
static bool take_word(const char **s, const char *end, const char *word)
{
    const char *p = *s;
    for (; *word; word++, p++)
        if (p == end || lower(*p) != *word)
            return false;
    *s = p;
    return true;
}

/* A sign, then digits, inf or nan. *whole: digits alone, which fit into v->i. */
static bool take_real(const char **s, const char *end, double *x, int64_t *i, bool *whole)
{
    const char *p = *s;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    *whole = false;
    if (take_word(&p, end, "infinity") || take_word(&p, end, "inf")) {
        *x = INFINITY;
    } else if (take_word(&p, end, "nan")) {
        *x = NAN;
    } else {
        const char *digits = p;
        int64_t n = 0;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (n == INT64_MIN || mul_overflows(n, 10, &n) || add_overflows(n, -(*p - '0'), &n))
                break; /* counted downwards, so that the smallest int64 fits */
        *whole = p > digits && p == end && (negative || n != INT64_MIN);
        *i = negative || n == INT64_MIN ? n : -n;
        p = decimal_read(digits, end, x);
        if (!p)
            return false;
    }
    if (negative)
        *x = -*x;
    *s = p;
    return true;
}

static value_kind read_value(const field *f, value *v)
{
    static const char *const missing[] = {"", "nan", "na", "n/a", "null", "none"};
    const char *s = f->at, *end = f->end;
    while (s < end && is_blank(*s)) /* within quotes */
        s++;
    while (end > s && is_blank(end[-1]))
        end--;
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        const char *p = s;
        if (take_word(&p, end, missing[i]) && p == end) {
            v->re = NAN;
            v->im = 0;
            return VALUE_MISSING;
        }
    }
    if (*s == '(' && end[-1] == ')' && end - s > 2) {
        s++;
        end--;
    }
    bool whole, part;
    int64_t unused;
    double first, second;
    if (!take_real(&s, end, &first, &v->i, &whole))
        return VALUE_NONE;
    *v = (value){.i = v->i, .re = first};
    if (s == end)
        return whole ? VALUE_INT : VALUE_FLOAT;
    if (lower(*s) == 'j' && s + 1 == end) {
        *v = (value){.im = first};
        return VALUE_COMPLEX;
    }
    if ((*s != '+' && *s != '-') || !take_real(&s, end, &second, &unused, &part) || end - s != 1 || lower(*s) != 'j')
        return VALUE_NONE;
    v->im = second;
    return VALUE_COMPLEX;
}

/* ---- the delimiter ---- */

/* How often the candidates stand in a line, outside quotes. */
static void count_candidates(cursor *c, const char *candidates, int n, int64_t count[])
{
    bool quoted = false;
    memset(count, 0, (size_t)n * sizeof *count);
    for (; c->at < c->end && (quoted || (!ends_line(c) && *c->at != '#')); c->at++) {
        quoted ^= *c->at == '"';
        for (int i = 0; i < n && !quoted; i++)
            count[i] += *c->at == candidates[i];
    }
    skip_line(c);
}

/* The first candidate that every one of the first lines has equally often, else the ; or comma that the first line has,
 * else spaces and tabs. A ; comes before a comma, which may be a decimal comma there. */
static char guess_delimiter(cursor c)
{
    static const char candidates[] = "\t;,";
    enum { N = sizeof candidates - 1 };
    int64_t first[N] = {0}, here[N];
    bool same[N] = {true, true, true};
    for (int line = 0; line < SAMPLE_LINES && next_row(&c); line++) {
        count_candidates(&c, candidates, N, line == 0 ? first : here);
        for (int i = 0; i < N && line > 0; i++)
            same[i] = same[i] && here[i] == first[i];
    }
    for (int i = 0; i < N; i++)
        if (same[i] && first[i] > 0)
            return candidates[i];
    for (int i = 1; i < N; i++)
        if (first[i] > 0)
            return candidates[i];
    return ' ';
}

/* ---- opening ---- */

static kn_status not_a_number(const table *t, const cursor *c, int64_t line, int64_t column, const field *f, message *m)
{
    int shown = f->end - f->at < SHOWN ? (int)(f->end - f->at) : SHOWN;
    bool comma = c->delimiter != ',' && memchr(f->at, ',', (size_t)(f->end - f->at)) != NULL;
    return input_fail(t->in, KN_VALUE_ERROR, m, "line %" PRId64 ", column %" PRId64 ": '%.*s' is not a number%s", line, column, shown, f->at,
                      comma ? " (numbers are read with a decimal point)" : "");
}

static kn_status bad_quote(const table *t, int64_t line, message *m)
{
    return input_fail(t->in, KN_VALUE_ERROR, m, "line %" PRId64 ": a quote is not closed where its value ends", line);
}

static char *unquoted(const field *f)
{
    char *name = mem_alloc((size_t)(f->end - f->at) + 1), *to = name;
    if (!name)
        return NULL;
    for (const char *p = f->at; p < f->end; p++) {
        *to++ = *p;
        p += f->quoted && *p == '"';
    }
    *to = 0;
    return name;
}

/* Takes the first row as the columns' names. */
static kn_status take_names(table *t, cursor *c, message *m)
{
    bool more = true;
    int64_t room = 0;
    while (more) {
        field f;
        if (!next_field(c, &f, &more))
            return bad_quote(t, c->line, m);
        if (t->columns == room) {
            room = room ? 2 * room : 16;
            char **names = mem_grow(t->names, (size_t)room, sizeof *names);
            if (!names)
                return fail_memory(m, "reading a table");
            t->names = names;
        }
        t->names[t->columns] = unquoted(&f);
        if (!t->names[t->columns])
            return fail_memory(m, "reading a table");
        t->columns++;
    }
    return KN_OK;
}

/* Whether the first row holds words. Dates and numbers that cannot be read are none: they are to be refused, not to become
 * names. */
static bool row_has_words(cursor c)
{
    static const char numeric[] = "0123456789+-.,:/ ";
    field f;
    value v;
    for (bool more = true; more && next_field(&c, &f, &more);) {
        if (read_value(&f, &v) != VALUE_NONE)
            continue;
        for (const char *p = f.at; p < f.end; p++)
            if (!memchr(numeric, *p, sizeof numeric - 1))
                return true;
    }
    return false;
}

/* Goes through all rows: counts them, checks them, and finds the dtype that holds them. */
static kn_status survey(table *t, cursor c, int64_t first_line, message *m)
{
    value_kind widest = VALUE_INT;
    for (; next_row(&c); t->rows++) {
        int64_t line = c.line, column = 0;
        for (bool more = true; more;) {
            field f;
            value v;
            if (!next_field(&c, &f, &more))
                return bad_quote(t, line, m);
            column++;
            value_kind kind = read_value(&f, &v);
            if (kind == VALUE_NONE)
                return not_a_number(t, &c, line, column, &f, m);
            if (kind == VALUE_MISSING)
                kind = VALUE_FLOAT;
            widest = kind > widest ? kind : widest;
        }
        if (t->columns == 0) {
            t->columns = column;
            first_line = line;
        }
        if (column != t->columns)
            return input_fail(t->in, KN_VALUE_ERROR, m, "line %" PRId64 " has %" PRId64 " values where line %" PRId64 " has %" PRId64, line,
                              column, first_line, t->columns);
    }
    t->dtype = widest == VALUE_COMPLEX ? KN_COMPLEX128 : widest == VALUE_FLOAT || t->rows == 0 ? KN_FLOAT64 : KN_INT64;
    return KN_OK;
}

static kn_status load_text(table *t, message *m)
{
    if (t->in->size >= INT64_MAX - 1)
        return fail_memory(m, "reading a table");
    t->length = (size_t)t->in->size;
    t->text = mem_alloc(t->length + 1);
    if (!t->text)
        return fail_memory(m, "reading a table");
    kn_status status = input_read(t->in, 0, t->text, t->length, m);
    if (status != KN_OK)
        return status;
    t->text[t->length] = 0;
    if (t->length >= 2 && (memcmp(t->text, "\xff\xfe", 2) == 0 || memcmp(t->text, "\xfe\xff", 2) == 0))
        return input_fail(t->in, KN_VALUE_ERROR, m, "it is UTF-16 text; save it as UTF-8");
    if (memchr(t->text, 0, t->length))
        return input_fail(t->in, KN_VALUE_ERROR, m, "it holds zero bytes, so it is no text");
    return KN_OK;
}

kn_status table_open(const input *in, const table_options *options, table *t, message *m)
{
    static const table_options plain = {.delimiter = 0};
    options = options ? options : &plain;
    *t = (table){.in = in};
    kn_status status = load_text(t, m);
    if (status == KN_OK) {
        size_t mark = t->length >= 3 && memcmp(t->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        cursor c = {.at = t->text + mark, .end = t->text + t->length, .line = 1, .delimiter = ' '};
        c.delimiter = options->delimiter ? options->delimiter : guess_delimiter(c);
        t->delimiter = c.delimiter;
        bool any = next_row(&c);
        int64_t first_line = c.line;
        if (!any)
            status = input_fail(in, KN_VALUE_ERROR, m, "it has no rows");
        else if (options->header == HEADER_YES || (options->header == HEADER_GUESS && row_has_words(c)))
            status = take_names(t, &c, m);
        t->start = (size_t)(c.at - t->text);
        t->start_line = c.line;
        if (status == KN_OK)
            status = survey(t, c, first_line, m);
    }
    if (status != KN_OK)
        table_close(t);
    return status;
}

void table_close(table *t)
{
    for (int64_t i = 0; t->names && i < t->columns; i++)
        mem_free(t->names[i]);
    mem_free(t->names);
    mem_free(t->text);
    t->names = NULL;
    t->text = NULL;
}

/* ---- filling ---- */

kn_status table_fill(const table *t, void *to, message *m)
{
    cursor c = {.at = t->text + t->start, .end = t->text + t->length, .line = t->start_line, .delimiter = t->delimiter};
    char *p = to;
    size_t size = dtype_size(t->dtype);
    while (next_row(&c))
        for (bool more = true; more; p += size) {
            field f;
            value v;
            if (!next_field(&c, &f, &more))
                return bad_quote(t, c.line, m);
            read_value(&f, &v);
            if (t->dtype == KN_INT64)
                memcpy(p, &v.i, sizeof v.i);
            else
                memcpy(p, &v.re, size); /* re, and im behind it */
        }
    return KN_OK;
}
