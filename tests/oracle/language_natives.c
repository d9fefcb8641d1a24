/* Evaluates expressions of Kiln's language for test_language_natives.py: one a line; each answer is a line, the value's
 * repr, or "!" and the kind of the exception and its sentence. Line ends within are written as \n. With an argument every
 * expression is evaluated that many times more, the n-th time with the n-th allocation failing, and answered once: by what
 * was neither the same nor a MemoryError, if anything was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/language.h"

static void put(text *t, const char *mark, const char *s) {
    text_addn(t, mark, strlen(mark));
    for (; *s; s++) {
        if (*s == '\n') text_addn(t, "\\n", 2);
        else text_addn(t, s, 1);
    }
}

static void put_failure(machine *m, text *t) {
    message what = { 0 };
    put(t, "!", m->exception.kind == VALUE_EXCEPTION ? ((exception_object *)m->exception.u.o)->type->name : "nothing");
    machine_error(m, &what, NULL);
    put(t, " ", what.text);
}

/* The answer, with the `starved`-th allocation failing unless that is 0. */
static void evaluate(machine *m, const syntax_tree *tree, int starved, text *t) {
    KN_SCOPE(s);
    value v = { 0 };
    text shown = { 0 };
    if (starved) mem_fail_after(starved, false);
    bool good = machine_run(m, tree, &v) && value_repr(m, v, &shown);
    if (starved) mem_fail_after(-1, false);
    if (good) put(t, "", shown.at);
    else put_failure(m, t);
    value_drop(m, v);
    text_free(&shown);
}

/* Trees stay: the machine remembers those that it has run. */
static syntax_tree *answer(machine *m, const char *line, size_t n, int starved) {
    syntax_tree *tree = NULL;
    message why = { 0 };
    text normal = { 0 };
    if (syntax_parse_expression(line, n, "<test>", NULL, &tree, NULL, &why)) put(&normal, "!SyntaxError ", why.text);
    else evaluate(m, tree, 0, &normal);
    for (int i = 1; tree && i <= starved; i++) {
        text t = { 0 };
        evaluate(m, tree, i, &t);
        if (t.at && strcmp(t.at, normal.at) && strncmp(t.at, "!MemoryError", 12)) {
            text_free(&normal);
            normal = t;
            break;
        }
        text_free(&t);
    }
    puts(normal.at ? normal.at : "!");
    fflush(stdout);
    text_free(&normal);
    return tree;
}

static syntax_tree *prepared(machine *m) {
    static const char program[] = "import math, cmath\nimport numpy as np\n";
    syntax_tree *tree = NULL;
    message why = { 0 };
    value v = { 0 };
    if (syntax_parse(program, sizeof program - 1, "<test>", NULL, &tree, NULL, &why) || !machine_run(m, tree, &v)) fputs("the modules are missing\n", stderr);
    value_drop(m, v);
    return tree;
}

int main(int argc, char **argv) {
    static char line[1 << 20];
    static syntax_tree *trees[1 << 17];
    size_t n = 0;
    message why = { 0 };
    KN_SCOPE(all);
    machine *m = machine_new(&why);
    if (!m) return 2;
    m->limits = (machine_limits){ .steps = 0, .seconds = 20, .bytes = (int64_t)1 << 30 };
    trees[n++] = prepared(m);
    while (n < sizeof trees / sizeof *trees && fgets(line, sizeof line, stdin))
        trees[n++] = answer(m, line, strcspn(line, "\n"), argc > 1 ? atoi(argv[1]) : 0);
    machine_free(m);
    while (n) syntax_free(trees[--n]);
    return 0;
}
