"""Sample tenders for a development installation, by the way that every upload takes."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from thenga.domains.opportunity.lifecycles import SourceLifecycle
from thenga.domains.opportunity.services.sources import runs, sources
from thenga.domains.opportunity.tables import Source, SourceStatus, TenderOpportunity
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

NAME = "Sample tenders"
_ORIGIN = Origin(action="dev.sample", request_id="dev-sample", correlation_id="dev-sample")
_SOURCE = select(Source).where(
    Source.organization_id == OPERATOR,
    Source.name_key == NAME.casefold(),
    Source.status != SourceStatus.RETIRED,
)
# Two commands at the same time must not both add the source.
_BY_ITSELF = "SELECT pg_advisory_xact_lock(hashtextextended('opportunity.sample', 0))"
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


@dataclass(frozen=True)
class SampleState:
    """The latest upload of the sample, and how many of its tenders can be found."""

    status: str
    error_code: str | None
    tenders: int

    @property
    def is_unfinished(self) -> bool:
        return self.status in runs.UNFINISHED


async def state_of_sample(host: Host) -> SampleState:
    """How far the upload of the sample is; it must have been started."""
    read = Reader(host, "opportunity", Scope(SYSTEM, OPERATOR), _ORIGIN)
    try:
        (source,) = await read.all(_SOURCE, limit=1)
        (run,) = await runs.recent(read, source.id, limit=1)
        mine = (TenderOpportunity.primary_source_id == source.id) & TenderOpportunity.shared
        count = await read.value(select(func.count(TenderOpportunity.id)).where(mine))
        return SampleState(run.status.value, run.error_code, count or 0)
    finally:
        await read.close()


async def upload_sample(host: Host, releases: list[dict[str, Any]]) -> Source:
    """Start an upload of these releases on the platform's source of samples."""
    work = Work(host, "opportunity", Scope(SYSTEM, OPERATOR), _ORIGIN)
    try:
        await work.run(_BY_ITSELF)
        known = await work.all(_SOURCE, limit=1)
        source = known[0] if known else await sources.create(work, dict(_FIELDS))
        held = await work.hold(source)
        if SourceLifecycle.activate(held, at=work.now):
            await work.save(held)
        await runs.start(work, held, "upload", releases=releases)
        await work.finish()
        return held
    finally:
        await work.close()
