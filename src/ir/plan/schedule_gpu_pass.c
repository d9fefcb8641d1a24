/* schedule_gpu_pass.c: the elements of O x R that one thread takes in one stage: where they are, how they are loaded, what is
 * computed for each.
 *
 * How it works: a thread takes `steps` vectors at a time. What they need from memory is loaded first, all of it, then they are
 * computed one after the other, so that many bytes are under way. A thread whose vectors are all of its row keeps the values
 * that later stages need in arrays with constant indices, which are registers. */
#include <string.h>
#include "ir/plan/schedule_gpu_rows.h"

/* ---- positions ---- */

/* Opens the atoms of a linear position, the last one varying fastest. With `but_last` that one stays closed; its value is
 * returned. */
static kval open_position(rows *s, const int *atoms, int n, kval position, bool but_last) {
    kval rest = position, last = index_of(s, 0);
    for (int i = n; i-- > 0;) {
        kval index = rest, extent = emitter_extent(&s->e, atoms[i]);
        if (i) {
            kval next = index_op(s, KOP_div, rest, extent);
            index = index_op(s, KOP_sub, rest, index_op(s, KOP_mul, next, extent));
            rest = next;
        }
        if (i == n - 1 && but_last) last = index;
        else emitter_open(&s->e, atoms[i], index);
    }
    return last;
}

static void close_position(rows *s, const int *atoms, int n, bool but_last) {
    for (int i = 0; i < n - but_last; i++) emitter_close(&s->e, atoms[i]);
}

static bool row_vectors(const rows *s) { return s->at.vector > 1 && !s->at.columns; }
static bool column_vectors(const rows *s) { return s->at.vector > 1 && s->at.columns; }
static int vector_atom(const rows *s) { return s->at.columns ? s->outer[s->nouter - 1] : s->inner[s->ninner - 1]; }

void pass_open_results(rows *s, kval position) { s->base = open_position(s, s->outer, s->nouter, position, column_vectors(s)); }
void pass_close_results(rows *s) { close_position(s, s->outer, s->nouter, column_vectors(s)); }

/* ---- what can be a vector ---- */

static bool is_vector_load(const nest *n, const expr *x, int atom, int v) {
    return is_plain_load(x) && is_vector(n, x->operand, &x->at, x->pair, atom, v);
}

bool pass_takes_vectors(const nest *n, int atom, int v) {
    bool any = false;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if (x->kind != EXPR_LOAD || !x->at.stride[atom]) {
            if (x->kind == EXPR_LOAD && (x->nargs || x->index >= 0)) return false;
            continue;
        }
        if (!is_vector_load(n, x, atom, v) || (x->pair && partner(n, i) < 0)) return false;
        any = true;
    }
    return any;
}

static bool is_vector_store(const rows *s, int i) {
    const nest_store *q = &s->n->stores[i];
    int atom = vector_atom(s);
    if (s->at.vector == 1 || !is_plain_store(q) || !is_vector(s->n, q->operand, &q->at, q->pair, atom, s->at.vector)) return false;
    if (!q->pair) return true;
    for (int j = 0; j < s->n->nstores; j++) {
        const nest_store *o = &s->n->stores[j];
        if (o->operand == q->operand && o->pair + q->pair == 3 && o->at.offset - o->pair == q->at.offset - q->pair) return true;
    }
    return false;
}

/* ---- what a stage needs ---- */

/* A value that varies over R and costs more than it does to keep it. */
static bool worth_keeping(const expr *x) {
    if (x->kind == EXPR_CALL) return x->inner && device_functions[x->op].nresults == 1;   /* the others are asked for their results */
    return x->inner && (x->kind == EXPR_LOAD || x->kind == EXPR_OP || x->kind == EXPR_RESULT);
}

static void need_value(rows *s, uint32_t i, int stage) {
    const expr *x = &s->n->exprs[i];
    if (s->needed[i]) return;
    s->needed[i] = true;
    if (s->at.once && s->first[i] && s->first[i] <= stage && worth_keeping(x)) { s->kept[i] = true; return; }
    if (!s->first[i]) s->first[i] = (uint8_t)(stage + 1);
    for (int j = 0; j < x->nargs; j++) need_value(s, x->args[j], stage);
    if (x->kind == EXPR_LOAD && x->index >= 0) need_value(s, (uint32_t)x->index, stage);
}

static bool stored_in(const rows *s, int store, int stage) {
    bool inner = is_inner_store(s->n, store);
    if (s->scan) return inner && stage == 1;
    return inner == (stage >= 0) && (!inner || s->n->exprs[s->n->stores[store].value].stage == stage);
}

static bool fault_in(const rows *s, int i, int stage) {
    const expr *x = &s->n->exprs[i];
    if (s->scan) return x->kind == EXPR_FAULT && x->inner && stage == 1;
    return x->kind == EXPR_FAULT && x->inner == (stage >= 0) && (!x->inner || x->stage == stage);
}

bool pass_need(rows *s, int stage) {
    const nest *n = s->n;
    bool any = false;
    memset(s->needed, 0, (size_t)n->nexprs);
    int number = stage < 0 ? UINT8_MAX - 1 : stage;
    for (int r = 0; r < n->nreductions; r++) {
        if (stage < 0 || !in_stage(s, r, stage)) continue;   /* of a scan in parallel all are in stage 0 */
        any = true;
        for (int c = 0; c < n->reductions[r].nstate; c++) need_value(s, n->reductions[r].lifted[c], number);
    }
    for (int i = 0; i < n->nstores; i++) {
        if (!stored_in(s, i, stage)) continue;
        any = true;
        need_value(s, n->stores[i].value, number);
        if (n->stores[i].index >= 0) need_value(s, (uint32_t)n->stores[i].index, number);
        if (n->stores[i].when) need_value(s, n->stores[i].when - 1, number);
    }
    for (int i = 0; i < n->nexprs; i++) {
        if (!fault_in(s, i, stage)) continue;
        any = true;
        need_value(s, (uint32_t)i, number);
    }
    return any;
}

/* ---- arrays of values ---- */

/* A vector that is used where it is loaded needs no other array. */
static bool stays(const rows *s, int i) { return s->ahead[i] && s->at.steps == 1 && !s->kept[i]; }
static bool is_raw(const rows *s, int i) { return stays(s, i) && s->n->exprs[i].pair; }

/* Where in its array the value of an element is; a vector as loaded has both parts of complex elements. */
static kval slot_in(rows *s, int i, kval slot) {
    if (!is_raw(s, i)) return slot;
    return index_op(s, KOP_add, index_op(s, KOP_mul, slot, index_of(s, 2)), index_of(s, s->n->exprs[i].pair - 1));
}

static bool made_here(const rows *s, int i, int stage) { return s->needed[i] && s->first[i] == stage + 1; }

static void array_name(rows *s, kval v, const char *stem, int number) {
    const char *name = arena_text(s->e.mem, "%s%d", stem, number);
    if (name) kb_name(s->e.k, v, name);
}

static const char *stem_of(const rows *s, int i) {
    const expr *x = &s->n->exprs[i];
    if (x->kind == EXPR_LOAD && s->n->operands[x->operand].name[0]) return s->n->operands[x->operand].name;
    return x->name ? x->name : x->kind == EXPR_CALL ? device_functions[x->op].name : NULL;
}

/* Arrays that live through all stages, and those of loads that are used later; an array of one is a variable. */
static void declare_arrays(rows *s, int stage) {
    int n = s->at.steps * s->at.vector;
    for (int i = 0; i < s->n->nexprs; i++) {
        ktype t = ktype_value(s->n->exprs[i].type);
        if (!made_here(s, i, stage) || !(s->kept[i] || (s->ahead[i] && s->at.steps > 1))) continue;
        if (n > 1) s->array[i] = kb_inst(s->e.k, K_LOCAL, t, 0, (uint32_t)n, 0, 0);
        else s->array[i] = kb_inst(s->e.k, K_VAR, t, 0, kb_const_int(s->e.k, t, 0), 0, 0);
        const char *stem = stem_of(s, i), *name = arena_text(s->e.mem, "%s%s%s", s->kept[i] ? "kept" : "loaded", stem ? "_" : "", stem ? stem : "");
        if (name) kb_name(s->e.k, s->array[i], name);
    }
}

static void keep_value(rows *s, int i, kval slot, kval v) {
    if (s->at.steps * s->at.vector > 1) kb_inst(s->e.k, K_STORE, T_VOID, 0, s->array[i], slot, v);
    else kb_inst(s->e.k, K_SET, T_VOID, 0, s->array[i], v, 0);
}

static kval kept_value(rows *s, int i, kval slot) {
    ktype t = ktype_value(s->n->exprs[i].type);
    if (s->at.steps * s->at.vector > 1) return kb_inst(s->e.k, K_LOAD, t, 0, s->array[i], slot_in(s, i, slot), 0);
    return kb_inst(s->e.k, K_GET, t, 0, s->array[i], 0, 0);
}

static bool waits(const rows *s, int i, int stage) { return s->ahead[i] && made_here(s, i, stage) && (s->at.vector > 1 || s->at.steps > 1); }

/* The vectors at the open position, each into an array of its own. */
static void load_vectors(rows *s, int stage, kval j) {
    kernel *k = s->e.k;
    int v = s->at.vector;
    emitter_open(&s->e, vector_atom(s), s->base);
    for (int i = 0; i < s->n->nexprs; i++) {
        const expr *x = &s->n->exprs[i];
        int other = x->pair ? partner(s->n, i) : -1, unit = x->pair ? 2 : 1;
        if (!waits(s, i, stage)) continue;
        if (x->pair == 2 && waits(s, other, stage)) continue;
        int low = x->pair == 2 ? other : i;
        ktype storage = s->n->operands[x->operand].type;
        kval vector = local_array(s, storage, v * unit, "");
        array_name(s, vector, stem_of(s, i), v * unit);
        kval at = emitter_load_index(&s->e, (uint32_t)low);
        kb_inst(k, K_VLOAD, T_VOID, (uint8_t)(v * unit | (s->at.stream ? LOAD_STREAM : 0)), (kval)s->e.groups[s->e.load_use[low].group].pointer, at, vector);
        const int parts[2] = { low, other };
        bool copies = false;
        for (int part = 0; part < unit; part++) {
            if (stays(s, parts[part])) s->array[parts[part]] = vector;
            else copies |= waits(s, parts[part], stage);
        }
        if (!copies) continue;
        kval l = unroll(s, v), slot = index_op(s, KOP_add, index_op(s, KOP_mul, j, index_of(s, v)), l);
        for (int part = 0; part < unit; part++) {
            int to = parts[part];
            kval from = index_op(s, KOP_add, index_op(s, KOP_mul, l, index_of(s, unit)), index_of(s, part));
            if (waits(s, to, stage) && !stays(s, to)) kb_inst(k, K_STORE, T_VOID, 0, s->array[to], slot, kb_inst(k, K_LOAD, ktype_value(storage), 0, vector, from, 0));
        }
        kb_end(k, l);
    }
    emitter_close(&s->e, vector_atom(s));
}

static bool any_waits(const rows *s, int stage) {
    for (int i = 0; i < s->n->nexprs; i++) if (waits(s, i, stage)) return true;
    return false;
}

/* ---- a vector's place ---- */

typedef struct place_in_row { kval j, opened, base; } place_in_row;

static bool is_bounded(const rows *s) { return !s->at.whole && (s->at.once || s->at.steps > 1); }

/* Opens the atoms of R for vector j of those from `first` on. */
static place_in_row open_vector(rows *s, kval first) {
    place_in_row p = { index_of(s, 0), NO_VALUE, s->base };
    kval at = first;
    if (s->at.steps > 1) {
        p.j = unroll(s, s->at.steps);
        emitter_push(&s->e);
        at = index_op(s, KOP_add, first, index_op(s, KOP_mul, p.j, index_of(s, s->apart)));
    }
    if (s->at.steps > 1 || s->at.once || !s->at.columns) at = named_value(s, at, s->nouter && !s->at.columns ? "column" : "at");
    if (is_bounded(s)) p.opened = begin_if(s, compare(s, KOP_lt, at, s->end));
    emitter_push(&s->e);
    kval base = open_position(s, s->inner, s->ninner, at, row_vectors(s));
    if (row_vectors(s)) s->base = base;
    return p;
}

static void close_vector(rows *s, const place_in_row *p) {
    close_position(s, s->inner, s->ninner, row_vectors(s));
    emitter_pop(&s->e);
    if (p->opened != NO_VALUE) kb_end(s->e.k, p->opened);
    if (s->at.steps > 1) {
        emitter_pop(&s->e);
        kb_end(s->e.k, p->j);
    }
    s->base = p->base;
}

/* All loads of the vectors from `first` on, before the first is used. */
static void load_ahead(rows *s, int stage, kval first) {
    place_in_row p = open_vector(s, first);
    if (s->at.vector > 1) {
        load_vectors(s, stage, p.j);
    } else {
        for (int i = 0; i < s->n->nexprs; i++)
            if (waits(s, i, stage)) kb_inst(s->e.k, K_STORE, T_VOID, 0, s->array[i], p.j, emitter_value(&s->e, (uint32_t)i));
    }
    close_vector(s, &p);
}

/* ---- an element ---- */

static void give_values(rows *s, int stage, kval slot) {
    for (int i = 0; i < s->n->nexprs; i++) {
        bool earlier = s->needed[i] && s->kept[i] && s->first[i] <= stage;
        if (!earlier && !waits(s, i, stage)) continue;
        emitter_give(&s->e, (uint32_t)i, kept_value(s, i, slot));
    }
}

static void keep_values(rows *s, int stage, kval slot) {
    for (int i = 0; i < s->n->nexprs; i++)
        if (s->kept[i] && made_here(s, i, stage) && !waits(s, i, stage))
            keep_value(s, i, slot, emitter_value(&s->e, (uint32_t)i));
}

/* A running state as the values of the present element. */
static void show_state(rows *s, int r, kval slot) {
    kval state[5];
    states_get(s, r, slot, state);
    for (int c = 0; c < s->n->reductions[r].nstate; c++) s->e.reduced[c][r] = state[c];
}

static void reduce_element(rows *s, int stage, kval slot) {
    for (int r = 0; r < s->n->nreductions; r++) {
        const nest_reduction *q = &s->n->reductions[r];
        kval lifted[4];
        if (stage < 0 || !in_stage(s, r, stage)) continue;
        for (int c = 0; c < q->nstate; c++) lifted[c] = emitter_value(&s->e, q->lifted[c]);
        if (s->scan) states_set(s, r, slot, lifted);
        else states_step(s, r, slot, lifted);
        if (q->scan && !s->scan) show_state(s, r, slot);
    }
}

/* Scans in parallel: the states of elements are known. */
static void show_states(rows *s, kval slot) {
    for (int r = 0; r < s->n->nreductions; r++) {
        kval before[5], mine[5], both[5];
        if (!s->prefix[0]) { show_state(s, r, slot); continue; }
        states_get(s, r, slot, mine);
        for (int c = 0; c < states_width(s, r); c++) before[c] = s->prefix[c][r];
        states_combine(s, r, before, mine, both);
        for (int c = 0; c < s->n->reductions[r].nstate; c++) s->e.reduced[c][r] = both[c];
    }
}

/* Stores of one element; those that are vectors go into arrays first. */
static void store_element(rows *s, int stage, kval l) {
    kval inside = NO_VALUE;
    for (int i = 0; i < s->n->nstores; i++) {
        const nest_store *q = &s->n->stores[i];
        if (!stored_in(s, i, stage)) continue;
        if (s->stored[i] != NO_VALUE) {
            kval at = q->pair ? index_op(s, KOP_add, index_op(s, KOP_mul, l, index_of(s, 2)), index_of(s, q->pair - 1)) : l;
            kb_inst(s->e.k, K_STORE, T_VOID, 0, s->stored[i], at, emitter_value(&s->e, q->value));
            continue;
        }
        if (s->inside != NO_VALUE && inside == NO_VALUE) {
            inside = begin_if(s, s->inside);
            emitter_push(&s->e);
        }
        emitter_store(&s->e, i, 0);
    }
    if (inside == NO_VALUE) return;
    emitter_pop(&s->e);
    kb_end(s->e.k, inside);
}

static void forget_running(rows *s) {
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < 4 && s->n->reductions[r].scan; c++) s->e.reduced[c][r] = NO_VALUE;
}

static void element(rows *s, int stage, kval slot, kval l) {
    if (s->at.columns) for (int before = 0; before < (stage < 0 ? s->n->nstages + 1 : stage); before++) states_publish(s, before, l);
    if (stage >= 0) give_values(s, stage, slot);
    if (s->scan && stage == 1) show_states(s, s->waiting == NO_VALUE ? slot : l);
    emitter_ready(&s->e, s->needed);
    reduce_element(s, stage, s->at.columns ? l : slot);
    for (int i = 0; i < s->n->nexprs; i++) if (fault_in(s, i, stage)) emitter_fault(&s->e, (uint32_t)i);   /* of what a scan has reached, too */
    if (stage >= 0) keep_values(s, stage, slot);
    store_element(s, stage, l);
    if (s->at.columns || s->scan) states_forget(s);
    else forget_running(s);
}

/* ---- vectors that are stored ---- */

static void declare_stored(rows *s, int stage) {
    for (int i = 0; i < s->n->nstores; i++) {
        const nest_store *q = &s->n->stores[i];
        s->stored[i] = NO_VALUE;
        if (!stored_in(s, i, stage) || s->at.vector == 1 || !is_vector_store(s, i)) continue;
        int unit = q->pair ? 2 : 1;
        for (int j = 0; j < i && q->pair; j++) {
            const nest_store *o = &s->n->stores[j];
            if (s->stored[j] != NO_VALUE && o->operand == q->operand && o->at.offset - o->pair == q->at.offset - q->pair) s->stored[i] = s->stored[j];
        }
        if (s->stored[i] != NO_VALUE) continue;
        s->stored[i] = local_array(s, s->n->operands[q->operand].type, s->at.vector * unit, "");
        array_name(s, s->stored[i], s->n->operands[q->operand].name, s->at.vector * unit);
    }
}

static void store_vectors(rows *s) {
    kval inside = NO_VALUE;
    for (int i = 0; i < s->n->nstores; i++) {
        const nest_store *q = &s->n->stores[i];
        if (s->stored[i] == NO_VALUE || q->pair == 2) continue;
        if (s->inside != NO_VALUE && inside == NO_VALUE) inside = begin_if(s, s->inside);
        emitter_open(&s->e, vector_atom(s), s->base);
        kval at = emitter_store_index(&s->e, i);
        emitter_close(&s->e, vector_atom(s));
        kb_inst(s->e.k, K_VSTORE, T_VOID, (uint8_t)(s->at.vector * (q->pair ? 2 : 1) | (s->at.stream ? STORE_STREAM : 0)), (kval)s->e.groups[s->e.store_use[i].group].pointer, at, s->stored[i]);
    }
    if (inside != NO_VALUE) kb_end(s->e.k, inside);
}

/* ---- passes ---- */

/* Scans of tiles: the states of vector j come from shared memory, where number j of a thread stands at j*threads + thread. */
kval pass_waiting_at(rows *s, kval j) {
    kval number = index_op(s, KOP_add, index_op(s, KOP_mul, j, index_of(s, s->at.threads)), s->thread);
    return index_op(s, KOP_mul, number, index_of(s, s->at.vector));
}

static void take_waiting(rows *s, kval j) {
    ktype t = s->n->reductions[0].state_types[0];
    s->state[0][0] = local_array(s, t, s->at.vector, "state");
    kb_inst(s->e.k, K_VLOAD, T_VOID, (uint8_t)s->at.vector, s->waiting, pass_waiting_at(s, j), s->state[0][0]);
}

/* The elements of one vector, whose atoms apart from the vector's own are open. */
static void vector_elements(rows *s, int stage, kval j) {
    int v = s->at.vector;
    declare_stored(s, stage);
    if (v == 1) {
        element(s, stage, j, index_of(s, 0));
        return;
    }
    emitter_ready(&s->e, s->needed);
    kval states = s->state[0][0];
    if (s->waiting != NO_VALUE && stage == 1) take_waiting(s, j);
    kval l = unroll(s, v);
    emitter_open(&s->e, vector_atom(s), index_op(s, KOP_add, s->base, l));
    element(s, stage, index_op(s, KOP_add, index_op(s, KOP_mul, j, index_of(s, v)), l), l);
    emitter_close(&s->e, vector_atom(s));
    kb_end(s->e.k, l);
    s->state[0][0] = states;
    store_vectors(s);
}

void pass_vectors(rows *s, int stage, kval first) {
    declare_arrays(s, stage);
    if (s->at.steps > 1 && any_waits(s, stage)) load_ahead(s, stage, first);
    place_in_row p = open_vector(s, first);
    if (s->at.steps == 1 && any_waits(s, stage)) load_vectors(s, stage, p.j);
    vector_elements(s, stage, p.j);
    close_vector(s, &p);
}

static void loop_from(rows *s, int stage, kval first, kval end, int64_t apart) {
    kval i = kb_for(s->e.k, LOOP_SERIAL, s->e.index, first, end, index_of(s, apart));
    emitter_push(&s->e);
    pass_vectors(s, stage, i);
    emitter_pop(&s->e);
    kb_end(s->e.k, i);
}

static kval plus_base(rows *s, kval v) { return s->first_element == NO_VALUE ? v : index_op(s, KOP_add, s->first_element, v); }

/* The elements after the last full steps, one by one. */
static void rest_from(rows *s, int stage, kval from) {
    rows_shape shape = s->at;
    s->at.vector = s->at.steps = 1;
    loop_from(s, stage, index_op(s, KOP_add, from, s->worker), s->end, s->at.crew);
    s->at = shape;
}

void pass_run(rows *s, int stage) {
    int64_t each = s->at.columns ? 1 : s->at.vector, apart = s->at.crew * each * s->at.steps;
    emitter_ready(&s->e, s->needed);
    kval first = plus_base(s, index_op(s, KOP_mul, s->worker, index_of(s, each))), end = s->end;
    if (s->at.once) {
        if (each > 1) named_value(s, first, "first");
        pass_vectors(s, stage, first);
        return;
    }
    if (s->at.rest) {
        kval size = s->first_element == NO_VALUE ? s->end : index_op(s, KOP_sub, s->end, s->first_element);
        kval steps = index_op(s, KOP_mul, index_op(s, KOP_div, size, index_of(s, apart)), index_of(s, apart));
        end = named_value(s, plus_base(s, steps), "full");
    }
    loop_from(s, stage, first, end, apart);
    if (s->at.rest) rest_from(s, stage, end);
}

void pass_results(rows *s) {
    if (!pass_need(s, -1)) return;
    kval before = s->inside, leads = NO_VALUE;
    if (s->at.crew > 1) {
        kval first = compare(s, KOP_eq, s->worker, index_of(s, 0));
        leads = begin_if(s, s->inside == NO_VALUE ? first : kb_op(s->e.k, KOP_and, T_BOOL, first, s->inside, 0));
    } else if (s->inside != NO_VALUE) {
        leads = begin_if(s, s->inside);
    }
    s->inside = NO_VALUE;
    emitter_push(&s->e);
    if (column_vectors(s)) {
        vector_elements(s, -1, index_of(s, 0));
    } else {
        declare_stored(s, -1);
        for (int i = 0; i < s->n->nstores; i++) s->stored[i] = NO_VALUE;
        element(s, -1, index_of(s, 0), index_of(s, 0));
    }
    if (s->counter != NO_VALUE) kb_inst(s->e.k, K_STORE, T_VOID, 0, (kval)s->count_param, s->counter, kb_const_int(s->e.k, T_U32, 0));
    emitter_pop(&s->e);
    if (leads != NO_VALUE) kb_end(s->e.k, leads);
    s->inside = before;
}
