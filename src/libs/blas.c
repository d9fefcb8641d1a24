/* blas.c: matrix products: CBLAS where it is found at run time, else our own kernel, which takes every dtype and stride.
 *
 * How it works: operands are (..., m, k) and (..., k, n), the result (..., m, n); batch dimensions broadcast by stride 0.
 * CBLAS gets a matrix as it lies when one of its strides is the element's size (a transposition is then a flag); any
 * other layout is packed first. Shapes and dtypes were checked when the node was made; nothing of that may be put here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include "libs/libs.h"
#include "runtime/runtime.h"

/* ---- CBLAS ---- */

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
typedef void sgemm_function(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void dgemm_function(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
typedef void cgemm_function(int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
static struct { sgemm_function *s; dgemm_function *d; cgemm_function *c, *z; } cblas;
static pthread_once_t cblas_once = PTHREAD_ONCE_INIT;

static void load_cblas(void) {
    void *lib = library_open(LIBRARY_BLAS);
    if (!lib) return;
    *(void **)&cblas.s = dlsym(lib, "cblas_sgemm");
    *(void **)&cblas.d = dlsym(lib, "cblas_dgemm");
    *(void **)&cblas.c = dlsym(lib, "cblas_cgemm");
    *(void **)&cblas.z = dlsym(lib, "cblas_zgemm");
}

static bool cblas_has(kn_dtype t) {
    pthread_once(&cblas_once, load_cblas);
    return t == KN_FLOAT32 ? cblas.s != NULL : t == KN_FLOAT64 ? cblas.d != NULL : t == KN_COMPLEX64 ? cblas.c != NULL : t == KN_COMPLEX128 ? cblas.z != NULL : false;
}

typedef struct matrix { char *at; int64_t rows, cols, row_stride, col_stride; } matrix;   /* strides in bytes */

static matrix matrix_of(const struct opaque_operand *o, void *data) {
    int n = o->ndim;
    return (matrix){ data, o->shape[n - 2], o->shape[n - 1], o->strides[n - 2], o->strides[n - 1] };
}

/* Whether CBLAS can read it as it lies, and how. */
static bool blas_layout(const matrix *a, int64_t size, int *transpose, int *leading) {
    int64_t row = a->rows > 1 ? a->row_stride : 0, col = a->cols > 1 ? a->col_stride : 0;
    int64_t lead;
    if ((col == size || a->cols == 1) && (a->rows == 1 || (row >= a->cols * size && row % size == 0))) {
        *transpose = NO_TRANSPOSE;
        lead = a->rows > 1 ? row / size : a->cols;
    } else if ((row == size || a->rows == 1) && (a->cols == 1 || (col >= a->rows * size && col % size == 0))) {
        *transpose = TRANSPOSE;
        lead = a->cols > 1 ? col / size : a->rows;
    } else {
        return false;
    }
    if (lead < 1) lead = 1;
    *leading = (int)lead;
    return lead <= INT32_MAX;
}

static void pack(const matrix *a, int64_t size, char *to) {
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++, to += size) memcpy(to, a->at + i * a->row_stride + j * a->col_stride, (size_t)size);
}

static int64_t pack_bytes(const struct opaque_operand *o) {
    return o->shape[o->ndim - 2] * o->shape[o->ndim - 1] * (int64_t)dtype_size(o->dtype);
}

static int cblas_applicable(const struct provider_call *c) {
    const struct opaque_operand *o = c->operands;
    if (!cblas_has(o[0].dtype) || o[1].dtype != o[0].dtype || o[2].dtype != o[0].dtype) return 0;
    for (int i = 0; i < 3; i++)
        for (int d = o[i].ndim - 2; d < o[i].ndim; d++) if (o[i].shape[d] > INT32_MAX) return 0;
    return 10;
}

static int64_t cblas_scratch(const struct provider_call *c) {
    int64_t bytes = 0;
    for (int i = 0; i < 3; i++) {
        matrix a = matrix_of(&c->operands[i], NULL);
        int t, lead;
        if (!blas_layout(&a, (int64_t)dtype_size(c->operands[i].dtype), &t, &lead) || (i == 2 && t == TRANSPOSE)) bytes += (pack_bytes(&c->operands[i]) + 63) / 64 * 64;
    }
    return bytes;
}

static void gemm(kn_dtype t, int ta, int tb, int m, int n, int k, const void *a, int la, const void *b, int lb, void *to, int lc) {
    static const float one_c[2] = { 1, 0 }, zero_c[2] = { 0, 0 };
    static const double one_z[2] = { 1, 0 }, zero_z[2] = { 0, 0 };
    if (t == KN_FLOAT32) cblas.s(ROW_MAJOR, ta, tb, m, n, k, 1, a, la, b, lb, 0, to, lc);
    else if (t == KN_FLOAT64) cblas.d(ROW_MAJOR, ta, tb, m, n, k, 1, a, la, b, lb, 0, to, lc);
    else if (t == KN_COMPLEX64) cblas.c(ROW_MAJOR, ta, tb, m, n, k, one_c, a, la, b, lb, zero_c, to, lc);
    else cblas.z(ROW_MAJOR, ta, tb, m, n, k, one_z, a, la, b, lb, zero_z, to, lc);
}

/* One product of a batch; *scratch moves past what packing used. */
static void cblas_one(const matrix *x, kn_dtype t, char *scratch) {
    int64_t size = (int64_t)dtype_size(t);
    const void *in[2];
    int trans[3], lead[3];
    for (int i = 0; i < 2; i++) {
        in[i] = x[i].at;
        if (blas_layout(&x[i], size, &trans[i], &lead[i])) continue;
        pack(&x[i], size, scratch);
        in[i] = scratch;
        scratch += (x[i].rows * x[i].cols * size + 63) / 64 * 64;
        trans[i] = NO_TRANSPOSE;
        lead[i] = (int)x[i].cols;
    }
    bool direct = blas_layout(&x[2], size, &trans[2], &lead[2]) && trans[2] == NO_TRANSPOSE;
    char *out = direct ? x[2].at : scratch;
    if (!direct) lead[2] = (int)x[2].cols;
    gemm(t, trans[0], trans[1], (int)x[2].rows, (int)x[2].cols, (int)x[0].cols, in[0], lead[0], in[1], lead[1], out, lead[2]);
    if (direct) return;
    for (int64_t i = 0; i < x[2].rows; i++)
        for (int64_t j = 0; j < x[2].cols; j++) memcpy(x[2].at + i * x[2].row_stride + j * x[2].col_stride, out + (i * x[2].cols + j) * size, (size_t)size);
}

/* ---- our own kernel ---- */

static void zero_result(const matrix *c, int64_t size) {
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) memset(c->at + i * c->row_stride + j * c->col_stride, 0, (size_t)size);
}

/* Blocks of k keep the rows of b in cache; a row of the result is summed in a buffer of the accumulator's type. */
#define OWN_COLUMNS 256
#define OWN_PRODUCT(NAME, T, ACC, LOAD, STORE)                                                                                \
    static void NAME(const matrix *x) {                                                                                       \
        int64_t m = x[2].rows, n = x[2].cols, k = x[0].cols;                                                                  \
        for (int64_t j0 = 0; j0 < n; j0 += OWN_COLUMNS) {                                                                     \
            int64_t w = n - j0 < OWN_COLUMNS ? n - j0 : OWN_COLUMNS;                                                          \
            for (int64_t i = 0; i < m; i++) {                                                                                 \
                ACC sum[OWN_COLUMNS];                                                                                         \
                for (int64_t j = 0; j < w; j++) sum[j] = (ACC)0;                                                              \
                for (int64_t l = 0; l < k; l++) {                                                                             \
                    ACC a = LOAD(T, x[0].at + i * x[0].row_stride + l * x[0].col_stride);                                     \
                    const char *b = x[1].at + l * x[1].row_stride + j0 * x[1].col_stride;                                     \
                    if (x[1].col_stride == (int64_t)sizeof(T)) for (int64_t j = 0; j < w; j++) sum[j] += a * LOAD(T, b + j * (int64_t)sizeof(T)); \
                    else for (int64_t j = 0; j < w; j++) sum[j] += a * LOAD(T, b + j * x[1].col_stride);                      \
                }                                                                                                             \
                for (int64_t j = 0; j < w; j++) STORE(T, x[2].at + i * x[2].row_stride + (j0 + j) * x[2].col_stride, sum[j]); \
            }                                                                                                                 \
        }                                                                                                                     \
    }
#define PLAIN_LOAD(T, p) (*(const T *)(const void *)(p))
#define PLAIN_STORE(T, p, v) (*(T *)(void *)(p) = (T)(v))
#define HALF_LOAD(T, p) half_to_float(*(const T *)(const void *)(p))
#define HALF_STORE(T, p, v) (*(T *)(void *)(p) = float_to_half(v))
#define BFLOAT_LOAD(T, p) bfloat_to_float(*(const T *)(const void *)(p))
#define BFLOAT_STORE(T, p, v) (*(T *)(void *)(p) = float_to_bfloat(v))
#define BOOL_LOAD(T, p) (*(const T *)(const void *)(p) != 0)
#define BOOL_STORE(T, p, v) (*(T *)(void *)(p) = (v) != 0)
OWN_PRODUCT(product_8, uint8_t, uint8_t, PLAIN_LOAD, PLAIN_STORE)      /* wrapping products need no sign */
OWN_PRODUCT(product_16, uint16_t, uint32_t, PLAIN_LOAD, PLAIN_STORE)
OWN_PRODUCT(product_32, uint32_t, uint32_t, PLAIN_LOAD, PLAIN_STORE)
OWN_PRODUCT(product_64, uint64_t, uint64_t, PLAIN_LOAD, PLAIN_STORE)
OWN_PRODUCT(product_f16, uint16_t, float, HALF_LOAD, HALF_STORE)
OWN_PRODUCT(product_bf16, uint16_t, float, BFLOAT_LOAD, BFLOAT_STORE)
OWN_PRODUCT(product_f32, float, float, PLAIN_LOAD, PLAIN_STORE)
OWN_PRODUCT(product_f64, double, double, PLAIN_LOAD, PLAIN_STORE)
OWN_PRODUCT(product_bool, uint8_t, uint64_t, BOOL_LOAD, BOOL_STORE)

typedef struct complex_double { double re, im; } complex_double;
typedef struct complex_float { float re, im; } complex_float;
#define OWN_COMPLEX(NAME, P, C)                                                                                               \
    static void NAME(const matrix *x) {                                                                                       \
        for (int64_t i = 0; i < x[2].rows; i++)                                                                               \
            for (int64_t j = 0; j < x[2].cols; j++) {                                                                         \
                P re = 0, im = 0;                                                                                             \
                for (int64_t l = 0; l < x[0].cols; l++) {                                                                     \
                    const C *a = (const void *)(x[0].at + i * x[0].row_stride + l * x[0].col_stride);                         \
                    const C *b = (const void *)(x[1].at + l * x[1].row_stride + j * x[1].col_stride);                         \
                    re += a->re * b->re - a->im * b->im;                                                                      \
                    im += a->re * b->im + a->im * b->re;                                                                      \
                }                                                                                                             \
                *(C *)(void *)(x[2].at + i * x[2].row_stride + j * x[2].col_stride) = (C){ re, im };                          \
            }                                                                                                                 \
    }
OWN_COMPLEX(product_c64, float, complex_float)
OWN_COMPLEX(product_c128, double, complex_double)

typedef void product_function(const matrix *x);
static product_function *own_product(kn_dtype t) {
    switch (t) {
    case KN_BOOL: return product_bool;
    case KN_INT8: case KN_UINT8: return product_8;
    case KN_INT16: case KN_UINT16: return product_16;
    case KN_INT32: case KN_UINT32: return product_32;
    case KN_INT64: case KN_UINT64: return product_64;
    case KN_FLOAT16: return product_f16;
    case KN_BFLOAT16: return product_bf16;
    case KN_FLOAT32: return product_f32;
    case KN_FLOAT64: return product_f64;
    case KN_COMPLEX64: return product_c64;
    case KN_COMPLEX128: return product_c128;
    default: return NULL;
    }
}

static int own_applicable(const struct provider_call *c) { return own_product(c->operands[0].dtype) != NULL; }

/* ---- batches ---- */

typedef struct batch_job { const struct provider_call *c; product_function *own; } batch_job;

static void batch_part(void *arg, int64_t lo, int64_t hi) {
    batch_job *j = arg;
    const struct opaque_operand *o = j->c->operands;
    int nbatch = o[2].ndim - 2;
    for (int64_t at = lo; at < hi; at++) {
        matrix x[3];
        for (int i = 0; i < 3; i++) x[i] = matrix_of(&o[i], j->c->data[i]);
        int64_t rest = at;
        for (int d = nbatch; d-- > 0;) {
            int64_t index = rest % o[2].shape[d];
            rest /= o[2].shape[d];
            for (int i = 0; i < 3; i++) {
                int e = o[i].ndim - 2 - (nbatch - d);        /* operands may have fewer batch dimensions */
                if (e >= 0 && o[i].shape[e] > 1) x[i].at += index * o[i].strides[e];
            }
        }
        if (x[0].cols == 0) zero_result(&x[2], (int64_t)dtype_size(o[2].dtype));
        else if (j->own) j->own(x);
        else cblas_one(x, o[0].dtype, j->c->scratch);
    }
}

static kn_status run_batches(const struct provider_call *c, product_function *own) {
    const struct opaque_operand *o = &c->operands[2];
    int64_t count = 1;
    for (int d = 0; d < o->ndim - 2; d++) count *= o->shape[d];
    if (count == 0 || o->shape[o->ndim - 1] == 0 || o->shape[o->ndim - 2] == 0) return KN_OK;
    batch_job j = { c, own };
    if (own) workers_run(batch_part, &j, count, 1);
    else batch_part(&j, 0, count);                           /* CBLAS has threads of its own, and one scratch */
    return KN_OK;
}

static kn_status cblas_run(const struct provider_call *c) { return run_batches(c, NULL); }
static kn_status own_run(const struct provider_call *c) { return run_batches(c, own_product(c->operands[0].dtype)); }

void blas_register(void) {
    static provider rows[] = {
        { "cblas", 0, TARGET_CPU, cblas_applicable, cblas_scratch, cblas_run },
        { "own", 0, TARGET_CPU, own_applicable, NULL, own_run },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i].operation = family_op_named("matmul");
        provider_register(&rows[i]);
    }
}
