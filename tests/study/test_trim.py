"""Trims: a fighter against the table of the book, steady in simulation; mechanisms at rest; what cannot be reached."""

import numpy as np
import pytest
from study_worlds import fighter, quadrotor

import poinsot as pt
from poinsot.study import TrimError
from poinsot.study.sweeps import sweep

FOOT = 0.3048
# Stevens, Lewis and Johnson: the F-16 at sea level, com at 0.35 c. V [ft/s], throttle, alpha [deg], elevator [deg].
BOOK = np.array([
    [200, 0.287, 19.7, 0.723], [260, 0.148, 11.6, -0.09], [300, 0.122, 8.49, -0.591], [350, 0.107, 5.87, -0.539],
    [400, 0.108, 4.16, -0.591], [440, 0.113, 3.19, -0.671], [500, 0.137, 2.14, -0.756], [540, 0.16, 1.63, -0.798],
    [600, 0.2, 1.04, -0.846], [640, 0.23, 0.742, -0.871], [700, 0.282, 0.382, -0.9], [800, 0.378, -0.045, -0.943],
])  # fmt: skip


def test_fighter_flies_level_as_in_the_book():
    """The book's atmosphere and mass differ a little from ours, and its power from half throttle on."""
    found = fighter().trim(
        "level", hold={"altitude": 0.0, "f16.aero.position[0]": 0.0}, vary={"airspeed": BOOK[:, 0] * FOOT}
    )
    assert found.converged.all()
    assert np.abs(found.residual).max() < 1e-12
    np.testing.assert_allclose(np.degrees(found["alpha"]), BOOK[:, 2], atol=0.05)
    np.testing.assert_allclose(np.degrees(found["elevator"]), BOOK[:, 3], atol=0.03)
    np.testing.assert_allclose(found["f16.engine.power"], found["throttle"], atol=1e-12)
    for name in ("beta", "aileron", "rudder"):
        np.testing.assert_allclose(found[name], 0.0, atol=1e-12)


def test_thousands_of_conditions_side_by_side():
    rng = np.random.default_rng(0)
    vary = {"airspeed": rng.uniform(120, 250, 4096), "altitude": rng.uniform(0, 6000, 4096)}
    found = fighter().trim("level", vary=vary)
    assert found.converged.all()
    assert np.abs(found.residual).max() < 1e-9
    assert found.data.sizes["batch"] == 4096
    one = fighter().trim("level", hold={name: x[17] for name, x in vary.items()})
    np.testing.assert_array_equal([one[k] for k in one.values], [found[k][17] for k in found.values])


@pytest.mark.parametrize(
    ("kind", "hold"),
    [
        ("turn", {"turn_rate": 0.1}),
        ("turn", {"roll": -1.0}),
        ("turn", {"load_factor": 3.0}),
        ("climb", {"flight_path": 0.1, "altitude": 3000.0}),
    ],
)
def test_what_is_trimmed_stays_so(kind, hold):
    """A climb leaves its altitude, and with it the density that it was trimmed for."""
    world = fighter()
    trim = world.trim(kind, hold=hold)
    run = world.simulate(3.0, 0.01, start=trim, record=["airspeed", "alpha", "beta", "load_factor"])
    slack = 1e-9 if kind == "turn" else 0.02
    for name in ("airspeed", "alpha", "beta", "load_factor"):
        assert np.ptp(run.data[name].values) < slack
    if "load_factor" in hold:
        assert trim["load_factor"] == pytest.approx(3.0, abs=1e-12)
        assert trim["roll"] > 1.0


def test_a_pull_up_turns_its_path_at_the_rate_of_its_load():
    """V q = g (n cos(alpha) + ... - 1): the acceleration normal to the path, from the specific force."""
    trim = fighter().trim("pull-up", hold={"load_factor": 3.0})
    specific = fighter().motion(trim.state, inputs=trim.inputs).scene.specific_force("f16")
    alpha, g = trim["alpha"], 9.81
    lift = -specific[2] * np.cos(alpha) + specific[0] * np.sin(alpha)
    np.testing.assert_allclose(trim["airspeed"] * trim["pitch_rate"], lift - g, rtol=1e-9)


def test_a_wind_that_grows_with_height_is_climbed_through_at_a_steady_airspeed():
    """The wind that it climbs into is a headwind that grows; its airspeed stays, its speed over the ground does not."""
    still, windy = (_glider(wind) for wind in (None, pt.WindProfile([0, 4000], [[0, 0, 0], [-40, 0, 0]])))
    for world in (still, windy):
        trim = world.trim(
            "climb", free=("alpha", "thrust", "elevator"), hold={"flight_path": 0.15}, zero=("u", "w", "q")
        )
        run = world.simulate(2.0, 0.01, start=trim, record=["airspeed"])
        np.testing.assert_allclose(run.data.airspeed.values, 60.0, atol=5e-3)  # 0.18 without the wind's change


def _glider(wind=None, earth=None):
    world = pt.World(air=pt.US76(), wind=wind, earth=earth)
    for name, limits in {"thrust": (0, 1e4), "elevator": (-0.4, 0.4)}.items():
        world.add_input(name, 0.0, limits=limits)
    place = {"altitude": 1000.0} if earth is None else {"altitude": 1000.0, "latitude": 0.8, "longitude": 0.1}
    start = pt.Start(**place, heading=0.0, airspeed=60.0, alpha=0.05, flight_path=0.0)
    body = world.add_body("plane", pt.Inertia(1100.0, (0, 0, 0), np.diag([1285.0, 1825.0, 2667.0])), start=start)
    coefficients = {
        "CL": lambda alpha: 0.3 + 4.6 * alpha, "CD": lambda alpha: 0.03 + 0.055 * (0.3 + 4.6 * alpha) ** 2,
        "Cm": lambda alpha, elevator: 0.03 - 0.9 * alpha - 1.2 * elevator, "Cmq": -12.0, "Clp": -0.47, "Cnr": -0.1,
        "CY_beta": -0.4, "Cl_beta": -0.09, "Cn_beta": 0.065,
    }  # fmt: skip
    inputs = {"elevator": pt.Input("elevator")}
    body.add(pt.Aero("aero", coefficients=coefficients, axes="wind", area=16.2, span=10.9, chord=1.5, inputs=inputs))
    world.add_force("pull", body, lambda t, scene: np.stack([scene.input("thrust"), 0 * t, 0 * t]), axes="body")
    return world


def test_steady_over_a_rotating_earth():
    """The attitude against north-east-down, which turns as the aircraft moves along, stays."""
    world = _glider(earth=pt.Earth())
    trim = world.trim("level", free=("alpha", "thrust", "elevator"), zero=("u", "w", "q"))
    run = world.simulate(20.0, 0.01, start=trim, record=["position", "airspeed", "alpha"])
    heights = world.description.earth.height(run.data.position.values[:, 0])
    assert np.ptp(heights) < 2e-3
    assert np.ptp(run.data.airspeed.values) < 1e-4


# Hover, ground, rest.


def test_hover_balances_the_motors():
    trim = quadrotor().trim("hover")
    lifts = np.array([trim[f"m{k}"] for k in range(4)])
    y = np.array([0.21, -0.19, -0.19, 0.21])
    np.testing.assert_allclose([lifts.sum(), lifts @ y, lifts @ [1, 1, -1, -1]], [1.2 * 9.81, 0, 0], atol=1e-11)


def test_an_aircraft_stands_on_its_gear():
    world = pt.World(air=pt.US76(), ground=0.0)
    body = world.add_body("plane", pt.Inertia.box(1000.0, (5, 6, 1)), start=pt.Start(altitude=5.0))
    numbers = {"stroke": 0.25, "stiffness": 4e4, "preload": 1000.0, "air_length": 0.4, "damping": 3e3}
    for name, point in (("nose", (1.5, 0, 1.0)), ("left", (-0.5, -1.2, 1.0)), ("right", (-0.5, 1.2, 1.0))):
        body.add(pt.Gear(name, point=point, radius=0.2, tyre_stiffness=2e5, **numbers))
    trim = world.trim("ground")
    assert trim["pitch"] > 0
    run = world.simulate(0.5, 1e-3, start=trim, record=["position", "plane.nose.load"])
    assert np.ptp(run.data.position.values, axis=0).max() < 1e-12
    pitch, struts = trim["pitch"], [trim[f"plane.{name}.strut"] for name in ("nose", "left")]
    nose, main = (x * np.cos(pitch) + (1.0 - s) * np.sin(pitch) for x, s in zip((1.5, -0.5), struts, strict=True))
    np.testing.assert_allclose(run.data["plane.nose.load"].values[-1], 9810.0 * main / (main - nose), rtol=1e-9)


def test_a_beam_sags_by_the_formula_of_the_books():
    """Euler and Bernoulli: w l^4/(8 E I) at the tip of a clamped beam; 0.5 % with six segments, and it is small."""
    beam = pt.Beam("beam", 2.0, EI=5000.0, GJ=4000.0, mass_per_length=1.0, polar=1e-3, n=6)
    world = pt.World()
    segments = world.add_beam(beam)
    trim = world.trim("rest")
    state = trim.state
    last = world.scene(state)[str(segments[-1])]
    tip = last.point((beam.ends[-1] - beam.joints[-1], 0, 0))
    np.testing.assert_allclose(tip[2], -1.0 * 9.81 * 2.0**4 / (8 * 5000.0), rtol=5e-3)
    again = world.trim("rest", vary={"gravity": np.array([[0, 0, -9.81], [0, 0, 9.81]])})
    np.testing.assert_allclose(again.state.q[0], state.q, atol=1e-12)


def test_a_pendulum_hangs_down_from_wherever_it_starts():
    world = pt.World()
    rod = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.cylinder(1.0, 0.02, 1.0)
    world.add_body("rod", rod, joint=pt.revolute((0, 1, 0)), q=3.0)
    assert abs(np.sin(world.trim("rest").state.q[0])) < 1e-10
    assert np.cos(world.trim("rest").state.q[0]) > 0


def test_a_linkage_with_a_spring_rests_with_its_loop_closed():
    world = pt.World()
    rod = pt.Pose(p=(0, 0, 0.25)) @ pt.Inertia.cylinder(1.0, 0.02, 0.5)
    world.add_body("crank", rod, joint=pt.revolute((0, 1, 0)), q=0.3)
    world.add_body("coupler", rod, "crank", pt.revolute((0, 1, 0)), (0, 0, 0.5), q=1.0)
    world.add_body("rocker", rod, joint=pt.revolute((0, 1, 0)), placement=(0.6, 0, 0), q=0.5)
    world.close("pin", "coupler", "rocker", pt.revolute((0, 1, 0)), (0, 0, 0.5), (0, 0, 0.5))
    world.add_spring("spring", "world", "crank", 60.0, 0.2, point_a=(-0.3, 0, 0.8), point_b=(0, 0, 0.5))
    trim = world.trim("rest")
    assert np.abs(world.system().rows(trim.state).gap).max() < 1e-10
    run = world.simulate(0.5, 1e-3, start=trim)
    assert np.ptp(run.data.q.values, axis=0).max() < 1e-12


def test_a_box_lies_on_the_ground():
    world = pt.World()
    world.add_ground()
    world.add_body("box", pt.Inertia.box(2.0, (0.4, 0.3, 0.2)), position=(0, 0, 0.15))
    q = world.trim("rest", tolerance=1e-9).state.q
    assert 0.0998 < q[6] < 0.1
    np.testing.assert_allclose(q[1:3], 0.0, atol=1e-9)


# The result.


def test_the_result_is_a_start_a_dataset_and_a_world():
    world = fighter()
    trim = world.trim("level", vary={"airspeed": [150.0, 200.0]})
    run = world.simulate(1.0, 0.01, start=trim, record=["airspeed"])
    np.testing.assert_allclose(run.data.airspeed.values[-1, :, 0], [150.0, 200.0], atol=1e-9)
    assert list(trim.data.limit.values) == ["", ""]
    assert {"alpha", "throttle", "airspeed", "residual", "converged"} <= set(trim.data)
    own = trim.trimmed_world(1)
    assert own["elevator"] == pytest.approx(trim["elevator"][1])
    rate = own.derivative(0.0, own.start())
    np.testing.assert_allclose(rate.v, 0.0, atol=1e-10)
    np.testing.assert_allclose(rate.parts, 0.0, atol=1e-10)
    assert "alpha" in str(world.trim("level"))


# What cannot be.


def test_below_the_least_speed_it_is_named():
    world = fighter()
    limits = {"alpha": (-0.17, 0.785)}  # the tables end there
    with pytest.raises(TrimError, match=r"not zero are .*at its stop: .*least airspeed found is 4\d\.\d+ m/s") as error:
        world.trim("level", hold={"airspeed": 30.0, "altitude": 0.0}, limits=limits)
    least = float(str(error.value).rpartition("found is ")[2].split()[0])
    assert world.trim("level", hold={"airspeed": least, "altitude": 0.0}, limits=limits).converged
    with pytest.raises(TrimError, match=r"greatest airspeed found is"):
        world.trim("level", hold={"airspeed": 300.0, "altitude": 0.0}, limits={"throttle": (0.0, 0.2)})
    with pytest.warns(UserWarning, match=r"1 of 2 trims were not found; the first, 0: 'level' is not reached at"):
        some = world.trim("level", vary={"airspeed": [30.0, 200.0]}, limits=limits)
    np.testing.assert_array_equal(some.converged, [False, True])


ALL = ("alpha", "beta", "throttle", "elevator", "aileron", "rudder")
MISTAKES = {
    "kind": ({"kind": "levl"}, r"no trim 'levl'; did you mean 'level'"),
    "free": ({"free": ("alpha", "elevater")}, r"'elevater' is neither .*did you mean 'elevator'"),
    "hold": ({"hold": {"altitud": 1.0}}, r"'altitud' is neither .*did you mean 'altitude'"),
    "vary": ({"vary": {"airsped": [1.0]}}, r"'airsped' is neither .*did you mean 'airspeed'"),
    "zero": ({"zero": ("x",)}, r"zero='x' is not an acceleration .*u, v, w, p, q, r"),
    "limits": ({"limits": {"elevater": (0, 1)}}, r"limits of 'elevater', which is not found; did you mean"),
    "limits that decrease": ({"limits": {"elevator": (1, 0)}}, r"limits of 'elevator' must be two numbers that"),
    "nan": ({"hold": {"airspeed": np.nan}}, r"hold 'airspeed' at a finite number"),
    "text": ({"hold": {"airspeed": "fast"}}, r"hold 'airspeed' at a finite number"),
    "negative": ({"hold": {"airspeed": -3.0}}, r"airspeed = -3.0 .*must be 0 or more"),
    "both": ({"free": ("alpha", "elevator", "throttle"), "hold": {"alpha": 0.1}}, r"'alpha' cannot be given twice"),
    "nothing": ({"free": (), "hold": ("f16.engine.power",)}, r"nothing is left to be found"),
    "turn": ({"kind": "turn"}, r"a turn needs one of turn_rate, load_factor, roll"),
    "unknowns": ({"free": (*ALL, "airspeed", "roll")}, r"9 unknowns .* for 7 equations"),
    "target": ({"free": ("load_factor",)}, r"'load_factor' can be held, but not found"),
    "tolerance": ({"tolerance": 0.0}, r"tolerance=0.0 must be above zero"),
    "a limit": ({"limits": {"elevator": 3}}, r"limits of 'elevator' must be two numbers that"),
    "a name": ({"free": "alpa"}, r"'alpa' is neither .*did you mean 'alpha'"),
    "body": ({"body": "f61"}, r"'f61' is not a free body of the world; did you mean 'f16'"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake):
    asked, words = MISTAKES[mistake]
    with pytest.raises(ValueError, match=words):
        fighter().trim(**asked)


def test_none_of_none():
    none = fighter().trim("level", vary={"airspeed": np.zeros(0)})
    assert none.batch == 0
    assert none["alpha"].shape == (0,)


def test_worlds_that_cannot_be_trimmed():
    world = pt.World()
    world.add_body("stone", pt.Inertia.sphere(1.0, 0.1))
    with pytest.raises(TrimError, match=r"'rest' is not reached: not zero are stone\[5\]' = -9.81"):
        world.trim("rest")
    with pytest.raises(TrimError, match=r"'level' is not reached.* not zero are w = 9.81 m/s\^2"):
        world.trim("level")
    arm = pt.World()
    arm.add_body("arm", pt.Inertia.sphere(1.0, 0.1), joint=pt.revolute((1, 0, 0)))
    with pytest.raises(ValueError, match=r"no body of this world is free to fly"):
        arm.trim("level")
    with pytest.raises(ValueError, match=r"limits of 'a' must be two numbers that increase"):
        arm.add_input("a", 0.0, limits=(1, 1))
    assert "a" not in arm.description.inputs


@pytest.mark.parametrize(
    "names",
    [
        ("f16.mass", "f16.start.airspeed"),
        pytest.param(("f16.mass", "f16.start.altitude"), marks=pytest.mark.slow),
    ],
)
def test_every_instance_of_a_run_is_trimmed_for_its_own_numbers(names):
    world, rng = fighter(), np.random.default_rng(3)
    ranges = {"f16.mass": (8000, 12000), "f16.start.airspeed": (150, 220), "f16.start.altitude": (0, 4000)}
    vary = {name: rng.uniform(*ranges[name], 40) for name in names}
    trim = world.trim("level")
    options = {"record": ["airspeed", "altitude", "alpha"], "every": 0.5}
    runs = world.simulate(2.0, 0.01, start=trim, vary=vary, **options)
    for name in ("airspeed", "altitude", "alpha"):
        x = runs.data[name].values[..., 0]
        assert np.ptp(x, axis=0).max() < 1e-8
    kept = names[1].rpartition(".")[2]
    np.testing.assert_allclose(runs.data[kept].values[0, :, 0], vary[names[1]], rtol=1e-12)
    alone = world.trim("level", hold={"f16.mass": vary["f16.mass"][7], kept: vary[names[1]][7]})
    assert runs.data.alpha.values[0, 7, 0] == pytest.approx(alone["alpha"], abs=1e-12)
    np.testing.assert_array_equal(runs.varied[names[1]], vary[names[1]])
    drawn = world.simulate(0.1, 0.01, start=trim, vary={"f16.mass": pt.Normal(9000, 300)}, batch=5, seed=2, **options)
    assert np.ptp(drawn.data.airspeed.values, axis=0).max() < 1e-9
    assert len(np.unique(drawn.data.alpha.values[0])) == 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_an_input_that_is_given_is_a_step_if_the_trim_finds_it_and_a_condition_if_not():
    world = fighter()
    trim = world.trim("level", hold=("rudder",))
    step = world.simulate(0.1, 0.01, start=trim, vary={"f16.mass": [9000.0, 9500.0]}, inputs={"elevator": -0.1})
    np.testing.assert_array_equal(step.end.held_inputs()["elevator"], -0.1)
    assert np.abs(np.diff(step.data.angular_velocity.values[:, 0], axis=0)).max() > 0.01
    given = {"start": trim, "vary": {"f16.mass": [9000.0, 9500.0]}, "inputs": {"rudder": 0.02}}
    held = world.simulate(0.5, 0.01, **given, record=["beta", "airspeed"], every=0.5)
    assert np.ptp(held.data.beta.values, axis=0).max() < 1e-9
    assert np.abs(held.data.beta.values).min() > 1e-3


@pytest.mark.filterwarnings("ignore::poinsot.LedgerWarning")  # that it breaks down
def test_an_instance_that_cannot_be_trimmed_has_broken_down(tmp_path):
    world = fighter()
    trim = world.trim("level")
    vary = {"f16.start.airspeed": np.array([180.0, 20.0, 200.0])}
    runs = world.simulate(0.5, 0.01, start=trim, vary=vary, outputs={"least": "min(airspeed)"}, record=["airspeed"])
    assert list(runs.stop.notes) == [1]
    assert "'level' is not reached at" in runs.stop.notes[1]
    np.testing.assert_allclose(runs.outputs.least.values, [180.0, np.nan, 200.0], rtol=1e-9)


def test_sweeps_trim_every_instance(tmp_path):
    pytest.importorskip("zarr")
    world = fighter()
    trim, vary = world.trim("level"), {"f16.mass": pt.Uniform(8000, 12000)}
    outputs = {"low": "min(airspeed)", "high": "max(airspeed)", "alpha": "final(alpha)"}
    options = {"samples": 30, "start": trim, "outputs": outputs}
    stored = sweep(world, vary, 1.0, 0.01, save=tmp_path / "a.zarr", record=["airspeed"], chunk=16, **options)
    assert np.abs(stored.data.high - stored.data.low).max() < 1e-8
    assert np.ptp(stored.data.alpha.values) > 0.01
    reduced = pt.sweep_reduced(world, vary, 1.0, 0.01, chunk=1024, **options)
    assert reduced.summary.broken == 0
    assert reduced.summary.most["high"][0][0] - reduced.summary.least["low"][0][0] < 1e-8
    with pytest.raises(ValueError, match="of many instances: a sweep takes"):
        sweep(world, vary, 1.0, save=tmp_path / "b.zarr", start=world.trim("level", vary={"airspeed": [150.0, 160.0]}))
