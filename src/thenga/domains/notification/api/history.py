"""The history of messages."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.notification.api.about import AboutView, ReferenceType, TopicCode
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import history
from thenga.domains.notification.services.history import Filters
from thenga.domains.notification.services.recipients import Reason
from thenga.domains.notification.services.templates import ChannelKind
from thenga.domains.notification.tables import DeliveryStatus, HistoryEntry
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Instant

router = make_router("Notification / History")


class HistoryEntryView(View):
    """One step of one message. Entries never change."""

    id: UUID
    occurred_at: datetime
    kind: Annotated[str, Field(description="What happened.")]
    notification_id: UUID
    request_id: UUID
    recipient_user_id: UUID | None
    recipient_mask: Annotated[str | None, Field(description="Masked address.")]
    topic_code: str
    about: AboutView | None
    channel_kind: ChannelKind | None
    template_key: str
    template_version: int
    language: str | None
    content_hash: Annotated[
        str | None, Field(description="SHA-256 of subject and text, without secret facts.")
    ]
    provider: Annotated[str | None, Field(description="Provider that was called.")]
    provider_message_id: str | None
    status: Annotated[str, Field(description="Status after this step.")]
    reason_code: Annotated[
        str | None, Field(description="Reason it was not sent, is held or did not arrive.")
    ]

    @classmethod
    def of(cls, entry: HistoryEntry) -> "HistoryEntryView":
        about = entry.about and AboutView.model_validate(entry.about)
        values = entry.__dict__ | {"about": about}
        return cls.model_validate({name: values[name] for name in cls.model_fields})


@router.get("/notifications/history")
async def list_notification_history(
    read: Annotated[Reader, reads(Permission.HISTORY_READ)],
    page: Annotated[Paged, paged("occurredAt", default="-occurredAt")],
    recipient_user_id: Annotated[UUID | None, Query(alias="recipientUserId")] = None,
    topic_code: Annotated[TopicCode | None, Query(alias="topicCode")] = None,
    channel_kind: Annotated[ChannelKind | None, Query(alias="channelKind")] = None,
    status: Annotated[DeliveryStatus | None, Query(description="Filter by status.")] = None,
    reason_code: Annotated[Reason | None, Query(alias="reasonCode")] = None,
    about_type: Annotated[ReferenceType | None, Query(alias="aboutType")] = None,
    about_id: Annotated[UUID | None, Query(alias="aboutId")] = None,
    since: Annotated[
        Instant | None, Query(alias="from", description="Steps at this time or later.")
    ] = None,
    until: Annotated[Instant | None, Query(alias="to", description="Steps before this time.")] = (
        None
    ),
) -> PageOf[HistoryEntryView]:
    """List the history of the organization's messages, newest first."""
    filters = Filters(
        recipient_user_id=recipient_user_id,
        topic_code=topic_code,
        channel_kind=channel_kind,
        status=status,
        reason_code=reason_code,
        about_type=about_type,
        about_id=about_id,
        since=since,
        until=until,
    )
    found = await history.list_entries(read, page, filters)
    return PageOf[HistoryEntryView].of(found, HistoryEntryView.of)
