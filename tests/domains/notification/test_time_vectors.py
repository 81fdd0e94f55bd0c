"""The vectors of the rules about time, in one place."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from uuid import UUID

import pytest
from tests.planting import plant

from thenga.domains.notification.public import Offset
from thenga.domains.notification.services import reminders
from thenga.domains.notification.services.recipients import QuietHours, held_until, quiet_hours
from thenga.kernel.values.calendar import HOME_ZONE

BERLIN = QuietHours(begins=time(20), ends=time(2, 30), zone="Europe/Berlin")
DAYTIME = QuietHours(begins=time(12), ends=time(14))
# Hours, moment, deadline, and until when the message waits (NOT-10).
QUIET = [
    (QuietHours(), "2026-11-16T20:30:00Z", None, "2026-11-17T05:00:00Z"),
    (QuietHours(), "2026-11-16T20:30:00Z", "2026-11-17T08:00:00Z", None),
    (QuietHours(), "2026-11-16T20:30:00Z", "2026-11-17T09:00:00Z", "2026-11-17T05:00:00Z"),
    (QuietHours(), "2026-11-16T18:00:00Z", None, "2026-11-17T05:00:00Z"),  # [from
    (QuietHours(), "2026-11-16T17:59:59Z", None, None),
    (QuietHours(), "2026-11-17T05:00:00Z", None, None),  # to)
    (QuietHours(), "2026-11-17T04:59:59Z", None, "2026-11-17T05:00:00Z"),
    (DAYTIME, "2026-11-16T10:00:00Z", None, "2026-11-16T12:00:00Z"),
    (DAYTIME, "2026-11-16T12:00:00Z", None, None),
    (BERLIN, "2027-03-27T22:00:00Z", None, "2027-03-28T01:00:00Z"),  # 02:30 does not exist
    (BERLIN, "2027-10-30T22:00:00Z", None, "2027-10-31T00:30:00Z"),  # of two 02:30 the first
    (BERLIN, "2027-10-31T00:45:00Z", None, None),
]
# Day, working days before it, the day that is meant, and days declared for once (NOT-40).
WORKING = [
    ("2027-01-05", 3, "2026-12-30", ()),
    ("2026-12-17", 1, "2026-12-15", ()),
    ("2026-11-05", 1, "2026-11-03", ("2026-11-04",)),
    ("2026-12-27", 1, "2026-12-24", ()),
]


def results() -> Iterator[bool]:
    for hours, at, deadline, expected in QUIET:
        end = datetime.fromisoformat(deadline) if deadline else None
        found = held_until(hours, "sms", datetime.fromisoformat(at), deadline=end)
        yield found == (datetime.fromisoformat(expected) if expected else None)
    for day, number, expected, extra in WORKING:
        offset = Offset.model_validate({"before": timedelta(days=number), "calendar": "working"})
        deadline = datetime.fromisoformat(f"{day}T10:00:00+02:00")
        more = frozenset(date.fromisoformat(one) for one in extra)
        found = reminders.due(offset, deadline, HOME_ZONE, extra=more)
        yield found == datetime.fromisoformat(f"{expected}T10:00:00+02:00")


@pytest.mark.rule("NOT-10")
@pytest.mark.rule("NOT-40")
def test_time_vectors() -> None:
    found = list(results())

    print(f"time_vectors={sum(found)}/{len(found)}")
    assert all(found)


def test_a_period_that_forgets_yesterday_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, quiet_hours, "_ONE_DAY", timedelta(0))

    assert not all(results())


@pytest.mark.rule("NOT-10")
def test_held_messages_do_not_leave_all_at_once() -> None:
    ends = datetime.fromisoformat("2026-11-17T05:00:00Z")
    late = [quiet_hours.release_at(ends, UUID(int=one)) - ends for one in range(500)]

    assert min(late) >= timedelta(0)
    assert max(late) <= timedelta(seconds=300)
    assert len(set(late)) > 200
