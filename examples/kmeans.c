/* Lloyd's k-means, from the first k points.  kmeans POINTS.npy|POINTS.csv K CENTRES.npy LABELS.npy */
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>

/* x (n, d), c (k, d) -> (n,): which centre is nearest */
static kn_array nearest(kn_array x, kn_array c) {
    kn_array offset = kn_sub(kn_index(x, ":, None"), kn_index(c, "None"));
    return kn_argmin(kn_sum(kn_square(offset), .axis = -1), .axis = 1);
}

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "usage: kmeans POINTS.npy|POINTS.csv K CENTRES.npy LABELS.npy\n"); return 2; }
    const int64_t k = atoll(argv[2]);
    KN_SCOPE(s);
    kn_array x = kn_astype(kn_load(argv[1]), KN_FLOAT64);
    kn_array c = kn_copy(kn_index(x, ":k", k)), labels = kn_full(KN_SHAPE(kn_len(x, 0)), -1);
    int rounds = 0;
    for (bool moved = true; moved && rounds < 300; rounds++) {
        KN_SCOPE(step);
        kn_array now = nearest(x, c);
        kn_array member = kn_equal(kn_index(now, ":, None"), kn_arange(0, k, 1));           /* (n, k) */
        kn_array count = kn_index(kn_sum(member, .axis = 0), ":, None");
        kn_array mean = kn_div(kn_matmul(kn_transpose(kn_astype(member, KN_FLOAT64)), x), kn_maximum(count, 1));
        moved = kn_true(kn_any(kn_not_equal(now, labels)));
        kn_let(labels, now);
        kn_let(c, kn_where(kn_greater(count, 0), mean, c));                                 /* an empty cluster stays */
    }
    if (kn_save(c, argv[3]) || kn_save(labels, argv[4])) { fprintf(stderr, "kmeans: %s\n", kn_error()); return 1; }
    printf("%d rounds\n%s\n", rounds, kn_show(c));
    return 0;
}
