"""Sample tenders for a development installation, by the way that every upload takes."""

from typing import Any

from sqlalchemy import select

from thenga.domains.opportunity.lifecycles import SourceLifecycle
from thenga.domains.opportunity.services.sources import runs, sources
from thenga.domains.opportunity.tables import Source, SourceStatus
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host

NAME = "Sample tenders"
_FIELDS: dict[str, Any] = {
    "name": NAME,
    "kind": "ocds_upload",
    "address": None,
    "settings": None,
    "time_zone": "Africa/Johannesburg",
    "clock_fault": None,
    "clock_fault_until": None,
    "cadence_seconds": None,
    "document_hosts": [],
    "rank": None,
    "licence": "Written for Thenga",
    "attribution": "Sample data; no buyer, tender or supplier in it exists",
    "visibility": "shared",
}


async def upload_sample(host: Host, releases: list[dict[str, Any]]) -> Source:
    """Start an upload of these releases on the platform's source of samples."""
    origin = Origin(action="dev.sample", request_id="dev-sample", correlation_id="dev-sample")
    work = Work(host, "opportunity", Scope(SYSTEM, OPERATOR), origin)
    try:
        statement = select(Source).where(
            Source.organization_id == OPERATOR,
            Source.name_key == NAME.casefold(),
            Source.status != SourceStatus.RETIRED,
        )
        known = await work.all(statement, limit=1)
        source = known[0] if known else await sources.create(work, dict(_FIELDS))
        held = await work.hold(source)
        if SourceLifecycle.activate(held, at=work.now):
            await work.save(held)
        await runs.start(work, held, "upload", releases=releases)
        await work.finish()
        return held
    finally:
        await work.close()
