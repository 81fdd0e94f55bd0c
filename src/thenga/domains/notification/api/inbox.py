"""A person's own messages."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.notification.api.about import AboutView, ReferenceType, TopicCode
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import requests, tenants
from thenga.domains.notification.services.requests import (
    AcknowledgementNotNeeded,
    AcknowledgementOpen,
    Filters,
    NotRecipient,
)
from thenga.domains.notification.services.templates import Acknowledgement, Category, ChannelKind
from thenga.domains.notification.tables import (
    Delivery,
    DeliveryStatus,
    MessageOutcome,
    Notification,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, Note

router = make_router("Notification / Inbox")

NotificationId = Annotated[UUID, Path(alias="notificationId", description="ID of the message.")]


class Acknowledge(Body):
    """Acknowledgement of a message."""

    note: Annotated[Note | None, Field(description="Note for the sender of the message.")] = None


class MessageRecipientView(View):
    """Recipient of a message."""

    kind: Annotated[
        Literal["user", "address"],
        Field(description="`address`: someone without an account, known only by an address."),
    ]
    user_id: UUID | None
    mask: Annotated[str | None, Field(description="Masked address.")]


class AcknowledgementView(View):
    """Whether a message must be acknowledged, and when it was."""

    need: Acknowledgement
    acknowledged_at: datetime | None
    acknowledged_by: Annotated[UUID | None, Field(description="Person who acknowledged it.")]
    via: Annotated[Literal["app"] | None, Field(description="How it was acknowledged.")]
    note: str | None


class DeliverySummaryView(View):
    """Result of a message on one channel."""

    channel_kind: ChannelKind
    status: DeliveryStatus
    reason_code: Annotated[
        str | None, Field(description="Reason it was not sent, is held or did not arrive.")
    ]
    at: Annotated[datetime, Field(description="Time of the last change.")]

    @classmethod
    def of(cls, delivery: Delivery) -> "DeliverySummaryView":
        return cls.model_validate(
            {
                "channel_kind": delivery.channel_kind,
                "status": delivery.status,
                "reason_code": delivery.reason_code,
                "at": delivery.updated_at,
            }
        )


class NotificationView(Stored):
    """One message to one person. Secret facts are never shown in its text."""

    organization_id: UUID
    request_id: UUID
    topic_code: str
    category: Category
    about: AboutView | None
    expires_at: datetime
    deadline_at: datetime | None
    recipient: MessageRecipientView
    title: Annotated[
        str | None, Field(description="Title. Null if the message is not shown in the app.")
    ]
    body: str | None
    language: str | None
    template_key: str
    template_version: int
    content_hash: Annotated[
        str | None, Field(description="SHA-256 of subject and text, without secret facts.")
    ]
    read_at: datetime | None
    dismissed_at: datetime | None
    acknowledgement: AcknowledgementView
    outcome: Annotated[
        MessageOutcome,
        Field(description="Outcome of the deliveries. Reading the message does not change it."),
    ]
    delivery_summary: Annotated[
        list[DeliverySummaryView], Field(description="Result on each channel.")
    ]

    @classmethod
    def of(cls, message: Notification, deliveries: list[Delivery]) -> "NotificationView":
        confirmed = message.acknowledged_at is not None
        values = message.__dict__ | {
            "about": message.about and AboutView.model_validate(message.about),
            "recipient": MessageRecipientView(
                kind="user" if message.user_id else "address",
                user_id=message.user_id,
                mask=message.recipient_mask,
            ),
            "acknowledgement": AcknowledgementView.model_validate(
                {
                    "need": message.acknowledgement,
                    "acknowledged_at": message.acknowledged_at,
                    "acknowledged_by": message.user_id if confirmed else None,
                    "via": "app" if confirmed else None,
                    "note": message.acknowledgement_note,
                }
            ),
            "delivery_summary": [DeliverySummaryView.of(one) for one in deliveries],
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


@router.get("/notifications")
async def list_notifications(
    read: Annotated[Reader, reads(Permission.NOTIFICATION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    unread: Annotated[
        bool | None, Query(description="True for unread messages only, false for read ones.")
    ] = None,
    acknowledgement: Annotated[
        Literal["pending"] | None,
        Query(description="Only messages that you have not acknowledged yet."),
    ] = None,
    dismissed: Annotated[bool, Query(description="Show dismissed messages instead.")] = False,
    topic_code: Annotated[TopicCode | None, Query(alias="topicCode")] = None,
    about_type: Annotated[ReferenceType | None, Query(alias="aboutType")] = None,
    about_id: Annotated[UUID | None, Query(alias="aboutId")] = None,
    created_from: Annotated[Instant | None, Query(alias="createdFrom")] = None,
    created_to: Annotated[Instant | None, Query(alias="createdTo")] = None,
) -> PageOf[NotificationView]:
    """List your own messages in this organization, newest first."""
    filters = Filters(
        unread=unread,
        acknowledgement_pending=acknowledgement == "pending",
        dismissed=dismissed,
        topic_code=topic_code,
        about_type=about_type,
        about_id=about_id,
        created_from=created_from,
        created_to=created_to,
    )
    await tenants.enter_own(read)
    found = await requests.list_own(read, page, filters)
    deliveries = await requests.deliveries_of(read, found.items)
    return PageOf[NotificationView].of(
        found, lambda one: NotificationView.of(one, deliveries[one.id])
    )


@router.get("/notifications/{notificationId}", responses=problems(NotRecipient))
async def get_notification(
    notification_id: NotificationId,
    read: Annotated[Reader, reads(Permission.NOTIFICATION_READ)],
) -> NotificationView:
    """Retrieve a message.

    Reading other people's messages needs `notification:history:read` and is recorded.
    """
    await tenants.enter_own(read)
    return await _shown(read, await requests.open_message(read, notification_id))


@router.post("/notifications/{notificationId}/read", responses=problems(NotRecipient))
async def read_notification(
    notification_id: NotificationId,
    work: Annotated[Work, writes(Permission.NOTIFICATION_UPDATE)],
) -> NotificationView:
    """Mark your message as read. A second call changes nothing."""
    await tenants.enter_own(work)
    return await _shown(work, await requests.mark_read(work, notification_id))


@router.post(
    "/notifications/{notificationId}/acknowledge",
    responses=problems(NotRecipient, AcknowledgementNotNeeded),
)
async def acknowledge_notification(
    notification_id: NotificationId,
    body: Acknowledge,
    work: Annotated[Work, writes(Permission.NOTIFICATION_UPDATE)],
) -> NotificationView:
    """Acknowledge a message that asks for it. A second call changes nothing."""
    await tenants.enter_own(work)
    message = await requests.acknowledge(work, notification_id, note=body.note)
    return await _shown(work, message)


@router.post(
    "/notifications/{notificationId}/dismiss",
    responses=problems(NotRecipient, AcknowledgementOpen),
)
async def dismiss_notification(
    notification_id: NotificationId,
    work: Annotated[Work, writes(Permission.NOTIFICATION_UPDATE)],
) -> NotificationView:
    """Remove a message from your feed. You can still retrieve it by its ID."""
    await tenants.enter_own(work)
    return await _shown(work, await requests.dismiss(work, notification_id))


async def _shown(read: Reader, message: Notification) -> NotificationView:
    deliveries = await requests.deliveries_of(read, [message])
    return NotificationView.of(message, deliveries[message.id])
