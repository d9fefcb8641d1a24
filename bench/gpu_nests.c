/* gpu_nests.c: the five kernels of tests/gpu/nests.h on a GPU: emitted, compiled, checked against float64 and timed beside
 * the device's copy bandwidth, in several shapes.
 *
 *   gpu_nests [--only NAME] [--best] [--show] [--json FILE]
 *
 * --best times the default shapes alone; --show prints their source. Times are medians of 21 runs between device events, after 3 warm-up
 * runs, on fresh random inputs; outputs are poisoned before the run that is checked. Without a GPU it says so and ends well. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../tests/gpu/nests.h"
#include "../tests/support/cuda.h"
#include "../tests/support/rtc.h"
#include "gpu_nests_checks.h"

#define RUNS 21
#define COUNT (1 << 27)
#define ROWS 32768
#define COLUMNS 4096
#define SIDE 12288
#define BUFFER ((size_t)SIDE * SIDE * sizeof(float))
#define WORDS (1 << 20)

typedef enum { MAP, SOFTMAX, SUM, TRANSPOSE, SCAN, NCASES } which;
static const struct { const char *name, *expression; double bytes, reach; kernel *(*build)(arena *, nest_shape); nest_shape best; } cases[NCASES] = {
    [MAP] = { "map3", "sqrt(a*a+b*b)*c+exp(-a)", 16.0 * COUNT, 1.03, nest_map, { .threads = 512, .vectors = 1 } },
    [SOFTMAX] = { "softmax", "e=exp(x-x.max(-1,keepdims=True)); e/e.sum(-1,keepdims=True)", 8.0 * ROWS * COLUMNS, .96, nest_softmax, { .threads = 512, .vectors = 2 } },
    [SUM] = { "sumsq", "((a-b)**2).sum()", 8.0 * COUNT, .99, nest_sum, { .threads = 512, .vectors = 2, .tile = 16, .compensate = true } },
    [TRANSPOSE] = { "transpose", "x.T+y", 12.0 * SIDE * SIDE, 1.01, nest_transpose, { .threads = 1024, .tile = 64 } },
    [SCAN] = { "cumsum", "cumsum(a)", 8.0 * COUNT, .71, nest_scan, { .threads = 256, .vectors = 8, .kept = 11, .resident = 4, .relaxed = true, .stream = STREAM_ALL } },
};

static struct { gpu_memory a, b, c, out, words, small; float *host_in, *host_out; } m;
static gpu_kernel fill, check_map, check_softmax, check_transpose, sum_doubles, differences, copy;
static double copy_gbps, kernel_copy_gbps;
static unsigned seed = 1;

typedef struct result { which w; nest_shape s; bool no_ticket; int registers, resident; bool spills; double ms, error; const char *trouble; } result;
static result results[400];
static int nresults;

static int by_value(const void *a, const void *b) { return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b); }

/* ---- inputs and checks ---- */

static bool launch_flat(const gpu_kernel *k, int64_t n, void **args) { return gpu_launch(k, (unsigned)((n + 255) / 256), 1, 256, args); }

static bool random_fill(gpu_memory p, int64_t n) {
    unsigned s = seed++;
    return launch_flat(&fill, n, (void *[]){ &p, &n, &s });
}

static bool read_worst(double *error) {
    float f;
    if (!gpu_read(&f, m.small, sizeof f)) return false;
    *error = f;
    return true;
}

static bool check_sum(double *error) {
    enum { THREADS = 1 << 16 };
    int64_t n = COUNT;
    float got;
    double *partial = malloc(THREADS * sizeof *partial), whole = 0;
    if (!partial) return false;
    bool good = gpu_launch(&sum_doubles, THREADS / 256, 1, 256, (void *[]){ &m.a, &m.b, &n, &m.c }) && gpu_read(partial, m.c, THREADS * sizeof *partial)
             && gpu_read(&got, m.out, sizeof got);
    for (int i = 0; good && i < THREADS; i++) whole += partial[i];
    free(partial);
    *error = fabs(got - whole) / whole;
    return good;
}

static bool check_scan(double *error) {
    if (!gpu_read(m.host_in, m.a, COUNT * sizeof(float)) || !gpu_read(m.host_out, m.out, COUNT * sizeof(float))) return false;
    double sum = 0, worst = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        sum += m.host_in[i];
        double e = fabs(m.host_out[i] - sum) / sum;
        if (!(e <= worst)) worst = e == e ? e : INFINITY;
    }
    *error = worst;
    return true;
}

static bool check(which w, double *error) {
    int64_t n = COUNT;
    int columns = COLUMNS, side = SIDE;
    if (w == SUM) return check_sum(error);
    if (w == SCAN) return check_scan(error);
    if (!gpu_fill(m.small, 0, 1)) return false;
    bool good = w == MAP ? launch_flat(&check_map, n, (void *[]){ &m.a, &m.b, &m.c, &m.out, &n, &m.small })
              : w == SOFTMAX ? gpu_launch(&check_softmax, ROWS, 1, 32, (void *[]){ &m.a, &m.out, &columns, &m.small })
                             : launch_flat(&check_transpose, (int64_t)SIDE * SIDE, (void *[]){ &m.a, &m.b, &m.out, &side, &m.small });
    return good && read_worst(error);
}

/* ---- reporting ---- */

static double fraction(const result *r) { return cases[r->w].bytes / (r->ms * 1e6 * copy_gbps); }

static const char *shape_text(const result *r) {
    static char s[160];
    int n = snprintf(s, sizeof s, "%d threads", r->s.threads);
    if (r->s.vectors) n += snprintf(s + n, sizeof s - (size_t)n, ", %d vectors", r->s.vectors);
    if (r->s.kept) n += snprintf(s + n, sizeof s - (size_t)n, " and %d in shared memory", r->s.kept);
    if (r->s.tile) n += snprintf(s + n, sizeof s - (size_t)n, ", %s %d", r->w == SUM ? "rounds" : "tile", r->s.tile);
    if (r->s.resident) n += snprintf(s + n, sizeof s - (size_t)n, ", %d blocks resident", r->s.resident);
    if (r->no_ticket) n += snprintf(s + n, sizeof s - (size_t)n, ", no ticket");
    snprintf(s + n, sizeof s - (size_t)n, "%s%s%s", r->s.stream == STREAM_ALL ? ", streaming" : r->s.stream == STREAM_LOADS ? ", streaming loads" : r->s.stream ? ", streaming stores" : "", r->s.compensate ? ", compensated" : "", r->w == SCAN ? (r->s.relaxed ? ", relaxed" : ", acquire") : "");
    return s;
}

static void print_row(const result *r) {
    if (r->trouble) { printf("  %-10s %-48s %s\n", cases[r->w].name, shape_text(r), r->trouble); return; }
    printf("  %-10s %-48s %8.4f ms  %5.3f of copy  %5.3f of reach  %3d registers%s %4d threads/unit  error %.2g\n", cases[r->w].name, shape_text(r), r->ms,
           fraction(r), fraction(r) / cases[r->w].reach, r->registers, r->spills ? " (spilled)" : "", r->resident, r->error);
}

/* ---- running ---- */

static bool launch(which w, const gpu_kernel *k, const nest_shape *s) {
    int n = COUNT, rows = ROWS, columns = COLUMNS, side = SIDE;
    unsigned threads = (unsigned)s->threads;
    gpu_memory partial = m.words, counter = m.small + 64, ticket = m.small + 128;
    gpu_memory ntiles, windows, groups;
    int blocks;
    switch (w) {
    case MAP: return gpu_launch(k, (unsigned)(COUNT / nest_chunk(s)), 1, threads, (void *[]){ &m.a, &m.b, &m.c, &m.out, &n });
    case SOFTMAX: return gpu_launch(k, ROWS, 1, threads, (void *[]){ &m.a, &m.out, &rows, &columns });
    case SUM:
        blocks = (int)(COUNT / nest_sum_chunk(s));
        return gpu_launch(k, (unsigned)blocks, 1, threads, (void *[]){ &m.a, &m.b, &partial, &counter, &m.out, &n, &blocks });
    case TRANSPOSE: return gpu_launch(k, SIDE / (unsigned)s->tile, SIDE / (unsigned)s->tile, threads, (void *[]){ &m.a, &m.b, &m.out, &side, &side });
    default:   /* clearing the words belongs to the work */
        ntiles = (gpu_memory)((COUNT + nest_chunk(s) - 1) / nest_chunk(s));
        windows = m.words + 8 * ntiles;
        groups = windows + 8 * (ntiles / SCAN_WINDOW + 1);
        return gpu_fill(m.words, 0, 2 * (ntiles + ntiles / SCAN_WINDOW + ntiles / (SCAN_WINDOW * SCAN_WINDOW) + 2))
            && gpu_launch(k, (unsigned)ntiles, 1, threads, (void *[]){ &m.a, &m.out, &m.words, &windows, &groups, &n, &ticket });
    }
}

static bool median_time(which w, const gpu_kernel *k, const nest_shape *s, double *ms) {
    float t[RUNS];
    for (int i = 0; i < 3; i++) if (!launch(w, k, s)) return false;
    for (int i = 0; i < RUNS; i++) if (!gpu_mark(2 * i) || !launch(w, k, s) || !gpu_mark(2 * i + 1)) return false;
    if (!gpu_wait()) return false;
    for (int i = 0; i < RUNS; i++) if (!gpu_between(2 * i, 2 * i + 1, &t[i])) return false;
    qsort(t, RUNS, sizeof *t, by_value);
    *ms = t[RUNS / 2];
    return true;
}

/* Runs it again on other memory: every bit must be the same. */
static bool repeats(which w, const gpu_kernel *k, const nest_shape *s, bool *same) {
    int64_t n = w == SUM ? 1 : COUNT;
    unsigned different = 1;
    gpu_memory first = m.out;
    *same = true;
    if (w != SCAN && w != SUM) return true;
    for (int i = 0; i < 3; i++) {
        m.out = m.c;
        bool good = gpu_fill(m.out, 0x7fc00000, (size_t)n) && launch(w, k, s);
        m.out = first;
        if (!good || !gpu_fill(m.small, 0, 1) || !launch_flat(&differences, n, (void *[]){ &first, &m.c, &n, &m.small }) || !gpu_read(&different, m.small, sizeof different)) return false;
        if (different) *same = false;
    }
    return true;
}

static bool prepare(which w) {
    int64_t n = w == TRANSPOSE ? (int64_t)SIDE * SIDE : COUNT;
    return random_fill(m.a, n) && random_fill(m.b, n) && random_fill(m.c, n) && gpu_fill(m.out, 0x7fc00000, (size_t)n);
}

static void replace(text *t, const char *from, const char *to) {
    char *at = t->at ? strstr(t->at, from) : NULL;
    if (!at) return;
    text made = { 0 };
    text_add(&made, "%.*s%s%s", (int)(at - t->at), t->at, to, at + strlen(from));
    text_free(t);
    *t = made;
}

static const char *measure_in(arena *mem, result *r, bool show) {
    static char trouble[400];
    message why = { 0 };
    text source = { 0 }, cubin = { 0 }, log = { 0 };
    gpu_kernel k;
    bool same = true;
    r->s.warp = 32;
    kernel *made = cases[r->w].build(mem, r->s);
    if (!kernel_ok(made) || source_print(made, DIALECT_CUDA, &source, &why)) return "not printed";
    if (r->no_ticket) replace(&source, "atomicInc(ticket, gridDim.x - 1)", "blockIdx.x");
    if (show) printf("%s\n", source.at);
    bool compiled = rtc_compile(DIALECT_CUDA, source.at, gpu_arch(), &cubin, &log);
    if (!compiled) snprintf(trouble, sizeof trouble, "%s", log.at ? log.at : "does not compile");
    text_free(&source);
    text_free(&log);
    if (!compiled) return trouble;
    bool good = gpu_load(&k, cubin.at, made->name, r->s.threads);
    text_free(&cubin);
    if (!good) return gpu_error();
    r->registers = k.registers;
    r->resident = k.blocks_per_unit * r->s.threads;
    r->spills = k.spilled > 0;
    good = prepare(r->w) && launch(r->w, &k, &r->s) && gpu_wait() && repeats(r->w, &k, &r->s, &same) && check(r->w, &r->error) && median_time(r->w, &k, &r->s, &r->ms);
    if (!good) return gpu_error();
    gpu_unload(&k);
    return same ? NULL : "differs from run to run";
}

static bool no_ticket;   /* for the next measurements: what the tickets cost */

static void measure(which w, nest_shape s, bool show) {
    if (nresults == 400) return;
    result *r = &results[nresults++];
    arena mem = { 0 };
    *r = (result){ .w = w, .s = s, .no_ticket = no_ticket };
    const char *trouble = measure_in(&mem, r, show);
    if (trouble) r->trouble = strdup(trouble);
    print_row(r);
    fflush(stdout);
    arena_free(&mem);
}

/* ---- shapes to try ---- */

static void sweep_map(void) {
    for (int threads = 256; threads <= 1024; threads *= 2)
        for (int vectors = 1; vectors <= 4; vectors *= 2)
            for (int stream = 0; stream <= 1; stream++) measure(MAP, (nest_shape){ .threads = threads, .vectors = vectors, .stream = stream ? STREAM_ALL : 0 }, false);
}

static void sweep_softmax(void) {
    for (int threads = 128; threads <= 1024; threads *= 2)
        for (int stream = 0; stream <= 1; stream++) measure(SOFTMAX, (nest_shape){ .threads = threads, .vectors = COLUMNS / 4 / threads, .stream = stream ? STREAM_ALL : 0 }, false);
}

static void sweep_sum(void) {
    for (int threads = 256; threads <= 512; threads *= 2)
        for (int vectors = 1; vectors <= 4; vectors *= 2)
            for (int tile = 4; tile <= 64; tile *= 4)
                for (int how = 0; how < 3; how++)
                    measure(SUM, (nest_shape){ .threads = threads, .vectors = vectors, .tile = tile, .compensate = how == 1, .stream = how == 2 ? STREAM_ALL : 0 }, false);
}

static void sweep_transpose(void) {
    for (int tile = 32; tile <= 96; tile += 32)
        for (int threads = tile == 96 ? 384 : 256; threads <= 1024; threads *= 2)
            if (threads <= tile * tile / 4) measure(TRANSPOSE, (nest_shape){ .threads = threads, .tile = tile }, false);
}

static void sweep_scan(void) {
    static const struct { int threads, vectors, kept, resident; } tries[] = {
        { 512, 4, 0, 0 }, { 512, 8, 0, 0 }, { 512, 12, 0, 0 }, { 512, 12, 0, 2 }, { 512, 11, 0, 2 }, { 512, 10, 0, 2 }, { 512, 13, 0, 2 }, { 256, 12, 0, 4 }, { 256, 11, 0, 4 }, { 640, 8, 0, 2 },
        { 640, 9, 0, 2 }, { 768, 6, 0, 2 }, { 768, 7, 0, 2 }, { 1024, 4, 0, 2 }, { 1024, 5, 0, 2 }, { 1024, 6, 0, 1 }, { 512, 8, 4, 2 }, { 512, 8, 5, 2 }, { 512, 12, 5, 2 },
        { 512, 10, 5, 2 }, { 512, 11, 3, 2 }, { 256, 8, 4, 4 }, { 256, 8, 8, 4 }, { 256, 8, 11, 4 }, { 256, 12, 4, 4 }, { 256, 12, 8, 4 }, { 256, 12, 11, 4 }, { 256, 10, 10, 4 },
        { 384, 8, 7, 2 }, { 384, 12, 7, 2 }, { 384, 8, 7, 3 }, { 384, 10, 7, 3 }, { 128, 12, 6, 8 }, { 128, 12, 12, 8 }, { 128, 8, 12, 8 } };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        measure(SCAN, (nest_shape){ .threads = tries[i].threads, .vectors = tries[i].vectors, .kept = tries[i].kept, .resident = tries[i].resident, .relaxed = true, .stream = STREAM_ALL }, false);
    for (int how = 0; how < 6; how++) {   /* what each choice is worth */
        nest_shape s = cases[SCAN].best;
        if (how < 3) s.stream = how;
        if (how == 3) s.relaxed = false;
        if (how == 4) s.resident = 0;
        no_ticket = how == 5;
        measure(SCAN, s, false);
    }
    no_ticket = false;
}

/* ---- tables ---- */

static const result *best_of(which w) {
    const result *best = NULL;
    for (int i = 0; i < nresults; i++)
        if (results[i].w == w && !results[i].trouble && (!best || results[i].ms < best->ms)) best = &results[i];
    return best;
}

static void print_table(void) {
    printf("\n%-10s %9s %9s %7s %7s   shape\n", "workload", "ms", "fraction", "reach", "ratio");
    for (which w = 0; w < NCASES; w++) {
        const result *r = best_of(w);
        if (r) printf("%-10s %9.4f %9.3f %7.2f %7.3f   %s\n", cases[w].name, r->ms, fraction(r), cases[w].reach, fraction(r) / cases[w].reach, shape_text(r));
    }
}

static void write_json(const char *path) {
    FILE *f = fopen(path, "w");
    char date[32];
    time_t now = time(NULL);
    if (!f) return;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(f, "{\"date\": \"%s\", \"device\": \"%s\", \"units\": %d, \"driver\": \"%s\", \"nvrtc\": \"%s\", \"copy_gb_per_s\": %.1f, \"kernel_copy_gb_per_s\": %.1f,\n \"rows\": [\n",
            date, gpu_name(), gpu_units(), gpu_driver(), rtc_version(DIALECT_CUDA), copy_gbps, kernel_copy_gbps);
    for (int i = 0, first = 1; i < nresults; i++) {
        const result *r = &results[i];
        if (r->trouble) continue;
        fprintf(f, "%s  {\"workload\": \"%s\", \"shape\": \"%s\", \"ms\": %.5f, \"fraction\": %.4f, \"reach\": %.2f, \"registers\": %d, \"threads_per_unit\": %d, \"error\": %.3g}",
                first ? "" : ",\n", cases[r->w].name, shape_text(r), r->ms, fraction(r), cases[r->w].reach, r->registers, r->resident, r->error);
        first = 0;
    }
    fprintf(f, "\n ]}\n");
    fclose(f);
}

/* ---- the whole ---- */

static bool load_checks(void) {
    static const struct { gpu_kernel *k; const char *name; } all[] = {
        { &fill, "fill" }, { &check_map, "check_map" }, { &check_softmax, "check_softmax" }, { &check_transpose, "check_transpose" },
        { &sum_doubles, "sum_doubles" }, { &differences, "differences" }, { &copy, "copy" } };
    text cubin = { 0 }, log = { 0 };
    if (!rtc_compile(DIALECT_CUDA, checks_source, gpu_arch(), &cubin, &log)) { printf("%s\n", log.at); return false; }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) if (!gpu_load(all[i].k, cubin.at, all[i].name, 256)) return false;
    text_free(&cubin);
    text_free(&log);
    return true;
}

/* 4 GiB read and written, by the driver and by a kernel. */
static bool measure_copy(void) {
    const size_t bytes = (size_t)1 << 32;
    gpu_memory from, to;
    float t[2][RUNS];
    if (!gpu_alloc(&from, bytes) || !gpu_alloc(&to, bytes) || !random_fill(from, bytes / 4)) return false;
    for (int how = 0; how < 2; how++) {
        for (int i = -3; i < RUNS; i++) {
            int mark = i < 0 ? 200 : 2 * i;
            bool good = gpu_mark(mark) && (how ? gpu_launch(&copy, (unsigned)(bytes / 16 / 1024), 1, 256, (void *[]){ &from, &to }) : gpu_copy(to, from, bytes)) && gpu_mark(mark + 1);
            if (!good) return false;
        }
        if (!gpu_wait()) return false;
        for (int i = 0; i < RUNS; i++) if (!gpu_between(2 * i, 2 * i + 1, &t[how][i])) return false;
        qsort(t[how], RUNS, sizeof(float), by_value);
    }
    copy_gbps = 2.0 * (double)bytes / (t[0][RUNS / 2] * 1e6);
    kernel_copy_gbps = 2.0 * (double)bytes / (t[1][RUNS / 2] * 1e6);
    return gpu_free(from) && gpu_free(to);
}

static bool take_memory(void) {
    return gpu_alloc(&m.a, BUFFER) && gpu_alloc(&m.b, BUFFER) && gpu_alloc(&m.c, BUFFER) && gpu_alloc(&m.out, BUFFER) && gpu_alloc(&m.words, 8 * WORDS)
        && gpu_alloc(&m.small, 4096) && gpu_fill(m.small, 0, 1024) && gpu_host_alloc((void **)&m.host_in, COUNT * sizeof(float)) && gpu_host_alloc((void **)&m.host_out, COUNT * sizeof(float));
}

int main(int argc, char **argv) {
    const char *why, *only = "", *json = NULL;
    bool best = false, show = false;
    static void (*const sweep[NCASES])(void) = { sweep_map, sweep_softmax, sweep_sum, sweep_transpose, sweep_scan };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc) json = argv[++i];
        else if (!strcmp(argv[i], "--best")) best = true;
        else if (!strcmp(argv[i], "--show")) show = true;
    }
    if (!gpu_open(&why) || !rtc_available(DIALECT_CUDA, &why)) {
        printf("gpu_nests: not run: %s\n", why);
        return 0;
    }
    if (!load_checks() || !measure_copy() || !take_memory()) {
        printf("gpu_nests: %s\n", gpu_error());
        return 1;
    }
    printf("%s, %d units, driver %s, NVRTC %s\ncopy %.0f GB/s (by the driver), %.0f GB/s (by a kernel), read + written\n\n", gpu_name(), gpu_units(), gpu_driver(),
           rtc_version(DIALECT_CUDA), copy_gbps, kernel_copy_gbps);
    for (which w = 0; w < NCASES; w++) {
        if (*only && !strstr(only, cases[w].name)) continue;
        measure(w, cases[w].best, show);
        if (!best) sweep[w]();
    }
    print_table();
    if (json) write_json(json);
    for (int i = 0; i < nresults; i++) if (results[i].trouble) return 1;
    return 0;
}
