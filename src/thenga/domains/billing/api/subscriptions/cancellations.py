"""Cancellations: cancel at the end of the paid period or at once, and undo a cancellation."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.billing.api.common_fields import (
    AllowedMoves,
    OrganizationRef,
    SubscriptionId,
    SubscriptionRef,
)
from thenga.domains.billing.lifecycles import CancellationLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import subscriptions
from thenga.domains.billing.services.payments import PaymentInProgress
from thenga.domains.billing.services.plan_changes import SubscriptionPaused
from thenga.domains.billing.services.subscriptions import CancellationRequest, DisputeOpen
from thenga.domains.billing.tables import (
    Cancellation,
    CancellationMode,
    CancellationStatus,
    Settlement,
)
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines
from thenga.kernel.values.money import Money

router = make_router("Billing / Cancellation")

CancellationId = Annotated[UUID, Path(alias="cancellationId", description="The cancellation.")]
ReasonCode = Literal[
    "too_expensive",
    "missing_feature",
    "low_usage",
    "no_tenders_won",
    "switched_service",
    "customer_service",
    "too_complex",
    "business_closed",
    "other",
]


class CancelSubscription(Body):
    """When and why a subscription is cancelled."""

    mode: Annotated[
        CancellationMode,
        Field(
            description="`period_end` keeps access until the paid period ends; `immediate` "
            "ends it now."
        ),
    ] = CancellationMode.PERIOD_END
    reason_code: Annotated[ReasonCode, Field(description="Main reason for cancelling.")]
    comment: Annotated[
        Annotated[str, lines(1, 500)] | None, Field(description="Anything you would like to add.")
    ] = None
    settlement: Annotated[
        Settlement | None,
        Field(
            description="For `immediate`: whether unused days become credit or are refunded. "
            "Defaults to `credit`; shortly after the first payment, the full "
            "amount is refunded."
        ),
    ] = None


class CancellationView(Stored):
    """A cancellation of a subscription. It can be undone until `effectiveAt`."""

    organization_id: OrganizationRef
    subscription_id: SubscriptionRef
    mode: Annotated[
        CancellationMode, Field(description="Whether it ends with the paid period or at once.")
    ]
    reason_code: Annotated[str, Field(description="Main reason for cancelling.")]
    comment: Annotated[str | None, Field(description="Comment of the customer.")]
    settlement: Annotated[
        Settlement, Field(description="What happens to paid days that are not used.")
    ]
    effective_at: Annotated[datetime, Field(description="When the subscription ends.")]
    status: Annotated[CancellationStatus, Field(description="Status of the cancellation.")]
    credited: Annotated[
        Money, Field(description="Amount credited for paid days that were not used.")
    ]
    credit_note_ids: Annotated[list[UUID], Field(description="Credit notes issued for it.")]
    refund_ids: Annotated[
        list[UUID], Field(description="Refunds made for it, once the credit note is issued.")
    ]
    undone_at: Annotated[
        datetime | None, Field(description="When it was undone. Null if it was not.")
    ]
    allowed_moves: AllowedMoves

    @classmethod
    def of(cls, row: Cancellation, now: datetime) -> "CancellationView":
        over = row.status is CancellationStatus.SCHEDULED and row.effective_at <= now
        return cls.shown(
            row.__dict__
            | {
                "status": CancellationStatus.EFFECTIVE if over else row.status,
                "credited": Money(row.credited_minor, row.currency),
                "allowed_moves": [] if over else CancellationLifecycle.allowed(row, now),
            }
        )


_AGAIN: dict[int | str, dict[str, Any]] = {
    200: {
        "model": CancellationView,
        "description": "Already cancelled this way: the existing cancellation, unchanged.",
    }
}


@router.post(
    "/billing/subscriptions/{subscriptionId}/cancel",
    status_code=202,
    responses=problems(DisputeOpen, SubscriptionPaused, InvalidTransition, PaymentInProgress)
    | _AGAIN,
)
async def cancel_subscription(
    subscription_id: SubscriptionId,
    body: CancelSubscription,
    work: Annotated[Work, writes(Permission.SUBSCRIPTION_CANCEL)],
) -> CancellationView:
    """Cancel a subscription. Access stays until the paid period ends, unless you send
    `immediate`.

    The first call returns 202; a repeated call returns 200 with the same cancellation. An
    `immediate` cancellation replaces a scheduled one.
    """
    held = await subscriptions.lock_subscription(work, subscription_id)
    request = CancellationRequest(body.mode, body.reason_code, body.comment, body.settlement)
    made, first = await subscriptions.cancel_subscription(work, held, request)
    return Response(  # type: ignore[return-value]  # the same shape, with its place and status
        CancellationView.of(made, work.now).model_dump_json(by_alias=True),
        202 if first else 200,
        {"Location": f"{PREFIX}/billing/cancellations/{made.id}"},
        media_type="application/json",
    )


@router.get("/billing/cancellations")
async def list_cancellations(
    read: Annotated[Reader, reads(Permission.CANCELLATION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    status: Annotated[CancellationStatus | None, Query(description="Filter by status.")] = None,
    reason_code: Annotated[
        ReasonCode | None, Query(alias="reasonCode", description="Filter by reason.")
    ] = None,
    organization_id: OfOrganization = None,
) -> PageOf[CancellationView]:
    """List the organization's cancellations, including undone ones."""
    await on_behalf_of(read, organization_id)
    found = await subscriptions.list_cancellations(
        read, page, status=status, reason_code=reason_code
    )
    return PageOf[CancellationView].of(found, lambda row: CancellationView.of(row, read.now))


@router.get("/billing/cancellations/{cancellationId}")
async def get_cancellation(
    cancellation_id: CancellationId,
    read: Annotated[Reader, reads(Permission.CANCELLATION_READ)],
) -> CancellationView:
    """Get a cancellation: when it takes effect, and what was credited or refunded."""
    return CancellationView.of(await read.get(Cancellation, cancellation_id), read.now)


@router.post("/billing/cancellations/{cancellationId}/undo", responses=problems(InvalidTransition))
async def undo_cancellation(
    cancellation_id: CancellationId,
    work: Annotated[Work, writes(Permission.CANCELLATION_UNDO)],
) -> CancellationView:
    """Undo a cancellation before it takes effect. Plan, price and period stay the same."""
    return CancellationView.of(
        await subscriptions.undo_cancellation(work, cancellation_id), work.now
    )
