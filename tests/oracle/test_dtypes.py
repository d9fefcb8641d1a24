"""Dtypes, promotion, casting rules and casts of elements, compared with NumPy 2 and ml_dtypes."""
# also under sanitizers
import functools
import os
import subprocess
import warnings

import ml_dtypes
import numpy as np

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests/oracle/dtypes")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
DTYPES = {n: BFLOAT16 if n == "bfloat16" else np.dtype(n) for n in NAMES}

np.seterr(all="ignore")
warnings.simplefilter("ignore")
passed = failed = 0


def expect(condition, *what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("FAIL", *what)


def program(*arguments, data=None):
    return subprocess.run([PROGRAM, *arguments], input=data, capture_output=True, check=True).stdout


def rows(*arguments):
    return [line.split() for line in program(*arguments).decode().splitlines()]


def is_integer(name):
    return "int" in name


def is_complex(name):
    return name.startswith("complex")


# ---- promotion and casting rules ----

def test_promotion():
    found = rows("promote")
    expect(len(found) == 225, "pairs", len(found))
    for a, b, got in found:
        want = np.promote_types(DTYPES[a], DTYPES[b])
        expect(DTYPES[got] == want, f"promote {a} {b}: {got}, NumPy {want}")


def test_weak_promotion():
    numbers = {"bool": True, "int": 1, "uint": 2**63, "float": 1.0, "complex": 1j}
    for strong, kind, got in rows("weak"):
        want = np.result_type(np.zeros(1, DTYPES[strong]), numbers["int" if kind == "uint" and strong != "bool" else kind])
        if kind == "uint" and strong == "bool":
            want = np.dtype("uint64")  # NumPy refuses this one; the default of a large integer
        expect(DTYPES[got] == want, f"promote {strong} with a Python {kind}: {got}, NumPy {want}")


def test_can_cast():
    found = rows("cancast")
    expect(len(found) == 225 * 5, "combinations", len(found))
    for a, b, rule, got in found:
        want = np.can_cast(DTYPES[a], DTYPES[b], rule)
        expect(bool(int(got)) == want, f"can_cast {a} to {b}, {rule}: {got}, NumPy {want}")


def test_names():
    codes = list("?bBhHiIlLqQpPnNefdFD") + ["b1"] + [f"{k}{s}" for k, sizes in
                                                     {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}.items() for s in sizes]
    names = [n for n in NAMES] + codes + [order + c for order in "<>=|" for c in codes] + [
        "bool_", "byte", "short", "intc", "int", "int_", "intp", "long", "longlong", "ubyte", "ushort", "uintc", "uint", "uintp",
        "ulong", "ulonglong", "half", "single", "double", "float", "csingle", "cdouble", "complex",
        "bool8", "float_", "complex_", "int0", "<float32", ">int", "=bool", "Float32", " f8", "f8 ", "u", "U", "c", "S", "O", "M", "m",
        "f16", "f3", "i16", "i0", "b2", "c4", "f", "f44", "str", "object", "longdouble", "g", "G", "V8", "1f8", "f4f4", "<", "=", "i-1", "f4,"]
    found = program("named", *names).decode().splitlines()
    expect(len(found) == len(names), "names", len(found))
    for name, got in zip(names, found):
        try:
            want = np.dtype(name)
            want = want.name if want.name in DTYPES and want.isnative else "unset"
        except TypeError:
            want = "unset"
        expect(got == want, f"dtype {name!r}: {got}, NumPy {want}")


# ---- casts ----

@functools.cache
def values_of(name):
    """Elements of a dtype that are worth casting: limits, powers of two and their neighbours, random ones."""
    dtype = DTYPES[name]
    rng = np.random.default_rng(len(name) + ord(name[-1]))
    if name == "bool":
        return np.array([False, True])
    if is_integer(name):
        info = np.iinfo(dtype)
        powers = [s * (1 << p) + d for p in range(64) for d in (-1, 0, 1) for s in (1, -1)]
        powers += [s * ((1 << p) + (1 << q) + d) for p in range(8, 64) for q in range(max(0, p - 26), p) for d in (-1, 0, 1) for s in (1, -1)]
        powers = [v for v in powers + [info.min, info.max] if info.min <= v <= info.max]
        random = rng.integers(info.min, info.max, 500, dtype=dtype, endpoint=True) >> rng.integers(0, dtype.itemsize * 8, 500).astype(dtype)
        return np.concatenate([np.array(powers, dtype), random])
    if is_complex(name):
        part = values_of("float32" if name == "complex64" else "float64")
        return (part[: len(part) // 2] + 0j + 1j * part[: len(part) // 2][::-1]).astype(dtype)
    if dtype.itemsize == 2:
        return np.arange(65536, dtype=np.uint16).view(dtype)
    bits = np.uint32 if name == "float32" else np.uint64
    random = rng.integers(0, np.iinfo(bits).max, 4000, dtype=bits).view(dtype)
    near = [s * (2.0**p + d * 2.0**(p - q)) for p in range(-30, 66) for q in (8, 9, 11, 12, 24, 25, 40, 53) for d in (-1, 0, 1) for s in (1, -1)]
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.99, 65520, 3.4e38, 3.39e38, 2.0**-24, 2.0**-25, 2.0**-25 * 1.0001, 1e-39, 1e-45]
    halves = np.arange(0, 65536, 7, dtype=np.uint16).view(np.float16).astype(np.float64)
    mids = (halves + np.nextafter(halves.astype(np.float16), np.float16(np.inf)).astype(np.float64)) / 2
    brains = np.arange(0, 65536, 7, dtype=np.uint16).view(BFLOAT16).astype(np.float64)
    return np.concatenate([random, np.array(near + edges).astype(dtype), mids.astype(dtype), (brains * (1 + 2.0**-9)).astype(dtype)])


def cast_by_rule(values, to):
    """What the library documents: truncate to int64 and wrap; NaN and overflow give the lowest int64."""
    out = []
    for v in values:
        if v != v or not -2.0**63 <= v < (2.0**64 if to == "uint64" else 2.0**63):
            n = -2**63
        else:
            n = int(v)
        bits = DTYPES[to].itemsize * 8
        n &= (1 << bits) - 1
        out.append(n - (1 << bits) if not to.startswith("u") and n >> (bits - 1) else n)
    return np.array(out, DTYPES[to])


def nearest_bfloat16(values):
    """Rounds Python integers once, exactly."""
    out = []
    for v in values:
        n, shift = abs(v), max(0, abs(v).bit_length() - 8)
        kept, rest, half = n >> shift, n & ((1 << shift) - 1), (1 << shift) >> 1
        if shift and (rest > half or (rest == half and kept & 1)):
            kept += 1
        out.append((-1 if v < 0 else 1) * float(kept << shift))
    return np.array(out, np.float64).astype(BFLOAT16)


def expected_cast(values, source, target):
    floating = not (source == "bool" or is_integer(source))
    if is_integer(target) and floating:
        real = values.real if is_complex(source) else values.astype(np.float64)
        return cast_by_rule(real.astype(np.float64).tolist(), target)
    if target == "bool" and is_complex(source):
        return (values.real != 0) | (values.imag != 0)
    if is_complex(source) and not is_complex(target):
        return expected_cast(values.real, "float32" if source == "complex64" else "float64", target)
    if target == "bfloat16" and is_integer(source):
        return nearest_bfloat16(values.tolist())
    return values.astype(DTYPES[target])


def same(a, b):
    """Equal, the sign of zero included; any NaN equals any other."""
    if is_complex(a.dtype.name):
        return same(a.real, b.real) & same(a.imag, b.imag)
    if a.dtype.kind in "biu":
        return a == b
    a, b = a.astype(np.float64), b.astype(np.float64)
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))


def test_casts():
    for source in NAMES:
        values = values_of(source)
        for target in NAMES:
            got = np.frombuffer(program("cast", source, target, data=values.tobytes()), DTYPES[target])
            want = expected_cast(values, source, target)
            good = len(got) == len(want) and same(got, want)
            at = None if np.all(good) else int(np.argmin(good))
            expect(at is None, f"cast {source} to {target}:", at if at is None else f"{values[at]!r} gave {got[at]!r}, expected {want[at]!r}")


def test_casts_in_range_are_numpys():
    """The documented rule and NumPy agree where the value fits."""
    for source in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        for target in NAMES:
            if not is_integer(target):
                continue
            info = np.iinfo(target)
            values = values_of(source)
            real = (values.real if is_complex(source) else values).astype(np.float64)
            whole = np.trunc(real)
            values = values[(whole >= info.min) & (whole < float(info.max) + (info.bits < 64))]
            want = values.astype(target)
            got = np.frombuffer(program("cast", source, target, data=values.tobytes()), target)
            expect(len(values) > 10 and np.array_equal(got, want), f"cast {source} to {target} in range")


for test in (test_promotion, test_weak_promotion, test_can_cast, test_names, test_casts, test_casts_in_range_are_numpys):
    test()
print(f"{passed} passed, {failed} failed")
raise SystemExit(failed != 0)
