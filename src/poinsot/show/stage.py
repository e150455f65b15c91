"""Marks as nodes of a viser scene: a stage shows one record of a picture at a time."""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.show.cameras import fixed_view
from poinsot.show.marks import Arrows, Axes, Copies, Label, Lines, Mark, Path, Plane, Surface, Track
from poinsot.show.picture import LAYERS, Picture
from poinsot.show.triangles import Triangles
from poinsot.show.verbatim import in_path
from poinsot.spatial import quaternion

ROOT = "/scene"
PIECES = 80  # of a trail, each made visible when its time comes
Show = Callable[[Any, int], None]  # shows record k of a mark with the same layout as the one the node was made of


def record(array: Array, k: int) -> Array:
    """Record k of an array (r, ...), or of one (1, ...) that does not change."""
    return array[min(k, len(array) - 1)]


def node_of(layer: str, mark: str) -> str:
    """The name of the node of a mark."""
    return f"{ROOT}/{layer}/{in_path(mark)}"


def place(handle: Any, track: Track, k: int) -> None:
    """Place a node at record k of a track."""
    handle.position, handle.wxyz = record(track.position, k), record(track.wxyz, k)


# How each kind of mark becomes a node: (scene, name, mark) -> Show.


def _surface(scene: Any, name: str, mark: Surface) -> Show:
    handle = scene.add_mesh_simple(
        name, mark.triangles.vertices, mark.triangles.faces, color=mark.colour, cast_shadow=mark.shadow,
        receive_shadow=mark.shadow, opacity=None if mark.opacity == 1 else mark.opacity,
    )  # fmt: skip

    def show(m: Surface, k: int) -> None:
        place(handle, m.track, k)
        if m.hue is not None:
            handle.color = tuple(int(c) for c in record(m.hue, k))

    return show


def _copies(scene: Any, name: str, mark: Copies) -> Show:
    handle = scene.add_batched_meshes_simple(
        name, mark.triangles.vertices, mark.triangles.faces, record(mark.wxyz, 0), record(mark.positions, 0),
        batched_scales=record(mark.scales, 0), batched_colors=mark.colours.astype(np.uint8), lod="off",
        opacity=None if mark.opacity == 1 else mark.opacity, cast_shadow=mark.shadow, receive_shadow=mark.shadow,
    )  # fmt: skip

    def show(m: Copies, k: int) -> None:
        handle.batched_positions = record(m.positions, k).astype(np.float32)
        handle.batched_wxyzs = record(m.wxyz, k).astype(np.float32)
        handle.batched_scales = record(m.scales, k).astype(np.float32)

    return show


def _lines(scene: Any, name: str, mark: Lines) -> Show:
    def ends(m: Lines, k: int) -> Array:
        n = m.points.shape[1]
        return np.ascontiguousarray(np.broadcast_to(record(m.colours, k)[:, None], (n, 2, 3))).astype(np.uint8)

    handle = scene.add_line_segments(name, record(mark.points, 0), ends(mark, 0), thickness=mark.width)

    def show(m: Lines, k: int) -> None:
        place(handle, m.track, k)
        handle.points = record(m.points, k).astype(np.float32)
        if len(m.colours) > 1:
            handle.colors = ends(m, k)

    return show


def _path(scene: Any, name: str, mark: Path) -> Show:
    """In pieces: completed ones are made visible, and the growing one is sent again."""
    r = len(mark.points)
    step = max(1, -(-(r - 1) // PIECES))
    style: dict[str, Any] = {"colors": mark.colour, "thickness": mark.width}
    segments = np.stack([mark.points[:-1], mark.points[1:]], axis=1)
    frame = scene.add_frame(name, show_axes=False)
    pieces = [
        scene.add_line_segments(f"{name}/{j}", segments[j * step : (j + 1) * step], visible=False, **style)
        for j in range(-(-(r - 1) // step))
    ]
    head = scene.add_line_segments(f"{name}/head", np.repeat(mark.points[:1, None], 2, 1), **style)

    def show(m: Path, k: int) -> None:
        place(frame, m.track, k)
        k = min(k, len(m.points) - 1)
        done = k // step if m is mark else 0
        for j, piece in enumerate(pieces):
            piece.visible = j < done
        part = m.points[done * step : k + 1]
        length = (step if m is mark else r) + 1
        part = np.concatenate([part, np.repeat(part[-1:], max(0, length - len(part)), axis=0)])
        head.points = np.stack([part[:-1], part[1:]], axis=1).astype(np.float32)

    return show


def _arrows(scene: Any, name: str, mark: Arrows) -> Show:
    def points(m: Arrows, k: int) -> Array:
        start = record(m.starts, k)
        return np.stack([start, start + record(m.vectors, k)], axis=1).astype(np.float32)

    w = mark.width
    style = {"shaft_radius": w / 2, "head_radius": 1.4 * w, "head_length": 4 * w}
    handle = scene.add_arrows(name, points(mark, 0), mark.colour, **style)

    def show(m: Arrows, k: int) -> None:
        handle.points = points(m, k)

    return show


def _axes(scene: Any, name: str, mark: Axes) -> Show:
    style = {"axes_length": mark.length, "axes_radius": 0.025 * mark.length}
    handle = scene.add_batched_axes(name, record(mark.wxyz, 0), record(mark.positions, 0), **style)

    def show(m: Axes, k: int) -> None:
        handle.batched_positions = record(m.positions, k).astype(np.float32)
        handle.batched_wxyzs = record(m.wxyz, k).astype(np.float32)

    return show


def _plane(scene: Any, name: str, mark: Plane) -> Show:
    handle = scene.add_grid(
        name, mark.size, mark.size, plane="xy", cell_size=mark.cell / 2, section_size=mark.cell, infinite_grid=True,
        cell_color=(222, 226, 232), section_color=(196, 203, 213), cell_thickness=0.8, section_thickness=1.1,
        fade_distance=0.6 * mark.size, fade_strength=1.5, plane_color=(243, 245, 248),
        plane_opacity=1.0 if mark.solid else 0.0, shadow_opacity=0.22,
    )  # fmt: skip
    return lambda m, k: place(handle, m.track, k)


def _label(scene: Any, name: str, mark: Label) -> Show:
    handle = scene.add_label(
        name, mark.text, anchor="bottom-center", font_size_mode="scene", font_scene_height=mark.height
    )
    return lambda m, k: place(handle, m.track, k)


def factor(size: float) -> float:
    """The scale of the scene, a power of ten: browsers draw with single precision between a near and a far plane, so
    very small and very large scenes are scaled."""
    return 1.0 if 0.3 <= size <= 30.0 else float(10.0 ** -np.rint(np.log10(size)))


def resized(mark: Any, c: float) -> Any:
    """A mark with all lengths scaled by c."""
    if c == 1:
        return mark
    scaled: dict[str, Any] = {}
    for f in fields(mark):
        value = getattr(mark, f.name)
        if isinstance(value, Triangles):
            scaled[f.name] = value.scaled(c)
        elif isinstance(value, Track):
            scaled[f.name] = Track(c * value.position, value.wxyz)
        elif f.name in ("positions", "points", "starts", "vectors", "width", "length", "size", "cell", "height"):
            scaled[f.name] = c * value
    return replace(mark, **scaled)


NODES: dict[type[Mark], Callable[[Any, str, Any], Show]] = {
    Surface: _surface, Copies: _copies, Lines: _lines, Path: _path, Arrows: _arrows, Axes: _axes, Plane: _plane,
    Label: _label,
}  # fmt: skip


class Stage:
    """A picture in a scene: layers that can be switched on and off, and a camera that may follow a body.

    Layers are nodes /scene/bodies, /scene/trails and so on. `follow`: the name of a body that stays in place while the
    world moves past, in its own axes if `attached`.
    """

    def __init__(
        self, scene: Any, picture: Picture, layers: Iterable[str], follow: str | None = None, attached: bool = False
    ) -> None:
        for name in layers:
            if name not in LAYERS:
                raise ValueError(f"there is no layer {name!r}{hint(name, LAYERS)}; there are {', '.join(LAYERS)}.")
        if follow is not None:
            picture.records.index(follow)  # an error if there is none
        self.scene, self.picture, self.follow, self.attached = scene, picture, follow, attached
        self.factor, self.k = factor(picture.size), 0
        self.frames: dict[str, Any] = {}
        self.shows: dict[str, dict[str, tuple[Show, Mark]]] = {}
        self.root = scene.add_frame(ROOT, show_axes=False)
        for name in layers:
            self.switch(name, True)

    def switch(self, layer: str, on: bool) -> None:
        """Show or hide a layer."""
        if on and layer not in self.frames:
            self._make(layer)
        if layer in self.frames:
            self.frames[layer].visible = on
            if on:
                self._show_layer(layer)

    def _marks(self, layer: str) -> dict[str, Mark]:
        return {mark.name: resized(mark, self.factor) for mark in self.picture.layer(layer)}

    def _make(self, layer: str) -> None:
        self.frames[layer] = self.scene.add_frame(f"{ROOT}/{layer}", show_axes=False)
        self.shows[layer] = {
            name: (NODES[type(mark)](self.scene, node_of(layer, name), mark), mark)
            for name, mark in self._marks(layer).items()
        }

    @property
    def on(self) -> list[str]:
        """The visible layers."""
        return [layer for layer, frame in self.frames.items() if frame.visible]

    def show(self, k: int) -> None:
        """Show record k."""
        self.k = k
        position, wxyz = _scene_pose(self.picture, self.follow, self.attached, k)
        self.root.position, self.root.wxyz = self.factor * position, wxyz
        for layer in self.on:
            self._show_layer(layer)

    def _show_layer(self, layer: str) -> None:
        for show, mark in self.shows[layer].values():
            show(mark, self.k)

    def update(self, picture: Picture, k: int) -> None:
        """Show record k of another picture with the same layout."""
        self.picture = picture
        for layer in self.on:
            marks = self._marks(layer)
            if marks.keys() != self.shows[layer].keys():
                self.frames[layer].remove()
                self._make(layer)
            self.shows[layer] = {name: (show, marks[name]) for name, (show, _) in self.shows[layer].items()}
        self.show(k)

    def replace(self, picture: Picture, k: int | None = None) -> None:
        """Show another picture instead, with the same layers switched on."""
        on = self.on
        for frame in self.frames.values():
            frame.remove()
        self.frames, self.shows, self.picture = {}, {}, picture
        self.show(min(self.k, len(picture.records.time) - 1) if k is None else k)
        for layer in on:
            self.switch(layer, True)

    @property
    def moving(self) -> int:
        """The number of marks: a measure of the work of showing another record."""
        return sum(len(shows) for shows in self.shows.values())


def _scene_pose(picture: Picture, follow: str | None, attached: bool, k: int) -> tuple[Array, Array]:
    """The pose of the whole scene that keeps a body in place."""
    identity = quaternion.identity()
    if follow is None:
        return np.zeros(3), identity
    b = picture.records.index(follow)
    where, start = picture.records.centres[k, 0, b], picture.records.centres[0, 0, b]
    if not attached:
        return start - where, identity
    q = quaternion.product(picture.records.wxyz[0, 0, b], quaternion.conjugate(picture.records.wxyz[k, 0, b]))
    return start - quaternion.rotate(q, where), q


def camera_view(picture: Picture, view: Any = None, follow: str | None = None) -> dict[str, Array]:
    """Position, look_at and up of a camera as `cameras.fixed_view` has it, in the units of the stage."""
    c, chosen = factor(picture.size), fixed_view(picture, view, follow)
    return {name: np.asarray(v) * (1.0 if name == "up" else c) for name, v in chosen.items()}
