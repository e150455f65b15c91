"""The recursive derivatives against the compiler's own, and against differences along the group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import random_state, random_tree

import poinsot as pt
from poinsot.mechanism import derivatives, kinematics


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_inverse_dynamics_along_the_group(seed):
    """All joint types: tau as the joints move a little along each velocity; by central differences."""
    rng = np.random.default_rng(seed)
    mech = random_tree(rng, 5)
    q, v = random_state(rng, mech)
    vdot = rng.standard_normal(mech.nv)
    external = rng.standard_normal((len(mech), 6))
    dq, dv, M = derivatives.inverse_dynamics_derivatives(mech, q, v, vdot, external)
    h = 1e-5

    def slope(f, e):
        return (f(h * e) - f(-h * e)) / (2 * h)

    for k, e in enumerate(np.eye(mech.nv)):
        along_q = slope(lambda u: pt.inverse_dynamics(mech, kinematics.integrate(mech, q, u), v, vdot, external), e)
        along_v = slope(lambda u: pt.inverse_dynamics(mech, q, v + u, vdot, external), e)
        scale = 1 + np.abs(along_q).max()
        np.testing.assert_allclose(dq[:, k] / scale, along_q / scale, atol=1e-7)
        np.testing.assert_allclose(dv[:, k] / scale, along_v / scale, atol=1e-7)
    np.testing.assert_allclose(M, pt.mass_matrix(mech, q), rtol=1e-11, atol=1e-11)


@pytest.fixture(scope="module")
def arm():
    rng = np.random.default_rng(5)
    links = []
    for k in range(5):
        inertia = pt.Inertia.points(0.1 + rng.random(6), 0.5 * rng.standard_normal((6, 3)))
        joint = pt.prismatic(rng.standard_normal(3)) if k == 2 else pt.revolute(rng.standard_normal(3))
        links.append(pt.Link(f"l{k}", inertia, f"l{k - 1}" if k else None, joint, pt.Pose.exp(rng.standard_normal(6))))
    return pt.Mechanism(links)


def test_forward_dynamics_against_the_compiler(arm):
    """Where v is dq/dt the recursion is the Jacobian that the compiler finds by itself, to rounding."""
    forward = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(arm, q, v, tau))
    recursion = pt.kernel("(n),(n),(n)->(n,n),(n,n),(n,n)")(
        lambda q, v, tau: derivatives.forward_dynamics_derivatives(arm, q, v, tau)
    )
    states = np.random.default_rng(1).standard_normal((3, 20, 5))
    for ours, compiler in zip(recursion(*states), pt.jacobian(forward, wrt=(0, 1, 2))(*states), strict=True):
        np.testing.assert_allclose(ours, compiler, rtol=1e-9, atol=1e-9 * np.abs(compiler).max())
    by_recursion = sum(recursion.count().values())
    by_compiler = sum(pt.jacobian(forward, wrt=(0, 1, 2)).count(n=5).values())
    assert by_recursion < by_compiler


def test_a_mass_and_a_length_left_free():
    """Any number of the description can be traced: vdot of a pendulum by its mass and its length."""

    @pt.kernel("(),(),(),()->()")
    def swing(q, v, mass, length):
        bob = pt.Inertia(mass, np.stack([0.0 * length, 0.0 * length, -length]), 0.01 * mass * np.eye(3))
        pendulum = pt.Mechanism([pt.Link("bob", bob, joint=pt.revolute((1, 0, 0)))])
        return pt.forward_dynamics(pendulum, q[None], v[None], np.zeros(1))[0]

    q, m, l = 0.7, 2.0, 0.5
    np.testing.assert_allclose(swing(q, 0.3, m, l), -9.81 * l * np.sin(q) / (l * l + 0.01), rtol=1e-13)
    by_mass, by_length = pt.gradient(swing, wrt=(2, 3))(q, 0.3, m, l)
    exact = -9.81 * np.sin(q) * (0.01 - l * l) / (l * l + 0.01) ** 2
    np.testing.assert_allclose(by_length, exact, rtol=1e-12)
    np.testing.assert_allclose(by_mass, 0.0, atol=1e-12)
