"""Whatever is sent again under one key is done once, and answered as the first time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import orjson
import pytest
from pydantic.alias_generators import to_camel

from tests.factories import identity, organization
from tests.factories.identity import Member
from tests.suites import calls
from tests.suites.effects import Ledger
from tests.suites.sizes import size
from thenga import topology
from thenga.kernel.db import work as works
from thenga.kernel.db.engine import Connection
from thenga.kernel.db.idempotency import Answer, Key, Replay
from thenga.kernel.http.bodies import SHOWN_ONCE
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

pytestmark = pytest.mark.no_retry

OPERATIONS = operations(topology.load(topology.DOMAINS))
KEYED = [one for one in OPERATIONS if one.door.entrance.idempotent]
AT_ONCE, AFTER = 5, 4
GROUP = AT_ONCE + AFTER + 1  # and one with another body


@dataclass
class Tally:
    """What a run of deliveries came to."""

    deliveries: int = 0
    replayed: int = 0
    in_progress: int = 0
    double_effects: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass
class Stage:
    """Where deliveries are made and counted."""

    api: httpx2.AsyncClient
    host: Host
    owner: Member
    ledger: Ledger

    async def send(
        self, operation: Operation, sent: calls.Sent, key: str, body: bytes
    ) -> httpx2.Response:
        headers = self.owner.headers | sent.headers | {"Idempotency-Key": key}
        if body:
            headers["Content-Type"] = "application/json"
        path = calls.path_of(operation, sent.ids, sent.parts).removeprefix("/v1")
        return await self.api.request(operation.method, path, content=body, headers=headers)


@pytest.fixture
async def stage(
    settings: Settings, api: httpx2.AsyncClient, host: Host, seeded: None
) -> AsyncIterator[Stage]:
    who = await identity.person(host)
    company = await organization.organization(host, who.user_id, mode="sandbox")
    owner = await identity.member(host, company.id, role="owner", who=who, sandbox=True)
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    yield Stage(api, host, owner, await Ledger.of(admin, topology.DOMAINS))
    await admin.close()


async def deliver_all(stage: Stage, groups: int) -> Tally:
    """Every operation in turn, each time under a new key that is used by `GROUP` deliveries."""
    tally = Tally()
    once = {one.name: await _effect_of_one(stage, one) for one in KEYED[:groups]}
    for number in range(groups):
        operation = KEYED[number % len(KEYED)]
        sent = await calls.MAKERS[operation.name](
            stage.host, stage.owner, stage.owner.organization_id
        )
        other = await _another_body(stage, operation, _body(sent))
        before = await stage.ledger.counted()
        await _deliver(stage, operation, sent, other, tally)
        effect = await stage.ledger.counted()
        effect.subtract(before)
        if effect != once[operation.name]:
            tally.double_effects += 1
            tally.faults.append(f"{operation.name}: {effect} instead of {once[operation.name]}")
    return tally


async def _effect_of_one(stage: Stage, operation: Operation) -> Counter[str]:
    sent = await calls.MAKERS[operation.name](stage.host, stage.owner, stage.owner.organization_id)
    before = await stage.ledger.counted()
    answer = await stage.send(operation, sent, uuid4().hex, _body(sent))
    assert answer.is_success, f"{operation.name}: {answer.status_code} {answer.text}"
    effect = await stage.ledger.counted()
    effect.subtract(before)
    assert any(effect.values()), f"{operation.name} left nothing behind"
    return effect


async def _deliver(
    stage: Stage, operation: Operation, sent: calls.Sent, other_body: bytes, tally: Tally
) -> None:
    key, body = uuid4().hex, _body(sent)
    together = await asyncio.gather(
        *(stage.send(operation, sent, key, body) for _ in range(AT_ONCE))
    )
    later = [await stage.send(operation, sent, key, body) for _ in range(AFTER)]
    other = await stage.send(operation, sent, key, other_body)
    tally.deliveries += GROUP
    first = [a for a in together if a.is_success and "idempotency-replayed" not in a.headers]
    if len(first) != 1:
        tally.faults.append(f"{operation.name}: {len(first)} first answers")
        return
    for answer in [*together, *later]:
        _judge(operation, sent, answer, first[0], tally)
    if any(_code(answer) == "idempotency-in-progress" for answer in later):
        tally.faults.append(f"{operation.name}: in progress after it was answered")
    expected = "session-revoked" if sent.ends_session else "idempotency-key-reused"
    if _code(other) != expected:
        tally.faults.append(f"{operation.name}: another body was answered {other.status_code}")


def _judge(
    operation: Operation,
    sent: calls.Sent,
    answer: httpx2.Response,
    first: httpx2.Response,
    tally: Tally,
) -> None:
    if answer is first:
        return
    kept = ("etag", "location", "content-type")
    same = (answer.status_code, [answer.headers.get(n) for n in kept]) == (
        first.status_code,
        [first.headers.get(n) for n in kept],
    ) and _is_repeated(operation, answer.content, first.content)
    if answer.headers.get("idempotency-replayed") == "true" and same:
        tally.replayed += 1
    elif _code(answer) == "idempotency-in-progress" and answer.status_code == 409:
        tally.in_progress += 1
    elif not (sent.ends_session and _code(answer) == "session-revoked"):
        tally.faults.append(f"{operation.name}: {answer.status_code} {answer.text[:200]}")


def _is_repeated(operation: Operation, again: bytes, first: bytes) -> bool:
    """Whether the first answer is given again; what is shown once is null then."""
    fields = getattr(operation.door.response_model, "model_fields", {})
    once = [name for name, field in fields.items() if SHOWN_ONCE in field.metadata]
    if not once:
        return again == first
    expected = orjson.loads(first) | {to_camel(name): None for name in once}
    return bool(orjson.loads(again) == expected)


async def _another_body(stage: Stage, operation: Operation, body: bytes) -> bytes:
    """A body as good as the first; where the operation takes none, one that it does not look at."""
    if not body:
        return b"{}"
    for _ in range(20):
        sent = await calls.MAKERS[operation.name](
            stage.host, stage.owner, stage.owner.organization_id
        )
        if _body(sent) != body:
            return _body(sent)
    raise AssertionError(f"the maker of {operation.name} gives one body only")


def _body(sent: calls.Sent) -> bytes:
    body = sent.body(sent.ids)
    return b"" if body is None else orjson.dumps(body)


def _code(answer: httpx2.Response) -> Any:
    problem = answer.headers.get("content-type", "").startswith("application/problem+json")
    return answer.json()["code"] if problem else None


def test_every_operation_that_takes_a_key_has_a_maker() -> None:
    assert calls.uncovered(OPERATIONS) == set()
    assert len(KEYED) >= 12


async def test_what_is_delivered_again_is_done_once(stage: Stage) -> None:
    tally = await deliver_all(stage, size(1_000, 10_000) // GROUP)

    print(
        f"deliveries={tally.deliveries} double_effects={tally.double_effects} "
        f"operations={len(KEYED)} replayed={tally.replayed} in_progress={tally.in_progress}"
    )
    assert tally.faults == []
    assert tally.double_effects == 0
    assert tally.deliveries == size(1_000, 10_000)


async def _checks_then_inserts(
    connection: Connection, domain: str, key: Key, now: datetime
) -> None:
    table = f"{domain}.idempotency"
    found = await connection.fetchrow(f"SELECT * FROM {table} WHERE hash = $1", key.hash)
    if found is not None:
        raise Replay(Answer(found["status"], found["headers"], found["body"]))
    await connection.execute(
        f"INSERT INTO {table} (hash, body_mac, created_at) VALUES ($1, $2, $3) "
        "ON CONFLICT DO NOTHING",
        *(key.hash, key.body_mac, now),
    )


async def test_a_planted_check_before_the_insert_is_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(works, "claim", _checks_then_inserts)

    tally = await deliver_all(stage, 8)  # a planted bug shows in the first few

    print(f"planted: deliveries={tally.deliveries} double_effects={tally.double_effects}")
    assert tally.double_effects > 0
    assert tally.faults
