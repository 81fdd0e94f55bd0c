"""What Billing tells of entitlements and usage, and how usage is reported to it."""

from abc import abstractmethod
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent


class EntitlementTold(BaseModel):
    """How one feature stands; which fields are not null its type says."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    state: Literal["granted", "limited", "exhausted", "missing"]
    value: bool | None = None
    limit: int | None = None
    included: int | None = None
    used: int | None = None
    mode: Literal["hard", "soft"] | None = None
    resets_at: datetime | None = None


class FeatureChanged(BaseModel):
    """One feature before and after; null where it was not there or is not any more."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    feature: str
    before: EntitlementTold | None
    after: EntitlementTold | None
    reason: str


class EntitlementChanged(Event, type="billing.EntitlementChanged.v1", subject="entitlement_set_id"):
    """What an organization may do is another: `access` for all, `changes` feature by feature."""

    organization_id: UUID
    entitlement_set_id: UUID
    set_version: int
    access: Literal["full", "grace", "read_only", "none"]
    changes: list[FeatureChanged]


class UsageLimitReached(Event, type="billing.UsageLimitReached.v1", subject="threshold_id"):
    """So many per cent of what a month includes are used; told once a threshold."""

    organization_id: UUID
    threshold_id: UUID
    subscription_id: UUID | None
    meter: str
    threshold_pct: int
    used: int
    limit: int
    mode: Literal["hard", "soft"]
    resets_at: datetime | None


class UsageEntry(BaseModel):
    """One use as its domain reports it; the same meter and key are counted once."""

    model_config = ConfigDict(frozen=True)

    meter: str
    key: str
    quantity: int
    occurred_at: datetime
    subject: dict[str, str] | None = None
    operation: Literal["add", "hold", "release"] = "add"


class EntryOutcome(BaseModel):
    """What became of one entry, in the order of the batch."""

    model_config = ConfigDict(frozen=True)

    outcome: Literal["accepted", "duplicate", "rejected"]
    code: str | None = None
    late: bool = False


class UsageReceipt(BaseModel):
    """What became of a batch."""

    model_config = ConfigDict(frozen=True)

    accepted: int
    duplicate: int
    rejected: int
    items: list[EntryOutcome]


class Reserved(BaseModel):
    """Usage that may go ahead; settle it by its key before it expires."""

    model_config = ConfigDict(frozen=True)

    key: str
    meter: str
    quantity: int
    expires_at: datetime


class Usage(Port, name="billing.usage", timeout=1.0):
    """Takes usage in. After silence keep the entries and repeat them; a reservation is a no."""

    @idempotent
    @abstractmethod
    async def record(self, *, organization_id: UUID, records: list[UsageEntry]) -> UsageReceipt: ...

    @idempotent
    @abstractmethod
    async def reserve(
        self,
        *,
        organization_id: UUID,
        meter: str,
        quantity: int,
        key: str,
        ttl_seconds: int = 900,
    ) -> Reserved: ...

    @idempotent
    @abstractmethod
    async def settle(self, *, organization_id: UUID, key: str, quantity: int) -> UsageReceipt: ...


EVENTS = (EntitlementChanged, UsageLimitReached)
