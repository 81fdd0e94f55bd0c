"""Lessons: what was learned, for this contract or for everybody in the organization (CON-43)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import LessonLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import workspaces
from thenga.domains.contract.tables import Lesson, LessonStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict

_BY: dict[str, ColumnElement[Any]] = {"createdAt": Lesson.created_at}


async def capture_lesson(
    work: Work, workspace_id: UUID, fields: Mapping[str, Any], *, publish: bool
) -> Lesson:
    """Write down a lesson, as a draft or published at once."""
    if publish:
        await workspaces.demand(work, Permission.LESSON_PUBLISH)
    workspace = await workspaces.workspace_for(work, workspace_id)
    status = LessonStatus.PUBLISHED if publish else LessonStatus.DRAFT
    lesson = await work.add(
        Lesson(
            organization_id=workspace.organization_id,
            workspace_id=workspace.id,
            author_user_id=work.actor.id,
            status=status,
            **fields,
        )
    )
    if publish:
        _publish(work, lesson)
    return lesson


async def change_lesson(
    work: Work, lesson_id: UUID, *, fields: Mapping[str, Any], move: str | None
) -> Lesson:
    """Change a draft, publish a lesson or archive it."""
    if move == "publish":
        await workspaces.demand(work, Permission.LESSON_PUBLISH)
    known = await work.get(Lesson, lesson_id)
    await workspaces.workspace_for(work, known.workspace_id)
    lesson = await work.lock(Lesson, lesson_id)
    if fields and lesson.status is not LessonStatus.DRAFT:
        raise Conflict("Only a draft can be changed. Add a new lesson instead.")
    merge_patch(lesson, fields)
    has_moved = move is not None and LessonLifecycle.moves[move](lesson, at=work.now)
    if has_moved:
        lesson.status_changed_at, lesson.status_changed_by = work.now, work.actor.id
    await work.save(lesson)
    if has_moved and lesson.status is LessonStatus.PUBLISHED:
        _publish(work, lesson)
    return lesson


async def list_lessons(
    read: Reader, paged: Paged, *, workspace_id: UUID | None, status: LessonStatus | None
) -> Slice[Lesson]:
    """Lessons of one contract, or those that are for the whole organization."""
    visible = "organization" if workspace_id is None else None
    statement = where_given(
        select(Lesson),
        (Lesson.workspace_id, workspace_id),
        (Lesson.status, status),
        (Lesson.visibility, visible),
    )
    return await read.page(statement, paged, by=_BY[paged.sort])


def _publish(work: Work, lesson: Lesson) -> None:
    work.publish(
        public.LessonPublished(
            organization_id=lesson.organization_id,
            workspace_id=lesson.workspace_id,
            lesson_id=lesson.id,
            category=lesson.category,
            tags=lesson.tags,
        )
    )
