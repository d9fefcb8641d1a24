/* kiln/types.h: the plain types that the library and its users share. Included by kiln.h; include that instead. */
#ifndef KILN_TYPES_H
#define KILN_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint64_t id; } kn_array;    /* slot and generation; {0} is "no array" */
typedef struct { uint64_t id; } kn_scope;
typedef struct { uint64_t id; } kn_rng;
typedef int64_t kn_axis;                     /* an axis, KN_ALL, or KN_AXES(0, 2) */
typedef struct { int ndim; const int64_t *dim; } kn_shape;
typedef struct { size_t n; const kn_array *at; } kn_list;
typedef struct { const char *name; kn_array value; } kn_named;

/* The values of these enumerators never change. */
typedef enum {
    KN_DTYPE_UNSET = 0, KN_BOOL = 1, KN_INT8, KN_INT16, KN_INT32, KN_INT64, KN_UINT8, KN_UINT16, KN_UINT32, KN_UINT64,
    KN_FLOAT16, KN_BFLOAT16, KN_FLOAT32, KN_FLOAT64, KN_COMPLEX64, KN_COMPLEX128, KN_DTYPE_MAX_ = 0x7fffffff
} kn_dtype;
typedef enum {
    KN_OK = 0, KN_VALUE_ERROR, KN_TYPE_ERROR, KN_INDEX_ERROR, KN_MEMORY_ERROR, KN_FILE_ERROR, KN_SCOPE_ERROR,
    KN_ZERO_DIVISION_ERROR, KN_OVERFLOW_ERROR, KN_NAME_ERROR, KN_SYNTAX_ERROR, KN_ATTRIBUTE_ERROR, KN_KEY_ERROR,
    KN_ASSERTION_ERROR, KN_RUNTIME_ERROR, KN_NOT_AVAILABLE, KN_STATUS_MAX_ = 0x7fffffff
} kn_status;
typedef enum { KN_NORM_BACKWARD = 0, KN_NORM_ORTHO, KN_NORM_FORWARD, KN_NORM_MAX_ = 0x7fffffff } kn_fft_norm;
typedef enum { KN_CURRENT_DEVICE = 0, KN_CPU, KN_CUDA, KN_HIP, KN_REFERENCE, KN_DEVICE_MAX_ = 0x7fffffff } kn_device;
#endif
