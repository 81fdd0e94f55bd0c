"""Awards that contracts begin with."""

from datetime import date
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.contract.api.proofs import ContractReferenceView
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import awards
from thenga.domains.contract.services.awards import AwardFilters
from thenga.domains.contract.tables import Award, AwardKind, AwardStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.money import Money

router = make_router("Contract / Awards")


class AwardBidderView(View):
    """A member of the bidding group."""

    key: Annotated[str, Field(description="Key of the member in the bid.")]
    ref: Annotated[
        ContractReferenceView | None, Field(description="Reference to the member, if known.")
    ]
    share_percent: Annotated[Decimal | None, Field(description="Share in per cent.")]


class ContractAwardView(Stored):
    """An award, or a contract won elsewhere. Its facts never change."""

    organization_id: UUID
    event_id: Annotated[
        UUID, Field(description="Event that announced it. Send it to open a contract.")
    ]
    event_type: Annotated[str, Field(description="Type of the event.")]
    kind: Annotated[AwardKind, Field(description="Award of a bid, or contract won elsewhere.")]
    source_domain: Annotated[str, Field(description="Domain that announced it.")]
    outcome_id: Annotated[UUID, Field(description="Outcome of the bid.")]
    revision_of: Annotated[UUID | None, Field(description="Award that it revises.")]
    bid_workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    tender_opportunity_id: Annotated[UUID | None, Field(description="Tender, if known.")]
    label: Annotated[str, Field(description="Name of the bid.")]
    buyer_name: Annotated[str | None, Field(description="Buyer, for contracts won elsewhere.")]
    award_reference: Annotated[str | None, Field(description="Buyer's reference.")]
    awarded_on: Annotated[date, Field(description="Date of the award.")]
    awarded_value: Annotated[Money | None, Field(description="Awarded value, VAT included.")]
    bidders: Annotated[list[AwardBidderView], Field(description="Members of the bidding group.")]
    document_refs: Annotated[list[ContractReferenceView], Field(description="Award letters.")]
    correlation_id: Annotated[str, Field(description="Correlation ID of all events after it.")]
    payload_hash: Annotated[str, Field(description="SHA-256 of the event's data.")]
    status: AwardStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last change.")]
    workspace_id: Annotated[UUID | None, Field(description="Contract opened from it.")]

    @classmethod
    def of(cls, award: Award) -> "ContractAwardView":
        more = {"awarded_value": awards.awarded_value(award)}
        return cls.model_validate(award.__dict__ | more)


@router.get("/contracts/awards")
async def list_awards(
    read: Annotated[Reader, reads(Permission.AWARD_READ)],
    page: Annotated[Paged, paged("awardedOn", "createdAt", default="-awardedOn")],
    status: Annotated[AwardStatus | None, Query(description="Filter by status.")] = None,
    kind: Annotated[AwardKind | None, Query(description="Filter by kind.")] = None,
    event_id: Annotated[UUID | None, Query(alias="eventId", description="Filter by event.")] = None,
) -> PageOf[ContractAwardView]:
    """List awards, newest first. Open a contract from one with status `awaiting`."""
    found = await awards.list_awards(read, page, AwardFilters(status, kind, event_id))
    return PageOf[ContractAwardView].of(found, ContractAwardView.of)
