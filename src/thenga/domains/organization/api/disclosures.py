"""Disclosures: which sealed values of the company were used, by whom and for what."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.public import DisclosurePurpose
from thenga.domains.organization.services import organizations
from thenga.domains.organization.tables import Disclosure
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged

router = make_router("Organization / Disclosures")


class DisclosedSubjectView(View):
    """Fact or record of which values were disclosed."""

    type: Annotated[str, Field(description="`fact`, or the type of the record.")]
    id: Annotated[
        str,
        Field(
            description=(
                "ID of the record. For a fact, the ID of the organization and the key of the "
                "fact, with a colon between them."
            )
        ),
    ]
    version: Annotated[int, Field(description="Version of the fact or record.")]
    fields: Annotated[list[str], Field(description="Fields that were disclosed.")]


class DisclosureReferenceView(View):
    """Record of another domain that the values were used for."""

    domain: str
    type: str
    id: UUID
    version: Annotated[int | None, Field(description="Version of the record, if it has one.")]


class DisclosureView(Stored):
    """A disclosure of identity, tax or bank account numbers. It does not contain the values."""

    organization_id: UUID
    purpose: DisclosurePurpose
    subjects: Annotated[
        list[DisclosedSubjectView],
        Field(description="Facts and records of which values were disclosed."),
    ]
    reference: Annotated[
        DisclosureReferenceView,
        Field(description="Form, invoice or application that the values were used for."),
    ]
    on_behalf_of: UUID

    @classmethod
    def of(cls, row: Disclosure) -> "DisclosureView":
        return cls.shown(row.__dict__)


@router.get("/organizations/{organizationId}/disclosures")
async def list_disclosures(
    read: Annotated[Reader, reads(Permission.DISCLOSURE_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    purpose: Annotated[DisclosurePurpose | None, Query()] = None,
    on_behalf_of: Annotated[UUID | None, Query(alias="onBehalfOf")] = None,
) -> PageOf[DisclosureView]:
    """List which identity, tax and bank account numbers were disclosed, the newest first."""
    found = await organizations.list_disclosures(
        read, page, purpose=purpose, on_behalf_of=on_behalf_of
    )
    return PageOf[DisclosureView].of(found, DisclosureView.of)
