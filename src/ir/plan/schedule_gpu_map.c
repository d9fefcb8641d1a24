/* schedule_gpu_map.c: element-wise kernels on a GPU: neighbouring threads take neighbouring elements of what is stored.
 *
 * How it works: a thread takes one vector of up to 16 bytes of every operand, where most of the memory can be accessed so;
 * what is left of a row is taken one by one. Where it cannot, a thread takes several elements instead, rows below each
 * other if there are rows, and loads all of them before it uses the first, so that as many bytes are under way. Rows that
 * several of its elements read (stencils) are then loaded once. Which operands go through shared memory is not this
 * file's business. */
#include <string.h>
#include "ir/plan/schedule_gpu.h"

#define THREADS 256
#define BYTES_UNDER_WAY 16       /* of a thread, to fill the memory's bandwidth */
#define MOST_STEPS 4
#define MANY_ELEMENTS ((int64_t)1 << 20)   /* enough for several of them a thread */
#define MOST_ROWS_SHARED 4
#define MOST_UNROLLED 1024       /* operations of all elements of a vector: their code is as long */
#define SHORT_ROWS 16            /* elements that lie together in memory but not in the result, so few that a thread takes all */

typedef struct map {
    const nest *n;
    emitter e;
    gpu_grid g;
    int x, y, along;             /* atoms: innermost, the next or -1, that of the steps */
    int vector, steps;
    bool *needed;
    kval *array;                 /* per leader: LOCAL array of the values of all steps */
    int *leader, *shift;         /* per expression: the load whose array it uses, or -1; how many steps further on */
    int *span;                   /* per leader: the greatest shift */
    gpu_vectors w;
} map;

/* ---- choosing ---- */

static bool varies(const expr *x, int atom) { return x->kind == EXPR_LOAD && x->at.stride[atom] != 0; }

/* Vectors pay where more bytes are in vectors than are not. */
static bool vectors_pay(const map *s, int v) {
    const nest *n = s->n;
    int in = 0, out = 0;
    for (int i = 0; i < n->nexprs; i++)
        if (varies(&n->exprs[i], s->x)) *(vectors_fit_load(n, i, s->x, v) ? &in : &out) += ktype_table[n->operands[n->exprs[i].operand].type].size;
    for (int i = 0; i < n->nstores; i++) *(vectors_fit_store(n, i, s->x, v) ? &in : &out) += ktype_table[n->operands[n->stores[i].operand].type].size;
    return in > out;
}

/* Operations of an element, roughly. */
static int weight(const nest *n) {
    int sum = 0;
    for (int i = 0; i < n->nexprs; i++) sum += n->exprs[i].kind == EXPR_CALL ? device_functions[n->exprs[i].op].cost : n->exprs[i].kind == EXPR_OP;
    return sum;
}

static int choose_vector(const map *s) {
    for (int v = 16; v > 1; v /= 2)
        if (s->n->atoms[s->x].extent >= v && (v == 2 || v * weight(s->n) <= MOST_UNROLLED) && vectors_pay(s, v)) return v;
    return 1;
}

/* Bytes that an element loads; what is read from one memory several times counts once. */
static int bytes_loaded(const map *s) {
    const nest *n = s->n;
    bool seen[NEST_OPERANDS] = { false };
    int bytes = 0;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if (!varies(x, s->x) && (x->kind != EXPR_LOAD || x->index < 0)) continue;
        if (!seen[x->operand]) bytes += ktype_table[n->operands[x->operand].type].size * (x->pair ? 2 : 1);
        seen[x->operand] = true;
    }
    return bytes;
}

static int64_t power_up(int64_t n, int64_t most) {
    int64_t p = 1;
    while (p < n && p < most) p *= 2;
    return p;
}

/* Most of what is loaded is contiguous along y, and there is little along y. */
static bool has_short_rows(const map *s) {
    const nest *n = s->n;
    int along_y = 0, others = 0;
    if (s->y < 0 || n->atoms[s->y].extent > SHORT_ROWS) return false;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        int64_t unit = x->pair ? 2 : 1;
        if (varies(x, s->x) && is_plain_load(x)) *(x->at.stride[s->y] == unit && x->at.stride[s->x] != unit ? &along_y : &others) += 1;
    }
    return along_y > others;
}

static int choose_steps(const map *s) {
    int64_t elements = 1;
    if (s->vector == 1 && has_short_rows(s)) return (int)power_up(s->n->atoms[s->y].extent, SHORT_ROWS);
    for (int a = 0; a < s->n->natoms; a++) elements *= s->n->atoms[a].extent;
    int bytes = bytes_loaded(s), steps = MOST_STEPS;
    if (s->vector > 1 || !bytes || elements < MANY_ELEMENTS) return 1;
    while (steps > 1 && (steps * bytes > BYTES_UNDER_WAY || s->n->atoms[s->along].extent < 4 * steps)) steps /= 2;
    return steps;
}

/* Threads along x for so many vectors: as many as leave few of them idle at the end of a row. */
static int threads_of_row(int64_t vectors) {
    if (vectors <= 32) return (int)power_up(vectors, 32);
    int best = 32;
    int64_t least = INT64_MAX;
    for (int t = THREADS; t >= 32; t /= 2) {
        int64_t taken = (vectors + t - 1) / t * t;
        if (taken - vectors <= vectors / 8) return t;
        if (taken < least) { least = taken; best = t; }
    }
    return best;
}

static void choose_grid(map *s) {
    gpu_grid *g = &s->g;
    grid_atoms(g, s->n, s->x, s->y);
    int left = THREADS;
    for (int i = 0; i < g->naxes; i++) {
        gpu_axis *a = &g->axis[i];
        int64_t each = i == 0 ? s->vector : 1;
        if (s->along == a->atoms[0] && a->natoms == 1) each *= s->steps;
        int64_t units = (a->extent + each - 1) / each;
        a->threads = g->naxes == 1 ? THREADS : i == 0 ? threads_of_row(units) : (int)power_up(units, left < 64 ? left : 64);
        a->each = a->threads * each;
        left /= a->threads;
    }
}

/* ---- rows that several elements of a thread read ---- */

/* Load i reads what `first` reads so many steps further on; -1: it does not. */
static int64_t steps_apart(const map *s, int first, int i) {
    const expr *a = &s->n->exprs[first], *b = &s->n->exprs[i];
    int64_t step = a->at.stride[s->along], apart = b->at.offset - a->at.offset;
    if (a->operand != b->operand || a->pair != b->pair || memcmp(a->at.stride, b->at.stride, (size_t)s->n->natoms * sizeof step)) return -1;
    return step && apart % step == 0 ? apart / step : -1;
}

/* Loads one step after the other from i on: bit d stands for one that is d steps further. */
static unsigned rows_from(const map *s, int i) {
    unsigned mask = 0;
    for (int j = 0; j < s->n->nexprs; j++) {
        int64_t d = is_plain_load(&s->n->exprs[j]) ? steps_apart(s, i, j) : -1;
        if (d >= 0 && d <= MOST_ROWS_SHARED) mask |= 1u << d;
    }
    return mask;
}

static bool is_first_row(const map *s, int i) {
    for (int j = 0; j < s->n->nexprs; j++) if (is_plain_load(&s->n->exprs[j]) && steps_apart(s, j, i) > 0 && steps_apart(s, j, i) <= MOST_ROWS_SHARED) return false;
    return true;
}

/* Which loads are made ahead of all steps, and which of them share what they load. */
static void choose_ahead(map *s) {
    const nest *n = s->n;
    for (int i = 0; i < n->nexprs; i++) s->leader[i] = is_plain_load(&n->exprs[i]) && varies(&n->exprs[i], s->along) ? i : -1;
    if (s->along == s->x) return;
    for (int i = 0; i < n->nexprs; i++) {
        if (s->leader[i] != i || !is_first_row(s, i)) continue;
        unsigned mask = rows_from(s, i);
        for (int j = 0; j < n->nexprs; j++) {
            int64_t d = s->leader[j] < 0 ? -1 : steps_apart(s, i, j);
            if (d < 0 || d > MOST_ROWS_SHARED || (mask & ((2u << d) - 1)) != (2u << d) - 1) continue;   /* a row between is not read */
            s->leader[j] = i;
            s->shift[j] = (int)d;
            if (d > s->span[i]) s->span[i] = (int)d;
        }
    }
}

/* ---- an element ---- */

/* l: its number in the vector, or NO_VALUE. */
static void element(map *s, kval l) {
    const nest *n = s->n;
    emitter *e = &s->e;
    emitter_ready(e, s->needed);
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_FAULT) emitter_fault(e, (uint32_t)i);
    for (int i = 0; i < n->nstores; i++) {
        if (l != NO_VALUE && s->w.stores[i]) vectors_put(&s->w, i, l, emitter_value(e, n->stores[i].value));
        else emitter_store(e, i, 0);
    }
}

/* ---- vectors ---- */

static void vector_body(map *s, kval base) {
    emitter *e = &s->e;
    emitter_ready(e, s->needed);
    vectors_load(&s->w, base);
    vectors_declare(&s->w);
    kval l = map_unroll(e, s->vector);
    emitter_open(e, s->x, map_op(e, KOP_add, base, l));
    vectors_give(&s->w, l);
    element(s, l);
    emitter_close(e, s->x);
    kb_end(e->k, l);
    vectors_store(&s->w, base);
}

/* A whole vector from `base` on, or what is left of the row. */
static void vectors(map *s, kval base, kval inside) {
    emitter *e = &s->e;
    kval end = emitter_extent(e, s->x);
    bool whole = s->n->atoms[s->x].extent % s->vector == 0;
    kval others = whole ? NO_VALUE : map_if(e, inside);
    kval full = map_if(e, map_and(e, whole ? inside : NO_VALUE, map_less(e, whole ? base : map_op(e, KOP_add, base, emitter_integer(e, s->vector - 1)), end)));
    emitter_push(e);
    vector_body(s, base);
    emitter_pop(e);
    if (!whole) {
        kb_else(e->k, full);
        kval i = kb_for(e->k, LOOP_SERIAL, e->index, base, end, emitter_integer(e, 1));
        emitter_open(e, s->x, i);
        element(s, NO_VALUE);
        emitter_close(e, s->x);
        kb_end(e->k, i);
    }
    kb_end(e->k, full);
    map_end(e, others);
}

/* ---- several elements, loaded before they are used ---- */

typedef struct stepped { kval first, apart, end; bool whole; } stepped;

static kval step_open(map *s, const stepped *w, kval j, kval *guard) {
    emitter *e = &s->e;
    kval at = map_op(e, KOP_add, w->first, map_op(e, KOP_mul, j, w->apart));
    emitter_push(e);
    *guard = w->whole ? NO_VALUE : map_if(e, map_less(e, at, w->end));
    emitter_open(e, s->along, at);
    return at;
}

static void step_close(map *s, kval j, kval guard) {
    emitter_close(&s->e, s->along);
    emitter_pop(&s->e);
    map_end(&s->e, guard);
    kb_end(s->e.k, j);
}

/* Arrays of the loads, and the first rows of those that are shared. */
static void declare_ahead(map *s, const stepped *w) {
    emitter *e = &s->e;
    for (int i = 0; i < s->n->nexprs; i++) {
        const expr *x = &s->n->exprs[i];
        if (s->leader[i] == i) s->array[i] = vectors_array(e, ktype_value(s->n->operands[x->operand].type), s->steps + s->span[i], x->operand, s->along == s->y ? "_rows" : "");
    }
    emitter_open(e, s->along, w->first);
    for (int i = 0; i < s->n->nexprs; i++) {
        int l = s->leader[i];
        if (l < 0 || s->shift[i] >= s->span[l]) continue;
        bool done = false;
        for (int j = 0; j < i; j++) done |= s->leader[j] == l && s->shift[j] == s->shift[i];
        if (!done) kb_inst(e->k, K_STORE, T_VOID, 0, s->array[l], emitter_integer(e, s->shift[i]), emitter_value(e, (uint32_t)i));
    }
    emitter_close(e, s->along);
}

static void load_ahead(map *s, const stepped *w) {
    emitter *e = &s->e;
    kval guard, j = map_unroll(e, s->steps);
    step_open(s, w, j, &guard);
    for (int i = 0; i < s->n->nexprs; i++) {
        int l = s->leader[i];
        if (l < 0 || s->shift[i] != s->span[l]) continue;
        bool done = false;
        for (int k = 0; k < i; k++) done |= s->leader[k] == l && s->shift[k] == s->shift[i];
        if (!done) kb_inst(e->k, K_STORE, T_VOID, 0, s->array[l], map_op(e, KOP_add, j, emitter_integer(e, s->span[l])), emitter_value(e, (uint32_t)i));
    }
    step_close(s, j, guard);
}

static void use_loaded(map *s, const stepped *w) {
    emitter *e = &s->e;
    kval guard, j = map_unroll(e, s->steps);
    step_open(s, w, j, &guard);
    for (int i = 0; i < s->n->nexprs; i++)
        if (s->leader[i] >= 0)
            emitter_give(e, (uint32_t)i, kb_inst(e->k, K_LOAD, s->n->exprs[i].type, 0, s->array[s->leader[i]], map_op(e, KOP_add, j, emitter_integer(e, s->shift[i])), 0));
    element(s, NO_VALUE);
    step_close(s, j, guard);
}

static void steps(map *s, kval first, kval apart) {
    stepped w = { first, apart, emitter_extent(&s->e, s->along), s->n->atoms[s->along].extent % (s->along == s->x ? s->g.axis[0].each : s->steps) == 0 };
    bool any = false;
    emitter_ready(&s->e, s->needed);
    for (int i = 0; i < s->n->nexprs; i++) any |= s->leader[i] >= 0;
    if (any) {
        declare_ahead(s, &w);
        load_ahead(s, &w);
    }
    use_loaded(s, &w);
}

/* ---- the kernel ---- */

/* Index of the first element that the thread takes along an axis. */
static kval first_of(map *s, int axis) {
    emitter *e = &s->e;
    gpu_axis *a = &s->g.axis[axis];
    kval block = map_op(e, KOP_mul, a->block, emitter_integer(e, a->each)), thread = a->thread;
    bool neighbours = axis == 0 && s->along == s->x;   /* steps are a block's width apart */
    if (!neighbours || s->vector > 1) thread = map_op(e, KOP_mul, thread, emitter_integer(e, a->each / a->threads));
    return map_name(e, map_op(e, KOP_add, block, thread), a->name);
}

static void body(map *s) {
    emitter *e = &s->e;
    gpu_grid *g = &s->g;
    kval at[3] = { 0 }, inside = NO_VALUE, opened;
    for (int i = g->naxes; i-- > 0;) at[i] = first_of(s, i);
    for (int i = g->naxes; i-- > 1;)
        if (g->axis[i].threads > 1 || g->axis[i].each > 1) inside = map_and(e, inside, map_less(e, at[i], (kval)g->axis[i].param));
    bool own_guard = s->vector > 1;
    if (!own_guard) inside = map_and(e, inside, map_less(e, at[0], emitter_extent(e, s->x)));
    opened = own_guard ? NO_VALUE : map_if(e, inside);
    emitter_push(e);
    if (g->naxes > 2 || (g->naxes == 2 && s->y < 0)) grid_open_rest(g, e, at[g->naxes - 1]);
    bool rows = s->steps > 1 && s->along == s->y;
    if (s->y >= 0 && !rows) emitter_open(e, s->y, at[1]);
    if (own_guard) {
        vectors(s, at[0], inside);
    } else if (s->steps == 1 || rows) {
        emitter_open(e, s->x, at[0]);
        if (rows) steps(s, at[1], emitter_integer(e, 1));
        else element(s, NO_VALUE);
        emitter_close(e, s->x);
    } else {
        steps(s, at[0], emitter_integer(e, g->axis[0].threads));
    }
    if (s->y >= 0 && !rows) emitter_close(e, s->y);
    if (g->naxes > 2) grid_close_rest(g, e);
    emitter_pop(e);
    map_end(e, opened);
}

static bool prepare(map *s, arena *mem) {
    const nest *n = s->n;
    size_t nexprs = (size_t)n->nexprs + 1;
    s->needed = arena_zero(mem, nexprs, 1);
    s->array = arena_zero(mem, nexprs, sizeof *s->array);
    s->leader = arena_zero(mem, nexprs, sizeof *s->leader);
    s->shift = arena_zero(mem, nexprs, sizeof *s->shift);
    s->span = arena_zero(mem, nexprs, sizeof *s->span);
    if (!s->needed || !s->array || !s->leader || !s->shift || !s->span) return false;
    for (int i = 0; i < n->nexprs; i++) nest_closure(n, s->needed, (uint32_t)i);
    s->x = n->natoms - 1;
    s->y = n->natoms > 1 ? n->natoms - 2 : -1;
    s->along = s->y >= 0 ? s->y : s->x;
    s->vector = choose_vector(s);
    s->steps = choose_steps(s);
    choose_ahead(s);
    choose_grid(s);
    return true;
}

static bool start(map *s, const device_profile *p, arena *mem) {
    int64_t slack = 0;
    for (int i = 0; i < s->g.naxes; i++) if (s->g.axis[i].each > slack) slack = s->g.axis[i].each;
    if (!emitter_init(&s->e, s->n, emitter_index_type(s->n, slack + MOST_ROWS_SHARED), mem)) return false;
    if (!vectors_init(&s->w, &s->e, s->x, s->vector)) return false;
    for (int i = 0; i < s->n->nexprs; i++) s->w.loads[i] = vectors_fit_load(s->n, i, s->x, s->vector);
    for (int i = 0; i < s->n->nstores; i++) s->w.stores[i] = vectors_fit_store(s->n, i, s->x, s->vector);
    vectors_alignment(&s->e);
    if (!grid_params(&s->g, &s->e) || !emitter_start(&s->e, s->n->name)) return false;
    s->e.k->warp = (uint16_t)p->warp;
    return true;
}

kn_status schedule_gpu_map(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) {
    map s = { .n = n };
    int64_t work = n->nexprs + 1;
    *done = false;
    if (!is_gpu_map(n)) return KN_OK;
    for (int a = 0; a < n->natoms; a++) work *= n->atoms[a].extent;
    if (!prepare(&s, builder_arena(b)) || !start(&s, p, builder_arena(b))) return fail_memory(m, "scheduling a kernel");
    grid_open(&s.g, &s.e);
    body(&s);
    grid_close(&s.g, &s.e);
    *done = true;
    return grid_step(&s.g, &s.e, b, work, m);
}
