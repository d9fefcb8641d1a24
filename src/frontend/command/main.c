/* main.c: the `kiln` command: which subcommand, and how complaints look. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "frontend/command/command.h"
#include "kiln.h"

static const char usage[] =
    "usage: kiln run     [options] PROGRAM | -f FILE  [name=FILE ...]          run it; shows the last expression's value\n"
    "       kiln emit    [--target T] [--arch A] PROGRAM [name=FILE | name=DTYPE[SHAPE] ...]\n"
    "                                                                          the source of the kernels; needs no GPU\n"
    "       kiln explain [--dot | --svg | --html] PROGRAM ...                  the graph, its kernels, and why\n"
    "       kiln bench   [--json] PROGRAM name=DTYPE[SHAPE][@LO:HI] ...        times it on random inputs\n"
    "       kiln info                                                          devices, libraries, versions\n"
    "       kiln cache   [stats | clear]                                       kernels kept on disk\n"
    "       kiln repl                                                          asks for programs line by line\n"
    "\n"
    "PROGRAM is Python-like text with NumPy's names: kiln run 'sqrt(a**2 + b**2).sum()' a=a.npy b=b.npy\n"
    "FILE is .npy, .npz (name=FILE.npz:member), .csv, .tsv, .txt, raw bytes (name=FILE:DTYPE[SHAPE]) or - for standard input.\n"
    "\n"
    "  -f FILE            the program is in FILE\n"
    "  -o OUT             saves the last value: .npy, .npz (tuples: arr_0, arr_1, ...), .csv, .txt, - for .npy to standard output\n"
    "  --target T         cuda (default), hip, llvm, asm\n"
    "  --arch A           sm_75, sm_80, sm_90 (default), sm_120; gfx90a (default), gfx1030\n"
    "  --device D         cpu (default), cuda, hip, reference\n"
    "  --seed N           where random numbers start\n"
    "  --steps N, --seconds S   limits: the program ends with an error beyond them\n"
    "  --repeats N        of bench\n"
    "  --time             tells on standard error how long it took\n"
    "  --version, --help\n";

int complain(int status, const char *format, ...) {
    va_list args;
    fflush(stdout);
    fputs("kiln: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return status;
}

int complain_of(machine *m) {
    message what = { 0 };
    text where = { 0 };
    machine_error(m, &what, &where);
    complain(EXIT_PROGRAM, "%s", what.text);
    if (where.at) fputs(where.at, stderr);
    text_free(&where);
    return EXIT_PROGRAM;
}

static const struct { const char *name; int (*run)(const job *j); } commands[] = {
    { "run", command_run }, { "emit", command_emit }, { "explain", command_explain }, { "bench", command_bench }, { "info", command_info }, { "repl", command_repl },
};

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }
    if (!strcmp(name, "--version")) {
        printf("kiln %s\n", kn_version());
        return EXIT_GOOD;
    }
    if (!strcmp(name, "cache")) return command_cache(argc - 2, argv + 2);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name)) continue;
        job j = { 0 };
        int status = job_read(&j, argc - 1, argv + 1);
        if (!status) status = commands[i].run(&j);
        job_free(&j);
        if (fflush(stdout) && !status) status = complain(EXIT_PROGRAM, "standard output cannot be written");
        return status;
    }
    if (*name) complain(EXIT_USAGE, "there is no subcommand '%s'", name);
    fputs(usage, stderr);
    return EXIT_USAGE;
}
