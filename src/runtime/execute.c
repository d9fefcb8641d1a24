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

static kn_status take_memory(run_frame *f, buffer **blocks, message *m) {
    const plan *p = f->v->p;
    for (int i = 0; i < f->v->nblocks; i++) {
        blocks[i] = pool_buffer(f->v->block_bytes[i], m);
        if (!blocks[i]) return KN_MEMORY_ERROR;
    }
    for (int i = 0; i < p->nmemory; i++) {
        const plan_memory *q = &p->memory[i];
        buffer *b = q->reuses_leaf >= 0 ? f->leaf_buffers[q->reuses_leaf] : q->block >= 0 ? blocks[q->block] : NULL;
        f->memory[i] = b ? buffer_keep(b) : pool_buffer(q->bytes, m);
        if (!f->memory[i]) return KN_MEMORY_ERROR;
        f->memory_data[i] = q->reuses_leaf >= 0 ? f->leaf_data[q->reuses_leaf] : f->memory[i]->data;
        if (q->zeroed && q->block < 0) memset(f->memory_data[i], 0, (size_t)q->bytes);
    }
    return KN_OK;
}

/* Memory that must start at zero and shares its block is cleared when its life begins. */
static void clear_memory(const run_frame *f, int step) {
    const plan *p = f->v->p;
    for (int i = 0; i < p->nmemory; i++)
        if (p->memory[i].zeroed && p->memory[i].block >= 0 && p->memory[i].first_step == step) memset(f->memory_data[i], 0, (size_t)p->memory[i].bytes);
}

#define FEW_ARGS 64

static kn_status run_kernel(run_frame *f, const plan_step *s, compiled *c, message *m) {
    uint64_t few[FEW_ARGS], *args = few;
    if (s->nargs > FEW_ARGS && !(args = mem_array((size_t)s->nargs, sizeof *args))) return fail_memory(m, "filling in a kernel's arguments");
    for (int i = 0; i < s->nargs; i++) {
        const plan_arg *a = &s->args[i];
        args[i] = a->kind == ARG_POINTER ? (uint64_t)(uintptr_t)address(f, &a->at) : a->kind == ARG_INTEGER ? (uint64_t)a->value
                                                                               : scalar_word(&f->scalars[a->scalar], a->type, a->part);
    }
    int64_t grid = s->grid[0];
    kn_status status = grid > 0 ? compiled_run(c, args, grid, s->serial, s->work, &f->fault, m) : KN_OK;
    if (args != few) mem_free(args);
    return status;
}

static kn_status run_opaque(run_frame *f, const plan_step *s, message *m) {
    void *few[16], **data = few;
    int n = s->nin + s->nout;
    if (n > 16 && !(data = mem_array((size_t)n, sizeof *data))) return fail_memory(m, "calling a library");
    for (int i = 0; i < n; i++) data[i] = address(f, &s->operands[i].at);
    struct provider_call call = { .operation = s->operation, .operands = s->operands, .data = data, .nin = s->nin, .nout = s->nout,
                                  .attr = s->attr, .nattr = s->nattr, .m = m };
    const provider *p = provider_for(&call, TARGET_CPU);
    kn_status status;
    buffer *scratch = NULL;
    if (!p) {
        status = fail(m, KN_NOT_AVAILABLE, "%s: no library for it is present and none of our own applies", family_ops[s->operation].name);
    } else {
        call.scratch_bytes = p->scratch ? p->scratch(&call) : 0;
        if (call.scratch_bytes > 0) scratch = pool_buffer(call.scratch_bytes, m);
        call.scratch = scratch ? scratch->data : NULL;
        status = call.scratch_bytes > 0 && !scratch ? KN_MEMORY_ERROR : p->run(&call);
        __atomic_fetch_add(&opaque_calls, 1, __ATOMIC_RELAXED);
    }
    buffer_drop(scratch);
    if (data != few) mem_free(data);
    return status;
}

struct copy_job { char *to; const char *from; };
static void copy_part(void *arg, int64_t lo, int64_t hi) {
    struct copy_job *j = arg;
    memcpy(j->to + lo, j->from + lo, (size_t)(hi - lo));
}

kn_status plan_run(run_frame *f, message *m) {
    const plan *p = f->v->p;
    buffer *few[16], **blocks = few;
    if (f->v->nblocks > 16 && !(blocks = mem_zero((size_t)f->v->nblocks, sizeof *blocks))) return fail_memory(m, "running a plan");
    for (int i = 0; i < f->v->nblocks; i++) blocks[i] = NULL;
    kn_status status = take_memory(f, blocks, m);
    for (int i = 0; i < p->nsteps && !status; i++) {
        const plan_step *s = &p->steps[i];
        if (f->v->nblocks) clear_memory(f, i);
        if (s->kind == STEP_KERNEL) {
            status = run_kernel(f, s, f->v->kernels[i], m);
        } else if (s->kind == STEP_OPAQUE) {
            status = run_opaque(f, s, m);
        } else if (s->bytes > 0) {
            struct copy_job j = { address(f, &s->to), address(f, &s->from) };
            if (j.to != j.from) workers_run(copy_part, &j, s->bytes, 1 << 20);
        }
    }
    for (int i = 0; i < f->v->nblocks; i++) buffer_drop(blocks[i]);
    if (blocks != few) mem_free(blocks);
    return status;
}
