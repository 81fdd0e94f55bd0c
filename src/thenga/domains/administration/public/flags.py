"""Feature flags: what a flag evaluates to, and that it was rolled out."""

from abc import abstractmethod
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, JsonValue

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port


class FlagResult(BaseModel):
    """The value of a flag for one caller, and the steps that led to it."""

    model_config = ConfigDict(frozen=True)

    value: JsonValue
    variant: str
    reason: Literal["TARGETING_MATCH", "STATIC", "DISABLED", "SPLIT", "DEFAULT"]
    trace: list[str] = []


class Flags(Port, name="administration.flags", timeout=0.3):
    """Evaluates feature flags. If nobody answers, use the default in code."""

    @abstractmethod
    async def evaluate(
        self,
        *,
        key: str,
        organization_id: UUID,
        user_id: UUID | None = None,
        targeting_key: str | None = None,
        at: datetime | None = None,
    ) -> FlagResult | None:
        """The result, or None if no flag has this key."""


class FeatureFlagRolledOut(Event, type="administration.FeatureFlagRolledOut.v1", subject="flag_id"):
    """A flag got a new rollout."""

    flag_id: UUID
    key: str
    rollout_number: int
    mode: Literal["off", "percentage", "targeted", "on"]
    percentage: Decimal | None
    killed: bool
    ruleset_version: int


EVENTS = (FeatureFlagRolledOut,)
