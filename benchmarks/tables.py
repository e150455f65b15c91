"""Look-ups of tables on one core, batch of 4096: nanoseconds per look-up. `python benchmarks/tables.py`"""

import time

import numpy as np

import poinsot as pt

BATCH = 4096


def best(f, repeats=60):
    """The shortest time of a call [s]."""
    f()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    pt.set_threads(1)
    rng = np.random.default_rng(0)
    for shape in [(12,), (12, 5), (8, 8, 8), (10, 10, 10, 10)]:
        values, x = rng.normal(size=shape), [rng.uniform(-1, 1, BATCH) for _ in shape]
        for spacing in ("even", "uneven"):
            power = 1.0 if spacing == "even" else 1.3
            axes = tuple(np.sign(u) * np.abs(u) ** power for u in (np.linspace(-1, 1, n) for n in shape))
            for method in ("linear", "cubic") if max(len(shape), 3) == 3 and min(shape) > 3 else ("linear",):
                table = pt.Table(axes, values, method)
                f = pt.kernel(",".join(["()"] * len(shape)) + "->()")(table)
                f(*x)
                operations = sum(f.count().values())
                print(shape, spacing, method, f"{best(lambda f=f, x=x: f(*x)) / BATCH * 1e9:.1f} ns", operations)


if __name__ == "__main__":
    main()
