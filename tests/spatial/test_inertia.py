"""The laws of mass properties: sums, frames, Steiner, principal axes, and what is not a body."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from poinsot.fuse import kernel
from poinsot.spatial.inertia import Inertia
from poinsot.spatial.pose import Pose
from poinsot.spatial.rotation import exp
from poinsot.spatial.shapes import Box, Rod, Sphere

ROUNDING = 1e-12  # every law here is exact; this is what double precision leaves after a few products
seeds = st.integers(0, 2**32 - 1)
E = np.eye(3)


def random_points(rng, n=None):
    n = n or rng.integers(3, 12)
    return rng.uniform(0.1, 5.0, n), rng.normal(size=(n, 3)) * rng.uniform(0.1, 3.0, 3) + rng.normal(size=3)


def random_pose(rng):
    return Pose(exp(rng.normal(size=3)), rng.normal(size=3))


def random_body(rng):
    """A box, ball, rod or cloud of points, at a random pose."""
    size, mass = rng.uniform(0.1, 3.0, 3), rng.uniform(0.1, 10.0)
    part = [
        lambda: Inertia.box(mass, size),
        lambda: Inertia.sphere(mass, size[0], size[0] * rng.uniform()),
        lambda: Inertia.rod(mass, size[0]),
        lambda: Inertia.cone(mass, size[0], size[1]),
        lambda: Inertia.points(*random_points(rng)),
    ]
    return random_pose(rng) @ part[rng.integers(len(part))]()


def same(a, b, rtol=ROUNDING, scale=None):
    """Equal, measured by the moment about the frame's origin."""
    scale = scale or b.about((0, 0, 0)).max()
    assert a.mass == pytest.approx(b.mass, rel=rtol)
    np.testing.assert_allclose(a.mass * (a.com - b.com), 0, atol=rtol * np.sqrt(scale * b.mass))
    np.testing.assert_allclose(a.moment, b.moment, rtol=0, atol=rtol * scale)


def close(a, b, rtol=ROUNDING):
    np.testing.assert_allclose(a, b, rtol=0, atol=rtol * max(np.abs(b).max(), 1e-300))


@given(seeds)
def test_points_by_the_book(seed):
    """Peskin (4), (5), (28), component by component."""
    masses, X = random_points(np.random.default_rng(seed))
    body = Inertia.points(masses, X)
    com = sum(m * x for m, x in zip(masses, X, strict=True)) / sum(masses)
    I = np.zeros((3, 3))
    for m, (x, y, z) in zip(masses, X - com, strict=True):
        I += m * np.array(
            [[y * y + z * z, -x * y, -x * z], [-y * x, x * x + z * z, -y * z], [-z * x, -z * y, x * x + y * y]]
        )
    assert body.mass == pytest.approx(sum(masses), rel=1e-14)
    close(body.com, com)
    close(body.moment, I)


@given(seeds)
def test_the_sum_of_the_parts_is_the_whole_in_any_frame(seed):
    rng = np.random.default_rng(seed)
    parts = [random_body(rng) for _ in range(rng.integers(2, 6))]
    X_BA = random_pose(rng)
    same(sum(part.in_frame(X_BA) for part in parts), sum(parts).in_frame(X_BA))
    same(sum(reversed(parts)), sum(parts))
    close(sum(parts).spatial(), sum(part.spatial() for part in parts))


@given(seeds)
def test_points_may_be_grouped(seed):
    rng = np.random.default_rng(seed)
    masses, X = random_points(rng, 10)
    same(Inertia.points(masses[:3], X[:3]) + Inertia.points(masses[3:], X[3:]), Inertia.points(masses, X))
    same(sum(Inertia.points([m], [x]) for m, x in zip(masses, X, strict=True)), Inertia.points(masses, X))


@given(seeds)
def test_subtraction_undoes_addition(seed):
    rng = np.random.default_rng(seed)
    body, part = random_body(rng), random_body(rng)
    whole = body + part
    same(whole - part, body, 1e-11, scale=whole.about((0, 0, 0)).max())


def test_a_drilled_block():
    """A block less a cylinder along z, off its centre."""
    block, hole = Inertia.box(10.0, (2, 2, 1)), Pose(p=(0.5, 0, 0)) @ Inertia.cylinder(1.0, 0.3, 1.0)
    left = block - hole
    assert left.mass == pytest.approx(9.0)
    close(left.com, [-0.5 / 9, 0, 0])
    assert left.about((0, 0, 0))[2, 2] == pytest.approx(10 * 8 / 12 - (0.09 / 2 + 0.25))


@given(seeds)
def test_frames(seed):
    """G_A = Ad^T G_B Ad, Lynch & Park (2.3); X_AB @ is the way back."""
    rng = np.random.default_rng(seed)
    body, X_BA = random_body(rng), random_pose(rng)
    Ad = X_BA.adjoint()
    close(body.in_frame(X_BA).spatial(), Ad.T @ body.spatial() @ Ad)
    same(X_BA @ body.in_frame(X_BA), body)
    same(X_BA.inverse() @ body, body.in_frame(X_BA))


@given(seeds)
def test_steiner(seed):
    """There and back, and I_d = I + m d^2 for any axis: Lynch & Park theorem 8.1."""
    rng = np.random.default_rng(seed)
    body, point, n = random_body(rng), rng.normal(size=3), rng.normal(size=3)
    n /= np.linalg.norm(n)
    same(Inertia.about_point(body.mass, body.com, body.about(point), point), body)
    d = np.linalg.norm(np.cross(n, point - body.com))
    close(n @ body.about(point) @ n, n @ body.moment @ n + body.mass * d**2)
    close(body.about(body.com), body.moment)
    masses, X = random_points(rng)
    moved = Inertia.points([*masses, 1e-300], [*(X - point), [0, 0, 0]])
    close(Inertia.points(masses, X).about(point), moved.about((0, 0, 0)))


@given(seeds)
def test_energy_and_momentum_are_sums_over_the_points_in_any_frame(seed):
    rng = np.random.default_rng(seed)
    masses, X = random_points(rng)
    V_B, X_BA = rng.normal(size=6), random_pose(rng)
    body = Inertia.points(masses, X)
    velocities = V_B[3:] + np.cross(V_B[:3], X)
    energy = 0.5 * np.sum(masses * np.sum(velocities**2, axis=1))
    momentum = np.concatenate([masses @ np.cross(X, velocities), masses @ velocities])
    close(body.kinetic_energy(V_B), energy)
    close(body.kinetic_energy(V_B), 0.5 * V_B @ body.spatial() @ V_B)
    close(body.momentum(V_B), momentum)
    close(body.momentum(V_B), body.spatial() @ V_B)
    V_A = X_BA.inverse().adjoint() @ V_B
    close(body.in_frame(X_BA).kinetic_energy(V_A), energy)
    close(body.momentum(np.stack([V_B, 2 * V_B])), np.stack([momentum, 2 * momentum]))


@given(seeds)
def test_angular_velocity_from_angular_momentum(seed):
    """Peskin (37): I Omega = L."""
    rng = np.random.default_rng(seed)
    body = Inertia.points(*random_points(rng, 8))
    Omega = rng.normal(size=3)
    close(body.angular_velocity(body.moment @ Omega), Omega, 1e-9)


@given(seeds)
def test_the_spatial_inertia_has_all_of_it(seed):
    body = random_body(np.random.default_rng(seed))
    G = body.spatial()
    same(Inertia.from_spatial(G), body)
    close(G, G.T)
    assert np.linalg.eigvalsh(G).min() > -ROUNDING * G.max()


@given(seeds)
def test_scaling_is_density(seed):
    body = random_body(np.random.default_rng(seed))
    same(np.float64(2.0) * body, body + body)
    same(Inertia.of(Box((1, 2, 3)), density=5.0), 5.0 * Inertia.of(Box((1, 2, 3)), density=1.0))


def test_pinocchio_agrees():
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(0)
    for _ in range(20):
        m, (a, b, c), X = rng.uniform(0.1, 5), rng.uniform(0.1, 3, 3), random_pose(rng)
        for ours, theirs in [
            (Inertia.box(m, (a, b, c)), pin.Inertia.FromBox(m, a, b, c)),
            (Inertia.cylinder(m, a, b), pin.Inertia.FromCylinder(m, a, b)),
            (Inertia.ellipsoid(m, (a, b, c)), pin.Inertia.FromEllipsoid(m, a, b, c)),
            (Inertia.sphere(m, a), pin.Inertia.FromSphere(m, a)),
            (Inertia.capsule(m, a, b), pin.Inertia.FromCapsule(m, a, b)),
        ]:
            placed, moved = X @ ours, pin.SE3(X.R, X.p).act(theirs)
            same(placed, Inertia(moved.mass, moved.lever, moved.inertia))
            swap = [3, 4, 5, 0, 1, 2]  # Pinocchio puts the linear part first
            close(placed.spatial(), moved.matrix()[np.ix_(swap, swap)])


def test_mujoco_agrees():
    """A body of several geoms, whose total MuJoCo computes with its principal axes."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(0)
    kind = mujoco.mjtGeom
    geoms = [  # half sizes in MuJoCo
        (kind.mjGEOM_BOX, (0.1, 0.2, 0.3), Inertia.box(2.0, (0.2, 0.4, 0.6))),
        (kind.mjGEOM_CYLINDER, (0.1, 0.2, 0), Inertia.cylinder(2.0, 0.1, 0.4)),
        (kind.mjGEOM_CAPSULE, (0.1, 0.2, 0), Inertia.capsule(2.0, 0.1, 0.4)),
        (kind.mjGEOM_ELLIPSOID, (0.1, 0.2, 0.3), Inertia.ellipsoid(2.0, (0.1, 0.2, 0.3))),
        (kind.mjGEOM_SPHERE, (0.2, 0, 0), Inertia.sphere(2.0, 0.2)),
    ]
    spec, total = mujoco.MjSpec(), []
    body = spec.worldbody.add_body()
    for type_, size, inertia in geoms:
        X = random_pose(rng)
        body.add_geom(type=type_, size=size, mass=2.0, pos=X.p, quat=X.quaternion())
        total.append(X @ inertia)
    model, ours = spec.compile(), sum(total)
    assert model.body_mass[1] == pytest.approx(ours.mass)
    close(model.body_ipos[1], ours.com)
    close(np.sort(model.body_inertia[1]), ours.principal()[0])
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, model.body_iquat[1])
    R = axes.reshape(3, 3)
    close(R @ np.diag(model.body_inertia[1]) @ R.T, ours.moment)


# Principal axes


def perturbed(body, rng, size=1e-15):
    noise = size * body.moment.max() * rng.normal(size=(3, 3))
    return Inertia(body.mass, body.com, body.moment + noise + noise.T)


@given(seeds)
def test_principal_axes_rebuild_the_moment(seed):
    body = random_body(np.random.default_rng(seed))
    moments, R_BP = body.principal()
    assert (np.diff(moments) >= 0).all()
    close(R_BP.T @ R_BP, np.eye(3))
    assert np.linalg.det(R_BP) == pytest.approx(1.0)
    close(R_BP @ np.diag(moments) @ R_BP.T, body.moment, 1e-11)
    close(body.in_frame(Pose(R_BP, body.com)).moment, np.diag(moments), 1e-11)
    if np.diff(moments).min() > 1e-9 * moments[2]:
        for axis in R_BP.T[:2]:
            assert axis[np.argmax(np.abs(axis))] > 0


def test_principal_axes_of_symmetric_bodies_are_the_body_axes():
    x, y, z = E
    for body, axes in [
        (Inertia.sphere(1.0, 1.0), E),
        (Inertia.box(1.0, (1, 1, 1)), E),
        (Inertia.box(1.0, (3, 2, 1)), E),
        (Inertia.box(1.0, (1, 2, 3)), [z, y, -x]),
        (Inertia.disc(1.0, 1.0), E),
        (Inertia.rod(1.0, 1.0), [z, x, y]),
        (Inertia.cylinder(1.0, 0.1, 1.0), [z, x, y]),
        (Inertia.points([1.0], [(1, 2, 3)]), E),
    ]:
        for seed in range(20):
            close(perturbed(body, np.random.default_rng(seed)).principal()[1].T, axes, 1e-12)


@settings(max_examples=50)
@given(seeds)
@example(0)
def test_rounding_does_not_make_the_principal_axes_jump(seed):
    """Neither for equal moments at any orientation, nor where two components of an axis are equally large."""
    rng = np.random.default_rng(seed)
    s = np.sqrt(0.5)
    diagonal = np.array([[s, -s, 0], [s, s, 0], [0, 0, 1]])
    for R in (exp(rng.normal(size=3)), diagonal, diagonal.T):
        for body in (
            Inertia.sphere(1.0, 1.0, 0.5),
            Inertia.cylinder(1.0, 1.0, 0.1),
            Inertia.cylinder(1.0, 0.1, 1.0),
            Inertia.rod(1.0, 1.0),
            Inertia.box(1.0, (1, 2, 3)),
        ):
            turned = Pose(R, (1, 2, 3)) @ body
            close(perturbed(turned, rng).principal()[1], turned.principal()[1], 1e-9)


# Tracing


def test_every_number_may_be_a_kernel_input():
    """A kernel whose inputs are masses, lengths and poses computes what NumPy does."""

    def f(mass, a, b, c, p, V):
        parts = [
            Inertia.box(mass, (a, b, c), (0.1, 0.2, 0.3)),
            Inertia.ellipsoid(mass, p),
            Inertia.sphere(mass, a, 0.5 * a),
            Inertia.cylinder(mass, a, b, 0.5 * a),
            Inertia.capsule(1.0, a, b, 0.5 * a),
            Inertia.cone(mass, a, 2.0, c),
            Inertia.rod(mass, a),
            Inertia.plate(mass, (a, 1.0)),
            Inertia.disc(1.0, 2.0, a),
            Inertia.of(Sphere(a), density=b),
            Inertia.points([mass, 1.0, 2.0], [p, (0, 0, 0), (a, b, 1)]),
            Inertia.about_point(1.0, p, 100 * mass * E, (a, b, c)),
        ]
        X = Pose(R, p)
        whole = X @ (sum(parts) - Inertia.sphere(1.0, 0.1) * mass) + Inertia.box(1.0, (1, 2, 3)).in_frame(X)
        whole = Inertia.from_spatial(whole.spatial())
        return whole.about(p), whole.spatial(), whole.momentum(V), whole.kinetic_energy(V), whole.angular_velocity(p)

    rng = np.random.default_rng(0)
    R, arguments = exp(rng.normal(size=3)), (2.0, 1.1, 1.2, 1.3, rng.uniform(0.5, 1, 3), rng.normal(size=6))
    compiled = kernel("(),(),(),(),(3),(6)->(3,3),(6,6),(6),(),(3)")(f)
    for ours, numpy in zip(compiled(*arguments), f(*arguments), strict=True):
        close(ours, numpy)


# What is a body, and what is not


def test_rank():
    """Peskin p. 9: three points not on a line make a body, fewer do not."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        direction, start = rng.normal(size=3), 1000 * rng.normal(size=3)
        line = start + np.outer(rng.normal(size=5), direction)
        assert Inertia.points(np.ones(5), line).rank == 2
        assert Inertia.points(np.ones(5), np.tile(start, (5, 1))).rank == 0
        assert Inertia.points(np.ones(6), [*line, start + rng.normal(size=3)]).rank == 3
    assert Inertia.points([1.0], [(0, 0, 0)]).rank == 0
    assert Inertia.points([1.0, 2.0], [(0, 0, 0), (1, 0, 0)]).rank == 2
    assert Inertia.points([1.0, 2.0, 3.0], [(0, 0, 0), (1, 0, 0), (1, 1, 0)]).rank == 3
    assert Inertia.rod(1.0, 1.0).rank == 2
    assert Inertia.plate(1.0, (1, 1)).rank == 3
    assert Inertia.cylinder(1.0, 1e-5, 1.0).rank == 3


def test_singular_bodies_can_be_part_of_regular_ones():
    cross = Inertia.rod(1.0, 2.0) + Pose(exp([np.pi / 2, 0, 0])) @ Inertia.rod(1.0, 2.0)
    assert cross.rank == 3
    close(cross.moment, np.diag([2 / 3, 1 / 3, 1 / 3]))


def test_singular_bodies_are_named():
    with pytest.raises(
        ValueError, match=r"inertia of 'wing' is singular: all its mass lies on one line\. A rigid body"
    ):
        Inertia.points([1.0, 1.0], [(0, 0, 0), (0, 1, 0)]).require_regular("wing")
    with pytest.raises(ValueError, match=r"'dot' is singular: all its mass lies in one point.*use a Particle"):
        Inertia.points([1.0], [(0, 1, 0)]).require_regular("dot")
    with pytest.raises(ValueError, match="singular"):
        Inertia.rod(1.0, 1.0).angular_velocity((0, 0, 1))
    Inertia.sphere(1.0, 1.0).require_regular("ball")


def test_arrays_are_copied_and_read_only():
    com = np.zeros(3)
    body = Inertia(1.0, com, np.eye(3))
    com[0] = 1.0
    assert body.com[0] == 0
    for array in (body.com, body.moment):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_six_digits_are_enough():
    """A thin plate typed with six digits breaks the triangle inequality in the last one."""
    plate = Inertia(1.0, np.zeros(3), np.diag([0.0833333, 0.0833333, 0.166667]))
    assert plate.rank == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Inertia(0.0, np.zeros(3), E), r"mass = 0.0 must be one positive, finite number"),
        (lambda: Inertia(-1.0, np.zeros(3), E), r"mass = -1.0 must be"),
        (lambda: Inertia(np.nan, np.zeros(3), E), r"mass = nan must be"),
        (lambda: Inertia(np.inf, np.zeros(3), E), r"mass = inf must be"),
        (lambda: Inertia(np.ones(2), np.zeros(3), E), r"mass = \[1. 1.\] must be one"),
        (lambda: Inertia("1 kg", np.zeros(3), E), r"mass = 1 kg must be one"),
        (lambda: Inertia(None, np.zeros(3), E), r"mass = None must be one"),
        (lambda: Inertia(1.0, np.zeros(2), E), r"com must have shape \(3,\); got \(2,\)"),
        (lambda: Inertia(1.0, [0, 0, np.nan], E), r"com must be finite"),
        (lambda: Inertia(1.0, "abc", E), r"com = 'abc' must be an array of numbers"),
        (lambda: Inertia(1.0, np.zeros(3), [1, 1, 1]), r"moment must have shape \(3, 3\); got \(3,\)\. Write np.diag"),
        (lambda: Inertia(1.0, np.zeros(3), E * np.nan), r"moment must be finite"),
        (lambda: Inertia(1.0, np.zeros(3), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), r"moment is not symmetric"),
        (lambda: Inertia(1.0, np.zeros(3), np.diag([-1, 1, 1])), r"moments -1, 1, 1 kg m\^2: .* cannot be negative"),
        (lambda: Inertia(1.0, np.zeros(3), -E), r"cannot be negative"),
        (lambda: Inertia(1.0, np.zeros(3), np.diag([1, 1, 3])), r"moments 1, 1, 3 .* larger than the sum of the two"),
        (
            lambda: Inertia.points([1, -1, 3], np.ones((3, 3))),
            r"masses must be zero or more \[kg\]; got -1.0 at point 1",
        ),
        (lambda: Inertia.points([], np.ones((0, 3))), r"mass = 0.0 must be"),
        (lambda: Inertia.points([1, 2], np.ones((3, 3))), r"positions must have shape \(2, 3\); got \(3, 3\)"),
        (lambda: Inertia.points(1.0, [1, 2, 3]), r"masses must have shape \(None,\); got \(\)"),
        (lambda: Inertia.of(Sphere(1.0)), r"Sphere: give either its mass \[kg\] or its density"),
        (lambda: Inertia.of(Sphere(1.0), 1.0, 1.0), r"Sphere: give either"),
        (lambda: Inertia.of(Sphere(1.0, 1.0), density=1.0), r"Sphere: density 1.0 times volume 0.0 m\^3 is not a mass"),
        (lambda: Inertia.of(Rod(1.0), density=np.nan), r"Rod: density nan"),
        (lambda: Inertia.box(1.0, (1, 1, 1)) - Inertia.box(2.0, (1, 1, 1)), r"a part of 2.0 kg cannot be cut away"),
        (
            lambda: Inertia.box(2.0, (1, 1, 1)) - Inertia.box(1.0, (3, 3, 3)),
            r"does not lie within the body: what is left",
        ),
        (lambda: Inertia.about_point(1.0, (3, 0, 0), E), r"cannot be negative. Is it taken about the com"),
        (lambda: Inertia.from_spatial(np.eye(5)), r"G must have shape \(6, 6\)"),
        (lambda: Inertia.from_spatial(np.diag([1, 1, 1, 1, 1, 2.0])), r"not the spatial inertia .* entry \(3, 3\)"),
        (lambda: Inertia.from_spatial(np.eye(6) + 0.1), r"not the spatial inertia of a rigid body: entry"),
    ],
)
def test_what_is_not_a_body(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_cannot_be_added():
    for operation in (lambda a: a + 1, lambda a: 1 + a, lambda a: a - 1, lambda a: E @ a):
        with pytest.raises(TypeError):
            operation(Inertia.sphere(1.0, 1.0))


@pytest.mark.parametrize("density", [0.0, -1.0, np.nan])
def test_a_density_that_gives_no_mass(density):
    with pytest.raises(ValueError, match=r"Box: density .* is not a mass"):
        Inertia.of(Box((1.0, 2.0, 3.0)), density=density)
