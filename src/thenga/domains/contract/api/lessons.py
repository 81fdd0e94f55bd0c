"""Lessons from contracts."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.lifecycles import LessonLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import closeout
from thenga.domains.contract.services.workspaces import ContractOver
from thenga.domains.contract.tables import Lesson, LessonStatus, LessonVisibility
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Conflict, Forbidden, InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, text

router = make_router("Contract / Lessons")

LessonId = Annotated[UUID, Path(alias="lessonId", description="ID of the lesson.")]
Category = Annotated[Annotated[str, text(1, 60)] | None, Field(description="Category.")]
Tags = Annotated[
    list[Annotated[str, text(1, 40)]], Field(max_length=10, description="Your own tags.")
]
Recommendation = Annotated[
    Annotated[str, lines(1, 4000)] | None, Field(description="Recommendation for next time.")
]
Seen = Annotated[
    LessonVisibility,
    Field(description="Audience: this contract or the whole organization."),
]


class CaptureLesson(Body):
    """A lesson from a contract."""

    title: Annotated[str, text(1, 200), Field(description="Title.")]
    text: Annotated[str, lines(1, 4000), Field(description="Lesson learned.")]
    category: Category = None
    tags: Tags = []
    recommendation: Recommendation = None
    visibility: Seen = LessonVisibility.WORKSPACE
    publish: Annotated[bool, Field(description="Whether to publish it at once.")] = False


class ChangeLesson(Body):
    """Fields of a draft to update, and at most one move."""

    title: Annotated[str, text(1, 200), Field(description="Title.")] = "unchanged"
    text: Annotated[str, lines(1, 4000), Field(description="Lesson learned.")] = "unchanged"
    category: Category = None
    tags: Tags = []
    recommendation: Recommendation = None
    visibility: Seen = LessonVisibility.WORKSPACE
    move: Annotated[Literal["publish", "archive"] | None, Field(description="Move to make.")] = None


class LessonView(Stored):
    """A lesson from a contract."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract it comes from.")]
    title: Annotated[str, Field(description="Title.")]
    text: Annotated[str, Field(description="Lesson learned.")]
    category: Annotated[str | None, Field(description="Category.")]
    tags: Annotated[list[str], Field(description="Your own tags.")]
    recommendation: Annotated[str | None, Field(description="Recommendation for next time.")]
    visibility: Annotated[
        LessonVisibility, Field(description="Audience: this contract or the whole organization.")
    ]
    author_user_id: Annotated[UUID | None, Field(description="Person who wrote it.")]
    status: LessonStatus
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/contracts/lessons/{self.id}"

    @classmethod
    def of(cls, lesson: Lesson, now: datetime) -> "LessonView":
        more = {"allowed_moves": LessonLifecycle.allowed(lesson, now)}
        return cls.model_validate(lesson.__dict__ | more)


@router.post(
    "/contracts/workspaces/{workspaceId}/lessons",
    status_code=201,
    responses=problems(ContractOver, Forbidden),
)
async def add_lesson(
    workspace_id: WorkspaceId,
    body: CaptureLesson,
    work: Annotated[Work, writes(Permission.LESSON_CAPTURE)],
) -> LessonView:
    """Add a lesson. `publish: true` publishes it at once and needs the permission to publish."""
    fields = {name: getattr(body, name) for name in CaptureLesson.model_fields}
    publish = fields.pop("publish")
    lesson = await closeout.capture_lesson(work, workspace_id, fields, publish=publish)
    return LessonView.of(lesson, work.now)


@router.get("/contracts/lessons")
async def list_lessons(
    read: Annotated[Reader, reads(Permission.LESSON_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    workspace_id: Annotated[
        UUID | None,
        Query(
            alias="workspaceId",
            description="Filter by contract. Defaults to lessons for the whole organization.",
        ),
    ] = None,
    status: Annotated[LessonStatus | None, Query(description="Filter by status.")] = None,
) -> PageOf[LessonView]:
    """List lessons of a contract, or those for the whole organization, newest first."""
    found = await closeout.list_lessons(read, page, workspace_id=workspace_id, status=status)
    return PageOf[LessonView].of(found, lambda one: LessonView.of(one, read.now))


@router.get("/contracts/lessons/{lessonId}")
async def get_lesson(
    lesson_id: LessonId, read: Annotated[Reader, reads(Permission.LESSON_READ)]
) -> LessonView:
    """Get a lesson."""
    return LessonView.of(await read.get(Lesson, lesson_id), read.now)


@router.patch(
    "/contracts/lessons/{lessonId}",
    responses=problems(Conflict, ContractOver, Forbidden, InvalidTransition),
)
async def change_lesson(
    lesson_id: LessonId,
    body: ChangeLesson,
    work: Annotated[Work, writes(Permission.LESSON_UPDATE)],
) -> LessonView:
    """Change a draft, publish a lesson or archive it."""
    fields: dict[str, Any] = body.changes()
    move = fields.pop("move", None)
    lesson = await closeout.change_lesson(work, lesson_id, fields=fields, move=move)
    return LessonView.of(lesson, work.now)
