"""The JSON schema of scenarios, for editors that complete and check as you type."""

from typing import Any

from pydantic import create_model

from poinsot.files import kinds, readers
from poinsot.files.fly_tables import FlyOptions
from poinsot.files.outcome_formulas import EXPECTED
from poinsot.files.readers import ScenarioTable

InputTable = create_model(
    "InputTable",
    __base__=ScenarioTable,
    __doc__="An input with limits, between which a trim looks for it.",
    **{"value": (readers.array(), ...), "limits": (readers.array(shape=(2,)), None)},  # type: ignore[call-overload]
)


def scenario_schema() -> dict[str, Any]:
    """The keys and values of scenarios, as JSON Schema (draft 2020-12)."""
    keys: dict[str, Any] = {
        "title": (readers.text(), None),
        "about": (readers.text(), None),
        "gravity": (readers.array("m/s^2") | kinds.Centre, None),
        "constants": (dict[str, readers.number()], None),  # type: ignore[misc]
        "inputs": (dict[str, readers.array() | InputTable], None),  # type: ignore[misc]
        "outputs": (dict[str, readers.text(EXPECTED)], None),  # type: ignore[misc]
        **{key: (model, None) for key, model in kinds.SURROUNDINGS.items()},
        "run": (kinds.RunOptions, ...),
        "show": (kinds.ShowOptions, None),
        "sweep": (kinds.SweepOptions, None),
        "fly": (FlyOptions, None),
    }
    keys |= {name: (list[model], None) for name, model in kinds.lists().items()}  # type: ignore[valid-type]
    model = create_model("Scenario", __base__=ScenarioTable, **keys)
    generated = model.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_nulls(generated), "title": "Scenario"}


def _without_nulls(x: Any) -> Any:
    """The schema without defaults of null, which TOML does not have."""
    if isinstance(x, dict):
        return {k: _without_nulls(v) for k, v in x.items() if not (k == "default" and v is None)}
    return [_without_nulls(v) for v in x] if isinstance(x, list) else x
