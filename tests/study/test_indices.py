"""Sobol indices and rare events on functions whose answers are known."""

import numpy as np
import pytest
from scipy import stats

import poinsot as pt


def test_sobol_indices_of_ishigami():
    """sin x + a sin^2 y + b z^4 sin x on (-pi, pi)^3, a = 7, b = 0.1. Ishigami and Homma, 1990."""
    a, b = 7.0, 0.1
    whole = a**2 / 8 + b * np.pi**4 / 5 + b**2 * np.pi**8 / 18 + 0.5
    first = np.array([0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, 0.0]) / whole
    joint = b**2 * np.pi**8 * (1 / 18 - 1 / 50) / whole
    found = pt.sobol_indices(
        lambda x: np.sin(x["x"]) + a * np.sin(x["y"]) ** 2 + b * x["z"] ** 4 * np.sin(x["x"]),
        dict.fromkeys("xyz", (-np.pi, np.pi)),
        samples=4096,
    )
    np.testing.assert_allclose(found.first, first, atol=0.01)
    np.testing.assert_allclose(found.total, first + [joint, 0.0, joint], atol=0.01)
    assert np.all(np.abs(found.first - first) < 4 * found.first_error + 1e-3)
    assert found.evaluations == 5 * 4096


def test_sobol_indices_of_a_sum_of_normal_numbers():
    scale = np.array([1.0, 2.0, 3.0])
    vary = {f"x{k}": stats.norm(5.0, s) for k, s in enumerate(scale)}
    found = pt.sobol_indices(lambda x: sum(x.values()), vary, samples=4096)
    np.testing.assert_allclose(found.first, scale**2 / 14, atol=0.01)
    np.testing.assert_allclose(found.total, scale**2 / 14, atol=0.01)


def test_a_gaussian_tail():
    """P(x > 5) = 2.87e-7, from 20,000 draws around 5; the error is right, over repeats."""
    true = stats.norm.sf(5.0)
    found = [
        pt.rare_event(lambda x: x["x"] > 5.0, {"x": stats.norm(0, 1)}, {"x": stats.norm(5.0, 1)}, 20_000, seed)
        for seed in range(30)
    ]
    off = np.array([(f.probability - true) / f.error for f in found])
    assert abs(off.mean()) < 3 / np.sqrt(30)
    assert 0.6 < off.std() < 1.5
    assert max(f.error for f in found) < 0.02 * true


AROUND_5 = stats.norm(5, 1)


def rare(event, proposal=AROUND_5, **options):
    return pt.rare_event(lambda x: event(x["a"]), {"a": stats.norm(0, 1)}, {"a": proposal}, **options)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.sobol_indices(lambda x: x["a"], {"a": (0, 1)}, samples=1000), "power of two"),
        (lambda: pt.sobol_indices(lambda x: x["a"], {"a": (0, 1)}, samples=1), "16 or more"),
        (lambda: pt.sobol_indices(lambda x: x["a"], {"a": (0, 1)}, samples=64.5), "64.5 must be a power of two"),
        (lambda: pt.sobol_indices(lambda x: x["a"], {"a": (1, 0)}), "give a pair"),
        (lambda: pt.sobol_indices(lambda x: 1j * x["a"], {"a": (0, 1)}), "finite real outcomes"),
        (lambda: pt.sobol_indices(lambda x: 3 + 1e-16 * x["a"], {"a": (0, 1)}), "3 whatever a are"),
        (lambda: pt.sobol_indices(lambda x: 1.0, {"a": (0, 1)}), "must give 1024 finite real outcomes"),
        (lambda: pt.rare_event(lambda x: x["a"] > 1, {"a": stats.norm()}, {"b": stats.norm()}), "must be the same"),
        (lambda: rare(lambda a: a > 1e9), r"none of 10000 draws .* move the proposal \(a about"),
        (lambda: rare(lambda a: a), "whether it happened"),
        (lambda: rare(lambda a: np.where(a > 0, np.nan, 1.0)), "whether it happened"),
        (lambda: rare(lambda a: True), "must give 10000 answers"),
        (lambda: rare(lambda a: a > 0, samples=2.5), "whole number"),
        (lambda: rare(lambda a: a > 0, proposal=(0, 1)), "give a distribution of scipy.stats"),
    ],
)
def test_what_cannot_be(call, words):
    with pytest.raises(ValueError, match=words):
        call()
