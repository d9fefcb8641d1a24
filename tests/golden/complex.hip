/* z*w */
typedef float f32x2 __attribute__((ext_vector_type(2)));

extern "C" __global__ void __launch_bounds__(64) complex_multiply(const float *__restrict__ z,
        const float *__restrict__ w, float *__restrict__ out) {
    const int at = (blockIdx.x * 64 + threadIdx.x) * 2;
    const f32x2 x = *(const f32x2 *)&z[at];
    const f32x2 y = *(const f32x2 *)&w[at];
    *(f32x2 *)&out[at] = f32x2{x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};
}
