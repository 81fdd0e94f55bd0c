"""How subscriptions are shown in every response."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.billing.api.common_fields import (
    AccountRef,
    AllowedMoves,
    OrganizationRef,
    PlanCodeText,
    PlanVersionNumber,
)
from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import subscriptions
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.services.subscriptions import CurrentSubscription
from thenga.domains.billing.tables import (
    Access,
    Interval,
    PlanKind,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.values.money import Money


class PeriodView(View):
    """A period in local days, without its end day. The instants are local midnights."""

    start: Annotated[date, Field(description="First day.")]
    end: Annotated[date, Field(description="Day after the last day.")]
    starts_at: Annotated[datetime, Field(description="Local midnight at the start of `start`.")]
    ends_at: Annotated[datetime, Field(description="Local midnight at the start of `end`.")]

    @classmethod
    def of(cls, period: Period) -> "PeriodView":
        return cls(
            start=period.start,
            end=period.end,
            starts_at=period.starts_at,
            ends_at=period.ends_at,
        )


class PendingChangeView(View):
    """A plan change that waits for its payment or its date."""

    plan_code: PlanCodeText
    plan_version: PlanVersionNumber
    interval: Annotated[Interval, Field(description="Billing interval after the change.")]
    effective: Annotated[
        Literal["now", "period_end"],
        Field(description="`now` applies once it is paid, `period_end` when the period ends."),
    ]
    effective_on: Annotated[date, Field(description="Local day the change applies.")]
    status: Annotated[
        Literal["awaiting_payment", "scheduled"],
        Field(description="`awaiting_payment` waits for the payment, `scheduled` for its date."),
    ]
    amount_due: Annotated[
        Money, Field(description="Amount to pay, VAT included and credit deducted.")
    ]
    invoice_id: Annotated[
        UUID | None, Field(description="Draft invoice to pay with any payment method.")
    ]
    payment_id: Annotated[UUID | None, Field(description="Payment started for it.")]
    expires_at: Annotated[
        datetime | None, Field(description="The change expires if it is not paid by then.")
    ]


class SubscriptionView(Stored):
    """A subscription of an organization to a plan, in its current state."""

    organization_id: OrganizationRef
    account_id: AccountRef
    plan_code: PlanCodeText
    plan_version: Annotated[
        int, Field(description="Version of the plan. Kept until the plan changes.")
    ]
    kind: Annotated[PlanKind, Field(description="Base plan or add-on.")]
    interval: Annotated[
        Interval | None, Field(description="Billing interval. Null in a trial until one is chosen.")
    ]
    status: Annotated[SubscriptionStatus, Field(description="Status now.")]
    anchor_date: Annotated[date | None, Field(description="Day all periods are counted from.")]
    current_period: Annotated[
        PeriodView | None,
        Field(description="Current billing period. Null if there is none."),
    ]
    access: Annotated[Access, Field(description="What the organization may do now.")]
    grace_ends_at: Annotated[
        datetime | None,
        Field(description="Until when full access is kept after a failed payment."),
    ]
    pending_change: Annotated[
        PendingChangeView | None,
        Field(description="Plan change that has not been applied. Null if there is none."),
    ]
    cancel_at: Annotated[
        datetime | None, Field(description="When the subscription ends, if it is cancelled.")
    ]
    cancellation_id: Annotated[
        UUID | None, Field(description="The cancellation behind `cancelAt`.")
    ]
    paused_on: Annotated[date | None, Field(description="Last day before the pause.")]
    resume_on: Annotated[date | None, Field(description="Day it resumes automatically.")]
    banked_days: Annotated[int | None, Field(description="Paid days kept for after the pause.")]
    disputed: Annotated[
        bool, Field(description="Whether one of its payments is disputed by the payer's bank.")
    ]
    trial_id: Annotated[UUID | None, Field(description="Trial it started with.")]
    payment_method_id: Annotated[
        UUID | None, Field(description="Payment method its renewals are charged to.")
    ]
    ended_at: Annotated[
        datetime | None, Field(description="When it ended. Null while it is active.")
    ]
    allowed_moves: AllowedMoves

    @classmethod
    def values(cls, seen: CurrentSubscription, now: datetime) -> dict[str, Any]:
        """The fields of the view."""
        row = seen.row
        period = None
        if row.period_start is not None and row.period_end is not None:
            period = PeriodView.of(Period(row.period_start, row.period_end))
        pending = row.change and PendingChangeView.model_validate(row.change)
        return row.__dict__ | {
            "current_period": period,
            "access": seen.access,
            "grace_ends_at": seen.grace_ends_at,
            "pending_change": None
            if pending is None
            else PendingChangeView.model_validate(pending),
            "allowed_moves": SubscriptionLifecycle.allowed(row, now),
        }


async def view(read: Reader, subscription: Subscription) -> SubscriptionView:
    """The subscription as of now, even before the next sweep."""
    seen = await subscriptions.as_of_now(read, subscription)
    return SubscriptionView.shown(SubscriptionView.values(seen, read.now))
