"""Payment failures: retries, grace, reduced access, and what helps."""

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.common_fields import AllowedMoves, OrganizationRef, SubscriptionRef
from thenga.domains.billing.lifecycles import PaymentFailureLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import access, dunning
from thenga.domains.billing.services.customer import AccountParked
from thenga.domains.billing.services.invoicing import SellerNotSet
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
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant
from thenga.kernel.values.money import Money

router = make_router("Billing / Payment failure")

FailureId = Annotated[UUID, Path(alias="failureId", description="The payment failure.")]


class RetryPayment(Body):
    """Which payment method to retry with."""

    payment_method_id: Annotated[
        UUID | None,
        Field(
            description="Saved payment method to charge. Defaults to the account's default method."
        ),
    ] = None


class AttemptView(View):
    """A declined charge, or a reminder to the customer."""

    at: Annotated[datetime, Field(description="When it happened.")]
    reminder: Annotated[
        bool, Field(description="Whether it was only a reminder, without a charge.")
    ]
    payment_id: Annotated[UUID | None, Field(description="The payment. Null for a reminder.")]
    payment_method_id: Annotated[
        UUID | None, Field(description="Payment method that was charged. Null for a reminder.")
    ]
    initiated_by: Annotated[
        Literal["customer", "system"] | None,
        Field(description="Whether a person or the schedule started it."),
    ]
    category: Annotated[
        FailureCategory | None, Field(description="Decline category. Null if it was not declined.")
    ]
    code: Annotated[str | None, Field(description="Decline code from the provider.")]


class FailureView(Stored):
    """The recovery of a failed payment. Its dates are fixed when the payment first fails."""

    organization_id: OrganizationRef
    subscription_id: SubscriptionRef
    invoice_id: Annotated[UUID, Field(description="Invoice that is not paid.")]
    kind: Annotated[
        FailureKind,
        Field(
            description="Whether a charge was declined, the invoice is overdue, or the payer "
            "disputes it."
        ),
    ]
    category: Annotated[
        FailureCategory,
        Field(description="Decline category. `hard` is not retried with the same payment method."),
    ]
    status: Annotated[FailureStatus, Field(description="Status of the recovery.")]
    first_failed_at: Annotated[
        datetime,
        Field(description="When the payment first failed. All other dates count from here."),
    ]
    attempts: Annotated[
        list[AttemptView],
        Field(description="Charges and reminders so far, oldest first."),
    ]
    retry_dates: Annotated[
        list[datetime],
        Field(
            description="All scheduled retries. Without a payment method to charge they are "
            "reminders."
        ),
    ]
    next_retry_at: Annotated[
        datetime | None,
        Field(description="Next automatic retry. Null if there is none."),
    ]
    retries_left: Annotated[int, Field(description="Number of automatic retries left.")]
    grace_ends_at: Annotated[datetime, Field(description="Until when full access is kept.")]
    shielded_until: Annotated[
        datetime | None,
        Field(description="Access is not reduced before this time, because a tender closes then."),
    ]
    ends_at: Annotated[
        datetime, Field(description="When the subscription ends if nothing is paid.")
    ]
    access: Annotated[Access, Field(description="What the subscription allows now.")]
    amount_due: Annotated[Money, Field(description="Amount still due on the invoice.")]
    policy_version: Annotated[
        date, Field(description="Day from which the applied dunning policy is in force.")
    ]
    recovered_at: Annotated[
        datetime | None, Field(description="When the invoice was paid. Null until then.")
    ]
    credit_note_id: Annotated[
        UUID | None,
        Field(description="Credit note for the days without service. Null if there is none."),
    ]
    allowed_moves: AllowedMoves


class RetryView(View):
    """The payment that was started. Its result follows shortly after."""

    failure_id: Annotated[UUID, Field(description="The payment failure.")]
    payment_id: Annotated[UUID, Field(description="The payment to follow.")]
    status: Annotated[PaymentStatus, Field(description="Status of the payment.")]
    amount: Annotated[Money, Field(description="Amount charged.")]
    attempt: Annotated[int, Field(description="Number of this attempt in the recovery.")]

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
    status: Annotated[FailureStatus | None, Query(description="Filter by status.")] = None,
    subscription_id: Annotated[
        UUID | None, Query(alias="subscriptionId", description="Filter by subscription.")
    ] = None,
    category: Annotated[
        FailureCategory | None, Query(description="Filter by decline category.")
    ] = None,
    next_retry_before: Annotated[
        Instant | None,
        Query(alias="nextRetryBefore", description="Next automatic retry before this time."),
    ] = None,
) -> PageOf[FailureView]:
    """List failed payments and the state of their recovery."""
    await on_behalf_of(read, organization_id)
    found = await dunning.list_failures(
        read,
        page,
        status=status,
        subscription_id=subscription_id,
        category=category,
        next_retry_before=next_retry_before,
    )
    shown = {failure.id: await _view(read, failure) for failure in found.items}
    return PageOf[FailureView].of(found, lambda failure: shown[failure.id])


@router.get("/billing/payment-failures/{failureId}")
async def get_payment_failure(
    failure_id: FailureId, read: Annotated[Reader, reads(Permission.PAYMENT_FAILURE_READ)]
) -> FailureView:
    """Get a payment failure: attempts so far, next retry, and access."""
    return await _view(read, await read.get(PaymentFailure, failure_id))


@router.post(
    "/billing/payment-failures/{failureId}/retry",
    status_code=202,
    responses=problems(
        *(PaymentInProgress, RetryLimit, PaymentMethodRequired, AccountParked, InvalidTransition),
        SellerNotSet,
    ),
)
async def retry_payment(
    failure_id: FailureId,
    body: RetryPayment,
    work: Annotated[Work, writes(Permission.PAYMENT_FAILURE_RETRY)],
) -> RetryView:
    """Retry a failed payment now, at most five times a day.

    A successful payment restores full access at once.
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
        "attempts": [AttemptView.model_validate(attempt) for attempt in failure.history],
        "retry_dates": list(access.retry_dates(failure)),
        "access": access.access_level(subscription, counts, read.now),
        "amount_due": Money(invoice.amount_due_minor, invoice.currency),
        "allowed_moves": PaymentFailureLifecycle.allowed(failure, read.now),
    }
    return FailureView.shown(values)
