"""Who acts, and for which organization: staff for one that they name, a key for its person."""

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


def same_person(work: Reader, *actor_ids: UUID | None) -> bool:
    """Whether one of these is the acting person. A key counts as the person who answers for it.

    Where two people must act, keep `work.actor.person_id` of the first, and ask before the second
    changes the row.
    """
    acting = {work.actor.id, work.actor.person_id} - {None}
    return not acting.isdisjoint(actor_ids)
