"""What Billing tells of subscriptions and trials."""

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event

Change = Literal[
    "created",
    "activated",
    "plan_changed",
    "renewed",
    "past_due",
    "recovered",
    "suspended",
    "paused",
    "resumed",
    "cancellation_undone",
    "expired",
    "ended",
]


class PeriodTold(BaseModel):
    """Local days, the end not counted."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    start: date
    end: date


class SubscriptionChanged(Event, type="billing.SubscriptionChanged.v1", subject="subscription_id"):
    """A subscription has another state, plan or period; `access` is what it allows now."""

    organization_id: UUID
    subscription_id: UUID
    change: Change
    status: str
    plan_code: str
    plan_version: int
    interval: str | None
    period: PeriodTold | None
    access: str


class SubscriptionCancelled(
    Event, type="billing.SubscriptionCancelled.v1", subject="subscription_id"
):
    """The customer leaves; what was paid for lasts until `effective_at`."""

    organization_id: UUID
    subscription_id: UUID
    cancellation_id: UUID
    mode: Literal["period_end", "immediate"]
    reason_code: str
    effective_at: datetime


class PauseEnding(Event, type="billing.PauseEnding.v1", subject="pause_id"):
    """A pause ends by itself at `at`, and the days that waited go on; told once, before it."""

    organization_id: UUID
    pause_id: UUID
    subscription_id: UUID
    at: datetime


class TrialStarted(Event, type="billing.TrialStarted.v1", subject="trial_id"):
    """An organization tries a plan, once; it ends at `ends_at` unless it is bought."""

    organization_id: UUID
    trial_id: UUID
    subscription_id: UUID
    plan_code: str
    ends_at: datetime


class TrialEnding(Event, type="billing.TrialEnding.v1", subject="trial_id"):
    """A trial has three days left; told once."""

    organization_id: UUID
    trial_id: UUID
    subscription_id: UUID
    plan_code: str
    ends_at: datetime


class TrialEnded(Event, type="billing.TrialEnded.v1", subject="trial_id"):
    """A trial is over: `outcome` says how."""

    organization_id: UUID
    trial_id: UUID
    subscription_id: UUID
    plan_code: str
    ends_at: datetime
    outcome: Literal["converted", "cancelled", "expired"]


EVENTS = (
    *(SubscriptionChanged, SubscriptionCancelled, PauseEnding),
    *(TrialStarted, TrialEnding, TrialEnded),
)
