"""Visualisation: a page in the browser, an offline replay, images and animations, plots, live worlds, flights."""

from poinsot._listed import listed

__getattr__, __dir__, __all__ = listed(__name__, __file__)
