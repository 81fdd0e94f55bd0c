"""Calls of plans, accounts, trials and the ledger."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

from tests.factories import billing, identity
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent, filled
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.tables import Account, Book, PlanStatus
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

WHY = {"reason": "Asked for in case */2026"}
TERMS: dict[str, Any] = {
    "name": "Cooperative *",
    "description": "For cooperatives of builders *",
    "rank": 5,
    "prices": [{"interval": "month", "gross": {"amount": "199.00", "currency": "ZAR"}}],
    "entitlements": [{"type": "limit", "key": "identity.seats", "limit": 2}],
    "effectiveFrom": "2191-01-01",
}
Before = Callable[[Host, UUID], Awaitable[dict[str, UUID]]]


def _named(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


async def _nothing(host: Host, organization_id: UUID) -> dict[str, UUID]:
    return {}


async def _sandbox(host: Host, organization_id: UUID) -> Account:
    return await billing.account(host, organization_id, again=True, book=Book.SANDBOX)


async def _account(host: Host, organization_id: UUID) -> dict[str, UUID]:
    return {"accountId": (await _sandbox(host, organization_id)).id}


async def _unsaid(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _sandbox(host, organization_id)
    await billing.reopened(host, organization_id)
    return {}


async def _trial(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await _sandbox(host, organization_id)
    return {"trialId": (await billing.running_trial(host, organization_id)).id}


async def _booked(host: Host, organization_id: UUID) -> dict[str, UUID]:
    await billing.entry(host, organization_id, journal.bank_transfer_booking(Money.of("5.00")))
    return {}


def _there(before: Before) -> Before:
    """As before, where the call names none of it."""

    async def make(host: Host, organization_id: UUID) -> dict[str, UUID]:
        await before(host, organization_id)
        return {}

    return make


def _in(before: Before, given: dict[str, Any] | None = None) -> Maker:
    """In an organization that the header names."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        ids = await before(host, organization_id)
        body = given and filled(given)
        return Sent(ids, lambda _: body, _named(organization_id))

    return make


async def _changing(host: Host, who: Person, organization_id: UUID) -> Sent:
    account = await _sandbox(host, organization_id)
    body = filled({"orderNumber": "PO-*", "billTo": {"legalName": "Mokoena"}})
    said = {"If-Match": f'"{account.version}"'}
    return Sent({"accountId": account.id}, lambda _: body, _named(organization_id) | said)


async def _closing(host: Host, who: Person, organization_id: UUID) -> Sent:
    """Of an organization of its own: in the others there is always something to be done."""
    other = await identity.member(host, uuid4(), role="owner")
    account = await _sandbox(host, other.organization_id)
    headers = await _staff(host) | _named(account.organization_id)
    return Sent({"accountId": account.id}, lambda _: filled(WHY), headers, by_staff=True)


async def _unparking(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await identity.member(host, uuid4(), role="owner")
    parked = {"reason": "too_many_lines", "since": "2026-11-14T00:00:00Z"}
    account = await billing.account(host, other.organization_id, book=Book.SANDBOX, parked=parked)
    headers = await _staff(host) | _named(account.organization_id)
    return Sent({"accountId": account.id}, headers=headers, by_staff=True)


async def _trying(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _sandbox(host, organization_id)
    await billing.without_trial(host, organization_id)
    plan = "starter" if uuid4().int % 2 else "professional"
    return Sent({}, lambda _: {"planCode": plan}, _named(organization_id))


async def _any_plan(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent(parts={"planCode": "starter"})


async def _staff(host: Host) -> dict[str, str]:
    return (await identity.staff(host, "platform_operator")).headers


async def _creating(host: Host, who: Person, organization_id: UUID) -> Sent:
    body = filled(TERMS | {"planCode": "plan-*"})
    return Sent({}, lambda _: body, await _staff(host), by_staff=True)


def _on_plan(given: dict[str, Any], **fields: Any) -> Maker:
    """By staff, on a version that is made for it."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        version = await billing.plan_version(host, **fields)
        body, said = filled(given), {"If-Match": '"1"'}
        parts = {"planCode": version.plan_code, "planVersion": str(version.plan_version)}
        return Sent({}, lambda _: body, await _staff(host) | said, parts=parts, by_staff=True)

    return make


async def _auditing(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent(headers=await _staff(host), by_staff=True)


_OLD = {"status": PlanStatus.GRANDFATHERED, "live_subscriptions": 0}

MAKERS: dict[str, Maker] = {
    "open_billing_account": _in(_unsaid, {"billTo": {"legalName": "X"}, "orderNumber": "PO-*"}),
    "list_billing_accounts": _in(_there(_account)),
    "get_billing_account": _in(_account),
    "change_billing_account": _changing,
    "unpark_billing_account": _unparking,
    "close_billing_account": _closing,
    "list_plans": _in(_nothing),
    "get_plan": _any_plan,
    "create_plan": _creating,
    "draft_plan_version": _on_plan(TERMS, status=PlanStatus.ACTIVE),
    "change_plan_draft": _on_plan({"name": "Cooperative plus *"}),
    "publish_plan_version": _on_plan(WHY),
    "retire_plan_version": _on_plan(WHY, **_OLD),
    "start_trial": _trying,
    "list_trials": _in(_there(_trial)),
    "get_trial": _in(_trial),
    "cancel_trial": _in(_trial),
    "list_meters": _in(_nothing),
    "list_journal_entries": _in(_booked),
    "get_trial_balance": _in(_booked),
    "list_ledger_verifications": _auditing,
}
