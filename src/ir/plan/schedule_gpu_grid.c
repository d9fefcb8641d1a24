/* schedule_gpu_grid.c: up to three axes of blocks and threads over the atoms of a map.
 *
 * How it works: two atoms have an axis each, so that no index is divided; all others share the third. Blocks along y and z are
 * limited in number: where there may be more, blocks go on in strides. What a thread does is not decided here. */
#include "ir/plan/schedule_gpu.h"

#define MOST_BLOCKS 65535        /* along y and z, for every device */

bool is_gpu_map(const nest *n) {
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced) return false;
    return !n->nreductions && !n->serial && n->natoms > 0;
}

kval map_name(emitter *e, kval v, const char *name) {
    kernel *k = e->k;
    if (!kernel_ok(k) || k->code[v].op == K_CONST || k->code[v].op == K_PARAM || (k->names && k->names[v])) return v;
    kb_name(k, v, name);
    return v;
}

static void add_atom(gpu_grid *g, int axis, const nest *n, int a) {
    gpu_axis *x = &g->axis[axis];
    if (axis >= g->naxes) {
        g->naxes = axis + 1;
        *x = (gpu_axis){ .extent = 1, .threads = 1, .each = 1 };
    }
    x->atoms[x->natoms++] = a;
    x->extent *= n->atoms[a].extent;
}

void grid_atoms(gpu_grid *g, const nest *n, int x, int y) {
    static const char *const one[] = { "i" }, *const count_one[] = { "n" }, *const more[] = { "column", "row", "plane" }, *const count_more[] = { "columns", "rows", "planes" };
    *g = (gpu_grid){ 0 };
    add_atom(g, 0, n, x);
    if (y >= 0) add_atom(g, 1, n, y);
    for (int a = 0; a < n->natoms; a++) if (a != x && a != y) add_atom(g, y < 0 ? 1 : 2, n, a);
    for (int i = 0; i < g->naxes; i++) {
        g->axis[i].name = g->naxes == 1 ? one[i] : more[i];
        g->axis[i].count = g->naxes == 1 ? count_one[i] : count_more[i];
    }
}

bool grid_params(gpu_grid *g, emitter *e) {
    for (int i = 0; i < g->naxes; i++) {
        gpu_axis *x = &g->axis[i];
        if (x->natoms == 1) {
            x->param = e->extent[x->atoms[0]];
            e->params[x->param].name = x->count;
        } else {
            x->param = emitter_param(e, x->count, e->index, (plan_arg){ .kind = ARG_INTEGER, .value = x->extent });
        }
        if (x->param < 0) return false;
    }
    return true;
}

static int64_t blocks(const gpu_axis *x) { return (x->extent + x->each - 1) / x->each; }
static bool strides(const gpu_grid *g, int i) { return i && blocks(&g->axis[i]) > MOST_BLOCKS; }

void grid_open(gpu_grid *g, emitter *e) {
    kval zero = emitter_integer(e, 0), one = emitter_integer(e, 1);
    for (int i = g->naxes; i-- > 0;) {
        gpu_axis *x = &g->axis[i];
        kval count = (kval)x->param;
        if (x->each > 1) count = map_op(e, KOP_div, map_op(e, KOP_add, count, emitter_integer(e, x->each - 1)), emitter_integer(e, x->each));
        x->block = g->opened[g->nopened++] = kb_for(e->k, LOOP_GRID | i << 4 | (strides(g, i) ? LOOP_STRIDE : 0), e->index, zero, count, one);
    }
    for (int i = g->naxes; i-- > 0;) {
        gpu_axis *x = &g->axis[i];
        e->k->block[i] = (uint16_t)x->threads;
        x->thread = zero;
        if (x->threads > 1 || !i) x->thread = g->opened[g->nopened++] = kb_for(e->k, LOOP_BLOCK | i << 4, e->index, zero, emitter_integer(e, x->threads), one);
    }
    for (int i = g->naxes; i < 3; i++) e->k->block[i] = 1;
    emitter_push(e);
}

void grid_close(gpu_grid *g, emitter *e) {
    emitter_pop(e);
    while (g->nopened) kb_end(e->k, g->opened[--g->nopened]);
}

void grid_open_rest(gpu_grid *g, emitter *e, kval linear) {
    const gpu_axis *x = &g->axis[g->naxes - 1];
    for (int i = x->natoms; i-- > 0;) {
        kval index = linear, extent = emitter_extent(e, x->atoms[i]);
        if (i) {
            kval next = map_op(e, KOP_div, linear, extent);
            index = map_op(e, KOP_sub, linear, map_op(e, KOP_mul, next, extent));
            linear = next;
        }
        emitter_open(e, x->atoms[i], index);
    }
}

void grid_close_rest(gpu_grid *g, emitter *e) {
    for (int i = 0; i < g->axis[g->naxes - 1].natoms; i++) emitter_close(e, g->axis[g->naxes - 1].atoms[i]);
}

kn_status grid_step(gpu_grid *g, emitter *e, plan_builder *b, int64_t work, message *m) {
    if (e->failed || !kernel_ok(e->k)) return fail_memory(m, "scheduling a kernel");
    plan_step *step = builder_step(b, STEP_KERNEL);
    if (!step) return fail_memory(m, "scheduling a kernel");
    step->code = e->k;
    step->args = e->args;
    step->nargs = (int)e->nparams;
    for (int i = 0; i < 3; i++) {
        step->grid[i] = i < g->naxes ? blocks(&g->axis[i]) : 1;
        if (i && step->grid[i] > MOST_BLOCKS) step->grid[i] = MOST_BLOCKS;
    }
    step->work = work;
    step->note = e->n->note;
    return KN_OK;
}
