"""Opportunity's ports, answered in this process."""

from uuid import UUID

from thenga.domains.opportunity import public
from thenga.domains.opportunity.services import describing
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host


class LocalTenders(public.Tenders):
    """Tenders as the asking organization sees them."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Tenders)

    async def describe(
        self, *, organization_id: UUID, tender_ids: list[UUID]
    ) -> list[public.Tender]:
        async with self._answering.reading(organization_id) as read:
            return await describing.describe_tenders(read, tender_ids)


class LocalPassages(public.Passages):
    """Texts of tenders that the asking organization sees."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Passages)

    async def read(
        self,
        *,
        refs: list[public.PassageRef],
        organization_id: UUID,
        on_behalf_of: UUID | None = None,
    ) -> list[public.Passage]:
        async with self._answering.reading(organization_id) as read:
            return await describing.read_passages(read, refs)
