"""Entitlements: what the organization may do now, and what would help where it may not."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing import public
from thenga.domains.billing.api.terms import Key
from thenga.domains.billing.api.trials import OfOrganization
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import entitlement_lists, entitlements
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.entitlement_lists import Line, Listed
from thenga.domains.billing.tables import Access
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.money import Money

router = make_router("Billing / Entitlement")

SubscriptionId = Annotated[UUID, Path(alias="subscriptionId")]
State = Literal["granted", "limited", "exhausted", "missing"]


class HeldView(View):
    """One feature; which fields are not null its `type` says."""

    feature: str
    type: Literal["boolean", "limit", "metered"]
    state: State
    value: bool | None
    limit: Annotated[int | None, Field(description="Null is no limit.")]
    included: Annotated[int | None, Field(description="A usage month; null is no limit.")]
    used: Annotated[int | None, Field(description="What is reserved counts as used.")]
    remaining: int | None
    mode: Literal["hard", "soft"] | None
    resets_at: datetime | None
    source: Annotated[
        list[str], Field(description="Of `plan`, `addon`, `trial`, `grant`, `fallback`.")
    ]
    reason: Annotated[str, Field(description="Why one more use would be allowed or refused.")]

    @classmethod
    def of(cls, line: Line) -> "HeldView":
        said, item = line.said, line.item
        return cls(
            feature=said.feature,
            type=item.entitlement.type.value,
            state=said.state,
            value=getattr(item.entitlement, "value", None),
            limit=said.limit,
            included=getattr(item.entitlement, "included", None),
            used=said.used,
            remaining=said.remaining,
            mode=getattr(item.entitlement, "mode", None),
            resets_at=said.resets_at,
            source=[one.value for one in item.sources],
            reason=said.reason,
        )


class EntitlementsView(View):
    """What is held at `asOf`; it stays so until `validUntil` unless somebody changes it."""

    access: Annotated[
        Access,
        Field(description="`grace` allows everything, `read_only` reading, `none` own data only."),
    ]
    version: Annotated[int, Field(description="Of the set; counts up with every change of it.")]
    as_of: datetime
    valid_until: datetime | None
    items: list[HeldView]

    @classmethod
    def of(cls, listed: Listed) -> "EntitlementsView":
        return cls(
            access=listed.access,
            version=listed.version,
            as_of=listed.as_of,
            valid_until=listed.valid_until,
            items=[HeldView.of(line) for line in listed.lines],
        )


class RemedyView(View):
    """What would turn the no into a yes, with its price today."""

    kind: Literal["upgrade", "pay_invoice", "update_method", "resume", "wait", "contact"]
    plan_code: str | None
    amount_today: Money | None
    invoice_id: UUID | None
    at: datetime | None


class SignalView(View):
    """Whether a use is covered now (`entitled`), and what the standing allows (`access`)."""

    feature: str
    entitled: bool
    reason: str
    state: State
    access: Access
    type: Literal["boolean", "limit", "metered"] | None
    limit: int | None
    used: int | None
    remaining: int | None
    hard: bool
    resets_at: datetime | None
    remedy: RemedyView | None
    as_of: datetime
    sequence: int

    @classmethod
    def of(cls, said: public.EntitlementSignal) -> "SignalView":
        return cls.model_validate(said)


@router.get("/billing/subscriptions/{subscriptionId}/entitlements")
async def get_subscription_entitlements(
    subscription_id: SubscriptionId, read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)]
) -> EntitlementsView:
    """What this subscription gives, merged with all else that the organization holds of it."""
    return EntitlementsView.of(await entitlement_lists.of_subscription(read, subscription_id))


@router.get("/billing/entitlements")
async def get_entitlements(
    read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)],
    organization_id: OfOrganization = None,
) -> EntitlementsView:
    """All that the organization holds: plan, add-ons, trial and goodwill together."""
    await act_for(read, organization_id)
    return EntitlementsView.of(await entitlement_lists.whole(read))


@router.get("/billing/signal")
async def get_signal(
    read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)],
    feature: Annotated[Key, Query()],
    quantity: Annotated[int, Query(ge=1, le=10**9, description="How much is to be used.")] = 1,
    organization_id: OfOrganization = None,
) -> SignalView:
    """Whether one use is paid for, and, if not, what would help and what it costs today."""
    await act_for(read, organization_id)
    return SignalView.of(await entitlements.signal(read, feature, quantity))
