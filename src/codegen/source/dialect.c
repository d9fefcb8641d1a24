/* dialect.c: all that differs between CUDA and HIP source, and the small functions that emitted source brings along
 * because no header is there to bring them. Each is printed only where it is used. Nothing else may ask for a dialect. */
#include <string.h>
#include "codegen/source/source.h"

/* ---- the same in both ---- */

#define INF_F32 "#define INF_F32 __int_as_float(0x7f800000)"
#define NAN_F32 "#define NAN_F32 __int_as_float(0x7fc00000)"
#define INF_F64 "#define INF_F64 __longlong_as_double(0x7ff0000000000000ll)"
#define NAN_F64 "#define NAN_F64 __longlong_as_double(0x7ff8000000000000ll)"

#define BF16_READ \
    "static __device__ float bf16_to_f32(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }"

#define BF16_BY_INTEGERS \
    "    const unsigned bits = __float_as_uint(x);\n" \
    "    if ((bits & 0x7fffffffu) > 0x7f800000u) return bits >> 16 | 0x40;\n" \
    "    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;\n"

/* Round to odd keeps what a second rounding needs to know of the bits that went. */
#define BF16_ODD \
    "/* to float, the last bit set if anything was lost: rounding again then gives what rounding once would */\n" \
    "static __device__ float f64_to_f32_odd(double x) {\n" \
    "    const float near = (float)x;\n" \
    "    if (near == x || x != x) return near;\n" \
    "    unsigned bits = __float_as_uint(near);\n" \
    "    if (fabs((double)near) > fabs(x)) bits -= 1;\n" \
    "    return __uint_as_float(bits | 1);\n" \
    "}"

#define BF16_WRITE_F64 \
    "static __device__ unsigned short f64_to_bf16(double x) { return f32_to_bf16(f64_to_f32_odd(x)); }"
#define ROUND_BF16 \
    "static __device__ float round_bf16(float x) { return bf16_to_f32(f32_to_bf16(x)); }"
#define ROUND_BF16_F64 \
    "static __device__ float round_bf16(double x) { return bf16_to_f32(f64_to_bf16(x)); }"

#define RAISE_FAULT \
    "/* keeps the smallest (code, index) */\n" \
    "static __device__ void raise_fault(unsigned long long *fault, unsigned long long code, long long index) {\n" \
    "    atomicMin(fault, code << 48 | (index & 0xffffffffffffll));\n" \
    "}"

/* ---- CUDA: no half type without a header, so bits and PTX ---- */

static const char *const cuda_help[NHELPS] = {
    [HELP_INF_F32] = INF_F32, [HELP_NAN_F32] = NAN_F32, [HELP_INF_F64] = INF_F64, [HELP_NAN_F64] = NAN_F64,
    [HELP_F16_READ] =
        "static __device__ float f16_to_f32(unsigned short bits) {\n"
        "    float x;\n"
        "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));\n"
        "    return x;\n"
        "}",
    [HELP_F16_WRITE] =
        "static __device__ unsigned short f32_to_f16(float x) {\n"
        "    unsigned short bits;\n"
        "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));\n"
        "    return bits;\n"
        "}",
    [HELP_F16_WRITE_F64] =
        "static __device__ unsigned short f64_to_f16(double x) {\n"
        "    unsigned short bits;\n"
        "    asm(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(bits) : \"d\"(x));\n"
        "    return bits;\n"
        "}",
    [HELP_ROUND_F16] = "static __device__ float round_f16(float x) { return f16_to_f32(f32_to_f16(x)); }",
    [HELP_ROUND_F16_F64] = "static __device__ float round_f16(double x) { return f16_to_f32(f64_to_f16(x)); }",
    [HELP_BF16_READ] = BF16_READ,
    [HELP_BF16_WRITE] =
        "/* nearest, ties to even; NaN stays NaN */\n"
        "static __device__ unsigned short f32_to_bf16(float x) {\n"
        "#if __CUDA_ARCH__ >= 800\n"
        "    unsigned short rounded;\n"
        "    asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(rounded) : \"f\"(x));\n"
        "    return rounded;\n"
        "#else\n"
        BF16_BY_INTEGERS
        "#endif\n"
        "}",
    [HELP_BF16_ODD] = BF16_ODD, [HELP_BF16_WRITE_F64] = BF16_WRITE_F64, [HELP_ROUND_BF16] = ROUND_BF16, [HELP_ROUND_BF16_F64] = ROUND_BF16_F64,
    [HELP_ACQUIRE_32] =
        "static __device__ unsigned load_acquire(const unsigned *at) {\n"
        "    unsigned word;\n"
        "    asm volatile(\"ld.acquire.gpu.u32 %0, [%1];\" : \"=r\"(word) : \"l\"(at) : \"memory\");\n"
        "    return word;\n"
        "}",
    [HELP_ACQUIRE_64] =
        "static __device__ unsigned long long load_acquire(const unsigned long long *at) {\n"
        "    unsigned long long word;\n"
        "    asm volatile(\"ld.acquire.gpu.u64 %0, [%1];\" : \"=l\"(word) : \"l\"(at) : \"memory\");\n"
        "    return word;\n"
        "}",
    [HELP_RELEASE_32] =
        "static __device__ void store_release(unsigned *at, unsigned word) {\n"
        "    asm volatile(\"st.release.gpu.u32 [%0], %1;\" :: \"l\"(at), \"r\"(word) : \"memory\");\n"
        "}",
    [HELP_RELEASE_64] =
        "static __device__ void store_release(unsigned long long *at, unsigned long long word) {\n"
        "    asm volatile(\"st.release.gpu.u64 [%0], %1;\" :: \"l\"(at), \"l\"(word) : \"memory\");\n"
        "}",
    [HELP_RELAXED_LOAD_32] =
        "static __device__ unsigned load_relaxed(const unsigned *at) {\n"
        "    unsigned word;\n"
        "    asm volatile(\"ld.relaxed.gpu.u32 %0, [%1];\" : \"=r\"(word) : \"l\"(at) : \"memory\");\n"
        "    return word;\n"
        "}",
    [HELP_RELAXED_LOAD_64] =
        "static __device__ unsigned long long load_relaxed(const unsigned long long *at) {\n"
        "    unsigned long long word;\n"
        "    asm volatile(\"ld.relaxed.gpu.u64 %0, [%1];\" : \"=l\"(word) : \"l\"(at) : \"memory\");\n"
        "    return word;\n"
        "}",
    [HELP_RELAXED_STORE_32] =
        "static __device__ void store_relaxed(unsigned *at, unsigned word) {\n"
        "    asm volatile(\"st.relaxed.gpu.u32 [%0], %1;\" :: \"l\"(at), \"r\"(word) : \"memory\");\n"
        "}",
    [HELP_RELAXED_STORE_64] =
        "static __device__ void store_relaxed(unsigned long long *at, unsigned long long word) {\n"
        "    asm volatile(\"st.relaxed.gpu.u64 [%0], %1;\" :: \"l\"(at), \"l\"(word) : \"memory\");\n"
        "}",
    [HELP_FAULT] = RAISE_FAULT,
};

/* ---- HIP: _Float16 is built in ---- */

static const char *const hip_help[NHELPS] = {
    [HELP_INF_F32] = INF_F32, [HELP_NAN_F32] = NAN_F32, [HELP_INF_F64] = INF_F64, [HELP_NAN_F64] = NAN_F64,
    [HELP_BF16_READ] = BF16_READ,
    [HELP_BF16_WRITE] =
        "/* nearest, ties to even; NaN stays NaN */\n"
        "static __device__ unsigned short f32_to_bf16(float x) {\n"
        BF16_BY_INTEGERS
        "}",
    [HELP_BF16_ODD] = BF16_ODD, [HELP_BF16_WRITE_F64] = BF16_WRITE_F64, [HELP_ROUND_BF16] = ROUND_BF16, [HELP_ROUND_BF16_F64] = ROUND_BF16_F64,
    [HELP_ACQUIRE_32] =
        "static __device__ unsigned load_acquire(const unsigned *at) {\n"
        "    return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_ACQUIRE_64] =
        "static __device__ unsigned long long load_acquire(const unsigned long long *at) {\n"
        "    return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_RELEASE_32] =
        "static __device__ void store_release(unsigned *at, unsigned word) {\n"
        "    __hip_atomic_store(at, word, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_RELEASE_64] =
        "static __device__ void store_release(unsigned long long *at, unsigned long long word) {\n"
        "    __hip_atomic_store(at, word, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_RELAXED_LOAD_32] =
        "static __device__ unsigned load_relaxed(const unsigned *at) {\n"
        "    return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_RELAXED_LOAD_64] =
        "static __device__ unsigned long long load_relaxed(const unsigned long long *at) {\n"
        "    return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_RELAXED_STORE_32] =
        "static __device__ void store_relaxed(unsigned *at, unsigned word) {\n"
        "    __hip_atomic_store(at, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_RELAXED_STORE_64] =
        "static __device__ void store_relaxed(unsigned long long *at, unsigned long long word) {\n"
        "    __hip_atomic_store(at, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);\n"
        "}",
    [HELP_FAULT] = RAISE_FAULT,
};

const dialect_info source_dialects[NDIALECTS] = {
    [DIALECT_CUDA] = {
        .warp_shuffle = {
            [SHUFFLE_XOR] = "__shfl_xor_sync(0xffffffff, $0, $1$2)", [SHUFFLE_DOWN] = "__shfl_down_sync(0xffffffff, $0, $1$2)",
            [SHUFFLE_UP] = "__shfl_up_sync(0xffffffff, $0, $1$2)", [SHUFFLE_INDEX] = "__shfl_sync(0xffffffff, $0, $1$2)" },
        .ballot = "__ballot_sync(0xffffffff, $0)", .ballot_type = T_U32,
        .load_stream = "__ldcs($0)", .store_stream = "__stcs($0, $1)", .load_readonly = "__ldg($0)",
        .own_vectors = true, .vector_type = "struct alignas($2) $1 { $0 at[$3]; };",
        .atomic_min_i64 = true, .help = cuda_help,
        .launch_bounds = "__launch_bounds__($0)", .resident = "__launch_bounds__($0, $1)",
        .arch_option = "--gpu-architecture=", .options = { "--fmad=false", "--std=c++17" } },
    [DIALECT_HIP] = {
        .warp_shuffle = {
            [SHUFFLE_XOR] = "__shfl_xor($0, $1$2)", [SHUFFLE_DOWN] = "__shfl_down($0, $1$2)",
            [SHUFFLE_UP] = "__shfl_up($0, $1$2)", [SHUFFLE_INDEX] = "__shfl($0, $1$2)" },
        .ballot = "__ballot($0)", .ballot_type = T_U64,
        .f16 = "_Float16",
        .load_stream = "__builtin_nontemporal_load($0)", .store_stream = "__builtin_nontemporal_store($1, $0)",
        .vector_type = "typedef $0 $1 __attribute__((ext_vector_type($3)));",
        .help = hip_help,
        .launch_bounds = "__launch_bounds__($0)",   /* its second argument counts waves of a SIMD unit */
        .arch_option = "--offload-arch=", .options = { "-ffp-contract=off", "-std=c++17" } },
};

/* What a helper calls. */
static const struct { uint8_t user, needs[2]; } help_needs[] = {
    { HELP_F16_WRITE_F64, { 0 } },
    { HELP_ROUND_F16, { HELP_F16_READ, HELP_F16_WRITE } },
    { HELP_ROUND_F16_F64, { HELP_F16_READ, HELP_F16_WRITE_F64 } },
    { HELP_BF16_WRITE_F64, { HELP_BF16_WRITE, HELP_BF16_ODD } },
    { HELP_ROUND_BF16, { HELP_BF16_READ, HELP_BF16_WRITE } },
    { HELP_ROUND_BF16_F64, { HELP_BF16_READ, HELP_BF16_WRITE_F64 } },
};

void source_help(printer *p, help h) {
    p->help[h] = true;
    for (size_t i = 0; i < sizeof help_needs / sizeof *help_needs; i++)
        for (int j = 0; j < 2 && help_needs[i].user == h; j++)
            if (help_needs[i].needs[j]) source_help(p, (help)help_needs[i].needs[j]);
}

void source_options(dialect d, const char *arch, source_flags *out) {
    const dialect_info *t = &source_dialects[d];
    size_t prefix = strlen(t->arch_option), n = strlen(arch);
    if (n >= sizeof out->arch - prefix) n = sizeof out->arch - prefix - 1;
    memcpy(out->arch, t->arch_option, prefix);
    memcpy(out->arch + prefix, arch, n);
    out->arch[prefix + n] = 0;
    out->count = 0;
    out->option[out->count++] = out->arch;
    for (int i = 0; i < SOURCE_FLAGS - 1 && t->options[i]; i++) out->option[out->count++] = t->options[i];
}
