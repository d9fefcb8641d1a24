/* host_source.c: see host_source.h. Each source gets a namespace of its own; a small prelude stands for what a GPU compiler
 * has built in. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host_source.h"

static const char prelude[] =
    "#include <cmath>\n#include <cstring>\n"
    "#define __global__\n#define __device__\n#define __shared__ static\n#define __restrict__ __restrict\n#define __launch_bounds__(...)\n"
    "struct place { unsigned x, y, z; };\n"
    "extern \"C\" { place blockIdx, threadIdx, gridDim; }\n"
    "template <class to, class from> static inline to bits_as(from v) { to r; memcpy(&r, &v, sizeof r); return r; }\n"
    "static inline int __float_as_int(float x) { return bits_as<int>(x); }\n"
    "static inline unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }\n"
    "static inline float __int_as_float(int x) { return bits_as<float>(x); }\n"
    "static inline float __uint_as_float(unsigned x) { return bits_as<float>(x); }\n"
    "static inline long long __double_as_longlong(double x) { return bits_as<long long>(x); }\n"
    "static inline double __longlong_as_double(long long x) { return bits_as<double>(x); }\n"
    "static inline int __popc(unsigned x) { return __builtin_popcount(x); }\n"
    "static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }\n"
    "static inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }\n"
    "static inline int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }\n"
    "static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }\n"
    "static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }\n"
    "static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }\n"
    "static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }\n"
    "template <class T> static inline T __ldcs(const T *p) { return *p; }\n"
    "template <class T> static inline void __stcs(T *p, T v) { *p = v; }\n"
    "struct alignas(8) float2 { float x, y; };\nstruct alignas(16) float4 { float x, y, z, w; };\nstruct alignas(16) double2 { double x, y; };\n";

struct host_program { void *library; char folder[64]; };

static void remove_files(const host_program *p) {
    char path[128];
    snprintf(path, sizeof path, "%s/k.cc", p->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/k.so", p->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/log", p->folder);
    unlink(path);
    rmdir(p->folder);
}

static void read_log(const char *path, char *why, int size) {
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(why, 1, (size_t)size - 1, f) : 0;
    why[n] = 0;
    if (f) fclose(f);
}

host_program *host_compile(const char *const *sources, int n, char *why, int size) {
    host_program *p = calloc(1, sizeof *p);
    char path[128], command[600];
    snprintf(why, (size_t)size, "no folder for temporary files");
    if (!p) return NULL;
    strcpy(p->folder, "/tmp/kiln-source-XXXXXX");
    if (!mkdtemp(p->folder)) { free(p); return NULL; }
    snprintf(path, sizeof path, "%s/k.cc", p->folder);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(prelude, f);
        for (int i = 0; i < n; i++) fprintf(f, "namespace source_%d {\n%s}\n", i, sources[i]);
        fclose(f);
        snprintf(command, sizeof command, "cd %s && g++ -std=c++17 -O1 -w -shared -fPIC -ffp-contract=off -fno-strict-aliasing -fsanitize=undefined -fno-sanitize=alignment "
                 "-fsanitize-undefined-trap-on-error k.cc -o k.so > log 2>&1", p->folder);
        int status = system(command);
        snprintf(path, sizeof path, "%s/log", p->folder);
        read_log(path, why, size);
        snprintf(path, sizeof path, "%s/k.so", p->folder);
        p->library = status ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    remove_files(p);
    if (p->library) return p;
    free(p);
    return NULL;
}

typedef struct place { unsigned x, y, z; } place;

/* Integer and pointer arguments go in registers and on the stack in their order, floats in registers of their own: a call
 * with all words as integers and the one float last is right for the kernels of made_kernels.h. */
typedef void entry(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                   void *, void *, void *, int64_t, int64_t, float);

bool host_run(host_program *p, const char *name, int blocks, int threads, void **args, int nargs) {
    void *s = dlsym(p->library, name);
    place *block = dlsym(p->library, "blockIdx"), *thread = dlsym(p->library, "threadIdx"), *grid = dlsym(p->library, "gridDim");
    void *a[25] = { 0 };
    float last = 0;
    if (!s || !block || !thread || !grid || nargs > 25) return false;
    memcpy(a, args, (size_t)nargs * sizeof *a);
    memcpy(&last, &a[24], sizeof last);
    grid->x = (unsigned)blocks;
    entry *run;
    *(void **)&run = s;
    for (block->x = 0; block->x < (unsigned)blocks; block->x++)
        for (thread->x = 0; thread->x < (unsigned)threads; thread->x++)
            run(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], (int64_t)(intptr_t)a[22],
                (int64_t)(intptr_t)a[23], last);
    return true;
}

void host_free(host_program *p) {
    if (p) dlclose(p->library);
    free(p);
}
