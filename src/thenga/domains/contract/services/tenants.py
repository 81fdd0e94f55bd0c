"""What Contract knows of an organization itself."""

from thenga.domains.contract.tables import Tenant
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def know_tenant(work: Work, *, sandbox: bool) -> None:
    """Store a new organization. An announcement that arrives again changes nothing."""
    if await work.find(Tenant) is None:
        await work.add(Tenant(organization_id=work.organization_id, sandbox=sandbox))


async def is_sandbox(read: Reader) -> bool:
    """Whether the organization is a sandbox, whose clock can be moved."""
    tenant = await read.find(Tenant)
    if tenant is None:
        raise LookupError("this organization was not announced yet")
    return tenant.sandbox
