/* npy_header.c: the header of an .npy file, read and written.
 *
 * How it works: a header is the text of a Python dictionary with three keys. A small parser of Python's literals reads it,
 * with a limit on how deep they nest; what it does not expect is refused with the place. Elements belong to npy.c. */
#include "frontend/files/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, DEPTH_MAX = 32, ALIGNMENT = 64, GROWTH_DIGITS = 21 };

/* ---- Python literals ---- */

typedef enum { LITERAL_STRING, LITERAL_INT, LITERAL_TRUE, LITERAL_FALSE, LITERAL_NONE, LITERAL_TUPLE, LITERAL_LIST, LITERAL_DICT } literal_kind;
typedef struct literal {
    literal_kind kind;
    const char *start, *end;   /* a string's are those between its quotes */
} literal;

typedef struct parser {
    const char *begin, *at, *end;
    const input *in;
    message *m;
} parser;

static kn_status expected(const parser *p, const char *what)
{
    return input_fail(p->in, KN_VALUE_ERROR, p->m, "its header is not the text of a dictionary: %s expected at character %td", what,
                      p->at - p->begin + 1);
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r' || *p->at == '\f'))
        p->at++;
}

/* Skips spaces, then takes c when it comes next. */
static bool take(parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static kn_status parse_string(parser *p, literal *l)
{
    char quote = *p->at++;
    l->kind = LITERAL_STRING;
    l->start = p->at;
    for (; p->at < p->end && *p->at != quote && *p->at != '\n'; p->at++)
        if (*p->at == '\\' && p->at + 1 < p->end)
            p->at++;
    if (p->at == p->end || *p->at != quote)
        return expected(p, "the end of a string");
    l->end = p->at++;
    return KN_OK;
}

static kn_status parse_name(parser *p, literal *l)
{
    static const struct { const char *name; literal_kind kind; } names[] = {
        {"True", LITERAL_TRUE}, {"False", LITERAL_FALSE}, {"None", LITERAL_NONE}};
    l->start = p->at;
    while (p->at < p->end && is_letter(*p->at))
        p->at++;
    l->end = p->at;
    size_t n = (size_t)(l->end - l->start);
    /* b'', u'' and r'' as Python 2 and other writers have them */
    if (n <= 2 && p->at < p->end && (*p->at == '\'' || *p->at == '"'))
        return parse_string(p, l);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n == strlen(names[i].name) && memcmp(l->start, names[i].name, n) == 0) {
            l->kind = names[i].kind;
            return KN_OK;
        }
    p->at = l->start;
    return expected(p, "a value");
}

static kn_status parse_int(parser *p, literal *l)
{
    l->kind = LITERAL_INT;
    l->start = p->at;
    if (*p->at == '-' || *p->at == '+')
        p->at++;
    const char *digits = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    if (p->at == digits)
        return expected(p, "a digit");
    if (*digits == '0' && p->at - digits > 1) { /* Python 2's octal */
        p->at = digits;
        return expected(p, "an integer without leading zeros");
    }
    l->end = p->at;
    if (p->at < p->end && (*p->at == 'L' || *p->at == 'l')) /* Python 2's long */
        p->at++;
    return KN_OK;
}

static kn_status parse_value(parser *p, literal *l, int depth);

/* The values of a tuple, list or dictionary up to its closing bracket. One value in parentheses without a comma is that
 * value. */
static kn_status parse_group(parser *p, literal *l, int depth, char close)
{
    literal item;
    bool comma = true, any = false;
    const char *start = p->at;
    while (!take(p, close)) {
        if (!comma)
            return expected(p, close == '}' ? "a , or }" : close == ']' ? "a , or ]" : "a , or )");
        kn_status status = parse_value(p, &item, depth + 1);
        if (status == KN_OK && close == '}')
            status = take(p, ':') ? parse_value(p, &(literal){0}, depth + 1) : expected(p, "a :");
        if (status != KN_OK)
            return status;
        comma = take(p, ',');
        if (!comma && !any && close == ')' && take(p, ')')) {
            *l = item;
            return KN_OK;
        }
        any = true;
    }
    *l = (literal){.kind = close == ')' ? LITERAL_TUPLE : close == ']' ? LITERAL_LIST : LITERAL_DICT, .start = start, .end = p->at};
    return KN_OK;
}

static kn_status parse_value(parser *p, literal *l, int depth)
{
    skip_space(p);
    if (depth > DEPTH_MAX)
        return input_fail(p->in, KN_VALUE_ERROR, p->m, "its header nests values deeper than %d", DEPTH_MAX);
    if (p->at == p->end)
        return expected(p, "a value");
    char c = *p->at;
    if (c == '\'' || c == '"')
        return parse_string(p, l);
    if (c == '(' || c == '[' || c == '{') {
        p->at++;
        return parse_group(p, l, depth, c == '(' ? ')' : c == '[' ? ']' : '}');
    }
    return c == '-' || c == '+' || (c >= '0' && c <= '9') ? parse_int(p, l) : parse_name(p, l);
}

/* ---- what the three keys mean ---- */

/* Why a dtype that NumPy can write is not read; NULL when it is not known at all. */
static const char *refused_kind(char kind)
{
    switch (kind) {
    case 'O': return "Python objects";
    case 'S': case 'a': case 'U': case 'T': return "strings";
    case 'M': case 'm': return "dates or times";
    case 'V': return "raw bytes";
    case 'f': return "long double floats";
    case 'c': return "long double complex numbers";
    default: return NULL;
    }
}

static char native_order(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1 ? '<' : '>';
}

static bool is_order(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '|';
}

static kn_status read_descr(const parser *p, const literal *l, npy_header *h)
{
    if (l->kind == LITERAL_LIST || l->kind == LITERAL_TUPLE || l->kind == LITERAL_DICT)
        return input_fail(p->in, KN_TYPE_ERROR, p->m, "its elements are structures; only arrays of one plain dtype are read");
    if (l->kind != LITERAL_STRING)
        return input_fail(p->in, KN_VALUE_ERROR, p->m, "descr in its header is not a string");
    const char *s = l->start;
    size_t n = (size_t)(l->end - s);
    char order = n > 0 && is_order(*s) ? *s : '=';
    if (n > 0 && is_order(*s)) {
        s++;
        n--;
    }
    /* bfloat16 has no letter of NumPy's own: ml_dtypes writes it as two raw bytes. */
    h->array.dtype = n == 2 && memcmp(s, "V2", 2) == 0 ? KN_BFLOAT16
        : n > 0 && is_order(*s) ? KN_DTYPE_UNSET : dtype_named(s, n);
    if (h->array.dtype == KN_DTYPE_UNSET) {
        const char *kind = n > 0 ? refused_kind(*s) : NULL;
        int shown = n < 40 ? (int)n : 40;
        if (kind)
            return input_fail(p->in, KN_TYPE_ERROR, p->m, "its elements are %s (dtype '%.*s'), which Kiln does not have", kind, shown, s);
        return input_fail(p->in, KN_TYPE_ERROR, p->m, "its dtype '%.*s' is not known", shown, s);
    }
    h->swapped = dtype_size(dtype_table[h->array.dtype].part) > 1 && (order == '<' || order == '>') && order != native_order();
    return KN_OK;
}

static kn_status read_dimension(const parser *p, const literal *l, int64_t *dimension)
{
    int64_t n = 0;
    if (l->kind != LITERAL_INT)
        return input_fail(p->in, KN_VALUE_ERROR, p->m, "shape in its header is not a tuple of integers");
    const char *s = l->start + (*l->start == '-' || *l->start == '+');
    for (; s < l->end; s++)
        if (mul_overflows(n, 10, &n) || add_overflows(n, *s - '0', &n))
            return input_fail(p->in, KN_VALUE_ERROR, p->m, "a dimension in its header is larger than any array");
    if (*l->start == '-' && n > 0)
        return input_fail(p->in, KN_VALUE_ERROR, p->m, "dimension -%" PRId64 " in its header is negative", n);
    *dimension = n;
    return KN_OK;
}

static kn_status read_shape(const parser *p, const literal *l, array_header *h)
{
    if (l->kind != LITERAL_TUPLE)
        return input_fail(p->in, KN_VALUE_ERROR, p->m, "shape in its header is not a tuple");
    parser inside = *p;
    inside.at = l->start;
    inside.end = l->end - 1; /* without the closing bracket */
    skip_space(&inside);
    while (inside.at < inside.end) {
        literal item;
        if (h->ndim == NDIM_MAX)
            return input_fail(p->in, KN_VALUE_ERROR, p->m, "its array has more than %d dimensions", NDIM_MAX);
        kn_status status = parse_value(&inside, &item, 1);
        if (status == KN_OK)
            status = read_dimension(p, &item, &h->shape[h->ndim]);
        if (status != KN_OK)
            return status;
        h->ndim++;
        take(&inside, ',');
        skip_space(&inside);
    }
    return KN_OK;
}

/* count and bytes; a dimension of zero makes both zero, but the others must still make an array. */
static kn_status read_size(const parser *p, array_header *h)
{
    int64_t bytes = (int64_t)dtype_size(h->dtype);
    bool empty = false;
    for (int axis = 0; axis < h->ndim; axis++) {
        empty |= h->shape[axis] == 0;
        if (h->shape[axis] != 0 && mul_overflows(bytes, h->shape[axis], &bytes))
            return input_fail(p->in, KN_VALUE_ERROR, p->m, "the shape in its header is larger than any array");
    }
    h->bytes = empty ? 0 : bytes;
    h->count = h->bytes / (int64_t)dtype_size(h->dtype);
    return KN_OK;
}

static kn_status parse_header(parser *p, npy_header *h)
{
    static const char *const names[] = {"descr", "fortran_order", "shape"};
    enum { DESCR, ORDER, SHAPE, KEYS };
    literal value[KEYS];
    bool have[KEYS] = {false};
    if (!take(p, '{'))
        return input_fail(p->in, KN_VALUE_ERROR, p->m, "its header is not a dictionary");
    for (bool comma = true; !take(p, '}'); comma = take(p, ',')) {
        literal key, v;
        if (!comma)
            return expected(p, "a , or }");
        kn_status status = parse_value(p, &key, 1);
        if (status == KN_OK)
            status = take(p, ':') ? parse_value(p, &v, 1) : expected(p, "a :");
        if (status != KN_OK)
            return status;
        int i = 0;
        size_t n = (size_t)(key.end - key.start);
        while (i < KEYS && (key.kind != LITERAL_STRING || n != strlen(names[i]) || memcmp(key.start, names[i], n) != 0))
            i++;
        if (i == KEYS)
            return input_fail(p->in, KN_VALUE_ERROR, p->m, "its header has a key other than descr, fortran_order and shape");
        if (have[i])
            return input_fail(p->in, KN_VALUE_ERROR, p->m, "its header has the key %s twice", names[i]);
        have[i] = true;
        value[i] = v;
    }
    skip_space(p);
    if (p->at < p->end)
        return expected(p, "the header's end");
    for (int i = 0; i < KEYS; i++)
        if (!have[i])
            return input_fail(p->in, KN_VALUE_ERROR, p->m, "its header lacks the key %s", names[i]);
    if (value[ORDER].kind != LITERAL_TRUE && value[ORDER].kind != LITERAL_FALSE)
        return input_fail(p->in, KN_VALUE_ERROR, p->m, "fortran_order in its header is neither True nor False");
    h->array.fortran = value[ORDER].kind == LITERAL_TRUE;
    kn_status status = read_descr(p, &value[DESCR], h);
    if (status == KN_OK)
        status = read_shape(p, &value[SHAPE], &h->array);
    return status == KN_OK ? read_size(p, &h->array) : status;
}

/* ---- the file's beginning ---- */

static kn_status take_length(byte_stream *s, size_t *length, message *m)
{
    unsigned char start[MAGIC + 2], size[4];
    if (s->left < (int64_t)sizeof start)
        return input_fail(s->in, KN_VALUE_ERROR, m, "it is too short for an .npy file");
    kn_status status = s->take(s, start, sizeof start, m);
    if (status != KN_OK)
        return status;
    if (memcmp(start, magic, MAGIC) != 0)
        return input_fail(s->in, KN_VALUE_ERROR, m, "it does not start as an .npy file does");
    int major = start[MAGIC], minor = start[MAGIC + 1];
    if (major < 1 || major > 3 || minor != 0)
        return input_fail(s->in, KN_VALUE_ERROR, m, "its format version is %d.%d; versions 1.0, 2.0 and 3.0 are read", major, minor);
    size_t width = major == 1 ? 2 : 4;
    status = s->take(s, size, width, m);
    if (status != KN_OK)
        return status;
    uint32_t n = (uint32_t)size[0] | (uint32_t)size[1] << 8;
    if (width == 4)
        n |= (uint32_t)size[2] << 16 | (uint32_t)size[3] << 24;
    if (n > NPY_HEADER_MAX)
        return input_fail(s->in, KN_VALUE_ERROR, m, "its header has %" PRIu32 " bytes; at most %d are read", n, NPY_HEADER_MAX);
    if ((int64_t)n > s->left)
        return input_fail(s->in, KN_VALUE_ERROR, m, "it ends within its header");
    *length = n;
    return KN_OK;
}

kn_status npy_header_take(byte_stream *s, npy_header *h, message *m)
{
    size_t length = 0;
    *h = (npy_header){.swapped = false};
    kn_status status = take_length(s, &length, m);
    if (status != KN_OK)
        return status;
    char *header = mem_alloc(length);
    if (!header)
        return fail_memory(m, "reading the header of an .npy file");
    status = s->take(s, header, length, m);
    if (status == KN_OK) {
        parser p = {.begin = header, .at = header, .end = header + length, .in = s->in, .m = m};
        status = parse_header(&p, h);
    }
    mem_free(header);
    if (status == KN_OK && h->array.bytes > s->left)
        status = input_fail(s->in, KN_VALUE_ERROR, m, "it ends early: its array needs %" PRId64 " bytes, and %" PRId64 " are there",
                            h->array.bytes, s->left);
    return status;
}

/* ---- writing ---- */

static const char *descr_of(kn_dtype t, char out[8])
{
    char order = dtype_size(t) == 1 ? '|' : native_order();
    static const char kinds[] = {[KIND_BOOL] = 'b', [KIND_INT] = 'i', [KIND_UINT] = 'u', [KIND_FLOAT] = 'f', [KIND_COMPLEX] = 'c'};
    snprintf(out, 8, "%c%c%d", order, t == KN_BFLOAT16 ? 'V' : kinds[dtype_table[t].kind], (int)dtype_size(t));
    return out;
}

size_t npy_header_format(kn_dtype dtype, bool fortran, int ndim, const int64_t *shape, char out[NPY_WRITTEN_MAX])
{
    enum { PREFIX = MAGIC + 4 };
    char descr[8], number[24];
    char *p = out + PREFIX, *end = out + NPY_WRITTEN_MAX;
    p += snprintf(p, (size_t)(end - p), "{'descr': '%s', 'fortran_order': %s, 'shape': (", descr_of(dtype, descr), fortran ? "True" : "False");
    for (int axis = 0; axis < ndim; axis++)
        p += snprintf(p, (size_t)(end - p), axis ? ", %" PRId64 : "%" PRId64, shape[axis]);
    p += snprintf(p, (size_t)(end - p), ndim == 1 ? ",), }" : "), }");
    /* Room for the axis that grows when data are appended to the file, then up to a multiple of 64 with the line's end. */
    if (ndim > 0) {
        int digits = snprintf(number, sizeof number, "%" PRId64, shape[fortran ? ndim - 1 : 0]);
        for (; digits < GROWTH_DIGITS; digits++)
            *p++ = ' ';
    }
    size_t used = (size_t)(p - out) + 1, padding = ALIGNMENT - used % ALIGNMENT;
    memset(p, ' ', padding);
    p += padding;
    *p++ = '\n';
    size_t length = (size_t)(p - out) - PREFIX;
    memcpy(out, magic, MAGIC);
    out[MAGIC] = 1;
    out[MAGIC + 1] = 0;
    out[MAGIC + 2] = (char)(length & 255);
    out[MAGIC + 3] = (char)(length >> 8);
    return (size_t)(p - out);
}
