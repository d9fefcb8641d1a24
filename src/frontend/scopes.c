/* scopes.c: scopes: who owns handles and strings, and for how long.
 *
 * How it works: every thread has a stack of scopes; a scope has a list of the handles made in it and an arena for strings.
 * Closing lets go of each handle that still belongs to it. A scope's end is also where pending work is cut: what the body
 * left pending in arrays that outlive it is evaluated when it has become much, so that a long loop does the same work, and
 * finds the same kernels, every few steps. What handles are must not be put here. */
#include <pthread.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

#define MOST_TOUCHED 32u
/* Pending work of one array, in nodes, from which on a body's end evaluates. */
#define BODY_WORK 64
/* Memory taken in since the last evaluation at a body's end, from which on it evaluates: pending work keeps it alive. */
#define BODY_BYTES ((int64_t)64 << 20)
/* Scopes with more handles than this give their list back when they close. */
#define KEPT_LIST 4096u

typedef struct scope {
    uint64_t id;
    struct scope *outer;
    kn_array *arrays; uint32_t n, cap;
    kn_array touched[MOST_TOUCHED]; uint32_t ntouched;   /* a ring: what was given a new value here, latest last */
    arena strings;
    kn_status first;                     /* error */
    scope_place at;
} scope;

static _Thread_local scope *innermost;
static _Thread_local scope *spare;        /* one closed scope kept, arrays and all: loops open one every step */
static _Thread_local int64_t taken_in;    /* bytes, see BODY_BYTES */
static uint64_t numbers;                  /* atomic */
static pthread_key_t at_exit_key;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

static void scope_free(scope *s) {
    arena_free(&s->strings);
    mem_free(s->arrays);
    mem_free(s);
}

/* A thread that ends with scopes open closes them. */
static void thread_ends(void *unused) {
    (void)unused;
    while (innermost) kn_scope_close((kn_scope){ innermost->id });
    if (spare) scope_free(spare);
    spare = NULL;
}

static void make_key(void) { pthread_key_create(&at_exit_key, thread_ends); }

static scope *find(uint64_t id) {
    for (scope *s = innermost; s; s = s->outer) if (s->id == id) return s;
    return NULL;
}

uint64_t scope_innermost(void) { return innermost ? innermost->id : 0; }

uint64_t scope_around(uint64_t id) {
    scope *s = find(id);
    return s && s->outer ? s->outer->id : 0;
}

/* Handles that were released or handed on leave the list, so that a scope that stays open does not grow for ever. */
static void forget_gone(scope *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        slot *t = slot_of(s->arrays[i]);
        if (t && __atomic_load_n(&t->scope, __ATOMIC_RELAXED) == s->id) s->arrays[n++] = s->arrays[i];
    }
    s->n = n;
}

bool scope_adopt(uint64_t id, kn_array a) {
    scope *s = innermost && innermost->id == id ? innermost : find(id);
    if (!s) return false;
    if (s->n == s->cap) {
        forget_gone(s);
        if (s->n >= s->cap / 2) {
            uint32_t cap = s->cap ? 2 * s->cap : 64;
            kn_array *p = cap > s->cap ? mem_grow(s->arrays, cap, sizeof *p) : NULL;
            if (p) {
                s->arrays = p;
                s->cap = cap;
            }
        }
        if (s->n == s->cap) return false;
    }
    s->arrays[s->n++] = a;
    return true;
}

void *scope_room(size_t bytes) { return innermost ? arena_alloc(&innermost->strings, bytes) : NULL; }

char *scope_text(const char *text, size_t n) {
    char *p = scope_room(n + 1);
    if (!p) return NULL;
    memcpy(p, text, n);
    p[n] = 0;
    return p;
}

void scope_error(kn_status status) {
    for (scope *s = innermost; s; s = s->outer) if (!s->first) s->first = status;
}

uint32_t scope_made(void) { return innermost ? innermost->n : 0; }

void scope_sweep(uint32_t mark) {
    scope *s = innermost;
    if (!s) return;
    while (s->n > mark) {
        s->n--;
        handle_let_go(s->arrays[s->n], s->id, &s->at);
    }
}

/* ---- pending work at a body's end ---- */

static void touch(scope *s, kn_array a) {
    if (s->ntouched && s->touched[(s->ntouched - 1) % MOST_TOUCHED].id == a.id) return;
    s->touched[s->ntouched++ % MOST_TOUCHED] = a;
    if (s->ntouched == 2 * MOST_TOUCHED) s->ntouched = MOST_TOUCHED;    /* still a full ring */
}

void scope_weigh(int64_t bytes) { if (add_overflows(taken_in, bytes, &taken_in)) taken_in = INT64_MAX; }

void scope_touch(kn_array a) { if (innermost) touch(innermost, a); }

/* The pending value of an array, once each; a new reference. */
static node *pending_value(kn_array a, node *const *known, int nknown) {
    slot *s = slot_of(a);
    if (!s || s->kind != SLOT_ARRAY) return NULL;
    node *n = cell_node(s->c);
    bool wanted = !node_ready(n) && n->kind != NODE_SCALAR && n->kind != NODE_EMPTY;
    for (int i = 0; i < nknown && wanted; i++) wanted = known[i] != n;
    if (wanted) return n;
    node_drop(n);
    return NULL;
}

/* All of them together, so that what they share is computed once. */
static void settle(scope *s) {
    if (!s->ntouched) return;
    node *roots[MOST_TOUCHED];
    int n = 0;
    bool much = taken_in > BODY_BYTES;
    uint32_t have = s->ntouched < MOST_TOUCHED ? s->ntouched : MOST_TOUCHED;
    for (uint32_t i = 0; i < have; i++) {
        node *root = pending_value(s->touched[i], roots, n);
        if (!root) continue;
        much |= __atomic_load_n(&root->work, __ATOMIC_RELAXED) > BODY_WORK;
        roots[n++] = root;
    }
    if (much) taken_in = 0;
    if (much && n) evaluate(roots, n, NULL);      /* what fails here fails again, and is told, when it is read */
    while (n > 0) node_drop(roots[--n]);
    s->ntouched = 0;
}

void scope_boundary(void) { if (innermost) settle(innermost); }

/* ---- opening and closing ---- */

/* The file's name without its folders: a copy, because the text may go before the scope does. */
static void note_place(scope_place *at, const char *file, int line) {
    const char *name = file ? file : "?";
    for (const char *p = name; *p; p++) if (*p == '/' && p[1]) name = p + 1;
    size_t n = strlen(name);
    if (n >= sizeof at->file) n = sizeof at->file - 1;
    memcpy(at->file, name, n);
    at->file[n] = 0;
    at->line = line;
}

kn_scope kn_scope_open_at(const char *file, int line) {
    pthread_once(&at_exit_once, make_key);
    scope *s = spare;
    spare = NULL;
    if (!s && !(s = mem_zero(1, sizeof *s))) {
        message m = { 0 };
        fail_memory(&m, "opening a scope");
        error_record(&m);
        return (kn_scope){ 0 };
    }
    if (!innermost) pthread_setspecific(at_exit_key, &innermost);
    s->id = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    s->outer = innermost;
    s->n = s->ntouched = 0;
    s->first = KN_OK;
    note_place(&s->at, file, line);
    innermost = s;
    return (kn_scope){ s->id };
}

static void close_innermost(void) {
    scope *s = innermost;
    for (uint32_t i = s->n; i-- > 0;) handle_let_go(s->arrays[i], s->id, &s->at);
    s->n = 0;
    settle(s);
    innermost = s->outer;
    arena_reset(&s->strings);
    if (spare || s->cap > KEPT_LIST) scope_free(s);
    else spare = s;
}

/* Closes s and every scope opened inside it that is still open. */
void kn_scope_close(kn_scope which) {
    if (!which.id || !find(which.id)) return;
    for (bool last = false; !last;) {
        last = innermost->id == which.id;
        close_innermost();
    }
}

kn_status kn_scope_status(kn_scope which) {
    scope *s = find(which.id);
    return s ? s->first : KN_SCOPE_ERROR;
}
