"""The random trees and the peers of the tests of mechanisms serve here, too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "mechanism"))
