"""Where a unit of work came from: the request, event or job that caused it."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(slots=True)
class Origin:
    """What a unit of work came from; told in audit rows, events and jobs."""

    action: str
    request_id: str
    correlation_id: str
    causation_id: str | None = None
    traceparent: str | None = None
    network: str | None = None
    decision_id: UUID | None = None
    reason: str | None = None  # why staff look at what is a customer's, where they said it
    agent: str = ""  # the program that the caller says to use; names a device, proves nothing
