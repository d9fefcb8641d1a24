/* expand.c: device functions are put in the place of their calls, so that what runs is one body without calls.
 *
 * How it works: instructions are copied with their operands renumbered. Of a function, parameters become the arguments'
 * values, results the values it returns; every call gets variables and arrays of its own. Kernels without calls are
 * taken as they are. */
#include <string.h>
#include "codegen/reference/reference.h"

#define MOST_DEPTH 64                  /* calls inside calls */
#define MOST_EXPANDED (1u << 22)       /* instructions */

typedef struct expansion {
    arena *mem;
    kinst *code; uint32_t n, cap;
    uint32_t *extra; uint32_t nextra, extra_cap;
    bool too_large;
} expansion;

static bool push(expansion *e, kinst x) {
    if (e->n == e->cap) {
        uint32_t cap = e->cap ? 2 * e->cap : 256;
        e->too_large |= cap > MOST_EXPANDED;
        kinst *more = e->too_large ? NULL : arena_alloc(e->mem, cap * sizeof *more);
        if (!more) return false;
        if (e->n) memcpy(more, e->code, e->n * sizeof *more);
        e->code = more;
        e->cap = cap;
    }
    e->code[e->n++] = x;
    return true;
}

static bool push_pair(expansion *e, uint32_t first, uint32_t second) {
    if (e->nextra + 2 > e->extra_cap) {
        uint32_t cap = e->extra_cap ? 2 * e->extra_cap : 32;
        uint32_t *more = arena_alloc(e->mem, cap * sizeof *more);
        if (!more) return false;
        if (e->nextra) memcpy(more, e->extra, e->nextra * sizeof *more);
        e->extra = more;
        e->extra_cap = cap;
    }
    e->extra[e->nextra++] = first;
    e->extra[e->nextra++] = second;
    return true;
}

/* A body being copied: a kernel's, or a function's with the values of its arguments. */
typedef struct body {
    const kinst *code; uint32_t n;
    const uint32_t *extra;
    const uint32_t *args;              /* NULL in kernels */
    uint32_t *results;                 /* filled by RETURN */
} body;

static bool copy_body(expansion *e, const body *b, int depth);

/* new: where a body's instructions stand in the copy; of calls: where the list of their results stands in `results`. */
static bool copy_call(expansion *e, const body *b, uint32_t i, uint32_t *new, uint32_t **results, int depth) {
    const kinst *x = &b->code[i];
    const kfunction *f = &device_functions[x->a];
    uint32_t *args = arena_alloc(e->mem, ((size_t)x->c + 1) * sizeof *args);
    results[i] = arena_alloc(e->mem, ((size_t)f->nresults + 1) * sizeof **results);
    if (!args || !results[i]) return false;
    for (uint32_t j = 0; j < x->c; j++) args[j] = new[b->extra[x->b + j]];
    const body callee = { .code = f->code, .n = f->ncode, .extra = f->extra, .args = args, .results = results[i] };
    if (!copy_body(e, &callee, depth + 1)) return false;
    new[i] = results[i][0];
    return true;
}

static bool copy_inst(expansion *e, const body *b, uint32_t i, uint32_t *new) {
    kinst x = b->code[i];
    uint8_t fields = kinst_operands(&x);
    if (fields & OPERAND_A) x.a = new[x.a];
    if (fields & OPERAND_B) x.b = new[x.b];
    if (fields & OPERAND_C) x.c = new[x.c];
    if (fields & OPERAND_MASK && x.c) x.c = new[x.c - 1] + 1;
    if (fields & OPERAND_TWO) {
        uint32_t at = e->nextra;
        if (!push_pair(e, new[b->extra[x.c]], new[b->extra[x.c + 1]])) return false;
        x.c = at;
    }
    new[i] = e->n;
    return push(e, x);
}

static bool copy_body(expansion *e, const body *b, int depth) {
    uint32_t *new = arena_alloc(e->mem, ((size_t)b->n + 1) * sizeof *new), **results = arena_zero(e->mem, (size_t)b->n + 1, sizeof *results);
    e->too_large |= depth > MOST_DEPTH;
    if (!new || !results || e->too_large) return false;
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i];
        bool copied = true;
        if (x->op == K_CALL) copied = copy_call(e, b, i, new, results, depth);
        else if (x->op == K_RESULT) new[i] = results[x->a][x->b];
        else if (x->op == K_PARAM && b->args) new[i] = b->args[x->a];
        else if (x->op == K_RETURN) for (uint32_t j = 0; j < x->c; j++) b->results[j] = new[b->extra[x->b + j]];
        else if (x->op != K_COMMENT) copied = copy_inst(e, b, i, new);
        if (!copied) return false;
    }
    return true;
}

bool expand_calls(const kernel *k, arena *mem, flat_code *out, message *m) {
    bool calls = false;
    for (uint32_t i = 0; i < k->ncode; i++) calls |= k->code[i].op == K_CALL;
    *out = (flat_code){ k->code, k->ncode, k->extra };
    if (!calls) return true;
    expansion e = { .mem = mem };
    const body b = { .code = k->code, .n = k->ncode, .extra = k->extra };
    if (!copy_body(&e, &b, 0)) {
        if (e.too_large) fail(m, KN_RUNTIME_ERROR, "kernel %s calls device functions too deep, or too many of them", k->name);
        else fail_memory(m, "interpreting a kernel");
        return false;
    }
    *out = (flat_code){ e.code, e.n, e.extra };
    return true;
}
