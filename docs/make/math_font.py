"""Write docs/_static/math-font.css: the font of the site's equations, with the characters that equations use.

It is cut from STIX Two Math (SIL Open Font License 1.1), which the package ziamath brings. It stands in the style sheet
itself, as not every browser lets a page that is opened from a folder load fonts from files.

python docs/make/math_font.py
"""

import base64
import io
from importlib.resources import as_file, files
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

TARGET = Path(__file__).parents[1] / "_static" / "math-font.css"
RANGES = (
    (0x20, 0x7E),
    (0xA0, 0xFF),
    (0x2C6, 0x2DC),  # accents
    (0x300, 0x30C),
    (0x391, 0x3F5),  # Greek
    (0x2010, 0x2037),  # dashes, dots, primes
    (0x2102, 0x2124),
    (0x2190, 0x2194),
    (0x21D2, 0x21D4),
    (0x2200, 0x22C5),  # operators
    (0x2308, 0x230B),
    (0x27E8, 0x27E9),
    (0x1D400, 0x1D49B),  # bold, italic, bold italic
    (0x1D6A4, 0x1D755),  # the same of Greek
)
HEAD = """\
/* Written by docs/make/math_font.py. STIX Two Math, reduced to the characters that equations use.
   Copyright 2001-2020 The STIX Fonts Project Authors (https://github.com/stipub/stixfonts).
   SIL Open Font License, version 1.1: https://openfontlicense.org */
"""


def reduced() -> bytes:
    """The font with these characters and what stretches or scales them, as woff."""
    with as_file(files("ziamath.fonts") / "STIXTwoMath-Regular.ttf") as path:
        font = TTFont(path, recalcTimestamp=False)
    options = Options(flavor="woff", layout_features=["ssty", "dtls", "flac"], hinting=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    subsetter.subset(font)
    font.flavor = "woff"
    stream = io.BytesIO()
    font.save(stream)
    return stream.getvalue()


def main() -> None:
    data = base64.b64encode(reduced()).decode()
    face = f'@font-face {{ font-family: "STIX Two Math"; src: url(data:font/woff;base64,{data}) format("woff"); }}\n'
    TARGET.write_text(HEAD + face)
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
