"""`python -m qtrace`: the same as the command `qtrace`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
