"""What providers report: stored on receipt, applied later, each once and in any order (NOT-33)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from uuid import UUID

import structlog
from sqlalchemy import select

from thenga.domains.notification.lifecycles import DeliveryLifecycle
from thenga.domains.notification.services import recipients
from thenga.domains.notification.services.delivery import channels, endings
from thenga.domains.notification.services.recipients import Reason
from thenga.domains.notification.tables import (
    Attempt,
    AttemptOutcome,
    CallbackState,
    Certainty,
    Delivery,
    DeliveryStatus,
    ProviderCallback,
)
from thenga.domains.notification.values.messages import Report
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.values.ids import new_id

log = structlog.get_logger()

Effect = Literal["applied", "same", "stale"]

_OPEN = (CallbackState.STORED, CallbackState.UNMATCHED)
# An answer that is still on its way is recorded by then.
_ANSWERED_WITHIN = timedelta(minutes=1)
_MATCHED_WITHIN = timedelta(hours=24)
_STORED_FOR = timedelta(days=30)
_MOST_REPORTS = 50

# What is reported only ever moves a delivery up, so every order of reports ends alike.
RANKS: dict[str, int] = {
    DeliveryStatus.QUEUED: 10,
    DeliveryStatus.SENDING: 10,
    DeliveryStatus.SENT: 20,
    DeliveryStatus.UNDELIVERED: 30,
    DeliveryStatus.DELIVERED: 40,
    DeliveryStatus.BOUNCED: 50,
}

# No conflict target, because the login can insert but not read.
_RECEIVE = """
    INSERT INTO notification.provider_callback (id, created_at, updated_at, version, channel_id,
        dedup_key, received_at, provider_message_id, sealed_content, state)
    VALUES ($1, $2, $2, 1, $3, $4, $2, $5, $6, 'stored')
    ON CONFLICT DO NOTHING
"""
_PURGE = "DELETE FROM notification.provider_callback WHERE received_at < $1"

apply_callback = job_stub(
    "notification.apply_callback", form=Form.OUTSIDE, key="{callback_id}", as_system=True
)
match_callbacks = job_stub(
    "notification.match_callbacks",
    form=Form.QUEUED,
    key="{channel_id}:{provider_message_id}",
    as_system=True,
)


@dataclass(frozen=True, slots=True)
class Received:
    """A verified callback before it is stored."""

    channel_id: UUID
    dedup_key: str
    provider_message_id: str | None
    content: bytes


@dataclass(frozen=True, slots=True)
class Waiting:
    """A stored callback that is not applied yet."""

    channel_id: UUID
    content: bytes


async def receive_callback(work: Work, call: Received) -> None:
    """Store a callback with its job. One that came before changes nothing."""
    made = new_id()
    content = sealed.seal(work.host, ProviderCallback, "sealed_content", call.content, id=made)
    columns = (call.channel_id, call.dedup_key, call.provider_message_id, content)
    if await work.run(_RECEIVE, made, work.now, *columns) == "INSERT 0 1":
        work.enqueue(apply_callback, callback_id=made)


async def waiting_callback(read: Reader, callback_id: UUID) -> Waiting | None:
    """The callback for the job that reads and applies it."""
    callback = await read.find(ProviderCallback, id=callback_id)
    if callback is None or callback.state not in _OPEN or callback.sealed_content is None:
        return None
    content = sealed.unseal(read.host, callback, "sealed_content")
    return Waiting(callback.channel_id, content)


async def apply_report(work: Work, callback_id: UUID, report: Report | None) -> None:
    """Apply a report under the lock of its delivery. None if it could not be read."""
    callback = await work.lock(ProviderCallback, callback_id)
    if callback.state not in _OPEN:
        return
    attempt = None if report is None else await _attempt_of(work, callback, report)
    if report is None or attempt is None:
        _wait_or_give_up(work, callback, is_readable=report is not None)
        await work.save(callback)
        return
    ahead = await clock_offset(work.host, work.domain, attempt.organization_id)
    await work.enter_organization(attempt.organization_id, ahead=ahead)
    delivery = await work.lock(Delivery, attempt.delivery_id, beside=True)
    attempt = await work.lock(Attempt, attempt.id, beside=True)
    if _is_addressed(work, delivery, attempt, report):
        attempt.provider_message_id = report.provider_message_id
        await _apply(work, callback, delivery, attempt, report)
        callback.state = CallbackState.APPLIED
    else:
        callback.state = CallbackState.MISMATCHED
        log.error("notification.callback.mismatched", callback_id=str(callback.id))
    callback.try_again_at = None
    await work.save(callback)


async def _attempt_of(work: Work, callback: ProviderCallback, report: Report) -> Attempt | None:
    found = await work.find(
        Attempt,
        channel_id=callback.channel_id,
        provider_message_id=report.provider_message_id,
    )
    return found or await _attempt_without_answer(work, callback, report)


async def _attempt_without_answer(
    work: Work, callback: ProviderCallback, report: Report
) -> Attempt | None:
    """The provider took a message and its answer was lost: the address tells which one, if only
    one message can be meant."""
    if callback.received_at > work.now - _ANSWERED_WITHIN or report.address is None:
        return None
    kind = channels.deployed()[callback.channel_id].channel_kind
    lost = select(Attempt).where(
        Attempt.channel_id == callback.channel_id,
        Attempt.outcome == AttemptOutcome.UNKNOWN,
        Attempt.provider_message_id.is_(None),
        Attempt.address_fingerprint
        == recipients.address_fingerprint(work.host, kind, report.address),
        Attempt.started_at <= callback.received_at,
        Attempt.started_at > callback.received_at - _MATCHED_WITHIN,
    )
    found = await work.all(lost.order_by(Attempt.number), limit=10)
    return found[0] if len({one.delivery_id for one in found}) == 1 else None


def _wait_or_give_up(work: Work, callback: ProviderCallback, *, is_readable: bool) -> None:
    """A report may be faster than the answer to its call, so it waits for a day."""
    if is_readable and callback.received_at > work.now - _MATCHED_WITHIN:
        callback.state = CallbackState.UNMATCHED
        callback.try_again_at = work.now + _ANSWERED_WITHIN
        return
    callback.state, callback.try_again_at = CallbackState.ORPHANED, None
    log.warning("notification.callback.orphaned", callback_id=str(callback.id))


def _is_addressed(work: Work, delivery: Delivery, attempt: Attempt, report: Report) -> bool:
    """Whether the report names the address that the attempt was sent to."""
    kind = channels.deployed()[attempt.channel_id].channel_kind
    named = {report.address, report.address.lower()} if report.address else set()
    prints = {recipients.address_fingerprint(work.host, kind, one) for one in named}
    return attempt.address_fingerprint in prints


async def _apply(
    work: Work, callback: ProviderCallback, delivery: Delivery, attempt: Attempt, report: Report
) -> None:
    effect = effect_of(delivery.status, report)
    entry = {
        "receivedAt": callback.received_at.isoformat(),
        "occurredAt": report.occurred_at and report.occurred_at.isoformat(),
        "providerStatus": report.provider_status,
        "assurance": "signed",
        "effect": effect,
    }
    attempt.reports = [*attempt.reports, entry][-_MOST_REPORTS:]
    attempt.provider_code = report.code or attempt.provider_code
    await work.save(attempt)
    if effect == "applied":
        await _move(work, delivery, attempt, report)
    if report.address_is_bad:
        endings.suppress(work, delivery, attempt)


def effect_of(status: DeliveryStatus, report: Report) -> Effect:
    """What a report does to a delivery in this status."""
    if report.status is None:
        return "same"
    reported, current = RANKS[report.status], RANKS.get(status)
    if current is None or reported < current:
        return "stale"
    return "applied" if reported > current else "same"


async def _move(work: Work, delivery: Delivery, attempt: Attempt, report: Report) -> None:
    match report.status:
        case "sent":
            await endings.end_sent(work, delivery, certainty=Certainty.KNOWN, attempt=attempt)
        case "delivered":
            await endings.end_delivered(work, delivery, assurance="signed", attempt=attempt)
        case "undelivered":
            reason = Reason.PROVIDER_REJECTED
            await endings.end_failed(work, delivery, reason=reason, attempt=attempt)
        case "bounced":
            await endings.end_failed(
                work,
                delivery,
                reason=Reason.ADDRESS_INVALID
                if report.address_is_bad
                else Reason.PROVIDER_REJECTED,
                move=DeliveryLifecycle.bounce,
                attempt=attempt,
            )


async def retry_of_message(work: Work, channel_id: UUID, provider_message_id: str) -> None:
    """Apply reports that came before the answer to their call."""
    waiting = select(ProviderCallback.id).where(
        ProviderCallback.channel_id == channel_id,
        ProviderCallback.provider_message_id == provider_message_id,
        ProviderCallback.state == CallbackState.UNMATCHED,
    )
    for callback_id in await work.values(waiting):
        work.enqueue(apply_callback, callback_id=callback_id)


async def retry_unmatched(work: Work) -> None:
    """Apply reports that still wait for their message."""
    due = (
        select(ProviderCallback.id)
        .where(
            ProviderCallback.state == CallbackState.UNMATCHED,
            ProviderCallback.try_again_at <= work.now,
        )
        .order_by(ProviderCallback.try_again_at)
    )
    for callback_id in await work.values(due, limit=500):
        work.enqueue(apply_callback, callback_id=callback_id)


async def delete_old(work: Work) -> None:
    """Delete callbacks after 30 days (NOT-47)."""
    await work.run(_PURGE, work.now - _STORED_FOR)
