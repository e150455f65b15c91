"""The data of a scenario file while it is checked: tables are read, and every problem is noted with its place."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from poinsot._errors import FieldError, UnknownNameError
from poinsot.files.problems import Problem, ScenarioError, at
from poinsot.files.readers import Context, ScenarioTable
from poinsot.files.toml_lines import Path as Place
from poinsot.files.validation import from_pydantic

FAILURES = (ValueError, KeyError, TypeError, OSError, ImportError)  # the scenario is wrong, not Poinsot


@dataclass
class CheckedData:
    """The data of a file, and its problems so far."""

    data: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)

    def items(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The tables of a list such as [[body]], by their numbers."""
        value = self.data.get(kind)
        if isinstance(value, list):
            yield from ((k, item) for k, item in enumerate(value) if isinstance(item, dict))

    def read(self, model: type[ScenarioTable], value: Any, place: Place, context: Context) -> Any:
        """The table `value` at this place, checked; None if it has problems."""
        try:
            return model.model_validate(value, context=context)
        except ValidationError as error:
            self.problems += from_pydantic(error, model, value, place)
            return None

    def note(self, place: Place, text: str) -> None:
        """Note a problem at this place, with the value that stands there."""
        self.problems.append(Problem(place, text, at(self.data, place)))

    @contextmanager
    def within(self, place: Place) -> Iterator[None]:
        """Note the error of a constructor as a problem of the table at this place, or of the key that it is about."""
        try:
            yield
        except FAILURES as error:
            if isinstance(error, ScenarioError):
                raise
            self.note((*place, *self._key(place, error)), message(error))

    def note_error(self, error: Exception, places: Mapping[str, Place]) -> None:
        """Note an error about one of the things at these places, by name; or about the whole file."""
        place = places.get(error.owner, ()) if isinstance(error, (FieldError, UnknownNameError)) else ()
        if place:
            self.note((*place, *self._key(place, error)), message(error))
        else:
            self.problems.append(Problem((), message(error)))

    def _key(self, place: Place, error: Exception) -> Place:
        """The key, in the table at this place, that an error is about; none if it is about the table."""
        table = at(self.data, place)
        if isinstance(error, UnknownNameError) and isinstance(table, dict):
            own = [(key,) for key, value in table.items() if error.name in (value, *_entries(value))]
            texts = [(key,) for key, value in table.items() if isinstance(value, str) and error.name in value]
            return next(iter((*own, *texts)), ())
        key: Place = ()
        for name in error.field.split(".") if isinstance(error, FieldError) else ():
            if not isinstance(table, dict) or name not in table:
                break
            key, table = (*key, name), table[name]
        return key


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def message(error: Exception) -> str:
    """The text of an error, without its full stop."""
    return str(error.args[0] if isinstance(error, KeyError) and error.args else error).rstrip(".")
