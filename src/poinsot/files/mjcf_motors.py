"""The actuators of an MJCF file: motors, position and velocity servos on joints and fixed tendons."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from poinsot.files.mjcf_tendons import path_of
from poinsot.parts import PD, Element, Input, Motor, TendonMotor

FIXED, AFFINE, NONE = 0, 1, 0  # MuJoCo's mjtGain and mjtBias


def motors_of(mujoco: Any, model: Any, moving: Sequence[str], names: Sequence[str]) -> Iterator[Element]:
    """`motor`, `position` and `velocity` actuators of hinges, slides and fixed tendons, with inputs of their names.

    The force is gear (g u + b0 + b1 gear q + b2 gear v), for the control u.
    """
    for a, name in enumerate(names):
        if (made := _motor(mujoco, model, a, moving, name)) is not None:
            yield made


def _motor(mujoco: Any, model: Any, a: int, moving: Sequence[str], name: str) -> Element | None:
    kind, on, gear = int(model.actuator_trntype[a]), int(model.actuator_trnid[a, 0]), float(model.actuator_gear[a, 0])
    plain = int(model.actuator_gaintype[a]) == FIXED and int(model.actuator_dyntype[a]) == 0 and gear != 0
    if not plain:
        return None
    if kind == int(mujoco.mjtTrn.mjTRN_JOINT) and int(model.jnt_type[on]) >= 2:
        return _on_joint(model, a, name, moving[on], gear)
    if kind == int(mujoco.mjtTrn.mjTRN_TENDON) and (path := path_of(mujoco, model, on, moving)) is not None:
        made = _on_joint(model, a, name, "", gear)
        return None if made is None else _along(made, path)
    return None


def _on_joint(model: Any, a: int, name: str, link: str, gear: float) -> Motor | PD | None:
    """The motor as one in a joint."""
    gain, bias = float(model.actuator_gainprm[a, 0]), [float(x) for x in model.actuator_biasprm[a, :3]]
    limit = np.inf
    if model.actuator_forcelimited[a]:
        low, high = (float(x) for x in model.actuator_forcerange[a])
        if low != -high:
            return None
        limit = high * abs(gear)
    if int(model.actuator_biastype[a]) == NONE:
        return Motor(name, link, _control(model, a, name, gear * gain), limit)
    if int(model.actuator_biastype[a]) != AFFINE or bias[0]:
        return None
    kp, kd = -bias[1] * gear**2, -bias[2] * gear**2
    if gain == -bias[1]:
        return PD(name, link, kp, kd, _control(model, a, name, 1 / gear), limit=limit)
    if gain == -bias[2] and not bias[1]:
        return PD(name, link, 0.0, kd, None, _control(model, a, name, 1 / gear), limit=limit)
    return None


def _along(motor: Motor | PD, path: tuple[Any, Any]) -> TendonMotor:
    """The same motor along a tendon."""
    if isinstance(motor, Motor):
        return TendonMotor(motor.name, *path, value=motor.value, limit=motor.limit)
    target = 0.0 if motor.target is None else motor.target
    gains: Any = {"kp": motor.kp, "kd": motor.kd}
    return TendonMotor(motor.name, *path, **gains, target=target, target_rate=motor.target_rate, limit=motor.limit)


def _control(model: Any, a: int, name: str, factor: float) -> Input:
    """The control of an actuator, within its `ctrlrange`, times a factor."""
    low, high = (float(x) for x in model.actuator_ctrlrange[a])
    return Input(name, factor, (low, high) if model.actuator_ctrllimited[a] else None)


def actuator_names(model: Any, links: Collection[str]) -> list[str]:
    """The names of all actuators, also of their inputs: with `_motor` where a link has the name."""
    names = [model.actuator(a).name or f"actuator{a}" for a in range(model.nu)]
    return [f"{name}_motor" if name in links else name for name in names]
