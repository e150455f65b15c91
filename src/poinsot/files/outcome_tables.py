"""The table [outputs] of scenarios: outcomes that runs keep, as formulas."""

from poinsot.files.checked import CheckedData
from poinsot.files.computed import constants_in
from poinsot.files.outcome_formulas import EXPECTED, OutcomeFormula, read_outputs
from poinsot.files.readers import Context
from poinsot.world import World


def outputs_of(file: CheckedData, world: World, context: Context) -> dict[str, OutcomeFormula]:
    """The outputs that runs keep, which may use constants and quantities of the world."""
    table, outputs = file.data.get("outputs", {}), dict[str, OutcomeFormula]()
    if not isinstance(table, dict):
        file.note(("outputs",), "expected a table of names and formulas")
        return outputs
    for name, text in table.items():
        with file.within(("outputs", name)):
            if not isinstance(text, str):
                raise ValueError(f"expected {EXPECTED}")
            formula = OutcomeFormula(text, constants_in(text, context))
            read_outputs(world.system(), {name: formula})
            outputs[name] = formula
    return outputs
