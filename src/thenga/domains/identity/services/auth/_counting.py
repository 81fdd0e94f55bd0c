"""Failures and locks, counted in PostgreSQL for known and unknown addresses alike (IDN-7)."""

from datetime import datetime, timedelta

from thenga.domains.identity import public
from thenga.domains.identity.services import accounts
from thenga.domains.identity.services.accounts import account_key, find_name
from thenga.domains.identity.tables import SignInCounter, UserAccount
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

FAILURES = 10
WINDOW = timedelta(minutes=15)

# $1 hash, $2 now, $3 window, $4 failures that lock. While a lock holds, nothing is counted. The
# tenth failure of a window locks for 15 minutes, then twice as long each time, a day at most.
_COUNT = """
    INSERT INTO identity.sign_in_counter AS c
        (id, created_at, updated_at, version, hash, failures, window_from, level, locked_until)
    VALUES (gen_random_uuid(), $2, $2, 1, $1, 1, $2, 0, NULL)
    ON CONFLICT (hash) DO UPDATE SET updated_at = $2, version = c.version + 1,
        failures = CASE WHEN c.locked_until > $2 THEN c.failures
            WHEN c.window_from <= $2 - $3::interval OR c.failures >= $4 THEN 1
            ELSE c.failures + 1 END,
        window_from = CASE WHEN c.locked_until > $2 THEN c.window_from
            WHEN c.window_from <= $2 - $3::interval OR c.failures >= $4 THEN $2
            ELSE c.window_from END,
        level = CASE WHEN c.failures = $4 - 1 AND c.window_from > $2 - $3::interval
            AND coalesce(c.locked_until <= $2, true) THEN c.level + 1 ELSE c.level END,
        locked_until = CASE WHEN c.failures = $4 - 1 AND c.window_from > $2 - $3::interval
            AND coalesce(c.locked_until <= $2, true)
            THEN $2 + least(interval '1440 minutes', interval '15 minutes' * (2 ^ c.level))
            ELSE c.locked_until END
    RETURNING locked_until > $2 AND locked_until = $2
        + least(interval '1440 minutes', interval '15 minutes' * (2 ^ (level - 1))) AS began
"""
_CLEAR = """
    UPDATE identity.sign_in_counter
    SET failures = 0, level = 0, locked_until = NULL, updated_at = $2, version = version + 1
    WHERE hash = $1
"""

note_lock = job_stub("identity.note_lock", form=Form.QUEUED, key="{key}")


async def is_locked(read: Reader, counter: bytes) -> bool:
    await read.present(counter)
    found = await read.find(SignInCounter, hash=counter)
    return found is not None and _holds(found, read.now)


def _holds(counter: SignInCounter, now: datetime) -> bool:
    return counter.locked_until is not None and counter.locked_until > now


async def count_failure(work: Work, counter: bytes) -> bool:
    """Write one failure down; whether it was the one that locks."""
    await work.present(counter)
    found = await work.query(_COUNT, counter, work.now, WINDOW, FAILURES)
    return bool(found[0]["began"])


async def clear(work: Work, counter: bytes) -> None:
    """As if nothing had failed: after an unlock or a confirmed reset."""
    await work.present(counter)
    await work.run(_CLEAR, counter, work.now)


async def tell_lock(work: Work, key: bytes) -> None:
    """Show the lock on the account it stops, and tell its holder; nobody where it is unknown."""
    name = await find_name(work, key)
    if name is None:
        return
    await work.present(key)
    counter = await work.find(SignInCounter, hash=key)
    if counter is None or not _holds(counter, work.now):
        return
    await work.become(name.user_id)
    account = await work.lock(UserAccount, name.user_id)
    if account.locked_until == counter.locked_until or counter.locked_until is None:
        return
    account.locked_until, account.lock_cause = counter.locked_until, "failures"
    await accounts.save_user(work, account)
    work.publish(
        public.UserLocked(user_id=account.id, until=counter.locked_until, cause="failures")
    )
    about = counter.locked_until.isoformat()
    accounts.notify(work, account.id, topic=accounts.ACCOUNT_LOCKED, about=about)


async def unlock(work: Work, account: UserAccount) -> None:
    """Lift the lock of an account that this work has locked as a row."""
    await clear(work, account_key(work.host, account.email))
    account.locked_until = account.lock_cause = None
