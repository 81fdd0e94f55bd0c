"""Health, version 1: pure functions of what is known of a company (ORG-27, ORG-28).

Exact fractions inside; rounded once, half-up, where a figure is shown. A gain is found by
computing again with the gap closed, never by a rule of thumb.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")

VERSION = 1
WEIGHTS: Mapping[str, int] = {
    "identity": 20,
    "verification": 20,
    "freshness": 15,
    "capabilities": 15,
    "experience": 10,
    "people": 10,
    "readiness": 10,
}
STANDING: Mapping[str, Fraction] = {
    "verified": Fraction(1),
    "evidence_attached": Fraction(1, 2),
    "under_review": Fraction(1, 2),
    "claimed": Fraction(1, 5),
}
BANDS = ((80, "strong"), (60, "fair"), (40, "weak"), (0, "poor"))
PENALTY, MOST_PENALTY = 2, 10
MINUTES: Mapping[str, int] = {
    "conflict_open": 3,
    "director_missing": 10,
    "director_unverified": 10,
    "evidence_missing": 5,
    "capability_unverified": 15,
    "fact_missing": 4,
    "fact_stale": 2,
    "fact_unverified": 10,
    "information_officer_missing": 5,
    "project_unverified": 15,
    "signatory_missing": 10,
}
# Fewer directors than the form needs is told though it may bring no points (ORG-15).
_ALWAYS_TOLD = ("director_missing",)


@dataclass(frozen=True, slots=True)
class FactState:
    """A fact of the catalogue that applies to the company's form."""

    key: str
    weight: int
    filled: bool = False
    verified: bool = False
    stale: bool = False
    conflicted: bool = False


@dataclass(frozen=True, slots=True)
class Thing:
    """A capability, project or director, and how proven it is."""

    id: str
    standing: str


@dataclass(frozen=True, slots=True)
class Company:
    """What the formula looks at, and nothing else."""

    facts: tuple[FactState, ...] = ()
    capabilities: tuple[Thing, ...] = ()
    projects: tuple[Thing, ...] = ()  # published ones
    directors: tuple[Thing, ...] = ()  # active ones
    directors_needed: int = 0
    signatory: bool = False
    information_officer: bool = False
    readiness: Fraction | None = None  # nothing was heard of it


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the score, 0 to 100; null where nothing is known."""

    key: str
    weight: int
    value: Fraction | None
    why: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that can be mended, and what that would bring."""

    code: str
    kind: str
    id: str | None
    gain: Fraction
    minutes: int


def components(company: Company) -> list[Component]:
    """The seven parts, in the order of the rule."""
    return [Component(key, weight, *_PARTS[key](company)) for key, weight in WEIGHTS.items()]


def penalty(company: Company) -> int:
    return min(MOST_PENALTY, PENALTY * sum(fact.conflicted for fact in company.facts))


def exact(company: Company) -> Fraction:
    """The score itself: parts of which nothing is known are left out of both sums."""
    known = [(one.weight, one.value) for one in components(company) if one.value is not None]
    whole = sum(weight for weight, _ in known)
    reached = sum((weight * value for weight, value in known), Fraction(0))
    return max(Fraction(0), reached / whole - penalty(company))


def rounded(score: Fraction) -> Fraction:
    """To one place, half-up: what people see and what the bands are measured by."""
    return Fraction(shown(score, 1))


def band(score: Fraction) -> str:
    return next(name for least, name in BANDS if rounded(score) >= least)


def shown(number: Fraction, places: int = 6) -> str:
    """As decimal text, half-up, with one place at least."""
    scaled = abs(number) * 10**places
    units = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    whole, rest = divmod(units, 10**places)
    decimals = f"{rest:0{places}d}".rstrip("0") or "0"
    return f"{'-' if number < 0 and units else ''}{whole}.{decimals}"


def gaps(company: Company) -> list[Gap]:
    """What can be mended, most gain a minute first; equal ones by their code (ORG-28)."""
    now = exact(company)
    found = [
        Gap(code, kind, one, max(Fraction(0), exact(mended) - now), MINUTES[code])
        for code, kind, one, mended in _mendings(company)
    ]
    worth = [gap for gap in found if gap.gain > 0 or gap.code in _ALWAYS_TOLD]
    return sorted(worth, key=lambda g: (-g.gain / g.minutes, g.code, g.id or ""))


_Part = tuple[Fraction | None, str]


def _identity(company: Company) -> _Part:
    whole, filled = _weight(company.facts), _weight(_filled(company))
    return _share(filled, whole), f"{filled} of {whole} points of the profile are filled in."


def _verification(company: Company) -> _Part:
    filled = _filled(company)
    verified = _weight([fact for fact in filled if fact.verified])
    return _share(verified, _weight(filled)), f"{verified} of {_weight(filled)} points are checked."


def _freshness(company: Company) -> _Part:
    filled = _filled(company)
    fresh = _weight([fact for fact in filled if not fact.stale])
    return _share(fresh, _weight(filled)), f"{fresh} of {_weight(filled)} points are up to date."


def _capabilities(company: Company) -> _Part:
    known = company.capabilities
    if not known:
        return Fraction(0), "No capability has been claimed."
    points = sum((STANDING.get(one.standing, Fraction(0)) for one in known), Fraction(0))
    proven = sum(one.standing == "verified" for one in known)
    return 100 * points / len(known), f"{proven} of {len(known)} capabilities are verified."


def _experience(company: Company) -> _Part:
    verified = sum(one.standing == "verified" for one in company.projects)
    others = len(company.projects) - verified
    points = min(100, 25 * verified + min(20, 10 * others))
    return Fraction(points), f"{verified} projects are verified, {others} are not."


def _people(company: Company) -> _Part:
    active = len(company.directors)
    verified = sum(one.standing == "verified" for one in company.directors)
    points = 60 * Fraction(verified, active) if active else Fraction(0)
    points += 20 * company.signatory + 20 * company.information_officer
    missing = [
        *([] if company.signatory else ["a signatory"]),
        *([] if company.information_officer else ["an information officer"]),
    ]
    why = f"{verified} of {active} directors are verified."
    return points, f"{why} Missing: {', '.join(missing)}." if missing else why


def _readiness(company: Company) -> _Part:
    if company.readiness is None:
        return None, "Compliance did not respond; this part is left out."
    return company.readiness, "Status in Compliance today."


_PARTS = {
    "identity": _identity,
    "verification": _verification,
    "freshness": _freshness,
    "capabilities": _capabilities,
    "experience": _experience,
    "people": _people,
    "readiness": _readiness,
}


def _filled(company: Company) -> list[FactState]:
    return [fact for fact in company.facts if fact.filled]


def _weight(facts: Sequence[FactState]) -> int:
    return sum(fact.weight for fact in facts)


def _share(part: int, whole: int) -> Fraction:
    return Fraction(100 * part, whole) if whole else Fraction(0)


_Mending = tuple[str, str, str | None, Company]


def _mendings(company: Company) -> Iterator[_Mending]:
    """Each gap with the company as it would be without it."""
    for fact in company.facts:
        for code, mended in _mended_facts(fact):
            yield code, "fact", fact.key, replace(company, facts=_put(company.facts, fact, mended))
    for one in company.capabilities:
        if one.standing not in ("verified", "evidence_attached", "under_review"):
            yield "evidence_missing", "capability", one.id, _proven(company, one)
        elif one.standing != "verified":
            yield "capability_unverified", "capability", one.id, _proven(company, one)
    for one in company.projects:
        if one.standing != "verified":
            projects = _put(company.projects, one, replace(one, standing="verified"))
            yield "project_unverified", "pastProject", one.id, replace(company, projects=projects)
    for one in company.directors:
        if one.standing != "verified":
            directors = _put(company.directors, one, replace(one, standing="verified"))
            yield "director_unverified", "director", one.id, replace(company, directors=directors)
    if not company.signatory:
        yield "signatory_missing", "organizationUser", None, replace(company, signatory=True)
    if not company.information_officer:
        appointed = replace(company, information_officer=True)
        yield "information_officer_missing", "contact", None, appointed
    if len(company.directors) < company.directors_needed:
        more = (*company.directors, Thing("", "unverified"))
        yield "director_missing", "director", None, replace(company, directors=more)


def _mended_facts(fact: FactState) -> Iterator[tuple[str, FactState]]:
    if fact.conflicted:
        yield "conflict_open", replace(fact, conflicted=False)
    if not fact.filled:
        yield "fact_missing", replace(fact, filled=True)
    elif fact.stale:
        yield "fact_stale", replace(fact, stale=False)
    elif not fact.verified:
        yield "fact_unverified", replace(fact, verified=True)


def _proven(company: Company, one: Thing) -> Company:
    better = {"evidence_attached": "verified", "under_review": "verified"}
    mended = replace(one, standing=better.get(one.standing, "evidence_attached"))
    return replace(company, capabilities=_put(company.capabilities, one, mended))


def _put(all_of: tuple[T, ...], one: T, other: T) -> tuple[T, ...]:
    return tuple(other if each is one else each for each in all_of)
