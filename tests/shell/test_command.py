"""The command: subcommands, options, inputs in all forms, results in files, exit statuses, complaints."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

KILN = os.path.abspath(os.path.join(os.environ.get("KILN_BUILD", "build"), "kiln"))
passed = failed = 0


def check(good, *what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", *what)


def kiln(*arguments, data=None, **more):
    env = {**os.environ, "KILN_CACHE_DIR": os.path.join(os.getcwd(), "cache"), **more}
    return subprocess.run([KILN, *arguments], input=data, capture_output=True, env=env, timeout=60)


def gives(want, *arguments, data=None):
    done = kiln(*arguments, data=data)
    check(done.returncode == 0 and done.stdout.decode().strip() == want, arguments, done.stdout[-300:], done.stderr[-300:])


def refused(status, words, *arguments, data=None):
    done = kiln(*arguments, data=data)
    error = done.stderr.decode(errors="replace")
    check(done.returncode == status and error.startswith("kiln: ") and words in error, arguments, done.returncode, error[:300])


def inputs():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.save("a.npy", a)
    np.save("fortran.npy", np.asfortranarray(a))
    np.save("big.npy", a.astype(">f4"))
    np.savez("two.npz", first=a, second=a.T)
    np.savez_compressed("packed.npz", a=a)
    np.savetxt("a.csv", a, delimiter=",", header="p,q,r,s", comments="")
    np.savetxt("a.txt", a)
    a.tofile("a.raw")
    for source in ("a.npy", "fortran.npy", "big.npy", "two.npz:first", "packed.npz", "a.csv", "a.txt", "a.raw:float32[3,4]"):
        gives("66.0 (3, 4)", "run", "print(a.sum(), a.shape)", "a=" + source)
    with open("a.npy", "rb") as f:
        gives("66.0", "run", "a.sum()", "a=-", data=f.read())
    refused(1, "nothing.npy", "run", "a", "a=nothing.npy")
    refused(1, "bytes", "run", "a", "a=a.raw:float32[5]")
    refused(1, "", "run", "a", "a=float32[3]")


def results():
    np.save("a.npy", np.arange(6.0).reshape(2, 3))
    for name, read in (("o.npy", np.load), ("o.csv", lambda p: np.loadtxt(p, delimiter=",")), ("o.txt", np.loadtxt)):
        done = kiln("run", "a * 2 + 1", "a=a.npy", "-o", name)
        check(done.returncode == 0 and not done.stdout and np.array_equal(read(name), np.arange(6.0).reshape(2, 3) * 2 + 1), name, done.stderr)
    kiln("run", "a, a.sum(0)", "a=a.npy", "-o", "o.npz")
    with np.load("o.npz") as z:
        check(sorted(z.files) == ["arr_0", "arr_1"] and np.array_equal(z["arr_1"], [3, 5, 7]), z.files)
    done = kiln("run", "a + 1", "a=a.npy", "-o", "-")
    with open("o2.npy", "wb") as f:
        f.write(done.stdout)
    check(np.array_equal(np.load("o2.npy"), np.arange(6.0).reshape(2, 3) + 1), "standard output")
    refused(1, "no expression", "run", "x = 1", "-o", "o.npy")
    gives("2", "run", "1+1")
    gives("", "run", "x = 3")
    with open("p.py", "w", encoding="utf-8") as f:
        f.write("import numpy as np\nfor i in range(2):\n    print(i)\nnp.ones(2)")
    gives("0\n1\n[1. 1.]", "run", "-f", "p.py")
    gives("3", "run", "-f", "-", data=b"1 + 2")
    gives("[0 2 4]", "run", "--device", "reference", "arange(3)*2")
    check(b"program" in kiln("run", "--time", "1").stderr, "--time")


def bad_programs():
    for program, words in [("'abc", "string"), ("1 +", "expected"), ("[1, 2", "never closed"), ("(" * 10000, "nested"), ("__import__('os')", "__import__"), ("open('x')", "open"),
                           ("().__class__", "__class__"), ("1/0", "ZeroDivisionError"), ("x", "NameError"), ("np.ones(3) + np.ones(4)", "ValueError"), ("np.zeros((2,2))[5]", "IndexError"),
                           ("def f(n):\n    return f(n + 1)\nf(0)", "RecursionError"), ("class A: pass", "not in the language"), ("np.squrt(2)", "sqrt"), ("[0] * 10**12", "Error"), ("10**10**10", "Error")]:
        refused(1, words, "run", program)
    refused(1, "steps", "run", "--steps", "10000", "while True: pass")
    refused(1, "", "run", "--seconds", "0.3", "while True: pass")
    for raw in (b"x = 1\0", b"x = '\xff\xfe'", b"\xff", b"if 1:\n\tx = 1\n        y = 2\n"):
        refused(1, "", "run", "-f", "-", data=raw)
    done = kiln("run", "def f(x):\n    return x + y\nf(1)")
    check(done.stderr.count(b"^") >= 2 and b"line 2" in done.stderr, "the stack of calls", done.stderr)


def usage():
    for arguments in [(), ("walk",), ("run",), ("run", "1", "--wrong"), ("run", "-o"), ("emit", "1", "--target", "mips"), ("emit", "a", "--arch", "sm_1", "a=float32[3]"), ("cache", "fill"),
                      ("bench", "a", "a=float32[3]@2"), ("run", "1", "--device", "abacus"), ("run", "1", "2")]:
        done = kiln(*arguments)
        check(done.returncode == 2 and done.stderr, arguments, done.returncode)
    check(kiln("--help").stdout.startswith(b"usage") and kiln("--version").stdout.startswith(b"kiln "), "--help, --version")


def emitted():
    text = "sqrt(a*a + b*b)*c + exp(-a)"
    arrays = [f"{n}=float32[1000]" for n in "abc"]
    for target, archs, words in [("cuda", ["sm_75", "sm_80", "sm_90", "sm_120"], "__global__"), ("hip", ["gfx90a", "gfx1030"], "__global__")]:
        for arch in archs:
            source = kiln("emit", "--target", target, "--arch", arch, text, *arrays).stdout.decode()
            check(source.count(words) == 1 and "sqrtf" in source, target, arch)
    if kiln("info").stdout.count(b"llvm      not") == 0:
        check(b"define" in kiln("emit", "--target", "llvm", text, *arrays).stdout, "llvm")
        check(b".text" in kiln("emit", "--target", "asm", text, *arrays).stdout, "asm")
    source = kiln("emit", "x.reshape(4, 6, 8).transpose(0, 2, 1).reshape(4, 48)*2", "x=float32[192]").stdout.decode()
    check(source.count("__global__") == 1, "one kernel")
    check(b"kernel" in kiln("explain", text, *arrays).stdout, "explain")
    big = kiln("emit", "a + 1", "a=float32[3G]").stdout.decode()
    check("long long" in big, "indices of 64 bits")


def measured():
    done = kiln("bench", "--json", "--repeats", "3", "a*2+b", "a=float64[1000]@0:1", "b=float64[1000]")
    figures = json.loads(done.stdout)
    check(set(figures) >= {"device", "kernels", "median_ms", "min_ms", "first_ms", "bytes", "gb_per_s", "fraction", "threads", "versions"}, figures)
    check(figures["bytes"] == 24000 and figures["kernels"] == 1 and 0 < figures["min_ms"] <= figures["median_ms"], figures)
    check(b"median" in kiln("bench", "--repeats", "3", "a.sum()", "a=int32[100]").stdout, "bench as text")
    check(b"0 entries" in kiln("cache", "clear").stdout and b"entries" in kiln("cache").stdout, "cache")
    check(b"cpu" in kiln("info").stdout and b"library" in kiln("info").stdout, "info")
    best = min(elapsed() for _ in range(7))
    print(f"kiln run '1+1': {1e3 * best:.1f} ms")
    check(best < .25, "kiln run '1+1' takes", best)


def elapsed():
    start = time.perf_counter()
    kiln("run", "1+1")
    return time.perf_counter() - start


def asked():
    session = b"x = 3\nx*2\nfor i in range(2):\n    print(i)\n\ny\n[1,\n2]\n'a' 'b'\n"
    done = kiln("repl", data=session)
    check(done.stdout.decode().split("\n") == ["6", "0", "1", "[1, 2]", "'ab'", ""], done.stdout)
    check(b"NameError" in done.stderr, done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (inputs, results, bad_programs, usage, emitted, measured, asked):
        part()
    os.chdir("/")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
