"""Jobs that fill profiles and publish the catalogue."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.compliance.jobs.declared import jobs
from thenga.domains.compliance.services import requirements
from thenga.domains.compliance.tables import Profile
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, Profile, every=timedelta(seconds=30))
async def refresh_profile(work: Work, *, profile_id: UUID) -> None:
    """Decide again which requirements apply: Organization was silent, or the law has changed."""
    await requirements.refresh_profile(work)


@jobs.implements(requirements.publish_entry)
async def publish_entry(work: Work, *, entry_id: UUID) -> None:
    """Copy what staff wrote to the catalogue."""
    await requirements.copy_to_catalogue(work, entry_id)
