"""Worlds, runs and ledgers as tables and trees."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape
from rich.tree import Tree

from poinsot._types import Array
from poinsot.cli.screen import WIDE, Screen, short, vector, vectors
from poinsot.environment import EarthGravity
from poinsot.environment.meeting import ContactElement
from poinsot.parts import Limit
from poinsot.run.ledger import CONSERVED_QUANTITIES, UNITS, Ledger, signed
from poinsot.run.result import outputs_of
from poinsot.world import World

if TYPE_CHECKING:
    from poinsot.run import Run


SMALL = 1e-6  # of the largest that any body has in the run: beside that, what others have is rounding
OWN_BUSINESS = (Limit, ContactElement)  # their states are latches, or springs that remember where friction sticks


def tree(world: World) -> Tree:
    """The tree of bodies, with the elements that act on them."""
    description = world.description
    root = Tree("[bold]world[/]")
    gravity = description.gravity
    if isinstance(gravity, np.ndarray):
        root.add(f"[dim]gravity {vector(gravity)} m/s^2[/]" if np.any(gravity) else "[dim]no gravity[/]")
    elif isinstance(gravity, EarthGravity):
        root.add(f"[dim]around {escape(str(gravity.earth))}[/]")
    else:
        root.add(f"[dim]central gravity, mu = {gravity.mu:g} m^3/s^2[/]")
    for name, value in description.inputs.items():
        root.add(f"[dim]input {escape(name)} = {vector(value)}[/]")
    branches: dict[str | None, Tree] = {None: root}
    for link in world.system().bodies.links:
        mass = f"{short(float(link.inertia.mass))} kg" if link.inertia is not None else "no mass"
        line = f"[bold]{escape(link.name)}[/]  {link.joint.kind}, {mass}"
        branches[link.name] = branches[link.parent].add(line)
    for name, element in description.elements.items():
        ends = [body for body in dict.fromkeys((*element.bodies(), *element.joints())) if body in branches]
        text = f"[cyan]{escape(name)}[/]  {type(element).__name__.lower()}"
        if len(ends) > 1:
            text += f" between {escape(' and '.join(ends))}"
        (branches[ends[0]] if len(ends) == 1 else root).add(text)
    return root


def masses(screen: Screen, world: World) -> None:
    """The mass properties of all bodies."""
    lines = []
    for link in world.system().bodies.links:
        if link.inertia is not None:
            moments, _ = link.inertia.principal()
            lines.append((link.name, short(float(link.inertia.mass)), vector(link.inertia.com, ".3g"), vector(moments)))
    screen.table(("body", "mass [kg]", "centre of mass [m]", "principal moments [kg m^2]"), lines)


def final(screen: Screen, run: "Run") -> None:
    """The final state of all bodies and parts."""
    quantities = ("position", "velocity", "angular_velocity")
    data = run.columns_of(*quantities)
    bodies = zip(map(str, data["body"].values), *(_ends(data[key]) for key in quantities), strict=True)
    screen.table(("final state", "position [m]", "velocity [m/s]", "angular\nvelocity [rad/s]"), bodies)
    elements = run.world.description.elements
    parts = [
        (str(name), vector(np.ravel(x.values)), str(x.attrs.get("units", "")))
        for name, x in run.columns.isel(time=-1).data_vars.items()
        if x.attrs.get("description") == "state"
        and not isinstance(elements.get(str(name).rpartition(".")[0]), OWN_BUSINESS)
    ]
    if parts:
        screen.table(("part", "final value", "unit"), parts)


def _ends(column: Any) -> list[str]:
    """The vector of each body at the end, with digits by the largest that it has in the run."""
    values = np.moveaxis(column.values, column.dims.index("body"), 0)  # (body, time, axis)
    largest = np.abs(values).max(axis=(1, 2))
    return vectors(values[:, -1], np.maximum(largest, SMALL * largest.max()))


def ledger(screen: Screen, kept: Ledger, unexplained: bool = False) -> None:
    """The conserved quantities: all components on a wide screen, else the lengths of vectors. Red if it does not
    close."""
    if not screen.talks:
        return
    if screen.console.width >= WIDE and kept.initial.ndim == 1:
        screen.say(kept.table(), "red" if unexplained else None)
        screen.say()
        return
    lines = []
    for name, row in ledger_data(kept).items():
        amounts = (f"{row[k] + 0.0:.5g}" for k in ("initial", "final", "inflow"))
        lines.append((name.replace("_", " "), *amounts, f"{row['residual']:.1e}", UNITS[name]))
    screen.table(("conserved quantity", "initial", "final", "inflow", "residual", "unit"), lines)
    if unexplained:
        worst = max(CONSERVED_QUANTITIES, key=lambda name: ledger_data(kept)[name]["relative_residual"])
        left = ledger_data(kept)[worst]["relative_residual"]
        screen.say(f"The ledger does not close: {left:.1e} of the {worst.replace('_', ' ')} is unexplained.", "red")


def ledger_data(kept: Ledger) -> dict[str, dict[str, float]]:
    """Mass, momentum, angular momentum and energy: initial, final, inflow, and the residual that none explains. Mass
    and energy have signs: initial + inflow + residual = final."""
    columns = {
        "initial": signed(kept.initial),
        "final": signed(kept.final),
        "inflow": signed(kept.inflow.sum(axis=-2)),
        "residual": signed(kept.residual),
        "relative_residual": kept.relative_residual,
    }
    return {
        name: {key: _largest(column[..., k]) for key, column in columns.items()}
        for k, name in enumerate(CONSERVED_QUANTITIES)
    }


def _largest(amounts: Array) -> float:
    """The amount that is the largest of all instances, with its sign; NaN if one is."""
    flat = np.ravel(amounts)
    return float(flat[np.argmax(np.where(np.isnan(flat), np.inf, np.abs(flat)))])


def final_data(run: "Run") -> dict[str, Any]:
    """The final state of all bodies, for scripts."""
    names = ["position", "orientation", "velocity", "angular_velocity"]
    data = run.columns_of(*names).isel(time=-1)
    return {body: {name: x.tolist() for name, x in own.items()} for body, own in _by_body(data, names).items()}


def _by_body(data: Any, names: Sequence[str]) -> dict[str, dict[str, Array]]:
    """Quantities of each body, by the names of bodies and then by their own."""
    arrays = {name: np.moveaxis(np.asarray(data[name].values), data[name].dims.index("body"), 0) for name in names}
    return {str(b): {name: x[k] for name, x in arrays.items()} for k, b in enumerate(data["body"].values)}


def outputs_data(run: "Run") -> dict[str, float]:
    """The outputs of a single run, by name."""
    return {name: float(array) for name, array in outputs_of(run).items()}


def outputs(screen: Screen, run: "Run") -> None:
    """The outputs of a single run, if it kept any, with what they are of."""
    if run.compiled.outputs:
        texts = {output.name: output.text for output in run.compiled.outputs}
        lines = [(name, texts[name], short(value)) for name, value in outputs_data(run).items()]
        screen.table(("output", "of", "value"), lines, 2)
