/* host.h: an array in plain host memory, as the file readers and the printer see it. Nothing about handles, graphs or
 * devices may be put here. */
#ifndef KILN_FRONTEND_HOST_H
#define KILN_FRONTEND_HOST_H
#include "ir/base/base.h"

/* A borrowed window. data points at the element with index zero on every axis; strides are in bytes, may be zero or
 * negative, and need not be multiples of the element's size. shape and strides have ndim entries, ndim <= NDIM_MAX. */
typedef struct host_array {
    kn_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *strides;
    const void *data;
} host_array;

/* The number of elements; a host array lies in memory or is broadcast, so the caller has made sure that it fits. */
static inline int64_t host_count(const host_array *a)
{
    int64_t n = 1;
    for (int axis = 0; axis < a->ndim; axis++)
        if (a->shape[axis] == 0)
            return 0;
    for (int axis = 0; axis < a->ndim; axis++)
        n *= a->shape[axis];
    return n;
}
#endif
