/* gpu_schedules.c: element-wise expressions as the planner schedules them for this GPU: planned, compiled, checked against float64
 * and timed beside the device's copy bandwidth.
 *
 *   gpu_schedules [--only NAME] [--show]
 *
 * --show prints the source, without a GPU too. Times are medians of 21 runs between device events, after 3 warm-up runs, on random inputs; the result is poisoned
 * before the run that is checked. fraction: the least bytes that must be moved / (time x copy bandwidth). Without a GPU it
 * says so and ends well. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../tests/support/cuda.h"
#include "../tests/support/nest_eval.c"
#include "../tests/support/slices.c"
#include "../tests/support/owned.h"
#include "../tests/support/rtc.h"
#include "gpu_nests_checks.h"

#define RUNS 21
#define MOST_STEPS 8
#define MOST_ARGS 128
#define COUNT ((int64_t)1 << 27)
#define SIDE ((int64_t)12288)
#define BUFFER ((size_t)1 << 30)
#define SHAPE(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__}

static gpu_memory memory[4], worst;      /* a, b, c, out */
static gpu_kernel fill;
static double copy_gbps;
static node *leaves[3];
static int nleaves;

/* ---- expressions ---- */

/* An array of the device: planning looks at its alignment alone. */
static node *in_of(kn_dtype t, int ndim, const int64_t *shape) {
    static _Alignas(64) char somewhere[64];
    static buffer b = { .refs = 1, .device = KN_CPU, .aligned = true, .data = somewhere, .size = BUFFER };
    node *n = own(node_buffer(t, ndim, shape, &b, 0, NULL));
    if (nleaves < 3) leaves[nleaves++] = n;
    return n;
}
static node *f32(int ndim, const int64_t *shape) { return in_of(KN_FLOAT32, ndim, shape); }
static node *num(double v) { return node_scalar(KN_FLOAT32, (scalar){ .kind = SCALAR_FLOAT, .v.f = v }, false, NULL); }
static node *map1(int f, node *a) { return node_map(f, 0, 1, &a, (kn_dtype)a->dtype, NULL); }
static node *map2(int f, node *a, node *b) { return node_map(f, 0, 2, (node *[]){ a, b }, (kn_dtype)(a->kind == NODE_SCALAR ? b : a)->dtype, NULL); }
static node *add(node *a, node *b) { return map2(UFUNC_add, a, b); }
static node *sub(node *a, node *b) { return map2(UFUNC_subtract, a, b); }
static node *mul(node *a, node *b) { return map2(UFUNC_multiply, a, b); }
static node *less(node *a, node *b) { return node_map(UFUNC_less, 0, 2, (node *[]){ a, b }, KN_BOOL, NULL); }
static node *turned(node *x) { return node_transpose(x, (int[]){ 1, 0 }, NULL); }
static node *window_of(node *x, int ndim, const int64_t *shape, int64_t offset, const int64_t *strides) {
    window w = { .offset = offset, .strides = strides, .shape = shape, .ndim = ndim };
    return node_view(x, (kn_dtype)x->dtype, &w, NULL);
}
static node *line(kn_dtype t) { return in_of(t, SHAPE(COUNT)); }
static node *square(void) { return f32(SHAPE(SIDE, SIDE)); }

static node *map3(void) {
    node *a = line(KN_FLOAT32), *b = line(KN_FLOAT32), *c = line(KN_FLOAT32);
    return add(mul(map1(UFUNC_sqrt, add(mul(a, a), mul(b, b))), c), map1(UFUNC_exp, map1(UFUNC_negative, a)));
}
static node *axpb(void) { return add(mul(line(KN_FLOAT32), num(2)), line(KN_FLOAT32)); }
static node *chosen(void) {
    node *a = line(KN_FLOAT32), *b = line(KN_FLOAT32);
    return node_map(UFUNC_where, 0, 3, (node *[]){ less(b, a), sub(a, b), mul(b, num(.5)) }, KN_FLOAT32, NULL);
}
static node *plain_copy(void) { return map1(UFUNC_negative, line(KN_FLOAT32)); }
static node *odd_length(void) { return add(in_of(KN_FLOAT32, SHAPE(COUNT - 1)), in_of(KN_FLOAT32, SHAPE(COUNT - 1))); }
static node *turned_sum(void) {
    node *x = square(), *y = square();
    return add(turned(x), y);
}
static node *turned_result(void) {
    node *x = square(), *y = square();
    return turned(add(x, y));
}
static node *odd_turned(void) {
    node *x = f32(SHAPE(SIDE - 1, SIDE - 3)), *y = f32(SHAPE(SIDE - 3, SIDE - 1));
    return add(turned(x), y);
}
static node *channels_first(void) { return node_transpose(f32(SHAPE(64, 512 * 512, 8)), (int[]){ 0, 2, 1 }, NULL); }
static node *heads(void) { return node_transpose(f32(SHAPE(16, 2048, 32, 128)), (int[]){ 0, 2, 1, 3 }, NULL); }
static node *outer(void) {
    node *u = f32(SHAPE(SIDE)), *v = f32(SHAPE(SIDE)), *x = square();
    return add(mul(window_of(u, SHAPE(SIDE, SIDE), 0, (const int64_t[]){ 1, 0 }), window_of(v, SHAPE(SIDE, SIDE), 0, (const int64_t[]){ 0, 1 })), x);
}
static node *stencil(void) {
    node *x = square();
    int64_t inside[2] = { SIDE - 2, SIDE - 2 }, strides[2] = { SIDE, 1 };
    node *c = window_of(x, 2, inside, SIDE + 1, strides), *up = window_of(x, 2, inside, 1, strides), *down = window_of(x, 2, inside, 2 * SIDE + 1, strides);
    node *left = window_of(x, 2, inside, SIDE, strides), *right = window_of(x, 2, inside, SIDE + 2, strides);
    return add(c, mul(num(.25), sub(add(add(add(up, down), left), right), mul(num(4), c))));
}
static node *differences_of(void) {
    node *a = line(KN_FLOAT32);
    return sub(window_of(a, SHAPE(COUNT - 1), 1, (const int64_t[]){ 1 }), window_of(a, SHAPE(COUNT - 1), 0, (const int64_t[]){ 1 }));
}
static node *backwards(void) {
    node *a = line(KN_FLOAT32), *b = line(KN_FLOAT32);
    return add(window_of(a, SHAPE(COUNT), COUNT - 1, (const int64_t[]){ -1 }), b);
}
static node *odd_rows(void) {
    node *a = f32(SHAPE(SIDE, SIDE));
    return map1(UFUNC_negative, window_of(a, SHAPE(SIDE, SIDE - 1), 1, (const int64_t[]){ SIDE, 1 }));
}
static node *half(void) {
    node *a = in_of(KN_FLOAT16, SHAPE(2 * COUNT)), *b = in_of(KN_FLOAT16, SHAPE(2 * COUNT)), *c = in_of(KN_FLOAT16, SHAPE(2 * COUNT));
    return mul(add(a, b), c);
}
static node *complexes(void) {
    node *a = in_of(KN_COMPLEX64, SHAPE(COUNT / 2)), *b = in_of(KN_COMPLEX64, SHAPE(COUNT / 2)), *c = in_of(KN_COMPLEX64, SHAPE(COUNT / 2));
    return add(mul(a, b), c);
}
static node *compared(void) {
    node *a = line(KN_FLOAT32), *b = line(KN_FLOAT32);
    return less(a, b);
}
static node *widened(void) { return node_cast(in_of(KN_FLOAT32, SHAPE(COUNT)), KN_FLOAT64, NULL); }

/* of: the type of the elements of a, b and c in the check; r: what element i of the result is, s its side. */
static const struct bench_case { const char *name, *expression, *of, *out; double bytes; int64_t size; node *(*build)(void); const char *r; } cases[] = {
    { "map3", "sqrt(a*a+b*b)*c+exp(-a)", "float", "float", 16. * COUNT, COUNT, map3, "sqrt(A(i)*A(i)+B(i)*B(i))*C(i)+exp(-A(i))" },
    { "axpb", "a*2+b", "float", "float", 12. * COUNT, COUNT, axpb, "A(i)*2+B(i)" },
    { "where", "where(a>b,a-b,b/2)", "float", "float", 12. * COUNT, COUNT, chosen, "A(i)>B(i)?A(i)-B(i):B(i)/2" },
    { "negative", "-a", "float", "float", 8. * COUNT, COUNT, plain_copy, "-A(i)" },
    { "odd", "a+b, 2**27-1", "float", "float", 12. * COUNT, COUNT - 1, odd_length, "A(i)+B(i)" },
    { "turned", "x.T+y", "float", "float", 12. * SIDE * SIDE, SIDE * SIDE, turned_sum, "A(i%s*s+i/s)+B(i)" },
    { "result", "(x+y).T", "float", "float", 12. * SIDE * SIDE, SIDE * SIDE, turned_result, "A(i%s*s+i/s)+B(i%s*s+i/s)" },
    { "oddturned", "x.T+y, odd sides", "float", "float", 12. * SIDE * SIDE, (SIDE - 1) * (SIDE - 3), odd_turned, "A(i%(s-1)*(s-3)+i/(s-1))+B(i)" },
    { "channels", "x.transpose(0,2,1), 8 last", "float", "float", 8. * COUNT, COUNT, channels_first, "A(i/2097152*2097152+i%262144*8+i%2097152/262144)" },
    { "heads", "x.transpose(0,2,1,3)", "float", "float", 8. * COUNT, COUNT, heads, "A(i/8388608*8388608+i/128%2048*4096+i/262144%32*128+i%128)" },
    { "outer", "u*v+x", "float", "float", 8. * SIDE * SIDE, SIDE * SIDE, outer, "A(i/s)*B(i%s)+C(i)" },
    { "stencil", "five points", "float", "float", 8. * SIDE * SIDE, (SIDE - 2) * (SIDE - 2), stencil,
      "A(P)+.25*(A(P-s)+A(P+s)+A(P-1)+A(P+1)-4*A(P))" },
    { "diff", "a[1:]-a[:-1]", "float", "float", 8. * COUNT, COUNT - 1, differences_of, "A(i+1)-A(i)" },
    { "backwards", "a[::-1]+b", "float", "float", 12. * COUNT, COUNT, backwards, "A(n-1-i)+B(i)" },
    { "oddrows", "-x[:,1:]", "float", "float", 8. * SIDE * SIDE, SIDE * (SIDE - 1), odd_rows, "-A(i/(s-1)*s+i%(s-1)+1)" },
    { "half", "(a+b)*c, float16", "half", "half", 16. * COUNT, 2 * COUNT, half, "round_half(A(i)+B(i))*C(i)" },
    { "complex", "a*b+c, complex64", "float", "float", 16. * COUNT, COUNT, complexes, "i%2?A(i-1)*B(i)+A(i)*B(i-1)+C(i):A(i)*B(i)-A(i+1)*B(i+1)+C(i)" },
    { "compare", "a<b", "float", "unsigned char", 9. * COUNT, COUNT, compared, "A(i)<B(i)" },
    { "cast", "a.astype(float64)", "float", "double", 12. * COUNT, COUNT, widened, "A(i)" },
};

/* ---- checks ---- */

static bool make_check(const struct bench_case *c, gpu_kernel *k) {
    text source = { 0 }, cubin = { 0 }, log = { 0 };
    text_add(&source, "%s"
        "struct half { unsigned short bits; };\n"
        "static __device__ double value(half h) { float x; asm(\"cvt.f32.f16 %%0, %%1;\" : \"=f\"(x) : \"h\"(h.bits)); return x; }\n"
        "static __device__ double value(double x) { return x; }\n"
        "static __device__ double round_half(double x) { half h; asm(\"cvt.rn.f16.f32 %%0, %%1;\" : \"=h\"(h.bits) : \"f\"((float)x)); return value(h); }\n"
        "#define A(i) value(a[i])\n#define B(i) value(b[i])\n#define C(i) value(c[i])\n#define P ((i / (s - 2) + 1) * s + i %% (s - 2) + 1)\n"
        "extern \"C\" __global__ void check(const %s *a, const %s *b, const %s *c, const %s *out, long long n, long long s, unsigned *worst) {\n"
        "    long long i = here();\n"
        "    if (i >= n) return;\n"
        "    double r = %s;\n"
        "    note(worst, fabs(value(out[i]) - r) / fmax(1, fabs(r)));\n"
        "}\n", checks_source, c->of, c->of, c->of, c->out, c->r);
    bool good = !source.failed && rtc_compile(DIALECT_CUDA, source.at, gpu_arch(), &cubin, &log);
    if (!good) printf("%s\n", log.at ? log.at : "out of memory");
    good = good && gpu_load(k, cubin.at, "check", 256);
    text_free(&source);
    text_free(&cubin);
    text_free(&log);
    return good;
}

static bool check(const struct bench_case *c, float *error) {
    gpu_kernel k;
    int64_t n = c->size, side = SIDE;
    if (!make_check(c, &k) || !gpu_fill(worst, 0, 1)) return false;
    bool good = gpu_launch(&k, (unsigned)((n + 255) / 256), 1, 256, (void *[]){ &memory[0], &memory[1], &memory[2], &memory[3], &n, &side, &worst }) && gpu_read(error, worst, sizeof *error);
    return gpu_unload(&k) && good;
}

/* ---- running ---- */

typedef struct running { const plan *p; gpu_kernel kernels[MOST_STEPS]; uint64_t args[MOST_STEPS][MOST_ARGS]; } running;

/* Nothing but a result of its own is asked for in memory. */
static uint64_t word(const case_slice *c, const plan_arg *a) {
    scalar numbers[16];
    for (int i = 0; i < c->s.nscalars && i < 16; i++) numbers[i] = c->s.scalars[i]->attr.number;
    if (a->kind != ARG_POINTER) return word_of(a, numbers, NULL, NULL);
    if (a->at.kind == PLACE_MEMORY) return memory[3] + (uint64_t)a->at.offset;
    for (int i = 0; i < 3; i++) if (c->s.leaves[a->at.index] == leaves[i]) return memory[i] + (uint64_t)a->at.offset;
    return 0;
}

static bool load(const case_slice *c, running *r, bool show) {
    message m = { 0 };
    for (int i = 0; i < r->p->nsteps; i++) {
        const plan_step *s = &r->p->steps[i];
        text source = { 0 }, cubin = { 0 }, log = { 0 };
        if (s->kind != STEP_KERNEL || s->nargs > MOST_ARGS || source_print(s->code, DIALECT_CUDA, &source, &m)) return false;
        if (show) printf("%s\n", source.at);
        bool good = rtc_compile(DIALECT_CUDA, source.at, gpu_arch(), &cubin, &log) && gpu_load(&r->kernels[i], cubin.at, s->code->name, s->code->block[0] * s->code->block[1] * s->code->block[2]);
        if (!good) printf("%s\n", log.at ? log.at : gpu_error());
        text_free(&source);
        text_free(&cubin);
        text_free(&log);
        for (int j = 0; j < s->nargs; j++) r->args[i][j] = word(c, &s->args[j]);
        if (!good) return false;
    }
    return true;
}

static bool launch(running *r) {
    for (int i = 0; i < r->p->nsteps; i++) {
        const plan_step *s = &r->p->steps[i];
        void *args[MOST_ARGS];
        unsigned grid[3], block[3];
        for (int j = 0; j < s->nargs; j++) args[j] = &r->args[i][j];
        for (int d = 0; d < 3; d++) {
            grid[d] = (unsigned)s->grid[d];
            block[d] = s->code->block[d];
        }
        if (!gpu_launch_grid(&r->kernels[i], grid, block, args)) return false;
    }
    return true;
}

static int by_value(const void *a, const void *b) { return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b); }

/* Milliseconds: the median; of the device's copy where r is NULL. */
static bool median_time(running *r, float *ms) {
    float t[RUNS];
    for (int i = -3; i < RUNS; i++) {
        int mark = i < 0 ? 200 : 2 * i;
        if (!gpu_mark(mark) || !(r ? launch(r) : gpu_copy(memory[1], memory[0], BUFFER)) || !gpu_mark(mark + 1)) return false;
    }
    if (!gpu_wait()) return false;
    for (int i = 0; i < RUNS; i++) if (!gpu_between(2 * i, 2 * i + 1, &t[i])) return false;
    qsort(t, RUNS, sizeof *t, by_value);
    *ms = t[RUNS / 2];
    return true;
}

/* float16 inputs are made of 16-bit patterns of numbers between .5 and 2. */
static bool random_fill(const struct bench_case *c) {
    int64_t n = (int64_t)(BUFFER / 4);
    for (unsigned i = 0; i < 3; i++) if (!gpu_launch(&fill, (unsigned)((n + 255) / 256), 1, 256, (void *[]){ &memory[i], &n, &i })) return false;
    for (unsigned i = 0; i < 3 && !strcmp(c->of, "half"); i++) if (!gpu_fill(memory[i], 0x38013c55u + i, (size_t)n)) return false;
    return gpu_fill(memory[3], 0xffffffffu, BUFFER / 4);
}

static bool measure(const struct bench_case *c, bool show) {
    case_slice slice;
    running r = { 0 };
    message m = { 0 };
    float ms, error;
    nleaves = 0;
    node *root = c->build();
    slice_make(&slice, 1, &root);
    plan *p = plan_build(&slice.s, profile_named("sm_90"), NULL, &m);
    r.p = p;
    bool good = p && p->nsteps <= MOST_STEPS && load(&slice, &r, show) && random_fill(c) && launch(&r) && check(c, &error) && median_time(&r, &ms);
    if (good)
        printf("%-10s %-28s %8.4f ms  %5.3f of copy  %3d registers%s  error %.2g\n", c->name, c->expression, ms, c->bytes / (ms * 1e6 * copy_gbps), r.kernels[0].registers,
               r.kernels[0].spilled ? " (spilled)" : "", error);
    else
        printf("%-10s %-28s %s\n", c->name, c->expression, p ? gpu_error() : m.text);
    fflush(stdout);
    for (int i = 0; good && i < p->nsteps; i++) gpu_unload(&r.kernels[i]);
    plan_free(p);
    slice_free(&slice);
    drop_all();
    return good && error < 1e-3;
}

/* Sources for the target that is planned for; do they compile? */
static bool show_source(const struct bench_case *c) {
    case_slice slice;
    message m = { 0 };
    nleaves = 0;
    node *root = c->build();
    slice_make(&slice, 1, &root);
    plan *p = plan_build(&slice.s, profile_named("sm_90"), NULL, &m);
    bool good = p != NULL;
    for (int i = 0; good && i < p->nsteps; i++) {
        const plan_step *s = &p->steps[i];
        text source = { 0 }, log = { 0 };
        good = s->kind == STEP_KERNEL && !source_print(s->code, DIALECT_CUDA, &source, &m);
        printf("---- %s: %s, grid %lld x %lld x %lld\n%s\n", c->name, c->expression, (long long)s->grid[0], (long long)s->grid[1], (long long)s->grid[2], good ? source.at : m.text);
        if (good && rtc_available(DIALECT_CUDA, NULL) && !rtc_compile(DIALECT_CUDA, source.at, "sm_90", NULL, &log)) {
            printf("%s\n", log.at);
            good = false;
        }
        text_free(&source);
        text_free(&log);
    }
    plan_free(p);
    slice_free(&slice);
    drop_all();
    return good;
}

static bool prepare(void) {
    text cubin = { 0 };
    float ms;
    for (int i = 0; i < 4; i++) if (!gpu_alloc(&memory[i], BUFFER + 4096)) return false;
    if (!gpu_alloc(&worst, 4096) || !rtc_compile(DIALECT_CUDA, checks_source, gpu_arch(), &cubin, NULL)) return false;
    if (!gpu_load(&fill, cubin.at, "fill", 256) || !median_time(NULL, &ms)) return false;
    copy_gbps = 2.0 * (double)BUFFER / (ms * 1e6);
    text_free(&cubin);
    return true;
}

int main(int argc, char **argv) {
    const char *why, *only = "";
    bool show = false, good = true;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
        else if (!strcmp(argv[i], "--show")) show = true;
    }
    if (!gpu_open(&why) || !rtc_available(DIALECT_CUDA, &why)) {
        for (size_t i = 0; show && i < sizeof cases / sizeof *cases; i++) if (strstr(cases[i].name, only)) good &= show_source(&cases[i]);
        printf("gpu_schedules: not run: %s\n", why);
        return good ? 0 : 1;
    }
    if (!prepare()) {
        printf("gpu_schedules: %s\n", gpu_error());
        return 1;
    }
    printf("%s, driver %s, NVRTC %s, copy %.0f GB/s read + written\n", gpu_name(), gpu_driver(), rtc_version(DIALECT_CUDA), copy_gbps);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) if (strstr(cases[i].name, only)) good &= measure(&cases[i], show);
    return good ? 0 : 1;
}
