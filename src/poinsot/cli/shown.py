"""Worlds, runs and ledgers as tables and trees."""

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape
from rich.tree import Tree

from poinsot.cli.screen import WIDE, Screen, short, vector
from poinsot.parts import Limit
from poinsot.run.ledger import CONSERVED_QUANTITIES, UNITS, Ledger, magnitudes
from poinsot.world import Description, World

if TYPE_CHECKING:
    from poinsot.run import Run


SMALL = 1e-7  # of the largest number of a vector: shown as zero


def tree(world: World) -> Tree:
    """The bodies as they hang on each other, with what acts on them."""
    description = world.description
    root = Tree("[bold]world[/]")
    gravity = description.gravity
    if isinstance(gravity, np.ndarray):
        root.add(f"[dim]gravity {vector(gravity)} m/s^2[/]" if np.any(gravity) else "[dim]no gravity[/]")
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
    rows = []
    for link in world.system().bodies.links:
        if link.inertia is not None:
            moments, _ = link.inertia.principal()
            rows.append((link.name, short(float(link.inertia.mass)), vector(link.inertia.com, ".3g"), vector(moments)))
    screen.table(("body", "mass [kg]", "centre of mass [m]", "principal moments [kg m^2]"), rows)


def final(screen: Screen, run: "Run") -> None:
    """Where everything is at the end, and the states of parts."""
    quantities = ("position", "velocity", "angular_velocity")
    data = run.observed(list(quantities)).isel(time=-1)
    rows = [
        (str(body), *(vector(data[name].sel(body=body).values, ".4g", SMALL) for name in quantities))
        for body in data.body.values
    ]
    screen.table(("at the end", "position [m]", "velocity [m/s]", "spin [rad/s]"), rows)
    elements = run.world.description.elements
    rows = [
        (str(name), vector(np.ravel(x.values)), str(x.attrs.get("units", "")))
        for name, x in run.data.isel(time=-1).items()
        if x.attrs.get("description") == "state" and not isinstance(elements.get(str(name).rpartition(".")[0]), Limit)
    ]
    if rows:
        screen.table(("part", "at the end", "unit"), rows)


def ledger(screen: Screen, found: Ledger) -> None:
    """What was conserved: all of it where there is room, else the sizes of vectors."""
    if not screen.talks:
        return
    if screen.console.width >= WIDE and found.initial.ndim == 1:
        screen.say("what was held, and what came in through what", "bold")
        screen.say(found.table())
        screen.say()
        return
    rows = []
    for account, row in account_rows(found).items():
        numbers = (f"{row[k]:.5g}" for k in ("start", "end", "came_in"))
        rows.append((account.replace("_", " "), *numbers, f"{row['unexplained']:.1e}", UNITS[account]))
    screen.table(("what was held", "start", "end", "came in", "unexplained", "unit"), rows)


def account_rows(found: Ledger) -> dict[str, dict[str, float]]:
    """Mass, momentum, angular momentum and energy: at the start, at the end, what came in, what nothing explains."""
    grouped = {
        "start": magnitudes(found.initial),
        "end": magnitudes(found.final),
        "came_in": magnitudes(found.inflow.sum(axis=-2)),
        "unexplained": magnitudes(found.residual),
        "relative": found.relative_residual,
    }
    for key, whole in (("start", found.initial), ("end", found.final), ("came_in", found.inflow.sum(axis=-2))):
        grouped[key][..., 3] = whole[..., 7]  # energy has a sign
    return {
        account: {key: float(values[..., k].max()) for key, values in grouped.items()}
        for k, account in enumerate(CONSERVED_QUANTITIES)
    }


def final_data(run: "Run") -> dict[str, Any]:
    """Where everything is at the end, for scripts."""
    names = ["position", "orientation", "velocity", "angular_velocity"]
    data = run.observed(names).isel(time=-1)
    return {str(b): {name: data[name].sel(body=b).values.tolist() for name in names} for b in data.body.values}


def sizes(description: Description) -> str:
    """How large a world is, in words."""
    n, k = len(description.bodies), len(description.elements)
    parts = [f"{n} {'body' if n == 1 else 'bodies'}"]
    parts += [f"{k} element{'s' * (k > 1)}"] if k else []
    return " and ".join(parts)
