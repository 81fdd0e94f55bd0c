"""What Marketplace knows of an organization itself."""

from thenga.domains.marketplace.tables.tenants import Tenant
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)


async def in_sandbox(read: Reader) -> bool:
    """Whether the organization is a sandbox: what one offers is for sandboxes alone (MKT-6).

    One that was not announced yet, as the operator never is, counts as live.
    """
    tenant = await read.find(Tenant, organization_id=read.organization_id)
    return tenant is not None and tenant.sandbox
