"""Jobs that send deliveries and apply what providers report."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import structlog
from sqlalchemy import select

from thenga.domains.billing.public import Usage, report_use
from thenga.domains.notification.adapters.provider import Unreadable
from thenga.domains.notification.adapters.senders import REPORTERS, Senders
from thenga.domains.notification.jobs.declared import jobs
from thenga.domains.notification.services import delivery, recipients, requests
from thenga.domains.notification.tables import Delivery
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import due
from thenga.kernel.jobs.run import Run

_URGENT = 10  # the priority of the security lane
_BATCH = 500

log = structlog.get_logger()


@jobs.implements(requests.move_delivery)
async def move_delivery(work: Work, *, delivery_id: UUID) -> None:
    """Release, claim or decide a delivery whose time has come."""
    await delivery.run_due_step(work, delivery_id)


jobs.moved[Delivery] = (move_delivery, "delivery_id")


@jobs.every(timedelta(seconds=2))
async def find_to_move_delivery(work: Work) -> None:
    """Find deliveries that are due, the security lane first (NOT-34)."""
    urgent = select(Delivery.organization_id, Delivery.id).where(
        Delivery.next_check_at <= work.now, Delivery.priority >= _URGENT
    )
    first = {(row[0], row[1]) for row in await work.records(urgent.limit(_BATCH))}
    for organization_id, delivery_id in first:
        job = replace(move_delivery, priority=_URGENT)
        work.enqueue(job, organization_id=organization_id, delivery_id=delivery_id)
    for organization_id, delivery_id in await due(work, Delivery, limit=_BATCH):
        if (organization_id, delivery_id) not in first:
            work.enqueue(move_delivery, organization_id=organization_id, delivery_id=delivery_id)


@jobs.implements(delivery.send_delivery)
async def send_delivery(run: Run, *, delivery_id: UUID, fence: int) -> None:
    """Send a claimed delivery. The attempt is written down before the call, so a call that was
    interrupted is not made again."""
    async with run.reading() as read:
        claimed = await delivery.claimed(read, delivery_id, fence=fence)
    if claimed is None:
        return
    named = [claimed.user_id] if claimed.user_id is not None else []
    cards = await recipients.ask_people(run, named) if named else {}
    senders = run.adapter(Senders)
    sender = await senders.of(claimed.provider)
    async with run.working() as work:
        order = await delivery.begin(
            work, delivery_id, fence=fence, cards=cards, is_configured=sender is not None
        )
    if order is None:
        return
    answer = order.simulated
    if answer is None:
        assert sender is not None  # noqa: S101  # otherwise the pipeline has stopped it
        wait = await senders.wait_for_room(
            order.message.to, order.budget, is_proven=order.is_proven
        )
        if wait is not None:
            async with run.working() as work:
                await delivery.postpone(work, order, wait)
            return
        answer = await sender.send(order.message)
    async with run.working() as work:
        await delivery.record(work, order, answer)


@jobs.implements(delivery.meter_attempt)
async def meter_attempt(run: Run, *, attempt_id: UUID) -> None:
    """Report the usage of an attempt. Its ID is the key, so a repeated report counts once."""
    try:
        usage = run.port(Usage)
    except LookupError:
        return
    async with run.reading() as read:
        metered = await delivery.usage_of(read, attempt_id)
    if metered is None:
        return
    code = await report_use(usage, organization_id=metered.organization_id, entry=metered.entry)
    if code is not None:
        log.error("notification.usage.rejected", attempt_id=str(attempt_id), code=code)


@jobs.implements(delivery.apply_callback)
async def apply_callback(run: Run, *, callback_id: UUID) -> None:
    """Apply a callback as the system login, which alone can find its organization."""
    async with run.reading() as read:
        waiting = await delivery.waiting_callback(read, callback_id)
    if waiting is None:
        return
    reporter = REPORTERS[delivery.deployed()[waiting.channel_id].status_from]
    try:
        report = reporter.report(waiting.content)
    except Unreadable:
        report = None
    async with run.working() as work:
        await delivery.apply_report(work, callback_id, report)


@jobs.implements(delivery.match_callbacks)
async def match_callbacks(work: Work, *, channel_id: UUID, provider_message_id: str) -> None:
    """Apply reports that were faster than the answer to their call."""
    await delivery.retry_of_message(work, channel_id, provider_message_id)


@jobs.implements(delivery.suppress_address)
async def suppress_address(work: Work, *, channel_kind: str, fingerprint: str) -> None:
    """Suppress an address that came back."""
    await delivery.suppress_bounced(work, channel_kind=channel_kind, fingerprint=fingerprint)


@jobs.every(timedelta(minutes=1))
async def sweep_unmatched(work: Work) -> None:
    """Try again to match reports with their messages, for a day."""
    await delivery.retry_unmatched(work)


@jobs.every(timedelta(hours=6))
async def purge_callbacks(work: Work) -> None:
    """Delete callbacks after 30 days."""
    await delivery.delete_old(work)
