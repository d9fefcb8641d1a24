/* How long each point of the plane stays within 2 under z = z*z + c.  mandelbrot WIDTH HEIGHT STEPS RESULT.npy */
#include <complex.h>
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "usage: mandelbrot WIDTH HEIGHT STEPS RESULT.npy\n"); return 2; }
    const int64_t width = atoll(argv[1]), height = atoll(argv[2]);
    const int steps = atoi(argv[3]);
    KN_SCOPE(s);
    kn_array re = kn_linspace(-2.0, 1.0, width), im = kn_linspace(-1.2, 1.2, height);
    kn_array c = kn_add(re, kn_mul(kn_index(im, ":, None"), I));
    kn_array z = kn_zeros_like(c), count = kn_zeros(KN_SHAPE(height, width), .dtype = KN_INT32);
    for (int i = 0; i < steps; i++) {
        KN_SCOPE(step);
        kn_array inside = kn_less_equal(kn_abs(z), 2);
        kn_iadd(count, inside);
        kn_let(z, kn_where(inside, kn_add(kn_square(z), c), z));
    }
    if (kn_save(count, argv[4])) { fprintf(stderr, "mandelbrot: %s\n", kn_error()); return 1; }
    printf("%lld points never left\n", (long long)kn_i64(kn_sum(kn_equal(count, steps))));
    return 0;
}
