"""Seats: each person counts once, and an open invitation keeps one (IDN-22)."""

from dataclasses import dataclass

from thenga.domains.identity.services import organizations
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.tables import EntitlementSignal
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import PlanLimitReached

FEATURE = "identity.seats"

# An invitation to somebody who is a member meanwhile takes no second seat.
_USED = """
    WITH member AS (
        SELECT user_id, email_key FROM identity.membership
        WHERE organization_id = $1 AND status IN ('pending', 'active')
    )
    SELECT (SELECT count(DISTINCT user_id) FROM member) + (
        SELECT count(*) FROM identity.invitation i
        WHERE i.organization_id = $1 AND i.status = 'pending' AND i.expires_at > $2
            AND NOT EXISTS (SELECT 1 FROM member m WHERE m.email_key = i.email_key)
    ) AS used
"""


async def used(work: Work, tenant: Tenant) -> int:
    """How many seats are taken at this moment."""
    found = await work.query(_USED, tenant.id, tenant.now)
    return int(found[0]["used"])


async def limit(read: Reader) -> int | None:
    """How many the plan has; no signal of Billing means that nothing is counted."""
    signal = await read.find(EntitlementSignal, feature=FEATURE)
    return None if signal is None else signal.limit_count


@dataclass(frozen=True, slots=True)
class Room:
    """Seats at the moment before a change: how many are taken, and how many there are."""

    used: int
    limit: int | None


async def room(work: Work, tenant: Tenant) -> Room:
    """Asked for before the first write, by whoever is about to take a seat.

    Nobody is refused by memory alone: where the plan seems full Billing is asked, for a larger
    one may have been bought a moment ago.
    """
    taken, most = await used(work, tenant), await limit(work)
    if most is not None and taken >= most:
        await organizations.ask_entitlement(work.host, tenant.id, FEATURE)
        most = await limit(work)
    return Room(taken, most)


async def must_fit(work: Work, tenant: Tenant, before: Room) -> int:
    """Refuse a change that took a seat the plan does not have; how many are used now."""
    after = await used(work, tenant)
    most = before.limit
    if most is not None and after > before.used and after > most:
        raise PlanLimitReached(
            f"All {most} seats of the plan are taken. Remove a member or revoke an open "
            "invitation, or choose a larger plan.",
            entitlement=FEATURE,
            limit=most,
            used=before.used,
            remedy={"kind": "plan", "entitlement": FEATURE},
        )
    return after
