"""Twilio and Mailgun as far as we use them, with their true signatures, and a mail relay."""

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from thenga.tooling.dev.processes import free_ports

TOKEN, FORMER_TOKEN = "twilio-auth-token", "twilio-former-token"
MAILGUN_KEY = "mailgun-signing-key"
ACCOUNT = "AC00000000000000000000000000000001"
FORM = "application/x-www-form-urlencoded"
EMAIL = "019a0000-0000-7000-8000-00000000c002"
SMS = "019a0000-0000-7000-8000-00000000c003"


@dataclass(frozen=True)
class Sent:
    """One callback: to which channel, with which body and headers."""

    channel: str
    body: bytes
    headers: tuple[tuple[str, str], ...]

    @property
    def path(self) -> str:
        return f"/notifications/channels/{self.channel}/callbacks"


def twilio(url: str, sid: str, status: str, to: str, *, token: str = TOKEN, **more: str) -> Sent:
    """A status callback as Twilio signs it: the address and the sorted fields, HMAC-SHA1."""
    fields = {
        "AccountSid": ACCOUNT,
        "From": "+27600000000",
        "MessageSid": sid,
        "MessageStatus": status,
        "To": to,
        **more,
    }
    signed = url + "".join(name + fields[name] for name in sorted(fields))
    made = hmac.new(token.encode(), signed.encode(), hashlib.sha1).digest()
    headers = (("x-twilio-signature", base64.b64encode(made).decode()), ("content-type", FORM))
    return Sent(SMS, urlencode(fields).encode(), headers)


def mailgun(
    message_id: str,
    event: str,
    to: str,
    *,
    at: datetime,
    key: str = MAILGUN_KEY,
    token: str | None = None,
    **more: Any,
) -> Sent:
    """An event as Mailgun signs it: time and token, HMAC-SHA256."""
    stamp, used = str(int(at.timestamp())), token or (uuid4().hex + uuid4().hex)[:50]
    made = hmac.new(key.encode(), f"{stamp}{used}".encode(), hashlib.sha256).hexdigest()
    data = {
        "event": event,
        "id": uuid4().hex,
        "timestamp": at.timestamp(),
        "recipient": to,
        "message": {"headers": {"message-id": message_id}},
        **more,
    }
    body = {
        "signature": {"timestamp": stamp, "token": used, "signature": made},
        "event-data": data,
    }
    return Sent(EMAIL, json.dumps(body).encode(), (("content-type", "application/json"),))


@dataclass
class TwilioServer:
    """`POST /2010-04-01/Accounts/{sid}/Messages.json` on a plain socket, so it can cut the line.

    `script` has what it does with the next calls: `ok`, `cut` (the message is taken and the line
    is cut), or a status with headers and a body.
    """

    script: list[Any] = field(default_factory=list)
    messages: list[dict[str, str]] = field(default_factory=list)
    sids: list[str] = field(default_factory=list)
    authorization: list[str] = field(default_factory=list)
    before_answer: Callable[[str], Any] | None = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = dict(
                line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
            )
            body = await reader.readexactly(int(lines.get("content-length", "0")))
            self.authorization.append(lines.get("authorization", ""))
            self.messages.append(dict(parse_qsl(body.decode(), keep_blank_values=True)))
            step = self.script.pop(0) if self.script else "ok"
            sid = f"SM{uuid4().hex}"
            if step in ("ok", "cut"):
                self.sids.append(sid)
            if self.before_answer is not None:
                await self.before_answer(sid)
            if step == "cut":
                return
            if step == "ok":
                step = (201, {}, {"sid": sid, "status": "queued", "num_segments": "2"})
            writer.write(_answer(*step))
            await writer.drain()
        finally:
            writer.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.close()


def _answer(status: int, headers: dict[str, str], body: dict[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    lines = {"content-type": "application/json", "content-length": str(len(text)), **headers}
    named = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{named}connection: close\r\n\r\n".encode() + text


class MailServer:
    """A real SMTP server with a certificate of its own authority.

    `script` has the replies to the next messages: a text such as `250 OK`, `cut` or `silence`
    after the final dot. `refused` has the replies to recipients.
    """

    def __init__(self, folder: Path, *, offers_tls: bool = True) -> None:
        self.port = free_ports(1)[0]
        self.ca_file = str(folder / "ca.pem")
        self.script: list[str] = []
        self.refused: dict[str, str] = {}
        self.mails: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.data_bytes = 0
        context = _certificate(folder) if offers_tls else None
        self._controller = Controller(
            self,
            hostname="127.0.0.1",
            port=self.port,
            tls_context=context,
            require_starttls=offers_tls,
            ready_timeout=60,
        )

    def __enter__(self) -> "MailServer":
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()

    async def handle_RCPT(
        self, server: SMTP, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:
        self.data_bytes += len(envelope.content)
        step = self.script.pop(0) if self.script else "250 2.0.0 Queued"
        if step in ("cut", "silence") or step.startswith("2"):
            made = message_from_bytes(envelope.content, policy=policy.default)
            assert isinstance(made, EmailMessage)
            self.mails.append(made)
            self.recipients += envelope.rcpt_tos
        if step == "silence":
            await asyncio.sleep(60)  # or until the client leaves
        if step in ("cut", "silence"):
            assert server.transport is not None
            server.transport.close()
            return "421 gone"
        return step


def _certificate(folder: Path) -> ssl.SSLContext:
    """A certificate for 127.0.0.1 from an authority that only the tests trust."""
    authority, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)

    def made(name: x509.Name, key: Any, *, is_ca: bool) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        )
        if not is_ca:
            names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(authority, SHA256())

    (folder / "ca.pem").write_bytes(made(issuer, authority, is_ca=True).public_bytes(Encoding.PEM))
    chain = made(subject, server, is_ca=False).public_bytes(Encoding.PEM)
    key = server.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "server.pem").write_bytes(key + chain)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context
