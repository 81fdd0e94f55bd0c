"""People as the pipeline sees them, and what it decides for each of their channels."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select

from thenga.domains.identity.public import PersonCard
from thenga.domains.notification.services.recipients.addresses import (
    address_fingerprint,
    suppressed_among,
)
from thenga.domains.notification.services.recipients.pipeline import (
    Candidate,
    Decision,
    Verdict,
    decide,
)
from thenga.domains.notification.services.recipients.preferences import (
    CHANNELS,
    Stored,
    effective,
    minimum_channel,
)
from thenga.domains.notification.services.recipients.quiet_hours import QuietHours
from thenga.domains.notification.services.templates import (
    FALLBACK,
    LANGUAGES,
    ChannelKind,
    Topic,
)
from thenga.domains.notification.settings import QUIET_MIN_LEAD
from thenga.domains.notification.tables import Preference
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.values.calendar import HOME_ZONE

_GONE = ("disabled", "erased")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody to tell: where they can be reached now, and what they and their company have set.

    `languages` are the wished ones, the person's before the organization's (NOT-24).
    """

    user_id: UUID | None
    is_member: bool = True
    is_disabled: bool = False
    addresses: Mapping[ChannelKind, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    time_zone: str = HOME_ZONE
    stored: Stored = field(default_factory=Stored)
    quiet_hours: QuietHours = field(default_factory=QuietHours)
    suppressed: frozenset[ChannelKind] = frozenset()
    is_permitted: bool = True

    @property
    def language(self) -> str | None:
        """The most wished language, if any."""
        return self.languages[0] if self.languages else None

    @property
    def usable(self) -> frozenset[ChannelKind]:
        """Channels on which a message can reach the person."""
        inbox: set[ChannelKind] = {"in_app"} if self.user_id is not None else set()
        return frozenset((inbox | self.addresses.keys()) - self.suppressed)


def stranger(channel: ChannelKind, address: str) -> Person:
    """Somebody known by an address only, without preferences."""
    return Person(user_id=None, addresses={channel: address})


def departed(user_id: UUID) -> Person:
    """Somebody whom Identity does not know any more."""
    return Person(user_id=user_id, is_member=False)


async def load_persons(
    read: Reader, cards: Mapping[UUID, PersonCard], *, topic: Topic | None
) -> dict[UUID, Person]:
    """People with their preferences, quiet hours and suppressed addresses, in three statements.

    Without a topic only what holds for all topics is loaded.
    """
    rows = await _preferences(read, cards, topic)
    hours = await configuration.value(read, QUIET_MIN_LEAD)
    lead = timedelta(hours=hours)
    found = {
        user_id: _person(read.organization_id, card, rows, lead) for user_id, card in cards.items()
    }
    return await _with_suppressions(read, found)


async def _preferences(
    read: Reader, user_ids: Iterable[UUID], topic: Topic | None
) -> dict[tuple[UUID | None, bool], Preference]:
    """Rows of these people and of the organization, by person and whether they are general."""
    code = topic.code if topic else None
    statement = select(Preference).where(
        Preference.organization_id == read.organization_id,
        or_(Preference.user_id.is_(None), among(Preference.user_id, list(user_ids))),
        or_(Preference.topic_code.is_(None), Preference.topic_code == code),
    )
    return {(row.user_id, row.topic_code is None): row for row in await read.all(statement)}


def _person(
    organization_id: UUID,
    card: PersonCard,
    rows: Mapping[tuple[UUID | None, bool], Preference],
    lead: timedelta,
) -> Person:
    own, general = rows.get((card.user_id, False)), rows.get((card.user_id, True))
    ours, ours_general = rows.get((None, False)), rows.get((None, True))
    stored = Stored(*(_switches(row) for row in (own, general, ours, ours_general)))
    generals = [row for row in (general, ours_general) if row is not None]
    hours = next((row.quiet_hours for row in generals if row.quiet_hours), None)
    addresses: dict[ChannelKind, str] = {}
    if card.email is not None:
        addresses["email"] = card.email
    if card.phone is not None:
        addresses["sms"] = card.phone
    return Person(
        user_id=card.user_id,
        # Whoever the platform itself writes to is no member of the operator.
        is_member=organization_id == OPERATOR or organization_id in card.organization_ids,
        is_disabled=card.status in _GONE,
        addresses=addresses,
        languages=_languages(general, card.locale, ours_general),
        time_zone=card.time_zone,
        stored=stored,
        quiet_hours=QuietHours.of(hours, lead=lead),
    )


def _switches(row: Preference | None) -> Any:
    return {} if row is None else row.channels


def _languages(
    person: Preference | None, locale: str, organization: Preference | None
) -> tuple[str, ...]:
    """The chain of wished languages (NOT-24)."""
    # Identity stores English unless the person chose a language, so English is no wish.
    chosen = locale if locale in LANGUAGES and locale != FALLBACK else None
    wished = (person and person.language, chosen, organization and organization.language)
    return tuple(one for one in wished if one)


async def _with_suppressions(read: Reader, persons: Mapping[UUID, Person]) -> dict[UUID, Person]:
    prints = {
        (user_id, channel): address_fingerprint(read.host, channel, address)
        for user_id, person in persons.items()
        for channel, address in person.addresses.items()
    }
    suppressed = await suppressed_among(read, set(prints.values()))
    if not suppressed:
        return dict(persons)
    return {
        user_id: replace(
            person,
            suppressed=frozenset(
                channel for channel in person.addresses if prints[user_id, channel] in suppressed
            ),
        )
        for user_id, person in persons.items()
    }


def verdicts(
    topic: Topic,
    person: Person,
    channels: Sequence[ChannelKind],
    *,
    at: datetime,
    deadline_at: datetime | None = None,
    expires_at: datetime | None = None,
    approved: bool = True,
    configured: Set[ChannelKind] = frozenset(CHANNELS),
) -> dict[ChannelKind, Verdict]:
    """What happens on each channel; the legal minimum is always among them (NOT-9)."""
    must = minimum_channel(topic, person.usable)
    wanted = [one for one in CHANNELS if one in channels or one == must]
    if person.user_id is None:
        wanted = [one for one in wanted if one in person.addresses]
    preferences = effective(topic, person.stored, usable=person.usable)
    return {
        channel: decide(
            Candidate(
                topic=topic,
                channel=channel,
                at=at,
                preference=preferences[channel],
                is_member=person.is_member,
                is_disabled=person.is_disabled,
                is_permitted=person.is_permitted,
                address=person.addresses.get(channel),
                is_suppressed=channel in person.suppressed,
                is_approved=approved,
                is_configured=channel in configured,
                quiet_hours=person.quiet_hours,
                deadline_at=deadline_at,
                expires_at=expires_at,
            )
        )
        for channel in wanted
    }


def to_json(decisions: Iterable[Decision], at: datetime) -> list[dict[str, Any]]:
    """Decisions as a delivery stores them."""
    return [
        {
            "step": one.step,
            "outcome": one.outcome,
            "reasonCode": one.reason,
            "rule": one.rule,
            "at": at.isoformat(),
        }
        for one in decisions
    ]
