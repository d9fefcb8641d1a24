/* repl.c: kiln repl: reads statements, runs them, echoes values as Python does.
 *
 * How it works: lines come through a line-editing library where one is found (libedit or readline, with history and
 * completion of names), else from standard input as they are. A statement goes on over lines while the parser says that it is
 * unfinished, and a block until an empty line. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "frontend/command/command.h"
#include "frontend/language/machine.h"
#include "kiln.h"

/* ---- lines ---- */

typedef char **completer(const char *word, int start, int end);
static struct {
    char *(*readline)(const char *prompt);
    void (*add_history)(const char *line);
    int (*read_history)(const char *path);
    int (*write_history)(const char *path);
    char **(*matches)(const char *word, char *(*next)(const char *, int));
    completer **attempt;
} editor;

static void find_editor(void) {
    static const char *const names[] = { "libreadline.so.8", "libedit.so.2", "libreadline.so.7", "libedit.so.0", NULL };
    void *lib = NULL;
    for (int i = 0; names[i] && !lib; i++) lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib) return;
    *(void **)&editor.readline = dlsym(lib, "readline");
    *(void **)&editor.add_history = dlsym(lib, "add_history");
    *(void **)&editor.read_history = dlsym(lib, "read_history");
    *(void **)&editor.write_history = dlsym(lib, "write_history");
    *(void **)&editor.matches = dlsym(lib, "rl_completion_matches");
    *(void **)&editor.attempt = dlsym(lib, "rl_attempted_completion_function");
}

static char *plain_line(const char *prompt) {
    text t = { 0 };
    int c;
    fputs(prompt, stdout);
    fflush(stdout);
    while ((c = getchar()) != EOF && c != '\n') text_addn(&t, &(char){ (char)c }, 1);
    if (c == EOF && !t.len) {
        text_free(&t);
        return NULL;
    }
    char *line = strdup(t.at ? t.at : "");
    text_free(&t);
    return line;
}

/* From malloc; NULL at the end of input. */
static char *next_line(const char *prompt, bool terminal) { return terminal && editor.readline ? editor.readline(prompt) : plain_line(terminal ? prompt : ""); }

/* ---- completion: variables, then builtins and NumPy's names ---- */

static const machine *completing;
static size_t completion_at;

static bool begins(const char *name, const char *with, size_t n) { return name && !strncmp(name, with, n); }

static char *next_match(const char *word, int state) {
    const machine_state *s = completing->state;
    size_t n = strlen(word), at;
    if (!state) completion_at = 0;
    while ((at = completion_at++) < s->nglobals + (size_t)nops + (size_t)nbuiltin_rows) {
        const char *name = NULL;
        if (at < s->nglobals) name = absent(s->globals[at].v) ? NULL : s->globals[at].name;
        else if (at < s->nglobals + (size_t)nops) name = strncmp(ops[at - s->nglobals].numpy, "numpy.", 6) ? NULL : ops[at - s->nglobals].numpy + 6;
        else name = builtin_rows[at - s->nglobals - (size_t)nops].name;
        if (begins(name, word, n) && !strchr(name, '.')) return strdup(name);
    }
    return NULL;
}

static char **complete(const char *word, int start, int end) {
    (void)start;
    (void)end;
    return editor.matches(word, next_match);
}

/* ---- statements ---- */

typedef struct trees { syntax_tree **at; size_t n; } trees;          /* functions outlive the statement that defines them */

static bool blank(const char *s) { return s[strspn(s, " \t")] == 0; }

/* A block goes on until an empty line. */
static bool opens_block(const text *t) {
    size_t n = t->len;
    while (n && (t->at[n - 1] == '\n' || t->at[n - 1] == ' ' || t->at[n - 1] == '\t')) n--;
    return n && t->at[n - 1] == ':';
}

/* One statement, whole; false at the end of input. *tree stays NULL when it was complained about. */
static bool read_statement(bool terminal, syntax_tree **tree) {
    text t = { 0 };
    bool block = false;
    char *line;
    *tree = NULL;
    while ((line = next_line(t.len ? "... " : ">>> ", terminal))) {
        bool empty = blank(line);
        if (terminal && editor.add_history && !empty) editor.add_history(line);
        text_add(&t, "%s\n", line);
        free(line);
        syntax_fault f = { 0 };
        message why = { 0 };
        block |= opens_block(&t);
        if (block && !empty) continue;
        if (!syntax_parse(t.at, t.len, "<input>", NULL, tree, &f, &why)) break;
        if (f.unfinished && !(block && empty)) continue;
        complain(EXIT_PROGRAM, "%s", why.text);
        break;
    }
    bool more = line != NULL;
    text_free(&t);
    return more;
}

static void echo(machine *m, value v) {
    text t = { 0 };
    if (v.kind == VALUE_NONE) return;
    if (value_repr(m, v, &t)) printf("%s\n", t.at ? t.at : "");
    else complain_of(m);
    text_free(&t);
}

static bool keep(trees *all, syntax_tree *t) {
    syntax_tree **grown = mem_grow(all->at, all->n + 1, sizeof *grown);
    if (!grown) return false;
    all->at = grown;
    all->at[all->n++] = t;
    return true;
}

int command_repl(const job *j) {
    session s;
    trees all = { 0 };
    syntax_tree *tree;
    const char *home = getenv("HOME");
    char history[512] = "";
    int status = session_open(&s, j, INPUT_FILES);
    bool terminal = isatty_standard_input();
    if (terminal) find_editor();
    if (home && snprintf(history, sizeof history, "%s/.kiln_history", home) >= (int)sizeof history) history[0] = 0;
    if (!status && terminal) {
        completing = s.m;
        if (editor.attempt && editor.matches) *editor.attempt = complete;
        if (editor.read_history && *history) editor.read_history(history);
        printf("Kiln %s; NumPy's names are there without a prefix. End with Ctrl-D.\n", kn_version());
    }
    while (!status && read_statement(terminal, &tree)) {
        value last = none_value();
        if (!tree) continue;
        if (!keep(&all, tree)) { syntax_free(tree); status = complain(EXIT_PROGRAM, "out of memory"); break; }
        if (machine_run(s.m, tree, &last)) echo(s.m, last);
        else complain_of(s.m);
        value_drop(s.m, last);
        fflush(stdout);
    }
    if (terminal && editor.write_history && *history) editor.write_history(history);
    session_close(&s);
    for (size_t i = 0; i < all.n; i++) syntax_free(all.at[i]);
    mem_free(all.at);
    return status;
}
