"""What other domains may know of Supplier: its events, its ports and their values.

Quotes, performance records, ratings and reviews are rows between two organizations. Their events
are published twice, once for each party, and both copies name both organizations. A row whose
supplier has no account here has one party, and its events are published once.
"""

from abc import abstractmethod
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.declare.setting import Acknowledged
from thenga.kernel.values.fields import Instant
from thenga.kernel.values.shapes import Shape

_VALUE = ConfigDict(frozen=True, from_attributes=True)

TrustLevel = Literal["unrated", "provisional", "trusted", "watch", "restricted", "blocked"]


class TrustView(BaseModel):
    """How far a supplier is trusted, and what follows from it.

    `effects` are codes: `warn_rfq`, `block_rfq`, `warn_award`, `block_award`, `notify_supplier`.
    The domain that asks decides what it does about them.
    """

    model_config = _VALUE

    supplier_id: UUID
    state: TrustLevel
    score: Decimal | None
    evidence_band: str | None
    effects: list[str]
    override_until: datetime | None
    appeal_open: bool
    as_of: datetime


class Trust(Port, name="supplier.trust", timeout=0.3):
    """How far suppliers are trusted, many at once. Silence means unknown, and is shown so."""

    @abstractmethod
    @idempotent
    async def describe(
        self, *, supplier_ids: Annotated[list[UUID], Field(max_length=200)]
    ) -> list[TrustView]: ...


class ClassificationCode(Shape):
    """One code of a scheme."""

    scheme: Annotated[str, Field(description="Scheme, for example `unspsc`.")]
    code: Annotated[str, Field(description="Code in the scheme.")]


class Verification(Shape):
    """Verification of a capability of the company's profile, as Organization states it."""

    verification_status: Annotated[str, Field(description="`verified` only while it is valid.")]
    verified_until: Annotated[Instant | None, Field(description="End of the verification.")]
    classifications: Annotated[
        list[ClassificationCode], Field(description="What was verified, by code.")
    ]
    cidb_designation: Annotated[str | None, Field(description="CIDB grading, for example `6GB`.")]

    def on(self, now: datetime) -> Self:
        """As it is at that time: one that has ended is lapsed before Organization says so."""
        ends = self.verified_until
        is_over = self.verification_status == "verified" and ends is not None and ends <= now
        return self.model_copy(update={"verification_status": "lapsed"}) if is_over else self


class CapabilityCard(BaseModel):
    """What a supplier says it can deliver; without a verification it is its statement alone."""

    model_config = _VALUE

    id: UUID
    title: str
    category_ids: list[UUID]
    organization_capability_id: UUID | None
    verification: Verification | None


class SupplierCard(BaseModel):
    """A supplier as one organization sees it; only external suppliers have a name here.

    The name of a company comes from `organization.Profiles.cards`.
    """

    model_config = _VALUE

    supplier_id: UUID
    kind: Literal["own", "external"]
    organization_id: UUID | None
    name: str | None
    status: str
    accepts_quote_requests: bool
    capabilities: list[CapabilityCard]
    as_of: datetime


class Suppliers(Port, name="supplier.suppliers", timeout=0.3):
    """Who supplies. Silence means unknown.

    `describe` answers for the suppliers that `organization_id` may read: every company's own, and
    the external ones that it registered itself; ids that it may not read are left out.
    """

    @abstractmethod
    @idempotent
    async def describe(
        self,
        *,
        organization_id: UUID,
        supplier_ids: Annotated[list[UUID], Field(max_length=200)],
    ) -> list[SupplierCard]: ...

    @abstractmethod
    @idempotent
    async def of_organization(self, *, organization_id: UUID) -> UUID | None: ...


class SupplierRegistered(Event, type="supplier.SupplierRegistered.v1", subject="supplier_id"):
    """A company registered as a supplier, or registered somebody it buys from."""

    organization_id: UUID
    supplier_id: UUID
    kind: str
    status: str


class SupplierChanged(Event, type="supplier.SupplierChanged.v1", subject="supplier_id"):
    """The profile or the status of a supplier changed."""

    organization_id: UUID
    supplier_id: UUID
    kind: str
    status: str


class SupplierCapabilityChanged(
    Event, type="supplier.SupplierCapabilityChanged.v1", subject="capability_id"
):
    """A capability was declared, changed or withdrawn, or its verification changed."""

    organization_id: UUID
    supplier_id: UUID
    capability_id: UUID
    withdrawn: bool
    category_ids: list[UUID]
    organization_capability_id: UUID | None
    verification_status: str | None


class _QuoteEvent(Event):
    """What every event about a quote carries; never a price."""

    quote_id: UUID
    supplier_id: UUID
    customer_organization_id: UUID
    supplier_organization_id: UUID | None
    quote_request_id: UUID | None
    recipient_id: UUID | None
    status: str
    revision: int | None
    revision_hash: str | None
    label: str
    due_at: datetime
    time_zone: str


class QuoteSubmitted(_QuoteEvent, type="supplier.QuoteSubmitted.v1", subject="quote_id"):
    """A supplier made an offer or revised it; `revision` counts up."""


class QuoteChanged(_QuoteEvent, type="supplier.QuoteChanged.v1", subject="quote_id"):
    """A quote was requested, acknowledged, fulfilled, or ended without an acceptance."""


class QuoteAccepted(_QuoteEvent, type="supplier.QuoteAccepted.v1", subject="quote_id"):
    """The customer accepted an offer; `revision` and `revision_hash` name which."""


class PerformancePeriod(BaseModel):
    """First and last day that a performance record is about."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    since: date = Field(validation_alias="from", serialization_alias="from")
    to: date


class _PerformanceEvent(Event):
    """What every event about a performance record carries."""

    record_id: UUID
    supplier_id: UUID
    recorder_organization_id: UUID
    supplier_organization_id: UUID | None
    source: str
    period: PerformancePeriod
    on_time: Decimal | None
    quality: Decimal | None
    value: Decimal | None
    count: int
    strength: str
    basis: str
    status: str
    corrects: UUID | None


class PerformanceRecorded(
    _PerformanceEvent, type="supplier.PerformanceRecorded.v1", subject="record_id"
):
    """A customer recorded how a supplier delivered; `corrects` names the record it replaces."""


class PerformanceDisputed(
    _PerformanceEvent, type="supplier.PerformanceDisputed.v1", subject="record_id"
):
    """The supplier disputed a record, or its dispute was decided; `status` says which."""


class RatingPublished(Event, type="supplier.RatingPublished.v1", subject="rating_id"):
    """A customer rated a supplier after an engagement."""

    rating_id: UUID
    supplier_id: UUID
    rater_organization_id: UUID
    supplier_organization_id: UUID
    overall: int


class ReviewPublished(Event, type="supplier.ReviewPublished.v1", subject="review_id"):
    """A moderator published what a customer wrote about a supplier."""

    review_id: UUID
    supplier_id: UUID
    rater_organization_id: UUID
    supplier_organization_id: UUID


class TrustStateChanged(Event, type="supplier.TrustStateChanged.v1", subject="supplier_id"):
    """A supplier is trusted more or less; `basis` says whether staff or the formula decided."""

    organization_id: UUID
    supplier_id: UUID
    state: TrustLevel
    previous_state: TrustLevel
    score: Decimal | None
    effects: list[str]
    basis: str


class PreferredSupplierApproved(
    Event, type="supplier.PreferredSupplierApproved.v1", subject="preferred_id"
):
    """A second person approved a supplier as preferred in a category."""

    organization_id: UUID
    preferred_id: UUID
    supplier_id: UUID
    category_id: UUID
    valid_from: date
    valid_to: date


class PolicyAcknowledged(Acknowledged, type="supplier.PolicyAcknowledged.v1", subject="config_id"):
    """Supplier applied or refused a published setting or policy."""


EVENTS = (
    SupplierRegistered,
    SupplierChanged,
    SupplierCapabilityChanged,
    QuoteSubmitted,
    QuoteChanged,
    QuoteAccepted,
    PerformanceRecorded,
    PerformanceDisputed,
    RatingPublished,
    ReviewPublished,
    TrustStateChanged,
    PreferredSupplierApproved,
    PolicyAcknowledged,
)
