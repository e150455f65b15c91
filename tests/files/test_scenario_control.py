"""Laws, blocks, actuators, sensors and events in scenario files: the world is the one that Python builds."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.files.expressions import Expression
from poinsot.files.problems import ScenarioError
from poinsot.files.scenario import read_scenario
from poinsot.files.schema import scenario_schema

RUN = "[run]\nduration = 1\nstep = 0.01\n"
CART = """
[[body]]
name = "cart"
joint = { kind = "prismatic", axis = [1, 0, 0] }
shape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 1 }]
q = 1.0
[[motor]]
name = "push"
joint = "cart"
value = "law.force"
"""
LAW = """
[[controller]]
name = "law"
states = { integral = 0 }
outputs = { force = "-k*x - 2*cart.v[0] - integral + bias" }
next = { integral = "integral + 0.1*x" }
sample = "100 ms"
delay = "40 ms"
[controller.inputs]
x = "cart.q[0]"
[constants]
k = 3
[inputs]
bias = 0
"""


def read(text):
    return read_scenario(RUN + text)


def cart(law, *more):
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), joint=pt.prismatic((1, 0, 0)), q=1.0)
    world.add_input("bias", 0.0)
    world.add_motor("push", "cart", pt.Signal("law.force"))
    world.add(law)
    for element in more:
        world.add(element)
    return world


def test_a_law_of_formulas_and_an_event_are_those_of_python(tmp_path):
    def law(t, x, v, bias, integral):
        return {"force": -3.0 * x - 2.0 * v - integral + bias}, {"integral": integral + 0.1 * x}

    inputs = {"x": "cart.q[0]", "v": "cart.v[0]", "bias": "bias"}
    block = pt.Controller("law", law, inputs, ["force"], 0.1, 0.04, {"integral": 0.0})
    event = pt.When("near", lambda t, scene: scene.signal("cart.q[0]") < 0.2, {"bias": 2.0})
    expected = cart(event, block).simulate(1.0, 0.01)
    event = '[[event]]\nname = "near"\nwhen = "cart.q[0] < 20 cm"\nthen = { set = { bias = 2 } }\n'
    run = read(CART + LAW + event).run()
    assert np.array_equal(run.y, expected.y)
    assert 0.9 < run.data["near.at"][-1] < 1.0
    run.save(tmp_path / "run.nc")  # formulas come back without any code
    again = pt.load_run(tmp_path / "run.nc").continue_(0.1)
    assert np.array_equal(again.y, expected.continue_(0.1).y)


BLOCKS = """
[inputs]
bias = 0
[[body]]
name = "craft"
angular_velocity = [0, 0, "2 deg/s"]
inertia = { mass = 10, moment = [1, 2, 2.5] }
[[body.sensor]]
name = "gyro"
kind = "gyro"
sample = "100 ms"
noise = "0.1 deg/hour^0.5"
bias = ["3 deg/hour", 0, 0]
[[pid]]
name = "pid"
input = "craft.gyro.out[2]"
target = "1 deg/s"
kp = 2
ki = "3 1/s"
limit = 5
sample = "0.1 s"
[[lag]]
name = "lag"
input = "pid.out"
lag = "200 ms"
[[lead]]
name = "lead"
input = "2 * lag.out + bias"
lead = 0.5
lag = 0.1
[[washout]]
name = "washout"
input = "lead.out"
time = "2 s"
[[notch]]
name = "notch"
input = { signal = "lead.out", factor = 2 }
frequency = "5 turn/s"
[[gain_schedule]]
name = "gain"
input = "notch.out"
by = "craft.velocity[0]"
at = [0, 10]
gains = [1, 3]
[[quaternion_feedback]]
name = "hold"
attitude = "craft.orientation"
rate = "craft.gyro.out"
kp = "2 N m"
kd = [1, 1, "200 N cm s"]
sample = "100 ms"
[[actuator]]
name = "servo"
input = "gain.out"
frequency = "30 rad/s"
low = "-20 deg"
high = "20 deg"
jam = "stuck.happened"
[[torque]]
name = "torque"
body = "craft"
axes = "body"
value = ["0", "0", "servo.out"]
[[event]]
name = "stuck"
when = "craft.angular_velocity[2] > 10 deg/s"
"""


def test_blocks_are_those_of_python():
    deg = np.pi / 180
    world = pt.World()
    world.add_input("bias", 0.0)
    world.add_body("craft", pt.Inertia(10, np.zeros(3), np.diag([1, 2, 2.5])), angular_velocity=(0, 0, 2 * deg))
    errors = {"noise": 0.1 * deg / 60, "bias": [3 * deg / 3600, 0, 0]}
    world["bias"] = 0.0
    for element in (
        pt.Sensor("craft.gyro", "gyro", "craft", sample=0.1, **errors),
        pt.PID("pid", "craft.gyro.out[2]", deg, 2.0, 3.0, limit=5.0, sample=0.1),
        pt.Lag("lag", "pid.out", 0.2),
        pt.Lead("lead", lambda t, scene: 2 * scene.signal("lag.out") + scene.signal("bias"), 0.5, 0.1),
        pt.Washout("washout", "lead.out", 2.0),
        pt.Notch("notch", pt.Signal("lead.out", 2.0), 10 * np.pi),
        pt.GainSchedule("gain", "notch.out", "craft.velocity[0]", [0, 10], [1, 3]),
        pt.QuaternionFeedback("hold", "craft.orientation", "craft.gyro.out", kp=2.0, kd=[1, 1, 2], sample=0.1),
        pt.Actuator("servo", "gain.out", frequency=30.0, low=-20 * deg, high=20 * deg, jam="stuck.happened"),
        pt.When("stuck", lambda t, scene: scene.signal("craft.angular_velocity[2]") > 10 * deg),
    ):
        world.add(element)
    world.add_torque("torque", "craft", lambda t, scene: np.stack([0, 0, scene.signal("servo.out")]), axes="body")
    scenario = read(BLOCKS)
    for name, block in world.description.elements.items():
        if name in ("lead", "stuck", "torque"):
            continue
        found = scenario.world.description.elements[name]
        for key in ("noise", "bias", "kp", "ki", "kd", "limit", "lag", "time", "frequency", "low", "high", "gains"):
            if hasattr(block, key) and getattr(block, key) is not None:
                np.testing.assert_allclose(
                    getattr(found, key), getattr(block, key), rtol=1e-15, err_msg=f"{name}.{key}"
                )
    system = scenario.world.system()
    state = system.start()
    state = pt.State(state.q, state.v + 0.1, np.arange(1.0, 1.0 + len(state.parts)))
    states = system.named_states(state.parts)
    other = world.system()
    same = np.concatenate([np.ravel(states[name]) for name in other.states])  # elements stand in another order
    one, two = system.scene(0.3, state)[0], other.scene(0.3, pt.State(state.q, state.v, same))[0]
    for name in ("lead.out", "washout.out", "notch.out", "gain.out", "servo.command", "torque.torque"):
        np.testing.assert_allclose(one.signal(name), two.signal(name), rtol=1e-14, err_msg=name)


def test_a_linear_quadratic_regulator_balances_a_pole():
    text = """
    [[body]]
    name = "cart"
    joint = { kind = "prismatic", axis = [1, 0, 0] }
    shape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 1 }]
    [[body]]
    name = "pole"
    parent = "cart"
    joint = { kind = "revolute", axis = [0, 1, 0] }
    shape = [{ kind = "rod", length = 1, mass = 0.1, position = [0, 0, 0.5] }]
    q = 0.2
    [[lqr]]
    name = "balance"
    Q = [1, 10, 1, 1]
    R = 0.1
    sample = "20 ms"
    [[motor]]
    name = "push"
    joint = "cart"
    value = "balance.out"
    """
    scenario = read_scenario(text + "\n[run]\nduration = 8\nstep = 0.005\n")
    run = scenario.run()
    assert abs(run.data.q[0, 1]) == 0.2
    assert np.abs(run.data.q[-1]).max() < 1e-3
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), joint=pt.prismatic((1, 0, 0)))
    rod = pt.Pose(p=(0, 0, 0.5)) @ pt.Inertia.rod(0.1, 1.0)
    world.add_body("pole", rod, "cart", pt.revolute((0, 1, 0)))
    world.add_input("u", 0.0)
    world.add_motor("push", "cart", pt.Input("u"))
    gain = pt.lqr(world.linearise(), np.diag([1, 10, 1, 1]), [[0.1]], 0.02)
    np.testing.assert_allclose(scenario.world.description.elements["balance"].gain, gain, rtol=1e-8)


def test_release_ignition_and_stop():
    text = """
    [[body]]
    name = "booster"
    shape = [{ kind = "cylinder", radius = 0.1, height = 1, mass = 3 }]
    [[body]]
    name = "upper"
    parent = "booster"
    joint = { kind = "fixed" }
    placement = [0, 0, 1]
    shape = [{ kind = "cylinder", radius = 0.1, height = 1, mass = 1 }]
    [[body.thruster]]
    name = "engine"
    thrust = { times = [0, 0.1], values = [0, 50] }
    [[event]]
    name = "separation"
    when = "t > 0.2 s"
    then = { release = { body = "upper", stiffness = "8 N/cm", stroke = "5 cm" }, ignite = "upper.engine" }
    [[event]]
    name = "far"
    when = 'altitude("upper") - altitude("booster") > 1.5 m'
    then = "stop"
    """
    scenario = read(text)
    cut = scenario.world.description.elements["separation"]
    assert (cut.then[0].stiffness, cut.then[0].stroke) == (800.0, 0.05)
    assert scenario.world.description.elements["upper.engine"].ignition == "separation"
    assert scenario.world.description.elements["far"].stops


def test_formulas_know_signals_and_units():
    world = read(CART + LAW).world
    scene = world.scene()
    for text, value in {
        "cart.q[0] + 2 m": 3.0,
        "cart.position[0] > 90 cm": True,
        'signal("cart.q[0]")': 1.0,
        "3 if cart.q[0] > 1 ft else 4": 3.0,
        "9.81 m/s^2 * 2 s": 19.62,
        "30 deg": np.pi / 6,
        "2 km / 2": 1000.0,
        "min(1 kg m^2, 2)": 1.0,
    }.items():
        np.testing.assert_allclose(Expression(text)(0.0, scene), value, rtol=1e-14, err_msg=text)
    with pytest.raises(ValueError, match="there is no unit 'metrs'"):
        Expression("2 metrs > t")


@pytest.mark.parametrize("name", ["pid", "sensor", "actuator", "event", "controller", "lqr", "state_feedback"])
def test_the_schema_has_the_table(name):
    assert name in scenario_schema()["properties"]


def test_a_broken_body_makes_no_errors_about_laws():
    with pytest.raises(ScenarioError) as error:
        read(CART.replace("axis = [1, 0, 0] }", "axis = 3 }") + LAW)
    assert len(error.value.problems) == 1
