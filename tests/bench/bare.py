"""The other side of the ratio: a bare ASGI function on asyncpg that sends the same SQL.

It checks nothing, knows one token and one organization, and writes its JSON by hand.
"""

import hashlib
import os
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import orjson
from pydantic import SecretStr
from sqlalchemy import select

from thenga.domains.identity.services.decisions._statement import _PERSON
from thenga.domains.organization.services.records.edges import _FIRST
from thenga.domains.organization.services.records.health_due import _MARK, SOON
from thenga.domains.organization.tables import Equipment, RecordVersion
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.crypto.sealing import Ring
from thenga.kernel.db import statements
from thenga.kernel.db.audit import Entry, entry
from thenga.kernel.db.flush import _flush_text
from thenga.kernel.db.idempotency import _texts
from thenga.kernel.db.paging import Paged, page_statement
from thenga.kernel.process import secret_settings
from thenga.kernel.values.ids import new_id

ORGANIZATION = UUID(os.environ["BENCH_ORGANIZATION"])
ACTOR = UUID(os.environ["BENCH_USER"])
TOKEN = hashlib.sha256(os.environ["BENCH_TOKEN"].encode()).digest()
SCOPE = Scope(actor=SYSTEM, organization_id=ORGANIZATION, user_id=ACTOR)
READ, WRITE = f"BEGIN READ ONLY; {SCOPE.opening()}", f"BEGIN; {SCOPE.opening()}"
ONE = statements.select_by(Equipment.__table__, ("organization_id", "id"))
INSERT = statements.insert(Equipment.__table__)
COLUMNS = Equipment.__columns__
INSERT_VERSION = statements.insert(RecordVersion.__table__)
# What a new machine holds beside what the caller said, as the driver takes it.
DEFAULTS = {
    name: orjson.dumps(value).decode() if isinstance(value, dict | list) else value
    for name, value in vars(
        Equipment(organization_id=ORGANIZATION, name="", quantity=1, expiries=[])
    ).items()
}

pools: dict[str, Any] = {}


async def _pool(login: str) -> Any:
    async def leave(_: Any) -> None:
        return None

    secret = SecretStr(os.environ["THENGA_DATABASE_SECRET"])
    address = secret_settings.address(os.environ["THENGA_DATABASE"], secret, login)
    return await asyncpg.create_pool(address, min_size=8, max_size=8, reset=leave)


async def _begin() -> None:
    pools["gate"] = await _pool("identity_gate")
    pools["organization"] = await _pool("organization")
    pools["list"] = page_statement(
        select(Equipment).where(Equipment.archived_at.is_(None)),
        Equipment,
        Paged(limit=50),
        None,
        holder=("organization_id", ORGANIZATION),
        ring=Ring([b"0" * 32], b"bench"),
        bound_to="",
    )


async def _gate(permission: str) -> None:
    now = datetime.now(UTC)
    asked = (TOKEN, None, None, None, ORGANIZATION, permission, now)
    found = await pools["gate"].fetchrow(_PERSON, *asked)
    assert found is not None


def _entry(table: str, now: datetime, row: dict[str, Any]) -> Entry:
    return entry(
        actor=SYSTEM, action="bench", target=(table, row["id"]), detail={"after": row}, at=now,
        organization_id=ORGANIZATION, user_id=ACTOR, request_id="bench", decision_id=None,
        network=None,
    )  # fmt: skip


def _version(row: dict[str, Any], now: datetime) -> list[Any]:
    """The row of the record's first version, in the order of its columns."""
    kept = {
        "id": new_id(), "created_at": now, "updated_at": now, "version": 1,
        "organization_id": ORGANIZATION, "record_type": "equipment", "record_id": row["id"],
        "record_version": 1, "kind": "customer_supplied", "changed_fields": ["name", "quantity"],
        "snapshot": _json(row).decode(), "actor_kind": "user", "actor_id": ACTOR,
    }  # fmt: skip
    return [kept.get(name) for name in RecordVersion.__columns__]


def _json(value: Any) -> bytes:
    return orjson.dumps(value, default=str)


async def get_one(equipment_id: str) -> bytes:
    await _gate("organization:equipment:read")
    async with pools["organization"].acquire() as connection:
        await connection.execute(READ)
        found = await connection.fetchrow(ONE, ORGANIZATION, UUID(equipment_id))
        await connection.execute("COMMIT")
    return _json(dict(found))


async def list_50() -> bytes:
    await _gate("organization:equipment:read")
    text, arguments = pools["list"]
    async with pools["organization"].acquire() as connection:
        await connection.execute(READ)
        found = await connection.fetch(text, *arguments)
        await connection.execute("COMMIT")
    return _json({"items": [dict(one) for one in found]})


async def create(body: bytes, key: str) -> bytes:
    await _gate("organization:equipment:create")
    sent = orjson.loads(body)
    now, made, event = datetime.now(UTC), new_id(), new_id()
    row = DEFAULTS | {
        "id": made, "created_at": now, "updated_at": now, "version": 1, "provenance": "{}",
        "organization_id": ORGANIZATION, "name": sent["name"], "quantity": sent["quantity"],
    }  # fmt: skip
    digest = hashlib.sha256(key.encode()).digest()
    told = [_entry(table, now, row) for table in ("equipment", "record_version")]
    envelope = _json({"id": event, "type": "bench", "data": {"equipmentId": made}}).decode()
    opening = WRITE.replace("'app.presented', ''", f"'app.presented', '{digest.hex()}'")
    answer = _json(row)
    async with pools["organization"].acquire() as connection:
        await connection.execute(opening)
        number = int.from_bytes(digest[:8], "big", signed=True)
        await connection.execute(_texts("organization")[0], digest, digest, now, number)
        await connection.execute(INSERT, *(row[name] for name in COLUMNS))
        await connection.execute(INSERT_VERSION, *_version(row, now))
        here, home = f"equipment:{made}", f"organization:{ORGANIZATION}"
        await connection.execute(
            _FIRST, ORGANIZATION, here, "customer_supplied", now,
            [new_id()], ["owns"], [home], ["organization"], [here], ["equipment"],
        )  # fmt: skip
        await connection.execute(_MARK, ORGANIZATION, now, now + SOON)
        await connection.execute(
            _flush_text("organization"), [one.id for one in told], [ORGANIZATION] * 2,
            [one.chain for one in told], [one.text for one in told],
            [now] * 2, 201, "{}", answer, digest, [event], [ORGANIZATION],
            [f"thenga.organization.Bench.{ORGANIZATION}"], [f"equipment/{made}"], [envelope], [now],
        )  # fmt: skip
        await connection.execute("COMMIT")
    return answer


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await _begin()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    path = scope["path"]
    if scope["method"] == "POST":
        message = await receive()
        headers = dict(scope["headers"])
        body = await create(message["body"], headers[b"idempotency-key"].decode())
    elif path.endswith("/equipment"):
        body = await list_50()
    else:
        body = await get_one(path.rsplit("/", 1)[1])
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
