"""Jobs of support cases."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.administration.jobs.declared import jobs
from thenga.domains.administration.services import support
from thenga.domains.administration.tables import SupportCase
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, SupportCase, every=timedelta(seconds=60))
async def tell_breach(work: Work, *, case_id: UUID) -> None:
    """A target of a case has passed (ADM-23)."""
    await support.tell_breach(work, case_id)
