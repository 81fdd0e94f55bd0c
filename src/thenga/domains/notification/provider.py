"""Notification's ports, answered in this process."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from thenga.domains.notification import public
from thenga.domains.notification.services import requests
from thenga.domains.notification.services.requests import Asked
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.host import Host
from thenga.kernel.ports.local import Answering
from thenga.kernel.values.references import Reference


class LocalRequests(public.Requests):
    """Requests of other domains. Those without an organization belong to the operator."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Requests)

    async def accept(
        self,
        *,
        topic_code: str,
        recipients: list[public.Recipient],
        facts: dict[str, str],
        sealed_facts: dict[str, str],
        key: str,
        organization_id: UUID | None = None,
        about: Reference | None = None,
        audience: Sequence[public.Target] = (),
        send_at: datetime | None = None,
        expires_at: datetime | None = None,
        deadline_at: datetime | None = None,
    ) -> str:
        asked = Asked(
            topic_code=topic_code,
            source_domain=topic_code.partition(".")[0],
            facts=facts,
            sealed_facts=sealed_facts,
            recipients=recipients,
            audience=audience,
            about=about,
            dedupe_key=key,
            send_at=send_at,
            expires_at=expires_at,
            deadline_at=deadline_at,
        )
        async with self._answering.working(organization_id or OPERATOR) as work:
            request = await requests.accept_once(work, asked)
        return str(request.id)
