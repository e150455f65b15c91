"""Bad calls, and what each is told: the thing, the value, the fix."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.parts import Flexure

BOX = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
NAN = float("nan")


def world() -> pt.World:
    """A free box, an arm on a hinge with a slide on it, a ball, a spring and an input."""
    w = pt.World()
    w.add_body("box", BOX, position=(0, 0, 1))
    w.add_body("arm", BOX, joint=pt.revolute((0, 1, 0)), placement=(2, 0, 2), q=0.3)
    w.add_body("slide", BOX, "arm", pt.prismatic((0, 0, 1)), (0, 0, 0.5))
    w.add_body("plate", BOX, "box")
    w.add_particle("ball", 0.5, (1, 0, 1))
    w.add_spring("rope", "box", "ball", 50.0, 0.5)
    w.add_input("throttle", 0.0)
    return w


Call = Callable[[pt.World], Any]
BUILDING: dict[str, tuple[Call, str]] = {
    # Names.
    "empty name": (lambda w: w.add_body("", BOX), "'' cannot be the name of a body: it needs one or more letters"),
    "dot in a name": (lambda w: w.add_body("a.b", BOX), "'a.b' cannot be the name of a body: "),
    "space in a name": (lambda w: w.add_body("a b", BOX), "without dots, brackets and spaces."),
    "number as a name": (lambda w: w.add_body(3, BOX), "3 cannot be the name of a body: "),
    "the world's name": (
        lambda w: w.add_body("world", BOX),
        "the names world, gravity, supports, joints, numerical are taken.",
    ),
    "gravity as a force": (
        lambda w: w.add_force("gravity", "box", (0, 0, 1)),
        "'gravity' cannot be the name of an elem",
    ),
    "bracket in a spring": (lambda w: w.add_spring("s[0]", "box", "ball", 1.0), "'s[0]' cannot be the name of an elem"),
    "body twice": (
        lambda w: w.add_body("box", BOX),
        "there is a body called 'box' already; every name can be used once.",
    ),
    "spring named as a body": (
        lambda w: w.add_spring("arm", "box", "ball", 1.0),
        "there is a body called 'arm' already",
    ),
    "input named as a spring": (lambda w: w.add_input("rope"), "there is an element called 'rope' already"),
    # Bodies.
    "no inertia": (lambda w: w.add_body("a", 3.0), "the inertia of body 'a' must be a pt.Inertia, not 3.0."),
    "unknown parent": (
        lambda w: w.add_body("a", BOX, "arn"),
        "parent 'arn' of body 'a' does not exist; did you mean 'arm'?",
    ),
    "two numbers": (
        lambda w: w.add_body("a", BOX, position=(1, 2)),
        "position of body 'a' needs 3 numbers, not (1, 2).",
    ),
    "NaN": (
        lambda w: w.add_body("a", BOX, velocity=(0, NAN, 0)),
        "velocity of body 'a' must be finite numbers, not (0, nan, 0).",
    ),
    "long quaternion": (lambda w: w.add_body("a", BOX, orientation=(2, 0, 0, 0)), "orientation of body 'a'"),
    "wrong q": (
        lambda w: w.add_body("a", BOX, joint=pt.revolute((0, 0, 1)), q=(1, 2)),
        "q of its revolute joint of body 'a' needs 1 numbers, not (1, 2).",
    ),
    "unknown start": (lambda w: w.add_body("a", BOX, speed=3), "unexpected keyword argument 'speed'"),
    "q of a mechanism": (
        lambda w: w.add_mechanism(w.mechanism, q=[1.0], prefix="x"),
        "q of <Mechanism of 5 links, 11 degrees of freedom> needs 12 numbers, not an array of shape (1,).",
    ),
    "many particles": (
        lambda w: w.add_particles("p", pt.Particles(np.ones(2), np.zeros((4, 2, 3)), np.zeros((4, 2, 3)))),
        "one object, with positions (n, 3), can be added; got (4, 2, 3).",
    ),
    # Elements.
    "no element": (lambda w: w.add("spring"), "'spring' cannot be added to a world; it needs a pt.Element"),
    "part without a body": (
        lambda w: w.add_body("a", BOX).add(pt.Spring("s", "box", "ball", 1.0)),
        "is not a part of one body; add it to the world with world.add(...).",
    ),
    "part named as a number": (
        lambda w: w.add_body("a", BOX).add(pt.Force("mass", "", (0, 0, 1))),
        "'a.mass' is a number of the world already; give the part another name.",
    ),
    "negative stiffness": (
        lambda w: w.add_spring("s", "box", "ball", -1.0), "stiffness of spring 's' must be zero or more, not -1.0."
    ),
    "negative damping": (
        lambda w: w.add_spring("s", "box", "ball", 1.0, 0.5, -2.0),
        "damping of spring 's' must be zero or more, not -2.0.",
    ),
    "NaN rest length": (
        lambda w: w.add_spring("s", "box", "ball", 1.0, NAN), "rest_length of spring 's' must be finite, not nan."
    ),
    "point of two numbers": (
        lambda w: w.add_spring("s", "box", "ball", 1.0, point_a=(1, 2)),
        "point_a of spring 's' must be three numbers [m], not (1, 2).",
    ),
    "words": (
        lambda w: w.add_spring("s", "box", "ball", "stiff"),
        "stiffness of spring 's' must be numbers, not 'stiff'.",
    ),
    "spring to itself": (lambda w: w.add_spring("s", "box", "box", 1.0), "spring 's' joins 'box' to itself"),
    "axes": (
        lambda w: w.add_force("f", "box", (1, 0, 0), axes="earth"),
        "axes of force 'f' must be 'world' or 'body', not 'earth'.",
    ),
    "NaN force": (
        lambda w: w.add_force("f", "box", (NAN, 0, 0)),
        "value of force 'f' must be finite, not (nan, 0, 0).",
    ),
    "negative limit": (
        lambda w: w.add_motor("m", "arm", 1.0, limit=-1.0),
        "limit of motor 'm' must be zero or more, not -1.0.",
    ),
    "NaN gain": (lambda w: w.add_feedback("pd", "arm", NAN, 1.0), "kp of PD 'pd' must be finite, not nan."),
    "table that goes back": (
        lambda w: pt.Tabulated([0, 2, 1], [1, 2, 3]),
        "times of a table must be two or more increasing",
    ),
    "table too short": (
        lambda w: pt.Tabulated([0, 1], [1, 2, 3]),
        "values of a table at 2 times must be finite numbers",
    ),
    "contact of one number": (
        lambda w: w.add_contact("c", "box", 1.0), "points of contact 'c' must have shape (k, 3), not ()."
    ),
    "slippery": (
        lambda w: w.add_contact("c", "box", (0, 0, 0), slip=0),
        "slip of contact 'c' must be a positive speed [m/s], not 0.",
    ),
    "flat normal": (
        lambda w: w.add_contact("c", "box", (0, 0, 0), normal=(0, 0, 0)),
        "normal of contact 'c' must be three numbers, not all zero; got (0, 0, 0).",
    ),
    "no axis": (
        lambda w: w.add_contact("c", "box", (0, 0, 0), radius=0.1, axis=(0, 1)),
        "axis of contact 'c' must be three numbers, not all zero; got (0, 1).",
    ),
    # Gravity.
    "gravity of two numbers": (
        lambda w: pt.World((0, 1)),
        "gravity must be three finite numbers [m/s^2] or a CentralGravity",
    ),
    "negative mu": (lambda w: pt.CentralGravity(mu=-1.0), "mu of central gravity must be zero or more, not -1.0."),
    # Paths.
    "unknown path": (lambda w: w["box.mas"], "box.mas: 'mas' does not exist there; did you mean 'mass'?"),
    "unknown owner": (lambda w: w["bux.mass"], "bux.mass: nothing is called 'bux'. Did you mean 'box.mass'?"),
    "no path": (lambda w: w["box..mass"], "'box..mass' is not a path to a number; paths look like 'wing.mass'"),
    "no number": (lambda w: w["box.joint"], "box.joint is of the kind Joint, not a number that could be varied."),
    "index too large": (lambda w: w["box.position[3]"], "box.position[3]: 3 does not exist there"),
    "wrong shape": (
        lambda w: w.__setitem__("box.position", 1.0),
        "box.position has the shape (3,); a value of shape () does not fit.",
    ),
    "NaN to a path": (
        lambda w: w.__setitem__("rope.stiffness", NAN),
        "stiffness of spring 'rope' must be finite, not nan.",
    ),
    "negative mass": (lambda w: w.__setitem__("box.mass", -1.0), "mass"),
}  # fmt: skip
STARTING: dict[str, tuple[Call, str]] = {
    "unknown body": (
        lambda w: w.add_force("f", "bix", (0, 0, 1)), "Force 'f' acts on 'bix', which is not a body; did you mean 'box"
    ),
    "unknown end": (
        lambda w: w.add_spring("s", "box", "bal", 1.0),
        "Spring 's' acts on 'bal', which is not a body; did you",
    ),
    "unknown joint": (
        lambda w: w.add_motor("m", "arn", 1.0),
        "Motor 'm' acts on 'arn', which is not a body; did you mean",
    ),
    "fixed joint": (
        lambda w: w.add_motor("m", "plate", 1.0),
        "Motor 'm': body 'plate' is fixed, it has no joint to move.",
    ),
    "one number as a force": (
        lambda w: w.add_force("f", "box", 5.0), "value of force 'f' has shape (); it must have shape (3,)."
    ),
    "two torques for a hinge": (
        lambda w: w.add_motor("m", "arm", (1.0, 2.0)), "value of motor 'm' has shape (2,); it must have shape (1,)."
    ),
    "one number as a quaternion": (
        lambda w: w.add_feedback("pd", "box", 1.0, 1.0, target=0.0),
        "target of PD 'pd' has shape (); it must have shape (7,).",
    ),
    "unknown input": (
        lambda w: w.add_motor("m", "arm", pt.Input("throtle")),
        "there is no input 'throtle'; did you mean 'throttle'?",
    ),
    "infinite force": (
        lambda w: w.add_force("f", "box", lambda t, s: np.array([0, 0, np.inf])), "Force 'f' puts"
    ),
    "position and q": (
        lambda w: w.add_body("a", BOX, joint=pt.revolute((0, 0, 1)), q=1.0, orientation=(1, 0, 0, 0)),
        "body 'a': give either q of its joint or its orientation, not both.",
    ),
    "not on the joint": (
        lambda w: w.add_body("a", BOX, joint=pt.prismatic((0, 0, 1)), position=(0.5, 0, 1)),
        "body 'a' cannot start there: its prismatic joint on 'the world' keeps it 0.5 m and 0 rad away.",
    ),
    "not along the joint": (
        lambda w: w.add_body("a", BOX, joint=pt.prismatic((0, 0, 1)), velocity=(0.5, 0, 1)),
        "body 'a' cannot start like that: its prismatic joint on 'the world' does not allow that velocity; 0.5",
    ),
    "turned against a hinge": (
        lambda w: w.add_body("a", BOX, "arm", pt.revolute((0, 0, 1)), orientation=(0.8, 0.6, 0, 0)),
        "body 'a' cannot start there: its revolute joint on 'arm' keeps it 0 m and",
    ),
    "massless mover": (lambda w: w.add_body("a"), "link 'a' moves on a free joint, but neither it nor any link"),
    "stop without limits": (
        lambda w: w.add_joint_stop("s", "arm"),
        "joint stop 's': the joint of body 'arm' has no limits; give lower=... or upper=...",
    ),
    "stop the wrong way round": (
        lambda w: w.add_joint_stop("s", "arm", lower=1.0, upper=-1.0),
        "joint stop 's': the lower limit 1.0 must be less than the upper limit -1.0.",
    ),
    "stop for a free body": (
        lambda w: w.add_joint_stop("s", "box", lower=0.0),
        "joint stop 's': there are no stops for the free joint of body 'box'.",
    ),
    "flexure of a free body": (
        lambda w: w.add(Flexure("f", "box", 1.0)),
        "flexure 'f': the free joint of body 'box' cannot be bent. Use pt.Spring.",
    ),
}  # fmt: skip
RUNNING: dict[str, tuple[dict[str, Any], str]] = {
    "no duration": ({"duration": 0.0}, "duration must be a positive number of seconds, not 0.0."),
    "NaN step": ({"step": NAN}, "step must be a positive number of seconds, not nan."),
    "step in words": ({"step": "1 ms"}, "step must be a positive number of seconds, not '1 ms'."),
    "long step": ({"step": 2.0}, "the step of 2 s is longer than the duration of 1 s."),
    "records beside the steps": (
        {"every": 0.0105},
        "records every 0.0105 s do not fall on steps of 0.001 s; take a multiple of the step, such as 0.01 s.",
    ),
    "unknown method": (
        {"method": "rk5"},
        "method 'rk5' is unknown; did you mean 'rk4'?; there are euler, midpoint, rk4",
    ),
    "free bodies only": (
        {"method": "poinsot"},
        "method 'poinsot' is for free bodies and particles with forces between them; body ",
    ),
    "unknown path": ({"vary": {"box.mas": [1.0, 2.0]}}, "box.mas: 'mas' does not exist there"),
    "unknown owner": (
        {"vary": {"bocks.mass": [1.0, 2.0]}},
        "bocks.mass: nothing is called 'bocks'. Did you mean 'box.mass'?",
    ),
    "wrong shape": (
        {"vary": {"box.position": [1.0, 2.0]}},
        "box.position has the shape (3,); it can vary over an array of shape (n, *(3,)), not (2,).",
    ),
    "batches of two sizes": (
        {"vary": {"box.mass": [1.0, 2.0], "rope.stiffness": [1.0, 2.0, 3.0]}},
        "rope.stiffness varies over 3 values, but the batch has 2.",
    ),
    "batch mismatch": (
        {"batch": 5, "vary": {"box.mass": [1.0, 2.0]}},
        "box.mass varies over 2 values, but the batch has 5.",
    ),
    "no batch": ({"batch": -1}, "batch must be a whole number, zero or more, not -1."),
    "how many": ({"vary": {"box.mass": pt.Normal(2, 0.1)}}, "box.mass is drawn at random: say how many with batch=..."),
    "numbers for a vector": (
        {"batch": 2, "vary": {"box.position": pt.Normal(2, 0.1)}},
        "box.position: an array of shape (2, 3) must be drawn, one entry for each of 2 instances, not one of",
    ),
    "varied over NaN": ({"vary": {"box.mass": [1.0, NAN]}}, "box.mass is varied over values that are not finite: nan"),
    "no input": (
        {"inputs": {"throtle": 1.0}},
        "the world has no input 'throtle'; did you mean 'throttle'?; add it with",
    ),
    "shape of an input": (
        {"inputs": {"throttle": (1.0, 2.0)}}, "input 'throttle' has the shape (); values of shape (2,) do not fit."
    ),
    "batch of an input": (
        {"batch": 3, "inputs": {"throttle": (1.0, 2.0)}},
        "input 'throttle' has the shape (); values of shape (2,) do not fit, nor do they fit the batch of 3.",
    ),
    "NaN input": ({"inputs": {"throttle": NAN}}, "input 'throttle' holds values that are not finite."),
    "times that go back": (
        {"inputs": {"throttle": ([0.0, 2.0, 1.0], [1, 2, 3])}},
        "input 'throttle': 3 times, which must increase",
    ),
    "function of another shape": (
        {"inputs": {"throttle": lambda t: np.ones(2)}},
        "input 'throttle' has the shape (), but its function gives (2,).",
    ),
    "device": ({"device": "tpu"}, "device must be 'cpu' or 'cuda', not 'tpu'."),
    "position of a hinge": (
        {"vary": {"arm.position": np.zeros((2, 3))}},
        "arm.position is None, not a number that could be varied.",
    ),
    "a name for the record": ({"record": ["positions"]}, "'positions' cannot be recorded; did you mean 'position'?"),
}  # fmt: skip
ERRORS = (ValueError, KeyError, TypeError)


def said(error: pytest.ExceptionInfo) -> str:
    return str(error.value.args[0])


@pytest.mark.parametrize("what", BUILDING)
def test_building(what):
    call, message = BUILDING[what]
    w = world()
    before = w.description
    with pytest.raises(ERRORS) as error:
        call(w)
    assert message in said(error)
    assert set(w.description.elements) == set(before.elements)  # what failed left nothing behind


@pytest.mark.parametrize("what", STARTING)
def test_starting(what):
    call, message = STARTING[what]
    w = world()
    call(w)
    with pytest.raises(ERRORS) as error:
        w.simulate(1.0)
    assert message in said(error)


@pytest.mark.parametrize("what", RUNNING)
def test_running(what):
    options, message = RUNNING[what]
    with pytest.raises(ERRORS) as error:
        world().simulate(**{"duration": 1.0, **options}).data  # noqa: B018
    assert message in said(error)


def test_every_message_is_a_sentence():
    """It starts with the thing, and ends with a full stop, a question mark or a place for one's own number."""
    for table in (BUILDING, STARTING):
        for what, (call, _) in table.items():
            if what == "unknown start":  # Python's own
                continue
            w = world()
            with pytest.raises(ERRORS) as error:
                call(w), w.simulate(1.0)
            assert re.search(r"(\.|\?|\.\.\.)\)?$", said(error)), said(error)


def test_empty_world():
    with pytest.raises(ValueError, match=r"the world is empty: add a body with world.add_body\(name, inertia\)\."):
        pt.World().simulate(1.0)


def test_body_at_the_centre_of_gravity():
    w = pt.World(gravity=pt.CentralGravity(mu=1.0))
    w.add_particle("moon", 1.0)
    with pytest.raises(ValueError, match=r"CentralGravity 'gravity' puts .*nan.* on 'moon' at the start"):
        w.simulate(1.0)


def test_half_a_mechanism_is_not_added():
    w = world()
    with pytest.raises(ValueError, match="there is a body called 'box' already"):
        w.add_mechanism(
            pt.Mechanism((pt.Link("new", BOX, None, pt.free()), pt.Link("box", BOX, "new", pt.spherical())))
        )
    assert "new" not in w.description.bodies


def test_ledger_that_was_not_kept():
    run = world().simulate(0.01, ledger=False)
    with pytest.raises(ValueError, match=r"no ledger was kept for this run: simulate with ledger=True\."):
        run.ledger  # noqa: B018
