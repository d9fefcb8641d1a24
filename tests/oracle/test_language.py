"""Programs in Kiln's language, compared with Python and NumPy: what they print, and the kind of exception that ends them.

A case is a text between lines of "###"; the words behind them are its name. Both sides run it with NumPy's names behind
Python's builtins."""
# also under sanitizers
import builtins
import contextlib
import io
import os
import subprocess
import sys

import numpy as np

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests/oracle/language")
CASES = os.path.join(os.path.dirname(__file__), "language_cases.txt")


def read_cases(path):
    name, lines = None, []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("###"):
                if name:
                    yield name, "".join(lines)
                name, lines = line[3:].strip(), []
            else:
                lines.append(line)
    if name:
        yield name, "".join(lines)


def wanted(program):
    """What Python prints, and the exception's kind behind it."""
    names = dict(vars(np))
    names.update(vars(builtins))
    out = io.StringIO()
    sys.setrecursionlimit(1100)
    with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
        try:
            exec(compile(program, "<test>", "exec"), {"__builtins__": names, "np": np, "numpy": np})  # the same text on both sides
        except Exception as e:  # noqa: BLE001: every kind is compared
            kind = type(e).__name__
            print("!" + {"UFuncTypeError": "TypeError", "_UFuncOutputCastingError": "TypeError", "_UFuncNoLoopError": "TypeError", "AxisError": "numpy.exceptions.AxisError"}.get(kind, kind))
    return out.getvalue()


def answers(programs):
    data = b"".join(str(len(p)).encode() + b"\n" + p for p in programs)
    done = subprocess.run([PROGRAM], input=data, capture_output=True, timeout=550)
    rest = done.stdout
    for _ in programs:
        length, _, rest = rest.partition(b"\n")
        if not length:
            yield None
            continue
        yield rest[:int(length)].decode()
        rest = rest[int(length):]
    if done.returncode:
        print(f"the program ended with status {done.returncode}", done.stderr.decode()[-2000:])


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [c for c in read_cases(CASES) if only in c[0]]
    passed = 0
    for (name, program), got in zip(cases, answers([p.encode() for _, p in cases])):
        want = wanted(program)
        if got == want:
            passed += 1
            continue
        print(f"{name}:\n{program}wanted:\n{want}got:\n{got}")
    print(f"{passed} passed, {len(cases) - passed} failed")
    return passed != len(cases)


if __name__ == "__main__":
    sys.exit(main())
