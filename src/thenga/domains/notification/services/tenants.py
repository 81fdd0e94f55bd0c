"""What is known of an organization, and whose rows staff see."""

from thenga.domains.notification.tables import Tenant
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)  # messages of a sandbox are never sent


async def is_known_sandbox(read: Reader) -> bool:
    """Whether it is a sandbox; an organization that was not announced yet counts as live."""
    tenant = await read.find(Tenant)
    return tenant is not None and tenant.sandbox


async def enter_own(read: Reader) -> None:
    """Staff who name no organization act on what is the platform's own."""
    if read.held_as == HeldAs.PLATFORM and not read.has_organization:
        await read.enter_organization(OPERATOR)
