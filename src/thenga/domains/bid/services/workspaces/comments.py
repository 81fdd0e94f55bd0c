"""Comments: threads about a workspace or a part of it, as secret as their subject (BID-10)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal, or_, select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import CommentLifecycle
from thenga.domains.bid.lifecycles.workspaces import BidCommentClosed
from thenga.domains.bid.services.workspaces.access import (
    is_manager,
    person_of,
    seen_workspace,
    sees_price,
    workspace_for,
)
from thenga.domains.bid.services.workspaces.moving import told_of
from thenga.domains.bid.services.workspaces.people import check_members, check_team
from thenga.domains.bid.tables import (
    Comment,
    CommentStatus,
    Draft,
    SbdForm,
    Section,
    Task,
    Workspace,
)
from thenga.domains.bid.values.findings import is_about_price
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Forbidden, NotFound, RuleViolated

MOST_COMMENTS = 5000
EDITABLE = timedelta(minutes=15)
PRICE_FORMS = ("SBD 3", "MBD 3", "C1.1")
_RULE = "BID-10"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a comment is about: its owner may resolve it, and its secrecy is the comment's."""

    owner_user_id: UUID | None
    price: bool


@dataclass(frozen=True, slots=True)
class CommentFilters:
    """How comments are narrowed."""

    subject_type: str | None = None
    subject_id: str | None = None
    status: CommentStatus | None = None
    mentioning_me: bool = False


async def add_comment(work: Work, workspace_id: UUID, fields: dict[str, Any]) -> Comment:
    """Say something about a workspace or one of its parts, or reply to a thread."""
    workspace = await workspace_for(work, workspace_id)
    if fields["in_reply_to"] is not None:
        fields |= await _thread_of(work, workspace, fields["in_reply_to"])
    subject = await subject_of(work, workspace, fields["subject_type"], fields["subject_id"])
    if subject.price and not await sees_price(work, workspace):
        raise _withheld(work)
    mentions: list[UUID] = fields.pop("mentions")
    check_team(workspace, mentions, price=subject.price)
    await check_members(work, mentions)
    if await _count(work, workspace_id) >= MOST_COMMENTS:
        raise RuleViolated(
            "This bid has the maximum number of comments.", rule=_RULE, limit=MOST_COMMENTS
        )
    comment = await work.add(
        Comment(
            organization_id=work.organization_id,
            workspace_id=workspace_id,
            author_user_id=person_of(work),
            price=subject.price,
            mentions=[str(one) for one in dict.fromkeys(mentions)],
            **fields,
        )
    )
    work.publish(public.BidCommentAdded(**_told(workspace, comment)))
    return comment


async def _thread_of(work: Work, workspace: Workspace, comment_id: UUID) -> dict[str, Any]:
    """A reply stands in the thread of its first comment and is about the same."""
    answered = await work.get(Comment, comment_id)
    if answered.workspace_id != workspace.id:
        raise NotFound()
    return {
        "in_reply_to": answered.in_reply_to or answered.id,
        "subject_type": answered.subject_type,
        "subject_id": answered.subject_id,
        "blocking": False,
    }


async def subject_of(
    read: Reader, workspace: Workspace, subject_type: str, subject_id: str | None
) -> Subject:
    """The part of a workspace that is meant; prices and items of them are price data.

    Items and findings come and go, so they are looked up only for a new thread (`commenting`).
    """
    if subject_type == "workspace":
        return Subject(workspace.bid_manager_user_id, price=False)
    if subject_id is None:
        raise RuleViolated("Send the ID or key of the subject.", rule=_RULE, field="subjectId")
    if subject_type == "item":
        return Subject(None, price=True)
    if subject_type == "finding":
        return Subject(None, price=is_about_price(subject_id.partition(":")[2]))
    try:
        found = await read.find(_ROWS[subject_type], id=UUID(subject_id))
    except ValueError:
        found = None
    if found is None or found.workspace_id != workspace.id:
        raise unknown_subject(subject_type)
    if isinstance(found, SbdForm):
        return Subject(None, price=found.form_code.startswith(PRICE_FORMS))
    if isinstance(found, Section):
        draft = await read.get(Draft, found.draft_id)
        return Subject(found.owner_user_id, price=draft.envelope == "financial")
    return Subject(found.owner_user_id, price=False)


def unknown_subject(subject_type: str) -> RuleViolated:
    return RuleViolated(
        f"This bid has no {subject_type} with this ID or key. Check `subjectId`.",
        rule=_RULE,
        field="subjectId",
    )


_ROWS: dict[str, type[Task | Section | SbdForm]] = {
    "task": Task,
    "section": Section,
    "form": SbdForm,
}


async def get_comment(read: Reader, comment_id: UUID) -> tuple[Comment, list[Comment]]:
    """A comment and, if it begins a thread, the replies to it."""
    comment = await read.get(Comment, comment_id)
    workspace = await seen_workspace(read, comment.workspace_id)
    if comment.price and not await sees_price(read, workspace):
        raise _withheld(read)
    return comment, await replies_to(read, comment)


async def replies_to(read: Reader, comment: Comment) -> list[Comment]:
    """The replies of a thread, the oldest first."""
    return (await _replies(read, [comment.id]))[comment.id]


async def list_comments(
    read: Reader, workspace_id: UUID, page: Paged, filters: CommentFilters
) -> tuple[Slice[Comment], dict[UUID, list[Comment]]]:
    """The threads of a workspace; those about prices for whoever may see prices."""
    workspace = await seen_workspace(read, workspace_id)
    statement = where_given(
        select(Comment).where(Comment.workspace_id == workspace_id, Comment.in_reply_to.is_(None)),
        (Comment.subject_type, filters.subject_type),
        (Comment.subject_id, filters.subject_id),
        (Comment.status, filters.status),
    )
    if not await sees_price(read, workspace):
        statement = statement.where(Comment.price.is_(False))
    if filters.mentioning_me:
        statement = statement.where(_mentions(str(person_of(read) or "")))
    found = await read.page(statement, page, Comment.created_at)
    return found, await _replies(read, [one.id for one in found.items])


def _mentions(person: str) -> ColumnElement[bool]:
    """Mentioned in the first comment or in a reply to it."""
    reply = Comment.__table__.alias("reply")
    within = (
        select(reply.c.id)
        .where(
            reply.c.organization_id == Comment.organization_id,
            reply.c.in_reply_to == Comment.id,
            func.jsonb_exists(reply.c.mentions, literal(person)),
        )
        .exists()
    )
    return or_(func.jsonb_exists(Comment.mentions, literal(person)), within)


async def _replies(read: Reader, roots: Sequence[UUID]) -> dict[UUID, list[Comment]]:
    found: dict[UUID, list[Comment]] = defaultdict(list)
    if roots:
        statement = select(Comment).where(among(Comment.in_reply_to, list(roots)))
        for reply in await read.all(statement.order_by(Comment.id), limit=MOST_COMMENTS):
            if reply.in_reply_to is not None:
                found[reply.in_reply_to].append(reply)
    return found


async def change_comment(
    work: Work, comment_id: UUID, *, body: str | None, move: str | None
) -> Comment:
    """Edit a comment within 15 minutes, resolve or reopen its thread, or delete it."""
    seen = await work.get(Comment, comment_id)
    workspace = await seen_workspace(work, seen.workspace_id)
    if seen.price and not await sees_price(work, workspace):
        raise _withheld(work)
    subject = await subject_of(work, workspace, seen.subject_type, seen.subject_id)
    comment = await work.lock(Comment, comment_id)
    if body is not None:
        _edit(work, comment, body)
    if move == "delete":
        _delete(work, comment)
    elif move is not None:
        _resolve(work, workspace, comment, subject, move)
    if work.changes(comment):
        await work.save(comment)
        work.publish(public.BidCommentChanged(**_told(workspace, comment)))
    return comment


def _edit(work: Work, comment: Comment, body: str) -> None:
    is_late = work.now > comment.created_at + EDITABLE
    if comment.author_user_id != person_of(work) or is_late or comment.deleted_at is not None:
        raise BidCommentClosed()
    if body != comment.body:
        comment.body, comment.edited_at = body, work.now


def _delete(work: Work, comment: Comment) -> None:
    """Keep place and author, not the text."""
    if comment.author_user_id != person_of(work):
        raise Forbidden(
            "Only the author can delete a comment.",
            action=work.origin.action,
            reasonCode="not_the_author",
        )
    if comment.deleted_at is None:
        comment.body, comment.anchor_quote, comment.deleted_at = None, None, work.now
        comment.blocking = False


def _resolve(
    work: Work, workspace: Workspace, comment: Comment, subject: Subject, verb: str
) -> None:
    if comment.in_reply_to is not None:
        raise RuleViolated("Resolve or reopen the first comment of the thread.", rule=_RULE)
    person = person_of(work)
    allowed = person in (comment.author_user_id, subject.owner_user_id) and person is not None
    if not (allowed or is_manager(work, workspace)):
        raise Forbidden(
            "Only the author, the owner of the subject or the bid manager can do this.",
            action=work.origin.action,
            reasonCode="not_the_owner",
        )
    if CommentLifecycle.moves[verb](comment, at=work.now):
        resolved = comment.status is CommentStatus.RESOLVED
        comment.resolved_by = person if resolved else None
        comment.resolved_at = work.now if resolved else None


async def open_blocking_comments(
    read: Reader, workspace_id: UUID, *, subject: tuple[str, str] | None = None
) -> int:
    """How many open comments block a workspace, or one part of it."""
    statement = select(func.count()).where(
        Comment.organization_id == read.organization_id,
        Comment.workspace_id == workspace_id,
        Comment.blocking.is_(True),
        Comment.status == CommentStatus.OPEN,
        Comment.in_reply_to.is_(None),
    )
    if subject is not None:
        statement = statement.where(
            Comment.subject_type == subject[0], Comment.subject_id == subject[1]
        )
    return await read.value(statement) or 0


async def _count(read: Reader, workspace_id: UUID) -> int:
    statement = select(func.count()).where(
        Comment.organization_id == read.organization_id, Comment.workspace_id == workspace_id
    )
    return await read.value(statement) or 0


def _told(workspace: Workspace, comment: Comment) -> dict[str, Any]:
    return {
        **told_of(workspace),
        "comment_id": comment.id,
        "subject_type": comment.subject_type,
        "subject_id": comment.subject_id,
        "mentions": [UUID(one) for one in comment.mentions],
        "status": comment.status.value,
    }


def _withheld(read: Reader) -> Forbidden:
    return Forbidden(
        "You cannot see prices of this bid. Ask the bid manager for access.",
        action=read.origin.action,
        reasonCode="price_withheld",
    )
