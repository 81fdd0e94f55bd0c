"""The organization itself: found it, read it, state its facts, move a sandbox's clock."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.organization.api.fact_views import FactView, StatementView, VerificationView
from thenga.domains.organization.api.profile_bodies import ChangeProfile, NewProfile, sent, stated
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import facts, organizations
from thenga.domains.organization.services.facts import Ownership, Picture, Values
from thenga.domains.organization.services.organizations import NotASandbox
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

OrganizationId = Annotated[UUID, Path(alias="organizationId")]
Locale = Literal[
    "af-ZA", "en-ZA", "nr-ZA", "nso-ZA", "ss-ZA", "st-ZA",
    "tn-ZA", "ts-ZA", "ve-ZA", "xh-ZA", "zu-ZA",
]  # fmt: skip
_KEY = f"(?:{'|'.join(FACTS)})"
_POLL_AFTER_MS = 250


class FoundOrganization(Body):
    organization_type: Literal["enterprise", "organ_of_state", "funder", "training_provider"]
    mode: Annotated[
        Literal["live", "sandbox"],
        Field(description="A sandbox has a clock of its own, to try what time does."),
    ] = "live"
    time_zone: TimeZoneName = "Africa/Johannesburg"
    locale: Locale = "en-ZA"
    profile: NewProfile


class MoveClock(Body):
    forward_days: Annotated[int, whole(0, 4000)] = 0
    forward_seconds: Annotated[int, whole(0, 86_400)] = 0


class OwnershipView(View):
    """Pending until the person who founded it has become its owner, a moment later."""

    status: Literal["pending", "confirmed"]
    owner_count: int


class StatusReasonView(View):
    code: str
    text: str | None = None


class OrganizationView(Stored):
    """The company and the facts that count now, each with who said it."""

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
        dict[str, Any], Field(description="What is switched off here; empty where nothing is.")
    ]
    restricted: bool
    merged_into: UUID | None
    offboarding: dict[str, Any] | None
    profile: dict[str, FactView]
    statements: Annotated[
        list[StatementView] | None, Field(description="With `include=statements`.")
    ] = None
    verifications: Annotated[
        list[VerificationView] | None, Field(description="With `include=verifications`.")
    ] = None
    poll_after_ms: Annotated[
        int | None, Field(description="After founding: when the owner's rights are there.")
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
            VerificationView.of(one, shown.values) for one in live if isinstance(one, Verification)
        ]
    return OrganizationView.model_validate(organization.__dict__ | parts)


class ClockView(View):
    organization_id: UUID
    ahead_seconds: int
    version: int


@router.post(
    "/organizations",
    status_code=201,
    responses=problems(Duplicate, RuleViolated, IdentifierInvalid, IdentifierInconsistent),
)
async def found_organization(
    body: FoundOrganization, work: Annotated[Work, writes(Permission.ORGANIZATION_CREATE)]
) -> OrganizationView:
    """Found an organization. You become its owner a moment later: see `pollAfterMs`.

    One person founds at most ten, and one of each registration number. That another company
    states the same number changes nothing.
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
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.ORGANIZATION_READ)],
    include: Annotated[
        str | None,
        matching("^(?:statements|verifications)(?:,(?:statements|verifications))?$", 40),
        Query(description="What else to show: `statements`, `verifications`."),
    ] = None,
    fact_keys: Annotated[
        str | None,
        matching(f"^{_KEY}(?:,{_KEY}){{0,39}}$", 1200),
        Query(alias="facts", description="Only these facts, by their keys."),
    ] = None,
) -> OrganizationView:
    """The organization with the facts that count now."""
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
    organization_id: OrganizationId,
    body: ChangeProfile,
    work: Annotated[Work, writes(Permission.PROFILE_UPDATE)],
) -> OrganizationView:
    """State facts, or withdraw them with null; one command has one version and one event.

    Ownership needs `organization:ownership:update` too. The bank account needs
    `organization:bank:update`, a proof not older than five minutes, and `If-Match`.
    """
    organization = await organizations.change_profile(work, sent(body))
    return await _seen(work, organization)


@router.post("/organizations/{organizationId}/clock", responses=problems(NotASandbox, RuleViolated))
async def move_clock(
    organization_id: OrganizationId,
    body: MoveClock,
    work: Annotated[Work, writes(Permission.CLOCK_MOVE)],
) -> ClockView:
    """Move the clock of a sandbox forward. Whatever time does then happens, once and in order."""
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
