"""A thousand spacecraft with wheels, noisy sensors and feedback for 300 s; and tumbling ones against Basilisk."""

import functools

import numpy as np

import poinsot as pt
from case import Case, Contender, Measured, Work, seconds
from poinsot.body.exact import FreeTop
from poinsot.spatial import quaternion

BATCH, DURATION, STEP, FEW = 1000, 300.0, 0.1, 2
J, WHEEL, START, RATE = np.diag([10.0, 12.0, 8.0]), 0.02, (0.6, 0.0, 0.8, 0.0), (0.02, 0.0, 0.0)
KP, KD, NOISE, WALK = 0.05 * J, 0.3 * J, 1e-5, 1e-7


@functools.cache
def world() -> pt.World:
    made = pt.World(gravity=(0, 0, 0))
    made.add_body("craft", pt.Inertia(100.0, np.zeros(3), J), orientation=START, angular_velocity=RATE)
    made.add(pt.Sensor("gyro", "gyro", "craft", sample=STEP, noise=NOISE, random_walk=WALK))
    made.add(pt.Sensor("tracker", "star tracker", "craft", sample=5 * STEP, noise=NOISE))
    made.add(pt.QuaternionFeedback("law", "tracker.out", "gyro.out", kp=KP, kd=KD, sample=STEP))
    for k, axis in enumerate(np.eye(3)):
        torque = pt.Signal(f"law.torque[{k}]", -1.0)
        made.add(pt.Rotor(f"wheel{k}", "craft", axis=axis, inertia=WHEEL, torque=torque))
    return made


def one_call() -> Work:
    def work() -> np.ndarray:
        run = world().simulate(DURATION, STEP, batch=BATCH, every=DURATION, method="rk4", ledger=False)
        return run.data.angular_velocity.values[-1, :, 0]

    return work


def rate(q: np.ndarray, w: np.ndarray, speed: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, ...]:
    """(J - Jw) w' = -w x (J w + Jw speed) + u, Jw (speed' + w') = -u, for wheels along the axes."""
    alpha = np.linalg.solve(J - WHEEL * np.eye(3), u - np.cross(w, J @ w + WHEEL * speed))
    return quaternion.derivative(q, w), alpha, -u / WHEEL - alpha


def expected() -> np.ndarray:
    """The first instances in plain NumPy: the same noise by its keys, the law, and RK4."""
    return np.array([alone(k) for k in range(FEW)])


def alone(instance: int) -> np.ndarray:
    """The angular velocity of one instance at the end."""

    def normal(source: str, k: int) -> np.ndarray:
        numbers: np.ndarray = pt.noise.normal(pt.noise.key(source, 0, instance), k, 3)
        return numbers

    y, walk, h = (np.array(START), np.array(RATE), np.zeros(3)), np.zeros(3), STEP
    for k in range(round(DURATION / STEP)):
        if k % 5 == 0:
            seen = quaternion.product(y[0], quaternion.exp(NOISE / np.sqrt(5 * h) * normal("tracker.noise", k // 5)))
        omega = y[1] + walk + NOISE / np.sqrt(h) * normal("gyro.noise", k)
        walk = walk + WALK * np.sqrt(h) * normal("gyro.walk", k)
        u = -KP @ (np.where(seen[0] < 0, -1.0, 1.0) * seen[1:]) - KD @ omega
        slopes: list[tuple[np.ndarray, ...]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            at = y if not slopes else tuple(a + share * h * s for a, s in zip(y, slopes[-1], strict=True))
            slopes.append(rate(*at, u))
        y = tuple(a + h / 6 * (s[0] + 2 * s[1] + 2 * s[2] + s[3]) for a, *s in zip(y, *slopes, strict=True))
        y = (y[0] / np.linalg.norm(y[0]), *y[1:])
    return y[1]


def error(result: np.ndarray, wanted: np.ndarray) -> float:
    """The greatest error of the first instances [rad/s], relative to the rate at the start."""
    return float(np.abs(result[: len(wanted)] - wanted).max() / np.linalg.norm(RATE))


TUMBLE = {"mass": 750.0, "moments": (900.0, 800.0, 600.0), "rate": (0.001, -0.01, 0.03)}  # kg, kg m^2, rad/s
MANY, LONG = 4096, 600.0  # s


@functools.cache
def tumbler() -> pt.World:
    made = pt.World(gravity=(0, 0, 0))
    inertia = pt.Inertia(TUMBLE["mass"], np.zeros(3), np.diag(TUMBLE["moments"]))
    made.add_body("hub", inertia, angular_velocity=TUMBLE["rate"])
    return made


def tumbled(many: int) -> Work:
    """The angular velocity [rad/s] of the first at the end."""
    options = {"method": "rk4", "every": LONG, "ledger": False, "progress": False}
    vary = {"vary": {"hub.angular_velocity[2]": 0.03 + 1e-6 * np.arange(many)}} if many > 1 else {}

    def work() -> np.ndarray:
        run = tumbler().simulate(LONG, STEP, record=["angular_velocity"], **vary, **options)
        return run.data.angular_velocity.values[-1].reshape(-1, 3)[0]

    return work


def basilisk() -> Work:
    """Basilisk's RK4 at the same step, one spacecraft, without recording."""
    from Basilisk.simulation import spacecraft
    from Basilisk.utilities import SimulationBaseClass, macros

    sim, craft = SimulationBaseClass.SimBaseClass(), spacecraft.Spacecraft()
    sim.CreateNewProcess("process").addTask(sim.CreateNewTask("dynamics", macros.sec2nano(STEP)))
    craft.hub.mHub, craft.hub.IHubPntBc_B = TUMBLE["mass"], np.diag(TUMBLE["moments"]).tolist()
    craft.hub.r_CN_NInit, craft.hub.v_CN_NInit = [[0.0]] * 3, [[0.0]] * 3
    craft.hub.omega_BN_BInit = [[x] for x in TUMBLE["rate"]]
    sim.AddModelToTask("dynamics", craft)
    sim.InitializeSimulation()
    stretches = 0

    def work() -> np.ndarray:
        nonlocal stretches
        stretches += 1
        sim.ConfigureStopTime(macros.sec2nano(stretches * LONG))
        sim.ExecuteSimulation()
        return np.array(craft.scStateOutMsg.read().omega_BN_B)

    return work


def basilisk_in_turn() -> Work:
    """The same, as if it went through the batch."""
    work = basilisk()
    return Measured(work, lambda: seconds(work) * MANY)


def exact_rate() -> np.ndarray:
    """The free top in closed form."""
    top = FreeTop(np.diag(TUMBLE["moments"]), [1, 0, 0, 0], np.array(TUMBLE["rate"]))
    return np.asarray(top.angular_velocity(LONG))


CASES = (
    *(
        Case(
            name=f"spacecraft-tumbling-{'alone' if many == 1 else 'many'}",
            what=f"{many} spacecraft tumbling without torque for 600 s, RK4 in steps of 0.1 s; per step",
            contenders=(
                Contender("poinsot, world.simulate", functools.partial(tumbled, many)),
                Contender("Basilisk, ExecuteSimulation", theirs, peer="Basilisk"),
            ),
            expected=exact_rate,
            tolerance=1e-9,
            items=many * round(LONG / STEP),
        )
        for many, theirs in ((1, basilisk), (MANY, basilisk_in_turn))
    ),
    Case(
        name="control-spacecraft",
        what=f"{BATCH} spacecraft with wheels, noisy gyro and star tracker, sampled feedback, 300 s in one call",
        contenders=(Contender("poinsot, world.simulate", one_call, "<= 2 s"),),
        expected=expected,
        tolerance=1e-10,
        error=error,
    ),
)
