"""The algebra of the texts: rotations, poses, twists, wrenches, mass properties, shapes."""

from poinsot.spatial import euler, motion, peers, quaternion, rotation, shapes
from poinsot.spatial.inertia import Inertia
from poinsot.spatial.physical import InertiaWarning
from poinsot.spatial.pose import Pose

__all__ = ["Inertia", "InertiaWarning", "Pose", "euler", "motion", "peers", "quaternion", "rotation", "shapes"]
