/* table_write.c: an array of one or two axes as a table in text.
 *
 * How it works: as np.savetxt, a row a line and a single axis as a column, but every number has the fewest digits that read
 * back as the same number, and integers have no point. Booleans are 0 and 1. */
#include "frontend/files/internal.h"
#include "frontend/print/print.h"

#include <string.h>

enum { FLUSH = 1 << 16 };

/* Hands on what has gathered once it is worth a call, or at the end. */
static kn_status flush(text *t, bool end, output *out, message *m)
{
    if (t->failed)
        return fail_memory(m, "writing a table");
    if (t->len < FLUSH && !end)
        return KN_OK;
    kn_status status = output_write(out, t->at, t->len, m);
    t->len = 0;
    return status;
}

/* A column's name, in quotes where it would be read otherwise. */
static void put_name(text *t, const char *name, char delimiter)
{
    const char special[] = {delimiter, '"', '#', '\n', '\r', delimiter == ' ' ? '\t' : ' ', 0};
    if (*name && !strpbrk(name, special)) {
        text_addn(t, name, strlen(name));
        return;
    }
    text_addn(t, "\"", 1);
    for (; *name; name++)
        text_addn(t, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    text_addn(t, "\"", 1);
}

static void put_element(text *t, kn_dtype dtype, const char *element)
{
    if (dtype == KN_BOOL)
        text_addn(t, element_load(dtype, element).v.b ? "1" : "0", 1);
    else
        print_scalar(dtype, element, PRINT_STR, t);
}

kn_status table_save(output *out, const host_array *a, char delimiter, const char *const *columns, size_t ncolumns, message *m)
{
    if (a->ndim > 2)
        return fail(m, KN_VALUE_ERROR, "cannot write '%s': a table has at most 2 axes, and the array has %d", out->path, a->ndim);
    int64_t rows = a->ndim > 0 ? a->shape[0] : 1, width = a->ndim > 1 ? a->shape[1] : 1;
    int64_t down = a->ndim > 0 ? a->strides[0] : 0, across = a->ndim > 1 ? a->strides[1] : 0;
    if (columns && (uint64_t)ncolumns != (uint64_t)width)
        return fail(m, KN_VALUE_ERROR, "cannot write '%s': %zu names for %lld columns", out->path, ncolumns, (long long)width);
    text t = {0};
    kn_status status = KN_OK;
    for (size_t i = 0; columns && i < ncolumns; i++) {
        if (i > 0)
            text_addn(&t, &delimiter, 1);
        put_name(&t, columns[i], delimiter);
    }
    if (columns)
        text_addn(&t, "\n", 1);
    for (int64_t row = 0; row < rows && status == KN_OK; row++) {
        for (int64_t column = 0; column < width && status == KN_OK; column++) {
            if (column > 0)
                text_addn(&t, &delimiter, 1);
            put_element(&t, a->dtype, (const char *)a->data + row * down + column * across);
            status = flush(&t, false, out, m);
        }
        text_addn(&t, "\n", 1);
    }
    if (status == KN_OK)
        status = flush(&t, true, out, m);
    text_free(&t);
    return status;
}
