"""How far a sandbox organization's clock runs ahead, as its own domain was told."""

from datetime import timedelta
from functools import cache
from uuid import UUID

import sqlalchemy as sa

from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host

NO_OFFSET = timedelta(0)
_ORIGIN = Origin(action="clock_offset", request_id="clock", correlation_id="clock")


@cache
def offsets_of(domain: str) -> sa.TableClause:
    """The kernel's table of clock offsets in the schema of a domain."""
    columns = (sa.column("organization_id", sa.UUID), sa.column("ahead", sa.Interval))
    return sa.table("clock_offset", *columns, schema=domain)


@cache
def _statement(domain: str) -> sa.Select[timedelta]:
    offsets = offsets_of(domain)
    named = sa.bindparam("organization_id", type_=sa.UUID)
    return sa.select(offsets.c.ahead).where(offsets.c.organization_id == named)


async def clock_offset(host: Host, domain: str, organization_id: UUID | None) -> timedelta:
    """Read before each unit of work of a job or reaction, and kept no longer than that."""
    if organization_id is None:
        return NO_OFFSET
    read = Reader(host, domain, Scope(actor=SYSTEM, organization_id=organization_id), _ORIGIN)
    try:
        return await clock_offset_within(read, organization_id)
    finally:
        await read.close()


async def clock_offset_within(read: Reader, organization_id: UUID) -> timedelta:
    """Read in a transaction that the caller needs anyway."""
    return await read.value(_statement(read.domain), organization_id=organization_id) or NO_OFFSET
