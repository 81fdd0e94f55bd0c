"""Who is told, by which channel and when, decided by pure functions."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from uuid import UUID

import pytest

from thenga.domains.notification.services import recipients
from thenga.domains.notification.services.recipients import (
    SENTENCES,
    Candidate,
    Effective,
    QuietHours,
    Reason,
    Stored,
    held_until,
)
from thenga.domains.notification.services.recipients.quiet_hours import quiet_until
from thenga.domains.notification.services.templates import Topic
from thenga.kernel.values.calendar import local_instant

ALERT = Topic(
    code="opportunity.tender_alert",
    title="New tenders",
    category="operational",
    lane="bulk",
    allowed_channels=("in_app", "email", "sms"),
    default_channels=("in_app", "email"),
)
FAILED = ALERT.model_copy(update={"mandatory": True, "minimum_channels": ("email", "sms")})
ALL = frozenset(recipients.CHANNELS)
EVENING = datetime(2026, 11, 16, 20, 30, tzinfo=UTC)


@pytest.mark.rule("NOT-8")
def test_the_persons_topic_row_beats_the_general_row() -> None:
    stored = Stored(person={"sms": "on"}, person_general={"sms": "off"})

    assert recipients.effective(ALERT, stored, usable=ALL)["sms"] == Effective("on", "person")


@pytest.mark.rule("NOT-8")
def test_without_a_stored_row_the_topic_decides() -> None:
    found = recipients.effective(ALERT, Stored(), usable=ALL)

    assert [found[one].value for one in recipients.CHANNELS] == ["on", "on", "off"]


@pytest.mark.rule("NOT-9")
def test_a_mandatory_topic_keeps_its_first_usable_channel() -> None:
    off = Stored(person={"email": "off", "sms": "off"})

    with_mail = recipients.effective(FAILED, off, usable=ALL)
    bounced = recipients.effective(FAILED, off, usable=frozenset({"sms"}))

    assert with_mail["email"] == Effective("on", "legal_minimum", locked=True, rule="NOT-9")
    assert with_mail["sms"].value == "off"
    assert bounced["sms"].source == "legal_minimum"
    assert bounced["email"].value == "off"


def test_the_id_of_a_preference_is_computed() -> None:
    organization = UUID("019a8e4c-0000-7000-8000-0000000000ff")
    person = UUID("019a8e4c-0000-7000-8000-0000000000a1")

    found = recipients.preference_id(organization, person, "opportunity.tender_alert")

    assert found == UUID("e0cdbe6b-962a-5a71-80de-d9567f23a922")


@pytest.mark.rule("NOT-5")
def test_addresses_are_kept_as_mask_and_fingerprint() -> None:
    found = recipients.fingerprint(bytes(range(32)), "sms", "+27821234567")

    assert found == "08de02494e576197038039c3e00e3dadb593ee1f09ac174bbd6ea9d0dce7094b"
    assert recipients.mask("sms", "+27821234567") == "+27***4567"
    assert recipients.mask("email", "thandi@example.co.za") == "th***@example.co.za"


@pytest.mark.rule("NOT-10")
def test_quiet_hours_hold_until_morning() -> None:
    morning = datetime(2026, 11, 17, 5, tzinfo=UTC)

    assert held_until(QuietHours(), "sms", EVENING, deadline=None) == morning
    assert held_until(QuietHours(), "email", EVENING, deadline=None) is None


@pytest.mark.rule("NOT-10")
def test_a_near_deadline_does_not_wait() -> None:
    deadline = datetime(2026, 11, 17, 8, tzinfo=UTC)

    assert held_until(QuietHours(), "sms", EVENING, deadline=deadline) is None


@pytest.mark.rule("NOT-10")
@pytest.mark.parametrize(
    ("at", "until"),
    [
        # Clocks go forward at 01:00 UTC; 02:30 does not exist and becomes 03:00.
        ("2027-03-27T22:00:00+00:00", "2027-03-28T01:00:00+00:00"),
        # Clocks go back at 01:00 UTC; of the two 02:30 the first counts.
        ("2027-10-30T22:00:00+00:00", "2027-10-31T00:30:00+00:00"),
        ("2027-06-01T12:00:00+00:00", None),
    ],
)
def test_quiet_hours_follow_the_clocks_of_berlin(at: str, until: str | None) -> None:
    hours = QuietHours(begins=time(20), ends=time(2, 30), zone="Europe/Berlin")

    found = quiet_until(hours, datetime.fromisoformat(at))

    assert found == (datetime.fromisoformat(until) if until else None)


def test_only_the_chosen_days_are_quiet() -> None:
    weekdays = QuietHours(days=frozenset(range(5)))
    saturday, sunday_early = (
        local_instant(date(2026, 11, day), time(hour)) for day, hour in ((14, 22), (15, 3))
    )

    assert quiet_until(weekdays, saturday) is None
    assert quiet_until(weekdays, sunday_early) is None
    assert quiet_until(QuietHours(), saturday) is not None


CANDIDATE = Candidate(
    topic=ALERT,
    channel="sms",
    at=datetime(2026, 11, 16, 10, tzinfo=UTC),
    preference=Effective("on", "person"),
    address="+27821234567",
)


@pytest.mark.rule("NOT-1")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"is_member": False}, Reason.MEMBERSHIP_ENDED),
        ({"is_disabled": True}, Reason.ACCOUNT_DISABLED),
        ({"is_permitted": False}, Reason.RECIPIENT_NOT_PERMITTED),
        ({"expires_at": CANDIDATE.at}, Reason.EXPIRED),
        ({"deadline_at": CANDIDATE.at}, Reason.DEADLINE_PASSED),
        ({"preference": Effective("off", "person")}, Reason.TOPIC_OFF),
        ({"preference": Effective("off", "organization")}, Reason.ORGANIZATION_DEFAULT_OFF),
        ({"address": None}, Reason.NO_ADDRESS),
        ({"is_suppressed": True}, Reason.ADDRESS_SUPPRESSED_BOUNCE),
        ({"is_approved": False}, Reason.TEMPLATE_NOT_APPROVED),
        ({"is_configured": False}, Reason.CHANNEL_NOT_CONFIGURED),
    ],
)
def test_every_stop_has_its_reason(change: dict[str, object], reason: Reason) -> None:
    found = recipients.decide(replace(CANDIDATE, **change))

    assert (found.verdict, found.reason) == ("stop", reason)
    assert found.decisions[-1].reason == reason


@pytest.mark.rule("NOT-1")
def test_a_message_that_may_go_passes_every_step() -> None:
    found = recipients.decide(CANDIDATE)

    assert found.verdict == "send"
    assert {one.outcome for one in found.decisions} == {"pass"}


@pytest.mark.rule("NOT-10")
def test_security_messages_ignore_quiet_hours() -> None:
    held = recipients.decide(replace(CANDIDATE, at=EVENING))
    security = ALERT.model_copy(update={"category": "security"})

    assert (held.verdict, held.reason) == ("hold", Reason.QUIET_HOURS)
    assert recipients.decide(replace(CANDIDATE, at=EVENING, topic=security)).verdict == "send"


@pytest.mark.rule("NOT-6")
def test_every_reason_has_two_sentences() -> None:
    assert set(SENTENCES) == set(Reason)
