"""Bodies of a scene as lists of contacts see them: by number, in world axes, from a point near them."""

from collections.abc import Sequence

import numpy as np

from poinsot._types import Array
from poinsot.contact.body_frames import BodyFrames
from poinsot.mechanism.stiff_joined import JoinedLinks
from poinsot.parts.scene import Scene
from poinsot.spatial import Pose


def frames_of(scene: Scene, names: tuple[str, ...], about: Array | None = None) -> BodyFrames:
    """Where bodies are, in a scene; seen from near them."""
    about, states = middle_of(scene) if about is None else about, [scene.carrier(name) for name in names]
    poses = [state.pose @ X_CB for state, X_CB in states]
    return BodyFrames.of(names, about, poses, [X.inverse().adjoint() @ state.twist for state, X in states])


def joined_links(scene: Scene, names: Sequence[str], about: Array | None = None, first: int = 0) -> JoinedLinks:
    """Bodies of a tree among those that lists join, from number `first` on; all seen from the point of `frames_of`."""
    about, states = middle_of(scene) if about is None else about, [scene.carrier(name)[0] for name in names]
    Ad = [Pose.unchecked(s.pose.R, s.pose.p - about).adjoint() for s in states]
    return JoinedLinks([scene.mechanism.index(name) for name in names], Ad, first)


def on_body(scene: Scene, name: str, F: Array, about: Array) -> Array:
    """F_B (6,) on a body of a wrench about a point, in world axes."""
    X = scene[name].pose
    return Pose.unchecked(X.R, X.p - about).adjoint().T @ F


def middle_of(scene: Scene) -> Array:
    """A point near the bodies, so that nothing is lost far from the origin."""
    point: Array = next((state.pose.p for state in scene._carriers), np.zeros(3))
    return point
