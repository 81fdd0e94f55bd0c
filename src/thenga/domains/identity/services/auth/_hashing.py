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
_LEAST_SCORE = 3


class PasswordWeak(Problem):
    """Choose a longer one: four unrelated words are strong and easy to keep in mind."""

    code, status, title = "identity-password-weak", 422, "This password is too easy to guess"


class _Slots:
    """Two hashes at once, eight waiting, the rest is refused at once (security rule 31)."""

    def __init__(self) -> None:
        self.busy = 0
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def __aenter__(self) -> None:
        if self.busy >= _AT_ONCE + _WAITING:
            raise RateLimited("Many people sign in at the moment.", headers={"Retry-After": "1"})
        self.busy += 1
        await self._free.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._free.release()
        self.busy -= 1


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


async def is_right(password: str, phc: str | None) -> bool:
    """Whether the password is the one; takes the same time where there is none to compare."""
    async with _slots:
        right = await asyncio.to_thread(_matches, phc or _NOBODYS, _normal(password))
    return right and phc is not None


def _matches(phc: str, password: str) -> bool:
    try:
        return _HASHER.verify(phc, password)
    except (VerifyMismatchError, InvalidHashError):
        return False


def _normal(password: str) -> str:
    return unicodedata.normalize("NFKC", password)
