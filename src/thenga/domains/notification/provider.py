"""Notification's ports, answered in this process."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from thenga.domains.notification import public
from thenga.domains.notification.public.escalations import ResolutionCode
from thenga.domains.notification.services import escalations, reminders, requests
from thenga.domains.notification.services.reminders import Wished
from thenga.domains.notification.services.requests import Asked
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host
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


class LocalReminders(public.Reminders):
    """Reminders that follow the deadlines of other domains."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Reminders)

    async def set(
        self,
        *,
        key: str,
        organization_id: UUID,
        anchor: Reference,
        due_at: datetime,
        time_zone: str,
        sequence: int,
        offsets: Sequence[public.Offset],
        topic_code: str,
        audience: Sequence[public.Target],
        facts: dict[str, str],
    ) -> UUID:
        wished = Wished(
            topic_code=topic_code,
            about=anchor,
            audience=audience,
            facts=facts,
            offsets=offsets,
            anchor=anchor,
            due_at=due_at,
            time_zone=time_zone,
        )
        async with self._answering.working(organization_id) as work:
            return await reminders.set_reminder(work, wished, key=key, sequence=sequence)

    async def clear(self, *, key: str, organization_id: UUID) -> None:
        async with self._answering.working(organization_id) as work:
            await reminders.clear_reminder(work, key=key)


class LocalEscalations(public.Escalations):
    """Escalations of other domains. Those with a policy of the platform belong to the operator."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Escalations)

    async def open(
        self,
        *,
        key: str,
        organization_id: UUID,
        policy_key: str,
        about: Reference,
        facts: dict[str, str],
    ) -> public.EscalationRef:
        holder = escalations.holder_of(policy_key, organization_id)
        async with self._answering.working(holder) as work:
            found = await escalations.open_escalation(
                work, key=key, policy_key=policy_key, about=about, facts=facts
            )
        return public.EscalationRef(
            id=found.id, status=found.status.value, next_step_at=found.next_check_at
        )

    async def resolve(self, *, key: str, organization_id: UUID, code: ResolutionCode) -> None:
        for holder in (organization_id, OPERATOR):
            async with self._answering.working(holder) as work:
                if await escalations.resolve_by_key(work, key=key, code=code):
                    return
