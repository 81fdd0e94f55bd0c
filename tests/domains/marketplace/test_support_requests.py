"""Support requests over HTTP: opened by an organization, resolved by staff, read by nobody else."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from tests.domains.marketplace.requesting import Desk, Market, events_of, market
from tests.domains.marketplace.stalls import Moderator, Stall
from tests.factories import identity as people
from tests.factories import marketplace_requests as factory
from tests.factories.identity import Person
from thenga import topology
from thenga.domains.marketplace.services import support_requests
from thenga.domains.marketplace.tables.support import SupportRequest
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.http.document import examples
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

PATH = "/marketplace/support-requests"
SECRET = "The description and the SANS mark belong to another manufacturer."
ANSWER = {
    "outcome": "upheld",
    "text": "Thank you. The listing is suspended until its provider shows the mark.",
}


@pytest.fixture
async def there(api: httpx2.AsyncClient, host: Host, seeded: None) -> Market:
    return await market(api, host)


@pytest.fixture
async def curator(host: Host, seeded: None) -> Person:
    return await people.staff(host, "platform_curator")


def about(kind: str, type_: str, id_: Any, domain: str = "marketplace") -> dict[str, Any]:
    reference = {"domain": domain, "type": type_, "id": str(id_)}
    return {"kind": kind, "about": reference, "text": SECRET}


async def reported(there: Market) -> dict[str, Any]:
    """A listing of the first provider, reported by the customer."""
    listing = await factory.live_listing(
        there.first.host, there.first.organization_id, there.ids[0]
    )
    answer = await there.customer.post(PATH, about("report_listing", "listing", listing.id))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def resolve(
    api: httpx2.AsyncClient, who: Person, request_id: str, **body: Any
) -> httpx2.Response:
    path = f"{PATH}/{request_id}/resolve"
    return await api.post(path, json=ANSWER | body, headers=who.headers)


async def test_staff_resolve_and_the_reporter_is_informed(
    there: Market, api: httpx2.AsyncClient, curator: Person
) -> None:
    opened = await reported(there)

    queue = await api.get(PATH, params={"status": "open", "limit": 200}, headers=curator.headers)
    shown = await api.get(f"{PATH}/{opened['id']}", headers=curator.headers)
    resolved = await resolve(api, curator, opened["id"])
    again = await resolve(api, curator, opened["id"])
    read = (await there.customer.get(f"{PATH}/{opened['id']}")).json()

    assert opened["id"] in [item["id"] for item in queue.json()["items"]]
    assert [move["move"] for move in shown.json()["allowedMoves"]] == ["resolve", "close"]
    assert [move["move"] for move in opened["allowedMoves"]] == ["close"]
    assert (resolved.status_code, again.status_code) == (200, 200)
    assert (read["status"], read["outcome"], read["answer"]) == (
        "resolved",
        "upheld",
        ANSWER["text"],
    )
    mine = await there.customer.events()
    assert [name for name, _ in mine] == ["SupportRequested", "SupportRequestResolved"]
    data = mine[1][1]
    assert (data["outcome"], data["status"], data["kind"]) == (
        "upheld",
        "resolved",
        "report_listing",
    )
    assert data["reporterOrganizationId"] == str(there.customer.organization_id)
    assert "organizationId" not in data
    told = [event for event in await events_of(there.first.host, OPERATOR) if event in mine]
    assert told == mine


def test_no_example_speaks_of_a_picture() -> None:
    """A listing has none, so nobody can report one."""
    [domain] = topology.load(["marketplace"])
    recorded = json.dumps(examples.load(domain)).lower()
    assert not [word for word in ("photo", "picture", "image") if word in recorded]


async def test_the_reporter_closes_it(there: Market, api: httpx2.AsyncClient) -> None:
    opened = await reported(there)
    path, headers = f"{PATH}/{opened['id']}", there.customer.who.acting

    closed = await api.patch(path, json={"move": "close"}, headers=headers)
    again = await api.patch(path, json={"move": "close"}, headers=headers)
    other = await api.patch(path, json={"move": "close"}, headers=there.first.who.acting)

    assert (closed.json()["status"], again.json()["version"]) == ("closed", 2)
    assert other.status_code == 404
    listed = await there.customer.get(PATH, status="closed", kind="report_listing")
    assert [item["id"] for item in listed.json()["items"]] == [opened["id"]]


async def audited(host: Host, action: str, id_: str) -> int:
    """How many audit entries of an action name an ID."""
    async with host.engines.connection("marketplace", "marketplace_system") as connection:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM marketplace.audit_entry WHERE entry LIKE $1 AND entry LIKE $2",
            *(f'%"{action}"%', f"%{id_}%"),
        )
    return found


async def test_what_staff_read_is_audited(
    there: Market, api: httpx2.AsyncClient, host: Host, curator: Person
) -> None:
    opened = await reported(there)

    await there.customer.get(PATH)
    await there.customer.get(f"{PATH}/{opened['id']}")
    own = [
        await audited(host, f"support_request.{how}", opened["id"]) for how in ("listed", "read")
    ]
    listed = await api.get(PATH, params={"status": "open", "limit": 200}, headers=curator.headers)
    await api.get(f"{PATH}/{opened['id']}", headers=curator.headers)

    assert (listed.status_code, own) == (200, [0, 0])
    assert await audited(host, "support_request.listed", opened["id"]) == 1
    assert await audited(host, "support_request.read", opened["id"]) == 1


async def test_nothing_is_resolved_after_it_was_closed(
    there: Market, api: httpx2.AsyncClient, curator: Person
) -> None:
    opened = await reported(there)
    headers = there.customer.who.acting
    await api.patch(f"{PATH}/{opened['id']}", json={"move": "close"}, headers=headers)

    refused = await resolve(api, curator, opened["id"])

    assert (refused.status_code, refused.json()["code"]) == (409, "invalid-transition")


async def test_the_same_thing_is_open_once(
    there: Market, api: httpx2.AsyncClient, curator: Person
) -> None:
    opened = await reported(there)
    body = {key: opened[key] for key in ("kind", "about", "text")}

    twice = await there.customer.post(PATH, body)
    another = await there.stranger.post(PATH, body)
    await resolve(api, curator, opened["id"])
    later = await there.customer.post(PATH, body)

    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert twice.json()["existing"]["id"] == opened["id"]
    assert (another.status_code, later.status_code) == (201, 201)


async def test_calls_at_once_open_one(there: Market) -> None:
    body = about("report_provider", "supplier", there.ids[0], "supplier")

    answers = await asyncio.gather(*[there.customer.post(PATH, body) for _ in range(8)])

    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 7]


async def test_a_subject_fits_its_kind_and_is_there(there: Market) -> None:
    quote_request = await there.customer.asked(there.ids[0])
    of_quote = about("quote_problem", "quoteRequest", quote_request["id"])
    wrong = [
        about("report_listing", "listing", new_id()),
        about("report_listing", "supplier", there.ids[0], "supplier"),
        about("report_provider", "supplier", new_id(), "supplier"),
        about("appeal_moderation", "listing", new_id()),
        about("quote_problem", "quoteRequest", new_id()),
    ]

    refused = [await there.customer.post(PATH, body) for body in wrong]
    foreign = await there.stranger.post(PATH, of_quote)
    both = [await desk.post(PATH, of_quote) for desk in (there.customer, there.first)]

    assert {answer.status_code for answer in (*refused, foreign)} == {422}
    assert {answer.json()["rule"] for answer in (*refused, foreign)} == {"support-subject"}
    assert [answer.status_code for answer in both] == [201, 201]


async def appealed(there: Market, moderator: Person) -> str:
    """The first provider appeals against what a moderator decided about its listing."""
    desk = there.first
    listing = await factory.decided_listing(desk.host, desk.organization_id, moderator.user_id)
    answer = await desk.post(PATH, about("appeal_moderation", "listing", listing.id))
    assert answer.status_code == 201, answer.text
    foreign = await there.second.post(PATH, about("appeal_moderation", "listing", listing.id))
    assert foreign.status_code == 422
    assert str(moderator.user_id) not in answer.text
    return str(answer.json()["id"])


@pytest.mark.rule("MKT-4")
async def test_another_moderator_decides_an_appeal(
    there: Market, api: httpx2.AsyncClient, host: Host, curator: Person
) -> None:
    appeal, other = await appealed(there, curator), await people.staff(host, "platform_curator")

    refused = await resolve(api, curator, appeal)
    resolved = await resolve(api, other, appeal)

    assert (refused.status_code, refused.json()["code"]) == (403, "same-person")
    assert (resolved.status_code, resolved.json()["status"]) == (200, "resolved")


@pytest.mark.rule("MKT-4")
@pytest.mark.parametrize("is_change_cancelled", [False, True])
async def test_an_appeal_is_against_the_moderator_who_suspended(
    mine: Stall,
    moderator: Moderator,
    api: httpx2.AsyncClient,
    curator: Person,
    *,
    is_change_cancelled: bool,
) -> None:
    made = await mine.made()
    live = await moderator.decided(made, "publish")
    await Moderator(api, curator).decided(live, "suspend", "misleading")
    if is_change_cancelled:
        content = made["change"]["content"] | {"summary": "Culverts, in a week."}
        await mine.moved(made["id"], content=content)
        await mine.moved(made["id"], move="cancel_change")
    body = about("appeal_moderation", "listing", made["id"])
    appeal = await api.post(PATH, json=body, headers=mine.who.acting)
    assert appeal.status_code == 201, appeal.text

    refused = await resolve(api, curator, appeal.json()["id"])
    resolved = await resolve(api, moderator.who, appeal.json()["id"])

    assert (refused.status_code, refused.json()["code"]) == (403, "same-person")
    assert resolved.status_code == 200, resolved.text
    again = await moderator.decided(live, "reinstate")  # the step that the answer names
    assert (again["status"], again["served"]) == ("published", True)


@pytest.mark.rule("MKT-4")
async def test_a_planted_moderator_who_decides_the_appeal_is_found(
    there: Market, api: httpx2.AsyncClient, curator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    appeal = await appealed(there, curator)
    monkeypatch.setattr(support_requests, "same_person", lambda *_: False)

    assert (await resolve(api, curator, appeal)).status_code == 200


async def sent_to(desk: Desk, request_id: str) -> tuple[int, int, int]:
    """Answers and events of a desk about a support request, and how many hold its text."""
    read = [await desk.get(f"{PATH}/{request_id}"), await desk.get(PATH)]
    told = await desk.events()
    texts = [answer.text for answer in read] + [str(data) for _, data in told]
    return len(read), len(told), sum(SECRET in text or request_id in text for text in texts[1:])


async def test_nobody_else_reads_a_report(
    there: Market, api: httpx2.AsyncClient, curator: Person
) -> None:
    opened = await reported(there)
    await resolve(api, curator, opened["id"])

    owner = await sent_to(there.customer, opened["id"])
    others = [await sent_to(desk, opened["id"]) for desk in (there.first, there.stranger)]
    missing = await there.first.get(f"{PATH}/{opened['id']}")
    staff = await api.get(f"{PATH}/{opened['id']}", headers=curator.headers)

    print(f"reporter answers={owner[0]} events={owner[1]} canaries={owner[2]}")
    print(f"reported answers={others[0][0]} events={others[0][1]} canaries={others[0][2]}")
    assert owner[2] > 0
    assert [canaries for _, _, canaries in others] == [0, 0]
    assert missing.status_code == 404
    assert SECRET in staff.text
    events = str(await there.customer.events()) + str(await events_of(there.first.host, OPERATOR))
    assert SECRET not in events  # the text stays with the row


async def test_a_planted_report_between_the_wrong_two_is_found(
    there: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = SupportRequest.of

    def careless(given: Any, **more: Any) -> SupportRequest:
        return real(given, **more | {"counterparty_id": there.first.organization_id})

    monkeypatch.setattr(SupportRequest, "of", careless)
    monkeypatch.setattr(support_requests, "_publish", lambda work, event, other: None)
    opened = await reported(there)

    assert (await sent_to(there.first, opened["id"]))[2] > 0


async def test_only_staff_resolve(there: Market, api: httpx2.AsyncClient) -> None:
    opened = await reported(there)

    refused = await resolve(api, there.customer.who, opened["id"])

    assert refused.status_code == 403, refused.text
