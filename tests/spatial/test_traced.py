"""The spatial algebra is plain NumPy that can be traced: kernels give the same numbers."""

import numpy as np
import pytest
from spatial_strategies import EDGE_ANGLES, same

from poinsot.fuse import jacobian, kernel
from poinsot.spatial import euler, motion, peers, quaternion, rotation
from poinsot.spatial.pose import Pose

RNG = np.random.default_rng(10)
PHI = np.concatenate([np.outer(EDGE_ANGLES, [2.0, -3.0, 6.0]) / 7.0, RNG.normal(size=(20, 3))])
OMEGA, DT = RNG.normal(size=PHI.shape), RNG.normal(size=len(PHI))
R, Q = rotation.exp(PHI), quaternion.exp(PHI)
XI, V = np.concatenate([PHI, OMEGA], axis=1), RNG.normal(size=(len(PHI), 6))
COM = (0.3, -0.2, 0.1)


def carried(xi, V):
    X = Pose.exp(xi)
    return motion.twist_in_frame(X.inverse() @ Pose(p=COM), V), motion.wrench_in_frame(X, V), X.adjoint() @ V, X @ COM


def there_and_back(xi, V):
    q, v = peers.to_peer("newton", Pose.exp(xi), V, COM)
    X, W = peers.from_peer("newton", q, v, COM)
    return q, v, X.matrix(), W


CASES = [
    ("(3)->(3,3)", rotation.skew, (PHI,)),
    ("(3,3)->(3)", rotation.unskew, (R,)),
    ("()->(3,3)", rotation.about_y, (DT,)),
    ("(3)->(3,3)", rotation.exp, (PHI,)),
    ("(3),()->(3,3)", rotation.exact, (PHI, DT)),
    ("(3,3)->(3)", rotation.log, (R,)),
    ("(3)->(3,3)", rotation.left_jacobian, (PHI,)),
    ("(3)->(3,3)", rotation.left_jacobian_inverse, (PHI,)),
    ("(3,3)->(3,3)", rotation.orthonormalise, (1.1 * R,)),
    ("(3)->(3)", rotation.perpendicular, (R[:, 0],)),
    ("(3)->(3)", rotation.from_z_to, (OMEGA,)),
    ("(4),(4)->(4)", quaternion.product, (Q, Q[::-1])),
    ("(4)->(4)", quaternion.normalize, (2.0 * Q,)),
    ("(4),(3)->(3)", quaternion.rotate, (Q, OMEGA)),
    ("(4)->(3,3)", quaternion.to_matrix, (Q,)),
    ("(3,3)->(4)", quaternion.from_matrix, (R,)),
    ("(3)->(4)", quaternion.exp, (PHI,)),
    ("(4)->(3)", quaternion.log, (Q,)),
    ("(4),(3)->(4)", quaternion.derivative, (Q, OMEGA)),
    ("(4),(3),()->(4)", quaternion.integrate, (Q, OMEGA, DT)),
    ("(3)->(3,3)", euler.to_matrix, (OMEGA,)),
    ("(3,3)->(3)", euler.from_matrix, (R,)),
    ("(3)->(4)", euler.to_quaternion, (OMEGA,)),
    ("(3),(3)->(3)", euler.rates, (OMEGA, PHI)),
    ("(3),(3)->(3)", euler.omega, (OMEGA, PHI)),
    ("(6)->(6,6)", motion.ad, (V,)),
    ("(6),(6)->(6)", motion.bracket, (V, XI)),
    ("(6),(6)->(6)", motion.ad_dual, (V, XI)),
    ("(6),(6),(3)->(3)", motion.point_acceleration, (V, XI, OMEGA)),
    ("(6)->(4,4)", lambda xi: Pose.exp(xi).matrix(), (XI,)),
    ("(6)->(6)", lambda xi: Pose.exp(xi).log(), (XI,)),
    ("(3,3)->(4,4)", lambda R: Pose(R).matrix(), (R,)),
    ("(4)->(3)", lambda q: Pose.from_quaternion(q).euler(), (Q,)),
    ("(6),(6)->(6),(6),(6),(3)", carried, (XI, V)),
    ("(6),(6)->(7),(6),(4,4),(6)", there_and_back, (XI, V)),
]


@pytest.mark.parametrize(("signature", "function", "arguments"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_kernels_give_the_same_numbers(signature, function, arguments):
    traced = kernel(signature)(function).to("numpy")(*arguments)
    single = len(signature.split("->")[1].split(")")) == 2
    for k in range(len(PHI)):
        expected = function(*(argument[k] for argument in arguments))
        for ours, plain in zip([traced] if single else traced, [expected] if single else expected, strict=True):
            same(ours[k], plain, 1e-14)


def test_traced_numbers_can_be_in_lists():
    lift = kernel("()->(3)")(lambda height: Pose(p=[0.0, 1.0, height]) @ (1.0, 2.0, 3.0)).to("numpy")
    same(lift(4.0), [1.0, 3.0, 7.0], 0.0)


def test_derivatives_are_exact_at_every_angle():
    xi = XI[: len(EDGE_ANGLES) - 1]  # from zero to just below pi, where log jumps
    round_trip = jacobian(kernel("(6)->(6)")(lambda xi: Pose.exp(xi).log())).to("numpy")(xi)
    same(round_trip, np.broadcast_to(np.eye(6), round_trip.shape), 1e-13)
    dR = jacobian(kernel("(3)->(3,3)")(rotation.exp)).to("numpy")(PHI)  # (..., 3, 3, 3), the last axis along phi
    J = np.moveaxis(rotation.skew(np.swapaxes(rotation.left_jacobian(PHI), -1, -2)), -3, -1)
    same(np.einsum("nijk,nlj->nilk", dR, R), J)
