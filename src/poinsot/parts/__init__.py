"""Elements that act on bodies: forces, springs, motors, and the parts of vehicles."""

from poinsot.parts.aerodynamics import Aero
from poinsot.parts.beam import Beam, Flexure
from poinsot.parts.closed_loop import ClosedLoop
from poinsot.parts.element import Effect, Element
from poinsot.parts.flow import Flow, pulse
from poinsot.parts.jet import Jet, afterburning_spool
from poinsot.parts.loads import PD, Force, Input, Motor, Signal, Tabulated, Torque
from poinsot.parts.rotor import Rotor, rpm
from poinsot.parts.scene import WORLD, BodyState, Scene
from poinsot.parts.solid_motor import SolidMotor
from poinsot.parts.spring import Spring
from poinsot.parts.stops import JointStop
from poinsot.parts.structure import Cut, Limit, beyond
from poinsot.parts.tank import Tank
from poinsot.parts.thruster import Thruster

__all__ = [
    "PD",
    "WORLD",
    "Aero",
    "Beam",
    "BodyState",
    "ClosedLoop",
    "Cut",
    "Effect",
    "Element",
    "Flexure",
    "Flow",
    "Force",
    "Input",
    "Jet",
    "JointStop",
    "Limit",
    "Motor",
    "Rotor",
    "Scene",
    "Signal",
    "SolidMotor",
    "Spring",
    "Tabulated",
    "Tank",
    "Thruster",
    "Torque",
    "afterburning_spool",
    "beyond",
    "pulse",
    "rpm",
]
