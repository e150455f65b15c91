"""Mass properties that no body has, entered on purpose: they are kept wherever they go, with one warning at most."""

import json
import warnings

import numpy as np
import pytest

import poinsot as pt
from poinsot.files import described
from poinsot.files.written import scenario_text

# The first links of Corke's model of the Puma 560 (mass, com, principal moments): the first has no mass at all.
PUMA = (
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (0.0018, 0.0013, 0.0018)),
)
IMPOSSIBLE = (1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.1, 0.5]))


def kept():
    return pt.Inertia(*IMPOSSIBLE, check="never")


def test_it_is_an_error_by_default_and_a_warning_on_purpose():
    with pytest.raises(ValueError, match="no mass distribution has one moment larger"):
        pt.Inertia(*IMPOSSIBLE)
    with pytest.warns(pt.InertiaWarning, match=r"principal moments 0.1, 0.1, 0.5 .*It is kept.") as caught:
        inertia = pt.Inertia(*IMPOSSIBLE, check="warn")
    assert caught[0].filename == __file__
    assert np.array_equal(inertia.moment, IMPOSSIBLE[2])
    assert kept().check == inertia.check == "never"
    for mass in (0.0, -2.0):
        with pytest.warns(pt.InertiaWarning, match="must be one positive, finite number"):
            assert pt.Inertia(mass, np.zeros(3), np.eye(3), check="warn").mass == mass
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pt.Inertia(1.0, np.zeros(3), np.eye(3), check="warn").check == "error"


@pytest.mark.parametrize("check", ["warn", "never"])
def test_numbers_that_mean_nothing_are_always_errors(check):
    for mass in (np.nan, np.inf, "heavy", None, (1.0, 2.0)):
        with pytest.raises(ValueError, match="mass = "):
            pt.Inertia(mass, np.zeros(3), np.eye(3), check=check)
    for moment in (np.full((3, 3), np.nan), np.triu(np.ones((3, 3))), np.eye(2), "round"):
        with pytest.raises(ValueError, match="moment"):
            pt.Inertia(1.0, np.zeros(3), moment, check=check)
    with pytest.raises(ValueError, match="check = 'maybe' must be one of 'error', 'warn', 'never'"):
        pt.Inertia(1.0, np.zeros(3), np.eye(3), check="maybe")


def test_whatever_comes_of_it_is_kept():
    X = pt.Pose.from_euler((0.1, 0.2, 0.3), p=(1, 2, 3))
    a, b = kept(), pt.Inertia.box(mass=2.0, size=(0.1, 0.2, 0.3))
    made = [X @ a, a.in_frame(X), a + b, b + a, (a + b) - b, 3 * a, sum([a, b]), a + a]
    made += [pt.Inertia.about_point(a.mass, a.com, a.about((0, 0, 0)), check="never")]
    assert {inertia.check for inertia in made} == {"never"}
    for there, back in ((X @ a).in_frame(X), a), ((a + b) - b, a), (made[-1], a):
        assert np.allclose(there.spatial(), back.spatial(), rtol=0, atol=1e-13)
    assert (b + b).check == (X @ b).check == "error"
    nothing = pt.Inertia(0.0, (1, 2, 3), np.eye(3), check="never")
    assert np.array_equal((nothing + nothing).com, [1, 2, 3])


def test_a_mechanism_has_the_equations_of_its_numbers():
    """Joint torques of Corke's Puma are linear in the numbers of its links, whether a body has them or not."""
    rng = np.random.default_rng(0)

    def arm(numbers, check):
        links, before = [], None
        for k, (mass, com, moments) in enumerate(numbers):
            inertia = pt.Inertia(mass, com, np.diag(moments), check=check)
            axis = (0, 0, 1) if k % 2 == 0 else (0, 1, 0)
            links.append(pt.Link(f"link{k}", inertia, before, pt.revolute(axis), pt.Pose(p=(0.1, 0.2, 0.3))))
            before = f"link{k}"
        return pt.Mechanism(tuple(links))

    q, v, vdot = rng.normal(size=(3, len(PUMA)))
    more = [(2.0, com, (0.5, 0.5, 0.5)) for _, com, _ in PUMA]
    both = [
        (m + n, c, np.add(a, b)) for (m, c, a), (n, _, b) in zip(PUMA, more, strict=True)
    ]  # the same com: masses and moments add up
    torques = [
        pt.inverse_dynamics(arm(numbers, check), q, v, vdot)
        for numbers, check in ((PUMA, "never"), (more, "error"), (both, "error"))
    ]
    assert np.allclose(torques[0] + torques[1], torques[2], rtol=0, atol=1e-12)


def test_a_world_with_it_runs_and_comes_back(tmp_path):
    world = pt.World()
    world.add_body("wheel", kept(), angular_velocity=(1.0, 2.0, 3.0))
    run = world.simulate(0.1)
    assert run.ledger.relative_residual[3] < 1e-9
    run.save(tmp_path / "x.nc")
    back = pt.load_run(tmp_path / "x.nc")
    assert np.array_equal(back.repeat().y, run.y)
    assert np.array_equal(back.world.description.bodies["wheel"].inertia.moment, IMPOSSIBLE[2])
    world["wheel.moment[0,0]"] = 0.01
    world["wheel.com"] = (0.0, 0.0, 0.0)
    assert world.simulate(0.01, batch=2, vary={"wheel.mass": [1.0, 2.0]}).batch == 2
    text = json.dumps(described.describe(world.description))
    assert described.restore(json.loads(text)).bodies["wheel"].inertia.check == "never"


def test_a_scenario_holds_it(tmp_path):
    mech = pt.Mechanism((pt.Link("wheel", kept(), joint=pt.free()),))
    path = tmp_path / "wheel.toml"
    path.write_text(scenario_text(mech, "wheel"))
    assert 'check = "never"' in path.read_text()
    inertia = pt.load_scenario(path).world.description.bodies["wheel"].inertia
    assert np.array_equal(inertia.moment, IMPOSSIBLE[2])
    assert inertia.check == "never"
    path.write_text(path.read_text().replace('"never"', '"sometimes"'))
    with pytest.raises(ValueError, match='expected one of "error", "warn", "never"'):
        pt.load_scenario(path)
