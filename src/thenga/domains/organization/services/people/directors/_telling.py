"""What is told of a director, and how one is held."""

from collections.abc import Sequence
from uuid import UUID

from thenga.domains.organization import public
from thenga.domains.organization.tables import Director
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Erased


async def held(work: Work, director_id: UUID) -> Director:
    """The director, locked; an erased one is gone for good."""
    director = await work.lock(Director, director_id)
    if director.erased_at is not None:
        raise Erased()
    return director


def changed(
    director: Director, change: str, fields: Sequence[str], flags: Sequence[str] = ()
) -> public.DirectorChanged:
    return public.DirectorChanged(
        organization_id=director.organization_id,
        record_id=director.id,
        record_version=director.version,
        change=change,
        changed_fields=list(fields),
        flags_changed=list(flags),
        status=director.status,
        verification_status=director.verification_status,
    )
