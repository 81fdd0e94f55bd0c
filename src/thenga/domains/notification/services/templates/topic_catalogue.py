"""Topics: what people can be told about, and what applies to each (content/topics.json)."""

from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from thenga.kernel.errors import ERRORS, Problem, extensions

ChannelKind = Literal["in_app", "email", "sms"]
Category = Literal["security", "legal_notice", "transactional", "operational"]
Lane = Literal["security", "urgent", "normal", "bulk"]
Acknowledgement = Literal["none", "requested", "required"]

_FILE = Path(__file__).parents[2] / "content" / "topics.json"


class TopicUnknown(Problem):
    """There is no topic with this code, or your organization cannot use it.

    `GET /notifications/preferences` lists the topics.
    """

    code, status, title = "notification-topic-unknown", 422, "Unknown topic"
    members = extensions(errors=ERRORS)


class Topic(BaseModel):
    """One topic. A `mandatory` one keeps the first usable of `minimum_channels` switched on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    title: str
    category: Category
    lane: Lane
    allowed_channels: tuple[ChannelKind, ...]
    default_channels: tuple[ChannelKind, ...]
    mandatory: bool = False
    minimum_channels: tuple[ChannelKind, ...] = ()
    quiet_hours_apply: bool = True
    deadline_critical: bool = False
    acknowledgement: Acknowledgement = "none"
    escalation_policy_key: str | None = None
    requires_permission: str | None = None
    validity: timedelta = timedelta(days=7)
    open_to_tenants: bool = False
    reaches_leavers: bool = False  # also people who left or whose account is disabled (NOT-3)

    @property
    def template_key(self) -> str:
        """A topic and its template have the same name."""
        return self.code


@cache
def topics() -> dict[str, Topic]:
    """All topics by their code."""
    found = TypeAdapter(list[Topic]).validate_json(_FILE.read_bytes())
    return {one.code: one for one in found}


def find_topic(code: str) -> Topic:
    """The topic of this code, or a refusal that points at `topicCode`."""
    found = topics().get(code)
    if found is None:
        raise unknown_topic(code)
    return found


def unknown_topic(code: str) -> TopicUnknown:
    """The refusal of a topic that does not exist or is not open to the caller."""
    detail = f"There is no topic {code} that you can use here."
    error = {"pointer": "/topicCode", "code": "unknown", "detail": detail}
    return TopicUnknown(detail, errors=[error])
