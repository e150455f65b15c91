# The public names; `__init__.py` reads this list, and imports each when it is first used.

from poinsot.show.cockpit import Flight, fly
from poinsot.show.headless import animate, snapshot
from poinsot.show.live_world import Live, live
from poinsot.show.looks import Look
from poinsot.show.picture import LAYERS, Picture
from poinsot.show.plots import plot
from poinsot.show.replay import html, to_html
from poinsot.show.robots import mjcf_looks
from poinsot.show.urdf_visuals import urdf_looks
from poinsot.show.viewer import Viewer, view

__all__ = [
    "LAYERS",
    "Flight",
    "Live",
    "Look",
    "Picture",
    "Viewer",
    "animate",
    "fly",
    "html",
    "live",
    "mjcf_looks",
    "plot",
    "snapshot",
    "to_html",
    "urdf_looks",
    "view",
]
