/* assign.c: stores: to names, attributes, subscripts and patterns; updates in place; del. What is stored is in evaluate.c. */
#include "kiln.h"
#include "frontend/language/machine.h"

/* ---- names ---- */

static value *place_of_variable(machine *m, const syntax_variable *v) {
    if (v->where == WHERE_LOCAL) return &m->frame->slot[v->slot];
    if (v->where == WHERE_CELL) return &((cell_object *)m->frame->slot[v->slot].u.o)->v;
    uint32_t number = m->frame->in->global[v->name];
    if (number == UINT32_MAX && (number = global_number(m, v->name)) == UINT32_MAX) return NULL;
    return &m->state->globals[number].v;
}

bool assign_variable(machine *m, const syntax_variable *variable, value v) {
    value *at = place_of_variable(m, variable);
    if (!at) return false;
    value old = *at;
    *at = value_keep(v);
    value_drop(m, old);
    return true;
}

/* ---- patterns ---- */

static bool too_many(machine *m, uint32_t wanted, int64_t have) {
    if (have < 0) raise_error(m, "ValueError", "too many values to unpack (expected %u)", wanted);
    else if (have > (int64_t)wanted) raise_error(m, "ValueError", "too many values to unpack (expected %u, got %lld)", wanted, (long long)have);
    else raise_error(m, "ValueError", "not enough values to unpack (expected %u, got %lld)", wanted, (long long)have);
    return false;
}

static bool unpack_starred(machine *m, const syntax_list *targets, uint32_t star, const value *at, size_t n) {
    size_t after = targets->n - star - 1;
    if (n < targets->n - 1) return raise_error(m, "ValueError", "not enough values to unpack (expected at least %u, got %zu)", targets->n - 1, n), false;
    for (uint32_t i = 0; i < star; i++) if (!assign(m, targets->at[i], at[i])) return false;
    value middle = list_value(m, n - after - star, at + star);
    bool good = !absent(middle) && assign(m, targets->at[star]->u.operand, middle);
    value_drop(m, middle);
    for (size_t i = 0; good && i < after; i++) good = assign(m, targets->at[star + 1 + i], at[n - after + i]);
    return good;
}

/* At most one more than is wanted is taken from an iterator, as Python does. */
static value take(machine *m, value v, uint32_t wanted, bool all) {
    if (v.kind == VALUE_TUPLE) return value_keep(v);
    if (all || v.kind == VALUE_LIST) return sequence_of(m, v, VALUE_TUPLE);
    value it = value_iterate(m, v), list = absent(it) ? it : list_value(m, 0, NULL);
    for (bool done = false; !absent(list) && as_sequence(list)->n <= wanted;) {
        value item = value_next(m, it, &done);
        if (done) break;
        bool good = !absent(item) && list_append(m, list, item);
        value_drop(m, item);
        if (!good) value_drop(m, list), list = NO_VALUE_;
    }
    value_drop(m, it);
    return list;
}

static bool unpack(machine *m, const syntax_list *targets, value v) {
    uint32_t star = targets->n;
    for (uint32_t i = 0; i < targets->n; i++) if (targets->at[i]->kind == SYNTAX_STARRED) star = i;
    bool iterates = v.kind == VALUE_ITERATOR || v.kind >= VALUE_ARRAY;
    if (v.kind == VALUE_ARRAY && kn_ndim(as_array(v)->array) == 0) iterates = false;
    if (!iterates) return raise_error(m, "TypeError", "cannot unpack non-iterable %s object", value_type_name(v)), false;
    value items = take(m, v, targets->n, star < targets->n);
    if (absent(items)) return false;
    size_t n = as_sequence(items)->n;
    bool good = true;
    if (star < targets->n) good = unpack_starred(m, targets, star, as_sequence(items)->at, n);
    else if (n != targets->n) good = too_many(m, targets->n, n > targets->n && v.kind != VALUE_TUPLE && v.kind != VALUE_LIST ? -1 : (int64_t)n);
    else for (uint32_t i = 0; good && i < n; i++) good = assign(m, targets->at[i], as_sequence(items)->at[i]);
    value_drop(m, items);
    return good;
}

/* ---- all targets ---- */

static bool subscript_put(machine *m, value of, const index_value *at, value v) {
    if (at->n && of.kind == VALUE_ARRAY && !as_array(of)->scalar) return array_set_at(m, of, at->n, at->at, v);
    value index = index_object(m, at);
    bool good = !absent(index) && value_subscript_set(m, of, index, v);
    value_drop(m, index);
    return good;
}

static bool assign_subscript(machine *m, const syntax_node *target, value v) {
    index_value at;
    value of = evaluate_node(m, target->u.subscript.value);
    if (absent(of)) return false;
    bool good = evaluate_index(m, target->u.subscript.index, &at) && subscript_put(m, of, &at, v);
    value_drop(m, at.index);
    value_drop(m, of);
    return good;
}

static bool assign_attribute(machine *m, const syntax_node *target, value v) {
    value of = evaluate_node(m, target->u.attribute.value);
    bool good = !absent(of) && value_attribute_set(m, of, name_text(m, target->u.attribute.name), v);
    value_drop(m, of);
    return good;
}

bool assign(machine *m, const syntax_node *target, value v) {
    bool good;
    switch (target->kind) {
    case SYNTAX_NAME: good = assign_variable(m, &target->u.name, v); break;
    case SYNTAX_SUBSCRIPT: good = assign_subscript(m, target, v); break;
    case SYNTAX_ATTRIBUTE: good = assign_attribute(m, target, v); break;
    default: good = unpack(m, target->u.items, v); break;
    }
    if (!good) trace_note(m, target);
    return good;
}

/* ---- updates ---- */

static bool augment_name(machine *m, const syntax_node *n, syntax_binary op) {
    const syntax_variable *variable = &n->u.bind.target->u.name;
    value old = variable_value(m, variable);
    if (absent(old)) return trace_note(m, n->u.bind.target), false;
    value by = evaluate_node(m, n->u.bind.value), v = absent(by) ? by : operate_in_place(m, op, old, by);
    bool good = !absent(v) && (value_same(v, old) || assign_variable(m, variable, v));
    if (good && v.kind == VALUE_ARRAY) scope_touch(as_array(v)->array);
    value_drop(m, v);
    value_drop(m, by);
    value_drop(m, old);
    return good;
}

/* Whether v shows memory of the array `of`: then an update in place has reached it already. */
static bool same_memory(value of, value v) {
    if (of.kind != VALUE_ARRAY || v.kind != VALUE_ARRAY) return false;
    const slot *a = slot_of(as_array(of)->array), *b = slot_of(as_array(v)->array);
    return a && b && a->c && a->c == b->c;
}

static bool augment_subscript(machine *m, const syntax_node *n, syntax_binary op) {
    const syntax_node *target = n->u.bind.target;
    index_value at;
    value of = evaluate_node(m, target->u.subscript.value);
    if (absent(of)) return false;
    bool good = evaluate_index(m, target->u.subscript.index, &at);
    value old = good ? subscript_get(m, of, &at) : NO_VALUE_;
    if (absent(old)) trace_note(m, target);
    value by = absent(old) ? old : evaluate_node(m, n->u.bind.value);
    value v = absent(by) ? by : operate_in_place(m, op, old, by);
    good = !absent(v) && (same_memory(of, v) || subscript_put(m, of, &at, v));
    value_drop(m, v);
    value_drop(m, by);
    value_drop(m, old);
    value_drop(m, at.index);
    value_drop(m, of);
    return good;
}

static bool augment_attribute(machine *m, const syntax_node *n, syntax_binary op) {
    const char *name = name_text(m, n->u.bind.target->u.attribute.name);
    value of = evaluate_node(m, n->u.bind.target->u.attribute.value);
    if (absent(of)) return false;
    value old = value_attribute(m, of, name), by = absent(old) ? old : evaluate_node(m, n->u.bind.value);
    value v = absent(by) ? by : operate_in_place(m, op, old, by);
    bool good = !absent(v) && (same_memory(of, v) || value_attribute_set(m, of, name, v));
    value_drop(m, v);
    value_drop(m, by);
    value_drop(m, old);
    value_drop(m, of);
    return good;
}

bool augment(machine *m, const syntax_node *n) {
    syntax_binary op = (syntax_binary)n->op;
    switch (n->u.bind.target->kind) {
    case SYNTAX_NAME: return augment_name(m, n, op);
    case SYNTAX_SUBSCRIPT: return augment_subscript(m, n, op);
    default: return augment_attribute(m, n, op);
    }
}

/* ---- del ---- */

static bool delete_name(machine *m, const syntax_variable *v) {
    value *at = place_of_variable(m, v);
    if (!at) return false;
    if (absent(*at)) {
        if (v->where == WHERE_GLOBAL) raise_name_missing(m, NULL, name_text(m, v->name));
        else raise_error(m, "UnboundLocalError", "cannot access local variable '%s' where it is not associated with a value", name_text(m, v->name));
        return false;
    }
    return assign_variable(m, v, NO_VALUE_);
}

bool delete_target(machine *m, const syntax_node *target) {
    bool good = true;
    switch (target->kind) {
    case SYNTAX_NAME: good = delete_name(m, &target->u.name); break;
    case SYNTAX_SUBSCRIPT: good = assign_subscript(m, target, NO_VALUE_); break;
    case SYNTAX_ATTRIBUTE:
        raise_error(m, "AttributeError", "attribute '%s' cannot be deleted", name_text(m, target->u.attribute.name));
        good = false;
        break;
    default:
        for (uint32_t i = 0; good && i < target->u.items->n; i++) good = delete_target(m, target->u.items->at[i]);
        break;
    }
    if (!good) trace_note(m, target);
    return good;
}
