"""A request before it is stored, and everything that can be wrong with it (NOT-2, NOT-4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import get_args
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from thenga.domains.notification.public import Recipient, Target
from thenga.domains.notification.services import templates
from thenga.domains.notification.services.templates import (
    Acknowledgement,
    ChannelKind,
    Content,
    FactFault,
    Topic,
)
from thenga.kernel.errors import (
    ERRORS,
    FieldError,
    Problem,
    RuleViolated,
    ValidationFailed,
    extensions,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.fields import Email
from thenga.kernel.values.phones import e164
from thenga.kernel.values.references import Reference

MOST_AHEAD = timedelta(days=400)
_NEEDS: tuple[Acknowledgement, ...] = get_args(Acknowledgement)  # each asks for more
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)
_DETAILS = {
    "missing": "The template needs this fact.",
    "unknown": "The template has no such fact.",
    "wrong_type": "This value does not have the type that the template declares.",
    "too_long": "This is longer than the template allows.",
    "control_character": "Write this on one line, without control characters.",
    "too_many": "Send at most 40 facts with at most 32 KB in total.",
}


class FactsMismatch(Problem):
    """The facts do not match the variables that the topic's template declares.

    `errors` points at each fact that is missing, unknown or malformed. Nothing was sent.
    """

    code, status, title = "notification-facts-mismatch", 422, "The facts do not match the template"
    members = extensions(errors=ERRORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who is told what, when and how."""

    topic_code: str
    source_domain: str
    facts: Mapping[str, str]
    sealed_facts: Mapping[str, str] = field(default_factory=dict)
    recipients: Sequence[Recipient] = ()
    audience: Sequence[Target] = ()
    about: Reference | None = None
    dedupe_key: str | None = None
    exclude_actor: bool = True
    requested_by: UUID | None = None
    channel_kinds: Sequence[ChannelKind] | None = None
    acknowledgement: Acknowledgement = "none"
    send_at: datetime | None = None
    expires_at: datetime | None = None
    deadline_at: datetime | None = None
    causation_event_id: UUID | None = None  # the event that asks, if it is one


def tenant_topic(code: str) -> Topic:
    """The topic of a request by a person or an API key, which use only those open to them."""
    topic = templates.find_topic(code)
    if not topic.open_to_tenants:
        raise templates.unknown_topic(code)
    return topic


def facts_faults(host: Host, content: Content, asked: Asked) -> list[FactFault]:
    """Every fault of the facts. Secret ones come sealed, and only those (NOT-27)."""
    hosts = frozenset({urlsplit(host.settings.base_url).netloc})
    secret = {one.name for one in content.variables if one.secret}
    misplaced = (secret & asked.facts.keys()) | (asked.sealed_facts.keys() - secret)
    faults = templates.check_facts(
        content.variables, {**asked.facts, **asked.sealed_facts}, hosts=hosts
    )
    known = {one.pointer for one in faults}
    pointers = [f"/facts/{name}" for name in sorted(misplaced)]
    return faults + [FactFault(one, "unknown") for one in pointers if one not in known]


def mismatch(faults: Iterable[FactFault]) -> FactsMismatch:
    """The refusal that names all of them."""
    return FactsMismatch(
        errors=[_error(one.pointer, one.code, _DETAILS[one.code]) for one in faults]
    )


def acknowledgement_of(topic: Topic, asked: Asked) -> Acknowledgement:
    """A request may ask for more than its topic, never for less."""
    return max(topic.acknowledgement, asked.acknowledgement, key=_NEEDS.index)


def channels_of(topic: Topic, channel_kinds: Sequence[str] | None) -> tuple[ChannelKind, ...]:
    """The channels to plan: those asked for, and always the legal minimum (NOT-9)."""
    kept = topic.allowed_channels if channel_kinds is None else channel_kinds
    must = topic.minimum_channels if topic.mandatory else ()
    return tuple(one for one in topic.allowed_channels if one in kept or one in must)


def check_bounds(topic: Topic, asked: Asked, now: datetime) -> None:
    """What a caller may ask for: times that lie ahead, and channels that the topic has."""
    faults: list[FieldError] = []
    send_at = max(asked.send_at or now, now)
    if send_at > now + MOST_AHEAD:
        faults.append(_error("/sendAt", "too_late", "Choose a time within 400 days."))
    if asked.expires_at is not None and asked.expires_at <= send_at:
        faults.append(_error("/expiresAt", "too_early", "Choose a time after `sendAt` and now."))
    for place, kind in enumerate(asked.channel_kinds or ()):
        if kind not in topic.allowed_channels:
            pointer = f"/channelKinds/{place}"
            faults.append(_error(pointer, "not_allowed", "The topic does not use this channel."))
    if faults:
        raise ValidationFailed(errors=faults)


def kind_of(address: str) -> ChannelKind:
    """Whether an address is one for mail or a phone number."""
    return "email" if "@" in address else "sms"


def checked_address(address: str, place: int) -> str:
    """One plain address: no display name, no second address (NOT-4)."""
    try:
        if kind_of(address) == "email":
            return _EMAIL.validate_python(address)
        return e164(address)
    except (ValidationError, RuleViolated):
        pointer = f"/recipients/{place}/address"
        raise ValidationFailed(
            errors=[_error(pointer, "address", "This is not an address that can receive messages.")]
        ) from None


def _error(pointer: str, code: str, detail: str) -> FieldError:
    return {"pointer": pointer, "code": code, "detail": detail}
