"""Small runs and helpers for the tests of pictures."""

import time as clock
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import poinsot as pt

EXAMPLES = Path(__file__).parents[2] / "examples"


def eventually(true: Callable[[], bool], seconds: float = 120.0) -> bool:
    """Whether it becomes true within some seconds."""
    until = clock.monotonic() + seconds
    while clock.monotonic() < until and not true():
        clock.sleep(0.02)
    return true()


def typed(field: Any, text: str, arrived: Callable[[], bool]) -> bool:
    """Type into a field until it has arrived: one that is just being redrawn loses what is typed."""

    def again() -> bool:
        field.fill(text)
        field.press("Enter")
        return eventually(arrived, 5.0)

    return eventually(again)


def drawn_anew(page: Any) -> bool:
    """Wait until what the page knows now is in its picture, at the size that it has now."""
    before, size = page.evaluate("[poinsot.player.drawn, [innerWidth, innerHeight]]")
    laid_out = (
        "(s => [s.host.clientWidth, s.host.clientHeight, 2 * s.pixels.x / s.share / Math.min(devicePixelRatio, 2)])"
    )
    seen = f"[poinsot.player.drawn, [innerWidth, innerHeight], {laid_out}(poinsot.stage)]"

    def still() -> bool:
        drawn, now, (width, _, picture) = page.evaluate(seen)
        return drawn > before and now == size and abs(width - picture) < 1.5

    page.evaluate("poinsot.player.dirty = true")
    return eventually(still)


@cache
def pendulum() -> pt.Run:
    """Two rods on hinges, 2 s."""
    world = pt.World()
    rod = pt.Pose(p=(0.0, 0.0, -0.5)) @ pt.Inertia.capsule(1.0, 0.04, 0.92)
    world.add_body("upper", rod, joint=pt.revolute((0.0, 1.0, 0.0)), placement=(0.0, 0.0, 2.0), q=[1.5])
    world.add_body("lower", rod, "upper", pt.revolute((0.0, 1.0, 0.0)), placement=(0.0, 0.0, -1.0), q=[0.4])
    return world.simulate(2.0, 1e-3, every=0.02)


@cache
def handle() -> pt.Run:
    """A T-handle that flips in free fall."""
    world = pt.load_scenario(EXAMPLES / "t-handle.toml").world
    world["handle.angular_velocity"], world["handle.velocity"] = (6.0, 0.1, 0.1), (0.1, 0.0, 0.0)
    return world.simulate(4.0, 1e-3, every=0.02)


@cache
def box() -> pt.Run:
    """A box on a spring above the ground, with a force, a torque and a point mass beside it."""
    world = pt.World()
    world.add_body(
        "box", pt.Inertia.box(2.0, (0.4, 0.3, 0.2)), position=(0.0, 0.0, 0.5), angular_velocity=(1.0, 2.0, 3.0)
    )
    world.add_particle("ball", 0.5, (1.0, 0.0, 1.0))
    world.add_spring("spring", "box", "ball", 50.0, 0.5, 0.1, point_a=(0.2, 0.0, 0.0))
    world.add_force("pull", "box", (0.0, 1.0, 0.0), point=(0.0, 0.0, 0.1))
    world.add_torque("twist", "box", (0.0, 0.0, 0.2))
    corners = np.array(np.meshgrid((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1))).reshape(3, -1).T
    world.add_contact("ground", "box", corners, stiffness=1e4)
    return world.simulate(1.0, 1e-3, every=0.02, ledger_tolerance=0.1)  # it hits the ground hard


@cache
def batch() -> pt.Run:
    """Five boxes that rotate at different rates."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("box", pt.Inertia.box(1.0, (0.5, 1.0, 1.5)), velocity=(0.1, 0.0, 0.0))
    return world.simulate(1.0, 1e-2, every=0.05, vary={"box.angular_velocity": np.outer(np.arange(1, 6), (1.0, 0, 0))})
