"""The compiled network of springs agrees with plain NumPy for any network, with the same bits every time."""

import numpy as np
import pytest
from random_objects import law, make_object, make_springs, rope, same, seeds, sizes

import poinsot as pt
from poinsot.fuse import Assembly
from poinsot.particles import Network, Particles, Springs, spring_forces
from poinsot.particles.network import BLOCK


def lattice(*shape):
    """Pairs of neighbours along the axes and the diagonals of the faces, numbered row by row."""
    numbers = np.arange(np.prod(shape)).reshape(shape)
    pairs = []
    for step in np.ndindex(*(3,) * len(shape)):
        step = np.array(step) - 1
        if tuple(step) > (0,) * len(shape) and np.abs(step).sum() <= 2:
            near = tuple(slice(max(0, -s), m - max(0, s)) for s, m in zip(step, shape, strict=True))
            far = tuple(slice(max(0, s), m - max(0, -s)) for s, m in zip(step, shape, strict=True))
            pairs.append(np.stack([numbers[near].ravel(), numbers[far].ravel()], axis=1))
    return np.concatenate(pairs)


def parameters(e, damping=1.0, seed=1):
    rng = np.random.default_rng(seed)
    return rng.uniform(1, 2, e), rng.uniform(0.5, 1.5, e), damping * rng.uniform(0.1, 0.2, e)


rng = np.random.default_rng(2)
CLOTH = lattice(12, 17)
NETS = {
    "chain": (40, np.stack([np.arange(39), np.arange(1, 40)], axis=1)),
    "ring": (30, np.stack([np.arange(30), (np.arange(30) + 1) % 30], axis=1)),
    "cloth": (12 * 17, CLOTH),
    "cloth, shuffled": (12 * 17, rng.permutation(12 * 17)[CLOTH]),
    "cloth, springs twice": (12 * 17, np.concatenate([CLOTH, CLOTH[::3, ::-1]])),
    "cloth and loose springs": (12 * 17 + 9, np.concatenate([CLOTH, rng.permuted(np.arange(200)).reshape(100, 2)])),
    "solid": (6 * 5 * 7, lattice(6, 5, 7)),
    "star": (50, np.stack([np.zeros(49, int), np.arange(1, 50)], axis=1)),
    "complete": (7, np.stack(np.triu_indices(7, 1), axis=1)),
    "one": (2, np.array([(1, 0)])),
    "none": (3, np.zeros((0, 2), int)),
}


@pytest.mark.parametrize("kind", ["hooke", "damped", "some damped", "own law"])
@pytest.mark.parametrize("name", NETS)
def test_kernels_equal_plain_numpy(name, kind):
    n, pairs = NETS[name]
    o = make_object(3, n)
    k, l0, c = parameters(len(pairs), damping=float(kind != "hooke"))
    c = c * (np.arange(len(pairs)) % 3 == 0) if kind == "some damped" else c
    s = Springs(pairs, k, l0, c, rope if kind == "own law" else None)
    network = Network(s, n)
    F = network.forces(o.positions, o.velocities)
    same(F, spring_forces(o, s))
    assert np.array_equal(F, network.forces(o.positions, o.velocities))
    assert np.array_equal(F, Network(s, n).forces(o.positions, o.velocities))
    same(F.sum(axis=0), np.zeros(3), scale=n * np.abs(F).max(initial=1.0))
    same(np.cross(o.positions, F).sum(axis=0), np.zeros(3), scale=10 * n * np.abs(F).max(initial=1.0))


@law(examples=25, seed=seeds, n=sizes)
def test_any_small_net(seed, n):
    o, s = make_object(seed, n), make_springs(seed, n, 4 * n)
    same(Network(s, n).forces(o.positions, o.velocities), spring_forces(o, s), scale=10.0)


@pytest.mark.parametrize("name", NETS)
def test_springs_keep_their_parameters_in_any_order(name):
    n, pairs = NETS[name]
    k, l0, c = parameters(len(pairs))
    network = Network(Springs(pairs, k, l0, c), n)
    given = sorted(zip(*np.sort(pairs, axis=1).T, k, l0, c, strict=True))
    taken = sorted(zip(*network.assembly.nodes.T, *network.parameters.T, strict=True))
    assert given == taken


def test_additions_to_one_particle_are_apart():
    """Within a block, all particles are added to before one of them is added to again: there are more than lanes."""
    n, pairs = NETS["solid"]
    near = Network(Springs(pairs, 1.0, 1.0), n).assembly.nodes[:, 0]
    again = [np.diff(np.flatnonzero(near == i)) for i in range(BLOCK)]
    assert min(gap.min() for gap in again if gap.size) > 8
    assert np.all(np.diff(near // BLOCK) >= 0)  # blocks one after the other


def test_no_force_between_masses_at_one_position():
    x = np.zeros((20, 3))
    chain = np.stack([np.arange(19), np.arange(1, 20)], axis=1)
    for s in (Springs(chain, 2.0, 1.0, 0.5), Springs(rng.permuted(np.arange(20)).reshape(10, 2), 2.0, 1.0)):
        assert not Network(s, 20).forces(x, np.ones((20, 3))).any()


def test_a_law_that_is_nan_elsewhere():
    """Lanes beyond the last spring have parameters of zero: they stay out of the sum, and raise no warning."""
    n, pairs = NETS["cloth"]
    x = np.stack([*np.divmod(np.arange(n), 17), np.zeros(n)], axis=1).astype(float)
    s = Springs(pairs, 1.0, 1.0, tension=lambda length, rate, k, l0, c: np.sqrt(2.0 - length) + np.log(l0 - 0.5) / k)
    o = Particles(np.ones(n), x)
    same(Network(s, n).forces(x), spring_forces(o, s))


def test_a_law_that_gives_nan_is_reported():
    s = Springs([(0, 1)], 1.0, 1.0, tension=lambda length, rate, *_: np.sqrt(length - 2.0))
    with pytest.warns(RuntimeWarning, match="invalid value"):
        F = Network(s, 2).forces([(0, 0, 0), (0, 0, 1.0)])
    assert np.isnan(F[0]).any()


def test_the_number_of_threads_does_not_change_a_bit():
    pairs = lattice(20, 20, 20)
    s = Springs(pairs, *parameters(len(pairs)))
    o, network = make_object(1, 8000), Network(s, 8000)
    results = []
    for threads in (1, 2, 3):
        pt.set_threads(threads)
        results.append(network.forces(o.positions, o.velocities))
    pt.set_threads(None)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_forces_cancel_exactly_where_sums_are_exact():
    """Every force is computed once and used twice: with integers the sum is exactly zero."""
    pairs = lattice(9, 9)
    x = np.stack([*np.divmod(np.arange(81), 9), np.zeros(81)], axis=1) * 4.0
    straight = pairs[np.abs(x[pairs[:, 0]] - x[pairs[:, 1]]).sum(axis=1) == 4]
    F = Network(Springs(straight, 3.0, 2.0), 81).forces(x)
    assert not F.sum(axis=0).any()
    assert not np.cross(x, F).sum(axis=0).any()
    assert np.abs(F).max() == 6


def test_the_reference_back_end_agrees():
    n, pairs = NETS["cloth and loose springs"]
    o, s = make_object(3, n), Springs(pairs, *parameters(len(pairs)))
    network = Network(s, n)
    network.assembly = Assembly(network.assembly.f.to("numpy"), network.assembly.nodes, rows=2)
    same(network.forces(o.positions, o.velocities), spring_forces(o, s))


def test_a_mass_that_does_not_exist_is_rejected():
    with pytest.raises(ValueError, match=r"pair 0, \(0, 5\), names a mass that does not exist; there are 0 to 2"):
        Network(Springs([(0, 5)], 1.0, 1.0), 3)
