/* containers.c: lists, tuples, dictionaries and sets: their memory, positions and slices.
 *
 * How it works: a dictionary is a list of pairs in order of insertion beside a table of positions with open addressing;
 * removed pairs stay, marked, until the table is made anew. A set is a dictionary without items. */
#include <string.h>
#include "frontend/language/machine.h"
#include "frontend/language/natives.h"

/* ---- lists ---- */

bool list_reserve(machine *m, sequence_object *s, size_t n) {
    if (n <= s->capacity) return true;
    size_t capacity = s->capacity + s->capacity / 2 + 4;
    if (capacity < n) capacity = n;
    if (capacity > INT32_MAX) return raise_memory(m), false;
    int64_t more = (int64_t)((capacity - s->capacity) * sizeof(value));
    if (!machine_bytes(m, more)) return false;
    value *at = mem_grow(s->at, capacity, sizeof *at);
    if (!at) {
        m->bytes -= more;
        raise_memory(m);
        return false;
    }
    s->at = at;
    s->capacity = capacity;
    return true;
}

bool list_append(machine *m, value list, value item) {
    sequence_object *s = as_sequence(list);
    if (!list_reserve(m, s, s->n + 1)) return false;
    s->at[s->n++] = value_keep(item);
    return true;
}

/* ---- dictionaries ---- */

value dict_value(machine *m) {
    object *o = object_new(m, VALUE_DICT, sizeof(dict_object));
    return o ? object_value(o) : NO_VALUE_;
}

value set_value(machine *m) {
    object *o = object_new(m, VALUE_SET, sizeof(dict_object));
    return o ? object_value(o) : NO_VALUE_;
}

static int64_t table_bytes(size_t capacity, size_t buckets) { return (int64_t)(capacity * sizeof(pair) + buckets * sizeof(uint32_t)); }

void dict_release(machine *m, dict_object *d) {
    m->bytes -= table_bytes(d->capacity, d->buckets);
    mem_free(d->at);
    mem_free(d->index);
    d->at = NULL;
    d->index = NULL;
    d->n = d->used = d->capacity = d->buckets = 0;
}

static void index_add(dict_object *d, size_t position) {
    size_t mask = d->buckets - 1, b = d->at[position].hash & mask;
    while (d->index[b]) b = (b + 1) & mask;
    d->index[b] = (uint32_t)position + 1;
}

/* Room for one more pair: a new table without removed pairs, when this one is full. */
static bool dict_reserve(machine *m, dict_object *d) {
    if (d->used < d->capacity) return true;
    size_t capacity = d->n < 4 ? 6 : d->n * 2, buckets = 8;
    while (buckets * 2 < capacity * 3) buckets *= 2;
    if (capacity > INT32_MAX) return raise_memory(m), false;
    if (!machine_bytes(m, table_bytes(capacity, buckets))) return false;
    dict_object fresh = { .at = mem_array(capacity, sizeof(pair)), .index = mem_zero(buckets, sizeof(uint32_t)), .capacity = capacity, .buckets = buckets };
    if (!fresh.at || !fresh.index) {
        dict_release(m, &fresh);
        raise_memory(m);
        return false;
    }
    for (size_t i = 0; i < d->used; i++)
        if (!absent(d->at[i].key)) {
            fresh.at[fresh.used] = d->at[i];
            index_add(&fresh, fresh.used++);
        }
    size_t n = d->n;
    dict_release(m, d);
    d->at = fresh.at;
    d->index = fresh.index;
    d->capacity = capacity;
    d->buckets = buckets;
    d->n = n;
    d->used = fresh.used;
    return true;
}

/* The position of key, -1: not there, -2: raised. */
static int64_t position_of(machine *m, dict_object *d, value key, uint64_t hash) {
    if (!d->buckets) return -1;
    size_t mask = d->buckets - 1;
    for (size_t b = hash & mask; d->index[b]; b = (b + 1) & mask) {
        size_t i = d->index[b] - 1;
        if (d->at[i].hash != hash || absent(d->at[i].key)) continue;
        int same = value_equal(m, d->at[i].key, key);
        if (same) return same < 0 ? -2 : (int64_t)i;
    }
    return -1;
}

bool dict_find(machine *m, value dict, value key, value *item) {
    uint64_t hash;
    *item = NO_VALUE_;
    if (!value_hash(m, key, &hash)) return false;
    int64_t at = position_of(m, as_dict(dict), key, hash);
    if (at >= 0) *item = as_dict(dict)->at[at].item;
    return at != -2;
}

value dict_get(machine *m, value dict, value key) {
    value item;
    dict_find(m, dict, key, &item);
    return item;
}

bool dict_set(machine *m, value dict, value key, value item) {
    dict_object *d = as_dict(dict);
    uint64_t hash;
    if (!value_hash(m, key, &hash)) return false;
    int64_t at = position_of(m, d, key, hash);
    if (at == -2) return false;
    if (at >= 0) {
        value old = d->at[at].item;
        d->at[at].item = value_keep(item);
        value_drop(m, old);
        return true;
    }
    if (!dict_reserve(m, d)) return false;
    d->at[d->used] = (pair){ value_keep(key), value_keep(item), hash };
    index_add(d, d->used++);
    d->n++;
    return true;
}

bool dict_remove(machine *m, value dict, value key, bool *was) {
    dict_object *d = as_dict(dict);
    uint64_t hash;
    *was = false;
    if (!value_hash(m, key, &hash)) return false;
    int64_t at = position_of(m, d, key, hash);
    if (at < 0) return at == -1;
    pair gone = d->at[at];
    d->at[at].key = d->at[at].item = NO_VALUE_;
    d->n--;
    *was = true;
    value_drop(m, gone.key);
    value_drop(m, gone.item);
    return true;
}

void dict_clear(machine *m, value dict) {
    dict_object old = *as_dict(dict), *d = as_dict(dict);
    d->at = NULL;
    d->index = NULL;
    d->n = d->used = d->capacity = d->buckets = 0;
    for (size_t i = 0; i < old.used; i++) {
        if (absent(old.at[i].key)) continue;
        value_drop(m, old.at[i].key);
        value_drop(m, old.at[i].item);
    }
    dict_release(m, &old);
}

const pair *dict_next(value dict, size_t *at) {
    dict_object *d = as_dict(dict);
    while (*at < d->used && absent(d->at[*at].key)) ++*at;
    return *at < d->used ? &d->at[(*at)++] : NULL;
}

/* ---- everything an iterable gives ---- */

static bool append_all(machine *m, value list, value iterable) {
    value it = value_iterate(m, iterable);
    if (absent(it)) return false;
    for (bool done = false;;) {
        value item = machine_step(m) ? value_next(m, it, &done) : NO_VALUE_;
        if (done || absent(item)) break;
        bool good = list_append(m, list, item);
        value_drop(m, item);
        if (!good) break;
    }
    value_drop(m, it);
    return absent(m->exception);
}

value sequence_of(machine *m, value iterable, value_kind kind) {
    if (iterable.kind == kind && kind == VALUE_TUPLE) return value_keep(iterable);
    value list = list_value(m, 0, NULL);
    if (absent(list)) return list;
    bool good = true;
    if (iterable.kind == VALUE_LIST || iterable.kind == VALUE_TUPLE) {
        for (size_t i = 0; good && i < as_sequence(iterable)->n; i++) good = list_append(m, list, as_sequence(iterable)->at[i]);
    } else {
        good = append_all(m, list, iterable);
    }
    value result = !good ? NO_VALUE_ : kind == VALUE_LIST ? value_keep(list) : tuple_value(m, as_sequence(list)->n, as_sequence(list)->at);
    value_drop(m, list);
    return result;
}

/* ---- slices ---- */

/* One bound of a slice: None is `none`, others are counted from the end when negative and kept within [low, high]. */
static bool bound(machine *m, value v, int64_t n, int64_t low, int64_t high, int64_t none, int64_t *out) {
    if (v.kind == VALUE_NONE) {
        *out = none;
        return true;
    }
    int64_t i;
    if (v.kind == VALUE_BIG) i = big_compare(v, int_value(0)) < 0 ? INT64_MIN : INT64_MAX;
    else if (!value_index(m, v, &i, "slice")) return false;
    if (i < 0) i = i < -n ? low : i + n;
    *out = i < low ? low : i > high ? high : i;
    return true;
}

bool slice_bounds(machine *m, value slice, int64_t n, int64_t *start, int64_t *step, int64_t *count) {
    slice_object *s = as_slice(slice);
    int64_t stop;
    *step = 1;
    if (s->step.kind == VALUE_BIG) *step = big_compare(s->step, int_value(0)) < 0 ? -INT64_MAX : INT64_MAX;
    else if (s->step.kind != VALUE_NONE && !value_index(m, s->step, step, "slice")) return false;
    if (!*step) return raise_error(m, "ValueError", "slice step cannot be zero"), false;
    if (*step == INT64_MIN) *step = -INT64_MAX;
    bool down = *step < 0;
    int64_t low = down ? -1 : 0, high = down ? n - 1 : n;
    if (!bound(m, s->start, n, low, high, down ? high : low, start) || !bound(m, s->stop, n, low, high, down ? low : high, &stop)) return false;
    int64_t width = down ? *start - stop : stop - *start;
    *count = width <= 0 ? 0 : (width - 1) / (down ? -*step : *step) + 1;
    return true;
}

/* ---- positions ---- */

static bool position(machine *m, value index, int64_t n, const char *what, int64_t *i) {
    if (index.kind != VALUE_INT && index.kind != VALUE_BOOL && !value_is_integer(index) && index.kind != VALUE_ARRAY) {
        raise_error(m, "TypeError", "%s indices must be integers or slices, not %s", what, value_type_name(index));
        return false;
    }
    if (!value_index(m, index, i, what)) return false;
    if (*i < 0) *i += n;
    if (*i >= 0 && *i < n) return true;
    raise_error(m, "IndexError", "%s index out of range", what);
    return false;
}

static value part_of_string(machine *m, value v, int64_t start, int64_t count) {
    string_object *s = as_string(v);
    size_t from = utf8_offset(s, start), to = utf8_offset(s, start + count);
    value part = string_value(m, s->at + from, to - from);
    if (v.kind == VALUE_BYTES && !absent(part)) {
        part.kind = part.u.o->kind = VALUE_BYTES;
        as_string(part)->points = to - from;
    }
    return part;
}

static value string_slice(machine *m, value v, int64_t start, int64_t step, int64_t count) {
    if (step == 1) return part_of_string(m, v, start, count);
    text t = { 0 };
    string_object *s = as_string(v);
    for (int64_t k = 0; k < count; k++) {
        size_t from = utf8_offset(s, start + k * step), to = utf8_offset(s, start + k * step + 1);
        text_addn(&t, s->at + from, to - from);
    }
    value part = string_text(m, &t);
    if (v.kind == VALUE_BYTES && !absent(part)) {
        part.kind = part.u.o->kind = VALUE_BYTES;
        as_string(part)->points = as_string(part)->length;
    }
    return part;
}

static value items_slice(machine *m, const value *at, value_kind kind, int64_t start, int64_t step, int64_t count) {
    if (step == 1) return kind == VALUE_LIST ? list_value(m, (size_t)count, at + start) : tuple_value(m, (size_t)count, at + start);
    value list = list_value(m, 0, NULL);
    if (absent(list) || !list_reserve(m, as_sequence(list), (size_t)count)) return value_drop(m, list), NO_VALUE_;
    for (int64_t k = 0; k < count; k++) list_append(m, list, at[start + k * step]);
    value result = kind == VALUE_LIST ? value_keep(list) : tuple_value(m, (size_t)count, as_sequence(list)->at);
    value_drop(m, list);
    return result;
}

static value slice_of(machine *m, value v, value slice) {
    int64_t n, start, step, count;
    if (!value_length(m, v, &n) || !slice_bounds(m, slice, n, &start, &step, &count)) return NO_VALUE_;
    switch (v.kind) {
    case VALUE_STRING: case VALUE_BYTES: return string_slice(m, v, start, step, count);
    case VALUE_RANGE: {
        range_object *r = as_range(v);
        return range_value(m, r->start + start * r->step, r->start + (start + count * step) * r->step, r->step * step);
    }
    case VALUE_RECORD: return items_slice(m, ((record_object *)v.u.o)->at, VALUE_TUPLE, start, step, count);
    default: return items_slice(m, as_sequence(v)->at, v.kind, start, step, count);
    }
}

value sequence_index(machine *m, value v, value index) {
    int64_t n, i;
    if (index.kind == VALUE_SLICE) return slice_of(m, v, index);
    const char *what = v.kind == VALUE_STRING ? "string" : v.kind == VALUE_RANGE ? "range object" : v.kind == VALUE_RECORD ? "tuple" : value_type_name(v);
    if (!value_length(m, v, &n) || !position(m, index, n, what, &i)) return NO_VALUE_;
    switch (v.kind) {
    case VALUE_STRING: return part_of_string(m, v, i, 1);
    case VALUE_BYTES: return int_value((unsigned char)as_string(v)->at[i]);
    case VALUE_RANGE: return int_value(as_range(v)->start + i * as_range(v)->step);
    case VALUE_RECORD: return value_keep(((record_object *)v.u.o)->at[i]);
    default: return value_keep(as_sequence(v)->at[i]);
    }
}

/* ---- assigning ---- */

/* list[start:start+count] = items[0..n) */
static bool splice(machine *m, value list, int64_t start, int64_t count, size_t n, const value *items) {
    sequence_object *s = as_sequence(list);
    if (n > (size_t)count && !list_reserve(m, s, s->n + n - (size_t)count)) return false;
    value gone = list_value(m, (size_t)count, s->at + start);      /* dropped last: what goes with them may look at the list */
    if (absent(gone)) return false;
    for (int64_t k = 0; k < count; k++) value_drop(m, s->at[start + k]);
    memmove(s->at + start + n, s->at + start + count, (s->n - (size_t)(start + count)) * sizeof(value));
    for (size_t k = 0; k < n; k++) s->at[(size_t)start + k] = value_keep(items[k]);
    s->n = s->n + n - (size_t)count;
    value_drop(m, gone);
    return true;
}

static bool delete_steps(machine *m, value list, int64_t start, int64_t step, int64_t count) {
    if (step < 0) {
        start += (count - 1) * step;
        step = -step;
    }
    for (int64_t k = count; k-- > 0;)
        if (!splice(m, list, start + k * step, 1, 0, NULL)) return false;
    return true;
}

static bool assign_slice(machine *m, value list, value slice, value to) {
    int64_t start, step, count;
    if (!slice_bounds(m, slice, (int64_t)as_sequence(list)->n, &start, &step, &count)) return false;
    if (absent(to)) return step == 1 ? splice(m, list, start, count, 0, NULL) : delete_steps(m, list, start, step, count);
    value items = sequence_of(m, to, VALUE_TUPLE);
    if (absent(items)) return false;
    size_t n = as_sequence(items)->n;
    bool good = true;
    if (step == 1) {
        good = splice(m, list, start, count, n, as_sequence(items)->at);
    } else if (n != (size_t)count) {
        raise_error(m, "ValueError", "attempt to assign sequence of size %zu to extended slice of size %lld", n, (long long)count);
        good = false;
    } else {
        for (int64_t k = 0; k < count; k++) {
            value *at = &as_sequence(list)->at[start + k * step], old = *at;
            *at = value_keep(as_sequence(items)->at[k]);
            value_drop(m, old);
        }
    }
    value_drop(m, items);
    return good;
}

bool sequence_set(machine *m, value list, value index, value to) {
    if (index.kind == VALUE_SLICE) return assign_slice(m, list, index, to);
    int64_t i;
    if (!position(m, index, (int64_t)as_sequence(list)->n, absent(to) ? "list" : "list assignment", &i)) return false;
    if (absent(to)) return splice(m, list, i, 1, 0, NULL);
    value old = as_sequence(list)->at[i];
    as_sequence(list)->at[i] = value_keep(to);
    value_drop(m, old);
    return true;
}
