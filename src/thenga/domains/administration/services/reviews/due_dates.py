"""By when a finding must be dealt with, in working days (ADM-30)."""

from collections.abc import Set
from datetime import date

from thenga.domains.administration.public.reviews import Severity
from thenga.kernel.values.calendar import add_working_days

DAYS: dict[Severity, int] = {"critical": 2, "high": 10, "medium": 30, "low": 60}


def due_on(severity: Severity, recorded_on: date, *, extra: Set[date] = frozenset()) -> date:
    return add_working_days(recorded_on, DAYS[severity], extra)
