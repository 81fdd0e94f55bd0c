"""Reading what was decided: an organization its own, a person what they were refused, staff all."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.identity.tables import DecisionRecord, PersonalDecision, PlatformDecision
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound

_SHOWN = (
    *("id", "created_at", "user_id", "actor_kind", "action", "resource", "decision"),
    *("reason_code", "obligations", "remedy", "policy_version", "purpose", "channel"),
    "request_id",
)


async def list_records(
    read: Reader, paged: Paged, *, filters: dict[str, Any]
) -> tuple[Sequence[asyncpg.Record], str | None]:
    """One page; a person sees what they were refused in every organization and outside of all."""
    kept = _seen(read)
    statement = sa.select(*kept.c)
    for name in ("user_id", "action", "reason_code", "decision"):
        if filters.get(name) is not None:
            statement = statement.where(kept.c[name] == filters[name])
    if filters.get("since") is not None:
        statement = statement.where(kept.c.created_at >= filters["since"])
    if filters.get("until") is not None:
        statement = statement.where(kept.c.created_at < filters["until"])
    return await read.page_records(statement, paged, (kept.c.created_at, kept.c.id))


async def get_record(read: Reader, decision_id: UUID) -> asyncpg.Record:
    """One decision that was kept and that the caller may see."""
    kept = _seen(read)
    found = await read.records(sa.select(*kept.c).where(kept.c.id == decision_id).limit(1))
    if not found:
        raise NotFound()
    return found[0]


def _seen(read: Reader) -> sa.Subquery:
    """The decisions that the caller may see, whatever table they are in."""
    if read.held_as == HeldAs.PLATFORM:
        return _columns(PlatformDecision).subquery("kept")
    inside = _columns(DecisionRecord)
    if read.held_as == HeldAs.TENANT:
        own = DecisionRecord.organization_id == read.organization_id
        return inside.where(own).subquery("kept")
    parts = [
        _columns(table).where(table.user_id == read.user_id, table.decision == "deny")
        for table in (DecisionRecord, PersonalDecision)
    ]
    return sa.union_all(*parts).subquery("kept")


def _columns(row: Any) -> sa.Select[Any]:
    table = row.__table__
    none = sa.null().cast(pg.UUID).label("organization_id")
    organization = table.c.organization_id if "organization_id" in table.c else none
    return sa.select(*(table.c[name] for name in _SHOWN), organization)
