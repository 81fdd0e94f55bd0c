"""What time does to a request: releases it, has a lost batch planned again, and expires it."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.notification.lifecycles import DeliveryLifecycle, RequestLifecycle
from thenga.domains.notification.services import history, templates
from thenga.domains.notification.services.recipients import Reason
from thenga.domains.notification.services.requests import accepting, completion, planning
from thenga.domains.notification.services.requests.deliveries import publish_failed
from thenga.domains.notification.tables import (
    Delivery,
    DeliveryStatus,
    Request,
    RequestStatus,
)
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work

_MOST = 200  # deliveries stopped in one transaction
_STOPPED = (DeliveryStatus.HELD, DeliveryStatus.QUEUED)
_PLANNED = (RequestStatus.ACCEPTED, RequestStatus.RESOLVING)


async def run_due_steps(work: Work, request_id: UUID) -> None:
    """Do what is due of a request now."""
    request = await work.get(Request, request_id)
    if completion.is_overdue(request, work.now):
        await _expire(work, request)
        return
    request = await work.lock(Request, request_id)
    if request.next_check_at is None or request.next_check_at > work.now:
        return
    if request.status is RequestStatus.SCHEDULED:
        RequestLifecycle.release(request, at=work.now)
    if request.status in _PLANNED:
        accepting.plan(work, request, planning.next_batch(request))
        request.next_check_at = min(work.now + accepting.PLAN_AGAIN, request.expires_at)
    await work.save(request)


async def _expire(work: Work, seen: Request) -> None:
    """Stop what was not sent, then end the request; what is being sent is waited for."""
    waiting = await work.values(
        select(Delivery.id)
        .where(Delivery.organization_id == work.organization_id)
        .where(Delivery.request_id == seen.id, among(Delivery.status, _STOPPED))
        .order_by(Delivery.id),
        limit=_MOST,
    )
    # All deliveries before any message: whoever sends locks them in the same order.
    locked = [await work.lock(Delivery, one, beside=True) for one in waiting]
    for delivery in locked:
        if delivery.status in _STOPPED:
            await _stop(work, seen, delivery)
    request = await work.lock(Request, seen.id)
    if not completion.is_overdue(request, work.now):
        return
    if await completion.has_open(work, seen.id):
        request.next_check_at = work.now + accepting.PLAN_AGAIN
        if len(waiting) == _MOST:
            request.next_check_at = work.now
        await work.save(request)
        return
    counts = await completion.counts_of(work, seen.id)
    await completion.end(work, request, RequestLifecycle.expire, counts)


async def _stop(work: Work, request: Request, delivery: Delivery) -> None:
    DeliveryLifecycle.stop(delivery, at=work.now)
    delivery.reason_code, delivery.next_check_at = Reason.EXPIRED, None
    await work.save(delivery)
    if templates.topics()[request.topic_code].mandatory:
        publish_failed(work, request, delivery)
    message = await completion.follow_in_message(work, delivery)
    await history.record(
        work,
        message,
        kind="not_sent",
        status=delivery.status,
        channel_kind=delivery.channel_kind,
        reason_code=Reason.EXPIRED,
    )
