"""Loops that part: at a load, or at an event; the motion is continuous and then that of the open tree."""

import numpy as np
import pytest

import poinsot as pt


def arms(rod=True, **start):
    """Two pendulums, 2 m apart, and a rod between them that pulls."""
    world = pt.World(gravity=(0, -9.81, 0))
    arm = pt.Inertia(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1]))
    for k in range(2):
        q, v = start.get("q", (-1.0, -2.5))[k], start.get("v", (0.0, 0.0))[k]
        world.add_body(f"arm{k}", arm, joint=pt.revolute((0, 0, 1)), placement=(2.0 * k, 0, 0), q=q, v=v)
    if rod:
        world.close("rod", "arm0", "arm1", pt.distance(1.0), (1, 0, 0), (1, 0, 0))
    return world


def after(run, k):
    """The open tree from record k on."""
    q, v = run.data.q.values[k], run.data.v.values[k]
    return arms(rod=False, q=q, v=v)


def test_a_rod_breaks_at_its_limit():
    """At the load, found within the step; then two pendulums of their own. The ledger closes through the parting."""
    world = arms()
    whole = arms().simulate(0.4, 1e-3, every=1e-3, record=["rod.force"])
    load = np.linalg.norm(whole.data["rod.force"].values[:, 3:], axis=1)
    limit = 0.5 * (load[0] + load.max())
    world.add(pt.Cut("section", loop="rod"))
    world.add(pt.Limit("strength", loop="rod", cut="section", load=lambda F: np.sqrt(F @ F) / limit, then="part"))
    run = world.simulate(0.4, 1e-3, every=1e-3, record=["q", "v", "rod.force", "strength.latched_at"])
    at = float(run.data["strength.latched_at"][-1])
    k = int(np.argmax(run.time > at))
    force = np.linalg.norm(run.data["rod.force"].values[:, 3:], axis=1)
    np.testing.assert_allclose(force[: k - 1], load[: k - 1], rtol=1e-9)
    assert force[k - 1] <= limit
    assert np.all(force[k:] == 0)
    t = whole.time
    crossing = np.interp(limit, load[k - 1 : k + 1], t[k - 1 : k + 1])
    assert at == pytest.approx(crossing, abs=1e-6)
    rest = after(run, k).simulate(0.4 - run.time[k], 1e-3)
    np.testing.assert_allclose(run.data.q.values[-1], rest.data.q.values[-1], rtol=0, atol=1e-9)
    assert run.ledger.relative_residual.max() < 1e-9


def test_an_event_lets_a_loop_and_a_drive_go():
    world = arms()
    world.drive("arm0", lambda t: -1.0 + 0.0 * t, name="motor")
    world.add(pt.When("snap", condition=lambda t, scene: t - 0.2503, release="rod"))
    world.add(pt.When("off", condition=lambda t, scene: t - 0.4, release="motor"))
    assert world.mobility().degrees_of_freedom == 0
    run = world.simulate(0.6, 1e-3, record=["q", "v", "rod.force", "motor.force", "snap.at"])
    assert run.data["snap.at"][-1] == pytest.approx(0.2503, abs=1e-12)
    before, between, later = (run.time < 0.25, (run.time > 0.251) & (run.time < 0.4), run.time > 0.401)
    q = run.data.q.values
    np.testing.assert_allclose(q[before], np.broadcast_to(q[0], q[before].shape), rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[between, 0], -1.0, rtol=0, atol=1e-12)
    assert np.ptp(q[between, 1]) > 0.01
    assert np.ptp(q[later, 0]) > 0.01
    torque = run.data["motor.force"].values
    np.testing.assert_allclose(torque[between], 9.81 * 0.5 * np.cos(1.0), rtol=1e-9)
    assert np.all(torque[later] == 0)
    assert run.ledger.relative_residual.max() < 1e-8


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda w: w.add(pt.Cut("c", loop="rood")), "there is no element 'rood'.*rod"),
        (lambda w: w.add(pt.Cut("c", loop="rod", body="arm0")), "leave out body and piece"),
        (lambda w: w.add(pt.When("e", "time", release="rood")), "'rood', which is not a body"),
        (
            lambda w: [
                w.add(pt.Cut("c", body="arm0")),
                w.add(pt.Limit("l", loop="rod", cut="c", axial=1.0, then="part")),
            ],
            "lets the loop 'rod' go, but its cut 'c' goes through 'arm0'",
        ),
    ],
)
def test_bad_cuts_of_loops(add, message):
    def start():
        world = arms()
        add(world)
        world.start()

    with pytest.raises((ValueError, KeyError), match=message):
        start()
