/* fft.c: one-axis Fourier transforms: FFTW where it is found at run time, else our own, for any length.
 *
 * How it works: every line along the axis is copied into a contiguous buffer (cut or padded with zeros to n), transformed,
 * scaled and written out. Plans are made once a length and kept. Ours is a mixed-radix transform (Cooley and Tukey 1965)
 * in float64, and Bluestein's chirp (1970) for lengths with a large prime factor. Shapes and dtypes were checked when the
 * node was made. attr: axis, n, norm (kn_fft_norm). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include "libs/libs.h"
#include "runtime/runtime.h"

typedef struct complex_double { double re, im; } complex_double;
typedef enum { FORWARD, INVERSE, REAL_FORWARD, REAL_INVERSE } transform;

/* ---- our own transform ---- */

#define LARGEST_RADIX 13

typedef struct own_plan {
    int64_t n;                    /* a product of small primes, or Bluestein's length below */
    int factors[64], nfactors;
    complex_double *roots;        /* exp(-2 pi i k / n) */
    struct own_plan *inner;       /* Bluestein: the power-of-two transform */
    complex_double *chirp, *chirp_transform;
} own_plan;

static void own_free(own_plan *p) {
    if (!p) return;
    own_free(p->inner);
    mem_free(p->roots);
    mem_free(p->chirp);
    mem_free(p->chirp_transform);
    mem_free(p);
}

/* exp(-2 pi i k / n), reduced to the first octant so that sines and cosines are exact to the last place. */
static complex_double root(int64_t k, int64_t n) {
    k %= n;
    int64_t e = 8 * k;
    bool lower = e > 4 * n;       /* angle beyond pi */
    if (lower) e = 8 * n - e;
    bool left = e > 2 * n;        /* beyond pi / 2 */
    if (left) e = 4 * n - e;
    bool steep = e > n;           /* beyond pi / 4 */
    if (steep) e = 2 * n - e;
    double angle = 2 * M_PI * ((double)e / 8 / (double)n), c = cos(angle), s = sin(angle);
    if (steep) { double t = c; c = s; s = t; }
    if (left) c = -c;
    return (complex_double){ c, lower ? s : -s };
}

/* The last step of a decimation in time: m transforms of `radix` values each, in place in out. */
static void butterflies(const own_plan *p, int radix, int64_t m, int64_t root_step, complex_double *out) {
    for (int64_t k = 0; k < m; k++) {
        complex_double t[LARGEST_RADIX];
        for (int q = 0; q < radix; q++) {
            complex_double w = p->roots[q * k * root_step], x = out[q * m + k];
            t[q] = (complex_double){ x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re };
        }
        for (int j = 0; j < radix; j++) {
            complex_double s = t[0];
            for (int q = 1; q < radix; q++) {
                complex_double w = p->roots[(int64_t)j * q % radix * m * root_step];
                s.re += t[q].re * w.re - t[q].im * w.im;
                s.im += t[q].re * w.im + t[q].im * w.re;
            }
            out[j * m + k] = s;
        }
    }
}

static void recurse(const own_plan *p, int level, int64_t n, int64_t stride, const complex_double *in, complex_double *out) {
    if (n == 1) { out[0] = in[0]; return; }
    int radix = p->factors[level];
    int64_t m = n / radix;
    for (int q = 0; q < radix; q++) recurse(p, level + 1, m, stride * radix, in + q * stride, out + q * m);
    butterflies(p, radix, m, stride, out);
}

static bool factorise(own_plan *p) {
    static const int radices[] = { 4, 2, 3, 5, 7, 11, LARGEST_RADIX };
    int64_t rest = p->n;
    for (unsigned i = 0; i < sizeof radices / sizeof *radices; i++)
        while (rest % radices[i] == 0) {
            p->factors[p->nfactors++] = radices[i];
            rest /= radices[i];
        }
    return rest == 1;
}

static own_plan *own_new(int64_t n);

/* Bluestein: a transform of any length as a convolution with exp(-pi i k^2 / n), done at a power of two. */
static bool bluestein(own_plan *p) {
    int64_t n = p->n, m = 1;
    while (m < 2 * n - 1) m *= 2;
    p->inner = own_new(m);
    p->chirp = mem_array((size_t)n, sizeof *p->chirp);
    p->chirp_transform = mem_array((size_t)m, sizeof *p->chirp_transform);
    complex_double *b = mem_zero((size_t)m, sizeof *b);
    if (!p->inner || !p->chirp || !p->chirp_transform || !b) { mem_free(b); return false; }
    for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {   /* square: k^2 mod 2n */
        p->chirp[k] = root(square, 2 * n);
        b[k] = (complex_double){ p->chirp[k].re, -p->chirp[k].im };
        if (k) b[m - k] = b[k];
    }
    recurse(p->inner, 0, m, 1, b, p->chirp_transform);
    mem_free(b);
    return true;
}

static own_plan *own_new(int64_t n) {
    own_plan *p = mem_zero(1, sizeof *p);
    if (!p) return NULL;
    p->n = n;
    if (!factorise(p)) {
        if (!bluestein(p)) { own_free(p); return NULL; }
        return p;
    }
    p->roots = mem_array((size_t)n, sizeof *p->roots);
    if (!p->roots) { own_free(p); return NULL; }
    for (int64_t k = 0; k < n; k++) p->roots[k] = root(k, n);
    return p;
}

static int64_t own_scratch(const own_plan *p) { return p->inner ? 2 * p->inner->n : 0; }   /* complex numbers */

/* out = the transform of in; scratch of own_scratch() numbers; in and out do not overlap. */
static void own_line(const own_plan *p, const complex_double *in, complex_double *out, complex_double *scratch) {
    if (!p->inner) { recurse(p, 0, p->n, 1, in, out); return; }
    int64_t n = p->n, m = p->inner->n;
    complex_double *a = scratch, *f = scratch + m;
    memset(a, 0, (size_t)m * sizeof *a);
    for (int64_t k = 0; k < n; k++) {
        complex_double w = p->chirp[k];
        a[k] = (complex_double){ in[k].re * w.re - in[k].im * w.im, in[k].re * w.im + in[k].im * w.re };
    }
    recurse(p->inner, 0, m, 1, a, f);
    for (int64_t k = 0; k < m; k++) {                     /* the inverse is the transform of the conjugate, conjugated */
        complex_double x = f[k], y = p->chirp_transform[k];
        f[k] = (complex_double){ x.re * y.re - x.im * y.im, -(x.re * y.im + x.im * y.re) };
    }
    recurse(p->inner, 0, m, 1, f, a);
    for (int64_t k = 0; k < n; k++) {
        complex_double w = p->chirp[k], x = { a[k].re / (double)m, -a[k].im / (double)m };
        out[k] = (complex_double){ x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re };
    }
}

/* ---- FFTW ---- */

typedef void *fftw_planner(int n, void *in, void *out, unsigned flags);
typedef void *fftw_planner_sign(int n, void *in, void *out, int sign, unsigned flags);
typedef void fftw_execute(void *plan, void *in, void *out);
typedef struct fftw_table {
    fftw_planner_sign *dft;
    fftw_planner *r2c, *c2r;
    fftw_execute *execute, *execute_r2c, *execute_c2r;
    void (*destroy)(void *);
} fftw_table;
enum { FFTW_ESTIMATE_FLAG = 1 << 6, FFTW_UNALIGNED_FLAG = 1 << 1 };
static fftw_table fftw[2];                               /* float64, float32 */
static pthread_once_t fftw_once = PTHREAD_ONCE_INIT;

static void load_one(fftw_table *t, library_number which, const char *prefix) {
    void *lib = library_open(which);
    static const char *const symbols[] = { "plan_dft_1d", "plan_dft_r2c_1d", "plan_dft_c2r_1d", "execute_dft", "execute_dft_r2c", "execute_dft_c2r", "destroy_plan" };
    void **places[] = { (void **)&t->dft, (void **)&t->r2c, (void **)&t->c2r, (void **)&t->execute, (void **)&t->execute_r2c, (void **)&t->execute_c2r, (void **)&t->destroy };
    for (unsigned i = 0; lib && i < sizeof symbols / sizeof *symbols; i++) {
        text name = { 0 };
        text_add(&name, "%s%s", prefix, symbols[i]);
        if (name.failed || !(*places[i] = dlsym(lib, name.at))) lib = NULL;
        text_free(&name);
    }
    if (!lib) *t = (fftw_table){ 0 };
}

static void load_fftw(void) {
    load_one(&fftw[0], LIBRARY_FFTW, "fftw_");
    load_one(&fftw[1], LIBRARY_FFTWF, "fftwf_");
}

/* ---- plans, kept ---- */

#define KEPT_PLANS 32
typedef struct kept_plan {
    int refs;                                            /* users, and one for the table */
    int64_t n; transform kind; bool single, foreign;
    void *fftw;
    own_plan *own;
    uint64_t last_use;
} kept_plan;
static struct { pthread_mutex_t mutex; kept_plan *plan[KEPT_PLANS]; uint64_t clock; } kept = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void plan_release(kept_plan *k) {                 /* mutex held: FFTW's planner is not thread-safe */
    if (!k || --k->refs) return;
    if (k->fftw) fftw[k->single].destroy(k->fftw);
    own_free(k->own);
    mem_free(k);
}

static bool plan_make(kept_plan *k, message *m) {
    if (!k->foreign) {
        if (!(k->own = own_new(k->n))) fail_memory(m, "planning a Fourier transform");
        return k->own != NULL;
    }
    size_t bytes = (size_t)k->n * sizeof(complex_double) + 64;
    void *a = mem_alloc(bytes), *b = mem_alloc(bytes);
    unsigned flags = FFTW_ESTIMATE_FLAG | FFTW_UNALIGNED_FLAG;
    const fftw_table *t = &fftw[k->single];
    if (a && b) k->fftw = k->kind == REAL_FORWARD ? t->r2c((int)k->n, a, b, flags) : k->kind == REAL_INVERSE ? t->c2r((int)k->n, a, b, flags)
                                                  : t->dft((int)k->n, a, b, k->kind == FORWARD ? -1 : 1, flags);
    mem_free(a);
    mem_free(b);
    if (!k->fftw) fail_memory(m, "planning a Fourier transform");
    return k->fftw != NULL;
}

static kept_plan *plan_take(int64_t n, transform kind, bool single, bool foreign, message *m) {
    pthread_mutex_lock(&kept.mutex);
    kept_plan *found = NULL;
    int oldest = 0;
    for (int i = 0; i < KEPT_PLANS; i++) {
        kept_plan *k = kept.plan[i];
        if (k && k->n == n && k->kind == kind && k->single == single && k->foreign == foreign) found = k;
        if (!k || (kept.plan[oldest] && k->last_use < kept.plan[oldest]->last_use)) oldest = i;
    }
    if (!found) {
        found = mem_zero(1, sizeof *found);
        if (!found) fail_memory(m, "planning a Fourier transform");
        if (found) {
            *found = (kept_plan){ .refs = 1, .n = n, .kind = kind, .single = single, .foreign = foreign };
            if (plan_make(found, m)) {
                plan_release(kept.plan[oldest]);
                kept.plan[oldest] = found;
            } else {
                mem_free(found);
                found = NULL;
            }
        }
    }
    if (found) {
        found->refs++;
        found->last_use = ++kept.clock;
    }
    pthread_mutex_unlock(&kept.mutex);
    return found;
}

static void plan_give_back(kept_plan *k) {
    pthread_mutex_lock(&kept.mutex);
    plan_release(k);
    pthread_mutex_unlock(&kept.mutex);
}

/* ---- lines ---- */

typedef struct fft_job {
    const struct provider_call *c;
    kept_plan *plan;
    transform kind;
    int axis;
    int64_t n, in_length, out_length;                    /* along the axis, in the operand and the result */
    double scale;
    message m;
    pthread_mutex_t mutex;
} fft_job;

static complex_double load(const struct opaque_operand *o, const char *p) {
    scalar s = element_load(o->dtype, p);
    switch (s.kind) {
    case SCALAR_COMPLEX: return (complex_double){ s.v.c.re, o->conjugate ? -s.v.c.im : s.v.c.im };
    case SCALAR_FLOAT: return (complex_double){ s.v.f, 0 };
    case SCALAR_UINT: return (complex_double){ (double)s.v.u, 0 };
    case SCALAR_INT: return (complex_double){ (double)s.v.i, 0 };
    default: return (complex_double){ s.v.b, 0 };
    }
}

static void store_line(const fft_job *j, char *to, const complex_double *line) {
    const struct opaque_operand *o = &j->c->operands[1];
    int64_t step = o->strides[j->axis];
    for (int64_t k = 0; k < j->out_length; k++, to += step) {
        double re = line[k].re * j->scale, im = line[k].im * j->scale;
        switch (o->dtype) {
        case KN_COMPLEX64: ((float *)(void *)to)[0] = (float)re; ((float *)(void *)to)[1] = (float)im; break;
        case KN_COMPLEX128: ((double *)(void *)to)[0] = re; ((double *)(void *)to)[1] = im; break;
        default: element_store(o->dtype, to, (scalar){ SCALAR_FLOAT, { .f = re } }); break;
        }
    }
}

/* The half spectrum of a real line becomes the whole one: what is missing is the conjugate, mirrored. */
static void mirror(complex_double *x, int64_t n) {
    x[0].im = 0;
    if (n % 2 == 0) x[n / 2].im = 0;
    for (int64_t k = n / 2 + 1; k < n; k++) x[k] = (complex_double){ x[n - k].re, -x[n - k].im };
}

static void narrow(void *to, const complex_double *x, int64_t n, bool single, bool real) {
    if (single) for (int64_t k = 0; k < n; k++) { if (real) ((float *)to)[k] = (float)x[k].re; else { ((float *)to)[2 * k] = (float)x[k].re; ((float *)to)[2 * k + 1] = (float)x[k].im; } }
    else for (int64_t k = 0; k < n; k++) { if (real) ((double *)to)[k] = x[k].re; else ((complex_double *)to)[k] = x[k]; }
}

static void widen(complex_double *to, const void *x, int64_t n, bool single, bool real) {
    if (single) for (int64_t k = 0; k < n; k++) to[k] = real ? (complex_double){ ((const float *)x)[k], 0 } : (complex_double){ ((const float *)x)[2 * k], ((const float *)x)[2 * k + 1] };
    else for (int64_t k = 0; k < n; k++) to[k] = real ? (complex_double){ ((const double *)x)[k], 0 } : ((const complex_double *)x)[k];
}

/* line holds the cut or padded input, n numbers; afterwards the result. work: own scratch, or two lines for FFTW. */
static void transform_line(const fft_job *j, complex_double *line, complex_double *result, complex_double *work) {
    const kept_plan *k = j->plan;
    int64_t n = j->n, half = n / 2 + 1;
    if (j->kind == REAL_INVERSE) mirror(line, n);
    if (k->foreign) {
        bool real_in = j->kind == REAL_FORWARD, real_out = j->kind == REAL_INVERSE;
        const fftw_table *t = &fftw[k->single];
        narrow(work, line, real_out ? half : n, k->single, real_in);
        (real_in ? t->execute_r2c : real_out ? t->execute_c2r : t->execute)(k->fftw, work, work + n + 2);
        widen(result, work + n + 2, real_in ? half : n, k->single, real_out);
        return;
    }
    bool inverse = j->kind == INVERSE || j->kind == REAL_INVERSE;
    if (inverse) for (int64_t i = 0; i < n; i++) line[i].im = -line[i].im;
    own_line(k->own, line, result, work);
    if (inverse) for (int64_t i = 0; i < n; i++) result[i].im = -result[i].im;
}

static void lines_part(void *arg, int64_t lo, int64_t hi) {
    fft_job *j = arg;
    const struct opaque_operand *in = &j->c->operands[0], *out = &j->c->operands[1];
    int64_t scratch = j->plan->foreign ? 2 * (j->n + 2) : own_scratch(j->plan->own);
    complex_double *line = mem_zero((size_t)(2 * (j->n + 2) + scratch), sizeof *line);
    if (!line) {
        pthread_mutex_lock(&j->mutex);
        fail_memory(&j->m, "a Fourier transform");
        pthread_mutex_unlock(&j->mutex);
        return;
    }
    complex_double *result = line + j->n + 2, *work = result + j->n + 2;
    int64_t want = j->kind == REAL_INVERSE ? j->n / 2 + 1 : j->n, take = j->in_length < want ? j->in_length : want;
    for (int64_t at = lo; at < hi; at++) {
        const char *from = j->c->data[0];
        char *to = j->c->data[1];
        int64_t rest = at;
        for (int d = out->ndim; d-- > 0;) {
            if (d == j->axis) continue;
            int64_t index = rest % out->shape[d];
            rest /= out->shape[d];
            from += index * in->strides[d];
            to += index * out->strides[d];
        }
        for (int64_t k = 0; k < take; k++) line[k] = load(in, from + k * in->strides[j->axis]);
        memset(line + take, 0, (size_t)(j->n + 2 - take) * sizeof *line);
        transform_line(j, line, result, work);
        store_line(j, to, result);
    }
    mem_free(line);
}

static double scale_of(transform kind, int64_t n, kn_fft_norm norm) {
    bool inverse = kind == INVERSE || kind == REAL_INVERSE;
    if (norm == KN_NORM_ORTHO) return 1 / sqrt((double)n);
    return inverse == (norm == KN_NORM_BACKWARD) ? 1 / (double)n : 1;
}

static bool single_of(const struct provider_call *c) { return c->operands[1].dtype == KN_COMPLEX64 || dtype_size(c->operands[1].dtype) <= 4; }

static int fftw_applicable(const struct provider_call *c) {
    pthread_once(&fftw_once, load_fftw);
    return fftw[single_of(c)].dft && c->attr[1] <= INT32_MAX ? 10 : 0;
}
static int own_applicable(const struct provider_call *c) { return c->attr[1] > 0; }

static kn_status run(const struct provider_call *c, transform kind, bool foreign) {
    const struct opaque_operand *in = &c->operands[0], *out = &c->operands[1];
    int axis = (int)c->attr[0];
    int64_t n = c->attr[1], count = 1;
    for (int d = 0; d < out->ndim; d++) if (d != axis) count *= out->shape[d];
    if (count == 0) return KN_OK;
    kept_plan *k = plan_take(n, kind, single_of(c), foreign, c->m);
    if (!k) return KN_MEMORY_ERROR;
    fft_job j = { .c = c, .plan = k, .kind = kind, .axis = axis, .n = n, .in_length = in->shape[axis], .out_length = out->shape[axis],
                  .scale = scale_of(kind, n, (kn_fft_norm)c->attr[2]) };
    pthread_mutex_init(&j.mutex, NULL);
    workers_run(lines_part, &j, count, 1 + 16384 / n);
    pthread_mutex_destroy(&j.mutex);
    plan_give_back(k);
    return j.m.status ? fail(c->m, j.m.status, "%s", j.m.text) : KN_OK;
}

#define FAMILY(name, kind)                                                                      \
    static kn_status name##_fftw(const struct provider_call *c) { return run(c, kind, true); }  \
    static kn_status name##_own(const struct provider_call *c) { return run(c, kind, false); }
FAMILY(fft, FORWARD)
FAMILY(ifft, INVERSE)
FAMILY(rfft, REAL_FORWARD)
FAMILY(irfft, REAL_INVERSE)

void fft_register(void) {
    static const struct { const char *operation; kn_status (*fftw)(const struct provider_call *), (*own)(const struct provider_call *); } family[] = {
        { "fft", fft_fftw, fft_own }, { "ifft", ifft_fftw, ifft_own }, { "rfft", rfft_fftw, rfft_own }, { "irfft", irfft_fftw, irfft_own },
    };
    static provider rows[2 * sizeof family / sizeof *family];
    for (unsigned i = 0; i < sizeof family / sizeof *family; i++) {
        int operation = family_op_named(family[i].operation);
        rows[2 * i] = (provider){ "fftw", operation, TARGET_CPU, fftw_applicable, NULL, family[i].fftw };
        rows[2 * i + 1] = (provider){ "own", operation, TARGET_CPU, own_applicable, NULL, family[i].own };
        provider_register(&rows[2 * i]);
        provider_register(&rows[2 * i + 1]);
    }
}
