"""Marketplace's port, answered in this process."""

from uuid import UUID

from thenga.domains.marketplace import public
from thenga.domains.marketplace.services import recipients
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host


class LocalQuoteRequests(public.QuoteRequests):
    """What was asked of whom, as one organization may read it."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.QuoteRequests)

    async def describe(
        self, *, organization_id: UUID, quote_request_ids: list[UUID]
    ) -> list[public.QuoteRequestView]:
        async with self._answering.reading(organization_id) as read:
            return await recipients.describe_quote_requests(read, quote_request_ids)
