/* emit.c: kiln emit and kiln explain: the kernels that a program's results become, and why. Nothing runs that the program itself
 * does not ask for. */
#include <stdio.h>
#include <string.h>
#include "frontend/command/command.h"
#include "kiln.h"
#include "runtime/runtime.h"

static const struct { const char *target, *profile; } defaults[] = { { "cuda", "sm_90" }, { "hip", "gfx90a" }, { "llvm", "cpu" }, { "asm", "cpu" } };

/* The profile that target and architecture name, or NULL with a complaint. */
static const char *choose_profile(const job *j) {
    const char *target = j->target ? j->target : "cuda", *name = NULL;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) if (!strcmp(target, defaults[i].target)) name = defaults[i].profile;
    if (!name) { complain(EXIT_USAGE, "--target %s: cuda, hip, llvm and asm are there", target); return NULL; }
    if (!j->arch) return name;
    const device_profile *p = profile_named(j->arch), *usual = profile_named(name);
    if (p && p->target == usual->target) return p->name;
    text known = { 0 };
    for (int i = 0; i < nprofiles; i++) if (profiles[i].target == usual->target) text_add(&known, " %s", profiles[i].name);
    complain(EXIT_USAGE, "--arch %s: %s knows%s", j->arch, target, known.at ? known.at : "");
    text_free(&known);
    return NULL;
}

typedef kn_status describe(node *const *roots, int nroots, const char *profile, text *out, message *m);

static int described(session *s, value last, describe *how, const char *profile) {
    kn_array roots[MOST_ROOTS];
    node *nodes[MOST_ROOTS];
    message why = { 0 };
    text out = { 0 };
    int n = session_roots(s, last, roots), have = 0;
    if (!n) return complain(EXIT_PROGRAM, "the program leaves nothing to compute: its last value is no pending array");
    while (have < n && (nodes[have] = array_node(roots[have], "emit", &why))) have++;
    kn_status status = have == n ? how(nodes, n, profile, &out, &why) : why.status;
    for (int i = 0; i < have; i++) node_drop(nodes[i]);
    if (!status) fwrite(out.at ? out.at : "", 1, out.len, stdout);
    text_free(&out);
    return status ? complain(EXIT_PROGRAM, "%s: %s", kn_status_name(status), why.text) : EXIT_GOOD;
}

static int describe_job(const job *j, describe *how, const char *profile) {
    session s;
    value last = none_value();
    int status = session_open(&s, j, INPUT_DECLARED);
    if (!status) status = machine_run(s.m, s.tree, &last) ? described(&s, last, how, profile) : complain_of(s.m);
    if (s.m) value_drop(s.m, last);
    session_close(&s);
    return status;
}

int command_emit(const job *j) {
    const char *profile = choose_profile(j);
    return profile ? describe_job(j, j->target && !strcmp(j->target, "asm") ? evaluate_assembly : evaluate_source, profile) : EXIT_USAGE;
}

int command_explain(const job *j) {
    const char *profile = j->target ? choose_profile(j) : "cpu";
    if (j->format != FORMAT_TEXT) return complain(EXIT_USAGE, "explain gives text; the other forms are not there yet");
    return profile ? describe_job(j, evaluate_explain, profile) : EXIT_USAGE;
}
