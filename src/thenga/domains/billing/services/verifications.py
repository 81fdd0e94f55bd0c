"""The nightly check of all books, as the system login: do they balance? (BIL-48)

And do they say what the documents say: what is due, what was charged as VAT, which numbers there
are? Each check counts what is wrong; the database should have refused all of it.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.services import parking
from thenga.domains.billing.tables import LedgerVerification
from thenga.kernel.actors import OPERATOR
from thenga.kernel.calendar import local_day, local_midnight
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work

_HOUR = timedelta(hours=2)  # after midnight, when the day before is over for everybody
_BALANCES = """
    SELECT e.book, l.account, l.currency, sum(l.amount_minor)::bigint AS minor, count(*) AS lines
    FROM billing.journal_line l
    JOIN billing.journal_entry e ON e.organization_id = l.organization_id AND e.id = l.entry_id
    GROUP BY e.book, l.account, l.currency ORDER BY 1, 2, 3
"""
_UNBALANCED = """
    SELECT e.organization_id FROM billing.journal_entry e
    LEFT JOIN billing.journal_line l
        ON l.organization_id = e.organization_id AND l.entry_id = e.id
    GROUP BY e.organization_id, e.id, l.currency
    HAVING coalesce(sum(l.amount_minor), -1) <> 0
"""
_ENTRIES = "SELECT count(*) FROM billing.journal_entry"
# What organizations owe by the journal, and by their open invoices.
_RECEIVABLE = """
    SELECT organization_id FROM (
        SELECT organization_id, currency, amount_minor AS minor FROM billing.journal_line
        WHERE account = 'receivable'
        UNION ALL
        SELECT organization_id, currency, -amount_due_minor FROM billing.invoice
        WHERE status = 'open'
    ) AS both_sides GROUP BY organization_id, currency HAVING sum(minor) <> 0
"""
# Nobody has less than nothing to their credit.
_CREDIT = """
    SELECT organization_id FROM billing.journal_line WHERE account = 'customer_credit'
    GROUP BY organization_id, currency HAVING sum(amount_minor) > 0
"""
# Every issued document has one entry with its VAT, and every such entry its document.
_VAT = """
    SELECT coalesce(d.organization_id, j.organization_id) AS organization_id FROM (
        SELECT organization_id, id, -vat_minor AS vat FROM billing.invoice
        WHERE number IS NOT NULL
        UNION ALL
        SELECT organization_id, id, vat_minor FROM billing.credit_note WHERE number IS NOT NULL
    ) AS d FULL JOIN (
        SELECT e.organization_id, e.source_id AS id,
            coalesce(sum(l.amount_minor) FILTER (WHERE l.account = 'vat_output'), 0) AS vat
        FROM billing.journal_entry e JOIN billing.journal_line l
            ON l.organization_id = e.organization_id AND l.entry_id = e.id
        WHERE e.kind IN ('invoice', 'credit_note')
            AND e.source_type IN ('invoice', 'credit_note')
        GROUP BY e.organization_id, e.id, e.source_id
    ) AS j ON j.organization_id = d.organization_id AND j.id = d.id
    WHERE d.vat IS DISTINCT FROM j.vat
"""
# As many documents as numbers were given, and the last one has the last number.
_SERIES = """
    SELECT coalesce(s.holder_id, d.holder_id) AS organization_id FROM (
        SELECT seller_code, kind, book, holder_id, count(*) AS documents,
            max(substring(number FROM '[0-9]+$')::bigint) AS last
        FROM (
            SELECT seller_code, 'invoice' AS kind, book, number, organization_id AS holder_id
            FROM billing.invoice WHERE number IS NOT NULL AND book = 'sandbox'
            UNION ALL
            SELECT seller_code, 'credit_note', book, number, organization_id
            FROM billing.credit_note WHERE number IS NOT NULL AND book = 'sandbox'
            UNION ALL
            SELECT seller_code, 'invoice', book, number, $1
            FROM billing.invoice WHERE number IS NOT NULL AND book = 'live'
            UNION ALL
            SELECT seller_code, 'credit_note', book, number, $1
            FROM billing.credit_note WHERE number IS NOT NULL AND book = 'live'
        ) AS numbered GROUP BY 1, 2, 3, 4
    ) AS d FULL JOIN billing.document_series s
        ON s.seller_code = d.seller_code AND s.document_kind = d.kind
        AND s.book = d.book AND s.holder_id = d.holder_id
    WHERE coalesce(d.documents, 0) <> coalesce(s.next_number, 1) - 1
        OR coalesce(d.last, 0) <> coalesce(s.next_number, 1) - 1
"""


async def verify(work: Work) -> LedgerVerification | None:
    """Check once a local day, after two in the morning; tell what does not balance."""
    today = local_day(work.now)
    if work.now < local_midnight(today) + _HOUR:
        return None
    if await work.find(LedgerVerification, day=today) is not None:
        return None
    balances = [dict(one) for one in await work.query(_BALANCES)]
    wrong = await _wrong(work)
    checks = [{"check": check, "wrong": len(wrong[check])} for check in _CHECKS]
    unbalanced = len(wrong["unbalanced"])
    journal_sum = sum(one["minor"] for one in balances)
    made = await work.add(
        LedgerVerification(
            day=today,
            entries=(await work.query(_ENTRIES))[0][0],
            lines=sum(one["lines"] for one in balances),
            journal_sum_minor=journal_sum,
            unbalanced=unbalanced,
            balances=[_shown(one) for one in balances],
            checks=checks,
            passed=not (unbalanced or journal_sum or any(one["wrong"] for one in checks)),
        )
    )
    # A series of live numbers is the operator's own, and no customer is parked for it.
    await parking.follow_check(work, {one for each in wrong.values() for one in each} - {OPERATOR})
    if not made.passed:
        work.publish(
            public.LedgerCheckFailed(
                verification_id=made.id,
                day=made.day,
                journal_sum_minor=made.journal_sum_minor,
                unbalanced=made.unbalanced,
            )
        )
    return made


_CHECKS = ("receivable", "credit", "vat", "series")


async def _wrong(work: Work) -> dict[str, list[UUID]]:
    """Whose books a check doubts, once for each thing that is wrong."""
    found = {
        "unbalanced": await work.query(_UNBALANCED),
        "receivable": await work.query(_RECEIVABLE),
        "credit": await work.query(_CREDIT),
        "vat": await work.query(_VAT),
        "series": await work.query(_SERIES, OPERATOR),
    }
    return {check: [row["organization_id"] for row in rows] for check, rows in found.items()}


async def list_all(read: Reader, paged: Paged) -> Slice[LedgerVerification]:
    """What was found, day by day."""
    return await read.page(select(LedgerVerification), paged)


def _shown(one: dict[str, Any]) -> dict[str, Any]:
    return {name: one[name] for name in ("book", "account", "currency", "minor")}
