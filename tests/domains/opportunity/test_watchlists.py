"""A watchlist is a stored search: it reports what its search finds (OPP-41)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from tests.conftest import Time
from tests.factories import opportunity_board as factory

from thenga.domains.opportunity.services.board import percolation
from thenga.domains.opportunity.tables import WatchlistHit
from thenga.kernel.process.host import Host

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
CLOSING = NOW + timedelta(days=23)
TENDER: dict[str, Any] = {
    "tender_number": "WCH 045/2026",
    "title": "Repair of the road to the school",
    "description": "Bitumen and culverts",
    "closing_at": CLOSING,
    "main_category": "works",
    "municipality_code": "KZN225",
    "category_text": "Civil engineering",
    "value_minor": 500_000_00,
    "value_currency": "ZAR",
    "buyer": {
        "buyer_name": "Department of Works",
        "buyer_sphere": "provincial",
        "source_buyer_id": "320",
    },
}
# Filters that the tender fits, and the same with a value that it does not.
PAIRS: list[tuple[str, Any, Any]] = [
    ("q", "road repair", "road -school"),
    ("q", '"road to the school"', '"school to the road"'),
    ("province", "KZN", "GP"),
    ("municipality", "KZN225", "ETH"),
    ("category", "Civil engineering", "Catering"),
    ("classification", "7214", "7215"),
    ("buyer", "department", "municipality"),
    ("buyerId", "320", "321"),
    ("sphere", "provincial", "national"),
    ("method", "open", "limited"),
    ("mainCategory", "works", "goods"),
    ("valueMin", 500_000, 500_001),
    ("valueMax", 500_000, 499_999),
    ("closingFrom", CLOSING.isoformat(), (CLOSING + timedelta(seconds=1)).isoformat()),
    ("closingTo", (CLOSING + timedelta(seconds=1)).isoformat(), CLOSING.isoformat()),
    ("publishedFrom", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
    ("briefing", "none", "compulsory"),
    ("tenderNumber", "WCH 45", "WCH 46"),
    ("hasDocuments", False, True),
]


async def unlike(api: httpx2.AsyncClient, host: Host) -> list[tuple[str, str]]:
    """The filters whose watchlist reports another thing than its search finds, or neither what
    it should."""
    company = await factory.company(host)
    owner = await factory.owner_of(host, company)
    await factory.room_for_watchlists(host, company, 2 * len(PAIRS))
    path = f"/organizations/{company}/watchlists"
    made: dict[str, tuple[str, bool]] = {}
    for place, (name, right, wrong) in enumerate(PAIRS):
        for value, fits in ((right, True), (wrong, False)):
            body = {"name": f"{name} {place} {fits}", "filters": {name: value}}
            answer = await api.post(path, json=body, headers=owner.headers)
            assert answer.status_code == 201, answer.text
            made[answer.json()["id"]] = (name, fits)
    tender = await factory.shared_tender(host, **TENDER)
    await factory.percolated(host, tender)
    hits = {str(one.watchlist_id) for one in await factory.rows(host, WatchlistHit, company)}
    found = []
    for watchlist_id, (name, fits) in made.items():
        query = {"watchlistId": watchlist_id, "limit": "200"}
        listed = await api.get("/opportunities", params=query, headers=owner.headers)
        assert listed.status_code == 200, listed.text
        is_found = str(tender.id) in {one["id"] for one in listed.json()["items"]}
        is_complete = is_found or listed.json()["nextCursor"] is None
        if is_complete and (watchlist_id in hits, is_found) != (fits, fits):
            found.append((name, "fits" if fits else "misses"))
        assert is_complete or not fits or watchlist_id in hits
    print(f"filters={len(made)} unlike={found}")
    return found


@pytest.mark.rule("OPP-41")
async def test_a_watchlist_reports_what_its_search_finds(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
) -> None:
    clock.set(NOW)

    assert await unlike(api, host) == []


async def test_a_planted_watchlist_that_forgets_a_filter_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock.set(NOW)
    without = percolation._SHARED.replace("watched.province = ANY (notice.provinces)", "true")
    monkeypatch.setattr(percolation, "_SHARED", without)

    assert await unlike(api, host) == [("province", "misses")]
