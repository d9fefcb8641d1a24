/* The text of an index: what it says, and where it is wrong. */
#include "kiln.h"
#include "frontend/array.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Items as one line: "1", "1:2:3", "...", "None", "int64(3,)". */
static void describe(const index_list *l, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int k = 0; k < l->n && n < size; k++) {
        const index_item *i = &l->item[k];
        char shape[SHAPE_TEXT];
        if (k) n += (size_t)snprintf(out + n, size - n, ", ");
        switch (i->kind) {
        case INDEX_INT: n += (size_t)snprintf(out + n, size - n, "%lld", (long long)i->start); break;
        case INDEX_NEW_AXIS: n += (size_t)snprintf(out + n, size - n, "None"); break;
        case INDEX_ELLIPSIS: n += (size_t)snprintf(out + n, size - n, "..."); break;
        case INDEX_ARRAY: n += (size_t)snprintf(out + n, size - n, "%s%s", dtype_table[i->array->dtype].name, shape_text(shape, i->array->ndim, i->array->shape)); break;
        case INDEX_SLICE:
            if (i->has_start) n += (size_t)snprintf(out + n, size - n, "%lld", (long long)i->start);
            n += (size_t)snprintf(out + n, size - n, ":");
            if (i->has_stop) n += (size_t)snprintf(out + n, size - n, "%lld", (long long)i->stop);
            if (i->has_step) n += (size_t)snprintf(out + n, size - n, ":%lld", (long long)i->step);
            break;
        default: break;
        }
    }
}

static const struct { const char *text, *items; } good[] = {
    { "0", "0" }, { " -1 ", "-1" }, { ":", ":" }, { "::", ":" }, { "1:", "1:" }, { ":-1", ":-1" }, { "1:-1, 1:-1", "1:-1, 1:-1" }, { "::-1", "::-1" },
    { "...", "..." }, { "Ellipsis", "..." }, { "..., None", "..., None" }, { "np.newaxis, :", "None, :" }, { "newaxis", "None" }, { "None:3", ":3" },
    { "None:None:None", ":" }, { "1:None", "1:" }, { "0,", "0" }, { "(0, 1)", "0, 1" }, { "()", "" }, { "(0)", "0" }, { "(1), (2)", "1, 2" },
    { "i", "5" }, { "i:", "5:" }, { "i:j, ::k", "5:9, ::2" }, { "i + 1", "6" }, { "-i", "-5" }, { "j//2", "4" }, { "-j//2", "-5" }, { "j % 4, -j % 4", "1, 3" },
    { "i*(j - 1)", "40" }, { "2**3", "8" }, { "-2**2", "-4" }, { "1 << 4, 256 >> 4", "16, 16" }, { "6 & 3, 6 | 3, 6 ^ 3, ~6", "2, 7, 5, -7" },
    { "0x10, 0b101, 0o17, 1_000", "16, 5, 15, 1000" }, { "+3", "3" }, { "i - -1", "6" }, { "i--1", "6" }, { "2 + 3 * 4 - 1", "13" }, { "10 - 3 - 2", "5" },
    { "[0, 2]", "int64(2,)" }, { "[]", "int64(0,)" }, { "[[0], [1]], [2, 3]", "int64(2, 1), int64(2,)" }, { "[True, False]", "bool(2,)" }, { "[i, i+1]", "int64(2,)" },
    { "True", "bool()" }, { "1 < 2", "bool()" }, { "a", "int64(3,)" }, { "a + 1", "int64(3,)" }, { "a > 1", "bool(3,)" }, { "(a > 0) & (a < 2)", "bool(3,)" },
    { "~(a > 1)", "bool(3,)" }, { "m", "bool(2, 2)" }, { "m, i", "bool(2, 2), 5" }, { "zero", "int64()" }, { "zero:one", "0:1" }, { "a // 2", "int64(3,)" },
    { "\n 0 ,\t1", "0, 1" }, { "long_name_of_9", "7" }, { "9223372036854775807", "9223372036854775807" }, { ":huge", ":9223372036854775807" },
};

static const struct { const char *text; kn_status status; const char *part; int column; } bad[] = {
    { "", KN_SYNTAX_ERROR, "empty", 1 }, { "   ", KN_SYNTAX_ERROR, "empty", 1 }, { "1 2", KN_SYNTAX_ERROR, "','", 3 }, { "1,, 2", KN_SYNTAX_ERROR, "expected", 3 },
    { "nope", KN_NAME_ERROR, "'nope' is not defined", 1 }, { "0, nope + 1", KN_NAME_ERROR, "'nope'", 4 }, { "(1", KN_SYNTAX_ERROR, "')'", 3 }, { "[1", KN_SYNTAX_ERROR, "']'", 3 },
    { "1 +", KN_SYNTAX_ERROR, "ends too early", 4 }, { "1.5", KN_INDEX_ERROR, "only integers", 1 }, { "f", KN_INDEX_ERROR, "only integers", 1 }, { "x", KN_INDEX_ERROR, "integer (or boolean)", 1 },
    { "::0", KN_VALUE_ERROR, "step", 2 }, { "1:f", KN_TYPE_ERROR, "slice indices", 3 }, { "a:", KN_TYPE_ERROR, "slice indices", 1 }, { "1/2", KN_INDEX_ERROR, "", 1 },
    { "1 // 0", KN_ZERO_DIVISION_ERROR, "division by zero", 3 }, { "1 % 0", KN_ZERO_DIVISION_ERROR, "division by zero", 3 }, { "99999999999999999999", KN_OVERFLOW_ERROR, "too large", 1 },
    { "9223372036854775807 + 1", KN_OVERFLOW_ERROR, "too large", 21 }, { "2 ** 64", KN_OVERFLOW_ERROR, "too large", 3 }, { "1 << 64", KN_OVERFLOW_ERROR, "too large", 3 },
    { "[1, [2]]", KN_VALUE_ERROR, "different shapes", 5 }, { "[[1], [2, 3]]", KN_VALUE_ERROR, "different shapes", 7 }, { "[1.5]", KN_INDEX_ERROR, "list", 2 }, { "[1, True]", KN_INDEX_ERROR, "not both", 1 },
    { "0 < 1 < 2", KN_SYNTAX_ERROR, "chained", 7 }, { "1..2", KN_SYNTAX_ERROR, "", 2 }, { "12ab", KN_SYNTAX_ERROR, "not a number", 1 }, { "0x", KN_SYNTAX_ERROR, "not a number", 1 },
    { "'a'", KN_SYNTAX_ERROR, "expected", 1 }, { "$", KN_SYNTAX_ERROR, "expected", 1 }, { "a.b", KN_NAME_ERROR, "'a.b'", 1 }, { "i()", KN_SYNTAX_ERROR, "','", 2 }, { "big", KN_INDEX_ERROR, "index-sized", 1 },
};

static kn_status parse(const char *text, index_list *l, message *m)
{
    const int64_t values[] = { 0, 1, 2 }, one = 1, zero = 0;
    const bool mask[] = { true, false, false, true };
    const double doubles[] = { 1 };
    kn_array bytes = kn_astype(kn_reshape(kn_from(&mask[0], 4), KN_SHAPE(2, 2)), KN_BOOL);
    const kn_named names[] = {
        { "i", kn(5) }, { "j", kn(9) }, { "k", kn(2) }, { "f", kn(0.5) }, { "a", kn_from(values, 3) }, { "m", bytes }, { "x", kn_from(doubles, 1) },
        { "zero", kn_reshape(kn_from(&zero, 1), KN_NO_DIMENSIONS) }, { "one", kn_reshape(kn_from(&one, 1), KN_NO_DIMENSIONS) },
        { "long_name_of_9", kn(7) }, { "big", kn(UINT64_MAX) }, { "huge", kn(UINT64_MAX) },
    };
    return index_parse(text, names, sizeof names / sizeof *names, "kn_index", l, m);
}

Test(index_text, says_what_it_says)
{
    KN_SCOPE(s);
    static index_list l;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        message m = { 0 };
        char items[256] = "";
        kn_status status = parse(good[i].text, &l, &m);
        cr_expect_eq(status, KN_OK, "\"%s\": %s", good[i].text, m.text);
        if (!status) describe(&l, items, sizeof items);
        cr_expect_str_eq(items, good[i].items, "\"%s\" is [%s], not [%s]", good[i].text, items, good[i].items);
        index_list_free(&l);
    }
}

Test(index_text, mistakes_have_a_place)
{
    KN_SCOPE(s);
    static index_list l;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        message m = { 0 };
        char place[32];
        snprintf(place, sizeof place, "(column %d)", bad[i].column);
        cr_expect_eq(parse(bad[i].text, &l, &m), bad[i].status, "\"%s\": %s", bad[i].text, m.text);
        cr_expect(strstr(m.text, bad[i].part), "\"%s\": %s", bad[i].text, m.text);
        cr_expect(strstr(m.text, place), "\"%s\": %s", bad[i].text, m.text);
        const char *lines = strchr(m.text, '\n'), *caret = lines ? strchr(lines + 1, '\n') : NULL;
        cr_expect(caret && strchr(caret, '^') && (int)(strchr(caret, '^') - caret) == bad[i].column + 4, "\"%s\": %s", bad[i].text, m.text);
        cr_expect_eq(l.n, 0);
    }
}

Test(index_text, depth_length_and_number_are_bounded)
{
    KN_SCOPE(s);
    static index_list l;
    static char text[40000];
    message m = { 0 };
    memset(text, '(', 5000);
    cr_expect_eq(parse(text, &l, &m), KN_SYNTAX_ERROR);
    memset(text, '[', 5000);
    m.status = KN_OK;
    cr_expect_eq(parse(text, &l, &m), KN_SYNTAX_ERROR);
    memset(text, '-', 5000);
    m.status = KN_OK;
    cr_expect_eq(parse(text, &l, &m), KN_SYNTAX_ERROR);
    memset(text, ' ', sizeof text - 1);
    m.status = KN_OK;
    cr_expect_eq(parse(text, &l, &m), KN_SYNTAX_ERROR);
    cr_expect(strstr(m.text, "longer than"));
    memset(text, 0, sizeof text);
    for (int i = 0; i < 1000; i++) strcat(text, "0,");
    m.status = KN_OK;
    cr_expect_eq(parse(text, &l, &m), KN_INDEX_ERROR);
    cr_expect(strstr(m.text, "too many"));
    m.status = KN_OK;
    cr_expect_eq(index_parse(NULL, NULL, 0, "kn_index", &l, &m), KN_SYNTAX_ERROR);
}

Test(index_text, a_long_text_shows_the_part_around_the_mistake)
{
    KN_SCOPE(s);
    static index_list l;
    char text[512] = "";
    message m = { 0 };
    for (int i = 0; i < 60; i++) strcat(text, "0, ");
    strcat(text, "?, ");
    for (int i = 0; i < 60; i++) strcat(text, "0, ");
    cr_expect_eq(parse(text, &l, &m), KN_SYNTAX_ERROR);
    cr_expect(strchr(m.text, '?') && strchr(m.text, '^') && strlen(m.text) < 300, "%s", m.text);
}

Test(index_text, any_bytes_are_parsed_or_refused)
{
    KN_SCOPE(s);
    static index_list l;
    static const char alphabet[] = "01ijka:,.()[]+-*/%<>&|^~ =NoneTrue_xm";
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        KN_SCOPE(step);
        char text[24];
        int n = round % 23;
        for (int i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = alphabet[(random >> 16) % (sizeof alphabet - 1)];
        }
        text[n] = 0;
        message m = { 0 };
        kn_status status = parse(text, &l, &m);
        cr_expect_eq(status, m.status);
        index_list_free(&l);
    }
}
