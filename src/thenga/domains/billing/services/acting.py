"""For whom a list is read: operators name the organization, everybody else has their own."""

from uuid import UUID

from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound
from thenga.kernel.gate import HeldAs


async def act_for(read: Reader, organization_id: UUID | None) -> None:
    """Go on for the organization asked for; one that is not the caller's is not there."""
    if read.held_as != HeldAs.PLATFORM:
        if organization_id not in (None, read.organization_id):
            raise NotFound()
    elif organization_id is not None:
        if read.has_organization and read.organization_id != organization_id:
            raise NotFound("The header names another organization; leave one of them out.")
        await read.settle_in(organization_id)
