/* analyse.c: which values are printed inside the expression that uses them, and which get a name.
 *
 * How it works: liveness first, so that nothing unused is printed. Then, from the last instruction to the first, a value
 * with one user in the same C block becomes part of the user's text, if nothing that stands between its place and
 * the statement that evaluates the text (its root) changes what it reads. Texts are the other files' business. */
#include "codegen/source/source.h"

/* ---- operands ---- */

uint32_t source_operand_count(const kinst *i) {
    uint8_t fields = kinst_operands(i);
    if (i->op == K_END || i->op == K_ELSE) return 0;   /* what they close is no value */
    if (fields & OPERAND_LIST) return i->c;
    if (fields & OPERAND_TWO) return 4;
    if (fields & OPERAND_MASK) return i->c ? 3 : 2;
    return fields & OPERAND_C ? 3 : fields & OPERAND_B ? 2 : fields & OPERAND_A ? 1 : 0;
}

operand source_operand_at(const kinst *i, const uint32_t *extra, uint32_t n) {
    uint8_t fields = kinst_operands(i);
    if (fields & OPERAND_LIST) return (operand){ extra[i->b + n], 3 };
    if (fields & OPERAND_TWO && n >= 2) return (operand){ extra[i->c + n - 2], 3 };
    if (fields & OPERAND_MASK && n == 2) return (operand){ i->c - 1, 2 };
    return (operand){ n == 0 ? i->a : n == 1 ? i->b : i->c, (uint8_t)n };
}

/* Operands that are printed: the second part of a complex element shares array, index and mask with the first. */
static uint32_t operands_of(const body *b, uint32_t v) {
    bool second = b->facts[v].pair < v;
    return !second ? source_operand_count(&b->code[v]) : b->code[v].op == K_STORE ? 1 : 0;
}

static operand nth_operand(const body *b, uint32_t v, uint32_t n) {
    return source_operand_at(&b->code[v], b->extra, b->facts[v].pair < v ? 2 : n);
}

bool source_is_flat(const kinst *i) {
    return i->op == K_FOR && (loop_kind(i) == LOOP_BLOCK || (loop_kind(i) == LOOP_GRID && !(i->flags & LOOP_STRIDE)));
}

/* ---- liveness ---- */

static bool has_effect(const kinst *i) {
    switch (i->op) {
    case K_PARAM: case K_FOR: case K_IF: case K_ELSE: case K_LOOP: case K_BREAK_UNLESS: case K_END: case K_STORE: case K_VLOAD: case K_VSTORE:
    case K_ATOMIC: case K_CAS: case K_FENCE: case K_BARRIER: case K_RETURN: case K_FAULT: case K_COMMENT: return true;
    default: return false;
    }
}

static void find_live(body *b) {
    for (uint32_t i = 0; i < b->n; i++) b->facts[i].live = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = b->n; i-- > 0;) {
            fact *f = &b->facts[i];
            const kinst *x = &b->code[i];
            if (f->live || !(has_effect(x) || f->uses == NOWHERE || (x->op == K_SET && b->facts[x->a].live))) continue;
            f->live = changed = true;
            for (uint32_t j = 0; j < operands_of(b, i); j++) b->facts[nth_operand(b, i, j).value].uses = NOWHERE;
            if (f->pair != NOWHERE) b->facts[f->pair].uses = NOWHERE;
        }
    }
}

static void count_uses(body *b) {
    for (uint32_t i = 0; i < b->n; i++) b->facts[i].uses = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        if (!b->facts[i].live) continue;
        for (uint32_t j = 0; j < operands_of(b, i); j++) {
            fact *f = &b->facts[nth_operand(b, i, j).value];
            if (!f->uses++) f->user = i;
        }
    }
}

/* ---- complex elements: two neighbouring parts are one access ---- */

static bool is_one(const kinst *i) { return i->op == K_CONST && i->b == 1 && i->c == 0; }

static bool follows(const body *b, uint32_t index, uint32_t next) {
    const kinst *n = &b->code[next];
    return n->op == KOP_add && n->a == index && is_one(&b->code[n->b]);
}

static void find_pairs(body *b) {
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i], *y;
        bool load = x->op == K_LOAD && x->flags & LOAD_PAIR0, store = x->op == K_STORE && x->flags & STORE_PAIR0;
        if (!b->k || !b->facts[i].live || !(load || store) || b->code[x->a].op != K_PARAM || !b->k->params[b->code[x->a].a].aligned) continue;
        if (b->code[x->a].type != T_F32 && b->code[x->a].type != T_F64) continue;
        uint32_t j = i + 1;
        while (j < b->n && (b->code[j].op < NKOPS || b->code[j].op == K_CONST)) j++;
        if (j >= b->n || !b->facts[j].live) continue;
        y = &b->code[j];
        if (y->op != x->op || y->a != x->a || !follows(b, x->b, y->b) || !(y->flags & (load ? LOAD_PAIR1 : STORE_PAIR1))) continue;
        if (load && y->c != x->c) continue;
        b->facts[i].pair = j;
        b->facts[j].pair = i;
    }
}

/* ---- C blocks ---- */

typedef struct blocks { uint32_t *end, *parent; } blocks;   /* by the instruction that opens a block */

static bool find_regions(body *b, blocks *bl, arena *mem) {
    bl->end = arena_alloc(mem, (b->n + 1) * sizeof *bl->end);
    bl->parent = arena_alloc(mem, (b->n + 1) * sizeof *bl->parent);
    uint32_t *stack = arena_alloc(mem, (b->n + 1) * sizeof *stack), depth = 0, region = NOWHERE;
    if (!bl->end || !bl->parent || !stack) return false;
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i];
        if (x->op == K_END && depth) region = stack[--depth];
        else if (x->op == K_ELSE && depth) region = stack[depth - 1];
        b->facts[i].region = region;
        if (x->op == K_FOR || x->op == K_IF || x->op == K_LOOP) stack[depth++] = region;
        if (((x->op == K_FOR && !source_is_flat(x)) || x->op == K_IF || x->op == K_LOOP || x->op == K_ELSE)) {
            bl->parent[i] = region;
            region = i;
        }
        if (x->op == K_END) bl->end[x->a] = i;
    }
    for (uint32_t i = 0; i < b->n; i++) if (b->code[i].op == K_ELSE) bl->end[i] = bl->end[b->code[i].a];
    return true;
}

/* The last instruction that may run before a text at `at`, seen from a block outside: a loop runs again. */
static uint32_t reach_from(const body *b, const blocks *bl, uint32_t outer, uint32_t at) {
    uint32_t r = b->facts[at].region;
    if (r == outer) return at;
    while (r != NOWHERE && bl->parent[r] != outer) r = bl->parent[r];
    return r == NOWHERE ? b->n : bl->end[r];
}

/* ---- what may move past what ---- */

static bool is_private(const body *b, uint32_t array) { return b->code[array].op == K_LOCAL; }

/* Nobody writes this array while the kernel runs. */
static bool is_readonly(const body *b, uint32_t array) {
    const kinst *x = &b->code[array];
    if (x->op == K_TABLE) return true;
    return x->op == K_PARAM && b->k && !b->k->params[x->a].written && !b->k->params[x->a].aliased;
}

/* May instruction w change what a LOAD or GET reads? */
static bool disturbs(const body *b, uint32_t v, uint32_t w) {
    const kinst *x = &b->code[v], *y = &b->code[w];
    if (x->op == K_GET) return y->op == K_SET && y->a == x->a;
    if (x->op == K_ATOMIC || x->op == K_CAS) return y->op == K_LOAD || (has_effect(y) && y->op != K_COMMENT);
    if (x->op == K_SHUFFLE || x->op == K_BALLOT) return y->op == K_BARRIER || y->op == K_FOR || y->op == K_LOOP;
    if (x->op != K_LOAD || is_readonly(b, x->a)) return false;
    switch (y->op) {
    case K_STORE: case K_VSTORE: case K_ATOMIC: case K_CAS: return is_private(b, x->a) || is_private(b, y->a) ? y->a == x->a : true;
    case K_VLOAD: return y->c == x->a;
    case K_FENCE: case K_BARRIER: return !is_private(b, x->a);
    case K_LOAD: return (x->flags | y->flags) & (LOAD_ACQUIRE | LOAD_RELAXED);
    default: return false;
    }
}

static bool disturbed(const body *b, uint32_t v, uint32_t last) {
    for (uint32_t w = v + 1; w < last && w < b->n; w++) if (b->facts[w].live && disturbs(b, v, w)) return true;
    return false;
}

/* ---- folding ---- */

static bool is_lazy_slot(const kinst *user, uint32_t slot) {
    if (user->op == KOP_select) return slot > 0;
    if (user->op == KOP_and || user->op == KOP_or) return user->type == T_BOOL && slot == 1;
    return user->op == K_LOAD && user->c && slot == 1;
}

static uint32_t slot_in(const body *b, uint32_t user, uint32_t v) {
    for (uint32_t j = 0; j < operands_of(b, user); j++) {
        operand o = nth_operand(b, user, j);
        if (o.value == v) return o.slot;
    }
    return 0;
}

static bool widens(const body *b, const kinst *x) {
    if (x->op != KOP_convert) return false;
    const ktype_info *to = &ktype_table[x->type], *from = &ktype_table[b->code[x->a].type];
    return to->is_int && from->is_int && to->size > from->size && (to->is_signed || !from->is_signed);
}

static bool is_plain_op(const kinst *x) { return x->op < NKOPS || x->op == K_CALL || x->op == K_LANE_INDEX; }

/* The index of a flat loop goes into its user as blockIdx or threadIdx where unsigned arithmetic gives the same bits. */
static bool folds_builtin(const body *b, uint32_t v) {
    const kinst *x = &b->code[v], *u = &b->code[b->facts[v].user];
    return x->type == T_I32 && b->facts[v].uses == 1 && (u->op == KOP_add || u->op == KOP_mul) && u->type == T_I32;
}

static bool folds_once(const body *b, uint32_t v) {
    const kinst *x = &b->code[v];
    const fact *f = &b->facts[v];
    bool reads = x->op == K_LOAD || x->op == K_SHUFFLE || x->op == K_BALLOT || x->op == K_ATOMIC || x->op == K_CAS;
    if (f->uses != 1 || !(reads || is_plain_op(x))) return false;
    if (x->op == K_CALL && device_functions[x->a].nresults > 1) return false;
    const kinst *u = &b->code[f->user];
    const fact *uf = &b->facts[f->user];
    if (uf->region != f->region || (uf->fold && uf->repeated)) return false;
    if (u->op == K_RESULT || (f->bound && (reads || x->op == K_CALL))) return false;
    bool lazy = f->lazy && !(x->op == K_LOAD && is_private(b, x->a));   /* memory is asked early, registers are there */
    return !(reads && (lazy || disturbed(b, v, uf->root)));
}

static void decide(body *b, uint32_t v) {
    const kinst *x = &b->code[v];
    fact *f = &b->facts[v];
    bool named = b->names && b->names[v];
    f->root = x->op == K_STORE && f->pair != NOWHERE && f->pair > v ? f->pair : v;
    if (!f->live || !f->uses) return;
    if (f->uses == 1) {
        const fact *u = &b->facts[f->user];
        f->lazy = is_lazy_slot(&b->code[f->user], slot_in(b, f->user, v)) || (u->fold && u->lazy);
    }
    if (x->op == K_GET) f->fold = !named && !f->repeated && !disturbed(b, v, f->far);
    else if (source_is_flat(x)) f->fold = !named && !f->repeated && folds_builtin(b, v);
    else if (named || f->pair != NOWHERE) f->fold = false;
    else if (widens(b, x)) f->fold = true;
    else f->fold = !f->repeated && folds_once(b, v);
    if (f->fold && widens(b, x) && (f->uses > 1 || b->facts[f->user].region != f->region)) {
        f->repeated = true;
        f->root = f->far;
    } else if (f->fold && f->uses == 1) {
        f->root = b->facts[f->user].root;
    }
}

/* Tells v's operands where v's text stands. `repeated` on an operand means: be a name. */
static void tell_operands(body *b, const blocks *bl, uint32_t v) {
    const fact *f = &b->facts[v];
    if (!f->live) return;
    for (uint32_t j = 0; j < operands_of(b, v); j++) {
        uint32_t w = nth_operand(b, v, j).value;
        fact *o = &b->facts[w];
        uint32_t far = reach_from(b, bl, o->region, f->root);
        bool is_end = b->code[v].op == K_FOR && !source_is_flat(&b->code[v]) && j == 1;
        o->bound |= is_end || (f->fold && f->bound);
        if (is_end) far = bl->end[v];
        else if (f->fold && f->bound && f->far != NOWHERE && f->far > far) far = f->far;
        if (far > o->far || o->far == NOWHERE) o->far = far;
        if (f->fold && f->repeated) o->repeated = true;
    }
}

static void find_alignment(body *b) {
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i];
        if (x->op != K_VLOAD && x->op != K_VSTORE) continue;
        uint32_t arrays[2] = { x->a, x->c };
        for (int j = 0; j < 2; j++) {
            uint32_t bytes = (x->flags & ~LOAD_STREAM) * ktype_table[b->code[x->c].type].size;
            if (bytes > 16) bytes = 16;
            if (bytes > b->facts[arrays[j]].align) b->facts[arrays[j]].align = (uint8_t)bytes;
        }
    }
}

bool source_analyse(printer *p, body *b) {
    blocks bl;
    b->facts = arena_zero(&p->mem, b->n + 1, sizeof *b->facts);
    b->exprs = arena_zero(&p->mem, b->n + 1, sizeof *b->exprs);
    if (!b->facts || !b->exprs || !find_regions(b, &bl, &p->mem)) return false;
    for (uint32_t i = 0; i < b->n; i++) b->facts[i].pair = b->facts[i].far = NOWHERE;
    b->facts[b->n].region = NOWHERE;
    find_live(b);
    find_pairs(b);
    for (uint32_t i = 0; i < b->n; i++) b->facts[i].uses = 0;
    find_live(b);
    count_uses(b);
    find_alignment(b);
    for (uint32_t v = b->n; v-- > 0;) {
        decide(b, v);
        tell_operands(b, &bl, v);
    }
    return source_index_arithmetic(b, &p->mem);
}
