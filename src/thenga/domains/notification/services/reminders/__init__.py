"""Reminders: schedules that recur, and messages before a deadline (NOT-38 to NOT-40)."""

from thenga.domains.notification.services.reminders.offsets import Rearmed, due, rearm
from thenga.domains.notification.services.reminders.recurrence import (
    Recurrence,
    RuleFault,
    RuleRefused,
    recurrence,
)

__all__ = ["Rearmed", "Recurrence", "RuleFault", "RuleRefused", "due", "rearm", "recurrence"]
