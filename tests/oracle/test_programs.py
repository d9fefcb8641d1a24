"""The twelve programs of tests/api/programs, run on inputs made here; what they print and save is compared with NumPy.

Long loops are shortened and large pictures made smaller by replacing constants in the source; what the compiler sees is
otherwise the program as it stands."""
# time-out: 900
import os
import subprocess
import sys
import tempfile

import numpy as np

from kiln import Kiln, Unavailable

BUILD = os.path.abspath(os.environ.get("KILN_BUILD", "build"))
PROGRAMS = "tests/api/programs"
FLAGS = ["-std=c17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-Iinclude"]
rng = np.random.default_rng(11)
passed = failed = 0


def check(name, good, seen=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"{name}: {seen}")


def close(name, have, want, rtol, atol=0.0):
    have, want = np.asarray(have), np.asarray(want)
    if have.shape != want.shape or have.dtype != want.dtype:
        check(name, False, f"{have.dtype}{have.shape}, wanted {want.dtype}{want.shape}")
        return
    error = np.abs(have.astype(np.complex128) - want.astype(np.complex128))
    bad = ~(error <= atol + rtol * np.abs(want))
    check(name, not bad.any(), f"{bad.sum()} of {bad.size} differ, by {error.max() if bad.any() else 0:.3g} at most")


class Program:
    """One program, compiled from its source with some constants replaced, in a folder of its own."""

    def __init__(self, name, folder, replace=()):
        with open(os.path.join(PROGRAMS, name + ".c"), encoding="utf-8") as f:
            source = f.read()
        for old, new in replace:
            assert source.count(old) == 1, (name, old)
            source = source.replace(old, new)
        self.name, self.folder = name, folder
        self.binary = os.path.join(folder, name)
        with open(self.binary + ".c", "w", encoding="utf-8") as f:
            f.write(source)
        done = subprocess.run(["gcc", *FLAGS, self.binary + ".c", "-L" + BUILD, "-lkiln", "-lm", "-Wl,-rpath," + BUILD, "-o", self.binary],
                              capture_output=True, text=True)
        check(f"{name} compiles", done.returncode == 0, done.stderr)

    def put(self, **arrays):
        for name, a in arrays.items():
            path = os.path.join(self.folder, name + ".npy")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            np.save(path, a)

    def get(self, name):
        path = os.path.join(self.folder, name + ".npy")
        return np.load(path) if os.path.exists(path) else np.zeros(0)

    def run(self, *arguments, stdin=b"", want=0):
        try:
            done = subprocess.run([self.binary, *arguments], cwd=self.folder, input=stdin, capture_output=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as e:
            check(f"{self.name} runs", False, str(e))
            return ""
        check(f"{self.name} ends with status {want}", done.returncode == want, f"{done.returncode}: {done.stderr.decode()[-400:]}")
        return done.stdout.decode()


def layernorm_softmax(folder):
    p = Program("01_softmax_layernorm", folder)
    x = rng.standard_normal((33, 70)).astype(np.float32)
    p.put(x=x)
    out = p.run()
    x64 = x.astype(np.float64)
    d = x64 - x64.mean(-1, keepdims=True)
    y = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)
    e = np.exp(y - y.max(-1, keepdims=True))
    close("softmax of layernorm", p.get("y"), (e / e.sum(-1, keepdims=True)).astype(np.float32), 2e-5)
    check("the CUDA source is printed", "__global__" in out, out[:200])
    os.remove(os.path.join(folder, "x.npy"))
    p.run(want=1)


def heat(folder):
    steps, n = 200, 64
    p = Program("02_heat", folder, [("n = 512", f"n = {n}"), ("steps = 10000", f"steps = {steps}")])
    p.run()
    u = np.zeros((n, n), np.float32)
    u[0] = 100
    r = np.float32(0.2)
    for _ in range(steps):
        lap = (u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:]) - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += r * lap
    close("heat", p.get("u"), u, 0)


def kmeans(folder):
    p = Program("03_kmeans", folder)
    x = np.concatenate([rng.normal(c, 0.3, (40, 3)) for c in rng.uniform(-9, 9, (8, 3))])
    rng.shuffle(x)
    p.put(points=x)
    out = p.run()
    c, labels = x[:8].copy(), np.zeros(len(x), np.int64)
    for _ in range(100):
        now = ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)
        onehot = now[:, None] == np.arange(8)
        count = onehot.sum(0)
        mean = onehot.T @ x / np.maximum(count, 1)[:, None]
        same = (now == labels).all()
        labels, c = now, np.where(count[:, None] > 0, mean, c)
        if same:
            break
    check("k-means labels", np.array_equal(p.get("labels"), labels), p.get("labels"))
    shown = np.array([float(v) for v in out.replace("[", " ").replace("]", " ").split()]).reshape(-1)
    check("k-means centres are shown", shown.size == c.size and np.allclose(shown, c.ravel(), rtol=1e-6, atol=1e-7), out)


def edges(folder):
    p = Program("04_edges", folder)
    rgb = rng.integers(0, 256, (40, 53, 3), dtype=np.uint8)
    p.put(photo=rgb)
    p.run()
    g = rgb.astype(np.float32) @ np.array([.299, .587, .114], np.float32)
    gx = g[:, 2:] - g[:, :-2]
    gx = gx[:-2] + 2 * gx[1:-1] + gx[2:]
    gy = g[2:] - g[:-2]
    gy = gy[:, :-2] + 2 * gy[:, 1:-1] + gy[:, 2:]
    e = np.hypot(gx, gy)
    exact = np.clip(e * (255 / e.max()), 0, 255)
    out = exact.astype(np.uint8)
    out = np.where(out > 40, out, 0)
    have = p.get("edges")
    same = have.dtype == out.dtype and have.shape == out.shape
    check("edges", same and (np.abs(have.astype(int) - out) > 0).mean() < 0.002, have)


def options(folder):
    p = Program("05_options", folder)
    words = p.run("200000").split()
    price = float(words[0]) if len(words) == 3 else float("nan")
    error = float(words[2]) if len(words) == 3 else 0
    check("the Asian option's price", abs(price - 3.14) < 0.2 and 0 < error < 0.1, words)


def conjugate_gradient(folder):
    p = Program("06_cg", folder)
    m = rng.standard_normal((60, 60))
    a, b = m @ m.T + 60 * np.eye(60), rng.standard_normal(60)
    p.put(A=a, b=b)
    out = p.run()
    close("conjugate gradient", p.get("x"), np.linalg.solve(a, b), 1e-6, 1e-9)
    check("conjugate gradient's steps", out.endswith(" steps\n") and 5 < int(out.split()[0]) < 60, out)


def perceptron(folder):
    p = Program("07_mlp", folder)
    sizes = [20, 32, 32, 10]
    w = [rng.standard_normal((i, o)).astype(np.float32) / 4 for i, o in zip(sizes, sizes[1:])]
    b = [rng.standard_normal(o).astype(np.float32) for o in sizes[1:]]
    x = rng.standard_normal((700, 20)).astype(np.float32)
    h = x
    for i in range(3):
        h = h @ w[i] + b[i]
        if i < 2:
            h = np.float32(0.5) * h * (1 + np.tanh(np.float32(0.7978845608) * (h + np.float32(0.044715) * h**3)))
    labels = np.where(rng.random(700) < 0.7, h.argmax(-1), 3)
    p.put(digits=x, labels=labels, **{f"model/w{i}": w[i] for i in range(3)}, **{f"model/b{i}": b[i] for i in range(3)})
    out = p.run()
    right = (h.argmax(-1) == labels).mean()
    check("the network's hits", out and abs(float(out) - right) < 0.003, f"{out!r}, wanted {right:.4f}")
    os.remove(os.path.join(folder, "model", "w1.npy"))
    p.run(want=1)


def bodies(folder):
    steps = 101
    p = Program("08_nbody", folder, [("i < 1000", f"i < {steps}")])
    x, v, m = rng.standard_normal((12, 3)), rng.standard_normal((12, 3)) / 10, rng.uniform(0.1, 1, 12)
    p.put(x=x, v=v, m=m)
    out = p.run()

    def acceleration(x):
        d = x[None] - x[:, None]
        inv = ((d * d).sum(-1) + 1e-4) ** -1.5
        return (d * (inv * m)[..., None]).sum(1)

    a, dt, energies = acceleration(x), 1e-3, []
    for i in range(steps):
        v += a * (dt / 2)
        x += v * dt
        a = acceleration(x)
        v += a * (dt / 2)
        if i % 100 == 0:
            energies.append(0.5 * (m * (v * v).sum(1)).sum())
    close("n-body positions", p.get("x_end"), x, 1e-9, 1e-12)
    shown = [float(line.split()[1]) for line in out.splitlines()]
    check("n-body energies", len(shown) == len(energies) and np.allclose(shown, energies, rtol=1e-9), out)


def lowpass(folder):
    p = Program("09_lowpass", folder)
    x = rng.standard_normal(4410)
    p.put(signal=x)
    p.run()
    f = np.arange(0, len(x) // 2 + 1, 1) * (44100 / len(x))
    y = np.fft.irfft(np.where(f <= 2000, np.fft.rfft(x), 0), n=len(x))
    close("low-pass filter", p.get("filtered"), np.stack([x, y]), 1e-10, 1e-12)


def mandelbrot(folder):
    w, h, steps = 90, 60, 50
    p = Program("10_mandelbrot", folder, [("w = 1200", f"w = {w}"), ("h = 800", f"h = {h}"), ("i < 200", f"i < {steps}")])
    p.run()
    with np.errstate(all="ignore"):
        c = np.linspace(-2.0, 1, w) + np.linspace(-1, 1, h, endpoint=False)[:, None] * 1j
        z, count = np.zeros_like(c), np.zeros((h, w), np.int32)
        for _ in range(steps):
            inside = np.abs(z) <= 2
            count += inside
            z = np.where(inside, z * z + c, z)
    have = p.get("mandelbrot")
    same = have.shape == count.shape and have.dtype == count.dtype
    check("mandelbrot", same and (have != count).mean() < 0.001, have)


def stream(folder):
    p = Program("11_stream", folder)
    x = rng.standard_normal((9000, 64)).astype(np.float32) * 3 + 5
    out = p.run(stdin=x.tobytes())
    want = x.astype(np.float64).std(0, ddof=1)[0]
    words = out.split()
    check("stream's deviation", len(words) == 5 and words[0] == "9000" and abs(float(words[4]) / want - 1) < 1e-5, f"{out!r}, wanted {want:g}")


def library(folder):
    p = Program("12_library", folder)
    x = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 6)) * 5
    p.put(wine=x)
    out = p.run()
    d = x - x.mean(0)
    u, s, _ = np.linalg.svd(d, full_matrices=False)
    explained = (s * s / (s * s).sum())[:2]
    lines = out.splitlines()
    numbers = [[float(v) for v in line.split(":")[1].replace("[", "").replace("]", "").split()] for line in lines[:3] if ":" in line]
    good = len(numbers) == 3 and all(np.allclose(have, f(explained), rtol=1e-6) for have, f in zip(numbers, [np.exp, np.sqrt, np.tanh]))
    check("principal components", good, out)


# What a program needs that a build may lack.
NEEDS = {"options": ["text", "normal"], "perceptron": ["text"], "library": ["svd"]}


def available(kiln, need):
    with kiln.scope():
        try:
            if need == "text":
                kiln.check(kiln.lib.kn_text_with(b"1 + 1", None, 0))
            elif need == "normal":
                kiln.check(kiln.operations["normal"](kiln.lib.kn_rng_new(1)))
            else:
                kiln.call(need, np.eye(2))
        except Unavailable:
            return False
    return True


CASES = [layernorm_softmax, heat, kmeans, edges, options, conjugate_gradient, perceptron, bodies, lowpass, mandelbrot, stream, library]


def main():
    only = sys.argv[1:]
    kiln = Kiln()
    for case in CASES:
        if only and case.__name__ not in only:
            continue
        missing = [n for n in NEEDS.get(case.__name__, []) if not available(kiln, n)]
        if missing:
            print(f"{case.__name__}: not run, because this build has no {' and no '.join(missing)}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
