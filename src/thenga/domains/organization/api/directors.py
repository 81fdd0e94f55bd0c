"""Directors, members, trustees, partners and owners of a company."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response

from thenga.domains.organization.api.checked import VerificationBody
from thenga.domains.organization.api.director_bodies import (
    AddDirector,
    ChangeDirector,
    Flag,
    ReappointDirector,
    ResignDirector,
    Role,
)
from thenga.domains.organization.api.director_views import DirectorView
from thenga.domains.organization.api.records import (
    ErasureView,
    VersionNumber,
    VersionView,
    given,
    stored,
)
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import people, records
from thenga.domains.organization.services.facts import SelfVerification, UnknownMembership
from thenga.domains.organization.services.people import KeptByLaw
from thenga.domains.organization.services.records import FieldForbidden
from thenga.domains.organization.services.reference_data import IdentifierInvalid
from thenga.domains.organization.tables import Director, DirectorStatus, DirectorVerification
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, Erased, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems

router = make_router("Organization / Directors")

DirectorId = Annotated[UUID, Path(alias="directorId")]


@router.post(
    "/organizations/{organizationId}/directors",
    status_code=201,
    responses=problems(Duplicate, IdentifierInvalid, UnknownMembership, RuleViolated),
)
async def add_director(
    body: AddDirector,
    work: Annotated[Work, writes(Permission.DIRECTOR_CREATE)],
) -> DirectorView:
    """Add a director. The identity number is checked, sealed and never shown in full again."""
    fields = given(body)
    made = await people.add_director(work, id_number=fields.pop("id_number"), fields=fields)
    return DirectorView.of(await people.portrait(work, made), work.now)


@router.get("/organizations/{organizationId}/directors")
async def list_directors(
    read: Annotated[Reader, reads(Permission.DIRECTOR_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[DirectorStatus | None, Query()] = None,
    role: Annotated[Role | None, Query()] = None,
    verification_status: Annotated[
        DirectorVerification | None, Query(alias="verificationStatus")
    ] = None,
    flag: Annotated[
        Flag | None, Query(description="Filter by a flag that is declared, found or possible.")
    ] = None,
    archived: Annotated[bool, Query(description="Show archived items instead.")] = False,
) -> PageOf[DirectorView]:
    """List the directors of the organization."""
    found = await people.list_directors(
        read,
        page,
        status=status,
        role=role,
        verification_status=verification_status,
        flag=flag,
        archived=archived,
    )
    shown, now = await people.portraits(read, found.items), read.now
    return PageOf[DirectorView].of(found, lambda one: DirectorView.of(shown[one.id], now))


@router.get("/organizations/{organizationId}/directors/{directorId}", responses=problems(Erased))
async def get_director(
    director_id: DirectorId,
    read: Annotated[Reader, reads(Permission.DIRECTOR_READ)],
) -> DirectorView:
    """Retrieve a director, also if archived."""
    return DirectorView.of(await people.get_director(read, director_id), read.now)


@router.get("/organizations/{organizationId}/directors/{directorId}/versions")
async def list_director_versions(
    director_id: DirectorId,
    read: Annotated[Reader, reads(Permission.DIRECTOR_READ)],
    page: Annotated[Paged, paged("version", default="-version")],
) -> PageOf[VersionView]:
    """List the versions of a director. Versions of an erased director hold no personal data."""
    found = await records.versions(read, Director, director_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/directors/{directorId}/versions/{version}")
async def get_director_version(
    director_id: DirectorId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.DIRECTOR_READ)],
) -> VersionView:
    """Retrieve one version. It never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Director, director_id, version))


@router.patch(
    "/organizations/{organizationId}/directors/{directorId}",
    responses=problems(
        *(Duplicate, Erased, InvalidTransition, FieldForbidden, SelfVerification),
        *(IdentifierInvalid, UnknownMembership, RuleViolated),
    ),
)
async def change_director(
    director_id: DirectorId,
    body: ChangeDirector,
    work: Annotated[Work, writes(Permission.DIRECTOR_UPDATE)],
) -> DirectorView:
    """Update the fields you send, declare a flag or, as a verifier, record a verification.

    Changing a name, a number or the role ends an earlier verification. The block `verification` is
    for verifiers who do not belong to the company.
    """
    fields = stored(body.changes())
    fields.pop("verification", None)
    fields.pop("flag_statement", None)
    changed = await people.change_director(
        work,
        director_id,
        fields=fields,
        verification=None if body.verification is None else body.verification.check(),
        flag=None if body.flag_statement is None else body.flag_statement.said(),
    )
    return DirectorView.of(await people.portrait(work, changed), work.now)


@router.delete(
    "/organizations/{organizationId}/directors/{directorId}",
    status_code=204,
    responses=problems(Erased),
)
async def archive_director(
    director_id: DirectorId,
    work: Annotated[Work, writes(Permission.DIRECTOR_ARCHIVE)],
) -> Response:
    """Archive a director. The record stays readable by its ID."""
    await people.archive_director(work, director_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/directors/{directorId}/resign",
    responses=problems(InvalidTransition, Erased, RuleViolated),
)
async def resign_director(
    director_id: DirectorId,
    body: ResignDirector,
    work: Annotated[Work, writes(Permission.DIRECTOR_UPDATE)],
) -> DirectorView:
    """Record that a director resigned, today or on the date you send."""
    left = await people.resign_director(work, director_id, resigned_on=body.resigned_on)
    return DirectorView.of(await people.portrait(work, left), work.now)


@router.post(
    "/organizations/{organizationId}/directors/{directorId}/reappoint",
    responses=problems(InvalidTransition, Duplicate, Erased, RuleViolated),
)
async def reappoint_director(
    director_id: DirectorId,
    body: ReappointDirector,
    work: Annotated[Work, writes(Permission.DIRECTOR_UPDATE)],
) -> DirectorView:
    """Record that a former director was reappointed, today or on the date you send."""
    back = await people.reappoint_director(work, director_id, appointed_on=body.appointed_on)
    return DirectorView.of(await people.portrait(work, back), work.now)


@router.post(
    "/organizations/{organizationId}/directors/{directorId}/verify",
    responses=problems(InvalidTransition, SelfVerification, Erased),
)
async def verify_director(
    director_id: DirectorId,
    body: VerificationBody,
    work: Annotated[Work, writes(Permission.DIRECTOR_VERIFY)],
) -> DirectorView:
    """Record a verification of a director. For verifiers who do not belong to the company."""
    checked = await people.verify_director(work, director_id, body.check())
    return DirectorView.of(await people.portrait(work, checked), work.now)


@router.post(
    "/organizations/{organizationId}/directors/{directorId}/erase",
    responses=problems(KeptByLaw),
)
async def erase_director(
    director_id: DirectorId,
    work: Annotated[Work, writes(Permission.DIRECTOR_ERASE)],
) -> ErasureView:
    """Permanently erase the personal data of a former director in every version.

    The law requires the record of an active director, so erasing one is refused.
    """
    director = await people.erase_director(work, director_id)
    return ErasureView.of(director, director.erased_at)
