"""Where a unit of work came from: the request, event or job that caused it."""

import os
import socket
from dataclasses import dataclass
from uuid import UUID

from thenga.kernel.values.ids import new_id


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


def at_console(action: str) -> Origin:
    """The origin of a change that somebody makes by a command on the machine itself.

    Nobody signs in there, so its audit rows name the user of the operating system.
    """
    run = f"console-{new_id()}"
    user = os.environ.get("SUDO_USER") or os.environ.get("USER") or f"uid {os.getuid()}"
    reason = f"At the console of {socket.gethostname()} by {user}"
    return Origin(action=action, request_id=run, correlation_id=run, reason=reason)
