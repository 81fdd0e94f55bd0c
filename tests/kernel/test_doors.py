"""Doors: what holds around every route, tried on routes of the probe with real people."""

import asyncio
import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Opening
from tests.factories import identity as people
from tests.kernel import doors_domain
from tests.kernel.serving import serving
from tests.probe import Thing
from tests.suites.calls import keys
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings


@pytest.fixture(scope="module")
async def probing(settings: Settings, seeded: None) -> AsyncIterator[httpx2.AsyncClient]:
    apart = {"actor_per_minute": 1_000_000, "redis": settings.redis.replace("/0", "/2")}
    async with serving(settings.model_copy(update=apart), doors_domain.DOMAIN) as client:
        yield client


@pytest.fixture(scope="module")
async def owner(host: Host, probing: httpx2.AsyncClient) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def things(owner: people.Member, rest: str = "") -> str:
    return f"/probe/{owner.organization_id}/things{rest}"


async def count_things(opening: Opening, organization_id: UUID, name: str) -> int:
    read = opening.reader(organization_id)
    from sqlalchemy import select

    found = await read.all(select(Thing).where(Thing.name == name))
    await read.close()
    return len(found)


async def test_authorization_comes_before_reading(
    probing: httpx2.AsyncClient, owner: people.Member
):
    broken = {"content": b'{"name": ', "headers": {"Content-Type": "application/json"}}

    unknown = await probing.post(things(owner), **broken)
    known = await probing.post(
        things(owner), content=broken["content"], headers=owner.headers | broken["headers"]
    )

    assert (unknown.status_code, unknown.json()["code"]) == (401, "unauthenticated")
    assert (known.status_code, known.json()["code"]) == (400, "malformed-request")


async def test_a_version_is_answered_asked_for_and_honoured(
    probing: httpx2.AsyncClient, owner: people.Member
):
    made = await probing.post(things(owner), json={"name": "crane"}, headers=owner.headers)
    one = things(owner, f"/{made.json()['id']}")

    read = await probing.get(one, headers=owner.headers)
    tag = read.headers["etag"]
    again = await probing.get(one, headers=owner.headers | {"If-None-Match": tag})
    among = await probing.get(one, headers=owner.headers | {"If-None-Match": f'"7", W/{tag}'})
    blind = await probing.patch(one, json={"name": "x", "amount": 2}, headers=owner.headers)
    right = await probing.patch(
        one, json={"name": "x", "amount": 2}, headers=owner.headers | {"If-Match": tag}
    )
    stale = await probing.patch(
        one, json={"name": "x", "amount": 3}, headers=owner.headers | {"If-Match": '"1"'}
    )

    assert made.headers["location"] == f"/v1{one}"
    assert re.fullmatch('"1-[0-9a-f]{16}"', tag)
    assert read.headers["vary"] == "Authorization, X-Organization-Id"
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert among.status_code == 304
    assert (blind.status_code, blind.json()["code"]) == (428, "precondition-required")
    assert (right.status_code, right.headers["etag"][:3]) == (200, '"2-')
    assert (stale.status_code, stale.json()["currentVersion"]) == (412, 2)


async def test_a_version_alone_is_honoured_and_anything_else_refused(
    probing: httpx2.AsyncClient, owner: people.Member
):
    made = await probing.post(things(owner), json={"name": "hoist"}, headers=owner.headers)
    one = things(owner, f"/{made.json()['id']}")

    async def changed(tag: str) -> int:
        headers = owner.headers | {"If-Match": tag}
        body = {"name": "hoist", "amount": 2}
        return (await probing.patch(one, json=body, headers=headers)).status_code

    assert [await changed(tag) for tag in ('"x"', '"1-zz"', "1", '"1"', '"1"')] == [
        422,
        422,
        422,
        200,
        412,
    ]


async def test_etag_changes_with_the_body_even_without_a_version(
    probing: httpx2.AsyncClient, host: Host, owner: people.Member
):
    async def shelf(who: people.Member, **more: str) -> httpx2.Response:
        return await probing.get("/probe/shelf", headers=who.acting | more)

    before = await shelf(owner)
    await probing.post(things(owner), json={"name": "winch"}, headers=owner.headers)
    kept = {"If-None-Match": before.headers["etag"]}
    moved = await shelf(owner, **kept)
    other = await shelf(await people.member(host, uuid4(), role="owner"), **kept)
    same = await shelf(owner, **{"If-None-Match": moved.headers["etag"]})

    assert (before.json()["version"], moved.json()["version"]) == (1, 1)
    assert (moved.status_code, moved.json()["count"]) == (200, before.json()["count"] + 1)
    assert (other.status_code, other.json()["count"]) == (200, 0)
    assert same.status_code == 304


async def test_a_key_is_refused_what_only_people_may_do(
    probing: httpx2.AsyncClient, host: Host, owner: people.Member
):
    made = await probing.post(things(owner), json={"name": "seal"}, headers=owner.headers)
    path = things(owner, f"/{made.json()['id']}/seal")
    text = await keys.key(host, owner, owner.organization_id, [doors_domain.Permission.SEAL])

    by_key = await probing.post(path, headers={"Authorization": f"Bearer {text}"})
    by_person = await probing.post(path, headers=owner.headers)

    told = {name: by_key.json()[name] for name in ("code", "action", "reasonCode", "remedy")}
    assert (by_key.status_code, by_person.status_code) == (403, 200)
    assert told == {
        "code": "forbidden",
        "action": "probe:thing:seal",
        "reasonCode": "person_required",
        "remedy": {"kind": "ask_person"},
    }


async def test_a_failed_commit_is_never_told_as_a_success(
    probing: httpx2.AsyncClient, owner: people.Member, opening: Opening
):
    answer = await probing.post(things(owner, "/break"), headers=owner.headers)

    assert answer.status_code == 503
    assert await count_things(opening, owner.organization_id, "never seen") == 0


async def test_a_change_that_was_not_saved_is_found_before_the_commit(
    probing: httpx2.AsyncClient, owner: people.Member
):
    made = await probing.post(things(owner), json={"name": "unsaved"}, headers=owner.headers)
    one = things(owner, f"/{made.json()['id']}")

    answer = await probing.post(f"{one}/forget", headers=owner.headers)

    assert (answer.status_code, answer.json()["code"]) == (500, "internal-error")
    assert (await probing.get(one, headers=owner.headers)).json()["amount"] == 0


async def test_a_refusal_can_keep_its_effects(
    probing: httpx2.AsyncClient, owner: people.Member, opening: Opening
):
    answer = await probing.post(things(owner, "/keep"), headers=owner.headers)

    assert answer.status_code == 409
    assert await count_things(opening, owner.organization_id, "kept") == 1


async def test_a_secret_shown_once_is_not_replayed(
    probing: httpx2.AsyncClient, owner: people.Member
):
    headers = owner.headers | {"Idempotency-Key": str(uuid4())}

    first = await probing.post(things(owner), json={"name": "key"}, headers=headers)
    second = await probing.post(things(owner), json={"name": "key"}, headers=headers)

    assert first.json()["password"] == "canary-shown-once"
    assert second.json() == first.json() | {"password": None}
    assert second.headers["idempotency-replayed"] == "true"


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b'{"name":"a","name":"b"}', "application/json", 400, "malformed-request"),
        (b'{"name":"a","surprise":1}', "application/json", 422, "validation-failed"),
        (b'{"name":"a","amount":"5"}', "application/json", 422, "validation-failed"),
        (b"name=a", "application/x-www-form-urlencoded", 415, "unsupported-media-type"),
        (b'{"name":"' + b"a" * 1_100_000 + b'"}', "application/json", 413, "too-large"),
        (b"", "application/json", 422, "validation-failed"),
    ],
)
async def test_a_body_that_is_not_right_is_refused_with_its_reason(
    probing: httpx2.AsyncClient,
    owner: people.Member,
    body: bytes,
    kind: str,
    status: int,
    code: str,
):
    headers = owner.headers | {"Content-Type": kind}

    answer = await probing.post(things(owner), content=body, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize("query", ["staus=retired", "=null", "limit=5&x=1"])
async def test_a_query_parameter_that_is_not_known_is_refused(
    probing: httpx2.AsyncClient, owner: people.Member, query: str
):
    path = f"/organizations/{owner.organization_id}/equipment?{query}"

    answer = await probing.get(path, headers=owner.headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "validation-failed")
    assert answer.json()["errors"][0]["pointer"].startswith("/query/")


async def test_a_dataclass_gathers_query_parameters(
    probing: httpx2.AsyncClient, owner: people.Member
):
    for name, amount in (("shelved", 3), ("shelved", 30), ("put away", 40)):
        await probing.post(
            things(owner), json={"name": name, "amount": amount}, headers=owner.headers
        )

    async def shelf(query: str) -> httpx2.Response:
        return await probing.get(f"/probe/shelf?{query}", headers=owner.acting)

    assert (await shelf("name=shelved")).json()["count"] == 2
    assert (await shelf("name=shelved&amountFrom=30")).json()["count"] == 1
    assert (await shelf("amountFrom=3")).json()["count"] >= 3
    wrong = await shelf("amountFrom=many&nome=shelved")
    assert wrong.status_code == 422
    assert {each["pointer"] for each in wrong.json()["errors"]} == {
        "/query/amountFrom",
        "/query/nome",
    }


async def test_link_is_the_same_query_with_the_next_cursor(
    probing: httpx2.AsyncClient, owner: people.Member
):
    path = f"/organizations/{owner.organization_id}/equipment"
    for name in ("Digger", "Crane"):
        await probing.post(path, json={"name": name, "quantity": 1}, headers=owner.headers)

    asked = {"limit": "1", "sort": "-name"}
    first = await probing.get(path, params=asked, headers=owner.headers)
    cursor = first.json()["nextCursor"]
    second = await probing.get(path, params=asked | {"cursor": cursor}, headers=owner.headers)

    assert first.headers["Link"] == f'</v1{path}?limit=1&sort=-name&cursor={cursor}>; rel="next"'
    assert second.json()["items"][0]["name"] == "Crane"
    assert "Link" not in second.headers


async def test_location_of_a_path_with_a_line_end_is_one_line(
    host: Host, probing: httpx2.AsyncClient
):
    # Python reads a line end before hexadecimal digits as nothing, and so does the gate.
    owner = await people.member(host, UUID("0" + uuid4().hex[1:]), role="owner")
    path = f"/organizations/%0A{owner.organization_id.hex[1:]}/equipment"

    made = await probing.post(path, json={"name": "Digger", "quantity": 1}, headers=owner.headers)

    assert made.headers["Location"] == f"/v1{path}/{made.json()['id']}"


async def test_upload_is_stopped_at_its_size_limit(
    probing: httpx2.AsyncClient, owner: people.Member
):
    async def parts(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b"x" * 1_000_000

    small = await probing.post(things(owner, "/upload"), content=parts(3), headers=owner.headers)
    large = await probing.post(things(owner, "/upload"), content=parts(60), headers=owner.headers)

    assert small.json() == {"count": 3_000_000}
    assert (large.status_code, large.json()["limitBytes"]) == (413, 50 * 1024 * 1024)


async def test_a_callback_counts_once_and_only_when_signed(
    probing: httpx2.AsyncClient, owner: people.Member, opening: Opening
):
    body = b'{"paid":true}'
    right = hmac.new(doors_domain.SECRET, body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "Event-Id": str(uuid4()),
        "For-Organization": str(owner.organization_id),
        "Signature": right,
    }

    forged = await probing.post(
        "/probe/callbacks", content=body, headers=headers | {"Signature": "0" * 64}
    )
    true = await asyncio.gather(
        *(probing.post("/probe/callbacks", content=body, headers=headers) for _ in range(5))
    )

    assert forged.status_code == 401
    assert {answer.status_code for answer in true} == {200}
    assert await count_things(opening, owner.organization_id, "called back") == 1
    print("\ncallbacks true=5 forged=1 effects=1")
