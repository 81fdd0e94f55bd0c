"""Verdict of a qualification (OPP-37). Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from thenga.domains.opportunity.public.judgement import QualificationVerdict

Result = Literal["met", "not_met", "unknown", "not_applicable"]
Basis = Literal["readiness", "profile", "attendance", "person", "none"]

ANSWERED = ("mandatory", "scored")  # classes that need an answer before completion


@dataclass(frozen=True, slots=True)
class Criterion:
    """A requirement as it was judged: by a proof, by the profile, by attendance or by a person.

    `answer` is what the person said; it stands beside a failed proof and never over it.
    """

    requirement_id: str
    label: str
    requirement_class: str
    kind: str
    code: str | None
    gate: str
    cure: str
    result: Result
    basis: Basis
    answer: Result | None = None
    note: str | None = None
    valid_until: str | None = None
    refs: tuple[str, ...] = ()

    def to_row(self) -> dict[str, Any]:
        row = {name: getattr(self, name) for name in self.__slots__}
        return row | {"refs": list(self.refs)}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Criterion":
        return cls(**dict(row) | {"refs": tuple(row["refs"])})

    @property
    def needs_answer(self) -> bool:
        return self.requirement_class in ANSWERED and self.kind not in ("functionality",)


@dataclass(frozen=True, slots=True)
class Functionality:
    """Self-scored points. `points` is none until every part has points."""

    points: Decimal | None
    max_points: Decimal
    threshold: Decimal

    @property
    def is_missed(self) -> bool:
        return self.points is not None and self.points < self.threshold


def functionality(
    parts: Mapping[str, Decimal],
    max_points: Decimal,
    threshold: Decimal,
    scores: Mapping[str, Decimal],
) -> Functionality:
    """The sum of the self-scores, known once every part is scored."""
    done = bool(parts) and all(key in scores for key in parts)
    points = sum((scores[key] for key in parts), Decimal(0)) if done else None
    return Functionality(points, max_points, threshold)


def merge(proof: Result, answer: Result | None) -> Result:
    """A person's answer fills what no proof decides; a failed proof stays failed (OPP-36)."""
    if proof == "not_met" or answer is None:
        return proof
    if proof == "met":
        return proof
    return answer


def unanswered(criteria: Sequence[Criterion]) -> list[str]:
    """Mandatory and scored requirements without any answer; `unknown` is an answer."""
    return [
        one.requirement_id
        for one in criteria
        if one.needs_answer and one.answer is None and one.result == "unknown"
    ]


def verdict(
    criteria: Sequence[Criterion], points: Functionality | None, *, is_before_closing: bool
) -> QualificationVerdict:
    """The first rule that applies decides."""
    mandatory = [one for one in criteria if one.requirement_class == "mandatory"]
    unmet = [one for one in mandatory if one.result == "not_met"]
    if any(one.cure == "none" or not is_before_closing for one in unmet):
        return "not_qualified"
    if points is not None and points.is_missed:
        return "not_qualified"
    if unmet:
        return "conditional"
    if any(one.result == "unknown" for one in mandatory):
        return "insufficient_information"
    return "qualified"


def gaps(criteria: Sequence[Criterion]) -> list[Criterion]:
    """Mandatory requirements that are not met."""
    return [
        one for one in criteria if one.requirement_class == "mandatory" and one.result == "not_met"
    ]
