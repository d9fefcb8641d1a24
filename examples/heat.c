/* Heat in a square plate whose upper edge is kept hot: explicit steps of the five-point stencil.  heat SIZE STEPS RESULT.npy */
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 4) { fprintf(stderr, "usage: heat SIZE STEPS RESULT.npy\n"); return 2; }
    const int64_t n = atoll(argv[1]);
    const int steps = atoi(argv[2]);
    KN_SCOPE(s);
    kn_array u = kn_zeros(KN_SHAPE(n, n));
    kn_set(u, "0", 100);
    /* views: they show the plate as it is when they are read */
    kn_array middle = kn_index(u, "1:-1, 1:-1"), up = kn_index(u, ":-2, 1:-1"), down = kn_index(u, "2:, 1:-1");
    kn_array left = kn_index(u, "1:-1, :-2"), right = kn_index(u, "1:-1, 2:");
    for (int t = 0; t < steps; t++) {
        KN_SCOPE(step);                     /* what a step makes, goes with it */
        kn_array around = kn_add(kn_add(up, down), kn_add(left, right));
        kn_iadd(middle, kn_mul(0.2, kn_sub(around, kn_mul(4, middle))));
    }
    if (kn_save(u, argv[3])) { fprintf(stderr, "heat: %s\n", kn_error()); return 1; }
    printf("mean temperature after %d steps: %.6f\n", steps, kn_f64(kn_mean(u)));
    return 0;
}
