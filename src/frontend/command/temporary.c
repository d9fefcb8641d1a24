/* temporary.c: files that live for a moment, for readers and writers that need a name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "frontend/command/command.h"

bool isatty_standard_input(void) { return isatty(STDIN_FILENO) == 1; }

FILE *temporary_open(char path[TEMPORARY_PATH], const char *ending) {
    const char *folder = getenv("TMPDIR");
    int n = snprintf(path, TEMPORARY_PATH, "%s/kiln-XXXXXX%s", folder && *folder ? folder : "/tmp", ending);
    int fd = n > 0 && n < TEMPORARY_PATH ? mkstemps(path, (int)strlen(ending)) : -1;
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (fd >= 0 && !f) {
        close(fd);
        remove(path);
    }
    return f;
}
