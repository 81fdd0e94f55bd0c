"""Second factors: turned on and off, and the challenges they answer (IDN-11 to 14)."""

from thenga.domains.identity.services.mfa._challenges import (
    FactorStopped,
    Proven,
    answer,
    challenge,
)
from thenga.domains.identity.services.mfa._factors import (
    FactorDemanded,
    Made,
    disable,
    list_own,
    register,
    verify,
)

__all__ = [
    "FactorDemanded",
    "FactorStopped",
    "Made",
    "Proven",
    "answer",
    "challenge",
    "disable",
    "list_own",
    "register",
    "verify",
]
