"""Worlds from the data of scenarios: every part is read, checked and made on its own, so that all errors are found."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot.environment import AirMass, CentralGravity, Earth, EarthGravity, Terrain
from poinsot.files import (
    contact_tables,
    control_tables,
    cross_checks,
    flight_tables,
    kinds,
    making,
    readers,
    trim_tables,
    vehicle_tables,
)
from poinsot.files.checked import FAILURES, CheckedData
from poinsot.files.element_tables import OWNERS, elements, owner_of
from poinsot.files.expressions import RESERVED, Expression
from poinsot.files.flight_tables import NamedTable
from poinsot.files.fly_tables import flown, fly_options
from poinsot.files.outcome_formulas import OutcomeFormula
from poinsot.files.outcome_tables import outputs_of
from poinsot.files.problems import ABSENT, Problem, dotted, unknown
from poinsot.files.readers import Context, ScenarioTable
from poinsot.files.scenario import Scenario
from poinsot.files.toml_lines import Path as Place
from poinsot.parts import WORLD, Beam, Input
from poinsot.parts.structure import beyond
from poinsot.spatial import Inertia
from poinsot.study.trimmed import Trim
from poinsot.world import World
from poinsot.world.sampling import require_whole_steps

STEP = 1e-3  # s, the default
SETS = ("particles", "model", "beam")  # each makes many bodies, with names of their own


class Builder:
    """Builds a world from the data of a file, and gathers all problems on the way."""

    def __init__(self, data: dict[str, Any], context: Context, problems: list[Problem]) -> None:
        self.file, self.context = CheckedData(data, list(problems)), context
        self.world = World()
        self.places: dict[str, Place] = {}  # of bodies and elements, by name
        self.outputs: dict[str, OutcomeFormula] = {}
        self.beams: dict[str, Beam] = {}
        self.trim: Trim | None = None  # of the start of a body
        self.lost = False  # whether a set of bodies, whose names only it knows, could not be made

    @property
    def problems(self) -> list[Problem]:
        return self.file.problems

    def build(self, name: str, source: str, later: Mapping[str, Any]) -> Scenario | None:
        """All of it, in order: names, bodies, elements, options."""
        self._top()
        self.context = replace(self.context, constants=self._constants(), inputs=self._input_names())
        self.context = replace(self.context, tables=self._tables())
        self._surroundings()
        self._inputs()
        self._names()
        self._bodies()
        self._elements()
        self._loops()
        self._contacts()
        self._control()
        tables = {key: self._table(key, model) for key, model in kinds.TABLES.items()}
        if tables["run"] is None and not any(p.path[:1] == ("run",) for p in self.problems):
            self.problems.append(Problem(("run",), "missing; expected a table [run] with a duration [s]"))
        if not self.problems:
            self._system(later)
        if not self.problems:
            self._trims()
        if not self.problems:
            self._options(tables)
            self.outputs = outputs_of(self.file, self.world, self.context)
        if self.problems:
            return None
        entries = {key: model.entries() if model is not None else {} for key, model in tables.items()}
        options = {"step": STEP, **flown(entries["run"], self.world)}
        options |= {"outputs": self.outputs} if self.outputs else {}
        options["step"] = min(options["step"], options["duration"])
        title, about = (str(self.file.data.get(key, "")) for key in ("title", "about"))
        shown = (entries["show"], entries["sweep"], source, self.trim, self.fly)
        return Scenario(name, title or name, about, self.world, options, *shown)

    # The top of the file: keys, constants, inputs, gravity, options.

    def _top(self) -> None:
        known = kinds.top_keys()
        for key, value in self.file.data.items():
            if key not in known:
                self.problems.append(unknown((key,), known))
            elif key in kinds.lists() and not (isinstance(value, list) and all(isinstance(x, dict) for x in value)):
                self.file.note((key,), f"expected a list of tables, [[{key}]]")
            elif key in ("title", "about") and not isinstance(value, str):
                self.file.note((key,), "expected a text")

    def _table(self, key: str, model: type[ScenarioTable]) -> Any:
        if key not in self.file.data:
            return None
        context = replace(self.context, body=self._only_body())
        return self.file.read(model, self.file.data[key], (key,), context)

    def _constants(self) -> dict[str, float]:
        constants: dict[str, float] = {}
        for name, value in self._named_numbers("constants"):
            with self.file.within(("constants", name)):
                constants[name] = readers.number_of(value, ())
        return constants

    def _named_numbers(self, key: str) -> Iterator[tuple[str, Any]]:
        """The names and values of a table whose names can be used in formulas."""
        table = self.file.data.get(key, {})
        if not isinstance(table, dict):
            self.file.note((key,), "expected a table")
            return
        for name, value in table.items():
            if name in RESERVED:
                self.file.note((key, name), "this name has a meaning in formulas; choose another")
            elif not name.isidentifier():
                self.file.note((key, name), "a name in formulas may have letters, digits and _ only")
            else:
                yield name, value

    def _input_names(self) -> tuple[str, ...]:
        table = self.file.data.get("inputs", {})
        return tuple(table) if isinstance(table, dict) else ()

    def _inputs(self) -> None:
        for name, value in self._named_numbers("inputs"):
            with self.file.within(("inputs", name)):
                self.world.add_input(name, *trim_tables.input_of(value))

    def _tables(self) -> dict[str, NamedTable]:
        """The tables [[table]], by name, which formulas may call."""
        tables: dict[str, NamedTable] = {}
        for k, item in self.file.items("table"):
            table = self.file.read(kinds.lists()["table"], item, ("table", k), self.context)
            if table is None:
                continue
            taken = (*RESERVED, *self.context.constants, *self.context.inputs, *tables)
            if not table.name.isidentifier():
                self.file.note(("table", k, "name"), "a name in formulas may have letters, digits and _ only")
            elif table.name in taken:
                self.file.note(("table", k, "name"), "this name has a meaning in formulas already; choose another")
            else:
                with self.file.within(("table", k)):
                    tables[table.name] = flight_tables.table_of_numbers(table.entries())
        return tables

    def _surroundings(self) -> None:
        """Gravity, or the Earth, and the air."""
        self._gravity()
        tables = {key: self._table(key, model) for key, model in kinds.SURROUNDINGS.items()}
        if tables["earth"] is not None:
            with self.file.within(("earth",)):
                if "gravity" in self.file.data:
                    raise ValueError("the Earth brings its own gravity; leave the key gravity at the top out")
                earth = EarthGravity(earth=Earth(**tables["earth"].entries()))
                self.world = World.of(replace(self.world.description, gravity=earth))
        if tables["air"] is not None:
            entries = tables["air"].entries()
            with self.file.within(("air",)):
                winds = flight_tables.winds_in(entries)
                self.world.add(AirMass(atmosphere=flight_tables.atmosphere_of(entries), winds=winds))
                for turbulence in flight_tables.turbulence_in(entries):
                    self.world.add(turbulence)
        if tables["terrain"] is not None:
            self.world.add(Terrain(heights=tables["terrain"].heights))

    def _gravity(self) -> None:
        value = self.file.data.get("gravity", ABSENT)
        if value is ABSENT:
            return
        gravity: Any = None
        if isinstance(value, dict):
            centre = self.file.read(kinds.Centre, value, ("gravity",), self.context)
            with self.file.within(("gravity",)):
                gravity = CentralGravity(**centre.entries()) if centre is not None else None
        else:
            with self.file.within(("gravity",)):
                gravity = making.uniform_gravity(value)
        if gravity is not None:
            self.world = World.of(replace(self.world.description, gravity=gravity))

    def _names(self) -> None:
        """Check that every name is used once, and note where the things with names stand."""
        for kind in kinds.lists():
            for k, item in self.file.items(kind):
                name = item.get("name")
                if not isinstance(name, str) or kind in (*SETS, "table"):
                    continue
                if name in self.places:
                    self.file.note((kind, k, "name"), f"{dotted(self.places[name])} already has this name")
                else:
                    self.places[name] = (kind, k)

    # Bodies.

    def _bodies(self) -> None:
        """Bodies, particles, models and beams: parents first."""
        waiting = [(kind, k, item) for kind in ("body", *making.OTHERS) for k, item in self.file.items(kind)]
        while waiting:
            there = [WORLD, *self.world.description.bodies]
            ready = [x for x in waiting if x[2].get("parent", WORLD) in there]
            if not ready:
                break
            for entry in ready:
                self._body(*entry)
            waiting = [x for x in waiting if x not in ready]
        self._parentless(waiting)

    def _parentless(self, waiting: list[tuple[str, int, dict[str, Any]]]) -> None:
        """Note the bodies whose parents do not exist, unless it follows from another problem; and read the rest."""
        failed, names = bool(self.problems), [item.get("name") for _, _, item in waiting]
        known = [*self.world.description.bodies, *names, *self.places]
        for kind, k, item in waiting:
            self.lost = self.lost or kind in SETS
            parent, where = item["parent"], (kind, k, "parent")
            if isinstance(parent, str) and parent not in known:
                self.file.note(where, f"there is no such body{hint(parent, map(str, known))}")
            elif not failed and parent in names:
                self.file.note(where, "these bodies are each other's parents, in a circle")
            self.file.read(self._model(kind, item), item, (kind, k), self._context_of(item))

    def _model(self, kind: str, item: Mapping[str, Any]) -> type[ScenarioTable]:
        return kinds.body_model(item) if kind == "body" else kinds.lists()[kind]

    def _context_of(self, item: Mapping[str, Any]) -> Context:
        return replace(self.context, body=str(item.get("name", "")))

    def _body(self, kind: str, k: int, item: dict[str, Any]) -> None:
        place: Place = (kind, k)
        again = kind not in SETS and self.places.get(str(item.get("name"))) not in (None, place)
        count = len(self.problems)
        table = self.file.read(self._model(kind, item), item, place, self._context_of(item))
        if kind == "body" and table is not None:
            self._one_body(table, place, again)
        elif table is not None and not again:
            with self.file.within(place):
                making.OTHERS[kind](self.world, table)
                if kind == "beam":
                    self.beams[table.name] = making.beam_in(table)
        self.lost = self.lost or (kind in SETS and len(self.problems) > count)

    def _one_body(self, table: Any, place: Place, again: bool) -> None:
        """Make a body and the elements inside it, if it has no problems; `again`: another body has its name."""
        count, joint = len(self.problems), None
        inertia = self._inertia(table, place)
        with self.file.within((*place, "joint")):
            joint = making.joint_of(table.joint)
        if again or len(self.problems) > count:
            return
        with self.file.within(place):
            making.body_of(self.world, table, inertia, joint)
            self._parts(table, place)

    def _inertia(self, table: ScenarioTable, place: Place) -> Inertia | None:
        """The sum of all shapes and mass properties in a table."""
        entries, parts = table.entries(), []
        for k, shape in enumerate(entries.get("shape") or ()):
            with self.file.within((*place, "shape", k)):
                parts.append(making.shape_of(shape))
        if entries.get("inertia") is not None:
            with self.file.within((*place, "inertia")):
                parts.append(making.mass_of(entries["inertia"]))
        with self.file.within(place):
            return sum(parts[1:], start=parts[0]) if parts else None
        return None

    # Elements.

    def _parts(self, table: Any, place: Place) -> None:
        """The elements inside a body."""
        for kind, cls in elements().items():
            for k, part in enumerate(getattr(table, kind, None) or ()):
                where = (*place, kind, k)
                with self.file.within(where):
                    own = {"name": f"{table.name}.{part.name}", owner_of(cls): table.name}
                    self._element(cls, part.entries() | own, where)

    def _elements(self) -> None:
        for kind, cls in elements().items():
            for k, item in self.file.items(kind):
                owner = next((item[name] for name in OWNERS if isinstance(item.get(name), str)), "")
                context = replace(self.context, body=owner)
                table = self.file.read(kinds.lists()[kind], item, (kind, k), context)
                if table is not None:
                    with self.file.within((kind, k)):
                        self._element(cls, table.entries(), (kind, k))

    def _loops(self) -> None:
        for k, item in self.file.items("close"):
            table = self.file.read(kinds.lists()["close"], item, ("close", k), self.context)
            if table is None:
                continue
            missing = [key for key in ("a", "b") if not self._is_there(getattr(table, key))]
            for key in missing:
                near = hint(getattr(table, key), [*self.world.description.bodies, *self.places])
                self.file.note(("close", k, key), f"there is no body {getattr(table, key)!r}{near}")
            if not missing:
                with self.file.within(("close", k)):
                    making.loop_of(self.world, table)
                    self.places.setdefault(table.name, ("close", k))
        for k, item in self.file.items("drive"):
            table = self.file.read(kinds.lists()["drive"], item, ("drive", k), self.context)
            if table is not None and not self._is_there(table.joint):
                near = hint(table.joint, [*self.world.description.bodies, *self.places])
                self.file.note(("drive", k, "joint"), f"there is no body {table.joint!r}{near}")
            elif table is not None:
                with self.file.within(("drive", k)):
                    making.drive_of(self.world, table)
                    self.places.setdefault(table.name, ("drive", k))

    def _contacts(self) -> None:
        for kind in contact_tables.MODELS:
            failed = bool(self.problems)  # what a ground or a pair would say of a surface that failed follows from that
            for k, item in self.file.items(kind):
                found = self.file.read(kinds.lists()[kind], item, (kind, k), self.context)
                if found is not None and not failed:
                    with self.file.within((kind, k)):
                        contact_tables.add(kind, self.world, found)

    def _control(self) -> None:
        """Laws and events, which refer to all the rest."""
        failed = bool(self.problems)
        for kind, add in control_tables.ADDED.items():
            for k, item in self.file.items(kind):
                context = replace(self.context, body=str(item.get("body", self._only_body())))
                table = self.file.read(kinds.lists()[kind], item, (kind, k), context)
                if table is not None and not failed:
                    with self.file.within((kind, k)):
                        add(self.world, table, context)

    def _only_body(self) -> str:
        """The name of the only body, if there is one [[body]]."""
        bodies = [item.get("name") for _, item in self.file.items("body")]
        return str(bodies[0]) if len(bodies) == 1 else ""

    def _element(self, cls: Any, entries: dict[str, Any], place: Place) -> None:
        if isinstance(entries.get("piece"), ScenarioTable):
            entries["piece"] = self._piece(entries, place)
        if self.lost and entries.get("beam") is not None:
            return  # the beam is a problem of its own
        slosh = entries.pop("slosh", None)
        element = cls(**vehicle_tables.made(cls, entries, self.beams))
        touched = (*element.bodies(), *element.joints())
        for key, value in entries.items():
            names = [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
            for name in value.bodies() if isinstance(value, Expression) else names:
                if (isinstance(value, Expression) or name in touched) and key != "name" and not self._is_there(name):
                    near = hint(name, [*self.world.description.bodies, *self.places])
                    self.file.note((*place, key), f"there is no body {name!r}{near}")
                    return
            if isinstance(value, Expression) and value.asks_air() and "air" not in self.world.description.elements:
                words = f"{value.asks_air()} is that of the air; give the world some"
                self.file.note((*place, key), f'{words}: [air] model = "us76"')
                return
            if isinstance(value, Input) and value.name not in self.context.inputs:
                near = hint(value.name, self.context.inputs) or "; define it under [inputs]"
                self.file.note((*place, key), f"there is no input {value.name!r}{near}")
                return
        if all(self._is_there(name) for name in touched):
            making.element_of(self.world, element, slosh)
            self.places.setdefault(element.name, place)

    def _is_there(self, body: str) -> bool:
        """Whether there is such a body, or could be one among those that could not be made."""
        return body in self.world.description.bodies or body in self.places or body == WORLD or self.lost

    def _piece(self, entries: Mapping[str, Any], place: Place) -> Inertia | None:
        """The part of a body beyond a cut."""
        piece = entries["piece"].entries()
        if "beyond" in piece:
            body = self.world.description.bodies.get(entries["body"])
            if body is None:
                return None  # which is a problem of another key
            if body.inertia is None or not body.inertia.solids:
                raise FieldError(f"the body {body.name!r} is not made of shapes: none is beyond the cut", "piece")
            return beyond(body.inertia, entries.get("axis", (1.0, 0.0, 0.0)), piece["beyond"])
        return self._inertia(entries["piece"], (*place, "piece"))

    # The whole world.

    def _trims(self) -> None:
        """Let a body whose start asks for a trim begin with it."""
        for k, item in self.file.items("body"):
            if isinstance(item.get("start"), dict) and "trim" in item["start"]:
                table = self.file.read(self._model("body", item), item, ("body", k), self._context_of(item))
                with self.file.within(("body", k, "start")):
                    self.trim = trim_tables.trimmed_start(self.world, str(table.name), table.start.entries(), self.trim)
                    self.world = self.trim.trimmed_world()

    def _system(self, later: Mapping[str, Any]) -> None:
        """The equations of motion, which tell what does not fit together; first, numbers set by their paths."""
        self.problems.extend(cross_checks.set_numbers(self.world, later))
        if self.problems:
            return
        if not self.world.description.bodies:
            self.problems.append(Problem((), "the scenario is empty; expected a body, [[body]]"))
            return
        try:
            self.world.system()
        except FAILURES as error:
            self.file.note_error(error, self.places)

    def _options(self, tables: Mapping[str, Any]) -> None:
        with self.file.within(("fly",)):
            self.fly = fly_options(tables["fly"], self.world)
        run, vary = tables["run"].entries(), tables["sweep"].vary if tables["sweep"] is not None else {}
        with self.file.within(("run", "flight")):
            run = flown(run, self.world)
        for key, check in cross_checks.of_run(self.world, {"step": STEP, **run}).items():
            with self.file.within(("run", key)):
                check()
        try:
            require_whole_steps(self.world.system(), run.get("step", STEP))
        except FieldError as error:
            self.file.note_error(error, self.places)
        if tables["show"] is not None and not self.problems:
            self.problems.extend(cross_checks.not_shown(self.world, tables["show"].entries(), run.get("record")))
        for path, text in vary.items():
            with self.file.within(("sweep", "vary", path)):
                cross_checks.of_sweep(self.world, path, text)
        if tables["sweep"] is not None and tables["sweep"].record is not None:
            with self.file.within(("sweep", "record")):
                cross_checks.of_sweep_record(self.world, tables["sweep"].record)
