"""A tender as readiness needs it: its dates and its terms, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class TermFacts:
    """One requirement of a tender, as Opportunity or an asker knows it."""

    ref: str
    code: str | None
    gate: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TenderFacts:
    """The dates and terms of one tender."""

    tender_opportunity_id: UUID | None
    closing_at: datetime | None = None
    validity_ends_on: date | None = None
    expected_award_on: date | None = None
    sphere: str | None = None
    category: str | None = None
    terms: tuple[TermFacts, ...] = ()
