/* run.c: kiln run: the program's output, its last value on standard output or in a file. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "frontend/command/command.h"
#include "frontend/language/numpy.h"
#include "kiln.h"
#include "runtime/runtime.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* An .npz takes a tuple's arrays as arr_0 ..., a dict's under its keys. */
static int save_several(machine *m, value v, const char *path) {
    kn_named items[MOST_ROOTS];
    size_t n = 0;
    const pair *p;
    size_t at = 0;
    if (v.kind == VALUE_DICT) {
        while (n < MOST_ROOTS && (p = dict_next(v, &at))) {
            if (p->key.kind != VALUE_STRING) return complain(EXIT_PROGRAM, "-o %s: the names of arrays in a dict must be strings", path);
            items[n++] = (kn_named){ as_string(p->key)->at, array_of(m, p->item) };
        }
    } else {
        for (; n < MOST_ROOTS && n < as_sequence(v)->n; n++) items[n] = (kn_named){ NULL, array_of(m, as_sequence(v)->at[n]) };
    }
    for (size_t i = 0; i < n; i++) if (!items[i].value.id) return complain_of(m);
    return kn_save_all(path, items, n) ? complain(EXIT_PROGRAM, "%s", kn_error()) : EXIT_GOOD;
}

static int to_standard_output(kn_array a) {
    char path[TEMPORARY_PATH], part[65536];
    size_t n;
    FILE *f = temporary_open(path, ".npy");
    if (!f) return complain(EXIT_PROGRAM, "a temporary file cannot be made");
    fclose(f);
    int status = kn_save(a, path) ? complain(EXIT_PROGRAM, "%s", kn_error()) : EXIT_GOOD;
    f = status ? NULL : fopen(path, "rb");
    while (f && (n = fread(part, 1, sizeof part, f)) > 0) fwrite(part, 1, n, stdout);
    if (f) fclose(f);
    remove(path);
    return status;
}

static bool ends(const char *s, const char *with) {
    size_t n = strlen(s), k = strlen(with);
    return n >= k && !strcmp(s + n - k, with);
}

static int save(machine *m, value v, const char *path) {
    if (v.kind == VALUE_NONE) return complain(EXIT_PROGRAM, "-o %s: the program's last statement is no expression, so there is no value to save", path);
    if (ends(path, ".npz") && (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST || v.kind == VALUE_DICT)) return save_several(m, v, path);
    kn_array a = array_of(m, v);
    if (!a.id) return complain_of(m);
    if (!strcmp(path, "-")) return to_standard_output(a);
    return kn_save(a, path) ? complain(EXIT_PROGRAM, "%s", kn_error()) : EXIT_GOOD;
}

static int show(machine *m, value v) {
    text t = { 0 };
    if (v.kind == VALUE_NONE) return EXIT_GOOD;
    bool good = value_str(m, v, &t);
    if (good) {
        fwrite(t.at ? t.at : "", 1, t.len, stdout);
        putchar('\n');
    }
    text_free(&t);
    return good ? EXIT_GOOD : complain_of(m);
}

int command_run(const job *j) {
    session s;
    value last = none_value();
    double start = now();
    int status = session_open(&s, j, INPUT_FILES);
    double loaded = now();
    if (!status) status = machine_run(s.m, s.tree, &last) ? EXIT_GOOD : complain_of(s.m);
    if (!status) status = j->out ? save(s.m, last, j->out) : show(s.m, last);
    if (j->time && !status) {
        runtime_counts c;
        runtime_count(&c);
        fflush(stdout);
        fprintf(stderr, "inputs %.3f ms, program %.3f ms: %llu evaluations, %llu kernels compiled, %llu from disk, %llu launches\n", 1e3 * (loaded - start), 1e3 * (now() - loaded),
                (unsigned long long)c.evaluations, (unsigned long long)c.kernels_compiled, (unsigned long long)c.kernels_from_disk, (unsigned long long)c.launches);
    }
    if (s.m) value_drop(s.m, last);
    session_close(&s);
    return status;
}
