"""Client references: clients who can confirm a past project."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.records import (
    ErasureView,
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
from thenga.kernel.values.fields import Email, PhoneNumber, lines, matching, text

router = make_router("Organization / Client references")

ClientReferenceId = Annotated[UUID, Path(alias="clientReferenceId")]
Name = Annotated[str, text(1, 120)]
Message = Annotated[str, lines(1, 1000)]
Question = Annotated[str, matching("^[a-z][a-z_]{1,39}$", 40)]
Questions = Annotated[
    list[Question],
    Field(
        max_length=8,
        description="Questions for the client: `on_time`, `on_budget`, `quality`, `would_rehire`.",
    ),
]


class AddClientReference(Body):
    """Client reference to prepare."""

    past_project_id: Annotated[
        UUID, Field(description="Project that the client is asked to confirm.")
    ]
    contact_name: Name
    contact_email: Annotated[
        Email,
        Field(
            description=(
                "Email address of the client. It is stored encrypted and always shown masked."
            )
        ),
    ]
    contact_phone: PhoneNumber | None = None
    contact_position: Name | None = None
    questions: Questions = []
    message: Message | None = None


class ChangeClientReference(Body):
    """Fields to update. Omitted fields stay unchanged; null clears optional fields."""

    contact_name: Name = "unchanged"
    contact_email: Email = "unchanged@example.test"
    contact_phone: PhoneNumber | None = None
    contact_position: Name | None = None
    questions: Questions = []
    message: Message | None = None


class ClientReferenceView(RecordView):
    """A client reference. The contact's name, address and number are masked."""

    past_project_id: UUID
    contact_name: Annotated[str | None, Field(description="Masked name. Null after erasure.")]
    contact_email: Annotated[
        str | None,
        Field(description="Masked email address, for example `t*****@emfuleni.gov.za`."),
    ]
    contact_phone: Annotated[
        str | None, Field(description="Masked phone number with its last four digits.")
    ]
    contact_position: str | None
    questions: list[str]
    message: str | None
    status: ClientReferenceStatus
    requested_at: datetime | None
    expires_at: datetime | None
    rounds: Annotated[int, Field(description="Number of requests sent to the client.")]
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
    body: AddClientReference,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_CREATE)],
) -> ClientReferenceView:
    """Prepare a client reference for one of your projects. Nothing is sent yet.

    Asking the client by email and recording the answer are not available yet.
    """
    return await _shown(work, await people.add_client_reference(work, fields=given(body)))


@router.get("/organizations/{organizationId}/client-references")
async def list_client_references(
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[ClientReferenceStatus | None, Query()] = None,
    past_project_id: Annotated[UUID | None, Query(alias="pastProjectId")] = None,
    archived: Annotated[bool, Query(description="Show archived items instead.")] = False,
) -> PageOf[ClientReferenceView]:
    """List the client references of the organization."""
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
    client_reference_id: ClientReferenceId,
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
) -> ClientReferenceView:
    """Retrieve a client reference, also if archived."""
    return await _shown(read, await read.get(ClientReference, client_reference_id))


@router.get("/organizations/{organizationId}/client-references/{clientReferenceId}/versions")
async def list_client_reference_versions(
    client_reference_id: ClientReferenceId,
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
    page: Annotated[Paged, paged("version", default="-version")],
) -> PageOf[VersionView]:
    """List the versions of a reference. They hold no personal data of the client."""
    found = await records.versions(read, ClientReference, client_reference_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get(
    "/organizations/{organizationId}/client-references/{clientReferenceId}/versions/{version}"
)
async def get_client_reference_version(
    client_reference_id: ClientReferenceId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.CLIENT_REFERENCE_READ)],
) -> VersionView:
    """Retrieve one version. It never changes, so it can be cited."""
    found = await records.version(read, ClientReference, client_reference_id, version)
    return VersionView.of(found)


@router.patch(
    "/organizations/{organizationId}/client-references/{clientReferenceId}",
    responses=problems(SelfReference, RuleViolated),
)
async def change_client_reference(
    client_reference_id: ClientReferenceId,
    body: ChangeClientReference,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_UPDATE)],
) -> ClientReferenceView:
    """Update the fields you send, as long as nothing was sent to the client."""
    fields = stored(body.changes())
    row = await people.change_client_reference(work, client_reference_id, fields=fields)
    return await _shown(work, row)


@router.delete(
    "/organizations/{organizationId}/client-references/{clientReferenceId}", status_code=204
)
async def archive_client_reference(
    client_reference_id: ClientReferenceId,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_ARCHIVE)],
) -> Response:
    """Archive a client reference. The record stays readable by its ID."""
    await people.archive_client_reference(work, client_reference_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/client-references/{clientReferenceId}/withdraw",
    responses=problems(InvalidTransition),
)
async def withdraw_client_reference(
    client_reference_id: ClientReferenceId,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_UPDATE)],
) -> ClientReferenceView:
    """Withdraw a request that the client has not answered."""
    return await _shown(work, await people.withdraw_client_reference(work, client_reference_id))


@router.post("/organizations/{organizationId}/client-references/{clientReferenceId}/erase")
async def erase_client_reference(
    client_reference_id: ClientReferenceId,
    work: Annotated[Work, writes(Permission.CLIENT_REFERENCE_ERASE)],
) -> ErasureView:
    """Permanently erase the personal data of the client. That the reference existed is kept."""
    row = await people.erase_client_reference(work, client_reference_id)
    return ErasureView.of(row, row.erased_at)


async def _shown(read: Reader, row: ClientReference) -> ClientReferenceView:
    contacts = await people.contacts_of(read, [row])
    return ClientReferenceView.of(row, contacts[row.id], read.now)
