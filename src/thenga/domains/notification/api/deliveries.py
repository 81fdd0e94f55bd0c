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
    """Report of a provider about an attempt."""

    received_at: Annotated[datetime, Field(description="When the report arrived.")]
    occurred_at: Annotated[
        datetime | None, Field(description="When it happened, by the provider's clock.")
    ]
    provider_status: Annotated[str, Field(description="Status as named by the provider.")]
    assurance: Annotated[
        Literal["signed", "shared_secret", "polled"],
        Field(description="How the report was verified."),
    ]
    effect: Annotated[
        Literal["applied", "same", "stale"],
        Field(description="Effect of the report. `stale`: a newer report arrived first."),
    ]


class AttemptView(View):
    """One call to a provider."""

    number: Annotated[int, Field(description="Number of the attempt, from 1.")]
    provider: Annotated[str, Field(description="Provider that was called.")]
    started_at: Annotated[datetime, Field(description="When the call began.")]
    finished_at: Annotated[
        datetime | None, Field(description="When its outcome was recorded. Null while in progress.")
    ]
    outcome: Annotated[
        AttemptOutcome | None,
        Field(description="Provider's response. `unknown`: it may have sent the message."),
    ]
    provider_message_id: Annotated[
        str | None,
        Field(description="The provider's message ID. Recipients see null."),
    ]
    provider_code: Annotated[
        str | None, Field(description="The provider's code. Recipients see null.")
    ]
    provider_text: Annotated[
        str | None,
        Field(description="The provider's text, without addresses. Recipients see null."),
    ]
    reports: Annotated[
        list[ReportView], Field(description="Later reports of the provider, oldest first.")
    ]


class DecisionView(View):
    """Decision of one step of the pipeline."""

    step: Annotated[str, Field(description="Step of the pipeline.")]
    outcome: Annotated[
        Literal["pass", "hold", "stop", "change"], Field(description="Decision of the step.")
    ]
    reason_code: Annotated[str | None, Field(description="Reason code. Null if it passed.")]
    rule: Annotated[str | None, Field(description="Rule behind the decision, such as `NOT-9`.")]
    at: Annotated[datetime, Field(description="Time of the decision.")]


class DeliveryView(Stored):
    """A message on one channel."""

    notification_id: Annotated[UUID, Field(description="ID of the message.")]
    channel_kind: Annotated[
        Literal["in_app", "email", "sms"], Field(description="Kind of channel.")
    ]
    status: Annotated[DeliveryStatus, Field(description="Status of the delivery.")]
    reason_code: Annotated[
        str | None, Field(description="Reason it is held, failed or was not sent. Otherwise null.")
    ]
    held_until: Annotated[
        datetime | None, Field(description="Time until which it is held for quiet hours.")
    ]
    expires_at: Annotated[datetime, Field(description="Time after which it is no longer sent.")]
    address_mask: Annotated[str | None, Field(description="Masked address it was sent to.")]
    certainty: Annotated[
        Certainty,
        Field(
            description="`unknown` if the provider did not confirm that it accepted the message."
        ),
    ]
    decisions: Annotated[list[DecisionView], Field(description="Decisions of the last check.")]
    attempts: Annotated[list[AttemptView], Field(description="Calls to the provider, in order.")]


class DeliveriesView(View):
    """The deliveries of a message, one for each channel."""

    items: Annotated[list[DeliveryView], Field(description="Deliveries, oldest first.")]


@router.get("/notifications/{notificationId}/deliveries", responses=problems(NotRecipient))
async def list_deliveries(
    notification_id: NotificationId,
    read: Annotated[Reader, reads(Permission.DELIVERY_READ)],
) -> DeliveriesView:
    """List the deliveries of a message by channel, with attempts, provider reports and decisions.
    Recipients see their own messages; other people's messages need the permission to read the
    history."""
    found = await delivery.deliveries_of(read, notification_id)
    return DeliveriesView(items=[_view(one, is_own=found.is_own) for one in found.items])


def _view(found: Delivered, *, is_own: bool) -> DeliveryView:
    attempts = [_attempt(one, is_own=is_own) for one in found.attempts]
    return DeliveryView.model_validate(found.delivery.__dict__ | {"attempts": attempts})


def _attempt(attempt: Attempt, *, is_own: bool) -> dict[str, Any]:
    """The recipient is not shown what the provider wrote."""
    hidden = ("provider_message_id", "provider_code", "provider_text") if is_own else ()
    return attempt.__dict__ | dict.fromkeys(hidden)
