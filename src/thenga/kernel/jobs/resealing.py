"""The job that seals again, under the present key, what former keys have sealed (SEC-62)."""

from datetime import timedelta

from thenga.kernel.db import sealed
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Job, Jobs


def reseals(jobs: Jobs) -> Job:
    """Every domain with a sealed column has this job; without a former key it finds nothing."""

    async def reseal_columns(work: Work) -> None:
        """Seal again, under the present key, what former keys have sealed."""
        await sealed.reseal(work.host, work.domain)

    return jobs.every(timedelta(hours=1))(reseal_columns)
