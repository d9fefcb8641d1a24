/* libs.c: finding foreign libraries, and telling the run time which families there are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include "libs/libs.h"

void *library_open(const char *const *names) {
    for (; *names; names++) {
        void *lib = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (lib) return lib;
    }
    return NULL;
}

static void register_all(void) {
    blas_register();
    fft_register();
    sort_register();
}

void libs_register(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_all);
}
