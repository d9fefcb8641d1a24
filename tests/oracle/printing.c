/* Prints arrays and numbers for test_print.py to compare with NumPy and Python.
 *
 * Standard input holds cases, each a line of words and, for arrays, the bytes of the elements:
 *   array MODE DTYPE NDIM SHAPE... STRIDES... OFFSET BYTES THRESHOLD EDGEITEMS LINEWIDTH PRECISION SUPPRESS SIGN FLOATMODE NAN INF
 *                                       MODE: str, repr, or list (array2string with separator=', '); a THRESHOLD
 *                                       below 0 takes the default options
 *   scalar MODE DTYPE BYTES
 *   python KIND HEX [HEX]               bool, int, uint, float, complex
 *   as FORM PRECISION KEEP HEX
 *   format positional|scientific DTYPE HEX SHORTEST FRACTIONAL MOST LEAST TRIM PLUS LEFT RIGHT EXPONENT
 *   read TEXT                           answers with the double's bits and how many characters were read
 * Each answer is a line with its length, the text, and a line's end. */
#include "frontend/print/decimal.h"
#include "frontend/print/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 16];
static const char *word(void)
{
    const char *w = strtok(NULL, " \n");
    return w ? w : "";
}
static int64_t number(void) { return strtoll(word(), NULL, 10); }
static uint64_t pattern(void) { return strtoull(word(), NULL, 16); }
static kn_dtype dtype(void)
{
    const char *name = word();
    return dtype_named(name, strlen(name));
}

static char *bytes(size_t n)
{
    char *p = malloc(n ? n : 1);
    if (!p || fread(p, 1, n, stdin) != n)
        exit(3);
    return p;
}

static void do_array(text *out)
{
    const char *mode = word();
    host_array a = {.dtype = dtype(), .ndim = (int)number()};
    int64_t shape[NDIM_MAX], strides[NDIM_MAX];
    for (int i = 0; i < a.ndim; i++)
        shape[i] = number();
    for (int i = 0; i < a.ndim; i++)
        strides[i] = number();
    int64_t offset = number();
    size_t n = (size_t)number();
    print_options o = {.threshold = number(), .edgeitems = number(), .linewidth = number(), .precision = (int)number()};
    o.suppress = number();
    o.sign = word()[0];
    o.sign = o.sign == '_' ? ' ' : o.sign;
    o.floatmode = (float_mode)number();
    o.nanstr = word();
    o.infstr = word();
    message m = {0};
    const print_options *options = o.threshold < 0 ? NULL : &o;
    if (options && print_options_check(options, &m)) {
        fprintf(stderr, "%s\n", m.text);
        exit(3);
    }
    char *data = bytes(n);
    a.shape = shape;
    a.strides = strides;
    a.data = data + offset;
    if (strcmp(mode, "list") == 0)
        print_array_between(&a, options, ", ", 0, 0, out);
    else
        print_array(&a, options, strcmp(mode, "repr") == 0 ? PRINT_REPR : PRINT_STR, out);
    free(data);
}

static void do_scalar(text *out)
{
    print_mode mode = strcmp(word(), "repr") == 0 ? PRINT_REPR : PRINT_STR;
    kn_dtype t = dtype();
    char *data = bytes(dtype_size(t));
    print_scalar(t, data, mode, out);
    free(data);
}

static double as_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static void do_python(text *out)
{
    const char *kind = word();
    uint64_t bits = pattern();
    scalar s = {.kind = SCALAR_BOOL, .v.b = bits != 0};
    if (strcmp(kind, "int") == 0)
        s = (scalar){SCALAR_INT, {.i = (int64_t)bits}};
    else if (strcmp(kind, "uint") == 0)
        s = (scalar){SCALAR_UINT, {.u = bits}};
    else if (strcmp(kind, "float") == 0)
        s = (scalar){SCALAR_FLOAT, {.f = as_double(bits)}};
    else if (strcmp(kind, "complex") == 0)
        s = (scalar){SCALAR_COMPLEX, {.c = {as_double(bits), as_double(pattern())}}};
    print_python(s, out);
}

static void do_as(text *out)
{
    char form = word()[0];
    int precision = (int)number();
    bool keep = number();
    print_float_as(as_double(pattern()), form, precision, keep, out);
}

static void do_format(text *out)
{
    bool scientific = word()[0] == 's';
    kn_dtype t = dtype();
    uint64_t bits = pattern();
    binary_float x = binary_float_load(t, &bits);
    float_format f = {.digits = {.shortest = number()}};
    f.digits.fractional = number();
    f.digits.at_most = (int)number();
    f.digits.at_least = (int)number();
    f.trim = (float_trim)number();
    f.plus = number();
    f.pad_left = (int)number();
    f.pad_right = (int)number();
    f.exponent_digits = (int)number();
    (scientific ? float_scientific : float_positional)(&x, &f, out);
}

static void do_read(text *out)
{
    const char *s = word();
    double value = 0;
    const char *end = decimal_read(s, s + strlen(s), &value);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    text_add(out, "%016" PRIx64 " %d", bits, end ? (int)(end - s) : -1);
}

int main(void)
{
    static const struct { const char *name; void (*run)(text *out); } cases[] = {
        {"array", do_array}, {"scalar", do_scalar}, {"python", do_python}, {"as", do_as}, {"format", do_format}, {"read", do_read},
    };
    while (fgets(line, sizeof line, stdin)) {
        const char *what = strtok(line, " \n");
        text out = {0};
        text_addn(&out, "", 0);
        for (size_t i = 0; what && i < sizeof cases / sizeof *cases; i++)
            if (strcmp(what, cases[i].name) == 0)
                cases[i].run(&out);
        printf("%zu\n", out.len);
        fwrite(out.at, 1, out.len, stdout);
        putchar('\n');
        text_free(&out);
    }
    return 0;
}
