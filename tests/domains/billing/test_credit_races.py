"""Credit is spent once: a change of plan and a refund never both get it, in whatever order."""

import asyncio
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.changing import change, covered_twice, preview, rand
from tests.factories import billing
from tests.factories import identity as people
from tests.factories.subscriptions import Customer, customer
from tests.planting import plant
from tests.suites import books
from thenga.domains.billing.services.ledger import credit as allocations
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.services.payments import refunds
from thenga.domains.billing.tables import (
    Refund,
)
from thenga.domains.billing.values.provider import (
    ProviderAnswer,
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.process.host import Host

pytestmark = [pytest.mark.rule("BIL-33"), pytest.mark.no_retry]


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


async def paid_twice(buyer: Customer) -> tuple[Any, str]:
    """A plan whose first payment came twice, so that its price is credit."""
    bought = await buyer.start()
    payment_id = bought["payment"]["id"]
    await buyer.pay(payment_id)
    await buyer.pay(payment_id)
    return await buyer.read(bought["id"]), payment_id


async def refund(
    buyer: Customer, payment_id: str, amount: str, operator: people.Person | None = None
) -> httpx2.Response:
    operator = operator or await people.staff(buyer.host, "platform_operator")
    return await buyer.api.post(
        f"/billing/payments/{payment_id}/refunds",
        json={"amount": rand(amount), "reason": "Paid by mistake"},
        headers=operator.headers | {"X-Organization-Id": str(buyer.id)},
    )


async def confirm_refunds(buyer: Customer) -> int:
    """The provider says that every refund has gone back; what went back, in cents."""
    total = 0
    for row in await buyer.rows(
        "SELECT id FROM billing.refund WHERE organization_id = $1 AND status <> 'failed'"
    ):
        work = billing.working(buyer.host, buyer.id)
        order = await refunds.begin_refund(work, row["id"])
        await work.finish()
        assert order is not None
        work = billing.working(buyer.host, buyer.id)
        said = ProviderReport(
            reference=order.reference,
            kind=StatementKind.REFUND,
            status=StatedStatus.SUCCEEDED,
            amount_minor=order.amount_minor,
            currency=order.currency,
            item_reference=order.key,
        )
        await refunds.record_refund_answer(work, row["id"], ProviderAnswer(said), source="answer")
        await work.finish()
        total += order.amount_minor
    return total


async def settle(buyer: Customer, asked: httpx2.Response) -> None:
    """What the change still costs is paid, and documents get their numbers."""
    if asked.status_code == 200:
        pending = asked.json()["pendingChange"]
        if pending is not None and pending["paymentId"]:
            await buyer.pay(pending["paymentId"])
    await buyer.number()


async def credit(buyer: Customer) -> int:
    """The account's credit in cents; below 0 it was spent twice."""
    work = billing.working(buyer.host, buyer.id)
    balance = await journal.credit_balance(work, currency="ZAR")
    await work.close()
    return balance.minor


async def test_credit_that_goes_back_pays_no_change_of_plan(buyer: Customer):
    held, payment_id = await paid_twice(buyer)
    before = await preview(buyer, held, planCode="professional")

    asked_back = await refund(buyer, payment_id, "499.00")
    shown = await preview(buyer, held, planCode="professional")
    asked = await change(buyer, held, planCode="professional", expectedAmountDue=shown["amountDue"])
    await settle(buyer, asked)
    went_back = await confirm_refunds(buyer)

    left = await credit(buyer)
    print(f"refunded={went_back} credit_after={left} due={shown['amountDue']['amount']}")
    assert (asked_back.status_code, asked.status_code) == (202, 200)
    assert shown["amountDue"] != before["amountDue"]
    assert left >= 0


@pytest.mark.parametrize("round_", range(6))
async def test_a_change_and_refunds_at_once_spend_credit_once(buyer: Customer, round_: int):
    held, payment_id = await paid_twice(buyer)
    shown = await preview(buyer, held, planCode="professional")
    wanted = {"planCode": "professional", "expectedAmountDue": shown["amountDue"]}
    path = f"/billing/subscriptions/{held['id']}/change-plan"
    operator = await people.staff(buyer.host, "platform_operator")

    calls = [
        buyer.api.post(path, json=wanted, headers=buyer.headers),
        *(refund(buyer, payment_id, "249.50", operator) for _ in range(3)),
        buyer.api.post(path, json=wanted, headers=buyer.headers),
    ]
    shift = round_ % len(calls)
    answers = await asyncio.gather(*(calls[shift:] + calls[:shift]))
    await buyer.timeline.take_out()
    changes = [one for one in answers if "change-plan" in str(one.url)]
    good = [one for one in changes if one.status_code == 200]
    await settle(buyer, good[0] if good else changes[0])
    went_back = await confirm_refunds(buyer)

    async with buyer.host.engines.connection("billing", "billing_system") as connection:
        found = await books.balance(connection, buyer.id)
    left, twice = await credit(buyer), await covered_twice(buyer)
    codes = sorted(one.status_code for one in answers)
    print(f"answers={codes} refunded={went_back} credit={left} {found} covered_twice={twice}")
    assert max(codes) < 500
    assert left >= 0
    assert (found.journal_sum, found.unbalanced, twice) == (0, 0, 0)


async def test_a_planted_credit_that_is_promised_twice_is_found(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    held, payment_id = await paid_twice(buyer)
    none = allocations._PROMISED.where(Refund.id == UUID(int=0))
    plant(monkeypatch, allocations, "_PROMISED", none)
    others = allocations._PROMISED_OF_OTHERS.where(Refund.id == UUID(int=0))
    plant(monkeypatch, allocations, "_PROMISED_OF_OTHERS", others)

    await refund(buyer, payment_id, "499.00")
    shown = await preview(buyer, held, planCode="professional")
    asked = await change(buyer, held, planCode="professional", expectedAmountDue=shown["amountDue"])
    await settle(buyer, asked)
    await confirm_refunds(buyer)

    assert await credit(buyer) < 0
