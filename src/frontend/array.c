/* array.c: slots and cells: what a handle stands for.
 *
 * How it works: slots live in chunks that never move, so a handle is checked by index and generation without a lock; free
 * slots form a list under a mutex. Whoever lets go of a handle's last owner frees the slot, and its generation rises.
 * What operations mean, and how values come about, must not be put here. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

/* ---- slots ---- */

#define CHUNK 4096
#define MOST_CHUNKS 65536

static struct {
    pthread_mutex_t mutex;
    slot *chunk[MOST_CHUNKS];
    uint32_t nchunks, free;               /* free: index + 1 of the first free slot */
    int64_t live;
} slots = { .mutex = PTHREAD_MUTEX_INITIALIZER };

slot *slot_of(kn_array a) {
    uint32_t index = (uint32_t)a.id, generation = (uint32_t)(a.id >> 32);
    if (!index || index > (uint32_t)MOST_CHUNKS * CHUNK - 1) return NULL;
    slot *chunk = __atomic_load_n(&slots.chunk[(index - 1) / CHUNK], __ATOMIC_ACQUIRE);
    if (!chunk) return NULL;
    slot *s = &chunk[(index - 1) % CHUNK];
    return __atomic_load_n(&s->generation, __ATOMIC_ACQUIRE) == generation && s->kind != SLOT_FREE ? s : NULL;
}

/* One more chunk on the free list; mutex held. */
static bool add_chunk(void) {
    if (slots.nchunks == MOST_CHUNKS) return false;
    slot *chunk = mem_zero(CHUNK, sizeof *chunk);
    if (!chunk) return false;
    uint32_t first = slots.nchunks * CHUNK;
    for (uint32_t i = 0; i < CHUNK; i++) {
        chunk[i].generation = 1;
        chunk[i].next_free = i + 1 < CHUNK ? first + i + 2 : slots.free;
    }
    slots.free = first + 1;
    __atomic_store_n(&slots.chunk[slots.nchunks], chunk, __ATOMIC_RELEASE);
    slots.nchunks++;
    return true;
}

static slot *slot_take(slot_kind kind, kn_array *handle) {
    pthread_mutex_lock(&slots.mutex);
    if (!slots.free && !add_chunk()) { pthread_mutex_unlock(&slots.mutex); return NULL; }
    uint32_t index = slots.free;
    slot *s = &slots.chunk[(index - 1) / CHUNK][(index - 1) % CHUNK];
    slots.free = s->next_free;
    slots.live++;
    pthread_mutex_unlock(&slots.mutex);
    s->kind = (uint8_t)kind;
    s->readonly = false;
    s->owners = 1;
    s->c = NULL;
    s->window = NULL;
    handle->id = (uint64_t)s->generation << 32 | index;
    return s;
}

static void slot_empty(slot *s) {
    if (s->kind == SLOT_ERROR && s->u.error && __atomic_sub_fetch(&s->u.error->refs, 1, __ATOMIC_ACQ_REL) == 0) mem_free(s->u.error);
    cell_drop(s->c);
    mem_free(s->window);
    s->c = NULL;
    s->window = NULL;
}

static void slot_free(slot *s, uint32_t index) {
    slot_empty(s);
    s->kind = SLOT_FREE;
    uint32_t generation = s->generation + 1;
    __atomic_store_n(&s->generation, generation ? generation : 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&slots.mutex);
    s->next_free = slots.free;
    slots.free = index;
    slots.live--;
    pthread_mutex_unlock(&slots.mutex);
}

int64_t handles_live(void) {
    pthread_mutex_lock(&slots.mutex);
    int64_t n = slots.live;
    pthread_mutex_unlock(&slots.mutex);
    return n;
}

static void let_go(slot *s, kn_array a) { if (--s->owners == 0) slot_free(s, (uint32_t)a.id); }

/* A scope closes: the handle is its own no longer. */
void handle_let_go(kn_array a, uint64_t scope) {
    slot *s = slot_of(a);
    if (!s || s->scope != scope) return;
    s->scope = 0;
    let_go(s, a);
}

/* An error array that is always there, for when not even an error array can be made. */
static kn_array last_resort(const message *m) {
    error_record(m);
    return (kn_array){ 0 };
}

static kn_array own(slot *s, kn_array a) {
    s->scope = scope_innermost();
    if (s->scope && scope_adopt(s->scope, a)) return a;
    message m = { 0 };
    if (s->scope) fail_memory(&m, "making an array");
    else fail(&m, KN_SCOPE_ERROR, "no scope is open: write KN_SCOPE(s); as the first line of the block that makes arrays");
    s->scope = 0;
    let_go(s, a);
    return last_resort(&m);
}

/* ---- cells ---- */

cell *cell_new(node *value, message *m) {
    cell *c = value ? mem_zero(1, sizeof *c) : NULL;
    if (!c) {
        node_drop(value);
        if (value) fail_memory(m, "making an array");
        return NULL;
    }
    c->refs = 1;
    c->value = value;
    return c;
}

void cell_drop(cell *c) {
    if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL)) return;
    if (c->registered) updates_remove(&c->value);
    node_drop(c->value);
    buffer_drop(c->shared);
    mem_free(c);
}

static void cell_lock(cell *c) { while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE)) ; }
static void cell_unlock(cell *c) { __atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE); }

node *cell_node(cell *c) {
    cell_lock(c);
    node *n = node_keep(c->value);
    cell_unlock(c);
    return n;
}

/* A registered cell's value is read by evaluations, which hold the graph mutex. */
void cell_set(cell *c, node *value) {
    if (c->registered) pthread_mutex_lock(&graph_mutex);
    cell_lock(c);
    node *old = c->value;
    c->value = value;
    cell_unlock(c);
    if (c->registered) pthread_mutex_unlock(&graph_mutex);
    node_drop(old);
}

/* ---- new handles ---- */

kn_array array_error(const message *m) {
    error_record(m);
    size_t n = strlen(m->text) + 1;
    error_note *e = mem_alloc(sizeof *e + n);
    if (!e) return (kn_array){ 0 };
    e->refs = 1;
    e->status = m->status ? m->status : KN_RUNTIME_ERROR;
    memcpy(e->text, m->text, n);
    kn_array a;
    slot *s = slot_take(SLOT_ERROR, &a);
    if (!s) { mem_free(e); return (kn_array){ 0 }; }
    s->u.error = e;
    return own(s, a);
}

kn_array array_fail(kn_status status, const char *format, ...) {
    message m = { .status = status };
    va_list args;
    va_start(args, format);
    vsnprintf(m.text, sizeof m.text, format, args);
    va_end(args);
    return array_error(&m);
}

kn_array array_error_of(slot *of) {
    kn_array a;
    slot *s = slot_take(SLOT_ERROR, &a);
    if (!s) return (kn_array){ 0 };
    s->u.error = of->u.error;
    __atomic_fetch_add(&s->u.error->refs, 1, __ATOMIC_RELAXED);
    return own(s, a);
}

static kn_array no_memory(void) {
    message m = { 0 };
    fail_memory(&m, "making an array");
    return last_resort(&m);
}

kn_array array_number(scalar number) {
    kn_array a;
    slot *s = slot_take(SLOT_NUMBER, &a);
    if (!s) return no_memory();
    s->u.number = number;
    return own(s, a);
}

kn_array array_from_node(node *n) {
    message m = { 0 };
    cell *c = cell_new(n, &m);
    if (!c) return last_resort(&m);
    kn_array a;
    slot *s = slot_take(SLOT_ARRAY, &a);
    if (!s) { cell_drop(c); return no_memory(); }
    s->c = c;
    return own(s, a);
}

kn_array array_from_window(cell *c, const layout *l, bool readonly) {
    layout *copy = mem_alloc(sizeof *copy);
    kn_array a;
    slot *s = copy ? slot_take(SLOT_ARRAY, &a) : NULL;
    if (!s) { mem_free(copy); return no_memory(); }
    *copy = *l;
    __atomic_fetch_add(&c->refs, 1, __ATOMIC_RELAXED);
    s->c = c;
    s->window = copy;
    s->readonly = readonly;
    return own(s, a);
}

kn_array kn_same_(kn_array a) { return a; }
kn_array kn_bool_(bool v) { return array_number((scalar){ SCALAR_BOOL, { .b = v } }); }
kn_array kn_int_(int64_t v) { return array_number((scalar){ SCALAR_INT, { .i = v } }); }
kn_array kn_uint_(uint64_t v) { return v <= INT64_MAX ? kn_int_((int64_t)v) : array_number((scalar){ SCALAR_UINT, { .u = v } }); }
kn_array kn_float_(double v) { return array_number((scalar){ SCALAR_FLOAT, { .f = v } }); }
kn_array kn_complex_(double re, double im) { return array_number((scalar){ SCALAR_COMPLEX, { .c = { re, im } } }); }

/* ---- owners ---- */

kn_array kn_keep(kn_array a) {
    slot *s = slot_of(a);
    if (s) s->owners++;
    return a;
}

void kn_release(kn_array a) {
    slot *s = slot_of(a);
    if (!s) return;
    if (s->scope && s->owners == 1) s->scope = 0;     /* released early: its scope finds it gone */
    let_go(s, a);
}

kn_array kn_return(kn_scope from, kn_array a) {
    slot *s = slot_of(a);
    if (!s || s->scope != from.id || !from.id) return a;
    uint64_t outer = scope_around(from.id);
    if (!outer) {
        message m = { 0 };
        fail(&m, KN_SCOPE_ERROR, "kn_return: no scope is open around the one that closes; open one in the caller, or use kn_keep");
        error_record(&m);
        return a;
    }
    if (scope_adopt(outer, a)) s->scope = outer;
    return a;
}

/* variable = v: the variable's slot shows what v shows; its owner stays. */
kn_array kn_let(kn_array variable, kn_array v) {
    slot *to = slot_of(variable), *from = slot_of(v);
    if (!to) return array_fail(KN_SCOPE_ERROR, "kn_let: %s", kn_message(variable));
    if (!from) {
        message m = { 0 };
        fail(&m, KN_SCOPE_ERROR, "kn_let: %s", kn_message(v));
        array_spoil(variable, &m);
        return variable;
    }
    if (to == from) return variable;
    layout *window = from->window ? mem_alloc(sizeof *window) : NULL;
    if (from->window && !window) {
        message m = { 0 };
        fail_memory(&m, "kn_let");
        array_spoil(variable, &m);
        return variable;
    }
    if (from->c) __atomic_fetch_add(&from->c->refs, 1, __ATOMIC_RELAXED);
    if (from->kind == SLOT_ERROR) __atomic_fetch_add(&from->u.error->refs, 1, __ATOMIC_RELAXED);
    slot_empty(to);
    to->kind = from->kind;
    to->readonly = from->readonly;
    to->u = from->u;
    to->c = from->c;
    if (window) *window = *from->window;
    to->window = window;
    return variable;
}

void array_spoil(kn_array a, const message *m) {
    error_record(m);
    slot *s = slot_of(a);
    size_t n = strlen(m->text) + 1;
    error_note *e = s ? mem_alloc(sizeof *e + n) : NULL;
    if (!e) return;
    e->refs = 1;
    e->status = m->status ? m->status : KN_RUNTIME_ERROR;
    memcpy(e->text, m->text, n);
    slot_empty(s);
    s->kind = SLOT_ERROR;
    s->u.error = e;
}
