"""The national tender portal, a source that every new installation has (OPP-51)."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select

from thenga.domains.opportunity.services.sources import sources
from thenga.domains.opportunity.tables import Source, SourceStatus
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host

PORTAL_ID = UUID("019a0000-0000-7000-8000-0000000e7e4d")
_NAME = "National Treasury eTenders"
_FIELDS: dict[str, Any] = {
    "name": _NAME,
    "kind": "etenders_ocds",
    "address": sources.PORTAL_ADDRESS,
    "settings": None,
    "time_zone": "Africa/Johannesburg",
    "clock_fault": None,
    "clock_fault_until": None,
    "cadence_seconds": None,
    "document_hosts": None,
    "rank": None,
    "licence": "ODC Public Domain Dedication and Licence (PDDL) 1.0",
    "attribution": "National Treasury of South Africa, eTender Publication Portal "
    "(www.etenders.gov.za)",
    "visibility": "shared",
}


async def seed_portal(host: Host, _: Sequence[Domain]) -> None:
    """Add the portal at deployment, paused. What staff made of it, or in its place, stays."""
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    work = Work(host, "opportunity", Scope(SYSTEM, OPERATOR), origin)
    try:
        if not await _is_known(work):
            await sources.create(work, _FIELDS | {"id": PORTAL_ID, "status": SourceStatus.PAUSED})
        await work.finish()
    finally:
        await work.close()


async def _is_known(work: Work) -> bool:
    """Whether staff have the portal, had it and retired it, or use its name."""
    is_portal = or_(
        Source.id == PORTAL_ID,
        Source.address == sources.PORTAL_ADDRESS,
        (Source.name_key == _NAME.casefold()) & (Source.status != SourceStatus.RETIRED),
    )
    statement = select(Source.id).where(Source.organization_id == OPERATOR, is_portal)
    return await work.value(statement) is not None
