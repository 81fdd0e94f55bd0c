"""Jobs that end suggestions nobody decided."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.compliance.jobs.declared import jobs
from thenga.domains.compliance.services import suggestions
from thenga.domains.compliance.tables import AiSuggestion
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, AiSuggestion, every=timedelta(minutes=10))
async def expire_suggestions(work: Work, *, suggestion_id: UUID) -> None:
    """A suggestion expires after 60 days."""
    await suggestions.expire(work, suggestion_id)
