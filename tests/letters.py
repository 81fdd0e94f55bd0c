"""A real SMTP server on loopback that keeps the letters it gets."""

import asyncio
import re
from email import message_from_bytes, policy
from typing import Any, Self
from zoneinfo import ZoneInfo

from aiosmtpd.controller import Controller

from thenga.domains.notification.services import templates
from thenga.domains.notification.services.delivery import sending
from thenga.domains.notification.services.templates import Locale, Rendered
from thenga.tooling.dev import processes


def written(topic_code: str, facts: dict[str, str], *, is_proven: bool = False) -> Rendered:
    """A letter as Notification writes it; facts that do not fit its template fail the test."""
    content = templates.platform_content(templates.topics()[topic_code].template_key)
    faults = templates.check_facts(content.variables, facts, hosts=frozenset())
    assert faults == [], f"{topic_code}: {faults}"
    told = facts if is_proven else {k: v for k, v in facts.items() if k in sending.OWN_FACTS}
    locale = Locale(templates.FALLBACK, ZoneInfo("Africa/Johannesburg"))
    return templates.render(content, "email", told, locale)


class Letters:
    """What arrived, by address."""

    def __init__(self) -> None:
        self.port = processes.free_ports(1)[0]
        self._by_address: dict[str, list[str]] = {}
        self._subjects: list[tuple[str, str]] = []
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port)

    def __enter__(self) -> Self:
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        letter = message_from_bytes(envelope.content, policy=policy.default)
        part = letter.get_body(("plain",))
        text = "" if part is None else str(part.get_content())
        self._subjects.append((envelope.rcpt_tos[0], str(letter["Subject"])))
        for address in envelope.rcpt_tos:
            self._by_address.setdefault(address, []).append(text)
        return "250 OK"

    def addresses(self) -> set[str]:
        """Who got a letter."""
        return set(self._by_address)

    async def to(self, address: str, *, number: int = 1) -> str:
        """The letter of that number to an address, once it has come."""
        async with asyncio.timeout(180):
            while len(self._by_address.get(address, ())) < number:
                await asyncio.sleep(0.02)
        return self._by_address[address][number - 1]

    def count(self, address: str) -> int:
        """How many letters came to an address so far."""
        return len(self._by_address.get(address, ()))

    def subjects(self, address: str) -> list[str]:
        """The subjects of the letters that came to an address so far."""
        return [subject for to, subject in self._subjects if to == address]

    async def link_to(self, address: str, *, number: int = 1) -> str:
        """The code in that letter."""
        found = re.search(r"thl_\w+", await self.to(address, number=number))
        assert found is not None
        return found[0]
