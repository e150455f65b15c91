"""Curves in the page, with a line at the time of the scene."""

from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array
from poinsot.run.observe import OBSERVABLES
from poinsot.show.history import History, history, quantities

if TYPE_CHECKING:
    from poinsot.show.viewer import Viewer

POINTS = 600  # of a curve
COLOURS = ("#2a6f97", "#d1495b", "#66a182", "#edae49", "#8d6a9f", "#3d5a80")


class Plot:
    """A quantity of a run over time, selected from lists."""

    def __init__(self, viewer: "Viewer", name: str, body: str | None) -> None:
        self.viewer, gui = viewer, viewer.server.gui
        self.of_body = quantities(viewer.run)
        bodies = tuple(viewer.stage.picture.records.names)
        h = tidy(history(viewer.run, name, body, viewer.instance))
        self.of_body.setdefault(name, name in OBSERVABLES and "body" in OBSERVABLES[name].dims)
        self.what = gui.add_dropdown("quantity", tuple(dict.fromkeys([name, *self.of_body])), initial_value=name)
        self.body = gui.add_dropdown("body", bodies, initial_value=body or bodies[0], visible=self.of_body[name])
        self.data, series, scales = curves(h)
        self.handle = gui.add_uplot(
            self.data, series, title=h.label, scales=scales, aspect=1.6, legend={"show": len(h.components) > 1}
        )
        for choice in (self.what, self.body):
            choice.on_update(lambda e: viewer.do(self.choose) if e.client is not None else None)
        self.point_at(viewer.player.time)

    def choose(self) -> None:
        """Show the selected quantity of the instance in the viewer."""
        self.body.visible = self.of_body[self.what.value]
        h = tidy(history(self.viewer.run, self.what.value, self.body.value, self.viewer.instance))
        self.data, series, scales = curves(h)
        self.handle.title, self.handle.legend = h.label, {"show": len(h.components) > 1}
        self.handle.data, self.handle.series, self.handle.scales = self.data, series, scales
        self.point_at(self.viewer.player.time)

    def point_at(self, t: float) -> None:
        """Move the line to the time t [s]."""
        time = self.data[0]
        if len(time) < 2:
            return
        k = int(np.clip(np.searchsorted(time, t) - 1, 0, len(time) - 2))
        line = np.full(len(time), np.nan)
        line[k : k + 2] = spread(self.data[1:-1])
        self.handle.data = (*self.data[:-1], line)


def tidy(h: History) -> History:
    """Scaled by a power of 1000 where the numbers would be long: axes show few digits."""
    most = max((float(np.nanmax(np.abs(c))) for c in h.components.values()), default=0.0)
    if 0.1 <= most < 1e4 or not 0 < most < np.inf:
        return h
    power = 3 * int(np.floor(np.log10(most) / 3))
    values = {label: c / 10.0**power for label, c in h.components.items()}
    return History(h.title, f"1e{power} {h.unit}".strip(), h.time, values)


def curves(h: History) -> tuple[tuple[Array, ...], tuple[dict[str, Any], ...], dict[str, Any]]:
    """Data, series and scales of a uPlot; the last series is the line at the time of the scene."""
    some = np.unique(np.linspace(0, len(h.time) - 1, POINTS).astype(int))
    values = [component[some] for component in h.components.values()]
    low, high = spread(values)
    series: list[dict[str, Any]] = [{"label": "t [s]"}]
    for k, label in enumerate(h.components):
        series.append({"label": label, "stroke": COLOURS[k % len(COLOURS)], "width": 2, "points": {"show": False}})
    series.append({"label": "now", "stroke": "#444", "width": 1, "points": {"show": False}})
    scales = {"x": {"time": False}, "y": {"auto": False, "range": (low, high)}}
    return (h.time[some], *values, np.full(len(some), np.nan)), tuple(series), scales


def spread(values: Any) -> tuple[float, float]:
    """The range of some arrays, with a margin."""
    finite = np.concatenate([v[np.isfinite(v)] for v in values])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    margin = 0.06 * (high - low) if high - low > 1e-9 * abs(high) else 0.01 * abs(high) or 1.0
    return low - margin, high + margin
