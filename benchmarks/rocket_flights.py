"""Flights of the model rocket with random motor, wind and cant on one thread: time of each, and where they land.

    python benchmarks/rocket_flights.py [flights [step in seconds]]

RocketPy takes about 0.19 s for a flight of this kind.
"""

import sys
import time
from pathlib import Path

import numpy as np

import poinsot as pt

OUTPUTS = {"apogee": "max(altitude)", "x": "final(position[0])", "y": "final(position[1])"}
STEP = 0.02  # s; against 5 ms the apogee is within 0.2 m, the landing within 0.7 m; the parachute opens at steps
VARY = {
    "rocket.motor.factor": pt.Normal(1.0, 0.03),
    "rocket.hull.fins[0].cant": pt.Normal(0.005, 0.002),
    "rocket.start.pitch": pt.Normal(1.5, 0.02),
    "air.winds[0].velocity[0]": pt.Normal(-3.0, 1.5),
    "air.winds[0].velocity[1]": pt.Normal(0.0, 1.5),
}


def main(flights: int, step: float) -> None:
    pt.set_threads(1)
    scenario = pt.load_scenario(Path(__file__).parents[1] / "examples" / "model-rocket.toml")
    world, until = scenario.world, scenario.options["until"]
    winds = pt.environment.AirMass(winds=(pt.SteadyWind((-3.0, 0.0, 0.0)),))
    description = world.description
    world = pt.World.of(
        type(description)(description.bodies, {**description.elements, "air": winds}, description.gravity)
    )
    options = {"until": until, "outputs": OUTPUTS, "every": 150.0, "ledger": False, "record": ["position"], "seed": 1}
    for batch in (8, flights):  # the first compiles
        begin = time.process_time()
        runs = world.simulate(150.0, step, batch=batch, vary=VARY, progress=False, **options)
        spent = time.process_time() - begin
    apogee, x, y = (runs.outputs[name].values for name in OUTPUTS)
    print(f"{flights:,} flights, {1e3 * spent / flights:.3f} ms each, {flights / spent:,.0f} per second on one thread")
    print(f"apogee {apogee.mean():.1f} +- {apogee.std():.1f} m, {len(runs.stop.notes)} broke down")
    lengths, axes = np.linalg.eigh(np.cov(x, y))
    major, minor, turn = *np.sqrt(lengths[::-1]), np.degrees(np.arctan2(axes[1, 1], axes[0, 1])) % 180
    print(f"landing at ({x.mean():.1f}, {y.mean():.1f}) m, ellipse of one sigma {major:.1f} x {minor:.1f} m,", end=" ")
    print(f"its long axis at {turn:.0f} deg from x; half land within {_median(x, y):.1f} m of the mean")


def _median(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.median(np.hypot(x - x.mean(), y - y.mean())))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, float(sys.argv[2]) if len(sys.argv) > 2 else STEP)
