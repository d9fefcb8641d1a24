/* libs.c: finding foreign libraries, and telling the run time which families there are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include "libs/libs.h"

static const struct { const char *what, *hint, *names[8]; } libraries[] = {
    [LIBRARY_BLAS] = { "matrix products", "libopenblas0-pthread", { "libopenblas.so.0", "libopenblas.so", "libblis.so.4", "libmkl_rt.so.2", "libcblas.so.3", "libblas.so.3" } },
    [LIBRARY_FFTW] = { "Fourier transforms of float64", "libfftw3-double3", { "libfftw3.so.3" } },
    [LIBRARY_CUDA] = { "NVIDIA GPUs", "NVIDIA's driver", { "libcuda.so.1" } },
    [LIBRARY_CUBLAS] = { "matrix products on NVIDIA GPUs", "cuBLAS of the CUDA toolkit", { "libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so" } },
    [LIBRARY_CUFFT] = { "Fourier transforms on NVIDIA GPUs", "cuFFT of the CUDA toolkit", { "libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so" } },
    [LIBRARY_FFTWF] = { "Fourier transforms of float32", "libfftw3-single3", { "libfftw3f.so.3" } },
};
static const char *found[NLIBRARIES];                 /* atomic */

void *library_open(library_number which) {
    for (const char *const *name = libraries[which].names; *name; name++) {
        void *lib = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (!lib) continue;
        __atomic_store_n(&found[which], *name, __ATOMIC_RELAXED);
        return lib;
    }
    return NULL;
}

const char *library_what(library_number which) { return libraries[which].what; }
const char *library_hint(library_number which) { return libraries[which].hint; }

const char *library_found(library_number which) {
    const char *name = __atomic_load_n(&found[which], __ATOMIC_RELAXED);
    return name || !library_open(which) ? name : __atomic_load_n(&found[which], __ATOMIC_RELAXED);
}

static void register_all(void) {
    blas_register();
    fft_register();
    sort_register();
    svd_register();
    cublas_register();
    cufft_register();
}

void libs_register(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_all);
}
