"""The organization itself: found it, read it, state its facts, move a sandbox's clock."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import organizations
from thenga.domains.organization.services.organizations import NotASandbox
from thenga.domains.organization.tables import (
    CustomerStatement,
    Fact,
    Organization,
    OrganizationStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.fields import TimeZoneName, lines, matching, text, whole
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems

router = make_router("Organization / Profile")

OrganizationId = Annotated[UUID, Path(alias="organizationId")]
LegalName = Annotated[str, text(1, 200)]
LegalForm = Literal[
    "sole_proprietor", "partnership", "joint_venture", "close_corporation", "private_company",
    "public_company", "personal_liability_company", "non_profit_company", "state_owned_company",
    "co_operative", "trust", "external_company", "organ_of_state",
]  # fmt: skip
Locale = Literal[
    "af-ZA", "en-ZA", "nr-ZA", "nso-ZA", "ss-ZA", "st-ZA",
    "tn-ZA", "ts-ZA", "ve-ZA", "xh-ZA", "zu-ZA",
]  # fmt: skip
About = Annotated[str, lines(1, 4000)]
Website = Annotated[str, matching(r"^https://[a-z0-9.-]{1,200}(/[A-Za-z0-9._~/-]{0,200})?$", 410)]


class NewProfile(Body):
    legal_name: LegalName
    legal_form: LegalForm
    trading_name: LegalName | None = None
    description: About | None = None
    website: Website | None = None
    employee_count: Annotated[int, whole(0, 1_000_000)] | None = None


class FoundOrganization(Body):
    organization_type: Literal["enterprise", "organ_of_state", "funder", "training_provider"]
    mode: Annotated[
        Literal["live", "sandbox"],
        Field(description="A sandbox has a clock of its own, to try what time does."),
    ] = "live"
    time_zone: TimeZoneName = "Africa/Johannesburg"
    locale: Locale = "en-ZA"
    profile: NewProfile


class ChangeProfile(Body):
    """A merge patch of facts: what is left out stays, null withdraws your statement."""

    legal_name: LegalName | None = None
    legal_form: LegalForm | None = None
    trading_name: LegalName | None = None
    description: About | None = None
    website: Website | None = None
    employee_count: Annotated[int, whole(0, 1_000_000)] | None = None


class MoveClock(Body):
    forward_days: Annotated[int, whole(0, 4000)] = 0
    forward_seconds: Annotated[int, whole(0, 86_400)] = 0


class ProvenanceView(View):
    kind: Literal["customer_supplied"]
    recorded_at: datetime
    recorded_by: UUID | None


class FactView(View):
    value: Any
    version: int
    provenance: ProvenanceView

    @classmethod
    def of(cls, fact: Fact, statement: CustomerStatement) -> "FactView":
        return cls(
            value=statement.value,
            version=fact.version,
            provenance=ProvenanceView(
                kind="customer_supplied",
                recorded_at=statement.created_at,
                recorded_by=statement.stated_by,
            ),
        )


class OrganizationView(Stored):
    """The company and the facts that count now, each with who said it."""

    organization_type: str
    mode: str
    time_zone: str
    locale: str
    status: OrganizationStatus
    display_name: str
    profile: dict[str, FactView]
    poll_after_ms: Annotated[
        int | None, Field(description="After founding: when the owner's rights are there.")
    ] = None

    @classmethod
    def of(
        cls,
        organization: Organization,
        profile: dict[str, tuple[Fact, CustomerStatement]],
        *,
        poll_after_ms: int | None = None,
    ) -> "OrganizationView":
        facts = {key: FactView.of(*pair) for key, pair in profile.items()}
        return cls.model_validate(
            organization.__dict__ | {"profile": facts, "poll_after_ms": poll_after_ms}
        )


class ClockView(View):
    organization_id: UUID
    ahead_seconds: int
    version: int


@router.post("/organizations", status_code=201)
async def found_organization(
    body: FoundOrganization, work: Annotated[Work, writes(Permission.ORGANIZATION_CREATE)]
) -> OrganizationView:
    """Found an organization. You become its owner a moment later: see `pollAfterMs`."""
    organization = await organizations.found(
        work,
        organization_type=body.organization_type,
        mode=body.mode,
        time_zone=body.time_zone,
        locale=body.locale,
        profile=_facts(body.profile, set(NewProfile.model_fields), keep_null=False),
    )
    profile = await organizations.profile_of(work)
    return OrganizationView.of(organization, profile, poll_after_ms=250)


@router.get("/organizations/{organizationId}")
async def get_organization(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.ORGANIZATION_READ)],
) -> OrganizationView:
    """The organization with its facts."""
    organization = await read.get(Organization, organization_id)
    return OrganizationView.of(organization, await organizations.profile_of(read))


@router.patch("/organizations/{organizationId}/profile", responses=problems(RuleViolated))
async def change_profile(
    organization_id: OrganizationId,
    body: ChangeProfile,
    work: Annotated[Work, writes(Permission.PROFILE_UPDATE)],
) -> OrganizationView:
    """State facts, or withdraw them with null; one command has one version and one event."""
    values = _facts(body, body.model_fields_set, keep_null=True)
    organization = await organizations.change_profile(work, values=values)
    return OrganizationView.of(organization, await organizations.profile_of(work))


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


def _facts(body: Body, names: set[str], *, keep_null: bool) -> dict[str, Any]:
    """The facts of a body by their wire names, which are the keys of the catalogue."""
    sent = body.model_dump(by_alias=True, include=names)
    return {key: value for key, value in sent.items() if keep_null or value is not None}
