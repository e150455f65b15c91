"""Cameras: what a user asks for, and what suits a picture, as a specification for the page."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.show.picture import Picture
from poinsot.show.vehicles import Vehicle, main_vehicle
from poinsot.spatial import rotation

MARGIN = 0.82  # the share of a picture that a fixed camera fills
FOV = 0.7  # rad, the vertical angle of view
MEANINGS = {
    "chase": "behind the body, along its path, with a level horizon",
    "orbit": "around the body, in axes fixed in the world",
    "cockpit": "attached to the body: along its x axis, from above it",
    "fixed": "fixed in the world",
    "from": "at a body, from another one",
}
ANGLES = ("azimuth", "elevation", "distance")


def camera_of(
    picture: Picture, vehicles: Sequence[Vehicle], camera: Any = None, follow: str | None = None, attached: bool = False
) -> dict[str, Any]:
    """The camera of a page.

    camera: None for the one that suits: chase if the main body is small against its path, else fixed. Or "chase",
    "orbit", "cockpit", "fixed", with a body as in "chase plane"; "wing from fuselage" looks at the wing from the
    fuselage. Or a table with a `kind`, a `body`, and `azimuth` [rad], `elevation` [rad], `distance` [m]. Or for a fixed
    one a direction (3,), or a table as `fixed_view` takes it. follow, attached: the body of an orbit or cockpit.
    """
    names = picture.records.names
    main = main_vehicle(list(vehicles))
    if follow is not None:
        picture.records.index(follow)  # an error if there is none
    if camera is None and follow is None:
        kind = "fixed" if not main.is_small else "chase"
        camera = {"kind": kind, "body": names[main.body]}
    elif camera is None:
        camera = {"kind": "cockpit" if attached else "orbit", "body": follow}
    elif isinstance(camera, str):
        camera = spelled(camera, names)
    if not isinstance(camera, Mapping) or "kind" not in camera:
        if follow is not None:
            return _around(picture, vehicles, camera, follow)
        return {"kind": "fixed", "body": main.body, **fixed_view(picture, camera)}
    return _checked(picture, camera, follow or names[main.body])


def _around(picture: Picture, vehicles: Sequence[Vehicle], camera: Any, follow: str) -> dict[str, Any]:
    """An orbit about a followed body, from a direction."""
    view = fixed_view(picture, camera, follow)
    away, up = np.subtract(view["position"], view["look_at"]), np.asarray(view["up"])
    first = np.array([1.0, 0, 0]) - up[0] * up
    x = first / np.linalg.norm(first) if abs(up[0]) < 0.9 else rotation.perpendicular(up)
    azimuth = float(np.arctan2(away @ np.cross(up, x), away @ x))
    elevation = float(np.arcsin(np.clip(away @ up / np.linalg.norm(away), -1, 1)))
    k = picture.records.index(follow)
    return {
        "kind": "orbit",
        "body": k,
        "azimuth": azimuth,
        "elevation": elevation,
        "distance": float(np.linalg.norm(away)),
    }


def spelled(text: str, names: Sequence[str]) -> dict[str, Any]:
    """A camera from words: "chase", "chase plane", "wing from fuselage"."""
    if text in MEANINGS and text != "from":
        return {"kind": text}
    kind, _, body = text.partition(" ")
    if kind in MEANINGS and kind != "from" and body in names:
        return {"kind": kind, "body": body}
    for at in names:
        if text.startswith(f"{at} from ") and (other := text.removeprefix(f"{at} from ")) in names:
            return {"kind": "from", "body": at, "other": other}
    known = [k for k in MEANINGS if k != "from"]
    if kind in known and body:
        raise ValueError(f"camera {text!r}: there is no body {body!r}{hint(body, names)}.")
    raise ValueError(
        f"camera {text!r} is not known{hint(kind, known)}. Use {', '.join(known)}, with a body as in "
        f'"chase {names[0]}", or "{names[0]} from {names[-1]}".'
    )


def check_table(camera: Mapping[str, Any], names: Sequence[str]) -> None:
    """An error if there is no such kind of camera, or no such body."""
    kind = camera["kind"]
    if kind not in MEANINGS:
        raise ValueError(f"a camera of the kind {kind!r} is not known{hint(str(kind), MEANINGS)}.")
    for key in ("body", "other"):
        if key in camera and str(camera[key]) not in names:
            raise ValueError(f"a camera: there is no body {str(camera[key])!r}{hint(str(camera[key]), names)}.")
    if kind != "fixed" and (unknown := set(camera) - {"kind", "body", "other", *ANGLES}):
        raise ValueError(f"a {kind} camera has a body, {', '.join(ANGLES)}, not {', '.join(sorted(unknown))}.")


def _checked(picture: Picture, camera: Mapping[str, Any], body: str) -> dict[str, Any]:
    kind, names = camera["kind"], picture.records.names
    check_table(camera, names)
    if kind == "fixed":
        rest = {key: value for key, value in camera.items() if key not in ("kind", "body")}
        return {"kind": kind, "body": names.index(camera.get("body", body)), **fixed_view(picture, rest)}
    spec: dict[str, Any] = {"kind": kind}
    for key in ("body", "other"):
        if key == "body" or key in camera:
            spec[key] = names.index(str(camera.get(key, body)))
    for key in ANGLES:
        if key in camera:
            value = float(camera[key]) if isinstance(camera[key], (int, float, np.number)) else np.nan
            if not np.isfinite(value) or (key == "distance" and value <= 0):
                raise ValueError(f"{key} of a camera must be a finite number{', above 0' * (key == 'distance')}.")
            spec[key] = value
    if kind == "from" and spec.get("other", spec["body"]) == spec["body"]:
        raise ValueError(f"a camera looks at {names[spec['body']]!r} from another body, not from itself.")
    return spec


def usual_cameras(picture: Picture) -> dict[str, dict[str, Any]]:
    """The cameras of the buttons of a page, by kind."""
    chosen: dict[str, dict[str, Any]] = {
        "chase": {"azimuth": 0.42, "elevation": 0.26},
        "orbit": {"azimuth": -1.01, "elevation": 0.38},
        "cockpit": {},
        "fixed": fixed_view(picture),
        "from": {},
    }
    return {kind: {"kind": kind, "meaning": MEANINGS[kind], **spec} for kind, spec in chosen.items()}


def fixed_view(picture: Picture, view: Any = None, follow: str | None = None) -> dict[str, Any]:
    """Position, look_at [m] and up (3,) of a camera that sees the whole picture.

    follow: the body that it follows; then it sees the surroundings of that body at the start.

    view: None for a view from the front, above and the side; a direction (3,) to look from; or a mapping with a
    `position` (3,) [m], or a `direction` (3,) and a `distance` (1 shows all), and optionally `look_at` and `up`.
    """
    options = dict(view) if isinstance(view, Mapping) else {} if view is None else {"direction": view}
    if unknown := set(options) - {"position", "look_at", "up", "direction", "distance"}:
        raise ValueError(f"a camera has a position, look_at and up, or a direction and distance, not {unknown}.")
    vectors = {name: _vector(name, options[name]) for name in options if name != "distance"}
    centre, size = (picture.centre, picture.size) if follow is None else picture.around(follow)
    up, look_at = vectors.get("up", picture.up), vectors.get("look_at", centre)
    x = rotation.perpendicular(up / np.linalg.norm(up))
    direction = vectors.get("direction", 1.0 * x - 1.6 * np.cross(up, x) + 0.75 * up)
    direction = direction / np.linalg.norm(direction)
    whole = 2.6 * size if follow is not None else _fitting(picture, direction, up)
    away = whole * float(options.get("distance", 1.0)) * direction
    position = vectors.get("position", look_at + away)
    if not np.any(position != look_at):
        raise ValueError(f"the camera is at the point that it looks at, {position}.")
    return {"position": position.tolist(), "look_at": look_at.tolist(), "up": up.tolist()}


def _fitting(picture: Picture, direction: Array, up: Array) -> float:
    """The distance [m] from the centre at which the box around the picture fills a picture of 3:2, up to a margin."""
    low, high = picture.bounds
    corners = np.array(list(product(*zip(low, high, strict=True)))) - picture.centre
    right = np.cross(up, direction)
    right = right / np.linalg.norm(right) if np.any(np.abs(right) > 1e-9) else rotation.perpendicular(direction)
    top = np.cross(direction, right)
    tangent = np.tan(FOV / 2) * MARGIN
    needs = np.maximum(np.abs(corners @ right) / (1.5 * tangent), np.abs(corners @ top) / tangent)
    return max(float((corners @ direction + needs).max()), 0.2 * picture.size)


def _vector(name: str, value: Any) -> Array:
    try:
        vector = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ValueError(f"{name} of a camera must be three finite numbers, not {value!r}.")
    if name in ("up", "direction") and not np.any(vector):
        raise ValueError(f"{name} of a camera must not be zero.")
    return vector
