"""Mail over SMTP. TLS is required: without it nothing is sent, except to this machine (NOT-28)."""

import re
import ssl
from dataclasses import dataclass, replace
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as WIRE
from functools import cache

import aiosmtplib

from thenga.domains.notification.adapters.provider import scrubbed
from thenga.domains.notification.values.messages import Answer, Message, Outcome

SECONDS = 10.0
MOST_BYTES = 200 * 1024
# The mailbox does not exist or is disabled. Other refusals can concern the sender (NOT-29).
_BAD_ADDRESS = re.compile(r"\b5\.(1\.[0-9]{1,3}|2\.1)\b")


@dataclass(frozen=True, slots=True)
class SmtpSettings:
    """A mail relay. `ca_file` names a private certificate authority, if the relay has one.

    `is_tls_at_once` is for relays that speak TLS from the first byte, usually on port 465.
    `is_plain` is for a relay on this machine, in development and tests.
    """

    host: str
    port: int
    username: str | None = None
    password: str | None = None
    ca_file: str | None = None
    is_tls_at_once: bool = False
    is_plain: bool = False
    from_address: str | None = None
    from_name: str | None = None


class Smtp:
    """Sends mail to a relay, one message to one recipient on each connection."""

    def __init__(self, settings: SmtpSettings) -> None:
        self._settings = settings

    async def send(self, message: Message) -> Answer:
        message = self._as_sender(message)
        try:
            mail = as_mail(message).as_bytes(policy=WIRE)
        except ValueError as odd:
            return Answer("refused_final", code="unsendable", text=str(odd)[:100])
        if len(mail) > MOST_BYTES:
            return Answer("refused_final", code="too_large")
        client = aiosmtplib.SMTP(
            hostname=self._settings.host,
            port=self._settings.port,
            username=self._settings.username,
            password=self._settings.password,
            timeout=SECONDS,
            use_tls=self._settings.is_tls_at_once,
            start_tls=not (self._settings.is_tls_at_once or self._settings.is_plain),
            tls_context=_tls(self._settings.ca_file),
        )
        try:
            return await self._transfer(client, message, mail)
        finally:
            client.close()

    def _as_sender(self, message: Message) -> Message:
        """A relay may send only for addresses of its own."""
        return replace(
            message,
            sender_address=self._settings.from_address or message.sender_address,
            sender_name=self._settings.from_name or message.sender_name,
        )

    async def _transfer(self, client: aiosmtplib.SMTP, message: Message, mail: bytes) -> Answer:
        """The envelope names the address as it is stored, not as the header shows it (SEC-67)."""
        try:
            await client.connect()
            await client.mail(message.sender_address)
            await client.rcpt(message.to)
        except (aiosmtplib.SMTPSenderRefused, aiosmtplib.SMTPRecipientRefused) as refused:
            return _refused(refused, message)
        except (aiosmtplib.SMTPException, OSError) as error:
            return Answer("refused_transient", code=type(error).__name__)
        except ValueError:  # an address that SMTP cannot name
            return Answer("refused_final", code="address", address_is_bad=True)
        try:
            accepted = await client.data(mail)
        except aiosmtplib.SMTPResponseException as refused:
            return _refused(refused, message)
        except (aiosmtplib.SMTPException, OSError) as error:
            return Answer("unknown", message.message_id, code=type(error).__name__)
        said = scrubbed(accepted.message, message.to)
        return Answer("accepted", message.message_id, code=str(accepted.code), text=said)


def as_mail(message: Message) -> EmailMessage:
    """The mail as text and HTML. The library encodes headers and refuses line breaks in them."""
    mail = EmailMessage()
    mail["From"] = Address(message.sender_name, addr_spec=message.sender_address)
    mail["To"] = Address(addr_spec=message.to)
    mail["Subject"] = message.subject
    mail["Message-ID"] = f"<{message.message_id}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(message.text)
    if message.html is not None:
        mail.add_alternative(message.html, subtype="html")
    return mail


def _refused(refused: aiosmtplib.SMTPResponseException, message: Message) -> Answer:
    outcome: Outcome = "refused_final" if refused.code >= 500 else "refused_transient"
    bad = outcome == "refused_final" and _BAD_ADDRESS.search(refused.message) is not None
    said = scrubbed(refused.message, message.to)
    return Answer(outcome, code=str(refused.code), text=said, address_is_bad=bad)


@cache
def _tls(ca_file: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
