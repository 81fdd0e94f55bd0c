"""Escalation policies: who is told when, until a matter is resolved (content/escalations.json)."""

from collections.abc import Set
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from thenga.domains.notification.public import Target
from thenga.domains.notification.services.templates import ChannelKind
from thenga.kernel.values.calendar import add_working_minutes

_FILE = Path(__file__).parents[2] / "content" / "escalations.json"


class Step(BaseModel):
    """Who is told, and how long after the step before; by all channels of the topic if none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    after_minutes: int = Field(default=0, ge=0)
    after_working_hours: int = Field(default=0, ge=0)
    targets: list[Target] = Field(min_length=1)
    channel_kinds: list[ChannelKind] | None = None


class Policy(BaseModel):
    """Steps of an escalation. Policies of the platform escalate to staff."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    title: str
    owner: Literal["platform", "organization"]
    topic_code: str
    steps: list[Step] = Field(min_length=1, max_length=6)
    repeat: int = Field(default=0, ge=0, le=3)
    working_hours: tuple[int, int] = (8, 17)
    auto_resolve_on: list[str] = []

    def step(self, level: int) -> Step | None:
        """The step after `level` steps; with `repeat` they all begin again."""
        most = len(self.steps) * (self.repeat + 1)
        return self.steps[level % len(self.steps)] if level < most else None

    def step_at(self, level: int, since: datetime, *, extra: Set[date]) -> datetime | None:
        """When the next step is due, counted in working hours where it says so (NOT-41)."""
        step = self.step(level)
        if step is None:
            return None
        # Before it begins again, the policy waits as long as before its last step.
        wait = self.steps[-1] if level and step is self.steps[0] else step
        at = since + timedelta(minutes=wait.after_minutes)
        minutes = wait.after_working_hours * 60
        return add_working_minutes(at, minutes, hours=self.working_hours, extra=extra)


@cache
def policies() -> dict[str, Policy]:
    """All policies by their key."""
    found = TypeAdapter(list[Policy]).validate_json(_FILE.read_bytes())
    return {one.key: one for one in found}
