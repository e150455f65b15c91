"""Numbers by name as one flat array, and back."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.spatial.arrays import as_array

Values: TypeAlias = Mapping[str, Any]  # parameters by path, or inputs by name


def pack(values: Values) -> Array:
    """All arrays in one flat array."""
    return np.concatenate([np.zeros(0), *(np.ravel(as_array(value)) for value in values.values())])


def unpack(flat: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The arrays of these shapes that `pack` put into one flat array."""
    values, start = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        values[name] = np.reshape(flat[start : start + size], shape)
        start += size
    return values
