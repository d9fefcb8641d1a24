/* comprehensions.c: comprehensions and generator expressions.
 *
 * How it works: the clauses' iterators are a stack. `advance` goes on from where the last element was found, so that a
 * generator is the same thing as a list comprehension that is asked for one element at a time. */
#include <string.h>
#include "frontend/language/machine.h"

typedef struct walk {
    machine *m;
    link *in;
    const syntax_function *code;
    value *slot;                         /* nlocals + nfree */
    value *iterator;                     /* one a clause */
    uint32_t level;                      /* the clause that goes on */
    bool finished;
    value memory[];                      /* of both */
} walk;

static void walk_free(walk *w) {
    if (!w) return;
    uint32_t n = w->code->nlocals + w->code->nfree + w->code->clauses->n;
    for (uint32_t i = 0; i < n; i++) value_drop(w->m, w->memory[i]);
    mem_free(w);
}

/* Evaluates the outermost iterable, which belongs to the scope around. */
static walk *walk_new(machine *m, const syntax_function *code) {
    uint32_t nslots = code->nlocals + code->nfree;
    walk *w = mem_zero(1, sizeof *w + (nslots + code->clauses->n) * sizeof(value));
    if (!w) return raise_memory(m), NULL;
    w->m = m;
    w->in = m->frame->in;
    w->code = code;
    w->slot = w->memory;
    w->iterator = w->memory + nslots;
    value free_few[16], *free = code->nfree <= 16 ? free_few : mem_array(code->nfree, sizeof *free);
    bool good = free || !absent(raise_memory(m));
    for (uint32_t i = 0; good && i < code->nfree; i++) free[i] = m->frame->slot[code->captures[i]];
    good = good && frame_slots(m, code, w->slot, free);
    if (free != free_few) mem_free(free);
    value iterable = good ? evaluate_node(m, code->clauses->at[0]->u.clause.iterable) : NO_VALUE_;
    w->iterator[0] = absent(iterable) ? iterable : value_iterate(m, iterable);
    if (!absent(iterable) && absent(w->iterator[0])) trace_note(m, code->clauses->at[0]->u.clause.iterable);
    value_drop(m, iterable);
    if (!absent(w->iterator[0])) return w;
    walk_free(w);
    return NULL;
}

/* 1: all conditions hold, 0: not, -1: raised. */
static int conditions_hold(machine *m, const syntax_node *clause) {
    const syntax_list *conditions = clause->u.clause.conditions;
    int truth = 1;
    for (uint32_t i = 0; i < conditions->n && truth == 1; i++) {
        value v = evaluate_node(m, conditions->at[i]);
        truth = value_truth(m, v);
        value_drop(m, v);
    }
    return truth;
}

/* Binds the next combination of targets: 1, 0: no more, -1: raised. In the walk's frame. */
static int advance(machine *m, walk *w) {
    const syntax_list *clauses = w->code->clauses;
    for (;;) {
        const syntax_node *clause = clauses->at[w->level];
        bool done = false;
        value item = machine_step(m) ? value_next(m, w->iterator[w->level], &done) : NO_VALUE_;
        if (done) {
            if (!w->level) return 0;
            value_drop(m, w->iterator[w->level]);
            w->iterator[w->level--] = NO_VALUE_;
            continue;
        }
        bool good = !absent(item) && assign(m, clause->u.clause.target, item);
        value_drop(m, item);
        int truth = good ? conditions_hold(m, clause) : -1;
        if (truth < 0) return -1;
        if (!truth) continue;
        if (w->level + 1 == clauses->n) return 1;
        value iterable = evaluate_node(m, clauses->at[w->level + 1]->u.clause.iterable);
        value it = absent(iterable) ? iterable : value_iterate(m, iterable);
        value_drop(m, iterable);
        if (absent(it)) return -1;
        w->iterator[++w->level] = it;
    }
}

static bool add_element(machine *m, const syntax_function *code, value to) {
    value key = code->key ? evaluate_node(m, code->key) : none_value();
    value v = absent(key) ? key : evaluate_node(m, code->value);
    bool good = !absent(v);
    if (good && to.kind == VALUE_LIST) good = list_append(m, to, v);
    else if (good) good = to.kind == VALUE_SET ? dict_set(m, to, v, none_value()) : dict_set(m, to, key, v);
    value_drop(m, key);
    value_drop(m, v);
    return good;
}

value comprehension(machine *m, const syntax_node *n) {
    walk *w = walk_new(m, n->u.function);
    if (!w) return NO_VALUE_;
    value to = n->kind == SYNTAX_LIST_COMPREHENSION ? list_value(m, 0, NULL) : n->kind == SYNTAX_SET_COMPREHENSION ? set_value(m) : dict_value(m);
    frame here = { .slot = w->slot };
    int more = -1;
    if (!absent(to) && frame_enter(m, &here, w->in, w->code)) {
        while ((more = advance(m, w)) == 1)
            if (!add_element(m, w->code, to)) {
                more = -1;
                break;
            }
        frame_leave(m, &here);
    }
    walk_free(w);
    if (!more) return to;
    value_drop(m, to);
    return NO_VALUE_;
}

/* ---- generators ---- */

static void generator_drop(void *state) { walk_free(state); }

static value generator_next(machine *m, iterator_object *it, bool *done) {
    walk *w = it->state;
    frame here = { .slot = w ? w->slot : NULL };
    if (!w || w->finished) {
        *done = true;
        return NO_VALUE_;
    }
    if (it->at) return raise_error(m, "ValueError", "generator already executing");
    if (!frame_enter(m, &here, w->in, w->code)) return NO_VALUE_;
    it->at = 1;
    int more = advance(m, w);
    value v = more == 1 ? evaluate_node(m, w->code->value) : NO_VALUE_;
    it->at = 0;
    frame_leave(m, &here);
    if (!absent(v)) return v;
    w->finished = true;
    *done = !more;
    return NO_VALUE_;
}

value generator_make(machine *m, const syntax_function *code) {
    walk *w = walk_new(m, code);
    value v = w ? iterator_value(m, "generator", generator_next, 0, NULL) : NO_VALUE_;
    if (absent(v)) {
        walk_free(w);
        return v;
    }
    iterator_object *it = (iterator_object *)v.u.o;
    it->state = w;
    it->drop = generator_drop;
    return v;
}

void iterator_forget(iterator_object *it) {
    if (it->drop != generator_drop) return;
    mem_free(it->state);
    it->state = NULL;
    it->drop = NULL;
}
