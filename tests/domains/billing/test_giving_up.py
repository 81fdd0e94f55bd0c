"""Recoveries that end without their money: given up by an operator, or by who has left before."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import paying
from tests.factories.paying import Payer
from thenga.domains.billing.services.customer import notices
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.tables import CollectionMethod
from thenga.kernel.process.host import Host

BEGAN = paying.RENEWED  # 14 November begins, local


async def signal(payer: Payer, feature: str = "bid.workspaces") -> tuple[str, int | None]:
    work = payer.work()
    said = await current.signal(work, feature)
    await work.close()
    return said.access, said.limit


async def the_failure(api: httpx2.AsyncClient, headers: dict[str, str]) -> dict[str, Any]:
    (found,) = (await api.get("/billing/payment-failures", headers=headers)).json()["items"]
    return dict(found)


async def by_operator(
    api: httpx2.AsyncClient, payer: Payer, path: str, **body: Any
) -> httpx2.Response:
    operator = await people.staff(payer.host, "platform_operator")
    headers = operator.headers | {"X-Organization-Id": str(payer.organization_id)}
    return await api.post(path, json=body, headers=headers)


async def write_off(api: httpx2.AsyncClient, payer: Payer, invoice_id: object) -> httpx2.Response:
    path = f"/billing/invoices/{invoice_id}/write-off"
    return await by_operator(api, payer, path, reason="They will not pay it")


async def pay(api: httpx2.AsyncClient, payer: Payer, invoice_id: object) -> httpx2.Response:
    """Paid with the card on file, which has money now."""
    headers = await paying.owner_of(payer.host, payer)
    body = {"invoiceId": str(invoice_id), "paymentMethodId": str(payer.method.id)}
    payer.card = "ok"
    answer = await api.post("/billing/payments", json=body, headers=headers)
    await payer.settle()
    return answer


@pytest.mark.rule("BIL-43")
@pytest.mark.parametrize(("day", "credited"), [(10, []), (25, ["549.63"])])
async def test_write_off_ends_the_plan_and_reports_late_money_once(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, day: int, credited: list[str]
):
    payer, subscription = await paying.declined(host, clock)
    await payer.at(BEGAN + timedelta(days=day, hours=10))
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)

    off = await write_off(api, payer, failure["invoiceId"])
    ended = (await api.get(f"/billing/subscriptions/{subscription.id}", headers=headers)).json()
    await payer.at(BEGAN + timedelta(days=40))
    later = await signal(payer)
    before = await payer.told()
    paid = await pay(api, payer, failure["invoiceId"])

    headers = await paying.owner_of(host, payer)
    told = (await payer.told())[len(before) :]
    notes = (await api.get("/billing/credit-notes", headers=headers)).json()["items"]
    invoice = (await api.get(f"/billing/invoices/{failure['invoiceId']}", headers=headers)).json()
    print(f"day={day} written_off={ended['status']} later={later} told={told}")
    assert (off.status_code, ended["status"], ended["access"]) == (200, "ended", "none")
    assert before.count("PaymentRecovered") == 0
    assert later == ("full", 1)  # the fallback plan
    assert (paid.status_code, invoice["status"]) == (201, "paid")
    assert told.count("PaymentRecovered") == 1
    assert [one["gross"]["amount"] for one in notes] == credited  # days 15 to 25 were not delivered


@pytest.mark.rule("BIL-8")
async def test_written_off_invoice_does_not_block_cancellation(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    sent = CollectionMethod.SEND_INVOICE
    at = datetime(2027, 1, 14, 8, tzinfo=UTC)
    payer = await paying.payer(host, clock, at, collection_method=sent)
    subscription = await payer.buy("professional")
    await write_off(api, payer, (await unpaid(payer))["id"])

    headers = await paying.owner_of(host, payer)
    left = await api.post(
        f"/billing/subscriptions/{subscription.id}/cancel",
        json={"mode": "immediate", "reasonCode": "other"},
        headers=headers,
    )

    assert (left.status_code, left.json()["status"]) == (202, "effective")


async def unpaid(payer: Payer) -> Any:
    (found,) = await payer.rows(
        "SELECT id FROM billing.invoice WHERE organization_id = $1 AND amount_due_minor > 0"
    )
    return found


async def credit_all(api: httpx2.AsyncClient, payer: Payer, invoice_id: str) -> httpx2.Response:
    """An operator takes the whole invoice back; the worker numbers the note and looks again."""
    headers = await paying.owner_of(payer.host, payer)
    invoice = (await api.get(f"/billing/invoices/{invoice_id}", headers=headers)).json()
    lines = [{"invoiceLineId": one["id"], "gross": one["gross"]} for one in invoice["lines"]]
    answer = await by_operator(
        *(api, payer, f"/billing/invoices/{invoice_id}/credit-notes"),
        lines=lines,
        reasonCode="goodwill",
        explanation="Our own mistake",
    )
    await payer.settle()
    await payer.settle()
    return answer


@pytest.mark.rule("BIL-27")
@pytest.mark.rule("BIL-44")
@pytest.mark.rule("BIL-55")
@pytest.mark.parametrize("day", [5, 20, 29])
async def test_fully_credited_invoice_recovers_at_once(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, day: int
):
    payer, subscription = await paying.declined(host, clock)
    await payer.at(BEGAN + timedelta(days=day, hours=10))
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)

    given = await credit_all(api, payer, failure["invoiceId"])

    path = f"/billing/payment-failures/{failure['id']}"
    after = (await api.get(path, headers=headers)).json()
    held = (await api.get(f"/billing/subscriptions/{subscription.id}", headers=headers)).json()
    notes = (await api.get("/billing/credit-notes", headers=headers)).json()["items"]
    (told,) = await payer.rows(
        "SELECT envelope::jsonb -> 'data' -> 'amount' ->> 'amount' AS amount FROM billing.outbox "
        "WHERE organization_id = $1 AND mesh_subject LIKE '%.PaymentRecovered.%'"
    )
    print(f"day={day} recovery={after['status']} access={held['access']} told={told['amount']}")
    assert given.status_code == 201
    assert (after["status"], held["status"], held["access"]) == ("recovered", "active", "full")
    assert [one["reasonCode"] for one in notes] == ["goodwill"]
    assert told["amount"] == "0.00"  # what was paid


@pytest.mark.rule("BIL-40")
@pytest.mark.rule("BIL-55")
@pytest.mark.parametrize("paid_on", [20, 31])
async def test_earlier_leaver_gets_no_grace_notice_or_credit(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, paid_on: int
):
    """Left on day 6 with everything open until then; what was owed is still asked for."""
    payer, subscription = await paying.declined(host, clock)
    await payer.at(BEGAN + timedelta(days=6, hours=10))
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)
    await api.post(
        f"/billing/subscriptions/{subscription.id}/cancel",
        json={"mode": "immediate", "reasonCode": "other", "settlement": "none"},
        headers=headers,
    )
    written = await payer.letter(notices.PAYMENT_FAILED, UUID(failure["id"]))

    await payer.at(BEGAN + timedelta(days=paid_on))
    await pay(api, payer, failure["invoiceId"])

    notes = await payer.rows("SELECT 1 FROM billing.credit_note WHERE organization_id = $1")
    told = await payer.told()
    assert written is not None
    assert "The plan has ended, and this amount is still due for the time before." in written
    assert (told.count("GraceEnding"), notes) == (0, [])
    assert told.count("PaymentRecovered") == 1


@pytest.mark.rule("BIL-55")
async def test_cancellation_day_is_credited_even_if_paid_that_day(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    """Read-only from 29 November on, left and paid on 4 December: six days, 299.80."""
    payer, subscription = await paying.declined(host, clock)
    await payer.at(BEGAN + timedelta(days=20, hours=10))
    headers = await paying.owner_of(host, payer)
    failure = await the_failure(api, headers)
    await api.post(
        f"/billing/subscriptions/{subscription.id}/cancel",
        json={"mode": "immediate", "reasonCode": "other"},
        headers=headers,
    )
    await payer.settle()

    await pay(api, payer, failure["invoiceId"])

    notes = await payer.rows(
        "SELECT reason_code, gross_minor FROM billing.credit_note WHERE organization_id = $1 "
        "ORDER BY gross_minor DESC"
    )
    assert [tuple(one) for one in notes] == [("cancellation", 44970), ("undelivered", 29980)]
