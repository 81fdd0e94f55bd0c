"""Comments on bids."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.bid.api.parameters import CommentId, WorkspaceId
from thenga.domains.bid.lifecycles import CommentLifecycle
from thenga.domains.bid.lifecycles.workspaces import BidCommentClosed
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.public import CommentSubject
from thenga.domains.bid.services import commenting, workspaces
from thenga.domains.bid.services.workspaces import (
    BidPersonNotInTeam,
    BidPersonUnknown,
    CommentFilters,
)
from thenga.domains.bid.tables import Comment, CommentStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, text, whole

router = make_router("Bid / Comments")

SubjectType = Annotated[CommentSubject, Field(description="Type of the subject.")]
SubjectId = Annotated[
    Annotated[str, text(1, 100)] | None,
    Field(description="ID or key of the subject. Null for the workspace itself."),
]


class CommentAnchor(Body):
    """The passage that a comment is about."""

    quote: Annotated[str, lines(1, 300), Field(description="Quoted text.")]
    version_number: Annotated[
        int, whole(1, 1_000_000), Field(description="Version that contains the quote.")
    ]


class AddBidComment(Body):
    """A comment, or a reply to one."""

    body: Annotated[str, lines(1, 5000), Field(description="Plain text.")]
    subject_type: SubjectType = "workspace"
    subject_id: SubjectId = None
    anchor: Annotated[CommentAnchor | None, Field(description="Quoted passage.")] = None
    in_reply_to: Annotated[UUID | None, Field(description="Comment to reply to.")] = None
    mentions: Annotated[
        list[UUID], Field(max_length=20, description="People to notify. They must see the subject.")
    ] = []
    blocking: Annotated[
        bool, Field(description="Blocks approval of the section and sealing of the pack.")
    ] = False


class ChangeBidComment(Body):
    """New text or a move."""

    body: Annotated[str, lines(1, 5000), Field(description="New text. Only within 15 minutes.")] = (
        "unchanged"
    )
    move: Annotated[
        Literal["resolve", "reopen", "delete"] | None, Field(description="Move to make.")
    ] = None


class CommentAnchorView(View):
    """The passage that a comment is about."""

    quote: Annotated[str, Field(description="Quoted text.")]
    version_number: Annotated[int | None, Field(description="Version that contains the quote.")]


class BidReplyView(Stored):
    """A comment in a thread."""

    author_user_id: Annotated[UUID | None, Field(description="Author.")]
    body: Annotated[str | None, Field(description="Plain text. Null if it was deleted.")]
    mentions: Annotated[list[UUID], Field(description="People who were mentioned.")]
    edited_at: Annotated[datetime | None, Field(description="Time of the last edit.")]
    deleted_at: Annotated[datetime | None, Field(description="Time of the deletion.")]
    in_reply_to: Annotated[UUID | None, Field(description="First comment of the thread.")]


class BidCommentView(BidReplyView):
    """A comment with its thread."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    subject_type: SubjectType
    subject_id: Annotated[str | None, Field(description="ID or key of the subject.")]
    anchor: Annotated[CommentAnchorView | None, Field(description="Quoted passage.")]
    blocking: Annotated[
        bool, Field(description="Blocks approval of the section and sealing of the pack.")
    ]
    status: CommentStatus
    resolved_by: Annotated[UUID | None, Field(description="Person who resolved the thread.")]
    resolved_at: Annotated[datetime | None, Field(description="Time at which it was resolved.")]
    replies: Annotated[list[BidReplyView], Field(description="Replies, oldest first.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/comments/{self.id}"

    @classmethod
    def of(cls, comment: Comment, replies: list[Comment], now: datetime) -> "BidCommentView":
        anchor = None
        if comment.anchor_quote is not None:
            number = comment.anchor_version
            anchor = {"quote": comment.anchor_quote, "version_number": number}
        more = {
            "anchor": anchor,
            "replies": [BidReplyView.model_validate(one.__dict__) for one in replies],
            "allowed_moves": CommentLifecycle.allowed(comment, now),
        }
        return cls.model_validate(comment.__dict__ | more)


@router.post(
    "/bids/workspaces/{workspaceId}/comments",
    status_code=201,
    responses=problems(BidPersonNotInTeam, BidPersonUnknown, RuleViolated),
)
async def add_bid_comment(
    workspace_id: WorkspaceId,
    body: AddBidComment,
    work: Annotated[Work, writes(Permission.COMMENT_CREATE)],
) -> BidCommentView:
    """Comment on a bid or a part of it. Only people who see the subject see the comment."""
    anchor = body.anchor
    comment = await commenting.add_comment(
        work,
        workspace_id,
        {
            "body": body.body,
            "subject_type": body.subject_type,
            "subject_id": body.subject_id,
            "anchor_quote": None if anchor is None else anchor.quote,
            "anchor_version": None if anchor is None else anchor.version_number,
            "in_reply_to": body.in_reply_to,
            "mentions": body.mentions,
            "blocking": body.blocking,
        },
    )
    return BidCommentView.of(comment, [], work.now)


@router.get("/bids/workspaces/{workspaceId}/comments")
async def list_bid_comments(
    workspace_id: WorkspaceId,
    read: Annotated[Reader, reads(Permission.COMMENT_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    subject_type: Annotated[
        CommentSubject | None, Query(alias="subjectType", description="Filter by subject.")
    ] = None,
    subject_id: Annotated[
        Annotated[str, text(1, 100)] | None,
        Query(alias="subjectId", description="Filter by the ID or key of the subject."),
    ] = None,
    status: Annotated[CommentStatus | None, Query(description="Filter by status.")] = None,
    mentioning: Annotated[
        Literal["me"] | None, Query(description="Threads that mention you.")
    ] = None,
) -> PageOf[BidCommentView]:
    """List threads with their replies, newest first."""
    filters = CommentFilters(subject_type, subject_id, status, mentioning_me=mentioning == "me")
    found, replies = await workspaces.list_comments(read, workspace_id, page, filters)
    return PageOf[BidCommentView].of(
        found, lambda one: BidCommentView.of(one, replies[one.id], read.now)
    )


@router.get("/bids/comments/{commentId}")
async def get_bid_comment(
    comment_id: CommentId, read: Annotated[Reader, reads(Permission.COMMENT_READ)]
) -> BidCommentView:
    """Retrieve a comment with its replies."""
    comment, replies = await workspaces.get_comment(read, comment_id)
    return BidCommentView.of(comment, replies, read.now)


@router.patch(
    "/bids/comments/{commentId}",
    responses=problems(BidCommentClosed, InvalidTransition, RuleViolated),
)
async def change_bid_comment(
    comment_id: CommentId,
    body: ChangeBidComment,
    work: Annotated[Work, writes(Permission.COMMENT_UPDATE)],
) -> BidCommentView:
    """Edit your comment within 15 minutes, resolve or reopen a thread, or delete your comment.

    A deleted comment keeps its place and author.
    """
    fields = body.changes()
    comment = await workspaces.change_comment(
        work, comment_id, body=fields.get("body"), move=fields.get("move")
    )
    return BidCommentView.of(comment, await workspaces.replies_to(work, comment), work.now)
