"""Reminders: schedules that recur, and messages before a deadline (NOT-38 to NOT-40, NOT-48)."""

from thenga.domains.notification.services.reminders.anchors import (
    AnchorKind,
    News,
    enqueue_followers,
    follow,
    follow_date,
    follow_everywhere,
    key_of,
    move_anchor,
    reference_of,
    withdraw_anchor,
)
from thenga.domains.notification.services.reminders.occasions import (
    Occasion,
    OnNonWorkingDay,
    Passed,
    Timing,
)
from thenga.domains.notification.services.reminders.occurrences import (
    fire_reminder,
    occurrences_of,
)
from thenga.domains.notification.services.reminders.offsets import Rearmed, due, rearm
from thenga.domains.notification.services.reminders.recurrence import (
    Recurrence,
    RuleFault,
    RuleRefused,
    recurrence,
)
from thenga.domains.notification.services.reminders.reminders import (
    AnchorUnknown,
    ReminderFilters,
    Wished,
    cancel_reminder,
    clear_reminder,
    create_reminder,
    list_reminders,
    set_reminder,
)
from thenga.domains.notification.services.reminders.schedules import (
    RuleNotUsable,
    ScheduleEmpty,
    ScheduleFields,
    cancel_schedule,
    change_schedule,
    create_schedule,
    fire_schedule,
    list_schedules,
)

__all__ = [
    "AnchorKind",
    "AnchorUnknown",
    "News",
    "Occasion",
    "OnNonWorkingDay",
    "Passed",
    "Rearmed",
    "Recurrence",
    "ReminderFilters",
    "RuleFault",
    "RuleNotUsable",
    "RuleRefused",
    "ScheduleEmpty",
    "ScheduleFields",
    "Timing",
    "Wished",
    "cancel_reminder",
    "cancel_schedule",
    "change_schedule",
    "clear_reminder",
    "create_reminder",
    "create_schedule",
    "due",
    "enqueue_followers",
    "fire_reminder",
    "fire_schedule",
    "follow",
    "follow_date",
    "follow_everywhere",
    "key_of",
    "list_reminders",
    "list_schedules",
    "move_anchor",
    "occurrences_of",
    "rearm",
    "recurrence",
    "reference_of",
    "set_reminder",
    "withdraw_anchor",
]
