"""Sources of tenders and their runs."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.opportunity.api.source_views import TenderSourceView
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.services import sources, tenants
from thenga.domains.opportunity.services.sources import (
    AddressRefused,
    RunInProgress,
    SettingsInvalid,
    SourceNotProbed,
    WindowTooWide,
)
from thenga.domains.opportunity.tables import Source, SourceStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    Duplicate,
    InvalidTransition,
    PlanLimitReached,
    RuleViolated,
)
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, Instant, TimeZoneName, matching, text, whole

router = make_router("Opportunity / Sources")

SourceId = Annotated[UUID, Path(alias="sourceId")]
Kind = Literal["etenders_ocds", "manual", "ocds_upload"]
Health = Literal["unknown", "ok", "late", "failing"]
Visibility = Literal["private", "shared"]
Cadence = Annotated[str, matching("^P(?:[1-7]D|T(?:[1-9][0-9]{0,2}H|[1-9][0-9]{0,4}M))$", 8)]
Hostname = Annotated[str, matching(r"^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])$", 253)]
Address = Annotated[str, matching(r"^https://[!-~]{3,1990}$", 2000)]
_LEAST, _MOST = timedelta(minutes=5), timedelta(days=7)
_UNITS = {"D": "days", "H": "hours", "M": "minutes"}


class SourceSettings(Body):
    """Settings for reading a feed."""

    page_size: Annotated[int, whole(50, 1000), Field(description="Releases per page.")] = 1000
    window_days: Annotated[int, whole(1, 31), Field(description="Days per window.")] = 7
    trail_days: Annotated[
        int, whole(0, 400), Field(description="Days to read again every night.")
    ] = 90


Licence = Annotated[str, text(1, 200), Field(description="Licence of the data.")]
Attribution = Annotated[
    str, text(1, 300), Field(description="Attribution that the source requires.")
]
Hosts = Annotated[
    list[Hostname],
    Field(
        max_length=50,
        description="Hosts from which documents of this source are fetched. Documents that were "
        "refused because of their host are queued again when a host is added.",
    ),
]
ClockFault = Annotated[
    Literal["none", "wall_time_as_utc"] | None,
    Field(description="`wall_time_as_utc` if the feed labels local times as UTC."),
]
ClockFaultUntil = Annotated[
    Instant | None, Field(description="When the publisher corrected its clock.")
]
Rank = Annotated[
    Annotated[int, whole(0, 100)] | None,
    Field(description="The higher rank counts where two sources disagree."),
]
How = Annotated[SourceSettings | None, Field(description="Page size, window and trail of a feed.")]
Every = Annotated[Cadence | None, Field(description="Time between two polls, PT5M to P7D.")]
At = Annotated[Address | None, Field(description="https address of the feed, for fetched kinds.")]
SourceName = Annotated[str, text(1, 120), Field(description="Name of the source.")]


class CreateSource(Body):
    """A feed, an upload or a source for manual captures."""

    name: SourceName
    kind: Annotated[
        Kind,
        Field(description="`etenders_ocds` is fetched; releases are sent to `ocds_upload`."),
    ]
    address: At = None
    settings: How = None
    time_zone: TimeZoneName = "Africa/Johannesburg"
    clock_fault: ClockFault = None
    clock_fault_until: ClockFaultUntil = None
    cadence: Every = None
    document_hosts: Annotated[
        Hosts | None,
        Field(
            description="Hosts from which documents of this source are fetched. For "
            "`etenders_ocds` the default is the portal's host, for others none."
        ),
    ] = None
    rank: Rank = None
    licence: Licence
    attribution: Attribution
    visibility: Annotated[
        Visibility, Field(description="`shared` is for platform sources only.")
    ] = "private"

    def fields(self) -> dict[str, Any]:
        return _columns({name: getattr(self, name) for name in type(self).model_fields})


class ChangeSource(Body):
    """Fields to update, or a move. Omitted fields stay unchanged."""

    name: SourceName = "unchanged"
    address: At = None
    settings: How = None
    time_zone: TimeZoneName = "Africa/Johannesburg"
    clock_fault: ClockFault = None
    clock_fault_until: ClockFaultUntil = None
    cadence: Every = None
    document_hosts: Hosts = []
    rank: Rank = None
    licence: Licence = "unchanged"
    attribution: Attribution = "unchanged"
    move: Annotated[
        Literal["activate", "pause", "retire", "cancel_run"] | None,
        Field(description="Move to make after updating the fields."),
    ] = None


class StartRun(Body):
    """Run to start."""

    mode: Annotated[
        Literal["poll", "trail", "backfill", "probe", "upload"],
        Field(
            description="`poll` reads the last days, `trail` the last weeks, `backfill` a period; "
            "`probe` tests the address; `upload` reads `releases`."
        ),
    ]
    from_: Annotated[Day | None, Field(alias="from", description="First day of a backfill.")] = None
    to: Annotated[Day | None, Field(description="Last day of a backfill. Defaults to today.")] = (
        None
    )
    releases: Annotated[
        list[dict[Annotated[str, text(1, 200)], Any]] | None,
        Field(max_length=1000, description="OCDS releases of an upload."),
    ] = None


_NULLABLE = frozenset({"address", "clock_fault_until"})


def _columns(given: dict[str, Any]) -> dict[str, Any]:
    """Fields as a row holds them."""
    if "cadence" in given:
        given["cadence_seconds"] = _seconds(given.pop("cadence"))
    if given.get("settings") is not None:
        given["settings"] = given["settings"].model_dump(by_alias=True, exclude_unset=True)
    return given


def _seconds(cadence: str | None) -> int | None:
    if cadence is None:
        return None
    length = timedelta(**{_UNITS[cadence[-1]]: int(cadence.strip("PTDHM"))})
    if not _LEAST <= length <= _MOST:
        raise RuleViolated("Choose a `cadence` from PT5M to P7D.", rule="OPP-3", field="cadence")
    return length // timedelta(seconds=1)


@router.post(
    "/opportunity/sources",
    status_code=201,
    responses=problems(PlanLimitReached, Duplicate, AddressRefused, SettingsInvalid, RuleViolated),
)
async def create_source(
    body: CreateSource, work: Annotated[Work, writes(Permission.SOURCE_CREATE)]
) -> TenderSourceView:
    """Add a source as a draft. Probe it, then activate it to start polling."""
    await tenants.act_for_platform(work)
    source = await sources.create(work, body.fields())
    return await TenderSourceView.read_of(work, source)


@router.get("/opportunity/sources")
async def list_sources(
    read: Annotated[Reader, reads(Permission.SOURCE_READ)],
    page: Annotated[Paged, paged("name", "lastNewRecordAt")],
    kind: Annotated[Kind | None, Query(description="Filter by kind.")] = None,
    status: Annotated[SourceStatus | None, Query(description="Filter by status.")] = None,
    health: Annotated[Health | None, Query(description="Filter by stored health.")] = None,
    visibility: Annotated[Visibility | None, Query(description="Filter by visibility.")] = None,
) -> PageOf[TenderSourceView]:
    """List the platform's sources and your own."""
    await tenants.act_for_platform(read)
    found = await sources.list_all(
        read, page, kind=kind, status=status, health=health, visibility=visibility
    )
    return PageOf[TenderSourceView].of(found, lambda source: TenderSourceView.listed(read, source))


@router.get("/opportunity/sources/{sourceId}")
async def get_source(
    source_id: SourceId, read: Annotated[Reader, reads(Permission.SOURCE_READ)]
) -> TenderSourceView:
    """Retrieve a source with its health and, if you manage it, its latest runs."""
    await tenants.act_for_platform(read)
    return await TenderSourceView.read_of(read, await read.get(Source, source_id))


@router.patch(
    "/opportunity/sources/{sourceId}",
    responses=problems(
        AddressRefused, SettingsInvalid, SourceNotProbed, InvalidTransition, RuleViolated, Duplicate
    ),
)
async def change_source(
    source_id: SourceId,
    body: ChangeSource,
    work: Annotated[Work, writes(Permission.SOURCE_UPDATE)],
) -> TenderSourceView:
    """Update a source, or activate, pause or retire it, or cancel its run."""
    await tenants.act_for_platform(work)
    fields = _columns(body.changes())
    move = fields.pop("move", None)
    named = {n: v for n, v in fields.items() if v is not None or n in _NULLABLE}
    source = await sources.change(work, source_id, named)
    if move is not None:
        source = await sources.move(work, source, move)
    return await TenderSourceView.read_of(work, source)


@router.post(
    "/opportunity/sources/{sourceId}/runs",
    status_code=202,
    responses=problems(RunInProgress, WindowTooWide, RuleViolated, Conflict),
)
async def start_run(
    source_id: SourceId,
    body: StartRun,
    work: Annotated[Work, writes(Permission.SOURCE_RUN)],
) -> TenderSourceView:
    """Start a run now. Poll the source: `currentRun` shows the progress."""
    await tenants.act_for_platform(work)
    source = await sources.keep(work, source_id)
    releases = None if body.releases is None else [_storable(one) for one in body.releases]
    await sources.start(work, source, body.mode, first=body.from_, last=body.to, releases=releases)
    return await TenderSourceView.read_of(work, source)


def _storable(value: Any) -> Any:
    """A document without NUL, which the database does not store."""
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(name): _storable(item) for name, item in value.items()}
    return value
