"""Provider callbacks: stored on receipt, applied later, each once (BIL-34 to BIL-38)."""

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
    StatementOutcome,
)
from thenga.domains.billing.values.provider import (
    ProviderReport,
)
from thenga.kernel.db import configuration, sealed
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

_PLACES = 1000  # stored rejections for each day and provider
_SEALED_DAYS = timedelta(days=90)

# No conflict target, because the login can insert but not read.
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
    """A verified call before it is stored."""

    provider: str
    event_key: str
    event_type: str
    secret_used: str
    content: bytes


async def receive_callback(work: Work, call: Received) -> bool:
    """Store a callback with its job, and return whether its key is new."""
    made = new_id()
    content = sealed.seal(work.host, ProviderCallback, "sealed_content", call.content, id=made)
    digest = hashlib.sha256(call.content).digest()
    columns = (call.provider, call.event_key, call.event_type, digest, call.secret_used, content)
    sender = work.origin.network
    first = await work.run(_RECEIVE, made, work.now, *columns, sender) == "INSERT 0 1"
    if first:
        work.enqueue(apply_callback, callback_id=made)
    return first


async def reject_callback(work: Work, *, provider: str, content: bytes, cause: str) -> None:
    """Store a hash and a cause, never the event key, so nobody can block a real callback
    (BIL-37)."""
    digest = hashlib.sha256(content).digest()
    place = int.from_bytes(digest[:4], "big") % _PLACES
    day = local_day(work.now)
    await work.run(_REJECT, new_id(), work.now, provider, day, place, digest, cause)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A callback to apply, with its sender if that must be checked."""

    provider: str
    content: bytes
    sender: str | None


async def pending_callback(read: Reader, callback_id: UUID) -> Waiting | None:
    """The callback for the job that confirms and applies it."""
    callback = await read.get(ProviderCallback, callback_id)
    if (
        callback.status not in (CallbackStatus.RECEIVED, CallbackStatus.QUARANTINED)
        or callback.sealed_content is None
    ):
        return None
    content = sealed.unseal(read.host, callback, "sealed_content")
    return Waiting(callback.provider, content, await _sender(read, callback))


async def _sender(read: Reader, callback: ProviderCallback) -> str | None:
    """The sender's address, if operators want it checked (BIL-38)."""
    if callback.provider != "payfast":  # the others do not say from where they call
        return None
    if not await configuration.value(read, settings.PAYFAST_CHECK_SOURCE):
        return None
    return callback.sender or ""


async def apply_callback_report(
    work: Work, callback_id: UUID, report: ProviderReport | None, *, confirmed: bool
) -> None:
    """Apply a callback's report under the lock of its payment."""
    callback = await work.lock(ProviderCallback, callback_id)
    if callback.status not in (CallbackStatus.RECEIVED, CallbackStatus.QUARANTINED):
        return
    if report is None:
        ProviderCallbackLifecycle.ignore(callback, at=work.now)
        callback.note = "This event type is not used."
        await work.save(callback)
        return
    callback.statement = report_document(report)
    payment = await work.find(Payment, provider=callback.provider, reference=report.reference)
    if payment is None or not confirmed:
        finding: Finding = "unknown_reference" if confirmed else "not_confirmed"
        await _quarantine(work, callback, payment, finding=finding, note=finding)
        return
    ahead = await clock_offset(work.host, work.domain, payment.organization_id)
    await work.enter_organization(payment.organization_id, ahead=ahead)
    callback.organization_id, callback.payment_id = payment.organization_id, payment.id
    source = ReportSource("callback", callback.id)
    recorded = await provider_results.apply_report(work, payment.id, report, source)
    _MOVES[recorded.outcome](callback, at=work.now)
    callback.note = recorded.note
    await work.save(callback)


async def quarantine_callback(work: Work, callback_id: UUID, *, note: str) -> None:
    """Quarantine a signed callback that cannot be read or applied. It is retried only if an
    operator replays it (SEC-68)."""
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
    """Quarantine a callback. An operator can replay it after the review."""
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


def report_document(report: ProviderReport) -> dict[str, Any]:
    """A report as shown to operators: everything except the token."""
    document = asdict(report)
    del document["token"], document["tolerance_minor"]
    document["provider_at"] = report.provider_at and report.provider_at.isoformat()
    return document


async def list_callbacks(
    read: Reader,
    paged: Paged,
    *,
    provider: str | None,
    status: CallbackStatus | None,
    since: date | None,
    until: date | None,
) -> Slice[ProviderCallback]:
    """Verified callbacks of all providers, for operators."""
    statement = select(ProviderCallback)
    statement = where_given(
        statement, (ProviderCallback.provider, provider), (ProviderCallback.status, status)
    )
    statement = on_local_days(statement, ProviderCallback.received_at, since, until)
    return await read.page(statement, paged)


async def replay_callback(work: Work, callback_id: UUID) -> ProviderCallback:
    """Apply a quarantined callback again. The job runs as the system login."""
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


async def delete_old_contents(work: Work) -> None:
    """Delete the bytes of callbacks after 90 days. Their reports stay."""
    await work.run(_FORGET, work.now - _SEALED_DAYS)
