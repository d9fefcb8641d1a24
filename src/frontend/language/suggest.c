/* suggest.c: the sentence for a name that is not there, with the nearest names that are.
 *
 * How it works: the optimal string alignment distance (Damerau 1964: a letter more, fewer, other, or two exchanged) to every
 * name that could have been meant; those nearest are told, if they are near enough. */
#include <stdio.h>
#include <string.h>
#include "frontend/language/machine.h"
#include "frontend/language/numpy.h"

#define MOST_LETTERS 40
#define MOST_TOLD 3

typedef struct nearest { const char *name; int least, n; const char *told[MOST_TOLD]; } nearest;

static int least_of(int a, int b, int c) { return a < b ? a < c ? a : c : b < c ? b : c; }

static int distance(const char *a, const char *b) {
    int n = (int)strlen(a), m = (int)strlen(b), row[3][MOST_LETTERS + 1];
    if (n > MOST_LETTERS || m > MOST_LETTERS) return MOST_LETTERS;
    for (int j = 0; j <= m; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            now[j] = least_of(before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < now[j]) now[j] = two[j - 2] + 1;
        }
    }
    return row[n % 3][m];
}

static void consider(const char *name, void *arg) {
    nearest *near = arg;
    int allowed = (int)strlen(near->name) / 3, d;
    if (allowed > 3) allowed = 3;
    if (!name || *name == '_' || (d = distance(near->name, name)) > (allowed ? allowed : 1) || d > near->least) return;
    if (d < near->least) near->n = 0;
    near->least = d;
    for (int i = 0; i < near->n; i++) if (!strcmp(near->told[i], name)) return;
    if (near->n < MOST_TOLD) near->told[near->n++] = name;
}

void raise_name_missing(machine *m, const char *where, const char *name) {
    nearest near = { .name = name, .least = MOST_LETTERS };
    char hint[160] = "";
    int at = 0;
    module_each(where ? where : "numpy", consider, &near);
    for (uint32_t i = 0; !where && i < m->state->nglobals; i++) if (!absent(m->state->globals[i].v)) consider(m->state->globals[i].name, &near);
    for (int i = 0; !where && i < nbuiltin_rows; i++) consider(builtin_rows[i].name, &near);
    for (int i = 0; i < near.n && at >= 0 && (size_t)at < sizeof hint; i++)
        at += snprintf(hint + at, sizeof hint - (size_t)at, "%s'%s'", i == 0 ? "; did you mean " : i + 1 < near.n ? ", " : " or ", near.told[i]);
    if (near.n && (size_t)at + 1 < sizeof hint) strcat(hint, "?");
    if (where) raise(m, "AttributeError", "module '%s' has no attribute '%s'%s", where, name, hint);
    else raise(m, "NameError", "name '%s' is not defined%s", name, hint);
}
