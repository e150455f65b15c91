"""The sizes and depths that files may have: far above what people write, far below what stops a machine."""

from pathlib import Path

SCENARIO_BYTES = 10_000_000
ROBOT_BYTES = 100_000_000
ROBOT_LINKS = 2_000
FORMULA_LENGTH = 2000  # characters
FORMULA_DEPTH = 50  # brackets within one another
FORMULA_AXES = 2  # of the array that it makes: a number, a vector, a matrix
ARRAY_DEPTH = 8  # lists within lists
NESTING = 50  # tables and lists within one another in a scenario
SWEEP_VALUES = 10_000_000
COUNT = 1_000  # the most of a whole number that says how many parts something has
SHORTEST = 1e-100  # [s], of a step
MOST_STEPS = 1e12


def check_size(path: Path, limit: int) -> None:
    """An error if a file is larger than this many bytes."""
    size = path.stat().st_size
    if size > limit:
        raise ValueError(f"{path}: the file has {size:,} bytes; the limit is {limit:,}.")


PATCHES = 100_000  # the most of the patches that a list of contacts has room for
