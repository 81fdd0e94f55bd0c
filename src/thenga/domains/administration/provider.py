"""Administration's ports, answered in this process."""

from thenga.domains.administration import public
from thenga.domains.administration.services import integrations
from thenga.kernel.host import Host
from thenga.kernel.ports.local import Answering


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
