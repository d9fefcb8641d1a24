/* index_text.c: the text between the brackets of a[...]: "i:, 1:-1", "..., None", "mask", "[0, 2], n//2".
 *
 * How it works: a recursive-descent parser over the text with one term a value: a number, folded as it is read, or an
 * array, on which the operators record ufuncs. Names are those that the call passes along. What an index selects must not
 * be decided here. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/place.h"
#include "runtime/runtime.h"

#define MOST_TEXT 16384u
#define MOST_DEPTH 64

typedef struct term { node *array; scalar number; } term;     /* array NULL: the number */

typedef struct parser {
    const char *text; size_t at, end;
    const kn_named *names; size_t nnames;
    const char *what;
    int depth;
    message *m;
} parser;

static bool parse_expression(parser *p, int level, term *out);

/* ---- errors with a place ---- */

static bool complain(parser *p, size_t at, kn_status status, const char *sentence) {
    char shown[PLACE_SHOWN];
    place_show(p->text, p->end, at, at + 1, shown);
    fail(p->m, status, "%s: %s (column %u)\n%s", p->what, sentence, place_find(p->text, p->end, at).column, shown);
    return false;
}

/* Gives a failure of the graph the place in the text. */
static bool complain_of(parser *p, size_t at, const message *why) { return complain(p, at, why->status, why->text); }

static void drop(term *t) {
    node_drop(t->array);
    t->array = NULL;
}

/* ---- characters and words ---- */

static void skip(parser *p) { while (p->at < p->end && (p->text[p->at] == ' ' || p->text[p->at] == '\t' || p->text[p->at] == '\n')) p->at++; }
static char look(parser *p) { skip(p); return p->at < p->end ? p->text[p->at] : 0; }
static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 128; }
static bool digit(char c) { return c >= '0' && c <= '9'; }

/* The length of the word here, 0: none. */
static size_t word(parser *p) {
    skip(p);
    size_t n = 0;
    while (p->at + n < p->end && (letter(p->text[p->at + n]) || (n && (digit(p->text[p->at + n]) || p->text[p->at + n] == '.')))) n++;
    return n;
}

static bool is_word(parser *p, const char *name) {
    size_t n = word(p);
    return n == strlen(name) && !memcmp(p->text + p->at, name, n);
}

static bool take_word(parser *p, const char *name) {
    if (!is_word(p, name)) return false;
    p->at += strlen(name);
    return true;
}

static bool take(parser *p, char c) {
    if (look(p) != c) return false;
    p->at++;
    return true;
}

/* ---- numbers and names ---- */

static int digit_value(char c) { return digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99; }

static bool parse_float(parser *p, size_t start, term *out) {
    char digits[64];
    size_t n = 0;
    while (p->at < p->end && (digit(p->text[p->at]) || p->text[p->at] == '.' || p->text[p->at] == '_' ||
                              ((p->text[p->at] | 32) == 'e') || ((p->text[p->at] == '-' || p->text[p->at] == '+') && (p->text[p->at - 1] | 32) == 'e'))) {
        if (n + 1 < sizeof digits && p->text[p->at] != '_') digits[n++] = p->text[p->at];
        p->at++;
    }
    digits[n] = 0;
    double v;
    int used = 0;
    if (sscanf(digits, "%lf%n", &v, &used) != 1 || (size_t)used != n) return complain(p, start, KN_SYNTAX_ERROR, "this is not a number");
    out->number = (scalar){ SCALAR_FLOAT, { .f = v } };
    return true;
}

static bool parse_number(parser *p, term *out) {
    size_t start = p->at;
    int base = 10;
    if (p->text[p->at] == '0' && p->at + 1 < p->end) {
        char c = (char)(p->text[p->at + 1] | 32);
        base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
        if (base != 10) p->at += 2;
    }
    int64_t v = 0;
    size_t digits = 0;
    for (; p->at < p->end; p->at++) {
        char c = p->text[p->at];
        if (c == '_' && digits) continue;
        if (digit_value(c) >= base) break;
        digits++;
        if (mul_overflows(v, base, &v) || add_overflows(v, digit_value(c), &v)) return complain(p, start, KN_OVERFLOW_ERROR, "this number is too large for an index");
    }
    char next = p->at < p->end ? p->text[p->at] : 0;
    if (base == 10 && ((next == '.' && !(p->at + 1 < p->end && p->text[p->at + 1] == '.')) || (next | 32) == 'e')) {
        p->at = start;
        return parse_float(p, start, out);
    }
    if (!digits || letter(next)) return complain(p, start, KN_SYNTAX_ERROR, "this is not a number");
    out->number = (scalar){ SCALAR_INT, { .i = v } };
    return true;
}

static bool parse_name(parser *p, size_t n, term *out) {
    size_t start = p->at;
    p->at += n;
    for (size_t i = 0; i < p->nnames; i++) {
        const char *name = p->names[i].name;
        if (!name || strlen(name) != n || memcmp(name, p->text + start, n)) continue;
        slot *s = array_operand(p->names[i].value, p->what, p->m);
        if (!s) return false;
        if (s->kind == SLOT_NUMBER) { out->number = s->u.number; return true; }
        return (out->array = slot_node(s, p->m)) != NULL;
    }
    char sentence[160];
    snprintf(sentence, sizeof sentence, "name '%.*s' is not defined; pass the variable after the index text", (int)(n < 80 ? n : 80), p->text + start);
    return complain(p, start, KN_NAME_ERROR, sentence);
}

/* ---- lists: [0, 2, 5], [[0], [1]], [True, False] ---- */

typedef struct list_values { int64_t *at; size_t n, cap; int64_t shape[NDIM_MAX]; int ndim; bool closed[NDIM_MAX], bools, numbers; } list_values;

static bool list_add(list_values *l, int64_t v) {
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 16;
        int64_t *p = mem_grow(l->at, cap, sizeof *p);
        if (!p) return false;
        l->at = p;
        l->cap = cap;
    }
    l->at[l->n++] = v;
    return true;
}

static bool parse_list_number(parser *p, list_values *l) {
    size_t start = p->at;
    term t = { 0 };
    if (!parse_expression(p, 1, &t)) { drop(&t); return false; }
    bool whole = !t.array && (t.number.kind == SCALAR_INT || t.number.kind == SCALAR_BOOL);
    drop(&t);
    if (!whole) return complain(p, start, KN_INDEX_ERROR, "a list in an index holds integers, or True and False");
    if (t.number.kind == SCALAR_BOOL) l->bools = true;
    else l->numbers = true;
    return list_add(l, t.number.kind == SCALAR_BOOL ? t.number.v.b : t.number.v.i) || (fail_memory(p->m, p->what), false);
}

static bool parse_list_level(parser *p, list_values *l, int depth) {
    size_t start = p->at;
    if (depth >= MOST_DEPTH) return complain(p, start, KN_SYNTAX_ERROR, "too deeply nested");
    p->at++;
    int64_t n = 0;
    bool leaf = true;
    while (look(p) != ']') {
        bool inner = look(p) == '[';
        if (n && inner == leaf) return complain(p, p->at, KN_VALUE_ERROR, "the rows of this list have different shapes");
        leaf = !inner;
        if (!leaf && l->ndim < depth + 2) l->ndim = depth + 2;
        if (!(inner ? parse_list_level(p, l, depth + 1) : parse_list_number(p, l))) return false;
        n++;
        if (!take(p, ',')) break;
    }
    if (!take(p, ']')) return complain(p, p->at, KN_SYNTAX_ERROR, "']' or ',' is missing here");
    if ((l->closed[depth] && l->shape[depth] != n) || (leaf && depth + 1 != l->ndim)) return complain(p, start, KN_VALUE_ERROR, "the rows of this list have different shapes");
    l->closed[depth] = true;
    l->shape[depth] = n;
    return true;
}

static bool parse_list(parser *p, term *out) {
    list_values l = { .ndim = 1 };
    size_t start = p->at;
    bool good = parse_list_level(p, &l, 0);
    if (good && l.bools && l.numbers) good = complain(p, start, KN_INDEX_ERROR, "a list in an index holds integers, or True and False, not both");
    if (good) {
        kn_dtype t = l.bools ? KN_BOOL : KN_INT64;
        buffer *b = pool_buffer((int64_t)(l.n * dtype_size(t)), p->m);
        for (size_t i = 0; b && i < l.n; i++) element_store(t, (char *)b->data + i * dtype_size(t), (scalar){ SCALAR_INT, { .i = l.at[i] } });
        out->array = b ? node_buffer(t, l.ndim, l.shape, b, 0, p->m) : NULL;
        buffer_drop(b);
        good = out->array != NULL;
    }
    mem_free(l.at);
    return good;
}

/* ---- operators ---- */

/* Python's, loosest first. Longer spellings stand before their beginnings. */
typedef struct operator { char text[3]; uint8_t level; const char *ufunc; } operator;
enum { LEVEL_COMPARE = 1, LEVEL_OR, LEVEL_XOR, LEVEL_AND, LEVEL_SHIFT, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY, LEVEL_POWER };
static const operator operators[] = {
    { "==", LEVEL_COMPARE, "equal" }, { "!=", LEVEL_COMPARE, "not_equal" }, { "<=", LEVEL_COMPARE, "less_equal" }, { ">=", LEVEL_COMPARE, "greater_equal" },
    { "<<", LEVEL_SHIFT, "left_shift" }, { ">>", LEVEL_SHIFT, "right_shift" }, { "**", LEVEL_POWER, "power" }, { "//", LEVEL_PRODUCT, "floor_divide" },
    { "<", LEVEL_COMPARE, "less" }, { ">", LEVEL_COMPARE, "greater" }, { "|", LEVEL_OR, "bitwise_or" }, { "^", LEVEL_XOR, "bitwise_xor" },
    { "&", LEVEL_AND, "bitwise_and" }, { "+", LEVEL_SUM, "add" }, { "-", LEVEL_SUM, "subtract" }, { "*", LEVEL_PRODUCT, "multiply" },
    { "/", LEVEL_PRODUCT, "divide" }, { "%", LEVEL_PRODUCT, "remainder" },
};

static const operator *operator_here(parser *p) {
    skip(p);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t n = strlen(operators[i].text);
        if (p->at + n <= p->end && !memcmp(p->text + p->at, operators[i].text, n)) return &operators[i];
    }
    return NULL;
}

static bool whole(const term *t) { return !t->array && (t->number.kind == SCALAR_INT || t->number.kind == SCALAR_BOOL); }
static int64_t integer(const term *t) { return t->number.kind == SCALAR_BOOL ? t->number.v.b : t->number.v.i; }
static int64_t floor_quotient(int64_t x, int64_t y) { return x / y - (x % y && (x < 0) != (y < 0)); }

static bool power_overflows(int64_t x, int64_t n, int64_t *r) {
    for (*r = 1; n > 0; n >>= 1) {
        if (n & 1 && mul_overflows(*r, x, r)) return true;
        if (n > 1 && mul_overflows(x, x, &x)) return true;
    }
    return false;
}

/* x op y of integers, as Python; false: not an integer, or an error. */
static bool fold(parser *p, size_t at, const char *op, int64_t x, int64_t y, scalar *out) {
    int64_t r = 0;
    bool over = false;
    char c = op[0], d = op[1];
    if ((c == '/' || c == '%') && y == 0) return complain(p, at, KN_ZERO_DIVISION_ERROR, "division by zero");
    if ((c == '/' || c == '%') && x == INT64_MIN && y == -1) over = c == '/';
    else if (c == '/') r = floor_quotient(x, y);
    else if (c == '%') r = x - y * floor_quotient(x, y);
    else if (c == '+') over = add_overflows(x, y, &r);
    else if (c == '-') over = __builtin_sub_overflow(x, y, &r);
    else if (c == '*' && d) over = power_overflows(x, y, &r);
    else if (c == '*') over = mul_overflows(x, y, &r);
    else if (c == '&') r = x & y;
    else if (c == '|') r = x | y;
    else if (c == '^') r = x ^ y;
    else if (d == c && (y < 0 || y > 62)) over = c == '<' ? x != 0 || y < 0 : y < 0, r = c == '>' && x < 0 ? -1 : 0;
    else if (c == '<' && d == '<') over = mul_overflows(x, (int64_t)1 << y, &r);
    else if (c == '>' && d == '>') r = x >> y;
    else {
        bool truth = c == '=' ? x == y : c == '!' ? x != y : c == '<' ? (d ? x <= y : x < y) : d ? x >= y : x > y;
        *out = (scalar){ SCALAR_BOOL, { .b = truth } };
        return true;
    }
    if (over) return complain(p, at, KN_OVERFLOW_ERROR, "the result is too large for an index");
    *out = (scalar){ SCALAR_INT, { .i = r } };
    return true;
}

static node *term_node(const term *t, message *m) {
    return t->array ? node_keep(t->array) : node_scalar(dtype_default(t->number.kind), t->number, true, m);
}

static bool record(parser *p, size_t at, const char *name, int n, const term *operands, term *out) {
    message why = { 0 };
    node *in[2] = { NULL, NULL }, *result = NULL;
    int ufunc = ufunc_named(name);
    bool good = ufunc >= 0;
    for (int i = 0; i < n && good; i++) good = (in[i] = term_node(&operands[i], &why)) != NULL;
    if (good) good = ufunc_apply(ufunc, n, in, KN_DTYPE_UNSET, &result, &why) == KN_OK;
    for (int i = 0; i < n; i++) node_drop(in[i]);
    *out = (term){ .array = result };
    if (ufunc < 0) return complain(p, at, KN_NOT_AVAILABLE, "this operator is not available in an index");
    return good || complain_of(p, at, &why);
}

static bool combine(parser *p, size_t at, const operator *op, term *x, term *y) {
    term r = { 0 };
    bool good;
    bool quotient = !strcmp(op->text, "/") || (!strcmp(op->text, "**") && whole(y) && integer(y) < 0);
    if (whole(x) && whole(y) && !quotient) {
        good = fold(p, at, op->text, integer(x), integer(y), &r.number);
        bool logical = op->level >= LEVEL_OR && op->level <= LEVEL_AND && x->number.kind == SCALAR_BOOL && y->number.kind == SCALAR_BOOL;
        if (good && logical) r.number = (scalar){ SCALAR_BOOL, { .b = r.number.v.i != 0 } };
    } else {
        term both[2] = { *x, *y };
        good = record(p, at, op->ufunc, 2, both, &r);
    }
    drop(x);
    drop(y);
    *x = r;
    return good;
}

static bool parse_primary(parser *p, term *out) {
    char c = look(p);
    if (digit(c) || (c == '.' && p->at + 1 < p->end && digit(p->text[p->at + 1]))) return parse_number(p, out);
    if (take_word(p, "True")) { out->number = (scalar){ SCALAR_BOOL, { .b = true } }; return true; }
    if (take_word(p, "False")) { out->number = (scalar){ SCALAR_BOOL, { .b = false } }; return true; }
    size_t n = word(p);
    if (n) return parse_name(p, n, out);
    if (c == '[') return parse_list(p, out);
    if (!take(p, '(')) return complain(p, p->at, KN_SYNTAX_ERROR, p->at < p->end ? "a number, a name, ':' or '(' was expected here" : "the index ends too early");
    if (!parse_expression(p, 1, out)) return false;
    return take(p, ')') || complain(p, p->at, KN_SYNTAX_ERROR, "')' is missing here");
}

static bool parse_power(parser *p, term *out) {
    if (!parse_primary(p, out)) return false;
    const operator *op = operator_here(p);
    if (!op || op->level != LEVEL_POWER) return true;
    size_t at = p->at;
    p->at += 2;
    term y = { 0 };
    if (!parse_expression(p, LEVEL_UNARY, &y)) { drop(&y); return false; }
    return combine(p, at, op, out, &y);
}

static bool parse_unary(parser *p, term *out) {
    char c = look(p);
    if (c != '-' && c != '+' && c != '~') return parse_power(p, out);
    size_t at = p->at++;
    term x = { 0 };
    if (!parse_expression(p, LEVEL_UNARY, &x)) { drop(&x); return false; }
    bool good = true;
    if (whole(&x)) {
        int64_t v = integer(&x), zero = 0;
        if (c == '-' && __builtin_sub_overflow(zero, v, &v)) return complain(p, at, KN_OVERFLOW_ERROR, "the result is too large for an index");
        *out = (term){ .number = { SCALAR_INT, { .i = c == '~' ? ~v : v } } };
    } else if (!x.array && x.number.kind == SCALAR_FLOAT && c != '~') {
        *out = (term){ .number = { SCALAR_FLOAT, { .f = c == '-' ? -x.number.v.f : x.number.v.f } } };
    } else {
        good = record(p, at, c == '-' ? "negative" : c == '+' ? "positive" : "invert", 1, &x, out);
    }
    drop(&x);
    return good;
}

/* An expression whose operators bind at least as tightly as `level`. On failure *out may hold an array. */
static bool parse_expression(parser *p, int level, term *out) {
    if (++p->depth > MOST_DEPTH) return complain(p, p->at, KN_SYNTAX_ERROR, "too deeply nested");
    bool good = parse_unary(p, out);
    while (good && level < LEVEL_UNARY) {
        const operator *op = operator_here(p);
        if (!op || op->level < level || op->level >= LEVEL_UNARY) break;
        size_t at = p->at;
        p->at += strlen(op->text);
        term y = { 0 };
        good = parse_expression(p, op->level + 1, &y);
        if (good) good = combine(p, at, op, out, &y);
        else drop(&y);
        const operator *next = good && op->level == LEVEL_COMPARE ? operator_here(p) : NULL;
        if (next && next->level == LEVEL_COMPARE) good = complain(p, p->at, KN_SYNTAX_ERROR, "comparisons cannot be chained here; use (a < b) & (b < c)");
    }
    p->depth--;
    return good;
}

/* ---- items ---- */

/* A bound of a slice: a Python integer, also as a 0-d integer array, whose value is read now. */
static bool bound_value(parser *p, size_t at, term *t, int64_t *out) {
    bool good = whole(t);
    if (good) *out = integer(t);
    if (!good && t->array && t->array->ndim == 0 && dtype_kind_of((kn_dtype)t->array->dtype) < KIND_FLOAT) {
        host_window h;
        if (node_host(t->array, &h, p->m)) return false;
        host_read(&h, KN_INT64, out);
        host_drop(&h);
        good = true;
    }
    if (!good && !t->array && t->number.kind == SCALAR_UINT) { *out = INT64_MAX; good = true; }
    return good || complain(p, at, KN_TYPE_ERROR, "slice indices must be integers or None");
}

static bool none_here(parser *p) { return take_word(p, "None") || take_word(p, "np.newaxis") || take_word(p, "numpy.newaxis") || take_word(p, "newaxis"); }

static bool parse_bound(parser *p, bool *has, int64_t *out) {
    char c = look(p);
    *has = false;
    if (c == ':' || c == ',' || c == 0 || take_word(p, "None")) return true;
    size_t at = p->at;
    term t = { 0 };
    bool good = parse_expression(p, 1, &t) && bound_value(p, at, &t, out);
    drop(&t);
    *has = true;
    return good;
}

static bool parse_slice_rest(parser *p, index_item *i) {
    i->kind = INDEX_SLICE;
    if (!parse_bound(p, &i->has_stop, &i->stop)) return false;
    size_t at = p->at;
    if (take(p, ':') && !parse_bound(p, &i->has_step, &i->step)) return false;
    return !(i->has_step && i->step == 0) || complain(p, at, KN_VALUE_ERROR, "slice step cannot be zero");
}

/* A term as an index of its own. Takes the array over. */
static bool item_of(parser *p, size_t at, term *t, index_item *i) {
    if (t->array) {
        if (dtype_is_inexact((kn_dtype)t->array->dtype)) return complain(p, at, KN_INDEX_ERROR, "arrays used as indices must be of integer (or boolean) type");
        i->kind = INDEX_ARRAY;
        i->array = t->array;
        t->array = NULL;
        return true;
    }
    if (t->number.kind == SCALAR_BOOL) {
        i->kind = INDEX_ARRAY;
        return (i->array = node_scalar(KN_BOOL, t->number, false, p->m)) != NULL;
    }
    if (t->number.kind == SCALAR_UINT) return complain(p, at, KN_INDEX_ERROR, "cannot fit 'int' into an index-sized integer");
    if (t->number.kind != SCALAR_INT) return complain(p, at, KN_INDEX_ERROR, "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices");
    i->kind = INDEX_INT;
    i->start = t->number.v.i;
    return true;
}

static bool parse_item(parser *p, index_item *i) {
    skip(p);
    size_t at = p->at;
    if (p->end - p->at >= 3 && !memcmp(p->text + p->at, "...", 3)) { p->at += 3; i->kind = INDEX_ELLIPSIS; return true; }
    if (take_word(p, "Ellipsis")) { i->kind = INDEX_ELLIPSIS; return true; }
    if (none_here(p)) {
        i->kind = INDEX_NEW_AXIS;
        return take(p, ':') ? parse_slice_rest(p, i) : true;
    }
    if (take(p, ':')) return parse_slice_rest(p, i);
    term t = { 0 };
    bool good = parse_expression(p, 1, &t);
    if (good && take(p, ':')) {
        i->has_start = true;
        good = bound_value(p, at, &t, &i->start) && parse_slice_rest(p, i);
    } else if (good) {
        good = item_of(p, at, &t, i);
    }
    drop(&t);
    return good;
}

/* "(0, 1)" and "()" are the tuple without its parentheses. */
static bool strip_tuple(parser *p) {
    while (p->end > p->at && (p->text[p->end - 1] == ' ' || p->text[p->end - 1] == '\t' || p->text[p->end - 1] == '\n')) p->end--;
    if (look(p) != '(' || p->text[p->end - 1] != ')') return false;
    int depth = 0;
    bool comma = false;
    for (size_t i = p->at; i < p->end; i++) {
        char c = p->text[i];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        comma |= c == ',' && depth == 1;
        if (depth == 0 && i + 1 < p->end) return false;
    }
    size_t inside = p->at + 1;
    while (inside < p->end - 1 && p->text[inside] == ' ') inside++;
    if (!comma && inside < p->end - 1) return false;
    p->at++;
    p->end--;
    return true;
}

kn_status index_parse(const char *text, const kn_named *names, size_t nnames, const char *what, index_list *out, message *m) {
    message own = { 0 };
    parser p = { .text = text ? text : "", .names = names, .nnames = names ? nnames : 0, .what = what, .m = m ? m : &own };
    out->n = 0;
    while (p.end <= MOST_TEXT && p.text[p.end]) p.end++;
    if (p.end > MOST_TEXT) return fail(p.m, KN_SYNTAX_ERROR, "%s: the index text is longer than %u bytes", what, MOST_TEXT);
    bool tuple = strip_tuple(&p);
    if (!tuple && look(&p) == 0) complain(&p, p.at, KN_SYNTAX_ERROR, "the index is empty; \"...\" is the whole array");
    while (!p.m->status && look(&p)) {
        if (out->n == INDEX_MOST) { complain(&p, p.at, KN_INDEX_ERROR, "too many indices"); break; }
        index_item *i = &out->item[out->n++];
        memset(i, 0, sizeof *i);
        if (!parse_item(&p, i)) break;
        if (look(&p) && !take(&p, ',')) complain(&p, p.at, KN_SYNTAX_ERROR, "',' or the end was expected here");
    }
    if (p.m->status) index_list_free(out);
    return p.m->status;
}

void index_list_free(index_list *l) {
    for (int i = 0; i < l->n; i++) node_drop(l->item[i].array);
    l->n = 0;
}
