"""Letters by the kernel, behind Notification's own port; Notification takes this over."""

from pathlib import Path

from thenga.domains.notification.public import Recipient, Requests
from thenga.kernel.host import Host
from thenga.kernel.letters import Letter, Letters

LETTERS = Path(__file__).parent.parent / "content" / "letters"


class MailRequests(Requests):
    """One letter a recipient; whoever is named by their person has a proven address (SEC-66)."""

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
        template = LETTERS / f"{topic_code.removeprefix('identity.')}.txt"
        for one in recipients:
            await self._letters.send(
                Letter(
                    to=one.address or "",
                    template=template,
                    facts=facts | sealed_facts,
                    key=key,
                    proven=one.user_id is not None,
                )
            )
        return key
