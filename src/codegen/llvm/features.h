/* features.h: processor features that change the code, one row each. */
#ifndef KILN_FEATURES_H
#define KILN_FEATURES_H
#include <stdbool.h>

/* FEATURE(id, LLVM's name, CPUID leaf, register, bit, register state that the operating system must save) */
#define STATE_AVX 0x6
#define STATE_AVX512 0xe6
#define CPU_FEATURES(F) \
    F(SSE3, "sse3", 1, ECX, 0, 0) \
    F(SSSE3, "ssse3", 1, ECX, 9, 0) \
    F(SSE41, "sse4.1", 1, ECX, 19, 0) \
    F(SSE42, "sse4.2", 1, ECX, 20, 0) \
    F(CX16, "cx16", 1, ECX, 13, 0) \
    F(POPCNT, "popcnt", 1, ECX, 23, 0) \
    F(AVX, "avx", 1, ECX, 28, STATE_AVX) \
    F(F16C, "f16c", 1, ECX, 29, STATE_AVX) \
    F(FMA, "fma", 1, ECX, 12, STATE_AVX) \
    F(BMI, "bmi", 7, EBX, 3, 0) \
    F(AVX2, "avx2", 7, EBX, 5, STATE_AVX) \
    F(BMI2, "bmi2", 7, EBX, 8, 0) \
    F(LZCNT, "lzcnt", 0x80000001, ECX, 5, 0) \
    F(AVX512F, "avx512f", 7, EBX, 16, STATE_AVX512) \
    F(AVX512DQ, "avx512dq", 7, EBX, 17, STATE_AVX512) \
    F(AVX512CD, "avx512cd", 7, EBX, 28, STATE_AVX512) \
    F(AVX512BW, "avx512bw", 7, EBX, 30, STATE_AVX512) \
    F(AVX512VL, "avx512vl", 7, EBX, 31, STATE_AVX512) \
    F(AVX512VBMI, "avx512vbmi", 7, ECX, 1, STATE_AVX512) \
    F(AVX512VBMI2, "avx512vbmi2", 7, ECX, 6, STATE_AVX512) \
    F(AVX512BITALG, "avx512bitalg", 7, ECX, 12, STATE_AVX512) \
    F(AVX512VPOPCNTDQ, "avx512vpopcntdq", 7, ECX, 14, STATE_AVX512)

typedef enum {
#define FEATURE(id, ...) FEATURE_##id,
    CPU_FEATURES(FEATURE)
#undef FEATURE
    NFEATURES
} cpu_feature;

extern const char *const feature_names[NFEATURES];
bool feature_listed(const char *list, const char *name);   /* list: "+avx2,+fma" or "avx2,fma" */
int features_vector_bytes(const char *list);               /* 16, 32 or 64 */
#endif
