"""Any layout of the arguments and the result: strides, negative ones, broadcasting, overlaps. Bits stay the same."""

from typing import Any

import numpy as np

import poinsot as pt
from trial import require

Array = np.ndarray


@pt.kernel("(3),(3),()->(3),(2,2)")
def mixed(a: Any, b: Any, s: Any) -> Any:
    return np.cross(a, b) + s * np.sin(a), np.stack([np.stack([a @ b, s]), np.stack([a[0] - b[2], np.exp(-s * s)])])


@pt.kernel("(n)->(n)")
def along(x: Any) -> Any:
    return np.cumsum(x * x) - np.cos(x[::-1])


def random_layout(rng: np.random.Generator, x: Array) -> Array:
    """The same numbers, laid out in another way."""
    way = rng.integers(6)
    if way == 0 and x.ndim:
        return np.asfortranarray(x)
    if way == 1:
        return np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x
    if way == 2 and x.ndim:
        return np.ascontiguousarray(x[::-1])[::-1]
    if way == 3 and x.ndim:
        wide = np.zeros((*x.shape[:-1], x.shape[-1] + 5), x.dtype)
        wide[..., 2 : 2 + x.shape[-1]] = x
        return wide[..., 2 : 2 + x.shape[-1]]
    if way == 4:
        raw = bytearray(x.nbytes + 1)  # not aligned
        moved = np.frombuffer(raw, dtype=x.dtype, count=x.size, offset=1).reshape(x.shape)
        moved[...] = x
        return moved
    return x.copy()


def trial(rng: np.random.Generator) -> None:
    dtype = np.float64 if rng.random() < 0.7 else np.float32
    batch = tuple(int(k) for k in rng.integers(0, 7, size=rng.integers(0, 3)))
    if rng.random() < 0.2:
        batch = (int(rng.integers(1000, 5000)),)
    a, b = rng.normal(size=(2, *batch, 3)).astype(dtype)
    s = rng.normal(size=batch).astype(dtype)
    wanted = mixed(a, b, s)
    results = mixed(*(random_layout(rng, x) for x in (a, b, s)))
    for k, (x, y) in enumerate(zip(wanted, results, strict=True)):
        require(x.dtype == y.dtype and np.array_equal(x, y, equal_nan=True), f"output {k} differs, {batch} {dtype}")
    # Into an array that overlaps the argument.
    n = int(rng.integers(1, 9))
    store = rng.normal(size=4 * n + 40)
    first, second = (int(k) for k in rng.integers(0, 30, size=2))
    x, out = store[first : first + n], store[second : second + n]
    if rng.random() < 0.5:
        x, out = store[first : first + 2 * n].reshape(2, n), store[second : second + 2 * n].reshape(2, n)
    guard, expected = store.copy(), along(x.copy())
    along(x, out=out)
    require(np.array_equal(out, expected), f"out overlaps its argument: n={n}, places {first}, {second}")
    untouched = np.ones(store.size, bool)
    untouched[second : second + out.size] = False
    require(np.array_equal(store[untouched], guard[untouched]), "memory beside the result was written")
