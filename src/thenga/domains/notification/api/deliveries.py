"""How a message was delivered."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.notification.api.inbox import NotificationId
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import delivery
from thenga.domains.notification.services.delivery import Delivered
from thenga.domains.notification.services.requests import NotRecipient
from thenga.domains.notification.tables import (
    Attempt,
    AttemptOutcome,
    Certainty,
    DeliveryStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.reference import problems

router = make_router("Notification / Inbox")


class ReportView(View):
    """What a provider reported about an attempt."""

    received_at: Annotated[datetime, Field(description="When we received it.")]
    occurred_at: Annotated[
        datetime | None, Field(description="When it happened, by the provider's clock.")
    ]
    provider_status: Annotated[str, Field(description="Status as the provider names it.")]
    assurance: Annotated[
        Literal["signed", "shared_secret", "polled"],
        Field(description="How the report was verified."),
    ]
    effect: Annotated[
        Literal["applied", "same", "stale"],
        Field(description="What it changed. An older report than one before is `stale`."),
    ]


class AttemptView(View):
    """One call to a provider."""

    number: Annotated[int, Field(description="Number of the attempt, from 1.")]
    provider: Annotated[str, Field(description="Provider that was called.")]
    started_at: Annotated[datetime, Field(description="When the call began.")]
    finished_at: Annotated[
        datetime | None, Field(description="When its outcome was recorded. Null while it runs.")
    ]
    outcome: Annotated[
        AttemptOutcome | None,
        Field(description="How the provider answered. `unknown`: it may have sent the message."),
    ]
    provider_message_id: Annotated[
        str | None, Field(description="The provider's ID. Null for the recipient.")
    ]
    provider_code: Annotated[
        str | None, Field(description="The provider's code. Null for the recipient.")
    ]
    provider_text: Annotated[
        str | None,
        Field(description="What the provider wrote, without addresses. Null for the recipient."),
    ]
    reports: Annotated[
        list[ReportView], Field(description="What the provider reported later, oldest first.")
    ]


class DecisionView(View):
    """What one step of the pipeline decided."""

    step: Annotated[str, Field(description="Step of the pipeline.")]
    outcome: Annotated[
        Literal["pass", "hold", "stop", "change"], Field(description="What the step decided.")
    ]
    reason_code: Annotated[str | None, Field(description="Reason code. Null if it passed.")]
    rule: Annotated[str | None, Field(description="Rule that decided, such as `NOT-9`.")]
    at: Annotated[datetime, Field(description="When it was decided.")]


class DeliveryView(Stored):
    """A message on one channel."""

    notification_id: Annotated[UUID, Field(description="The message.")]
    channel_kind: Annotated[
        Literal["in_app", "email", "sms"], Field(description="Kind of channel.")
    ]
    status: Annotated[DeliveryStatus, Field(description="Status of the delivery.")]
    reason_code: Annotated[
        str | None, Field(description="Why it waits, failed or was not sent. Otherwise null.")
    ]
    held_until: Annotated[
        datetime | None, Field(description="Until when it waits for quiet hours to end.")
    ]
    expires_at: Annotated[datetime, Field(description="When it is too late to send it.")]
    address_mask: Annotated[str | None, Field(description="Address it was sent to, mostly hidden.")]
    certainty: Annotated[
        Certainty,
        Field(description="`unknown` if the provider did not confirm that it took the message."),
    ]
    decisions: Annotated[
        list[DecisionView], Field(description="What the steps decided when it was last checked.")
    ]
    attempts: Annotated[list[AttemptView], Field(description="Calls to the provider, in order.")]


class DeliveriesView(View):
    """The deliveries of a message, one for each channel."""

    items: Annotated[list[DeliveryView], Field(description="Deliveries, oldest first.")]


@router.get("/notifications/{notificationId}/deliveries", responses=problems(NotRecipient))
async def list_deliveries(
    notification_id: NotificationId,
    read: Annotated[Reader, reads(Permission.DELIVERY_READ)],
) -> DeliveriesView:
    """List how a message was delivered: each channel with its attempts, the provider's reports
    and the decisions. Recipients see their own messages; other messages need the permission to
    read the history."""
    found = await delivery.deliveries_of(read, notification_id)
    return DeliveriesView(items=[_view(one, is_own=found.is_own) for one in found.items])


def _view(found: Delivered, *, is_own: bool) -> DeliveryView:
    attempts = [_attempt(one, is_own=is_own) for one in found.attempts]
    return DeliveryView.model_validate(found.delivery.__dict__ | {"attempts": attempts})


def _attempt(attempt: Attempt, *, is_own: bool) -> dict[str, Any]:
    """The recipient is not shown what the provider wrote."""
    hidden = ("provider_message_id", "provider_code", "provider_text") if is_own else ()
    return attempt.__dict__ | dict.fromkeys(hidden)
