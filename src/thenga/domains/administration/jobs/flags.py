"""Jobs of feature flags: what targeting knows of organizations, as the system login."""

from datetime import datetime

from thenga.domains.administration.jobs.declared import jobs
from thenga.domains.administration.services import flags
from thenga.kernel.db.work import Work


@jobs.implements(flags.note_mode)
async def note_mode(work: Work, *, sandbox: bool) -> None:
    """An organization was created."""
    await flags.keep_mode(work, sandbox=sandbox)


@jobs.implements(flags.note_plan)
async def note_plan(work: Work, *, plan_code: str | None, at: datetime) -> None:
    """An organization has another plan."""
    await flags.keep_plan(work, plan_code=plan_code, at=at)
