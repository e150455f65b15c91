"""Scenarios: the world that a file describes is the world that Python would build."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot._fields import units_of
from poinsot.files import kinds
from poinsot.files.building import Scenario
from poinsot.files.described import table_name
from poinsot.files.element_tables import elements
from poinsot.files.problems import ScenarioError
from poinsot.files.scenario import parse_changes, read_scenario
from poinsot.files.schema import scenario_schema
from poinsot.files.varied import varied
from poinsot.files.written import scenario_text
from poinsot.mechanism.joints import TYPES
from poinsot.run.fingerprints import hash_of
from poinsot.world.dimensions import unit_at, units_at

EXAMPLES = Path(__file__).parents[2] / "examples"
RUN = "[run]\nduration = 1\nstep = 0.01\n"
BOX = '[[body]]\nname = "box"\nshape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 2 }]\n'


def read(text: str, **options: Any) -> Scenario:
    return read_scenario(RUN + text, **options)


def test_a_body_is_the_body():
    text = BOX + 'position = [1, 2, "300 cm"]\nvelocity = [0, 0, "36 km/h"]\nangular_velocity = ["60 rpm", 0, 0]\n'
    world = pt.World()
    inertia = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
    omega = (2 * np.pi, 0, 0)
    world.add_body("box", inertia, position=(1, 2, 3), velocity=(0, 0, 10), angular_velocity=omega)
    found, expected = read(text).world.description.bodies["box"], world.description.bodies["box"]
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(found.inertia.spatial(), expected.inertia.spatial())
    assert np.array_equal(read(text).run().y, world.simulate(1.0, 0.01).y)


@pytest.mark.parametrize(
    ("shape", "inertia"),
    [
        ('{ kind = "sphere", radius = 0.1, mass = 2 }', pt.Inertia.sphere(2.0, 0.1)),
        ('{ kind = "cylinder", radius = 0.1, height = 0.3, inner_radius = 0.05, mass = 2 }',
         pt.Inertia.cylinder(2.0, 0.1, 0.3, 0.05)),
        ('{ kind = "cone", radius = 0.1, height = 0.3, mass = 2, position = [1, 2, 3] }',
         pt.Pose(p=(1, 2, 3)) @ pt.Inertia.cone(2.0, 0.1, 0.3)),
        ('{ kind = "capsule", radius = 0.1, height = 0.3, mass = 2, axis = [0, 2, 0] }',
         pt.Pose.from_euler((-np.pi / 2, 0, 0)) @ pt.Inertia.capsule(2.0, 0.1, 0.3)),
        ('{ kind = "box", size = [0.1, 0.2, 0.3], density = 1000, orientation = { yaw = "90 deg" } }',
         pt.Inertia.box(6.0, (0.2, 0.1, 0.3))),
        ('{ kind = "ellipsoid", semi_axes = [0.1, 0.2, 0.3], mass = 1 }', pt.Inertia.ellipsoid(1.0, (0.1, 0.2, 0.3))),
        ('{ kind = "points", masses = [1, 2, 3, 4], positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }',
         pt.Inertia.points([1, 2, 3, 4], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])),
        ('{ kind = "sphere", radius = 0.1, mass = 2, axis = [0, 0, -1] }', pt.Inertia.sphere(2.0, 0.1)),
    ],
)  # fmt: skip
def test_shapes(shape, inertia):
    found = read(f'[[body]]\nname = "b"\nshape = [{shape}]\n').world.description.bodies["b"].inertia
    assert np.allclose(found.spatial(), inertia.spatial(), rtol=0, atol=4e-16 * np.abs(inertia.spatial()).max())


def test_a_mesh_and_mass_properties_add_up(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "box.stl")
    text = RUN + '[[body]]\nname = "b"\ninertia = { mass = 1, com = [1, 0, 0], moment = [1, 1, 1.5] }\n'
    text += 'shape = [{ kind = "mesh", file = "box.stl", density = 2, scale = 0.5 }]\n'
    found = read_scenario(text, folder=tmp_path).world.description.bodies["b"].inertia
    expected = pt.Inertia(1.0, (1, 0, 0), np.diag([1, 1, 1.5])) + pt.Inertia.box(1.5, (0.5, 1, 1.5))
    assert np.allclose(found.spatial(), expected.spatial(), rtol=0, atol=1e-14)


def test_the_origin_can_be_the_centre_of_mass():
    text = BOX.replace("mass = 2", "mass = 2, position = [1, 2, 3]") + 'origin = "com"\n'
    assert np.array_equal(read(text).world.description.bodies["box"].inertia.com, np.zeros(3))


@pytest.mark.parametrize("kind", TYPES)
def test_every_joint_can_be_written(kind):
    axes = {"universal": "axis1 = [1, 0, 0], axis2 = [0, 1, 0]", "planar": "normal = [0, 0, 1]"}
    axes |= dict.fromkeys(("revolute", "prismatic", "cylindrical"), "axis = [0, 0, 1]")
    axes |= {"helical": 'axis = [0, 0, 1], pitch = "1 mm/turn"'}
    keys = ", ".join([f'kind = "{kind}"', *([axes[kind]] if kind in axes else [])])
    body = read(f"{BOX}joint = {{ {keys} }}\n").world.description.bodies["box"]
    assert body.hinge.kind == kind
    if kind == "helical":
        assert body.hinge.pitch == pytest.approx(1e-3 / (2 * np.pi), rel=2e-16)


def test_children_may_stand_before_their_parents():
    text = BOX.replace('"box"\n', '"lid"\n') + 'parent = "box"\nplacement = [0, 0, 1]\n' + BOX
    assert [link.name for link in read(text).world.mechanism.links] == ["box", "lid"]


def test_gravity():
    def gravity(text: str) -> Any:
        return read_scenario(f"gravity = {text}\n{RUN}{BOX}position = [7e6, 0, 0]\n").world.description.gravity

    assert np.array_equal(gravity("[1, 2, 3]"), [1, 2, 3])
    assert np.array_equal(gravity('"1 g_0"'), [0, 0, -9.80665])
    assert np.array_equal(gravity("0"), [0, 0, 0])
    assert gravity('{ mu = "398600 km^3/s^2" }').mu == 398600e9


def test_what_a_value_may_be():
    force = '[[force]]\nname = "f"\nbody = "box"\nvalue = '

    def value(text: str, more: str = "") -> Any:
        return read(more + BOX + force + text + "\n").world.description.elements["f"].value

    assert np.array_equal(value('[0, "2 lbf", 1]'), [0, 8.896443230521, 1])
    assert value('{ times = [0, "500 ms"], values = [[0, 0, 0], [0, 0, 2]] }')(0.25).tolist() == [0, 0, 1]
    assert value('[0, "sin(t)", "1 N"]')(np.pi / 2, None).tolist() == [0, 1, 1]
    assert value('"k*[1, 0, 0]"', '[constants]\nk = "2 kN"\n')(0.0, None).tolist() == [2000, 0, 0]
    given = value('{ input = "push", factor = 2 }', "[inputs]\npush = [0, 0, 3]\n")
    assert (given.name, given.factor) == ("push", 2.0)
    given = value('{ signal = "box.velocity", factor = -2 }')
    assert (type(given).__name__, given.name, given.factor) == ("Signal", "box.velocity", -2.0)


def test_code_runs_only_with_leave(tmp_path):
    """A module beside the scenario is found; it is not imported unless that is allowed."""
    (tmp_path / "own_forces.py").write_text(
        "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\ndef push(t, scene): return [0.0, 0.0, 20.0]\n"
    )
    text = BOX + '[[force]]\nname = "f"\nbody = "box"\nvalue = "own_forces:push"\n'
    before = list(sys.path)
    with pytest.raises(ScenarioError, match="only with --allow-code"):
        read(text, folder=tmp_path)
    assert not (tmp_path / "ran").exists()
    run = read(text, folder=tmp_path, allow_code=True).run()
    assert run.data.velocity.values[-1, 0, 2] == pytest.approx(10 - 9.81, rel=1e-12)
    sys.modules.pop("own_forces")
    assert sys.path == before


def test_an_element_inside_of_a_body_is_named_after_both():
    text = BOX + '[[body.tank]]\nname = "left"\ncontents = 3\n[[body.force]]\nname = "f"\nvalue = [0, 0, 1]\n'
    elements = read(text).world.description.elements
    assert {name: element.body for name, element in elements.items()} == {"box.left": "box", "box.f": "box"}


def test_every_number_of_every_element_has_a_unit():
    """A new part says them in the types of its fields; blocks are in the units of the signals that they take."""
    words = {"name", "body", "joint", "a", "b", "source", "to", "tank", "cut", "axes", "then", "tension", "load"}
    words |= set("coefficients inputs outputs moment_axes air_at section beam side unsteady together".split())
    words |= set("over nose fins transitions rotor engine hand CT CP loop surface shapes shapes_a shapes_b".split())
    flags = set(
        "settles combined piece carries n strips ignition turbo grains count ignored turning both_sides".split()
    )
    missing = [
        f"{kind}.{f.name}"
        for kind, cls in {**elements(), "beam": pt.Beam}.items()
        for f in fields(cls)
        if f.name not in words | flags and f.name not in units_of(cls) and "control" not in cls.__module__
    ]
    assert missing == []


def test_every_kind_of_element_has_a_table():
    public = [x for x in (getattr(pt, name) for name in pt.__all__) if isinstance(x, type)]
    public = [x for x in public if issubclass(x, pt.Element) and x is not pt.Element]
    in_python = [x for x in public if x.__module__.startswith("poinsot.control.")]  # their laws are functions
    others = {table_name(cls) for cls in public if cls not in in_python}
    assert others - {"central_gravity", "closed_loop", "touch"} <= {*kinds.lists(), *kinds.SURROUNDINGS}


def test_units_of_numbers_of_worlds():
    text = BOX + '[[body.rotor]]\nname = "wheel"\ninertia = 1e-3\nspeed = 1\n'
    text += '[[spring]]\nname = "s"\na = "box"\nstiffness = 1\n'
    world = read(text).world
    found = {path: units_at(path, world.description) for path in world.paths()}
    assert found["box.mass"] == ("kg",)
    assert found["box.size"] == ("m",)
    assert found["box.wheel.speed"] == ("rad/s",)
    assert found["s.stiffness"] == ("N/m",)
    assert found["gravity"] == ("m/s^2",)
    assert [unit_at(path, world.description) for path in ("box.mass", "gravity[2]", "box.com[0]")] == [
        "kg",
        "m/s^2",
        "m",
    ]


def test_units_of_joints_are_those_of_how_they_move():
    world = pt.World()
    for kind, joint in {
        "turns": pt.revolute((0, 0, 1)),
        "slides": pt.prismatic((0, 0, 1)),
        "ball": pt.spherical(),
    }.items():
        world.add_body(kind, pt.Inertia.box(1.0, (1, 1, 1)), joint=joint)
    world.add_input("thrust", 1.0)
    units = {
        kind: [unit_at(f"{kind}.{key}", world.description) for key in ("q", "v[0]", "joint.stiffness", "joint.damping")]
        for kind in ("turns", "slides", "ball")
    }
    assert units["turns"] == ["rad", "rad/s", "N m/rad", "N m s/rad"]
    assert units["slides"] == ["m", "m/s", "N/m", "N s/m"]
    assert units["ball"] == ["", "rad/s", "N m/rad", "N m s/rad"]
    assert unit_at("thrust", world.description) == ""


def test_changes_by_path():
    text = BOX + '[[spring]]\nname = "s"\na = "box"\nstiffness = 1\n'
    changes = parse_changes(
        ["run.duration=500 ms", "box.mass=3 kg", "s.stiffness='2 N/cm'", "body[0].velocity=[1, 0, 0]",
         "box.position[2]=4", "spring[s].damping=7", "gravity=0"]
    )  # fmt: skip
    found = read(text, changes=changes)
    world = found.world
    assert found.options["duration"] == 0.5
    assert (float(world["box.mass"]), float(world["s.stiffness"]), float(world["s.damping"])) == (3.0, 200.0, 7.0)
    assert world["box.velocity"].tolist() == [1, 0, 0]
    assert world["box.position"].tolist() == [0, 0, 4]
    assert world["gravity"].tolist() == [0, 0, 0]


def test_particles_with_springs():
    text = '[[particles]]\nname = "net"\nmasses = 0.1\npositions = [[0, 0, 0], [1, 0, 0]]\n'
    text += "springs = { pairs = [[0, 1]], stiffness = 5 }\n"
    world = read(text).world
    assert set(world.description.bodies) == {"net0", "net1"}
    assert float(world["net_spring0.rest_length"]) == 1.0


def test_a_run_from_a_scenario_is_saved_loaded_and_repeated(tmp_path):
    """Formulas are kept as text: nothing is lost, and no code is needed."""
    text = BOX + '[[body.force]]\nname = "drag"\nvalue = "-0.1*speed*velocity"\n'
    run = read(text).run()
    run.save(tmp_path / "x.nc")
    loaded = pt.load_run(tmp_path / "x.nc")
    assert hash_of(loaded.world) == hash_of(run.world)
    assert np.array_equal(loaded.repeat().y, run.y)


def test_a_robot_from_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(
        """<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
        <inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.2 0.3"/></body></worldbody></mujoco>"""
    )
    text = RUN + '[[model]]\nmjcf = "arm.xml"\nprefix = "left_"\nq = "30 deg"\nplacement = [0, 0, 1]\n'
    world = read_scenario(text, folder=tmp_path).world
    assert world.mechanism.links[-1].name == "left_arm"
    assert world.start().q == pytest.approx([np.pi / 6], rel=1e-15)
    assert world.scene()["left_arm"].position.tolist() == [0, 0, 1]


@pytest.mark.parametrize("robot", ["arm.urdf"])
def test_a_robot_written_as_a_scenario_is_the_same_robot(robot):
    mech = pt.load_urdf(EXAMPLES / robot)
    scenario = read_scenario(scenario_text(mech, "arm"))
    again = scenario.world.mechanism
    q, v, tau = np.random.default_rng(0).normal(size=(3, mech.nv))
    for a, b in zip(mech.links, again.links, strict=True):
        assert (a.name, a.parent, a.joint.kind) == (b.name, b.parent, b.joint.kind)
        assert np.array_equal(a.joint.damping, b.joint.damping)
        assert np.array_equal(a.placement.p, b.placement.p)
    assert np.allclose(pt.forward_dynamics(mech, q, v, tau), pt.forward_dynamics(again, q, v, tau), rtol=1e-14)


def test_limits_of_zero_are_written():
    """Zero is a limit; where there is none, there is an infinite one."""
    box = pt.Inertia.box(1.0, (1, 1, 1))
    drawer = pt.Link("drawer", box, None, pt.prismatic((1, 0, 0), lower=0.0, upper=0.5))
    lid = pt.Link("lid", box, "drawer", pt.universal((1, 0, 0), (0, 1, 0), lower=[-np.inf, -1.0], upper=0.0))
    knob = pt.Link("knob", box, "lid", pt.revolute((0, 0, 1), velocity_limit=3.0, effort_limit=0.0))
    mech = pt.Mechanism((drawer, lid, knob))
    again = read_scenario(scenario_text(mech, "drawer")).world.mechanism
    for a, b in zip(mech.links, again.links, strict=True):
        for bound in ("lower", "upper", "velocity_limit", "effort_limit"):
            np.testing.assert_array_equal(getattr(a.joint, bound), getattr(b.joint, bound))


def test_the_schema_knows_every_key_of_the_examples():
    import tomllib

    whole = scenario_schema()

    def check(data: Any, rule: dict[str, Any], where: str) -> None:
        if "$ref" in rule:
            rule = whole["$defs"][rule["$ref"].rpartition("/")[2]]
        if "oneOf" in rule or "anyOf" in rule:
            rules = [
                whole["$defs"].get(r.get("$ref", "").rpartition("/")[2], r)
                for r in rule.get("oneOf", rule.get("anyOf"))
            ]
            fits = [r for r in rules if not isinstance(data, dict) or _is_kind(data, r)]
            assert fits, where
            rule = fits[0]
        if isinstance(data, dict) and "properties" in rule:
            assert rule["additionalProperties"] is False
            for key, value in data.items():
                assert key in rule["properties"], f"{where}.{key}"
                check(value, rule["properties"][key], f"{where}.{key}")
        elif isinstance(data, list) and "items" in rule:
            for k, value in enumerate(data):
                check(value, rule["items"], f"{where}[{k}]")

    for path in EXAMPLES.glob("*.toml"):
        check(tomllib.loads(path.read_text()), whole, path.name)


def _is_kind(data: dict[str, Any], rule: dict[str, Any]) -> bool:
    kind = rule.get("properties", {}).get("kind", {}).get("enum")
    return rule.get("type") == "object" and (kind is None or data.get("kind") in kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:2:3", [1.0, 1.5, 2.0]),
        ("1 kg : 2000 g : 2", [1.0, 2.0]),
        ("[1, '2']".replace("'", ""), [1.0, 2.0]),
        ("normal(2 kg, 100 g)", pt.Normal(2.0, 0.1)),
        ("uniform(1, 2)", pt.Uniform(1.0, 2.0)),
        ("lognormal(2 kg, 0.1)", pt.LogNormal(2.0, 0.1)),
        ("triangular(1 kg, 1500 g, 3 kg)", pt.Triangular(1.0, 1.5, 3.0)),
        ("truncated(2 kg, 1 kg, 0 kg)", pt.Truncated(2.0, 1.0, 0.0)),
        ("truncated(2 kg, 1 kg, -inf, 3 kg)", pt.Truncated(2.0, 1.0, high=3.0)),
    ],
)
def test_what_is_varied(text, expected):
    found = varied("box.mass", text, read(BOX).world.description)
    assert found == expected if callable(expected) else found.tolist() == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1:2", "expected"),
        ("1:2:0", "expected"),
        ("1:2:x", "expected"),
        ("gamma(1, 2)", "no distribution 'gamma'; there are normal, .*, physical; expected"),
        ("norml(1, 2)", "did you mean 'normal'"),
        ("normal(1)", r"expected normal\(mu, sigma\), not 1 numbers"),
        ("normal(1, 2, 3)", r"expected normal\(mu, sigma\), not 3 numbers"),
        ("normal(1, -1)", "Normal: sigma = -1.0 must be zero or more"),
        ("normal(1, inf)", "Normal: sigma = inf must be finite"),
        ("normal(1, 2 m)", "that is a length; expected a mass"),
        ("lognormal(1 kg, 1 kg)", "that is a mass; expected a plain number"),
        ("1 m:2 m:3", "expected"),
        ("", "expected"),
        ("[1, [2, 3]]", "the lists in it differ in length"),
        ("[[[[1]]]]", "not a list of numbers; expected"),
        ("[1, 2", "not a list of numbers; expected"),
        ("physical(0.1)", "draws moments of inertia, for paths such as box.moment"),
    ],
)
def test_what_cannot_be_varied_is_told(text, told):
    with pytest.raises(ValueError, match=told):
        varied("box.mass", text, read(BOX).world.description)


def test_vectors_and_moments_that_are_varied():
    description = read(BOX).world.description
    assert varied("box.position", "[[1, 2, 3], [1 km, 0, 0]]", description).tolist() == [[1, 2, 3], [1000, 0, 0]]
    found = varied("box.velocity", "multivariate([1, 0, 36 km/h], [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 2]])", description)
    assert found.mean.tolist() == [1, 0, 10]
    assert found.covariance[0, 1] == 0.5
    found = varied("box.mass", "choice([1 kg, 2000 g], [0.25, 0.75])", description)
    assert found.values.tolist() == [1, 2]
    assert found.probabilities.tolist() == [0.25, 0.75]
    found = varied("box.moment", "physical(5 %)", description)
    assert np.array_equal(found.mean, description.bodies["box"].inertia.moment)
    assert found.spread == 0.05
    assert varied("box.moment[0,1]", "[0, 1 kg cm^2]", description).tolist() == [0, 1e-4]


def test_pictures_are_those_of_plots():
    from poinsot.show.plots import PICTURES

    assert set(kinds.PICTURES) == set(PICTURES)


def test_the_world_is_a_parent():
    """As in Python: a body on it hangs on a joint of its own, or is free."""
    body = '[[body]]\nname = "b"\nparent = "world"\nshape = [{ kind = "sphere", radius = 1, mass = 1 }]\n'
    run = '[run]\nduration = 1\n[[force]]\nname = "f"\nbody = "b"\nvalue = [0, 0, 1]\n'
    scenario = read_scenario(f'{run}{body}joint = {{ kind = "revolute", axis = [0, 1, 0] }}\n')
    assert scenario.world.description.bodies["b"].parent is None
    assert scenario.world.description.bodies["b"].hinge.kind == "revolute"
    assert read_scenario(run + body).world.description.bodies["b"].hinge.kind == "free"


@pytest.mark.parametrize("text", ["1e999:2:3", "1e308:-1e308:3", "9" * 400 + ":2:3"])
def test_the_ends_of_a_range_are_finite(text):
    body = '[run]\nduration = 1\n[[body]]\nname = "b"\nshape = [{ kind = "sphere", radius = 1, mass = 1 }]\n'
    with pytest.raises(ScenarioError, match=r"the number is too large|the ends of a range must be below 1e\+300"):
        read_scenario(f'{body}[sweep.vary]\n"b.position[0]" = "{text}"\n')


def test_dates_in_messages_are_as_written():
    body = '[run]\nduration = 1\n[[body]]\nname = "b"\nposition = [1979-05-27, 0, 0]\n'
    with pytest.raises(ScenarioError, match=r'position = \["1979-05-27", 0, 0\]: entry 0'):
        read_scenario(body)
