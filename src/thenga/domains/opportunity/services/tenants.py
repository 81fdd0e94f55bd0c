"""What is known of an organization, and for whom staff act."""

from thenga.domains.opportunity.tables import Tenant
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.tenants import Tenants

ORGAN_OF_STATE = "organ_of_state"
TENANTS = Tenants(Tenant)


async def may_share(read: Reader) -> bool:
    """Whether tenders of this organization can be shared with everybody (OPP-16)."""
    if read.organization_id == OPERATOR:
        return True
    tenant = await read.find(Tenant)
    return tenant is not None and tenant.organization_type == ORGAN_OF_STATE and not tenant.sandbox


async def act_for_platform(read: Reader) -> None:
    """Staff who name no organization keep what is the platform's own."""
    if read.held_as == HeldAs.PLATFORM and not read.has_organization:
        await read.enter_organization(OPERATOR)
