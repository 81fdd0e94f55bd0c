"""Contacts: whom to reach at the company, and for what."""

from datetime import date, datetime
from typing import Annotated, Literal
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
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import people, records
from thenga.domains.organization.services.facts import UnknownMembership
from thenga.domains.organization.tables import Contact
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, Erased, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, Email, text

router = make_router("Organization / Contacts")

ContactId = Annotated[UUID, Path(alias="contactId")]
PersonName = Annotated[str, text(1, 160)]
Short = Annotated[str, text(1, 80)]
Phone = Annotated[str, text(4, 30)]
Kind = Literal[
    "general", "bids", "finance", "delivery", "emergency", "information_officer", "compliance"
]
Channel = Literal["email", "sms", "whatsapp"]
Language = Literal[
    "af-ZA", "en-ZA", "nr-ZA", "nso-ZA", "ss-ZA", "st-ZA",
    "tn-ZA", "ts-ZA", "ve-ZA", "xh-ZA", "zu-ZA",
]  # fmt: skip


class AddContact(Body):
    kind: Kind
    name: PersonName
    position: Short | None = None
    email: Annotated[Email | None, Field(description="This, or a phone number, or both.")] = None
    phone: Annotated[
        Phone | None,
        Field(description="Kept in international form; +27 may be left out."),
    ] = None
    preferred_channel: Channel | None = None
    language: Language | None = None
    primary: Annotated[
        bool, Field(description="The one of its kind that counts; takes the mark from another.")
    ] = False
    user_id: Annotated[
        UUID | None, Field(description="The person's account, if they belong to the organization.")
    ] = None
    valid_from: Day | None = None
    valid_to: Day | None = None


class ChangeContact(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    kind: Kind = "general"
    name: PersonName = "unchanged"
    position: Short | None = None
    email: Email | None = None
    phone: Phone | None = None
    preferred_channel: Channel | None = None
    language: Language | None = None
    primary: bool = False
    user_id: UUID | None = None
    valid_from: Day | None = None
    valid_to: Day | None = None


class ContactView(RecordView):
    """Whom to reach."""

    kind: Kind
    name: str
    position: str | None
    email: str | None
    phone: str | None
    preferred_channel: Channel | None
    language: str | None
    primary: bool
    user_id: UUID | None
    valid_from: date | None
    valid_to: date | None
    reachability: Annotated[
        Literal["unknown", "reachable", "unreachable"],
        Field(description="Whether our last message arrived."),
    ]
    reachability_at: datetime | None
    status: Literal["active", "archived"]

    @classmethod
    def of(cls, contact: Contact) -> "ContactView":
        return cls.shown({**shown(contact), "status": people.status_of(contact)})


@router.post(
    "/organizations/{organizationId}/contacts",
    status_code=201,
    responses=problems(Duplicate, UnknownMembership, RuleViolated),
)
async def add_contact(
    organization_id: OrganizationId,
    body: AddContact,
    work: Annotated[Work, writes(Permission.CONTACT_CREATE)],
) -> ContactView:
    """Record whom to reach. A primary one takes the mark from the one of its kind that had it."""
    return ContactView.of(await people.add_contact(work, fields=given(body)))


@router.get("/organizations/{organizationId}/contacts")
async def list_contacts(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.CONTACT_READ)],
    page: Annotated[Paged, paged("createdAt", "name")],
    kind: Annotated[Kind | None, Query()] = None,
    status: Annotated[Literal["active", "archived"] | None, Query()] = None,
    primary: Annotated[bool | None, Query()] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[ContactView]:
    """The contacts of the organization, page by page."""
    over = archived or status == "archived"
    found = await people.list_contacts(read, page, kind=kind, primary=primary, archived=over)
    return PageOf[ContactView].of(found, ContactView.of)


@router.get("/organizations/{organizationId}/contacts/{contactId}", responses=problems(Erased))
async def get_contact(
    organization_id: OrganizationId,
    contact_id: ContactId,
    read: Annotated[Reader, reads(Permission.CONTACT_READ)],
) -> ContactView:
    """One contact, archived ones too."""
    return ContactView.of(await people.get_contact(read, contact_id))


@router.get("/organizations/{organizationId}/contacts/{contactId}/versions")
async def list_contact_versions(
    organization_id: OrganizationId,
    contact_id: ContactId,
    read: Annotated[Reader, reads(Permission.CONTACT_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the contact was after each change; of an erased one only that it was."""
    found = await records.versions(read, Contact, contact_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/contacts/{contactId}/versions/{version}")
async def get_contact_version(
    organization_id: OrganizationId,
    contact_id: ContactId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.CONTACT_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Contact, contact_id, version))


@router.patch(
    "/organizations/{organizationId}/contacts/{contactId}",
    responses=problems(Duplicate, Erased, UnknownMembership, RuleViolated),
)
async def change_contact(
    organization_id: OrganizationId,
    contact_id: ContactId,
    body: ChangeContact,
    work: Annotated[Work, writes(Permission.CONTACT_UPDATE)],
) -> ContactView:
    """Change the fields you name. Send `If-Match` so that nobody's change is lost."""
    return ContactView.of(
        await people.change_contact(work, contact_id, fields=stored(body.changes()))
    )


@router.delete(
    "/organizations/{organizationId}/contacts/{contactId}",
    status_code=204,
    responses=problems(Erased),
)
async def archive_contact(
    organization_id: OrganizationId,
    contact_id: ContactId,
    work: Annotated[Work, writes(Permission.CONTACT_ARCHIVE)],
) -> Response:
    """Take a contact out of the lists. The record stays readable under its identifier."""
    await people.archive_contact(work, contact_id)
    return Response(status_code=204)


@router.post("/organizations/{organizationId}/contacts/{contactId}/erase")
async def erase_contact(
    organization_id: OrganizationId,
    contact_id: ContactId,
    work: Annotated[Work, writes(Permission.CONTACT_ERASE)],
) -> ErasureView:
    """Destroy name, addresses and numbers of a contact in every version. Nothing brings them back.

    What stays is that there was a contact, when, and who changed it.
    """
    contact = await people.erase_contact(work, contact_id)
    return ErasureView.of(contact, contact.erased_at)
