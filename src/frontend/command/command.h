/* command.h: the `kiln` command: a job read from the command line, and what each subcommand does with it; sectioned by file.
 * The command may use everything below it; nothing of the library may use it. */
#ifndef KILN_COMMAND_H
#define KILN_COMMAND_H
#include <stdio.h>
#include "frontend/language/language.h"

/* Exit statuses: a bad program or bad data is 1, a bad call 2. */
enum { EXIT_GOOD, EXIT_PROGRAM, EXIT_USAGE };

/* ---- arguments.c ---- */
/* name=FILE, or name=DTYPE[SHAPE] with @LO:HI: the range of its random values. */
typedef struct binding {
    const char *name;                    /* points into text */
    char *text;                          /* owned: the argument, cut into parts */
    const char *file, *member;           /* member of an .npz, or NULL */
    kn_dtype dtype; int ndim; int64_t shape[NDIM_MAX];   /* declared, also of a raw file */
    bool declared, ranged; double low, high;
} binding;

typedef enum { FORMAT_TEXT, FORMAT_DOT, FORMAT_SVG, FORMAT_HTML } explain_format;
typedef struct job {
    const char *subcommand;
    char *program; size_t length;        /* owned */
    const char *program_name;            /* "<program>", or the file */
    binding *bindings; int nbindings;
    const char *out, *target, *arch, *device;
    explain_format format;
    uint64_t seed;
    double seconds; int64_t steps;       /* limits; 0: none */
    int repeats;                         /* of bench; 0: enough */
    bool json, time, fast, portable;
} job;
/* EXIT_GOOD, or a complaint was printed. */
int job_read(job *j, int argc, char **argv);
void job_free(job *j);

/* ---- main.c ---- */
/* One line on standard error: "kiln: ..."; gives status. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The machine's uncaught exception as a line and its place; gives EXIT_PROGRAM. */
int complain_of(machine *m);

/* ---- session.c: a machine with the job's inputs ---- */
typedef struct session { machine *m; syntax_tree *tree; kn_scope scope; } session;
typedef enum { INPUT_FILES, INPUT_DECLARED, INPUT_RANDOM } input_kind;   /* what declared inputs hold: refused, nothing, random values */
int session_open(session *s, const job *j, input_kind inputs);
void session_close(session *s);
/* The arrays that the program leaves to be computed: those in its last value, else all that its names hold. */
#define MOST_ROOTS 256
int session_roots(session *s, value last, kn_array *roots);

/* ---- temporary.c ---- */
enum { TEMPORARY_PATH = 512 };
bool isatty_standard_input(void);
FILE *temporary_open(char path[TEMPORARY_PATH], const char *ending);   /* open for writing; whoever gets it removes it. NULL: errno */

/* ---- subcommands ---- */
int command_run(const job *j);
int command_emit(const job *j);
int command_explain(const job *j);
int command_bench(const job *j);
int command_info(const job *j);
int command_cache(int argc, char **argv);
int command_repl(const job *j);
#endif
