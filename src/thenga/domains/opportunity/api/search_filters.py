"""The filters of a search for tenders."""

from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query

from thenga.domains.opportunity.api.tender_fields import (
    MainCategory,
    Method,
    Ocid,
    Province,
    Sphere,
    TenderNumber,
)
from thenga.domains.opportunity.services.notices import Filters
from thenga.domains.opportunity.tables import TenderStatus
from thenga.kernel.values.fields import Instant, text

Words = Annotated[str, text(2, 200)]
Code = Annotated[str, text(1, 120)]


@dataclass(frozen=True)
class SearchedTenders:
    """What a caller searches for."""

    q: Annotated[
        Words | None, Query(description="Words, a phrase in quotes, or a tender number.")
    ] = None
    within: Annotated[
        Literal["notice", "documents"], Query(alias="in", description="Where to search.")
    ] = "notice"
    status: Annotated[
        TenderStatus | None, Query(description="Filter by status. Defaults to planned and open.")
    ] = None
    visibility: Annotated[
        Literal["all", "shared", "own"], Query(description="Filter by visibility.")
    ] = "all"
    province: Annotated[Province | None, Query(description="Province of the work.")] = None
    municipality: Annotated[Code | None, Query(description="Municipality of the work.")] = None
    category: Annotated[Code | None, Query(description="Category as published.")] = None
    classification: Annotated[
        Code | None, Query(description="First 2, 4, 6 or 8 digits of a code.")
    ] = None
    buyer: Annotated[Words | None, Query(description="Words in the buyer's name.")] = None
    buyer_id: Annotated[
        Code | None, Query(alias="buyerId", description="ID of the buyer at the source.")
    ] = None
    sphere: Annotated[Sphere | None, Query(description="Sphere of government.")] = None
    method: Annotated[Method | None, Query(description="Procurement method.")] = None
    main_category: Annotated[
        MainCategory | None, Query(alias="mainCategory", description="Goods, works or services.")
    ] = None
    cidb_class: Annotated[
        Code | None, Query(alias="cidbClass", description="Required CIDB class.")
    ] = None
    cidb_grade_max: Annotated[
        int | None,
        Query(alias="cidbGradeMax", ge=1, le=9, description="Highest required CIDB grade."),
    ] = None
    value_min: Annotated[
        int | None,
        Query(alias="valueMin", ge=0, le=10**15, description="Minimum value in rand."),
    ] = None
    value_max: Annotated[
        int | None,
        Query(alias="valueMax", ge=0, le=10**15, description="Maximum value in rand."),
    ] = None
    closing_from: Annotated[
        Instant | None, Query(alias="closingFrom", description="Earliest closing date.")
    ] = None
    closing_to: Annotated[
        Instant | None, Query(alias="closingTo", description="Closing before this time.")
    ] = None
    published_from: Annotated[
        Instant | None, Query(alias="publishedFrom", description="Earliest publication date.")
    ] = None
    briefing: Annotated[
        Literal["compulsory", "any", "none"] | None, Query(description="Whether it has briefings.")
    ] = None
    tender_number: Annotated[
        TenderNumber | None, Query(alias="tenderNumber", description="Part of the tender number.")
    ] = None
    ocid: Annotated[Ocid | None, Query(description="Open contracting ID.")] = None
    source_id: Annotated[
        UUID | None, Query(alias="sourceId", description="Source of the notice.")
    ] = None
    has_documents: Annotated[
        bool | None, Query(alias="hasDocuments", description="Whether it has documents.")
    ] = None

    def filters(self) -> Filters:
        """The filters as the service takes them; amounts in cents."""
        return Filters(
            q=self.q,
            within=self.within,
            status=("planned", "open") if self.status is None else (self.status.value,),
            visibility=self.visibility,
            province=self.province,
            municipality=self.municipality,
            category=self.category,
            classification=self.classification,
            buyer=self.buyer,
            buyer_id=self.buyer_id,
            sphere=self.sphere,
            method=self.method,
            main_category=self.main_category,
            cidb_class=self.cidb_class,
            cidb_grade_max=self.cidb_grade_max,
            value_min=None if self.value_min is None else self.value_min * 100,
            value_max=None if self.value_max is None else self.value_max * 100,
            closing_from=self.closing_from,
            closing_to=self.closing_to,
            published_from=self.published_from,
            briefing=self.briefing,
            tender_number=self.tender_number,
            ocid=self.ocid,
            source_id=self.source_id,
            has_documents=self.has_documents,
        )
