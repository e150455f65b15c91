"""The bridges on a GPU: tensors stay there, and results and derivatives are those of the processor."""

import numpy as np
import pytest
from learn_worlds import SHAPES, cart_pole, normal, swirl

import poinsot as pt

cupy = pytest.importorskip("cupy", reason="the extra 'cuda' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning", "ignore:llvmlite")


def has_gpu():
    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


if not has_gpu():
    pytest.skip("there is no GPU", allow_module_level=True)


@pytest.mark.parametrize("shapes", SHAPES)
def test_tensors_of_torch(shapes):
    torch = pytest.importorskip("torch")
    bridged = pt.bridge.torch(swirl)
    arguments = [torch.tensor(a, device="cuda", requires_grad=True) for a in normal(shapes)]
    for mine, own in zip(bridged(*arguments), swirl(*normal(shapes)), strict=True):
        assert mine.is_cuda
        np.testing.assert_allclose(mine.detach().cpu(), own, rtol=1e-14)
    assert torch.autograd.gradcheck(bridged, arguments)
    assert torch.autograd.gradgradcheck(bridged, arguments)


def test_a_period_on_torch():
    torch = pytest.importorskip("torch")
    sim = cart_pole().stepper(control_period=5e-3, batch=2)
    sim.reset()
    period = pt.bridge.torch(sim)
    actions = [[1.0], [-2.0]]
    found = []
    for device in ("cpu", "cuda"):
        u = torch.tensor(actions, dtype=torch.float64, device=device, requires_grad=True)
        x = period.x.to(device)
        for _ in range(20):
            x, seen = period(x, u)
        (by_u,) = torch.autograd.grad(seen[:, 1].sum(), u)
        found.append((seen.detach().cpu(), by_u.cpu()))
    for mine, own in zip(*found, strict=True):
        np.testing.assert_allclose(mine, own, rtol=1e-11)


@pytest.mark.parametrize("jitted", [False, True])
def test_arrays_of_jax(jitted):
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")
    jax.config.update("jax_enable_x64", True)
    bridged = pt.bridge.jax(swirl)

    def total(*arguments):
        return sum(x.sum() for x in bridged(*arguments))

    arguments = [jax.numpy.asarray(a) for a in normal(SHAPES[1])]
    function = jax.jit(bridged) if jitted else bridged
    for mine, own in zip(function(*arguments), swirl(*normal(SHAPES[1])), strict=True):
        assert {d.platform for d in mine.devices()} == {"gpu"}
        np.testing.assert_allclose(mine, own, rtol=1e-14)
    gradient = jax.grad(total)
    ones = np.ones((2, 5, 3)), np.ones((2, 5))
    *_, wanted = pt.vjp(swirl)(*normal(SHAPES[1]), *ones)
    np.testing.assert_allclose((jax.jit(gradient) if jitted else gradient)(*arguments), wanted.sum(0), rtol=1e-12)
