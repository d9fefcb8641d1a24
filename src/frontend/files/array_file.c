/* array_file.c: one way to read all the formats.
 *
 * How it works: an array_file is an open .npy file, an open archive or a table read into memory; its arrays are numbered,
 * and each request goes to the format's own file here. Headers are read anew at each request: nothing is kept that a
 * caller would have to invalidate. */
#include "frontend/files/internal.h"

#include <inttypes.h>
#include <string.h>

struct array_file {
    file_kind kind;
    char *path;             /* owned; every sentence names it */
    input in;               /* .npy and tables; an archive has taken it over */
    zip_archive zip;
    table table;
};

/* Whether the path ends in `ending`, in whatever case. */
static bool path_ends(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    if (n < k)
        return false;
    for (size_t i = 0; i < k; i++) {
        char c = path[n - k + i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != ending[i])
            return false;
    }
    return true;
}

char path_table_delimiter(const char *path)
{
    return path_ends(path, ".csv") ? ',' : path_ends(path, ".tsv") ? '\t' : path_ends(path, ".txt") ? ' ' : 0;
}

bool path_is_archive(const char *path)
{
    return path_ends(path, ".npz");
}

static kn_status open_as(array_file *f, const table_options *options, message *m)
{
    char start[6] = {0};
    size_t n = f->in.size < (int64_t)sizeof start ? (size_t)f->in.size : sizeof start;
    kn_status status = input_read(&f->in, 0, start, n, m);
    if (status != KN_OK)
        return status;
    bool npy = memcmp(start, "\x93NUMPY", 6) == 0;
    bool zip = memcmp(start, "PK\3\4", 4) == 0 || memcmp(start, "PK\5\6", 4) == 0;
    if (npy || (!zip && path_ends(f->path, ".npy"))) {
        f->kind = FILE_NPY;
        return KN_OK;
    }
    if (zip || path_is_archive(f->path)) {
        input in = f->in;
        f->kind = FILE_NPZ;
        f->in.fd = -1;
        return zip_open(&in, &f->zip, m);
    }
    if (!path_table_delimiter(f->path))
        return input_fail(&f->in, KN_VALUE_ERROR, m, "it is neither .npy nor .npz, and its name does not end in .csv, .tsv or .txt");
    f->kind = FILE_TABLE;
    return table_open(&f->in, options, &f->table, m);
}

kn_status array_file_open(const char *path, const table_options *options, array_file **file, message *m)
{
    *file = NULL;
    array_file *f = mem_zero(1, sizeof *f);
    char *copy = mem_text(path);
    if (!f || !copy) {
        mem_free(f);
        mem_free(copy);
        return fail_memory(m, "opening a file");
    }
    f->path = copy;
    kn_status status = input_open(f->path, &f->in, m);
    f->zip.in.fd = -1;
    if (status == KN_OK)
        status = open_as(f, options, m);
    if (status == KN_OK)
        *file = f;
    else
        array_file_close(f);
    return status;
}

void array_file_close(array_file *f)
{
    if (!f)
        return;
    table_close(&f->table);
    zip_close(&f->zip);
    input_close(&f->in);
    mem_free(f->path);
    mem_free(f);
}

file_kind array_file_kind(const array_file *f)
{
    return f->kind;
}

size_t array_file_count(const array_file *f)
{
    return f->kind == FILE_NPZ ? f->zip.count : 1;
}

const char *array_file_name(const array_file *f, size_t index)
{
    return f->kind == FILE_NPZ && index < f->zip.count ? f->zip.members[index].name : "";
}

kn_status array_file_find(const array_file *f, const char *name, size_t *index, message *m)
{
    for (size_t i = 0; i < array_file_count(f); i++)
        if (f->kind == FILE_NPZ && strcmp(f->zip.members[i].name, name) == 0) {
            *index = i;
            return KN_OK;
        }
    return fail(m, KN_KEY_ERROR, "'%s' holds no array named '%s'", f->path, name);
}

/* ---- headers and elements ---- */

static kn_status check_index(const array_file *f, size_t index, message *m)
{
    if (index < array_file_count(f))
        return KN_OK;
    return fail(m, KN_INDEX_ERROR, "'%s' holds %zu arrays, so there is none with the number %zu", f->path, array_file_count(f), index);
}

static void table_header(const table *t, array_header *h)
{
    *h = (array_header){.dtype = t->dtype, .ndim = t->columns == 1 ? 1 : 2, .count = t->rows * t->columns};
    h->shape[0] = t->rows;
    h->shape[1] = t->columns == 1 ? 0 : t->columns;
    h->bytes = h->count * (int64_t)dtype_size(t->dtype);
}

/* Another process may have written the file since the caller asked for the header. */
static kn_status check_bytes(const array_file *f, int64_t needed, int64_t bytes, message *m)
{
    if (needed == bytes)
        return KN_OK;
    return fail(m, KN_FILE_ERROR, "cannot read '%s': its array has %" PRId64 " bytes now, not %" PRId64, f->path, needed, bytes);
}

/* The header of an .npy file or a member, and its elements too unless bytes is -1. */
static kn_status take_npy(array_file *f, size_t index, npy_header *h, void *to, int64_t bytes, message *m)
{
    byte_stream file = byte_stream_of(&f->in, 0, f->in.size), *s = &file;
    zip_stream member = {.inflate = NULL};
    kn_status status = KN_OK;
    if (f->kind == FILE_NPZ) {
        status = zip_stream_open(&f->zip, &f->zip.members[index], &member, m);
        s = &member.stream;
    }
    if (status == KN_OK)
        status = npy_header_take(s, h, m);
    if (status == KN_OK && bytes >= 0) {
        status = check_bytes(f, h->array.bytes, bytes, m);
        if (status == KN_OK)
            status = npy_data_take(s, h, to, m);
        if (status == KN_OK && f->kind == FILE_NPZ)
            status = zip_stream_finish(&member, m);
    }
    zip_stream_close(&member);
    return status;
}

kn_status array_file_header(array_file *f, size_t index, array_header *header, message *m)
{
    npy_header h;
    kn_status status = check_index(f, index, m);
    *header = (array_header){.dtype = KN_DTYPE_UNSET};
    if (status != KN_OK)
        return status;
    if (f->kind == FILE_TABLE) {
        table_header(&f->table, header);
        return KN_OK;
    }
    status = take_npy(f, index, &h, NULL, -1, m);
    if (status == KN_OK)
        *header = h.array;
    return status;
}

kn_status array_file_read(array_file *f, size_t index, void *to, int64_t bytes, message *m)
{
    npy_header h;
    array_header header;
    kn_status status = check_index(f, index, m);
    if (status != KN_OK)
        return status;
    if (f->kind != FILE_TABLE)
        return take_npy(f, index, &h, to, bytes, m);
    table_header(&f->table, &header);
    status = check_bytes(f, header.bytes, bytes, m);
    return status == KN_OK ? table_fill(&f->table, to, m) : status;
}

size_t array_file_columns(const array_file *f)
{
    return f->kind == FILE_TABLE && f->table.names ? (size_t)f->table.columns : 0;
}

const char *array_file_column(const array_file *f, size_t index)
{
    return index < array_file_columns(f) ? f->table.names[index] : "";
}
