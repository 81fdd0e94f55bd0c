"""What a subscription looks like on the wire, in every answer that holds one."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

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
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.values.money import Money


class PeriodView(View):
    """Local days, the end not counted; the instants are local midnights."""

    start: Annotated[date, Field(description="Its first day.")]
    end: Annotated[date, Field(description="The first day that does not belong to it.")]
    starts_at: Annotated[datetime, Field(description="Local midnight of `start`.")]
    ends_at: Annotated[datetime, Field(description="Local midnight of `end`.")]

    @classmethod
    def of(cls, period: Period) -> "PeriodView":
        return cls(
            start=period.start,
            end=period.end,
            starts_at=period.starts_at,
            ends_at=period.ends_at,
        )


class PendingChangeView(View):
    """A change of plan that is not made yet: it waits for its money or for its day."""

    plan_code: str
    plan_version: int
    interval: Interval
    effective: Annotated[
        Literal["now", "period_end"],
        Field(description="At once when it is paid, or at the end of the period."),
    ]
    effective_on: Annotated[date, Field(description="The local day on which it is made.")]
    status: Annotated[
        Literal["awaiting_payment", "scheduled"],
        Field(description="`awaiting_payment` waits for its money, `scheduled` for its day."),
    ]
    amount_due: Annotated[
        Money, Field(description="What is paid for it, VAT included and credit taken off.")
    ]
    invoice_id: Annotated[
        UUID | None, Field(description="The draft to be paid; it can be paid in any way.")
    ]
    payment_id: Annotated[UUID | None, Field(description="The payment that was begun for it.")]
    expires_at: Annotated[datetime | None, Field(description="Not paid by then, it lapses.")]

    @classmethod
    def of(cls, pending: dict[str, Any]) -> "PendingChangeView":
        due = Money(pending["amountDueMinor"], pending["currency"])
        return cls.model_validate(pending | {"amountDue": due})


class SubscriptionView(Stored):
    """A plan that an organization holds, as time has made it by now."""

    organization_id: UUID
    account_id: UUID
    plan_code: str
    plan_version: Annotated[int, Field(description="Kept until the plan is changed.")]
    kind: PlanKind
    interval: Annotated[
        Interval | None, Field(description="How long a period is; null until it is chosen.")
    ]
    status: SubscriptionStatus
    anchor_date: Annotated[
        date | None, Field(description="The day from which all periods are counted.")
    ]
    current_period: Annotated[
        PeriodView | None,
        Field(description="The days that are billed; null where none are."),
    ]
    access: Annotated[Access, Field(description="What its standing allows now.")]
    grace_ends_at: Annotated[
        datetime | None,
        Field(description="After a failed payment: everything stays open until then."),
    ]
    pending_change: Annotated[
        PendingChangeView | None,
        Field(description="A change of plan that waits; null where none does."),
    ]
    cancel_at: Annotated[
        datetime | None, Field(description="Cancelled: it ends then and is not renewed.")
    ]
    cancellation_id: Annotated[
        UUID | None, Field(description="The cancellation that stands behind `cancelAt`.")
    ]
    paused_on: Annotated[date | None, Field(description="Its last day before the pause.")]
    resume_on: Annotated[date | None, Field(description="The day it resumes by itself.")]
    banked_days: Annotated[int | None, Field(description="Paid days that wait for the resume.")]
    disputed: Annotated[
        bool, Field(description="Whether a payment of it is disputed at the payer's bank.")
    ]
    trial_id: Annotated[UUID | None, Field(description="The trial that it began with.")]
    payment_method_id: Annotated[
        UUID | None, Field(description="What its renewals are charged to.")
    ]
    ended_at: Annotated[
        datetime | None, Field(description="When it was over; null while it lives.")
    ]
    allowed_moves: list[AllowedMove]

    @classmethod
    def values(cls, seen: CurrentSubscription, now: datetime) -> dict[str, Any]:
        """The fields of the view."""
        row = seen.row
        period = None
        if row.period_start is not None and row.period_end is not None:
            period = PeriodView.of(Period(row.period_start, row.period_end))
        pending = row.pending_change
        return row.__dict__ | {
            "current_period": period,
            "access": seen.access,
            "grace_ends_at": seen.grace_ends_at,
            "pending_change": None if pending is None else PendingChangeView.of(pending),
            "allowed_moves": SubscriptionLifecycle.allowed(row, now),
        }


async def view(read: Reader, subscription: Subscription) -> SubscriptionView:
    """The subscription as it is now, whether a sweep has been there or not."""
    seen = await subscriptions.as_of_now(read, subscription)
    return SubscriptionView.shown(SubscriptionView.values(seen, read.now))
