"""The ledger: a world that mixes everything closes it, at the order of the scheme; every source says the truth."""

import numpy as np
import pytest
from world_models import NOTHING, G, close, mixed, order_of, rod

import poinsot as pt
from poinsot.run.ledger import COLUMNS
from poinsot.spatial import quaternion

ENERGY = COLUMNS.index("energy")


def inflow(run: pt.Run, source: str) -> np.ndarray:
    return run.ledger.inflow[run.ledger.sources.index(source)]


def test_mixed_world_closes_at_a_fine_step():
    """A free body, a mechanism, a particle net and springs between them."""
    run = mixed().simulate(1.0, 2e-4)
    assert run.ledger.relative_residual.max() < 1e-10
    assert run.data.energy.values[0] - run.data.energy.values[-1] > 0.01  # dampers took energy, and it is accounted for


def test_mixed_world_closes_at_the_order_of_the_scheme():
    world = mixed()
    for method, order, step in (("midpoint", 2, 4e-3), ("rk4", 4, 8e-3)):
        left = [world.simulate(0.8, h, method=method).ledger.residual for h in (step, step / 2, step / 4)]
        energy = np.abs([residual[ENERGY] for residual in left])
        angular = np.linalg.norm([residual[4:7] for residual in left], axis=-1)
        assert order_of(energy) > order - 0.3
        assert order_of(angular) > order - 0.3


def test_free_bodies_keep_momentum_to_rounding_at_any_step():
    """The default for free bodies: kicks that sum to zero, and free motion in between."""
    world = pt.World(gravity=NOTHING)
    world.add_body("a", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(3.0, 2.0, 0.5), velocity=(0.1, 0, 0))
    world.add_body("b", pt.Inertia.ellipsoid(1.0, (0.1, 0.2, 0.1)), position=(0.6, 0, 0.1))
    world.add_particle("c", 0.5, (0, 0.6, 0.1))
    world.add_spring("ab", "a", "b", 30.0, 0.3, 0.1, point_a=(0.05, 0.1, 0.1), point_b=(0, 0.1, 0))
    world.add_spring("bc", "b", "c", 10.0, 0.3, point_a=(0.1, 0, 0))
    run = world.simulate(5.0, 0.02)
    assert run.settings["method"] == "splitting4"
    start, drift = run.ledger.initial, run.ledger.residual
    close(drift[1:4], np.zeros(3), 1e-13)
    close(drift[4:7], np.zeros(3), 1e-13)
    assert np.linalg.norm(start[4:7]) > 0.05


def test_a_constant_force_brings_what_it_should():
    world = pt.World(gravity=NOTHING)
    world.add_particle("stone", 2.0, (1, 0, 0))
    world.add_force("push", "stone", (0, 3.0, 0))
    run = world.simulate(2.0, 1e-2)
    # P = F t; L = 1 m * F t; work = F * y(2) = 3 * (3/2 * 2^2 / 2)
    close(inflow(run, "push"), [0, 0, 6.0, 0, 0, 0, 6.0, 9.0], 1e-12)
    assert run.ledger.relative_residual.max() < 1e-13


def test_motor_work_and_supports():
    """A motor on the world: the inflow of its couple is through the support, that of its work through the motor."""
    world = pt.World(gravity=NOTHING)
    world.add_body("wheel", pt.Inertia.cylinder(2.0, 0.5, 0.1), joint=pt.revolute((0, 0, 1)))
    world.add_motor("motor", "wheel", 3.0)
    run = world.simulate(2.0, 1e-2)
    C = 0.5 * 2.0 * 0.5**2
    close(inflow(run, "motor")[ENERGY], 0.5 * C * (3.0 / C * 2.0) ** 2, 1e-12)
    close(inflow(run, "supports")[4:7], [0, 0, 6.0], 1e-12)
    assert run.ledger.relative_residual.max() < 1e-12


def roots() -> dict[str, pt.World]:
    """Worlds whose first joints carry something in a way of their own."""
    worlds = {}
    box, bob = pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), pt.Pose(p=(0, 0, -0.3)) @ pt.Inertia.box(1.0, (0.3, 0.2, 0.4))
    worlds["spring of a free joint"] = world = pt.World()
    spring = pt.free(stiffness=(2.0, 3.0, 4.0, 20.0, 30.0, 40.0), damping=0.1)
    world.add_body("box", box, joint=spring, position=(0.1, 0.2, 0.3), angular_velocity=(1, 2, 0))
    worlds["spring of a particle"] = world = pt.World()
    point = pt.Inertia(1.0, np.zeros(3), np.zeros((3, 3)))
    world.add_body("bob", point, joint=pt.translation(stiffness=40.0), position=(0.1, 0.2, 0.3))
    worlds["feedback on a free body"] = world = pt.World()
    world.add_body("craft", box, position=(0.1, 0.2, 0.3))
    world.add_feedback("autopilot", "craft", 5.0, 1.0, target=(1.0, 0, 0, 0, 0, 0, 0))
    worlds["particle pulled beside its centre"] = world = pt.World()
    world.add_particle("ball", 1.0, (0, 0, 1), (1, 0, 0))
    world.add_spring("s", "world", "ball", 20.0, 0.2, point_b=(0.1, 0.2, 0))
    worlds["particle with its mass off the origin"] = world = pt.World()
    beside = pt.Inertia(1.0, np.array([0.1, 0.2, 0.3]), np.eye(3))
    world.add_body("off", beside, joint=pt.translation(), velocity=(1, 2, 3))
    worlds["a load on what is fixed"] = world = pt.World()
    world.add_body("post", pt.Inertia.box(5.0, (0.1, 0.1, 2.0)), joint=pt.fixed(), placement=(1, 0, 0))
    world.add_body("lamp", pt.Inertia.sphere(0.5, 0.1), "post", placement=(0, 0, 1.0))
    world.add_particle("bird", 0.2, (1.5, 0, 0.5))
    world.add_spring("leash", "lamp", "bird", 5.0, 0.3, 0.1, point_a=(0.1, 0, 0))
    world.add_force("wind", "lamp", (1.0, 0, 0))
    worlds["a child on a free body"] = world = pt.World()
    world.add_body("bus", pt.Inertia.box(5.0, (0.4, 0.5, 0.6)), angular_velocity=(0.5, 1.0, 0.2), position=(1, 2, 3))
    arm = pt.revolute((1, 0, 0), damping=0.1, friction=0.05, armature=0.02, stiffness=1.0)
    world.add_body("panel", rod(1.0, 0.8), "bus", arm, (0.2, 0, -0.3), q=0.5)
    world.add_body("tip", pt.Inertia.sphere(0.3, 0.1), "panel", placement=(0, 0, -0.8))
    worlds["a spherical spring"] = world = pt.World()
    ball = pt.spherical(stiffness=3.0, damping=0.05)
    world.add_body("bob", bob, joint=ball, q=quaternion.exp(np.array([0.4, 0.5, 0.6])))
    worlds["a spherical spring of three stiffnesses"] = world = pt.World()
    ball = pt.spherical(stiffness=(1.0, 2.0, 3.0))
    world.add_body("bob", bob, joint=ball, q=quaternion.exp(np.array([0.4, 0.5, 0.6])))
    worlds["a planar spring"] = world = pt.World()
    plate = pt.planar((0, 0, 1), stiffness=(1.0, 5.0, 6.0))
    world.add_body("puck", pt.Inertia.cylinder(1.0, 0.2, 0.05), joint=plate, q=(0.5, 0.2, 0.1), v=(1, 0, 1))
    worlds["a mechanism in central gravity"] = world = pt.World(gravity=pt.CentralGravity(mu=3.0))
    world.add_body("hub", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(1.5, 0, 0), velocity=(0, 1.2, 0.3))
    world.add_body("boom", rod(0.5, 0.6), "hub", pt.universal((1, 0, 0), (0, 1, 0)), (0, 0, -0.15), q=(0.3, 0.1))
    worlds["a tower in central gravity"] = world = pt.World(gravity=pt.CentralGravity(mu=3.0))
    world.add_body("tower", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), joint=pt.fixed(), placement=(1, 0, 0))
    world.add_body("crane", rod(0.5, 0.6), "tower", pt.revolute((0, 1, 0)), (0, 0, 0.5), q=0.3)
    return worlds


@pytest.mark.parametrize("name", roots())
def test_whatever_carries_a_world_is_in_the_ledger(name):
    run = roots()[name].simulate(0.5, 2e-4, method="rk4")
    assert run.ledger.relative_residual.max() < 1e-9, f"\n{run.ledger}"


def test_ledger_prints_one_small_table():
    run = mixed().simulate(0.1, 1e-3)
    lines = str(run.ledger).splitlines()
    assert lines[0].startswith("conserved quantity")
    assert [line.split()[0] for line in lines[2:5]] == ["initial", "final", "change"]
    assert lines[-2].startswith("residual")
    assert lines[-1].startswith("relative residual")
    assert max(map(len, lines)) <= 120
    batch = mixed().simulate(0.1, 1e-3, vary={"box.mass": [1.0, 2.0]}, ledger=True)
    assert str(batch.ledger).startswith("the worst of 2, number ")


def test_a_force_that_hides_its_energy_shows():
    """A part that claims to do no work, but does, leaves a residual."""

    class Liar(pt.Force):
        def effect(self, scene: pt.Scene) -> pt.Effect:
            true = super().effect(scene)
            return pt.Effect(true.wrenches, power=np.zeros(()))

    world = pt.World(gravity=NOTHING)
    world.add_particle("stone", 2.0)
    world.add(Liar("push", "stone", (0, 3.0, 0)))
    with pytest.warns(pt.LedgerWarning, match="states a wrong power"):
        run = world.simulate(2.0, 1e-2)
    assert run.ledger.residual[ENERGY] == pytest.approx(9.0, rel=1e-12)
    assert run.ledger.relative_residual[3] == pytest.approx(1.0)


def test_gravity_work_is_stored_energy():
    world = pt.World()
    world.add_particle("stone", 2.0, (0, 0, 10.0))
    run = world.simulate(1.0, 1e-2)
    close(run.ledger.initial[ENERGY], 2.0 * G * 10.0, 1e-13)
    close(inflow(run, "gravity"), [0, 0, 0, -2.0 * G, 0, 0, 0, 0], 1e-13)
    assert run.ledger.relative_residual.max() < 1e-13
