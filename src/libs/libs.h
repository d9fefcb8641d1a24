/* libs.h: what the families in this folder share. One file a family; a family has one or more providers. */
#ifndef KILN_LIBS_H
#define KILN_LIBS_H
#include "ir/plan/plan.h"

/* Registers every provider of this folder, once; cheap to call again. */
void libs_register(void);
void blas_register(void);
void fft_register(void);
void sort_register(void);
void svd_register(void);
void cublas_register(void);
void cufft_register(void);

/* Foreign libraries, by what they do. The first of a library's names that can be loaded is taken, and never unloaded. */
typedef enum { LIBRARY_BLAS, LIBRARY_FFTW, LIBRARY_FFTWF, LIBRARY_CUDA, LIBRARY_CUBLAS, LIBRARY_CUFFT, NLIBRARIES } library_number;
void *library_open(library_number which);            /* NULL: none of the names is there */
const char *library_what(library_number which);      /* "matrix products" */
const char *library_found(library_number which);     /* the name that was loaded; NULL */
const char *library_hint(library_number which);      /* what to install */

/* Iterates over all dimensions of an operand but the last `inner`, giving the byte offset of each operand. */
typedef struct batch { int ndim; int64_t shape[NDIM_MAX], index[NDIM_MAX]; int64_t count; } batch;
static inline bool batch_next(batch *b) {
    for (int d = b->ndim; d-- > 0;) {
        if (++b->index[d] < b->shape[d]) return true;
        b->index[d] = 0;
    }
    return false;
}
#endif
