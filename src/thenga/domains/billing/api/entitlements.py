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
from thenga.domains.billing.services import entitlements
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.entitlements import Listed, ListedEntitlement
from thenga.domains.billing.tables import Access
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.values.money import Money

router = make_router("Billing / Entitlement")

SubscriptionId = Annotated[UUID, Path(alias="subscriptionId")]
State = Literal["granted", "limited", "exhausted", "missing"]


class HeldView(View):
    """One feature; which fields are not null its `type` says."""

    feature: Annotated[str, Field(description="The entitlement key, for example `identity.seats`.")]
    type: Annotated[
        Literal["boolean", "limit", "metered"],
        Field(description="`limit` is held at once, `metered` is used up in a month."),
    ]
    state: Annotated[State, Field(description="`limited` is 80 % or more, `exhausted` all of it.")]
    value: Annotated[bool | None, Field(description="Of a boolean one.")]
    limit: Annotated[int | None, Field(description="Null is no limit.")]
    included: Annotated[int | None, Field(description="A usage month; null is no limit.")]
    used: Annotated[int | None, Field(description="What is reserved counts as used.")]
    remaining: Annotated[int | None, Field(description="What may still be used; null is no limit.")]
    mode: Annotated[
        Literal["hard", "soft"] | None,
        Field(description="Above it: `hard` refuses, `soft` is billed."),
    ]
    resets_at: Annotated[
        datetime | None, Field(description="When the usage month ends; null where nothing resets.")
    ]
    source: Annotated[
        list[str], Field(description="Of `plan`, `addon`, `trial`, `grant`, `fallback`.")
    ]
    reason: Annotated[str, Field(description="Why one more use would be allowed or refused.")]

    @classmethod
    def of(cls, line: ListedEntitlement) -> "HeldView":
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
    as_of: Annotated[datetime, Field(description="When the set was last computed.")]
    valid_until: Annotated[
        datetime | None, Field(description="When time changes it next; null is not foreseen.")
    ]
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

    kind: Annotated[
        Literal["upgrade", "pay_invoice", "update_method", "resume", "wait", "contact"],
        Field(description="What to do."),
    ]
    plan_code: Annotated[str | None, Field(description="The cheapest plan that would answer yes.")]
    amount_today: Annotated[Money | None, Field(description="What it costs today, VAT included.")]
    invoice_id: Annotated[UUID | None, Field(description="What is to be paid.")]
    at: Annotated[datetime | None, Field(description="From when on it is possible again.")]


class SignalView(View):
    """Whether a use is covered now (`entitled`), and what the standing allows (`access`)."""

    feature: str
    entitled: Annotated[bool, Field(description="Whether the plan covers this use now.")]
    reason: Annotated[str, Field(description="Why it does or does not.")]
    state: Annotated[State, Field(description="`limited` is 80 % or more, `exhausted` all of it.")]
    access: Annotated[
        Access,
        Field(description="What the organization's standing allows, whatever the plan covers."),
    ]
    type: Literal["boolean", "limit", "metered"] | None
    limit: Annotated[int | None, Field(description="Null is no limit.")]
    used: Annotated[int | None, Field(description="What is reserved counts as used.")]
    remaining: Annotated[int | None, Field(description="What may still be used; null is no limit.")]
    hard: Annotated[bool, Field(description="Whether use above the limit is refused.")]
    resets_at: Annotated[
        datetime | None, Field(description="When the usage month ends; null where nothing resets.")
    ]
    remedy: Annotated[RemedyView | None, Field(description="What would turn a no into a yes.")]
    as_of: Annotated[datetime, Field(description="The moment it is true for.")]
    sequence: Annotated[int, Field(description="Of the set; a lower one is older.")]

    @classmethod
    def of(cls, said: public.EntitlementSignal) -> "SignalView":
        return cls.model_validate(said)


@router.get("/billing/subscriptions/{subscriptionId}/entitlements")
async def get_subscription_entitlements(
    subscription_id: SubscriptionId, read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)]
) -> EntitlementsView:
    """What this subscription gives, merged with all else that the organization holds of it."""
    return EntitlementsView.of(await entitlements.list_for_subscription(read, subscription_id))


@router.get("/billing/entitlements")
async def get_entitlements(
    read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)],
    organization_id: OfOrganization = None,
) -> EntitlementsView:
    """All that the organization holds: plan, add-ons, trial and goodwill together."""
    await act_for(read, organization_id)
    return EntitlementsView.of(await entitlements.list_entitlements(read))


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
