"""Identity's ports, answered in this process."""

from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.services import decisions
from thenga.kernel.gate import Passage, Refusal
from thenga.kernel.host import Host


class LocalDecisions(public.Decisions):
    """The gate itself."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def enter(
        self,
        *,
        credential: str | None,
        organization_id: UUID | None,
        permission: str,
        network: str,
        request_id: str,
    ) -> Passage | Refusal:
        return await decisions.enter(
            self._host,
            credential=credential,
            organization_id=organization_id,
            permission=permission,
            request_id=request_id,
        )

    async def check(
        self,
        *,
        actor: public.ActorRef,
        organization_id: UUID | None,
        action: str,
        resource: public.ResourceRef,
        channel: str,
        request_id: str,
    ) -> public.Decision:
        return await decisions.check(
            self._host,
            actor=actor,
            organization_id=organization_id,
            action=action,
            resource=resource,
            channel=channel,
            request_id=request_id,
        )
