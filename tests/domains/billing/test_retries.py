"""Trying again: by hand, on its date, with another card; and never two charges at once."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from tests.planting import plant
from thenga.domains.billing.services.access import levels
from thenga.domains.billing.services.dunning import recovery, retries
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.payments import attempts as payments
from thenga.domains.billing.services.payments import methods
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.tables import (
    Subscription,
)
from thenga.kernel.process.host import Host

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


@pytest.mark.rule("BIL-44")
async def test_a_retry_by_hand_in_the_instant_of_a_date_is_one_charge(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, _ = await paying.declined(host, clock)
    day_seven = datetime(2026, 11, 21, 6, tzinfo=UTC)
    await payer.at(day_seven - SECOND)
    clock.set(day_seven)
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)
    payer.card = "silent"

    async def by_date() -> None:
        work = payer.work()
        await recovery.run_due_steps(work, UUID(failure["id"]))
        await work.finish()

    path = f"/billing/payment-failures/{failure['id']}/retry"
    _, first = await asyncio.gather(by_date(), api.post(path, json={}, headers=headers))
    again = await api.post(path, json={}, headers=headers)
    running = await payer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 AND status = 'processing'"
    )
    before = await payer.told()
    payer.card = "ok"
    await payer.settle()

    told = (await payer.told())[len(before) :]
    print(f"charges={len(running)} by_hand={first.status_code} again={again.status_code} ", end="")
    print(f"PaymentRecovered={told.count('PaymentRecovered')}")
    assert len(running) == 1
    assert first.status_code in (202, 409)
    assert (again.status_code, again.json()["code"]) == (409, "billing-payment-in-progress")
    assert again.json()["paymentId"] == str(running[0]["id"])
    assert told.count("PaymentRecovered") == told.count("EntitlementChanged") == 1
    recovered = (
        await api.get(f"/billing/payment-failures/{failure['id']}", headers=headers)
    ).json()
    assert (recovered["status"], recovered["access"]) == ("recovered", "full")
    assert recovered["creditNoteId"] is None


async def test_database_refuses_a_planted_blind_retry(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
):
    payer, _ = await paying.declined(host, clock)
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)
    payer.card = "silent"
    path = f"/billing/payment-failures/{failure['id']}/retry"
    first = await api.post(path, json={}, headers=headers)

    async def sees_nothing(*_: Any) -> None:
        return None

    plant(monkeypatch, payments, "payment_in_progress", sees_nothing)
    second = await api.post(path, json={}, headers=headers)

    running = await payer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 AND status = 'processing'"
    )
    assert (first.status_code, second.status_code, len(running)) == (202, 409, 1)
    assert first.headers["Location"] == f"/v1/billing/payments/{first.json()['paymentId']}"


@pytest.mark.rule("BIL-44")
async def test_success_recovers_everything_also_when_it_was_given_up(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription = await paying.declined(host, clock)
    await payer.at(LAST_RETRY + timedelta(hours=1))
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers, status="exhausted")
    payer.card = "ok"

    answer = await api.post(
        f"/billing/payment-failures/{failure['id']}/retry", json={}, headers=headers
    )
    await payer.settle()

    now = (await api.get(f"/billing/subscriptions/{subscription.id}", headers=headers)).json()
    (note,) = (await api.get("/billing/credit-notes", headers=headers)).json()["items"]
    account = (await api.get("/billing/accounts", headers=headers)).json()["items"][0]
    print(f"undelivered_days=6 credited={note['gross']['amount']} status={now['status']}")
    assert (answer.status_code, answer.json()["attempt"]) == (202, 6)
    assert (now["status"], now["access"]) == ("active", "full")
    assert note["gross"]["amount"] == "299.80"  # 29 November to 4 December: 6 of 30 days
    assert account["creditBalance"]["amount"] == "299.80"
    assert (await signal(payer))[:3] == ("full", True, "included")


@pytest.mark.rule("BIL-44")
async def test_five_times_a_day_by_hand_and_no_more(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, _ = await paying.declined(host, clock)
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)
    answers = []

    for _ in range(6):
        answers.append(
            await api.post(
                f"/billing/payment-failures/{failure['id']}/retry", json={}, headers=headers
            )
        )
        await payer.settle()

    print(f"by_hand={[one.status_code for one in answers]}")
    assert [one.status_code for one in answers] == [202] * 5 + [409]
    refused = answers[-1].json()
    assert refused["code"] == "billing-retry-limit"
    assert refused["nextAllowedAt"].startswith("2026-11-14T22:00:00")


@pytest.mark.rule("BIL-42")
async def test_stolen_card_is_never_retried_but_a_new_card_is_at_once(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription = await paying.declined(host, clock, card="hard")
    charged = len(payer.charged)
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers, category="hard")
    refused = await api.post(
        f"/billing/payment-failures/{failure['id']}/retry", json={}, headers=headers
    )

    await payer.at(datetime(2026, 11, 22, 6, tzinfo=UTC))
    again = len(payer.charged) - charged
    told = await payer.told()
    payer.card = "ok"
    other = await paying.card(host, payer.account, preferred=False)
    work = payer.work()
    await retries.retry_with_new_method(work, other)
    await work.finish()
    await payer.settle()

    now = await payer.read(Subscription, subscription.id)
    print(f"charges_with_stolen={again} with_new={len(payer.charged) - charged} {now.status}")
    assert (refused.status_code, refused.json()["code"]) == (
        *(422, "billing-payment-method-required"),
    )
    assert (again, len(payer.charged) - charged) == (0, 1)
    assert payer.charged[-1].payment_method_id == other.id
    assert told.count("PaymentFailed") == 4  # the first, and a reminder on days 1, 3 and 7
    assert now.status == "active"


async def test_planted_loss_of_hard_category_charges_a_stolen_card(
    host: Host, seeded: None, clock: Time, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, methods, "mark_method_refused", keeps_it)
    payer, _ = await paying.declined(host, clock, card="hard")
    charged = len(payer.charged)
    plant(monkeypatch, levels, "is_reminder_only", lambda failure: False)

    await payer.at(datetime(2026, 11, 22, 6, tzinfo=UTC))

    assert len(payer.charged) > charged


async def keeps_it(*_: Any) -> bool:
    """The planted bug: a card that was refused for good stays on file."""
    return False


async def paid_otherwise(payer: Payer) -> int:
    """The failed invoice paid at the provider's page with what is not kept; how often the card
    was charged until the next renewal is over, though it would pay by now."""
    (failed,) = await payer.rows(
        "SELECT invoice_id FROM billing.payment_failure WHERE organization_id = $1"
    )
    work = payer.work()
    by_hand, _ = await payments.pay_invoice(
        work, invoice_id=failed["invoice_id"], how=PaymentChoice(provider="sandbox")
    )
    await work.finish()
    await payer.answer(by_hand.id, "ok")
    payer.card, charged = "ok", len(payer.charged)
    await payer.at(ENDS + timedelta(hours=1))
    return len(payer.charged) - charged


@pytest.mark.rule("BIL-42")
async def test_hard_declined_card_is_not_charged_at_renewal(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription = await paying.declined(host, clock, card="hard")
    before = await payer.told()

    again = await paid_otherwise(payer)

    headers = await paying.owner_of(host, payer)
    told = (await payer.told())[len(before) :]
    path = f"/billing/accounts/{payer.account.id}/payment-methods"
    on_file = (await api.get(path, headers=headers)).json()["items"]
    failure = await the_failure(api, headers, status="open")
    due = await payer.rows(
        "SELECT envelope::jsonb -> 'data' -> 'remedy' ->> 'kind' AS remedy FROM billing.outbox "
        "WHERE organization_id = $1 AND mesh_subject LIKE '%.RenewalDue.%'"
    )
    now = await payer.read(Subscription, subscription.id)
    print(
        f"charges_with_refused={again} on_file={len(on_file)} remedies={[*map(dict, due)]} "
        f"notices={told.count('PaymentFailed')} status={now.status}"
    )
    assert (again, on_file) == (0, [])
    assert [one["remedy"] for one in due] == ["update_method"]
    assert told.count("PaymentRecovered") == told.count("PaymentFailed") == 1
    assert (failure["category"], failure["attempts"]) == ("hard", [])
    assert (now.status, now.period_start) == ("past_due", date(2026, 12, 14))


async def test_planted_keeping_of_a_declined_card_is_found(
    host: Host, seeded: None, clock: Time, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, methods, "mark_method_refused", keeps_it)
    payer, _ = await paying.declined(host, clock, card="hard")

    assert await paid_otherwise(payer) == 1


async def told_of(payer: Payer, event: str, name: str) -> list[Any]:
    """One field of every event of a kind, in their order."""
    found = await payer.rows(
        "SELECT mesh_subject, envelope::jsonb -> 'data' AS data FROM billing.outbox "
        "WHERE organization_id = $1 ORDER BY position"
    )
    rows = [row for row in found if f".{event}." in row["mesh_subject"]]
    return [row["data"][name] for row in rows]


@pytest.mark.rule("BIL-40")
async def test_notices_count_from_the_first_failure_without_a_charge(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, datetime(2027, 1, 14, 8, tzinfo=UTC))
    await payer.buy("professional")
    work = payer.work()
    await methods.revoke_method(work, payer.method.id)
    await work.finish()
    await payer.at(datetime(2027, 2, 14, 6, tzinfo=UTC))  # renewed with nothing to charge
    payer.card = "soft"
    other = await paying.card(host, payer.account)
    work = payer.work()
    await retries.retry_with_new_method(work, other)
    await work.finish()
    await payer.at(datetime(2027, 2, 17, 7, tzinfo=UTC))
    payer.card = "ok"
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)
    path = f"/billing/payment-failures/{failure['id']}/retry"

    retried = await api.post(path, json={}, headers=headers)
    await payer.settle()

    attempts = await told_of(payer, "PaymentFailed", "attempt")
    succeeded = await told_of(payer, "PaymentSucceeded", "failureId")
    print(f"attempts={attempts} retried={retried.json()['attempt']} failureId={succeeded}")
    assert attempts == [0, 1, 2, 3]  # the renewal, the new card, days 1 and 3
    assert retried.json()["attempt"] == 4
    assert succeeded == [None, failure["id"]]
