"""The port that answers what an organization has paid for, and the check of a limit."""

from abc import abstractmethod
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.db.work import Work
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import EntitlementRequired, PlanLimitReached
from thenga.kernel.ports.binding import within
from thenga.kernel.values.money import Money


class Remedy(BaseModel):
    """What would make a refused use possible, with its price today (BIL-46)."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["upgrade", "pay_invoice", "update_method", "resume", "wait", "contact"]
    plan_code: str | None = None
    amount_today: Money | None = None
    invoice_id: UUID | None = None
    at: datetime | None = None


class EntitlementSignal(BaseModel):
    """What an organization's plan and standing allow for one feature now (BIL-4)."""

    model_config = ConfigDict(frozen=True)

    feature: str
    entitled: bool
    reason: Literal[
        "included",
        "grace",
        "unknown_feature",
        "no_subscription",
        "not_in_plan",
        "limit_reached",
        "spend_cap_reached",
        "payment_overdue",
        "suspended",
        "paused",
        "trial_ended",
    ]
    state: Literal["granted", "limited", "exhausted", "missing"]
    access: Literal["full", "grace", "read_only", "none"]
    type: Literal["boolean", "limit", "metered"] | None = None
    limit: int | None = None
    used: int | None = None
    remaining: int | None = None
    hard: bool = True
    resets_at: datetime | None = None
    remedy: Remedy | None = None
    as_of: datetime
    sequence: int


class Entitlements(Port, name="billing.entitlements", timeout=0.3):
    """Answers what an organization has paid for. The caller decides what a timeout means."""

    @abstractmethod
    async def signal(
        self, *, organization_id: UUID, feature: str, quantity: int = 1
    ) -> EntitlementSignal: ...

    @abstractmethod
    async def signal_many(
        self, *, organization_id: UUID, features: list[str]
    ) -> list[EntitlementSignal]: ...


async def check_room(work: Work, feature: str, used: int) -> None:
    """Refuse one more of what the plan limits, by the asking domain's own count.

    Count under a row lock, and call this before the first write: Billing hears of what is open a
    moment later, so its own count would let several take the last place.
    """
    port = work.port(Entitlements)
    asked = port.signal(organization_id=work.organization_id, feature=feature)
    said = await within(port.port_timeout, port.port_name, asked)
    # What the plan does not have at all has no limit to name.
    most = 0 if said.state == "missing" else said.limit
    told: dict[str, Any] = {"entitlement": feature, "limit": most, "used": used}
    helps = {"kind": "plan", "entitlement": feature}
    if said.access not in ("full", "grace"):
        raise EntitlementRequired(remedy=helps, **told)
    if most is not None and said.hard and used >= most:
        raise PlanLimitReached(remedy=helps, **told)
