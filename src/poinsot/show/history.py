"""Recorded quantities over time, with names and units, for plots."""

from collections.abc import Mapping
from dataclasses import dataclass

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.run.observe import OBSERVABLES
from poinsot.run.result import Run

TITLES = {"q": "joint coordinates", "v": "joint velocities"}


@dataclass(frozen=True, eq=False)
class History:
    """One quantity over time: a title, its unit, time (r,) [s], and its components (r,) by label."""

    title: str
    unit: str
    time: Array
    components: Mapping[str, Array]

    @property
    def label(self) -> str:
        """The title with the unit, for an axis."""
        return f"{self.title} [{self.unit}]" if self.unit not in ("", "1") else self.title


def quantities(run: Run) -> dict[str, bool]:
    """The recorded quantities by name, and whether each belongs to a body."""
    return {str(name): "body" in array.dims for name, array in run.columns.data_vars.items()}


def spelled(run: Run, name: str, body: str | None = None) -> tuple[str, str | None, str]:
    """The quantity, body and component of a name: "box.position.z" is the component "z" of "position" of "box"."""
    head, _, rest = name.partition(".")
    if name in run.columns or not rest or head not in run.world.description.bodies:
        return name, body, ""
    quantity, _, component = rest.partition(".")
    if quantity not in OBSERVABLES or "body" not in OBSERVABLES[quantity].dims:
        return name, body, ""
    return quantity, head, component


def history(run: Run, name: str, body: str | None = None, instance: int = 0) -> History:
    """A quantity of the run: "energy", "spring.length", "position" of a body, "box.position", "box.position.z".

    A quantity that was not recorded is computed from the states.
    """
    name, body, component = spelled(run, name, body)
    array = run.columns_of(name)[name]
    if run.batch is not None:
        array = array.isel(batch=instance)
    title = TITLES.get(name, name.replace("_", " "))
    if "body" in array.dims:
        names = [str(b) for b in array["body"].values]
        body = names[0] if body is None else body
        if body not in names:
            raise ValueError(f"there is no body {body!r}{hint(body, names)}.")
        array, title = array.sel(body=body), f"{title} of {body}"
    if array.ndim == 1:
        return History(title, array.attrs.get("units", ""), run.time, {title: array.values})
    dim = array.dims[1]
    labels = [str(v) for v in array[dim].values] if dim in array.coords else [str(k) for k in range(array.shape[1])]
    values = array.values.reshape(len(run.time), -1)
    if values.shape[1] != len(labels):
        labels = [str(k) for k in range(values.shape[1])]
    if component and component not in labels:
        raise ValueError(f"{name} of {body} has no component {component!r}; there are {', '.join(labels)}.")
    columns = {label: values[:, k] for k, label in enumerate(labels) if component in ("", label)}
    title += f", {component}" if component else ""
    return History(title, array.attrs.get("units", ""), run.time, columns)
