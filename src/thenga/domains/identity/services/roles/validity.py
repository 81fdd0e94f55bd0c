"""What time makes of an assignment, how it ends, and the scope that it is limited to.

The same for roles and for single permissions; a state made by time is right when it is read, also
before the sweep has written it down. Whoever ends one tells of it: the events differ.
"""

from datetime import datetime
from typing import TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import AssignmentLifecycle
from thenga.domains.identity.tables import Assigned, AssignmentStatus, PlatformRoleAssignment
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import RuleViolated

G = TypeVar("G", bound=Assigned)


def check_times(valid_from: datetime | None, valid_to: datetime | None, now: datetime) -> datetime:
    """When it begins; something that is over before it begins is a mistake."""
    starts = max(valid_from or now, now)
    if valid_to is not None and valid_to <= starts:
        raise RuleViolated("`validTo` lies after `validFrom` and after now.", rule="validity")
    return starts


def limit_to(one: Assigned, scope: public.ScopeRef | None) -> None:
    """Without a scope it counts in the whole organization."""
    if scope is not None:
        one.scope_domain, one.scope_type, one.scope_id = scope.domain, scope.type, scope.id


def is_open(row: type[Assigned]) -> ColumnElement[bool]:
    """The condition that nothing has ended it yet, as far as it is written down."""
    return among(
        row.__table__.c.status, (AssignmentStatus.SCHEDULED.value, AssignmentStatus.ACTIVE.value)
    )


def same_scope(row: type[Assigned], scope: public.ScopeRef | None) -> ColumnElement[bool]:
    if scope is None:
        return row.scope_type.is_(None)
    return sa.and_(
        row.scope_domain == scope.domain,
        row.scope_type == scope.type,
        row.scope_id == scope.id,
    )


def assignment_status(one: Assigned | PlatformRoleAssignment, now: datetime) -> AssignmentStatus:
    """What time has made of it, also before the sweep has written it down."""
    if one.status not in (AssignmentStatus.SCHEDULED, AssignmentStatus.ACTIVE):
        return one.status
    if one.valid_to is not None and now >= one.valid_to:
        return AssignmentStatus.EXPIRED
    return AssignmentStatus.SCHEDULED if now < one.valid_from else AssignmentStatus.ACTIVE


def is_shown_as(
    row: type[Assigned] | type[PlatformRoleAssignment],
    status: AssignmentStatus,
    now: datetime,
) -> ColumnElement[bool]:
    """The condition that a row is shown in this status now."""
    column = row.__table__.c.status
    still_open = among(column, (AssignmentStatus.SCHEDULED.value, AssignmentStatus.ACTIVE.value))
    over = sa.and_(row.valid_to.is_not(None), row.valid_to <= now)
    if status is AssignmentStatus.EXPIRED:
        return sa.or_(column == status.value, sa.and_(still_open, over))
    if status is AssignmentStatus.REVOKED:
        return column == status.value
    begun = row.valid_from > now if status is AssignmentStatus.SCHEDULED else row.valid_from <= now
    return sa.and_(still_open, sa.not_(over), begun)


async def follow_time(work: Work, row: type[G], assignment_id: UUID) -> G | None:
    """Write down what time made of it, which the gate has honoured since; none where nothing."""
    one = await work.lock(row, assignment_id)
    moved = _move_on(one, work.now)
    await work.save(one)
    return one if moved else None


def revoke(one: Assigned, *, at: datetime, by: UUID | None, text: str) -> bool:
    """Take back one that is held; False where it was taken back already."""
    one.status = assignment_status(one, at)
    if not AssignmentLifecycle.revoke(one, at=at):
        return False
    _end(one, at=at, by=by, code="revoked", text=text)
    return True


async def end_all(work: Work, row: type[G], theirs: ColumnElement[bool], at: datetime) -> list[G]:
    """Those of a member who was removed end with the membership; which they were."""
    ended = []
    for one in await work.all(select(row).where(theirs, is_open(row))):
        held = await work.lock(row, one.id)
        AssignmentLifecycle.revoke(held, at=at)
        _end(held, at=at, by=work.actor.id, code="membership_ended", text=None)
        ended.append(await work.save(held))
    return ended


def _move_on(one: Assigned, now: datetime) -> bool:
    """Make the move that time asks for and plan the next; whether there was one."""
    shown = assignment_status(one, now)
    if one.status not in (AssignmentStatus.SCHEDULED, AssignmentStatus.ACTIVE):
        one.next_check_at = None
        return False
    if shown is AssignmentStatus.EXPIRED:
        AssignmentLifecycle.expire(one, at=now)
        _end(one, at=now, by=None, code="time", text=None)
        return True
    one.next_check_at = one.valid_from if shown is AssignmentStatus.SCHEDULED else one.valid_to
    if shown is one.status:
        return False
    AssignmentLifecycle.begin(one, at=now)
    one.status_changed_at, one.status_changed_by = now, None
    return True


def _end(one: Assigned, *, at: datetime, by: UUID | None, code: str, text: str | None) -> None:
    """Write down why and by whom something ended; time has nothing more to do with it."""
    one.next_check_at = None
    explain(one, at=at, by=by, code=code, text=text)
