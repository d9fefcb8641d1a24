/* The object loader: code it loads runs; whatever else it is given, it answers. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "codegen/codegen.h"

/* An object as a compiler makes it, with constants, calls and a copy of memory. */
static char *object_from(const char *source, size_t *size) {
    char folder[] = "/tmp/kiln-loader-XXXXXX", path[64], command[256];
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.c", folder);
    FILE *f = fopen(path, "w");
    fputs(source, f);
    fclose(f);
    snprintf(command, sizeof command, "cc -O2 -fno-stack-protector -fcf-protection=none -fvisibility=hidden -c %s/a.c -o %s/a.o", folder, folder);
    cr_assert_eq(system(command), 0);
    snprintf(path, sizeof path, "%s/a.o", folder);
    f = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
    return bytes;
}

static const char good[] =
    "typedef unsigned long u64; typedef long i64;\n"
    "void *memcpy(void *, const void *, u64);\n"
    "static const double factor[4] = { 1.5, 2.5, 3.5, 4.5 };\n"
    "__attribute__((noinline)) static double twice(double x) { return x * factor[(i64)x & 3] + 0.125; }\n"
    "void kernel(const u64 *args, i64 lo, i64 hi, u64 *fault) {\n"
    "    double *out = (double *)args[0]; const double *in = (const double *)args[1];\n"
    "    for (i64 i = lo; i < hi; i++) out[i] = twice(in[i]);\n"
    "    memcpy((char *)args[2], (const char *)args[0], (u64)(hi - lo) * args[3]);\n"
    "    (void)fault;\n"
    "}\n";

Test(loader, code_runs) {
    size_t n;
    char *object = object_from(good, &n);
    cpu_code *code;
    message m = { 0 };
    cr_assert_eq(code_load(object, n, "kernel", &code, &m), KN_OK, "%s", m.text);
    double in[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, out[8] = { 0 }, copy[8] = { 0 };
    uint64_t args[] = { (uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)in, (uint64_t)(uintptr_t)copy, sizeof(double) }, fault = FAULT_NONE;
    code_entry(code)(args, 0, 8, &fault);
    static const double factor[4] = { 1.5, 2.5, 3.5, 4.5 };
    for (int i = 0; i < 8; i++) {
        cr_expect_eq(out[i], in[i] * factor[i & 3] + .125, "element %d is %g", i, out[i]);
        cr_expect_eq(copy[i], out[i]);
    }
    code_free(code);
    cr_expect_neq(code_load(object, n, "colonel", &code, &m), KN_OK);
    cr_expect_eq(code, NULL);
    free(object);
}

Test(loader, a_foreign_function_is_not_provided) {
    size_t n;
    char *object = object_from("double sin(double); void kernel(const unsigned long *a, long lo, long hi, unsigned long *f) { (void)lo; (void)hi; (void)f; *(double *)a[0] = sin(*(double *)a[0]); }\n", &n);
    cpu_code *code;
    message m = { 0 };
    cr_expect_eq(code_load(object, n, "kernel", &code, &m), KN_NOT_AVAILABLE);
    cr_expect(strstr(m.text, "sin") != NULL, "%s", m.text);
    free(object);
}

Test(loader, data_that_changes_is_refused) {
    size_t n;
    char *object = object_from("int count = 3; void kernel(const unsigned long *a, long lo, long hi, unsigned long *f) { (void)a; (void)lo; (void)hi; (void)f; count++; }\n", &n);
    cpu_code *code;
    cr_expect_neq(code_load(object, n, "kernel", &code, NULL), KN_OK);
    free(object);
}

/* Code that loads in spite of the damage is not run: what is asked here is that the loader itself stays within bounds. */
Test(loader, any_damaged_byte_is_survived) {
    size_t n;
    char *object = object_from(good, &n);
    for (size_t i = 0; i < n; i++)
        for (int v = 0; v < 4; v++) {
            static const unsigned char patterns[] = { 0xff, 0x80, 0x01, 0x55 };
            char *copy = malloc(n);                       /* its own block: reads past the end are seen by sanitizers */
            memcpy(copy, object, n);
            copy[i] = (char)(copy[i] ^ (char)patterns[v]);
            cpu_code *code = NULL;
            if (code_load(copy, n, "kernel", &code, NULL) == KN_OK) code_free(code);
            free(copy);
        }
    free(object);
}

Test(loader, any_length_is_survived) {
    size_t n;
    char *object = object_from(good, &n);
    for (size_t cut = 0; cut < n; cut++) {
        char *copy = malloc(cut ? cut : 1);
        memcpy(copy, object, cut);
        cpu_code *code = NULL;
        if (code_load(copy, cut, "kernel", &code, NULL) == KN_OK) code_free(code);
        free(copy);
    }
    free(object);
}

Test(loader, a_failing_allocation_is_an_error) {
    size_t n;
    char *object = object_from(good, &n);
    for (int64_t k = 1; k < 6; k++) {
        cpu_code *code = NULL;
        message m = { 0 };
        mem_fail_after(k, true);
        kn_status status = code_load(object, n, "kernel", &code, &m);
        mem_fail_after(-1, false);
        if (status == KN_OK) code_free(code);
        else cr_expect_eq(status, KN_MEMORY_ERROR);
    }
    free(object);
}
