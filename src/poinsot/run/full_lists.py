"""Lists of contacts that were full, told when a run ends for that reason."""

import numpy as np

from poinsot._types import Array
from poinsot.environment import TouchList
from poinsot.run.compiled import CompiledSystem


def full_list(compiled: CompiledSystem, t: float, y: Array, p: Array, h: float) -> str | None:
    """Which list of an instance cannot hold the contacts of a step h [s] from the state y, in words; None if none."""
    system = compiled.system
    if not np.all(np.isfinite(y)) or not any(isinstance(e, TouchList) for _, e in system.description.acting()):
        return None
    scene, _ = system.scene(t, compiled.unpack(y).state, compiled.free_numbers(p))
    for name, element in scene.elements.items():
        if isinstance(element, TouchList) and (pair := element.left_out(scene, h)) is not None:
            where = "world.add_ground" if element.ground else "world.collide"
            return (
                f"the list {name!r} was full: it has room for {element.capacity} patches, and that of {pair} was one "
                f"more; give {where} a capacity above {element.capacity}"
            )
    return None
