/* Normalises the columns of a table and gives every row's softmax.  softmax_table TABLE.npy|TABLE.csv RESULT.npy */
#include <kiln.h>
#include <stdio.h>

/* x (n, d) -> (n, d): every column with mean 0 and standard deviation 1 */
static kn_array normalised(kn_array x) {
    kn_array centred = kn_sub(x, kn_mean(x, .axis = 0));
    return kn_div(centred, kn_std(x, .axis = 0));
}

static kn_array softmax(kn_array x) {
    kn_array e = kn_exp(kn_sub(x, kn_max(x, .axis = -1, .keepdims = true)));
    return kn_div(e, kn_sum(e, .axis = -1, .keepdims = true));
}

int main(int argc, char **argv) {
    if (argc != 3) { fprintf(stderr, "usage: softmax_table TABLE.npy|TABLE.csv RESULT.npy\n"); return 2; }
    KN_SCOPE(s);
    kn_array p = softmax(normalised(kn_astype(kn_load(argv[1]), KN_FLOAT64)));
    if (kn_save(p, argv[2])) { fprintf(stderr, "softmax_table: %s\n", kn_error()); return 1; }
    printf("%lld rows; the surest is %.4f sure\n", (long long)kn_len(p, 0), kn_f64(kn_max(p)));
    return 0;
}
