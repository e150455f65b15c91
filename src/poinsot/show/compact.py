"""Arrays as one compressed text for a page; `web/unpack.js` unpacks them.

Arrays over the records are rounded to whole multiples of a small step and stored as second differences, which are small
for motions; others keep all their bits. In both, byte j of every number lies together with byte j of the others, and
the whole is deflated.
"""

import base64
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._types import Array

LEVEL = 6  # of zlib
MOST = 2.0**-48  # the least step, relative to the largest value: whole multiples stay exact in the browser's doubles


@dataclass(eq=False)
class Packer:
    """Collects arrays, and gives each a number; equal ones are stored once."""

    arrays: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)
    known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    length: int = 0

    def exact(self, array: Array, kind: str) -> int:
        """An array of any shape as "float32", "float64", "uint32" or "uint8", with all bits of that type."""
        a = np.ascontiguousarray(array, dtype=np.dtype(kind).newbyteorder("<"))
        return self._keep({"kind": kind, "shape": list(a.shape)}, planes(a))

    def steps(self, array: Array, step: float) -> int:
        """An array over the records (r, ...), rounded to multiples of a power of two near `step`."""
        a = np.nan_to_num(np.asarray(array, dtype=float), posinf=0.0, neginf=0.0)
        step = float(2.0 ** np.floor(np.log2(max(step, MOST * float(np.abs(a).max(initial=0.0)), 1e-300))))
        return self._keep({"kind": "steps", "shape": list(a.shape), "step": step}, planes(differences(a, step)))

    def _keep(self, entry: dict[str, Any], data: bytes) -> int:
        key = (*map(str, entry.values()), data)
        if key not in self.known:
            self.known[key] = len(self.arrays)
            self.arrays.append({**entry, "at": self.length})
            self.chunks.append(data)
            self.length += len(data)
        return self.known[key]

    def document(self, content: dict[str, Any]) -> str:
        """The content, whose numbers of arrays were given by this packer, with the arrays, as JSON for a script."""
        data = base64.b64encode(zlib.compress(b"".join(self.chunks), LEVEL)).decode()
        text = json.dumps({**content, "arrays": self.arrays, "data": data}, separators=(",", ":"), allow_nan=False)
        return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def differences(array: Array, step: float) -> Array:
    """Second differences over the records of array/step, rounded: (columns, records), unsigned by zigzag."""
    whole = np.rint(array / step).astype(np.int64).reshape(len(array), -1).T
    second = np.diff(whole, n=2, axis=1, prepend=np.zeros((len(whole), 2), np.int64))
    return np.ascontiguousarray(((second << 1) ^ (second >> 63)).astype("<u8"))


def planes(array: Array) -> bytes:
    """All first bytes of the numbers, all second bytes, and so on."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(array.size, -1).T.tobytes()
