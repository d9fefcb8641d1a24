/* evaluate.c: expressions.
 *
 * How it works: one function a kind of node, over the innermost frame; a value is a new reference, ABSENT a failure whose
 * place each frame notes on the way out. Integers as indices never become objects. Calls are in functions.c, comprehensions
 * in comprehensions.c, stores in assign.c. */
#include <string.h>
#include "frontend/language/machine.h"
#include "frontend/language/natives.h"

static value evaluate(machine *m, const syntax_node *n);

/* ---- names ---- */

static value unbound(machine *m, const syntax_variable *v, bool inner) {
    const char *name = name_text(m, v->name);
    if (inner) return raise_error(m, "NameError", "cannot access free variable '%s' where it is not associated with a value in enclosing scope", name);
    return raise_error(m, "UnboundLocalError", "cannot access local variable '%s' where it is not associated with a value", name);
}

uint32_t global_number(machine *m, uint32_t name) {
    uint32_t *number = &m->frame->in->global[name];
    if (*number == UINT32_MAX) {
        const char *text = name_text(m, name);
        *number = machine_global(m, text, strlen(text));
    }
    return *number;
}

static value global_value(machine *m, uint32_t name) {
    uint32_t number = m->frame->in->global[name];
    if (number == UINT32_MAX && (number = global_number(m, name)) == UINT32_MAX) return NO_VALUE_;
    const global *g = &m->state->globals[number];
    if (!absent(g->v)) return value_keep(g->v);
    return value_keep(absent(g->builtin) ? global_builtin(m, number) : g->builtin);
}

value variable_value(machine *m, const syntax_variable *v) {
    if (v->where == WHERE_GLOBAL) return global_value(m, v->name);
    value found = m->frame->slot[v->slot];
    if (v->where == WHERE_CELL) found = ((cell_object *)found.u.o)->v;
    return absent(found) ? unbound(m, v, v->slot >= m->frame->code->nlocals) : value_keep(found);
}

/* ---- operators ---- */

static value binary(machine *m, const syntax_node *n) {
    value a = evaluate(m, n->u.binary.left);
    if (absent(a)) return a;
    value b = evaluate(m, n->u.binary.right);
    value v = absent(b) ? b : operate(m, (syntax_binary)n->op, a, b);
    value_drop(m, a);
    value_drop(m, b);
    return v;
}

static value unary(machine *m, const syntax_node *n) {
    value a = evaluate(m, n->u.unary.operand);
    value v = absent(a) ? a : operate_unary(m, (syntax_unary)n->op, a);
    value_drop(m, a);
    return v;
}

static value comparison(machine *m, const syntax_node *n) {
    const syntax_list *rest = n->u.compare.rest;
    value a = evaluate(m, n->u.compare.first);
    for (uint32_t i = 0; !absent(a); i++) {
        value b = evaluate(m, rest->at[i]);
        value v = absent(b) ? b : compare(m, (syntax_compare)n->u.compare.operators[i], a, b);
        value_drop(m, a);
        int truth = i + 1 == rest->n || absent(v) ? 0 : value_truth(m, v);
        if (truth <= 0) {
            value_drop(m, b);
            if (truth < 0) value_drop(m, v), v = NO_VALUE_;
            return v;
        }
        value_drop(m, v);
        a = b;
    }
    return a;
}

/* `and`, `or`: the first operand that decides. */
static value logical(machine *m, const syntax_node *n) {
    const syntax_list *items = n->u.items;
    value v = evaluate(m, items->at[0]);
    for (uint32_t i = 1; i < items->n && !absent(v); i++) {
        int truth = value_truth(m, v);
        if (truth == (n->kind == SYNTAX_OR)) return v;
        value_drop(m, v);
        v = truth < 0 ? NO_VALUE_ : evaluate(m, items->at[i]);
    }
    return v;
}

/* 1, 0 or -1: raised. */
static int condition(machine *m, const syntax_node *n) {
    value v = evaluate(m, n);
    if (v.kind == VALUE_BOOL) return (int)v.u.i;
    int truth = value_truth(m, v);
    value_drop(m, v);
    return truth;
}

static value conditional(machine *m, const syntax_node *n) {
    int truth = condition(m, n->u.conditional.test);
    return truth < 0 ? NO_VALUE_ : evaluate(m, truth ? n->u.conditional.then : n->u.conditional.otherwise);
}

static value named(machine *m, const syntax_node *n) {
    value v = evaluate(m, n->u.bind.value);
    if (absent(v) || assign_variable(m, &n->u.bind.target->u.name, v)) return v;
    value_drop(m, v);
    return NO_VALUE_;
}

/* ---- displays ---- */

static bool display_items(machine *m, const syntax_list *items, value list) {
    for (uint32_t i = 0; i < items->n; i++) {
        bool starred = items->at[i]->kind == SYNTAX_STARRED;
        value v = evaluate(m, starred ? items->at[i]->u.operand : items->at[i]);
        if (starred && !absent(v)) {
            value all = operate_in_place(m, BINARY_ADD, list, v);
            value_drop(m, v);
            v = all;
            if (!absent(v)) value_drop(m, v);
        } else if (!absent(v)) {
            bool good = list_append(m, list, v);
            value_drop(m, v);
            if (!good) return false;
        }
        if (absent(v)) return false;
    }
    return true;
}

static value display(machine *m, const syntax_node *n) {
    value list = list_value(m, 0, NULL);
    if (absent(list)) return list;
    if ((n->u.items->n && !list_reserve(m, as_sequence(list), n->u.items->n)) || !display_items(m, n->u.items, list)) {
        value_drop(m, list);
        return NO_VALUE_;
    }
    if (n->kind == SYNTAX_LIST) return list;
    value result = n->kind == SYNTAX_TUPLE ? tuple_value(m, as_sequence(list)->n, as_sequence(list)->at) : set_value(m);
    for (size_t i = 0; n->kind == SYNTAX_SET && !absent(result) && i < as_sequence(list)->n; i++)
        if (!dict_set(m, result, as_sequence(list)->at[i], none_value())) {
            value_drop(m, result);
            result = NO_VALUE_;
        }
    value_drop(m, list);
    return result;
}

/* Short tuples without stars need no list in between. */
static value tuple_display(machine *m, const syntax_node *n) {
    const syntax_list *items = n->u.items;
    value at[MOST_INTEGERS];
    uint32_t k = 0;
    if (items->n > MOST_INTEGERS) return display(m, n);
    for (uint32_t i = 0; i < items->n; i++) if (items->at[i]->kind == SYNTAX_STARRED) return display(m, n);
    while (k < items->n && !absent(at[k] = evaluate(m, items->at[k]))) k++;
    value v = k == items->n ? tuple_value(m, k, at) : NO_VALUE_;
    while (k > 0) value_drop(m, at[--k]);
    return v;
}

static bool merge_dict(machine *m, value dict, value more) {
    if (more.kind != VALUE_DICT) return raise_error(m, "TypeError", "'%s' object is not a mapping", value_type_name(more)), false;
    const pair *p;
    for (size_t at = 0; (p = dict_next(more, &at));)
        if (!dict_set(m, dict, p->key, p->item)) return false;
    return true;
}

static value dict_display(machine *m, const syntax_node *n) {
    value dict = dict_value(m);
    bool good = !absent(dict);
    for (uint32_t i = 0; good && i < n->u.items->n; i += 2) {
        const syntax_node *key = n->u.items->at[i];
        value k = key ? evaluate(m, key) : none_value();
        value v = absent(k) ? k : evaluate(m, n->u.items->at[i + 1]);
        good = !absent(v) && (key ? dict_set(m, dict, k, v) : merge_dict(m, dict, v));
        value_drop(m, k);
        value_drop(m, v);
    }
    if (good) return dict;
    value_drop(m, dict);
    return NO_VALUE_;
}

/* ---- text ---- */

static bool format_items(machine *m, const syntax_list *items, text *out);

static bool format_field(machine *m, const syntax_node *n, text *out) {
    value v = evaluate(m, n->u.field.value);
    if (absent(v)) return false;
    text spec = { 0 };
    bool good = !n->u.field.format || format_items(m, n->u.field.format->u.items, &spec);
    if (good && n->op) {
        text converted = { 0 };
        good = n->op == 's' ? value_str(m, v, &converted) : value_repr(m, v, &converted);
        if (good && n->op == 'a') {
            text ascii = { 0 };
            text_ascii(&ascii, converted.at ? converted.at : "", converted.len);
            text_free(&converted);
            converted = ascii;
        }
        value_drop(m, v);
        v = good ? string_text(m, &converted) : NO_VALUE_;
        if (!good) text_free(&converted);
        good = !absent(v);
    }
    good = good && format_value(m, v, spec.at ? spec.at : "", spec.len, out);
    text_free(&spec);
    value_drop(m, v);
    return good;
}

static bool format_items(machine *m, const syntax_list *items, text *out) {
    for (uint32_t i = 0; i < items->n; i++) {
        const syntax_node *n = items->at[i];
        if (n->kind == SYNTAX_STRING) text_addn(out, n->u.string.at, n->u.string.length);
        else if (!format_field(m, n, out)) return false;
    }
    return true;
}

static value format_string(machine *m, const syntax_node *n) {
    text t = { 0 };
    if (format_items(m, n->u.items, &t)) return string_text(m, &t);
    text_free(&t);
    return NO_VALUE_;
}

static value bytes_literal(machine *m, const syntax_node *n) {
    value v = string_value(m, n->u.string.at, n->u.string.length);
    if (absent(v)) return v;
    v.kind = v.u.o->kind = VALUE_BYTES;
    as_string(v)->points = as_string(v)->length;
    return v;
}

/* ---- attributes and subscripts ---- */

/* np.sqrt in a loop is looked up once. */
static value module_attribute(machine *m, value module, const char *name) {
    const char *of = ((module_object *)module.u.o)->name;
    module_entry *e = &m->state->modules[((uintptr_t)name >> 3 ^ (uintptr_t)of >> 3) % MODULE_ENTRIES];
    if (e->module == of && e->name == name) return value_keep(e->v);
    value v = value_attribute(m, module, name);
    if (absent(v)) return v;
    value_drop(m, e->v);
    *e = (module_entry){ of, name, value_keep(v) };
    return v;
}

static value attribute(machine *m, const syntax_node *n) {
    value of = evaluate(m, n->u.attribute.value);
    if (absent(of)) return of;
    const char *name = name_text(m, n->u.attribute.name);
    value v = of.kind == VALUE_MODULE ? module_attribute(m, of, name) : value_attribute(m, of, name);
    value_drop(m, of);
    return v;
}

static value slice(machine *m, const syntax_node *n) {
    const syntax_node *parts[3] = { n->u.slice.start, n->u.slice.stop, n->u.slice.step };
    value v[3] = { none_value(), none_value(), none_value() };
    bool good = true;
    for (int i = 0; i < 3 && good; i++)
        if (parts[i]) good = !absent(v[i] = evaluate(m, parts[i]));
    value s = good ? slice_value(m, v[0], v[1], v[2]) : NO_VALUE_;
    for (int i = 0; i < 3; i++) value_drop(m, v[i]);
    return s;
}

static bool integer_index(value v, int64_t *at) {
    bool integer = v.kind == VALUE_INT || (v.kind == VALUE_ELEMENT && v.dtype != KN_BOOL && !dtype_is_inexact((kn_dtype)v.dtype) && v.dtype != KN_UINT64);
    if (integer) *at = v.u.i;
    return integer;
}

static bool index_items(machine *m, const syntax_list *items, index_value *out) {
    value v[MOST_INTEGERS];
    uint32_t k = 0;
    bool integers = true;
    for (; k < items->n; k++) {
        if (absent(v[k] = evaluate(m, items->at[k]))) break;
        integers = integer_index(v[k], &out->at[k]) && integers;
    }
    if (k == items->n && integers) {
        out->n = (int)k;
        return true;
    }
    out->index = k == items->n ? tuple_value(m, k, v) : NO_VALUE_;
    while (k > 0) value_drop(m, v[--k]);
    return !absent(out->index);
}

static bool stars_among(const syntax_list *items) {
    for (uint32_t i = 0; i < items->n; i++) if (items->at[i]->kind == SYNTAX_STARRED) return true;
    return false;
}

bool evaluate_index(machine *m, const syntax_node *n, index_value *out) {
    out->n = 0;
    out->index = NO_VALUE_;
    if (n->kind == SYNTAX_TUPLE && n->u.items->n && n->u.items->n <= MOST_INTEGERS && !stars_among(n->u.items)) return index_items(m, n->u.items, out);
    value v = evaluate(m, n);
    if (integer_index(v, &out->at[0]) && v.kind == VALUE_INT) return out->n = 1, true;
    out->index = v;
    return !absent(v);
}

value index_object(machine *m, const index_value *at) {
    if (!at->n) return value_keep(at->index);
    if (at->n == 1) return int_value(at->at[0]);
    value v[MOST_INTEGERS];
    for (int i = 0; i < at->n; i++) v[i] = int_value(at->at[i]);
    return tuple_value(m, (size_t)at->n, v);
}

value subscript_get(machine *m, value of, const index_value *at) {
    if (at->n && of.kind == VALUE_ARRAY) return array_get_at(m, of, at->n, at->at);
    if (at->n == 1 && of.kind == VALUE_LIST) {
        const sequence_object *s = as_sequence(of);
        int64_t i = at->at[0] < 0 ? at->at[0] + (int64_t)s->n : at->at[0];
        if (i >= 0 && (size_t)i < s->n) return value_keep(s->at[i]);
    }
    value index = index_object(m, at), v = absent(index) ? index : value_subscript(m, of, index);
    value_drop(m, index);
    return v;
}

static value subscript(machine *m, const syntax_node *n) {
    index_value at;
    value of = evaluate(m, n->u.subscript.value);
    if (absent(of)) return of;
    value v = evaluate_index(m, n->u.subscript.index, &at) ? subscript_get(m, of, &at) : NO_VALUE_;
    value_drop(m, at.index);
    value_drop(m, of);
    return v;
}

/* ---- all kinds ---- */

static value evaluate_kind(machine *m, const syntax_node *n) {
    switch ((syntax_kind)n->kind) {
    case SYNTAX_NAME: return variable_value(m, &n->u.name);
    case SYNTAX_NONE: return none_value();
    case SYNTAX_TRUE: return bool_value(true);
    case SYNTAX_FALSE: return bool_value(false);
    case SYNTAX_ELLIPSIS: return (value){ VALUE_ELLIPSIS, 0, { 0 } };
    case SYNTAX_INTEGER: return int_value(n->u.integer);
    case SYNTAX_BIG_INTEGER: return big_from_text(m, n->u.big.digits, n->u.big.length, (int)n->u.big.base);
    case SYNTAX_FLOAT: return float_value(n->u.number);
    case SYNTAX_IMAGINARY: return complex_value(m, 0, n->u.number);
    case SYNTAX_STRING: return string_value(m, n->u.string.at, n->u.string.length);
    case SYNTAX_BYTES: return bytes_literal(m, n);
    case SYNTAX_FORMAT_STRING: return format_string(m, n);
    case SYNTAX_UNARY: return unary(m, n);
    case SYNTAX_BINARY: return binary(m, n);
    case SYNTAX_AND: case SYNTAX_OR: return logical(m, n);
    case SYNTAX_COMPARE: return comparison(m, n);
    case SYNTAX_CONDITIONAL: return conditional(m, n);
    case SYNTAX_LAMBDA: return function_make(m, n->u.function);
    case SYNTAX_NAMED: return named(m, n);
    case SYNTAX_ATTRIBUTE: return attribute(m, n);
    case SYNTAX_SUBSCRIPT: return subscript(m, n);
    case SYNTAX_SLICE: return slice(m, n);
    case SYNTAX_CALL: return evaluate_call(m, n);
    case SYNTAX_TUPLE: return tuple_display(m, n);
    case SYNTAX_LIST: case SYNTAX_SET: return display(m, n);
    case SYNTAX_DICT: return dict_display(m, n);
    case SYNTAX_LIST_COMPREHENSION: case SYNTAX_SET_COMPREHENSION: case SYNTAX_DICT_COMPREHENSION: return comprehension(m, n);
    case SYNTAX_GENERATOR: return generator_make(m, n->u.function);
    default: return raise_error(m, "SyntaxError", "this is not an expression");
    }
}

/* Names and numbers are most of what there is, and need no stack. */
static value evaluate(machine *m, const syntax_node *n) {
    if (n->kind == SYNTAX_NAME && n->u.name.where == WHERE_LOCAL && !absent(m->frame->slot[n->u.name.slot])) return value_keep(m->frame->slot[n->u.name.slot]);
    if (n->kind == SYNTAX_INTEGER) return int_value(n->u.integer);
    if (n->kind == SYNTAX_FLOAT) return float_value(n->u.number);
    value v = stack_left(m) ? evaluate_kind(m, n) : raise_error(m, "RecursionError", "maximum recursion depth exceeded");
    if (absent(v)) trace_note(m, n);
    return v;
}

value evaluate_node(machine *m, const syntax_node *n) { return evaluate(m, n); }
