"""Changes of plan as a customer makes them, and what is left of them in the books."""

from typing import Any

import httpx2

from tests.factories.subscriptions import Customer

ZAR = "ZAR"


def rand(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": ZAR}


async def change(buyer: Customer, held: Any, **body: Any) -> httpx2.Response:
    return await buyer.post(f"subscriptions/{held['id']}/change-plan", **body)


async def preview(buyer: Customer, held: Any, **body: Any) -> Any:
    answer = await buyer.post(f"subscriptions/{held['id']}/change-plan/preview", **body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def paid_change(buyer: Customer, held: Any, **body: Any) -> Any:
    """Asked for at the previewed price, and paid."""
    shown = await preview(buyer, held, **body)
    asked = await change(buyer, held, **body, expectedAmountDue=shown["amountDue"])
    assert asked.status_code == 200, asked.text
    pending = asked.json()["pendingChange"]
    if pending is not None and pending["paymentId"]:
        await buyer.pay(pending["paymentId"])
    await buyer.number()
    return shown


def figures(shown: Any) -> list[str]:
    note, invoice = shown["creditNote"], shown["invoice"]
    return [
        *(note["gross"]["amount"], note["vat"]["amount"]),
        *(invoice["gross"]["amount"], invoice["vat"]["amount"]),
        *(shown["amountDue"]["amount"], shown["keptAsCredit"]["amount"]),
    ]


async def documents(buyer: Customer) -> list[tuple[str, int, int]]:
    """Kind, gross and VAT of what was issued, in the order of time."""
    found = await buyer.rows(
        "SELECT kind, gross_minor, vat_minor, number, due FROM ("
        "SELECT 'TI' AS kind, gross_minor, vat_minor, number, issued_at, amount_due_minor AS due "
        "FROM billing.invoice WHERE organization_id = $1 AND number IS NOT NULL UNION ALL "
        "SELECT 'CN', gross_minor, vat_minor, number, issued_at, 0 FROM billing.credit_note "
        "WHERE organization_id = $1 AND number IS NOT NULL) AS all_of ORDER BY issued_at, number"
    )
    assert [row["due"] for row in found] == [0] * len(found)
    return [(row["kind"], row["gross_minor"], row["vat_minor"]) for row in found]


async def numbers(buyer: Customer) -> list[str]:
    """All numbers that were given, by kind."""
    found = await buyer.rows(
        "SELECT number FROM billing.invoice WHERE organization_id = $1 AND number IS NOT NULL "
        "UNION ALL SELECT number FROM billing.credit_note "
        "WHERE organization_id = $1 AND number IS NOT NULL ORDER BY 1"
    )
    return [row["number"] for row in found]


async def journal_sum(buyer: Customer) -> int:
    found = await buyer.rows(
        "SELECT coalesce(sum(amount_minor), 0) AS total FROM billing.journal_line "
        "WHERE organization_id = $1"
    )
    return int(found[0]["total"])


async def covered_twice(buyer: Customer) -> int:
    found = await buyer.rows(
        "SELECT count(*) AS n FROM billing.billed_span a JOIN billing.billed_span b "
        "ON a.organization_id = b.organization_id AND a.subscription_id = b.subscription_id "
        "AND a.id < b.id AND a.starts_on < b.ends_on AND b.starts_on < a.ends_on "
        "AND a.starts_on < a.ends_on AND b.starts_on < b.ends_on WHERE a.organization_id = $1"
    )
    return int(found[0]["n"])


async def credit(buyer: Customer) -> str:
    accounts = await buyer.get("accounts")
    return str(accounts["items"][0]["creditBalance"]["amount"])
