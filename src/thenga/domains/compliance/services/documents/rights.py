"""Rights beyond the one of the operation: personal and confidential papers have their own."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from thenga.domains.compliance.permissions import Permission
from thenga.domains.identity import public as identity
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader

_ON = "compliance.document"


async def permitted(read: Reader, permissions: Sequence[Permission]) -> frozenset[str]:
    """Those of these permissions that the caller holds."""
    return await identity.permitted(read, permissions, on=_ON)


async def holds_all(read: Reader, permissions: Sequence[Permission]) -> bool:
    """Whether the caller holds each of these permissions."""
    return await permitted(read, permissions) >= set(permissions)


async def demand(read: Reader, permission: Permission) -> None:
    """Refuse a caller who does not hold a further permission."""
    await identity.demand(read, permission, on=_ON)


async def person_holds_all(
    read: Reader,
    permissions: Sequence[Permission],
    *,
    person: identity.ActorRef,
    organization_id: UUID,
    document_id: UUID,
    channel: Literal["http", "job"],
) -> bool:
    """Whether a named person holds each of these permissions, apart from the caller."""
    decided = await read.port(identity.Decisions).check_many(
        questions=[
            identity.Question(
                actor=person,
                organization_id=organization_id,
                action=permission,
                resource=identity.ResourceRef(type=_ON, id=str(document_id)),
                channel=channel,
                request_id=read.origin.request_id,
            )
            for permission in permissions
        ]
    )
    return all(answer.decision == "allow" for answer in decided)


def is_staff(read: Reader) -> bool:
    """Whether the caller acts as staff of the platform."""
    return read.held_as == HeldAs.PLATFORM
