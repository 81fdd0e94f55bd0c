"""Runs every test file by itself and names those that fail so: `make alone`, or with some files.

Each starts servers of its own, so all of them take long; no part of `make check`.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def main(asked: Sequence[str]) -> int:
    """The number of files that fail alone, at most 1."""
    files = asked or sorted(str(one.relative_to(_ROOT)) for one in _ROOT.glob("tests/**/test_*.py"))
    failed = []
    for number, file in enumerate(files, 1):
        began = time.monotonic()
        command = [sys.executable, "-m", "pytest", file, "-x", "-q", "--tb=short"]
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
        took = time.monotonic() - began
        word = "green" if done.returncode == 0 else "FAILED"
        print(f"{number} of {len(files)} {word} {file} {took:.0f} s", flush=True)
        if done.returncode != 0:
            failed.append(file)
            print(done.stdout[-3000:], flush=True)
    print(f"alone: files={len(files)} failed={len(failed)}", *failed, sep="\n  ")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
