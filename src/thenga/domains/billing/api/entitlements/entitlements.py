"""Entitlements: what the organization may use now, and what would help if it may not."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.billing import public
from thenga.domains.billing.api.catalogue.terms import Key
from thenga.domains.billing.api.common_fields import SubscriptionId
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import entitlements
from thenga.domains.billing.services.entitlements import Listed, ListedEntitlement
from thenga.domains.billing.tables import Access
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import OfOrganization
from thenga.kernel.values.money import Money

router = make_router("Billing / Entitlement")

State = Literal["granted", "limited", "exhausted", "missing"]


class HeldView(View):
    """One entitlement. Its `type` decides which fields are set."""

    feature: Annotated[str, Field(description="Entitlement key, for example `identity.seats`.")]
    type: Annotated[
        Literal["boolean", "limit", "metered"],
        Field(
            description="`boolean` is on or off, `limit` caps how many exist at once, "
            "`metered` is used up in a month."
        ),
    ]
    state: Annotated[
        State, Field(description="`limited` from 80 % of the limit, `exhausted` at 100 %.")
    ]
    value: Annotated[bool | None, Field(description="Whether it is included. Only for `boolean`.")]
    limit: Annotated[int | None, Field(description="Maximum. Null means unlimited.")]
    included: Annotated[
        int | None, Field(description="Quantity included per usage month. Null means unlimited.")
    ]
    used: Annotated[int | None, Field(description="Quantity used, including reservations.")]
    remaining: Annotated[int | None, Field(description="Quantity left. Null means unlimited.")]
    mode: Annotated[
        Literal["hard", "soft"] | None,
        Field(description="Above the limit, `hard` refuses and `soft` charges."),
    ]
    resets_at: Annotated[
        datetime | None, Field(description="When the usage month ends. Null if it does not reset.")
    ]
    source: Annotated[
        list[str],
        Field(description="Where it comes from: `plan`, `addon`, `trial`, `grant` or `fallback`."),
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
            source=[source.value for source in item.sources],
            reason=said.reason,
        )


class EntitlementsView(View):
    """All entitlements at `asOf`, valid until `validUntil` unless something changes them."""

    access: Annotated[
        Access,
        Field(
            description="`full` and `grace` allow everything, `read_only` allows reading, "
            "`none` allows only reading and exporting own data."
        ),
    ]
    version: Annotated[int, Field(description="Version of the set. It goes up with every change.")]
    as_of: Annotated[datetime, Field(description="When the set was computed.")]
    valid_until: Annotated[
        datetime | None,
        Field(description="When it next changes by date. Null if no change is known."),
    ]
    items: Annotated[list[HeldView], Field(description="The entitlements.")]

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
    """What would make this use possible, with its price today."""

    kind: Annotated[
        Literal["upgrade", "pay_invoice", "update_method", "resume", "wait", "contact"],
        Field(description="What to do."),
    ]
    plan_code: Annotated[str | None, Field(description="Cheapest plan that includes this use.")]
    amount_today: Annotated[Money | None, Field(description="What it costs today, VAT included.")]
    invoice_id: Annotated[UUID | None, Field(description="Invoice to pay.")]
    at: Annotated[datetime | None, Field(description="When it becomes possible again.")]


class SignalView(View):
    """Whether the plan covers a use now (`entitled`), and what the subscription's standing
    allows (`access`)."""

    feature: Annotated[str, Field(description="Entitlement key that was checked.")]
    entitled: Annotated[bool, Field(description="Whether the plan covers this use now.")]
    reason: Annotated[str, Field(description="Why it is or is not covered.")]
    state: Annotated[
        State, Field(description="`limited` from 80 % of the limit, `exhausted` at 100 %.")
    ]
    access: Annotated[
        Access,
        Field(description="What the subscription's standing allows, whatever the plan covers."),
    ]
    type: Annotated[
        Literal["boolean", "limit", "metered"] | None,
        Field(description="Type of the entitlement. Null if the plan does not include it."),
    ]
    limit: Annotated[int | None, Field(description="Maximum. Null means unlimited.")]
    used: Annotated[int | None, Field(description="Quantity used, including reservations.")]
    remaining: Annotated[int | None, Field(description="Quantity left. Null means unlimited.")]
    hard: Annotated[bool, Field(description="Whether use above the limit is refused.")]
    resets_at: Annotated[
        datetime | None, Field(description="When the usage month ends. Null if it does not reset.")
    ]
    remedy: Annotated[
        RemedyView | None,
        Field(description="What would make this use possible. Null if it already is."),
    ]
    as_of: Annotated[datetime, Field(description="When this was computed.")]
    sequence: Annotated[
        int, Field(description="Sequence number of the set. A lower number is older.")
    ]

    @classmethod
    def of(cls, said: public.EntitlementSignal) -> "SignalView":
        return cls.model_validate(said)


@router.get("/billing/subscriptions/{subscriptionId}/entitlements")
async def get_subscription_entitlements(
    subscription_id: SubscriptionId, read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)]
) -> EntitlementsView:
    """List the entitlements this subscription gives, merged with the organization's other
    entitlements of the same keys."""
    return EntitlementsView.of(await entitlements.list_for_subscription(read, subscription_id))


@router.get("/billing/entitlements")
async def get_entitlements(
    read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)],
    organization_id: OfOrganization = None,
) -> EntitlementsView:
    """List everything the organization may use: plan, add-ons, trial and grants combined."""
    await on_behalf_of(read, organization_id)
    return EntitlementsView.of(await entitlements.list_entitlements(read))


@router.get("/billing/signal")
async def get_signal(
    read: Annotated[Reader, reads(Permission.ENTITLEMENT_READ)],
    feature: Annotated[
        Key, Query(description="Entitlement key to check, for example `identity.seats`.")
    ],
    quantity: Annotated[int, Query(ge=1, le=10**9, description="Quantity to check.")] = 1,
    organization_id: OfOrganization = None,
) -> SignalView:
    """Check whether a use is covered and, if not, what would help and what it costs today."""
    await on_behalf_of(read, organization_id)
    return SignalView.of(await entitlements.signal(read, feature, quantity))
