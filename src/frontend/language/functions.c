/* functions.c: calls, and functions that the program defines.
 *
 * How it works: arguments are evaluated left to right into a small array; a function's frame has its parameters in the first
 * slots, then its other variables, then the cells that it shares with functions around it. What natives and array operations do
 * with their arguments is theirs. */
#include <string.h>
#include "frontend/language/machine.h"

#define FEW_SLOTS 24
#define FEW_ARGUMENTS 8

/* ---- making functions ---- */

const char *function_name(const function_object *f) { return f->in->tree->names[f->code->name]; }

void function_drop(machine *m, function_object *f) {
    for (uint32_t i = 0; i < f->code->nparameters + f->code->nfree; i++) value_drop(m, f->at[i]);
}

value function_make(machine *m, const syntax_function *code) {
    function_object *f = (function_object *)object_new(m, VALUE_FUNCTION, sizeof *f + (code->nparameters + code->nfree) * sizeof(value));
    if (!f) return NO_VALUE_;
    f->in = m->frame->in;
    f->code = code;
    value v = object_value(f);
    for (uint32_t i = 0; i < code->nparameters; i++) {
        const syntax_node *initial = code->parameters[i].initial;
        if (!initial) continue;
        f->at[i] = evaluate_node(m, initial);
        if (!absent(f->at[i])) continue;
        value_drop(m, v);
        return NO_VALUE_;
    }
    for (uint32_t i = 0; i < code->nfree; i++) f->at[code->nparameters + i] = value_keep(m->frame->slot[code->captures[i]]);
    return v;
}

/* ---- arguments into parameters ---- */

typedef struct binding {
    machine *m;
    const syntax_tree *tree;
    const syntax_function *code;
    value *slot;
    value stars;                         /* the dict of **keywords, or ABSENT; the slot owns it */
} binding;

static const char *parameter_name(const binding *b, uint32_t i) { return b->tree->names[b->code->parameters[i].name]; }

static bool positional(binding *b, const value *args, uint32_t n) {
    uint32_t take = n < b->code->npositional ? n : b->code->npositional;
    for (uint32_t i = 0; i < take; i++) b->slot[i] = value_keep(args[i]);
    if (b->code->star) {
        value *rest = &b->slot[b->code->nparameters - 1 - b->code->stars];
        return !absent(*rest = tuple_value(b->m, n - take, args + take));
    }
    if (n == take) return true;
    uint32_t most = b->code->npositional;
    raise_error(b->m, "TypeError", "%s() takes %u positional argument%s but %u %s given", b->tree->names[b->code->name], most, most == 1 ? "" : "s", n, n == 1 ? "was" : "were");
    return false;
}

static bool by_name(binding *b, const keyword *k) {
    const syntax_function *code = b->code;
    uint32_t named = code->nparameters - code->star - code->stars;
    const char *function = b->tree->names[code->name];
    for (uint32_t i = code->npositional_only; i < named; i++) {
        const char *name = parameter_name(b, i);
        if (name != k->name && strcmp(name, k->name)) continue;
        if (!absent(b->slot[i])) return raise_error(b->m, "TypeError", "%s() got multiple values for argument '%s'", function, name), false;
        b->slot[i] = value_keep(k->v);
        return true;
    }
    if (absent(b->stars)) return raise_error(b->m, "TypeError", "%s() got an unexpected keyword argument '%s'", function, k->name), false;
    value key = string_value(b->m, k->name, strlen(k->name)), had = NO_VALUE_;
    bool good = !absent(key) && dict_find(b->m, b->stars, key, &had);
    if (good && !absent(had)) good = !absent(raise_error(b->m, "TypeError", "%s() got multiple values for keyword argument '%s'", function, k->name));
    good = good && dict_set(b->m, b->stars, key, k->v);
    value_drop(b->m, key);
    return good;
}

/* 'a', 'b' and 'c' */
static bool missing(binding *b, uint32_t from, uint32_t to, const char *kind) {
    uint32_t n = 0, k = 0;
    for (uint32_t i = from; i < to; i++) n += absent(b->slot[i]);
    text names = { 0 };
    for (uint32_t i = from; i < to; i++) {
        if (!absent(b->slot[i])) continue;
        k++;
        text_add(&names, "%s'%s'", k == 1 ? "" : k == n ? " and " : ", ", parameter_name(b, i));
    }
    raise_error(b->m, "TypeError", "%s() missing %u required %s argument%s: %s", b->tree->names[b->code->name], n, kind, n == 1 ? "" : "s", names.at ? names.at : "");
    text_free(&names);
    return false;
}

static bool defaults(binding *b, const value *initial) {
    const syntax_function *code = b->code;
    uint32_t named = code->nparameters - code->star - code->stars;
    bool positionals = true, keywords = true;
    for (uint32_t i = 0; i < named; i++) {
        if (!absent(b->slot[i])) continue;
        b->slot[i] = value_keep(initial[i]);
        if (absent(b->slot[i])) *(i < code->npositional ? &positionals : &keywords) = false;
    }
    if (!positionals) return missing(b, 0, code->npositional, "positional");
    return keywords || missing(b, code->npositional, named, "keyword-only");
}

static bool bind(binding *b, const function_object *f, const value *args, uint32_t n, const keyword *keywords, uint32_t nkeywords) {
    if (b->code->stars) {
        b->stars = b->slot[b->code->nparameters - 1] = dict_value(b->m);
        if (absent(b->stars)) return false;
    }
    if (!positional(b, args, n)) return false;
    for (uint32_t i = 0; i < nkeywords; i++) if (!by_name(b, &keywords[i])) return false;
    return defaults(b, f->at);
}

/* ---- frames ---- */

static value cell_value(machine *m, value v) {
    cell_object *c = (cell_object *)object_new(m, VALUE_CELL, sizeof *c);
    if (!c) return NO_VALUE_;
    c->v = v;
    return object_value(c);
}

/* Cells for the variables that inner functions share. */
static bool make_cells(machine *m, const syntax_function *code, value *slot) {
    for (uint32_t i = 0; i < code->nlocals; i++) {
        if (!code->is_cell[i]) continue;
        value cell = cell_value(m, slot[i]);
        if (absent(cell)) return false;
        slot[i] = cell;
    }
    return true;
}

/* The slots of a function's frame, besides its parameters. */
bool frame_slots(machine *m, const syntax_function *code, value *slot, const value *free) {
    for (uint32_t i = 0; i < code->nfree; i++) slot[code->nlocals + i] = value_keep(free[i]);
    return make_cells(m, code, slot);
}

static value run_function(machine *m, function_object *f, value *slot) {
    frame here = { .slot = slot };
    if (!frame_enter(m, &here, f->in, f->code)) return NO_VALUE_;
    value v;
    if (f->code->kind == FUNCTION_LAMBDA) {
        v = evaluate_node(m, f->code->value);
    } else {
        run_state state = run_block(m, f->code->body);
        v = state == RUN_RETURN ? here.result : state == RUN_RAISED ? NO_VALUE_ : none_value();
    }
    frame_leave(m, &here);
    return v;
}

value function_call(machine *m, function_object *f, const value *args, int n, const keyword *keywords, int nkeywords) {
    const syntax_function *code = f->code;
    uint32_t nslots = code->nlocals + code->nfree;
    value few[FEW_SLOTS], *slot = nslots <= FEW_SLOTS ? few : mem_array(nslots, sizeof *slot);
    if (!slot) return raise_memory(m);
    memset(slot, 0, nslots * sizeof *slot);
    binding b = { .m = m, .tree = f->in->tree, .code = code, .slot = slot };
    value v = NO_VALUE_;
    if (bind(&b, f, args, (uint32_t)n, keywords, (uint32_t)nkeywords) && frame_slots(m, code, slot, f->at + code->nparameters)) v = run_function(m, f, slot);
    for (uint32_t i = 0; i < nslots; i++) value_drop(m, slot[i]);
    if (slot != few) mem_free(slot);
    return v;
}

/* ---- calling anything ---- */

/* np.float32(x): a number, or an array of that dtype. */
static value dtype_call(machine *m, value dtype, const value *args, int n, int nkeywords) {
    if (n > 1 || nkeywords) return raise_error(m, "TypeError", "%s takes one argument", value_type_name(dtype));
    kn_array a = array_made(m, n ? args[0] : int_value(0), (kn_dtype)dtype.dtype);
    if (!a.id) return NO_VALUE_;
    bool plain = n == 0 || value_is_number(args[0]) || args[0].kind == VALUE_STRING;
    return plain ? element_of(m, a) : array_result(m, a);
}

static value operation_bound_call(machine *m, const bound_object *b, const value *args, int n, const keyword *keywords, int nkeywords) {
    value few[FEW_ARGUMENTS + 1], *all = n <= FEW_ARGUMENTS ? few : mem_array((size_t)n + 1, sizeof *all);
    if (!all) return raise_memory(m);
    all[0] = b->self;
    if (n) memcpy(all + 1, args, (size_t)n * sizeof *all);
    value v = operation_call(m, b->op, all, n + 1, keywords, nkeywords);
    if (all != few) mem_free(all);
    return v;
}

static value type_call(machine *m, const type_row *row, const value *args, int n, const keyword *keywords, int nkeywords) {
    if (!row->exception) return native_call(m, &row->make, NULL, args, n, keywords, nkeywords);
    if (nkeywords) return raise_error(m, "TypeError", "%s() takes no keyword arguments", row->name);
    value all = tuple_value(m, (size_t)n, args);
    value v = absent(all) ? all : exception_value(m, row, all);
    value_drop(m, all);
    return v;
}

static value call_kind(machine *m, value f, const value *args, int n, const keyword *keywords, int nkeywords) {
    switch (f.kind) {
    case VALUE_ABSENT: return f;
    case VALUE_FUNCTION: return function_call(m, (function_object *)f.u.o, args, n, keywords, nkeywords);
    case VALUE_NATIVE: return native_call(m, ((native_object *)f.u.o)->row, NULL, args, n, keywords, nkeywords);
    case VALUE_BOUND: {
        const bound_object *b = (bound_object *)f.u.o;
        return b->row ? native_call(m, b->row, &b->self, args, n, keywords, nkeywords) : operation_bound_call(m, b, args, n, keywords, nkeywords);
    }
    case VALUE_OPERATION: {
        const operation_object *o = (operation_object *)f.u.o;
        return o->method ? operation_method_call(m, o, args, n, keywords, nkeywords) : operation_call(m, o->op, args, n, keywords, nkeywords);
    }
    case VALUE_TYPE: return type_call(m, ((type_object *)f.u.o)->row, args, n, keywords, nkeywords);
    case VALUE_DTYPE: return dtype_call(m, f, args, n, nkeywords);
    default: return raise_error(m, "TypeError", "'%s' object is not callable", value_type_name(f));
    }
}

value call_value(machine *m, value f, const value *args, int n, const keyword *keywords, int nkeywords) {
    return machine_step(m) ? call_kind(m, f, args, n, keywords, nkeywords) : NO_VALUE_;
}

/* ---- calls that are written with * or ** ---- */

typedef struct argument_list {
    value positional;                    /* a list */
    keyword *keywords; int n, most;      /* values owned; names as long as `names` and the tree stay */
    value names;                         /* a list: strings that keyword names lie in */
} argument_list;

static bool add_keyword(machine *m, argument_list *a, const char *name, value v) {
    if (a->n == a->most) {
        int most = a->most ? 2 * a->most : 8;
        keyword *k = mem_grow(a->keywords, (size_t)most, sizeof *k);
        if (!k) return raise_memory(m), false;
        a->keywords = k;
        a->most = most;
    }
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->keywords[i].name, name)) return raise_error(m, "TypeError", "got multiple values for keyword argument '%s'", name), false;
    a->keywords[a->n++] = (keyword){ name, value_keep(v) };
    return true;
}

static bool add_stars(machine *m, argument_list *a, value v) {
    if (v.kind != VALUE_DICT) return raise_error(m, "TypeError", "argument after ** must be a mapping, not %s", value_type_name(v)), false;
    const pair *p;
    for (size_t at = 0; (p = dict_next(v, &at));) {
        if (p->key.kind != VALUE_STRING) return raise_error(m, "TypeError", "keywords must be strings"), false;
        if (!list_append(m, a->names, p->key) || !add_keyword(m, a, as_string(p->key)->at, p->item)) return false;
    }
    return true;
}

static bool collect(machine *m, const syntax_node *n, argument_list *a) {
    const syntax_list *positional = n->u.call.positional, *keywords = n->u.call.keywords;
    for (uint32_t i = 0; i < positional->n; i++) {
        bool starred = positional->at[i]->kind == SYNTAX_STARRED;
        value v = evaluate_node(m, starred ? positional->at[i]->u.operand : positional->at[i]);
        value items = starred && !absent(v) ? sequence_of(m, v, VALUE_TUPLE) : NO_VALUE_;
        bool good = !absent(v) && (starred ? !absent(items) : list_append(m, a->positional, v));
        for (size_t k = 0; good && starred && k < as_sequence(items)->n; k++) good = list_append(m, a->positional, as_sequence(items)->at[k]);
        value_drop(m, items);
        value_drop(m, v);
        if (!good) return false;
    }
    for (uint32_t i = 0; i < keywords->n; i++) {
        const syntax_node *k = keywords->at[i];
        value v = evaluate_node(m, k->u.keyword.value);
        bool good = !absent(v) && (k->u.keyword.stars ? add_stars(m, a, v) : add_keyword(m, a, name_text(m, k->u.keyword.name), v));
        value_drop(m, v);
        if (!good) return false;
    }
    return true;
}

static value call_collected(machine *m, const syntax_node *n, value f) {
    argument_list a = { .positional = list_value(m, 0, NULL), .names = list_value(m, 0, NULL) };
    value v = NO_VALUE_;
    if (!absent(a.positional) && !absent(a.names) && collect(m, n, &a))
        v = call_value(m, f, as_sequence(a.positional)->at, (int)as_sequence(a.positional)->n, a.keywords, a.n);
    for (int i = 0; i < a.n; i++) value_drop(m, a.keywords[i].v);
    mem_free(a.keywords);
    value_drop(m, a.positional);
    value_drop(m, a.names);
    return v;
}

/* ---- calls ---- */

static bool is_plain(const syntax_node *n) {
    const syntax_list *positional = n->u.call.positional, *keywords = n->u.call.keywords;
    if (positional->n > FEW_ARGUMENTS || keywords->n > FEW_ARGUMENTS) return false;
    for (uint32_t i = 0; i < positional->n; i++) if (positional->at[i]->kind == SYNTAX_STARRED) return false;
    for (uint32_t i = 0; i < keywords->n; i++) if (keywords->at[i]->u.keyword.stars) return false;
    return true;
}

static value call_plain(machine *m, const syntax_node *n, value f) {
    const syntax_list *positional = n->u.call.positional, *keywords = n->u.call.keywords;
    value args[FEW_ARGUMENTS], v = NO_VALUE_;
    keyword named[FEW_ARGUMENTS];
    uint32_t i = 0, k = 0;
    while (i < positional->n && !absent(args[i] = evaluate_node(m, positional->at[i]))) i++;
    if (i == positional->n)
        for (; k < keywords->n; k++) {
            named[k].name = name_text(m, keywords->at[k]->u.keyword.name);
            named[k].v = evaluate_node(m, keywords->at[k]->u.keyword.value);
            if (absent(named[k].v)) break;
        }
    if (i == positional->n && k == keywords->n) v = call_value(m, f, args, (int)i, named, (int)k);
    while (k > 0) value_drop(m, named[--k].v);
    while (i > 0) value_drop(m, args[--i]);
    return v;
}

value evaluate_call(machine *m, const syntax_node *n) {
    value f = evaluate_node(m, n->u.call.function);
    if (absent(f)) return f;
    value v = is_plain(n) ? call_plain(m, n, f) : call_collected(m, n, f);
    value_drop(m, f);
    return v;
}
