/* schedule_gpu_tile.c: element-wise kernels that read or write an operand along another atom than the others: transposes.
 *
 * How it works: a block takes a square tile of the two atoms. What is turned goes through shared memory, whose rows are one
 * element longer than the tile, so that neither direction has all threads at one bank: it is accessed in memory along its own
 * atom and in the tile along the other. What is not turned is loaded before the barrier, so that all of it is under way at
 * once. Everything else is as in schedule_gpu_map.c. */
#include "ir/plan/schedule_gpu.h"

#define LARGE_TILE 64
#define SMALL_TILE 32
#define LARGE_THREADS 512
#define SMALL_THREADS 256
#define LEAST_EXTENT 16          /* along both atoms; less is not worth a tile */
#define WORDS_AHEAD 16           /* registers of a thread for what is loaded before the barrier */

typedef struct tile {
    const nest *n;
    emitter e;
    gpu_grid g;
    int x, y;                    /* atoms: of the results, of what is turned */
    int size, threads;
    gpu_vectors along, across;   /* vectors along x and y */
    bool *needed;
    bool *turned, *turned_store; /* per expression and store: goes through the tile */
    bool *ahead;                 /* per expression: is loaded before the barrier */
    kval *shared, *shared_store; /* per expression and store: SHARED array */
    kval *array;                 /* per expression: LOCAL array of what was loaded ahead */
    kval left, top, thread;
} tile;

/* ---- choosing ---- */

static int64_t unit_of(uint8_t pair) { return pair ? 2 : 1; }

static bool runs_along(const form *f, uint8_t pair, int atom) { return f->stride[atom] == unit_of(pair) || f->stride[atom] == -unit_of(pair); }

static bool is_turned(const form *f, uint8_t pair, int x, int y) { return f->stride[x] && !runs_along(f, pair, x) && runs_along(f, pair, y); }

/* Bytes of an element that are turned if y is the tile's other atom. */
static int bytes_turned(const nest *n, int x, int y) {
    int bytes = 0;
    for (int i = 0; i < n->nexprs; i++)
        if (is_plain_load(&n->exprs[i]) && is_turned(&n->exprs[i].at, n->exprs[i].pair, x, y)) bytes += ktype_table[n->operands[n->exprs[i].operand].type].size;
    for (int i = 0; i < n->nstores; i++)
        if (is_plain_store(&n->stores[i]) && is_turned(&n->stores[i].at, n->stores[i].pair, x, y)) bytes += ktype_table[n->operands[n->stores[i].operand].type].size;
    return bytes;
}

static int choose_other(const nest *n, int x) {
    int best = -1;
    for (int y = 0; y < n->natoms; y++)
        if (y != x && n->atoms[y].extent >= LEAST_EXTENT && bytes_turned(n, x, y) > (best < 0 ? 0 : bytes_turned(n, x, best))) best = y;
    return best;
}

/* The two atoms of a tile, such that less is turned; false: nothing would be. */
static bool choose_atoms(tile *t) {
    t->x = t->n->natoms - 1;
    if (t->n->natoms < 2 || t->n->atoms[t->x].extent < LEAST_EXTENT || (t->y = choose_other(t->n, t->x)) < 0) return false;
    int turned = bytes_turned(t->n, t->y, t->x);
    if (!turned || turned >= bytes_turned(t->n, t->x, t->y)) return true;
    int x = t->x;
    t->x = t->y;
    t->y = x;
    return true;
}

/* In the tile, half floats are floats. */
static ktype shared_type(const tile *t, int operand) { return ktype_value(t->n->operands[operand].type); }

static int tiles_bytes(const tile *t) {
    int bytes = 0;
    for (int i = 0; i < t->n->nexprs; i++) if (t->turned[i]) bytes += ktype_table[shared_type(t, t->n->exprs[i].operand)].size;
    for (int i = 0; i < t->n->nstores; i++) if (t->turned_store[i]) bytes += ktype_table[shared_type(t, t->n->stores[i].operand)].size;
    return bytes;
}

static bool choose_size(tile *t, const device_profile *p) {
    const atom *a = t->n->atoms;
    bool small = a[t->x].extent <= SMALL_TILE || a[t->y].extent <= SMALL_TILE;
    for (t->size = small ? SMALL_TILE : LARGE_TILE; t->size >= SMALL_TILE; t->size /= 2)
        if (tiles_bytes(t) * t->size * (t->size + 1) <= p->shared_bytes) break;
    t->threads = t->size == LARGE_TILE ? LARGE_THREADS : SMALL_THREADS;
    return t->size >= SMALL_TILE;
}

/* Does the access run along the atom in the pass that handles it? Others of that pass do not hinder its vectors. */
static bool in_pass(const form *f, uint8_t pair, bool turned, bool across, int atom) { return turned == across && runs_along(f, pair, atom); }

static int choose_vector(const tile *t, int atom, bool across) {
    const nest *n = t->n;
    for (int v = t->size * t->size / t->threads < 16 ? t->size * t->size / t->threads : 16; v > 1; v /= 2) {
        bool all = n->atoms[atom].extent % v == 0;
        for (int i = 0; i < n->nexprs && all; i++)
            if (is_plain_load(&n->exprs[i]) && in_pass(&n->exprs[i].at, n->exprs[i].pair, t->turned[i], across, atom)) all = vectors_fit_load(n, i, atom, v);
        for (int i = 0; i < n->nstores && all; i++)
            if (in_pass(&n->stores[i].at, n->stores[i].pair, t->turned_store[i], across, atom)) all = vectors_fit_store(n, i, atom, v);
        if (all) return v;
    }
    return 1;
}

static bool make_vectors(tile *t, gpu_vectors *w, int atom, bool across) {
    const nest *n = t->n;
    int v = choose_vector(t, atom, across);
    if (!vectors_init(w, &t->e, atom, v)) return false;
    for (int i = 0; i < n->nexprs; i++) w->loads[i] = t->turned[i] == across && vectors_fit_load(n, i, atom, v);
    for (int i = 0; i < n->nstores; i++) w->stores[i] = t->turned_store[i] == across && vectors_fit_store(n, i, atom, v);
    return true;
}

static int passes(const tile *t, const gpu_vectors *w) { return t->size * t->size / (t->threads * w->v); }

static bool any_of(const bool *which, int n) {
    for (int i = 0; i < n; i++) if (which[i]) return true;
    return false;
}

/* Loads that are not turned, as long as there are registers; loads of the same vector come together. */
static void choose_ahead(tile *t) {
    if (!any_of(t->turned, t->n->nexprs)) return;
    int words = 0, each = passes(t, &t->along) * t->along.v;
    for (int i = 0; i < t->n->nexprs; i++) {
        const expr *x = &t->n->exprs[i];
        if (t->turned[i] || !is_plain_load(x) || !(x->at.stride[t->x] || x->at.stride[t->y])) continue;
        words += each * (ktype_table[x->type].size > 4 ? 2 : 1);
        t->ahead[i] = words <= WORDS_AHEAD;
    }
}

/* ---- the elements of a pass ---- */

/* Along: vectors along x, from line to line of y; across: the other way. */
typedef struct pass {
    gpu_vectors *w;
    int lines;                   /* atom */
    kval p, guard;               /* number of the pass, or NO_VALUE: there is but one */
    kval within, line, first;    /* of the vector within the tile, the line within the tile, of the vector along its atom */
} pass;

static pass open_pass(tile *t, gpu_vectors *w) {
    emitter *e = &t->e;
    bool across = w == &t->across;
    int groups = t->size / w->v, n = passes(t, w);
    pass a = { .w = w, .lines = across ? t->x : t->y, .p = NO_VALUE, .guard = NO_VALUE };
    a.within = map_name(e, map_op(e, KOP_mul, map_op(e, KOP_rem, t->thread, emitter_integer(e, groups)), emitter_integer(e, w->v)), "place");
    a.line = map_name(e, map_op(e, KOP_div, t->thread, emitter_integer(e, groups)), "line");
    if (n > 1) {
        a.p = map_unroll(e, n);
        emitter_push(e);
        a.line = map_name(e, map_op(e, KOP_add, a.line, map_op(e, KOP_mul, a.p, emitter_integer(e, t->size / n))), across ? "from" : "to");
    }
    emitter_push(e);
    a.first = map_name(e, map_op(e, KOP_add, across ? t->top : t->left, a.within), across ? "row" : "column");
    kval at = map_name(e, map_op(e, KOP_add, across ? t->left : t->top, a.line), across ? "column" : "row");
    if (t->n->atoms[w->atom].extent % t->size) a.guard = map_less(e, a.first, emitter_extent(e, w->atom));
    if (t->n->atoms[a.lines].extent % t->size) a.guard = map_and(e, a.guard, map_less(e, at, emitter_extent(e, a.lines)));
    a.guard = map_if(e, a.guard);
    emitter_open(e, a.lines, at);
    return a;
}

static void close_pass(tile *t, const pass *a) {
    emitter_close(&t->e, a->lines);
    map_end(&t->e, a->guard);
    emitter_pop(&t->e);
    if (a->p == NO_VALUE) return;
    emitter_pop(&t->e);
    kb_end(t->e.k, a->p);
}

static kval open_element(tile *t, const pass *a) {
    kval l = a->w->v > 1 ? map_unroll(&t->e, a->w->v) : emitter_integer(&t->e, 0);
    emitter_open(&t->e, a->w->atom, map_op(&t->e, KOP_add, a->first, l));
    return l;
}

static void close_element(tile *t, const pass *a, kval l) {
    emitter_close(&t->e, a->w->atom);
    if (a->w->v > 1) kb_end(t->e.k, l);
}

/* Where element l is in the tile: rows along x. */
static kval tile_index(tile *t, const pass *a, kval l) {
    emitter *e = &t->e;
    kval pitch = emitter_integer(e, t->size + 1);
    if (a->w == &t->across) return map_op(e, KOP_add, map_op(e, KOP_mul, map_op(e, KOP_add, a->within, l), pitch), a->line);
    return map_op(e, KOP_add, map_op(e, KOP_add, map_op(e, KOP_mul, a->line, pitch), a->within), l);
}

/* Its place in an array of all elements of the thread. */
static kval slot(tile *t, const pass *a, kval l) {
    emitter *e = &t->e;
    return a->p == NO_VALUE ? l : map_op(e, KOP_add, map_op(e, KOP_mul, a->p, emitter_integer(e, a->w->v)), l);
}

/* ---- passes ---- */

static void load_value(tile *t, gpu_vectors *w, int i, kval l, kval to, kval at) {
    kval v = w->loads[i] ? vectors_element(w, i, l) : emitter_value(&t->e, (uint32_t)i);
    kb_inst(t->e.k, K_STORE, T_VOID, 0, to, at, v);
}

static void load_ahead(tile *t) {
    const nest *n = t->n;
    gpu_vectors w = t->along;
    w.loads = arena_zero(t->e.mem, (size_t)n->nexprs + 1, 1);
    if (!w.loads) { t->e.failed = true; return; }
    for (int i = 0; i < n->nexprs; i++) {
        if (!t->ahead[i]) continue;
        w.loads[i] = t->along.loads[i];
        t->array[i] = vectors_array(&t->e, n->exprs[i].type, passes(t, &t->along) * t->along.v, n->exprs[i].operand, "_ahead");
    }
    if (!any_of(t->ahead, n->nexprs)) return;
    pass a = open_pass(t, &t->along);
    vectors_load(&w, a.first);
    kval l = open_element(t, &a);
    for (int i = 0; i < n->nexprs; i++) if (t->ahead[i]) load_value(t, &w, i, l, t->array[i], slot(t, &a, l));
    close_element(t, &a, l);
    close_pass(t, &a);
}

static void load_turned(tile *t) {
    const nest *n = t->n;
    pass a = open_pass(t, &t->across);
    vectors_load(&t->across, a.first);
    kval l = open_element(t, &a);
    for (int i = 0; i < n->nexprs; i++) if (t->turned[i]) load_value(t, &t->across, i, l, t->shared[i], tile_index(t, &a, l));
    close_element(t, &a, l);
    close_pass(t, &a);
    kb_inst(t->e.k, K_BARRIER, T_VOID, 0, 0, 0, 0);
}

static void element(tile *t, const pass *a, kval l) {
    const nest *n = t->n;
    emitter *e = &t->e;
    for (int i = 0; i < n->nexprs; i++) {
        if (t->turned[i]) emitter_give(e, (uint32_t)i, kb_inst(e->k, K_LOAD, n->exprs[i].type, 0, t->shared[i], tile_index(t, a, l), 0));
        else if (t->ahead[i]) emitter_give(e, (uint32_t)i, kb_inst(e->k, K_LOAD, n->exprs[i].type, 0, t->array[i], slot(t, a, l), 0));
        else if (a->w->loads[i]) emitter_give(e, (uint32_t)i, vectors_element(a->w, i, l));
    }
    emitter_ready(e, t->needed);
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_FAULT) emitter_fault(e, (uint32_t)i);
    for (int i = 0; i < n->nstores; i++) {
        const nest_store *q = &n->stores[i];
        if (t->turned_store[i]) kb_inst(e->k, K_STORE, T_VOID, 0, t->shared_store[i], tile_index(t, a, l), emitter_value(e, q->value));
        else if (a->w->stores[i]) vectors_put(a->w, i, l, emitter_value(e, q->value));
        else emitter_store(e, i, 0);
    }
}

static void compute(tile *t) {
    gpu_vectors *w = &t->along;
    pass a = open_pass(t, w);
    for (int i = 0; i < t->n->nexprs; i++) w->loads[i] &= !t->ahead[i];
    vectors_load(w, a.first);
    vectors_declare(w);
    kval l = open_element(t, &a);
    element(t, &a, l);
    close_element(t, &a, l);
    vectors_store(w, a.first);
    close_pass(t, &a);
}

static void store_turned(tile *t) {
    const nest *n = t->n;
    emitter *e = &t->e;
    kb_inst(e->k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    pass a = open_pass(t, &t->across);
    vectors_declare(&t->across);
    kval l = open_element(t, &a);
    for (int i = 0; i < n->nstores; i++) {
        if (!t->turned_store[i]) continue;
        kval v = kb_inst(e->k, K_LOAD, n->exprs[n->stores[i].value].type, 0, t->shared_store[i], tile_index(t, &a, l), 0);
        if (t->across.stores[i]) {
            vectors_put(&t->across, i, l, v);
        } else {
            emitter_give(e, n->stores[i].value, v);
            emitter_store(e, i, 0);
        }
    }
    close_element(t, &a, l);
    vectors_store(&t->across, a.first);
    close_pass(t, &a);
}

/* ---- the kernel ---- */

static kval shared_array(tile *t, ktype type, int operand) {
    kval v = kb_inst(t->e.k, K_SHARED, type, 0, (uint32_t)(t->size * (t->size + 1)), 0, 0);
    const char *stem = t->n->operands[operand].name, *name = arena_text(t->e.mem, "%s_tile", *stem ? stem : "v");
    if (name) kb_name(t->e.k, v, name);
    return v;
}

static void body(tile *t) {
    const nest *n = t->n;
    emitter *e = &t->e;
    gpu_grid *g = &t->g;
    t->thread = map_name(e, g->axis[0].thread, "thread");
    t->top = map_name(e, map_op(e, KOP_mul, g->axis[1].block, emitter_integer(e, t->size)), "top");
    t->left = map_name(e, map_op(e, KOP_mul, g->axis[0].block, emitter_integer(e, t->size)), "left");
    for (int i = 0; i < n->nexprs; i++) if (t->turned[i]) t->shared[i] = shared_array(t, shared_type(t, n->exprs[i].operand), n->exprs[i].operand);
    for (int i = 0; i < n->nstores; i++) if (t->turned_store[i]) t->shared_store[i] = shared_array(t, shared_type(t, n->stores[i].operand), n->stores[i].operand);
    if (g->naxes > 2) grid_open_rest(g, e, map_name(e, g->axis[2].block, "plane"));
    if (any_of(t->turned, n->nexprs)) {
        load_ahead(t);
        load_turned(t);
    }
    compute(t);
    if (any_of(t->turned_store, n->nstores)) store_turned(t);
    if (g->naxes > 2) grid_close_rest(g, e);
}

static bool prepare(tile *t, arena *mem) {
    const nest *n = t->n;
    size_t nexprs = (size_t)n->nexprs + 1, nstores = (size_t)n->nstores + 1;
    t->needed = arena_zero(mem, nexprs, 1);
    t->turned = arena_zero(mem, nexprs, 1);
    t->turned_store = arena_zero(mem, nstores, 1);
    t->ahead = arena_zero(mem, nexprs, 1);
    t->shared = arena_zero(mem, nexprs, sizeof *t->shared);
    t->shared_store = arena_zero(mem, nstores, sizeof *t->shared_store);
    t->array = arena_zero(mem, nexprs, sizeof *t->array);
    if (!t->needed || !t->turned || !t->turned_store || !t->ahead || !t->shared || !t->shared_store || !t->array) return false;
    for (int i = 0; i < n->nexprs; i++) {
        nest_closure(n, t->needed, (uint32_t)i);
        t->turned[i] = is_plain_load(&n->exprs[i]) && is_turned(&n->exprs[i].at, n->exprs[i].pair, t->x, t->y);
    }
    for (int i = 0; i < n->nstores; i++) t->turned_store[i] = is_plain_store(&n->stores[i]) && is_turned(&n->stores[i].at, n->stores[i].pair, t->x, t->y);
    return true;
}

static bool start(tile *t, const device_profile *p, arena *mem) {
    gpu_grid *g = &t->g;
    grid_atoms(g, t->n, t->x, t->y);
    g->axis[0].threads = t->threads;
    g->axis[0].each = g->axis[1].each = t->size;
    if (!emitter_init(&t->e, t->n, emitter_index_type(t->n, 2 * t->size), mem)) return false;
    if (!make_vectors(t, &t->along, t->x, false) || !make_vectors(t, &t->across, t->y, true)) return false;
    choose_ahead(t);
    vectors_alignment(&t->e);
    if (!grid_params(g, &t->e) || !emitter_start(&t->e, t->n->name)) return false;
    t->e.k->warp = (uint16_t)p->warp;
    return true;
}

kn_status schedule_gpu_tile(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) {
    tile t = { .n = n };
    int64_t work = n->nexprs + 1;
    *done = false;
    if (!is_gpu_map(n) || !choose_atoms(&t)) return KN_OK;
    if (!prepare(&t, builder_arena(b))) return fail_memory(m, "scheduling a kernel");
    if (!choose_size(&t, p)) return KN_OK;
    for (int a = 0; a < n->natoms; a++) work *= n->atoms[a].extent;
    if (!start(&t, p, builder_arena(b))) return fail_memory(m, "scheduling a kernel");
    grid_open(&t.g, &t.e);
    body(&t);
    grid_close(&t.g, &t.e);
    *done = true;
    return grid_step(&t.g, &t.e, b, work, m);
}
