"""When a company's health is looked at again: soon after a change, and every night."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from thenga.domains.organization.tables import Health
from thenga.kernel.db.work import Work

SOON = timedelta(seconds=60)
NIGHT = time(0, 30)
_ZONE = ZoneInfo("Africa/Johannesburg")


async def begin_health(work: Work) -> None:
    """A company that was just founded has a health from now on."""
    await work.add(
        Health(
            id=work.organization_id,
            organization_id=work.organization_id,
            next_check_at=work.now + SOON,
        )
    )


async def mark_health_due(work: Work) -> None:
    """Something changed on which health may hang; many changes in a minute are one look."""
    await work.run(_MARK, work.organization_id, work.now, work.now + SOON)


def next_night(now: datetime) -> datetime:
    """The next half past midnight in South Africa."""
    local = now.astimezone(_ZONE)
    tonight = datetime.combine(local.date(), NIGHT, tzinfo=_ZONE)
    return tonight if tonight > local else tonight + timedelta(days=1)


# What is marked for sooner stays as it is and is not waited for. What is due already may be being
# looked at just now, without this change: then one waits for that look and marks the next.
_MARK = """
    UPDATE organization.health SET next_check_at = least(next_check_at, $3)
    WHERE organization_id = $1 AND id = $1 AND (next_check_at > $3 OR next_check_at <= $2)
"""
