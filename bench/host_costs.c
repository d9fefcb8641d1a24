/* What an evaluation costs besides its kernel: median over many, on this machine, in microseconds. */
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 2001

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, size_t n) {
    qsort(t, n, sizeof *t, by_size);
    return t[n / 2];
}

/* eight operations */
static kn_array expression(kn_array a, kn_array b, double k) {
    kn_array x = kn_mul(kn_add(a, b), k), y = kn_sub(kn_mul(a, a), b);
    return kn_add(kn_sqrt(kn_abs(x)), kn_maximum(y, kn_neg(b)));
}

static void cached(int64_t n) {
    static double total[ROUNDS], record[ROUNDS];
    KN_SCOPE(s);
    kn_array a = kn_astype(kn_linspace(0, 1, n), KN_FLOAT32), b = kn_astype(kn_linspace(1, 3, n), KN_FLOAT32);
    if (kn_eval(a) || kn_eval(b)) return;
    for (int i = 0; i < ROUNDS; i++) {
        KN_SCOPE(step);
        double start = now();
        kn_array y = expression(a, b, 1 + 1e-3 * i);
        double recorded = now();
        if (kn_eval(y)) { fprintf(stderr, "%s\n", kn_error()); return; }
        total[i] = now() - start;
        record[i] = recorded - start;
    }
    printf("8 operations, n = %-8lld evaluation %8.2f   of it recording %6.2f\n", (long long)n, median(total, ROUNDS), median(record, ROUNDS));
}

static void first(void) {
    KN_SCOPE(s);
    kn_array a = kn_astype(kn_linspace(0, 1, 100000), KN_FLOAT32);
    if (kn_eval(a) || kn_eval(kn_mul(a, a))) return;
    double start = now();
    if (kn_eval(kn_exp(kn_sub(kn_sin(a), kn_mul(a, kn_sqrt(kn_add(a, 2))))))) return;
    printf("a new expression, n = 100000: %.0f\n", now() - start);
}

int main(void) {
    double start = now();
    {
        KN_SCOPE(s);
        kn_array a = kn_full(KN_SHAPE(1000), 1.5);
        printf("first result of the process: ");
        double v = kn_f64(kn_sum(kn_mul(a, a)));
        printf("%.0f (value %g)\n", now() - start, v);
    }
    first();
    for (int64_t n = 10; n <= 1000000; n *= 10) cached(n);
    return 0;
}
