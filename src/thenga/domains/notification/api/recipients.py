"""A preview of whom a message would reach."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.notification.api.targets import Audience, targets_of
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import recipients
from thenga.domains.notification.services.recipients import (
    AudienceEmpty,
    Decision,
    PreviewedPerson,
    Verdict,
)
from thenga.domains.notification.services.templates import ChannelKind, TopicUnknown
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import DependencyUnavailable, InvalidCursor, NotFound
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, matching, whole

router = make_router("Notification / Requests")


class ResolveRecipients(Body):
    """Message whose recipients to preview."""

    topic_code: Annotated[
        str,
        matching(r"^[a-z]+\.[a-z_]{1,60}$", 80),
        Field(description="Topic of the message."),
    ]
    audience: Audience
    at: Annotated[
        Instant | None,
        Field(description="Time at which the message would be sent. Defaults to now."),
    ] = None
    limit: Annotated[int, whole(1, 200), Field(description="Number of people on a page.")] = 50
    cursor: Annotated[
        str | None,
        matching("^[A-Za-z0-9_-]+$", 2000),
        Field(description="`nextCursor` of the previous page."),
    ] = None


class DecisionView(View):
    """Decision of one step."""

    step: Annotated[str, Field(description="Step of the pipeline.")]
    outcome: Annotated[
        Literal["pass", "hold", "stop", "change"], Field(description="Decision of the step.")
    ]
    reason_code: Annotated[str | None, Field(description="Reason code. Null if it passed.")]
    rule: Annotated[str | None, Field(description="Rule behind the decision.")]

    @classmethod
    def of(cls, decision: Decision) -> "DecisionView":
        return cls(
            step=decision.step,
            outcome=decision.outcome,
            reason_code=decision.reason,
            rule=decision.rule,
        )


class ChannelVerdictView(View):
    """Preview of one channel."""

    channel_kind: Annotated[ChannelKind, Field(description="Channel of the message.")]
    verdict: Annotated[
        Literal["send", "hold", "stop"], Field(description="Whether the message would be sent.")
    ]
    reason_code: Annotated[str | None, Field(description="Why it would be held or stopped.")]
    reason: Annotated[str | None, Field(description="Reason as a sentence.")]
    held_until: Annotated[datetime | None, Field(description="Time until which it would be held.")]
    decisions: Annotated[list[DecisionView], Field(description="Decisions in order.")]

    @classmethod
    def of(cls, kind: ChannelKind, verdict: Verdict) -> "ChannelVerdictView":
        return cls(
            channel_kind=kind,
            verdict=verdict.verdict,
            reason_code=verdict.reason,
            reason=recipients.SENTENCES[verdict.reason][1] if verdict.reason else None,
            held_until=verdict.held_until,
            decisions=[DecisionView.of(one) for one in verdict.decisions],
        )


class PreviewedPersonView(View):
    """A person with a preview of each channel of the topic."""

    user_id: UUID
    mask: Annotated[str | None, Field(description="Masked address of the person.")]
    channels: Annotated[list[ChannelVerdictView], Field(description="Preview of each channel.")]

    @classmethod
    def of(cls, person: PreviewedPerson) -> "PreviewedPersonView":
        channels = [ChannelVerdictView.of(*one) for one in person.channels.items()]
        return cls(user_id=person.user_id, mask=person.mask, channels=channels)


@router.post(
    "/notifications/recipients/resolve",
    responses=problems(TopicUnknown, AudienceEmpty, NotFound, InvalidCursor, DependencyUnavailable),
)
async def resolve_recipients(
    body: ResolveRecipients, read: Annotated[Reader, reads(Permission.RECIPIENT_RESOLVE)]
) -> PageOf[PreviewedPersonView]:
    """Preview whom a message would reach, on which channels and when. Nothing is sent.

    A person in several groups can appear on several pages.
    """
    people, after = await recipients.preview(
        read,
        topic_code=body.topic_code,
        targets=targets_of(body.audience),
        at=body.at,
        limit=body.limit,
        cursor=body.cursor,
    )
    return PageOf[PreviewedPersonView](
        items=[PreviewedPersonView.of(one) for one in people], next_cursor=after
    )
