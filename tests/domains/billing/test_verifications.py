"""The nightly check against the documents: what is due, credit, VAT, numbers."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import billing, documents, payments
from tests.factories import identity as people
from tests.planting import plant
from thenga.domains.billing.services.accounts import ledger_checks, parking
from thenga.domains.billing.tables import Book, Refund, RefundStatus
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

IN_DOUBT = parking.IN_DOUBT
DAYS = iter(range(2_000, 3_000))


@pytest.fixture(autouse=True)
def books_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that live in other years leave sets behind that are not true in this one."""
    plant(monkeypatch, ledger_checks, "_MOST_SETS", 0)


async def wrong(
    host: Host, parks: list[str] | None = None, *, days: int | None = None
) -> dict[str, int]:
    """What a night finds, without keeping it; `parks` gets the jobs that would follow."""
    noon = timedelta(days=days or next(DAYS), hours=34 - host.now().hour)
    work = documents.system(host, None, ahead=noon)
    found = await ledger_checks.verify_ledger(work)
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

    assert set(before) == {
        *("receivable", "credit", "payments", "allocations", "vat", "series", "entitlements")
    }
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
    "payments": (
        "UPDATE billing.payment SET status = 'succeeded' WHERE invoice_id = $1",
        "UPDATE billing.payment SET status = 'requires_action' WHERE invoice_id = $1",
    ),
    "allocations": (
        "UPDATE billing.invoice SET credit_applied_minor = credit_applied_minor + 1 WHERE id = $1",
        "UPDATE billing.invoice SET credit_applied_minor = credit_applied_minor - 1 WHERE id = $1",
    ),
}
# What is due is one side of two checks.
ALSO = {"receivable": ("allocations",)}


@pytest.mark.rule("BIL-48")
@pytest.mark.parametrize("check", PLANTED)
async def test_a_planted_difference_behind_the_triggers_is_found(
    host: Host, settings: Settings, seeded: None, check: str
):
    organization_id = uuid4()
    paid = await documents.issued(host, organization_id, paid=True, book=Book.SANDBOX)
    open_one = await documents.issued(host, organization_id, book=Book.SANDBOX)
    await payments.payment(host, organization_id, provider="sandbox", of=open_one)
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

    seen = {check, *ALSO.get(check, ())}
    assert found == before | {one: before[one] + 1 for one in seen}
    assert {*parks} - {*others} == {f"park_account:{organization_id}:ledger_check_failed"}
    assert await wrong(host) == before


@pytest.mark.rule("BIL-48")
async def test_a_planted_refund_without_its_booking_is_found(host: Host, seeded: None):
    before = await wrong(host)
    made = await payments.payment(host, uuid4())
    work = billing.working(host, made.organization_id)
    planted = Refund(
        organization_id=made.organization_id,
        payment_id=made.id,
        provider=made.provider,
        amount_minor=100,
        currency="ZAR",
        reason="Planted",
        status=RefundStatus.SUCCEEDED,
    )
    await work.add(planted)
    await work.finish()

    assert await wrong(host) == before | {"payments": before["payments"] + 1}
    work = documents.system(host, made.organization_id)
    await work.run("UPDATE billing.refund SET status = 'failed' WHERE id = $1", planted.id)
    await work.finish()


@pytest.mark.rule("BIL-45")
@pytest.mark.rule("BIL-48")
async def test_a_planted_set_that_its_sources_do_not_say_is_found(
    host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, ledger_checks, "_MOST_SETS", 100_000)
    organization_id = uuid4()
    await documents.account(host, organization_id)
    await billing.followed(host, organization_id)

    async def doubted(access: str) -> tuple[bool, bool]:
        """Whether a night that finds this access counts the set, and parks its account."""
        work = documents.system(host, organization_id)
        await work.run(
            "UPDATE billing.entitlement_set SET access = $2 WHERE organization_id = $1",
            *(organization_id, access),
        )
        await work.finish()
        night = documents.system(host, None)
        sets = await ledger_checks._wrong_sets(night)
        await night.close()
        parks: list[str] = []
        await wrong(host, parks, days=1)
        return organization_id in sets, f"park_account:{organization_id}:{IN_DOUBT}" in parks

    assert await doubted("none") == (True, True)
    assert await doubted("full") == (False, False)


@pytest.mark.rule("BIL-48")
async def test_a_night_without_a_check_is_told_the_day_after(host: Host, seeded: None):
    kept = documents.system(host, None, ahead=timedelta(days=4_000, hours=34 - host.now().hour))
    await ledger_checks.verify_ledger(kept)
    await kept.finish()

    told = []
    for days in (4_001, 4_002, 4_002):
        ahead = timedelta(days=days, hours=34 - host.now().hour)
        work = documents.system(host, None, ahead=ahead)
        missed = await ledger_checks.report_missing_check(work)
        events = [event.type for event, *_ in work._events]
        told.append((missed and (missed.passed, missed.checks), events))
        await work.finish()

    assert told == [
        (None, []),
        ((False, []), ["billing.LedgerCheckFailed.v1"]),
        (None, []),
    ]


async def test_a_statement_of_the_night_may_take_its_time(host: Host, settings: Settings):
    work = documents.system(host, None)
    given = "SELECT current_setting('statement_timeout') AS given"

    ((long,), (usual,)) = (*await work.query(given, seconds=600.0), *await work.query(given))

    await work.close()
    assert (long, usual) == ("10min", f"{settings.statement_seconds:.0f}s")


@pytest.mark.rule("BIL-51")
async def test_doubtful_account_is_parked_until_a_check_passes(
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
    assert await shown(parking.unpark, "another") == doubt
    parks: list[str] = []
    await wrong(host, parks)
    assert f"free_account:{owner.organization_id}:{doubt}" in parks
    assert await shown(parking.unpark, doubt) is None
