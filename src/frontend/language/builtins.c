/* builtins.c: Python's built-in functions.
 *
 * How it works: one row a function. Functions over iterables take what the iterator gives, one at a time; the lazy ones are
 * iterators themselves. Numbers are in numbers.c, types in types.c. */
#include <math.h>
#include <string.h>
#include "frontend/language/natives.h"

#define BUILTIN(name) static value name(machine *m, const value *a, int n)

static bool given(value v) { return !absent(v) && v.kind != VALUE_NONE; }

/* ---- iterators ---- */

/* Iterators over iterators over ... are asked one within the other. */
static value iterator_next_of(machine *m, value iterator, bool *done) {
    *done = false;
    if (!machine_enter(m)) return NO_VALUE_;
    value v = value_next(m, iterator, done);
    machine_leave(m);
    return v;
}

/* Takes `of` over. */
static value iterator_over(machine *m, const char *name, value (*next)(machine *, iterator_object *, bool *), int n, value *of) {
    bool good = true;
    for (int i = 0; i < n; i++) good &= !absent(of[i]);
    value v = good ? iterator_value(m, name, next, n, of) : NO_VALUE_;
    for (int i = 0; i < n; i++) value_drop(m, of[i]);
    return v;
}

static value enumerate_next(machine *m, iterator_object *it, bool *done) {
    value v = iterator_next_of(m, it->of[0], done);
    if (absent(v)) return v;
    value pair = tuple_value(m, 2, (value[]){ it->of[1], v }), next = big_add(m, it->of[1], int_value(1));
    value_drop(m, v);
    value_drop(m, it->of[1]);
    it->of[1] = next;
    if (!absent(next)) return pair;
    value_drop(m, pair);
    return NO_VALUE_;
}
BUILTIN(do_enumerate) {
    (void)n;
    value of[2] = { value_iterate(m, a[0]), NO_VALUE_ };
    if (!absent(of[0])) of[1] = absent(a[1]) ? int_value(0) : as_integer(m, a[1]);
    return iterator_over(m, "enumerate", enumerate_next, 2, of);
}

/* One item of each iterator in a tuple; *short_at: the first that has none left, or -1. ABSENT then, or raised. */
static value next_of_each(machine *m, value iterators, int64_t *short_at) {
    const sequence_object *each = as_sequence(iterators);
    value items = list_value(m, 0, NULL);
    *short_at = -1;
    for (size_t i = 0; !absent(items) && i < each->n; i++) {
        bool done;
        value v = iterator_next_of(m, each->at[i], &done);
        if (!absent(v) && list_append(m, items, v)) {
            value_drop(m, v);
            continue;
        }
        if (done) *short_at = (int64_t)i;
        value_drop(m, v);
        value_drop(m, items);
        items = NO_VALUE_;
    }
    return items;
}

/* The first iterator of a strict zip is at its end (or another one is earlier): all must be. */
static void strict_end(machine *m, value iterators, int64_t short_at) {
    if (short_at > 0) {
        raise(m, "ValueError", "zip() argument %lld is shorter than those before it", (long long)short_at + 1);
        return;
    }
    for (size_t i = 1; i < as_sequence(iterators)->n; i++) {
        bool done;
        value v = iterator_next_of(m, as_sequence(iterators)->at[i], &done);
        if (absent(v) && !done) return;
        if (!absent(v)) raise(m, "ValueError", "zip() argument %zu is longer than argument 1", i + 1);
        value_drop(m, v);
        if (!done) return;
    }
}

static value zip_next(machine *m, iterator_object *it, bool *done) {
    int64_t short_at = 0;
    bool none = !as_sequence(it->of[0])->n;
    value items = none ? NO_VALUE_ : next_of_each(m, it->of[0], &short_at);
    if (!absent(items)) {
        value t = tuple_value(m, as_sequence(items)->n, as_sequence(items)->at);
        value_drop(m, items);
        return t;
    }
    if (!absent(m->exception)) return NO_VALUE_;
    if (it->of[1].u.i && !none) strict_end(m, it->of[0], short_at);
    *done = absent(m->exception);
    return NO_VALUE_;
}

/* An iterator of each, in a tuple. */
static value iterate_each(machine *m, const value *of, size_t n) {
    value list = list_value(m, 0, NULL);
    for (size_t i = 0; !absent(list) && i < n; i++) {
        value it = value_iterate(m, of[i]);
        bool good = !absent(it) && list_append(m, list, it);
        value_drop(m, it);
        if (good) continue;
        value_drop(m, list);
        return NO_VALUE_;
    }
    value t = absent(list) ? list : tuple_value(m, n, as_sequence(list)->at);
    value_drop(m, list);
    return t;
}
BUILTIN(do_zip) {
    (void)n;
    int strict = absent(a[1]) ? 0 : value_truth(m, a[1]);
    if (strict < 0) return NO_VALUE_;
    value of[2] = { iterate_each(m, as_sequence(a[0])->at, as_sequence(a[0])->n), bool_value(strict) };
    return iterator_over(m, "zip", zip_next, 2, of);
}

static value map_next(machine *m, iterator_object *it, bool *done) {
    int64_t short_at;
    value items = next_of_each(m, it->of[1], &short_at);
    if (absent(items)) {
        *done = absent(m->exception);
        return items;
    }
    value r = call_value(m, it->of[0], as_sequence(items)->at, (int)as_sequence(items)->n, NULL, 0);
    value_drop(m, items);
    return r;
}
BUILTIN(do_map) {
    (void)n;
    if (!as_sequence(a[1])->n) return raise(m, "TypeError", "map() must have at least two arguments");
    value of[2] = { value_keep(a[0]), iterate_each(m, as_sequence(a[1])->at, as_sequence(a[1])->n) };
    return iterator_over(m, "map", map_next, 2, of);
}

static value filter_next(machine *m, iterator_object *it, bool *done) {
    for (;;) {
        value v = machine_step(m) ? iterator_next_of(m, it->of[1], done) : NO_VALUE_;
        if (absent(v)) return v;
        value test = it->of[0].kind == VALUE_NONE ? value_keep(v) : call_value(m, it->of[0], &v, 1, NULL, 0);
        int truth = absent(test) ? -1 : value_truth(m, test);
        value_drop(m, test);
        if (truth > 0) return v;
        value_drop(m, v);
        if (truth < 0) return NO_VALUE_;
    }
}
BUILTIN(do_filter) {
    (void)n;
    value of[2] = { value_keep(a[0]), value_iterate(m, a[1]) };
    return iterator_over(m, "filter", filter_next, 2, of);
}

static value reversed_next(machine *m, iterator_object *it, bool *done) {
    *done = --it->at < 0;
    return *done ? NO_VALUE_ : value_subscript(m, it->of[0], int_value(it->at));
}
BUILTIN(do_reversed) {
    (void)n;
    int64_t length;
    bool keyed = a[0].kind == VALUE_DICT;
    if (!keyed && a[0].kind != VALUE_LIST && a[0].kind != VALUE_TUPLE && a[0].kind != VALUE_STRING && a[0].kind != VALUE_RANGE && a[0].kind != VALUE_ARRAY)
        return raise(m, "TypeError", "'%s' object is not reversible", value_type_name(a[0]));
    if (!value_length(m, a[0], &length)) return NO_VALUE_;
    value of[1] = { keyed ? sequence_of(m, a[0], VALUE_LIST) : value_keep(a[0]) };
    value v = iterator_over(m, "reversed", reversed_next, 1, of);
    if (!absent(v)) ((iterator_object *)v.u.o)->at = length;
    return v;
}

BUILTIN(do_iter) {
    (void)n;
    return value_iterate(m, a[0]);
}
BUILTIN(do_next) {
    (void)n;
    if (a[0].kind != VALUE_ITERATOR) return raise(m, "TypeError", "'%s' object is not an iterator", value_type_name(a[0]));
    bool done;
    value v = iterator_next_of(m, a[0], &done);
    if (!absent(v) || !done) return v;
    return absent(a[1]) ? raise(m, "StopIteration", "the iterator is at its end") : value_keep(a[1]);
}

/* ---- folds ---- */

/* A float sum with what its rounding loses (Neumaier), as long as the items are plain floats and integers. */
typedef struct float_sum { double sum, lost; } float_sum;
static void float_sum_add(float_sum *s, double x) {
    double t = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - t) + x : (x - t) + s->sum;
    s->sum = t;
}
static double float_sum_value(const float_sum *s) { return s->lost != 0 && isfinite(s->lost) ? s->sum + s->lost : s->sum; }

/* Adds up items while *sum is a float and they are floats or integers. The first other item, or ABSENT. */
static value sum_floats(machine *m, value it, value *sum, bool *done) {
    float_sum s = { sum->u.f, 0 };
    value v;
    for (;;) {
        v = machine_step(m) ? iterator_next_of(m, it, done) : NO_VALUE_;
        if (v.kind == VALUE_FLOAT) float_sum_add(&s, v.u.f);
        else if (v.kind == VALUE_INT || v.kind == VALUE_BOOL) s.sum += (double)v.u.i;
        else break;
    }
    *sum = float_value(float_sum_value(&s));
    return v;
}

BUILTIN(do_sum) {
    (void)n;
    value sum = absent(a[1]) ? int_value(0) : value_keep(a[1]), it = NO_VALUE_;
    if (sum.kind == VALUE_STRING) raise(m, "TypeError", "sum() can't sum strings: use ''.join(...)");
    else it = value_iterate(m, a[0]);
    bool done = false, good = !absent(it);
    while (good) {
        value v = sum.kind == VALUE_FLOAT ? sum_floats(m, it, &sum, &done) : iterator_next_of(m, it, &done);
        if (absent(v)) {
            good = done;
            break;
        }
        good = accumulate(m, BINARY_ADD, &sum, v);
        value_drop(m, v);
    }
    value_drop(m, it);
    if (good) return sum;
    value_drop(m, sum);
    return NO_VALUE_;
}

static int any_item(machine *m, value iterable, bool wanted) {
    value it = value_iterate(m, iterable);
    int r = absent(it) ? -1 : !wanted;
    while (r == !wanted) {
        bool done;
        value v = machine_step(m) ? iterator_next_of(m, it, &done) : (done = false, NO_VALUE_);
        if (absent(v)) {
            r = done ? r : -1;
            break;
        }
        r = value_truth(m, v);
        value_drop(m, v);
    }
    value_drop(m, it);
    return r;
}
BUILTIN(do_any) {
    (void)n;
    int r = any_item(m, a[0], true);
    return r < 0 ? NO_VALUE_ : bool_value(r);
}
BUILTIN(do_all) {
    (void)n;
    int r = any_item(m, a[0], false);
    return r < 0 ? NO_VALUE_ : bool_value(r);
}

/* Whether `v` comes before (or after) `best`: 0, 1, -1. */
static int better(machine *m, value v, value best, syntax_compare op) {
    value r = compare(m, op, v, best);
    int truth = absent(r) ? -1 : value_truth(m, r);
    value_drop(m, r);
    return truth;
}

/* The least or greatest item of `it`, the first of equal ones. ABSENT without an exception: there is none. */
static value extreme_of(machine *m, value it, value key, syntax_compare op) {
    value best = NO_VALUE_, best_key = NO_VALUE_;
    bool good = true;
    while (good) {
        bool done = false;
        value v = machine_step(m) ? iterator_next_of(m, it, &done) : NO_VALUE_;
        good = !absent(v) || done;
        if (absent(v)) break;
        value k = given(key) ? call_value(m, key, &v, 1, NULL, 0) : value_keep(v);
        int wins = absent(k) ? -1 : absent(best) ? 1 : better(m, k, best_key, op);
        good = wins >= 0;
        value_drop(m, wins > 0 ? best : v);
        value_drop(m, wins > 0 ? best_key : k);
        if (wins > 0) best = v, best_key = k;
    }
    value_drop(m, best_key);
    if (good) return best;
    value_drop(m, best);
    return NO_VALUE_;
}

/* a: *args, key, default */
static value extreme(machine *m, const value *a, const char *name, syntax_compare op) {
    const sequence_object *args = as_sequence(a[0]);
    if (!args->n) return raise(m, "TypeError", "%s expected at least 1 argument, got 0", name);
    if (args->n > 1 && !absent(a[2])) return raise(m, "TypeError", "Cannot specify a default for %s() with multiple positional arguments", name);
    value it = value_iterate(m, args->n > 1 ? a[0] : args->at[0]);
    if (absent(it)) return it;
    value best = extreme_of(m, it, a[1], op);
    value_drop(m, it);
    if (!absent(best) || !absent(m->exception)) return best;
    return absent(a[2]) ? raise(m, "ValueError", "%s() iterable argument is empty", name) : value_keep(a[2]);
}
BUILTIN(do_min) { (void)n; return extreme(m, a, "min", COMPARE_LT); }
BUILTIN(do_max) { (void)n; return extreme(m, a, "max", COMPARE_GT); }

BUILTIN(do_sorted) {
    (void)n;
    int backwards = absent(a[2]) ? 0 : value_truth(m, a[2]);
    value list = backwards < 0 ? NO_VALUE_ : sequence_of(m, a[0], VALUE_LIST);
    if (absent(list) || list_sort(m, list, a[1], backwards)) return list;
    value_drop(m, list);
    return NO_VALUE_;
}

BUILTIN(do_len) {
    (void)n;
    int64_t length;
    return value_length(m, a[0], &length) ? int_value(length) : NO_VALUE_;
}

/* ---- text ---- */

/* The separator or end of print. */
static bool print_option(machine *m, value v, const char *name, const char *otherwise, const char **s, size_t *n) {
    *s = otherwise;
    *n = 1;
    if (!given(v)) return true;
    if (v.kind != VALUE_STRING) return raise(m, "TypeError", "%s must be None or a string, not %s", name, value_type_name(v)), false;
    *s = as_string(v)->at;
    *n = as_string(v)->length;
    return true;
}

/* a: *args, sep, end, file, flush */
BUILTIN(do_print) {
    (void)n;
    const char *sep, *end;
    size_t nsep, nend;
    if (given(a[3])) return raise(m, "TypeError", "print(file=...) is not in the language: there is one output");
    if (!print_option(m, a[1], "sep", " ", &sep, &nsep) || !print_option(m, a[2], "end", "\n", &end, &nend)) return NO_VALUE_;
    text t = { 0 };
    text_addn(&t, "", 0);
    bool good = true;
    for (size_t i = 0; good && i < as_sequence(a[0])->n; i++) {
        if (i) text_addn(&t, sep, nsep);
        good = machine_step(m) && value_str(m, as_sequence(a[0])->at[i], &t);
    }
    text_addn(&t, end, nend);
    if (good && t.failed) good = !absent(raise_memory(m));
    if (good) machine_print(m, t.at, t.len);
    text_free(&t);
    return good ? none_value() : NO_VALUE_;
}

BUILTIN(do_repr) {
    (void)n;
    text t = { 0 };
    text_addn(&t, "", 0);
    if (value_repr(m, a[0], &t)) return string_text(m, &t);
    text_free(&t);
    return NO_VALUE_;
}
BUILTIN(do_ascii) {
    value shown = do_repr(m, a, n);
    if (absent(shown)) return shown;
    text t = { 0 };
    text_ascii(&t, as_string(shown)->at, as_string(shown)->length);
    value_drop(m, shown);
    return string_text(m, &t);
}

static value with_prefix(machine *m, value v, const char *spec) {
    value i = as_integer(m, v);
    if (absent(i)) return i;
    text t = { 0 };
    bool good = format_value(m, i, spec, strlen(spec), &t);
    value_drop(m, i);
    if (good) return string_text(m, &t);
    text_free(&t);
    return NO_VALUE_;
}
BUILTIN(do_hex) { (void)n; return with_prefix(m, a[0], "#x"); }
BUILTIN(do_oct) { (void)n; return with_prefix(m, a[0], "#o"); }
BUILTIN(do_bin) { (void)n; return with_prefix(m, a[0], "#b"); }

BUILTIN(do_format) {
    (void)n;
    if (!absent(a[1]) && a[1].kind != VALUE_STRING) return raise(m, "TypeError", "format() argument 2 must be str, not %s", value_type_name(a[1]));
    text t = { 0 };
    text_addn(&t, "", 0);
    if (format_value(m, a[0], absent(a[1]) ? "" : as_string(a[1])->at, absent(a[1]) ? 0 : as_string(a[1])->length, &t)) return string_text(m, &t);
    text_free(&t);
    return NO_VALUE_;
}

BUILTIN(do_ord) {
    (void)n;
    if (a[0].kind != VALUE_STRING) return raise(m, "TypeError", "ord() expected string of length 1, but %s found", value_type_name(a[0]));
    if (as_string(a[0])->points != 1) return raise(m, "TypeError", "ord() expected a character, but string of length %zu found", as_string(a[0])->points);
    size_t size;
    return int_value(utf8_get(as_string(a[0])->at, &size));
}
BUILTIN(do_chr) {
    (void)n;
    int64_t p;
    if (!integer_argument(m, a[0], "a code point", &p)) return NO_VALUE_;
    if (p < 0 || p >= 0x110000) return raise(m, "ValueError", "chr() arg not in range(0x110000)");
    if (p >= 0xd800 && p < 0xe000) return raise(m, "ValueError", "chr(): 0x%x is half a surrogate pair, no character", (unsigned)p);
    char at[4];
    return string_value(m, at, utf8_put((uint32_t)p, at));
}

/* ---- what values are ---- */

BUILTIN(do_hash) {
    (void)n;
    uint64_t hash;
    return value_hash(m, a[0], &hash) ? int_value((int64_t)(hash >> 3)) : NO_VALUE_;
}
BUILTIN(do_callable) {
    (void)m;
    (void)n;
    int k = a[0].kind;
    return bool_value(k == VALUE_FUNCTION || k == VALUE_NATIVE || k == VALUE_BOUND || k == VALUE_OPERATION || k == VALUE_TYPE || k == VALUE_DTYPE);
}
BUILTIN(do_isinstance) {
    (void)n;
    int r = is_instance(m, a[0], a[1]);
    return r < 0 ? NO_VALUE_ : bool_value(r);
}

/* The attribute of a name; with `missing` ABSENT without an exception when there is none. */
static value attribute(machine *m, value v, value name, bool missing) {
    if (name.kind != VALUE_STRING) return raise(m, "TypeError", "attribute name must be string, not '%s'", value_type_name(name));
    value r = value_attribute(m, v, as_string(name)->at);
    if (absent(r) && missing && exception_is(m->exception, "AttributeError")) {
        value_drop(m, m->exception);
        m->exception = NO_VALUE_;
    }
    return r;
}
BUILTIN(do_getattr) {
    (void)n;
    value v = attribute(m, a[0], a[1], !absent(a[2]));
    return absent(v) && absent(m->exception) ? value_keep(a[2]) : v;
}
BUILTIN(do_hasattr) {
    (void)n;
    value v = attribute(m, a[0], a[1], true);
    bool has = !absent(v);
    value_drop(m, v);
    return has || absent(m->exception) ? bool_value(has) : NO_VALUE_;
}
BUILTIN(do_setattr) {
    (void)n;
    if (a[1].kind != VALUE_STRING) return raise(m, "TypeError", "attribute name must be string, not '%s'", value_type_name(a[1]));
    return value_attribute_set(m, a[0], as_string(a[1])->at, a[2]) ? none_value() : NO_VALUE_;
}

/* ---- names ---- */

const native_row builtin_rows[] = {
    { "abs", number_abs, "x, /", "The absolute value." },
    { "all", do_all, "iterable, /", "Whether every item counts as true." },
    { "any", do_any, "iterable, /", "Whether some item counts as true." },
    { "ascii", do_ascii, "object, /", "repr with escapes for what is not ASCII." },
    { "bin", do_bin, "number, /", "An integer in base 2." },
    { "callable", do_callable, "object, /", "Whether it can be called." },
    { "chr", do_chr, "i, /", "The character with this code point." },
    { "divmod", number_divmod, "x, y, /", "Quotient and remainder." },
    { "enumerate", do_enumerate, "iterable, start=", "Pairs of a count and an item." },
    { "filter", do_filter, "function, iterable, /", "The items for which function gives true." },
    { "format", do_format, "value, format_spec=, /", "The value as text, by a format specification." },
    { "getattr", do_getattr, "object, name, default=, /", "The attribute of this name." },
    { "hasattr", do_hasattr, "object, name, /", "Whether there is an attribute of this name." },
    { "hash", do_hash, "object, /", "An integer that equal values share." },
    { "hex", do_hex, "number, /", "An integer in base 16." },
    { "isinstance", do_isinstance, "object, type, /", "Whether it is of a type, or of one in a tuple." },
    { "iter", do_iter, "iterable, /", "An iterator over it." },
    { "len", do_len, "object, /", "How many items it has." },
    { "map", do_map, "function, /, *iterables", "What function gives for the items." },
    { "max", do_max, "*args, key=, default=", "The greatest item, the first of equal ones." },
    { "min", do_min, "*args, key=, default=", "The least item, the first of equal ones." },
    { "next", do_next, "iterator, default=, /", "The next item of an iterator." },
    { "oct", do_oct, "number, /", "An integer in base 8." },
    { "ord", do_ord, "character, /", "The code point of a character." },
    { "pow", number_pow, "base, exp, mod=", "base ** exp, or the remainder of that." },
    { "print", do_print, "*args, sep=, end=, file=, flush=", "Writes values to the output." },
    { "repr", do_repr, "object, /", "The value as it would be written in a program." },
    { "reversed", do_reversed, "sequence, /", "The items from last to first." },
    { "round", number_round, "number, ndigits=", "Rounded, halves to even." },
    { "setattr", do_setattr, "object, name, value, /", "Sets the attribute of this name." },
    { "sorted", do_sorted, "iterable, /, *, key=, reverse=", "A sorted list; equal items keep their order." },
    { "sum", do_sum, "iterable, /, start=", "The items added up." },
    { "zip", do_zip, "*iterables, strict=", "Tuples of one item of each." },
};
const int nbuiltin_rows = sizeof builtin_rows / sizeof *builtin_rows;

/* Python's names that a program here cannot have, with the reason. */
static const struct { const char *name, *why; } missing_names[] = {
    { "open", "a program reads and writes no files" }, { "input", "a program has no input" }, { "exec", "programs do not make programs" },
    { "eval", "programs do not make programs" }, { "compile", "programs do not make programs" }, { "__import__", "write import" },
    { "frozenset", "use a set, or a tuple where a key is needed" }, { "id", "values have no address" }, { "bytes", "text has no bytes here" },
    { "bytearray", "text has no bytes here" }, { "memoryview", "slices of arrays are views" }, { "globals", "names are no dict here" },
    { "locals", "names are no dict here" }, { "vars", "names are no dict here" }, { "dir", "the reference lists names" }, { "help", "the reference tells" },
    { "super", "there are no classes" }, { "property", "there are no classes" }, { "staticmethod", "there are no classes" }, { "classmethod", "there are no classes" },
    { "issubclass", "there are no classes; use isinstance" }, { "delattr", "attributes stay" }, { "exit", "a program ends at its end" }, { "quit", "a program ends at its end" },
};

value builtin_name(machine *m, const char *name) {
    for (int i = 0; i < nbuiltin_rows; i++) if (!strcmp(builtin_rows[i].name, name)) return native_value(m, &builtin_rows[i]);
    if (!strcmp(name, "Ellipsis")) return (value){ VALUE_ELLIPSIS, 0, { 0 } };
    if (!strcmp(name, "NotImplemented")) return (value){ VALUE_NOT_IMPLEMENTED, 0, { 0 } };
    if (!strcmp(name, "EnvironmentError") || !strcmp(name, "IOError")) name = "OSError";
    const type_row *type = type_named(name);
    if (type && (type->exception || type->make.f || !strcmp(name, "object")) && !strcmp(type->name, name)) return type_value(m, type);
    for (size_t i = 0; i < sizeof missing_names / sizeof *missing_names; i++)
        if (!strcmp(missing_names[i].name, name)) return raise(m, "NameError", "name '%s' is not in the language: %s", name, missing_names[i].why);
    return NO_VALUE_;
}
