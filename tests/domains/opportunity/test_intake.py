"""Feeds read by windows: complete, polite, repeatable, and in spite of workers that stop."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from tests.domains.opportunity.test_releases import CAPTURED
from tests.factories.opportunity_sources import NOON, TODAY, Desk, releases_on
from tests.providers.etenders import Etenders
from tests.suites.sizes import size

from thenga.domains.opportunity.adapters.feeds import EtendersFeed, Feeds
from thenga.domains.opportunity.services import sources
from thenga.domains.opportunity.tables import Document, SourceRecord, TenderOpportunity
from thenga.kernel.host import Host

WEEK = {TODAY - timedelta(days=6 + day): size(12, 45) for day in range(6)} | {
    TODAY - timedelta(days=12): size(60, 74)
}
ALL = sum(WEEK.values())  # 344 in `make prove`, as za-facts 1.3 measured it


@pytest.mark.rule("OPP-2", "OPP-3", "OPP-1")
async def test_unstable_feed_is_read_whole_then_unchanged(feed: Etenders, desk: Desk) -> None:
    feed.publish(*releases_on(WEEK))
    feed.unstable = True
    source = await desk.active(settings={"pageSize": 50, "trailDays": 14})
    feed.asked.clear()

    run = await desk.run(source["id"], mode="trail", minutes=10)

    tenders = await desk.all(TenderOpportunity)
    doubled = len(tenders) - len({tender.ocid for tender in tenders})
    told = await desk.events("TenderOpportunityPublished")
    doubled += len(told) - len(tenders)
    counts = run["counts"]
    print(
        f"distinct={counts['distinct']}/{ALL} max_in_flight={feed.most_in_flight} "
        f"min_gap_ms={feed.least_gap_ms} doubled={doubled}"
    )
    assert (run["status"], counts["distinct"], len(tenders)) == ("succeeded", ALL, ALL)
    assert (feed.most_in_flight, doubled) == (1, 0)
    assert feed.least_gap_ms >= 1000

    again = await desk.run(source["id"], mode="trail", minutes=10)

    print(f"unchanged={again['counts']['unchanged']}")
    assert again["counts"]["unchanged"] == ALL
    assert again["counts"]["created"] == again["counts"]["amended"] == 0
    assert len(await desk.events("TenderOpportunityPublished")) == len(told)
    assert await desk.events("TenderOpportunityAmended") == []


class Killed(BaseException):
    """The worker is gone."""


class Stopping(EtendersFeed):
    """Answers each page, and the worker that asked for it the first time dies with the answer."""

    asked: set[Any]

    async def page(self, feed: Any, window: Any, number: int) -> Any:
        found = await super().page(feed, window, number)
        if (window, number) not in self.asked:
            self.asked.add((window, number))
            raise Killed
        return found


@pytest.mark.rule("OPP-3")
async def test_run_continues_after_its_worker_died_at_each_page(
    feed: Etenders, desk: Desk, host: Host
) -> None:
    days = {TODAY - timedelta(days=6): 74, TODAY - timedelta(days=8): 20}
    feed.publish(*releases_on(days))
    feed.unstable = True
    source = await desk.active(settings={"pageSize": 50, "trailDays": 14}, cadence="PT12H")
    stopping = Stopping(host)
    stopping.asked = set()
    desk.timeline.adapters = {Feeds: type("Dying", (), {"of": lambda self, kind: stopping})()}
    feed.asked.clear()

    assert (await desk.start(source["id"], mode="trail")).status_code == 202
    end, kills = NOON + timedelta(hours=3), 0
    while True:
        try:
            await desk.timeline.until(end)
            break
        except Killed:
            kills += 1

    run = (await desk.get(source["id"]))["recentRuns"]
    trail = next(one for one in run if one["mode"] == "trail")
    tenders = await desk.all(TenderOpportunity)
    told = await desk.events("TenderOpportunityPublished")
    doubled = len(tenders) - len({one.ocid for one in tenders}) + len(told) - len(tenders)
    print(
        f"kills={kills} distinct={trail['counts']['distinct']}/94 "
        f"max_in_flight={feed.most_in_flight} min_gap_ms={feed.least_gap_ms} doubled={doubled}"
    )
    assert kills >= 5
    assert (trail["status"], trail["counts"]["distinct"], len(tenders)) == ("succeeded", 94, 94)
    assert (feed.most_in_flight, doubled) == (1, 0)
    assert feed.least_gap_ms >= 1000


@pytest.mark.rule("OPP-5", "OPP-7")
async def test_captured_release_is_ingested_and_kept_as_it_came(
    feed: Etenders, desk: Desk, host: Host
) -> None:
    release = CAPTURED | {"date": f"{TODAY.isoformat()}T00:00:00Z"}
    feed.publish(release)

    await desk.active()

    (tender,) = await desk.all(TenderOpportunity)
    assert (tender.tender_number, tender.value_minor) == ("ZNTM01266W", None)
    assert f"{tender.closing_at:%Y-%m-%dT%H:%M:%SZ}" == "2026-09-16T09:00:00Z"
    assert (tender.provinces, tender.closing_confidence) == (["KZN"], "derived")
    (record,) = await desk.all(SourceRecord)
    raw = await sources.raw_bytes(host.files, record)
    assert orjson.loads(raw) == release
    assert raw in feed.last_sent
    assert {"sast_relocalised", "number_in_title"} <= {line["code"] for line in record.report}
    assert len(await desk.all(Document)) == 1
