"""`python -m tests.patient` is `thenga` with the long time-outs of tests (tests/patience.py)."""

from tests import patience
from thenga.command import main

if __name__ == "__main__":
    patience.wait_long()
    main()
