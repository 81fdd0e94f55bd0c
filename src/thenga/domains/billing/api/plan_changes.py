"""Changes of plan: what one would cost, asking for it, and taking it back."""

from datetime import date
from typing import Annotated

from pydantic import Field

from thenga.domains.billing.api.plans import Code, ComparisonView, comparison
from thenga.domains.billing.api.subscription_views import PeriodView, SubscriptionView, view
from thenga.domains.billing.api.subscriptions import SubscriptionId
from thenga.domains.billing.api.terms import Rand
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import plan_changes, subscriptions
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import AccountParked, TaxDataMissing
from thenga.domains.billing.services.payments import (
    PaymentInProgress,
    PaymentMethodRequired,
    RetryLimit,
)
from thenga.domains.billing.services.plan_changes import (
    ChangePreview,
    ChangeRequest,
    ChangeToday,
    Direction,
    Effective,
    PaymentOverdue,
    QuoteChanged,
    SubscriptionPaused,
    preview_change,
)
from thenga.domains.billing.services.pricing import Taxed
from thenga.domains.billing.tables import Interval, Subscription
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.money import Money

router = make_router("Billing / Subscription")


class ChangePlan(Body):
    """Another plan, another interval, or both."""

    plan_code: Annotated[Code, Field(description="The plan to go to.")]
    interval: Annotated[
        Interval | None, Field(description="Stays as it is if left out; another begins today.")
    ] = None
    effective: Annotated[
        Effective | None,
        Field(description="If left out: up now, down when the paid period ends."),
    ] = None
    expected_amount_due: Annotated[
        Rand | None,
        Field(description="What the preview said; another amount is refused, not charged."),
    ] = None

    @property
    def wanted(self) -> ChangeRequest:
        return ChangeRequest(self.plan_code, self.interval, self.effective)

    @property
    def expected(self) -> Money | None:
        return None if self.expected_amount_due is None else self.expected_amount_due.money


class PlannedDocument(View):
    """A document that the change would make."""

    gross: Money
    net: Money
    vat: Money

    @classmethod
    def of(cls, taxed: Taxed | None) -> "PlannedDocument | None":
        return None if taxed is None else cls.model_validate(taxed)


class DaysView(View):
    left: Annotated[int, Field(description="Days that the new plan is charged for.")]
    full: Annotated[int, Field(description="Days of its full period.")]


class OverLimit(View):
    """More is held than the new plan allows: it stays, and nothing can be added."""

    key: str
    held: int
    limit: int


class PreviewView(View):
    """What a change does, to the cent, as it would be made now."""

    plan_code: str
    plan_version: int
    interval: Annotated[
        Interval | None, Field(description="Null in a trial while nobody has chosen one.")
    ]
    direction: Direction
    effective: Effective
    effective_on: date
    period: Annotated[PeriodView, Field(description="The paid period after the change.")]
    days: DaysView
    credit_note: Annotated[
        PlannedDocument | None, Field(description="What was paid for the days left.")
    ]
    invoice: Annotated[
        PlannedDocument | None, Field(description="What the days left cost on the new plan.")
    ]
    credit_applied: Annotated[Money, Field(description="Of this credit and the account's.")]
    amount_due: Annotated[Money, Field(description="What is charged; send it with the change.")]
    kept_as_credit: Annotated[Money, Field(description="What is left for later invoices.")]
    compared_to: Annotated[ComparisonView, Field(description="Gained and lost by the change.")]
    over_limits: list[OverLimit]

    @classmethod
    def of(cls, shown: ChangePreview) -> "PreviewView":
        quoted, change, priced = shown.quoted, shown.quoted.change, shown.quoted.priced
        now = change.effective is Effective.NOW
        return cls(
            plan_code=change.plan.plan_code,
            plan_version=change.plan.plan_version,
            interval=shown.interval,
            direction=change.direction,
            effective=change.effective,
            effective_on=priced.on,
            period=PeriodView.of(priced.period),
            days=DaysView(left=priced.service.days if now else 0, full=priced.full_days),
            credit_note=PlannedDocument.of(shown.credit_note),
            invoice=PlannedDocument.of(shown.invoice),
            credit_applied=quoted.credit_applied,
            amount_due=quoted.due,
            kept_as_credit=quoted.kept_as_credit,
            compared_to=comparison(change.plan, change.before),
            over_limits=[OverLimit.model_validate(one) for one in shown.over],
        )


@router.post(
    "/billing/subscriptions/{subscriptionId}/change-plan",
    responses=problems(
        *(ChangeToday, QuoteChanged, PaymentInProgress, PaymentOverdue, SubscriptionPaused),
        *(AccountParked, InvalidTransition, PlanNotAvailable, PaymentMethodRequired),
        *(TaxDataMissing, RuleViolated, RetryLimit),
    ),
)
async def change_plan(
    subscription_id: SubscriptionId,
    body: ChangePlan,
    work: Annotated[Work, writes(Permission.SUBSCRIPTION_CHANGE)],
) -> SubscriptionView:
    """Go to another plan. What was paid for the days left is credited, by day and to the cent.

    Where something is due the plan changes when it is paid: `pendingChange` waits 23 hours, then
    it lapses and nothing has changed. While trialing only the plan that is tried changes.
    """
    held = await subscriptions.lock_subscription(work, subscription_id)
    changed = await plan_changes.request_change(work, held, body.wanted, expected_due=body.expected)
    return await view(work, changed)


@router.post(
    "/billing/subscriptions/{subscriptionId}/change-plan/preview",
    responses=problems(
        *(ChangeToday, QuoteChanged, PaymentInProgress, PaymentOverdue, SubscriptionPaused),
        *(AccountParked, InvalidTransition, PlanNotAvailable, RuleViolated),
    ),
)
async def preview_plan_change(
    subscription_id: SubscriptionId,
    body: ChangePlan,
    read: Annotated[Reader, reads(Permission.SUBSCRIPTION_READ)],
) -> PreviewView:
    """What a change would do and cost now. Nothing is changed, and nothing is promised.

    What the change itself would be refused for is refused here. In a trial it costs nothing.
    """
    known = await read.get(Subscription, subscription_id)
    seen = await subscriptions.as_of_now(read, known)
    return PreviewView.of(
        await preview_change(read, seen.row, body.wanted, expected_due=body.expected)
    )


@router.post(
    "/billing/subscriptions/{subscriptionId}/pending-change/withdraw",
    responses=problems(PaymentInProgress),
)
async def withdraw_plan_change(
    subscription_id: SubscriptionId,
    work: Annotated[Work, writes(Permission.SUBSCRIPTION_CHANGE)],
) -> SubscriptionView:
    """Take back a change that has not been made; its draft is discarded."""
    held = await subscriptions.lock_subscription(work, subscription_id)
    return await view(work, await plan_changes.withdraw_change(work, held))
