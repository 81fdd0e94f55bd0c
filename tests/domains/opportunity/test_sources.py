"""Sources: rejected records, waiting, health, uploads, the sample and the plan limit."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from tests.factories.opportunity_sources import TODAY, Desk, releases_on
from tests.planting import plant
from tests.providers.etenders import Etenders
from tests.suites.sizes import size
from tests.timeline import Timeline

from thenga import topology
from thenga.domains.opportunity.services import sources
from thenga.domains.opportunity.services.sources import applying, health, runs
from thenga.domains.opportunity.tables import Source, TenderOpportunity
from thenga.domains.opportunity.values.feeds import FeedFailed
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host
from thenga.sample import Result, load_sample
from thenga.tooling.dev.sample_tenders import COUNT, sample_releases


async def trail_with_broken(
    feed: Etenders, desk: Desk, source: dict[str, Any], count: int
) -> dict[str, Any]:
    """A trail over a hundred records of which so many are malformed."""
    feed.broken = tuple(list(feed.releases)[:count])
    return await desk.run(source["id"], mode="trail")


async def of_a_hundred(feed: Etenders, desk: Desk) -> dict[str, Any]:
    feed.publish(*releases_on({TODAY - timedelta(days=9): 100}))
    return await desk.active(settings={"trailDays": 14})


@pytest.mark.rule("OPP-8")
async def test_malformed_records_are_rejected_and_many_fail_the_run(
    feed: Etenders, desk: Desk
) -> None:
    source = await of_a_hundred(feed, desk)

    run = await trail_with_broken(feed, desk, source, 25)

    print(f"broken=25 applied={run['counts']['created']} status={run['status']}")
    assert (run["status"], run["errorCode"]) == ("failed", "shape_changed")
    assert await desk.all(TenderOpportunity) == []
    assert (await desk.get(source["id"]))["health"] == "failing"

    run = await trail_with_broken(feed, desk, source, 3)

    applied, rejected = run["counts"]["created"], run["counts"]["rejected"]
    print(f"broken=3 applied={applied} rejected={rejected} status={run['status']}")
    assert (run["status"], applied, rejected) == ("partial", 97, 3)
    assert all(one["pointer"].endswith("/tender/status") for one in run["rejects"])


async def test_a_planted_page_of_which_any_part_is_good_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, applying, "is_shape_changed", lambda page: False)

    run = await trail_with_broken(feed, desk, await of_a_hundred(feed, desk), 25)

    assert (run["status"], run["counts"]["created"]) == ("partial", 75)  # none, were it right


async def retry_gap(feed: Etenders, desk: Desk) -> timedelta:
    """How long a feed is left alone that answered 429 with `Retry-After: 120` to a run."""
    feed.asked.clear()
    await desk.after(timedelta(seconds=1))
    feed.retry_after = None
    await desk.after(timedelta(minutes=10))
    gap = feed.asked[1][0] - feed.asked[0][0]
    print(f"retry_gap_s={gap.total_seconds():.0f}")
    return gap


async def refused_source(feed: Etenders, desk: Desk) -> dict[str, Any]:
    """A source whose trail begins while its feed says 429."""
    source = await desk.active()
    feed.retry_after = "120"
    assert (await desk.start(source["id"], mode="trail")).status_code == 202
    return source


@pytest.mark.rule("OPP-1")
async def test_one_run_at_a_time_and_retry_after_is_obeyed(feed: Etenders, desk: Desk) -> None:
    source = await refused_source(feed, desk)
    second = await desk.start(source["id"], mode="poll")
    assert (second.status_code, second.json()["code"]) == (409, "opportunity-run-in-progress")

    assert await retry_gap(feed, desk) >= timedelta(seconds=120)

    wide = await desk.start(
        *(source["id"],), **{"mode": "backfill", "from": "2024-01-01", "to": "2026-11-01"}
    )
    assert wide.json()["code"] == "opportunity-window-too-wide"


async def test_a_planted_ear_deaf_to_retry_after_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = runs.record_failure

    async def deaf(work: Any, run_id: Any, *, fence: int, failed: FeedFailed) -> None:
        await right(work, run_id, fence=fence, failed=FeedFailed(failed.trouble))

    plant(monkeypatch, runs, "record_failure", deaf)

    await refused_source(feed, desk)
    assert await retry_gap(feed, desk) < timedelta(seconds=120)


async def around_45_minutes(feed: Etenders, desk: Desk) -> tuple[datetime, list[str]]:
    """When a feed that is dead from now on answered last; its health 45 min and 1 s later."""
    feed.publish(*releases_on({TODAY: 3}))
    source = await desk.active()
    since = datetime.fromisoformat((await desk.get(source["id"]))["freshness"]["lastSuccessAt"])
    feed.dead = True
    await desk.timeline.until(since + timedelta(minutes=45))
    first = (await desk.get(source["id"]))["health"]
    desk.clock.set(since + timedelta(minutes=45, seconds=1))
    return since, [first, (await desk.get(source["id"]))["health"]]


@pytest.mark.rule("OPP-9")
async def test_dead_feed_is_late_then_failing_and_well_again(feed: Etenders, desk: Desk) -> None:
    since, seen = await around_45_minutes(feed, desk)
    (source,) = await desk.all(Source)
    await desk.timeline.until(since + timedelta(hours=8))
    failing = (await desk.get(str(source.id)))["health"]
    feed.dead = False
    await desk.timeline.until(since + timedelta(hours=10))

    told = [event["toHealth"] for event in await desk.events("SourceHealthChanged")]
    print(f"health={told}")
    assert [*seen, failing] == ["ok", "late", "failing"]
    assert (await desk.get(str(source.id)))["health"] == "ok"
    assert told == ["ok", "late", "failing", "ok"]
    assert len(await desk.all(TenderOpportunity)) == 3


async def test_a_planted_patience_of_four_cadences_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, health, "_CADENCES", 4)

    _, seen = await around_45_minutes(feed, desk)

    assert seen == ["ok", "ok"]


@pytest.mark.rule("OPP-3")
async def test_releases_can_be_uploaded(desk: Desk) -> None:
    source = await desk.source(kind="ocds_upload", address=None)
    await desk.call("PATCH", f"/opportunity/sources/{source['id']}", move="activate")

    releases = releases_on({date(2026, 11, 10): 5})
    run = await desk.run(source["id"], mode="upload", releases=releases)

    assert (run["status"], run["counts"]["created"]) == ("succeeded", 5)
    again = await desk.run(source["id"], mode="upload", releases=releases)
    assert again["counts"]["unchanged"] == 5


async def test_sample_tenders_are_loaded_by_one_command(
    desk: Desk, host: Host, seeded: None
) -> None:
    releases = sample_releases(TODAY, size(40, 240))
    source = await sources.upload_sample(host, releases)

    at_platform = Timeline(host, desk.clock, topology.load(["opportunity"]), OPERATOR)
    await at_platform.work_off()

    shown = await desk.get(str(source.id))
    loaded = await desk.shared_of(source.id)
    print(f"sample={len(loaded)} health={shown['health']}")
    assert shown["health"] == "ok"
    assert {release["ocid"] for release in releases} <= {tender.ocid for tender in loaded}


async def test_sample_says_why_it_cannot_be_searched(desk: Desk, host: Host, seeded: None) -> None:
    at_platform = Timeline(host, desk.clock, topology.load(["opportunity"]), OPERATOR)
    await at_platform.work_off()
    at_once = {"begins_within": timedelta(0), "ends_within": timedelta(0)}

    first, second = [await load_sample(host, **at_once) for _ in range(2)]
    await at_platform.work_off()

    assert first == second == Result("The sample waits for a worker. Start `thenga worker`.", False)
    state = await sources.state_of_sample(host)
    assert (state.status, state.is_unfinished) == ("succeeded", False)
    assert state.tenders >= COUNT


@pytest.mark.rule("OPP-41")
async def test_plan_limits_the_sources_of_a_company(desk: Desk) -> None:
    first = await desk.source(kind="manual", address=None)
    await desk.source(kind="manual", address=None)

    given = {"kind": "manual", "licence": "Public", "attribution": "Bulletin"}
    third = await desk.call("POST", "/opportunity/sources", name="Third", **given)
    again = await desk.call("POST", "/opportunity/sources", name=first["name"], **given)

    assert (third.status_code, third.json()["code"]) == (402, "plan-limit-reached")
    assert (third.json()["used"], third.json()["limit"]) == (2, 2)
    assert again.status_code == 402
    listed = await desk.call("GET", "/opportunity/sources?sort=name&visibility=private")
    assert len(listed.json()["items"]) == 2
    retired = await desk.call("PATCH", f"/opportunity/sources/{first['id']}", move="retire")
    assert retired.json()["status"] == "retired"
    made = await desk.call("POST", "/opportunity/sources", name="Third", **given)
    assert made.status_code == 201
