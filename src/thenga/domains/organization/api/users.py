"""Organization users: what the company says of those who work in it."""

from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.records import (
    OrganizationId,
    RecordView,
    ReferenceBody,
    ReferenceView,
    VersionNumber,
    VersionView,
    given,
    shown,
    stored,
)
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import people, records
from thenga.domains.organization.services.facts import UnknownMembership
from thenga.domains.organization.tables import MemberStatus, OrganizationUser
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, lines, text
from thenga.kernel.values.money import Money

router = make_router("Organization / Users")

OrganizationUserId = Annotated[UUID, Path(alias="organizationUserId")]
Short = Annotated[str, text(1, 80)]
Notes = Annotated[str, lines(1, 500)]
BidRole = Literal["bid_manager", "estimator", "reviewer", "signatory"]
BidRoles = Annotated[list[BidRole], Field(max_length=4)]


class SigningAuthorityBody(Body):
    evidence_ref: Annotated[ReferenceBody, Field(description="The resolution or letter.")]
    valid_from: Day
    valid_to: Day | None = None
    limit: Annotated[Money | None, Field(description="Up to what value; null is no limit.")] = None


class AddUser(Body):
    membership_id: Annotated[
        UUID | None, Field(description="Of a member; either this or an invitation.")
    ] = None
    invitation_id: UUID | None = None
    job_title: Short | None = None
    department: Short | None = None
    bid_roles: BidRoles = []
    notes: Notes | None = None
    signing_authority: Annotated[
        SigningAuthorityBody | None, Field(description="Needed for a `signatory`.")
    ] = None


class ChangeUser(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    job_title: Short | None = None
    department: Short | None = None
    bid_roles: BidRoles = []
    notes: Notes | None = None
    signing_authority: SigningAuthorityBody | None = None


class SigningAuthorityView(View):
    evidence_ref: ReferenceView
    valid_from: date
    valid_to: date | None
    limit: Money | None
    in_force: Annotated[bool, Field(description="Whether the person may sign today.")]


class IdentityView(View):
    """What Identity knows of a person; asked when shown, stored nowhere here."""

    membership_id: UUID | None
    invitation_id: UUID | None
    user_id: UUID | None
    membership_status: str | None
    status: MemberStatus
    display_name: str | None
    email: str | None
    identity_state: Annotated[
        Literal["live", "unavailable"],
        Field(description="`unavailable`: Identity did not answer, so names are left out."),
    ]


class OrganizationUserView(RecordView, IdentityView):
    """What the company says of somebody who works in it."""

    job_title: str | None
    department: str | None
    bid_roles: list[BidRole]
    notes: str | None
    signing_authority: SigningAuthorityView | None

    @classmethod
    def of(cls, one: people.Described, today: date) -> "OrganizationUserView":
        user = one.profiled()
        authority = _authority(user, today)
        values = {**shown(user), **_identity(one), "signing_authority": authority}
        return cls.shown(values)


class MemberView(IdentityView):
    """Somebody of the company; `profile` is null where nothing is said of them yet."""

    profile: OrganizationUserView | None

    @classmethod
    def of(cls, one: people.Described, today: date) -> "MemberView":
        profile = None if one.user is None else OrganizationUserView.of(one, today)
        return cls.shown({**_identity(one), "profile": profile})


@router.post(
    "/organizations/{organizationId}/users",
    status_code=201,
    responses=problems(Duplicate, UnknownMembership, RuleViolated),
)
async def add_organization_user(
    organization_id: OrganizationId,
    body: AddUser,
    work: Annotated[Work, writes(Permission.USER_CREATE)],
) -> OrganizationUserView:
    """Say what somebody does in the company. Who may sign in is decided by Identity, not here."""
    fields = given(body)
    made = await people.add_user(
        work,
        membership_id=fields.pop("membership_id"),
        invitation_id=fields.pop("invitation_id"),
        fields=fields,
    )
    return OrganizationUserView.of(made, local_day(work.now))


@router.get("/organizations/{organizationId}/users")
async def list_organization_users(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.USER_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[MemberStatus | None, Query()] = None,
    bid_role: Annotated[BidRole | None, Query(alias="bidRole")] = None,
    profiled: Annotated[
        bool | None, Query(description="Only those of whom something is said, or is not.")
    ] = None,
    archived: Annotated[bool, Query(description="Show what was archived instead.")] = False,
) -> PageOf[MemberView]:
    """Everybody who belongs to the company or is invited, page by page."""
    found, described = await people.list_users(
        read, page, status=status, bid_role=bid_role, profiled=profiled, archived=archived
    )
    today = local_day(read.now)
    return PageOf[MemberView].of(found, lambda ref: MemberView.of(described[ref.id], today))


@router.get("/organizations/{organizationId}/users/{organizationUserId}")
async def get_organization_user(
    organization_id: OrganizationId,
    organization_user_id: OrganizationUserId,
    read: Annotated[Reader, reads(Permission.USER_READ)],
) -> OrganizationUserView:
    """What is said of one person, archived too."""
    found = await people.get_user(read, organization_user_id)
    return OrganizationUserView.of(found, local_day(read.now))


@router.get("/organizations/{organizationId}/users/{organizationUserId}/versions")
async def list_organization_user_versions(
    organization_id: OrganizationId,
    organization_user_id: OrganizationUserId,
    read: Annotated[Reader, reads(Permission.USER_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What was said of the person after each change, and who changed it."""
    found = await records.versions(read, OrganizationUser, organization_user_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/users/{organizationUserId}/versions/{version}")
async def get_organization_user_version(
    organization_id: OrganizationId,
    organization_user_id: OrganizationUserId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.USER_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    found = await records.version(read, OrganizationUser, organization_user_id, version)
    return VersionView.of(found)


@router.patch(
    "/organizations/{organizationId}/users/{organizationUserId}",
    responses=problems(RuleViolated),
)
async def change_organization_user(
    organization_id: OrganizationId,
    organization_user_id: OrganizationUserId,
    body: ChangeUser,
    work: Annotated[Work, writes(Permission.USER_UPDATE)],
) -> OrganizationUserView:
    """Change the fields you name. Send `If-Match` so that nobody's change is lost."""
    fields = stored(body.changes())
    changed = await people.change_user(work, organization_user_id, fields=fields)
    return OrganizationUserView.of(changed, local_day(work.now))


@router.delete("/organizations/{organizationId}/users/{organizationUserId}", status_code=204)
async def archive_organization_user(
    organization_id: OrganizationId,
    organization_user_id: OrganizationUserId,
    work: Annotated[Work, writes(Permission.USER_ARCHIVE)],
) -> Response:
    """Archive what is said of a person. Their membership stays; Identity ends memberships."""
    await people.archive_user(work, organization_user_id)
    return Response(status_code=204)


def _identity(one: people.Described) -> dict[str, Any]:
    ref, card = one.ref, one.card
    return {
        "membership_id": ref.membership_id,
        "invitation_id": ref.invitation_id,
        "user_id": ref.user_id,
        "membership_status": ref.membership_status,
        "status": ref.status,
        "display_name": None if card is None else card.display_name,
        "email": None if card is None else card.email,
        "identity_state": "live" if one.live else "unavailable",
    }


def _authority(user: OrganizationUser, today: date) -> SigningAuthorityView | None:
    if user.signing_authority is None:
        return None
    in_force = people.signs_on(user, today)
    return SigningAuthorityView.model_validate(user.signing_authority | {"in_force": in_force})
