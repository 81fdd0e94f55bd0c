"""What was made, or begun, is found where its answer says."""

from typing import Any

import httpx2
import pytest

from tests.factories import identity, organization
from tests.settling import Settle
from tests.suites import allowed, calls
from tests.suites.rotation import within_domain
from thenga import topology
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.process.host import Host

OPERATIONS = operations(topology.load(topology.DOMAINS))
(FOUNDING,) = [one for one in OPERATIONS if one.name == "create_organization"]
MAKING = [
    one
    for one in within_domain(OPERATIONS)
    if one.door.status_code in (201, 202) and one is not FOUNDING
]


@pytest.fixture
async def owner(host: Host, seeded: None) -> identity.Member:
    who = await identity.person(host)
    company = await organization.organization(host, who.user_id, mode="sandbox")
    return await identity.member(host, company.id, role="owner", who=who, sandbox=True)


async def test_every_location_can_be_read(
    api: httpx2.AsyncClient, host: Host, owner: identity.Member
) -> None:
    said, found = {}, {}
    for one in MAKING:
        made, headers = await _made(api, host, one, owner)
        assert made.status_code == one.door.status_code, f"{one.name}: {made.text}"
        said[one.name] = made.headers.get("location")
        if said[one.name] is not None:
            read = await api.get(f"http://thenga.test{said[one.name]}", headers=headers)
            found[one.name] = (read.status_code, _is_of(read, made))

    silent = {name for name, where in said.items() if where is None}
    lost = {name: how for name, how in found.items() if how != (200, True)}
    print(f"making={len(MAKING)} read={len(found)} lost={len(lost)} silent={len(silent)}")
    assert lost == {}
    elsewhere = {one.name for one in OPERATIONS} - {o.name for o in within_domain(OPERATIONS)}
    assert silent == allowed.WITHOUT_LOCATION.keys() - elsewhere


async def test_location_is_readable_once_the_founder_is_a_member(
    api: httpx2.AsyncClient, host: Host, owner: identity.Member, settle: Settle
) -> None:
    made, headers = await _made(api, host, FOUNDING, owner)

    async def read() -> str | None:
        seen = await api.get(f"http://thenga.test{made.headers['location']}", headers=headers)
        return str(seen.json()["id"]) if seen.status_code == 200 else None

    assert await settle(read) == made.json()["id"]


async def _made(
    api: httpx2.AsyncClient, host: Host, one: Operation, owner: identity.Member
) -> tuple[httpx2.Response, dict[str, str]]:
    sent = await calls.MAKERS[one.name](host, owner, owner.organization_id)
    headers = owner.headers | sent.headers
    path = calls.path_of(one, sent.ids, sent.parts).removeprefix("/v1")
    body = sent.body(sent.ids)
    given: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
    made = await api.request(one.method, path, headers=headers, **given)
    return made, {name: value for name, value in headers.items() if name != "If-Match"}


def _is_of(read: httpx2.Response, made: httpx2.Response) -> bool:
    """Whether what is read is what was made, or what it names."""
    shown, named = read.json(), made.json()
    ids = {value for name, value in named.items() if name == "id" or name.endswith("Id")}
    return not ids or "id" not in shown or shown["id"] in ids
