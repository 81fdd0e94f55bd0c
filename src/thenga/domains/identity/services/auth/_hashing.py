"""Passwords: how strong, and hashed in two slots so that hashing cannot stop the service."""

import asyncio
import re
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from zxcvbn import zxcvbn

from thenga.kernel.errors import Problem, RateLimited

_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)  # IDN-8
# Verified for whoever has no password, so that an unknown address costs the same (IDN-5).
_NOBODYS = _HASHER.hash("nobody has this password")
_AT_ONCE, _WAITING = 2, 8
_KEPT = 4  # further places to wait, for people on devices of theirs: strangers cannot fill them
_LEAST_SCORE = 3


class PasswordWeak(Problem):
    """Choose a longer password. Four unrelated words are strong and easy to remember."""

    code, status, title = "identity-password-weak", 422, "This password is too easy to guess"


class _Slots:
    """Two hashes at once, eight waiting, the rest is refused at once."""

    def __init__(self) -> None:
        self.busy = self.hashing = 0
        self.most = 0  # at once since the start; two, if all is well
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def __aenter__(self) -> None:
        await self.take()

    async def take(self, *, on_known_device: bool = False) -> None:
        places = _AT_ONCE + _WAITING + (_KEPT if on_known_device else 0)
        if self.busy >= places:
            raise RateLimited(
                "Too many people are signing in right now. Try again shortly.",
                headers={"Retry-After": "1"},
            )
        self.busy += 1
        try:
            await self._free.acquire()
        except BaseException:
            self.busy -= 1  # whoever gave up waiting takes no place
            raise
        self.hashing += 1
        self.most = max(self.most, self.hashing)

    async def __aexit__(self, *_: object) -> None:
        self.give()

    def give(self) -> None:
        self._free.release()
        self.busy -= 1
        self.hashing -= 1


_slots = _Slots()


async def hashed(password: str, *, known: list[str]) -> str:
    """The PHC text of a password that is strong enough; `known` are words others could guess."""
    text = _normal(password)
    words = [word for name in known for word in re.split(r"[^\w]+", name) if word]
    found = zxcvbn(text[:64], user_inputs=words)
    if found["score"] < _LEAST_SCORE:
        said = " ".join(found["feedback"]["suggestions"])
        raise PasswordWeak(said or "Use four unrelated words, or a longer password.")
    async with _slots:
        return await asyncio.to_thread(_HASHER.hash, text)


async def is_right(password: str, phc: str | None, *, on_known_device: bool = False) -> bool:
    """Whether the password is the one; takes the same time where there is none to compare."""
    slots = _slots
    await slots.take(on_known_device=on_known_device)
    try:
        right = await asyncio.to_thread(_matches, phc or _NOBODYS, _normal(password))
    finally:
        slots.give()
    return right and phc is not None


async def renewed(password: str, phc: str | None) -> str | None:
    """A new hash of a right password whose parameters have risen since; mostly none is needed."""
    if phc is None or not _HASHER.check_needs_rehash(phc):
        return None
    async with _slots:
        return await asyncio.to_thread(_HASHER.hash, _normal(password))


def _matches(phc: str, password: str) -> bool:
    try:
        return _HASHER.verify(phc, password)
    except (VerifyMismatchError, InvalidHashError):
        return False


def _normal(password: str) -> str:
    return unicodedata.normalize("NFKC", password)
