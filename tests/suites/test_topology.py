"""The same flows in one process and in two; apart, the gate costs a little and is never open."""

import asyncio
import secrets
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import httpx2
import pytest
from pydantic import SecretStr
from pydantic_core import to_jsonable_python

from tests.factories import identity
from tests.letters import Letters
from tests.suites import flows
from tests.suites.processes import ApiProcess, Child, WorkerProcess
from tests.suites.sizes import size
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.identity.public import ActorRef, Decisions, ResourceRef
from thenga.domains.identity.tables import SessionStatus
from thenga.kernel.ports.remote import remote
from thenga.kernel.process.host import Host
from thenga.main import build
from thenga.tooling.dev import servers

GENEROUS = {
    "THENGA_ACTOR_PER_MINUTE": "10000000",
    "THENGA_AUTH_ADDRESS_PER_MINUTE": "10000000",
}


@dataclass
class Apart:
    """Identity and Organization in processes of their own."""

    env: dict[str, str]
    identity: ApiProcess
    organization: ApiProcess


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-topology-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def env(home: Path, letters: Letters, seeded: None) -> dict[str, str]:
    return servers.up(home) | GENEROUS | {"THENGA_SMTP_PORT": str(letters.port)}


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as made:
        yield made


@asynccontextmanager
async def started(*children: ApiProcess | WorkerProcess) -> AsyncIterator[None]:
    try:
        await asyncio.gather(*(asyncio.to_thread(child.start) for child in children))
        yield
    finally:
        await asyncio.gather(*(asyncio.to_thread(Child.kill, child) for child in children))


@pytest.fixture(scope="module")
async def apart(env: dict[str, str], folder: Path) -> AsyncIterator[Apart]:
    alone = {**env, "THENGA_DOMAINS": "identity,notification"}
    own = ApiProcess(alone, folder, name="api-identity", fresh=True)
    remotely = {"THENGA_DOMAINS": "organization", "THENGA_REMOTE_IDENTITY": own.internal}
    organization = ApiProcess({**env, **remotely}, folder, name="api-organization", fresh=True)
    workers = (
        WorkerProcess(alone, folder, name="worker-identity", fresh=True),
        WorkerProcess({**env, **remotely}, folder, name="worker-organization", fresh=True),
    )
    async with started(own, organization, *workers):
        yield Apart(env, own, organization)


@pytest.mark.prove
async def test_the_flows_pass_in_one_process(
    env: dict[str, str], folder: Path, letters: Letters, client: httpx2.AsyncClient
) -> None:
    api, worker = ApiProcess(env, folder, name="api-one"), WorkerProcess(env, folder, name="w-one")

    async with started(api, worker):
        passed = await flows.walk(client, letters, api.url, api.url)

    print(f"topology=one flows={len(passed)} passed")
    assert set(passed) == flows.STEPS


async def test_the_flows_pass_in_two_processes(
    apart: Apart, letters: Letters, client: httpx2.AsyncClient
) -> None:
    passed = await flows.walk(client, letters, apart.identity.url, apart.organization.url)

    print(f"topology=two flows={len(passed)} passed")
    assert set(passed) == flows.STEPS


async def test_the_gate_answers_the_same_from_near_and_from_far(
    apart: Apart, host: Host, client: httpx2.AsyncClient
) -> None:
    near: Decisions = LocalDecisions(host)
    far = remote(
        Decisions,
        apart.identity.internal,
        secret=bytes.fromhex(host.settings.internal_secret.get_secret_value()),
        client=client,
        now=host.now,
    )
    questions = await _questions(host)

    here = [await _answer(near, *question) for question in questions]
    there = [await _answer(far, *question) for question in questions]

    extra = await _milliseconds(far, questions[0]) - await _milliseconds(near, questions[0])
    print(f"contract questions={len(questions)} differing={_differing(here, there)}", end=" ")
    print(f"remote_gate_extra_ms={extra:.2f}")
    assert here == there
    assert {answer[0]["outcome"] for answer in here} == {"passage", "refusal"}
    assert {answer[1]["decision"] for answer in here} == {"allow", "deny"}


Question = tuple[str | None, UUID | None, str]
Answer = tuple[dict[str, object], dict[str, object]]


async def _questions(host: Host) -> list[Question]:
    owner = await identity.member(host, uuid4(), role="owner")
    viewer = await identity.member(host, owner.organization_id, role="viewer")
    gone = await identity.person(host, session=SessionStatus.REVOKED)
    reading, adding = "organization:equipment:read", "organization:equipment:create"
    mine = owner.organization_id
    return [
        (owner.token, mine, reading),
        (owner.token, mine, adding),
        (viewer.token, mine, adding),
        (viewer.token, uuid4(), reading),
        (gone.token, mine, reading),
        (owner.token, None, "identity:session:read"),
        (owner.token, mine, "no:such:permission"),
        ("tha_forged", mine, reading),
        (None, mine, reading),
    ]


async def _answer(
    port: Decisions, credential: str | None, organization_id: UUID | None, permission: str
) -> Answer:
    """Both questions of the port, without what is made anew for every answer."""
    entered = await port.enter(
        credential=credential,
        organization_id=organization_id,
        permission=permission,
        network="127.0.0.1",
        request_id="contract",
    )
    actor = entered.actor
    checked = await port.check(
        actor=ActorRef(
            type="user",
            id=(actor and actor.id) or UUID(int=0),
            session_id=actor.session_id if actor else None,
        ),
        organization_id=organization_id,
        action=permission,
        resource=ResourceRef(type="equipment"),
        channel="http",
        request_id="contract",
    )
    return _kept(entered), _kept(checked)


def _kept(answer: object) -> dict[str, object]:
    values = to_jsonable_python(answer)
    return {n: v for n, v in values.items() if n not in ("decision_id", "decided_at")}


def _differing(here: list[Answer], there: list[Answer]) -> int:
    return sum(a != b for a, b in zip(here, there, strict=True))


async def _milliseconds(port: Decisions, question: Question) -> float:
    taken = []
    for _ in range(size(check=50, prove=500)):
        credential, organization_id, permission = question
        begun = time.perf_counter()
        await port.enter(
            credential=credential,
            organization_id=organization_id,
            permission=permission,
            network="127.0.0.1",
            request_id="contract",
        )
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


@pytest.mark.prove
async def test_a_planted_wrong_secret_refuses_and_lets_nobody_in(
    apart: Apart, host: Host, client: httpx2.AsyncClient
) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    stranger = build(
        host.settings.model_copy(
            update={
                "domains": "organization",
                "remote_identity": apart.identity.internal,
                "internal_secret": SecretStr(secrets.token_hex(32)),
                "redis": host.settings.redis.replace("/0", "/14"),  # counts of its own
            }
        )
    )
    path = f"/organizations/{owner.organization_id}/equipment"

    transport = httpx2.ASGITransport(app=stranger)
    async with httpx2.AsyncClient(transport=transport, base_url="http://stranger/v1") as asking:
        refused = await asking.get(path, headers=owner.headers)
    await stranger.state.shared.host.close()
    let_in = await client.get(f"{apart.organization.url}{path}", headers=owner.headers)

    assert (refused.status_code, refused.json()["code"]) == (503, "dependency-unavailable")
    assert let_in.status_code == 200


@pytest.mark.prove
async def test_silence_of_identity_refuses(
    apart: Apart, host: Host, client: httpx2.AsyncClient
) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    path = f"/organizations/{owner.organization_id}/equipment"
    await asyncio.to_thread(apart.identity.kill)

    refused = await client.get(f"{apart.organization.url}{path}", headers=owner.headers)
    await asyncio.to_thread(apart.identity.start)
    let_in = await client.get(f"{apart.organization.url}{path}", headers=owner.headers)

    assert (refused.status_code, refused.json()["code"]) == (503, "dependency-unavailable")
    assert let_in.status_code == 200
