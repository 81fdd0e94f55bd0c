"""Tenders through HTTP, and what was told of them."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2

from thenga.kernel.process.host import Host

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
CLOSING = "2026-12-23T09:00:00Z"
TENDER = {
    "tenderNumber": "SCM 045/2026",
    "title": "Construction of a community hall in Nositha: 5GB",
    "description": "Building work with Sanitaton for the hall.",
    "buyer": {"name": "Umzimkhulu Municipality", "sphere": "municipal", "regime": "mfma"},
    "closingAt": CLOSING,
    "mainCategory": "works",
    "provinces": ["KZN"],
    "classifications": [{"scheme": "UNSPSC", "code": "72141100"}],
}


async def captured(api: httpx2.AsyncClient, who: Any, **given: Any) -> dict[str, Any]:
    answer = await api.post("/opportunities", json=TENDER | given, headers=who.headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def published(
    api: httpx2.AsyncClient, who: Any, visibility: str = "private", **given: Any
) -> dict[str, Any]:
    made = await captured(api, who, **given)
    answer = await api.post(
        f"/opportunities/{made['id']}/publish", json={"visibility": visibility}, headers=who.headers
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def amended(api: httpx2.AsyncClient, who: Any, tender: dict[str, Any], **fields: Any) -> Any:
    path = f"/opportunities/{tender['id']}"
    now = (await api.get(path, headers=who.headers)).json()
    match = {"If-Match": f'"{now["version"]}"'}
    answer = await api.patch(path, json=fields, headers=who.headers | match)
    assert answer.status_code == 200, answer.text
    listed = await api.get(f"{path}/amendments", headers=who.headers)
    return listed.json()["items"][0]


_OUTBOX = """
    SELECT envelope FROM opportunity.outbox
    WHERE envelope::jsonb -> 'data' ->> 'tenderOpportunityId' = $1 ORDER BY position
"""


async def told(host: Host, tender_id: UUID | str, name: str = "") -> list[dict[str, Any]]:
    """Every event about a tender, or those of one name, in order."""
    async with host.engines.connection("opportunity", "opportunity_system") as connection:
        found = await connection.fetch(_OUTBOX, str(tender_id))
    envelopes = [json.loads(one["envelope"]) for one in found]
    return [one for one in envelopes if name in one["type"]]
