/* methods.c: methods and attributes of lists, dicts, sets, tuples, numbers, ranges and slices, and of their types.
 *
 * How it works: one table of functions for each kind of value, found by name. Strings have a file of their own. */
#include <math.h>
#include <string.h>
#include "frontend/language/natives.h"

#define METHOD(name) static value name(machine *m, const value *a, int n)

/* ---- sorting ---- */

typedef struct sorted_item { value key, item; } sorted_item;

/* a < b: 0, 1, -1 raised. */
static int less(machine *m, value a, value b) {
    if (a.kind == VALUE_INT && b.kind == VALUE_INT) return a.u.i < b.u.i;
    if (a.kind == VALUE_FLOAT && b.kind == VALUE_FLOAT) return a.u.f < b.u.f;
    value v = compare(m, COMPARE_LT, a, b);
    int r = absent(v) ? -1 : value_truth(m, v);
    value_drop(m, v);
    return r;
}

/* Merges the sorted halves of `of` by way of `room`. */
static bool merge(machine *m, sorted_item *of, sorted_item *room, size_t half, size_t n) {
    memcpy(room, of, half * sizeof *of);
    size_t left = 0, right = half, to = 0;
    bool good = true;
    while (left < half && right < n && good) {
        int r = machine_step(m) ? less(m, of[right].key, room[left].key) : -1;
        good = r >= 0;
        of[to++] = r > 0 ? of[right++] : room[left++];
    }
    memcpy(of + to, room + left, (half - left) * sizeof *of);
    return good;
}

/* From the bottom up, stable; on failure still a permutation. */
static bool merge_sort(machine *m, sorted_item *of, sorted_item *room, size_t n) {
    for (size_t width = 1; width < n; width *= 2)
        for (size_t at = 0; at + width < n; at += 2 * width)
            if (!merge(m, of + at, room, width, at + 2 * width < n ? 2 * width : n - at)) return false;
    return true;
}

static void reverse_items(value *at, size_t n) {
    for (size_t i = 0, j = n; i + 1 < j; i++) {
        value v = at[i];
        at[i] = at[--j];
        at[j] = v;
    }
}

/* Sorts `at` with the keys that `key` gives. */
static bool sort_items(machine *m, value *at, size_t n, value key) {
    sorted_item *items = mem_zero(n ? 2 * n : 1, sizeof *items);
    if (!items) return !absent(raise_memory(m));
    bool keyed = !absent(key) && key.kind != VALUE_NONE, good = true;
    size_t keys = 0;
    for (size_t i = 0; i < n; i++) items[i] = (sorted_item){ at[i], at[i] };
    for (; keyed && keys < n && good; keys++) {
        items[keys].key = call_value(m, key, &at[keys], 1, NULL, 0);
        good = !absent(items[keys].key);
    }
    good = good && merge_sort(m, items, items + n, n);
    for (size_t i = 0; i < n; i++) at[i] = items[i].item;
    if (keyed && keys == n) for (size_t i = 0; i < n; i++) value_drop(m, items[i].key);
    else if (keyed) for (size_t i = 0; i < keys; i++) value_drop(m, items[i].key);
    mem_free(items);
    return good;
}

/* The list is empty to whoever looks at it meanwhile. A reversed order keeps equal items as they are, too. */
bool list_sort(machine *m, value list, value key, bool backwards) {
    sequence_object *l = as_sequence(list), was = *l;
    l->n = l->capacity = 0;
    l->at = NULL;
    if (backwards) reverse_items(was.at, was.n);
    bool good = sort_items(m, was.at, was.n, key);
    if (backwards) reverse_items(was.at, was.n);
    if (good && l->n) good = !absent(raise(m, "ValueError", "list modified during sort"));
    sequence_object added = *l;
    l->n = was.n;
    l->capacity = was.capacity;
    l->at = was.at;
    for (size_t i = 0; i < added.n; i++) value_drop(m, added.at[i]);
    machine_bytes(m, -(int64_t)(added.capacity * sizeof(value)));
    mem_free(added.at);
    return good;
}

/* ---- lists and tuples ---- */

METHOD(list_append_) {
    (void)n;
    return list_append(m, a[0], a[1]) ? none_value() : NO_VALUE_;
}

static bool append_items(machine *m, value list, value iterable) {
    value items = sequence_of(m, iterable, VALUE_TUPLE);
    bool good = !absent(items);
    for (size_t i = 0; good && i < as_sequence(items)->n; i++) good = list_append(m, list, as_sequence(items)->at[i]);
    value_drop(m, items);
    return good;
}

METHOD(list_extend) {
    (void)n;
    return append_items(m, a[0], a[1]) ? none_value() : NO_VALUE_;
}

METHOD(list_insert) {
    (void)n;
    int64_t at, length = (int64_t)as_sequence(a[0])->n;
    if (!integer_argument(m, a[1], "the position", &at) || !list_append(m, a[0], a[2])) return NO_VALUE_;
    at = at < 0 ? (at + length < 0 ? 0 : at + length) : at > length ? length : at;
    value *items = as_sequence(a[0])->at, v = items[length];
    memmove(items + at + 1, items + at, (size_t)(length - at) * sizeof *items);
    items[at] = v;
    return none_value();
}

/* Where an item equal to v is from `from` on and before `to`; -1: nowhere, -2: raised. */
static int64_t position_of(machine *m, value sequence, value v, int64_t from, int64_t to) {
    for (int64_t i = from; i < to && i < (int64_t)as_sequence(sequence)->n; i++) {
        value item = value_keep(as_sequence(sequence)->at[i]);
        int equal = machine_step(m) ? value_equal(m, item, v) : -1;
        value_drop(m, item);
        if (equal) return equal > 0 ? i : -2;
    }
    return -1;
}

METHOD(sequence_index_) {
    (void)n;
    int64_t length = (int64_t)as_sequence(a[0])->n, from = 0, to = INT64_MAX;
    if (!absent(a[2]) && !integer_clipped(m, a[2], &from)) return NO_VALUE_;
    if (!absent(a[3]) && !integer_clipped(m, a[3], &to)) return NO_VALUE_;
    from = from < 0 ? (from + length < 0 ? 0 : from + length) : from;
    to = to < 0 ? to + length : to;
    int64_t i = position_of(m, a[0], a[1], from, to);
    return i >= 0 ? int_value(i) : i == -1 ? raise(m, "ValueError", "the value is not in the %s", value_type_name(a[0])) : NO_VALUE_;
}

METHOD(sequence_count) {
    (void)n;
    int64_t count = 0, at = -1;
    while ((at = position_of(m, a[0], a[1], at + 1, INT64_MAX)) >= 0) count++;
    return at == -1 ? int_value(count) : NO_VALUE_;
}

METHOD(list_remove) {
    (void)n;
    int64_t i = position_of(m, a[0], a[1], 0, INT64_MAX);
    if (i == -1) return raise(m, "ValueError", "list.remove(x): x not in list");
    return i >= 0 && sequence_set(m, a[0], int_value(i), NO_VALUE_) ? none_value() : NO_VALUE_;
}

METHOD(list_pop) {
    (void)n;
    int64_t at = -1, length = (int64_t)as_sequence(a[0])->n;
    if (!absent(a[1]) && !value_index(m, a[1], &at, "the position")) return NO_VALUE_;
    if (!length) return raise(m, "IndexError", "pop from empty list");
    at += at < 0 ? length : 0;
    if (at < 0 || at >= length) return raise(m, "IndexError", "pop index out of range");
    value v = value_keep(as_sequence(a[0])->at[at]);
    if (sequence_set(m, a[0], int_value(at), NO_VALUE_)) return v;
    value_drop(m, v);
    return NO_VALUE_;
}

METHOD(list_clear) {
    (void)n;
    sequence_object *l = as_sequence(a[0]);
    while (l->n) value_drop(m, l->at[--l->n]);
    return none_value();
}

METHOD(list_sort_) {
    (void)n;
    int backwards = absent(a[2]) ? 0 : value_truth(m, a[2]);
    return backwards >= 0 && list_sort(m, a[0], a[1], backwards) ? none_value() : NO_VALUE_;
}

METHOD(list_reverse) {
    (void)m;
    (void)n;
    reverse_items(as_sequence(a[0])->at, as_sequence(a[0])->n);
    return none_value();
}

METHOD(list_copy) {
    (void)n;
    return list_value(m, as_sequence(a[0])->n, as_sequence(a[0])->at);
}

/* ---- dicts ---- */

/* The k-th of the pairs given by an iterable that is no dict. */
static bool set_pair(machine *m, value dict, value item, size_t k) {
    value pair = sequence_of(m, item, VALUE_TUPLE);
    if (absent(pair)) return false;
    const sequence_object *p = as_sequence(pair);
    bool good = p->n == 2;
    if (!good) raise(m, "ValueError", "dictionary update sequence element #%zu has length %zu; 2 is required", k, p->n);
    good = good && dict_set(m, dict, p->at[0], p->at[1]);
    value_drop(m, pair);
    return good;
}

bool dict_update(machine *m, value dict, value from) {
    bool good = true;
    if (absent(from)) return true;
    if (from.kind == VALUE_DICT) {
        const pair *p;
        for (size_t at = 0; good && (p = dict_next(from, &at));) {
            value key = value_keep(p->key), item = value_keep(p->item);
            good = machine_step(m) && dict_set(m, dict, key, item);
            value_drop(m, key);
            value_drop(m, item);
        }
        return good;
    }
    value items = sequence_of(m, from, VALUE_LIST);
    good = !absent(items);
    for (size_t i = 0; good && i < as_sequence(items)->n; i++) good = set_pair(m, dict, as_sequence(items)->at[i], i);
    value_drop(m, items);
    return good;
}

/* The values, or pairs of key and value. */
static value dict_list(machine *m, value dict, bool pairs) {
    value list = list_value(m, 0, NULL);
    const pair *p;
    for (size_t at = 0; !absent(list) && (p = dict_next(dict, &at));) {
        value v = pairs ? tuple_value(m, 2, (value[]){ p->key, p->item }) : value_keep(p->item);
        bool good = !absent(v) && machine_step(m) && list_append(m, list, v);
        value_drop(m, v);
        if (good) continue;
        value_drop(m, list);
        list = NO_VALUE_;
    }
    return list;
}
METHOD(dict_values) { (void)n; return dict_list(m, a[0], false); }
METHOD(dict_items) { (void)n; return dict_list(m, a[0], true); }

static value or_none(value v) { return absent(v) ? none_value() : value_keep(v); }

METHOD(dict_get_) {
    (void)n;
    value v;
    if (!dict_find(m, a[0], a[1], &v)) return NO_VALUE_;
    return absent(v) ? or_none(a[2]) : value_keep(v);
}

METHOD(dict_setdefault) {
    (void)n;
    value v;
    if (!dict_find(m, a[0], a[1], &v)) return NO_VALUE_;
    if (!absent(v)) return value_keep(v);
    v = or_none(a[2]);
    if (dict_set(m, a[0], a[1], v)) return v;
    value_drop(m, v);
    return NO_VALUE_;
}

METHOD(dict_update_) {
    (void)n;
    return dict_update(m, a[0], a[1]) && dict_update(m, a[0], a[2]) ? none_value() : NO_VALUE_;
}

METHOD(dict_pop) {
    (void)n;
    value v;
    bool was;
    if (!dict_find(m, a[0], a[1], &v)) return NO_VALUE_;
    if (absent(v)) return absent(a[2]) ? raise_key(m, a[1]) : value_keep(a[2]);
    v = value_keep(v);
    if (dict_remove(m, a[0], a[1], &was)) return v;
    value_drop(m, v);
    return NO_VALUE_;
}

METHOD(dict_popitem) {
    (void)n;
    const pair *p, *last = NULL;
    for (size_t at = 0; (p = dict_next(a[0], &at));) last = p;
    if (!last) return raise(m, "KeyError", "popitem(): dictionary is empty");
    value item = tuple_value(m, 2, (value[]){ last->key, last->item });
    bool was;
    if (absent(item) || dict_remove(m, a[0], as_sequence(item)->at[0], &was)) return item;
    value_drop(m, item);
    return NO_VALUE_;
}

METHOD(dict_clear_) {
    (void)n;
    dict_clear(m, a[0]);
    return none_value();
}

/* A new dict or set, filled; consumes it on failure. */
static value filled(machine *m, value v, bool good) {
    if (good) return v;
    value_drop(m, v);
    return NO_VALUE_;
}

METHOD(dict_copy) {
    (void)n;
    value d = dict_value(m);
    return filled(m, d, !absent(d) && dict_update(m, d, a[0]));
}

METHOD(dict_fromkeys) {
    (void)n;
    value keys = sequence_of(m, a[0], VALUE_LIST), d = absent(keys) ? keys : dict_value(m);
    bool good = !absent(d);
    for (size_t i = 0; good && i < as_sequence(keys)->n; i++) good = dict_set(m, d, as_sequence(keys)->at[i], absent(a[1]) ? none_value() : a[1]);
    value_drop(m, keys);
    return filled(m, d, good);
}

/* ---- sets ---- */

/* Every item of an iterable into a set. */
static bool set_update(machine *m, value set, value iterable) {
    if (absent(iterable)) return true;
    value items = sequence_of(m, iterable, VALUE_LIST);
    bool good = !absent(items);
    for (size_t i = 0; good && i < as_sequence(items)->n; i++) good = machine_step(m) && dict_set(m, set, as_sequence(items)->at[i], none_value());
    value_drop(m, items);
    return good;
}

value set_of(machine *m, value iterable) {
    value s = set_value(m);
    return filled(m, s, !absent(s) && set_update(m, s, iterable));
}

/* The items of `of` that `other` has (or has not), as a new set. */
static value set_filter(machine *m, value of, value other, bool wanted) {
    value s = set_value(m), theirs = other.kind == VALUE_SET || other.kind == VALUE_DICT ? value_keep(other) : set_of(m, other), found;
    bool good = !absent(s) && !absent(theirs);
    const pair *p;
    for (size_t at = 0; good && (p = dict_next(of, &at));) {
        good = machine_step(m) && dict_find(m, theirs, p->key, &found);
        if (good && absent(found) != wanted) good = dict_set(m, s, p->key, none_value());
    }
    value_drop(m, theirs);
    return filled(m, s, good);
}

/* self and each of the others in turn, from left to right. */
static value set_fold(machine *m, value self, value others, value (*step)(machine *m, value a, value b)) {
    value s = set_of(m, self);
    for (size_t i = 0; !absent(s) && i < as_sequence(others)->n; i++) {
        value next = step(m, s, as_sequence(others)->at[i]);
        value_drop(m, s);
        s = next;
    }
    return s;
}
static value united(machine *m, value a, value b) {
    value s = set_of(m, a);
    return filled(m, s, !absent(s) && set_update(m, s, b));
}
static value common(machine *m, value a, value b) { return set_filter(m, a, b, true); }
static value without(machine *m, value a, value b) { return set_filter(m, a, b, false); }
static value either(machine *m, value a, value b) {
    value other = set_of(m, b), s = absent(other) ? other : without(m, a, other), more = absent(s) ? s : without(m, other, a);
    bool good = !absent(more) && set_update(m, s, more);
    value_drop(m, other);
    value_drop(m, more);
    return filled(m, s, good);
}

METHOD(set_union) { (void)n; return set_fold(m, a[0], a[1], united); }
METHOD(set_intersection) { (void)n; return set_fold(m, a[0], a[1], common); }
METHOD(set_difference) { (void)n; return set_fold(m, a[0], a[1], without); }
METHOD(set_symmetric_difference) { (void)n; return either(m, a[0], a[1]); }

/* The set becomes `to`, which is consumed. */
static value replaced(machine *m, value set, value to) {
    if (absent(to)) return to;
    dict_clear(m, set);
    bool good = set_update(m, set, to);
    value_drop(m, to);
    return good ? none_value() : NO_VALUE_;
}
METHOD(set_update_) { (void)n; return replaced(m, a[0], set_fold(m, a[0], a[1], united)); }
METHOD(set_intersection_update) { (void)n; return replaced(m, a[0], set_fold(m, a[0], a[1], common)); }
METHOD(set_difference_update) { (void)n; return replaced(m, a[0], set_fold(m, a[0], a[1], without)); }
METHOD(set_symmetric_difference_update) { (void)n; return replaced(m, a[0], either(m, a[0], a[1])); }

METHOD(set_copy) { (void)n; return set_of(m, a[0]); }
METHOD(dict_keys) { (void)n; return set_of(m, a[0]); }   /* in the dict's order */
METHOD(set_add) {
    (void)n;
    return dict_set(m, a[0], a[1], none_value()) ? none_value() : NO_VALUE_;
}
METHOD(set_discard) {
    (void)n;
    bool was;
    return dict_remove(m, a[0], a[1], &was) ? none_value() : NO_VALUE_;
}
METHOD(set_remove) {
    (void)n;
    bool was;
    if (!dict_remove(m, a[0], a[1], &was)) return NO_VALUE_;
    return was ? none_value() : raise_key(m, a[1]);
}
METHOD(set_pop) {
    (void)n;
    size_t at = 0;
    const pair *p = dict_next(a[0], &at);
    if (!p) return raise(m, "KeyError", "pop from an empty set");
    value v = value_keep(p->key);
    bool was;
    return filled(m, v, dict_remove(m, a[0], v, &was));
}

/* Whether a and b have no item in common, or all of a's are in b. */
static value set_compare(machine *m, value a, value b, bool disjoint) {
    value of = set_of(m, a), r = absent(of) ? of : set_filter(m, of, b, disjoint);
    value_drop(m, of);
    if (absent(r)) return r;
    bool empty = !dict_count(r);
    value_drop(m, r);
    return bool_value(empty);
}
METHOD(set_isdisjoint) { (void)n; return set_compare(m, a[0], a[1], true); }
METHOD(set_issubset) { (void)n; return set_compare(m, a[0], a[1], false); }
METHOD(set_issuperset) { (void)n; return set_compare(m, a[1], a[0], false); }

/* ---- numbers ---- */

METHOD(number_conjugate) {
    (void)n;
    if (a[0].kind == VALUE_COMPLEX) return complex_value(m, as_complex(a[0])->re, -as_complex(a[0])->im);
    return a[0].kind == VALUE_BOOL ? int_value(a[0].u.i) : value_keep(a[0]);
}
METHOD(int_bit_length) { (void)m; (void)n; return int_value(big_bit_length(a[0])); }
METHOD(int_bit_count) { (void)m; (void)n; return int_value(big_bit_count(a[0])); }
METHOD(number_is_integer) {
    (void)m;
    (void)n;
    return bool_value(a[0].kind != VALUE_FLOAT || (isfinite(a[0].u.f) && a[0].u.f == floor(a[0].u.f)));
}

/* Takes both over. */
static value pair_of(machine *m, value a, value b) {
    value t = absent(a) || absent(b) ? NO_VALUE_ : tuple_value(m, 2, (value[]){ a, b });
    value_drop(m, a);
    value_drop(m, b);
    return t;
}

METHOD(number_as_integer_ratio) {
    (void)n;
    if (a[0].kind != VALUE_FLOAT) return pair_of(m, a[0].kind == VALUE_BIG ? value_keep(a[0]) : int_value(a[0].u.i), int_value(1));
    if (isnan(a[0].u.f)) return raise(m, "ValueError", "cannot convert NaN to integer ratio");
    if (isinf(a[0].u.f)) return raise(m, "OverflowError", "cannot convert Infinity to integer ratio");
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(a[0].u.f, &exponent), 53);
    for (exponent -= 53; mantissa && mantissa % 2 == 0; exponent++) mantissa /= 2;
    if (!mantissa) exponent = 0;
    value top = big_shift(m, int_value(mantissa), exponent > 0 ? exponent : 0);
    return pair_of(m, top, absent(top) ? top : big_shift(m, int_value(1), exponent < 0 ? -exponent : 0));
}

METHOD(float_hex) {
    (void)n;
    double d = a[0].u.f;
    text t = { 0 };
    if (!isfinite(d)) return string_value(m, isnan(d) ? "nan" : d < 0 ? "-inf" : "inf", isnan(d) ? 3 : d < 0 ? 4 : 3);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    unsigned long long fraction = bits & 0xfffffffffffffu;
    int biased = (int)(bits >> 52 & 0x7ff);
    if (d == 0) text_add(&t, "%s0x0.0p+0", signbit(d) ? "-" : "");
    else text_add(&t, "%s0x%d.%013llxp%+d", signbit(d) ? "-" : "", biased != 0, fraction, (biased ? biased : 1) - 1023);
    return string_text(m, &t);
}

/* digits * 2**exponent, rounded once. */
static value scaled(machine *m, value digits, int64_t exponent) {
    double d = 0;
    int64_t size = big_bit_length(digits) + exponent;
    if (size > 1024 && big_sign(digits)) return raise(m, "OverflowError", "hexadecimal value too large to represent as a float");
    if (size < -1080 || !big_sign(digits)) return float_value(0);
    value shifted = exponent > 0 ? big_shift(m, digits, exponent) : value_keep(digits), by = exponent < 0 ? big_shift(m, int_value(1), -exponent) : int_value(1);
    bool good = !absent(shifted) && !absent(by) && big_ratio(m, shifted, by, &d);
    value_drop(m, shifted);
    value_drop(m, by);
    return good ? float_value(d) : NO_VALUE_;
}

/* The digits at *s without the point; *places of them stand behind it. Moves *s behind them. */
static value hex_digits(machine *m, const char **s, int64_t *places) {
    text digits = { 0 };
    bool point = false;
    *places = 0;
    for (; (**s && strchr("0123456789abcdefABCDEF", **s)) || (**s == '.' && !point); ++*s) {
        if (**s == '.') point = true;
        else text_addn(&digits, *s, 1), *places += point;
    }
    value v = digits.failed ? raise_memory(m) : digits.len ? big_from_text(m, digits.at, digits.len, 16) : none_value();
    text_free(&digits);
    return v;
}

/* "p-12"; nothing is 0. false: malformed. */
static bool hex_exponent(const char **s, int64_t *exponent) {
    *exponent = 0;
    if ((**s | 32) != 'p') return true;
    bool negative = *++*s == '-';
    *s += **s == '-' || **s == '+';
    const char *start = *s;
    for (; **s >= '0' && **s <= '9'; ++*s) if (*exponent < INT32_MAX) *exponent = *exponent * 10 + (**s - '0');
    if (negative) *exponent = -*exponent;
    return *s > start;
}

METHOD(float_fromhex) {
    if (a[0].kind != VALUE_STRING) return raise(m, "TypeError", "fromhex() argument must be str, not %s", value_type_name(a[0]));
    static const char spaces[] = " \t\n\r\f\v";
    const char *s = as_string(a[0])->at + strspn(as_string(a[0])->at, spaces);
    bool negative = *s == '-';
    s += *s == '-' || *s == '+';
    if ((*s | 32) == 'i' || (*s | 32) == 'n') return make_float(m, a, n);
    s += s[0] == '0' && (s[1] | 32) == 'x' ? 2 : 0;
    int64_t places, exponent;
    value digits = hex_digits(m, &s, &places);
    if (absent(digits)) return digits;
    bool good = digits.kind != VALUE_NONE && hex_exponent(&s, &exponent) && s + strspn(s, spaces) == as_string(a[0])->at + as_string(a[0])->length;
    value v = good ? scaled(m, digits, exponent - 4 * places) : raise(m, "ValueError", "invalid hexadecimal floating-point string");
    value_drop(m, digits);
    return v.kind == VALUE_FLOAT && negative ? float_value(-v.u.f) : v;
}

/* ---- ranges and slices ---- */

/* Where v is in the range; -1: nowhere, -2: raised. */
static int64_t range_position(machine *m, value range, value v) {
    const range_object *r = as_range(range);
    if (v.kind != VALUE_INT && v.kind != VALUE_BOOL) {
        for (int64_t i = 0; i < r->n; i++) {
            int equal = machine_step(m) ? value_equal(m, int_value(r->start + i * r->step), v) : -1;
            if (equal) return equal > 0 ? i : -2;
        }
        return -1;
    }
    if (!r->n) return -1;
    int64_t last = r->start + (r->n - 1) * r->step, low = r->step > 0 ? r->start : last, high = r->step > 0 ? last : r->start;
    if (v.u.i < low || v.u.i > high) return -1;
    uint64_t distance = r->step > 0 ? (uint64_t)v.u.i - (uint64_t)r->start : (uint64_t)r->start - (uint64_t)v.u.i;
    uint64_t step = r->step > 0 ? (uint64_t)r->step : -(uint64_t)r->step;
    return distance % step ? -1 : (int64_t)(distance / step);
}
METHOD(range_index) {
    (void)n;
    int64_t i = range_position(m, a[0], a[1]);
    return i >= 0 ? int_value(i) : i == -1 ? raise(m, "ValueError", "the value is not in the range") : NO_VALUE_;
}
METHOD(range_count) {
    (void)n;
    int64_t i = range_position(m, a[0], a[1]);
    return i == -2 ? NO_VALUE_ : int_value(i >= 0);
}

METHOD(slice_indices) {
    (void)n;
    int64_t length, start, step, count;
    if (!value_index(m, a[1], &length, "the length") || !slice_bounds(m, a[0], length, &start, &step, &count)) return NO_VALUE_;
    int64_t first = start < 0 ? -1 : start, stop = length;   /* the stop as Python gives it, clipped to the length */
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
    const slice_object *s = as_slice(a[0]);
    if (s->stop.kind == VALUE_NONE) stop = step < 0 ? -1 : length;
    else if (!value_index(m, s->stop, &stop, "the stop")) return NO_VALUE_;
    else {
        stop += stop < 0 ? length : 0;
        stop = stop < low ? low : stop > high ? high : stop;
    }
    return tuple_value(m, 3, (value[]){ int_value(first), int_value(stop), int_value(step) });
}

/* ---- tables ---- */

static const native_row list_rows[] = {
    { "append", list_append_, "self: list, object, /", "Puts one more at the end." },
    { "clear", list_clear, "self: list, /", "Takes everything out." },
    { "copy", list_copy, "self: list, /", "Another list of the same items." },
    { "count", sequence_count, "self: list, value, /", "How many items are equal to value." },
    { "extend", list_extend, "self: list, iterable, /", "Puts everything iterable gives at the end." },
    { "index", sequence_index_, "self: list, value, start=, stop=, /", "Where the first item equal to value is." },
    { "insert", list_insert, "self: list, index, object, /", "Puts one in before index." },
    { "pop", list_pop, "self: list, index=, /", "Takes one out and gives it; the last." },
    { "remove", list_remove, "self: list, value, /", "Takes out the first item equal to value." },
    { "reverse", list_reverse, "self: list, /", "Turns the order round." },
    { "sort", list_sort_, "self: list, /, *, key=, reverse=", "Sorts in place; equal items keep their order." },
};
static const native_row tuple_rows[] = {
    { "count", sequence_count, "self: tuple, value, /", "How many items are equal to value." },
    { "index", sequence_index_, "self: tuple, value, start=, stop=, /", "Where the first item equal to value is." },
};
static const native_row dict_rows[] = {
    { "clear", dict_clear_, "self: dict, /", "Takes everything out." },
    { "copy", dict_copy, "self: dict, /", "Another dict of the same items." },
    { "get", dict_get_, "self: dict, key, default=, /", "The item of key, or default." },
    { "items", dict_items, "self: dict, /", "Pairs of key and item." },
    { "keys", dict_keys, "self: dict, /", "The keys, as a set in their order." },
    { "pop", dict_pop, "self: dict, key, default=, /", "Takes key out and gives its item, or default." },
    { "popitem", dict_popitem, "self: dict, /", "Takes the last pair out and gives it." },
    { "setdefault", dict_setdefault, "self: dict, key, default=, /", "The item of key, which is put in as default when missing." },
    { "update", dict_update_, "self: dict, other=, /, **kwargs", "Takes over pairs." },
    { "values", dict_values, "self: dict, /", "The items." },
};
static const native_row dict_type_rows[] = {
    { "fromkeys", dict_fromkeys, "iterable, value=, /", "A dict with these keys, all with one value." },
};
static const native_row float_type_rows[] = {
    { "fromhex", float_fromhex, "string, /", "The float that hex() wrote." },
};
static const native_row set_rows[] = {
    { "add", set_add, "self: set, object, /", "Puts one in." },
    { "clear", dict_clear_, "self: set, /", "Takes everything out." },
    { "copy", set_copy, "self: set, /", "Another set of the same items." },
    { "difference", set_difference, "self: set, /, *others", "Without the items of others." },
    { "difference_update", set_difference_update, "self: set, /, *others", "Takes out the items of others." },
    { "discard", set_discard, "self: set, object, /", "Takes one out, if it is there." },
    { "intersection", set_intersection, "self: set, /, *others", "What is in all." },
    { "intersection_update", set_intersection_update, "self: set, /, *others", "Keeps what is in all." },
    { "isdisjoint", set_isdisjoint, "self: set, other, /", "Whether nothing is in both." },
    { "issubset", set_issubset, "self: set, other, /", "Whether all is in other." },
    { "issuperset", set_issuperset, "self: set, other, /", "Whether all of other is in it." },
    { "pop", set_pop, "self: set, /", "Takes one out and gives it." },
    { "remove", set_remove, "self: set, object, /", "Takes one out; KeyError when missing." },
    { "symmetric_difference", set_symmetric_difference, "self: set, other, /", "What is in one of both." },
    { "symmetric_difference_update", set_symmetric_difference_update, "self: set, other, /", "Keeps what is in one of both." },
    { "union", set_union, "self: set, /, *others", "What is in any." },
    { "update", set_update_, "self: set, /, *others", "Puts in the items of others." },
};
static const native_row int_rows[] = {
    { "as_integer_ratio", number_as_integer_ratio, "self: int, /", "Numerator and denominator." },
    { "bit_count", int_bit_count, "self: int, /", "How many bits of the magnitude are set." },
    { "bit_length", int_bit_length, "self: int, /", "How many bits the magnitude has." },
    { "conjugate", number_conjugate, "self: int, /", "Itself." },
    { "is_integer", number_is_integer, "self: int, /", "True." },
};
static const native_row float_rows[] = {
    { "as_integer_ratio", number_as_integer_ratio, "self: float, /", "Numerator and denominator, exactly." },
    { "conjugate", number_conjugate, "self: float, /", "Itself." },
    { "hex", float_hex, "self: float, /", "All its bits as text." },
    { "is_integer", number_is_integer, "self: float, /", "Whether it has no fraction." },
};
static const native_row complex_rows[] = {
    { "conjugate", number_conjugate, "self: complex, /", "With the other sign of the imaginary part." },
};
static const native_row range_rows[] = {
    { "count", range_count, "self: range, value, /", "1 if value is in it." },
    { "index", range_index, "self: range, value, /", "Where value is." },
};
static const native_row slice_rows[] = {
    { "indices", slice_indices, "self: slice, length, /", "Start, stop and step for a sequence of this length." },
};

#define ROWS(rows) rows, sizeof rows / sizeof *rows
static const struct { const char *type; const native_row *rows; size_t n; } method_tables[] = {
    { "list", ROWS(list_rows) }, { "tuple", ROWS(tuple_rows) }, { "dict", ROWS(dict_rows) }, { "set", ROWS(set_rows) }, { "int", ROWS(int_rows) },
    { "bool", ROWS(int_rows) }, { "float", ROWS(float_rows) }, { "complex", ROWS(complex_rows) }, { "range", ROWS(range_rows) }, { "slice", ROWS(slice_rows) },
};

static const native_row *row_in(const native_row *rows, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) if (!strcmp(rows[i].name, name)) return &rows[i];
    return NULL;
}

static const native_row *method_row(const char *type, const char *name) {
    if (!strcmp(type, "str")) return row_in(string_rows, (size_t)nstring_rows, name);
    for (size_t i = 0; i < sizeof method_tables / sizeof *method_tables; i++)
        if (!strcmp(type, method_tables[i].type)) return row_in(method_tables[i].rows, method_tables[i].n, name);
    return NULL;
}

/* What is no function: a part of the value. ABSENT: none. */
static value attribute_of(machine *m, value v, const char *name) {
    bool number = v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_BIG || v.kind == VALUE_FLOAT, integer = number && v.kind != VALUE_FLOAT;
    value self = v.kind == VALUE_BOOL ? int_value(v.u.i) : v;
    if ((number && !strcmp(name, "real")) || (integer && !strcmp(name, "numerator"))) return value_keep(self);
    if (number && !strcmp(name, "imag")) return v.kind == VALUE_FLOAT ? float_value(0) : int_value(0);
    if (integer && !strcmp(name, "denominator")) return int_value(1);
    if (v.kind == VALUE_COMPLEX && !strcmp(name, "real")) return float_value(as_complex(v)->re);
    if (v.kind == VALUE_COMPLEX && !strcmp(name, "imag")) return float_value(as_complex(v)->im);
    int part = !strcmp(name, "start") ? 0 : !strcmp(name, "stop") ? 1 : !strcmp(name, "step") ? 2 : -1;
    if (v.kind == VALUE_SLICE && part >= 0) return value_keep((&as_slice(v)->start)[part]);
    if (v.kind == VALUE_RANGE && part >= 0) return int_value((&as_range(v)->start)[part]);
    bool native = v.kind == VALUE_NATIVE;
    if ((native || v.kind == VALUE_TYPE) && !strcmp(name, "__name__")) {
        const char *whole = native ? ((native_object *)v.u.o)->row->name : ((type_object *)v.u.o)->row->name, *dot = strrchr(whole, '.');
        return string_value(m, dot ? dot + 1 : whole, strlen(dot ? dot + 1 : whole));
    }
    return NO_VALUE_;
}

value method_of(machine *m, value v, const char *name) {
    value attribute = attribute_of(m, v, name);
    if (!absent(attribute) || !absent(m->exception)) return attribute;
    const char *type = v.kind == VALUE_TYPE ? ((type_object *)v.u.o)->row->name : value_type_name(v);
    const native_row *row = !strcmp(type, "dict") ? row_in(ROWS(dict_type_rows), name) : !strcmp(type, "float") ? row_in(ROWS(float_type_rows), name) : NULL;
    if (row) return native_value(m, row);
    row = method_row(type, name);
    return !row ? NO_VALUE_ : v.kind == VALUE_TYPE ? native_value(m, row) : bound_value(m, row, v);
}
