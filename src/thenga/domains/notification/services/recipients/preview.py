"""Whom a message would reach: the same pipeline as planning, and nothing is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.notification import public
from thenga.domains.notification.services.recipients.addresses import mask
from thenga.domains.notification.services.recipients.audience import (
    ask_people,
    audience,
    empty_audience,
)
from thenga.domains.notification.services.recipients.persons import (
    Person,
    load_persons,
    verdicts,
)
from thenga.domains.notification.services.recipients.pipeline import Verdict
from thenga.domains.notification.services.recipients.preferences import CHANNELS
from thenga.domains.notification.services.templates import (
    ChannelKind,
    Topic,
    approved,
    find_topic,
)
from thenga.domains.notification.tables import Channel
from thenga.kernel.db.positions import open_position, seal_position
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import InvalidCursor, NotFound


@dataclass(frozen=True, slots=True)
class PreviewedPerson:
    """A member and what would happen on each channel."""

    user_id: UUID
    mask: str | None
    channels: dict[ChannelKind, Verdict]


async def preview(
    read: Reader,
    *,
    topic_code: str,
    targets: Sequence[public.Target],
    at: datetime | None,
    limit: int,
    cursor: str | None,
) -> tuple[list[PreviewedPerson], str | None]:
    """The next people of an audience, as if the message were sent at that time.

    A user who is not a member is not found, so that nobody learns of strangers (NOT-4).
    """
    topic = find_topic(topic_code)
    bound_to = _bound_to(topic_code, targets)
    after = _opened(read, cursor, bound_to)
    user_ids, position = await audience(
        read, read.organization_id, targets, after=after, limit=limit
    )
    if not user_ids and after is None:
        raise empty_audience()
    persons = await load_persons(read, await ask_people(read, user_ids), topic=topic)
    if any(one not in persons or not persons[one].is_member for one in user_ids):
        raise NotFound()
    found = await _previewed(read, topic, [persons[one] for one in user_ids], at or read.now)
    if position is None:
        return found, None
    place = [position["target"], position["user"]]
    return found, seal_position(read, place, bound_to=bound_to)


async def _previewed(
    read: Reader, topic: Topic, persons: Sequence[Person], at: datetime
) -> list[PreviewedPerson]:
    is_approved = await approved(read, topic.template_key) is not None
    configured = await _configured(read)
    return [
        PreviewedPerson(
            user_id=person.user_id,
            mask=_mask(person),
            channels=verdicts(
                topic,
                person,
                topic.allowed_channels,
                at=at,
                approved=is_approved,
                configured=configured,
            ),
        )
        for person in persons
        if person.user_id is not None
    ]


async def _configured(read: Reader) -> frozenset[ChannelKind]:
    active = await read.values(select(Channel.channel_kind).where(Channel.status == "active"))
    return frozenset(one for one in CHANNELS if one == "in_app" or one in active)


def _mask(person: Person) -> str | None:
    return next((mask(kind, address) for kind, address in person.addresses.items()), None)


def _bound_to(topic_code: str, targets: Sequence[public.Target]) -> str:
    return f"resolve|{topic_code}|{[one.model_dump_json() for one in targets]}"


def _opened(read: Reader, cursor: str | None, bound_to: str) -> dict[str, int | str | None] | None:
    if cursor is None:
        return None
    target, user = open_position(read, cursor, bound_to=bound_to)
    if not isinstance(target, int):
        raise InvalidCursor
    return {"target": target, "user": None if user is None else str(user)}
