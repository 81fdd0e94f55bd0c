"""Invoice, receipt and cancellation reach the billing contact, each once (BIL-40, SEC-66)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import notification_requests, paying
from tests.factories.paying import Payer
from tests.letters import Letters
from tests.settling import with_letters
from tests.timeline import Timeline
from thenga import topology
from thenga.domains.billing.tables import Account
from thenga.domains.notification.provider import LocalRequests
from thenga.domains.notification.public import Requests
from thenga.domains.notification.tables import Tenant
from thenga.kernel.process.host import Host

GONE = "@gone.example"
BEGUN = datetime(2027, 1, 14, 8, tzinfo=UTC)
RENEWED = datetime(2027, 2, 14, 8, tzinfo=UTC)


class Choosy(Letters):
    """Refuses addresses of a company that is gone."""

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if address.endswith(GONE):
            return "550 5.1.1 No such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"


class Repeating(LocalRequests):
    """Every answer is lost once, so that the job asks again."""

    async def accept(self, *, key: str, **asked: Any) -> str:
        await super().accept(key=key, **asked)
        return await super().accept(key=self.next_key(key), **asked)

    def next_key(self, key: str) -> str:
        return key


class RepeatingWithAnotherKey(Repeating):
    """The planted bug: each attempt has a key of its own."""

    def next_key(self, key: str) -> str:
        return f"{key} again"


@pytest.fixture
def post(monkeypatch: pytest.MonkeyPatch) -> Iterator[Choosy]:
    with Choosy() as received:
        monkeypatch.setenv("THENGA_SMTP_PORT_NOTIFICATION", str(received.port))
        yield received


async def lived_through(
    api: httpx2.AsyncClient, host: Host, clock: Time, requests: type[Repeating]
) -> str:
    """A plan is bought, renewed with an invoice to be paid, and cancelled; the address told."""
    payer = await paying.payer(host, clock, BEGUN)
    worker, books = with_letters(host), f"{uuid4().hex}@example.test"
    del worker.bindings._bound[Requests]
    worker.bindings.bind(Requests, requests(worker))
    await known(host, payer, [f"{uuid4().hex}{GONE}", books])
    payer._timeline = Timeline(
        *(worker, clock, topology.load(("billing", "notification")), payer.organization_id),
        adapters=payer._timeline.adapters,
        undone=("render_pdf", "meter_attempt"),
    )
    held = await payer.buy("starter")
    payer.card = "soft"
    await payer.at(RENEWED)
    headers = await paying.owner_of(host, payer)
    path = f"/billing/subscriptions/{held.id}/cancel"
    left = await api.post(path, json={"reasonCode": "other"}, headers=headers)
    assert left.status_code == 202, left.text
    await payer.settle()
    for close in worker.closing:
        await close()
    return books


async def known(host: Host, payer: Payer, addresses: list[str]) -> None:
    """A live company in Notification, with addresses for invoices."""
    work = notification_requests.working(host, payer.organization_id)
    await work.add(Tenant(organization_id=payer.organization_id, sandbox=False))
    await work.finish()
    work = payer.work()
    account = await work.lock(Account, payer.account.id)
    account.invoice_emails = addresses
    await work.save(account)
    await work.finish()


def counts(subjects: list[str]) -> dict[str, int]:
    begins = {
        "invoice": "Invoice SBX-TI",
        "receipt": "We received your payment",
        "cancellation": "Your subscription was cancelled",
        "failure": "A payment did not go through",
    }
    return {name: sum(one.startswith(words) for one in subjects) for name, words in begins.items()}


@pytest.mark.rule("BIL-40")
async def test_invoice_receipt_and_cancellation_reach_the_contact_once(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, post: Choosy
):
    books = await lived_through(api, host, clock, Repeating)
    told = counts(post.subjects(books))
    said = "".join([await post.to(books, number=n + 1) for n in range(post.count(books))])

    figures = " ".join(f"{name}={count}" for name, count in told.items())
    print(f"answers_lost=all {figures} addresses={len(post.addresses())}")
    assert set(told.values()) == {1}
    assert "Please pay it by 14 February 2027." in said
    assert "By bank transfer: use the bank details on the invoice, with SBX-TI" in said
    assert "You keep your access until 13 March 2027." in said
    assert post.addresses() == {books}


async def test_a_planted_key_of_each_attempt_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, post: Choosy
):
    books = await lived_through(api, host, clock, RepeatingWithAnotherKey)
    told = counts(post.subjects(books))

    print(f"planted: {told}")
    assert max(told.values()) > 1
