/* output.c: a file that appears whole or not at all.
 *
 * How it works: everything goes into a temporary file in the target's directory, which takes the target's place once it is
 * complete; a reader sees the old file or the new one. Where that cannot be (a device, a pipe, a directory in which no
 * file can be made) the target is written directly. What is written belongs to the other files here. */
#include "frontend/files/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static kn_status system_fail(const output *out, message *m)
{
    char sentence[128];
    return fail(m, KN_FILE_ERROR, "cannot write '%s': %s", out->path, strerror_r(errno, sentence, sizeof sentence));
}

/* A name that no other thread or process is likely to take at the same time; O_EXCL settles the rest. */
static uint64_t unlikely_number(void)
{
    static _Atomic uint64_t calls;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed[4] = {(uint64_t)getpid(), atomic_fetch_add(&calls, 1), (uint64_t)now.tv_sec, (uint64_t)now.tv_nsec};
    return hash_bytes(seed, sizeof seed, 0);
}

/* Opens a new file beside the target. KN_FILE_ERROR with errno set, and no sentence: there can be none. */
static kn_status open_temporary(output *out)
{
    enum { TRIES = 100, NAME = 40 };
    const char *slash = strrchr(out->target, '/');
    size_t folder = slash ? (size_t)(slash + 1 - out->target) : 0;
    out->temporary = mem_alloc(folder + NAME);
    if (!out->temporary)
        return KN_MEMORY_ERROR;
    memcpy(out->temporary, out->target, folder);
    for (int i = 0; i < TRIES; i++) {
        snprintf(out->temporary + folder, NAME, ".kiln-%016llx.tmp", (unsigned long long)unlikely_number());
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0)
            return KN_OK;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    mem_free(out->temporary);
    out->temporary = NULL;
    return KN_FILE_ERROR;
}

/* The temporary file, or the target itself, opened; errno and no sentence on KN_FILE_ERROR. */
static kn_status open_for_writing(output *out)
{
    struct stat about;
    bool exists = stat(out->path, &about) == 0;
    if (exists && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return KN_FILE_ERROR;
    }
    if (exists && faccessat(AT_FDCWD, out->path, W_OK, AT_EACCESS) != 0)
        return KN_FILE_ERROR; /* a file that may not be written may not be replaced either */
    if (!exists || S_ISREG(about.st_mode)) {
        kn_status status = open_temporary(out);
        if (status == KN_OK && exists && fchmod(out->fd, about.st_mode & 07777) != 0)
            errno = 0; /* that its permissions cannot be kept is no reason to fail */
        if (status != KN_FILE_ERROR || !exists)
            return status;
    }
    out->in_place = true;
    out->fd = open(out->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    return out->fd >= 0 ? KN_OK : KN_FILE_ERROR;
}

kn_status output_open(const char *path, output *out, message *m)
{
    char resolved[PATH_MAX];
    struct stat about;
    *out = (output){.fd = -1, .path = path};
    /* A link keeps pointing where it points: what it names is replaced. */
    bool link = lstat(path, &about) == 0 && S_ISLNK(about.st_mode) && realpath(path, resolved) != NULL;
    out->target = mem_text(link ? resolved : path);
    kn_status status = out->target ? open_for_writing(out) : KN_MEMORY_ERROR;
    if (status == KN_FILE_ERROR)
        system_fail(out, m);
    else if (status != KN_OK)
        fail_memory(m, "opening a file to write");
    if (status != KN_OK)
        output_abandon(out);
    return status;
}

/* Whether a file may reach so far: the system ends a process that does not ask before it writes. */
static bool may_reach(const output *out, int64_t end)
{
    struct rlimit most;
    struct stat about;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY || (uint64_t)end <= most.rlim_cur ||
           fstat(out->fd, &about) != 0 || !S_ISREG(about.st_mode);
}

static kn_status write_all(output *out, const void *from, size_t n, int64_t offset, message *m)
{
    enum { LARGEST_WRITE = 1 << 30 };
    const char *p = from;
    while (n > 0) {
        size_t piece = n < LARGEST_WRITE ? n : LARGEST_WRITE;
        ssize_t put = offset < 0 ? write(out->fd, p, piece) : pwrite(out->fd, p, piece, offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return system_fail(out, m);
        p += put;
        n -= (size_t)put;
        offset += offset < 0 ? 0 : put;
    }
    return KN_OK;
}

kn_status output_write(output *out, const void *from, size_t n, message *m)
{
    out->offset += (int64_t)n;
    if (!may_reach(out, out->offset)) {
        errno = EFBIG;
        return system_fail(out, m);
    }
    return write_all(out, from, n, -1, m);
}

kn_status output_rewrite(output *out, int64_t offset, const void *from, size_t n, message *m)
{
    return write_all(out, from, n, offset, m);
}

kn_status output_commit(output *out, message *m)
{
    /* Some file systems tell of a full disk only here. */
    int closed = close(out->fd);
    out->fd = -1;
    if (closed != 0 && errno != EINTR)
        return system_fail(out, m);
    if (!out->in_place) {
        if (rename(out->temporary, out->target) != 0)
            return system_fail(out, m);
        mem_free(out->temporary);
        out->temporary = NULL;
    }
    return KN_OK;
}

void output_abandon(output *out)
{
    if (out->fd >= 0)
        close(out->fd);
    if (out->temporary)
        unlink(out->temporary);
    mem_free(out->temporary);
    mem_free(out->target);
    *out = (output){.fd = -1};
}
