"""Flags, support targets, differences and due dates, decided by pure functions."""

import random
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from thenga.domains.administration.services import actions, flags, integrations, reviews, support
from thenga.domains.administration.services.flags import Caller, Flag, Rollout, Targets

KEY = "bid.price_explainer"


def organization(number: int) -> UUID:
    return UUID(f"01939e4c-7a10-7000-8000-00000000000{number}")


def flag(rollout: Rollout) -> Flag:
    return Flag(KEY, {"on": True, "off": False}, "on", "off", rollout)


def share(percentage: int) -> Rollout:
    return Rollout(mode="percentage", percentage=Decimal(percentage))


@pytest.mark.rule("ADM-12")
def test_buckets_follow_the_vectors() -> None:
    found = [flags.bucket(KEY, "1", str(organization(number))) for number in range(1, 6)]

    assert found == [6566, 9156, 502, 2130, 5059]
    assert flags.bucket(KEY, "2", str(organization(3))) == 1130


@pytest.mark.rule("ADM-14")
def test_raising_a_percentage_turns_nobody_off() -> None:
    drawn = random.Random(7)
    subjects = [Caller(UUID(int=drawn.getrandbits(128), version=4)) for _ in range(20_000)]
    small, large = flag(share(10)), flag(share(25))

    before = {one for one in subjects if flags.evaluate(small, one).value}
    after = {one for one in subjects if flags.evaluate(large, one).value}

    shares = [f"share={len(found) * 100 / len(subjects):.2f}" for found in (before, after)]
    print(*shares, f"turned_off={len(before - after)}")
    assert before <= after
    assert abs(len(before) / len(subjects) - 0.10) < 0.01
    assert abs(len(after) / len(subjects) - 0.25) < 0.01


@pytest.mark.rule("ADM-13")
@pytest.mark.parametrize(
    ("rollout", "value", "reason"),
    [
        (Rollout(mode="on"), True, "STATIC"),
        (Rollout(mode="off"), False, "DISABLED"),
        (Rollout(mode="targeted"), False, "STATIC"),
        (
            Rollout(mode="off", include=Targets(plan_codes=frozenset({"pro"}))),
            True,
            "TARGETING_MATCH",
        ),
        (
            Rollout(mode="on", exclude=Targets(plan_codes=frozenset({"pro"}))),
            False,
            "TARGETING_MATCH",
        ),
        (share(10), True, "SPLIT"),
        (share(5), False, "SPLIT"),
    ],
)
def test_each_mode_has_its_reason(rollout: Rollout, value: bool, reason: str) -> None:
    found = flags.evaluate(flag(rollout), Caller(organization(3), plan_code="pro"))

    assert (found.value, found.reason) == (value, reason)


@pytest.mark.rule("ADM-13")
def test_an_exclusion_beats_an_inclusion() -> None:
    both = Targets(organization_ids=frozenset({organization(3)}))

    found = flags.evaluate(
        flag(Rollout(mode="on", include=both, exclude=both)), Caller(organization(3))
    )

    assert found.value is False


@pytest.mark.rule("ADM-20")
@pytest.mark.parametrize(
    ("impact", "urgency", "category", "expected"),
    [
        ("one_person", "medium", "other", "low"),
        ("team", "medium", "other", "normal"),
        ("organization", "medium", "other", "high"),
        ("organization", "high", "other", "urgent"),
        ("one_person", "low", "security", "high"),
    ],
)
def test_priority_follows_impact_and_urgency(
    impact: support.Impact, urgency: support.Urgency, category: str, expected: str
) -> None:
    assert support.priority_of(impact, urgency, category=category) == expected


@pytest.mark.rule("ADM-21")
def test_targets_are_counted_in_working_minutes() -> None:
    found = support.due("high", datetime(2026, 12, 15, 14, 30, tzinfo=UTC))

    assert found.first_response == datetime(2026, 12, 17, 9, 30, tzinfo=UTC)
    assert found.resolution == datetime(2026, 12, 18, 14, 30, tzinfo=UTC)


@pytest.mark.rule("ADM-3")
def test_differences_name_what_changed_and_nothing_secret() -> None:
    before = {"rollout": {"percentage": 10}, "note": "x" * 501, "same": 1}
    after = {"rollout": {"percentage": 25}, "note": "short", "same": 1}

    found = actions.differences(before, after, sealed={"/secrets/password": "e5a9-a005-e2a3"})

    assert found.changes[1] == {"pointer": "/rollout/percentage", "before": 10, "after": 25}
    told = found.changes[0]["before"]
    assert isinstance(told, dict)
    assert told["length"] == 501
    assert found.changes[2]["after"] == {"sealed": "e5a9-a005-e2a3"}


@pytest.mark.rule("ADM-3")
def test_too_many_differences_are_cut_and_say_so() -> None:
    found = actions.differences({}, {f"field{number}": "x" * 400 for number in range(200)})

    assert found.truncated
    assert 0 < len(found.changes) < 200


@pytest.mark.rule("ADM-30")
@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        ("critical", date(2026, 12, 18)),
        ("high", date(2026, 12, 31)),
        ("medium", date(2027, 1, 29)),
        ("low", date(2027, 3, 12)),
    ],
)
def test_findings_are_due_in_working_days(severity: reviews.Severity, expected: date) -> None:
    assert reviews.due_on(severity, date(2026, 12, 15)) == expected


@pytest.mark.rule("ADM-38")
def test_a_fingerprint_follows_the_vector() -> None:
    root = bytes(range(0x60, 0x80))

    assert integrations.fingerprint(root, "smtpPassword", "correct horse 7") == "e5a9-a005-e2a3"
