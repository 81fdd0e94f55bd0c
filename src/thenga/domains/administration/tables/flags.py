"""Feature flags with their rollouts, and what targeting knows of an organization."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, Row, TenantRow, col, status


class FlagPurpose(StrEnum):
    """What a flag is for."""

    RELEASE = "release"
    EXPERIMENT = "experiment"
    OPERATIONAL = "operational"


class FlagValueType(StrEnum):
    """Type of the values of a flag."""

    BOOLEAN = "boolean"
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    OBJECT = "object"


class FlagMode(StrEnum):
    """Callers that a flag is on for: no one, a share, named targets, or everyone."""

    OFF = "off"
    PERCENTAGE = "percentage"
    TARGETED = "targeted"
    ON = "on"


class FlagStickiness(StrEnum):
    """Unit of a rollout. It keeps its variant while the percentage grows."""

    ORGANIZATION = "organization"
    USER = "user"
    TARGETING_KEY = "targeting_key"


class FeatureFlag(Row, table="administration.feature_flag", kind=Kind.PLATFORM):
    """A flag and the rollout that applies now. Rollout 0 is `off`, before anybody set one."""

    key: Col[str] = col(sa.Text)
    description: Col[str] = col(sa.Text)
    purpose: Col[FlagPurpose] = status(FlagPurpose, default=FlagPurpose.RELEASE)
    value_type: Col[FlagValueType] = status(FlagValueType, default=FlagValueType.BOOLEAN)
    variants: Col[dict[str, Any]] = col(Json)
    on_variant: Col[str] = col(sa.Text)
    off_variant: Col[str] = col(sa.Text)
    stickiness: Col[FlagStickiness] = status(FlagStickiness, default=FlagStickiness.ORGANIZATION)
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    expected_end_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    declared: Col[bool] = col(sa.Boolean, default=False)
    created_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    rollout_number: Col[int] = col(sa.Integer, default=0)
    mode: Col[FlagMode] = status(FlagMode, default=FlagMode.OFF)
    percentage: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    include: Col[dict[str, Any]] = col(Json, default={})
    exclude: Col[dict[str, Any]] = col(Json, default={})
    salt: Col[str] = col(sa.Text, default="1")
    set_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    set_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class FlagRollout(Row, table="administration.flag_rollout", kind=Kind.PLATFORM):
    """One rollout of a flag, kept for ever."""

    flag_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    mode: Col[FlagMode] = status(FlagMode)
    percentage: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    include: Col[dict[str, Any]] = col(Json)
    exclude: Col[dict[str, Any]] = col(Json)
    salt: Col[str] = col(sa.Text)
    reason: Col[str] = col(sa.Text)
    set_by: Col[UUID] = col(pg.UUID)


class TenantCard(TenantRow, table="administration.tenant_card", kind=Kind.PRIVATE, told=False):
    """What targeting knows of an organization; its `id` is the organization's."""

    sandbox: Col[bool | None] = col(sa.Boolean, nullable=True, default=None)
    plan_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    plan_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
