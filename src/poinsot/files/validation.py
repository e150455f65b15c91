"""The errors of pydantic as problems of a scenario."""

from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from poinsot._hints import hint
from poinsot.files.problems import Problem, at, dotted, unknown
from poinsot.files.readers import ScenarioTable
from poinsot.files.toml_lines import Path


def from_pydantic(error: ValidationError, model: type[ScenarioTable], data: Any, path: Path) -> list[Problem]:
    """The problems of the table `data` at `path`, from an error of pydantic."""
    problems = []
    for item in error.errors():
        own = _own(item["loc"], data)
        where = (*path, *own)
        kind = item["type"]
        if kind == "extra_forbidden":
            problems.append(unknown(where, _fields(model, own[:-1], data)))
        elif kind == "missing":
            field = _fields(model, own[:-1], data).get(str(own[-1]))
            expected = "a value" if field is None else field.description
            problems.append(Problem(where, f"missing; expected {expected}"))
        elif kind in ("union_tag_not_found", "union_tag_invalid"):
            problems.append(_unknown_kind(where, own, item, at(data, own)))
        else:
            text = {
                "model_type": "expected a table",
                "model_attributes_type": "expected a table",
                "dict_type": "expected a table",
                "list_type": f"expected a list of tables, [[{dotted(where)}]]",
            }.get(kind, item["msg"])
            problems.append(Problem(where, text, at(data, own)))
    return problems


def _unknown_kind(where: Path, own: Path, item: Any, value: Any) -> Problem:
    tags = [tag.strip("' ") for tag in str((item.get("ctx") or {}).get("expected_tags", "")).split(",") if tag.strip()]
    if not isinstance(value, dict):
        return Problem(where, "expected a table with a key kind", value)
    if "kind" not in value:
        return Problem((*where, "kind"), "missing; expected the kind")
    near = hint(str(value["kind"]), tags) or f"; there are {', '.join(tags)}"
    return Problem((*where, "kind"), f"there is no such kind{near}", value["kind"])


def _own(loc: tuple[int | str, ...], data: Any) -> Path:
    """The path in the data of a location of pydantic: without the tags of unions, and the 0 of a table alone."""
    path: list[int | str] = []
    for k, key in enumerate(loc):
        here = at(data, tuple(path))
        if isinstance(here, dict) and isinstance(key, int):  # one table instead of a list
            continue
        is_tag = isinstance(here, dict) and here.get("kind") == key and key not in here and k < len(loc)
        if not is_tag:
            path.append(key)
    return tuple(path)


def _fields(model: type[ScenarioTable], path: Path, data: Any) -> dict[str, FieldInfo]:
    """The keys of the table at a path below a model."""
    table: Any = model
    for k, key in enumerate(path):
        if isinstance(key, int):
            continue
        info = getattr(table, "model_fields", {}).get(key)
        if info is None:
            return {}
        kind = at(data, (*path[: k + 1], *(i for i in path[k + 1 : k + 2] if isinstance(i, int)), "kind"))
        table = _table_in(info.annotation, kind)
    return dict(table.model_fields) if isinstance(table, type) and issubclass(table, ScenarioTable) else {}


def _table_in(annotation: Any, kind: Any) -> Any:
    """The table in a type: its own, that of its list, or the one of this kind in a union."""
    if isinstance(annotation, type) and issubclass(annotation, ScenarioTable):
        return annotation
    inner = [_table_in(part, kind) for part in getattr(annotation, "__args__", ())]
    tables = [t for t in inner if t is not None]
    for table in tables:
        if table.__name__.lower() == str(kind):
            return table
    return tables[0] if tables else None
