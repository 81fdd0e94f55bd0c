"""Cancellations: leaving at the end of what is paid, or at once; and staying after all."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.billing.api.accounts import OfOrganization
from thenga.domains.billing.api.subscriptions import SubscriptionId
from thenga.domains.billing.lifecycles import CancellationLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import subscriptions
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.payments import PaymentInProgress
from thenga.domains.billing.services.plan_changes import SubscriptionPaused
from thenga.domains.billing.services.subscriptions import CancellationRequest, DisputeOpen
from thenga.domains.billing.tables import (
    Cancellation,
    CancellationMode,
    CancellationStatus,
    Settlement,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.operations import PREFIX
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines
from thenga.kernel.values.money import Money

router = make_router("Billing / Cancellation")

CancellationId = Annotated[UUID, Path(alias="cancellationId")]
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
    mode: Annotated[
        CancellationMode,
        Field(description="`period_end` keeps what is paid for; `immediate` ends it now."),
    ] = CancellationMode.PERIOD_END
    reason_code: ReasonCode
    comment: Annotated[Annotated[str, lines(1, 500)] | None, Field(description="Yours to say.")] = (
        None
    )
    settlement: Annotated[
        Settlement | None,
        Field(
            description="Of `immediate`: unused days become credit, or are paid back. If left "
            "out: credit; in the first days after the first payment the whole is paid back."
        ),
    ] = None


class CancellationView(Stored):
    """That a customer leaves; until `effectiveAt` it can be undone."""

    organization_id: UUID
    subscription_id: UUID
    mode: CancellationMode
    reason_code: str
    comment: str | None
    settlement: Settlement
    effective_at: datetime
    status: CancellationStatus
    credited: Annotated[Money, Field(description="Of days that were paid and not used.")]
    credit_note_ids: list[UUID]
    refund_ids: Annotated[list[UUID], Field(description="Once the credit note has its number.")]
    undone_at: datetime | None
    allowed_moves: list[AllowedMove]

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
        "description": "It was cancelled so already: the same cancellation, unchanged.",
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
    """Leave. What is paid for stays until the period ends, unless you ask for `immediate`.

    The first call answers 202, a repeated one 200 with the same cancellation. An `immediate` one
    replaces one that is scheduled.
    """
    held = await subscriptions.lock_subscription(work, subscription_id)
    leaving = CancellationRequest(body.mode, body.reason_code, body.comment, body.settlement)
    made, first = await subscriptions.cancel_subscription(work, held, leaving)
    return Response(  # type: ignore[return-value]  # the same shape, with its place and status
        CancellationView.of(made, work.now).model_dump_json(by_alias=True),
        202 if first else 200,
        {"Location": f"{PREFIX}/billing/cancellations/{made.id}"},
        media_type="application/json",
    )


@router.get("/billing/cancellations")
async def list_cancellations(
    read: Annotated[Reader, reads(Permission.CANCELLATION_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[CancellationStatus | None, Query()] = None,
    reason_code: Annotated[ReasonCode | None, Query(alias="reasonCode")] = None,
    organization_id: OfOrganization = None,
) -> PageOf[CancellationView]:
    """The cancellations of the organization, undone ones as well."""
    await act_for(read, organization_id)
    found = await subscriptions.list_cancellations(
        read, page, status=status, reason_code=reason_code
    )
    return PageOf[CancellationView].of(found, lambda one: CancellationView.of(one, read.now))


@router.get("/billing/cancellations/{cancellationId}")
async def get_cancellation(
    cancellation_id: CancellationId,
    read: Annotated[Reader, reads(Permission.CANCELLATION_READ)],
) -> CancellationView:
    """One cancellation: when it takes effect, and what was given back."""
    return CancellationView.of(await read.get(Cancellation, cancellation_id), read.now)


@router.post("/billing/cancellations/{cancellationId}/undo", responses=problems(InvalidTransition))
async def undo_cancellation(
    cancellation_id: CancellationId,
    work: Annotated[Work, writes(Permission.CANCELLATION_UNDO)],
) -> CancellationView:
    """Stay after all: the same plan, price and period go on as if nothing had been said."""
    return CancellationView.of(
        await subscriptions.undo_cancellation(work, cancellation_id), work.now
    )
