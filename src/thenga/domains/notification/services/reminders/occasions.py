"""The occasions of a schedule: which are past, and which is next (NOT-38)."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from thenga.domains.notification.services.reminders.recurrence import Recurrence
from thenga.kernel.values.calendar import (
    add_working_days,
    is_working_day,
    local_instant,
    next_working_day,
)

OnNonWorkingDay = Literal["send", "next", "previous", "skip"]

_HORIZON = timedelta(days=5 * 366)
_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Occasion:
    """One time of a schedule: as its rule says, as local people see it, and as an instant."""

    rule_time: datetime
    local: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class Passed:
    """Occasions up to now: how many, the newest of them, and the next one."""

    count: int
    newest: Occasion | None
    ahead: Occasion | None


@dataclass(frozen=True, slots=True)
class Timing:
    """When a schedule is due. Without a rule it is due once, at its start."""

    starts_at: datetime  # without a time zone
    zone: str
    rule: str | None = None
    exdates: Set[datetime] = frozenset()
    on_non_working_day: OnNonWorkingDay = "send"
    extra: Set[date] = frozenset()  # public holidays beside those of the law

    def pass_until(self, now: datetime, *, since: datetime | None = None) -> Passed:
        """Everything from the rule's time `since` until now; occasions that coincide are one."""
        count, newest = 0, None
        for occasion in self._occasions(since or self.starts_at, self._horizon(now)):
            if occasion.at > now:
                return Passed(count, newest, occasion)
            if newest is None or occasion.at != newest.at:
                count += 1
            newest = occasion
        return Passed(count, newest, None)

    def _horizon(self, now: datetime) -> datetime:
        local = now.astimezone(ZoneInfo(self.zone)).replace(tzinfo=None)
        return max(local, self.starts_at) + _HORIZON

    def _occasions(self, since: datetime, until: datetime) -> Iterator[Occasion]:
        for rule_time in self._rule_times(since):
            if rule_time > until:
                return
            local = None if rule_time in self.exdates else self._moved(rule_time)
            if local is not None:
                at = local_instant(local.date(), local.time(), self.zone).astimezone(UTC)
                yield Occasion(rule_time, local, at)

    def _rule_times(self, since: datetime) -> Iterator[datetime]:
        if self.rule is None:
            return iter([self.starts_at])
        return Recurrence(self.rule, self.starts_at, self.zone).following(since - _MOMENT)

    def _moved(self, local: datetime) -> datetime | None:
        """The same time on a working day, or None where the occasion is skipped."""
        day = local.date()
        if self.on_non_working_day == "send" or is_working_day(day, self.extra):
            return local
        match self.on_non_working_day:
            case "next":
                return datetime.combine(next_working_day(day, self.extra), local.time())
            case "previous":
                return datetime.combine(add_working_days(day, -1, self.extra), local.time())
        return None
