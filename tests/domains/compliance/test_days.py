"""Last days and windows: the vectors of CMP-24 to CMP-26, and the risk levels of CMP-33."""

from datetime import date, datetime, timedelta
from uuid import UUID

import pytest

from tests.planting import plant
from thenga.domains.compliance.services.risks import rules
from thenga.domains.compliance.values import validity, windows
from thenga.domains.compliance.values.validity import AgeLimit, ValidityRule, valid_until
from thenga.kernel.values.calendar import HOME_ZONE, local_day

AFFIDAVIT = {"kind": "after_issue", "months": 12, "minusDays": 1}
BANK_LETTER = {"kind": "after_issue", "months": 3}
ACCOUNT = {"kind": "after_issue", "days": 90}
COIDA = {"kind": "yearly", "month": 4, "day": 30}
VECTORS: list[tuple[dict[str, object], str, str]] = [
    (AFFIDAVIT, "2025-11-14", "2026-11-13"),
    (AFFIDAVIT, "2024-02-29", "2025-02-27"),
    (BANK_LETTER, "2026-08-31", "2026-11-30"),
    (ACCOUNT, "2026-08-31", "2026-11-29"),
    (COIDA, "2026-05-12", "2027-04-30"),
    (COIDA, "2026-02-27", "2026-04-30"),
]
LAST = date(2026, 12, 31)
OPENINGS = ("2026-10-02", "2026-11-01", "2026-12-01", "2026-12-17", "2026-12-24")


def misdated() -> list[str]:
    """The vectors with another last day, by their day of issue."""
    wrong = []
    for row, issued, ends in VECTORS:
        rule = ValidityRule.of_row(row)
        found = valid_until(rule, issued_on=date.fromisoformat(issued), expires_on=None)
        if (str(found.on), rule.to_row()) != (ends, row):
            wrong.append(issued)
    return wrong


@pytest.mark.rule("CMP-26")
def test_last_day_by_rule() -> None:
    print(f"validity_vectors={len(VECTORS)} wrong={len(misdated())}")
    assert misdated() == []


@pytest.mark.parametrize(
    ("name", "bug", "wrong"),
    [
        (
            "relativedelta",
            lambda months: timedelta(days=30 * months),
            ["2025-11-14", "2024-02-29", "2026-08-31"],
        ),
        (
            "_next_yearly",
            lambda start, rule: date(start.year + 1, rule.month, rule.day),
            ["2026-02-27"],
        ),
    ],
    ids=["months", "cycle"],
)
def test_a_planted_last_day_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, bug: object, wrong: list[str]
) -> None:
    monkeypatch.setattr(validity, name, bug)

    assert misdated() == wrong


@pytest.mark.rule("CMP-24")
def test_printed_day_comes_first_and_a_tender_only_shortens() -> None:
    rule = ValidityRule.of_row({"kind": "after_issue", "days": 90})
    issued = date(2026, 11, 1)
    printed = valid_until(rule, issued_on=issued, expires_on=LAST)
    young = valid_until(rule, issued_on=issued, expires_on=LAST, age_limit=AgeLimit(days=7))
    old = valid_until(rule, issued_on=issued, expires_on=LAST, age_limit=AgeLimit(months=6))
    only_printed = ValidityRule.of_row({"kind": "printed"})

    assert (printed.on, printed.basis) == (LAST, "printed")
    assert (young.on, old.on) == (date(2026, 11, 8), LAST)
    assert valid_until(only_printed, issued_on=issued, expires_on=None).is_undated
    assert valid_until(rule, issued_on=None, expires_on=None).is_undated


@pytest.mark.rule("CMP-24")
@pytest.mark.parametrize(
    ("moment", "state"),
    [("2026-12-31T21:59:59Z", "expiring"), ("2026-12-31T22:00:00Z", "expired")],
)
def test_good_through_the_whole_last_day(moment: str, state: str) -> None:
    today = local_day(datetime.fromisoformat(moment), HOME_ZONE)

    found = windows.validity_on(
        today,
        last_day=LAST,
        is_undated=False,
        issued_on=None,
        windows=windows.DEFAULT_WINDOWS,
    )

    assert found == state


def told(known: str, *days: str) -> list[tuple[int, bool]]:
    """What is told of a paper known since a day, where somebody looks on these days."""
    found: list[windows.Opened] = []
    for day in days:
        found += windows.newly_opened(
            LAST,
            date.fromisoformat(day),
            known_since=date.fromisoformat(known),
            told=[one.window for one in found],
            windows=windows.DEFAULT_WINDOWS,
        )
    return [(one.window, one.is_late) for one in found]


@pytest.mark.rule("CMP-25")
def test_each_window_opens_on_its_day() -> None:
    day, end = date(2026, 9, 1), date(2027, 1, 2)
    opened: dict[int | None, str] = {}
    while day <= end:
        window = windows.window_of(LAST, day, windows.DEFAULT_WINDOWS)
        opened.setdefault(window, str(day))
        day += timedelta(days=1)

    assert opened == {
        None: "2026-09-01",
        **dict(zip(windows.DEFAULT_WINDOWS, OPENINGS, strict=True)),
        windows.EXPIRED: "2027-01-01",
    }


@pytest.mark.rule("CMP-25")
def test_a_clock_jump_tells_each_missed_window_once_in_order() -> None:
    found = told("2026-09-01", "2027-10-06", "2027-10-07")

    assert found == [(90, True), (60, True), (30, True), (14, True), (7, True), (0, True)]


@pytest.mark.rule("CMP-25")
def test_a_paper_with_20_days_left_is_told_for_window_30_only() -> None:
    assert told("2026-12-11", "2026-12-11") == [(30, False)]
    assert told("2026-12-11", "2026-12-12", "2026-12-17") == [(30, True), (14, False)]


def test_windows_told_before_the_paper_was_known_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch, windows, "window_of", lambda *_: 90)

    assert told("2026-12-11", "2026-12-11") != [(30, False)]


@pytest.mark.rule("CMP-25")
def test_a_renewal_marks_and_never_prolongs() -> None:
    today, expected = date(2026, 12, 20), date(2026, 12, 22)
    late = expected + timedelta(days=1)

    def state(window: int | None, day: date) -> str:
        return windows.state_of(window, renewal_expected_on=expected, today=day)

    assert state(14, today) == "renewal_in_progress"
    assert state(14, late) == "renewal_late"
    assert state(windows.EXPIRED, late) == "expired"


@pytest.mark.rule("CMP-33")
def test_levels_of_every_score() -> None:
    found = {score: rules.level_of(score).value for score in range(1, 26)}

    bounds = {"low": (1, 4), "medium": (5, 9), "high": (10, 15), "critical": (16, 25)}
    for level, (least, most) in bounds.items():
        assert {score for score, of in found.items() if of == level} == set(range(least, most + 1))


@pytest.mark.rule("CMP-34")
def test_rules_raise_one_risk_for_each_subject() -> None:
    now = datetime.fromisoformat("2026-11-16T08:00:00Z")
    ids = [UUID(int=number) for number in range(1, 8)]
    since = now - timedelta(days=8)
    gates = [
        rules.GateFact(ids[0], "tax_compliance", True, "expired"),
        rules.GateFact(ids[1], "csd_registration", True, "met", days_left=30),
        rules.GateFact(ids[2], "cidb", True, "met", days_left=9, is_renewal_expected=True),
        rules.GateFact(ids[3], "bbbee_status", False, "failed"),
        rules.GateFact(ids[4], "exclusion_lists", True, "unknown", unknown_since=since),
        rules.GateFact(ids[5], "coida", True, "unknown", unknown_since=now),
        rules.GateFact(ids[6], "bank", False, "expired"),
    ]
    lapse = rules.LapseFact(UUID(int=9), ids[0], "tax_compliance")
    renewal = rules.RenewalFact(UUID(int=8), "cidb_certificate", date(2026, 11, 15))

    found = rules.find_risks(
        now=now,
        today=now.date(),
        gates=gates,
        lapses=[lapse, lapse],
        renewals=[renewal],
    )

    assert sorted(
        (one.rule.value, rules.score_of(one.likelihood, one.impact)) for one in found.values()
    ) == [
        ("gate_expired", 25),
        ("gate_expiring", 16),
        ("gate_unknown", 9),
        ("lapses_before_award", 16),
        ("renewal_late", 12),
        ("verification_failed", 16),
    ]
