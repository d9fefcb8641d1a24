/* value.c: objects behind values: made, counted, freed; what they are called.
 *
 * How it works: small objects come from free lists of the machine, by size. All objects of a machine are linked, so that
 * cycles, which counting never frees, go with the machine. Freeing one object may free a long chain of others: beyond
 * a small depth they wait in a list, so that the C stack is safe. What values mean (truth, equality ...) is in protocols.c. */
#include <string.h>
#include "kiln.h"
#include "frontend/language/machine.h"
#include "frontend/language/natives.h"

/* ---- memory ---- */

#define BLOCK_STEP 16u
#define FREEING_DEPTH 32

static size_t block_size(unsigned block) { return (block + 1) * BLOCK_STEP; }

object *object_new(machine *m, value_kind kind, size_t size) {
    unsigned block = (unsigned)((size - 1) / BLOCK_STEP);
    object *o;
    if (block < MACHINE_BLOCKS && (o = m->state->spare[block])) {
        m->state->spare[block] = o->next;
        memset(o, 0, block_size(block));
    } else {
        if (!machine_bytes(m, (int64_t)size)) return NULL;
        if (!(o = mem_zero(1, block < MACHINE_BLOCKS ? block_size(block) : size))) {
            raise_memory(m);
            return NULL;
        }
        if (block >= MACHINE_BLOCKS) m->bytes -= (int64_t)size;      /* counted by whoever knows how large it is */
    }
    o->refs = 1;
    o->kind = (uint8_t)kind;
    o->block = block < MACHINE_BLOCKS ? (uint8_t)block : MACHINE_BLOCKS;
    o->next = m->objects;
    if (o->next) o->next->previous = o;
    m->objects = o;
    m->state->nobjects++;
    return o;
}

static void drop_all(machine *m, size_t n, const value *at) {
    for (size_t i = 0; i < n; i++) value_drop(m, at[i]);
}

static void drop_pairs(machine *m, dict_object *d) {
    for (size_t i = 0; i < d->used; i++) {
        if (absent(d->at[i].key)) continue;
        value_drop(m, d->at[i].key);
        value_drop(m, d->at[i].item);
    }
}

/* Lets go of the values that an object holds. */
static void drop_children(machine *m, object *o) {
    switch (o->kind) {
    case VALUE_TUPLE: case VALUE_LIST: drop_all(m, ((sequence_object *)o)->n, ((sequence_object *)o)->at); break;
    case VALUE_DICT: case VALUE_SET: drop_pairs(m, (dict_object *)o); break;
    case VALUE_SLICE: drop_all(m, 3, &((slice_object *)o)->start); break;
    case VALUE_ITERATOR: drop_all(m, 3, ((iterator_object *)o)->of); break;
    case VALUE_BOUND: value_drop(m, ((bound_object *)o)->self); break;
    case VALUE_RECORD: drop_all(m, ((record_object *)o)->n, ((record_object *)o)->at); break;
    case VALUE_FUNCTION: function_drop(m, (function_object *)o); break;
    case VALUE_CELL: value_drop(m, ((cell_object *)o)->v); break;
    case VALUE_EXCEPTION: {
        exception_object *e = (exception_object *)o;
        value_drop(m, e->args);
        value_drop(m, e->cause);
        value_drop(m, e->context);
        break;
    }
    default: break;
    }
}

static void give_memory(machine *m, void *p, size_t bytes) {
    mem_free(p);
    m->bytes -= (int64_t)bytes;
}

/* Gives back what an object holds besides values, and the object itself. */
static void release(machine *m, object *o) {
    switch (o->kind) {
    case VALUE_ARRAY: kn_release(((array_object *)o)->array); break;
    case VALUE_LIST: give_memory(m, ((sequence_object *)o)->at, ((sequence_object *)o)->capacity * sizeof(value)); break;
    case VALUE_DICT: case VALUE_SET: dict_release(m, (dict_object *)o); break;
    case VALUE_BIG: big_free(m, o); break;
    case VALUE_EXCEPTION: mem_free(((exception_object *)o)->trace); break;
    case VALUE_ITERATOR: {
        iterator_object *it = (iterator_object *)o;
        if (it->drop) it->drop(it->state);
        break;
    }
    default: break;
    }
    m->state->nobjects--;
    if (o->next) o->next->previous = o->previous;
    if (o->previous) o->previous->next = o->next;
    else m->objects = o->next;
    if (o->block < MACHINE_BLOCKS) {
        o->next = m->state->spare[o->block];
        m->state->spare[o->block] = o;
    } else {
        if (o->kind == VALUE_STRING || o->kind == VALUE_BYTES) m->bytes -= (int64_t)((string_object *)o)->length;
        if (o->kind == VALUE_TUPLE) m->bytes -= (int64_t)(((sequence_object *)o)->n * sizeof(value));
        mem_free(o);
    }
}

void object_free(machine *m, object *o) {
    machine_state *s = m->state;
    if (s->freeing >= FREEING_DEPTH) {          /* o stays among the objects, without owners */
        if (s->nwaiting == s->most_waiting) {
            size_t most = s->most_waiting ? 2 * s->most_waiting : 256;
            object **p = mem_grow(s->waiting, most, sizeof *p);
            if (!p) return;                     /* it goes with the machine */
            s->waiting = p;
            s->most_waiting = most;
        }
        s->waiting[s->nwaiting++] = o;
        return;
    }
    s->freeing++;
    drop_children(m, o);
    release(m, o);
    s->freeing--;
    while (!s->freeing && s->nwaiting) {
        object *next = s->waiting[--s->nwaiting];
        s->freeing++;
        drop_children(m, next);
        release(m, next);
        s->freeing--;
    }
}

/* At the end: what cycles keep alive. Counts no longer matter. */
void objects_free(machine *m) {
    for (object *o = m->objects; o; o = o->next)
        if (o->kind == VALUE_ITERATOR) iterator_forget((iterator_object *)o);
    while (m->objects) release(m, m->objects);
    for (unsigned b = 0; b < MACHINE_BLOCKS; b++)
        for (object *o = m->state->spare[b], *next; o; o = next) {
            next = o->next;
            mem_free(o);
        }
    mem_free(m->state->waiting);
}

/* ---- making values ---- */

value complex_value(machine *m, double re, double im) {
    complex_object *c = (complex_object *)object_new(m, VALUE_COMPLEX, sizeof *c);
    if (!c) return NO_VALUE_;
    c->re = re;
    c->im = im;
    return object_value(c);
}

/* A handle of the innermost scope becomes the object's own; of another's the object is one owner more. */
static void array_own(kn_array a) {
    slot *s = slot_of(a);
    uint64_t scope = scope_innermost();
    if (s && scope && __atomic_load_n(&s->scope, __ATOMIC_RELAXED) == scope) __atomic_store_n(&s->scope, 0, __ATOMIC_RELAXED);
    else kn_keep(a);
}

value array_value(machine *m, kn_array a, bool scalar) {
    message why = { 0 };
    if (array_failed(a, &why)) return raise_message(m, &why);
    slot *s = slot_of(a);
    if (!s) {
        array_operand(a, "array", &why);
        return raise_message(m, &why);
    }
    if (m->limits.bytes && !array_within(m, a)) return NO_VALUE_;
    array_object *o = (array_object *)object_new(m, VALUE_ARRAY, sizeof *o);
    if (!o) return NO_VALUE_;
    array_own(a);
    o->array = a;
    o->scalar = scalar;
    return object_value(o);
}

value string_value(machine *m, const char *s, size_t length) {
    string_object *o = NULL;
    if (machine_bytes(m, (int64_t)length)) o = (string_object *)object_new(m, VALUE_STRING, sizeof *o + length + 1);
    if (!o) return NO_VALUE_;
    if (o->head.block < MACHINE_BLOCKS) m->bytes -= (int64_t)length;
    if (length) memcpy(o->at, s, length);
    o->length = length;
    o->points = utf8_points(s, length);
    return object_value(o);
}

value string_text(machine *m, text *t) {
    value v = t->failed ? raise_memory(m) : string_value(m, t->at ? t->at : "", t->len);
    text_free(t);
    return v;
}

value tuple_value(machine *m, size_t n, const value *items) {
    sequence_object *o = NULL;
    if (n > INT32_MAX) return raise_memory(m);
    if (machine_bytes(m, (int64_t)(n * sizeof(value)))) o = (sequence_object *)object_new(m, VALUE_TUPLE, sizeof *o + n * sizeof(value));
    if (!o) return NO_VALUE_;
    if (o->head.block < MACHINE_BLOCKS) m->bytes -= (int64_t)(n * sizeof(value));
    o->at = (value *)(void *)(o + 1);
    o->n = o->capacity = n;
    for (size_t i = 0; i < n; i++) o->at[i] = value_keep(items[i]);
    return object_value(o);
}

value list_value(machine *m, size_t n, const value *items) {
    sequence_object *o = (sequence_object *)object_new(m, VALUE_LIST, sizeof *o);
    if (!o) return NO_VALUE_;
    value list = object_value(o);
    if (n && !list_reserve(m, o, n)) {
        value_drop(m, list);
        return NO_VALUE_;
    }
    for (size_t i = 0; i < n; i++) o->at[i] = value_keep(items[i]);
    o->n = n;
    return list;
}

value slice_value(machine *m, value start, value stop, value step) {
    slice_object *o = (slice_object *)object_new(m, VALUE_SLICE, sizeof *o);
    if (!o) return NO_VALUE_;
    o->start = value_keep(start);
    o->stop = value_keep(stop);
    o->step = value_keep(step);
    return object_value(o);
}

/* How many numbers range(start, stop, step) has. */
static int64_t range_count(int64_t start, int64_t stop, int64_t step) {
    uint64_t width = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t by = step > 0 ? (uint64_t)step : -(uint64_t)step;
    bool none = step > 0 ? start >= stop : start <= stop;
    uint64_t n = none ? 0 : (width - 1) / by + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

value range_value(machine *m, int64_t start, int64_t stop, int64_t step) {
    if (!step) return raise_error(m, "ValueError", "range(): the step must not be zero");
    range_object *o = (range_object *)object_new(m, VALUE_RANGE, sizeof *o);
    if (!o) return NO_VALUE_;
    o->start = start;
    o->stop = stop;
    o->step = step;
    o->n = range_count(start, stop, step);
    return object_value(o);
}

value iterator_value(machine *m, const char *name, value (*next)(machine *m, iterator_object *it, bool *done), int n, const value *of) {
    iterator_object *o = (iterator_object *)object_new(m, VALUE_ITERATOR, sizeof *o);
    if (!o) return NO_VALUE_;
    o->name = name;
    o->next = next;
    for (int i = 0; i < n; i++) o->of[i] = value_keep(of[i]);
    return object_value(o);
}

/* ---- what values are ---- */

bool value_is_number(value v) {
    return v.kind == VALUE_INT || v.kind == VALUE_FLOAT || v.kind == VALUE_BOOL || v.kind == VALUE_ELEMENT || v.kind == VALUE_BIG || v.kind == VALUE_COMPLEX;
}

bool value_is_integer(value v) {
    return v.kind == VALUE_INT || v.kind == VALUE_BOOL || v.kind == VALUE_BIG || (v.kind == VALUE_ELEMENT && !dtype_is_inexact((kn_dtype)v.dtype));
}

const char *dtype_type_name(kn_dtype t) {
    static const char *const names[NDTYPES] = {
        [KN_BOOL] = "numpy.bool", [KN_INT8] = "numpy.int8", [KN_INT16] = "numpy.int16", [KN_INT32] = "numpy.int32", [KN_INT64] = "numpy.int64",
        [KN_UINT8] = "numpy.uint8", [KN_UINT16] = "numpy.uint16", [KN_UINT32] = "numpy.uint32", [KN_UINT64] = "numpy.uint64",
        [KN_FLOAT16] = "numpy.float16", [KN_BFLOAT16] = "numpy.bfloat16", [KN_FLOAT32] = "numpy.float32", [KN_FLOAT64] = "numpy.float64",
        [KN_COMPLEX64] = "numpy.complex64", [KN_COMPLEX128] = "numpy.complex128",
    };
    return names[t];
}

const char *value_type_name(value v) {
    static const char *const names[NVALUE_KINDS + 1] = {
        [VALUE_ABSENT] = "nothing", [VALUE_NONE] = "NoneType", [VALUE_ELLIPSIS] = "ellipsis", [VALUE_NOT_IMPLEMENTED] = "NotImplementedType", [VALUE_BOOL] = "bool",
        [VALUE_INT] = "int", [VALUE_FLOAT] = "float", [VALUE_DTYPE] = "numpy.dtype", [VALUE_BIG] = "int", [VALUE_ARRAY] = "numpy.ndarray",
        [VALUE_STRING] = "str", [VALUE_BYTES] = "bytes", [VALUE_TUPLE] = "tuple", [VALUE_LIST] = "list", [VALUE_DICT] = "dict", [VALUE_SET] = "set",
        [VALUE_SLICE] = "slice", [VALUE_RANGE] = "range", [VALUE_FUNCTION] = "function", [VALUE_NATIVE] = "builtin_function_or_method",
        [VALUE_BOUND] = "method", [VALUE_OPERATION] = "numpy.ufunc", [VALUE_TYPE] = "type", [VALUE_MODULE] = "module", [VALUE_CELL] = "cell",
    };
    switch (v.kind) {
    case VALUE_ELEMENT: return dtype_type_name((kn_dtype)v.dtype);
    case VALUE_COMPLEX: return v.dtype ? dtype_type_name((kn_dtype)v.dtype) : "complex";
    case VALUE_ARRAY: return as_array(v)->scalar ? dtype_type_name(kn_dtype_of(as_array(v)->array)) : names[VALUE_ARRAY];
    case VALUE_ITERATOR: return ((iterator_object *)v.u.o)->name;
    case VALUE_EXCEPTION: return ((exception_object *)v.u.o)->type->name;
    case VALUE_RECORD: return ((record_object *)v.u.o)->type;
    default: return names[v.kind];
    }
}

/* `is`: one object, or one value of a kind without identity. */
bool value_same(value a, value b) {
    if (a.kind != b.kind || a.dtype != b.dtype) return false;
    if (a.kind == VALUE_TYPE) return ((type_object *)a.u.o)->row == ((type_object *)b.u.o)->row;
    if (a.kind == VALUE_NATIVE) return ((native_object *)a.u.o)->row == ((native_object *)b.u.o)->row;
    if (a.kind == VALUE_MODULE) return !strcmp(((module_object *)a.u.o)->name, ((module_object *)b.u.o)->name);
    if (a.kind == VALUE_OPERATION) return ((operation_object *)a.u.o)->op == ((operation_object *)b.u.o)->op && ((operation_object *)a.u.o)->method == ((operation_object *)b.u.o)->method;
    return a.kind < VALUE_BOOL || a.kind == VALUE_DTYPE || a.u.u == b.u.u;
}
