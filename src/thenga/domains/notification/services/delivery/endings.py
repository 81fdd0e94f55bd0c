"""How a delivery ends: its status, events, history, and the next channel if one is owed."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.notification import public
from thenga.domains.notification.lifecycles import DeliveryLifecycle
from thenga.domains.notification.services import history, requests, templates
from thenga.domains.notification.services.recipients import Reason
from thenga.domains.notification.services.templates import ChannelKind, Topic
from thenga.domains.notification.tables import (
    Attempt,
    Certainty,
    Delivery,
    DeliveryStatus,
    Notification,
    Request,
)
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import Move

suppress_address = job_stub(
    "notification.suppress_address",
    form=Form.QUEUED,
    key="{channel_kind}:{fingerprint}",
    as_system=True,
)

# A message that could not even be addressed is owed by the next channel.
_UNREACHABLE = (
    Reason.NO_ADDRESS,
    Reason.ADDRESS_SUPPRESSED_BOUNCE,
    Reason.CHANNEL_NOT_CONFIGURED,
)
_FAILED = (DeliveryStatus.UNDELIVERED, DeliveryStatus.BOUNCED)


async def end_sent(
    work: Work, delivery: Delivery, *, certainty: Certainty, attempt: Attempt
) -> None:
    """A provider took the message, or may have."""
    DeliveryLifecycle.record(delivery, at=work.now)
    delivery.certainty = certainty
    delivery.reason_code = Reason.OUTCOME_UNKNOWN if certainty is Certainty.UNKNOWN else None
    notification = await _save(work, delivery, kind="sent", attempt=attempt)
    if _topic(notification).lane != "bulk":
        event = public.NotificationSent(
            **_facts(work, delivery, notification), certainty=certainty.value
        )
        work.publish(event)
    await requests.follow_delivery(work, delivery)


async def end_delivered(
    work: Work, delivery: Delivery, *, assurance: str, attempt: Attempt
) -> None:
    """A provider reports that the message arrived."""
    DeliveryLifecycle.confirm(delivery, at=work.now)
    delivery.certainty, delivery.reason_code = Certainty.KNOWN, None
    notification = await _save(work, delivery, kind="delivered", attempt=attempt)
    if _topic(notification).lane != "bulk":
        event = public.NotificationDelivered.model_validate(
            _facts(work, delivery, notification) | {"assurance": assurance}
        )
        work.publish(event)
    await requests.follow_delivery(work, delivery)


async def end_failed(
    work: Work,
    delivery: Delivery,
    *,
    reason: Reason,
    move: Move = DeliveryLifecycle.fail,
    attempt: Attempt | None = None,
) -> None:
    """The message did not reach the person by this channel (NOT-9, NOT-21)."""
    move(delivery, at=work.now)
    delivery.reason_code, delivery.held_until = reason, None
    is_stop = delivery.status is DeliveryStatus.NOT_SENT
    kind = "not_sent" if is_stop else "failed"
    notification = await _save(work, delivery, kind=kind, attempt=attempt)
    topic = _topic(notification)
    fallback = None
    if not is_stop or reason in _UNREACHABLE:
        fallback = await _fall_back(work, delivery, notification, topic)
    if not is_stop or topic.mandatory:
        event = public.NotificationFailed(
            **_facts(work, delivery, notification),
            reason_code=reason.value,
            attempts=delivery.attempts,
            fallback_channel=fallback,
        )
        work.publish(event)
    await requests.follow_delivery(work, delivery)


async def _fall_back(
    work: Work, failed: Delivery, notification: Notification, topic: Topic
) -> ChannelKind | None:
    """Queue the next of the minimum channels; None if none is left.

    A secret goes only to the address it was asked for (NOT-27).
    """
    request = await work.get(Request, failed.request_id)
    if not topic.mandatory or notification.user_id is None or request.sealed_facts is not None:
        return None
    if failed.channel_kind not in topic.minimum_channels:
        return None
    siblings = {one.channel_kind: one for one in await siblings_of(work, failed)}
    place = [*topic.minimum_channels].index(failed.channel_kind)
    for kind in topic.minimum_channels[place + 1 :]:
        other = siblings.get(kind)
        if other is None:
            await _queue_new(work, failed, kind)
            return kind
        if other.status is DeliveryStatus.NOT_SENT and other.reason_code not in _UNREACHABLE:
            await _queue_again(work, other.id)
            return kind
        if other.status not in (*_FAILED, DeliveryStatus.NOT_SENT):
            return None  # this channel is already on its way
    return None


async def _queue_new(work: Work, failed: Delivery, kind: ChannelKind) -> None:
    await work.add(
        Delivery(
            organization_id=work.organization_id,
            notification_id=failed.notification_id,
            request_id=failed.request_id,
            channel_kind=kind,
            status=DeliveryStatus.QUEUED,
            priority=failed.priority,
            expires_at=failed.expires_at,
            decisions=[_change(work)],
            next_check_at=work.now,
        )
    )


async def _queue_again(work: Work, delivery_id: UUID) -> None:
    """A channel that was switched off takes over from the one that failed."""
    other = await work.lock(Delivery, delivery_id, beside=True)
    if other.status is not DeliveryStatus.NOT_SENT:
        return
    DeliveryLifecycle.take_over(other, at=work.now)
    other.reason_code, other.next_check_at = None, work.now
    other.decisions = [*other.decisions, _change(work)]
    await work.save(other)


def _change(work: Work) -> dict[str, str | None]:
    return {
        "step": "channel",
        "outcome": "change",
        "reasonCode": None,
        "rule": "NOT-9",
        "at": work.now.isoformat(),
    }


async def siblings_of(read: Reader, delivery: Delivery) -> list[Delivery]:
    """The other deliveries of the same message."""
    return await read.all(
        select(Delivery).where(
            Delivery.organization_id == read.organization_id,
            Delivery.notification_id == delivery.notification_id,
            Delivery.id != delivery.id,
        )
    )


def channels_that_failed(deliveries: Iterable[Delivery]) -> set[str]:
    """Channels on which the message cannot reach the person any more."""
    return {
        one.channel_kind
        for one in deliveries
        if one.status in _FAILED or one.reason_code in _UNREACHABLE
    }


def suppress(work: Work, delivery: Delivery, attempt: Attempt) -> None:
    """Have the address of an attempt suppressed for every organization, by the system login."""
    mark = attempt.address_fingerprint
    if mark is not None and attempt.provider != "sandbox":
        work.enqueue(suppress_address, channel_kind=delivery.channel_kind, fingerprint=mark)


async def _save(
    work: Work, delivery: Delivery, *, kind: str, attempt: Attempt | None
) -> Notification:
    delivery.next_check_at = None
    await work.save(delivery)
    notification = await work.get(Notification, delivery.notification_id)
    await history.record(
        work,
        notification,
        kind=kind,
        status=delivery.status,
        channel_kind=delivery.channel_kind,
        reason_code=delivery.reason_code,
        provider=None if attempt is None else attempt.provider,
        provider_message_id=None if attempt is None else attempt.provider_message_id,
    )
    return notification


def _topic(notification: Notification) -> Topic:
    return templates.topics()[notification.topic_code]


def _facts(work: Work, delivery: Delivery, notification: Notification) -> dict[str, Any]:
    about = notification.about
    return {
        "organization_id": work.organization_id,
        "delivery_id": delivery.id,
        "notification_id": notification.id,
        "request_id": notification.request_id,
        "channel_kind": delivery.channel_kind,
        "topic_code": notification.topic_code,
        "about": requests.about_of(about),
        "at": work.now,
    }


def is_of_platform(organization_id: UUID) -> bool:
    """Whether the platform itself sends, to whomever it concerns."""
    return organization_id == OPERATOR
