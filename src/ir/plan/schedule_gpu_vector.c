/* schedule_gpu_vector.c: which accesses of a thread to consecutive elements are one vector. What a schedule makes of that is
 * its own business. */
#include <string.h>
#include "ir/plan/schedule_gpu.h"

static bool is_aligned(const nest *n, int operand, const form *f, int atom, int bytes) {
    int size = ktype_table[n->operands[operand].type].size, align = bytes < 16 ? bytes : 16;
    bool fits = n->operands[operand].aligned && (n->operands[operand].at.offset + f->offset * size) % align == 0;
    for (int a = 0; a < n->natoms && fits; a++) fits = a == atom || f->stride[a] * size % align == 0;
    return fits;
}

bool is_vector(const nest *n, int operand, const form *f, uint8_t pair, int atom, int v) {
    int unit = pair ? 2 : 1, bytes = v * unit * ktype_table[n->operands[operand].type].size;
    form first = *f;
    if (pair == 2) first.offset--;
    return f->stride[atom] == unit && v * unit <= 16 && bytes <= 16 && is_aligned(n, operand, &first, atom, bytes);
}

bool is_plain_load(const expr *x) { return x->kind == EXPR_LOAD && !x->nargs && x->index < 0; }

bool is_plain_store(const nest_store *s) { return s->index < 0 && !s->nguards && !s->combine && !s->atomic && !s->when; }

bool same_elements(const nest *n, const form *a, uint8_t pair_a, const form *b, uint8_t pair_b) {
    return !pair_a == !pair_b && a->offset - (pair_a == 2) == b->offset - (pair_b == 2) && !memcmp(a->stride, b->stride, (size_t)n->natoms * sizeof a->stride[0]);
}

int partner(const nest *n, int i) {
    const expr *x = &n->exprs[i];
    for (int j = 0; j < n->nexprs; j++) {
        const expr *y = &n->exprs[j];
        if (is_plain_load(y) && y->operand == x->operand && y->pair + x->pair == 3 && same_elements(n, &x->at, x->pair, &y->at, y->pair)) return j;
    }
    return -1;
}
