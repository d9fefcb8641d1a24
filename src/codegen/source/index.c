/* index.c: which integer arithmetic is index arithmetic.
 *
 * Data wraps around; signed overflow in C does not, so data arithmetic is printed in unsigned types. Index arithmetic
 * stays within its type by construction of the kernel and is printed as it is. A value is index arithmetic
 *  - if it comes from loop variables, scalar parameters and constants alone, and addresses or bounds depend on it, or
 *  - if nothing but addresses depends on it, by sums and products (an access that is masked off never looks at its address,
 *    any other is in range). */
#include "codegen/source/source.h"

enum { FORWARD = 1, REACHES = 2, ONLY = 4, OTHER_USE = 8 };

static bool is_index_type(ktype t) { return t == T_I32 || t == T_I64; }

static bool is_compare(const kinst *x) { return x->op >= KOP_eq && x->op <= KOP_ge; }

static bool is_arithmetic(const kinst *x) {
    if (!is_index_type((ktype)x->type)) return false;
    switch (x->op) {
    case KOP_add: case KOP_sub: case KOP_mul: case KOP_div: case KOP_rem: case KOP_neg: case KOP_shl: case KOP_shr: case KOP_and: case KOP_or:
    case KOP_select: return true;
    default: return false;
    }
}

/* Overflow in one of these shows in the address. */
static bool is_linear(const kinst *x) {
    return is_arithmetic(x) && (x->op == KOP_add || x->op == KOP_sub || x->op == KOP_mul || x->op == KOP_neg || x->op == KOP_select);
}

static bool widens_index(const body *b, const kinst *x) {
    return x->op == KOP_convert && x->type == T_I64 && b->code[x->a].type == T_I32;
}

/* Slots of a memory access that hold an address. */
static bool is_address_slot(const kinst *x, uint32_t slot) {
    switch (x->op) {
    case K_LOAD: case K_STORE: case K_VLOAD: case K_VSTORE: case K_ATOMIC: case K_CAS: return slot == 1;
    default: return false;
    }
}

static bool comes_from_indices(const body *b, const uint8_t *flags, uint32_t v) {
    const kinst *x = &b->code[v];
    if (!is_index_type((ktype)x->type)) return false;
    switch (x->op) {
    case K_PARAM: case K_CONST: case K_FOR: case K_LANE_INDEX: return true;
    case K_VAR: case K_GET: case K_SHUFFLE: return flags[x->a] & FORWARD;
    default: break;
    }
    if (widens_index(b, x)) return flags[x->a] & FORWARD;
    if (!is_arithmetic(x)) return false;
    for (uint32_t j = x->op == KOP_select; j < source_operand_count(x); j++) if (!(flags[source_operand_at(x, b->extra, j).value] & FORWARD)) return false;
    return true;
}

/* Variables start as index variables; a SET of something else takes that away, until nothing changes. */
static void go_forward(const body *b, uint8_t *flags) {
    for (uint32_t v = 0; v < b->n; v++) flags[v] = FORWARD;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t v = 0; v < b->n; v++) {
            const kinst *x = &b->code[v];
            if (x->op == K_SET && !(flags[x->b] & FORWARD) && flags[x->a] & FORWARD) {
                flags[x->a] = 0;
                changed = true;
            }
            if (flags[v] & FORWARD && x->op != K_SET && !comes_from_indices(b, flags, v)) {
                flags[v] = 0;
                changed = true;
            }
        }
    }
}

static bool passes_on(const body *b, const kinst *x) { return is_arithmetic(x) || widens_index(b, x); }

static void go_backward(const body *b, uint8_t *flags) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t u = b->n; u-- > 0;) {
            const kinst *x = &b->code[u];
            if (!b->facts[u].live) continue;
            /* users stand after what they use, so u's are known */
            flags[u] = (uint8_t)(flags[u] & OTHER_USE ? flags[u] & ~ONLY : flags[u] | ONLY);
            for (uint32_t j = 0; j < source_operand_count(x); j++) {
                operand o = source_operand_at(x, b->extra, j);
                uint8_t *f = &flags[o.value], was = *f;
                bool reaches = is_address_slot(x, o.slot) || x->op == K_FOR || is_compare(x)
                            || ((passes_on(b, x) || x->op == K_GET || x->op == K_SHUFFLE) && flags[u] & REACHES)
                            || (x->op == K_SET && o.slot == 1 && flags[x->a] & REACHES) || (x->op == K_VAR && flags[u] & REACHES);
                bool only = is_address_slot(x, o.slot) || ((is_linear(x) || widens_index(b, x)) && !(x->op == KOP_select && o.slot == 0) && flags[u] & ONLY);
                if (reaches) *f |= REACHES;
                if (!only) *f |= OTHER_USE;
                changed |= *f != was;
            }
        }
    }
}

bool source_index_arithmetic(body *b, arena *mem) {
    uint8_t *flags = arena_zero(mem, b->n + 1, 1);
    if (!flags) return false;
    go_forward(b, flags);
    go_backward(b, flags);
    for (uint32_t v = 0; v < b->n; v++) b->facts[v].index = (flags[v] & FORWARD && flags[v] & REACHES) || flags[v] & ONLY;
    return true;
}
