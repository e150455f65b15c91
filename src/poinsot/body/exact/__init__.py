"""Motions with closed-form solutions, as references for simulations."""

from poinsot.body.exact.free_top import FreeTop
from poinsot.body.exact.heavy_top import HeavyTop, steady_precession
from poinsot.body.exact.symmetric_top import SymmetricTop

__all__ = ["FreeTop", "HeavyTop", "SymmetricTop", "steady_precession"]
