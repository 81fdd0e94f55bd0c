"""Sending one delivery: claimed under a fence, checked again, called once, recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import select

from thenga.domains.identity.public import PersonCard
from thenga.domains.notification.lifecycles import DeliveryLifecycle
from thenga.domains.notification.services import recipients, requests, templates, tenants
from thenga.domains.notification.services.delivery import channels, endings, retries, sandbox
from thenga.domains.notification.services.delivery.budgets import budget_of
from thenga.domains.notification.services.delivery.callbacks import match_callbacks
from thenga.domains.notification.services.delivery.metering import meter_attempt
from thenga.domains.notification.services.recipients import Person, Reason, Verdict
from thenga.domains.notification.services.templates import (
    Approved,
    ChannelKind,
    Locale,
    Rendered,
    Topic,
)
from thenga.domains.notification.tables import (
    Attempt,
    AttemptOutcome,
    Certainty,
    Channel,
    Delivery,
    DeliveryStatus,
    Notification,
    Request,
)
from thenga.domains.notification.values.messages import Answer, Budget, Message
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

# A claim that nobody recorded is looked at again after this.
LEASE = timedelta(minutes=2)
_SENDER_NAME = "Thenga"
# Facts of our own making. Nobody else's words go to an address that is not proven (SEC-66).
OWN_FACTS = frozenset(
    {
        *("amount", "at", "dueOn", "left", "link", "network", "next", "number", "paidOn"),
        *("plan", "standing", "until"),
    }
)

send_delivery = job_stub(
    "notification.send_delivery", form=Form.OUTSIDE, key="{delivery_id}:{fence}"
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed delivery: whom it is for, and the provider that sends it."""

    user_id: UUID | None
    provider: str | None


@dataclass(frozen=True, slots=True)
class Order:
    """One call to make. A sandbox has its answer already."""

    delivery_id: UUID
    attempt_id: UUID
    fence: int
    message: Message
    is_proven: bool
    budget: Budget
    simulated: Answer | None


async def run_due_step(work: Work, delivery_id: UUID) -> None:
    """Release a held delivery, claim a queued one, or decide one without a clear outcome."""
    delivery = await work.lock(Delivery, delivery_id)
    if delivery.next_check_at is None or delivery.next_check_at > work.now:
        return
    if delivery.status is DeliveryStatus.HELD:
        DeliveryLifecycle.release(delivery, at=work.now)
        delivery.reason_code = delivery.held_until = None
    match delivery.status:
        case DeliveryStatus.QUEUED:
            await _claim(work, delivery)
        case DeliveryStatus.SENDING:
            await _decide_unclear(work, delivery)
        case _:
            delivery.next_check_at = None
            await work.save(delivery)


async def _claim(work: Work, delivery: Delivery) -> None:
    DeliveryLifecycle.claim(delivery, at=work.now)
    delivery.fence += 1
    delivery.next_check_at = work.now + LEASE
    await work.save(delivery)
    job = replace(send_delivery, priority=delivery.priority)
    work.enqueue(job, delivery_id=delivery.id, fence=delivery.fence)


async def _decide_unclear(work: Work, delivery: Delivery) -> None:
    """Nobody recorded an outcome, or the provider gave none (NOT-31)."""
    attempts = await attempts_of(work, delivery.id)
    last = attempts[-1] if attempts and attempts[-1].fence == delivery.fence else None
    if last is None:  # nobody has called yet
        await _requeue(work, delivery, after=retries.longest_delay(1, "normal"))
        return
    topic = templates.topics()[(await work.get(Notification, delivery.notification_id)).topic_code]
    kind = _kind(delivery)
    if last.outcome is None:  # the process ended during the call
        await _finish_attempt(work, last.id, Answer("unknown"), provider_message_id=None)
        delivery.next_check_at = work.now + retries.wait_for_report(kind, topic.lane)
        await work.save(delivery)
        return
    unknown = sum(one.outcome == AttemptOutcome.UNKNOWN for one in attempts)
    if retries.may_repeat(topic, kind, unknown) and delivery.expires_at > work.now:
        DeliveryLifecycle.requeue(delivery, at=work.now)
        await _claim(work, delivery)
        return
    await endings.end_sent(work, delivery, certainty=Certainty.UNKNOWN, attempt=last)


async def _requeue(work: Work, delivery: Delivery, *, after: timedelta) -> None:
    DeliveryLifecycle.requeue(delivery, at=work.now)
    delivery.next_check_at = work.now + after
    await work.save(delivery)


async def claimed(read: Reader, delivery_id: UUID, *, fence: int) -> Claimed | None:
    """What the job looks up before it sends; None if this claim is no longer valid."""
    delivery = await read.get(Delivery, delivery_id)
    if delivery.status is not DeliveryStatus.SENDING or delivery.fence != fence:
        return None
    notification = await read.get(Notification, delivery.notification_id)
    channel = await channels.channel_for(read, _kind(delivery))
    return Claimed(notification.user_id, None if channel is None else channel.provider)


async def begin(
    work: Work,
    delivery_id: UUID,
    *,
    fence: int,
    cards: Mapping[UUID, PersonCard],
    is_configured: bool,
) -> Order | None:
    """Check everything again and write the attempt down; None if nothing is sent (NOT-1)."""
    delivery = await work.lock(Delivery, delivery_id)
    if delivery.status is not DeliveryStatus.SENDING or delivery.fence != fence:
        return None
    notification = await work.get(Notification, delivery.notification_id)
    request = await work.get(Request, delivery.request_id)
    kind, topic = _kind(delivery), templates.topics()[notification.topic_code]
    person = await _person(work, delivery, notification, request, topic, cards)
    approved = await templates.approved(work, notification.template_key)
    channel, is_sandbox = await channels.channel_for(work, kind), await _is_sandbox(work)
    can_send = channel is not None and (is_configured or is_sandbox)
    found = recipients.verdicts(
        topic,
        person,
        [kind],
        at=work.now,
        deadline_at=request.deadline_at,
        expires_at=delivery.expires_at,
        approved=approved is not None,
        configured=frozenset({kind}) if can_send else frozenset(),
    )[kind]
    address = person.addresses.get(kind, "")
    simulated = sandbox.simulated(address) if is_sandbox else None
    _note_decisions(work, delivery, found)
    if not await _goes(work, delivery, found, captured=is_sandbox and simulated is None):
        return None
    assert approved is not None and channel is not None  # noqa: S101  # the verdict asked for both
    rendered = await _render(work, notification, request, approved, person, kind)
    attempt = await _add_attempt(work, delivery, channel, kind, address, is_sandbox=is_sandbox)
    message = _message(work, delivery, channel, rendered, address)
    is_proven = notification.user_id is not None
    return Order(delivery.id, attempt.id, fence, message, is_proven, budget_of(topic), simulated)


async def _person(
    work: Work,
    delivery: Delivery,
    notification: Notification,
    request: Request,
    topic: Topic,
    cards: Mapping[UUID, PersonCard],
) -> Person:
    """The recipient as of now: the address is read when a message is sent (NOT-5)."""
    given = await requests.given_address(work, request, notification)
    kind = _kind(delivery)
    if notification.user_id is None:
        person = recipients.stranger(kind, given or "")
    else:
        loaded = await recipients.load_persons(work, cards, topic=topic)
        person = loaded.get(notification.user_id) or recipients.departed(notification.user_id)
        if given is not None:
            person = replace(person, addresses={kind: given})
    if given is not None:
        mark = recipients.address_fingerprint(work.host, kind, given)
        suppressed = await recipients.suppressed_among(work, [mark])
        person = replace(person, suppressed=frozenset({kind}) if suppressed else frozenset())
    # The legal minimum moves on from channels on which this message has failed (NOT-9).
    failed = endings.channels_that_failed(await endings.siblings_of(work, delivery))
    others = {one for one in recipients.CHANNELS if one in failed}
    return replace(person, suppressed=person.suppressed | others)


async def _goes(work: Work, delivery: Delivery, found: Verdict, *, captured: bool) -> bool:
    """Whether the message is sent now; otherwise it is held or stopped."""
    if found.verdict == "hold":
        assert found.held_until and found.reason  # noqa: S101  # a hold has both
        await _hold(work, delivery, reason=found.reason, until=found.held_until)
        return False
    stopped_by = found.reason if found.verdict == "stop" else None
    if stopped_by is None and captured:
        stopped_by = Reason.SANDBOX_CAPTURED
    if stopped_by is not None:
        await endings.end_failed(work, delivery, reason=stopped_by, move=DeliveryLifecycle.stop)
    return stopped_by is None


def _note_decisions(work: Work, delivery: Delivery, found: Verdict) -> None:
    """The later answer counts, and a change of channel stays on record."""
    changes = [one for one in delivery.decisions if one["outcome"] == "change"]
    delivery.decisions = [*changes, *recipients.to_json(found.decisions, work.now)]


async def _render(
    work: Work,
    notification: Notification,
    request: Request,
    approved: Approved,
    person: Person,
    kind: ChannelKind,
) -> Rendered:
    """The text for this person. Only its form without secrets is stored (NOT-27)."""
    facts = await requests.facts_of(work, request)
    if person.user_id is None:
        facts = {name: value for name, value in facts.items() if name in OWN_FACTS}
    language = templates.choose_language(approved.content, kind, person.languages)
    locale = Locale(language, ZoneInfo(person.time_zone))
    kept = templates.render_for_history(approved.content, kind, facts, locale)
    stored = await work.hold(notification)
    stored.template_version, stored.language = approved.number, language
    stored.content_hash = kept.content_hash
    await work.save(stored)
    return templates.render(approved.content, kind, facts, locale)


async def _add_attempt(
    work: Work,
    delivery: Delivery,
    channel: Channel,
    kind: ChannelKind,
    address: str,
    *,
    is_sandbox: bool,
) -> Attempt:
    delivery.attempts += 1
    delivery.channel_id = channel.id
    delivery.address_mask = recipients.mask(kind, address)
    delivery.address_fingerprint = recipients.address_fingerprint(work.host, kind, address)
    delivery.next_check_at = work.now + LEASE
    await work.save(delivery)
    return await work.add(
        Attempt(
            organization_id=work.organization_id,
            delivery_id=delivery.id,
            number=delivery.attempts,
            fence=delivery.fence,
            channel_id=channel.id,
            provider="sandbox" if is_sandbox else channel.provider,
            address_fingerprint=delivery.address_fingerprint,
            started_at=work.now,
            reports=[],
        )
    )


def _message(
    work: Work, delivery: Delivery, channel: Channel, rendered: Rendered, address: str
) -> Message:
    sender = channels.sender_address(work.host)
    return Message(
        to=address,
        subject=rendered.subject,
        text=rendered.text,
        html=rendered.html,
        message_id=f"{delivery.id}@{sender.rpartition('@')[2]}",
        sender_name=_SENDER_NAME,
        sender_address=sender,
        callback_url=channels.callback_url(work.host, channel.id),
    )


async def postpone(work: Work, order: Order, wait: timedelta) -> None:
    """The recipient has received too many messages: this one waits (NOT-50).

    What would be too late then is not sent at all.
    """
    delivery = await work.lock(Delivery, order.delivery_id)
    if delivery.status is not DeliveryStatus.SENDING or delivery.fence != order.fence:
        return
    crowded, due = Reason.TOO_MANY_MESSAGES, work.now + wait
    is_lost = due >= delivery.expires_at
    answer = Answer("refused_final" if is_lost else "refused_transient", code=crowded)
    await _finish_attempt(work, order.attempt_id, answer, provider_message_id=None)
    if is_lost:
        await endings.end_failed(work, delivery, reason=crowded, move=DeliveryLifecycle.stop)
        return
    await _hold(work, delivery, reason=crowded, until=due)


async def _hold(work: Work, delivery: Delivery, *, reason: Reason, until: datetime) -> None:
    DeliveryLifecycle.requeue(delivery, at=work.now)
    DeliveryLifecycle.hold(delivery, at=work.now)
    delivery.reason_code, delivery.held_until = reason, until
    delivery.next_check_at = recipients.release_at(until, delivery.id)
    await work.save(delivery)


async def record(work: Work, order: Order, answer: Answer) -> None:
    """Record what a call came to. A fence that is not ours records nothing."""
    delivery = await work.lock(Delivery, order.delivery_id)
    if delivery.fence != order.fence:
        return
    earlier = await attempts_of(work, delivery.id)
    named = {one.provider_message_id for one in earlier if one.id != order.attempt_id}
    # A mail that is sent again has the same ID; reports find the delivery by its first attempt.
    found_by = None if answer.provider_message_id in named else answer.provider_message_id
    attempt = await _finish_attempt(work, order.attempt_id, answer, provider_message_id=found_by)
    if found_by is not None:
        work.enqueue(match_callbacks, channel_id=attempt.channel_id, provider_message_id=found_by)
    if answer.outcome == "accepted" and order.simulated is None:
        work.enqueue(meter_attempt, attempt_id=attempt.id)
    if delivery.status is not DeliveryStatus.SENDING:
        return  # a report was faster than the answer
    # Times at which the recipient had no room are no tries.
    tries = sum(past.provider_code != Reason.TOO_MANY_MESSAGES for past in earlier)
    await _apply_answer(work, delivery, attempt, answer, tries=tries)
    if order.simulated is not None and answer.outcome == "accepted":
        await endings.end_delivered(work, delivery, assurance="internal", attempt=attempt)


async def _apply_answer(
    work: Work, delivery: Delivery, attempt: Attempt, answer: Answer, *, tries: int
) -> None:
    """Move the delivery by the outcome of its call (NOT-30)."""
    notification = await work.get(Notification, delivery.notification_id)
    topic = templates.topics()[notification.topic_code]
    match answer.outcome:
        case "accepted":
            await endings.end_sent(work, delivery, certainty=Certainty.KNOWN, attempt=attempt)
        case "refused_transient":
            due = retries.next_try(
                delivery.id,
                tries,
                topic.lane,
                at=work.now,
                expires_at=delivery.expires_at,
                retry_after=answer.retry_after,
            )
            if due is None:
                reason = Reason.PROVIDER_UNREACHABLE
                await endings.end_failed(work, delivery, reason=reason, attempt=attempt)
            else:
                await _requeue(work, delivery, after=due - work.now)
        case "refused_final":
            reason = Reason.ADDRESS_INVALID if answer.address_is_bad else Reason.PROVIDER_REJECTED
            await endings.end_failed(work, delivery, reason=reason, attempt=attempt)
            if answer.address_is_bad:
                endings.suppress(work, delivery, attempt)
        case "unknown":
            wait = retries.wait_for_report(_kind(delivery), topic.lane)
            delivery.next_check_at = work.now + wait
            await work.save(delivery)


async def _finish_attempt(
    work: Work, attempt_id: UUID, answer: Answer, *, provider_message_id: str | None
) -> Attempt:
    attempt = await work.lock(Attempt, attempt_id, beside=True)
    attempt.finished_at, attempt.outcome = work.now, AttemptOutcome(answer.outcome)
    attempt.provider_code, attempt.provider_text = answer.code, answer.text
    attempt.provider_message_id = attempt.provider_message_id or provider_message_id
    attempt.units = answer.segments if answer.outcome == "accepted" else 0
    return await work.save(attempt)


async def attempts_of(read: Reader, delivery_id: UUID) -> list[Attempt]:
    """The attempts of a delivery, oldest first."""
    return await read.all(
        select(Attempt)
        .where(Attempt.organization_id == read.organization_id, Attempt.delivery_id == delivery_id)
        .order_by(Attempt.number)
    )


async def _is_sandbox(read: Reader) -> bool:
    if endings.is_of_platform(read.organization_id):
        return False
    return await tenants.TENANTS.is_sandbox(read)


def _kind(delivery: Delivery) -> ChannelKind:
    assert delivery.channel_kind in get_args(ChannelKind)  # noqa: S101  # planning wrote it
    return cast(ChannelKind, delivery.channel_kind)
