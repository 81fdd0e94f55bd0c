"""The national portal: a paused source of every installation, and where its documents are."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx2
import pytest
from tests.domains.opportunity.test_releases import CAPTURED
from tests.factories import identity as people
from tests.factories.opportunity_sources import TODAY, Desk, working
from tests.planting import plant
from tests.providers.etenders import FILES, Etenders
from tests.timeline import Timeline

from thenga import topology
from thenga.domains.opportunity.services.documents import documents
from thenga.domains.opportunity.services.sources import portal
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host

PATH = f"/opportunity/sources/{portal.PORTAL_ID}"
HOST = "www.etenders.gov.za"
ADDRESS = "https://ocds-api.etenders.gov.za/api/OCDSReleases"
PDF = (200, "application/pdf", b"%PDF-1.7\n%%EOF\n")


@pytest.fixture(autouse=True)
async def new_installation(host: Host, seeded: None) -> None:
    """The portal as a deployment finds and makes it first, whatever other tests made of it."""
    work = working(host, OPERATOR)
    await work.run(
        "UPDATE opportunity.source SET id = gen_random_uuid(), address = NULL, status = 'retired' "
        "WHERE organization_id = $1 AND (id = $2 OR address = $3)",
        *(OPERATOR, portal.PORTAL_ID, portal.sources.PORTAL_ADDRESS),
    )
    await work.run(
        "UPDATE opportunity.source_state SET id = gen_random_uuid() WHERE id = $1",
        portal.PORTAL_ID,
    )
    await work.finish()
    await portal.seed_portal(host, [])


async def by_staff(desk: Desk, method: str, path: str, **body: Any) -> httpx2.Response:
    who = await people.staff(desk.host, "platform_operator")
    return await desk.api.request(method, path, headers=who.headers, json=body or None)


def published(feed: Etenders, *urls: str) -> None:
    """A notice of today that links to these documents, each of which is there."""
    linked = [{"id": f"d{n}", "title": "Terms", "url": url} for n, url in enumerate(urls)]
    tender = CAPTURED["tender"] | {
        "documents": linked,
        "tenderPeriod": {"endDate": "2026-12-16T11:00:00Z"},
    }
    feed.publish(CAPTURED | {"date": f"{TODAY.isoformat()}T00:00:00Z", "tender": tender})
    feed.files |= {urlsplit(url).path: PDF for url in urls}


async def fetch_states(desk: Desk) -> list[str]:
    """The documents of the company's only tender, as the API shows them."""
    found = (await desk.call("GET", "/opportunities?visibility=own")).json()["items"]
    return await fetch_states_of(desk, found[0]["id"])


async def fetch_states_of(desk: Desk, tender_id: str) -> list[str]:
    shown = (await desk.call("GET", f"/opportunities/{tender_id}")).json()
    return [document["fetchState"] for document in shown["documents"]]


@pytest.mark.rule("OPP-51")
async def test_an_installation_has_the_portal_paused(feed: Etenders, desk: Desk) -> None:
    listed = await desk.call("GET", "/opportunity/sources?kind=etenders_ocds&visibility=shared")

    (found,) = [one for one in listed.json()["items"] if one["id"] == str(portal.PORTAL_ID)]
    assert (found["status"], found["nextCheckAt"], found["health"]) == ("paused", None, "unknown")
    assert (found["address"], found["documentHosts"]) == (ADDRESS, [HOST])
    assert (found["cadence"], found["clockFault"]) == ("PT15M", "wall_time_as_utc")
    assert "PDDL" in found["licence"]
    assert "National Treasury" in found["attribution"]
    assert feed.asked == []


@pytest.mark.rule("OPP-51")
async def test_one_call_activates_the_portal_and_its_tenders_arrive(
    feed: Etenders, desk: Desk, clamd: None
) -> None:
    published(feed, f"https://{HOST}/Home/Download?blobName=a.pdf")
    platform = Timeline(desk.host, desk.clock, topology.load(["opportunity"]), OPERATOR)

    activated = await by_staff(desk, "PATCH", PATH, move="activate")
    await platform.until(desk.host.now() + timedelta(minutes=10))

    assert (activated.status_code, activated.json()["status"]) == (200, "active")
    assert all(target.startswith("/api/OCDSReleases?") for _, target in feed.requests)
    (tender,) = await desk.shared_of(portal.PORTAL_ID)
    assert await fetch_states_of(desk, str(tender.id)) == ["stored"]
    assert (await desk.get(str(portal.PORTAL_ID)))["health"] == "ok"


@pytest.mark.rule("OPP-51")
@pytest.mark.parametrize(
    "change",
    [
        {"documentHosts": [HOST, "documents.gov.za"], "cadence": "PT1H"},
        {"name": "The portal", "address": "https://ocds.example.co.za/api"},
        {"move": "activate"},
        {"move": "retire"},
    ],
)
async def test_a_deployment_changes_nothing_that_staff_changed(
    desk: Desk, change: dict[str, Any]
) -> None:
    changed = await by_staff(desk, "PATCH", PATH, **change)
    assert changed.status_code == 200, changed.text

    await portal.seed_portal(desk.host, [])

    after = (await by_staff(desk, "GET", PATH)).json()
    assert (after["version"], after["status"]) == (
        changed.json()["version"],
        changed.json()["status"],
    )
    assert await own_portals(desk) == [str(portal.PORTAL_ID)]
    if change == {"move": "activate"}:
        await by_staff(desk, "PATCH", PATH, move="pause")


async def own_portals(desk: Desk) -> list[str]:
    """The platform's feeds that were not retired by an earlier test."""
    found = await by_staff(desk, "GET", "/opportunity/sources?kind=etenders_ocds&visibility=shared")
    return [
        one["id"]
        for one in found.json()["items"]
        if one["organizationId"] == str(OPERATOR) and one["address"] is not None
    ]


async def test_a_planted_deployment_that_begins_anew_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unknown(_: object) -> bool:
        return False

    plant(monkeypatch, portal, "_is_known", unknown)
    monkeypatch.setattr(portal, "PORTAL_ID", UUID(int=portal.PORTAL_ID.int + 1))
    changed = {"name": "The portal", "address": "https://ocds.example.co.za/api"}
    assert (await by_staff(desk, "PATCH", PATH, **changed)).status_code == 200

    await portal.seed_portal(desk.host, [])

    assert len(await own_portals(desk)) == 2


async def test_documents_come_from_the_portal_by_default(desk: Desk) -> None:
    given = {"licence": "ODC PDDL", "attribution": "National Treasury"}

    feed = await desk.call(
        *("POST", "/opportunity/sources"),
        **given | {"name": "Feed", "kind": "etenders_ocds", "address": desk.address},
    )
    manual = await desk.call(
        "POST", "/opportunity/sources", **given | {"name": "By hand", "kind": "manual"}
    )
    none = await desk.call("PATCH", f"/opportunity/sources/{feed.json()['id']}", documentHosts=[])

    assert (feed.status_code, feed.json()["documentHosts"]) == (201, [HOST])
    assert (manual.status_code, manual.json()["documentHosts"]) == (201, [])
    assert (none.status_code, none.json()["documentHosts"]) == (200, [])


@pytest.mark.rule("OPP-21")
async def test_refused_documents_are_fetched_once_their_host_is_named(
    feed: Etenders, desk: Desk, clamd: None
) -> None:
    published(feed, f"https://{FILES}/a.pdf", "https://elsewhere.example/b.pdf")
    source = await desk.active(documentHosts=[])
    await desk.after(timedelta(minutes=5))
    before = await fetch_states(desk)

    named = await desk.call("PATCH", f"/opportunity/sources/{source['id']}", documentHosts=[FILES])
    await desk.after(timedelta(minutes=5))

    assert (before, named.status_code) == (["refused", "refused"], 200)
    assert sorted(await fetch_states(desk)) == ["refused", "stored"]


async def paused_portal_is_asked(feed: Etenders, desk: Desk) -> bool:
    """Whether the host of a feed that nobody activated is asked for a document."""
    published(feed, f"https://{HOST}/Home/Download?blobName=a.pdf")
    await desk.active()
    await desk.after(timedelta(minutes=5))
    return "stored" in await fetch_states(desk)


@pytest.mark.rule("OPP-21")
async def test_hosts_of_a_feed_that_was_never_read_are_not_asked(
    feed: Etenders, desk: Desk
) -> None:
    assert not await paused_portal_is_asked(feed, desk)


async def test_a_planted_list_with_hosts_of_paused_feeds_is_found(
    feed: Etenders, desk: Desk, clamd: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def all_hosts(_: object) -> set[str]:
        return {FILES, HOST}

    plant(monkeypatch, documents, "allowed_hosts", all_hosts)

    assert await paused_portal_is_asked(feed, desk)
