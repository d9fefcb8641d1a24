/* varying.c: which values may differ between lanes: the threads of a block, or the lanes of a LANE loop.
 *
 * How it works: walks over the code until nothing changes, because a variable may be set after it is read in a loop.
 * Whatever is not known to agree varies; control that depends on such a value is divergent, and a variable that is set
 * under more divergence than it was declared under varies. */
#include <string.h>
#include "ir/kir/kir.h"

#define MOST_OPEN 64

typedef struct walk {
    const kinst *code; uint32_t ncode;
    const uint32_t *extra;
    uint8_t *varies, *depth;
    uint32_t *divergent;         /* per opener: lanes may part there */
    uint32_t open[MOST_OPEN]; int nopen;
    int lanes;                   /* BLOCK and LANE loops that are open */
    uint8_t now;                 /* divergent regions that are open */
    bool changed;
} walk;

static void mark(walk *w, uint8_t *flag) {
    if (!*flag) *flag = 1;
    else return;
    w->changed = true;
}

static void part(walk *w, uint32_t opener) {
    if (w->divergent[opener]) return;
    w->divergent[opener] = 1;
    w->changed = true;
}

static bool operands_vary(const walk *w, const kinst *x) {
    uint8_t fields = kinst_operands(x);
    if (fields & OPERAND_A && w->varies[x->a]) return true;
    if (fields & OPERAND_B && w->varies[x->b]) return true;
    if (fields & OPERAND_C && w->varies[x->c]) return true;
    if (fields & OPERAND_MASK && x->c && w->varies[x->c - 1]) return true;
    if (fields & OPERAND_LIST) for (uint32_t j = 0; j < x->c; j++) if (w->varies[w->extra[x->b + j]]) return true;
    return false;
}

static void enter(walk *w, uint32_t i) {
    const kinst *x = &w->code[i];
    if (w->nopen < MOST_OPEN) w->open[w->nopen++] = i;
    if (x->op == K_IF && w->varies[x->a]) part(w, i);
    if (x->op == K_FOR) {
        int kind = loop_kind(x);
        bool lanes = kind == LOOP_BLOCK || kind == LOOP_LANE;
        w->lanes += lanes;
        if (lanes || w->varies[x->a]) mark(w, &w->varies[i]);
        if (!lanes && (w->varies[x->a] || w->varies[x->b])) part(w, i);
    }
    w->now = (uint8_t)(w->now + w->divergent[i]);
}

static void leave(walk *w) {
    if (!w->nopen) return;
    uint32_t i = w->open[--w->nopen];
    const kinst *x = &w->code[i];
    w->now = (uint8_t)(w->now - w->divergent[i]);
    if (x->op == K_FOR) w->lanes -= loop_kind(x) == LOOP_BLOCK || loop_kind(x) == LOOP_LANE;
}

static void visit(walk *w, uint32_t i) {
    const kinst *x = &w->code[i];
    switch (x->op) {
    case K_VAR: if (x->flags & VAR_LANES || w->varies[x->a]) mark(w, &w->varies[i]); break;
    case K_SET: if (w->varies[x->b] || w->depth[i] > w->depth[x->a]) mark(w, &w->varies[x->a]); break;
    case K_LOCAL: case K_ATOMIC: case K_CAS: case K_LANE_INDEX: case K_BALLOT: if (w->lanes) mark(w, &w->varies[i]); break;
    case K_SHUFFLE: if (w->varies[x->a]) mark(w, &w->varies[i]); break;
    case K_BREAK_UNLESS: if (w->varies[x->a] && w->nopen) part(w, w->open[w->nopen - 1]); break;
    case K_FIRST_LANE: break;
    default: if (x->type != T_VOID && operands_vary(w, x)) mark(w, &w->varies[i]); break;
    }
}

void kir_varying(const kinst *code, uint32_t ncode, const uint32_t *extra, uint8_t *varies, uint8_t *depth, uint32_t *scratch) {
    walk w = { .code = code, .ncode = ncode, .extra = extra, .varies = varies, .depth = depth, .divergent = scratch };
    memset(varies, 0, ncode);
    memset(scratch, 0, ncode * sizeof *scratch);
    do {
        w.changed = false;
        w.now = 0;
        w.nopen = w.lanes = 0;
        for (uint32_t i = 0; i < ncode; i++) {
            uint16_t op = code[i].op;
            if (op == K_END) leave(&w);
            depth[i] = w.now;
            if (op == K_FOR || op == K_IF || op == K_LOOP) enter(&w, i);
            else if (op != K_END && op != K_ELSE) visit(&w, i);
        }
    } while (w.changed);
}
