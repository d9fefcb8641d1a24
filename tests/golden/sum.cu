/* ((a - b)**2).sum() */
extern "C" __global__ void __launch_bounds__(512) sum_squares(const float *__restrict__ a,
        const float *__restrict__ b, float *partial, unsigned *count, float *__restrict__ out, int n, int blocks) {
    const int block = blockIdx.x;
    const int thread = threadIdx.x;
    float sums[8];
    float errors[8];
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        sums[i] = 0.0f;
        errors[i] = 0.0f;
    }
    const int base = block * 65536;
    if (base + 65536 <= n) {
        for (int i = 0; i < 16; i++) {
            const int first = base + i * 4096 + thread * 4;
            float a4[8];
            float b4[8];
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                alignas(16) float v[4];
                alignas(16) float w[4];
                const int from = first + j * 2048;
                *(float4 *)v = *(const float4 *)&a[from];
                *(float4 *)w = *(const float4 *)&b[from];
                #pragma unroll
                for (int k = 0; k < 4; k++) {
                    const int slot = j * 4 + k;
                    a4[slot] = v[k];
                    b4[slot] = w[k];
                }
            }
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                const float d = a4[j] - b4[j];
                const float product = d * d;
                const float old = sums[j];
                const float now = old + product;
                const float part = now - old;
                sums[j] = now;
                errors[j] += old - (now - part) + (product - part);
            }
        }
    } else {
        for (int i = base + thread; i < n; i += 512) {
            const float d = a[i] - b[i];
            const float product = d * d;
            const float old = sums[0];
            const float now = old + product;
            const float part = now - old;
            sums[0] = now;
            errors[0] += old - (now - part) + (product - part);
        }
    }
    #pragma unroll
    for (int i = 0; i < 8; i++) sums[i] += errors[i];
    #pragma unroll
    for (int i = 0; i < 4; i++) sums[i] += sums[i + 4];
    #pragma unroll
    for (int i = 0; i < 2; i++) sums[i] += sums[i + 2];
    float block_sum = sums[0] + sums[1];
    #pragma unroll
    for (int i = 0; i < 5; i++) block_sum += __shfl_xor_sync(0xffffffff, block_sum, 16 >> i);
    __shared__ float of_warp[16];
    const int lane = threadIdx.x % 32;
    const bool leads = lane == 0;
    if (leads) of_warp[thread / 32] = block_sum;
    __syncthreads();
    const int rest = lane % 16;
    float block_sum2 = of_warp[rest];
    #pragma unroll
    for (int i = 0; i < 4; i++) block_sum2 += __shfl_xor_sync(0xffffffff, block_sum2, 8 >> i);
    const float of_block = block_sum2;
    __shared__ unsigned finished[1];
    const bool is_first = thread == 0;
    if (is_first) {
        partial[block] = of_block;
        __threadfence();
        finished[0] = atomicAdd(&count[0], 1u);
    }
    __syncthreads();
    if ((int)(finished[0] + 1) == blocks) {
        /* the last block: every partial sum is there */
        __threadfence();
        float total = 0.0f;
        for (int i = thread; i < blocks; i += 512) total += partial[i];
        float whole = total;
        #pragma unroll
        for (int i = 0; i < 5; i++) whole += __shfl_xor_sync(0xffffffff, whole, 16 >> i);
        __shared__ float of_warp2[16];
        if (leads) of_warp2[thread / 32] = whole;
        __syncthreads();
        float whole2 = of_warp2[rest];
        #pragma unroll
        for (int i = 0; i < 4; i++) whole2 += __shfl_xor_sync(0xffffffff, whole2, 8 >> i);
        const float all = whole2;
        if (is_first) {
            out[0] = all;
            count[0] = 0;
        }
    }
}
