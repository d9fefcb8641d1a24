/* prepare.c: what has to be known before steps are made: what is needed, what lanes share, how long values live. */
#include <string.h>
#include "codegen/reference/facts.h"

/* ---- structure ---- */

static void find_regions(const flat_code *b, facts *f) {
    uint32_t loop = NONE;
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i];
        if (x->op == K_END) {
            uint32_t opener = x->a, middle = f->match[opener];
            if (b->code[opener].op == K_IF && middle) f->match[middle] = i;
            else f->match[opener] = i;
            if (b->code[opener].op != K_IF) loop = f->loop[opener];
        }
        if (x->op == K_ELSE) f->match[x->a] = i;
        f->loop[i] = loop;
        if (x->op == K_FOR || x->op == K_LOOP) loop = i;
    }
}

/* ---- what is needed ---- */

static bool has_effect(const kinst *x) {
    switch (x->op) {
    case K_FOR: case K_IF: case K_ELSE: case K_LOOP: case K_BREAK_UNLESS: case K_END: case K_STORE: case K_VLOAD: case K_VSTORE: case K_ATOMIC:
    case K_CAS: case K_FENCE: case K_FAULT: return true;
    default: return false;
    }
}

static void need(facts *f, const kinst *x, const uint32_t *extra) {
    uint8_t fields = kinst_operands(x);
    if (fields & OPERAND_A) f->live[x->a] = 1;
    if (fields & OPERAND_B) f->live[x->b] = 1;
    if (fields & OPERAND_C) f->live[x->c] = 1;
    if (fields & OPERAND_MASK && x->c) f->live[x->c - 1] = 1;
    if (fields & OPERAND_TWO) f->live[extra[x->c]] = f->live[extra[x->c + 1]] = 1;
}

/* A variable that anything reads is set; whether that reader is needed is not asked again. */
static void find_live(const flat_code *b, facts *f) {
    for (uint32_t i = 0; i < b->n; i++) if (b->code[i].op == K_GET || b->code[i].op == K_FIRST_LANE) f->live[b->code[i].a] = 1;
    for (uint32_t i = b->n; i-- > 0;) {
        const kinst *x = &b->code[i];
        if (has_effect(x) || (x->op == K_SET && f->live[x->a])) f->live[i] = 1;
        if (f->live[i] && x->op != K_GET && x->op != K_END && x->op != K_ELSE) need(f, x, b->extra);
    }
}

/* ---- forms ---- */

static bool is_index(uint8_t type) { return type == T_I32 || type == T_I64; }

/* Whether a value over affine and shared operands is affine again. */
static bool stays_affine(const flat_code *b, const facts *f, uint32_t i) {
    const kinst *x = &b->code[i];
    bool a, other;
    if (!is_index(x->type)) return false;
    switch (x->op) {
    case KOP_add: case KOP_sub: return f->form[x->a] != FORM_LANES && f->form[x->b] != FORM_LANES;
    case KOP_mul:
        a = f->form[x->a] == FORM_AFFINE;
        other = f->form[a ? x->b : x->a] == FORM_CELL;
        return other && (a || f->form[x->b] == FORM_AFFINE);
    case KOP_shl: return f->form[x->a] == FORM_AFFINE && f->form[x->b] == FORM_CELL;
    case KOP_neg: return f->form[x->a] == FORM_AFFINE;
    case KOP_convert: return is_index(b->code[x->a].type) && f->form[x->a] == FORM_AFFINE;
    case KOP_select: return f->form[x->a] == FORM_CELL && f->form[x->b] != FORM_LANES && f->form[x->c] != FORM_LANES;
    default: return false;
    }
}

static uint8_t form_of(const kernel *k, const flat_code *b, const facts *f, uint32_t i) {
    const kinst *x = &b->code[i];
    if (x->type == T_VOID) return FORM_NONE;
    if (!f->varies[i]) return FORM_CELL;
    if (x->op < NKOPS) return stays_affine(b, f, i) ? FORM_AFFINE : FORM_LANES;
    if (x->op != K_FOR) return FORM_LANES;
    bool line = loop_kind(x) == LOOP_LANE || (loop_kind(x) == LOOP_BLOCK && loop_axis(x) == 0 && k->block[1] == 1 && k->block[2] == 1);
    return line ? FORM_AFFINE : FORM_LANES;
}

/* An i32 that wraps between two lanes makes a widened line wrong as data; narrowed again it is right. */
static bool is_widened(const flat_code *b, const facts *f, uint32_t i) {
    const kinst *x = &b->code[i];
    if (x->op >= NKOPS || f->form[i] != FORM_AFFINE || x->type != T_I64) return false;
    if (x->op == KOP_convert && b->code[x->a].type == T_I32) return true;
    uint8_t fields = kinst_operands(x);
    return f->widened[x->a] || (fields & OPERAND_B && f->widened[x->b]) || (fields & OPERAND_C && f->widened[x->c]);
}

/* An address is used as it is; everybody else but an affine user wants an array over the lanes. */
static void want_lanes(const flat_code *b, facts *f, uint32_t i) {
    const kinst *x = &b->code[i];
    uint8_t fields = kinst_operands(x);
    bool address = x->op == K_LOAD || x->op == K_STORE || x->op == K_VLOAD || x->op == K_VSTORE;
    if (x->op < NKOPS && f->form[i] == FORM_AFFINE && !(f->widened[i] && f->wants_lanes[i])) return;
    if (fields & OPERAND_A) f->wants_lanes[x->a] = 1;
    if (fields & OPERAND_B && !address) f->wants_lanes[x->b] = 1;
    if (fields & OPERAND_C) f->wants_lanes[x->c] = 1;
    if (fields & OPERAND_TWO) f->wants_lanes[b->extra[x->c]] = f->wants_lanes[b->extra[x->c + 1]] = 1;
}

/* ---- lives ---- */

/* A value made outside a loop that is used in it is needed until the loop ends. */
static void use(facts *f, uint32_t v, uint32_t at) {
    uint32_t end = at;
    for (uint32_t l = f->loop[at]; l != NONE && l > v; l = f->loop[l]) end = f->match[l];
    if (end > f->last[v]) f->last[v] = end;
}

static void find_last(const flat_code *b, facts *f) {
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i];
        uint8_t fields = kinst_operands(x);
        if (!f->live[i] || x->op == K_END) continue;
        if (x->op == K_ELSE) { use(f, b->code[x->a].a, i); continue; }
        if (x->op == K_FOR) use(f, i, f->match[i]);
        if (fields & OPERAND_A) use(f, x->a, i);
        if (fields & OPERAND_B) use(f, x->b, i);
        if (fields & OPERAND_C) use(f, x->c, i);
        if (fields & OPERAND_MASK && x->c) use(f, x->c - 1, i);
        if (fields & OPERAND_TWO) for (uint32_t j = 0; j < 2; j++) use(f, b->extra[x->c + j], i);
    }
}

/* `match` of a variable is not used by regions; it holds the next SET while the code is walked backwards. */
static void find_aliases(const flat_code *b, facts *f) {
    for (uint32_t i = b->n; i-- > 0;) {
        const kinst *x = &b->code[i];
        if (x->op == K_SET) f->match[x->a] = i;
        if (x->op != K_GET || !f->live[i]) continue;
        uint32_t set = f->match[x->a];
        f->alias[i] = !set || set > f->last[i];
        if (f->alias[i] && f->last[i] > f->last[x->a]) f->last[x->a] = f->last[i];
    }
}

/* ---- LANE loops ---- */

#define MOST_LOCAL 4096                /* bytes of LOCAL arrays a lane; more of them keep chunks small */

/* Lanes that keep values from chunk to chunk, have numbers or talk are exactly the kernel's; others come in any number. */
static void find_exact(const flat_code *b, facts *f) {
    uint64_t local = 0;
    uint32_t lane = NONE;
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i];
        if (x->op == K_FOR && loop_kind(x) == LOOP_LANE) {
            lane = i;
            local = 0;
        }
        if (lane == NONE) continue;
        if (x->op == K_SHUFFLE || x->op == K_LANE_INDEX || ((x->op == K_GET || x->op == K_SET) && b->code[x->a].flags & VAR_LANES)) f->exact_lanes[lane] = 1;
        if (x->op == K_LOCAL && (local += (uint64_t)x->a * ktype_table[x->type].size) > MOST_LOCAL) f->exact_lanes[lane] = 1;
        if (x->op == K_END && x->a == lane) lane = NONE;
    }
}

bool find_facts(const kernel *k, const flat_code *b, arena *mem, facts *f) {
    size_t n = (size_t)b->n + 1;
    uint8_t *bytes = arena_zero(mem, n, 8);
    uint32_t *words = arena_zero(mem, n, 4 * sizeof *words);
    if (!bytes || !words) return false;
    *f = (facts){ .varies = bytes, .depth = bytes + n, .live = bytes + 2 * n, .form = bytes + 3 * n, .wants_lanes = bytes + 4 * n, .exact_lanes = bytes + 5 * n,
                  .alias = bytes + 6 * n, .widened = bytes + 7 * n, .divergent = words, .match = words + n, .loop = words + 2 * n, .last = words + 3 * n };
    kir_varying(b->code, b->n, b->extra, f->varies, f->depth, f->divergent);
    find_regions(b, f);
    find_live(b, f);
    for (uint32_t i = 0; i < b->n; i++) {
        f->form[i] = form_of(k, b, f, i);
        f->widened[i] = is_widened(b, f, i);
    }
    for (uint32_t i = b->n; i-- > 0;) if (f->live[i]) want_lanes(b, f, i);
    find_last(b, f);
    find_aliases(b, f);
    find_exact(b, f);
    return true;
}
