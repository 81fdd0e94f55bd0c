"""How much a walk over all operations covers.

`make prove` walks everything. `make check` walks the operations of domains that changed in the last
30 commits, and of the others a third that the commit's hash chooses, so every operation has its
turn. A change of what every request passes (the kernel, Identity's gate, the walks) walks
everything, and so does a copy without enough history to tell. `make check-domain` walks one domain.
"""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from thenga import topology
from thenga.kernel.http.document.operations import Operation

COMMITS = 30
SHARE = 3  # of the other domains, one operation in so many
_ROOT = Path(__file__).parents[2]
_DOMAINS = "src/thenga/domains/"
# What stands in the way of every request, besides all of src/thenga that is no domain.
_EVERYBODYS = (
    "src/thenga/domains/identity/permissions.py",
    "src/thenga/domains/identity/provider.py",
    "src/thenga/domains/identity/public/",
    "src/thenga/domains/identity/services/decisions/",
    "src/thenga/domains/identity/services/organizations/billing_signals.py",
    "tests/suites/actors.py",
    "tests/suites/fuzzing.py",
    "tests/suites/matrix.py",
    "tests/suites/rotation.py",
    "tests/suites/test_schema_fuzz.py",
    "tests/suites/test_tenants_matrix.py",
)
_MAKERS = "tests/suites/calls/"


@dataclass(frozen=True)
class Rotation:
    """What to walk, and why."""

    whole: frozenset[str] | None  # domains; None for all of them
    commit: str
    reason: str
    others: int = SHARE  # one operation in so many of the other domains; 0 for none

    def of(self, operations: Sequence[Operation]) -> list[Operation]:
        return [one for one in operations if self._walks(one.domain.name, one.name)]

    def told(self, operations: Sequence[Operation]) -> str:
        return f"walked={len(self.of(operations))} of {len(operations)} ({self.reason})"

    def _walks(self, domain: str, name: str) -> bool:
        if self.whole is None or domain in self.whole:
            return True
        digest = hashlib.sha256(f"{self.commit} {name}".encode()).digest()
        return self.others > 0 and digest[0] % self.others == 0


def chosen(changed: Sequence[str], commit: str) -> Rotation:
    """By the files that changed in the last commits."""
    for path in changed:
        kernel = path.startswith("src/thenga/") and not path.startswith(_DOMAINS)
        if kernel or path.startswith(_EVERYBODYS):
            return Rotation(None, commit, f"everything: {path} changed")
    domains = {
        name
        for path in changed
        for name in topology.DOMAINS
        if path.startswith((f"{_DOMAINS}{name}/", f"{_MAKERS}{name}"))
    }
    named = ", ".join(sorted(domains)) or "no domain"
    return Rotation(
        frozenset(domains), commit, f"{named} whole, a third of the rest by {commit[:8]}"
    )


def within_domain(operations: Sequence[Operation]) -> list[Operation]:
    """All of them, or those of the one domain that `make check-domain` is about."""
    only = os.environ.get("THENGA_DOMAIN")
    return [one for one in operations if not only or one.domain.name == only]


@cache
def rotation() -> Rotation:
    """The rotation of this run."""
    if os.environ.get("THENGA_PROVE") == "1":
        return Rotation(None, "", "everything: prove")
    only = os.environ.get("THENGA_DOMAIN")
    if only:
        return Rotation(frozenset({only}), "", f"{only} alone", others=0)
    try:
        return _of_history(_ROOT)
    except (OSError, subprocess.CalledProcessError):
        return Rotation(None, "", "everything: no history")


def _of_history(root: Path) -> Rotation:
    commit = _git(root, "rev-parse", "HEAD")[0]
    known = int(_git(root, "rev-list", "--count", f"--max-count={COMMITS + 1}", "HEAD")[0])
    if known <= COMMITS:
        return Rotation(None, commit, "everything: a short history")
    changed = {
        *_git(root, "log", f"--max-count={COMMITS}", "--name-only", "--pretty=format:", "-m"),
        *_git(root, "diff", "--name-only", "HEAD"),
        *_git(root, "ls-files", "--others", "--exclude-standard"),
    }
    return chosen(sorted(changed), commit)


def _git(root: Path, *arguments: str) -> list[str]:
    command = ["git", "-c", "safe.directory=*", *arguments]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [line for line in told.stdout.splitlines() if line]
