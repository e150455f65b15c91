"""python -m poinsot.cli"""

import sys

from poinsot.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
