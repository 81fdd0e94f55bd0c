"""Holdings: what is open, counted once by its subject (BIL-24)."""

from datetime import datetime

from thenga.domains.billing.tables import Holding
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

# A row to lock, which whoever speaks first of a subject makes; it says nothing yet.
_BEGIN = """
    INSERT INTO billing.holding (id, created_at, updated_at, version, organization_id,
        meter, subject, open, changed_at)
    VALUES ($1, $2, $2, 1, $3, $4, $5, false, 'epoch')
    ON CONFLICT (organization_id, meter, subject) DO NOTHING
"""


async def turn(
    work: Work, meter: str, subject: dict[str, str], operation: str, *, at: datetime
) -> int:
    """Open or release, and by how much that moves the count.

    The newest word about a subject counts, in whatever order they come, so what changes nothing is
    remembered too: that it is open already, or that something unknown was released. Of two words
    of one instant the release counts.
    """
    name = named(subject)
    await work.run(_BEGIN, new_id(), work.now, work.organization_id, meter, name)
    row = await work.lock_by(Holding, meter=meter, subject=name)
    opens, before = operation == "hold", row.open
    if at < row.changed_at or (at == row.changed_at and opens):
        return 0
    row.open, row.changed_at = opens, at
    await work.save(row)
    return opens - before


def named(subject: dict[str, str]) -> str:
    """A subject as one text."""
    return "/".join((f"{subject['domain']}.{subject['type']}", subject["id"]))
