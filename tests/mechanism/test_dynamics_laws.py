"""Inverse dynamics, mass matrix and forward dynamics over random trees of all joints: each follows from the others."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from trees import KINDS, TREES, law, pool, random_inertia, random_motion, random_placement, rate, same

import poinsot as pt
from poinsot.mechanism import book, dynamics, kinematics
from poinsot.mechanism.form import canonical, tree
from sparing import few

TIGHT = 1e-12  # of forces, relative to the largest; accelerations lose what the condition of M takes


def condition(mech: pt.Mechanism, q: np.ndarray) -> float:
    return float(np.linalg.cond(pt.mass_matrix(mech, q)))


@law(30)
def test_inverse_and_forward_dynamics_undo_each_other(mech, rng):
    q, v, tau = random_motion(rng, mech)
    vdot = pt.forward_dynamics(mech, q, v, tau)
    same(pt.inverse_dynamics(mech, q, v, vdot), tau, TIGHT * max(1.0, np.abs(vdot).max()))
    same(pt.forward_dynamics(mech, q, v, pt.inverse_dynamics(mech, q, v, tau)), tau, 1e-14 * condition(mech, q))


@law(30)
def test_articulated_bodies_and_the_dense_route_agree(mech, rng):
    q, v, tau = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    dense = dynamics.forward_dynamics_dense(mech, q, v, tau, F)
    same(pt.forward_dynamics(mech, q, v, tau, F), dense, 1e-14 * condition(mech, q))


@law()
def test_columns_of_the_mass_matrix_are_forces_of_unit_accelerations(mech, rng):
    q, v, _ = random_motion(rng, mech)
    bias = dynamics.bias_forces(mech, q, v)
    columns = [pt.inverse_dynamics(mech, q, v, unit) - bias for unit in np.eye(mech.nv)]
    same(pt.mass_matrix(mech, q), np.column_stack(columns), TIGHT * max(1.0, np.abs(bias).max()))


@law()
def test_the_mass_matrix_is_symmetric_positive_definite_and_holds_the_energy(mech, rng):
    q, v, _ = random_motion(rng, mech)
    M = pt.mass_matrix(mech, q)
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0
    same(0.5 * v @ M @ v, kinematics.kinetic_energy(mech, q, v), TIGHT)


@law(30)
def test_the_inverse_of_the_mass_matrix(mech, rng):
    """M^-1 M = E, it is symmetric, and its columns are what unit forces add to the accelerations."""
    q, v, tau = random_motion(rng, mech)
    M_inv, rounding = dynamics.inverse_mass_matrix(mech, q), 1e-14 * condition(mech, q)
    np.testing.assert_array_equal(M_inv, M_inv.T)
    same(M_inv @ pt.mass_matrix(mech, q), np.eye(mech.nv), rounding)
    more = pt.forward_dynamics(mech, q, v, 2 * tau) - pt.forward_dynamics(mech, q, v, tau)
    same(M_inv @ tau, more, rounding * max(1.0, np.abs(pt.forward_dynamics(mech, q, v, tau)).max()))


@law(10)
def test_the_factors_of_the_inverse_are_as_sparse_as_the_tree(mech, rng):
    """Zero but where the joint of the row carries that of the column."""
    q, _, _ = random_motion(rng, mech)
    A, B = dynamics.inverse_mass_factors(mech, q)
    carried = np.zeros((mech.nv, mech.nv), dtype=bool)
    for i, sv in enumerate(mech.v_slices):
        j = i
        while j >= 0:
            carried[mech.v_slices[j], sv] = True
            j = mech.parents[j]
    assert not A[~carried].any()
    assert not B[~carried].any()
    same(A.T @ B, np.linalg.inv(pt.mass_matrix(mech, q)), 1e-14 * condition(mech, q))


@pytest.mark.parametrize("seed", range(3))
def test_the_inverse_of_the_mass_matrix_can_be_traced(seed):
    """Also with a mass left free: then the links are taken as they are."""
    mech = pool(5, seed)
    q, _, _ = random_motion(np.random.default_rng(seed), mech)
    text = f"({mech.nq}),()->({mech.nv},{mech.nv})"
    last = next(i for i in reversed(range(len(mech))) if mech.links[i].inertia is not None)

    def heavier(factor: float) -> pt.Mechanism:
        links = list(mech.links)
        links[last] = replace(links[last], inertia=links[last].inertia * factor)
        return replace(mech, links=tuple(links))

    inverse = pt.kernel(text)(lambda q, factor: dynamics.inverse_mass_matrix(heavier(factor), q)).to("numpy")
    same(inverse(q, 2.0), np.linalg.inv(pt.mass_matrix(heavier(2.0), q)), 1e-14 * condition(heavier(2.0), q))


@law()
def test_the_bias_is_linear_in_gravity_and_quadratic_in_velocity(mech, rng):
    q, v, _ = random_motion(rng, mech)
    gravity = dynamics.gravity_forces(mech, q)
    moving = dynamics.bias_forces(mech, q, v) - gravity
    scale = max(1.0, np.abs(gravity).max())
    same(dynamics.bias_forces(mech, q, -v) - gravity, moving, TIGHT * scale)
    same(dynamics.bias_forces(mech, q, 3 * v) - gravity, 9 * moving, TIGHT * scale)
    twice = replace(mech, gravity=2 * mech.gravity)
    same(dynamics.gravity_forces(twice, q), 2 * gravity, TIGHT)


@law()
def test_gravity_forces_are_the_slope_of_the_potential(mech, rng):
    q, v, _ = random_motion(rng, mech)
    slope = rate(lambda t: kinematics.potential_energy(mech, kinematics.integrate(mech, q, t * v)))
    scale = max(1.0, float(np.abs(kinematics.potential_energy(mech, q))))
    same(v @ dynamics.gravity_forces(mech, q) / scale, slope / scale)


@law()
def test_velocity_forces_do_no_work_beyond_the_change_of_inertia(mech, rng):
    """v^T (M' v - 2 c) = 0: M' - 2 C is skew, in the form that holds for all joints."""
    q, v, _ = random_motion(rng, mech)
    still = replace(mech, gravity=np.zeros(3))
    Mdot = rate(lambda t: pt.mass_matrix(mech, kinematics.integrate(mech, q, t * v)))
    c = dynamics.bias_forces(still, q, v)
    scale = float(kinematics.kinetic_energy(mech, q, v))
    same(v @ (Mdot @ v - 2 * c) / scale, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_M_dot_minus_2_C_is_skew(seed):
    """For joints with q' = v, as matrices: C = (dc/dv)/2 is Christoffel's, both by derivatives of kernels."""
    kinds = ("revolute", "prismatic", "helical", "cylindrical", "universal", "translation")
    mech = replace(pool(3, seed, kinds=kinds), gravity=np.zeros(3))
    n, (q, v, _) = mech.nv, random_motion(np.random.default_rng(seed), mech)
    mass = pt.kernel(f"({n})->({n},{n})")(lambda q: pt.mass_matrix(mech, q)).to("numpy")
    bias = pt.kernel(f"({n}),({n})->({n})")(lambda q, v: dynamics.bias_forces(mech, q, v)).to("numpy")
    dM, C = pt.jacobian(mass)(q), pt.jacobian(bias, wrt=1)(q, v) / 2
    Mdot = dM @ v
    christoffel = 0.5 * (Mdot + np.einsum("ikj,k->ij", dM, v) - np.einsum("jki,k->ij", dM, v))
    same(C, christoffel)
    same(C @ v, bias(q, v))
    same(Mdot - 2 * C, -(Mdot - 2 * C).T)


@pytest.mark.parametrize("seed", range(3))
def test_the_derivative_of_inverse_dynamics_is_the_mass_matrix(seed):
    """dID/dv' = M and dFD/dtau = M^-1, through the compiler's derivatives, for all joints."""
    mech = pool(4, seed)
    nq, n = mech.nq, mech.nv
    q, v, tau = random_motion(np.random.default_rng(seed), mech)
    text = f"({nq}),({n}),({n})->({n})"
    inverse = pt.kernel(text)(lambda q, v, vdot: pt.inverse_dynamics(mech, q, v, vdot)).to("numpy")
    forward = pt.kernel(text)(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau)).to("numpy")
    M = pt.mass_matrix(mech, q)
    same(pt.jacobian(inverse, wrt=2)(q, v, tau), M, TIGHT)
    same(pt.jacobian(forward, wrt=2)(q, v, tau) @ M, np.eye(n), 1e-14 * condition(mech, q))


def test_the_random_trees_have_everything():
    """The random trees have all kinds of joints, and everything that makes trees awkward."""
    trees = [pool(n, seed) for n in range(1, 11) for seed in range(TREES)]
    links = [link for mech in trees for link in mech.links]
    for kind in ("fixed", *KINDS):
        assert sum(link.joint.kind == kind for link in links) > 20
    assert any(link.inertia is None and link.joint.nv for link in links)
    assert any(link.inertia is not None and not link.joint.nv for link in links)
    assert sum(np.any(link.joint.armature) for link in links) > 20
    assert sum(len(set(mech.parents)) < len(mech) for mech in trees) > 20  # branches
    assert sum(mech.parents.count(-1) > 1 for mech in trees) > 5  # several trees


def test_mechanisms_pickle():
    mech, rng = pool(6, 1), np.random.default_rng(1)
    q, v, tau = random_motion(rng, mech)
    again = pickle.loads(pickle.dumps(mech))
    np.testing.assert_array_equal(pt.forward_dynamics(again, q, v, tau), pt.forward_dynamics(mech, q, v, tau))


# The canonical form, over which the recursions run, and the book's recursions over the links as they are.


@law(30)
def test_the_dynamics_are_those_of_the_book(mech, rng):
    q, v, tau = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    same(pt.mass_matrix(mech, q), book.mass_matrix(mech, q), TIGHT)
    same(pt.inverse_dynamics(mech, q, v, tau, F), book.inverse_dynamics(mech, q, v, tau, F), TIGHT)
    vdot = book.forward_dynamics(mech, q, v, tau, F)
    same(pt.forward_dynamics(mech, q, v, tau, F), vdot, 1e-14 * condition(mech, q))


@pytest.mark.parametrize("kinds", ["revolute", "prismatic", "helical", "revolute prismatic helical"])
@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-13, 1e-11, 1e-10, 1e-8, 1e-5, 0.03, 0.049, 0.051, 1.0])
@pytest.mark.parametrize("flip", [0.0, np.pi])
def test_parallel_and_nearly_parallel_axes(kinds, angle, flip):
    """Where Denavit and Hartenberg's common normal is not defined, or far away, no digits are lost."""
    rng = np.random.default_rng(6)
    links: list[pt.Link] = []
    for i in range(5):
        kind = str(rng.choice(kinds.split()))
        data = (0.2,) if kind == "helical" else ()
        tilt = rng.standard_normal(3)
        R = pt.Pose.exp([*(angle * tilt / np.linalg.norm(tilt)), 0, 0, 0]).R @ pt.Pose.from_euler([flip, 0, 0]).R
        placement = pt.Pose(R, rng.choice([0.0, 0.4], 3))
        inertia = pt.Inertia.points(rng.random(4), rng.standard_normal((4, 3)))
        joint = getattr(pt, kind)((0, 0, 1), *data, armature=0.1)  # parallel slides need it to be told apart
        links.append(pt.Link(f"link{i}", inertia, links[-1].name if links else None, joint, placement))
    mech = pt.Mechanism(tuple(links))
    q, v, tau = random_motion(rng, mech)
    same(pt.mass_matrix(mech, q), book.mass_matrix(mech, q), TIGHT)
    same(pt.inverse_dynamics(mech, q, v, tau), book.inverse_dynamics(mech, q, v, tau), TIGHT)
    forward = book.forward_dynamics(mech, q, v, tau)
    same(pt.forward_dynamics(mech, q, v, tau), forward, 1e-14 * condition(mech, q))


@pytest.mark.parametrize("far", [1e4, 1e7])
@pytest.mark.parametrize("where", [0, 2], ids=["all of it", "its end"])
def test_what_is_far_away_loses_no_digits(far, where, monkeypatch):
    """Wherever it stands, it moves alike; and lengths behind a long link are as exact as those before it."""
    rng = np.random.default_rng(3)
    links: list[pt.Link] = []
    for i in range(5):
        X = random_placement(rng)
        placement = pt.Pose(X.R, X.p + (far * rng.standard_normal(3) if i == where else 0.0))
        parent, joint = links[-1].name if links else None, pt.revolute(rng.standard_normal(3))
        links.append(pt.Link(f"link{i}", random_inertia(rng), parent, joint, placement))
    mech = pt.Mechanism(tuple(links))
    q, v, tau = rng.standard_normal((3, 5))
    vdot, M = pt.forward_dynamics(mech, q, v, tau), pt.mass_matrix(mech, q)
    monkeypatch.setattr(canonical, "tree_of", tree.as_given)  # the links as they are; the book's 6x6 lose digits here
    expected = pt.forward_dynamics(mech, q, v, tau)
    same(vdot / np.abs(expected), np.sign(expected), 1e-12)
    same(M[2:, 2:], pt.mass_matrix(mech, q)[2:, 2:], TIGHT)


SMALL = {
    "a wheel": pt.Inertia(3.0, (0.001, 0.002, 0.02), np.diag([1e-4, 2e-4, 2.5e-4])),
    "a needle": pt.Inertia(0.01, (0.0, 0.0, 0.1), np.diag([2e-3, 2e-3, 1e-9])),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("tilt", [0.0, 0.06, 1.0])
def test_a_small_body_far_from_the_other_axis(name, tilt):
    """A joint-space inertia is not the small difference of large ones at the foot of a common normal."""
    inertia = SMALL[name]
    arm = pt.Link("arm", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), None, pt.revolute((0, 0, 1)))
    X = pt.Pose.from_euler((tilt, 0, 0), (9.0, -4.0, 7.0))
    mech = pt.Mechanism((arm, pt.Link("small", inertia, "arm", pt.revolute((0, 0, 1)), X)), gravity=(0, 0, 0))
    about_axis = inertia.moment[2, 2] + inertia.mass * (inertia.com[:2] @ inertia.com[:2])
    q = np.array([0.3, -0.8])
    np.testing.assert_allclose(pt.mass_matrix(mech, q)[1, 1], about_axis, rtol=1e-14)
    np.testing.assert_allclose(pt.inverse_dynamics(mech, q, 0 * q, np.array([0.0, 1.0]))[1], about_axis, rtol=1e-14)


RIGHT_ANGLES = {
    "one line": pt.Pose(p=(0.3, 0, 0)),
    "back and forth": pt.Pose.from_euler((np.pi, 0, 0), (0.3, 0, 0.1)),
    "crossed": pt.Pose.from_euler((np.pi / 2, 0, 0), (0, 0.3, 0)),
    "crossed and turned": pt.Pose.from_euler((np.pi / 2, 0, np.pi), (-0.3, 0, 0)),
}


@pytest.mark.parametrize(
    ("name", "n"),  # in straight-line code, and in a loop
    few(
        [(name, n) for name in RIGHT_ANGLES for n in (3, 65)],
        [("one line", 65), ("crossed and turned", 65), *((name, 3) for name in RIGHT_ANGLES)],
    ),
)
def test_chains_of_equal_links(name, n):
    """Angles of exactly 0, 90 and 180 degrees, where the compiler leaves out what is zero."""
    rng = np.random.default_rng(7)
    links = [
        pt.Link(f"{i + 1}", random_inertia(rng), f"{i}" if i else None, pt.revolute((0, 0, 1)), RIGHT_ANGLES[name])
        for i in range(n)
    ]
    mech = pt.Mechanism(tuple(links))
    q, v, tau = 0.1 * rng.standard_normal((3, n))
    forward = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
    expected = book.forward_dynamics(mech, q, v, tau)
    same(forward(q, v, tau), expected, 1e-11)
    same(pt.forward_dynamics(mech, q, v, tau), expected, 1e-11)
