"""Figures from outside."""

import numpy as np
import pytest
from bodies import unphysical

from poinsot._types import Array
from poinsot.integrate import dop853
from poinsot.integrate.single import simulate
from poinsot.spatial import Inertia, Pose, quaternion

# t, omega, q. Set-up of Principia's Euler solver test: I = (3, 5, 9), L = (0, 2, 0.01) at t = 0; it passes close by the
# unstable axis four times, so errors grow a millionfold. omega by Jacobi's functions at 30 digits; q good to 4e-11.
JANIBEKOV = np.array(
    [
        [25, -0.2761903495169539, 0.3022366651323637, 0.112759712496459,
         0.2654566281128339, 0.1358479902712173, -0.897603109450974, -0.3246332700666686],
        [50, -0.009583707551017952, -0.3998966582688819, 0.004067244313431514,
         -0.01236687735560906, 0.9939241955231852, -0.006418740798936813, 0.1091812880699649],
        [75, 0.04364595207222736, -0.3978511377147714, 0.01785299479871923,
         0.02468556626469229, 0.1771045774389023, 0.04293955018076506, 0.9829449559861696],
        [100, 0.06969808760992528, 0.3944970962189294, 0.02847581085731136,
         0.9729650346545038, -0.0717137290801049, -0.2164463177190828, 0.03670386828435777],
    ]
)  # fmt: skip


@pytest.mark.parametrize("method", ["rkmk4", "splitting4", "adaptive"])
def test_dzhanibekov(method):
    body, V = unphysical((3.0, 5.0, 9.0)), [0.0, 0.4, 0.01 / 9, 0.0, 0.0, 0.0]
    if method == "adaptive":
        run = dop853.solve(body, None, V, None, [0, *JANIBEKOV[:, 0]], rtol=3e-14, atol=1e-16)
    else:
        run = simulate(body, None, V, None, method, duration=100.0, step=0.01, records=4)
    np.testing.assert_allclose(run.angular_velocity[1:], JANIBEKOV[:, 1:4], atol=1e-9)
    q = run.orientation[1:]
    np.testing.assert_allclose(np.abs(np.sum(q * JANIBEKOV[:, 4:], axis=1)), 1, atol=1e-9)
    signs = np.sign(np.sum(q * JANIBEKOV[:, 4:], axis=1))
    np.testing.assert_allclose(signs[:, None] * q, JANIBEKOV[:, 4:], atol=1e-9)


# The heavy top of Bruels and Cardona: t, centre of mass, quaternion; by kynema at 2e-6 s, good to about 1e-7.
HEAVY_TOP = np.array(
    [
        [1.0, 0.1733440435722807, 0.6400887012666343, -0.7484906793466106,
         0.7329439942283007, -0.2782856278135421, 0.5318246439927058, -0.3201761370231893],
        [2.0, -0.1504168894608856, -0.7241654846852867, -0.6730223697288009,
         0.1229471344095339, -0.4910798717314375, 0.3504301068655838, -0.7879868665928781],
    ]
)  # fmt: skip
# The same at 2 s by DOP853 at a relative tolerance of 1e-12.
HEAVY_TOP_END = np.array([-0.15041682275347962, -0.7241655916399221, -0.6730222695554358])


@pytest.mark.parametrize(("method", "step"), [("splitting4", 1e-3), ("rkmk4", 1e-4)])
def test_heavy_top(method, step):
    """It spins at 150 rad/s about its axis and is held at the origin: moments are taken about that point."""
    mass, com = 15.0, np.array([0.0, 1.0, 0.0])
    top = Inertia(mass, com, np.diag([0.234375, 0.46875, 0.234375]))
    about_origin = Inertia(mass, np.zeros(3), top.about(np.zeros(3)))

    def gravity(t: float, X_WB: Pose, V: Array) -> Array:
        return np.concatenate([np.cross(com, X_WB.R.T @ np.array([0.0, 0.0, -9.81 * mass])), np.zeros(3)])

    run = simulate(about_origin, None, [0, 150, -4.61538, 0, 0, 0], gravity, method, 2.0, step, records=2)
    x = quaternion.rotate(run.orientation[1:], com)
    np.testing.assert_allclose(x, HEAVY_TOP[:, 1:4], atol=2e-7)
    np.testing.assert_allclose(x[-1], HEAVY_TOP_END, atol=1e-9 if method == "splitting4" else 1e-8)
    signs = np.sign(np.sum(run.orientation[1:] * HEAVY_TOP[:, 4:], axis=1))
    np.testing.assert_allclose(signs[:, None] * run.orientation[1:], HEAVY_TOP[:, 4:], atol=2e-7)


def test_dense_output_follows_the_motion():
    body = Inertia.box(2.0, (0.1, 0.2, 0.3))
    V = [0.1, 3.0, -0.2, 1.0, 0.0, 0.0]
    times = np.linspace(0, 5, 23)
    steps = dop853.solve(body, None, V, None, times)
    dense = dop853.dense(body, None, V, None, 5.0)(times)
    np.testing.assert_allclose(dense.angular_velocity, steps.angular_velocity, atol=1e-7)
    np.testing.assert_allclose(dense.position, steps.position, atol=1e-7)


def test_times_must_increase():
    with pytest.raises(ValueError, match="increasing"):
        dop853.solve(Inertia.box(2.0, (0.1, 0.2, 0.3)), times=[0.0, 1.0, 0.5])
