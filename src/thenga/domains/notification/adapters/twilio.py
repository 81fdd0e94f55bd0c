"""SMS by Twilio: sent by form POST, reported by callbacks with HMAC-SHA1."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from thenga.domains.notification.adapters.provider import (
    Call,
    Unreadable,
    is_signed,
    read_object,
    scrubbed,
    text,
)
from thenga.domains.notification.values.messages import Answer, Message, Report, ReportedStatus
from thenga.kernel.outside.outbound import Outbound, Reply, Silence, Unreached

_STATUSES: dict[str, ReportedStatus] = {
    "accepted": "sent",
    "scheduled": "sent",
    "queued": "sent",
    "sending": "sent",
    "sent": "sent",
    "delivered": "delivered",
    "read": "delivered",
    "undelivered": "undelivered",
    "failed": "undelivered",
    "canceled": "undelivered",
}
_NOT_A_NUMBER = ("21211", "21614")  # not a valid number, not a mobile number
_MOST_FIELDS = 100
_LONGEST_WAIT = 3600


@dataclass(frozen=True, slots=True)
class TwilioSettings:
    """An account with its current token and the number that it sends from."""

    account_sid: str
    token: str
    sender: str


class Twilio:
    """Sends SMS."""

    def __init__(self, outbound: Outbound, settings: TwilioSettings) -> None:
        self._outbound = outbound
        self._settings = settings

    async def send(self, message: Message) -> Answer:
        settings = self._settings
        pair = base64.b64encode(f"{settings.account_sid}:{settings.token}".encode()).decode()
        form = {
            "To": message.to,
            "From": settings.sender,
            "Body": message.text,
            "StatusCallback": message.callback_url,
        }
        path = f"/2010-04-01/Accounts/{quote(settings.account_sid, safe='')}/Messages.json"
        headers = {"Authorization": f"Basic {pair}"}
        try:
            reply = await self._outbound.send("POST", path, headers=headers, form=form)
        except Unreached as error:
            return Answer("refused_transient", code=str(error))
        except Silence as silence:
            return _unclear(silence)
        return _answered(reply, message)


class TwilioReports:
    """Reads status callbacks."""

    def verify(self, call: Call, keys: Sequence[str]) -> str | None:
        """The signature covers our own address of the callback and the fields in order of name.
        Twilio signs with or without the port."""
        given, fields = call.header("x-twilio-signature"), _fields(call.raw)
        if given is None or fields is None:
            return None
        urls = (call.url, _with_port(call.url))
        if not any(
            is_signed(keys, {key: signature(key, url, fields) for key in keys}, given.encode())
            for url in urls
        ):
            return None
        named = dict(fields)
        return f"{named.get('MessageSid', '')}:{named.get('MessageStatus', '')}"[:200]

    def report(self, content: bytes) -> Report:
        named = dict(_fields(content) or ())
        sid, status = text(named, "MessageSid"), text(named, "MessageStatus")
        if sid is None or status is None:
            raise Unreadable("no message or status")
        return Report(
            provider_message_id=sid,
            provider_status=status,
            status=_STATUSES.get(status),
            address=text(named, "To"),
            code=text(named, "ErrorCode"),
        )


def signature(token: str, url: str, fields: Sequence[tuple[str, str]]) -> bytes:
    """Base64 of HMAC-SHA1 over the address and the fields as they arrived."""
    signed = url + "".join(name + value for name, value in sorted(fields))
    made = hmac.new(token.encode(), signed.encode(), hashlib.sha1)
    return base64.b64encode(made.digest())


def _fields(raw: bytes) -> list[tuple[str, str]] | None:
    """The fields of a form. None if it is none, or names a field twice."""
    try:
        found = parse_qsl(
            raw.decode(),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        return None
    return found if len(dict(found)) == len(found) else None


def _with_port(url: str) -> str:
    parts = urlsplit(url)
    if parts.port is not None:
        return urlunsplit(parts._replace(netloc=parts.hostname or ""))
    port = 443 if parts.scheme == "https" else 80
    return urlunsplit(parts._replace(netloc=f"{parts.netloc}:{port}"))


def _answered(reply: Reply, message: Message) -> Answer:
    said = read_object(reply.body)
    if reply.status == 429:
        return Answer("refused_transient", code="429", retry_after=_wait(reply))
    if reply.status >= 400:
        code = text(said, "code") or str(reply.status)
        words = scrubbed(str(said.get("message", "")), message.to)
        return Answer("refused_final", code=code, text=words, address_is_bad=code in _NOT_A_NUMBER)
    sid, segments = text(said, "sid"), text(said, "num_segments") or "1"
    if sid is None:
        return Answer("unknown", code=str(reply.status))
    count = int(segments) if segments.isdecimal() and len(segments) < 3 else 1
    return Answer("accepted", sid, code=str(reply.status), segments=max(count, 1))


def _unclear(silence: Silence) -> Answer:
    """503 with `Retry-After` says that nothing was done. Everything else may have been sent."""
    reply = silence.reply
    if reply is not None and reply.status == 503 and "retry-after" in reply.headers:
        return Answer("refused_transient", code="503", retry_after=_wait(reply))
    return Answer("unknown", code=str(silence)[:100])


def _wait(reply: Reply) -> timedelta | None:
    given = reply.headers.get("retry-after", "")
    if not given.isdecimal() or len(given) > 9:
        return None
    return timedelta(seconds=min(int(given), _LONGEST_WAIT))
