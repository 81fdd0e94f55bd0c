"""What is known of an organization, and whose rows staff see."""

from thenga.domains.notification.tables import Tenant
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def know_tenant(work: Work, *, sandbox: bool) -> None:
    """Store a new organization. An announcement that arrives again changes nothing."""
    if await work.find(Tenant) is None:
        await work.add(Tenant(organization_id=work.organization_id, sandbox=sandbox))


async def is_sandbox(read: Reader) -> bool:
    """Whether the organization is a sandbox; messages of a sandbox are never sent."""
    tenant = await read.find(Tenant)
    if tenant is None:
        raise LookupError("this organization was not announced yet")
    return tenant.sandbox


async def is_known_sandbox(read: Reader) -> bool:
    """As `is_sandbox`, where an organization that was not announced yet counts as a live one."""
    tenant = await read.find(Tenant)
    return tenant is not None and tenant.sandbox


async def enter_own(read: Reader) -> None:
    """Staff who name no organization act on what is the platform's own."""
    if read.held_as == HeldAs.PLATFORM and not read.has_organization:
        await read.enter_organization(OPERATOR)
