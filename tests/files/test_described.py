"""Descriptions as plain data: back to the bit, without running anything that a file says."""

import functools
import itertools
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.files.described import Missing, describe, known, missing, restore
from poinsot.run.fingerprints import fingerprint, hash_of, unknown
from poinsot.spatial.mesh import Mesh
from poinsot.world import World


def through_json(x: Any, **options: Any) -> Any:
    return restore(json.loads(json.dumps(describe(x), allow_nan=False)), **options)


def same(a: Any, b: Any) -> bool:
    """Whether two things are made of the same classes and the same bits."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.init)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return float(a).hex() == float(b).hex()
    return bool(a == b)


def drag(t: Any, scene: pt.Scene) -> Any:
    return -0.1 * scene["box"].velocity


CUBE = (
    [[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)],
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]],
)  # fmt: skip


def world(force: Any = (1.0, 0.1, 0.0)) -> pt.World:
    """Something of everything."""
    q = np.array([0.3, -0.1, 0.7, 0.2])
    w = pt.World(gravity=(0.1, 0.2, -9.81))
    w.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(0, 0, 1), orientation=q / np.linalg.norm(q))
    w.add_body("wing", pt.Inertia.cone(1 / 3, 0.1, 0.7), "box", pt.universal((1, 0, 0), (0, 1, 1)), (0.1, 0, 0))
    tail = pt.Pose.from_euler((0.1, 0.2, 0.3)) @ pt.Inertia.mesh(CUBE, density=3.0) + pt.Inertia.sphere(0.1, 0.2)
    w.add_body(
        "tail", tail, "box", pt.revolute((0, 1, 0), damping=0.1, lower=-1.0), pt.Pose.from_euler((1, 2, 3)), q=0.1
    )
    w.add_particle("ball", np.float64(0.5), (1, 0, 1))
    w.add_input("u", [1.0, 2.0, 3.0])
    w.add_spring("s", "box", "ball", 50.0, 0.5, 0.1, point_a=(0.05, 0.1, 0))
    w.add_force("f", "box", force)
    w.add_force("g", "tail", pt.Input("u", 0.1))
    w.add_torque("m", "wing", pt.Tabulated([0.0, 1.0], [(0, 0, 0), (0, 0, 1.0)]))
    w.add_contact("ground", "box", [(0, 0, 0.1), (0.1, 0, 0)], friction=0.3)
    w.add_feedback("pd", "tail", 10.0, 1.0, target=0.2)
    return w


def test_a_world_comes_back_to_the_bit():
    description = world().description
    back = through_json(description)
    assert same(description, back)
    assert hash_of(World.of(back)) == hash_of(World.of(description))
    a, b = (World.of(d) for d in (description, back))
    assert same(a.derivative(0.1, a.start()).v, b.derivative(0.1, b.start()).v)


def test_parts_come_back():
    w = pt.World()
    craft = w.add_body("craft", pt.Inertia.box(100, (1, 2, 3)))
    craft.add(pt.Rotor("prop", axis=(1, 0, 0), inertia=1.1, speed=250.0))
    craft.add(pt.Tank("left", capacity=80, contents=60, position=(0, 2, 0)))
    craft.add(pt.Flow("dump", source="left", rate=pt.pulse(15.1, 0.1, 0.2)))
    craft.add(pt.Thruster("engine", tank="left", thrust=100.0, exhaust_speed=2500.0))
    craft.add(pt.Cut("root", at=(0, 1, 0), axis=(0, 1, 0), piece=pt.Inertia.box(10, (1, 1, 1))))
    craft.add(pt.Limit("bend", cut="root", bending=1e6))
    assert same(through_json(w.description), w.description)


def test_central_gravity_comes_back():
    w = pt.World(pt.CentralGravity(mu=1.5, centre=(1, 2, 3)))
    w.add_body("box", pt.Inertia.box(1, (1, 2, 3)), position=(0, 0, 9))
    assert same(through_json(w.description), w.description)


def test_every_element_and_shape_is_known():
    names = known()
    for cls in (
        pt.Spring,
        pt.Force,
        pt.Motor,
        pt.PD,
        pt.Contact,
        pt.CentralGravity,
        Mesh,
        pt.Inertia,
        pt.Pose,
        pt.Table,
    ):
        assert names[cls.__name__] is cls


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=True),
        lambda inner: (
            st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.sampled_from(["class", "map"]), inner)
        ),
        max_leaves=20,
    )
)
def test_anything_plain_comes_back(x):
    assert same(through_json(x), x) or "nan" in repr(x)
    assert repr(through_json(x)) == repr(x)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.array(1.5),
        np.array([[1, 2], [3, 4]], dtype=np.int32),
        np.array([np.inf, -np.inf, -0.0, 5e-324]),
        np.array([True, False]),
        np.linspace(0, 1, 7, dtype=np.float32),
        np.random.default_rng(0).normal(size=(3, 4, 5)),
    ],
)
def test_arrays_come_back(array):
    assert same(through_json(array), array)


def test_a_quaternion_is_not_rounded_again():
    rng = np.random.default_rng(1)
    for _ in range(50):
        body = pt.World().add_body("a", pt.Inertia.sphere(1, 1), orientation=_unit(rng.normal(size=4)))
        described = body.world.description
        assert same(through_json(described), described)


def _unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q)


# Functions.


def test_a_function_comes_back_only_if_code_is_allowed():
    w = world(drag)
    lost = through_json(w.description)
    assert [m.name for m in missing(lost)] == ["Force 'f'"]
    with pytest.raises(ValueError, match=r"Force 'f' needs the function '.*test_described:drag' .*allow_code=True"):
        World.of(lost).start()
    assert describe(lost) == describe(w.description)  # nothing is lost on the way
    back = through_json(w.description, allow_code=True)
    assert back.elements["f"].value is drag
    assert hash_of(World.of(back)) == hash_of(w)


def test_a_function_without_a_name_does_not_come_back():
    w = world(lambda t, scene: (0.0, 0.0, 1.0))
    with pytest.raises(ValueError, match=r"Force 'f' needs the function .*<lambda>.*define it with def"):
        World.of(through_json(w.description, allow_code=True)).start()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes the module `users_own`, which was not imported yet."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(text: str) -> None:
        sys.modules.pop("users_own", None)
        (tmp_path / "users_own.py").write_text(text)

    yield write
    sys.modules.pop("users_own", None)


def test_a_function_that_changed_does_not_come_back(module):
    module("def push(t, scene):\n    return (0.0, 0.0, 1.0)\n")
    import users_own  # type: ignore[import-not-found]

    data = describe(users_own.push)
    module("def push(t, scene):\n    return (0.0, 0.0, 2.0)\n")
    with pytest.raises(ValueError, match=r"users_own:push.* has changed"):
        restore(data, allow_code=True)(0.0, None)
    module("")
    with pytest.raises(ValueError, match=r"users_own:push.* has no attribute 'push'"):
        restore(data, allow_code=True)(0.0, None)


def test_nothing_is_imported_unless_it_is_allowed(module):
    module("raise SystemError('imported')\n")
    function = {"function": "users_own:push", "code": ""}
    element = {"class": "users_own:Push", "name": "p", "size": 1.0}
    for data in (function, element):
        assert isinstance(restore(data), Missing)
        assert "users_own" not in sys.modules
        assert "imported" in restore(data, allow_code=True).why


def test_functions_of_the_mechanics_come_back_without_leave():
    assert through_json(pt.afterburning_spool) is pt.afterburning_spool
    data = describe(pt.afterburning_spool)
    for name in ("poinsot._atomic:discard", "poinsot.parts.jet:Jet", "poinsot.parts.jet:np.save", "poinsot.parts:Jet"):
        assert isinstance(restore({**data, "function": name}), Missing)
    assert "changed" in restore({**data, "code": "0"}).why


def test_a_class_of_ones_own(module):
    text = "from dataclasses import dataclass\nimport poinsot as pt\n\n@dataclass(frozen=True, eq=False)\n"
    module(text + "class Push(pt.Element):\n    size: float = 0.0\n    def effect(self, scene): return pt.Effect()\n")
    data = {"class": "users_own:Push", "name": "p", "size": 2.0}
    lost = restore(data)
    assert isinstance(lost, Missing)
    assert lost.name == "p"
    assert describe(lost) == data
    push = restore(data, allow_code=True)
    assert (type(push).__name__, push.size) == ("Push", 2.0)
    assert type(restore(data)) is type(push)  # an element that the program knows by now
    assert describe(push) == data


@dataclass(frozen=True)
class Ramp:
    """A function of time with a number in it, from outside of Poinsot."""

    slope: float

    def __call__(self, t: Any, scene: pt.Scene) -> Any:
        return np.stack([self.slope * t, 0.0 * t, 0.0 * t])


def test_a_callable_with_numbers():
    d = world(Ramp(0.1)).description
    assert same(through_json(d, allow_code=True), d)
    assert next(m.why for m in missing(through_json(d))).startswith("Force 'f' needs the class")


def test_what_cannot_be_stored_is_missing():
    stored = through_json({"a": object(), "b": Ramp(1.0).__call__})
    assert [type(x) for x in stored.values()] == [Missing, Missing]
    with pytest.raises(ValueError, match="holds an object of builtins:object, which a file cannot hold"):
        stored["a"]()


def test_fingerprints_see_what_a_function_does():
    def made(k: float) -> Callable[[float], float]:
        return lambda x: k * x

    assert fingerprint(made(2.0)) == fingerprint(made(2.0))
    assert fingerprint(made(2.0)) != fingerprint(made(3.0))
    assert fingerprint(lambda x: x + 1) != fingerprint(lambda x: x + 2)
    assert fingerprint(lambda x: np.sin(x)) != fingerprint(lambda x: np.cos(x))
    assert fingerprint(lambda x, a=1: x) != fingerprint(lambda x, a=2: x)
    assert fingerprint(np.sin) == ""


class Gain:
    """A callable object, with a number and a method."""

    offset = 0.0

    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x: float) -> float:
        return self.k * x + self.offset


def test_fingerprints_see_what_a_function_reads(module, monkeypatch):
    """Globals by content, functions and objects in turn, and what is read from the user's modules."""
    module("K = 1.0\n")
    import users_own

    scope: dict[str, Any] = {"__name__": "mine", "own": users_own, "gain": Gain(2.0), "a": np.ones(3), "s": {"x", "y"}}
    scope["__builtins__"] = __builtins__
    text = "def g(x): return [a for _ in x]\ndef f(x): return g(gain(x)) if x in s else own.K\n"
    exec(text, scope)
    f = scope["f"]
    first = fingerprint(f)
    for change, back in (
        (lambda: scope["a"].__setitem__(0, 7.0), lambda: scope["a"].__setitem__(0, 1.0)),
        (lambda: setattr(scope["gain"], "k", 3.0), lambda: setattr(scope["gain"], "k", 2.0)),
        (lambda: setattr(Gain, "offset", 1.0), lambda: setattr(Gain, "offset", 0.0)),
        (lambda: setattr(users_own, "K", 2.0), lambda: setattr(users_own, "K", 1.0)),
        (lambda: scope["s"].add("z"), lambda: scope["s"].remove("z")),
    ):
        change()
        assert fingerprint(f) != first
        back()
        assert fingerprint(f) == first
    scope["unused"] = 1
    assert fingerprint(f) == first
    partial = [hash_of(world(functools.partial(f, x))) for x in (1.0, 1.0, 2.0)]
    assert partial[0] == partial[1] != partial[2]


@dataclass
class Tuned:
    """Data of the user, some of it private."""

    gain: float = 1.0
    _offset: float = 0.0


def test_fingerprints_see_further_places(module, monkeypatch):
    """Modules in modules, modules that are closed over, private fields of dataclasses, attributes of functions."""
    module("K = 1.0\n")
    import users_own

    inner = ModuleType("users_own.inner")
    inner.C, inner.up, users_own.inner = 1.0, users_own, inner  # type: ignore[attr-defined]
    tuned = Tuned()

    def law() -> float:
        return 1.0

    law.k = 1.0  # type: ignore[attr-defined]

    def made(own: Any) -> Callable[[float], float]:
        return lambda x: x * own.inner.C * tuned._offset * law.k * own.inner.up.K  # type: ignore[attr-defined,no-any-return]

    f = made(users_own)
    first = fingerprint(f)
    for owner, name in ((inner, "C"), (users_own, "K"), (tuned, "_offset"), (tuned, "gain"), (law, "k")):
        with monkeypatch.context() as changed:
            changed.setattr(owner, name, 5.0)
            assert fingerprint(f) != first, name
        assert fingerprint(f) == first


def test_a_function_whose_globals_changed_does_not_come_back(module):
    module("K = 1.0\ndef push(t, scene):\n    return (0.0, 0.0, K)\n")
    import users_own

    data = describe(users_own.push)
    assert restore(data, allow_code=True) is users_own.push
    users_own.K = 2.0
    with pytest.raises(ValueError, match=r"users_own:push.* has changed"):
        restore(data, allow_code=True)(0.0, None)


def test_names_do_not_lead_from_module_to_module(module):
    """A name leads to what a module holds and to what its classes hold; never on to other modules."""
    module("import os\nclass Own:\n    @staticmethod\n    def push(t, scene): return (0.0, 0.0, 1.0)\n")
    for reference in ("users_own:os.system", "users_own:os.path.join", "users_own:Own.push.__globals__"):
        found = restore({"function": reference, "code": ""}, allow_code=True)
        assert isinstance(found, Missing), reference
    import users_own

    assert restore(describe(users_own.Own.push), allow_code=True) is users_own.Own.push
    for name in ("poinsot.cli.commands:App", "poinsot.world:builder.World", "poinsot.show.hand:Hand"):
        assert isinstance(restore({"class": name}), Missing)


# Data that are wrong.


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"class": "Spring", "name": "s", "a": "x", "b": "y", "stifness": 1.0}, r"Spring 's'.*'stiffness'"),
        ({"class": "Spring", "name": "s", "a": "x", "b": "y", "damping": -1.0}, r"damping of spring 's'.*-1.0"),
        ({"class": "Sphere"}, r"the description cannot be made: .*radius"),
        ({"class": "Inertia", "mass": {"number": "nan"}, "com": [0, 0, 0], "moment": [[1, 0, 0]] * 3}, "mass = nan"),
    ],
)
def test_wrong_data_is_named(data, message):
    with pytest.raises(ValueError, match=message):
        restore(data)


def test_defaults_may_be_left_out():
    spring = restore({"class": "Spring", "name": "s", "a": "box", "stiffness": 5.0})
    assert (spring.b, spring.stiffness, spring.tension) == ("world", 5.0, None)


@pytest.mark.parametrize(
    "counts", [itertools.count(), itertools.cycle([1, 2]), itertools.chain([3], [4])], ids=lambda x: type(x).__name__
)
def test_a_counter_has_no_content_to_compare(counts):
    """It changes as it is read, and the Pythons differ in whether it can be copied."""

    def reading():
        return next(counts)

    before = fingerprint(reading)
    reading()
    assert fingerprint(reading) == before
    assert unknown(reading) == [f"itertools.{type(counts).__name__}"]


def test_a_function_is_told_by_the_variables_of_the_environment_that_it_names(monkeypatch):
    def by_item(t, scene):
        return float(os.environ["GAIN"]) * np.ones(3)

    def by_method(t, scene):
        return (lambda: float(os.getenv("GAIN", "0")))() * np.ones(3)

    monkeypatch.setenv("GAIN", "1.0")
    before = [fingerprint(f) for f in (by_item, by_method)]
    monkeypatch.setenv("ANOTHER", "1.0")
    assert [fingerprint(f) for f in (by_item, by_method)] == before
    monkeypatch.setenv("GAIN", "2.0")
    after = [fingerprint(f) for f in (by_item, by_method)]
    assert all(a != b for a, b in zip(before, after, strict=True))
