"""The organizations that a domain knows, as Organization announced them."""

from typing import Any, Generic, TypeVar

from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import KnownTenant
from thenga.kernel.db.work import Work

K = TypeVar("K", bound=KnownTenant)


class Tenants(Generic[K]):
    """What a domain asks of its table of organizations."""

    def __init__(self, row: type[K]) -> None:
        self._row = row

    async def know(self, work: Work, *, sandbox: bool, **more: Any) -> None:
        """Store a new organization. An announcement that arrives again changes nothing."""
        if await work.find(self._row) is None:
            organization_id = work.organization_id
            await work.add(self._row(organization_id=organization_id, sandbox=sandbox, **more))

    async def is_sandbox(self, read: Reader) -> bool:
        """Whether the organization is a sandbox, whose clock can be moved."""
        tenant = await read.find(self._row)
        if tenant is None:
            raise LookupError("this organization was not announced yet")
        return tenant.sandbox
