"""Messages with a link, over SMTP; Notification takes this over when it exists."""

from dataclasses import dataclass
from email.message import EmailMessage
from typing import Protocol

import aiosmtplib

from thenga.kernel.host import Host


@dataclass(frozen=True)
class Letter:
    """One message to one address; the address is checked input, so it holds no line break."""

    to: str
    subject: str
    text: str


class Mail(Protocol):
    """Whoever delivers a letter; `key` makes a repeated hand-over the same letter."""

    async def send(self, letter: Letter, *, key: str) -> None: ...


class SmtpMail:
    """Real SMTP, one connection a letter."""

    def __init__(self, host: Host) -> None:
        self._host = host.settings.smtp_host
        self._port = host.settings.smtp_port

    async def send(self, letter: Letter, *, key: str) -> None:
        message = EmailMessage()
        message["From"] = "Thenga <no-reply@thenga.example>"
        message["To"] = letter.to
        message["Subject"] = letter.subject
        message["Message-ID"] = f"<{key}@thenga.example>"
        message.set_content(letter.text)
        await aiosmtplib.send(message, hostname=self._host, port=self._port, timeout=10)
