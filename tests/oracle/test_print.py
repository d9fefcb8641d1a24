"""Arrays, scalars and numbers as text, compared with NumPy 2, ml_dtypes and Python."""
# also under sanitizers
import ctypes
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests/oracle/printing")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SANITIZED = bool(os.environ.get("KILN_SANITIZER"))
FEWER = 10 if SANITIZED else 1
NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
DTYPES = {n: BFLOAT16 if n == "bfloat16" else np.dtype(n) for n in NAMES}
FLOATS = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
FLOATMODES = ["fixed", "unique", "maxprec", "maxprec_equal"]

np.seterr(all="ignore")
# NumPy 2.4 shows ml_dtypes' own repr, dtype(bfloat16), where ml_dtypes documents the name, as earlier releases showed it.
np._core.arrayprint.dtype_short_repr = lambda t, numpys=np._core.arrayprint.dtype_short_repr: "bfloat16" if t == BFLOAT16 else numpys(t)
rng = np.random.default_rng(20240607)
pick = random.Random(7)
cases = []      # (what it is, bytes for the program, the text that is wanted)


def add(what, line, want, data=b""):
    cases.append((what, line.encode() + b"\n" + data, want))


def add_array(a, mode, **options):
    """One array, printed by NumPy with the same options. The bytes sent are those of the memory that a looks at."""
    o = dict(np.get_printoptions(), **options)
    with np.printoptions(**options):
        want = {"str": str, "repr": repr, "list": lambda v: np.array2string(v, separator=", ")}[mode](a)
    low = sum(min(0, (n - 1) * s) for n, s in zip(a.shape, a.strides)) if a.size else 0
    high = sum(max(0, (n - 1) * s) for n, s in zip(a.shape, a.strides)) + a.itemsize if a.size else 0
    flat = np.lib.stride_tricks.as_strided(a, shape=(), strides=()) if a.size else a
    address = flat.__array_interface__["data"][0] + low
    data = (ctypes.string_at(address, high - low) if a.size else b"")
    words = ["array", mode, a.dtype.name, a.ndim, *a.shape, *a.strides, -low, len(data),
             min(o["threshold"], 2**62) if options else -1, o["edgeitems"], o["linewidth"],
             o["precision"], int(o["suppress"]), o["sign"].replace(" ", "_"),
             FLOATMODES.index(o["floatmode"]), o["nanstr"], o["infstr"]]
    add(f"{mode} of {a.dtype.name}{a.shape} {options}", " ".join(map(str, words)), want, data)


# ---- values that make trouble ----

def random_floats(name, shape, style):
    """Floats of one of several kinds, as float64 or in the dtype itself."""
    n = int(np.prod(shape))
    if style == "bits":
        size = FLOATS[name]
        v = rng.integers(0, 256, n * size, dtype=np.uint8).view(DTYPES[name])
    elif style == "normal":
        v = rng.standard_normal(n) * 10.0 ** pick.randint(-6, 9)
    elif style == "wide":
        v = rng.standard_normal(n) * 10.0 ** rng.integers(-pick.randint(0, 12), pick.randint(1, 12), n)
    elif style == "whole":
        v = rng.integers(-1000, 1000, n) * 10.0 ** pick.randint(-2, 6)
    elif style == "short":
        v = rng.integers(-10**pick.randint(1, 5), 10**5, n) / 10.0 ** pick.randint(0, 6)
    elif style == "halves":
        v = (rng.integers(-200, 200, n) + 0.5) / 2.0 ** pick.randint(0, 12)
    elif style == "special":
        v = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.5, 1e-5, 1e10, 5e-324, 1e308], n)
    else:
        v = rng.random(n)
    v = np.asarray(v).astype(DTYPES[name])
    if pick.random() < 0.15 and n:
        v[rng.integers(0, n, max(1, n // 5))] = pick.choice([np.nan, np.inf, -np.inf, 0.0, -0.0])
    return v.reshape(shape)


STYLES = ["bits", "normal", "wide", "whole", "short", "halves", "special", "unit"]


def random_array(name, shape):
    t = DTYPES[name]
    if name == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    if t.kind in "iu":
        info = np.iinfo(t)
        if pick.random() < 0.5:
            return rng.integers(info.min, info.max, shape, dtype=t, endpoint=True)
        return rng.integers(max(info.min, -pick.choice([1, 9, 10, 100])), pick.choice([1, 9, 10, 100, 127]), shape).astype(t)
    if t.kind == "c":
        part = "float32" if name == "complex64" else "float64"
        a = np.empty(shape, t)
        a.real = random_floats(part, shape, pick.choice(STYLES))
        a.imag = random_floats(part, shape, pick.choice(STYLES))
        return a
    return random_floats(name, shape, pick.choice(STYLES))


def random_shape():
    kind = pick.random()
    if kind < 0.45:
        return (pick.randint(1, 30),)
    if kind < 0.5:
        return ()
    if kind < 0.55:
        return tuple(pick.choice([0, 1, 2, 3]) for _ in range(pick.randint(1, 4)))
    if kind < 0.8:
        return tuple(pick.randint(1, 14) for _ in range(2))
    return tuple(pick.randint(1, 4) for _ in range(pick.randint(3, 6)))


def random_view(a):
    """The same kind of array through other strides."""
    for axis in range(a.ndim):
        if pick.random() < 0.2:
            a = np.flip(a, axis)
        if pick.random() < 0.2 and a.shape[axis] > 2:
            a = a[(slice(None),) * axis + (slice(None, None, 2),)]
    if a.ndim > 1 and pick.random() < 0.3:
        a = a.transpose(pick.sample(range(a.ndim), a.ndim))
    if a.ndim and pick.random() < 0.1:
        a = np.broadcast_to(a, (2,) + a.shape)
    return a


def random_options():
    o = {}
    if pick.random() < 0.4:
        o["precision"] = pick.choice([0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 20, 40])
    if pick.random() < 0.3:
        o["suppress"] = True
    if pick.random() < 0.3:
        o["sign"] = pick.choice("-+ ")
    if pick.random() < 0.5:
        o["floatmode"] = pick.choice(FLOATMODES)
    if pick.random() < 0.3:
        o["linewidth"] = pick.choice([1, 10, 20, 40, 60, 74, 76, 120, 1000])
    if pick.random() < 0.3:
        o["threshold"] = pick.choice([0, 1, 5, 10, 50, 10**9])
    if pick.random() < 0.3:
        o["edgeitems"] = pick.choice([0, 1, 2, 3, 4, 10])
    if pick.random() < 0.1:
        o["nanstr"] = pick.choice(["NaN", "x", "missing_value"])
        o["infstr"] = pick.choice(["Inf", "oo", "very_large_value"])
    return o


# ---- what is compared ----

def arrays_with_defaults():
    for name in NAMES:
        for _ in range(250 // FEWER):
            a = random_view(random_array(name, random_shape()))
            for mode in ("str", "repr"):
                add_array(a, mode)


def arrays_with_options():
    for name in NAMES:
        for _ in range(450 // FEWER):
            add_array(random_view(random_array(name, random_shape())), pick.choice(["str", "repr", "list"]), **random_options())


def summarised_arrays():
    shapes = [(1000,), (1001,), (2000,), (40, 40), (3, 400), (400, 3), (6, 167), (7, 150), (11, 11, 11), (2, 2, 300), (300, 2, 2),
              (5, 5, 5, 10), (0, 2000), (1, 1, 2000), (2000, 1, 1), (8, 1, 8, 1, 20)]
    for name in NAMES if not SANITIZED else NAMES[::3]:
        for shape in shapes:
            a = random_array(name, shape)
            add_array(a, "str")
            add_array(a, "repr")
            add_array(random_view(a), pick.choice(["str", "repr", "list"]), **random_options())
    big = np.broadcast_to(np.float32(1.5), (10**6, 10**6))
    add_array(big, "repr")


def every_16_bit_float():
    for name in ("float16", "bfloat16"):
        values = np.arange(65536, dtype=np.uint16).view(DTYPES[name])
        for i in range(0, 65536, 16 * FEWER * FEWER):
            add_array(values[i:i + 16], "str", floatmode="unique")


def line_breaks():
    """Widths around every column where a line may break."""
    for width in range(1, 60, 1 if not SANITIZED else 7):
        for a in (np.arange(12), np.arange(12.0) / 8, np.array([[1 + 2j, 3.25 - 4j], [5j, 6]]), np.arange(4) > 2,
                  np.zeros((2, 3), np.float32), np.zeros((0, 3)), np.zeros((1, 1, 2), np.int8)):
            for mode in ("str", "repr", "list"):
                add_array(a, mode, linewidth=width)


def scalars():
    for name in NAMES:
        t = DTYPES[name]
        for _ in range(400 // FEWER):
            a = random_array(name, (1,))
            for mode, f in (("str", str), ("repr", repr)):
                add(f"{mode} of the scalar {a.tobytes().hex()} of {name}", f"scalar {mode} {name}", f(a[0]), a.tobytes())
        if t.kind == "c":
            specials = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e16, 1e-5]
            for re in specials:
                for im in specials:
                    a = np.array([0], t)
                    a.real, a.imag = re, im
                    for mode, f in (("str", str), ("repr", repr)):
                        add(f"{mode} of {name} {re} {im}", f"scalar {mode} {name}", f(a[0]), a.tobytes())


def doubles(n):
    """Doubles of every exponent, powers of two and of ten and their neighbours, and short decimals."""
    bits = rng.integers(0, 2**64, n, dtype=np.uint64)
    out = bits.view(np.float64).tolist()
    for e in range(-1074, 1024):
        out.append(2.0 ** e if e > -1023 else 5e-324 * 2.0 ** (e + 1074))
    for e in range(-323, 309):
        v = float(f"1e{e}")
        out += [v, np.nextafter(v, 0), np.nextafter(v, np.inf), float(f"{pick.randint(1, 999)}e{e - 2}")]
    out += [9007199254740993.0, 2.0**53 - 1, 0.1, 0.3, 1 / 3, 123456789012345680.0, 1e16, 9999999999999998.0, 1e-4, 9.999e-5]
    return [float(v) for v in out if v == v]


def hexed(v):
    return struct.pack(">d", v).hex()


def python_numbers():
    for v in doubles(4000 // FEWER):
        add(f"repr({v!r})", f"python float {hexed(v)}", repr(v))
    specials = [0.0, -0.0, 1.0, -2.5, 1e16, 1e-5, float("nan"), float("inf"), float("-inf")]
    for re in specials:
        for im in specials:
            add(f"repr(complex({re}, {im}))", f"python complex {hexed(re)} {hexed(im)}", repr(complex(re, im)))
    for v in (0, 1, -1, 10, -10, 2**63 - 1, -2**63):
        add(f"repr({v})", f"python int {v & (2**64 - 1):x}", repr(v))
    add("repr(2**64 - 1)", f"python uint {2**64 - 1:x}", repr(2**64 - 1))
    add("repr(True)", "python bool 1", "True")
    add("repr(False)", "python bool 0", "False")


def python_formats():
    values = doubles(300)[:: 20 if SANITIZED else 3] + [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 0.5, 1.5, 2.5, 0.125, 9.5, 99.5, 999.95]
    for v in values:
        for form in "eEfFgG":
            p = pick.choice([0, 1, 2, 3, 6, 10, 17, 25, 60])
            keep = pick.random() < 0.3
            add(f"{form}{p} of {v!r}", f"as {form} {p} {int(keep)} {hexed(v)}", ("%" + ("#" if keep else "") + f".{p}{form}") % v)


def minus_one(n):
    return -1 if n is None else n


def numpy_formats():
    trims = "k.0-"
    for name in ("float16", "float32", "float64"):
        for _ in range(1200 // FEWER):
            v = random_floats(name, (1,), pick.choice(STYLES))[0]
            unique = pick.random() < 0.6
            precision = pick.choice([None, 0, 1, 2, 3, 5, 8, 20]) if unique else pick.choice([0, 1, 2, 3, 5, 8, 20])
            least = pick.choice([None, 0, 1, 3, 8]) if unique and precision is None else None
            o = dict(unique=unique, precision=precision, min_digits=least, trim=pick.choice(trims), sign=pick.random() < 0.3,
                     pad_left=pick.choice([None, 0, 1, 3, 10]))
            bits = v.tobytes()[::-1].hex()
            words = [int(unique), 1, minus_one(precision), minus_one(least),
                     trims.index(o["trim"]), int(o["sign"]), minus_one(o["pad_left"])]
            right = pick.choice([None, 0, 1, 3, 10])
            fractional = precision == 0 or pick.random() < 0.6
            words[1] = int(fractional)
            add(f"positional {v!r} {o} {right} {fractional}",
                " ".join(map(str, ["format positional", name, bits, *words, minus_one(right), -1])),
                np.format_float_positional(v, fractional=fractional, pad_right=right, **o))
            digits = pick.choice([None, 1, 2, 3, 5])
            want = np.format_float_scientific(v, exp_digits=digits, **o)
            if o["trim"] == "-":
                want = want.replace(".e", "e")  # NumPy leaves the point after zeros that rounding made
            add(f"scientific {v!r} {o} {digits}",
                " ".join(map(str, ["format scientific", name, bits, *words, -1, minus_one(digits)])), want)


def reading():
    texts = ["1", ".5", "1.", "0", "0.0", "1e5", "1E+5", "1e-5", "1e400", "1e-400", "1e", "1e+", "1.5e3x", "12.34.56", "00012", "0.000000000001",
             "9007199254740993", "9007199254740992.999999999999999999999999999999999999", "9007199254740993.0000000000000000000000000000001",
             "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "179769313486231580793e289", "4.9e-324", "2.4e-324",
             "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "1" + "0" * 400,
             "0." + "0" * 400 + "1e400", "1e99999999999999999999", "1e-99999999999999999999", "0e99999999999", "123456789" * 100]
    for v in doubles(3000 // FEWER):
        v = abs(v)
        if v == float("inf"):
            continue
        texts.append(repr(v))
        texts.append("%.18e" % v)
        if pick.random() < 0.1:
            texts.append("%.*f" % (pick.randint(0, 340), v))
        if 0 < v < 1e300 and pick.random() < 0.3:  # the midpoint to the next double, and its neighbours
            middle = (Fraction(v) + Fraction(float(np.nextafter(v, np.inf)))) / 2
            scale = 1100
            digits = middle.numerator * 10**scale // middle.denominator
            text = f"{digits}e-{scale}"
            texts += [text, f"{digits + 1}e-{scale}", f"{digits - 1}e-{scale}"]
    for s in texts:
        used = len(s)
        while used:
            try:
                want = float(s[:used])
                break
            except ValueError:
                used -= 1
        add(f"read {s[:80]}", f"read {s}", f"{hexed(want)} {used}")
    for s in (".", "e5", "x", "+1", "-1", "nan", "inf", "..1"):
        add(f"read {s}", f"read {s}", f"{hexed(0.0)} -1")


def main():
    for make in (arrays_with_defaults, arrays_with_options, summarised_arrays, every_16_bit_float, line_breaks, scalars, python_numbers, python_formats,
                 numpy_formats, reading):
        make()
    run = subprocess.run([PROGRAM], input=b"".join(c[1] for c in cases), capture_output=True)
    out, at, passed, failed = run.stdout, 0, 0, 0
    for what, _, want in cases:
        end = out.find(b"\n", at)
        if end < 0:
            print("FAIL no answer to", what, run.stderr.decode()[-2000:])
            failed += 1
            break
        n = int(out[at:end])
        got = out[end + 1:end + 1 + n].decode()
        at = end + 2 + n
        if got == want:
            passed += 1
            continue
        failed += 1
        if failed <= 20:
            print(f"FAIL {what}\n--- printed\n{got}\n--- wanted\n{want}")
    if run.returncode != 0:
        failed += 1
        print("FAIL exit status", run.returncode, run.stderr.decode()[-2000:])
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
