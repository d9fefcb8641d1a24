/* info.c: kiln info and kiln cache: what this machine has, what is kept on disk. */
#include <stdio.h>
#include <string.h>
#include "codegen/codegen.h"
#include "frontend/command/command.h"
#include "kiln.h"
#include "libs/libs.h"
#include "runtime/disk_cache.h"

static void show_cache(void) {
    disk_cache_counts c;
    disk_cache_stats(&c);
    printf("cache     %s, %llu entries, %.1f MB of at most %.0f MB%s\n", *c.folder ? c.folder : "(none)", (unsigned long long)c.entries, (double)c.bytes / 1e6, (double)c.limit / 1e6,
           c.usable ? "" : ", not usable: kernels are compiled again in every process");
}

int command_info(const job *j) {
    message why = { 0 };
    (void)j;
    printf("kiln      %s\n", kn_version());
    printf("cpu       %d threads, vectors of %d bytes, %s\n", kn_threads(), cpu_vector_bytes(), cpu_features());
    if (llvm_available(&why)) printf("llvm      not available: %s\n", why.text);
    else printf("llvm      %s\n", llvm_version());
    for (int i = 0; i < NLIBRARIES; i++) {
        const char *name = library_found(i);
        if (name) printf("library   %s, for %s\n", name, library_what(i));
        else printf("library   none for %s: Kiln's own code runs; %s would be taken\n", library_what(i), library_hint(i));
    }
    show_cache();
    return EXIT_GOOD;
}

int command_cache(int argc, char **argv) {
    const char *what = argc ? argv[0] : "stats";
    if (argc > 1 || (strcmp(what, "stats") && strcmp(what, "clear"))) return complain(EXIT_USAGE, "kiln cache [stats | clear]");
    if (!strcmp(what, "clear")) disk_cache_clear();
    show_cache();
    return EXIT_GOOD;
}
