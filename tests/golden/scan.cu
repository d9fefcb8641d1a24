/* cumsum(x) */
static __device__ unsigned long long load_relaxed(const unsigned long long *at) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}
static __device__ void store_relaxed(unsigned long long *at, unsigned long long word) {
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" :: "l"(at), "l"(word) : "memory");
}

extern "C" __global__ void __launch_bounds__(256, 4) cumsum(const float *__restrict__ x, float *__restrict__ out,
        unsigned long long *tiles, unsigned long long *windows, unsigned long long *groups, int n,
        unsigned *ticket) {
    __shared__ unsigned taken;   /* blocks start in the order of their numbers */
    if (threadIdx.x == 0) taken = atomicInc(ticket, gridDim.x - 1);
    __syncthreads();
    const int tile = taken;
    const int thread = threadIdx.x;
    const int lane = threadIdx.x % 32;
    const int warp = thread / 32;
    const bool full = (tile + 1) * 19456 <= n;
    const int start = tile * 19456 + warp * 2432 + lane * 4;
    float carry = 0.0f;
    alignas(16) __shared__ float kept[11264];
    float early[44];
    if (full) {
        #pragma unroll
        for (int j = 0; j < 11; j++) {
            alignas(16) float x4[4];
            *(float4 *)x4 = __ldcs((const float4 *)&x[start + j * 128]);
            #pragma unroll
            for (int k = 0; k < 4; k++) early[j * 4 + k] = x4[k];
        }
    } else {
        #pragma unroll
        for (int j = 0; j < 11; j++) {
            const int at = start + j * 128;
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                const int i = at + k;
                early[j * 4 + k] = i < n ? x[i] : 0.0f;
            }
        }
    }
    #pragma unroll
    for (int j = 0; j < 11; j++) {
        const int first = j * 4;
        #pragma unroll
        for (int k = 1; k < 4; k++) {
            const int slot = first + k;
            early[slot] += early[slot - 1];
        }
        const float quad = early[first + 3];
        const float other = __shfl_up_sync(0xffffffff, quad, 1);
        const float running = quad + (lane >= 1 ? other : 0.0f);
        const float other2 = __shfl_up_sync(0xffffffff, running, 2);
        const float running2 = running + (lane >= 2 ? other2 : 0.0f);
        const float other3 = __shfl_up_sync(0xffffffff, running2, 4);
        const float running3 = running2 + (lane >= 4 ? other3 : 0.0f);
        const float other4 = __shfl_up_sync(0xffffffff, running3, 8);
        const float running4 = running3 + (lane >= 8 ? other4 : 0.0f);
        const float other5 = __shfl_up_sync(0xffffffff, running4, 16);
        const float running5 = running4 + (lane >= 16 ? other5 : 0.0f);
        const float other6 = __shfl_sync(0xffffffff, running5, 31);
        const float other7 = __shfl_up_sync(0xffffffff, running5, 1);
        const float offset = carry + (lane > 0 ? other7 : 0.0f);
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            const int at = first + k;
            early[at] += offset;
        }
        carry += other6;
    }
    #pragma unroll
    for (int j = 0; j < 11; j++) {
        alignas(16) float v[4];
        #pragma unroll
        for (int k = 0; k < 4; k++) v[k] = early[j * 4 + k];
        *(float4 *)&kept[(j * 256 + thread) * 4] = *(const float4 *)v;
    }
    float run[32];
    const int next = start + 1408;
    if (full) {
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            alignas(16) float x4[4];
            *(float4 *)x4 = __ldcs((const float4 *)&x[next + j * 128]);
            #pragma unroll
            for (int k = 0; k < 4; k++) run[j * 4 + k] = x4[k];
        }
    } else {
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            const int at = next + j * 128;
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                const int i = at + k;
                run[j * 4 + k] = i < n ? x[i] : 0.0f;
            }
        }
    }
    #pragma unroll
    for (int j = 0; j < 8; j++) {
        const int first = j * 4;
        #pragma unroll
        for (int k = 1; k < 4; k++) {
            const int slot = first + k;
            run[slot] += run[slot - 1];
        }
        const float quad = run[first + 3];
        const float other = __shfl_up_sync(0xffffffff, quad, 1);
        const float running = quad + (lane >= 1 ? other : 0.0f);
        const float other2 = __shfl_up_sync(0xffffffff, running, 2);
        const float running2 = running + (lane >= 2 ? other2 : 0.0f);
        const float other3 = __shfl_up_sync(0xffffffff, running2, 4);
        const float running3 = running2 + (lane >= 4 ? other3 : 0.0f);
        const float other4 = __shfl_up_sync(0xffffffff, running3, 8);
        const float running4 = running3 + (lane >= 8 ? other4 : 0.0f);
        const float other5 = __shfl_up_sync(0xffffffff, running4, 16);
        const float running5 = running4 + (lane >= 16 ? other5 : 0.0f);
        const float other6 = __shfl_sync(0xffffffff, running5, 31);
        const float other7 = __shfl_up_sync(0xffffffff, running5, 1);
        const float offset = carry + (lane > 0 ? other7 : 0.0f);
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            const int at = first + k;
            run[at] += offset;
        }
        carry += other6;
    }
    __shared__ float warp_sum[8];
    const bool leads = lane == 0;
    if (leads) warp_sum[warp] = carry;
    __syncthreads();
    float total = 0.0f;
    float mine = 0.0f;
    #pragma unroll
    for (int j = 0; j < 8; j++) {
        if (j == warp) mine = total;
        total += warp_sum[j];
    }
    const float sum = total;
    __shared__ float before[1];
    if (warp == 0) {
        const int in_window = tile & 31;
        const int window = tile >> 5;
        const int in_group = window & 31;
        const int group = window >> 5;
        if (leads) store_relaxed(&tiles[tile], __float_as_uint(sum) | 0x100000000ull);
        const int at = tile - in_window + lane;
        const bool needs_tile = lane < in_window;
        const int at2 = window - in_group + lane;
        const bool needs_window = lane < in_group;
        const bool needs_group = lane < group;
        const unsigned long long tile_seen = needs_tile ? load_relaxed(&tiles[at]) : 0;
        const unsigned long long window_seen = needs_window ? load_relaxed(&windows[at2]) : 0;
        const unsigned long long group_seen = needs_group ? load_relaxed(&groups[lane]) : 0;
        unsigned long long tile_word = tile_seen;
        while (needs_tile && tile_word == 0) tile_word = load_relaxed(&tiles[at]);
        float by_tiles = __uint_as_float((unsigned)tile_word);
        #pragma unroll
        for (int j = 0; j < 5; j++) by_tiles += __shfl_xor_sync(0xffffffff, by_tiles, 16 >> j);
        const float whole_window = by_tiles + sum;
        const bool both = leads && in_window == 31;
        if (both) store_relaxed(&windows[window], __float_as_uint(whole_window) | 0x100000000ull);
        unsigned long long window_word = window_seen;
        while (needs_window && window_word == 0) window_word = load_relaxed(&windows[at2]);
        float by_windows = __uint_as_float((unsigned)window_word);
        #pragma unroll
        for (int j = 0; j < 5; j++) by_windows += __shfl_xor_sync(0xffffffff, by_windows, 16 >> j);
        if (both && in_group == 31) {
            store_relaxed(&groups[group], __float_as_uint(by_windows + whole_window) | 0x100000000ull);
        }
        unsigned long long group_word = group_seen;
        while (needs_group && group_word == 0) group_word = load_relaxed(&groups[lane]);
        float by_groups = __uint_as_float((unsigned)group_word);
        #pragma unroll
        for (int j = 0; j < 5; j++) by_groups += __shfl_xor_sync(0xffffffff, by_groups, 16 >> j);
        float before_groups = by_groups;
        for (int j = 32; j < group; j += 32) {
            const int next2 = j + lane;
            const bool wanted = next2 < group;
            const unsigned long long next_seen = wanted ? load_relaxed(&groups[next2]) : 0;
            unsigned long long next_word = next_seen;
            while (wanted && next_word == 0) next_word = load_relaxed(&groups[next2]);
            float by_more = __uint_as_float((unsigned)next_word);
            #pragma unroll
            for (int k = 0; k < 5; k++) by_more += __shfl_xor_sync(0xffffffff, by_more, 16 >> k);
            before_groups += by_more;
        }
        const float sum2 = before_groups + (by_windows + by_tiles);
        if (leads) before[0] = sum2;
    }
    __syncthreads();
    const float offset = before[0] + mine;
    #pragma unroll
    for (int j = 0; j < 11; j++) {
        alignas(16) float v[4];
        *(float4 *)v = *(const float4 *)&kept[(j * 256 + thread) * 4];
        #pragma unroll
        for (int k = 0; k < 4; k++) v[k] = offset + v[k];
        const int at = start + j * 128;
        if (full) {
            __stcs((float4 *)&out[at], *(const float4 *)v);
        } else {
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                const int i = at + k;
                if (i < n) out[i] = v[k];
            }
        }
    }
    #pragma unroll
    for (int j = 0; j < 8; j++) {
        alignas(16) float r4[4];
        #pragma unroll
        for (int k = 0; k < 4; k++) r4[k] = offset + run[j * 4 + k];
        const int at = start + (j + 11) * 128;
        if (full) {
            __stcs((float4 *)&out[at], *(const float4 *)r4);
        } else {
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                const int i = at + k;
                if (i < n) out[i] = r4[k];
            }
        }
    }
}
