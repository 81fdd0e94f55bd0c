"""Preferences as people see and set them: every topic has one, stored or not (NOT-8, NOT-9)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import asyncpg
from pydantic.alias_generators import to_camel
from sqlalchemy import or_, select

from thenga.domains.identity import public as identity
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import templates
from thenga.domains.notification.services.recipients.audience import ask_people
from thenga.domains.notification.services.recipients.persons import load_persons
from thenga.domains.notification.services.recipients.preferences import (
    CHANNELS,
    Effective,
    Stored,
    Switch,
    effective,
    minimum_channel,
    preference_id,
)
from thenga.domains.notification.services.templates import (
    Category,
    ChannelKind,
    Topic,
    find_topic,
)
from thenga.domains.notification.tables import Preference
from thenga.kernel.access import gate
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.positions import cut
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    ERRORS,
    NotFound,
    Problem,
    RuleViolated,
    StaleVersion,
    extensions,
)

GENERAL = "*"  # the code of the row that holds for all topics
Scope = Literal["person", "organization"]
Rows = Mapping[tuple[UUID | None, str | None], Preference]


class MinimumChannel(Problem):
    """The law requires messages on this topic, so one channel must stay on.

    `errors` points at it. Switch off the other channels instead. If the address of this channel
    stops working, the next channel is used.
    """

    code, status, title = "notification-minimum-channel", 422, "This channel must stay on"
    members = extensions(errors=ERRORS, rule=(str, "Rule that requires the channel."))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A preference as somebody wants it, whole."""

    scope: Scope
    topic_code: str
    channels: dict[ChannelKind, Switch]
    quiet_hours: dict[str, Any] | None
    language: str | None


@dataclass(frozen=True, slots=True)
class ShownPreference:
    """A preference with what follows from it; `row` is new and has version 0 if none is stored."""

    scope: Scope
    topic: Topic | None
    row: Preference
    effective: dict[ChannelKind, Effective]


async def list_preferences(
    read: Reader,
    paged: Paged,
    *,
    scope: Scope,
    topic_code: str | None,
    category: Category | None,
) -> tuple[list[ShownPreference], str | None]:
    """The general preference and those of all topics, page by page in the order of the codes."""
    codes = [
        code
        for code, topic in _codes().items()
        if topic_code in (None, code)
        and (category is None or (topic and topic.category == category))
    ]
    ordered = sorted(codes, reverse=paged.descending)
    page, after = cut(read, paged, ordered, lambda code: (code,))
    usable = await _usable(read, scope)
    rows = await _rows(read)
    return [_shown(read, scope, code, rows, usable) for code in page], after


def _codes() -> dict[str, Topic | None]:
    return {GENERAL: None, **templates.topics()}


async def _usable(read: Reader, scope: Scope) -> frozenset[ChannelKind]:
    """Channels that reach the caller; of an organization's members nothing is assumed."""
    if scope == "organization":
        return frozenset(CHANNELS)
    user_id = _caller(read)
    cards = await ask_people(read, [user_id])
    persons = await load_persons(read, cards, topic=None)
    return persons[user_id].usable if user_id in persons else frozenset(CHANNELS)


def _caller(read: Reader) -> UUID:
    if read.actor.id is None:  # the permission is for people only
        raise NotFound()
    return read.actor.id


async def _rows(read: Reader) -> Rows:
    """All rows of the caller and of the organization."""
    statement = select(Preference).where(
        Preference.organization_id == read.organization_id,
        or_(Preference.user_id.is_(None), Preference.user_id == _caller(read)),
    )
    return {(row.user_id, row.topic_code): row for row in await read.all(statement)}


def _shown(
    read: Reader, scope: Scope, code: str, rows: Rows, usable: frozenset[ChannelKind]
) -> ShownPreference:
    user_id = _caller(read) if scope == "person" else None
    topic = _codes()[code]
    topic_code = topic.code if topic else None
    row = rows.get((user_id, topic_code)) or Preference(
        id=preference_id(read.organization_id, user_id, topic_code),
        organization_id=read.organization_id,
        user_id=user_id,
        topic_code=topic_code,
        channels={},
    )
    if topic is None:
        return ShownPreference(scope, None, row, {})
    found = effective(topic, _stored(rows, user_id, topic.code), usable=usable)
    return ShownPreference(scope, topic, row, found)


def _stored(rows: Rows, user_id: UUID | None, code: str) -> Stored:
    def switches(whose: UUID | None, topic_code: str | None) -> Any:
        row = rows.get((whose, topic_code))
        return row.channels if row else {}

    ours = {"organization": switches(None, code), "organization_general": switches(None, None)}
    if user_id is None:
        return Stored(**ours)
    return Stored(person=switches(user_id, code), person_general=switches(user_id, None), **ours)


async def replace_preference(work: Work, wanted_id: UUID, wanted: Wanted) -> ShownPreference:
    """Store a preference whole. `If-Match` names the version that it replaces, at first 0."""
    user_id = _caller(work) if wanted.scope == "person" else None
    code = None if wanted.topic_code == GENERAL else wanted.topic_code
    if preference_id(work.organization_id, user_id, code) != wanted_id:
        raise NotFound()
    topic = find_topic(code) if code else None
    if wanted.scope == "organization":
        await _demand_manage(work, wanted_id)
    usable = await _usable(work, wanted.scope)
    _check(topic, wanted, usable)
    values: dict[str, Any] = {
        "channels": {kind: value for kind, value in wanted.channels.items() if value != "default"},
        "quiet_hours": wanted.quiet_hours,
        "language": wanted.language,
    }
    await _store(work, wanted_id, {"user_id": user_id, "topic_code": code}, values)
    return _shown(work, wanted.scope, wanted.topic_code, await _rows(work), usable)


async def _demand_manage(work: Work, wanted_id: UUID) -> None:
    """The defaults of all members need a permission beyond that of the operation."""
    decided = await work.port(identity.Decisions).check(
        actor=identity.ActorRef(type="user", id=_caller(work), session_id=work.actor.session_id),
        organization_id=work.organization_id,
        action=Permission.PREFERENCE_MANAGE,
        resource=identity.ResourceRef(type="notification.preference", id=str(wanted_id)),
        channel="http",
        request_id=work.origin.request_id,
    )
    if decided.decision == "deny":
        refusal = gate.Refusal(
            reason_code=decided.reason_code,
            remedy=decided.remedy,
            decision_id=decided.decision_id,
        )
        raise gate.problem_of(refusal, Permission.PREFERENCE_MANAGE)


def _check(topic: Topic | None, wanted: Wanted, usable: frozenset[ChannelKind]) -> None:
    hours = wanted.quiet_hours
    if topic is not None and (hours is not None or wanted.language is not None):
        raise RuleViolated(
            "Quiet hours and language apply to all topics. Set them on the topic `*`.",
            rule="NOT-10" if hours is not None else "NOT-24",
        )
    if hours is not None and hours["from"] == hours["to"]:
        raise RuleViolated("Quiet hours cannot start and end at the same time.", rule="NOT-10")
    if topic is None:
        return
    for kind, switch in wanted.channels.items():
        if switch == "on" and kind not in topic.allowed_channels:
            raise RuleViolated(f"This topic does not send messages by {kind}.", rule="NOT-8")
    must = minimum_channel(topic, usable)
    if must is not None and wanted.channels.get(must) == "off":
        detail = f"Messages on this topic are required by law, so {must} must stay on."
        pointer = f"/channels/{to_camel(must)}"
        error = {"pointer": pointer, "code": "minimum_channel", "detail": detail}
        raise MinimumChannel(detail, errors=[error], rule="NOT-9")


async def _store(work: Work, wanted_id: UUID, key: dict[str, Any], values: dict[str, Any]) -> None:
    """Insert the first version or replace the one that the caller has read."""
    if work.if_match == 0:
        work.if_match = None
        await _insert(
            work, Preference(id=wanted_id, organization_id=work.organization_id, **key, **values)
        )
        return
    try:
        row = await work.lock(Preference, wanted_id)
    except NotFound:
        raise StaleVersion(currentVersion=0) from None
    for name, value in values.items():
        setattr(row, name, value)
    await work.save(row)


async def _insert(work: Work, row: Preference) -> None:
    """The key of the row decides between two callers who both saw version 0."""
    try:
        await work.add(row)
    except asyncpg.UniqueViolationError:
        raise StaleVersion(
            "Someone changed this preference after you read it. Read it again."
        ) from None
