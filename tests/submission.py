"""What the submission changes: files, lines and test functions.

The submission is what came since the commit in `THENGA_LANDED`; without it, the commits within six
hours of HEAD's own date, and at least five. What is not committed yet belongs to it.
"""

import inspect
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HOURS = 6
LEAST_COMMITS = 5
ROOT = Path(__file__).parents[1]
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Submission:
    """Changed files with their changed lines, and HEAD, which dates them."""

    head: str
    seconds: int  # HEAD's commit time
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def changes(self, file: str, function: Callable[..., Any]) -> bool:
        """Whether it changes a line of this function."""
        changed = self.lines.get(file)
        if not changed:
            return False
        source, first = inspect.getsourcelines(inspect.unwrap(function))
        return not changed.isdisjoint(range(first, first + len(source)))


@cache
def submission() -> Submission | None:
    """That of this checkout; nothing without git or with too short a history."""
    try:
        return read(ROOT)
    except (OSError, subprocess.CalledProcessError):
        return None


def read(root: Path) -> Submission | None:
    asked = ("log", "--first-parent", "--max-count=500", "--format=%H %ct")
    commits = [(name, int(at)) for name, at in (line.split() for line in _git(root, *asked))]
    head, seconds = commits[0]
    recent = sum(at > seconds - HOURS * 3600 for _, at in commits)
    before = commits[max(recent, LEAST_COMMITS) :]
    base = os.environ.get("THENGA_LANDED") or (before[0][0] if before else None)
    if base is None:
        return None
    changed = _changed(_git(root, "diff", "--unified=0", "--no-renames", "--no-color", base))
    for file in _git(root, "ls-files", "--others", "--exclude-standard"):
        changed[file] = set(range(1, 10_000))
    return Submission(head, seconds, {file: frozenset(at) for file, at in changed.items()})


def _changed(diff: list[str]) -> dict[str, set[int]]:
    """By file, the lines of today that differ; where lines were deleted, their neighbours."""
    changed: dict[str, set[int]] = {}
    before = file = ""
    for line in diff:
        hunk = _HUNK.match(line)
        if line.startswith("--- "):
            before = line.removeprefix("--- a/")
        elif line.startswith("+++ "):
            file = before if line == "+++ /dev/null" else line.removeprefix("+++ b/")
            changed.setdefault(file, set())
        elif hunk:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            changed[file].update(range(first, first + (count or 2)))
    return changed


def _git(root: Path, *arguments: str) -> list[str]:
    command = ["git", "-c", "safe.directory=*", *arguments]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [line for line in answer.stdout.splitlines() if line]
