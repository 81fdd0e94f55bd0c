"""What is known of an organization, and for whom staff act."""

from thenga.domains.opportunity.tables import Tenant
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)


def may_share(read: Reader) -> bool:
    """Whether this work may share tenders with everybody and give them an ocid (OPP-16).

    The type of an organization is its own statement until somebody has verified it.
    """
    return read.organization_id == OPERATOR


async def act_for_platform(read: Reader) -> None:
    """Staff who name no organization keep what is the platform's own."""
    if read.held_as == HeldAs.PLATFORM and not read.has_organization:
        await read.enter_organization(OPERATOR)
