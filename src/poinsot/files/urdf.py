"""Robots from URDF files.

Every URDF link becomes a link of the same name, fixed ones too, on a joint with the name of the URDF joint. They come
depth first, children in the order of their joints in the file. Geometry is read when it is needed: meshes may be
missing until then.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from poinsot._hints import hint
from poinsot.files._reading import inside, source, warn_ignored
from poinsot.files.repairs import Mender, Repair
from poinsot.files.size_limits import ROBOT_LINKS
from poinsot.files.urdf_shapes import urdf_shapes
from poinsot.mechanism import Closure, Coupling, Joint, Link, Mechanism, free, planar, prismatic, revolute, spherical
from poinsot.mechanism.equipment import Equipment
from poinsot.spatial import Inertia, Pose

# What is read: of each element its attributes, then its children. The rest is counted and reported as ignored.
READ = {
    "robot": ("name version", "link joint"),
    "link": ("name", "inertial"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx ixy ixz iyy iyz izz", ""),
    "origin": ("xyz rpy quat_xyzw", ""),
    "joint": ("name type", "parent child origin axis limit dynamics"),
    "parent": ("link", ""),
    "child": ("link", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper effort velocity", ""),
    "dynamics": ("damping friction", ""),
}

JOINTS: dict[str, Callable[..., Joint]] = {
    "revolute": revolute,
    "continuous": revolute,
    "prismatic": prismatic,
    "planar": planar,
    "floating": lambda axis, **data: free(**data),
    "fixed": lambda axis, name, **data: Joint("fixed", name=name),
}
LIMITED = ("revolute", "prismatic")
DRAKE = "{http://drake.mit.edu}"
BALL = "drake:ball_constraint"


def load_urdf(
    path: str | os.PathLike[str], floating: bool = False, repair: Repair = "warn", mimic: bool = True
) -> Mechanism:
    """The robot in a URDF file; `floating`: its root link moves freely, on a joint called `root_joint`.

    `repair`: what is done about inertias that no body has: "warn" takes the nearest that one can have and lists them in
    a `RepairWarning`, "error" lists them in an error, "never" takes the numbers as they are. So also for a joint that
    starts beyond its own limits because it mimics another: "warn" takes its limits away.

    `mimic`: joints that mimic another are held to it by a `Closure` called "link.mimic"; else they move on their own.
    Drake's `drake:ball_constraint` closes a loop; a bushing (`drake:linear_bushing_rpy`) is a spring, and is left out.

    A link without an inertial element, or with all zeros in it, is a massless frame. Limits are taken as they are, with
    0 for an absent `lower` or `upper`, as URDF says; without a `limit` element there are none. One warning lists what a
    mechanism does not hold (geometry, transmissions, ...).
    """
    text, mender = source(path, "robot"), Mender(repair)
    with inside(path):
        robot = _parsed(text)
        links, joints = _by_name(robot, "link"), _by_name(robot, "joint")
        if len(links) > ROBOT_LINKS:
            raise ValueError(f"it has {len(links):,} links; the limit is {ROBOT_LINKS:,}.")
        carriers = _carriers(links, joints)
        roots = [name for name in links if name not in carriers]
        if len(roots) > 1:
            raise ValueError(f"the links {_quoted(roots)} have no parent; a robot has one root. Join them to it.")
        root_joint = free(name="root_joint") if floating else JOINTS["fixed"](None, "root_joint")
        order = _depth_first(roots, links, carriers)
        mimics = tuple(_mimics(joints)) if mimic else ()
        built = [_link(links[name], carriers.get(name), root_joint, mender) for name in order]
        mech = mender.mechanism(mender.mimicking(built, mimics), closures=(*mimics, *_balls(robot, links)))
    mender.report(path)
    ignored = Counter(chain(_ignored(robot), _without_meaning(joints.values())))
    for read in ("mimic", "visual", "material", "collision", BALL):  # by closures, by the viewer, by worlds
        ignored.pop(read, None)
    warn_ignored(path, ignored)
    there = os.path.abspath(path)
    return replace(mech, source=there, equipment=Equipment(partial(urdf_shapes, there)))


def _parsed(text: bytes) -> Element:
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"not well-formed XML: {error}.") from error
    if any("xacro}" in element.tag for element in robot.iter()):
        raise ValueError("it contains xacro macros. Expand them first: xacro robot.urdf.xacro > robot.urdf")
    namespace = robot.tag.removesuffix("robot")  # from xmlns, which has no meaning in URDF
    for element in robot.iter():
        element.tag = element.tag.removeprefix(namespace).replace(DRAKE, "drake:")
    return robot


def _by_name(robot: Element, tag: str) -> dict[str, Element]:
    elements: dict[str, Element] = {}
    for element in robot.findall(tag):
        name = _text(element, "name")
        if name in elements:
            raise ValueError(f"two {tag}s are called {name!r}.")
        elements[name] = element
    return elements


def _carriers(links: dict[str, Element], joints: dict[str, Element]) -> dict[str, Element]:
    """For each link but the root, the joint that carries it."""
    carriers: dict[str, Element] = {}
    for name, joint in joints.items():
        with inside(f"joint {name!r}"):
            child = _text(_child(joint, "child"), "link")
            if child not in links:
                raise ValueError(f"its child {child!r} does not exist.")
            if child in carriers:
                raise ValueError(f"its child {child!r} is already the child of joint {carriers[child].get('name')!r}.")
            _text(_child(joint, "parent"), "link")  # an error if it is absent
            carriers[child] = joint
    return carriers


def _depth_first(roots: list[str], links: Iterable[str], carriers: dict[str, Element]) -> list[str]:
    """The links in order; at the end those that cannot be reached, about which `Mechanism` raises an error."""
    children: dict[str, list[str]] = {}
    for child, joint in carriers.items():
        children.setdefault(_text(_child(joint, "parent"), "link"), []).append(child)
    order, waiting = [], list(roots)
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children.get(order[-1], []))
    reached = set(order)
    return order + [name for name in links if name not in reached]


def _link(link: Element, carrier: Element | None, root_joint: Joint, mender: Mender) -> Link:
    name = _text(link, "name")
    with inside(f"link {name!r}"):
        inertia = _inertia(link, mender)
    if carrier is None:
        return Link(name, inertia, None, root_joint)
    with inside(f"joint {carrier.get('name')!r}"):
        return Link(name, inertia, _text(_child(carrier, "parent"), "link"), _joint(carrier), _pose(carrier))


def _joint(joint: Element) -> Joint:
    kind = _text(joint, "type")
    if kind not in JOINTS:
        raise ValueError(f"its type {kind!r} is not one of {_quoted(JOINTS)}.")
    axis, limit, dynamics = joint.find("axis"), joint.find("limit"), joint.find("dynamics")
    data: dict[str, Any] = {"name": _text(joint, "name")}
    if kind in LIMITED and limit is not None:
        data |= {bound: _number(limit, bound, "0") for bound in ("lower", "upper")}
    if kind in (*LIMITED, "continuous") and limit is not None:
        data |= {f"{what}_limit": _number(limit, what, "inf") for what in ("velocity", "effort")}
    if dynamics is not None:
        data |= {what: _number(dynamics, what, "0") for what in ("damping", "friction")}
    return JOINTS[kind]([1.0, 0.0, 0.0] if axis is None else _numbers(axis, "xyz", 3, "1 0 0"), **data)


def _inertia(link: Element, mender: Mender) -> Inertia | None:
    """The inertia in the link's frame; the file gives the moment about the centre of mass, in axes of its own."""
    inertial = link.find("inertial")
    if inertial is None:
        return None
    mass, inertia = _number(_child(inertial, "mass"), "value"), _child(inertial, "inertia")
    xx, xy, xz, yy, yz, zz = (_number(inertia, product) for product in READ["inertia"][0].split())
    return mender.inertia(_text(link, "name"), mass, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], _pose(inertial))


def _pose(element: Element) -> Pose:
    """The pose in the `origin` of an element."""
    origin = element.find("origin")
    if origin is None:
        return Pose()
    p = _numbers(origin, "xyz", 3, "0 0 0")
    if "quat_xyzw" in origin.attrib:  # URDF 1.1
        x, y, z, w = _numbers(origin, "quat_xyzw", 4)
        return Pose.from_quaternion([w, x, y, z], p)
    return Pose.from_euler(_numbers(origin, "rpy", 3, "0 0 0"), p)


def _child(element: Element, tag: str) -> Element:
    child = element.find(tag)
    if child is None:
        raise ValueError(f"<{element.tag}> needs an element <{tag}>.")
    return child


def _text(element: Element, attribute: str, default: str | None = None) -> str:
    text = element.get(attribute, default)
    if text is None:
        raise ValueError(f"<{element.tag}> needs the attribute {attribute!r}.")
    return text


def _numbers(element: Element, attribute: str, count: int, default: str | None = None) -> list[float]:
    text = _text(element, attribute, default)
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or any(math.isnan(number) for number in numbers):
        raise ValueError(f"{attribute}={text!r} of <{element.tag}> must be {count} number{'s' * (count > 1)}.")
    return numbers


def _number(element: Element, attribute: str, default: str | None = None) -> float:
    return _numbers(element, attribute, 1, default)[0]


def _ignored(element: Element) -> Iterator[str]:
    """The names of all attributes and elements, here and below, that are not in `READ`."""
    attributes, children = (words.split() for words in READ[element.tag])
    yield from (f"{element.tag} {attribute}" for attribute in element.attrib if attribute not in attributes)
    for child in element:
        if child.tag in children and (element.tag == "robot" or element.find(child.tag) is child):
            yield from _ignored(child)
        else:
            yield child.tag


def _without_meaning(joints: Iterable[Element]) -> Iterator[str]:
    """Limits on joints with more than one degree of freedom."""
    for joint in joints:
        kind = joint.get("type")
        if kind in ("planar", "floating") and joint.find("limit") is not None:
            yield f"limit of a {kind} joint"


def _mimics(joints: dict[str, Element]) -> Iterator[Closure]:
    """q = multiplier times the q of another joint + offset, for each joint that mimics one."""
    for name, joint in joints.items():
        mimic = joint.find("mimic")
        if mimic is None:
            continue
        with inside(f"joint {name!r}"):
            other = _text(mimic, "joint")
            if other not in joints:
                raise ValueError(f"it mimics {other!r}, which is not a joint{hint(other, joints)}.")
            b, a = (_text(_child(j, "child"), "link") for j in (joint, joints[other]))
            for which, moves in ((name, joint), (other, joints[other])):
                if moves.get("type") not in ("revolute", "continuous", "prismatic"):
                    raise ValueError(
                        f"it mimics {other!r}, but joint {which!r} is {moves.get('type')}: both must be revolute, "
                        "continuous or prismatic. load_urdf(..., mimic=False) lets it move on its own."
                    )
            ratio, offset = (_number(mimic, key, default) for key, default in (("multiplier", "1"), ("offset", "0")))
            yield Closure(f"{b}.mimic", a, b, Coupling(ratio, offset))


def _balls(robot: Element, links: dict[str, Element]) -> Iterator[Closure]:
    """drake:ball_constraint: the point P of link A and the point Q of link B stay together."""
    for k, ball in enumerate(robot.findall(BALL)):
        with inside(f"{BALL} {k}"):
            ends = []
            for side, point in (("A", "p_AP"), ("B", "p_BQ")):
                link, place = _text(_child(ball, f"{BALL}_body_{side}"), "name"), ball.find(f"{BALL}_{point}")
                if link not in links and link != "world":
                    raise ValueError(f"its body {side} {link!r} is not a link{hint(link, links)}.")
                p = [0.0, 0.0, 0.0] if place is None else _numbers(place, "value", 3)
                ends.append((link if link in links else None, Pose(p=tuple(p))))
            (a, A), (b, B) = ends if ends[1][0] is not None else ends[::-1]
            if b is None:
                raise ValueError("both its bodies are the world.")
            yield Closure(f"ball_constraint{k}", a, b, spherical(), A, B)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
