"""Robots from SDF files: links, joints, frames, and joints that close loops.

The first joint whose child a link is carries it; any other closes a loop. Poses are read in the frames that the file
names; geometry is not read. Specification: sdformat.org, versions 1.7 to 1.12; tags of Drake: drake.mit.edu.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from poinsot._hints import hint
from poinsot.files._reading import inside, source, warn_ignored
from poinsot.files.repairs import Mender, Repair
from poinsot.files.size_limits import ROBOT_LINKS
from poinsot.mechanism import (
    Closure,
    Coupling,
    Joint,
    Link,
    Mechanism,
    fixed,
    free,
    helical,
    planar,
    prismatic,
    revolute,
    spherical,
    universal,
)
from poinsot.spatial import Pose

DRAKE = "{http://drake.mit.edu}"
WORLD = "world"
MODEL = "__model__"

# By the type of a joint: from its axes, its pitch [m/rad] and its data.
JOINTS: dict[str, Callable[..., Joint]] = {
    "fixed": lambda axes, pitch, name, **data: Joint("fixed", name=name),
    "revolute": lambda axes, pitch, **data: revolute(axes[0], **data),
    "continuous": lambda axes, pitch, **data: revolute(axes[0], **data),
    "prismatic": lambda axes, pitch, **data: prismatic(axes[0], **data),
    "screw": lambda axes, pitch, **data: helical(axes[0], pitch, **data),
    "ball": lambda axes, pitch, name, **data: spherical(name=name),
    "universal": lambda axes, pitch, name, **data: universal(*axes, name=name),
    "revolute2": lambda axes, pitch, name, **data: universal(*axes, name=name),
    "planar": lambda axes, pitch, name, **data: planar((0, 0, 1), name=name),  # of Drake
}
AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "universal": 2, "revolute2": 2}
ANYWHERE = ("fixed", "prismatic")  # the joints for which the point at which they are does not matter
READ = {"link", "joint", "frame", "pose", "static", f"{DRAKE}ball_constraint", f"{DRAKE}joint"}


def load_sdf(path: str | os.PathLike[str], repair: Repair = "warn") -> Mechanism:
    """The model in an SDF file; `repair` is that of `load_urdf`.

    A link that no joint carries floats freely, on a joint called `root_joint`, unless the model is static. Joints that
    close loops become closures of the same name, as do `drake:ball_constraint` and joints that mimic others. A joint
    that is not at its child's origin is a massless link of its own, called `child_joint`. One warning lists what a
    mechanism does not hold (geometry, sensors, plugins, bushings, ...).
    """
    text, mender = source(path, "sdf"), Mender(repair)
    with inside(path):
        root = _parsed(text)
        model = _model(root)
        frames = _Frames.of(model)
        links = frames.named["link"]
        if len(links) > ROBOT_LINKS:
            raise ValueError(f"it has {len(links):,} links; the limit is {ROBOT_LINKS:,}.")
        carriers, loops = _tree(frames)
        made = [link for name in links for link in _links(frames, name, carriers.get(name), mender)]
        moving = {joint.get("name", ""): _mover(frames, joint, name) for name, joint in carriers.items()}
        closures = [_loop(frames, joint) for joint in loops]
        closures += [*_balls(frames), *_mimics(frames, moving)]
        gravity = root.find("world/gravity")
        given = {} if gravity is None else {"gravity": _numbers(gravity, 3)}
        mech = mender.mechanism(made, closures=tuple(closures), **given)
    mender.report(path)
    warn_ignored(path, Counter(_ignored(root, model)))
    return mech


def _parsed(text: bytes) -> Element:
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"not well-formed XML: {error}.") from error


def _model(root: Element) -> Element:
    models = [*root.findall("model"), *root.findall("world/model")]
    if len(models) != 1:
        raise ValueError(f"it has {len(models)} models; load_sdf reads files with one.")
    for tag in ("include", "model"):
        if models[0].find(tag) is not None:
            raise ValueError(f"its model contains <{tag}>; load_sdf reads models in one piece. Expand it first.")
    return models[0]


@dataclass(frozen=True)
class _Frames:
    """All links, joints and frames of a model by name, and where they are."""

    model: Element
    named: dict[str, dict[str, Element]]
    found: dict[str, Pose] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Element) -> "_Frames":
        named: dict[str, dict[str, Element]] = {"link": {}, "joint": {}, "frame": {}}
        taken: set[str] = {WORLD, MODEL}
        for element in model:
            kind = element.tag.removeprefix(DRAKE)
            if kind in named and element.tag in READ:
                name = _attribute(element, "name")
                if name in taken:
                    raise ValueError(f"two elements are called {name!r}, or it is reserved.")
                taken.add(name)
                named[kind][name] = element
        if not named["link"]:
            raise ValueError("its model has no links.")
        return cls(model, named)

    def link_of(self, name: str) -> str:
        """The link that a frame is attached to; the world is one too."""
        seen: list[str] = []
        while name not in self.named["link"] and name not in (WORLD, MODEL):
            if name in seen:
                raise ValueError(f"the frames {' -> '.join([*seen, name])} are attached to each other in a circle.")
            seen.append(name)
            if name in self.named["joint"]:
                name = _text(_child(self.named["joint"][name], "child"))
            elif name in self.named["frame"]:
                name = self.named["frame"][name].get("attached_to", MODEL)
            else:
                raise ValueError(f"there is no link or frame {name!r}{hint(name, self.all())}.")
        return next(iter(self.named["link"])) if name == MODEL else name

    def all(self) -> list[str]:
        return [name for group in self.named.values() for name in group]

    def pose(self, name: str, asking: tuple[str, ...] = ()) -> Pose:
        """The pose of a link, joint or frame in the world."""
        if name == WORLD:
            return Pose()
        if name in asking:
            raise ValueError(f"the poses {' -> '.join([*asking, name])} are relative to each other in a circle.")
        if name not in self.found:
            self.found[name] = self._pose(name, (*asking, name))
        return self.found[name]

    def _pose(self, name: str, asking: tuple[str, ...]) -> Pose:
        if name == MODEL:
            return _pose_of(self.model)[0]
        element = next((group[name] for group in self.named.values() if name in group), None)
        if element is None:
            raise ValueError(f"there is no link, joint or frame {name!r}{hint(name, self.all())}.")
        default = MODEL
        if name in self.named["joint"]:
            default = _text(_child(element, "child"))
        elif name in self.named["frame"]:
            default = element.get("attached_to", MODEL)
        with inside(f"{element.tag.removeprefix(DRAKE)} {name!r}"):
            X, relative_to = _pose_of(element)
        return self.pose(relative_to or default, asking) @ X


def _tree(frames: _Frames) -> tuple[dict[str, Element], list[Element]]:
    """For each link but roots the joint that carries it; and the joints that close loops."""
    carriers: dict[str, Element] = {}
    parents: dict[str, str] = {}
    loops: list[Element] = []
    for name, joint in frames.named["joint"].items():
        with inside(f"joint {name!r}"):
            parent, child = (frames.link_of(_text(_child(joint, end))) for end in ("parent", "child"))
            if child == WORLD or parent == child:
                raise ValueError(f"its child is {child!r} and its parent {parent!r}; a joint is between two links.")
            above = parent
            while above in parents and above != child:
                above = parents[above]
            if child in carriers or above == child:
                loops.append(joint)
            else:
                carriers[child], parents[child] = joint, parent
    return carriers, loops


def _links(frames: _Frames, name: str, carrier: Element | None, mender: Mender) -> Iterator[Link]:
    """A link on its joint; if the joint is elsewhere, first a massless link there."""
    element, X = frames.named["link"][name], frames.pose(name)
    with inside(f"link {name!r}"):
        inertia = _inertia(element, name, mender)
    if carrier is None:
        static = (frames.model.findtext("static") or "").strip().lower() in ("true", "1")
        yield Link(name, inertia, None, fixed() if static else free(name="root_joint"), X)
        return
    with inside(f"joint {carrier.get('name')!r}"):
        parent = frames.link_of(_text(_child(carrier, "parent")))
        X_P, X_J = frames.pose(parent), frames.pose(_attribute(carrier, "name"))
        on = None if parent == WORLD else parent
        X_PJ, X_JC = X_P.inverse() @ X_J, X_J.inverse() @ X
        mover = _mover(frames, carrier, name)
        if mover == name:
            yield Link(name, inertia, on, _joint(frames, carrier, X.R.T @ X_J.R), X_P.inverse() @ X)
        else:
            yield Link(mover, None, on, _joint(frames, carrier), X_PJ)
            yield Link(name, inertia, mover, fixed(), X_JC)


def _mover(frames: _Frames, joint: Element, child: str) -> str:
    """The name of the link that moves on a joint: the child itself if the joint is at its origin."""
    kind, name = _attribute(joint, "type"), _attribute(joint, "name")
    away = frames.pose(child).inverse() @ frames.pose(name)
    turned = kind == "planar" and abs(away.R - Pose().R).max() > 1e-12  # its axes are those of its frame
    return name_of(child, name) if (kind not in ANYWHERE and abs(away.p).max() > 1e-12) or turned else child


def name_of(child: str, joint: str) -> str:
    """The name of the massless link on a joint that is not at its child's origin."""
    return f"{child}_{joint}"


def _joint(frames: _Frames, joint: Element, R: Any = None) -> Joint:
    """A joint, with axes in its own frame, or turned by R."""
    kind = _attribute(joint, "type")
    if kind not in JOINTS:
        raise ValueError(f"its type {kind!r} is not one of {', '.join(map(repr, JOINTS))}.")
    axes = []
    for tag in ("axis", "axis2")[: AXES.get(kind, 0)]:
        xyz = _child(_child(joint, tag), "xyz")
        axis = frames.pose(_attribute(joint, "name")).R.T @ _expressed(frames, joint, xyz) @ _numbers(xyz, 3)
        axes.append(axis if R is None else R @ axis)
    data: dict[str, Any] = {"name": _attribute(joint, "name")}
    pitch = 0.0
    if kind == "screw":
        pitch = _pitch(joint)
    if AXES.get(kind) == 1:
        data |= _data(_child(joint, "axis"), kind)
    return JOINTS[kind](axes, pitch, **data)


def _expressed(frames: _Frames, joint: Element, xyz: Element) -> Any:
    """The axes, in the world, in which an axis is written."""
    return frames.pose(xyz.get("expressed_in") or _attribute(joint, "name")).R


def _pitch(joint: Element) -> float:
    """[m/rad]: of a right-handed thread in m per revolution; or the older one, left-handed in rad/m."""
    if joint.find("screw_thread_pitch") is not None:
        return _number(joint, "screw_thread_pitch") / (2 * math.pi)
    older = _number(joint, "thread_pitch", 1.0)
    if older == 0:
        raise ValueError("<thread_pitch> must not be zero.")
    return -1.0 / older


def _data(axis: Element, kind: str) -> dict[str, Any]:
    data: dict[str, Any] = {}
    limit, dynamics = axis.find("limit"), axis.find("dynamics")
    if limit is not None:
        ends = {"lower": -math.inf, "upper": math.inf} if kind != "continuous" else {}
        data |= {key: _number(limit, key, default) for key, default in ends.items()}
        data = {key: x if abs(x) < 1e15 else math.copysign(math.inf, x) for key, x in data.items()}
        for what in ("effort", "velocity"):
            most = _number(limit, what, -1.0)
            data[f"{what}_limit"] = most if most >= 0 else math.inf  # -1: none
    if dynamics is not None:
        names = {
            "damping": "damping",
            "friction": "friction",
            "spring_stiffness": "stiffness",
            "spring_reference": "rest",
        }
        data |= {ours: _number(dynamics, theirs, 0.0) for theirs, ours in names.items()}
    return data


def _loop(frames: _Frames, joint: Element) -> Closure:
    name = _attribute(joint, "name")
    with inside(f"joint {name!r}"):
        parent, child = (frames.link_of(_text(_child(joint, end))) for end in ("parent", "child"))
        X_J = frames.pose(name)
        A, B = (frames.pose(link).inverse() @ X_J for link in (parent, child))
        return Closure(name, None if parent == WORLD else parent, child, _joint(frames, joint), A, B)


def _balls(frames: _Frames) -> Iterator[Closure]:
    """drake:ball_constraint: a point of body A and one of body B stay together."""
    start = f"{DRAKE}ball_constraint"
    for k, ball in enumerate(frames.model.findall(start)):
        with inside(f"drake:ball_constraint {k}"):
            ends = []
            for side, point in (("A", "p_AP"), ("B", "p_BQ")):
                body = frames.link_of(_text(_child(ball, f"{start}_body_{side}")))
                place = ball.find(f"{start}_{point}")
                p = (0.0, 0.0, 0.0) if place is None else tuple(_numbers(place, 3))
                ends.append((None if body == WORLD else body, Pose(p=p)))
            (a, A), (b, B) = ends if ends[1][0] is not None else ends[::-1]
            yield Closure(f"ball_constraint{k}", a, str(b), spherical(), A, B)


def _mimics(frames: _Frames, moving: dict[str, str]) -> Iterator[Closure]:
    """q = multiplier (q of another joint - reference) + offset: SDF's <mimic>, and Drake's."""
    for name, joint in frames.named["joint"].items():
        theirs, ours = joint.find("axis/mimic"), joint.find(f"{DRAKE}mimic")
        mimic = theirs if theirs is not None else ours
        if mimic is None:
            continue
        with inside(f"joint {name!r}"):
            other = _attribute(mimic, "joint")
            if other not in moving or name not in moving:
                raise ValueError(f"it mimics {other!r}; both must be joints that carry links{hint(other, moving)}.")
            if theirs is not None:
                ratio, offset, at = (_number(mimic, key, 0.0) for key in ("multiplier", "offset", "reference"))
            else:
                ratio, offset, at = (float(mimic.get(k, d)) for k, d in (("multiplier", 1), ("offset", 0), ("none", 0)))
            yield Closure(f"{moving[name]}.mimic", moving[other], moving[name], Coupling(ratio, offset - ratio * at))


def _inertia(link: Element, name: str, mender: Mender) -> Any:
    inertial = link.find("inertial")
    if inertial is None:
        return None
    mass, inertia = _number(inertial, "mass", 1.0), inertial.find("inertia")
    defaults = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}
    xx, xy, xz, yy, yz, zz = (x if inertia is None else _number(inertia, key, x) for key, x in defaults.items())
    return mender.inertia(name, mass, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], _pose_of(inertial)[0])


def _pose_of(element: Element) -> tuple[Pose, str]:
    """The <pose> of an element, and the frame that it is relative to, "" for the usual one."""
    pose = element.find("pose")
    if pose is None:
        return Pose(), ""
    relative_to, unit = pose.get("relative_to", ""), math.pi / 180 if pose.get("degrees") in ("true", "1") else 1.0
    if pose.get("rotation_format") == "quat_xyzw":
        *p, x, y, z, w = _numbers(pose, 7)
        return Pose.from_quaternion([w, x, y, z], p), relative_to
    *p, roll, pitch, yaw = _numbers(pose, 6) if (pose.text or "").strip() else [0.0] * 6
    return Pose.from_euler([roll * unit, pitch * unit, yaw * unit], p), relative_to


def _child(element: Element, tag: str) -> Element:
    child = element.find(tag)
    if child is None:
        raise ValueError(f"<{element.tag}> needs an element <{tag.removeprefix(DRAKE)}>.")
    return child


def _attribute(element: Element, name: str) -> str:
    value = element.get(name)
    if not value:
        raise ValueError(f"<{element.tag.removeprefix(DRAKE)}> needs the attribute {name!r}.")
    return value


def _text(element: Element) -> str:
    return (element.text or "").strip()


def _numbers(element: Element, count: int) -> list[float]:
    try:
        numbers = [float(word) for word in (element.text or "").split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        text, many = (element.text or "").strip(), "s" * (count > 1)
        raise ValueError(f"<{element.tag.removeprefix(DRAKE)}> must be {count} finite number{many}, not {text!r}.")
    return numbers


def _number(element: Element, tag: str, default: float | None = None) -> float:
    child = element.find(tag)
    if child is None and default is not None:
        return default
    text = _text(_child(element, tag))
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"<{tag}> must be a number, not {text!r}.")
    return number


def _ignored(root: Element, model: Element) -> Iterator[str]:
    """The names of the elements that are not read."""
    for element in root.iter("world"):
        yield from (child.tag for child in element if child.tag not in ("model", "gravity"))
    yield from (child.tag.replace(DRAKE, "drake:") for child in model if child.tag not in READ)
    for link in model.iter("link"):
        yield from (child.tag.replace(DRAKE, "drake:") for child in link if child.tag not in ("inertial", "pose"))
