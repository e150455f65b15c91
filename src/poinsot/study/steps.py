"""Is the step short enough? An estimate by halving it."""

from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.environment import TouchList
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import coordinates
from poinsot.run.compiled import CompiledSystem
from poinsot.run.stepping import METHODS, choose_method, chooses_steps
from poinsot.run.time_grid import time_grid
from poinsot.world import System, World

EXPLICIT = ("rk4", "midpoint", "euler", "semi-implicit euler", "splitting", "splitting4", "poinsot", "poinsot4")
STABLE = 2.5  # of a step times the fastest rate: explicit methods need about that or less
ROUGH = 0.1  # of what changes: from an error above it no other step follows
BOUNCE = 0.02  # the part of the speed of an elastic blow that an implicit step may take without being told


@dataclass(frozen=True)
class StepCheck:
    """The error of a step [s] over a duration [s], relative to the size of each quantity, and the step to take.

    `worst`: the quantity with the largest error. `advised`: the step that would meet the tolerance [s].
    `decay`: the fastest rate [1/s] at which friction and dampers slow something down, the joint of the body `slowed`.
    `contact`: the stiffest touch, and `swing`: its sqrt(k/m) [rad/s].
    `fastest`: the largest eigenvalue of the equations of motion [1/s], in absolute value, and `mover`: the body whose
    joint moves most in it.
    """

    step: float
    duration: float
    method: str
    error: float
    worst: str
    tolerance: float
    advised: float
    decay: float = 0.0
    slowed: str = ""
    contact: str = ""
    swing: float = 0.0
    fastest: float = 0.0
    mover: str = ""

    @property
    def stiff(self) -> bool:
        """Whether stability limits the step of this method: a method for stiff equations could take a longer one."""
        return self.method in EXPLICIT and self.step * self.fastest > STABLE

    @property
    def lost(self) -> float:
        """The part of its speed that an elastic blow on the stiffest contact loses to an implicit step h: half a swing
        of implicit Euler, 1 - exp(-pi h w/2)."""
        return float(-np.expm1(-0.5 * np.pi * self.step * self.swing))

    @property
    def fine(self) -> bool:
        """Whether the step meets the tolerance, and does not jump over what friction does."""
        return self.error <= self.tolerance and not self.jumps

    @property
    def jumps(self) -> bool:
        """Whether friction or a damper reverses a velocity within one step, instead of slowing it down."""
        return self.step * self.decay > 2.0

    def __str__(self) -> str:
        if chooses_steps(self.method):
            return (
                f"{self.method!r} chooses its steps by its own tolerance, so a step of {self.step:g} s says nothing "
                "about its error: compare runs with a tolerance and a tenth of it"
            )
        verdict = "is fine" if self.fine else f"is too long; take {self.advised:.2g} s"
        if not np.isfinite(self.error):
            text = f"a step of {self.step:g} s breaks down within {self.duration:g} s; try {self.advised:.2g} s"
            return text + self._other_methods()
        text = (
            f"a step of {self.step:g} s {verdict}: over {self.duration:g} s, {self.method} is off by {self.error:.1e} "
            f"in {self.worst} (tolerance {self.tolerance:.0e}; {self.advised:.2g} s would do)"
        )
        if self.error >= ROUGH:
            text = (
                f"a step of {self.step:g} s is far too long: over {self.duration:g} s, {self.method} is off by "
                f"{self.error:.1e} in {self.worst} (tolerance {self.tolerance:.0e}); try {self.advised:.2g} s"
            )
        if self.jumps:
            text += (
                f". Friction or dampers slow {self.slowed!r} down within {1 / self.decay:.2g} s, and the step jumps "
                "over that: take a shorter one, or smooth the friction of a contact over a larger slip."
            )
        if self.lost > BOUNCE:
            text += (
                f". An elastic blow on {self.contact!r} is over in {np.pi / self.swing:.2g} s, and loses "
                f"{100 * self.lost:.0f} % of its speed to the step: if bounces matter, take {BOUNCE / self.swing:.2g} s"
            )
        return text + self._other_methods()

    def _other_methods(self) -> str:
        """A sentence on the limit of the step, and which methods would lift it; empty if no element is stiff."""
        if not self.stiff:
            return ""
        return (
            f". What limits it is {self.mover!r}, whose fastest motion is of {self.fastest:.2g} rad/s: {self.method!r} "
            f"is stable up to {STABLE / self.fastest:.2g} s only; the methods 'implicit' (order 1), 'rosenbrock2' "
            "(order 2) and 'rosenbrock' (to a tolerance) have no such limit"
        )


def check_step(
    world: World, step: float = 1e-3, duration: float = 1.0, tolerance: float = 1e-6, method: str | None = None
) -> StepCheck:
    """Run with the step and with half of it, and compare: the error of the longer is |y_h - y_h/2| / (1 - 2^-order).

    Where friction or a damper acts faster than the step, that estimate does not hold, and the check says so.
    """
    if not (isinstance(tolerance, (int, float)) and tolerance > 0):
        raise ValueError(f"tolerance={tolerance!r} must be a number above zero.")
    system = world.system()
    name = choose_method(method, system)
    order = METHODS[name].order
    grid = time_grid(duration, min(step, duration), None, True)
    compiled = CompiledSystem(system, name, {}, False)
    p = compiled.parameters({}, {})
    start = np.asarray(compiled.start(p))
    h, stride, count = _records(grid.step, grid.steps)
    with np.errstate(all="ignore"):
        x = compiled.to_stepped(start, p)
        coarse = compiled.from_stepped(compiled.scan_records(x, p, 0.0, 0, h, stride, count), p)
        fine = compiled.from_stepped(compiled.scan_records(x, p, 0.0, 0, h / 2, 2 * stride, count), p)
    error, worst = _difference(compiled, system, start, coarse, fine, order)
    quick = _fastest(compiled, system, start, p)
    stable = STABLE / quick[0] if name in EXPLICIT and quick[0] > 0 else np.inf
    if not np.isfinite(error):
        advised = min(grid.step / 10, stable)
        return StepCheck(grid.step, duration, name, np.inf, "all", tolerance, advised, fastest=quick[0], mover=quick[1])
    longer = (0.5 * tolerance / max(error, 1e-16)) ** (1 / order) if error < ROUGH else 0.1
    advised = min(grid.step * min(longer, 100.0), stable)
    decay, slowed = _decay(compiled, system, stride * h * np.arange(1, count + 1), fine, p)
    if grid.step * decay > 2.0:
        advised = min(advised, 1 / decay)
    advised = min(advised, duration)
    touch = _stiffest(system)
    return StepCheck(grid.step, duration, name, error, worst, tolerance, advised, decay, slowed, *touch, *quick)


def _stiffest(system: System) -> tuple[str, float]:
    """The touch that swings fastest, and sqrt(k/m) [rad/s], m being the mass of the lighter body alone."""
    swings = {"": 0.0}
    for name, element in system.description.acting():
        bodies = [system.mechanism.link(body).inertia for body in element.bodies()]
        masses = [body.mass for body in bodies if body is not None and body.mass > 0]
        if element.needs_implicit and masses:
            swings[name] = float(np.sqrt(getattr(element, "stiffness", 0.0) / min(masses)))
    return max(swings.items(), key=lambda item: item[1])


def _fastest(compiled: CompiledSystem, system: System, y: Array, p: Array) -> tuple[float, str]:
    """The largest eigenvalue [1/s] of dy'/dy at the start y (ny,), and the body whose joint moves most in it."""
    nq, n = system.nq, system.nq + system.nv
    if not system.nv:
        return 0.0, ""
    beside = 1e-7 * np.eye(n, len(y))
    slopes = np.asarray(compiled.derivative(0.0, np.concatenate([y + beside, y - beside]), p))[:, :n]
    J = (slopes[:n] - slopes[n:]).T / 2e-7
    if not np.isfinite(J).all():
        return 0.0, ""
    rates, modes = np.linalg.eig(J)
    k = int(np.argmax(np.abs(rates)))
    moved = int(np.argmax(np.abs(modes[nq:, k])))
    return float(abs(rates[k])), [name for name, _ in coordinates(system.mechanism, "v")][moved]


def _decay(compiled: CompiledSystem, system: System, t: Array, y: Array, p: Array) -> tuple[float, str]:
    """The fastest rate [1/s] of a decay in records y (r, ny), and the body whose joint moves most in it.

    It is an eigenvalue of -dv'/dv, from differences: over a speed far below those that friction is smoothed over.
    """
    nq, nv, beside = system.nq, system.nv, 1e-7
    if not nv:
        return 0.0, ""
    off = np.zeros((nv, compiled.ny))
    off[:, nq : nq + nv] = beside * np.eye(nv)
    near, here = (compiled.derivative(t[:, None], x, p)[..., nq : nq + nv] for x in (y[:, None] + off, y[:, None]))
    rates, modes = np.linalg.eig(-np.swapaxes(near - here, 1, 2) / beside)
    record, k = np.unravel_index(np.argmax(rates.real), rates.shape)
    moved = int(np.argmax(np.abs(modes[record, :, k])))
    return max(float(rates[record, k].real), 0.0), [name for name, _ in coordinates(system.mechanism, "v")][moved]


def _records(h: float, steps: int) -> tuple[float, int, int]:
    """About a hundred times to compare at."""
    stride = max(1, steps // 100)
    return h, stride, steps // stride


def _difference(
    compiled: CompiledSystem, system: System, start: Array, coarse: Array, fine: Array, order: int
) -> tuple[float, str]:
    """The largest error over all records, relative to the largest change of its kind, and its quantity."""
    if not (np.all(np.isfinite(coarse)) and np.all(np.isfinite(fine))):
        return np.inf, ""
    nq, nv = system.nq, system.nv
    move = np.array(
        [kinematics.difference(system.mechanism, a[:nq], b[:nq]) for a, b in zip(coarse, fine, strict=True)]
    )
    off = np.concatenate([move, coarse[:, nq:] - fine[:, nq:]], axis=1) / (1 - 0.5**order)
    path = np.concatenate([start[None], fine])
    moved = np.array([kinematics.difference(system.mechanism, start[:nq], b[:nq]) for b in path])
    sizes = np.abs(np.concatenate([moved, path[:, nq:]], axis=1)).max(axis=0)
    groups = [sizes[:nv].max(initial=0.0)] * nv + [sizes[nv : 2 * nv].max(initial=0.0)] * nv
    scale = np.concatenate([groups, sizes[2 * nv :]])
    relative = np.abs(off).max(axis=0) / np.where(scale > 0, scale, 1.0)
    relative[2 * nv :][_latches(system)] = 0.0
    k = int(np.argmax(relative))
    names = [f"{letter} of {name!r}" for letter in "qv" for name, _ in coordinates(system.mechanism, "v")]
    return float(relative[k]), [*names, *compiled.labels()[nq + nv :]][k]


def _latches(system: System) -> Array:
    """Which of the states of parts are set after a step and do not follow from rates, or are by place in a list of
    contacts: they jump, and have no error."""
    elements = system.description.elements
    marks = []
    for name, value in system.states.items():
        owner = elements[name.rpartition(".")[0]]
        marks += [owner.latches or isinstance(owner, TouchList)] * np.size(value)
    return np.array(marks, bool)
