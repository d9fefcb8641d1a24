/* schedule_cpu.c: a nest as kernel IR for the CPU.
 *
 * How it works: one atom becomes the vector loop (LANE); the leading outer atoms, and tiles of a long vector loop, become
 * the GRID that workers share; the rest are SERIAL loops. Where the lane atom is reduced (row mode) a row is reduced by
 * all lanes, which are then combined; where it is not (column mode) every lane reduces a column of its own. A reduction
 * with few results over a long domain is cut into chunks, whose partial states a second kernel combines. Where operands lie
 * across (a transposition), tiles of the lane atom and of the atom that they run along make every cache line that is read
 * serve all its elements. All choices
 * depend on extents only through coarse classes, so that kernels serve many sizes. How expressions are made is emit.c's. */
#include <string.h>
#include "ir/plan/emit.h"

#define TILE 8192                /* elements of the lane atom in one GRID iteration */
#define CHUNK 32768              /* elements reduced by one GRID iteration of a cut reduction */
#define ENOUGH_GRID 64           /* GRID iterations that keep any number of workers busy */
#define SHORT_LANE 16            /* lane extents below this leave most of a vector idle */
#define MOST_CUT_REDUCTIONS 64
#define ACROSS_BYTES 64          /* of an operand that lies across: a tile is a cache line wide */
#define ACROSS_LANES 64          /* lanes of such a tile */
#define STREAM_BYTES ((int64_t)1 << 24)   /* results larger than the caches are written past them */

typedef struct cpu_loops {
    int outer[NEST_ATOMS], nouter;         /* O atoms other than the lane atom, outermost first */
    int inner[NEST_ATOMS], ninner;         /* R atoms other than the lane atom */
    int lane;                              /* atom, or -1: scalar code */
    bool row;                              /* the lane atom is reduced */
    int ngrid;                             /* leading outer atoms in the GRID */
    bool tiled; int64_t tile;              /* the lane atom is cut into tiles of this many elements, in the GRID too */
    int across; int64_t across_tile;       /* an outer atom that is cut into tiles, in the GRID, which run inside; < 0: none */
    int cut; int64_t cut_extent, ncuts;    /* chunks: the atom that is cut, elements a chunk, chunks; cut < 0: not */
    int lanes;                             /* W */
} cpu_loops;

typedef struct cpu_schedule {
    const nest *n;
    const device_profile *p;
    plan_builder *b;
    cpu_loops loops;
    emitter e;
    int32_t total, ntiles, nacross, cut_param, ncuts_param;
    kval *state[5];                        /* per reduction and component: the VAR */
    int32_t *scratch[5];                   /* cut: per reduction and component: parameter of the partial states */
    bool partial;                          /* this kernel stores partial states instead of results */
    bool *needed;
    int flags;                             /* of stores */
} cpu_schedule;

/* ---- choosing loops ---- */

static int64_t product(const nest *n, bool reduced) {
    int64_t size = 1;
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced == reduced) size *= n->atoms[a].extent;
    return size;
}

static bool any_scan(const nest *n) {
    for (int r = 0; r < n->nreductions; r++) if (n->reductions[r].scan || n->reductions[r].ordered) return true;
    return false;
}

static int stride_score(int64_t stride, uint8_t pair) {
    int64_t unit = pair ? 2 : 1;
    return stride == unit ? 5 : stride == -unit ? 4 : stride == 0 ? 3 : 1;
}

/* How well the atom serves as vector loop: unit strides count most, a short extent wastes lanes. */
static int64_t lane_score(const nest *n, int a) {
    int64_t score = 0, extent = n->atoms[a].extent;
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_LOAD) score += stride_score(n->exprs[i].at.stride[a], n->exprs[i].pair);
    for (int i = 0; i < n->nstores; i++) score += 2 * stride_score(n->stores[i].at.stride[a], n->stores[i].pair);
    return (score + 1) * (extent < 64 ? extent : 64);
}

static int choose_lane(const nest *n) {
    if (n->serial) return -1;
    int best = -1;
    for (int a = 0; a < n->natoms; a++) {
        if (n->atoms[a].reduced && any_scan(n)) continue;
        if (best < 0 || lane_score(n, a) >= lane_score(n, best)) best = a;
    }
    return best >= 0 && n->atoms[best].extent < 2 ? -1 : best;
}

/* Lanes of a vector loop: a whole number of vectors of the widest type, more of them for short bodies (independent work
 * for the processor to overlap). */
static int choose_lanes(const nest *n, const device_profile *p) {
    int size = 1, vector = p->vector_bytes > 0 ? p->vector_bytes : 32, weight = n->nexprs;
    for (int i = 0; i < n->nexprs; i++) {
        int s = ktype_table[n->exprs[i].type].size;
        if (n->exprs[i].kind != EXPR_INDEX && s > size) size = s;
        if (n->exprs[i].kind == EXPR_CALL) weight += device_functions[n->exprs[i].op].cost;
    }
    int width = vector / size, unroll = weight <= 16 ? 4 : weight <= 40 ? 2 : 1;
    if (width < 1) width = 1;
    while (width * unroll > 128 && unroll > 1) unroll /= 2;
    return width * unroll;
}

static void choose_cut(const nest *n, const device_profile *p, cpu_loops *l) {
    l->cut = -1;
    bool several_passes = false;
    for (int i = 0; i < n->nstores; i++) several_passes |= n->exprs[n->stores[i].value].inner;
    for (int r = 0; r < n->nreductions; r++) several_passes |= reduction_stage(n, &n->reductions[r]) > 0;
    int64_t results = product(n, false), size = product(n, true);
    if (!n->nreductions || any_scan(n) || several_passes || n->serial || n->faults) return;
    if (results >= 2 * p->units || size < 4 * CHUNK || !l->row) return;
    int cut = l->ninner && n->atoms[l->inner[0]].extent >= 8 ? l->inner[0] : l->lane;
    int64_t rest = size / n->atoms[cut].extent;
    l->cut = cut;
    l->cut_extent = rest >= CHUNK ? 1 : (CHUNK + rest - 1) / rest;
    l->ncuts = (n->atoms[cut].extent + l->cut_extent - 1) / l->cut_extent;
}

/* An outer atom along which a large operand is contiguous that the vector loop would cross, or -1. */
static int choose_across(const nest *n, int lane, int64_t *tile) {
    if (lane < 0 || n->serial || n->nreductions) return -1;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if (x->kind != EXPR_LOAD || x->index >= 0) continue;
        int64_t step = x->at.stride[lane] < 0 ? -x->at.stride[lane] : x->at.stride[lane], size = ktype_table[n->operands[x->operand].type].size, unit = x->pair ? 2 : 1;
        if (step * size < ACROSS_BYTES || n->atoms[lane].extent < 8) continue;
        for (int a = 0; a < n->natoms; a++) {
            int64_t along = x->at.stride[a] < 0 ? -x->at.stride[a] : x->at.stride[a];
            if (a == lane || along != unit || n->atoms[a].extent < 8) continue;
            *tile = ACROSS_BYTES / (size * unit);
            return *tile > 1 ? a : -1;
        }
    }
    return -1;
}

static cpu_loops choose_loops(const nest *n, const device_profile *p) {
    cpu_loops l = { .lane = choose_lane(n), .lanes = choose_lanes(n, p), .cut = -1 };
    l.row = l.lane >= 0 && n->atoms[l.lane].reduced;
    l.across = choose_across(n, l.lane, &l.across_tile);
    for (int a = 0; a < n->natoms; a++) {
        if (a == l.lane || a == l.across) continue;
        if (n->atoms[a].reduced) l.inner[l.ninner++] = a;
        else l.outer[l.nouter++] = a;
    }
    choose_cut(n, p, &l);
    if (l.lane >= 0 && !l.row) {
        l.tile = n->nreductions ? l.lanes : l.across >= 0 ? ACROSS_LANES : TILE;
        l.tiled = true;
    }
    int64_t grid = 1;
    if (!n->serial)
        while (l.ngrid < l.nouter && (grid < ENOUGH_GRID || l.cut >= 0)) grid *= n->atoms[l.outer[l.ngrid++]].extent;
    if (l.tiled && l.across < 0 && !n->nreductions && l.ngrid && grid >= ENOUGH_GRID) l.tiled = false;   /* rows are work enough: whole ones */
    return l;
}

/* ---- loops in kernel IR ---- */

static kval loop(cpu_schedule *s, int kind, kval end) { return kb_for(s->e.k, kind, T_I64, emitter_integer(&s->e, 0), end, emitter_integer(&s->e, 1)); }

static kval smaller(cpu_schedule *s, kval a, kval b) {
    return kb_op(s->e.k, KOP_select, T_I64, kb_op(s->e.k, KOP_lt, T_BOOL, a, b, 0), a, b);
}

static void integer_args(cpu_schedule *s) {
    const cpu_loops *l = &s->loops;
    int64_t total = 1, tiles = 1, across = 1;
    for (int i = 0; i < l->ngrid; i++) total *= s->n->atoms[l->outer[i]].extent;
    if (l->tiled) tiles = (s->n->atoms[l->lane].extent + l->tile - 1) / l->tile;
    if (l->cut >= 0) tiles = l->ncuts;
    if (l->across >= 0) across = (s->n->atoms[l->across].extent + l->across_tile - 1) / l->across_tile;
    s->total = emitter_param(&s->e, "blocks", T_I64, (plan_arg){ .kind = ARG_INTEGER, .value = total * tiles * across });
    s->nacross = l->across >= 0 && l->ngrid ? emitter_param(&s->e, "strips", T_I64, (plan_arg){ .kind = ARG_INTEGER, .value = across }) : NO_PARAM;
    s->ntiles = (l->tiled || l->cut >= 0) && (l->ngrid || l->across >= 0) ? emitter_param(&s->e, "tiles", T_I64, (plan_arg){ .kind = ARG_INTEGER, .value = tiles }) : NO_PARAM;
    s->cut_param = l->cut >= 0 ? emitter_param(&s->e, "chunk", T_I64, (plan_arg){ .kind = ARG_INTEGER, .value = l->cut_extent }) : NO_PARAM;
}

/* The part of an atom that is cut into pieces: where it starts, how long it is. */
typedef struct piece { kval start, length; } piece;

static piece whole(cpu_schedule *s, int atom) { return (piece){ NO_VALUE, emitter_extent(&s->e, atom) }; }

static piece piece_of(cpu_schedule *s, int atom, kval number, kval size) {
    kval start = kb_op(s->e.k, KOP_mul, T_I64, number, size, 0);
    kval rest = kb_op(s->e.k, KOP_sub, T_I64, emitter_extent(&s->e, atom), start, 0);
    return (piece){ start, smaller(s, rest, size) };
}

static void open_atom(cpu_schedule *s, int atom, kval index, const piece *part) {
    emitter_open(&s->e, atom, part->start == NO_VALUE ? index : kb_op(s->e.k, KOP_add, T_I64, part->start, index, 0));
}

/* rest % count, and rest becomes rest / count; the last one takes what is left. */
static kval take_digit(cpu_schedule *s, kval *rest, int32_t count) {
    kernel *k = s->e.k;
    if (count == NO_PARAM) return *rest;
    kval next = kb_op(k, KOP_div, T_I64, *rest, (kval)count, 0);
    kval digit = kb_op(k, KOP_sub, T_I64, *rest, kb_op(k, KOP_mul, T_I64, next, (kval)count, 0), 0);
    *rest = next;
    return digit;
}

/* Opens GRID and gives the outer atoms in it their values; *part is the lane atom's tile, or the cut atom's chunk, *strip
 * that of the atom across. */
static kval open_grid(cpu_schedule *s, piece *part, piece *strip) {
    const cpu_loops *l = &s->loops;
    kernel *k = s->e.k;
    kval grid = loop(s, LOOP_GRID, (kval)s->total), rest = grid;
    int pieces = l->cut >= 0 ? l->cut : l->tiled ? l->lane : -1;
    if (pieces >= 0) *part = piece_of(s, pieces, take_digit(s, &rest, s->ntiles), l->cut >= 0 ? (kval)s->cut_param : emitter_integer(&s->e, l->tile));
    if (l->across >= 0) *strip = piece_of(s, l->across, take_digit(s, &rest, s->nacross), emitter_integer(&s->e, l->across_tile));
    for (int i = l->ngrid; i-- > 0;) {
        kval index = rest, extent = emitter_extent(&s->e, l->outer[i]);
        if (i) {
            kval next = kb_op(k, KOP_div, T_I64, rest, extent, 0);
            index = kb_op(k, KOP_sub, T_I64, rest, kb_op(k, KOP_mul, T_I64, next, extent, 0), 0);
            rest = next;
        }
        emitter_open(&s->e, l->outer[i], index);
    }
    return grid;
}

/* ---- reductions ---- */

static void declare_states(cpu_schedule *s) {
    for (int r = 0; r < s->n->nreductions; r++) {
        const nest_reduction *q = &s->n->reductions[r];
        for (int c = 0; c < reduction_width(q); c++)
            s->state[c][r] = kb_inst(s->e.k, K_VAR, reduction_type(q, c), s->loops.lane >= 0 ? VAR_LANES : 0, reduction_identity(&s->e, q, c), 0, 0);
    }
}

static void get_state(cpu_schedule *s, int r, kval *state) {
    const nest_reduction *q = &s->n->reductions[r];
    for (int c = 0; c < reduction_width(q); c++) state[c] = kb_inst(s->e.k, K_GET, reduction_type(q, c), 0, s->state[c][r], 0, 0);
}

static void set_state(cpu_schedule *s, int r, const kval *state) {
    for (int c = 0; c < reduction_width(&s->n->reductions[r]); c++) kb_inst(s->e.k, K_SET, T_VOID, 0, s->state[c][r], state[c], 0);
}

static void publish_state(cpu_schedule *s, int r, const kval *state) {
    kval components[4];
    reduction_finish(&s->e, &s->n->reductions[r], state, components);
    for (int c = 0; c < s->n->reductions[r].nstate; c++) s->e.reduced[c][r] = components[c];
}

static void forget_states(cpu_schedule *s) {
    for (int r = 0; r < s->n->nreductions; r++) for (int c = 0; c < 4; c++) s->e.reduced[c][r] = NO_VALUE;
}

/* All lanes' states become one, in every lane: a butterfly, whose order depends on W alone. */
static void combine_lanes(cpu_schedule *s, int stage) {
    kernel *k = s->e.k;
    kval opened = loop(s, LOOP_LANE, emitter_integer(&s->e, s->loops.lanes));
    for (int r = 0; r < s->n->nreductions; r++) {
        const nest_reduction *q = &s->n->reductions[r];
        if (reduction_stage(s->n, q) != stage) continue;
        kval mine[5], other[5], both[5];
        get_state(s, r, mine);
        for (int distance = s->loops.lanes / 2; distance >= 1; distance /= 2) {
            for (int c = 0; c < reduction_width(q); c++)
                other[c] = kb_inst(k, K_SHUFFLE, reduction_type(q, c), SHUFFLE_XOR, mine[c], kb_const_int(k, T_I32, distance), (uint32_t)s->loops.lanes);
            reduction_combine(&s->e, q, mine, other, both);
            memcpy(mine, both, sizeof mine);
        }
        set_state(s, r, mine);
    }
    kb_end(k, opened);
}

/* Row mode, and scalar code: results of a stage as values outside the loops over R. */
static void finish_stage(cpu_schedule *s, int stage) {
    bool any = false;
    for (int r = 0; r < s->n->nreductions; r++) any |= reduction_stage(s->n, &s->n->reductions[r]) == stage;
    if (!any) return;
    if (s->loops.row) combine_lanes(s, stage);
    for (int r = 0; r < s->n->nreductions; r++) {
        const nest_reduction *q = &s->n->reductions[r];
        if (reduction_stage(s->n, q) != stage || q->scan) continue;
        kval state[5];
        for (int c = 0; c < reduction_width(q); c++)
            state[c] = kb_inst(s->e.k, s->loops.row ? K_FIRST_LANE : K_GET, reduction_type(q, c), 0, s->state[c][r], 0, 0);
        if (!s->partial) { publish_state(s, r, state); continue; }
        for (int c = 0; c < reduction_width(q); c++) s->e.reduced[c < 4 ? c : 3][r] = state[c];
    }
}

/* ---- bodies ---- */

static bool stage_needs_loops(const cpu_schedule *s, int stage) {
    for (int r = 0; r < s->n->nreductions; r++) if (reduction_stage(s->n, &s->n->reductions[r]) == stage) return true;
    for (int i = 0; i < s->n->nstores && !s->partial; i++) {
        const expr *v = &s->n->exprs[s->n->stores[i].value];
        if (v->inner && v->stage == stage) return true;
    }
    return false;
}

static void need_stage(cpu_schedule *s, int stage) {
    const nest *n = s->n;
    memset(s->needed, 0, (size_t)n->nexprs);
    for (int r = 0; r < n->nreductions; r++)
        if (reduction_stage(n, &n->reductions[r]) == stage)
            for (int c = 0; c < n->reductions[r].nstate; c++) nest_closure(n, s->needed, n->reductions[r].lifted[c]);
    for (int i = 0; i < n->nstores && !s->partial; i++)
        if (is_inner_store(n, i) && n->exprs[n->stores[i].value].stage == stage) {
            nest_closure(n, s->needed, n->stores[i].value);
            if (n->stores[i].index >= 0) nest_closure(n, s->needed, (uint32_t)n->stores[i].index);
        }
    for (int i = 0; i < n->nexprs; i++)
        if (n->exprs[i].kind == EXPR_FAULT && n->exprs[i].inner && n->exprs[i].stage == stage) nest_closure(n, s->needed, (uint32_t)i);
}

static void need_results(cpu_schedule *s) {
    const nest *n = s->n;
    memset(s->needed, 0, (size_t)n->nexprs);
    for (int i = 0; i < n->nstores; i++)
        if (!is_inner_store(n, i)) {
            nest_closure(n, s->needed, n->stores[i].value);
            if (n->stores[i].index >= 0) nest_closure(n, s->needed, (uint32_t)n->stores[i].index);
        }
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_FAULT && !n->exprs[i].inner) nest_closure(n, s->needed, (uint32_t)i);
}

/* Column mode: what earlier stages reduced, as values of the present lane. */
static void reload_states(cpu_schedule *s, int before) {
    for (int r = 0; r < s->n->nreductions; r++) {
        if (s->n->reductions[r].scan || reduction_stage(s->n, &s->n->reductions[r]) >= before) continue;
        kval state[5];
        get_state(s, r, state);
        publish_state(s, r, state);
    }
}

static void faults_of(cpu_schedule *s, bool inner, int stage) {
    for (int i = 0; i < s->n->nexprs; i++) {
        const expr *x = &s->n->exprs[i];
        if (x->kind == EXPR_FAULT && x->inner == inner && (!inner || x->stage == stage)) emitter_fault(&s->e, (uint32_t)i);
    }
}

/* One element of O x R: states, faults (of what a scan has reached, too), stores. */
static void inner_body(cpu_schedule *s, int stage) {
    const nest *n = s->n;
    emitter_ready(&s->e, s->needed);
    for (int r = 0; r < n->nreductions; r++) {
        const nest_reduction *q = &n->reductions[r];
        if (reduction_stage(n, q) != stage) continue;
        kval state[5], lifted[4], next[5];
        get_state(s, r, state);
        for (int c = 0; c < q->nstate; c++) lifted[c] = emitter_value(&s->e, q->lifted[c]);
        reduction_step(&s->e, q, state, lifted, next);
        set_state(s, r, next);
        if (q->scan) publish_state(s, r, next);
    }
    emitter_ready(&s->e, s->needed);
    faults_of(s, true, stage);
    for (int i = 0; i < n->nstores && !s->partial; i++)
        if (is_inner_store(n, i) && n->exprs[n->stores[i].value].stage == stage) emitter_store(&s->e, i, s->flags);
    for (int r = 0; r < n->nreductions; r++) if (n->reductions[r].scan) for (int c = 0; c < 4; c++) s->e.reduced[c][r] = NO_VALUE;
}

/* The loops over R of one stage; the lane loop is innermost in both modes. */
static void stage_loops(cpu_schedule *s, int stage, const piece *part) {
    const cpu_loops *l = &s->loops;
    kval opened[NEST_ATOMS + 1];
    int n = 0;
    need_stage(s, stage);
    if (l->row || l->lane < 0) emitter_ready(&s->e, s->needed);
    for (int i = 0; i < l->ninner; i++) {
        piece p = l->cut == l->inner[i] ? *part : whole(s, l->inner[i]);
        kval index = opened[n++] = loop(s, LOOP_SERIAL, p.length);
        open_atom(s, l->inner[i], index, &p);
        if (l->row || l->lane < 0) emitter_ready(&s->e, s->needed);
    }
    if (l->lane >= 0) {
        piece p = l->cut == l->lane || l->tiled ? *part : whole(s, l->lane);
        kval index = opened[n++] = loop(s, LOOP_LANE, p.length);
        open_atom(s, l->lane, index, &p);
        if (!l->row) reload_states(s, stage);
    }
    inner_body(s, stage);
    if (l->lane >= 0) {
        emitter_close(&s->e, l->lane);
        kb_end(s->e.k, opened[--n]);
        if (!l->row) forget_states(s);
    }
    for (int i = l->ninner; i-- > 0;) {
        emitter_close(&s->e, l->inner[i]);
        kb_end(s->e.k, opened[--n]);
    }
}

/* What is computed once for each element of O, after all reductions. */
static void results(cpu_schedule *s, const piece *part) {
    const cpu_loops *l = &s->loops;
    bool any = false;
    for (int i = 0; i < s->n->nstores; i++) any |= !is_inner_store(s->n, i);
    for (int i = 0; i < s->n->nexprs; i++) any |= s->n->exprs[i].kind == EXPR_FAULT && !s->n->exprs[i].inner;
    if (!any) return;
    need_results(s);
    kval opened = NO_VALUE;
    if (l->lane >= 0 && !l->row) {
        emitter_ready(&s->e, s->needed);
        piece p = l->tiled ? *part : whole(s, l->lane);
        opened = loop(s, LOOP_LANE, p.length);
        open_atom(s, l->lane, opened, &p);
        reload_states(s, 1 << 20);
    }
    emitter_ready(&s->e, s->needed);
    faults_of(s, false, 0);
    for (int i = 0; i < s->n->nstores; i++) if (!is_inner_store(s->n, i)) emitter_store(&s->e, i, s->flags);
    if (opened != NO_VALUE) {
        emitter_close(&s->e, l->lane);
        kb_end(s->e.k, opened);
        forget_states(s);
    }
}

static void store_partial(cpu_schedule *s, kval grid) {
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < reduction_width(&s->n->reductions[r]); c++)
            kb_inst(s->e.k, K_STORE, T_VOID, 0, (kval)s->scratch[c][r], grid, s->e.reduced[c][r]);
}

static void kernel_body(cpu_schedule *s) {
    const cpu_loops *l = &s->loops;
    piece part = { NO_VALUE, 0 }, strip = part;
    kval grid = open_grid(s, &part, &strip), opened[NEST_ATOMS], along = NO_VALUE;
    for (int i = l->ngrid; i < l->nouter; i++) {
        kval index = opened[i] = loop(s, LOOP_SERIAL, emitter_extent(&s->e, l->outer[i]));
        emitter_open(&s->e, l->outer[i], index);
    }
    if (l->across >= 0) {
        along = loop(s, LOOP_SERIAL, strip.length);
        open_atom(s, l->across, along, &strip);
    }
    if (s->n->nreductions) declare_states(s);
    for (int stage = 0; stage < s->n->nstages + 1; stage++) {
        if (!stage_needs_loops(s, stage)) continue;
        stage_loops(s, stage, &part);
        if (l->row || l->lane < 0) finish_stage(s, stage);
    }
    if (s->partial) store_partial(s, grid);
    else results(s, &part);
    if (l->across >= 0) {
        emitter_close(&s->e, l->across);
        kb_end(s->e.k, along);
    }
    for (int i = l->nouter; i-- > l->ngrid;) {
        emitter_close(&s->e, l->outer[i]);
        kb_end(s->e.k, opened[i]);
    }
    for (int i = l->ngrid; i-- > 0;) emitter_close(&s->e, l->outer[i]);
    kb_end(s->e.k, grid);
}

/* ---- kernels ---- */

static bool prepare(cpu_schedule *s, const nest *n) {
    arena *mem = builder_arena(s->b);
    s->n = n;
    s->needed = arena_zero(mem, (size_t)n->nexprs + 1, 1);
    for (int c = 0; c < 5; c++) {
        s->state[c] = arena_zero(mem, (size_t)n->nreductions + 1, sizeof(kval));
        s->scratch[c] = s->scratch[c] ? s->scratch[c] : arena_zero(mem, (size_t)n->nreductions + 1, sizeof(int32_t));
        if (!s->state[c] || !s->scratch[c]) return false;
    }
    return s->needed && emitter_init(&s->e, n, T_I64, mem);
}

static int64_t result_bytes(const nest *n) {
    int64_t most = 0;
    for (int i = 0; i < n->nstores; i++) {
        int64_t bytes = ktype_table[n->operands[n->stores[i].operand].type].size;
        for (int a = 0; a < n->natoms; a++) if (n->stores[i].at.stride[a]) bytes *= n->atoms[a].extent;
        if (bytes > most) most = bytes;
    }
    return most;
}

static kn_status finish_step(cpu_schedule *s, message *m) {
    if (s->e.failed || !kernel_ok(s->e.k)) return fail_memory(m, "scheduling a kernel");
    plan_step *step = builder_step(s->b, STEP_KERNEL);
    if (!step) return fail_memory(m, "scheduling a kernel");
    step->code = s->e.k;
    step->args = s->e.args;
    step->nargs = (int)s->e.nparams;
    step->grid[0] = s->e.args[s->total].value;
    step->grid[1] = step->grid[2] = 1;
    step->serial = s->n->serial;
    step->work = product(s->n, false) * product(s->n, true) * (s->n->nexprs + 1);
    step->note = s->n->note;
    return KN_OK;
}

/* The nest with only those expressions that are still needed; the others no longer ask for parameters. */
static nest *nest_part(const nest *n, const bool *needed, arena *mem) {
    nest *part = arena_alloc(mem, sizeof *part);
    expr *exprs = arena_alloc(mem, ((size_t)n->nexprs + 1) * sizeof *exprs);
    if (!part || !exprs) return NULL;
    *part = *n;
    memcpy(exprs, n->exprs, (size_t)n->nexprs * sizeof *exprs);
    for (int i = 0; i < n->nexprs; i++)
        if (!needed[i]) exprs[i] = (expr){ .kind = EXPR_CONST, .type = T_I32, .index = -1 };
    part->exprs = exprs;
    return part;
}

static bool add_scratch(cpu_schedule *s, int (*memory)[MOST_CUT_REDUCTIONS], bool written) {
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < reduction_width(&s->n->reductions[r]); c++) {
            s->scratch[c][r] = emitter_array(&s->e, written ? "partial" : "partials", reduction_type(&s->n->reductions[r], c),
                                             (place){ PLACE_MEMORY, memory[c][r], 0 }, !written, written);
            if (s->scratch[c][r] < 0) return false;
        }
    return true;
}

/* The second kernel of a cut reduction: for every result, the states of its chunks in order. */
static void combine_body(cpu_schedule *s) {
    emitter *e = &s->e;
    piece none;
    kval grid = open_grid(s, &none, &none);
    declare_states(s);
    kval chunks = loop(s, LOOP_SERIAL, (kval)s->ncuts_param);
    kval at = kb_op(e->k, KOP_add, T_I64, kb_op(e->k, KOP_mul, T_I64, grid, (kval)s->ncuts_param, 0), chunks, 0);
    for (int r = 0; r < s->n->nreductions; r++) {
        const nest_reduction *q = &s->n->reductions[r];
        kval state[5], other[5], both[5];
        get_state(s, r, state);
        for (int c = 0; c < reduction_width(q); c++) other[c] = kb_inst(e->k, K_LOAD, reduction_type(q, c), LOAD_READONLY, (kval)s->scratch[c][r], at, 0);
        reduction_combine(e, q, state, other, both);
        set_state(s, r, both);
    }
    kb_end(e->k, chunks);
    for (int stage = 0; stage <= s->n->nstages; stage++) finish_stage(s, stage);
    results(s, &none);
    for (int i = s->loops.ngrid; i-- > 0;) emitter_close(e, s->loops.outer[i]);
    kb_end(e->k, grid);
}

static kn_status schedule_cut(cpu_schedule *s, message *m) {
    const nest *n = s->n;
    arena *mem = builder_arena(s->b);
    int memory[5][MOST_CUT_REDUCTIONS];
    int64_t results_count = product(n, false);
    for (int r = 0; r < n->nreductions; r++)
        for (int c = 0; c < reduction_width(&n->reductions[r]); c++) {
            int size = ktype_table[reduction_type(&n->reductions[r], c)].size;
            if ((memory[c][r] = builder_memory(s->b, results_count * s->loops.ncuts * size, false)) < 0) return fail_memory(m, "scheduling a reduction");
        }
    bool *needed = arena_zero(mem, (size_t)n->nexprs + 1, 1);
    if (!needed) return fail_memory(m, "scheduling a reduction");
    for (int r = 0; r < n->nreductions; r++) for (int c = 0; c < n->reductions[r].nstate; c++) nest_closure(n, needed, n->reductions[r].lifted[c]);
    nest *first = nest_part(n, needed, mem);
    if (!first) return fail_memory(m, "scheduling a reduction");
    first->nstores = 0;
    s->partial = true;
    if (!prepare(s, first) || !add_scratch(s, memory, true)) return fail_memory(m, "scheduling a reduction");
    integer_args(s);
    if (!emitter_start(&s->e, n->name)) return fail_memory(m, "scheduling a reduction");
    s->e.k->lanes = (uint16_t)s->loops.lanes;
    kernel_body(s);
    kn_status status = finish_step(s, m);
    if (status) return status;

    memset(needed, 0, (size_t)n->nexprs);
    for (int i = 0; i < n->nstores; i++) nest_closure(n, needed, n->stores[i].value);
    nest *second = nest_part(n, needed, mem);
    if (!second) return fail_memory(m, "scheduling a reduction");
    second->natoms = 0;
    cpu_loops loops = { .lane = -1, .cut = -1, .across = -1, .lanes = 0 };
    int64_t cuts = s->loops.ncuts;
    for (int a = 0; a < n->natoms; a++) {
        if (n->atoms[a].reduced) continue;
        loops.outer[loops.nouter++] = second->natoms;
        second->natoms = a + 1;               /* outer atoms come first: nest_finish orders them so */
    }
    loops.ngrid = loops.nouter;
    s->loops = loops;
    s->partial = false;
    if (!prepare(s, second) || !add_scratch(s, memory, false)) return fail_memory(m, "scheduling a reduction");
    integer_args(s);
    s->ncuts_param = emitter_param(&s->e, "chunks", T_I64, (plan_arg){ .kind = ARG_INTEGER, .value = cuts });
    if (!emitter_start(&s->e, n->name)) return fail_memory(m, "scheduling a reduction");
    combine_body(s);
    return finish_step(s, m);
}

kn_status schedule_cpu(const nest *n, const device_profile *p, plan_builder *b, message *m) {
    cpu_schedule s = { .n = n, .p = p, .b = b, .loops = choose_loops(n, p) };
    if (s.loops.cut >= 0 && n->nreductions <= MOST_CUT_REDUCTIONS) return schedule_cut(&s, m);
    s.loops.cut = -1;
    if (result_bytes(n) >= STREAM_BYTES && !n->serial) s.flags = STORE_STREAM;
    if (!prepare(&s, n)) return fail_memory(m, "scheduling a kernel");
    integer_args(&s);
    if (!emitter_start(&s.e, n->name)) return fail_memory(m, "scheduling a kernel");
    s.e.k->lanes = s.loops.lane >= 0 ? (uint16_t)s.loops.lanes : 0;
    kernel_body(&s);
    return finish_step(&s, m);
}
