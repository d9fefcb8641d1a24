/* a[at]*a[at] + 7 */
/* keeps the smallest (code, index) */
static __device__ void raise_fault(unsigned long long *fault, unsigned long long code, long long index) {
    atomicMin(fault, code << 48 | (index & 0xffffffffffffll));
}

extern "C" __global__ void __launch_bounds__(64) gather(const int *__restrict__ a,
        const long long *__restrict__ at, int *__restrict__ out, long long size, int n, unsigned long long *fault) {
    const int at2 = blockIdx.x * 64 + threadIdx.x;
    if (at2 < n) {
        const long long where = at[at2];
        const long long from = where < 0 ? (long long)((unsigned long long)where + size) : where;
        const bool either = from < 0 || from >= size;
        if (either) raise_fault(fault, 2, where);
        const int a_from = either ? 0 : a[from];
        out[at2] = (unsigned)a_from * a_from + 7;
    }
}
