/* execute.c: one run of a bound plan: memory from the pool, arguments filled in, steps in order.
 *
 * Runs without any lock. Which plan it is, and what happens to its results, is evaluate.c's business. */
#include <string.h>
#include "runtime/internal.h"

static uint64_t opaque_calls;
void opaque_count(runtime_counts *out) { out->opaque_calls = __atomic_load_n(&opaque_calls, __ATOMIC_RELAXED); }

static char *address(const run_frame *f, const place *p) {
    char *base = p->kind == PLACE_LEAF ? f->leaf_data[p->index] : f->memory_data[p->index];
    return base ? base + p->offset : NULL;
}

/* A scalar as the 64-bit word that kernels expect for a parameter of type t. */
static uint64_t scalar_word(const scalar *s, ktype t, int part) {
    double f = 0;
    int64_t i = 0;
    bool whole = true;
    switch (s->kind) {
    case SCALAR_BOOL: i = s->v.b; f = (double)i; break;
    case SCALAR_INT: i = s->v.i; f = (double)i; break;
    case SCALAR_UINT: i = (int64_t)s->v.u; f = (double)s->v.u; break;
    case SCALAR_FLOAT: f = part ? 0 : s->v.f; whole = false; break;
    case SCALAR_COMPLEX: f = part ? s->v.c.im : s->v.c.re; whole = false; break;
    }
    if (part && whole) { i = 0; f = 0; }
    if (t == T_F32 || t == T_F16 || t == T_BF16) {
        float g = (float)f;
        uint32_t bits;
        memcpy(&bits, &g, sizeof bits);
        return bits;
    }
    uint64_t word;
    if (t == T_F64) { memcpy(&word, &f, sizeof word); return word; }
    if (!whole) i = f >= -9223372036854775808.0 && f < 9223372036854775808.0 ? (int64_t)f : INT64_MIN;
    if (t == T_BOOL) return whole ? i != 0 : f != 0;
    return (uint64_t)i;
}

/* Leaves that lie on another device are read through a copy. */
static kn_status reach_leaves(run_frame *f, message *m) {
    device *d = f->v->on;
    for (uint32_t i = 0; i < f->nleaves; i++) {
        buffer *b = f->leaf_buffers[i];
        if (b->device != d->kind) {
            if (!(f->leaf_buffers[i] = device_reach(d, b, m))) { f->leaf_buffers[i] = b; return m && m->status ? m->status : KN_MEMORY_ERROR; }
            buffer_drop(b);
        }
        f->leaf_data[i] = (char *)f->leaf_buffers[i]->data + f->leaf_offsets[i];
    }
    return KN_OK;
}

static kn_status take_memory(run_frame *f, buffer **blocks, message *m) {
    const plan *p = f->v->p;
    device *d = f->v->on;
    for (int i = 0; i < f->v->nblocks; i++) {
        blocks[i] = f->v->on->memory(f->v->on, f->v->block_bytes[i], m);
        if (!blocks[i]) return KN_MEMORY_ERROR;
    }
    for (int i = 0; i < p->nmemory; i++) {
        const plan_memory *q = &p->memory[i];
        buffer *b = q->reuses_leaf >= 0 ? f->leaf_buffers[q->reuses_leaf] : q->block >= 0 ? blocks[q->block] : NULL;
        f->memory[i] = b ? buffer_keep(b) : d->memory(d, q->bytes, m);
        if (!f->memory[i]) return KN_MEMORY_ERROR;
        if (q->reuses_leaf >= 0) buffer_changes(f->memory[i]);
        f->memory_data[i] = q->reuses_leaf >= 0 ? f->leaf_data[q->reuses_leaf] : f->memory[i]->data;
        if (q->zeroed && q->block < 0 && d->clear(d, f->memory_data[i], (size_t)q->bytes, m)) return KN_RUNTIME_ERROR;
    }
    return KN_OK;
}

/* Memory that must start at zero and shares its block is cleared when its life begins. */
static kn_status clear_memory(const run_frame *f, int step, message *m) {
    const plan *p = f->v->p;
    device *d = f->v->on;
    for (int i = 0; i < p->nmemory; i++) {
        const plan_memory *q = &p->memory[i];
        if (q->zeroed && q->block >= 0 && q->first_step == step && d->clear(d, f->memory_data[i], (size_t)q->bytes, m)) return KN_RUNTIME_ERROR;
    }
    return KN_OK;
}

#define FEW_ARGS 64

static kn_status run_kernel(run_frame *f, const plan_step *s, void *code, message *m) {
    uint64_t few[FEW_ARGS], *args = few;
    if (s->nargs > FEW_ARGS && !(args = mem_array((size_t)s->nargs, sizeof *args))) return fail_memory(m, "filling in a kernel's arguments");
    for (int i = 0; i < s->nargs; i++) {
        const plan_arg *a = &s->args[i];
        args[i] = a->kind == ARG_POINTER ? (uint64_t)(uintptr_t)address(f, &a->at) : a->kind == ARG_INTEGER ? (uint64_t)a->value
                                                                               : scalar_word(&f->scalars[a->scalar], a->type, a->part);
    }
    device *d = f->v->on;
    kn_status status = s->grid[0] > 0 ? d->launch(d, code, s, args, &f->fault, m) : KN_OK;
    if (args != few) mem_free(args);
    return status;
}

static kn_status call_provider(const provider *p, struct provider_call *call, device *d, message *m) {
    buffer *scratch = NULL;
    call->scratch_bytes = p->scratch ? p->scratch(call) : 0;
    if (call->scratch_bytes > 0 && !(scratch = d->memory(d, call->scratch_bytes, m))) return KN_MEMORY_ERROR;
    call->scratch = scratch ? scratch->data : NULL;
    call->queue = d->queue(d, m);
    kn_status status = m && m->status ? m->status : p->run(call);
    __atomic_fetch_add(&opaque_calls, 1, __ATOMIC_RELAXED);
    buffer_drop(scratch);
    return status;
}

static buffer *holder(const run_frame *f, const place *at) { return at->kind == PLACE_LEAF ? f->leaf_buffers[at->index] : f->memory[at->index]; }

/* Where no library of the device applies, the host's do it, on copies of the operands' memory. */
static kn_status call_on_host(run_frame *f, const plan_step *s, const provider *p, struct provider_call *call, void **data, message *m) {
    device *d = f->v->on;
    int n = s->nin + s->nout;
    buffer **host = mem_zero((size_t)n, sizeof *host);
    kn_status status = host ? KN_OK : fail_memory(m, "calling a library");
    for (int i = 0; i < n && !status; i++) {
        buffer *b = holder(f, &s->operands[i].at);
        if (!(host[i] = pool_buffer((int64_t)b->size, m))) status = KN_MEMORY_ERROR;
        else status = d->download(d, host[i]->data, b->data, b->size, m);
        if (!status) data[i] = (char *)host[i]->data + ((char *)data[i] - (char *)b->data);
    }
    if (!status) status = call_provider(p, call, device_cpu(), m);
    for (int i = s->nin; i < n && !status; i++) {
        buffer *b = holder(f, &s->operands[i].at);
        status = d->upload(d, b->data, host[i]->data, b->size, m);
    }
    for (int i = 0; i < n && host; i++) buffer_drop(host[i]);
    mem_free(host);
    return status;
}

static kn_status run_opaque(run_frame *f, const plan_step *s, message *m) {
    void *few[16], **data = few;
    int n = s->nin + s->nout;
    if (n > 16 && !(data = mem_array((size_t)n, sizeof *data))) return fail_memory(m, "calling a library");
    for (int i = 0; i < n; i++) data[i] = address(f, &s->operands[i].at);
    struct provider_call call = { .operation = s->operation, .operands = s->operands, .data = data, .nin = s->nin, .nout = s->nout,
                                  .attr = s->attr, .nattr = s->nattr, .m = m };
    target_kind target = f->v->p->profile->target;
    const provider *here = provider_for(&call, target), *host = here || target == TARGET_CPU ? NULL : provider_for(&call, TARGET_CPU);
    kn_status status = here ? call_provider(here, &call, f->v->on, m) : host ? call_on_host(f, s, host, &call, data, m)
                     : fail(m, KN_NOT_AVAILABLE, "%s: no library for it is present and none of our own applies", family_ops[s->operation].name);
    if (data != few) mem_free(data);
    return status;
}

kn_status plan_run(run_frame *f, message *m) {
    const plan *p = f->v->p;
    buffer *few[16], **blocks = few;
    if (f->v->nblocks > 16 && !(blocks = mem_zero((size_t)f->v->nblocks, sizeof *blocks))) return fail_memory(m, "running a plan");
    for (int i = 0; i < f->v->nblocks; i++) blocks[i] = NULL;
    device *d = f->v->on;
    kn_status status = reach_leaves(f, m);
    if (!status) status = take_memory(f, blocks, m);
    for (int i = 0; i < p->nsteps && !status; i++) {
        const plan_step *s = &p->steps[i];
        f->started = true;
        if (f->v->nblocks && (status = clear_memory(f, i, m))) break;
        if (s->kind == STEP_KERNEL) {
            status = run_kernel(f, s, f->v->kernels[i], m);
        } else if (s->kind == STEP_OPAQUE) {
            status = run_opaque(f, s, m);
        } else if (s->bytes > 0) {
            status = d->copy(d, address(f, &s->to), address(f, &s->from), (size_t)s->bytes, m);
        }
    }
    if (!status && p->nfaults) status = d->finish(d, &f->fault, m);
    for (int i = 0; i < f->v->nblocks; i++) buffer_drop(blocks[i]);
    if (blocks != few) mem_free(blocks);
    return status;
}
