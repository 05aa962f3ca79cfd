"""The number of examples of a test: few in `make test`, ten times as many in `make full`."""

import os

#: `make full` says so: every test under every service profile, properties with many examples.
FULL = os.environ.get("TEST_VOLUME") == "full"


def volume(quick: int, full: int | None = None) -> int:
    """Return how many examples, rows or rounds: `quick` of them, or `full` (ten times) of them."""
    return (full or 10 * quick) if FULL else quick
