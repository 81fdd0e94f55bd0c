"""Calls of Supplier: suppliers and what they can deliver."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from tests.factories import supplier as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


def _acting(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


def _named() -> dict[str, Any]:
    return factory.EXTERNAL | {"name": f"Kagiso Pipes {new_id().hex[-12:]}"}


def _sent(body: Callable[[], Body]) -> Maker:
    """A call on the collection."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        given = body()
        return Sent({}, lambda _: given, _acting(organization_id))

    return sent


def _on(body: Body) -> Maker:
    """A call on an external supplier of the caller."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.supplier(host, organization_id)
        return Sent({"supplierId": made.id}, lambda _: body, _acting(organization_id))

    return sent


MAKERS: dict[str, Maker] = {
    "register_supplier": _sent(_named),
    "list_suppliers": _sent(lambda: None),
    "get_supplier": _on(None),
    "change_supplier": _on({"note": "Ask for the bulk price.", "acceptsQuoteRequests": False}),
    "add_supplier_capability": _on(factory.PIPES),
}
