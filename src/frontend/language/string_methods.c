/* string_methods.c: the methods of strings, and UTF-8.
 *
 * How it works: strings are UTF-8, positions are counted in code points; where a string has as many points as bytes the two
 * are the same. Searches run over bytes, which UTF-8 allows. Letters have their case for Latin, Greek and Cyrillic. */
#include <string.h>
#include "frontend/language/natives.h"

/* ---- UTF-8 ---- */

#define SHOWN_MOST 200

size_t utf8_points(const char *s, size_t n) {
    size_t points = 0;
    for (size_t i = 0; i < n; i++) points += ((unsigned char)s[i] & 0xc0) != 0x80;
    return points;
}

size_t utf8_put(uint32_t p, char out[4]) {
    if (p < 0x80) return out[0] = (char)p, 1;
    size_t n = p < 0x800 ? 2 : p < 0x10000 ? 3 : 4;
    for (size_t i = n; --i; p >>= 6) out[i] = (char)(0x80 | (p & 0x3f));
    out[0] = (char)((0xf00 >> n) | p);
    return n;
}

uint32_t utf8_get(const char *s, size_t *size) {
    unsigned char first = (unsigned char)*s;
    *size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t p = *size == 1 ? first : first & (0x7fu >> *size);
    for (size_t i = 1; i < *size; i++) p = p << 6 | ((unsigned char)s[i] & 0x3f);
    return p;
}

int utf8_cut(const char *s, size_t n) {
    if (n <= SHOWN_MOST) return (int)n;
    for (n = SHOWN_MOST; n && ((unsigned char)s[n] & 0xc0) == 0x80;) n--;
    return (int)n;
}

static bool one_byte_each(const string_object *s) { return s->points == s->length || s->head.kind == VALUE_BYTES; }

size_t utf8_offset(const string_object *s, int64_t point) {
    if (one_byte_each(s)) return (size_t)point;
    size_t i = 0;
    for (int64_t p = 0; i < s->length; i++) if (((unsigned char)s->at[i] & 0xc0) != 0x80 && p++ == point) break;
    return i;
}

static int64_t point_at(const string_object *s, size_t offset) { return (int64_t)(one_byte_each(s) ? offset : utf8_points(s->at, offset)); }

static void put_point(text *out, uint32_t p) {
    char c[4];
    text_addn(out, c, utf8_put(p, c));
}

void text_ascii(text *out, const char *s, size_t n) {
    text_addn(out, "", 0);
    for (size_t i = 0, size; i < n; i += size) {
        uint32_t p = utf8_get(s + i, &size);
        if (p < 0x80) text_addn(out, s + i, 1);
        else text_add(out, p < 0x100 ? "\\x%02x" : p < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)p);
    }
}

/* ---- letters ---- */

static uint32_t lower_of(uint32_t p) {
    if ((p >= 'A' && p <= 'Z') || (p >= 0xc0 && p <= 0xde && p != 0xd7) || (p >= 0x391 && p <= 0x3a9 && p != 0x3a2) || (p >= 0x410 && p <= 0x42f)) return p + 32;
    if (p >= 0x400 && p <= 0x40f) return p + 80;
    if ((p >= 0x100 && p <= 0x12f) || (p >= 0x132 && p <= 0x137) || (p >= 0x14a && p <= 0x177)) return p | 1;
    if ((p >= 0x139 && p <= 0x148) || (p >= 0x179 && p <= 0x17e)) return p + (p & 1);
    if (p >= 0x388 && p <= 0x38a) return p + 37;
    return p == 0x178 ? 0xff : p == 0x386 ? 0x3ac : p == 0x38c ? 0x3cc : p == 0x38e || p == 0x38f ? p + 63 : p;
}

static uint32_t upper_of(uint32_t p) {
    if (p == 0xb5 || p == 0x3bc) return 0x39c;
    if (p == 0x3c2) return 0x3a3;
    const uint32_t candidates[] = { p - 32, p - 1, p - 80, p - 37, p - 38, p - 63, p - 64, 0x178 };
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i] < p + 0x100 && candidates[i] != p && lower_of(candidates[i]) == p) return candidates[i];
    return p;
}

static bool is_lower(uint32_t p) { return upper_of(p) != p || p == 0xdf || p == 0xaa || p == 0xba; }
static bool is_upper(uint32_t p) { return lower_of(p) != p; }
static bool is_digit(uint32_t p) { return p >= '0' && p <= '9'; }
static bool is_letter(uint32_t p) {
    if (p < 0x80) return (p >= 'a' && p <= 'z') || (p >= 'A' && p <= 'Z');
    return p == 0xaa || p == 0xb5 || p == 0xba || (p >= 0xc0 && p <= 0x2af && p != 0xd7 && p != 0xf7) || (p >= 0x386 && p <= 0x3ff && p != 0x387 && p != 0x3f6) ||
           (p >= 0x370 && p <= 0x37d && p != 0x375 && p != 0x378 && p != 0x379) || (p >= 0x400 && p <= 0x52f && (p < 0x482 || p > 0x489)) ||
           (p >= 0x1e00 && p <= 0x1eff) || (p >= 0x3041 && p <= 0x3096) || (p >= 0x30a1 && p <= 0x30fa) || (p >= 0x4e00 && p <= 0x9fff) || (p >= 0xac00 && p <= 0xd7a3);
}
static bool is_letter_or_digit(uint32_t p) { return is_letter(p) || is_digit(p); }
static bool is_space(uint32_t p) {
    return p == ' ' || (p >= 9 && p <= 13) || (p >= 0x1c && p <= 0x1f) || p == 0x85 || p == 0xa0 || p == 0x1680 || (p >= 0x2000 && p <= 0x200a) ||
           p == 0x2028 || p == 0x2029 || p == 0x202f || p == 0x205f || p == 0x3000;
}
static bool ends_line(uint32_t p) { return (p >= 10 && p <= 13) || (p >= 0x1c && p <= 0x1e) || p == 0x85 || p == 0x2028 || p == 0x2029; }

/* ---- arguments ---- */

#define SELF as_string(a[0])

/* The string in v, or NULL: raised. */
static const string_object *string_argument(machine *m, value v, const char *what) {
    if (v.kind == VALUE_STRING) return as_string(v);
    raise(m, "TypeError", "%s must be str, not %s", what, value_type_name(v));
    return NULL;
}

static bool given(value v) { return !absent(v) && v.kind != VALUE_NONE; }

static bool integer_or(machine *m, value v, int64_t otherwise, int64_t *i) {
    *i = otherwise;
    return !given(v) || integer_clipped(m, v, i);
}

/* s[start:end] in bytes. */
static bool window_of(machine *m, const string_object *s, value start, value end, size_t *from, size_t *to, bool *empty) {
    int64_t n = (int64_t)s->points, first, last;
    if (!integer_or(m, start, 0, &first) || !integer_or(m, end, n, &last)) return false;
    first = first < 0 ? (first + n < 0 ? 0 : first + n) : first;
    last = last < 0 ? (last + n < 0 ? 0 : last + n) : last > n ? n : last;
    *empty = first > last;                           /* not even an empty string is in it */
    *from = *empty ? 0 : utf8_offset(s, first);
    *to = *empty ? 0 : utf8_offset(s, last);
    return true;
}

static const char *find_first(const char *s, size_t n, const string_object *what) {
    return what->length ? memmem(s, n, what->at, what->length) : s;
}

static const char *find_last(const char *s, size_t n, const string_object *what) {
    for (size_t i = n + 1 - what->length; what->length <= n && i--;) if (!memcmp(s + i, what->at, what->length)) return s + i;
    return NULL;
}

static value made(machine *m, text *t) {
    if (t->len <= (size_t)LENGTH_MOST) return text_addn(t, "", 0), string_text(m, t);
    text_free(t);
    return raise_memory(m);
}

/* ---- searching ---- */

static value search(machine *m, const value *a, bool last, bool must) {
    const string_object *s = SELF, *what = string_argument(m, a[1], "what is looked for");
    size_t from, to;
    bool empty;
    if (!what || !window_of(m, s, a[2], a[3], &from, &to, &empty)) return NO_VALUE_;
    const char *at = empty ? NULL : last ? find_last(s->at + from, to - from, what) : find_first(s->at + from, to - from, what);
    if (at) return int_value(point_at(s, (size_t)(at - s->at)));
    return must ? raise(m, "ValueError", "substring not found") : int_value(-1);
}
static value str_find(machine *m, const value *a, int n) { (void)n; return search(m, a, false, false); }
static value str_rfind(machine *m, const value *a, int n) { (void)n; return search(m, a, true, false); }
static value str_index(machine *m, const value *a, int n) { (void)n; return search(m, a, false, true); }
static value str_rindex(machine *m, const value *a, int n) { (void)n; return search(m, a, true, true); }

static value str_count(machine *m, const value *a, int n) {
    (void)n;
    const string_object *s = SELF, *what = string_argument(m, a[1], "what is counted");
    size_t from, to;
    bool empty;
    if (!what || !window_of(m, s, a[2], a[3], &from, &to, &empty)) return NO_VALUE_;
    if (empty) return int_value(0);
    if (!what->length) return int_value((int64_t)utf8_points(s->at + from, to - from) + 1);
    int64_t count = 0;
    for (const char *at = s->at + from; (at = find_first(at, (size_t)(s->at + to - at), what)); at += what->length) count++;
    return int_value(count);
}

static value at_edge(machine *m, const value *a, bool end) {
    const string_object *s = SELF;
    size_t from, to;
    bool empty, found = false;
    if (!window_of(m, s, a[2], a[3], &from, &to, &empty)) return NO_VALUE_;
    bool several = a[1].kind == VALUE_TUPLE;
    for (size_t i = 0; !found && i < (several ? as_sequence(a[1])->n : 1); i++) {
        const string_object *what = string_argument(m, several ? as_sequence(a[1])->at[i] : a[1], "what a string starts or ends with");
        if (!what) return NO_VALUE_;
        found = !empty && what->length <= to - from && !memcmp(s->at + (end ? to - what->length : from), what->at, what->length);
    }
    return bool_value(found);
}
static value str_startswith(machine *m, const value *a, int n) { (void)n; return at_edge(m, a, false); }
static value str_endswith(machine *m, const value *a, int n) { (void)n; return at_edge(m, a, true); }

static value without_edge(machine *m, const value *a, bool end) {
    const string_object *s = SELF, *what = string_argument(m, a[1], "what is removed");
    if (!what) return NO_VALUE_;
    if (what->length > s->length || memcmp(s->at + (end ? s->length - what->length : 0), what->at, what->length)) return value_keep(a[0]);
    return string_value(m, s->at + (end ? 0 : what->length), s->length - what->length);
}
static value str_removeprefix(machine *m, const value *a, int n) { (void)n; return without_edge(m, a, false); }
static value str_removesuffix(machine *m, const value *a, int n) { (void)n; return without_edge(m, a, true); }

/* ---- splitting and joining ---- */

static value str_join(machine *m, const value *a, int n) {
    (void)n;
    value parts = sequence_of(m, a[1], VALUE_LIST);
    if (absent(parts)) return parts;
    const sequence_object *p = as_sequence(parts);
    text out = { 0 };
    bool good = true;
    for (size_t i = 0; good && i < p->n; i++) {
        if (i) text_addn(&out, SELF->at, SELF->length);
        good = p->at[i].kind == VALUE_STRING && out.len <= (size_t)LENGTH_MOST;
        if (good) text_addn(&out, as_string(p->at[i])->at, as_string(p->at[i])->length);
        else if (p->at[i].kind == VALUE_STRING) raise_memory(m);
        else raise(m, "TypeError", "sequence item %zu: expected str instance, %s found", i, value_type_name(p->at[i]));
    }
    value_drop(m, parts);
    if (good) return made(m, &out);
    text_free(&out);
    return NO_VALUE_;
}

static bool append_part(machine *m, value list, const char *from, const char *to) {
    value part = string_value(m, from, (size_t)(to - from));
    bool good = !absent(part) && machine_step(m) && list_append(m, list, part);
    value_drop(m, part);
    return good;
}

static const char *point_before(const char *s) {
    do s--; while (((unsigned char)*s & 0xc0) == 0x80);
    return s;
}

/* Words from the left; what follows the last split is one part, without the spaces before it. */
static bool split_words(machine *m, value list, const string_object *s, int64_t most) {
    const char *at = s->at, *end = s->at + s->length;
    for (;;) {
        size_t size;
        while (at < end && is_space(utf8_get(at, &size))) at += size;
        if (at == end) return true;
        const char *word = at;
        if (most-- == 0) return append_part(m, list, word, end);
        while (at < end && !is_space(utf8_get(at, &size))) at += size;
        if (!append_part(m, list, word, at)) return false;
    }
}

static bool split_words_back(machine *m, value list, const string_object *s, int64_t most) {
    const char *start = s->at, *at = s->at + s->length;
    for (const char *before;;) {
        size_t size;
        while (at > start && is_space(utf8_get(before = point_before(at), &size))) at = before;
        if (at == start) return true;
        const char *end = at;
        if (most-- == 0) return append_part(m, list, start, end);
        while (at > start && !is_space(utf8_get(before = point_before(at), &size))) at = before;
        if (!append_part(m, list, at, end)) return false;
    }
}

static bool split_by(machine *m, value list, const string_object *s, const string_object *by, int64_t most) {
    const char *from = s->at, *end = s->at + s->length, *at;
    while (most-- && (at = find_first(from, (size_t)(end - from), by))) {
        if (!append_part(m, list, from, at)) return false;
        from = at + by->length;
    }
    return append_part(m, list, from, end);
}

static bool split_by_back(machine *m, value list, const string_object *s, const string_object *by, int64_t most) {
    const char *to = s->at + s->length, *at;
    while (most-- && (at = find_last(s->at, (size_t)(to - s->at), by))) {
        if (!append_part(m, list, at + by->length, to)) return false;
        to = at;
    }
    return append_part(m, list, s->at, to);
}

static void reverse(value list) {
    sequence_object *l = as_sequence(list);
    for (size_t i = 0, j = l->n; i + 1 < j; i++) {
        value v = l->at[i];
        l->at[i] = l->at[--j];
        l->at[j] = v;
    }
}

static value split(machine *m, const value *a, bool back) {
    const string_object *s = SELF, *by = given(a[1]) ? string_argument(m, a[1], "the separator") : NULL;
    int64_t most;
    if ((given(a[1]) && !by) || !integer_or(m, a[2], -1, &most)) return NO_VALUE_;
    if (by && !by->length) return raise(m, "ValueError", "empty separator");
    if (most < 0) most = -1;
    value list = list_value(m, 0, NULL);
    if (absent(list)) return list;
    bool good = by ? (back ? split_by_back : split_by)(m, list, s, by, most) : (back ? split_words_back : split_words)(m, list, s, most);
    if (good && back) reverse(list);
    if (good) return list;
    value_drop(m, list);
    return NO_VALUE_;
}
static value str_split(machine *m, const value *a, int n) { (void)n; return split(m, a, false); }
static value str_rsplit(machine *m, const value *a, int n) { (void)n; return split(m, a, true); }

static value str_splitlines(machine *m, const value *a, int n) {
    (void)n;
    const char *at = SELF->at, *end = at + SELF->length;
    int keep = absent(a[1]) ? 0 : value_truth(m, a[1]);
    value list = keep < 0 ? NO_VALUE_ : list_value(m, 0, NULL);
    while (!absent(list) && at < end) {
        const char *from = at;
        size_t size = 0;
        while (at < end && !ends_line(utf8_get(at, &size))) at += size;
        const char *to = at;
        if (at < end) at += *at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : size;
        if (append_part(m, list, from, keep ? at : to)) continue;
        value_drop(m, list);
        list = NO_VALUE_;
    }
    return list;
}

static value partition(machine *m, const value *a, bool last) {
    const string_object *s = SELF, *by = string_argument(m, a[1], "the separator");
    if (!by) return NO_VALUE_;
    if (!by->length) return raise(m, "ValueError", "empty separator");
    const char *at = last ? find_last(s->at, s->length, by) : find_first(s->at, s->length, by), *end = s->at + s->length;
    const char *first = at ? at : last ? s->at : end, *second = at ? at + by->length : first;
    const char *edge[4] = { s->at, first, second, end };
    value parts[3];
    for (int i = 0; i < 3; i++) parts[i] = string_value(m, edge[i], (size_t)(edge[i + 1] - edge[i]));
    value r = absent(parts[0]) || absent(parts[1]) || absent(parts[2]) ? NO_VALUE_ : tuple_value(m, 3, parts);
    for (int i = 0; i < 3; i++) value_drop(m, parts[i]);
    return r;
}
static value str_partition(machine *m, const value *a, int n) { (void)n; return partition(m, a, false); }
static value str_rpartition(machine *m, const value *a, int n) { (void)n; return partition(m, a, true); }

static bool in_set(const string_object *set, uint32_t p) {
    if (!set) return is_space(p);
    for (size_t i = 0, size; i < set->length; i += size) if (utf8_get(set->at + i, &size) == p) return true;
    return false;
}

static value strip(machine *m, const value *a, bool left, bool right) {
    const string_object *s = SELF, *set = given(a[1]) ? string_argument(m, a[1], "the characters to strip") : NULL;
    if (given(a[1]) && !set) return NO_VALUE_;
    const char *from = s->at, *to = s->at + s->length;
    size_t size;
    while (left && from < to && in_set(set, utf8_get(from, &size))) from += size;
    for (const char *before; right && to > from && in_set(set, utf8_get(before = point_before(to), &size)); to = before) {}
    return (size_t)(to - from) == s->length ? value_keep(a[0]) : string_value(m, from, (size_t)(to - from));
}
static value str_strip(machine *m, const value *a, int n) { (void)n; return strip(m, a, true, true); }
static value str_lstrip(machine *m, const value *a, int n) { (void)n; return strip(m, a, true, false); }
static value str_rstrip(machine *m, const value *a, int n) { (void)n; return strip(m, a, false, true); }

/* `what` is empty: between all characters and at both ends. */
static void put_between(text *out, const string_object *s, const string_object *by, int64_t most) {
    size_t i = 0, size;
    for (; most-- && out->len <= (size_t)LENGTH_MOST; i += size) {
        text_addn(out, by->at, by->length);
        if (i == s->length) return;
        utf8_get(s->at + i, &size);
        text_addn(out, s->at + i, size);
    }
    text_addn(out, s->at + i, s->length - i);
}

static value str_replace(machine *m, const value *a, int n) {
    (void)n;
    const string_object *s = SELF, *what = string_argument(m, a[1], "what is replaced"), *by = what ? string_argument(m, a[2], "the replacement") : NULL;
    int64_t most;
    if (!by || !integer_or(m, a[3], -1, &most)) return NO_VALUE_;
    if (most < 0) most = -1;
    text out = { 0 };
    const char *from = s->at, *end = s->at + s->length, *at;
    if (!what->length) put_between(&out, s, by, most);
    else {
        while (most-- && out.len <= (size_t)LENGTH_MOST && (at = find_first(from, (size_t)(end - from), what))) {
            text_addn(&out, from, (size_t)(at - from));
            text_addn(&out, by->at, by->length);
            from = at + what->length;
        }
        text_addn(&out, from, (size_t)(end - from));
    }
    return made(m, &out);
}

/* ---- case ---- */

typedef enum { CASE_LOWER, CASE_UPPER, CASE_SWAP, CASE_TITLE, CASE_CAPITAL } case_mode;

/* A sigma at `at`, its end at `after`, that ends a word. */
static bool final_sigma(const string_object *s, size_t at, size_t after) {
    size_t size, before = at;
    while (before && ((unsigned char)s->at[--before] & 0xc0) == 0x80) {}
    return at && is_letter(utf8_get(s->at + before, &size)) && (after == s->length || !is_letter(utf8_get(s->at + after, &size)));
}

static value recased(machine *m, const value *a, case_mode mode) {
    const string_object *s = SELF;
    text out = { 0 };
    bool inside = false;                             /* a word, or the string */
    for (size_t i = 0, size; i < s->length; i += size) {
        uint32_t p = utf8_get(s->at + i, &size);
        bool cased = is_lower(p) || is_upper(p), up = mode == CASE_UPPER || (mode == CASE_SWAP && is_lower(p)) || (mode >= CASE_TITLE && !inside);
        if (up && p == 0xdf) text_addn(&out, mode >= CASE_TITLE ? "Ss" : "SS", 2);
        else if (!up && p == 0x3a3 && final_sigma(s, i, i + size)) put_point(&out, 0x3c2);
        else put_point(&out, up ? upper_of(p) : mode == CASE_SWAP && !is_upper(p) ? p : lower_of(p));
        inside = mode == CASE_TITLE ? cased : true;
    }
    return made(m, &out);
}
static value str_lower(machine *m, const value *a, int n) { (void)n; return recased(m, a, CASE_LOWER); }
static value str_upper(machine *m, const value *a, int n) { (void)n; return recased(m, a, CASE_UPPER); }
static value str_swapcase(machine *m, const value *a, int n) { (void)n; return recased(m, a, CASE_SWAP); }
static value str_title(machine *m, const value *a, int n) { (void)n; return recased(m, a, CASE_TITLE); }
static value str_capitalize(machine *m, const value *a, int n) { (void)n; return recased(m, a, CASE_CAPITAL); }

static value all_points(const value *a, bool (*is)(uint32_t)) {
    const string_object *s = SELF;
    for (size_t i = 0, size; i < s->length; i += size) if (!is(utf8_get(s->at + i, &size))) return bool_value(false);
    return bool_value(s->length > 0);
}
static value all_cased(const value *a, bool (*wanted)(uint32_t), bool (*other)(uint32_t)) {
    const string_object *s = SELF;
    bool some = false;
    for (size_t i = 0, size; i < s->length; i += size) {
        uint32_t p = utf8_get(s->at + i, &size);
        if (other(p)) return bool_value(false);
        some |= wanted(p);
    }
    return bool_value(some);
}
static value str_isdigit(machine *m, const value *a, int n) { (void)m; (void)n; return all_points(a, is_digit); }
static value str_isalpha(machine *m, const value *a, int n) { (void)m; (void)n; return all_points(a, is_letter); }
static value str_isalnum(machine *m, const value *a, int n) { (void)m; (void)n; return all_points(a, is_letter_or_digit); }
static value str_isspace(machine *m, const value *a, int n) { (void)m; (void)n; return all_points(a, is_space); }
static value str_isupper(machine *m, const value *a, int n) { (void)m; (void)n; return all_cased(a, is_upper, is_lower); }
static value str_islower(machine *m, const value *a, int n) { (void)m; (void)n; return all_cased(a, is_lower, is_upper); }
static value str_isascii(machine *m, const value *a, int n) { (void)m; (void)n; return bool_value(one_byte_each(SELF)); }
static value str_isidentifier(machine *m, const value *a, int n) {
    (void)m;
    (void)n;
    const string_object *s = SELF;
    for (size_t i = 0, size; i < s->length; i += size) {
        uint32_t p = utf8_get(s->at + i, &size);
        if (!is_letter(p) && p != '_' && !(i && is_digit(p))) return bool_value(false);
    }
    return bool_value(s->length > 0);
}
static value str_istitle(machine *m, const value *a, int n) {
    (void)m;
    (void)n;
    const string_object *s = SELF;
    bool inside = false, some = false;
    for (size_t i = 0, size; i < s->length; i += size) {
        uint32_t p = utf8_get(s->at + i, &size);
        if (is_upper(p) ? inside : is_lower(p) && !inside) return bool_value(false);
        inside = is_upper(p) || is_lower(p);
        some |= inside;
    }
    return bool_value(some);
}

/* ---- padding ---- */

static value justified(machine *m, const value *a, char align) {
    const string_object *s = SELF, *fill = absent(a[2]) ? NULL : string_argument(m, a[2], "the fill character");
    int64_t width;
    if ((!absent(a[2]) && !fill) || !integer_argument(m, a[1], "the width", &width) || !length_allowed(m, width)) return NO_VALUE_;
    if (fill && fill->points != 1) return raise(m, "TypeError", "The fill character must be exactly one character long");
    const char *with = fill ? fill->at : " ";
    size_t size = fill ? fill->length : 1;
    int64_t pad = width > (int64_t)s->points ? width - (int64_t)s->points : 0;
    int64_t left = align == '<' ? 0 : align == '>' ? pad : pad / 2 + (pad & width & 1);   /* the odd one as Python has it */
    text out = { 0 };
    text_repeat(&out, with, size, left);
    text_addn(&out, s->at, s->length);
    text_repeat(&out, with, size, pad - left);
    return made(m, &out);
}
static value str_ljust(machine *m, const value *a, int n) { (void)n; return justified(m, a, '<'); }
static value str_rjust(machine *m, const value *a, int n) { (void)n; return justified(m, a, '>'); }
static value str_center(machine *m, const value *a, int n) { (void)n; return justified(m, a, '^'); }

static value str_zfill(machine *m, const value *a, int n) {
    (void)n;
    const string_object *s = SELF;
    int64_t width;
    if (!integer_argument(m, a[1], "the width", &width) || !length_allowed(m, width)) return NO_VALUE_;
    bool sign = s->length && (s->at[0] == '-' || s->at[0] == '+');
    text out = { 0 };
    text_addn(&out, s->at, sign);
    text_repeat(&out, "0", 1, width - (int64_t)s->points);
    text_addn(&out, s->at + sign, s->length - sign);
    return made(m, &out);
}

static value str_expandtabs(machine *m, const value *a, int n) {
    (void)n;
    const string_object *s = SELF;
    int64_t every, column = 0;
    if (!integer_or(m, a[1], 8, &every) || !length_allowed(m, every)) return NO_VALUE_;
    text out = { 0 };
    for (size_t i = 0, size; i < s->length && out.len <= (size_t)LENGTH_MOST; i += size) {
        utf8_get(s->at + i, &size);
        char c = s->at[i];
        int64_t spaces = every > 0 ? every - column % every : 0;
        if (c == '\t') text_repeat(&out, " ", 1, spaces);
        else text_addn(&out, s->at + i, size);
        column = c == '\n' || c == '\r' ? 0 : c == '\t' ? column + spaces : column + 1;
    }
    return made(m, &out);
}

static value str_format(machine *m, const value *a, int n) { (void)n; return format_braces(m, a[0], a[1], a[2]); }
static value str_format_map(machine *m, const value *a, int n) {
    (void)n;
    if (a[1].kind != VALUE_DICT) return raise(m, "TypeError", "format_map() takes a dict, not %s", value_type_name(a[1]));
    return format_braces(m, a[0], NO_VALUE_, a[1]);
}
static value str_encode(machine *m, const value *a, int n) {
    (void)a;
    (void)n;
    return raise(m, "TypeError", "str.encode is not in the language: text has no bytes here");
}

const native_row string_rows[] = {
    { "capitalize", str_capitalize, "self: str, /", "The first letter large, the others small." },
    { "casefold", str_lower, "self: str, /", "Small letters, for comparing." },
    { "center", str_center, "self: str, width, fillchar=, /", "In the middle of so many characters." },
    { "count", str_count, "self: str, sub, start=, end=, /", "How often sub is in it, without overlap." },
    { "encode", str_encode, "self: str, encoding=, errors=", "Not in the language." },
    { "endswith", str_endswith, "self: str, suffix, start=, end=, /", "Whether it ends with a string, or one of a tuple." },
    { "expandtabs", str_expandtabs, "self: str, tabsize=", "Tabs as spaces." },
    { "find", str_find, "self: str, sub, start=, end=, /", "Where sub begins first, or -1." },
    { "format", str_format, "self: str, /, *args, **kwargs", "Fields in braces filled in." },
    { "format_map", str_format_map, "self: str, mapping, /", "Fields in braces filled in from a dict." },
    { "index", str_index, "self: str, sub, start=, end=, /", "Where sub begins first; ValueError when nowhere." },
    { "isalnum", str_isalnum, "self: str, /", "Whether all are letters or digits." },
    { "isalpha", str_isalpha, "self: str, /", "Whether all are letters." },
    { "isascii", str_isascii, "self: str, /", "Whether all are ASCII." },
    { "isdecimal", str_isdigit, "self: str, /", "Whether all are digits." },
    { "isdigit", str_isdigit, "self: str, /", "Whether all are digits." },
    { "isidentifier", str_isidentifier, "self: str, /", "Whether it may be a name." },
    { "islower", str_islower, "self: str, /", "Whether all letters are small." },
    { "isnumeric", str_isdigit, "self: str, /", "Whether all are digits." },
    { "isspace", str_isspace, "self: str, /", "Whether all are spaces." },
    { "istitle", str_istitle, "self: str, /", "Whether words begin with capitals." },
    { "isupper", str_isupper, "self: str, /", "Whether all letters are large." },
    { "join", str_join, "self: str, iterable, /", "The strings of iterable with self between them." },
    { "ljust", str_ljust, "self: str, width, fillchar=, /", "At the left of so many characters." },
    { "lower", str_lower, "self: str, /", "Small letters." },
    { "lstrip", str_lstrip, "self: str, chars=, /", "Without spaces, or chars, at the start." },
    { "partition", str_partition, "self: str, sep, /", "Before, sep, and after its first place." },
    { "removeprefix", str_removeprefix, "self: str, prefix, /", "Without this start." },
    { "removesuffix", str_removesuffix, "self: str, suffix, /", "Without this end." },
    { "replace", str_replace, "self: str, old, new, /, count=", "Every old, or the first count, as new." },
    { "rfind", str_rfind, "self: str, sub, start=, end=, /", "Where sub begins last, or -1." },
    { "rindex", str_rindex, "self: str, sub, start=, end=, /", "Where sub begins last; ValueError when nowhere." },
    { "rjust", str_rjust, "self: str, width, fillchar=, /", "At the right of so many characters." },
    { "rpartition", str_rpartition, "self: str, sep, /", "Before, sep, and after its last place." },
    { "rsplit", str_rsplit, "self: str, sep=, maxsplit=", "Parts between sep, or words; split from the right." },
    { "rstrip", str_rstrip, "self: str, chars=, /", "Without spaces, or chars, at the end." },
    { "split", str_split, "self: str, sep=, maxsplit=", "Parts between sep, or words." },
    { "splitlines", str_splitlines, "self: str, keepends=", "Lines." },
    { "startswith", str_startswith, "self: str, prefix, start=, end=, /", "Whether it starts with a string, or one of a tuple." },
    { "strip", str_strip, "self: str, chars=, /", "Without spaces, or chars, at both ends." },
    { "swapcase", str_swapcase, "self: str, /", "Small letters large, large ones small." },
    { "title", str_title, "self: str, /", "Words with capitals." },
    { "upper", str_upper, "self: str, /", "Large letters." },
    { "zfill", str_zfill, "self: str, width, /", "Zeros before the digits, behind a sign." },
};
const int nstring_rows = sizeof string_rows / sizeof *string_rows;
