"""`python -m chatkit` is the command `chatkit`."""

import sys

from chatkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
