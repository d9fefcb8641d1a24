#!/usr/bin/env python3
"""The C interface as compilers see it: the programs of tests/api compile without a word, its mistakes do not."""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion"]
# These are C: a value that goes unused, a pointer as a truth. They are warned about.
WARNED = {"10_unused", "17_unused_opts", "24_dtype_string", "25_bool_opt"}


def compiled(compiler, path, *flags):
    standard = "-std=c++20" if path.endswith(".cpp") else "-std=c17"
    done = subprocess.run([compiler, standard, "-Iinclude", "-c", "-o", "/dev/null", *flags, path], capture_output=True, text=True)
    return done.returncode, done.stderr


def sound(compiler, path):
    status, text = compiled(compiler, path, *STRICT, "-Werror")
    return None if status == 0 else text


def mistaken(compiler, path):
    status, text = compiled(compiler, path, *STRICT)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in WARNED:
        return None if status or "warning" in text else "no warning"
    return None if status else "compiles"


def quick(compiler, path):
    """Nesting must not make programs slow to compile: an expression of depth 40."""
    source = "x"
    for _ in range(40):
        source = f"kn_add({source}, 1)"
    text = f'#include "kiln.h"\nkn_array f(kn_array x);\nkn_array f(kn_array x) {{ return {source}; }}\n'
    try:
        done = subprocess.run([compiler, "-std=c17", "-Iinclude", "-fsyntax-only", "-x", "c", "-"], input=text, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "takes more than 20 s"
    return None if done.returncode == 0 else done.stderr


def main():
    jobs = []
    for c, cpp in (("gcc", "g++"), ("clang", "clang++")):
        if shutil.which(c):
            jobs += [(sound, c, p) for p in sorted(glob.glob("tests/api/programs/*.c")) + ["tests/api/scalars.c"]]
            jobs += [(mistaken, c, p) for p in sorted(glob.glob("tests/api/mistakes/*.c"))]
            jobs.append((quick, c, "an expression of depth 40"))
        if shutil.which(cpp):
            jobs.append((sound, cpp, "tests/api/use20.cpp"))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (what, compiler, path), problem in zip(jobs, pool.map(lambda j: j[0](*j[1:]), jobs)):
            if problem:
                failed += 1
                print(f"{compiler} {path}: {problem}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
