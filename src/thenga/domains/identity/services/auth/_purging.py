"""What is long over is taken away: hashes of tokens and links are of no use to anybody."""

from datetime import timedelta

from thenga.kernel.db.work import Work

_DAY, _MONTH = timedelta(days=1), timedelta(days=30)

# Access tokens a day past their end, links a month, refresh tokens with the end of their session.
_ACCESS = """
    DELETE FROM identity.access_token WHERE hash IN (
        SELECT hash FROM identity.access_token WHERE expires_at < $1 LIMIT $2)
"""
_LINKS = """
    DELETE FROM identity.one_time_link WHERE hash IN (
        SELECT hash FROM identity.one_time_link WHERE expires_at < $1 LIMIT $2)
"""
_REFRESH = """
    DELETE FROM identity.refresh_token WHERE hash IN (
        SELECT r.hash FROM identity.refresh_token r
        JOIN identity.session s ON s.user_id = r.user_id AND s.id = r.session_id
        WHERE s.expires_at < $1 LIMIT $2)
"""


async def purge(work: Work, *, limit: int) -> None:
    """Over all people, as the system login; what is left waits for the next hour."""
    await work.run(_ACCESS, work.now - _DAY, limit)
    await work.run(_LINKS, work.now - _MONTH, limit)
    await work.run(_REFRESH, work.now, limit)
