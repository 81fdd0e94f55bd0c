"""Calls of entitlements, grants and usage."""

from datetime import timedelta
from uuid import UUID, uuid4

from tests.factories import billing, held, identity
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent, filled
from thenga.domains.billing.services.entitlements import current, grants
from thenga.domains.billing.services.usage import reservations
from thenga.domains.billing.tables import Book, Subscription
from thenga.kernel.process.host import Host

# Of this a trial has so much that no threshold is crossed on the way.
RUNS, COUNTED = held.RUNS, "api.requests"
WHY = "The import was down for two days."


def _named(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


async def _staff(host: Host, organization_id: UUID) -> dict[str, str]:
    staff = await identity.staff(host, "platform_operator")
    return staff.headers | _named(organization_id)


async def _subscription(host: Host, organization_id: UUID) -> UUID:
    """The plan that is held: the trial of a sandbox."""
    await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    trial = await billing.running_trial(host, organization_id)
    work = billing.working(host, organization_id)
    found = await work.get(Subscription, trial.subscription_id)
    await current.refresh(work, reason="made by a factory")
    await work.finish()
    return found.id


async def _held(host: Host, who: Person, organization_id: UUID) -> Sent:
    await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    return Sent(headers=_named(organization_id))


async def _of_subscription(host: Host, who: Person, organization_id: UUID) -> Sent:
    ids = {"subscriptionId": await _subscription(host, organization_id)}
    return Sent(ids, headers=_named(organization_id))


async def _by_staff(host: Host, who: Person, organization_id: UUID) -> Sent:
    """With a set and a total that are there, so that every call leaves the same behind."""
    await _subscription(host, organization_id)
    first = held.entry(COUNTED, "the first", at=host.now())
    await held.used(host, organization_id, [first])
    return Sent(headers=await _staff(host, organization_id), by_staff=True)


async def _reserving(host: Host, who: Person, organization_id: UUID) -> Sent:
    sent = await _by_staff(host, who, organization_id)
    body = {"meter": COUNTED, "quantity": 1, "key": f"key-{uuid4()}"}
    return Sent(headers=sent.headers, body=lambda _: body, by_staff=True)


async def _recording(host: Host, who: Person, organization_id: UUID) -> Sent:
    sent = await _by_staff(host, who, organization_id)
    at = host.now().isoformat().replace("+00:00", "Z")
    one = {"meter": COUNTED, "key": f"key-{uuid4()}", "quantity": 1, "occurredAt": at}
    return Sent(headers=sent.headers, body=lambda _: {"records": [one]}, by_staff=True)


async def _settling(host: Host, who: Person, organization_id: UUID) -> Sent:
    sent = await _by_staff(host, who, organization_id)
    work = billing.working(host, organization_id)
    made, _ = await reservations.reserve_usage(
        work, meter=COUNTED, quantity=50, key=f"key-{uuid4()}", ttl=timedelta(days=2000)
    )
    await work.finish()
    body, parts = filled({"quantity": range(1, 50)}), {"key": made.key}
    return Sent(headers=sent.headers, body=lambda _: body, parts=parts, by_staff=True)


async def _granting(host: Host, who: Person, organization_id: UUID) -> Sent:
    sent = await _by_staff(host, who, organization_id)
    ends = (host.now() + timedelta(days=3000)).isoformat().replace("+00:00", "Z")
    body = {"entitlement": RUNS, "value": 5, "expiresAt": ends, "reason": f"{WHY} {uuid4()}"}
    return Sent(headers=sent.headers, body=lambda _: body, by_staff=True)


async def _revoking(host: Host, who: Person, organization_id: UUID) -> Sent:
    sent = await _by_staff(host, who, organization_id)
    work = billing.working(host, organization_id)
    ends = work.now + timedelta(days=3000)
    made = await grants.issue_grant(work, entitlement=RUNS, value=1, expires_at=ends, reason=WHY)
    await work.finish()
    return Sent({"grantId": made.id}, headers=sent.headers, by_staff=True)


MAKERS: dict[str, Maker] = {
    "get_entitlements": _held,
    "get_signal": _held,
    "get_subscription_entitlements": _of_subscription,
    "issue_grant": _granting,
    "list_grants": _by_staff,
    "revoke_grant": _revoking,
    "record_usage": _recording,
    "get_usage": _of_subscription,
    "list_usage_records": _held,
    "reserve_usage": _reserving,
    "settle_reservation": _settling,
}
