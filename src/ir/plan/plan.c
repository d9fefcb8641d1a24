/* plan.c: the pipeline: slice -> partition -> nests -> schedule -> kernel IR -> verify, and where everything lies.
 *
 * How it works: the partition says which groups there are and in which order they run; each is lowered to a nest, finished,
 * scheduled and verified before the next. Memory is numbered as groups come, lives are found at the end. The passes
 * themselves are in the other files and must stay there. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ir/plan/internal.h"

/* ---- switches ---- */

enum { DUMP_FUSE = 1, DUMP_KERNEL = 2, DUMP_PLAN = 4 };

static int dump_switch(void) {
    const char *s = getenv("KILN_DUMP");
    if (!s || !*s) return 0;
    return (strstr(s, "fuse") ? DUMP_FUSE : 0) | (strstr(s, "kernel") ? DUMP_KERNEL : 0) | (strstr(s, "plan") ? DUMP_PLAN : 0);
}

/* The one thing in this library that writes without being asked by the program: asked by the user's KILN_DUMP. */
static void write_dump(const text *t) {
    const char *path = getenv("KILN_DUMP_FILE");
    int fd = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : 2;
    size_t done = 0;
    while (fd >= 0 && done < t->len) {
        ssize_t n = write(fd, t->at + done, t->len - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    if (fd > 2) close(fd);
}

static bool verifies(void) {
#ifdef KILN_TEST_BUILD
    return true;
#else
    const char *s = getenv("KILN_VERIFY");
    return s && *s && strcmp(s, "0") != 0;
#endif
}

/* ---- where values lie ---- */

static kn_status place_new(partition *p, plan_builder *b, uint32_t v) {
    int index = builder_memory(b, value_bytes(p->notes[v].n), false);
    if (index < 0) return fail_memory(p->m, "making a plan");
    p->notes[v].at = (place){ PLACE_MEMORY, index, 0 };
    return KN_OK;
}

/* The leaf's own buffer as memory of the plan, so that it can be written. */
static kn_status take_leaf(partition *p, plan_builder *b, uint32_t leaf) {
    note *q = &p->notes[leaf];
    if (q->at.kind == PLACE_MEMORY) return KN_OK;
    kn_status status = place_new(p, b, leaf);
    if (status) return status;
    b->p->memory[q->at.index].reuses_leaf = (int32_t)(leaf - p->nnodes);
    return KN_OK;
}

static kn_status place_anchor(partition *p, plan_builder *b, const group *g, uint32_t v) {
    note *q = &p->notes[v];
    q->placed = true;
    if (g->kind == GROUP_ALIAS) {
        q->at = p->notes[g->reads[0]].at;
        return KN_OK;
    }
    bool writes = q->n->kind == NODE_WRITE || q->n->kind == NODE_SCATTER;
    if (!writes || !q->n->size || q->way != WRITE_IN_PLACE) return anchor_is_stored(p, v) || g->kind != GROUP_KERNEL ? place_new(p, b, v) : KN_OK;
    if (is_leaf(p, q->base)) {
        kn_status status = take_leaf(p, b, q->base);
        if (status) return status;
    }
    q->at = p->notes[q->base].at;
    return KN_OK;
}

/* Every leaf that is taken over is known as memory before any kernel names it. */
static kn_status place_values(partition *p, plan_builder *b) {
    for (uint32_t v = p->nnodes; v < p->nnodes + (uint32_t)p->s->nleaves; v++) p->notes[v].at = (place){ PLACE_LEAF, (int32_t)(v - p->nnodes), 0 };
    for (uint32_t v = 0; v < p->nnodes; v++) {
        const note *q = &p->notes[v];
        if (!q->anchor || (q->n->kind != NODE_WRITE && q->n->kind != NODE_SCATTER) || q->way != WRITE_IN_PLACE || !is_leaf(p, q->base)) continue;
        kn_status status = take_leaf(p, b, q->base);
        if (status) return status;
    }
    for (uint32_t i = 0; i < p->nrun; i++) {
        const group *g = &p->groups[p->run_order[i]];
        for (uint32_t j = 0; j < g->nanchors; j++) {
            kn_status status = place_anchor(p, b, g, g->anchors[j]);
            if (status) return status;
        }
    }
    return KN_OK;
}

/* ---- steps ---- */

kn_status plan_schedule(partition *p, plan_builder *b, nest *n) {
    int before = b->p->nsteps;
    kn_status status = nest_finish(n, p->mem, p->m);
    if (!status && p->o->each_nest) p->o->each_nest(p->o->arg, n, before);
    if (!status) status = p->p->target == TARGET_CPU ? schedule_cpu(n, p->p, b, p->m) : schedule_gpu(n, p->p, b, p->m);
    if (status || !verifies()) return status;
    for (int i = before; i < b->p->nsteps && !status; i++)
        if (b->p->steps[i].kind == STEP_KERNEL) status = kernel_verify(b->p->steps[i].code, p->m);
    return status;
}

static kn_status kernel_of(partition *p, plan_builder *b, const group *g, scatter_pass pass, int winners) {
    nest *n = arena_alloc(&b->p->mem, sizeof *n);
    if (!n) return fail_memory(p->m, "making a plan");
    kn_status status = lower_group(p, g, b, n, pass, winners, p->m);
    if (status) return status;
    if (!(n->comment = expression_of(p, g, &b->p->mem))) return fail_memory(p->m, "making a plan");
    return plan_schedule(p, b, n);
}

/* Assigning by index, last wins, without going through the elements in order: worth it on GPUs, where there is enough to do
 * and the marks are not much more than the elements. */
static bool in_two_passes(const partition *p, const group *g) {
    const node *n = p->notes[g->anchors[0]].n;
    if (n->kind != NODE_SCATTER || n->attr.gather.mode != SCATTER_SET || p->p->target == TARGET_CPU) return false;
    return n->in[1]->size > 64 && n->in[1]->size < INT32_MAX && n->size / 64 < n->in[1]->size;
}

static kn_status kernel_steps(partition *p, plan_builder *b, const group *g) {
    kn_status status = KN_OK;
    b->note = g->most < p->nnodes ? (int)g->most : 0;
    for (uint32_t i = 0; i < g->nanchors && !status; i++) {
        const note *q = &p->notes[g->anchors[i]];
        bool writes = q->n->kind == NODE_WRITE || q->n->kind == NODE_SCATTER;
        if (writes && (q->way == WRITE_COPY || q->way == WRITE_COMPLEMENT)) status = copy_base(p, b, g->anchors[i]);
    }
    if (status || !g->d.outer) return status;
    if (!in_two_passes(p, g)) return kernel_of(p, b, g, SCATTER_IN_ORDER, -1);
    int winners = builder_memory(b, p->notes[g->anchors[0]].n->size * (int64_t)sizeof(int32_t), true);
    if (winners < 0) return fail_memory(p->m, "making a plan");
    status = kernel_of(p, b, g, SCATTER_MARK, winners);
    return status ? status : kernel_of(p, b, g, SCATTER_LAST, winners);
}

static kn_status fill_operand(const partition *p, arena *mem, const node *n, uint32_t value, const window *w, struct opaque_operand *o) {
    int64_t size = (int64_t)dtype_size((kn_dtype)n->dtype), weight = size;
    int64_t *shape = arena_copy(mem, n->shape, (size_t)n->ndim * sizeof *shape), *strides = arena_alloc(mem, ((size_t)n->ndim + 1) * sizeof *strides);
    if (!shape || !strides) return fail_memory(p->m, "making a plan");
    for (int d = n->ndim; d-- > 0;) {
        strides[d] = w ? w->strides[d] * size : weight;
        weight *= n->shape[d];
    }
    *o = (struct opaque_operand){ .at = p->notes[value].at, .dtype = (kn_dtype)n->dtype, .ndim = n->ndim, .shape = shape, .strides = strides };
    if (w) o->at.offset += w->offset * size;
    return KN_OK;
}

/* Results that nobody asked for have no node: their operand has dtype KN_DTYPE_UNSET and a few bytes of memory. */
static kn_status opaque_step(const partition *p, plan_builder *b, const group *g) {
    const node *n = p->notes[g->anchors[0]].n;
    arena *mem = &b->p->mem;
    int nout = family_ops[n->op].nout;
    for (uint32_t i = 0; i < g->nanchors; i++) if (p->notes[g->anchors[i]].n->which >= nout) nout = p->notes[g->anchors[i]].n->which + 1;
    b->note = (int)g->most;
    plan_step *s = builder_step(b, STEP_OPAQUE);
    struct opaque_operand *operands = arena_zero(mem, (size_t)(n->nin + nout), sizeof *operands);
    int64_t *attr = arena_copy(mem, n->attr.opaque.attr, (size_t)n->attr.opaque.nattr * sizeof *attr);
    if (!s || !operands || !attr) return fail_memory(p->m, "making a plan");
    s->operation = n->op;
    s->operands = operands;
    s->nin = n->nin;
    s->nout = nout;
    s->attr = attr;
    s->nattr = n->attr.opaque.nattr;
    for (int i = 0; i < n->nin; i++) {
        uint32_t value;
        const window *w;
        if (!memory_window(p, n->in[i], &value, &w)) return fail(p->m, KN_RUNTIME_ERROR, "an operand of a library is not in memory");
        kn_status status = fill_operand(p, mem, n->in[i], value, w, &operands[i]);
        if (status) return status;
    }
    for (int i = 0; i < nout; i++) {
        uint32_t j = 0;
        while (j < g->nanchors && p->notes[g->anchors[j]].n->which != i) j++;
        kn_status status = KN_OK;
        if (j < g->nanchors) status = fill_operand(p, mem, p->notes[g->anchors[j]].n, g->anchors[j], NULL, &operands[n->nin + i]);
        else operands[n->nin + i].at = (place){ PLACE_MEMORY, builder_memory(b, 16, false), 0 };
        if (status || operands[n->nin + i].at.index < 0) return status ? status : fail_memory(p->m, "making a plan");
    }
    return KN_OK;
}

static kn_status all_steps(partition *p, plan_builder *b) {
    kn_status status = place_values(p, b);
    for (uint32_t i = 0; i < p->nrun && !status; i++) {
        const group *g = &p->groups[p->run_order[i]];
        if (g->kind == GROUP_KERNEL) status = kernel_steps(p, b, g);
        if (g->kind == GROUP_OPAQUE) status = opaque_step(p, b, g);
    }
    return status;
}

static kn_status list_results(const partition *p, plan *q) {
    q->results = arena_alloc(&q->mem, ((size_t)p->nnodes + 1) * sizeof *q->results);
    if (!q->results) return fail_memory(p->m, "making a plan");
    for (uint32_t v = 0; v < p->nnodes; v++)
        if (p->notes[v].wanted) q->results[q->nresults++] = (plan_result){ (int)v, p->notes[v].at };
    return KN_OK;
}

/* ---- plan_build ---- */

static void dump(const partition *p, const plan *q, int what) {
    text t = { 0 };
    if (what & DUMP_FUSE) { explain_graph(p, &t); explain_plan(p, q, &t); }
    if (what & DUMP_PLAN) dump_plan(q, &t);
    for (int i = 0; i < q->nsteps && what & DUMP_KERNEL; i++) if (q->steps[i].kind == STEP_KERNEL) kernel_dump(q->steps[i].code, &t);
    if (t.at && !t.failed) write_dump(&t);
    text_free(&t);
}

plan *plan_build(const slice *s, const device_profile *profile, const plan_options *o, message *m) {
    static const plan_options plain;
    arena scratch = { 0 };
    int dumps = dump_switch();
    plan *q = mem_zero(1, sizeof *q);
    if (!q) { fail_memory(m, "making a plan"); return NULL; }
    q->profile = profile;
    partition p = { .s = s, .p = profile, .o = o ? o : &plain, .mem = &scratch, .m = m };
    plan_builder b = { .p = q };
    text why = { 0 };
    if (p.o->explain || dumps & DUMP_FUSE) p.why = &why;
    kn_status status = partition_run(&p);
    if (!status) status = all_steps(&p, &b);
    if (!status) status = list_results(&p, q);
    if (!status) status = plan_liveness(q, &scratch, m);
    for (uint32_t i = 0; i < p.nrun && !status; i++) q->bytes_moved += p.groups[p.run_order[i]].bytes;
    if (!status && p.o->explain) {
        explain_graph(&p, &q->why);
        explain_plan(&p, q, &q->why);
        if (q->why.failed) status = fail_memory(m, "explaining a plan");
    }
    if (!status && dumps) dump(&p, q, dumps);
    text_free(&why);
    arena_free(&scratch);
    if (!status) return q;
    plan_free(q);
    return NULL;
}

void plan_free(plan *q) {
    if (!q) return;
    text_free(&q->why);
    arena_free(&q->mem);
    mem_free(q);
}
