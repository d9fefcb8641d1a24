"""Accuracy of the device functions of floats: errors in units of the last place against mpmath, and in bulk against long double.

Operands: every binade, intervals where functions are interesting, neighbours of special points, special values. Fails where
a bound is passed; --table prints the errors of compiled functions. KILN_ACCURACY=n: more operands."""
# time-out: 300
import math
import os
import subprocess
import sys

import numpy as np

try:
    import mpmath
    from mpmath import mp, mpf
except ImportError:
    mpmath = None

import device_functions as device
from device_functions import Counts, Unavailable, call, errors, patterns, specials, split, symbol_of

N = int(os.environ.get("KILN_ACCURACY", "60"))      # operands of each kind for mpmath
BULK = 200 * N
LONG = np.finfo(np.longdouble).nmant >= 63

# ---- functions: exact value, long double, intervals, special points, bounds (float32, float64) ----


def logaddexp(a, b):
    return max(a, b) + mp.log1p(mp.exp(-abs(a - b)))


def logaddexp2(a, b):
    return max(a, b) + mp.log1p(mpf(2) ** -abs(a - b)) / mp.log(2)


def real(f):
    """f, NaN where it leaves the real line or has a pole."""
    def g(*x):
        try:
            y = f(*x)
        except (ValueError, ZeroDivisionError):
            return mp.nan
        return mp.nan if isinstance(y, mpmath.mpc) and y.imag != 0 else mp.mpf(getattr(y, "real", y))
    return g


def row(exact, bulk=None, near=(), spans=(), bounds=(1.0, 2.0)):
    return exact, bulk, near, spans, bounds


def erfinv(x):
    return mp.erfinv(x) if abs(x) < 1 else mp.nan if abs(x) > 1 else mp.inf * mp.sign(x)


def erfcinv(q):
    """By Newton's method from the formula for large arguments: mpmath has none."""
    if q <= 0 or q >= 2:
        return mp.nan if q < 0 or q > 2 else mp.inf * (1 if q == 0 else -1)
    if q > 1:
        return -erfcinv(2 - q)
    y = mp.sqrt(-mp.log(q))
    for _ in range(60):
        step = (mp.erfc(y) - q) / (-2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y -= step / (1 + y * step)
        if abs(step) < mpf(10) ** -40 * abs(y):
            break
    return y


ROWS = {} if mpmath is None else {
    "exp": row(mp.exp, np.exp, [0, 709.782712893384, -708.396, -745.13, 88.72, -87.33, -103.97], [(-20, 20), (-745, 710), (-104, 89), (-1, 1)]),
    "exp2": row(lambda x: mpf(2) ** x, np.exp2, [0, 1024, -1022, -1074, 128, -126, -149.5], [(-20, 20), (-1075, 1024), (-150, 128), (-1, 1)]),
    "expm1": row(mp.expm1, np.expm1, [0, 709.78, -37.4, 88.7, -17.3, .3466, -.3466, .5, -.5], [(-40, 40), (-1, 1), (-1, 700)]),
    "log": row(mp.log, np.log, [1, .70710678, 1.41421356], [(.5, 2), (0, 100), (.99, 1.01)]),
    "log2": row(lambda x: mp.log(x) / mp.log(2), np.log2, [1, .70710678, 1.41421356, 2, 4, .5], [(.5, 2), (0, 100), (.99, 1.01)]),
    "log10": row(lambda x: mp.log(x) / mp.log(10), np.log10, [1, .70710678, 10, 100, 1000, 1e5, .1], [(.5, 2), (0, 100), (.99, 1.01)]),
    "log1p": row(mp.log1p, np.log1p, [0, -1, -.29289322, .41421356, 1], [(-1, 1), (-.5, .5), (0, 100)]),
    "sin": row(mp.sin, np.sin, [k * np.pi / 4 for k in (*range(-9, 10), 100, 1000, 4001, 1e6 // 1, 2**20)], [(-1, 1), (-10, 10), (-1000, 1000), (-1e6, 1e6)]),
    "cos": row(mp.cos, np.cos, [k * np.pi / 4 for k in (*range(-9, 10), 100, 1000, 4002, 1e6 // 1, 2**20)], [(-1, 1), (-10, 10), (-1000, 1000), (-1e6, 1e6)]),
    "tan": row(mp.tan, np.tan, [k * np.pi / 4 for k in (*range(-9, 10), 100, 1000, 4002, 1e6 // 1, 2**20)], [(-1, 1), (-10, 10), (-1000, 1000), (-1e6, 1e6)]),
    "arcsin": row(real(mp.asin), np.arcsin, [.5, 1, -1, .7071067811865476], [(-1, 1), (-.1, .1), (.9, 1)]),
    "arccos": row(real(mp.acos), np.arccos, [.5, -.5, 1, -1, 0, .7071067811865476], [(-1, 1), (-.1, .1), (.9, 1), (-1, -.9)]),
    "arctan": row(mp.atan, np.arctan, [1, .125, .375, .625, .875, 8], [(-1, 1), (-10, 10), (-.1, .1)]),
    "sinh": row(mp.sinh, np.sinh, [0, 1, 710.47, 709.78, 89.4, 88.7], [(-1, 1), (-22, 22), (-710.5, 710.5), (-89.5, 89.5)]),
    "cosh": row(mp.cosh, np.cosh, [0, 1, 710.47, 709.78, 89.4, 88.7], [(-1, 1), (-22, 22), (-710.5, 710.5), (-89.5, 89.5)]),
    "tanh": row(mp.tanh, np.tanh, [0, .5, .55, 1, 9, 19, 22], [(-1, 1), (-22, 22), (-.1, .1), (-10, 10)]),
    "arcsinh": row(mp.asinh, np.arcsinh, [0, .5, 1, 2**28, 1e9], [(-1, 1), (-10, 10), (-1e9, 1e9)]),
    "arccosh": row(real(mp.acosh), np.arccosh, [1, 2, 2**28, 1e9], [(1, 1.1), (1, 10), (1, 1e9)]),
    "arctanh": row(real(mp.atanh), np.arctanh, [0, .5, -.5, 1, -1], [(-1, 1), (-.1, .1), (.9, 1)]),
    "cbrt": row(lambda x: mp.sign(x) * mp.cbrt(abs(x)), np.cbrt, [1, 8, 27, 1e-3, 1e-300, 1e300], [(-10, 10), (.1, 8.1)]),
    "erf": row(lambda x: mp.erf(x) if abs(x) < 40 else mp.sign(x), None, [0, .5, 1, 2, 4, 5.9], [(-1, 1), (-6, 6)]),
    "erfc": row(lambda x: mp.erfc(x) if abs(x) < 40 else 1 - mp.sign(x), None, [0, .5, 1, 2, 9.2, 10.06, 26.5, 27.2], [(-1, 1), (-6, 6), (0, 27)], bounds=(1.0, 2.0)),
    "erfinv": row(erfinv, None, [0, .5, -.5, 1, -1, .99], [(-1, 1), (-.1, .1), (.9, 1)], bounds=(1.0, 2.0)),
    "erfcinv": row(lambda q: erfinv(1 - q) if .25 < q < 1.75 else erfcinv(q), None, [0, .5, 1, 1.5, 2, 1e-300, 1e-20], [(0, 2), (0, 1e-3), (1.9, 2)], bounds=(1.0, 2.0)),
    "expit": row(lambda x: 1 / (1 + mp.exp(-x)) if abs(x) < 1000 else (1 + mp.sign(x)) / 2, None, [0, 1, -1, 36, -745, -700, 88, -87], [(-20, 20), (-745, 710)], bounds=(1.0, 2.0)),
    "i0": row(lambda x: mp.besseli(0, x), None, [0, 8, 12, 30, 700, 713.9, 88], [(-10, 10), (0, 100), (100, 713)]),
}
PAIRS = {} if mpmath is None else {
    "arctan2": row(lambda y, x: mp.atan2(y, x), np.arctan2, [0, 1, -1, 2, 1e-300], [(-1, 1), (-100, 100)]),
    "hypot": row(mp.hypot, np.hypot, [0, 3, 4, 1e-300, 1e300, 1e200], [(-1, 1), (-100, 100)]),
    "power": row(real(lambda x, y: x ** y), np.power, [1, 2, .5, 2.4, -2, 3, 1024, 1.0001], [(0, 2), (.5, 1.5), (-50, 50), (0, 200)]),
    "logaddexp": row(logaddexp, np.logaddexp, [0, 1, -1, 700], [(-1, 1), (-40, 40), (-1000, 1000)]),
    "logaddexp2": row(logaddexp2, np.logaddexp2, [0, 1, -1, 700], [(-1, 1), (-40, 40), (-1000, 1000)]),
}


# ---- operands ----

def near(points, dtype, steps=3):
    with np.errstate(over="ignore"):
        v = np.array(points, np.float64).astype(dtype)
    all_of = [v]
    up = down = v
    for _ in range(steps):
        up, down = np.nextafter(up, dtype(np.inf)), np.nextafter(down, dtype(-np.inf))
        all_of += [up, down]
    return np.concatenate(all_of)


def operands(name, dtype, n, rng):
    _, _, points, spans, _ = (ROWS | PAIRS)[name]
    parts = [patterns(dtype, n, rng), near(points, dtype), specials(dtype)]
    parts += [rng.uniform(low, high, n).astype(dtype) for low, high in spans]
    x = np.concatenate(parts)
    if name in ROWS:
        return (x,)
    y = rng.permutation(x)
    small = np.concatenate([near(points, dtype), specials(dtype)])
    a, b = np.meshgrid(small, small[::2])
    x, y = np.concatenate([x, a.reshape(-1)]), np.concatenate([y, b.reshape(-1)])
    if name == "power":                              # most random pairs overflow: exponents that do not
        base = patterns(dtype, n, rng, 0, np.finfo(dtype).max)
        with np.errstate(all="ignore"):
            reach = np.log(np.finfo(dtype).max) / np.abs(np.log(base.astype(np.float64)))
        fit = (rng.uniform(-1.08, 1, n) * np.minimum(reach, 1e6)).astype(dtype)
        x, y = np.concatenate([x, base]), np.concatenate([y, fit])
    if name in ("logaddexp", "logaddexp2"):          # close to each other, where there is something to add
        a = rng.uniform(-50, 50, n).astype(dtype)
        x, y = np.concatenate([x, a]), np.concatenate([y, (a + rng.uniform(-40, 40, n)).astype(dtype)])
    return x, y


def exact_values(name, dtype, x):
    """near, rest of the exact values; special operands as long double or C's Annex F have it."""
    f = (ROWS | PAIRS)[name][0]
    values, rests = np.empty(x[0].size, dtype), np.zeros(x[0].size)
    for i, operand in enumerate(zip(*x)):
        if special := special_value(name, *operand):
            values[i] = special[0]
            continue
        mp.prec = 140
        size = max(abs(float(v)) for v in operand)
        if name in ("sin", "cos", "tan") or size < 1e-30:
            mp.prec = 1300 if size > 1e5 else 400
        values[i], rests[i] = split(f(*(mpf(float(v)) for v in operand)), dtype)
    return values, rests


def special_power(x, y):
    """C's pow at zeros, infinities and NaNs, and where the exponent alone decides."""
    if x == 0 and y < 0 and np.isfinite(y):
        return (math.copysign(math.inf, x) if y % 2 == 1 else math.inf,)
    if not (np.isfinite(x) and np.isfinite(y)) or x in (0, 1) or y == 0:
        return (math.pow(x, y),)
    if abs(y * math.log(abs(x))) > 2000 and (x > 0 or y == math.floor(y)):
        size = math.inf if (abs(x) > 1) == (y > 0) else 0.0
        return (-size if x < 0 and y % 2 == 1 else size,)
    return None


def special_value(name, *x):
    """The value at zeros, infinities and NaNs, which mpmath does not know in NumPy's way; None elsewhere."""
    with np.errstate(all="ignore"):
        if name in PAIRS:
            if name == "power":
                return special_power(*map(float, x))
            if all(np.isfinite(v) and v != 0 for v in x):
                return None
            return (PAIRS[name][1](*(np.float64(v) for v in x)),)
        v = np.float64(x[0])
        if np.isfinite(v) and (v != 0 or name in ("exp", "exp2", "cos", "cosh", "arccos")) and not (name == "arctanh" and abs(v) == 1):
            if name.startswith("log") and name != "log1p":
                return (np.nan,) if v < 0 else None
            if name == "log1p" and v <= -1:
                return (np.nan if v < -1 else -np.inf,)
            if name == "exp" or name == "exp2" or name == "sinh" or name == "cosh" or name == "expm1" or name == "i0":
                if v > 2000:
                    return (np.inf,)
                if v < -2000 and name in ("exp", "exp2"):
                    return (0.0,)
                if v < -2000:
                    return {"sinh": (-np.inf,), "cosh": (np.inf,), "expm1": (-1.0,), "i0": (np.inf,)}[name]
            if name == "tanh" and abs(v) > 2000:
                return (np.sign(v),)
            return None
        if ROWS[name][1]:
            return (ROWS[name][1](v),)
        if name == "i0" and np.isinf(v):             # SciPy has NaN
            return (np.inf,)
        if v == 0 and name in ("erf", "erfinv"):
            return (v,)
        from scipy import special
        return (getattr(special, name)(v),)


# ---- measuring ----

def worst_of(name, have, values, rests, x):
    e = errors(have, values, rests)
    if name in ("logaddexp", "logaddexp2"):          # sums that cancel: in units of the larger operand
        with np.errstate(all="ignore"):
            size = device.spacing(np.maximum(np.abs(x[0]), np.abs(x[1])))
            finer = np.isfinite(values) & np.isfinite(size) & np.isfinite(e)
            e = np.where(finer, e * np.minimum(1, device.spacing(values) / np.where(finer, size, 1)), e)
    e[(have == 0) & (values == 0) & (np.signbit(have) != np.signbit(values)) & (rests == 0)] = np.inf
    i = int(np.argmax(e))
    return float(e[i]), tuple(v[i] for v in x), have[i], values[i]


def bulk_values(name, dtype, x):
    f = (ROWS | PAIRS)[name][1]
    if f is None or not LONG:
        return None
    with np.errstate(all="ignore"):
        exact = f(*(v.astype(np.longdouble) for v in x))
        values = exact.astype(dtype)
        rests = np.where(np.isfinite(exact) & np.isfinite(values), (exact - values) / device.spacing(values), 0)
    return values, rests


def measure(name, dtype, how, seed):
    rng = np.random.default_rng(seed)
    symbol = symbol_of(name, *([dtype] * (1 if name in ROWS else 2)))
    if symbol is None:
        return None
    x = operands(name, dtype, N, rng)
    worst = worst_of(name, call(symbol, *x, how=how), *exact_values(name, dtype, x), x)
    many = operands(name, dtype, BULK, rng) if BULK > N else x
    found = bulk_values(name, dtype, many)
    if found:
        other = worst_of(name, call(symbol, *many, how=how), *found, many)
        worst = max(worst, other, key=lambda w: w[0])
    return worst


def main():
    counts, table, only = Counts(), {}, [a for a in sys.argv[1:] if not a.startswith("-")]
    hows = os.environ.get("KILN_ACCURACY_RUNS", "llvm" if "--table" in sys.argv else "reference,llvm").split(",")
    for how in hows:
        for name, (*_, bounds) in (ROWS | PAIRS).items():
            if only and name not in only:
                continue
            for dtype, bound in zip((np.float32, np.float64), bounds):
                try:
                    worst = measure(name, dtype, how, 7)
                except Unavailable as e:
                    print("not run:", e)
                    break
                if worst is None:
                    counts.check(False, f"{name} of {np.dtype(dtype).name} does not exist")
                    continue
                error, operand, have, want = worst
                table[name, dtype] = error
                counts.check(error <= bound, f"{how} {name} {np.dtype(dtype).name}: {error:.3f} ulp at {operand}: {have!r}, not {want!r}")
    if "--table" in sys.argv:
        for name in ROWS | PAIRS:
            if (name, np.float64) in table:
                print(f"| `{name}` | {table[name, np.float32]:.3f} | {table[name, np.float64]:.3f} |")
    counts.finish()


if mpmath is None:
    print("not run: mpmath is not installed")
    print("0 passed, 0 failed")
elif __name__ == "__main__":
    main()
