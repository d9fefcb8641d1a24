/* Any bytes as a program: a tree whose every part lies within the text and whose names have their slots, or a sentence with a
 * place in the text. The first byte says whether it is one expression, and which allocation fails. */
#include "frontend/language/syntax.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail_now(const char *what, const char *more)
{
    fprintf(stderr, "fuzz_language: %s: %s\n", what, more);
    abort();
}

static void check_functions(const syntax_tree *t)
{
    for (uint32_t i = 0; i < t->nfunctions; i++) {
        const syntax_function *f = t->functions[i];
        if (f->nparameters > f->nlocals && f->kind != FUNCTION_MODULE)
            fail_now("a parameter without a slot", t->names[f->name]);
        for (uint32_t k = 0; k < f->nparameters; k++)
            if (f->slot_names[k] != f->parameters[k].name)
                fail_now("a parameter in another's slot", t->names[f->name]);
        for (uint32_t k = 0; k < f->nfree; k++) {
            const syntax_function *around = f->around;
            uint32_t slot = f->captures[k];
            if (slot >= around->nlocals + around->nfree || around->slot_names[slot] != f->slot_names[f->nlocals + k])
                fail_now("a capture of another name", t->names[f->name]);
            if (slot < around->nlocals && !around->is_cell[slot])
                fail_now("a capture of what is no cell", t->names[f->name]);
        }
    }
}

static void check_failure(kn_status status, const syntax_fault *f, const message *m, const char *text, size_t n)
{
    uint32_t lines = 2;
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n' || text[i] == '\r';
    if (m->status != status || m->text[0] == '\0')
        fail_now("a failure without its sentence", m->text);
    if (!f->kind || f->line < 1 || f->line > lines || f->column < 1 || f->column > n + 1)
        fail_now("a place outside of the text", m->text);
    if (status != KN_MEMORY_ERROR && !strchr(m->text, '^') && !strstr(m->text, "..."))
        fail_now("a sentence without a caret", m->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    syntax_tree *t;
    syntax_fault fault;
    message m = {0};
    syntax_limits limits = {.depth = 200};
    const char *text = (const char *)data + 1;
    bool expression = data[0] & 1;
    if (data[0] >= 128)
        mem_fail_after(data[0] / 2 % 64, data[0] % 4 == 0);
    kn_status status = (expression ? syntax_parse_expression : syntax_parse)(text, size - 1, "<fuzz>", &limits, &t, &fault, &m);
    mem_fail_after(-1, false);
    if (status) {
        if (t || (status == KN_MEMORY_ERROR && data[0] < 128))
            fail_now("a tree of a program that is refused, or no memory", m.text);
        check_failure(status, &fault, &m, text, size - 1);
        return 0;
    }
    check_functions(t);
    struct text out = {0};
    syntax_dump(t, true, &out);
    syntax_dump_scopes(t, &out);
    text_free(&out);
    syntax_free(t);
    return 0;
}
