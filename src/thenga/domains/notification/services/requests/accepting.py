"""Accepting a request: checked first, stored once under its key, planned by a job."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import asyncpg
import structlog

from thenga.domains.identity.public import PersonCard
from thenga.domains.notification import public
from thenga.domains.notification.lifecycles import RequestLifecycle
from thenga.domains.notification.public import Recipient
from thenga.domains.notification.services import recipients, templates
from thenga.domains.notification.services.requests import sealed_parts
from thenga.domains.notification.services.requests.asked import (
    Asked,
    FactsMismatch,
    acknowledgement_of,
    check_bounds,
    checked_address,
    facts_faults,
    kind_of,
    mismatch,
    tenant_topic,
)
from thenga.domains.notification.services.templates import Topic
from thenga.domains.notification.tables import Request, RequestStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import Duplicate, NotFound, ValidationFailed
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.references import Reference

log = structlog.get_logger()

PLAN_AGAIN = timedelta(minutes=5)  # a batch that was not planned by then is queued again
MOST_NAMED = 500
_SECURITY = 10

plan_batch = job_stub("notification.plan_batch", form=Form.OUTSIDE, key="{request_id} {batch}")
_plan_batch_first = replace(plan_batch, priority=_SECURITY)


async def submit(work: Work, asked: Asked) -> Request:
    """Accept what a person or an API key asks for, once its recipients are known to be here."""
    await _check_submission(work, asked)
    return await accept(work, asked)


async def check(work: Work, asked: Asked) -> None:
    """Refuse what `submit` would refuse; for what is stored now and sent later."""
    await _check_submission(work, asked)
    await _checked(work, asked)


async def _check_submission(work: Work, asked: Asked) -> None:
    topic = tenant_topic(asked.topic_code)
    check_bounds(topic, asked, work.now)
    await _check_audience(work, asked)


async def check_facts(work: Work, asked: Asked) -> None:
    """Refuse facts that do not fit the approved template; for what is sent in steps."""
    await _checked(work, asked)


async def accept(work: Work, asked: Asked) -> Request:
    """Store a request and have it planned; a key that was used already is refused."""
    request, is_new = await _store(work, await _checked(work, asked))
    if not is_new:
        raise Duplicate(
            "A request with this key was already accepted.",
            existing={"requestId": str(request.id)},
            field="dedupeKey",
        )
    return request


async def accept_once(work: Work, asked: Asked) -> Request:
    """As `accept`, for callers that repeat themselves: the same key gives the same request."""
    request, _ = await _store(work, await _checked(work, asked))
    return request


async def accept_event(work: Work, asked: Asked) -> Request:
    """As `accept_once`, for an event. If its facts do not fit, the request is kept as rejected."""
    try:
        return await accept_once(work, asked)
    except FactsMismatch as refused:
        errors = [
            {"pointer": one["pointer"], "code": one["code"]} for one in refused.facts["errors"]
        ]
    return await _store_rejected(work, asked, errors)


def plan(work: Work, request: Request, batch: int) -> None:
    """Have a batch planned soon; those of the security lane come first."""
    job = _plan_batch_first if request.lane == "security" else plan_batch
    work.enqueue(job, request_id=request.id, batch=batch)


async def _check_audience(work: Work, asked: Asked) -> None:
    """Everybody who is named is a member, and somebody is left to be told (NOT-4)."""
    named = list({one: None for target in asked.audience for one in target.user_ids})
    if len(named) > MOST_NAMED:
        detail = f"Name at most {MOST_NAMED} people in one request."
        error = {"pointer": "/audience", "code": "too_many", "detail": detail}
        raise ValidationFailed(detail, errors=[error])
    for start in range(0, len(named), recipients.MOST_AT_ONCE):
        part = named[start : start + recipients.MOST_AT_ONCE]
        cards = await recipients.ask_people(work, part)
        if any(not _is_member(cards.get(one), work.organization_id) for one in part):
            raise NotFound()
    found, _ = await recipients.audience(
        work, work.organization_id, asked.audience, after=None, limit=2
    )
    if not set(found) - ({asked.requested_by} if asked.exclude_actor else set()):
        raise recipients.empty_audience()


def _is_member(card: PersonCard | None, organization_id: UUID) -> bool:
    return card is not None and organization_id in card.organization_ids


async def _checked(work: Work, asked: Asked) -> Request:
    """The row of a request whose facts fit the approved template (NOT-2)."""
    topic = templates.find_topic(asked.topic_code)
    approved = await templates.approved(work, topic.template_key)
    if approved is None:
        raise templates.unknown_topic(topic.code)
    if faults := facts_faults(work.host, approved.content, asked):
        raise mismatch(faults)
    return _row(work, topic, asked)


def _row(work: Work, topic: Topic, asked: Asked) -> Request:
    send_at = max(asked.send_at or work.now, work.now)
    named = [_named(work.host, one, place) for place, one in enumerate(asked.recipients)]
    request = Request(
        id=new_id(),
        organization_id=work.organization_id,
        topic_code=topic.code,
        category=topic.category,
        lane=topic.lane,
        source_domain=asked.source_domain,
        dedupe_key=asked.dedupe_key,
        about=about_to_row(asked.about),
        audience=[one.model_dump(mode="json") for one in asked.audience],
        recipients=[{"key": key, "userId": user_id} for key, user_id, _ in named],
        facts=dict(asked.facts),
        exclude_actor=asked.exclude_actor,
        requested_by=asked.requested_by,
        channel_kinds=None if asked.channel_kinds is None else list(asked.channel_kinds),
        acknowledgement=acknowledgement_of(topic, asked),
        send_at=send_at,
        expires_at=asked.expires_at or send_at + topic.validity,
        deadline_at=asked.deadline_at,
        status=RequestStatus.ACCEPTED,
        causation_event_id=asked.causation_event_id,
        errors=[],
        next_check_at=work.now + PLAN_AGAIN,
    )
    addresses = {key: address for key, _, address in named if address is not None}
    sealed_parts.seal_parts(work.host, request, facts=asked.sealed_facts, addresses=addresses)
    if send_at > work.now:
        RequestLifecycle.postpone(request, at=work.now)
        request.next_check_at = send_at
    return request


def _named(host: Host, one: Recipient, place: int) -> tuple[str, str | None, str | None]:
    """Key, user ID and given address of a recipient who is named by port."""
    address = None if one.address is None else checked_address(one.address, place)
    if one.user_id is not None:
        return str(one.user_id), str(one.user_id), address
    if address is None:
        raise recipients.empty_audience()
    return recipients.address_fingerprint(host, kind_of(address), address), None, address


async def _store(work: Work, request: Request) -> tuple[Request, bool]:
    """Insert first; a key that is taken gives the request that took it (NOT-19)."""
    await work.run("SAVEPOINT stored")
    try:
        await work.add(request)
    except asyncpg.UniqueViolationError:
        await work.run("ROLLBACK TO SAVEPOINT stored")
        first = await work.find(
            Request, source_domain=request.source_domain, dedupe_key=request.dedupe_key
        )
        if first is None:
            raise
        return first, False
    work.publish(
        public.NotificationRequestAccepted(
            organization_id=request.organization_id,
            request_id=request.id,
            topic_code=request.topic_code,
            about=about_of(request.about),
            lane=templates.topics()[request.topic_code].lane,
        )
    )
    if request.status is RequestStatus.ACCEPTED:
        plan(work, request, 0)
    return request, True


async def _store_rejected(work: Work, asked: Asked, errors: Sequence[dict[str, str]]) -> Request:
    """Keep a request of an event as a dead letter, with what is wrong and without wrong facts."""
    request = _row(
        work, templates.find_topic(asked.topic_code), replace(asked, facts=_sound(asked, errors))
    )
    request.errors, request.next_check_at = list(errors), None
    request.status = RequestStatus.ACCEPTED
    RequestLifecycle.reject(request, at=work.now)
    sealed_parts.forget(request)
    await work.add(request)
    log.error("notification.request.rejected", topic=asked.topic_code, errors=request.errors)
    work.publish(
        public.NotificationRequestRejected(
            organization_id=request.organization_id,
            request_id=request.id,
            topic_code=request.topic_code,
            causation_event_id=request.causation_event_id,
            errors=[public.RejectedFact(**one) for one in errors],
        )
    )
    return request


def _sound(asked: Asked, errors: Iterable[dict[str, str]]) -> dict[str, str]:
    wrong = {one["pointer"] for one in errors}
    if "/facts" in wrong:
        return {}
    return {name: value for name, value in asked.facts.items() if f"/facts/{name}" not in wrong}


def about_to_row(about: Reference | None) -> dict[str, str] | None:
    return None if about is None else about.model_dump(mode="json")


def about_of(stored: dict[str, str] | None) -> Reference | None:
    return None if stored is None else Reference.model_validate(stored)
