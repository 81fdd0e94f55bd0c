"""Amendments of a tender, with what they touched for you."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import TenderOpportunityId
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.services import amendments, tenants
from thenga.domains.opportunity.tables import Amendment, RippleEntry, RippleState
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged

router = make_router("Opportunity / Amendments")

Level = Annotated[
    Literal["critical", "material", "minor"], Field(description="Importance of the change.")
]


class TenderChangeView(View):
    """One field that changed."""

    path: Annotated[str, Field(description="JSON pointer into the tender.")]
    kind: Annotated[Literal["added", "removed", "changed"], Field(description="Kind of change.")]
    old: Annotated[Any, Field(description="Value before.")]
    new: Annotated[Any, Field(description="Value after.")]
    level: Level
    rule: Annotated[str, Field(description="Rule that set the level.")]


class RippleEntryView(View):
    """One effect of the amendment on your organization."""

    domain: Annotated[str, Field(description="Domain that applied the effect.")]
    effect: Annotated[str, Field(description="Code of the effect.")]
    reference: Annotated[str, Field(description="Affected resource.")]
    state: RippleState
    at: Annotated[datetime, Field(description="When it happened.")]
    event_id: Annotated[UUID | None, Field(description="Event that caused it.")]


class RippleView(View):
    """Effects of the amendment on your organization."""

    entries: list[RippleEntryView]
    pending: Annotated[list[str], Field(description="Domains that have not answered yet.")]
    settled_at: Annotated[
        datetime | None,
        Field(description="When the last effect was applied. Null while any is open."),
    ]

    @classmethod
    def of(cls, entries: list[RippleEntry]) -> "RippleView":
        is_open = any(one.state is RippleState.OPEN for one in entries)
        last = max((one.at for one in entries), default=None)
        return cls(
            entries=[RippleEntryView.model_validate(one) for one in entries],
            pending=[],
            settled_at=None if is_open else last,
        )


class TenderAmendmentView(Stored):
    """A numbered change to a tender."""

    tender_opportunity_id: UUID
    number: Annotated[int, Field(description="Number, from 1 without gaps.")]
    from_version: Annotated[int, Field(description="Version before.")]
    to_version: Annotated[int, Field(description="Version after.")]
    origin: Annotated[
        Literal["source_diff", "buyer", "correction"],
        Field(description="`correction` means that we had misread the notice."),
    ]
    buyer_reference: Annotated[
        str | None, Field(description="Buyer's reference, such as Addendum 2.")
    ]
    note: Annotated[str | None, Field(description="Note.")]
    changes: list[TenderChangeView]
    level: Level
    material: Annotated[bool, Field(description="Whether bids must be reviewed.")]
    short_notice: Annotated[bool, Field(description="Whether it came shortly before the closing.")]
    detected_at: Annotated[datetime, Field(description="When the change was detected.")]
    event_id: Annotated[UUID | None, Field(description="Event that announced it.")]
    ripple: RippleView

    @classmethod
    def of(cls, row: Amendment, entries: list[RippleEntry]) -> "TenderAmendmentView":
        values = row.__dict__ | {"ripple": RippleView.of(entries)}
        return cls.model_validate({name: values[name] for name in cls.model_fields})


@router.get("/opportunities/{tenderOpportunityId}/amendments")
async def list_amendments(
    tender_opportunity_id: TenderOpportunityId,
    read: Annotated[Reader, reads(Permission.OPPORTUNITY_READ)],
    page: Annotated[Paged, paged("number", default="-number")],
    material: Annotated[
        bool | None, Query(description="True for material amendments only, false for minor ones.")
    ] = None,
    after_number: Annotated[
        int | None,
        Query(alias="afterNumber", ge=0, le=2**31 - 1, description="Amendments after this number."),
    ] = None,
) -> PageOf[TenderAmendmentView]:
    """List the amendments of a tender, newest first, with their effects on you."""
    await tenants.act_for_platform(read)
    found, entries = await amendments.list_amendments(
        read, tender_opportunity_id, page, material=material, after_number=after_number
    )
    return PageOf[TenderAmendmentView].of(
        found, lambda one: TenderAmendmentView.of(one, entries.get(one.id, []))
    )
