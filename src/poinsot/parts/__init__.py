"""Elements that act on bodies: forces, springs, motors, and the parts of vehicles."""

from poinsot.parts.aerodynamics import Aero
from poinsot.parts.barrowman import Barrowman, Fins, Nose, Transition
from poinsot.parts.beam import Beam, Flexure
from poinsot.parts.closed_loop import ClosedLoop
from poinsot.parts.element import Effect, Element
from poinsot.parts.engines import ElectricMotor, PistonEngine
from poinsot.parts.flow import Flow, pulse
from poinsot.parts.gear import Gear
from poinsot.parts.jet import Jet, afterburning_spool
from poinsot.parts.loads import PD, Force, Input, Motor, Signal, Tabulated, Torque
from poinsot.parts.parachute import Parachute
from poinsot.parts.propeller import Propeller
from poinsot.parts.rotor import Rotor, rpm
from poinsot.parts.scene import WORLD, BodyState, Scene
from poinsot.parts.solid_motor import SolidMotor
from poinsot.parts.spring import Spring
from poinsot.parts.stops import JointStop
from poinsot.parts.strip import Section, Strip
from poinsot.parts.structure import Cut, Limit, beyond
from poinsot.parts.tank import Tank
from poinsot.parts.tendons import Tendon, TendonMotor, TendonStop
from poinsot.parts.thruster import Thruster
from poinsot.parts.wing import Wing

__all__ = [
    "PD",
    "WORLD",
    "Aero",
    "Barrowman",
    "Beam",
    "BodyState",
    "ClosedLoop",
    "Cut",
    "Effect",
    "ElectricMotor",
    "Element",
    "Fins",
    "Flexure",
    "Flow",
    "Force",
    "Gear",
    "Input",
    "Jet",
    "JointStop",
    "Limit",
    "Motor",
    "Nose",
    "Parachute",
    "PistonEngine",
    "Propeller",
    "Rotor",
    "Scene",
    "Section",
    "Signal",
    "SolidMotor",
    "Spring",
    "Strip",
    "Tabulated",
    "Tank",
    "Tendon",
    "TendonMotor",
    "TendonStop",
    "Thruster",
    "Torque",
    "Transition",
    "Wing",
    "afterburning_spool",
    "beyond",
    "pulse",
    "rpm",
]
