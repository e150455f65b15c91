"""Pack the coastlines of the globe: python docs/make/coast.py land-110m.json

The file is part of the npm package world-atlas 2, which holds Natural Earth's 1:110m land (public domain,
naturalearthdata.com) as TopoJSON: arcs of differences, scaled to longitude and latitude.
"""

import json
import sys
import zlib
from pathlib import Path

import numpy as np

OUT = Path(__file__).parents[2] / "src" / "poinsot" / "show" / "web" / "coast.bin"
FINEST = 6  # points: smaller islands are left out


def rings(topology):
    """The closed lines (n, 2) of longitude and latitude [degrees] of all land."""
    scale, shift = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    arcs = [np.cumsum(arc, axis=0) * scale + shift for arc in topology["arcs"]]
    for geometry in topology["objects"]["land"]["geometries"]:
        many = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for polygon in many:
            for ring in polygon:
                parts = [arcs[k] if k >= 0 else arcs[~k][::-1] for k in ring]
                yield np.concatenate([parts[0], *(part[1:] for part in parts[1:])])


def main():
    numbers = []
    for line in rings(json.loads(Path(sys.argv[1]).read_text())):
        tenths = np.rint(10 * line).astype(int)
        tenths = tenths[np.append(True, np.any(np.diff(tenths, axis=0), axis=1))]
        if len(tenths) >= FINEST:
            numbers += [len(tenths), *np.diff(tenths, axis=0, prepend=0).ravel().tolist()]
    OUT.write_bytes(zlib.compress(np.array(numbers, dtype="<i2").tobytes(), 9))
    print(OUT, OUT.stat().st_size, "bytes")


main()
