"""Tenders as they are shown."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import (
    AwardView,
    BriefingView,
    BuyerView,
    ClassificationView,
    DeadlineView,
    Precision,
    TenderContactView,
)
from thenga.domains.opportunity.lifecycles import TenderOpportunityLifecycle
from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.services.mine import Mine, Provenance
from thenga.domains.opportunity.tables import Document, TenderOpportunity, TenderStatus
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.values.money import Money


class ListedDocumentView(View):
    """Summary of a document of the tender."""

    id: Annotated[UUID, Field(description="ID of the document.")]
    own: Annotated[bool, Field(description="Whether only you see this document.")]
    title: Annotated[str, Field(description="Title of the document.")]
    document_type: Annotated[str, Field(description="Kind of document.")]
    url: Annotated[str | None, Field(description="Where the buyer publishes it.")]
    fetch_state: Annotated[str, Field(description="Fetch status of the document.")]
    text_state: Annotated[str, Field(description="Whether its text could be read.")]
    pages: Annotated[int | None, Field(description="Number of pages.")]

    @classmethod
    def of(cls, row: Document, *, own: bool) -> "ListedDocumentView":
        values = row.__dict__ | {"own": own}
        return cls.model_validate({name: values[name] for name in cls.model_fields})


class HitView(View):
    """Where the search words appear in a document."""

    document_id: Annotated[UUID, Field(description="ID of the document.")]
    page: Annotated[int, Field(description="Page.")]
    snippet: Annotated[str, Field(description="Plain text around the words.")]


class ApproximateTotal(View):
    """Number of matching tenders."""

    value: Annotated[int, Field(description="Number of tenders, at most 5000.")]
    exact: Annotated[bool, Field(description="False if there are more.")]


class MineView(View):
    """Your organization's records for this tender."""

    match: Annotated[dict[str, Any] | None, Field(description="Summary of your match.")]
    saved: Annotated[dict[str, Any] | None, Field(description="Summary of your board entry.")]
    qualification: Annotated[
        dict[str, Any] | None, Field(description="Summary of your latest qualification.")
    ]
    recommendation: Annotated[
        dict[str, Any] | None, Field(description="Summary of your recommendation.")
    ]
    attendance: Annotated[
        list[dict[str, Any]], Field(description="Attendance you recorded at its briefings.")
    ]


class ProvenanceView(View):
    """Origin of the notice."""

    source_id: Annotated[UUID | None, Field(description="Source. Null if captured by hand.")]
    source_name: Annotated[str | None, Field(description="Name of the source.")]
    licence: Annotated[str | None, Field(description="Licence of the source.")]
    attribution: Annotated[str | None, Field(description="Attribution that the source requires.")]
    last_success_at: Annotated[
        datetime | None, Field(description="When the source was last read completely.")
    ]
    health: Annotated[str | None, Field(description="Health of the source.")]
    received_at: Annotated[datetime | None, Field(description="When the record was received.")]
    content_hash: Annotated[str | None, Field(description="SHA-256 of the record.")]
    report: Annotated[
        list[dict[str, Any]], Field(description="What was repaired, missing or doubtful.")
    ]


class OpportunityRow(Stored):
    """A tender in a list."""

    organization_id: Annotated[UUID, Field(description="Organization that manages the tender.")]
    own: Annotated[bool, Field(description="Whether your organization manages the tender.")]
    tender_number: Annotated[str, Field(description="Buyer's tender number.")]
    title: Annotated[str, Field(description="Title.")]
    ocid: Annotated[str | None, Field(description="Open contracting ID.")]
    buyer: BuyerView
    visibility: Annotated[
        Literal["private", "shared"], Field(description="Whether everyone sees the tender.")
    ]
    status: TenderStatus
    status_reason: Annotated[str | None, Field(description="Reason code of the status.")]
    published_on: Annotated[date | None, Field(description="Day of publication.")]
    opens_at: Annotated[datetime | None, Field(description="When the tender opens for bids.")]
    closing_at: Annotated[datetime | None, Field(description="When the tender closes.")]
    closing_precision: Precision
    closing_confidence: Annotated[
        Literal["stated", "derived", "doubtful", "unknown"],
        Field(description="Confidence in the closing date. `derived` means it was repaired."),
    ]
    time_zone: str
    main_category: Annotated[str | None, Field(description="Goods, works or services.")]
    category_text: Annotated[str | None, Field(description="Category as published.")]
    provinces: Annotated[list[str], Field(description="Provinces of the work.")]
    value: Annotated[Money | None, Field(description="Estimated value. Null if not published.")]
    amendment_number: Annotated[int, Field(description="Number of the last amendment. 0 if none.")]
    hits: Annotated[
        list[HitView], Field(description="Where the search words appear in documents.")
    ] = []

    @classmethod
    def values_of(cls, row: TenderOpportunity, now: datetime, mine: UUID | None) -> dict[str, Any]:
        status = row.status if row.status is TenderStatus.DRAFT else notices.status_at(row, now)
        return row.__dict__ | {
            "own": row.organization_id == mine,
            "status": status,
            "visibility": "shared" if row.shared else row.visibility,
            "value": notices.value_of(row),
            "buyer": BuyerView(
                name=row.buyer_name,
                sphere=row.buyer_sphere,
                regime=row.buyer_regime,
                source_buyer_id=row.source_buyer_id,
            ),
            "hits": [],
        }

    @classmethod
    def of(
        cls, row: TenderOpportunity, now: datetime, mine: UUID | None, hits: list[notices.Hit]
    ) -> "OpportunityRow":
        values = cls.values_of(row, now, mine)
        values["hits"] = [HitView.model_validate(one) for one in hits]
        return cls.model_validate({name: values[name] for name in cls.model_fields})


class OpportunityView(OpportunityRow):
    """A tender with its dates, documents and terms. Items that only you see are marked `own`."""

    description: Annotated[str | None, Field(description="Description.")]
    method: Annotated[str | None, Field(description="Procurement method.")]
    method_details: Annotated[str | None, Field(description="Method as published.")]
    classifications: list[ClassificationView]
    municipality_code: Annotated[str | None, Field(description="Municipality of the work.")]
    delivery_text: Annotated[str | None, Field(description="Place of delivery as published.")]
    special_conditions: Annotated[str | None, Field(description="Special conditions.")]
    contact: TenderContactView | None
    source_status: Annotated[str | None, Field(description="Status as the source sent it.")]
    closing_raw: Annotated[str | None, Field(description="Closing date as the source sent it.")]
    number_key: Annotated[str, Field(description="Normalised tender number used in search.")]
    material_revision: Annotated[int, Field(description="Increases with material amendments.")]
    requirement_set_version: Annotated[
        int, Field(description="Increases with every change of the requirements.")
    ]
    terms: Annotated[
        dict[str, Any],
        Field(description="Validity, preference, functionality, submission and forms."),
    ]
    awards: list[AwardView]
    conflicts: Annotated[
        list[dict[str, Any]], Field(description="Fields on which sources disagree.")
    ]
    doubts: Annotated[list[str], Field(description="Codes of doubtful details.")]
    superseded_by: Annotated[UUID | None, Field(description="Tender that replaces this one.")]
    primary_source_id: Annotated[UUID | None, Field(description="Source of the notice.")]
    documents: list[ListedDocumentView]
    briefings: list[BriefingView]
    deadlines: list[DeadlineView]
    possible_duplicates: Annotated[
        list[UUID], Field(description="Other tenders with the same number and buyer.")
    ] = []
    mine: Annotated[
        MineView | None, Field(description="Your own records. Shown with `include=mine`.")
    ] = None
    provenance: Annotated[
        ProvenanceView | None,
        Field(description="Origin of the notice. Shown with `include=provenance`."),
    ] = None
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunities/{self.id}"

    @classmethod
    def whole(
        cls,
        row: TenderOpportunity,
        now: datetime,
        mine_id: UUID | None,
        *,
        documents: list[Document],
        briefings: list[BriefingView],
        deadlines: list[DeadlineView],
        mine: Mine | None,
        provenance: Provenance | None,
        alike: list[UUID],
    ) -> "OpportunityView":
        values = cls.values_of(row, now, mine_id) | {
            "documents": [
                ListedDocumentView.of(one, own=one.organization_id != row.organization_id)
                for one in documents
            ],
            "briefings": briefings,
            "deadlines": deadlines,
            "possible_duplicates": alike,
            "mine": None if mine is None else MineView.model_validate(mine),
            "provenance": None if provenance is None else ProvenanceView.model_validate(provenance),
            "allowed_moves": TenderOpportunityLifecycle.allowed(row, now)
            if row.organization_id == mine_id
            else [],
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})
