"""Search over all tenders: the shared ones by index, the caller's captures beside them (OPP-19)."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import func, select, tuple_

from thenga.domains.opportunity.services.notices.filters import Filters, conditions, query_of
from thenga.domains.opportunity.tables import (
    CaptureSearch,
    DocumentPage,
    NoticeSearch,
    OwnPageSearch,
    PageSearch,
    SearchEntry,
    TenderOpportunity,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.positions import open_position, seal_position
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import InvalidCursor, SearchTooBroad

MOST = 5000  # hits that are sorted; more are walked in order
_RANKED = 1000
_MILLION = 1_000_000  # ranks are whole millionths: a cursor holds them exactly
_PAGES = 2000  # pages of documents that are looked at
_OPTIONS = "MaxWords=25, MinWords=10, StartSel='', StopSel='', MaxFragments=1"
_SNIPPET = 200
_NARROWING = ("province", "classification", "closingFrom", "closingTo", "mainCategory")

Place = tuple[Any, UUID]  # the sort key and the identifier


@dataclass(frozen=True)
class Hit:
    """Where a word stands in a document."""

    document_id: UUID
    page: int
    snippet: str


@dataclass(frozen=True)
class Found:
    """One page of a search; `total` is exact, or what was counted before we stopped."""

    tenders: list[TenderOpportunity]
    hits: dict[UUID, list[Hit]]
    next_cursor: str | None
    total: int
    exact: bool


async def search(read: Reader, paged: Paged, filters: Filters) -> Found:
    """One page of the tenders that fit, in the order that was asked for."""
    filters.check()
    if paged.sort == "relevance" and filters.q is None:
        paged = replace(paged, sort="publishedOn")  # without words the newest are most relevant
    hits: dict[UUID, list[tuple[UUID, UUID, int]]] = {}
    try:
        if filters.within == "documents" and filters.q is not None:
            hits = await _documents(read, filters.q)
            filters = replace(filters, ids=tuple(hits))
        after = _after(read, paged)
        places, more, total = await _places(read, paged, filters, after)
    except SearchTooBroad:
        raise SearchTooBroad(
            "The search takes too long. Add a filter.", filters=list(_NARROWING)
        ) from None
    shown = places[: paged.limit]
    is_last = len(places) <= paged.limit and not more
    cursor = None
    if not is_last and shown:
        cursor = seal_position(read, shown[-1], bound_to=paged.bound_to)
    tenders = await _loaded(read, [place[1] for place in shown])
    snippets = await _snippets(read, filters.q or "", hits, [one.id for one in tenders])
    return Found(tenders, snippets, cursor, min(total, MOST), total <= MOST)


async def _places(
    read: Reader, paged: Paged, filters: Filters, after: Place | None
) -> tuple[list[Place], bool, int]:
    shared: list[Place] = []
    more, total = False, 0
    if filters.visibility != "own":
        shared, more, total = await _shared(read, paged, filters, after)
    own: list[Place] = []
    if filters.visibility != "shared" and read.has_organization:
        own = await _asked(read, _statement(CaptureSearch, paged, filters, read), MOST)
        total += len(own)
    merged = sorted({*shared, *own}, reverse=paged.descending)
    if after is not None:
        merged = [one for one in merged if (one < after if paged.descending else one > after)]
    return merged[: paged.limit + 1], more and len(merged) <= paged.limit, total


async def _shared(
    read: Reader, paged: Paged, filters: Filters, after: Place | None
) -> tuple[list[Place], bool, int]:
    """The two steps: probe the index; sort few hits, or walk the order of many."""
    statement = _statement(NoticeSearch, paged, filters, read)
    if paged.sort == "relevance":
        newest = _newest(paged, filters, read)
        found = await _asked(read, newest, _RANKED)
        return found, False, len(found)
    probed = await _asked(read, statement, MOST + 1, unordered=True)
    if len(probed) <= MOST:
        return probed, False, len(probed)
    entry_order = _order(NoticeSearch, paged)
    walked = statement
    if after is not None:
        there = tuple_(
            sa.literal(after[0], entry_order.type), sa.literal(after[1], NoticeSearch.id.type)
        )
        here = tuple_(entry_order, NoticeSearch.id)
        walked = walked.where(here < there if paged.descending else here > there)
    parts = (entry_order, NoticeSearch.id)
    ordering = [part.desc() for part in parts] if paged.descending else list(parts)
    found = await _asked(read, walked.order_by(*ordering), paged.limit + 1)
    return found, False, MOST + 1


def _order(entry: type[SearchEntry], paged: Paged) -> Any:
    return entry.published_sort if paged.sort == "publishedOn" else entry.closing_sort


def _statement(entry: type[SearchEntry], paged: Paged, filters: Filters, read: Reader) -> Any:
    by: Any = _order(entry, paged)
    if paged.sort == "relevance":
        by = func.coalesce(sa.literal(0, sa.Integer), sa.literal(0, sa.Integer))
    statement = select(by.label("place"), entry.id).where(*conditions(entry, filters, read.now))
    if entry is CaptureSearch:
        statement = statement.where(entry.organization_id == read.organization_id)
    return statement


def _newest(paged: Paged, filters: Filters, read: Reader) -> Any:
    """The rank of the newest hits: ranking all of them would read all of them."""
    query = query_of(filters.q or "")
    inner = (
        select(NoticeSearch.id, NoticeSearch.words)
        .where(*conditions(NoticeSearch, filters, read.now))
        .order_by(NoticeSearch.published_sort.desc(), NoticeSearch.id.desc())
        .limit(_RANKED)
        .subquery("newest")
    )
    rank = sa.cast(func.ts_rank(inner.c.words, query) * _MILLION, sa.Integer)
    return select(rank.label("place"), inner.c.id)


async def _asked(
    read: Reader, statement: Any, most: int, *, unordered: bool = False
) -> list[Place]:
    records = await read.search(statement.limit(most), unordered=unordered)
    return [(record[0], record[1]) for record in records]


def _after(read: Reader, paged: Paged) -> Place | None:
    if paged.cursor is None:
        return None
    position = open_position(read, paged.cursor, bound_to=paged.bound_to)
    if len(position) != 2 or not isinstance(position[1], UUID):
        raise InvalidCursor
    by = position[0]
    if not isinstance(by, int if paged.sort == "relevance" else datetime):
        raise InvalidCursor
    return by, position[1]


async def _loaded(read: Reader, ids: list[UUID]) -> list[TenderOpportunity]:
    found = await read.all(select(TenderOpportunity).where(among(TenderOpportunity.id, ids)))
    by_id = {one.id: one for one in found}
    return [by_id[one] for one in ids if one in by_id]


async def _documents(read: Reader, q: str) -> dict[UUID, list[tuple[UUID, UUID, int]]]:
    """Pages on which the words stand, by tender."""
    query = query_of(q)
    columns = ("tender_opportunity_id", "document_id", "id", "page")
    shared = select(*(PageSearch.__table__.c[name] for name in columns)).where(
        PageSearch.words.bool_op("@@")(query)
    )
    records = list(await read.search(shared.limit(_PAGES)))
    if read.has_organization:
        own = select(*(OwnPageSearch.__table__.c[name] for name in columns)).where(
            OwnPageSearch.organization_id == read.organization_id,
            func.ts_match_vq(OwnPageSearch.words, query, type_=sa.Boolean),
        )
        records += await read.search(own.limit(_PAGES))
    found: dict[UUID, list[tuple[UUID, UUID, int]]] = {}
    for record in records:
        found.setdefault(record[0], []).append((record[1], record[2], record[3]))
    return found


async def _snippets(
    read: Reader,
    q: str,
    hits: dict[UUID, list[tuple[UUID, UUID, int]]],
    tender_ids: list[UUID],
) -> dict[UUID, list[Hit]]:
    """At most three hits of each tender that is shown."""
    wanted = {
        page_id: (tender_id, document_id, page)
        for tender_id in tender_ids
        for document_id, page_id, page in sorted(hits.get(tender_id, []), key=lambda h: h[2])[:3]
    }
    if not wanted:
        return {}
    text = func.ts_headline(
        sa.literal_column("'opportunity.za'::regconfig"), DocumentPage.text, query_of(q), _OPTIONS
    )
    statement = select(DocumentPage.id, text).where(among(DocumentPage.id, list(wanted)))
    found: dict[UUID, list[Hit]] = {}
    for record in await read.search(statement):
        tender_id, document_id, page = wanted[record[0]]
        snippet = " ".join(str(record[1]).split())[:_SNIPPET]
        found.setdefault(tender_id, []).append(Hit(document_id, page, snippet))
    return found
