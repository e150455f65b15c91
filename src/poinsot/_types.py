"""Types that every room uses."""

from typing import Any, TypeAlias

from numpy.typing import ArrayLike, NDArray

# A NumPy array, or a traced array that follows NumPy's protocols.
Array: TypeAlias = NDArray[Any]

__all__ = ["Array", "ArrayLike"]
