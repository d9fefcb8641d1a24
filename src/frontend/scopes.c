/* scopes.c: scopes: who owns handles and strings, and for how long.
 *
 * How it works: every thread has a stack of scopes; a scope has a list of the handles made in it and an arena for strings.
 * Closing lets go of each handle that still belongs to it. What handles are must not be put here. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

typedef struct scope {
    uint64_t id;
    struct scope *outer;
    kn_array *arrays; uint32_t n, cap;
    arena strings;
    kn_status first;                     /* error */
    const char *file; int line;
} scope;

static _Thread_local scope *innermost;
static _Thread_local scope *spare;        /* one closed scope kept, arrays and all: loops open one every step */
static uint64_t numbers;
static pthread_key_t at_exit_key;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

void handle_let_go(kn_array a, uint64_t scope);   /* array.c */

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

bool scope_adopt(uint64_t id, kn_array a) {
    scope *s = innermost && innermost->id == id ? innermost : find(id);
    if (!s) return false;
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 64;
        kn_array *p = mem_grow(s->arrays, cap, sizeof *p);
        if (!p) return false;
        s->arrays = p;
        s->cap = cap;
    }
    s->arrays[s->n++] = a;
    return true;
}

char *scope_text(const char *text, size_t n) {
    if (!innermost) return NULL;
    char *p = arena_alloc(&innermost->strings, n + 1);
    if (!p) return NULL;
    memcpy(p, text, n);
    p[n] = 0;
    return p;
}

void scope_error(kn_status status) {
    for (scope *s = innermost; s; s = s->outer) if (!s->first) s->first = status;
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
    s->n = 0;
    s->first = KN_OK;
    s->file = file;
    s->line = line;
    innermost = s;
    return (kn_scope){ s->id };
}

/* Closes s and every scope opened inside it that is still open. */
void kn_scope_close(kn_scope which) {
    if (!which.id || !find(which.id)) return;
    for (bool last = false; !last;) {
        scope *s = innermost;
        last = s->id == which.id;
        innermost = s->outer;
        for (uint32_t i = s->n; i-- > 0;) handle_let_go(s->arrays[i], s->id);
        s->n = 0;
        arena_reset(&s->strings);
        if (spare || s->cap > 4096) scope_free(s);
        else spare = s;
    }
}

kn_status kn_scope_status(kn_scope which) {
    scope *s = find(which.id);
    return s ? s->first : KN_SCOPE_ERROR;
}
