"""What is long over is taken away: hashes of tokens and links are of no use to anybody."""

from datetime import timedelta
from uuid import UUID

from thenga.kernel.db.work import Work

_GRACE = timedelta(seconds=30)
_DAY, _MONTH, _QUARTER = timedelta(days=1), timedelta(days=30), timedelta(days=90)
_UNPROVED = timedelta(days=14)

# $1 the instant before which it is over, $2 how many at most.
_ACCESS = """
    DELETE FROM identity.access_token WHERE hash IN (
        SELECT hash FROM identity.access_token WHERE expires_at < $1 LIMIT $2)
"""
_LINKS = """
    DELETE FROM identity.one_time_link WHERE hash IN (
        SELECT hash FROM identity.one_time_link WHERE expires_at < $1 LIMIT $2)
"""
# Refresh tokens stay as long as their session.
_REFRESH = """
    DELETE FROM identity.refresh_token WHERE hash IN (
        SELECT r.hash FROM identity.refresh_token r
        JOIN identity.session s ON s.user_id = r.user_id AND s.id = r.session_id
        WHERE s.expires_at < $1 LIMIT $2)
"""
# A counter that nobody touched for a day begins anew, and with it the length of its locks.
_COUNTERS = """
    DELETE FROM identity.sign_in_counter WHERE hash IN (
        SELECT hash FROM identity.sign_in_counter
        WHERE updated_at < $1 AND (locked_until IS NULL OR locked_until < $1) LIMIT $2)
"""
_CHALLENGES = """
    DELETE FROM identity.mfa_challenge WHERE (user_id, id) IN (
        SELECT user_id, id FROM identity.mfa_challenge WHERE expires_at < $1 LIMIT $2)
"""
_FACTORS = """
    WITH gone AS (
        SELECT user_id, id FROM identity.mfa_factor
        WHERE (status = 'disabled' AND updated_at < $1)
            OR (status = 'pending' AND expires_at < $1) LIMIT $2
    ), codes AS (
        DELETE FROM identity.recovery_code c USING gone
        WHERE c.user_id = gone.user_id AND c.factor_id = gone.id
    )
    DELETE FROM identity.mfa_factor f USING gone WHERE f.user_id = gone.user_id AND f.id = gone.id
"""
_USES = """
    DELETE FROM identity.session_use WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM identity.session_use
        WHERE last_seen_at < $1 AND ended_at IS NOT NULL LIMIT $2)
"""
_SESSIONS = """
    DELETE FROM identity.session WHERE (user_id, id) IN (
        SELECT user_id, id FROM identity.session
        WHERE updated_at < $1 AND status NOT IN ('active', 'pending_mfa') LIMIT $2)
"""
# Within the grace a spent token opens its successor; afterwards the seal is of use to thieves only.
_SEALS = """
    UPDATE identity.refresh_token SET successor_sealed = NULL WHERE hash IN (
        SELECT hash FROM identity.refresh_token
        WHERE successor_sealed IS NOT NULL AND used_at < $1 LIMIT $2)
"""
_GIVEN_UP = """
    SELECT user_id FROM identity.user_account
    WHERE status = 'pending_verification' AND created_at < $1 LIMIT $2
"""
_REMOVE = (
    "UPDATE identity.platform_role_assignment SET status = 'revoked', version = version + 1 "
    "WHERE user_id = $1 AND status IN ('scheduled', 'active')",
    "DELETE FROM identity.sign_in_name WHERE user_id = $1",
    "DELETE FROM identity.one_time_link WHERE user_id = $1",
    "DELETE FROM identity.account_card WHERE user_id = $1",
    "DELETE FROM identity.user_account WHERE user_id = $1 AND status = 'pending_verification'",
)


async def purge(work: Work, *, limit: int) -> None:
    """Over all people, as the system login; what is left waits for the next hour."""
    for statement, age in (
        (_ACCESS, _DAY),
        (_LINKS, _MONTH),
        (_REFRESH, timedelta(0)),
        (_COUNTERS, _DAY),
        (_CHALLENGES, _DAY),
        (_FACTORS, _MONTH),
        (_USES, _QUARTER),
        (_SESSIONS, _QUARTER),
    ):
        await work.run(statement, work.now - age, limit)


async def wipe_seals(work: Work, *, limit: int) -> None:
    """Successors of refresh tokens are forgotten after the grace (IDN-3)."""
    await work.run(_SEALS, work.now - _GRACE, limit)


async def given_up(work: Work, *, limit: int) -> list[UUID]:
    """Accounts whose address nobody proved for fourteen days."""
    return [row[0] for row in await work.query(_GIVEN_UP, work.now - _UNPROVED, limit)]


async def remove_unproved(work: Work, user_id: UUID) -> None:
    """Take away an account that never became one; its address is free again."""
    for statement in _REMOVE:
        await work.run(statement, user_id)
    work.note("identity.user.removed", ("user_account", user_id), {"cause": "never_verified"})
