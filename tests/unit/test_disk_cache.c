/* The disk cache: what it gives back, and that nothing done to its files or folder is ever more than "not there". */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kiln.h"
#include "runtime/disk_cache.h"
#include "runtime/runtime.h"

static char root[64], folder[128];

static void fresh(void) {
    snprintf(root, sizeof root, "/tmp/kiln-cache-test-XXXXXX");
    cr_assert(mkdtemp(root) != NULL);
    snprintf(folder, sizeof folder, "%s/cache", root);
    setenv("KILN_CACHE_DIR", folder, 1);
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
    snprintf(path, size, "%s/%02x/%016llx%016llx.cpu", folder, (unsigned)(k.w[0] >> 56), (unsigned long long)k.w[0], (unsigned long long)k.w[1]);
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
    setenv("KILN_CACHE_DIR", folder, 1);
    setenv("KILN_CACHE", "0", 1);
    disk_cache_reset();
    keep(1, 10);
    cr_expect_eq(ask(1, 10), 0);
    unsetenv("KILN_CACHE");
    disk_cache_reset();
    keep(1, 10);
    cr_expect_eq(ask(1, 10), 1);
    chmod(folder, 0777);                                   /* others could put code there */
    disk_cache_reset();
    cr_expect_eq(ask(1, 10), 0);
    chmod(folder, 0700);
    if (geteuid() == 0) {
        cr_assert_eq(chown(folder, 12345, 12345), 0);
        disk_cache_reset();
        cr_expect_eq(ask(1, 10), 0, "the folder of somebody else");
        cr_assert_eq(chown(folder, 0, 0), 0);
    }
    chmod(folder, 0500);                                   /* root writes all the same; others do not */
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

/* ---- a disk that takes no more ---- */

/* In a child, what `body` gives: limits and users that are changed stay changed. */
static int in_child(int (*body)(void)) {
    pid_t child = fork();
    if (child == 0) _exit(body());
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* No file may grow beyond 1000 bytes. Unless it is asked first, the system ends a process that tries. */
static int keep_in_little_room(void) {
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1000, 1000 });
    disk_cache_reset();
    keep(1, 100);
    keep(2, 5000);
    keep(3, 100);
    return ask(1, 100) != 1 || ask(2, 5000) != 0 || ask(3, 100) != 1;
}

Test(disk_cache, a_file_that_may_not_grow_is_not_kept) {
    fresh();
    cr_expect_eq(in_child(keep_in_little_room), 0);
    disk_cache_counts c;
    disk_cache_stats(&c);
    cr_expect_eq(c.entries, 2);
    char command[256];
    snprintf(command, sizeof command, "find %s -name '*.tmp.*' | grep .", folder);
    cr_expect_neq(system(command), 0, "a temporary file is left");
    gone();
}

/* Somebody who owns the folder and may not write into it. */
static int keep_without_permission(void) {
    if (setgid(12345) || setuid(12345)) return 7;
    disk_cache_reset();
    keep(2, 10);
    return ask(1, 10) != 1 || ask(2, 10) != 0;
}

Test(disk_cache, a_folder_that_can_only_be_read_gives_what_it_has) {
    fresh();
    keep(1, 10);
    char command[512];
    snprintf(command, sizeof command, "chown -R 12345:12345 %s && chmod 755 %s && find %s -type d -exec chmod 500 {} +", folder, root, folder);
    if (geteuid() != 0) cr_skip_test("only root can be somebody else");
    cr_assert_eq(system(command), 0);
    cr_expect_eq(in_child(keep_without_permission), 0);
    gone();
}

/* ---- real code ---- */

/* Some kernels' worth of work with a known result; every k gives other kernels. */
static double work(int k) {
    KN_SCOPE(s);
    kn_array x = kn_add(kn_arange(0, 500, 1, .dtype = KN_FLOAT64), 1);
    for (int i = 0; i < k % 5; i++) x = kn_sub(kn_mul(x, 2), x);
    if (k / 5 % 2) x = kn_index(kn_neg(kn_neg(x)), "::-1");
    return kn_f64(kn_sum(kn_abs(kn_add(x, k / 10 % 3 ? kn_floor(kn_mul(x, 0)) : kn(0)))));
}
#define WORKS 30
static const double answer = 500 * 501 / 2;

static int wrong_answers(void) {
    int bad = 0;
    for (int k = 0; k < WORKS; k++) bad += work(k) != answer;
    return bad;
}

static void forget(void) {
    runtime_forget();
    disk_cache_reset();
}

static bool compiles(void) {
    jit_set(JIT_ALWAYS);
    forget();
    return llvm_available(NULL) == KN_OK;
}

static char *bytes_of(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s", path);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *b = malloc(*n);
    cr_assert_eq(fread(b, 1, *n, f), *n);
    fclose(f);
    return b;
}

static void write_bytes(const char *path, const char *b, size_t n) {
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL);
    fwrite(b, 1, n, f);
    fclose(f);
}

/* The path and key of some entry. */
static digest some_entry(char *path, size_t size) {
    char command[256];
    snprintf(command, sizeof command, "find %s -name '*.cpu' | head -1", folder);
    FILE *f = popen(command, "r");
    cr_assert(f && fgets(path, (int)size, f));
    pclose(f);
    path[strcspn(path, "\n")] = 0;
    unsigned long long w[2];
    cr_assert_eq(sscanf(strrchr(path, '/') + 1, "%16llx%16llx", &w[0], &w[1]), 2);
    return (digest){ { w[0], w[1] } };
}

/* Whatever byte of a compiled kernel is damaged, and wherever it is cut: it is compiled again. */
Test(disk_cache, damaged_code_is_never_run) {
    fresh();
    if (!compiles()) cr_skip_test("LLVM is not here");
    cr_assert_eq(work(0), answer);
    char path[256];
    size_t n;
    digest k = some_entry(path, sizeof path);
    char *whole = bytes_of(path, &n);
    for (size_t i = 0; i < 2 * n; i++) {
        text t = { 0 };
        char before = whole[i % n];
        if (i < n) whole[i] = (char)(before ^ (1 << i % 8));
        write_bytes(path, whole, i < n ? n : i - n);
        whole[i % n] = before;
        cr_expect_not(disk_cache_get("cpu", k, &t), "%s byte %zu", i < n ? "wrong at" : "cut before", i % n);
        text_free(&t);
    }
    for (size_t i = 0; i < n; i += i < 64 ? 5 : n / 20 + 1) {
        forget();
        cr_assert_eq(work(0), answer);
        whole[i] ^= 1;
        write_bytes(path, whole, n);
        whole[i] ^= 1;
        forget();
        cr_expect_eq(work(0), answer, "with byte %zu wrong", i);
    }
    free(whole);
    gone();
}

/* Sound entries that hold something else than loadable code are compiled again too. */
Test(disk_cache, entries_without_code_are_passed_over) {
    fresh();
    if (!compiles()) cr_skip_test("LLVM is not here");
    cr_assert_eq(work(0), answer);
    char path[256];
    digest k = some_entry(path, sizeof path);
    static const char *const contents[] = { "", "x", "\177ELF", "\177ELF\2\1\1 this is no object file, but begins like one, and is longer than its header" };
    for (int i = 0; i < 4; i++) {
        disk_cache_put("cpu", k, "0", contents[i], strlen(contents[i]));
        forget();
        cr_expect_eq(work(0), answer, "\"%s\"", contents[i]);
    }
    gone();
}

Test(disk_cache, eight_processes_race_on_a_cold_cache) {
    fresh();
    if (!compiles()) cr_skip_test("LLVM is not here");
    for (int round = 0; round < 2; round++) {
        pid_t child[8];
        for (int p = 0; p < 8; p++) {
            child[p] = fork();
            if (child[p] == 0) {
                forget();
                _exit(wrong_answers());
            }
        }
        for (int p = 0; p < 8; p++) {
            int status;
            waitpid(child[p], &status, 0);
            cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "round %d, process %d: %d wrong", round, p, WEXITSTATUS(status));
        }
    }
    forget();
    runtime_counts before, after;
    runtime_count(&before);
    cr_expect_eq(wrong_answers(), 0);
    runtime_count(&after);
    cr_expect_eq(after.kernels_compiled, before.kernels_compiled, "everything is on disk");
    cr_expect_gt(after.kernels_from_disk, before.kernels_from_disk);
    gone();
}

Test(disk_cache, a_program_killed_while_it_compiles_does_no_harm) {
    fresh();
    if (!compiles()) cr_skip_test("LLVM is not here");
    for (int round = 0; round < 12; round++) {
        pid_t child = fork();
        if (child == 0)
            for (;;) {
                forget();
                disk_cache_clear();
                wrong_answers();
            }
        usleep(20000 + 9000 * (useconds_t)round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        forget();
        cr_expect_eq(wrong_answers(), 0, "round %d", round);
    }
    gone();
}

static int work_in_little_room(void) {
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1000, 1000 });
    forget();
    return wrong_answers();
}

static int work_for_somebody_else(void) {
    if (setgid(12345) || setuid(12345)) return 7;
    forget();
    return wrong_answers();
}

/* Nothing can be kept: every answer is right all the same. */
Test(disk_cache, programs_work_without_a_usable_cache) {
    fresh();
    if (!compiles()) cr_skip_test("LLVM is not here");
    cr_expect_eq(in_child(work_in_little_room), 0, "no room");
    if (geteuid() == 0) {
        chmod(root, 0755);
        cr_expect_eq(in_child(work_for_somebody_else), 0, "a folder of root's");
    }
    setenv("KILN_CACHE_DIR", "/proc/no/such/place", 1);
    forget();
    cr_expect_eq(wrong_answers(), 0, "no folder");
    setenv("KILN_CACHE_DIR", "/dev/null", 1);
    forget();
    cr_expect_eq(wrong_answers(), 0, "a file instead of a folder");
    unsetenv("KILN_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    forget();
    cr_expect_eq(wrong_answers(), 0, "no name for a folder");
    gone();
}
