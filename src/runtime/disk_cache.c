/* disk_cache.c: compiled code kept between processes.
 *
 * How it works: an entry is a file named by its 128-bit key, in one of 256 folders, with a header and a checksum over all of
 * it. It is written to a temporary file and renamed, so that readers see it whole or not at all, whoever races or dies. The
 * folder must belong to this user and be writable by nobody else, or it is not used: code is run from it. Now and then a
 * writer adds up sizes and removes what was used longest ago, and temporaries that nobody finished.
 *
 *   KILN_CACHE_DIR, else XDG_CACHE_HOME/kiln, else HOME/.cache/kiln    KILN_CACHE=0: off    KILN_CACHE_SIZE: bytes
 * What is kept, and under which key, must not be decided here. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "runtime/disk_cache.h"

#define MAGIC 0x4b696c6e43616368u       /* "KilnCach" */
#define FORMAT 1
#define MOST_ENTRY ((size_t)64 << 20)
#define DEFAULT_SIZE ((uint64_t)256 << 20)
#define PUTS_PER_CHECK 64               /* entries written between two looks at the whole size */
#define STALE_SECONDS 600               /* a temporary file this old has no writer any more */

typedef struct header {
    uint64_t magic, size, key[2];
    uint32_t format, version_length;
    char kind[16];
    uint64_t checksum[2];               /* over the header with this field 0, version and bytes */
} header;

static struct {
    pthread_mutex_t mutex;
    bool known, usable;
    int folder;                         /* open directory */
    char path[1024];
    uint64_t limit;
    unsigned puts;
} cache = { .mutex = PTHREAD_MUTEX_INITIALIZER, .folder = -1 };

/* ---- the folder ---- */

static bool find_path(char *out, size_t n) {
    const char *own = getenv("KILN_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int len = own && *own ? snprintf(out, n, "%s", own) : xdg && *xdg == '/' ? snprintf(out, n, "%s/kiln", xdg)
              : home && *home == '/' ? snprintf(out, n, "%s/.cache/kiln", home) : -1;
    return len > 0 && (size_t)len < n && out[0] == '/';
}

/* Makes the folder and those above it that are missing. */
static void make_folders(const char *path) {
    char part[sizeof cache.path];
    size_t n = strlen(path);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i]) continue;
        memcpy(part, path, i);
        part[i] = 0;
        mkdir(part, 0700);
    }
}

/* Ours, and writable by nobody else. */
static bool is_private(int fd) {
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & (S_IWGRP | S_IWOTH));
}

static void open_cache(void) {
    cache.known = true;
    cache.usable = false;
    const char *off = getenv("KILN_CACHE"), *size = getenv("KILN_CACHE_SIZE");
    cache.limit = size && *size ? strtoull(size, NULL, 10) : DEFAULT_SIZE;
    if ((off && !strcmp(off, "0")) || !find_path(cache.path, sizeof cache.path)) return;
    cache.folder = open(cache.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache.folder < 0) {
        make_folders(cache.path);
        cache.folder = open(cache.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    cache.usable = cache.folder >= 0 && is_private(cache.folder);
}

/* The open folder, or -1. */
static int folder(void) {
    pthread_mutex_lock(&cache.mutex);
    if (!cache.known) open_cache();
    int fd = cache.usable ? cache.folder : -1;
    pthread_mutex_unlock(&cache.mutex);
    return fd;
}

void disk_cache_reset(void) {
    pthread_mutex_lock(&cache.mutex);
    if (cache.folder >= 0) close(cache.folder);
    cache.folder = -1;
    cache.known = false;
    cache.puts = 0;
    pthread_mutex_unlock(&cache.mutex);
}

/* "3f/3fa9...e1.cpu" */
static void entry_name(const char *kind, digest key, char out[64]) {
    snprintf(out, 64, "%02x/%016llx%016llx.%.12s", (unsigned)(key.w[0] >> 56), (unsigned long long)key.w[0], (unsigned long long)key.w[1], kind);
}

/* ---- reading ---- */

static bool read_whole(int fd, char *to, size_t n) {
    while (n) {
        ssize_t got = read(fd, to, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

static bool checksum_holds(char *file, size_t n) {
    header h;
    memcpy(&h, file, sizeof h);
    uint64_t said[2] = { h.checksum[0], h.checksum[1] };
    memset(h.checksum, 0, sizeof h.checksum);
    memcpy(file, &h, sizeof h);
    digest d = digest_bytes(file, n);
    return d.w[0] == said[0] && d.w[1] == said[1];
}

static bool sound(const header *h, const char *kind, digest key, size_t file) {
    return h->magic == MAGIC && h->format == FORMAT && h->key[0] == key.w[0] && h->key[1] == key.w[1] && !strncmp(h->kind, kind, sizeof h->kind) &&
           h->version_length <= file - sizeof *h && h->size == file - sizeof *h - h->version_length;
}

bool disk_cache_get(const char *kind, digest key, text *out) {
    int at = folder();
    char name[64];
    if (at < 0) return false;
    entry_name(kind, key, name);
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    struct stat s;
    bool ok = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && (size_t)s.st_size >= sizeof(header) && (size_t)s.st_size <= MOST_ENTRY;
    size_t n = ok ? (size_t)s.st_size : 0;
    char *file = ok ? mem_alloc(n) : NULL;
    header h;
    bool whole = file && read_whole(fd, file, n);
    if (whole) memcpy(&h, file, sizeof h);
    if (whole && sound(&h, kind, key, n) && checksum_holds(file, n)) {
        struct timespec now[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };
        if (time(NULL) - s.st_atime > 3600) futimens(fd, now);          /* used lately; not on every use */
        text_addn(out, file + sizeof h + h.version_length, h.size);
        ok = !out->failed;
    } else {
        if (!ok || whole) unlinkat(at, name, 0);                         /* damaged: out of the way */
        ok = false;
    }
    mem_free(file);
    close(fd);
    return ok;
}

/* ---- writing ---- */

static bool write_whole(int fd, const char *from, size_t n) {
    while (n) {
        ssize_t put = write(fd, from, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        n -= (size_t)put;
    }
    return true;
}

typedef struct found { char name[64]; uint64_t size; time_t used; } found;

/* Calls each for every file of every folder; each may remove it. */
static void walk(int at, void (*each)(int dir, const char *sub, const char *name, void *arg), void *arg) {
    for (int i = 0; i < 256; i++) {
        char sub[4];
        snprintf(sub, sizeof sub, "%02x", (unsigned)i);
        int fd = openat(at, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        if (!d) { if (fd >= 0) close(fd); continue; }
        for (struct dirent *e; (e = readdir(d));) if (e->d_name[0] != '.') each(fd, sub, e->d_name, arg);
        closedir(d);
    }
}

typedef struct collection { found *at; size_t n, cap; uint64_t bytes; bool remove; } collection;

static void collect(int dir, const char *sub, const char *name, void *arg) {
    collection *c = arg;
    struct stat s;
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode)) return;
    bool temporary = strstr(name, ".tmp.") != NULL;
    if (c->remove || (temporary && time(NULL) - s.st_mtime > STALE_SECONDS)) { unlinkat(dir, name, 0); return; }
    if (temporary) return;
    c->bytes += (uint64_t)s.st_size;
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 256;
        found *more = mem_grow(c->at, cap, sizeof *more);
        if (!more) return;
        c->at = more;
        c->cap = cap;
    }
    found *f = &c->at[c->n];
    if (snprintf(f->name, sizeof f->name, "%s/%s", sub, name) >= (int)sizeof f->name) return;
    f->size = (uint64_t)s.st_size;
    f->used = s.st_atime > s.st_mtime ? s.st_atime : s.st_mtime;
    c->n++;
}

static int by_use(const void *a, const void *b) {
    const found *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Removes what was used longest ago until three quarters of the limit are left. */
static void evict(int at, uint64_t limit) {
    collection c = { 0 };
    walk(at, collect, &c);
    if (c.bytes > limit && c.n) {
        qsort(c.at, c.n, sizeof *c.at, by_use);
        for (size_t i = 0; i < c.n && c.bytes > limit / 4 * 3; i++) {
            if (unlinkat(at, c.at[i].name, 0) == 0 || errno == ENOENT) c.bytes -= c.at[i].size;
        }
    }
    mem_free(c.at);
}

/* Whether files may become so large: the system ends a process that does not ask first. */
static bool may_grow(size_t n) {
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY || n <= most.rlim_cur;
}

static bool write_entry(int at, const char *name, const char *file, size_t n) {
    static uint32_t serial;
    char sub[3] = { name[0], name[1], 0 }, temporary[128];
    mkdirat(at, sub, 0700);
    snprintf(temporary, sizeof temporary, "%s.tmp.%ld.%u", name, (long)getpid(), __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED));
    int fd = openat(at, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool ok = write_whole(fd, file, n);
    ok &= close(fd) == 0;
    if (ok && renameat(at, temporary, at, name) == 0) return true;
    unlinkat(at, temporary, 0);
    return false;
}

void disk_cache_put(const char *kind, digest key, const char *version, const void *bytes, size_t size) {
    int at = folder();
    if (at < 0 || size > MOST_ENTRY - 4096) return;
    size_t extra = version ? strnlen(version, 256) : 0, n = sizeof(header) + extra + size;
    if (!may_grow(n)) return;
    char *file = mem_alloc(n);
    if (!file) return;
    header h = { .magic = MAGIC, .format = FORMAT, .size = size, .version_length = (uint32_t)extra, .key = { key.w[0], key.w[1] } };
    snprintf(h.kind, sizeof h.kind, "%.15s", kind);
    memcpy(file, &h, sizeof h);
    if (extra) memcpy(file + sizeof h, version, extra);
    memcpy(file + sizeof h + extra, bytes, size);
    digest d = digest_bytes(file, n);
    h.checksum[0] = d.w[0];
    h.checksum[1] = d.w[1];
    memcpy(file, &h, sizeof h);
    char name[64];
    entry_name(kind, key, name);
    bool ok = write_entry(at, name, file, n);
    mem_free(file);
    pthread_mutex_lock(&cache.mutex);
    bool check = ok && cache.puts++ % PUTS_PER_CHECK == 0;
    uint64_t limit = cache.limit;
    pthread_mutex_unlock(&cache.mutex);
    if (check) evict(at, limit);
}

void disk_cache_stats(disk_cache_counts *out) {
    int at = folder();
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&cache.mutex);
    out->limit = cache.limit;
    out->usable = cache.usable;
    memcpy(out->folder, cache.path, sizeof out->folder);
    pthread_mutex_unlock(&cache.mutex);
    if (at < 0) return;
    collection c = { 0 };
    walk(at, collect, &c);
    out->entries = c.n;
    out->bytes = c.bytes;
    mem_free(c.at);
}

void disk_cache_clear(void) {
    int at = folder();
    collection c = { .remove = true };
    if (at >= 0) walk(at, collect, &c);
    mem_free(c.at);
}
