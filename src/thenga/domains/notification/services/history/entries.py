"""Entries of the history: written once by `record`, and read by whoever may see all messages."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.notification.tables import HistoryEntry, Notification
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work


@dataclass(frozen=True, slots=True)
class Filters:
    """What a reader of the history looks for; None is no filter."""

    recipient_user_id: UUID | None = None
    topic_code: str | None = None
    channel_kind: str | None = None
    status: str | None = None
    reason_code: str | None = None
    about_type: str | None = None
    about_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


async def record(
    work: Work,
    notification: Notification,
    *,
    kind: str,
    status: str,
    channel_kind: str | None = None,
    reason_code: str | None = None,
    provider: str | None = None,
    provider_message_id: str | None = None,
    at: datetime | None = None,
) -> HistoryEntry:
    """Note one step of a message. Entries hold no text, no address and no fact (NOT-27)."""
    return await work.add(
        HistoryEntry(
            organization_id=notification.organization_id,
            occurred_at=at or work.now,
            kind=kind,
            notification_id=notification.id,
            request_id=notification.request_id,
            recipient_user_id=notification.user_id,
            recipient_mask=notification.recipient_mask,
            topic_code=notification.topic_code,
            about=notification.about,
            channel_kind=channel_kind,
            template_key=notification.template_key,
            template_version=notification.template_version,
            language=notification.language,
            content_hash=notification.content_hash,
            provider=provider,
            provider_message_id=provider_message_id,
            status=status,
            reason_code=reason_code,
        )
    )


async def list_entries(read: Reader, paged: Paged, filters: Filters) -> Slice[HistoryEntry]:
    """The history of the organization."""
    statement = where_given(
        select(HistoryEntry),
        (HistoryEntry.recipient_user_id, filters.recipient_user_id),
        (HistoryEntry.topic_code, filters.topic_code),
        (HistoryEntry.channel_kind, filters.channel_kind),
        (HistoryEntry.status, filters.status),
        (HistoryEntry.reason_code, filters.reason_code),
        (HistoryEntry.about["type"].as_string(), filters.about_type),
        (HistoryEntry.about["id"].as_string(), filters.about_id and str(filters.about_id)),
    )
    if filters.since is not None:
        statement = statement.where(HistoryEntry.occurred_at >= filters.since)
    if filters.until is not None:
        statement = statement.where(HistoryEntry.occurred_at < filters.until)
    return await read.page(statement, paged, HistoryEntry.occurred_at)
