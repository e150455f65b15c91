"""The actuators and keyframes of an MJCF file: motors, position and velocity servos on joints."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from poinsot.parts import PD, Element, Input, Motor

FIXED, AFFINE, NONE = 0, 1, 0  # MuJoCo's mjtGain and mjtBias


def motors_of(mujoco: Any, model: Any, moving: Sequence[str]) -> Iterator[Element]:
    """`motor`, `position` and `velocity` actuators of hinges and slides, with inputs of their names.

    The force is gear (g u + b0 + b1 gear q + b2 gear v), for the control u.
    """
    for a in range(model.nu):
        if (made := _motor(mujoco, model, a, moving)) is not None:
            yield made


def _motor(mujoco: Any, model: Any, a: int, moving: Sequence[str]) -> Element | None:
    on_joint = int(model.actuator_trntype[a]) == int(mujoco.mjtTrn.mjTRN_JOINT)
    joint, gear = int(model.actuator_trnid[a, 0]), float(model.actuator_gear[a, 0])
    plain = int(model.actuator_gaintype[a]) == FIXED and int(model.actuator_dyntype[a]) == 0 and gear != 0
    if not on_joint or not plain or int(model.jnt_type[joint]) < 2:
        return None
    name, link = actuator_name(model, a), moving[joint]
    gain, bias = float(model.actuator_gainprm[a, 0]), [float(x) for x in model.actuator_biasprm[a, :3]]
    limit = np.inf
    if model.actuator_forcelimited[a]:
        low, high = (float(x) for x in model.actuator_forcerange[a])
        if low != -high:
            return None
        limit = high * abs(gear)
    if int(model.actuator_biastype[a]) == NONE:
        return Motor(name, link, Input(name, gear * gain), limit)
    if int(model.actuator_biastype[a]) != AFFINE or bias[0]:
        return None
    kp, kd = -bias[1] * gear**2, -bias[2] * gear**2
    if gain == -bias[1]:
        return PD(name, link, kp, kd, Input(name, 1 / gear), limit=limit)
    if gain == -bias[2] and not bias[1]:
        return PD(name, link, 0.0, kd, None, Input(name, 1 / gear), limit=limit)
    return None


def actuator_name(model: Any, a: int) -> str:
    """The name of an actuator, also of its input."""
    return model.actuator(a).name or f"actuator{a}"
