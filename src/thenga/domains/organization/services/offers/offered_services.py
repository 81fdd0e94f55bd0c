"""Services: work that the company does for others."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement

from thenga.domains.organization.services import records
from thenga.domains.organization.services.offers import offerings
from thenga.domains.organization.tables import Service, ServiceStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None, "name": Service.name}
_ONCE = "A service of this name is offered already."


async def add_service(work: Work, *, fields: dict[str, Any]) -> Service:
    """Record a service; it is a draft until it is activated."""
    item = Service(
        organization_id=work.organization_id, **records.split_amount(fields, "price_from")
    )
    await offerings.add(work, item, once=_ONCE)
    return item


async def list_services(
    read: Reader,
    paged: Paged,
    *,
    status: ServiceStatus | None,
    scheme: str | None,
    code: str | None,
    province: str | None,
    archived: bool,
) -> Slice[Service]:
    """The services of the organization."""
    statement = records.kept(Service, archived=archived)
    if status is not None:
        statement = statement.where(Service.status == status)
    found = offerings.narrowed(statement, Service, scheme=scheme, code=code, province=province)
    return await read.page(found, paged, SORTS[paged.sort])


async def change_service(work: Work, service_id: UUID, *, fields: dict[str, Any]) -> Service:
    """Change the fields named; the rest stays."""
    item = await work.lock(Service, service_id)
    await offerings.change(work, item, records.split_amount(fields, "price_from"), once=_ONCE)
    return item


async def move_service(work: Work, service_id: UUID, move: Move) -> Service:
    """Make one of the declared moves; a service that is there already stays untold."""
    item = await work.lock(Service, service_id)
    await offerings.move(work, item, move)
    return item


async def archive_service(work: Work, service_id: UUID) -> None:
    """Take it out of the lists; the record stays readable."""
    await offerings.archive(work, await work.lock(Service, service_id))
