"""Callbacks: received fast and kept, worked on later, each once (BIL-34 to BIL-38)."""

import hashlib
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import select

from thenga.domains.billing import public, settings
from thenga.domains.billing.lifecycles import ProviderCallbackLifecycle
from thenga.domains.billing.public.payments import Finding
from thenga.domains.billing.services.payments import ReportSource
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.tables import (
    CallbackStatus,
    Payment,
    ProviderCallback,
    Statement,
    StatementOutcome,
)
from thenga.kernel import configuration
from thenga.kernel.db import sealed
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.statements import on_local_days, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import Move, not_possible
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

log = structlog.get_logger()

_PLACES = 1000  # notes of refused calls, a day and provider
_SEALED_DAYS = timedelta(days=90)

# No conflict target: the application's login may add and cannot even ask what is there.
_RECEIVE = """
    INSERT INTO billing.provider_callback (id, created_at, updated_at, version, provider,
        event_key, event_type, received_at, sha256, secret_used, status, sealed_content, sender)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $2, $6, $7, 'received', $8, $9)
    ON CONFLICT DO NOTHING
"""
_REJECT = """
    INSERT INTO billing.callback_rejection (id, created_at, updated_at, version, provider, day,
        place, sha256, cause)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6, $7)
    ON CONFLICT DO NOTHING
"""
_FORGET = """
    UPDATE billing.provider_callback SET sealed_content = NULL
    WHERE sealed_content IS NOT NULL AND received_at < $1
"""
_MOVES: dict[StatementOutcome, Move] = {
    StatementOutcome.APPLIED: ProviderCallbackLifecycle.apply,
    StatementOutcome.STALE: ProviderCallbackLifecycle.outdate,
    StatementOutcome.QUARANTINED: ProviderCallbackLifecycle.quarantine,
}

apply_callback = job_stub(
    "billing.apply_callback", form=Form.OUTSIDE, key="{callback_id}", as_system=True
)


@dataclass(frozen=True, slots=True)
class Received:
    """A verified call, before it is kept."""

    provider: str
    event_key: str
    event_type: str
    secret_used: str
    content: bytes


async def receive_callback(work: Work, call: Received) -> bool:
    """Keep it with its job, once; whether it is the first of its key."""
    made = new_id()
    content = sealed.seal(work.host, ProviderCallback, "sealed_content", call.content, id=made)
    digest = hashlib.sha256(call.content).digest()
    told = (call.provider, call.event_key, call.event_type, digest, call.secret_used, content)
    sender = work.origin.network
    first = await work.run(_RECEIVE, made, work.now, *told, sender) == "INSERT 0 1"
    if first:
        work.enqueue(apply_callback, callback_id=made)
    return first


async def reject_callback(work: Work, *, provider: str, content: bytes, cause: str) -> None:
    """Leave a hash and a cause, never the event's key: nobody blocks a true one (BIL-37)."""
    digest = hashlib.sha256(content).digest()
    place = int.from_bytes(digest[:4], "big") % _PLACES
    day = local_day(work.now)
    await work.run(_REJECT, new_id(), work.now, provider, day, place, digest, cause)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A callback that has not done its work yet; its sender where it must be looked at."""

    provider: str
    content: bytes
    sender: str | None


async def pending_callback(read: Reader, callback_id: UUID) -> Waiting | None:
    """What a callback says, for the job that has it confirmed and applied."""
    callback = await read.get(ProviderCallback, callback_id)
    if (
        callback.status not in (CallbackStatus.RECEIVED, CallbackStatus.QUARANTINED)
        or callback.sealed_content is None
    ):
        return None
    content = sealed.unseal(read.host, callback, "sealed_content")
    return Waiting(callback.provider, content, await _sender(read, callback))


async def _sender(read: Reader, callback: ProviderCallback) -> str | None:
    """From where it came, where the operator wants that compared (BIL-38)."""
    if callback.provider != "payfast":  # the others do not say from where they call
        return None
    if not await configuration.value(read, settings.PAYFAST_CHECK_SOURCE):
        return None
    return callback.sender or ""


async def apply_report(
    work: Work, callback_id: UUID, statement: Statement | None, *, confirmed: bool
) -> None:
    """Let a callback have its effect, under the lock of the payment that it speaks of."""
    callback = await work.lock(ProviderCallback, callback_id)
    if callback.status not in (CallbackStatus.RECEIVED, CallbackStatus.QUARANTINED):
        return
    if statement is None:
        ProviderCallbackLifecycle.ignore(callback, at=work.now)
        callback.note = "This event type is not used."
        await work.save(callback)
        return
    callback.statement = shown(statement)
    payment = await work.find(Payment, provider=callback.provider, reference=statement.reference)
    if payment is None or not confirmed:
        finding: Finding = "unknown_reference" if confirmed else "not_confirmed"
        await _quarantine(work, callback, payment, finding=finding, note=finding)
        return
    ahead = await clock_offset(work.host, work.domain, payment.organization_id)
    await work.enter_organization(payment.organization_id, ahead=ahead)
    callback.organization_id, callback.payment_id = payment.organization_id, payment.id
    heard = ReportSource("callback", callback.id)
    taken = await provider_results.take(work, payment.id, statement, heard)
    _MOVES[taken.outcome](callback, at=work.now)
    callback.note = taken.note
    await work.save(callback)


async def set_aside(work: Work, callback_id: UUID, *, note: str) -> None:
    """Quarantine a signed callback that cannot be read or applied: it is shown to operators, and
    tried again only when one of them replays it (SEC-68)."""
    callback = await work.lock(ProviderCallback, callback_id)
    if callback.status not in (CallbackStatus.RECEIVED, CallbackStatus.QUARANTINED):
        return
    log.error("billing.callback.quarantined", callback_id=str(callback.id), why=note)
    await _quarantine(work, callback, None, finding="not_confirmed", note=note)


async def _quarantine(
    work: Work,
    callback: ProviderCallback,
    payment: Payment | None,
    *,
    finding: Finding,
    note: str,
) -> None:
    """Kept and not applied; an operator may have it worked on again once it is cleared up."""
    again = callback.status is CallbackStatus.QUARANTINED
    ProviderCallbackLifecycle.quarantine(callback, at=work.now)
    callback.note = note
    if payment is not None:
        callback.organization_id, callback.payment_id = payment.organization_id, payment.id
    await work.save(callback)
    if not again:
        work.publish(
            public.PaymentMismatchFound(
                organization_id=callback.organization_id,
                source="providerCallback",
                source_id=callback.id,
                provider=callback.provider,
                finding=finding,
                payment_id=callback.payment_id,
            )
        )


def shown(statement: Statement) -> dict[str, Any]:
    """What of a statement may be shown: everything but the token."""
    told = asdict(statement)
    del told["token"], told["tolerance_minor"]
    told["provider_at"] = statement.provider_at and statement.provider_at.isoformat()
    return told


async def list_callbacks(
    read: Reader,
    paged: Paged,
    *,
    provider: str | None,
    status: CallbackStatus | None,
    since: date | None,
    until: date | None,
) -> Slice[ProviderCallback]:
    """Verified callbacks of all providers, for staff."""
    statement = select(ProviderCallback)
    statement = where_given(
        statement, (ProviderCallback.provider, provider), (ProviderCallback.status, status)
    )
    statement = on_local_days(statement, ProviderCallback.received_at, since, until)
    return await read.page(statement, paged)


async def replay_callback(work: Work, callback_id: UUID) -> ProviderCallback:
    """Have one worked on again that was set aside; the job does it as the system."""
    callback = await work.get(ProviderCallback, callback_id)
    if callback.status in (CallbackStatus.STALE, CallbackStatus.IGNORED):
        raise not_possible(
            "Only a quarantined callback can be processed again.",
            status=callback.status,
            operation="replay",
            allowed=[],
        )
    if callback.status is not CallbackStatus.APPLIED and callback.sealed_content is None:
        raise not_possible(
            "The contents of a callback are kept for 90 days and are gone. Have the provider "
            "send it again, or check the payment on the provider's dashboard.",
            status=callback.status,
            operation="replay",
            allowed=[],
        )
    if callback.status is not CallbackStatus.APPLIED:
        work.enqueue(apply_callback, callback_id=callback.id)
        work.note("billing.callback.replayed", ("providerCallback", callback.id), {})
    return callback


async def forget_contents(work: Work) -> None:
    """After ninety days the bytes go; what they said stays."""
    await work.run(_FORGET, work.now - _SEALED_DAYS)
