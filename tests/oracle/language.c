/* Runs programs in Kiln's language for test_language.py to compare with Python and NumPy.
 *
 * Standard input holds programs, each behind a line with its length in bytes. Each answer is a line with the length of what
 * follows: what the program printed and, when an exception ended it, a line "!" with the exception's kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "frontend/language/language.h"
#include "kiln.h"

static void print(const char *s, size_t n, void *arg) { text_addn(arg, s, n); }

static void tell(text *out, const message *why, const char *kind) {
    const char *colon = strpbrk(why->text, ": (");
    text_add(out, "!%.*s\n", (int)(kind ? strlen(kind) : colon ? (size_t)(colon - why->text) : strlen(why->text)), kind ? kind : why->text);
    if (getenv("KILN_TELL")) text_add(out, "%s\n", why->text);
}

static void run(const char *program, size_t n, text *out) {
    message why = { 0 };
    syntax_tree *tree;
    syntax_fault fault;
    if (syntax_parse(program, n, "<test>", NULL, &tree, &fault, &why)) {
        tell(out, &why, fault.kind);
        return;
    }
    machine *m = machine_new(&why);
    kn_scope scope = kn_scope_open();
    value last = NO_VALUE_;
    if (m) {
        m->output = print;
        m->output_arg = out;
        m->limits = (machine_limits){ .seconds = 60 };
    }
    if (m && !machine_run(m, tree, &last)) {
        text where = { 0 };
        machine_error(m, &why, &where);
        tell(out, &why, NULL);
        if (getenv("KILN_TELL")) text_add(out, "%s", where.at ? where.at : "");
        text_free(&where);
    }
    if (m) value_drop(m, last);
    machine_free(m);
    kn_scope_close(scope);
    syntax_free(tree);
}

int main(void) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        size_t n = strtoull(line, NULL, 10);
        char *program = malloc(n + 1);
        if (!program || fread(program, 1, n, stdin) != n) return 3;
        program[n] = 0;
        text out = { 0 };
        run(program, n, &out);
        printf("%zu\n", out.len);
        fwrite(out.at ? out.at : "", 1, out.len, stdout);
        fflush(stdout);
        text_free(&out);
        free(program);
    }
    return 0;
}
