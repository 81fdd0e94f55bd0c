"""Codes that change every thirty seconds: SHA-1, six digits, one step to either side (IDN-11)."""

import base64
import hmac
import secrets
from datetime import datetime
from io import BytesIO

import pyotp
import segno

from thenga.domains.identity.tables import STOP_LASTS, MfaFactor
from thenga.kernel.db import sealed
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

_SECRET_BYTES = 20  # 160 bits
_STEP = 30
_ISSUER = "Thenga"

# A used or older step is refused by the same statement that would take it; so of ten that come at
# once, one is taken.
_TAKE = """
    UPDATE identity.mfa_factor
    SET last_step = $3, failures = 0, last_used_at = $4, updated_at = $4, version = version + 1
    WHERE user_id = $1 AND id = $2 AND last_step < $3 AND (stopped_at IS NULL OR stopped_at <= $5)
        AND status <> 'disabled'
    RETURNING id
"""


def new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def seal(host: Host, factor: MfaFactor, secret: bytes) -> bytes:
    return sealed.seal(host, MfaFactor, "secret_sealed", secret, id=factor.id)


def as_text(secret: bytes) -> str:
    """The secret as authenticator apps take it by hand."""
    return base64.b32encode(secret).decode()


def uri(secret: bytes, email: str) -> str:
    return pyotp.TOTP(as_text(secret)).provisioning_uri(name=email, issuer_name=_ISSUER)


def picture(uri: str) -> str:
    """The same as a QR code, drawn here so that the secret goes nowhere else."""
    drawn = BytesIO()
    segno.make(uri, error="m").save(drawn, kind="svg", scale=4, xmldecl=False, svgns=True)
    return drawn.getvalue().decode()


def step_of(host: Host, factor: MfaFactor, code: str, now: datetime) -> int | None:
    """The step that this is the code of, one to either side of now; None for any other."""
    if factor.secret_sealed is None:
        return None
    secret = sealed.unseal(host, factor, "secret_sealed")
    clock = pyotp.TOTP(as_text(secret))
    here = int(now.timestamp()) // _STEP
    found = None
    for step in (here + 1, here, here - 1):
        if step >= 0 and hmac.compare_digest(clock.generate_otp(step), code):
            found = step
    return found


async def take(work: Work, factor: MfaFactor, step: int) -> bool:
    """Use the step up; False where it or a later one was used before."""
    taken = await work.query(
        _TAKE, factor.user_id, factor.id, step, work.now, work.now - STOP_LASTS
    )
    return bool(taken)
