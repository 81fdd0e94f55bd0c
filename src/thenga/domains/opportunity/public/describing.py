"""What another domain may ask about tenders, with the asking organization's own additions."""

from abc import abstractmethod
from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, JsonValue

from thenga.domains.opportunity.public.dates import AttendanceState
from thenga.domains.opportunity.public.notices import (
    DeadlineKind,
    DeadlineState,
    TenderStatus,
    Visibility,
)
from thenga.kernel.declare.port import Port

_VALUE = ConfigDict(frozen=True)

RequirementClass = Literal["mandatory", "scored", "recommended", "informational"]
CriterionKind = Literal[
    "cidb_grade",
    "document",
    "sbd_form",
    "briefing",
    "experience",
    "people",
    "equipment",
    "turnover",
    "place",
    "functionality",
    "preference",
    "validity",
    "submission",
    "local_content",
    "free",
]
Gate = Literal["hard", "soft"]
Cure = Literal["none", "partner", "renew", "register", "clarify"]


class TenderBuyer(BaseModel):
    """Who buys, and under which law."""

    model_config = _VALUE

    name: str
    sphere: Literal["national", "provincial", "municipal", "state_company", "other"] | None
    regime: Literal["pfma", "mfma", "other"] | None


class TenderGoal(BaseModel):
    """A specific goal and its points in either system."""

    model_config = _VALUE

    key: str
    text: str
    points_8020: Decimal | None
    points_9010: Decimal | None
    proof: str | None


class TenderPreference(BaseModel):
    """The preference point system of a tender."""

    model_config = _VALUE

    system: Literal["80_20", "90_10", "either"]
    contract: Literal["purchase", "income"]
    goals: list[TenderGoal]


class TenderFunctionalityPart(BaseModel):
    """One scored part of functionality."""

    model_config = _VALUE

    key: str
    title: str
    points: Decimal


class TenderFunctionality(BaseModel):
    """The points for functionality and the threshold that a bid must reach."""

    model_config = _VALUE

    max_points: Decimal
    threshold_points: Decimal
    parts: list[TenderFunctionalityPart]


class TenderSubmission(BaseModel):
    """How a bid must be submitted."""

    model_config = _VALUE

    channels: list[str]
    address: str | None
    copies: int | None
    envelopes: Literal["single", "two"]
    e_signature: Literal["accepted", "refused", "unknown"]
    issued_forms_only: bool
    max_mb: int | None


class TenderForm(BaseModel):
    """A form that the buyer issued with the tender."""

    model_config = _VALUE

    title: str
    code: str | None
    edition: str | None


class TenderCitation(BaseModel):
    """Where a requirement stands in the documents."""

    model_config = _VALUE

    document_id: UUID
    page: int
    excerpt: str


class TenderRequirement(BaseModel):
    """A requirement of the set, or the asking organization's own.

    `code` is the requirement code of Compliance, or null; `kind` is the kind of criterion.
    """

    model_config = _VALUE

    id: UUID
    version: int
    requirement_class: RequirementClass
    kind: CriterionKind
    code: str | None
    gate: Gate
    cure: Cure
    params: dict[str, JsonValue]
    label: str
    weight: Decimal | None
    evidence_kinds: list[str]
    citation: TenderCitation | None
    own: bool = False


class TenderBriefing(BaseModel):
    """A briefing, and what the asking organization recorded of its attendance."""

    model_config = _VALUE

    id: UUID
    compulsory: bool
    at: datetime
    attendance: AttendanceState | None
    kind: Literal["meeting", "site_visit", "online"] = "meeting"


class TenderDeadline(BaseModel):
    """A date of the tender, or the asking organization's own."""

    model_config = _VALUE

    id: UUID
    kind: DeadlineKind
    due_at: datetime
    time_zone: str
    state: DeadlineState


class TenderDocument(BaseModel):
    """A document of the tender; `sha256` is null until it was fetched."""

    model_config = _VALUE

    id: UUID
    kind: str
    sha256: str | None


class Tender(BaseModel):
    """A tender as the asking organization may see it."""

    model_config = _VALUE

    id: UUID
    version: int
    sequence: int
    amendment_number: int
    material_revision: int
    requirement_set_version: int
    status: TenderStatus
    visibility: Visibility
    buyer: TenderBuyer
    number: str
    title: str
    category: str | None
    closing_at: datetime | None
    closing_precision: Literal["minute", "day"]
    time_zone: str
    validity_days: int | None
    expected_award_on: date | None
    preference: TenderPreference | None
    functionality: TenderFunctionality | None
    submission: TenderSubmission | None
    forms: list[TenderForm]
    requirements: list[TenderRequirement]
    briefings: list[TenderBriefing]
    deadlines: list[TenderDeadline]
    documents: list[TenderDocument]


class Tenders(Port, name="opportunity.tenders", timeout=0.5):
    """Tenders by their identifiers. Silence means unknown."""

    @abstractmethod
    async def describe(self, *, organization_id: UUID, tender_ids: list[UUID]) -> list[Tender]:
        """At most 50 tenders; those that the organization cannot see are left out."""
