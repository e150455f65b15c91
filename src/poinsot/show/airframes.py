"""Airframes: what the aerodynamics of a body says of its looks, if it was made of no shapes.

A body with strips or wings gets a fuselage between them; one with coefficients alone a plain aeroplane of their span
and area; a rocket of Barrowman's method its nose, tube and fins. Axes are those of aircraft: x forward, y right, z
down.
"""

from collections.abc import Iterator

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.parts import (
    Aero,
    Barrowman,
    Element,
    Fins,
    Jet,
    Nose,
    Propeller,
    SolidMotor,
    Strip,
    Thruster,
    Transition,
    Wing,
)
from poinsot.show import triangles as draw
from poinsot.show.foils import fixed_parts
from poinsot.show.marks import Colour, aimed
from poinsot.show.triangles import Triangles
from poinsot.spatial import Inertia, Pose
from poinsot.world import Description

GYRATION = 0.19  # the radius of gyration in pitch by the length: Raymer, Aircraft Design, chapter 16
STOUT = 0.058  # the radius of a fuselage by its length
WHITE, RED, CANOPY = (224, 229, 236), (200, 76, 62), (44, 62, 84)
Painted = tuple[Triangles, Colour | None]
AHEAD = Pose.from_quaternion(aimed(np.array([1.0, 0.0, 0.0])))  # z of a body of revolution -> x


def airframe(description: Description, body: str) -> list[Painted]:
    """The surfaces of a body that its aerodynamic elements tell of, each with a colour or None for the body's own."""
    own = _parts(description).get(body, [])
    inertia = description.bodies[body].inertia
    bare = inertia is not None and not inertia.solids
    rockets = [e for e in own if isinstance(e, Barrowman)]
    if rockets and bare:
        return [part for e in rockets for part in rocket(e, own)]
    foils = foils_of(description, body)
    painted: list[Painted] = [(t, None) for e in foils for t in fixed_parts(e)]
    if not painted or not bare or inertia is None or not inertia.moment[1, 1] > 0:
        return painted
    return [*painted, *fuselage(inertia, [t for t, _ in painted], own)]


@memo
def _parts(description: Description) -> dict[str, list[Element]]:
    """The elements on each body that has any."""
    parts: dict[str, list[Element]] = {}
    for element in description.elements.values():
        if isinstance(body := getattr(element, "body", None), str):
            parts.setdefault(body, []).append(element)
    return parts


def foils_of(description: Description, body: str) -> list[Strip | Wing]:
    """The strips and wings of a rigid body; without any, those of the aeroplane that its coefficients suggest."""
    own = _parts(description).get(body, [])
    foils = [e for e in own if isinstance(e, Strip) or (isinstance(e, Wing) and e.beam is None)]
    inertia = description.bodies[body].inertia
    bare = inertia is not None and not inertia.solids and inertia.moment[1, 1] > 0
    on_beams = any(isinstance(e, Wing) and e.beam is not None for parts in _parts(description).values() for e in parts)
    aeros = [e for e in own if isinstance(e, Aero) and e.span is not None and e.area is not None]
    if foils or on_beams or not aeros or not bare or inertia is None:
        return foils
    return aeroplane(aeros[0], inertia)


def aeroplane(aero: Aero, inertia: Inertia) -> list[Strip | Wing]:
    """A wing of the span and area of the coefficients, and a tail: a fifth of the area, the fin an eighth; its distance
    is that of an aeroplane whose radius of gyration in pitch is that of the inertia."""
    span, area, at = float(aero.span or 1), float(aero.area or 1), np.asarray(aero.position, dtype=float)
    mean, length = area / span, _length(inertia)
    sweep = 0.1 + 0.4 * float(np.clip(3.2 - span / mean / 2, 0, 1))  # a fighter's wing is short and swept
    back = inertia.com + np.array([-0.47 * length, 0.0, 0.0])
    tail, fin = np.sqrt(0.2 * area * 4.0), np.sqrt(0.125 * area * 1.3)
    wing = Wing(
        "aileron", aero.body, position=at, half_span=span / 2, chord=(1.4 * mean, 0.6 * mean), sweep=sweep,
        flap=0.25, aileron=(0.5, 0.95),
    )  # fmt: skip
    level = Wing(
        "elevator", aero.body, position=back, half_span=tail / 2, chord=(0.32 * tail, 0.18 * tail), sweep=sweep,
        flap=0.4, together=True,
    )  # fmt: skip
    upright = Wing(
        "rudder", aero.body, position=back + np.array([0.25 * fin, 0.0, 0.0]), half_span=fin, up=(0.0, 1.0, 0.0),
        side="left", chord=(fin, 0.5 * fin), sweep=0.5, flap=0.35, together=True,
    )  # fmt: skip
    return [wing, level, upright]


def fuselage(inertia: Inertia, foils: list[Triangles], own: list[Element]) -> Iterator[Painted]:
    """A slender body along x, from the propeller, or as long as its inertia suggests, to the tail; and a canopy."""
    length, middle = _length(inertia), np.asarray(inertia.com, dtype=float)
    rear = min(float(t.vertices[:, 0].min()) for t in foils)
    rear = rear if rear < middle[0] - 0.25 * length else middle[0] - 0.55 * length
    nose = max(rear + length, middle[0] + 0.3 * length)
    pulls = [float(np.asarray(e.point)[0]) for e in own if isinstance(e, Propeller)]
    nose = max(pulls) - 0.02 * length if pulls and max(pulls) > middle[0] else nose
    length, r = nose - rear, STOUT * (nose - rear)
    end = 0.6 * r if any(isinstance(e, Jet) for e in own) else 0.22 * r
    s = np.linspace(0.0, 1.0, 24)
    front, behind = np.sqrt(np.maximum(0.0, 1 - (1 - s / 0.32) ** 2)), 0.5 * (1 + np.cos(np.pi * (s - 0.32) / 0.68))
    radii = np.where(s < 0.32, r * np.where(s < 0.32, front, 0.0), end + (r - end) * behind)
    profile = [(0.0, rear), *zip(radii[::-1].tolist(), (nose - length * s)[::-1].tolist(), strict=True)]
    yield draw.revolved(profile).moved(AHEAD).moved(Pose(p=(0.0, middle[1], middle[2]))), None
    glass = draw.ball(around=32).scaled((0.09 * length, 0.62 * r, 0.75 * r))
    yield glass.moved(Pose(p=(nose - 0.3 * length, middle[1], middle[2] - 0.62 * r))), CANOPY


def _length(inertia: Inertia) -> float:
    """The length [m] of an aeroplane with this inertia, from its radius of gyration in pitch."""
    about = inertia.moment[1, 1] - inertia.mass * (inertia.com[0] ** 2 + inertia.com[2] ** 2)
    return float(np.sqrt(max(about, 1e-12 * inertia.moment[1, 1]) / inertia.mass)) / GYRATION


def rocket(hull: Barrowman, own: list[Element]) -> Iterator[Painted]:
    """Nose, tube with its transitions, and fins, of a rocket along its axis."""
    axis = np.asarray(hull.axis, dtype=float)
    axis, tip, r = axis / np.linalg.norm(axis), np.asarray(hull.tip, dtype=float), 0.5 * float(hull.diameter)
    X = Pose.from_quaternion(aimed(axis), p=tip)
    noses = [part for part in hull.parts if isinstance(part, Nose)]
    fins = [part for part in hull.parts if isinstance(part, Fins)]
    steps = sorted((part for part in hull.parts if isinstance(part, Transition)), key=lambda t: float(t.at))
    start = float(noses[0].length) if noses else 0.0
    nozzles = [float(axis @ (tip - e.point)) for e in own if isinstance(e, (SolidMotor, Thruster))]
    ends = [float(f.at) + float(f.root) for f in fins] + [float(t.at) + float(t.length) for t in steps]
    end = max([*ends, *nozzles, 3 * start, 6 * r])
    tube = [(r, start)]
    for t in steps:
        tube += [(t.fore / 2, t.at), (t.aft / 2, t.at + t.length)]
    tube = [(float(a), -float(z)) for a, z in [*tube, (tube[-1][0], end)]][::-1]
    yield draw.revolved([(0.0, -end), tube[0]], tube).moved(X), WHITE
    for nose in noses:
        yield draw.revolved(_nose(nose, r)).moved(X), RED
    width = lambda at: float(np.interp(-at, [z for _, z in tube], [a for a, _ in tube]))  # noqa: E731
    for f in fins:
        for k in range(f.count):
            turn = Pose.from_euler((0.0, 0.0, 2 * np.pi * k / f.count + np.pi / 4))
            yield _fin(f, width(float(f.at))).moved(turn).moved(X), RED


def _nose(nose: Nose, r: float) -> list[tuple[float, float]]:
    """The profile of a nose, from its base to its tip at the origin."""
    L, s = float(nose.length), np.linspace(0.0, 1.0, 20)
    rho = (L * L + r * r) / (2 * r)
    theta = np.arccos(1 - 2 * s)
    radii = {
        "cone": r * s,
        "parabolic": r * np.sqrt(s),
        "elliptic": r * np.sqrt(1 - (1 - s) ** 2),
        "von karman": r * np.sqrt((theta - 0.5 * np.sin(2 * theta)) / np.pi),
        "ogive": np.sqrt(rho**2 - (L * (1 - s)) ** 2) + r - rho,
    }[nose.shape]
    return list(zip(np.maximum(radii, 0.0)[::-1].tolist(), (-L * s)[::-1].tolist(), strict=True))


def _fin(f: Fins, r: float) -> Triangles:
    """One fin as a plate in the x-z plane, the tip of the rocket at the origin and z forwards."""
    at, root, tip, span, sweep = (float(getattr(f, name)) for name in ("at", "root", "tip", "span", "sweep"))
    corners = [(0.6 * r, at), (r, at), (r + span, at + sweep), (r + span, at + sweep + max(tip, 1e-3 * root))]
    corners += [(r, at + root), (0.6 * r, at + root)]
    x, z = np.array(corners).T
    half: Array = 0.02 * root * np.array([-1.0, 1.0])
    return draw.lofted(np.stack([np.stack([x, np.full_like(x, y), -z], axis=-1) for y in half]))
