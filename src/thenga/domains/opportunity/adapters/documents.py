"""Documents on the hosts of buyers, fetched by name from allowed hosts only (OPP-21)."""

from collections.abc import Collection
from enum import StrEnum

from thenga.domains.opportunity.adapters.feeds import agent
from thenga.kernel.outside.outbound import AddressRefused, Silence, guarded
from thenga.kernel.process.host import Host

_SECONDS = 120.0


class Missed(StrEnum):
    """Why a document was not fetched."""

    MISSING = "not_found"  # 404 or 410
    REFUSED = "address_refused"
    FAILED = "unavailable"


class NotFetched(Exception):
    """A document that could not be fetched."""

    def __init__(self, why: Missed) -> None:
        super().__init__(why.value)
        self.why = why


class DocumentHosts:
    """Fetches documents."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def fetch(self, url: str, *, hosts: Collection[str], most_bytes: int) -> bytes:
        """The bytes behind an address, each redirect checked again."""
        try:
            reply = await guarded(
                url,
                headers={"User-Agent": agent(self._host)},
                hosts=hosts,
                most_bytes=most_bytes,
                seconds=_SECONDS,
            )
        except AddressRefused:
            raise NotFetched(Missed.REFUSED) from None
        except Silence:
            raise NotFetched(Missed.FAILED) from None
        if reply.status in (404, 410):
            raise NotFetched(Missed.MISSING)
        if reply.status != 200:
            raise NotFetched(Missed.FAILED)
        return reply.body
