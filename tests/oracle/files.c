/* Reads and writes array files for test_files.py to compare with NumPy.
 *
 * Standard input holds requests, a line of words each:
 *   load PATH
 *   save PATH COMPRESS DELIMITER COLUMNS N, then for each of N arrays a line
 *        NAME DTYPE NDIM SHAPE... STRIDES... OFFSET BYTES   and the bytes; the name - is none, DELIMITER 0 the usual one,
 *        COLUMNS a list with | between, or -
 * Answers: "error STATUS SENTENCE", or "ok"; to load "ok KIND COUNT COLUMNS..." (| between,
 * ~ for a line's end), then for each array a line
 * "NAME DTYPE FORTRAN NDIM SHAPE... BYTES" and the bytes. */
#include "frontend/files/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 18];
static const char *word(void)
{
    const char *w = strtok(NULL, " \n");
    return w ? w : "";
}
static int64_t number(void) { return strtoll(word(), NULL, 10); }

static void *allocate(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        exit(3);
    return p;
}

static void say_error(kn_status status, const message *m)
{
    printf("error %s %s\n", status_name(status), m->text);
}

static void send_array(array_file *f, size_t i)
{
    message m = {0};
    array_header h;
    kn_status status = array_file_header(f, i, &h, &m);
    char *data = status == KN_OK ? allocate((size_t)h.bytes) : NULL;
    if (status == KN_OK)
        status = array_file_read(f, i, data, h.bytes, &m);
    if (status != KN_OK) {
        say_error(status, &m);
    } else {
        printf("%s %s %d %d", *array_file_name(f, i) ? array_file_name(f, i) : "-", dtype_table[h.dtype].name, h.fortran, h.ndim);
        for (int axis = 0; axis < h.ndim; axis++)
            printf(" %" PRId64, h.shape[axis]);
        printf(" %" PRId64 "\n", h.bytes);
        fwrite(data, 1, (size_t)h.bytes, stdout);
    }
    free(data);
}

static void load(void)
{
    static const char *const kinds[] = {"npy", "npz", "table"};
    message m = {0};
    array_file *f;
    kn_status status = array_file_open(word(), NULL, &f, &m);
    if (status != KN_OK) {
        say_error(status, &m);
        return;
    }
    printf("ok %s %zu", kinds[array_file_kind(f)], array_file_count(f));
    for (size_t i = 0; i < array_file_columns(f); i++) {
        putchar('|');
        for (const char *p = array_file_column(f, i); *p; p++)
            putchar(*p == '\n' ? '~' : *p);
    }
    printf("\n");
    for (size_t i = 0; i < array_file_count(f); i++)
        send_array(f, i);
    array_file_close(f);
}

typedef struct held {
    char name[64];
    int64_t shape[NDIM_MAX], strides[NDIM_MAX];
    char *data;
} held;

static void receive(save_item *item, held *h)
{
    if (!fgets(line, sizeof line, stdin))
        exit(3);
    snprintf(h->name, sizeof h->name, "%s", strtok(line, " \n"));
    const char *dtype = word();
    host_array a = {.dtype = dtype_named(dtype, strlen(dtype)), .ndim = (int)number(), .shape = h->shape, .strides = h->strides};
    for (int i = 0; i < a.ndim; i++)
        h->shape[i] = number();
    for (int i = 0; i < a.ndim; i++)
        h->strides[i] = number();
    int64_t offset = number();
    size_t n = (size_t)number();
    h->data = allocate(n);
    if (fread(h->data, 1, n, stdin) != n)
        exit(3);
    a.data = h->data + offset;
    *item = (save_item){strcmp(h->name, "-") == 0 ? NULL : h->name, a};
}

static void save(void)
{
    enum { LARGEST = 64 };
    static char path[4096], columns[4096];
    static held arrays[LARGEST];
    save_item items[LARGEST];
    const char *names[LARGEST];
    snprintf(path, sizeof path, "%s", word());
    save_options o = {.compress = number()};
    o.delimiter = word()[0];
    o.delimiter = o.delimiter == '0' ? 0 : o.delimiter == '_' ? ' ' : o.delimiter;
    snprintf(columns, sizeof columns, "%s", word());
    size_t n = (size_t)number();
    for (size_t i = 0; i < n && i < LARGEST; i++)
        receive(&items[i], &arrays[i]);
    if (strcmp(columns, "-") != 0) {
        o.columns = names;
        for (char *p = strtok(columns, "|"); p && o.ncolumns < LARGEST; p = strtok(NULL, "|"))
            names[o.ncolumns++] = p;
    }
    message m = {0};
    kn_status status = array_save(path, items, n, &o, &m);
    if (status != KN_OK)
        say_error(status, &m);
    else
        printf("ok\n");
    for (size_t i = 0; i < n; i++)
        free(arrays[i].data);
}

int main(void)
{
    while (fgets(line, sizeof line, stdin)) {
        const char *what = strtok(line, " \n");
        if (what && strcmp(what, "load") == 0)
            load();
        else if (what && strcmp(what, "save") == 0)
            save();
        fflush(stdout);
    }
    return 0;
}
