"""The parameters of every operation against NumPy's own signatures: names, order, kinds and defaults."""
import inspect
import json
import os
import subprocess
import sys

import numpy as np

BUILD = os.environ.get("KILN_BUILD", "build")
OPS = json.loads(subprocess.run([BUILD + "/tools/genops", "json"], capture_output=True, text=True, check=True).stdout)
DEFAULTS = {"NONE": None, "ALL": None, "UNSET": None, "CURRENT": None, "SCALAR": None, "true": True, "false": False, "AXES_0_1": (0, 1), "AXES_LAST2": (-2, -1),
            "BACKWARD": None}
# Parameters that are Python's alone, or that stand for several ways of calling.
PYTHON_ONLY = {"like", "kwargs", "min", "max"}
# What differs on purpose.
DIFFERENT = {
    "arange": "start_or_stop is called start; stop and step follow NumPy",
    "tensordot": "axes as a pair is written axes_a, axes_b",
    "pad": "constant_values instead of **kwargs",
    "i0": "its device function takes the place of a table",
    "cross": "axis is an integer that may be absent",
    "piecewise": "numbers, not functions, so that there is nothing to hand on to them",
    "einsum": "the subscripts are the first of NumPy's operands",
    "histogram": "density is a truth value; None and False are one", "histogram2d": "density is a truth value; None and False are one",
    "vecdot": "a function here, a ufunc there",
    "atleast_1d": "one array at a time", "atleast_2d": "one array at a time", "atleast_3d": "one array at a time",
}
passed = failed = 0


def expect(condition, *what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("FAIL", *what)


def numpy_function(path):
    f = np
    for part in path.split("."):
        f = getattr(f, part)
    return f


def default_of(p):
    d = p["default"]
    if d is None:
        return inspect.Parameter.empty
    if p["kind"] == "ARRAY" and d in ("NONE",):
        return None
    if d in DEFAULTS:
        return DEFAULTS[d]
    if d.startswith('"'):
        return d.strip('"')
    if p["kind"] == "DTYPE":
        return np.dtype(d.lower())
    return float(d)


def same_default(ours, theirs):
    if theirs is np._NoValue or theirs is inspect.Parameter.empty:
        return ours in (None, False, inspect.Parameter.empty, 0.0, np._NoValue)
    if isinstance(theirs, type):
        return ours == np.dtype(theirs)
    if ours is None and theirs in (None, True):    # where = True everywhere
        return True
    return ours == theirs


def check_ufunc(op):
    names = [p["name"] for p in op["params"]]
    f = numpy_function(op["numpy"])
    positional = [p["name"] for p in op["params"] if p["positional_only"]]
    expect(len(positional) == f.nin, op["name"], "takes", len(positional), "operands, NumPy", f.nin)
    keywords = {p["name"] for p in op["params"] if p["keyword_only"]}
    expect({"where", "casting", "order", "dtype", "subok"} <= keywords, op["name"], "keywords", names)
    expect(sum(n.startswith("out") for n in names) == f.nout, op["name"], "outputs", names)


def check_function(op):
    signature = inspect.signature(numpy_function(op["numpy"]))
    theirs = [p for p in signature.parameters.values() if p.name not in PYTHON_ONLY and p.name != "self"]
    ours = [p for p in op["params"] if p["name"] != "g"]
    if op["numpy"].startswith("random"):
        theirs = [p for p in theirs if p.name != "out"]
        ours = [p for p in ours if p["name"] != "dtype" or any(t.name == "dtype" for t in theirs)]
    expect([p["name"] for p in ours] == [p.name for p in theirs], op["name"], "has", [p["name"] for p in ours], "NumPy", [p.name for p in theirs])
    by_name = {p["name"]: p for p in ours}
    for p in theirs:
        mine = by_name.get(p.name)
        if not mine:
            continue
        expect(mine["positional_only"] == (p.kind is p.POSITIONAL_ONLY), op["name"], p.name, "positional only:", mine["positional_only"])
        expect(mine["keyword_only"] == (p.kind is p.KEYWORD_ONLY), op["name"], p.name, "keyword only:", mine["keyword_only"])
        expect(same_default(default_of(mine), p.default), op["name"], p.name, "default", default_of(mine), "NumPy", p.default)


for operation in OPS:
    if operation["name"] in DIFFERENT or operation["numpy"].startswith("scipy."):      # SciPy's have other keyword arguments
        continue
    if isinstance(numpy_function(operation["numpy"]) if not operation["numpy"].startswith("random") else None, np.ufunc):
        if operation["name"] != "matmul":
            check_ufunc(operation)
    else:
        try:
            check_function(operation)
        except ValueError as e:     # a builtin without a signature
            print("no signature:", operation["name"], e)
    for alias in operation["aliases"]:
        expect(hasattr(np, alias), alias, "is no name of NumPy's")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
