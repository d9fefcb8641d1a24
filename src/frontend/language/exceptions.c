/* exceptions.c: raising, and the way of an exception through the frames.
 *
 * How it works: a function that fails gives ABSENT and leaves the exception with the machine. Each frame that it passes notes its place
 * once, on the way out; the uncaught exception is told with those places. What `try` does is in evaluate_statement.c. */
#include <stdio.h>
#include <string.h>
#include "frontend/language/machine.h"
#include "frontend/place.h"

/* ---- raising ---- */

value exception_value(machine *m, const type_row *type, value args) {
    exception_object *e = (exception_object *)object_new(m, VALUE_EXCEPTION, sizeof *e);
    if (!e) return NO_VALUE_;
    e->type = type;
    e->args = value_keep(args);
    return object_value(e);
}

bool exception_is(value exception, const char *name) {
    return exception.kind == VALUE_EXCEPTION && type_below(((exception_object *)exception.u.o)->type, type_named(name));
}

value raise_value(machine *m, value exception) {
    value old = m->exception;
    exception_object *e = (exception_object *)exception.u.o;
    const value handling = m->state->handling;
    if (absent(e->context) && !absent(handling) && handling.u.o != exception.u.o) e->context = value_keep(handling);
    m->exception = value_keep(exception);
    m->state->placed = false;
    value_drop(m, old);
    return NO_VALUE_;
}

/* Raises type(args); takes args. */
static value raise_made(machine *m, const type_row *type, value argument) {
    value args = absent(argument) ? argument : tuple_value(m, 1, &argument);
    value_drop(m, argument);
    if (absent(args)) return NO_VALUE_;
    value e = exception_value(m, type, args);
    value_drop(m, args);
    if (absent(e)) return e;
    raise_value(m, e);
    value_drop(m, e);
    return NO_VALUE_;
}

static const type_row *kind_named(const char *kind) {
    const type_row *type = type_named(kind);
    return type ? type : type_named("RuntimeError");
}

value raise_error(machine *m, const char *kind, const char *format, ...) {
    char sentence[2 * MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return raise_made(m, kind_named(kind), string_value(m, sentence, strlen(sentence)));
}

value raise_message(machine *m, const message *why) {
    if (why->status == KN_MEMORY_ERROR && !why->text[0]) return raise_memory(m);
    bool axis = why->status == KN_INDEX_ERROR && strstr(why->text, ": axis ");     /* NumPy's kind for axes, an IndexError too */
    return raise_made(m, kind_named(axis ? "AxisError" : status_name(why->status)), string_value(m, why->text, strlen(why->text)));
}

value raise_key(machine *m, value key) { return raise_made(m, kind_named("KeyError"), value_keep(key)); }

/* Makes nothing: the exception is there since the machine began. */
value raise_memory(machine *m) {
    exception_object *e = (exception_object *)m->state->no_memory.u.o;
    if (!e) return NO_VALUE_;
    value_drop(m, e->context);
    e->context = NO_VALUE_;
    if (e->trace) e->trace->n = 0;
    value old = m->exception;
    m->exception = value_keep(m->state->no_memory);
    m->state->placed = false;
    value_drop(m, old);
    return NO_VALUE_;
}

/* ---- places ---- */

#define MOST_PLACES 4096u

void trace_note(machine *m, const syntax_node *at) {
    if (m->state->placed || absent(m->exception) || !m->frame) return;
    exception_object *e = (exception_object *)m->exception.u.o;
    trace *t = e->trace;
    m->state->placed = true;
    if (t && t->n == MOST_PLACES) return;
    if (!t || t->n == t->capacity) {
        size_t capacity = t ? 2 * t->capacity : 4;
        trace *larger = mem_grow(t, 1, sizeof *t + capacity * sizeof *t->at);
        if (!larger) return;
        if (!t) larger->n = 0;
        larger->capacity = capacity;
        e->trace = t = larger;
    }
    const frame *f = m->frame;
    t->at[t->n++] = (trace_place){ f->in->tree, at, f->code };
}

/* ---- classes ---- */

bool exception_matches(machine *m, value exception, value types, bool *matches) {
    if (types.kind == VALUE_TUPLE) {
        *matches = false;
        for (size_t i = 0; i < as_sequence(types)->n && !*matches; i++)
            if (!exception_matches(m, exception, as_sequence(types)->at[i], matches)) return false;
        return true;
    }
    const type_row *type = types.kind == VALUE_TYPE ? ((type_object *)types.u.o)->row : NULL;
    if (!type || !type->exception) return raise_error(m, "TypeError", "catching classes that do not inherit from BaseException is not allowed"), false;
    *matches = type_below(((exception_object *)exception.u.o)->type, type);
    return true;
}

value exception_from(machine *m, value v) {
    if (v.kind == VALUE_EXCEPTION) return value_keep(v);
    if (v.kind != VALUE_TYPE || !((type_object *)v.u.o)->row->exception) return raise_error(m, "TypeError", "exceptions must derive from BaseException");
    return call_value(m, v, NULL, 0, NULL, 0);
}

/* ---- told to C programs ---- */

static kn_status status_of(const type_row *type) {
    for (; type; type = type->base ? type_named(type->base) : NULL)
        for (kn_status s = KN_VALUE_ERROR; s <= KN_NOT_AVAILABLE; s++)
            if (!strcmp(status_name(s), type->name)) return s;
    return KN_RUNTIME_ERROR;
}

/* The line of the place, and what failed there underlined. */
static void add_place(text *out, const trace_place *at) {
    const syntax_tree *t = at->tree;
    char shown[PLACE_SHOWN];
    text_place p = place_find(t->text, t->length, at->at->mark);
    size_t from = at->at->at > p.from ? at->at->at : p.from;
    while (from < at->at->mark && (t->text[from] == ' ' || t->text[from] == '\t')) from++;
    place_show(t->text, t->length, from, at->at->end, shown);
    text_add(out, "  line %u, column %u", p.line, p.column);
    if (at->in->kind != FUNCTION_MODULE) text_add(out, ", in %s", t->names[at->in->name]);
    text_add(out, "\n%s\n", shown);
}

#define PLACES_SHOWN 6u

static void add_trace(text *out, const trace *t) {
    for (size_t i = t->n; i-- > 0;) {
        if (t->n > 2 * PLACES_SHOWN && i == t->n - PLACES_SHOWN - 1) {
            text_add(out, "  ... %zu more calls ...\n", t->n - 2 * PLACES_SHOWN);
            i = PLACES_SHOWN;
            continue;
        }
        add_place(out, &t->at[i]);
    }
}

static void add_chain(machine *m, const exception_object *e, text *where, int depth) {
    value before = !absent(e->cause) ? e->cause : e->suppressed ? NO_VALUE_ : e->context;
    if (absent(before) || depth > 8) return;
    const exception_object *b = (const exception_object *)before.u.o;
    add_chain(m, b, where, depth + 1);
    text_add(where, "%s", b->type->name);
    size_t n = where->len;
    text_addn(where, ": ", 2);
    if (!value_str(m, before, where)) value_drop(m, m->exception), m->exception = NO_VALUE_;
    if (where->len == n + 2) where->len = n;
    text_addn(where, "\n", 1);
    if (b->trace) add_trace(where, b->trace);
    text_add(where, absent(e->cause) ? "while that was handled:\n" : "which was the cause of:\n");
}

kn_status machine_error(machine *m, message *what, text *where) {
    value v = m->exception;
    if (absent(v)) return KN_OK;
    m->exception = NO_VALUE_;
    const exception_object *e = (const exception_object *)v.u.o;
    text sentence = { 0 };
    if (!value_str(m, v, &sentence)) value_drop(m, m->exception), m->exception = NO_VALUE_;
    *what = (message){ 0 };
    const char *s = sentence.at && sentence.len ? sentence.at : "";
    if (e->trace && e->trace->n) {
        const trace_place *at = &e->trace->at[0];
        text_place p = place_find(at->tree->text, at->tree->length, at->at->mark);
        fail(what, status_of(e->type), "%s%s%.*s (line %u, column %u)", e->type->name, *s ? ": " : "", MESSAGE_MAX - 80, s, p.line, p.column);
    } else {
        fail(what, status_of(e->type), "%s%s%s", e->type->name, *s ? ": " : "", s);
    }
    text_free(&sentence);
    if (where) {
        add_chain(m, e, where, 0);
        if (e->trace) add_trace(where, e->trace);
    }
    kn_status status = what->status;
    value_drop(m, v);
    return status;
}
