"""Letters over SMTP: the one place that renders, limits and sends them (SEC-66).

Notification takes this over when it exists. Texts are files: the subject, an empty line, the
letter. They know `{{name}}` of the facts given and nothing else (security rule 44).
"""

import re
from dataclasses import dataclass
from email.message import EmailMessage
from functools import cache
from pathlib import Path

import aiosmtplib
import structlog
from prometheus_client import Counter

from thenga.kernel.errors import RateLimited
from thenga.kernel.host import Host
from thenga.kernel.http.limits import Limits, Rule

_log = structlog.get_logger()
_HELD_BACK = Counter(
    "thenga_letters_held_back", "Letters not sent because the recipient has received too many."
)
_SENDER = "no-reply@thenga.example"
_FACT = re.compile(r"( ?)\{\{(\w+)\}\}")

# Over all causes and organizations. Strangers cause the letters to addresses that nobody has
# proved, so these have less room, and the rest stays for the person's own notices.
UNPROVEN = (Rule("letters_unproven", 6, 3600), Rule("letters_unproven_day", 12, 86_400))
EVERY = (Rule("letters", 20, 3600), Rule("letters_day", 60, 86_400))
# All that a letter to such an address says beside its fixed text: no words of a stranger.
OURS = frozenset({"amount", "at", "left", "link", "network", "next", "plan", "standing", "until"})


@dataclass(frozen=True)
class Letter:
    """One letter to one address; `proven` where the holder of the address is known to us."""

    to: str
    template: Path
    facts: dict[str, str]
    key: str  # the same at every attempt
    proven: bool


class Letters:
    """The letters of this process; the counts are shared by all that share a Redis."""

    def __init__(self, host: Host) -> None:
        self._settings = host.settings
        self._limits = Limits(host.settings.redis, secret=host.key("letters"))
        host.closing.append(self._limits.close)

    async def send(self, letter: Letter) -> bool:
        """Send it, unless its recipient has had too many; nobody is told who wrote before."""
        try:
            for rule in (*(() if letter.proven else UNPROVEN), *EVERY):
                await self._limits.hit(rule, letter.to.casefold())
        except RateLimited:
            _HELD_BACK.inc()
            _log.warning("kernel.letters.held_back", key=letter.key, topic=letter.template.stem)
            return False
        subject, text = rendered(letter.template, letter.facts, proven=letter.proven)
        message = EmailMessage()
        message["From"] = f"Thenga <{_SENDER}>"
        message["To"] = letter.to
        message["Subject"] = subject
        message["Message-ID"] = f"<{letter.key}@thenga.example>"
        message.set_content(text)
        await self._deliver(message, letter.to)
        return True

    async def _deliver(self, message: EmailMessage, address: str) -> None:
        """The envelope names the address as it is stored.

        Read from the header, a local part that looks like an encoded word would become another
        mailbox (SEC-67).
        """
        await aiosmtplib.send(
            message,
            sender=_SENDER,
            recipients=[address],
            hostname=self._settings.smtp_host,
            port=self._settings.smtp_port,
            timeout=10,
        )


def rendered(template: Path, facts: dict[str, str], *, proven: bool) -> tuple[str, str]:
    """Subject and text; only the text names facts, so no header can be forged."""
    subject, text = _template(template)

    def fact(found: re.Match[str]) -> str:
        value = facts[found[2]]
        return found[1] + value if proven or found[2] in OURS else ""

    return subject, _FACT.sub(fact, text)


@cache
def _template(file: Path) -> tuple[str, str]:
    subject, _, text = file.read_text().partition("\n\n")
    return subject.strip(), text
