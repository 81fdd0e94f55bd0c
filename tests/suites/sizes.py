"""How much a suite does: a little in `make check`, all of it in `make prove`."""

import os


def size(check: int, prove: int) -> int:
    return prove if os.environ.get("THENGA_PROVE") == "1" else check
