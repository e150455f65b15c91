"""Numbers that others have printed: Lynch and Park's code, RBDL's tests, and through them spatial_v1 and HuMAnS."""

import numpy as np
import pytest
from trees import same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import dynamics, kinematics
from poinsot.spatial import motion

Z, Y, X = np.eye(3)[::-1]

# Modern Robotics (Lynch and Park), the examples in the Python package: numbers of eight printed digits.


def from_screws(screws: Array, homes: list[pt.Pose], inertias: list[pt.Inertia | None]) -> tuple[pt.Mechanism, Array]:
    """A chain from screw axes (omega, v) in the space frame, poses of its links at home, and inertias in those.

    The book's screws need not be of unit length; the second result scales the book's theta to our q.
    """
    links, lengths, before = [], [], pt.Pose()
    for i, (S, home, inertia) in enumerate(zip(np.asarray(screws, float), homes, inertias, strict=True)):
        omega, v = S[:3], S[3:]
        if not omega.any():
            joint, point, length = pt.prismatic(home.R.T @ v), np.zeros(3), np.linalg.norm(v)
        else:
            length, square = np.linalg.norm(omega), omega @ omega
            joint, point = pt.helical(home.R.T @ omega, omega @ v / square), np.cross(omega, v) / square
        frame = pt.Pose(home.R, point)  # on the axis
        shifted = None if inertia is None else inertia.in_frame(home.inverse() @ frame)
        links.append(pt.Link(f"{i + 1}", shifted, f"{i}" if i else None, joint, before.inverse() @ frame))
        lengths.append(length)
        before = frame
    last = pt.Inertia.sphere(1.0, 1.0) if inertias[-1] is None else None  # pure kinematics still needs some mass
    links.append(pt.Link("tool", last, f"{len(screws)}", placement=before.inverse() @ homes[-1]))
    return pt.Mechanism(tuple(links), gravity=(0, 0, -9.8)), np.array(lengths)


THREE_LINKS = {
    "screws": [[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]],
    "homes": [
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]],
        [[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]],
        [[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]],
    ],
    "G": [
        (3.7, np.diag([0.010267, 0.010267, 0.00666])),
        (8.393, np.diag([0.22689, 0.22689, 0.0151074])),
        (2.275, np.diag([0.0494433, 0.0494433, 0.004095])),
    ],
}


@pytest.fixture(scope="module")
def three_links():
    homes = [pt.Pose()]
    for M in THREE_LINKS["homes"]:
        homes.append(homes[-1] @ pt.Pose.from_matrix(M))
    inertias = [pt.Inertia(mass, np.zeros(3), I) for mass, I in THREE_LINKS["G"]]
    return from_screws(THREE_LINKS["screws"], homes[1:], inertias)


def test_modern_robotics_dynamics(three_links):
    mech, scale = three_links
    theta, rate, acceleration = np.full(3, 0.1), np.array([0.1, 0.2, 0.3]), np.array([2, 1.5, 1])
    q, v, vdot = scale * theta, scale * rate, scale * acceleration
    # The tool pushes with (1, ..., 1) in its own frame {4}, which lies 0.14225 m beyond {3}: the opposite acts on it.
    external = {"tool": motion.wrench_in_frame(pt.Pose(p=(0, 0, 0.14225)), -np.ones(6))}
    printed = 1e-8
    tau = scale * pt.inverse_dynamics(mech, q, v, vdot, external)
    same(tau, [74.69616155, -33.06766016, -3.23057314], printed)
    M = [[22.543338, -0.307146754, -0.00718426391], [-0.307146754, 1.96850717, 0.432157368]]
    M = [*M, [-0.00718426391, 0.432157368, 0.191630858]]
    same(np.outer(scale, scale) * pt.mass_matrix(mech, q), M, printed)
    gravity = dynamics.gravity_forces(mech, q)
    same(scale * gravity, [28.40331262, -37.64094817, -5.4415892], printed)
    same(scale * (dynamics.bias_forces(mech, q, v) - gravity), [0.26453118, -0.05505157, -0.00689132], printed)
    push = dynamics.bias_forces(mech, q, v, external) - dynamics.bias_forces(mech, q, v)
    same(scale * push, [1.40954608, 1.85771497, 1.392409], printed)
    forward = pt.forward_dynamics(mech, q, v, np.array([0.5, 0.6, 0.7]) / scale, external) / scale
    same(forward, [-0.973929067086, 25.584667840341, -32.914992124781], 1e-12)


def test_modern_robotics_jacobians():
    """Screws with pitch. The same numbers are the axes in the body frame and in the space frame, if home is E."""
    screws = [[0, 0, 1, 0, 0.2, 0.2], [1, 0, 0, 2, 0, 3], [0, 1, 0, 0, 2, 1], [1, 0, 0, 0.2, 0.3, 0.4]]
    mech, _ = from_screws(screws, [pt.Pose()] * 4, [None] * 4)
    q = np.array([0.2, 1.1, 0.1, 1.2])
    J_B = kinematics.jacobian(mech, q, "tool")
    J_S = pt.forward_kinematics(mech, q)["tool"].adjoint() @ J_B
    body = [
        [-0.04528405, 0.99500417, 0, 1],
        [0.74359313, 0.09304865, 0.36235775, 0],
        [-0.66709716, 0.03617541, -0.93203909, 0],
        [2.32586047, 1.66809, 0.56410831, 0.2],
        [-1.44321167, 2.94561275, 1.43306521, 0.3],
        [-2.06639565, 1.82881722, -1.58868628, 0.4],
    ]
    space = [
        [0, 0.98006658, -0.09011564, 0.95749426],
        [0, 0.19866933, 0.4445544, 0.28487557],
        [1, 0, 0.89120736, -0.04528405],
        [0, 1.95218638, -2.21635216, -0.51161537],
        [0.2, 0.43654132, -2.43712573, 2.77535713],
        [0.2, 2.96026613, 3.23573065, 2.22512443],
    ]
    same(J_B, body, 1e-8)
    same(J_S, space, 1e-8)


def test_modern_robotics_forward_kinematics():
    home = pt.Pose.from_matrix([[-1, 0, 0, 0], [0, 1, 0, 6], [0, 0, -1, 2], [0, 0, 0, 1]])
    mech, _ = from_screws([[0, 0, 1, 4, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, -1, -6, 0, -0.1]], [home] * 3, [None] * 3)
    T = pt.forward_kinematics(mech, np.array([np.pi / 2, 3, np.pi]))["tool"].matrix()
    same(T, [[0, 1, 0, -5], [1, 0, 0, 4], [0, 0, -1, 1.68584073], [0, 0, 0, 1]], 1e-8)


# RBDL's tests of forward dynamics: chains of bodies of 1 kg and E kg m^2, at rest, gravity along -y; to the last digit.

CHAINS = {  # (parent, axis, offset in the parent, centre of mass), accelerations
    "single": ([(0, Z, (0, 0, 0), (1, 0, 0))], [-4.905]),
    "double z": ([(0, Z, (0, 0, 0), (1, 0, 0)), (1, Z, (1, 0, 0), (1, 0, 0))], [-5.886, 3.924]),
    "triple z": (
        [(0, Z, (0, 0, 0), (1, 0, 0)), (1, Z, (1, 0, 0), (1, 0, 0)), (2, Z, (1, 0, 0), (1, 0, 0))],
        [-6.03692307692308, 3.77307692307692, 1.50923076923077],
    ),
    "double z-y": ([(0, Z, (0, 0, 0), (1, 0, 0)), (1, Y, (1, 0, 0), (0, 1, 0))], [-3.924, 0]),
    "tree of five": (
        [
            (0, Z, (0, 0, 0), (1, 0, 0)),
            (1, Y, (1, 0, 0), (0, 1, 0)),
            (2, X, (0, 1, 0), (0, 0, 1)),
            (1, Y, (-0.5, 0, 0), (0, 1, 0)),
            (4, X, (0, -0.5, 0), (0, 0, 1)),
        ],
        [-1.6031906614786, -0.534396887159533, 4.1034046692607, 0.267198443579767, 5.30579766536965],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_rbdl_chains(name):
    bodies, expected = CHAINS[name]
    links = [
        pt.Link(
            f"{i + 1}", pt.Inertia(1.0, com, np.eye(3)), f"{p}" if p else None, pt.revolute(axis), pt.Pose(p=offset)
        )
        for i, (p, axis, offset, com) in enumerate(bodies)
    ]
    mech = pt.Mechanism(tuple(links), gravity=(0, -9.81, 0))
    o = np.zeros(len(links))
    same(pt.forward_dynamics(mech, o, o, o), expected, 1e-14)


def test_rbdl_general_inertia():
    body = pt.Inertia(1.0, (1.5, 1, 1), np.diag([1.0, 2.0, 3.0]))
    mech = pt.Mechanism((pt.Link("body", body, joint=pt.revolute(Z)),), gravity=(0, -9.81, 0))
    same(pt.forward_dynamics(mech, np.zeros(1), np.zeros(1), np.zeros(1)), [-2.3544], 1e-14)


def _wrist(*axes: Array, inertia: pt.Inertia, base: str | None = None) -> list[pt.Link]:
    """Turns about axes in one point: frames without mass, the last with the body."""
    names = [base, *(f"turn{i}" for i in range(len(axes) - 1)), "body"]
    masses = [*[None] * (len(axes) - 1), inertia]
    return [pt.Link(names[i + 1], masses[i], names[i], pt.revolute(axis)) for i, axis in enumerate(axes)]


def test_rbdl_three_turns_without_mass_between():
    """By Featherstone's spatial_v1."""
    mech = pt.Mechanism(tuple(_wrist(Z, Y, X, inertia=pt.Inertia(1.0, (0, 0.5, 0), np.eye(3)))), gravity=(0, -9.81, 0))
    o = np.zeros(3)
    same(pt.forward_dynamics(mech, np.array([1.0, 0, 0]), o, o), [3.301932144386186, 0, 0], 1e-14)


def test_humans_point_kinematics():
    """Position, velocity, acceleration of a point of a body on three slides and three turns. By INRIA's HuMAnS."""
    slide = pt.Link("slide", None, joint=pt.translation())
    mech = pt.Mechanism((slide, *_wrist(Z, Y, X, inertia=pt.Inertia.sphere(1.0, 1.0), base="slide")))
    q = v = np.array([0.1, 1.1, 1.2, 1.3, 1.5, 1.7])
    point = np.array([-1.9, -1.8, 0])
    X_WB = kinematics.world_poses(mech, q)[-1]
    V, A = kinematics.twists(mech, q, v)[-1], kinematics.accelerations(mech, q, v, 0 * v)[-1]
    same(X_WB @ point, [-0.6357089363622626, -0.6831041744630977, 2.96897480591697], 1e-14)
    velocity = X_WB.R @ motion.point_velocity(V, point)
    same(velocity, [0.3091226260907569, 3.891012095550828, 4.100277995030419], 1e-14)
    acceleration = X_WB.R @ motion.point_acceleration(V, A, point)
    same(acceleration, [-5.30276015884716, 6.541369639625232, -4.795115077652286], 1e-14)
    other = X_WB.R @ motion.point_velocity(V, np.array([1.0, 0, 0]))
    same(other, [-0.3888503432977729, -0.3171179347202455, 1.093894197498446], 1e-14)
