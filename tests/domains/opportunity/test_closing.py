"""When a tender closes: at its instant, by the clock of whoever looks, told once (OPP-12)."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.conftest import Time
from tests.domains.opportunity.tendering import published, told
from tests.factories import identity as people
from tests.factories import opportunity as factory
from tests.planting import plant

from thenga.domains.identity.services import memberships
from thenga.domains.opportunity.services import amendments
from thenga.domains.opportunity.services.notices import clock as notice_clock
from thenga.domains.opportunity.services.releases import outcomes
from thenga.domains.opportunity.tables import TenderOpportunity, TenderStatus
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.usefixtures("seeded")

# A closing with its minute, and one that names the day only: from when it is due, and closed.
MINUTE = {"closingAt": "2026-09-16T09:00:00Z"}
DAY = {"closingAt": "2026-09-15T22:00:00Z", "closingPrecision": "day"}
CLOSED_FROM = {"minute": "2026-09-16T09:00:00Z", "day": "2026-09-16T22:00:00Z"}
BEFORE = datetime.fromisoformat("2026-09-15T08:00:00Z")
BOUNDARY = [("open", 1), ("closed", 0), ("closed", 0)]
MOMENT = timedelta(milliseconds=1)


async def seen_around(
    api: httpx2.AsyncClient, host: Host, clock: Time, fields: dict[str, str]
) -> list[tuple[str, int]]:
    """Status and hits of a shared tender 1 ms before it closes, then, and 1 ms later."""
    clock.set(BEFORE)
    staff = await people.staff(host, "platform_operator")
    number = f"CL {uuid4().hex[:6]}"
    made = await published(api, staff, "shared", tenderNumber=number, **fields)
    closes = datetime.fromisoformat(CLOSED_FROM[fields.get("closingPrecision", "minute")])
    seen = []
    for at in (closes - MOMENT, closes, closes + MOMENT):
        clock.set(at)
        who = await people.member(host, uuid4(), role="owner")
        one = await api.get(f"/opportunities/{made['id']}", headers=who.headers)
        assert one.status_code == 200, one.text
        listed = await api.get(f"/opportunities?tenderNumber={number}", headers=who.headers)
        seen.append((one.json()["status"], len(listed.json()["items"])))
    print(f"closed_from={closes.isoformat()} boundary={seen}")
    (due,) = [one for one in made["deadlines"] if one["kind"] == "closing"]
    assert due["dueAt"] == fields["closingAt"]  # what reminders and gates take
    return seen


@pytest.mark.rule("OPP-12")
@pytest.mark.parametrize("fields", [MINUTE, DAY], ids=["minute", "day"])
async def test_a_tender_closes_at_its_instant_before_any_sweep(
    api: httpx2.AsyncClient, host: Host, clock: Time, fields: dict[str, str]
) -> None:
    assert await seen_around(api, host, clock, fields) == BOUNDARY


def _open_at_the_end(tender: TenderOpportunity, now: datetime) -> TenderStatus:
    is_over = tender.closes_at is not None and tender.closes_at < now
    return TenderStatus.CLOSED if is_over else TenderStatus.OPEN


@pytest.mark.parametrize(
    ("fields", "module", "name", "bug"),
    [
        (MINUTE, notice_clock, "status_at", _open_at_the_end),
        (DAY, outcomes, "closes_at", lambda closing_at, precision: closing_at),
    ],
    ids=["late", "early"],
)
async def test_a_planted_closing_that_is_late_or_early_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, str],
    module: Any,
    name: str,
    bug: Any,
) -> None:
    plant(monkeypatch, module, name, bug)

    assert await seen_around(api, host, clock, fields) != BOUNDARY


@pytest.mark.rule("OPP-12", "OPP-13")
async def test_a_sandbox_closes_a_shared_tender_for_itself_alone(
    api: httpx2.AsyncClient, host: Host, clock: Time
) -> None:
    clock.set(BEFORE)
    tender = await factory.tender(host, closing_at=BEFORE + timedelta(hours=1))
    ahead = await people.member(host, uuid4(), role="owner", sandbox=True)
    other = await people.member(host, uuid4(), role="owner")
    work = people.working(host, ahead.organization_id)
    await memberships.move_clock(work, ahead.organization_id, ahead=timedelta(days=1), sequence=1)
    await work.finish()

    seen = {}
    for name, who in (("sandbox", ahead), ("others", other)):
        answer = await api.get(f"/opportunities/{tender.id}", headers=who.acting)
        seen[name] = answer.json()["status"]
    before = await swept(host, tender)
    clock.set(BEFORE + timedelta(hours=1))
    after = [await swept(host, tender) for _ in range(3)]

    print(f"{seen} closed_events={before}->{after[-1]}")
    assert seen == {"sandbox": "closed", "others": "open"}
    assert (before, after) == (0, [1, 1, 1])


async def swept(host: Host, tender: TenderOpportunity) -> int:
    """Look at the tender by the platform's clock, as its job does; how often its end was told."""
    work = factory.working(host)
    await amendments.move_by_time(work, tender.id)
    await work.finish()
    return len(await told(host, tender.id, "TenderOpportunityClosed"))
