/* x.T + y */
extern "C" __global__ void __launch_bounds__(256) transpose_add(const float *__restrict__ x,
        const float *__restrict__ y, float *__restrict__ out, int rows, int columns) {
    const int thread = threadIdx.x;
    const int row0 = blockIdx.y * 64;
    const int column0 = blockIdx.x * 64;
    __shared__ float tile[4160];
    float ys[16];
    const int quad = thread % 16 * 4;
    const int line = thread / 16;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const int from = line + i * 16;
        alignas(16) float x4[4];
        alignas(16) float y4[4];
        const int x_row = column0 + from;
        const int x_column = row0 + quad;
        if (x_row < columns && x_column < rows) {
            *(float4 *)x4 = *(const float4 *)&x[x_row * rows + x_column];
        }
        const int y_row = row0 + from;
        const int y_column = column0 + quad;
        if (y_row < rows && y_column < columns) {
            *(float4 *)y4 = *(const float4 *)&y[y_row * columns + y_column];
        }
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            tile[(quad + j) * 65 + from] = x4[j];
            ys[i * 4 + j] = y4[j];
        }
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const int to = line + i * 16;
        alignas(16) float r4[4];
        #pragma unroll
        for (int j = 0; j < 4; j++) r4[j] = tile[to * 65 + quad + j] + ys[i * 4 + j];
        const int row = row0 + to;
        const int column = column0 + quad;
        if (row < rows && column < columns) {
            *(float4 *)&out[row * columns + column] = *(const float4 *)r4;
        }
    }
}
