"""What operators see of a customer's subscription and debts."""

from sqlalchemy import func, select

from thenga.domains.billing.lifecycles import PaymentFailureLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services import entitlements
from thenga.domains.billing.tables import (
    Access,
    Account,
    Invoice,
    InvoiceStatus,
    PaymentFailure,
    PlanKind,
    Subscription,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Figure, Panel, PanelState
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money


async def summarize(read: Reader) -> Panel:
    """Plan, status, access, what is due, open payment failures and the next renewal."""
    account = await read.find(Account)
    if account is None:
        return Panel(figures=[], state=PanelState.OK)
    held = await entitlements.current_set(read)
    access = Access.NONE if held is None else held.set.access
    failures = await panels.count(
        read,
        payment_failures_open=(
            PaymentFailure,
            among(PaymentFailure.status, PaymentFailureLifecycle.UNSETTLED),
        ),
    )
    figures = [
        Figure(key="account", value=account.status.value),
        *await _subscribed(read),
        Figure(key="access", value=access.value),
        Figure(key="due", value=Money(await _due(read), account.currency)),
        *failures,
    ]
    return Panel(figures=figures, state=_state(access, failures[0].value, account))


def _state(access: Access, failures: panels.Value, account: Account) -> PanelState:
    if account.parked is not None or access in (Access.READ_ONLY, Access.NONE):
        return PanelState.ALARM
    return PanelState.WARN if failures else PanelState.OK


async def _subscribed(read: Reader) -> list[Figure]:
    held = await read.all(
        select(Subscription).where(
            Subscription.kind == PlanKind.BASE,
            among(Subscription.status, SubscriptionLifecycle.HOLDING),
        ),
        limit=1,
    )
    if not held:
        return [Figure(key=key, value=None) for key in ("plan", "subscription", "next_renewal")]
    (base,) = held
    renews = base.status in SubscriptionLifecycle.RENEWING and base.cancel_at is None
    ends = base.period_end if renews else None
    return [
        Figure(key="plan", value=base.plan_code),
        Figure(key="subscription", value=base.status.value),
        Figure(key="next_renewal", value=local_midnight(ends) if ends else None),
    ]


async def _due(read: Reader) -> int:
    owed = select(func.coalesce(func.sum(Invoice.amount_due_minor), 0)).where(
        Invoice.organization_id == read.organization_id, Invoice.status == InvoiceStatus.OPEN
    )
    return int(await read.value(owed) or 0)
