"""Types that every room uses."""

from typing import Any, TypeAlias

from numpy.typing import ArrayLike, NDArray

# A NumPy array, or a traced array that follows NumPy's protocols.
Array: TypeAlias = NDArray[Any]

# A number such as a time [s], or a traced one: an array of shape ().
Scalar: TypeAlias = float | Array

__all__ = ["Array", "ArrayLike", "Scalar"]
