"""Addresses that must not be used any more, known by their fingerprints."""

from collections.abc import Iterable

from sqlalchemy import or_, select

from thenga.domains.notification.tables import Suppression
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among


async def suppressed_among(read: Reader, fingerprints: Iterable[str]) -> set[str]:
    """Which of these addresses are suppressed now."""
    asked = list(fingerprints)
    if not asked:
        return set()
    found = await read.values(
        select(Suppression.address_fingerprint)
        .where(among(Suppression.address_fingerprint, asked))
        .where(or_(Suppression.until.is_(None), Suppression.until > read.now))
    )
    return set(found)
