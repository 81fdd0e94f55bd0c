"""Client references: clients who can confirm a past project."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.records import (
    ErasureView,
    OrganizationId,
    RecordView,
    VersionNumber,
    VersionView,
    given,
    shown,
    stored,
)
from thenga.domains.organization.lifecycles import ClientReferenceLifecycle
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import people, records
from thenga.domains.organization.services.people import ReferenceLimit, SelfReference
from thenga.domains.organization.tables import ClientReference, ClientReferenceStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Email, lines, matching, text

router = make_router("Organization / Client references")

ClientReferenceId = Annotated[UUID, Path(alias="clientReferenceId")]
Name = Annotated[str, text(1, 120)]
Phone = Annotated[str, text(4, 30)]
Message = Annotated[str, lines(1, 1000)]
Question = Annotated[str, matching("^[a-z][a-z_]{1,39}$", 40)]
Questions = Annotated[
    list[Question],
    Field(
        max_length=8,
        description="What the client is asked: `on_time`, `on_budget`, `quality`, `would_rehire`.",
    ),
]


class AddClientReference(Body):
    past_project_id: Annotated[UUID, Field(description="The project that the client confirms.")]
    contact_name: Name
    contact_email: Annotated[
        Email, Field(description="Of the client, sealed; shown only masked, also to you.")
    ]
    contact_phone: Phone | None = None
    contact_position: Name | None = None
    questions: Questions = []
    message: Message | None = None


class ChangeClientReference(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    contact_name: Name = "unchanged"
    contact_email: Email = "unchanged@example.test"
    contact_phone: Phone | None = None
    contact_position: Name | None = None
    questions: Questions = []
    message: Message | None = None


class ClientReferenceView(RecordView):
    """A reference; name, address and number of the client's person are masked."""

    past_project_id: UUID
    contact_name: Annotated[str | None, Field(description="Masked; null once it was erased.")]
    contact_email: Annotated[str | None, Field(description="Masked, as `t*****@emfuleni.gov.za`.")]
    contact_phone: Annotated[str | None, Field(description="Masked but for the last four digits.")]
    contact_position: str | None
    questions: list[str]
    message: str | None
    status: ClientReferenceStatus
    requested_at: datetime | None
    expires_at: datetime | None
    rounds: Annotated[int, Field(description="How often the client was asked.")]
    answers: dict[str, Any] | None
    corrections: dict[str, Any] | None
    strength: Literal["strong", "medium", "weak"] | None
    strength_reasons: list[str]
    receipt: str | None
    erased_at: datetime | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(
        cls, row: ClientReference, contact: dict[str, str | None], now: datetime
    ) -> "ClientReferenceView":
        moves = ClientReferenceLifecycle.allowed(row, now)
        return cls.shown({**shown(row), **contact, "allowed_moves": moves})


@router.post(
    "/organizations/{organizationId}/client-references",
    status_code=201,
    responses=problems(SelfReference, ReferenceLimit, RuleViolated),
)
async def add_client_reference(
    organization_id: OrganizationId,
    body: AddClientReference,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_CREATE)],
) -> ClientReferenceView:
    """Prepare a reference of a client for one of your projects. Nothing is sent yet.

    Asking the client by mail, and the client's answer, are not offered yet.
    """
    return await _shown(work, await people.add_client_reference(work, fields=given(body)))


@router.get("/organizations/{organizationId}/client-references")
async def list_client_references(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[ClientReferenceStatus | None, Query()] = None,
    past_project_id: Annotated[UUID | None, Query(alias="pastProjectId")] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[ClientReferenceView]:
    """The client references of the organization, page by page."""
    found = await people.list_client_references(
        read, page, status=status, past_project_id=past_project_id, archived=archived
    )
    contacts = await people.contacts_of(read, found.items)
    now = read.now
    return PageOf[ClientReferenceView].of(
        found, lambda row: ClientReferenceView.of(row, contacts[row.id], now)
    )


@router.get("/organizations/{organizationId}/client-references/{clientReferenceId}")
async def get_client_reference(
    organization_id: OrganizationId,
    client_reference_id: ClientReferenceId,
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
) -> ClientReferenceView:
    """One reference, archived ones too."""
    return await _shown(read, await read.get(ClientReference, client_reference_id))


@router.get("/organizations/{organizationId}/client-references/{clientReferenceId}/versions")
async def list_client_reference_versions(
    organization_id: OrganizationId,
    client_reference_id: ClientReferenceId,
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the reference said after each change; nothing of the client's person is in it."""
    found = await records.versions(read, ClientReference, client_reference_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get(
    "/organizations/{organizationId}/client-references/{clientReferenceId}/versions/{version}"
)
async def get_client_reference_version(
    organization_id: OrganizationId,
    client_reference_id: ClientReferenceId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    found = await records.version(read, ClientReference, client_reference_id, version)
    return VersionView.of(found)


@router.patch(
    "/organizations/{organizationId}/client-references/{clientReferenceId}",
    responses=problems(SelfReference, RuleViolated),
)
async def change_client_reference(
    organization_id: OrganizationId,
    client_reference_id: ClientReferenceId,
    body: ChangeClientReference,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_UPDATE)],
) -> ClientReferenceView:
    """Change the fields you name, while nothing was sent."""
    fields = stored(body.changes())
    row = await people.change_client_reference(work, client_reference_id, fields=fields)
    return await _shown(work, row)


@router.delete(
    "/organizations/{organizationId}/client-references/{clientReferenceId}", status_code=204
)
async def archive_client_reference(
    organization_id: OrganizationId,
    client_reference_id: ClientReferenceId,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_ARCHIVE)],
) -> Response:
    """Take a reference out of the lists. The record stays readable under its identifier."""
    await people.archive_client_reference(work, client_reference_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/client-references/{clientReferenceId}/withdraw",
    responses=problems(InvalidTransition),
)
async def withdraw_client_reference(
    organization_id: OrganizationId,
    client_reference_id: ClientReferenceId,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_UPDATE)],
) -> ClientReferenceView:
    """Take back a request that the client has not answered."""
    return await _shown(work, await people.withdraw_client_reference(work, client_reference_id))


@router.post("/organizations/{organizationId}/client-references/{clientReferenceId}/erase")
async def erase_client_reference(
    organization_id: OrganizationId,
    client_reference_id: ClientReferenceId,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_ERASE)],
) -> ErasureView:
    """Destroy what is known of the client's person, for good; that there was a reference stays."""
    row = await people.erase_client_reference(work, client_reference_id)
    return ErasureView.of(row, row.erased_at)


async def _shown(read: Reader, row: ClientReference) -> ClientReferenceView:
    contacts = await people.contacts_of(read, [row])
    return ClientReferenceView.of(row, contacts[row.id], read.now)
