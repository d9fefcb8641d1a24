/* files.h: arrays in files: .npy, .npz, and tables as text (.csv, .tsv, .txt).
 *
 * Reading has two steps, so that the caller owns the memory: array_file_header says what an array needs, array_file_read
 * fills it. What a file claims is checked against its size before anything is allocated or asked for. Writing replaces
 * the file whole or not at all. Failures give KN_FILE_ERROR (the system refuses), KN_VALUE_ERROR (the contents are broken),
 * KN_TYPE_ERROR (a dtype that Kiln does not have), KN_KEY_ERROR (no such member) or KN_MEMORY_ERROR, each with a sentence
 * that names the file. Any number of threads may use different array_files; one array_file belongs to one at a time. */
#ifndef KILN_FILES_FILES_H
#define KILN_FILES_FILES_H
#include "frontend/host.h"

/* ---- array_file.c: reading ---- */

typedef struct array_file array_file;
typedef enum { FILE_NPY, FILE_NPZ, FILE_TABLE } file_kind;

/* How a table is read. All zero: everything is found out. */
typedef struct table_options {
    char delimiter;         /* 0: the one that the first lines agree on; ' ' stands for any run of spaces and tabs */
    enum { HEADER_GUESS, HEADER_YES, HEADER_NO } header;   /* guess: the first line names columns when it holds words */
} table_options;

typedef struct array_header {
    kn_dtype dtype;
    int ndim;
    int64_t shape[NDIM_MAX];
    bool fortran;           /* the bytes are those of the transposed array, in C order: reverse the shape, then transpose */
    int64_t count;          /* of elements */
    int64_t bytes;          /* that array_file_read writes */
} array_header;

/* Opens a file and finds out what it is: .npy and .npz by their first bytes, tables by their names. options may be NULL. */
kn_status array_file_open(const char *path, const table_options *options, array_file **file, message *m);
void array_file_close(array_file *file); /* NULL is fine */
file_kind array_file_kind(const array_file *file);

/* The arrays in the file: one, or the members of an .npz in their order there. Names are those of the members without
 * ".npy"; an .npy file and a table have none (""). */
size_t array_file_count(const array_file *file);
const char *array_file_name(const array_file *file, size_t index);
kn_status array_file_find(const array_file *file, const char *name, size_t *index, message *m);

kn_status array_file_header(array_file *file, size_t index, array_header *header, message *m);
/* Fills `to`, in native byte order; bytes is header->bytes, and `to` has as many. What it holds after a failure is
 * unspecified. An .npz member is checked against its checksum here, not by array_file_header. */
kn_status array_file_read(array_file *file, size_t index, void *to, int64_t bytes, message *m);

/* The names of a table's columns; 0 when it has none. */
size_t array_file_columns(const array_file *file);
const char *array_file_column(const array_file *file, size_t index);

/* ---- array_save.c: writing ---- */

typedef struct save_options {
    bool compress;                  /* .npz: deflate the members, through zlib; KN_NOT_AVAILABLE when there is none */
    char delimiter;                 /* tables; 0: a comma for .csv, a tab for .tsv, a space otherwise */
    const char *const *columns;     /* tables: names for a first line, one a column; NULL: no such line */
    size_t ncolumns;
} save_options;

/* Writes arrays by the path's ending: .npz any number of them, named; .csv, .tsv and .txt one of at most two axes, an axis
 * alone as a column; anything else is .npy, one. A name that is NULL stands for arr_0, arr_1 ... options may be NULL. */
typedef struct save_item {
    const char *name;
    host_array array;
} save_item;
kn_status array_save(const char *path, const save_item *items, size_t n, const save_options *options, message *m);
#endif
