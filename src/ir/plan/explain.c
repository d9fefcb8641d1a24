/* explain.c: a plan in words: the graph, the kernels it becomes, why values are stored, why kernels are apart, bytes moved.
 *
 * Reads what the passes left behind and changes nothing. Text for terminals alone; drawings are made from it elsewhere. */
#include <string.h>
#include "ir/plan/internal.h"

/* ---- expressions ---- */

#define MOST_DEPTH 12
#define MOST_TEXT 200

typedef struct writer { const partition *p; const group *g; char at[MOST_TEXT + 64]; size_t len; bool full; } writer;

static void put(writer *w, const char *s) {
    size_t n = strlen(s);
    if (w->full || w->len + n > MOST_TEXT) {
        if (!w->full) { memcpy(w->at + w->len, "...", 4); w->len += 3; }
        w->full = true;
        return;
    }
    memcpy(w->at + w->len, s, n + 1);
    w->len += n;
}

static void put_number(writer *w, const char *stem, uint32_t v) {
    char digits[12], text[24];
    int n = 0;
    do digits[n++] = (char)('0' + v % 10); while (v /= 10);
    size_t len = strlen(stem);
    memcpy(text, stem, len);
    while (n) text[len++] = digits[--n];
    text[len] = 0;
    put(w, text);
}

typedef struct infix { const char *sign; uint8_t strength; } infix;

static infix infix_of(const node *n) {
    if (n->kind != NODE_MAP || n->nin != 2) return (infix){ NULL, 9 };
    switch (n->op) {
    case UFUNC_add: return (infix){ " + ", 4 };
    case UFUNC_subtract: return (infix){ " - ", 4 };
    case UFUNC_multiply: return (infix){ " * ", 5 };
    case UFUNC_divide: return (infix){ " / ", 5 };
    case UFUNC_power: return (infix){ "**", 7 };
    case UFUNC_greater: return (infix){ " > ", 1 };
    case UFUNC_less: return (infix){ " < ", 1 };
    default: return (infix){ NULL, 9 };
    }
}

static void put_value(writer *w, const node *n, int strength, int depth);

static void put_call(writer *w, const char *name, const node *n, int depth) {
    put(w, name);
    put(w, "(");
    for (int i = 0; i < n->nin; i++) {
        if (i) put(w, ", ");
        put_value(w, n->in[i], 0, depth);
    }
    put(w, ")");
}

/* Recursion ends at MOST_DEPTH, whatever the depth of the graph. */
static void put_value(writer *w, const node *n, int strength, int depth) {
    static const char letters[] = "abcdefghijklmopqrtuvwxyz";
    const partition *p = w->p;
    uint32_t v = value_of(p, n), leaf = v - p->nnodes;
    if (w->full) return;
    if (n->kind == NODE_SCALAR) { put_number(w, "s", n->slot - SLOT_SCALAR); return; }
    if (is_leaf(p, v)) {
        char name[2] = { leaf < sizeof letters - 1 ? letters[leaf] : 'x', 0 };
        if (leaf < sizeof letters - 1) put(w, name);
        else put_number(w, "x", leaf);
        return;
    }
    if (depth > MOST_DEPTH) { put(w, "..."); return; }
    if (depth && p->notes[v].anchor && p->notes[v].group != (int32_t)(w->g - p->groups)) { put_number(w, "t", v); return; }
    infix x = infix_of(n);
    switch (n->kind) {
    case NODE_VIEW: {
        bool plain = view_is_whole(n) || n->size >= n->in[0]->size;
        put_value(w, n->in[0], plain ? strength : 9, depth + 1);
        if (!plain) put(w, "[:]");
        break;
    }
    case NODE_MAP:
        if (n->op == UFUNC_negative) { put(w, "-"); put_value(w, n->in[0], 6, depth + 1); break; }
        if (!x.sign) { put_call(w, ufuncs[n->op].name, n, depth + 1); break; }
        if (x.strength < strength) put(w, "(");
        put_value(w, n->in[0], x.strength, depth + 1);
        put(w, x.sign);
        put_value(w, n->in[1], x.strength + 1, depth + 1);
        if (x.strength < strength) put(w, ")");
        break;
    case NODE_REDUCE: put_call(w, reductions[n->op].name, n, depth + 1); break;
    case NODE_SCAN: put(w, "cumulative_"); put_call(w, reductions[n->op].name, n, depth + 1); break;
    case NODE_INDEX: put(w, "arange()"); break;
    case NODE_GATHER: put_call(w, "take", n, depth + 1); break;
    case NODE_WRITE:
        if (!p->notes[v].anchor) {
            if (n->in[0]->kind == NODE_EMPTY) put_value(w, n->in[1], strength, depth + 1);
            else put_call(w, "join", n, depth + 1);
            break;
        }
        put_value(w, n->in[0], 9, depth + 1);
        put(w, "[:] = ");
        put_value(w, n->in[1], 0, depth + 1);
        break;
    case NODE_SCATTER: put_call(w, "put", n, depth + 1); break;
    case NODE_OPAQUE: put_call(w, family_ops[n->op].name, n, depth + 1); break;
    default: put(w, "empty()"); break;
    }
}

const char *expression_of(const partition *p, const group *g, arena *mem) {
    writer w = { .p = p, .g = g };
    bool first = true;
    for (uint32_t i = 0; i < g->nanchors; i++) {
        uint32_t v = g->anchors[i];
        if (!anchor_is_stored(p, v)) continue;
        if (!first) put(&w, "; ");
        put_value(&w, p->notes[v].n, 0, 0);
        first = false;
    }
    w.at[w.len] = 0;
    return arena_copy(mem, w.at, w.len + 1);
}

/* ---- the graph ---- */

static const char *const why_text[] = {
    [WHY_INLINE] = "", [WHY_WANTED] = "asked for", [WHY_KIND] = "", [WHY_LIBRARY] = "a library reads it", [WHY_GATHERED] = "elements of it are picked by index",
    [WHY_BASE] = "an assignment changes it", [WHY_RECOMPUTE] = "computing it again would cost more", [WHY_LARGE] = "the kernel would be too large",
    [WHY_NO_CHAIN] = "its axes do not fit those of its reader", [WHY_OVERLAP] = "an assignment reads what it overwrites", [WHY_NO_FUSION] = "fusion is off",
};

static void put_shape(text *t, const node *n) {
    text_add(t, "(");
    for (int d = 0; d < n->ndim; d++) text_add(t, "%s%lld", d ? ", " : "", (long long)n->shape[d]);
    text_add(t, n->ndim == 1 ? ",)" : ")");
}

static void put_operand(const partition *p, text *t, const node *n) {
    uint32_t v = value_of(p, n);
    if (n->kind == NODE_SCALAR) text_add(t, "scalar%u", n->slot - SLOT_SCALAR);
    else if (is_leaf(p, v)) text_add(t, "in%u", v - p->nnodes);
    else text_add(t, "%%%u", v);
}

static void put_node(const partition *p, text *t, uint32_t v) {
    static const char *const kinds[NNODE_KINDS] = { "buffer", "scalar", "empty", "index", "view", "map", "reduce", "scan", "write", "gather", "scatter", "opaque" };
    const node *n = p->notes[v].n;
    text_add(t, "  %%%u = ", v);
    switch (n->kind) {
    case NODE_MAP: text_add(t, "%s", ufuncs[n->op].name); break;
    case NODE_REDUCE: text_add(t, "reduce %s", reductions[n->op].name); break;
    case NODE_SCAN: text_add(t, "scan %s", reductions[n->op].name); break;
    case NODE_OPAQUE: text_add(t, "%s", family_ops[n->op].name); break;
    default: text_add(t, "%s", kinds[n->kind]); break;
    }
    for (int i = 0; i < n->nin; i++) {
        text_add(t, i ? ", " : " ");
        put_operand(p, t, n->in[i]);
    }
    text_add(t, "  %s", dtype_table[n->dtype].name);
    put_shape(t, n);
    const note *q = &p->notes[v];
    if (!q->anchor) text_add(t, "  inline");
    else if (*why_text[q->why]) text_add(t, "  stored: %s", why_text[q->why]);
    else text_add(t, anchor_is_stored(p, v) ? "  stored" : "  stays in its kernel");
    text_add(t, "\n");
}

void explain_graph(const partition *p, text *t) {
    text_add(t, "graph\n");
    for (int i = 0; i < p->s->nleaves; i++) {
        text_add(t, "  in%d  %s", i, dtype_table[p->s->leaves[i]->dtype].name);
        put_shape(t, p->s->leaves[i]);
        text_add(t, "%s\n", p->s->overwritable[i] ? "  may be overwritten" : "");
    }
    for (uint32_t v = 0; v < p->nnodes; v++) put_node(p, t, v);
}

/* ---- kernels ---- */

static void put_bytes(text *t, int64_t bytes) {
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    double v = (double)bytes;
    int u = 0;
    while (v >= 1000 && u < 4) { v /= 1000; u++; }
    text_add(t, u ? "%.3g %s" : "%.0f %s", v, units[u]);
}

static const char *const way_text[] = { [WRITE_IN_PLACE] = "in place", [WRITE_COPY] = "after copying the old value", [WRITE_COMPLEMENT] = "after copying what it leaves alone",
                                        [WRITE_FRESH] = "all of it" };

static void put_group(const partition *p, text *t, const group *g, int number) {
    text_add(t, "  %d. ", number);
    if (g->kind == GROUP_OPAQUE) text_add(t, "library %s", family_ops[p->notes[g->anchors[0]].n->op].name);
    else {
        arena mem = { 0 };
        const char *e = expression_of(p, g, &mem);
        text_add(t, "kernel %s", e ? e : "");
        arena_free(&mem);
    }
    text_add(t, "\n     makes");
    for (uint32_t i = 0; i < g->nanchors; i++) if (g->kind == GROUP_OPAQUE || anchor_is_stored(p, g->anchors[i])) text_add(t, " %%%u", g->anchors[i]);
    text_add(t, ", reads");
    for (uint32_t i = 0; i < g->nreads; i++) {
        text_add(t, " ");
        put_operand(p, t, p->notes[g->reads[i]].n);
    }
    if (g->kind == GROUP_KERNEL && g->d.outer) {
        text_add(t, "; %lld elements", (long long)g->d.outer);
        if (g->d.inner > 1) text_add(t, " of %lld each, %d pass%s", (long long)g->d.inner, g->t->nstages, g->t->nstages == 1 ? "" : "es");
    }
    text_add(t, "; moves ");
    put_bytes(t, g->bytes);
    text_add(t, "\n");
    for (uint32_t i = 0; i < g->nanchors; i++) {
        const note *q = &p->notes[g->anchors[i]];
        if (q->n->kind == NODE_WRITE || q->n->kind == NODE_SCATTER) text_add(t, "     %%%u is written %s\n", g->anchors[i], way_text[q->way]);
    }
}

void explain_plan(const partition *p, const plan *q, text *t) {
    int number = 0;
    text_add(t, "steps\n");
    for (uint32_t i = 0; i < p->nrun; i++) {
        const group *g = &p->groups[p->run_order[i]];
        if (g->kind == GROUP_KERNEL || g->kind == GROUP_OPAQUE) put_group(p, t, g, ++number);
    }
    if (p->why && p->why->len) {
        text_add(t, "kept apart\n");
        text_addn(t, p->why->at, p->why->len);
    }
    text_add(t, "moved ");
    put_bytes(t, q->bytes_moved);
    text_add(t, ", memory of results and temporaries ");
    put_bytes(t, q->peak_bytes);
    text_add(t, "\n");
}

/* ---- steps ---- */

static void put_place(text *t, const place *at) {
    text_add(t, at->kind == PLACE_LEAF ? "in%d" : "m%d", at->index);
    if (at->offset) text_add(t, "%+lld", (long long)at->offset);
}

void dump_plan(const plan *q, text *t) {
    for (int i = 0; i < q->nmemory; i++) {
        const plan_memory *m = &q->memory[i];
        text_add(t, "m%d  %lld bytes, steps %d to %d", i, (long long)m->bytes, m->first_step, m->last_step);
        if (m->reuses_leaf >= 0) text_add(t, ", is in%d", m->reuses_leaf);
        text_add(t, m->block >= 0 ? ", block %d\n" : "\n", m->block);
    }
    for (int i = 0; i < q->nsteps; i++) {
        const plan_step *s = &q->steps[i];
        text_add(t, "step %d  ", i);
        if (s->kind == STEP_COPY) {
            text_add(t, "copy %lld bytes from ", (long long)s->bytes);
            put_place(t, &s->from);
            text_add(t, " to ");
            put_place(t, &s->to);
        } else if (s->kind == STEP_OPAQUE) {
            text_add(t, "%s", family_ops[s->operation].name);
            for (int j = 0; j < s->nin + s->nout; j++) {
                text_add(t, j == s->nin ? " -> " : " ");
                put_place(t, &s->operands[j].at);
            }
        } else {
            text_add(t, "%s over %lld%s", s->code->name, (long long)s->grid[0], s->serial ? " serial" : "");
            for (int j = 0; j < s->nargs; j++) {
                text_add(t, " %s=", s->code->params[j].name);
                if (s->args[j].kind == ARG_POINTER) put_place(t, &s->args[j].at);
                else if (s->args[j].kind == ARG_INTEGER) text_add(t, "%lld", (long long)s->args[j].value);
                else text_add(t, "scalar%d", s->args[j].scalar);
            }
        }
        text_add(t, "\n");
    }
    for (int i = 0; i < q->nresults; i++) {
        text_add(t, "result %%%d at ", q->results[i].node);
        put_place(t, &q->results[i].at);
        text_add(t, "\n");
    }
}
