"""The filters of a search, as conditions on what search finds (OPP-18, OPP-20)."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, func, or_
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.opportunity.services.releases import number_key
from thenga.domains.opportunity.tables import NoticeSearch, SearchEntry
from thenga.kernel.db.statements import among
from thenga.kernel.errors import RuleViolated

_WORDS: ColumnElement[Any] = sa.literal_column("'opportunity.za'::regconfig")
MOST_TERMS = 12
LIVE = ("planned", "open")


@dataclass(frozen=True)
class Filters:
    """What a caller searches for; None was not asked. Watchlists keep the same."""

    q: str | None = None
    within: Literal["notice", "documents"] = "notice"
    status: tuple[str, ...] = LIVE
    visibility: Literal["all", "shared", "own"] = "all"
    province: str | None = None
    municipality: str | None = None
    category: str | None = None
    classification: str | None = None
    buyer: str | None = None
    buyer_id: str | None = None
    sphere: str | None = None
    method: str | None = None
    main_category: str | None = None
    cidb_class: str | None = None
    cidb_grade_max: int | None = None
    value_min: int | None = None
    value_max: int | None = None
    closing_from: datetime | None = None
    closing_to: datetime | None = None
    published_from: datetime | None = None
    briefing: Literal["compulsory", "any", "none"] | None = None
    tender_number: str | None = None
    ocid: str | None = None
    source_id: UUID | None = None
    has_documents: bool | None = None
    ids: tuple[UUID, ...] | None = field(default=None)

    def check(self) -> None:
        """Refuse what cannot be searched for."""
        if self.q is not None and len(self.q.split()) > MOST_TERMS:
            raise RuleViolated(
                f"Search for at most {MOST_TERMS} words.", rule="OPP-20", limit=MOST_TERMS
            )


def stored_filters(stored: dict[str, Any]) -> Filters:
    """The filters of a watchlist, which are kept by the names of this class."""
    made = dict(stored)
    for name in ("closing_from", "closing_to", "published_from"):
        if isinstance(made.get(name), str):
            made[name] = datetime.fromisoformat(made[name])
    if isinstance(made.get("source_id"), str):
        made["source_id"] = UUID(made["source_id"])
    if "status" in made:
        made["status"] = tuple(made["status"])
    return Filters(**made)


def query_of(q: str) -> ColumnElement[Any]:
    """The words of a search in the language of the index."""
    return func.websearch_to_tsquery(_WORDS, q, type_=pg.TSQUERY)


def conditions(
    entry: type[SearchEntry], filters: Filters, now: datetime
) -> list[ColumnElement[bool]]:
    """The conditions on shared tenders, or on the captures of one organization."""
    found = [_status(entry, filters.status, now)]
    if filters.q is not None and filters.within == "notice":
        found.append(_text(entry, filters))
    if filters.ids is not None:
        found.append(among(entry.id, filters.ids))
    found += _equal(entry, filters)
    found += _ranges(entry, filters)
    if filters.tender_number is not None:
        found.append(_number(entry, number_key(filters.tender_number)))
    if filters.buyer is not None:
        found.append(_matches(entry, entry.buyer_words, query_of(filters.buyer)))
    return found


def _status(
    entry: type[SearchEntry], wanted: tuple[str, ...], now: datetime
) -> ColumnElement[bool]:
    """By the clock of whoever asks, also before a job has moved the tender."""
    over = entry.closes_at <= now
    began = entry.opens_at <= now
    live = among(entry.status, LIVE)
    parts: list[ColumnElement[bool]] = []
    if set(wanted) >= set(LIVE):
        parts.append(live & ~over)
    elif "open" in wanted:
        parts.append(live & ~over & ((entry.status == "open") | began))
    elif "planned" in wanted:
        not_begun = or_(entry.opens_at.is_(None), entry.opens_at > now)
        parts.append((entry.status == "planned") & ~over & not_begun)
    if "closed" in wanted:
        parts.append((entry.status == "closed") | (live & over))
    rest = [one for one in wanted if one not in (*LIVE, "closed")]
    if rest:
        parts.append(among(entry.status, rest))
    return or_(*parts) if parts else sa.true()


def _text(entry: type[SearchEntry], filters: Filters) -> ColumnElement[bool]:
    q = filters.q or ""
    vector = entry.words
    if '"' in q and not set(filters.status) <= set(LIVE):
        vector = entry.title_words  # phrases in the text of ended tenders take too long
    words = _matches(entry, vector, query_of(q))
    if re.search(r"\d", q):
        return or_(words, _number(entry, number_key(q)))
    return words


def _matches(
    entry: type[SearchEntry], vector: Any, query: ColumnElement[Any]
) -> ColumnElement[bool]:
    """By the index in the published table; by reading through the few captures of one keeper."""
    if entry is NoticeSearch:
        return vector.bool_op("@@")(query)  # type: ignore[no-any-return]  # upstream
    return func.ts_match_vq(vector, query, type_=sa.Boolean)


def _number(entry: type[SearchEntry], key: str) -> ColumnElement[bool]:
    if entry is NoticeSearch:
        return entry.number_key.contains(key, autoescape=True)
    return func.strpos(entry.number_key, key) > 0


def _equal(entry: type[SearchEntry], filters: Filters) -> list[ColumnElement[bool]]:
    pairs: tuple[tuple[Any, Any], ...] = (
        (entry.municipality_code, filters.municipality),
        (entry.category_text, filters.category),
        (entry.source_buyer_id, filters.buyer_id),
        (entry.sphere, filters.sphere),
        (entry.method, filters.method),
        (entry.main_category, filters.main_category),
        (entry.ocid, filters.ocid),
        (entry.source_id, filters.source_id),
        (entry.has_documents, filters.has_documents),
    )
    found = [column == value for column, value in pairs if value is not None]
    holds: tuple[tuple[Any, Any], ...] = (
        (entry.provinces, filters.province),
        (entry.classification_prefixes, filters.classification),
        (entry.cidb_classes, filters.cidb_class),
    )
    for column, value in holds:
        if value is not None:
            found.append(column.bool_op("@>")(sa.literal([value], pg.ARRAY(sa.Text))))
    if filters.briefing is not None:
        wanted = ("any", "compulsory") if filters.briefing == "any" else (filters.briefing,)
        found.append(among(entry.briefing, wanted))
    return found


def _ranges(entry: type[SearchEntry], filters: Filters) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if filters.cidb_grade_max is not None:
        found.append(entry.cidb_grade <= filters.cidb_grade_max)
    if filters.value_min is not None:
        found.append(entry.value_minor >= filters.value_min)
    if filters.value_max is not None:
        found.append(entry.value_minor <= filters.value_max)
    if filters.closing_from is not None:
        found.append(entry.closing_sort >= filters.closing_from)
    if filters.closing_to is not None:
        found.append(entry.closing_sort < filters.closing_to)
    if filters.published_from is not None:
        found.append(entry.published_sort >= filters.published_from)
    return found
