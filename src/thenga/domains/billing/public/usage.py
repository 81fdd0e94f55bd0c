"""Events about entitlements and usage, and the port that takes usage reports."""

from abc import abstractmethod
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.errors import DependencyUnavailable


class EntitlementTold(BaseModel):
    """The state of one feature. Its type decides which fields are set."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    state: Literal["granted", "limited", "exhausted", "missing"]
    value: bool | None = None
    limit: int | None = None
    included: int | None = None
    used: int | None = None
    mode: Literal["hard", "soft"] | None = None
    resets_at: datetime | None = None


class FeatureChanged(BaseModel):
    """One feature before and after a change. Null if it is not included."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    feature: str
    before: EntitlementTold | None
    after: EntitlementTold | None
    reason: str


class EntitlementChanged(Event, type="billing.EntitlementChanged.v1", subject="entitlement_set_id"):
    """An organization's entitlements changed: `access` overall, `changes` by feature."""

    organization_id: UUID
    entitlement_set_id: UUID
    set_version: int
    access: Literal["full", "grace", "read_only", "none"]
    changes: list[FeatureChanged]


class UsageLimitReached(Event, type="billing.UsageLimitReached.v1", subject="threshold_id"):
    """A threshold of the monthly quantity was reached. Published once per threshold."""

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
    """One use as its domain reports it. Each meter and key counts once."""

    model_config = ConfigDict(frozen=True)

    meter: str
    key: str
    quantity: int
    occurred_at: datetime
    subject: dict[str, str] | None = None
    operation: Literal["add", "hold", "release"] = "add"


class EntryOutcome(BaseModel):
    """The result of one entry, in the order of the batch."""

    model_config = ConfigDict(frozen=True)

    outcome: Literal["accepted", "duplicate", "rejected"]
    code: str | None = None
    late: bool = False


class UsageReceipt(BaseModel):
    """The result of a batch."""

    model_config = ConfigDict(frozen=True)

    accepted: int
    duplicate: int
    rejected: int
    items: list[EntryOutcome]


class Reserved(BaseModel):
    """A reserved quantity. Settle it by its key before it expires."""

    model_config = ConfigDict(frozen=True)

    key: str
    meter: str
    quantity: int
    expires_at: datetime


class Usage(Port, name="billing.usage", timeout=1.0):
    """Records usage. After a timeout keep the entries and send them again; treat a reservation
    as refused."""

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


async def report_use(usage: Usage, *, organization_id: UUID, entry: UsageEntry) -> str | None:
    """Report one use from a job; the code of its rejection, None where it counts.

    A sandbox's clock may reach the reporter before Billing: what lies in the future there is
    reported again by the job.
    """
    receipt = await usage.record(organization_id=organization_id, records=[entry])
    code = receipt.items[0].code if receipt.rejected else None
    if code == "billing-usage-in-future":
        raise DependencyUnavailable(dependency=Usage.port_name)
    return code
