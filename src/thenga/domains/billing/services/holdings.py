"""Holdings: what is open, counted once by its subject (BIL-24)."""

from datetime import datetime

from thenga.domains.billing.services import usage_totals
from thenga.domains.billing.services.usage_totals import Moved
from thenga.domains.billing.tables import STANDING
from thenga.kernel.db.work import Work
from thenga.kernel.ids import new_id

# Only the newest word about a subject counts, and only a change of it is counted.
_HOLD = """
    INSERT INTO billing.holding AS known (id, created_at, updated_at, version, organization_id,
        meter, subject, open, changed_at)
    VALUES ($1, $2, $2, 1, $3, $4, $5, true, $6)
    ON CONFLICT (organization_id, meter, subject) DO UPDATE
    SET open = true, changed_at = $6, updated_at = $2, version = known.version + 1
    WHERE NOT known.open AND known.changed_at <= $6
    RETURNING id
"""
_RELEASE = """
    UPDATE billing.holding SET open = false, changed_at = $5, updated_at = $1,
        version = version + 1
    WHERE organization_id = $2 AND meter = $3 AND subject = $4 AND open AND changed_at <= $5
    RETURNING id
"""


async def turn(
    work: Work, meter: str, subject: dict[str, str], operation: str, *, at: datetime
) -> Moved | None:
    """Open or release; releasing the unknown, and what is so already, changes nothing."""
    here = (work.now, work.organization_id, meter, _named(subject), at)
    if operation == "hold":
        found = await work.query(_HOLD, new_id(), *here)
        by = 1
    else:
        found = await work.query(_RELEASE, *here)
        by = -1
    if not found:
        return None
    return await usage_totals.move(work, meter, STANDING, by)


def _named(subject: dict[str, str]) -> str:
    return "/".join((f"{subject['domain']}.{subject['type']}", subject["id"]))
