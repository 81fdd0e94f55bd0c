"""How far a sandbox organization's clock runs ahead, as its own domain was told."""

from datetime import timedelta
from functools import cache
from uuid import UUID

from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.host import Host

NO_OFFSET = timedelta(0)


@cache
def _offset_text(domain: str) -> str:
    return f"SELECT ahead FROM {domain}.clock_offset WHERE organization_id = $1"


async def clock_offset(host: Host, domain: str, organization_id: UUID | None) -> timedelta:
    """Read before each unit of work of a job or reaction, and kept no longer than that."""
    if organization_id is None:
        return NO_OFFSET
    scope = Scope(actor=SYSTEM, organization_id=organization_id)
    async with host.engines.connection(domain, domain) as connection:
        await connection.execute(f"BEGIN READ ONLY; {scope.opening()}")
        try:
            found = await connection.fetchval(_offset_text(domain), organization_id)
        finally:
            await connection.execute("ROLLBACK")
    return found if isinstance(found, timedelta) else NO_OFFSET
