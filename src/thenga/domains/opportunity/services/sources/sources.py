"""Sources: added, changed, activated after a probe, paused and retired (OPP-1, OPP-9)."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.billing.public import UsageEntry, check_room
from thenga.domains.opportunity import public
from thenga.domains.opportunity.lifecycles import SourceLifecycle
from thenga.domains.opportunity.services import documents
from thenga.domains.opportunity.services.sources import runs
from thenga.domains.opportunity.services.sources.health import FETCHED
from thenga.domains.opportunity.tables import Source, SourceState, SourceStatus, Tenant
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import Duplicate, NotFound, Problem, RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.networks import is_public

FEATURE = "opportunity.sources"
DEFAULTS = {"pageSize": 1000, "windowDays": 7, "trailDays": 90}
PORTAL_ADDRESS = "https://ocds-api.etenders.gov.za/api/OCDSReleases"
_PROBED = timedelta(hours=24)
_NIGHTLY_HOUR = 2
_RANKS = {"etenders_ocds": 80, "ocds_upload": 70, "manual": 50}
_CADENCES = {"etenders_ocds": 900}
_HOSTS = {"etenders_ocds": ["www.etenders.gov.za"]}  # where the portal keeps its documents
_HOUR = 3600

meter_source = job_stub("opportunity.meter_source", form=Form.OUTSIDE)


class AddressRefused(Problem):
    """Only public https addresses can be called. Check the address of the feed or document."""

    code, status, title = "opportunity-address-refused", 422, "This address cannot be used"


class SettingsInvalid(Problem):
    """Fetched sources need an `address`; other kinds cannot have one. Correct one of them."""

    code, status, title = "opportunity-settings-invalid", 422, "Kind and address do not match"


class SourceNotProbed(Problem):
    """A feed needs a successful probe in the last 24 hours. Start a run with `mode: probe`."""

    code, status, title = "opportunity-source-not-probed", 409, "The source has not been probed"


def check_address(address: str) -> None:
    """Refuse what is no public https address; where a name leads to is checked with each call."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise AddressRefused() from None
    if parts.scheme != "https" or parts.username or "." not in host or host.endswith("."):
        raise AddressRefused()
    if host.endswith((".local", ".internal", ".localhost")) or not _is_outside(host):
        raise AddressRefused()


def _is_outside(host: str) -> bool:
    """A name, or a public address; a number in any spelling is an address."""
    if host.replace(".", "").isdigit() or ":" in host:
        try:
            return is_public(host)
        except ValueError:
            return False
    return not host.rpartition(".")[2].isdigit() and not host.startswith("0x")


async def create(work: Work, fields: dict[str, Any]) -> Source:
    """Add a draft. Tenants have as many sources as their plan has (`opportunity.sources`)."""
    is_platform = work.organization_id == OPERATOR
    _check(fields["kind"], fields["address"])
    if fields["visibility"] == "shared" and not is_platform:
        raise RuleViolated("Only the platform can share sources.", rule="OPP-16")
    if not is_platform:
        await _check_room(work)
    await _check_unique(work, fields["name"], fields["kind"], fields["address"])
    source = Source(
        organization_id=work.organization_id,
        shared=fields["visibility"] == "shared",
        name_key=fields["name"].casefold(),
        **_completed(fields),
    )
    await work.add(source)
    state = SourceState(id=source.id, organization_id=work.organization_id)
    await work.add(state)
    _publish(work, source)
    _meter(work, source, "hold")
    return source


def _check(kind: str, address: str | None) -> None:
    if (kind in FETCHED) != (address is not None):
        raise SettingsInvalid()
    if address is not None:
        check_address(address)


def _completed(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with the defaults of their kind."""
    kind = fields["kind"]
    made = dict(fields)
    made["settings"] = DEFAULTS | (fields["settings"] or {})
    if fields["document_hosts"] is None:
        made["document_hosts"] = _HOSTS.get(kind, [])
    made["rank"] = _RANKS[kind] if fields["rank"] is None else fields["rank"]
    made["cadence_seconds"] = fields["cadence_seconds"] or _CADENCES.get(kind, _HOUR)
    if fields["clock_fault"] is None:
        made["clock_fault"] = "none" if kind == "manual" else "wall_time_as_utc"
    return made


async def _check_room(work: Work) -> None:
    if await work.find(Tenant) is not None:
        await work.lock_by(Tenant, beside=True)
    count = select(func.count()).where(
        Source.organization_id == work.organization_id, Source.status != SourceStatus.RETIRED
    )
    await check_room(work, FEATURE, await work.value(count) or 0)


async def _check_unique(work: Work, name: str, kind: str, address: str | None) -> None:
    same = Source.name_key == name.casefold()
    if address is not None:
        same = same | ((Source.kind == kind) & (Source.address == address))
    statement = select(Source).where(
        same,
        Source.organization_id == work.organization_id,
        Source.status != SourceStatus.RETIRED,
    )
    for found in await work.all(statement, limit=1):
        existing = {"domain": "opportunity", "type": "source", "id": str(found.id)}
        raise Duplicate("You already have a source with this name or address.", existing=existing)


async def keep(work: Work, source_id: UUID) -> Source:
    """The source, locked, for its keeper; to others it cannot be changed."""
    seen = await work.get(Source, source_id)
    if seen.organization_id != work.organization_id:
        raise NotFound()
    return await work.lock(Source, source_id)


async def change(work: Work, source_id: UUID, fields: dict[str, Any]) -> Source:
    """Change fields; a new address has to be probed again."""
    source = await keep(work, source_id)
    if set(fields.get("document_hosts", ())) - set(source.document_hosts):
        work.enqueue(documents.retry_refused)
    if "address" in fields:
        _check(source.kind, fields["address"])
        if fields["address"] != source.address:
            source.probed_at = None
    if "settings" in fields:
        fields["settings"] = source.settings | (fields["settings"] or {})
    if "name" in fields:
        source.name_key = fields["name"].casefold()
    if merge_patch(source, fields) or work.changes(source):
        await work.save(source)
        _publish(work, source)
    return source


async def move(work: Work, source: Source, verb: str) -> Source:
    """`activate`, `pause`, `retire` or `cancel_run` on a locked source."""
    if verb == "cancel_run":
        if (running := await runs.unfinished(work, source.id)) is not None:
            await runs.cancel(work, running)
        return source
    made: Move = SourceLifecycle.moves[verb]
    if verb == "activate":
        _check_probed(work, source)
    if made(source, at=work.now):
        await _follow(work, source)
    return source


def _check_probed(work: Work, source: Source) -> None:
    """Refuse an address that nobody tried; that of the national portal is known (OPP-51)."""
    if source.address == PORTAL_ADDRESS:
        return
    is_fresh = source.probed_at is not None and source.probed_at + _PROBED >= work.now
    if source.kind in FETCHED and source.status is not SourceStatus.ACTIVE and not is_fresh:
        raise SourceNotProbed()


async def _follow(work: Work, source: Source) -> None:
    """What a move of a source brings: polls begin or end, and Billing hears of a retired one."""
    is_polled = source.status is SourceStatus.ACTIVE and source.kind in FETCHED
    source.next_check_at = work.now if is_polled else None
    await work.save(source)
    if is_polled:
        state = await work.lock(SourceState, source.id, beside=True)
        state.trailed_on = state.trailed_on or work.now
        await work.save(state)
        work.enqueue(documents.retry_refused)  # its hosts count from now on
    _publish(work, source)
    if source.status is SourceStatus.RETIRED:
        if (running := await runs.unfinished(work, source.id)) is not None:
            await runs.cancel(work, running)
        _meter(work, source, "release")


async def poll(work: Work, source_id: UUID) -> None:
    """Begin the next poll of an active source, or its nightly trail after two o'clock (OPP-3)."""
    source = await work.lock(Source, source_id)
    if source.status is not SourceStatus.ACTIVE:
        source.next_check_at = None
        await work.save(source)
        return
    state = await work.get(SourceState, source_id)
    source.next_check_at = work.now + timedelta(seconds=source.cadence_seconds)
    if state.breaker_until is not None and state.breaker_until > work.now:
        source.next_check_at = state.breaker_until
    elif await runs.unfinished(work, source.id) is None:
        await runs.start(work, source, "trail" if _trail_is_due(work, state) else "poll")
    await work.save(source)


def _trail_is_due(work: Work, state: SourceState) -> bool:
    night = work.now - timedelta(hours=_NIGHTLY_HOUR)
    last = state.trailed_on
    return last is None or local_day(last - timedelta(hours=_NIGHTLY_HOUR)) < local_day(night)


async def pause_over(work: Work, limit: int) -> None:
    """Pause the newest sources that a smaller plan has no room for; none is deleted."""
    statement = select(Source).where(
        Source.organization_id == work.organization_id, Source.status != SourceStatus.RETIRED
    )
    kept = await work.all(statement.order_by(Source.id), limit=1000)
    for source in kept[limit:]:
        held = await work.hold(source)
        if held.status is SourceStatus.ACTIVE and SourceLifecycle.pause(held, at=work.now):
            held.status_reason = "plan_limit"
            await _follow(work, held)


async def list_all(
    read: Reader, page: Paged, *, status: SourceStatus | None, **filters: str | None
) -> Slice[Source]:
    """The sources that an organization sees: shared ones and its own."""
    statement = select(Source)
    if status is not None:
        statement = statement.where(Source.status == status)
    for name, wanted in filters.items():
        if wanted is not None:
            statement = statement.where(Source.__table__.c[name] == wanted)
    by = Source.name_key if page.sort == "name" else Source.last_new_record_at
    return await read.page(statement, page, by)


async def current_state(read: Reader, source: Source) -> tuple[list[Any], Any]:
    """The latest runs and the unfinished one, for the keeper; others see none."""
    found = await runs.recent(read, source.id) if _is_keeper(read, source) else []
    current = next((run for run in found if run.status in runs.UNFINISHED), None)
    return found, current


def _is_keeper(read: Reader, source: Source) -> bool:
    return read.has_organization and source.organization_id == read.organization_id


def usage_of(source: Source, operation: str) -> UsageEntry:
    """What Billing is told of an open or retired source."""
    return UsageEntry(
        meter=FEATURE,
        key=f"source:{source.id}:{operation}",
        quantity=1,
        occurred_at=source.created_at if operation == "hold" else source.updated_at,
        subject={"domain": "opportunity", "type": "source", "id": str(source.id)},
        operation="hold" if operation == "hold" else "release",
    )


def _meter(work: Work, source: Source, operation: str) -> None:
    if source.organization_id != OPERATOR:
        work.enqueue(meter_source, source_id=source.id, operation=operation)


def _publish(work: Work, source: Source) -> None:
    work.publish(
        public.SourceChanged(
            organization_id=source.organization_id,
            source_id=source.id,
            status=source.status.value,
        )
    )
