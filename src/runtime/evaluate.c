/* evaluate.c: values on demand.
 *
 * How it works: one evaluation is walk -> key -> plan (found or made) -> run -> publish. The graph mutex is held to walk,
 * to plan and to publish, never while compiling or running. Nodes being computed are SCHEDULED; others who need them wait.
 *
 * The loop rule: a node that a plan computed without storing it remembers that plan. When a later evaluation needs it
 * again, it is evaluated on its own once, and the plan learns to store it: from the next time round the loop on, it is there.
 *
 * Arrays updated in place that nobody reads (x += ...) would pile up work; they are registered here, and an evaluation
 * takes along those that share its operands. How kernels look must not be put here. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/gpu/gpu.h"
#include "runtime/internal.h"

pthread_mutex_t graph_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t graph_changed = PTHREAD_COND_INITIALIZER;
static walk w;                                     /* guarded by graph_mutex */
static struct { uint64_t evaluations, hits, built; } counts;
static int running;                                /* plans being run at present */

#define MOST_UPDATES 256
#define COMPANION_DEPTH 64
static struct { node *const *slot[MOST_UPDATES]; int n; } updates;

/* ---- faults ---- */

typedef struct fault_text { kn_status status; char text[]; } fault_text;

static void fault_destroy(buffer *b) {
    mem_free(b->data);
    mem_free(b);
}

static buffer *fault_buffer(kn_status status, const char *sentence) {
    size_t n = strlen(sentence) + 1;
    fault_text *t = mem_alloc(sizeof *t + n);
    buffer *b = t ? host_buffer(t, sizeof *t + n, true, fault_destroy, NULL, NULL) : NULL;
    if (!b) { mem_free(t); return NULL; }
    t->status = status;
    memcpy(t->text, sentence, n);
    return b;
}

/* For the moment when there is no memory to say what was wrong. Never freed: one reference is its own. */
static void stays(buffer *b) { (void)b; }
static struct { kn_status status; char text[80]; } untold_text = { KN_MEMORY_ERROR, "out of memory while telling why a computation failed" };
_Static_assert(sizeof(fault_text) == offsetof(fault_text, text), "laid out as a fault_text");
static buffer untold = { .refs = 1, .device = KN_CPU, .readonly = true, .data = &untold_text, .size = sizeof untold_text, .destroy = stays };

static buffer *fault_or_untold(kn_status status, const char *sentence) {
    buffer *b = fault_buffer(status, sentence);
    return b ? b : buffer_keep(&untold);
}

const char *node_message(const node *n, kn_status *status) {
    const fault_text *t = __atomic_load_n(&n->state, __ATOMIC_ACQUIRE) == NODE_FAULT && n->value ? n->value->data : NULL;
    *status = t ? t->status : KN_RUNTIME_ERROR;
    return t ? t->text : "the computation failed";
}

/* ---- making a plan ---- */

static bool find_kernels(plan_variant *v, message *m) {
    v->kernels = mem_zero((size_t)v->p->nsteps + 1, sizeof *v->kernels);
    if (!v->kernels) { fail_memory(m, "making a plan"); return false; }
    for (int i = 0; i < v->p->nsteps; i++)
        if (v->p->steps[i].kind == STEP_KERNEL && !(v->kernels[i] = v->on->kernel(v->on, v->p->steps[i].code, m))) return false;
    for (int i = 0; i < v->p->nmemory; i++) if (v->p->memory[i].block >= v->nblocks) v->nblocks = v->p->memory[i].block + 1;
    if (!v->nblocks) return true;
    v->block_bytes = mem_zero((size_t)v->nblocks, sizeof *v->block_bytes);
    if (!v->block_bytes) { fail_memory(m, "making a plan"); return false; }
    for (int i = 0; i < v->p->nmemory; i++) {
        const plan_memory *q = &v->p->memory[i];
        if (q->block >= 0 && q->bytes > v->block_bytes[q->block]) v->block_bytes[q->block] = q->bytes;
    }
    return true;
}

static slice slice_of_walk(void) {
    return (slice){ .nodes = w.nodes, .nnodes = (int)w.nnodes, .leaves = w.leaves, .nleaves = (int)w.nleaves, .scalars = w.scalars,
                    .nscalars = (int)w.nscalars, .wanted = w.wanted, .overwritable = w.overwritable };
}

static plan_variant *variant_new(device *on, message *m) {
    plan_variant *v = mem_zero(1, sizeof *v);
    if (!v) { fail_memory(m, "making a plan"); return NULL; }
    v->refs = 1;
    v->on = on;
    slice s = slice_of_walk();
    plan_options o = { 0 };
    const char *fusion = getenv("KILN_FUSION");
    o.no_fusion = fusion && !strcmp(fusion, "0");
    v->p = plan_build(&s, profile_named(on->profile), &o, m);
    if (v->p && find_kernels(v, m)) return v;
    variant_drop(v);
    return NULL;
}

/* The plan for the walk's slice: found, or made and kept. A new reference. alone: nothing but the roots is stored. */
static plan_variant *find_plan(node *const *roots, int nroots, bool alone, plan_entry **entry, message *m) {
    device *on = device_current();
    if (!walk_key(&w, roots, nroots, on->kind)) { fail_memory(m, "looking up a plan"); return NULL; }
    uint64_t hash = hash_bytes(w.key, w.nkey * sizeof *w.key, 0);
    plan_entry *e = plans_find(hash, w.key, w.nkey);
    if (!e && !(e = plans_add(hash, w.key, w.nkey, w.nnodes))) { fail_memory(m, "keeping a plan"); return NULL; }
    if (!walk_wanted(&w, roots, nroots, alone ? NULL : e->exports)) { fail_memory(m, "making a plan"); return NULL; }
    plan_variant *v = plans_variant(e, &w);
    if (v) {
        counts.hits++;
    } else {
        if (!(v = variant_new(on, m))) return NULL;
        counts.built++;
        if (!plans_add_variant(e, &w, v)) { variant_drop(v); fail_memory(m, "keeping a plan"); return NULL; }
    }
    *entry = e;
    __atomic_fetch_add(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

/* ---- running and publishing ---- */

typedef struct evaluation {
    run_frame f;
    node **results; int nresults;                  /* of the plan, each kept */
    bool *risky; int nrisky;                       /* which of them come from what may fail */
    node **gone;                                   /* room for all their inputs */
    node **noted; uint32_t nnoted;                 /* computed through; kept */
    arena mem;
    uint32_t entry;                                /* number of the plan's entry */
} evaluation;

static bool frame_fill(evaluation *x, plan_variant *v) {
    run_frame *f = &x->f;
    const plan *p = v->p;
    f->v = v;
    f->fault = FAULT_NONE;
    f->nleaves = w.nleaves;
    f->nscalars = w.nscalars;
    f->leaf_buffers = arena_zero(&x->mem, w.nleaves + 1, sizeof *f->leaf_buffers);
    f->leaf_data = arena_zero(&x->mem, w.nleaves + 1, sizeof *f->leaf_data);
    f->leaf_offsets = arena_zero(&x->mem, w.nleaves + 1, sizeof *f->leaf_offsets);
    f->scalars = arena_zero(&x->mem, w.nscalars + 1, sizeof *f->scalars);
    f->memory = arena_zero(&x->mem, (size_t)p->nmemory + 1, sizeof *f->memory);
    f->memory_data = arena_zero(&x->mem, (size_t)p->nmemory + 1, sizeof *f->memory_data);
    x->results = arena_zero(&x->mem, (size_t)p->nresults + 1, sizeof *x->results);
    x->noted = arena_zero(&x->mem, w.nnodes + 1, sizeof *x->noted);
    uint32_t inputs = 0;
    for (int i = 0; i < p->nresults; i++) inputs += w.nodes[p->results[i].node]->nin;
    x->risky = arena_zero(&x->mem, (size_t)p->nresults + 1, sizeof *x->risky);
    x->gone = arena_zero(&x->mem, inputs + 1, sizeof *x->gone);
    if (!x->risky || !x->gone) return false;
    if (!f->leaf_buffers || !f->leaf_data || !f->leaf_offsets || !f->scalars || !f->memory || !f->memory_data || !x->results || !x->noted) return false;
    for (uint32_t i = 0; i < w.nleaves; i++) {
        f->leaf_buffers[i] = buffer_keep(w.leaves[i]->value);
        f->leaf_offsets[i] = w.leaves[i]->offset;
    }
    for (uint32_t i = 0; i < w.nscalars; i++) f->scalars[i] = w.scalars[i]->attr.number;
    return true;
}

/* Worth remembering that it was computed and not stored: it cost something, and is not just an index or a view. */
static bool notable(const node *n) {
    return n->kind == NODE_MAP || n->kind == NODE_REDUCE || n->kind == NODE_SCAN || n->kind == NODE_GATHER || n->kind == NODE_WRITE ||
           n->kind == NODE_SCATTER || n->kind == NODE_OPAQUE;
}

/* Takes hold of everything the run needs from the walk, which another thread may redo once the mutex is free. */
static bool evaluation_begin(evaluation *x, plan_variant *v, plan_entry *e) {
    if (!frame_fill(x, v)) return false;
    x->entry = e->number;
    for (int i = 0; i < v->p->nresults; i++) {
        node *n = w.nodes[v->p->results[i].node];
        x->risky[i] = w.marked[v->p->results[i].node];
        x->nrisky += x->risky[i];
        x->results[x->nresults++] = node_keep(n);
        __atomic_store_n(&n->state, NODE_SCHEDULED, __ATOMIC_RELEASE);
        n->plan_note = NULL;
    }
    for (uint32_t i = 0; i < w.nnodes; i++) {
        node *n = w.nodes[i];
        if (w.wanted[i]) {
            if (!(e->exports[i] & EXPORT_ON)) continue;
            n->plan_note = (void *)(uintptr_t)e->number;     /* tells the plan when the stored value is read */
            n->plan_slot = i;
            if ((e->exports[i] & EXPORT_IDLE) >= 8) e->exports[i] = 0;
            else e->exports[i]++;
        } else if (notable(n)) {
            x->noted[x->nnoted++] = node_keep(n);
            n->plan_slot = i;
        }
    }
    return true;
}

/* Gives a finished node its memory; its inputs are no longer needed and are handed back for dropping. */
static uint32_t publish(node *n, buffer *b, int64_t offset, node_state state, node **gone) {
    uint32_t ngone = 0;
    n->value = b;
    n->offset = offset;
    node_lock(n);                                  /* views recorded meanwhile look through this one */
    for (int i = 0; i < n->nin; i++) gone[ngone++] = n->in[i];
    n->nin = 0;
    __atomic_store_n(&n->work, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&n->state, state, __ATOMIC_RELEASE);
    node_unlock(n);
    return ngone;
}

static bool overwrites(const plan *p) {
    for (int i = 0; i < p->nmemory; i++) if (p->memory[i].reuses_leaf >= 0) return true;
    return false;
}

/* What becomes of a result. Only the first thing that failed is known: another result that may have failed too is computed
 * again by itself, unless memory that it needs has been overwritten. Outside memory, a step that fails in the middle counts
 * as a fault of everything for the same reason. */
static node_state outcome(const evaluation *x, int i, kn_status status, bool fault) {
    bool final = overwrites(x->f.v->p);
    if (status) return final && x->f.started ? NODE_FAULT : NODE_PENDING;
    if (!fault || (!x->risky[i] && x->nrisky)) return NODE_READY;
    return final || x->nrisky <= 1 ? NODE_FAULT : NODE_PENDING;
}

static void publish_results(evaluation *x, kn_status status, buffer *fault) {
    const plan *p = x->f.v->p;
    uint32_t ngone = 0;
    pthread_mutex_lock(&graph_mutex);
    running--;
    for (int i = 0; i < x->nresults; i++) {
        node *n = x->results[i];
        node_state state = outcome(x, i, status, !status && fault);
        const place *at = &p->results[i].at;
        if (state == NODE_PENDING) {
            __atomic_store_n(&n->state, NODE_PENDING, __ATOMIC_RELEASE);
        } else if (state == NODE_FAULT) {
            ngone += publish(n, buffer_keep(fault), 0, NODE_FAULT, x->gone + ngone);
        } else {
            buffer *b = at->kind == PLACE_LEAF ? x->f.leaf_buffers[at->index] : x->f.memory[at->index];
            char *data = at->kind == PLACE_LEAF ? x->f.leaf_data[at->index] : x->f.memory_data[at->index];
            ngone += publish(n, buffer_keep(b), data - (char *)b->data + at->offset, NODE_READY, x->gone + ngone);
        }
    }
    if (!fault)
        for (uint32_t i = 0; i < x->nnoted; i++)
            if (x->noted[i]->state == NODE_PENDING) x->noted[i]->plan_note = (void *)(uintptr_t)x->entry;
    pthread_cond_broadcast(&graph_changed);
    pthread_mutex_unlock(&graph_mutex);
    for (uint32_t i = 0; i < ngone; i++) node_drop(x->gone[i]);
}

static void evaluation_end(evaluation *x) {
    for (int i = 0; i < x->nresults; i++) node_drop(x->results[i]);
    for (uint32_t i = 0; i < x->nnoted; i++) node_drop(x->noted[i]);
    for (uint32_t i = 0; i < x->f.nleaves && x->f.leaf_buffers; i++) buffer_drop(x->f.leaf_buffers[i]);
    if (x->f.memory && x->f.v) for (int i = 0; i < x->f.v->p->nmemory; i++) buffer_drop(x->f.memory[i]);
    variant_drop(x->f.v);
    arena_free(&x->mem);
}

static buffer *fault_of_run(const run_frame *f) {
    unsigned code = (unsigned)(f->fault >> 48);
    for (int i = 0; i < f->v->p->nfaults; i++) {
        const fault_note *n = &f->v->p->faults[i];
        if (n->code != code) continue;
        int64_t at = (int64_t)(f->fault << 16) >> 16;
        message m = { 0 };
        fail(&m, n->status, n->text, (long long)at);      /* texts are ours and have one %lld at most */
        return fault_or_untold(n->status, m.text);
    }
    return fault_or_untold(KN_RUNTIME_ERROR, "the computation failed");
}

/* ---- one evaluation ---- */

static bool shares_operands(node *n) {
    node *queue[COMPANION_DEPTH];
    int have = 0;
    queue[have++] = n;
    for (int i = 0; i < have; i++) {
        for (int j = 0; j < queue[i]->nin; j++) {
            node *c = queue[i]->in[j];
            if (walk_holds(c) && c->kind != NODE_SCALAR) return true;
            if (have < COMPANION_DEPTH && !node_ready(c)) queue[have++] = c;
        }
    }
    return false;
}

/* Adds the pending in-place updates that share operands with the walk to the roots. */
static int add_companions(node **roots, int nroots, int most, bool learn) {
    for (int i = 0; i < updates.n && nroots < most; i++) {
        node *n = *updates.slot[i];
        if (!n || __atomic_load_n(&n->state, __ATOMIC_ACQUIRE) != NODE_PENDING || walk_holds(n) || !shares_operands(n)) continue;
        if (!walk_add_root(&w, n, learn)) return -1;
        roots[nroots++] = n;
    }
    return nroots;
}

/* Counts every frontier node as a result that its plan should have stored. */
static void learn_exports(void) {
    for (uint32_t i = 0; i < w.nfrontier; i++) {
        node *n = w.frontier[i];
        plan_entry *e = plans_numbered((uint32_t)(uintptr_t)n->plan_note);
        if (e && n->plan_slot < e->nnodes) e->exports[n->plan_slot] = EXPORT_ON;
    }
}

/* Number of a leaf whose computation failed, or NO_LEAF. */
static uint32_t faulty_leaf(void) {
    for (uint32_t i = 0; i < w.nleaves; i++) if (w.leaves[i]->state == NODE_FAULT && w.leaves[i]->value) return i;
    return NO_LEAF;
}

/* Roots that need the faulty leaf become faults themselves. Mutex held. */
static bool spread_fault(node *const *roots, int nroots, uint32_t leaf) {
    if (!walk_mark(&w, leaf)) return false;
    for (int i = 0; i < nroots; i++) {
        node *n = roots[i];
        if (n->state != NODE_PENDING || n->slot >= w.nnodes || !w.marked[n->slot]) continue;
        n->value = buffer_keep(w.leaves[leaf]->value);
        n->offset = 0;
        __atomic_store_n(&n->state, NODE_FAULT, __ATOMIC_RELEASE);
    }
    pthread_cond_broadcast(&graph_changed);
    return true;
}

/* LEARN: what an earlier plan computed through is evaluated first. ALONE: nothing else is evaluated or stored along the way. */
typedef enum { PLAIN, LEARN, ALONE } manner;
static kn_status evaluate_once(node *const *roots, int nroots, manner how, message *m);

static kn_status evaluate_each(node *const *roots, int nroots, message *m) {
    kn_status status = KN_OK;
    for (int i = 0; i < nroots && !status; i++) if (!node_ready(roots[i])) status = evaluate_once(&roots[i], 1, ALONE, m);
    return status;
}

static kn_status evaluate_frontier(message *m) {
    uint32_t n = w.nfrontier;
    node **first = mem_array(n, sizeof *first);
    if (!first) { pthread_mutex_unlock(&graph_mutex); return fail_memory(m, "evaluating"); }
    learn_exports();
    for (uint32_t i = 0; i < n; i++) first[i] = node_keep(w.frontier[i]);
    pthread_mutex_unlock(&graph_mutex);
    kn_status status = evaluate_once(first, (int)n, PLAIN, m);
    for (uint32_t i = 0; i < n; i++) node_drop(first[i]);
    mem_free(first);
    return status;
}

/* Walks until nothing below is being computed by others. Mutex held. */
static bool walk_settled(node *const *roots, int nroots, bool learn) {
    for (;;) {
        if (!walk_slice(&w, roots, nroots, learn)) return false;
        if (!w.busy) return true;
        pthread_cond_wait(&graph_changed, &graph_mutex);
    }
}

static kn_status run_and_publish(plan_variant *v, plan_entry *e, message *m) {
    evaluation x = { 0 };
    if (!evaluation_begin(&x, v, e)) {
        if (!x.f.v) variant_drop(v);
        for (int i = 0; i < x.nresults; i++) __atomic_store_n(&x.results[i]->state, NODE_PENDING, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&graph_mutex);
        evaluation_end(&x);
        return fail_memory(m, "evaluating");
    }
    running++;
    pthread_mutex_unlock(&graph_mutex);
    kn_status status = plan_run(&x.f, m);
    buffer *fault = status ? fault_or_untold(status, m && m->status ? m->text : "the computation failed") : x.f.fault != FAULT_NONE ? fault_of_run(&x.f) : NULL;
    publish_results(&x, status, fault);
    buffer_drop(fault);
    evaluation_end(&x);
    return status;
}

#define MOST_ROOTS 64

/* Whether it can be told afterwards which results failed: see outcome. */
static bool separable(const plan_variant *v) {
    int risky = 0;
    if (!v->p->nfaults || v->p->nresults < 2 || !overwrites(v->p)) return true;
    for (int i = 0; i < v->p->nresults; i++) risky += w.marked[v->p->results[i].node];
    return risky == 1;
}

static kn_status evaluate_once(node *const *roots, int nroots, manner how, message *m) {
    node *few[MOST_ROOTS], **all = few;
    int most = nroots + MOST_UPDATES, n = 0;
    if (most > MOST_ROOTS && !(all = mem_array((size_t)most, sizeof *all))) return fail_memory(m, "evaluating");
    kn_status status = KN_OK;
    pthread_mutex_lock(&graph_mutex);
    for (;;) {
        n = 0;
        for (int i = 0; i < nroots; i++) if (!node_ready(roots[i]) && roots[i]->kind != NODE_SCALAR) all[n++] = roots[i];
        if (!n) { pthread_mutex_unlock(&graph_mutex); break; }
        counts.evaluations++;
        if (!walk_settled(all, n, how == LEARN)) { pthread_mutex_unlock(&graph_mutex); status = fail_memory(m, "evaluating"); break; }
        if (!w.nfrontier && updates.n && how != ALONE) n = add_companions(all, n, most, false);
        if (n < 0) { pthread_mutex_unlock(&graph_mutex); status = fail_memory(m, "evaluating"); break; }
        if (w.busy) { pthread_cond_wait(&graph_changed, &graph_mutex); continue; }
        if (w.nfrontier) {
            if ((status = evaluate_frontier(m))) break;
            pthread_mutex_lock(&graph_mutex);
            continue;
        }
        uint32_t faulty = faulty_leaf();
        if (faulty != NO_LEAF && spread_fault(all, n, faulty)) continue;
        plan_entry *e = NULL;
        plan_variant *v = faulty == NO_LEAF && walk_mark(&w, NO_LEAF) ? find_plan(all, n, how == ALONE, &e, m) : NULL;
        if (!v) { pthread_mutex_unlock(&graph_mutex); status = m && m->status ? m->status : fail_memory(m, "evaluating"); break; }
        if (!separable(v)) {
            pthread_mutex_unlock(&graph_mutex);
            variant_drop(v);
            status = evaluate_each(roots, nroots, m);
            break;
        }
        bool several = v->p->nresults > 1;
        status = run_and_publish(v, e, m);
        if (several && status != KN_MEMORY_ERROR) {      /* what failed may have been somebody else's */
            *m = (message){ 0 };
            status = evaluate_each(roots, nroots, m);
        }
        break;
    }
    if (all != few) mem_free(all);
    return status;
}

kn_status evaluate(node *const *roots, int nroots, message *m) {
    message own = { 0 };
    kn_status status = evaluate_once(roots, nroots, LEARN, m ? m : &own);
    if (status) return status;
    for (int i = 0; i < nroots; i++)
        if (__atomic_load_n(&roots[i]->state, __ATOMIC_ACQUIRE) == NODE_FAULT) {
            const char *sentence = node_message(roots[i], &status);
            return fail(m, status, "%s", sentence);
        }
    return KN_OK;
}

void evaluations_pause(void) {
    pthread_mutex_lock(&graph_mutex);
    while (running) pthread_cond_wait(&graph_changed, &graph_mutex);
}

void evaluations_resume(void) { pthread_mutex_unlock(&graph_mutex); }

void updates_add(node *const *slot) {
    pthread_mutex_lock(&graph_mutex);
    bool known = false;
    for (int i = 0; i < updates.n; i++) known |= updates.slot[i] == slot;
    if (!known && updates.n < MOST_UPDATES) updates.slot[updates.n++] = slot;
    pthread_mutex_unlock(&graph_mutex);
}

void updates_remove(node *const *slot) {
    pthread_mutex_lock(&graph_mutex);
    for (int i = 0; i < updates.n; i++)
        if (updates.slot[i] == slot) { updates.slot[i] = updates.slot[--updates.n]; break; }
    pthread_mutex_unlock(&graph_mutex);
}

/* ---- reading what would run ---- */

static plan *plan_for_reading(node *const *roots, int nroots, const char *profile, bool explain, message *m) {
    const device_profile *p = profile_named(profile);
    if (!p) { fail(m, KN_VALUE_ERROR, "no device profile is named %s", profile); return NULL; }
    pthread_mutex_lock(&graph_mutex);
    plan *built = NULL;
    if (!walk_settled(roots, nroots, false) || !walk_wanted(&w, roots, nroots, NULL)) {
        fail_memory(m, "making a plan");
    } else {
        slice s = slice_of_walk();
        plan_options o = { .explain = explain };
        built = plan_build(&s, p, &o, m);
    }
    pthread_mutex_unlock(&graph_mutex);
    return built;
}

static kn_status print_kernels(node *const *roots, int nroots, const char *profile, bool assembly, text *out, message *m) {
    plan *p = plan_for_reading(roots, nroots, profile, false, m);
    if (!p) return m && m->status ? m->status : KN_MEMORY_ERROR;
    kn_status status = KN_OK;
    for (int i = 0; i < p->nsteps && !status; i++) {
        const plan_step *s = &p->steps[i];
        if (s->kind == STEP_OPAQUE) text_add(out, "/* %s: run by a library */\n\n", family_ops[s->operation].name);
        if (s->kind != STEP_KERNEL) continue;
        status = p->profile->target == TARGET_CPU ? llvm_print(s->code, NULL, assembly, out, m)
                                                  : source_print(s->code, p->profile->target == TARGET_HIP ? DIALECT_HIP : DIALECT_CUDA, out, m);
        text_add(out, "\n");
    }
    plan_free(p);
    return status ? status : out->failed ? fail_memory(m, "printing source") : KN_OK;
}

kn_status evaluate_source(node *const *roots, int nroots, const char *profile, text *out, message *m) {
    return print_kernels(roots, nroots, profile, false, out, m);
}

kn_status evaluate_assembly(node *const *roots, int nroots, const char *profile, text *out, message *m) {
    return print_kernels(roots, nroots, profile, true, out, m);
}

kn_status evaluate_explain(node *const *roots, int nroots, const char *profile, text *out, message *m) {
    plan *p = plan_for_reading(roots, nroots, profile, true, m);
    if (!p) return m && m->status ? m->status : KN_MEMORY_ERROR;
    if (p->why.at) text_addn(out, p->why.at, p->why.len);
    plan_free(p);
    return out->failed ? fail_memory(m, "explaining") : KN_OK;
}

/* ---- counters ---- */

void runtime_count(runtime_counts *out) {
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&graph_mutex);
    out->evaluations = counts.evaluations;
    out->plan_hits = counts.hits;
    out->plans_built = counts.built;
    pthread_mutex_unlock(&graph_mutex);
    kernels_count(out);
    opaque_count(out);
    pool_count(out);
    gpu_count(out);
}

void runtime_forget(void) {
    pthread_mutex_lock(&graph_mutex);
    plans_forget();
    pthread_mutex_unlock(&graph_mutex);
    kernels_forget();
}
