"""Array files: .npy, .npz and tables, written and read against NumPy in both directions."""
# also under sanitizers
import ctypes
import io
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
import zlib

import ml_dtypes
import numpy as np

PROGRAM = os.path.join(os.environ.get("KILN_BUILD", "build"), "tests/oracle/files")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FEWER = 10 if os.environ.get("KILN_SANITIZER") else 1
NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
DTYPES = {n: BFLOAT16 if n == "bfloat16" else np.dtype(n) for n in NAMES}

warnings.simplefilter("ignore")
rng = np.random.default_rng(11)
pick = random.Random(5)
passed = failed = 0


def expect(condition, *what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        if failed <= 25:
            print("FAIL", *what)
    return condition


# ---- the program ----

class Program:
    def __init__(self):
        self.run = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, data):
        self.run.stdin.write(data)
        self.run.stdin.flush()
        return self.run.stdout.readline().decode(errors="surrogateescape").rstrip("\n")

    def array(self):
        """(name, array) or the error's text."""
        head = self.run.stdout.readline().decode(errors="surrogateescape").rstrip("\n")
        if head.startswith("error "):
            return head
        words = head.split(" ")
        name, dtype, fortran, ndim = words[0], DTYPES[words[1]], words[2] == "1", int(words[3])
        shape = tuple(int(w) for w in words[4:4 + ndim])
        data = self.run.stdout.read(int(words[-1]))
        a = np.frombuffer(data, dtype)
        return name, a.reshape(shape[::-1]).T if fortran else a.reshape(shape)

    def load(self, path):
        """The error's text, or {name: array or error} and the columns' names."""
        answer = self.ask(f"load {path}\n".encode())
        if answer.startswith("error "):
            return answer
        head, *columns = answer.split("|")
        found = {}
        for i in range(int(head.split()[2])):
            got = self.array()
            if isinstance(got, str):
                found[i] = got
            else:
                found[got[0]] = got[1]
        return found, columns

    def load_one(self, path):
        got = self.load(path)
        return got if isinstance(got, str) else next(iter(got[0].values()))

    def save(self, path, arrays, compress=False, delimiter="0", columns=None):
        parts = [f"save {path} {int(compress)} {delimiter} {'|'.join(columns) if columns else '-'} {len(arrays)}\n".encode()]
        for name, a in arrays:
            low = sum(min(0, (n - 1) * s) for n, s in zip(a.shape, a.strides)) if a.size else 0
            flat = np.lib.stride_tricks.as_strided(a, shape=(), strides=()) if a.size else a
            size = (sum(max(0, (n - 1) * s) for n, s in zip(a.shape, a.strides)) + a.itemsize - low) if a.size else 0
            data = ctypes.string_at(flat.__array_interface__["data"][0] + low, size) if size else b""
            words = [name or "-", a.dtype.name, a.ndim, *a.shape, *a.strides, -low, size]
            parts.append((" ".join(map(str, words)) + "\n").encode() + data)
        return self.ask(b"".join(parts))

    def close(self):
        self.run.stdin.close()
        return self.run.wait()


program = Program()
folder = tempfile.mkdtemp()


def path(name):
    return os.path.join(folder, name)


def put(name, data):
    with open(path(name), "wb") as f:
        f.write(data)
    return path(name)


def get(name):
    with open(path(name), "rb") as f:
        return f.read()


def npy(a, **options):
    f = io.BytesIO()
    np.lib.format.write_array(f, np.asanyarray(a), **options)
    return f.getvalue()


def same(a, b):
    return (isinstance(a, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape
            and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes())


def random_array(name, shape):
    t = DTYPES[name]
    a = np.frombuffer(rng.bytes(max(1, int(np.prod(shape))) * t.itemsize), t)[:int(np.prod(shape))].reshape(shape).copy()
    return (a.view(np.uint8) & 1).view(bool) if name == "bool" else a


SHAPES = [(), (1,), (0,), (5,), (3, 4), (4, 0, 2), (2, 3, 4), (1, 1, 1, 1), (70,), (130000,), (300, 301), (2,) * 10, (1,) * 64, (12345, 1),
          (1, 12345), (10**6 // FEWER,)]


# ---- .npy ----

def npy_both_ways():
    for name in NAMES:
        for shape in SHAPES if name in ("float64", "int8", "complex64") else SHAPES[:7]:
            a = random_array(name, shape)
            views = [a, a.T, a[::-1] if a.ndim else a, a[..., ::2] if a.ndim else a, np.asfortranarray(a)]
            if a.ndim == 3:
                views += [a.transpose(1, 0, 2), a[:, ::-1, 1:], np.broadcast_to(a, (2,) + a.shape), a.transpose(2, 0, 1)]
            for v in views:
                answer = program.save(path("w.npy"), [(None, v)])
                expect(answer == "ok", "save", name, v.shape, answer)
                np.save(path("n.npy"), v)
                expect(get("w.npy") == get("n.npy"), "bytes of", name, v.shape, v.strides, get("w.npy")[:128], get("n.npy")[:128])
                expect(same(program.load_one(path("n.npy")), v), "load", name, v.shape, v.strides)


def npy_variants():
    for name in NAMES:
        a = random_array(name, (4, 5))
        for version in ((1, 0), (2, 0), (3, 0)):
            expect(same(program.load_one(put("v.npy", npy(a, version=version))), a), "version", version, name)
        if name != "bfloat16":
            swapped = a.astype(a.dtype.newbyteorder(">"))
            expect(same(program.load_one(put("v.npy", npy(swapped))), a), "big-endian", name)
            expect(same(program.load_one(put("v.npy", npy(np.asfortranarray(swapped)))), a), "big-endian Fortran", name)
    big = np.arange(10**6 // FEWER, dtype=">f8").reshape(-1, 10)
    expect(same(program.load_one(put("v.npy", npy(big))), big.astype("f8")), "large big-endian")


def header(text, data=b"", version=(1, 0)):
    text = text.encode("latin1") if isinstance(text, str) else text
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + size + text + data


EIGHT = struct.pack("<3d", 1.5, -2, 3)


def npy_headers_accepted():
    good = np.array([1.5, -2, 3])
    for text in ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", "{'shape': (3,), 'descr': '<f8', 'fortran_order': False, }\n",
                 '{"descr": "<f8", "fortran_order": False, "shape": (3,), }', "{'descr':'<f8','fortran_order':False,'shape':(3,)}",
                 "{u'descr': u'<f8', 'fortran_order': False, 'shape': (3L,)}", "  {'descr': '<f8', 'fortran_order': True, 'shape': ( 3 , ) }  \n",
                 "{'descr': ('<f8'), 'fortran_order': (False), 'shape': (3,)}", "{'descr': 'float64', 'fortran_order': False, 'shape': (3,)}",
                 "{'descr': 'd', 'fortran_order': False, 'shape': (3,)}", "{'descr': '=f8',\n 'fortran_order': False,\n 'shape': (3,)}",
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (+3,)}"):
        got = program.load_one(put("h.npy", header(text, EIGHT)))
        expect(same(got, good), "accepted", text, got)
    got = program.load_one(put("h.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", EIGHT + b"more")))
    expect(same(got, good), "what follows the array is another's", got)
    got = program.load_one(put("h.npy", header("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", b"\0\2\xff")))
    expect(same(got, np.array([False, True, True])), "bools with other bits", got)
    for shape in ("(0, 4611686018427387904)", "(9223372036854775807, 0)"):
        got = program.load_one(put("h.npy", header("{'descr': '|i1', 'fortran_order': False, 'shape': %s}" % shape)))
        expect(isinstance(got, np.ndarray) and got.size == 0, "empty", shape, got)


def npy_headers_refused():
    ok = "'fortran_order': False, 'shape': (3,)"
    cases = [
        ("TypeError", "Python objects", f"{{'descr': '|O', {ok}}}"),
        ("TypeError", "strings", f"{{'descr': '<U5', {ok}}}"), ("TypeError", "strings", f"{{'descr': '|S5', {ok}}}"),
        ("TypeError", "dates or times", f"{{'descr': '<M8[ns]', {ok}}}"), ("TypeError", "dates or times", f"{{'descr': '<m8[s]', {ok}}}"),
        ("TypeError", "raw bytes", f"{{'descr': '|V5', {ok}}}"), ("TypeError", "long double", f"{{'descr': '<f16', {ok}}}"),
        ("TypeError", "structures", f"{{'descr': [('a', '<f8'), ('b', '<i4', (2,))], {ok}}}"),
        ("TypeError", "structures", f"{{'descr': ('<f8', (3,)), {ok}}}"),
        ("TypeError", "'q9' is not known", f"{{'descr': '<q9', {ok}}}"), ("TypeError", "is not known", f"{{'descr': '<<f8', {ok}}}"),
        ("TypeError", "is not known", f"{{'descr': '', {ok}}}"), ("TypeError", "is not known", f"{{'descr': '\0f8', {ok}}}"),
        ("ValueError", "descr in its header is not a string", f"{{'descr': 8, {ok}}}"),
        ("ValueError", "not a dictionary", "[1, 2]"), ("ValueError", "not a dictionary", ""), ("ValueError", "not a dictionary", "\xff\xfe{}"),
        ("ValueError", "lacks the key descr", "{}"), ("ValueError", "lacks the key shape", "{'descr': '<f8', 'fortran_order': False}"),
        ("ValueError", "a key other than", f"{{'descr': '<f8', {ok}, 'x': 1}}"), ("ValueError", "a key other than", f"{{3: '<f8', {ok}}}"),
        ("ValueError", "the key descr twice", f"{{'descr': '<f8', 'descr': '<f4', {ok}}}"),
        ("ValueError", "neither True nor False", "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}"),
        ("ValueError", "neither True nor False", "{'descr': '<f8', 'fortran_order': None, 'shape': (3,)}"),
        ("ValueError", "not a tuple", "{'descr': '<f8', 'fortran_order': False, 'shape': 3}"),
        ("ValueError", "not a tuple", "{'descr': '<f8', 'fortran_order': False, 'shape': (3)}"),
        ("ValueError", "not a tuple", "{'descr': '<f8', 'fortran_order': False, 'shape': [3]}"),
        ("ValueError", "not a tuple of integers", "{'descr': '<f8', 'fortran_order': False, 'shape': ('3',)}"),
        ("ValueError", "not a tuple of integers", "{'descr': '<f8', 'fortran_order': False, 'shape': ((3,),)}"),
        ("ValueError", "not a tuple of integers", "{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}"),
        ("ValueError", "dimension -3 in its header is negative", "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}"),
        ("ValueError", "larger than any array", "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
        ("ValueError", "larger than any array", "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
        ("ValueError", "larger than any array", "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387904, 4611686018427387904)}"),
        ("ValueError", "needs 8000000000 bytes, and 24 are there", "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,)}"),
        ("ValueError", "more than 64 dimensions", "{'descr': '<f8', 'fortran_order': False, 'shape': (%s)}" % ("1," * 65)),
        ("ValueError", "nests values deeper", f"{{'descr': {'[' * 5000}, {ok}}}"),
        ("ValueError", "the end of a string expected at character", "{'descr': '<f8"), ("ValueError", "a : expected at character", f"{{'descr' '<f8', {ok}}}"),
        ("ValueError", "a , or } expected at character", f"{{'descr': '<f8' {ok}}}"), ("ValueError", "a value expected", f"{{'descr': <f8, {ok}}}"),
        ("ValueError", "the header's end expected", f"{{'descr': '<f8', {ok}}} x"), ("ValueError", "a value expected", "{,}"),
        ("ValueError", "a digit expected", "{'descr': '<f8', 'fortran_order': False, 'shape': (-,)}"),
        ("ValueError", "a value expected", "{'descr': '<f8', 'fortran_order': False, 'shape': (f(3),)}"),
    ]
    for status, part, text in cases:
        got = program.load_one(put("h.npy", header(text, EIGHT)))
        expect(isinstance(got, str) and got.startswith("error " + status) and part in got and "h.npy'" in got, "refused", text[:80], "got", got)
    raw = [
        ("ValueError", "too short", b""), ("ValueError", "too short", b"\x93NUMPY"), ("ValueError", "does not start", b"\x93NUMPX" + bytes(50)),
        ("ValueError", "does not start", bytes(100)), ("ValueError", "format version is 4.0", b"\x93NUMPY\4\0" + bytes(50)),
        ("ValueError", "format version is 1.1", b"\x93NUMPY\1\1" + bytes(50)), ("ValueError", "ends within its header", b"\x93NUMPY\1\0\xff\xff{}"),
        ("ValueError", "its header has 4294967295 bytes", b"\x93NUMPY\2\0\xff\xff\xff\xff{}"), ("ValueError", "ends early", b"\x93NUMPY\2\0\1"),
    ]
    for status, part, data in raw:
        got = program.load_one(put("h.npy", data))
        expect(isinstance(got, str) and got.startswith("error " + status) and part in got, "refused", data[:20], "got", got)


def npy_damaged():
    """Each byte of a header changed, and the file cut at each length: either both read the same array, or we refuse."""
    for a in (np.arange(6, dtype="<i2").reshape(2, 3), np.asfortranarray(np.ones((2, 2), ">c8")), np.array(True)):
        whole = npy(a)
        for cut in range(len(whole)):
            got = program.load_one(put("d.npy", whole[:cut]))
            expect(isinstance(got, str) and "d.npy'" in got, "cut at", cut, got)
        for i in range(128):
            for change in (1, 2, 4, 16, 128, 255) if FEWER == 1 else (1, 128):
                data = bytearray(whole)
                data[i] ^= change
                got = program.load_one(put("d.npy", bytes(data)))
                try:
                    want = np.load(path("d.npy"))
                except Exception:  # NumPy raises what its parsers raise
                    want = None
                if isinstance(got, str):
                    refused = want is None or want.dtype.name not in NAMES
                    expect(refused or "twice" in got or not text_is_plain(bytes(data)), "NumPy reads this one", bytes(data[:128]), got)
                else:
                    expect(want is not None and same_values(got, want), "not as NumPy reads it", bytes(data[:128]), got, want)


def text_is_plain(data):
    """Not so when Python reads more than we do: other spellings of integers, strings and white space."""
    return not any(c in data[10:128] for c in b"\\_#xobXOB\"\x0b\x0c\x1a\0") and max(data[10:128]) < 128


def same_values(a, b):
    if b.dtype == np.dtype("V2"):
        b = b.view(BFLOAT16)
    return a.shape == b.shape and a.dtype == b.dtype.newbyteorder("=") and (a.tobytes() == b.astype(a.dtype).tobytes() or a.dtype == bool)


# ---- .npz ----

def npz_both_ways():
    arrays = {f"{name}_{i}": random_array(name, s) for name in NAMES for i, s in enumerate([(), (3,), (4, 0), (5, 70)])}
    arrays["transposed"] = arrays["float64_3"].T
    arrays["every_second"] = arrays["int16_3"][::2, ::-3]
    arrays["repetitive"] = np.tile(np.arange(100.0), 3000 // FEWER)
    arrays["zeros"] = np.zeros(10**6 // FEWER)
    arrays["noise"] = rng.integers(0, 256, 200000, dtype=np.uint8)
    arrays["straße"] = np.arange(3)
    arrays["a/b"] = np.arange(4)
    for compress in (False, True):
        items = list(arrays.items())
        for part in (items[:60], items[60:], [(None, arrays["noise"]), (None, arrays["zeros"])]):
            answer = program.save(path("w.npz"), part, compress)
            if not expect(answer == "ok", "save", answer):
                continue
            want = {k or f"arr_{i}": v for i, (k, v) in enumerate(part)}
            with zipfile.ZipFile(path("w.npz")) as z:
                expect(z.testzip() is None, "testzip")
                kinds = {i.compress_type for i in z.infolist()}
                expect(kinds == {zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED}, "methods", kinds)
            with np.load(path("w.npz")) as got:
                expect(list(got) == list(want), "names", list(got))
                for k, v in want.items():
                    expect(same(got[k].view(v.dtype), v), "written", k)
            found, _ = program.load(path("w.npz"))
            for k, v in want.items():
                expect(same(found.get(k), v), "written and read", k)
            (np.savez_compressed if compress else np.savez)(path("n.npz"), **want)
            found, _ = program.load(path("n.npz"))
            expect(list(found) == list(want), "names", list(found))
            for k, v in want.items():
                expect(same(found.get(k), v), "read", k, found.get(k))
    first = get("w.npz")
    program.save(path("w.npz"), part, True)
    expect(get("w.npz") == first, "equal arrays make equal archives")
    expect("two arrays in it have the name 'x'" in program.save(path("w.npz"), [("x", arrays["zeros"]), ("x", arrays["noise"])]), "names twice")
    expect(program.save(path("w.npz"), []) == "ok" and "holds no arrays" in program.load(path("w.npz")), "no arrays")


def deflated(data, level=6, strategy=0, wbits=-15, flush_every=None):
    z = zlib.compressobj(level, zlib.DEFLATED, wbits, 8, strategy)
    if not flush_every:
        return z.compress(data) + z.flush()
    out = b"".join(z.compress(data[i:i + flush_every]) + z.flush(pick.choice([zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH]))
                   for i in range(0, len(data), flush_every))
    return out + z.flush()


def archive(members, comment=b"", **changes):
    """An archive built by hand. members: (name, data, deflated data or None). changes replace fields of the directory."""
    out, directory = b"", b""
    for name, data, packed in members:
        c = dict(method=0 if packed is None else 8, flags=0, crc=zlib.crc32(data), packed=len(data if packed is None else packed),
                 size=len(data), offset=len(out), extra=b"")
        c.update(changes)
        n = name.encode()
        out += b"PK\3\4" + struct.pack("<HHHHHIIIHH", 20, 0, c["method"], 0, 0, 0, 0, 0, len(n), 3) + n + b"xyz" + (data if packed is None else packed)
        directory += b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, c["flags"], c["method"], 0, 0, c["crc"], c["packed"], c["size"], len(n),
                                             len(c["extra"]), 0, 0, 0, 0, c["offset"]) + n + c["extra"]
    start = len(out)
    return out + directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), start, len(comment)) + comment


def inflate_against_zlib():
    text = " ".join(str(i * i) for i in range(9000)).encode()
    samples = [b"", b"a", bytes(70000), text, rng.bytes(70000), bytes(rng.integers(0, 3, 100000, dtype=np.uint8)),
               b"".join(pick.choice([b"abc", b"xyzzy", bytes(300), rng.bytes(9)]) for _ in range(5000)),
               bytes(rng.geometric(0.02, 60000).clip(0, 255).astype(np.uint8)), rng.bytes(32768) * 3, rng.bytes(32767) * 3, b"ab" * 40000]
    for sample in samples:
        whole = npy(np.frombuffer(sample, np.uint8))
        for level in (0, 1, 6, 9):
            for strategy in (0, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED):
                packed = deflated(whole, level, strategy, flush_every=pick.choice([None, None, 100, 5000]) if len(whole) < 10**5 else None)
                got = program.load_one(put("i.npz", archive([("x.npy", whole, packed)])))
                expect(same(got, np.frombuffer(sample, np.uint8)), "inflate", len(sample), level, strategy, got)


def npz_refused():
    whole = npy(np.arange(1000))
    packed = deflated(whole)
    cases = [
        ("directory is missing", archive([("x.npy", whole, None)])[:-1]), ("directory is missing", b"PK\3\4" + bytes(100)),
        ("holds no arrays", archive([("x.txt", whole, None)])), ("is encrypted", archive([("x.npy", whole, None)], flags=1)),
        ("compressed by method 12", archive([("x.npy", whole, None)], method=12)),
        ("is not where its directory says", archive([("x.npy", whole, None)], offset=5)),
        ("lies outside the file", archive([("x.npy", whole, None)], offset=10**6)),
        ("lies outside the file", archive([("x.npy", whole, None)], packed=10**6, size=10**6)),
        ("two sizes", archive([("x.npy", whole, None)], size=len(whole) - 1)), ("checksum", archive([("x.npy", whole, None)], crc=1)),
        ("checksum", archive([("x.npy", whole, packed)], crc=1)), ("larger than its bytes can make it", archive([("x.npy", whole, packed)], size=2**31)),
        ("ends early", archive([("x.npy", whole, packed)], size=500)), ("go on after the array's end", archive([("x.npy", whole + b"x", deflated(whole + b"x"))], size=len(whole))),
        ("bytes more than its array", archive([("x.npy", whole + b"x", None)])), ("bytes follow its compressed data", archive([("x.npy", whole, packed + b"12345678")])),
        ("damaged", archive([("x.npy", whole, b"\7" + packed)])), ("compressed data end early", archive([("x.npy", whole, deflated(whole[:-9]))], size=len(whole))),
        ("zero byte", archive([("a\0b.npy", whole, None)])), ("not sound", archive([("x.npy", whole, None)], extra=b"\1\0\xff\xff")),
        ("not sound", archive([("x.npy", whole, None)], size=0xffffffff, extra=b"\1\0\4\0abcd")),
        ("needs 8000 bytes", archive([("x.npy", whole[:500], None)])), ("Python objects", archive([("x.npy", header("{'descr': '|O', 'fortran_order': False, 'shape': ()}"), None)])),
    ]
    for part, data in cases:
        got = program.load(put("r.npz", data))
        if not isinstance(got, str):
            got = next(iter(got[0].values()))
        expect(isinstance(got, str) and part in got and "r.npz'" in got, "refused", part, "got", got)
    got = program.load_one(put("r.npz", archive([("x.npy", whole, packed)], comment=b"PK\5\6 a comment" * 100)))
    expect(same(got, np.arange(1000)), "a comment", got)
    bomb = np.zeros(10**7, np.uint8)
    got = program.load_one(put("r.npz", archive([("x.npy", npy(bomb), deflated(npy(bomb), 9))])))
    expect(same(got, bomb), "a thousandfold is fair")


def npz_damaged():
    """Each byte changed and each length: NumPy's array or a refusal, never another array."""
    for compress in (False, True):
        want = {"a": np.arange(20, dtype="<i4"), "b": np.ones((2, 3))}
        (np.savez_compressed if compress else np.savez)(path("n.npz"), **want)
        whole = get("n.npz")
        for cut in range(0, len(whole), 1 if FEWER == 1 else 7):
            got = program.load(put("d.npz", whole[:cut]))
            expect(isinstance(got, str), "cut at", cut, got)
        for i in range(0, len(whole), 1 if FEWER == 1 else 5):
            for change in (1, 64, 255):
                data = bytearray(whole)
                data[i] ^= change
                got = program.load(put("d.npz", bytes(data)))
                if not isinstance(got, str):
                    for k, v in got[0].items():
                        known = any(same(v, w) for w in want.values())
                        expect(isinstance(v, str) or known, "damaged at", i, change, k, v)


# ---- tables ----

def loaded(text, suffix=".csv"):
    got = program.load(put("t" + suffix, text.encode() if isinstance(text, str) else text))
    return got if isinstance(got, str) else (next(iter(got[0].values())), got[1])


def tables_read():
    nan = np.nan
    cases = [
        ("1,2\n3,4\n", [[1, 2], [3, 4]], []), ("1,2\n3,4", [[1, 2], [3, 4]], []), ("1,2\r\n3,4\r\n", [[1, 2], [3, 4]], []),
        ("1,2\r3,4\r", [[1, 2], [3, 4]], []), ("\n\n1,2\n\n \n3,4\n\n", [[1, 2], [3, 4]], []), ("\ufeffa,b\n1,2\n", [[1, 2]], ["a", "b"]),
        ("a,b\n1,2.5\n", [[1, 2.5]], ["a", "b"]), ('"a, x","say ""b"""\n1,2\n', [[1, 2]], ["a, x", 'say "b"']), ("x\n1\n2\n", [1, 2], ["x"]),
        ("1\n2\n3\n", [1, 2, 3], []), ("1 2 3\n4 5 6\n", [[1, 2, 3], [4, 5, 6]], []), ("  1   2\t3  \n4 5 6", [[1, 2, 3], [4, 5, 6]], []),
        ("1\t2\n\t4\n", [[1, 2], [nan, 4]], []), ("\t\n1\t2\n", [[nan, nan], [1, 2]], []), ("1;2\n3;4\n", [[1, 2], [3, 4]], []), ("1,,3\n,5,\n", [[1, nan, 3], [nan, 5, nan]], []),
        ("1,NA,nan\nNaN,null,None\n", [[1, nan, nan], [nan, nan, nan]], []), ("# c\n1,2 # x\n#3,4\n5,6", [[1, 2], [5, 6]], []),
        ("inf,-inf,+Infinity\n1e3,-1.5E-3,.5\n", [[np.inf, -np.inf, np.inf], [1e3, -1.5e-3, .5]], []), ("1+2j,3\n-1.5-2.5e1j,4j\n", [[1 + 2j, 3], [-1.5 - 25j, 4j]], []),
        ("(1+2j),(3-4j)\n", [[1 + 2j, 3 - 4j]], []), ('"1","2"\n"3",4\n', [[1, 2], [3, 4]], []), ('" 1 ","2"\n', [[1, 2]], []),
        ("9223372036854775807,-9223372036854775808\n", [[2**63 - 1, -2**63]], []), ("9223372036854775808,1\n", [[2.0**63, 1]], []),
        ("-9223372036854775809,1\n", [[-2.0**63, 1]], []), ("-0,+7\n", [[0, 7]], []), ("1 , 2\n 3,4 \n", [[1, 2], [3, 4]], []),
        ("1.7976931348623157e308,1e400,1e-400\n", [[1.7976931348623157e308, np.inf, 0]], []), ("year;value, USD\n1999;2\n", [[1999, 2]], ["year", "value, USD"]),
        ("a b c\n1 2 3\n", [[1, 2, 3]], ["a", "b", "c"]), ("a,b\n", np.zeros((0, 2)), ["a", "b"]), ("007,1e0\n", [[7, 1]], []), ("1.,2\n", [[1.0, 2]], []),
        ("a,\n1,2\n", [[1, 2]], ["a", ""]), ('"two\nlines",b\n1,2\n', [[1, 2]], ["two~lines", "b"]),
    ]
    for text, want, names in cases:
        got = loaded(text)
        want = np.array(want)
        if want.dtype == int and ("." in text or "e0" in text):
            want = want.astype(float)
        good = not isinstance(got, str) and got[0].dtype == want.dtype and got[0].shape == want.shape and np.array_equal(got[0], want, equal_nan=True)
        expect(good and got[1] == names, "read", repr(text), "got", got)
    refused = [
        ("1,2\n3,4,5\n", "line 2 has 3 values where line 1 has 2"), ("a,b\n1,2\n\n3\n", "line 4 has 1 values where line 1 has 2"),
        ("1,2\n3,x4\n", "line 2, column 2: 'x4' is not a number"), ("1;2,5\n3;4\n", "decimal point"), ("", "no rows"), ("# only\n\n", "no rows"), ('1,"2\n', "quote"),
        ('1,"2"x\n', "quote"), ("1,2\0\n", "zero bytes"), ("1,1 2\n", None), ("a,b\nc,d\n", "line 2, column 1: 'c'"), ("1,2\n1+2,3\n", "not a number"),
        ("1,2\n--1,3\n", "not a number"), ("1,2\n1j2,3\n", "not a number"), ("1,2\n0x10,3\n", "not a number"), ("1,2\n1e,3\n", "not a number"),
        ("1,2\n()  ,3\n", "not a number"), ("1,2\n1_000,3\n", "not a number"),
    ]
    for text, part in refused:
        got = loaded(text)
        if part:
            expect(isinstance(got, str) and part in got and "t.csv'" in got, "refused", repr(text), got)
    expect("UTF-16" in loaded("1,2\n".encode("utf-16")), "UTF-16")
    expect("neither .npy nor .npz" in loaded("1,2\n", ".dat"), "another name")


def tables_both_ways():
    for name in NAMES:
        for shape in ((4, 3), (7,), (1, 5), (), (3, 1), (0, 2)):
            a = random_array(name, shape)
            for suffix, delimiter in ((".csv", ","), (".tsv", "\t"), (".txt", None)):
                if not expect(program.save(path("w" + suffix), [(None, a)]) == "ok", "save table", name, shape):
                    continue
                if a.size == 0:
                    continue
                kind = complex if a.dtype.kind == "c" else float if a.dtype.kind not in "iub" else int
                rows = [[kind(w) for w in line.split(delimiter)] for line in get("w" + suffix).decode().splitlines()]
                want = a.reshape(-1, 1) if a.ndim < 2 else a
                with np.errstate(all="ignore"):
                    back = np.array(rows, object if kind is int else None).astype(a.dtype)
                expect(np.array_equal(back, want, equal_nan=a.dtype.kind not in "iub"), "written", name, shape, suffix)
                got = program.load_one(path("w" + suffix))
                wide = a.astype(float) if name == "uint64" and a.max() >= 2**63 else a
                with np.errstate(all="ignore"):
                    good = not isinstance(got, str) and np.array_equal(got.astype(a.dtype) if wide is a else got, wide.reshape(got.shape), equal_nan=a.dtype.kind not in "iub")
                expect(good, "written and read", name, shape, suffix, got)
    a = np.arange(6).reshape(2, 3)
    program.save(path("w.csv"), [(None, a)], columns=["a", "b,c", 'd"e'])
    expect(get("w.csv") == b'a,"b,c","d""e"\n0,1,2\n3,4,5\n', "names", get("w.csv"))
    expect(loaded(get("w.csv").decode())[1] == ["a", "b,c", 'd"e'], "names back")
    expect("2 names for 3 columns" in program.save(path("w.csv"), [(None, a)], columns=["a", "b"]), "too few names")
    expect("at most 2 axes" in program.save(path("w.csv"), [(None, np.zeros((2, 2, 2)))]), "three axes")
    program.save(path("w.csv"), [(None, a)], delimiter=";")
    expect(get("w.csv") == b"0;1;2\n3;4;5\n", "delimiter", get("w.csv"))
    expect(program.save(path("w.csv"), [(None, np.array([0.1, 1e-5, 1e22, np.nan, -np.inf, 3]))]) == "ok" and
           get("w.csv") == b"0.1\n1e-05\n1e+22\nnan\n-inf\n3.0\n", "floats", get("w.csv"))
    x = rng.standard_normal((2000, 4)) * 10.0 ** rng.integers(-300, 300, (2000, 4))
    np.savetxt(path("s.csv"), x, delimiter=",", header="a,b,c,d")
    expect(np.array_equal(program.load_one(path("s.csv")), x), "np.savetxt")
    np.savetxt(path("s.txt"), x * (1 + 2j))
    expect(np.array_equal(program.load_one(path("s.txt")), np.loadtxt(path("s.txt"), dtype=complex)), "np.savetxt complex")


# ---- the file system ----

def refused_by_the_system():
    a = np.arange(3)
    for p, part in ((path("none.npy"), "No such file"), (folder, "a directory"), ("/dev/null", "not a regular file")):
        got = program.load(p)
        expect(isinstance(got, str) and got.startswith("error OSError") and part in got, "load", p, got)
    os.mkfifo(path("pipe"))
    expect("not a regular file" in program.load(path("pipe")), "a pipe")
    for p, part in ((path("no/such/x.npy"), "No such file"), (folder, "directory"), ("/dev/full", "No space")):
        got = program.save(p, [(None, a)])
        expect(got.startswith("error OSError") and part in got and p in got, "save", p, got)
    expect(program.save("/dev/null", [(None, a)]) == "ok", "/dev/null")
    expect("takes one array, not 2" in program.save(path("two.npy"), [(None, a), (None, a)]), "two arrays in .npy")


def replaced_whole():
    a = np.arange(3)
    before = sorted(os.listdir(folder))
    put("keep.npy", b"old")
    os.chmod(path("keep.npy"), 0o640)
    os.symlink("keep.npy", path("link.npy"))
    inode = os.stat(path("keep.npy")).st_ino
    expect(program.save(path("link.npy"), [(None, a)]) == "ok", "through a link")
    expect(os.path.islink(path("link.npy")) and same(np.load(path("keep.npy")), a), "the link stays")
    expect(os.stat(path("keep.npy")).st_mode & 0o777 == 0o640, "permissions stay")
    expect(os.stat(path("keep.npy")).st_ino != inode, "another file took its place")
    program.save(path("keep.npz"), [("x", a)])
    old = get("keep.npz")
    expect(program.save(path("keep.npz"), [("x", a), ("x", a)]) != "ok" and get("keep.npz") == old, "a failure leaves the old file")
    expect(sorted(os.listdir(folder)) == sorted(before + ["keep.npy", "link.npy", "keep.npz"]), "nothing is left behind", os.listdir(folder))
    if os.getuid() != 0:
        os.chmod(path("keep.npy"), 0o440)
        expect("Permission" in program.save(path("keep.npy"), [(None, a)]), "a file that may not be written")


def main():
    for test in (npy_both_ways, npy_variants, npy_headers_accepted, npy_headers_refused, npy_damaged, npz_both_ways, inflate_against_zlib,
                 npz_refused, npz_damaged, tables_read, tables_both_ways, refused_by_the_system, replaced_whole):
        test()
    expect(program.close() == 0, "the program's exit status")
    shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
