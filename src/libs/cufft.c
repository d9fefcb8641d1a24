/* cufft.c: Fourier transforms on NVIDIA GPUs through cuFFT.
 *
 * How it works: one cuFFT plan transforms all lines of an operand whose other dimensions lie like one; the plans made last
 * are kept. cuFFT does not scale, so cuBLAS's scal follows where the norm asks for it; it overwrites the operand of
 * complex-to-real transforms, which therefore work on a copy. Layouts that fit neither are left to others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include "libs/libs.h"

typedef enum { FORWARD, INVERSE, REAL_FORWARD, REAL_INVERSE } transform;
enum { C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69, D2Z = 0x6a, Z2D = 0x6c };
#define KEPT_PLANS 32

typedef struct lines { int64_t n, count, in_stride, in_step, out_stride, out_step; int type; } lines;   /* in elements */
typedef struct kept_plan { lines of; int handle; bool made; size_t work; uint64_t last_use; } kept_plan;
static struct {
    pthread_once_t once;
    pthread_mutex_t mutex;
    bool there;
    int (*create)(int *);
    int (*destroy)(int);
    int (*no_allocation)(int, int);
    int (*make)(int, int, long long *, long long *, long long, long long, long long *, long long, long long, int, long long, size_t *);
    int (*set_area)(int, void *);
    int (*set_stream)(int, void *);
    int (*execute)(int, void *, void *, int);
    int (*blas_create)(void **);
    int (*blas_stream)(void *, void *);
    int (*sscal)(void *, int, const float *, float *, int);
    int (*dscal)(void *, int, const double *, double *, int);
    int (*copy)(void *, const void *, size_t, void *);
    void *blas;
    kept_plan plan[KEPT_PLANS];
    uint64_t clock;
} cufft = { .once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER };

static void load(void) {
    void *fft = library_open(LIBRARY_CUFFT), *blas = library_open(LIBRARY_CUBLAS), *driver = library_open(LIBRARY_CUDA);
    if (!fft || !blas || !driver) return;
    const struct { void *lib; const char *name; void **at; } symbols[] = {
        { fft, "cufftCreate", (void **)&cufft.create }, { fft, "cufftDestroy", (void **)&cufft.destroy }, { fft, "cufftSetAutoAllocation", (void **)&cufft.no_allocation },
        { fft, "cufftMakePlanMany64", (void **)&cufft.make }, { fft, "cufftSetWorkArea", (void **)&cufft.set_area }, { fft, "cufftSetStream", (void **)&cufft.set_stream },
        { fft, "cufftXtExec", (void **)&cufft.execute }, { blas, "cublasCreate_v2", (void **)&cufft.blas_create }, { blas, "cublasSetStream_v2", (void **)&cufft.blas_stream },
        { blas, "cublasSscal_v2", (void **)&cufft.sscal }, { blas, "cublasDscal_v2", (void **)&cufft.dscal }, { driver, "cuMemcpyDtoDAsync_v2", (void **)&cufft.copy },
    };
    cufft.there = true;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) if (!(*symbols[i].at = dlsym(symbols[i].lib, symbols[i].name))) cufft.there = false;
}

/* All dimensions but the axis as one, with the same step each time; false: they do not lie so. */
static bool one_step(const struct opaque_operand *o, int axis, int64_t *step) {
    int64_t below = 0;
    *step = 0;
    for (int d = o->ndim; d-- > 0;) {
        if (d == axis || o->shape[d] == 1) continue;
        if (o->strides[d] == 0) return false;
        if (below && o->strides[d] != below) return false;
        if (!below) *step = o->strides[d];
        below = o->strides[d] * o->shape[d];
    }
    return true;
}

static bool lines_of(const struct provider_call *c, transform kind, lines *l) {
    const struct opaque_operand *in = &c->operands[0], *out = &c->operands[1];
    int axis = (int)c->attr[0];
    bool wide = out->dtype == KN_FLOAT64 || out->dtype == KN_COMPLEX128, real_in = kind == REAL_FORWARD, real_out = kind == REAL_INVERSE;
    kn_dtype real = wide ? KN_FLOAT64 : KN_FLOAT32, whole = wide ? KN_COMPLEX128 : KN_COMPLEX64;
    if (in->dtype != (real_in ? real : whole) || out->dtype != (real_out ? real : whole) || in->conjugate) return false;
    int64_t n = c->attr[1], want = real_out ? n / 2 + 1 : n, in_size = (int64_t)dtype_size(in->dtype), out_size = (int64_t)dtype_size(out->dtype);
    int64_t in_step, out_step;
    if (n < 1 || in->shape[axis] < want || !one_step(in, axis, &in_step) || !one_step(out, axis, &out_step)) return false;
    *l = (lines){ .n = n, .count = 1, .in_stride = in->strides[axis] / in_size, .in_step = in_step / in_size, .out_stride = out->strides[axis] / out_size, .out_step = out_step / out_size,
                  .type = real_in ? (wide ? D2Z : R2C) : real_out ? (wide ? Z2D : C2R) : wide ? Z2Z : C2C };
    for (int d = 0; d < out->ndim; d++) if (d != axis) l->count *= out->shape[d];
    return l->count > 0 && l->in_stride > 0 && l->out_stride > 0 && l->in_step >= 0 && l->out_step >= 0;
}

static bool same(const lines *a, const lines *b) {
    return a->n == b->n && a->count == b->count && a->in_stride == b->in_stride && a->in_step == b->in_step && a->out_stride == b->out_stride && a->out_step == b->out_step && a->type == b->type;
}

/* Mutex held. NULL: cuFFT cannot do it. */
static kept_plan *plan_for_lines(const lines *l) {
    kept_plan *oldest = &cufft.plan[0];
    for (int i = 0; i < KEPT_PLANS; i++) {
        kept_plan *k = &cufft.plan[i];
        if (k->made && same(&k->of, l)) { k->last_use = ++cufft.clock; return k; }
        if (k->last_use < oldest->last_use) oldest = k;
    }
    if (oldest->made) cufft.destroy(oldest->handle);
    *oldest = (kept_plan){ .of = *l };
    long long n = l->n, in = l->n, out = l->n;
    if (cufft.create(&oldest->handle)) return NULL;
    if (cufft.no_allocation(oldest->handle, 0) || cufft.make(oldest->handle, 1, &n, &in, l->in_stride, l->in_step ? l->in_step : 1, &out, l->out_stride, l->out_step ? l->out_step : 1, l->type, l->count, &oldest->work)) {
        cufft.destroy(oldest->handle);
        return NULL;
    }
    oldest->made = true;
    oldest->last_use = ++cufft.clock;
    return oldest;
}

static int64_t whole_bytes(const struct opaque_operand *o) {
    int64_t last = 0;
    for (int d = 0; d < o->ndim; d++) last += (o->shape[d] - 1) * o->strides[d];
    return last + (int64_t)dtype_size(o->dtype);
}

static int applicable(const struct provider_call *c, transform kind) {
    lines l;
    pthread_once(&cufft.once, load);
    return cufft.there && lines_of(c, kind, &l) ? 10 : 0;
}

static int64_t scratch(const struct provider_call *c, transform kind) {
    lines l;
    if (!lines_of(c, kind, &l)) return 0;
    pthread_mutex_lock(&cufft.mutex);
    kept_plan *k = plan_for_lines(&l);
    int64_t bytes = k ? ((int64_t)k->work + 255) / 256 * 256 : 0;
    pthread_mutex_unlock(&cufft.mutex);
    return 256 + bytes + (kind == REAL_INVERSE ? whole_bytes(&c->operands[0]) : 0);
}

static double scale_of(transform kind, int64_t n, kn_fft_norm norm) {
    bool inverse = kind == INVERSE || kind == REAL_INVERSE;
    if (norm == KN_NORM_ORTHO) return 1 / sqrt((double)n);
    return inverse == (norm == KN_NORM_BACKWARD) ? 1 / (double)n : 1;
}

static int scale(const struct provider_call *c, double by) {
    const struct opaque_operand *out = &c->operands[1];
    int64_t numbers = whole_bytes(out) / (int64_t)dtype_size(dtype_table[out->dtype].part);
    float narrow = (float)by;
    int status = !cufft.blas ? cufft.blas_create(&cufft.blas) : 0;
    if (!status) status = cufft.blas_stream(cufft.blas, c->queue);
    for (int64_t at = 0; at < numbers && !status; at += INT32_MAX) {
        int part = numbers - at < INT32_MAX ? (int)(numbers - at) : INT32_MAX;
        status = dtype_table[out->dtype].part == KN_FLOAT32 ? cufft.sscal(cufft.blas, part, &narrow, (float *)c->data[1] + at, 1) : cufft.dscal(cufft.blas, part, &by, (double *)c->data[1] + at, 1);
    }
    return status;
}

static kn_status run(const struct provider_call *c, transform kind) {
    lines l;
    void *from = c->data[0];
    if (!lines_of(c, kind, &l)) return fail(c->m, KN_RUNTIME_ERROR, "fft: the layout is not cuFFT's");
    pthread_mutex_lock(&cufft.mutex);
    kept_plan *k = plan_for_lines(&l);
    int status = k ? 0 : -1;
    if (!status) status = cufft.set_stream(k->handle, c->queue);
    if (!status) status = cufft.set_area(k->handle, c->scratch);
    if (!status && kind == REAL_INVERSE) {
        from = (char *)c->scratch + ((int64_t)k->work + 255) / 256 * 256;
        status = cufft.copy(from, c->data[0], (size_t)whole_bytes(&c->operands[0]), c->queue);
    }
    if (!status) status = cufft.execute(k->handle, from, c->data[1], kind == INVERSE || kind == REAL_INVERSE ? 1 : -1);
    double by = scale_of(kind, l.n, (kn_fft_norm)c->attr[2]);
    if (!status && by != 1) status = scale(c, by);
    pthread_mutex_unlock(&cufft.mutex);
    return status ? fail(c->m, KN_RUNTIME_ERROR, "fft: cuFFT gives status %d", status) : KN_OK;
}

#define FAMILY(name, kind)                                                                              \
    static int name##_applicable(const struct provider_call *c) { return applicable(c, kind); }         \
    static int64_t name##_scratch(const struct provider_call *c) { return scratch(c, kind); }           \
    static kn_status name##_run(const struct provider_call *c) { return run(c, kind); }
FAMILY(fft, FORWARD)
FAMILY(ifft, INVERSE)
FAMILY(rfft, REAL_FORWARD)
FAMILY(irfft, REAL_INVERSE)

void cufft_register(void) {
    static provider rows[] = {
        { "cufft", 0, TARGET_CUDA, fft_applicable, fft_scratch, fft_run }, { "cufft", 0, TARGET_CUDA, ifft_applicable, ifft_scratch, ifft_run },
        { "cufft", 0, TARGET_CUDA, rfft_applicable, rfft_scratch, rfft_run }, { "cufft", 0, TARGET_CUDA, irfft_applicable, irfft_scratch, irfft_run },
    };
    static const char *const names[] = { "fft", "ifft", "rfft", "irfft" };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i].operation = family_op_named(names[i]);
        provider_register(&rows[i]);
    }
}
