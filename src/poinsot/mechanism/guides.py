"""Relations to a curve or a plane: a point that is guided by a curve, and bodies that roll."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import fori_loop
from poinsot.mechanism.coordinate_relations import WithRates
from poinsot.mechanism.joint_types import Closing
from poinsot.mechanism.joints import as_axes
from poinsot.mechanism.loop_frames import LoopFrame, Row, Rows, force_at, frames, held
from poinsot.mechanism.model import Mechanism, plain
from poinsot.mechanism.relations import require_number, require_positive
from poinsot.mechanism.row_meanings import Meaning, along
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.mechanism.closures import Closure


@dataclass(frozen=True, eq=False)
class RollingContact:
    """A ball or a disc that rolls on a plane of A without slipping: what touches is at rest, v + omega x c = 0.

    B's origin is the centre; `radius` [m]; `normal` of the plane through A's origin, in A's axes, towards the centre;
    `axis` of the disc, in B's axes, or None for a ball. The first row holds the height, n . r = radius |n - (n . w) w|
    with the axis w; its rate is the normal component of v + omega x c. The other two hold velocities only. `slips`:
    only the first row. It pulls as well as it pushes.
    """

    radius: float
    normal: Array
    axis: Array | None = None
    slips: bool = False

    def __post_init__(self) -> None:
        require_positive("radius", "what rolls", self.radius)
        object.__setattr__(self, "normal", as_axes(self.normal)[0])
        object.__setattr__(self, "axis", None if self.axis is None else as_axes(self.axis)[0])

    @property
    def count(self) -> int:
        return 1 if self.slips else 3

    places: ClassVar[int] = 1

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return ()

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        slip = [] if self.slips else Closing.across(self.normal)
        return [along(self.normal, "frame A"), *(along(d, "frame A", "of slip along", "m/s") for d in slip)]

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        A, B = frames(mech, closure, q, v)
        n = A.X.R @ self.normal
        c, rate, height = self._contact(A, B, n)
        x = B.X.p + c
        turning, moving, change = B.w - A.w, B.velocity_at(x) - A.velocity_at(x), B.A - A.A
        acceleration = change[3:] + np.cross(change[:3], x) + np.cross(turning, B.velocity + rate)
        rows: list[Row] = []
        for d_A in (self.normal, *(() if self.slips else Closing.across(self.normal))):
            d = A.X.R @ d_A
            gap = n @ (B.X.p - A.X.p) - height if not rows else np.zeros(())
            bias = d @ acceleration + np.cross(A.w, d) @ moving
            rows.append(Row(gap, bias, force_at(d, x)))
        return held(mech, A, B, rows)

    def _contact(self, A: LoopFrame, B: LoopFrame, n: Array) -> tuple[Array, Array, Any]:
        """From the centre to what touches, its rate (3,), and the height of the centre."""
        n_rate = np.cross(A.w, n)
        if self.axis is None:
            return -1.0 * self.radius * n, -1.0 * self.radius * n_rate, self.radius
        w = B.X.R @ self.axis
        w_rate, along = np.cross(B.w, w), n @ w
        u = n - along * w
        u_rate = n_rate - (n_rate @ w + n @ w_rate) * w - along * w_rate
        square = u @ u
        over = np.where(square > 0, square, 1.0)  # a disc that lies flat touches everywhere
        size = np.sqrt(over)
        rate = -1.0 * self.radius / size * (u_rate - (u @ u_rate) / over * u)
        return -1.0 * self.radius / size * u, rate, self.radius * np.sqrt(square)


@dataclass(frozen=True, eq=False)
class Guided:
    """The origin of B stays on a curve of A: x = f(s), (3,) [m] in A's axes, for s in the span.

    f is twice differentiable and can be traced: a function, or a cubic `pt.Table` with values (k, 3). The parameter of
    the nearest point is found anew each time: from the nearest of `samples` points on the curve, by Newton's method.
    Beyond the span the curve goes on as f does.
    """

    curve: Callable[[Any], Any]
    span: tuple[float, float]
    samples: int = 64

    count: ClassVar[int] = 2
    places: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if not callable(self.curve):
            raise FieldError(f"a curve is a function s -> (3,) [m], not {self.curve!r}.", "curve")
        if np.shape(self.span) != (2,):
            raise FieldError(f"span of a curve must be its first and last parameter, not {self.span!r}.", "span")
        for x in self.span:
            require_number("span of a curve", x)
        if not self.span[0] < self.span[1]:
            raise FieldError(f"span of a curve must increase, not {self.span!r}.", "span")
        if not isinstance(self.samples, int) or self.samples < 2:
            raise FieldError(f"samples of a curve must be two or more, not {self.samples!r}.", "samples")
        if not np.all(np.isfinite(self._points)):
            raise FieldError(f"the curve is not finite everywhere in its span {self.span!r}.", "curve")
        if not np.all(np.any(np.diff(self._points, axis=0) != 0, axis=-1)):
            raise FieldError(f"the curve stands still somewhere in its span {self.span!r}.", "curve")

    def joints(self, closure: "Closure") -> tuple[str, ...]:
        return ()

    def meanings(self, mech: Mechanism, closure: "Closure") -> list[Meaning]:
        words = [f"across the curve, along its {which} normal" for which in ("first", "second")]
        return [Meaning(across, across, "m") for across in words]

    def rows(self, mech: Mechanism, closure: "Closure", q: Array, v: Array, t: Any) -> Rows:
        """Along two normals e of the curve: e . (x - f), e . x', e . (x'' - f'' s'^2); e' counts for nothing on it."""
        A, B = frames(mech, closure, q, v)
        R, r, rate = A.X.R, B.X.p - A.X.p, B.velocity - A.velocity
        seen = rate - np.cross(A.w, r)
        carried = np.cross(A.alpha, r) + np.cross(A.w, np.cross(A.w, r)) + 2.0 * np.cross(A.w, seen)
        acceleration = B.acceleration - A.acceleration - carried
        f, tangent, curving = self._at(self.nearest(R.T @ r))
        square = tangent @ tangent
        s_rate = (tangent @ (R.T @ seen)) / square
        rows = []
        for e in Closing.across(tangent / np.sqrt(square)):
            d = R @ e
            bias = d @ acceleration - (e @ curving) * s_rate * s_rate
            rows.append(Row(d @ r - e @ f, bias, force_at(d, B.X.p)))
        return held(mech, A, B, rows)

    def nearest(self, x: Array) -> Array:
        """The parameter of the point of the curve that is nearest to x (3,): of the samples, then by Newton."""
        points, (first, last) = self._points, self.span
        most = (last - first) / (self.samples - 1)

        def nearer(k: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
            away = x - np.asarray(points)[k]
            there = away @ away
            return np.where(there < at[1], first + k * most, at[0]), np.minimum(there, at[1])

        def improved(_: Any, s: Array) -> Array:
            f, tangent, curving = self._at(s)
            square = tangent @ tangent
            slope = square - (x - f) @ curving
            step = (tangent @ (x - f)) / np.where(slope > 0.1 * square, slope, square)
            better: Array = s + np.minimum(np.maximum(step, -most), most)
            return better

        s: Array = fori_loop(self.samples, nearer, (np.full((), first), np.full((), np.inf)))[0]
        found: Array = fori_loop(8, improved, s)
        return found

    @cached_property
    def _at(self) -> WithRates:
        """f, f' and f'' (3,) at s."""
        return WithRates(self.curve, "a curve", (3,))

    @cached_property
    def _points(self) -> Array:
        """Points of the curve (samples, 3)."""
        return np.stack([plain(self._at(np.asarray(s))[0]) for s in np.linspace(*self.span, self.samples)])


def rolling(radius: float, normal: ArrayLike = (0, 0, 1), axis: ArrayLike | None = None, slips: bool = False) -> Any:
    """A ball, or a disc with this axis in B's axes, rolls on the plane through A's origin without slipping."""
    return RollingContact(radius, as_array(normal), None if axis is None else as_array(axis), slips)


def on_curve(curve: Callable[[Any], Any], span: tuple[float, float], samples: int = 64) -> Guided:
    """The origin of B stays on the curve x = f(s), (3,) [m] in A's axes, s in the span."""
    return Guided(curve, span, samples)
