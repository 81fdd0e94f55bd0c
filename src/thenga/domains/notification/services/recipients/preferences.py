"""Which channels are on for a person and a topic (NOT-8), and which must stay on (NOT-9)."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID, uuid5

from thenga.domains.notification.services.templates import ChannelKind, Topic

CHANNELS: tuple[ChannelKind, ...] = ("in_app", "email", "sms")
Switch = Literal["on", "off", "default"]
Source = Literal["legal_minimum", "person", "person_general", "organization", "topic"]
Switches = Mapping[ChannelKind, Switch]

_IDS = UUID("b512628e-21b1-535b-96ad-15e3fe1a13c4")


@dataclass(frozen=True, slots=True)
class Stored:
    """What a person and an organization have set, for one topic and in general."""

    person: Switches = field(default_factory=dict)
    person_general: Switches = field(default_factory=dict)
    organization: Switches = field(default_factory=dict)
    organization_general: Switches = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effective:
    """Whether a channel is on, who decided it, and whether it can be changed."""

    value: Literal["on", "off"]
    source: Source
    locked: bool = False
    rule: str | None = None


def preference_id(organization_id: UUID, user_id: UUID | None, topic_code: str | None) -> UUID:
    """The ID of a preference, stored or not."""
    return uuid5(_IDS, f"{organization_id}/{user_id or '*'}/{topic_code or '*'}")


def minimum_channel(topic: Topic, usable: Set[ChannelKind]) -> ChannelKind | None:
    """The channel of a mandatory topic that cannot be switched off: the first usable one."""
    if not topic.mandatory:
        return None
    return next((one for one in topic.minimum_channels if one in usable), None)


def effective(
    topic: Topic, stored: Stored, *, usable: Set[ChannelKind]
) -> dict[ChannelKind, Effective]:
    """Every channel's setting; the first of the stored rows that says something decides."""
    must = minimum_channel(topic, usable)
    return {one: _effective(topic, stored, one, must) for one in CHANNELS}


def _effective(
    topic: Topic, stored: Stored, channel: ChannelKind, must: ChannelKind | None
) -> Effective:
    if channel not in topic.allowed_channels:
        return Effective("off", "topic", locked=True)
    if channel == must:
        return Effective("on", "legal_minimum", locked=True, rule="NOT-9")
    rows: tuple[tuple[Source, Switches], ...] = (
        ("person", stored.person),
        ("person_general", stored.person_general),
        ("organization", stored.organization),
        ("organization", stored.organization_general),
    )
    for source, switches in rows:
        match switches.get(channel, "default"):
            case "on" | "off" as value:
                return Effective(value, source)
    return Effective("on" if channel in topic.default_channels else "off", "topic")
