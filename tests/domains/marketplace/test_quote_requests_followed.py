"""Quote requests follow the quotes that Supplier publishes, and end at their deadline (MKT-30)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.marketplace.requesting import PATH, Market, market
from tests.factories import identity as people
from tests.factories import marketplace_requests as factory
from tests.settling import Settle
from thenga.domains.marketplace.provider import LocalQuoteRequests
from thenga.domains.marketplace.public import QuoteRequests
from thenga.domains.marketplace.services import quote_requests
from thenga.domains.marketplace.tables.quote_requests import QuoteRecipient, QuoteRequest
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


@pytest.fixture
async def there(api: httpx2.AsyncClient, host: Host, seeded: None) -> Market:
    return await market(api, host)


class Followed:
    """A quote request that was sent to both providers, and their quotes."""

    def __init__(self, there: Market, sent: dict[str, Any], rows: list[QuoteRecipient]) -> None:
        self.there, self.id, self.sent = there, UUID(sent["id"]), sent
        by_supplier = {row.supplier_id: row for row in rows}
        self.recipients = [by_supplier[supplier_id] for supplier_id in there.ids]
        self.quotes = [new_id(), new_id()]

    async def hear(self, whose: int, status: str, sequence: int, *, copy: str = "customer") -> None:
        """What Supplier publishes of a quote, as the customer's or the provider's stream has it."""
        recipient = self.recipients[whose]
        event = factory.quoted(recipient, status, quote_id=self.quotes[whose])
        desk = self.there.customer if copy == "customer" else (self.there.first)
        await factory.hear(desk.host, desk.organization_id, event, sequence=sequence)

    async def read(self) -> tuple[str, list[str]]:
        """Status of the request, and of its recipients in the order of the suppliers."""
        shown = await self.there.customer.read(str(self.id))
        found = {UUID(row["supplierId"]): row["status"] for row in shown["recipients"]}
        return shown["status"], [found[supplier_id] for supplier_id in self.there.ids]

    async def end(self) -> None:
        """As the job, at the time of the clock."""
        work = factory.working(self.there.customer.host, self.there.customer.organization_id)
        await quote_requests.end_quote_request(work, self.id)
        await work.finish()


@pytest.fixture
async def followed(there: Market, host: Host) -> Followed:
    sent = await there.customer.asked(*there.ids)
    rows = await factory.recipients(host, UUID(sent["id"]), there.customer.organization_id)
    return Followed(there, sent, rows)


async def test_recipients_follow_their_quotes(followed: Followed) -> None:
    await followed.hear(0, "acknowledged", 2)
    await followed.hear(1, "declined", 2)
    before = await followed.read()
    await followed.hear(0, "submitted", 3)
    shown = await followed.there.customer.read(str(followed.id))

    assert before == ("sent", ["quoting", "declined"])
    assert await followed.read() == ("sent", ["quoted", "declined"])
    assert shown["recipients"][0]["quoteId"] == str(followed.quotes[0])
    theirs = await followed.there.first.read(str(followed.id))
    assert (theirs["recipientStatus"], theirs["recipients"]) == ("quoted", [])


async def test_accepting_in_supplier_ends_the_request(followed: Followed) -> None:
    await followed.hear(0, "submitted", 2)
    await followed.hear(1, "submitted", 2)
    await followed.hear(0, "accepted", 3)
    await followed.hear(0, "fulfilled", 4)

    shown = await followed.there.customer.read(str(followed.id))

    assert await followed.read() == ("accepted", ["accepted", "not_selected"])
    assert shown["acceptance"] == {
        "quoteId": str(followed.quotes[0]),
        "revision": 1,
        "kind": "firm",
    }
    assert [move["move"] for move in shown["allowedMoves"]] == []
    theirs = await followed.there.second.read(str(followed.id))
    assert (theirs["status"], theirs["recipientStatus"]) == ("accepted", "not_selected")
    assert theirs["acceptance"] is None
    name, data = (await followed.there.second.events())[-1]
    assert (name, data["status"]) == ("QuoteRequestChanged", "accepted")


async def late_submission(followed: Followed) -> tuple[str, list[str]]:
    """An older event arrives behind the acceptance, and the acceptance a second time."""
    await followed.hear(0, "accepted", 5)
    await followed.hear(0, "declined", 4)
    await followed.hear(0, "accepted", 5)
    return await followed.read()


async def test_the_newest_event_wins(followed: Followed) -> None:
    assert await late_submission(followed) == ("accepted", ["accepted", "not_selected"])
    changes = [data for _, data in await followed.there.customer.events() if "change" in data]
    assert [data["change"] for data in changes] == ["accepted", "accepted"]  # one a recipient


async def test_events_in_the_wrong_order_leave_the_newest(followed: Followed) -> None:
    await followed.hear(0, "withdrawn", 3)
    await followed.hear(0, "submitted", 2)

    assert await followed.read() == ("sent", ["declined", "invited"])


async def test_a_planted_reaction_without_sequences_is_found(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = quote_requests.follow_quote

    async def careless(work: Any, event: Any, sequence: int) -> None:
        await real(work, event, sequence + 1000 if event.status == "submitted" else sequence)

    monkeypatch.setattr(quote_requests, "follow_quote", careless)
    await followed.hear(0, "acknowledged", 3)
    await followed.hear(0, "submitted", 2)

    assert (await followed.read())[1][0] == "quoted"


async def test_the_providers_copy_moves_nothing(followed: Followed) -> None:
    await followed.hear(0, "accepted", 2, copy="provider")

    assert await followed.read() == ("sent", ["invited", "invited"])


async def test_a_cancelled_request_stays_cancelled(followed: Followed) -> None:
    await followed.there.customer.change(str(followed.id), move="cancel")
    await followed.hear(0, "cancelled", 2)

    assert await followed.read() == ("cancelled", ["not_selected", "invited"])


async def test_at_its_deadline_the_customer_evaluates(followed: Followed, clock: Time) -> None:
    await followed.hear(0, "submitted", 2)
    await followed.end()
    early = await followed.read()
    clock.move(timedelta(days=14, minutes=1))
    followed.there.customer.who = await people.member(
        followed.there.customer.host, followed.there.customer.organization_id, role="owner"
    )
    derived = await followed.read()
    refused = await followed.there.customer.change(str(followed.id), dueAt="2099-01-01T08:00:00Z")
    await followed.end()
    await followed.end()

    assert (early[0], derived[0]) == ("sent", "evaluating")
    assert (refused.status_code, refused.json()["operation"]) == (409, "extend")
    assert await followed.read() == ("evaluating", ["quoted", "invited"])
    changes = [
        data["change"] for _, data in await followed.there.first.events() if "change" in data
    ]
    assert changes == ["evaluating"]
    await followed.hear(0, "withdrawn", 3)
    assert (await followed.read())[0] == "expired"


async def test_it_expires_without_offer_but_a_late_acceptance_counts(
    followed: Followed, clock: Time
) -> None:
    clock.move(timedelta(days=14, minutes=1))
    followed.there.customer.who = await people.member(
        followed.there.customer.host, followed.there.customer.organization_id, role="owner"
    )
    await followed.end()
    expired = await followed.read()
    await followed.hear(0, "accepted", 3)

    assert expired == ("expired", ["invited", "invited"])
    assert await followed.read() == ("accepted", ["accepted", "not_selected"])


@pytest.mark.rule("MKT-30")
async def test_an_offer_in_time_counts_though_it_is_heard_late(
    followed: Followed, clock: Time
) -> None:
    clock.move(timedelta(days=14, minutes=1))
    followed.there.customer.who = await people.member(
        followed.there.customer.host, followed.there.customer.organization_id, role="owner"
    )
    await followed.end()
    expired = await followed.read()
    await followed.hear(1, "acknowledged", 2)
    waiting = await followed.read()
    await followed.hear(0, "submitted", 2)
    reopened = await followed.read()
    changes = [
        data["change"] for _, data in await followed.there.first.events() if "change" in data
    ]
    await followed.hear(0, "accepted", 3)

    assert (expired[0], waiting) == ("expired", ("expired", ["invited", "quoting"]))
    assert reopened == ("evaluating", ["quoted", "quoting"])
    assert changes == ["expired", "evaluating"]
    assert await followed.read() == ("accepted", ["accepted", "not_selected"])


@pytest.mark.parametrize("before", ["declined", "rejected", "expired"])
async def test_an_acceptance_counts_whatever_was_known_before(
    followed: Followed, before: str
) -> None:
    await followed.hear(0, before, 2)
    await followed.hear(0, "accepted", 3)

    assert await followed.read() == ("accepted", ["accepted", "not_selected"])


async def test_the_job_ends_what_is_due(followed: Followed, clock: Time, settle: Settle) -> None:
    clock.move(timedelta(days=14, minutes=1))
    customer = followed.there.customer

    async def ended() -> QuoteRequest | None:
        work = factory.working(customer.host, customer.organization_id)
        request = await work.get(QuoteRequest, followed.id)
        await work.close()
        return None if request.next_check_at else request

    assert (await settle(ended)).status == "expired"


async def test_the_port_describes_a_request_to_its_parties(followed: Followed, bound: Host) -> None:
    port, there = bound.bindings.of(QuoteRequests), followed.there
    ids = [followed.id, new_id(), followed.id]

    async def described(organization_id: UUID) -> list[UUID]:
        views = await port.describe(organization_id=organization_id, quote_request_ids=ids)
        assert all(view.quote_request_id == followed.id for view in views)
        return [view.recipient_id for view in views]

    all_of_them = {recipient.id for recipient in followed.recipients}
    assert set(await described(there.customer.organization_id)) == all_of_them
    assert await described(there.first.organization_id) == [followed.recipients[0].id]
    assert await described(there.stranger.organization_id) == []
    (view,) = await port.describe(
        organization_id=there.first.organization_id, quote_request_ids=ids
    )
    assert (view.status, view.revision, view.currency) == ("sent", 1, "ZAR")
    assert view.content_hash == followed.sent["contentHash"]
    assert view.lines[0].description == factory.ASKED["lines"][0]["description"]
    assert isinstance(port, LocalQuoteRequests)
    assert (await there.first.get(PATH, side="provider")).status_code == 200
