"""Worlds that several tests of studies share."""

import re
from functools import cache
from pathlib import Path

import numpy as np

import poinsot as pt
from poinsot.files.scenario import read_scenario

EXAMPLE = Path(__file__).parents[2] / "examples" / "fighter.toml"
LIMITS = {
    "throttle": (0.0, 1.0),
    "elevator": (-0.4363, 0.4363),
    "aileron": (-0.3752, 0.3752),
    "rudder": (-0.5236, 0.5236),
}


@cache
def fighter():
    """The fighter of the examples with its controls as inputs, at 0.35 of the chord if `plane.aero.position` is 0."""
    text = EXAMPLE.read_text()
    for name in ("elevator", "aileron", "rudder"):
        text = re.sub(rf'{name} = "clip.*"', f'{name} = "{name}"', text)
    text = text.replace('pitch_rate = "8 deg/s"', 'throttle = 0.2\nelevator = "-2 deg"\naileron = 0\nrudder = 0')
    text = text.replace('throttle = "0.2 if t < 5 else 1 if t < 35 else 0.2"', 'throttle = "throttle"')
    world = read_scenario(re.sub(r"\[sweep\].*?\[air\]", "[air]", text, flags=re.S)).world
    world.input_limits.update(LIMITS)
    return world


def quadrotor():
    """Four motors in a cross; its centre of mass lies a little to the left of their middle."""
    world = pt.World(air=pt.US76())
    body = world.add_body("quad", pt.Inertia.box(1.2, (0.3, 0.3, 0.1)), start=pt.Start(altitude=50.0))
    for k, (x, y, side) in enumerate([(0.2, 0.2, 1), (-0.2, -0.2, 1), (0.2, -0.2, -1), (-0.2, 0.2, -1)]):
        world.add_input(f"m{k}", 2.0, limits=(0, 10))

        def lift(t, scene, name=f"m{k}"):
            return np.stack([0 * t, 0 * t, -scene.input(name)])

        def drag(t, scene, name=f"m{k}", side=side):
            return np.stack([0 * t, 0 * t, 0.02 * side * scene.input(name)])

        world.add_force(f"lift{k}", body, lift, point=(x, y + 0.01, 0), axes="body")
        world.add_torque(f"drag{k}", body, drag, axes="body")
    return world
