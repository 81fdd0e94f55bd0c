"""Planning a request in batches of 200 people: one message a person, one delivery a channel.

Ports are asked before the transaction of a batch begins. A batch is planned once, and a person
who is in two batches gets one message (NOT-1, NOT-19, NOT-36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import select

from thenga.domains.identity.public import PersonCard
from thenga.domains.notification.lifecycles import RequestLifecycle
from thenga.domains.notification.public import Target
from thenga.domains.notification.services import recipients, templates
from thenga.domains.notification.services.recipients import Asking, Person, Verdict
from thenga.domains.notification.services.requests import accepting, completion, sealed_parts
from thenga.domains.notification.services.requests.asked import channels_of, kind_of
from thenga.domains.notification.services.requests.deliveries import add_deliveries
from thenga.domains.notification.services.templates import (
    Approved,
    ChannelKind,
    Locale,
    Rendered,
    Topic,
)
from thenga.domains.notification.tables import (
    Channel,
    MessageOutcome,
    Notification,
    Request,
    RequestStatus,
)
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db import statements
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

_TO_PLAN = (RequestStatus.ACCEPTED, RequestStatus.RESOLVING)
_INSERT = (
    statements.insert(Notification.__table__)
    + " ON CONFLICT (organization_id, request_id, recipient_key) DO NOTHING"
)


@dataclass(frozen=True, slots=True)
class Batch:
    """The next people of a request, by the key of each, and where the batch after it begins."""

    keys: Mapping[str, UUID | None]
    cards: Mapping[UUID, PersonCard]
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is the same for everybody in a batch."""

    request: Request
    topic: Topic
    approved: Approved | None
    channels: Sequence[ChannelKind]
    configured: frozenset[ChannelKind]
    addresses: Mapping[str, str]  # given ones, by the key of the recipient
    suppressed: frozenset[str]  # fingerprints among the given addresses


async def batch_to_plan(read: Reader, request_id: UUID, batch: int) -> Request | None:
    """The request, if this is its next batch."""
    request = await read.get(Request, request_id)
    return request if _is_next(request, batch) else None


async def ask_batch(asking: Asking, request: Request) -> Batch:
    """Who is in the next batch, asked of Identity; silence raises, so the job tries again."""
    after = request.planned_after or {"named": 0, "audience": None}
    place, size = after["named"], recipients.MOST_AT_ONCE
    further: dict[str, Any] | None = None
    if place < len(request.recipients):
        part = request.recipients[place : place + size]
        keys = {one["key"]: UUID(one["userId"]) if one["userId"] else None for one in part}
        if place + size < len(request.recipients) or request.audience:
            further = {"named": place + len(part), "audience": None}
    else:
        targets = [Target.model_validate(one) for one in request.audience]
        found, position = await recipients.audience(
            asking, request.organization_id, targets, after=after["audience"], limit=size
        )
        keys = {str(one): one for one in found}
        further = position and {"named": place, "audience": position}
    known = [one for one in keys.values() if one is not None]
    return Batch(keys, await recipients.ask_people(asking, known), further)


async def plan_people(work: Work, request_id: UUID, batch: int, found: Batch) -> None:
    """Store the messages of a batch, and have the next one planned or the request dispatched."""
    request = await work.lock(Request, request_id)
    if not _is_next(request, batch):
        return
    RequestLifecycle.resolve(request, at=work.now)
    plan = await _plan(work, request)
    persons = await recipients.load_persons(work, found.cards, topic=plan.topic)
    for key, user_id in found.keys.items():
        if user_id is None or not (request.exclude_actor and user_id == request.requested_by):
            await _plan_person(work, plan, key, _person(work, plan, key, user_id, persons))
    if found.after is None:
        RequestLifecycle.dispatch(request, at=work.now)
        request.next_check_at = request.expires_at
        await completion.complete_if_done(work, request)
    else:
        request.planned_after = found.after | {"batch": batch + 1}
        request.next_check_at = min(work.now + accepting.PLAN_AGAIN, request.expires_at)
        accepting.plan(work, request, batch + 1)
    await work.save(request)


def next_batch(request: Request) -> int:
    """The number of the batch that is planned next."""
    return int((request.planned_after or {}).get("batch", 0))


def _is_next(request: Request, batch: int) -> bool:
    return request.status in _TO_PLAN and next_batch(request) == batch


async def _plan(work: Work, request: Request) -> _Plan:
    topic = templates.topics()[request.topic_code]
    channels = channels_of(topic, request.channel_kinds)
    is_to_staff = bool(request.audience)  # of the operator's people only staff have an inbox
    if request.organization_id == OPERATOR and not is_to_staff:
        channels = tuple(one for one in channels if one != "in_app")
    configured = await work.values(select(Channel.channel_kind).where(Channel.status == "active"))
    addresses = sealed_parts.addresses_of(work, request)
    prints = [
        recipients.address_fingerprint(work.host, kind_of(one), one) for one in addresses.values()
    ]
    return _Plan(
        request=request,
        topic=topic,
        approved=await templates.approved(work, topic.template_key),
        channels=channels,
        configured=frozenset(one for one in recipients.CHANNELS if one in {"in_app", *configured}),
        addresses=addresses,
        suppressed=frozenset(await recipients.suppressed_among(work, prints)),
    )


def _person(
    work: Work, plan: _Plan, key: str, user_id: UUID | None, persons: Mapping[UUID, Person]
) -> Person:
    """The person of a key. A given address takes the place of all that Identity knows."""
    address = plan.addresses.get(key)
    person = None if user_id is None else persons.get(user_id)
    if address is None:
        if person is not None:
            return person
        if user_id is None:
            raise LookupError("a recipient without account has an address")
        return recipients.departed(user_id)
    kind = kind_of(address)
    shown = recipients.address_fingerprint(work.host, kind, address)
    return replace(
        person or recipients.stranger(kind, address),
        addresses={kind: address},
        suppressed=frozenset({kind} if shown in plan.suppressed else ()),
    )


async def _plan_person(work: Work, plan: _Plan, key: str, person: Person) -> None:
    """One message with its deliveries, unless the person has it already."""
    request = plan.request
    verdicts = recipients.verdicts(
        plan.topic,
        person,
        plan.channels,
        at=work.now,
        deadline_at=request.deadline_at,
        expires_at=request.expires_at,
        approved=plan.approved is not None,
        configured=plan.configured,
    )
    message = _message(work, plan, key, person, verdicts)
    values = message.__dict__
    stored = await work.run(_INSERT, *(values[name] for name in Notification.__columns__))
    if stored == "INSERT 0 1":
        await add_deliveries(work, request, plan.topic, message, person, verdicts)


def _message(
    work: Work,
    plan: _Plan,
    key: str,
    person: Person,
    verdicts: Mapping[ChannelKind, Verdict],
) -> Notification:
    request = plan.request
    used = [one for one, verdict in verdicts.items() if verdict.verdict != "stop"]
    text = _text(plan, person, used[0]) if used else None  # the inbox comes first
    in_app = text if "in_app" in used else None
    mask = next((recipients.mask(*one) for one in person.addresses.items()), None)
    return Notification(
        id=new_id(),
        created_at=work.now,
        updated_at=work.now,
        version=1,
        organization_id=request.organization_id,
        request_id=request.id,
        recipient_key=key,
        user_id=person.user_id,
        recipient_mask=mask,
        topic_code=request.topic_code,
        category=request.category,
        about=request.about,
        title=in_app.subject if in_app else None,
        body=in_app.text if in_app else None,
        language=text.language if text else None,
        template_key=plan.topic.template_key,
        template_version=plan.approved.number if plan.approved else 0,
        content_hash=text.content_hash if text else None,
        expires_at=request.expires_at,
        deadline_at=request.deadline_at,
        acknowledgement=request.acknowledgement,
        outcome=_first_outcome(verdicts),
    )


def _first_outcome(verdicts: Mapping[ChannelKind, Verdict]) -> MessageOutcome:
    """The inbox reaches a person at once; if no channel is left, nothing is sent."""
    if all(one.verdict == "stop" for one in verdicts.values()):
        return MessageOutcome.NOT_SENT
    inbox = verdicts.get("in_app")
    return MessageOutcome.REACHED if inbox and inbox.verdict == "send" else MessageOutcome.PENDING


def _text(plan: _Plan, person: Person, channel: ChannelKind) -> Rendered | None:
    """The message as it is kept: without secret facts, which are not opened here (NOT-27)."""
    if plan.approved is None:
        return None
    content = plan.approved.content
    language = templates.choose_language(content, channel, person.languages)
    locale = Locale(language, ZoneInfo(person.time_zone))
    return templates.render_for_history(content, channel, plan.request.facts, locale)
