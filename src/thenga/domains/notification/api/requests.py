"""Requests for messages."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.notification.api.about import AboutBody, AboutView, TopicCode
from thenga.domains.notification.api.targets import Audience, targets_of
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import requests
from thenga.domains.notification.services.recipients import AudienceEmpty
from thenga.domains.notification.services.requests import Asked, Counts, FactsMismatch
from thenga.domains.notification.services.templates import (
    Acknowledgement,
    Category,
    ChannelKind,
    Lane,
    TopicUnknown,
)
from thenga.domains.notification.tables import DeliveryStatus, Request, RequestStatus
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate
from thenga.kernel.http.bodies import Body, Progress, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, lines, matching, text
from thenga.kernel.values.references import Reference

router = make_router("Notification / Requests")

RequestId = Annotated[UUID, Path(alias="requestId")]
FactName = Annotated[str, matching("^[a-z][A-Za-z0-9]{0,39}$", 40)]
FactValue = Annotated[str, lines(0, 4000)]


class MessageBody(Body):
    """Content and audience of a message."""

    topic_code: Annotated[TopicCode, Field(description="Topic that is open to organizations.")]
    about: AboutBody
    audience: Audience
    exclude_actor: Annotated[
        bool, Field(description="Whether you are left out if you are in the audience.")
    ] = True
    facts: Annotated[
        dict[FactName, FactValue],
        Field(max_length=40, description="Values of the variables that the template declares."),
    ]
    channel_kinds: Annotated[
        list[ChannelKind] | None,
        Field(
            min_length=1,
            max_length=3,
            description="Channels to use among those of the topic. All of them if omitted.",
        ),
    ] = None
    acknowledgement: Annotated[
        Acknowledgement,
        Field(description="Whether recipients are asked to acknowledge the message."),
    ] = "none"


class CreateRequest(MessageBody):
    """Message to send to members of the organization."""

    dedupe_key: Annotated[
        Annotated[str, text(1, 200)] | None,
        Field(
            description="Your key. A second request with it is refused with the ID of the first."
        ),
    ] = None
    send_at: Annotated[
        Instant | None, Field(description="When to send, at most 400 days ahead. Now if omitted.")
    ] = None
    expires_at: Annotated[
        Instant | None, Field(description="When the message expires and is no longer sent.")
    ] = None
    deadline_at: Annotated[
        Instant | None,
        Field(
            description="Deadline that the message is about. Quiet hours do not apply close to it."
        ),
    ] = None

    def asked(self, work: Work) -> Asked:
        actor = work.actor
        return Asked(
            topic_code=self.topic_code,
            source_domain="notification",
            facts=self.facts,
            audience=targets_of(self.audience),
            about=Reference.model_validate(self.about.model_dump()),
            dedupe_key=self.dedupe_key,
            exclude_actor=self.exclude_actor,
            requested_by=actor.id if actor.kind is ActorKind.USER else None,
            channel_kinds=self.channel_kinds,
            acknowledgement=self.acknowledgement,
            send_at=self.send_at,
            expires_at=self.expires_at,
            deadline_at=self.deadline_at,
        )


class StatusCountView(View):
    """Number of deliveries in one status."""

    status: DeliveryStatus
    count: int


class ReasonCountView(View):
    """Number of deliveries that were not sent for one reason."""

    reason_code: str
    count: int


class RequestCountsView(View):
    """Number of people and deliveries by result."""

    persons: Annotated[int, Field(description="People addressed so far.")]
    reached: Annotated[int, Field(description="People reached on at least one channel.")]
    not_reached: Annotated[int, Field(description="People not reached on any channel.")]
    deliveries: Annotated[
        list[StatusCountView], Field(description="Number of deliveries by status.")
    ]
    not_sent: Annotated[
        list[ReasonCountView], Field(description="Number of deliveries not sent, by reason.")
    ]

    @classmethod
    def of(cls, counts: Counts) -> "RequestCountsView":
        return cls(
            persons=counts.persons,
            reached=counts.outcomes.get("reached", 0),
            not_reached=counts.outcomes.get("not_reached", 0),
            deliveries=[
                StatusCountView(status=DeliveryStatus(one), count=count)
                for one, count in sorted(counts.deliveries.items())
            ],
            not_sent=[
                ReasonCountView(reason_code=one, count=count)
                for one, count in sorted(counts.not_sent.items())
            ],
        )


class NotificationRequestView(Stored):
    """A request to send a message, with the results so far."""

    organization_id: UUID
    status: RequestStatus
    topic_code: str
    category: Category
    lane: Annotated[Lane, Field(description="Urgency. `security` is sent before all others.")]
    source_domain: Annotated[str, Field(description="Domain that made the request.")]
    requested_by: Annotated[
        UUID | None,
        Field(description="Person who made the request. Null for API keys and other domains."),
    ]
    about: AboutView | None
    dedupe_key: str | None
    exclude_actor: bool
    channel_kinds: list[ChannelKind] | None
    acknowledgement: Acknowledgement
    send_at: datetime
    expires_at: datetime
    deadline_at: datetime | None
    completed_at: Annotated[
        datetime | None, Field(description="When all deliveries were finished. Null until then.")
    ]
    counts: RequestCountsView
    progress: Annotated[Progress, Field(description="Number of finished deliveries.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/notifications/requests/{self.id}"

    @classmethod
    def of(cls, request: Request, counts: Counts, now: datetime) -> "NotificationRequestView":
        status = requests.status_at(request, now)
        total = sum(counts.deliveries.values())
        waiting = sum(counts.deliveries.get(one, 0) for one in ("held", "queued", "sending"))
        planned = status not in _UNPLANNED
        values = request.__dict__ | {
            "status": status,
            "about": request.about and AboutView.model_validate(request.about),
            "counts": RequestCountsView.of(counts),
            "progress": Progress(
                done=total - waiting, total=total if planned else None, note=status.value
            ),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


_UNPLANNED = (RequestStatus.SCHEDULED, RequestStatus.ACCEPTED, RequestStatus.RESOLVING)


@router.post(
    "/notifications/requests",
    status_code=202,
    responses=problems(TopicUnknown, FactsMismatch, AudienceEmpty, Duplicate),
)
async def create_notification_request(
    body: CreateRequest,
    work: Annotated[Work, writes(Permission.REQUEST_CREATE)],
) -> NotificationRequestView:
    """Send a message to members. Facts are checked now; recipients are resolved in the background.

    Read the request again to see whom it reached.
    """
    request = await requests.submit(work, body.asked(work))
    return NotificationRequestView.of(request, await requests.counts_of(work, request.id), work.now)


@router.get("/notifications/requests/{requestId}")
async def get_notification_request(
    request_id: RequestId,
    read: Annotated[Reader, reads(Permission.REQUEST_READ)],
) -> NotificationRequestView:
    """Retrieve a request with the people reached, and the reasons why others were not."""
    request = await read.get(Request, request_id)
    return NotificationRequestView.of(request, await requests.counts_of(read, request_id), read.now)
