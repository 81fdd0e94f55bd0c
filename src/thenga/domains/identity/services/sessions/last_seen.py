"""When a session was last used and where, gathered in the process (IDN-42).

A process writes its notes every ten seconds in one statement; the system login folds them into
the rows they tell of.
"""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.identity.services.buffered_writes import gathering
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values import networks

_EVERY = timedelta(seconds=10)
_MOST = 10_000
_ORIGIN = Origin(action="identity uses", request_id="uses", correlation_id="uses")

Place = tuple[UUID, UUID | None]  # the session, and the organization it was used in
Sighting = tuple[UUID, str, datetime]  # the person, the network, when

_WRITE = """
    INSERT INTO identity.use_note
        (id, created_at, updated_at, version, session_id, user_id, used_in, network, seen_at)
    SELECT gen_random_uuid(), $1, $1, 1, n.session_id, n.user_id, n.used_in, n.network, n.seen_at
    FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[])
        AS n(session_id, user_id, used_in, network, seen_at)
"""
# One statement: the notes are taken, sessions and their uses move forward, never back.
_FOLD = """
    WITH taken AS (
        DELETE FROM identity.use_note WHERE id IN (SELECT id FROM identity.use_note LIMIT $1)
        RETURNING session_id, user_id, used_in, network, seen_at
    ), newest AS (
        SELECT session_id, user_id, max(seen_at) AS seen_at FROM taken GROUP BY 1, 2
    ), seen AS (
        UPDATE identity.session s SET last_seen_at = n.seen_at FROM newest n
        WHERE s.user_id = n.user_id AND s.id = n.session_id AND s.last_seen_at < n.seen_at
            AND s.status = 'active'
    ), places AS (
        SELECT DISTINCT ON (t.used_in, t.session_id) t.*, s.device_label, s.device_family
        FROM taken t JOIN identity.session s ON s.user_id = t.user_id AND s.id = t.session_id
        WHERE t.used_in IS NOT NULL AND s.status = 'active'
        ORDER BY t.used_in, t.session_id, t.seen_at DESC
    )
    INSERT INTO identity.session_use AS u (id, created_at, updated_at, version, organization_id,
        user_id, session_id, device_label, device_family, network, last_seen_at)
    SELECT gen_random_uuid(), seen_at, seen_at, 1, used_in, user_id, session_id, device_label,
        device_family, network, seen_at
    FROM places
    ON CONFLICT (organization_id, session_id) DO UPDATE
        SET last_seen_at = greatest(u.last_seen_at, excluded.last_seen_at),
            network = excluded.network
"""


def note_use(
    host: Host,
    session_id: UUID,
    user_id: UUID,
    *,
    used_in: UUID | None,
    network: str,
    at: datetime,
) -> None:
    """Remember a use; cheap, because every request makes one."""
    uses = gathering(host, "sessions", every=_EVERY, most=_MOST, write=write)
    uses.put((session_id, used_in), (user_id, network, at))


async def write(host: Host, noted: dict[Place, Sighting]) -> None:
    """Write down what was gathered since the last time."""
    work = Work(host, "identity", Scope(actor=SYSTEM), _ORIGIN)
    try:
        await work.run(
            _WRITE,
            work.now,
            [session_id for session_id, _ in noted],
            [user_id for user_id, _, _ in noted.values()],
            [used_in for _, used_in in noted],
            [networks.cut(network) or "" for _, network, _ in noted.values()],
            [at for _, _, at in noted.values()],
        )
        await work.finish()
    finally:
        await work.close()


async def fold_uses(work: Work, *, limit: int) -> None:
    """Bring the notes of all processes into the rows, as the system login."""
    await work.run(_FOLD, limit)
