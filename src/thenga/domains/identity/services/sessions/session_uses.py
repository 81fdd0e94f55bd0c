"""What an organization sees of its members' sessions, and staff of all (IDN-42).

The person and the organization are the two parties of such a row; the operator of the platform is
the organization of staff. Rows are begun and ended from the person's side.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.identity.tables import Session, SessionUse
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound

_BEGIN = """
    INSERT INTO identity.session_use (id, created_at, updated_at, version, organization_id,
        user_id, session_id, device_label, device_family, network, last_seen_at)
    VALUES (gen_random_uuid(), $1, $1, 1, $2, $3, $4, $5, $6, $7, $1)
    ON CONFLICT (organization_id, session_id) DO UPDATE SET last_seen_at = excluded.last_seen_at
"""
_END = """
    UPDATE identity.session_use SET ended_at = $3, updated_at = $3, version = version + 1
    WHERE user_id = $1 AND session_id = $2 AND ended_at IS NULL
"""


async def begin(work: Work, session: Session) -> None:
    """Staff can find the session, and so can the organization that it begins in."""
    for organization_id in {OPERATOR, session.active_organization_id} - {None}:
        await _begin(work, session, organization_id)


async def _begin(work: Work, session: Session, organization_id: UUID | None) -> None:
    await work.run(
        _BEGIN,
        work.now,
        organization_id,
        session.user_id,
        session.id,
        session.device_label,
        session.device_family,
        session.network,
    )


async def end(work: Work, session: Session) -> None:
    await work.run(_END, session.user_id, session.id, work.now)


async def list_managed_sessions(
    read: Reader, paged: Paged, *, user_id: UUID | None, alive: bool | None
) -> Slice[SessionUse]:
    """Sessions that were used in this organization, of one member or of all."""
    statement = select(SessionUse).where(SessionUse.organization_id == read.organization_id)
    if user_id is not None:
        statement = statement.where(SessionUse.user_id == user_id)
    if alive is not None:
        ended = SessionUse.ended_at.is_not(None)
        statement = statement.where(~ended if alive else ended)
    by = SessionUse.last_seen_at if paged.sort == "lastSeenAt" else None
    return await read.page(statement, paged, by)


async def find_in(read: Reader, session_id: UUID) -> SessionUse:
    """The session as this organization sees it; what was not used here is not there."""
    found = await read.find(SessionUse, organization_id=read.organization_id, session_id=session_id)
    if found is None:
        raise NotFound()
    return found


async def last_active(read: Reader, user_ids: Iterable[UUID]) -> dict[UUID, datetime]:
    """When each of these members was last seen in this organization."""
    statement = (
        select(SessionUse.user_id, func.max(SessionUse.last_seen_at))
        .where(
            SessionUse.organization_id == read.organization_id,
            among(SessionUse.user_id, user_ids),
        )
        .group_by(SessionUse.user_id)
    )
    return {one[0]: one[1] for one in await read.records(statement)}
