/* The language from C: kn_text, kn_run, kn_program; C variables; errors with places; limits; nothing is left behind. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "frontend/language/language.h"
#include "kiln.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * (1 + fabs(b)); }

/* ---- kn_text ---- */

Test(language, text_is_the_value_of_an_expression) {
    KN_SCOPE(s);
    double r = .05, sigma = .2, dt = .25;
    kn_array z = kn_from(((double[]){ 0, 1, -1 }), 3);
    double out[3];
    kn_array y = kn_text("exp((r - sigma**2/2)*dt + sigma*sqrt(dt)*z)", r, sigma, dt, z);
    cr_assert(!kn_read(y, out, 3), "%s", kn_error());
    for (int i = 0; i < 3; i++) cr_expect(near(out[i], exp((r - sigma * sigma / 2) * dt + sigma * sqrt(dt) * (i == 2 ? -1 : i))), "%d: %g", i, out[i]);
}

Test(language, text_values_are_arrays_of_any_kind) {
    KN_SCOPE(s);
    int n = 3;
    cr_expect(kn_f64(kn_text("1 + 1")) == 2);
    cr_expect(kn_dtype_of(kn_add(kn_text("1"), kn_from(((float[]){ 1 }), 1))) == KN_FLOAT32, "a Python number stays weak");
    cr_expect(kn_dtype_of(kn_text("float64(1)")) == KN_FLOAT64);
    cr_expect(kn_len(kn_text("[1, 2, n]", n), 0) == 3);
    cr_expect(kn_dtype_of(kn_text("arange(n) > 1", n)) == KN_BOOL);
    cr_expect(kn_c128(kn_text("(1 + 2j)**2")).im == 4);
    cr_expect(kn_i64(kn_text("m = 5\nm * m")) == 25, "the last expression's value");
    uint64_t most = UINT64_MAX;
    cr_expect(kn_true(kn_text("most == 2**64 - 1", most)));
}

Test(language, text_hands_an_array_to_the_scope_around) {
    KN_SCOPE(outer);
    kn_array x = kn_from(((double[]){ 1, 2, 3 }), 3), same, view;
    {
        KN_SCOPE(inner);
        same = kn_return(inner, kn_text("x", x));
        view = kn_return(inner, kn_text("x[1:]", x));
    }
    kn_iadd(x, 1);
    cr_expect(kn_f64(kn_sum(same)) == 9);
    cr_expect(kn_f64(kn_sum(view)) == 7, "a view shows later changes");
    kn_let(x, kn(0));
    cr_expect(kn_f64(kn_sum(same)) == 9, "another handle than the variable's");
}

Test(language, text_without_a_scope_is_an_error) { cr_expect(kn_check(kn_text_with("1", NULL, 0)) == KN_SCOPE_ERROR); }

Test(language, text_that_is_no_array) {
    KN_SCOPE(s);
    cr_expect(kn_check(kn_text("'text'")) == KN_TYPE_ERROR);
    cr_expect(kn_check(kn_text("x = 1")) == KN_VALUE_ERROR);
    cr_expect(kn_check(kn_text("None")) == KN_VALUE_ERROR);
    cr_expect(kn_check(kn_text("")) == KN_VALUE_ERROR);
    cr_expect(kn_check(kn_text_with(NULL, NULL, 0)) == KN_VALUE_ERROR);
}

/* ---- kn_run ---- */

Test(language, run_updates_arrays_in_place) {
    KN_SCOPE(s);
    kn_array u = kn_from(((double[]){ 1, 2, 3, 4 }), 4), v = kn_index(u, "::2"), mask = kn_text("u > 2", u);
    double w = 10;
    cr_assert(!kn_run("u[mask] += w", u, mask, w), "%s", kn_error());
    cr_expect(kn_f64(kn_sum(u)) == 30);
    cr_expect(kn_f64(kn_sum(v)) == 14, "views see it");
    cr_assert(!kn_run("for i in range(4): u[i] = i\nu *= 2", u));
    cr_expect(kn_f64(kn_sum(u)) == 12);
}

Test(language, run_gives_names_new_values) {
    KN_SCOPE(s);
    kn_array a = kn_from(((double[]){ 1, 2 }), 2), b = kn_from(((double[]){ 5 }), 1), alias = kn_index(a, "...");
    double n = 1;
    cr_assert(!kn_run("a, b = b, a * 2; n = 7", a, b, n), "%s", kn_error());
    cr_expect(kn_f64(kn_sum(a)) == 5 && kn_f64(kn_sum(b)) == 6);
    cr_expect(kn_f64(kn_sum(alias)) == 3, "the memory is as it was");
    cr_assert(!kn_run("a = [1, 2, 3]; b = a.sum() if 0 else 4.5", a, b));
    cr_expect(kn_len(a, 0) == 3 && kn_f64(b) == 4.5);
    for (int i = 0; i < 500; i++) {
        KN_SCOPE(step);
        kn_run("a = a + 1", a);
    }
    cr_expect(kn_f64(kn_sum(a)) == 1506);
}

/* ---- programs ---- */

Test(language, a_program_is_read_once_and_run_often) {
    KN_SCOPE(s);
    kn_program *p = kn_program_new("def f(x): return x * k\nf(a) + f(a)");
    cr_assert(p, "%s", kn_error());
    kn_array a = kn_from(((double[]){ 1, 2 }), 2);
    for (int k = 1; k < 20; k++) cr_expect(kn_f64(kn_sum(kn_program_value(p, a, k))) == 6 * k);
    cr_expect(kn_program_run(p, a) == KN_NAME_ERROR, "names do not stay from run to run");
    kn_program_free(p);
    cr_expect(!kn_program_new("1 +"));
    cr_expect(kn_error_status() == KN_SYNTAX_ERROR);
    kn_program_free(NULL);
}

static void *run_many(void *arg) {
    kn_program *p = arg;
    for (int i = 0; i < 300; i++) {
        KN_SCOPE(s);
        kn_array x = kn_from(((double[]){ 1, 2, 3 }), 3);
        double t = i;
        if (kn_f64(kn_sum(kn_program_value(p, x, t))) != 6 + 3 * t || kn_f64(kn_text("x.sum() + t", x, t)) != 6 + t) return arg;
    }
    return NULL;
}

Test(language, threads_share_a_program) {
    kn_program *p = kn_program_new("[v + t for v in x]");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_many, p);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        cr_expect(!failed);
    }
    kn_program_free(p);
}

/* ---- errors ---- */

Test(language, an_error_has_a_kind_a_place_and_the_line) {
    KN_SCOPE(s);
    kn_array a = kn_from(((double[]){ 1, 2, 3 }), 3);
    cr_expect(kn_run("x = 1\nif x:\n    y = a[x + 5]\n", a) == KN_INDEX_ERROR);
    const char *why = kn_error();
    cr_expect(strstr(why, "kn_run: IndexError"), "%s", why);
    cr_expect(strstr(why, "line 3"), "%s", why);
    cr_expect(strstr(why, "y = a[x + 5]\n"), "%s", why);
    cr_expect(strstr(why, "^"), "%s", why);
    cr_expect(kn_run("1/0") == KN_ZERO_DIVISION_ERROR);
    cr_expect(kn_run("nothing_of_this_name") == KN_NAME_ERROR);
    cr_expect(kn_run("a.nothing", a) == KN_ATTRIBUTE_ERROR);
    cr_expect(kn_run("{}['k']") == KN_KEY_ERROR);
    cr_expect(kn_run("assert False, 'because'") == KN_ASSERTION_ERROR);
    cr_expect(strstr(kn_error(), "because"), "%s", kn_error());
    cr_expect(kn_run("a + [1, 2]", a) == KN_VALUE_ERROR);
    cr_expect(kn_run("class A: pass") == KN_SYNTAX_ERROR);
}

Test(language, an_error_shows_the_calls_that_led_to_it) {
    KN_SCOPE(s);
    cr_expect(kn_run("def f(x):\n    return 1 / x\ndef g(x):\n    return f(x - 1)\ng(1)\n") == KN_ZERO_DIVISION_ERROR);
    const char *why = kn_error(), *g = strstr(why, "g(1)"), *f = strstr(why, "in g"), *inner = strstr(why, "in f");
    cr_expect(g && f && inner && g < f && f < inner, "%s", why);
    cr_expect(strstr(why, "return 1 / x\n               ^^^^^"), "%s", why);
}

static int told;
static void tell(kn_status status, const char *sentence, void *arg) { (void)status, (void)sentence, (void)arg, told++; }

Test(language, errors_that_the_program_handles_are_told_to_nobody) {
    KN_SCOPE(s);
    kn_on_error(tell, NULL);
    kn_error_clear();
    cr_expect(!kn_run("try:\n    zeros(3) + zeros(4)\nexcept ValueError:\n    pass\n"));
    cr_expect(kn_scope_status(s) == KN_OK && !*kn_error() && told == 0);
    cr_expect(kn_run("zeros(3) + zeros(4)") == KN_VALUE_ERROR);
    cr_expect(kn_scope_status(s) == KN_VALUE_ERROR && *kn_error() && told == 1, "%d", told);
    kn_on_error(NULL, NULL);
}

Test(language, an_error_array_is_carried_on) {
    KN_SCOPE(s);
    kn_array bad = kn_add(kn_from(((double[]){ 1, 2 }), 2), kn_from(((double[]){ 1, 2, 3 }), 3)), y = kn_text("bad + 1", bad);
    cr_expect(kn_check(y) == KN_VALUE_ERROR);
    cr_expect(kn_run("bad += 1", bad) == KN_VALUE_ERROR);
    kn_array gone;
    {
        KN_SCOPE(inner);
        gone = kn_from(((double[]){ 1 }), 1);
    }
    cr_expect(kn_check(kn_text("gone + 1", gone)) == KN_SCOPE_ERROR);
}

Test(language, what_is_not_in_the_language) {
    KN_SCOPE(s);
    const char *texts[] = { "open('x')", "__import__('os')", "eval('1')", "exec('1')", "(1).__class__", "import os", "import subprocess", "zeros(3).tofile('x')", "load('x.npy')" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) cr_expect(kn_run_with(texts[i], NULL, 0) != KN_OK, "%s", texts[i]);
}

/* ---- limits ---- */

static kn_status run_limited(const char *program, machine_limits limits, message *what) {
    syntax_tree *tree;
    *what = (message){ 0 };
    if (syntax_parse(program, strlen(program), "<test>", NULL, &tree, NULL, what)) return what->status;
    machine *m = machine_new(what);
    value last = NO_VALUE_;
    kn_status status = KN_OK;
    m->limits = limits;
    if (!machine_run(m, tree, &last)) status = machine_error(m, what, NULL);
    value_drop(m, last);
    machine_free(m);
    syntax_free(tree);
    return status;
}

Test(language, limits_give_errors) {
    KN_SCOPE(s);
    message what;
    const char *endless[] = { "while True: pass", "while True:\n    try:\n        while True: pass\n    except RuntimeError: pass", "[i for i in iter(lambda: 1, 2)]", "n = 0\nfor i in range(10**15): n += i",
                              "def f():\n    try: f()\n    except: f()\nwhile True: f()" };
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        cr_expect(run_limited(endless[i], (machine_limits){ .steps = 20000 }, &what) != KN_OK, "%s", endless[i]);
        cr_expect(run_limited(endless[i], (machine_limits){ .seconds = .05 }, &what) != KN_OK, "%s", endless[i]);
    }
    cr_expect(run_limited("for i in range(100): pass", (machine_limits){ .steps = 20000 }, &what) == KN_OK);
    const char *large[] = { "x = []\nwhile True: x.append(1)", "x = 'a'\nwhile True: x += x", "x = [0] * 10**7", "x = {}\ni = 0\nwhile True:\n    x[i] = i\n    i += 1", "zeros(10**9)", "x = ()\nwhile True: x = (x, x)", "x = 1\nwhile True: x = x * 3" };
    for (size_t i = 0; i < sizeof large / sizeof *large - 1; i++)
        cr_expect(run_limited(large[i], (machine_limits){ .bytes = 1 << 20, .seconds = 20 }, &what) == KN_MEMORY_ERROR, "%s: %s", large[i], what.text);
    cr_expect(run_limited("def f(n): return f(n + 1)\nf(0)", (machine_limits){ .depth = 50 }, &what) == KN_RUNTIME_ERROR && strstr(what.text, "RecursionError"), "%s", what.text);
}

static void *deep(void *arg) {
    KN_SCOPE(s);
    message what;
    const char *const *programs = arg;
    for (; *programs; programs++) run_limited(*programs, (machine_limits){ .depth = 1 << 20, .seconds = 20 }, &what);
    return NULL;
}

Test(language, a_small_stack_is_enough) {
    static const char *const programs[] = { "def f(n): return f(n + 1)\nf(0)", "f = lambda n: [f(n) for _ in (1,)]\nf(0)", "x = []\nfor i in range(100000): x = [x]\nprint(x)\ny = x\nx == [y]",
                                            "x = ()\nfor i in range(100000): x = (x,)\nhash(x)", "f = lambda: sorted([1, 2], key=lambda v: f())\nf()", "g = (i for i in [])\nfor k in range(100000): g = (i for i in g)\nlist(g)", NULL };
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 << 10);
    pthread_create(&thread, &small, deep, (void *)programs);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
}

/* ---- memory ---- */

Test(language, nothing_is_left_behind) {
    KN_SCOPE(s);
    kn_array x = kn_from(((double[]){ 1, 2, 3 }), 3);
    const char *programs[] = { "y = [x + i for i in range(10)]", "a = []; a.append(a); a.append(x)", "def f(): return f\nf()", "d = {}; d['d'] = d; g = (i for i in [d, x])\nnext(g)", "for i in range(100): z = x * i\nz[0]", "x[5]",
                               "try: x[5]\nexcept IndexError as e: k = e" };
    for (int round = 0; round < 3; round++) {
        uint64_t before = kn_statistics().handles_live;
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) kn_run_with(programs[i], &(kn_named){ "x", x }, 1);
        if (round) cr_expect(kn_statistics().handles_live <= before + 1, "%d more", (int)(kn_statistics().handles_live - before));
    }
}

Test(language, a_long_loop_keeps_few_handles) {
    KN_SCOPE(s);
    kn_array x = kn_from(((double[]){ 1, 2, 3 }), 3);
    uint64_t before = kn_statistics().handles_live;
    cr_assert(!kn_run("for i in range(2000):\n    y = x * 2 + i\n    x[i % 3] = y[0] / 2 - i / 2\n", x), "%s", kn_error());
    cr_expect(kn_statistics().handles_live <= before + 8);
}

Test(language, allocations_that_fail_give_errors) {
    KN_SCOPE(s);
    kn_array x = kn_from(((double[]){ 1, 2, 3 }), 3);
    for (int i = 0; i < 400; i++) {
        mem_fail_after(i, true);
        kn_run("d = {'a': [1, 2, (3, 'b')]}\ndef f(u, *v, **w): return [u, v, w, f'{u}']\nf(1, 2, k=d)\nz = [q for q in (i * i for i in range(20))]\ntry: z[99]\nexcept IndexError as e: s = str(e)\nx[0] = 1", x);
        mem_fail_after(-1, false);
    }
}
