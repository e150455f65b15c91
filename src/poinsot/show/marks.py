"""Marks, the elements of a picture, each with its poses at every record. Marks do not know how they are displayed.

In the shapes below r is the number of records, or 1 for what does not change.
"""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.show.triangles import Triangles
from poinsot.spatial import quaternion, rotation

# Colours, red, green, blue in 0..255.
BODIES = (
    (58, 110, 165), (214, 93, 77), (233, 176, 70), (96, 153, 122), (137, 104, 160), (79, 148, 168), (196, 120, 150),
    (130, 142, 80),
)  # fmt: skip
STEEL, GREY, INK, PALE = (112, 124, 140), (150, 158, 170), (38, 50, 66), (206, 213, 222)
GREEN, VIOLET, ORANGE, RED, BLUE = (34, 139, 94), (123, 63, 160), (224, 122, 36), (205, 52, 66), (36, 98, 186)
Colour = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Track:
    """Positions (r, 3) [m] and orientations (r, 4) wxyz over the records."""

    position: Array
    wxyz: Array

    @classmethod
    def at(cls, position: Array, wxyz: Array | None = None) -> "Track":
        """A track from positions (r, 3), or one position (3,); by default with the identity as orientation."""
        position = np.atleast_2d(np.asarray(position, dtype=float))
        wxyz = quaternion.identity() if wxyz is None else np.asarray(wxyz, dtype=float)
        return cls(position, np.broadcast_to(np.atleast_2d(wxyz), (max(len(position), wxyz.size // 4), 4)))


@dataclass(frozen=True, eq=False)
class Mark:
    """Something to draw; `name` is unique in its layer."""

    name: str


@dataclass(frozen=True, eq=False)
class Surface(Mark):
    """A rigid moving surface; `body`: the body it belongs to, for the mouse. `hue` (r, 3): a colour that changes.

    shades (n, 3): colours of its vertices, instead of `colour`. glows: it shines by itself. haze: it fades into the
    distance.
    """

    triangles: Triangles
    track: Track
    colour: Colour = GREY
    opacity: float = 1.0
    body: str | None = None
    shadow: bool = True
    hue: Array | None = None
    shades: Array | None = None
    glows: bool = False
    haze: bool = False


@dataclass(frozen=True, eq=False)
class Skin(Mark):
    """A surface that bends with a chain of frames, its bones: positions (r, b, 3), orientations (r, b, 4).

    Vertex i lies at (1 - w) X_k p + w X_k+1 p', with k = first (n,), w = weights (n,), and rest (n, 6): the point p in
    the frame of bone k and p' in that of the next one. faces (m, 3).
    """

    rest: Array
    first: Array
    weights: Array
    faces: Array
    positions: Array
    wxyz: Array
    colour: Colour = GREY
    opacity: float = 1.0
    body: str | None = None
    hue: Array | None = None


@dataclass(frozen=True, eq=False)
class Copies(Mark):
    """Many copies of one surface: positions (r, n, 3), orientations (r, n, 4), and scales (r, n, 3) or (1, n, 3).

    over: nothing hides them.
    """

    triangles: Triangles
    positions: Array
    wxyz: Array
    scales: Array
    colours: Array
    opacity: float = 1.0
    shadow: bool = True
    glows: bool = False
    over: bool = False


@dataclass(frozen=True, eq=False)
class Lines(Mark):
    """Straight lines (r, n, 2, 3) in colours (r, n, 3) or (1, n, 3), in a moving frame."""

    points: Array
    colours: Array
    width: float
    track: Track


@dataclass(frozen=True, eq=False)
class Path(Mark):
    """A curve (r, 3) that is drawn as time goes on, in a moving frame."""

    points: Array
    colour: Colour
    width: float
    track: Track


@dataclass(frozen=True, eq=False)
class Arrows(Mark):
    """Arrows from (r, n, 3) along (r, n, 3) [m]; those of zero length are invisible.

    full_scale: the magnitude of the quantity that is drawn at full length. over: nothing hides them.
    """

    starts: Array
    vectors: Array
    colour: Colour
    width: float
    full_scale: float = 1.0
    over: bool = False


@dataclass(frozen=True, eq=False)
class Axes(Mark):
    """Frames: x, y, z in red, green, blue at positions (r, n, 3), orientations (r, n, 4)."""

    positions: Array
    wxyz: Array
    length: float


@dataclass(frozen=True, eq=False)
class Plane(Mark):
    """A flat grid normal to the z axis of its track, that fades out at about the size [m]."""

    track: Track
    size: float
    cell: float
    solid: bool = True


@dataclass(frozen=True, eq=False)
class Label(Mark):
    """A text at a position, of a height [m]."""

    text: str
    track: Track
    height: float


def aimed(directions: Array) -> Array:
    """The quaternions (..., 4) of the shortest rotations that take z to directions (..., 3) of any length."""
    return quaternion.exp(rotation.from_z_to(directions))
