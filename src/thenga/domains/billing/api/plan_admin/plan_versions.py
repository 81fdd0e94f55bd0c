"""Plan versions: how operators draft, publish and retire plans."""

from datetime import date
from typing import Annotated, Any

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.api.catalogue.plans import Code, PlanCode, PlanView
from thenga.domains.billing.api.catalogue.terms import (
    Entitlements,
    Prices,
    stored_entitlement,
)
from thenga.domains.billing.api.common_fields import PlanCodeText
from thenga.domains.billing.lifecycles import RetirementNotPossible
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import plan_admin, pricing
from thenga.domains.billing.services.plan_admin import EffectiveTooEarly, PlannedMigration
from thenga.domains.billing.tables import PlanKind, PlanVersion
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, Name, Note, lines, whole

router = make_router("Billing / Plan")

PlanNumber = Annotated[
    int, Path(alias="planVersion", ge=1, le=10_000, description="The plan version.")
]
Rank = Annotated[int, whole(0, 1_000)]
FirstDay = Annotated[Day, Field(description="First day it is sold.")]
Reason = Annotated[str, lines(1, 500)]


class _Terms(Body):
    name: Annotated[Name, Field(description="Name customers see.")]
    description: Annotated[Note, Field(description="Description customers see.")]
    rank: Annotated[
        Rank, Field(description="Order of plans. Moving to a higher rank is an upgrade.")
    ]
    public: Annotated[bool, Field(description="Whether customers can see and buy it.")] = True
    trial_eligible: Annotated[bool, Field(description="Whether it can be tried for free.")] = False
    prices: Annotated[Prices, Field(description="Prices, one per interval.")]
    entitlements: Annotated[Entitlements, Field(description="What the plan includes.")]
    effective_from: FirstDay


class CreatePlan(_Terms):
    """A new plan. Its first version is a draft."""

    plan_code: Annotated[Code, Field(description="Permanent code of the plan.")]
    kind: Annotated[PlanKind, Field(description="Base plan or add-on.")] = PlanKind.BASE


class DraftVersion(_Terms):
    """A complete new version of a plan."""

    kind: Annotated[
        PlanKind | None,
        Field(description="Base plan or add-on. Defaults to that of the previous version."),
    ] = None


class ChangeDraft(Body):
    """A merge patch of a draft: fields you leave out stay as they are."""

    name: Annotated[Name, Field(description="Name customers see.")] = "unchanged"
    description: Annotated[Note, Field(description="Description customers see.")] = "unchanged"
    kind: Annotated[PlanKind, Field(description="Base plan or add-on.")] = PlanKind.BASE
    rank: Annotated[
        Rank, Field(description="Order of plans. Moving to a higher rank is an upgrade.")
    ] = 0
    public: Annotated[bool, Field(description="Whether customers can see and buy it.")] = True
    trial_eligible: Annotated[bool, Field(description="Whether it can be tried for free.")] = False
    prices: Annotated[Prices, Field(description="Prices, one per interval.")] = []
    entitlements: Annotated[Entitlements, Field(description="What the plan includes.")] = []
    effective_from: FirstDay = date(2026, 11, 1)


class GiveReason(Body):
    """Why the operation is performed."""

    reason: Annotated[Reason, Field(description="Reason, kept in the audit trail.")]


class MigrateCustomers(Body):
    """Which customers move to this version, and when."""

    from_version: Annotated[
        int, whole(1, 10_000), Field(description="Earlier version, no longer sold.")
    ]
    apply_after: Annotated[
        Day, Field(description="Customers move at their first renewal on or after this day.")
    ]
    reason: Annotated[Reason, Field(description="Reason, kept in the audit trail.")]


class MigrationView(View):
    """A planned migration. Nothing changes for a customer before their renewal."""

    plan_code: PlanCodeText
    from_version: Annotated[int, Field(description="Version customers leave.")]
    to_version: Annotated[int, Field(description="Version customers move to.")]
    apply_after: Annotated[
        date, Field(description="Customers move at their first renewal on or after this day.")
    ]
    subscriptions: Annotated[
        int | None,
        Field(description="Active subscriptions of the earlier version when last counted."),
    ]

    @property
    def own_path(self) -> str:
        """The earlier version, which shows how many subscriptions still use it."""
        return f"{PREFIX}/billing/plans/{self.plan_code}?version={self.from_version}"

    @classmethod
    def of(cls, planned: PlannedMigration) -> "MigrationView":
        return cls(
            plan_code=planned.left.plan_code,
            from_version=planned.left.plan_version,
            to_version=planned.to_version,
            apply_after=planned.apply_after,
            subscriptions=planned.left.live_subscriptions,
        )


@router.post("/billing/plans", status_code=201, responses=problems(Duplicate, RuleViolated))
async def create_plan(
    body: CreatePlan, work: Annotated[Work, writes(Permission.PLAN_MANAGE)]
) -> PlanView:
    """Create a plan as a draft. Customers see it once another operator publishes it."""
    made = await plan_admin.create_plan(work, fields=_fields(body))
    return await _view(work, made)


@router.post(
    "/billing/plans/{planCode}/versions",
    status_code=201,
    responses=problems(Duplicate, RuleViolated),
)
async def draft_plan_version(
    plan_code: PlanCode, body: DraftVersion, work: Annotated[Work, writes(Permission.PLAN_MANAGE)]
) -> PlanView:
    """Draft a complete new version of a plan. Customers on an earlier version keep it."""
    made = await plan_admin.draft_version(work, plan_code, fields=_fields(body))
    return await _view(work, made)


@router.patch(
    "/billing/plans/{planCode}/versions/{planVersion}",
    responses=problems(InvalidTransition, RuleViolated),
)
async def change_plan_draft(
    plan_code: PlanCode,
    plan_version: PlanNumber,
    body: ChangeDraft,
    work: Annotated[Work, writes(Permission.PLAN_MANAGE, if_match=True)],
) -> PlanView:
    """Change a draft. You become one of its authors and cannot publish it."""
    changed = await plan_admin.change_draft(work, plan_code, plan_version, fields=_fields(body))
    return await _view(work, changed)


@router.post(
    "/billing/plans/{planCode}/versions/{planVersion}/publish",
    responses=problems(InvalidTransition, EffectiveTooEarly, RuleViolated),
)
async def publish_plan_version(
    plan_code: PlanCode,
    plan_version: PlanNumber,
    body: GiveReason,
    work: Annotated[Work, writes(Permission.PLAN_PUBLISH)],
) -> PlanView:
    """Sell a version from its first day. Its terms never change after that.

    Authors cannot publish their own version, and a fresh verification is required. New
    customers stop getting the previous version on that day; existing customers keep it.
    """
    published = await plan_admin.publish_version(work, plan_code, plan_version, reason=body.reason)
    return await _view(work, published)


@router.post(
    "/billing/plans/{planCode}/versions/{planVersion}/retire",
    responses=problems(RetirementNotPossible),
)
async def retire_plan_version(
    plan_code: PlanCode,
    plan_version: PlanNumber,
    body: GiveReason,
    work: Annotated[Work, writes(Permission.PLAN_PUBLISH)],
) -> PlanView:
    """Retire a version that is no longer sold and has no active subscriptions."""
    retired = await plan_admin.retire_version(work, plan_code, plan_version, reason=body.reason)
    return await _view(work, retired)


@router.post(
    "/billing/plans/{planCode}/versions/{planVersion}/migrate",
    status_code=202,
    responses=problems(InvalidTransition, EffectiveTooEarly, RuleViolated),
)
async def migrate_plan_version(
    plan_code: PlanCode,
    plan_version: PlanNumber,
    body: MigrateCustomers,
    work: Annotated[Work, writes(Permission.PLAN_PUBLISH)],
) -> MigrationView:
    """Move customers of an earlier version to this one, at their first renewal on or after a
    day.

    The day is at least 30 days away, so that every customer sees the new price before paying
    it.
    """
    planned = await plan_admin.plan_migration(
        work,
        plan_code,
        plan_version,
        from_version=body.from_version,
        apply_after=body.apply_after,
        reason=body.reason,
    )
    return MigrationView.of(planned)


def _fields(body: CreatePlan | DraftVersion | ChangeDraft) -> dict[str, Any]:
    """All terms of a complete version, or only the fields sent in a patch."""
    patch = isinstance(body, ChangeDraft)
    names = body.model_fields_set if patch else set(type(body).model_fields)
    fields = {name: getattr(body, name) for name in names}
    if "prices" in fields:
        fields["prices"] = [price.stored() for price in body.prices]
    if "entitlements" in fields:
        fields["entitlements"] = [
            stored_entitlement(entitlement) for entitlement in body.entitlements
        ]
    return fields


async def _view(work: Work, version: PlanVersion) -> PlanView:
    rate = await pricing.vat_rate_on(work, local_day(work.now))
    return PlanView.of(version, now=work.now, rate_pct=rate, reader_id=work.actor.id)
