"""How far a bid answers the requirements of its tender, as pure functions (BID-16, BID-17)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

AtClosing = Literal["valid", "expired", "missing", "unknown"]
RowState = Literal["covered", "partly", "gap", "waived", "stale"]
LEAST_JUSTIFICATION = 20
_PLACE = Decimal("0.1")
_NO_PROOF = frozenset(("erased", "forbidden", "moved"))


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of the matrix, as its state depends on it."""

    response: str
    is_current: bool
    is_removed: bool
    has_place: bool
    has_justification: bool
    needs_evidence: bool
    evidence: tuple[AtClosing, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much is covered, in per cent; null where there is nothing to count."""

    overall: Decimal | None
    mandatory: Decimal | None


def at_closing(state: str, valid_until: date | None, closing_on: date | None) -> AtClosing:
    """What an evidence is worth on the closing date; what nobody says is never valid."""
    if state in _NO_PROOF:
        return "missing"
    if state != "live" or closing_on is None:
        return "unknown"
    if valid_until is not None and valid_until < closing_on:
        return "expired"
    return "valid"


def state_of(answer: Answer) -> RowState:
    """The state of one row."""
    if answer.is_removed:
        return "waived"
    if answer.response == "not_applicable" and answer.has_justification and answer.is_current:
        return "waived"
    if answer.response != "none" and not answer.is_current:
        return "stale"
    if answer.response == "comply" and answer.has_place and _is_proven(answer):
        return "covered"
    began = answer.response in ("partial", "deviate") or answer.has_place or answer.evidence
    return "partly" if began or answer.response == "comply" else "gap"


def _is_proven(answer: Answer) -> bool:
    if answer.needs_evidence and not answer.evidence:
        return False
    return all(one == "valid" for one in answer.evidence)


def coverage(rows: Iterable[tuple[str, RowState]], weights: Mapping[str, int]) -> Coverage:
    """Coverage over (class, state): waived and informational rows do not count (BID-17)."""
    counted = [(kind, state) for kind, state in rows if kind in weights and state != "waived"]
    total = sum(weights[kind] for kind, _ in counted)
    reached = sum(2 * weights[kind] for kind, state in counted if state == "covered")
    reached += sum(weights[kind] for kind, state in counted if state == "partly")
    mandatory = [state for kind, state in counted if kind == "mandatory"]
    return Coverage(
        overall=_percent(reached, 2 * total),
        mandatory=_percent(mandatory.count("covered"), len(mandatory)),
    )


def _percent(part: int, whole: int) -> Decimal | None:
    if whole == 0:
        return None
    return (Decimal(100 * part) / whole).quantize(_PLACE, ROUND_HALF_UP)
