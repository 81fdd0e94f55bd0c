"""What expires, and when."""

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.compliance.api.organizations import ActingOrganization, check_acting
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, expiry
from thenga.domains.compliance.services.expiry import ExpiryEntry, ExpiryFilters
from thenga.domains.compliance.values.windows import ExpiryState
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Day

router = make_router("Compliance / Expiry")


class ExpiryRenewalView(View):
    """A renewal that was applied for. It does not extend the document's validity."""

    expected_on: Annotated[date, Field(description="Expected day of the renewed document.")]


class ExpiryView(View):
    """A document or verification with a last valid day."""

    kind: Annotated[Literal["document", "verification"], Field(description="What expires.")]
    ref: Annotated[UUID, Field(description="ID of the document or verification.")]
    title: Annotated[str | None, Field(description="Title of the document, or requirement code.")]
    valid_until: Annotated[date, Field(description="Last day on which it is valid.")]
    days_left: Annotated[
        int, Field(description="Days until the last valid day. Negative after it.")
    ]
    window: Annotated[
        int | None,
        Field(description="Narrowest open window in days. 0 if expired, null if none is open."),
    ]
    state: Annotated[ExpiryState, Field(description="State today.")]
    renewal: Annotated[
        ExpiryRenewalView | None, Field(description="Renewal in progress. Null if none.")
    ]
    requirement_codes: Annotated[
        list[str], Field(description="Catalogue codes of the requirements it supports.")
    ]
    tracked_tenders_affected: Annotated[
        int, Field(description="Number of open tracked tenders with dates after its last day.")
    ]

    @classmethod
    def of(cls, entry: ExpiryEntry) -> "ExpiryView":
        renewal = None
        if entry.renewal_expected_on is not None:
            renewal = ExpiryRenewalView(expected_on=entry.renewal_expected_on)
        return cls(
            kind="document" if entry.kind == "document" else "verification",
            ref=entry.ref,
            title=entry.title,
            valid_until=entry.valid_until,
            days_left=entry.days_left,
            window=entry.window,
            state=entry.state,
            renewal=renewal,
            requirement_codes=entry.requirement_codes,
            tracked_tenders_affected=entry.tracked_tenders_affected,
        )


@router.get("/compliance/expiry")
async def list_expiry(
    organization_id: ActingOrganization,
    read: Annotated[Reader, reads(Permission.EXPIRY_READ)],
    page: Annotated[Paged, paged("validUntil")],
    state: Annotated[ExpiryState | None, Query(description="Filter by state today.")] = None,
    window_days: Annotated[
        int | None,
        Query(
            alias="windowDays", ge=0, le=730, description="Maximum days until the last valid day."
        ),
    ] = None,
    before: Annotated[
        Day | None, Query(description="Filter by a last valid day before this day.")
    ] = None,
) -> PageOf[ExpiryView]:
    """List documents and verifications by their last valid day, with their state today.

    Personal and confidential documents are listed only for callers who may read them.
    """
    check_acting(read, organization_id)
    filters = ExpiryFilters(
        state=state,
        window_days=window_days,
        before=before,
    )
    entries, following = await expiry.list_expiries(
        read, page, filters, await documents.sight_of(read)
    )
    return PageOf[ExpiryView](
        items=[ExpiryView.of(entry) for entry in entries], next_cursor=following
    )
