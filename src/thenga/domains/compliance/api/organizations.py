"""The organization that a request names; it selects and is never written (CMP-1)."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound

ActingOrganization = Annotated[
    UUID,
    Query(alias="organizationId", description="Organization to read. It must be your own."),
]


def check_acting(read: Reader, organization_id: UUID) -> None:
    """Answer another organization's ID as one that does not exist."""
    if not read.has_organization or organization_id != read.organization_id:
        raise NotFound()
