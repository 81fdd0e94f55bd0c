"""Sends letters through the kernel behind Notification's port, until Notification exists."""

from pathlib import Path

import aiosmtplib
import structlog

from thenga.domains.notification.public import Recipient, Requests
from thenga.kernel.host import Host
from thenga.kernel.letters import Letter, Letters

log = structlog.get_logger()

LETTERS = Path(__file__).parent.parent / "content" / "letters"


class MailRequests(Requests):
    """One letter for each recipient, to addresses that are not verified (SEC-66).

    A rejected address does not stop the other letters.
    """

    def __init__(self, host: Host) -> None:
        self._letters = Letters(host)

    async def accept(
        self,
        *,
        topic_code: str,
        recipients: list[Recipient],
        facts: dict[str, str],
        sealed_facts: dict[str, str],
        key: str,
        **_: object,  # what only Notification itself uses
    ) -> str:
        template = LETTERS / f"{topic_code.removeprefix('billing.')}.txt"
        refused: dict[int, aiosmtplib.SMTPException] = {}
        for number, recipient in enumerate(recipients):
            letter = Letter(
                to=recipient.address or "",
                template=template,
                facts=facts | sealed_facts,
                key=f"{key}.{number}",
                proven=recipient.user_id is not None,
            )
            try:
                await self._letters.send(letter)
            except aiosmtplib.SMTPException as fault:
                refused[number] = fault
        if refused and len(refused) == len(recipients):
            raise next(
                iter(refused.values())
            )  # nothing was delivered, so a retry sends no duplicate
        for number, why in refused.items():
            log.warning("billing.letter.refused", key=key, number=number, why=type(why).__name__)
        return key
