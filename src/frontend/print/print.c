/* print.c: arrays as NumPy 2 prints them.
 *
 * How it works: a first look at the elements that will be shown decides one style for all of them (digits, exponents,
 * column widths); a second walk writes them, breaking lines where a word would pass the line's width. A summarised array
 * is looked at and written at its corners alone. Single numbers belong to scalar_text.c. */
#include "frontend/print/print.h"
#include "frontend/print/decimal.h"

#include <inttypes.h>
#include <string.h>

const print_options print_defaults = {
    .threshold = 1000, .edgeitems = 3, .linewidth = 75, .precision = 8, .sign = '-', .floatmode = FLOATMODE_MAXPREC,
    .nanstr = "nan", .infstr = "inf",
};

enum { LARGEST_PRECISION = 16000 }; /* NumPy's numbers end at 16384 characters too */

kn_status print_options_check(const print_options *o, message *m)
{
    if (o->precision < 0 || o->precision > LARGEST_PRECISION)
        return fail(m, KN_VALUE_ERROR, "print option precision must be from 0 to %d; it is %d", LARGEST_PRECISION, o->precision);
    if (o->sign != '-' && o->sign != '+' && o->sign != ' ')
        return fail(m, KN_VALUE_ERROR, "print option sign must be one of ' ', '+', or '-'");
    if (o->floatmode < FLOATMODE_FIXED || o->floatmode > FLOATMODE_MAXPREC_EQUAL)
        return fail(m, KN_VALUE_ERROR, "print option floatmode must be one of 'fixed', 'unique', 'maxprec', 'maxprec_equal'");
    if (o->edgeitems < 0)
        return fail(m, KN_VALUE_ERROR, "print option edgeitems must not be negative; it is %" PRId64, o->edgeitems);
    if (!o->nanstr || !o->infstr)
        return fail(m, KN_VALUE_ERROR, "print options nanstr and infstr must be strings");
    return KN_OK;
}

/* ---- walking ---- */

/* Calls see(context, element) for the elements of a that are shown: all, or `edge` at either end of the axes longer than
 * twice that. NumPy measures everything when edge is zero. */
typedef void see_element(void *context, const char *element);
static void walk(const host_array *a, int64_t edge, int axis, const char *at, see_element *see, void *context)
{
    if (axis == a->ndim) {
        see(context, at);
        return;
    }
    int64_t n = a->shape[axis];
    bool cut = edge > 0 && n / 2 >= edge && n > 2 * edge;
    for (int64_t i = 0; i < n; i++) {
        if (cut && i == edge)
            i = n - edge;
        walk(a, edge, axis + 1, at + i * a->strides[axis], see, context);
    }
}

/* ---- the style of floats ---- */

typedef struct float_style {
    kn_dtype part;
    size_t offset;             /* of the part within an element */
    const print_options *o;
    char sign;
    /* what the elements are like */
    bool any_signed, any_special, any_minus_infinity;
    double largest, smallest;  /* of the finite ones' sizes, zeros left out; 0 when there are none */
    /* how they are written */
    bool scientific;
    float_format format;
    int left, right, exponent; /* characters before the point, after it, and of the exponent's digits */
    text scratch;
} float_style;

static void survey_float(void *context, const char *element)
{
    float_style *s = context;
    binary_float x = binary_float_load(s->part, element + s->offset);
    if (x.class != FLOAT_FINITE) {
        s->any_special = true;
        s->any_minus_infinity |= x.class == FLOAT_INFINITE && x.negative;
        return;
    }
    s->any_signed |= x.negative;
    double size = element_load(s->part, element + s->offset).v.f;
    size = size < 0 ? -size : size;
    if (size > s->largest)
        s->largest = size;
    if (size != 0 && (s->smallest == 0 || size < s->smallest))
        s->smallest = size;
}

/* NumPy compares in the dtype's own arithmetic, so the limits and the quotient are rounded to it. */
static bool needs_exponent(const float_style *s)
{
    if (s->largest == 0)
        return false;
    double limit, low, ratio;
    switch (s->part) {
    case KN_FLOAT16:
        limit = 1e3;
        low = (double)half_to_float(float_to_half(1e-4f));
        ratio = (double)half_to_float(float_to_half((float)s->largest / (float)s->smallest));
        break;
    case KN_FLOAT32:
        limit = 1e6;
        low = (double)1e-4f;
        ratio = (double)((float)s->largest / (float)s->smallest);
        break;
    default:
        limit = 1e8;
        low = 1e-4;
        ratio = s->largest / s->smallest;
    }
    return s->largest >= limit || (!s->o->suppress && (s->smallest < low || ratio > 1000));
}

static void measure_float(void *context, const char *element)
{
    float_style *s = context;
    binary_float x = binary_float_load(s->part, element + s->offset);
    if (x.class != FLOAT_FINITE)
        return;
    s->scratch.len = 0;
    (s->scientific ? float_scientific : float_positional)(&x, &s->format, &s->scratch);
    if (s->scratch.failed)
        return;
    const char *word = s->scratch.at, *point = strchr(word, '.');
    const char *e = s->scientific ? strchr(point, 'e') : word + s->scratch.len;
    int left = (int)(point - word), right = (int)(e - point) - 1;
    int exponent = s->scientific ? (int)strlen(e) - 2 : 0;
    s->left = left > s->left ? left : s->left;
    s->right = right > s->right ? right : s->right;
    s->exponent = exponent > s->exponent ? exponent : s->exponent;
}

static void float_style_widths(float_style *s)
{
    const print_options *o = s->o;
    bool fixed = o->floatmode == FLOATMODE_FIXED;
    s->format.pad_left = s->left;
    if (s->scientific) {
        s->format.digits.at_most = s->format.digits.at_least = s->right;
        s->format.trim = TRIM_NOTHING;
        s->format.exponent_digits = s->exponent;
    } else if (fixed || o->floatmode == FLOATMODE_MAXPREC_EQUAL) {
        s->format.digits.at_most = s->format.digits.at_least = s->right;
        s->format.trim = TRIM_NOTHING;
        s->format.pad_right = s->right;
    } else {
        s->format.digits.at_least = 0;
        s->format.pad_right = s->right;
    }
    /* Within a column the exponent belongs to what stands after the point. */
    int after = s->right + (s->scientific ? s->exponent + 2 : 0);
    if (s->sign == ' ' && !s->any_signed)
        s->format.pad_left++;
    if (s->any_special) {
        int nan = (int)strlen(o->nanstr) - (after + 1);
        int inf = (int)strlen(o->infstr) + (s->sign != '-' || s->any_minus_infinity) - (after + 1);
        s->format.pad_left = nan > s->format.pad_left ? nan : s->format.pad_left;
        s->format.pad_left = inf > s->format.pad_left ? inf : s->format.pad_left;
    }
    s->right = after;
}

static void float_style_make(float_style *s, const host_array *a, int64_t edge)
{
    const print_options *o = s->o;
    bool fixed = o->floatmode == FLOATMODE_FIXED;
    walk(a, edge, 0, a->data, survey_float, s);
    s->scientific = needs_exponent(s);
    s->format = (float_format){
        .digits = {.shortest = !fixed, .fractional = true, .at_least = -1,
                   .at_most = o->floatmode == FLOATMODE_UNIQUE ? -1 : o->precision},
        .trim = fixed ? TRIM_NOTHING : TRIM_ZEROS, .plus = s->sign == '+', .pad_left = -1, .pad_right = -1, .exponent_digits = -1,
    };
    walk(a, edge, 0, a->data, measure_float, s);
    float_style_widths(s);
}

static void put_float(const float_style *s, const char *element, text *out)
{
    binary_float x = binary_float_load(s->part, element + s->offset);
    if (x.class == FLOAT_FINITE) {
        (s->scientific ? float_scientific : float_positional)(&x, &s->format, out);
        return;
    }
    const char *name = x.class == FLOAT_NAN ? s->o->nanstr : s->o->infstr;
    bool minus = x.class == FLOAT_INFINITE && x.negative;
    int width = s->format.pad_left + s->right + 1;
    int used = (int)strlen(name) + (minus || s->format.plus);
    text_add(out, "%*s%s%s", width > used ? width - used : 0, "", minus ? "-" : s->format.plus ? "+" : "", name);
}

/* ---- the style of integers ---- */

typedef struct integer_style {
    kn_dtype dtype;
    scalar largest, smallest;
    bool any;
    char sign;
    int width;
} integer_style;

static bool integer_less(scalar a, scalar b)
{
    return a.kind == SCALAR_UINT ? a.v.u < b.v.u : a.v.i < b.v.i;
}

static void survey_integer(void *context, const char *element)
{
    integer_style *s = context;
    scalar v = element_load(s->dtype, element);
    if (!s->any || integer_less(s->largest, v))
        s->largest = v;
    if (!s->any || integer_less(v, s->smallest))
        s->smallest = v;
    s->any = true;
}

/* The characters of v, without a plus sign or a space in its place. */
static int integer_width(scalar v)
{
    bool negative = v.kind == SCALAR_INT && v.v.i < 0;
    uint64_t size = v.kind == SCALAR_UINT ? v.v.u : negative ? 0 - (uint64_t)v.v.i : (uint64_t)v.v.i;
    int width = 1 + negative;
    while (size >= 10) {
        size /= 10;
        width++;
    }
    return width;
}

static bool integer_negative(scalar v)
{
    return v.kind == SCALAR_INT && v.v.i < 0;
}

static void integer_style_make(integer_style *s, const host_array *a, int64_t edge)
{
    walk(a, edge, 0, a->data, survey_integer, s);
    if (s->sign == ' ' && integer_negative(s->smallest))
        s->sign = '-';
    int largest = integer_width(s->largest) + (!integer_negative(s->largest) && s->sign != '-');
    int smallest = integer_width(s->smallest);
    s->width = largest > smallest ? largest : smallest;
}

static void put_integer(const integer_style *s, const char *element, text *out)
{
    scalar v = element_load(s->dtype, element);
    const char *sign = integer_negative(v) || s->sign == '-' ? "" : s->sign == '+' ? "+" : " ";
    text_add(out, "%*s%s", s->width - integer_width(v) - (*sign != 0), "", sign);
    print_python(v, out);
}

/* ---- lines ---- */

typedef struct printer {
    const host_array *a;
    float_style re, im;        /* of a complex number's parts; real floats use re */
    integer_style integer;
    int64_t edge;              /* -1: nothing is summarised */
    const char *separator;
    int separator_length, separator_solid; /* with and without its trailing spaces */
    text word;
    text *out;
    size_t line_start;         /* where this line's own words start in out */
    int64_t column;            /* how long the line is, its indent counted */
} printer;

static void put_word(const printer *p, const char *element, text *out)
{
    kn_dtype t = p->a->dtype;
    switch (dtype_table[t].kind) {
    case KIND_BOOL:
        text_add(out, "%s", element_load(t, element).v.b ? p->a->ndim ? " True" : "True" : "False");
        break;
    case KIND_COMPLEX: {
        put_float(&p->re, element, out);
        size_t start = out->len;
        put_float(&p->im, element, out);
        size_t end = out->len;
        while (end > start && out->at[end - 1] == ' ')
            end--;
        text_addn(out, "j", 1);
        if (!out->failed) { /* before the spaces that pad the column */
            memmove(out->at + end + 1, out->at + end, out->len - 1 - end);
            out->at[end] = 'j';
        }
        break;
    }
    case KIND_FLOAT:
        if (t == KN_BFLOAT16)
            print_scalar(t, element, PRINT_STR, out);
        else
            put_float(&p->re, element, out);
        break;
    default:
        put_integer(&p->integer, element, out);
    }
}

static void put_spaces(text *out, int64_t n)
{
    text_add(out, "%*s", (int)n, "");
}

/* Appends a word, on a new line when it would pass `width` and a new line would help. */
static void put_on_line(printer *p, const char *word, size_t length, int64_t width, int64_t indent)
{
    text *out = p->out;
    if (p->column + (int64_t)length > width && p->column > indent) {
        if (!out->failed) {
            while (out->len > p->line_start && out->at[out->len - 1] == ' ')
                out->len--;
            out->at[out->len] = 0;
        }
        text_addn(out, "\n", 1);
        p->line_start = out->len;
        put_spaces(out, indent);
        p->column = indent;
    }
    text_addn(out, word, length);
    p->column += (int64_t)length;
}

static void put_element(printer *p, const char *element, int64_t width, int64_t indent)
{
    p->word.len = 0;
    put_word(p, element, &p->word);
    put_on_line(p, p->word.at, p->word.len, width, indent);
}

static void put_separator(printer *p)
{
    text_addn(p->out, p->separator, (size_t)p->separator_length);
    p->column += p->separator_length;
}

/* What is shown of an axis: `leading` elements, "..." when `cut`, then `trailing`, of which there is at least one. */
typedef struct shown {
    int64_t leading, trailing;
    bool cut;
} shown;

static shown shown_of(const printer *p, int64_t n)
{
    if (p->edge >= 0 && n / 2 >= p->edge && n > 2 * p->edge)
        return (shown){p->edge, p->edge > 1 ? p->edge : 1, true};
    return (shown){0, n, false};
}

/* The last axis: words, wrapped. */
static void put_row(printer *p, const char *at, int64_t indent, int64_t width)
{
    int axis = p->a->ndim - 1;
    int64_t n = p->a->shape[axis], stride = p->a->strides[axis];
    int64_t words_end = width - (p->separator_solid > 1 ? p->separator_solid : 1); /* room for the separator or a ] */
    shown s = shown_of(p, n);
    p->line_start = p->out->len;
    p->column = indent;
    for (int64_t i = 0; i < s.leading; i++) {
        put_element(p, at + i * stride, words_end, indent);
        put_separator(p);
    }
    if (s.cut) {
        put_on_line(p, "...", 3, words_end, indent);
        put_separator(p);
    }
    for (int64_t i = n - s.trailing; i < n; i++) {
        put_element(p, at + i * stride, words_end, indent);
        if (i < n - 1)
            put_separator(p);
    }
}

static void put_axis(printer *p, int axis, const char *at, int64_t indent, int64_t width);

/* Between two blocks: the more axes a block has, the more lines. */
static void put_gap(printer *p, int axis, int64_t indent)
{
    text_addn(p->out, p->separator, (size_t)p->separator_solid);
    for (int line = axis + 1; line < p->a->ndim; line++)
        text_addn(p->out, "\n", 1);
    put_spaces(p->out, indent);
}

/* Another axis: one block below the other. The first block stands behind the [ of this one. */
static void put_blocks(printer *p, int axis, const char *at, int64_t indent, int64_t width)
{
    int64_t n = p->a->shape[axis], stride = p->a->strides[axis];
    shown s = shown_of(p, n);
    for (int64_t i = 0; i < s.leading; i++) {
        if (i > 0)
            put_gap(p, axis, indent);
        put_axis(p, axis + 1, at + i * stride, indent + 1, width - 1);
    }
    if (s.cut) {
        if (s.leading > 0)
            put_gap(p, axis, indent);
        text_addn(p->out, "...", 3);
    }
    for (int64_t i = n - s.trailing; i < n; i++) {
        if (i > 0 || s.cut)
            put_gap(p, axis, indent);
        put_axis(p, axis + 1, at + i * stride, indent + 1, width - 1);
    }
}

static void put_axis(printer *p, int axis, const char *at, int64_t indent, int64_t width)
{
    text_addn(p->out, "[", 1);
    if (axis == p->a->ndim - 1)
        put_row(p, at, indent, width);
    else
        put_blocks(p, axis, at, indent, width);
    text_addn(p->out, "]", 1);
}

static void style_make(printer *p, const print_options *o)
{
    kn_dtype t = p->a->dtype, part = dtype_table[t].part;
    p->re = (float_style){.part = part, .o = o, .sign = o->sign};
    p->im = (float_style){.part = part, .o = o, .sign = '+', .offset = dtype_size(part)};
    p->integer = (integer_style){.dtype = t, .sign = o->sign};
    if (dtype_is_inexact(t) && t != KN_BFLOAT16)
        float_style_make(&p->re, p->a, p->edge);
    if (dtype_is_complex(t))
        float_style_make(&p->im, p->a, p->edge);
    if (dtype_is_integer(t))
        integer_style_make(&p->integer, p->a, p->edge);
}

void print_array_between(const host_array *a, const print_options *o, const char *separator, int64_t prefix, int64_t suffix,
                         text *out)
{
    o = o ? o : &print_defaults;
    int64_t count = host_count(a);
    if (count == 0) {
        text_addn(out, "[]", 2);
        return;
    }
    printer p = {.a = a, .out = out, .separator = separator, .edge = count > o->threshold ? o->edgeitems : -1};
    p.separator_length = (int)strlen(separator);
    p.separator_solid = p.separator_length;
    while (p.separator_solid > 0 && separator[p.separator_solid - 1] == ' ')
        p.separator_solid--;
    style_make(&p, o);
    if (a->ndim == 0)
        put_word(&p, a->data, out);
    else
        put_axis(&p, 0, a->data, prefix + 1, o->linewidth - suffix);
    out->failed |= p.word.failed | p.re.scratch.failed | p.im.scratch.failed;
    text_free(&p.word);
    text_free(&p.re.scratch);
    text_free(&p.im.scratch);
}

/* ---- str and repr ---- */

static void put_shape(const host_array *a, text *out)
{
    text_addn(out, "shape=(", 7);
    for (int axis = 0; axis < a->ndim; axis++)
        text_add(out, axis ? ", %" PRId64 : "%" PRId64, a->shape[axis]);
    text_add(out, a->ndim == 1 ? ",)" : ")");
}

/* Whether the elements' text tells the dtype. */
static bool dtype_is_implied(kn_dtype t)
{
    return t == KN_BOOL || t == KN_INT64 || t == KN_FLOAT64 || t == KN_COMPLEX128;
}

static void put_repr(const host_array *a, const print_options *o, text *out)
{
    static const char opening[] = "array(";
    enum { OPENING = sizeof opening - 1 };
    size_t start = out->len;
    text_addn(out, opening, OPENING);
    print_array_between(a, o, ", ", OPENING, 1, out);

    int64_t count = host_count(a);
    text extra = {0};
    if ((count == 0 && !(a->ndim == 1 && a->shape[0] == 0)) || count > o->threshold)
        put_shape(a, &extra);
    if (!dtype_is_implied(a->dtype) || count == 0)
        text_add(&extra, "%sdtype=%s", extra.len ? ", " : "", dtype_table[a->dtype].name);
    if (extra.len > 0 && !out->failed) {
        text_addn(out, ",", 1);
        const char *line = out->failed ? NULL : strrchr(out->at + start, '\n');
        int64_t last_line = line ? (int64_t)strlen(line + 1) : (int64_t)(out->len - start);
        if (last_line + (int64_t)extra.len + 2 > o->linewidth)
            text_add(out, "\n%*s", OPENING, "");
        else
            text_addn(out, " ", 1);
        text_addn(out, extra.at, extra.len);
    }
    text_addn(out, ")", 1);
    out->failed |= extra.failed;
    text_free(&extra);
}

void print_array(const host_array *a, const print_options *o, print_mode mode, text *out)
{
    o = o ? o : &print_defaults;
    if (mode == PRINT_REPR)
        put_repr(a, o, out);
    else if (a->ndim == 0)
        print_scalar(a->dtype, a->data, PRINT_STR, out);
    else
        print_array_between(a, o, " ", 0, 0, out);
}
