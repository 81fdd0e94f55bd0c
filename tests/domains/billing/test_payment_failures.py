"""Failed payments: a dated recovery that everybody can see, and that takes nothing by surprise."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from tests.letters import written as letter_text
from tests.planting import plant
from thenga.domains.billing.services.access import levels as standing
from thenga.domains.billing.services.customer import notices
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.payments import attempts
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.services.subscriptions import letters
from thenga.domains.billing.tables import (
    CollectionMethod,
    Interval,
    PaymentFailure,
    Subscription,
)
from thenga.domains.notification.services import templates
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

GRACE_ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)
LAST_RETRY = datetime(2026, 12, 5, 6, tzinfo=UTC)
ENDS = datetime(2026, 12, 13, 22, tzinfo=UTC)  # 14 December begins, local
SECOND = timedelta(seconds=1)


async def the_failure(
    api: httpx2.AsyncClient, headers: dict[str, str], **filters: str
) -> dict[str, Any]:
    (found,) = (await api.get("/billing/payment-failures", params=filters, headers=headers)).json()[
        "items"
    ]
    return dict(found)


async def signal(payer: Payer, feature: str = "bid.workspaces") -> tuple[str, bool, str, Any]:
    work = payer.work()
    said = await current.signal(work, feature)
    await work.close()
    return said.access, said.entitled, said.reason, said.remedy


@pytest.mark.rule("BIL-39")
@pytest.mark.rule("BIL-40")
@pytest.mark.rule("BIL-41")
async def test_a_declined_renewal_begins_a_recovery_with_all_its_dates(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription = await paying.declined(host, clock)
    headers = await paying.owner_of(host, payer)

    listed = await the_failure(api, headers, status="open")
    one = (await api.get(f"/billing/payment-failures/{listed['id']}", headers=headers)).json()
    shown = (await api.get(f"/billing/subscriptions/{subscription.id}", headers=headers)).json()

    told = await payer.told()
    print(f"retries={','.join(at[5:13] for at in one['retryDates'])} ", end="")
    print(f"graceEndsAt={one['graceEndsAt']} PaymentFailed={told.count('PaymentFailed')}")
    assert one == listed
    assert one["retryDates"] == [
        *("2026-11-15T06:00:00Z", "2026-11-17T06:00:00Z", "2026-11-21T06:00:00Z"),
        *("2026-11-28T06:00:00Z", "2026-12-05T06:00:00Z"),
    ]
    assert one["graceEndsAt"] == shown["graceEndsAt"] == "2026-11-28T22:00:00Z"
    assert (one["kind"], one["category"], one["retriesLeft"]) == ("declined", "soft", 5)
    assert (one["access"], shown["access"], shown["status"]) == ("grace", "grace", "past_due")
    assert one["amountDue"] == {"amount": "1499.00", "currency": "ZAR"}
    assert one["nextRetryAt"] == "2026-11-15T06:00:00Z"
    assert [move["move"] for move in one["allowedMoves"]] == ["retry"]
    assert told.count("PaymentFailed") == 1
    assert (await signal(payer))[:3] == ("grace", True, "grace")


@pytest.mark.rule("BIL-41")
async def test_what_was_bought_beside_and_paid_stays_whole(host: Host, seeded: None, clock: Time):
    payer, subscription = await paying.declined(host, clock)
    payer.card = "ok"
    boost = await payer.buy("ai-boost", Interval.MONTH)

    work = payer.work()
    levels = [
        standing.access_level(one, await standing.earliest_failure(work, one.id), work.now)
        for one in (subscription, boost)
    ]
    await work.close()

    assert levels == ["grace", "full"]


@pytest.mark.rule("BIL-41")
@pytest.mark.rule("BIL-43")
@pytest.mark.rule("BIL-55")
async def test_unpaid_it_is_reduced_suspended_and_ended_on_its_days(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription = await paying.declined(host, clock)
    levels = []
    for at in (GRACE_ENDS - SECOND, GRACE_ENDS):
        await payer.at(GRACE_ENDS - SECOND)
        clock.set(at)  # before any sweep has looked
        levels.append((await signal(payer))[:3])
    remedy = (await signal(payer))[3]
    await payer.at(LAST_RETRY)
    suspended = await payer.read(Subscription, subscription.id)
    levels.append((await signal(payer))[:3])
    clock.set(ENDS)
    levels.append((await signal(payer))[:2])

    await payer.at(ENDS)

    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)
    ended = (await api.get(f"/billing/subscriptions/{subscription.id}", headers=headers)).json()
    invoice = (await api.get(f"/billing/invoices/{failure['invoiceId']}", headers=headers)).json()
    (note,) = (await api.get("/billing/credit-notes", headers=headers)).json()["items"]
    told = await payer.told()
    print(f"credited={note['gross']['amount']} vat={note['vat']['amount']} ", end="")
    print(f"due={invoice['amountDue']['amount']} GraceEnding={told.count('GraceEnding')}")
    assert levels == [
        ("grace", True, "grace"),
        ("read_only", False, "payment_overdue"),
        ("none", False, "suspended"),
        ("full", True),  # the fallback plan counts, and its level is full
    ]
    assert (remedy.kind, remedy.amount_today) == ("pay_invoice", Money.of("1499.00"))
    assert suspended.status == "suspended"
    assert (ended["status"], ended["access"]) == ("ended", "none")
    assert (note["gross"]["amount"], note["vat"]["amount"]) == ("749.50", "97.76")
    assert note["reasonCode"] == "undelivered"
    assert invoice["amountDue"]["amount"] == failure["amountDue"]["amount"] == "749.50"
    assert failure["status"] == "exhausted"
    assert (told.count("GraceEnding"), told.count("PaymentFailed")) == (1, 6)


async def test_planted_recovery_from_the_wrong_day_is_found(
    host: Host, seeded: None, clock: Time, monkeypatch: pytest.MonkeyPatch
):
    def late(failure: PaymentFailure) -> list[Any]:
        at = failure.first_failed_at
        return [standing.Reduction(at, standing.Access.READ_ONLY, "payment_overdue")]

    payer, _ = await paying.declined(host, clock)
    plant(monkeypatch, standing, "access_reductions", late)
    await payer.at(ENDS)

    (note,) = await payer.rows(
        "SELECT gross_minor FROM billing.credit_note WHERE organization_id = $1"
    )
    assert note["gross_minor"] != 74950


async def invoiced(host: Host, clock: Time) -> Payer:
    """Somebody who is not charged: invoices are sent, to be paid within seven days."""
    sent = CollectionMethod.SEND_INVOICE
    at = datetime(2027, 1, 14, 8, tzinfo=UTC)
    return await paying.payer(host, clock, at, collection_method=sent)


@pytest.mark.rule("BIL-39")
async def test_sent_invoice_is_overdue_next_day_and_only_reminded(
    host: Host, seeded: None, clock: Time
):
    payer = await invoiced(host, clock)
    bought = await payer.buy("professional")

    await payer.at(datetime(2027, 1, 21, 21, 59, tzinfo=UTC))
    before = await payer.read(Subscription, bought.id)
    await payer.at(datetime(2027, 1, 21, 22, tzinfo=UTC))
    (failure,) = await payer.rows(_FAILED)
    await payer.at(datetime(2027, 1, 26, 22, tzinfo=UTC))

    assert before.status == "active"
    assert failure["kind"] == "overdue"
    # Bought on 14 January, due on the 21st, late from the 22nd on.
    assert failure["first_failed_at"] == datetime(2027, 1, 21, 22, tzinfo=UTC)
    assert failure["grace_ends_at"] == datetime(2027, 2, 5, 22, tzinfo=UTC)
    assert payer.charged == []
    assert (await payer.told()).count("PaymentFailed") == 3  # at once, and days 1 and 3


_FAILED = (
    "SELECT kind, first_failed_at, grace_ends_at FROM billing.payment_failure "
    "WHERE organization_id = $1"
)


async def pay_by_card(payer: Payer, purpose: str) -> None:
    """The one invoice of this purpose, by hand; whatever the card says to it."""
    (found,) = await payer.rows(
        f"SELECT id FROM billing.invoice WHERE organization_id = $1 AND purpose = '{purpose}'"
    )
    work = payer.work()
    how = PaymentChoice(payment_method_id=payer.method.id)
    await attempts.pay_invoice(work, invoice_id=found["id"], how=how)
    await work.finish()
    await payer.settle()


@pytest.mark.rule("BIL-39")
async def test_every_sent_invoice_is_followed_up(host: Host, seeded: None, clock: Time):
    payer = await invoiced(host, clock)
    await payer.buy("professional")
    await pay_by_card(payer, "first")

    await payer.at(datetime(2027, 2, 21, 21, 59, tzinfo=UTC))
    before = await payer.rows(_FAILED)
    await payer.at(datetime(2027, 2, 21, 22, tzinfo=UTC))

    assert before == []  # what was paid in time is never late
    (failure,) = await payer.rows(_FAILED)
    assert failure["first_failed_at"] == datetime(2027, 2, 21, 22, tzinfo=UTC)


@pytest.mark.rule("BIL-39")
async def test_card_declined_before_the_due_date_is_only_reported(
    host: Host, seeded: None, clock: Time
):
    payer = await invoiced(host, clock)
    await payer.buy("professional")
    await pay_by_card(payer, "first")
    await payer.at(datetime(2027, 2, 13, 22, tzinfo=UTC))  # renewed, due on 21 February
    payer.card = "soft"
    await pay_by_card(payer, "renewal")
    told, charged = (await payer.told())[-1], len(payer.charged)

    await payer.at(datetime(2027, 2, 21, 21, 59, tzinfo=UTC))
    before = await payer.rows(_FAILED)
    await payer.at(datetime(2027, 2, 24, 22, tzinfo=UTC))

    (failure,) = await payer.rows(_FAILED)
    assert (told, before) == ("PaymentFailed", [])
    assert (failure["kind"], failure["first_failed_at"]) == (
        *("overdue", datetime(2027, 2, 21, 22, tzinfo=UTC)),
    )
    assert len(payer.charged) == charged  # its dates are reminders


async def test_a_declined_first_payment_begins_nothing(host: Host, seeded: None, clock: Time):
    payer = await paying.payer(host, clock, datetime(2026, 11, 14, 8, tzinfo=UTC))
    payer.card = "soft"

    bought = await payer.buy("starter")

    failures = await payer.rows("SELECT 1 FROM billing.payment_failure WHERE organization_id = $1")
    assert (bought.status, failures) == ("incomplete", [])
    assert (await payer.told()).count("PaymentFailed") == 1


async def test_the_next_retry_is_asked_for_by_an_instant(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, _ = await paying.declined(host, clock)
    headers = await paying.owner_of(host, payer)

    async def before(instant: str) -> httpx2.Response:
        path = f"/billing/payment-failures?nextRetryBefore={instant}"
        return await api.get(path, headers=headers)

    later, earlier = await before("2026-11-15T06:00:01Z"), await before("2026-11-15T06:00:00Z")
    nowhere = await before("2026-11-15T06:00:01")

    assert [len(one.json()["items"]) for one in (later, earlier)] == [1, 0]
    assert (nowhere.status_code, nowhere.json()["code"]) == (422, "validation-failed")


@pytest.mark.parametrize("sort", ["createdAt", "firstFailedAt", "nextRetryAt", "-nextRetryAt"])
async def test_failures_can_be_sorted(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, sort: str
):
    payer, _ = await paying.declined(host, clock)
    headers = await paying.owner_of(host, payer)

    found = await api.get(f"/billing/payment-failures?sort={sort}&limit=1", headers=headers)

    assert (found.status_code, len(found.json()["items"])) == (200, 1)


async def test_a_stranger_finds_no_failure(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, _ = await paying.declined(host, clock)
    failure = await the_failure(api, await paying.owner_of(host, payer))
    stranger = await paying.payer(host, clock, paying.RENEWED)
    headers = await paying.owner_of(host, stranger)

    found = await api.get(f"/billing/payment-failures/{failure['id']}", headers=headers)
    missing = await api.get(f"/billing/payment-failures/{uuid4()}", headers=headers)
    retried = await api.post(
        f"/billing/payment-failures/{failure['id']}/retry", json={}, headers=headers
    )

    assert found.status_code == missing.status_code == retried.status_code == 404


@pytest.mark.rule("BIL-40")
@pytest.mark.parametrize(
    "topic",
    [
        *(notices.PAYMENT_FAILED, notices.GRACE_ENDING, notices.DISPUTE_LOST),
        *(notices.RENEWAL_DUE, notices.TRIAL_ENDING, notices.INVOICE_ISSUED),
        *(notices.RECEIPT, notices.SUBSCRIPTION_CANCELLED),
    ],
)
def test_every_letter_can_be_written_with_its_facts(topic: str):
    content = templates.platform_content(topic)
    facts = {one.name: one.example for one in content.variables}

    letter = letter_text(topic, facts)

    assert letter.subject
    assert "{{" not in letter.text and "Good day,\n" in letter.text


@pytest.mark.rule("BIL-40")
async def test_the_payer_is_told_by_letter(host: Host, seeded: None, clock: Time):
    payer, _ = await paying.declined(host, clock)
    work = payer.work()
    account = await work.lock(type(payer.account), payer.account.id)
    account.invoice_emails = ["books@mokoena.example"]
    await work.save(account)
    await work.finish()
    (failure,) = await payer.rows(
        "SELECT id FROM billing.payment_failure WHERE organization_id = $1"
    )

    work = payer.work()
    written = await letters.compose_letter(work, notices.PAYMENT_FAILED, failure["id"])
    await work.close()

    assert written is not None
    assert written.addresses == ["books@mokoena.example"]
    assert written.facts["amount"] == "ZAR 1499.00"
    assert written.facts["standing"] == ("You keep full access until 28 November 2026.")
    assert written.facts["next"] == "We will try again on 15 November 2026."
