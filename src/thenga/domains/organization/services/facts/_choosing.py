"""Which of several statements and checks counts: a pure function of what is live (ORG-3, ORG-4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from thenga.domains.organization.tables import FactConflict, Origin

# ORG-3: a valid check before the customer's own statement before the newest import.
_ORDER = (Origin.IMPORTED, Origin.CUSTOMER_SUPPLIED, Origin.VERIFIED)


@dataclass(frozen=True)
class Said:
    """One live statement or valid check; `digest` is the hash of its canonical value."""

    id: UUID
    origin: Origin
    digest: bytes
    rank: int
    at: datetime


@dataclass(frozen=True)
class Resolution:
    """That a person decided for one statement, and when."""

    to: UUID
    at: datetime


@dataclass(frozen=True)
class Chosen:
    """What counts, and whether the rest agrees."""

    said: Said | None
    conflict: FactConflict


def choose(
    said: Sequence[Said], *, current: bytes | None, resolution: Resolution | None, ranked: bool
) -> Chosen:
    """What counts now, where `current` is the value that counted until now.

    Values that differ never push each other aside: the effective one stays until a person
    resolves, or until the source of highest rank wins where the catalogue lets it (`ranked`).
    """
    if not said:
        return Chosen(None, FactConflict.NONE)
    values = {one.digest for one in said}
    if len(values) == 1:
        return Chosen(_best(said), FactConflict.NONE)
    resolved = _standing(said, resolution)
    if resolved is None and ranked:
        resolved = _strict_winner(said)
    if resolved is not None:
        return Chosen(_best(_of_value(said, resolved)), FactConflict.RESOLVED)
    kept = current if current in values else _best(said).digest
    return Chosen(_best(_of_value(said, kept)), FactConflict.CONFLICTED)


def _standing(said: Sequence[Said], resolution: Resolution | None) -> bytes | None:
    """What a person decided for, until somebody says something else later."""
    if resolution is None:
        return None
    found = next((one for one in said if one.id == resolution.to), None)
    if found is None:
        return None
    newer = [one for one in said if one.at > resolution.at and one.digest != found.digest]
    return None if newer else found.digest


def _strict_winner(said: Sequence[Said]) -> bytes | None:
    highest = max(one.rank for one in said)
    winners = {one.digest for one in said if one.rank == highest}
    return winners.pop() if len(winners) == 1 else None


def _of_value(said: Sequence[Said], digest: bytes) -> list[Said]:
    return [one for one in said if one.digest == digest]


def _best(said: Sequence[Said]) -> Said:
    return max(said, key=lambda one: (_ORDER.index(one.origin), one.at, one.id))
