"""Search over published listings: ranked hits for words, the newest first without (MKT-13)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import sqlalchemy as sa
from sqlalchemy import ColumnElement, func, select, tuple_
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.marketplace.schemas.search import Searched
from thenga.domains.marketplace.services.places import EVERYWHERE, Place, place_of
from thenga.domains.marketplace.services.search import ranking
from thenga.domains.marketplace.services.search.entries import FOUND
from thenga.domains.marketplace.services.tenants import in_sandbox
from thenga.domains.marketplace.services.weighing import PLACE, TRUST
from thenga.domains.marketplace.tables.listings import LiveListing
from thenga.domains.marketplace.tables.search import SearchEntry
from thenga.domains.marketplace.values.factors import Score
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.positions import open_position, seal_position
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import InvalidCursor, SearchTooBroad

MOST = 20_000  # hits that are ranked
_DAY = 86_400  # seconds
_NARROWING = ("categoryId", "province", "municipality", "kind")
_CONFIGURATION: ColumnElement[Any] = sa.literal_column("'marketplace.za'::regconfig")
_WORD_WEIGHTS: ColumnElement[Any] = sa.literal_column("'{0.1,0.2,0.4,1.0}'::float4[]")


@dataclass(frozen=True, slots=True)
class Hit:
    """A listing that was found, its provider and its score."""

    listing: LiveListing
    provider_name: str | None
    score: Score


@dataclass(frozen=True, slots=True)
class Found:
    """One page of a search; `total` is exact, or what was counted before we stopped."""

    hits: list[Hit]
    next_cursor: str | None
    total: int
    exact: bool
    as_of: datetime


@dataclass(frozen=True, slots=True)
class _Position:
    """Behind which hit a page begins; scores stay those of the first page."""

    by: Any
    listing_id: UUID
    as_of: datetime


async def search(read: Reader, paged: Paged, searched: Searched) -> Found:
    """One page of the listings that fit."""
    place = place_of(searched.province, searched.municipality)
    conditions = _conditions(searched, place)
    reached = [SearchEntry.sandbox.is_(await in_sandbox(read)), *conditions]
    after = _after(read, paged)
    as_of = read.now if after is None else after.as_of
    try:
        probe = select(SearchEntry.id).where(*reached).limit(MOST + 1).subquery("probe")
        (counted,) = await read.search(
            select(func.count()).select_from(probe), unordered=bool(conditions)
        )
        total = int(counted[0])
        is_broad = total > MOST
        if is_broad and searched.q is not None:
            raise SearchTooBroad()
        hits = _statement(searched, place, reached, as_of)
        cut = _cut(hits, paged, after)
        # Few hits are sorted; many are walked in the order of the index.
        records = await read.search(cut, unordered=bool(conditions) and not is_broad)
    except SearchTooBroad:
        narrowing = [name for name in _NARROWING if name not in _given(searched)]
        raise SearchTooBroad(
            "Too many listings match to be ranked. Add a filter.", filters=narrowing
        ) from None
    shown = records[: paged.limit]
    cursor = None
    if len(records) > paged.limit:
        last = (shown[-1]["place"], shown[-1]["id"], as_of)
        cursor = seal_position(read, last, bound_to=paged.bound_to)
    found = await _hits(read, shown, place, as_of)
    return Found(found, cursor, min(total, MOST), not is_broad, as_of)


def _conditions(searched: Searched, place: Place | None) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    tokens = []
    if searched.category_id is not None:
        tokens.append(f"c:{searched.category_id}")
    if searched.kind is not None:
        tokens.append(f"k:{searched.kind.value}")
    if tokens:
        found.append(SearchEntry.tokens.bool_op("@>")(sa.literal(tokens, pg.ARRAY(sa.Text))))
    if place is not None:
        found.append(any_of(place.tokens))
    if searched.q is not None:
        found.append(SearchEntry.words.bool_op("@@")(_query(searched.q)))
    return found


def any_of(tokens: list[str]) -> ColumnElement[bool]:
    """Whether an entry has any of these tokens."""
    return SearchEntry.tokens.bool_op("&&")(sa.literal(tokens, pg.ARRAY(sa.Text)))


def _given(searched: Searched) -> set[str]:
    named = zip(
        _NARROWING,
        (searched.category_id, searched.province, searched.municipality, searched.kind),
        strict=True,
    )
    return {name for name, value in named if value is not None}


def _query(q: str) -> ColumnElement[Any]:
    return func.websearch_to_tsquery(_CONFIGURATION, q, type_=pg.TSQUERY)


def _statement(
    searched: Searched,
    place: Place | None,
    conditions: list[ColumnElement[bool]],
    as_of: datetime,
) -> sa.Subquery:
    """The hits with what they are ordered by: their score, or when they were confirmed."""
    text: ColumnElement[Any] = sa.literal_column("NULL::float8")
    by: ColumnElement[Any] = SearchEntry.confirmed_at
    if searched.q is not None:
        asked = _query(searched.q)
        text = sa.cast(
            func.ts_rank_cd(_WORD_WEIGHTS, SearchEntry.words, asked, type_=sa.Float), sa.Double
        )
        by = _score(text, place, as_of)
    columns = (
        *(by.label("place"), SearchEntry.id, text.label("text")),
        *(SearchEntry.level, SearchEntry.trust, SearchEntry.tokens, SearchEntry.provider_name),
        SearchEntry.confirmed_at,
    )
    return select(*columns).where(*conditions).subquery("hits")


def _score(text: ColumnElement[Any], place: Place | None, as_of: datetime) -> ColumnElement[int]:
    """The score of `ranking.rank` in ten-thousandths, so that the database can sort by it."""
    weights = ranking.WEIGHTS
    days = func.floor(sa.extract("epoch", sa.literal(as_of) - SearchEntry.confirmed_at) / _DAY)
    span = ranking.STALE_DAYS - ranking.FRESH_DAYS
    fresh = func.least(func.greatest((ranking.STALE_DAYS - days) / float(span), 0.0), 1.0)
    trust = sa.case(
        *((SearchEntry.trust == state, float(value)) for state, value in TRUST.items() if state),
        else_=float(TRUST[None]),
    )
    total: ColumnElement[Any] = (
        weights["text"] * (text / (text + 1.0))
        + weights["verification"] * (SearchEntry.level / float(ranking.LEVELS))
        + weights["trust"] * trust
        + weights["fresh"] * fresh
    )
    whole = sum(weights.values())
    if place is None:
        whole -= weights["place"]
    else:
        total = total + weights["place"] * _level(place)
    return sa.cast(func.round(total * (1_000_000 / whole)), sa.BigInteger)


def _level(place: Place) -> ColumnElement[Any]:
    """As `Place.level_in`, of a hit that applies there."""
    cases = [
        (_has(f"a:{place.province}"), float(PLACE["province"])),
        (_has(EVERYWHERE), float(PLACE["national"])),
    ]
    if place.municipality is not None:
        cases.insert(0, (_has(f"a:{place.municipality}"), float(PLACE["municipality"])))
    return sa.case(*cases, else_=float(PLACE["province"]))


def _has(token: str) -> ColumnElement[bool]:
    return sa.literal(token) == sa.any_(SearchEntry.tokens)


def _cut(hits: sa.Subquery, paged: Paged, after: _Position | None) -> sa.Select[Any]:
    by, listing_id = hits.c.place, hits.c.id
    statement = select(hits)
    if after is not None:
        there = tuple_(sa.literal(after.by, by.type), sa.literal(after.listing_id, listing_id.type))
        here = tuple_(by, listing_id)
        statement = statement.where(here < there if paged.descending else here > there)
    order = [by.desc(), listing_id.desc()] if paged.descending else [by, listing_id]
    return statement.order_by(*order).limit(paged.limit + 1)


def _after(read: Reader, paged: Paged) -> _Position | None:
    if paged.cursor is None:
        return None
    position = open_position(read, paged.cursor, bound_to=paged.bound_to)
    match position:
        case [int() | datetime() as by, UUID() as listing_id, datetime() as as_of]:
            return _Position(by, listing_id, as_of)
    raise InvalidCursor


async def _hits(
    read: Reader, records: Sequence[asyncpg.Record], place: Place | None, as_of: datetime
) -> list[Hit]:
    ids = [record["id"] for record in records]
    shown = among(LiveListing.visibility, FOUND)
    listings = await read.all(select(LiveListing).where(among(LiveListing.id, ids), shown))
    by_id = {listing.id: listing for listing in listings}
    return [
        Hit(by_id[record["id"]], record["provider_name"], _scored(record, place, as_of))
        for record in records
        if record["id"] in by_id
    ]


def _scored(record: asyncpg.Record, place: Place | None, as_of: datetime) -> Score:
    listing = ranking.Ranked(
        text=None if record["text"] is None else Decimal(repr(record["text"])),
        level=record["level"],
        trust=record["trust"],
        place=None if place is None else place.level_in(record["tokens"]),
        confirmed_at=record["confirmed_at"],
    )
    return ranking.rank(listing, as_of)
