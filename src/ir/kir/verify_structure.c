/* verify_structure.c: where regions stand and what may stand in them; the two entries of the verifier. */
#include <ctype.h>
#include <string.h>
#include "ir/kir/verify.h"

bool inside(const checker *c, int kind) {
    for (int d = 0; d < c->depth; d++) if (c->code[c->open[d]].op == K_FOR && loop_kind(&c->code[c->open[d]]) == kind) return true;
    return false;
}

int lane_depth(const checker *c) {
    for (int d = 0; d < c->depth; d++) if (c->code[c->open[d]].op == K_FOR && loop_kind(&c->code[c->open[d]]) == LOOP_LANE) return d;
    return -1;
}

static bool constant(const checker *c, uint32_t v, int64_t *is) {
    const kinst *x = &c->code[v];
    *is = (int64_t)((uint64_t)x->c << 32 | x->b);
    return x->op == K_CONST;
}

static bool is_constant(const checker *c, uint32_t v, int64_t wanted) {
    int64_t is;
    return constant(c, v, &is) && is == wanted;
}

/* ---- loops ---- */

static kn_status check_grid(checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    int axis = loop_axis(x);
    for (int d = 0; d < c->depth; d++) if (c->code[c->open[d]].op != K_FOR || loop_kind(&c->code[c->open[d]]) != LOOP_GRID) REFUSE("%u: GRID loops stand at the top", at);
    if (axis > 2 || c->axes & 1 << axis) REFUSE("%u: one GRID loop an axis, x, y or z", at);
    if (c->axes & 7 && !c->depth) REFUSE("%u: GRID loops stand in each other, not one after the other", at);
    if (x->flags & LOOP_STRIDE && !c->block) REFUSE("%u: grid-stride loops are for kernels with blocks", at);
    c->axes |= (uint8_t)(1 << axis);
    return KN_OK;
}

static kn_status check_block(checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    int axis = loop_axis(x);
    if (!c->block) REFUSE("%u: BLOCK in a kernel without blocks", at);
    if (!inside(c, LOOP_GRID)) REFUSE("%u: BLOCK loops stand inside GRID", at);
    const kinst *outer = &c->code[c->open[c->depth - 1]];
    if (outer->op != K_FOR || loop_kind(outer) > LOOP_BLOCK) REFUSE("%u: BLOCK loops stand directly inside GRID or BLOCK", at);
    if (axis > 2 || c->axes & 16 << axis) REFUSE("%u: one BLOCK loop an axis, x, y or z", at);
    if (loop_kind(outer) == LOOP_GRID && c->axes & 0x70) REFUSE("%u: BLOCK loops stand in each other, not one after the other", at);
    if (!is_constant(c, x->b, c->k->block[axis])) REFUSE("%u: the loop ends at the block's size, the constant %u", at, c->k->block[axis]);
    c->axes |= (uint8_t)(16 << axis);
    return KN_OK;
}

static kn_status check_for(checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    int kind = loop_kind(x);
    int64_t step, ignored;
    if (!constant(c, x->c, &step) || step <= 0) REFUSE("%u: a loop's step is a positive constant", at);
    if (kind > LOOP_UNROLL || x->flags & 0x80 || (kind != LOOP_GRID && x->flags & LOOP_STRIDE)) REFUSE("%u: unknown kind of loop, %u", at, x->flags);
    if (kind > LOOP_BLOCK && loop_axis(x)) REFUSE("%u: only GRID and BLOCK have axes", at);
    if (kind <= LOOP_LANE && (step != 1 || !is_constant(c, x->a, 0))) REFUSE("%u: the loop begins at 0 and its step is 1", at);
    if (!c->k && kind <= LOOP_LANE) REFUSE("%u: a function has SERIAL and UNROLL loops only", at);
    switch (kind) {
    case LOOP_GRID: return check_grid(c, at);
    case LOOP_BLOCK: return check_block(c, at);
    case LOOP_LANE:
        if (!c->lanes || c->block) REFUSE("%u: LANE in a kernel without lanes", at);
        if (lane_depth(c) >= 0) REFUSE("%u: LANE inside LANE", at);
        return KN_OK;
    case LOOP_UNROLL:
        if (!constant(c, x->a, &ignored) || !constant(c, x->b, &ignored)) REFUSE("%u: an UNROLL loop's bounds are constants", at);
        return KN_OK;
    default: return KN_OK;
    }
}

/* ---- places ---- */

static bool is_arithmetic(uint16_t op) {
    return op < NKOPS || op == K_CONST || op == K_PARAM || op == K_CALL || op == K_RESULT || op == K_TABLE || op == K_LOAD || op == K_COMMENT;
}

/* Kernels with a GRID do their work inside it, those with blocks inside BLOCK; around them stands arithmetic alone. */
static kn_status check_place(const checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    bool outer_loop = x->op == K_FOR && loop_kind(x) <= LOOP_BLOCK;
    if (!c->k) {
        bool allowed = is_arithmetic(x->op) || x->op == K_VAR || x->op == K_GET || x->op == K_SET || x->op == K_FOR || x->op == K_IF || x->op == K_LOOP
                    || x->op == K_BREAK_UNLESS || x->op == K_LOCAL || x->op == K_STORE || x->op == K_RETURN;
        if (!allowed) REFUSE("%u: %s in a function", at, kinst_name(x->op));
        return KN_OK;
    }
    if (is_arithmetic(x->op) || outer_loop) return KN_OK;
    if (c->block && !inside(c, LOOP_BLOCK)) REFUSE("%u: %s outside BLOCK loops", at, kinst_name(x->op));
    if (c->axes && !inside(c, LOOP_GRID)) REFUSE("%u: %s after the GRID loop", at, kinst_name(x->op));
    if ((x->op == K_SHARED || x->op == K_BARRIER) && !c->block) REFUSE("%u: %s in a kernel without blocks", at, kinst_name(x->op));
    return KN_OK;
}

/* What stands before the GRID loop is seen only when the loop comes. */
static kn_status check_before_grid(const checker *c, uint32_t at) {
    for (uint32_t i = 0; i < at; i++) {
        const kinst *x = &c->code[i];
        if (!is_arithmetic(x->op) && !(x->op == K_FOR && loop_kind(x) == LOOP_GRID)) REFUSE("%u: %s before the GRID loop", i, kinst_name(x->op));
    }
    return KN_OK;
}

static kn_status check_break(checker *c, uint32_t at) {
    if (!c->depth || c->code[c->open[c->depth - 1]].op != K_LOOP) REFUSE("%u: BREAK_UNLESS stands directly inside LOOP", at);
    c->left[c->depth - 1] = true;
    return KN_OK;
}

/* ---- regions ---- */

static kn_status close_region(checker *c, uint32_t at) {
    const kinst *x = &c->code[at];
    if (!c->depth || c->open[c->depth - 1] != x->a) REFUSE("%u: closes %%%u, which is not the innermost open region", at, x->a);
    const kinst *opened = &c->code[x->a];
    int d = c->depth - 1;
    if (x->type != T_VOID) REFUSE("%u: %s gives no value", at, kinst_name(x->op));
    if (x->op == K_ELSE && (opened->op != K_IF || c->left[d])) REFUSE("%u: one ELSE, of an IF", at);
    if (x->op == K_END && opened->op == K_LOOP && !c->left[d]) REFUSE("%u: LOOP without BREAK_UNLESS never ends", at);
    for (uint32_t i = c->made[d]; i < at; i++) c->closed[i] = 1;
    c->made[d] = at + 1;
    c->left[d] = true;
    if (x->op == K_END) c->depth--;
    return KN_OK;
}

static kn_status open_region(checker *c, uint32_t at) {
    if (c->depth == MOST_NESTING) REFUSE("%u: regions are nested deeper than %d", at, MOST_NESTING);
    c->open[c->depth] = c->made[c->depth] = at;
    c->left[c->depth++] = false;
    return KN_OK;
}

static kn_status check_all(checker *c) {
    if (c->ncode < c->nparams) return fail(c->m, KN_RUNTIME_ERROR, "kernel IR: %u parameters, %u instructions", c->nparams, c->ncode);
    for (uint32_t at = 0; at < c->ncode; at++) {
        const kinst *x = &c->code[at];
        if (x->op >= NKINSTS || x->type >= NKTYPES) REFUSE("%u: unknown instruction or type", at);
        if (at < c->nparams && x->op != K_PARAM) REFUSE("%u: parameters come first, in order", at);
        if (x->op == K_ELSE || x->op == K_END) {
            if (close_region(c, at)) return KN_RUNTIME_ERROR;
            continue;
        }
        if (check_inst(c, at) || check_place(c, at)) return KN_RUNTIME_ERROR;
        if (x->op == K_BREAK_UNLESS && check_break(c, at)) return KN_RUNTIME_ERROR;
        if (x->op == K_FOR && check_for(c, at)) return KN_RUNTIME_ERROR;
        if (x->op == K_FOR && loop_kind(x) == LOOP_GRID && check_before_grid(c, at)) return KN_RUNTIME_ERROR;
        if ((x->op == K_FOR || x->op == K_IF || x->op == K_LOOP) && open_region(c, at)) return KN_RUNTIME_ERROR;
    }
    if (c->depth) REFUSE("%u: the region is never closed", c->open[c->depth - 1]);
    return KN_OK;
}

/* ---- kernels ---- */

static bool is_identifier(const char *s) {
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++) if (!isalnum((unsigned char)*s) && *s != '_') return false;
    return true;
}

#undef REFUSE
#define REFUSE(...) return fail(m, KN_RUNTIME_ERROR, "kernel IR: " __VA_ARGS__)

static kn_status check_header(const kernel *k, message *m) {
    const uint16_t *b = k->block;
    if (!is_identifier(k->name)) REFUSE("\"%s\" is no name for a kernel", k->name);
    if (k->lanes > 1024 || (k->lanes && b[0])) REFUSE("%u lanes", k->lanes);
    if (!b[0] && (b[1] || b[2] || k->warp)) REFUSE("a kernel without blocks has no warps");
    if (b[0] && (!b[1] || !b[2] || (uint64_t)b[0] * b[1] * b[2] > 1024)) REFUSE("blocks of %u by %u by %u threads", b[0], b[1], b[2]);
    if (b[0] && k->warp != 32 && k->warp != 64) REFUSE("warps of %u lanes", k->warp);
    for (uint32_t i = 0; i < k->nparams; i++) {
        const kparam *p = &k->params[i];
        if (p->type == T_VOID || p->type >= NKTYPES) REFUSE("parameter %u has no type", i);
        if (p->name && !is_identifier(p->name)) REFUSE("parameter %u: \"%s\" is no name", i, p->name);
        if (p->array && !p->read && !p->written) REFUSE("parameter %u: an array that is neither read nor written", i);
        if (!p->array && (p->read || p->written || p->aliased)) REFUSE("parameter %u: only arrays are read, written or aliased", i);
        if (!p->array && ktype_value(p->type) != p->type) REFUSE("parameter %u: %s is no type of a value", i, ktype_table[p->type].name);
    }
    return KN_OK;
}

/* Rules that want the whole kernel: every array is used; threads come to a barrier together. */
static kn_status check_whole(const kernel *k, uint8_t axes, message *m) {
    uint8_t *bytes = mem_zero((size_t)k->ncode + 1, 3);
    uint32_t *scratch = mem_array((size_t)k->ncode + 1, sizeof *scratch);
    kn_status status = KN_OK;
    if (!bytes || !scratch) {
        status = fail_memory(m, "verifying a kernel");
    } else {
        uint8_t *varies = bytes, *depth = bytes + k->ncode, *used = bytes + 2 * (size_t)k->ncode;
        if (k->block[0]) kir_varying(k->code, k->ncode, k->extra, varies, depth, scratch);
        for (uint32_t i = 0; i < k->ncode && !status; i++) {
            const kinst *x = &k->code[i];
            if (x->op >= K_LOAD && x->op <= K_CAS) used[x->a] = 1;
            if (x->op == K_BARRIER && depth[i]) status = fail(m, KN_RUNTIME_ERROR, "kernel IR, instruction %u: not all threads come to the barrier", i);
        }
        for (uint32_t i = 0; i < k->nparams && !status; i++)
            if (k->params[i].array && !used[i]) status = fail(m, KN_RUNTIME_ERROR, "kernel IR, parameter %u: an array that is not used", i);
        if (!status && k->ordered && !(axes & 1)) status = fail(m, KN_RUNTIME_ERROR, "kernel IR: an ordered kernel has a GRID loop along x");
        if (!status && k->block[0] && !(axes & 0x70)) status = fail(m, KN_RUNTIME_ERROR, "kernel IR: a kernel with blocks has a BLOCK loop");
    }
    mem_free(bytes);
    mem_free(scratch);
    return status;
}

kn_status kernel_verify(const kernel *k, message *m) {
    if (!kernel_ok(k)) return fail_memory(m, "making a kernel");
    kn_status status = check_header(k, m);
    if (status) return status;
    checker c = { .k = k, .code = k->code, .ncode = k->ncode, .extra = k->extra, .nextra = k->nextra, .nparams = k->nparams,
                  .lanes = k->lanes, .block = k->block[0], .m = m };
    c.closed = mem_zero((size_t)k->ncode + 1, 1);
    if (!c.closed) return fail_memory(m, "verifying a kernel");
    status = check_all(&c);
    mem_free(c.closed);
    return status ? status : check_whole(k, c.axes, m);
}

/* ---- functions ---- */

/* Device functions call only functions that do not lead back to them. */
static bool leads_back(const kfunction *f, uint8_t *state) {
    for (uint32_t i = 0; i < f->ncode; i++) {
        if (f->code[i].op != K_CALL) continue;
        uint32_t g = f->code[i].a;
        if (state[g] == 1) return true;
        if (state[g] == 2) continue;
        state[g] = 1;
        if (leads_back(&device_functions[g], state)) return true;
        state[g] = 2;
    }
    return false;
}

static kn_status check_calls(const kfunction *f, message *m) {
    uint8_t *state = mem_zero((size_t)ndevice_functions + 1, 1);
    if (!state) return fail_memory(m, "verifying a function");
    for (uint32_t i = 0; i < ndevice_functions; i++) if (f == &device_functions[i]) state[i] = 1;
    bool back = leads_back(f, state);
    mem_free(state);
    if (back) REFUSE("device function %s leads back to itself", f->symbol);
    return KN_OK;
}

kn_status function_verify(const kfunction *f, message *m) {
    checker c = { .code = f->code, .ncode = f->ncode, .extra = f->extra, .nextra = f->nextra, .nparams = f->nparams, .nresults = f->nresults,
                  .param_types = f->param_types, .result_types = f->nresults ? f->result_types : NULL, .m = m };
    c.closed = mem_zero((size_t)f->ncode + 1, 1);
    if (!c.closed) return fail_memory(m, "verifying a function");
    kn_status status = check_all(&c);
    mem_free(c.closed);
    if (status) return status;
    if (!f->ncode || f->code[f->ncode - 1].op != K_RETURN) REFUSE("device function %s does not end in RETURN", f->symbol);
    return check_calls(f, m);
}
