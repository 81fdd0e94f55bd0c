"""Settings of Administration: what an operator may change, with their defaults."""

from typing import Annotated

from pydantic import Field

from thenga.kernel.declare import law
from thenga.kernel.declare.setting import Setting

Days = Annotated[int, Field(ge=1, le=3660)]

ACKNOWLEDGE_SECONDS = Setting(
    "administration.policy.ackSeconds",
    Annotated[int, Field(ge=10, le=3600)],
    60,
    "Seconds after which a policy that its domain has not acknowledged is late",
)
ROTATION_DAYS = Setting(
    "administration.rotation.days",
    Days,
    180,
    "Days after which a credential of an integration must be replaced",
)
REOPEN_DAYS = Setting(
    "administration.case.reopenDays",
    Days,
    30,
    "Days after its resolution in which a message reopens a support case",
)

SETTINGS = (ACKNOWLEDGE_SECONDS, ROTATION_DAYS, REOPEN_DAYS, law.EXTRA_HOLIDAYS)
