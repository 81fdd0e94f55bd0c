"""Plan changes: preview, request and withdraw a change of plan."""

from datetime import date
from typing import Annotated

from pydantic import Field

from thenga.domains.billing.api.catalogue.plans import Code, ComparisonView, comparison
from thenga.domains.billing.api.catalogue.terms import Rand
from thenga.domains.billing.api.common_fields import PlanCodeText, PlanVersionNumber, SubscriptionId
from thenga.domains.billing.api.subscriptions.subscription_views import (
    PeriodView,
    SubscriptionView,
    view,
)
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import plan_changes, subscriptions
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import AccountParked, TaxDataMissing
from thenga.domains.billing.services.invoicing import SellerNotSet
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
    """The new plan, the new interval, or both."""

    plan_code: Annotated[Code, Field(description="Plan to change to.")]
    interval: Annotated[
        Interval | None,
        Field(
            description="New billing interval. Stays the same if left out; a different one "
            "starts a new period today."
        ),
    ] = None
    effective: Annotated[
        Effective | None,
        Field(
            description="When to change. By default upgrades apply now and downgrades at the "
            "end of the paid period."
        ),
    ] = None
    expected_amount_due: Annotated[
        Rand | None,
        Field(
            description="Amount due from the preview. If the amount differs, the change is "
            "refused and nothing is charged."
        ),
    ] = None

    @property
    def wanted(self) -> ChangeRequest:
        return ChangeRequest(self.plan_code, self.interval, self.effective)

    @property
    def expected(self) -> Money | None:
        return None if self.expected_amount_due is None else self.expected_amount_due.money


class PlannedDocument(View):
    """Totals of a document the change would create."""

    gross: Annotated[Money, Field(description="Total, VAT included.")]
    net: Annotated[Money, Field(description="Total without VAT.")]
    vat: Annotated[Money, Field(description="VAT included in `gross`.")]

    @classmethod
    def of(cls, taxed: Taxed | None) -> "PlannedDocument | None":
        return None if taxed is None else cls.model_validate(taxed)


class DaysView(View):
    """Days that are charged, and days of the full period."""

    left: Annotated[int, Field(description="Days charged on the new plan.")]
    full: Annotated[int, Field(description="Days of its full period.")]


class OverLimit(View):
    """A limit of the new plan that is already exceeded. What exists stays, but nothing can be
    added."""

    key: Annotated[str, Field(description="Entitlement key.")]
    held: Annotated[int, Field(description="Quantity in use now.")]
    limit: Annotated[int, Field(description="Limit of the new plan.")]


class PreviewView(View):
    """The exact effect of a change made now."""

    plan_code: PlanCodeText
    plan_version: PlanVersionNumber
    interval: Annotated[
        Interval | None,
        Field(
            description="Billing interval after the change. Null in a trial until one is chosen."
        ),
    ]
    direction: Annotated[Direction, Field(description="Upgrade or downgrade.")]
    effective: Annotated[
        Effective, Field(description="Whether it applies now or at the end of the period.")
    ]
    effective_on: Annotated[date, Field(description="Local day the new plan starts.")]
    period: Annotated[PeriodView, Field(description="Paid period after the change.")]
    days: Annotated[DaysView, Field(description="Days the amounts are based on.")]
    credit_note: Annotated[
        PlannedDocument | None,
        Field(description="Credit for the unused days of the current plan. Null if there is none."),
    ]
    invoice: Annotated[
        PlannedDocument | None,
        Field(description="Charge for the remaining days on the new plan. Null if there is none."),
    ]
    credit_applied: Annotated[
        Money, Field(description="Credit used, from this change and the account.")
    ]
    amount_due: Annotated[
        Money,
        Field(
            description="Amount that will be charged. Send it as `expectedAmountDue` with the "
            "change."
        ),
    ]
    kept_as_credit: Annotated[
        Money, Field(description="Amount left as credit for future invoices.")
    ]
    compared_to: Annotated[
        ComparisonView, Field(description="Prices and entitlements compared with the current plan.")
    ]
    over_limits: Annotated[
        list[OverLimit], Field(description="Limits of the new plan that are already exceeded.")
    ]

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
            over_limits=[OverLimit.model_validate(limit) for limit in shown.over],
        )


@router.post(
    "/billing/subscriptions/{subscriptionId}/change-plan",
    responses=problems(
        *(ChangeToday, QuoteChanged, PaymentInProgress, PaymentOverdue, SubscriptionPaused),
        *(AccountParked, InvalidTransition, PlanNotAvailable, PaymentMethodRequired),
        *(TaxDataMissing, RuleViolated, RetryLimit, SellerNotSet),
    ),
)
async def change_plan(
    subscription_id: SubscriptionId,
    body: ChangePlan,
    work: Annotated[Work, writes(Permission.SUBSCRIPTION_CHANGE)],
) -> SubscriptionView:
    """Change the plan. Unused days of the current plan are credited by the day.

    If an amount is due, the plan changes once it is paid: `pendingChange` waits 23 hours,
    by bank transfer 14 days, then it expires and nothing changes. During a trial only the tried
    plan changes.
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
    """Preview what a change would do and cost now, without changing anything.

    The preview is refused for the same reasons as the change. In a trial the change is free.
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
    """Withdraw a pending change. Its draft invoice is discarded."""
    held = await subscriptions.lock_subscription(work, subscription_id)
    return await view(work, await plan_changes.withdraw_change(work, held))
