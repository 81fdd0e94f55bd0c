"""A person's own messages: read, acknowledged and dismissed by nobody else (NOT-42)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity import public as identity
from thenga.domains.notification import public
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import history
from thenga.domains.notification.services.requests.accepting import about_of
from thenga.domains.notification.tables import Delivery, Notification
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db import read_audit
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem


class NotRecipient(Problem):
    """Only the recipient can change a message.

    To open it, others need `notification:history:read`.
    """

    code, status, title = "notification-not-recipient", 403, "This message is for someone else"


class AcknowledgementNotNeeded(Problem):
    """This message does not ask for an acknowledgement. Mark it as read instead."""

    code = "notification-acknowledgement-not-needed"
    status, title = 409, "No acknowledgement is needed"


class AcknowledgementOpen(Problem):
    """This message must be acknowledged before it can be dismissed.

    Call `POST /notifications/{notificationId}/acknowledge` first.
    """

    code, status, title = "notification-acknowledgement-open", 409, "Acknowledge this message first"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which of their messages a person looks for; None is no filter."""

    unread: bool | None = None
    acknowledgement_pending: bool = False
    dismissed: bool = False
    topic_code: str | None = None
    about_type: str | None = None
    about_id: UUID | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None


async def list_own(read: Reader, paged: Paged, filters: Filters) -> Slice[Notification]:
    """The caller's feed: messages that are shown in the app."""
    dismissed, read_at = Notification.dismissed_at, Notification.read_at
    statement = select(Notification).where(
        Notification.user_id == read.actor.id,
        Notification.title.is_not(None),
        dismissed.is_not(None) if filters.dismissed else dismissed.is_(None),
    )
    if filters.unread is not None:
        statement = statement.where(read_at.is_(None) if filters.unread else read_at.is_not(None))
    if filters.acknowledgement_pending:
        statement = statement.where(
            Notification.acknowledgement != "none", Notification.acknowledged_at.is_(None)
        )
    if filters.created_from is not None:
        statement = statement.where(Notification.created_at >= filters.created_from)
    if filters.created_to is not None:
        statement = statement.where(Notification.created_at < filters.created_to)
    statement = where_given(
        statement,
        (Notification.topic_code, filters.topic_code),
        (Notification.about["type"].as_string(), filters.about_type),
        (Notification.about["id"].as_string(), filters.about_id and str(filters.about_id)),
    )
    return await read.page(statement, paged, Notification.created_at)


async def deliveries_of(
    read: Reader, messages: Sequence[Notification]
) -> dict[UUID, list[Delivery]]:
    """The deliveries of each message."""
    found: dict[UUID, list[Delivery]] = {one.id: [] for one in messages}
    if found:
        statement = (
            select(Delivery)
            .where(among(Delivery.notification_id, list(found)))
            .order_by(Delivery.channel_kind)
        )
        for one in await read.all(statement, limit=4 * len(found)):
            found[one.notification_id].append(one)
    return found


async def open_message(read: Reader, notification_id: UUID) -> Notification:
    """A message for its recipient, or for somebody who may read the history; that is noted."""
    message = await read.get(Notification, notification_id)
    if is_recipient(read, message):
        return message
    if not await _may_read_history(read, notification_id):
        raise NotRecipient()
    told = {"recipient": str(message.user_id), "topic": message.topic_code}
    await read_audit.tell(
        read, "notification.message.read", ("notification", notification_id), told
    )
    return message


def is_recipient(read: Reader, message: Notification) -> bool:
    """Whether the caller is the person to whom a message is addressed."""
    return message.user_id is not None and message.user_id == read.actor.id


async def mark_read(work: Work, notification_id: UUID) -> Notification:
    """Set the time at which the person read a message, once."""
    message = await _lock_own(work, notification_id)
    message.read_at = message.read_at or work.now
    return await work.save(message)


async def acknowledge(work: Work, notification_id: UUID, *, note: str | None) -> Notification:
    """Confirm a message that asks for it, once."""
    message = await _lock_own(work, notification_id)
    if message.acknowledgement == "none":
        raise AcknowledgementNotNeeded()
    if message.acknowledged_at is not None:
        return message
    message.acknowledged_at, message.acknowledgement_note = work.now, note
    await work.save(message)
    await history.record(work, message, kind="acknowledged", status="acknowledged")
    work.publish(
        public.NotificationAcknowledged(
            organization_id=message.organization_id,
            notification_id=message.id,
            request_id=message.request_id,
            about=about_of(message.about),
            acknowledged_by=work.user_id,
            via="app",
            at=work.now,
        )
    )
    return message


async def dismiss(work: Work, notification_id: UUID) -> Notification:
    """Take a message out of the feed, unless it still must be acknowledged."""
    message = await _lock_own(work, notification_id)
    if message.acknowledgement == "required" and message.acknowledged_at is None:
        raise AcknowledgementOpen()
    message.dismissed_at = message.dismissed_at or work.now
    return await work.save(message)


async def _lock_own(work: Work, notification_id: UUID) -> Notification:
    message = await work.lock(Notification, notification_id)
    if not is_recipient(work, message):
        raise NotRecipient()
    return message


async def _may_read_history(read: Reader, notification_id: UUID) -> bool:
    actor = read.actor
    if actor.id is None or actor.kind is not ActorKind.USER:
        return False
    decided = await read.port(identity.Decisions).check(
        actor=identity.ActorRef(type="user", id=actor.id, session_id=actor.session_id),
        organization_id=read.organization_id,
        action=Permission.HISTORY_READ,
        resource=identity.ResourceRef(type="notification.notification", id=str(notification_id)),
        channel="http",
        request_id=read.origin.request_id,
    )
    return decided.decision == "allow"
