"""The nightly check of all books, run as the system login (BIL-48).

It compares the journal with itself, with documents, numbers and payments, and stored entitlement
sets with their sources. The database should already have refused every error that it finds.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.services import entitlements
from thenga.domains.billing.services.accounts import parking
from thenga.domains.billing.tables import LedgerVerification
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day, local_midnight

_A_DAY = timedelta(days=1)
_LONG = 600.0  # seconds; the time limit of a statement over all books
_MOST_SETS = 1000  # sets checked in a night
_HOUR = timedelta(hours=2)  # after midnight, when the previous day has ended in every time zone
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
# The receivables of the journal equal the open invoices.
_RECEIVABLE = """
    SELECT organization_id FROM (
        SELECT organization_id, currency, amount_minor AS minor FROM billing.journal_line
        WHERE account = 'receivable'
        UNION ALL
        SELECT organization_id, currency, -amount_due_minor FROM billing.invoice
        WHERE status = 'open'
    ) AS both_sides GROUP BY organization_id, currency HAVING sum(minor) <> 0
"""
# No customer's credit is negative.
_CREDIT = """
    SELECT organization_id FROM billing.journal_line WHERE account = 'customer_credit'
    GROUP BY organization_id, currency HAVING sum(amount_minor) > 0
"""
# Every payment and refund is booked, once for each time the provider collected it.
_PAYMENTS = """
    SELECT p.organization_id FROM billing.payment p LEFT JOIN (
        SELECT e.organization_id, e.source_id, -sum(l.amount_minor) AS minor
        FROM billing.journal_entry e JOIN billing.journal_line l
            ON l.organization_id = e.organization_id AND l.entry_id = e.id
        WHERE e.kind IN ('payment', 'eft') AND l.account = 'customer_credit' GROUP BY 1, 2
    ) AS j ON j.organization_id = p.organization_id AND j.source_id = p.id
    WHERE p.status = 'succeeded'
        AND (coalesce(j.minor, 0) < p.amount_minor OR j.minor % p.amount_minor <> 0)
    UNION ALL
    SELECT r.organization_id FROM billing.refund r LEFT JOIN (
        SELECT e.organization_id, e.source_id, sum(l.amount_minor) AS minor
        FROM billing.journal_entry e JOIN billing.journal_line l
            ON l.organization_id = e.organization_id AND l.entry_id = e.id
        WHERE e.kind = 'refund' AND l.account = 'customer_credit' GROUP BY 1, 2
    ) AS j ON j.organization_id = r.organization_id AND j.source_id = r.id
    WHERE r.status = 'succeeded' AND j.minor IS DISTINCT FROM r.amount_minor
"""
# The settled part of an invoice equals its allocations: money, credit and its credit notes.
_ALLOCATIONS = """
    SELECT i.organization_id FROM billing.invoice i LEFT JOIN (
        SELECT e.organization_id, e.source_id, sum(l.amount_minor) AS minor
        FROM billing.journal_entry e JOIN billing.journal_line l
            ON l.organization_id = e.organization_id AND l.entry_id = e.id
        WHERE e.kind = 'allocation' AND l.account = 'customer_credit' GROUP BY 1, 2
    ) AS j ON j.organization_id = i.organization_id AND j.source_id = i.id
    WHERE i.number IS NOT NULL AND (
        coalesce(j.minor, 0) <> i.gross_minor - i.amount_due_minor
        OR coalesce(j.minor, 0) - i.amount_paid_minor - i.credit_applied_minor
            NOT BETWEEN 0 AND i.amount_credited_minor)
"""
# A different sample every night, and always the parked ones.
_SETS = """
    SELECT s.organization_id, coalesce(c.ahead, interval '0') AS ahead
    FROM billing.entitlement_set s
    JOIN billing.account a ON a.organization_id = s.organization_id
    LEFT JOIN billing.clock_offset c ON c.organization_id = s.organization_id
    WHERE s.version > 0
    ORDER BY a.parked IS NULL, md5(s.organization_id::text || $1) LIMIT $2
"""
# Every issued document has one entry with its VAT, and every such entry has a document.
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
# There are as many documents as numbers, and the last one has the last number.
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


async def verify_ledger(work: Work) -> LedgerVerification | None:
    """Check all books once a local day, after 02:00, and publish what does not balance."""
    today = local_day(work.now)
    if work.now < local_midnight(today) + _HOUR:
        return None
    if await work.find(LedgerVerification, day=today) is not None:
        return None
    balances = [dict(row) for row in await work.query(_BALANCES, seconds=_LONG)]
    wrong = await _run_checks(work)
    checks = [{"check": check, "wrong": len(wrong[check])} for check in _CHECKS]
    unbalanced = len(wrong["unbalanced"])
    journal_sum = sum(row["minor"] for row in balances)
    made = await work.add(
        LedgerVerification(
            day=today,
            entries=(await work.query(_ENTRIES, seconds=_LONG))[0][0],
            lines=sum(row["lines"] for row in balances),
            journal_sum_minor=journal_sum,
            unbalanced=unbalanced,
            balances=[_shown(row) for row in balances],
            checks=checks,
            passed=not (unbalanced or journal_sum or any(check["wrong"] for check in checks)),
        )
    )
    # Live number series belong to the platform, so an error in one parks no customer.
    await parking.apply_check_result(
        work, {organization_id for each in wrong.values() for organization_id in each} - {OPERATOR}
    )
    if not made.passed:
        _publish_failed_check(work, made)
    return made


async def report_missing_check(work: Work) -> LedgerVerification | None:
    """Report a day without a check as a failed check: a check that raised leaves no row."""
    day = local_day(work.now) - _A_DAY
    first = select(LedgerVerification).order_by(LedgerVerification.__table__.c.day)
    begun = await work.all(first, limit=1)
    if not begun or begun[0].day > day or await work.find(LedgerVerification, day=day) is not None:
        return None
    made = await work.add(
        LedgerVerification(
            day=day,
            entries=0,
            lines=0,
            journal_sum_minor=0,
            unbalanced=0,
            balances=[],
            passed=False,
        )
    )
    _publish_failed_check(work, made)
    return made


def _publish_failed_check(work: Work, made: LedgerVerification) -> None:
    work.publish(
        public.LedgerCheckFailed(
            verification_id=made.id,
            day=made.day,
            journal_sum_minor=made.journal_sum_minor,
            unbalanced=made.unbalanced,
        )
    )


_CHECKS = ("receivable", "credit", "payments", "allocations", "vat", "series", "entitlements")


async def _run_checks(work: Work) -> dict[str, list[UUID]]:
    """The organizations with an error in this check, once for each error."""
    asked: dict[str, tuple[Any, ...]] = {
        "unbalanced": (_UNBALANCED,),
        "receivable": (_RECEIVABLE,),
        "credit": (_CREDIT,),
        "payments": (_PAYMENTS,),
        "allocations": (_ALLOCATIONS,),
        "vat": (_VAT,),
        "series": (_SERIES, OPERATOR),
    }
    found = {check: await work.query(*one, seconds=_LONG) for check, one in asked.items()}
    wrong = {check: [row["organization_id"] for row in rows] for check, rows in found.items()}
    return wrong | {"entitlements": await _wrong_sets(work)}


async def _wrong_sets(work: Work) -> list[UUID]:
    """The organizations whose stored set differs from its sources, each at its own clock."""
    found = []
    for row in await work.query(_SETS, str(local_day(work.now)), _MOST_SETS):
        async with work.separate_reader() as read:
            await read.enter_organization(row["organization_id"], ahead=row["ahead"])
            if not await entitlements.is_up_to_date(read):
                found.append(row["organization_id"])
    return found


async def list_checks(read: Reader, paged: Paged) -> Slice[LedgerVerification]:
    """The results of the checks, by day."""
    return await read.page(select(LedgerVerification), paged)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("book", "account", "currency", "minor")}
