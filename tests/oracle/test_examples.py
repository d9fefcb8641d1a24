"""Every program in examples/ on inputs of its kind, its results against NumPy's."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

build = pathlib.Path(os.environ["KILN_BUILD"]) / "examples"
folder = pathlib.Path(tempfile.mkdtemp())
random = np.random.default_rng(7)
passed = failed = 0


def check(what, good, seen=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED: {what} {seen}")


def run(name, *arguments):
    done = subprocess.run([build / name, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    check(f"{name} ends well", done.returncode == 0, done.stderr)
    return done


def result(name):
    return np.load(folder / name)


def close(name, got, want, rtol=1e-12, atol=0.0):
    same = got.shape == want.shape and got.dtype == want.dtype and np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    check(f"{name} is NumPy's", same, f"{got.dtype}{got.shape} for {want.dtype}{want.shape}")


def softmax_table():
    x = random.normal(3, 20, (211, 9))
    np.save(folder / "table.npy", x)
    np.savetxt(folder / "table.csv", x, delimiter=",", fmt="%.17g")
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    want = e / e.sum(axis=-1, keepdims=True)
    for source in ("table.npy", "table.csv"):
        run("softmax_table", folder / source, folder / "softmax.npy")
        close(f"softmax of {source}", result("softmax.npy"), want)


def heat():
    for n, steps in ((3, 5), (40, 0), (37, 300)):
        run("heat", n, steps, folder / "heat.npy")
        u = np.zeros((n, n))
        u[0] = 100
        for _ in range(steps):
            u[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + (u[1:-1, :-2] + u[1:-1, 2:]) - 4 * u[1:-1, 1:-1])
        close(f"heat {n} {steps}", result("heat.npy"), u)


def edges():
    photo = random.integers(0, 256, (61, 47, 3)).astype(np.uint8)
    np.save(folder / "photo.npy", photo)
    run("edges", folder / "photo.npy", folder / "edges.npy")
    p = photo.astype(np.float32)
    g = 0.299 * p[..., 0] + 0.587 * p[..., 1] + 0.114 * p[..., 2]
    x, y = g[:, 2:] - g[:, :-2], g[2:] - g[:-2]
    length = np.hypot(x[:-2] + 2 * x[1:-1] + x[2:], y[:, :-2] + 2 * y[:, 1:-1] + y[:, 2:])
    want = np.clip(length * (255 / length.max()), 0, 255).astype(np.uint8)
    got = result("edges.npy")
    check("edges are NumPy's but for the last place of hypot", got.dtype == want.dtype and got.shape == want.shape
          and np.abs(got.astype(int) - want).max() <= 1 and (got != want).mean() < 1e-3)


def mandelbrot():
    run("mandelbrot", 83, 61, 60, folder / "mandelbrot.npy")
    c = np.linspace(-2.0, 1.0, 83) + np.linspace(-1.2, 1.2, 61)[:, None] * 1j
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(60):
        inside = np.abs(z) <= 2
        count += inside
        z = np.where(inside, z * z + c, z)
    got = result("mandelbrot.npy")
    check("mandelbrot is NumPy's", got.dtype == count.dtype and got.shape == count.shape and (got != count).mean() < 2e-3)


def kmeans():
    x = np.concatenate([random.normal(m, 0.3, (80, 3)) for m in (-2, 0.5, 3)])[random.permutation(240)]
    np.save(folder / "points.npy", x)
    run("kmeans", folder / "points.npy", 4, folder / "centres.npy", folder / "labels.npy")
    c, labels = x[:4].copy(), np.full(len(x), -1)
    while True:
        now = np.square(x[:, None] - c[None]).sum(axis=-1).argmin(axis=1)
        member = now[:, None] == np.arange(4)
        count = member.sum(axis=0)[:, None]
        moved = (now != labels).any()
        labels, c = now, np.where(count > 0, member.T.astype(float) @ x / np.maximum(count, 1), c)
        if not moved:
            break
    close("centres", result("centres.npy"), c)
    close("labels", result("labels.npy"), labels)


def lowpass():
    for shape in ((1000,), (3, 421)):
        x = random.normal(size=shape)
        np.save(folder / "signal.npy", x)
        run("lowpass", folder / "signal.npy", 500, 60, folder / "lowpass.npy")
        n = shape[-1]
        f = np.arange(0, n // 2 + 1) * (500 / n)
        close(f"lowpass {shape}", result("lowpass.npy"), np.fft.irfft(np.where(f <= 60, np.fft.rfft(x), 0), n=n), rtol=1e-10, atol=1e-13)


def wrong_use():
    for name in ("softmax_table", "heat", "edges", "mandelbrot", "kmeans", "lowpass"):
        done = subprocess.run([build / name], capture_output=True, text=True)
        check(f"{name} without arguments tells its usage", done.returncode == 2 and done.stderr.startswith("usage:"))
    done = subprocess.run([build / "edges", folder / "missing.npy", folder / "x.npy"], capture_output=True, text=True)
    check("a missing file is a sentence", done.returncode == 1 and "missing.npy" in done.stderr, done.stderr)


for test in (softmax_table, heat, edges, mandelbrot, kmeans, lowpass, wrong_use):
    test()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
