"""Forward dynamics with loops as a kernel: derivatives, batches, single precision, the text for GPUs."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism.assembling import assembled


def linkages(turned: pt.Pose | None = None) -> dict[str, pt.Mechanism]:
    """Two four-bars that do not meet, one closed by a pin and one by a hinge with rows that say nothing new; in the
    plane of x and y, or turned from there."""
    R = (turned or pt.Pose()).R
    bar = pt.Inertia(1.0, R @ (0.5, 0.1, 0), R @ np.diag([0.01, 0.1, 0.1]) @ R.T)
    axis, tip, gravity = R[:, 2], pt.Pose(p=R[:, 0]), R @ (0, -9.81, 0)
    hinged = pt.revolute(axis)

    def links(name: str) -> list[pt.Link]:
        return [
            pt.Link(f"{name}crank", bar, None, hinged),
            pt.Link(f"{name}rod", bar, f"{name}crank", hinged, tip),
            pt.Link(f"{name}arm", bar, None, hinged, pt.Pose(p=1.3 * R[:, 0])),
        ]

    def closure(name: str, relation: object) -> pt.Closure:
        return pt.Closure(f"{name}pin", f"{name}arm", f"{name}rod", relation, tip, tip)

    pin, hinge = closure("", pt.on_line(axis)), closure("", hinged)
    both = pt.Mechanism(
        [*links("one"), *links("two")], gravity, closures=[closure("one", pt.on_line(axis)), closure("two", hinged)]
    )
    return {
        "pin": pt.Mechanism(links(""), gravity, closures=[pin]),
        "hinge": pt.Mechanism(links(""), gravity, closures=[hinge]),
        "both": both,
    }


MECHANISMS = linkages()
TURNED = {f"turned {name}": mech for name, mech in linkages(pt.Pose.from_euler((0.3, -0.7, 1.1))).items()}


def states(mech: pt.Mechanism, n: int = 5) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    guess = np.tile([1.2, -0.9, 1.5], len(mech) // 3)
    q = np.array([assembled(mech, mech.closures, guess + 0.1 * rng.standard_normal(mech.nq)) for _ in range(n)])
    return q, rng.standard_normal((n, mech.nv)), rng.standard_normal((n, mech.nv))


def kernel_of(mech: pt.Mechanism):
    n = mech.nv
    return pt.kernel(f"({n}),({n}),({n})->({n})")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))


@pytest.mark.parametrize("name", MECHANISMS)
def test_derivatives_against_differences(name):
    """By q, v and tau: forwards, backwards and as a matrix. Differences of second order, 1e-6 wide."""
    mech = MECHANISMS[name]
    f, args = kernel_of(mech), states(mech)
    rng, h = np.random.default_rng(1), 1e-6
    for k in range(3):
        direction, weights = rng.standard_normal(args[0].shape), rng.standard_normal(args[0].shape)
        ahead, behind = ([*args[:k], args[k] + s * direction, *args[k + 1 :]] for s in (h, -h))
        expected = (f(*ahead) - f(*behind)) / (2 * h)
        size = np.abs(expected).max()
        J = pt.jacobian(f, wrt=k)(*args)
        np.testing.assert_allclose(np.einsum("nij,nj->ni", J, direction), expected, rtol=0, atol=2e-7 * size + 1e-7)
        _, along = pt.jvp(f, wrt=k)(*args, direction)
        np.testing.assert_allclose(along, np.einsum("nij,nj->ni", J, direction), rtol=0, atol=1e-9 * size)
        _, pulled = pt.vjp(f, wrt=k)(*args, weights)
        np.testing.assert_allclose(pulled, np.einsum("nij,ni->nj", J, weights), rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_batch_has_the_bits_of_one(name):
    mech = MECHANISMS[name]
    f, args = kernel_of(mech), states(mech, 9)
    np.testing.assert_array_equal(f(*args), [f(*one) for one in zip(*args, strict=True)])


@pytest.mark.parametrize("name", [*MECHANISMS, *TURNED])
def test_single_precision(name):
    """To some hundred roundings: J M^-1 J^T of a four-bar has a condition number of tens. Redundant rows, which hold
    but for the rounding of float32 where axes are not those of the coordinates, count for nothing."""
    mech = {**MECHANISMS, **TURNED}[name]
    f, args = kernel_of(mech), states(mech)
    exact, single = f(*args), f(*(x.astype(np.float32) for x in args))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, rtol=0, atol=1e-4 * np.abs(exact).max())


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("name", MECHANISMS)
def test_cuda_text(name, tmp_path):
    """The CUDA source compiled as C++."""
    place = Path(__file__).parents[1] / "fuse" / "test_cuda.py"
    spec = importlib.util.spec_from_file_location("cuda_on_host", place)
    assert spec is not None
    assert spec.loader is not None
    host = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(host)
    mech = MECHANISMS[name]
    f, args = kernel_of(mech), states(mech)
    program = f.gpu_program(*(a.shape for a in args), dtype=np.float64)
    (vdot,) = host.run_on_host(program, tmp_path, *args)
    np.testing.assert_allclose(vdot, f(*args), rtol=0, atol=1e-8 * np.abs(vdot).max())
