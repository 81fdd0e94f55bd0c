"""Calls of variations, invoices, payments and the journal."""

from typing import Any
from uuid import UUID

from tests.factories import contract_money
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent
from thenga.kernel.process.host import Host

_ZAR = {"amount": "1.00", "currency": "ZAR"}


def _acting(organization_id: UUID, **more: str) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)} | more


async def _list_invoices(host: Host, who: Person, organization_id: UUID) -> Sent:
    await contract_money.invoice(host, organization_id)
    return Sent({}, headers=_acting(organization_id))


async def _list_payments(host: Host, who: Person, organization_id: UUID) -> Sent:
    await contract_money.payment(host, organization_id)
    return Sent({}, headers=_acting(organization_id))


async def _list_variations(host: Host, who: Person, organization_id: UUID) -> Sent:
    await contract_money.variation(host, organization_id)
    return Sent({}, headers=_acting(organization_id))


async def _create_variation(host: Host, who: Person, organization_id: UUID) -> Sent:
    workspace_id, _ = await contract_money.contract(host, organization_id)
    body = {"title": "Rock", "kinds": ["scope"], "scope": "Rock", "reasonCode": "error"}
    return Sent({"workspaceId": workspace_id}, lambda _: body, _acting(organization_id))


async def _get_variation(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.variation(host, organization_id)
    return Sent({"variationId": made.id}, headers=_acting(organization_id))


async def _change_variation(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.variation(host, organization_id)
    headers = _acting(organization_id) | {"If-Match": '"1"'}
    return Sent({"variationId": made.id}, lambda _: {"title": "Hard rock"}, headers)


async def _create_invoice(host: Host, who: Person, organization_id: UUID) -> Sent:
    workspace_id, milestones = await contract_money.contract(host, organization_id)
    line = {"milestoneId": str(milestones["M1"]), "description": "M1", "amount": _ZAR}
    body: dict[str, Any] = {"lines": [line]}
    return Sent({"workspaceId": workspace_id}, lambda _: body, _acting(organization_id))


async def _get_invoice(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.invoice(host, organization_id)
    return Sent({"invoiceId": made.id}, headers=_acting(organization_id))


async def _change_invoice(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.invoice(host, organization_id, is_submitted=False)
    headers = _acting(organization_id) | {"If-Match": '"1"'}
    return Sent({"invoiceId": made.id}, lambda _: {"note": "Certificate attached"}, headers)


async def _record_payment(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.invoice(host, organization_id)
    body = {"amount": _ZAR, "receivedOn": made.submitted_on and made.submitted_on.isoformat()}
    return Sent({"invoiceId": made.id}, lambda _: body, _acting(organization_id))


async def _get_payment(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.payment(host, organization_id)
    return Sent({"paymentId": made.id}, headers=_acting(organization_id))


async def _change_payment(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.payment(host, organization_id)
    headers = _acting(organization_id) | {"If-Match": '"1"'}
    body = {"move": {"verb": "withdraw", "reason": "Recorded by mistake"}}
    return Sent({"paymentId": made.id}, lambda _: body, headers)


async def _get_journal(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await contract_money.invoice(host, organization_id)
    return Sent({"workspaceId": made.workspace_id}, headers=_acting(organization_id))


MAKERS: dict[str, Maker] = {
    "create_variation": _create_variation,
    "list_variations": _list_variations,
    "get_variation": _get_variation,
    "change_variation": _change_variation,
    "create_contract_invoice": _create_invoice,
    "list_contract_invoices": _list_invoices,
    "get_contract_invoice": _get_invoice,
    "print_contract_invoice": _get_invoice,
    "change_contract_invoice": _change_invoice,
    "record_contract_payment": _record_payment,
    "list_contract_payments": _list_payments,
    "get_contract_payment": _get_payment,
    "change_contract_payment": _change_payment,
    "get_contract_journal": _get_journal,
}
