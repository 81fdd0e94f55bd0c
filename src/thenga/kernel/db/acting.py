"""The organization of a list: operators name one, everybody else reads their own."""

from uuid import UUID

from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.errors import NotFound


async def on_behalf_of(read: Reader, organization_id: UUID | None) -> None:
    """Read for the named organization, at its own clock. Only operators can name another one."""
    if read.held_as != HeldAs.PLATFORM:
        if organization_id not in (None, read.organization_id):
            raise NotFound()
    elif organization_id is None:
        if not read.has_organization:
            raise NotFound("Name the organization in `organizationId` or `X-Organization-Id`.")
    else:
        if read.has_organization and read.organization_id != organization_id:
            raise NotFound("`X-Organization-Id` names another organization. Send only one of them.")
        ahead = await clock_offset(read.host, read.domain, organization_id)
        await read.enter_organization(organization_id, ahead=ahead)
