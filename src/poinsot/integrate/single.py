"""One rigid body, stepped by any scheme in any formulation: a table of methods, and a driver that compiles them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, ArrayLike, Scalar
from poinsot.body import body_frame, lab, momentum, momentum_matrix, twist
from poinsot.body.forces import Load, at_centre
from poinsot.fuse import Kernel, fori_loop, once
from poinsot.fuse.trace.pytree import flatten
from poinsot.integrate import schemes
from poinsot.integrate.free_motion import free_motion
from poinsot.integrate.kick_drift import FreeRotation, drifted, free_attitude, kicked
from poinsot.integrate.splitting import free_rotation
from poinsot.spatial import Inertia, Pose

Step: TypeAlias = Callable[[Any, Any, Any], Any]  # (t, state, h) -> state at t + h


@dataclass(frozen=True)
class BodyMethod:
    """A formulation, the order that the scheme claims, and the function that makes its step for a body under a load."""

    formulation: ModuleType
    order: int
    step: Callable[[Inertia, Load], Step]


def _embedded(formulation: ModuleType, tableau: schemes.Tableau) -> BodyMethod:
    """A Runge-Kutta method on the components of the state, the attitude normalized after each step."""

    def make(inertia: Inertia, load: Load) -> Step:
        f = once(lambda t, y: formulation.derivative(t, y, inertia, load))
        return lambda t, y, h: formulation.normalize(schemes.runge_kutta(tableau, f, t, y, h))

    return BodyMethod(formulation, tableau.order, make)


def _on_group(formulation: ModuleType, tableau: schemes.Tableau) -> BodyMethod:
    """A Runge-Kutta-Munthe-Kaas method: every stage is a rotation."""

    def make(inertia: Inertia, load: Load) -> Step:
        f = once(lambda t, y: formulation.rate(t, y, inertia, load))
        return partial(schemes.lie_runge_kutta, tableau, f, formulation.integrate, formulation.bracket)

    return BodyMethod(formulation, tableau.order, make)


def _midpoint(formulation: ModuleType) -> BodyMethod:
    def make(inertia: Inertia, load: Load) -> Step:
        def rate(t: Scalar, y: Any) -> Any:
            return formulation.rate(t, y, inertia, load)

        return partial(schemes.implicit_midpoint, rate, formulation.integrate)

    return BodyMethod(formulation, 2, make)


def _kick_and_drift(inertia: Inertia, load: Load, rotate: FreeRotation = free_rotation) -> tuple[Step, Step]:
    """The kick and the drift of one body, in the momentum formulation."""
    rotated = free_attitude(inertia, rotate)

    def kick(t: Any, y: momentum.MomentumState, h: Scalar) -> momentum.MomentumState:
        def forces(momenta: tuple[Array, Array]) -> tuple[Array, Array]:
            X_WB, V_WB_B = momentum.to_motion(momentum.MomentumState(y.x, y.attitude, *momenta), inertia)
            return at_centre(load(t, X_WB, V_WB_B), inertia, X_WB)

        return momentum.MomentumState(y.x, y.attitude, *kicked(forces, t, (y.P, y.L), h))

    def drift(t: Scalar, y: momentum.MomentumState, h: Scalar) -> momentum.MomentumState:
        q_WB = rotated(y.attitude, y.L, h)
        return momentum.MomentumState(drifted(inertia, y.x, y.P, h), q_WB, y.P, y.L)

    return kick, drift


def _splitting(order: int, rotate: FreeRotation = free_rotation) -> BodyMethod:
    def make(inertia: Inertia, load: Load) -> Step:
        return partial(schemes.strang, *_kick_and_drift(inertia, load, rotate), order=order)

    return BodyMethod(momentum, order, make)


def _semi_implicit(inertia: Inertia, load: Load) -> Step:
    return partial(schemes.semi_implicit_euler, *_kick_and_drift(inertia, load))


METHODS: dict[str, BodyMethod] = {
    # the schemes of the texts
    "peskin": BodyMethod(lab, 1, lambda i, f: lambda t, y, h: lab.step_under_load(t, y, h, i, f)),
    "five-step": BodyMethod(body_frame, 1, lambda i, f: lambda t, y, h: body_frame.step(t, y, h, i, f)),
    "five-step, moving reference": BodyMethod(
        body_frame, 1, lambda i, f: lambda t, y, h: body_frame.step(t, y, h, i, f, moving_reference=True)
    ),
    "momentum-matrix": _embedded(momentum_matrix, schemes.RK4),
    # on the components
    "euler": _embedded(momentum, schemes.EULER),
    "rk4": _embedded(momentum, schemes.RK4),
    "rk4, body frame": _embedded(body_frame, schemes.RK4),
    "rk4, twist": _embedded(twist, schemes.RK4),
    # on the group
    "lie euler": _on_group(momentum, schemes.EULER),
    "lie midpoint": _on_group(momentum, schemes.MIDPOINT),
    "rkmk4": _on_group(momentum, schemes.RK4),
    "rkmk4, twist": _on_group(twist, schemes.RK4),
    "implicit midpoint": _midpoint(momentum),
    # kicks and free motion
    "semi-implicit euler": BodyMethod(momentum, 1, _semi_implicit),
    "splitting": _splitting(2),
    "splitting4": _splitting(4),
    # the same, with free motion that is exact
    "poinsot": _splitting(2, free_motion),
    "poinsot4": _splitting(4, free_motion),
}


@dataclass(frozen=True)
class BodyTrajectory:
    """The records of one body: time (n,), and for each time and body of the batch the body frame's motion.

    position (..., n, 3) [m] of B's origin and velocity (..., n, 3) [m/s] in world axes, orientation (..., n, 4) wxyz,
    angular_velocity (..., n, 3) [rad/s] in body axes.
    """

    time: Array
    position: Array
    orientation: Array
    velocity: Array
    angular_velocity: Array


def simulate(
    inertia: Inertia,
    X_WB: Pose | None = None,
    V_WB_B: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    load: Load | None = None,
    method: str = "splitting4",
    duration: float = 1.0,
    step: float = 1e-3,
    records: int = 100,
) -> BodyTrajectory:
    """Let one body, or a batch of them that differ in their twists (..., 6), move from a pose under a load.

    The step is shortened a little so that a whole number of steps fits between two records.
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r} is unknown; there are {', '.join(METHODS)}.")
    for name, value in (("duration", duration), ("step", step), ("records", records)):
        if not value > 0:
            raise ValueError(f"{name} must be positive, not {value}.")
    inertia.require_regular("the body")
    every = max(1, int(np.ceil(duration / records / step - 1e-9)))
    h = duration / records / every
    X_WB = Pose() if X_WB is None else X_WB
    enter, advance, leave = compiled(method, inertia, load or (lambda t, X, V: np.zeros(6)))
    twists = np.asarray(V_WB_B, dtype=float)
    state = enter(X_WB.R, X_WB.p, twists)
    motions = [leave(*state)]
    for k in range(records):
        state = advance(*state, k * every * h, h, every)
        motions.append(leave(*state))
    p, q, v, omega = (np.stack(parts, axis=-2) for parts in zip(*motions, strict=True))
    return BodyTrajectory(h * every * np.arange(records + 1), p, q, v, omega)


def compiled(method: str, inertia: Inertia, load: Load) -> tuple[Kernel, Kernel, Kernel]:
    """Three kernels: (R_WB, p_WB, V_WB_B) -> state, (state, t, h, n) -> state after n steps, state -> motion."""
    formulation, step = METHODS[method].formulation, METHODS[method].step(inertia, load)
    sample, rebuild_all = flatten(formulation.from_motion(inertia, Pose(), np.zeros(6)))
    core = ",".join("(" + ",".join(map(str, np.shape(leaf))) + ")" for leaf in sample if np.size(leaf))

    def leaves_of(state: Any) -> tuple[Any, ...]:
        """The arrays of a state that are not empty; a kernel takes no empty ones."""
        return tuple(leaf for leaf in flatten(state)[0] if np.size(leaf))

    def rebuild(leaves: Any) -> Any:
        rest = iter(leaves)
        return rebuild_all([next(rest) if np.size(leaf) else leaf for leaf in sample])

    def enter(R: Array, p: Array, V: Array) -> Any:
        return leaves_of(formulation.from_motion(inertia, Pose.unchecked(R, p), V))

    def advance(*args: Any) -> Any:
        *leaves, t, h, n = args
        return leaves_of(fori_loop(n, lambda i, y: step(t + i * h, y, h), rebuild(leaves)))

    def leave(*leaves: Any) -> Any:
        X_WB, V_WB_B = formulation.to_motion(rebuild(leaves), inertia)
        return X_WB.p, X_WB.quaternion(), X_WB.R @ V_WB_B[3:], V_WB_B[:3]

    return (
        Kernel(enter, f"(3,3),(3),(6)->{core}"),
        Kernel(advance, f"{core},(),(),()->{core}"),
        Kernel(leave, f"{core}->(3),(4),(3),(3)"),
    )
