"""Whose clock may run ahead: only that of a sandbox."""

from thenga.domains.administration.tables import TenantMode
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def keep_mode(work: Work, *, sandbox: bool) -> None:
    """Keep the mode of a new organization, once."""
    if await work.find(TenantMode) is None:
        await work.add(TenantMode(organization_id=work.organization_id, sandbox=sandbox))


async def is_sandbox(read: Reader) -> bool:
    """Whether the organization is known to be a sandbox."""
    mode = await read.find(TenantMode)
    return mode is not None and mode.sandbox
