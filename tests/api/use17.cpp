// The header from C++17, where options are set on a struct.
#include "kiln.h"
#include <cstdio>
kn_array normalised(kn_array x);
kn_array normalised(kn_array x) {
    KN_SCOPE(s);
    kn_reduce_opts last;
    last.axis = -1;
    last.keepdims = true;
    kn_mean_opts mean;
    mean.axis = KN_AXES(0, 1);
    mean.keepdims = 1;
    kn_array y = kn_div(kn_sub(x, kn_mean(x, mean)), kn_sum(kn_abs(x), last));
    return kn_return(s, y);
}
kn_array joined(const float *data, std::size_t n);
kn_array joined(const float *data, std::size_t n) {
    KN_SCOPE(s);
    int i = 1;
    kn_array a = kn_from(data, n, 3), b = kn_index(a, "i:, None", i), c = kn_text("2*a + i", a, i);
    kn_set(a, "0", 1.5f);
    kn_iadd(a, 1);
    double out[4];
    if (kn_read(kn_ravel(c), out, 4) != KN_OK) std::puts(kn_error());
    return kn_return(s, kn_concatenate(KN_LIST(a, b, kn_zeros(KN_SHAPE(n, 3)), kn(2))));
}
kn_array (*f)(kn_array, const kn_ufunc_opts *) = kn_exp;
