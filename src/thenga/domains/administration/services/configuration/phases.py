"""Which approved version of a setting counts now (ADM-10)."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.administration.tables import ConfigurationStatus, ConfigurationVersion
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among


class Phase(StrEnum):
    """Whether an approved version applies later, now or no longer."""

    SCHEDULED = "scheduled"
    ACTIVE = "active"
    SUPERSEDED = "superseded"


async def phases(
    read: Reader, versions: Iterable[ConfigurationVersion]
) -> dict[UUID, Phase | None]:
    """The phase of each version; None if it is not approved."""
    asked = list(versions)
    keys = {one.key for one in asked}
    active = set(await read.values(_in_force(read.now, keys))) if keys else set()
    return {one.id: _phase(one, active, read.now) for one in asked}


def in_phase(phase: Phase, now: datetime) -> ColumnElement[bool]:
    """The condition of versions in a phase."""
    approved = ConfigurationVersion.status == ConfigurationStatus.APPROVED
    if phase is Phase.SCHEDULED:
        return sa.and_(approved, ConfigurationVersion.effective_from > now)
    active = ConfigurationVersion.id.in_(_in_force(now))
    if phase is Phase.ACTIVE:
        return active
    return sa.and_(approved, ConfigurationVersion.effective_from <= now, ~active)


def _phase(version: ConfigurationVersion, active: set[UUID], now: datetime) -> Phase | None:
    if version.status is not ConfigurationStatus.APPROVED:
        return None
    if version.effective_from > now:
        return Phase.SCHEDULED
    return Phase.ACTIVE if version.id in active else Phase.SUPERSEDED


def _in_force(now: datetime, keys: Iterable[str] | None = None) -> sa.Select[Any]:
    row = ConfigurationVersion.__table__.alias("in_force")
    statement = (
        select(row.c.id)
        .ext(pg.distinct_on(row.c.key))
        .where(row.c.status == ConfigurationStatus.APPROVED.value, row.c.effective_from <= now)
        .order_by(row.c.key, row.c.effective_from.desc(), row.c.number.desc())
    )
    return statement if keys is None else statement.where(among(row.c.key, sorted(keys)))
