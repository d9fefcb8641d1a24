/* library.c: finding and loading LLVM's shared library.
 *
 * How it works: the names under which distributions install LLVM are tried, newest accepted version first, or the path in
 * KILN_LLVM alone. Every function of llvm.h is looked up before any is called, so that a library that lacks one is
 * passed over instead of failing later. The library is loaded once and stays: LLVM cannot be unloaded safely.
 * What is done with LLVM must not be put here. */
#include "codegen/codegen.h"
#include "codegen/llvm/llvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

llvm_api llvm;

static pthread_once_t loaded_once = PTHREAD_ONCE_INIT;
static message load_failure;             /* KN_OK once the library is loaded */
static char version_text[32];
static const char *_Atomic version_shown;

/* ISO C has no conversion from an object pointer to a function pointer; POSIX says the bytes are the same. */
static bool look_up(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static const char *fill_table(void *library)
{
#define LLVM_LOOK_UP(result, name, parameters) \
    if (!look_up(library, "LLVM" #name, &llvm.name)) \
        return "LLVM" #name;
    LLVM_FUNCTIONS(LLVM_LOOK_UP)
#undef LLVM_LOOK_UP
#define LLVM_LOOK_UP(result, name, parameters) look_up(library, "LLVM" #name, &llvm.name);
    LLVM_OPTIONAL_FUNCTIONS(LLVM_LOOK_UP)
#undef LLVM_LOOK_UP
    return NULL;
}

#ifdef LLVM_ARCH
static const char *start_target(void *library)
{
    static const char *const steps[] = {"LLVMInitialize" LLVM_ARCH "TargetInfo", "LLVMInitialize" LLVM_ARCH "Target",
                                        "LLVMInitialize" LLVM_ARCH "TargetMC", "LLVMInitialize" LLVM_ARCH "AsmPrinter"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        void (*step)(void);
        if (!look_up(library, steps[i], &step))
            return steps[i];
        step();
    }
    return NULL;
}
#endif

/* A library that was opened: is it one that can be used? */
static bool accept(void *library, const char *name, message *m)
{
#ifdef LLVM_ARCH
    const char *missing = fill_table(library);
    if (missing) {
        fail(m, KN_NOT_AVAILABLE, "%s lacks the function %s; LLVM %d to %d is needed", name, missing, LLVM_OLDEST, LLVM_NEWEST);
        return false;
    }
    unsigned major = 0, minor = 0, patch = 0;
    llvm.GetVersion(&major, &minor, &patch);
    if (major < LLVM_OLDEST || major > LLVM_NEWEST) {
        fail(m, KN_NOT_AVAILABLE, "%s is LLVM %u.%u.%u; versions %d to %d are accepted", name, major, minor, patch, LLVM_OLDEST, LLVM_NEWEST);
        return false;
    }
    char *reason = NULL;
    missing = start_target(library);
    if (missing || llvm.GetTargetFromTriple(LLVM_TRIPLE, &llvm.target, &reason)) {
        fail(m, KN_NOT_AVAILABLE, "%s has no code generator for this processor (%s)", name, missing ? missing : reason ? reason : LLVM_ARCH);
        if (reason)
            llvm.DisposeMessage(reason);
        return false;
    }
    llvm.version = (int)major;
    snprintf(version_text, sizeof version_text, "%u.%u.%u", major, minor, patch);
    return true;
#else
    (void)library;
    fail(m, KN_NOT_AVAILABLE, "%s: code generation for this processor's architecture is not supported", name);
    return false;
#endif
}

static bool try_library(const char *name, message *m)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    return accept(library, name, m); /* one that is passed over stays open: LLVM must not be closed */
}

static void load(void)
{
    const char *path = getenv("KILN_LLVM");
    message passed_over = {0};
    if (path && *path) {
        if (!try_library(path, &passed_over))
            fail(&load_failure, KN_NOT_AVAILABLE, "%s", passed_over.status ? passed_over.text : "KILN_LLVM names no library that can be loaded");
    } else {
        static const char *const patterns[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so", "libLLVM.so.%d"};
        bool found = false;
        for (int version = LLVM_NEWEST; version >= LLVM_OLDEST && !found; version--)
            for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !found; i++) {
                char name[64];
                snprintf(name, sizeof name, patterns[i], version);
                found = try_library(name, &passed_over);
            }
        if (!found)
            fail(&load_failure, KN_NOT_AVAILABLE, "%s",
                 passed_over.status ? passed_over.text : "LLVM was not found; install libllvm19 (any version from 17 to 22), or set KILN_LLVM to the path of libLLVM");
    }
    if (load_failure.status == KN_OK)
        version_shown = version_text;
}

kn_status llvm_available(message *m)
{
    pthread_once(&loaded_once, load);
    return load_failure.status ? fail(m, load_failure.status, "%s", load_failure.text) : KN_OK;
}

const char *llvm_version(void)
{
    return version_shown;
}
