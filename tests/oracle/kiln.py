"""Kiln for tests: every operation by NumPy's name, with NumPy arrays in and out.

    k = Kiln()
    k.add(x, y, dtype=np.float32)         the result as a NumPy array; errors are raised as Python's exceptions
    with k.scope(): a = k.array(x); ...   handles, for what NumPy arrays cannot show

The functions and their options are found in what `genops json` prints; the library is $KILN_BUILD/libkiln.so."""
import contextlib
import ctypes as c
import functools
import json
import os
import subprocess

import ml_dtypes
import numpy as np

BUILD = os.environ.get("KILN_BUILD", "build")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPE_NAMES = [None, "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
               "complex64", "complex128"]
DTYPES = [None] + [BFLOAT16 if n == "bfloat16" else np.dtype(n) for n in DTYPE_NAMES[1:]]
NUMBER_OF = {d: i for i, d in enumerate(DTYPES) if d is not None}
SOURCE_TOO = "KILN_TEST_SOURCE" in os.environ   # every result is scheduled for GPUs as well
ALL, UNSET = -2**63, -2**63
COPY, BORROW, SHARE = 0, 1, 2


class Unavailable(Exception):
    """NOT_AVAILABLE: the library does not have this yet, or needs a library that is absent."""


class ScopeError(Exception):
    pass


STATUS = [None, ValueError, TypeError, IndexError, MemoryError, OSError, ScopeError, ZeroDivisionError, OverflowError, NameError, SyntaxError,
          AttributeError, KeyError, AssertionError, RuntimeError, Unavailable]


class Handle(c.Structure):
    _fields_ = [("id", c.c_uint64)]


class List(c.Structure):
    _fields_ = [("n", c.c_size_t), ("at", c.POINTER(Handle))]


class Shape(c.Structure):
    _fields_ = [("ndim", c.c_int), ("dim", c.POINTER(c.c_int64))]


class Named(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", Handle)]


class Complex(c.Structure):
    _fields_ = [("re", c.c_double), ("im", c.c_double)]


C_TYPES = {"ARRAY": Handle, "LIST": List, "SHAPE": Shape, "AXIS": c.c_int64, "DTYPE": c.c_int, "BOOL": c.c_bool, "INT": c.c_int64, "NUMBER": c.c_double,
           "DEVICE": c.c_int, "NORM": c.c_int, "TEXT": c.c_char_p, "RNG": Handle}
WORDS = {"NONE": None, "ALL": ALL, "UNSET": 0, "CURRENT": 0, "BACKWARD": 0, "SCALAR": (), "FLOAT64": 13, "INT64": 5, "true": True, "false": False,
         "AXES_0_1": (0, 1), "AXES_LAST2": (-2, -1)}
NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


class Operation:
    """One row of the table, as a function of C."""

    def __init__(self, kiln, row):
        self.kiln, self.row, self.name = kiln, row, row["name"]
        self.arguments = [p for p in row["params"] if p["argument"]]
        self.options = [p for p in row["params"] if not p["argument"] and p["in_c"]]
        self.function = getattr(kiln.lib, "kn_" + self.name)
        self.function.argtypes = [C_TYPES[p["kind"]] for p in self.arguments]
        self.struct = None
        if row["family"] != "none":
            self.struct = kiln.option_struct(row["family"], self.options)
            self.function.argtypes += [c.POINTER(self.struct)]
        self.results = row["results"]
        self.function.restype = List if row["kind"] == "several arrays" else Handle
        if self.results:
            self.function.restype = type(self.name + "_result", (c.Structure,), {"_fields_": [(r, Handle) for r in self.results]})

    def __call__(self, *args, **options):
        """Arguments in NumPy's order; handles come back."""
        order = [p for p in self.row["params"] if not p["keyword_only"]]
        given = dict(zip((p["name"] for p in order), args))
        given.update(options)
        known = {p["name"] for p in self.row["params"]}
        if set(given) - known:
            raise TypeError(f"{self.name}() got an unexpected argument {set(given) - known}")
        keep = []
        passed = [self.kiln.convert(p, given.pop(p["name"], None), keep) for p in self.arguments]
        if self.struct:
            given = {n: v for n, v in given.items() if n in {p["name"] for p in self.options}}
            if given:
                o = self.struct.make(keep)
                for p in self.options:
                    if p["name"] in given:
                        setattr(o, p["c_name"], self.kiln.convert(p, given[p["name"]], keep))
                passed.append(c.byref(o))
            else:
                passed.append(None)
        result = self.function(*passed)
        if isinstance(result, List):
            if not result.at:
                raise STATUS[self.kiln.lib.kn_error_status()](self.kiln.lib.kn_error().decode())
            return tuple(result.at[i] for i in range(result.n))
        return tuple(getattr(result, r) for r in self.results) if self.results else result


class Kiln:
    def __init__(self, build=BUILD):
        self.lib = c.CDLL(os.path.join(build, "libkiln.so"))
        self.rows = json.loads(subprocess.run([os.path.join(build, "tools/genops"), "json"], capture_output=True, check=True).stdout)
        self.structs = {}
        self.declare()
        self.operations = {}
        for row in self.rows:
            op = Operation(self, row)
            for name in [row["name"], row["numpy"], *row["aliases"]]:
                self.operations.setdefault(name, op)

    def declare(self):
        lib, array = self.lib, Handle
        names = [c.POINTER(Named), c.c_size_t]
        for name, result, *arguments in [
                ("scope_open_at", Handle, c.c_char_p, c.c_int), ("scope_close", None, Handle), ("scope_status", c.c_int, Handle), ("keep", array, array),
                ("release", None, array), ("return", array, Handle, array), ("let", array, array, array), ("bool_", array, c.c_bool), ("int_", array, c.c_int64),
                ("uint_", array, c.c_uint64), ("float_", array, c.c_double), ("complex_", array, c.c_double, c.c_double), ("assign", array, array, array),
                ("index_with", array, array, c.c_char_p, *names), ("set_with", array, array, c.c_char_p, array, *names),
                ("text_with", array, c.c_char_p, *names), ("run_with", c.c_int, c.c_char_p, *names),
                ("from_", array, c.c_int, c.c_void_p, Shape), ("from_memory", array, c.c_int, c.c_void_p, Shape, c.POINTER(c.c_int64), c.c_int, c.c_void_p, c.c_void_p),
                ("sync", c.c_int, array), ("read_", c.c_int, array, c.c_int, c.c_void_p, c.c_size_t), ("f64", c.c_double, array), ("i64", c.c_int64, array),
                ("true", c.c_bool, array), ("c128", Complex, array), ("ndim", c.c_int, array), ("len", c.c_int64, array, c.c_int), ("size", c.c_int64, array),
                ("dtype_of", c.c_int, array), ("eval", c.c_int, array), ("load", array, c.c_char_p), ("load_named", array, c.c_char_p, c.c_char_p),
                ("save", c.c_int, array, c.c_char_p), ("save_all", c.c_int, c.c_char_p, *names), ("show", c.c_char_p, array), ("source", c.c_char_p, array, c.c_int),
                ("explain", c.c_char_p, array, c.c_int), ("check", c.c_int, array), ("message", c.c_char_p, array), ("error", c.c_char_p), ("error_status", c.c_int), ("error_clear", None),
                ("axes_", c.c_int64, c.c_int, c.POINTER(c.c_int)), ("reduce", array, c.c_char_p, array, c.c_int64, c.c_bool),
                ("accumulate", array, c.c_char_p, array, c.c_int64), ("reduceat", array, c.c_char_p, array, array, c.c_int64), ("outer_of", array, c.c_char_p, array, array),
                ("at_with", array, c.c_char_p, array, c.c_char_p, array, *names), ("rng_new", Handle, c.c_uint64), ("result_type", c.c_int, List)]:
            f = getattr(lib, "kn_" + name)
            f.restype, f.argtypes = result, arguments
        for name in ["iadd", "isub", "imul", "idiv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift"]:
            f = getattr(lib, "kn_" + name)
            f.restype, f.argtypes = array, [array, array]

    def option_struct(self, family, options):
        if family not in self.structs:
            struct = type(f"kn_{family}_opts", (c.Structure,), {"_fields_": [("size_", c.c_uint32)] + [(p["c_name"], c.c_int if p["kind"] == "BOOL" else C_TYPES[p["kind"]]) for p in options]})
            struct.make = lambda keep: self.default_options(struct, options, keep)
            self.structs[family] = struct
        return self.structs[family]

    def default_options(self, struct, options, keep):
        o = struct(size_=c.sizeof(struct))
        for p in options:
            if p["kind"] != "ARRAY":
                d = p["default"]
                setattr(o, p["c_name"], self.convert(p, WORDS[d] if d in WORDS else d.strip('"') if p["kind"] == "TEXT" else float(d) if "." in d or "e" in d else int(d), keep))
        return o

    # ---- values ----

    def convert(self, param, value, keep):
        kind = param["kind"]
        if kind == "ARRAY":
            return self.array(value)
        if kind == "LIST":
            items = (Handle * max(len(value), 1))(*[self.array(v) for v in value])
            keep.append(items)
            return List(len(value), items)
        if kind == "SHAPE":
            return self.shape(value, keep)
        if kind == "AXIS":
            if value is None:
                return ALL
            if isinstance(value, (tuple, list)):
                return self.lib.kn_axes_(len(value), (c.c_int * max(len(value), 1))(*value))
            return value
        if kind == "DTYPE":
            return 0 if value is None else value if isinstance(value, int) else NUMBER_OF[np.dtype(value)]
        if kind == "INT":
            return UNSET if value is None else int(value)
        if kind == "NUMBER":
            return float("nan") if value is None else value
        if kind == "NORM":
            return value if isinstance(value, int) else NORMS[value]
        if kind == "TEXT":
            return value.encode() if isinstance(value, str) else value
        if kind == "RNG":
            return value
        return value or 0

    def shape(self, value, keep):
        if value is None:
            return Shape(-1, None)
        value = (value,) if isinstance(value, int) else tuple(value)
        dims = (c.c_int64 * max(len(value), 1))(*value)
        keep.append(dims)
        return Shape(len(value), dims)

    def array(self, value):
        """A handle: of a handle, None, a Python number or a NumPy array (borrowed where it lies, strides and all)."""
        lib = self.lib
        if isinstance(value, Handle):
            return value
        if value is None:
            return Handle(0)
        if isinstance(value, np.generic):
            return self.from_memory(np.asarray(value), BORROW)
        if isinstance(value, bool):
            return lib.kn_bool_(value)
        if isinstance(value, int):
            return lib.kn_uint_(value) if value >= 0 else lib.kn_int_(value)
        if isinstance(value, float):
            return lib.kn_float_(value)
        if isinstance(value, complex):
            return lib.kn_complex_(value.real, value.imag)
        return self.from_memory(np.asarray(value), BORROW)

    def from_memory(self, a, how):
        keep = []
        strides = (c.c_int64 * max(a.ndim, 1))(*a.strides)
        data = a.__array_interface__["data"][0]
        aligned = all(s % a.itemsize == 0 for s in a.strides)
        handle = self.lib.kn_from_memory(NUMBER_OF[a.dtype], data, self.shape(a.shape, keep), strides, how if aligned else COPY, None, None)
        self.alive.append(a)
        return handle

    alive = []

    def numpy(self, handle):
        """The values as a NumPy array."""
        self.check(handle)
        dtype = self.lib.kn_dtype_of(handle)
        shape = tuple(self.lib.kn_len(handle, d) for d in range(self.lib.kn_ndim(handle)))
        a = np.empty(shape, DTYPES[dtype])
        status = self.lib.kn_read_(handle, dtype, a.__array_interface__["data"][0], a.size)
        if status:
            raise STATUS[status](self.lib.kn_error().decode())
        return a

    def check(self, handle):
        status = self.lib.kn_check(handle)
        if status:
            raise STATUS[status](self.lib.kn_message(handle).decode())

    def done(self, status):
        if status:
            raise STATUS[status](self.lib.kn_error().decode())

    @contextlib.contextmanager
    def scope(self):
        s = self.lib.kn_scope_open_at(b"kiln.py", 1)
        before = len(self.alive)
        try:
            yield s
        finally:
            self.lib.kn_scope_close(s)
            del self.alive[before:]

    # ---- calls ----

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.operations:
            raise AttributeError(name)
        return functools.partial(self.call, name)

    def call(self, name, *args, **options):
        """An operation on NumPy arrays; NumPy arrays come back. `out` is a NumPy array and is written to."""
        with self.scope():
            outs = {n: v for n, v in options.items() if n in ("out", "out1", "out2") and v is not None}
            handles = {n: self.from_memory(v, SHARE) for n, v in outs.items()}
            if self.operations[name].row["kind"] == "update":
                args = (self.from_memory(args[0], COPY), *args[1:])
            result = self.operations[name](*args, **{**options, **handles})
            for n, h in handles.items():
                self.check(h)
                self.done(self.lib.kn_sync(h))
            every = result if isinstance(result, tuple) else (result,)
            for r in every if SOURCE_TOO else ():
                self.has_source(r)
            values = tuple(self.numpy(r) for r in every)
            return values if isinstance(result, tuple) else values[0]

    def has_source(self, handle):
        """Every GPU's schedule takes it."""
        for device in (2, 3):
            if self.lib.kn_check(handle):
                return
            self.lib.kn_error_clear()
            self.lib.kn_source(handle, device)
            if self.lib.kn_error_status():
                raise RuntimeError("no source: " + self.lib.kn_error().decode())

    def names(self, values):
        items = (Named * max(len(values), 1))(*[Named(n.encode(), self.array(v)) for n, v in values.items()])
        return items, len(values)

    def index(self, a, text, **names):
        return self.lib.kn_index_with(self.array(a), text.encode(), *self.names(names))

    def set(self, a, text, value, **names):
        return self.lib.kn_set_with(a, text.encode(), self.array(value), *self.names(names))
