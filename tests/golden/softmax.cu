/* e = exp(x - x.max(-1, keepdims=True)); e/e.sum(-1, keepdims=True) */
#define INF_F32 __int_as_float(0x7f800000)

extern "C" __global__ void __launch_bounds__(512) softmax_rows(const float *__restrict__ x,
        float *__restrict__ out, int rows, int columns) {
    const int row = blockIdx.x;
    const int thread = threadIdx.x;
    const int start = row * columns;
    float e[8];
    float most = -INF_F32;
    #pragma unroll
    for (int i = 0; i < 2; i++) {
        const int column = (i * 512 + thread) * 4;
        alignas(16) float x4[4];
        if (column < columns) {
            *(float4 *)x4 = *(const float4 *)&x[start + column];
        } else {
            #pragma unroll
            for (int j = 0; j < 4; j++) x4[j] = -INF_F32;
        }
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            e[i * 4 + j] = x4[j];
            const float x4_j = x4[j];
            most = x4_j > most || x4_j != x4_j ? x4_j : most;
        }
    }
    float highest = most;
    #pragma unroll
    for (int i = 0; i < 5; i++) {
        const float other = __shfl_xor_sync(0xffffffff, highest, 16 >> i);
        highest = highest > other || highest != highest ? highest : other;
    }
    __shared__ float of_warp[16];
    const int lane = threadIdx.x % 32;
    const bool leads = lane == 0;
    if (leads) of_warp[thread / 32] = highest;
    __syncthreads();
    const int rest = lane % 16;
    float highest2 = of_warp[rest];
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const float other = __shfl_xor_sync(0xffffffff, highest2, 8 >> i);
        highest2 = highest2 > other || highest2 != highest2 ? highest2 : other;
    }
    const float top = highest2;
    float total = 0.0f;
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const float power = expf(e[i] - top);
        e[i] = power;
        total += power;
    }
    float whole = total;
    #pragma unroll
    for (int i = 0; i < 5; i++) whole += __shfl_xor_sync(0xffffffff, whole, 16 >> i);
    __shared__ float of_warp2[16];
    if (leads) of_warp2[thread / 32] = whole;
    __syncthreads();
    float whole2 = of_warp2[rest];
    #pragma unroll
    for (int i = 0; i < 4; i++) whole2 += __shfl_xor_sync(0xffffffff, whole2, 8 >> i);
    const float sum = whole2;
    #pragma unroll
    for (int i = 0; i < 2; i++) {
        const int column = (i * 512 + thread) * 4;
        alignas(16) float r4[4];
        #pragma unroll
        for (int j = 0; j < 4; j++) r4[j] = e[i * 4 + j] / sum;
        if (column < columns) *(float4 *)&out[start + column] = *(const float4 *)r4;
    }
}
