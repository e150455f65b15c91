"""Worlds from the data of scenarios: every part is read, checked and made on its own, so that all errors are found."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import ValidationError

from poinsot._hints import hint
from poinsot.environment import CentralGravity
from poinsot.files import cross_checks, kinds, making, readers
from poinsot.files.dimensions import units_at
from poinsot.files.expressions import RESERVED, Expression
from poinsot.files.problems import ABSENT, Problem, ScenarioError, at, dotted, unknown
from poinsot.files.readers import Context, Table
from poinsot.files.scenario import Scenario
from poinsot.files.toml_lines import Path as Place
from poinsot.files.validation import from_pydantic
from poinsot.parts import WORLD, Input
from poinsot.parts.structure import beyond
from poinsot.spatial import Inertia
from poinsot.world import World

STEP = 1e-3  # s, where nothing is said
SETS = ("particles", "model", "beam")  # each makes many bodies, with names of their own
FAILURES = (ValueError, KeyError, TypeError, OSError, ImportError)  # of what a scenario says, not of Poinsot


class Builder:
    """Builds a world from the data of a file, and gathers all problems on the way."""

    def __init__(self, data: dict[str, Any], context: Context, problems: list[Problem]) -> None:
        self.data, self.context, self.problems = data, context, list(problems)
        self.world = World()
        self.places: dict[str, Place] = {}  # of bodies and elements, by name
        self.lost = False  # whether a set of bodies, whose names only it knows, could not be made

    def build(self, name: str, source: str, later: Mapping[str, Any]) -> Scenario | None:
        """All of it, in order: names, bodies, elements, options."""
        self._top()
        self.context = replace(self.context, constants=self._constants(), inputs=self._input_names())
        self._gravity()
        self._inputs()
        self._names()
        self._bodies()
        self._elements()
        tables = {key: self._table(key, model) for key, model in kinds.TABLES.items()}
        if tables["run"] is None and not any(p.path[:1] == ("run",) for p in self.problems):
            self.problems.append(Problem(("run",), "missing; expected a table [run] with a duration [s]"))
        if not self.problems:
            self._system(later)
        if not self.problems:
            self._options(tables)
        if self.problems:
            return None
        given = {key: model.given() if model is not None else {} for key, model in tables.items()}
        options = {"step": STEP, **given["run"]}
        options["step"] = min(options["step"], options["duration"])
        title, about = (str(self.data.get(key, "")) for key in ("title", "about"))
        return Scenario(name, title or name, about, self.world, options, given["show"], given["sweep"], source)

    # Each part.

    def _top(self) -> None:
        known = kinds.top_keys()
        for key, value in self.data.items():
            if key not in known:
                self.problems.append(unknown((key,), known))
            elif key in kinds.lists() and not (isinstance(value, list) and all(isinstance(x, dict) for x in value)):
                self.problems.append(Problem((key,), f"expected a list of tables, [[{key}]]", value))
            elif key in ("title", "about") and not isinstance(value, str):
                self.problems.append(Problem((key,), "expected a text", value))

    def _items(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        value = self.data.get(kind)
        if isinstance(value, list):
            yield from ((k, item) for k, item in enumerate(value) if isinstance(item, dict))

    def _table(self, key: str, model: type[Table]) -> Any:
        if key not in self.data:
            return None
        bodies = [item.get("name") for _, item in self._items("body")]
        context = replace(self.context, body=str(bodies[0])) if len(bodies) == 1 else self.context
        return self._read(model, self.data[key], (key,), context)

    def _read(self, model: type[Table], value: Any, place: Place, context: Context | None = None) -> Any:
        """A table, checked; or None, and problems."""
        try:
            return model.model_validate(value, context=context or self.context)
        except ValidationError as error:
            self.problems += from_pydantic(error, model, value, place)
            return None

    @contextmanager
    def _within(self, place: Place) -> Iterator[None]:
        """An error of a constructor becomes a problem at this place, or at the key that it speaks of."""
        try:
            yield
        except FAILURES as error:
            if isinstance(error, ScenarioError):
                raise
            where = (*place, *self._key(place, _message(error)))
            text = _message(error).removeprefix(f"{where[-1]}: " if where else "")
            self.problems.append(Problem(where, text, at(self.data, where)))

    def _key(self, place: Place, text: str) -> Place:
        """The key of the item at this place that an error speaks of, if there is one."""
        item = at(self.data, place)
        if not isinstance(item, dict):
            return ()
        if "cannot be the name" in text:
            return ("name",)
        if "gives an array" in text and "value" in item:
            return ("value",)
        keys = [key for key in item if key not in ("name", "body", "kind", "joint", "shape")]
        said = {key: match.start() for key in keys if (match := re.search(rf"\b{re.escape(key)}s?\b", text))}
        said = {key: k for key, k in said.items() if len(key) > 2 or k == 0}
        return (min(said, key=lambda key: said[key]),) if said else ()

    def _constants(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, value in self._named_numbers("constants"):
            with self._within(("constants", name)):
                found[name] = readers.number_of(value, ())
        return found

    def _named_numbers(self, key: str) -> Iterator[tuple[str, Any]]:
        """The names and values of a table, where the names can stand in formulas."""
        table = self.data.get(key, {})
        if not isinstance(table, dict):
            self.problems.append(Problem((key,), "expected a table", table))
            return
        for name, value in table.items():
            if name in RESERVED:
                self.problems.append(
                    Problem((key, name), "this name means something in formulas; choose another", value)
                )
            elif not name.isidentifier():
                self.problems.append(Problem((key, name), "a name in formulas has letters, digits and _ only", value))
            else:
                yield name, value

    def _input_names(self) -> tuple[str, ...]:
        table = self.data.get("inputs", {})
        return tuple(table) if isinstance(table, dict) else ()

    def _inputs(self) -> None:
        for name, value in self._named_numbers("inputs"):
            with self._within(("inputs", name)):
                self.world.add_input(name, readers.array_of(value, ()))

    def _gravity(self) -> None:
        value = self.data.get("gravity", ABSENT)
        if value is ABSENT:
            return
        gravity: Any = None
        if isinstance(value, dict):
            centre = self._read(kinds.Centre, value, ("gravity",))
            with self._within(("gravity",)):
                gravity = CentralGravity(**centre.given()) if centre is not None else None
        else:
            with self._within(("gravity",)):
                found = readers.array_of(value, ("m/s^2",))
                gravity = np.array([0.0, 0.0, -found]) if np.ndim(found) == 0 else found
                if np.shape(gravity) != (3,) or not np.all(np.isfinite(gravity)):
                    raise ValueError(
                        'expected three numbers [m/s^2], or how strong it is downwards, such as "9.81 m/s^2"'
                    )
        if gravity is not None:
            self.world = World.of(replace(self.world.description, gravity=gravity))

    def _names(self) -> None:
        """Every name once; and where the things with names stand."""
        for kind in kinds.lists():
            for k, item in self._items(kind):
                name = item.get("name")
                if not isinstance(name, str) or kind in SETS:
                    continue
                if name in self.places:
                    other = dotted(self.places[name])
                    self.problems.append(Problem((kind, k, "name"), f"{other} has this name already", name))
                else:
                    self.places[name] = (kind, k)

    def _bodies(self) -> None:
        """Bodies, particles, models and beams: parents first."""
        waiting = [(kind, k, item) for kind in ("body", *making.OTHERS) for k, item in self._items(kind)]
        while waiting:
            there = self.world.description.bodies
            ready = [x for x in waiting if "parent" not in x[2] or x[2]["parent"] in there]
            if not ready:
                break
            for entry in ready:
                self._body(*entry)
            waiting = [x for x in waiting if x not in ready]
        self._parentless(waiting)

    def _parentless(self, waiting: list[tuple[str, int, dict[str, Any]]]) -> None:
        """Bodies whose parents are not there: say so, unless it follows from another problem; and read the rest."""
        failed, names = bool(self.problems), [item.get("name") for _, _, item in waiting]
        known = [*self.world.description.bodies, *names, *self.places]
        for kind, k, item in waiting:
            self.lost = self.lost or kind in SETS
            parent, where = item["parent"], (kind, k, "parent")
            if isinstance(parent, str) and parent not in known:
                near = hint(parent, map(str, known))
                self.problems.append(Problem(where, f"there is no such body{near}", parent))
            elif not failed and parent in names:
                self.problems.append(Problem(where, "these bodies hang on each other in a circle", parent))
            self._read(kinds.lists()[kind], item, (kind, k), self._context_of(item))

    def _context_of(self, item: Mapping[str, Any]) -> Context:
        return replace(self.context, body=str(item.get("name", "")))

    def _body(self, kind: str, k: int, item: dict[str, Any]) -> None:
        place: Place = (kind, k)
        again = kind not in SETS and self.places.get(str(item.get("name"))) not in (None, place)
        count = len(self.problems)
        table = self._read(kinds.lists()[kind], item, place, self._context_of(item))
        if kind == "body" and table is not None:
            self._one_body(table, place, again)
        elif table is not None and not again:
            with self._within(place):
                making.OTHERS[kind](self.world, table)
        self.lost = self.lost or (kind in SETS and len(self.problems) > count)

    def _one_body(self, table: Any, place: Place, again: bool) -> None:
        """A body and the elements inside of it, if all of it can be made; not if there is one of its name, `again`."""
        count, joint = len(self.problems), None
        inertia = self._inertia(table, place)
        with self._within((*place, "joint")):
            joint = making.joint_of(table.joint)
        if again or len(self.problems) > count:
            return
        with self._within(place):
            making.body_of(self.world, table, inertia, joint)
            self._parts(table, place)

    def _inertia(self, table: Table, place: Place) -> Inertia | None:
        """The sum of all shapes and mass properties in a table."""
        given, parts = table.given(), []
        for k, shape in enumerate(given.get("shape") or ()):
            with self._within((*place, "shape", k)):
                parts.append(making.shape_of(shape))
        if given.get("inertia") is not None:
            with self._within((*place, "inertia")):
                parts.append(making.mass_of(given["inertia"]))
        return sum(parts[1:], start=parts[0]) if parts else None

    def _parts(self, table: Any, place: Place) -> None:
        """The elements inside of a body."""
        for kind, cls in kinds.elements().items():
            for k, part in enumerate(getattr(table, kind, None) or ()):
                where = (*place, kind, k)
                with self._within(where):
                    own = {"name": f"{table.name}.{part.name}", kinds.owner_of(cls): table.name}
                    self._element(cls, part.given() | own, where)

    def _elements(self) -> None:
        for kind, cls in kinds.elements().items():
            for k, item in self._items(kind):
                owner = next((item[name] for name in kinds.OWNERS if isinstance(item.get(name), str)), "")
                context = replace(self.context, body=owner)
                table = self._read(kinds.lists()[kind], item, (kind, k), context)
                if table is not None:
                    with self._within((kind, k)):
                        self._element(cls, table.given(), (kind, k))

    def _element(self, cls: Any, given: dict[str, Any], place: Place) -> None:
        if isinstance(given.get("piece"), Table):
            given["piece"] = self._piece(given, place)
        element = cls(**given)
        touched = (*element.bodies(), *element.joints())
        for key, value in given.items():
            asked = value.bodies() if isinstance(value, Expression) else [value] if isinstance(value, str) else []
            for name in asked:
                if (isinstance(value, Expression) or name in touched) and key != "name" and not self._is_there(name):
                    near = hint(name, [*self.world.description.bodies, *self.places])
                    where = (*place, key)
                    self.problems.append(Problem(where, f"there is no body {name!r}{near}", at(self.data, where)))
                    return
            if isinstance(value, Input) and value.name not in self.context.inputs:
                near = hint(value.name, self.context.inputs) or "; define it under [inputs]"
                self.problems.append(Problem((*place, key), f"there is no input {value.name!r}{near}"))
                return
        if all(self._is_there(name) for name in touched):
            self.world.add(element)
            self.places.setdefault(element.name, place)

    def _is_there(self, body: str) -> bool:
        """Whether there is such a body, or could be one among those that could not be made."""
        return body in self.world.description.bodies or body in self.places or body == WORLD or self.lost

    def _piece(self, given: Mapping[str, Any], place: Place) -> Inertia | None:
        """The part of a body beyond a cut."""
        piece = given["piece"].given()
        if "beyond" in piece:
            whole = self.world.description.bodies[given["body"]].inertia
            if whole is None or not whole.solids:
                raise ValueError(f"piece: the body {given['body']!r} is not made of shapes that could be told apart")
            return beyond(whole, given.get("axis", (1.0, 0.0, 0.0)), piece["beyond"])
        return self._inertia(given["piece"], (*place, "piece"))

    # What needs all of it.

    def _system(self, later: Mapping[str, Any]) -> None:
        """The equations, which find what does not fit together; and numbers that were set by their paths."""
        for path, value in later.items():
            try:
                self.world[path] = readers.array_of(value, units_at(path, self.world.description))
            except FAILURES as error:
                text = _message(error).removeprefix(f"{path}: ")
                near = hint(path, self.world.paths()) if isinstance(error, KeyError) else ""
                text = f"there is no such number{near}" if isinstance(error, KeyError) else text
                self.problems.append(Problem((path,), text, value))
        if self.problems:
            return
        if not self.world.description.bodies:
            self.problems.append(Problem((), "there is nothing in it; expected a body, [[body]]"))
            return
        try:
            self.world.system()
        except FAILURES as error:
            text = _message(error)
            place = self._spoken_of(text)
            where = (*place, *self._key(place, text)) if place else ()
            self.problems.append(Problem(where, text, at(self.data, where) if where else ABSENT))

    def _spoken_of(self, text: str) -> Place:
        """Where the first thing stands that a text names, or else the key that says this name."""
        quoted = re.findall(r"'([^']+)'", text)
        for name in quoted:
            if name in self.places:
                return self.places[name]
        for name in quoted:
            for place in self.places.values():
                item = at(self.data, place)
                for key, value in item.items() if isinstance(item, dict) else ():
                    if value == name:
                        return (*place, key)
        return ()

    def _options(self, tables: Mapping[str, Any]) -> None:
        run, vary = tables["run"].given(), tables["sweep"].vary if tables["sweep"] is not None else {}
        for key, check in cross_checks.of_run(self.world, {"step": STEP, **run}).items():
            with self._within(("run", key)):
                check()
        if tables["show"] is not None and not self.problems:
            self.problems += cross_checks.not_shown(self.world, tables["show"].given(), run.get("record"))
        for path, text in vary.items():
            with self._within(("sweep", "vary", path)):
                cross_checks.of_sweep(self.world, path, text)


def _message(error: Exception) -> str:
    return str(error.args[0] if isinstance(error, KeyError) and error.args else error).rstrip(".")
