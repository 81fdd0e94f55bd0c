"""Marketplace's jobs that no service function declares."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.marketplace.services import quote_requests
from thenga.domains.marketplace.tables.quote_requests import QuoteRequest
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("marketplace")
reseal_columns = reseals(jobs)


@when_due(jobs, QuoteRequest, every=timedelta(minutes=1))
async def end_request(work: Work, *, quote_request_id: UUID) -> None:
    """Evaluate a quote request at its deadline; without an offer it has expired (MKT-30)."""
    await quote_requests.end_quote_request(work, quote_request_id)
