"""What is known of an organization, and for whom staff act."""

from thenga.domains.opportunity.tables import Tenant
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work

ORGAN_OF_STATE = "organ_of_state"


async def know_tenant(work: Work, *, organization_type: str, sandbox: bool) -> None:
    """Store a new organization. An announcement that arrives again changes nothing."""
    if await work.find(Tenant) is None:
        await work.add(
            Tenant(
                organization_id=work.organization_id,
                organization_type=organization_type,
                sandbox=sandbox,
            )
        )


async def is_sandbox(read: Reader) -> bool:
    """Whether the organization is a sandbox, whose clock can be moved."""
    tenant = await read.find(Tenant)
    if tenant is None:
        raise LookupError("this organization was not announced yet")
    return tenant.sandbox


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
