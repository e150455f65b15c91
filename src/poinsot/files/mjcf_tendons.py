"""The fixed tendons of an MJCF file: sums of joint coordinates with springs, dampers, dry friction and limits."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.parts import Tendon, TendonStop


def path_of(mujoco: Any, model: Any, t: int, moving: Sequence[str]) -> tuple[tuple[str, ...], Array] | None:
    """The links over whose joints a tendon runs, and its coefficients; None if it runs through space, or nowhere."""
    total: dict[str, float] = {}
    first, count = int(model.tendon_adr[t]), int(model.tendon_num[t])
    for w in range(first, first + count):
        if int(model.wrap_type[w]) != int(mujoco.mjtWrap.mjWRAP_JOINT):
            return None
        link = moving[int(model.wrap_objid[w])]
        total[link] = total.get(link, 0.0) + float(model.wrap_prm[w])
    total = {link: c for link, c in total.items() if c}
    return (tuple(total), np.array(list(total.values()))) if total else None


def tendons_of(mujoco: Any, model: Any, moving: Sequence[str]) -> Iterator[Tendon]:
    """The tendons with a spring, damper or dry friction."""
    for t in range(model.ntendon):
        path = path_of(mujoco, model, t, moving)
        numbers = [float(x[t]) for x in (model.tendon_stiffness, model.tendon_damping, model.tendon_frictionloss)]
        if path is None or not any(numbers):
            continue
        low, high = (float(x) for x in model.tendon_lengthspring[t])
        rest = low if low == high else (low, high)
        yield Tendon(f"{tendon_name(model, t)}.tendon", *path, numbers[0], numbers[1], rest, numbers[2])


def stops_of_tendons(mujoco: Any, model: Any, moving: Sequence[str]) -> Iterator[TendonStop]:
    """The limits of tendons; how stiff they are is up to the world."""
    for t in map(int, np.flatnonzero(model.tendon_limited)):
        low, high = (float(x) for x in model.tendon_range[t])
        if (path := path_of(mujoco, model, t, moving)) is not None and low < high:
            yield TendonStop(f"{tendon_name(model, t)}.tendon_stop", *path, lower=low, upper=high)


def unheld_tendons(mujoco: Any, model: Any, moving: Sequence[str]) -> dict[str, int]:
    """Counts of what tendons have that is not read."""
    kinds = [path_of(mujoco, model, t, moving) is None for t in range(model.ntendon)]
    spatial = [repr(tendon_name(model, t)) for t, wound in enumerate(kinds) if wound]
    fixed = ~np.array(kinds, dtype=bool)

    def of_fixed(*fields: str) -> int:
        found = np.zeros(model.ntendon, dtype=bool)
        for name in fields:
            values = np.asarray(getattr(model, name, np.zeros(model.ntendon)))
            found |= np.any(values.reshape(model.ntendon, values.size // max(model.ntendon, 1)) != 0, axis=1)
        return int(np.sum(found & fixed))

    return {
        f"spatial tendons {', '.join(spatial)}": len(spatial),
        "tendons with armature": of_fixed("tendon_armature"),
        "tendons with limits of the forces of their actuators": of_fixed("tendon_actfrclimited"),
        "tendons with springs or dampers that are not linear": of_fixed("tendon_stiffnesspoly", "tendon_dampingpoly"),
        "tendons that yield": of_fixed("tendon_springyield"),
    }


def tendon_name(model: Any, t: int) -> str:
    """The name of a tendon, or one by its number."""
    return model.tendon(t).name or f"tendon{t}"
