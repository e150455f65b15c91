"""Generated code under test: stored numbers of operations, which a change must not raise unnoticed.

If a number falls, store the new one. Placements, axes and inertias are random, so that nothing is zero by luck.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from trees import random_inertia, same

import poinsot as pt
from poinsot.mechanism import inverse_mass_matrix
from poinsot.mechanism.derivatives import forward_dynamics_derivatives
from poinsot.mechanism.form import canonical, tree
from poinsot.spatial import rotation


def general_tree(n: int, branching: float = 0.0, seed: int = 1) -> pt.Mechanism:
    """n revolute joints, one behind the other or with branches."""
    rng = np.random.default_rng(seed)
    links: list[pt.Link] = []
    for i in range(n):
        parent = links[rng.integers(i) if rng.random() < branching else i - 1].name if i else None
        placement, joint = pt.Pose.exp(rng.standard_normal(6)), pt.revolute(rng.standard_normal(3))
        links.append(pt.Link(f"link{i}", random_inertia(rng), parent, joint, placement))
    return pt.Mechanism(tuple(links))


def double_pendulum() -> pt.Mechanism:
    """In a plane, of rods along z: what is zero in its description should cost nothing."""
    rod = pt.Inertia(1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01]))
    hinge, hang = pt.revolute((0, 1, 0)), pt.Pose(p=(0, 0, -1))
    return pt.Mechanism((pt.Link("upper", rod, None, hinge), pt.Link("lower", rod, "upper", hinge, hang)))


MECHANISMS = {"pendulum": double_pendulum(), "arm": general_tree(7), "tree": general_tree(30, branching=0.2)}
ARM = MECHANISMS["arm"]
QUANTITIES = {
    "forward dynamics": ("(n),(n),(n)->(n)", pt.forward_dynamics),
    "inverse dynamics": ("(n),(n),(n)->(n)", pt.inverse_dynamics),
    "mass matrix": ("(n)->(n,n)", pt.mass_matrix),
    "inverse mass matrix": ("(n)->(n,n)", inverse_mass_matrix),
    "derivatives": ("(n),(n),(n)->(n,n),(n,n),(n,n)", forward_dynamics_derivatives),
}
STORED = {
    ("forward dynamics", "pendulum"): 35,
    ("forward dynamics", "arm"): 2041,
    ("forward dynamics", "tree"): 10642,
    ("inverse dynamics", "pendulum"): 33,
    ("inverse dynamics", "arm"): 887,
    ("inverse dynamics", "tree"): 4469,
    ("mass matrix", "pendulum"): 6,
    ("mass matrix", "arm"): 881,
    ("mass matrix", "tree"): 8692,
    ("inverse mass matrix", "pendulum"): 11,
    ("inverse mass matrix", "arm"): 1737,
    ("derivatives", "pendulum"): 93,
    ("derivatives", "arm"): 9101,
}
LIMITS = {("forward dynamics", "arm"): 2215, ("forward dynamics", "tree"): 11652}


def count(quantity: str, mech: pt.Mechanism) -> int:
    text, function = QUANTITIES[quantity]
    return sum(pt.kernel(text)(lambda *x: function(mech, *x)).count(n=mech.nv).values())


@pytest.mark.parametrize(("quantity", "name"), STORED)
def test_stored_counts(quantity, name):
    operations = count(quantity, MECHANISMS[name])
    assert operations == STORED[quantity, name]
    assert operations <= LIMITS.get((quantity, name), np.inf)


def test_the_canonical_form_halves_the_work(monkeypatch):
    operations = count("forward dynamics", ARM)
    monkeypatch.setattr(canonical, "tree_of", tree.as_given)
    assert operations < 0.6 * count("forward dynamics", ARM)


def test_inertia_of_motors_costs_no_more_on_the_way_out():
    """They change the joint-space inertia, not the motion of bodies: one product and one sum per joint."""
    links = tuple(replace(link, joint=replace(link.joint, armature=0.01)) for link in ARM.links)
    assert count("inverse dynamics", pt.Mechanism(links)) == count("inverse dynamics", ARM) + 2 * len(links)


def four_legs() -> pt.Mechanism:
    """A floating body with legs at its corners: first moments that cancel, and turns by right angles."""
    body = pt.Inertia(1.16, (0, 0, 0), np.diag([0.0026, 0.0097, 0.0115]))
    links = [pt.Link("body", body, None, pt.free())]
    for x, y in itertools.product((0.1946, -0.1946), (0.0875, -0.0875)):
        thigh = pt.Inertia(0.1485, (0.0137, 0.1935 * np.sign(y), -0.0787), np.diag([4e-4, 4e-4, 3e-5]))
        hip, knee = pt.Pose(rotation.about_x(np.pi / 2), (x, y, 0)), pt.Pose(rotation.about_x(-np.pi / 2), (0, 0.16, 0))
        links += [
            pt.Link(f"thigh {x} {y}", thigh, "body", pt.revolute((0, 0, 1)), hip),
            pt.Link(f"shank {x} {y}", thigh, f"thigh {x} {y}", pt.revolute((0, 1, 0)), knee),
        ]
    return pt.Mechanism(tuple(links))


def on_axes(*joints: tuple[str | None, str]) -> pt.Mechanism:
    """Links at random places, each on a parent and a hinge about one of the coordinate axes."""
    rng, axes = np.random.default_rng(7), dict(zip("xyz", np.eye(3), strict=True))
    links = [
        pt.Link(f"{k}", random_inertia(rng), parent, pt.revolute(axes[axis]), pt.Pose(p=rng.standard_normal(3)))
        for k, (parent, axis) in enumerate(joints)
    ]
    return pt.Mechanism(tuple(links))


def names_of_moves(mech: pt.Mechanism) -> list[str]:
    """For each body, what leads to it from its parent: shifts S and turns T along coordinate axes."""
    return [
        " ".join(f"{type(move).__name__[0]}{'xyz'[move.axis]}" for move in body.moves(np.array([0.3])))  # type: ignore[union-attr]
        for body in canonical.tree_of(mech).bodies
    ]


def test_parallel_axes_need_one_slide_together():
    mech = on_axes((None, "x"), ("0", "y"), ("1", "y"), ("2", "y"), ("3", "x"))
    assert names_of_moves(mech)[1:] == ["Sx Tx Sz Tz", "Sx Tz", "Sx Tz", "Sx Tx Tz"]


def test_frames_suit_the_axes_that_are_not_parallel():
    """For the others, shifts do, and the last of them is along the joint."""
    mech = on_axes((None, "x"), ("0", "y"), ("1", "y"), ("1", "z"), ("2", "z"), ("1", "y"), ("5", "z"))
    assert names_of_moves(mech)[1:] == ["Sx Tx Sz Tz", "Sx Sy Sz Tz", "Sx Tx Tz", "Sx Tx Tz", "Sx Sy Sz Tz", "Sx Tx Tz"]


def test_what_is_zero_but_for_rounding_is_zero():
    bodies = canonical.tree_of(four_legs()).bodies
    for body in bodies:
        entries = np.abs(body.G[body.G != 0])
        assert entries.min() > 1e-9 * entries.max()
    shanks = [body for body in bodies if body.parent > 0]
    assert len(shanks) == 4
    for body in shanks:  # they carry nothing: their centre of mass is above the x axis
        hx, hy = body.G[1, 5], -body.G[0, 5]
        assert abs(hx) > 0.002
        assert hy == 0


def test_operations_grow_with_the_joints():
    """The articulated-body algorithm, which larger trees take, is linear in their number."""
    counts = [count("forward dynamics", general_tree(n)) for n in (12, 16, 24)]
    assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=0.05)


def test_what_is_counted_is_right():
    for mech in MECHANISMS.values():
        q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, mech.nv))
        same(pt.inverse_dynamics(mech, q, v, pt.forward_dynamics(mech, q, v, tau)), tau)
