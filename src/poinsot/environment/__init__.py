"""The environment of a world: gravity, ground, the Earth, air and wind."""

from poinsot.environment.air_mass import AirMass
from poinsot.environment.airspeed import AirData, air_data
from poinsot.environment.atmosphere import US76, Air, Atmosphere
from poinsot.environment.earth import Earth
from poinsot.environment.gravity import CentralGravity, EarthGravity
from poinsot.environment.ground import Contact
from poinsot.environment.pair_touch import PairTouch
from poinsot.environment.panel import FlatPanel
from poinsot.environment.terrain import Terrain
from poinsot.environment.torquer import Torquer
from poinsot.environment.touch import Ground, Touch
from poinsot.environment.touch_list import TouchList
from poinsot.environment.wind import Gust, SteadyWind, WindProfile

__all__ = [
    "US76",
    "Air",
    "AirData",
    "AirMass",
    "Atmosphere",
    "CentralGravity",
    "Contact",
    "Earth",
    "EarthGravity",
    "FlatPanel",
    "Ground",
    "Gust",
    "PairTouch",
    "SteadyWind",
    "Terrain",
    "Torquer",
    "Touch",
    "TouchList",
    "WindProfile",
    "air_data",
]
