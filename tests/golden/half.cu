/* a*b + a*0.5 */
static __device__ float f16_to_f32(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
static __device__ unsigned short f32_to_f16(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
static __device__ float round_f16(float x) { return f16_to_f32(f32_to_f16(x)); }

extern "C" __global__ void __launch_bounds__(64) multiply_add(const unsigned short *__restrict__ a,
        const unsigned short *__restrict__ b, unsigned short *__restrict__ out) {
    const int at = blockIdx.x * 64 + threadIdx.x;
    const float a_at = f16_to_f32(a[at]);
    out[at] = f32_to_f16(round_f16(a_at * f16_to_f32(b[at])) + round_f16(a_at * 0.5f));
}
