"""Lynch & Park, Dynamics of a Single Rigid Body: sums over points, principal axes, Euler, twists and wrenches."""

import numpy as np
from hypothesis import given
from text_objects import SEEDS, rate, same

import poinsot as pt
from poinsot.body import body_frame, twist
from poinsot.spatial import Inertia, Pose, motion
from poinsot.spatial.motion import Ad, ad, ad_dual, bracket, point_acceleration, twist_matrix
from poinsot.spatial.rotation import exp, skew, unskew
from poinsot.spatial.shapes import Box, Cylinder, Ellipsoid

E, O = np.eye(3), np.zeros((3, 3))


def body(seed, n=7):
    """Masses and positions r_i in {b}, whose origin is the centre of mass; a twist V_b and its rate."""
    rng = np.random.default_rng(seed)
    m, r = rng.uniform(0.5, 2.0, n), rng.normal(size=(n, 3))
    return m, r - m @ r / m.sum(), rng.normal(size=6), rng.normal(size=6)


# 2.1 Classical formulation


@given(SEEDS)
def test_the_origin_of_b_is_the_centre_of_mass(seed):
    m, r, _, _ = body(seed)
    there = Inertia.points(m, r + [1, 2, 3])
    same(m @ r, np.zeros(3), scale=10.0)
    same(Inertia.points(m, r).com, np.zeros(3))
    same(there.in_frame(Pose(p=there.com)).com, np.zeros(3))


@given(SEEDS)
def test_accelerations_of_the_points(seed):
    """p_i' and p_i'' in the frame at rest that coincides with {b} for the instant, along a motion with this V_b(t)."""
    _, r, V, Vdot = body(seed)
    omega, v, omega_dot, v_dot = V[:3], V[3:], Vdot[:3], Vdot[3:]

    def position(t):
        """Points carried by the twist V + t V', to the fourth order of Magnus' expansion."""
        return Pose.exp(t * V + t * t / 2 * Vdot + t**3 / 12 * bracket(V, Vdot)) @ r

    same(rate(position), v + np.cross(omega, r), 1e-9)
    printed = v_dot + r @ skew(omega_dot).T + skew(omega) @ v + r @ (skew(omega) @ skew(omega)).T
    same(point_acceleration(V, Vdot, r), printed, scale=10.0)
    h = 1e-2
    second = (-position(2 * h) + 16 * position(h) - 30 * r + 16 * position(-h) - position(-2 * h)) / (12 * h * h)
    same(second, printed, 1e-5, scale=10.0)  # what the differences leave


@given(SEEDS)
def test_the_sums_over_points(seed):
    """f_b = sum f_i and m_b = sum [r_i] f_i, point by point, are m v' + [w] m v and I w' + [w] I w."""
    m, r, V, Vdot = body(seed)
    inertia = Inertia.points(m, r)
    f = m[:, None] * point_acceleration(V, Vdot, r)
    f_b, m_b = f.sum(axis=0), sum(skew(r_i) @ f_i for r_i, f_i in zip(r, f, strict=True))
    F_b = twist.wrench(inertia.spatial(), V, Vdot)
    same(F_b[3:], f_b, scale=100.0)
    same(F_b[:3], m_b, scale=100.0)
    omega, v = V[:3], V[3:]
    same(f_b, m.sum() * (Vdot[3:] + np.cross(omega, v)), scale=100.0)
    same(m_b, inertia.moment @ Vdot[:3] + np.cross(omega, inertia.moment @ omega), scale=100.0)
    same(twist.acceleration(inertia.spatial(), V, np.concatenate([m_b, f_b])), Vdot, 1e-9)
    V_dot, omega_dot = body_frame.accelerations(inertia, v, omega, f_b, m_b)
    same(np.concatenate([omega_dot, V_dot]), Vdot, 1e-9)


@given(SEEDS)
def test_the_sums_hold_in_any_frame_of_the_body(seed):
    """The same sums about an origin that is not the centre of mass: de Nivelle (6), (7) and the twist form."""
    m, r, V, Vdot = body(seed)
    r = r + np.array([0.3, -0.5, 0.8])
    f = m[:, None] * point_acceleration(V, Vdot, r)
    same(twist.wrench(Inertia.points(m, r).spatial(), V, Vdot)[3:], f.sum(axis=0), scale=100.0)
    same(twist.wrench(Inertia.points(m, r).spatial(), V, Vdot)[:3], np.cross(r, f).sum(axis=0), scale=100.0)


@given(SEEDS)
def test_rules_of_skew(seed):
    """[a] = -[a]^T, [a] b = -[b] a, [a][b] = ([b][a])^T."""
    a, b = np.random.default_rng(seed).normal(size=(2, 3))
    same(skew(a), -skew(a).T)
    same(skew(a) @ b, -skew(b) @ a)
    same(skew(a) @ skew(b), (skew(b) @ skew(a)).T)
    same(unskew(skew(a)), a)


@given(SEEDS)
def test_rotational_energy(seed):
    m, r, V, _ = body(seed)
    inertia, omega = Inertia.points(m, r), V[:3]
    energy = 0.5 * m @ np.sum(np.cross(omega, r) ** 2, axis=1)
    same(0.5 * omega @ inertia.moment @ omega, energy, scale=10.0)
    same(inertia.kinetic_energy(np.concatenate([omega, np.zeros(3)])), energy, scale=10.0)


@given(SEEDS)
def test_entries_of_the_inertia(seed):
    """I_b = -sum m_i [r_i]^2, and its nine entries; the products with their sign."""
    m, r, _, _ = body(seed)
    I = Inertia.points(m, r).moment
    same(I, -sum(m_i * skew(r_i) @ skew(r_i) for m_i, r_i in zip(m, r, strict=True)), scale=10.0)
    x, y, z = r.T
    same(np.diag(I), [m @ (y**2 + z**2), m @ (x**2 + z**2), m @ (x**2 + y**2)], scale=10.0)
    same([I[0, 1], I[0, 2], I[1, 2]], [-m @ (x * y), -m @ (x * z), -m @ (y * z)], scale=10.0)


def test_volume_integrals():
    """The sums become integrals: a body cut into ever more cubes, and a density that varies."""
    rho, size = 3.0, np.array([1.0, 0.6, 0.4])
    box = Inertia.of(Box(size), density=rho)
    errors = []
    for n in (8, 16):
        c = [(np.arange(n) + 0.5) / n * s - s / 2 for s in size]
        x = np.stack(np.meshgrid(*c, indexing="ij"), axis=-1).reshape(-1, 3)
        errors.append(np.abs(Inertia.points(np.full(len(x), box.mass / n**3), x).moment - box.moment).max())
    assert abs(errors[0] / errors[1] - 4) < 1e-6  # the midpoint rule, exactly of second order here
    lopsided = Inertia.density(lambda p: rho * (1 + p[..., 0]), Box(size))
    same(lopsided.mass, box.mass)
    same(lopsided.com, [size[0] ** 2 / 12, 0, 0])


@given(SEEDS)
def test_figure_8_5(seed):
    l, w, h = np.random.default_rng(seed).uniform(0.1, 3.0, 3)
    m = 2.5
    same(Inertia.of(Box((l, w, h)), m).moment, m / 12 * np.diag([w * w + h * h, l * l + h * h, l * l + w * w]))
    same(Inertia.of(Cylinder(l, h), m).moment, m * np.diag([(3 * l * l + h * h) / 12] * 2 + [l * l / 2]))
    same(Inertia.of(Ellipsoid((l, w, h)), m).moment, m / 5 * np.diag([w * w + h * h, l * l + h * h, l * l + w * w]))
    same([Box((l, w, h)).volume, Cylinder(l, h).volume], [l * w * h, np.pi * l * l * h])
    same(Ellipsoid((l, w, h)).volume, 4 / 3 * np.pi * l * w * h)


@given(SEEDS)
def test_principal_axes_are_extremal(seed):
    """Among all axes through the centre of mass, one principal axis has the largest moment, another the smallest."""
    m, r, _, _ = body(seed)
    inertia, rng = Inertia.points(m, r), np.random.default_rng(seed + 1)
    moments, axes = inertia.principal()
    n = rng.normal(size=(200, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    about = np.einsum("ka,ab,kb->k", n, inertia.moment, n)
    distances = np.sum(r * r, axis=1)[:, None] - (r @ n.T) ** 2  # squared, of each point from each axis
    same(about, m @ distances, scale=10.0)
    assert np.all(about <= moments[2] * (1 + 1e-14))
    assert np.all(about >= moments[0] * (1 - 1e-14))
    for k in (0, 2):
        same(axes[:, k] @ inertia.moment @ axes[:, k], moments[k])
        off = np.cross(axes[:, k], rng.normal(size=3))  # any way off the axis

        def along(t, k=k, off=off):
            axis = axes[:, k] + t * off
            return axis @ inertia.moment @ axis / (axis @ axis)

        same(rate(along), 0.0, 1e-9, scale=10.0)  # stationary


@given(SEEDS)
def test_three_scalar_euler_equations(seed):
    """In principal axes m_x = I_xx w_x' + (I_zz - I_yy) w_y w_z and so on; by three formulations of the library."""
    m, r, V, Vdot = body(seed)
    moments, axes = Inertia.points(m, r).principal()
    inertia = Inertia.points(m, r @ axes)
    same(inertia.moment, np.diag(moments), 1e-11, scale=10.0)
    (Ixx, Iyy, Izz), (wx, wy, wz), (ax, ay, az) = moments, V[:3], Vdot[:3]
    m_b = [Ixx * ax + (Izz - Iyy) * wy * wz, Iyy * ay + (Ixx - Izz) * wx * wz, Izz * az + (Iyy - Ixx) * wx * wy]
    F_b = twist.wrench(inertia.spatial(), V, Vdot)
    same(F_b[:3], m_b, 1e-11, scale=100.0)
    _, torque = body_frame.force_and_torque(inertia, V[3:], V[:3], Vdot[3:], Vdot[:3])
    same(torque, m_b, 1e-11, scale=100.0)
    _, omega_dot = body_frame.accelerations(inertia, V[3:], V[:3], np.zeros(3), np.array(m_b))
    same(omega_dot, Vdot[:3], 1e-9)


@given(SEEDS)
def test_rotated_frames(seed):
    """I_c = R_bc^T I_b R_bc; the energy does not depend on the frame; eigenvectors make it diagonal."""
    m, r, V, _ = body(seed)
    inertia, R_bc = Inertia.points(m, r), exp(np.random.default_rng(seed + 1).normal(size=3))
    I_c = inertia.in_frame(Pose(R_bc)).moment
    same(I_c, R_bc.T @ inertia.moment @ R_bc, scale=10.0)
    same(I_c, Inertia.points(m, r @ R_bc).moment, scale=10.0)
    omega_c = R_bc.T @ V[:3]
    same(omega_c @ I_c @ omega_c, V[:3] @ inertia.moment @ V[:3], scale=10.0)
    moments, axes = inertia.principal()
    same(inertia.in_frame(Pose(axes)).moment, np.diag(moments), 1e-11, scale=10.0)


@given(SEEDS)
def test_theorem_8_1_steiner(seed):
    """I_q = I_b + m (q^T q E - q q^T), summed over the points about q; and I_d = I_cm + m d^2 for an axis."""
    m, r, V, _ = body(seed)
    inertia, q, n = Inertia.points(m, r), V[:3], V[3:] / np.linalg.norm(V[3:])
    arms = r - q
    direct = sum(m_i * (a @ a * E - np.outer(a, a)) for m_i, a in zip(m, arms, strict=True))
    same(inertia.about(q), direct, scale=10.0)
    same(inertia.about(q), inertia.moment + m.sum() * (q @ q * E - np.outer(q, q)), scale=10.0)
    d = np.linalg.norm(np.cross(n, q))
    same(n @ inertia.about(q) @ n, n @ inertia.moment @ n + m.sum() * d**2, scale=10.0)


@given(SEEDS)
def test_planar_motion(seed):
    """m_z = I_zz w_z' and K = I_zz w_z^2 / 2: for a flat body, and for any body whose z axis is principal."""
    rng = np.random.default_rng(seed)
    m, r = rng.uniform(0.5, 2.0, 6), rng.normal(size=(6, 3)) * [1, 1, 0]
    r = r - m @ r / m.sum()
    solid = Inertia.of(Box(rng.uniform(0.5, 2.0, 3)), 2.0)
    omega, alpha, (v, a) = *rng.normal(size=2), rng.normal(size=(2, 3)) * [1, 1, 0]
    for inertia in (Inertia.points(m, r), solid):
        V, Vdot = np.array([0, 0, omega, *v]), np.array([0, 0, alpha, *a])
        Izz = inertia.moment[2, 2]
        same(twist.wrench(inertia.spatial(), V, Vdot)[:3], [0, 0, Izz * alpha], scale=10.0)
        _, omega_dot = body_frame.accelerations(inertia, v, V[:3], np.zeros(3), np.array([0, 0, Izz * alpha]))
        same(omega_dot, [0, 0, alpha])
        same(inertia.kinetic_energy(np.array([0, 0, omega, 0, 0, 0])), Izz * omega**2 / 2)
    disc = pt.Mechanism([pt.Link("disc", solid, joint=pt.planar((0, 0, 1)))], gravity=(0, 0, 0))
    vdot = pt.forward_dynamics(disc, disc.neutral(), np.array([omega, 0.0, 0.0]), np.array([0.7, 0.0, 0.0]))
    same(vdot[0], 0.7 / solid.moment[2, 2])


# 2.2 Twist-wrench formulation


@given(SEEDS)
def test_combined_forms(seed):
    """Both block forms, and F = G V' - [ad_V]^T G V; the analogy m = I w' - [w]^T I w."""
    m, r, V, Vdot = body(seed)
    inertia, omega, v = Inertia.points(m, r), V[:3], V[3:]
    G = np.block([[inertia.moment, O], [O, m.sum() * E]])
    same(inertia.spatial(), G, scale=10.0)
    F = twist.wrench(inertia.spatial(), V, Vdot)
    same(F, G @ Vdot + np.block([[skew(omega), O], [O, skew(omega)]]) @ G @ V, scale=100.0)
    same(F, G @ Vdot + np.block([[skew(omega), skew(v)], [O, skew(omega)]]) @ G @ V, scale=100.0)
    same(F, G @ Vdot - ad(V).T @ G @ V, scale=100.0)
    same(F[:3], inertia.moment @ Vdot[:3] - skew(omega).T @ inertia.moment @ omega, scale=100.0)
    same(np.cross(v, v), np.zeros(3))


@given(SEEDS)
def test_energy_and_momentum(seed):
    """K = w^T I w / 2 + m v^T v / 2 = V^T G V / 2; P = G V, a sum over points."""
    m, r, V, _ = body(seed)
    inertia = Inertia.points(m, r)
    speeds = V[3:] + np.cross(V[:3], r)
    same(inertia.kinetic_energy(V), 0.5 * m @ np.sum(speeds**2, axis=1), scale=10.0)
    same(inertia.kinetic_energy(V), 0.5 * V @ inertia.spatial() @ V, scale=10.0)
    same(inertia.momentum(V), inertia.spatial() @ V, scale=10.0)
    same(inertia.momentum(V), np.concatenate([m @ np.cross(r, speeds), m @ speeds]), scale=10.0)


@given(SEEDS)
def test_definition_8_1_lie_bracket(seed):
    """[w1 x w2] = [w1][w2] - [w2][w1], the same for 4x4 twist matrices, and as [ad_V1] V2."""
    V1, V2 = np.random.default_rng(seed).normal(size=(2, 6))
    w1, w2 = V1[:3], V2[:3]
    same(skew(np.cross(w1, w2)), skew(w1) @ skew(w2) - skew(w2) @ skew(w1))
    commutator = twist_matrix(V1) @ twist_matrix(V2) - twist_matrix(V2) @ twist_matrix(V1)
    same(twist_matrix(bracket(V1, V2)), commutator)
    same(ad(V1), np.block([[skew(w1), O], [skew(V1[3:]), skew(w1)]]))
    same(ad(V1) @ V2, bracket(V1, V2))


@given(SEEDS)
def test_definition_8_2_dual(seed):
    V, F = np.random.default_rng(seed).normal(size=(2, 6))
    (omega, v), (m, f) = (V[:3], V[3:]), (F[:3], F[3:])
    same(ad_dual(V, F), ad(V).T @ F)
    same(ad_dual(V, F), np.concatenate([-skew(omega) @ m - skew(v) @ f, -skew(omega) @ f]))


# 2.3 Dynamics in other frames


@given(SEEDS)
def test_other_frames(seed):
    """Ad_T, G_a = Ad^T G_b Ad, the energy in {a}, and F_a = G_a V_a' - [ad_Va]^T G_a V_a."""
    m, r, V_b, Vdot_b = body(seed)
    inertia, T_ba = Inertia.points(m, r), Pose.exp(np.random.default_rng(seed + 1).normal(size=6))
    Ad_ba = Ad(T_ba.R, T_ba.p)
    same(Ad_ba, np.block([[T_ba.R, O], [skew(T_ba.p) @ T_ba.R, T_ba.R]]))
    same(T_ba.adjoint(), Ad_ba)
    G_a = inertia.in_frame(T_ba).spatial()
    same(G_a, Ad_ba.T @ inertia.spatial() @ Ad_ba, scale=10.0)
    V_a, Vdot_a = (np.linalg.solve(Ad_ba, U) for U in (V_b, Vdot_b))
    same(V_a @ G_a @ V_a, V_b @ inertia.spatial() @ V_b, 1e-11, scale=100.0)
    F_b = twist.wrench(inertia.spatial(), V_b, Vdot_b)
    same(twist.wrench(G_a, V_a, Vdot_a), Ad_ba.T @ F_b, 1e-11, scale=100.0)
    same(motion.wrench_in_frame(T_ba.inverse(), F_b), Ad_ba.T @ F_b, 1e-11, scale=100.0)
