"""Loops in large trees: what stays a loop in the machine code, what is sparse, and what is solved apart."""

import numpy as np
import pytest
from trees import random_inertia, random_joint, random_motion, random_placement

import poinsot as pt
from poinsot.fuse.plan.budget import Budget, tracing_for
from poinsot.mechanism.form import sparse

LOOPS_ONLY = Budget(0, 0, np.inf)  # everything that can stay in a loop does
HALF = Budget(0, 1500, np.inf)  # a few bodies are straight-line code beside the loops
MACHINES = {"loops": LOOPS_ONLY, "half": HALF}
KINDS = {"simple": ["revolute", "prismatic", "revolute"], "any": ["revolute", "spherical", "universal"]}


def tree(n: int, kinds: list[str], branching: float, relations: dict[tuple[int, int], object]) -> pt.Mechanism:
    """Random links, of which some are held to others by closures, which need not be closed."""
    rng = np.random.default_rng(n)
    links: list[pt.Link] = []
    for k in range(n):
        parent = links[rng.integers(k) if rng.random() < branching else -1].name if links else None
        joint = random_joint(rng, kinds[k % len(kinds)])
        links.append(pt.Link(f"link{k}", random_inertia(rng), parent, joint, random_placement(rng)))
    closures = [
        pt.Closure(
            f"loop{a}", None if a < 0 else f"link{a}", f"link{b}", r, random_placement(rng), random_placement(rng)
        )
        for (a, b), r in relations.items()
    ]
    return pt.Mechanism(tuple(links), gravity=rng.standard_normal(3), closures=closures)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("branching", [0.0, 0.5], ids=["chain", "branches"])
def test_loops_in_machine_code_give_what_straight_line_code_gives(machine, kinds, branching):
    relations = {(-1, 11): pt.spherical(), (3, 9): pt.distance(0.7), (2, 10): pt.on_plane((0, 0, 1))}
    mech = tree(12, KINDS[kinds], branching, relations)
    q, v, tau = random_motion(np.random.default_rng(1), mech)

    def dynamics(q, v, tau):
        return pt.forward_dynamics(mech, q, v, tau)

    text = f"({mech.nq}),({mech.nv}),({mech.nv})->({mech.nv})"
    kernel = pt.kernel(text)(dynamics)
    with tracing_for(MACHINES[machine]):
        kernel.program()
    assert kernel.count()["loop"] > 0
    wanted = dynamics(q, v, tau)
    np.testing.assert_allclose(kernel(q, v, tau), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def ladder(cells: int) -> pt.Mechanism:
    """Uprights on the ground, one beside the other, with a rung from each to the next: loops that meet in a row."""
    bar, hinge, pin = (
        pt.Inertia(1.0, (0.5, 0, 0), np.diag([1e-3, 0.08, 0.08])),
        pt.revolute((0, 0, 1)),
        pt.Pose(p=(1, 0, 0)),
    )
    links = [pt.Link(f"up{k}", bar, None, hinge, pt.Pose(p=(k, 0, 0))) for k in range(cells + 1)]
    links += [pt.Link(f"rung{k}", bar, f"up{k}", hinge, pin) for k in range(cells)]
    closures = [pt.Closure(f"pin{k}", f"up{k + 1}", f"rung{k}", pt.on_line((0, 0, 1)), pin, pin) for k in range(cells)]
    return pt.Mechanism(links, gravity=(0, -9.81, 0), closures=closures)


def test_a_ladder_moves_as_one_bar():
    """81 links and 80 rows. All uprights turn alike and rungs only shift: one coordinate, by Lagrange.

    The inertia is that of 41 uprights about their pins and 40 rungs at the radius 1.
    """
    cells, angle, rate = 40, 1.1, 0.7
    mech = ladder(cells)
    q, v = np.repeat([angle, -angle], [cells + 1, cells]), np.repeat([rate, -rate], [cells + 1, cells])
    kernel = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
    inertia = (cells + 1) * (0.08 + 0.25) + cells
    wanted = -9.81 * np.cos(angle) * (0.5 * (cells + 1) + cells) / inertia
    np.testing.assert_allclose(kernel(q, v, np.zeros(len(mech))), wanted * np.sign(q), rtol=1e-10)
    assert sum(kernel.count().values()) < 250 * len(mech)  # it grows with the links, not with their square


def test_a_long_chain_is_held_at_both_ends():
    """150 links: most of the recursion stays a loop, and the closing force holds the end."""
    n = 150
    bar, hinge = pt.Inertia(1.0, (0.05, 0, 0), np.diag([1e-4, 1e-3, 1e-3])), pt.revolute((0, 0, 1))
    links = [
        pt.Link(f"bar{k}", bar, f"bar{k - 1}" if k else None, hinge, pt.Pose(p=(0.1 if k else 0, 0, 0)))
        for k in range(n)
    ]
    end = pt.Closure("end", None, f"bar{n - 1}", pt.on_line((0, 0, 1)), placement_b=pt.Pose(p=(0.1, 0, 0)))
    mech = pt.Mechanism(links, gravity=(0, -9.81, 0), closures=[end])
    kernel = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
    q, v = 0.1 * np.random.default_rng(0).standard_normal((2, 3, n))
    wanted = [pt.forward_dynamics(mech, q, v, np.zeros(n)) for q, v in zip(q, v, strict=True)]
    np.testing.assert_allclose(kernel(q, v, np.zeros(n)), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    assert kernel.count()["loop"] > 0


@pytest.mark.parametrize("n", [13, 40])
def test_sparse_factors_solve_what_dense_ones_do(n):
    rng = np.random.default_rng(n)
    groups = [rng.choice(n, 3, replace=False).tolist() for _ in range(n // 3)]
    S = np.eye(n)
    for group in groups:
        B = rng.standard_normal((3, 3))
        S[np.ix_(group, group)] += B @ B.T
    b, shape = rng.standard_normal(n), sparse.pattern(n, groups)
    assert sorted(i for part in shape.parts for i in part) == list(range(n))
    for part, lower in zip(shape.parts, shape.lower, strict=True):
        own, right = S[np.ix_(part, part)], b[list(part)]
        for solver in (sparse.factorised, lambda lower, S: sparse.in_memory(S)):
            solve = pt.kernel("(n,n),(n)->(n)")(lambda S, b, make=solver, lower=lower: make(lower, S)(b))
            np.testing.assert_allclose(solve(own, right), np.linalg.solve(own, right), rtol=1e-11, atol=1e-12)


def test_minimum_degree_leaves_a_star_without_fill():
    """The middle of a star, eliminated first, would join all others."""
    shape = sparse.pattern(30, [(0, k) for k in range(1, 30)])
    assert shape.parts[0][0] == 0
    assert set(shape.lower[0]) == {(), (0,)}


def test_loops_that_do_not_meet_are_solved_apart():
    """A watch and a bridge in one world: a four-bar of milligrams moves as it does alone, redundant rows and all."""

    def four_bar(name, size, mass):
        bar, hinge = pt.Inertia(mass, (size / 2, 0, 0), mass * size**2 / 12 * np.eye(3)), pt.revolute((0, 0, 1))
        placed, tip = pt.Pose(p=(0, 0, 0)), pt.Pose(p=(size, 0, 0))
        links = [
            pt.Link(f"{name}crank", bar, None, hinge, placed),
            pt.Link(f"{name}rod", bar, f"{name}crank", hinge, tip),
            pt.Link(f"{name}arm", bar, None, hinge, tip),
        ]
        return links, pt.Closure(f"{name}pin", f"{name}arm", f"{name}rod", pt.revolute((0, 0, 1)), tip, tip)

    (small, pin), (large, other) = four_bar("watch", 1e-3, 1e-7), four_bar("bridge", 100.0, 1e6)
    q, v = np.array([1.0, -1.0, 1.0]), np.array([2.0, -2.0, 2.0])
    alone = pt.forward_dynamics(pt.Mechanism(small, (0, -9.81, 0), closures=[pin]), q, v, np.zeros(3))
    both = pt.Mechanism([*small, *large], (0, -9.81, 0), closures=[pin, other])
    together = pt.forward_dynamics(both, np.tile(q, 2), np.tile(v, 2), np.zeros(6))[:3]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(alone[0], -9.81 * np.cos(1.0) * 2 / (2 * (1 / 3) + 1) / 1e-3, rtol=1e-9)
