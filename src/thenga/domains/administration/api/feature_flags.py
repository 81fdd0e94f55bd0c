"""Feature flags and their rollouts."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.administration.api.documents import JsonDocument
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.schemas.reasons import Reason
from thenga.domains.administration.services import flags
from thenga.domains.administration.services.flags import RolloutInvalid, RolloutRequest, Targets
from thenga.domains.administration.tables import (
    FeatureFlag,
    FlagMode,
    FlagPurpose,
    FlagRollout,
    FlagStickiness,
    FlagValueType,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, Percent, lines, matching

router = make_router("Administration / Feature flag")

_KEY = r"^[a-z][a-z0-9]{0,39}(\.[a-z][A-Za-z0-9_]{0,59}){1,4}$"
_NAME = r"^[a-z][A-Za-z0-9_]{0,39}$"
_MOST_TARGETS = 10_000
FlagId = Annotated[UUID, Path(alias="flagId", description="ID of the flag.")]
Key = Annotated[str, matching(_KEY, 300), Field(description="Permanent key, such as `bid.search`.")]
Variant = Annotated[str, matching(_NAME, 40)]
PlanCode = Annotated[str, matching("^[a-z][a-z0-9_-]{0,63}$", 64)]


class TargetsBody(Body):
    """Organizations, plans and people of a rollout."""

    organization_ids: Annotated[
        list[UUID], Field(max_length=_MOST_TARGETS, description="Organizations.")
    ] = []
    plan_codes: Annotated[list[PlanCode], Field(max_length=100, description="Plans.")] = []
    user_ids: Annotated[list[UUID], Field(max_length=_MOST_TARGETS, description="People.")] = []

    def targets(self) -> Targets:
        return Targets(
            frozenset(self.organization_ids), frozenset(self.plan_codes), frozenset(self.user_ids)
        )


class CreateFlag(Body):
    """A new flag. It starts with the mode `off`."""

    key: Key
    description: Annotated[str, lines(1, 500), Field(description="What the flag controls.")]
    purpose: Annotated[FlagPurpose, Field(description="What the flag is for.")] = (
        FlagPurpose.RELEASE
    )
    value_type: Annotated[FlagValueType, Field(description="Type of every variant.")] = (
        FlagValueType.BOOLEAN
    )
    variants: Annotated[
        dict[Variant, JsonDocument],
        Field(min_length=2, max_length=20, description="Values by variant name."),
    ] = {"on": True, "off": False}
    on_variant: Annotated[Variant, Field(description="Variant for callers it is on for.")] = "on"
    off_variant: Annotated[Variant, Field(description="Variant for everyone else.")] = "off"
    stickiness: Annotated[
        FlagStickiness, Field(description="What keeps the same variant while the percentage grows.")
    ] = FlagStickiness.ORGANIZATION
    expected_end_date: Annotated[
        Day | None,
        Field(description="Day on which it should be removed. Default for `release`: in 90 days."),
    ] = None
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for it.")] = None
    reason: Reason


class RollOut(Body):
    """Callers that the flag is on for from now."""

    mode: Annotated[FlagMode, Field(description="Callers that the flag is on for.")]
    percentage: Annotated[
        Percent | None, Field(description="Percentage of callers. Only with the mode `percentage`.")
    ] = None
    include: Annotated[TargetsBody, Field(description="Always on for these targets.")] = (
        TargetsBody()
    )
    exclude: Annotated[TargetsBody, Field(description="Never on for these targets.")] = (
        TargetsBody()
    )
    reshuffle: Annotated[
        bool, Field(description="Whether to choose the callers of a percentage again.")
    ] = False
    reason: Reason


class TargetsView(View):
    """Organizations, plans and people of a rollout."""

    organization_ids: Annotated[list[UUID], Field(description="Organizations.")]
    plan_codes: Annotated[list[str], Field(description="Plans.")]
    user_ids: Annotated[list[UUID], Field(description="People.")]

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "TargetsView":
        return cls(
            organization_ids=stored.get("organizationIds", []),
            plan_codes=stored.get("planCodes", []),
            user_ids=stored.get("userIds", []),
        )


class RolloutView(View):
    """A rollout of a flag. Number 0 is `off`, before the first rollout."""

    number: Annotated[int, Field(ge=0, description="Number of the rollout.")]
    mode: Annotated[FlagMode, Field(description="Callers that the flag is on for.")]
    percentage: Annotated[Decimal | None, Field(description="Percentage of callers.")]
    include: Annotated[TargetsView, Field(description="Always on for these targets.")]
    exclude: Annotated[TargetsView, Field(description="Never on for these targets.")]
    set_by: Annotated[UUID | None, Field(description="Person who set it.")]
    set_at: Annotated[datetime | None, Field(description="When it was set.")]

    @classmethod
    def of(
        cls, row: FeatureFlag | FlagRollout, *, number: int, set_at: datetime | None
    ) -> "RolloutView":
        return cls(
            number=number,
            mode=row.mode,
            percentage=row.percentage,
            include=TargetsView.of(row.include),
            exclude=TargetsView.of(row.exclude),
            set_by=row.set_by,
            set_at=set_at,
        )


class FlagView(Stored):
    """A feature flag with its current rollout."""

    key: Annotated[str, Field(description="Permanent key.")]
    description: Annotated[str, Field(description="What the flag controls.")]
    purpose: Annotated[FlagPurpose, Field(description="What the flag is for.")]
    value_type: Annotated[FlagValueType, Field(description="Type of every variant.")]
    variants: Annotated[dict[str, Any], Field(description="Values by variant name.")]
    on_variant: Annotated[str, Field(description="Variant for callers it is on for.")]
    off_variant: Annotated[str, Field(description="Variant for everyone else.")]
    stickiness: Annotated[
        FlagStickiness, Field(description="What keeps the same variant while the percentage grows.")
    ]
    declared: Annotated[bool, Field(description="Whether a domain declares it in code.")]
    expected_end_date: Annotated[
        date | None, Field(description="Day on which the flag should be removed.")
    ]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for it.")]
    created_by: Annotated[UUID | None, Field(description="Person who created it.")]
    rollout: Annotated[RolloutView, Field(description="Current rollout.")]

    @classmethod
    def of(cls, flag: FeatureFlag, **more: Any) -> Any:
        rollout = RolloutView.of(flag, number=flag.rollout_number, set_at=flag.set_at)
        return cls.shown(flag.__dict__ | {"rollout": rollout, **more})


class FlagDetail(FlagView):
    """A feature flag with its last 20 rollouts, newest first."""

    rollouts: Annotated[list[RolloutView], Field(description="Rollouts, newest first.")]


@router.get("/administration/feature-flags")
async def list_feature_flags(
    read: Annotated[Reader, reads(Permission.FEATURE_FLAG_READ)],
    page: Annotated[Paged, paged("createdAt", "key", default="key")],
    key: Annotated[str | None, matching(_KEY, 300), Query(description="Filter by key.")] = None,
    domain: Annotated[
        str | None, matching("^[a-z]{1,40}$", 40), Query(description="Filter by domain.")
    ] = None,
    mode: Annotated[FlagMode | None, Query(description="Filter by mode.")] = None,
) -> PageOf[FlagView]:
    """List the feature flags of the platform."""
    found = await flags.list_flags(read, page, key=key, domain=domain, mode=mode)
    return PageOf[FlagView].of(found, FlagView.of)


@router.post(
    "/administration/feature-flags", status_code=201, responses=problems(Duplicate, RuleViolated)
)
async def create_feature_flag(
    body: CreateFlag, work: Annotated[Work, writes(Permission.FEATURE_FLAG_CREATE)]
) -> FlagDetail:
    """Create a flag that no domain declares. It is `off` until it is rolled out."""
    fields = body.model_dump(exclude={"reason"})
    flag = await flags.create_flag(work, fields=fields, reason=body.reason)
    return await _detail(work, flag)


@router.get("/administration/feature-flags/{flagId}")
async def get_feature_flag(
    flag_id: FlagId, read: Annotated[Reader, reads(Permission.FEATURE_FLAG_READ)]
) -> FlagDetail:
    """Get a feature flag with its last rollouts."""
    return await _detail(read, await read.get(FeatureFlag, flag_id))


@router.post("/administration/feature-flags/{flagId}/rollout", responses=problems(RolloutInvalid))
async def roll_out_feature_flag(
    flag_id: FlagId,
    body: RollOut,
    work: Annotated[Work, writes(Permission.FEATURE_FLAG_ROLLOUT)],
) -> FlagDetail:
    """Set the rollout of a flag. It applies at once; earlier rollouts are kept."""
    request = RolloutRequest(
        mode=body.mode,
        percentage=body.percentage,
        include=body.include.targets(),
        exclude=body.exclude.targets(),
        reshuffle=body.reshuffle,
    )
    return await _detail(work, await flags.roll_out(work, flag_id, request, reason=body.reason))


async def _detail(read: Reader, flag: FeatureFlag) -> FlagDetail:
    found = await flags.last_rollouts(read, flag)
    shown = [RolloutView.of(one, number=one.number, set_at=one.created_at) for one in found]
    detail: FlagDetail = FlagDetail.of(flag, rollouts=shown)
    return detail
