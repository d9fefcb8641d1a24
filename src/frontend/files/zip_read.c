/* zip_read.c: the members of a zip archive, as .npz files are.
 *
 * How it works: the directory at the archive's end is read whole (it is no longer than the file), and each entry's offsets
 * and sizes are checked against the file before they are used. A member is a byte_stream, stored or inflated, with its
 * checksum computed on the way. Other archives' features (encryption, several disks) are refused. */
#include "frontend/files/internal.h"

#include <inttypes.h>
#include <string.h>

enum {
    COMMENT_MAX = 65535,
    /* A length and a distance of one bit each make 258 bytes: no deflated data grow by more. */
    LARGEST_RATIO = 1032
};

static unsigned u16(const unsigned char *p) { return p[0] | (unsigned)p[1] << 8; }
static uint32_t u32(const unsigned char *p) { return u16(p) | (uint32_t)u16(p + 2) << 16; }
static uint64_t u64(const unsigned char *p) { return u32(p) | (uint64_t)u32(p + 4) << 32; }

static kn_status damaged(const input *in, const char *what, message *m)
{
    return input_fail(in, KN_VALUE_ERROR, m, "it is not a sound .npz archive: %s", what);
}

/* ---- the directory ---- */

typedef struct directory {
    uint64_t offset, size, entries;
} directory;

/* Directories of archives past 4 GiB or 65535 members: a second end record, found through the 20 bytes before the first. */
static kn_status read_end64(const input *in, int64_t end, directory *d, message *m)
{
    unsigned char b[ZIP_END64];
    if (end < ZIP_LOCATOR64)
        return KN_OK;
    kn_status status = input_read(in, end - ZIP_LOCATOR64, b, ZIP_LOCATOR64, m);
    if (status != KN_OK || memcmp(b, "PK\6\7", 4) != 0)
        return status;
    uint64_t at = u64(b + 8);
    if (at > (uint64_t)(end - ZIP_LOCATOR64) || (uint64_t)(end - ZIP_LOCATOR64) - at < ZIP_END64)
        return damaged(in, "its zip64 record lies outside the file", m);
    status = input_read(in, (int64_t)at, b, ZIP_END64, m);
    if (status != KN_OK)
        return status;
    if (memcmp(b, "PK\6\6", 4) != 0)
        return damaged(in, "its zip64 record is missing", m);
    *d = (directory){.entries = u64(b + 32), .size = u64(b + 40), .offset = u64(b + 48)};
    return KN_OK;
}

/* The end record is the last one whose comment reaches to the end of the file. */
static kn_status find_directory(const input *in, directory *d, message *m)
{
    int64_t room = in->size < ZIP_END + COMMENT_MAX ? in->size : ZIP_END + COMMENT_MAX;
    unsigned char *tail = mem_alloc((size_t)room);
    if (!tail)
        return fail_memory(m, "reading an .npz archive");
    kn_status status = input_read(in, in->size - room, tail, (size_t)room, m);
    int64_t at = room - ZIP_END;
    while (status == KN_OK && at >= 0 && (memcmp(tail + at, "PK\5\6", 4) != 0 || at + ZIP_END + u16(tail + at + 20) != room))
        at--;
    if (status == KN_OK && at < 0)
        status = damaged(in, "its directory is missing; the file may be cut short", m);
    if (status == KN_OK && (u16(tail + at + 4) != 0 || u16(tail + at + 6) != 0))
        status = damaged(in, "it spans several files", m);
    int64_t end = in->size - room + at;
    if (status == KN_OK) {
        *d = (directory){.entries = u16(tail + at + 10), .size = u32(tail + at + 12), .offset = u32(tail + at + 16)};
        status = read_end64(in, end, d, m);
    }
    if (status == KN_OK && (d->offset > (uint64_t)end || d->size > (uint64_t)end - d->offset))
        status = damaged(in, "its directory lies outside the file", m);
    mem_free(tail);
    return status;
}

/* Sizes that do not fit into 32 bits stand in the extra field, in this order, only those that are needed. */
static bool read_extra64(const unsigned char *p, size_t n, uint64_t *size, uint64_t *packed, uint64_t *offset)
{
    uint64_t *const want[] = {size, packed, offset};
    while (n >= 4) {
        unsigned kind = u16(p), length = u16(p + 2);
        p += 4;
        n -= 4;
        if (length > n)
            return false;
        if (kind == ZIP_EXTRA64) {
            const unsigned char *field = p, *end = p + length;
            for (int i = 0; i < 3; i++)
                if (*want[i] == UINT32_MAX) {
                    if (end - field < 8)
                        return false;
                    *want[i] = u64(field);
                    field += 8;
                }
        }
        p += length;
        n -= length;
    }
    return true;
}

/* One entry of the directory; *used is its length. Entries that are no .npy leave member->name NULL. */
static kn_status read_entry(const zip_archive *zip, const unsigned char *p, size_t left, zip_member *member, size_t *used, message *m)
{
    static const char suffix[] = ".npy";
    enum { SUFFIX = sizeof suffix - 1 };
    *member = (zip_member){.name = NULL};
    if (left < ZIP_ENTRY || memcmp(p, "PK\1\2", 4) != 0)
        return damaged(&zip->in, "an entry of its directory is missing", m);
    size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
    *used = ZIP_ENTRY + name + extra + comment;
    if (*used > left)
        return damaged(&zip->in, "an entry of its directory is cut short", m);
    uint64_t packed = u32(p + 20), size = u32(p + 24), offset = u32(p + 42);
    const char *full = (const char *)p + ZIP_ENTRY;
    if (!read_extra64(p + ZIP_ENTRY + name, extra, &size, &packed, &offset))
        return damaged(&zip->in, "an entry of its directory is not sound", m);
    if (name < SUFFIX || memcmp(full + name - SUFFIX, suffix, SUFFIX) != 0)
        return KN_OK;
    if (memchr(full, 0, name))
        return damaged(&zip->in, "a member's name holds a zero byte", m);
    if (offset >= (uint64_t)zip->directory || packed > (uint64_t)zip->directory - offset)
        return damaged(&zip->in, "a member lies outside the file", m);
    if (size / LARGEST_RATIO > packed)
        return damaged(&zip->in, "a member claims to be larger than its bytes can make it", m);
    *member = (zip_member){
        .name = mem_alloc(name - SUFFIX + 1), .offset = (int64_t)offset, .packed = (int64_t)packed, .size = (int64_t)size,
        .crc = u32(p + 16), .method = (uint16_t)u16(p + 10), .flags = (uint16_t)u16(p + 8), .name_length = (uint16_t)name,
    };
    if (!member->name)
        return fail_memory(m, "reading an .npz archive");
    memcpy(member->name, full, name - SUFFIX);
    member->name[name - SUFFIX] = 0;
    return KN_OK;
}

static kn_status read_directory(zip_archive *zip, const directory *d, message *m)
{
    if (d->entries > d->size / ZIP_ENTRY)
        return damaged(&zip->in, "its directory is too short for its members", m);
    unsigned char *bytes = mem_alloc((size_t)d->size);
    zip->members = mem_array((size_t)d->entries, sizeof *zip->members);
    kn_status status = bytes && zip->members ? input_read(&zip->in, (int64_t)d->offset, bytes, (size_t)d->size, m)
                                             : fail_memory(m, "reading an .npz archive");
    size_t at = 0;
    for (uint64_t i = 0; i < d->entries && status == KN_OK; i++) {
        size_t used = 0;
        zip_member *member = &zip->members[zip->count];
        status = read_entry(zip, bytes + at, (size_t)d->size - at, member, &used, m);
        zip->count += member->name != NULL;
        at += used;
    }
    mem_free(bytes);
    if (status == KN_OK && zip->count == 0)
        status = input_fail(&zip->in, KN_VALUE_ERROR, m, "it holds no arrays");
    return status;
}

kn_status zip_open(const input *in, zip_archive *zip, message *m)
{
    directory d = {0};
    *zip = (zip_archive){.in = *in};
    crc_table_make(&zip->crc);
    kn_status status = find_directory(&zip->in, &d, m);
    if (status == KN_OK) {
        zip->directory = (int64_t)d.offset;
        status = read_directory(zip, &d, m);
    }
    if (status != KN_OK)
        zip_close(zip);
    return status;
}

void zip_close(zip_archive *zip)
{
    for (size_t i = 0; i < zip->count; i++)
        mem_free(zip->members[i].name);
    mem_free(zip->members);
    zip->members = NULL;
    zip->count = 0;
    input_close(&zip->in);
}

/* ---- a member ---- */

static kn_status take_member(byte_stream *stream, void *to, size_t n, message *m)
{
    enum { PIECE = 1 << 20 }; /* what is still in the cache when its checksum is taken */
    zip_stream *s = (zip_stream *)stream;
    if ((uint64_t)n > (uint64_t)stream->left)
        return input_fail(stream->in, KN_VALUE_ERROR, m, "its member '%s' ends early", s->member->name);
    for (char *p = to; n > 0;) {
        size_t piece = n < PIECE ? n : PIECE;
        kn_status status = s->inflate ? inflater_take(s->inflate, p, piece, m) : input_read(stream->in, stream->offset, p, piece, m);
        if (status != KN_OK)
            return status;
        s->crc = crc_add(&s->zip->crc, s->crc, p, piece);
        stream->offset += (int64_t)piece;
        stream->left -= (int64_t)piece;
        p += piece;
        n -= piece;
    }
    return KN_OK;
}

kn_status zip_stream_open(const zip_archive *zip, const zip_member *member, zip_stream *s, message *m)
{
    unsigned char local[ZIP_LOCAL];
    const input *in = &zip->in;
    *s = (zip_stream){.zip = zip, .member = member};
    if (member->flags & ZIP_ENCRYPTED)
        return input_fail(in, KN_VALUE_ERROR, m, "its member '%s' is encrypted", member->name);
    if (member->method != ZIP_STORED && member->method != ZIP_DEFLATED)
        return input_fail(in, KN_VALUE_ERROR, m, "its member '%s' is compressed by method %d; stored and deflated ones are read",
                          member->name, member->method);
    if (member->method == ZIP_STORED && member->packed != member->size)
        return damaged(in, "a stored member has two sizes", m);
    kn_status status = input_read(in, member->offset, local, sizeof local, m);
    if (status != KN_OK)
        return status;
    if (memcmp(local, "PK\3\4", 4) != 0 || u16(local + 26) != member->name_length || u16(local + 8) != member->method)
        return damaged(in, "a member is not where its directory says", m);
    int64_t start = member->offset + ZIP_LOCAL + u16(local + 26) + u16(local + 28);
    if (start > zip->directory || member->packed > zip->directory - start)
        return damaged(in, "a member lies outside the file", m);
    s->stream = (byte_stream){.take = take_member, .in = in, .left = member->size, .offset = start};
    if (member->method == ZIP_DEFLATED) {
        s->inflate = inflater_new(in, start, member->packed);
        if (!s->inflate)
            return fail_memory(m, "inflating a member of an .npz archive");
    }
    return KN_OK;
}

kn_status zip_stream_finish(zip_stream *s, message *m)
{
    if (s->stream.left > 0)
        return input_fail(s->stream.in, KN_VALUE_ERROR, m, "its member '%s' has %" PRId64 " bytes more than its array", s->member->name,
                          s->stream.left);
    kn_status status = s->inflate ? inflater_finish(s->inflate, m) : KN_OK;
    if (status == KN_OK && s->crc != s->member->crc)
        status = input_fail(s->stream.in, KN_VALUE_ERROR, m, "the checksum of its member '%s' is wrong", s->member->name);
    return status;
}

void zip_stream_close(zip_stream *s)
{
    inflater_free(s->inflate);
    s->inflate = NULL;
}
