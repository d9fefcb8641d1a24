/* zip_write.c: .npz archives, as np.savez and np.savez_compressed write them.
 *
 * How it works: a stored member is gone through twice, once for its size and checksum and once for its bytes, so that an
 * archive can be written to a pipe; a deflated one is written once, and its local header is corrected afterwards. Sizes
 * stand in zip64 fields where they need more than 32 bits. Times are left out: equal arrays make equal files. */
#include "frontend/files/internal.h"
#include "frontend/files/zlib.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_ROOM = 4096, EXTRA_ROOM = 32, SUFFIX = 4, OUT_BUFFER = 1 << 16,
    VERSION_PLAIN = 20, VERSION_ZIP64 = 45, MADE_BY = 3 << 8 | VERSION_ZIP64, /* Unix: permissions count */
    DOS_DATE = 1 << 5 | 1 /* 1 January 1980 */
};
/* Deflating can make a member a little longer, so it counts as large early. */
static const int64_t wide_from = INT64_C(0xf0000000);

typedef struct entry {
    char *name;             /* with ".npy"; owned */
    int64_t offset, packed, size;
    uint32_t crc;
    bool wide;              /* its sizes stand in a zip64 field */
} entry;

typedef struct writer {
    output *out;
    crc_table crc;
    zlib z;                 /* handle NULL: members are stored */
    zlib_stream stream;
    entry *current;
} writer;

/* ---- bytes ---- */

static unsigned char *put16(unsigned char *p, unsigned v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
    return p + 2;
}

static unsigned char *put32(unsigned char *p, uint32_t v)
{
    return put16(put16(p, v & 0xffff), v >> 16);
}

static unsigned char *put64(unsigned char *p, int64_t v)
{
    return put32(put32(p, (uint32_t)v), (uint32_t)((uint64_t)v >> 32));
}

static unsigned char *put_tag(unsigned char *p, const char *tag)
{
    memcpy(p, tag, 4);
    return p + 4;
}

/* What a field of 32 bits says: all ones when the number stands in a zip64 field. */
static uint32_t field32(int64_t v)
{
    return v >= UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static unsigned flags_of(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name >= 0x80)
            return ZIP_UTF8;
    return 0;
}

/* From the version to the sizes: what a local header and an entry of the directory have in common. */
static unsigned char *put_common(const writer *w, const entry *e, unsigned char *p)
{
    p = put16(p, e->wide || e->offset >= UINT32_MAX ? VERSION_ZIP64 : VERSION_PLAIN);
    p = put16(p, flags_of(e->name));
    p = put16(p, w->z.handle ? ZIP_DEFLATED : ZIP_STORED);
    p = put16(p, 0);
    p = put16(p, DOS_DATE);
    p = put32(p, e->crc);
    p = put32(p, e->wide ? UINT32_MAX : (uint32_t)e->packed);
    p = put32(p, e->wide ? UINT32_MAX : (uint32_t)e->size);
    return put16(p, (unsigned)strlen(e->name));
}

static size_t put_local(const writer *w, const entry *e, unsigned char out[ZIP_LOCAL + NAME_ROOM + EXTRA_ROOM])
{
    unsigned char *p = put_common(w, e, put_tag(out, "PK\3\4"));
    size_t name = strlen(e->name);
    p = put16(p, e->wide ? 20 : 0);
    memcpy(p, e->name, name);
    p += name;
    if (e->wide)
        p = put64(put64(put16(put16(p, ZIP_EXTRA64), 16), e->size), e->packed);
    return (size_t)(p - out);
}

static size_t put_entry(const writer *w, const entry *e, unsigned char out[ZIP_ENTRY + NAME_ROOM + EXTRA_ROOM])
{
    unsigned char *p = put_common(w, e, put16(put_tag(out, "PK\1\2"), MADE_BY));
    size_t name = strlen(e->name);
    bool far = e->offset >= UINT32_MAX;
    unsigned extra = (e->wide ? 16 : 0) + (far ? 8 : 0);
    p = put16(p, extra ? extra + 4 : 0);
    p = put16(put16(put16(p, 0), 0), 0);    /* comment, disk, kind of text */
    p = put32(p, UINT32_C(0600) << 16);     /* permissions */
    p = put32(p, field32(e->offset));
    memcpy(p, e->name, name);
    p += name;
    if (extra)
        p = put16(put16(p, ZIP_EXTRA64), extra);
    if (e->wide)
        p = put64(put64(p, e->size), e->packed);
    if (far)
        p = put64(p, e->offset);
    return (size_t)(p - out);
}

/* ---- zlib ---- */

static kn_status zlib_open(zlib *z, message *m)
{
    *z = (zlib){.handle = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (!z->handle)
        return fail(m, KN_NOT_AVAILABLE, "writing a compressed .npz needs zlib (libz.so.1): install the package zlib1g or zlib");
    *(void **)&z->deflateInit2_ = dlsym(z->handle, "deflateInit2_");
    *(void **)&z->deflate = dlsym(z->handle, "deflate");
    *(void **)&z->deflateEnd = dlsym(z->handle, "deflateEnd");
    if (z->deflateInit2_ && z->deflate && z->deflateEnd)
        return KN_OK;
    dlclose(z->handle);
    z->handle = NULL;
    return fail(m, KN_NOT_AVAILABLE, "libz.so.1 lacks deflate: install zlib 1.2 or later");
}

/* Gives the stream n bytes and writes what comes out. */
static kn_status deflate_piece(writer *w, const void *piece, size_t n, int flush, message *m)
{
    unsigned char buffer[OUT_BUFFER];
    zlib_stream *s = &w->stream;
    s->next_in = piece;
    s->avail_in = (unsigned)n;
    int result;
    do {
        s->next_out = buffer;
        s->avail_out = sizeof buffer;
        result = w->z.deflate(s, flush);
        if (result != ZLIB_OK && result != ZLIB_STREAM_END && result != ZLIB_NO_PROGRESS)
            return fail(m, KN_RUNTIME_ERROR, "zlib could not compress a member of '%s' (its status is %d)", w->out->path, result);
        size_t made = sizeof buffer - s->avail_out;
        kn_status status = output_write(w->out, buffer, made, m);
        if (status != KN_OK)
            return status;
        w->current->packed += (int64_t)made;
    } while (s->avail_out == 0); /* else zlib has nothing left to say */
    return KN_OK;
}

static kn_status deflate_sink(void *context, const void *piece, size_t n, message *m)
{
    enum { LARGEST = 1 << 30 };
    kn_status status = KN_OK;
    for (const char *p = piece; n > 0 && status == KN_OK;) {
        size_t part = n < LARGEST ? n : LARGEST;
        status = deflate_piece(context, p, part, ZLIB_NO_FLUSH, m);
        p += part;
        n -= part;
    }
    return status;
}

/* ---- members ---- */

static kn_status measure_sink(void *context, const void *piece, size_t n, message *m)
{
    writer *w = context;
    (void)m;
    w->current->crc = crc_add(&w->crc, w->current->crc, piece, n);
    w->current->size += (int64_t)n;
    return KN_OK;
}

static kn_status store_sink(void *context, const void *piece, size_t n, message *m)
{
    writer *w = context;
    return output_write(w->out, piece, n, m);
}

static kn_status write_deflated(writer *w, const host_array *a, message *m)
{
    entry *e = w->current;
    unsigned char local[ZIP_LOCAL + NAME_ROOM + EXTRA_ROOM];
    w->stream = (zlib_stream){.next_in = NULL};
    int result = w->z.deflateInit2_(&w->stream, 6, ZLIB_DEFLATED, ZLIB_RAW, 8, 0, "1.2.0", (int)sizeof w->stream);
    if (result != ZLIB_OK)
        return fail(m, KN_MEMORY_ERROR, "zlib could not start to compress (its status is %d)", result);
    e->packed = 0;
    kn_status status = npy_write(a, deflate_sink, w, m);
    if (status == KN_OK)
        status = deflate_piece(w, NULL, 0, ZLIB_FINISH, m);
    w->z.deflateEnd(&w->stream);
    return status == KN_OK ? output_rewrite(w->out, e->offset, local, put_local(w, e, local), m) : status;
}

static kn_status write_member(writer *w, const host_array *a, message *m)
{
    unsigned char local[ZIP_LOCAL + NAME_ROOM + EXTRA_ROOM];
    entry *e = w->current;
    kn_status status = npy_write(a, measure_sink, w, m);
    e->packed = e->size;
    e->offset = w->out->offset;
    e->wide = e->size >= wide_from;
    if (status == KN_OK)
        status = output_write(w->out, local, put_local(w, e, local), m);
    if (status != KN_OK)
        return status;
    return w->z.handle ? write_deflated(w, a, m) : npy_write(a, store_sink, w, m);
}

static kn_status write_directory(const writer *w, const entry *entries, size_t n, message *m)
{
    unsigned char b[ZIP_ENTRY + NAME_ROOM + EXTRA_ROOM], *p = b;
    int64_t start = w->out->offset;
    for (size_t i = 0; i < n; i++) {
        kn_status status = output_write(w->out, b, put_entry(w, &entries[i], b), m);
        if (status != KN_OK)
            return status;
    }
    int64_t end = w->out->offset, size = end - start;
    if (n >= 0xffff || start >= UINT32_MAX || size >= UINT32_MAX) {
        p = put64(put_tag(p, "PK\6\6"), ZIP_END64 - 12);
        p = put32(put32(put16(put16(p, MADE_BY), VERSION_ZIP64), 0), 0);
        p = put64(put64(put64(put64(p, (int64_t)n), (int64_t)n), size), start);
        p = put32(put64(put32(put_tag(p, "PK\6\7"), 0), end), 1);
    }
    unsigned count = n >= 0xffff ? 0xffff : (unsigned)n;
    p = put16(put16(put16(put16(put_tag(p, "PK\5\6"), 0), 0), count), count);
    p = put16(put32(put32(p, field32(size)), field32(start)), 0);
    return output_write(w->out, b, (size_t)(p - b), m);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static kn_status refuse_equal_names(const entry *entries, size_t n, const char *path, message *m)
{
    const char **sorted = mem_array(n, sizeof *sorted);
    kn_status status = KN_OK;
    if (!sorted)
        return fail_memory(m, "writing an .npz archive");
    for (size_t i = 0; i < n; i++)
        sorted[i] = entries[i].name;
    qsort(sorted, n, sizeof *sorted, compare_names);
    for (size_t i = 1; i < n && status == KN_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = fail(m, KN_VALUE_ERROR, "cannot write '%s': two arrays in it have the name '%.*s'", path,
                          (int)strlen(sorted[i]) - SUFFIX, sorted[i]);
    mem_free(sorted);
    return status;
}

static kn_status name_members(entry *entries, const save_item *items, size_t n, const char *path, message *m)
{
    for (size_t i = 0; i < n; i++) {
        text name = {0};
        if (items[i].name)
            text_add(&name, "%s.npy", items[i].name);
        else
            text_add(&name, "arr_%zu.npy", i);
        if (name.failed) {
            text_free(&name);
            return fail_memory(m, "writing an .npz archive");
        }
        entries[i].name = name.at;
        if (name.len > NAME_ROOM)
            return fail(m, KN_VALUE_ERROR, "cannot write '%s': the name of an array in it has more than %d bytes", path, NAME_ROOM - SUFFIX);
    }
    return refuse_equal_names(entries, n, path, m);
}

kn_status npz_save(output *out, const save_item *items, size_t n, bool compress, message *m)
{
    writer w = {.out = out};
    crc_table_make(&w.crc);
    entry *entries = mem_zero(n, sizeof *entries);
    kn_status status = entries ? name_members(entries, items, n, out->path, m) : fail_memory(m, "writing an .npz archive");
    if (status == KN_OK && compress)
        status = zlib_open(&w.z, m);
    for (size_t i = 0; i < n && status == KN_OK; i++) {
        w.current = &entries[i];
        status = write_member(&w, &items[i].array, m);
    }
    if (status == KN_OK)
        status = write_directory(&w, entries, n, m);
    if (w.z.handle)
        dlclose(w.z.handle);
    for (size_t i = 0; entries && i < n; i++)
        mem_free(entries[i].name);
    mem_free(entries);
    return status;
}
