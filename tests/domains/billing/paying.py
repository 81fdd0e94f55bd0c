"""What tests of payments share: paying, reading, and what was told and booked."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import billing
from tests.factories import identity as people
from tests.providers.loopback import serving
from tests.providers.servers import PayFastServer, PaystackServer
from tests.suites import flows
from thenga.domains.billing.tables import Payment
from thenga.kernel.process.host import Host

RETURN = "https://app.thenga.example/billing/paid"


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await billing.account(host, who.organization_id)
    return who


@pytest.fixture
async def paystack(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PaystackServer]:
    server = PaystackServer()
    async with serving(server.app) as url:
        monkeypatch.setenv("THENGA_PAYSTACK_URL_BILLING", url)
        yield server


@pytest.fixture
async def payfast(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PayFastServer]:
    server = PayFastServer()
    async with serving(server.app) as url:
        monkeypatch.setenv("THENGA_PAYFAST_URL_BILLING", url)
        monkeypatch.setenv("THENGA_PAYFAST_API_URL_BILLING", url)
        yield server


def within(who: people.Member) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)}


async def pay(api: httpx2.AsyncClient, owner: people.Member, **body: Any) -> httpx2.Response:
    return await api.post("/billing/payments", json=body, headers=within(owner))


async def read(api: httpx2.AsyncClient, owner: people.Member, payment_id: object) -> dict[str, Any]:
    found: dict[str, Any] = (
        await api.get(f"/billing/payments/{payment_id}", headers=within(owner))
    ).json()
    return found


async def told(host: Host, organization_id: UUID) -> list[str]:
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetch(
            "SELECT envelope::jsonb ->> 'type' AS type FROM billing.outbox "
            "WHERE organization_id = $1 ORDER BY position",
            organization_id,
        )
    return [row["type"].split(".")[1] for row in found]


async def findings(host: Host, of: Payment) -> list[str]:
    """What somebody was asked to look at."""
    async with host.engines.connection("billing", "billing_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope::jsonb #>> '{data,finding}' AS finding FROM billing.outbox "
            "WHERE organization_id = $1 AND envelope LIKE '%PaymentMismatchFound%' "
            "ORDER BY position",
            of.organization_id,
        )
    return [row["finding"] for row in rows]


async def booked(host: Host, organization_id: UUID) -> dict[str, int]:
    """What each account of the journal comes to."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetch(
            "SELECT account, sum(amount_minor)::bigint AS minor FROM billing.journal_line "
            "WHERE organization_id = $1 GROUP BY 1 HAVING sum(amount_minor) <> 0",
            organization_id,
        )
    return {row["account"]: row["minor"] for row in found}


async def until(
    api: httpx2.AsyncClient, owner: people.Member, payment_id: object, *statuses: str
) -> dict[str, Any]:
    """The payment once it has one of these states, with the worker running."""
    found: dict[str, Any] = {}

    async def there() -> bool:
        found.update(await read(api, owner, payment_id))
        return found["status"] in statuses

    await flows.until(there)
    return found
