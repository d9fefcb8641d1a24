"""Type resolution of every elementwise function, indexing, reshapes and where every element of a structural operation goes,
compared with NumPy 2. Elements are computed by the driver, node by node: kernels have no part in this."""
# also under sanitizers
import itertools
import os
import random
import subprocess
import warnings

import ml_dtypes
import numpy as np

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests/oracle/graph")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
DTYPES = {n: BFLOAT16 if n == "bfloat16" else np.dtype(n) for n in NAMES}
FUZZ = int(os.environ.get("KILN_FUZZ", "3000"))

np.seterr(all="ignore")
warnings.simplefilter("ignore")
passed = failed = 0
shown = {}


def expect(condition, group, *what):
    global passed, failed
    if condition:
        passed += 1
        return
    failed += 1
    shown[group] = shown.get(group, 0) + 1
    if shown[group] <= 12:
        print("FAIL", group, *what)


def answers(requests):
    done = subprocess.run([PROGRAM], input="\n".join(requests) + "\n", capture_output=True, text=True)
    lines = done.stdout.splitlines()
    expect(done.returncode == 0 and len(lines) == len(requests), "driver", done.returncode, len(lines), "of", len(requests), done.stderr[-400:],
           requests[len(lines)] if len(lines) < len(requests) else "")
    return lines


def error_of(call):
    try:
        return call(), None
    except Exception as e:
        kind = type(e)
        for known in (OverflowError, IndexError, ZeroDivisionError, TypeError, ValueError):
            if issubclass(kind, known):
                return None, known.__name__
        raise


# ---- type resolution ----

UNARY = ["negative", "positive", "absolute", "fabs", "sign", "square", "reciprocal", "conjugate", "logical_not", "invert", "bitwise_count", "exp", "exp2",
         "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
         "arccosh", "arctanh", "deg2rad", "rad2deg", "rint", "floor", "ceil", "trunc", "signbit", "spacing", "frexp", "modf", "isnan", "isinf", "isfinite"]
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "divmod", "power", "float_power", "gcd", "lcm", "maximum", "minimum",
          "fmax", "fmin", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and",
          "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "logaddexp", "logaddexp2", "hypot", "arctan2", "copysign", "nextafter", "ldexp", "heaviside"]
NUMBERS = {"i:1": 1, "f:1.5": 1.5, "c:1": 1 + 1j, "b:1": True, "i:300": 300, "i:-1": -1, "i:40000": 40000, "u:18446744073709551615": 2**64 - 1,
           "i:9223372036854775807": 2**63 - 1, "i:-9223372036854775808": -2**63, "u:9223372036854775808": 2**63}


def array(name):
    return np.ones(2, DTYPES[name])


def result_of(f, operands, **more):
    """What NumPy says: dtype names, or the name of the error."""
    got, error = error_of(lambda: f(*operands, **more))
    if error:
        return error
    got = got if isinstance(got, tuple) else (got,)
    return " ".join(np.asarray(g).dtype.name for g in got)


def beyond_numpy(name, words, got, want):
    """Cases in which Kiln answers and NumPy does not, or differs for a reason."""
    half = "bfloat16" in words
    numbers = [w for w in words if ":" in w]
    if half and want in ("TypeError", "ValueError", "OverflowError"):
        return True      # ml_dtypes has fewer loops
    if half and numbers:
        return True      # for NumPy a Python number beside bfloat16 is not weak; Kiln treats it as beside float16
    if "bool" in words and any(NUMBERS[n] > 2**63 - 1 for n in numbers if not isinstance(NUMBERS[n], complex)):
        return True      # NumPy refuses integers beyond int64 beside bool; Kiln takes them as uint64
    if half and name == "ldexp":
        return True      # ml_dtypes takes uint64 exponents
    if name in ("logical_and", "logical_or", "logical_xor") and numbers:
        return want == "OverflowError" and got == "bool"   # truth needs no range
    return False


def compare_ufuncs(cases):
    lines = answers([f"ufunc {name} - {' '.join(words)}" for name, words, _ in cases])
    for (name, words, operands), line in zip(cases, lines):
        status, _, rest = line.partition(" ")
        got = rest if status == "ok" else status
        want = result_of(getattr(np, name), operands)
        if got != want and beyond_numpy(name, words, got, want):
            continue
        expect(got == want, "ufunc " + name, words, "gives", got, "NumPy", want)


def test_unary():
    compare_ufuncs([(f, [a], [array(a)]) for f in UNARY for a in NAMES])


def test_binary():
    compare_ufuncs([(f, [a, b], [array(a), array(b)]) for f in BINARY for a in NAMES for b in NAMES])


def test_weak_numbers():
    cases = []
    for f, a, n in itertools.product(BINARY, NAMES, NUMBERS):
        if f == "power" and isinstance(NUMBERS[n], int) and NUMBERS[n] < -1:
            continue
        cases += [(f, [a, n], [array(a), NUMBERS[n]]), (f, [n, a], [NUMBERS[n], array(a)])]
    compare_ufuncs(cases)


def test_asked_dtype():
    cases = [(f, t, a, b) for f in ("add", "divide", "maximum", "power", "arctan2", "bitwise_and", "less") for t in NAMES for a in NAMES for b in (a, "int8", "float64")
             if "bfloat16" not in (t, a, b)]
    lines = answers([f"ufunc {f} {t} {a} {b}" for f, t, a, b in cases])
    for (f, t, a, b), line in zip(cases, lines):
        got = line.split()[1] if line.startswith("ok") else line.split()[0]
        want = result_of(getattr(np, f), [array(a), array(b)], dtype=DTYPES[t])
        expect(got == want, "dtype=", f, t, a, b, "gives", got, "NumPy", want)


# ---- indexing ----

pick = random.Random(11)


def random_shape(most=4, largest=4):
    return tuple(pick.choice([0, 1, 2, 3, 4, largest]) if pick.random() < .15 else pick.randint(1, largest) for _ in range(pick.randint(0, most)))


def comma(shape):
    return ",".join(map(str, shape))


def random_item(extent, arrays):
    """A word for the driver and the Python object."""
    kind = pick.random()
    if kind < .25:
        i = pick.randint(-extent - 1, extent) if pick.random() < .1 else pick.randint(-extent, max(extent - 1, 0)) if extent else 0
        return str(i), i
    if kind < .65 or not arrays:
        bound = [pick.choice([None, pick.randint(-extent - 2, extent + 2)]) for _ in range(2)]
        step = pick.choice([None, 1, 2, -1, -2, 3, -3])
        return ":".join("" if v is None else str(v) for v in bound + [step]), slice(*bound, step)
    if kind < .7:
        return "None", None
    n = pick.choice([1, 2, 2, 3])
    v = [pick.randint(-extent, extent - 1) if extent else 0 for _ in range(n)]
    return "=" + comma(v), np.array(v)


def text_of(a):
    a = np.asarray(a)
    shape = "".join(f"{n}," for n in a.shape)
    return f"ok {a.dtype.name} ({shape})" + "".join(" %.17g" % v for v in a.astype(float).ravel())


def random_index(shape, arrays):
    words, items, axis, used = [], [], 0, pick.randint(0, len(shape) + (pick.random() < .05))
    ellipsis = pick.random() < .25
    place = pick.randint(0, used)
    for i in range(used):
        if ellipsis and i == place:
            words.append("...")
            items.append(Ellipsis)
            axis = len(shape) - (used - i)
        w, item = random_item(shape[axis] if 0 <= axis < len(shape) else 1, arrays)
        words.append(w)
        items.append(item)
        axis += item is not None
    return words, tuple(items)


def test_indexing():
    cases = []
    for i in range(FUZZ):
        shape = random_shape()
        words, items = random_index(shape, arrays=i % 2 == 0)
        cases.append((shape, words, items))
    lines = answers([f"index @{comma(s)} {' '.join(w)}" for s, w, _ in cases])
    for (shape, words, items), line in zip(cases, lines):
        want, error = error_of(lambda: np.arange(int(np.prod(shape))).reshape(shape)[items])
        if error == "IndexError" and line.startswith("ok") and line.endswith(")"):
            continue     # positions out of range with nothing to read: NumPy looks at them all the same
        expect(line.split()[0] == error if error else line == text_of(want), "index", shape, words, "gives", line[:120], "NumPy", error or text_of(want)[:120])


def test_at():
    cases = []
    for i in range(FUZZ // 3):
        shape = random_shape(3)
        words, items = random_index(shape, arrays=True)
        cases.append((shape, words, items))
    lines = answers([f"scatter {f} @{comma(s)} {' '.join(w)} = i:{i % 5}" for i, (s, w, _) in enumerate(cases) for f in ["add", "maximum"]])
    for i, ((shape, words, items), f) in enumerate((c, f) for c in cases for f in ("add", "maximum")):
        a = np.arange(int(np.prod(shape))).reshape(shape)
        _, error = error_of(lambda: getattr(np, f).at(a, items, i // 2 % 5))
        line = lines[i]
        if error == "IndexError" and line == text_of(np.arange(a.size).reshape(shape)):
            continue     # positions out of range, but of nothing
        expect(line.split()[0] == error if error else line == text_of(a), "at", f, shape, words, "gives", line[:120], "NumPy", error or text_of(a)[:120])


def test_reshape_strides():
    cases = []
    for _ in range(FUZZ):
        size = pick.choice([1, 2, 4, 6, 8, 12, 16, 24, 36, 48])
        base = np.zeros(pick.choice([size, size * 3]), np.int8)
        a = base[:size] if pick.random() < .5 or base.size == size else base[::3]
        for _ in range(pick.randint(0, 3)):
            how = pick.random()
            if how < .5:
                a = a.reshape(factors(a.size)) if a.size else a
            elif how < .8:
                a = a.transpose(pick.sample(range(a.ndim), a.ndim))
            elif a.ndim:
                a = a[tuple(slice(None, None, pick.choice([1, 1, -1, 2])) for _ in range(a.ndim))]
        cases.append((a, factors(a.size)))
    lines = answers([f"reshape @{comma(a.shape)} @{comma(a.strides)} @{comma(to)}" for a, to in cases])
    for (a, to), line in zip(cases, lines):
        try:
            want = np.reshape(a, to, copy=False)
        except ValueError:
            expect(line == "copy", "reshape", a.shape, a.strides, to, "gives", line, "NumPy copies")
            continue
        if not line.startswith("ok"):
            expect(False, "reshape", a.shape, a.strides, to, "gives", line, "NumPy", want.strides)
            continue
        strides = tuple(map(int, line.split()[1:]))
        same = all(n == 1 or x == y for n, x, y in zip(to, strides, want.strides)) or want.size == 0
        expect(len(strides) == len(to) and same, "reshape", a.shape, a.strides, to, "gives", strides, "NumPy", want.strides)


def factors(n):
    """A random shape of n elements."""
    out = []
    while n > 1:
        d = pick.choice([d for d in range(2, n + 1) if n % d == 0])
        out.append(d)
        n //= d
        if pick.random() < .2:
            out.append(1)
    pick.shuffle(out)
    return tuple(out) or pick.choice([(), (1,), (1, 1)])


def random_view(a):
    """Words for one step and its result."""
    how = pick.random()
    if how < .3:
        words, items = random_index(a.shape, arrays=False)
        return ["index"] + words, a[items]
    if how < .45:
        axes = pick.sample(range(a.ndim), a.ndim)
        return ["transpose", "axes=" + comma(axes) + ","], a.transpose(axes)
    if how < .65 and a.size:
        to = factors(a.size)
        return ["reshape", "shape=" + comma(to)], a.reshape(to)
    if how < .75:
        to = (pick.randint(1, 3),) * pick.randint(0, 2) + tuple(pick.randint(1, 3) if n == 1 else n for n in a.shape)
        return ["broadcast_to", "shape=" + comma(to)], np.broadcast_to(a, to)
    if how < .85 and a.ndim > 1:
        k = pick.randint(-2, 2)
        return ["diagonal", f"offset={k}"], a.diagonal(k)
    if how < .95 and a.ndim and min(a.shape) > 1:
        w = tuple(pick.randint(1, n) for n in a.shape)
        return ["sliding_window_view", "window_shape=" + comma(w)], np.lib.stride_tricks.sliding_window_view(a, w)
    return ["flip"], np.flip(a)


def test_views_of_views():
    """Windows are composed only where that is exact, and mostly they can be."""
    cases = []
    while len(cases) < FUZZ:
        a = np.arange(int(np.prod(shape := random_shape(3)))).reshape(shape)
        steps, start = [], shape
        try:
            for _ in range(pick.randint(2, 5)):
                words, b = random_view(a)
                if b.ndim > 6 or b.size > 3000:
                    break
                a = b
                steps.append(words)
        except IndexError:
            continue
        cases.append((start, steps, a))
    lines = answers([f"chain @{comma(s)} " + " ".join("| " + " ".join(w) for w in steps) for s, steps, _ in cases])
    deep = 0
    for (shape, steps, want), line in zip(cases, lines):
        text, _, depth = line.partition(" views ")
        expect(text == text_of(want), "chain", shape, steps, "gives", line[:120], "NumPy", text_of(want)[:120])
        deep += int(depth or 0) > 1
    expect(deep < .4 * len(cases), "chain", deep, "of", len(cases), "views stay stacked")


# ---- structural operations ----

def a(*shape, dtype="int64"):
    v = np.arange(int(np.prod(shape))).reshape(shape)
    v = v % 2 if dtype == "bool" else v
    return (f"@{comma(shape)}:{dtype}", (v + 1j * (v + .5)).astype(dtype) if dtype.startswith("complex") else v.astype(DTYPES[dtype]))


def e(*values, dtype="int64"):
    return f"={comma(values)}:{dtype}", np.array(values).astype(DTYPES[dtype])


def word_of(v):
    if isinstance(v, tuple) and len(v) == 2 and isinstance(v[0], str) and isinstance(v[1], np.ndarray):
        return v[0]
    if isinstance(v, list):
        return ";".join(word_of(x) for x in v)
    if isinstance(v, bool):
        return str(int(v))
    if isinstance(v, complex):
        return f"c:{v.real}"
    if v is None:
        return "all"
    if isinstance(v, tuple):
        return comma(v)
    return str(v)


def object_of(v):
    if isinstance(v, tuple) and len(v) == 2 and isinstance(v[0], str):
        return v[1]
    if isinstance(v, list):
        return [object_of(x) for x in v]
    if isinstance(v, Number):
        return v.value
    return v


class Number:
    """A Python number where an array can stand."""
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"{'f' if isinstance(self.value, float) else 'i'}:{self.value}"


n = Number
X = a(2, 3, 4)
OPS = [
    # (operation, {our parameter: value}) with NumPy's call made of the same parameters, or given as a function of the objects
    ("reshape", dict(a=X, shape=(4, -1))), ("reshape", dict(a=X, shape=(6, 4), order="F")), ("reshape", dict(a=X, shape=(5, 5))), ("reshape", dict(a=X, shape=(-1, -1))),
    ("ravel", dict(a=X)), ("ravel", dict(a=X, order="F")),
    ("transpose", dict(a=X)), ("transpose", dict(a=X, axes=(1, 2, 0))), ("transpose", dict(a=X, axes=(1, 0))), ("transpose", dict(a=X, axes=(0, 0, 1))),
    ("matrix_transpose", dict(x=X)), ("swapaxes", dict(a=X, axis1=0, axis2=-1)), ("swapaxes", dict(a=X, axis1=0, axis2=3)),
    ("moveaxis", dict(a=X, source=0, destination=-1)), ("moveaxis", dict(a=X, source=(0, 1), destination=(-1, 0))), ("rollaxis", dict(a=X, axis=2)), ("rollaxis", dict(a=X, axis=0, start=3)),
    ("broadcast_to", dict(array=a(3, 1), shape=(2, 3, 4))), ("broadcast_to", dict(array=a(3), shape=(4,))), ("broadcast_to", dict(array=a(3), shape=())),
    ("expand_dims", dict(a=X, axis=(0, -1))), ("expand_dims", dict(a=X, axis=1)), ("squeeze", dict(a=a(1, 3, 1))), ("squeeze", dict(a=a(1, 3, 1), axis=0)), ("squeeze", dict(a=a(1, 3, 1), axis=1)),
    ("flip", dict(m=X)), ("flip", dict(m=X, axis=(0, 2))), ("fliplr", dict(m=X)), ("flipud", dict(m=X)), ("fliplr", dict(m=a(3))),
    *[("rot90", dict(m=a(2, 3), k=k)) for k in range(-3, 5)], ("rot90", dict(m=X, k=1, axes=(1, 2))),
    *[("diagonal", dict(a=a(3, 4), offset=k)) for k in (-4, -2, 0, 1, 3, 9)], ("diagonal", dict(a=X, offset=1, axis1=2, axis2=0)),
    ("real", dict(val=a(2, 3, dtype="complex64"))), ("imag", dict(val=a(2, 3, dtype="complex128"))), ("imag", dict(val=X)), ("real", dict(val=X)),
    ("atleast_2d", dict(a=a(3)), lambda o: np.atleast_2d(o["a"])), ("atleast_3d", dict(a=a(3)), lambda o: np.atleast_3d(o["a"])), ("atleast_3d", dict(a=a(3, 2)), lambda o: np.atleast_3d(o["a"])),
    ("sliding_window_view", dict(x=a(4, 5), window_shape=(2, 3))), ("sliding_window_view", dict(x=a(6), window_shape=(3,))), ("sliding_window_view", dict(x=a(4, 5), window_shape=(3,), axis=1)),
    ("concatenate", dict(arrays=[a(2, 3), a(1, 3, dtype="float32")])), ("concatenate", dict(arrays=[a(2, 3), a(2, 2)], axis=1)), ("concatenate", dict(arrays=[a(2, 3), a(2)])),
    ("concatenate", dict(arrays=[a(2, 3), a(4)], axis=None)), ("concatenate", dict(arrays=[a(2, 3), a(3, 2)])), ("concatenate", dict(arrays=[a(2, 3)])),
    ("stack", dict(arrays=[a(2, 3), a(2, 3)], axis=1)), ("stack", dict(arrays=[a(2, 3), a(2, 3)], axis=-1)), ("stack", dict(arrays=[a(2, 3), a(3, 2)])),
    ("vstack", dict(tup=[a(3), a(2, 3)])), ("hstack", dict(tup=[a(3), a(2)])), ("hstack", dict(tup=[a(2, 3), a(2, 1)])), ("dstack", dict(tup=[a(3), a(3)])), ("column_stack", dict(tup=[a(3), a(3, 2)])),
    ("append", dict(arr=X, values=a(3))), ("append", dict(arr=a(2, 3), values=a(1, 3), axis=0)),
    ("tile", dict(A=a(2, 3), reps=(2,))), ("tile", dict(A=a(2, 3), reps=(2, 1, 3))), ("tile", dict(A=a(3), reps=(2, 2))), ("tile", dict(A=a(3), reps=(0,))),
    *[("pad", dict(array=a(3), pad_width=w, mode=mode), lambda o: np.pad(o["array"], tuple(o["pad_width"]), o["mode"])) for w in ((1, 2), (0, 0), (5, 7)) for mode in ("constant", "edge", "reflect", "symmetric", "wrap")],
    ("pad", dict(array=a(2, 3), pad_width=(1, 0, 2, 3), constant_values=n(7)), lambda o: np.pad(o["array"], ((1, 0), (2, 3)), constant_values=7)),
    ("pad", dict(array=a(2, 3), pad_width=(1, 0, 2, 3), mode="reflect"), lambda o: np.pad(o["array"], ((1, 0), (2, 3)), mode="reflect")),
    ("resize", dict(a=a(2, 3), new_shape=(4, 2))), ("resize", dict(a=a(2, 3), new_shape=(2, 2))), ("resize", dict(a=a(0), new_shape=(2,))),
    ("take", dict(a=X, indices=e(0, -1, 5))), ("take", dict(a=X, indices=e(0, 2, 1), axis=1)), ("take", dict(a=X, indices=a(2, 2), axis=2)), ("take", dict(a=X, indices=n(1), axis=0)),
    ("take", dict(a=X, indices=e(0, 9, -9), axis=1, mode="wrap")), ("take", dict(a=X, indices=e(0, 9, -9), axis=1, mode="clip")), ("take", dict(a=X, indices=n(30))),
    ("take", dict(a=X, indices=e(0, 1, dtype="float64"))), ("take", dict(a=a(0), indices=e(0))),
    ("take_along_axis", dict(arr=a(2, 3), indices=("=1,0:int64", np.array([1, 0]))), None), ("take_along_axis", dict(arr=a(4), indices=e(3, 0, 0), axis=0)),
    ("take_along_axis", dict(arr=a(2, 3), indices=a(2, 2), axis=1)), ("take_along_axis", dict(arr=a(1, 3), indices=a(2, 1), axis=1)),
    ("choose", dict(a=e(0, 1, 2), choices=[a(3), e(7, 8, 9), n(5)])), ("choose", dict(a=e(0, 1, 5), choices=[a(3), e(7, 8, 9)], mode="clip")),
    ("where", dict(condition=e(0, 1, 2), x=a(2, 3), y=n(-1)), lambda o: np.where(o["condition"], o["x"], o["y"])), ("where", dict(condition=e(0, 1), x=a(3), y=n(1)), lambda o: np.where(o["condition"], o["x"], o["y"])),
    ("select", dict(condlist=[e(0, 1, 0, dtype="bool"), e(1, 1, 0, dtype="bool")], choicelist=[a(3), e(7, 8, 9)], default=n(-1))),
    ("clip", dict(a=a(6), a_min=n(1), a_max=n(4))), ("clip", dict(a=a(6, dtype="uint8"), a_min=n(-3), a_max=n(3))), ("clip", dict(a=a(6, dtype="int8"), a_max=n(-300)), lambda o: np.clip(o["a"], None, -300)), ("clip", dict(a=a(6, dtype="float32"), a_min=n(1.5)), lambda o: np.clip(o["a"], o["a_min"], None)), ("clip", dict(a=a(6, dtype="uint8"), a_max=n(300)), lambda o: np.clip(o["a"], None, 300)),
    ("diff", dict(a=a(2, 4))), ("diff", dict(a=e(1, 4, 9, 16), n=2)), ("diff", dict(a=a(3), n=5)), ("diff", dict(a=a(4, dtype="bool"))), ("diff", dict(a=a(2, 2), prepend=n(0), axis=0)), ("diff", dict(a=a(3), append=a(2))),
    ("ediff1d", dict(ary=e(1, 4, 9), to_end=e(5, 6), to_begin=n(0))), ("trapezoid", dict(y=a(2, 4))), ("trapezoid", dict(y=a(4), x=e(0, 1, 3, 7))), ("trapezoid", dict(y=a(4, 2), dx=n(0.5), axis=0)),
    ("nan_to_num", dict(x=a(3))), ("isclose", dict(a=a(3), b=e(0, 1, 3))), ("allclose", dict(a=a(3), b=a(3))), ("array_equal", dict(a1=a(3), a2=a(3))), ("array_equal", dict(a1=a(3), a2=a(4))),
    ("array_equiv", dict(a1=a(1), a2=e(0, 0))), ("isreal", dict(x=a(3, dtype="complex64"))), ("iscomplex", dict(x=a(3))), ("isneginf", dict(x=a(3, dtype="float32"))), ("isposinf", dict(x=a(3, dtype="complex64"))),
    ("round", dict(a=a(3))), ("round", dict(a=a(30), decimals=-1)), ("round", dict(a=a(3, dtype="bool"))), ("angle", dict(z=a(3, dtype="float32"))),
    # making
    ("zeros", dict(shape=(2, 3))), ("ones", dict(shape=(2,), dtype="int8")), ("full", dict(shape=(2, 3), fill_value=a(3))), ("full", dict(shape=(2,), fill_value=n(7))), ("full", dict(shape=(2,), fill_value=n(300), dtype="uint8")),
    ("full", dict(shape=(2,), fill_value=a(3))), ("zeros", dict(shape=(-1,))), ("zeros_like", dict(a=X, dtype="float32")), ("ones_like", dict(a=X, shape=(2,))), ("full_like", dict(a=a(2, dtype="int8"), fill_value=n(2.5))),
    ("eye", dict(N=3)), ("eye", dict(N=2, M=4, k=1)), ("eye", dict(N=4, M=2, k=-1, dtype="int32")), ("identity", dict(n=2)), ("tri", dict(N=3, M=4, k=-1)), ("tril", dict(m=a(3, 4), k=1)), ("triu", dict(m=X)), ("triu", dict(m=a(3), k=1)),
    ("diag", dict(v=a(3))), ("diag", dict(v=a(2), k=-1)), ("diag", dict(v=a(3, 4), k=1)), ("diagflat", dict(v=a(2, 2), k=1)), ("diag", dict(v=X)), ("vander", dict(x=e(1, 2, 3))), ("vander", dict(x=e(1, 2, 3), N=2, increasing=True)),
    ("indices", dict(dimensions=(2, 3))), ("indices", dict(dimensions=(2, 1, 2), dtype="float32")),
    *[("arange", dict(start=n(s), stop=n(t), step=n(d)), lambda o: np.arange(o["start"], o["stop"], o["step"])) for s, t, d in [(0, 5, 1), (5, 0, -2), (1, 3, .1), (0, 1, 7), (3, 0, 1), (.5, -2.0, -.25), (2, 17, 4), (0., 1., 1e-1), (-1, 1, .3)]],
    ("arange", dict(start=n(4)), lambda o: np.arange(4)), ("arange", dict(start=n(1), stop=n(3), step=n(.1), dtype="float32"), lambda o: np.arange(1, 3, .1, dtype=np.float32)),
    ("arange", dict(start=n(1), stop=n(3), step=n(.1), dtype="float16"), lambda o: np.arange(1, 3, .1, dtype=np.float16)), ("arange", dict(start=n(0), stop=n(3), step=n(0)), lambda o: np.arange(0, 3, 0)),
    ("arange", dict(start=n(0), stop=n(2), dtype="bool"), lambda o: np.arange(0, 2, dtype=bool)), ("arange", dict(start=n(-1), stop=n(3), dtype="uint8"), lambda o: np.arange(-1, 3, dtype=np.uint8)),
    ("arange", dict(start=n(0), stop=n(9), step=n(2.5), dtype="int64"), lambda o: np.arange(0, 9, 2.5, dtype=int)),
    *[("linspace", dict(start=n(s), stop=n(t), num=k, endpoint=p), lambda o: np.linspace(o["start"], o["stop"], o["num"], o["endpoint"])) for s, t in [(0, 1), (-2., 2.), (3, 3), (5, -1)] for k in (0, 1, 2, 7) for p in (True, False)],
    ("linspace", dict(start=n(-2), stop=n(2), num=5, dtype="int8")), ("linspace", dict(start=a(2), stop=n(5), num=4)), ("linspace", dict(start=a(2), stop=e(5, 6), num=4, axis=-1)),
    ("linspace", dict(start=a(2, dtype="float32"), stop=n(5), num=4)), ("linspace", dict(start=n(0), stop=n(1), num=-1)),
    ("logspace", dict(start=n(0), stop=n(3), num=4)), ("geomspace", dict(start=n(1), stop=n(1000), num=4)), ("geomspace", dict(start=n(-1), stop=n(-100), num=3)), ("geomspace", dict(start=n(0), stop=n(5), num=3)),
    *[(w, dict(M=k)) for w in ("hanning", "hamming", "blackman", "bartlett") for k in (0, 1, 2, 5)],
    ("fftfreq", dict(n=5)), ("fftfreq", dict(n=6, d=.5)), ("rfftfreq", dict(n=5)), ("rfftfreq", dict(n=6)), ("fftshift", dict(x=a(5))), ("fftshift", dict(x=a(2, 3), axes=1)), ("ifftshift", dict(x=a(5))),
    ("astype", dict(x=a(3), dtype="float32"), lambda o: o["x"].astype("f4")), ("copy", dict(a=X)),
    # reductions
    *[(r, dict(a=a(2, 3, 4, dtype=d), axis=x, keepdims=kd)) for r in ("sum", "max", "min", "mean", "var", "std", "any", "all", "ptp", "count_nonzero", "prod")
      for d in ("int32", "float32") for x in (None, 0, (0, 2), -1) for kd in (False, True) if not (r == "prod" and d == "int32")],
    *[(r, dict(a=a(4, dtype=d))) for r in ("sum", "prod", "max", "mean", "var", "any", "cumsum", "cumprod") for d in NAMES if d not in ("bfloat16", "complex64", "complex128")],
    ("sum", dict(a=X, axis=(0, 0))), ("sum", dict(a=X, axis=5)), ("sum", dict(a=X, axis=0, initial=n(10))), ("sum", dict(a=X, where=e(1, 0, 1, 0, dtype="bool"))), ("max", dict(a=X, where=e(1, 0, 1, 0, dtype="bool"))),
    ("max", dict(a=X, axis=2, where=e(1, 0, 1, 0, dtype="bool"), initial=n(-1))), ("max", dict(a=a(0))), ("max", dict(a=a(0, 2), axis=1)), ("min", dict(a=a(0, 2), axis=0)), ("max", dict(a=a(0), initial=n(3))),
    ("sum", dict(a=a(0))), ("sum", dict(a=a(4), axis=())), ("mean", dict(a=X, axis=1, where=e(1, 0, 1, 0, dtype="bool"))), ("var", dict(a=X, axis=2, ddof=1)), ("var", dict(a=X, where=e(1, 0, 1, 1, dtype="bool"))), ("std", dict(a=X, correction=1)),
    ("var", dict(a=X, ddof=1, correction=1)), ("mean", dict(a=X, dtype="float32")), ("sum", dict(a=X, dtype="float32")), ("sum", dict(a=a(3, dtype="bool"), dtype="bool")),
    ("argmax", dict(a=X)), ("argmax", dict(a=X, axis=1)), ("argmin", dict(a=X, axis=-1, keepdims=True)), ("argmax", dict(a=a(0))), ("argmax", dict(a=a(0, 2), axis=1)), ("argmax", dict(a=a(4, dtype="bool"))), ("argmin", dict(a=X, keepdims=True)),
    ("average", dict(a=a(2, 3), axis=1, weights=e(1, 2, 1))), ("average", dict(a=a(2, 3), weights=a(2, 3))), ("average", dict(a=a(2, 3), weights=e(1, 2, 1))), ("trace", dict(a=a(3, 4), offset=1)), ("trace", dict(a=X)),
    ("cumsum", dict(a=X, axis=1)), ("cumsum", dict(a=X)), ("cumprod", dict(a=a(2, 2), axis=0)), ("cumulative_sum", dict(x=a(3), include_initial=True)), ("cumulative_sum", dict(x=X)), ("cumulative_prod", dict(x=a(2, 3), axis=1, include_initial=True)),
    *[(r, dict(a=a(2, 3, dtype="float32"), axis=1)) for r in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanargmax", "nancumsum")], ("nansum", dict(a=X)), ("nanmean", dict(a=X, axis=0)),
    # products without matmul
    ("outer", dict(a=a(2), b=a(3))), ("kron", dict(a=a(2, 2), b=a(1, 3))), ("kron", dict(a=a(0, 2), b=a(2, 2))), ("kron", dict(a=a(2), b=a(2, 2))), ("cross", dict(a=a(2, 3), b=e(1, 2, 3))), ("cross", dict(a=a(3, 2), b=a(3, 2), axis=0)),
    ("vecdot", dict(x1=a(2, 3), x2=e(1, 2, 3))), ("vecdot", dict(x1=a(2), x2=e(1, 2, 3))), ("matmul", dict(x1=a(2, 3), x2=a(2, 3))), ("matmul", dict(x1=a(2, 3), x2=n(2))), ("matmul", dict(x1=a(2, 0), x2=a(0, 3))), ("dot", dict(a=a(3), b=n(2))),
    ("dot", dict(a=a(3), b=a(2))), ("tensordot", dict(a=a(2, 3), b=a(2, 3), axes=2, axes_a=(0,)), None),
]
POSITIONAL = {"matrix_transpose", "fftfreq"}


def numpy_function(name):
    for module in (np, np.fft, np.lib.stride_tricks):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(name)


def close(got, want):
    """The driver's text against an array: equal but for rounding of the last places."""
    head, _, rest = got.partition(") ")
    wanted_head, _, wanted = text_of(want).partition(") ")
    if np.iscomplexobj(want):
        wanted_head = f"ok {want.dtype.name} (" + "".join(f"{k}," for k in want.shape)
        values = np.array([complex(v) for v in rest.split()])
        return head.rstrip(")") == wanted_head.rstrip(")") and np.allclose(values, want.ravel())
    if head.rstrip(")") != wanted_head.rstrip(")"):
        return False
    x, y = np.array(rest.split(), float), np.array(wanted.split(), float)
    tight = 1e-2 if want.dtype.name == "float16" else 1e-5 if want.dtype.name == "float32" else 1e-13
    return x.shape == y.shape and np.allclose(x, y, rtol=tight, atol=tight, equal_nan=True)


def test_operations():
    cases = [(c[0], c[1], c[2] if len(c) > 2 else ...) for c in OPS]
    cases = [c for c in cases if c[2] is not None]
    lines = answers([f"op {name} " + " ".join(f"{k}={word_of(v)}" for k, v in arguments.items()) for name, arguments, _ in cases])
    for (name, arguments, call), line in zip(cases, lines):
        objects = {k: object_of(v) for k, v in arguments.items()}
        for k in ("dtype",):
            if k in objects:
                objects[k] = DTYPES[objects[k]]
        function = numpy_function(name) if call is ... else None
        positional = {"x1", "x2", "x", "condition"} if name in ("vecdot", "matmul", "cumulative_sum", "cumulative_prod", "matrix_transpose", "where") else {"arrays"} if name in ("concatenate", "stack") else {"a"} if name == "reshape" else set()

        def run():
            if function is None:
                return call(objects)
            return function(*[v for k, v in objects.items() if k in positional], **{k: v for k, v in objects.items() if k not in positional})
        want, error = error_of(run)
        shown_call = f"{name}({', '.join(f'{k}={word_of(v)}' for k, v in arguments.items())})"
        if error:
            expect(line.split()[0] == error, "op " + name, shown_call, "gives", line[:160], "NumPy", error)
        else:
            expect(close(line, np.asarray(want)), "op " + name, shown_call, "gives", line[:160], "NumPy", text_of(want)[:160])


for test in [test_unary, test_binary, test_weak_numbers, test_asked_dtype, test_reshape_strides, test_indexing, test_at, test_views_of_views, test_operations]:
    test()
print(f"{passed} passed, {failed} failed")
raise SystemExit(failed > 0)
