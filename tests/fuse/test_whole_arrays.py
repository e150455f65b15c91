"""Kernels whose large arguments and results stay in memory: the same bits as with a value for each element."""

import pickle
import warnings

import numpy as np
import pytest

from poinsot.fuse import fori_loop, in_memory
from poinsot.fuse.cuda.translation import kernel_source
from poinsot.fuse.graph.verify import verify
from poinsot.fuse.kernels import Kernel

N = 30  # points on a ring
PAIRS = np.stack([np.arange(N), (np.arange(N) + 1) % N, (np.arange(N) * 7 + 3) % N], axis=1)


def ring(y, p, steps):
    """Some steps of points that pull at others; p shifts the first of them."""

    def step(_, y):
        def pull(k, F):
            i, j, m = (np.asarray(PAIRS)[k, c] for c in range(3))
            F[i] = F[i] + y[j] - 2.0 * y[i] + 0.1 * np.sqrt(1.0 + y[m] * y[m])
            F[m] = F[m] - 0.5 * y[i]
            return F

        F = fori_loop(N, pull, in_memory(np.zeros(N)))

        def move(k, y):
            y[N + k] = y[N + k] + 0.01 * F[k]
            y[k] = y[k] + 0.01 * y[N + k]
            return y

        return fori_loop(N, move, y)

    y = in_memory(y)
    y[0] = y[0] + p[0]
    y = fori_loop(steps, step, y)
    return y, y[1] + y[2]


@pytest.fixture(scope="module")
def kernels():
    signature = f"({2 * N}),(2),()->({2 * N}),()"
    return Kernel(ring, signature, whole=10), Kernel(ring, signature)


@pytest.fixture(scope="module")
def states():
    return np.random.default_rng(0).standard_normal((11, 2 * N))


def test_bits_do_not_depend_on_how_arrays_are_passed(kernels, states):
    whole, single = kernels
    for y in (states, states[0], states[:8], np.asfortranarray(states), states[::-1, ::-1]):
        for a, b in zip(whole(y, [0.1, 0.0], 5.0), single(y, [0.1, 0.0], 5.0), strict=True):
            np.testing.assert_array_equal(a, b)
    a, b = (k.to("numpy")(states, [0.1, 0.0], 5.0)[0] for k in kernels)
    np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(whole(states, [0.1, 0.0], 5.0)[0], a, rtol=0, atol=1e-14)
    short = (states.astype(np.float32), np.zeros(2, np.float32), np.float32(5.0))
    np.testing.assert_array_equal(whole(*short)[0], single(*short)[0])


def test_an_argument_that_all_instances_share_is_not_changed(kernels, states):
    whole, single = kernels
    y, shifts = states[0].copy(), np.linspace(0.0, 1.0, 20)[:, None] * np.ones(2)
    np.testing.assert_array_equal(whole(y, shifts, 3.0)[0], single(y, shifts, 3.0)[0])
    np.testing.assert_array_equal(y, states[0])


def test_what_is_returned_as_it_came(states):
    same = Kernel(lambda y, z: (y, z, in_memory(np.concatenate([y[:1], z[1:]]))), "(n),(n)->(n),(n),(n)", whole=10)
    y, z, mixed = same(states, states[0])
    np.testing.assert_array_equal(y, states)
    np.testing.assert_array_equal(z, np.broadcast_to(states[0], states.shape))
    np.testing.assert_array_equal(mixed[:, 1:], z[:, 1:])


def test_nan_that_was_made_warns_and_one_that_went_in_does_not(kernels, states):
    whole, _ = kernels
    given, made = states.copy(), states.copy()
    given[3, 5], made[3] = np.nan, 1e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole(given, [0.0, 0.0], 3.0)
        with pytest.raises(RuntimeWarning, match="invalid"):
            whole(made, [0.0, 0.0], 50.0)


def test_graphs_are_well_formed_small_and_can_be_sent(kernels, states):
    whole, _ = kernels
    program = whole.program()
    verify(program.graph)
    assert len(program.graph.params) == 1 + 2 + 1
    assert len(program.graph.outputs) == 2
    text = kernel_source(program.graph, [2 * N, 2, 1], [2 * N, 1], float64=False).text
    assert f"k < {2 * N}; k++) out0[k * out0_row]" in text
    sent = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(sent(states, [0.1, 0.0], 5.0)[0], whole(states, [0.1, 0.0], 5.0)[0])
