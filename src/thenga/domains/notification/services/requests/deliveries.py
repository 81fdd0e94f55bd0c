"""The deliveries of a planned message, each with the decisions that made it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from thenga.domains.notification import public
from thenga.domains.notification.lifecycles import DeliveryLifecycle
from thenga.domains.notification.services import history, recipients
from thenga.domains.notification.services.recipients import Person, Verdict
from thenga.domains.notification.services.requests.accepting import about_of
from thenga.domains.notification.services.templates import ChannelKind, Topic
from thenga.domains.notification.tables import Delivery, DeliveryStatus, Notification, Request
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.values.ids import new_id

move_delivery = job_stub("notification.move_delivery", form=Form.QUEUED, key="{delivery_id}")

_FIRST = {"security": 10}  # lanes that do not wait behind others
_STEPS = {
    DeliveryStatus.DELIVERED: "delivered",
    DeliveryStatus.QUEUED: "planned",
    DeliveryStatus.HELD: "planned",
    DeliveryStatus.NOT_SENT: "not_sent",
}


async def add_deliveries(
    work: Work,
    request: Request,
    topic: Topic,
    message: Notification,
    person: Person,
    verdicts: Mapping[ChannelKind, Verdict],
) -> None:
    """One delivery for each channel; the inbox has the message with this commit."""
    made: dict[ChannelKind, Delivery] = {}
    for channel, verdict in verdicts.items():
        delivery = _delivery(work, request, message, channel, verdict)
        _add_address(work, delivery, channel, person)
        _move(work, delivery, channel, verdict)
        made[channel] = await work.add(delivery)
        _send_at_once(work, delivery)
        await history.record(
            work,
            message,
            kind=_STEPS[delivery.status],
            status=delivery.status,
            channel_kind=channel,
            reason_code=delivery.reason_code,
        )
    _publish(work, request, topic, made)


def _delivery(
    work: Work, request: Request, message: Notification, channel: ChannelKind, verdict: Verdict
) -> Delivery:
    return Delivery(
        id=new_id(),
        organization_id=request.organization_id,
        notification_id=message.id,
        request_id=request.id,
        channel_kind=channel,
        status=DeliveryStatus.QUEUED,
        reason_code=verdict.reason,
        priority=_FIRST.get(request.lane, 0),
        held_until=verdict.held_until,
        expires_at=request.expires_at,
        decisions=recipients.to_json(verdict.decisions, work.now),
        next_check_at=work.now,
    )


def _add_address(work: Work, delivery: Delivery, channel: ChannelKind, person: Person) -> None:
    """A mask and a fingerprint; the address itself is read when the message is sent (NOT-5)."""
    address = person.addresses.get(channel)
    if address is not None:
        delivery.address_mask = recipients.mask(channel, address)
        delivery.address_fingerprint = recipients.address_fingerprint(work.host, channel, address)


def _move(work: Work, delivery: Delivery, channel: ChannelKind, verdict: Verdict) -> None:
    if verdict.verdict == "stop":
        DeliveryLifecycle.stop(delivery, at=work.now)
        delivery.next_check_at = None
    elif verdict.held_until is not None:
        DeliveryLifecycle.hold(delivery, at=work.now)
        delivery.next_check_at = recipients.release_at(verdict.held_until, delivery.id)
    elif channel == "in_app":
        DeliveryLifecycle.confirm(delivery, at=work.now)
        delivery.next_check_at = None


def _send_at_once(work: Work, delivery: Delivery) -> None:
    """A code that somebody waits for does not wait for the next search for what is due."""
    if delivery.priority and delivery.status is DeliveryStatus.QUEUED:
        job = replace(move_delivery, priority=delivery.priority)
        work.enqueue(job, delivery_id=delivery.id)


def _publish(
    work: Work, request: Request, topic: Topic, made: Mapping[ChannelKind, Delivery]
) -> None:
    """Tell of the inbox, except in bulk (NOT-36), and of a legal minimum that fails (NOT-9)."""
    inbox = made.get("in_app")
    if inbox and inbox.status is DeliveryStatus.DELIVERED and request.lane != "bulk":
        common = _event_fields(work, request, inbox)
        work.publish(public.NotificationDelivered(**common, assurance="internal"))
    if not topic.mandatory:
        return
    least = [made[one] for one in topic.minimum_channels if one in made]
    if least and all(one.status is DeliveryStatus.NOT_SENT for one in least):
        publish_failed(work, request, least[0])


def publish_failed(work: Work, request: Request, delivery: Delivery) -> None:
    """Tell of a delivery that is not sent although it must be."""
    work.publish(
        public.NotificationFailed(
            **_event_fields(work, request, delivery),
            reason_code=delivery.reason_code or "",
            attempts=delivery.attempts,
            fallback_channel=None,
        )
    )


def _event_fields(work: Work, request: Request, delivery: Delivery) -> dict[str, Any]:
    return {
        "organization_id": request.organization_id,
        "delivery_id": delivery.id,
        "notification_id": delivery.notification_id,
        "request_id": request.id,
        "channel_kind": delivery.channel_kind,
        "topic_code": request.topic_code,
        "about": about_of(request.about),
        "at": work.now,
    }
