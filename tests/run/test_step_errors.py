"""The ledger of implicit steps closes to rounding at any step: what the step itself adds has a row of its own."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import poinsot as pt
from poinsot.parts.element import Effect, Element

LONG = 5e-3


def pendulum(joint=None, **options):
    """Three links, at rest at one end, in motion."""
    world = pt.World(gravity=(0.3, -1, -9.81))
    world.add_body("a", pt.Inertia.box(1.0, (0.1, 0.2, 0.5)), joint=joint or pt.revolute((0, 1, 0)), **options)
    world.add_body("b", pt.Inertia.box(0.5, (0.1, 0.1, 0.4)), "a", pt.revolute((1, 0, 0)), (0, 0, -0.5), q=0.4, v=3.0)
    world.add_body("c", pt.Inertia.box(0.5, (0.2, 0.1, 0.3)), "b", pt.spherical(), (0, 0.1, -0.4), v=(1, 2, -3))
    return world


def springs_in_joints():
    joint = pt.revolute((0, 1, 0), stiffness=300.0, damping=0.2, friction=0.5)
    return pendulum(joint, q=0.5, v=-2.0)


def stopped():
    world = pendulum(q=0.5, v=5.0)
    world.add(pt.JointStop("a.stop", "a", stiffness=1e4, damping=0.5, lower=-0.2, upper=0.6))
    return world


def controlled():
    world = pendulum(q=0.5, v=5.0)
    world.add(pt.PD("a.pd", "a", kp=500.0, kd=3.0, target=-0.3, limit=40.0))
    return world


def flown():
    """A free tree with a reaction to its motion, springs between its bodies and to the world, and a thrust."""
    world = pendulum(pt.free(), v=(1, 2, 3, 0.5, 0.2, 0.1))
    world.add(pt.Spring("s", "a", "c", stiffness=1e4, rest_length=0.3, damping=2.0, point_a=(0.1, 0, 0)))
    world.add(pt.Spring("tether", "world", "b", stiffness=2e3, rest_length=0.5, point_b=(0, 0.1, 0)))
    world.add(pt.Force("push", "b", (3.0, 1.0, -2.0), point=(0.1, 0.2, 0.0), axes="body"))
    return world


def bent():
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_beam(pt.Beam("wing", 2.0, EI=300.0, GJ=100.0, mass_per_length=1.0, polar=0.02, n=3, damping=1e-3))
    return world


def crank():
    """A very stiff spring in a loop."""
    world = pt.World(gravity=(0, -9.81, 0))
    hinge = pt.revolute((0, 0, 1), stiffness=1e6, damping=1e3)
    world.add_body("crank", pt.Inertia.cylinder(2.0, 0.12, 0.05), joint=hinge, q=0.7, v=5.0)
    rod = pt.Inertia(0.5, (0.15, 0, 0), np.diag([1e-4, 4e-3, 4e-3]))
    world.add_body("rod", rod, "crank", pt.revolute((0, 0, 1)), (0.1, 0, 0), q=-1.0)
    world.add_body("piston", pt.Inertia.box(0.3, (0.05, 0.05, 0.05)), joint=pt.prismatic((1, 0, 0), damping=2.0), q=0.3)
    world.close("pin", "piston", "rod", pt.on_line((0, 0, 1)), placement_b=(0.3, 0, 0))
    return world


@cache
def tumbling():
    """A box thrown on a belt, with a second one on top, and a ball that is slowed by rolling and by spin."""
    world = pt.World()
    surface = pt.Material(1e4, 0.5, 0.4, torsion=0.01, rolling=0.005)
    world.add_ground(surface=surface, velocity=(0.7, 0.2, 0))
    spin = {"angular_velocity": (3, -8, 5), "velocity": (1, 0.5, -1)}
    world.add_body("box", pt.Inertia.box(1.0, (0.2, 0.3, 0.1)), position=(0, 0, 0.2), **spin)
    world.add_body("ball", pt.Inertia.sphere(0.5, 0.1), position=(0.02, 0.01, 0.45), **spin)
    world.collide("box", "ball", pt.Material(2e4, 0.2, 0.6))
    return world


def dropped():
    """A ball on a table, in a blow that such steps resolve."""
    world = pt.World()
    world.add_ground(surface=pt.Material(1e4, 0.5, 0.4))
    world.add_body("ball", pt.Inertia.sphere(0.5, 0.1), position=(0, 0, 0.1), velocity=(1, 0, -1))
    return world


def spun():
    """In central gravity, with a rotor that is driven and one held at its speed; they act by forces at the start."""
    world = pt.World(gravity=pt.CentralGravity(mu=20.0, centre=(0.5, 0, -3.0)))
    world.add_body("a", pt.Inertia.box(1.0, (0.1, 0.2, 0.5)), velocity=(1, 0.5, 0), angular_velocity=(2, -1, 3))
    world.add_body(
        "b", pt.Inertia.box(0.5, (0.1, 0.1, 0.4)), "a", pt.spherical(stiffness=2.0), (0, 0, -0.5), v=(1, 2, -3)
    )
    world.add(pt.Rotor("driven", axis=(1, 0, 0.5), inertia=2e-3, speed=60.0, torque=0.3, body="a"))
    world.add(pt.Rotor("held", axis=(0, 1, 0), inertia=1e-3, speed=-200.0, body="b"))
    return world


def parting():
    """A joint that lets go, with a spring that pushes the two bodies apart."""
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_body("a", pt.Inertia.box(1.0, (0.1, 0.2, 0.5)), velocity=(1, 0.5, 0), angular_velocity=(2, -1, 3))
    world.add_body("b", pt.Inertia.box(0.5, (0.1, 0.1, 0.4)), "a", pt.fixed(), (0, 0, -0.5))
    world.add(pt.When("apart", lambda t, scene: t - 0.1001, pt.Release("b", stiffness=200.0, stroke=0.05)))
    return world


WORLDS = [springs_in_joints, stopped, controlled, flown, bent, crank, tumbling, spun, parting]


def numerical(ledger):
    return ledger.inflow[..., ledger.sources.index("numerical"), :]


@pytest.mark.parametrize("make", [springs_in_joints, flown, dropped])
def test_what_the_step_adds_falls_with_it(make):
    world, steps = make(), (4e-5, 2e-5)
    coarse, fine = (np.abs(numerical(world.simulate(0.04, h, method="implicit", every=0.04).ledger)) for h in steps)
    at = coarse > 1e-9
    assert at[7]
    np.testing.assert_allclose(coarse[at] / fine[at], 2.0, rtol=0.1)


@dataclass(frozen=True, eq=False)
class Liar(Element):
    """A damper that states half of what it takes."""

    body: str = ""

    def bodies(self):
        return (self.body,)

    def effect(self, scene):
        V = scene[self.body].twist
        return Effect({self.body: -0.5 * V}, power=-0.25 * (V @ V))


class LyingSpring(pt.Spring):
    """A spring that states half of what its damper takes, in implicit steps as well."""

    def resisting(self, scene, h):
        true = super().resisting(scene, h)

        def taken(later, used):
            effect = true.taken(later, used)
            return replace(effect, power=0.5 * effect.power)

        return replace(true, taken=taken)


@dataclass(frozen=True, eq=False)
class Hoarder(Element):
    """A field that pulls all of the way, and states half of the energy that it stores."""

    body: str = ""

    def bodies(self):
        return (self.body,)

    def effect(self, scene):
        at = scene[self.body]
        return Effect({self.body: at.wrench(-8.0 * at.position)}, stored=0.5 * 4.0 * (at.position @ at.position))


def test_a_wrong_stored_energy_is_not_taken_for_the_step():
    """The other half of it is unexplained, but for the tangent of a step."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(1, 0, 0), velocity=(1, 2, 3))
    world.add(Hoarder("field", "ball"))
    with pytest.warns(pt.LedgerWarning, match="of the energy is unexplained"):
        run = world.simulate(0.1, 1e-3, method="implicit", every=0.1)
    p = run.data.position.sel(body="ball").values
    assert run.ledger.residual[7] == pytest.approx(-2.0 * (p[-1] @ p[-1] - p[0] @ p[0]), rel=0.02)


@pytest.mark.parametrize("kind", ["explicit", "resisting"])
def test_a_wrong_power_is_not_taken_for_the_step(kind):
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("box", pt.Inertia.box(1.0, (0.2, 0.3, 0.4)), velocity=(1, 2, 3), angular_velocity=(1, 0, 2))
    lies = [Liar("lie", "box"), LyingSpring("lie", "world", "box", stiffness=10.0, damping=2.0, rest_length=0.1)]
    world.add(lies[kind == "resisting"])
    with pytest.warns(pt.LedgerWarning, match="of the energy is unexplained"):
        ledger = world.simulate(0.5, 1e-3, method="implicit", every=0.5).ledger
    booked = ledger.inflow[ledger.sources.index("lie"), 7]
    assert ledger.residual[7] == pytest.approx(booked, rel=1e-9)  # the other half


def test_the_rows_of_a_contact_are_its_law():
    """Damping and sliding never add energy, and the belt does by what it carries along."""
    ledger = tumbling().simulate(0.3, LONG, method="implicit", every=0.1, ledger_tolerance=np.inf).ledger
    energy = dict(zip(ledger.sources, ledger.inflow[:, 7], strict=True))
    for touch in ("box-ground", "box-ball"):
        assert energy[f"{touch}.damping"] < 0
        assert energy[f"{touch}.sliding"] < 0
    assert energy["box-ground.turning"] != 0
    impulse = ledger.inflow[ledger.sources.index("box-ground"), 1:4]
    assert energy["box-ground"] == pytest.approx(impulse @ (0.7, 0.2, 0), rel=1e-12)


def test_a_run_is_the_same_with_and_without_ledger():
    one, other = (dropped().simulate(0.1, LONG, every=0.1, ledger=kept).data.q.values for kept in (True, False))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("make", WORLDS)
def test_the_ledger_closes_at_any_step(make):
    run = make().simulate(0.3, LONG, method="implicit", every=0.1, ledger_tolerance=np.inf)  # too long, for most
    assert np.all(run.ledger.relative_residual < 1e-12), run.ledger
    assert abs(numerical(run.ledger)[7]) > 1e-6  # and there is something to book
