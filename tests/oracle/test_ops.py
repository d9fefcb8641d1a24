"""Every operation of the table against NumPy 2: dtype, shape, values and the kind of error, over dtypes and memory layouts.

Elementwise functions are found in the table and run on all dtypes and layouts; the calls of other operations are listed
in CALLS. An operation that no list mentions is a failure. The first pass runs the interpreter, the second compiles a sample."""
# time-out: 900
import itertools
import os
import random
import subprocess
import sys
import warnings
import zlib

import numpy as np

from kiln import BFLOAT16, Kiln, Unavailable

warnings.simplefilter("ignore")
np.seterr(all="ignore")

SAMPLE = int(os.environ.get("KILN_SAMPLE", "1"))     # one case in so many
BOOL = [np.dtype(bool)]
SIGNED = [np.dtype(f"int{b}") for b in (8, 16, 32, 64)]
UNSIGNED = [np.dtype(f"uint{b}") for b in (8, 16, 32, 64)]
INTS = SIGNED + UNSIGNED
FLOATS = [np.dtype(np.float16), BFLOAT16, np.dtype(np.float32), np.dtype(np.float64)]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
REALS = BOOL + INTS + FLOATS
DTYPES = REALS + COMPLEX
FEW = [np.dtype(t) for t in ("bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128")] + [BFLOAT16]
LAYOUTS = ["contiguous", "transposed", "negative", "stepped", "broadcast", "0-d", "empty"]
pick = random.Random(5)


def is_float(d):
    return d.kind == "f" or d == BFLOAT16


def part_of(d):
    return {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}.get(d, d)


# ---- values and layouts ----

def values(d, n, style, seed):
    """n values of dtype d. Styles: any (specials included), tame (moderate numbers), positive, unit (within -1 ... 1)."""
    rng = np.random.default_rng(seed)
    if d == np.bool_:
        return rng.integers(0, 2, n).astype(bool)
    if d.kind in "iu":
        info = np.iinfo(d)
        low, high = max(info.min, -100), min(info.max, 100)
        v = rng.integers(low, high, n, endpoint=True).astype(d)
        if style == "any":
            special = np.array([info.min, info.max, 0, 1, info.max // 2], d)
            v[:min(n, 5)] = special[:n]
        if style == "positive":
            v = np.maximum(np.abs(v), 1).astype(d)
        return v
    if d.kind == "c":
        re, im = (values(part_of(d), n, "unit" if style == "unit" else "tame", seed + k) for k in (1, 2))
        return (re + 1j * im).astype(d)
    v = rng.standard_normal(n) * 3
    if style == "unit":
        v = rng.uniform(-1, 1, n)
    if style == "positive":
        v = np.abs(v) + 0.1
    if style == "any":
        v = v * 10.0 ** rng.integers(-3, 4, n)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.5, -2.5]
        v[:min(n, 10)] = special[:n]
    return v.astype(d)


def layout(name, d, style, seed):
    """An array of shape (4, 6) (but 0-d and empty) that lies in memory as its name says."""
    if name == "0-d":
        return values(d, 1, style if style != "any" else "tame", seed).reshape(())
    if name == "empty":
        return np.zeros((0, 6), d)
    if name == "broadcast":
        return np.broadcast_to(values(d, 6, style, seed), (4, 6))
    if name == "transposed":
        return values(d, 24, style, seed).reshape(6, 4).T
    if name == "negative":
        return values(d, 24, style, seed).reshape(4, 6)[::-1, ::-1]
    if name == "stepped":
        return values(d, 8 * 18, style, seed).reshape(8, 18)[::2, 1::3]
    return values(d, 24, style, seed).reshape(4, 6)


# ---- comparing ----

def ulps(have, want):
    """The largest distance in units of the last place of want; infinite where NaNs, infinities or signs of zero differ."""
    d = want.dtype
    if d.kind == "c":
        scale = np.maximum(np.abs(want), np.finfo(part_of(d)).tiny)
        bad = ~(np.isfinite(have) & np.isfinite(want))
        good_bad = (np.isnan(have) & np.isnan(want)) | (have == want)
        if (bad & ~good_bad).any():
            return np.inf
        e = np.where(bad, 0, np.abs(have.astype(complex) - want.astype(complex)) / scale / np.finfo(part_of(d)).eps)
        return float(e.max(initial=0))
    h, w = have.astype(np.float64), want.astype(np.float64)
    special = ~(np.isfinite(h) & np.isfinite(w))
    if (special & ~((np.isnan(h) & np.isnan(w)) | (h == w))).any():
        return np.inf
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[d.itemsize]
    def order(v):
        i = np.ascontiguousarray(v).view(bits).astype(np.int64)
        return np.where(i < 0, np.int64(np.iinfo(bits).min) - i, i)
    a, b = order(have), order(want)
    e = np.where((a < 0) == (b < 0), np.abs(a - b).astype(np.float64), np.abs(a.astype(np.float64) - b.astype(np.float64)))
    return float(np.where(special, 0, e).max(initial=0))


def differs(have, want, tolerance, zero_signs=True):
    """What is wrong, or None. tolerance: ulps, or "set" for results that only have to be of the right dtype and shape."""
    want = np.asarray(want)
    if have.dtype != want.dtype:
        return f"dtype {have.dtype}, not {want.dtype}"
    if have.shape != want.shape:
        return f"shape {have.shape}, not {want.shape}"
    if tolerance == "set" or want.size == 0:
        return None
    if want.dtype.kind in "biu":
        return None if np.array_equal(have, want) else f"{have.ravel()[:6]}, not {want.ravel()[:6]} ({(have != want).sum()} of {want.size} differ)"
    if tolerance == 0 and zero_signs and is_float(want.dtype) and (np.signbit(have) != np.signbit(want))[(have == 0) & (want == 0)].any():
        return "the sign of a zero"
    if isinstance(tolerance, tuple):                   # an absolute error, relative to the largest value
        h, w = have.astype(complex), want.astype(complex)
        known = np.isfinite(w)
        bad = (np.isnan(h) != np.isnan(w)).any() or (h != w)[np.isinf(w) & np.isreal(w)].any()
        e = np.abs(h - w)[known].max(initial=0) / max(np.abs(w)[known].max(initial=0), 1e-300)
        return None if not bad and e <= tolerance[0] * float(np.finfo(part_of(want.dtype)).eps if want.dtype != BFLOAT16 else 2**-7) else f"error {e:.3g}"
    e = ulps(have, want)
    return None if e <= tolerance else f"{e:.4g} ulp: {have.ravel()[:6]}, not {want.ravel()[:6]}"


class Results:
    def __init__(self):
        self.passed = self.failed = self.unavailable = self.cases = 0
        self.group, self.complaints = None, []

    def start(self, group):
        self.finish()
        self.group, self.complaints = group, []

    def finish(self):
        if self.group is None:
            return
        if self.complaints:
            self.failed += 1
            for line in self.complaints[:4]:
                print(" ".join(f"{self.group}: {line}".split())[:400])
            if len(self.complaints) > 4:
                print(f"{self.group}: and {len(self.complaints) - 4} more")
        else:
            self.passed += 1
        self.group = None


results = Results()
kiln = Kiln()


def run(what, ours, numpys, tolerance=0, zero_signs=True, any_error=False):
    """One call of both. any_error: that both fail is enough, where NumPy's own code stumbles over an array it did not expect."""
    key = f"{results.group} {what}"
    if SAMPLE > 1 and zlib.crc32(key.encode()) % SAMPLE:
        return
    results.cases += 1
    try:
        want, error = numpys(), None
    except Exception as e:
        want, error = None, e
    try:
        have = ours()
    except Unavailable:
        results.unavailable += 1
        return
    except Exception as e:
        if error is None:
            results.complaints.append(f"{what}: {type(e).__name__}: {e}")
        elif not any_error and not isinstance(error, type(e)) and not isinstance(e, type(error)):
            results.complaints.append(f"{what}: {type(e).__name__} ({e}), not {type(error).__name__} ({error})")
        return
    if error is not None:
        results.complaints.append(f"{what}: no error, NumPy: {type(error).__name__}: {error}")
        return
    if not isinstance(have, tuple):
        have, want = (have,), (want,)
    if isinstance(want, (tuple, list)) and len(have) != len(want):
        results.complaints.append(f"{what}: {len(have)} results, not {len(want)}")
        return
    for h, w in zip(have, want):
        problem = differs(h, w, tolerance, zero_signs)
        if problem:
            results.complaints.append(f"{what}: {problem}")
            return


def numpy_function(name):
    f = np
    for word in name.split("."):
        f = getattr(f, word)
    return f


# ---- elementwise functions ----

# Units of the last place that may lie between NumPy's results and ours, by dtype: float16, bfloat16, float32, float64, complex.
ROUNDED = {np.dtype(np.float16): 1, BFLOAT16: 1, np.dtype(np.float32): 4, np.dtype(np.float64): 4, np.dtype(np.complex64): 8, np.dtype(np.complex128): 8}
TRANSCENDENTAL = set("""exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 cbrt hypot sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh
arccosh arctanh sinc i0 power float_power deg2rad rad2deg""".split())
INEXACT_COMPLEX = set("multiply divide reciprocal square sqrt absolute abs sign".split())
# A zero's sign depends on the order of operands in NumPy's own loops, or differs in ml_dtypes.
ANY_ZERO = set("maximum minimum fmax fmin sign nextafter".split())
STYLES = {"reciprocal": "positive", "arcsin": "unit", "arccos": "unit", "arctanh": "unit", "power": "tame", "float_power": "tame", "i0": "tame", "ldexp": "tame", "lcm": "tame",
          "left_shift": "tame", "right_shift": "tame", "sinc": "tame"}
NO_BFLOAT16 = set("sinc i0 spacing".split())           # NumPy's own code goes astray with ml_dtypes here
NO_FLOAT16 = set("spacing sinc".split())               # positive for negative numbers, unlike float32's; computed in float16 throughout


def tolerance_of(name, *dtypes):
    out = np.result_type(*[d for d in dtypes if d != BFLOAT16]) if any(d != BFLOAT16 for d in dtypes) else BFLOAT16
    if name in TRANSCENDENTAL or (name in INEXACT_COMPLEX and out.kind == "c"):
        best = max(ROUNDED.get(d, 4) for d in dtypes)
        if name in ("logaddexp", "logaddexp2", "sinc"):
            return (16,)                               # results near zero are what remains of larger ones
        return 64 if name == "i0" or "power" in name and out.kind == "c" else best
    return 0


def second_operand(name, d, style, seed, how):
    if name in ("left_shift", "right_shift"):
        return (np.abs(layout(how, d, "tame", seed).astype(np.int64)) % (8 * d.itemsize)).astype(d) if d.kind in "iu" else layout(how, d, style, seed)
    if name == "power" and d.kind == "i":
        return (np.abs(layout(how, d, "tame", seed).astype(np.int64)) % 5).astype(d)
    if name in ("power", "float_power"):
        return layout(how, d, "tame", seed)
    return layout(how, d, style, seed)


def first_operand(name, d, style, seed, how):
    a = layout(how, d, style, seed)
    return np.abs(a) if name in ("power", "float_power") and is_float(d) else a


def unary(row, name, f):
    for d in DTYPES:
        results.start(f"{name} of {d}")
        style = STYLES.get(name, "any")
        if d == BFLOAT16 and name in NO_BFLOAT16 or name in NO_FLOAT16 and (d == np.float16 or d.itemsize == 1):
            continue
        for how in LAYOUTS:
            a = layout(how, d, style, 3)
            run(how, lambda: kiln.call(row["name"], a), lambda: f(a), tolerance_of(name, d), name not in ANY_ZERO)


LAYOUT_PAIRS = [("contiguous", "contiguous"), ("transposed", "contiguous"), ("negative", "stepped"), ("contiguous", "broadcast"), ("0-d", "contiguous"),
                ("transposed", "0-d"), ("empty", "0-d"), ("0-d", "0-d"), ("stepped", "transposed")]
SCALARS = [True, 3, -2, 2.5, 1 + 2j, 300, 2**40]


def binary(row, name, f):
    style = STYLES.get(name, "any")
    call = lambda *a, **o: kiln.call(row["name"], *a, **o)
    for d in DTYPES:
        results.start(f"{name} of {d}")
        second = np.dtype(np.int32) if name == "ldexp" else d
        for left, right in LAYOUT_PAIRS:
            a, b = first_operand(name, d, style, 5, left), second_operand(name, second, style, 9, right)
            run(f"{left} {right}", lambda: call(a, b), lambda: f(a, b), tolerance_of(name, d), name not in ANY_ZERO)
        if d == BFLOAT16:
            continue
        for s in SCALARS:
            a = first_operand(name, d, "tame", 6, "contiguous")
            if name in ("power", "float_power") and isinstance(s, (int, float)) and abs(s) > 4 or name.endswith("_shift") and isinstance(s, int) and not 0 <= s < 8:
                continue
            run(f"array and {s!r}", lambda: call(a, s), lambda: f(a, s), tolerance_of(name, d, np.dtype(type(s))))
            if name not in ("power", "float_power", "ldexp") and not name.endswith("_shift"):
                run(f"{s!r} and array", lambda: call(s, a), lambda: f(s, a), tolerance_of(name, d, np.dtype(type(s))))
    results.start(f"{name} of two dtypes")
    plain = [d for d in DTYPES if d != BFLOAT16]
    pairs = list(itertools.product(plain, plain))
    for d, e in pairs if name in ("add", "divide", "less", "power") else pick.sample(pairs, 40):
        if d == e:
            continue
        a, b = first_operand(name, d, "positive" if "power" in name else "tame", 5, "contiguous"), second_operand(name, e, "tame", 8, "contiguous")
        if "power" in name and e.kind == "u":
            b = b % e.type(5)
        run(f"{d} and {e}", lambda: call(a, b), lambda: f(a, b), tolerance_of(name, d, e))


def ufunc_options():
    """out, where, dtype, shapes that do not fit."""
    a, b = layout("contiguous", np.dtype(np.float64), "tame", 1), layout("transposed", np.dtype(np.float64), "tame", 2)
    mask = layout("negative", np.dtype(bool), "any", 3)
    results.start("options of elementwise functions")

    def into(f, out, *args, **options):
        out = out.copy()
        f(*args, out=out, **options)
        return out
    for d in DTYPES:
        out = layout("contiguous", d, "tame", 4)
        run(f"out of {d}", lambda: into(kiln.add, out, a, b), lambda: into(np.add, out, a, b))
        run(f"dtype {d}", lambda: kiln.add(a, b, dtype=d), lambda: np.add(a, b, dtype=d))
        run(f"int dtype {d}", lambda: kiln.multiply(np.arange(5), 2, dtype=d), lambda: np.multiply(np.arange(5), 2, dtype=d))
    out = np.zeros((4, 6))
    run("where", lambda: into(kiln.sqrt, out, a, where=mask), lambda: into(np.sqrt, out, a, where=mask))
    run("where broadcast", lambda: into(kiln.add, out, a, b, where=mask[0]), lambda: into(np.add, out, a, b, where=mask[0]))
    run("where without out", lambda: kiln.add(a, b, where=mask)[mask], lambda: np.add(a, b, where=mask)[mask])
    run("out wider", lambda: into(kiln.add, out, a[0], 1), lambda: into(np.add, out, a[0], 1))
    run("out narrower", lambda: into(kiln.add, out[0], a, 1), lambda: into(np.add, out[0], a, 1))
    run("casting", lambda: into(kiln.add, np.zeros((4, 6), np.int32), a, b, casting="unsafe"), lambda: into(np.add, np.zeros((4, 6), np.int32), a, b, casting="unsafe"))
    run("shapes", lambda: kiln.add(a, a[:3]), lambda: np.add(a, a[:3]))
    run("many axes", lambda: kiln.add(a[:, None, None], a[None, :, None, :, None]), lambda: np.add(a[:, None, None], a[None, :, None, :, None]))
    for s in (128, -129, 255, 256, -1, 2**63, 2**64 - 1):
        for d in INTS:
            run(f"{d} and {s}", lambda: kiln.add(np.ones(3, d), s), lambda: np.add(np.ones(3, d), s))
            run(f"{d} less {s}", lambda: kiln.less(np.ones(3, d), s), lambda: np.less(np.ones(3, d), s))


# ---- the other operations ----

CALLS = {}          # by the table's name: (dtypes, tolerance, calls); a call takes an array maker and gives arguments


def calls(names, dtypes, *made, tolerance=0, style="tame"):
    for name in names.split():
        CALLS.setdefault(name, []).append((dtypes, tolerance, style, made))


def A(*shape, how=None, style=None):
    """Stands for an array of the dtype under test."""
    return ("array", shape, how, style)


def L(how):
    return ("layout", how)


def V(*v):
    """Fixed values, as an array of their own dtype."""
    return np.array(v)


def C(*args, **options):
    return (args, options)


EVERY_AXIS = [C(L(how)) for how in LAYOUTS if how != "empty"] + [C(L("contiguous"), axis=0), C(L("transposed"), axis=1), C(L("negative"), axis=-1), C(L("stepped"), axis=(0, 1)), C(A(3, 4, 5), axis=1),
    C(A(3, 4, 5), axis=(2, 0)), C(A(3, 4, 5), axis=(0, -1), keepdims=True), C(A(3, 4, 5), keepdims=True), C(A(5), axis=0), C(A(2, 3), axis=2), C(A(2, 3), axis=(0, 0)), C(A(2, 3), axis=-3), C(A(2000)), C(A(3, 700), axis=1), C(A(700, 3), axis=0)]
ONE_AXIS = [C(L(how)) for how in LAYOUTS if how not in ("empty", "0-d")] + [C(A(3, 4, 5), axis=k) for k in (0, 1, 2, -1)] + [C(A(2, 3), axis=2)]
EMPTY = [C(A(0)), C(A(0, 3), axis=0), C(A(0, 3), axis=1), C(A(3, 0), axis=1)]
MASKED = [C(A(4, 6), where=V(True, False, True, True, False, True)), C(A(4, 6), axis=0, where=np.arange(24).reshape(4, 6) % 3 > 0)]
sums = [*EVERY_AXIS, *EMPTY, *MASKED, C(A(4, 6), axis=1, initial=3), C(A(4, 6), dtype=np.float64), C(A(4, 6), axis=0, dtype=np.float32)]
calls("sum nansum", BOOL + INTS, *sums)
calls("sum nansum", [d for d in FLOATS + COMPLEX if d != BFLOAT16], *sums, tolerance=(64,))
calls("sum", [BFLOAT16], C(A(4, 6)), C(A(4, 6), axis=0), tolerance=(64,))
calls("prod nanprod", BOOL + INTS, *EVERY_AXIS[:8], *EMPTY, *MASKED)
calls("prod nanprod", [d for d in FLOATS[2:] + COMPLEX], *EVERY_AXIS[:14], *EMPTY, *MASKED, tolerance=(256,), style="unit")
calls("max min", REALS + COMPLEX, *EVERY_AXIS, *EMPTY, style="any")
calls("max min", [np.dtype(np.int32), np.dtype(np.float64)], C(A(4, 6), axis=1, initial=3), C(A(0, 3), axis=0, initial=7), C(A(4, 6), initial=0, where=V(True, False, True, True, False, True)), C(A(4, 6), where=V(True, False, True, True, False, True)))
calls("nanmax nanmin", FEW, *EVERY_AXIS, style="any")
calls("any all", DTYPES, *EVERY_AXIS, *EMPTY, *MASKED, style="any")
calls("argmax argmin", REALS + COMPLEX, *[c for c in ONE_AXIS], C(L("contiguous")), C(L("0-d")), C(A(0)), C(A(0, 3), axis=0), C(A(3, 4, 5), axis=1, keepdims=True), C(A(3, 4), keepdims=True), C(A(3000)), style="any")
calls("nanargmax nanargmin", INTS[:2] + FLOATS[2:], C(A(30)), C(A(4, 6), axis=1), C(A(3, 4, 5), axis=0), style="tame")
moments = [*EVERY_AXIS, *MASKED]
calls("mean nanmean", [d for d in DTYPES if d != BFLOAT16], *moments, *EMPTY[:2], C(A(4, 6), dtype=np.float32), tolerance=(64,))
calls("var std nanvar nanstd", [d for d in BOOL + INTS + FLOATS + COMPLEX if d != BFLOAT16], *moments, C(A(4, 6), axis=0, ddof=1), C(A(4, 6), ddof=2), C(A(1, 3), axis=0, ddof=1), tolerance=(256,))
calls("var std", FLOATS[2:], C(A(4, 6), axis=0, correction=1), C(A(4, 6), ddof=1, correction=1), tolerance=(256,))
calls("ptp", INTS + FLOATS[2:], *EVERY_AXIS[:12])
calls("count_nonzero", DTYPES, *EVERY_AXIS[:14], C(A(0)), style="any")
calls("average", [np.dtype(np.int32)] + FLOATS[2:] + COMPLEX, C(A(4, 6)), C(A(4, 6), axis=1), C(A(4, 6), axis=1, weights=np.arange(6.0)), C(A(4, 6), weights=np.arange(24.0).reshape(4, 6)), C(A(4, 6), axis=0, weights=np.arange(5.0)),
      C(A(4, 6), axis=0, keepdims=True), tolerance=(64,))
calls("trace", INTS + FLOATS[2:] + COMPLEX, C(A(4, 6)), C(A(4, 6), offset=2), C(A(4, 6), offset=-1), C(A(3, 4, 5), axis1=0, axis2=2), C(A(3)), tolerance=(64,))
calls("cumsum nancumsum", BOOL + INTS, *ONE_AXIS, C(L("0-d")), C(A(0)), C(A(3000)), C(A(4, 6), axis=0, dtype=np.float64))
calls("cumsum nancumsum", FLOATS[2:] + COMPLEX, *ONE_AXIS, C(A(0, 3), axis=0), C(A(3000)), tolerance=(512,))
calls("cumprod nancumprod", BOOL + INTS, *ONE_AXIS, C(A(0)))
calls("cumprod nancumprod", FLOATS[2:] + COMPLEX, *ONE_AXIS, tolerance=(512,), style="unit")
calls("cumulative_sum cumulative_prod", INTS[:4] + FLOATS[2:], C(A(5)), C(A(5), include_initial=True), C(A(3, 4), axis=1), C(A(3, 4), axis=0, include_initial=True), C(A(3, 4)), tolerance=(64,), style="tame")
calls("diff", [d for d in DTYPES if d != BFLOAT16], C(A(7)), C(A(4, 6)), C(A(4, 6), axis=0), C(A(4, 6), n=2), C(A(4, 6), n=0), C(A(3), n=5), C(L("transposed"), n=1, axis=0), C(A(4, 6), n=-1), C(L("0-d")))
calls("diff", FLOATS[2:], C(A(4, 6), prepend=1.0), C(A(4, 6), append=np.ones((4, 2))))
calls("ediff1d", INTS + FLOATS[2:], C(A(4, 6)), C(A(5), to_begin=V(1).astype("i1"), to_end=V(2, 3).astype("i1")), C(A(0)), C(A(1)))
calls("trapezoid", INTS[:4] + FLOATS[2:], C(A(7)), C(A(4, 6)), C(A(4, 6), axis=0), C(A(4, 6), dx=0.5), C(A(4, 6), x=np.arange(6.0) ** 2), tolerance=(64,))
calls("clip", [d for d in REALS if d not in (np.bool_, BFLOAT16)], C(A(4, 6), 1, 5), C(A(4, 6), 2, None), C(A(4, 6), None, 2), C(A(4, 6), np.int8(0), np.int8(5)), C(L("transposed"), A(6, how="contiguous"), 50), C(A(4, 6), 5, 1))
calls("clip", [np.dtype(np.uint8)], C(A(4, 6), -1, 300), C(A(4, 6), None, None))
calls("round", [d for d in DTYPES if d not in (BFLOAT16,)], C(A(4, 6), decimals=0), C(L("transposed")), style="tame")
calls("round", FLOATS[2:] + COMPLEX, C(A(4, 6), decimals=2), C(A(4, 6), decimals=-1), tolerance=2)
calls("round", INTS, C(A(4, 6), decimals=3), C(A(4, 6), decimals=-1))
calls("angle", INTS[:4] + FLOATS[2:] + COMPLEX, C(A(4, 6)), C(A(4, 6), deg=True), tolerance=4)
calls("nan_to_num", INTS[:2] + [d for d in FLOATS + COMPLEX if d != BFLOAT16], C(A(4, 6)), C(A(4, 6), nan=1.0, posinf=2.0, neginf=3.0), C(L("negative")), style="any")
calls("isneginf isposinf isreal iscomplex", [d for d in DTYPES if d != BFLOAT16], C(A(4, 6)), C(L("0-d")), style="any")
calls("isclose allclose", [np.dtype(np.int32)] + FLOATS[2:] + COMPLEX, C(A(4, 6), A(4, 6)), C(A(4, 6), A(6)), C(A(4, 6), A(4, 6), equal_nan=True), C(A(4, 6), 0.5, rtol=0.1, atol=1.0), style="any")
calls("array_equal array_equiv", FEW, C(A(4, 6), A(4, 6)), C(A(4, 6), A(6)), C(A(4, 6), L("transposed")), C(A(0), A(0)), style="tame")
calls("array_equal", FLOATS[2:], C(A(4, 6), A(4, 6), equal_nan=True), style="any")
calls("where", [d for d in DTYPES if d != BFLOAT16], C(np.arange(24).reshape(4, 6) % 3 == 0, A(4, 6), A(6)), C(np.arange(6) % 2, A(4, 6), 0), C(True, A(3), 1), C(np.arange(24).reshape(4, 6) > 7, L("transposed"), L("negative")), style="any")
calls("piecewise", [d for d in DTYPES if d != BFLOAT16], C(A(4), [V(True, False, True, False)], [1]), C(A(2), [V(True, False)], [1, 2]), C(A(6), [np.arange(6) > 3, np.arange(6) < 5], [1, 0, 7]), C(A(4, 6), [np.arange(24).reshape(4, 6) > 3], [1]), C(A(3), [V(True, False, True)], [1, 2, 3]), C(A(0), [np.zeros(0, bool)], [1]))
calls("select", [np.dtype(np.int32)] + FLOATS[2:], C([np.arange(6) > 3, np.arange(6) < 2], [A(6), A(4, 6)], default=7), C([np.arange(6) > 3], [A(6)]), C([np.arange(6)], [A(6)]))
# making arrays
whole_dtypes = [None]
calls("zeros ones", whole_dtypes, C((3, 4)), C(5), C(()), C((0, 3)), C((2, 3), dtype=np.int8), C((2,), dtype=np.complex64), C((-1,)), C((2**40, 2**40)), C((2, 3), dtype=BFLOAT16))
calls("empty", whole_dtypes, C((3, 4)), C((2,), dtype=np.int16), C((-1,)), tolerance="set")
calls("full", whole_dtypes, C((3, 4), 7), C((2, 3), 2.5), C(3, 1j), C((2, 3), V(1, 2, 3)), C((2, 3), 7, dtype=np.float32), C((2,), 300, dtype=np.int8), C((), True))
calls("zeros_like ones_like", DTYPES, C(A(4, 6)), C(L("transposed")), C(L("0-d")), C(A(4, 6), dtype=np.int16), C(A(4, 6), shape=(2, 2)))
calls("empty_like", DTYPES, C(A(4, 6)), tolerance="set")
calls("full_like", DTYPES, C(A(4, 6), 1), C(L("transposed"), True), C(A(3), 2, dtype=np.float64))
calls("arange", whole_dtypes, C(5), C(5, None, 1), C(2, 9), C(2, 9, 3), C(9, 2, -2), C(0.5, 3, 0.25), C(1, 3, .1), C(5, 2), C(3, dtype=np.float32), C(0, 10, 2, dtype=np.int8), C(1, 4, 0), C(np.float32(2), np.float32(5)), C(-5, 5), C(0, 1, 0.1), C(np.int8(3), 5), C(2**62, 2**62 + 3))
calls("linspace", whole_dtypes, C(0, 1, 5), C(-2.0, 1, 7), C(0, 1, 5, endpoint=False), C(3, 3, 4), C(0, 1, 1), C(0, 1, 0), C(0, 10, 4, dtype=np.int64), C(0, 1, 5, dtype=np.float32), C(V(0., 1.), V(2., 5.), 4), C(V(0., 1.), V(2., 5.), 4, axis=1), C(0, 1j, 3), C(0, 1, -1), C(5, -5, 11), tolerance=1)
calls("logspace", whole_dtypes, C(0, 2, 5), C(0, 2, 5, endpoint=False), C(0, 3, 4, base=2.0), tolerance=8)
calls("geomspace", whole_dtypes, C(1, 1000, 4), C(1, 256, 9), C(-1, -100, 3), C(1, 1000, 3, endpoint=False), C(0, 1, 3), tolerance=16)
calls("eye", whole_dtypes, C(3), C(3, 4), C(3, M=5, k=1), C(4, k=-2), C(3, dtype=np.int8), C(0), C(2, k=9))
calls("identity", whole_dtypes, C(3), C(3, dtype=np.complex64), C(0))
calls("tri", whole_dtypes, C(3), C(3, 5), C(3, 5, 1), C(4, k=-1), C(3, dtype=bool))
calls("tril triu", FEW, C(A(4, 6)), C(A(4, 6), k=2), C(A(4, 6), k=-2), C(A(2, 3, 4)), C(L("transposed"), k=1), C(A(5)))
calls("diag diagflat", FEW, C(A(4)), C(A(3), k=2), C(A(3), k=-1), C(A(4, 6)), C(A(4, 6), k=1), C(A(4, 6), k=-9), C(A(2, 3, 4)))
calls("vander", [np.dtype(np.int32)] + FLOATS[2:], C(A(4)), C(A(4), 3), C(A(4), N=5, increasing=True), tolerance=8)
calls("bartlett blackman hamming hanning", whole_dtypes, C(7), C(8), C(1), C(0), tolerance=(16,))
calls("kaiser", whole_dtypes, C(7, 2.5), C(8, 14.0), C(1, 1.0), tolerance=(64,))
calls("copy", DTYPES, *[C(L(how)) for how in LAYOUTS], style="any")
calls("astype", BOOL + INTS + FLOATS[:1] + FLOATS[2:] + COMPLEX, *[C(A(4, 6), d) for d in DTYPES], C(L("transposed"), np.float32), C(L("0-d"), np.int64), style="unit")
# views
calls("reshape", FEW, C(A(4, 6), (8, 3)), C(A(4, 6), (-1,)), C(A(4, 6), (2, -1, 3)), C(L("transposed"), (3, 8)), C(L("negative"), (24,)), C(L("broadcast"), (2, 2, 6)), C(A(4, 6), (5, 5)), C(A(4, 6), (-1, -1)), C(A(0, 3), (3, 0)), C(A(0, 3), (-1, 0)), C(A(1), ()), C(A(4, 6), (3, 8), order="F"))
calls("ravel", FEW, *[C(L(how)) for how in LAYOUTS], C(A(3, 4), order="F"))
calls("transpose", FEW, C(A(4, 6)), C(A(3, 4, 5)), C(A(3, 4, 5), axes=(1, 0, 2)), C(A(3, 4, 5), axes=(-1, 0, 1)), C(A(3, 4, 5), axes=(0, 0, 1)), C(A(3, 4, 5), axes=(0, 1)), C(A(5)), C(L("0-d")))
calls("matrix_transpose", FEW, C(A(4, 6)), C(A(3, 4, 5)), C(A(3)))
calls("swapaxes", FEW, C(A(3, 4, 5), 0, 2), C(A(3, 4, 5), -1, 1), C(A(3, 4), 0, 2))
calls("moveaxis", FEW, C(A(3, 4, 5), 0, 2), C(A(3, 4, 5), (0, 1), (-1, 0)), C(A(3, 4), 0, 3), C(A(3, 4, 5), (0, 1), (0,)))
calls("rollaxis", FEW, C(A(3, 4, 5), 2), C(A(3, 4, 5), 0, start=3), C(A(3, 4, 5), 1, start=1), C(A(3, 4), 5))
calls("broadcast_to", FEW, C(A(6), (4, 6)), C(A(4, 1), (4, 3)), C(L("0-d"), (2, 2)), C(A(4, 6), (4, 5)), C(A(1), (0,)), C(A(4, 6), (6,)))
calls("expand_dims", FEW, C(A(3, 4), 0), C(A(3, 4), -1), C(A(3, 4), (0, 2)), C(A(3, 4), 5))
calls("squeeze", FEW, C(A(1, 3, 1)), C(A(1, 3, 1), axis=0), C(A(1, 3, 1), axis=(0, 2)), C(A(1, 3, 1), axis=1), C(L("0-d")))
calls("flip", FEW, C(A(3, 4)), C(A(3, 4), axis=0), C(A(3, 4), axis=(0, 1)), C(A(3, 4), axis=2))
calls("fliplr flipud", FEW, C(A(3, 4)), C(A(3)), C(L("0-d")))
calls("rot90", FEW, C(A(3, 4)), C(A(3, 4), k=2), C(A(3, 4), k=-1), C(A(3, 4, 5), axes=(1, 2)), C(A(3, 4), k=7), C(A(3, 4, 5), axes=(0, 0)))
calls("diagonal", FEW, C(A(4, 6)), C(A(4, 6), offset=2), C(A(4, 6), offset=-3), C(A(3, 4, 5), axis1=0, axis2=2), C(A(3, 4, 5), offset=1, axis1=-1, axis2=1), C(A(4)), C(A(4, 6), offset=100))
calls("real imag", DTYPES, C(A(4, 6)), C(L("transposed")), C(L("0-d")))
calls("atleast_1d atleast_2d atleast_3d", FEW, C(A(3, 4)), C(L("0-d")), C(A(3)), C(A(2, 3, 4)))
calls("sliding_window_view", FEW, C(A(7), (3,)), C(A(4, 6), (2, 3)), C(A(4, 6), (2,), axis=1), C(A(3), (5,)))
# joining, choosing
calls("concatenate", FEW, C([A(3, 4), A(2, 4)]), C([A(3, 4), A(3, 2)], axis=1), C([A(3, 4), A(5)], axis=None), C([A(3, 4), A(2, 5)]), C([A(3), A(0), A(2)]), C([]), C([A(3, 4), L("transposed")], axis=-1), C([A(3), np.ones(2)]), C([A(3), A(3)], dtype=np.complex128), C([A(3), A(3, 1)]))
calls("stack", FEW, C([A(3, 4), A(3, 4)]), C([A(3, 4), A(3, 4)], axis=1), C([A(3, 4), A(3, 4)], axis=-1), C([A(3), A(4)]), C([L("0-d"), L("0-d")]), C([A(3)], axis=3))
calls("vstack hstack dstack column_stack", FEW, C([A(3), A(3)]), C([A(3, 4), A(3, 4)]), C([A(2, 3, 4), A(2, 3, 4)]), C([L("0-d"), L("0-d")]), C([A(3), A(4)]), C([A(3, 1), A(3)]))
calls("append", FEW, C(A(3, 4), A(2)), C(A(3, 4), A(1, 4), axis=0), C(A(3, 4), A(4), axis=0))
calls("repeat", FEW, C(A(3, 4), 2), C(A(3, 4), 3, axis=0), C(A(3, 4), 0, axis=1), C(A(3, 4), -1), C(L("0-d"), 3), C(A(3), V(1, 0, 4)), C(A(3, 4), V(2, 0, 1), axis=0), C(A(3, 4), V(2), axis=1), C(A(3), V(1, 2)), C(A(3), V(1, -1, 2)), C(A(3), 1.5), C(A(3), V(1.0, 2.0, 1.0)), C(A(2), V([1], [2])))
calls("tile", FEW, C(A(3), (2,)), C(A(3), (2, 2)), C(A(2, 3), (2,)), C(A(2, 3), (1, 2, 2)), C(A(2, 3), (0,)))
calls("roll", FEW, C(A(3, 4), 1), C(A(3, 4), -2, axis=1), C(A(3, 4), 7, axis=0), C(A(0), 1), C(A(3, 4), 1, axis=(0, 1)), C(A(3, 4), V(1, -2), axis=(0, 1)), C(A(3, 4), V(1, 2), axis=1), C(A(3, 4), V(1, 2)), C(A(3, 4), V(1, 2, 3), axis=(0, 1)), C(A(3, 4), 1, axis=2))
calls("pad", FEW, C(A(3, 4), (2,)), C(A(3, 4), (1, 2)), C(A(3, 4), (2,), mode="edge"), C(A(3, 4), (2,), mode="reflect"), C(A(3, 4), (2,), mode="symmetric"), C(A(3, 4), (3,), mode="wrap"), C(A(3), (2,), mode="constant", constant_values=1), C(A(3), (9,), mode="reflect"))
calls("pad", [d for d in FEW if d not in (np.bool_, BFLOAT16)], *[C(A(3, 4), (2, 1), mode=k) for k in ("linear_ramp", "maximum", "minimum", "mean", "median")], C(A(5), (3,), mode="mean", stat_length=(2,)), C(A(3, 4), (1,), mode="maximum", stat_length=(2, 1)), C(A(5), (2,), mode="linear_ramp", end_values=V(3, 7)),
      C(A(3, 4), (1, 2), constant_values=V(5, 6)), C(A(3, 4), (1,), constant_values=V([1, 2], [3, 4])), C(A(5), (3,), mode="reflect", reflect_type="odd"), C(A(3, 4), (2,), mode="symmetric", reflect_type="odd"), C(A(4), (2,), mode="maximum", stat_length=(0,)), C(A(3, 4), (1, 0, 0, 2), mode="minimum"), tolerance=(16,))
calls("pad", FLOATS[2:], C(A(4), (2,), mode="mean", stat_length=(0,)))
calls("pad", FEW, C(A(1), (2,), mode="reflect", reflect_type="odd"), C(A(0, 3), (0, 0, 1, 1), mode="edge"))
calls("resize", FEW, C(A(3, 4), (2, 3)), C(A(3), (2, 5)), C(A(3), (0,)), C(A(0), (3,)))
calls("take", FEW, C(A(5), V(0, 2, 4)), C(A(3, 4), V([0, 2], [1, 1])), C(A(3, 4), V(1, -1), axis=0), C(A(3, 4), 2, axis=1), C(A(3, 4), V(3, 0), axis=-1), C(A(3), V(5)), C(A(3), V(5, -7), mode="wrap"), C(A(3), V(5, -7), mode="clip"), C(A(3, 4), V(0), axis=2))
calls("take_along_axis", FEW, C(A(3, 4), np.argsort(np.arange(12).reshape(3, 4) % 5, 1), axis=1), C(A(3, 4), V([0, 1, 2, 0]), axis=0))
calls("choose", FEW, C(V(0, 1, 2, 1), [A(4), A(4), A(4)]), C(V([0, 1], [1, 0]), [A(2, 2), 1]), C(V(0, 5), [A(2), A(2)]), C(V(0, 5), [A(2), A(2)], mode="wrap"), C(V(0, 5, -1), [A(3), A(3)], mode="clip"))
calls("compress", FEW, C(V(True, False, True), A(3, 4), axis=0), C(V(0, 1, 1), A(3, 4)), C(V(True, False), A(3, 4), axis=1), C(V(True, True, True, True, True), A(3, 4), axis=0))
calls("extract", FEW, C(np.arange(12).reshape(3, 4) % 3 == 0, A(3, 4)), C(V(True, False, True), A(3)))
calls("flatnonzero argwhere", DTYPES, C(A(4, 6)), C(L("transposed")), C(A(0)), C(A(3, 4, 5)), style="any")
calls("unique", [d for d in DTYPES if d != BFLOAT16], C(A(40)), C(L("transposed")), C(A(0)), C(A(4, 6), equal_nan=False), style="any")
calls("unique", [np.dtype(t) for t in ("bool", "int8", "float32", "complex64")], C(A(40, 1), axis=0), C(A(20, 2), axis=0), C(A(2, 30), axis=1), C(A(2, 6, 2), axis=-2), C(A(3, 4), axis=2), C(A(0, 3), axis=0), C(A(5), axis=0))
calls("split array_split", FEW, C(A(6), 3), C(A(6, 4), V(1, 3, 9)), C(A(4, 6), 3, axis=1), C(L("transposed"), 2, axis=-1), C(L("negative"), V(-2, -1)), C(A(5), 2), C(A(5), 0), C(A(5), V(3, 1)), C(L("0-d"), 1), C(A(3, 4), 2, axis=2), C(A(0, 3), 1), C(L("broadcast"), 2))
calls("hsplit vsplit dsplit", FEW, C(A(6), 3), C(A(4, 6), 2), C(A(4, 6, 2), V(1)), C(L("transposed"), 2), C(L("0-d"), 1), C(A(4, 6), 5))
calls("unstack", FEW, C(A(3)), C(A(3, 4)), C(A(3, 4), axis=1), C(L("negative"), axis=-1), C(L("0-d")), C(A(2, 3), axis=2), C(A(0, 3)))
calls("broadcast_arrays", FEW, C([A(3), A(4, 1)]), C([A(3), L("0-d")]), C([A(3), A(4)]), C([A(2, 0), A(1)]), C([L("transposed"), A(4)]))
calls("meshgrid", FEW, C([A(3), A(4)]), C([A(3), A(4)], indexing="ij"), C([A(3), A(4), A(2)], sparse=True), C([A(3)]), C([A(0), A(2)]), C([L("0-d"), A(2, 3)]), C([A(3), A(4)], indexing="ji"), C([A(3), A(4), A(2)]))
calls("ix_", [None], C([V(0, 2), V(1, 3, 2)]), C([V(True, False, True), V(1)]), C([V([1])]), C([np.zeros(0)]), C([V(1.5), V(2, 3)]))
calls("gradient", [d for d in DTYPES if d not in (BFLOAT16,)], C(A(7), []), C(A(4, 6), []), C(A(4, 6), [2.0], axis=0), C(A(7), [0.5], edge_order=2), C(A(3, 4, 5), [], axis=(0, 2)), C(L("transposed"), [2.0, 3.0]), C(A(1), []), C(A(2), [], edge_order=2), C(A(4, 6), [1.0, 2.0, 3.0]), C(A(5), [], edge_order=3), tolerance=(16,))
calls("gradient", INTS[:4] + FLOATS[2:] + COMPLEX, C(A(6), [V(0.0, 1.0, 1.5, 4.0, 5.0, 7.0)]), C(A(6), [V(0.0, 1.0, 1.5, 4.0, 5.0, 7.0)], edge_order=2), C(A(3, 4), [0.5, V(0, 1, 4, 9)]), C(A(4), [V(0, 1, 2, 3)], edge_order=2), C(A(4), [V(1, 2)]), C(A(4, 4), [V(0, 1, 2, 3)]), tolerance=(32,))
calls("delete", FEW, C(A(5), 1), C(A(5), V(0, -1, 0)), C(A(3, 4), 1, axis=0), C(A(3, 4), V(1, 3), axis=1), C(A(3, 4), V(True, False, True), axis=0), C(A(3, 4), 5), C(L("transposed"), V(0, 2), axis=-1), C(A(3), True), C(A(3), 7), C(A(3), V(-4)), C(A(3), V(True, False)), C(A(3), np.zeros(0, int)), C(A(3), V(1.5)), C(L("0-d"), V(0)), C(A(3), V([0, 1])))
calls("insert", FEW, C(A(5), 2, 1), C(A(5), V(1, 3), A(2)), C(A(5), V(3, 1, 3), A(3)), C(A(3, 4), 1, A(4), axis=0), C(A(3, 4), 1, A(3), axis=1), C(A(3, 4), V(1, 1), A(3, 2), axis=1), C(A(3, 4), V(0, 3), 1, axis=0), C(A(5), -1, 1), C(A(5), 5, 1), C(A(5), 6, 1), C(A(5), V(2), A(3)), C(A(3, 4), V(0, 2), A(5), axis=0), C(L("negative"), 0, 1, axis=1), C(A(5), 2, A(3)))
calls("trim_zeros", FEW, C(V(0, 0, 1, 0, 2, 0)), C(V(0, 0, 1, 0, 2, 0), "f"), C(V(0, 0, 1, 0, 2, 0), trim="b"), C(V(0, 0)), C(V([0, 0, 0], [0, 1, 0], [0, 0, 0])), C(V([0, 0, 0], [0, 1, 2]), axis=1), C(A(6)), C(A(3), "x"), C(np.zeros(0)))
calls("tril_indices triu_indices", [None], C(3), C(4, 1), C(4, -2), C(3, k=1, m=5), C(3, m=2), C(0))
calls("tril_indices_from triu_indices_from", [None], C(np.zeros((3, 4))), C(np.zeros((3, 3)), 1), C(np.zeros(3)))
calls("unique_all unique_counts unique_inverse unique_values", [d for d in DTYPES if d != BFLOAT16], C(A(40)), C(L("transposed")), C(A(0)), C(L("0-d")), style="any")
calls("union1d intersect1d setdiff1d setxor1d", [d for d in DTYPES if d != BFLOAT16], C(A(30), A(25)), C(L("transposed"), A(3)), C(A(5), A(0)), C(A(0), A(0)), C(A(9), V(1, 2, 3).astype("i1")), style="tame")
calls("union1d setdiff1d setxor1d intersect1d", FLOATS[2:], C(A(20), A(12)), style="any")
calls("setdiff1d setxor1d", INTS[:4], C(V(5, 1, 3), V(3, 4), assume_unique=True))
calls("bincount", BOOL + INTS, C(V(0, 1, 1, 3)), C(V(0, 1, 1, 3), minlength=7), C(V(0, 1, 1, 3), V(0.5, 1.0, 2.0, 4.0)), C(np.zeros(0, int)), C(np.zeros(0, int), minlength=3), C(V(1, -1)), C(V(1, 2), V(1.0)), C(V([1, 2])), C(V(1, 2), minlength=-1), C(V(1.0)), C(V(1, 2), V(1j, 2)), C(np.arange(65536, dtype=np.int32)), C(A(4), A(4)), style="positive")
calls("histogram", [d for d in REALS if d != BFLOAT16], C(A(40)), C(A(4, 6), 5), C(A(40), V(-3.0, -1.0, 0.0, 2.5)), C(A(40), 7, V(-2.0, 2.0)), C(A(40), 4, density=True), C(A(20), 4, weights=np.arange(20.0)), C(A(20), 4, weights=np.arange(20)), C(A(0)), C(L("0-d")), C(A(20), V(3, 1, 2)), C(A(20), 0), C(A(20), 3, V(2.0, 1.0)), C(A(20), 4, weights=np.arange(3)), C(A(20), V(0.0, 0.0, 1.0), density=True), C(A(20), V([1, 2])),
      C(V(1, 1, 1), 3), C(L("transposed"), V(-2, 0, 2), weights=np.arange(24).reshape(4, 6) * 1j), C(A(9), 2.5), tolerance=4)
calls("histogram", FLOATS[2:], C(A(30)), C(A(30), V(-1.0, 0.0, np.inf)), tolerance=4, style="any")
calls("histogram_bin_edges", INTS[:2] + FLOATS[2:], C(A(9)), C(A(9), 4), C(A(9), 4, V(0, 5)), C(A(9), V(1, 2, 5)), C(A(0), 3), tolerance=4)
calls("histogram2d", INTS[2:4] + FLOATS[2:], C(A(40), A(40)), C(A(40), A(40), 4), C(A(40), A(40), V(3, 5)), C(A(40), A(40), V(-3.0, -1.0, 0.0, 2.5)), C(A(30), A(30), 4, V([-2.0, 2.0], [-1.0, 3.0])), C(A(30), A(30), 3, density=True), C(A(20), A(20), 4, weights=np.arange(20.0)), C(A(3), A(4)), tolerance=16)
calls("partition", [d for d in DTYPES if d != BFLOAT16], *[C(A(9), (k,)) for k in (0, 4, -1)], C(A(4, 6), (2,), axis=0), C(A(4, 6), (1, 3)), C(A(9), (9,)), C(A(4, 6), (5,), axis=None), C(L("0-d"), (0,)))
calls("argpartition", INTS[:2] + FLOATS[2:], C(A(9), (4,)), C(A(4, 6), (2,), axis=0), C(A(9), (9,)))
calls("lexsort", FEW, C([A(9), A(9)]), C([A(4, 6), A(4, 6)], axis=0), C([A(9)]), C([A(4, 6), A(4, 6), A(4, 6)]), C([A(3), A(4)]), C([A(0)]), C([V(1, 1, 2, 1), A(4)]))
calls("sort_complex", [d for d in DTYPES if d not in (BFLOAT16, np.float16)], C(A(9)), C(A(4, 6)), style="tame")
calls("ravel_multi_index", [None], C([V(0, 1, 2), V(3, 0, 1)], (3, 4)), C([V([0, 1], [2, 2]), V(1, 3)], (3, 4), order="F"), C([V(0, 9), V(1, 1)], (3, 4)), C([V(0, 9, -1), V(1, 1, 5)], (3, 4), mode="wrap"), C([V(0, 9, -1), V(1, 1, 5)], (3, 4), mode="clip"), C([V(0)], (3, 4)), C([V(0.5)], (3,)))
calls("unravel_index", [None], C(V(0, 5, 11), (3, 4)), C(V([0, 5], [11, 7]), (2, 3, 2)), C(V(0, 5, 11), (3, 4), order="F"), C(V(12), (3, 4)), C(V(-1), (3, 4)), C(V(0.5), (3,)))
calls("diag_indices", [None], C(3), C(4, 3), C(0))
calls("packbits", [np.dtype(bool)] + INTS, C(A(17)), C(A(4, 6)), C(A(4, 6), axis=0), C(A(4, 9), axis=-1, bitorder="little"), C(A(0)), C(L("transposed"), axis=1), C(A(9), bitorder="no"))
calls("packbits", FLOATS[2:], C(A(9)))
calls("unpackbits", [np.dtype(np.uint8), np.dtype(np.int8)], C(A(3)), C(A(2, 3), axis=1), C(A(2, 3), axis=0, bitorder="little"), C(A(3), count=10), C(A(3), count=30), C(A(3), count=-4), C(A(3), count=-30), C(L("transposed")))
calls("polyval", [d for d in DTYPES if d not in (BFLOAT16, np.float16)], C(A(4), A(5)), C(V(1, -2, 3), A(4, 6)), C(A(3), 2), C(np.zeros(0), A(3)), C(V(1.5, 2), L("transposed")), tolerance=(64,))
calls("polyadd polysub", [d for d in DTYPES if d not in (BFLOAT16, np.bool_)], C(A(4), A(4)), C(A(4), A(2)), C(A(2), A(5)), C(A(3), 2), tolerance=2)
# updates: the array afterwards
calls("put", FEW, C(A(4, 6), V(0, 3, -1), A(3)), C(L("transposed"), V(5, 5, 2), A(2)), C(A(5), V(7), 1), C(A(5), V(7, -9), A(2), mode="wrap"), C(A(5), V(7, -9), A(2), mode="clip"), C(A(5), V([0, 1], [2, 0]), 1), C(A(5), V(0, 1), np.zeros(0)))
calls("place putmask", FEW, C(A(4, 6), np.arange(24).reshape(4, 6) % 3 == 0, A(4)), C(L("negative"), np.arange(24).reshape(4, 6) > 5, A(30)), C(A(3), V(0, 1, 1), 1), C(A(3), V(True, False), A(2)), C(A(3), V(False, False, False), np.zeros(0)), C(L("0-d"), True, A(2)))
calls("copyto", FEW, C(A(4, 6), A(6)), C(L("transposed"), A(4, 1)), C(A(4, 6), 1, where=np.arange(6) % 2 == 0), C(A(3), A(4)), C(A(3), A(3), where=V(1, 0, 1)))
calls("copyto", INTS[:2] + FLOATS[2:], C(A(3), V(1.5)), C(A(3), V(2.5), casting="unsafe"), C(A(3), V(1j)), C(A(3), V(1), casting="safe"))
calls("fill_diagonal", FEW, C(A(4, 4), 1), C(A(7, 3), 1), C(A(7, 3), A(2), wrap=True), C(A(3, 7), A(4)), C(A(3, 3, 3), 1), C(A(3, 4, 3), 1), C(A(3), 1), C(L("transposed"), 1), C(A(0, 3), 1))
calls("put_along_axis", FEW, C(A(3, 4), np.argsort(np.arange(12).reshape(3, 4) % 5, 1), A(3, 4), 1), C(A(3, 4), V([0, 1, 2, 0]), 1, 0), C(A(5), V(1, 9), 1, 0), C(A(3, 4), V(0, 5), A(2), None), C(A(3, 4), V(0), 1, 0))
# sorting
calls("indices", whole_dtypes, C((3, 4)), C((2,), dtype=np.int32), C(()), C((0, 3)))
calls("sort", [d for d in DTYPES if d != BFLOAT16], *ONE_AXIS, C(A(0)), C(A(2, 0)), C(A(4, 6), axis=None), C(A(1000)), style="any")
calls("argsort", [d for d in DTYPES if d != BFLOAT16], *[C(*a, **{**o, "kind": "stable"}) for a, o in ONE_AXIS], C(A(1000), kind="stable"), C(A(2, 0), axis=0), style="any")
calls("median", INTS[:4] + FLOATS[2:], C(A(7)), C(A(8)), C(A(4, 6), axis=1), C(A(4, 6), axis=(0, 1)), C(A(4, 6), axis=0, keepdims=True), tolerance=1)
calls("nanmedian", INTS[:4] + FLOATS[2:], C(A(7)), C(A(8)), C(A(4, 6), axis=1), C(A(4, 6), axis=(0, 1)), C(A(4, 6), axis=0, keepdims=True), C(A(0)), C(V([1, np.nan, 3], [np.nan] * 3, [4, 5, np.nan]), axis=1), C(L("0-d")), tolerance=1)
METHODS = "linear lower higher nearest midpoint inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased".split()
calls("quantile nanquantile", [d for d in REALS if d not in (np.bool_, BFLOAT16)], C(A(7), 0.3), C(A(8), V(0.0, 0.25, 1.0)), C(A(4, 6), 0.5, axis=1), C(A(4, 6), V(0.3, 0.7), axis=0, keepdims=True), C(L("transposed"), 0.4),
      C(L("negative"), V(0.2), axis=-1), C(L("0-d"), 0.5), C(A(9), 1), C(A(9), V(0, 1)), C(A(7), 1.5), C(A(7), V(-0.1)), C(A(7), np.float32(0.3)), C(A(2, 3), 0.5, axis=2), C(A(7), 0.5, method="best"), *[C(A(11), V(0.0, 0.12, 0.5, 0.77, 1.0), method=k) for k in METHODS], tolerance=2)
calls("percentile nanpercentile", FLOATS[:1] + FLOATS[2:] + INTS[:1], C(A(7), 30), C(A(8), V(0.0, 25.0, 100.0)), C(A(4, 6), 50.0, axis=1), C(A(7), V(10, 101)), C(A(7), -1), C(A(5), V(0, 50), method="lower"), tolerance=2)
calls("quantile percentile nanquantile nanpercentile", FLOATS[2:], C(A(20), 0.25), C(A(4, 6), V(0.25, 0.75), axis=1), C(A(40), 0.5, method="nearest"), tolerance=2, style="any")
calls("quantile nanquantile", FLOATS[2:], C(A(5), V(0.3, 0.8), weights=V(1.0, 2.0, 0.0, 1.0, 3.0), method="inverted_cdf"), C(A(4, 6), 0.6, weights=np.arange(24).reshape(4, 6), axis=1, method="inverted_cdf"), C(A(4, 6), 0.5, weights=np.arange(6), method="inverted_cdf"),
      C(A(5), 0.3, weights=V(1, 2, 3, 4, 5)), C(A(4, 6), 0.5, weights=np.arange(5), axis=1, method="inverted_cdf"), C(A(2), 0.5, weights=V(1, -1), method="inverted_cdf"))
calls("quantile", COMPLEX, C(A(5), 0.5))
calls("quantile", FLOATS[2:], C(A(3, 4, 5), V([0.1, 0.9], [0.5, 0.2]), axis=(0, 2)), C(A(4, 6), V(0.6), weights=np.arange(6), axis=1, method="inverted_cdf"), C(A(3), np.full((1, 1, 1), 0.5)))
calls("cov corrcoef", [d for d in DTYPES if d not in (BFLOAT16, np.float16)], C(A(3, 8)), C(A(8)), C(A(3, 8), A(2, 8)), C(A(8), A(8)), C(A(5, 3), rowvar=False), C(L("transposed")), C(A(2, 3, 4)), tolerance=(256,), style="any")
calls("cov", [np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.complex128)], C(A(3, 8), bias=True), C(A(3, 8), ddof=0), C(A(3, 4), ddof=9), C(A(3, 4), fweights=V(1, 2, 0, 3)), C(A(3, 4), aweights=V(1.0, 2.5, 0.0, 3.0)), C(A(3, 4), fweights=V(1, 2, 1, 3), aweights=V(1.0, 2.5, 0.5, 3.0), ddof=2),
      C(A(3, 4), fweights=V(1, 2)), C(A(3, 4), fweights=V(1.0, 2.0, 1.0, 1.0)), C(A(3, 4), dtype=np.float32), C(A(0, 3)), tolerance=(512,))
calls("searchsorted", [d for d in DTYPES if d != BFLOAT16], C(np.arange(-6, 7, 2).astype(np.int8), A(4, 6)), C(np.arange(-6, 7, 2).astype(np.int8), L("transposed"), side="right"), C(V(1, 2, 2, 2, 5), A(9), side="right"), C(V(1, 2, 2, 2, 5), A(9)), C(np.zeros(0), A(3)), C(V(1, 3), L("0-d")), C(V(3, 1, 2), A(5), sorter=V(1, 2, 0)),
      C(V([1, 2]), A(3)), C(V(1, 2), A(3), side="up"), C(V(1, 2), A(3), sorter=V(0)), C(V(1, 2), A(3), sorter=V(0.0, 1.0)), C(np.sort(values(np.dtype(np.float64), 500, "tame", 1)), A(50)), C(V(5), A(8)), C(V(1, 2), L("empty")), style="tame")
calls("searchsorted", FLOATS[2:], C(V(-1, 0, np.inf, np.nan, np.nan), A(30)), C(V(-1, 0, np.inf, np.nan, np.nan), A(30), side="right"), C(V(1, 2), 1.5), style="any")
calls("digitize", [d for d in DTYPES if d != BFLOAT16], C(A(4, 6), V(-2, 0, 0, 3)), C(A(4, 6), V(3, 0, 0, -2)), C(L("transposed"), V(-2, 0, 3), right=True), C(A(9), V(3, 0, -2), right=True), C(A(3), V(1, 3, 2)), C(A(3), V(1.5)), C(A(3), np.zeros(0)), C(A(3), V([1, 2])), C(L("0-d"), V(1, 2)))
calls("isin", [d for d in DTYPES if d != BFLOAT16], C(A(4, 6), A(5)), C(L("transposed"), A(2, 9), invert=True), C(A(3), np.zeros(0)), C(L("0-d"), A(40)), C(A(0), A(4)), C(A(30), V(1, 2, 3)))
calls("isin", FLOATS[2:], C(A(30), V(np.nan, 0.0, np.inf)), style="any")
calls("interp", [d for d in REALS if d != BFLOAT16], C(A(4, 6), V(-3.0, -1.0, 0.5, 4.0), V(1, 2, 4, 0)), C(A(9), V(-1.0, 2.0), V(3.0, 5.0), left=-7.0, right=9.0), C(A(9), V(1.0), V(2.0)), C(A(9), V(0.0, 1.0, 2.5), V(1.0, 5.0, 3.0), period=3.0), C(A(9), V(0.0, 1.0), V(1.0, 2.0), period=-2.0), C(A(9), V(0.0), V(1.0, 2.0)), C(A(9), np.zeros(0), np.zeros(0)),
      C(A(9), V(0.0, 1.0), V(1.0, 2.0), period=0.0), C(L("0-d"), V(0, 5), V(1j, 2 + 1j)), C(A(9), V(-3, 0, 4), V(1j, 2, 3 - 1j), left=1j), C(A(9), V([1, 2]), V(1, 2)), tolerance=4)
calls("interp", FLOATS[2:], C(A(20), V(-5.0, -1.0, 0.0, 1.0, np.inf), V(1.0, np.inf, np.inf, 3.0, 3.0)), tolerance=4, style="any")
calls("interp", COMPLEX, C(A(3), V(0.0, 1.0), V(0.0, 1.0)))
for mode in ("full", "same", "valid"):
    calls("convolve correlate", [d for d in DTYPES if d not in (BFLOAT16, np.float16)], C(A(7), A(3), mode=mode), C(A(3), A(8), mode=mode), C(A(4), A(4), mode=mode), C(A(6), np.ones(2, np.int8), mode=mode), tolerance=(16,))
calls("convolve correlate", INTS[2:4] + FLOATS[2:], C(A(7), A(3)), C(L("0-d"), A(4)), C(A(0), A(3)), C(A(2, 3), A(3)), C(A(5), A(3), mode="most"), C(A(300), A(40), mode="same"), tolerance=(64,))
calls("unwrap", [d for d in REALS if d not in (BFLOAT16, np.bool_, np.float16)], C(A(9)), C(A(4, 6)), C(A(4, 6), axis=0), C(A(9), discont=2.0), C(A(1)), C(A(9), period=6.0), C(L("0-d")), C(A(0)), tolerance=(16,))
calls("unwrap", SIGNED, C(A(9), period=7), C(A(9), period=8), C(A(4, 6), period=20, axis=0, discont=3))
# products
products = [np.dtype(t) for t in ("bool", "int8", "int64", "uint16", "float32", "float64", "complex64", "complex128")]
calls("matmul", products, C(A(3, 4), A(4, 5)), C(A(4), A(4, 5)), C(A(3, 4), A(4)), C(A(4), A(4)), C(A(2, 3, 4), A(4, 5)), C(A(2, 3, 4), A(2, 4, 5)), C(A(5, 1, 3, 4), A(2, 4, 5)), C(L("transposed"), A(6, 3)), C(L("negative"), A(6, 2)), C(L("stepped"), L("transposed")), C(A(3, 4), A(5, 4)), C(A(3, 4), 2), C(A(0, 4), A(4, 5)), C(A(3, 0), A(0, 5)), C(A(70, 80), A(80, 90)), tolerance=(64,))
calls("dot", products, C(A(3, 4), A(4, 5)), C(A(4), A(4)), C(A(2, 3, 4), A(4)), C(A(2, 3, 4), A(5, 4, 6)), C(A(3), 2), C(L("0-d"), A(3)), C(A(3), A(4)), tolerance=(64,))
calls("vdot", products, C(A(3, 4), A(3, 4)), C(A(4), A(4)), C(A(3), A(4)), tolerance=(64,))
calls("inner", products, C(A(3, 4), A(5, 4)), C(A(4), A(4)), C(A(2, 3, 4), A(4)), C(A(3), 2), C(A(3), A(4)), tolerance=(64,))
calls("outer kron", products, C(A(3), A(4)), C(A(2, 3), A(2, 2)), C(A(3), A(0)), tolerance=8)
calls("tensordot", products[2:], C(A(3, 4, 5), A(4, 5, 2)), C(A(3, 4), A(4, 5), axes=1), C(A(3), A(4), axes=0), C(A(3, 4), A(3, 5)), tolerance=(64,))
calls("cross", products[1:], C(A(3), A(3)), C(A(4, 3), A(4, 3)), C(A(3, 4), A(3, 4), axis=0), C(A(4, 3), A(3)), C(A(4), A(4)), tolerance=(16,))
calls("vecdot", products[1:], C(A(4), A(4)), C(A(3, 4), A(4)), C(A(3, 4), A(3, 4), axis=0), tolerance=(64,))
calls("norm", [d for d in DTYPES if d not in (BFLOAT16, np.float16)], C(A(6)), C(A(3, 4)), C(A(3, 4, 5)), C(L("0-d")), C(A(3, 4), axis=1), C(A(3, 4, 5), axis=(0, 2)), C(A(3, 4), axis=0, keepdims=True), C(L("transposed"), keepdims=True), C(A(0)), C(A(3, 4, 5), 1), *[C(A(6), o) for o in (0, 1, 2, 3, 0.5, -1, np.inf, -np.inf)],
      *[C(A(3, 4), o) for o in (1, -1, np.inf, -np.inf, 3)], C(A(3, 4), 3, axis=1), C(A(2, 3, 4), np.inf, axis=(1, 0)), C(A(2, 3), axis=2), C(A(0), np.inf), C(A(0), -np.inf), C(A(3, 0), 1), C(A(0, 3), np.inf), tolerance=(64,))
calls("matrix_power", products[1:], C(A(3, 3), 0), C(A(3, 3), 1), C(A(3, 3), 2), C(A(3, 3), 5), C(A(2, 3, 3), 3), C(A(3, 4), 2), C(A(3), 2), tolerance=(256,), style="unit")
calls("multi_dot", products[1:], C([A(3, 4), A(4, 5)]), C([A(3, 4), A(4, 5), A(5, 2)]), C([A(4), A(4, 5), A(5, 2), A(2)]), C([A(10, 3), A(3, 10), A(10, 2), A(2)]), C([A(3)]), C([A(3, 4), A(3, 4)]), C([A(3, 4), A(2, 4, 4), A(4)]), tolerance=(256,), style="unit")
calls("einsum", products, *[C(s, ops) for s, ops in [("ij,jk->ik", [A(3, 4), A(4, 5)]), ("ij,jk", [A(3, 4), A(4, 5)]), ("ii", [A(4, 4)]), ("ii->i", [A(4, 4)]), ("ij->ji", [A(3, 4)]), ("ij->", [A(3, 4)]), ("ij->j", [L("transposed")]), ("i,i", [A(4), A(4)]), ("i,j->ij", [A(3), A(4)]), ("i,j", [A(3), A(4)]),
      ("ijk,jil->kl", [A(2, 3, 4), A(3, 2, 5)]), ("bij,bjk->bik", [A(2, 3, 4), A(2, 4, 5)]), ("...ij,...jk->...ik", [A(2, 3, 4), A(4, 5)]), ("...ij,...jk", [A(5, 1, 3, 4), A(2, 4, 2)]), ("...i->...", [A(2, 3, 4)]), ("i...->...", [A(2, 3, 4)]), ("ij,jk,kl->il", [A(2, 3), A(3, 4), A(4, 2)]), ("ba", [A(3, 4)]),
      ("ij,ij->ij", [A(3, 4), A(3, 4)]), ("ij,kj->ik", [A(3, 4), A(5, 4)]), ("ij,j", [A(3, 4), A(4)]), (",ij", [L("0-d"), A(3, 4)]), ("iji->j", [A(3, 4, 3)]), ("ij,k->j", [A(3, 4), A(5)]), ("aB,Bc->ca", [A(2, 3), A(3, 4)]), ("ij , jk -> ik", [A(3, 4), A(4, 5)]), ("ijk->ki", [A(2, 3, 4)]), ("i,i->", [A(0), A(0)]),
      ("ij,jk->ik", [A(3, 0), A(0, 5)]), ("ij,ij", [L("negative"), L("stepped")]), ("ij,jk->ik", [A(3, 4), A(5, 4)]), ("ij->ijk", [A(3, 4)]), ("ij->ii", [A(3, 4)]), ("ijk", [A(3, 4)]), ("ij,jk", [A(3, 4)]), ("ij", [A(3, 4), A(3, 4)]), ("i$", [A(3, 4)]), ("ii", [A(3, 4)]), ("...", [A(2, 3)]), ("abc,cd,be->ade", [A(2, 3, 4), A(4, 2), A(3, 3)])]], tolerance=(64,))
calls("svd", INTS[:2] + FLOATS + COMPLEX, C(A(4, 4)), C(A(3, 5)), C(A(5, 3), full_matrices=False), C(A(2, 3, 4), full_matrices=False), C(A(4)), C(A(0, 3)), C(A(3, 0), full_matrices=False), C(A(2, 0, 3)), tolerance="set")
# Fourier transforms
transforms = [np.dtype(t) for t in ("int16", "float32", "float64", "complex64", "complex128")]
calls("fft ifft hfft", transforms, C(A(8)), C(A(7)), C(A(4, 6)), C(A(4, 6), axis=0), C(A(8), n=5), C(A(8), n=12), C(A(8), norm="ortho"), C(A(8), norm="forward"), C(L("transposed")), C(A(8), n=0), C(A(60)), C(A(128)), tolerance=(64,))
calls("rfft ihfft", transforms[:3], C(A(8)), C(A(7)), C(A(4, 6)), C(A(4, 6), axis=0), C(A(8), n=5), C(A(8), norm="ortho"), tolerance=(64,))
calls("irfft", transforms, C(A(5)), C(A(5), n=7), C(A(4, 5)), C(A(5), norm="forward"), tolerance=(64,))
calls("fft2 ifft2 fftn ifftn", transforms, C(A(4, 6)), C(A(3, 4, 6)), C(A(4, 6), s=(3, 8)), C(A(4, 6), axes=(0,)), C(A(4, 6), norm="ortho"), tolerance=(64,))
calls("rfft2 rfftn", transforms[:3], C(A(4, 6)), C(A(3, 4, 6)), C(A(4, 6), axes=(1, 0)), tolerance=(64,))
calls("irfft2 irfftn", transforms, C(A(4, 5)), C(A(4, 5), s=(4, 7)), tolerance=(64,))
calls("fftfreq rfftfreq", whole_dtypes, C(8), C(7), C(8, d=0.1), tolerance=1)
calls("fftshift ifftshift", FEW, C(A(8)), C(A(7)), C(A(4, 5)), C(A(4, 5), axes=1), C(A(4, 5), axes=(0, 1)))

# Shown by other tests: as sums of columns, as draws (test_random), and beside SciPy (test_special).
ELSEWHERE = set("erf erfc erfinv erfcinv expit nonzero random uniform integers standard_normal normal standard_exponential exponential permutation".split())
NUMBERS_ONLY = set("arange full logspace geomspace".split())              # their arrays are numbers
ANY_ZERO_ORDER = set("sort setxor1d unique_counts unique_inverse unique_values union1d".split())                  # equal elements may change places
RENAMED = {**{name: lambda *a, f=getattr(np, name), **o: np.stack(f(*a, **o), -1) for name in ("unravel_index", "diag_indices", "tril_indices", "triu_indices", "tril_indices_from", "triu_indices_from")},
           "intersect1d": lambda *a, **o: np.intersect1d(*a, return_indices=True, **o), "unique_values": lambda x: np.sort(np.unique_values(x)),
           "partition": lambda a, kth, **o: np.sort(np.partition(a, kth, **o), o.get("axis", -1)), "argpartition": lambda a, kth, **o: (np.argpartition(a, kth, **o), np.argsort(a, kind="stable", **o))[1],
           "pad": lambda a, width, **o: np.pad(a, pairs(width), **{k: pairs(v) if k == "stat_length" else v for k, v in o.items()}),
           **{name: lambda *a, f=getattr(np, name), **o: f(*numbers_for(a), **o) for name in ("histogram", "histogram_bin_edges", "histogram2d")},
           "einsum": lambda s, operands, **o: np.einsum(s, *operands, **o), "unique": lambda a, **o: np.unique(a, return_index=True, return_inverse=True, return_counts=True, **o),
           "astype": lambda x, d, **o: x.astype(d, **o),
           "gradient": lambda f, v, **o: as_tuple(np.gradient(f, *v, **o)),
           **{name: lambda arrays, f=getattr(np, name), **o: f(*arrays, **o) for name in ("broadcast_arrays", "meshgrid", "ix_")}}


def pairs(width):
    """(before, after) of each axis, which the C interface takes in one row."""
    return width if len(width) <= 2 else tuple(zip(width[::2], width[1::2]))


def numbers_for(args):
    """Pairs of numbers, which are weak, where the C interface takes them as arrays."""
    return [a.tolist() if isinstance(a, np.ndarray) and i in (2, 3) and a.size <= 4 and a.dtype != object else a for i, a in enumerate(args)]


def updated(f):
    """NumPy's function as one that gives the changed array back."""
    def call(a, *args, **options):
        a = a.copy(order="C")
        f(a, *args, **options)
        return a
    return call


def as_tuple(r):
    return r if isinstance(r, (tuple, list)) else (r,)


def fill(x, d, style, seed):
    """The stand-ins of a call, as arrays."""
    if isinstance(x, tuple) and x and x[0] == "array":
        _, shape, how, own = x
        n = int(np.prod(shape))
        return values(d, n, own or style, seed).reshape(shape)
    if isinstance(x, tuple) and x and x[0] == "layout":
        return layout(x[1], d, style, seed)
    if isinstance(x, list):
        return [fill(v, d, style, seed + 1 + i) for i, v in enumerate(x)]
    return x


def describe(c):
    def one(x):
        return f"{x[0][0]}{x[1]}" if isinstance(x, tuple) and x and x[0] in ("array", "layout") else f"{x.dtype}{x.shape}" if isinstance(x, np.ndarray) else "[" + ", ".join(map(one, x)) + "]" if isinstance(x, list) else str(x)
    return ", ".join([one(x) for x in c[0]] + [f"{k}={one(v)}" for k, v in c[1].items()])


# ---- every operation in every layout ----

seen = {}           # by operation: the layouts in which its first array has come


def laid_out(how, x):
    """x's values (of broadcast, 0-d and empty: some of them) as an array that lies in memory as the name says; None: there is none."""
    if how == "0-d":
        return x.ravel()[:1].reshape(()) if x.size else None
    if how == "empty":
        return x[:0] if x.ndim else None
    if how == "broadcast":
        return np.broadcast_to(x[:1], x.shape) if x.ndim and x.size else None
    if how == "transposed":
        return np.ascontiguousarray(x.T).T
    if how == "negative":
        return np.flip(np.flip(x).copy())
    if how == "stepped":
        room = np.zeros(tuple(3 * n for n in x.shape), x.dtype)
        part = room[(..., *(slice(1, None, 3) for _ in x.shape))]
        part[...] = x
        return part
    return np.ascontiguousarray(x)


def first_array(args):
    """The place of the first array among the arguments, in a list or alone: (i, None) or (i, k)."""
    for i, a in enumerate(args):
        if isinstance(a, np.ndarray):
            return i, None
        if isinstance(a, list):
            for k, b in enumerate(a):
                if isinstance(b, np.ndarray):
                    return i, k
    return None


def replaced(args, place, array):
    i, k = place
    new = list(args)
    new[i] = array if k is None else [array if j == k else v for j, v in enumerate(args[i])]
    return new


def every_layout(row, f, d, tolerance, style, made):
    """The first call with an array, its first array in every layout."""
    for c in made:
        args = [fill(x, d, style, 20 + i) for i, x in enumerate(c[0])]
        options = {k: fill(v, d, style, 40) for k, v in c[1].items()}
        place = first_array(args)
        if not place:
            continue
        i, k = place
        for how in LAYOUTS:
            array = laid_out(how, args[i] if k is None else args[i][k])
            if array is None:
                continue
            new = replaced(args, place, array)
            seen.setdefault(row["name"], set()).add(how)
            run(f"{how} for {describe(c)}", lambda: kiln.call(row["name"], *new, **options), lambda: f(*new, **options), tolerance, row["name"] not in ANY_ZERO_ORDER, how in ("0-d", "empty"))
        return


def coverage(only):
    """Every operation that takes an array has had it in every layout."""
    results.start("layouts")
    taking = [r for r in kiln.rows if any(p["kind"] in ("ARRAY", "LIST") and p["argument"] for p in r["params"]) and r["name"] not in ELSEWHERE | NUMBERS_ONLY and (not only or r["name"] in only)]
    for row in taking:
        missing = set(LAYOUTS) - (set(LAYOUTS) if row["kind"] == "ufunc" else seen.get(row["name"], set()))
        if missing:
            results.complaints.append(f"{row['name']} has not been called with arrays that are {', '.join(sorted(missing))}")
    results.finish()
    if SAMPLE == 1:
        print(f"{len(taking)} operations on arrays, each in {len(LAYOUTS)} layouts")


def other_operation(row):
    f = RENAMED.get(row["name"]) or numpy_function(row["numpy"])
    if row["kind"] == "update":
        f = updated(f)
    for dtypes, tolerance, style, made in CALLS[row["name"]]:
        for d in dtypes:
            results.start(f"{row['name']} of {d}" if d is not None else row["name"])
            every_layout(row, f, d, tolerance, style, made)
            for c in made:
                args = [fill(x, d, style, 20 + i) for i, x in enumerate(c[0])]
                options = {k: fill(v, d, style, 40) for k, v in c[1].items()}
                run(describe(c), lambda: kiln.call(row["name"], *args, **options), lambda: f(*args, **options), tolerance, row["name"] not in ANY_ZERO_ORDER)


# ---- methods of elementwise functions, indexing, updates in place ----

def method(f):
    with kiln.scope():
        return kiln.numpy(f())


def ufunc_methods():
    ints, floats = values(np.dtype(np.int32), 24, "tame", 1).reshape(4, 6), values(np.dtype(np.float64), 24, "tame", 2).reshape(4, 6)
    for name in "add multiply maximum minimum bitwise_or logical_and subtract logaddexp fmax".split():
        f = getattr(np, name)
        results.start(f"methods of {name}")
        for a in (ints, floats, floats.T):
            for axis in (0, 1, -1):
                run(f"reduce {a.dtype} {axis}", lambda: method(lambda: kiln.lib.kn_reduce(name.encode(), kiln.array(a), axis, False)), lambda: f.reduce(a, axis), (64,) if f is np.logaddexp or a.dtype.kind == "f" else 0)
                run(f"accumulate {a.dtype} {axis}", lambda: method(lambda: kiln.lib.kn_accumulate(name.encode(), kiln.array(a), axis)), lambda: f.accumulate(a, axis), (64,) if f is np.logaddexp or a.dtype.kind == "f" else 0)
            run(f"keepdims {a.dtype}", lambda: method(lambda: kiln.lib.kn_reduce(name.encode(), kiln.array(a), 1, True)), lambda: f.reduce(a, 1, keepdims=True), (64,) if f is np.logaddexp or a.dtype.kind == "f" else 0)
            run(f"outer {a.dtype}", lambda: method(lambda: kiln.lib.kn_outer_of(name.encode(), kiln.array(a), kiln.array(a[0]))), lambda: f.outer(a, a[0]), 4)

            def numpy_at():
                b = a.copy()
                f.at(b, np.array([0, 1, 0, 3]), a[1])
                return b

            def kiln_at():
                b = kiln.from_memory(a, 0)
                kiln.lib.kn_at_with(name.encode(), b, b"[0, 1, 0, 3]", kiln.array(a[1]), None, 0)
                return b
            if name != "logaddexp":
                run(f"at {a.dtype}", lambda: method(kiln_at), numpy_at, (64,) if a.dtype.kind == "f" else 0)


INDICES = ["0", "-1", "2, 3", "1:", ":, 1", "::-1", "1:3, ::2", "..., 0", "0, ...", "None", ":, None", "None, ..., None", "i", "i, :", ":, i", "i, j", "i, 2", "2, i", "i2, :, j", "i, None, j", "m", "m1", "m1, 2", ":, m2", "m1, ..., None", "[0, 2, 0]",
           "[True, False, True, False]", "True", "False", "4", "-5", "0, 9", "0, 0, 0, 0", "i, k", "9:, :", "5:2", "[]", "k", "f", "..., ...", "1:2:-1", "-3:-1", "m1, m2", "b, 1", "True, 0", "i, True", "0, True, i", "..., m2"]


def indexing():
    names = {"i": np.array([0, 2, 1]), "j": np.array([3, 0, -1]), "k": np.array([0, 9]), "i2": np.array([[0], [1]]), "m": np.arange(24).reshape(4, 6) % 5 > 2, "m1": np.array([True, False, True, True]),
             "m2": np.array([False, True, True, False, True, False]), "f": np.array([0.5]), "b": np.array([1, 2], np.uint8)}
    cube = {"i2, :, j"}
    for d in FEW:
        results.start(f"indexing of {d}")
        for text in INDICES:
            for how in ("contiguous", "transposed", "negative"):
                a = layout(how, d, "tame", 3) if text not in cube else values(d, 4 * 3 * 6, "tame", 3).reshape(4, 3, 6)
                run(f"a[{text}] {how}", lambda: method(lambda: kiln.index(a, text, **names)), lambda: eval(f"a[{text}]", {**names, "a": a}))

                def numpy_set(v):
                    target = a.copy()
                    exec(f"target[{text}] = v", {**names, "target": target, "v": v})
                    return target

                def kiln_set(v):
                    b = kiln.from_memory(a, 0)
                    return kiln.set(b, text, v, **names)
                if how != "negative":
                    run(f"a[{text}] = 1 {how}", lambda: method(lambda: kiln_set(1)), lambda: numpy_set(1))
                elif text != "2, 3":                   # the kind of error depends on the dtype there
                    v = values(d, 6, "tame", 8)
                    run(f"a[{text}] = row", lambda: method(lambda: kiln_set(v)), lambda: numpy_set(v))


IN_PLACE = {"iadd": "+=", "isub": "-=", "imul": "*=", "idiv": "/=", "ifloordiv": "//=", "imod": "%=", "ipow": "**=", "iand": "&=", "ior": "|=", "ixor": "^=", "ilshift": "<<=", "irshift": ">>="}


def updates():
    for ours, theirs in IN_PLACE.items():
        results.start(f"a {theirs} v")
        for d in FEW:
            if d == BFLOAT16:
                continue
            a = layout("contiguous", d, "positive" if ours == "ipow" else "tame", 3)
            misfits = [np.ones((2, 6), d), np.ones((2, 4, 6), d)] if d.kind in "fc" else []   # of two faults, NumPy tells another one
            for v in (1, 2, 2.5, True, 1j, np.ones(6, d), np.ones((4, 1), np.float64), np.ones(6, np.int8), *misfits):

                def numpy_update():
                    b = a.copy()
                    exec(f"b {theirs} v", {"b": b, "v": v})
                    return b

                def kiln_update():
                    b = kiln.from_memory(a, 0)
                    return getattr(kiln.lib, "kn_" + ours)(b, kiln.array(v))
                kind = f"{v.dtype}{v.shape}" if isinstance(v, np.ndarray) else repr(v)
                run(f"{d} {theirs} {kind}", lambda: method(kiln_update), numpy_update, 8 if ours == "ipow" or d.kind == "c" else 0)


def sequences():
    """Several updates through overlapping views, with values read before and after: random programs, on both."""
    results.start("random programs of views and updates")
    views = ["a[1:]", "a[:-1]", "a[::-1]", "a[:, 1:]", "a[:, ::-2]", "a.T", "a[2]", "a[:, None, 3]", "a[1:3, 2:5]"]
    for seed in range(120):
        r = random.Random(seed)
        program = [(r.choice(["add", "sub", "set", "mul", "read"]), r.choice(views), r.choice(views)) for _ in range(r.randint(2, 7))]
        start = values(np.dtype(r.choice(["int64", "float64", "int32"])), 36, "tame", seed).reshape(6, 6)

        def numpy_run():
            a, kept = start.copy(), []
            for what, x, y in program:
                x, y = eval(x, {"a": a}), eval(y, {"a": a})
                if what == "read":
                    kept.append(x * 2)
                    continue
                y = y.copy()
                n = min(x.shape[-1], y.shape[-1])
                x, y = x[..., :n], y.ravel()[:n]
                if what == "add":
                    x += y
                elif what == "sub":
                    x -= y
                elif what == "mul":
                    x *= 2
                else:
                    x[...] = y
            return (a, *kept)

        def kiln_view(a, text):
            if text == "a.T":
                return kiln.operations["transpose"](a)
            return kiln.index(a, text[2:-1]) if text != "a" else a

        def kiln_run():
            with kiln.scope():
                a, kept, lib = kiln.from_memory(start, 0), [], kiln.lib
                for what, x, y in program:
                    x, y = kiln_view(a, x), kiln_view(a, y)
                    if what == "read":
                        kept.append(kiln.operations["multiply"](x, 2))
                        continue
                    n = min(lib.kn_len(x, -1), lib.kn_len(y, -1))
                    x, y = kiln.index(x, "..., :n", n=n), kiln.index(kiln.operations["ravel"](y), ":n", n=n)
                    if what == "add":
                        lib.kn_iadd(x, y)
                    elif what == "sub":
                        lib.kn_isub(x, y)
                    elif what == "mul":
                        lib.kn_imul(x, kiln.array(2))
                    else:
                        lib.kn_assign(x, y)
                return tuple(kiln.numpy(h) for h in (a, *kept))
        run(f"{seed}: {program}", kiln_run, numpy_run)


def every_name():
    """NumPy's elementwise functions, by the list of their names."""
    results.start("names of elementwise functions")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ufunc_names.txt"), encoding="utf-8") as f:
        names = f.read().split()
    known = {name for row in kiln.rows for name in (row["name"], row["numpy"], *row["aliases"])}
    results.complaints += [f"{name} is missing" for name in names if name not in known]
    theirs = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)} - LATER_NUMPY
    results.complaints += [f"NumPy has {name}" for name in sorted(theirs - known)]


LATER_NUMPY = {"isnat", "matvec", "vecmat"}            # of dates; products that matmul has


def everything(only):
    for row in kiln.rows:
        if only and row["name"] not in only and row["numpy"] not in only:
            continue
        name = row["numpy"]
        if row["name"] in ELSEWHERE:
            continue
        if row["kind"] == "ufunc":
            arguments = [p for p in row["params"] if p["argument"]]
            (unary if len(arguments) == 1 else binary)(row, name, numpy_function(name))
        elif row["name"] in CALLS:
            other_operation(row)
        else:
            results.start(row["name"])
            results.complaints.append("no call in this test")
    coverage(only)
    every_name()
    for more in (ufunc_options, ufunc_methods, indexing, updates, sequences):
        if not only or more.__name__ in only:
            more()
    results.finish()


def main():
    if "KILN_JIT" in os.environ:
        everything(sys.argv[1:])
        print(f"{results.cases} cases, {results.unavailable} not available (KILN_JIT={os.environ['KILN_JIT']}, one in {SAMPLE})")
        print(f"{results.passed} passed, {results.failed} failed")
        return results.failed > 0
    passed = failed = 0
    for mode, sample, more in (("never", 1, {}), ("always", 12, {}), ("never", 5, {"KILN_TEST_SOURCE": "1"})):
        done = subprocess.run([sys.executable, *sys.argv], env={**os.environ, "KILN_JIT": mode, "KILN_SAMPLE": str(sample), **more}, capture_output=True, text=True)
        lines = (done.stdout + done.stderr).splitlines()
        words = lines[-1].split() if lines else []
        if len(words) == 4 and words[1] == "passed,":
            passed, failed = passed + int(words[0]), failed + int(words[2])
            lines = lines[:-1]
        else:
            failed += 1
            lines.append(f"KILN_JIT={mode}: no total; status {done.returncode}")
        print("\n".join(lines))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
