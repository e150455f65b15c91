"""The attitude of a spacecraft with feedback at 10 Hz by Basilisk: the numbers in tests/control/test_basilisk.py.

In an environment of its own: pip install bsk, then python benchmarks/basilisk_attitude.py
"""

from typing import Any

import numpy as np
from Basilisk.architecture import messaging
from Basilisk.fswAlgorithms import attTrackingError, inertial3D, mrpFeedback, rwMotorTorque
from Basilisk.simulation import extForceTorque, reactionWheelStateEffector, simpleNav, spacecraft
from Basilisk.utilities import SimulationBaseClass, macros, simIncludeRW

INERTIA = [900.0, 0.0, 0.0, 0.0, 800.0, 0.0, 0.0, 0.0, 600.0]


def made(step: float) -> tuple[Any, Any]:
    """A simulation with a task for the dynamics and one for the control at 10 Hz, and a spacecraft."""
    sim = SimulationBaseClass.SimBaseClass()
    process = sim.CreateNewProcess("process")
    process.addTask(sim.CreateNewTask("dynamics", macros.sec2nano(step)), 20)
    process.addTask(sim.CreateNewTask("control", macros.sec2nano(0.1)), 10)
    craft = spacecraft.Spacecraft()
    craft.hub.mHub, craft.hub.r_BcB_B = 750.0, [[0.0]] * 3
    craft.hub.IHubPntBc_B = np.reshape(INERTIA, (3, 3)).tolist()
    craft.hub.r_CN_NInit, craft.hub.v_CN_NInit = [[0.0]] * 3, [[0.0]] * 3
    craft.hub.sigma_BNInit, craft.hub.omega_BN_BInit = [[0.1], [0.2], [-0.3]], [[0.001], [-0.01], [0.03]]
    sim.AddModelToTask("dynamics", craft, 1)
    return sim, craft


def controlled(sim: Any, craft: Any) -> tuple[Any, list[Any]]:
    """MRP feedback on the true attitude; and what must not be collected before the run."""
    nav, aim, error = simpleNav.SimpleNav(), inertial3D.inertial3D(), attTrackingError.attTrackingError()
    law, vehicle = mrpFeedback.mrpFeedback(), messaging.VehicleConfigMsgPayload(ISCPntB_B=INERTIA)
    message = messaging.VehicleConfigMsg().write(vehicle)
    nav.scStateInMsg.subscribeTo(craft.scStateOutMsg)
    error.attNavInMsg.subscribeTo(nav.attOutMsg)
    error.attRefInMsg.subscribeTo(aim.attRefOutMsg)
    law.K, law.P, law.Ki, law.integralLimit = 3.5, 30.0, -1.0, 0.0
    law.guidInMsg.subscribeTo(error.attGuidOutMsg)
    law.vehConfigInMsg.subscribeTo(message)
    for priority, model in zip((100, 90, 80, 70), (nav, aim, error, law), strict=True):
        sim.AddModelToTask("control", model, priority)
    return law, [nav, aim, error, message]


def run(wheels: bool, step: float = 0.0025) -> tuple[np.ndarray, ...]:
    """Times, MRP and angular velocity every 10 s; and the speeds of the wheels."""
    sim, craft = made(step)
    law, kept = controlled(sim, craft)
    if wheels:
        factory, effector = simIncludeRW.rwFactory(), reactionWheelStateEffector.ReactionWheelStateEffector()
        for axis, speed in zip(np.eye(3).tolist(), (100.0, 200.0, 300.0), strict=True):
            factory.create("Honeywell_HR16", axis, maxMomentum=50.0, Omega=speed, u_max=100.0)
        factory.addToSpacecraft("wheels", effector, craft)
        sim.AddModelToTask("dynamics", effector, 2)
        motors, parameters = rwMotorTorque.rwMotorTorque(), factory.getConfigMessage()
        motors.controlAxes_B = np.eye(3).ravel().tolist()
        motors.vehControlInMsg.subscribeTo(law.cmdTorqueOutMsg)
        motors.rwParamsInMsg.subscribeTo(parameters)
        law.rwParamsInMsg.subscribeTo(parameters)
        law.rwSpeedsInMsg.subscribeTo(effector.rwSpeedOutMsg)
        sim.AddModelToTask("control", motors, 60)
        effector.rwMotorCmdInMsg.subscribeTo(motors.rwMotorTorqueOutMsg)
        kept += [factory, parameters]
    else:
        effector = extForceTorque.ExtForceTorque()
        effector.cmdTorqueInMsg.subscribeTo(law.cmdTorqueOutMsg)
        craft.addDynamicEffector(effector)
        sim.AddModelToTask("dynamics", effector, 3)
    logs = [craft.scStateOutMsg.recorder(macros.sec2nano(10.0))]
    logs += [effector.rwSpeedOutMsg.recorder(macros.sec2nano(10.0))] if wheels else []
    for log in logs:
        sim.AddModelToTask("dynamics", log, -10)
    sim.InitializeSimulation()
    sim.ConfigureStopTime(macros.sec2nano(120.0))
    sim.ExecuteSimulation()
    speeds = np.array(logs[1].wheelSpeeds)[:, :3] if wheels else np.zeros((13, 0))
    return logs[0].times() * 1e-9, np.array(logs[0].sigma_BN), np.array(logs[0].omega_BN_B), speeds


if __name__ == "__main__":
    for wheels in (False, True):
        for t, sigma, omega, speeds in zip(*run(wheels), strict=True):
            print("wheels" if wheels else "torque", round(t), sigma.tolist(), omega.tolist(), speeds.tolist())
