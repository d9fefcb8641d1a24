"""Makes the inputs of demo.c out of data sets that come with scikit-learn, and compares its results with NumPy's.

demo.py make FOLDER | demo.py compare FOLDER
"""
import pathlib
import sys

import numpy as np


def make(folder):
    from sklearn.datasets import load_sample_image, load_wine
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "photo.npy", load_sample_image("china.jpg"))
    np.save(folder / "wine.npy", load_wine().data)


def edges(photo):
    rgb = photo.astype(np.float32)
    grey = 0.299 * rgb[..., 0] + 0.587 * rgb[..., 1] + 0.114 * rgb[..., 2]
    x, y = grey[1:-1, 2:] - grey[1:-1, :-2], grey[2:, 1:-1] - grey[:-2, 1:-1]
    return np.clip(np.sqrt(np.square(x) + np.square(y)), 0, 255).astype(np.uint8)


def scores(table):
    z = (table - table.mean(axis=0)) / table.std(axis=0)
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def compare(folder):
    equal = True
    for name, function, source, exact in (("edges", edges, "photo", True), ("scores", scores, "wine", False)):
        want, got = function(np.load(folder / f"{source}.npy")), np.load(folder / f"{name}.npy")
        same = want.dtype == got.dtype and want.shape == got.shape
        same = same and (np.array_equal(want, got) if exact else np.allclose(want, got, rtol=1e-12, atol=0))
        how = "equal" if exact else "equal to 12 digits"
        print(f"{name}: {want.dtype} {want.shape}, " + (f"{how} to NumPy {np.__version__}'s" if same else "DIFFERENT from NumPy's"))
        equal = equal and same
    return 0 if equal else 1


if __name__ == "__main__":
    task, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.exit(make(folder) if task == "make" else compare(folder))
