"""The bridge to torch: its gradcheck, torch.func, no copies, and one period of a stepper."""

import re
import sys

import numpy as np
import pytest
from learn_worlds import SHAPES, cart_pole, normal, swirl

import poinsot as pt
from poinsot.fuse import kernels

torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch's own forward mode


def tensors(shapes, seed=0):
    return [torch.from_numpy(np.asarray(a)).requires_grad_() for a in normal(shapes, seed)]


@pytest.fixture(scope="module")
def bridged():
    return pt.bridge.torch(swirl)


@pytest.mark.parametrize("shapes", SHAPES)
def test_gradcheck_of_torch_passes(bridged, shapes):
    """Derivatives in reverse and forward, and of second order, with arguments that broadcast."""
    arguments = tensors(shapes)
    for mine, own in zip(bridged(*arguments), swirl(*(a.detach().numpy() for a in arguments)), strict=True):
        np.testing.assert_array_equal(mine.detach(), own)
    assert torch.autograd.gradcheck(bridged, arguments, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(bridged, arguments)


def test_functions_of_torch_func(bridged):
    from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

    a, M, s = tensors(SHAPES[0])
    wanted, *_ = pt.jacobian(swirl)(*(x.detach().numpy() for x in (a, M, s)))
    for jacobian in (jacrev, jacfwd):
        np.testing.assert_allclose(jacobian(lambda a: bridged(a, M, s)[0])(a).detach(), wanted, rtol=1e-13)
    np.testing.assert_allclose(
        jvp(lambda a: bridged(a, M, s)[0], (a,), (torch.ones(3, dtype=a.dtype),))[1].detach(), wanted.sum(1), rtol=1e-13
    )

    def total(a, M, s):
        return sum(x.sum() for x in bridged(a, M, s))

    A, S = tensors([(4, 3), (4,)], seed=1)
    many = vmap(grad(total), (0, None, 0))(A, M, S)
    alone = [torch.autograd.grad(total(x, M, y), x)[0] for x, y in zip(A, S, strict=True)]
    np.testing.assert_allclose(many.detach(), torch.stack(alone), rtol=1e-14)
    H = hessian(total)(a, M, s)
    np.testing.assert_allclose(H.detach(), H.T.detach(), rtol=1e-13)
    inner = vmap(bridged, (1, 2, None))(*tensors([(3, 7), (3, 3, 7), ()]))[0]
    assert inner.shape == (7, 3)


def test_memory_is_shared_and_types_are_kept(bridged, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "poinsot.learn.torch_bridge.evaluated", lambda kernel, arrays: seen.extend(arrays) or swirl(*arrays)
    )
    a = torch.zeros(2, 3)
    result, _ = bridged(a, torch.eye(3), 1.0)
    assert seen[0].ctypes.data == a.data_ptr()
    assert result.dtype == torch.float32
    assert bridged(a.double(), torch.eye(3), 1.0)[0].dtype == torch.float64
    assert bridged([1, 2, 3], torch.eye(3, dtype=torch.int64).T, 1)[0].dtype == torch.float64


def test_only_the_wanted_derivatives_are_computed_and_compiled_once(monkeypatch):
    called = pt.bridge.torch(pt.kernel("(3),(3,3)->(3)")(lambda a, M: M @ a))
    a, M = tensors([(3,), (3, 3)])
    called(a.detach(), M).sum().backward()
    np.testing.assert_array_equal(M.grad, np.outer(np.ones(3), a.detach()))
    monkeypatch.setattr(kernels, "trace", None)  # nothing compiles after the first call
    called(a.detach() + 1, M).sum().backward()
    np.testing.assert_allclose(M.grad, np.outer(np.ones(3), 2 * a.detach() + 1), rtol=1e-15)


def test_a_period_says_which_instances_break_down():
    """They stay where they were, as does one whose action is not finite; derivatives of the others are untouched."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("rocket", 1.0, velocity=(1.0, 0, 0))
    world.add_input("rate", 0.0)
    world.add_force("thrust", "rocket", lambda t, scene: scene.input("rate") * scene["rocket"].velocity ** 3)
    sim = world.stepper(batch=3, control_period=0.1, method="rk4", observe="rocket.velocity.x")
    sim.reset()
    period = pt.bridge.torch(sim)
    rate = torch.tensor([[1.0], [1e3], [np.nan]], dtype=torch.float64, requires_grad=True)
    x, seen, broken = period.checked(period.x, rate)
    assert broken.tolist() == [False, True, True]
    np.testing.assert_array_equal(x.detach()[1], period.x[1])
    assert np.all(np.isnan(x.detach()[2].numpy()))  # NaN leads to NaN
    assert np.all(np.isnan(seen.detach()[2].numpy()))
    (by_rate,) = torch.autograd.grad(seen[0].sum(), rate)
    v = (1 - 2 * 0.1) ** -0.5  # dv/dt = rate v^3
    np.testing.assert_allclose(seen[0].item(), v, rtol=1e-9)
    np.testing.assert_allclose(by_rate[0], 0.1 * v**3, rtol=1e-6)
    np.testing.assert_array_equal(seen.detach(), period(period.x, rate)[1].detach())


def test_a_period_is_a_differentiable_function(monkeypatch):
    sim = cart_pole().stepper(control_period=5e-3, batch=2, vary={"pole.mass": [0.1, 0.2]})
    sim.reset()
    period = pt.bridge.torch(sim)
    actions = torch.linspace(-3, 3, 20, dtype=torch.float64).reshape(10, 2, 1).requires_grad_()

    def end(x, p):
        for action in actions:
            x, seen = period(x, action, p=p)
        return seen

    x, p = period.x.requires_grad_(), period.p.requires_grad_()
    seen = end(x, p)
    grads = torch.autograd.grad(seen[:, 1].sum(), (x, p, actions))
    monkeypatch.setattr(kernels, "trace", None)
    for action in actions.detach().numpy():
        wanted = sim.step(action)
    np.testing.assert_array_equal(seen.detach(), wanted)
    h = 1e-6
    for k, (variable, grad) in enumerate(zip((x, p, actions), grads, strict=True)):
        change = torch.from_numpy(np.random.default_rng(k).normal(size=variable.shape)) * (0.1 if k == 1 else 1.0)
        with torch.no_grad():
            variable += h * change
            above = end(x, p)[:, 1].sum()
            variable -= 2 * h * change
            below = end(x, p)[:, 1].sum()
            variable += h * change
        np.testing.assert_allclose((grad * change).sum(), (above - below) / (2 * h), rtol=1e-5)


def test_bad_input(bridged, monkeypatch):
    with pytest.raises(TypeError, match="takes 3 arrays, not 1"):
        bridged(torch.zeros(3))
    with pytest.raises(ValueError, match=r"'a' has shape \(4,\), but its core dimension 3"):
        bridged(torch.zeros(4), torch.eye(3), 1.0)
    with pytest.raises(ValueError, match="broadcast"):
        bridged(torch.zeros(5, 3), torch.zeros(4, 3, 3), 1.0)
    with pytest.raises(TypeError, match=r"not torch\.bfloat16"):
        bridged(torch.zeros(3, dtype=torch.bfloat16), torch.eye(3), 1.0)
    with pytest.raises(TypeError, match="a bridge starts at a kernel"):
        pt.bridge.torch(np.sin)
    world = pt.World()
    world.add_particle("ball", 1.0)
    sim = world.stepper()
    with pytest.raises(ValueError, match="nothing was started yet"):
        pt.bridge.torch(sim)
    sim.reset()
    with pytest.raises(ValueError, match="has no inputs"):
        pt.bridge.torch(sim)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'poinsot[torch]'")):
        pt.bridge.torch(swirl)
