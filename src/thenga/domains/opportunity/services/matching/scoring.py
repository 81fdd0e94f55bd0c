"""The score of a tender for a company, by six weighted factors (OPP-30). Pure functions."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

from thenga.domains.opportunity.services.matching.features import (
    CidbAsked,
    CidbHeld,
    ProfileFeatures,
    TenderFeatures,
)
from thenga.domains.opportunity.settings import MatchWeights
from thenga.kernel.values.calendar import local_day

Band = Literal["strong", "good", "possible", "weak", "insufficient"]

_SHARED_DIGITS = ((8, 100), (6, 90), (4, 75), (2, 50))
_KEYWORDS = (0, 60, 80, 100)
_BANDS: tuple[tuple[int, Band], ...] = ((850, "strong"), (700, "good"), (500, "possible"))
_PROOFS = {"verified": 100, "evidence": 70, "claimed": 50}
_ENOUGH = 50  # percent of the weights that must be known for a band
_YEARS = 5
_DAYS_OF_EASE = 14  # with so many days beyond the notice period, time is no concern


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor. `tenths` is its value from 0 to 1000, none if it is not known."""

    key: str
    weight: int
    tenths: int | None
    why: str
    refs: tuple[str, ...] = ()

    def to_row(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "weight": self.weight,
            "tenths": self.tenths,
            "why": self.why,
            "refs": list(self.refs),
        }


@dataclass(frozen=True, slots=True)
class Score:
    """The weighted mean of the known factors, in tenths; `coverage` is percent of the weights."""

    tenths: int
    coverage: int
    band: Band
    factors: tuple[Factor, ...]


def score(
    tender: TenderFeatures, profile: ProfileFeatures, weights: MatchWeights, *, now: datetime
) -> Score:
    """The score of a tender for a company at a moment."""
    today = local_day(now)
    factors = (
        _subject(tender, profile, weights.subject),
        _place(tender, profile, weights.place),
        _capability(tender, profile, weights.capability),
        _size(tender, profile, weights.size),
        _experience(tender, profile, weights.experience, today),
        _timing(tender, profile, weights.timing, today),
    )
    return combine(factors)


def combine(factors: tuple[Factor, ...]) -> Score:
    """The mean over what is known, rounded half-up to 0.1."""
    known = [(factor.weight, factor.tenths) for factor in factors if factor.tenths is not None]
    weight = sum(each for each, _ in known)
    total = sum(each * value for each, value in known)
    tenths = (2 * total + weight) // (2 * weight) if weight else 0
    return Score(tenths, weight, band_of(tenths, weight), factors)


def band_of(tenths: int, coverage: int) -> Band:
    if coverage < _ENOUGH:
        return "insufficient"
    return next((band for least, band in _BANDS if tenths >= least), "weak")


def days_left(tender: TenderFeatures, today: date) -> int | None:
    """Calendar days from today to the closing day."""
    return None if tender.closes_at is None else (local_day(tender.closes_at) - today).days


def found_keywords(keywords: tuple[tuple[str, ...], ...], words: frozenset[str]) -> int:
    """How many keywords stand in a text; all lexemes of a keyword must."""
    return sum(1 for keyword in keywords if keyword and words.issuperset(keyword))


def holds(held: CidbHeld, asked: CidbAsked) -> bool:
    """Whether a grading reaches the grade asked for. One grade less is enough for a potentially
    emerging contractor where the tender allows it."""
    if held.works != asked.works:
        return False
    lift = 1 if held.emerging and asked.emerging_allowed else 0
    return held.grade + lift >= asked.grade


def _subject(tender: TenderFeatures, profile: ProfileFeatures, weight: int) -> Factor:
    value: int | None = None
    why = "There are no codes or keywords to compare."
    refs: tuple[str, ...] = ()
    if tender.codes and profile.codes:
        value, ref = max(
            (_shared(code, held.code), held.ref) for code in tender.codes for held in profile.codes
        )
        why = f"Your closest code has {_digits(value)} digits in common."
        refs = (ref,) if value else ()
    if profile.keywords and tender.words:
        found = found_keywords(profile.keywords, tender.words)
        by_words = _KEYWORDS[min(found, 3)]
        if value is None or by_words > value:
            value, why, refs = by_words, f"{found} of your keywords appear in the text.", ()
    return Factor("subject", weight, None if value is None else value * 10, why, refs)


def _shared(left: str, right: str) -> int:
    return next((value for digits, value in _SHARED_DIGITS if left[:digits] == right[:digits]), 0)


def _digits(value: int) -> int:
    return next((digits for digits, worth in _SHARED_DIGITS if worth == value), 0)


def _place(tender: TenderFeatures, profile: ProfileFeatures, weight: int) -> Factor:
    stated = profile.national or profile.provinces or profile.municipalities
    if not stated or not (tender.provinces or tender.municipality):
        return Factor("place", weight, None, "The place of the work or your area is not known.")
    if tender.municipality in profile.municipalities:
        return Factor("place", weight, 1000, "The work is in a municipality that you serve.")
    if tender.provinces & profile.provinces:
        return Factor("place", weight, 900, "The work is in a province that you serve.")
    if profile.national:
        return Factor("place", weight, 800, "You work nationwide.")
    return Factor("place", weight, 0, "The work is outside the area that you serve.")


def _capability(tender: TenderFeatures, profile: ProfileFeatures, weight: int) -> Factor:
    if tender.cidb:
        fits = [held for asked in tender.cidb for held in profile.cidb if holds(held, asked)]
        if not fits:
            return Factor("capability", weight, 0, "You do not hold the required CIDB grading.")
        proven = [held for held in fits if held.proof == "verified"]
        best = (proven or fits)[0]
        value = 1000 if proven else 800
        return Factor(
            "capability", weight, value, f"You hold {best.grade}{best.works}.", (best.ref,)
        )
    families = {code[:4] for code in tender.codes}
    if not families:
        return Factor("capability", weight, None, "The tender has no code to compare.")
    worth = [
        (_PROOFS[held.proof], held.ref)
        for held in profile.codes
        if held.proof is not None and held.code[:4] in families
    ]
    if not worth:
        return Factor("capability", weight, 0, "You have not stated a capability of this kind.")
    value, ref = max(worth)
    return Factor("capability", weight, value * 10, "You have a capability of this kind.", (ref,))


def _size(tender: TenderFeatures, profile: ProfileFeatures, weight: int) -> Factor:
    value, low, high = tender.value_minor, profile.value_min_minor, profile.value_max_minor
    if value is None:
        return Factor("size", weight, None, "The value of the tender is not known.")
    if low is not None or high is not None:
        if in_band(value, low, high):
            return Factor("size", weight, 1000, "The value is in your range.")
        if in_band(value * 2, low, None) and (high is None or value <= high * 2):
            return Factor("size", weight, 500, "The value is within a factor of 2 of your range.")
        return Factor("size", weight, 0, "The value is far outside your range.")
    largest = profile.largest_project_minor
    if largest is None:
        return Factor("size", weight, None, "There is no value range or past project to compare.")
    times = 2 if value <= 2 * largest else 4
    tenths = 1000 if value <= 2 * largest else 500 if value <= 4 * largest else 200
    why = f"The value is compared with {times} times your largest project."
    return Factor("size", weight, tenths, why)


def in_band(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _experience(
    tender: TenderFeatures, profile: ProfileFeatures, weight: int, today: date
) -> Factor:
    families = {code[:4] for code in tender.codes}
    if not families:
        return Factor("experience", weight, None, "The tender has no code to compare.")
    since = today - timedelta(days=365 * _YEARS + 1)
    recent = [
        project
        for project in profile.projects
        if families & set(project.families)
        and (project.ended_on is None or project.ended_on >= since)
    ]
    verified = sum(1 for project in recent if project.verified)
    value = min(100, 35 * verified + 15 * (len(recent) - verified))
    why = f"{verified} verified and {len(recent) - verified} other projects of this kind."
    return Factor("experience", weight, value * 10, why, tuple(one.ref for one in recent[:20]))


def _timing(tender: TenderFeatures, profile: ProfileFeatures, weight: int, today: date) -> Factor:
    left = days_left(tender, today)
    if left is None:
        return Factor("timing", weight, None, "The closing time is not known.")
    eased = min(max(left - profile.notice_days, 0), _DAYS_OF_EASE)
    tenths = (2 * 1000 * eased + _DAYS_OF_EASE) // (2 * _DAYS_OF_EASE)
    why = f"{left} days are left; you want at least {profile.notice_days} days of notice."
    return Factor("timing", weight, tenths, why)
