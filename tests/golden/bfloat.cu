/* a*b + a*0.5 */
static __device__ float bf16_to_f32(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
/* nearest, ties to even; NaN stays NaN */
static __device__ unsigned short f32_to_bf16(float x) {
#if __CUDA_ARCH__ >= 800
    unsigned short rounded;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(x));
    return rounded;
#else
    const unsigned bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return bits >> 16 | 0x40;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
#endif
}
static __device__ float round_bf16(float x) { return bf16_to_f32(f32_to_bf16(x)); }

extern "C" __global__ void __launch_bounds__(64) multiply_add(const unsigned short *__restrict__ a,
        const unsigned short *__restrict__ b, unsigned short *__restrict__ out) {
    const int at = blockIdx.x * 64 + threadIdx.x;
    const float a_at = bf16_to_f32(a[at]);
    out[at] = f32_to_bf16(round_bf16(a_at * bf16_to_f32(b[at])) + round_bf16(a_at * 0.5f));
}
