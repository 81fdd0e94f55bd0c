"""Messages over SMTP, behind Notification's own port; Notification takes this over when it exists.

Texts are in `content/letters`, one file a topic: the subject, an empty line, the letter. They know
`{{name}}` of the facts given and nothing else (security rule 44).
"""

import re
from email.message import EmailMessage
from functools import cache
from pathlib import Path

import aiosmtplib

from thenga.domains.notification.public import Recipient, Requests
from thenga.kernel.host import Host

_LETTERS = Path(__file__).parent.parent / "content" / "letters"
_SENDER = "no-reply@thenga.example"
_FACT = re.compile(r"\{\{(\w+)\}\}")


class MailRequests(Requests):
    """Real SMTP, one connection a letter; `key` makes a repeated hand-over the same letter."""

    def __init__(self, host: Host) -> None:
        self._host = host.settings.smtp_host
        self._port = host.settings.smtp_port

    async def accept(
        self,
        *,
        topic_code: str,
        recipients: list[Recipient],
        facts: dict[str, str],
        sealed_facts: dict[str, str],
        key: str,
    ) -> str:
        subject, text = letter(topic_code, facts | sealed_facts)
        for recipient in recipients:
            message = EmailMessage()
            message["From"] = f"Thenga <{_SENDER}>"
            message["To"] = recipient.address
            message["Subject"] = subject
            message["Message-ID"] = f"<{key}@thenga.example>"
            message.set_content(text)
            # The envelope is the address as it is kept: read from the header, a local part in the
            # form of an encoded word would become another mailbox (SEC-67).
            await aiosmtplib.send(
                message,
                sender=_SENDER,
                recipients=[recipient.address or ""],
                hostname=self._host,
                port=self._port,
                timeout=10,
            )
        return key


def letter(topic_code: str, facts: dict[str, str]) -> tuple[str, str]:
    """Subject and text of a topic; only the text names facts, so no header can be forged."""
    subject, text = _template(topic_code)
    return subject, _FACT.sub(lambda found: facts[found[1]], text)


@cache
def _template(topic_code: str) -> tuple[str, str]:
    written = (_LETTERS / f"{topic_code.removeprefix('identity.')}.txt").read_text()
    subject, _, text = written.partition("\n\n")
    return subject.strip(), text
