"""Random worlds, under laws that hold for all of them.

In every trial the ledger balances, and a batch has the bits of single runs; in some a run that goes on has those of a
long one, and a saved one comes back. In each trial one or two of these as well: halved steps converge and methods
agree; a world that is turned and moved as a whole moves alike; compiled steps agree with those of the reference, and
with float32; linear models agree with differences; a ledger changes no bit; a stepper has the bits of a run; touches in
lists and pair by pair agree. Nearly all of a trial's time is tracing and compiling, so no trial has all of them, and
most have machine code that is made in haste, as that of short runs is.

How far two runs may part where rounding differs is told by the world itself: by how far runs part whose starts differ
in the ninth digit.
"""

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import poinsot as pt
from poinsot.fuse.kernels import Program
from poinsot.mechanism import kinematics
from poinsot.spatial import quaternion
from poinsot.world import State
from scenery import KINDS, Scenery
from trial import require

Rng = np.random.Generator
Array = np.ndarray
STEPS = 24
NUDGE = 1e-9  # of the numbers of a start
HASTY = 0.75  # of the trials
ORDERS = {"midpoint": 2, "semi-implicit euler": 1, "rosenbrock2": 2, "implicit midpoint": 2, "splitting": 2, "euler": 1}
ADAPTIVE = ("adaptive", "adaptive5", "taylor", "rosenbrock")
TOLERANCE = 1e-10  # to which these hold every step
ACROSS = 1e3  # times that, by which steps may miss across a corner: the error is estimated as for a smooth curve
OWN_AXES = ("energy", "momentum", "center", "potential", "angular")  # of records that depend on the axes of the world


@dataclass(eq=False)
class Tried:
    """One world under trial, and its first run."""

    s: Scenery
    draw: Callable[..., Scenery]
    rng: Rng
    method: str
    run: pt.Run
    free: list[str]  # numbers of the start that the code leaves free
    spread: float  # how far runs part whose starts differ by NUDGE, of numbers of order 1

    @property
    def duration(self) -> float:
        return STEPS * self.s.step

    def simulate(self, world: pt.World | None = None, step: float | None = None, **more: Any) -> pt.Run:
        options = {"method": self.method, "ledger_tolerance": np.inf, "free": self.free} | more
        return (world or self.s.world).simulate(self.duration, step or self.s.step, **options)

    def require_close(self, a: Array, b: Array, rounding: float, what: str) -> None:
        """`a` and `b` agree, as far as a relative error of this size at the start lets them."""
        growth = 3.0 * self.spread / NUDGE
        allowed = max(rounding, self.s.found_to) * (1e2 + growth)
        if self.method in ADAPTIVE:  # their steps follow from how large positions are, hence from where the origin is
            cornered = self.s.has_knots or not self.s.is_smooth
            allowed += (ACROSS if cornered else 1.0) * TOLERANCE * (10.0 + growth)
        if allowed < 1e-2:
            off = np.max(np.abs(a - b) / np.maximum(1.0, np.abs(b)), initial=0.0)
            require(bool(off <= allowed), f"{what}: {off:.1e} apart, where {allowed:.1e} would be rounding")


def trial(rng: Rng) -> None:
    hasty = bool(rng.random() < HASTY)
    kind = rng.choice([*KINDS], p=[0.48, 0.2, 0.3, 0.02])
    with warnings.catch_warnings(), machine_code(hasty):
        warnings.simplefilter("ignore", pt.LedgerWarning)
        warnings.simplefilter("ignore", pt.LimitWarning)
        tried = first_runs(KINDS[kind], rng)
        if tried is None:
            return
        ledger_balances(tried)
        for law, often in OFTEN.items():
            if rng.random() < often:
                law(tried)
        some = [law for law in SOME if SOME[law](tried)]
        for k in rng.choice(len(some), min(int(rng.integers(1, 3)), len(some)), replace=False):
            some[k](tried)


@contextmanager
def machine_code(hasty: bool) -> Iterator[None]:
    """That of all programs is made in haste, or not."""
    Program.hasty = hasty
    try:
        yield
    finally:
        Program.hasty = False


def first_runs(draw: Callable[..., Scenery], rng: Rng) -> Tried | None:
    """A world with its first run, and a batch of starts that differ a little; None if it breaks down, or is refused."""
    draws = int(rng.integers(2**32))
    again = lambda X, listed=None: draw(np.random.default_rng(draws), X, listed)  # noqa: E731
    s = again(pt.Pose.exp(rng.uniform(-2, 2, 6)))
    method = s.method or "rk4"
    try:
        s.world.start()
    except ValueError as refusal:  # a loop that cannot be closed, a body that is lighter than its rotor
        require("cannot" in str(refusal) or "that of its rotors" in str(refusal), f"refused: {refusal}")
        return None
    nudges = random_nudges(s, rng)
    duration, options = STEPS * s.step, {"every": 6 * s.step, "ledger_tolerance": np.inf, "free": list(nudges)}
    try:
        run = s.world.simulate(duration, s.step, method=method, **options)
    except ValueError as refusal:
        require(f"method {method!r}" in str(refusal), f"refused: {refusal}")
        method = "implicit" if s.world.system().needs_implicit else "rk4"
        run = s.world.simulate(duration, s.step, method=method, **options)
    if run.stop.reason != "duration":
        require(run.stop.reason == "broken" and method in ADAPTIVE, f"a run ended early: {run.stop}")
        return None
    many = {"vary": nudges, "every": 6 * s.step, "ledger": True, "ledger_tolerance": np.inf}
    batch = s.world.simulate(duration, s.step, method=method, **many)
    first = facts(batch, pt.Pose(), 0)
    for name, value in facts(run, pt.Pose()).items():
        require(np.array_equal(value, first[name], equal_nan=True), f"a batch changes bits of {name}")
    alone = flat(facts(run, s.X))
    with_others = (flat(facts(batch, s.X, k)) for k in (1, 2))
    parted = (np.max(np.abs(one - alone) / np.maximum(1.0, np.abs(alone))) for one in with_others)
    return Tried(s, again, rng, method, run, list(nudges), max(parted))


def random_nudges(s: Scenery, rng: Rng) -> dict[str, Array]:
    """For three instances, of which the first is the world's own: velocities of all bodies that differ a little."""
    paths = s.world.paths()
    nudges = {}
    for name in s.names:
        moving = f"{name}.velocity" in paths and (name in s.loose() or f"{name}.v" not in paths)  # also on slides
        path = f"{name}.velocity" if moving else f"{name}.v"
        if path in paths and np.size(s.world[path]):
            own = np.asarray(s.world[path])
            off = NUDGE * rng.standard_normal((3, *own.shape))
            off[0] = 0.0
            nudges[path] = own + off
    return nudges


def facts(run: pt.Run, X: pt.Pose, k: int | None = None) -> dict[str, Array]:
    """The end of a run, of instance k of a batch, in the axes in which the world was drawn."""
    data = run.data.isel(time=-1) if k is None else run.data.isel(time=-1, batch=k)
    orientation = quaternion.to_matrix(data.orientation.values)
    known = {
        "position": (data.position.values - X.p) @ X.R,
        "velocity": data.velocity.values @ X.R,
        "orientation": X.R.T @ orientation,
        "angular_velocity": data.angular_velocity.values,
    }
    for name, value in data.data_vars.items():
        if value.dims == () and not any(word in str(name) for word in OWN_AXES):
            known[str(name)] = value.values
    return known


def flat(known: dict[str, Array]) -> Array:
    """The places and velocities among the facts, in one array."""
    return np.concatenate([np.ravel(known[k]) for k in ("position", "velocity", "orientation", "angular_velocity")])


# Laws of many trials.


def ledger_balances(t: Tried) -> None:
    if t.method.startswith("implicit") and t.method != "implicit midpoint":
        books_all = not any("tank" in type(e).__name__.lower() for e in t.s.world.description.elements.values())
        bound = 1e-9 + 1e2 * t.s.found_to if books_all else np.inf
    elif t.method in ADAPTIVE:
        bound = 1e-6
    else:
        return
    worst = float(np.max(t.run.ledger.relative_residual))
    require(worst < bound, f"the ledger of {t.method} does not balance: {worst:.1e}")


def goes_on(t: Tried) -> None:
    """A run that is made in two parts has the bits of one."""
    if t.method in ADAPTIVE:
        return
    every = {"every": 6 * t.s.step, "method": t.method, "ledger_tolerance": np.inf, "free": t.free}
    joined = t.s.world.simulate(6 * t.s.step, t.s.step, **every).continue_((STEPS - 6) * t.s.step)
    require(np.array_equal(joined.y, t.run.y, equal_nan=True), "a run that goes on differs from a long one")
    require(np.array_equal(joined.ledger.inflow, t.run.ledger.inflow), "the ledger of a run that goes on differs")


def comes_back(t: Tried) -> None:
    """A saved run comes back, and can be repeated if it has no functions of ours."""
    with tempfile.TemporaryDirectory() as folder:
        t.run.save(Path(folder) / "run.nc")
        back = pt.load_run(Path(folder) / "run.nc")
        require(back.data.identical(t.run.data), "a saved run comes back with other data")
        try:
            again = back.repeat()
        except Exception as refusal:
            require("function" in str(refusal), f"a saved run cannot be repeated: {refusal!r}")
        else:
            require(np.array_equal(again.y, t.run.y, equal_nan=True), "a saved run repeats with other bits")


OFTEN = {goes_on: 0.5, comes_back: 0.3}

# Laws of some trials.


def steps_converge(t: Tried) -> None:
    """Halved steps have errors that fall with the order, and all methods go where RK4 goes.

    Where they do not at the step of the trial, they do at a quarter of it: the order is what errors tend to.
    """
    if t.method in ADAPTIVE:
        found, half = errors(t, [t.run, t.simulate(step=t.s.step / 2, method="rk4")], t.s.step / 4)
        require(found < 1e-6 + 2 * half, f"{t.method} ends {found:.1e} from rk4, whose half steps end {half:.1e} off")
        return
    least, told = 2 ** (ORDERS.get(t.method, 4) - 0.8), []
    for step in (t.s.step, t.s.step / 4):
        runs = [t.simulate(step=step), t.simulate(step=step / 2)]
        coarse, fine = errors(t, runs, step / 4)
        told.append(f"{coarse:.1e}, then {fine:.1e}")
        worst = float(np.max(runs[0].ledger.relative_residual))
        require(worst < max(1e-9, 30 * coarse), f"ledger of {t.method}: {worst:.1e}, the error being {coarse:.1e}")
        if fine < 1e-9 or fine < coarse / least:
            return
    require(False, f"halved steps of {t.method}: {'; '.join(told)}")


def errors(t: Tried, runs: list[pt.Run], step: float) -> list[float]:
    """How far runs end from RK4 with a step."""
    exact = ends(t.simulate(step=step, method="rk4"))
    return [float(np.max(np.abs(ends(run) - exact) / np.maximum(1.0, np.abs(exact)))) for run in runs]


def ends(run: pt.Run) -> Array:
    return flat(facts(run, pt.Pose()))


def turns_along(t: Tried) -> None:
    """The same world elsewhere, and turned, with all that is fixed in space."""
    X = pt.Pose.exp(t.rng.uniform(-2, 2, 6))
    other = t.draw(X)
    here, there = facts(t.run, t.s.X), facts(t.simulate(other.world), X)
    for name, value in here.items():
        t.require_close(there[name], value, 1e-12, f"{name} of the world that is turned and moved")


def parted_alike(t: Tried) -> None:
    """Touches in lists, or each with code of its own."""
    other = t.draw(t.s.X, not t.s.listed)
    run = t.simulate(other.world)
    here, there = facts(t.run, t.s.X), facts(run, t.s.X)
    late = [r.data[name].values[1:].max() for r in (run, t.run) for name in r.data if str(name).endswith(".late")]
    if max(late, default=0.0) == 0.0:  # but for an overlap at the start
        for name in ("position", "velocity", "orientation", "angular_velocity"):
            t.require_close(there[name], here[name], 1e-12, f"{name} with touches in lists, and pair by pair")


def interpreted_alike(t: Tried) -> None:
    """Some steps of the compiled kernel, of the reference in NumPy, and in float32."""
    compiled, start = t.run.compiled, t.run.y[0]
    p = t.run.p if np.ndim(t.run.p) == 1 else t.run.p[0]
    x = np.asarray(compiled.to_stepped(start, p))
    arguments = (0.0, 0, t.s.step, 3)
    wanted = compiled.advance(x, p, *arguments)
    with np.errstate(all="ignore"):
        found = compiled.advance.to("numpy")(x, p, *arguments)
    n = compiled.nx - len(compiled.inflow_indices)
    t.require_close(found[:n], wanted[:n], 1e-12, "three steps of the reference")
    if t.rng.random() < 0.5:
        system = t.s.world.system()
        n = system.nq + system.nv  # which patch is where in a list, the last digit may decide
        single = compiled.advance(x.astype(np.float32), p.astype(np.float32), *map(np.float32, arguments))
        require(single.dtype == np.float32, f"float32 gives {single.dtype}")
        t.require_close(single[:n], wanted[:n], 1e-6, "three steps in float32")


def slopes_agree(t: Tried) -> None:
    """`world.linearise` and differences of the accelerations and rates."""
    system = t.s.world.system()
    at = State(*np.split(t.run.y[-1][: system.nq + system.nv + system.ns], np.cumsum([system.nq, system.nv])))
    time = float(t.run.time[-1])
    try:
        linear = t.s.world.linearise(at, t=time)
    except ValueError as refusal:
        require("linear" in str(refusal), f"refused: {refusal!r}")
        return
    nv, ns = system.nv, system.ns

    def rates(x: Array) -> Array:
        q = kinematics.integrate(system.mechanism, at.q, x[:nv])
        rate = t.s.world.derivative(time, State(q, at.v + x[nv : 2 * nv], at.parts + x[2 * nv :]))
        return np.concatenate([rate.v, rate.parts])

    dx, off = t.rng.standard_normal(2 * nv + ns), []
    found = (linear.A @ dx)[nv:]
    for h in (1e-4, 1e-6):  # something may begin to touch within the first
        slopes = [(rates(s * dx) - rates(-s * dx)) / (2 * s) for s in (h, h / 2)]
        trusted = 1e-6 * (1.0 + np.abs(found).max()) + 10 * np.abs(slopes[0] - slopes[1])
        off.append(np.max(np.abs(found - slopes[1]) - trusted))
        if off[-1] <= 0:
            return
    require(False, f"a linear model is not the slope: {min(off):.1e}")


def stepper_agrees(t: Tried) -> None:
    """A stepper has the bits of a run."""
    sim = t.s.world.stepper(step=t.s.step, control_period=6 * t.s.step, observe=["q"], method=t.method)
    sim.reset()
    for _ in range(2):
        sim.step()
    run = t.s.world.simulate(12 * t.s.step, t.s.step, method=t.method, ledger=False)
    require(np.array_equal(sim.state.x, run.end.x), "a stepper has other bits than a run")


def ledger_only_watches(t: Tried) -> None:
    """Without a ledger, the bits are the same."""
    run = t.simulate(ledger=False, every=6 * t.s.step)
    n = run.compiled.n_state
    require(np.array_equal(run.y[-1], t.run.y[-1][:n], equal_nan=True), "a ledger changes bits of the state")


def has_stiff_loops(t: Tried) -> bool:
    return bool(t.s.world.system().loops) and t.method.startswith("implicit")


SOME: dict[Callable[[Tried], None], Callable[[Tried], bool]] = {
    steps_converge: lambda t: t.s.is_smooth and not t.method.startswith("implicit,") and t.method != "implicit",
    turns_along: lambda t: True,
    parted_alike: lambda t: t.s.listed is not None and len(t.s.names) < 8,
    interpreted_alike: lambda t: hasattr(t.run.compiled.advance, "to") and t.method not in ADAPTIVE,
    slopes_agree: lambda t: not t.s.world.system().loops,
    ledger_only_watches: lambda t: not (t.method.startswith(("rosenbrock", "taylor")) or has_stiff_loops(t)),
    stepper_agrees: lambda t: t.method not in ADAPTIVE,
}
