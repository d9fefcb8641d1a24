/* Prints what the base floor says about dtypes, for test_dtypes.py to compare with NumPy.
 *
 *   dtypes promote | weak | cancast     every combination, one a line
 *   dtypes named NAME...                a dtype's name, or "unset"
 *   dtypes cast FROM TO                 elements from standard input to standard output */
#include "ir/base/base.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(kn_dtype t) { return dtype_table[t].name; }

static void print_promotions(void)
{
    for (kn_dtype a = KN_BOOL; a < NDTYPES; a++)
        for (kn_dtype b = KN_BOOL; b < NDTYPES; b++)
            printf("%s %s %s\n", name_of(a), name_of(b), name_of(dtype_promote(a, b)));
}

static void print_weak_promotions(void)
{
    static const char *const kinds[] = {"bool", "int", "uint", "float", "complex"};
    for (kn_dtype a = KN_BOOL; a < NDTYPES; a++)
        for (scalar_kind k = SCALAR_BOOL; k <= SCALAR_COMPLEX; k++)
            printf("%s %s %s\n", name_of(a), kinds[k], name_of(dtype_promote_weak(a, k)));
}

static void print_casts(void)
{
    static const char *const rules[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
    for (kn_dtype a = KN_BOOL; a < NDTYPES; a++)
        for (kn_dtype b = KN_BOOL; b < NDTYPES; b++)
            for (casting r = CAST_NO; r <= CAST_UNSAFE; r++)
                printf("%s %s %s %d\n", name_of(a), name_of(b), rules[r], dtype_can_cast(a, b, r));
}

static int cast_stream(const char *from_name, const char *to_name)
{
    kn_dtype from = dtype_named(from_name, strlen(from_name)), to = dtype_named(to_name, strlen(to_name));
    unsigned char in[16], out[16];
    if (from == KN_DTYPE_UNSET || to == KN_DTYPE_UNSET)
        return 2;
    while (fread(in, dtype_size(from), 1, stdin) == 1) {
        element_cast(to, out, from, in);
        fwrite(out, dtype_size(to), 1, stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "promote") == 0)
        print_promotions();
    else if (strcmp(what, "weak") == 0)
        print_weak_promotions();
    else if (strcmp(what, "cancast") == 0)
        print_casts();
    else if (strcmp(what, "named") == 0)
        for (int i = 2; i < argc; i++)
            puts(name_of(dtype_named(argv[i], strlen(argv[i]))));
    else if (strcmp(what, "cast") == 0 && argc == 4)
        return cast_stream(argv[2], argv[3]);
    else
        return 2;
    return 0;
}
