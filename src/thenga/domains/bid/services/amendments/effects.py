"""What an amendment touches in one bid, as pure comparisons (BID-49)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from thenga.domains.bid.tables import MatrixRow
from thenga.domains.opportunity.public import Tender, TenderRequirement

Handling = Literal["automatic", "open", "acknowledged"]
BILLS = frozenset(("pricing_schedule", "bill_of_quantities", "boq"))


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that an amendment touched; `open` ones must be acknowledged by name."""

    key: str
    subject: str
    change: str
    before: str | None
    after: str | None
    handling: Handling

    def to_row(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "subject": self.subject,
            "change": self.change,
            "before": self.before,
            "after": self.after,
            "handling": self.handling,
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Effect":
        return cls(**row)

    def acknowledged(self) -> "Effect":
        return replace(self, handling="acknowledged") if self.handling == "open" else self


def closing_effect(before: datetime | None, after: datetime | None) -> list[Effect]:
    """The closing moved; a new draft of the plan follows by itself."""
    if before == after:
        return []
    return [Effect("closing", "plan", "moved", _text(before), _text(after), "automatic")]


def requirement_effects(
    rows: Iterable[MatrixRow], requirements: Iterable[TenderRequirement]
) -> list[Effect]:
    """Requirements that are new, changed or gone; what was answered must be looked at."""
    known = {row.requirement_id: row for row in rows if row.removed_at is None}
    now = {one.id: one for one in requirements}
    found = []
    for key, one in now.items():
        row = known.get(key)
        if row is None:
            found.append(_requirement(key, "new", None, str(one.version), "open"))
        elif row.requirement_version != one.version:
            handling: Handling = "automatic" if row.response == "none" else "open"
            before = str(row.requirement_version)
            found.append(_requirement(key, "changed", before, str(one.version), handling))
    for key, row in known.items():
        if key not in now:
            before = str(row.requirement_version)
            found.append(_requirement(key, "removed", before, None, "automatic"))
    return found


def _requirement(
    key: UUID, change: str, before: str | None, after: str | None, handling: Handling
) -> Effect:
    return Effect(f"requirement:{key}", "requirement", change, before, after, handling)


def terms_effects(
    before: Mapping[str, Any], tender: Tender, after: Mapping[str, Any]
) -> list[Effect]:
    """Forms, goals, the way of submission and the bill of quantities."""
    found = []
    if _titles(before) != _titles(after):
        found.append(Effect("forms", "form", "changed", _titles(before), _titles(after), "open"))
    if _goals(before) != _goals(after):
        found.append(Effect("goals", "form", "changed", None, None, "open"))
    if before.get("submission") != after.get("submission"):
        found.append(Effect("submission", "workspace", "changed", None, None, "open"))
    hashes = {str(one["id"]): one.get("sha256") for one in before.get("documents") or []}
    for document in tender.documents:
        old = hashes.get(str(document.id))
        if document.kind in BILLS and document.sha256 is not None and old != document.sha256:
            key = f"document:{document.id}"
            found.append(Effect(key, "workbook", "changed", old, document.sha256, "open"))
    return found


def _titles(terms: Mapping[str, Any]) -> str:
    return ", ".join(sorted(str(one["title"]) for one in terms.get("forms") or []))


def _goals(terms: Mapping[str, Any]) -> object:
    return terms.get("preference")


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
