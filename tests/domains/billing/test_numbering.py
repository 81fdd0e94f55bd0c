"""Numbers without a gap, dates that never fall, and what an issue brings with it."""

import asyncio
import random
from datetime import date, datetime, timedelta
from itertools import pairwise
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import billing, documents
from tests.factories import identity as people
from tests.settling import Settle
from tests.suites.sizes import size
from thenga.domains.billing.services.invoicing import invoices, issuing
from thenga.domains.billing.services.printing import pdf_archive
from thenga.domains.billing.tables import Account, Book, Invoice, Purpose
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

ISSUERS, EACH = 8, size(12, 250)
_SERIES = """
    SELECT substring(number FROM '[0-9]+$')::bigint AS place, issue_date
    FROM billing.invoice WHERE seller_code = $1 AND number IS NOT NULL ORDER BY 1
"""


async def waiting(host: Host, seller: str, count: int) -> UUID:
    """An organization whose documents of that seller wait for their numbers."""
    organization_id = uuid4()
    await documents.account(host, organization_id)
    work = billing.working(host, organization_id)
    held = await work.lock_by(Account)
    for _ in range(count):
        made = await invoices.draft_invoice(
            work, held, purpose=Purpose.RENEWAL, lines=[documents.line()], subscription_id=None
        )
        await work.hold(made)
        made.seller_code = seller
        await work.save(made)
        await invoices.release_invoice(work, made)
    work._jobs.clear()  # the test itself issues them
    await work.finish()
    return organization_id


async def issue(host: Host, seller: str, organization_id: UUID, *, around: datetime) -> int:
    """Number everything, with one transaction in ten rolled back at its end; how many were."""
    rolled = done = 0
    while done < EACH:
        # From before midnight to after it, each with a clock that is a little off.
        moment = around + timedelta(seconds=done / EACH * 4 - 2 + random.uniform(-1, 1))
        work = documents.system(host, organization_id, ahead=moment - host.now())
        try:
            await issuing.issue_next(work, seller=seller, book=Book.LIVE)
            if random.random() < 0.1:
                rolled += 1
                continue
            work._jobs.clear()
            await work.finish()
            done += 1
        finally:
            await work.close()
    return rolled


@pytest.mark.rule("BIL-25")
async def test_eight_issuers_with_rollbacks_leave_no_gap(host: Host, seeded: None):
    seller = await documents.seller(host)
    whose = [await waiting(host, seller, EACH) for _ in range(ISSUERS)]
    midnight = local_midnight(local_day(host.now()) + timedelta(days=1))

    rolled = await asyncio.gather(*(issue(host, seller, one, around=midnight) for one in whose))

    async with host.engines.connection("billing", "billing_system") as connection:
        rows = await connection.fetch(_SERIES, seller)
    judged = judge([(row["place"], row["issue_date"]) for row in rows])
    days = {row["issue_date"] for row in rows}
    print(f"{judged} rolled_back={sum(rolled)} days={len(days)}")
    assert judged == f"documents={(n := ISSUERS * EACH)} max={n} gaps=0 date_inversions=0"
    assert len(days) == 2


def judge(series: list[tuple[int, date]]) -> str:
    """What is wrong with a series, in counts."""
    places = [place for place, _ in series]
    gaps = len(set(range(1, max(places) + 1)) - set(places))
    falls = sum(later < earlier for (_, earlier), (_, later) in pairwise(sorted(series)))
    return f"documents={len(places)} max={max(places)} gaps={gaps} date_inversions={falls}"


def test_a_planted_gap_and_a_planted_date_that_falls_are_found():
    planted = [(1, date(2026, 11, 15)), (2, date(2026, 11, 14)), (4, date(2026, 11, 16))]

    assert judge(planted) == "documents=3 max=4 gaps=1 date_inversions=1"


@pytest.mark.rule("BIL-25")
async def test_the_worker_numbers_prints_and_tells(
    api: httpx2.AsyncClient, host: Host, settle: Settle
):
    owner = await people.member(host, uuid4(), role="owner")
    headers = owner.headers | {"X-Organization-Id": str(owner.organization_id)}
    made = await documents.draft(host, owner.organization_id, released=True, by_worker=True)

    async def printed() -> dict | None:
        shown = (await api.get(f"/billing/invoices/{made.id}", headers=headers)).json()
        return shown if shown["pdf"] is not None else None

    shown = await settle(printed)

    async with host.engines.connection("billing", "billing_system") as connection:
        told = await connection.fetch(
            "SELECT mesh_subject FROM billing.outbox WHERE aggregate = $1", f"invoice/{made.id}"
        )
    assert shown["number"].startswith("TI-")
    assert (shown["status"], shown["collectionStatus"]) == ("open", "pending")
    assert [row[0].split(".")[2] for row in told] == ["InvoiceIssued"]


@pytest.mark.rule("BIL-29")
async def test_a_sandbox_takes_no_live_number(host: Host, seeded: None):
    live, sandbox = uuid4(), uuid4()
    before = await documents.issued(host, live)

    made = [await documents.issued(host, sandbox, book=Book.SANDBOX) for _ in range(3)]

    after = await documents.issued(host, live)
    numbers = [one.number for one in made]
    print(f"sandbox={numbers} live={before.number},{after.number}")
    assert numbers == ["SBX-TI-0000001", "SBX-TI-0000002", "SBX-TI-0000003"]
    assert before.number.startswith("TI-")
    assert int(after.number[3:]) > int(before.number[3:])


async def test_a_draft_has_no_number_and_may_go_away(host: Host, seeded: None):
    organization_id, line = uuid4(), documents.line()
    made = await documents.draft(host, organization_id, line)

    work = billing.working(host, organization_id)
    await invoices.discard_draft(work, await work.lock(Invoice, made.id))
    await work.finish()

    # What it would have billed may be billed again.
    again = await documents.issued(host, organization_id, line)
    gone = await documents.get(host, Invoice, organization_id, made.id)
    assert (gone.status, gone.number, again.status) == ("discarded", None, "open")


async def test_what_is_released_twice_is_numbered_once(host: Host, seeded: None):
    organization_id = uuid4()
    made = await documents.draft(host, organization_id, released=True)
    work = billing.working(host, organization_id)
    await invoices.release_invoice(work, await work.lock(Invoice, made.id), paid=Money.of("1.00"))
    await work.finish()

    told = await documents.number_all(host, organization_id)

    assert [event.type for event in told] == ["billing.InvoiceIssued.v1"]


async def test_what_a_lost_job_left_behind_is_asked_for_again(host: Host, seeded: None):
    numbered = await documents.issued(host, uuid4())
    unnumbered = await documents.draft(host, uuid4(), released=True)

    asked: list[set[str]] = []
    for ahead in (timedelta(0), timedelta(minutes=3)):
        work = documents.system(host, None, ahead=ahead)
        await pdf_archive.repair_stuck(work)
        asked.append({str(job.key) for job in work._jobs})
        await work.close()

    lost = {
        f"render_pdf:{numbered.organization_id}:{numbered.id}",
        f"issue_documents:{unnumbered.organization_id}:thenga:live",
    }
    assert (asked[0] & lost, asked[1] & lost) == (set(), lost)
