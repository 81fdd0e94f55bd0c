"""An amendment and all that it touches, under one cause; numbers without gaps; search of many."""

import asyncio
import json
import time
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
from sqlalchemy import select
from tests.factories import identity as people
from tests.factories import opportunity as factory
from tests.settling import Settle

from thenga.domains.opportunity.services import amendments, notices
from thenga.domains.opportunity.tables import Amendment, RippleEntry, TenderOpportunity
from thenga.kernel.host import Host

_OUTBOX = """
    SELECT envelope FROM opportunity.outbox
    WHERE envelope::jsonb -> 'data' ->> 'tenderOpportunityId' = $1 ORDER BY position
"""


async def told(host: Host, tender_id: UUID) -> list[dict[str, Any]]:
    """Every event about a tender, in order."""
    async with host.engines.connection("opportunity", "opportunity_system") as connection:
        return [
            json.loads(one["envelope"]) for one in await connection.fetch(_OUTBOX, str(tender_id))
        ]


async def amend(host: Host, tender_id: UUID, **fields: Any) -> None:
    work = factory.working(host)
    held = await notices.keep(work, tender_id)
    for name, value in fields.items():
        setattr(held, name, value)
    await amendments.amend(work, held, origin="source_diff")
    await work.finish()


async def test_a_moved_closing_moves_own_deadlines_under_one_cause(
    api: httpx2.AsyncClient, host: Host, settle: Settle
) -> None:
    owner = await people.member(host, uuid4(), role="owner")
    tender = await factory.tender(host)
    path = f"/opportunities/{tender.id}"
    own = await api.post(
        f"{path}/deadlines",
        json={"kind": "clarification", "rule": {"before": "closing", "calendarDays": 5}},
        headers=owner.headers,
    )
    assert own.status_code == 201, own.text

    await amend(host, tender.id, closing_at=factory.CLOSING + timedelta(days=2))

    async def rippled() -> Any:
        listed = await api.get(f"{path}/amendments", headers=owner.headers)
        (amendment,) = listed.json()["items"]
        return amendment if amendment["ripple"]["entries"] else None

    amendment = await settle(rippled)
    entries = amendment["ripple"]["entries"]
    moved = (
        await api.get(own.headers["Location"].removeprefix("/v1"), headers=owner.headers)
    ).json()
    events = await told(host, tender.id)
    (cause,) = [one for one in events if "OpportunityAmended" in one["type"]]
    mine = [one for one in events if one.get("organizationid") == str(owner.organization_id)]
    caused = [one for one in mine if "DeadlineChanged" in one["type"]]
    doubled = len(entries) - len({one["reference"] for one in entries})
    print(f"ripple_entries={len(entries)} doubled={doubled}")
    assert amendment["number"] == 1
    assert amendment["material"] is True
    assert [one["effect"] for one in entries] == ["deadline_moved"]
    assert entries[0]["eventId"] == cause["id"] == caused[-1]["causationid"]
    assert moved["movedFrom"] == [own.json()["dueAt"]]
    assert "organizationid" not in cause


async def test_numbers_have_no_hole_under_parallel_changes(host: Host) -> None:
    tender = await factory.tender(host)

    await asyncio.gather(
        *(amend(host, tender.id, title=f"Construction of hall {n}") for n in range(50))
    )

    read = factory.working(host)
    numbers = await read.values(
        select(Amendment.number)
        .where(Amendment.tender_opportunity_id == tender.id)
        .order_by(Amendment.number)
    )
    await read.close()
    print(f"numbers={len(numbers)} holes={numbers != list(range(1, len(numbers) + 1))}")
    assert numbers == list(range(1, 51))


async def test_a_page_walk_misses_nothing_while_rows_are_added(
    api: httpx2.AsyncClient, host: Host
) -> None:
    owner = await people.member(host, uuid4(), role="owner")
    word = f"zulu{uuid4().hex[:8]}"
    made = {
        str((await factory.tender(host, owner.organization_id, title=f"Hall {word} {n}")).id)
        for n in range(12)
    }
    seen: list[str] = []
    took: list[float] = []
    path: str | None = f"/opportunities?q={word}&limit=3"
    while path is not None:
        began = time.perf_counter()
        answer = await api.get(path, headers=owner.headers)
        took.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, answer.text
        seen += [one["id"] for one in answer.json()["items"]]
        cursor = answer.json()["nextCursor"]
        path = None if cursor is None else f"/opportunities?q={word}&limit=3&cursor={cursor}"
        await factory.tender(
            host,
            owner.organization_id,
            title=f"Hall {word} new",
            closing_at=factory.CLOSING - timedelta(days=30),
        )
    print(
        f"missed={len(made - set(seen))} repeated={len(seen) - len(set(seen))} "
        f"search_ms max={max(took):.0f}"
    )
    assert made <= set(seen)
    assert len(seen) == len(set(seen))


async def test_a_sandbox_reads_shared_tenders_by_its_own_clock(host: Host) -> None:
    tender = await factory.tender(host)
    ahead = factory.CLOSING - factory.working(host).now + timedelta(seconds=1)
    read = factory.working(host, uuid4())
    seen = await read.get(TenderOpportunity, tender.id)
    by_base = notices.status_at(seen, read.now)
    by_sandbox = notices.status_at(seen, read.now_in(ahead))
    await read.close()

    assert (str(by_base), str(by_sandbox)) == ("open", "closed")
    assert RippleEntry.__table__.name == "ripple_entry"
