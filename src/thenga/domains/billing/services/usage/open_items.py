"""Gauge meters: open subjects, each counted once (BIL-24)."""

from datetime import datetime

from thenga.domains.billing.tables import Holding
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

NAMES = frozenset({"domain", "type", "id"})  # of a subject
# The first report inserts the row to lock.
_BEGIN = """
    INSERT INTO billing.holding (id, created_at, updated_at, version, organization_id,
        meter, subject, open, changed_at)
    VALUES ($1, $2, $2, 1, $3, $4, $5, false, 'epoch')
    ON CONFLICT (organization_id, meter, subject) DO NOTHING
"""


async def apply_subject(
    work: Work, meter: str, subject: dict[str, str], operation: str, *, at: datetime
) -> int:
    """Open or release a subject, and return the change of the count.

    The newest report about a subject wins in any order, so reports without effect are stored too.
    Of two reports of the same instant the release wins.
    """
    name = subject_key(subject)
    await work.run(_BEGIN, new_id(), work.now, work.organization_id, meter, name)
    row = await work.lock_by(Holding, meter=meter, subject=name)
    opens, before = operation == "hold", row.open
    if at < row.changed_at or (at == row.changed_at and opens):
        return 0
    row.open, row.changed_at = opens, at
    await work.save(row)
    return opens - before


def subject_key(subject: dict[str, str]) -> str:
    """A subject as text."""
    return "/".join((f"{subject['domain']}.{subject['type']}", subject["id"]))
