"""Sources: rejected records, waiting, health, uploads, the sample and the plan limit."""

from datetime import date, timedelta

import pytest
from tests.factories.opportunity_sources import NOON, TODAY, Desk, releases_on
from tests.providers.etenders import Etenders
from tests.suites.sizes import size
from tests.timeline import Timeline

from thenga import topology
from thenga.domains.opportunity.services import sources
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.host import Host
from thenga.tooling.dev.sample_tenders import sample_releases


@pytest.mark.rule("OPP-8")
async def test_malformed_records_are_rejected_and_many_fail_the_run(
    feed: Etenders, desk: Desk
) -> None:
    feed.publish(*releases_on({TODAY - timedelta(days=9): 100}))
    ocids = list(feed.releases)
    source = await desk.active(settings={"trailDays": 14})
    feed.broken = tuple(ocids[:25])

    run = await desk.run(source["id"], mode="trail")

    assert (run["status"], run["errorCode"]) == ("failed", "shape_changed")
    assert await desk.all(TenderOpportunity) == []
    assert (await desk.get(source["id"]))["health"] == "failing"

    feed.broken = tuple(ocids[:3])
    run = await desk.run(source["id"], mode="trail")

    print(f"applied={run['counts']['created']} rejected={run['counts']['rejected']}")
    assert (run["status"], run["counts"]["created"], run["counts"]["rejected"]) == (
        *("partial", 97),
        3,
    )
    assert all(one["pointer"].endswith("/tender/status") for one in run["rejects"])


@pytest.mark.rule("OPP-1")
async def test_one_run_at_a_time_and_retry_after_is_obeyed(feed: Etenders, desk: Desk) -> None:
    source = await desk.active()
    feed.retry_after = "120"
    assert (await desk.start(source["id"], mode="trail")).status_code == 202
    second = await desk.start(source["id"], mode="poll")
    assert (second.status_code, second.json()["code"]) == (409, "opportunity-run-in-progress")
    feed.asked.clear()

    await desk.after(timedelta(seconds=1))
    feed.retry_after = None
    await desk.after(timedelta(minutes=10))

    first, then = feed.asked[0][0], feed.asked[1][0]
    print(f"retry_gap_s={(then - first).total_seconds():.0f}")
    assert then - first >= timedelta(seconds=120)
    wide = await desk.start(
        *(source["id"],), **{"mode": "backfill", "from": "2024-01-01", "to": "2026-11-01"}
    )
    assert wide.json()["code"] == "opportunity-window-too-wide"


@pytest.mark.rule("OPP-9")
async def test_dead_feed_is_late_then_failing_and_well_again(feed: Etenders, desk: Desk) -> None:
    feed.publish(*releases_on({TODAY: 3}))
    source = await desk.active()
    last = (await desk.get(source["id"]))["freshness"]["lastSuccessAt"]
    before = len(await desk.all(TenderOpportunity))
    feed.dead = True

    since = NOON.fromisoformat(last)
    await desk.timeline.until(since + timedelta(minutes=45))
    assert (await desk.get(source["id"]))["health"] == "ok"
    desk.clock.set(since + timedelta(minutes=45, seconds=1))
    assert (await desk.get(source["id"]))["health"] == "late"
    await desk.timeline.until(since + timedelta(hours=8))
    assert (await desk.get(source["id"]))["health"] == "failing"
    feed.dead = False
    await desk.timeline.until(since + timedelta(hours=10))

    assert (await desk.get(source["id"]))["health"] == "ok"
    told = [event["toHealth"] for event in await desk.events("SourceHealthChanged")]
    print(f"health={told}")
    assert told == ["ok", "late", "failing", "ok"]
    assert len(await desk.all(TenderOpportunity)) == before == 3


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
    assert len(loaded) == len(releases)


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
