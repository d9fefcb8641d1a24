/* lanes.c: steps that look at lanes one by one: variables under a mask, memory, what goes between lanes, faults. */
#include <string.h>
#include "codegen/reference/reference.h"

int64_t lane_integer(const machine *r, uint32_t at, unsigned form, bool wide, int lane) {
    const char *p = r->base + at;
    if (form == FORM_AFFINE) {
        const affine *a = (const affine *)(const void *)p;
        return (int64_t)((uint64_t)a->first + (uint64_t)a->step * (uint64_t)lane);
    }
    int l = form == FORM_LANES ? lane : 0;
    return wide ? ((const int64_t *)(const void *)p)[l] : ((const int32_t *)(const void *)p)[l];
}

static bool is_active(const machine *r, int lane) { return !r->mask || r->mask[lane]; }

/* ---- variables ---- */

#define SET_LANES(W)                                                                                                    \
    {                                                                                                                   \
        W *to = (W *)(void *)(r->base + s->to);                                                                         \
        const W *from = (const W *)(const void *)(r->base + s->a);                                                      \
        int by = s->form[0] == FORM_LANES;                                                                              \
        if (!mask) for (int l = 0; l < n; l++) to[l] = from[l * by];                                                    \
        else for (int l = 0; l < n; l++) to[l] = mask[l] ? from[l * by] : to[l];                                        \
        return;                                                                                                         \
    }

void run_set(machine *r, const step *s) {
    const uint8_t *mask = r->mask;
    int n = r->n;
    switch (s->count) {
    case 1: SET_LANES(uint8_t)
    case 2: SET_LANES(any16)
    case 4: SET_LANES(any32)
    default: SET_LANES(any64)
    }
}

/* ---- memory ---- */

static char *array_of(const machine *r, uint32_t cell) {
    char *p;
    memcpy(&p, r->base + cell, sizeof p);
    return p;
}

/* The index of every lane into an array of `copies` elements a step (one copy a lane), or a plain one (0). */
static const int64_t *gather_indices(const machine *r, const step *s, uint32_t copies) {
    int64_t *index = (int64_t *)(void *)(r->base + r->code->scratch_index);
    for (int l = 0; l < r->n; l++) {
        int64_t i = lane_integer(r, s->b, s->form[1], s->wide & 2, l);
        index[l] = copies ? i * (int64_t)copies + l : i;
    }
    return index;
}

/* Address of lane 0 and elements from lane to lane, where the index is affine or shared. */
static char *line(const machine *r, const step *s, int64_t *stride) {
    affine a = affine_of(r, s->b, s->form[1], s->wide & 2);
    if (s->count) a = (affine){ a.first * (int64_t)s->count, a.step * (int64_t)s->count + 1 };
    *stride = a.step;
    return array_of(r, s->a) + a.first * (int64_t)ktype_table[s->type].size;
}

/* The lanes that load: the mask around and the load's own. False: a shared mask that is off. */
static bool load_mask(const machine *r, const step *s, const uint8_t **mask) {
    *mask = r->mask;
    if (s->form[2] == FORM_NONE) return true;
    const uint8_t *own = (const uint8_t *)r->base + s->c;
    if (s->form[2] == FORM_CELL) return *own != 0;
    if (!r->mask) { *mask = own; return true; }
    uint8_t *both = (uint8_t *)r->base + r->code->scratch_mask;
    for (int l = 0; l < r->n; l++) both[l] = r->mask[l] & own[l];
    *mask = both;
    return true;
}

static void load_ordered(const machine *r, const step *s, char *to, const uint8_t *mask, int n) {
    size_t size = ktype_table[s->type].size;
    for (int l = 0; l < n; l++) {
        char *r_l = to + (size_t)l * size;
        uint64_t bits = 0;
        if (!mask || mask[l]) bits = ordered_load(array_of(r, s->a) + lane_integer(r, s->b, s->form[1], s->wide & 2, l) * (int64_t)size, (ktype)s->type, s->flags & LOAD_ACQUIRE);
        reference_put((ktype)s->type, r_l, bits);
    }
}

void run_load(machine *r, const step *s) {
    const uint8_t *mask;
    char *to = r->base + s->to;
    ktype t = (ktype)s->type;
    int n = s->kind == STEP_LOAD ? r->n : 1;
    if (!load_mask(r, s, &mask)) { memset(to, 0, (size_t)n * ktype_table[ktype_value(t)].size); return; }
    if (s->kind == STEP_LOAD_CELL) mask = NULL;                            /* somebody is active, or this would not run */
    if (s->flags & (LOAD_ACQUIRE | LOAD_RELAXED)) { load_ordered(r, s, to, mask, n); return; }
    int64_t stride;
    if (s->form[1] == FORM_LANES) reference_load(to, array_of(r, s->a), t, gather_indices(r, s, s->count), mask, n);
    else {
        const char *first = line(r, s, &stride);
        load_strided(to, first, t, stride, mask, n);
    }
}

static void store_ordered(const machine *r, const step *s, int n) {
    size_t size = ktype_table[s->type].size;
    for (int l = 0; l < n; l++) {
        if (n > 1 && !is_active(r, l)) continue;
        const char *v = r->base + s->c + (s->form[2] == FORM_LANES ? (size_t)l * size : 0);
        ordered_store(array_of(r, s->a) + lane_integer(r, s->b, s->form[1], s->wide & 2, l) * (int64_t)size, (ktype)s->type, s->flags & STORE_RELEASE, reference_word((ktype)s->type, v));
    }
}

void run_store(machine *r, const step *s) {
    bool cell = s->kind == STEP_STORE_CELL;
    int n = cell ? 1 : r->n;
    const uint8_t *mask = cell ? NULL : r->mask;
    operand v = { r->base + s->c, s->form[2] == FORM_LANES };
    if (s->flags & (STORE_RELEASE | STORE_RELAXED)) { store_ordered(r, s, n); return; }
    int64_t stride;
    if (s->form[1] == FORM_LANES) reference_store(array_of(r, s->a), (ktype)s->type, gather_indices(r, s, s->count), v, mask, n);
    else {
        char *first = line(r, s, &stride);
        store_strided(first, (ktype)s->type, stride, v, mask, n);
    }
}

/* A vector between memory and a LOCAL array of the same storage type; elements stay as they are. */
void run_vector(machine *r, const step *s) {
    size_t size = ktype_table[s->type].size;
    char *memory = array_of(r, s->a), *local = array_of(r, s->c);
    int n = s->form[0] == FORM_LANES ? r->n : 1;
    int64_t by_memory = s->count ? s->count : 1, by_local = s->extra ? s->extra : 1;
    for (int l = 0; l < n; l++) {
        if (n > 1 && !is_active(r, l)) continue;
        int64_t first = lane_integer(r, s->b, s->form[1], s->wide & 2, l) * by_memory + (s->count ? l : 0);
        for (int64_t i = 0; i < s->flags; i++) {
            char *m = memory + (first + i * by_memory) * (int64_t)size, *v = local + (i * by_local + (s->extra ? l : 0)) * (int64_t)size;
            memcpy(s->shared ? m : v, s->shared ? v : m, size);
        }
    }
}

/* ---- lanes among each other ---- */

static uint64_t lane_word(const machine *r, uint32_t at, bool lanes, ktype t, int l) {
    return reference_word(t, r->base + at + (lanes ? (size_t)l * ktype_table[t].size : 0));
}

/* In the order of the lanes. */
void run_atomic(machine *r, const step *s) {
    ktype t = (ktype)s->type;
    size_t size = ktype_table[t].size;
    int n = s->form[0] == FORM_LANES ? r->n : 1;
    for (int l = 0; l < n; l++) {
        if (n > 1 && !is_active(r, l)) continue;
        char *at = array_of(r, s->a) + lane_integer(r, s->b, s->form[1], s->wide & 2, l) * (int64_t)size;
        uint64_t v = lane_word(r, s->c, s->form[2] == FORM_LANES, t, l);
        uint64_t old = s->kind == STEP_ATOMIC ? reference_atomic(at, t, s->flags, v) : reference_compare_exchange(at, t, v, lane_word(r, s->extra, s->shared, t, l));
        reference_put(t, r->base + s->to + (size_t)l * size, old);
    }
}

void run_shuffle(machine *r, const step *s) {
    size_t size = ktype_table[s->type].size;
    int width = (int)s->count;
    for (int l = 0; l < r->n; l++) {
        int64_t by = lane_integer(r, s->b, s->form[1], false, l);
        int base = l / width * width, in = l - base;
        int64_t from = in;
        switch (s->flags) {
        case SHUFFLE_XOR: from = in ^ by; break;
        case SHUFFLE_DOWN: from = in + by; break;
        case SHUFFLE_UP: from = in - by; break;
        default: from = by & (width - 1); break;
        }
        if (from < 0 || from >= width || base + from >= r->n) from = in;
        memcpy(r->base + s->to + (size_t)l * size, r->base + s->a + (size_t)(base + from) * size, size);
    }
}

void run_ballot(machine *r, const step *s) {
    int warp = r->code->warp;
    uint64_t *to = (uint64_t *)(void *)(r->base + s->to);
    const uint8_t *v = (const uint8_t *)r->base + s->a;
    for (int from = 0; from < r->n; from += warp) {
        uint64_t bits = 0;
        int n = r->n - from < warp ? r->n - from : warp;
        for (int l = 0; l < n; l++) if (is_active(r, from + l) && v[s->form[0] == FORM_LANES ? from + l : 0]) bits |= (uint64_t)1 << l;
        for (int l = 0; l < n; l++) to[from + l] = bits;
    }
}

void run_lane_index(machine *r, const step *s) {
    int32_t *to = (int32_t *)(void *)(r->base + s->to);
    for (int l = 0; l < r->n; l++) to[l] = l % r->code->warp;
}

void run_fault(machine *r, const step *s) {
    const uint8_t *condition = (const uint8_t *)r->base + s->a;
    int n = s->form[0] == FORM_LANES || s->form[1] == FORM_LANES ? r->n : 1;
    for (int l = 0; l < n; l++) {
        if (!condition[s->form[0] == FORM_LANES ? l : 0] || (n > 1 && !is_active(r, l))) continue;
        uint64_t word = fault_word(s->count, lane_integer(r, s->b, s->form[1], true, l)), old = __atomic_load_n(r->fault, __ATOMIC_RELAXED);
        while (word < old && !__atomic_compare_exchange_n(r->fault, &old, word, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) ;
    }
}
