"""Records that cannot be applied: the rest of their page is, and every run ends."""

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import obstore
import pytest
from sqlalchemy import select
from tests.factories import identity as people
from tests.factories.opportunity import fields
from tests.factories.opportunity_sources import NOON, TODAY, Desk, releases_on, working
from tests.planting import plant
from tests.providers.etenders import Etenders
from tests.timeline import Clock, Timeline

from thenga import topology
from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.services.sources import applying
from thenga.domains.opportunity.tables import TenderOpportunity, TenderStatus
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host

AWARD = {"id": "1", "status": "active", "suppliers": [{"name": "Thandi Civils"}]}


def release(status: str = "active", **given: Any) -> dict[str, Any]:
    """A release of its own, of a tender that closes in a month."""
    made = releases_on({TODAY: 1})[0]
    number = uuid4().hex[:12]
    period = {"startDate": "2026-11-16T00:00:00Z", "endDate": "2026-12-16T11:00:00Z"}
    tender = made["tender"] | {"id": number, "title": number, "status": status}
    tender |= {"tenderPeriod": period, "documents": []} | given.pop("tender", {})
    return made | {"ocid": f"ocds-9t57fa-{number}", "tender": tender, "awards": []} | given


@dataclass
class Portal:
    """The platform's shared source, to which staff send releases."""

    host: Host
    api: httpx2.AsyncClient
    clock: Clock
    source_id: str = field(default="", init=False)

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        staff = await people.staff(self.host, "platform_operator")
        return await self.api.request(method, path, json=body, headers=staff.headers)

    async def open(self) -> None:
        made = await self.call(
            "POST",
            "/opportunity/sources",
            {
                "name": f"National notices {uuid4().hex[:8]}",
                "kind": "ocds_upload",
                "visibility": "shared",
                "licence": "ODC PDDL",
                "attribution": "National Treasury eTenders",
            },
        )
        assert made.status_code == 201, made.text
        self.source_id = made.json()["id"]
        path = f"/opportunity/sources/{self.source_id}"
        assert (await self.call("PATCH", path, {"move": "activate"})).status_code == 200

    async def read(self, *releases: dict[str, Any]) -> dict[str, Any]:
        """Upload releases as one page, have the worker apply them, and show the run."""
        path = f"/opportunity/sources/{self.source_id}"
        body = {"mode": "upload", "releases": list(releases)}
        started = await self.call("POST", f"{path}/runs", body)
        assert started.status_code == 202, started.text
        domains = topology.load(["opportunity"])
        await Timeline(self.host, self.clock, domains, OPERATOR).work_off()
        shown = await self.call("GET", path)
        found: dict[str, Any] = shown.json()["recentRuns"][0]
        return found

    async def tenders(self, *releases: dict[str, Any]) -> list[TenderOpportunity | None]:
        """The platform's tenders of these releases."""
        work = working(self.host, OPERATOR)
        table = TenderOpportunity
        mine = select(table).where(table.organization_id == OPERATOR)
        try:
            found = {
                tender.ocid: tender
                for each in releases
                for tender in await work.all(mine.where(table.ocid == each["ocid"]))
            }
        finally:
            await work.close()
        return [found.get(each["ocid"]) for each in releases]


@pytest.fixture
async def portal(host: Host, api: httpx2.AsyncClient, seeded: None, clock: Clock) -> Portal:
    clock.set(NOON)
    made = Portal(host, api, clock)
    await made.open()
    return made


async def shared_by_another_keeper(host: Host, ocid: str) -> None:
    """A shared tender of an organization, from before only the platform could share."""
    keeper: UUID = uuid4()
    work = working(host, keeper)
    columns = fields(ocid=ocid, visibility="shared")
    tender = await work.hold(await work.add(notices.new_tender(keeper, columns)))
    tender.status = TenderStatus.OPEN
    await notices.bring_out(work, tender, basis="captured")
    await work.finish()


def broken_releases() -> dict[str, dict[str, Any]]:
    """Releases that no rule of the intake expects, by the pointer of their reject."""
    letters = random.Random(7)  # no secret
    address = "https://files.test/" + "".join(
        chr(letters.randrange(0x4E00, 0x9FFF)) for _ in range(1900)
    )
    return {
        "award status": release(awards=[AWARD | {"status": {"code": "active"}}]),
        "amount": release(tender={"value": {"amount": "1e999999", "currency": "ZAR"}}),
        "long address": release(tender={"documents": [{"id": "1", "url": address}]}),
    }


@pytest.mark.rule("OPP-50", "OPP-8")
async def test_taken_ocid_and_broken_records_stop_no_other(portal: Portal, host: Host) -> None:
    first, taken, last = release(), release(), release()
    broken = broken_releases()
    await shared_by_another_keeper(host, taken["ocid"])

    run = await portal.read(first, taken, *broken.values(), last)
    again = await portal.read(first, taken, last)

    assert (run["status"], run["errorCode"]) == ("partial", None)
    expected = {"seen": 6, "created": 2, "rejected": 3, "conflicts": 1}
    assert {name: run["counts"][name] for name in expected} == expected
    assert [(one["pointer"], one["code"]) for one in run["rejects"]] == [
        ("/releases/1/ocid", "ocid_taken"),
        ("/releases/2", "unreadable"),
        ("/releases/3/tender/value/amount", "amount_unreadable"),
        ("/releases/4", "not_applied"),
    ]
    assert run["rejects"][0]["sourceKey"] == taken["ocid"]
    assert None not in await portal.tenders(first, last)
    assert (again["counts"]["unchanged"], again["counts"]["conflicts"]) == (2, 1)


async def test_planted_page_that_fails_whole_is_found(
    portal: Portal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, applying, "_attempt", applying._apply)

    run = await portal.read(release(), broken_releases()["long address"])

    assert (run["status"], run["counts"]["created"]) == ("failed", 0)  # one, were it right


PLANNED = {"tenderPeriod": {"startDate": "2026-12-01T00:00:00Z", "endDate": "2026-12-16T11:00:00Z"}}


@pytest.mark.rule("OPP-13")
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("planned", PLANNED), "unsuccessful", ("unsuccessful", False)),
        (("active", {}), "unsuccessful", ("unsuccessful", False)),
        (("planned", PLANNED), "complete", ("awarded", False)),
        (("planned", PLANNED), "cancelled", ("cancelled", False)),
        (("cancelled", {}), "complete", ("cancelled", True)),
        (("withdrawn", {}), "complete", ("withdrawn", True)),
        (("withdrawn", {}), "unsuccessful", ("withdrawn", True)),
        (("unsuccessful", {}), "complete", ("awarded", False)),
    ],
)
async def test_source_may_state_an_end_in_any_order(
    portal: Portal, before: tuple[str, dict[str, Any]], after: str, expected: tuple[str, bool]
) -> None:
    status, dates = before
    earlier, beside = release(status, tender=dates), release()
    later = earlier | {"awards": [AWARD], "tender": earlier["tender"] | {"status": after}}

    await portal.read(earlier)
    run = await portal.read(later, beside)

    assert (run["status"], run["counts"]["created"]) == ("succeeded", 1)
    (found,) = await portal.tenders(later)
    assert found is not None
    assert (found.status.value, "status_contradicted" in found.doubts) == expected


async def stored_pages(host: Host, organization_id: UUID) -> int:
    """How many pages the file store has of an organization."""
    found = obstore.list(host.files._store(), prefix=f"opportunity/raw/{organization_id}")
    return sum([len(batch) async for batch in found])


@pytest.mark.rule("OPP-5", "OPP-50")
async def test_page_that_brings_no_record_is_not_stored(
    feed: Etenders, desk: Desk, host: Host
) -> None:
    today = {"date": f"{TODAY.isoformat()}T00:00:00Z"}
    feed.publish(broken_releases()["long address"] | today)
    source = await desk.active()

    before = await stored_pages(host, desk.organization_id)
    feed.publish(release() | today)
    runs = [await desk.run(source["id"], mode="trail") for _ in range(3)]
    after = await stored_pages(host, desk.organization_id)

    counts = [(run["counts"]["created"], run["counts"]["rejected"]) for run in runs]
    print(f"stored_before={before} stored_after={after} counts={counts}")
    assert counts == [(1, 1), (0, 1), (0, 1)]
    assert (before, after) == (0, 1)


async def test_upload_that_brings_no_record_is_not_stored(portal: Portal, host: Host) -> None:
    broken, before = broken_releases()["long address"], await stored_pages(host, OPERATOR)

    runs = [await portal.read(broken) for _ in range(2)]

    assert [run["counts"]["rejected"] for run in runs] == [1, 1]
    assert await stored_pages(host, OPERATOR) == before


@pytest.mark.rule("OPP-50")
async def test_run_ends_when_its_page_cannot_be_applied(
    feed: Etenders, desk: Desk, portal: Portal, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await desk.active(cadence="PT12H")
    feed.publish(*releases_on({TODAY: 3}))
    right = applying.apply_records

    async def defective(*_: object) -> None:
        raise KeyError("domain")

    plant(monkeypatch, applying, "apply_records", defective)
    upload = await portal.read(release())
    run = await desk.run(source["id"], mode="trail", minutes=120)
    health = await desk.get(source["id"])
    plant(monkeypatch, applying, "apply_records", right)
    await desk.after(timedelta(hours=1))
    mended = await desk.run(source["id"], mode="trail")

    assert (upload["status"], upload["errorCode"]) == ("failed", "internal_error")
    assert (run["status"], run["errorCode"]) == ("failed", "internal_error")
    assert health["currentRun"] is None
    assert (mended["status"], mended["counts"]["created"]) == ("succeeded", 3)
