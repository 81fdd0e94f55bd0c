"""Quote requests over HTTP: written, sent, read by both sides, extended and cancelled."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Silence
from tests.domains.marketplace.requesting import PATH, Market, at, market
from tests.factories import marketplace_requests as factory
from tests.factories import marketplace_search as offers
from tests.factories import supplier as suppliers
from thenga.domains.marketplace.api import quote_requests as quote_request_routes
from thenga.domains.marketplace.public import QuoteRequestLine
from thenga.domains.marketplace.services import quote_requests
from thenga.domains.marketplace.services.quote_requests import QuoteMatchUnknown
from thenga.domains.marketplace.services.recipients import RecipientUnavailable
from thenga.domains.marketplace.values.quote_contents import QuoteContentFields
from thenga.domains.supplier.public import Suppliers, Trust, TrustView
from thenga.kernel.ports.binding import stand_in
from thenga.kernel.process.host import Host


@pytest.fixture
async def there(api: httpx2.AsyncClient, host: Host, seeded: None) -> Market:
    return await market(api, host)


def codes(answer: httpx2.Response) -> list[tuple[str, str]]:
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == RecipientUnavailable.code
    return [(error["pointer"], error["code"]) for error in answer.json()["errors"]]


async def test_a_draft_is_changed_and_sent(there: Market) -> None:
    first, second = there.ids
    draft = await there.customer.ask(first)
    assert draft.status_code == 201, draft.text
    made = draft.json()

    changed = await there.customer.change(
        made["id"],
        title="Pipes and manholes",
        recipients=[{"supplierId": str(first)}, {"supplierId": str(second)}],
    )
    sent = await there.customer.change(made["id"], move="send")

    assert (made["status"], made["number"], made["revision"]) == ("draft", "QR-0001", 0)
    assert [recipient["status"] for recipient in made["recipients"]] == [None]
    assert changed.status_code == 200, changed.text
    assert sent.status_code == 200, sent.text
    shown = sent.json()
    assert (shown["status"], shown["revision"], shown["title"]) == ("sent", 1, "Pipes and manholes")
    assert [recipient["status"] for recipient in shown["recipients"]] == ["invited", "invited"]
    assert [move["move"] for move in shown["allowedMoves"]] == ["cancel"]
    again = await there.customer.change(made["id"], move="send")
    assert (again.status_code, again.json()["version"]) == (200, shown["version"])


async def test_a_draft_is_nobody_elses(there: Market) -> None:
    draft = (await there.customer.ask(*there.ids)).json()

    answers = [await desk.get(f"{PATH}/{draft['id']}") for desk in (there.first, there.stranger)]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert await there.first.events() == []


async def test_both_parties_read_what_was_sent(there: Market) -> None:
    sent = await there.customer.asked(*there.ids)

    theirs = await there.first.read(sent["id"])
    received = (await there.first.get(PATH, side="provider")).json()["items"]
    mine = (await there.customer.get(PATH)).json()["items"]

    assert (theirs["side"], theirs["recipientStatus"]) == ("provider", "invited")
    assert (theirs["lines"], theirs["terms"]) == (sent["lines"], sent["terms"])
    assert theirs["contentHash"] == sent["contentHash"]
    assert theirs["customerName"] == "Dlamini Civils"
    assert (theirs["recipients"], theirs["number"], theirs["allowedMoves"]) == ([], None, [])
    assert [item["id"] for item in received] == [item["id"] for item in mine] == [sent["id"]]
    filtered = await there.customer.get(PATH, status="draft", purpose="bid")
    assert filtered.json()["items"] == []
    late = await there.first.get(PATH, side="provider", status="sent", dueBefore=sent["dueAt"])
    assert late.json()["items"] == []


async def test_a_stranger_and_a_provider_change_nothing(there: Market) -> None:
    sent = await there.customer.asked(*there.ids)

    for desk in (there.stranger, there.first):
        refused = await desk.change(sent["id"], move="cancel")
        assert refused.status_code == 404, refused.text
    missing = await there.stranger.get(f"{PATH}/{uuid4()}")
    foreign = await there.stranger.get(f"{PATH}/{sent['id']}")
    assert (foreign.status_code, foreign.json()["code"]) == (404, missing.json()["code"])


async def test_events_reach_each_party_and_name_both(there: Market) -> None:
    sent = await there.customer.asked(there.ids[0])
    await there.customer.change(sent["id"], move="cancel", reason="The bid was withdrawn.")

    mine, theirs = await there.customer.events(), await there.first.events()

    assert [name for name, _ in theirs] == ["QuoteRequested", "QuoteRequestChanged"]
    assert mine == theirs
    for _, data in theirs:
        assert data["customerOrganizationId"] == str(there.customer.organization_id)
        assert data["providerOrganizationId"] == str(there.first.organization_id)
        assert "organizationId" not in data
    assert (theirs[1][1]["status"], theirs[1][1]["change"]) == ("cancelled", "cancelled")
    assert await there.stranger.events() == []
    assert (await there.first.read(sent["id"]))["status"] == "cancelled"


async def test_an_external_supplier_has_no_copy(there: Market, host: Host) -> None:
    external = await suppliers.supplier(host, there.customer.organization_id)

    sent = await there.customer.asked(external.id)

    assert [name for name, _ in await there.customer.events()] == ["QuoteRequested"]
    (recipient,) = sent["recipients"]
    assert (recipient["providerOrganizationId"], recipient["status"]) == (None, "invited")
    assert codes(await there.first.ask(external.id)) == [("/recipients/0", "unavailable")]


def test_the_reference_says_what_a_quote_request_does_not_do() -> None:
    asking = " ".join((quote_request_routes.create_quote_request.__doc__ or "").split())
    listing = " ".join((quote_request_routes.list_quote_requests.__doc__ or "").split())

    assert "Suppliers without an account here are recorded but not contacted" in asking
    assert "Quotes cannot be submitted here yet" in asking
    assert "Without `side`, only those that your organization sent are listed" in listing


def test_the_reference_says_recipients_cannot_open_documents() -> None:
    shown = [
        QuoteContentFields.model_json_schema()["properties"]["document_refs"],
        QuoteRequestLine.model_json_schema()["properties"]["specificationRefs"],
    ]

    for field in shown:
        assert "Recipients see the reference, not the file." in field["description"]


async def test_a_listing_names_its_provider(there: Market, host: Host) -> None:
    listing = await factory.live_listing(host, there.first.organization_id, there.ids[0])

    draft = (await there.customer.ask(recipients=[{"listingId": str(listing.id)}])).json()
    sent = await there.customer.change(draft["id"], move="send")

    (recipient,) = sent.json()["recipients"]
    assert (recipient["supplierId"], recipient["listingId"]) == (
        str(there.ids[0]),
        str(listing.id),
    )


@pytest.mark.rule("MKT-26")
async def test_every_recipient_that_cannot_be_asked_is_named(there: Market, host: Host) -> None:
    own = await factory.provider(host, there.customer.organization_id)
    first, second = there.ids
    await there.first.api.patch(
        f"/suppliers/{first}", json={"acceptsQuoteRequests": False}, headers=there.first.who.acting
    )
    listing = str(uuid4())

    refused = await there.customer.ask(
        recipients=[
            {"supplierId": str(first)},
            {"supplierId": str(own.id)},
            {"supplierId": str(second)},
            {"supplierId": str(second)},
            {"listingId": listing},
            {"listingId": listing, "supplierId": str(second)},
            {},
        ],
        send=True,
    )

    assert codes(refused) == [
        ("/recipients/0", "unavailable"),
        ("/recipients/1", "self_recipient"),
        ("/recipients/3", "duplicate"),
        ("/recipients/4", "unavailable"),
        ("/recipients/5", "ambiguous"),
        ("/recipients/6", "ambiguous"),
    ]
    assert (await there.customer.get(PATH)).json()["items"] == []
    assert await there.second.events() == []


@pytest.mark.rule("MKT-26")
async def test_at_most_twenty_are_asked(there: Market) -> None:
    many = await there.customer.ask(*[uuid4() for _ in range(21)])
    nobody = await there.customer.ask()

    assert [many.status_code, nobody.status_code] == [422, 422]
    assert many.json()["code"] == nobody.json()["code"] == "validation-failed"


def blocked(bound: Host, patch: pytest.MonkeyPatch, supplier_id: UUID, effect: str) -> None:
    """Let trust say this of a supplier."""
    view = TrustView(
        supplier_id=supplier_id,
        state="blocked",
        score=None,
        evidence_band=None,
        effects=[effect],
        override_until=None,
        appeal_open=False,
        as_of=datetime.now(UTC),
    )

    async def ask(shape: Any, arguments: dict[str, Any]) -> object:
        return [view]

    patch.setitem(bound.bindings._bound, Trust, stand_in(Trust, ask))


@pytest.mark.rule("MKT-26")
async def test_a_blocked_supplier_is_asked_with_a_reason_alone(
    there: Market, bound: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked(bound, monkeypatch, there.ids[0], "block_rfq")

    refused = await there.customer.ask(there.ids[0])
    choice = {"supplierId": str(there.ids[0]), "overrideReason": "Nobody else makes this size."}
    sent = await there.customer.asked(recipients=[choice])

    assert codes(refused) == [("/recipients/0", "provider_blocked")]
    assert sent["recipients"][0]["overrideReason"] == "Nobody else makes this size."
    assert "Nobody else" not in (await there.first.get(f"{PATH}/{sent['id']}")).text
    blocked(bound, monkeypatch, there.ids[0], "warn_rfq")
    assert (await there.customer.ask(there.ids[0])).status_code == 201


async def test_nobody_is_asked_while_supplier_is_silent(there: Market, silence: Silence) -> None:
    silence(Suppliers)

    assert (await there.customer.ask(*there.ids, send=True)).status_code == 503
    assert await there.first.events() == []


@pytest.mark.rule("MKT-28")
async def test_suppliers_have_at_least_a_day(there: Market) -> None:
    soon = at(there.customer.host.now() + timedelta(hours=23, minutes=50))

    refused = await there.customer.ask(*there.ids, dueAt=soon)
    draft = (await there.customer.ask(*there.ids)).json()
    moved = await there.customer.change(draft["id"], dueAt=soon)

    assert (refused.status_code, refused.json()["rule"]) == (422, "MKT-28")
    assert moved.status_code == 422, moved.text


async def shortened(there: Market) -> tuple[int, list[str]]:
    """The answer to an earlier deadline, and what each recipient then reads."""
    sent = await there.customer.asked(*there.ids)
    earlier = at(datetime.fromisoformat(sent["dueAt"]) - timedelta(days=1))
    answer = await there.customer.change(sent["id"], dueAt=earlier)
    read = [(await desk.read(sent["id"]))["dueAt"] for desk in (there.first, there.second)]
    return answer.status_code, [due for due in read if due != sent["dueAt"]]


@pytest.mark.rule("MKT-28")
async def test_a_deadline_only_moves_later(there: Market) -> None:
    assert await shortened(there) == (409, [])
    sent = await there.customer.asked(*there.ids)
    later = at(datetime.fromisoformat(sent["dueAt"]) + timedelta(days=2))

    same = await there.customer.change(sent["id"], dueAt=sent["dueAt"])
    moved = await there.customer.change(sent["id"], dueAt=later)

    assert (same.status_code, same.json()["version"]) == (200, sent["version"])
    assert datetime.fromisoformat(moved.json()["dueAt"]) == datetime.fromisoformat(later)
    assert (await there.second.read(sent["id"]))["dueAt"] == moved.json()["dueAt"]
    name, data = (await there.second.events())[-1]
    assert (name, data["change"], data["status"]) == ("QuoteRequestChanged", "extended", "sent")
    assert data["contentHash"] == sent["contentHash"]


@pytest.mark.rule("MKT-28")
async def test_a_planted_earlier_deadline_is_found(
    there: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def careless(work: Any, request: Any, due_at: datetime) -> None:
        request.due_at = request.next_check_at = due_at
        await work.save(request)
        await quote_requests._publish_status(work, request, change="extended")

    monkeypatch.setattr(quote_requests, "_extend", careless)

    status, moved = await shortened(there)

    print(f"planted: status={status} deadlines_shortened={len(moved)}")
    assert (status, len(moved)) == (200, 2)


async def test_what_was_sent_stays_as_it_is(there: Market) -> None:
    sent = await there.customer.asked(*there.ids)

    refused = await there.customer.change(sent["id"], title="Other pipes")

    assert (refused.status_code, refused.json()["code"]) == (409, "invalid-transition")
    assert refused.json()["allowed"] == ["cancel"]
    assert (await there.first.read(sent["id"]))["title"] == sent["title"]


async def test_a_cancelled_request_is_not_extended(there: Market) -> None:
    sent = await there.customer.asked(*there.ids)
    cancelled = await there.customer.change(sent["id"], move="cancel")
    again = await there.customer.change(sent["id"], move="cancel")
    later = at(datetime.fromisoformat(sent["dueAt"]) + timedelta(days=2))

    refused = await there.customer.change(sent["id"], dueAt=later)

    assert (cancelled.json()["status"], again.status_code) == ("cancelled", 200)
    assert refused.status_code == 409, refused.text


async def test_lines_have_their_own_keys_and_a_quantity(there: Market) -> None:
    line = factory.ASKED["lines"][0]

    twice = await there.customer.ask(there.ids[0], lines=[line, line])
    nothing = await there.customer.ask(there.ids[0], lines=[line | {"quantity": "0"}])

    assert [twice.status_code, nothing.status_code] == [422, 422]
    assert (twice.json()["code"], twice.json()["field"]) == ("rule-violated", "lines")
    assert nothing.json()["field"] == "lines/0/quantity"


async def test_a_quote_request_shares_the_correlation_of_its_match(
    there: Market, host: Host
) -> None:
    mine = there.customer.organization_id
    first, second = [await offers.match(host, mine, correlation=f"need-{n}") for n in (1, 2)]

    made = (await there.customer.ask(there.ids[0], matchId=str(first.id))).json()
    named = await there.customer.ask(there.ids[0], matchId=str(first.id), correlationId="own-1")
    same = await there.customer.change(named.json()["id"], matchId=str(first.id), title="Pipes")
    moved = await there.customer.change(made["id"], matchId=str(second.id))
    without = await there.customer.change(made["id"], matchId=None)

    assert (made["matchId"], made["correlationId"]) == (str(first.id), "need-1")
    assert (named.json()["correlationId"], same.json()["correlationId"]) == ("own-1", "own-1")
    assert (moved.status_code, moved.json()["correlationId"]) == (200, "need-2")
    assert (without.json()["matchId"], without.json()["correlationId"]) == (None, "need-2")


async def test_only_an_own_match_is_named(there: Market, host: Host) -> None:
    foreign = await offers.match(host, there.stranger.organization_id)
    draft = (await there.customer.ask(there.ids[0])).json()

    answers = [
        await there.customer.ask(there.ids[0], matchId=str(foreign.id)),
        await there.customer.ask(there.ids[0], matchId=str(uuid4()), send=True),
        await there.customer.change(draft["id"], matchId=str(foreign.id)),
    ]

    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (422, QuoteMatchUnknown.code)
    assert [item["id"] for item in (await there.customer.get(PATH)).json()["items"]] == [
        draft["id"]
    ]
    assert await there.first.events() == []


async def test_a_stale_version_changes_nothing(there: Market) -> None:
    sent = await there.customer.asked(*there.ids)
    headers = there.customer.who.acting | {"If-Match": '"1"'}

    api, path = there.customer.api, f"{PATH}/{sent['id']}"
    stale = await api.patch(path, json={"move": "cancel"}, headers=headers)

    assert (stale.status_code, stale.json()["code"]) == (412, "stale-version")
