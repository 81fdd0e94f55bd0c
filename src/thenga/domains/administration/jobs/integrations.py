"""Jobs of integrations."""

from datetime import timedelta

from thenga.domains.administration.jobs.declared import jobs
from thenga.domains.administration.services import integrations
from thenga.kernel.db.work import Work


@jobs.every(timedelta(hours=1))
async def purge_replaced_secrets(work: Work) -> None:
    """Remove versions of secrets whose grace has ended (ADM-40)."""
    await integrations.purge_replaced(work)
