"""The organization itself: found it, read it, state its facts, move a sandbox's clock."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.organization.api.fact_views import FactCheckView, FactView, StatementView
from thenga.domains.organization.api.profile_bodies import ChangeProfile, NewProfile, sent, stated
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import facts, organizations
from thenga.domains.organization.services.facts import Ownership, Picture, Values
from thenga.domains.organization.services.reference_data import (
    FACTS,
    IdentifierInconsistent,
    IdentifierInvalid,
)
from thenga.domains.organization.tables import (
    CustomerStatement,
    ImportedStatement,
    Organization,
    OrganizationStatus,
    Verification,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Duplicate,
    Erased,
    NotASandbox,
    PreconditionRequired,
    RuleViolated,
    StepUpRequired,
)
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import TimeZoneName, matching, whole

router = make_router("Organization / Profile")

Locale = Literal[
    "af-ZA", "en-ZA", "nr-ZA", "nso-ZA", "ss-ZA", "st-ZA",
    "tn-ZA", "ts-ZA", "ve-ZA", "xh-ZA", "zu-ZA",
]  # fmt: skip
_KEY = f"(?:{'|'.join(FACTS)})"
_POLL_AFTER_MS = 250


class CreateOrganization(Body):
    """Organization to create."""

    organization_type: Literal["enterprise", "organ_of_state", "funder", "training_provider"]
    mode: Annotated[
        Literal["live", "sandbox"],
        Field(description="A sandbox has its own clock, for testing what happens over time."),
    ] = "live"
    time_zone: TimeZoneName = "Africa/Johannesburg"
    locale: Locale = "en-ZA"
    profile: NewProfile


class MoveClock(Body):
    """Time to advance the clock of a sandbox."""

    forward_days: Annotated[int, whole(0, 4000)] = 0
    forward_seconds: Annotated[int, whole(0, 86_400)] = 0


class OwnershipView(View):
    """Whether the founder has become the owner. This takes a moment."""

    status: Literal["pending", "confirmed"]
    owner_count: int


class StatusReasonView(View):
    """Why the status changed."""

    code: str
    text: str | None = None


class OrganizationView(Stored):
    """The organization with its current facts and their sources."""

    organization_type: str
    mode: str
    time_zone: str
    locale: str
    status: OrganizationStatus
    status_reason: StatusReasonView | None
    status_changed_at: datetime | None
    status_changed_by: UUID | None
    display_name: str
    ownership: OwnershipView
    platform_capabilities: Annotated[
        dict[str, Any], Field(description="Features that are switched off for this organization.")
    ]
    restricted: bool
    merged_into: UUID | None
    offboarding: dict[str, Any] | None
    profile: dict[str, FactView]
    statements: Annotated[
        list[StatementView] | None, Field(description="Statements. Only with `include=statements`.")
    ] = None
    verifications: Annotated[
        list[FactCheckView] | None,
        Field(description="Verifications. Only with `include=verifications`."),
    ] = None
    poll_after_ms: Annotated[
        int | None,
        Field(description="After creation: milliseconds until your rights as the owner are ready."),
    ] = None


@dataclass(frozen=True)
class Shown:
    """What an organization is shown with."""

    ownership: Ownership
    profile: dict[str, Picture]
    values: Values
    include: frozenset[str] = field(default_factory=frozenset)
    poll_after_ms: int | None = None


def view_of(organization: Organization, shown: Shown, now: datetime) -> OrganizationView:
    live = [source for one in shown.profile.values() for source in one.live(now)]
    parts: dict[str, Any] = {
        "ownership": OwnershipView.model_validate(shown.ownership),
        "restricted": any(
            one.get("state") != "on" for one in organization.platform_capabilities.values()
        ),
        "profile": {key: FactView.of(one, shown.values, now) for key, one in shown.profile.items()},
        "poll_after_ms": shown.poll_after_ms,
    }
    if "statements" in shown.include:
        parts["statements"] = [
            StatementView.of(one, shown.values)
            for one in live
            if isinstance(one, CustomerStatement | ImportedStatement)
        ]
    if "verifications" in shown.include:
        parts["verifications"] = [
            FactCheckView.of(one, shown.values) for one in live if isinstance(one, Verification)
        ]
    return OrganizationView.model_validate(organization.__dict__ | parts)


class ClockView(View):
    """Clock of a sandbox."""

    organization_id: UUID
    ahead_seconds: int
    version: int


@router.post(
    "/organizations",
    status_code=201,
    responses=problems(Duplicate, RuleViolated, IdentifierInvalid, IdentifierInconsistent),
)
async def create_organization(
    body: CreateOrganization, work: Annotated[Work, writes(Permission.ORGANIZATION_CREATE)]
) -> OrganizationView:
    """Create an organization. You become its owner a moment later: see `pollAfterMs`.

    One person can create at most ten, and one for each registration number. Another company stating
    the same number has no effect.
    """
    organization = await organizations.create_organization(
        work,
        organization_type=body.organization_type,
        mode=body.mode,
        time_zone=body.time_zone,
        locale=body.locale,
        profile=stated(body.profile),
    )
    return await _seen(work, organization, poll_after_ms=_POLL_AFTER_MS)


@router.get("/organizations/{organizationId}", responses=problems(Erased))
async def get_organization(
    read: Annotated[Reader, reads(Permission.ORGANIZATION_READ)],
    include: Annotated[
        str | None,
        matching("^(?:statements|verifications)(?:,(?:statements|verifications))?$", 40),
        Query(description="Additional parts to include: `statements`, `verifications`."),
    ] = None,
    fact_keys: Annotated[
        str | None,
        matching(f"^{_KEY}(?:,{_KEY}){{0,39}}$", 1200),
        Query(alias="facts", description="Keys of the facts to return."),
    ] = None,
) -> OrganizationView:
    """Retrieve the organization with its current facts."""
    organization = await organizations.get_organization(read)
    keys = None if fact_keys is None else fact_keys.split(",")
    parts = frozenset((include or "").split(","))
    return await _seen(read, organization, keys=keys, include=parts)


@router.patch(
    "/organizations/{organizationId}/profile",
    responses=problems(
        RuleViolated,
        IdentifierInvalid,
        IdentifierInconsistent,
        StepUpRequired,
        PreconditionRequired,
    ),
)
async def change_profile(
    body: ChangeProfile,
    work: Annotated[Work, writes(Permission.PROFILE_UPDATE)],
) -> OrganizationView:
    """State facts, or withdraw them with null. One request makes one version and one event.

    Ownership also needs `organization:ownership:update`. The bank account needs
    `organization:bank:update`, proof of identity from the last five minutes, and `If-Match`.
    """
    organization = await organizations.change_profile(work, sent(body))
    return await _seen(work, organization)


@router.post("/organizations/{organizationId}/clock", responses=problems(NotASandbox, RuleViolated))
async def move_clock(
    body: MoveClock,
    work: Annotated[Work, writes(Permission.CLOCK_MOVE)],
) -> ClockView:
    """Advance the clock of a sandbox. Everything due in that time happens, once and in order."""
    by = timedelta(days=body.forward_days, seconds=body.forward_seconds)
    organization = await organizations.move_clock(work, by=by)
    return ClockView(
        organization_id=organization.id,
        ahead_seconds=int(organization.clock_ahead.total_seconds()),
        version=organization.version,
    )


async def _seen(
    read: Reader,
    organization: Organization,
    *,
    keys: list[str] | None = None,
    include: frozenset[str] = frozenset(),
    poll_after_ms: int | None = None,
) -> OrganizationView:
    profile, values = await facts.profile_of(read, keys)
    ownership = await facts.ownership_of(read)
    shown = Shown(ownership, profile, values, include, poll_after_ms)
    return view_of(organization, shown, read.now)
