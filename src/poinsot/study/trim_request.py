"""A trim as a user asks for it, by names, made a problem: checked before any work starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from poinsot._hints import hint
from poinsot._memo import memo
from poinsot._types import Array
from poinsot.parts.scene import MOUNT
from poinsot.study.flight_conditions import (
    EXTRA,
    OF_START,
    TURNING,
    Steady,
    aircraft_of,
    complete_start,
    find_kind,
    path_of,
    with_start,
)  # fmt: skip
from poinsot.study.trim_problem import TARGETS, TrimProblem, settling
from poinsot.world import Description, System
from poinsot.world.flight_start import Start
from poinsot.world.paths import entries, known
from poinsot.world.system import system_of

SPEEDS = ("airspeed", "mach")


@dataclass(frozen=True)
class Request:
    """The names of what is found (None: the usual), held, varied and shall vanish, in a trim of this kind."""

    kind: str
    body: str | None
    free: tuple[str, ...] | None
    hold: tuple[str, ...]
    vary: tuple[str, ...]
    zero: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Asked:
    """A problem, with its kind, the conditions by the names of the user, and the values that the kind itself holds."""

    problem: TrimProblem
    request: Request
    paths: Mapping[str, str]
    held: Mapping[str, float] = field(default_factory=dict)
    drifting: tuple[str, ...] = ()


@memo
def asked(description: Description, request: Request) -> Asked:
    """The problem that a request means in a world with this description."""
    kind = find_kind(request.kind)
    twice = [name for name in request.free or () if name in (*request.hold, *request.vary)]
    twice += [name for name in request.hold if name in request.vary]
    if twice:
        raise ValueError(f"{twice[0]!r} cannot be given twice: it is found, held, or varied.")
    return _at_rest(description, request) if kind is None else _in_flight(description, request, kind)


def _at_rest(description: Description, request: Request) -> Asked:
    """Everything rests: displacements of all joints are found."""
    given = tuple(dict.fromkeys((*request.hold, *request.vary)))
    numbers, joints = _numbers(description, request.free or ()), _joints(description, request)
    for name in given:
        _require_number(description, name)
    paths = tuple(path for path in given if path in known(description) or path.split("[")[0] in known(description))
    system = system_of(description, tuple(dict.fromkeys((*numbers, *paths))))
    states, drifting = settling(system, [system.start()])
    problem = TrimProblem(system, None, numbers, joints, tuple(states), paths, (), request.zero)
    names = entries(system.states)
    return _counted(Asked(problem, request, {p: p for p in paths}, {}, tuple(names[k] for k in drifting)))


def _in_flight(description: Description, request: Request, kind: Steady) -> Asked:
    body = aircraft_of(description, request.body)
    start = complete_start(description, body, kind, (*request.hold, *request.vary, *(request.free or ())))
    described = with_start(description, body, start)
    free, held, targets = _quantities(request, kind, start)
    if request.free is None and kind.inputs:
        taken = (*request.hold, *request.vary)
        free += [k for k in entries(description.inputs) if k not in taken and k.split("[")[0] not in taken]
    given = dict.fromkeys((*held, *request.hold, *request.vary, *(k for k in SPEEDS if getattr(start, k) is not None)))
    paths = {k: _path(described, start, body, k) for k in given if k not in targets and k not in free}
    paths |= {k: EXTRA + k for k in targets}
    inputs = {**described.inputs, **{EXTRA + k: np.zeros(()) for k in targets}}
    described = Description(described.bodies, described.elements, described.gravity, inputs)
    numbers = tuple(_path(described, start, body, k) for k in free)
    rates = f"{body}.start.rates"
    system = system_of(described, tuple(dict.fromkeys((*numbers, *paths.values(), rates))))
    starts = [system.start()]
    if request.kind == "ground":
        at = path_of(start, body, "altitude")
        starts += [system.start({at: ground_under(system, at) + k}) for k in np.linspace(0.0, 4.0, 17)]
    states, drifting = settling(system, starts)
    names = entries(system.states)
    states = [k for k in states if names[k] not in request.hold]
    joints = _joints(described, request, body)
    problem = TrimProblem(
        system, body, numbers, joints, tuple(states), tuple(dict.fromkeys(paths.values())), tuple(targets), request.zero
    )
    return _counted(Asked(problem, request, paths, held, tuple(names[k] for k in drifting)))


def _quantities(request: Request, kind: Steady, start: Start) -> tuple[list[str], dict[str, float], list[str]]:
    """The quantities of flight that are found, those that the kind holds with their values, and held targets."""
    given = (*request.hold, *request.vary)
    targets = [name for name in given if name in TARGETS]
    over_ground = start.velocity_ned is not None and not kind.standing
    usual = ["pitch"] if over_ground else list(kind.free)
    free = list(request.free) if request.free is not None else [k for k in usual if k not in given]
    held = {k: x for k, x in kind.hold.items() if k not in free and k not in given}
    if over_ground:
        held = {k: x for k, x in held.items() if k not in ("beta", "flight_path")}
    if request.kind in ("turn", "pull-up") and request.free is None:
        rate = "turn_rate" if request.kind == "turn" else "pitch_rate"
        ways = [rate, "load_factor", *(["roll"] if rate == "turn_rate" else [])]
        if not any(way in given for way in ways):
            raise ValueError(f"a {request.kind} needs one of {', '.join(ways)}: hold={{{ways[0]!r}: ...}}.")
        free += [] if rate in given else [rate]
    return free, held, targets


def _joints(description: Description, request: Request, body: str | None = None) -> tuple[int, ...]:
    """The entries of v of the joints that find their place: all but those of the body that flies, of joints that turn
    from the start on, and of those held."""
    system = system_of(description, ())
    start, mech, found = system.start(), system.mechanism, []  # type: ignore[var-annotated]
    for link, sv in zip(mech.links, mech.v_slices, strict=True):
        keeps = link.name == body or link.name.endswith(MOUNT) or f"{link.name}.q" in request.hold
        if not keeps and (body is None or not np.any(start.v[sv])):
            found += range(*sv.indices(mech.nv))
    return tuple(found)


def _numbers(description: Description, names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        _require_number(description, name)
    return tuple(names)


def _require_number(description: Description, name: str) -> None:
    whole = name.split("[")[0]
    if whole not in known(description) and name not in known(description):
        names = [*known(description), *OF_START, *TURNING, *TARGETS]
        raise ValueError(
            f"{name!r} is neither a number nor an input of the world, nor a quantity of flight{hint(name, names)}."
        )


def _path(description: Description, start: Start, body: str, name: str) -> str:
    """The path of a quantity of flight, an input or another number."""
    if name in (*OF_START, *TURNING):
        if name in OF_START and name not in ("altitude", "latitude", "longitude") and getattr(start, name) is None:
            has = [k for k in OF_START if getattr(start, k) is not None]
            raise ValueError(f"{name!r} does not go with the start of {body!r}, which has {', '.join(has)}.")
        return path_of(start, body, name)
    if name in TARGETS:
        raise ValueError(f"{name!r} can be held, but not found: free a number instead.")
    _require_number(description, name)
    return name


def _counted(asked: Asked) -> Asked:
    """An error if there are more unknowns than equations, or rows that do not exist."""
    problem = asked.problem
    names = list(problem.choice.values())
    for name in asked.request.zero:
        if name not in names:
            raise ValueError(
                f"zero={name!r} is not an acceleration of this trim{hint(name, names)}; there are {', '.join(names)}."
            )
    unknowns, rows = problem.unknowns, problem.row_names
    if not unknowns:
        raise ValueError("nothing is left to be found: free=... names inputs, angles or other numbers.")
    if len(unknowns) > len(rows):
        raise ValueError(
            f"{len(unknowns)} unknowns ({', '.join(unknowns)}) for {len(rows)} equations ({', '.join(rows)}): "
            "hold some, as in hold=('flaps',), or name those to be found, free=(...)."
        )
    return asked


def ground_under(system: System, altitude: str) -> float:
    """The altitude [m] of the ground under the start of a body, whose altitude is at this path."""
    scene, _ = system.scene(0.0, system.start())
    body = altitude.partition(".start.")[0]
    p = scene[body].position
    own = float(system.numbers[altitude])
    return own - float(scene.ground(p).clearance)


def packed(asked: Asked, values: Mapping[str, Array], n: int) -> Array:
    """The conditions c (n, m) from values by path, each (n, ...) or shared."""
    problem, columns = asked.problem, []
    for path in problem.given:
        core = np.shape(problem.system.numbers[path])
        x = np.asarray(values.get(path, problem.system.numbers[path]), dtype=float)
        columns.append(np.broadcast_to(x, (n, *core)).reshape(n, int(np.prod(core))))
    return np.concatenate(columns, axis=1) if columns else np.zeros((n, 1))
