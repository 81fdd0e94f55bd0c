"""The cards of people: read for several persons at once, by the login of the gate.

A person's own row is seen only in that person's own transaction. The gate's login alone sees named
columns of many, and writes nothing (IDN-30).
"""

from collections.abc import Sequence
from uuid import UUID

from thenga.domains.identity import public
from thenga.kernel.process.host import Host

_CARDS = """
    SELECT u.id, u.display_name, u.email, u.phone, u.locale, u.time_zone, u.status,
        ARRAY(
            SELECT m.organization_id FROM identity.membership m
            WHERE m.user_id = u.user_id AND m.status = 'active' ORDER BY 1
        ) AS organization_ids
    FROM identity.user_account u
    WHERE u.user_id = ANY ($1::uuid[]) AND u.status <> 'erased'
"""


async def describe_people(host: Host, user_ids: Sequence[UUID]) -> list[public.PersonCard]:
    """In one statement; an unknown or erased person is left out."""
    pool = host.engines.pool("identity", "identity_gate")
    async with pool.connection() as connection:
        found = await connection.fetch(_CARDS, list(user_ids))
    return [
        public.PersonCard(
            user_id=one["id"],
            display_name=one["display_name"],
            email=one["email"],
            phone=one["phone"],
            locale=one["locale"],
            time_zone=one["time_zone"],
            status=one["status"],
            organization_ids=one["organization_ids"],
        )
        for one in found
    ]
