"""The nightly check of all journals and counters, as the system login (CON-27).

The database should already have refused every error that it finds.
"""

from dataclasses import dataclass

import structlog

from thenga.kernel.db.work import Work

log = structlog.get_logger()

_LONG = 600.0  # seconds; the time limit of a statement over all contracts
_CHECKS = {
    "journal": """
        SELECT count(*) FROM (
            SELECT 1 FROM contract.journal_entry e LEFT JOIN contract.journal_line l
                ON l.organization_id = e.organization_id AND l.entry_id = e.id
            GROUP BY e.organization_id, e.id, l.currency
            HAVING coalesce(sum(l.amount_minor), -1) <> 0
        ) AS unbalanced
    """,
    "receivable": """
        SELECT count(*) FROM (
            SELECT 1 FROM (
                SELECT organization_id, workspace_id, amount_minor AS minor
                FROM contract.journal_line WHERE account = 'receivable'
                UNION ALL
                SELECT organization_id, workspace_id,
                    -(payable_minor - paid_minor - credited_minor - written_off_minor)
                FROM contract.invoice WHERE number IS NOT NULL
            ) AS both_sides GROUP BY organization_id, workspace_id HAVING sum(minor) <> 0
        ) AS differing
    """,
    "counters": """
        SELECT count(*) FROM contract.workspace_money m LEFT JOIN (
            SELECT organization_id, workspace_id,
                sum(amount_minor) FILTER (WHERE account = 'retention') AS retention,
                sum(amount_minor) FILTER (WHERE account = 'advance') AS advance
            FROM contract.journal_line GROUP BY 1, 2
        ) AS j ON j.organization_id = m.organization_id AND j.workspace_id = m.workspace_id
        WHERE m.retained_minor - m.released_minor <> coalesce(j.retention, 0)
            OR m.recovered_minor - m.advance_billed_minor <> coalesce(j.advance, 0)
    """,
    "milestones": """
        SELECT count(*) FROM contract.workspace_money m LEFT JOIN (
            SELECT organization_id, workspace_id, sum(billed_minor) AS billed
            FROM contract.milestone GROUP BY 1, 2
        ) AS s ON s.organization_id = m.organization_id AND s.workspace_id = m.workspace_id
        WHERE m.billed_minor <> coalesce(s.billed, 0)
    """,
    "series": """
        SELECT count(*) FROM contract.series s LEFT JOIN (
            SELECT organization_id, 'invoice' AS name, count(*) AS issued FROM contract.invoice
            WHERE number IS NOT NULL AND external_number IS NULL GROUP BY 1
            UNION ALL
            SELECT organization_id, 'credit_note', count(*) FROM contract.credit_note GROUP BY 1
        ) AS n ON n.organization_id = s.organization_id AND n.name = s.name
        WHERE s.name IN ('invoice', 'credit_note') AND s.last_number <> coalesce(n.issued, 0)
    """,
}


@dataclass(frozen=True, slots=True)
class MoneyCheck:
    """How many differences each check found."""

    found: dict[str, int]

    @property
    def passed(self) -> bool:
        return not any(self.found.values())


async def verify_money(work: Work) -> MoneyCheck:
    """Compare journal, documents, counters and number series of all contracts."""
    found: dict[str, int] = {}
    for name, statement in _CHECKS.items():
        (row,) = await work.query(statement, seconds=_LONG)
        found[name] = row[0]
    check = MoneyCheck(found)
    tell = log.info if check.passed else log.error
    tell("contract.money.verified", passed=check.passed, **found)
    return check
