/* The disk cache: what it gives back, and that nothing done to its files or folder is ever more than "not there". */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/disk_cache.h"

static char root[64], place[128];

static void fresh(void) {
    snprintf(root, sizeof root, "/tmp/kiln-cache-test-XXXXXX");
    cr_assert(mkdtemp(root) != NULL);
    snprintf(place, sizeof place, "%s/cache", root);
    setenv("KILN_CACHE_DIR", place, 1);
    unsetenv("KILN_CACHE");
    unsetenv("KILN_CACHE_SIZE");
    disk_cache_reset();
}

static void gone(void) {
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+rwX %s; rm -rf %s", root, root);
    cr_assert_eq(system(command), 0);
}

static digest key(uint64_t n) { return (digest){ { n * 0x9e3779b97f4a7c15u, n } }; }

static char *value(uint64_t n, size_t size) {
    char *v = malloc(size);
    for (size_t i = 0; i < size; i++) v[i] = (char)(n * 31 + i * 7 + i / 251);
    return v;
}

/* 0: missing, 1: right, -1: something else */
static int ask(uint64_t n, size_t size) {
    text t = { 0 };
    bool got = disk_cache_get("cpu", key(n), &t);
    char *want = value(n, size);
    int r = !got ? 0 : t.len == size && !memcmp(t.at, want, size) ? 1 : -1;
    free(want);
    text_free(&t);
    return r;
}

static void keep(uint64_t n, size_t size) {
    char *v = value(n, size);
    disk_cache_put("cpu", key(n), "19.1.7", v, size);
    free(v);
}

static void file_of(uint64_t n, char *path, size_t size) {
    digest k = key(n);
    snprintf(path, size, "%s/%02x/%016llx%016llx.cpu", place, (unsigned)(k.w[0] >> 56), (unsigned long long)k.w[0], (unsigned long long)k.w[1]);
}

Test(disk_cache, gives_back_what_was_put) {
    fresh();
    cr_expect_eq(ask(1, 100), 0);
    for (uint64_t n = 1; n < 20; n++) keep(n, (size_t)(n * n * 50));
    disk_cache_reset();
    for (uint64_t n = 1; n < 20; n++) cr_expect_eq(ask(n, (size_t)(n * n * 50)), 1, "entry %llu", (unsigned long long)n);
    text t = { 0 };
    cr_expect_not(disk_cache_get("cubin", key(1), &t), "another kind is another entry");
    text_free(&t);
    disk_cache_counts c;
    disk_cache_stats(&c);
    cr_expect_eq(c.entries, 19);
    cr_expect(c.usable);
    disk_cache_clear();
    cr_expect_eq(ask(3, 450), 0);
    gone();
}

Test(disk_cache, an_empty_value) {
    fresh();
    disk_cache_put("cpu", key(1), NULL, "", 0);
    cr_expect_eq(ask(1, 0), 1);
    gone();
}

Test(disk_cache, damage_at_any_byte_is_noticed) {
    fresh();
    char path[256];
    file_of(7, path, sizeof path);
    keep(7, 40);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL);
    char whole[512];
    size_t n = fread(whole, 1, sizeof whole, f);
    fclose(f);
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            char bad[512];
            memcpy(bad, whole, n);
            bad[i] = (char)(bad[i] ^ (1 << bit));
            f = fopen(path, "wb");
            fwrite(bad, 1, n, f);
            fclose(f);
            cr_expect_eq(ask(7, 40), 0, "byte %zu, bit %d", i, bit);
        }
    for (size_t cut = 0; cut < n; cut++) {
        f = fopen(path, "wb");
        fwrite(whole, 1, cut, f);
        fclose(f);
        cr_expect_eq(ask(7, 40), 0, "cut to %zu bytes", cut);
    }
    keep(7, 40);
    cr_expect_eq(ask(7, 40), 1);
    gone();
}

Test(disk_cache, unusable_folders_mean_nothing_is_kept) {
    fresh();
    setenv("KILN_CACHE_DIR", "/proc/no/such/place", 1);
    disk_cache_reset();
    keep(1, 10);
    cr_expect_eq(ask(1, 10), 0);
    setenv("KILN_CACHE_DIR", place, 1);
    setenv("KILN_CACHE", "0", 1);
    disk_cache_reset();
    keep(1, 10);
    cr_expect_eq(ask(1, 10), 0);
    unsetenv("KILN_CACHE");
    disk_cache_reset();
    keep(1, 10);
    cr_expect_eq(ask(1, 10), 1);
    chmod(place, 0777);                                   /* others could put code there */
    disk_cache_reset();
    cr_expect_eq(ask(1, 10), 0);
    chmod(place, 0700);
    if (geteuid() == 0) {
        cr_assert_eq(chown(place, 12345, 12345), 0);
        disk_cache_reset();
        cr_expect_eq(ask(1, 10), 0, "the folder of somebody else");
        cr_assert_eq(chown(place, 0, 0), 0);
    }
    chmod(place, 0500);                                   /* root writes all the same; others do not */
    disk_cache_reset();
    keep(2, 10);
    cr_expect_eq(ask(1, 10), 1, "reading still works");
    gone();
}

Test(disk_cache, the_whole_stays_bounded) {
    fresh();
    setenv("KILN_CACHE_SIZE", "100000", 1);
    disk_cache_reset();
    for (uint64_t n = 0; n < 400; n++) keep(n, 1000);
    disk_cache_counts c;
    disk_cache_stats(&c);
    cr_expect_leq(c.bytes, 100000 + 64 * 1200, "%llu bytes", (unsigned long long)c.bytes);
    cr_expect_gt(c.entries, 20);
    gone();
}

Test(disk_cache, eight_processes_race) {
    fresh();
    pid_t child[8];
    for (int p = 0; p < 8; p++) {
        child[p] = fork();
        if (child[p]) continue;
        disk_cache_reset();
        int bad = 0;
        for (int round = 0; round < 30; round++)
            for (uint64_t n = 0; n < 12; n++) {
                if (ask(n, 3000) < 0) bad = 1;
                keep(n, 3000);
                if (ask(n, 3000) < 0) bad = 1;
            }
        _exit(bad);
    }
    for (int p = 0; p < 8; p++) {
        int status;
        waitpid(child[p], &status, 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d read something else than was put", p);
    }
    for (uint64_t n = 0; n < 12; n++) cr_expect_eq(ask(n, 3000), 1);
    gone();
}

Test(disk_cache, a_writer_that_is_killed_leaves_no_half_entry) {
    fresh();
    for (int round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0) {
            disk_cache_reset();
            for (uint64_t n = 0;; n = (n + 1) % 8) keep(n, 200000);
        }
        usleep(1000 + 700 * (useconds_t)round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (uint64_t n = 0; n < 8; n++) cr_expect_neq(ask(n, 200000), -1, "round %d", round);
    }
    keep(1, 200000);
    cr_expect_eq(ask(1, 200000), 1);
    gone();
}
