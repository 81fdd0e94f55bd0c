"""Payments that failed: what is tried again and when, until when nothing is closed, what helps."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.accounts import OfOrganization
from thenga.domains.billing.lifecycles import PaymentFailureLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import access, dunning
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.customer import AccountParked
from thenga.domains.billing.services.payments import (
    PaymentInProgress,
    PaymentMethodRequired,
    RetryLimit,
)
from thenga.domains.billing.tables import (
    Access,
    FailureCategory,
    FailureKind,
    FailureStatus,
    Invoice,
    PaymentFailure,
    PaymentStatus,
    Subscription,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.operations import PREFIX
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant
from thenga.kernel.values.money import Money

router = make_router("Billing / Payment failure")

FailureId = Annotated[UUID, Path(alias="failureId")]


class RetryPayment(Body):
    payment_method_id: Annotated[
        UUID | None, Field(description="Another method on file; left out, the account's own.")
    ] = None


class AttemptView(View):
    """A charge that was declined, or a date on which the payer was reminded."""

    at: datetime
    reminder: Annotated[bool, Field(description="Whether it was only reminded of and not charged.")]
    payment_id: Annotated[UUID | None, Field(description="The charge; null for a reminder.")]
    payment_method_id: UUID | None
    initiated_by: Annotated[
        Literal["customer", "system"] | None,
        Field(description="Whether a person asked for it or its date had come."),
    ]
    category: Annotated[
        FailureCategory | None, Field(description="Why it failed; null where it did not.")
    ]
    code: Annotated[str | None, Field(description="The provider's own word for it.")]

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "AttemptView":
        return cls(
            at=datetime.fromisoformat(kept["at"]),
            reminder=kept.get("reminder", False),
            payment_id=kept.get("paymentId"),
            payment_method_id=kept.get("paymentMethodId"),
            initiated_by=kept.get("initiatedBy"),
            category=kept.get("category"),
            code=kept.get("code"),
        )


class FailureView(Stored):
    """A recovery with all its dates, as they were fixed when the payment first failed."""

    organization_id: UUID
    subscription_id: UUID
    invoice_id: UUID
    kind: Annotated[
        FailureKind,
        Field(description="By the provider, by its date, or by the payer."),
    ]
    category: Annotated[
        FailureCategory,
        Field(description="`hard` is not tried again with that method."),
    ]
    status: FailureStatus
    first_failed_at: Annotated[datetime, Field(description="From this all dates are counted.")]
    attempts: Annotated[
        list[AttemptView],
        Field(description="What was tried and what was reminded of, the oldest first."),
    ]
    retry_dates: Annotated[
        list[datetime],
        Field(description="All of them; where nothing can be charged they are reminders."),
    ]
    next_retry_at: Annotated[
        datetime | None,
        Field(description="When it is tried again by itself; null where it is not."),
    ]
    retries_left: Annotated[int, Field(description="How often it is tried again by itself.")]
    grace_ends_at: Annotated[datetime, Field(description="Until then everything stays open.")]
    shielded_until: Annotated[
        datetime | None, Field(description="A tender closes then, so access is not reduced before.")
    ]
    ends_at: Annotated[datetime, Field(description="Without money the subscription ends then.")]
    access: Annotated[Access, Field(description="What the subscription allows now.")]
    amount_due: Annotated[Money, Field(description="What is still due on the invoice.")]
    policy_version: Annotated[date, Field(description="The policy in force from this day.")]
    recovered_at: Annotated[
        datetime | None, Field(description="When the money came; null until then.")
    ]
    credit_note_id: Annotated[
        UUID | None, Field(description="What gives back the days on which nothing was delivered.")
    ]
    allowed_moves: list[AllowedMove]


class RetryView(View):
    """The charge that was begun; its outcome is told a moment later."""

    failure_id: UUID
    payment_id: UUID
    status: PaymentStatus
    amount: Annotated[Money, Field(description="What is charged.")]
    attempt: Annotated[int, Field(description="Which attempt of this recovery it is.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/billing/payments/{self.payment_id}"


@router.get("/billing/payment-failures")
async def list_payment_failures(
    read: Annotated[Reader, reads(Permission.PAYMENT_FAILURE_READ)],
    page: Annotated[
        Paged, paged("createdAt", "firstFailedAt", "nextRetryAt", default="-firstFailedAt")
    ],
    organization_id: OfOrganization = None,
    status: Annotated[FailureStatus | None, Query(description="In this state.")] = None,
    subscription_id: Annotated[
        UUID | None, Query(alias="subscriptionId", description="Of this subscription.")
    ] = None,
    category: Annotated[FailureCategory | None, Query(description="Declined for this.")] = None,
    next_retry_before: Annotated[
        Instant | None,
        Query(alias="nextRetryBefore", description="Tried again before this instant."),
    ] = None,
) -> PageOf[FailureView]:
    """The payments that failed, and how their recovery stands."""
    await act_for(read, organization_id)
    found = await dunning.list_failures(
        read,
        page,
        status=status,
        subscription_id=subscription_id,
        category=category,
        next_retry_before=next_retry_before,
    )
    shown = {one.id: await _view(read, one) for one in found.items}
    return PageOf[FailureView].of(found, lambda failure: shown[failure.id])


@router.get("/billing/payment-failures/{failureId}")
async def get_payment_failure(
    failure_id: FailureId, read: Annotated[Reader, reads(Permission.PAYMENT_FAILURE_READ)]
) -> FailureView:
    """One recovery: what was tried, what comes next, and what it leaves open."""
    return await _view(read, await read.get(PaymentFailure, failure_id))


@router.post(
    "/billing/payment-failures/{failureId}/retry",
    status_code=202,
    responses=problems(
        *(PaymentInProgress, RetryLimit, PaymentMethodRequired, AccountParked, InvalidTransition)
    ),
)
async def retry_payment(
    failure_id: FailureId,
    body: RetryPayment,
    work: Annotated[Work, writes(Permission.PAYMENT_FAILURE_RETRY)],
) -> RetryView:
    """Try a failed payment again now, at most five times a day.

    Success puts everything back at once, whatever the day.
    """
    payment = await dunning.retry_now(work, failure_id, method_id=body.payment_method_id)
    return RetryView(
        failure_id=failure_id,
        payment_id=payment.id,
        status=payment.status,
        amount=payment.amount,
        attempt=payment.attempt,
    )


async def _view(read: Reader, failure: PaymentFailure) -> FailureView:
    subscription = await read.get(Subscription, failure.subscription_id)
    invoice = await read.get(Invoice, failure.invoice_id)
    counts = await access.earliest_failure(read, subscription.id)
    values = failure.__dict__ | {
        "attempts": [AttemptView.of(one) for one in failure.attempts],
        "retry_dates": list(access.retry_dates(failure)),
        "access": access.access_level(subscription, counts, read.now),
        "amount_due": Money(invoice.amount_due_minor, invoice.currency),
        "allowed_moves": PaymentFailureLifecycle.allowed(failure, read.now),
    }
    return FailureView.shown(values)
