"""The C interface as programs meet it: what must compile does so without a word under both compilers, typical mistakes do
not, and long expressions stay cheap to compile."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
API = os.path.join(HERE, "api")
INCLUDE = "-I" + os.path.join(os.path.dirname(HERE), "include")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", INCLUDE]
# These are legal C that the header can only warn about.
WARNED = {"10_unused.c", "17_unused_opts.c", "25_bool_opt.c"}
passed = failed = 0


def expect(condition, *what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("FAIL", *what)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr


def compilers():
    found = [(c, cpp) for c, cpp in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(c)]
    newer = sorted(glob.glob("/usr/bin/clang-[0-9]*")) + sorted(glob.glob("/usr/bin/gcc-[0-9]*"))
    seen = {os.path.realpath(shutil.which(c)) for c, _ in found}
    for c in newer:
        if re.fullmatch(r".*/(gcc|clang)-\d+", c) and os.path.realpath(c) not in seen:
            seen.add(os.path.realpath(c))
            found.append((c, c.replace("gcc", "g++").replace("clang", "clang++")))
    return found


def test_programs(cc, cpp, folder):
    for path in sorted(glob.glob(API + "/programs/*.c")) + [API + "/scalars.c"]:
        code, text = run(cc, "-std=c17", *STRICT, "-c", path, "-o", folder + "/a.o")
        expect(code == 0 and not text, cc, os.path.basename(path), text)
    code, text = run(cc, "-std=c17", *STRICT, "-DHALF", "-c", API + "/scalars.c", "-o", folder + "/a.o")
    expect(code == 0 or "_Float16" in text, cc, "scalars.c -DHALF", text)
    if not shutil.which(cpp):
        return
    for standard, name in (("c++17", "use17.cpp"), ("c++20", "use17.cpp"), ("c++20", "use20.cpp")):
        code, text = run(cpp, "-std=" + standard, *[w for w in STRICT], "-c", f"{API}/{name}", "-o", folder + "/a.o")
        expect(code == 0 and not text, cpp, standard, name, text)


def test_mistakes(cc, folder):
    paths = sorted(glob.glob(API + "/mistakes/*.c"))
    expect(len(paths) == 25, len(paths), "mistakes")
    for path in paths:
        name = os.path.basename(path)
        code, text = run(cc, "-std=c17", *STRICT, "-c", path, "-o", folder + "/a.o")
        expect((code == 0 and "warning" in text) if name in WARNED else code != 0, cc, name, "compiles" + (" without a warning" if not text else ""))


def test_cost(cc, folder):
    """An expression 14 calls deep, and the header by itself."""
    deep = "x"
    for _ in range(14):
        deep = f"kn_add({deep}, kn_sum(x, .axis = 0, .keepdims = true))"
    with open(folder + "/deep.c", "w") as f:
        f.write(f'#include "kiln.h"\nkn_array f(kn_array x);\nkn_array f(kn_array x) {{ return {deep}; }}\n')
    with open(folder + "/empty.c", "w") as f:
        f.write('#include "kiln.h"\n')
    for name, most in (("deep.c", 3.0), ("empty.c", 0.5)):
        best = 1e9
        for _ in range(3):
            start = time.perf_counter()
            code, text = run(cc, "-std=c17", *STRICT, "-fsyntax-only", f"{folder}/{name}")
            best = min(best, time.perf_counter() - start)
        expect(code == 0 and best < most, cc, name, f"{best:.2f} s", text[:400])


def test_no_macros(cc, folder):
    """KN_NO_MACROS leaves the plain functions, for tables of functions and bindings."""
    with open(folder + "/plain.c", "w") as f:
        f.write('#define KN_NO_MACROS\n#include "kiln.h"\nkn_array f(kn_array x);\nkn_array f(kn_array x) { return kn_add(x, x, NULL); }\n')
    code, text = run(cc, "-std=c17", *STRICT, "-c", folder + "/plain.c", "-o", folder + "/a.o")
    expect(code == 0 and not text, cc, "KN_NO_MACROS", text)


with tempfile.TemporaryDirectory() as scratch:
    for c_compiler, cpp_compiler in compilers():
        test_programs(c_compiler, cpp_compiler, scratch)
        test_mistakes(c_compiler, scratch)
        test_cost(c_compiler, scratch)
        test_no_macros(c_compiler, scratch)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
