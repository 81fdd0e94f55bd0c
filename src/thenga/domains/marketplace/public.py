"""What other domains may know of Marketplace: its events, its port and their values.

The recipient of a quote request and a support request are rows between two organizations. Their
events are published twice, once for each party, and both copies name both organizations. A
recipient without an account here has one party, and its events are published once.
"""

from abc import abstractmethod
from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.declare.setting import Acknowledged
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.fields import Day, by_rule, decimal, lines, text
from thenga.kernel.values.places import MunicipalityCode, Province
from thenga.kernel.values.references import Reference
from thenga.kernel.values.shapes import Shape

_VALUE = ConfigDict(frozen=True)


def _positive(quantity: Decimal) -> Decimal:
    if quantity <= 0:
        raise RuleViolated("Ask for more than nothing.", rule="MKT-26")
    return quantity


class QuoteRequestLine(Shape):
    """One thing that a quote is asked for."""

    key: Annotated[str, text(1, 40), Field(description="Key of the line, unique in the request.")]
    description: Annotated[str, lines(1, 2000), Field(description="What is needed.")]
    unit: Annotated[str, text(1, 40), Field(description="Unit of the quantity.")]
    quantity: Annotated[
        Decimal,
        decimal(12, 4),
        by_rule(_positive),
        Field(description="Quantity, greater than zero."),
    ]
    need_by: Annotated[Day | None, Field(description="Day by which it is needed.")] = None
    specification_refs: Annotated[
        list[Reference],
        Field(
            max_length=20,
            description="Specifications of the line. Recipients see the reference, not the file. "
            "Put what matters in `description`.",
        ),
    ] = []


class DeliveryPlace(Shape):
    """Where it is to be delivered."""

    province: Annotated[Province, Field(description="Province.")]
    municipality_code: Annotated[
        MunicipalityCode | None, Field(description="Municipal Demarcation Board code.")
    ] = None


class QuoteRequestView(BaseModel):
    """A quote request as customer and recipient both see it: never the tender, never a rival."""

    model_config = _VALUE

    quote_request_id: UUID
    recipient_id: UUID
    supplier_id: UUID
    customer_organization_id: UUID
    provider_organization_id: UUID | None
    status: str
    revision: int
    content_hash: str
    title: str
    lines: list[QuoteRequestLine]
    deliver_to: DeliveryPlace | None
    currency: str
    due_at: datetime
    time_zone: str
    min_validity_days: int
    terms: str | None
    document_refs: list[Reference]


class QuoteRequests(Port, name="marketplace.quote_requests", timeout=0.5):
    """What was asked of whom. Silence: ask again by job.

    A customer gets one view for each recipient of its requests, a provider only its own; ids that
    `organization_id` may not read are left out.
    """

    @abstractmethod
    @idempotent
    async def describe(
        self,
        *,
        organization_id: UUID,
        quote_request_ids: Annotated[list[UUID], Field(max_length=50)],
    ) -> list[QuoteRequestView]: ...


class ListingPublished(Event, type="marketplace.ListingPublished.v1", subject="listing_id"):
    """A moderator published a listing, or confirmed a new version of it."""

    organization_id: UUID
    listing_id: UUID
    supplier_id: UUID
    live_version: int
    status: str
    category_ids: list[UUID]
    visibility: str
    served: bool


class ListingModerated(Event, type="marketplace.ListingModerated.v1", subject="listing_id"):
    """A moderator decided about a listing; `reason_codes` say why, its text stays here."""

    organization_id: UUID
    listing_id: UUID
    supplier_id: UUID
    label: str
    version_number: int
    decision: str
    reason_codes: list[str]
    status: str
    served: bool


class ListingVisibilityChanged(
    Event, type="marketplace.ListingVisibilityChanged.v1", subject="listing_id"
):
    """The provider changed who may find a listing."""

    organization_id: UUID
    listing_id: UUID
    supplier_id: UUID
    visibility: str
    served: bool


class _QuoteRequestEvent(Event):
    """What every event about a recipient carries; never a line, a price or the tender."""

    quote_request_id: UUID
    recipient_id: UUID
    supplier_id: UUID
    customer_organization_id: UUID
    provider_organization_id: UUID | None
    revision: int
    content_hash: str
    label: str
    due_at: datetime
    time_zone: str


class QuoteRequested(
    _QuoteRequestEvent, type="marketplace.QuoteRequested.v1", subject="recipient_id"
):
    """A customer asked a supplier for a quote; published for each recipient."""


class QuoteRequestChanged(
    _QuoteRequestEvent, type="marketplace.QuoteRequestChanged.v1", subject="recipient_id"
):
    """A quote request was cancelled, has more time or ended; published for each recipient."""

    status: str
    change: str


class SupportRequested(Event, type="marketplace.SupportRequested.v1", subject="support_request_id"):
    """Somebody reported a listing or provider, appealed, or has a problem with a quote."""

    support_request_id: UUID
    reporter_organization_id: UUID
    operator_organization_id: UUID
    kind: str
    about: Reference
    status: str


class SupportRequestResolved(
    Event, type="marketplace.SupportRequestResolved.v1", subject="support_request_id"
):
    """Staff resolved a support request; the answer itself stays here."""

    support_request_id: UUID
    reporter_organization_id: UUID
    operator_organization_id: UUID
    kind: str
    about: Reference
    outcome: str
    status: str


class DisplayedItem(BaseModel):
    """One item that a person was shown; `source_ref` says who recommended it."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    listing_id: UUID | None
    product_ref: Reference | None
    position: int
    sponsored: bool
    source_ref: Reference


class RecommendationDisplayed(
    Event, type="marketplace.RecommendationDisplayed.v1", subject="display_id"
):
    """A person was shown recommendations, in this order."""

    organization_id: UUID
    display_id: UUID
    surface: str
    items: list[DisplayedItem]


class PolicyAcknowledged(
    Acknowledged, type="marketplace.PolicyAcknowledged.v1", subject="config_id"
):
    """Marketplace applied or refused a published setting or policy."""


EVENTS = (
    ListingPublished,
    ListingModerated,
    ListingVisibilityChanged,
    QuoteRequested,
    QuoteRequestChanged,
    SupportRequested,
    SupportRequestResolved,
    RecommendationDisplayed,
    PolicyAcknowledged,
)
