"""How ready a company is on a day, as others may ask for it."""

from abc import abstractmethod
from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, JsonValue

from thenga.domains.compliance.public.evidence import EvidenceRef
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent

_VALUE = ConfigDict(frozen=True)

Verdict = Literal["ready", "ready_with_warnings", "not_ready", "unknown"]
Gate = Literal["hard", "soft", "points"]
State = Literal[
    "met",
    "provisional",
    "partially_met",
    "missing",
    "expired",
    "failed",
    "unknown",
    "not_applicable",
]


class Term(BaseModel):
    """One requirement of a tender: the asker's reference, a catalogue code and its parameters."""

    model_config = _VALUE

    ref: str
    code: str | None = None
    gate: Gate | None = None
    params: dict[str, JsonValue] = {}


class TenderTerms(BaseModel):
    """The terms of one tender as the asker knows them; nobody is asked back."""

    model_config = _VALUE

    tender_opportunity_id: UUID
    closing_at: datetime | None = None
    validity_ends_on: date | None = None
    expected_award_on: date | None = None
    sphere: str | None = None
    category: str | None = None
    terms: list[Term] = []


class ReadinessItem(BaseModel):
    """One requirement on the day; a code outside the catalogue is `unknown`."""

    model_config = _VALUE

    ref: str | None = None
    code: str | None = None
    gate: Gate
    state: State
    evidence_ref: EvidenceRef | None = None
    valid_until: date | None = None


class Warned(BaseModel):
    """Something that does not block, or that cannot be said: the code, and why."""

    model_config = _VALUE

    code: str
    reason: str


class Lapse(BaseModel):
    """A need that is met at closing and ends before a later date of the tender."""

    model_config = _VALUE

    code: str
    ends_on: date
    misses: Literal["validity_end", "award"]
    misses_on: date


class ScoreRange(BaseModel):
    """The score if everything unknown turns out missing, and if it turns out met."""

    model_config = _VALUE

    low: Decimal
    high: Decimal


class ReadinessView(BaseModel):
    """The verdict on a day; `score` is 0 to 100, and null where nothing can be said.

    `blockers` are the codes of hard requirements that are not met. `score` is capped while there
    are any; `raw_score` is not.
    """

    model_config = _VALUE

    verdict: Verdict
    score: Decimal | None
    as_of: datetime
    stale: bool = False
    raw_score: Decimal | None = None
    range: ScoreRange | None = None
    tender_opportunity_id: UUID | None = None
    on: date | None = None
    items: list[ReadinessItem] = []
    blockers: list[str] = []
    warnings: list[Warned] = []
    unknowns: list[Warned] = []
    lapses: list[Lapse] = []
    catalogue_version: int | None = None


class Readiness(Port, name="compliance.readiness", timeout=0.5):
    """Can this company prove what it must on that day? Silence means unknown, and is shown so.

    `on_date` takes a day, or a tender that Compliance tracks, whose closing day counts; further
    requirements are laid over the catalogue. `for_tenders` takes up to 50 tenders with the terms
    that the asker knows, and answers in their order.
    """

    @abstractmethod
    @idempotent
    async def on_date(
        self,
        *,
        organization_id: UUID,
        on: date | None = None,
        tender_opportunity_id: UUID | None = None,
        requirements: list[Term] = [],  # noqa: B006  # never changed; a port's default is a value
    ) -> ReadinessView: ...

    @abstractmethod
    @idempotent
    async def for_tenders(
        self, *, organization_id: UUID, tenders: list[TenderTerms]
    ) -> list[ReadinessView]: ...


class ReadinessChanged(Event, type="compliance.ReadinessChanged.v1", subject="organization_id"):
    """The verdict or the blockers of a company changed, or its score moved by a point or more."""

    organization_id: UUID
    verdict: str
    score: Decimal | None = None
    previous_verdict: str | None = None
    previous_score: Decimal | None = None
    blockers: list[str] = []
    direction: Literal["up", "down", "level"] | None = None
    tender_opportunity_id: UUID | None = None
    on: date | None = None


EVENTS = (ReadinessChanged,)
