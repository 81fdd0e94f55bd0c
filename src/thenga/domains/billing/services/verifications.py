"""The nightly check of all books, as the system login: do they balance? (BIL-48)"""

from datetime import timedelta
from typing import Any

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.tables import LedgerVerification
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
    SELECT count(*) FROM (
        SELECT e.id FROM billing.journal_entry e
        LEFT JOIN billing.journal_line l
            ON l.organization_id = e.organization_id AND l.entry_id = e.id
        GROUP BY e.organization_id, e.id, l.currency
        HAVING coalesce(sum(l.amount_minor), -1) <> 0
    ) AS wrong
"""
_ENTRIES = "SELECT count(*) FROM billing.journal_entry"


async def verify(work: Work) -> LedgerVerification | None:
    """Check once a local day, after two in the morning; tell what does not balance."""
    today = local_day(work.now)
    if work.now < local_midnight(today) + _HOUR:
        return None
    if await work.find(LedgerVerification, day=today) is not None:
        return None
    balances = [dict(one) for one in await work.query(_BALANCES)]
    made = await work.add(
        LedgerVerification(
            day=today,
            entries=(await work.query(_ENTRIES))[0][0],
            lines=sum(one["lines"] for one in balances),
            journal_sum_minor=sum(one["minor"] for one in balances),
            unbalanced=(unbalanced := (await work.query(_UNBALANCED))[0][0]),
            balances=[_shown(one) for one in balances],
            passed=not unbalanced and not sum(one["minor"] for one in balances),
        )
    )
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


async def list_all(read: Reader, paged: Paged) -> Slice[LedgerVerification]:
    """What was found, day by day."""
    return await read.page(select(LedgerVerification), paged)


def _shown(one: dict[str, Any]) -> dict[str, Any]:
    return {name: one[name] for name in ("book", "account", "currency", "minor")}
