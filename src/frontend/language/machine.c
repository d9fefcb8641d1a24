/* machine.c: a machine: its names, limits, output, and what C programs learn of a failure.
 *
 * How it works: globals are numbered; a tree's names are looked up once a machine, so that running hashes nothing. Steps are counted
 * and the clock is looked at every so often; depth is bounded by a count and by what is left of the C stack. Running
 * itself is in evaluate_*.c. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "kiln.h"
#include "frontend/language/machine.h"
#include "runtime/runtime.h"

#define DEPTH_MOST 1000
#define STEPS_BETWEEN 4096

/* ---- the C stack ---- */

#define STACK_UNKNOWN ((uintptr_t)1 << 17)           /* what may be used of a stack that is not the thread's own */

/* The address below which this thread's stack counts as used up: an eighth is left for what is called from there. */
static uintptr_t stack_low(void) {
    static _Thread_local uintptr_t low, high;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!high) {
        pthread_attr_t attributes;
        void *base = NULL;
        size_t size = 0;
        if (!pthread_getattr_np(pthread_self(), &attributes)) {
            pthread_attr_getstack(&attributes, &base, &size);
            pthread_attr_destroy(&attributes);
        }
        low = (uintptr_t)base + size / 8;
        high = (uintptr_t)base + size;
    }
    return here > low && here < high ? low : here - STACK_UNKNOWN;
}

bool machine_enter(machine *m) {
    int most = m->limits.depth ? m->limits.depth : DEPTH_MOST;
    if (m->depth < most && stack_left(m)) return m->depth++, true;
    raise_error(m, "RecursionError", "maximum recursion depth exceeded");
    return false;
}

/* ---- limits ---- */

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void next_check(machine *m) {
    m->check_at = m->steps + STEPS_BETWEEN;
    if (m->limits.steps && m->limits.steps < m->check_at) m->check_at = m->limits.steps + 1;
}

bool machine_check(machine *m) {
    bool steps = m->limits.steps && m->steps > m->limits.steps, time = m->state->deadline && now() > m->state->deadline;
    next_check(m);
    if (time) m->check_at = 0;                      /* an exception that is caught is raised again at the next step */
    if (steps) raise_error(m, "RuntimeError", "the program has taken %lld steps, which is its limit", (long long)m->limits.steps);
    else if (time) raise_error(m, "RuntimeError", "the program has run for %g seconds, which is its limit", m->limits.seconds);
    return !steps && !time;
}

bool machine_bytes(machine *m, int64_t bytes) {
    if (bytes > 0 && m->limits.bytes && m->bytes + bytes > m->limits.bytes) {
        int64_t wanted = m->bytes + bytes, limit = m->limits.bytes;
        m->limits.bytes = 0;                        /* room for the exception itself */
        raise_error(m, "MemoryError", "%lld bytes are needed, but the program may use %lld", (long long)wanted, (long long)limit);
        m->limits.bytes = limit;
        return false;
    }
    m->bytes += bytes;
    return true;
}

/* A view takes no memory, but reading it whole may. */
bool array_within(machine *m, kn_array a) {
    int64_t bytes;
    bool over = mul_overflows(kn_size(a), (int64_t)kn_itemsize(kn_dtype_of(a)), &bytes);
    runtime_counts c;
    runtime_count(&c);
    over = over || bytes > m->limits.bytes || (bytes > 4096 && (int64_t)(c.bytes_live - m->state->bytes_before) > m->limits.bytes);
    if (!over) return true;
    int64_t limit = m->limits.bytes;
    raise_error(m, "MemoryError", "an array of %lld bytes: the program may use %lld", (long long)bytes, (long long)limit);
    return false;
}

/* ---- globals ---- */

static bool grow_table(machine *m) {
    machine_state *s = m->state;
    uint32_t most = s->most_globals ? 2 * s->most_globals : 32, buckets = 2 * most;
    global *g = mem_grow(s->globals, most, sizeof *g);
    if (g) s->globals = g;
    uint32_t *table = g ? mem_zero(buckets, sizeof *table) : NULL;
    if (!table) return raise_memory(m), false;
    for (uint32_t i = 0; i < s->nglobals; i++) {
        uint32_t b = (uint32_t)hash_bytes(s->globals[i].name, strlen(s->globals[i].name), 0) & (buckets - 1);
        while (table[b]) b = (b + 1) & (buckets - 1);
        table[b] = i + 1;
    }
    mem_free(s->table);
    s->table = table;
    s->buckets = buckets;
    s->most_globals = most;
    return true;
}

/* Where the name is, or the empty bucket where it would be. */
static uint32_t bucket_of(const machine_state *s, const char *name, size_t length) {
    uint32_t b = (uint32_t)hash_bytes(name, length, 0) & (s->buckets - 1);
    for (; s->table[b]; b = (b + 1) & (s->buckets - 1)) {
        const char *have = s->globals[s->table[b] - 1].name;
        if (!strncmp(have, name, length) && !have[length]) break;
    }
    return b;
}

uint32_t machine_global(machine *m, const char *name, size_t length) {
    machine_state *s = m->state;
    if (s->buckets) {
        uint32_t b = bucket_of(s, name, length);
        if (s->table[b]) return s->table[b] - 1;
    }
    if (s->nglobals == s->most_globals && !grow_table(m)) return UINT32_MAX;
    char *copy = mem_alloc(length + 1);
    if (!copy) return raise_memory(m), UINT32_MAX;
    memcpy(copy, name, length);
    copy[length] = 0;
    s->globals[s->nglobals] = (global){ .name = copy };
    s->table[bucket_of(s, name, length)] = s->nglobals + 1;
    return s->nglobals++;
}

bool machine_let(machine *m, const char *name, value v) {
    uint32_t i = machine_global(m, name, strlen(name));
    if (i == UINT32_MAX) return false;
    value old = m->state->globals[i].v;
    m->state->globals[i].v = value_keep(v);
    value_drop(m, old);
    return true;
}

value machine_get(machine *m, const char *name) {
    const machine_state *s = m->state;
    if (!s->buckets) return NO_VALUE_;
    uint32_t b = bucket_of(s, name, strlen(name));
    return s->table[b] ? s->globals[s->table[b] - 1].v : NO_VALUE_;
}

/* Modules are there without an import, numpy under its short name too. */
static value module_as_name(machine *m, const char *name) {
    value v = module_import(m, !strcmp(name, "np") ? "numpy" : name);
    if (absent(v)) {
        value_drop(m, m->exception);
        m->exception = NO_VALUE_;
    }
    return v;
}

/* A bare name that is no variable: Python's builtin, else NumPy's, else a module. No name of ours begins with '_'. */
value global_builtin(machine *m, uint32_t number) {
    const char *name = m->state->globals[number].name;
    value v = *name == '_' ? NO_VALUE_ : builtin_name(m, name);
    if (*name != '_' && absent(v) && absent(m->exception)) v = module_name(m, "numpy", name);
    if (*name != '_' && absent(v) && absent(m->exception)) v = module_as_name(m, name);
    if (absent(v) && absent(m->exception)) raise_name_missing(m, NULL, name);
    return m->state->globals[number].builtin = v;
}

/* ---- trees ---- */

link *machine_link(machine *m, const syntax_tree *t) {
    for (link *l = m->state->links; l; l = l->next) if (l->tree == t) return l;
    link *l = mem_alloc(sizeof *l + t->nnames * sizeof *l->global);
    if (!l) {
        raise_memory(m);
        return NULL;
    }
    memset(l->global, 0xff, t->nnames * sizeof *l->global);
    l->tree = t;
    l->next = m->state->links;
    return m->state->links = l;
}

bool machine_run(machine *m, const syntax_tree *t, value *last) {
    machine_state *s = m->state;
    *last = NO_VALUE_;
    link *l = machine_link(m, t);
    if (!l) return false;
    s->stack_low = stack_low();
    s->deadline = m->limits.seconds > 0 ? now() + (int64_t)(m->limits.seconds * 1e9) : 0;
    m->steps = 0;
    next_check(m);
    if (m->limits.bytes) {
        runtime_counts c;
        runtime_count(&c);
        s->bytes_before = c.bytes_live;
    }
    return run_program(m, l, last);
}

/* ---- frames ---- */

bool frame_enter(machine *m, frame *f, link *in, const syntax_function *code) {
    if (!machine_enter(m)) return false;
    f->outer = m->frame;
    f->in = in;
    f->code = code;
    f->result = NO_VALUE_;
    f->mark = scope_made();
    m->frame = f;
    return true;
}

/* What passes from here on passes another frame. */
void frame_leave(machine *m, frame *f) {
    m->frame = f->outer;
    m->state->placed = false;
    machine_leave(m);
}

/* ---- a machine ---- */

machine *machine_new(message *why) {
    machine *m = mem_zero(1, sizeof *m);
    machine_state *s = m ? mem_zero(1, sizeof *s) : NULL;
    if (!s) {
        mem_free(m);
        fail_memory(why, "starting a program");
        return NULL;
    }
    m->state = s;
    s->stack_low = stack_low();
    next_check(m);
    value args = tuple_value(m, 0, NULL);
    s->no_memory = absent(args) ? args : exception_value(m, type_named("MemoryError"), args);
    value_drop(m, args);
    if (!absent(s->no_memory)) return m;
    fail_memory(why, "starting a program");
    machine_free(m);
    return NULL;
}

void machine_forget(machine *m) {
    machine_state *s = m->state;
    for (uint32_t i = 0; i < s->nglobals; i++) {
        value_drop(m, s->globals[i].v);
        s->globals[i].v = NO_VALUE_;
    }
    value_drop(m, m->exception);
    m->exception = NO_VALUE_;
}

bool machine_is_clean(const machine *m) {
    const machine_state *s = m->state;
    size_t own = 2;                                  /* no_memory and its arguments */
    for (uint32_t i = 0; i < s->nglobals; i++) own += counted(s->globals[i].builtin);
    for (int i = 0; i < MODULE_ENTRIES; i++) own += counted(s->modules[i].v);
    return s->nobjects == own;
}

void machine_free(machine *m) {
    if (!m) return;
    machine_state *s = m->state;
    machine_forget(m);
    value_drop(m, m->generator);
    for (uint32_t i = 0; i < s->nglobals; i++) {
        value_drop(m, s->globals[i].builtin);
        mem_free(s->globals[i].name);
    }
    for (int i = 0; i < MODULE_ENTRIES; i++) value_drop(m, s->modules[i].v);
    value_drop(m, s->no_memory);
    s->no_memory = NO_VALUE_;
    objects_free(m);
    for (link *l = s->links, *next; l; l = next) {
        next = l->next;
        mem_free(l);
    }
    mem_free(s->globals);
    mem_free(s->table);
    mem_free(s);
    mem_free(m);
}

void machine_print(machine *m, const char *text, size_t n) {
    if (m->output && n) m->output(text, n, m->output_arg);
}
