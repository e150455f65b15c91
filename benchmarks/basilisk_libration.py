"""An orbit of a spacecraft that librates by the gravity gradient, by Basilisk and by Poinsot.

In an environment of its own: pip install bsk, then python benchmarks/basilisk_libration.py > libration.txt.
Then here: python benchmarks/basilisk_libration.py libration.txt
"""

import sys
from typing import Any

import numpy as np

MU, RADIUS, MASS = 3.986004415e14, 7.0e6, 200.0  # m^3/s^2, m, kg
INERTIA = (120.0, 100.0, 40.0)  # kg m^2 about roll, pitch and yaw
TILT, INCLINATION = 0.3, 0.4  # rad: far from small, so the equations are not linear
STEP, EVERY, DURATION = 1.0, 600.0, 6000.0  # s; an orbit takes 5829 s


def start() -> tuple[np.ndarray, ...]:
    """Position, velocity, orientation (w, x, y, z) and angular velocity in body axes; x of the body is forward, z down,
    and it is tilted about all three axes."""
    c, s, n = np.cos(INCLINATION), np.sin(INCLINATION), np.sqrt(MU / RADIUS**3)
    forward, down = np.array([0.0, c, s]), np.array([-1.0, 0.0, 0.0])
    turned = np.stack([forward, np.cross(down, forward), down], axis=1)
    a, b = np.cos(TILT), np.sin(TILT)
    tilt = np.array([[a, 0, b], [0, 1, 0], [-b, 0, a]]) @ np.array([[1, 0, 0], [0, a, -b], [0, b, a]])
    R = turned @ tilt
    w = 0.5 * np.sqrt(1 + np.trace(R))
    q = np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))])
    return RADIUS * -down, n * RADIUS * forward, q, R.T @ (n * np.cross(-down, forward))


def by_basilisk() -> np.ndarray:
    """Rows of time, position, orientation as a quaternion, and angular velocity."""
    from Basilisk.simulation import GravityGradientEffector, spacecraft
    from Basilisk.utilities import SimulationBaseClass, macros, simIncludeGravBody

    sim = SimulationBaseClass.SimBaseClass()
    sim.CreateNewProcess("process").addTask(sim.CreateNewTask("dynamics", macros.sec2nano(STEP)))
    craft, gravity = spacecraft.Spacecraft(), simIncludeGravBody.gravBodyFactory()
    earth = gravity.createEarth()
    earth.isCentralBody, earth.mu = True, MU
    gravity.addBodiesTo(craft)
    p, v, q, omega = start()
    craft.hub.mHub, craft.hub.r_BcB_B, craft.hub.IHubPntBc_B = MASS, [[0.0]] * 3, np.diag(INERTIA).tolist()
    craft.hub.r_CN_NInit, craft.hub.v_CN_NInit = p.tolist(), v.tolist()
    craft.hub.sigma_BNInit = [[x] for x in q[1:] / (1 + q[0])]
    craft.hub.omega_BN_BInit = [[x] for x in omega]
    gradient = GravityGradientEffector.GravityGradientEffector()
    gradient.addPlanetName(earth.planetName)
    craft.addDynamicEffector(gradient)
    sim.AddModelToTask("dynamics", craft, 2)
    sim.AddModelToTask("dynamics", gradient, 1)
    log = craft.scStateOutMsg.recorder(macros.sec2nano(EVERY))
    sim.AddModelToTask("dynamics", log, 0)
    sim.InitializeSimulation()
    sim.ConfigureStopTime(macros.sec2nano(DURATION))
    sim.ExecuteSimulation()
    sigma = np.array(log.sigma_BN)
    s2 = np.sum(sigma**2, axis=1, keepdims=True)
    turn = np.hstack([1 - s2, 2 * sigma]) / (1 + s2)
    return np.hstack([log.times()[:, None] * 1e-9, np.array(log.r_BN_N), turn, np.array(log.omega_BN_B)])


def by_poinsot() -> np.ndarray:
    """The same."""
    import poinsot as pt

    world, (p, v, q, omega) = pt.World(gravity=pt.CentralGravity(mu=MU)), start()
    inertia = pt.Inertia(MASS, np.zeros(3), np.diag(INERTIA))
    world.add_body("sat", inertia, position=p, velocity=v, orientation=q, angular_velocity=omega)
    sat: Any = (run := world.simulate(DURATION, STEP, every=EVERY, method="rk4"))["sat"]
    return np.hstack([run.time[:, None], sat.position, sat.orientation, sat.angular_velocity])


def main() -> None:
    if len(sys.argv) < 2:
        for row in by_basilisk():
            print(*map(repr, row.tolist()))
        return
    theirs, ours = np.loadtxt(sys.argv[1]), by_poinsot()
    q, r = theirs[:, 4:8], ours[:, 4:8]
    turn = 2 * np.sqrt(np.maximum(0, np.sum((r - np.sign(np.sum(q * r, 1))[:, None] * q) ** 2, axis=1)))
    rates = np.abs(theirs[:, 8:] - ours[:, 8:]).max()
    print(f"turned by up to {turn.max():.1e} rad, rates {rates:.1e} rad/s,", end=" ")
    print(f"places {np.abs(theirs[:, 1:4] - ours[:, 1:4]).max():.1e} m of Basilisk's")


if __name__ == "__main__":
    main()
