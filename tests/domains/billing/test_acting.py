"""Operators name an organization by the address or by the header: both are the same call."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.identity import inviting
from tests.factories import billing
from tests.factories import identity as people
from thenga.kernel.process.host import Host

LISTS = (
    *("accounts", "cancellations", "credit-notes", "entitlements", "grants", "invoices"),
    *("ledger/entries", "ledger/trial-balance", "payment-failures", "payments"),
    *("signal?feature=identity.seats", "subscriptions", "trials", "usage-records"),
)


@pytest.fixture
async def operator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_operator")


async def ahead(host: Host, organization_id: UUID, days: int) -> None:
    """A sandbox whose clock was moved, as Identity and Billing know of it."""
    await inviting.moved(host, organization_id, timedelta(days=days))
    async with host.engines.connection("billing", "billing_system") as connection:
        await connection.execute(
            "INSERT INTO billing.clock_offset (organization_id, ahead, sequence) "
            "VALUES ($1, $2, 1)",
            organization_id,
            timedelta(days=days),
        )


@pytest.mark.rule("BIL-50")
async def test_a_sandbox_is_read_by_its_own_clock_however_it_is_named(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    clock.set(datetime(2026, 11, 14, 8, tzinfo=UTC))
    owner = await people.member(host, uuid4(), role="owner", sandbox=True)
    staff = await people.staff(host, "platform_operator")
    await billing.account(host, owner.organization_id, book="sandbox")
    await api.post("/billing/trials", json={}, headers=owner.acting)
    await ahead(host, owner.organization_id, days=12)
    named = {"X-Organization-Id": str(owner.organization_id)}
    address = f"/billing/trials?organizationId={owner.organization_id}"

    by_address = await api.get(address, headers=staff.headers)
    by_header = await api.get("/billing/trials", headers=staff.headers | named)
    by_both = await api.get(address, headers=staff.headers | named)

    assert by_header.json()["items"][0]["ending"] is True
    assert by_address.content == by_header.content == by_both.content


@pytest.mark.parametrize("path", LISTS)
async def test_whoever_names_nobody_is_told_to(
    api: httpx2.AsyncClient, operator: people.Person, path: str
):
    answer = await api.get(f"/billing/{path}", headers=operator.headers)

    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert "Name the organization" in answer.json()["detail"]
