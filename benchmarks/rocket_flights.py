"""Flights of a model rocket with random motor, wind and cant: time of each, apogees, and where they land.

    python benchmarks/rocket_flights.py 100000                     # on one thread
    python benchmarks/rocket_flights.py 1000 --check               # how far the steps are off
    python benchmarks/rocket_flights.py 100000000 --device cuda    # needs NumPy and CuPy alone

Flights are drawn, flown and summarised chunk by chunk: memory does not grow with their number. RocketPy takes about
0.19 s for a flight of this kind.
"""

import argparse
import resource
import time
from typing import Any

import numpy as np

import poinsot as pt
from poinsot.run.result import outputs_of
from poinsot.study.reduced import Reduced

ROCKETPY = 0.19  # s per flight
LONGEST = 150.0  # s
OUTPUTS = {"apogee": "max(altitude)", "x": "final(position[0])", "y": "final(position[1])"}
VARY = {
    "rocket.motor.factor": pt.Normal(1.0, 0.03),
    "rocket.hull.fins[0].cant": pt.Normal(0.005, 0.002),
    "rocket.start.pitch": pt.Normal(1.5, 0.02),
    "air.winds[0].velocity[0]": pt.Normal(-3.0, 1.5),
    "air.winds[0].velocity[1]": pt.Normal(0.0, 1.5),
}
FINE = {"method": "rk4", "step": 0.0025}  # what the steps are compared with


def rocket() -> pt.World:
    """The rocket of examples/model-rocket.toml in a steady wind."""
    world = pt.World(gravity=(0, 0, -9.81), air=pt.US76(), wind=pt.SteadyWind((-3.0, 0.0, 0.0)))
    start = pt.Start(altitude=0.5, pitch=np.radians(88), velocity_ned=(0, 0, 0))
    body = world.add_body("rocket", pt.Inertia(0.9, (0, 0, 0), np.diag([7e-4, 0.09, 0.09])), start=start)
    fins = pt.Fins(at=0.95, root=0.11, tip=0.06, span=0.065, sweep=0.05, count=4, cant=np.radians(0.3))
    drag = pt.Table([0.0, 0.3, 0.6, 0.8], values=[0.46, 0.44, 0.45, 0.52], method="monotone")
    nose = pt.Nose(0.18, "ogive")
    body.add(pt.Barrowman("hull", diameter=0.054, nose=nose, fins=(fins,), drag=drag, tip=(0.55, 0, 0)))
    thrust = pt.Tabulated([0, 0.05, 0.3, 1.2, 1.7, 1.9], [0, 75, 90, 70, 50, 0])
    grains = {"mass": 0.062, "radius": 0.014, "bore": 0.004, "length": 0.06, "grains": 2, "gap": 0.002}
    body.add(pt.SolidMotor("motor", thrust=thrust, position=(-0.40, 0, 0), point=(-0.50, 0, 0), **grains))

    def falls(t: Any, scene: Any) -> Any:
        return (t > 3) & (scene["rocket"].velocity[2] < -9)

    body.add(pt.Parachute("parachute", CdS=0.6, point=(0.3, 0, 0), trigger=falls, inflation=0.8))
    return world


def landed(t: Any, scene: Any) -> Any:
    return (scene["rocket"].position[2] < 0.1) & (t > 2)


def report(done: Reduced, spent: float, clock: str) -> None:
    summary, n = done.summary, done.summary.n
    each = spent / n
    print(f"{n:,} flights, {1e3 * each:.4g} ms of {clock} each, {1 / each:,.0f} per second,", end=" ")
    print(f"{ROCKETPY / each:,.0f} times RocketPy; {summary.broken} broke down")
    for name in OUTPUTS:
        low, middle, high = summary.quantile(name, [0.025, 0.5, 0.975])
        spread = f"{summary.mean(name):.2f} +- {summary.std(name):.2f} m"
        print(f"{name}: {spread}, median {middle:.2f} m, 95 % from {low:.2f} to {high:.2f} m")
    lengths, axes = np.linalg.eigh(summary.covariance()[1:, 1:])
    major, minor = np.sqrt(lengths[::-1])
    turn = np.degrees(np.arctan2(axes[1, 1], axes[0, 1])) % 180
    print(f"landing ellipse of one sigma {major:.2f} x {minor:.2f} m, its long axis at {turn:.0f} deg from x")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def check(done: Reduced, n: int, options: dict[str, Any]) -> None:
    """The first flights once more, in steps that are fine."""
    numbers, off = done.job.numbers(0, n), []
    both = ({**options, "progress": False, "ledger": False, "every": LONGEST} | more for more in ({}, FINE))
    a, b = (outputs_of(done.job.world.simulate(LONGEST, vary=numbers, outputs=OUTPUTS, **asked)) for asked in both)
    off = [np.abs(a["apogee"] - b["apogee"]), np.hypot(a["x"] - b["x"], a["y"] - b["y"])]
    print(f"against steps of {1e3 * FINE['step']:g} ms ({n:,} flights): ", end="")
    words = zip(("apogee", "landing"), off, strict=True)
    print("; ".join(f"{name} off by {1e3 * np.median(x):.2g} mm, at most {1e3 * x.max():.2g} mm" for name, x in words))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flights", type=int, nargs="?", default=10_000)
    parser.add_argument("--method", default="adaptive5", help="or rk4, with --step 0.025")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="of adaptive steps")
    parser.add_argument("--step", type=float, default=0.5, help="[s]; the longest of adaptive steps")
    parser.add_argument("--chunk", type=int, help="flights side by side")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="compare with fine steps")
    given = parser.parse_args()
    on_gpu = given.device == "cuda"
    chunk = given.chunk or (2**20 if on_gpu else 2**13)
    pt.set_threads(given.threads)
    world = rocket()
    options = {"method": given.method, "tolerance": given.tolerance, "step": given.step, "until": landed}
    options["device"] = given.device

    def fly(flights: int, seed: int) -> Reduced:
        return pt.sweep_reduced(
            world, VARY, LONGEST, outputs=OUTPUTS, samples=flights, seed=seed, chunk=chunk, **options
        )

    fly(64, seed=2)  # compiles
    clock = time.perf_counter if on_gpu else time.process_time
    begin = clock()
    done = fly(given.flights, seed=1)
    report(done, clock() - begin, "wall clock" if on_gpu else f"processor time on {given.threads} thread(s)")
    if given.check:
        check(done, min(given.flights, 1000), options)


if __name__ == "__main__":
    main()
