"""What readiness is computed from, and what comes out: frozen values, no rows (CMP-27, CMP-28)."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from uuid import UUID


class State(StrEnum):
    """The assessment of a requirement on a day."""

    MET = "met"
    PROVISIONAL = "provisional"
    PARTIALLY_MET = "partially_met"
    MISSING = "missing"
    EXPIRED = "expired"
    FAILED = "failed"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not_applicable"


class Gate(StrEnum):
    """Effect of an unmet requirement."""

    HARD = "hard"
    SOFT = "soft"
    POINTS = "points"


class Verdict(StrEnum):
    """Whether a company meets its requirements on a day."""

    READY = "ready"
    READY_WITH_WARNINGS = "ready_with_warnings"
    NOT_READY = "not_ready"
    UNKNOWN = "unknown"


class Fit(StrEnum):
    """Whether a proof supports a requirement."""

    FITS = "fits"
    DOES_NOT_FIT = "does_not_fit"
    NEEDS_PERSON = "needs_person"


class Standing(StrEnum):
    """What people have said about a proof, as far as readiness is concerned."""

    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    RETURNED = "returned"  # sent back, or no longer in use
    REJECTED = "rejected"


class Doubt(StrEnum):
    """What the latest check left open."""

    NONE = "none"
    NO_ANSWER = "no_answer"  # the source was down or has no record yet
    DOUBT = "doubt"  # a partial or ambiguous match


class Assurance(IntEnum):
    """How strongly a proof was verified, weakest first (CMP-17)."""

    NONE = 0
    DECLARED = 1
    AUTOMATED = 2
    INTERNAL = 3
    INDEPENDENT = 4
    REGISTRY = 5


class Point(StrEnum):
    """The dates of a tender on which something is needed."""

    CLOSING = "closing"
    VALIDITY_END = "validity_end"
    AWARD = "award"


EVERY_POINT = frozenset(Point)
PROVISIONAL_VALUE = Fraction(3, 5)


@dataclass(frozen=True, slots=True)
class Proof:
    """One linked evidence; `last_day` is None where the proof never ends or is undated."""

    evidence_id: UUID
    version: int | None = None
    fit: Fit = Fit.FITS
    standing: Standing = Standing.UNVERIFIED
    first_day: date | None = None
    last_day: date | None = None
    is_undated: bool = False
    assurance: Assurance = Assurance.NONE
    checked_on: date | None = None
    checked_until: date | None = None
    doubt: Doubt = Doubt.NONE


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a requirement is about (the company, a director) and the proofs for them."""

    ref: str
    proofs: tuple[Proof, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """A requirement as it stands on the evaluated day."""

    requirement_id: UUID | None
    code: str
    component: str
    weight: int
    gate: Gate
    subjects: tuple[Subject, ...] = ()
    ref: str | None = None
    applies: bool | None = True  # None where a fact is not known yet
    needed_at: frozenset[Point] = EVERY_POINT
    min_assurance: Assurance = Assurance.INTERNAL
    recheck_days: int | None = None  # a state that somebody else keeps, checked again and again
    is_live: bool = False  # a list: past its last day nothing is known, and nothing has expired


@dataclass(frozen=True, slots=True)
class Rules:
    """The weights and bounds in force on the evaluated day."""

    component_weights: tuple[tuple[str, int], ...]
    blocked_cap: Decimal = Decimal("49.0")


@dataclass(frozen=True, slots=True)
class Remark:
    """A warning, an unknown or an assumption, by requirement code and reason."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Assessed:
    """One requirement on the day; `value` is None where it does not count."""

    need: Need
    state: State
    value: Fraction | None = None
    valid_until: date | None = None
    assurance: Assurance = Assurance.NONE
    checked_on: date | None = None
    evidence_ids: tuple[UUID, ...] = ()
    proof_version: int | None = None
    reasons: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComponentScore:
    """One component; the score is None where nothing of it is known."""

    code: str
    weight: int
    score: Decimal | None
    requirement_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer for one day."""

    verdict: Verdict
    score: Decimal | None
    raw_score: Decimal | None
    low: Decimal | None
    high: Decimal | None
    coverage: Decimal | None
    components: tuple[ComponentScore, ...]
    blockers: tuple[str, ...]
    warnings: tuple[Remark, ...]
    unknowns: tuple[Remark, ...]
    assumptions: tuple[Remark, ...]
    items: tuple[Assessed, ...]
