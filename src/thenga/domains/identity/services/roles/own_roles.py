"""The roles of one person in all the organizations where they belong, by the login of the gate.

An organization's roles are seen only in that organization's own transaction. The gate's login alone
sees them in several at once, and writes nothing (IDN-30); whose they are is asked by the person.
"""

from collections.abc import Sequence
from uuid import UUID

from thenga.kernel.process.host import Host

_CODES = """
    SELECT m.id, array_agg(DISTINCT a.role_code ORDER BY a.role_code) AS codes
    FROM identity.membership m
    JOIN identity.tenant_mirror o ON o.organization_id = m.organization_id
    JOIN identity.role_assignment a
        ON a.organization_id = m.organization_id AND a.membership_id = m.id
    WHERE m.user_id = $1 AND m.id = ANY ($2::uuid[])
        AND a.status IN ('active', 'scheduled') AND a.valid_from <= $3::timestamptz + o.ahead
        AND (a.valid_to IS NULL OR a.valid_to > $3::timestamptz + o.ahead)
    GROUP BY m.id
"""


async def own_role_codes(
    host: Host, user_id: UUID, membership_ids: Sequence[UUID]
) -> dict[UUID, list[str]]:
    """The codes in force by each organization's own clock, in one statement."""
    pool = host.engines.pool("identity", "identity_gate")
    found = await pool.fetch(_CODES, user_id, list(membership_ids), host.now())
    return {one["id"]: one["codes"] for one in found}
