"""Calls of subscriptions, changes of plan and cancellations."""

import random
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.factories import billing, identity, subscriptions
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent, filled
from thenga.domains.billing.services.plan_changes import changes
from thenga.domains.billing.services.plan_changes.quotes import ChangeRequest
from thenga.domains.billing.services.subscriptions import cancellations, pauses
from thenga.domains.billing.services.subscriptions.cancellations import CancellationRequest
from thenga.domains.billing.tables import Account, CancellationMode, PlanStatus, Subscription
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

Before = Callable[[Work, Subscription], Awaitable[dict[str, UUID]]]
LEAVING = CancellationRequest(CancellationMode.PERIOD_END, "other", None, None)


async def _as_it_is(work: Work, held: Subscription) -> dict[str, UUID]:
    return {"subscriptionId": held.id}


async def _paused(work: Work, held: Subscription) -> dict[str, UUID]:
    await pauses.pause_subscription(work, held, resume_on=None)
    return {"subscriptionId": held.id}


async def _changing(work: Work, held: Subscription) -> dict[str, UUID]:
    await changes.request_change(work, held, ChangeRequest("starter"), expected_due=None)
    return {"subscriptionId": held.id}


async def _cancelled(work: Work, held: Subscription) -> dict[str, UUID]:
    made, _ = await cancellations.cancel_subscription(work, held, LEAVING)
    return {"cancellationId": made.id}


Given = dict[str, Any] | Callable[[datetime], dict[str, Any]] | None


def _until_some_day(now: datetime) -> dict[str, Any]:
    return {"resumeOn": str(local_day(now) + timedelta(days=random.randint(1, 90)))}


def _to_some_plan(now: datetime) -> dict[str, Any]:
    return {"planCode": random.choice(["starter", "explorer"]), "effective": "period_end"}


def _on(
    before: Before,
    given: Given = None,
    *,
    named: bool = True,
    held_by: Callable[[Host, UUID], Awaitable[Subscription]] = subscriptions.addon,
) -> Maker:
    """On a plan that was bought a moment ago."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        held = await held_by(host, organization_id)
        work = billing.working(host, organization_id)
        try:
            await work.lock_by(Account)  # before all else, as the services do
            ids = await before(work, await work.lock(Subscription, held.id))
            await work.finish()
        finally:
            await work.close()
        body = given(work.now) if callable(given) else given and filled(given)
        headers = {"X-Organization-Id": str(organization_id)}
        return Sent(ids if named else {}, lambda _: body, headers)

    return make


async def _buying(host: Host, who: Person, organization_id: UUID) -> Sent:
    await subscriptions.none_left(host, organization_id)
    body = {"planCode": "explorer", "interval": "month" if uuid4().int % 2 else "year"}
    return Sent({}, lambda _: body, {"X-Organization-Id": str(organization_id)})


async def _migrating(host: Host, who: Person, organization_id: UUID) -> Sent:
    left = await billing.plan_version(
        host, status=PlanStatus.GRANDFATHERED, live_subscriptions=uuid4().int % 1000
    )
    await billing.plan_version(
        host, plan_code=left.plan_code, plan_version=2, status=PlanStatus.ACTIVE
    )
    operator = await identity.staff(host, "platform_operator")
    body = filled(
        {"fromVersion": 1, "applyAfter": "2190-06-01", "reason": "Asked for in case */2026"}
    )
    parts = {"planCode": left.plan_code, "planVersion": "2"}
    return Sent({}, lambda _: body, operator.headers, parts=parts, by_staff=True)


WHY = {"reasonCode": "other", "comment": "Asked for in case */2026"}

MAKERS: dict[str, Maker] = {
    "buy_subscription": _buying,
    "list_subscriptions": _on(_as_it_is, named=False),
    "get_subscription": _on(_as_it_is),
    "change_plan": _on(_as_it_is, _to_some_plan, held_by=subscriptions.base),
    "preview_plan_change": _on(_as_it_is, {"planCode": "starter"}, held_by=subscriptions.base),
    "withdraw_plan_change": _on(_changing, held_by=subscriptions.base),
    "pause_subscription": _on(_as_it_is, _until_some_day),
    "resume_subscription": _on(_paused),
    "cancel_subscription": _on(_as_it_is, WHY),
    "list_cancellations": _on(_cancelled, named=False),
    "get_cancellation": _on(_cancelled),
    "undo_cancellation": _on(_cancelled),
    "migrate_plan_version": _migrating,
}
