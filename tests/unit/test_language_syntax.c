/* Programs become trees: what binds to what, what is refused and where, and what no text can do to the parser. That trees
 * are Python's is tested against Python itself, in tests/oracle/test_language_syntax.py. */
#include "frontend/language/syntax.h"
#include "frontend/place.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kn_status parse(const char *program, size_t n, syntax_tree **t, syntax_fault *f, message *m)
{
    *m = (message){0};
    return syntax_parse(program, n, "<test>", NULL, t, f, m);
}

static void tree_of(const syntax_tree *t, text *out) { syntax_dump(t, false, out); }

static void expect_dump(const char *program, const char *want, void dump(const syntax_tree *t, text *out))
{
    syntax_tree *t;
    message m;
    text out = {0};
    cr_expect_eq(parse(program, strlen(program), &t, NULL, &m), KN_OK, "%s\n%s", program, m.text);
    if (!t)
        return;
    dump(t, &out);
    cr_expect_str_eq(out.at, want, "%s\nis     %s\nwanted %s", program, out.at, want);
    text_free(&out);
    syntax_free(t);
}

/* ---- trees ---- */

static const struct { const char *program, *tree; } trees[] = {
    {"-2**2", " (expression (unary - (binary ** (int 2) (int 2))))\n"},
    {"2**-1", " (expression (binary ** (int 2) (unary - (int 1))))\n"},
    {"2**3**2", " (expression (binary ** (int 2) (binary ** (int 3) (int 2))))\n"},
    {"a-b-c", " (expression (binary - (binary - (name a) (name b)) (name c)))\n"},
    {"a|b^c&d<<e+f*g", " (expression (binary | (name a) (binary ^ (name b) (binary & (name c) (binary << (name d) (binary + (name e) (binary * (name f) (name g))))))))\n"},
    {"a<b<=c", " (expression (compare (name a) < (name b) <= (name c)))\n"},
    {"not a in b", " (expression (unary not (compare (name a) in (name b))))\n"},
    {"a is not b not in c", " (expression (compare (name a) is-not (name b) not-in (name c)))\n"},
    {"a or b and not c", " (expression (or (name a) (and (name b) (unary not (name c)))))\n"},
    {"a if b else c if d else e", " (expression (conditional (name b) (name a) (conditional (name d) (name c) (name e))))\n"},
    {"x = y = 1, *z", " (assign [ (name x) (name y)] (tuple (int 1) (starred (name z))))\n"},
    {"a, *b = c", " (assign [ (tuple (name a) (starred (name b)))] (name c))\n"},
    {"u[1:-1, ..., None] += v", " (augmented + (subscript (name u) (tuple (slice (int 1) (unary - (int 1)) -) (...) (None))) (name v))\n"},
    {"f(a, *b, c=1, **d)", " (expression (call (name f) [ (name a) (starred (name b))] [ (keyword c (int 1)) (keyword ** (name d))]))\n"},
    {"lambda a, /, b=1, *c, d, **e: 0", " (expression (lambda ( (/a - -) (b (int 1) -) (=d - -) (*c - -) (**e - -)) (int 0)))\n"},
    {"[x for x in y if z for w in x]", " (expression (listcomp (name x) [ (for (name x) (name y) [ (name z)]) (for (name w) (name x) [])]))\n"},
    {"{**a, 1: 2}", " (expression (dict - (name a) (int 1) (int 2)))\n"},
    {"f'{x!r:>{w}}{{' 'z'", " (expression (fstring (field r (name x) (fstring (str \">\") (field - (name w) -))) (str \"{z\")))\n"},
    {"f'{ x = }'", " (expression (fstring (str \" x = \") (field r (name x) -)))\n"},
    {"f'{a['b']}'", " (expression (fstring (field - (subscript (name a) (str \"b\")) -)))\n"},
    {"f'{x:{y:{z}}}'", " (expression (fstring (field - (name x) (fstring (field - (name y) (fstring (field - (name z) -)))))))\n"},
    {"f'{\n x # why\n}'", " (expression (fstring (field - (name x) -)))\n"},
    {"'\\x41\\u00e9\\\n' r'\\n' \"b\"", " (expression (str \"A\\xc3\\xa9\\x5cnb\"))\n"},
    {"b'\\xff\\0'", " (expression (bytes \"\\xff\\x00\"))\n"},
    {"0x_ff, 0b101, 0o17, 1_000, 1e3, .5j", " (expression (tuple (int 255) (int 5) (int 15) (int 1000) (float 1000) (imaginary 0.5)))\n"},
    {"9223372036854775807, 9223372036854775808, 0x1_0000000000000000", " (expression (tuple (int 9223372036854775807) (big 10 9223372036854775808) (big 16 10000000000000000)))\n"},
    {"x: int = 1", " (annotated 1 (name x) (name int) (int 1))\n"},
    {"if a: b\nelif c: d\nelse: e", " (if (name a) [ (expression (name b))] [ (if (name c) [ (expression (name d))] [ (expression (name e))])])\n"},
    {"for i, in x: break\nelse: pass", " (for (tuple (name i)) (name x) [ (break)] [ (pass)])\n"},
    {"while a:\n  continue\n", " (while (name a) [ (continue)] [])\n"},
    {"def f(a: int = 1, *, b) -> c:\n  'doc'; return", " (def f ( (a (int 1) (name int)) (=b - -)) [ (expression (str \"doc\")) (return -)])\n"},
    {"try: a\nexcept (B, C) as d: e\nexcept: f\nelse: g\nfinally: h",
     " (try [ (expression (name a))] [ (except (tuple (name B) (name C)) d [ (expression (name e))]) (except - - [ (expression (name f))])] [ (expression (name g))] [ (expression (name h))])\n"},
    {"with (a as b, c): pass", " (with [ (item (name a) (name b)) (item (name c) -)] [ (pass)])\n"},
    {"with (a, b) as c: pass", " (with [ (item (tuple (name a) (name b)) (name c))] [ (pass)])\n"},
    {"import a.b as c, d.e", " (import (alias a.b c) (alias d.e -))\n"},
    {"from ..a import (b as c, d,)", " (from 2 \"a\" [ (alias b c) (alias d -)])\n"},
    {"raise A from b; del c, d[0]; assert e, f; global g", " (raise (name A) (name b))\n (del (name c) (subscript (name d) (int 0)))\n (assert (name e) (name f))\n (global (name g))\n"},
    {"print = match = 1; print(match)", " (assign [ (name print) (name match)] (int 1))\n (expression (call (name print) [ (name match)] []))\n"},
    {"if (n := f()): pass", " (if (named (name n) (call (name f) [] [])) [ (pass)] [])\n"},
    {"\xEF\xBB\xBFx = (1,\r\n  # c\r\n 2) \\\r\n + y\r\n\f\r\n", " (assign [ (name x)] (binary + (tuple (int 1) (int 2)) (name y)))\n"},
    {"\xCE\xB1 = 1", " (assign [ (name \xCE\xB1)] (int 1))\n"},
    {"", ""},
};

Test(language_syntax, trees_bind_as_in_python)
{
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        if (trees[i].tree[0])
            expect_dump(trees[i].program, trees[i].tree, tree_of);
    }
    syntax_tree *t;
    message m;
    cr_assert_eq(parse(" # nothing\n\n", 12, &t, NULL, &m), KN_OK, "%s", m.text);
    cr_expect_eq(t->module->body->n, 0u);
    syntax_free(t);
}

Test(language_syntax, examples_from_documentation_lose_prompts_and_output)
{
    expect_dump("    >>> def f(x):\n    ...     return '''a\n    ...   b'''\n    ...\n    >>> f(1)\n    'a'\n    ...\n    >>> f(2)\n    array([1, ..., 2])\n",
                " (def f ( (x - -)) [ (return (str \"a\\x0a  b\"))])\n (expression (call (name f) [ (int 1)] []))\n (expression (call (name f) [ (int 2)] []))\n", tree_of);
    expect_dump("# from the guide\n>>> x = 1\n>>> x\n1\nTraceback: no\n>>>\n", " (assign [ (name x)] (int 1))\n (expression (name x))\n", tree_of);
    expect_dump("x = '''\n>>> y\n'''", " (assign [ (name x)] (str \"\\x0a>>> y\\x0a\"))\n", tree_of);
}

/* ---- scopes ---- */

static const struct { const char *program, *scopes; } scopes[] = {
    {"x = 1\ny = x", "<module>:\n"},
    {"def f(a, *b, c=1, **d):\n  e = a\n  return e + x", "<module>:\n  f: =a =c =b =d e\n"},
    {"def f(x):\n  def g():\n    nonlocal x\n    x += y\n  y = 1\n  return g", "<module>:\n  f: =x* g y*\n    g: <x@0 <y@2\n"},
    {"def f():\n  global x\n  x = 1\n  return lambda: x", "<module>:\n  f:\n    <lambda>:\n"},
    {"def f(a):\n  return lambda: [a + b for b in a]", "<module>:\n  f: =a*\n    <lambda>: <a@0\n      <listcomp>: b <a@0\n"},
    {"def f(a):\n  return [b := c for c in a], b", "<module>:\n  f: =a b*\n    <listcomp>: c <b@1\n"},
    {"[b := c for c in a]", "<module>:\n  <listcomp>: c\n"},
    {"def f(a, b=lambda: a): pass", "<module>:\n  <lambda>:\n  f: =a =b\n"},
    {"def f():\n  import a.b, c as d\n  try: pass\n  except E as e: pass\n  with g as (h, i): j: int\n  for k in l: del m\n  (n): int", "<module>:\n  f: a d e h i j k m\n"},
};

Test(language_syntax, names_have_pythons_scopes)
{
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        expect_dump(scopes[i].program, scopes[i].scopes, syntax_dump_scopes);
}

Test(language_syntax, uses_of_names_carry_their_slots)
{
    static const char program[] = "def f(a):\n  g = lambda: a\n  return g, h";
    syntax_tree *t;
    message m;
    cr_assert_eq(parse(program, strlen(program), &t, NULL, &m), KN_OK, "%s", m.text);
    const syntax_node *def = t->module->body->at[0];
    const syntax_function *f = def->u.definition.function;
    cr_expect_eq(def->u.definition.variable.where, WHERE_GLOBAL);
    const syntax_node *assign = f->body->at[0], *use = assign->u.assign.value->u.function->value, *pair = f->body->at[1]->u.operand;
    cr_expect(assign->u.assign.targets->at[0]->u.name.where == WHERE_LOCAL && assign->u.assign.targets->at[0]->u.name.slot == 1);
    cr_expect(use->u.name.where == WHERE_CELL && use->u.name.slot == 0);
    cr_expect(pair->u.items->at[0]->u.name.where == WHERE_LOCAL && pair->u.items->at[0]->u.name.slot == 1);
    cr_expect_eq(pair->u.items->at[1]->u.name.where, WHERE_GLOBAL);
    cr_expect_eq(assign->u.assign.value->u.function->around, f);
    cr_expect_eq(syntax_name(t, "h"), pair->u.items->at[1]->u.name.name);
    cr_expect_eq(syntax_name(t, "nobody"), UINT32_MAX);
    syntax_free(t);
}

Test(language_syntax, nodes_know_their_place)
{
    static const char program[] = "x = (a + b).size * 2\n";
    syntax_tree *t;
    message m;
    cr_assert_eq(parse(program, strlen(program), &t, NULL, &m), KN_OK, "%s", m.text);
    const syntax_node *product = t->module->body->at[0]->u.assign.value, *size = product->u.binary.left, *sum = size->u.attribute.value;
    cr_expect(product->at == 4 && product->end == 20 && product->mark == 17, "%u %u %u", product->at, product->end, product->mark);
    cr_expect(size->at == 4 && size->end == 16 && size->mark == 12, "%u %u %u", size->at, size->end, size->mark);
    cr_expect(sum->at == 5 && sum->end == 10 && sum->mark == 7, "%u %u %u", sum->at, sum->end, sum->mark);
    syntax_free(t);
}

/* ---- errors ---- */

#define SYNTAX "SyntaxError"
#define INDENT "IndentationError"
static const struct { const char *program, *kind, *part; uint32_t line, column; } errors[] = {
    {"x = ", SYNTAX, "an expression was expected, but the line ends", 1, 5},
    {"a b", SYNTAX, "the end of the statement was expected here, not 'b'", 1, 3},
    {"a = 1\n\nb = = 2", SYNTAX, "not '='; to compare, write '=='", 3, 5},
    {"if a = b: c", SYNTAX, "write '=='", 1, 6},
    {"f() = 1", SYNTAX, "a call cannot be assigned to", 1, 1},
    {"None = 1", SYNTAX, "None cannot be assigned to", 1, 1},
    {"a, 1 = b", SYNTAX, "a number cannot be assigned to", 1, 4},
    {"a, *b, *c = d", SYNTAX, "only one of several targets", 1, 8},
    {"*a = b", SYNTAX, "among others only", 1, 1},
    {"(a, b) += 1", SYNTAX, "one target, not a tuple", 1, 1},
    {"x, y: int", SYNTAX, "an annotation has one target", 1, 1},
    {"((a) := 1)", SYNTAX, "not to one in parentheses", 1, 3},
    {"del f()", SYNTAX, "a call cannot be deleted", 1, 5},
    {"f(a=1, b)", SYNTAX, "without a name cannot follow", 1, 8},
    {"f(**a, *b)", SYNTAX, "cannot follow one with '**'", 1, 8},
    {"f(a=1, b=2, a=3)", SYNTAX, "'a' is given twice", 1, 13},
    {"f(a.b=1)", SYNTAX, "the name of a parameter", 1, 3},
    {"f(1, x for x in y)", SYNTAX, "needs parentheses", 1, 6},
    {"{1: 2, 3}", SYNTAX, "':' after the key", 1, 9},
    {"[*a for a in b]", SYNTAX, "cannot be starred", 1, 2},
    {"{**a for a in b}", SYNTAX, "not **", 1, 1},
    {"def f(a=1, b): pass", SYNTAX, "without a default", 1, 12},
    {"def f(*): pass", SYNTAX, "a name must follow the '*'", 1, 8},
    {"def f(/): pass", SYNTAX, "'/' stands once", 1, 7},
    {"def f(**a, b): pass", SYNTAX, "nothing can follow", 1, 12},
    {"lambda a, a: 1", SYNTAX, "'a' appears twice", 1, 11},
    {"return 1", SYNTAX, "outside of a function", 1, 1},
    {"if x: break", SYNTAX, "'break' stands outside of a loop", 1, 7},
    {"for x in y:\n  def f(): continue", SYNTAX, "'continue' stands outside", 2, 12},
    {"def f():\n  x = 1\n  global x", SYNTAX, "before it is declared global", 3, 10},
    {"def f(x): nonlocal x", SYNTAX, "is a parameter", 1, 20},
    {"def f(): nonlocal x", SYNTAX, "no function around binds it", 1, 19},
    {"nonlocal x", SYNTAX, "no function is around it", 1, 10},
    {"[i := 1 for i in y]", SYNTAX, "runs through", 1, 2},
    {"[i for i in (j := y)]", SYNTAX, "runs over", 1, 14},
    {"try: a", SYNTAX, "'except' or 'finally'", 1, 7},
    {"try: a\nexcept: b\nexcept C: d", SYNTAX, "must be the last", 2, 1},
    {"except A: b", SYNTAX, "a statement was expected", 1, 1},
    {"from a import b,", SYNTAX, "the name of what is imported", 1, 17},
    {"def f(): from a import *", SYNTAX, "outside of functions only", 1, 24},
    {"print x", SYNTAX, "print is a function", 1, 1},
    {"class A: pass", SYNTAX, "class is not in the language", 1, 1},
    {"@a\ndef f(): pass", SYNTAX, "decorators are not in the language", 1, 1},
    {"def f(): yield", SYNTAX, "yield is not in the language", 1, 10},
    {"async def f(): pass", SYNTAX, "async is not in the language", 1, 1},
    {"x = await y", SYNTAX, "await is not in the language", 1, 5},
    {"match x:\n  case 1: pass", SYNTAX, "match is not in the language", 1, 1},
    {"try: a\nexcept* B: c", SYNTAX, "except* is not in the language", 2, 1},
    {"'\\N{DIGIT ONE}'", SYNTAX, "not in the language", 1, 2},
    {"(1,\n 2", SYNTAX, "'(' is never closed", 1, 1},
    {"(1,\n 2]", SYNTAX, "']' does not close '(' of line 1", 2, 3},
    {"x)", SYNTAX, "')' closes nothing", 1, 2},
    {"'a\nb'", SYNTAX, "does not end on its line", 1, 1},
    {"x = '''a\nb", SYNTAX, "opened by three quotes", 1, 5},
    {"f'{a'", SYNTAX, "'}' is missing", 1, 3},
    {"f'{a:{b}'", SYNTAX, "'}' is missing", 1, 3},
    {"f'{}'", SYNTAX, "is empty", 1, 3},
    {"f'}'", SYNTAX, "a single '}'", 1, 3},
    {"f'{a!x}'", SYNTAX, "one of r, s and a", 1, 5},
    {"f'{a b}'", SYNTAX, "the end of the field", 1, 6},
    {"f'{a +}'", SYNTAX, "the field of the f-string ends here", 1, 7},
    {"'\\x4'", SYNTAX, "needs 2 hexadecimal digits", 1, 2},
    {"'\\U00110000'", SYNTAX, "no character of this number", 1, 2},
    {"b'\xC3\xA9'", SYNTAX, "ASCII", 1, 3},
    {"'a' b'b'", SYNTAX, "cannot be joined", 1, 5},
    {"012", SYNTAX, "does not start with 0", 1, 1},
    {"0b12", SYNTAX, "no digit of a binary number", 1, 1},
    {"0x", SYNTAX, "a digit of the hexadecimal number", 1, 1},
    {"1__0", SYNTAX, "not a decimal number", 1, 1},
    {"1e", SYNTAX, "not a decimal number", 1, 1},
    {"a $ b", SYNTAX, "'$' has no meaning", 1, 3},
    {"\xCE\xB1 \xE2\x82\xAC b", SYNTAX, "(U+20AC) has no meaning", 1, 3},
    {"a ! b", SYNTAX, "no operator", 1, 3},
    {"a \\ b", SYNTAX, "a backslash joins lines", 1, 3},
    {"a \\", SYNTAX, "behind a backslash", 1, 3},
    {"x = 1\n  y = 2", INDENT, "indented more", 2, 3},
    {"if x:\n    y\n  z", INDENT, "indented less", 3, 3},
    {"if x:\ny", INDENT, "after 'if' of line 1", 2, 1},
    {"def f():\n  while x:\n  y", INDENT, "after 'while' of line 2", 3, 3},
    {"if x:\n        y\n\tz", "TabError", "tabs and spaces", 3, 2},
};

Test(language_syntax, mistakes_have_a_kind_a_sentence_and_a_place)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        syntax_tree *t;
        syntax_fault f;
        message m;
        const char *program = errors[i].program;
        cr_expect_eq(parse(program, strlen(program), &t, &f, &m), KN_SYNTAX_ERROR, "%s: %s", program, m.text);
        cr_expect_null(t);
        cr_expect(f.kind && strcmp(f.kind, errors[i].kind) == 0, "%s: %s", program, f.kind);
        cr_expect(f.line == errors[i].line && f.column == errors[i].column, "%s: line %u, column %u: %s", program, f.line, f.column, m.text);
        cr_expect(strstr(m.text, errors[i].part), "%s: %s", program, m.text);
        char place[64];
        snprintf(place, sizeof place, "(<test>, line %u, column %u)", f.line, f.column);
        cr_expect(strstr(m.text, place), "%s: %s", program, m.text);
        const char *caret = strrchr(m.text, '\n');
        cr_expect(caret && strspn(caret + 1, " ") == f.column + 3 && caret[f.column + 4] == '^', "%s: %s", program, m.text);
    }
}

Test(language_syntax, bytes_that_are_no_text_are_refused_where_they_stand)
{
    static const struct { const char *at; size_t n; uint32_t line, column; } bad[] = {
        {"x = 1\ny\0", 8, 2, 2}, {"\xC3\xA9 = '\xFF'", 8, 1, 6}, {"\xC0\x80", 2, 1, 1}, {"a\xED\xA0\x80", 4, 1, 2}, {"\xF4\x90\x80\x80", 4, 1, 1}, {"'\xE2\x82'", 4, 1, 2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        syntax_tree *t;
        syntax_fault f;
        message m;
        cr_expect_eq(parse(bad[i].at, bad[i].n, &t, &f, &m), KN_SYNTAX_ERROR);
        cr_expect(f.line == bad[i].line && f.column == bad[i].column, "%zu: line %u, column %u: %s", i, f.line, f.column, m.text);
        cr_expect(strstr(m.text, "NUL") || strstr(m.text, "UTF-8"), "%s", m.text);
    }
}

Test(language_syntax, a_text_that_may_go_on_is_unfinished)
{
    static const struct { const char *program; bool unfinished; } rows[] = {
        {"(1,", true}, {"x = [\n", true}, {"'''a", true}, {"if x:\n", true}, {"def f():", true}, {"x = 1 \\\n", true}, {"f'''{a", true}, {"try: a\n", true},
        {"x = ", false}, {"'a", false}, {"(]", false}, {"x)", false}, {"a b", false}, {"if x:\ny", false}, {"(a b)", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        syntax_tree *t;
        syntax_fault f;
        message m;
        cr_expect_eq(parse(rows[i].program, strlen(rows[i].program), &t, &f, &m), KN_SYNTAX_ERROR);
        cr_expect_eq(f.unfinished, rows[i].unfinished, "%s: %s", rows[i].program, m.text);
    }
}

Test(language_syntax, one_expression_is_parsed_alone)
{
    static const struct { const char *program; bool good; } rows[] = {
        {"a + 1", true}, {"  a, b \n\n", true}, {"(a :=\n 1)", true}, {"a = 1", false}, {"a; b", false}, {"a\nb", false}, {"", false}, {"pass", false}, {"a := 1", false}, {"*a, b", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        syntax_tree *t;
        message m = {0};
        kn_status status = syntax_parse_expression(rows[i].program, strlen(rows[i].program), "<test>", NULL, &t, NULL, &m);
        cr_expect_eq(status == KN_OK, rows[i].good, "%s: %s", rows[i].program, m.text);
        if (t)
            cr_expect(t->module->body->n == 1 && t->module->body->at[0]->kind == SYNTAX_EXPRESSION);
        syntax_free(t);
    }
}

/* ---- limits ---- */

/* before * n, middle, after * n */
static char *repeated(const char *before, const char *middle, const char *after, size_t n)
{
    size_t size = n * (strlen(before) + strlen(after)) + strlen(middle) + 1;
    char *s = malloc(size), *at = s;
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, before);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, after);
    return s;
}

static void expect_limit(const char *before, const char *middle, const char *after, size_t n, const char *part)
{
    char *program = repeated(before, middle, after, n);
    syntax_tree *t;
    message m;
    kn_status status = parse(program, strlen(program), &t, NULL, &m);
    cr_expect_eq(status, part ? KN_SYNTAX_ERROR : KN_OK, "%zu times '%s': %s", n, before, m.text);
    if (part)
        cr_expect(strstr(m.text, part), "%zu times '%s': %s", n, before, m.text);
    syntax_free(t);
    free(program);
}

Test(language_syntax, nothing_nests_too_deep)
{
    static const struct { const char *before, *middle, *after; size_t good; } rows[] = {
        {"(", "1", ")", 200}, {"[", "", "]", 200}, {"{", "1", "}", 200}, {"f(", "", ")", 200}, {"x[", "1", "]", 200}, {"{1:", "2", "}", 200}, {"-", "1", "", 900},
        {"not ", "1", "", 900}, {"lambda: ", "1", "", 900}, {"1 if x else ", "1", "", 900}, {"2 ** ", "1", "", 450}, {"1 + ", "1", "", 900}, {"", "x", ".y", 900},
        {"", "x", "()", 900}, {"", "x", "[0]", 900}, {"", "x", " < (1", 0}, {"if x: pass\nel", "if x: pass", "", 900}, {"[x for x in ", "y", "]", 200}, {"(x for x in (", "y", "))", 100},
        {"f'{", "1", "}'", 100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].good)
            expect_limit(rows[i].before, rows[i].middle, rows[i].after, rows[i].good, NULL);
        expect_limit(rows[i].before, rows[i].middle, rows[i].after, 10000, rows[i].good ? "nested deeper than" : "nested");
        expect_limit(rows[i].before, rows[i].middle, "", 10000, rows[i].after[0] && rows[i].before[0] ? "" : rows[i].before[0] ? "nested" : NULL);
    }
    text blocks = {0};
    for (int depth = 0; depth < 101; depth++)
        text_add(&blocks, "%*sif x:\n", depth, "");
    text_add(&blocks, "%*sx\n", 101, "");
    expect_limit("", blocks.at, "", 1, "blocks are nested deeper than 100");
    text_free(&blocks);
}

Test(language_syntax, long_texts_take_their_time_only)
{
    expect_limit("x", "", "", 1000000, NULL);
    expect_limit("1", "", "", 1000000, NULL);
    expect_limit("x = 1; ", "x", "", 100000, NULL);
    expect_limit("x, ", "x", "", 300000, NULL);
    expect_limit("x and ", "x", "", 100000, NULL);
    expect_limit("'a' ", "", "", 200000, NULL);
    expect_limit("f'{x}' ", "", "", 100000, NULL);
    expect_limit("\n", "x", "\n", 500000, NULL);
    expect_limit("def f(x): return lambda: x\n", "", "", 20000, NULL);
    expect_limit("'", "", "", 999999, "does not end");
    expect_limit("f'{", "", "", 300000, "");
    expect_limit("\\\n", "", "", 500000, NULL);
    expect_limit("x", " $", "", 1000000, "has no meaning here");
}

Test(language_syntax, limits_are_the_callers)
{
    syntax_tree *t;
    message m = {0};
    cr_expect_eq(syntax_parse("x = 1", 5, NULL, &(syntax_limits){.bytes = 4}, &t, NULL, &m), KN_SYNTAX_ERROR);
    cr_expect(strstr(m.text, "longer than 4 bytes"), "%s", m.text);
    m = (message){0};
    cr_expect_eq(syntax_parse("x = 1", 5, NULL, &(syntax_limits){.nodes = 2}, &t, NULL, &m), KN_SYNTAX_ERROR);
    cr_expect(strstr(m.text, "more than 2 parts"), "%s", m.text);
    m = (message){0};
    cr_expect_eq(syntax_parse("((((1))))", 9, NULL, &(syntax_limits){.depth = 4}, &t, NULL, &m), KN_SYNTAX_ERROR);
    cr_expect(strstr(m.text, "nested deeper than 4"), "%s", m.text);
    cr_expect_eq(syntax_parse("((((", 4, NULL, NULL, &t, NULL, NULL), KN_SYNTAX_ERROR);
}

Test(language_syntax, every_allocation_may_fail)
{
    static const char program[] = "def f(a, b=[1, 2], *c, d=3, **e):\n  g = lambda: (a, f'{b!r:>{d}}')\n  return {x: y for x, y in g if x < y < 2 ** 70}, h(*c, k=1, **e)\nimport m.n as o\n";
    for (int64_t n = 1;; n++) {
        syntax_tree *t;
        syntax_fault f;
        message m = {0};
        mem_fail_after(n, n % 2);
        kn_status status = syntax_parse(program, strlen(program), "<test>", NULL, &t, &f, &m);
        mem_fail_after(-1, false);
        syntax_free(t);
        if (status == KN_OK)
            break;
        cr_assert(status == KN_MEMORY_ERROR && strcmp(f.kind, "MemoryError") == 0 && strstr(m.text, "out of memory"), "allocation %lld: %s", (long long)n, m.text);
        cr_assert_lt(n, 10000);
    }
}

/* ---- places ---- */

Test(language_syntax, places_are_counted_and_shown)
{
    static const char words[] = "one\n\ttw\xC3\xB6 x\n\nlast";
    text_place p = place_find(words, strlen(words), 10);
    cr_expect(p.line == 2 && p.column == 6 && p.from == 4 && p.to == 11, "%u %u %zu %zu", p.line, p.column, p.from, p.to);
    p = place_find(words, strlen(words), 12);
    cr_expect(p.line == 3 && p.column == 1 && p.from == p.to);
    p = place_find(words, strlen(words), 1000);
    cr_expect(p.line == 4 && p.column == 5);
    char shown[PLACE_SHOWN], line[201];
    place_show(words, strlen(words), 5, 100, shown);
    cr_expect_str_eq(shown, "     tw\xC3\xB6 x\n     ^^^^^");
    for (size_t at = 0; at < 200; at++) {
        memset(line, 'a', 200);
        line[200] = 0;
        line[at] = 'b';
        place_show(line, 200, at, at + 1, shown);
        const char *b = strchr(shown, 'b'), *newline = strchr(shown, '\n'), *caret = strchr(shown, '^');
        cr_expect(b && newline && caret && newline - shown == 64 && caret - newline - 1 == b - shown, "%zu: %s", at, shown);
    }
}
