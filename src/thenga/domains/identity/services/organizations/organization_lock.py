"""The organization as Identity knows it, and the one lock under which belonging is counted.

Seats and owners are rules over many rows (IDN-19, IDN-22). Whoever could break one holds the row of
the organization first, always before the rows themselves, so that nobody waits in a circle.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from thenga.domains.identity.tables import TenantMirror
from thenga.domains.organization.public import Profiles
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem
from thenga.kernel.ports.binding import within

_HOLD = "SELECT status, ahead FROM identity.tenant_mirror WHERE organization_id = $1 FOR UPDATE"


@dataclass(frozen=True)
class Tenant:
    """An organization and its own present moment (IDN-51)."""

    id: UUID
    status: str
    now: datetime

    @property
    def is_active(self) -> bool:
        return self.status == "active"


async def lock_organization(work: Work) -> Tenant:
    """The organization of this unit of work, held until its end.

    `If-Match` is about the row that is asked for, so this lock does not look at it.
    """
    found = await work.query(_HOLD, work.organization_id)
    if not found:
        raise NotFound()
    status, ahead = found[0]
    return Tenant(work.organization_id, status, work.now_in(ahead))


async def find_organization(read: Reader) -> Tenant:
    """The same without the lock, for whoever only reads."""
    mirror = await read.find(TenantMirror)
    if mirror is None:
        raise NotFound()
    return Tenant(read.organization_id, mirror.status, read.now_in(mirror.ahead))


async def is_sandbox(read: Reader) -> bool:
    """Whether this organization only tries things out; an unknown one is a fault of who asks."""
    mirror = await read.find(TenantMirror)
    if mirror is None:
        raise LookupError("no organization of this id was founded")
    return mirror.sandbox


async def organization_name(read: Reader, organization_id: UUID) -> str | None:
    """What the company calls itself; None where Organization does not answer."""
    return (await organization_names(read, [organization_id])).get(organization_id)


async def organization_names(read: Reader, organization_ids: Collection[UUID]) -> dict[UUID, str]:
    """What companies call themselves, by id; those are left out that Organization does not name."""
    if not organization_ids:
        return {}
    try:
        profiles = read.port(Profiles)
    except LookupError:
        return {}  # nobody answers for Organization in this deployment
    try:
        asked = profiles.cards(organization_ids=list(organization_ids))
        cards = await within(profiles.port_timeout, profiles.port_name, asked)
    except Problem:
        return {}
    return {card.organization_id: card.display_name for card in cards}
