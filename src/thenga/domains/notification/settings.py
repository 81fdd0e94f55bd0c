"""Settings of Notification: what an operator may change, with their defaults."""

from typing import Annotated

from pydantic import Field

from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.declare.setting import Setting

QUIET_MIN_LEAD = Setting(
    "notification.quiet.minLead",
    Annotated[int, Field(ge=0, le=48)],
    4,
    "Hours before a deadline in which quiet hours no longer hold a message",
)

SETTINGS = (QUIET_MIN_LEAD, EXTRA_HOLIDAYS)
