/* Two real data sets through fused pipelines; examples/demo.py makes the inputs and compares the results with NumPy's.
 * demo FOLDER: reads FOLDER/photo.npy (uint8, height x width x 3) and FOLDER/wine.npy (float64, samples x features). */
#include <kiln.h>
#include <stdio.h>

static int failed(const char *what) {
    fprintf(stderr, "demo: %s: %s\n", what, kn_error());
    return 1;
}

/* The picture's edges, as bytes. */
static kn_array edges(kn_array photo) {
    kn_array rgb = kn_astype(photo, KN_FLOAT32);
    kn_array grey = kn_add(kn_add(kn_mul(0.299, kn_index(rgb, "..., 0")), kn_mul(0.587, kn_index(rgb, "..., 1"))), kn_mul(0.114, kn_index(rgb, "..., 2")));
    kn_array x = kn_sub(kn_index(grey, "1:-1, 2:"), kn_index(grey, "1:-1, :-2")), y = kn_sub(kn_index(grey, "2:, 1:-1"), kn_index(grey, ":-2, 1:-1"));
    return kn_astype(kn_clip(kn_sqrt(kn_add(kn_square(x), kn_square(y))), 0, 255), KN_UINT8);
}

/* Every feature with mean 0 and deviation 1, then every sample's softmax. */
static kn_array scores(kn_array table) {
    kn_array z = kn_div(kn_sub(table, kn_mean(table, .axis = 0)), kn_std(table, .axis = 0));
    kn_array e = kn_exp(kn_sub(z, kn_max(z, .axis = 1, .keepdims = true)));
    return kn_div(e, kn_sum(e, .axis = 1, .keepdims = true));
}

int main(int argc, char **argv) {
    char path[4096];
    const char *folder = argc > 1 ? argv[1] : ".";
    KN_SCOPE(s);

    snprintf(path, sizeof path, "%s/photo.npy", folder);
    kn_array photo = kn_load(path), outline = edges(photo);
    if (kn_check(outline)) return failed("the picture");
    printf("A picture of %lld x %lld pixels. Its edges are one kernel; this is its CUDA source:\n\n%s\n", (long long)kn_len(photo, 0),
           (long long)kn_len(photo, 1), kn_source(outline, KN_CUDA));
    snprintf(path, sizeof path, "%s/edges.npy", folder);
    if (kn_save(outline, path)) return failed(path);
    printf("Here it ran on the CPU. Mean strength of the edges: %.6f\n\n", kn_f64(kn_mean(outline)));

    snprintf(path, sizeof path, "%s/wine.npy", folder);
    kn_array table = kn_load(path), p = scores(table);
    if (kn_check(p)) return failed("the table");
    printf("A table of %lld wines with %lld features. The softmax of the first, normalised:\n%s\n\n", (long long)kn_len(table, 0), (long long)kn_len(table, 1),
           kn_show(kn_index(p, "0")));
    snprintf(path, sizeof path, "%s/scores.npy", folder);
    if (kn_save(p, path)) return failed(path);
    return 0;
}
