/* A stand-in for Criterion, for sanitizer builds alone.
 *
 * Criterion's own runner maps memory for its workers at addresses that ThreadSanitizer keeps for itself, and it counts a
 * test whose process ends with a leak report as passed. Here each test runs in a forked child that has to end with
 * status 0, and the last line is "N passed, N failed". Only the part of Criterion that the tests use is here: Test and
 * TestSuite with init, fini, timeout, signal, exit_code and disabled; cr_assert and cr_expect in their common forms. */
#ifndef KILN_CRITERION_STANDIN_H
#define KILN_CRITERION_STANDIN_H
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct cr_options {
    int line_;
    void (*init)(void), (*fini)(void);
    double timeout;
    int signal, exit_code;
    bool disabled;
    const char *description;
};
struct cr_entry {
    const char *suite, *name;   /* name is NULL for a suite's own options */
    void (*run)(void);
    struct cr_options options;
    struct cr_entry *next;
};

__attribute__((weak)) struct cr_entry *cr_entries;
__attribute__((weak)) int cr_failures;

__attribute__((weak)) void cr_add(struct cr_entry *e)
{
    struct cr_entry **at = &cr_entries;
    while (*at)
        at = &(*at)->next;
    *at = e;
}

__attribute__((weak)) void cr_failed(bool stop, const char *file, int line, const char *what, const char *format, ...)
{
    fprintf(stderr, "%s:%d: %s%s", file, line, what, *format ? ": " : "");
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    cr_failures++;
    if (stop)
        exit(1);
}

/* In the child: the test itself. */
__attribute__((weak)) void cr_run_here(const struct cr_entry *test, const struct cr_options *suite)
{
    double timeout = test->options.timeout > 0 ? test->options.timeout : suite->timeout;
    if (timeout > 0)
        alarm((unsigned)(10 * timeout) + 1); /* sanitizers are slow */
    void (*init)(void) = test->options.init ? test->options.init : suite->init;
    void (*fini)(void) = test->options.fini ? test->options.fini : suite->fini;
    if (init)
        init();
    test->run();
    if (fini)
        fini();
    exit(cr_failures != 0);
}

__attribute__((weak)) bool cr_passes(const struct cr_entry *test, const struct cr_options *suite)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        cr_run_here(test, suite);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (test->options.signal)
        return status != 0; /* sanitizers turn signals into exits */
    return WIFEXITED(status) && WEXITSTATUS(status) == test->options.exit_code;
}

__attribute__((weak)) int main(int argc, char **argv)
{
    static const struct cr_options none;
    int passed = 0, failed = 0;
    for (struct cr_entry *test = cr_entries; test; test = test->next) {
        if (!test->name || test->options.disabled || (argc > 1 && !strstr(test->name, argv[1])))
            continue;
        const struct cr_options *suite = &none;
        for (struct cr_entry *e = cr_entries; e; e = e->next)
            if (!e->name && strcmp(e->suite, test->suite) == 0)
                suite = &e->options;
        if (suite->disabled)
            continue;
        if (cr_passes(test, suite)) {
            passed++;
        } else {
            failed++;
            fprintf(stderr, "%s::%s: failed\n", test->suite, test->name);
        }
    }
    fflush(stderr);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#define Test(...) CR_TEST(__VA_ARGS__, .line_ = __LINE__)
#define CR_TEST(suite_, name_, ...)                                                                                        \
    static void suite_##_##name_##_test(void);                                                                             \
    __attribute__((constructor)) static void suite_##_##name_##_add(void)                                                  \
    {                                                                                                                      \
        static struct cr_entry e = {.suite = #suite_, .name = #name_, .run = suite_##_##name_##_test, .options = {__VA_ARGS__}}; \
        cr_add(&e);                                                                                                        \
    }                                                                                                                      \
    static void suite_##_##name_##_test(void)
#define TestSuite(...) CR_SUITE(__VA_ARGS__, .line_ = __LINE__)
#define CR_SUITE(suite_, ...)                                                                                              \
    __attribute__((constructor)) static void suite_##_add(void)                                                            \
    {                                                                                                                      \
        static struct cr_entry e = {.suite = #suite_, .options = {__VA_ARGS__}};                                           \
        cr_add(&e);                                                                                                        \
    }                                                                                                                      \
    struct cr_entry

/* The message, with its arguments, may be left out: a "" is put behind, which then is the message or is not used. */
#define CR_CHECK(stop, what, condition, ...) ((condition) ? (void)0 : cr_failed(stop, __FILE__, __LINE__, what, __VA_ARGS__))
#define CR_TRUE(stop, condition, ...) CR_CHECK(stop, #condition, condition, __VA_ARGS__)
#define CR_FALSE(stop, condition, ...) CR_CHECK(stop, "not " #condition, !(condition), __VA_ARGS__)
#define CR_NULL(stop, a, ...) CR_CHECK(stop, #a " is NULL", (a) == NULL, __VA_ARGS__)
#define CR_NOT_NULL(stop, a, ...) CR_CHECK(stop, #a " is not NULL", (a) != NULL, __VA_ARGS__)
#define CR_COMPARE(stop, op, a, b, ...) CR_CHECK(stop, #a " " #op " " #b, (a) op (b), __VA_ARGS__)
#define CR_TEXT(stop, op, a, b, ...) CR_CHECK(stop, #a " " #op " " #b, strcmp(a, b) op 0, __VA_ARGS__)
#define CR_EMPTY(stop, a, ...) CR_CHECK(stop, #a " is empty", *(a) == '\0', __VA_ARGS__)
#define CR_NOT_EMPTY(stop, a, ...) CR_CHECK(stop, #a " is not empty", *(a) != '\0', __VA_ARGS__)
#define CR_BYTES(stop, op, a, b, size, ...) CR_CHECK(stop, #a " " #op " " #b, memcmp(a, b, size) op 0, __VA_ARGS__)
#define CR_NEAR(stop, a, b, eps, ...) CR_CHECK(stop, #a " is near " #b, fabs((double)(a) - (double)(b)) <= (double)(eps), __VA_ARGS__)
#define CR_FAR(stop, a, b, eps, ...) CR_CHECK(stop, #a " is not near " #b, !(fabs((double)(a) - (double)(b)) <= (double)(eps)), __VA_ARGS__)

#define cr_assert(...) CR_TRUE(true, __VA_ARGS__, "")
#define cr_assert_not(...) CR_FALSE(true, __VA_ARGS__, "")
#define cr_assert_null(...) CR_NULL(true, __VA_ARGS__, "")
#define cr_assert_not_null(...) CR_NOT_NULL(true, __VA_ARGS__, "")
#define cr_assert_eq(...) CR_COMPARE(true, ==, __VA_ARGS__, "")
#define cr_assert_neq(...) CR_COMPARE(true, !=, __VA_ARGS__, "")
#define cr_assert_lt(...) CR_COMPARE(true, <, __VA_ARGS__, "")
#define cr_assert_leq(...) CR_COMPARE(true, <=, __VA_ARGS__, "")
#define cr_assert_gt(...) CR_COMPARE(true, >, __VA_ARGS__, "")
#define cr_assert_geq(...) CR_COMPARE(true, >=, __VA_ARGS__, "")
#define cr_assert_str_eq(...) CR_TEXT(true, ==, __VA_ARGS__, "")
#define cr_assert_str_neq(...) CR_TEXT(true, !=, __VA_ARGS__, "")
#define cr_assert_str_empty(...) CR_EMPTY(true, __VA_ARGS__, "")
#define cr_assert_str_not_empty(...) CR_NOT_EMPTY(true, __VA_ARGS__, "")
#define cr_assert_arr_eq(...) CR_BYTES(true, ==, __VA_ARGS__, "")
#define cr_assert_arr_neq(...) CR_BYTES(true, !=, __VA_ARGS__, "")
#define cr_assert_float_eq(...) CR_NEAR(true, __VA_ARGS__, "")
#define cr_assert_float_neq(...) CR_FAR(true, __VA_ARGS__, "")
#define cr_assert_fail(...) CR_FAIL(true, __VA_ARGS__)
#define cr_expect(...) CR_TRUE(false, __VA_ARGS__, "")
#define cr_expect_not(...) CR_FALSE(false, __VA_ARGS__, "")
#define cr_expect_null(...) CR_NULL(false, __VA_ARGS__, "")
#define cr_expect_not_null(...) CR_NOT_NULL(false, __VA_ARGS__, "")
#define cr_expect_eq(...) CR_COMPARE(false, ==, __VA_ARGS__, "")
#define cr_expect_neq(...) CR_COMPARE(false, !=, __VA_ARGS__, "")
#define cr_expect_lt(...) CR_COMPARE(false, <, __VA_ARGS__, "")
#define cr_expect_leq(...) CR_COMPARE(false, <=, __VA_ARGS__, "")
#define cr_expect_gt(...) CR_COMPARE(false, >, __VA_ARGS__, "")
#define cr_expect_geq(...) CR_COMPARE(false, >=, __VA_ARGS__, "")
#define cr_expect_str_eq(...) CR_TEXT(false, ==, __VA_ARGS__, "")
#define cr_expect_str_neq(...) CR_TEXT(false, !=, __VA_ARGS__, "")
#define cr_expect_str_empty(...) CR_EMPTY(false, __VA_ARGS__, "")
#define cr_expect_str_not_empty(...) CR_NOT_EMPTY(false, __VA_ARGS__, "")
#define cr_expect_arr_eq(...) CR_BYTES(false, ==, __VA_ARGS__, "")
#define cr_expect_arr_neq(...) CR_BYTES(false, !=, __VA_ARGS__, "")
#define cr_expect_float_eq(...) CR_NEAR(false, __VA_ARGS__, "")
#define cr_expect_float_neq(...) CR_FAR(false, __VA_ARGS__, "")
#define cr_expect_fail(...) CR_FAIL(false, __VA_ARGS__)
#define CR_FAIL(stop, ...) cr_failed(stop, __FILE__, __LINE__, "failed", __VA_ARGS__)
#define cr_fatal(...) CR_FAIL(true, __VA_ARGS__)
#define cr_fail(...) CR_FAIL(false, __VA_ARGS__)
#define cr_skip(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(0))
#define cr_skip_test(...) cr_skip(__VA_ARGS__)
#define cr_log_info(...) ((void)0)
#define cr_log_warn(...) (fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr))
#define cr_log_error(...) cr_log_warn(__VA_ARGS__)
#endif
