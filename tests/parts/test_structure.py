"""Internal loads against statics and closed forms, and limits that warn, stop and separate."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt

G = 9.81


def wall(**body: object) -> pt.World:
    """A fixed post, and a body on it."""
    world = pt.World()
    world.add_body("post", pt.Inertia.box(10.0, (0.1, 0.1, 1.0)), joint=pt.fixed())
    world.add_body("arm", pt.Inertia.box(6.0, (2.0, 0.1, 0.1)), "post", placement=pt.Pose(p=(1.0, 0, 0)), **body)
    return world


@cache
def plane(then: str = "warn", rise: float = 4.0, bending: float = 30e3) -> pt.World:
    """A fuselage with two wings, under a lift that grows for a second."""
    world = pt.World()
    hull = world.add_body(
        "hull", pt.Inertia.box(800.0, (6.0, 1.2, 1.2)), velocity=(60.0, 0, 0), angular_velocity=(0.1, 0.2, 0)
    )
    for name, side in (("left", 1.0), ("right", -1.0)):
        wing = world.add_body(name, pt.Inertia.box(60.0, (1.2, 4.0, 0.2)), hull, placement=(0, 2.6 * side, 0))

        def lift(t, scene, side=side):
            return np.stack([0.0 * t, 0.0 * t, 4500.0 * (1 + (rise + 0.2 * side) * np.minimum(t, 1.0))])

        world.add_force(f"{name}_lift", name, lift, axes="body")
        wing.add(pt.Cut("root", at=(0, -2.0 * side, 0), axis=(0, side, 0)))
        wing.add(pt.Limit("limit", cut="root", bending=bending, then=then))
    return world


# Loads.


def test_cantilever_at_rest():
    """Shear m g, bending m g l/2 at the root; and from a quarter on, a quarter less of both arms."""
    world = wall()
    world.add_force("tip", "arm", (50.0, 0.0, -20.0), point=(1.0, 0, 0))
    world.add(pt.Cut("root", "arm", at=(-1.0, 0, 0)))
    outer = pt.Pose(p=(0.5, 0, 0)) @ pt.Inertia.box(3.0, (1.0, 0.1, 0.1))
    world.add(pt.Cut("middle", "arm", piece=outer, carries=("tip",)))
    shown = {name: world.motion().effects[name].shown for name in ("root", "middle")}
    expected = {
        "root": {"axial": 50.0, "shear": 6 * G + 20, "bending": 6 * G + 40, "torsion": 0.0},
        "middle": {"axial": 50.0, "shear": 3 * G + 20, "bending": 1.5 * G + 20, "torsion": 0.0},
    }
    for name, values in expected.items():
        for key, value in values.items():
            assert shown[name][key] == pytest.approx(value, rel=1e-12, abs=1e-11), (name, key)


def test_axial_force_of_a_spinning_rod():
    """Axial force mu omega^2 (l^2 - x^2)/2 at x, of a rod of half length l, mu [kg/m], rotating about its centre."""
    rod = sum((pt.Pose(p=(x, 0, 0)) @ pt.Inertia.box(0.5, (0.5, 0.1, 0.1)) for x in np.arange(-1.75, 2, 0.5)), 0)
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("rod", rod, angular_velocity=(0, 0, 7.0))
    for k, x in enumerate((0.0, 0.5, 1.0, 1.5)):
        world.add(pt.Cut(f"cut{k}", "rod", at=(x, 0, 0), piece=pt.beyond(rod, (1, 0, 0), x)))
    m = world.motion()
    for k, x in enumerate((0.0, 0.5, 1.0, 1.5)):
        assert m.effects[f"cut{k}"].shown["axial"] == pytest.approx(49.0 * (4 - x**2) / 2, rel=1e-13)
        assert m.effects[f"cut{k}"].shown["bending"] == pytest.approx(0.0, abs=1e-12)


def test_cut_through_a_body_is_the_cut_through_a_joint():
    """One body with a virtual cut; or two bodies, fixed to each other there. With a tank, rotor, force and child."""
    inner, outer = pt.Inertia.box(5.0, (1.0, 0.3, 0.2)), pt.Pose(p=(1.0, 0, 0)) @ pt.Inertia.box(3.0, (1.0, 0.2, 0.1))
    start = {"angular_velocity": (0.7, -1.2, 0.4), "velocity": (1.0, 2.0, 0.0)}
    parts = (
        pt.Tank("tank", contents=2.0, position=(1.2, 0.1, 0.0)),
        pt.Rotor("rotor", axis=(0, 1, 0), inertia=0.01, speed=300.0),
        pt.Force("push", value=(3.0, -2.0, 5.0), point=(1.3, 0, 0.1), axes="body"),
    )

    def child(world: pt.World, parent: object) -> None:
        world.add_body(
            "flap", pt.Inertia.box(0.5, (0.2, 0.2, 0.02)), parent, pt.revolute((0, 1, 0)), (1.5, 0, 0), v=[3.0]
        )

    one = pt.World()
    body = one.add_body("body", inner + outer, **start)
    for part in parts:
        body.add(part)
    child(one, body)
    carries = ("body.tank", "body.rotor", "body.push", "flap")
    body.add(pt.Cut("cut", at=(0.5, 0, 0), piece=outer, carries=carries))
    two = pt.World()
    two.add_body("inner", inner, **start)
    body = two.add_body("outer", outer, "inner")
    for part in parts:
        body.add(part)
    child(two, body)
    body.add(pt.Cut("cut", at=(0.5, 0, 0)))
    a, b = one.motion().effects["body.cut"].shown, two.motion().effects["outer.cut"].shown
    np.testing.assert_allclose(a["wrench"], b["wrench"], rtol=1e-12, atol=1e-11)
    run = one.simulate(0.5, 1e-3)
    np.testing.assert_allclose(run.data["body.cut.shear"][0], a["shear"], rtol=1e-12)


def test_cut_through_a_moving_joint():
    """A pendulum that starts level: the hinge carries m g/4 and no moment about its axis."""
    world = pt.World()
    world.add_body("rod", pt.Inertia.rod(2.0, 1.0).in_frame(pt.Pose.from_euler([0, np.pi / 2, 0], p=(0, 0, -0.5))),
                   joint=pt.revolute((0, 1, 0)))  # fmt: skip
    world.add(pt.Cut("hinge", "rod", axis=(0, 1, 0)))
    shown = world.motion().effects["hinge"].shown
    assert shown["shear"] == pytest.approx(2.0 * G / 4, rel=1e-12)
    assert shown["torsion"] == pytest.approx(0.0, abs=1e-13)


# Limits.


def test_limit_latches_at_its_time():
    """A force at the tip, 2 m out, that grows with 10 N/s reaches the last 10 N m at t = 0.5 s, between records."""
    world = wall()
    world.add_force("tip", "arm", lambda t, scene: np.stack([0.0 * t, 0.0 * t, -10.0 * t]), point=(1.0, 0, 0))
    world.add(pt.Cut("root", "arm", at=(-1.0, 0, 0)))
    world.add(pt.Limit("limit", cut="root", bending=6 * G + 10.0, shear=1e4))
    with pytest.warns(pt.LimitWarning, match="root"):
        run = world.simulate(0.9, 1e-3, every=0.3)
    found = run.limits["limit"]
    assert found["latched"] == 1
    assert found["latched_at"] == pytest.approx(0.5, abs=1e-12)
    assert found["worst"] == pytest.approx((6 * G + 18.0) / (6 * G + 10.0), rel=1e-13)
    assert found["worst_at"] == pytest.approx(0.9)
    assert "bending" in str(run.limits)
    np.testing.assert_allclose(run.data["limit.margin"], 1 - (6 * G + 20 * run.time) / (6 * G + 10.0), atol=1e-13)


def test_worst_moment_between_records():
    """A pulse of 20 ms, between two records, is detected at its time."""
    world = wall()
    blow = pt.Tabulated([0.0, 0.504, 0.514, 0.524], [[0, 0, 0], [0, 0, 0], [0, 0, -100.0], [0, 0, 0]])
    world.add_force("tip", "arm", blow, point=(1.0, 0, 0))
    world.add(pt.Cut("root", "arm", at=(-1.0, 0, 0)))
    world.add(pt.Limit("limit", cut="root", shear=1000.0))
    run = world.simulate(1.0, 1e-3, every=0.25)
    assert run.limits["limit"]["worst"] == pytest.approx((6 * G + 100) / 1000, rel=1e-12)
    assert run.limits["limit"]["worst_at"] == pytest.approx(0.514)
    assert run.limits["limit"]["latched"] == 0


def test_a_load_that_is_worst_at_the_start():
    """A force that fades: the first instant counts, and a limit that is exceeded then releases at once."""
    world = wall()
    world.add_force("tip", "arm", lambda t, scene: np.stack([0.0 * t, 0.0 * t, -100.0 * np.exp(-t)]), point=(1.0, 0, 0))
    world.add(pt.Cut("root", "arm", at=(-1.0, 0, 0)))
    world.add(pt.Limit("limit", cut="root", shear=1000.0))
    world.add(pt.Limit("weak", "arm", cut="root", shear=100.0, then="part"))
    run = world.simulate(0.1, 1e-3)
    assert run.limits["limit"]["worst"] == pytest.approx((6 * G + 100) / 1000, rel=1e-12)
    assert run.limits["limit"]["worst_at"] == 0
    assert (run.limits["weak"]["latched"], run.limits["weak"]["latched_at"]) == (1, 0)
    np.testing.assert_allclose(run["arm"].velocity.values[1, 2], -0.01 * G - 100 / 6 * (1 - np.exp(-0.01)), rtol=1e-9)


def test_combined_loads_and_a_custom_law():
    world = wall()
    world.add_force("tip", "arm", (40.0, 0.0, 0.0), point=(1.0, 0, 0))
    world.add(pt.Cut("root", "arm", at=(-1.0, 0, 0)))
    world.add(pt.Limit("both", cut="root", axial=100.0, bending=1000.0, combined=True))
    world.add(pt.Limit("own", cut="root", load=lambda F: np.abs(F[3]) / 50.0))
    shown = {name: world.motion().effects[name].shown["margin"] for name in ("both", "own")}
    assert shown["both"] == pytest.approx(1 - np.hypot(0.4, 6 * G / 1000), rel=1e-12)
    assert shown["own"] == pytest.approx(1 - 0.8, rel=1e-12)


def test_limit_stops_the_run_when_it_is_exceeded():
    run = plane("stop").simulate(2.0, 1e-3)
    assert run.stop.reason == "condition"
    name = max(run.limits.latches, key=lambda name: run.limits[name]["worst"])
    assert run.limits[name]["worst"] == pytest.approx(1.0, abs=1e-12)
    assert run.stop.time == pytest.approx(float(run.limits[name]["latched_at"]), abs=1e-9)


def test_a_joint_that_is_held_is_rigid_to_rounding():
    held, fixed = (plane(then, bending=1e9).simulate(1.0, 1e-3) for then in ("part", "warn"))
    for body in ("hull", "left"):
        for what in ("position", "orientation", "velocity", "angular_velocity"):
            np.testing.assert_allclose(held[body][what], fixed[body][what], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(held.data["left.root.wrench"], fixed.data["left.root.wrench"], rtol=1e-12, atol=1e-8)


def test_a_wing_separates_and_momentum_is_continuous():
    """The left wing, with a little more lift, separates; that unloads the right one, and the hull rolls."""
    run = plane("part").simulate(0.9, 2e-4)
    left, right = (run.limits[f"{name}.limit"] for name in ("left", "right"))
    assert (left["latched"], right["latched"]) == (1, 0)
    assert 0.5 < left["latched_at"] < 1.0
    assert run.ledger.relative_residual.max() < 1e-11
    before = run.time < float(left["latched_at"])
    off = np.linalg.norm(run["left"].position.values - run["hull"].position.values, axis=1)
    np.testing.assert_allclose(off[before], 2.6, rtol=1e-13)
    assert off[-1] > 4.0
    after = run.time > float(left["latched_at"]) + 2e-3
    np.testing.assert_allclose(run.data["left.root.wrench"].values[after], 0.0, atol=1e-8)
    # Separated, the wing moves under gravity and its lift alone.
    f = run.data["left_lift.force"].values[after][-1]
    m = run.world.system().motion(run.time[-1], run.compiled.unpack(run.y[-1]).state)
    turn = m["left"].pose.R @ m.acceleration("left")[3:] + np.cross(
        m["left"].pose.R @ m["left"].twist[:3], m["left"].velocity
    )
    np.testing.assert_allclose(turn, m["left"].pose.R @ f / 60.0 + [0, 0, -G], atol=1e-10)


def test_separation_converges_with_the_step():
    """The time of separation is found within the step: the final position is of second order."""
    x = [plane("part").simulate(0.8, h, every=0.8)["left"].position.values[-1] for h in (4e-3, 2e-3, 1e-3)]
    first, second = np.abs(x[1] - x[0]).max(), np.abs(x[2] - x[1]).max()
    assert first < 1e-7
    assert first / second > 2.5


def test_each_instance_separates_by_itself():
    """A hub that spins up loses its arm when the axial force m omega^2 r is too large."""
    world = pt.World(gravity=(0, 0, 0))
    hub = world.add_body("hub", pt.Inertia.cylinder(20.0, 0.5, 0.2))
    arm = world.add_body("arm", pt.Inertia.box(2.0, (1.0, 0.1, 0.1)), hub, pt.free(), placement=(1.0, 0, 0))
    world.add_torque("drive", hub, (0.0, 0.0, 30.0))
    arm.add(pt.Cut("root", at=(-0.5, 0, 0)))
    arm.add(pt.Limit("limit", cut="root", axial=1.0, then="part"))
    limits = np.array([50.0, 100.0, 200.0, 1e6])
    run = world.simulate(2.0, 1e-3, vary={"arm.limit.axial": limits})
    found = run.limits["arm.limit"]
    np.testing.assert_array_equal(found["latched"], [1, 1, 1, 0])
    assert "3 of 4 passed it" in str(run.limits)
    # About the common centre of mass, at 1/11 m: I omega = 30 t, m omega^2 (1 - 1/11) = limit.
    I = (
        hub_and_arm := pt.Inertia.cylinder(20.0, 0.5, 0.2) + pt.Pose(p=(1, 0, 0)) @ pt.Inertia.box(2.0, (1, 0.1, 0.1))
    ).moment
    assert hub_and_arm.com[0] == pytest.approx(1 / 11)
    expected = I[2, 2] / 30.0 * np.sqrt(limits[:3] / (2.0 * (1 - 1 / 11)))
    np.testing.assert_allclose(found["latched_at"][:3], expected, rtol=1e-6)
    for k in range(4):
        one = world.simulate(2.0, 1e-3, vary={"arm.limit.axial": limits[k]}, ledger=False)
        np.testing.assert_array_equal(run.y[-1, k, : run.compiled.system.nq + run.compiled.system.nv], one.y[-1][:26])


def test_errors_name_the_cut_and_the_limit():
    with pytest.raises(ValueError, match="limit 'a' limits nothing"):
        pt.Limit("a", cut="c")
    with pytest.raises(ValueError, match="then of limit 'a'"):
        pt.Limit("a", cut="c", shear=1.0, then="explode")
    with pytest.raises(ValueError, match="shear of limit 'a' must be above zero"):
        pt.Limit("a", cut="c", shear=-1.0)
    world = wall()
    world.add(pt.Limit("limit", "arms", cut="root", shear=1.0, then="part"))
    with pytest.raises(ValueError, match="Limit 'limit' acts on 'arms', which is not a body; did you mean 'arm'"):
        world.motion()
    world = wall(joint=pt.free(), v=[0, 0, 0, 1.0, 0, 0])
    world.add(pt.Cut("root", "arm"))
    world.add(pt.Limit("limit", "arm", cut="root", shear=1.0, then="part"))
    with pytest.raises(ValueError, match="and holds it before; but it starts with v"):
        world.motion()
    with pytest.raises(ValueError, match="none of the 1 shapes"):
        pt.beyond(pt.Inertia.box(1.0, (1, 1, 1)), (1, 0, 0), 2.0)
