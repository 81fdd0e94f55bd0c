"""What expires: windows told once each, also after a jump of the clock, and the list."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.compliance_readiness import Prover
from tests.planting import plant
from tests.timeline import Timeline
from thenga import topology
from thenga.domains.compliance.services.expiry import listing, telling
from thenga.domains.compliance.tables import Document
from thenga.kernel.process.host import Host

NOW = datetime(2026, 9, 1, 8, tzinfo=UTC)
LAST = datetime(2026, 12, 31, tzinfo=UTC).date()


class Shelf(Prover):
    """A company with one certificate that is good to 31 December."""

    def __init__(self, api: httpx2.AsyncClient, host: Host, clock: Time) -> None:
        super().__init__(host, uuid4())
        self.api, self.clock = api, clock
        domains = topology.load(["compliance"])
        self.timeline = Timeline(host, clock, domains, self.organization_id)

    async def fill(self) -> None:
        work = self.work()
        row = await self._requirement(work, "cidb_registration", [{"kind": "organization"}])
        made = await self.prove(work, row.id, "cidb_certificate", ends=LAST)
        await work.finish()
        assert made.document_id is not None
        self.document_id = made.document_id

    async def entries(self, **query: Any) -> list[Any]:
        """The list as somebody sees it who has just signed in; sessions do not last for months."""
        who = await people.member(self.host, self.organization_id, role="compliance_officer")
        query["organizationId"] = str(self.organization_id)
        answer = await self.api.get("/compliance/expiry", params=query, headers=who.acting)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["items"])

    async def told(self) -> list[tuple[str, Any, Any]]:
        """Name, window and lateness of what was told of the certificate, in order."""
        text = (
            "SELECT mesh_subject, envelope::jsonb->'data' AS data FROM compliance.outbox "
            "WHERE organization_id = $1 AND mesh_subject LIKE 'thenga.compliance.DocumentExpir%' "
            "ORDER BY position"
        )
        async with self.host.engines.connection("compliance", "compliance_system") as link:
            found = await link.fetch(text, self.organization_id)
        return [
            (row[0].split(".")[2], row["data"].get("window"), row["data"]["late"]) for row in found
        ]


@pytest.fixture
async def shelf(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time) -> Shelf:
    clock.set(NOW)
    made = Shelf(api, host, clock)
    await made.fill()
    return made


@pytest.mark.rule("CMP-25")
async def test_a_jump_of_400_days_tells_each_window_once(shelf: Shelf) -> None:
    shelf.clock.set(NOW + timedelta(days=400))

    listed = await shelf.entries()
    await shelf.timeline.settle()
    await shelf.timeline.settle()

    told = await shelf.told()
    print(f"expiry_events={len(told)} doubled={len(told) - len(set(told))}")
    assert [one["state"] for one in listed if one["kind"] == "document"] == ["expired"]
    assert told == [
        *(("DocumentExpiring", window, True) for window in (90, 60, 30, 14, 7)),
        ("DocumentExpired", None, True),
    ]


@pytest.mark.rule("CMP-25")
async def test_each_window_is_told_on_its_day(shelf: Shelf) -> None:
    await shelf.timeline.until(datetime(2026, 10, 1, 21, 59, tzinfo=UTC))
    assert await shelf.told() == []

    await shelf.timeline.until(datetime(2026, 10, 1, 22, 1, tzinfo=UTC))
    assert await shelf.told() == [("DocumentExpiring", 90, False)]

    await shelf.timeline.until(datetime(2027, 1, 1, 8, tzinfo=UTC))
    found = await shelf.told()
    assert [window for _, window, _ in found] == [90, 60, 30, 14, 7, None]
    assert not any(is_late for _, _, is_late in found)


BY_MOMENT = {
    "2026-10-01T12:00": ("valid", 91),
    "2026-10-02T12:00": ("expiring", 90),
    "2026-12-31T21:59": ("expiring", 0),
    "2026-12-31T22:00": ("expired", -1),
}


async def listed_before_any_sweep(shelf: Shelf) -> dict[str, tuple[str, int]]:
    """State and days left in the list, at moments at which no job has looked."""
    states = {}
    for moment in BY_MOMENT:
        shelf.clock.set(datetime.fromisoformat(f"{moment}:00+00:00"))
        (entry,) = [one for one in await shelf.entries() if one["kind"] == "document"]
        states[moment] = (entry["state"], entry["daysLeft"])
        assert entry["requirementCodes"] == ["cidb_registration"]
    return states


@pytest.mark.rule("CMP-24")
@pytest.mark.rule("CMP-25")
async def test_the_list_is_right_before_any_sweep(shelf: Shelf) -> None:
    assert await listed_before_any_sweep(shelf) == BY_MOMENT


async def test_a_planted_day_of_greenwich_is_found(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "local_day", lambda at, *_: at.astimezone(UTC).date())

    found = await listed_before_any_sweep(shelf)

    assert found["2026-12-31T22:00"] == ("expiring", 0)


@pytest.mark.rule("CMP-25")
async def test_a_renewal_in_progress_is_still_expired_after_the_day(shelf: Shelf) -> None:
    work = shelf.work()
    paper = await work.lock(Document, shelf.document_id)
    paper.renewal_expected_on = LAST - timedelta(days=3)
    await work.save(paper)
    await work.finish()

    found = {}
    for day in ("2026-12-20", "2026-12-30", "2027-01-01"):
        shelf.clock.set(datetime.fromisoformat(f"{day}T08:00:00+00:00"))
        found[day] = [one["state"] for one in await shelf.entries() if one["kind"] == "document"]
        (state,) = found[day]
        assert [one["state"] for one in await shelf.entries(state=state)] == [state]

    assert found == {
        "2026-12-20": ["renewal_in_progress"],
        "2026-12-30": ["renewal_late"],
        "2027-01-01": ["expired"],
    }


async def test_windows_told_twice_are_caught(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    async def forgets(*_: object) -> list[int]:
        return []

    plant(monkeypatch, telling, "_told", forgets)
    shelf.clock.set(NOW + timedelta(days=400))
    await shelf.timeline.settle()
    work = shelf.work()
    with pytest.raises(Exception, match="unique"):
        await telling.tell_due(work, shelf.document_id)
    await work.close()
