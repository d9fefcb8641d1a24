/* The edges of a picture: grey levels, Sobel's two gradients, their length.  edges PHOTO.npy RESULT.npy
 * PHOTO is uint8 (height, width, 3). */
#include <kiln.h>
#include <stdio.h>

/* Sobel's gradients of g (h, w) -> (h - 2, w - 2) */
static kn_array gradient(kn_array g) {
    kn_array x = kn_sub(kn_index(g, ":, 2:"), kn_index(g, ":, :-2"));
    x = kn_add(kn_add(kn_index(x, ":-2"), kn_mul(2, kn_index(x, "1:-1"))), kn_index(x, "2:"));
    kn_array y = kn_sub(kn_index(g, "2:"), kn_index(g, ":-2"));
    y = kn_add(kn_add(kn_index(y, ":, :-2"), kn_mul(2, kn_index(y, ":, 1:-1"))), kn_index(y, ":, 2:"));
    return kn_hypot(x, y);
}

int main(int argc, char **argv) {
    if (argc != 3) { fprintf(stderr, "usage: edges PHOTO.npy RESULT.npy\n"); return 2; }
    KN_SCOPE(s);
    kn_array photo = kn_astype(kn_load(argv[1]), KN_FLOAT32);
    kn_array red = kn_index(photo, "..., 0"), green = kn_index(photo, "..., 1"), blue = kn_index(photo, "..., 2");
    kn_array grey = kn_add(kn_add(kn_mul(0.299, red), kn_mul(0.587, green)), kn_mul(0.114, blue));
    kn_array length = gradient(grey);
    kn_array out = kn_astype(kn_clip(kn_mul(length, kn_div(255, kn_max(length))), 0, 255), KN_UINT8);
    if (kn_save(out, argv[2])) { fprintf(stderr, "edges: %s\n", kn_error()); return 1; }
    printf("%lld of %lld pixels are edges\n", (long long)kn_i64(kn_sum(kn_greater(out, 40))), (long long)kn_size(out));
    return 0;
}
