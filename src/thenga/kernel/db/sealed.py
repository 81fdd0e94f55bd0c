"""Columns sealed under a key of the deployment: the only way to seal, to open and to seal again.

A column says in its row class under which key it is sealed and to which columns it is bound
(`col(..., sealed=Sealed("totp", ("id",)))`). So the kernel knows every such column, and after a
rotation `reseal` leaves nothing under a former key (SEC-62).
"""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import structlog

from thenga.kernel.db.rows import Row, Sealed, rows
from thenga.kernel.process.host import Host

_BATCH = 500

log = structlog.get_logger()


def seal(host: Host, row: type[Row], column: str, plaintext: bytes, **bound_to: Any) -> bytes:
    """The bytes for a sealed column; `bound_to` has the values of the columns it is bound to."""
    declared = row.__sealed__[column]
    return host.ring(declared.purpose).seal(plaintext, aad=_aad(declared, bound_to))


def unseal(host: Host, row: Row, column: str) -> bytes:
    """What is sealed in a column of a row; a null column is a defect of the caller."""
    declared = row.__sealed__[column]
    values = row.__dict__
    return host.ring(declared.purpose).unseal(values[column], aad=_aad(declared, values))


def unseal_copy(host: Host, purpose: str, copy: bytes, *, aad: bytes) -> bytes:
    """What another domain has sealed in a column and handed out, with what it is bound to."""
    return host.ring(purpose).unseal(copy, aad=aad)


def columns(domain: str) -> Iterator[tuple[type[Row], str, Sealed]]:
    """The sealed columns of a domain."""
    for row in rows():
        if row.__table__.schema == domain:
            yield from ((row, name, declared) for name, declared in row.__sealed__.items())


async def reseal(host: Host, domain: str) -> int:
    """Seal what is under a former key under the present one; the number of values that moved.

    It changes no version: nobody can see a difference. A row that changes meanwhile is left for
    the next batch.
    """
    moved = 0
    for row, column, declared in columns(domain):
        while count := await _reseal_batch(host, domain, row, column, declared):
            moved += count
    if moved:
        log.info("sealing.values.resealed", domain=domain, values=moved)
    return moved


async def waiting(host: Host, domain: str) -> int:
    """How many values of a domain are not under the present key."""
    found = 0
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        for row, column, declared in columns(domain):
            prefix = host.ring(declared.purpose).prefix
            text = (
                f"SELECT count(*) FROM {row.__table__.fullname} "
                f"WHERE {column} IS NOT NULL AND substring({column} FOR $1) <> $2"
            )
            found += await connection.fetchval(text, len(prefix), prefix)
    return found


async def _reseal_batch(
    host: Host, domain: str, row: type[Row], column: str, declared: Sealed
) -> int:
    ring, table = host.ring(declared.purpose), row.__table__.fullname
    read = ", ".join(dict.fromkeys(("id", column, *declared.bound_to)))
    moved = 0
    async with (
        host.engines.connection(domain, f"{domain}_system") as connection,
        connection.transaction(),
    ):
        found = await connection.fetch(
            f"SELECT {read} FROM {table} "
            f"WHERE {column} IS NOT NULL AND substring({column} FOR $1) <> $2 "
            f"LIMIT {_BATCH} FOR NO KEY UPDATE",
            len(ring.prefix),
            ring.prefix,
        )
        for record in found:
            aad = _aad(declared, dict(record))
            again = ring.seal(ring.unseal(record[column], aad=aad), aad=aad)
            text = f"UPDATE {table} SET {column} = $2 WHERE id = $1"
            await connection.execute(text, record["id"], again)
            moved += 1
    return moved


def _aad(declared: Sealed, values: Mapping[str, Any]) -> bytes:
    """One column as its own bytes, several as text with slashes between them."""
    bound = [values[name] for name in declared.bound_to]
    if len(bound) > 1:
        return "/".join(map(str, bound)).encode()
    (one,) = bound
    return one.bytes if isinstance(one, UUID) else bytes(one)
