/* sqrt(a*a + b*b)*c + exp(-a) */
extern "C" __global__ void __launch_bounds__(256) map_sqrt_exp(const float *__restrict__ a,
        const float *__restrict__ b, const float *__restrict__ c, float *__restrict__ out, int n) {
    const int block = blockIdx.x;
    const int thread = threadIdx.x;
    const int base = block * 2048;
    if (base + 2048 <= n) {
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const int i = base + j * 1024 + thread * 4;
            alignas(16) float a4[4];
            alignas(16) float b4[4];
            alignas(16) float c4[4];
            alignas(16) float r4[4];
            *(float4 *)a4 = *(const float4 *)&a[i];
            *(float4 *)b4 = *(const float4 *)&b[i];
            *(float4 *)c4 = *(const float4 *)&c[i];
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                const float b4_k = b4[k];
                const float a4_k = a4[k];
                r4[k] = sqrtf(a4_k * a4_k + b4_k * b4_k) * c4[k] + expf(-a4_k);
            }
            *(float4 *)&out[i] = *(const float4 *)r4;
        }
    } else {
        for (int j = base + thread; j < n; j += 256) {
            const float b_j = b[j];
            const float a_j = a[j];
            out[j] = sqrtf(a_j * a_j + b_j * b_j) * c[j] + expf(-a_j);
        }
    }
}
