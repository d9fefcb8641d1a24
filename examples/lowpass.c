/* Removes what is faster than a cutoff from a signal, through its spectrum.  lowpass SIGNAL.npy RATE CUTOFF RESULT.npy */
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>

/* x (..., n), sampled `rate` times a second -> (..., n) without the frequencies above `cutoff` */
static kn_array lowpass(kn_array x, double rate, double cutoff) {
    int64_t n = kn_len(x, -1);
    kn_array frequency = kn_mul(kn_arange(0, n / 2 + 1, 1), rate / (double)n);
    kn_array spectrum = kn_where(kn_less_equal(frequency, cutoff), kn_rfft(x), 0);
    return kn_irfft(spectrum, .n = n);
}

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "usage: lowpass SIGNAL.npy RATE CUTOFF RESULT.npy\n"); return 2; }
    KN_SCOPE(s);
    kn_array x = kn_load(argv[1]), y = lowpass(x, atof(argv[2]), atof(argv[3]));
    if (kn_save(y, argv[4])) { fprintf(stderr, "lowpass: %s\n", kn_error()); return 1; }
    kn_array power = kn_div(kn_mean(kn_square(y)), kn_mean(kn_square(x)));
    printf("%.4f of the power is left\n", kn_f64(power));
    return 0;
}
