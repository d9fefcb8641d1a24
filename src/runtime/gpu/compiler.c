/* compiler.c: NVRTC and hiprtc, loaded when a kernel has to be compiled. Their interfaces are twins. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/gpu/gpu.h"

typedef struct compiler {
    pthread_once_t once;
    void *library;
    char version[16];
    message why;
    int (*version_of)(int *, int *);
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*code_size)(void *, size_t *);
    int (*code)(void *, char *);
    int (*destroy)(void **);
} compiler;

/* Names for the loader, and patterns of files where the packages of the vendors and of PyPI put them. */
static const struct { const char *prefix, *code_size, *code, *what, *variable, *files[9]; } kinds[NDIALECTS] = {
    [DIALECT_CUDA] = { "nvrtc", "nvrtcGetCUBINSize", "nvrtcGetCUBIN", "NVRTC (NVIDIA's run-time compiler)", "KILN_NVRTC",
                       { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "/usr/local/cuda*/lib64/libnvrtc.so*", "/usr/lib/x86_64-linux-gnu/libnvrtc.so*" } },
    [DIALECT_HIP] = { "hiprtc", "hiprtcGetCodeSize", "hiprtcGetCode", "hiprtc (ROCm's run-time compiler)", "KILN_HIPRTC",
                      { "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so", "libamdhip64.so.5", "/opt/rocm*/lib/libhiprtc.so*" } },
};
static compiler compilers[NDIALECTS] = { { .once = PTHREAD_ONCE_INIT }, { .once = PTHREAD_ONCE_INIT } };

static void *open_file(const char *pattern) {
    if (!strchr(pattern, '*')) return dlopen(pattern, RTLD_NOW | RTLD_LOCAL);
    glob_t found;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &found)) return NULL;
    for (size_t i = found.gl_pathc; i-- > 0 && !library;) if (!strstr(found.gl_pathv[i], "alt")) library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return library;
}

static void find(compiler *c, dialect d) {
    const char *given = getenv(kinds[d].variable);
    int major = 0, minor = 0;
    if (given) c->library = open_file(given);
    for (int i = 0; !given && !c->library && kinds[d].files[i]; i++) c->library = open_file(kinds[d].files[i]);
    if (!c->library) { fail(&c->why, KN_NOT_AVAILABLE, "%s is not there%s%s; install it, or let %s name the file", kinds[d].what, given ? ": " : "", given ? given : "", kinds[d].variable); return; }
    static const char *const names[] = { "Version", "CreateProgram", "CompileProgram", "GetProgramLogSize", "GetProgramLog", "DestroyProgram" };
    void **places[] = { (void **)&c->version_of, (void **)&c->create, (void **)&c->compile, (void **)&c->log_size, (void **)&c->log, (void **)&c->destroy };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char whole[48];
        snprintf(whole, sizeof whole, "%s%s", kinds[d].prefix, names[i]);
        if (!(*places[i] = dlsym(c->library, whole))) { fail(&c->why, KN_NOT_AVAILABLE, "%s: %s is missing; a newer version has it", kinds[d].what, whole); return; }
    }
    *(void **)&c->code_size = dlsym(c->library, kinds[d].code_size);
    *(void **)&c->code = dlsym(c->library, kinds[d].code);
    if (!c->code_size || !c->code || c->version_of(&major, &minor)) { fail(&c->why, KN_NOT_AVAILABLE, "%s: it is too old", kinds[d].what); return; }
    snprintf(c->version, sizeof c->version, "%d.%d", major, minor);
}

static void find_nvrtc(void) { find(&compilers[DIALECT_CUDA], DIALECT_CUDA); }
static void find_hiprtc(void) { find(&compilers[DIALECT_HIP], DIALECT_HIP); }

kn_status gpu_compiler_available(dialect d, message *m) {
    pthread_once(&compilers[d].once, d == DIALECT_CUDA ? find_nvrtc : find_hiprtc);
    return compilers[d].why.status ? fail(m, compilers[d].why.status, "%s", compilers[d].why.text) : KN_OK;
}

const char *gpu_compiler_version(dialect d) { return compilers[d].version[0] ? compilers[d].version : NULL; }

static bool fetch(int (*size_of)(void *, size_t *), int (*get)(void *, char *), void *program, text *out) {
    size_t n = 0;
    if (size_of(program, &n)) return false;
    char *bytes = mem_zero(n + 1, 1);
    bool got = bytes && !get(program, bytes);
    if (got) text_addn(out, bytes, n);
    mem_free(bytes);
    return got && !out->failed;
}

/* The first complaint of the log, and the line of source that it is about. */
static void refused(dialect d, const char *name, const char *source, const text *log, message *m) {
    const char *at = log->at ? log->at : "", *number = strpbrk(at, "(:"), *line = source;
    long which = number ? strtol(number + 1, NULL, 10) : 0;
    for (long i = 1; line && i < which; i++) line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    while (line && *line == ' ') line++;
    fail(m, KN_RUNTIME_ERROR, "%s refuses the source of %s: %.*s%s%.*s", kinds[d].what, name, (int)strcspn(at, "\n"), at, which && line ? ": " : "", which && line ? (int)strcspn(line, "\n") : 0, line ? line : "");
}

kn_status gpu_compile(dialect d, const char *source, const char *name, const char *arch, text *binary, message *m) {
    kn_status status = gpu_compiler_available(d, m);
    if (status) return status;
    const compiler *c = &compilers[d];
    void *program = NULL;
    source_flags flags;
    text log = { 0 };
    source_options(d, arch, &flags);
    if (c->create(&program, source, name, 0, NULL, NULL)) return fail(m, KN_RUNTIME_ERROR, "%s: a program cannot be made", kinds[d].what);
    if (c->compile(program, flags.count, flags.option)) {
        fetch(c->log_size, c->log, program, &log);
        refused(d, name, source, &log, m);
        status = KN_RUNTIME_ERROR;
        text_free(&log);
    } else if (!fetch(c->code_size, c->code, program, binary)) {
        status = fail_memory(m, "compiling a kernel");
    }
    c->destroy(&program);
    return status;
}
