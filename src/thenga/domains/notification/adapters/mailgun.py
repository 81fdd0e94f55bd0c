"""Reports on mail by Mailgun: JSON with an HMAC-SHA256 over time and token.

The event itself is not signed, so a token counts once and its time must be near ours.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from thenga.domains.notification.adapters.provider import (
    TOLERANCE,
    Call,
    Unreadable,
    is_signed,
    part,
    read_object,
    text,
)
from thenga.domains.notification.values.messages import Report, ReportedStatus

_BAD_ADDRESS = re.compile(r"5\.(1\.[0-9]{1,3}|2\.1)")
_TIME = re.compile("[0-9]{1,11}")
_TOKEN = re.compile("[0-9a-zA-Z]{16,100}")


class MailgunReports:
    """Reads event callbacks."""

    def verify(self, call: Call, keys: Sequence[str]) -> str | None:
        signed = part(read_object(call.raw), "signature")
        at, token, given = (text(signed, name) for name in ("timestamp", "token", "signature"))
        if at is None or token is None or given is None or not given.isascii():
            return None
        if not _TIME.fullmatch(at) or not _TOKEN.fullmatch(token):
            return None
        if not is_signed(keys, {key: signature(key, at, token) for key in keys}, given.encode()):
            return None
        if abs(call.now - datetime.fromtimestamp(int(at), UTC)) > TOLERANCE:
            return None
        return token

    def report(self, content: bytes) -> Report:
        data = part(read_object(content), "event-data")
        event = text(data, "event")
        message_id = text(part(data, "message", "headers"), "message-id")
        if event is None or message_id is None:
            raise Unreadable("no event or message")
        permanent = event == "failed" and data.get("severity") == "permanent"
        said = part(data, "delivery-status")
        code = text(said, "enhanced-code") or text(said, "code")
        return Report(
            provider_message_id=message_id.strip("<>"),
            provider_status=f"{event} {data.get('severity')}" if event == "failed" else event,
            status=_status(event, permanent=permanent),
            address=text(data, "recipient"),
            occurred_at=_instant(data),
            code=code,
            address_is_bad=permanent and _BAD_ADDRESS.match(code or "") is not None,
        )


def signature(key: str, at: str, token: str) -> bytes:
    return hmac.new(key.encode(), f"{at}{token}".encode(), hashlib.sha256).hexdigest().encode()


def _status(event: str, *, permanent: bool) -> ReportedStatus | None:
    """A temporary failure is tried again by the relay, so the mail stays sent."""
    match event:
        case "delivered":
            return "delivered"
        case "failed":
            return "bounced" if permanent else "sent"
        case "rejected":
            return "undelivered"
        case "accepted":
            return "sent"
    return None


def _instant(data: dict[str, Any]) -> datetime | None:
    at = data.get("timestamp")
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 < at < 10**11:
        return None
    try:
        return datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError):
        return None
