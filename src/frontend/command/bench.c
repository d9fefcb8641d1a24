/* bench.c: kiln bench: a program timed on random inputs, and how close it comes to copying its bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "codegen/codegen.h"
#include "frontend/command/command.h"
#include "kiln.h"
#include "runtime/device.h"
#include "runtime/runtime.h"

#define LEAST_RUNS 21
#define MOST_RUNS 10000
#define ENOUGH_SECONDS 2.0
#define COPY_BYTES ((int64_t)1 << 28)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* ---- what copying reaches ---- */

typedef struct copy_job { char *to; const char *from; } copy_job;
static void copy_part(void *arg, int64_t lo, int64_t hi) {
    const copy_job *c = arg;
    memcpy(c->to + lo, c->from + lo, (size_t)(hi - lo));
}

/* The same on a device; 0 when there is no memory to try it. */
static double device_copy_bandwidth(device *d) {
    buffer *to = d->memory(d, 4 * COPY_BYTES, NULL), *from = d->memory(d, 4 * COPY_BYTES, NULL);
    double times[7] = { 0 };
    for (int i = 0; i < 7 && to && from; i++) {
        double start = now();
        for (int k = 0; k < 8; k++) d->copy(d, to->data, from->data, (size_t)(4 * COPY_BYTES), NULL);
        d->wait(d, NULL);
        times[i] = (now() - start) / 8;
    }
    buffer_drop(to);
    buffer_drop(from);
    double t = median(times, 7);
    return t > 0 ? 8 * (double)COPY_BYTES / t : 0;
}

/* Bytes read and written in a second, by all threads; 0 when there is no memory to try it. */
static double copy_bandwidth(void) {
    if (device_current()->kind != KN_CPU) return device_copy_bandwidth(device_current());
    copy_job c = { mem_alloc((size_t)COPY_BYTES), NULL };
    char *from = mem_alloc((size_t)COPY_BYTES);
    double best[5] = { 0 };
    if (c.to && from) {
        memset(from, 1, (size_t)COPY_BYTES);
        c.from = from;
        workers_run(copy_part, &c, COPY_BYTES, 1 << 20);
        for (int i = 0; i < 5; i++) {
            double start = now();
            workers_run(copy_part, &c, COPY_BYTES, 1 << 20);
            best[i] = now() - start;
        }
    }
    double t = median(best, 5);
    mem_free(c.to);
    mem_free(from);
    return t > 0 ? 2 * (double)COPY_BYTES / t : 0;
}

/* ---- one run ---- */

static int64_t bytes_of(value v) {
    int64_t n = 0;
    if (v.kind == VALUE_ARRAY) n = kn_size(as_array(v)->array) * (int64_t)kn_itemsize(kn_dtype_of(as_array(v)->array));
    if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST) for (size_t i = 0; i < as_sequence(v)->n; i++) n += bytes_of(as_sequence(v)->at[i]);
    return n;
}

/* Runs the program and computes what it leaves pending; *bytes: of its results. */
static bool run_once(session *s, int64_t *bytes, message *why) {
    KN_SCOPE(run);
    value last = none_value();
    kn_array roots[MOST_ROOTS];
    node *nodes[MOST_ROOTS];
    if (!machine_run(s->m, s->tree, &last)) return false;
    int n = session_roots(s, last, roots), have = 0;
    *bytes = bytes_of(last);
    while (have < n && (nodes[have] = array_node(roots[have], "bench", why))) have++;
    bool good = have == n && (!n || !evaluate(nodes, n, why));
    for (int i = 0; i < have; i++) node_drop(nodes[i]);
    value_drop(s->m, last);
    return good;
}

typedef struct figures {
    double first_ms, median_ms, min_ms, gb_per_s, fraction;
    int64_t bytes; int runs;
    uint64_t kernels;            /* launched by one run */
} figures;

/* So many runs one after the other, in seconds each; < 0: failed. Work on a device is waited for once, at the end. */
static double timed(session *s, int runs, int64_t *bytes, message *why) {
    device *d = device_current();
    double start = now();
    for (int i = 0; i < runs; i++) if (!run_once(s, bytes, why)) return -1;
    if (d->wait(d, why)) return -1;
    return (now() - start) / runs;
}

/* Runs in a measurement: on a device enough to keep it busy for ten milliseconds, on the CPU for a tenth of one. */
static int runs_together(double seconds) {
    double want = device_current()->kind == KN_CPU ? 1e-4 : 1e-2;
    return seconds >= want ? 1 : seconds <= want / 4096 ? 4096 : (int)(want / seconds) + 1;
}

static int measure(session *s, const job *j, figures *f) {
    message why = { 0 };
    int64_t results = 0;
    double *times = mem_array(MOST_RUNS, sizeof *times), begin = now();
    runtime_counts before, after;
    int n = 0, least = j->repeats ? j->repeats : LEAST_RUNS, most = j->repeats ? j->repeats : MOST_RUNS;
    if (!times) return complain(EXIT_PROGRAM, "out of memory");
    double first = timed(s, 1, &results, &why), warm = first;
    f->first_ms = 1e3 * first;
    for (int i = 0; warm >= 0 && i < 3; i++) warm = timed(s, 1, &results, &why);
    bool good = warm >= 0;
    int together = good ? runs_together(warm) : 1;
    runtime_count(&before);
    begin = now();
    for (; good && n < most && n < MOST_RUNS && (n < least || now() - begin < ENOUGH_SECONDS); n++) good = (times[n] = timed(s, together, &results, &why)) >= 0;
    runtime_count(&after);
    f->runs = n * together;
    if (good) {
        f->median_ms = 1e3 * median(times, n);
        f->min_ms = 1e3 * times[0];
        f->kernels = (after.launches - before.launches) / (uint64_t)(n * together);
    }
    mem_free(times);
    f->bytes = results;
    for (int i = 0; i < j->nbindings; i++) {
        const binding *b = &j->bindings[i];
        value v = machine_get(s->m, b->name);
        f->bytes += bytes_of(v);
    }
    if (good) return EXIT_GOOD;
    return why.status ? complain(EXIT_PROGRAM, "%s", why.text) : complain_of(s->m);
}

static void show(const figures *f, const job *j) {
    if (j->json) {
        printf("{\"device\": \"%s\", \"kernels\": %llu, \"median_ms\": %.6g, \"min_ms\": %.6g, \"first_ms\": %.6g, \"bytes\": %lld, \"gb_per_s\": %.6g, \"fraction\": %.4g, "
               "\"threads\": %d, \"runs\": %d, \"versions\": {\"kiln\": \"%s\", \"llvm\": \"%s\"}}\n",
               device_current()->what, (unsigned long long)f->kernels, f->median_ms, f->min_ms, f->first_ms, (long long)f->bytes, f->gb_per_s, f->fraction, kn_threads(), f->runs, kn_version(), llvm_version() ? llvm_version() : "");
        return;
    }
    printf("median %.4g ms, least %.4g ms of %d runs; first %.4g ms\n", f->median_ms, f->min_ms, f->runs, f->first_ms);
    printf("%.4g GB/s of inputs and results, %.3g of copy bandwidth; %llu kernel%s, %d thread%s\n", f->gb_per_s, f->fraction, (unsigned long long)f->kernels, f->kernels == 1 ? "" : "s", kn_threads(), kn_threads() == 1 ? "" : "s");
}

int command_bench(const job *j) {
    session s;
    figures f = { 0 };
    int status = session_open(&s, j, INPUT_RANDOM);
    if (!status) status = measure(&s, j, &f);
    if (!status) {
        double copy = copy_bandwidth();
        f.gb_per_s = (double)f.bytes / f.median_ms * 1e-6;
        f.fraction = copy > 0 ? f.gb_per_s * 1e9 / copy : 0;
        show(&f, j);
    }
    session_close(&s);
    return status;
}
