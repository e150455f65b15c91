"""python -m poinsot.cli"""

import sys

from poinsot.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
