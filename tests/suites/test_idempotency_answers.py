"""What is kept of an answer: never a secret that is shown once, never half an answer."""

import asyncio
from collections.abc import AsyncIterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest

from tests.probe import Thing
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.access.gate import Gate, HeldAs, Passage, Refusal
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http import doors
from thenga.kernel.http.app import make_app
from thenga.kernel.http.bodies import SHOWN_ONCE, Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import writes
from thenga.kernel.process.settings import Settings
from thenga.kernel.standing import answered
from thenga.kernel.values.fields import text
from thenga.starting import make_host

pytestmark = pytest.mark.no_retry

CANARY = "canary-shown-once"
HELD, FINISH = asyncio.Event(), asyncio.Event()


class Permission(StrEnum):
    MAKE = "probe:thing:make"


class MakeThing(Body):
    name: Annotated[str, text(1, 80)]


class Credential(View):
    plaintext: Annotated[str | None, SHOWN_ONCE]
    last_four: str


class ThingView(View):
    id: UUID
    secret: Annotated[str | None, SHOWN_ONCE]
    credential: Credential
    others: list[Credential]


async def make_thing(body: MakeThing, work: Annotated[Work, writes(Permission.MAKE)]) -> ThingView:
    """Make a thing and show its secrets once; `held` waits, `refused` has its effect undone."""
    made = await work.add(Thing(organization_id=work.organization_id, name=body.name))
    if body.name == "held":
        HELD.set()
        await FINISH.wait()
    if body.name == "refused":
        raise RuleViolated("Not this one.", rule="PRB-1")
    shown = [Credential(plaintext=f"{CANARY}-{n}", last_four="1234") for n in range(3)]
    return ThingView(id=made.id, secret=f"{CANARY}-top", credential=shown[0], others=shown[1:])


make_thing.__domain__ = "probe"  # type: ignore[attr-defined]  # read by the door
router = make_router("Probe / Thing")
router.post("/probe/things", status_code=201)(make_thing)
DOMAIN = Domain(
    name="probe",
    home=Path(__file__).parents[1] / "probe",
    routers=(router,),
    permissions=(Granted(Permission.MAKE, "Make a thing", (Audience.TENANT,)),),
)


class OneCompany(Gate):
    """Lets everybody in as one person of one company."""

    def __init__(self) -> None:
        self._actor = Actor(kind=ActorKind.USER, id=uuid4())
        self.organization_id = uuid4()

    async def enter(
        self,
        *,
        credential: str | None,
        organization_id: UUID | None,
        permission: str,
        network: str,
        request_id: str,
    ) -> Passage | Refusal:
        return Passage(
            actor=self._actor,
            organization_id=self.organization_id,
            user_id=self._actor.id,
            held_as=HeldAs.TENANT,
            policy_version="none",
        )


@pytest.fixture
async def probe(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    HELD.clear()
    FINISH.clear()
    host = make_host(settings.model_copy(update={"actor_per_minute": 10_000_000}))
    answered.bind(DOMAIN, host)
    transport = httpx2.ASGITransport(app=make_app(host, OneCompany(), [DOMAIN]))
    async with httpx2.AsyncClient(transport=transport, base_url="http://thenga.test/v1") as client:
        yield client
    await host.close()


async def make(probe: httpx2.AsyncClient, key: str, name: str) -> httpx2.Response:
    return await probe.post("/probe/things", json={"name": name}, headers={"Idempotency-Key": key})


async def canaries_kept(settings: Settings) -> int:
    """Rows of the key table in which a secret stands."""
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    found = await connection.fetchval(
        "SELECT count(*) FROM probe.idempotency WHERE position($1::bytea IN body) > 0 "
        "OR headers::text LIKE '%' || convert_from($1, 'UTF8') || '%'",
        CANARY.encode(),
    )
    await connection.close()
    return int(found)


async def test_a_secret_is_shown_once_and_kept_nowhere(
    probe: httpx2.AsyncClient, settings: Settings
) -> None:
    key = uuid4().hex

    first, again = await make(probe, key, "one"), await make(probe, key, "one")

    assert first.text.count(CANARY) == 4
    assert again.status_code == 201
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["credential"] == {"plaintext": None, "lastFour": "1234"}
    kept = await canaries_kept(settings)
    print(f"secrets_shown={first.text.count(CANARY)} replayed={again.text.count(CANARY)} {kept=}")
    assert CANARY not in again.text
    assert kept == 0


async def test_a_key_whose_first_call_still_runs_is_told_so(probe: httpx2.AsyncClient) -> None:
    key = uuid4().hex
    first = asyncio.create_task(make(probe, key, "held"))
    async with asyncio.timeout(60):
        await HELD.wait()

    meanwhile = await make(probe, key, "held")
    other = await make(probe, key, "another")
    FINISH.set()
    answered = await first
    after = await make(probe, key, "held")

    assert (meanwhile.status_code, meanwhile.json()["code"]) == (409, "idempotency-in-progress")
    assert meanwhile.headers["Retry-After"] == "1"
    assert other.json()["code"] == "idempotency-in-progress"
    assert answered.status_code == 201
    assert after.json()["id"] == answered.json()["id"]


async def test_a_refused_call_leaves_the_key_free(probe: httpx2.AsyncClient) -> None:
    key = uuid4().hex

    refused = await make(probe, key, "refused")
    corrected = await make(probe, key, "right")

    assert refused.status_code == 422
    assert corrected.status_code == 201
    assert "Idempotency-Replayed" not in corrected.headers


async def test_a_planted_answer_kept_as_it_was_sent_is_found(
    probe: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "without_secrets", lambda _: None)
    key = uuid4().hex

    await make(probe, key, "one")
    again = await make(probe, key, "one")

    assert again.text.count(CANARY) == 4
    assert await canaries_kept(settings) > 0
