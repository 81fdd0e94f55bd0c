"""Administration's ports, answered in this process."""

from datetime import datetime
from uuid import UUID

from thenga.domains.administration import public
from thenga.domains.administration.services import flags, integrations
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host


class LocalIntegrations(public.Integrations):
    """Hands out sealed bytes; only the target domain opens them (ADM-39)."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Integrations)

    async def sealed(
        self, *, target_domain: str, kind: str, environment: public.Environment
    ) -> list[public.SealedIntegration]:
        async with self._answering.reading(None, of_platform=True) as read:
            return await integrations.sealed(
                read, target_domain=target_domain, kind=kind, environment=environment
            )


class LocalFlags(public.Flags):
    """Evaluates flags by their rollouts and what is known of the organization (ADM-13)."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Flags)

    async def evaluate(
        self,
        *,
        key: str,
        organization_id: UUID,
        user_id: UUID | None = None,
        targeting_key: str | None = None,
        at: datetime | None = None,
    ) -> public.FlagResult | None:
        async with self._answering.reading(organization_id, of_platform=True) as read:
            return await flags.answer(
                read,
                key,
                organization_id=organization_id,
                user_id=user_id,
                targeting_key=targeting_key,
                at=at,
            )
