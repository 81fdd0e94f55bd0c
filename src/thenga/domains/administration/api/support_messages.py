"""Messages of support cases."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.domains.administration.lifecycles import CaseTooOld
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.schemas.support_cases import CaseId, WriteMessage
from thenga.domains.administration.services import support
from thenga.domains.administration.services.actions import ReasonRequired
from thenga.domains.administration.tables import AuthorKind
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems

router = make_router("Administration / Support case")


class MessageView(View):
    """A message of a case. It never changes."""

    id: Annotated[UUID, Field(description="ID of the message.")]
    case_id: Annotated[UUID, Field(description="Case that it belongs to.")]
    created_at: Annotated[datetime, Field(description="When it was written.")]
    author_kind: Annotated[AuthorKind, Field(description="Side that wrote it.")]
    author_user_id: Annotated[UUID, Field(description="Person who wrote it.")]
    body: Annotated[str, Field(description="Text of the message.")]

    @property
    def own_path(self) -> str:
        """The messages of the case."""
        return f"{PREFIX}/administration/support-cases/{self.case_id}/messages"


@router.get("/administration/support-cases/{caseId}/messages")
async def list_support_messages(
    case_id: CaseId,
    read: Annotated[Reader, reads(Permission.SUPPORT_CASE_MESSAGE, for_staff=True)],
    page: Annotated[Paged, paged("createdAt")],
) -> PageOf[MessageView]:
    """List the messages of a case, oldest first."""
    found = await support.list_messages(read, case_id, page)
    return PageOf.of(found, MessageView.model_validate)


@router.post(
    "/administration/support-cases/{caseId}/messages",
    status_code=201,
    responses=problems(CaseTooOld, ReasonRequired),
)
async def write_support_message(
    case_id: CaseId,
    body: WriteMessage,
    work: Annotated[Work, writes(Permission.SUPPORT_CASE_MESSAGE, for_staff=True)],
) -> MessageView:
    """Write to the other side.

    A customer's message reopens a case that was resolved at most `administration.case.reopenDays`
    days ago. For an older one, open a new case.
    """
    return MessageView.model_validate(await support.write_message(work, case_id, body))
