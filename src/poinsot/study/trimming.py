"""Find steady flight, hover, rest: `world.trim`. Newton from several first guesses; what fails says why."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.run.continuing import RunState
from poinsot.run.drawing import draw
from poinsot.study.flight_conditions import BOUNDS, LONGEST, Steady, aircraft_of, find_kind
from poinsot.study.newton import Equations, solve
from poinsot.study.relaxation import relaxed
from poinsot.study.trim_problem import short
from poinsot.study.trim_request import SPEEDS, Asked, Request, asked, ground_under, packed
from poinsot.study.trimmed import Trim, TrimError
from poinsot.world import World, paths
from poinsot.world.paths import entries
from poinsot.world.start_checks import checked_limits

ALPHAS = (0.02, 0.12, 0.3, 0.55)  # rad: first guesses
TURNING_GUESS = {"roll": 0.6, "turn_rate": 0.06}  # rad, rad/s
TOLERANCE = 1e-10  # m/s^2, rad/s^2, 1/s
FARTHEST = 40.0  # times the speed: how far to look for one that can be flown


@dataclass(frozen=True)
class TrimStart:
    """A trim as the start of many runs: `simulate(..., start=trim, vary=...)` finds one for the numbers of each.

    It is what was asked of `trim`, as plain data: it goes to other processes, and tells one sweep from another.
    """

    kind: str
    free: tuple[str, ...] | None = None
    hold: tuple[tuple[str, float | None], ...] = ()
    zero: tuple[str, ...] = ()
    body: str | None = None
    limits: tuple[tuple[str, tuple[float, float]], ...] = ()
    tolerance: float = TOLERANCE

    def run_start(
        self, world: World, vary: Mapping[str, Any], inputs: Mapping[str, Any], batch: int | None, seed: int | None
    ) -> tuple[RunState, dict[str, Array], int | None]:
        """The state to start from, the varied numbers as they were drawn, and how many instances there are.

        Instances for which no trim is found have broken down at the start.
        """
        numbers, n = draw(world.system(tuple(vary)), vary, batch, seed)
        return self.for_numbers(world, numbers, inputs, n).run_state_with(numbers), numbers, n

    def for_numbers(self, world: World, numbers: Mapping[str, Array], inputs: Mapping[str, Any], n: int | None) -> Trim:
        """The trims with these numbers, by path, of one instance or n, and with these inputs, if they are constant and
        not what is found."""
        kind = find_kind(self.kind)
        body = None if kind is None else aircraft_of(world.description, self.body)
        given = {short(path, body): x for path, x in numbers.items()}
        given |= {k: x for k, x in inputs.items() if not self._finds(kind, k) and not (callable(x) or type(x) is tuple)}
        hold: dict[str, Any] = {name: x for name, x in self.hold if name not in given}
        if n is None:
            hold, given = hold | given, {}
        return trim(
            world, self.kind, free=self.free, hold=hold, zero=self.zero, vary=given, batch=n, body=self.body,
            limits=dict(self.limits), tolerance=self.tolerance, explain=n is None,
        )  # fmt: skip

    def _finds(self, kind: Steady | None, name: str) -> bool:
        """Whether an input is found."""
        if self.free is not None:
            return any(free.split("[")[0] == name for free in self.free)
        return kind is not None and kind.inputs and name not in dict(self.hold)


def trim(
    world: World,
    kind: str = "level",
    *,
    free: Sequence[str] | None = None,
    hold: Mapping[str, Any] | Sequence[str] | None = None,
    zero: Sequence[str] = (),
    vary: Mapping[str, Any] | None = None,
    batch: int | None = None,
    seed: int | None = None,
    body: str | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    tolerance: float = TOLERANCE,
    explain: bool = True,
) -> Trim:
    """The inputs and the state in which a world moves steadily, or rests.

    kind: "level", "climb" (at the flight_path of the start), "turn" and "pull-up" (hold a turn_rate or pitch_rate
    [rad/s], or a load_factor; a turn also by its roll), "ground" (on its gear), "hover"; "rest" is the equilibrium of
    any world. Steady means: relative to the air and to north-east-down, which moves along.
    free: what is found: airspeed, alpha, beta, pitch, roll, heading, flight_path, altitude, turn_rate, pitch_rate,
    inputs, or paths of numbers. By default the angles of the kind and all inputs. Joints, and states of parts whose
    rates depend on themselves, find their places in any case.
    hold: values of these by name; or names alone, which keep their values. zero: the accelerations that shall
    vanish, of u, v, w, p, q, r; at rest, of joints; by default all.
    vary: conditions by name, with one value per instance, or distributions. limits: of inputs and other unknowns,
    beside those of the world's inputs.
    tolerance: below which rates [m/s^2, rad/s^2, 1/s] count as zero.
    A single trim that is not found is a `TrimError`, of many they are a warning, unless `explain` is false, and marked
    in the result.
    """
    held, known = dict(hold) if isinstance(hold, Mapping) else dict.fromkeys(_names(hold or ())), dict(limits or {})
    names = (None if free is None else _names(free), tuple(held), tuple(vary or ()), _names(zero))
    if not (_is_finite(tolerance) and tolerance > 0):
        raise ValueError(f"tolerance={tolerance!r} must be above zero.")
    problem = asked(world.description, request := Request(kind, None if body is None else str(body), *names))
    c, n = _conditions(problem, held, vary or {}, batch, seed)
    made = TrimStart(kind, names[0], tuple(held.items()), names[3], request.body, tuple(known.items()), tolerance)
    result = _found(world, problem, c, n, made)
    return _explained(result) if explain else result


def _names(names: Sequence[str]) -> tuple[str, ...]:
    found = (names,) if isinstance(names, str) else tuple(names)
    if strange := [name for name in found if not isinstance(name, str)]:
        raise ValueError(f"{strange[0]!r} is not a name; give names, such as 'alpha' or 'elevator'.")
    return found


def _found(world: World, asked: Asked, c: Array, n: int | None, made: TrimStart) -> Trim:
    """The trims at conditions c (b, m)."""
    equations = _equations(asked, world, dict(made.limits))
    z, r, tried = _solved(asked, equations, c, made.tolerance)
    return Trim(world, asked, equations, z, c, r, made.tolerance, tried, n, made)


def _explained(result: Trim) -> Trim:
    """The same; where a trim was not found, an error, or a warning if there are many."""
    if not result.converged.all():
        text = _reason(result.asked, result.equations, result)
        if result.batch is None:
            raise TrimError(text)
        warnings.warn(text, stacklevel=4)
    return result


def _conditions(
    asked: Asked, hold: Mapping[str, Any], vary: Mapping[str, Any], batch: int | None, seed: int | None
) -> tuple[Array, int | None]:
    """The conditions c (b, m), and how many instances there are; None for one."""
    system = asked.problem.system
    values: dict[str, Any] = {asked.paths[k]: x for k, x in asked.held.items() if k in asked.paths}
    given = {asked.paths.get(k, k): x for k, x in hold.items() if x is not None and k in asked.paths}
    varied = {asked.paths[k]: x for k, x in vary.items()}
    for name, x in hold.items():
        if x is not None and not _is_finite(x):
            raise ValueError(f"hold {name!r} at a finite number, not {x!r}; vary={{...}} takes one per instance.")
    drawn, n = draw(system, {**given, **varied}, batch, seed)
    return packed(asked, values | drawn, 1 if n is None else n), n


def _is_finite(x: Any) -> bool:
    try:
        return not isinstance(x, str) and np.ndim(x) == 0 and bool(np.isfinite(float(x)))
    except (TypeError, ValueError):
        return False


def _equations(asked: Asked, world: World, limits: Mapping[str, tuple[float, float]]) -> Equations:
    """The equations, with the limits of the unknowns."""
    problem = asked.problem
    known = world.input_limits | dict(limits)
    for name in limits:
        if name not in problem.unknowns and name not in world.description.inputs:
            raise ValueError(f"limits of {name!r}, which is not found{hint(name, problem.unknowns)}.")
    lower, upper, longest = [], [], []
    for name in problem.unknowns:
        bound = BOUNDS.get(name, np.inf)
        low, high = checked_limits(name, known.get(name, known.get(name.split("[")[0], (-bound, bound))))
        width = 0.3 * (high - low) if np.isfinite(high - low) else np.inf
        lower.append(low)
        upper.append(high)
        longest.append(LONGEST.get(name, 0.5 if name.endswith("displaced") else width))
    bounds = (tuple(lower), tuple(upper), tuple(longest))
    return _kept(asked, bounds)


def _kept(asked: Asked, bounds: tuple[tuple[float, ...], ...]) -> Equations:
    known: dict[Any, Equations] = asked.__dict__.setdefault("_equations", {})
    if bounds not in known:
        known[bounds] = asked.problem.equations(*map(np.array, bounds))
    return known[bounds]


def _own(asked: Asked) -> Array:
    """The first guess (n,): the numbers of the world itself."""
    problem = asked.problem
    numbers = [float(paths.read(problem.system.description, path)) for path in problem.numbers]
    if asked.request.kind == "turn":  # to the right
        names = [(k, TURNING_GUESS.get(problem.unknowns[k], 0.0)) for k in range(len(numbers))]
        numbers = [guess if guess and not numbers[k] else numbers[k] for k, guess in names]
    parts = problem.system.start().parts
    return np.array([*numbers, *np.zeros(len(problem.joints)), *(parts[k] for k in problem.states)])


def _guesses(asked: Asked, equations: Equations, c: Array) -> Iterator[Array]:
    """First guesses (b, n), one after another."""
    own, names = np.broadcast_to(_own(asked), (len(c), equations.unknowns)), asked.problem.unknowns
    if asked.request.kind == "ground" and "altitude" in names:
        own = _lowered(asked, equations, own.copy(), c)
    if asked.problem.body is None and asked.problem.joints:
        yield _come_to_rest(asked, equations, own, c)
    yield own
    low, high = equations.lower, equations.upper
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = np.where(bounded, 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)), own)
    inputs = [k for k, name in enumerate(names) if name in entries(asked.problem.system.inputs)]
    for alpha in ALPHAS if "alpha" in names else ():
        guess = own.copy()
        guess[:, names.index("alpha")] = alpha
        guess[:, inputs] = middle[:, inputs]
        yield guess
    if not asked.problem.body:
        for scale in (0.1, 1.0):
            yield own + scale * np.random.default_rng(1).uniform(-1, 1, own.shape)


def _come_to_rest(asked: Asked, equations: Equations, z: Array, c: Array) -> Array:
    """A guess near a stable equilibrium."""
    problem = asked.problem
    names = [f"{problem.coordinates[k]}'" for k in problem.joints]
    pairs = [(k, problem.row_names.index(x)) for k, x in enumerate(names) if x in problem.row_names]
    columns, rows = (np.array(x, dtype=int) for x in zip(*pairs, strict=True))
    near = z.copy()
    near[:, len(problem.numbers) + columns] += 1e-4 * np.cos(np.arange(len(columns)))
    return relaxed(equations, near, c, len(problem.numbers) + columns, rows)


def _lowered(asked: Asked, equations: Equations, z: Array, c: Array) -> Array:
    """The guess at the altitude at which what it stands on carries its weight, by bisection."""
    names, rows = asked.problem.unknowns, asked.problem.row_names
    k, row = names.index("altitude"), rows.index("w") if "w" in rows else 0

    def falls(z: Array) -> Array:
        return equations.values(z, c)[:, row] > 0

    ground = ground_under(asked.problem.system, asked.problem.numbers[k])
    high, low, open_ = z[:, k].copy(), z[:, k].copy(), np.ones(len(z), bool)
    for altitude in ground + np.linspace(20.0, 0.0, 401):
        trial = z.copy()
        trial[:, k] = altitude
        down = falls(trial)
        high, low = np.where(open_ & down, altitude, high), np.where(open_, altitude, low)
        open_ &= down
    for _ in range(40):
        trial = z.copy()
        trial[:, k] = 0.5 * (high + low)
        down = falls(trial)
        high, low = np.where(down, trial[:, k], high), np.where(down, low, trial[:, k])
    z[:, k] = np.where(open_, z[:, k], low)
    return z


def _solved(asked: Asked, equations: Equations, c: Array, tolerance: float) -> tuple[Array, Array, int]:
    """z (b, n), residuals (b, k), and how many first guesses were tried."""
    z, r = np.zeros((len(c), equations.unknowns)), np.full((len(c), equations.count), np.inf)
    tried = 0
    for guess in _guesses(asked, equations, c):
        open_ = ~(np.abs(r).max(axis=1) < tolerance)
        if not open_.any():
            break
        tried += 1
        found, left = solve(equations, guess[open_], c[open_], tolerance)
        with np.errstate(all="ignore"):
            better = np.sum(left**2, axis=1) < np.sum(r[open_] ** 2, axis=1)
        at = np.flatnonzero(open_)[better]
        z[at], r[at] = found[better], left[better]
        if tried == 1:
            first = ~np.isfinite(r).all(axis=1)
            z[first] = guess[first]
    return z, r, tried


def _reason(asked: Asked, equations: Equations, result: Trim) -> str:
    """Why trims were not found: the first of them in words."""
    failed = np.flatnonzero(~np.atleast_1d(result.converged))
    k = int(failed[0])
    many = "" if result.batch is None else f"{len(failed)} of {len(result.z)} trims were not found; the first, {k}: "
    text = many + result.left(k)
    for speed in SPEEDS:
        path = asked.paths.get(speed)
        if asked.problem.body and path in asked.problem.given:
            text += " " + _reachable(asked, equations, result, k, speed, path)
    return text


def _reachable(asked: Asked, equations: Equations, result: Trim, k: int, speed: str, path: str) -> str:
    """The speed nearest to the one that failed at which a trim was found."""
    column = list(asked.problem.given).index(path)  # all conditions in front of it are numbers
    column = sum(int(np.prod(np.shape(asked.problem.system.numbers[p]))) for p in asked.problem.given[:column])
    V, unit = result.c[k, column], " m/s" if speed == "airspeed" else ""
    own = max(V, float(asked.problem.system.numbers[path]), 1e-3)
    lowest, highest = max(V, 1e-3 * own), FARTHEST * own

    def found(speeds: Array) -> Array:
        c = np.repeat(result.c[k : k + 1], len(speeds), axis=0)
        c[:, column] = speeds
        r = _solved(asked, equations, c, result.tolerance)[1]
        return np.abs(r).max(axis=1) < result.tolerance

    for word, far in (("least", highest), ("greatest", lowest / FARTHEST)):
        near, grid = lowest, np.geomspace(lowest, far, 96)[1:]
        ok = found(grid)
        if ok.any():
            first = int(np.argmax(ok))
            near, far = (grid[first - 1] if first else near), grid[first]
            for _ in range(3):
                fine = np.linspace(near, far, 17)[1:]
                ok = found(fine)
                at = int(np.argmax(ok)) if ok.any() else len(fine) - 1
                near, far = (fine[at - 1] if at else near), fine[at]
            unit_of_last = 10.0 ** (np.floor(np.log10(far)) - 4)  # the one told is found as well: rounded to that side
            told = (np.ceil if word == "least" else np.floor)(far / unit_of_last) * unit_of_last
            return f"The {word} {speed} found is {told:.5g}{unit}."
    return f"No {speed} from {lowest / FARTHEST:.3g} to {highest:.3g}{unit} was found to do."
