"""Addresses that came back are not used again, by any organization."""

from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

_SUPPRESS = """
    INSERT INTO notification.suppression (id, created_at, updated_at, version, channel_kind,
        address_fingerprint, reason)
    VALUES ($1, $2, $2, 1, $3, $4, 'bounce')
    ON CONFLICT (channel_kind, address_fingerprint) DO NOTHING
"""


async def suppress_bounced(work: Work, *, channel_kind: str, fingerprint: str) -> None:
    """Store the fingerprint of an address, as the system login. The address is never stored."""
    await work.run(_SUPPRESS, new_id(), work.now, channel_kind, fingerprint)
