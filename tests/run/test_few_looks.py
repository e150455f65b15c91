"""What follows from few states is evaluated by NumPy, from many by compiled code: with the same bits."""

import numpy as np
import pytest
from run_worlds import machine

from poinsot.fuse import Kernel
from poinsot.fuse.kernels import ELEMENTARY
from poinsot.run.measuring import measuring
from poinsot.run.observe import OBSERVABLES, observables


def elementary(x, y):
    """All elementary functions, of products and sums that compiled code would fuse."""
    a, b = x * y + 0.25, x - y * y
    inside = 0.5 + 0.1 * np.sin(a * b)  # where all but one are defined
    ones = [getattr(np, name)(inside + (name == "arccosh")) for name in ELEMENTARY[0].split()]
    twos = [getattr(np, name)(2.5 + a * a + b, 2.0 + b * y + x) for name in ELEMENTARY[1].split()]
    return np.stack([*ones, *twos]) * a + b


def test_a_plain_kernel_has_the_bits_of_its_operations_one_by_one():
    plain = Kernel(elementary, "(),()->(n)".replace("n", str(sum(len(names.split()) for names in ELEMENTARY))))
    plain.program().graph.plain = True
    x, y = np.random.default_rng(3).uniform(-1.0, 1.0, (2, 1000))
    np.testing.assert_array_equal(plain.to("numpy")(x, y), plain(x, y))
    other = Kernel(elementary, plain.signature)
    assert np.any(other(x, y) != plain(x, y))  # which fuses products into sums


@pytest.mark.parametrize("count", [1, 7])
def test_quantities_of_a_run_have_the_same_bits_for_few_and_for_many(count):
    run = machine().simulate(0.2, 2e-3, every=0.02, progress=False)
    compiled, names = run.compiled, ("position", "orientation", "velocity", "energy", "reaction")
    of = [o.of for o in observables(compiled.system, [n for n in names if n in OBSERVABLES]).values()]
    y = run.y[:, None].repeat(count, axis=1)
    by_numpy, by_kernel = (measuring(compiled, of, looks=looks)(run.time, y, run.p) for looks in (1, 0))
    for few, many in zip(by_numpy, by_kernel, strict=True):
        np.testing.assert_array_equal(few, many)
    before = compiled.conserved(run.time, run.y, run.p)
    for _ in range(20):
        after = compiled.conserved(run.time, run.y, run.p)
    np.testing.assert_array_equal(np.concatenate(before, -1), np.concatenate(after, -1))
