"""Preferences of a person and of an organization."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import recipients
from thenga.domains.notification.services.recipients import (
    GENERAL,
    MinimumChannel,
    ShownPreference,
    Wanted,
)
from thenga.domains.notification.services.templates import (
    Category,
    ChannelKind,
    Language,
    TopicUnknown,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable, Forbidden, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import TimeZoneName, matching

router = make_router("Notification / Preferences")

PreferenceId = Annotated[UUID, Path(alias="preferenceId")]
Scope = Annotated[
    recipients.Scope,
    Field(description="`person` for yourself, `organization` for the defaults of all members."),
]
TopicCode = Annotated[
    str,
    matching(r"^(?:\*|[a-z]+\.[a-z_]{1,60})$", 80),
    Field(description="Topic, or `*` for all topics."),
]
Switch = Annotated[
    Literal["on", "off", "default"],
    Field(description="`default` leaves the choice to the next level."),
]
LocalTime = Annotated[str, matching("^(?:[01][0-9]|2[0-3]):[0-5][0-9]$", 5)]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_FROM = "Local time at which quiet hours start. If it is later than `to`, they cross midnight."
_HOURS = (
    "Hours in which messages are held. Only on the topic `*`; null uses the default, 20:00 to "
    "07:00 for SMS. For no quiet hours, send an empty list of `channels`."
)
_LANGUAGE = "Language of messages. Only on the topic `*`; null uses the organization's language."


class SwitchesBody(Body):
    """Which channels are on. Omitted channels use the default."""

    in_app: Switch = "default"
    email: Switch = "default"
    sms: Switch = "default"


class QuietHoursBody(Body):
    """Hours in which messages on some channels are held."""

    begins: Annotated[LocalTime, Field(alias="from", description=_FROM)]
    ends: Annotated[
        LocalTime, Field(alias="to", description="Local time at which quiet hours end.")
    ]
    days: Annotated[
        list[Weekday],
        Field(min_length=1, max_length=7, description="Days on which quiet hours start."),
    ]
    channels: Annotated[
        list[Literal["email", "sms"]],
        Field(max_length=2, description="Channels on which messages are held."),
    ]
    time_zone: TimeZoneName

    def stored(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


class ReplacePreference(Body):
    """The whole preference. Omitted fields use their default."""

    scope: Scope
    topic_code: TopicCode
    channels: Annotated[
        SwitchesBody, Field(description="Channels to switch. Omitted ones use the default.")
    ] = SwitchesBody()
    quiet_hours: Annotated[QuietHoursBody | None, Field(description=_HOURS)] = None
    language: Annotated[Language | None, Field(description=_LANGUAGE)] = None


class SwitchesView(View):
    """Setting of each channel."""

    in_app: Switch
    email: Switch
    sms: Switch


class QuietHoursView(View):
    """Hours in which messages on some channels are held."""

    begins: Annotated[str, Field(alias="from", description=_FROM)]
    ends: Annotated[str, Field(alias="to", description="Local time at which quiet hours end.")]
    days: Annotated[list[Weekday], Field(description="Days on which quiet hours start.")]
    channels: Annotated[
        list[ChannelKind], Field(description="Channels on which messages are held.")
    ]
    time_zone: str


class EffectiveView(View):
    """Whether a channel is on, and why."""

    value: Annotated[Literal["on", "off"], Field(description="Whether messages use the channel.")]
    source: Annotated[
        Literal["legal_minimum", "person", "person_general", "organization", "topic"],
        Field(description="Source of the value."),
    ]
    locked: Annotated[bool, Field(description="Whether the value cannot be changed.")]
    rule: Annotated[str | None, Field(description="Rule that locks the value.")]


class EffectivesView(View):
    """Effective value of each channel."""

    in_app: Annotated[EffectiveView, Field(description="Effective value for the inbox.")]
    email: Annotated[EffectiveView, Field(description="Effective value for email.")]
    sms: Annotated[EffectiveView, Field(description="Effective value for SMS.")]


class PreferenceView(View):
    """A preference. If it was never stored, it has version 0 and the defaults."""

    id: Annotated[
        UUID, Field(description="Unique identifier, derived from organization, person and topic.")
    ]
    organization_id: UUID
    scope: Scope
    topic_code: Annotated[str, Field(description="Topic, or `*` for all topics.")]
    title: Annotated[str, Field(description="What the messages are about.")]
    category: Annotated[Category | None, Field(description="Category of the topic.")]
    mandatory: Annotated[
        bool, Field(description="Whether at least one channel must stay on by law.")
    ]
    channels: Annotated[SwitchesView, Field(description="Settings by channel.")]
    quiet_hours: Annotated[QuietHoursView | None, Field(description=_HOURS)]
    language: Annotated[str | None, Field(description=_LANGUAGE)]
    effective: Annotated[
        EffectivesView | None,
        Field(description="Effective value of each channel. Null for the topic `*`."),
    ]
    created_at: datetime | None
    updated_at: datetime | None
    version: Annotated[
        int, Field(ge=0, description="Version for `If-Match`. 0 before it is stored.")
    ]

    @classmethod
    def of(cls, shown: ShownPreference) -> "PreferenceView":
        row, topic = shown.row, shown.topic
        channels = {kind: row.channels.get(kind, "default") for kind in recipients.CHANNELS}
        return cls.model_validate(
            {
                "id": row.id,
                "organization_id": row.organization_id,
                "scope": shown.scope,
                "topic_code": topic.code if topic else GENERAL,
                "title": topic.title if topic else "All topics",
                "category": topic.category if topic else None,
                "mandatory": topic.mandatory if topic else False,
                "channels": channels,
                "quiet_hours": row.quiet_hours,
                "language": row.language,
                "effective": shown.effective or None,
                "created_at": row.created_at if row.version else None,
                "updated_at": row.updated_at if row.version else None,
                "version": row.version,
            }
        )


@router.get("/notifications/preferences", responses=problems(DependencyUnavailable))
async def list_preferences(
    read: Annotated[Reader, reads(Permission.PREFERENCE_READ)],
    page: Annotated[Paged, paged("topicCode")],
    scope: Annotated[
        recipients.Scope,
        Query(description="`person` for your own, `organization` for the defaults of members."),
    ] = "person",
    topic_code: Annotated[
        TopicCode | None, Query(alias="topicCode", description="Filter by topic.")
    ] = None,
    category: Annotated[Category | None, Query(description="Filter by category.")] = None,
) -> PageOf[PreferenceView]:
    """List the preferences of all topics, stored or not, with the effective channel values."""
    items, after = await recipients.list_preferences(
        read, page, scope=scope, topic_code=topic_code, category=category
    )
    return PageOf[PreferenceView](
        items=[PreferenceView.of(one) for one in items], next_cursor=after
    )


@router.put(
    "/notifications/preferences/{preferenceId}",
    responses=problems(
        MinimumChannel, TopicUnknown, RuleViolated, Forbidden, DependencyUnavailable
    ),
)
async def replace_preference(
    preference_id: PreferenceId,
    body: ReplacePreference,
    work: Annotated[Work, writes(Permission.PREFERENCE_UPDATE, if_match=True)],
) -> PreferenceView:
    """Replace a preference. Send `If-Match` with the version you read, at first `"0"`.

    Scope and topic must match the ID. Changing the defaults of an organization requires the
    permission `notification:preference:manage`.
    """
    wanted = Wanted(
        scope=body.scope,
        topic_code=body.topic_code,
        channels={kind: getattr(body.channels, kind) for kind in recipients.CHANNELS},
        quiet_hours=body.quiet_hours.stored() if body.quiet_hours else None,
        language=body.language,
    )
    return PreferenceView.of(await recipients.replace_preference(work, preference_id, wanted))
