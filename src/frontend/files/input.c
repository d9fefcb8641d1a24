/* input.c: reading a regular file by offset, and runs of its bytes as a stream.
 *
 * How it works: the size is taken when the file is opened, and every offset is checked against it, so that no length in
 * a file can ask for more than the file has. Formats belong to the other files here. */
#include "frontend/files/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sentences quote what stands in files: control characters and what is not UTF-8 become question marks. */
static void make_printable(char *s)
{
    while (*s) {
        unsigned char c = (unsigned char)*s;
        int more = c >= 0xf0 && c < 0xf8 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : 0;
        bool good = c >= ' ' && c != 0x7f && (c < 0x80 || (c >= 0xc2 && c < 0xf5));
        for (int i = 1; i <= more && good; i++)
            good = ((unsigned char)s[i] & 0xc0) == 0x80;
        if (!good)
            *s = '?';
        s += good ? 1 + more : 1;
    }
}

kn_status input_fail(const input *in, kn_status status, message *m, const char *format, ...)
{
    char sentence[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (length >= 0)
        make_printable(sentence);
    return fail(m, status, "cannot read '%s': %s", in->path, length < 0 ? format : sentence);
}

static kn_status system_fail(const input *in, message *m)
{
    char sentence[128];
    return input_fail(in, KN_FILE_ERROR, m, "%s", strerror_r(errno, sentence, sizeof sentence));
}

kn_status input_open(const char *path, input *in, message *m)
{
    struct stat about;
    *in = (input){.path = path};
    /* Without O_NONBLOCK a pipe that nobody writes to would hold the caller here. */
    in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (in->fd < 0)
        return system_fail(in, m);
    kn_status status = KN_OK;
    if (fstat(in->fd, &about) != 0)
        status = system_fail(in, m);
    else if (S_ISDIR(about.st_mode))
        status = input_fail(in, KN_FILE_ERROR, m, "it is a directory");
    else if (!S_ISREG(about.st_mode))
        status = input_fail(in, KN_FILE_ERROR, m, "it is not a regular file");
    if (status != KN_OK) {
        input_close(in);
        return status;
    }
    in->size = about.st_size;
    return KN_OK;
}

void input_close(input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
}

kn_status input_read(const input *in, int64_t offset, void *to, size_t n, message *m)
{
    enum { LARGEST_READ = 1 << 30 }; /* Linux reads less than 2 GiB in one call */
    char *p = to;
    int64_t end;
    if (offset < 0 || n > PTRDIFF_MAX || add_overflows(offset, (int64_t)n, &end) || end > in->size)
        return input_fail(in, KN_VALUE_ERROR, m, "it ends early");
    while (n > 0) {
        ssize_t got = pread(in->fd, p, n < LARGEST_READ ? n : LARGEST_READ, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_fail(in, m);
        if (got == 0)
            return input_fail(in, KN_FILE_ERROR, m, "it has become shorter since it was opened");
        p += got;
        offset += got;
        n -= (size_t)got;
    }
    return KN_OK;
}

static kn_status take_stored(byte_stream *s, void *to, size_t n, message *m)
{
    if ((uint64_t)n > (uint64_t)s->left)
        return input_fail(s->in, KN_VALUE_ERROR, m, "it ends early");
    kn_status status = input_read(s->in, s->offset, to, n, m);
    s->offset += (int64_t)n;
    s->left -= (int64_t)n;
    return status;
}

byte_stream byte_stream_of(const input *in, int64_t offset, int64_t length)
{
    return (byte_stream){.take = take_stored, .in = in, .left = length, .offset = offset};
}
