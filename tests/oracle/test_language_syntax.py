"""Programs as trees and scopes, compared with Python's own parser and symbol tables; what Python refuses is refused."""
# also under sanitizers
import ast
import doctest
import glob
import io
import os
import random
import re
import subprocess
import symtable
import sys
import sysconfig
import textwrap
import tokenize
import warnings

import numpy
import scipy.fft
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats
from _symtable import CELL, FREE, LOCAL, SCOPE_MASK, SCOPE_OFF

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests/oracle/syntax")
FEWER = 10 if os.environ.get("KILN_SANITIZER") else 1
warnings.simplefilter("ignore")
sys.set_int_max_str_digits(0)

# ---- Python's tree in Kiln's form ----

UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
          ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
           ast.IsNot: "is-not", ast.In: "in", ast.NotIn: "not-in"}


class Outside(Exception):
    """A construct that is not in the language."""


def quoted(data):
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in data) + '"'


def listed(nodes):
    return " [" + "".join(map(form, nodes)) + "]"


def constant(v):
    if v is None or v is True or v is False:
        return f"({v})"
    if v is ...:
        return "(...)"
    if isinstance(v, int):
        return f"(int {v})"
    if isinstance(v, float):
        return f"(float {v:.17g})"
    if isinstance(v, complex):
        return f"(imaginary {v.imag:.17g})"
    if isinstance(v, str):
        return f"(str {quoted(v.encode('utf-8', 'surrogatepass'))})"
    return f"(bytes {quoted(v)})"


def parameters(a):
    positional = a.posonlyargs + a.args
    defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
    rows = [("/" if i < len(a.posonlyargs) else "", x, d) for i, (x, d) in enumerate(zip(positional, defaults))]
    rows += [("=", x, d) for x, d in zip(a.kwonlyargs, a.kw_defaults)]
    rows += [("*", a.vararg, None)] * bool(a.vararg) + [("**", a.kwarg, None)] * bool(a.kwarg)

    def annotation(x):
        starred = isinstance(x.annotation, ast.Starred)
        return form(x.annotation.value if starred else x.annotation)
    return " (" + "".join(f" ({c}{x.arg}{form(d)}{annotation(x)})" for c, x, d in rows) + ")"


def aliases(names):
    return "".join(f" (alias {x.name} {x.asname or '-'})" for x in names)


def clause(c):
    if c.is_async:
        raise Outside
    return f" (for{form(c.target)}{form(c.iter)}{listed(c.ifs)})"


def clauses(generators):
    return " [" + "".join(map(clause, generators)) + "]"


FORMS = {
    ast.Name: lambda n: f"(name {n.id})",
    ast.Constant: lambda n: constant(n.value),
    ast.JoinedStr: lambda n: "(fstring" + "".join(map(form, n.values)) + ")",
    ast.FormattedValue: lambda n: f"(field {'-' if n.conversion < 0 else chr(n.conversion)}{form(n.value)}{form(n.format_spec)})",
    ast.UnaryOp: lambda n: f"(unary {UNARY[type(n.op)]}{form(n.operand)})",
    ast.BinOp: lambda n: f"(binary {BINARY[type(n.op)]}{form(n.left)}{form(n.right)})",
    ast.BoolOp: lambda n: "(" + ("and" if isinstance(n.op, ast.And) else "or") + "".join(map(form, n.values)) + ")",
    ast.Compare: lambda n: f"(compare{form(n.left)}" + "".join(f" {COMPARE[type(o)]}{form(c)}" for o, c in zip(n.ops, n.comparators)) + ")",
    ast.IfExp: lambda n: f"(conditional{form(n.test)}{form(n.body)}{form(n.orelse)})",
    ast.Lambda: lambda n: f"(lambda{parameters(n.args)}{form(n.body)})",
    ast.NamedExpr: lambda n: f"(named{form(n.target)}{form(n.value)})",
    ast.Attribute: lambda n: f"(attribute{form(n.value)} {n.attr})",
    ast.Subscript: lambda n: f"(subscript{form(n.value)}{form(n.slice)})",
    ast.Slice: lambda n: f"(slice{form(n.lower)}{form(n.upper)}{form(n.step)})",
    ast.Call: lambda n: f"(call{form(n.func)}{listed(n.args)}{listed(n.keywords)})",
    ast.keyword: lambda n: f"(keyword {n.arg or '**'}{form(n.value)})",
    ast.Starred: lambda n: f"(starred{form(n.value)})",
    ast.Tuple: lambda n: "(tuple" + "".join(map(form, n.elts)) + ")",
    ast.List: lambda n: "(list" + "".join(map(form, n.elts)) + ")",
    ast.Set: lambda n: "(set" + "".join(map(form, n.elts)) + ")",
    ast.Dict: lambda n: "(dict" + "".join(form(k) + form(v) for k, v in zip(n.keys, n.values)) + ")",
    ast.ListComp: lambda n: f"(listcomp{form(n.elt)}{clauses(n.generators)})",
    ast.SetComp: lambda n: f"(setcomp{form(n.elt)}{clauses(n.generators)})",
    ast.DictComp: lambda n: f"(dictcomp{form(n.key)}{form(n.value)}{clauses(n.generators)})",
    ast.GeneratorExp: lambda n: f"(genexpr{form(n.elt)}{clauses(n.generators)})",
    ast.Expr: lambda n: f"(expression{form(n.value)})",
    ast.Assign: lambda n: f"(assign{listed(n.targets)}{form(n.value)})",
    ast.AnnAssign: lambda n: f"(annotated {n.simple}{form(n.target)}{form(n.annotation)}{form(n.value)})",
    ast.AugAssign: lambda n: f"(augmented {BINARY[type(n.op)]}{form(n.target)}{form(n.value)})",
    ast.If: lambda n: f"(if{form(n.test)}{listed(n.body)}{listed(n.orelse)})",
    ast.While: lambda n: f"(while{form(n.test)}{listed(n.body)}{listed(n.orelse)})",
    ast.For: lambda n: f"(for{form(n.target)}{form(n.iter)}{listed(n.body)}{listed(n.orelse)})",
    ast.Return: lambda n: f"(return{form(n.value)})",
    ast.Delete: lambda n: "(del" + "".join(map(form, n.targets)) + ")",
    ast.Assert: lambda n: f"(assert{form(n.test)}{form(n.msg)})",
    ast.Raise: lambda n: f"(raise{form(n.exc)}{form(n.cause)})",
    ast.Try: lambda n: f"(try{listed(n.body)}{listed(n.handlers)}{listed(n.orelse)}{listed(n.finalbody)})",
    ast.ExceptHandler: lambda n: f"(except{form(n.type)} {n.name or '-'}{listed(n.body)})",
    ast.With: lambda n: f"(with{listed(n.items)}{listed(n.body)})",
    ast.withitem: lambda n: f"(item{form(n.context_expr)}{form(n.optional_vars)})",
    ast.Import: lambda n: f"(import{aliases(n.names)})",
    ast.ImportFrom: lambda n: f"(from {n.level} {quoted((n.module or '').encode())} [{aliases(n.names)}])",
    ast.Global: lambda n: "(global" + "".join(f" (name {x})" for x in n.names) + ")",
    ast.Nonlocal: lambda n: "(nonlocal" + "".join(f" (name {x})" for x in n.names) + ")",
    ast.Pass: lambda n: "(pass)", ast.Break: lambda n: "(break)", ast.Continue: lambda n: "(continue)",
}


def function_form(n):
    if n.decorator_list:
        raise Outside
    return f"(def {n.name}{parameters(n.args)}{listed(n.body)})"


FORMS[ast.FunctionDef] = function_form


line_starts = None      # in bytes; set while places are wanted


def place(n, end=False):
    return line_starts[(n.end_lineno if end else n.lineno) - 1] + (n.end_col_offset if end else n.col_offset)


def form(n):
    if n is None:
        return " -"
    if type(n) not in FORMS:
        raise Outside
    shown = FORMS[type(n)](n)
    if line_starts and isinstance(n, (ast.expr, ast.keyword)):
        kind = re.match(r"\([^ )]+", shown)[0]
        shown = f"{kind}@{place(n)}-{place(n, True)}{shown[len(kind):]}"
    return " " + shown


def python_tree(text):
    """The tree, None where Python refuses, or False where a construct is not in the language."""
    text = text.removeprefix("\ufeff")
    try:
        tree = ast.parse(text)
        compile(text, "<input>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    try:
        return "".join(form(n) + "\n" for n in tree.body)
    except Outside:
        return False


def python_places(text):
    """The tree with the place of every expression, in bytes."""
    global line_starts
    line_starts = [0]
    for line in text.encode().splitlines(keepends=True):
        line_starts.append(line_starts[-1] + len(line))
    try:
        return "".join(form(n) + "\n" for n in ast.parse(text).body)
    finally:
        line_starts = None


# ---- Python's scopes ----

def python_scopes(text):
    """(name, parameters, locals, cells, free names) of every function, sorted."""
    rows = []

    def walk(table):
        for child in table.get_children():
            where = {n: f >> SCOPE_OFF & SCOPE_MASK for n, f in child._table.symbols.items()}
            own = {n for n, w in where.items() if w in (LOCAL, CELL) and n != ".0"}
            name = {"lambda": "<lambda>", "genexpr": "<genexpr>", "listcomp": "<listcomp>", "setcomp": "<setcomp>",
                    "dictcomp": "<dictcomp>"}.get(child.get_name(), child.get_name())
            rows.append((name, tuple(p for p in child.get_parameters() if p != ".0"), tuple(sorted(own)),
                         tuple(sorted(n for n, w in where.items() if w == CELL)), tuple(sorted(n for n, w in where.items() if w == FREE))))
            walk(child)
    walk(symtable.symtable(text, "<input>", "exec"))
    return sorted(rows)


def kiln_scopes(dump):
    """The same from Kiln's lines; also checks what is captured."""
    rows, around = [], []
    for line in dump.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, words = line.strip().partition(":")
        words = words.split()
        own = [w for w in words if not w.startswith("<")]
        free = [w[1:].split("@") for w in words if w.startswith("<")]
        slots = [w.strip("=*") for w in own] + [n for n, _ in free]
        cells = {w.strip("=*") for w in own if w.endswith("*")}
        del around[depth:]
        for captured, slot in free:
            outer_slots, outer_cells = around[-1]
            assert outer_slots[int(slot)] == captured and captured in outer_cells, f"{name} captures {captured} from slot {slot} of {outer_slots}"
        around.append((slots, cells | {n for n, _ in free}))
        if depth:
            params = tuple(w[1:].rstrip("*") for w in own if w.startswith("="))
            rows.append((name, params, tuple(sorted(w.strip("=*") for w in own)), tuple(sorted(cells)), tuple(sorted(n for n, _ in free))))
    return sorted(rows)


# ---- Kiln's answers ----

def kiln(mode, texts):
    """[(accepted, dump or error)] of many programs at once."""
    data = b"".join(f"{mode} {len(t)}\n".encode() + t for t in texts)
    out = subprocess.run([PROGRAM], input=data, capture_output=True)
    if out.returncode:
        sys.exit(f"{PROGRAM} ended with {out.returncode}\n{out.stderr.decode(errors='replace')}")
    answers, at = [], 0
    while at < len(out.stdout):
        end = out.stdout.index(b"\n", at)
        good, n = out.stdout[at:end].split()
        answers.append((good == b"1", out.stdout[end + 1:end + 1 + int(n)].decode("utf-8", "replace")))
        at = end + 1 + int(n)
    assert len(answers) == len(texts)
    return answers


def whole(tree):
    return re.sub(r"\(big (\d+) ([0-9a-fA-F]+)\)", lambda m: f"(int {int(m[2], int(m[1]))})", tree)


passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good and failed <= 20:
        print(what)


def first_difference(a, b):
    i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"  Kiln   ...{a[max(0, i - 60):i + 60]!r}\n  Python ...{b[max(0, i - 60):i + 60]!r}"


def compare_trees(texts, what):
    for text, (good, answer) in zip(texts, kiln("tree", [t.encode("utf-8", "surrogatepass") for t in texts])):
        want = python_tree(text)
        shown = f"{what}: {text if len(text) < 500 else text[:500] + ' ...'}\n"
        if want is None:
            check(not good, f"{shown}  is refused by Python, not by Kiln: {answer}")
        elif want is False:
            check(not good and "not in the language" in answer, f"{shown}  is not in the language, but: {answer[:300]}")
        else:
            check(good and whole(answer) == want, shown + ("  is refused: " + answer if not good else first_difference(whole(answer), want)))


def compare_places(texts, what):
    """Places of f-strings' parts are left out: Python 3.11 does not know them."""
    texts = [t for t in texts if not re.search(r"[fF][rR]?['\"]|\f", t)]
    for text, (good, answer) in zip(texts, kiln("places", [t.encode() for t in texts])):
        want = python_places(text)
        got = re.sub(r"\(big(@\S+) (\d+) ([0-9a-fA-F]+)\)", lambda m: f"(int{m[1]} {int(m[3], int(m[2]))})", answer)
        got = re.sub(r"\((global|nonlocal)( \(name\S+ \w+\))+\)", lambda m: re.sub(r"@\d+-\d+", "", m[0]), got)     # Python has none there
        check(good and got == want, f"{what}: places of {text[:500]}\n{first_difference(got, want)}")


def compare_scopes(texts, what):
    for text, (good, answer) in zip(texts, kiln("scopes", [t.encode() for t in texts])):
        want = python_scopes(text)
        try:
            got = kiln_scopes(answer) if good else answer
        except AssertionError as e:
            got = str(e)
        check(got == want, f"{what}: scopes of {text[:800]}\n  Kiln   {got}\n  Python {want}")


# ---- programs written for this test ----

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "language_snippets.txt"), encoding="utf-8") as f:
    SNIPPETS = [s.strip("\n") for s in f.read().split("\n----\n")]
# What a text file does not show well.
SNIPPETS += [
    "", "\n", "\n\n# only a comment", "x = 1", "x = 1\n\n\n", "if x:\n\ty\n\tz\n", "if x:\n\ty\n        z\n", "if x:\n        y\n\tz\n",
    "if x:\n \ty\n \tz\n", "if x:\n\tif y:\n\t\tz\n\tw\n", "if x:\n\tif y:\n            z\n", "\fx = 1\n\f\ny = 2", "x = 1\f\n", " \f x = 1",
    "if x:\n  y\n \f  z", "x = 1 \\\n + 2\n", "x = \\\n1", "x = 1 \\\n", "x = 1 \\", "x \\ y", "x = '\\\n'\n", "'a\\\nb'", "\ufeffx = 1",
    "x\ufeff = 1", "if x:\n  y\n # c\n  z\n# d\n", "if x:\n    y\n  z", "if x:\ny", "  x", "x\n  y", "if x:\n  y\n    z", "\tx", "x = '\t'",
    '"""a\nb\tc"""', "(\n1,\n# c\n2)", "x = [1,\n\n2\n]", "\u03b1 = \u03b2 + \u0394x", "x\u0301 = 1", "x = '\u00e9\U0001f600'", "b'\u00e9'",
    "\u20ac = 1", "x\u00a0= 1", "x = 1\u2003", "\u4e2d\u6587 = '\u4e2d'", "f'\u00e9{x}\u4e2d'", "\u0301x = 1", "x = \u00d7", "\u2200x = 1",
    r"'\ud800'", r"""'\x41\101\u0041\U00000041\n\t\\\'\"\a\b\f\v\r\0\q'""", r"'\x4'", r"'\u123'", r"'\U00110000'", r"'\777'",
    r"b'\xff\377\u0041\N{x}'", r"r'\x4\\'", r"r'\''", r"rb'\\'", "'\\", "x = 0" + "0" * 50, "1" * 400, "0x" + "f" * 5000, "1" * 300 + ".0",
    "1e400", "-1e400", "1e-400", "." + "3" * 2000, "0x_f", "0xf_", "0x", "0b2", "0b102", "0o8", "0_0", "00", "01", "01.5", "01e1", "01j", "1__0", "1_",
    "1_.0", "1._0", "1.0_0", "1e_1", "1e1_0", "1e", "1e+", "1.e5", ".5e-3j", "1.5J", "0XFF", "0B1", "0O7", "1a", "0xfg", "1.5a",
    "1if x else 2", "1or 2", "0xfor x in y", "[1for x in y]", "1in x", "1_000_000", "1 if 1else 2", "1.real", "1..real", "1 .real",
    "12.real", "09", "0_9", "1e5_", "1j2", "0b1.0", "0x1p3", "1.2.3", "1if", "x\0y",
]

compare_trees(SNIPPETS, "snippet")
compare_trees([s + "\n" for s in SNIPPETS] + [s.replace("\n", "\r\n") for s in SNIPPETS if not s.endswith("\\\n")], "snippet")
compare_scopes([s for s in SNIPPETS if python_tree(s) and ":" in s and "->" not in s and not re.search(r"\(\w+: ", s)], "snippet")

compare_places([s for s in SNIPPETS if python_tree(s) and s.isascii()], "snippet")

# Whatever Python calls a letter may start a name; what can only follow one may follow.
points = [chr(c) for c in range(0x80, 0x30000) if not 0xD800 <= c < 0xE000 and c % 7 == 0]
starts, parts = [c for c in points if c.isidentifier()], [c for c in points if ("a" + c).isidentifier()]
for name, (good, answer) in zip(starts + ["a" + c for c in parts], kiln("tree", [f"{c} = 1".encode() for c in starts + ["a" + c for c in parts]])):
    check(good, f"U+{ord(name[-1]):04X} in a name is refused: {answer}")
spaces = [c for c in map(chr, range(0x80, 0x3001)) if c.isspace() or c in "\u200b\u2028\u2212\u00d7\u2264\u2026\u201c\u2192\u3002"]
for c, (good, answer) in zip(spaces, kiln("tree", [f"{c}a = 1".encode() for c in spaces])):
    check(not good, f"U+{ord(c):04X} is taken for a letter")

# ---- programs that others wrote ----


def sources(limit):
    roots = [os.path.dirname(numpy.__file__), os.path.dirname(scipy.__file__), sysconfig.get_path("stdlib")]
    found = sorted(p for r in roots for p in glob.glob(r + "/**/*.py", recursive=True) if "bad" not in os.path.basename(p) and "/site-packages/pip" not in p)
    random.Random(5).shuffle(found)
    for path in found:
        if limit <= 0:
            return
        try:
            with tokenize.open(path) as f:
                text = f.read()
        except (SyntaxError, UnicodeDecodeError):
            continue
        if len(text) > 200000 or "\0" in text:
            continue
        limit -= len(text)
        yield text


def functions(text):
    """The functions of a file that use nothing but the language, methods too, as texts that stand alone."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    lines = text.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            piece = textwrap.dedent("".join(lines[node.lineno - 1:node.end_lineno]))
            if python_tree(piece):
                yield piece


files = [f for f in sources(4_000_000 // FEWER) if "\\N{" not in f]      # characters by name are not in the language
compare_trees(files, "file")
pieces = [p for f in files for p in functions(f)]
compare_trees(pieces, "function")
compare_places(pieces, "function")
bare = [p for p in pieces if not any(isinstance(n, (ast.AnnAssign, ast.arg, ast.FunctionDef)) and (getattr(n, "annotation", None) or getattr(n, "returns", None)) for n in ast.walk(ast.parse(p)))]
compare_scopes(bare, "function")
statements = sum(isinstance(n, ast.stmt) for p in pieces for n in ast.walk(ast.parse(p)))
check(statements > 10000 // FEWER, f"the corpus has {statements} statements only")

# ---- examples of documentation, copied with their prompts and output ----


def examples():
    """(from the first prompt of a doc string of NumPy or SciPy to its end, the statements in it)."""
    modules = [numpy, numpy.linalg, numpy.fft, numpy.random, numpy.ndarray, scipy.special, scipy.linalg, scipy.signal, scipy.fft, scipy.ndimage, scipy.stats]
    docs = {getattr(getattr(m, name, None), "__doc__", None) for m in modules for name in dir(m)}
    for doc in sorted(textwrap.dedent(d) for d in docs if d and ">>> " in d):
        lines = doc.splitlines(keepends=True)
        first = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>> ")), len(lines))
        try:
            yield "".join(lines[first:]), "".join(e.source for e in doctest.DocTestParser().get_examples(doc))
        except ValueError:
            continue


shown = list(examples())[::FEWER]
for (doc, source), (good, answer) in zip(shown, kiln("tree", [d.encode() for d, _ in shown])):
    want = python_tree(source)
    if want:
        check(good and whole(answer) == want, f"example:\n{doc[:1500]}\n" + (first_difference(whole(answer), want) if good else answer))
check(len(shown) > 800 // FEWER, f"there are {len(shown)} examples only")

# ---- programs with one token changed: accepted where Python accepts ----


def mutated(text, pick):
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in (tokenize.ENCODING, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT) and t.string.strip()]
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    a, b = pick.choice(tokens), pick.choice(tokens)
    at, end = starts[a.start[0] - 1] + a.start[1], starts[a.end[0] - 1] + a.end[1]
    new = pick.choice(["", "", b.string, a.string + " " + b.string, pick.choice(WORDS)])
    return text[:at] + new + text[end:]


WORDS = ["*", "**", ",", ":", ":=", "=", "(", ")", "[", "]", "{", "}", "lambda", "lambda x: ", "not", "in", "is", "if", "else", "for", "x", "1", ".", "...",
         "import", "from", "as", "del", "return", "break", "global x", "nonlocal x", "x for x in y", "*x", "**x", "x=1", "+=", ";", "\n", "pass", "-", "and", "'s'", "f'{x}'", "b's'", "/", "None"]
# Without f-strings, of which Python 3.12 takes more than 3.11, and names beyond ASCII, which Python normalises.
pick = random.Random(11)
small = [s for s in SNIPPETS if s.isascii() and python_tree(s) and "f'" not in s and 'f"' not in s and "\\" not in s] + [p for p in pieces if len(p) < 600 and p.isascii() and "f'" not in p and 'f"' not in p]
changed = []
while len(changed) < 12000 // FEWER:
    try:
        text = mutated(pick.choice(small), pick)
        python_tree(text)
    except (tokenize.TokenError, IndentationError, RecursionError, MemoryError, IndexError):
        continue
    if "yield" not in text and "await" not in text:
        changed.append(text)
compare_trees(changed, "changed")

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
