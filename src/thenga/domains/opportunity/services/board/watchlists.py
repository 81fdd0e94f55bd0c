"""Watchlists: stored searches that alert, as many as the plan allows (OPP-41)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select

from thenga.domains.billing.public import UsageEntry, check_room
from thenga.domains.opportunity.lifecycles import WatchlistLifecycle
from thenga.domains.opportunity.services.board.filters import compile_filters, stored
from thenga.domains.opportunity.tables import Tenant, Watchlist, WatchlistHit, WatchlistStatus
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import Duplicate, NotFound

WATCHLISTS = "opportunity.watchlists"
OVER_LIMIT = "plan_limit"

meter_watchlist = job_stub(
    "opportunity.meter_watchlist", form=Form.OUTSIDE, key="{watchlist_id}:{occasion}"
)

_DAYS = timedelta(days=30)
_BY: dict[str, ColumnElement[Any]] = {"createdAt": Watchlist.created_at, "name": Watchlist.name_key}


@dataclass(frozen=True, slots=True)
class WatchlistFields:
    """What a caller sets."""

    name: str
    filters: dict[str, Any]
    number_key: str | None
    alert_on: list[str]
    min_score: int | None
    shared: bool


@dataclass(frozen=True, slots=True)
class Hits:
    """How often a watchlist found something in 30 days, and when last."""

    count: int = 0
    last_at: datetime | None = None


async def create_watchlist(work: Work, fields: WatchlistFields) -> Watchlist:
    """Store a search that alerts from now on."""
    compiled = await compile_filters(work, fields.filters, number_key=fields.number_key)
    await work.lock_by(Tenant, beside=True)  # two requests cannot both take the last place
    await _refuse_name(work, fields.name)
    await check_room(work, WATCHLISTS, await _count(work))
    watchlist = await work.add(
        Watchlist(
            organization_id=work.organization_id,
            name=fields.name,
            name_key=fields.name.casefold(),
            filters=stored(fields.filters),
            alert_on=fields.alert_on,
            min_score_tenths=None if fields.min_score is None else fields.min_score * 10,
            is_shared=fields.shared or _person(work) is None,  # a key owns nothing alone
            owner_user_id=_person(work),
            **compiled,
        )
    )
    _meter(work, watchlist, "hold")
    return watchlist


async def get_watchlist(read: Reader, watchlist_id: UUID) -> Watchlist:
    """A watchlist that the caller may see: a shared one, or their own."""
    watchlist = await read.get(Watchlist, watchlist_id)
    if not watchlist.is_shared and watchlist.owner_user_id != _person(read):
        raise NotFound()
    return watchlist


async def change_watchlist(
    work: Work, watchlist_id: UUID, fields: dict[str, Any], *, move: str | None
) -> Watchlist:
    """Change the fields that were sent, and make one move."""
    await get_watchlist(work, watchlist_id)
    if fields.get("filters") is not None:
        given = fields.pop("filters")
        number_key = fields.pop("number_key", None)
        fields |= await compile_filters(work, given, number_key=number_key)
        fields["filters"] = stored(given)
    if move == "resume":
        await work.lock_by(Tenant, beside=True)
        await check_room(work, WATCHLISTS, await _count(work) - 1)
    watchlist = await work.lock(Watchlist, watchlist_id)
    if "name" in fields:
        await _refuse_name(work, fields["name"], besides=watchlist.id)
        fields["name_key"] = fields["name"].casefold()
    for name, value in fields.items():
        setattr(watchlist, name, value)
    if move is not None and WatchlistLifecycle.moves[move](watchlist, at=work.now):
        watchlist.status_reason = None
        if watchlist.status is WatchlistStatus.ARCHIVED:
            _meter(work, watchlist, "release")
    return await work.save(watchlist)


async def list_watchlists(
    read: Reader, paged: Paged, *, status: WatchlistStatus | None, mine: bool | None
) -> Slice[Watchlist]:
    """The shared watchlists of the organization and the caller's own."""
    person = _person(read)
    statement = where_given(select(Watchlist), (Watchlist.status, status and status.value))
    if mine:
        statement = statement.where(Watchlist.owner_user_id == person)
    else:
        statement = statement.where(or_(Watchlist.is_shared, Watchlist.owner_user_id == person))
    return await read.page(statement, paged, _BY[paged.sort])


async def hits_of(read: Reader, watchlist_ids: Sequence[UUID]) -> dict[UUID, Hits]:
    """How often each watchlist found something."""
    if not watchlist_ids:
        return {}
    recent = WatchlistHit.at > read.now - _DAYS
    statement = (
        select(
            WatchlistHit.watchlist_id,
            func.count().filter(recent).label("count"),
            func.max(WatchlistHit.at).label("last_at"),
        )
        .where(
            WatchlistHit.organization_id == read.organization_id,
            among(WatchlistHit.watchlist_id, watchlist_ids),
        )
        .group_by(WatchlistHit.watchlist_id)
    )
    records = await read.records(statement)
    return {one["watchlist_id"]: Hits(one["count"], one["last_at"]) for one in records}


async def pause_over_limit(work: Work, limit: int) -> None:
    """A smaller plan pauses the newest watchlists and deletes none."""
    active = await work.all(
        select(Watchlist)
        .where(Watchlist.status == WatchlistStatus.ACTIVE)
        .order_by(Watchlist.created_at, Watchlist.id)
    )
    for known in active[limit:]:
        watchlist = await work.lock(Watchlist, known.id, beside=True)
        WatchlistLifecycle.pause(watchlist, at=work.now)
        watchlist.status_reason = OVER_LIMIT
        await work.save(watchlist)


async def share_of_leaver(work: Work, user_id: UUID) -> None:
    """The watchlists of somebody who left belong to everybody who may read them."""
    left = select(Watchlist).where(
        Watchlist.owner_user_id == user_id, Watchlist.status != WatchlistStatus.ARCHIVED
    )
    for known in await work.all(left):
        watchlist = await work.lock(Watchlist, known.id, beside=True)
        watchlist.is_shared, watchlist.owner_user_id = True, None
        await work.save(watchlist)


async def usage_of(read: Reader, watchlist_id: UUID, occasion: str) -> UsageEntry:
    """What Billing is told: the same key counts once."""
    watchlist = await read.get(Watchlist, watchlist_id)
    at = watchlist.created_at if occasion == "hold" else watchlist.updated_at
    return UsageEntry(
        meter=WATCHLISTS,
        key=f"{watchlist.id} {occasion}",
        quantity=1,
        occurred_at=at,
        subject={"domain": "opportunity", "type": "watchlist", "id": str(watchlist.id)},
        operation="hold" if occasion == "hold" else "release",
    )


def _meter(work: Work, watchlist: Watchlist, occasion: str) -> None:
    work.enqueue(meter_watchlist, watchlist_id=watchlist.id, occasion=occasion)


async def _count(work: Work) -> int:
    counted = (
        select(func.count())
        .select_from(Watchlist.__table__)
        .where(
            Watchlist.organization_id == work.organization_id,
            Watchlist.status != WatchlistStatus.ARCHIVED,
        )
    )
    return await work.value(counted) or 0


async def _refuse_name(work: Work, name: str, *, besides: UUID | None = None) -> None:
    same = select(Watchlist).where(
        Watchlist.name_key == name.casefold(), Watchlist.status != WatchlistStatus.ARCHIVED
    )
    for known in await work.all(same):
        if known.id != besides:
            raise Duplicate(
                "A watchlist with this name already exists. Choose another name.",
                existing={"id": str(known.id)},
            )


def _person(read: Reader) -> UUID | None:
    return read.actor.id if read.actor.kind is ActorKind.USER else None
