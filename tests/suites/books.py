"""The books after chaos or time: do they balance, and is every charge in them, once?

Reckoned by statements of their own, not by those of the nightly check.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from thenga.domains.billing.adapters.sandbox_server import Held

_JOURNAL_SUM = """
    SELECT coalesce(sum(amount_minor), 0)::bigint FROM billing.journal_line
    WHERE $1::uuid IS NULL OR organization_id = $1
"""
# An entry without any line is no booking either.
_UNBALANCED = """
    SELECT count(*) FROM (
        SELECT e.id, bool_and(l.sum IS NOT DISTINCT FROM 0) AS balanced
        FROM billing.journal_entry e LEFT JOIN (
            SELECT organization_id, entry_id, currency, sum(amount_minor) AS sum
            FROM billing.journal_line GROUP BY 1, 2, 3
        ) AS l ON l.organization_id = e.organization_id AND l.entry_id = e.id
        WHERE $1::uuid IS NULL OR e.organization_id = $1 GROUP BY e.id
    ) AS entries WHERE NOT balanced
"""
_INVOICES = """
    SELECT i.organization_id, i.id, i.status, i.number, (
        SELECT count(*) FROM billing.journal_entry e
        WHERE e.organization_id = i.organization_id
            AND e.source_id = i.id AND e.kind = 'allocation'
    ) AS allocations
    FROM billing.invoice i WHERE i.organization_id = ANY ($1)
"""
_PAYMENTS = """
    SELECT p.reference, p.invoice_id, (
        SELECT count(*) FROM billing.journal_entry e
        WHERE e.organization_id = p.organization_id
            AND e.source_id = p.id AND e.kind = 'payment'
    ) AS booked
    FROM billing.payment p WHERE p.organization_id = ANY ($1)
"""


@dataclass(frozen=True)
class Balance:
    """What the journal comes to; both are 0."""

    journal_sum: int
    unbalanced: int

    def __str__(self) -> str:
        return f"journal_sum={self.journal_sum} unbalanced={self.unbalanced}"


@dataclass
class Sold:
    """One invoice: how often it was paid, at the provider and in our books."""

    organization_id: UUID
    status: str
    number: str | None
    allocations: int
    booked: int = 0
    charged: int = 0


async def balance(connection: asyncpg.Connection, organization_id: UUID | None = None) -> Balance:
    """Of all books, or of one organization's."""
    return Balance(
        await connection.fetchval(_JOURNAL_SUM, organization_id),
        await connection.fetchval(_UNBALANCED, organization_id),
    )


async def sold(
    connection: asyncpg.Connection, organizations: list[UUID], charges: Mapping[str, int]
) -> tuple[dict[UUID, Sold], int]:
    """The invoices of some organizations, and how many charges belong to none of them.

    `charges` says how often the provider took the money of each reference.
    """
    async with connection.transaction(isolation="repeatable_read", readonly=True):  # jobs may run
        invoices = await connection.fetch(_INVOICES, organizations)
        payments = await connection.fetch(_PAYMENTS, organizations)
    found = {
        row["id"]: Sold(row["organization_id"], row["status"], row["number"], row["allocations"])
        for row in invoices
    }
    unknown = Counter(charges)
    for row in payments:
        invoice = found[row["invoice_id"]]
        invoice.booked += row["booked"]
        invoice.charged += unknown.pop(row["reference"], 0)
    return found, unknown.total()


def missing_numbers(invoices: Mapping[UUID, Sold]) -> int:
    """Each sandbox counts its own documents from 1; how many of the numbers nobody has."""
    given: dict[UUID, set[int]] = {}
    for one in invoices.values():
        if one.number is not None:
            digits = re.fullmatch(r"SBX-TI-(\d{7})", one.number)
            assert digits is not None, one.number
            given.setdefault(one.organization_id, set()).add(int(digits[1]))
    return sum(max(numbers) - len(numbers) for numbers in given.values())


def charges_of(payments: Mapping[str, Held]) -> dict[str, int]:
    """How often the sandbox provider took money, by reference."""
    return {
        reference: held.charges
        for reference, held in payments.items()
        if held.state is not None and held.state["type"] == "payment.succeeded"
    }
