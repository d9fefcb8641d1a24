/* cpuid.c: which instructions this processor has, asked of the processor itself.
 *
 * How it works: one row a feature says where CPUID reports it and which register state the operating system must save for it.
 * The text made of the rows is what LLVM compiles for and part of the key of cached code, so no LLVM is needed
 * to find cached code. KILN_CPU_FEATURES, a list like "avx2,fma", keeps only those features: tests run code for lesser
 * processors that way. Choices that depend on features must not be put here. */
#include "codegen/codegen.h"
#include "codegen/llvm/features.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char feature_text[640];
static bool feature_found[NFEATURES];
static pthread_once_t found_once = PTHREAD_ONCE_INIT;

const char *const feature_names[NFEATURES] = {
#define FEATURE(id, name, leaf, reg, bit, state) [FEATURE_##id] = name,
    CPU_FEATURES(FEATURE)
#undef FEATURE
};

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };

/* Bits of XCR0: the vector registers that the operating system saves. */
static unsigned saved_state(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}

static bool reported(unsigned leaf, int reg, int bit)
{
    unsigned r[4];
    return __get_cpuid_count(leaf, 0, &r[0], &r[1], &r[2], &r[3]) && (r[reg] >> bit & 1);
}

static void ask_processor(void)
{
    unsigned state = saved_state();
#define FEATURE(id, name, leaf, reg, bit, needs) feature_found[FEATURE_##id] = reported(leaf, reg, bit) && (state & (needs)) == (needs);
    CPU_FEATURES(FEATURE)
#undef FEATURE
}
#else
static void ask_processor(void)
{
}
#endif

bool feature_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at++) {
        bool starts = at == list || at[-1] == ',' || at[-1] == '+' || at[-1] == ' ';
        if (starts && (at[length] == '\0' || at[length] == ',' || at[length] == ' '))
            return true;
    }
    return false;
}

static void find_features(void)
{
    ask_processor();
    const char *only = getenv("KILN_CPU_FEATURES");
    size_t used = 0;
    for (int i = 0; i < NFEATURES; i++) {
        if (only && !feature_listed(only, feature_names[i]))
            feature_found[i] = false;
        size_t length = strlen(feature_names[i]);
        if (!feature_found[i] || used + length + 3 > sizeof feature_text)
            continue;
        if (used)
            feature_text[used++] = ',';
        feature_text[used++] = '+';
        memcpy(feature_text + used, feature_names[i], length + 1);
        used += length;
    }
}

const char *cpu_features(void)
{
    pthread_once(&found_once, find_features);
    return feature_text;
}

int features_vector_bytes(const char *features)
{
    if (feature_listed(features, "avx512f") && feature_listed(features, "avx512bw") && feature_listed(features, "avx512dq") && feature_listed(features, "avx512vl"))
        return 64;
    return feature_listed(features, "avx2") ? 32 : 16;
}

int cpu_vector_bytes(void)
{
    return features_vector_bytes(cpu_features());
}
