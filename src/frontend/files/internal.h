/* internal.h: what the files of this folder share; sectioned by the file that owns each part. */
#ifndef KILN_FILES_INTERNAL_H
#define KILN_FILES_INTERNAL_H
#include "frontend/files/files.h"

/* ---- array_file.c: what a path's ending says ---- */

bool path_is_archive(const char *path);
char path_table_delimiter(const char *path); /* 0: its ending is not a table's */

/* ---- input.c: reading a regular file ---- */

typedef struct input {
    int fd;
    int64_t size;       /* when it was opened; reading past it is an error */
    const char *path;   /* borrowed, for sentences */
} input;
kn_status input_open(const char *path, input *in, message *m);
void input_close(input *in);
/* Exactly n bytes from `offset` on. */
kn_status input_read(const input *in, int64_t offset, void *to, size_t n, message *m);
/* Sets "cannot read 'path': ..." and returns status. */
kn_status input_fail(const input *in, kn_status status, message *m, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A run of bytes taken one after the other: part of a file, or what a zip member inflates to. */
typedef struct byte_stream byte_stream;
struct byte_stream {
    kn_status (*take)(byte_stream *s, void *to, size_t n, message *m); /* exactly n bytes */
    const input *in;
    int64_t left;       /* bytes that can still be taken */
    int64_t offset;     /* of the next one in the file, where bytes are stored as they are */
};
byte_stream byte_stream_of(const input *in, int64_t offset, int64_t length);

/* ---- output.c: a file that appears whole or not at all ---- */

typedef struct output {
    int fd;
    int64_t offset;     /* bytes written so far */
    bool in_place;      /* not a regular file, or no room for a temporary one beside it: written directly */
    char *temporary;    /* the temporary file's path; owned */
    char *target;       /* what it becomes; owned */
    const char *path;   /* as the caller named it; borrowed */
} output;
kn_status output_open(const char *path, output *out, message *m);
kn_status output_write(output *out, const void *from, size_t n, message *m);
kn_status output_rewrite(output *out, int64_t offset, const void *from, size_t n, message *m);
kn_status output_commit(output *out, message *m);
void output_abandon(output *out); /* after commit, or instead of it: frees, and removes what was not committed */

/* ---- npy_header.c ---- */

enum { NPY_HEADER_MAX = 65535, NPY_WRITTEN_MAX = 4096 };

typedef struct npy_header {
    array_header array;
    bool swapped;       /* the other byte order than this machine's */
} npy_header;
/* Takes the header off the stream. What the stream has left holds the array's bytes, or the header is refused. */
kn_status npy_header_take(byte_stream *s, npy_header *h, message *m);
/* The bytes of a header as np.save writes them; returns how many. */
size_t npy_header_format(kn_dtype dtype, bool fortran, int ndim, const int64_t *shape, char out[NPY_WRITTEN_MAX]);

/* ---- npy.c ---- */

kn_status npy_data_take(byte_stream *s, const npy_header *h, void *to, message *m);

/* An array's elements in the order of an .npy file, handed on in pieces. */
typedef kn_status piece_sink(void *context, const void *piece, size_t n, message *m);
kn_status npy_write(const host_array *a, piece_sink *sink, void *context, message *m);

/* ---- inflate.c: RFC 1951 ---- */

typedef struct inflater inflater;
inflater *inflater_new(const input *in, int64_t offset, int64_t length); /* NULL: no memory */
void inflater_free(inflater *z);
kn_status inflater_take(inflater *z, void *to, size_t n, message *m);
/* ValueError unless the stream has ended here, with all its input used. */
kn_status inflater_finish(inflater *z, message *m);

/* ---- crc.c: the checksum of zip members ---- */

typedef struct crc_table { uint32_t row[8][256]; } crc_table;
void crc_table_make(crc_table *t);
uint32_t crc_add(const crc_table *t, uint32_t crc, const void *bytes, size_t n); /* starts from 0 */

/* ---- the zip format: sizes without names and extra fields, and the values of fields ---- */

enum {
    ZIP_LOCAL = 30, ZIP_ENTRY = 46, ZIP_END = 22, ZIP_END64 = 56, ZIP_LOCATOR64 = 20,
    ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_ENCRYPTED = 1, ZIP_UTF8 = 0x800, ZIP_EXTRA64 = 1
};

/* ---- zip_read.c ---- */

typedef struct zip_member {
    char *name;             /* without ".npy"; owned */
    int64_t offset;         /* of the local header */
    int64_t packed, size;
    uint32_t crc;
    uint16_t method, flags;
    uint16_t name_length;   /* in the archive */
} zip_member;
typedef struct zip_archive {
    input in;
    size_t count;
    zip_member *members;    /* those that end in .npy; owned */
    int64_t directory;      /* where the central directory starts */
    crc_table crc;
} zip_archive;
kn_status zip_open(const input *in, zip_archive *zip, message *m); /* takes `in` over, also on failure */
void zip_close(zip_archive *zip);

/* A member being read; the checksum runs along. */
typedef struct zip_stream {
    byte_stream stream;     /* first, so that a byte_stream is a zip_stream */
    const zip_archive *zip;
    const zip_member *member;
    inflater *inflate;      /* NULL: stored */
    uint32_t crc;
} zip_stream;
kn_status zip_stream_open(const zip_archive *zip, const zip_member *member, zip_stream *s, message *m);
kn_status zip_stream_finish(zip_stream *s, message *m); /* everything taken, and the checksum is right */
void zip_stream_close(zip_stream *s);

/* ---- zip_write.c ---- */

kn_status npz_save(output *out, const save_item *items, size_t n, bool compress, message *m);

/* ---- table_read.c ---- */

typedef struct table {
    const input *in;
    char *text;             /* the whole file and a NUL; owned */
    size_t length, start;   /* start: of the first row of numbers */
    int64_t start_line;     /* its line, from 1 */
    char delimiter;
    kn_dtype dtype;
    int64_t rows, columns;
    char **names;           /* one a column, or NULL; owned */
} table;
kn_status table_open(const input *in, const table_options *options, table *t, message *m);
kn_status table_fill(const table *t, void *to, message *m);
void table_close(table *t);

/* ---- table_write.c ---- */

kn_status table_save(output *out, const host_array *a, char delimiter, const char *const *columns, size_t ncolumns, message *m);
#endif
