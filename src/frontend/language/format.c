/* format.c: numbers and strings by format specifications: format(), "..." % args, "...".format(...).
 *
 * How it works: every number becomes its sign, a prefix, the digits before the point and the rest; one function groups, pads
 * and writes these. `%` and str.format translate to the same specifications. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/natives.h"
#include "frontend/print/print.h"

/* ---- padding ---- */

void text_repeat(text *out, const char *s, size_t n, int64_t times) {
    for (; times > 0; times--) text_addn(out, s, n);
}

static void put_fill(text *out, const format_spec *spec, int64_t times) {
    if (spec->fill_size) text_repeat(out, spec->fill, (size_t)spec->fill_size, times);
    else text_repeat(out, " ", 1, times);
}

void text_pad(text *out, const char *s, size_t n, size_t points, const format_spec *spec, char align) {
    int64_t pad = spec->width - (int64_t)points, left;
    align = spec->align ? spec->align : align;
    pad = pad > 0 ? pad : 0;
    left = align == '<' ? 0 : align == '^' ? pad / 2 : pad;
    put_fill(out, spec, left);
    text_addn(out, s, n);
    put_fill(out, spec, pad - left);
}

/* ---- numbers ---- */

typedef struct number_parts { char sign /* or 0 */; const char *prefix; const char *digits; size_t ndigits; const char *rest; } number_parts;

/* The digits in groups with zeros before them up to `least` characters; a separator never comes first. */
static void put_grouped(text *out, const number_parts *p, char separator, int group, int64_t least) {
    int64_t n = (int64_t)p->ndigits, zeros = 0;
    if (!separator || !n) {                          /* infinity and NaN have no digits */
        text_repeat(out, "0", 1, least - n);
        text_addn(out, p->digits, p->ndigits);
        return;
    }
    while (n + zeros + (n + zeros ? (n + zeros - 1) / group : 0) < least) zeros++;
    for (int64_t i = 0; i < n + zeros; i++) {
        if (i && (n + zeros - i) % group == 0) text_addn(out, &separator, 1);
        text_addn(out, i < zeros ? "0" : p->digits + (i - zeros), 1);
    }
}

static void put_number(text *out, const number_parts *p, const format_spec *spec) {
    bool zeros = spec->fill_size == 1 && spec->fill[0] == '0' && spec->align == '=';
    int group = strchr("boxX", spec->type) && spec->type ? 4 : 3;
    int64_t around = (p->sign != 0) + (int64_t)strlen(p->prefix) + (int64_t)strlen(p->rest);
    text body = { 0 };
    text_addn(&body, "", 0);
    put_grouped(&body, p, spec->grouping, group, zeros ? spec->width - around : 0);
    int64_t pad = spec->width - around - (int64_t)body.len;
    pad = pad > 0 ? pad : 0;
    char align = spec->align ? spec->align : '>';
    int64_t left = align == '>' ? pad : align == '^' ? pad / 2 : 0;
    put_fill(out, spec, left);
    if (p->sign) text_addn(out, &p->sign, 1);
    text_addn(out, p->prefix, strlen(p->prefix));
    if (align == '=') put_fill(out, spec, pad);
    text_addn(out, body.at, body.len);
    text_addn(out, p->rest, strlen(p->rest));
    put_fill(out, spec, align == '=' ? 0 : pad - left);
    out->failed |= body.failed;
    text_free(&body);
}

static char sign_of(bool negative, char wanted) { return negative ? '-' : wanted == '+' || wanted == ' ' ? wanted : 0; }

/* "-12.5e+03": what comes before the point stands in front. */
static void put_number_text(text *out, const char *s, const format_spec *spec) {
    bool negative = *s == '-';
    s += negative;
    size_t n = strspn(s, "0123456789");
    put_number(out, &(number_parts){ .sign = sign_of(negative, spec->sign), .prefix = "", .digits = s, .ndigits = n, .rest = s + n }, spec);
}

static void drop_zeros(text *t, size_t from) {   /* of the fraction before an exponent */
    char *e = strchr(t->at + from, 'e'), *point = strchr(t->at + from, '.');
    if (!e || !point) return;
    char *end = e;
    while (end[-1] == '0') end--;
    if (end[-1] == '.') end--;
    memmove(end, e, strlen(e) + 1);
    t->len -= (size_t)(e - end);
}

/* Without a type: as repr, or with a precision as 'g' that keeps one digit after the point ("1.0") when `point`. */
static void put_plain_float(text *t, double d, const format_spec *spec, bool point) {
    if (spec->precision < 0) {
        print_float(d, t);
        if (!point && t->len > 2 && !strcmp(t->at + t->len - 2, ".0")) t->at[t->len -= 2] = 0;
        return;
    }
    int precision = spec->precision > 1 ? (int)spec->precision : 1;
    text e = { 0 };
    print_float_as(d, 'e', precision - 1, false, &e);
    const char *mark = e.at ? strchr(e.at, 'e') : NULL;
    int exponent = 0;
    for (const char *c = mark ? mark + 2 : ""; *c; c++) exponent = exponent * 10 + (*c - '0');
    if (mark && mark[1] == '-') exponent = -exponent;
    if (mark && point && exponent == precision - 1) {   /* 'g' would write it without an exponent */
        if (!spec->alternate) drop_zeros(&e, 0);
        text_addn(t, e.at, e.len);
    } else {
        print_float_as(d, 'g', precision, spec->alternate, t);
        if (mark && point && t->at && !strpbrk(t->at, ".e")) text_addn(t, ".0", 2);
    }
    t->failed |= e.failed;
    text_free(&e);
}

static void put_float_digits(text *t, double d, const format_spec *spec, bool point) {
    char type = spec->type == 'n' ? 'g' : spec->type;
    if (!type) put_plain_float(t, d, spec, point);
    else print_float_as(type == '%' ? d * 100 : d, type == '%' ? 'f' : type, spec->precision < 0 ? 6 : (int)spec->precision, spec->alternate, t);
    if (type == '%') text_addn(t, "%", 1);
    if (spec->no_negative_zero && t->at && t->at[0] == '-' && !strpbrk(t->at, "123456789in")) {
        memmove(t->at, t->at + 1, t->len);
        t->len--;
    }
}

static bool raise_code(machine *m, const format_spec *spec, const char *type) {
    raise(m, "ValueError", "Unknown format code '%c' for object of type '%s'", spec->type, type);
    return false;
}

static bool format_float(machine *m, double d, const format_spec *spec, text *out) {
    if (spec->type && !strchr("eEfFgGn%", spec->type)) return raise_code(m, spec, "float");
    text t = { 0 };
    put_float_digits(&t, d, spec, true);
    if (t.at) put_number_text(out, t.at, spec);
    out->failed |= t.failed;
    text_free(&t);
    return true;
}

static bool format_complex(machine *m, const complex_object *z, const format_spec *spec, text *out) {
    if (spec->type && !strchr("eEfFgGn", spec->type)) return raise_code(m, spec, "complex");
    if (spec->align == '=' || spec->zero) {
        raise(m, "ValueError", "%s is not allowed in a complex format specifier", spec->zero ? "Zero padding" : "'=' alignment");
        return false;
    }
    bool alone = !spec->type && z->re == 0 && !signbit(z->re), parentheses = !spec->type && !alone;
    text all = { 0 }, part = { 0 };
    format_spec inner = *spec;
    inner.width = -1;
    inner.align = 0;
    if (parentheses) text_addn(&all, "(", 1);
    if (!alone) {
        put_float_digits(&part, z->re, spec, false);
        if (part.at) put_number_text(&all, part.at, &inner);
        all.failed |= part.failed;
        text_free(&part);
        part = (text){ 0 };
        inner.sign = '+';
    }
    put_float_digits(&part, z->im, spec, false);
    if (part.at) put_number_text(&all, part.at, &inner);
    text_addn(&all, parentheses ? "j)" : "j", parentheses ? 2 : 1);
    if (all.at) text_pad(out, all.at, all.len, all.len, spec, '>');
    out->failed |= all.failed || part.failed;
    text_free(&all);
    text_free(&part);
    return true;
}

/* The digits of an integer with sign and prefix. `least` digits at least (of "%.5d"). */
static bool put_integer(machine *m, value v, const format_spec *spec, int64_t least, text *out) {
    int base = spec->type == 'b' ? 2 : spec->type == 'o' ? 8 : spec->type == 'x' || spec->type == 'X' ? 16 : 10;
    text t = { 0 }, digits = { 0 };
    bool good = big_text(m, v, base, &t), negative = good && t.at[0] == '-';
    if (good) {
        text_repeat(&digits, "0", 1, least - (int64_t)t.len + negative);
        text_addn(&digits, t.at + negative, t.len - negative);
        for (char *c = digits.at; spec->type == 'X' && c && *c; c++) if (*c >= 'a') *c = (char)(*c - 'a' + 'A');
        const char *prefix = !spec->alternate || base == 10 ? "" : base == 2 ? "0b" : base == 8 ? "0o" : spec->type == 'X' ? "0X" : "0x";
        number_parts parts = { sign_of(negative, spec->sign), prefix, digits.at, digits.len, "" };
        if (digits.at) put_number(out, &parts, spec);
        out->failed |= digits.failed;
    }
    text_free(&t);
    text_free(&digits);
    return good;
}

static bool integer_double(machine *m, value v, double *d) {
    *d = big_double(v);
    if (isinf(*d)) raise(m, "OverflowError", "int too large to convert to float");
    return !isinf(*d);
}

static bool put_character(machine *m, value v, const format_spec *spec, text *out) {
    if (v.kind == VALUE_BIG || v.u.i < 0 || v.u.i >= 0x110000) {
        raise(m, "OverflowError", "%%c arg not in range(0x110000)");
        return false;
    }
    char point[4];
    text_pad(out, point, utf8_put((uint32_t)v.u.i, point), 1, spec, '>');
    return true;
}

static bool format_integer(machine *m, value v, const format_spec *spec, text *out) {
    double d;
    if (spec->type && strchr("eEfFgG%", spec->type)) return integer_double(m, v, &d) && format_float(m, d, spec, out);
    if (spec->type && !strchr("bcdnoxX", spec->type)) return raise_code(m, spec, "int");
    const char *wrong = spec->precision >= 0 ? "Precision not allowed in integer format specifier" :
        spec->no_negative_zero ? "Negative zero coercion (z) not allowed in integer format specifier" :
        spec->grouping == ',' && spec->type && strchr("bcnoxX", spec->type) ? "Cannot specify ',' with this format code" :
        spec->grouping == '_' && spec->type && strchr("cn", spec->type) ? "Cannot specify '_' with this format code" :
        spec->type == 'c' && spec->sign ? "Sign not allowed with integer format specifier 'c'" :
        spec->type == 'c' && spec->alternate ? "Alternate form (#) not allowed with integer format specifier 'c'" : NULL;
    if (wrong) raise(m, "ValueError", "%s", wrong);
    else if (spec->type == 'c') return put_character(m, v, spec, out);
    return !wrong && put_integer(m, v, spec, 0, out);
}

static bool format_string(machine *m, const string_object *s, const format_spec *spec, text *out) {
    if (spec->type && spec->type != 's') return raise_code(m, spec, "str");
    const char *wrong = spec->sign ? "Sign" : spec->alternate ? "Alternate form (#)" : spec->no_negative_zero ? "Negative zero coercion (z)" :
        spec->align == '=' ? "'=' alignment" : spec->grouping ? "A separator of thousands" : NULL;
    if (wrong) {
        raise(m, "ValueError", "%s not allowed in string format specifier", wrong);
        return false;
    }
    size_t points = s->points;
    if (spec->precision >= 0 && (uint64_t)spec->precision < points) points = (size_t)spec->precision;
    text_pad(out, s->at, utf8_offset(s, (int64_t)points), points, spec, '<');
    return true;
}

/* ---- specifications ---- */

/* A number at *s; -1: none there. As many characters at most as a text may have. */
static bool read_number(machine *m, const char **s, const char *end, int64_t *n) {
    *n = -1;
    for (; *s < end && **s >= '0' && **s <= '9'; ++*s) {
        *n = (*n < 0 ? 0 : *n * 10) + (**s - '0');
        if (*n > INT64_MAX / 16) return !absent(raise(m, "ValueError", "Too many decimal digits in format string"));
    }
    return length_allowed(m, *n);
}

static bool is_align(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

/* [[fill]align][sign][z][#][0][width][grouping][.precision][type] */
static bool spec_parse(machine *m, const char *s, size_t n, bool text_like, const char *type, format_spec *spec) {
    const char *start = s, *end = s + n;
    *spec = (format_spec){ .width = -1, .precision = -1 };
    size_t size = 0;
    if (n) utf8_get(s, &size);
    if (n > size && is_align(s[size])) {
        memcpy(spec->fill, s, size);
        spec->fill_size = (int)size;
        spec->align = s[size];
        s += size + 1;
    } else if (n && is_align(*s)) spec->align = *s++;
    if (s < end && strchr("+- ", *s)) spec->sign = *s++;
    if (s < end && *s == 'z') spec->no_negative_zero = true, s++;
    if (s < end && *s == '#') spec->alternate = true, s++;
    if (!spec->fill_size && s < end && *s == '0') {
        spec->fill[0] = '0';
        spec->fill_size = 1;
        spec->zero = true;
        if (!spec->align && !text_like) spec->align = '=';
        s++;
    }
    if (!read_number(m, &s, end, &spec->width)) return false;
    if (s < end && (*s == ',' || *s == '_')) spec->grouping = *s++;
    bool good = s >= end || (*s != ',' && *s != '_');
    if (good && s < end && *s == '.') {
        s++;
        if (!read_number(m, &s, end, &spec->precision)) return false;
        if (spec->precision < 0) {
            raise(m, "ValueError", "Format specifier missing precision");
            return false;
        }
    }
    if (s < end && (unsigned char)*s < 0x80) spec->type = *s++;
    if (good && s == end) return true;
    raise(m, "ValueError", "Invalid format specifier '%.*s' for object of type '%s'", utf8_cut(start, n), start, type);
    return false;
}

static bool format_number(machine *m, value v, const char *name, const char *spec_text, size_t n, text *out) {
    format_spec spec;
    if (!spec_parse(m, spec_text, n, v.kind == VALUE_STRING, name, &spec)) return false;
    switch (v.kind) {
    case VALUE_STRING: return format_string(m, as_string(v), &spec, out);
    case VALUE_BOOL: case VALUE_INT: case VALUE_BIG: return format_integer(m, v, &spec, out);
    case VALUE_FLOAT: return format_float(m, v.u.f, &spec, out);
    default: return format_complex(m, (const complex_object *)v.u.o, &spec, out);
    }
}

static bool formats(value v) { return v.kind == VALUE_STRING || value_is_number(v); }

bool format_value(machine *m, value v, const char *spec, size_t n, text *out) {
    value plain = v.kind == VALUE_ARRAY && kn_ndim(as_array(v)->array) ? value_keep(v) : plain_number(m, v);
    if (absent(plain)) return false;
    bool good = !n ? value_str(m, plain, out) : formats(plain) && format_number(m, plain, value_type_name(v), spec, n, out);
    if (n && !formats(plain)) raise(m, "TypeError", "unsupported format string passed to %s.__format__", value_type_name(v));
    value_drop(m, plain);
    if (good && out->failed) raise_memory(m);
    return good && !out->failed;
}

/* ---- "..." % args ---- */

typedef struct percent {
    machine *m;
    const string_object *format;
    const char *at, *end;
    value args;              /* a tuple, or the one argument */
    int64_t next, n;         /* n < 0: one argument */
    bool keyed;              /* one was named, by (key) */
    text out;
} percent;

static bool mapping(value v) { return v.kind == VALUE_DICT || v.kind == VALUE_LIST || v.kind == VALUE_ARRAY || v.kind == VALUE_RANGE; }

/* Borrowed. */
static value next_argument(percent *p) {
    if (p->n < 0 ? p->next : p->next >= p->n) return raise(p->m, "TypeError", "not enough arguments for format string");
    return p->n < 0 ? (p->next++, p->args) : as_sequence(p->args)->at[p->next++];
}

/* (key): what follows refers to args[key]. Borrowed. */
static value keyed_argument(percent *p) {
    if (!mapping(p->args)) return raise(p->m, "TypeError", "format requires a mapping");
    const char *start = ++p->at;
    for (int depth = 1; p->at < p->end; p->at++) {
        depth += (*p->at == '(') - (*p->at == ')');
        if (!depth) break;
    }
    if (p->at >= p->end) return raise(p->m, "ValueError", "incomplete format key");
    if (p->args.kind != VALUE_DICT) return raise(p->m, "TypeError", "format requires a dict for (key), not %s", value_type_name(p->args));
    value key = string_value(p->m, start, (size_t)(p->at++ - start));
    if (absent(key)) return key;
    value v = dict_get(p->m, p->args, key);
    if (absent(v) && absent(p->m->exception)) raise_key(p->m, key);
    value_drop(p->m, key);
    p->keyed = true;
    return v;
}

/* A number or '*'; -1: none. */
static bool percent_number(percent *p, int64_t *n) {
    if (p->at >= p->end || *p->at != '*') return read_number(p->m, &p->at, p->end, n);
    p->at++;
    value v = next_argument(p);
    if (absent(v)) return false;
    if (v.kind != VALUE_INT && v.kind != VALUE_BOOL && v.kind != VALUE_BIG) raise(p->m, "TypeError", "* wants int");
    else if (v.kind == VALUE_BIG || v.u.i < -LENGTH_MOST) raise(p->m, "OverflowError", "a width or precision is too large");
    else *n = v.u.i;
    return absent(p->m->exception) && length_allowed(p->m, *n);
}

static bool percent_text(percent *p, value v, const format_spec *spec) {
    text t = { 0 };
    text_addn(&t, "", 0);
    bool good = spec->type == 's' ? value_str(p->m, v, &t) : value_repr(p->m, v, &t);
    if (good && spec->type == 'a') {
        text escaped = { 0 };
        text_ascii(&escaped, t.at, t.len);
        text_free(&t);
        t = escaped;
    }
    size_t points = good && t.at ? utf8_points(t.at, t.len) : 0, n = t.len;
    if (good && spec->precision >= 0 && (uint64_t)spec->precision < points)
        for (points = 0, n = 0; points < (size_t)spec->precision; points++) {
            size_t size;
            utf8_get(t.at + n, &size);
            n += size;
        }
    if (good && t.at) text_pad(&p->out, t.at, n, points, spec, '>');
    p->out.failed |= t.failed;
    text_free(&t);
    return good;
}

static bool percent_character(percent *p, value v, const format_spec *spec) {
    if (v.kind == VALUE_STRING && as_string(v)->points == 1) {
        text_pad(&p->out, as_string(v)->at, as_string(v)->length, 1, spec, '>');
        return true;
    }
    format_spec right = *spec;
    if (!right.align || right.align == '=') right.align = '>';
    value i = value_is_integer(v) ? as_integer(p->m, v) : raise(p->m, "TypeError", "%%c requires int or char");
    bool good = !absent(i) && put_character(p->m, i, &right, &p->out);
    value_drop(p->m, i);
    return good;
}

static bool percent_integer(percent *p, value number, const format_spec *spec) {
    bool decimal = spec->type == 'd';
    value i = number.kind == VALUE_FLOAT && decimal ? big_from_double(p->m, number.u.f) : value_is_integer(number) ? value_keep(number) :
        raise(p->m, "TypeError", "%%%c format: %s is required, not %s", spec->type, decimal ? "a real number" : "an integer", value_type_name(number));
    bool good = !absent(i) && put_integer(p->m, i, spec, spec->precision, &p->out);
    value_drop(p->m, i);
    return good;
}

static bool percent_float(percent *p, value number, const format_spec *spec) {
    double d = number.u.f;
    if (value_is_integer(number)) {
        if (!integer_double(p->m, number, &d)) return false;
    } else if (number.kind != VALUE_FLOAT) {
        raise(p->m, "TypeError", "must be real number, not %s", value_type_name(number));
        return false;
    }
    return format_float(p->m, d, spec, &p->out);
}

static bool percent_convert(percent *p, value v, format_spec *spec) {
    char type = spec->type == 'i' || spec->type == 'u' ? 'd' : spec->type;
    spec->type = type;
    if (type == 's' || type == 'r' || type == 'a') return percent_text(p, v, spec);
    if (type == 'c') return percent_character(p, v, spec);
    value number = plain_number(p->m, v);
    if (absent(number)) return false;
    if (spec->zero && !spec->align) {
        spec->align = '=';
        spec->fill[0] = '0';
        spec->fill_size = 1;
    }
    bool good = strchr("doxX", type) ? percent_integer(p, number, spec) : percent_float(p, number, spec);
    value_drop(p->m, number);
    return good;
}

/* What follows a '%'. */
static bool percent_item(percent *p) {
    format_spec spec = { .width = -1, .precision = -1 };
    value v = NO_VALUE_;
    if (p->at < p->end && *p->at == '%') {
        text_addn(&p->out, p->at++, 1);
        return true;
    }
    if (p->at < p->end && *p->at == '(') {
        v = keyed_argument(p);
        if (absent(v)) return false;
    }
    for (; p->at < p->end && strchr("#0- +", *p->at); p->at++) {
        if (*p->at == '#') spec.alternate = true;
        else if (*p->at == '0') spec.zero = true;
        else if (*p->at == '-') spec.align = '<';
        else if (spec.sign != '+') spec.sign = *p->at;
    }
    if (!percent_number(p, &spec.width)) return false;
    if (spec.width < -1) spec.width = -spec.width, spec.align = '<';
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        if (!percent_number(p, &spec.precision)) return false;
        if (spec.precision < 0) spec.precision = 0;
    }
    while (p->at < p->end && strchr("hlL", *p->at)) p->at++;
    if (p->at >= p->end) {
        raise(p->m, "ValueError", "incomplete format");
        return false;
    }
    spec.type = *p->at++;
    if (absent(v)) v = next_argument(p);
    if (absent(v)) return false;
    if (!strchr("diouxXeEfFgGcrsa", spec.type)) {
        const char *at = p->at - 1;
        size_t size, index = utf8_points(p->format->at, (size_t)(at - p->format->at));
        unsigned point = utf8_get(at, &size);
        raise(p->m, "ValueError", "unsupported format character '%.*s' (0x%x) at index %zu", (int)size, at, point, index);
        return false;
    }
    return percent_convert(p, v, &spec);
}

value format_percent(machine *m, value format, value args) {
    const string_object *s = as_string(format);
    percent p = { .m = m, .format = s, .at = s->at, .end = s->at + s->length, .args = args, .n = args.kind == VALUE_TUPLE ? (int64_t)as_sequence(args)->n : -1 };
    bool good = true;
    text_addn(&p.out, "", 0);
    while (good && p.at < p.end) {
        const char *mark = memchr(p.at, '%', (size_t)(p.end - p.at));
        text_addn(&p.out, p.at, (size_t)((mark ? mark : p.end) - p.at));
        p.at = mark ? mark + 1 : p.end;
        good = !mark || (machine_step(m) && percent_item(&p));
        if (good && p.out.len > LENGTH_MOST) good = !absent(raise_memory(m));
    }
    if (good && !p.keyed && (p.n < 0 ? !p.next && !mapping(args) : p.next < p.n)) {
        raise(m, "TypeError", "not all arguments converted during string formatting");
        good = false;
    }
    if (good) return string_text(m, &p.out);
    text_free(&p.out);
    return NO_VALUE_;
}

/* ---- "...".format(...) ---- */

typedef struct braces {
    machine *m;
    value args /* or ABSENT: none are allowed */, keywords;
    int64_t next;            /* of automatic numbers; -1: numbers are written */
} braces;

static bool is_decimal(const char *s, size_t n, int64_t *number) {
    *number = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || *number > LENGTH_MOST) return false;
        *number = *number * 10 + (s[i] - '0');
    }
    return n > 0;
}

/* What the name before '.', '[' refers to; a new reference. */
static value braces_argument(braces *b, const char *name, size_t n) {
    int64_t number;
    if (!n || is_decimal(name, n, &number)) {
        if (absent(b->args)) return raise(b->m, "ValueError", "Format string contains positional fields");
        if (n ? b->next > 0 : b->next < 0)
            return raise(b->m, "ValueError", n ? "cannot switch from automatic field numbering to manual" : "cannot switch from manual field numbering to automatic");
        if (!n) number = b->next++;
        else b->next = -1;
        const sequence_object *args = as_sequence(b->args);
        if ((uint64_t)number >= args->n) return raise(b->m, "IndexError", "Replacement index %lld out of range for positional args tuple", (long long)number);
        return value_keep(args->at[number]);
    }
    value key = string_value(b->m, name, n);
    if (absent(key)) return key;
    value v = b->keywords.kind == VALUE_DICT ? dict_get(b->m, b->keywords, key) : NO_VALUE_;
    if (absent(v) && absent(b->m->exception)) raise_key(b->m, key);
    value_drop(b->m, key);
    return value_keep(v);
}

/* One ".name" or "[index]" from *s on; v is consumed. */
static value braces_part(braces *b, value v, const char **s, const char *end) {
    bool index = *(*s)++ == '[';
    const char *start = *s;
    while (*s < end && (index ? **s != ']' : **s != '.' && **s != '[')) ++*s;
    size_t n = (size_t)(*s - start);
    value part = NO_VALUE_, result = NO_VALUE_;
    int64_t number;
    if (index && *s == end) raise(b->m, "ValueError", "Missing ']' in format string");
    else if (!n) raise(b->m, "ValueError", "Empty attribute in format string");
    else part = index && is_decimal(start, n, &number) ? int_value(number) : string_value(b->m, start, n);
    *s += index && *s < end;
    if (index && *s < end && **s != '.' && **s != '[' && !absent(part)) {
        value_drop(b->m, part);
        part = raise(b->m, "ValueError", "Only '.' or '[' may follow ']' in format field specifier");
    }
    if (!absent(part)) result = index ? value_subscript(b->m, v, part) : value_attribute(b->m, v, as_string(part)->at);
    value_drop(b->m, part);
    value_drop(b->m, v);
    return result;
}

static value braces_field(braces *b, const char *s, const char *end) {
    const char *after = s;
    while (after < end && *after != '.' && *after != '[') after++;
    value v = braces_argument(b, s, (size_t)(after - s));
    while (!absent(v) && after < end) v = braces_part(b, v, &after, end);
    return v;
}

/* !r, !s, !a: consumes v. */
static value converted(machine *m, value v, char how) {
    text t = { 0 }, escaped = { 0 };
    text_addn(&t, "", 0);
    bool good = how == 's' ? value_str(m, v, &t) : how == 'r' || how == 'a' ? value_repr(m, v, &t) : false;
    if (!good && absent(m->exception)) raise(m, "ValueError", "Unknown conversion specifier '%c'", how);
    value_drop(m, v);
    if (good && how == 'a') text_ascii(&escaped, t.at, t.len);
    text *use = how == 'a' ? &escaped : &t;
    value s = good ? string_text(m, use) : NO_VALUE_;
    if (how == 'a' || !good) text_free(&t);
    return s;
}

static bool braces_text(braces *b, const char *s, const char *end, int depth, text *out);

/* "name!r:spec" between the braces. */
static bool braces_item(braces *b, const char *s, const char *end, int depth, text *out) {
    const char *name = s;
    for (bool in_index = false; s < end && (in_index || (*s != '!' && *s != ':')); s++) {
        if (*s == '[') in_index = true;
        else if (*s == ']') in_index = false;
        else if (*s == '{') {
            raise(b->m, "ValueError", "unexpected '{' in field name");
            return false;
        }
    }
    value v = braces_field(b, name, s);
    if (!absent(v) && s < end && *s == '!') {
        bool complete = end - s >= 2 && (end - s == 2 || s[2] == ':');
        if (complete) v = converted(b->m, v, s[1]);
        else {
            value_drop(b->m, v);
            v = raise(b->m, "ValueError", "expected ':' after conversion specifier");
        }
        s += 2;
    }
    if (absent(v)) return false;
    text spec = { 0 };
    text_addn(&spec, "", 0);
    bool good = s >= end || braces_text(b, s + 1, end, depth + 1, &spec);
    if (good && spec.failed) good = !absent(raise_memory(b->m));
    if (good) good = format_value(b->m, v, spec.at, spec.len, out);
    text_free(&spec);
    value_drop(b->m, v);
    return good;
}

/* The brace that closes the field which starts at s, or NULL. Between the brackets of its name braces are characters. */
static const char *field_end(const char *s, const char *end) {
    bool in_name = true, in_brackets = false;
    for (int depth = 1; s < end; s++) {
        if (in_brackets) {
            in_brackets = *s != ']';
            continue;
        }
        in_name &= *s != '!' && *s != ':';
        in_brackets = in_name && *s == '[';
        depth += (*s == '{') - (*s == '}');
        if (!depth) return s;
    }
    return NULL;
}

static bool braces_text(braces *b, const char *s, const char *end, int depth, text *out) {
    if (depth > 1) {
        raise(b->m, "ValueError", "Max string recursion exceeded");
        return false;
    }
    while (s < end) {
        const char *start = s;
        while (s < end && *s != '{' && *s != '}') s++;
        text_addn(out, start, (size_t)(s - start));
        if (s == end) break;
        if (s + 1 < end && s[1] == *s && !(depth && *s == '{')) {
            text_addn(out, s, 1);
            s += 2;
            continue;
        }
        const char *close = *s == '{' ? field_end(s + 1, end) : NULL;
        if (!close) {
            if (*s == '{' && s + 1 < end) raise(b->m, "ValueError", "expected '}' before end of string");
            else raise(b->m, "ValueError", "Single '%c' encountered in format string", *s);
            return false;
        }
        if (!machine_step(b->m) || !braces_item(b, s + 1, close, depth, out)) return false;
        if (out->len > LENGTH_MOST) return !absent(raise_memory(b->m));
        s = close + 1;
    }
    return true;
}

value format_braces(machine *m, value format, value args, value keywords) {
    const string_object *s = as_string(format);
    braces b = { .m = m, .args = args, .keywords = keywords };
    text out = { 0 };
    text_addn(&out, "", 0);
    if (braces_text(&b, s->at, s->at + s->length, 0, &out)) return string_text(m, &out);
    text_free(&out);
    return NO_VALUE_;
}
