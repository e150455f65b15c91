"""The bridge to JAX: its check_grads, jit, vmap, scan, and one period of a stepper."""

import re
import sys

import numpy as np
import pytest
from learn_worlds import SHAPES, cart_pole, normal, swirl

import poinsot as pt
from poinsot.fuse import kernels

jax = pytest.importorskip("jax", reason="the extra 'jax' is not installed")


@pytest.fixture(scope="module", autouse=True)
def double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def bridged():
    return pt.bridge.jax(swirl)


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("shapes", SHAPES)
def test_check_grads_of_jax_passes(bridged, shapes, jitted):
    """Derivatives of first and second order in reverse, with arguments that broadcast."""
    from jax.test_util import check_grads

    arguments, function = normal(shapes), jax.jit(bridged) if jitted else bridged
    for mine, own in zip(function(*arguments), swirl(*arguments), strict=True):
        np.testing.assert_array_equal(mine, own)
    check_grads(function, arguments, order=2, modes=["rev"])


def test_vmap_and_jit_of_derivatives(bridged):
    def total(a, M, s):
        return sum(x.sum() for x in bridged(a, M, s))

    a, M, s = normal([(4, 3), (3, 3), (4,)])
    many = jax.jit(jax.vmap(jax.grad(total), (0, None, 0)))(a, M, s)
    alone = [jax.grad(total)(x, M, y) for x, y in zip(a, s, strict=True)]
    np.testing.assert_allclose(many, alone, rtol=1e-14)
    inner = jax.vmap(bridged, (1, 2, None))(*normal([(3, 7), (3, 3, 7), ()]))[0]
    assert inner.shape == (7, 3)
    wanted = pt.jacobian(swirl)(a[0], M, s[0])[0]
    np.testing.assert_allclose(jax.jacrev(lambda a: bridged(a, M, s[0])[0])(a[0]), wanted, rtol=1e-13)
    H = jax.jacrev(jax.grad(total))(a[0], M, s[0])
    np.testing.assert_allclose(H, H.T, rtol=1e-13)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda a: bridged(a, M, s[0])[0], (a[0],), (a[0],))


def test_single_precision_stays_single(bridged):
    a, M = np.ones((2, 3), np.float32), np.eye(3, dtype=np.float32)
    with jax.enable_x64(False):
        result, _ = bridged(a, M, 1.0)
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, swirl(a, M, np.float32(1.0))[0])


def test_a_period_goes_through_scan(monkeypatch):
    sim = cart_pole().stepper(control_period=5e-3)
    sim.reset()
    period = pt.bridge.jax(sim)
    actions = np.linspace(-3.0, 3.0, 8)[:, None]

    @jax.jit
    def end(actions, x):
        x, seen = jax.lax.scan(lambda x, u: period(x, u), x, actions)
        return seen[-1, 1]

    value, (by_actions, by_x) = jax.value_and_grad(end, (0, 1))(actions, period.x)
    monkeypatch.setattr(kernels, "trace", None)
    wanted = [sim.step(action) for action in actions][-1][1]
    np.testing.assert_array_equal(value, wanted)
    h, change = 1e-6, np.random.default_rng(0).normal(size=actions.shape)
    difference = (end(actions + h * change, period.x) - end(actions - h * change, period.x)) / (2 * h)
    np.testing.assert_allclose(np.sum(by_actions * change), difference, rtol=1e-6)
    assert by_x.shape == (4,)


def test_bad_input(bridged, monkeypatch):
    with pytest.raises(TypeError, match="takes 3 arrays, not 1"):
        bridged(np.zeros(3))
    with pytest.raises(ValueError, match=r"'a' has shape \(4,\), but its core dimension 3"):
        bridged(np.zeros(4), np.eye(3), 1.0)
    with pytest.raises(TypeError, match="float16"):
        bridged(np.zeros(3, np.float16), np.eye(3), 1.0)
    with pytest.raises(TypeError, match="a bridge starts at a kernel"):
        pt.bridge.jax(3.0)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'poinsot[jax]'")):
        pt.bridge.jax(swirl)
