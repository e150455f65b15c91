"""Numbers that vary are checked as constructors check them, before anything runs."""

import time

import numpy as np
import pytest

import poinsot as pt
from poinsot.run import instances
from poinsot.world import Description


@pytest.fixture
def world():
    world = pt.World()
    world.add_body("s", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)))
    world.add_body("tube", pt.Inertia.cylinder(1.0, 0.2, 0.5, 0.1), position=(3, 0, 0))
    world.add_body("arm", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2))
    world.add_spring("line", "s", "arm", 10.0)
    return world


@pytest.mark.parametrize(
    ("path", "values", "told"),
    [
        ("s.mass", [1, 2, -5], "s.mass = -5.0 of instance 2 cannot be"),
        ("s.moment", [np.eye(3), np.diag([1, 1, 100])], "instance 1 cannot be: principal moments 1, 1, 100"),
        ("s.moment", [np.eye(3), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]], "instance 1 cannot be: moment is not symmetric"),
        ("s.moment[0,0]", [0.02, 21.0], r"s.moment\[0,0\] = 21.0 of instance 1"),
        ("s.orientation", [[1, 0, 0, 0], [2, 0, 0, 0]], "is not a unit quaternion: its length is 2"),
        ("line.damping", [0.0, -1.0], "line.damping = -1.0 of instance 1"),
        ("tube.inner_radius", [0.1, 0.3], "tube.inner_radius = 0.3 of instance 1"),
        ("s.mass", "heavy", "give an array of numbers, one entry per instance, or a distribution"),
    ],
)
def test_impossible_values_are_refused(world, path, values, told):
    with pytest.raises(ValueError, match=told):
        world.simulate(0.01, vary={path: values})


def test_starts_that_vary_make_no_description(world, monkeypatch):
    monkeypatch.setattr(instances, "_refusal", lambda *_: pytest.fail("a description was made"))
    many = np.random.default_rng(0).normal(size=(1000, 3))
    starts = {"s.position": many, "s.angular_velocity": many, "s.velocity[1]": many[:, 0], "arm.v": many[:, 0]}
    run = world.simulate(0.01, vary=starts, method="rk4")
    assert np.array_equal(run.y[0][:, 4:7], many)


def test_numbers_of_elements_without_mass_make_no_mechanism(world, monkeypatch):
    """Those of a tank do, which might leave a joint nothing to move."""
    world.add(pt.Tank("fuel", "s", capacity=2.0, contents=1.0))
    made = []
    links = Description.links
    monkeypatch.setattr(Description, "links", lambda self, *how, **more: made.append(1) or links(self, *how, **more))
    system = world.system(("line.damping", "fuel.contents"))
    made.clear()
    instances.require_possible(system, {"line.damping": np.linspace(0.0, 3.0, 600)}, 600)
    assert not made
    instances.require_possible(system, {"fuel.contents": np.linspace(0.5, 1.5, 600)}, 600)
    assert made


@pytest.mark.parametrize("inertia", [1.0, 0.004])
def test_a_rotor_with_more_inertia_than_its_body_is_refused(inertia):
    world = pt.World()
    world.add_body("b", pt.Inertia.sphere(1.0, 0.1), joint=pt.revolute((0, 0, 1)))
    world.add(pt.Rotor("wheel", axis=(0, 0, 1), inertia=1e-3, speed=60.0, torque=0.1, body="b"))
    with pytest.raises(ValueError, match=f"wheel.inertia = {inertia} of instance 1 cannot be"):
        world.simulate(0.01, 1e-3, vary={"wheel.inertia": np.array([1e-3, inertia])})


def test_numbers_that_are_impossible_together(world):
    radius, inner = np.linspace(0.2, 0.4, 1000), np.linspace(0.1, 0.3, 1000)
    inner[700] = radius[700] + 1e-3
    with pytest.raises(ValueError, match="of instance 700 cannot be"):
        world.simulate(0.01, vary={"tube.radius": radius, "tube.inner_radius": inner})


def test_the_first_of_many_is_named_and_quickly(world):
    n = 100_000
    masses = np.random.default_rng(0).uniform(1, 2, n)
    moments = masses[:, None, None] * np.eye(3)
    started = time.perf_counter()
    masses[[77_777, 40_000]] = -9.0, -1e-9
    with pytest.raises(ValueError, match="of instance 40000 cannot be"):
        world.simulate(0.01, vary={"s.mass": masses})
    moments[90_000, 2, 2], moments[60_000, 0, 1] = 100.0, 0.1
    with pytest.raises(ValueError, match="of instance 60000 cannot be"):
        world.simulate(0.01, vary={"s.moment": moments})
    assert time.perf_counter() - started < 20.0


def test_entries_of_matrices_and_plain_numbers_for_joints(world):
    world["s.moment[0,1]"] = 1e-4
    assert world["s.moment"][1, 0] == world["s.moment[0][1]"] == world["s.moment[1, 0]"] == 1e-4
    world["arm.q"] = 0.4
    run = world.simulate(0.01, vary={"arm.q": [0.1, 0.2, 0.3], "s.moment[0,1]": [0.0, 1e-4, 2e-4]}, record="q")
    assert run.data.q.values[0, :, -1].tolist() == [0.1, 0.2, 0.3]
    assert world.simulate(0.01, vary={"arm.q": pt.Normal(0.0, 0.1)}, batch=5).batch == 5


def test_masses_that_vary_do_not_change_the_method():
    world = pt.World()
    world.add_body("s", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    for path in ("s.position[0]", "s.mass", "s.moment[0,1]"):
        run = world.simulate(0.01, vary={path: [0.001, 0.002]})
        assert run.settings["method"] == "splitting4"
        assert "note" not in run.settings


def test_a_warning_names_what_changes_the_method():
    world = pt.World()
    world.add_body("s", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    with pytest.warns(UserWarning, match=r"method 'rk4' instead of 'splitting4', .* 's.joint.damping' varies"):
        run = world.simulate(0.01, vary={"s.joint.damping": [0.0, 2.0]})
    assert run.settings["method"] == "rk4"
    assert "'s.joint.damping' varies" in run.settings["note"]
    assert np.all(run["s"].angular_velocity[-1, 1] < run["s"].angular_velocity[-1, 0])


@pytest.mark.parametrize("seed", range(12))
def test_of_many_none_is_missed(seed, monkeypatch):
    """What is found among many, without trying all of them, is what trying all of them finds: the same first one."""
    world = pt.World()
    box = world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3), (0.02, 0.02, 0.02)))
    box.add(pt.Rotor("wheel", axis=(0, 0, 1), inertia=0.002, speed=10.0, torque=0.1))
    box.add(pt.Tank("tank", capacity=8.0, contents=6.0))
    world.add_body("arm", pt.Inertia.rod(1.0, 0.5), "box", pt.universal((1, 0, 0), (0, 1, 0), damping=0.1))
    rng = np.random.default_rng(seed)
    kept = [p for p in world.paths() if not p.endswith(("velocity", "placement.p", "gravity"))]
    couples = [("box.moment", "box.wheel.inertia"), ("box.size", "box.inner_size"), ("box.mass", "box.wheel.inertia")]
    chosen = couples[seed] if seed < len(couples) else rng.choice(kept, 2, replace=False)
    system, n, values = world.system(tuple(chosen)), 60, {}
    for path in chosen:
        x = np.asarray(system.numbers[path])
        values[path] = x * np.exp(0.2 * rng.normal(size=(n, *[1] * x.ndim))) + 0.0
        odd = rng.integers(n, size=2)
        values[path][odd] += rng.choice([-1, 1]) * (np.abs(x).max() or 1.0) * rng.uniform(0, 2, size=(2, *x.shape))
    every = [instances._refusal(system, {p: v[k] for p, v in values.items()}, False) for k in range(n)]
    first = next((k for k, why in enumerate(every) if why is not None), None)
    monkeypatch.setattr(instances, "FEW", 0)
    if first is None:
        instances.require_possible(system, values, n)
    else:
        with pytest.raises(ValueError, match=f"of instance {first} cannot be"):
            instances.require_possible(system, values, n)


def test_sweeps_check_what_they_draw(tmp_path, world):
    with pytest.raises(ValueError, match=r"s.mass = -.* of instance \d+ cannot be: mass"):
        pt.sweep(world, {"s.mass": pt.Normal(1.0, 1.0)}, 0.1, 0.01, samples=2000, save=tmp_path / "x.zarr")
    with pytest.raises(ValueError, match=r"s.mass = -1.0 of instance 2 cannot be"):
        pt.sweep(world, {"s.mass": [1, 2, -1], "arm.q": [0.1]}, 0.1, 0.01, save=tmp_path / "x.zarr")
    assert not (tmp_path / "x.zarr").exists()


def test_the_path_of_a_whole_robot_is_told_how():
    world = pt.World()
    link = pt.Inertia.box(1.0, (0.1, 0.1, 0.5))
    arm = pt.Mechanism(
        [pt.Link("a", link, joint=pt.revolute((0, 1, 0))), pt.Link("b", link, "a", pt.revolute((1, 0, 0)))]
    )
    links = world.add_mechanism(arm, prefix="panda_")
    for path in ("panda.q", "panda_.q"):
        with pytest.raises(KeyError, match=r"2 bodies on joints have names that begin so, .*: panda_a.q, panda_b.q"):
            world.simulate(0.01, vary={path: np.zeros((3, 2))})
    q = np.arange(6.0).reshape(3, 2) / 10
    run = world.simulate(0.01, vary={f"{link}.q": q[:, k] for k, link in enumerate(links)}, record="q")
    assert np.array_equal(run.data.q.values[0], q)


def test_the_first_start_that_cannot_be_is_named():
    """Of thousands, whichever number it is, though others are refused for another."""
    world = pt.World(air=pt.US76())
    start = pt.Start(altitude=1000.0, airspeed=60.0, alpha=0.03, flight_path=0.0)
    world.add_body("plane", pt.Inertia.box(1.0, (1, 1, 1)), start=start)
    speeds, heights = np.linspace(50.0, 70.0, 4096), np.linspace(0.0, 3000.0, 4096)
    system = world.system(("plane.start.airspeed", "plane.start.altitude"))
    for bad in ({100: "airspeed"}, {50: "altitude"}, {100: "airspeed", 50: "altitude", 7: "airspeed"}):
        V, h = speeds.copy(), heights.copy()
        for k, name in bad.items():
            (V if name == "airspeed" else h)[k] = {"airspeed": -1.0, "altitude": 2e6}[name]
        first = min(bad)
        with pytest.raises(ValueError, match=rf"plane\.start\.{bad[first]} = .* of instance {first} cannot be"):
            instances.require_possible(system, {"plane.start.airspeed": V, "plane.start.altitude": h}, 4096)


def test_the_same_number_twice(world):
    """Only one of the two would count."""
    for a, b in (
        ("s.moment[0,1]", "s.moment[1,0]"),
        ("s.moment[0][1]", "s.moment[1,0]"),
        ("s.mass", "s.inertia.mass"),
        ("arm.damping", "arm.joint.damping"),
        ("tube.radius", "tube.inertia.solids[0].shape.radius"),
    ):
        with pytest.raises(ValueError, match="are the same number: give one of them"):
            world.simulate(0.01, vary={a: [0.01], b: [0.02]})
    world.simulate(0.01, vary={"s.position": [[0, 0, 1.0]], "s.position[2]": [2.0]})
    world.add_input("wind", 0.0)
    with pytest.raises(ValueError, match="'wind' is in vary and in inputs: give it once"):
        world.simulate(0.01, vary={"wind": [1.0, 2.0]}, inputs={"wind": 3.0})


def test_what_was_drawn_is_told_by_its_shape(world):
    for drawn, shape in ((lambda g, n: 1.0, r"\(\)"), (lambda g, n: np.ones(n + 1), r"\(4,\)")):
        with pytest.raises(
            ValueError, match=rf"s.mass: an array of shape \(3,\) must be drawn, .* not one of\s*shape {shape}"
        ):
            world.simulate(0.01, batch=3, vary={"s.mass": drawn})


@pytest.mark.parametrize("name", ["damping", "friction", "armature"])
def test_joints_take_energy(world, name):
    """They never bring any in, and their numbers are finite."""
    for value, told in ((-1.0, "must be zero or more"), (np.nan, "must be finite")):
        world[f"arm.{name}"] = value
        with pytest.raises(ValueError, match=f"{name} of the revolute joint of link 'arm' {told}"):
            world.simulate(0.01)
        world[f"arm.{name}"] = 0.0
    with pytest.raises(ValueError, match=f"arm.{name} = -1.0 of instance 1 cannot be"):
        world.simulate(0.01, vary={f"arm.{name}": [0.0, -1.0]})


def test_a_mass_whose_inverse_is_infinite(world):
    with pytest.raises(ValueError, match="1e-320 must be one positive, finite number"):
        pt.Inertia.sphere(1e-320, 1.0)
    with pytest.raises(ValueError, match=r"s.mass = 1e-320 of instance 1 cannot be"):
        world.simulate(0.01, vary={"s.mass": [1.0, 1e-320]})


def test_numbers_that_are_set(world):
    world.add_input("wind", 0.0)
    for path, value, told in (
        ("wind", np.nan, "wind must be finite, not nan"),
        ("gravity", (0, 0, np.inf), r"gravity must be finite, not \[0.0, 0.0, inf\]"),
        ("wind", "much", "wind must be numbers, not 'much'"),
        ("s.mass", pt.Normal(1, 0.1), r"s.mass must be numbers, not Normal\("),
        ("s.mass", 10**400, "s.mass must be numbers, not 1000"),
        ("s", 1.0, "s is of the kind Body|s has the shape|s.*not a number"),
    ):
        with pytest.raises(ValueError, match=told):
            world[path] = value
    with pytest.raises(ValueError, match="input 'gust' must be finite, not nan"):
        world.add_input("gust", np.nan)
    with pytest.raises(ValueError, match="gravity must be numbers, not 'moon'"):
        pt.World(gravity="moon")
    assert world["wind"] == 0.0


def test_paths_that_lead_nowhere_say_where_to_go(world):
    for path, told in (
        ("line", "line is of the kind Spring; the paths of its numbers: line.stiffness, line.rest_length"),
        ("s.position.z", r"did you mean 's.position\[2\]'\?"),
        ("s.orientation.w", r"did you mean 's.orientation\[0\]'\?"),
        ("gravity.z", r"did you mean 'gravity\[2\]'\?"),
        ("s.inertia", "s.inertia is of the kind Inertia, not a number"),
    ):
        with pytest.raises((KeyError, ValueError), match=told) as error:
            world.simulate(0.01, vary={path: [1.0, 2.0]})
        assert "array(" not in str(error.value)
        assert "?." not in str(error.value)
