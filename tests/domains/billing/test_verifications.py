"""The nightly check against the documents: what is due, credit, VAT, numbers."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import billing, documents
from tests.factories import identity as people
from thenga.domains.billing.services import parking, verifications
from thenga.domains.billing.tables import Book
from thenga.kernel.host import Host
from thenga.kernel.settings import Settings

DAYS = iter(range(2_000, 3_000))


async def wrong(host: Host, parks: list[str] | None = None) -> dict[str, int]:
    """What a night finds, without keeping it; `parks` gets the jobs that would follow."""
    noon = timedelta(days=next(DAYS), hours=34 - host.now().hour)
    work = documents.system(host, None, ahead=noon)
    found = await verifications.verify(work)
    if parks is not None:
        parks += [str(job.key) for job in work._jobs]
    await work.close()
    assert found is not None
    counted = {one["check"]: one["wrong"] for one in found.checks}
    print(
        f"journal_sum={found.journal_sum_minor} unbalanced={found.unbalanced} "
        + " ".join(f"{check}={count}" for check, count in counted.items())
    )
    assert found.passed == (not any(counted.values()))
    return counted


@pytest.mark.rule("BIL-48")
async def test_the_books_say_what_the_documents_say(host: Host, seeded: None):
    before = await wrong(host)  # other tests book what no document says
    live, sandbox = uuid4(), uuid4()
    for book, organization_id in ((Book.LIVE, live), (Book.SANDBOX, sandbox)):
        await documents.issued(host, organization_id, paid=True, book=book)
        invoice = await documents.issued(host, organization_id, documents.line("1499.00"))
        await documents.credited(host, invoice, "499.67", "100.00")
        await documents.written_off(host, organization_id)
        await documents.draft(host, organization_id, released=True)

    assert set(before) == {"receivable", "credit", "vat", "series"}
    assert await wrong(host) == before


PLANTED = {
    "receivable": (
        "UPDATE billing.invoice SET amount_due_minor = amount_due_minor - 1 WHERE id = $1",
        "UPDATE billing.invoice SET amount_due_minor = amount_due_minor + 1 WHERE id = $1",
    ),
    "vat": (
        "UPDATE billing.invoice SET vat_minor = vat_minor + 1, net_minor = net_minor - 1 "
        "WHERE id = $1",
        "UPDATE billing.invoice SET vat_minor = vat_minor - 1, net_minor = net_minor + 1 "
        "WHERE id = $1",
    ),
    "series": (
        "UPDATE billing.document_series SET next_number = next_number + 1 WHERE holder_id = "
        "(SELECT organization_id FROM billing.invoice WHERE id = $1)",
        "UPDATE billing.document_series SET next_number = next_number - 1 WHERE holder_id = "
        "(SELECT organization_id FROM billing.invoice WHERE id = $1)",
    ),
    "credit": (
        "UPDATE billing.journal_line SET amount_minor = -amount_minor WHERE entry_id IN "
        "(SELECT id FROM billing.journal_entry WHERE key = 'payment:' || $1::uuid::text)",
    )
    * 2,
}


@pytest.mark.rule("BIL-48")
@pytest.mark.parametrize("check", PLANTED)
async def test_a_planted_difference_behind_the_triggers_is_found(
    host: Host, settings: Settings, seeded: None, check: str
):
    organization_id = uuid4()
    paid = await documents.issued(host, organization_id, paid=True, book=Book.SANDBOX)
    open_one = await documents.issued(host, organization_id, book=Book.SANDBOX)
    target = paid if check == "credit" else open_one
    plant, mend = PLANTED[check]
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    await admin.execute("SET session_replication_role = replica")
    others: list[str] = []
    before = await wrong(host, others)
    await admin.execute(plant, target.id)
    parks: list[str] = []
    try:
        found = await wrong(host, parks)
    finally:
        await admin.execute(mend, target.id)
        await admin.close()

    assert found == before | {check: before[check] + 1}
    assert {*parks} - {*others} == {f"park_account:{organization_id}:ledger_check_failed"}
    assert await wrong(host) == before


@pytest.mark.rule("BIL-51")
async def test_an_account_in_doubt_is_parked_until_a_night_finds_nothing(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    headers = owner.headers | {"X-Organization-Id": str(owner.organization_id)}
    await documents.account(host, owner.organization_id)

    async def shown(act: Callable[..., Awaitable[None]] | None, reason: str) -> str | None:
        work = billing.working(host, owner.organization_id)
        if act is not None:
            await act(work, reason=reason)
        await work.finish()
        found = (await api.get("/billing/accounts", headers=headers)).json()["items"][0]
        return found["parked"] and found["parked"]["reason"]

    doubt = parking.IN_DOUBT
    assert await shown(parking.park, doubt) == doubt
    assert await shown(parking.park, "another") == doubt  # the first reason stands
    assert await shown(parking.free, "another") == doubt
    parks: list[str] = []
    await wrong(host, parks)
    assert f"free_account:{owner.organization_id}:{doubt}" in parks
    assert await shown(parking.free, doubt) is None
