/* arguments.c: the command line as a job: options, the program's text, inputs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "frontend/command/command.h"

#define MOST_PROGRAM ((size_t)1 << 26)

/* ---- inputs ---- */

static bool is_name(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 128;
        if (!letter && !(i && c >= '0' && c <= '9')) return false;
    }
    return n > 0;
}

/* "float32[3,4]": true where it is one; extents may have suffixes k, M, G (powers of 1000) or be written 2**27. */
static bool read_extent(const char **s, int64_t *extent) {
    char *end;
    errno = 0;
    long long v = strtoll(*s, &end, 10);
    if (end == *s || errno || v < 0) return false;
    if (end[0] == '*' && end[1] == '*') {
        long power = strtol(end + 2, &end, 10);
        long long base = v;
        for (v = 1; power > 0; power--) if (mul_overflows(v, base, (int64_t *)&v)) return false;
    }
    int64_t unit = *end == 'k' ? 1000 : *end == 'M' ? 1000000 : *end == 'G' ? 1000000000 : 1;
    if (unit > 1) end++;
    *s = end;
    return !mul_overflows(v, unit, extent);
}

static bool read_type(const char *s, binding *b, const char **rest) {
    const char *open = strchr(s, '[');
    if (!open || !(b->dtype = dtype_named(s, (size_t)(open - s)))) return false;
    s = open + 1;
    while (*s == ' ') s++;
    while (*s && *s != ']') {
        if (b->ndim == NDIM_MAX || !read_extent(&s, &b->shape[b->ndim++])) return false;
        while (*s == ',' || *s == ' ') s++;
    }
    *rest = s + 1;
    return *s == ']';
}

static int read_range(binding *b, const char *s) {
    char *end;
    b->ranged = true;
    b->low = strtod(s, &end);
    if (end != s && *end == ':') {
        s = end + 1;
        b->high = strtod(s, &end);
        if (end != s && !*end && b->low <= b->high) return EXIT_GOOD;
    }
    return complain(EXIT_USAGE, "%s: a range is written @LO:HI", b->name);
}

/* The part behind a file's last ':' may be a member's name, or the type of raw bytes. */
static int read_file_parts(binding *b, char *file) {
    const char *rest = "";
    char *colon = strrchr(file, ':');
    b->file = file;
    if (!colon || colon == file) return EXIT_GOOD;
    if (read_type(colon + 1, b, &rest) && !*rest) {
        b->declared = true;
        *colon = 0;
    } else {
        b->ndim = 0;
        b->dtype = KN_DTYPE_UNSET;
        if (colon - file > 4 && !strncmp(colon - 4, ".npz", 4)) {
            *colon = 0;
            b->member = colon + 1;
        }
    }
    return EXIT_GOOD;
}

static int read_binding(job *j, const char *argument) {
    const char *rest = "";
    binding *grown = mem_grow(j->bindings, (size_t)j->nbindings + 1, sizeof *grown);
    if (!grown) return complain(EXIT_PROGRAM, "out of memory");
    j->bindings = grown;
    binding *b = &grown[j->nbindings];
    memset(b, 0, sizeof *b);
    if (!(b->text = mem_text(argument))) return complain(EXIT_PROGRAM, "out of memory");
    j->nbindings++;
    char *equals = strchr(b->text, '=');
    *equals = 0;
    b->name = b->text;
    if (read_type(equals + 1, b, &rest)) {
        b->declared = true;
        return !*rest ? EXIT_GOOD : *rest == '@' ? read_range(b, rest + 1) : complain(EXIT_USAGE, "%s: '%s' behind the shape is not understood", b->name, rest);
    }
    b->ndim = 0;
    b->dtype = KN_DTYPE_UNSET;
    return read_file_parts(b, equals + 1);
}

/* ---- the program ---- */

static int read_program(job *j, const char *path) {
    bool standard = !strcmp(path, "-");
    FILE *f = standard ? stdin : fopen(path, "rb");
    text t = { 0 };
    char part[65536];
    size_t n;
    if (!f) return complain(EXIT_PROGRAM, "%s: %s", path, strerror(errno));
    while ((n = fread(part, 1, sizeof part, f)) > 0 && t.len < MOST_PROGRAM) text_addn(&t, part, n);
    bool bad = ferror(f);
    if (!standard) fclose(f);
    if (bad || t.failed || t.len >= MOST_PROGRAM) {
        text_free(&t);
        return complain(EXIT_PROGRAM, "%s: %s", path, bad ? "it cannot be read" : "the program is too long");
    }
    text_addn(&t, "", 0);
    mem_free(j->program);
    j->program = t.at;
    j->length = t.len;
    j->program_name = standard ? "<stdin>" : path;
    return j->program ? EXIT_GOOD : complain(EXIT_PROGRAM, "out of memory");
}

static int take_program(job *j, const char *text) {
    if (!(j->program = mem_text(text))) return complain(EXIT_PROGRAM, "out of memory");
    j->length = strlen(text);
    j->program_name = "<program>";
    return EXIT_GOOD;
}

/* ---- options ---- */

typedef enum { TAKES_NOTHING, TAKES_TEXT, TAKES_COUNT, TAKES_SECONDS } takes;
typedef struct option { const char *name; takes kind; size_t at; } option;
#define AT(field) offsetof(job, field)
static const option options[] = {
    { "-o", TAKES_TEXT, AT(out) }, { "--target", TAKES_TEXT, AT(target) }, { "--arch", TAKES_TEXT, AT(arch) }, { "--device", TAKES_TEXT, AT(device) },
    { "--seed", TAKES_COUNT, AT(seed) }, { "--steps", TAKES_COUNT, AT(steps) }, { "--seconds", TAKES_SECONDS, AT(seconds) },
    { "--json", TAKES_NOTHING, AT(json) }, { "--time", TAKES_NOTHING, AT(time) }, { "--fast", TAKES_NOTHING, AT(fast) }, { "--portable", TAKES_NOTHING, AT(portable) },
};

static int set_option(job *j, const option *o, const char *given) {
    void *field = (char *)j + o->at;
    char *end = NULL;
    errno = 0;
    switch (o->kind) {
    case TAKES_NOTHING: *(bool *)field = true; return EXIT_GOOD;
    case TAKES_TEXT: *(const char **)field = given; return EXIT_GOOD;
    case TAKES_COUNT: *(int64_t *)field = strtoll(given, &end, 10); break;
    case TAKES_SECONDS: *(double *)field = strtod(given, &end); break;
    }
    return end != given && !*end && !errno && *given != '-' ? EXIT_GOOD : complain(EXIT_USAGE, "%s takes a number, not '%s'", o->name, given);
}

/* EXIT_GOOD; *used: how many arguments it took, 0 when it is no option. */
static int read_option(job *j, int left, char **at, int *used) {
    static const struct { const char *name; explain_format f; } formats[] = { { "--dot", FORMAT_DOT }, { "--svg", FORMAT_SVG }, { "--html", FORMAT_HTML } };
    *used = 1;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) if (!strcmp(*at, formats[i].name)) { j->format = formats[i].f; return EXIT_GOOD; }
    if (!strcmp(*at, "-f") || !strcmp(*at, "--repeats")) {
        *used = 2;
        if (left < 2) return complain(EXIT_USAGE, "%s takes an argument", *at);
        if (at[0][1] == 'f') return read_program(j, at[1]);
        j->repeats = atoi(at[1]);
        return j->repeats > 0 ? EXIT_GOOD : complain(EXIT_USAGE, "--repeats takes a positive number, not '%s'", at[1]);
    }
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t n = strlen(options[i].name);
        bool joined = !strncmp(*at, options[i].name, n) && at[0][n] == '=' && options[i].kind != TAKES_NOTHING && n > 2;
        if (strcmp(*at, options[i].name) && !joined) continue;
        if (options[i].kind == TAKES_NOTHING || joined) return set_option(j, &options[i], joined ? *at + n + 1 : NULL);
        *used = 2;
        return left < 2 ? complain(EXIT_USAGE, "%s takes an argument", *at) : set_option(j, &options[i], at[1]);
    }
    *used = 0;
    return EXIT_GOOD;
}

int job_read(job *j, int argc, char **argv) {
    bool asks = strcmp(argv[0], "info") && strcmp(argv[0], "repl"), options_end = false;
    j->subcommand = argv[0];
    for (int i = 1, used; i < argc; i += used) {
        const char *equals = strchr(argv[i], '=');
        used = 0;
        if (!options_end && !strcmp(argv[i], "--")) { options_end = true; used = 1; continue; }
        int status = options_end ? EXIT_GOOD : read_option(j, argc - i, argv + i, &used);
        if (status) return status;
        if (used) continue;
        used = 1;
        bool binds = equals && equals[1] != '=' && is_name(argv[i], (size_t)(equals - argv[i]));
        if (binds && (j->program || !asks)) status = read_binding(j, argv[i]);
        else if (!options_end && argv[i][0] == '-' && argv[i][1] == '-') status = complain(EXIT_USAGE, "there is no option '%s'; kiln --help lists them", argv[i]);
        else if (!j->program && asks) status = take_program(j, argv[i]);
        else status = complain(EXIT_USAGE, "'%s' is neither an option nor an input (name=FILE)", argv[i]);
        if (status) return status;
    }
    if (asks && !j->program) return complain(EXIT_USAGE, "%s: which program? Write it as one argument, or -f FILE", j->subcommand);
    return EXIT_GOOD;
}

void job_free(job *j) {
    for (int i = 0; i < j->nbindings; i++) mem_free(j->bindings[i].text);
    mem_free(j->bindings);
    mem_free(j->program);
}
