/* program.c: text in the language for C programs: kn_text, kn_run, kn_program.
 *
 * How it works: a program is a tree, and idle machines that have run it before; a text met again finds its program by its
 * contents. C variables become globals for the length of one run. Errors that the program handles are told to nobody. */
#include <pthread.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/machine.h"
#include "frontend/language/natives.h"

#define IDLE_MOST 4
#define KEPT_SETS 32
#define KEPT_WAYS 4
#define KEPT_TEXT 4096                               /* longer texts are parsed each time */

struct kn_program {
    uint32_t refs;                                   /* atomic */
    syntax_tree *tree;
    uint64_t hash;
    size_t length;                                   /* of the text as it was given */
    pthread_mutex_t lock;
    machine *idle[IDLE_MOST]; int nidle;
    char text[];
};

/* ---- programs ---- */

static void program_drop(kn_program *p) {
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL)) return;
    while (p->nidle) machine_free(p->idle[--p->nidle]);
    syntax_free(p->tree);
    pthread_mutex_destroy(&p->lock);
    mem_free(p);
}

static kn_program *program_new(const char *text, size_t length, uint64_t hash, message *m) {
    kn_program *p = mem_alloc(sizeof *p + length + 1);
    if (!p) {
        fail_memory(m, "reading a program");
        return NULL;
    }
    *p = (kn_program){ .refs = 1, .hash = hash, .length = length };
    memcpy(p->text, text, length + 1);
    if (syntax_parse(text, length, "<text>", NULL, &p->tree, NULL, m)) {
        mem_free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

/* The process-wide registry of programs met before, by their text: sets of a few, the oldest goes. */
static struct {
    pthread_mutex_t lock;
    kn_program *at[KEPT_SETS][KEPT_WAYS];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static kn_program *kept_find(const char *text, size_t length, uint64_t hash) {
    kn_program **set = kept.at[hash % KEPT_SETS], *found = NULL;
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < KEPT_WAYS && !found; i++)
        if (set[i] && set[i]->hash == hash && set[i]->length == length && !memcmp(set[i]->text, text, length)) found = set[i];
    if (found) __atomic_fetch_add(&found->refs, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&kept.lock);
    return found;
}

static void kept_add(kn_program *p) {
    kn_program **set = kept.at[p->hash % KEPT_SETS];
    __atomic_fetch_add(&p->refs, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&kept.lock);
    kn_program *oldest = set[KEPT_WAYS - 1];
    memmove(set + 1, set, (KEPT_WAYS - 1) * sizeof *set);
    set[0] = p;
    pthread_mutex_unlock(&kept.lock);
    program_drop(oldest);
}

void programs_forget(void) {
    for (int s = 0; s < KEPT_SETS; s++)
        for (int i = 0; i < KEPT_WAYS; i++) {
            pthread_mutex_lock(&kept.lock);
            kn_program *p = kept.at[s][i];
            kept.at[s][i] = NULL;
            pthread_mutex_unlock(&kept.lock);
            program_drop(p);
        }
}

static kn_program *program_of(const char *text, message *m) {
    size_t length = strlen(text);
    uint64_t hash = hash_bytes(text, length, 0);
    kn_program *p = length <= KEPT_TEXT ? kept_find(text, length, hash) : NULL;
    if (p) return p;
    p = program_new(text, length, hash, m);
    if (p && length <= KEPT_TEXT) kept_add(p);
    return p;
}

/* ---- machines ---- */

static machine *machine_take(kn_program *p, message *why) {
    pthread_mutex_lock(&p->lock);
    machine *m = p->nidle ? p->idle[--p->nidle] : NULL;
    pthread_mutex_unlock(&p->lock);
    return m ? m : machine_new(why);
}

/* Machines with values that only cycles keep begin anew. */
static void machine_give(kn_program *p, machine *m) {
    machine_forget(m);
    m->printing = NULL;
    bool kept_it = false;
    if (machine_is_clean(m)) {
        pthread_mutex_lock(&p->lock);
        if ((kept_it = p->nidle < IDLE_MOST)) p->idle[p->nidle++] = m;
        pthread_mutex_unlock(&p->lock);
    }
    if (!kept_it) machine_free(m);
}

/* ---- C variables ---- */

/* A C number is Python's number, an array the array itself. */
static value value_of_handle(machine *m, kn_array a) {
    slot *s = slot_of(a);
    if (!s || s->kind != SLOT_NUMBER) return array_value(m, a, false);
    const scalar *n = &s->u.number;
    switch (n->kind) {
    case SCALAR_BOOL: return bool_value(n->v.b);
    case SCALAR_INT: return int_value(n->v.i);
    case SCALAR_UINT: return int_from_u64(m, n->v.u);
    case SCALAR_FLOAT: return float_value(n->v.f);
    default: return complex_value(m, n->v.c.re, n->v.c.im);
    }
}

static bool let_names(machine *m, const kn_named *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        value v = value_of_handle(m, names[i].value);
        bool good = !absent(v) && machine_let(m, names[i].name, v);
        value_drop(m, v);
        if (!good) return false;
    }
    return true;
}

/* The operand that a failure is carried on from, or none. */
static kn_array bad_operand(const kn_named *names, size_t n) {
    for (size_t i = 0; i < n; i++) if (array_failed(names[i].value, NULL)) return names[i].value;
    return (kn_array){ 0 };
}

/* ---- what names mean afterwards ---- */

/* A second handle, of the innermost scope, on what a shows. */
static kn_array another(kn_array a) {
    kn_array copy = kn_int_(0);
    return kn_let(copy, a);
}

/* A name that the program has bound anew is the C variable's new value. All values are taken before the first is given: variables may
 * have changed places. */
static bool rebind(machine *m, const kn_named *names, size_t n) {
    for (int giving = 0; giving < 2; giving++)
        for (size_t i = 0; i < n; i++) {
            value v = machine_get(m, names[i].name);
            slot *s = slot_of(names[i].value);
            if (!s || s->kind != SLOT_ARRAY || absent(v)) continue;
            bool array = v.kind == VALUE_ARRAY, number = value_is_number(v) || v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
            if ((!array && !number) || (array && as_array(v)->array.id == names[i].value.id)) continue;
            if (giving) {
                kn_let(names[i].value, as_array(v)->array);
                continue;
            }
            kn_array a = array ? another(as_array(v)->array) : array_of(m, v);
            value fresh = a.id ? array_value(m, a, false) : NO_VALUE_;
            bool good = !absent(fresh) && machine_let(m, names[i].name, fresh);
            value_drop(m, fresh);
            if (!good) return false;
        }
    return true;
}

/* The value of the last expression as an array of the caller's scope. */
static kn_array handed_over(machine *m, value v, uint64_t scope) {
    if (v.kind == VALUE_NONE) raise_error(m, "ValueError", "the text is no expression: it has no value");
    else if (v.kind == VALUE_STRING || v.kind == VALUE_DICT || v.kind == VALUE_SET || v.kind == VALUE_FUNCTION) raise_error(m, "TypeError", "the value is a '%s', which is no array", value_type_name(v));
    kn_array a = absent(m->exception) ? array_of(m, v) : (kn_array){ 0 };
    if (!a.id) return a;
    slot *s = slot_of(a);
    uint64_t owner = s ? __atomic_load_n(&s->scope, __ATOMIC_RELAXED) : 0;
    if (s && owner == scope_innermost()) return kn_return((kn_scope){ owner }, a);
    if (s && !owner && scope_adopt(scope, a)) {
        kn_keep(a);
        __atomic_store_n(&s->scope, scope, __ATOMIC_RELAXED);
        scope_touch(a);
        return a;
    }
    return kn_return((kn_scope){ scope_innermost() }, another(a));
}

/* ---- running ---- */

typedef struct run {
    const char *what;                                /* "kn_text" */
    const kn_named *names; size_t n;
    bool wants_value;
    uint64_t scope;                                  /* the caller's */
    kn_array result;
} run;

/* The sentence, and behind it the place with its line and caret. */
static void explain(machine *m, const char *what, message *why) {
    message sentence;
    text where = { 0 };
    kn_status status = machine_error(m, &sentence, &where);
    *why = (message){ 0 };
    while (where.len && where.at[where.len - 1] == '\n') where.at[--where.len] = 0;
    fail(why, status, "%s: %s%s%s", what, sentence.text, where.len ? "\n" : "", where.len ? where.at : "");
    text_free(&where);
}

static bool run_in(machine *m, kn_program *p, run *r) {
    value last = NO_VALUE_;
    bool good = let_names(m, r->names, r->n) && machine_run(m, p->tree, &last);
    if (good && r->wants_value) good = (r->result = handed_over(m, last, r->scope)).id != 0;
    else if (good) good = rebind(m, r->names, r->n);
    value_drop(m, last);
    return good;
}

static kn_status run_program_of(kn_program *p, run *r, message *why) {
    machine *m = machine_take(p, why);
    if (!m) return why->status;
    message before;
    bool held = errors_hold(&before);
    r->scope = scope_innermost();
    kn_scope inner = kn_scope_open_at("text", 1);
    if (!run_in(m, p, r)) explain(m, r->what, why);
    machine_give(p, m);
    errors_go(held, &before);
    kn_scope_close(inner);
    return why->status;
}

static kn_array text_value(kn_program *p, run *r, message *why) {
    if (p) run_program_of(p, r, why);
    if (!why->status) return r->result;
    kn_array bad = bad_operand(r->names, r->n);
    return bad.id ? array_bad(bad, why) : array_error(why);
}

static kn_status text_status(kn_program *p, run *r, message *why) {
    if (p) run_program_of(p, r, why);
    if (!why->status) return KN_OK;
    if (bad_operand(r->names, r->n).id) error_repeat(why);
    else error_record(why);
    return why->status;
}

static kn_program *program_given(const char *text, const char *what, message *why) {
    if (text) return program_of(text, why);
    fail(why, KN_VALUE_ERROR, "%s: the text is NULL", what);
    return NULL;
}

kn_array kn_text_with(const char *text, const kn_named *names, size_t n) {
    message why = { 0 };
    run r = { .what = "kn_text", .names = names, .n = names ? n : 0, .wants_value = true };
    if (!scope_innermost()) return kn_int_(0);       /* the error of making an array without a scope */
    kn_program *p = program_given(text, r.what, &why);
    kn_array a = text_value(p, &r, &why);
    program_drop(p);
    return a;
}

kn_status kn_run_with(const char *text, const kn_named *names, size_t n) {
    message why = { 0 };
    run r = { .what = "kn_run", .names = names, .n = names ? n : 0 };
    kn_program *p = program_given(text, r.what, &why);
    kn_status status = text_status(p, &r, &why);
    program_drop(p);
    return status;
}

kn_program *kn_program_new(const char *text) {
    message why = { 0 };
    kn_program *p = program_given(text, "kn_program_new", &why);
    if (!p) error_record(&why);
    return p;
}

void kn_program_free(kn_program *p) { program_drop(p); }

kn_status kn_program_run_with(kn_program *p, const kn_named *names, size_t n) {
    message why = { 0 };
    run r = { .what = "kn_program_run", .names = names, .n = names ? n : 0 };
    if (!p) fail(&why, KN_VALUE_ERROR, "kn_program_run: the program is NULL");
    return text_status(p, &r, &why);
}

kn_array kn_program_value_with(kn_program *p, const kn_named *names, size_t n) {
    message why = { 0 };
    run r = { .what = "kn_program_value", .names = names, .n = names ? n : 0, .wants_value = true };
    if (!scope_innermost()) return kn_int_(0);
    if (!p) fail(&why, KN_VALUE_ERROR, "kn_program_value: the program is NULL");
    return text_value(p, &r, &why);
}
