"""Random numbers: Philox by its definition and its authors' known answers, distributions by their moments and by Kolmogorov and
Smirnov's distance, the same bits however they are computed, NumPy's sentences for bad arguments."""
import ctypes as c
import hashlib
import os
import subprocess
import sys

import numpy as np
from scipy import stats

from kiln import Kiln

k = Kiln()
N = 200_000
passed = failed = 0


def expect(condition, *what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("FAIL", *what)


def philox(counter, key):
    """Ten rounds, word by word, as in the paper."""
    x, (k0, k1) = list(counter), key
    for _ in range(10):
        a, b = x[0] * 0xd2511f53, x[2] * 0xcd9e8d57
        x = [(b >> 32) ^ x[1] ^ k0, b & 0xffffffff, (a >> 32) ^ x[3] ^ k1, a & 0xffffffff]
        k0, k1 = (k0 + 0x9e3779b9) & 0xffffffff, (k1 + 0xbb67ae85) & 0xffffffff
    return x


def draw(name, *args, seed=1, **options):
    with k.scope():
        return k.numpy(k.operations[name](k.lib.kn_rng_new(seed), *args, **options))


def known_answers():
    """The authors' (kat_vectors): all zeros, all ones, digits of pi; then the library against the definition."""
    ones = 0xffffffff
    expect(philox([0] * 4, [0] * 2) == [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8], "zeros")
    expect(philox([ones] * 4, [ones] * 2) == [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd], "ones")
    expect(philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]) == [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1], "pi")
    for seed in (0, 1, 2**32 + 5, 2**64 - 1):
        words = [philox([i, 0, 0, 0], [seed & ones, seed >> 32]) for i in range(100)]
        low = np.array([w[0] | w[1] << 32 for w in words], np.uint64)
        expect(np.array_equal(draw("random", size=(100,), seed=seed), (low >> np.uint64(11)) * 2.0**-53), "random of seed", seed)
        expect(np.array_equal(draw("random", size=(100,), seed=seed, dtype=np.float32), (low >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)), "float32 of seed", seed)
        for low, high in ((0, 10), (-5, 2**40), (0, 3 * 2**61), (-2**63, 2**63 - 1)):
            if low == -2**63 == high:
                continue
            wanted = [low + ((w[0] | w[1] << 32) << 64 | w[2] | w[3] << 32) * (high - low) // 2**128 for w in words]
            expect(draw("integers", low, high, size=(100,), seed=seed).tolist() == wanted, "integers", low, high, "of seed", seed)


def distributions():
    """Kolmogorov and Smirnov's distance is below 2.2 / sqrt(n) but once in 16,000 times."""
    for name, args, exact in [("random", (), stats.uniform()), ("uniform", (-2.0, 5.0), stats.uniform(-2, 7)), ("standard_normal", (), stats.norm()),
                              ("normal", (3.0, .5), stats.norm(3, .5)), ("standard_exponential", (), stats.expon()), ("exponential", (4.0,), stats.expon(scale=4))]:
        for seed in (1, 2, 3):
            x = draw(name, *args, size=(N,), seed=seed)
            distance = stats.kstest(x, exact.cdf).statistic
            expect(distance < 2.2 / np.sqrt(N), name, args, "distance", distance)
            expect(abs(x.mean() - exact.mean()) < 4.5 * exact.std() / np.sqrt(N), name, "mean", x.mean())
            fourth = float(exact.stats("k")) + 2
            expect(abs(x.var() / exact.var() - 1) < 4.5 * np.sqrt(fourth / N), name, "variance", x.var())
            expect(abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4.5 / np.sqrt(N), name, "neighbours correlate")
    x = draw("random", size=(N,), dtype=np.float32)
    expect(x.dtype == np.float32 and x.min() >= 0 and x.max() < 1, "float32 in [0, 1)")
    expect(draw("normal", size=(3,), dtype=np.float32).tolist() == draw("normal", size=(3,)).astype(np.float32).tolist(), "float32 is float64 rounded")


def integers():
    for dtype in (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        for low, high in ((0, 1), (0, 2), (1, 2)) if dtype == np.bool_ else ((0, 3), (0, 7), (5, 105), (0, 127)):
            x = draw("integers", low, high, size=(N,), dtype=dtype)
            counts = np.bincount(x.astype(np.int64), minlength=high)[low:]
            expect(x.dtype == dtype and counts.sum() == N and len(counts) == high - low, dtype.__name__, low, high, "range")
            p = stats.chisquare(counts).pvalue if high - low > 1 else 1
            expect(p > 1e-4, dtype.__name__, low, high, "chi square", p)
    x = draw("integers", -128, 127, size=(N,), dtype=np.int8, endpoint=True)
    expect(set(x.tolist()) == set(range(-128, 128)), "all of int8")
    third = draw("integers", 0, 3 * 2**61, size=(N,)) // 2**61
    expect(stats.chisquare(np.bincount(third)).pvalue > 1e-4, "a range of three quarters of 2^63 is even")
    expect(np.array_equal(draw("integers", 10, None, size=(50,)), draw("integers", 0, 10, size=(50,))), "integers(high)")


def order():
    """Draws follow each other as one long one; shapes do not matter; seeds do."""
    with k.scope():
        g = k.lib.kn_rng_new(9)
        parts = [k.numpy(k.operations["random"](g, size=s)) for s in ((3,), (0, 4), (2, 5), ())]
    expect(np.array_equal(np.concatenate([p.reshape(-1) for p in parts]), draw("random", size=(14,), seed=9)) and parts[1].shape == (0, 4) and parts[3].shape == (), "one stream")
    expect(not np.array_equal(draw("random", size=(14,), seed=9), draw("random", size=(14,), seed=10)), "another seed")
    for x in (np.arange(1000), np.arange(60).reshape(3, 20)):
        for axis in range(x.ndim):
            y = draw("permutation", x, axis)
            expect(np.array_equal(np.sort(y, axis), x) and not np.array_equal(x, y), "permutation along", axis)
    expect(sorted(draw("permutation", 50).tolist()) == list(range(50)), "permutation of a number")
    first = [int(draw("permutation", np.arange(5), seed=s)[0]) for s in range(1000)]
    expect(stats.chisquare(np.bincount(first)).pvalue > 1e-4, "every element comes first equally often")


def refusals():
    for name, args, options, error, sentence in [
            ("normal", (0.0, -1.0), {}, ValueError, "scale < 0"), ("exponential", (-1.0,), {}, ValueError, "scale < 0"),
            ("uniform", (0.0, float("inf")), {}, OverflowError, "range exceeds valid bounds"), ("random", (), {"size": (2, -1)}, ValueError, "negative dimensions are not allowed"),
            ("random", (), {"dtype": np.int32}, TypeError, "dtype int32"), ("integers", (5, 5), {}, ValueError, "low >= high"),
            ("integers", (6, 5), {"endpoint": True}, ValueError, "low > high"), ("integers", (0, 300), {"dtype": np.uint8}, ValueError, "high is out of bounds for uint8"),
            ("integers", (-1, 5), {"dtype": np.uint8}, ValueError, "low is out of bounds for uint8"), ("integers", (0, 5), {"dtype": np.float64}, TypeError, "dtype float64"),
            ("permutation", (-3,), {}, TypeError, "permutation")]:
        try:
            draw(name, *args, **options)
            expect(False, name, args, "is refused")
        except error as e:
            expect(sentence in str(e), name, e)
    with k.scope():
        handle = k.operations["add"](k.lib.kn_rng_new(1), 1)
        expect(k.lib.kn_check(handle) == 2 and b"no array" in k.lib.kn_message(handle), "a generator is no array")
        gone = k.operations["random"](type(handle)(0))
        expect(b"no generator" in k.lib.kn_message(gone), "no generator")


def digest():
    h = hashlib.sha256()
    for name, args in [("random", ()), ("normal", ()), ("standard_exponential", ()), ("integers", (0, 1000)), ("permutation", (np.arange(20_000),))]:
        h.update(draw(name, *args, **({} if name == "permutation" else {"size": (20_000,)})).tobytes())
    return h.hexdigest()


def same_bits():
    digests = set()
    for settings in ({"KILN_JIT": "never"}, {"KILN_JIT": "always"}, {"KILN_NUM_THREADS": "1"}, {"KILN_NUM_THREADS": "3"}):
        done = subprocess.run([sys.executable, __file__, "--digest"], env={**os.environ, **settings}, capture_output=True, text=True, check=False)
        digests.add(done.stdout)
        expect(done.returncode == 0, settings, done.stderr[-300:])
    expect(len(digests) == 1, "interpreted and compiled, by one thread and by three")


def fused():
    """mean(2 * normal) takes no memory of the array's size, and new seeds no new kernels."""
    class Counts(c.Structure):
        _fields_ = [(n, c.c_uint64) for n in "live peak cached buffers handles evaluations compiled disk launches".split()]
    k.lib.kn_statistics.restype = Counts
    seen = []
    with k.scope():
        for seed in (1, 2, 3):
            z = k.operations["standard_normal"](k.lib.kn_rng_new(seed), size=(3_000_000,))
            before = k.lib.kn_statistics()
            k.lib.kn_f64(k.operations["mean"](k.operations["multiply"](z, 2)))
            after = k.lib.kn_statistics()
            seen.append((after.compiled + after.disk - before.compiled - before.disk, after.launches - before.launches, after.buffers - before.buffers))
    expect(seen[1][0] == seen[2][0] == 0 and all(s[1] <= 2 and s[2] <= 2 for s in seen), "kernels made, launches, buffers left:", seen)


if "--digest" in sys.argv:
    print(digest())
else:
    for test in (known_answers, distributions, integers, order, refusals, same_bits, fused):
        test()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
