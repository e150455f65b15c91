"""Inverse kinematics: joint coordinates at which frames of links are where they should be, by damped Newton.

With the errors e (m,) of all goals, the gaps of all closures among them, and their rows J (m, nv), a step is

    u = J^T (J J^T + (lambda |e|^2 + tiny) 1)^-1 e.

The damping vanishes with the error, so that it converges like Newton's method where the goals can be reached, and to
the least sum of squares where they cannot. Joints at a limit that would be passed are left out of J for a step.
Sugihara, IEEE Trans. Robotics 27 (2011).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from poinsot._errors import FieldError
from poinsot._memo import memo
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Kernel, fori_loop, is_traced, solve_spd
from poinsot.mechanism import kinematics
from poinsot.mechanism.closures import closing_rows
from poinsot.mechanism.loop_frames import frame_in_world, spread
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Pose, rotation
from poinsot.spatial.arrays import as_array

FIRM = 1e3  # the weight of closures beside goals, until they are closed for good
REACHED = 1e-9  # [m, rad]


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a frame of a link should be: a pose in the world, or the position (..., 3) [m] of its origin.

    `at`: the pose of the frame in the link's own frame.
    """

    pose: Pose | ArrayLike
    at: Pose = field(default_factory=Pose)


Goals: TypeAlias = Mapping[str, Goal | Pose | ArrayLike]


class PoseSolution(NamedTuple):
    """The coordinates q (..., nq) that were found, and what is left: of each goal the distance (..., k) [m] and the
    angle (..., k) [rad], and the largest gap (...) of the closures [m, rad]."""

    q: Array
    distance: Array
    angle: Array
    gap: Array

    @property
    def is_reached(self) -> Array:
        """Whether all goals are met, and all closures hold, to 1e-9 m and rad."""
        left = np.maximum(np.max(self.distance, axis=-1), np.max(self.angle, axis=-1))
        reached: Array = np.maximum(left, self.gap) <= REACHED
        return reached


def solve_pose(
    mech: Mechanism,
    targets: Goals,
    guess: ArrayLike | None = None,
    bounds: tuple[ArrayLike, ArrayLike] | None = None,
    most: int = 60,
    tries: int = 1,
    seed: int = 0,
) -> PoseSolution:
    """Coordinates q (..., nq) near a guess at which links are at their targets, closures hold, and q is within bounds.

    targets: by the name of a link, its pose in the world, or the position (..., 3) [m] of its origin; or a `Goal` for
    another frame on it. guess: (..., nq), by default neutral. bounds: (lower, upper) of q, each (nq,) [rad, m]; by
    default the limits of the joints. Batch shapes in front broadcast; one kernel solves them all. most: iterations.
    tries: how often an instance that is not reached starts again, from random coordinates drawn with the seed.

    It never fails silently: the solution says what is left of every goal. Of targets that cannot be reached, it is a
    position from which no small motion brings them nearer. In traced code, one instance and one try.
    """
    if not isinstance(targets, Mapping):
        raise FieldError(f"targets must be poses or positions by the names of links, not {targets!r}.", "targets")
    if most < 1 or tries < 1:
        raise FieldError(f"most and tries must be 1 or more, not {most} and {tries}.", "most" if most < 1 else "tries")
    goals = {name: goal if isinstance(goal, Goal) else Goal(goal) for name, goal in targets.items()}
    _check(mech, goals)
    q = as_array(mech.neutral() if guess is None else guess)
    low, high = _bounds(mech, bounds)
    wanted = [x for goal in goals.values() for x in _numbers(goal)]
    _check_shapes(mech, q, low, high)
    frames = tuple((name, isinstance(goal.pose, Pose), goal.at) for name, goal in goals.items())
    if is_traced(q, low, high, *wanted) or mech.is_traced():
        return _Search(mech, frames, most).solve(q, low, high, *wanted)
    kernel = _kernel(mech, tuple((name, full, _key(at)) for name, full, at in frames), frames, most)
    found = PoseSolution(*kernel(q, low, high, *wanted))
    cores = [(mech.nq,), (mech.nq,), *(core for _, full, _ in frames for core in (((3,), (3, 3)) if full else ((3,),)))]
    return _tried_again(kernel, mech, found, (low, high, *wanted), cores, tries, seed)


def _tried_again(
    kernel: Kernel,
    mech: Mechanism,
    found: PoseSolution,
    rest: tuple[Array, ...],
    cores: Sequence[tuple[int, ...]],
    tries: int,
    seed: int,
) -> PoseSolution:
    """The solution, with further tries from random starts for the instances that are not reached."""
    rng, batch = np.random.default_rng(seed), np.shape(found.gap)
    results = [np.array(x).reshape(-1, *np.shape(x)[len(batch) :]) for x in found]
    flat = [np.broadcast_to(x, (*batch, *core)).reshape(-1, *core) for x, core in zip(rest, cores, strict=True)]
    for _ in range(tries - 1):
        again = np.flatnonzero(~PoseSolution(*results).is_reached)
        if not len(again):
            break
        other = PoseSolution(*kernel(_starts(mech, rest[0], rest[1], len(again), rng), *(x[again] for x in flat)))
        better = _left(other) < _left(PoseSolution(*(x[again] for x in results)))
        for x, y in zip(results, other, strict=True):
            x[again[better]] = y[better]
    return PoseSolution(*(x.reshape((*batch, *x.shape[1:])) for x in results))


def _starts(mech: Mechanism, low: Array, high: Array, n: int, rng: np.random.Generator) -> Array:
    """Random coordinates (n, nq): between bounds, at most half a turn from their middle."""
    inside = np.isfinite(low) & np.isfinite(high)
    middle = np.where(inside, 0.5 * (np.where(inside, low, 0.0) + np.where(inside, high, 0.0)), 0.0)
    reach = np.minimum(np.where(inside, high, np.inf) - middle, np.pi)  # within a turn
    u = rng.uniform(-np.pi, np.pi, (n, mech.nv))
    unbounded = [kinematics.integrate(mech, mech.neutral(), x) for x in u]
    return np.where(inside, middle + reach * rng.uniform(-1, 1, (n, mech.nq)), unbounded)


def _left(s: PoseSolution) -> Array:
    left: Array = np.sum(s.distance**2, axis=-1) + np.sum(s.angle**2, axis=-1) + s.gap**2
    return left


@memo
def _kernel(mech: Mechanism, key: Any, frames: Any, most: int) -> Kernel:
    """The search for these frames, over a batch."""
    sizes = ",".join("(3),(3,3)" if full else "(3)" for _, full, _ in frames)
    k = len(frames)
    text = f"({mech.nq}),({mech.nq}),({mech.nq}),{sizes}->({mech.nq}),({k}),({k}),()"
    return Kernel(_Search(mech, frames, most).solve, text)


def _key(at: Pose) -> tuple[bytes, bytes]:
    return np.asarray(at.R).tobytes(), np.asarray(at.p).tobytes()


@dataclass(frozen=True, eq=False)
class _Search:
    """Damped Newton for some frames of links: (name, whether its attitude counts, the frame's pose in the link)."""

    mech: Mechanism
    frames: Sequence[tuple[str, bool, Pose]]
    most: int

    def solve(self, q: Array, low: Array, high: Array, *wanted: Array) -> PoseSolution:
        """From a guess to a position within bounds; then only the closures are closed, for good."""
        q = kinematics.normalize(self.mech, np.minimum(np.maximum(q, low), high))
        q = self._descend(q, low, high, wanted, FIRM)
        if self.mech.closures:
            q = self._descend(q, low, high, None, 1.0)
        e, _ = self._errors(q, wanted, 1.0)
        distance, angle, start = [], [], 0
        for _, full, _ in self.frames:
            distance.append(_length(e[start : start + 3]))
            angle.append(_length(e[start + 3 : start + 6]) if full else np.zeros(()))
            start += 6 if full else 3
        gap = np.max(np.abs(np.concatenate([np.zeros(1), e[start:]])))
        return PoseSolution(q, np.stack(distance), np.stack(angle), gap)

    def _descend(self, q: Array, low: Array, high: Array, wanted: Sequence[Array] | None, firm: float) -> Array:
        """Steps that make the sum of squares smaller, each with the damping that the last one taught."""

        def step(_: Any, at: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            q, damping, _ = at
            e, J = self._errors(q, wanted, firm)
            now = e @ e
            free = self._free(q, low, high, J.T @ e)
            S = (J * free) @ J.T
            mean = np.sum(np.diag(S)) / len(e)
            S = S + np.eye(len(e)) * (damping * now + 1e-13 * np.where(mean > 0, mean, 1.0))
            u = free * (J.T @ solve_spd(S, e))
            there = kinematics.integrate(self.mech, q, u * np.minimum(1.0, 1.0 / np.maximum(np.max(np.abs(u)), 1e-300)))
            there = np.minimum(np.maximum(there, low), high)
            e, _ = self._errors(there, wanted, firm)
            better = e @ e < now
            damping = np.where(better, 0.25 * damping, 8.0 * np.maximum(damping, 1e-3))
            goes_on = np.where((e @ e > 1e-30) & (damping < 1e12), 1.0, 0.0)
            return np.where(better, there, q), damping, goes_on

        def step_if_open(_: Any, at: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            moved: tuple[Array, Array, Array] = fori_loop(np.where(at[2] > 0, 1, 0), step, at)
            return moved

        found: tuple[Array, Array, Array] = fori_loop(self.most, step_if_open, (q, np.ones(()), np.ones(())))
        return found[0]

    def _errors(self, q: Array, wanted: Sequence[Array] | None, firm: float) -> tuple[Array, Array]:
        """e (m,) and J (m, nv): what is left of the goals, in world axes, and the gaps of the closures."""
        mech, errors, rows = self.mech, [np.zeros(0)], [np.zeros((0, self.mech.nv))]
        numbers = iter(wanted or ())
        for name, full, at in self.frames if wanted is not None else ():
            frame = frame_in_world(mech, name, at, q)
            errors.append(next(numbers) - frame.X.p)
            rows.append(spread(mech, frame.freedoms, frame.rows_at(frame.X.p)))
            if full:
                errors.append(rotation.log(next(numbers) @ frame.X.R.T))
                rows.append(spread(mech, frame.freedoms, frame.S[:3]))
        if mech.closures:
            closed = closing_rows(mech, mech.closures, q, np.zeros(mech.nv), places=True, far=True)
            errors.append(-firm * closed.gap)
            rows.append(firm * closed.J)
        return np.concatenate(errors), np.concatenate(rows)

    def _free(self, q: Array, low: Array, high: Array, pull: Array) -> Array:
        """(nv,), 0 for a coordinate at a bound that `pull` (nv,) would take beyond it, else 1."""
        free = [np.ones(0)]
        for link, sq, sv in zip(self.mech.links, self.mech.q_slices, self.mech.v_slices, strict=True):
            if link.joint.type.is_group:
                free.append(np.ones(link.joint.nv))
                continue
            outward = ((q[sq] <= low[sq]) & (pull[sv] < 0)) | ((q[sq] >= high[sq]) & (pull[sv] > 0))
            free.append(np.where(outward, 0.0, 1.0))
        return np.concatenate(free)


def _length(x: Array) -> Array:
    length: Array = np.sqrt(x @ x)
    return length


def _numbers(goal: Goal) -> tuple[Array, ...]:
    """The numbers of a goal: position, and attitude if it has one."""
    return (goal.pose.p, goal.pose.R) if isinstance(goal.pose, Pose) else (as_array(goal.pose),)


def _bounds(mech: Mechanism, bounds: tuple[ArrayLike, ArrayLike] | None) -> tuple[Array, Array]:
    """lower and upper (nq,); of the joints by default, none for coordinates of a group."""
    if bounds is not None:
        for x in bounds:
            if np.shape(x) not in ((), (mech.nq,)):
                raise FieldError(f"bounds have the shape {np.shape(x)}; {mech} needs ({mech.nq},), or one.", "bounds")
        low, high = (as_array(x) + np.zeros(mech.nq) for x in bounds)
        return low, high
    ends: tuple[list[Array], list[Array]] = ([np.zeros(0)], [np.zeros(0)])
    for link in mech.links:
        group, n = link.joint.type.is_group, link.joint.nq
        for end, limit, none in zip(ends, (link.joint.lower, link.joint.upper), (-np.inf, np.inf), strict=True):
            end.append(np.full(n, none) if group else np.ones(n) * limit)
    return np.concatenate(ends[0]), np.concatenate(ends[1])


def _check(mech: Mechanism, goals: Mapping[str, Goal]) -> None:
    """An error if there is no goal, or one for a link that does not exist or with numbers of the wrong shape."""
    if not mech.nv:
        raise FieldError(f"{mech} cannot move: solve_pose needs a joint.", "mech")
    if not goals:
        raise FieldError("solve_pose needs a target: the pose or position of a link, by its name.", "targets")
    for name, goal in goals.items():
        mech.index(name)
        if not isinstance(goal.at, Pose):
            raise FieldError(f"at of the target of {name!r} must be a pt.Pose, not {goal.at!r}.", "at", name)
        for x in _numbers(goal):
            if np.shape(x)[-1:] != (3,) or not (is_traced(x) or np.all(np.isfinite(np.asarray(x, dtype=float)))):
                raise FieldError(
                    f"the target of {name!r} must be a pt.Pose or a position of three finite numbers [m], not {x!r}.",
                    "targets",
                    name,
                )


def _check_shapes(mech: Mechanism, q: Array, low: Array, high: Array) -> None:
    if np.shape(q)[-1:] != (mech.nq,):
        raise FieldError(f"guess has the shape {np.shape(q)}; {mech} needs (..., {mech.nq}).", "guess")
    if not is_traced(q) and not np.all(np.isfinite(q)):
        raise FieldError("guess must be finite numbers.", "guess")
    for link, where in zip(mech.links, mech.q_slices, strict=True):
        if link.joint.type.attitude and not is_traced(q):
            length = np.linalg.norm(q[..., where][..., :4], axis=-1)
            if np.any(np.abs(length - 1) > 0.5):
                raise FieldError(f"the quaternion of {link.name!r} in guess must have the length 1.", "guess")
    if is_traced(low, high):
        return
    for k in np.flatnonzero(~(low <= high)):
        raise FieldError(f"bounds {low[k]} and {high[k]} of q[{k}] leave nothing between them.", "bounds")
