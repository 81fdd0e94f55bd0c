"""How far a supplier is trusted, as Supplier says; nobody there means unknown (CON-35)."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from thenga.domains.supplier.public import Trust, TrustView
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Problem, extensions
from thenga.kernel.ports.asking import asking

UNKNOWN = "unknown"
BLOCKS = "block_award"


class SupplierBlocked(Problem):
    """This supplier is blocked from new awards. Say in `overrideReason` why you use it anyway."""

    code, status, title = "contract-supplier-blocked", 422, "This supplier is blocked"
    members = extensions(state=(str, "Trust state of the supplier."))


async def ask_trust(read: Reader, supplier_id: UUID | None) -> dict[str, Any]:
    """The trust of a supplier as it is stored with a package."""
    if supplier_id is None:
        return _unknown()
    views = await _describe(read, [supplier_id])
    return _stored(views[0]) if views else _unknown()


def check_trust(trust: dict[str, Any], override_reason: str | None) -> None:
    """A blocked supplier needs a reason; everything else is kept and shown."""
    if BLOCKS in trust["effects"] and not override_reason:
        raise SupplierBlocked(state=trust["state"])


async def _describe(read: Reader, supplier_ids: Sequence[UUID]) -> list[TrustView]:
    return await asking(
        read, Trust, lambda port: port.describe(supplier_ids=list(supplier_ids)), silent=[]
    )


def _stored(view: TrustView) -> dict[str, Any]:
    return {"state": view.state, "effects": view.effects, "asOf": view.as_of.isoformat()}


def _unknown() -> dict[str, Any]:
    return {"state": UNKNOWN, "effects": [], "asOf": None}
