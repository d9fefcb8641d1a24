/* array.c: slots and cells: what a handle stands for.
 *
 * How it works: slots live in chunks that never move, so a handle is checked by index and generation without a lock. Free
 * slots form a list under a mutex, of which every thread keeps a few for itself. Whoever lets go of a handle's last owner
 * frees the slot, and its generation rises. Two error arrays lie outside the chunks and are always there, for the moments
 * when no array can be made. What operations mean, and how values come about, must not be put here. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

/* ---- slots ---- */

#define CHUNK 4096u
#define MOST_CHUNKS 65536u
#define FIRST_RESORT (MOST_CHUNKS * CHUNK + 1)   /* handle indices from here on name the permanent error arrays */

static struct {
    pthread_mutex_t mutex;
    slot *chunk[MOST_CHUNKS];             /* atomic */
    uint32_t nchunks, free;               /* free: index + 1 of the first free slot */
    int64_t out;                          /* slots that threads hold, used or spare */
    struct spares *threads;
} slots = { .mutex = PTHREAD_MUTEX_INITIALIZER };

enum { RESORT_MEMORY, RESORT_SCOPE, NRESORTS };
#define RESORT_TEXT 160
static struct { uint32_t refs; kn_status status; char text[RESORT_TEXT]; } resort_notes[NRESORTS] = {
    { 1, KN_MEMORY_ERROR, "out of memory while making an array" },
    { 1, KN_SCOPE_ERROR, "no scope is open: write KN_SCOPE(s); as the first line of the block that makes arrays" },
};
_Static_assert(sizeof(resort_notes[0]) == sizeof(error_note) + RESORT_TEXT, "laid out as an error_note");
static slot resorts[NRESORTS] = {
    { .generation = 1, .kind = SLOT_ERROR, .owners = 1, .u.error = (error_note *)&resort_notes[0] },
    { .generation = 1, .kind = SLOT_ERROR, .owners = 1, .u.error = (error_note *)&resort_notes[1] },
};

static bool is_resort(const slot *s) { return s >= resorts && s < resorts + NRESORTS; }

slot *slot_of(kn_array a) {
    uint32_t index = (uint32_t)a.id, generation = (uint32_t)(a.id >> 32);
    if (index - FIRST_RESORT < NRESORTS) return generation == 1 ? &resorts[index - FIRST_RESORT] : NULL;
    if (index - 1 >= MOST_CHUNKS * CHUNK) return NULL;
    slot *chunk = __atomic_load_n(&slots.chunk[(index - 1) / CHUNK], __ATOMIC_ACQUIRE);
    if (!chunk) return NULL;
    slot *s = &chunk[(index - 1) % CHUNK];
    return __atomic_load_n(&s->generation, __ATOMIC_ACQUIRE) == generation && s->kind != SLOT_FREE ? s : NULL;
}

static slot *slot_at(uint32_t index) { return &slots.chunk[(index - 1) / CHUNK][(index - 1) % CHUNK]; }

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
    __atomic_store_n(&slots.chunk[slots.nchunks], chunk, __ATOMIC_RELEASE);
    slots.free = first + 1;
    slots.nchunks++;
    return true;
}

/* Free slots and cells of this thread; handed back in bulk, and when the thread ends. */
#define SPARE_SLOTS 64u
typedef struct spares {
    uint32_t n;                           /* atomic: others count */
    uint32_t index[SPARE_SLOTS];
    cell *cells; uint32_t ncells;         /* linked through `value` */
    bool watched;
    struct spares *next, **back;          /* in slots.threads, while watched */
} spares;
static _Thread_local spares spare;
static pthread_key_t spare_key;
static pthread_once_t spare_once = PTHREAD_ONCE_INIT;

static void spare_count(uint32_t n) { __atomic_store_n(&spare.n, n, __ATOMIC_RELAXED); }

/* Mutex held. */
static void give_back_spares(uint32_t keep) {
    while (spare.n > keep) {
        uint32_t index = spare.index[spare.n - 1];
        spare_count(spare.n - 1);
        slot_at(index)->next_free = slots.free;
        slots.free = index;
        slots.out--;
    }
}

static void thread_ends(void *unused) {
    (void)unused;
    pthread_mutex_lock(&slots.mutex);
    give_back_spares(0);
    if (spare.watched) {
        *spare.back = spare.next;
        if (spare.next) spare.next->back = spare.back;
        spare.watched = false;
    }
    pthread_mutex_unlock(&slots.mutex);
    while (spare.cells) {
        cell *c = spare.cells;
        spare.cells = (cell *)(void *)c->value;
        mem_free(c);
    }
    spare.ncells = 0;
}

static void make_spare_key(void) { pthread_key_create(&spare_key, thread_ends); }

/* So that its spares come back when the thread ends; mutex held. */
static void watch_thread(void) {
    pthread_once(&spare_once, make_spare_key);
    if (pthread_setspecific(spare_key, &spare)) return;
    spare.watched = true;
    spare.next = slots.threads;
    spare.back = &slots.threads;
    if (spare.next) spare.next->back = &spare.next;
    slots.threads = &spare;
}

static bool take_spares(void) {
    pthread_mutex_lock(&slots.mutex);
    if (!spare.watched) watch_thread();
    while (spare.n < SPARE_SLOTS / 2 && (slots.free || (spare.n == 0 && add_chunk()))) {
        uint32_t index = slots.free;
        slots.free = slot_at(index)->next_free;
        spare.index[spare.n] = index;
        spare_count(spare.n + 1);
        slots.out++;
    }
    pthread_mutex_unlock(&slots.mutex);
    return spare.n > 0;
}

static void keep_spare(uint32_t index) {
    if (!spare.watched || spare.n == SPARE_SLOTS) {
        pthread_mutex_lock(&slots.mutex);
        if (!spare.watched) watch_thread();
        if (spare.n == SPARE_SLOTS) give_back_spares(SPARE_SLOTS / 2);
        pthread_mutex_unlock(&slots.mutex);
    }
    spare.index[spare.n] = index;
    spare_count(spare.n + 1);
}

static slot *slot_take(slot_kind kind, kn_array *handle) {
    if (!spare.n && !take_spares()) return NULL;
    uint32_t index = spare.index[spare.n - 1];
    spare_count(spare.n - 1);
    slot *s = slot_at(index);
    s->kind = (uint8_t)kind;
    s->readonly = false;
    s->owners = 1;
    s->c = NULL;
    s->window = NULL;
    handle->id = (uint64_t)s->generation << 32 | index;
    return s;
}

static void note_drop(error_note *e) {
    if (e && __atomic_sub_fetch(&e->refs, 1, __ATOMIC_ACQ_REL) == 0) mem_free(e);
}

static void slot_empty(slot *s) {
    if (s->kind == SLOT_ERROR) note_drop(s->u.error);
    cell_drop(s->c);
    mem_free(s->window);
    s->c = NULL;
    s->window = NULL;
}

static void slot_free(slot *s, uint32_t index, const scope_place *at) {
    slot_empty(s);
    if (at) s->gone = *at;
    else s->gone.line = 0;
    s->kind = SLOT_FREE;
    uint32_t generation = s->generation + 1;
    __atomic_store_n(&s->generation, generation ? generation : 1, __ATOMIC_RELEASE);
    keep_spare(index);
}

int64_t handles_live(void) {
    pthread_mutex_lock(&slots.mutex);
    int64_t n = slots.out;
    for (const spares *t = slots.threads; t; t = t->next) n -= __atomic_load_n(&t->n, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&slots.mutex);
    return n;
}

/* Counts go down through this: the last owner is alone, and needs no atomic step. */
static bool last_of(uint32_t *count) {
    return __atomic_load_n(count, __ATOMIC_ACQUIRE) == 1 || __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL) == 0;
}

static void let_go(slot *s, kn_array a, const scope_place *at) {
    if (!is_resort(s) && last_of(&s->owners)) slot_free(s, (uint32_t)a.id, at);
}

void handle_let_go(kn_array a, uint64_t scope, const scope_place *at) {
    slot *s = slot_of(a);
    if (!s || __atomic_load_n(&s->scope, __ATOMIC_RELAXED) != scope) return;
    __atomic_store_n(&s->scope, 0, __ATOMIC_RELAXED);
    let_go(s, a, at);
}

bool handle_gone(kn_array a, scope_place *at) {
    uint32_t index = (uint32_t)a.id, generation = (uint32_t)(a.id >> 32);
    if (index - 1 >= MOST_CHUNKS * CHUNK || !__atomic_load_n(&slots.chunk[(index - 1) / CHUNK], __ATOMIC_ACQUIRE)) return false;
    slot *s = slot_at(index);
    if (__atomic_load_n(&s->generation, __ATOMIC_ACQUIRE) != generation + 1) return false;
    *at = s->gone;
    return at->line > 0;
}

static kn_array last_resort(int which) {
    message m = { .status = resort_notes[which].status };
    memcpy(m.text, resort_notes[which].text, RESORT_TEXT);
    error_record(&m);
    return (kn_array){ (uint64_t)1 << 32 | (FIRST_RESORT + (uint32_t)which) };
}

/* The innermost scope owns the new handle from here on. */
static kn_array own(slot *s, kn_array a) {
    uint64_t scope = scope_innermost();
    __atomic_store_n(&s->scope, scope, __ATOMIC_RELAXED);
    if (scope && scope_adopt(scope, a)) return a;
    __atomic_store_n(&s->scope, 0, __ATOMIC_RELAXED);
    let_go(s, a, NULL);
    return last_resort(scope ? RESORT_MEMORY : RESORT_SCOPE);
}

/* ---- cells ---- */

#define SPARE_CELLS 64u

cell *cell_new(node *value, message *m) {
    cell *c = spare.cells;
    if (c && value) {
        spare.cells = (cell *)(void *)c->value;
        spare.ncells--;
    } else {
        c = value ? mem_alloc(sizeof *c) : NULL;
    }
    if (!c) {
        node_drop(value);
        if (value) fail_memory(m, "making an array");
        return NULL;
    }
    *c = (cell){ .refs = 1, .value = value };
    return c;
}

void cell_drop(cell *c) {
    if (!c || !last_of(&c->refs)) return;
    if (c->registered) updates_remove(&c->value);
    node_drop(c->value);
    loan_end(c->lent);
    if (!spare.watched || spare.ncells == SPARE_CELLS) {
        mem_free(c);
        return;
    }
    c->value = (node *)(void *)spare.cells;
    spare.cells = c;
    spare.ncells++;
}

node *cell_node(cell *c) { return node_keep(c->value); }

/* A registered cell's value is read by evaluations, which hold the graph mutex. */
void cell_set(cell *c, node *value) {
    if (c->registered) pthread_mutex_lock(&graph_mutex);
    node *old = c->value;
    c->value = value;
    if (c->registered) pthread_mutex_unlock(&graph_mutex);
    node_drop(old);
}

/* ---- new handles ---- */

static error_note *note_new(const message *m) {
    size_t n = strlen(m->text) + 1;
    error_note *e = mem_alloc(sizeof *e + n);
    if (!e) return NULL;
    e->refs = 1;
    e->status = m->status ? m->status : KN_RUNTIME_ERROR;
    memcpy(e->text, m->text, n);
    return e;
}

static kn_array error_handle(error_note *e) {
    kn_array a;
    slot *s = e ? slot_take(SLOT_ERROR, &a) : NULL;
    if (!s) {
        note_drop(e);
        return last_resort(RESORT_MEMORY);
    }
    s->u.error = e;
    return own(s, a);
}

kn_array array_error(const message *m) {
    error_record(m);
    return error_handle(note_new(m));
}

kn_array array_fail(kn_status status, const char *format, ...) {
    message m = { .status = status };
    va_list args;
    va_start(args, format);
    vsnprintf(m.text, sizeof m.text, format, args);
    va_end(args);
    return array_error(&m);
}

bool array_failed(kn_array a, message *m) {
    slot *s = slot_of(a);
    if (s && s->kind == SLOT_ERROR) {
        fail(m, s->u.error->status, "%s", s->u.error->text);
        return true;
    }
    if (!s || s->kind != SLOT_ARRAY) return false;
    node *n = cell_node(s->c);
    bool fault = __atomic_load_n(&n->state, __ATOMIC_ACQUIRE) == NODE_FAULT;
    if (fault && m) {
        kn_status status;
        const char *text = node_message(n, &status);
        fail(m, status, "%s", text);
    }
    node_drop(n);
    return fault;
}

kn_array array_bad(kn_array operand, const message *m) {
    if (!array_failed(operand, NULL)) return array_error(m);
    error_repeat(m);
    slot *s = slot_of(operand);
    if (s->kind != SLOT_ERROR) return error_handle(note_new(m));
    __atomic_fetch_add(&s->u.error->refs, 1, __ATOMIC_RELAXED);
    return error_handle(s->u.error);
}

kn_array array_number(scalar number) {
    kn_array a;
    slot *s = slot_take(SLOT_NUMBER, &a);
    if (!s) return last_resort(RESORT_MEMORY);
    s->u.number = number;
    return own(s, a);
}

kn_array array_from_cell(cell *c, bool readonly) {
    kn_array a;
    slot *s = c ? slot_take(SLOT_ARRAY, &a) : NULL;
    if (!s) {
        cell_drop(c);
        return last_resort(RESORT_MEMORY);
    }
    s->c = c;
    s->readonly = readonly;
    return own(s, a);
}

kn_array array_from_node(node *n) { return array_from_cell(cell_new(n, NULL), false); }

static slot_window *window_new(const layout *l) {
    size_t n = (size_t)l->ndim;
    slot_window *w = mem_alloc(sizeof *w + 2 * n * sizeof *w->dims);
    if (!w) return NULL;
    w->dtype = l->dtype;
    w->ndim = l->ndim;
    w->offset = l->offset;
    memcpy(w->dims, l->shape, n * sizeof *w->dims);
    memcpy(w->dims + n, l->strides, n * sizeof *w->dims);
    return w;
}

kn_array array_from_window(cell *c, const layout *l, bool readonly) {
    slot_window *w = window_new(l);
    kn_array a;
    slot *s = w ? slot_take(SLOT_ARRAY, &a) : NULL;
    if (!s) {
        mem_free(w);
        return last_resort(RESORT_MEMORY);
    }
    s->c = cell_keep(c);
    s->window = w;
    s->readonly = readonly;
    return own(s, a);
}

kn_array kn_same_(kn_array a) { return a; }

/* The value is written into the slot's union member by member: whole scalars through memory cost a stall each. */
#define NUMBER(scalar_kind_, member, value)              \
    kn_array a;                                          \
    slot *s = slot_take(SLOT_NUMBER, &a);                \
    if (!s) return last_resort(RESORT_MEMORY);           \
    s->u.number.kind = scalar_kind_;                     \
    s->u.number.v.member = value;                        \
    return own(s, a);
kn_array kn_bool_(bool v) { NUMBER(SCALAR_BOOL, b, v) }
kn_array kn_int_(int64_t v) { NUMBER(SCALAR_INT, i, v) }
static kn_array large_number(uint64_t v) { NUMBER(SCALAR_UINT, u, v) }
kn_array kn_uint_(uint64_t v) { return v <= INT64_MAX ? kn_int_((int64_t)v) : large_number(v); }
kn_array kn_float_(double v) { NUMBER(SCALAR_FLOAT, f, v) }
kn_array kn_complex_(double re, double im) { return array_number((scalar){ SCALAR_COMPLEX, { .c = { re, im } } }); }
#undef NUMBER

/* ---- generators ---- */

kn_rng kn_rng_new(uint64_t seed) {
    kn_array a;
    slot *s = slot_take(SLOT_RANDOM, &a);
    if (!s) return (kn_rng){ last_resort(RESORT_MEMORY).id };
    s->u.stream = (random_stream){ .key = seed };
    return (kn_rng){ own(s, a).id };
}

random_stream *random_of(kn_rng g, const char *what, message *m) {
    kn_array a = { g.id };
    slot *s = slot_of(a);
    if (s && s->kind == SLOT_RANDOM) return &s->u.stream;
    if (s && s->kind == SLOT_ERROR) fail(m, s->u.error->status, "%s", s->u.error->text);
    else if (!g.id || s) fail(m, KN_VALUE_ERROR, "%s: this is no generator; kn_rng_new(seed) makes one", what);
    else fail(m, KN_SCOPE_ERROR, "%s: this generator is gone: the scope it belonged to was closed", what);
    return NULL;
}

/* ---- owners ---- */

kn_array kn_keep(kn_array a) {
    slot *s = slot_of(a);
    if (s && !is_resort(s)) __atomic_fetch_add(&s->owners, 1, __ATOMIC_RELAXED);
    return a;
}

void kn_release(kn_array a) {
    slot *s = slot_of(a);
    if (s) let_go(s, a, NULL);            /* before its scope closes: the scope will find it gone */
}

kn_array kn_return(kn_scope from, kn_array a) {
    slot *s = slot_of(a);
    if (!s || !from.id || __atomic_load_n(&s->scope, __ATOMIC_RELAXED) != from.id) return a;
    uint64_t outer = scope_around(from.id);
    message m = { 0 };
    if (!outer) {
        fail(&m, KN_SCOPE_ERROR, "kn_return: no scope is open around the one that closes; open one in the caller, or use kn_keep");
        error_record(&m);
    } else if (!scope_adopt(outer, a)) {
        fail_memory(&m, "kn_return");
        error_record(&m);
    } else {
        __atomic_store_n(&s->scope, outer, __ATOMIC_RELAXED);
        scope_touch(a);
    }
    return a;
}

/* variable = v: the variable's slot shows what v shows; its owner stays. */
kn_array kn_let(kn_array variable, kn_array v) {
    slot *to = slot_of(variable), *from = slot_of(v);
    if (!to || is_resort(to)) return array_fail(to ? to->u.error->status : KN_SCOPE_ERROR, "kn_let: %s", kn_message(variable));
    message m = { 0 };
    if (!from) {
        fail(&m, KN_SCOPE_ERROR, "kn_let: %s", kn_message(v));
        array_spoil(variable, &m, true);
        return variable;
    }
    if (to == from) return variable;
    slot_window *w = NULL;
    if (from->window) {
        layout l;
        slot_layout(from, &l);
        if (!(w = window_new(&l))) {
            fail_memory(&m, "kn_let");
            array_spoil(variable, &m, true);
            return variable;
        }
    }
    if (from->c) cell_keep(from->c);
    if (from->kind == SLOT_ERROR) __atomic_fetch_add(&from->u.error->refs, 1, __ATOMIC_RELAXED);
    slot_empty(to);
    to->kind = from->kind;
    to->readonly = from->readonly;
    to->u = from->u;
    to->c = from->c;
    to->window = w;
    if (to->kind == SLOT_ARRAY) scope_touch(variable);
    return variable;
}

void array_spoil(kn_array a, const message *m, bool is_new) {
    if (is_new) error_record(m);
    else error_repeat(m);
    slot *s = slot_of(a);
    if (!s || is_resort(s)) return;
    error_note *e = note_new(m);
    if (!e) {
        e = resorts[RESORT_MEMORY].u.error;
        __atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
    }
    slot_empty(s);
    s->kind = SLOT_ERROR;
    s->u.error = e;
}
