"""What each party of a quote request is sent: never the tender, never a rival (MKT-26)."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.marketplace.requesting import PATH, Desk, Market, market
from tests.factories import marketplace_requests as factory
from tests.factories import marketplace_search as offers
from thenga.domains.marketplace.api import quote_requests as api_module
from thenga.domains.marketplace.public import QuoteRequests
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

TENDER, REASON = f"tender{uuid4().hex}", f"reason{uuid4().hex}"


@dataclass
class Tally:
    """What one desk was sent, and which words of others it holds."""

    answers: int = 0
    events: int = 0
    letters: int = 0
    canaries: list[str] = field(default_factory=list)

    def look(self, text: str, words: dict[str, str], where: str) -> None:
        self.canaries += [f"{where}: {name}" for name, word in words.items() if word in text]

    def __str__(self) -> str:
        return (
            f"answers={self.answers} events={self.events} letters={self.letters} "
            f"canaries={len(self.canaries)}"
        )


@pytest.fixture
async def there(api: httpx2.AsyncClient, host: Host, seeded: None) -> Market:
    return await market(api, host)


async def asked_for_a_tender(there: Market) -> tuple[dict[str, Any], dict[str, str]]:
    """A request for a requirement of a tender, to both; and the words that are the customer's."""
    of_match = await offers.match(there.customer.host, there.customer.organization_id)
    requirement, match = str(uuid4()), str(of_match.id)
    first, second = there.ids
    sent = await there.customer.asked(
        recipients=[
            {"supplierId": str(first), "overrideReason": REASON},
            {"supplierId": str(second)},
        ],
        needRefs=[{"domain": "opportunity", "type": "requirement", "id": requirement}],
        matchId=match,
        correlationId=f"followed-{match}",
        purpose="bid",
    )
    tender = {
        "requirement": requirement,
        "match": match,
        "correlation": sent["correlationId"],
        "number": sent["number"],
        "purpose": '"purpose":"bid"',
        "reason": REASON,
    }
    return sent, tender


async def move_through(there: Market, host: Host, sent: dict[str, Any]) -> None:
    """Everything that is published about the request until an offer is accepted."""
    later = sent["dueAt"].replace("2026", "2027")
    await there.customer.change(sent["id"], dueAt=later)
    mine = there.customer.organization_id
    rows = await factory.recipients(host, UUID(sent["id"]), mine)
    for sequence, status in enumerate(("acknowledged", "submitted"), 2):
        for row in rows:
            event = factory.quoted(row, status, quote_id=new_id())
            await factory.hear(host, mine, event, sequence=sequence)
    accepted = factory.quoted(rows[0], "accepted", quote_id=new_id())
    await factory.hear(host, mine, accepted, sequence=4)


async def sent_to(
    desk: Desk, bound: Host, request_id: str, words: dict[str, str], letters: list[str]
) -> Tally:
    """Answers, events and letters of one desk about a request, and what they hold."""
    tally = Tally()
    read = [
        await desk.get(f"{PATH}/{request_id}"),
        await desk.get(PATH),
        await desk.get(PATH, side="provider"),
        await desk.change(request_id, move="cancel"),
    ]
    for answer in read:
        tally.answers += 1
        tally.look(answer.text.replace('": ', '":'), words, f"answer {answer.status_code}")
    port = bound.bindings.of(QuoteRequests)
    views = await port.describe(
        organization_id=desk.organization_id, quote_request_ids=[UUID(request_id)]
    )
    tally.answers += 1
    for view in views:
        tally.look(view.model_dump_json(), words, "port")
    for name, data in await desk.events():
        tally.events += 1
        tally.look(str(data), words, f"event {name}")
    for letter in letters:
        tally.letters += 1
        tally.look(letter, words, "letter")
    return tally


def rival_of(there: Market) -> dict[str, str]:
    """Who the second provider is."""
    return {
        "supplier": str(there.ids[1]),
        "organization": str(there.second.organization_id),
        "name": "Rivalrous",
    }


@pytest.mark.rule("MKT-26")
async def test_a_provider_reads_neither_the_tender_nor_a_rival(
    there: Market, host: Host, bound: Host
) -> None:
    sent, tender = await asked_for_a_tender(there)
    await move_through(there, host, sent)

    own = await sent_to(there.customer, bound, sent["id"], tender, [])
    of_tender = await sent_to(there.first, bound, sent["id"], tender, [])
    of_rival = await sent_to(there.first, bound, sent["id"], rival_of(there), [])
    stranger = await sent_to(
        there.stranger, bound, sent["id"], tender | rival_of(there) | {"id": sent["title"]}, []
    )

    print(f"provider {of_tender}")
    print(f"tender_canaries={len(of_tender.canaries)} rival_canaries={len(of_rival.canaries)}")
    print(f"stranger {stranger}")
    assert (of_tender.canaries, of_rival.canaries) == ([], [])
    assert of_tender.answers > 0
    assert of_tender.events > 0
    assert own.canaries  # the words are there to be found
    assert (stranger.events, stranger.canaries) == (0, [])


async def test_a_planted_rival_in_a_providers_view_is_found(
    there: Market, host: Host, bound: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, _ = await asked_for_a_tender(there)
    rows = await factory.recipients(host, UUID(sent["id"]), there.customer.organization_id)
    view = api_module.QuoteRequestView
    real = view.of_recipient.__func__  # type: ignore[attr-defined]  # of a class method

    def careless(cls: Any, recipient: Any, **more: Any) -> Any:
        shown = real(cls, recipient, **more)
        shown.__dict__["title"] += f" (also asked: {rows[1].supplier_id})"
        return shown

    monkeypatch.setattr(view, "of_recipient", classmethod(careless))

    found = await sent_to(there.first, bound, sent["id"], rival_of(there), [])

    print(f"planted rival_canaries={len(found.canaries)}")
    assert found.canaries


async def test_a_planted_tender_in_an_event_is_found(
    there: Market, bound: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(factory.ASKED, "title", f"Pipes for {TENDER}")
    sent = await there.customer.asked(*there.ids)

    found = await sent_to(there.first, bound, sent["id"], {"tender": TENDER}, [])

    assert {where.split()[0] for where in found.canaries} == {"answer", "event", "port:"}
