"""A message to a provider, its answer, and what it reports later."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Outcome = Literal["accepted", "refused_transient", "refused_final", "unknown"]
ReportedStatus = Literal["sent", "undelivered", "delivered", "bounced"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one address. `message_id` is the same at every attempt."""

    to: str
    subject: str
    text: str
    html: str | None
    message_id: str
    sender_name: str
    sender_address: str
    callback_url: str


@dataclass(frozen=True, slots=True)
class Budget:
    """What a letter to an address counts for (NOT-50); `topic` has one of its own."""

    kind: Literal["security", "alerts", "ordinary"]
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call to a provider came to (NOT-30)."""

    outcome: Outcome
    provider_message_id: str | None = None
    code: str | None = None
    text: str | None = None
    retry_after: timedelta | None = None
    segments: int = 1
    address_is_bad: bool = False  # the address can never receive messages


@dataclass(frozen=True, slots=True)
class Report:
    """What a provider says later about a message.

    `status` is None if the event changes nothing, such as an opened mail.
    """

    provider_message_id: str
    provider_status: str
    status: ReportedStatus | None
    address: str | None
    occurred_at: datetime | None = None
    code: str | None = None
    address_is_bad: bool = False
