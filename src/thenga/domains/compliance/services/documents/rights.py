"""Rights beyond the one of the operation: personal papers have their own."""

from thenga.domains.compliance.permissions import Permission
from thenga.domains.identity import public as identity
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader

_ON = "compliance.document"


async def holds(read: Reader, permission: Permission) -> bool:
    """Whether whoever acts holds a further permission."""
    return await identity.holds(read, permission, on=_ON)


async def demand(read: Reader, permission: Permission) -> None:
    """Refuse whoever does not hold a further permission."""
    await identity.demand(read, permission, on=_ON)


def is_staff(read: Reader) -> bool:
    """Whether the caller acts as staff of the platform."""
    return read.held_as == HeldAs.PLATFORM
