"""Functions of Kiln's language that are written in C, compared with Python: integers of any size, builtins, methods, formats, math."""
# also under sanitizers
import cmath
import itertools
import math
import os
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests/oracle/language_natives")
SANITIZED = bool(os.environ.get("KILN_SANITIZER"))
pick = random.Random(11)
NAMES = {"math": math, "cmath": cmath, "np": np}
sys.set_int_max_str_digits(0)
cases = []      # (expression, what is wanted, how it is compared)


def error_kind(e):
    return "!" + type(e).__name__


def add(expression, how="same"):
    """An expression of both languages."""
    try:
        want = repr(eval(expression, dict(NAMES)))
    except Exception as e:
        want = error_kind(e)
    cases.append((expression, want, how))


def want(expression, value):
    """An expression that this Python may not know: the value, or the kind of error."""
    cases.append((expression, "!" + value.__name__ if isinstance(value, type) else repr(value), "same"))


def each(form, *values):
    """The form with every combination of values in its braces."""
    for v in itertools.product(*values):
        add(form.format(*map(repr, v)))


def some(n, form, *values):
    for _ in range(n):
        add(form.format(*[repr(pick.choice(v)) for v in values]))


# ---- integers ----

INTS = [0, 1, -1, 2, 7, -13, 255, 2**31, -2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -2**63, 2**63, -2**63 - 1, 2**64 - 1, 2**64, 10**30, -10**25 + 7,
        3**100, -7**80, 2**200 - 1, -2**200, 2**127 + 2**64 - 1, (2**64 - 1) * 2**64, 10**400, -(10**308) * 2]
BIGS = [pick.randrange(-2**b, 2**b) for b in range(20, 900, 23) for _ in range(2)]
ALL = INTS + BIGS
for op in "+ - * // % & | ^ == < >= !=".split():
    some(120, "{0} %s {1}" % op, ALL, ALL)
some(150, "{0} / {1}", ALL, ALL)
some(100, "divmod({0}, {1})", ALL, ALL)
for v in ALL:
    add(f"({v}) ** {pick.randrange(0, 8)}")
    add(f"({v}) << {pick.randrange(0, 200)}")
    add(f"({v}) >> {pick.randrange(0, 200)}")
    for form in ("-({0})", "~({0})", "abs({0})", "float({0})", "str({0})", "hex({0})", "oct({0})", "bin({0})", "({0}).bit_length()", "bool({0})", "int(str({0}))",
                 "int(hex({0}), 16)", "int(bin({0}), 0)", "({0}).bit_count()", "math.log({0})", "math.log2({0})", "math.log10({0})", "math.isqrt({0})", "math.isqrt(abs({0}))",
                 "round({0}, -3)", "round({0}, -40)", "hash({0}) == hash({0})", "({0}).as_integer_ratio()", "{0} == float({0})", "format({0}, ',')", "'%d' % ({0})"):
        add(form.format(v), "close" if "log" in form else "same")
some(60, "pow({0}, {1}, {2})", ALL, [abs(v) for v in INTS], ALL)
some(60, "pow({0}, -1, {1})", ALL, ALL)
some(100, "math.gcd({0}, {1})", ALL, ALL)
some(60, "math.lcm({0}, {1})", ALL, ALL)
for v in (0, 1, 5, 20, 21, 30, 100, 1000, -1):
    add(f"math.factorial({v})")
each("math.comb({0}, {1})", [0, 1, 5, 60, 100, 500, -1, 10**20], [0, 1, 3, 30, 50, 200, -1])
each("math.perm({0}, {1})", [0, 1, 5, 60, 100, -1, 10**20], [0, 1, 3, 30, 50, -1, None])
for text in ("12", " 12 ", "1_000", "_1", "1__0", "1_", "", " ", "-", "+5", "--5", "0x1f", "1e3", "12.0", "0b11", "0o17", "00012", "9" * 100, "z"):
    each("int({0})", [text])
    each("int({0}, {1})", [text], [0, 2, 8, 10, 16, 36, 1, 37])
each("int({0})", [1.9, -1.9, 1e30, float("2e300"), True, None, 1j, [1]])
each("type({0}) is int", [1, 2**70, True, 1.0])
for text in ("math.inf", "math.nan", "-math.inf"):
    add(f"int({text})")
for expression in ("1 << 10**9", "10 ** 10**10", "'a' * 10**12", "[0] * 10**12", "(-1) ** 10**30", "1 ** 10**30", "0 ** 10**30", "2 ** -2", "0 ** -1", "7 // 0", "7 % 0",
                   "10**400 / 3", "10**400 / 10**399", "float(10**400)", "1 >> 10**30", "-1 >> 10**9"):
    if expression in ("1 << 10**9", "10 ** 10**10"):
        want(expression, OverflowError)
    elif "12" in expression:
        want(expression, MemoryError)
    else:
        add(expression)

for expression in ("'abc'.find('b', -10**30, 10**30)", "[1, 2].index(2, -10**30, 10**30)", "chr(10**30)", "'a'.ljust(10**30)", "round(123, -50)", "[1].insert(10**30, 1)",
                   "math.isqrt(10**3001)", "math.isqrt(2**2000 - 1)", "math.isqrt((10**50 + 1)**2)", "math.isqrt((10**50 + 1)**2 - 1)", "str(2**20000)", "hex(7**5000)"):
    add(expression)
for expression in ("'a'.ljust(10**12)", "'%1000000000000d' % 1", "'{:1000000000000}'.format(1)", "'a'.zfill(10**18)", "'\\t'.expandtabs(10**12)", "format(1.0, '.1000000000000f')"):
    want(expression, MemoryError)
for expression in ("2**1048576", "-(2**1048575) - 2**1048575", "math.factorial(10**7)", "int('9' * 10**6)"):
    want(expression, OverflowError)

# ---- numbers from text and other values ----

for text in ("1", "1.5", " -1.5e3 ", "inf", "-Infinity", "nan", "+nan", "1_0.5", "1._5", "", "abc", "1e400", "1e-400", ".5", "5.", ".", "1e", "0x10", "1,5", "infin"):
    each("float({0})", [text])
for text in ("1+2j", "1-2j", "j", "-j", "+j", "2j", "1", "(1+2j)", "( 1+2j )", "1 + 2j", "nan+infj", "1e3-1e-3j", "", "1+", "1+2", "(1", "1j2", "infj", "1+j", "1_0j"):
    each("complex({0})", [text])
each("complex({0}, {1})", [0, 1.5, -0.0, 1j, True, 2**70, 1 + 2j], [0, -2.5, 1j, -0.0, 3 - 1j])
each("complex({0})", [0, 1.5, 1j, None])
each("bool({0})", [0, 1, 0.0, "", "a", [], [0], (), {}, None, 0j])
each("str({0})", [0, 1.5, "a", None, [1, "b"], (1,), {"a": 1}, {1}, 1j, True])
each("list({0})", ["abc", (1, 2), {"a": 1}, 5, None])
each("tuple({0})", ["abc", [1, 2], {"a": 1}, 5])
each("sorted(set({0}))", ["abca", [1, 2, 1], (), 5])
for expression in ("dict()", "dict(a=1, b=2)", "dict([('a', 1), (2, 3)])", "dict({'a': 1}, a=2)", "dict([(1,)])", "dict([1])", "dict(5)", "list(range(5))", "list(range(1, 10, 3))",
                   "list(range(5, 0, -2))", "range(1, 2, 0)", "range(1.5)", "range()", "range(3)", "range(1, 5)", "len(range(0, 10, 3))", "slice(3)", "slice(1, 2)", "slice(1, None, 2)",
                   "slice(1, 10, 2).indices(5)", "slice(None, None, -1).indices(5)", "slice(-2, None).indices(5)", "slice(1, 2).start", "range(2, 9).stop", "range(2, 20, 3).index(8)",
                   "range(2, 20, 3).index(9)", "range(5).count(3)", "range(5).count(9)"):
    add(expression)

# ---- rounding ----

FLOATS = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 2.675, 1.005, 0.1, 1 / 3, 1e16, 123456.789, -123456.789, 1e-5, 5e-324, 1.7976931348623157e308, 1e22, 15.0, 25.0, 2.5e-7, 1e100]
for _ in range(60):
    FLOATS.append(pick.choice([pick.uniform(-10, 10), pick.uniform(-1e9, 1e9), pick.gauss(0, 1) * 10.0 ** pick.randrange(-300, 300), pick.randrange(10**6) / 1000]))
each("round({0})", FLOATS)
each("round({0}, {1})", FLOATS, [0, 1, 2, 5, 15, -1, -2, -5, 20, 330, -330])
each("round({0}, {1})", [15, 25, 35, -15, -25, 5, 1250, -1350, True, 2**70], [None, 0, 1, -1, -2, -5])
each("round({0})", [1j, "a", None, True])
for f in ("math.floor", "math.ceil", "math.trunc", "int", "math.modf", "math.frexp", "math.fabs", "math.ulp"):
    each(f + "({0})", FLOATS)
each("({0}).hex()", FLOATS)
each("({0}).as_integer_ratio()", FLOATS)
each("({0}).is_integer()", FLOATS)

for v in FLOATS:
    add(f"float.fromhex({v.hex()!r})")
for text in ("0x1p-1074", "0x1p-1075", "0x1.8p-1075", "0x1.0000000000001p-1075", "0x1.fffffffffffff8p1023", "0x1.fffffffffffff7fffp1023", "1.8", "-0xA.8p1", " 0x1 ", "inf", "-nan", "", "0x", "0x1p", "0x1.2.3", "1g", "0x1p99999999999999999999",
             "0x0p99999999999999999999", "0x1p-99999999999999999999", "0x1.00000000000008", "0x1.00000000000008000001", "0x1.00000000000018", ".8", "8.", "."):
    each("float.fromhex({0})", [text])
add("float.fromhex(1)")
add("'{a}'.format_map({'a': 1})")
add("'{}'.format_map({'a': 1})")

# ---- strings ----

TEXTS = ["", "a", "abc", "Hello World", "  spaced out  ", "a,b,,c", "aaa", "ÄÖÜ ß é", "λόγος ΣΟΦΟΣ", "tab\there", "line\none\r\ntwo\rthree\n", "123", "12a", "-42", "mixed CASE Word's",
         "日本語", "a-b_c", "🙂x", "\x0b\x1c", "ABC", "abc123"]
PARTS = ["", "a", "b", ",", " ", "aa", "o", "ö", "λ", "本", "World", "c", "\n", "x"]
for method in "upper lower title capitalize swapcase isdigit isalpha isalnum isspace isupper islower isascii istitle strip lstrip rstrip split rsplit splitlines casefold expandtabs isidentifier".split():
    if method in ("casefold", "isdigit"):       # beyond ASCII their tables are larger than ours
        each("{0}.%s()" % method, [t for t in TEXTS if t.isascii()])
    else:
        each("{0}.%s()" % method, TEXTS)
for method in "find rfind index rindex count startswith endswith strip lstrip rstrip split rsplit partition rpartition removeprefix removesuffix".split():
    some(70, "{0}.%s({1})" % method, TEXTS, PARTS)
for method in "find rfind count startswith endswith index".split():
    some(60, "{0}.%s({1}, {2}, {3})" % method, TEXTS, PARTS, [0, 1, 3, -2, -100, 100, None], [0, 2, 5, -1, 100, None])
for method in "split rsplit".split():
    some(60, "{0}.%s({1}, {2})" % method, TEXTS, [None, "a", ",", " "], [-1, 0, 1, 2])
    some(20, "{0}.%s(maxsplit={1})" % method, TEXTS, [-1, 0, 1, 2])
some(80, "{0}.replace({1}, {2})", TEXTS, PARTS, PARTS)
some(60, "{0}.replace({1}, {2}, {3})", TEXTS, PARTS, PARTS, [-1, 0, 1, 2])
for method in "ljust rjust center".split():
    some(40, "{0}.%s({1})" % method, TEXTS, [0, 1, 5, 6, 11, 20, -3])
    some(30, "{0}.%s({1}, {2})" % method, TEXTS, [0, 7, 8, 20], ["*", "ö", "", "ab", 3])
some(30, "{0}.zfill({1})", TEXTS, [0, 3, 8, -1])
some(20, "{0}.expandtabs({1})", TEXTS, [0, 1, 4])
each("{0}.splitlines(True)", TEXTS)
each("{0}.join({1})", [",", "", "ab"], [["a", "b"], ("x",), [], "abc", ["a", 1], 5, {"k": 1}])
each("{0}.startswith({1})", ["abc"], [("a", "b"), ("x", "y"), (), 3, ("a", 3), [1]])
for expression in ("'a'.upper(1)", "'a'.nothing()", "'a'.split(sep=',', maxsplit=1)", "'a b'.split(bad=1)", "'a'.split('')", "'abc'.index('x')", "str.upper('a')", "str.upper(3)",
                   "str.join(',', ['a'])", "list(map(str.upper, ['a', 'b']))", "'a'.replace('a')", "'a'.find(1)", "'a'.center('x')", "'%s' % 'é'", "ascii('é日🙂')", "repr('it\\'s')",
                   "'abc'[1]", "'日本語'[1:]", "len('日本語')", "ord('日')", "chr(26085)", "ord('ab')", "ord('')", "ord(3)", "chr(-1)", "chr(1114112)", "chr('a')", "'a' in 'abc'"):
    add(expression)

# ---- formats ----

INT_SPECS = ["", "d", "5", "<5", ">5", "^5", "=5", "+d", " d", "05", "+05d", ",", "_", "010,", "#x", "#X", "#o", "#b", "x", "b", "o", "_b", "_x", "#010x", "#_x", "*^12,d", "é>8", "n", "c", "e", ".2f",
             ".3e", "g", "%", ".1%", "10.3f", "s", "q", ".2d", ",x", "+c", "5c", "-5", "<05", "^05", "012_b", "x=+8", ",_", ",,", "5 ", "20,.2f", "z", "zd"]
for spec in INT_SPECS:
    some(8, "format({0}, %r)" % spec, [0, 1, -1, 42, -1234567, 10**20, -10**25, True, 65, 0x1F642])
FLOAT_SPECS = ["", "f", "e", "g", "E", "F", "G", ".0f", ".1f", ".2f", ".3f", ".10f", ".0e", ".3e", ".15e", ".3g", ".0g", ".17g", ".30f", ".60e", "10.2f", "<10.2f", "^10.2f", "+.2f", " .2f", "010.2f",
               "+010.1f", ",.2f", "_.3f", "020,.3f", "%", ".1%", ".0%", ".3", ".10", ".1", ".17", "10", "<10", "*^15.3e", "#.0f", "#.0e", "#.3g", "#g", "z.0f", "z.1f", "z", "n", "d", "x", "s", "c", ",", "_e",
               "=+12.3f", "x=12.2f", ".3_f", ".", "5.", "g5", "-.2f", "z.3g", "015", ",g", ",.10"]
for spec in FLOAT_SPECS:
    some(14, "format({0}, %r)" % spec, FLOATS)
    for text in ("math.inf", "-math.inf", "math.nan"):
        add(f"format({text}, {spec!r})")
for spec in ["", ".2f", "g", ".3", "+", "e", "10.1f", ">20.2f", "<20", "^20.1f", ",.2f", "=5", "010", "%", "d", "s", " .1f", "n", "*>15"]:
    each("format({0}, %r)" % spec, [1 + 2j, -1.5 - 0.25j, 2j, -0.0 + 1j, 0j, complex(1e10, -1e-10)])
    add(f"format(complex('nan+infj'), {spec!r})")
for spec in ["", "s", "5", "<5", ">8", "^9", "*^9", ".2", ".0", "8.2", "=5", "+", "#", "05", ",", "d", "é^9s", "z", "10s", ".100"]:
    each("format({0}, %r)" % spec, ["", "abc", "日本語", "aé"])
each("format({0}, {1})", [None, [1], (1, 2), {"a": 1}], ["", "5", "s"])
PERCENTS = ["%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%x", "%#x", "%X", "%#o", "%.5d", "%8.3d", "%08.3d", "%i", "%u", "%e", "%.2e", "%f", "%.0f", "%g", "%G", "%#g", "%s", "%10s", "%-10s|", "%.2s", "%r", "%a",
            "%c", "%5c", "%%", "%5%", "%q", "%", "%.3", "%*d", "%ld", "%-05d|", "%+.3f", "%010.2f", "%E", "abc", "%s%s", "%(a)s", "%.10g"]
for spec in PERCENTS:
    for v in (42, -7, 3.75, -0.0, "text", "é", None, [1], (1,), (1, 2), (), {"a": 5}, {}, 2**70, True, 65, 1e20, 1j, ("a",), (5, 42)):
        add(f"{spec!r} % {v!r}" if not isinstance(v, tuple) else f"{spec!r} % {v!r}")
for expression in ("'%*d' % (5, 42)", "'%-*d|' % (5, 42)", "'%*d|' % (-5, 42)", "'%.*f' % (2, 3.14159)", "'%*.*f' % (8, 2, 3.14159)", "'%*d' % ('a', 1)", "'%(a)d %(b)s' % {'a': 1, 'b': 'x'}",
                   "'%(a)d' % {'b': 1}", "'%(a)d' % 5", "'%(a' % {'a': 1}", "'%(a)d %d' % {'a': 1}", "'%d' % 10**30", "'%f' % math.inf", "'%05f' % math.inf", "'%d' % math.nan", "'%d' % math.inf",
                   "'%x' % 1.5", "'%c' % 1114112", "'%c' % 'ab'", "'%s %s' % ('a', 'b')", "'%s' % ('a', 'b')", "'%s %s' % 'a'", "'%#x' % 2**70", "'%,d' % 5", "'%5.1f%%' % 12.34"):
    add(expression)
for expression in ("'{}'.format(1)", "'{} {}'.format(1, 2)", "'{1} {0}'.format(1, 2)", "'{a} {b}'.format(a=1, b='x')", "'{0[1]}'.format([1, 2])", "'{0[k]}'.format({'k': 5})", "'{a[0][1]}'.format(a=[[1, 2]])",
                   "'{:5d}|'.format(42)", "'{:>{w}}|'.format('x', w=5)", "'{:{}}|'.format('x', 5)", "'{0:{1}.{2}f}'.format(3.14159, 8, 2)", "'{!r}'.format('a')", "'{!s:>5}'.format('a')", "'{!a}'.format('é')",
                   "'{{}}'.format()", "'{{{}}}'.format(1)", "'{'.format(1)", "'}'.format(1)", "'{} {0}'.format(1)", "'{0} {}'.format(1)", "'{}'.format()", "'{a}'.format()", "'{0.real}'.format(3)",
                   "'{0.imag:.1f}'.format(1+2j)", "'{!x}'.format(1)", "'{0[}'.format([1])", "'{0.}'.format(1)", "'{:d}'.format('a')", "'{:.2f} {:.3e}'.format(1.5, 2)", "'{0[9]}'.format([1])", "'{0[}]}'.format({'}': 1})", "'{0[}'.format([1])", "'%(' % [1]", "'%(a)s' % [1]", "'%(é)s' % {'a': 1}", "'%é' % 1", "format(1, 'é')",
                   "'{0.nope}'.format(1)", "'{a.real[0]}'.format(a=1)", "'{:,}'.format(1234567)", "'{:%}'.format(.25)", "'{}{{'.format(1)", "'{0!r:>8}'.format('ab')", "'{!r'.format(1)", "'{0[a b]}'.format({'a b': 1})",
                   "'{:}}'.format(1)", "'{:{:{}}}'.format(1, 2, 3)", "'{-1}'.format(1)", "'{0[-1]}'.format([1])", "'{0[-1]}'.format({'-1': 2})", "'{:^10}'.format('mid')", "'{: }'.format(3)",
                   "f'{3.14159:.2f}'", "f'{1+1}'", "f'{\"a\":>5}'"):
    add(expression)

# ---- containers ----

for expression in ("[l := [3, 1, 2], l.sort(), l]", "[l := [3, 1, 2], l.sort(reverse=True), l]", "[l := ['bb', 'a', 'ccc'], l.sort(key=len), l]", "[l := [3, 'a'], l.sort()]", "[l := [1], l.append(2), l]",
                   "[l := [1], l.extend('ab'), l]", "[l := [1, 2], l.extend(l), l]", "[l := [1, 2], l.insert(1, 9), l]", "[l := [1, 2], l.insert(-1, 9), l]", "[l := [1, 2], l.insert(100, 9), l]",
                   "[l := [1, 2], l.insert(-100, 9), l]", "[l := [1, 2, 1], l.remove(1), l]", "[1].remove(2)", "[l := [1, 2, 3], l.pop(), l]", "[l := [1, 2, 3], l.pop(0), l]", "[l := [1, 2, 3], l.pop(-2), l]",
                   "[].pop()", "[1].pop(5)", "[l := [1, 2], l.clear(), l]", "[1, 2, 1].index(1)", "[1, 2, 1].index(1, 1)", "[1, 2, 1].index(2, 0, 1)", "[1, 2].index(3)", "[1, 2, 1.0, True].count(1)",
                   "[l := [1, 2, 3], l.reverse(), l]", "[l := [1], m := l.copy(), m.append(2), l, m]", "(1, 2, 1).count(1)", "(1, 2).index(2)", "(1, 2).index(3)", "[].append()", "[].append(1, 2)",
                   "[1].sort(1)", "[l := [1, 2], l.append(l.pop(0)), l]", "[].nothing", "list.append([1], 2)", "list.append(1, 2)", "sorted([3, 1, 2])", "sorted('hello')", "sorted([1, 2, 3], reverse=True)",
                   "sorted([(1, 'b'), (1, 'a'), (0, 'z')])", "sorted(['b', 'A', 'c'], key=str.lower)", "sorted([3, -1, 2], key=abs)", "sorted([1, 'a'])", "sorted(5)", "sorted([1, 2.5, True, -3])",
                   "sorted(range(20), key=lambda x: x % 3)", "sorted(range(20), key=lambda x: x % 3, reverse=True)", "sorted([[2], [1, 2], [1]])", "sorted({'b': 1, 'a': 2})"):
    add(expression)
for expression in ("{'a': 1}.get('a')", "{'a': 1}.get('b')", "{'a': 1}.get('b', 5)", "list({'a': 1, 'b': 2}.keys())", "list({'a': 1, 'b': 2}.values())", "list({'a': 1, 'b': 2}.items())",
                   "[d := {}, d.setdefault('a', 1), d.setdefault('a', 2), d]", "[d := {'a': 1}, d.update({'b': 2}), d.update(c=3), d.update([('d', 4)]), d]", "[d := {'a': 1}, d.pop('a'), d]", "{}.pop('a')",
                   "{}.pop('a', 7)", "[d := {'a': 1, 'b': 2}, d.popitem(), d]", "{}.popitem()", "[d := {'a': 1}, d.clear(), d]", "[d := {'a': 1}, e := d.copy(), e.update(a=2), d, e]",
                   "dict.fromkeys('ab')", "dict.fromkeys([1, 2], 0)", "{1: 2}.get([1])", "[d := {'a': 1}, d.update(5)]", "len({'a': 1}.items())", "sorted({'a': 1, 'b': 2}.keys() & {'b': 3}.keys())", "{'a': 1}.keys() == {'a'}", "[k for k in {3: 1, 1: 2, 2: 0}.keys()]", "'a' in {'a': 1}.keys()", "{}.update([(1, 2, 3)])"):
    add(expression)
for expression in ("sorted({1, 2} | {3})", "sorted({1, 2}.union([3], (4,)))", "sorted({1, 2, 3}.intersection([2, 3], {3}))", "sorted({1, 2, 3}.difference([2]))", "sorted({1, 2}.symmetric_difference([2, 3]))",
                   "{1}.issubset([1, 2])", "{1, 3}.issubset([1, 2])", "{1, 2}.issuperset([1])", "{1}.isdisjoint([2])", "{1}.isdisjoint([1])", "[s := {1}, s.add(2), sorted(s)]", "[s := {1}, s.discard(1), s.discard(5), s]",
                   "{1}.remove(2)", "[s := {1}, s.pop(), s]", "set().pop()", "[s := {1}, s.update([2], [3]), sorted(s)]", "[s := {1}, s.clear(), s]", "[s := {1}, t := s.copy(), t.add(2), s, sorted(t)]", "{1}.add([1])",
                   "[s := {1, 2, 3}, s.intersection_update([1, 2]), sorted(s)]", "[s := {1, 2, 3}, s.difference_update([1]), sorted(s)]", "[s := {1, 2}, s.symmetric_difference_update([2, 3]), sorted(s)]", "{1}.union(5)"):
    add(expression)

# ---- builtins over iterables ----

for expression in ("len([1, 2])", "len('é')", "len(5)", "list(enumerate('ab'))", "list(enumerate('ab', 5))", "list(enumerate('ab', start=2**63 - 1))", "enumerate(5)", "list(zip('ab', [1, 2, 3]))", "list(zip())",
                   "list(zip('ab', [1, 2], strict=True))", "list(zip('ab', [1], strict=True))", "list(zip('a', [1, 2], strict=True))", "list(zip('ab', 5))", "list(map(lambda x: x * 2, [1, 2]))",
                   "list(map(lambda x, y: x + y, [1, 2], [3, 4, 5]))", "map(len)", "list(map(5, [1]))", "list(filter(None, [0, 1, '', 'a']))", "list(filter(lambda x: x > 1, [1, 2, 3]))", "list(reversed([1, 2, 3]))",
                   "list(reversed('abc'))", "list(reversed(range(4)))", "list(reversed({'a': 1, 'b': 2}))", "reversed(5)", "sum([1, 2, 3])", "sum([1, 2], 10)", "sum([], 5)", "sum([[1], [2]], [])", "sum(['a'], '')",
                   "sum([1, 'a'])", "sum(5)", "sum([True, True])", "sum([2**63, 2**63])", "sum([1, 2.5])", "sum([1.5, 2])", "sum([1, 2j])", "sum([], start=3)", "min(3, 1, 2)", "max([3, 1, 2])", "min('b', 'a')", "min([])",
                   "max([], default=5)", "max([1], default=5)", "max(1, 2, default=3)", "min()", "min(5)", "max(['aa', 'b'], key=len)", "min([1, -2], key=abs)", "max(1, 'a')", "max(1, 1.0)", "max(1.0, 1)", "min([0.0, -0.0])",
                   "any([0, 1])", "any([])", "all([1, 0])", "all([])", "any(5)", "abs(-5)", "abs(-2.5)", "abs(3+4j)", "abs('a')", "abs(True)", "abs(-2**63)", "divmod(7, -2)", "divmod(-7.5, 2)", "divmod(1, 0)", "divmod('a', 1)",
                   "pow(2, 10)", "pow(2, -1)", "pow(2, 10, 1000)", "pow(2, 10, 0)", "pow(2.0, 2, 3)", "pow(3, -1, 7)", "pow(2, -1, 4)", "pow(2, 3, -5)", "pow(base=2, exp=3)", "next(iter([1]))", "next(iter([]))",
                   "next(iter([]), 5)", "next([1])", "iter(5)", "callable(len)", "callable(5)", "callable(int)", "repr('a')", "hash('a') == hash('a')", "hash([1])", "hash(1) == hash(1.0)", "hex(255)", "hex(-255)", "hex(1.5)",
                   "oct(8)", "bin(5)", "bin(-2**70)", "format(5)", "format(5, 5)", "isinstance(1, int)", "isinstance(True, int)", "isinstance(1, (str, int))", "isinstance(1.0, int)", "isinstance('a', str)", "isinstance(1, 5)",
                   "isinstance([], list)", "isinstance(None, type(None))", "isinstance(1, object)", "isinstance(2**70, int)", "isinstance(len, type(len))", "type(1)", "type('a')", "type(1.5) is float", "type([]) == list",
                   "type(1) == type(True)", "type(None)", "getattr(1+2j, 'imag')", "getattr(1, 'nope')", "getattr(1, 'nope', 5)", "hasattr('a', 'upper')", "hasattr('a', 'nope')", "int.__name__", "type(1).__name__", "len.__name__",
                   "(5).real", "(5).imag", "(5).numerator", "(2.5).real", "(2.5).imag", "(1+2j).conjugate()", "(5).conjugate()", "True.real", "len(1, 2)", "len()", "len(obj=[1])", "print()", "print('a', sep=5)",
                   "sorted([1], bad=1)", "list(map(int, '123'))", "max(map(abs, [-3, 2]))", "sum(x * x for x in range(10))", "dict(zip('ab', [1, 2]))", "set('a') == {'a'}", "isinstance(ValueError('a'), Exception)",
                   "isinstance(IndexError(), LookupError)", "isinstance(KeyError('a'), IndexError)", "ValueError('a', 1)", "str(ValueError('abc'))", "repr(KeyError('a'))", "NotImplemented", "Ellipsis"):
    add(expression)
for name in ("frozenset", "open", "input", "eval", "id", "globals"):
    want(f"{name}()", NameError)
want("sum([0.1] * 10)", 1.0)
want("sum([1e100, 1.0, -1e100])", 1.0)

for f in ("map(abs, it)", "filter(None, it)", "enumerate(it)", "zip(it)"):
    want(f"[it := iter([1]), [it := {f} for i in range(200000)], next(it)][0]", RecursionError)

# ---- NumPy's elements ----

for expression in ("abs(np.float32(-1.5))", "abs(np.int8(-5))", "round(np.float64(2.567), 2)", "round(np.float32(2.5))", "int(np.float32(2.7))", "float(np.int16(3))", "complex(np.float32(1.5))", "int(np.array([5]))",
                   "float(np.array(2.5))", "int(np.array([1, 2]))", "hex(np.int64(255))", "isinstance(np.float64(1), float)", "isinstance(np.float32(1), float)", "isinstance(np.float32(1), np.floating)",
                   "isinstance(np.int8(1), np.integer)", "isinstance(np.int8(1), int)", "isinstance(np.array([1]), np.ndarray)", "isinstance(np.float32(1), np.float32)", "isinstance(1, np.integer)",
                   "isinstance(np.complex128(1), complex)", "format(np.float32(0.1), '.3f')", "format(np.float32(0.1))", "format(np.int8(5), '04d')", "'%d' % np.int16(7)", "'%.2f' % np.float64(1.234)", "'%s' % np.float32(1.5)",
                   "math.sqrt(np.float32(4))", "math.floor(np.float64(2.5))", "math.sqrt(np.array([4.0]))", "math.sqrt(np.array([4.0, 1.0]))", "math.factorial(np.int64(5))", "sum(np.array([1, 2, 3]))", "max(np.array([1, 3, 2]))",
                   "sum(np.array([[1, 2], [3, 4]]))", "min(np.array([[1, 2], [3, 4]]))", "sorted(np.array([3, 1, 2]))", "list(np.array([1, 2]))", "format(np.array([1.5, 2]))", "format(np.array([1.5]), '.2f')", "len(np.array([1, 2]))",
                   "any(np.array([0, 1]))", "all(np.array([[1, 1]]))", "list(range(np.int64(3)))", "pow(np.int64(2), 3)", "divmod(np.int64(7), 2)", "bool(np.float32(0))", "str(np.float32(1.5))", "np.float64(1.5).real",
                   "list(zip(np.array([1, 2]), 'ab'))", "isinstance(np.linalg.LinAlgError('a'), ValueError)", "[1, 2, 3][np.int64(1)]", "chr(np.int64(65))", "'a' * np.int64(3)"):
    add(expression)

# ---- math ----

REALS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 3.7, -3.7, 1e-10, 1e10, 100.5, 1e300, -1e300, 710.0, -750.0, 170.5, 171.7, 5e-324, 0.1]
SPECIALS = ["math.inf", "-math.inf", "math.nan"]
for name in ("acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor gamma isfinite isinf isnan lgamma log log10 log1p log2 radians sin sinh sqrt tan tanh trunc "
             "frexp modf ulp").split():
    for v in [repr(r) for r in REALS] + SPECIALS + ["5", "-3", "0", "True", "10**400", "'a'", "None", "1j"]:
        add(f"math.{name}({v})", "close")
for name in "atan2 copysign fmod remainder pow nextafter ldexp log hypot isclose".split():
    for _ in range(60):
        values = [repr(r) for r in REALS] + SPECIALS + ["5", "-3", "0"]
        add(f"math.{name}({pick.choice(values)}, {pick.choice(values)})", "close")
for expression in ("math.hypot()", "math.hypot(3)", "math.hypot(1, 2, 3)", "math.hypot(1e300, 1e300)", "math.hypot(5e-324, 5e-324)", "math.hypot(math.inf, math.nan)", "math.dist([0, 0], [3, 4])", "math.dist([1], [1, 2])",
                   "math.dist((1, 2, 3), (4, 5, 7))", "math.ldexp(1.5, 10)", "math.ldexp(1, 5000)", "math.ldexp(1, -5000)", "math.ldexp(1, 10**30)", "math.ldexp(0, 10**30)", "math.ldexp(1, 1.5)", "math.isclose(1, 1 + 1e-10)",
                   "math.isclose(1, 1.1, rel_tol=0.2)", "math.isclose(0, 1e-10, abs_tol=1e-9)", "math.isclose(1, 2, rel_tol=-1)", "math.log(8, 2)", "math.log(10, 1)", "math.log(0)", "math.log(2, 0)", "math.log(10**400, 10)",
                   "math.log2(2**1000)", "math.log2(2**2000)", "math.prod([1, 2, 3])", "math.prod([])", "math.prod([1.5, 2], start=2)", "math.prod([2**40] * 3)", "math.prod(5)", "math.gcd()", "math.gcd(12)", "math.gcd(12, 18, 8)",
                   "math.gcd(-12, 18)", "math.gcd(1.5)", "math.lcm()", "math.lcm(4, 6)", "math.lcm(0, 5)", "math.lcm(-4, 6)", "math.isqrt(10)", "math.isqrt(-1)", "math.isqrt(2.0)", "math.factorial(3.0)", "math.comb(5.0, 2)",
                   "math.factorial('a')", "math.sin()", "math.sin(1, 2)", "math.sin(x=1)", "math.pi", "math.e", "math.tau", "math.inf", "math.nan", "math.nothing", "math.perm(5)", "math.comb(10**15, 3)"):
    add(expression, "close" if "log" in expression else "same")
for _ in range(40):
    values = [pick.choice([1, -1]) * pick.random() * 10.0 ** pick.randrange(-20, 20) for _ in range(pick.randrange(12))]
    add(f"math.fsum({values})")
    add(f"math.hypot(*{values[:5]})", "close")
    if values:
        other = [pick.uniform(-5, 5) for _ in values]
        want(f"math.sumprod({values}, {other})", float(sum((Fraction(a) * Fraction(b) for a, b in zip(values, other)), Fraction(0))))
for expression in ("math.fsum([1e16, 1, 1e-16])", "math.fsum([math.inf, -math.inf])", "math.fsum([math.inf, 1])", "math.fsum([math.nan])", "math.fsum([1e308] * 3)", "math.fsum([0.1] * 10)", "math.fsum(['a'])", "math.fsum(5)",
                   "math.fsum([])", "math.fsum([1, 2])"):
    add(expression)
want("math.sumprod([1, 2], [3, 4])", 11)
want("math.sumprod([1], [3, 4])", ValueError)
want("math.sumprod([2**70], [3])", 3 * 2**70)
want("math.fma(0.1, 10, -1)", float(Fraction(0.1) * 10 - 1))
want("math.fma(math.inf, 0, 1)", ValueError)
want("math.fma(1e300, 1e300, 0)", OverflowError)
want("math.nextafter(1.0, 2.0, steps=3)", 1.0 + 3 * 2.0**-52)
want("math.nextafter(0.0, -1.0, steps=2)", -1e-323)
want("math.nextafter(1.0, 2.0, steps=-1)", ValueError)
want("(5).is_integer()", True)
COMPLEXES = ["0j", "1+2j", "-1.5+0.25j", "1j", "-1j", "3-4j", "1e-10+1e-10j", "2", "-2", "0.5", "1", "-1", "complex(-1.0, -0.0)", "complex('inf')", "complex('nan')", "800+1j", "complex('1+infj')", "'a'", "30+40j"]
for name in "acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log log10 phase polar sin sinh sqrt tan tanh".split():
    for v in COMPLEXES:
        if name in ("tan", "tanh") and "nan" in v:      # C's standards and Pythons differ on the parts
            continue
        add(f"cmath.{name}({v})", "close")
for expression in ("cmath.rect(2, 1)", "cmath.rect(0, math.inf)", "cmath.rect(1, math.inf)", "cmath.rect(-2, 0)", "cmath.log(1j, 2)", "cmath.log(2, 0)", "cmath.isclose(1+1j, 1+1.0000000001j)", "cmath.isclose(1, 2)", "cmath.pi",
                   "cmath.polar(-1)"):
    add(expression, "close")


# ---- comparing ----

def numbers_of(text):
    v = eval(text, {"inf": math.inf, "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan)})
    return [p for x in (v if isinstance(v, tuple) else (v,)) for p in ((x.real, x.imag) if isinstance(x, complex) else (x,))]


def close(got, wanted):
    """Within a few units of the last place: another library may have computed it."""
    if got == wanted or got.startswith("!") or wanted.startswith("!"):
        return got == wanted
    try:
        a, b = numbers_of(got), numbers_of(wanted)
    except Exception:
        return False
    scale = max((abs(x) for x in b if math.isfinite(x)), default=0)
    def same(x, y):
        if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y):
            return x == y or (math.isnan(x) and math.isnan(y))
        return abs(x - y) <= 2e-15 * max(scale, 1e-300) and type(x) is type(y)
    return len(a) == len(b) and all(map(same, a, b))


def run(chosen, *arguments):
    """Passed and failed."""
    lines = [expression.replace("\n", "\\n") for expression, _, _ in chosen]
    p = subprocess.run([PROGRAM, *arguments], input="\n".join(lines) + "\n", capture_output=True, text=True)
    answers = p.stdout.split("\n")[:-1]
    passed = failed = 0
    for (expression, wanted, how), got in zip(chosen, answers):
        wanted, kind = wanted.replace("\n", "\\n"), got.split(" ")[0] if got.startswith("!") else got
        good = close(kind, wanted) if how == "close" else kind == wanted
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"{' '.join(arguments)} {expression[:200]}\n    got  {got[:300]}\n    want {wanted[:300]}")
    missing = len(chosen) - len(answers)
    if missing or p.returncode:
        failed += 1
        print(f"the program ended early ({p.returncode}), {missing} answers short, at {lines[len(answers)][:200] if missing else 'its end'}\n{p.stderr[-3000:]}")
    return passed, failed


def main():
    results = [run(cases[::7] if SANITIZED else cases), run(cases[3::29], "30")]     # and with allocations that fail
    passed, failed = map(sum, zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
