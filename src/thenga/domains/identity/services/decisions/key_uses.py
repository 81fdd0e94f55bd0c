"""When a key was last used, and from where: gathered, and written every ten seconds (IDN-42)."""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.identity.services.buffered_writes import gathering
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values import networks

_USED_EVERY = timedelta(seconds=10)
_MOST_USES = 10_000
_USED = """
    UPDATE identity.api_key AS k SET last_used_at = u.at, last_used_network = u.network
    FROM unnest($2::uuid[], $3::timestamptz[], $4::text[]) AS u(id, at, network)
    WHERE k.organization_id = $1 AND k.id = u.id
        AND (k.last_used_at IS NULL OR k.last_used_at < u.at)
"""


def note(host: Host, organization_id: UUID, api_key_id: UUID, network: str) -> None:
    """Remember that a key was used just now."""
    uses = gathering(host, "api keys", every=_USED_EVERY, most=_MOST_USES, write=write)
    uses.put((organization_id, api_key_id), (host.now(), networks.cut(network)))


async def write(host: Host, uses: dict[tuple[UUID, UUID], tuple[datetime, str | None]]) -> None:
    """One statement for each organization, whose rows only its own transaction sees."""
    for organization_id in {key[0] for key in uses}:
        own = [(key[1], *seen) for key, seen in uses.items() if key[0] == organization_id]
        origin = Origin("identity key use", request_id="uses", correlation_id="uses")
        scope = Scope(actor=SYSTEM, organization_id=organization_id)
        work = Work(host, "identity", scope, origin)
        try:
            columns = [list(column) for column in zip(*own, strict=True)]
            await work.run(_USED, organization_id, *columns)
            await work.finish()
        finally:
            await work.close()
