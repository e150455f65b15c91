"""A fighter around the Earth with its controller, against JSBSim's; one thread."""

import re
import tomllib
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import f16_book as book
import poinsot as pt
from case import Case, Contender, Measured, Work, seconds
from poinsot.files.scenario import read_scenario

BATCH, STEP, STEPS, ALONE = 4096, 0.01, 100, 10_000
EXAMPLE = Path(__file__).parents[2] / "examples" / "fighter.toml"
AIRSPEED, ALTITUDE = 243.84, 1524.0  # m/s, m: 800 ft/s, 5000 ft
EARTH = '\n[earth]\nmodel = "wgs84"\ngravity = "J2"\ngradient = false\n'


@cache
def fighter() -> pt.World:
    """The fighter of the examples, in level flight over WGS-84 with J2: tables, engine, and formulas that fly it."""
    text = EXAMPLE.read_text()
    assert tomllib.loads(text)["body"][0]["name"] == "f16"
    text = text.replace("start = { altitude", "start = { latitude = 0.6, longitude = -1.3, altitude")
    text = text.replace('throttle = "0.2 if t < 5 else 1 if t < 35 else 0.2"', "throttle = 0.2")
    level = "0.5*y_axis[2]*z_axis[2] + "  # it holds for flat ground
    return read_scenario(text.replace(level, "") + EARTH).world


def flown(batch: int | None) -> Work:
    """The airspeed [m/s] after a second, of the first; the altitude varies over the batch."""
    world, steps = fighter(), STEPS if batch else ALONE
    heights = ALTITUDE + np.arange(batch or 1) * 0.01
    options = {"method": "rk4", "record": ["airspeed"], "every": STEP * STEPS, "ledger": False, "progress": False}
    vary = {"vary": {"f16.start.altitude": heights}} if batch else {}

    def work() -> np.ndarray:
        run = world.simulate(STEP * steps, STEP, **vary, **options)
        return run.data.airspeed.values[1].ravel()[:1]

    return work


def jsbsim_f16() -> Work:
    """One aircraft at a time, as it comes: 1/120 s steps, with its flight control system."""
    import jsbsim

    jsbsim.FGJSBBase().debug_lvl = 0
    plane = jsbsim.FGFDMExec(None)
    plane.set_debug_level(0)
    plane.load_model("f16")
    for name, value in {"h-sl-ft": 5000, "vt-kts": 800 * 0.592484, "lat-geod-deg": 34.4, "alpha-deg": 1.0}.items():
        plane[f"ic/{name}"] = value
    plane["propulsion/set-running"] = -1

    def work() -> np.ndarray:
        plane.run_ic()
        for _ in range(STEPS):
            plane.run()
        airspeed = np.array([plane["velocities/vt-fps"] * 0.3048])
        for _ in range(ALONE - STEPS):
            plane.run()
        return airspeed

    return work


def jsbsim_steps() -> Work:
    """The same, as if it went through the steps of a batch."""
    work = jsbsim_f16()
    return Measured(work, lambda: seconds(work) / ALONE * BATCH * STEPS)


def expected() -> np.ndarray:
    """It flies on, all but unchanged."""
    return np.array([AIRSPEED])


WHAT = "an F-16 around WGS-84 with J2, US76, its engine and controller, RK4"
CASES = (
    Case(
        name="f16-batch",
        what=f"{BATCH} of {WHAT}; per aircraft and step",
        items=BATCH * STEPS,
        contenders=(
            Contender("poinsot", lambda: flown(BATCH)),
            Contender("jsbsim f16, one", jsbsim_steps, ">= 25 x", "jsbsim", tolerance=0.1),
        ),
        expected=expected,
        tolerance=0.03,
    ),
    Case(
        name="f16-alone",
        what=f"{WHAT}, alone; per step",
        items=ALONE,
        contenders=(
            Contender("poinsot", lambda: flown(None)),
            Contender("jsbsim f16", jsbsim_f16, ">= 3 x", "jsbsim", tolerance=0.1),
        ),
        expected=expected,
        tolerance=0.03,
    ),
)


# Level flight at random speeds and altitudes.


@cache
def conditions() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {"airspeed": rng.uniform(120, 250, BATCH), "altitude": rng.uniform(0, 6000, BATCH)}


@cache
def hands_on() -> pt.World:
    """The fighter of the examples with its controls as inputs."""
    text = EXAMPLE.read_text()
    for name in ("elevator", "aileron", "rudder"):
        text = re.sub(rf'{name} = "clip.*"', f'{name} = "{name}"', text)
    controls = "throttle = { value = 0.2, limits = [0, 1] }\nelevator = 0\naileron = 0\nrudder = 0"
    text = text.replace('pitch_rate = "8 deg/s"', controls)
    text = text.replace('throttle = "0.2 if t < 5 else 1 if t < 35 else 0.2"', 'throttle = "throttle"')
    return read_scenario(re.sub(r"\[sweep\].*?\[air\]", "[air]", text, flags=re.S)).world


def trimmed(**asked: Any) -> Work:
    """The accelerations that are left, the largest of all."""

    def work() -> np.ndarray:
        return np.abs(hands_on().trim("level", vary=conditions(), **asked).residual).max(keepdims=True)[0]

    return work


def left(result: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(result).max())


LONGITUDINAL = {"free": ("alpha", "elevator", "throttle"), "zero": ("u", "w", "q")}
CASES += (
    Case(
        name="f16-trim",
        what=f"{BATCH} random conditions of an F-16 trimmed by `world.trim`, checks included; each",
        items=BATCH,
        contenders=(
            Contender("alpha, elevator, throttle, power", lambda: trimmed(**LONGITUDINAL), "<= 2 us"),
            Contender("all six accelerations", trimmed, "<= 2 us"),
        ),
        expected=lambda: np.zeros(1),
        tolerance=1e-9,
        error=left,
        unit="s",
    ),
)


# The derivative of the fighter of the book, as one function.


def lookups() -> SimpleNamespace:
    return SimpleNamespace(
        **{name: pt.Table(tuple(axes), values, outside="extrapolate") for name, (axes, values) in book.tables().items()}
    )


def by_kernel() -> Work:
    f = book.model(lookups(), np.where)
    derivative = pt.kernel("(14)->(12)")(lambda x: np.stack(f(*x)))
    x, out = book.states(BATCH), np.empty((BATCH, 12))
    return lambda: derivative(x, out=out)


def by_numba() -> Work:
    """The same source, with tables on even grids as functions of their own, in a loop over the batch."""
    import numba

    njit = numba.njit(fastmath=False, inline="always")
    select = njit(lambda condition, a, b: a if condition else b)
    found = {}
    for name, (axes, values) in book.tables().items():
        found[name] = _line(njit, axes[0], values) if len(axes) == 1 else _plane(njit, axes, values)
    f = numba.njit(book.model(SimpleNamespace(**found), select))

    @numba.njit
    def loop(x, out):  # type: ignore[no-untyped-def]
        for k in range(x.shape[0]):
            y = x[k]
            rates = f(y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11], y[12], y[13])
            for i in range(12):
                out[k, i] = rates[i]

    x, out = book.states(BATCH), np.empty((BATCH, 12))

    def work() -> np.ndarray:
        loop(x, out)
        return out

    return work


def _line(njit, axis, values):  # type: ignore[no-untyped-def]
    start, step, last, table = axis[0], axis[1] - axis[0], len(axis) - 2, np.ascontiguousarray(values)

    def look(x):  # type: ignore[no-untyped-def]
        s = (x - start) / step
        i = min(max(int(s), 0), last)
        return table[i] + (s - i) * (table[i + 1] - table[i])

    return njit(look)


def _plane(njit, axes, values):  # type: ignore[no-untyped-def]
    (x0, y0), (dx, dy) = (a[0] for a in axes), (a[1] - a[0] for a in axes)
    (nx, ny), table = (len(a) - 2 for a in axes), np.ascontiguousarray(values)

    def look(x, y):  # type: ignore[no-untyped-def]
        s, t = (x - x0) / dx, (y - y0) / dy
        i, j = min(max(int(s), 0), nx), min(max(int(t), 0), ny)
        a = table[i, j] + (t - j) * (table[i, j + 1] - table[i, j])
        b = table[i + 1, j] + (t - j) * (table[i + 1, j + 1] - table[i + 1, j])
        return a + (s - i) * (b - a)

    return njit(look)


def by_hand() -> np.ndarray:
    """Without a compiler."""
    f = book.model(lookups(), np.where)
    return np.stack(f(*book.states(BATCH).T), axis=-1)


CASES = (
    *CASES,
    Case(
        name="f16-derivative",
        what=f"the F-16 of Stevens and Lewis, 24 tables, {BATCH} states; per derivative",
        items=BATCH,
        contenders=(
            Contender("poinsot", by_kernel),
            Contender("numba, a loop", by_numba, ">= 2 x", "numba"),
        ),
        expected=by_hand,
        tolerance=1e-9,
    ),
)
