"""Recovery codes: ten, each good once, for the day on which the phone is lost (IDN-13)."""

import hashlib
import secrets
from uuid import UUID

from thenga.domains.identity.services import accounts
from thenga.domains.identity.tables import MfaFactor, RecoveryCode
from thenga.kernel.db.work import Work

HOW_MANY = 10
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: nothing that looks like another
_LENGTH, _GROUP = 24, 6
_FEW = 2

_CONSUME = """
    UPDATE identity.recovery_code SET used_at = $4, updated_at = $4, version = version + 1
    WHERE user_id = $1 AND factor_id = $2 AND code_hash = $3 AND used_at IS NULL
    RETURNING id
"""


async def make(work: Work, factor: MfaFactor) -> list[str]:
    """Ten new codes; only their hashes stay."""
    made = [_new() for _ in range(HOW_MANY)]
    for code in made:
        await work.add(
            RecoveryCode(user_id=factor.user_id, factor_id=factor.id, code_hash=_hash(code))
        )
    return made


async def consume(work: Work, factor_id: UUID, code: str) -> bool:
    """Use a code up, by one conditional statement; the person is told of every use."""
    used = await work.query(_CONSUME, work.user_id, factor_id, _hash(code), work.now)
    if not used:
        return False
    about = str(used[0][0])
    accounts.notify(work, work.user_id, topic=accounts.RECOVERY_CODE_USED, about=about)
    if await accounts.codes_left(work) == _FEW:
        accounts.notify(work, work.user_id, topic=accounts.RECOVERY_CODES_LOW, about=about)
    return True


def _new() -> str:
    text = "".join(secrets.choice(_DIGITS) for _ in range(_LENGTH))
    return "-".join(text[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))


def _hash(code: str) -> bytes:
    """People write O for 0 and leave the dashes out; it is the same code."""
    plain = code.upper().replace("-", "").replace(" ", "")
    plain = plain.replace("O", "0").replace("I", "1").replace("L", "1")
    return hashlib.sha256(plain.encode()).digest()
