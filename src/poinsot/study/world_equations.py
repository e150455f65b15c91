"""The equations of motion of a small world in symbols, with all of its forces."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.fuse import symbolic
from poinsot.mechanism.dynamics import inverse_dynamics
from poinsot.mechanism.motion_equations import MotionEquations, derived
from poinsot.world.instants import State

if TYPE_CHECKING:
    from poinsot.world import World


def equations(world: "World", free: Sequence[str] = ()) -> MotionEquations:
    """M(q) vdot + bias(t, q, v) = 0 with the forces of all elements, the numbers at the paths `free` as symbols.

    For trees of at most six degrees of freedom whose elements have no states of their own.
    """
    free = (free,) if isinstance(free, str) else tuple(dict.fromkeys(free))
    system = world.system(free)
    if system.loops or system.ns:
        what = f"loops ({', '.join(system.loops)})" if system.loops else f"states of parts ({', '.join(system.states)})"
        raise ValueError(f"the world has {what}: equations in symbols are for trees whose parts have no states.")
    sp = symbolic.sympy()
    numbers = {path: _symbols(sp, path, np.shape(value)) for path, value in system.numbers.items()}

    def residual(q: Any, v: Any, a: Any, t: Any, *values: Any) -> Any:
        moved = system.motion(t, State(q, v, np.zeros(0)), dict(zip(free, values, strict=True)))
        scene = moved.scene
        return inverse_dynamics(scene.mechanism, scene.q, v, a, moved.wrenches or None) - moved.tau

    return derived(system.mechanism, residual, numbers, [sp.Symbol("t", real=True)], with_tau=False)


def _symbols(sp: Any, path: str, shape: tuple[int, ...]) -> Any:
    """Symbols for the number, or the array of numbers, at a path: m_bob for bob.mass."""
    owner, _, name = path.rpartition(".")
    letter = {"mass": "m", "stiffness": "k", "damping": "d", "rest_length": "l"}.get(name, name.replace("_", ""))
    text = f"{letter}_{owner.replace('.', '').replace('_', '')}" if owner else letter
    if not shape:
        return np.array(sp.Symbol(text, real=True), dtype=object)
    places = [f"{text}{''.join(map(str, index))}" for index in np.ndindex(*shape)]
    return np.array([sp.Symbol(place, real=True) for place in places], dtype=object).reshape(shape)
