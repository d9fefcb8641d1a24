/* rtc.c: NVRTC and hiprtc by dlopen. Their interfaces are twins: nvrtcX takes and means what hiprtcX does, except that the
 * binary is a cubin here and a code object there. */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rtc.h"

typedef struct compiler {
    bool tried;
    void *library;
    char version[16], why[160];
    int (*version_of)(int *, int *);
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*code_size)(void *, size_t *);
    int (*code)(void *, char *);
    int (*destroy)(void **);
} compiler;

static compiler compilers[NDIALECTS];

/* Names for dlopen, then patterns of files. */
static const char *const nvrtc_files[] = {
    "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so*",
    "build/venv/lib/python*/site-packages/nvidia/*/lib/libnvrtc.so.*", "/usr/lib/x86_64-linux-gnu/libnvrtc.so*", NULL };
/* Until version 5 hiprtc is a part of libamdhip64. */
static const char *const hiprtc_files[] = { "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so", "libamdhip64.so.5", "/opt/rocm*/lib/libhiprtc.so*", NULL };

static void *open_pattern(const char *pattern) {
    if (!strchr(pattern, '/')) return dlopen(pattern, RTLD_NOW | RTLD_LOCAL);
    glob_t found;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &found)) return NULL;
    for (size_t i = 0; i < found.gl_pathc && !library; i++)
        if (!strstr(found.gl_pathv[i], "alt")) library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return library;
}

static void *symbol(compiler *c, const char *prefix, const char *name) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    void *s = dlsym(c->library, whole);
    if (!s) snprintf(c->why, sizeof c->why, "%s is missing", whole);
    return s;
}

static bool bind(compiler *c, dialect d) {
    const char *p = d == DIALECT_CUDA ? "nvrtc" : "hiprtc";
    bool cuda = d == DIALECT_CUDA;
    c->why[0] = 0;
    *(void **)&c->version_of = symbol(c, p, "Version");
    *(void **)&c->create = symbol(c, p, "CreateProgram");
    *(void **)&c->compile = symbol(c, p, "CompileProgram");
    *(void **)&c->log_size = symbol(c, p, "GetProgramLogSize");
    *(void **)&c->log = symbol(c, p, "GetProgramLog");
    *(void **)&c->code_size = symbol(c, p, cuda ? "GetCUBINSize" : "GetCodeSize");
    *(void **)&c->code = symbol(c, p, cuda ? "GetCUBIN" : "GetCode");
    *(void **)&c->destroy = symbol(c, p, "DestroyProgram");
    return !c->why[0];
}

bool rtc_available(dialect d, const char **why) {
    compiler *c = &compilers[d];
    if (!c->tried) {
        c->tried = true;
        const char *root = getenv("CUDA"), *const *files = d == DIALECT_CUDA ? nvrtc_files : hiprtc_files;
        char given[512];
        if (root && d == DIALECT_CUDA) {
            snprintf(given, sizeof given, "%s/lib64/libnvrtc.so*", root);
            c->library = open_pattern(given);
        }
        for (int i = 0; files[i] && !c->library; i++) c->library = open_pattern(files[i]);
        int major = 0, minor = 0;
        if (!c->library) snprintf(c->why, sizeof c->why, "no %s here", d == DIALECT_CUDA ? "NVRTC" : "hiprtc");
        else if (bind(c, d) && !c->version_of(&major, &minor)) snprintf(c->version, sizeof c->version, "%d.%d", major, minor);
    }
    if (why) *why = c->why;
    return c->version[0] != 0;
}

const char *rtc_version(dialect d) { return rtc_available(d, NULL) ? compilers[d].version : "none"; }

static bool fetch(int (*size_of)(void *, size_t *), int (*get)(void *, char *), void *program, text *out) {
    size_t n = 0;
    if (!out) return true;
    if (size_of(program, &n)) return false;
    char *bytes = calloc(n + 1, 1);
    bool got = bytes && !get(program, bytes);
    if (got) text_addn(out, bytes, n);
    free(bytes);
    return got && !out->failed;
}

bool rtc_compile(dialect d, const char *source, const char *arch, text *binary, text *log) {
    compiler *c = &compilers[d];
    const char *why;
    void *program = NULL;
    source_flags flags;
    if (!rtc_available(d, &why)) {
        if (log) text_add(log, "%s", why);
        return false;
    }
    source_options(d, arch, &flags);
    if (c->create(&program, source, "kernel.cu", 0, NULL, NULL)) return false;
    bool made = !c->compile(program, flags.count, flags.option);
    if (!made || log) fetch(c->log_size, c->log, program, log);
    if (made) made = fetch(c->code_size, c->code, program, binary);
    c->destroy(&program);
    return made;
}

bool rtc_knows(dialect d, const char *arch) {
    return rtc_compile(d, "extern \"C\" __global__ void nothing() {}\n", arch, NULL, NULL);
}
