"""Feeds read by windows: complete, polite, repeatable, and in spite of workers that stop."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Self

import orjson
import pytest
from tests.domains.opportunity.test_releases import CAPTURED
from tests.factories.opportunity_sources import NOON, TODAY, Desk, releases_on
from tests.planting import plant
from tests.providers.etenders import Etenders
from tests.suites.sizes import size

from thenga.domains.opportunity.adapters.feeds import EtendersFeed, Feeds
from thenga.domains.opportunity.services import sources
from thenga.domains.opportunity.services.amendments import intake
from thenga.domains.opportunity.services.sources import runs
from thenga.domains.opportunity.services.sources.walking import Walk
from thenga.domains.opportunity.settings import Fetching
from thenga.domains.opportunity.tables import (
    Document,
    SourceRecord,
    TenderOpportunity,
    TenderVersion,
)
from thenga.kernel.process.host import Host

WEEK = {TODAY - timedelta(days=6 + day): size(4, 45) for day in range(6)} | {
    TODAY - timedelta(days=12): size(55, 74)
}
ALL = sum(WEEK.values())  # 344 in `make prove`: a week of eTenders in August 2026
# A worker that dies at each page reads the same in `make prove`.
KILLED = WEEK if size(0, 1) else {TODAY - timedelta(days=6): 55, TODAY - timedelta(days=8): 5}


@dataclass(frozen=True)
class Walked:
    """What became of a trail over an unstable feed."""

    status: str
    distinct: int
    tenders: int
    doubled: int
    max_in_flight: int
    min_gap_ms: int

    @classmethod
    async def of(cls, feed: Etenders, desk: Desk, run: dict[str, Any]) -> Self:
        tenders = await desk.all(TenderOpportunity)
        told = await desk.events("TenderOpportunityPublished")
        doubled = len(tenders) - len({one.ocid for one in tenders}) + len(told) - len(tenders)
        distinct = run["counts"]["distinct"]
        gap = feed.least_gap_ms
        return cls(run["status"], distinct, len(tenders), doubled, feed.most_in_flight, gap)

    def is_whole(self, count: int) -> bool:
        """Whether so many tenders came, each once, and politely; prints the figures."""
        print(
            f"distinct={self.distinct}/{count} max_in_flight={self.max_in_flight} "
            f"min_gap_ms={self.min_gap_ms} doubled={self.doubled}"
        )
        counted = (self.status, self.distinct, self.tenders) == ("succeeded", count, count)
        is_polite = self.max_in_flight == 1 and self.min_gap_ms >= 1000
        return counted and not self.doubled and is_polite


async def unstable(feed: Etenders, desk: Desk, days: dict[date, int], **fields: Any) -> Any:
    """A source whose feed shows other rows on every page."""
    feed.publish(*releases_on(days))
    feed.unstable = True
    source = await desk.active(settings={"pageSize": 50, "trailDays": 14}, **fields)
    feed.asked.clear()
    return source


async def trailed(feed: Etenders, desk: Desk, days: dict[date, int]) -> tuple[Any, Walked]:
    """One trail over an unstable feed: its source and what came of it."""
    source = await unstable(feed, desk, days)
    run = await desk.run(source["id"], mode="trail", minutes=10)
    return source, await Walked.of(feed, desk, run)


@pytest.mark.rule("OPP-2", "OPP-3", "OPP-1")
async def test_unstable_feed_is_read_whole_then_unchanged(feed: Etenders, desk: Desk) -> None:
    source, walked = await trailed(feed, desk, WEEK)
    versions = len(await desk.all(TenderVersion))

    again = await desk.run(source["id"], mode="trail", minutes=10)

    print(f"unchanged={again['counts']['unchanged']}")
    assert walked.is_whole(ALL)
    assert again["counts"]["unchanged"] == ALL
    assert again["counts"]["created"] == again["counts"]["amended"] == 0
    assert len(await desk.all(TenderVersion)) == versions == ALL
    assert len(await desk.events("TenderOpportunityPublished")) == ALL
    assert await desk.events("TenderOpportunityAmended") == []


FULL_DAY = {TODAY - timedelta(days=12): 55}
TWO_WEEKS = {TODAY - timedelta(days=12): 3, TODAY - timedelta(days=5): 2}


async def test_a_planted_walk_that_believes_a_page_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Walk, "after", lambda walk, *_, **__: Walk(walk.waiting[1:]))

    _, walked = await trailed(feed, desk, FULL_DAY)

    assert not walked.is_whole(55)
    assert walked.distinct == 50  # one page of the day


async def test_a_planted_host_that_is_free_at_once_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = Fetching.model_construct(
        min_interval_ms=0, breaker_failures=5, breaker_minutes=30
    )  # the slot is kept by the run, so nothing else holds it back

    async def no_wait(*_: object) -> Fetching:
        return hasty

    monkeypatch.setattr(runs, "value", no_wait)

    _, walked = await trailed(feed, desk, TWO_WEEKS)

    assert (walked.is_whole(5), walked.distinct) == (False, 5)


async def read_again(feed: Etenders, desk: Desk) -> tuple[int, int, int]:
    """Three tenders whose texts change at the source: how many there are, new and amended."""
    source, _ = await trailed(feed, desk, {TODAY - timedelta(days=12): 3})
    for one in list(feed.releases.values()):
        tender = one["tender"] | {"description": "Repair of bridge 7 over the river"}
        feed.publish(one | {"tender": tender})
    counts = (await desk.run(source["id"], mode="trail", minutes=10))["counts"]
    return len(await desk.all(TenderOpportunity)), counts["created"], counts["amended"]


@pytest.mark.rule("OPP-5", "OPP-44")
async def test_a_changed_record_amends_its_tender(feed: Etenders, desk: Desk) -> None:
    assert await read_again(feed, desk) == (3, 0, 3)


async def test_a_planted_record_that_is_always_new_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None:
        return None

    plant(monkeypatch, intake, "_find", nothing)

    assert await read_again(feed, desk) == (6, 3, 0)


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
    source = await unstable(feed, desk, KILLED, cadence="PT12H")
    stopping = Stopping(host)
    stopping.asked = set()
    desk.timeline.adapters = {Feeds: type("Dying", (), {"of": lambda self, kind: stopping})()}

    assert (await desk.start(source["id"], mode="trail")).status_code == 202
    end, kills = NOON + timedelta(hours=3), 0
    while True:
        try:
            await desk.timeline.until(end)
            break
        except Killed:
            kills += 1

    shown = (await desk.get(source["id"]))["recentRuns"]
    walked = await Walked.of(feed, desk, next(one for one in shown if one["mode"] == "trail"))
    print(f"kills={kills}")
    assert kills >= 5
    assert walked.is_whole(sum(KILLED.values()))


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
