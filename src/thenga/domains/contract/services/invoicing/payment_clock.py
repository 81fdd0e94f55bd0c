"""The payment clock: it starts when the buyer receives a valid invoice, and starts anew after each
return (CON-21), and the ageing that follows from it (CON-23)."""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any

from thenga.domains.contract.tables import ReturnReason
from thenga.kernel.values.calendar import local_midnight

_STEPS = (1, 31, 61, 91)  # days after the due date on which the bucket changes


class Bucket(StrEnum):
    """Ageing bucket, in days past the due date."""

    NOT_DUE = "not_due"
    DAYS_1_30 = "days_1_30"
    DAYS_31_60 = "days_31_60"
    DAYS_61_90 = "days_61_90"
    DAYS_91_UP = "days_91_up"


@dataclass(frozen=True, slots=True)
class ClockRun:
    """One run of the clock, from receipt to due date, or to the return that ended it."""

    received_on: date
    due_on: date
    returned_on: date | None = None
    reason_code: ReturnReason | None = None

    @classmethod
    def of_row(cls, kept: dict[str, Any]) -> "ClockRun":
        returned, reason = kept["returned_on"], kept["reason_code"]
        return cls(
            date.fromisoformat(kept["received_on"]),
            date.fromisoformat(kept["due_on"]),
            date.fromisoformat(returned) if returned else None,
            ReturnReason(reason) if reason else None,
        )

    def to_row(self) -> dict[str, Any]:
        return {
            "received_on": self.received_on.isoformat(),
            "due_on": self.due_on.isoformat(),
            "returned_on": self.returned_on.isoformat() if self.returned_on else None,
            "reason_code": self.reason_code.value if self.reason_code else None,
        }


def due_on(received_on: date, payment_days: int) -> date:
    """The last day to pay: calendar days, the day of receipt not counted."""
    return received_on + timedelta(days=payment_days)


def start_clock(
    history: list[ClockRun], received_on: date, payment_days: int
) -> tuple[list[ClockRun], date]:
    """The history with a new run, and the day on which payment is due."""
    due = due_on(received_on, payment_days)
    return [*history, ClockRun(received_on, due)], due


def stop_clock(history: list[ClockRun], returned_on: date, reason: ReturnReason) -> list[ClockRun]:
    """The history with its running clock voided by a return."""
    *before, running = history
    return [*before, replace(running, returned_on=returned_on, reason_code=reason)]


def bucket_on(due: date | None, today: date) -> Bucket:
    """The bucket on a day; without a running clock nothing is due."""
    late = 0 if due is None else (today - due).days
    passed = sum(late >= step for step in _STEPS)
    return tuple(Bucket)[passed]


def overdue_from(due: date) -> datetime:
    """The instant from which an invoice is overdue: the local midnight after the due date."""
    return local_midnight(due + timedelta(days=1))


def next_step(due: date, told: Bucket) -> datetime | None:
    """When the bucket after `told` begins. None after the last."""
    passed = tuple(Bucket).index(told)
    if passed == len(_STEPS):
        return None
    return local_midnight(due + timedelta(days=_STEPS[passed]))


def due_days_of(bucket: Bucket, today: date) -> tuple[date | None, date]:
    """The first and last due date that lie in a bucket today. The oldest has no first."""
    passed = tuple(Bucket).index(bucket)
    if passed == 0:
        return today, date.max
    last = today - timedelta(days=_STEPS[passed - 1])
    if passed == len(_STEPS):
        return None, last
    return today - timedelta(days=_STEPS[passed] - 1), last
