"""Marketplace: a supplier hears that it is asked, of more time, and of the end of a request."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from sqlalchemy import select
from tests.conftest import Time
from tests.domains.marketplace.requesting import Desk, Market, at, market
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories.notification_requests import Office

from thenga.domains.notification.reactions import marketplace as notices
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.tables import Request
from thenga.kernel.declare.event import Envelope
from thenga.kernel.process.host import Host

REASON = f"reason{uuid4().hex}"


@pytest.fixture
async def there(api: httpx2.AsyncClient, host: Host, seeded: None) -> Market:
    made = await market(api, host)
    for desk in (made.customer, made.first, made.second, made.stranger):
        await deliveries.tenant(host, desk.organization_id, sandbox=True)
    return made


@pytest.fixture
def office(host: Host, clock: Time) -> Office:
    return Office(requests.with_ports(host), clock)


async def receive(office: Office, desk: Desk) -> None:
    """Deliver the events of Marketplace to Notification, as its consumer would, twice."""
    async with office.host.engines.connection("marketplace", "marketplace_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope FROM marketplace.outbox WHERE mesh_subject LIKE '%' || $1 "
            "ORDER BY position",
            str(desk.organization_id),
        )
    for row in [*rows, *rows]:
        envelope = Envelope.model_validate(json.loads(row["envelope"]))
        for reaction in reactions.all:
            if reaction.event_type == envelope.type:
                work = requests.working(office.host, desk.organization_id)
                work.envelope = envelope
                work.origin = replace(work.origin, causation_id=str(envelope.id))
                await reaction.handle(work, envelope)
                await work.finish()
    await office.work_off(desk.organization_id)


async def inbox(api: httpx2.AsyncClient, desk: Desk) -> list[dict[str, Any]]:
    answer = await api.get("/notifications", headers=desk.who.acting)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return sorted(found, key=lambda message: message["createdAt"])


async def asked_and_extended(there: Market) -> tuple[dict[str, Any], dict[str, str]]:
    """A request to both providers with more time; and the words that the first never reads."""
    requirement, first, second = str(uuid4()), *there.ids
    sent = await there.customer.asked(
        recipients=[
            {"supplierId": str(first), "overrideReason": REASON},
            {"supplierId": str(second)},
        ],
        needRefs=[{"domain": "opportunity", "type": "requirement", "id": requirement}],
        correlationId=f"tender-{requirement}",
    )
    later = at(datetime.fromisoformat(sent["dueAt"]) + timedelta(days=2))
    assert (await there.customer.change(sent["id"], dueAt=later)).status_code == 200
    words = {
        "requirement": requirement,
        "number": sent["number"],
        "purpose": '"bid"',
        "reason": REASON,
        "rival": str(second),
        "rival company": str(there.second.organization_id),
        "rival name": "Rivalrous",
    }
    return sent, words


def crossed(messages: list[Any], words: dict[str, str]) -> list[str]:
    """The words that are in one of these."""
    text = json.dumps(messages, default=str)
    return [name for name, word in words.items() if word in text]


async def test_a_supplier_hears_that_it_is_asked_and_of_more_time(
    api: httpx2.AsyncClient, there: Market, office: Office
) -> None:
    viewer = await people.member(office.host, there.first.organization_id, role="viewer")
    sent, words = await asked_and_extended(there)
    desks = (there.first, there.customer, there.stranger)
    for desk in desks:
        await receive(office, desk)

    provider, customer, stranger = [await inbox(api, desk) for desk in desks]

    stored = await office.all(select(Request), there.first.organization_id)
    canaries = crossed([*provider, *[request.facts for request in stored]], words)
    print(
        f"\nprovider={len(provider)} customer={len(customer)} stranger={len(stranger)} "
        f"canaries={len(canaries)}"
    )
    assert [message["topicCode"] for message in provider] == [
        "marketplace.quote_requested",
        "marketplace.quote_request_extended",
    ]
    for message in provider:
        assert sent["title"] in message["body"]
        assert message["about"]["id"] == sent["id"]
    assert (customer, stranger, canaries) == ([], [], [])
    assert (await api.get("/notifications", headers=viewer.acting)).json()["items"] == []
    assert await office.all(select(Request), there.customer.organization_id) == []


async def test_a_planted_notice_to_the_customer_is_found(
    api: httpx2.AsyncClient, there: Market, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = notices._notify_provider

    async def careless(work: Any, event: Any, *told: Any, **more: Any) -> None:
        reached = event.model_copy(update={"provider_organization_id": work.organization_id})
        await real(work, reached, *told, **more)

    monkeypatch.setattr(notices, "_notify_provider", careless)
    await asked_and_extended(there)
    await receive(office, there.customer)

    found = await inbox(api, there.customer)

    print(f"\nplanted customer={len(found)}")
    assert found


async def test_a_supplier_hears_of_a_cancelled_request(
    api: httpx2.AsyncClient, there: Market, office: Office
) -> None:
    sent = await there.customer.asked(*there.ids)
    await there.customer.change(sent["id"], move="cancel", reason=REASON)
    for desk in (there.first, there.customer):
        await receive(office, desk)

    provider = await inbox(api, there.first)

    assert [message["topicCode"] for message in provider] == [
        "marketplace.quote_requested",
        "marketplace.quote_request_cancelled",
    ]
    assert REASON not in json.dumps(provider)
    assert await inbox(api, there.customer) == []
