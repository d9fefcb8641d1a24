"""SciPy's special functions: dtypes, layouts and values beside SciPy's; their accuracy is test_device_accuracy's business."""
import os
import sys

import ml_dtypes
import numpy as np
from scipy import special

from kiln import Kiln

NAMES = "erf", "erfc", "erfinv", "erfcinv", "expit"
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def layouts(a):
    yield from {"contiguous": a, "transposed": a.T, "reversed": a[::-1, ::-2], "broadcast": np.broadcast_to(a[0], (3, a.shape[1])), "0-d": a[1, 2], "empty": a[:0]}.items()


def run(k, mode):
    rng = np.random.default_rng(5)
    for name in NAMES:
        low, high = {"erfinv": (-1, 1), "erfcinv": (0, 2)}.get(name, (-4, 4))
        for t in (bool, np.int8, np.uint16, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
            wide = np.dtype(t).kind in "biu"
            base = (rng.uniform(low, high, (7, 6)) if not wide else rng.integers(0, 2, (7, 6))).astype(t)
            for layout, a in layouts(base):
                a = np.asarray(a)
                have = k.call(name, a)
                want_dtype = np.float64 if wide else np.dtype(t)
                with np.errstate(all="ignore"):
                    want = np.asarray(getattr(special, name)(a.astype(np.float64)))
                eps = float(ml_dtypes.finfo(want_dtype).eps)
                check(have.dtype == want_dtype and have.shape == a.shape, f"{mode} {name} of {np.dtype(t)}, {layout}: {have.dtype} {have.shape}")
                check(np.allclose(have.astype(float), want.astype(want_dtype).astype(float), rtol=2 * eps, atol=2 * eps, equal_nan=True), f"{mode} {name} of {np.dtype(t)}, {layout}: {have}, not {want}")
        for bad in (np.ones(3, np.complex128),):
            try:
                k.call(name, bad)
                check(False, f"{name} takes complex numbers")
            except TypeError as e:
                check(len(str(e)) > 10, f"{name} of complex numbers: {e}")
        special_values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, 3])
        with np.errstate(all="ignore"):
            check(np.array_equal(k.call(name, special_values), getattr(special, name)(special_values), equal_nan=True) or name == "expit" or
                  np.allclose(k.call(name, special_values), getattr(special, name)(special_values), rtol=1e-15, equal_nan=True), f"{name} of special values: {k.call(name, special_values)}")


if "KILN_JIT" not in os.environ:
    import subprocess
    for mode in ("never", "always"):
        done = subprocess.run([sys.executable, __file__], env={**os.environ, "KILN_JIT": mode}, capture_output=True, text=True)
        print(done.stdout, done.stderr, end="") if done.returncode else None
        words = done.stdout.split()
        passed, failed = passed + int(words[-4]), failed + int(words[-2])
else:
    run(Kiln(), os.environ["KILN_JIT"])
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
