"""Search over many tenders: fast, bounded in time, and nothing is missed from page to page."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest
from sqlalchemy import func, select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import opportunity as factory
from tests.planting import plant
from tests.suites.sizes import size

from thenga.domains.opportunity.services.notices import searching
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

NOTICES = size(12_000, 1_000_000)  # half of them open, so more than are sorted at once
SEARCHES, PAGES, LIMIT = size(40, 400), size(20, 200), 20
MOST_MS = 300
VOCABULARY = 20_000
NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
FIRST_CLOSING = NOW + timedelta(days=10)
MARK = f"search-{uuid4().hex[:8]}"

# Words come as often as in a language; seven tenders close at the same minute.
_WORD = f"'word' || floor(exp(random() * ln({VOCABULARY})))::int"
_FILL = f"""
    WITH made AS MATERIALIZED (
        SELECT gen_random_uuid() AS id, n, 'RFQ-' || n || '-2026' AS number,
            CASE WHEN n %% 2 = 0 THEN 'open' ELSE 'closed' END AS status,
            %(first)s::timestamptz + (n / 14) * interval '1 minute' AS closing,
            (ARRAY['KZN', 'GP', 'WC', 'EC'])[1 + n %% 4] AS province,
            (ARRAY['goods', 'works', 'services'])[1 + n %% 3] AS category,
            (SELECT string_agg({_WORD}, ' ') FROM generate_series(1, 8) WHERE n > 0) AS title,
            (SELECT string_agg({_WORD}, ' ') FROM generate_series(1, 60) WHERE n > 0) AS text
        FROM generate_series(1, %(count)s) AS n
    ), tenders AS (
        INSERT INTO opportunity.tender_opportunity (
            id, organization_id, created_at, updated_at, version, shared, tender_number, number_key,
            title, description, buyer_name, source_buyer_id, closing_at, closing_precision,
            closing_confidence, closes_at, time_zone, main_category, classifications, provinces,
            visibility, status, published_on, published_at, version_number, amendment_number,
            material_revision, match_revision, requirement_set_version, terms, awards, conflicts,
            doubts
        )
        SELECT id, %(keeper)s, %(now)s, %(now)s, 1, true, number, number, title, text, 'Department',
            %(mark)s, closing, 'minute', 'stated', closing, 'Africa/Johannesburg', category, '[]',
            ARRAY[province], 'shared', status, '2026-11-01', %(now)s, 1, 0, 1, 1, 0, '{{}}', '[]',
            '[]', '{{}}'
        FROM made
    )
    INSERT INTO opportunity.notice_search (
        id, organization_id, created_at, updated_at, version, status, closes_at, closing_sort,
        published_sort, number_key, buyer_name, source_buyer_id, main_category, provinces,
        classification_prefixes, cidb_classes, briefing, has_documents, buyer_words, title_words,
        words
    )
    SELECT id, %(keeper)s, %(now)s, %(now)s, 1, status, closing, closing,
        %(now)s::timestamptz - (n %% 700) * interval '1 day', number, 'Department', %(mark)s,
        category, ARRAY[province], ARRAY['72', '7214', '72' || lpad((n %% 100)::text, 4, '0')],
        '{{}}', 'none', false, to_tsvector('opportunity.za', 'Department'),
        to_tsvector('opportunity.za', title),
        setweight(to_tsvector('opportunity.za', title), 'A')
            || setweight(to_tsvector('opportunity.za', text), 'C')
    FROM made
"""
_INDEXES = """
    SELECT indexname, indexdef FROM pg_indexes
    WHERE schemaname = 'opportunity' AND tablename = 'notice_search' AND indexdef LIKE '%USING gin%'
"""
_ORDER = """
    SELECT id FROM opportunity.notice_search
    WHERE status IN ('planned', 'open') AND closes_at > $1 ORDER BY closing_sort, id LIMIT $2
"""


@pytest.fixture(scope="module")
def many(settings: Settings) -> Iterator[None]:
    """So many shared tenders, for as long as the tests of this file last."""
    address = settings.admin_database.get_secret_value()
    values = {"count": NOTICES, "keeper": OPERATOR, "now": NOW, "first": FIRST_CLOSING}
    with psycopg.connect(address, autocommit=True) as admin:
        admin.execute("SET session_replication_role = replica")
        indexes = admin.execute(_INDEXES).fetchall()
        for name, _ in indexes:
            admin.execute(f"DROP INDEX opportunity.{name}".encode())
        admin.execute(_FILL.encode(), values | {"mark": MARK})
        for _, text in indexes:  # much faster than row by row
            admin.execute(text.encode())
        admin.execute("VACUUM ANALYZE opportunity.notice_search, opportunity.tender_opportunity")
        yield
        for table in ("notice_search", "tender_opportunity"):
            text = f"DELETE FROM opportunity.{table} WHERE source_buyer_id = %s"
            admin.execute(text.encode(), [MARK])
        admin.execute("VACUUM ANALYZE opportunity.notice_search, opportunity.tender_opportunity")


@pytest.fixture
async def owner(host: Host, seeded: None, clock: Time, many: None) -> AsyncIterator[people.Member]:
    clock.set(NOW)
    yield await people.member(host, uuid4(), role="owner")


def searches() -> Iterator[tuple[str, dict[str, str]]]:
    """Words, numbers, phrases and filters, each with its name, in turn and without end."""
    dice = Random(13)  # a test's dice

    def word() -> str:
        return f"word{dice.randrange(50, VOCABULARY)}"

    kinds: dict[str, Callable[[], dict[str, str]]] = {
        "word": lambda: {"q": word()},
        "frequent word": lambda: {"q": f"word{dice.randrange(1, 50)}"},
        "two words": lambda: {"q": f"{word()} word{dice.randrange(1, 50)}"},
        "all states": lambda: {"q": word(), "status": "closed"},
        "number": lambda: {"tenderNumber": f"RFQ-{dice.randrange(1, NOTICES)}"},
        "title phrase": lambda: {"q": f'"{word()} {word()}"', "status": "closed"},
        "relevance": lambda: {"q": f"word{dice.randrange(1, 50)}", "sort": "-relevance"},
        "filters": lambda: {"province": "KZN", "mainCategory": "works", "classification": "7214"},
        "newest": lambda: {"sort": "-publishedOn", "province": "GP"},
    }
    while True:
        yield from ((name, made()) for name, made in kinds.items())


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine that needs longer for a search is no search that is too broad."""
    assert Reader.search.__kwdefaults__ is not None
    if not size(0, 1):
        monkeypatch.setitem(Reader.search.__kwdefaults__, "seconds", 60.0)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.rule("OPP-18", "OPP-19", "OPP-20")
async def test_search_is_fast_over_many_tenders(
    api: httpx2.AsyncClient, owner: people.Member
) -> None:
    took: list[tuple[float, str]] = []
    for _, (name, query) in zip(range(SEARCHES), searches(), strict=False):
        began = perf_counter()
        answer = await api.get("/opportunities", params=query, headers=owner.headers)
        took.append(((perf_counter() - began) * 1000, name))
        assert answer.status_code == 200, (name, answer.text)
    deep = await walked(api, owner, pages=PAGES)
    took += [(one, "deep page") for one in deep.took]

    took.sort()
    p95, slowest = took[int(len(took) * 0.95) - 1][0], took[-1]
    print(f"notices={NOTICES} searches={len(took)} search_ms p95={p95:.0f} slowest={slowest}")
    if size(0, 1):  # beside other work the wall clock tells of that work
        assert p95 <= MOST_MS


class Walk:
    """Pages of all open tenders in the order of their closing, one after the other."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.took: list[float] = []


async def walked(
    api: httpx2.AsyncClient,
    owner: people.Member,
    *,
    pages: int,
    between: Callable[[int], Any] | None = None,
    **asked: str,
) -> Walk:
    walk = Walk()
    cursor: str | None = None
    for page in range(pages):
        query = asked | {"limit": str(LIMIT)} | ({"cursor": cursor} if cursor else {})
        began = perf_counter()
        answer = await api.get("/opportunities", params=query, headers=owner.headers)
        walk.took.append((perf_counter() - began) * 1000)
        assert answer.status_code == 200, answer.text
        walk.seen += [one["id"] for one in answer.json()["items"]]
        cursor = answer.json()["nextCursor"]
        if between is not None:
            await between(page)
    return walk


async def lost_between_pages(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, pages: int
) -> tuple[int, int]:
    """What a walk misses and repeats while tenders are published before and behind its place."""
    async with host.engines.connection("opportunity", "opportunity_system") as connection:
        rows = await connection.fetch(_ORDER, NOW, pages * LIMIT)
    expected = [str(row["id"]) for row in rows]

    async def publish(page: int) -> None:
        minutes = page * LIMIT // 14 if page % 2 else page * LIMIT // 7 + 5
        closing = FIRST_CLOSING + timedelta(minutes=minutes, seconds=30)
        await factory.tender(host, closing_at=closing)

    walk = await walked(api, owner, pages=pages, between=publish)
    known = set(walk.seen) & set(expected)
    last = max(place for place, one in enumerate(expected) if one in known)
    missed = len(set(expected[: last + 1]) - known)
    repeated = len(walk.seen) - len(set(walk.seen))
    print(f"pages={pages} missed={missed} repeated={repeated}")
    return missed, repeated


@pytest.mark.usefixtures("unhurried")
@pytest.mark.rule("OPP-19")
async def test_pages_miss_and_repeat_nothing_while_tenders_come(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
) -> None:
    assert await lost_between_pages(api, host, owner, PAGES) == (0, 0)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("least", [UUID(int=0), UUID(int=2**128 - 1)], ids=["repeats", "misses"])
async def test_a_planted_cursor_without_its_tender_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    monkeypatch: pytest.MonkeyPatch,
    least: UUID,
) -> None:
    right = searching._after

    def blunt(read: Reader, paged: Any) -> Any:
        place = right(read, paged)
        return None if place is None else (place[0], least)

    plant(monkeypatch, searching, "_after", blunt)

    missed, repeated = await lost_between_pages(api, host, owner, 5)

    assert (missed > 0, repeated > 0) == (least.int > 0, least.int == 0)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.rule("OPP-19")
async def test_pages_by_relevance_repeat_nothing(
    api: httpx2.AsyncClient, owner: people.Member
) -> None:
    walk = await walked(api, owner, pages=5, q="word2", sort="-relevance")

    assert len(walk.seen) == len(set(walk.seen)) == 5 * LIMIT


@pytest.mark.rule("OPP-19")
async def test_a_search_that_takes_too_long_names_filters(
    api: httpx2.AsyncClient, owner: people.Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(read: Reader, *_: object, **__: object) -> list[Any]:
        return list(await read.search(select(func.pg_sleep(60))))

    plant(monkeypatch, searching, "_asked", slow)  # a database that is busy

    answer = await api.get("/opportunities", params={"q": "road"}, headers=owner.headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "search-too-broad")
    assert "province" in answer.json()["filters"]
