"""The magnetic field of the Earth against ppigrf, and its laws."""

import warnings
from datetime import datetime

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment import geomagnetism

ppigrf = pytest.importorskip("ppigrf")


@pytest.mark.parametrize("date", [datetime(2026, 3, 20), datetime(1977, 7, 1), datetime(2020, 1, 1)])
def test_against_ppigrf(date):
    rng = np.random.default_rng(3)
    coefficients = geomagnetism.igrf(date)
    for _ in range(20):
        theta, phi, r = rng.uniform(0.05, np.pi - 0.05), rng.uniform(-np.pi, np.pi), rng.uniform(6371.2, 8000.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            B = np.ravel(ppigrf.igrf_gc(r, np.degrees(theta), np.degrees(phi), date))  # r, theta, phi [nT]
        s, c, sp, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
        axes = np.array([[s * cp, s * sp, c], [c * cp, c * sp, -s], [-sp, cp, 0.0]])
        found = axes @ geomagnetism.field(1e3 * r * axes[0], coefficients)
        np.testing.assert_allclose(1e9 * found, B, atol=1e-6)


def test_at_the_poles_and_as_a_gradient():
    """Finite at the pole, and without divergence or curl there: -grad of a potential of Laplace's equation."""
    coefficients = geomagnetism.igrf("2026-03-20")
    for p in (np.array([0.0, 0.0, 6.8e6]), np.array([4e6, -3e6, 4e6])):
        J = pt.jacobian(pt.kernel("(3)->(3)")(lambda p: geomagnetism.field(p, coefficients)))(p)
        scale = np.abs(J).max()
        assert np.all(np.isfinite(J))
        assert abs(np.trace(J)) < 1e-12 * scale
        np.testing.assert_allclose(J, J.T, atol=1e-12 * scale)


def test_in_a_kernel():
    earth = pt.Earth(epoch="2026-03-20T12:00:00Z", magnetic="igrf")
    kernel = pt.kernel("(3),()->(3)")(earth.magnetic_field)
    p = np.random.default_rng(1).normal(size=(50, 3)) * 5e6 + 3e6
    p *= (7e6 / np.linalg.norm(p, axis=1))[:, None]
    want = [earth.magnetic_field(x, 100.0) for x in p]
    np.testing.assert_allclose(kernel(p, 100.0), want, atol=1e-18)


def test_the_dipole():
    """29.7 uT at its equator at the reference radius, twice that over its poles; tilted by 9.2 deg."""
    earth = pt.Earth(magnetic="dipole")
    g = np.array([-1410.3, 4545.5, -29350.0])
    axis = g / np.linalg.norm(g)
    for p, want in ((axis, 2.0), (np.cross(axis, [1.0, 0, 0]), 1.0)):
        B = earth.magnetic_field(geomagnetism.A * p / np.linalg.norm(p), 0.0)
        assert abs(np.linalg.norm(B) / (1e-9 * np.linalg.norm(g)) - want) < 1e-12
    assert abs(np.degrees(np.arccos(-axis[2])) - 9.2) < 0.05
    assert np.allclose(geomagnetism.igrf("2025-01-01")[1, 1], geomagnetism.DIPOLE[1, 1])


@pytest.mark.parametrize("epoch", ["1899-06-01", "2031-01-01"])
def test_an_epoch_outside_of_the_model(epoch):
    with pytest.raises(ValueError, match=r"outside of the magnetic field model, which is for 1900 to 20\d0"):
        pt.Earth(epoch=epoch, magnetic="igrf")


def test_what_needs_an_epoch():
    for wrong, words in (
        ({"magnetic": "igrf"}, "needs an epoch"),
        ({"pulls": ("moon",)}, "needs an epoch"),
        ({"magnetic": "igfr", "epoch": "2026-01-01"}, "did you mean 'igrf'"),
        ({"pulls": ("mars",), "epoch": "2026-01-01"}, "there are 'sun', 'moon'"),
    ):
        with pytest.raises(ValueError, match=words):
            pt.Earth(**wrong)
    with pytest.raises(ValueError, match="has no magnetic field"):
        pt.Earth().magnetic_field(np.array([7e6, 0, 0]), 0.0)
