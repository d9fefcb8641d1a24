/* interpret.c: the lockstep interpreter: what kernel IR means.
 *
 * How it works: a run has a number of lanes: the threads of a block inside BLOCK loops, a chunk of iterations inside LANE
 * loops, one elsewhere. A value is one element a lane, or a single one while all lanes agree (step 0). Control flow that
 * lanes do not share runs under masks. Threads of a block move together, so a barrier is nothing and a shuffle a
 * permutation; blocks run in order, so a kernel that waits for earlier blocks does not wait. */
#include <string.h>
#include "codegen/reference/reference.h"

#define CHUNK 256                        /* iterations of a LANE loop at a time where lanes keep nothing between chunks */
#define MOST_ITERATIONS ((int64_t)1 << 32)
#define MOST_DEPTH 64                    /* calls inside calls */

typedef struct slot { char *at; int step; int lanes; } slot;   /* lanes: of a VAR or LOCAL, when it was declared */

/* A body being run: a kernel's, or a function's. */
typedef struct frame {
    const kinst *code; uint32_t ncode;
    const uint32_t *extra;
    uint32_t *match;                     /* IF: its ELSE or END; ELSE, FOR, LOOP: the END */
    slot *slots;
    struct frame **calls;                /* per CALL, made when first needed */
    uint8_t **masks; int64_t **counters; /* per IF and loop: its mask, its lanes' counters, made when first needed */
    const slot *arguments;               /* a function's */
    slot results[8];
} frame;

typedef struct run {
    const kernel *k;
    const uint64_t *args;
    uint64_t *fault;
    message *m;
    arena mem;
    int most, lanes;                     /* capacity and present number of lanes */
    int warp;
    bool lane_state;                     /* lanes keep values or talk: chunks are exactly W */
    int64_t lo, hi;                      /* of GRID axis 0 */
    int64_t *index;                      /* scratch */
    int depth;
} run;

typedef enum { GOES_ON, LEFT, FAILED } flow;

static flow out_of_memory(run *r) { fail_memory(r->m, "interpreting a kernel"); return FAILED; }

/* ---- frames ---- */

static frame *frame_new(run *r, const kinst *code, uint32_t ncode, const uint32_t *extra) {
    frame *f = arena_zero(&r->mem, 1, sizeof *f);
    if (!f) return NULL;
    *f = (frame){ .code = code, .ncode = ncode, .extra = extra };
    f->match = arena_zero(&r->mem, ncode + 1, sizeof *f->match);
    f->slots = arena_zero(&r->mem, ncode + 1, sizeof *f->slots);
    f->calls = arena_zero(&r->mem, ncode + 1, sizeof *f->calls);
    f->masks = arena_zero(&r->mem, ncode + 1, sizeof *f->masks);
    f->counters = arena_zero(&r->mem, ncode + 1, sizeof *f->counters);
    if (!f->match || !f->slots || !f->calls || !f->masks || !f->counters) return NULL;
    for (uint32_t i = 0; i < ncode; i++) {
        if (code[i].op == K_ELSE) f->match[code[i].a] = i;
        if (code[i].op != K_END) continue;
        uint32_t opener = code[i].a;
        if (f->match[opener]) f->match[f->match[opener]] = i;     /* the ELSE's END */
        else f->match[opener] = i;
    }
    return f;
}

/* Room for the value of instruction i in every lane. */
static char *room(run *r, frame *f, uint32_t i) {
    slot *s = &f->slots[i];
    if (!s->at) s->at = arena_alloc(&r->mem, 8 * (size_t)r->most);
    return s->at;
}

static operand value(const frame *f, uint32_t i) { return (operand){ f->slots[i].at, f->slots[i].step }; }
static size_t value_size(const frame *f, uint32_t i) { return ktype_table[ktype_value((ktype)f->code[i].type)].size; }

static int64_t integer_at(const frame *f, uint32_t i, int lane) {
    const slot *s = &f->slots[i];
    return (int64_t)reference_word((ktype)f->code[i].type, s->at + (size_t)(lane * s->step) * value_size(f, i));
}

static bool true_at(const frame *f, uint32_t i, int lane) { return f->slots[i].at[lane * f->slots[i].step] != 0; }

static bool any(const uint8_t *mask, int n) { return memchr(mask, 1, (size_t)n) != NULL; }

/* The mask of opener i, as narrow as the one around it. */
static uint8_t *mask_of(run *r, frame *f, uint32_t i, const uint8_t *outer) {
    if (!f->masks[i]) f->masks[i] = arena_alloc(&r->mem, (size_t)r->most);
    uint8_t *mask = f->masks[i];
    if (!mask) return NULL;
    if (outer) memcpy(mask, outer, (size_t)r->lanes);
    else memset(mask, 1, (size_t)r->lanes);
    return mask;
}

/* ---- variables ---- */

static bool copy_value(char *to, const slot *from, size_t size, int lanes) {
    if (from->step) memcpy(to, from->at, size * (size_t)lanes);
    else memcpy(to, from->at, size);
    return true;
}

static void spread(slot *s, size_t size, int lanes) {
    if (s->step) return;
    for (int l = lanes; l-- > 1;) memcpy(s->at + (size_t)l * size, s->at, size);
    s->step = 1;
}

static flow declare(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    slot *s = &f->slots[i];
    if (!room(r, f, i)) return out_of_memory(r);
    s->step = f->slots[x->a].step;
    copy_value(s->at, &f->slots[x->a], value_size(f, i), r->lanes);
    if (x->flags & VAR_LANES) {
        s->step = 0;
        spread(s, value_size(f, i), r->most);
    }
    return GOES_ON;
}

static flow get(run *r, frame *f, uint32_t i) {
    const slot *var = &f->slots[f->code[i].a];
    if (!room(r, f, i)) return out_of_memory(r);
    f->slots[i].step = var->step;
    copy_value(f->slots[i].at, var, value_size(f, i), r->lanes);
    return GOES_ON;
}

static void set(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    slot *var = &f->slots[x->a];
    const slot *v = &f->slots[x->b];
    size_t size = value_size(f, x->a);
    if (!mask && !v->step && !var->step) { memcpy(var->at, v->at, size); return; }
    spread(var, size, r->lanes);
    for (int l = 0; l < r->lanes; l++)
        if (!mask || mask[l]) memcpy(var->at + (size_t)l * size, v->at + (size_t)(l * v->step) * size, size);
}

/* ---- memory ---- */

/* Address of the array for a lane; LOCAL arrays differ by lane. */
static char *array_at(const run *r, const frame *f, uint32_t i, int lane) {
    const kinst *x = &f->code[i];
    if (x->op == K_PARAM) return (char *)(uintptr_t)r->args[x->a];
    if (x->op == K_TABLE) return (char *)(uintptr_t)device_tables[x->a].data;
    const slot *s = &f->slots[i];
    return s->at + (x->op == K_LOCAL && s->lanes > 1 ? (size_t)lane * x->a * ktype_table[x->type].size : 0);
}

static ktype array_type(const run *r, const frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    return x->op == K_PARAM ? r->k->params[x->a].type : x->op == K_TABLE ? device_tables[x->a].type : (ktype)x->type;
}

static bool per_lane(const run *r, const frame *f, uint32_t i) { return f->code[i].op == K_LOCAL && f->slots[i].lanes > 1 && r->lanes > 1; }

static flow make_array(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    slot *s = &f->slots[i];
    s->lanes = x->op == K_LOCAL ? r->lanes : 1;
    if (!s->at) s->at = arena_zero(&r->mem, (size_t)x->a * (x->op == K_LOCAL ? (size_t)r->most : 1), ktype_table[x->type].size);
    return s->at ? GOES_ON : out_of_memory(r);
}

static const uint8_t *load_mask(run *r, frame *f, const kinst *x, const uint8_t *mask, uint8_t *both) {
    if (!x->c) return mask;
    for (int l = 0; l < r->lanes; l++) both[l] = (uint8_t)((!mask || mask[l]) && true_at(f, x->c - 1, l));
    return both;
}

static flow load(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    ktype t = array_type(r, f, x->a);
    char *to = room(r, f, i);
    uint8_t both[1024];
    if (!to) return out_of_memory(r);
    if (!f->slots[x->b].step && !x->c && !per_lane(r, f, x->a)) {          /* one address for all */
        int64_t at = integer_at(f, x->b, 0);
        f->slots[i].step = 0;
        reference_load(to, array_at(r, f, x->a, 0), t, &at, NULL, 1);
        return GOES_ON;
    }
    mask = load_mask(r, f, x, mask, both);
    f->slots[i].step = 1;
    size_t size = value_size(f, i);
    for (int l = 0; l < r->lanes; l++) r->index[l] = integer_at(f, x->b, l);
    if (!per_lane(r, f, x->a)) { reference_load(to, array_at(r, f, x->a, 0), t, r->index, mask, r->lanes); return GOES_ON; }
    for (int l = 0; l < r->lanes; l++) reference_load(to + (size_t)l * size, array_at(r, f, x->a, l), t, &r->index[l], mask ? &mask[l] : NULL, 1);
    return GOES_ON;
}

static void store(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    ktype t = array_type(r, f, x->a);
    size_t size = ktype_table[ktype_value(t)].size;
    operand v = value(f, x->c);
    for (int l = 0; l < r->lanes; l++) {
        if (mask && !mask[l]) continue;
        int64_t at = integer_at(f, x->b, l);
        operand one = { (const char *)v.at + (size_t)(l * v.step) * size, 0 };
        reference_store(array_at(r, f, x->a, l), t, &at, one, NULL, 1);
    }
}

/* A vector between memory and a LOCAL array of the same storage type. */
static void vector(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    size_t size = ktype_table[array_type(r, f, x->a)].size;
    for (int l = 0; l < r->lanes; l++) {
        if (mask && !mask[l]) continue;
        char *memory = array_at(r, f, x->a, l) + integer_at(f, x->b, l) * (int64_t)size, *local = array_at(r, f, x->c, l);
        memcpy(x->op == K_VLOAD ? local : memory, x->op == K_VLOAD ? memory : local, size * x->flags);
    }
}

static flow atomic(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    ktype t = array_type(r, f, x->a);
    size_t size = ktype_table[t].size;
    char *to = room(r, f, i);
    if (!to) return out_of_memory(r);
    f->slots[i].step = 1;
    for (int l = 0; l < r->lanes; l++) {
        if (mask && !mask[l]) continue;
        char *at = array_at(r, f, x->a, l) + integer_at(f, x->b, l) * (int64_t)size;
        uint64_t old = x->op == K_ATOMIC ? reference_atomic(at, t, x->flags, (uint64_t)integer_at(f, x->c, l))
                                         : reference_compare_exchange(at, t, (uint64_t)integer_at(f, f->extra[x->c], l), (uint64_t)integer_at(f, f->extra[x->c + 1], l));
        reference_put(t, to + (size_t)l * size, old);
    }
    return GOES_ON;
}

/* ---- between lanes ---- */

static flow shuffle(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    char *to = room(r, f, i);
    if (!to) return out_of_memory(r);
    size_t size = value_size(f, i);
    const slot *v = &f->slots[x->a];
    int width = x->c ? (int)x->c : r->warp;
    f->slots[i].step = 1;
    for (int l = 0; l < r->lanes; l++) {
        int distance = (int)integer_at(f, x->b, l), base = l / width * width, in = l - base, from = in;
        switch (x->flags) {
        case SHUFFLE_XOR: from = in ^ distance; break;
        case SHUFFLE_DOWN: from = in + distance; break;
        case SHUFFLE_UP: from = in - distance; break;
        default: from = distance & (width - 1); break;
        }
        if (from < 0 || from >= width || base + from >= r->lanes) from = in;
        memcpy(to + (size_t)l * size, v->at + (size_t)((base + from) * v->step) * size, size);
    }
    return GOES_ON;
}

static flow lane_numbers(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    char *to = room(r, f, i);
    if (!to) return out_of_memory(r);
    f->slots[i].step = 1;
    for (int l = 0; l < r->lanes; l++) {
        if (f->code[i].op == K_LANE_INDEX) {
            ((int32_t *)(void *)to)[l] = l % r->warp;
            continue;
        }
        uint64_t bits = 0;                                                 /* BALLOT */
        for (int j = l / r->warp * r->warp, b = 0; b < r->warp && j < r->lanes; b++, j++)
            if ((!mask || mask[j]) && true_at(f, f->code[i].a, j)) bits |= (uint64_t)1 << b;
        ((uint64_t *)(void *)to)[l] = bits;
    }
    return GOES_ON;
}

static void note_fault(run *r, frame *f, const kinst *x, const uint8_t *mask) {
    for (int l = 0; l < r->lanes; l++) {
        if ((mask && !mask[l]) || !true_at(f, x->a, l)) continue;
        uint64_t word = fault_word(x->c, integer_at(f, x->b, l)), old = __atomic_load_n(r->fault, __ATOMIC_RELAXED);
        while (word < old && !__atomic_compare_exchange_n(r->fault, &old, word, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) ;
    }
}

/* ---- calls ---- */

static flow execute(run *r, frame *f, uint32_t from, uint32_t to, const uint8_t *mask, uint8_t *live);

static flow call(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    const kfunction *g = &device_functions[x->a];
    if (++r->depth > MOST_DEPTH) { fail(r->m, KN_RUNTIME_ERROR, "device functions call each other too deep"); return FAILED; }
    if (!f->calls[i] && !(f->calls[i] = frame_new(r, g->code, g->ncode, g->extra))) return out_of_memory(r);
    frame *body = f->calls[i];
    slot arguments[32];
    for (uint32_t j = 0; j < x->c && j < 32; j++) arguments[j] = f->slots[f->extra[x->b + j]];
    body->arguments = arguments;
    if (execute(r, body, 0, body->ncode, mask, NULL) == FAILED) return FAILED;
    r->depth--;
    f->slots[i] = body->results[0];
    return GOES_ON;
}

/* ---- control ---- */

static flow serial_loop(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    size_t size = value_size(f, i);
    char *index = room(r, f, i);
    if (!index) return out_of_memory(r);
    int64_t step = integer_at(f, x->c, 0), count = 0;
    if (!f->slots[x->a].step && !f->slots[x->b].step) {
        int64_t end = integer_at(f, x->b, 0);
        for (int64_t v = integer_at(f, x->a, 0); v < end; v += step) {
            f->slots[i].step = 0;
            reference_put((ktype)x->type, index, (uint64_t)v);
            if (execute(r, f, i + 1, f->match[i], mask, NULL) == FAILED) return FAILED;
        }
        return GOES_ON;
    }
    uint8_t *now = mask_of(r, f, i, mask);
    if (!f->counters[i]) f->counters[i] = arena_alloc(&r->mem, sizeof(int64_t) * (size_t)r->most);
    int64_t *at = f->counters[i];
    if (!now || !at) return out_of_memory(r);
    for (int l = 0; l < r->lanes; l++) at[l] = integer_at(f, x->a, l);
    for (;; count++) {
        for (int l = 0; l < r->lanes; l++) {
            now[l] = (uint8_t)((!mask || mask[l]) && at[l] < integer_at(f, x->b, l));
            reference_put((ktype)x->type, index + (size_t)l * size, (uint64_t)at[l]);
            at[l] += step;
        }
        f->slots[i].step = 1;
        if (!any(now, r->lanes)) return GOES_ON;
        if (count > MOST_ITERATIONS) { fail(r->m, KN_RUNTIME_ERROR, "a loop in a kernel does not end"); return FAILED; }
        if (execute(r, f, i + 1, f->match[i], now, NULL) == FAILED) return FAILED;
    }
}

static flow grid_loop(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    char *index = room(r, f, i);
    if (!index) return out_of_memory(r);
    bool first = loop_axis(x) == 0;
    int64_t lo = first ? r->lo : 0, hi = integer_at(f, x->b, 0);
    if (first && hi > r->hi) hi = r->hi;
    for (int64_t g = lo; g < hi; g++) {
        f->slots[i].step = 0;
        reference_put((ktype)x->type, index, (uint64_t)g);
        if (execute(r, f, i + 1, f->match[i], NULL, NULL) == FAILED) return FAILED;
    }
    return GOES_ON;
}

static flow block_loop(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    const uint16_t *b = r->k->block;
    int outer = r->lanes, nx = b[0], ny = b[1] ? b[1] : 1, nz = b[2] ? b[2] : 1;
    char *index = room(r, f, i);
    if (!index) return out_of_memory(r);
    r->lanes = nx * ny * nz;
    f->slots[i].step = 1;
    for (int l = 0; l < r->lanes; l++) {
        int axis = loop_axis(x), v = axis == 0 ? l % nx : axis == 1 ? l / nx % ny : l / (nx * ny);
        reference_put((ktype)x->type, index + (size_t)l * value_size(f, i), (uint64_t)v);
    }
    flow how = execute(r, f, i + 1, f->match[i], mask, NULL);
    r->lanes = outer;
    return how;
}

static flow lane_loop(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    char *index = room(r, f, i);
    if (!index) return out_of_memory(r);
    int chunk = r->lane_state ? r->k->lanes : CHUNK;
    int64_t end = integer_at(f, x->b, 0);
    uint8_t tail[CHUNK > 1024 ? CHUNK : 1024];
    for (int64_t base = 0; base < end; base += chunk) {
        int n = end - base < chunk ? (int)(end - base) : chunk;
        const uint8_t *mask = NULL;
        r->lanes = r->lane_state ? chunk : n;
        if (r->lanes > n) {
            for (int l = 0; l < r->lanes; l++) tail[l] = l < n;
            mask = tail;
        }
        f->slots[i].step = 1;
        for (int l = 0; l < r->lanes; l++) reference_put((ktype)x->type, index + (size_t)l * value_size(f, i), (uint64_t)(base + l));
        flow how = execute(r, f, i + 1, f->match[i], mask, NULL);
        r->lanes = 1;
        if (how == FAILED) return FAILED;
    }
    return GOES_ON;
}

static flow branch(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    uint32_t middle = f->match[i], end = f->code[middle].op == K_ELSE ? f->match[middle] : middle;
    if (!f->slots[x->a].step) {
        if (true_at(f, x->a, 0)) return execute(r, f, i + 1, middle, mask, NULL);
        return middle < end ? execute(r, f, middle + 1, end, mask, NULL) : GOES_ON;
    }
    uint8_t *now = mask_of(r, f, i, mask);
    if (!now) return out_of_memory(r);
    for (int l = 0; l < r->lanes; l++) now[l] = (uint8_t)((!mask || mask[l]) && true_at(f, x->a, l));
    if (any(now, r->lanes) && execute(r, f, i + 1, middle, now, NULL) == FAILED) return FAILED;
    if (middle == end) return GOES_ON;
    for (int l = 0; l < r->lanes; l++) now[l] = (uint8_t)((!mask || mask[l]) && !true_at(f, x->a, l));
    return any(now, r->lanes) ? execute(r, f, middle + 1, end, now, NULL) : GOES_ON;
}

static flow endless_loop(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    uint8_t *live = mask_of(r, f, i, mask);
    if (!live) return out_of_memory(r);
    for (int64_t count = 0; any(live, r->lanes); count++) {
        flow how = execute(r, f, i + 1, f->match[i], live, live);
        if (how != GOES_ON) return how == LEFT ? GOES_ON : FAILED;
        if (count > MOST_ITERATIONS) { fail(r->m, KN_RUNTIME_ERROR, "a loop in a kernel does not end"); return FAILED; }
    }
    return GOES_ON;
}

static flow for_loop(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    switch (loop_kind(&f->code[i])) {
    case LOOP_GRID: return grid_loop(r, f, i);
    case LOOP_BLOCK: return block_loop(r, f, i, mask);
    case LOOP_LANE: return lane_loop(r, f, i);
    default: return serial_loop(r, f, i, mask);
    }
}

/* ---- one instruction after the other ---- */

static flow parameter(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    if (f->arguments) { f->slots[i] = f->arguments[x->a]; return GOES_ON; }
    if (r->k->params[x->a].array) return GOES_ON;
    char *to = room(r, f, i);
    if (!to) return out_of_memory(r);
    f->slots[i].step = 0;
    reference_put((ktype)x->type, to, r->args[x->a]);
    return GOES_ON;
}

static flow constant(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    char *to = room(r, f, i);
    if (!to) return out_of_memory(r);
    f->slots[i].step = 0;
    reference_put((ktype)x->type, to, (uint64_t)x->c << 32 | x->b);
    return GOES_ON;
}

static flow primitive(run *r, frame *f, uint32_t i) {
    const kinst *x = &f->code[i];
    static const uint8_t arity[NKOPS] = {
#define KOP(name, n, ...) [KOP_##name] = n,
#include "ir/kir/kops.def"
    };
    char *to = room(r, f, i);
    if (!to) return out_of_memory(r);
    operand a = value(f, x->a), b = arity[x->op] > 1 ? value(f, x->b) : a, c = arity[x->op] > 2 ? value(f, x->c) : a;
    int n = a.step | b.step | c.step ? r->lanes : 1;
    f->slots[i].step = n > 1 || r->lanes == 1 ? n > 1 : a.step | b.step | c.step;
    ktype from = (ktype)f->code[x->op == KOP_select ? x->b : x->a].type;
    if (x->op == KOP_convert) reference_convert(to, (ktype)x->type, a, from, n);
    else if (x->op == KOP_bitcast) copy_value(to, &f->slots[x->a], ktype_table[from].size, n);
    else reference_operation((kop)x->op, from, to, a, b, c, n);
    return GOES_ON;
}

static flow other(run *r, frame *f, uint32_t i, const uint8_t *mask) {
    const kinst *x = &f->code[i];
    switch (x->op) {
    case K_PARAM: return parameter(r, f, i);
    case K_CONST: return constant(r, f, i);
    case K_VAR: return declare(r, f, i);
    case K_GET: return get(r, f, i);
    case K_SET: set(r, f, i, mask); return GOES_ON;
    case K_LOCAL: case K_SHARED: return make_array(r, f, i);
    case K_LOAD: return load(r, f, i, mask);
    case K_STORE: store(r, f, i, mask); return GOES_ON;
    case K_VLOAD: case K_VSTORE: vector(r, f, i, mask); return GOES_ON;
    case K_ATOMIC: case K_CAS: return atomic(r, f, i, mask);
    case K_SHUFFLE: return shuffle(r, f, i);
    case K_LANE_INDEX: case K_BALLOT: return lane_numbers(r, f, i, mask);
    case K_FIRST_LANE: {
        char *to = room(r, f, i);
        if (!to) return out_of_memory(r);
        f->slots[i].step = 0;
        memcpy(to, f->slots[x->a].at, value_size(f, i));
        return GOES_ON;
    }
    case K_CALL: return call(r, f, i, mask);
    case K_RESULT: f->slots[i] = f->calls[x->a]->results[x->b]; return GOES_ON;
    case K_RETURN:
        for (uint32_t j = 0; j < x->c && j < 8; j++) f->results[j] = f->slots[f->extra[x->b + j]];
        return GOES_ON;
    case K_FAULT: note_fault(r, f, x, mask); return GOES_ON;
    default: return GOES_ON;                                               /* TABLE, FENCE, BARRIER, COMMENT */
    }
}

/* live: the mask of the LOOP whose body this is; BREAK_UNLESS narrows it. */
static flow execute(run *r, frame *f, uint32_t from, uint32_t to, const uint8_t *mask, uint8_t *live) {
    for (uint32_t i = from; i < to; i++) {
        const kinst *x = &f->code[i];
        flow how = GOES_ON;
        if (x->op < NKOPS) {
            how = primitive(r, f, i);
        } else if (x->op == K_FOR) {
            how = for_loop(r, f, i, mask);
            i = f->match[i];
        } else if (x->op == K_IF) {
            how = branch(r, f, i, mask);
            i = f->match[i];
            if (f->code[i].op == K_ELSE) i = f->match[i];
        } else if (x->op == K_LOOP) {
            how = endless_loop(r, f, i, mask);
            i = f->match[i];
        } else if (x->op == K_BREAK_UNLESS) {
            for (int l = 0; l < r->lanes; l++) live[l] = (uint8_t)(live[l] && true_at(f, x->a, l));
            if (!any(live, r->lanes)) return LEFT;
        } else {
            how = other(r, f, i, mask);
        }
        if (how == FAILED) return FAILED;
    }
    return GOES_ON;
}

static bool lanes_talk(const kernel *k) {
    for (uint32_t i = 0; i < k->ncode; i++) {
        const kinst *x = &k->code[i];
        if (x->op == K_SHUFFLE || x->op == K_FIRST_LANE || x->op == K_LANE_INDEX || (x->op == K_VAR && x->flags & VAR_LANES)) return true;
    }
    return false;
}

kn_status reference_run(const kernel *k, const uint64_t *args, int64_t lo, int64_t hi, uint64_t *fault, message *m) {
    message own = { 0 };
    run r = { .k = k, .args = args, .fault = fault, .m = m ? m : &own, .lanes = 1, .lo = lo, .hi = hi };
    int threads = k->block[0] * (k->block[1] ? k->block[1] : 1) * (k->block[2] ? k->block[2] : 1);
    r.lane_state = lanes_talk(k);
    r.most = threads > k->lanes ? threads : k->lanes;
    if (r.most < CHUNK && k->lanes) r.most = CHUNK;
    if (r.most < 1) r.most = 1;
    r.warp = k->warp ? k->warp : k->lanes ? k->lanes : 1;
    r.index = arena_alloc(&r.mem, sizeof *r.index * (size_t)r.most);
    frame *f = r.index ? frame_new(&r, k->code, k->ncode, k->extra) : NULL;
    if (!f) out_of_memory(&r);
    else execute(&r, f, 0, k->ncode, NULL, NULL);
    arena_free(&r.mem);
    return r.m->status;
}
