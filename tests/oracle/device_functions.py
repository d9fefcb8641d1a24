"""Device functions as Python calls, and what tests of them share: operands, units of the last place, counting."""
import os
import struct
import subprocess
import sys

import numpy as np

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests", "oracle", "device")
MISSING = 77                                         # exit status: LLVM is not there


class Unavailable(Exception):
    pass


def functions():
    """symbol -> (name, operand dtypes, result dtypes, cost, instructions)"""
    out = subprocess.run([PROGRAM, "list"], check=True, capture_output=True, text=True).stdout
    table = {}
    for line in out.splitlines():
        symbol, name, takes, gives, cost, size = line.split(" ")
        table[symbol] = (name, [np.dtype(t) for t in takes.split(",") if t], [np.dtype(t) for t in gives.split(",")], int(cost), int(size))
    return table


TABLE = functions()
BY_DTYPES = {(name, tuple(takes)): symbol for symbol, (name, takes, *_) in TABLE.items()}


def symbol_of(name, *dtypes):
    return BY_DTYPES.get((name, tuple(np.dtype(d) for d in dtypes)))


def call(symbol, *operands, how="reference"):
    """The function's results for arrays of operands: one array, or a tuple."""
    _, takes, gives, *_ = TABLE[symbol]
    operands = [np.ascontiguousarray(np.broadcast_to(x, np.broadcast_shapes(*(np.shape(o) for o in operands))).reshape(-1), t) for x, t in zip(operands, takes, strict=True)]
    n = operands[0].size
    done = subprocess.run([PROGRAM, how, symbol, str(n)], input=b"".join(x.tobytes() for x in operands), capture_output=True, check=False)
    if done.returncode == MISSING:
        raise Unavailable(done.stderr.decode())
    if done.returncode:
        raise RuntimeError(f"{symbol}: {done.stderr.decode()}")
    results, at = [], 0
    for t in gives:
        results.append(np.frombuffer(done.stdout, t, n, at))
        at += n * t.itemsize
    return results[0] if len(results) == 1 else tuple(results)


# ---- operands ----

def part(dtype):
    return {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}.get(np.dtype(dtype), np.dtype(dtype))


def patterns(dtype, n, rng, low=None, high=None):
    """n floats, every exponent equally likely, both signs, within [low, high] where given."""
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    found = np.empty(0, dtype)
    while found.size < n:
        x = rng.integers(0, np.iinfo(unsigned).max, 4 * n, unsigned, endpoint=True).view(dtype)
        x = x[np.isfinite(x)]
        if low is not None:
            x = x[(x >= low) & (x <= high)]
        found = np.concatenate([found, x])
    return found[:n]


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, 3.0, -3.0, 0.75, 1e-300, -1e-300, 1e300, -1e300, 5e-324,
           -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-45, 1.1754943508222875e-38, 3.4028234663852886e38, 100.0, 1e6, 1e22]


def specials(dtype):
    with np.errstate(all="ignore"):
        return np.array(SPECIAL).astype(dtype)


# ---- errors ----

def split(exact, dtype):
    """A number of mpmath as a float of dtype and the rest, in units of its last place."""
    import mpmath
    if mpmath.isnan(exact) or mpmath.isinf(exact):
        return float(exact), 0.0
    digits, lowest = {4: (24, -149), 8: (53, -1074)}[np.dtype(dtype).itemsize]
    if exact == 0:
        return 0.0, 0.0
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))) - digits + 1, lowest)
    scaled = mpmath.ldexp(exact, -exponent)
    whole = mpmath.nint(scaled)
    value = mpmath.ldexp(whole, exponent)
    if abs(value) >= mpmath.ldexp(1, {4: 128, 8: 1024}[np.dtype(dtype).itemsize]):
        return float(mpmath.sign(exact)) * float("inf"), 0.0
    return float(value), float(scaled - whole)


def spacing(x):
    """The unit of the last place of every finite x."""
    x = np.abs(x)
    return np.where(x == 0, np.finfo(x.dtype).smallest_subnormal, np.spacing(x, where=np.isfinite(x), out=np.ones_like(x)))


def errors(have, near, rest):
    """Distances of have from near + rest units of the last place, in those units; infinite where NaNs, infinities or the sign differ."""
    with np.errstate(all="ignore"):
        near = np.asarray(near, have.dtype)
        unit = spacing(near).astype(np.longdouble)
        distance = np.abs((have.astype(np.longdouble) - near.astype(np.longdouble)) / unit - np.asarray(rest, np.longdouble))
    special = ~(np.isfinite(near) & np.isfinite(have))
    same = (np.isnan(near) & np.isnan(have)) | (near == have)
    # next to the largest finite value an infinity is one unit away
    top = np.isfinite(near) & np.isinf(have) & (np.abs(near) == np.finfo(have.dtype).max) & (np.sign(near) == np.sign(have))
    top |= np.isfinite(have) & np.isinf(near) & (np.abs(have) == np.finfo(have.dtype).max) & (np.sign(near) == np.sign(have))
    distance = np.where(special, np.where(same, 0.0, np.where(top, 1.0, np.inf)), distance)
    return distance.astype(np.float64)


# ---- counting ----

class Counts:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print("FAILED", what)
        return good

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def shown(x):
    return f"{x!r} ({struct.pack('>d', float(x)).hex()})" if isinstance(x, np.floating) else repr(x)
