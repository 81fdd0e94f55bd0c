"""Plan versions: how operators write, publish and retire what is sold."""

from datetime import date
from typing import Annotated, Any

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.api.plans import Code, PlanCode, PlanView
from thenga.domains.billing.api.terms import (
    Entitlements,
    Prices,
    stored_entitlement,
)
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import plan_admin, pricing
from thenga.domains.billing.services.plan_admin import EffectiveTooEarly, PlannedMigration
from thenga.domains.billing.tables import PlanKind, PlanVersion
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import writes
from thenga.kernel.http.operations import PREFIX
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, Name, Note, lines, whole

router = make_router("Billing / Plan")

PlanNumber = Annotated[int, Path(alias="planVersion", ge=1, le=10_000)]
Rank = Annotated[int, whole(0, 1_000)]
FirstDay = Annotated[Day, Field(description="The first day on which it is sold.")]
Reason = Annotated[str, lines(1, 500)]


class _Terms(Body):
    name: Name
    description: Note
    rank: Rank
    public: bool = True
    trial_eligible: bool = False
    prices: Prices
    entitlements: Entitlements
    effective_from: FirstDay


class CreatePlan(_Terms):
    """A new plan; its first version is a draft."""

    plan_code: Annotated[Code, Field(description="Names the plan for ever.")]
    kind: PlanKind = PlanKind.BASE


class DraftVersion(_Terms):
    """A whole new version of a plan."""

    kind: Annotated[
        PlanKind | None, Field(description="That of the version before it; may be left out.")
    ] = None


class ChangeDraft(Body):
    """A merge patch of a draft: what is left out stays."""

    name: Name = "unchanged"
    description: Note = "unchanged"
    kind: PlanKind = PlanKind.BASE
    rank: Rank = 0
    public: bool = True
    trial_eligible: bool = False
    prices: Prices = []
    entitlements: Entitlements = []
    effective_from: FirstDay = date(2026, 11, 1)


class GiveReason(Body):
    reason: Annotated[Reason, Field(description="Why; kept in the audit trail.")]


class MigrateCustomers(Body):
    from_version: Annotated[int, whole(1, 10_000), Field(description="Sold no more.")]
    apply_after: Annotated[Day, Field(description="From the first renewal on or after this day.")]
    reason: Annotated[Reason, Field(description="Why; kept in the audit trail.")]


class MigrationView(View):
    """A move of customers that was planned; nothing changes before their own renewal."""

    plan_code: str
    from_version: int
    to_version: int
    apply_after: date
    subscriptions: Annotated[
        int | None, Field(description="Live ones of that version when they were last counted.")
    ]

    @property
    def own_path(self) -> str:
        """The version that is left: it counts who still has it."""
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
    """Write a new plan. It is a draft: nobody sees it until another operator publishes it."""
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
    """Write a new version of a plan, whole. Who has an earlier one keeps it."""
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
    """Change a draft. Whoever does becomes one of its authors and cannot publish it."""
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
    """Sell a version from its day on. From then its terms never change.

    Nobody publishes what they wrote, and a fresh proof is asked for. The version before it ends
    on that day for new customers; who has it keeps it.
    """
    published = await plan_admin.publish_version(work, plan_code, plan_version, reason=body.reason)
    return await _view(work, published)


@router.post(
    "/billing/plans/{planCode}/versions/{planVersion}/retire",
    responses=problems(InvalidTransition),
)
async def retire_plan_version(
    plan_code: PlanCode,
    plan_version: PlanNumber,
    body: GiveReason,
    work: Annotated[Work, writes(Permission.PLAN_PUBLISH)],
) -> PlanView:
    """Close a version that is not sold any more and that no live subscription holds."""
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
    """Bring who has an earlier version to this one, at their first renewal after a day.

    The day is at least 30 days away, so that everybody sees the new price before it is charged.
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
    """What is stored: all terms of a whole version, only what was sent of a patch."""
    patch = isinstance(body, ChangeDraft)
    names = body.model_fields_set if patch else set(type(body).model_fields)
    fields = {name: getattr(body, name) for name in names}
    if "prices" in fields:
        fields["prices"] = [one.stored() for one in body.prices]
    if "entitlements" in fields:
        fields["entitlements"] = [stored_entitlement(one) for one in body.entitlements]
    return fields


async def _view(work: Work, version: PlanVersion) -> PlanView:
    rate = await pricing.vat_rate_on(work, local_day(work.now))
    return PlanView.of(version, now=work.now, rate_pct=rate, reader_id=work.actor.id)
