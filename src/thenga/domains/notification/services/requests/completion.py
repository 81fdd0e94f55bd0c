"""How a request ends: completed when nothing is open, expired when its time is over."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.notification import public
from thenga.domains.notification.lifecycles import RequestLifecycle
from thenga.domains.notification.services.requests import sealed_parts
from thenga.domains.notification.services.requests.accepting import about_of
from thenga.domains.notification.tables import (
    Delivery,
    DeliveryStatus,
    MessageOutcome,
    Notification,
    Request,
    RequestStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move

Ended = Literal["completed", "partially_completed", "failed", "expired"]

OPEN = (DeliveryStatus.HELD, DeliveryStatus.QUEUED, DeliveryStatus.SENDING)
_REACHED = (DeliveryStatus.DELIVERED, DeliveryStatus.SENT)
_TRIED = (DeliveryStatus.UNDELIVERED, DeliveryStatus.BOUNCED)
_UNFINISHED = (
    RequestStatus.SCHEDULED,
    RequestStatus.ACCEPTED,
    RequestStatus.RESOLVING,
    RequestStatus.DISPATCHING,
)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many people a request addressed, and what became of its deliveries."""

    persons: int
    outcomes: dict[str, int]
    deliveries: dict[str, int]
    not_sent: dict[str, int]  # deliveries that were not sent, by reason

    def of(self, outcome: MessageOutcome) -> int:
        return self.outcomes.get(outcome, 0)


def status_at(request: Request, now: datetime) -> RequestStatus:
    """The status now: a request whose time is over is expired, also before a job has seen it."""
    return RequestStatus.EXPIRED if is_overdue(request, now) else request.status


def is_overdue(request: Request, now: datetime) -> bool:
    """Whether the time of a request is over and nobody has ended it yet."""
    return request.status in _UNFINISHED and request.expires_at <= now


async def counts_of(read: Reader, request_id: UUID) -> Counts:
    """The figures of a request as they are now."""
    outcomes = await read.records(
        select(Notification.outcome, func.count())
        .where(Notification.organization_id == read.organization_id)
        .where(Notification.request_id == request_id)
        .group_by(Notification.outcome)
    )
    rows = await read.records(
        select(Delivery.status, Delivery.reason_code, func.count())
        .where(Delivery.organization_id == read.organization_id)
        .where(Delivery.request_id == request_id)
        .group_by(Delivery.status, Delivery.reason_code)
    )
    deliveries: dict[str, int] = {}
    for status, _, count in rows:
        deliveries[status] = deliveries.get(status, 0) + count
    return Counts(
        persons=sum(count for _, count in outcomes),
        outcomes={one[0]: one[1] for one in outcomes},
        deliveries=deliveries,
        not_sent={why: count for status, why, count in rows if status == DeliveryStatus.NOT_SENT},
    )


def outcome_of(statuses: Iterable[DeliveryStatus]) -> MessageOutcome:
    """What became of a message: the best of its deliveries counts."""
    found = set(statuses)
    if found & {*_REACHED}:
        return MessageOutcome.REACHED
    if found & {*OPEN}:
        return MessageOutcome.PENDING
    return MessageOutcome.NOT_REACHED if found & {*_TRIED} else MessageOutcome.NOT_SENT


async def follow_delivery(work: Work, delivery: Delivery) -> None:
    """Bring message and request to what a delivery has become; call it after every change.

    Rows are locked in one order everywhere: delivery, message, request.
    """
    await follow_in_message(work, delivery)
    request = await work.lock(Request, delivery.request_id, beside=True)
    await complete_if_done(work, request)
    await work.save(request)


async def follow_in_message(work: Work, delivery: Delivery) -> Notification:
    """Set the outcome of a message by all its deliveries."""
    message = await work.lock(Notification, delivery.notification_id, beside=True)
    rows = await work.all(
        select(Delivery).where(Delivery.notification_id == delivery.notification_id)
    )
    others = [one.status for one in rows if one.id != delivery.id]
    message.outcome = outcome_of([*others, delivery.status])
    return await work.save(message)


async def complete_if_done(work: Work, request: Request) -> None:
    """End a dispatched request of which nothing is open; the caller has it locked and saves it."""
    if request.status is RequestStatus.DISPATCHING and not await has_open(work, request.id):
        counts = await counts_of(work, request.id)
        await end(work, request, _ending(counts), counts)


async def has_open(read: Reader, request_id: UUID) -> bool:
    """Whether a delivery of the request can still be sent."""
    statement = (
        select(Delivery.id)
        .where(Delivery.organization_id == read.organization_id)
        .where(Delivery.request_id == request_id)
        .where(among(Delivery.status, OPEN))
    )
    return bool(await read.values(statement, limit=1))


def _ending(counts: Counts) -> Move:
    """By the people whom we tried to reach: none, some or all of them were not reached."""
    if not counts.of(MessageOutcome.NOT_REACHED):
        return RequestLifecycle.complete
    if counts.of(MessageOutcome.REACHED):
        return RequestLifecycle.complete_in_part
    return RequestLifecycle.fail


async def end(work: Work, request: Request, move: Move, counts: Counts) -> None:
    """Make the last move of a request, forget its secrets and publish its counts."""
    move(request, at=work.now)
    request.completed_at, request.next_check_at = work.now, None
    sealed_parts.forget(request)
    await work.save(request)
    ended: Ended = request.status.value  # type: ignore[assignment]  # a last move leads there
    work.publish(
        public.NotificationRequestCompleted(
            organization_id=request.organization_id,
            request_id=request.id,
            topic_code=request.topic_code,
            about=about_of(request.about),
            status=ended,
            counts=public.RequestCounts(
                persons=counts.persons,
                reached=counts.of(MessageOutcome.REACHED),
                not_reached=counts.of(MessageOutcome.NOT_REACHED),
                not_sent=counts.of(MessageOutcome.NOT_SENT),
            ),
        )
    )
