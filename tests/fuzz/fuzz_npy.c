/* Feeds damaged .npy, .npz and table files to the readers.
 *
 * Built with -fsanitize=fuzzer it is a libFuzzer target: the first byte of an input says which name the file gets.
 * Built without, it mutates good files itself, the same way for the same seed:
 *     fuzz_npy [SEED [SECONDS]]      1 and 10 when left out
 * Whatever the bytes are, a reader must end with an array of the size it announced or with a sentence. */
#include "frontend/files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 1 << 16, LARGEST_ARRAY = 1 << 26, NAMES = 3 };
static const char *const endings[NAMES] = {".npy", ".npz", ".csv"};

static void fail_now(const char *what, const char *sentence)
{
    fprintf(stderr, "fuzz_npy: %s: %s\n", what, sentence);
    abort();
}

static void read_array(array_file *f, size_t i)
{
    message m = {0};
    array_header h;
    if (array_file_header(f, i, &h, &m) == KN_OK) {
        int64_t count = 1;
        for (int axis = 0; axis < h.ndim; axis++)
            count = h.shape[axis] == 0 ? 0 : count * h.shape[axis];
        if (h.bytes < 0 || h.count != count || h.bytes != count * (int64_t)dtype_size(h.dtype))
            fail_now("a header contradicts itself", "");
        if (h.bytes > LARGEST_ARRAY)
            fail_now("a small file asks for too much", "");
        unsigned char *data = malloc((size_t)h.bytes + 1);
        data[h.bytes] = 0x5a;
        array_file_read(f, i, data, h.bytes, &m);
        if (data[h.bytes] != 0x5a)
            fail_now("written past the end", m.text);
        free(data);
    }
    if (m.status != KN_OK && !strstr(m.text, "cannot read"))
        fail_now("a sentence without its file", m.text);
}

static void try_bytes(int kind, const unsigned char *bytes, size_t n)
{
    char link[128], path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        fail_now("no file in memory", "");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(link, sizeof link, "%s/fuzz-%d%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid(), endings[kind]);
    unlink(link);
    if (symlink(path, link) != 0)
        fail_now("no link to the file in memory", link);
    message m = {0};
    array_file *f;
    kn_status status = array_file_open(link, NULL, &f, &m);
    if (status != KN_OK && (m.status != status || !strstr(m.text, link)))
        fail_now("a failure without its sentence", m.text);
    for (size_t i = 0; f && i < array_file_count(f) && i < 20; i++)
        read_array(f, i);
    array_file_close(f);
    unlink(link);
    close(fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    if (n > 0)
        try_bytes(bytes[0] % NAMES, bytes + 1, n - 1);
    return 0;
}

/* ---- without libFuzzer ---- */

static uint64_t state;
static uint64_t random_bits(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static size_t below(size_t n) { return n ? (size_t)(random_bits() % n) : 0; }

typedef struct sample {
    int kind;
    size_t n;
    unsigned char bytes[LARGEST];
} sample;
enum { SAMPLES = 16 };
static sample samples[SAMPLES];
static int nsamples;

static void add_bytes(int kind, const void *bytes, size_t n)
{
    samples[nsamples].kind = kind;
    samples[nsamples].n = n;
    memcpy(samples[nsamples++].bytes, bytes, n);
}

static void add_saved(int kind, const save_item *items, size_t n, bool compress)
{
    char path[128];
    message m = {0};
    snprintf(path, sizeof path, "%s/fuzz-%d-sample%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid(), endings[kind]);
    if (array_save(path, items, n, &(save_options){.compress = compress}, &m) != KN_OK)
        return; /* no zlib: one sample fewer */
    FILE *f = fopen(path, "rb");
    sample *s = &samples[nsamples++];
    s->kind = kind;
    s->n = f ? fread(s->bytes, 1, LARGEST, f) : 0;
    if (f)
        fclose(f);
    unlink(path);
}

static void make_samples(void)
{
    static double numbers[120];
    static const int64_t shape[] = {10, 12}, strides[] = {96, 8}, crossed[] = {8, 80}, step[] = {16}, few[] = {7};
    for (int i = 0; i < 120; i++)
        numbers[i] = i % 9 * 0.5;
    host_array a = {KN_FLOAT64, 2, shape, strides, numbers}, b = {KN_FLOAT64, 2, shape, crossed, numbers}, c = {KN_COMPLEX64, 1, few, step, numbers},
               d = {KN_INT16, 0, NULL, NULL, numbers};
    save_item all[] = {{"a", a}, {"b", b}, {NULL, c}, {"d", d}};
    for (int i = 0; i < 4; i++)
        add_saved(0, &all[i], 1, false);
    add_saved(1, all, 4, false);
    add_saved(1, all, 4, true);
    add_saved(2, all, 1, false);
    static const char structured[] = "\x93NUMPY\1\0\x76\0{'descr': [('a', '<f8'), ('b', ('<i4', (2,)))], 'fortran_order': False, 'shape': (3L,), }";
    static const char table[] = "\xef\xbb\xbf# c\r\n\"a, b\",c;d\t\"e\"\"f\"\r\n1,2.5e-3,(1+2j)\n,nan,-inf # x\n";
    add_bytes(0, structured, sizeof structured - 1);
    add_bytes(2, table, sizeof table - 1);
}

/* One change to the bytes: a bit, a byte, a number at the edge, a run removed, doubled, or taken from another sample. */
static void mutate(sample *s)
{
    static const unsigned char edges[][4] = {{0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0}, {0, 0, 0, 0x80}, {0xff, 0xff, 0xff, 0x7f}, {1, 0, 0, 0}};
    static const char *const words[] = {"'shape'", "(", ")", ",", "'", "\"", "-", "9223372036854775807", "True", "{", "}", "[", "|O", "<f8", "nan", "1e999", "\n", "#", ";", "\t"};
    size_t at = below(s->n), n = below(s->n - at < 40 ? s->n - at : 40);
    const sample *other = &samples[below((size_t)nsamples)];
    const char *word = words[below(sizeof words / sizeof *words)];
    switch (s->n ? below(8) : 3) {
    case 0: s->bytes[at] ^= (unsigned char)(1u << below(8)); break;
    case 1: s->bytes[at] = (unsigned char)random_bits(); break;
    case 2: memcpy(s->bytes + at, edges[below(5)], s->n - at < 4 ? s->n - at : 4); break;
    case 3:
        if (s->n + strlen(word) < LARGEST) {
            memmove(s->bytes + at + strlen(word), s->bytes + at, s->n - at);
            memcpy(s->bytes + at, word, strlen(word));
            s->n += strlen(word);
        }
        break;
    case 4:
        memmove(s->bytes + at, s->bytes + at + n, s->n - at - n);
        s->n -= n;
        break;
    case 5:
        if (s->n + n < LARGEST) {
            memmove(s->bytes + at + n, s->bytes + at, s->n - at);
            s->n += n;
        }
        break;
    case 6: {
        size_t from = below(other->n), take = other->n - from < s->n - at ? other->n - from : s->n - at;
        memcpy(s->bytes + at, other->bytes + from, below(take + 1));
        break;
    }
    default: s->n = at;
    }
}

__attribute__((weak)) int main(int argc, char **argv)
{
    static sample s;
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 10;
    time_t start = time(NULL);
    long runs = 0;
    state = seed;
    make_samples();
    for (; difftime(time(NULL), start) < seconds; runs++) {
        const sample *from = &samples[below((size_t)nsamples)];
        s.kind = from->kind;
        s.n = from->n;
        memcpy(s.bytes, from->bytes, from->n);
        for (size_t changes = 1 + below(4); changes > 0; changes--)
            mutate(&s);
        try_bytes(below(50) ? s.kind : (int)below(NAMES), s.bytes, s.n);
    }
    printf("%ld runs from seed %llu\n", runs, (unsigned long long)seed);
    return 0;
}
