/* Parses programs for test_language_syntax.py to compare with Python's own parser.
 *
 * Standard input holds cases: a line "tree LENGTH", "places LENGTH" or "scopes LENGTH", and the bytes of the program. Each answer is a line
 * "1 LENGTH" with the tree (or the scopes), or "0 LENGTH" with "KIND LINE COLUMN" and the sentence, and the text itself. */
#include "frontend/language/syntax.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char mode[8];
    size_t n;
    while (scanf("%7s %zu", mode, &n) == 2 && getchar() == '\n') {
        char *program = malloc(n ? n : 1);
        if (!program || fread(program, 1, n, stdin) != n)
            return 3;
        syntax_tree *tree;
        syntax_fault fault;
        message m = {0};
        text out = {0};
        bool good = syntax_parse(program, n, "<input>", NULL, &tree, &fault, &m) == KN_OK;
        if (!good)
            text_add(&out, "%s %u %u %s", fault.kind, fault.line, fault.column, m.text);
        else if (strcmp(mode, "scopes") == 0)
            syntax_dump_scopes(tree, &out);
        else
            syntax_dump(tree, strcmp(mode, "places") == 0, &out);
        if (out.failed)
            return 3;
        printf("%d %zu\n", good, out.len);
        fwrite(out.len ? out.at : "", 1, out.len, stdout);
        text_free(&out);
        syntax_free(tree);
        free(program);
    }
    return 0;
}
