"""Which operations a walk over all operations takes.

`make prove` takes all. `make check` takes those of the domains that the submission changes, and of
the others a third, by turns: every eight hours of HEAD's time another third, so three turns take
all. `make check-domain` takes one domain. Without history to read, a walk takes all.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

from tests.submission import Submission, submission
from thenga import topology
from thenga.kernel.http.document.operations import Operation

SHARE = 3  # of the other domains, each turn takes one operation in so many
_TURN_SECONDS = 8 * 3600


@dataclass(frozen=True)
class Rotation:
    """What to walk, and why."""

    whole: Collection[str]  # domains
    turn: int | None  # of the other domains; None for nothing of them
    reason: str

    def of(self, operations: Sequence[Operation]) -> list[Operation]:
        return [each for each in operations if self._walks(each.domain.name, each.name)]

    def summary(self, operations: Sequence[Operation]) -> str:
        return f"walked={len(self.of(operations))} of {len(operations)} ({self.reason})"

    def count(self, record: Callable[[str, object], None], operations: Sequence[Operation]) -> None:
        """Let the gate know of a walk, by the `record_property` of its test."""
        record("walked", len(self.of(operations)))
        record("rotated", len(operations) - len(self.of(operations)))

    def _walks(self, domain: str, name: str) -> bool:
        if domain in self.whole:
            return True
        digest = hashlib.sha256(name.encode()).digest()
        return self.turn is not None and (int.from_bytes(digest) + self.turn) % SHARE == 0


def chosen(changes: Submission) -> Rotation:
    """Whole the domains whose code or calls it changes, and the third whose turn it is."""
    places = {
        name: (f"src/thenga/domains/{name}/", f"tests/suites/calls/{name}")
        for name in topology.DOMAINS
    }
    whole = [name for name, of in places.items() if any(f.startswith(of) for f in changes.lines)]
    turn = changes.seconds // _TURN_SECONDS
    named = ", ".join(whole) or "no domain"
    return Rotation(whole, turn, f"{named} whole, of the others the third of turn {turn % SHARE}")


def within_domain(operations: Sequence[Operation]) -> list[Operation]:
    """All of them, or those of the one domain that `make check-domain` is about."""
    only = os.environ.get("THENGA_DOMAIN")
    return [each for each in operations if not only or each.domain.name == only]


@cache
def rotation() -> Rotation:
    """The rotation of this run."""
    only, changes = os.environ.get("THENGA_DOMAIN"), submission()
    if only:
        return Rotation([only], None, f"{only} alone")
    if os.environ.get("THENGA_PROVE") == "1" or changes is None:
        return Rotation(topology.DOMAINS, None, "everything")
    return chosen(changes)
