/* statements.c: statements.
 *
 * How it works: a block runs until a statement does not simply go on: `break`, `continue`, `return` and exceptions pass outwards as
 * a run_state. Handles that a statement made and no value kept are let go when it is over; a loop's turn is where pending
 * work may be cut. */
#include <string.h>
#include "frontend/language/machine.h"

static run_state run_statement(machine *m, const syntax_node *n);

static run_state went(bool good) { return good ? RUN_NEXT : RUN_RAISED; }

run_state run_block(machine *m, const syntax_list *body) {
    uint32_t mark = m->frame->mark;
    for (uint32_t i = 0; i < body->n; i++) {
        run_state state = machine_step(m) ? run_statement(m, body->at[i]) : RUN_RAISED;
        if (scope_made() > mark) scope_sweep(mark);
        if (state != RUN_NEXT) {
            if (state == RUN_RAISED) trace_note(m, body->at[i]);
            return state;
        }
    }
    return RUN_NEXT;
}

/* ---- simple statements ---- */

static bool assignment(machine *m, const syntax_node *n) {
    const syntax_list *targets = n->u.assign.targets;
    value v = evaluate_node(m, n->u.assign.value);
    bool good = !absent(v);
    for (uint32_t i = 0; good && i < targets->n; i++) good = assign(m, targets->at[i], v);
    if (good && v.kind == VALUE_ARRAY) scope_touch(as_array(v)->array);
    value_drop(m, v);
    return good;
}

static bool annotated(machine *m, const syntax_node *n) {
    if (!n->u.annotated.value) return true;
    value v = evaluate_node(m, n->u.annotated.value);
    bool good = !absent(v) && assign(m, n->u.annotated.target, v);
    value_drop(m, v);
    return good;
}

static bool expression(machine *m, const syntax_node *n) {
    value v = evaluate_node(m, n->u.operand);
    value_drop(m, v);
    return !absent(v);
}

static bool define(machine *m, const syntax_node *n) {
    value f = function_make(m, n->u.definition.function);
    bool good = !absent(f) && assign_variable(m, &n->u.definition.variable, f);
    value_drop(m, f);
    return good;
}

static run_state return_value(machine *m, const syntax_node *n) {
    value v = n->u.operand ? evaluate_node(m, n->u.operand) : none_value();
    if (absent(v)) return RUN_RAISED;
    value_drop(m, m->frame->result);
    m->frame->result = v;
    return RUN_RETURN;
}

/* 1, 0 or -1: raised. */
static int test(machine *m, const syntax_node *n) {
    value v = evaluate_node(m, n);
    if (v.kind == VALUE_BOOL) return (int)v.u.i;
    int truth = value_truth(m, v);
    if (truth < 0) trace_note(m, n);
    value_drop(m, v);
    return truth;
}

static bool assertion(machine *m, const syntax_node *n) {
    int truth = test(m, n->u.assert.test);
    if (truth) return truth > 0;
    value sentence = n->u.assert.sentence ? evaluate_node(m, n->u.assert.sentence) : NO_VALUE_;
    if (n->u.assert.sentence && absent(sentence)) return false;
    value args = tuple_value(m, absent(sentence) ? 0 : 1, &sentence);
    value e = absent(args) ? args : exception_value(m, type_named("AssertionError"), args);
    if (!absent(e)) raise_value(m, e);
    value_drop(m, e);
    value_drop(m, args);
    value_drop(m, sentence);
    return false;
}

static bool delete(machine *m, const syntax_node *n) {
    bool good = true;
    for (uint32_t i = 0; good && i < n->u.items->n; i++) good = delete_target(m, n->u.items->at[i]);
    return good;
}

/* ---- raise ---- */

static bool add_cause(machine *m, value exception, const syntax_node *n) {
    exception_object *e = (exception_object *)exception.u.o;
    value v = evaluate_node(m, n);
    if (absent(v)) return false;
    value cause = v.kind == VALUE_NONE ? NO_VALUE_ : exception_from(m, v);
    bool good = v.kind == VALUE_NONE || !absent(cause);
    value_drop(m, v);
    if (!good) return false;
    value_drop(m, e->cause);
    e->cause = cause;
    e->suppressed = true;
    return true;
}

static void raising(machine *m, const syntax_node *n) {
    if (!n->u.raise.exception) {
        if (absent(m->state->handling)) raise_error(m, "RuntimeError", "No active exception to reraise");
        else raise_value(m, m->state->handling);
        return;
    }
    value v = evaluate_node(m, n->u.raise.exception), e = absent(v) ? v : exception_from(m, v);
    value_drop(m, v);
    if (absent(e)) return;
    if (!n->u.raise.cause || add_cause(m, e, n->u.raise.cause)) raise_value(m, e);
    value_drop(m, e);
}

/* ---- if, while, for ---- */

static run_state run_if(machine *m, const syntax_node *n) {
    int truth = test(m, n->u.branch.test);
    return truth < 0 ? RUN_RAISED : run_block(m, truth ? n->u.branch.then : n->u.branch.otherwise);
}

static run_state run_while(machine *m, const syntax_node *n) {
    for (;;) {
        int truth = machine_step(m) ? test(m, n->u.loop.iterable) : -1;
        if (truth < 0) return RUN_RAISED;
        if (!truth) return run_block(m, n->u.loop.otherwise);
        run_state state = run_block(m, n->u.loop.body);
        scope_boundary();
        if (state == RUN_BREAK) return RUN_NEXT;
        if (state >= RUN_RETURN) return state;
    }
}

/* One turn: RUN_NEXT goes on. */
static run_state turn(machine *m, const syntax_node *n, value item) {
    bool good = !absent(item) && machine_step(m) && assign(m, n->u.loop.target, item);
    value_drop(m, item);
    if (!good) return RUN_RAISED;
    run_state state = run_block(m, n->u.loop.body);
    scope_boundary();
    return state == RUN_CONTINUE ? RUN_NEXT : state;
}

static run_state loop_over(machine *m, const syntax_node *n, value iterable) {
    run_state state = RUN_NEXT;
    if (iterable.kind == VALUE_RANGE) {
        const range_object *r = as_range(iterable);
        for (int64_t i = 0; i < r->n && state == RUN_NEXT; i++) state = turn(m, n, int_value(r->start + i * r->step));
        return state;
    }
    value it = value_iterate(m, iterable);
    if (absent(it)) {
        trace_note(m, n->u.loop.iterable);
        return RUN_RAISED;
    }
    for (bool done = false; state == RUN_NEXT;) {
        value item = value_next(m, it, &done);
        if (done) break;
        state = turn(m, n, item);
    }
    value_drop(m, it);
    return state;
}

static run_state run_for(machine *m, const syntax_node *n) {
    value iterable = evaluate_node(m, n->u.loop.iterable);
    if (absent(iterable)) return RUN_RAISED;
    run_state state = loop_over(m, n, iterable);
    value_drop(m, iterable);
    if (state == RUN_BREAK) return RUN_NEXT;
    return state == RUN_NEXT ? run_block(m, n->u.loop.otherwise) : state;
}

/* ---- try ---- */

static value take_exception(machine *m) {
    value e = m->exception;
    m->exception = NO_VALUE_;
    return e;
}

/* The exception goes on from here; this frame's place is in it already. */
static void give_exception(machine *m, value e) {
    value_drop(m, m->exception);
    m->exception = e;
    m->state->placed = true;
}

static run_state handle(machine *m, const syntax_node *handler, value e) {
    value outer = m->state->handling;
    m->state->handling = e;
    bool good = !handler->u.handler.named || assign_variable(m, &handler->u.handler.variable, e);
    run_state state = good ? run_block(m, handler->u.handler.body) : RUN_RAISED;
    if (handler->u.handler.named) assign_variable(m, &handler->u.handler.variable, NO_VALUE_);
    m->state->handling = outer;
    return state;
}

/* The first handler whose class fits. */
static run_state run_handlers(machine *m, const syntax_list *handlers) {
    value e = take_exception(m);
    for (uint32_t i = 0; i < handlers->n; i++) {
        const syntax_node *type = handlers->at[i]->u.handler.type;
        bool matches = !type;
        if (type) {
            value types = evaluate_node(m, type);
            bool good = !absent(types) && exception_matches(m, e, types, &matches);
            value_drop(m, types);
            if (!good) {
                trace_note(m, type);
                value_drop(m, e);
                return RUN_RAISED;
            }
        }
        if (!matches) continue;
        run_state state = handle(m, handlers->at[i], e);
        value_drop(m, e);
        return state;
    }
    give_exception(m, e);
    return RUN_RAISED;
}

static run_state run_finally(machine *m, const syntax_list *body, run_state state) {
    value e = take_exception(m), outer = m->state->handling, result = m->frame->result;
    m->frame->result = NO_VALUE_;
    if (!absent(e)) m->state->handling = e;
    run_state after = run_block(m, body);
    m->state->handling = outer;
    if (after != RUN_NEXT) {                         /* what was on its way is forgotten */
        value_drop(m, e);
        value_drop(m, result);
        return after;
    }
    if (!absent(e)) give_exception(m, e);
    m->frame->result = result;
    return state;
}

static run_state run_try(machine *m, const syntax_node *n) {
    run_state state = run_block(m, n->u.try.body);
    if (state == RUN_RAISED) state = run_handlers(m, n->u.try.handlers);
    else if (state == RUN_NEXT) state = run_block(m, n->u.try.otherwise);
    return n->u.try.finally->n ? run_finally(m, n->u.try.finally, state) : state;
}

/* ---- with ---- */

static run_state run_with_from(machine *m, const syntax_node *n, uint32_t i) {
    if (i == n->u.with.items->n) return run_block(m, n->u.with.body);
    const syntax_node *item = n->u.with.items->at[i], *target = item->u.with_item.target;
    value context = evaluate_node(m, item->u.with_item.context);
    value inside = absent(context) ? context : context_enter(m, context);
    if (absent(inside)) {
        trace_note(m, item);
        value_drop(m, context);
        return RUN_RAISED;
    }
    run_state state = !target || assign(m, target, inside) ? run_with_from(m, n, i + 1) : RUN_RAISED;
    value_drop(m, inside);
    value e = take_exception(m);
    bool good = context_exit(m, context);
    value_drop(m, context);
    if (good) {
        if (!absent(e)) give_exception(m, e);
        return state;
    }
    value_drop(m, e);
    return RUN_RAISED;
}

/* ---- import ---- */

static bool import(machine *m, const syntax_node *n) {
    for (uint32_t i = 0; i < n->u.items->n; i++) {
        const syntax_node *a = n->u.items->at[i];
        const char *name = name_text(m, a->u.alias.name), *bound = a->u.alias.renamed ? name : name_text(m, a->u.alias.variable.name);
        value all = module_import(m, name), v = absent(all) ? all : module_import(m, bound);
        bool good = !absent(v) && assign_variable(m, &a->u.alias.variable, v);
        value_drop(m, all);
        value_drop(m, v);
        if (!good) return false;
    }
    return true;
}

/* from module import *: whatever the program names, and the module has. */
static bool import_all(machine *m, const char *module) {
    const syntax_tree *t = m->frame->in->tree;
    for (uint32_t i = 0; i < t->nnames; i++) {
        if (t->names[i][0] == '_' || !strcmp(module, "numpy")) continue;       /* numpy's names mean the same without */
        value v = module_name(m, module, t->names[i]);
        bool good = absent(v) ? absent(m->exception) : machine_let(m, t->names[i], v);
        value_drop(m, v);
        if (!good) return false;
    }
    return true;
}

static bool import_from(machine *m, const syntax_node *n) {
    const char *module = name_text(m, n->u.import_from.module);
    if (n->u.import_from.level) return raise_error(m, "ImportError", "attempted relative import with no known parent package"), false;
    value all = module_import(m, module);
    if (absent(all)) return false;
    value_drop(m, all);
    for (uint32_t i = 0; i < n->u.import_from.aliases->n; i++) {
        const syntax_node *a = n->u.import_from.aliases->at[i];
        const char *name = name_text(m, a->u.alias.name);
        if (!strcmp(name, "*")) return import_all(m, module);
        value v = module_name(m, module, name);
        if (absent(v) && absent(m->exception)) raise_error(m, "ImportError", "cannot import name '%s' from '%s'", name, module);
        bool good = !absent(v) && assign_variable(m, &a->u.alias.variable, v);
        value_drop(m, v);
        if (!good) return trace_note(m, a), false;
    }
    return true;
}

/* ---- all kinds ---- */

static run_state run_statement(machine *m, const syntax_node *n) {
    switch ((syntax_kind)n->kind) {
    case SYNTAX_EXPRESSION: return went(expression(m, n));
    case SYNTAX_ASSIGN: return went(assignment(m, n));
    case SYNTAX_ANNOTATED: return went(annotated(m, n));
    case SYNTAX_AUGMENTED: return went(augment(m, n));
    case SYNTAX_IF: return run_if(m, n);
    case SYNTAX_WHILE: return run_while(m, n);
    case SYNTAX_FOR: return run_for(m, n);
    case SYNTAX_DEF: return went(define(m, n));
    case SYNTAX_RETURN: return return_value(m, n);
    case SYNTAX_DELETE: return went(delete(m, n));
    case SYNTAX_ASSERT: return went(assertion(m, n));
    case SYNTAX_RAISE: raising(m, n); return RUN_RAISED;
    case SYNTAX_TRY: return run_try(m, n);
    case SYNTAX_WITH: return run_with_from(m, n, 0);
    case SYNTAX_IMPORT: return went(import(m, n));
    case SYNTAX_IMPORT_FROM: return went(import_from(m, n));
    case SYNTAX_BREAK: return RUN_BREAK;
    case SYNTAX_CONTINUE: return RUN_CONTINUE;
    case SYNTAX_PASS: case SYNTAX_GLOBAL: case SYNTAX_NONLOCAL: return RUN_NEXT;
    default:
        raise_error(m, "SyntaxError", "this is not a statement");
        return RUN_RAISED;
    }
}

/* The last statement's value is the program's. */
bool run_program(machine *m, link *in, value *last) {
    const syntax_function *code = in->tree->module;
    frame here = { 0 };
    if (!frame_enter(m, &here, in, code)) return false;
    const syntax_list *body = code->body;
    run_state state = RUN_NEXT;
    *last = none_value();
    for (uint32_t i = 0; i < body->n && state == RUN_NEXT; i++) {
        const syntax_node *n = body->at[i];
        bool final = i + 1 == body->n && n->kind == SYNTAX_EXPRESSION;
        if (!machine_step(m)) state = RUN_RAISED;
        else if (final) state = went(!absent(*last = evaluate_node(m, n->u.operand)));
        else state = run_statement(m, n);
        if (state == RUN_RAISED) trace_note(m, n);
        if (scope_made() > here.mark) scope_sweep(here.mark);
    }
    frame_leave(m, &here);
    if (state == RUN_RAISED) *last = NO_VALUE_;
    return state != RUN_RAISED;
}
