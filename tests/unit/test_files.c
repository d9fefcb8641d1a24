/* Files: what the interface promises when memory, the disk or the file itself fails. What NumPy reads and writes is
 * compared in tests/oracle/test_files.py. */
#include "frontend/files/files.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a folder of our own ---- */

static char folder[64];

static void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/kiln-files-XXXXXX", base && strlen(base) < 30 ? base : "/tmp");
    cr_assert(mkdtemp(folder) != NULL);
}

static int entries_left(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d)
        closedir(d);
    return n;
}

static void remove_folder(void)
{
    char path[512];
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(folder);
}
TestSuite(files, .init = make_folder, .fini = remove_folder);

static const char *path_of(const char *name)
{
    static _Thread_local char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_bytes(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    cr_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static size_t get_bytes(const char *name, void *bytes, size_t room)
{
    FILE *f = fopen(path_of(name), "rb");
    cr_assert(f != NULL);
    size_t n = fread(bytes, 1, room, f);
    fclose(f);
    return n;
}

/* Reads every array of a file; the first failure's status. */
static kn_status read_all(const char *path, message *m)
{
    array_file *f;
    kn_status status = array_file_open(path, NULL, &f, m);
    for (size_t i = 0; status == KN_OK && i < array_file_count(f); i++) {
        array_header h;
        status = array_file_header(f, i, &h, m);
        if (status != KN_OK)
            break;
        cr_assert(h.bytes >= 0 && h.bytes <= 1 << 20, "%lld bytes asked for", (long long)h.bytes);
        char *data = malloc((size_t)h.bytes + 1);
        data[h.bytes] = 77;
        status = array_file_read(f, i, data, h.bytes, m);
        cr_assert(data[h.bytes] == 77, "written past the end");
        free(data);
    }
    array_file_close(f);
    return status;
}

static double values[60];
static const int64_t shape[] = {5, 4}, strides[] = {32, 8}, crossed[] = {8, 40};
static host_array plain_array(void)
{
    for (int i = 0; i < 60; i++)
        values[i] = i * i / 7.0;
    return (host_array){.dtype = KN_FLOAT64, .ndim = 2, .shape = shape, .strides = strides, .data = values};
}

static const char *const names[] = {"a", "b", "c", "d, e"};
static void save_all_kinds(void)
{
    host_array a = plain_array(), b = a;
    b.strides = crossed;
    save_item items[] = {{"first", a}, {NULL, b}};
    save_options named = {.columns = names, .ncolumns = 4};
    cr_assert_eq(array_save(path_of("x.npy"), items, 1, NULL, NULL), KN_OK);
    cr_assert_eq(array_save(path_of("x.npz"), items, 2, NULL, NULL), KN_OK);
    cr_assert_eq(array_save(path_of("z.npz"), items, 2, &(save_options){.compress = true}, NULL), KN_OK);
    cr_assert_eq(array_save(path_of("x.csv"), items, 1, &named, NULL), KN_OK);
}
static const char *const kinds[] = {"x.npy", "x.npz", "z.npz", "x.csv"};
enum { KINDS = 4, LARGEST_FILE = 4096 };

/* ---- tests ---- */

Test(files, members_and_columns_have_names)
{
    save_all_kinds();
    array_file *f;
    size_t at = 9;
    message m = {0};
    cr_assert_eq(array_file_open(path_of("z.npz"), NULL, &f, &m), KN_OK, "%s", m.text);
    cr_expect_eq(array_file_kind(f), FILE_NPZ);
    cr_expect_eq(array_file_count(f), 2);
    cr_expect_str_eq(array_file_name(f, 0), "first");
    cr_expect_str_eq(array_file_name(f, 1), "arr_1");
    cr_expect_str_eq(array_file_name(f, 2), "");
    cr_expect(array_file_find(f, "arr_1", &at, &m) == KN_OK && at == 1);
    cr_expect_eq(array_file_find(f, "none", &at, &m), KN_KEY_ERROR);
    cr_expect(strstr(m.text, "z.npz' holds no array named 'none'") != NULL, "%s", m.text);
    array_file_close(f);
    cr_assert_eq(array_file_open(path_of("x.csv"), NULL, &f, NULL), KN_OK);
    cr_expect_eq(array_file_columns(f), 4);
    cr_expect_str_eq(array_file_column(f, 3), "d, e");
    cr_expect_str_eq(array_file_column(f, 4), "");
    array_file_close(f);
}

Test(files, tables_are_read_as_told)
{
    static const char numbers[] = "1;2\n3;4\n";
    const struct { table_options o; int ndim; int64_t rows; const char *name; } good[] = {
        {{.delimiter = 0}, 2, 2, ""},
        {{.header = HEADER_YES}, 2, 1, "1"},
        {{.header = HEADER_NO, .delimiter = ';'}, 2, 2, ""},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        array_file *f;
        array_header h;
        message m = {0};
        put_bytes("t.txt", numbers, sizeof numbers - 1);
        cr_assert_eq(array_file_open(path_of("t.txt"), &good[i].o, &f, &m), KN_OK, "%s", m.text);
        cr_expect_eq(array_file_header(f, 0, &h, NULL), KN_OK);
        cr_expect(h.dtype == KN_INT64 && h.ndim == good[i].ndim && h.shape[0] == good[i].rows, "case %zu: %d axes, %d rows", i, h.ndim, (int)h.shape[0]);
        cr_expect_str_eq(array_file_column(f, 0), good[i].name);
        array_file_close(f);
    }
    message m = {0};
    array_file *f;
    put_bytes("t.txt", "a;b\n1;2\n", 8);
    cr_expect_eq(array_file_open(path_of("t.txt"), &(table_options){.header = HEADER_NO}, &f, &m), KN_VALUE_ERROR);
    cr_expect(strstr(m.text, "line 1, column 1: 'a' is not a number") != NULL, "%s", m.text);
}

Test(files, an_index_past_the_last_array_is_refused)
{
    save_all_kinds();
    for (int k = 0; k < KINDS; k++) {
        array_file *f;
        array_header h;
        message m = {0};
        cr_assert_eq(array_file_open(path_of(kinds[k]), NULL, &f, NULL), KN_OK);
        cr_expect_eq(array_file_header(f, 2, &h, &m), KN_INDEX_ERROR);
        cr_expect_eq(array_file_read(f, 2, values, 1, NULL), KN_INDEX_ERROR);
        cr_expect(strstr(m.text, kinds[k]) != NULL, "%s", m.text);
        array_file_close(f);
    }
}

Test(files, a_buffer_of_another_size_is_refused)
{
    save_all_kinds();
    for (int k = 0; k < KINDS; k++) {
        array_file *f;
        array_header h;
        message m = {0};
        cr_assert_eq(array_file_open(path_of(kinds[k]), NULL, &f, NULL), KN_OK);
        cr_assert_eq(array_file_header(f, 0, &h, NULL), KN_OK);
        cr_expect_eq(array_file_read(f, 0, values, h.bytes - 8, &m), KN_FILE_ERROR);
        array_file_close(f);
    }
}

Test(files, a_file_that_shrinks_while_it_is_open_is_refused)
{
    save_all_kinds();
    for (int k = 0; k < 3; k++) {
        array_file *f;
        array_header h;
        message m = {0};
        cr_assert_eq(array_file_open(path_of(kinds[k]), NULL, &f, NULL), KN_OK);
        cr_assert_eq(array_file_header(f, 0, &h, NULL), KN_OK);
        cr_assert_eq(truncate(path_of(kinds[k]), 150), 0);
        cr_expect_neq(array_file_read(f, 0, values, h.bytes, &m), KN_OK);
        cr_expect(strstr(m.text, "shorter") != NULL, "%s", m.text);
        array_file_close(f);
    }
}

Test(files, every_failing_allocation_is_told_when_reading)
{
    save_all_kinds();
    for (int k = 0; k < KINDS; k++) {
        kn_status status = KN_MEMORY_ERROR;
        int failures = 0;
        for (int64_t n = 1; status != KN_OK; n++, failures++) {
            message m = {0};
            mem_fail_after(n, n % 2 == 0);
            status = read_all(path_of(kinds[k]), &m);
            mem_fail_after(-1, false);
            cr_assert(status == KN_OK || (status == KN_MEMORY_ERROR && strstr(m.text, "out of memory")), "%s: %s", kinds[k], m.text);
        }
        cr_expect(failures > 2, "%s: %d allocations", kinds[k], failures);
    }
}

Test(files, every_failing_allocation_is_told_when_writing)
{
    host_array a = plain_array(), b = a;
    int64_t gaps[] = {64, 8};
    b.strides = gaps;
    b.shape = (int64_t[]){3, 4};
    save_item items[] = {{"first", a}, {"gaps", b}};
    for (int k = 0; k < KINDS; k++) {
        kn_status status = KN_MEMORY_ERROR;
        int failures = 0;
        save_options o = {.compress = k == 2};
        for (int64_t n = 1; status != KN_OK; n++, failures++) {
            message m = {0};
            mem_fail_after(n, n % 2 == 0);
            status = array_save(path_of(kinds[k]), items + (k == 0), k == 0 || k == 3 ? 1 : 2, &o, &m);
            mem_fail_after(-1, false);
            cr_assert(status == KN_OK || (status == KN_MEMORY_ERROR && strstr(m.text, "out of memory")), "%s: %s", kinds[k], m.text);
            cr_assert(status == KN_OK || entries_left() == k, "%s: something was left behind", kinds[k]);
        }
        cr_expect(failures > 2, "%s: %d allocations", kinds[k], failures);
    }
}

Test(files, damaged_files_are_refused_or_read_but_never_trusted)
{
    save_all_kinds();
    for (int k = 0; k < KINDS; k++) {
        char whole[LARGEST_FILE], bytes[LARGEST_FILE], name[32];
        size_t n = get_bytes(kinds[k], whole, sizeof whole);
        snprintf(name, sizeof name, "d%s", kinds[k]);
        for (size_t cut = 0; cut < n; cut++) {
            message m = {0};
            put_bytes(name, whole, cut);
            kn_status status = read_all(path_of(name), &m);
            cr_expect(status == KN_OK ? k == 3 : *m.text != 0, "%s cut at %zu: %s", kinds[k], cut, m.text);
        }
        for (size_t i = 0; i < n; i++)
            for (int change = 1; change < 256; change = 5 * change + 2) {
                message m = {0};
                memcpy(bytes, whole, n);
                bytes[i] = (char)(bytes[i] ^ change);
                put_bytes(name, bytes, n);
                kn_status status = read_all(path_of(name), &m);
                cr_expect(status == KN_OK || *m.text != 0, "%s changed at %zu: no sentence", kinds[k], i);
            }
    }
}

/* More members than the old fields of a zip archive can count. */
Test(files, seventy_thousand_members)
{
    enum { N = 70000 };
    static const int64_t none[1];
    static int32_t numbers[N];
    static char member[N][16];
    save_item *items = calloc(N, sizeof *items);
    for (int i = 0; i < N; i++) {
        numbers[i] = 3 * i;
        snprintf(member[i], sizeof member[i], "n%d", i);
        items[i] = (save_item){member[i], {.dtype = KN_INT32, .shape = none, .strides = none, .data = &numbers[i]}};
    }
    message m = {0};
    array_file *f;
    cr_assert_eq(array_save(path_of("many.npz"), items, N, NULL, &m), KN_OK, "%s", m.text);
    cr_assert_eq(array_file_open(path_of("many.npz"), NULL, &f, &m), KN_OK, "%s", m.text);
    cr_expect_eq(array_file_count(f), N);
    int32_t got = 0;
    cr_expect_eq(array_file_read(f, N - 1, &got, sizeof got, &m), KN_OK, "%s", m.text);
    cr_expect_eq(got, 3 * (N - 1), "read %d", got);
    array_file_close(f);
    free(items);
}

/* A reader beside two writers sees one array or the other, and never a part. */
static void *write_again_and_again(void *value)
{
    static const int64_t long_shape[] = {20000}, step[] = {0};
    host_array a = {.dtype = KN_INT8, .ndim = 1, .shape = long_shape, .strides = step, .data = value};
    for (int i = 0; i < 100; i++)
        if (array_save(path_of("shared.npy"), &(save_item){NULL, a}, 1, NULL, NULL) != KN_OK)
            return value;
    return NULL;
}

Test(files, a_reader_sees_a_file_whole)
{
    static char read_back[20000];
    static int8_t one = 1, two = 2;
    char path[128];
    pthread_t writers[2];
    void *failed[2];
    snprintf(path, sizeof path, "%s", path_of("shared.npy"));
    cr_assert_null(write_again_and_again(&one));
    pthread_create(&writers[0], NULL, write_again_and_again, &one);
    pthread_create(&writers[1], NULL, write_again_and_again, &two);
    for (int i = 0; i < 200; i++) {
        array_file *f;
        message m = {0};
        cr_assert_eq(array_file_open(path, NULL, &f, &m), KN_OK, "%s", m.text);
        cr_assert_eq(array_file_read(f, 0, read_back, sizeof read_back, &m), KN_OK, "%s", m.text);
        array_file_close(f);
        for (size_t k = 0; k < sizeof read_back; k++)
            cr_assert(read_back[k] == read_back[0] && (read_back[k] == 1 || read_back[k] == 2), "%d at %zu, %d at 0", read_back[k], k, read_back[0]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(writers[i], &failed[i]);
        cr_expect_null(failed[i]);
    }
    cr_expect_eq(entries_left(), 1);
}

/* No file may grow beyond 4000 bytes; the system ends a process that tries without asking. */
static void save_beyond_the_limit(const char *name)
{
    static const int64_t shape[] = {1000}, strides[] = {8};
    static double numbers[1000];
    char expected[160];
    message m = {0};
    for (int i = 0; i < 1000; i++)
        numbers[i] = i;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4000, 4000});
    host_array a = {.dtype = KN_FLOAT64, .ndim = 1, .shape = shape, .strides = strides, .data = numbers};
    cr_expect_eq(array_save(path_of(name), &(save_item){NULL, a}, 1, NULL, &m), KN_FILE_ERROR);
    snprintf(expected, sizeof expected, "cannot write '%s': File too large", path_of(name));
    cr_expect_str_eq(m.text, expected);
    cr_expect_eq(entries_left(), 0, "something is left");
    a.shape = (const int64_t[]){100};
    cr_expect_eq(array_save(path_of(name), &(save_item){NULL, a}, 1, NULL, &m), KN_OK, "a short one fits");
}
Test(files, a_limit_on_file_sizes_is_an_error_npy) { save_beyond_the_limit("a.npy"); }
Test(files, a_limit_on_file_sizes_is_an_error_npz) { save_beyond_the_limit("a.npz"); }
Test(files, a_limit_on_file_sizes_is_an_error_csv) { save_beyond_the_limit("a.csv"); }
