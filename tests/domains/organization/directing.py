"""What tests of directors share: a director, a check, and how they are sent."""

from typing import Any

import httpx2

from tests.factories import identity as people

NUMBER = "8001015009087"
SIPHO = {
    "givenNames": "Sipho",
    "surname": "Mokoena",
    "role": "director",
    "idType": "za_id",
    "idNumber": NUMBER,
    "nationality": "ZA",
    "shareholdingPercent": "60.5",
    "appointedOn": "2015-03-01",
    "email": "sipho@mokoena.example",
    "phone": "082 123 4567",
}
CHECK = {
    "outcome": "verified",
    "method": "registry",
    "source": {"register": "cipc_register", "reference": "CoR39"},
}


def path(owner: people.Member, rest: str = "") -> str:
    return f"/organizations/{owner.organization_id}/directors{rest}"


async def add(api: httpx2.AsyncClient, owner: people.Member, **fields: Any) -> httpx2.Response:
    return await api.post(path(owner), json=SIPHO | fields, headers=owner.headers)


async def added(api: httpx2.AsyncClient, owner: people.Member, **fields: Any) -> str:
    return path(owner, f"/{(await add(api, owner, **fields)).json()['id']}")


async def listed(api: httpx2.AsyncClient, owner: people.Member, query: str = "") -> list[Any]:
    found = await api.get(path(owner) + query, headers=owner.headers)
    items: list[Any] = found.json()["items"]
    return items
