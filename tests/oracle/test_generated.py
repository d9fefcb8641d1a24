"""Generated programs of several steps, run by Kiln and by NumPy side by side: dtype, shape, value, or the kind of error.

A program works on a few variables: elementwise functions of mixed dtypes, reductions, scans, views, gathers, joins, in-place
updates through views. Both sides take the same steps; the variables are compared at the end, and now and then in between,
so that what is pending gets long. KILN_PROGRAMS sets how many, KILN_SEED which. A failing program is printed as NumPy code.

time-out: 900
"""
import os
import random
import subprocess
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from kiln import COPY, Kiln  # noqa: E402

warnings.simplefilter("ignore")
SEED = int(os.environ.get("KILN_SEED", "1"))
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
UNARY = ["negative", "absolute", "sqrt", "exp", "sin", "tanh", "square", "floor", "sign", "isfinite", "logical_not", "conjugate", "log1p", "arctan", "rint", "invert"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "greater_equal", "logical_and", "hypot", "arctan2", "floor_divide",
          "remainder", "bitwise_and", "bitwise_xor", "copysign", "fmax", "not_equal", "logaddexp"]
REDUCTIONS = ["sum", "prod", "max", "min", "mean", "any", "all", "var", "std", "argmax", "argmin", "count_nonzero", "ptp"]
IN_PLACE = {"iadd": np.add, "isub": np.subtract, "imul": np.multiply, "idiv": np.divide, "ifloordiv": np.floor_divide}


class Variable:
    """One name on both sides. `noise` bounds the error that earlier steps allow, relative to `size`, the largest value they
    worked with. NumPy makes scalars, which share no memory, where Kiln makes 0-d views: `scalar` ones are not written to."""

    def __init__(self, name, array, handle, noise, size=0.0, scalar=False):
        self.name, self.array, self.handle, self.noise, self.size, self.scalar = name, array, handle, noise, size, scalar


def values(r, dtype, shape):
    n = int(np.prod(shape))
    dtype = np.dtype(dtype)
    if dtype == bool:
        a = [r.random() < 0.5 for _ in range(n)]
    elif dtype.kind in "iu":
        low = -9 if dtype.kind == "i" else 0
        a = [r.randint(low, 9) for _ in range(n)]
    else:
        a = [r.choice([r.uniform(-3, 3), r.uniform(-3, 3), float(r.randint(-3, 3)), 0.5]) for _ in range(n)]
        if r.random() < 0.1 and n:
            a[r.randrange(n)] = r.choice([float("nan"), float("inf"), -float("inf"), -0.0])
        if dtype.kind == "c":
            a = [complex(v, r.uniform(-2, 2)) for v in a]
    return np.array(a, dtype).reshape(shape)


def random_shape(r):
    return tuple(r.choice([1, 2, 3, 4, 5, 7, 0 if r.random() < 0.1 else 3]) for _ in range(r.choice([0, 1, 1, 2, 2, 2, 3])))


def random_index(r, shape):
    """A basic index as text, for arrays of this shape."""
    items = []
    for n in shape:
        k = r.random()
        if k < 0.25:
            items.append(":")
        elif k < 0.35 and n:
            items.append(str(r.randrange(-n, n)))
        elif k < 0.45:
            items.append("None")
            items.append("::-1")
        else:
            start, stop = r.choice(["", str(r.randint(-n - 1, n + 1))]), r.choice(["", str(r.randint(-n - 1, n + 1))])
            items.append(f"{start}:{stop}" + r.choice(["", "", ":2", ":-1", ":-2"]))
    if r.random() < 0.15:
        items = items[:r.randint(0, len(items))] + ["..."]
    return ", ".join(items) or "..."


class Program:
    def __init__(self, kiln, seed):
        self.k, self.r, self.seed = kiln, random.Random(seed), seed
        self.variables, self.lines, self.count = [], [], 0

    def new(self, array, handle, noise, text, size=0.0, scalar=False):
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        self.variables.append(Variable(name, array, handle, noise, size, scalar))
        if len(self.variables) > 7:
            self.variables.pop(self.r.randrange(len(self.variables)))

    def both(self, text, numpy_call, kiln_call, noise, size=0.0):
        """Takes a step on both sides; when NumPy refuses it, Kiln must, and the variable is not kept."""
        try:
            want = numpy_call()
        except Exception as e:                                        # noqa: BLE001
            handle = kiln_call()
            status = self.k.lib.kn_check(handle) or self.k.lib.kn_eval(handle)
            if not status:
                raise AssertionError(f"{text}: NumPy raises {type(e).__name__}: {e}; Kiln gives a value") from e
            return
        handle = kiln_call()
        message = self.k.lib.kn_message(handle).decode() if self.k.lib.kn_check(handle) else ""
        if message:
            raise AssertionError(f"{text}: Kiln says {message}; NumPy gives {np.asarray(want).dtype}{np.shape(want)}")
        self.new(np.asarray(want), handle, noise, text, size, not isinstance(want, np.ndarray))

    def operand(self):
        r = self.r
        if r.random() < 0.2:
            number = r.choice([2, -1, 3, 0.5, 1.25, True, 1j])
            return Variable(repr(number), number, number, 0)
        return r.choice(self.variables)

    def step_create(self):
        dtype, shape = self.r.choice(DTYPES), random_shape(self.r)
        a = values(self.r, dtype, shape)
        self.new(a, self.k.from_memory(a, COPY), 0, f"np.array({a.tolist()!r}, '{dtype}').reshape({shape})")

    def step_unary(self):
        f, x = self.r.choice(UNARY), self.r.choice(self.variables)
        self.both(f"np.{f}({x.name})", lambda: getattr(np, f)(x.array), lambda: self.k.operations[f](x.handle), grow(x.noise, x.array, f))

    def step_binary(self):
        f, x, y = self.r.choice(BINARY), self.r.choice(self.variables), self.operand()
        if self.r.random() < 0.3:
            x, y = y, x
        if not isinstance(x.array, np.ndarray) and not isinstance(y.array, np.ndarray):
            return
        noise = max(x.noise, y.noise)
        if noise and f in ("less", "equal", "greater_equal", "not_equal", "floor_divide", "remainder"):
            return                                                    # rounding decides these
        self.both(f"np.{f}({x.name}, {y.name})", lambda: getattr(np, f)(x.array, y.array), lambda: self.k.operations[f](x.handle, y.handle),
                  grow(noise, x.array if isinstance(x.array, np.ndarray) else y.array, f))

    def step_where(self):
        c, x, y = (self.r.choice(self.variables) for _ in range(3))
        if c.noise:
            return
        self.both(f"np.where({c.name}, {x.name}, {y.name})", lambda: np.where(c.array, x.array, y.array),
                  lambda: self.k.operations["where"](c.handle, x.handle, y.handle), max(x.noise, y.noise))

    def step_reduce(self):
        f, x = self.r.choice(REDUCTIONS), self.r.choice(self.variables)
        if x.noise and f in ("argmax", "argmin", "any", "all", "count_nonzero"):
            return
        axis = self.r.choice([None, *range(-x.array.ndim, x.array.ndim)]) if x.array.ndim else None
        keep = f != "count_nonzero" and self.r.random() < 0.4
        options = {"axis": axis, "keepdims": keep}
        largest = magnitude(x.array)
        self.both(f"np.{f}({x.name}, axis={axis}, keepdims={keep})", lambda: getattr(np, f)(x.array, **options),
                  lambda: self.k.operations[f](x.handle, **options), grow(x.noise, x.array, f), max(x.size, largest**2 if f == "var" else largest))

    def step_scan(self):
        f, x = self.r.choice(["cumsum", "cumprod"]), self.r.choice(self.variables)
        axis = self.r.choice([None, *range(x.array.ndim)])
        self.both(f"np.{f}({x.name}, axis={axis})", lambda: getattr(np, f)(x.array, axis=axis), lambda: self.k.operations[f](x.handle, axis=axis),
                  grow(x.noise, x.array, f))

    def step_view(self):
        x, r = self.r.choice(self.variables), self.r
        kind = r.choice(["index", "index", "transpose", "reshape", "broadcast", "flip", "diagonal"] if x.array.ndim else ["index", "reshape", "broadcast"])
        if kind == "index":
            text = random_index(r, x.array.shape)
            self.both(f"{x.name}[{text}]", lambda: eval(f"a[{text}]", {"a": x.array}), lambda: self.k.index(x.handle, text), x.noise)
        elif kind == "transpose":
            self.both(f"{x.name}.T", lambda: x.array.T, lambda: self.k.operations["transpose"](x.handle), x.noise)
        elif kind == "reshape":
            shape = r.choice([(-1,), (x.array.size, 1), (1, -1), (2, -1), (-1, 3)])
            self.both(f"{x.name}.reshape({shape})", lambda: x.array.reshape(shape), lambda: self.k.operations["reshape"](x.handle, shape), x.noise)
        elif kind == "broadcast":
            shape = (r.choice([1, 2, 3]),) + x.array.shape
            self.both(f"np.broadcast_to({x.name}, {shape})", lambda: np.broadcast_to(x.array, shape), lambda: self.k.operations["broadcast_to"](x.handle, shape), x.noise)
        elif kind == "flip":
            self.both(f"np.flip({x.name})", lambda: np.flip(x.array), lambda: self.k.operations["flip"](x.handle), x.noise)
        else:
            self.both(f"np.diagonal({x.name})", lambda: np.diagonal(x.array), lambda: self.k.operations["diagonal"](x.handle), x.noise)

    def step_gather(self):
        x, r = self.r.choice(self.variables), self.r
        if not x.array.ndim:
            return
        n = x.array.shape[0]
        i = np.array([r.randint(-n, n - 1 if r.random() < 0.98 else n) if n else 0 for _ in range(r.randint(0, 6))], np.int64)
        h = self.k.from_memory(i, COPY)
        self.both(f"{x.name}[np.array({i.tolist()}, 'i8')]", lambda: x.array[i], lambda: self.k.index(x.handle, "i", i=h), x.noise)

    def step_mask(self):
        x = self.r.choice(self.variables)
        if x.noise or x.array.dtype.kind == "c":
            return
        m = x.array > 0
        h = self.k.from_memory(np.ascontiguousarray(m), COPY) if m.ndim else None
        if h is not None:
            self.both(f"{x.name}[{x.name} > 0]", lambda: x.array[m], lambda: self.k.index(x.handle, "m", m=h), x.noise)

    def step_join(self):
        x, y = self.r.choice(self.variables), self.r.choice(self.variables)
        f = self.r.choice(["concatenate", "stack"])
        self.both(f"np.{f}([{x.name}, {y.name}])", lambda: getattr(np, f)([x.array, y.array]), lambda: self.k.operations[f]([x.handle, y.handle]), max(x.noise, y.noise))

    def step_cast(self):
        x, dtype = self.r.choice(self.variables), self.r.choice(DTYPES)
        a = x.array
        if np.dtype(dtype).kind in "iu" and (a.dtype.kind in "fc") and (x.noise or not np.all(np.abs(np.real(a)) < 100) or
                                                                        (np.dtype(dtype).kind == "u" and not np.all(np.real(a) >= 0))):
            return                                                    # NumPy's own answers differ out of range
        if x.noise and dtype == "bool":
            return
        self.both(f"{x.name}.astype('{dtype}')", lambda: a.astype(dtype), lambda: self.k.operations["astype"](x.handle, dtype), x.noise and max(x.noise, 2e-3 if dtype == "float16" else 0))

    def step_product(self):
        x, y = self.r.choice(self.variables), self.r.choice(self.variables)
        self.both(f"np.matmul({x.name}, {y.name})", lambda: np.matmul(x.array, y.array), lambda: self.k.operations["matmul"](x.handle, y.handle),
                  grow(max(x.noise, y.noise), x.array, "matmul"))

    def step_sort(self):
        x = self.r.choice(self.variables)
        if x.noise or not x.array.ndim:
            return
        self.both(f"np.sort({x.name})", lambda: np.sort(x.array), lambda: self.k.operations["sort"](x.handle), 0)

    def step_update(self):
        """An in-place operator on a view of a variable; views that share its memory see it too."""
        x, y, r = self.r.choice(self.variables), self.operand(), self.r
        f = r.choice(list(IN_PLACE))
        if y is x and x.noise or max(x.noise, y.noise) and f == "ifloordiv":
            return
        text = random_index(r, x.array.shape)
        view = eval(f"a[{text}]", {"a": x.array}) if self.fits(x.array, text) else None
        if not isinstance(view, np.ndarray) or not x.array.flags.writeable or x.scalar:
            return
        target = self.k.index(x.handle, text)
        other = y.array.copy() if isinstance(y.array, np.ndarray) else y.array
        try:
            IN_PLACE[f](view, other, out=view, casting="same_kind")
        except Exception:                                             # noqa: BLE001
            return                                                    # Kiln would make the target an error array
        getattr(self.k.lib, "kn_" + f)(target, self.k.array(y.handle))
        self.lines.append(f"{x.name}[{text}] {f[1:]}= {y.name}")
        self.share_noise(x, grow(max(x.noise, getattr(y, "noise", 0)), view, f))

    def step_set(self):
        x, y, r = self.r.choice(self.variables), self.operand(), self.r
        text = random_index(r, x.array.shape)
        if not self.fits(x.array, text) or not x.array.flags.writeable or isinstance(y.array, complex) or x.scalar:
            return
        value = np.asarray(y.array)
        if value.dtype.kind == "c" and x.array.dtype.kind != "c" or (value.dtype.kind == "f" and x.array.dtype.kind in "iub") or value.dtype.kind == "i" and x.array.dtype.kind in "ub":
            return
        copy = value.copy() if isinstance(y.array, np.ndarray) else y.array
        try:
            exec(f"a[{text}] = v", {"a": x.array, "v": copy})
        except Exception:                                             # noqa: BLE001
            return
        self.k.set(x.handle, text, y.handle)
        self.lines.append(f"{x.name}[{text}] = {y.name}")
        self.share_noise(x, max(x.noise, getattr(y, "noise", 0)))

    @staticmethod
    def fits(a, text):
        try:
            eval(f"a[{text}]", {"a": a})
            return True
        except Exception:                                             # noqa: BLE001
            return False

    def share_noise(self, x, noise):
        for v in self.variables:
            if v is x or np.may_share_memory(v.array, x.array):
                v.noise = max(v.noise, noise)

    def compare(self):
        for v in self.variables:
            got = self.k.numpy(v.handle)
            want = v.array
            assert got.dtype == want.dtype, f"{v.name}: dtype {got.dtype}, not {want.dtype}"
            assert got.shape == want.shape, f"{v.name}: shape {got.shape}, not {want.shape}"
            if v.noise:
                if want.dtype.kind == "c":                            # products of infinities depend on the order
                    sound = np.isfinite(want)
                    got, want = got[sound], want[sound]
                same = np.allclose(got, want, rtol=v.noise, atol=v.noise * max(magnitude(want), v.size), equal_nan=True)
            else:
                same = np.array_equal(got, want, equal_nan=want.dtype.kind in "fc")
            assert same, f"{v.name}: {got.tolist()!r}\n  not {want.tolist()!r}\n  (noise {v.noise})"

    STEPS = [("create", 2), ("unary", 4), ("binary", 7), ("where", 1), ("reduce", 3), ("scan", 1), ("view", 5), ("gather", 1), ("mask", 1), ("join", 1),
             ("cast", 2), ("product", 1), ("sort", 1), ("update", 4), ("set", 3)]

    def run(self):
        names, weights = zip(*self.STEPS)
        for _ in range(self.r.randint(2, 4)):
            self.step_create()
        for _ in range(self.r.randint(3, 14)):
            getattr(self, "step_" + self.r.choices(names, weights)[0])()
            if self.r.random() < 0.1:
                self.compare()
        self.compare()


def magnitude(a):
    """The largest finite absolute value."""
    a = np.abs(np.asarray(a).astype(np.complex128 if np.asarray(a).dtype.kind == "c" else np.float64))
    return float(np.max(a[np.isfinite(a)], initial=0))


EXACT = {"negative", "absolute", "square", "floor", "sign", "isfinite", "logical_not", "conjugate", "rint", "invert", "add", "subtract", "multiply", "divide", "maximum",
         "minimum", "less", "equal", "greater_equal", "logical_and", "floor_divide", "remainder", "bitwise_and", "bitwise_xor", "copysign", "fmax", "not_equal",
         "max", "min", "any", "all", "argmax", "argmin", "count_nonzero", "ptp", "sqrt", "iadd", "isub", "imul", "idiv", "ifloordiv"}


def grow(noise, array, f):
    """Relative error after one more step: exact steps pass on what there is, somewhat enlarged."""
    dtype = np.asarray(array).dtype
    exact = f in EXACT and not (dtype.kind == "c" and f in ("absolute", "divide", "idiv", "sqrt", "multiply", "square", "imul", "sign", "reciprocal"))
    exact = exact or (dtype.kind in "biu" and f in ("sum", "prod", "cumsum", "cumprod", "matmul"))
    if exact and not noise:
        return 0
    small = dtype == np.float16 or dtype.itemsize <= 1 and dtype.kind in "biu" and f in UNARY
    eps = 4e-3 if small else 1e-5 if dtype in (np.float32, np.complex64) or dtype.itemsize <= 2 else 1e-11
    return min(10 * noise + (0 if exact else eps), 1.0)


def main(count, first):
    kiln = Kiln()
    passed = failed = 0
    for seed in range(first, first + count):
        with kiln.scope():
            p = Program(kiln, seed)
            try:
                p.run()
                passed += 1
            except AssertionError as e:
                failed += 1
                if failed <= 8:
                    print(f"---- program {seed}\n" + "\n".join(p.lines) + f"\n  {e}")
            except Exception as e:                                    # noqa: BLE001
                failed += 1
                if failed <= 8:
                    print(f"---- program {seed}\n" + "\n".join(p.lines) + f"\n  {type(e).__name__}: {e}")
    return passed, failed


if __name__ == "__main__":
    if len(sys.argv) == 3:
        p, f = main(int(sys.argv[1]), int(sys.argv[2]))
        print(f"{p} passed, {f} failed")
        sys.exit(f > 0)
    total = int(os.environ.get("KILN_PROGRAMS", "3000"))
    compiled = total // 3
    jobs = [("never", total - compiled, SEED), ("always", compiled, SEED + 1000000)]
    passed = failed = 0
    for mode, n, first in jobs:
        done = subprocess.run([sys.executable, __file__, str(n), str(first)], env={**os.environ, "KILN_JIT": mode}, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        print("\n".join(lines[:-1]))
        try:
            words = lines[-1].split()
            passed, failed = passed + int(words[0]), failed + int(words[2])
        except (IndexError, ValueError):
            failed += n
            print(f"KILN_JIT={mode}: ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
