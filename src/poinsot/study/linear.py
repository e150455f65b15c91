"""Small motions about a state: x' = A x + B u, y = C x + D u; with closed loops, of as few coordinates as are free."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._memo import memo
from poinsot._optional import require
from poinsot._types import Array
from poinsot.fuse import Kernel, jvp
from poinsot.mechanism import Mechanism, kinematics
from poinsot.mechanism.model import coordinates, plain
from poinsot.spatial import motion
from poinsot.study.aircraft_states import AircraftStates, aircraft_states
from poinsot.study.mode_table import Modes, flexible_states, modes_of
from poinsot.study.net_linear import net_slope
from poinsot.study.sensitivities import picked
from poinsot.study.trimmed import Trim
from poinsot.world import State, World
from poinsot.world.flat_values import unpack
from poinsot.world.paths import entries
from poinsot.world.system import System


@dataclass(frozen=True, eq=False)
class Linear:
    """dx/dt = A x + B u + drift, y = C x + D u, to first order in small x, u and y.

    x (n,): by default the displacements of the joints (nv; q = integrate(q0, x)), changes of their velocities (nv) and
    of the states of parts (ns); or the states of an aircraft (`linearise`). u (nu,): changes of the inputs. y (ny,):
    changes of the outputs, by default x. `states`, `inputs`, `outputs`: their names. Of many instances all matrices
    have one more axis in front.

    In a world with closed loops x holds the displacements and velocities of f joint coordinates from which the others
    follow, f being the degrees of freedom: x (2 f + ns,). `basis` T (2 nv + ns, 2 f + ns) gives all of them, T x.
    """

    A: Array
    B: Array
    drift: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    basis: Array = field(default_factory=lambda: np.zeros((0, 0)))
    C: Array = field(default_factory=lambda: np.zeros((0, 0)))
    D: Array = field(default_factory=lambda: np.zeros((0, 0)))
    outputs: tuple[str, ...] = ()
    bending: Mapping[str, str] = field(default_factory=dict)  # states of flexible joints, and the way that they bend

    @property
    def batch(self) -> int | None:
        """How many instances; None for one."""
        return None if self.A.ndim == 2 else len(self.A)

    def __getitem__(self, k: Any) -> "Linear":
        """One instance of many, or some of them."""
        if self.batch is None:
            raise TypeError("this is a single linear model; it has no instances to choose from.")
        one = {name: getattr(self, name)[k] for name in ("A", "B", "C", "D", "drift")}
        return replace(self, **one)

    def eigenvalues(self) -> Array:
        """The eigenvalues of A [1/s], sorted by the size of their imaginary parts, then by real and imaginary parts."""
        values = np.linalg.eigvals(self.A)
        order = np.lexsort((values.imag, values.real, np.abs(values.imag)), axis=-1)
        return np.take_along_axis(values, order, axis=-1)

    def modes(self) -> "Modes | list[Modes]":
        """Frequency, damping, time to half or double, participation and names of the modes; of many, one table each."""
        if self.batch is not None:
            return [modes_of(self[k].A, self.states, self.bending) for k in range(self.batch)]
        return modes_of(self.A, self.states, self.bending)

    def to_control(self) -> Any:
        """A `control.StateSpace` of the package python-control, with the same names, "_" instead of dots."""
        control = require("control", "control", "a linear model for python-control")
        if self.batch is not None:
            raise ValueError("python-control takes one model: linear[k].to_control().")
        kinds = ("states", "inputs", "outputs")
        names = {kind: [name.replace(".", "_") for name in getattr(self, kind)] for kind in kinds}
        return control.ss(self.A, self.B, self.C, self.D, **names)

    def response(self, omega: Any, output: str, input: str) -> Array:
        """The frequency response y/u = C (i omega - A)^-1 B + D at frequencies omega (k,) [rad/s], complex (..., k)."""
        if np.ndim(omega) != 1 or not np.all(np.isfinite(omega)):
            raise ValueError(f"omega must be finite frequencies [rad/s] in a row, not {omega!r}.")
        row, column = (_number(x, names) for x, names in ((output, self.outputs), (input, self.inputs)))
        i_omega = 1j * np.asarray(omega, dtype=float)[:, None, None] * np.eye(self.A.shape[-1])
        x = np.linalg.solve(i_omega - self.A[..., None, :, :], self.B[..., None, :, column, None])
        found: Array = (self.C[..., None, row, :] * x[..., 0]).sum(axis=-1) + self.D[..., None, row, column]
        return found

    def bode(self, output: str, input: str, **options: Any) -> Any:
        """Gain and phase over frequency; see `poinsot.show.linear_plots`. ax: two axes of matplotlib to draw into."""
        from poinsot.show.linear_plots import bode

        return bode(self, output, input, **options)

    def root_locus(self, over: Any = None, **options: Any) -> Any:
        """The eigenvalues of many models in the complex plane, over a number of each; ax: axes to draw into."""
        from poinsot.show.linear_plots import root_locus

        return root_locus(self, over, **options)

    def flutter(self, speeds: Any, **options: Any) -> Any:
        """Damping and frequency of many models over their speeds [m/s]; ax: two axes to draw into."""
        from poinsot.show.linear_plots import flutter

        return flutter(self, speeds, **options)


def _number(name: str, names: Sequence[str]) -> int:
    """The number of a name among these."""
    if name not in names:
        raise ValueError(f"{name!r} is not among {', '.join(names)}{hint(name, names)}.")
    return names.index(name)


def linearise(
    world: World,
    state: State | Trim | None = None,
    t: float = 0.0,
    inputs: Mapping[str, Any] | None = None,
    outputs: Sequence[str] = (),
    states: str | None = None,
) -> Linear:
    """A (n, n), B (n, nu), C (ny, n), D (ny, nu) of a world about a state, or a trim, also one of many; by default
    about the start, and about inputs.

    outputs: names of quantities that can be recorded ("energy", "box.position") or of signals. states: "joints";
    "aircraft": V, alpha, beta, p, q, r, roll, pitch, heading, altitude of the body that flies, relative to the air and
    to north-east-down as it moves along; "uvw": with u, v, w instead of V, alpha, beta. By default "aircraft" about a
    trim of flight. With closed loops, on the closures: n is twice the degrees of freedom, and the states of parts.
    """
    if not isinstance(state, (State, Trim, type(None))):
        raise TypeError(f"a world is linearised about a pt.State or a trim, not {state!r}.")
    body = state.asked.problem.body if isinstance(state, Trim) else None
    numbers = state.numbers if isinstance(state, Trim) else {}
    given = {**(state.inputs if isinstance(state, Trim) else {}), **(inputs or {})}
    kind = states or ("joints" if body is None else "aircraft")
    if kind not in ("joints", "aircraft", "uvw"):
        raise ValueError(f"states={kind!r} must be 'joints', 'aircraft' or 'uvw'.")
    at = state.state if isinstance(state, Trim) else world.start() if state is None else state
    for name in ("q", "v", "parts"):
        if not np.all(np.isfinite(getattr(at, name))):
            raise ValueError(f"a world cannot be linearised about a state whose {name} is not finite.")
    model = _model(world.system(tuple(numbers)), kind, body, tuple(outputs))
    return model.about(at, float(t), given, numbers)


@memo
def _model(system: System, kind: str, body: str | None, outputs: tuple[str, ...]) -> "LinearModel":
    return LinearModel(system, kind, body, outputs)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Small motions of a system about any state: compiled once, for one direction, and evaluated in all of them."""

    system: System
    kind: str
    body: str | None
    outputs: tuple[str, ...]

    @cached_property
    def coordinates(self) -> "JointStates | AircraftStates":
        if self.kind == "joints":
            return JointStates(self.system)
        return aircraft_states(self.system, self.body, self.kind == "uvw")

    @cached_property
    def _inputs(self) -> dict[str, tuple[int, ...]]:
        return {name: np.shape(value) for name, value in self.system.inputs.items()}

    @cached_property
    def _numbers(self) -> dict[str, tuple[int, ...]]:
        return {path: np.shape(value) for path, value in self.system.numbers.items()}

    @cached_property
    def _picks(self) -> dict[str, Callable[[Any], Array]]:
        return {name: picked(self.system, name) for name in self.outputs}

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        start = self.system.first_motion()
        return tuple(entries({name: of(start) for name, of in self._picks.items()}))

    @cached_property
    def _slope(self) -> Any:
        """(x, u, base, u0, p, t, dx, du) -> dx/dt with outputs, and its change."""
        n, nu, size = self.coordinates.size, _size(self._inputs), self.coordinates.base_size
        nu, np_ = max(nu, 1), max(_size(self._numbers), 1)

        def rate(x: Array, u: Array, base: Array, u0: Array, p: Array, t: Array) -> Array:
            inputs, numbers = unpack(u0 + u, self._inputs), unpack(p, self._numbers)
            now = self.coordinates.state(x, base, numbers)
            motion = self.system.motion(t, now, numbers or None, inputs)
            shown = [np.ravel(of(motion)) for of in self._picks.values()]
            return np.concatenate([self.coordinates.rate(x, base, motion, self.system.rate(motion)), *shown])

        m = n + len(self.output_names)
        return jvp(Kernel(rate, f"({n}),({nu}),({size}),({nu}),({np_}),()->({m})"), (0, 1))

    def about(self, at: State, t: float, inputs: Mapping[str, Any], numbers: Mapping[str, Any]) -> Linear:
        """The linear model about a state, or about many, (b, ...)."""
        many = np.shape(at.q)[:-1]
        u0 = _packed({**self.system.inputs, **inputs}, self._inputs, many)
        p = _packed({**self.system.numbers, **numbers}, self._numbers, many)
        if self.system.net is not None and self.kind == "joints" and not self.outputs:
            return self._of_net(at, _unpacked(p, self._numbers))
        base, x = self.coordinates.base(at)
        n, nu = self.coordinates.size, u0.shape[-1]
        along = np.eye(n + nu)
        args = [np.asarray(a)[..., None, :] for a in (x, np.zeros(nu), base, u0, p)]
        value, columns = self._slope(*args, t, along[:, :n], along[:, n:])
        slope, drift = np.swapaxes(columns, -1, -2), value[..., 0, :n]
        known = len(entries(self.system.inputs))
        A, B = slope[..., :n, :n], slope[..., :n, n : n + known]
        C, D = (
            (slope[..., n:, :n], slope[..., n:, n : n + known]) if self.outputs else (np.eye(n), np.zeros((n, known)))
        )
        C, D = np.broadcast_to(C, (*many, *C.shape[-2:])), np.broadcast_to(D, (*many, *D.shape[-2:]))
        names, outputs = self.coordinates.names, self.output_names or self.coordinates.names
        u_names = tuple(entries(self.system.inputs))
        linear = Linear(A, B, drift, names, u_names, np.eye(n), C, D, outputs, self.coordinates.bending)
        return self._on_closures(linear, at, t) if self.system.loops and self.kind == "joints" else linear

    def _of_net(self, at: State, numbers: Mapping[str, Array]) -> Linear:
        """The linear model of a net, on which no input acts."""
        assert self.system.net is not None
        A, drift = net_slope(self.system.net, np.asarray(at.q), np.asarray(at.v), numbers)
        n, inputs, names = A.shape[-1], tuple(entries(self.system.inputs)), self.coordinates.names
        B, C = np.zeros((*A.shape[:-1], len(inputs))), np.broadcast_to(np.eye(n), A.shape)
        return Linear(A, B, drift, names, inputs, np.eye(n), C, B, names)

    def _on_closures(self, full: Linear, at: State, t: float) -> Linear:
        """The same in the coordinates that are free."""
        if full.batch is not None:
            raise ValueError("a world with closed loops is linearised about one state at a time.")
        T, kept = _basis(self.system, at, t)
        C = full.C @ T if self.outputs else np.eye(len(kept))
        names = tuple(full.states[k] for k in kept)
        changed = {"A": (full.A @ T)[kept], "B": full.B[kept], "drift": full.drift[kept], "states": names, "basis": T}
        D = full.D if self.outputs else full.D[kept]
        return replace(full, **changed, C=C, D=D, outputs=full.outputs if self.outputs else names)  # type: ignore[arg-type]


def _unpacked(p: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The arrays (..., *shape) in p (..., n), one after the other."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    parts = np.split(p, ends, axis=-1)
    return {k: np.reshape(x, (*p.shape[:-1], *s)) for (k, s), x in zip(shapes.items(), parts, strict=False)}


def _size(shapes: Mapping[str, tuple[int, ...]]) -> int:
    return sum(int(np.prod(shape)) for shape in shapes.values())


def _packed(values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], many: tuple[int, ...]) -> Array:
    """The values in one array (..., n), at least one number long."""
    full = [np.broadcast_to(np.asarray(values[k], dtype=float), (*many, *shape)) for k, shape in shapes.items()]
    flat = [x.reshape((*many, -1)) for x in full]
    return np.concatenate(flat, axis=-1) if flat else np.zeros((*many, 1))


@dataclass(frozen=True, eq=False)
class JointStates:
    """x: displacements and changes of velocity of the joints, and of the states of parts. base: q, v, parts."""

    system: System

    @property
    def size(self) -> int:
        return 2 * self.system.nv + self.system.ns

    @property
    def base_size(self) -> int:
        return self.system.nq + self.system.nv + self.system.ns

    @cached_property
    def names(self) -> tuple[str, ...]:
        joints = [f"{name}.{letter}{k}" for letter in "qv" for name, k in coordinates(self.system.mechanism, "v")]
        return (*joints, *entries(self.system.states))

    @cached_property
    def bending(self) -> dict[str, str]:
        return flexible_states(self.system)

    def base(self, at: State) -> tuple[Array, Array]:
        """q, v and parts (..., base_size), and x = 0."""
        return np.concatenate([at.q, at.v, at.parts], axis=-1), np.zeros(self.size)

    def state(self, x: Array, base: Array, numbers: Mapping[str, Any]) -> State:
        s = self.system
        q, v, parts = np.split(base, np.cumsum([s.nq, s.nv]))
        return State(kinematics.integrate(s.mechanism, q, x[: s.nv]), v + x[s.nv : 2 * s.nv], parts + x[2 * s.nv :])

    def rate(self, x: Array, base: Array, motion: Any, rate: State) -> Array:
        s = self.system
        v = base[s.nq : s.nq + s.nv] + x[s.nv : 2 * s.nv]
        return np.concatenate([_departure(s.mechanism, base[: s.nq], x[: s.nv], v), rate.v, rate.parts])


def _basis(system: System, state: State, t: float) -> tuple[Array, Array]:
    """T (2 nv + ns, 2 f + ns), whose columns are tangent to the closures at a state, and which entries they keep.

    Displacements d and changes w of velocity are allowed if J d = 0 and J w + (d(J v)/dq) d = 0. Of the coordinates of
    v, f are independent, and the rest follow from them: d = N d_i, w = N w_i + K d_i. Wehage and Haug, J. Mech. Design
    104 (1982).
    """
    nv, ns = system.nv, system.ns

    def rates(x: Array) -> Array:
        """J v - rate, displaced by x (nv,)."""
        q = kinematics.integrate(system.mechanism, state.q, x)
        rows = system.rows(State(q, state.v, state.parts), t)
        return rows.J @ state.v

    J = plain(system.rows(state, t).J)
    independent = _independent_columns(J)
    f, dependent = len(independent), np.setdiff1d(np.arange(nv), independent)
    turned = np.zeros((0, nv))
    if len(J):
        turned = jvp(Kernel(rates, f"({nv})->({len(J)})"), 0)(np.zeros(nv), np.eye(nv))[1].T
    N, K = np.zeros((nv, f)), np.zeros((nv, f))
    N[independent] = np.eye(f)
    solve = np.linalg.pinv(J[:, dependent], rcond=1e-10)
    N[dependent] = -solve @ J[:, independent]
    K[dependent] = -solve @ turned @ N
    T = np.zeros((2 * nv + ns, 2 * f + ns))
    T[:nv, :f], T[nv : 2 * nv, :f], T[nv : 2 * nv, f : 2 * f], T[2 * nv :, 2 * f :] = N, K, N, np.eye(ns)
    return T, np.concatenate([independent, nv + independent, np.arange(2 * nv, 2 * nv + ns)])


def _independent_columns(J: Array) -> Array:
    """The columns of J (m, nv) without which its rank is the same: by elimination with the largest pivots first; of
    equal ones the last is eliminated, so that coordinates near the root are kept."""
    rest, dependent = np.array(J, dtype=float), list[int]()
    scale = np.abs(J).max(initial=0.0)
    for _ in range(min(J.shape)):
        sizes = np.linalg.norm(rest, axis=0)
        column = int(np.flatnonzero(sizes >= 0.5 * sizes.max(initial=0.0))[-1])
        if sizes[column] <= 1e-9 * scale:
            break
        u = rest[:, column] / sizes[column]
        rest = rest - np.outer(u, u @ rest)
        rest[:, column] = 0.0
        dependent.append(column)
    return np.setdiff1d(np.arange(J.shape[1]), dependent)


def _departure(mech: Mechanism, q0: Array, u: Array, v: Array) -> Array:
    """du/dt, where q = integrate(q0, u) and the joints' velocities are v: v + [u, v]/2 on groups, to first order."""
    parts = []
    for link, sq, sv in zip(mech.links, mech.q_slices, mech.v_slices, strict=True):
        if not link.joint.type.is_group:
            parts.append(v[sv])
            continue
        S = link.joint.type.subspace(link.joint, q0[sq])
        parts.append(v[sv] + 0.5 * S.T @ motion.bracket(S @ u[sv], S @ v[sv]))
    return np.concatenate([np.zeros(0), *parts])
