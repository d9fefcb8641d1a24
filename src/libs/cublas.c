/* cublas.c: matrix products on NVIDIA GPUs through cuBLAS. TF32 is never used: products of float32 are float32's.
 *
 * How it works: as blas.c has it, with the innermost batch dimension as cuBLAS's own. cuBLAS counts columns first, so the
 * transposed product is asked for: the result's rows are its columns. Layouts that it cannot read are left to others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include "libs/libs.h"

enum { OP_NORMAL, OP_TRANSPOSED };
enum { TYPE_R32 = 0, TYPE_R64 = 1, TYPE_R16 = 2, TYPE_C32 = 4, TYPE_C64 = 5, TYPE_BF16 = 14 };
enum { COMPUTE_32F = 68, COMPUTE_64F = 70 };
typedef int gemm_function(void *, int, int, int, int, int, const void *, const void *, int, int, long long, const void *, int, int, long long, const void *, void *, int, int, long long, int, int, int);
static struct {
    pthread_once_t once;
    pthread_mutex_t mutex;               /* a handle serves one call at a time */
    int (*create)(void **);
    int (*set_stream)(void *, void *);
    gemm_function *gemm;
    void *handle;
} cublas = { .once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER };

static void load(void) {
    void *lib = library_open(LIBRARY_CUBLAS);
    if (!lib) return;
    *(void **)&cublas.create = dlsym(lib, "cublasCreate_v2");
    *(void **)&cublas.set_stream = dlsym(lib, "cublasSetStream_v2");
    if (cublas.create && cublas.set_stream) *(void **)&cublas.gemm = dlsym(lib, "cublasGemmStridedBatchedEx");
}

static bool types_of(kn_dtype t, int *data, int *compute) {
    *compute = t == KN_FLOAT64 || t == KN_COMPLEX128 ? COMPUTE_64F : COMPUTE_32F;
    switch (t) {
    case KN_FLOAT16: *data = TYPE_R16; return true;
    case KN_BFLOAT16: *data = TYPE_BF16; return true;
    case KN_FLOAT32: *data = TYPE_R32; return true;
    case KN_FLOAT64: *data = TYPE_R64; return true;
    case KN_COMPLEX64: *data = TYPE_C32; return true;
    case KN_COMPLEX128: *data = TYPE_C64; return true;
    default: return false;
    }
}

/* How a row-major matrix lies, for a library that reads columns first: as it lies it is its transpose. */
static bool layout_of_operand(const struct opaque_operand *o, int *op, int *leading) {
    int64_t size = (int64_t)dtype_size(o->dtype), rows = o->shape[o->ndim - 2], cols = o->shape[o->ndim - 1];
    int64_t row = o->strides[o->ndim - 2], col = o->strides[o->ndim - 1], lead;
    if ((col == size || cols == 1) && (rows == 1 || (row >= cols * size && row % size == 0))) {
        *op = OP_NORMAL;
        lead = rows > 1 ? row / size : cols;
    } else if ((row == size || rows == 1) && (cols == 1 || (col >= rows * size && col % size == 0))) {
        *op = OP_TRANSPOSED;
        lead = cols > 1 ? col / size : rows;
    } else {
        return false;
    }
    if (lead < 1) lead = 1;
    *leading = (int)lead;
    return lead <= INT32_MAX && rows <= INT32_MAX && cols <= INT32_MAX && !o->conjugate;
}

static int applicable(const struct provider_call *c) {
    const struct opaque_operand *o = c->operands;
    int data, compute, op, lead;
    pthread_once(&cublas.once, load);
    if (!cublas.gemm || !types_of(o[0].dtype, &data, &compute) || o[1].dtype != o[0].dtype || o[2].dtype != o[0].dtype) return 0;
    for (int i = 0; i < 3; i++) if (!layout_of_operand(&o[i], &op, &lead)) return 0;
    return op == OP_NORMAL && o[0].shape[o[0].ndim - 1] > 0 ? 10 : 0;         /* the last is the result's */
}

/* The byte step of operand o along batch dimension d of the result, which has n of them. */
static int64_t batch_step(const struct opaque_operand *o, int n, int d) {
    int e = o->ndim - 2 - (n - d);
    return e >= 0 && o->shape[e] > 1 ? o->strides[e] : 0;
}

static kn_status multiply(const struct provider_call *c, char *const *at, int count, const int64_t *step) {
    static const float one_f[2] = { 1, 0 }, zero_f[2] = { 0, 0 };
    static const double one_d[2] = { 1, 0 }, zero_d[2] = { 0, 0 };
    const struct opaque_operand *o = c->operands;
    int type, compute, op[3], lead[3], m = (int)o[2].shape[o[2].ndim - 2], n = (int)o[2].shape[o[2].ndim - 1], k = (int)o[0].shape[o[0].ndim - 1];
    int64_t size = (int64_t)dtype_size(o[0].dtype);
    types_of(o[0].dtype, &type, &compute);
    for (int i = 0; i < 3; i++) layout_of_operand(&o[i], &op[i], &lead[i]);
    bool wide = compute == COMPUTE_64F;
    int status = cublas.gemm(cublas.handle, op[1], op[0], n, m, k, wide ? (const void *)one_d : one_f, at[1], type, lead[1], step[1] / size, at[0], type, lead[0], step[0] / size,
                             wide ? (const void *)zero_d : zero_f, at[2], type, lead[2], step[2] / size, count, compute, -1);
    return status ? fail(c->m, KN_RUNTIME_ERROR, "matmul: cuBLAS gives status %d", status) : KN_OK;
}

static kn_status run(const struct provider_call *c) {
    const struct opaque_operand *o = &c->operands[2];
    int n = o->ndim - 2;
    batch b = { .ndim = n > 1 ? n - 1 : 0 };
    for (int d = 0; d < b.ndim; d++) b.shape[d] = o->shape[d];
    for (int d = 0; d < o->ndim; d++) if (o->shape[d] == 0) return KN_OK;
    pthread_mutex_lock(&cublas.mutex);
    kn_status status = KN_OK;
    if (!cublas.handle && cublas.create(&cublas.handle)) status = fail(c->m, KN_RUNTIME_ERROR, "matmul: cuBLAS cannot be started");
    if (!status && cublas.set_stream(cublas.handle, c->queue)) status = fail(c->m, KN_RUNTIME_ERROR, "matmul: cuBLAS refuses the stream");
    bool more = !status;
    while (more && !status) {
        char *at[3];
        int64_t step[3];
        for (int i = 0; i < 3; i++) {
            at[i] = c->data[i];
            for (int d = 0; d < b.ndim; d++) at[i] += b.index[d] * batch_step(&c->operands[i], n, d);
            step[i] = n ? batch_step(&c->operands[i], n, n - 1) : 0;
        }
        status = multiply(c, at, n ? (int)o->shape[n - 1] : 1, step);
        more = batch_next(&b);
    }
    pthread_mutex_unlock(&cublas.mutex);
    return status;
}

void cublas_register(void) {
    static provider row = { "cublas", 0, TARGET_CUDA, applicable, NULL, run };
    row.operation = family_op_named("matmul");
    provider_register(&row);
}
