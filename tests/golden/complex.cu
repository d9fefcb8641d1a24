/* z*w */
extern "C" __global__ void __launch_bounds__(64) complex_multiply(const float *__restrict__ z,
        const float *__restrict__ w, float *__restrict__ out) {
    const int at = (blockIdx.x * 64 + threadIdx.x) * 2;
    const float2 x = *(const float2 *)&z[at];
    const float2 y = *(const float2 *)&w[at];
    *(float2 *)&out[at] = float2{x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};
}
